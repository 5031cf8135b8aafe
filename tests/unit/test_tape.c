#include "../grad/grad_kit.h"
#include "adjoint/tape.h"

// A ball rolls off a box onto a sheet that is pinned at two corners while a pusher passes by: rigid
// contact, cloth, friction, a script and loads.
static const char* const busy =
    "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01},"
    " 'bodies': [{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 4, 'height': 4,"
    " 'nx': 1, 'ny': 1}}},"
    " {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}}, 'position': [0, 0, 0.1003],"
    " 'force': [1, 0, 0]},"
    " {'name': 'ball', 'sphere': {'radius': 0.05}, 'position': [0, 0, 0.2506],"
    " 'velocity': [0.2, 0.1, 0]},"
    " {'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.4, 'height': 0.4, 'nx': 3,"
    " 'ny': 3}}, 'position': [1, 0, 0.6], 'stretch': 100, 'pins': [{'nodes': [0, 3]}]},"
    " {'name': 'paddle', 'type': 'kinematic', 'mesh': {'box': {'size': [0.1, 0.1, 0.1]}},"
    " 'position': [-1, 0, 0.4], 'script': {'velocity': [0.1, 0, 0],"
    " 'angular_velocity': [0, 0, 1]}}],"
    " 'objective': {'terms': [{'what': 'position', 'of': 'ball', 'at': 'always'},"
    " {'what': 'velocity', 'of': 'sheet', 'at': [0.1, 0.2, 0.3]}, {'what': 'energy'},"
    " {'what': 'effort', 'at': 'always'}, {'what': 'position', 'of': 'paddle'}]},"
    " 'parameters': [{'of': 'ball', 'what': 'velocity'}, {'of': 'box', 'what': 'forces'},"
    " {'of': 'sheet', 'what': 'vertices'}, {'of': 'ball', 'what': 'mass'},"
    " {'of': 'box', 'what': 'friction'}, {'what': 'gravity'}, {'of': 'paddle', 'what': 'position'},"
    " {'of': 'sheet', 'what': 'stretch'}]}";

enum { STEPS = 60 };

static int same_bits(const double* a, const double* b, int32_t count)
{
    return memcmp(a, b, (size_t)count * sizeof(double)) == 0;
}

// ---- bits

static void test_budgets_change_no_bit(void)
{
    static const size_t budgets[] = {0, 1 << 20, 200000, 60000, 12000, 1};
    double *first = NULL, value = 0.0;
    int64_t replayed[6];
    for (int i = 0; i < 6; i++) {
        grad_kit kit;
        if (!grad_kit_open(&kit, busy, STEPS, budgets[i])) {
            return;
        }
        const double now = grad_kit_run(&kit);
        replayed[i] = cr_tape_replayed(kit.problem.tape);
        if (i == 0) {
            first = malloc((size_t)kit.size * sizeof(double));
            memcpy(first, kit.dtheta, (size_t)kit.size * sizeof(double));
            value = now;
            double plain;
            CHECK(cr_problem_value(&kit.problem, kit.theta, &plain, NULL) == CAROM_OK);
            CHECK(plain == value); // without a tape
        }
        CHECK(now == value);
        CHECK(same_bits(first, kit.dtheta, kit.size));
        grad_kit_run(&kit);
        CHECK(same_bits(first, kit.dtheta, kit.size)); // reused
        grad_kit_close(&kit);
    }
    CHECK(replayed[0] == 0);
    CHECK(replayed[2] > 0 && replayed[2] <= STEPS);
    CHECK(replayed[5] > STEPS); // no room at all: halving upon halving
    CHECK(replayed[5] < 8 * STEPS);
    free(first);
}

static void test_workers_change_no_bit(void)
{
    grad_kit kit;
    if (!grad_kit_open(&kit, busy, STEPS, 0)) {
        return;
    }
    grad_kit_run(&kit);
    for (int32_t workers = 2; workers <= 7; workers += 5) {
        cr_problem other;
        double* dtheta = malloc((size_t)kit.size * sizeof(double));
        double value;
        CHECK(cr_problem_init(&other, kit.model->numbers, &kit.model->goal, STEPS, workers, 60000,
                              NULL) == CAROM_OK);
        CHECK(cr_problem_gradient(&other, kit.theta, &value, dtheta, NULL) == CAROM_OK);
        CHECK(same_bits(dtheta, kit.dtheta, kit.size));
        cr_problem_release(&other);
        free(dtheta);
    }
    grad_kit_close(&kit);
}

// ---- memory

static void test_the_budget_holds(void)
{
    grad_kit kit;
    if (!grad_kit_open(&kit, busy, 400, 400000)) {
        return;
    }
    grad_kit_run(&kit);
    CHECK(cr_tape_record_bytes(kit.problem.tape) > 800000);
    CHECK(cr_tape_bytes(kit.problem.tape) <= 400000);
    grad_kit_close(&kit);
}

static void test_warm_runs_take_no_memory(void)
{
    static const size_t budgets[] = {0, 60000};
    for (int i = 0; i < 2; i++) {
        grad_kit kit;
        if (!grad_kit_open(&kit, busy, STEPS, budgets[i])) {
            return;
        }
        grad_kit_run(&kit);
        grad_kit_run(&kit);
        const int64_t before = cr_memory_calls();
        grad_kit_run(&kit);
        CHECK(cr_memory_calls() == before);
        grad_kit_close(&kit);
    }
}

static void test_every_failed_allocation_is_told(void)
{
    grad_kit kit;
    if (!grad_kit_open(&kit, busy, 20, 0)) {
        return;
    }
    double value, *dtheta = malloc((size_t)kit.size * sizeof(double));
    grad_kit_run(&kit);
    int failures = 0;
    for (int64_t n = 1; n < 400; n += n < 60 ? 1 : 23) {
        cr_problem fresh;
        carom_error error = {0};
        cr_memory_fail_after(n);
        carom_status status =
            cr_problem_init(&fresh, kit.model->numbers, &kit.model->goal, 20, 1, 0, &error);
        if (status == CAROM_OK) {
            status = cr_problem_gradient(&fresh, kit.theta, &value, dtheta, &error);
            cr_memory_fail_after(0);
            cr_problem_release(&fresh);
        }
        cr_memory_fail_after(0);
        CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
        CHECK(status != CAROM_OK || same_bits(dtheta, kit.dtheta, kit.size));
        failures += status != CAROM_OK;
    }
    CHECK(failures > 60);
    free(dtheta);
    grad_kit_close(&kit);
}

// ---- what a listener sees

typedef struct watcher {
    cr_state states[STEPS + 1];
    int64_t next;
    int calls, controls, wrong;
} watcher;

static int same_motion(const cr_state* a, const cr_state* b)
{
    return same_bits(a->t, b->t, 3 * a->frame_count) && same_bits(a->x, b->x, 3 * a->node_count) &&
           same_bits(a->xv, b->xv, 3 * a->node_count) && a->step == b->step;
}

static void watch(void* user, const cr_tape_moment* m, cr_state_bars* after, cr_state_bars* before,
                  cr_gradient* g)
{
    watcher* w = user;
    (void)after;
    (void)before;
    (void)g;
    w->wrong += m->step != w->next--;
    w->wrong += !same_motion(m->after, &w->states[m->step + 1]);
    w->wrong += !same_motion(m->before, &w->states[m->step]);
    w->calls++;
}

static void watch_control(void* user, int64_t step, const cr_gradient* g)
{
    watcher* w = user;
    (void)g;
    w->wrong += step != w->next + 1;
    w->controls++;
}

static void test_listeners_see_the_run_backward(void)
{
    grad_kit kit;
    watcher* w = calloc(1, sizeof *w);
    if (!grad_kit_open(&kit, busy, STEPS, 0)) {
        free(w);
        return;
    }
    const cr_model* model = kit.model->numbers;
    for (int round = 0; round < 2; round++) {
        cr_sim* sim;
        cr_tape* tape;
        cr_gradient g;
        CHECK(cr_sim_create(model, 1, &sim) == CAROM_OK);
        CHECK(cr_tape_create(model, 1, round ? 50000 : 0, &tape) == CAROM_OK);
        CHECK(cr_gradient_init(&g, model) == CAROM_OK);
        for (int i = 0; i < STEPS; i++) {
            cr_sim_force(sim)[3 * 1] = i % 7 < 3 ? 0.5 : -0.25; // forces of the caller's own
            CHECK(cr_state_copy(&w->states[i], cr_sim_state(sim)) == CAROM_OK);
            CHECK(cr_tape_step(tape, sim, NULL) == CAROM_OK);
        }
        CHECK(cr_state_copy(&w->states[STEPS], cr_sim_state(sim)) == CAROM_OK);
        const cr_tape_listener listener = {w, watch, watch_control};
        for (int again = 0; again < 2; again++) {
            w->next = STEPS - 1;
            w->calls = w->controls = w->wrong = 0;
            CHECK(cr_tape_backward(tape, &listener, &g, NULL) == CAROM_OK);
            CHECK(w->calls == STEPS && w->controls == STEPS && w->wrong == 0);
            cr_tape_rewind(tape);
        }
        cr_gradient_release(&g);
        cr_tape_destroy(tape);
        cr_sim_destroy(sim);
    }
    for (int i = 0; i <= STEPS; i++) {
        cr_state_release(&w->states[i]);
    }
    free(w);
    grad_kit_close(&kit);
}

// ---- misuse

static void feel_nothing(void* user, const cr_tape_moment* m, cr_state_bars* after,
                         cr_state_bars* before, cr_gradient* g)
{
    (void)user;
    (void)m;
    (void)after;
    (void)before;
    (void)g;
}

static void test_misuse_is_refused(void)
{
    grad_kit kit, other;
    if (!grad_kit_open(&kit, busy, 5, 0) || !grad_kit_open(&other, busy, 5, 0)) {
        return;
    }
    const cr_model* model = kit.model->numbers;
    const cr_tape_listener listener = {NULL, feel_nothing, NULL};
    cr_sim *sim, *stranger;
    cr_tape *tape, *second;
    cr_gradient g;
    carom_error error = {0};
    CHECK(cr_sim_create(model, 1, &sim) == CAROM_OK);
    CHECK(cr_sim_create(other.model->numbers, 1, &stranger) == CAROM_OK);
    CHECK(cr_tape_create(model, 1, 0, &tape) == CAROM_OK);
    CHECK(cr_tape_create(model, 1, 0, &second) == CAROM_OK);
    CHECK(cr_gradient_init(&g, model) == CAROM_OK);

    CHECK(cr_tape_backward(tape, &listener, &g, &error) == CAROM_ERR_MISUSE);
    CHECK(strstr(error.message, "empty"));
    CHECK(cr_tape_step(tape, stranger, &error) == CAROM_ERR_MISUSE);
    CHECK(strstr(error.message, "different models"));
    CHECK(cr_tape_step(tape, sim, &error) == CAROM_OK);
    CHECK(cr_tape_step(second, sim, &error) == CAROM_OK);       // a tape may begin anywhere
    CHECK(cr_tape_step(tape, sim, &error) == CAROM_ERR_MISUSE); // the other one moved it on
    CHECK(strstr(error.message, "last step left it"));
    cr_sim_state(sim)->t[0] += 1e-9;
    CHECK(cr_tape_step(second, sim, &error) == CAROM_ERR_MISUSE);
    CHECK(cr_tape_backward(tape, &listener, &g, &error) == CAROM_OK);
    CHECK(cr_tape_backward(second, &listener, &g, &error) == CAROM_OK);
    CHECK(cr_tape_backward(tape, &listener, &g, &error) == CAROM_ERR_MISUSE);
    CHECK(strstr(error.message, "already"));
    CHECK(cr_tape_step(tape, sim, &error) == CAROM_ERR_MISUSE);
    cr_tape_rewind(tape);
    CHECK(cr_tape_backward(tape, &listener, &g, &error) == CAROM_OK);
    cr_tape_reset(tape);
    CHECK(cr_tape_steps(tape) == 0);
    CHECK(cr_tape_step(tape, sim, &error) == CAROM_OK);

    cr_gradient_release(&g);
    cr_tape_destroy(tape);
    cr_tape_destroy(second);
    cr_sim_destroy(sim);
    cr_sim_destroy(stranger);
    grad_kit_close(&kit);
    grad_kit_close(&other);
}

int main(void)
{
    RUN(test_budgets_change_no_bit);
    RUN(test_workers_change_no_bit);
    RUN(test_the_budget_holds);
    RUN(test_warm_runs_take_no_memory);
    RUN(test_every_failed_allocation_is_told);
    RUN(test_listeners_see_the_run_backward);
    RUN(test_misuse_is_refused);
    return check_failures != 0;
}
