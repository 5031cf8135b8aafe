// Contacts with a width: where bodies rest, how they slide, that nothing passes and that the way of
// a scene is the same every time.
#include "api/handles.h"
#include "check.h"
#include "collision/intersect_frame.h"
#include "contact/barrier.h"
#include "sim/sim_inside.h"
#include <stdlib.h>
#include <string.h>

#define LAYER "'carom': 1, 'world': {'contact': 'barrier', "

typedef struct run {
    carom_model* model;
    cr_sim* sim;
    const cr_body_set* bodies;
    double* x; // [3*vertex_count] m
} run;

static run open_run(const char* text)
{
    run r = {0};
    carom_scene* scene = NULL;
    carom_error error = {0};
    char* json = strdup(text);
    for (char* c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    carom_status status = carom_scene_parse(json, strlen(json), NULL, &scene, &error);
    if (status == CAROM_OK) {
        status = carom_model_create(scene, &r.model, &error);
    }
    if (status == CAROM_OK) {
        status = cr_sim_create(r.model->numbers, 1, &r.sim);
        if (status == CAROM_OK) {
            cr_sim_reset(r.sim);
        }
        r.bodies = &r.model->numbers->bodies;
        r.x = malloc(3 * sizeof(double) * (size_t)r.bodies->vertex_count);
    }
    carom_scene_destroy(scene);
    free(json);
    if (status != CAROM_OK) {
        printf("%s\n", error.message);
        exit(1); // the test's own scene is wrong
    }
    return r;
}

static void close_run(run* r)
{
    cr_sim_destroy(r->sim);
    carom_model_destroy(r->model);
    free(r->x);
}

static int step(run* r)
{
    carom_error error = {0};
    const carom_status status = cr_sim_step(r->sim, &error);
    if (status != CAROM_OK) {
        printf("%s\n", error.message);
    }
    CHECK(status == CAROM_OK);
    CHECK(cr_sim_report(r->sim)->eased == 0);
    return status == CAROM_OK;
}

static void steps(run* r, int count)
{
    for (int i = 0; i < count && step(r); i++) {
    }
}

static const double* velocity(const run* r, int frame)
{
    return cr_sim_state(r->sim)->v + 3 * frame;
}

static const double* place(const run* r, int frame)
{
    return cr_sim_state(r->sim)->t + 3 * frame;
}

// What stands on four corners presses each with a quarter of its weight: k F(s) = m g / 4, with
// k = m a / F(1/2).
static double resting_share(double g, double a)
{
    double low = 0.5, high = 1.0 - 1e-9;
    for (int i = 0; i < 60; i++) {
        const double mid = 0.5 * (low + high);
        const double f = cr_barrier_at(a / CR_BARRIER_HALFWAY, 1.0, mid).force;
        *(f > 0.25 * g ? &low : &high) = mid;
    }
    return low;
}

// Gap of a box at rest on a floor of so many triangles, as a share of the layer's width.
static double rest_on(int floor_cells, const char* box)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{" LAYER "'dt': 0.005}, 'bodies': [{'name': 'floor', 'type': 'fixed', 'mesh': "
             "{'sheet': {'width': 2, 'height': 2, 'nx': %d, 'ny': %d}}}, {'name': 'box', 'mesh': "
             "%s, 'thickness': 0.0001, 'contact_width': 0.0009, 'density': 500, 'position': "
             "[0.0371, 0.0193, 0.051]}]}",
             floor_cells, floor_cells, box);
    run r = open_run(text);
    steps(&r, 400);
    const double gap = place(&r, 1)[2] - 0.05 - 0.0001;
    CHECK(fabs(velocity(&r, 1)[2]) < 1e-9);
    close_run(&r);
    return gap / 0.0009;
}

// A cube of 0.1 m whose faces are fans of four triangles around their middles.
static const char fan[] =
    "{'vertices': [[-0.05, -0.05, -0.05], [-0.05, -0.05, 0.05], [-0.05, 0.05, -0.05], [-0.05,"
    " 0.05, 0.05], [0.05, -0.05, -0.05], [0.05, -0.05, 0.05], [0.05, 0.05, -0.05], [0.05, "
    "0.05, 0.05], [-0.05, 0, 0], [0.05, 0, 0], [0, -0.05, 0], [0, 0.05, 0], [0, 0, -0.05], "
    "[0, 0, 0.05]], 'faces': [[2, 0, 8], [0, 1, 8], [1, 3, 8], [3, 2, 8], [5, 4, 9], [4, 6, "
    "9], [6, 7, 9], [7, 5, 9], [1, 0, 10], [0, 4, 10], [4, 5, 10], [5, 1, 10], [6, 2, 11], "
    "[2, 3, 11], [3, 7, 11], [7, 6, 11], [4, 0, 12], [0, 2, 12], [2, 6, 12], [6, 4, 12], [3, "
    "1, 13], [1, 5, 13], [5, 7, 13], [7, 3, 13]]}";

static void test_rest_does_not_depend_on_the_cut_of_faces(void)
{
    const double share = resting_share(9.81, 400.0);
    CHECK(share > 0.9 && share < 0.92);
    const int cells[] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(rest_on(cells[i], "{'box': {'size': [0.1, 0.1, 0.1]}}"), share, 1e-7);
        CHECK_NEAR(rest_on(cells[i], fan), share, 1e-7);
    }
}

static void test_a_slide_feels_no_diagonals(void)
{
    run r = open_run("{" LAYER
                     "'dt': 0.005, 'friction': 0.2}, 'bodies': [{'name': 'floor', 'type': 'fixed', "
                     "'mesh': {'sheet': {'width': 4, 'height': 4, 'nx': 16, 'ny': 16}}}, {'name': "
                     "'box', 'mesh': {'box': {'size': [0.1, 0.1, 0.1]}}, 'thickness': 0.0001, "
                     "'contact_width': 0.0009, 'density': 500, "
                     "'position': [-0.5, 0.013, 0.05092], 'velocity': [1, 0.1, 0]}]}");
    steps(&r, 20); // it settles on its corners
    double before = hypot(velocity(&r, 1)[0], velocity(&r, 1)[1]);
    for (int i = 0; i < 60 && step(&r); i++) {
        const double v = hypot(velocity(&r, 1)[0], velocity(&r, 1)[1]);
        CHECK_NEAR(before - v, 0.2 * 9.81 * 0.005, 1e-7);
        CHECK(fabs(velocity(&r, 1)[2]) < 1e-6);
        before = v;
    }
    close_run(&r);
}

// Friction holds below its angle and lets go above it.
static void test_friction_angle(void)
{
    for (int slips = 0; slips < 2; slips++) {
        char text[700];
        snprintf(text, sizeof text,
                 "{" LAYER "'dt': 0.01, 'friction': %g}, 'bodies': [{'name': 'plane', 'type': "
                 "'fixed', 'mesh': {'sheet': {'width': 9, 'height': 9, 'nx': 1, 'ny': 1}}, "
                 "'euler_degrees': [0, 30, 0]}, {'name': 'box', 'mesh': {'box': {'size': [0.2, "
                 "0.2, 0.1]}}, 'thickness': 0.0001, 'contact_width': 0.0009, 'euler_degrees': [0, "
                 "30, 0], 'position': "
                 "[0.025455, 0, 0.04409]}]}",
                 tan(0.5235987755982988) * (slips ? 0.9 : 1.1));
        run r = open_run(text);
        steps(&r, 100);
        const double v = sqrt(pow(velocity(&r, 1)[0], 2) + pow(velocity(&r, 1)[2], 2));
        const double slide = 9.81 * 0.5 * 0.1; // (sin - mu cos) g after 1 s
        CHECK_NEAR(v, slips ? slide : 0.0, slips ? 0.02 * slide : 2e-4);
        close_run(&r);
    }
}

static void test_collision_in_free_space_keeps_momentum(void)
{
    run r = open_run("{" LAYER "'dt': 0.005, 'gravity': [0, 0, 0]}, 'bodies': ["
                     "{'name': 'a', 'mesh': {'box': {'size': [0.3, 0.2, 0.25]}}, 'density': 500, "
                     "'euler_degrees': [20, 35, 15], 'velocity': [0.8, 0, 0]},"
                     "{'name': 'b', 'mesh': {'box': {'size': [0.25, 0.3, 0.2]}}, 'density': 800, "
                     "'position': [0.4, 0.03, 0.02], 'euler_degrees': [-30, 25, 50], 'velocity': "
                     "[-0.8, 0, 0]}]}");
    const double* m = r.bodies->mass;
    const double p = m[0] * 0.8 - m[1] * 0.8;
    int touched = 0;
    for (int i = 0; i < 100 && step(&r); i++) {
        touched |= cr_sim_report(r.sim)->impacts > 0;
        CHECK_NEAR(m[0] * velocity(&r, 0)[0] + m[1] * velocity(&r, 1)[0], p, 1e-10 * m[1]);
    }
    CHECK(touched);
    close_run(&r);
}

// ---- things thrown together

static char* heap(int boxes, double friction)
{
    char* text = malloc(600 + 300 * (size_t)boxes);
    char* at = text;
    uint64_t seed = 3;
    at += sprintf(at,
                  "{" LAYER "'dt': 0.01, 'friction': %g}, 'bodies': [{'name': 'floor', "
                  "'type': 'fixed', 'mesh': {'box': {'size': [3, 3, 0.2]}}, 'position': "
                  "[0, 0, -0.1]}",
                  friction);
    for (int i = 0; i < boxes; i++) {
        at +=
            sprintf(at,
                    ", {'name': 'b%d', 'mesh': {'box': {'size': [%g, %g, %g]}}, 'density': 500, "
                    "'position': [%g, %g, %g], 'euler_degrees': [%g, %g, %g]}",
                    i, check_random(&seed, 0.05, 0.1), check_random(&seed, 0.05, 0.1),
                    check_random(&seed, 0.05, 0.1), check_random(&seed, -0.03, 0.03),
                    check_random(&seed, -0.03, 0.03), 0.15 + 0.17 * i, check_random(&seed, -90, 90),
                    check_random(&seed, -90, 90), check_random(&seed, -90, 90));
    }
    sprintf(at, "]}");
    return text;
}

// Nothing passes through anything.
static void judge(run* r)
{
    const cr_model* model = r->model->numbers;
    cr_intersect_report report;
    cr_state_vertices(cr_sim_state(r->sim), model, r->x);
    CHECK(cr_intersect_frame(&model->surface, r->x, model->bodies.radius, 0.01,
                             CR_INTERSECT_FRAME_INSIDE, &report) == CAROM_OK);
    CHECK(report.pair_count == 0 && report.inside_count == 0);
}

static double energy_of(const run* r)
{
    const cr_energy energy = cr_state_energy(cr_sim_state(r->sim), r->model->numbers);
    return energy.kinetic + energy.potential + energy.elastic;
}

// What layers may hold and give back, a hundredth of their width being left at four contacts a
// body: k w B(0.01) <= 4 m a w each.
static double held_by_layers(const run* r)
{
    double sum = 0.0;
    for (int32_t b = 0; b < r->bodies->body_count; b++) {
        sum += 4.0 * 4.0 * r->bodies->mass[b] * r->bodies->stiffness[b] * r->bodies->width[b];
    }
    return sum;
}

static void watch(const char* text, int count, int every)
{
    run r = open_run(text);
    const double held = held_by_layers(&r);
    double before = energy_of(&r);
    for (int i = 0; i < count && step(&r); i++) {
        if (i % every == 0) {
            judge(&r);
        }
        const double now = energy_of(&r);
        CHECK(now <= before + held);
        before = now;
    }
    close_run(&r);
}

static void test_a_heap_falls_and_nothing_passes(void)
{
    char* text = heap(12, 0.5);
    watch(text, 250, 5);
    free(text);
}

static void test_bodies_thrown_hard_do_not_pass(void)
{
    watch("{" LAYER "'dt': 0.01, 'gravity': [0, 0, 0]}, 'bodies': ["
          "{'name': 'wall', 'type': 'fixed', 'mesh': {'sheet': {'width': 2, 'height': 2, 'nx': 1, "
          "'ny': 1}}},"
          "{'name': 'box', 'mesh': {'box': {'size': [0.1, 0.1, 0.1]}}, 'position': [0, 0, 0.6], "
          "'velocity': "
          "[3, 0, -200], 'euler_degrees': [20, 30, 0]},"
          "{'name': 'ball', 'sphere': {'radius': 0.05}, 'position': [0.5, 0, 0.4], 'velocity': "
          "[0, 1, -300]}]}",
          20, 1);
}

// Slabs of one breadth in a row: as they lean on each other their corners lie on the rims of faces,
// to the bit, where the closest features change.
static void test_dominoes_fall(void)
{
    char text[4000];
    int at = snprintf(text, sizeof text,
                      "{" LAYER "'dt': 0.005, 'friction': 0.5, 'thickness': 5e-5, 'contact_width': "
                      "0.00045}, 'bodies': [{'name': 'floor', 'type': 'fixed', 'mesh': {'box': "
                      "{'size': [8, 8, 0.1]}}, 'position': [0, 0, -0.05]}");
    for (int i = 0; i < 12; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       ", {'name': 'd%d', 'mesh': {'box': {'size': [0.02, 0.1, 0.2]}}, 'density': "
                       "600, 'position': [%g, 0, 0.1009]%s}",
                       i, 0.08 * i - 0.48,
                       i == 0 ? ", 'angular_velocity': [0, 2, 0], 'velocity': [0.2, 0, 0]" : "");
    }
    snprintf(text + at, sizeof text - (size_t)at, "]}");
    watch(text, 240, 10);
}

static void test_a_sheet_folds_over_a_ball_and_nothing_passes(void)
{
    run r = open_run("{" LAYER
                     "'dt': 0.0166666666666666666}, 'bodies': [{'name': 'ball', 'type': 'fixed', "
                     "'mesh': {'sphere': {'radius': 0.35, 'subdivisions': 3}}}, {'name': 'sheet', "
                     "'type': 'cloth', 'mesh': {'sheet': {'width': 1.6, 'height': 1.6, 'nx': 13, "
                     "'ny': 13}}, 'position': [0.02, 0.01, 0.45]}]}");
    for (int i = 0; i < 80 && step(&r); i++) {
        judge(&r);
    }
    close_run(&r);
}

// A box two hundred times as dense falls on two light ones, which leave the way they were expected
// on in one sub-step and are still to be seen by the candidates of the next one. Digits matter.
static void test_heavy_on_light_nothing_passes(void)
{
    run r =
        open_run("{" LAYER "'dt': 0.005, 'thickness': 5e-05, 'contact_width': 0.00045}, 'bodies': ["
                 "{'name': 'floor', 'type': 'fixed', 'position': [0, 0, -0.05], "
                 "'mesh': {'box': {'x': 1.85, 'y': 1.85, 'z': 0.1}}}, "
                 "{'name': 'low', 'density': 57.43261476725481, "
                 "'position': [0.0008254850236910638, 0.2007009365134035, 0.13], 'mesh': {'box': {"
                 "'x': 0.07224945131377582, 'y': 0.07981434307915532, 'z': 0.06924505729863303}}, "
                 "'euler_degrees': [207.23436509935988, 104.51862086499288, 68.1808782795682]}, "
                 "{'name': 'middle', 'density': 23.61145965075925, "
                 "'position': [-0.0024051536762634963, 0.1988684424104928, 0.33], 'mesh': {'box': {"
                 "'x': 0.08657991531126803, 'y': 0.09191632825967082, 'z': 0.09592410309976658}}, "
                 "'euler_degrees': [60.99285819508837, 242.15060288629894, 347.95760509554594]}, "
                 "{'name': 'heavy', 'density': 13630.618560318584, "
                 "'position': [-0.003981139482245169, 0.20258185128425132, 0.53], 'mesh': {'box': {"
                 "'x': 0.07641729884298964, 'y': 0.05488921709003297, 'z': 0.05594519473923729}}, "
                 "'euler_degrees': [233.7355529626153, 314.5153766041232, 100.79378759767413]}]}");
    carom_error error = {0};
    for (int i = 0; i < 60; i++) {
        const carom_status status = cr_sim_step(r.sim, &error); // with less friction, maybe
        CHECK(status == CAROM_OK);
        judge(&r);
    }
    close_run(&r);
}

static void test_two_runs_are_the_same_to_the_bit(void)
{
    char* text = heap(8, 0.5);
    run r = open_run(text);
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        cr_sim_reset(r.sim);
        steps(&r, 80);
        hash[k] = cr_state_hash(cr_sim_state(r.sim));
    }
    CHECK(hash[0] == hash[1]);
    close_run(&r);
    free(text);
}

int main(void)
{
    RUN(test_rest_does_not_depend_on_the_cut_of_faces);
    RUN(test_a_slide_feels_no_diagonals);
    RUN(test_friction_angle);
    RUN(test_collision_in_free_space_keeps_momentum);
    RUN(test_a_heap_falls_and_nothing_passes);
    RUN(test_bodies_thrown_hard_do_not_pass);
    RUN(test_dominoes_fall);
    RUN(test_a_sheet_folds_over_a_ball_and_nothing_passes);
    RUN(test_heavy_on_light_nothing_passes);
    RUN(test_two_runs_are_the_same_to_the_bit);
    return check_failures != 0;
}
