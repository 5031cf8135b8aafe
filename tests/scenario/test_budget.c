// Steps that end after so many Newton iterations, and those of linearised sheets: nothing
// intersects, the report says what is left, and no tape takes what may not be solved. Such steps
// need not keep what solved ones keep, so they have a judge of their own.
#include "adjoint/tape.h"
#include "api/handles.h"
#include "check.h"
#include "collision/intersect_frame.h"
#include "sim/sim_inside.h"
#include <stdlib.h>
#include <string.h>

#define DRAPE(WORLD)                                                                               \
    "{'carom': 1, 'world': {'dt': 0.0166, 'friction': 0.5, 'contact': 'barrier', " WORLD           \
    "}, 'bodies': [{'name': 'ball', 'type': 'fixed', 'sphere': {'radius': 0.35}}, {'name': "       \
    "'sheet', 'type': 'cloth', 'position': [0, 0, 0.45], 'mesh': {'sheet': {'width': 1.6, "        \
    "'height': 1.6, 'nx': 13, 'ny': 13}}}]}"
#define HEAP                                                                                       \
    "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0.5, 'contact': 'barrier', "                   \
    "'iteration_budget': 3}, 'bodies': [{'name': 'floor', 'type': 'fixed', 'mesh': {'sheet': "     \
    "{'width': 4, 'height': 4, 'nx': 2, 'ny': 2}}}, {'name': 'low', 'mesh': {'box': {'size': "     \
    "[0.3, 0.3, 0.2]}}, 'position': [0, 0, 0.2], 'euler_degrees': [20, 10, 0]}, {'name': "         \
    "'high', 'mesh': {'box': {'size': [0.2, 0.2, 0.2]}}, 'position': [0.05, 0.02, 0.5], "          \
    "'euler_degrees': [5, 30, 9]}]}"

// What a step that was solved has left, relative.
static const double solved = 1e-8;

static carom_model* model_of(const char* text)
{
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_error error = {0};
    char* json = strdup(text);
    for (char* c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    if (carom_scene_parse(json, strlen(json), NULL, &scene, &error) != CAROM_OK ||
        carom_model_create(scene, &model, &error) != CAROM_OK) {
        printf("%s\n", error.message);
        exit(1); // the test's own scene is wrong
    }
    carom_scene_destroy(scene);
    free(json);
    return model;
}

static void judge(const carom_model* model, cr_sim* sim, double* x)
{
    const cr_model* m = model->numbers;
    cr_intersect_report report;
    cr_state_vertices(cr_sim_state(sim), m, x);
    CHECK(cr_intersect_frame(&m->surface, x, m->bodies.radius, 0.01, CR_INTERSECT_FRAME_INSIDE,
                             &report) == CAROM_OK);
    CHECK(report.pair_count == 0 && report.inside_count == 0);
}

// What a run came to.
typedef struct outcome {
    int steps, unfinished, unsaid; // unsaid: steps with a residual that count as solved
    double residual, speed;        // the largest; m/s, of anything at the end
} outcome;

static double fastest(const carom_model* model, cr_sim* sim)
{
    const cr_body_set* bodies = &model->numbers->bodies;
    const cr_state* state = cr_sim_state(sim);
    double most = 0.0;
    for (int32_t i = 0; i < 3 * bodies->frame_count; i++) {
        most = fmax(most, fabs(state->v[i]));
    }
    for (int32_t i = 0; i < 3 * bodies->node_count; i++) {
        most = fmax(most, fabs(state->xv[i]));
    }
    return most;
}

static outcome run(const char* text, int steps)
{
    carom_model* model = model_of(text);
    cr_sim* sim = NULL;
    carom_error error = {0};
    outcome out = {0};
    CHECK(cr_sim_create(model->numbers, 1, &sim) == CAROM_OK);
    double* x = malloc(3 * sizeof(double) * (size_t)model->numbers->bodies.vertex_count);
    carom_status status = CAROM_OK;
    while (out.steps < steps && status == CAROM_OK) {
        status = cr_sim_step(sim, &error);
        const cr_step_report* report = cr_sim_report(sim);
        out.steps++;
        out.unfinished += report->unfinished > 0;
        out.unsaid += report->unfinished == 0 && report->residual > solved;
        out.residual = fmax(out.residual, report->residual);
        judge(model, sim, x);
    }
    CHECK(status == CAROM_OK);
    out.speed = fastest(model, sim);
    printf("  %d of %d steps unfinished, residual %.2g, speed %.2g m/s\n", out.unfinished,
           out.steps, out.residual, out.speed);
    cr_sim_destroy(sim);
    carom_model_destroy(model);
    free(x);
    return out;
}

static void test_spent_budget_is_reported(void)
{
    const outcome cloth = run(DRAPE("'iteration_budget': 4"), 100);
    CHECK(cloth.unfinished > 20 && cloth.residual > 1e-3 && cloth.unsaid == 0);
    const outcome heap = run(HEAP, 300);
    CHECK(heap.unfinished > 20 && heap.residual > 1e-6 && heap.unsaid == 0);
    CHECK(heap.speed < 1e-2); // it rests all the same
}

static void test_budget_that_is_not_spent_is_no_matter(void)
{
    const outcome free_of = run(DRAPE("'iteration_budget': 1000"), 40);
    CHECK(free_of.unfinished == 0 && free_of.residual <= solved);
}

static void test_linearized_steps_are_solved(void)
{
    const outcome linear = run(DRAPE("'elasticity': 'linearized'"), 100);
    CHECK(linear.unfinished == 0 && linear.residual <= solved);
}

static void test_tape_refuses_a_budget(void)
{
    carom_model* model = model_of(DRAPE("'iteration_budget': 4"));
    carom_error error = {0};
    cr_tape* tape = NULL;
    cr_sim* sim = NULL;
    CHECK(cr_tape_create(model->numbers, 1, 0, &tape) == CAROM_OK);
    CHECK(cr_sim_create(model->numbers, 1, &sim) == CAROM_OK);
    CHECK(cr_tape_step(tape, sim, &error) == CAROM_ERR_MISUSE);
    CHECK(strstr(error.message, "world.iteration_budget") != NULL);
    CHECK(cr_sim_state(sim)->step == 0);
    CHECK(cr_sim_step(sim, &error) == CAROM_OK); // without the tape it goes on
    cr_sim_destroy(sim);
    cr_tape_destroy(tape);
    carom_model_destroy(model);
}

int main(void)
{
    RUN(test_spent_budget_is_reported);
    RUN(test_budget_that_is_not_spent_is_no_matter);
    RUN(test_linearized_steps_are_solved);
    RUN(test_tape_refuses_a_budget);
    return check_failures != 0;
}
