// The public tape: a loss of one's own, by a program that knows include/carom alone.
#include "carom/carom.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 25, BALL = 1, BODIES = 3 };

static const char* const text =
    "{\"carom\": 1, \"world\": {\"dt\": 0.01, \"friction_speed\": 0.01}, \"bodies\": ["
    "{\"name\": \"ground\", \"type\": \"fixed\", \"mesh\": {\"sheet\": {\"width\": 4, \"height\": "
    "3,"
    " \"nx\": 1, \"ny\": 1}}}, {\"name\": \"ball\", \"sphere\": {\"radius\": 0.1}, \"position\":"
    " [0, 0, 0.1], \"velocity\": [1, 0.2, 0]}, {\"name\": \"cloth\", \"type\": \"cloth\", \"mesh\":"
    " {\"sheet\": {\"width\": 0.3, \"height\": 0.3, \"nx\": 2, \"ny\": 2}}, \"position\": [0, 0, "
    "1],"
    " \"stretch\": 50, \"pins\": [{\"nodes\": [0, 2]}]}]}";

// L = x_ball(T) . a + spin_ball(T) . b + v_ball(T/2) . a + x_corner(T) . b + x_ball(0) . b
static const double a[3] = {1, -2, 3}, b[3] = {0.5, 0.25, -1};

typedef struct run {
    carom_model* model;
    carom_sim* sim;
    double push[STEPS][3];
    double push_bar[STEPS][3];
    int32_t corner;
    int states;
} run;

static double dot(const double* x, const double* y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static double step_all(run* r, carom_tape* tape)
{
    const double none[3] = {0, 0, 0};
    carom_body_state s;
    double x[3 * 64], loss;
    CHECK(carom_sim_reset(r->sim) == CAROM_OK);
    carom_sim_body(r->sim, BALL, &s);
    loss = dot(s.position, b);
    for (int i = 0; i < STEPS; i++) {
        CHECK(carom_sim_set_force(r->sim, BALL, r->push[i], none) == CAROM_OK);
        CHECK((tape ? carom_tape_step(tape, r->sim, NULL) : carom_sim_step(r->sim, NULL)) ==
              CAROM_OK);
        carom_sim_body(r->sim, BALL, &s);
        loss += i + 1 == STEPS / 2 ? dot(s.velocity, a) : 0.0;
    }
    carom_sim_vertices(r->sim, x);
    return loss + dot(s.position, a) + dot(s.angular_velocity, b) + dot(x + 3 * r->corner, b);
}

static void state(void* user, int64_t step, const carom_bars* bars)
{
    run* r = user;
    r->states++;
    for (int i = 0; i < 3; i++) {
        if (step == STEPS) {
            bars->position[3 * BALL + i] += a[i];
            bars->angular_velocity[3 * BALL + i] += b[i];
            bars->vertex_position[3 * r->corner + i] += b[i];
        }
        bars->velocity[3 * BALL + i] += step == STEPS / 2 ? a[i] : 0.0;
        bars->position[3 * BALL + i] += step == 0 ? b[i] : 0.0;
    }
}

static void control(void* user, int64_t step, const double* force, const double* torque)
{
    run* r = user;
    (void)torque;
    memcpy(r->push_bar[step], force + 3 * BALL, sizeof r->push_bar[step]);
}

static int open_run(run* r)
{
    carom_scene* scene = NULL;
    carom_error error = {0};
    carom_body_info info;
    *r = (run){0};
    if (carom_scene_parse(text, strlen(text), NULL, &scene, &error) != CAROM_OK ||
        carom_model_create(scene, &r->model, &error) != CAROM_OK ||
        carom_sim_create(r->model, 1, &r->sim, &error) != CAROM_OK) {
        printf("%s\n", error.message);
        CHECK(0);
        return 0;
    }
    carom_scene_destroy(scene);
    CHECK(carom_model_body(r->model, 2, &info) == CAROM_OK);
    r->corner = info.vertex_first + info.vertex_count - 1;
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < 3; k++) {
            r->push[i][k] = sin(i + 2.0 * k) - (k == 2 ? 2.0 : 0.0);
        }
    }
    return 1;
}

static void close_run(run* r)
{
    carom_sim_destroy(r->sim);
    carom_model_destroy(r->model);
}

static void test_a_loss_of_ones_own(void)
{
    run r;
    carom_tape* tape = NULL;
    if (!open_run(&r)) {
        return;
    }
    carom_body_gradient body[BODIES];
    double* vertex = calloc(3 * (size_t)carom_model_vertex_count(r.model), sizeof *vertex);
    carom_gradient g = {.body = body, .vertex = vertex};
    const carom_tape_listener listener = {&r, state, control};
    CHECK(carom_tape_create(r.model, 1, 0, &tape, NULL) == CAROM_OK);
    const double loss = step_all(&r, tape);
    CHECK(carom_tape_steps(tape) == STEPS && carom_tape_bytes(tape) > 0);
    CHECK(carom_tape_backward(tape, &listener, &g, NULL) == CAROM_OK);
    CHECK(r.states == STEPS + 1);
    CHECK(step_all(&r, NULL) == loss); // a tape changes nothing
    const double h = 1e-3;
    for (int i = 0; i < STEPS; i += 4) {
        for (int k = 0; k < 3; k++) {
            const double old = r.push[i][k];
            r.push[i][k] = old + h;
            const double up = step_all(&r, NULL);
            r.push[i][k] = old - h;
            const double down = step_all(&r, NULL);
            r.push[i][k] = old;
            CHECK_NEAR(r.push_bar[i][k], (up - down) / (2 * h), 1e-8);
        }
    }
    CHECK(fabs(r.push_bar[0][0]) > 1e-4);
    CHECK(fabs(body[BALL].velocity[0]) > 1e-2 && fabs(body[BALL].position[0] - 1.5) < 1e-9);
    CHECK(fabs(vertex[3 * r.corner + 2]) > 1e-3);

    carom_error error = {0};
    CHECK(carom_tape_backward(tape, &listener, &g, &error) == CAROM_ERR_MISUSE);
    CHECK(carom_tape_step(tape, r.sim, &error) == CAROM_ERR_MISUSE);
    carom_gradient nowhere = {.body = NULL};
    CHECK(carom_tape_backward(tape, &listener, &nowhere, &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "gradient->body"));
    const double first = r.push_bar[3][1];
    carom_tape_rewind(tape);
    CHECK(carom_tape_backward(tape, &listener, &g, &error) == CAROM_OK);
    CHECK(r.push_bar[3][1] == first);
    carom_tape_reset(tape);
    CHECK(carom_tape_backward(tape, &listener, &g, &error) == CAROM_ERR_MISUSE);
    carom_tape_destroy(tape);
    free(vertex);
    close_run(&r);
}

// ---- watching the way back of a problem

enum { WATCHED = 20 };

typedef struct watched {
    int64_t next; // the step that is to come
    double position[WATCHED + 1][3 * BODIES], force[WATCHED + 1][3 * BODIES];
    double node[3]; // dL/dx of a free node at the start
    int32_t free_node;
} watched;

static void watch(void* user, int64_t step, const double* position, const double* force,
                  const double* vertex)
{
    watched* w = user;
    CHECK(step == w->next && step >= 0 && step <= WATCHED);
    w->next--;
    memcpy(w->position[step], position, sizeof w->position[step]);
    memcpy(w->force[step], force, sizeof w->force[step]);
    memcpy(w->node, vertex + 3 * (size_t)w->free_node, sizeof w->node);
}

// What is told is what the gradient by the same numbers says: the forces of every step, the ball's
// start, the nodes' start.
static void test_watching(void)
{
    static const char* const goal =
        "{\"terms\": [{\"what\": \"position\", \"of\": \"ball\", \"target\": [1, 1, 1]},"
        " {\"what\": \"position\", \"of\": \"cloth\", \"target\": [1, 1, 1]}]}";
    static const char* const numbers =
        "[{\"of\": \"ball\", \"what\": \"forces\"}, {\"of\": \"ball\", \"what\": \"position\"},"
        " {\"of\": \"cloth\", \"what\": \"vertices\"}]";
    carom_error error = {0};
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_problem* problem = NULL;
    carom_problem_options options = carom_problem_default();
    static double theta[1000], dtheta[1000];
    static watched w;
    double value;
    CHECK(carom_scene_parse(text, strlen(text), NULL, &scene, &error) == CAROM_OK);
    CHECK(carom_scene_set(scene, "objective", goal, &error) == CAROM_OK);
    CHECK(carom_scene_set(scene, "parameters", numbers, &error) == CAROM_OK);
    CHECK(carom_model_create(scene, &model, &error) == CAROM_OK);
    options.steps = -1;
    CHECK(carom_problem_create(model, &options, &problem, &error) == CAROM_ERR_ARGUMENT);
    options.steps = WATCHED;
    CHECK(carom_problem_create(model, &options, &problem, &error) == CAROM_OK);
    carom_optimize_options wrong[6];
    carom_optimize_report report;
    for (int i = 0; i < 6; i++) {
        wrong[i] = carom_optimize_default();
    }
    wrong[0].method = (carom_optimize_method)77;
    wrong[1].iterations = -1;
    wrong[2].rate = -1.0;
    wrong[3].rate = (double)NAN;
    wrong[4].momentum = 5.0;
    wrong[5].tolerance = (double)NAN;
    for (int i = 0; i < 6; i++) {
        CHECK(carom_problem_optimize(problem, &wrong[i], theta, &report, &error) ==
              CAROM_ERR_ARGUMENT);
    }
    if (!problem) {
        printf("%s\n", error.message);
        return;
    }
    carom_body_info cloth;
    CHECK(carom_model_body(model, 2, &cloth) == CAROM_OK);
    w = (watched){.next = WATCHED, .free_node = cloth.vertex_first + 4};
    CHECK(carom_problem_size(problem) <= 1000);
    carom_problem_scene(problem, theta);
    CHECK(carom_problem_watch(problem, watch, &w) == CAROM_OK);
    CHECK(carom_problem_gradient(problem, theta, &value, dtheta, &error) == CAROM_OK);
    CHECK(w.next == -1);
    carom_parameter_info forces, position, vertices;
    carom_problem_parameter(problem, 0, &forces);
    carom_problem_parameter(problem, 1, &position);
    carom_problem_parameter(problem, 2, &vertices);
    for (int step = 0; step < WATCHED; step++) {
        CHECK(memcmp(w.force[step] + 3 * BALL, dtheta + forces.first + 3 * step,
                     3 * sizeof(double)) == 0);
    }
    CHECK(w.force[0][3 * BALL] != 0 && w.force[WATCHED][3 * BALL] == 0);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(w.position[0][3 * BALL + i], dtheta[position.first + i], 1e-12);
        CHECK_NEAR(w.node[i], dtheta[vertices.first + 3 * 4 + i], 1e-12);
        CHECK(w.node[i] != 0);
    }
    CHECK(carom_problem_watch(problem, NULL, NULL) == CAROM_OK);
    CHECK(carom_problem_gradient(problem, theta, &value, dtheta, &error) == CAROM_OK);
    CHECK(w.next == -1); // nobody is told any more
    carom_problem_destroy(problem);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
}

static void test_refusals(void)
{
    run r;
    carom_error error = {0};
    carom_problem* problem = NULL;
    carom_tape* tape = NULL;
    if (!open_run(&r)) {
        return;
    }
    CHECK(carom_problem_create(r.model, NULL, &problem, &error) == CAROM_ERR_ARGUMENT);
    CHECK(!problem && strstr(error.message, "no objective"));
    carom_problem_options options = {0};
    CHECK(carom_problem_create(r.model, &options, &problem, &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "struct_size"));
    CHECK(carom_tape_create(NULL, 1, 0, &tape, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_tape_step(NULL, r.sim, &error) == CAROM_ERR_ARGUMENT);
    carom_problem_destroy(NULL);
    carom_tape_destroy(NULL);
    close_run(&r);
}

int main(void)
{
    RUN(test_a_loss_of_ones_own);
    RUN(test_watching);
    RUN(test_refusals);
    return check_failures != 0;
}
