// Rollouts and batches: the derivative of a run with contact by its start, its controls and its
// parameters against differences, the same bits for any number of workers, and misuse refused.
#include "carom/carom.h"
#include "check.h"
#include "core/memory.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 8 };

// A box slides on the ground, a hand without script pushes it, a ball lies on a sheet whose corners
// are pinned; corner 0 is driven.
static const char* const text =
    "{\"carom\": 1, \"world\": {\"dt\": 0.015, \"friction_speed\": 0.02}, \"bodies\": ["
    "{\"name\": \"ground\", \"type\": \"fixed\", \"mesh\": {\"sheet\": {\"width\": 4, \"height\": "
    "3, \"nx\": 1, \"ny\": 1}}},"
    "{\"name\": \"box\", \"mesh\": {\"box\": {\"size\": [0.3, 0.2, 0.1]}}, \"position\": [0.3, "
    "0.01, 0.075], \"euler_degrees\": [4, 5, 3], \"velocity\": [0.4, 0.3, 0], \"friction\": 0.3},"
    "{\"name\": \"hand\", \"type\": \"kinematic\", \"mesh\": {\"box\": {\"size\": [0.1, 0.1, "
    "0.08]}}, \"position\": [0.07, 0, 0.07], \"euler_degrees\": [7, -6, 12]},"
    "{\"name\": \"ball\", \"sphere\": {\"radius\": 0.1}, \"position\": [0.01, -1, 0.605]},"
    "{\"name\": \"sheet\", \"type\": \"cloth\", \"mesh\": {\"sheet\": {\"width\": 0.6, \"height\": "
    "0.6, \"nx\": 3, \"ny\": 3}}, \"position\": [0, -1, 0.5], \"stretch\": 200, \"bend\": 1e-3,"
    " \"damping\": 0.01, \"thickness\": 0.001, \"pins\": [{\"nodes\": \"corners\"}]}],"
    "\"parameters\": [{\"of\": \"box\", \"what\": \"mass\"}, {\"what\": \"gravity\"},"
    " {\"of\": \"sheet\", \"what\": \"stretch\"}, {\"of\": \"box\", \"what\": \"velocity\"},"
    " {\"of\": \"ground\", \"what\": \"position\"}, {\"of\": \"sheet\", \"what\": \"pins\"},"
    " {\"of\": \"box\", \"what\": \"friction\"}, {\"of\": \"ball\", \"what\": \"force\"}]}";

enum { BOX = 1, HAND = 2, BALL = 3, FRAMES = 4, NODES = 16 };
enum { STATE = 13 * FRAMES + 6 * NODES, CHOSEN = 12, MOST_THETA = 40 };

static const int32_t chosen[CHOSEN] = {
    3 * BOX,
    3 * BOX + 1,
    3 * BOX + 2,              // force on the box
    3 * FRAMES + 3 * BOX + 2, // torque about z
    3 * HAND,
    3 * HAND + 1,              // velocity of the hand
    3 * FRAMES + 3 * HAND + 2, // its spin about z
    6 * FRAMES,
    6 * FRAMES + 2, // velocity of corner 0
    6 * FRAMES + 3 * 5,
    6 * FRAMES + 3 * 5 + 1,
    6 * FRAMES + 3 * 5 + 2, // force on an inner node
};

static carom_model* model_of(const char* scene_text)
{
    carom_error error = {0};
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    if (carom_scene_parse(scene_text, strlen(scene_text), NULL, &scene, &error) != CAROM_OK ||
        carom_model_create(scene, &model, &error) != CAROM_OK) {
        printf("%s\n", error.message);
    }
    carom_scene_destroy(scene);
    CHECK(model != NULL);
    return model;
}

// Numbers that look like chance, the same each time.
static double chance(int64_t i)
{
    const double s = 43758.5453 * (double)((i * 7919 + 104729) % 15485863);
    return 2.0 * (s - floor(s)) - 1.0;
}

typedef struct input {
    double state[STATE];
    double control[STEPS * CHOSEN];
    double theta[MOST_THETA];
} input;

static double weight(int step, int i)
{
    // the spin of what does not move freely is not felt
    const int spin = i - 10 * FRAMES;
    if (spin >= 0 && spin < 3 * FRAMES && (spin / 3 == 0 || spin / 3 == HAND)) {
        return 0.0;
    }
    return chance(step * STATE + i) * (step == STEPS || step % 5 == 0);
}

static double loss_of(carom_rollout* r, const input* in, int from_start, int32_t* slot)
{
    static double states[STEPS * STATE], first[STATE];
    carom_error error = {0};
    int32_t done = 0;
    CHECK(carom_rollout_write(r, in->theta, &error) == CAROM_OK);
    CHECK(carom_rollout_place(r, from_start ? NULL : in->state, 0, &error) == CAROM_OK);
    carom_rollout_state(r, first);
    CHECK(carom_rollout_run(r, STEPS, in->control, states, slot, &done, &error) == CAROM_OK);
    if (error.status != CAROM_OK) {
        printf("%s\n", error.message);
    }
    double loss = 0.0;
    for (int i = 0; i < STATE; i++) {
        // a given quaternion enters by its direction alone
        const int q = i >= 3 * FRAMES && i < 7 * FRAMES;
        loss += q ? 0.0 : weight(0, i) * first[i];
    }
    for (int k = 0; k < STEPS; k++) {
        for (int i = 0; i < STATE; i++) {
            loss += weight(k + 1, i) * states[k * STATE + i];
        }
    }
    return loss;
}

static void go_back(carom_rollout* r, const int32_t* slot, int from_start, input* bar)
{
    static double more[STEPS * STATE];
    carom_error error = {0};
    memset(bar, 0, sizeof *bar);
    for (int i = 0; i < STATE; i++) {
        const int q = i >= 3 * FRAMES && i < 7 * FRAMES;
        bar->state[i] = weight(STEPS, i);
        for (int k = 0; k < STEPS; k++) {
            more[k * STATE + i] = k == 0 && q ? 0.0 : weight(k, i);
        }
    }
    CHECK(carom_rollout_back(r, STEPS, slot, more, bar->state, bar->control, bar->theta, &error) ==
          CAROM_OK);
    if (from_start) {
        CHECK(carom_rollout_start_back(r, bar->state, bar->theta, &error) == CAROM_OK);
    }
}

static carom_rollout* rollout_of(const carom_model* model, input* in)
{
    carom_error error = {0};
    carom_rollout* r = NULL;
    CHECK(carom_rollout_create(model, 1, &r, &error) == CAROM_OK);
    if (!r) {
        printf("%s\n", error.message);
        exit(1);
    }
    CHECK(carom_rollout_layout(r).state_size == STATE);
    CHECK(carom_rollout_choose(r, CHOSEN, chosen, &error) == CAROM_OK);
    carom_rollout_scene(r, in->theta);
    carom_rollout_state(r, in->state);
    for (int i = 0; i < STEPS * CHOSEN; i++) {
        in->control[i] = 0.3 * chance(i + 17) + (i % CHOSEN == 4 ? 1.5 : 0.0);
    }
    return r;
}

static double one_difference(carom_rollout* r, input* in, int from_start, double* x, double h)
{
    const double keep = *x;
    double f[4];
    for (int i = 0; i < 4; i++) {
        *x = keep + h * (i < 2 ? 1.0 : 0.5) * (i % 2 ? -1.0 : 1.0);
        f[i] = loss_of(r, in, from_start, NULL);
    }
    *x = keep;
    const double coarse = (f[0] - f[1]) / (2.0 * h), fine = (f[2] - f[3]) / h;
    return (4.0 * fine - coarse) / 3.0;
}

// Of several step sizes that whose neighbour agrees best: contacts come and go with large ones,
// rounding spoils small ones.
static double difference(carom_rollout* r, input* in, int from_start, double* x, double h)
{
    double last = one_difference(r, in, from_start, x, h), best = last, apart = HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        h /= 8.0;
        const double next = one_difference(r, in, from_start, x, h);
        if (fabs(next - last) < apart) {
            apart = fabs(next - last);
            best = i == 0 ? next : last;
        }
        last = next;
    }
    return best;
}

static void compare(carom_rollout* r, input* in, int from_start, double* x, const double* bar,
                    int count, int stride, double h, double tolerance, const char* what)
{
    double largest = 0.0, worst = 0.0;
    int at = -1;
    for (int i = 0; i < count; i += stride) {
        const double d = difference(r, in, from_start, x + i, h);
        largest = fmax(largest, fmax(fabs(d), fabs(bar[i])));
        if (!(fabs(d - bar[i]) <= worst)) {
            worst = fabs(d - bar[i]);
            at = i;
        }
    }
    if (!(largest > 1e-4 && worst <= tolerance * largest)) {
        printf("%s: number %d off by %g of %g, gradient %.12g\n", what, at, worst, largest,
               at >= 0 ? bar[at] : 0.0);
    }
    CHECK(largest > 1e-4);
    CHECK(worst <= tolerance * largest);
}

static void test_gradient_matches_differences(void)
{
    carom_model* model = model_of(text);
    input in, bar;
    int32_t slot[STEPS];
    carom_rollout* r = rollout_of(model, &in);
    const int thetas = carom_rollout_layout(r).theta_size;
    CHECK(thetas < MOST_THETA);
    loss_of(r, &in, 0, slot);
    CHECK(carom_sim_contact_count(carom_rollout_sim(r)) > 2);
    go_back(r, slot, 0, &bar);
    carom_rollout_drop(r, STEPS, slot);
    compare(r, &in, 0, in.state, bar.state, STATE, 1, 1e-3, 1e-6, "state");
    compare(r, &in, 0, in.control, bar.control, STEPS * CHOSEN, 5, 1e-2, 1e-6, "controls");
    loss_of(r, &in, 1, slot);
    go_back(r, slot, 1, &bar);
    carom_rollout_drop(r, STEPS, slot);
    for (int32_t i = 0; i < carom_rollout_layout(r).parameter_count; i++) {
        carom_parameter_info info;
        CHECK(carom_rollout_parameter(r, i, &info) == CAROM_OK);
        const double size = fmax(1.0, fabs(in.theta[info.first]));
        compare(r, &in, 1, in.theta + info.first, bar.theta + info.first, info.count, 1,
                1e-3 * size, 1e-6, info.name);
    }
    carom_rollout_destroy(r);
    carom_model_destroy(model);
}

// Steps taken one by one from flat states, in slots of their own, give the same derivatives as the
// run, but for the memory of contacts.
static void test_single_steps_chain(void)
{
    carom_model* model = model_of(text);
    input in, bar, one = {0};
    int32_t slot[STEPS], done;
    carom_rollout* r = rollout_of(model, &in);
    loss_of(r, &in, 0, slot);
    go_back(r, slot, 0, &bar);
    int32_t single[STEPS];
    double state[STATE];
    memcpy(state, in.state, sizeof state);
    for (int k = 0; k < STEPS; k++) {
        CHECK(carom_rollout_place(r, state, k, NULL) == CAROM_OK);
        CHECK(carom_rollout_run(r, 1, in.control + k * CHOSEN, state, single + k, &done, NULL) ==
              CAROM_OK);
    }
    for (int i = 0; i < STATE; i++) {
        one.state[i] = weight(STEPS, i);
    }
    for (int k = STEPS - 1; k >= 0; k--) {
        CHECK(carom_rollout_back(r, 1, single + k, NULL, one.state, one.control + k * CHOSEN,
                                 one.theta, NULL) == CAROM_OK);
        for (int i = 0; i < STATE; i++) {
            const int q = i >= 3 * FRAMES && i < 7 * FRAMES;
            one.state[i] += k == 0 && q ? 0.0 : weight(k, i);
        }
    }
    for (int i = 0; i < STATE; i++) {
        CHECK_NEAR(one.state[i], bar.state[i], 1e-7 * (1.0 + fabs(bar.state[i])));
    }
    for (int i = 0; i < STEPS * CHOSEN; i++) {
        CHECK_NEAR(one.control[i], bar.control[i], 1e-7 * (1.0 + fabs(bar.control[i])));
    }
    carom_rollout_destroy(r);
    carom_model_destroy(model);
}

// w . a column, and the size its rounding is measured by: the way back solves systems whose
// condition is that of stiff contact, so a row is good to about ten digits of its largest parts.
static double product(const double* w, const double* column, size_t stride, double* size)
{
    double sum = 0.0;
    *size = 1.0;
    for (size_t i = 0; i < STATE; i++) {
        sum += w[i] * column[i * stride];
        *size += 10.0 * fabs(w[i] * column[i * stride]);
    }
    return sum;
}

// The row of every number of the state, against the step's own way back.
static void test_jacobian_rows(void)
{
    carom_model* model = model_of(text);
    input in;
    int32_t slot, done;
    carom_rollout* r = rollout_of(model, &in);
    const size_t p = (size_t)carom_rollout_layout(r).theta_size;
    double* state = calloc(STATE * STATE, sizeof(double));
    double* control = calloc(STATE * CHOSEN, sizeof(double));
    double* theta = calloc(STATE * p, sizeof(double));
    double w[STATE], out[STATE], c[CHOSEN], t[MOST_THETA] = {0}, size;
    CHECK(carom_rollout_run(r, 1, in.control, NULL, &slot, &done, NULL) == CAROM_OK);
    CHECK(carom_rollout_jacobian(r, 1, &slot, state, control, theta, NULL) == CAROM_OK);
    for (int i = 0; i < STATE; i++) {
        w[i] = out[i] = chance(i + 3);
    }
    CHECK(carom_rollout_back(r, 1, &slot, NULL, out, c, t, NULL) == CAROM_OK);
    for (size_t k = 0; k < STATE; k++) {
        CHECK_NEAR(product(w, state + k, STATE, &size), out[k], 1e-10 * size);
    }
    for (size_t k = 0; k < CHOSEN; k++) {
        CHECK_NEAR(product(w, control + k, CHOSEN, &size), c[k], 1e-10 * size);
    }
    for (size_t k = 0; k < p; k++) {
        CHECK_NEAR(product(w, theta + k, p, &size), t[k], 1e-10 * size);
    }
    free(state);
    free(control);
    free(theta);
    carom_rollout_destroy(r);
    carom_model_destroy(model);
}

static void test_batch_has_the_same_bits(void)
{
    enum { COUNT = 5 };
    carom_model* model = model_of(text);
    input in;
    carom_rollout* r = rollout_of(model, &in);
    static double controls[COUNT * STEPS * CHOSEN], states[2][COUNT * STEPS * STATE];
    static double control_bar[2][COUNT * STEPS * CHOSEN];
    double bar[2][COUNT * STATE], theta_bar[2][COUNT * MOST_THETA];
    int32_t slot[COUNT * STEPS], done[COUNT];
    for (int i = 0; i < COUNT * STEPS * CHOSEN; i++) {
        controls[i] = 0.5 * chance(i + 5);
    }
    memset(theta_bar, 0, sizeof theta_bar);
    for (int k = 0; k < 2; k++) {
        carom_batch* batch = NULL;
        CHECK(carom_batch_create(model, COUNT, k == 0 ? 1 : 3, &batch, NULL) == CAROM_OK);
        CHECK(carom_batch_choose(batch, CHOSEN, chosen, NULL) == CAROM_OK);
        CHECK(carom_batch_write(batch, in.theta, 0, NULL) == CAROM_OK);
        CHECK(carom_batch_place(batch, NULL, 0, NULL) == CAROM_OK);
        CHECK(carom_batch_run(batch, STEPS, controls, states[k], slot, done, NULL) == CAROM_OK);
        CHECK(done[COUNT - 1] == STEPS);
        for (int i = 0; i < COUNT * STATE; i++) {
            bar[k][i] = chance(i);
        }
        CHECK(carom_batch_back(batch, STEPS, slot, NULL, bar[k], control_bar[k], theta_bar[k],
                               NULL) == CAROM_OK);
        CHECK(carom_batch_start_back(batch, bar[k], theta_bar[k], NULL) == CAROM_OK);
        carom_batch_drop(batch, STEPS, slot);
        controls[0] = 0.5 * chance(5);
        // a bad number in one item is told, the others go on
        const double keep = controls[2 * STEPS * CHOSEN];
        carom_error error = {0};
        controls[2 * STEPS * CHOSEN] = (double)NAN;
        CHECK(carom_batch_run(batch, STEPS, controls, NULL, NULL, done, &error) ==
              CAROM_ERR_NOT_FINITE);
        CHECK(strstr(error.message, "item 2") != NULL);
        CHECK(done[1] == STEPS && done[2] == 0);
        controls[2 * STEPS * CHOSEN] = keep;
        carom_batch_destroy(batch);
    }
    CHECK(memcmp(states[0], states[1], sizeof states[0]) == 0);
    CHECK(memcmp(bar[0], bar[1], sizeof bar[0]) == 0);
    CHECK(memcmp(control_bar[0], control_bar[1], sizeof control_bar[0]) == 0);
    CHECK(memcmp(theta_bar[0], theta_bar[1], sizeof theta_bar[0]) == 0);
    carom_rollout_destroy(r);
    carom_model_destroy(model);
}

// The Jacobians of a batch are those of its items.
static void test_batch_jacobian(void)
{
    enum { COUNT = 2, SPAN = 2 };
    carom_model* model = model_of(text);
    carom_batch* batch = NULL;
    CHECK(carom_batch_create(model, COUNT, 2, &batch, NULL) == CAROM_OK);
    CHECK(carom_batch_choose(batch, CHOSEN, chosen, NULL) == CAROM_OK);
    const size_t p = (size_t)carom_rollout_layout(carom_batch_item(batch, 0)).theta_size;
    const size_t sizes[3] = {(size_t)STATE * STATE, (size_t)STATE * SPAN * CHOSEN, STATE * p};
    static double controls[COUNT * SPAN * CHOSEN];
    double *all[3], *one[3];
    int32_t slot[COUNT * SPAN], done[COUNT];
    for (int i = 0; i < COUNT * SPAN * CHOSEN; i++) {
        controls[i] = 0.5 * chance(i + 3);
    }
    for (int k = 0; k < 3; k++) {
        all[k] = calloc(COUNT * sizes[k], sizeof(double));
        one[k] = calloc(sizes[k], sizeof(double));
    }
    CHECK(carom_batch_run(batch, SPAN, controls, NULL, slot, done, NULL) == CAROM_OK);
    CHECK(carom_batch_jacobian(batch, SPAN, slot, all[0], all[1], all[2], NULL) == CAROM_OK);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(carom_rollout_jacobian(carom_batch_item(batch, (int32_t)i), SPAN, slot + i * SPAN,
                                     one[0], one[1], one[2], NULL) == CAROM_OK);
        for (int k = 0; k < 3; k++) {
            CHECK(memcmp(all[k] + i * sizes[k], one[k], sizes[k] * sizeof(double)) == 0);
            double square = 0.0;
            for (size_t j = 0; j < sizes[k]; j++) {
                square += one[k][j] * one[k][j];
            }
            CHECK(square > 0.0); // zeros would agree with too much
        }
    }
    CHECK(memcmp(all[0], all[0] + sizes[0], sizes[0] * sizeof(double)) != 0);
    CHECK(carom_batch_jacobian(batch, SPAN, slot, NULL, NULL, NULL, NULL) == CAROM_OK);
    CHECK(carom_batch_jacobian(NULL, 1, slot, NULL, NULL, NULL, NULL) == CAROM_ERR_ARGUMENT);
    CHECK(carom_batch_jacobian(batch, 1, NULL, NULL, NULL, NULL, NULL) == CAROM_ERR_ARGUMENT);
    CHECK(carom_batch_jacobian(batch, 0, slot, NULL, NULL, NULL, NULL) == CAROM_ERR_ARGUMENT);
    for (int k = 0; k < 3; k++) {
        free(all[k]);
        free(one[k]);
    }
    carom_batch_destroy(batch);
    carom_model_destroy(model);
}

// Of nothing there is nothing to tell.
static void test_nothing_is_refused(void)
{
    carom_error error = {0};
    carom_parameter_info info;
    double x[4] = {7, 7, 7, 7};
    int32_t done = 7;
    CHECK(carom_rollout_layout(NULL).state_size == 0 && carom_batch_count(NULL) == 0);
    CHECK(!carom_rollout_model(NULL) && !carom_rollout_sim(NULL) && !carom_batch_item(NULL, 0));
    CHECK(carom_rollout_parameter(NULL, 0, &info) == CAROM_ERR_ARGUMENT);
    carom_rollout_scene(NULL, x);
    carom_rollout_range(NULL, x, x + 1, x + 2);
    carom_rollout_state(NULL, x);
    carom_batch_state(NULL, x);
    carom_rollout_drop(NULL, 1, &done);
    carom_batch_drop(NULL, 1, &done);
    CHECK(carom_batch_run(NULL, 1, NULL, NULL, NULL, &done, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_problem_watch(NULL, NULL, NULL) == CAROM_ERR_ARGUMENT);
    CHECK(carom_trajectory_gradient(NULL, x, x, x) == CAROM_ERR_ARGUMENT);
    CHECK(x[0] == 7 && x[1] == 7 && x[2] == 7 && done == 7);
}

static void test_misuse_is_refused(void)
{
    carom_model* model = model_of(text);
    input in;
    carom_error error = {0};
    int32_t slot, done;
    double bar[STATE] = {0};
    carom_rollout* r = rollout_of(model, &in);
    const int32_t fixed = 0, twice[2] = {3, 3}, far = 6 * FRAMES + 3 * NODES;
    CHECK(carom_rollout_choose(r, 1, &fixed, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_rollout_choose(r, 2, twice, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_rollout_choose(r, 1, &far, &error) == CAROM_ERR_ARGUMENT);
    in.state[5] = (double)NAN;
    CHECK(carom_rollout_place(r, in.state, 0, &error) == CAROM_ERR_NOT_FINITE);
    in.state[5] = 0.0;
    memset(in.state + 3 * FRAMES, 0, 4 * sizeof(double));
    CHECK(carom_rollout_place(r, in.state, 0, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_rollout_place(r, NULL, -1, &error) == CAROM_ERR_ARGUMENT);
    in.theta[0] = -1.0; // a mass
    CHECK(carom_rollout_write(r, in.theta, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_rollout_run(r, 1, in.control, NULL, &slot, &done, &error) == CAROM_OK);
    carom_rollout_drop(r, 1, &slot);
    carom_rollout_drop(r, 1, &slot);
    CHECK(carom_rollout_back(r, 1, &slot, NULL, bar, NULL, NULL, &error) == CAROM_ERR_MISUSE);
    slot = 1000;
    CHECK(carom_rollout_back(r, 1, &slot, NULL, bar, NULL, NULL, &error) == CAROM_ERR_MISUSE);
    carom_rollout_destroy(r);
    carom_model_destroy(model);
}

static void test_warm_runs_take_no_memory(void)
{
    carom_model* model = model_of(text);
    input in, bar;
    int32_t slot[STEPS];
    carom_rollout* r = rollout_of(model, &in);
    for (int i = 0; i < 3; i++) {
        const int64_t before = cr_memory_calls();
        loss_of(r, &in, 0, slot);
        go_back(r, slot, 0, &bar);
        carom_rollout_drop(r, STEPS, slot);
        CHECK(i < 2 || cr_memory_calls() == before);
    }
    carom_rollout_destroy(r);
    carom_model_destroy(model);
}

static void test_no_memory_is_said(void)
{
    carom_model* model = model_of(text);
    int failed = 0;
    for (int n = 1; n < 400; n++) {
        carom_batch* batch = NULL;
        int32_t slot[2], done[2];
        double bar[2 * STATE] = {0}, theta_bar[2 * MOST_THETA] = {0};
        cr_memory_fail_after(n);
        carom_status status = carom_batch_create(model, 2, 1, &batch, NULL);
        if (status == CAROM_OK) {
            status = carom_batch_run(batch, 1, NULL, NULL, slot, done, NULL);
        }
        if (status == CAROM_OK) {
            status = carom_batch_back(batch, 1, slot, NULL, bar, NULL, theta_bar, NULL);
        }
        cr_memory_fail_after(0);
        failed += status == CAROM_ERR_MEMORY;
        CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY ||
              status == CAROM_ERR_NO_CONVERGENCE);
        carom_batch_destroy(batch);
    }
    CHECK(failed > 50);
    carom_model_destroy(model);
}

int main(void)
{
    RUN(test_gradient_matches_differences);
    RUN(test_single_steps_chain);
    RUN(test_jacobian_rows);
    RUN(test_batch_has_the_same_bits);
    RUN(test_batch_jacobian);
    RUN(test_nothing_is_refused);
    RUN(test_misuse_is_refused);
    RUN(test_warm_runs_take_no_memory);
    RUN(test_no_memory_is_said);
    return check_failures != 0;
}
