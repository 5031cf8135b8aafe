// Every allocation fails in turn, over all that a program does with the library: load a scene,
// build it, step it with contact and cloth, go backward, record, read back, optimise, save, import.
// Once with that one allocation failing and all else going well, once with none succeeding any
// more. What has to hold: the call that it hits says CAROM_ERR_MEMORY and why, nothing is left
// behind, the state is what it was, and asking again gives the bits that an undisturbed run gives.
#include "check.h"
#include "core/memory.h"
#include <carom/carom.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char scene_text[] =
    "{\"carom\": 1, \"world\": {\"dt\": 0.02, \"friction_speed\": 0.01, \"duration\": 0.08},"
    "\"bodies\": ["
    "{\"name\": \"floor\", \"type\": \"fixed\", \"mesh\": {\"sheet\": {\"nx\": 1, \"ny\": 1}}},"
    "{\"name\": \"box\", \"mesh\": {\"box\": {\"x\": 0.2, \"y\": 0.2, \"z\": 0.1}},"
    " \"position\": [0, 0, 0.0506], \"velocity\": [0.3, 0, 0]},"
    "{\"name\": \"ball\", \"sphere\": {\"radius\": 0.05}, \"position\": [0.02, 0, 0.3],"
    " \"velocity\": [0, 0, -4], \"restitution\": 0.5},"
    "{\"name\": \"rag\", \"type\": \"cloth\", \"mesh\": {\"sheet\": {\"width\": 0.2, \"height\":"
    " 0.2, \"nx\": 2, \"ny\": 2}}, \"position\": [-0.3, 0, 0.05], \"velocity\": [0, 0, -2],"
    " \"stretch\": 50, \"pins\": [{\"nodes\": [0]}]}],"
    "\"objective\": {\"terms\": [{\"what\": \"position\", \"of\": \"ball\"}]},"
    "\"parameters\": [{\"of\": \"ball\", \"what\": \"velocity\"}, {\"of\": \"floor\", \"what\":"
    " \"vertices\"}]}";
enum { STEPS = 4, BODIES = 4, THETA = 3 + 12 };

static char folder[] = "/tmp/carom_faults_XXXXXX";
static char scene_path[80], copy_path[80], run_path[80];

// ---- how a call is judged

// What is hit by a failure is asked again, when there will be memory again.
static int once;         // only one allocation fails
static int64_t refusals; // calls that said there is no memory
static int given_up;     // nothing succeeds any more: the program puts everything away
static int saved;        // the scene was written

// Judges a call that has just said `status`; true when it is to be asked again.
static int again(carom_status status, const carom_error* error, const char* what)
{
    if (status == CAROM_OK) {
        return 0;
    }
    refusals++;
    if (status != CAROM_ERR_MEMORY || error->status != status || error->message[0] == 0) {
        printf("  %s: status %d, message \"%s\" of status %d\n", what, status, error->message,
               error->status);
        check_failures++;
    }
    given_up = !once;
    if (once && refusals > 1) {
        printf("  %s: refused although there is memory\n", what);
        check_failures++;
        given_up = 1;
    }
    return !given_up;
}

#define ASK(call)                                                                                  \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
    } while (!given_up && again((call), &error, #call))

// ---- what a program does

typedef struct outcome {
    uint64_t hash;
    carom_body_gradient gradient[BODIES];
    double slope[THETA];
    int64_t frames;
} outcome;

static void push(void* user, int64_t step, const carom_bars* bars)
{
    (void)user;
    for (int i = 0; step == STEPS && i < 3 * BODIES; i++) {
        bars->position[i] += 1.0 + i;
        bars->velocity[i] += 0.5;
    }
}

// One step; when it is refused, the state has to be the old one.
static carom_status step(carom_sim* sim, carom_tape* tape, carom_error* error)
{
    const uint64_t before = carom_sim_hash(sim);
    const carom_status status =
        tape ? carom_tape_step(tape, sim, error) : carom_sim_step(sim, error);
    CHECK((carom_sim_hash(sim) == before) == (status != CAROM_OK));
    return status;
}

static void walk(const carom_model* model, outcome* out)
{
    carom_error error;
    carom_sim* sim = NULL;
    carom_recorder* recorder = NULL;
    ASK(carom_sim_create(model, 1, &sim, &error));
    ASK(carom_recorder_create(model, run_path, NULL, &recorder, &error));
    for (int i = 0; i < STEPS && !given_up; i++) {
        ASK(step(sim, NULL, &error));
        // a file that failed is not written any more: a fresh one takes its place
        const carom_status status = given_up ? CAROM_OK : carom_recorder_add(recorder, sim, &error);
        if (again(status, &error, "carom_recorder_add")) {
            carom_recorder_destroy(recorder);
            recorder = NULL;
            ASK(carom_recorder_create(model, run_path, NULL, &recorder, &error));
            ASK(carom_recorder_add(recorder, sim, &error));
        }
    }
    if (!given_up) {
        again(carom_recorder_finish(recorder, CAROM_OK, NULL, &error), &error, "finish");
        out->hash = carom_sim_hash(sim);
    }
    carom_recorder_destroy(recorder);
    carom_sim_destroy(sim);
}

static void look_back(outcome* out)
{
    carom_error error;
    carom_trajectory* trajectory = NULL;
    carom_intersection found = {0};
    if (access(run_path, R_OK) != 0) { // its end could not be written
        return;
    }
    ASK(carom_trajectory_open(run_path, &trajectory, &error));
    if (!given_up) {
        out->frames = carom_trajectory_about(trajectory).frame_count;
        ASK(carom_trajectory_read(trajectory, out->frames - 1, &error));
        ASK(carom_trajectory_intersect(trajectory, 0.1, &found, &error));
    }
    if (!given_up) {
        CHECK(found.face_pairs == 0 && found.inside == 0);
    }
    carom_trajectory_close(trajectory);
}

static void go_back(const carom_model* model, outcome* out)
{
    carom_error error;
    carom_sim* sim = NULL;
    carom_tape* tape = NULL;
    carom_gradient gradient = {.body = out->gradient};
    const carom_tape_listener listener = {NULL, push, NULL};
    ASK(carom_sim_create(model, 1, &sim, &error));
    ASK(carom_tape_create(model, 1, 0, &tape, &error));
    for (int i = 0; i < STEPS && !given_up; i++) {
        ASK(step(sim, tape, &error));
    }
    if (!given_up) {
        const carom_status status = carom_tape_backward(tape, &listener, &gradient, &error);
        if (again(status, &error, "carom_tape_backward")) {
            carom_tape_rewind(tape);
            ASK(carom_tape_backward(tape, &listener, &gradient, &error));
        }
    }
    carom_tape_destroy(tape);
    carom_sim_destroy(sim);
}

static void descend(const carom_model* model, outcome* out)
{
    carom_error error;
    carom_problem* problem = NULL;
    double theta[THETA], value;
    ASK(carom_problem_create(model, NULL, &problem, &error));
    if (!given_up) {
        CHECK(carom_problem_size(problem) == THETA);
        carom_problem_scene(problem, theta);
        ASK(carom_problem_gradient(problem, theta, &value, out->slope, &error));
    }
    carom_problem_destroy(problem);
}

static void carry_over(void)
{
    carom_error error;
    char *text = NULL, *notes = NULL;
    ASK(carom_scene_import(CAROM_TEST_DATA "/arcsim/conf/sheet.json", "arcsim", NULL, &text, &notes,
                           &error));
    CHECK(given_up ? !text && !notes : text && notes);
    carom_scene_text_free(text);
    carom_scene_text_free(notes);
}

static void everything(outcome* out)
{
    carom_error error;
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    memset(out, 0, sizeof *out);
    ASK(carom_scene_load(scene_path, &scene, &error));
    ASK(carom_scene_set(scene, "bodies.box.mass", "2", &error));
    ASK(carom_model_create(scene, &model, &error));
    if (!given_up) {
        walk(model, out);
        look_back(out);
        go_back(model, out);
        descend(model, out);
    }
    ASK(carom_scene_save(scene, copy_path, &error));
    saved = !given_up;
    carry_over();
    carom_model_destroy(model);
    carom_scene_destroy(scene);
}

// ---- the tests

static outcome calm;   // what an undisturbed run gives
static int64_t demand; // allocations of it

static void disturbed(int64_t n, int only_once)
{
    outcome out;
    const int failures = check_failures;
    const int64_t blocks = cr_memory_blocks();
    once = only_once;
    refusals = given_up = 0;
    unlink(run_path);
    unlink(copy_path);
    if (only_once) {
        cr_memory_fail_once(n);
    } else {
        cr_memory_fail_after(n);
    }
    everything(&out);
    cr_memory_fail_after(0);
    CHECK(cr_memory_blocks() == blocks);
    // An arena that could not grow between two steps tries again: that failure need not be told.
    CHECK(given_up == !only_once || refusals == 0);
    if (!given_up) {
        CHECK(out.hash == calm.hash);
        CHECK(memcmp(out.gradient, calm.gradient, sizeof calm.gradient) == 0);
        CHECK(memcmp(out.slope, calm.slope, sizeof calm.slope) == 0);
        CHECK(out.frames <= calm.frames);
    }
    CHECK((access(copy_path, R_OK) == 0) == saved);
    if (check_failures != failures) {
        printf("  that was allocation %lld of %lld, %s\n", (long long)n, (long long)demand,
               only_once ? "it alone" : "and all later ones");
    }
}

static void test_calm(void)
{
    const int64_t blocks = cr_memory_blocks(), before = cr_memory_calls();
    once = 0;
    everything(&calm);
    demand = cr_memory_calls() - before;
    CHECK(!given_up && refusals == 0 && calm.frames == STEPS);
    CHECK(cr_memory_blocks() == blocks);
    CHECK(demand > 500);
    for (int i = 0; i < 3; i++) {
        CHECK(calm.slope[i] != 0 && calm.gradient[2].velocity[i] != 0);
    }
    printf("  %lld allocations\n", (long long)demand);
}

static void test_one_fails(void)
{
    for (int64_t n = 1; n <= demand && check_failures < 50; n++) {
        disturbed(n, 1);
    }
}

static void test_all_fail_from_there(void)
{
    for (int64_t n = 1; n <= demand && check_failures < 50; n++) {
        disturbed(n, 0);
    }
}

int main(void)
{
    if (!mkdtemp(folder)) {
        return 77;
    }
    snprintf(scene_path, sizeof scene_path, "%s/scene.json", folder);
    snprintf(copy_path, sizeof copy_path, "%s/copy.json", folder);
    snprintf(run_path, sizeof run_path, "%s/run.carom", folder);
    FILE* file = fopen(scene_path, "wb");
    CHECK(file && fputs(scene_text, file) >= 0 && fclose(file) == 0);
    RUN(test_calm);
    RUN(test_one_fails);
    RUN(test_all_fail_from_there);
    char part[100];
    snprintf(part, sizeof part, "%s.part", run_path);
    unlink(part);
    unlink(scene_path);
    unlink(copy_path);
    unlink(run_path);
    rmdir(folder);
    return check_failures != 0;
}
