// One model, several threads: each steps a simulation of its own, with workers of its own, and all
// come to the same bits. Under ThreadSanitizer this also shows that a model is only read.
#include "check.h"
#include "golden.h"
#include <pthread.h>

enum { THREADS = 4, SCENE = 2, STEPS = 3 };

typedef struct job {
    const carom_model* model;
    int32_t workers;
    uint64_t states;
    carom_status status;
} job;

static void* walk(void* user)
{
    job* j = user;
    golden_print print = {.states = golden_seed};
    const golden_scene scene = {"", STEPS, ""};
    carom_error error;
    j->status = golden_forward(&scene, j->model, j->workers, &print, &error);
    j->states = print.states;
    return NULL;
}

static void test_threads_share_a_model(void)
{
    char* json = strdup(golden_scenes[SCENE].text);
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    pthread_t thread[THREADS];
    job jobs[THREADS];
    for (char* c = json; c && *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    CHECK(json && carom_scene_parse(json, strlen(json), NULL, &scene, NULL) == CAROM_OK);
    CHECK(carom_model_create(scene, &model, NULL) == CAROM_OK);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){model, 1 + i % 3, 0, CAROM_OK};
        CHECK(pthread_create(&thread[i], NULL, walk, &jobs[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
        CHECK(jobs[i].status == CAROM_OK && jobs[i].states == jobs[0].states);
        CHECK(jobs[i].states != golden_seed);
    }
    carom_model_destroy(model);
    carom_scene_destroy(scene);
    free(json);
}

int main(void)
{
    RUN(test_threads_share_a_model);
    return check_failures != 0;
}
