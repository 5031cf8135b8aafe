// One process, every number of workers, straight and through checkpoints: the same bits. The same
// across processes and builds is what tools/golden.sh looks at.
#include "api/handles.h"
#include "check.h"
#include "golden.h"
#include "sim/sim.h"

enum { CROWD = 2 }; // the scene of that name

static golden_print first[GOLDEN_SCENES];

static void print_of(int i, int32_t workers, size_t memory, golden_print* print)
{
    carom_error error = {CAROM_OK, ""};
    const carom_status status = golden_run(&golden_scenes[i], workers, memory, print, &error);
    if (status != CAROM_OK) {
        printf("  %s: %s\n", golden_scenes[i].name, error.message);
    }
    CHECK(status == CAROM_OK);
    CHECK(print->taped == print->states); // recording changes no bit
}

static void compare(int32_t workers, size_t memory)
{
    for (int i = 0; i < GOLDEN_SCENES; i++) {
        golden_print print;
        print_of(i, workers, memory, &print);
        if (print.states != first[i].states || print.gradient != first[i].gradient) {
            printf("  %s: other bits with %d workers and %zu bytes: states %s, gradient %s\n",
                   golden_scenes[i].name, workers, memory,
                   print.states == first[i].states ? "same" : "OTHER",
                   print.gradient == first[i].gradient ? "same" : "OTHER");
            check_failures++;
        }
    }
}

static void test_one_worker(void)
{
    int64_t split = 0, events = 0;
    for (int i = 0; i < GOLDEN_SCENES; i++) {
        print_of(i, 1, 0, &first[i]);
        printf("  %-9s up to %3d contacts, %3d parts, %3d impacts\n", golden_scenes[i].name,
               (int)first[i].contacts, (int)first[i].parts, (int)first[i].events);
        CHECK(first[i].contacts + first[i].events > 0); // or it would show nothing
        split += first[i].parts > 1;
        events += first[i].events;
    }
    CHECK(split >= 2); // of rigid bodies, and of cloth
    CHECK(events > 10);
    for (int i = 0; i < GOLDEN_SCENES; i++) { // prints that are all alike would agree with too much
        for (int j = 0; j < i; j++) {
            CHECK(first[i].states != first[j].states && first[i].gradient != first[j].gradient);
        }
    }
}

// A step with little to do is not shared out; of these scenes one has to have enough.
static void test_workers_have_work(void)
{
    char* json = strdup(golden_scenes[CROWD].text);
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    for (char* c = json; c && *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    CHECK(json && carom_scene_parse(json, strlen(json), NULL, &scene, NULL) == CAROM_OK);
    CHECK(carom_model_create(scene, &model, NULL) == CAROM_OK);
    CHECK(carom_sim_create(model, 2, &sim, NULL) == CAROM_OK);
    CHECK(strcmp(golden_scenes[CROWD].name, "crowd") == 0);
    for (int64_t i = 0; sim && i < golden_scenes[CROWD].steps; i++) {
        CHECK(carom_sim_step(sim, NULL) == CAROM_OK);
        CHECK(cr_sim_report(sim->sim)->candidate_count > 2000);
        CHECK(cr_sim_report(sim->sim)->island_count > 16);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
    free(json);
}

static void test_again(void)
{
    compare(1, 0);
}

static void test_two_workers(void)
{
    compare(2, 0);
}

static void test_seven_workers_through_checkpoints(void)
{
    compare(7, 40000);
}

static void test_sixteen_workers(void)
{
    compare(16, 0);
}

static void test_no_room_for_a_tape(void)
{
    compare(1, 1);
}

int main(void)
{
    RUN(test_one_worker);
    RUN(test_workers_have_work);
    RUN(test_again);
    RUN(test_two_workers);
    RUN(test_seven_workers_through_checkpoints);
    RUN(test_sixteen_workers);
    RUN(test_no_room_for_a_tape);
    return check_failures != 0;
}
