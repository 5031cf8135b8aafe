// Bodies on cloth: rest where statics says, whatever the step, and never pass through.
#include "bodies/cloth.h"
#include "scenario/scene_kit.h"

static const double g = 9.81;

// A sheet of 1 m x 1 m, pinned along its border, and something above its middle.
static kit* sheet_and(const char* body, const char* world, double h, int cells, double stretch,
                      double mass, double at, double damping)
{
    return kit_open(
        "{'carom': 1, 'world': {'dt': %.17g, 'friction': 0%s}, 'bodies': [{'name': 'sheet', "
        "'type': "
        "'cloth', 'mesh': {'sheet': {'width': 1, 'height': 1, 'nx': %d, 'ny': %d}}, 'stretch': %g, "
        "'density': 0.374, 'damping': %g, 'bend': 1e-4, 'pins': [{'nodes': 'border'}]}, {'name': "
        "'it', %s, 'mass': %.17g, 'position': [0, 0, %.17g]}]}",
        h, world, cells, cells, stretch, damping, body, mass, at);
}

// Force of the pins on the sheet, N, from the elastic forces on the pinned nodes at rest.
static cr_vec3 pin_force(kit* k)
{
    const cr_model* m = k->model->numbers;
    const int32_t count = m->bodies.node_count;
    double* x = calloc(3 * (size_t)count, sizeof(double));
    double* gradient = calloc(3 * (size_t)count, sizeof(double));
    carom_sim_vertices(k->sim, k->x);
    for (int32_t n = 0; n < count; n++) {
        memcpy(x + 3 * n, k->x + 3 * m->bodies.node_vertex[n], 3 * sizeof(double));
    }
    cr_cloth_gradient(&m->sheet[0], &m->material[0], NULL, x, 1.0, gradient);
    cr_vec3 sum = {0, 0, 0};
    for (int32_t n = 0; n < count; n++) {
        if (m->bodies.node_pinned[n]) {
            sum = cr_vec3_add(sum, cr_vec3_load(gradient + 3 * n));
            sum = cr_vec3_add_scaled(sum, -m->bodies.node_mass[n], cr_vec3_load(m->world.gravity));
        }
    }
    free(x);
    free(gradient);
    return sum;
}

// Starts `to` where `from` is, at rest.
static void start_from(kit* to, kit* from)
{
    cr_model* m = to->model->numbers;
    carom_sim_vertices(from->sim, from->x);
    for (int32_t n = 0; n < m->bodies.node_count; n++) {
        memcpy(m->x0 + 3 * n, from->x + 3 * m->bodies.node_vertex[n], 3 * sizeof(double));
    }
    for (int32_t f = 0; f < m->bodies.frame_count; f++) {
        carom_body_state s;
        carom_sim_body(from->sim, m->bodies.frame_body[f], &s);
        memcpy(m->t0 + 3 * f, s.position, sizeof s.position);
        memcpy(m->q0 + 4 * f, s.quaternion, sizeof s.quaternion);
    }
    CHECK(carom_sim_reset(to->sim) == CAROM_OK);
    to->energy = kit_energy_of(to, to->sim);
    to->driven = 1; // contacts that gave way by h^2 of another step push back once
    kit_step(to);
    to->driven = 0;
}

// At rest: pins carry everything, and the shape does not depend on the step. The direct static
// solve is one by steps of 1 s, in which inertia has next to no part, with contacts that give way
// by 1e-9 g h^2.
static void test_statics(void)
{
    const double masses[] = {0.05, 0.5, 5, 50}, rates[] = {24, 60, 200, 1000};
    for (int i = 0; i < 4; i++) {
        const double stretch = i < 3 ? 500 : 1000, r = i < 3 ? 0.15 : 0.25;
        const int cells = i < 3 ? 8 : 10;
        char ball[60];
        snprintf(ball, sizeof ball, "'sphere': {'radius': %g}", r);
        kit* rest = sheet_and(ball, "", 1.0 / 24, cells, stretch, masses[i], r + 0.01, 0.05);
        rest->judge_every = 20;
        while (!rest->failed && carom_sim_time(rest->sim) < 30.0 && kit_step(rest) &&
               (carom_sim_time(rest->sim) < 1.0 ||
                carom_sim_energy(rest->sim).kinetic > 1e-22 * masses[i])) {
        }
        CHECK(!rest->failed);
        if (rest->failed) {
            kit_close(rest);
            continue;
        }
        const double weight = g * (masses[i] + 0.374);
        const cr_vec3 pins = pin_force(rest);
        CHECK_NEAR(pins.z, weight, 1e-6 * weight);
        kit* still =
            sheet_and(ball, ", 'compliance': 1e-9", 1.0, cells, stretch, masses[i], r + 0.01, 0.0);
        start_from(still, rest);
        for (int n = 0; n < 20; n++) {
            kit_step(still);
        }
        CHECK(!still->failed);
        const double direct = kit_differ(rest, still);
        CHECK_NEAR(direct, 0, 1e-6);
        double worst = 0.0;
        for (int j = 1; j < 4; j++) {
            kit* k = sheet_and(ball, "", 1 / rates[j], cells, stretch, masses[i], r + 0.01, 0.05);
            start_from(k, rest);
            k->judge_every = 50;
            for (int n = 0; n < (j < 3 ? 20 : 40) && kit_step(k); n++) {
                worst = fmax(worst, kit_differ(rest, k));
            }
            CHECK(!k->failed);
            kit_close(k);
        }
        CHECK_NEAR(worst, 0, 1e-6);
        printf("  %g kg: pins off by %.2g of the weight, shape by %.2g m over h, %.2g m against "
               "statics, sag %.4g m, %g s\n",
               masses[i], pins.z / weight - 1, worst, direct, r - kit_body(rest, "it").position[2],
               carom_sim_time(rest->sim));
        kit_close(still);
        kit_close(rest);
    }
}

// Faces of the sheet that are above the middle of the body: none, unless it went through.
static int faces_above(kit* k)
{
    const cr_surface* s = &k->model->numbers->surface;
    const carom_body_state b = kit_body(k, "it");
    int above = 0;
    carom_sim_vertices(k->sim, k->x);
    for (int32_t f = s->body_face[0]; f < s->body_face[1]; f++) {
        cr_vec3 c[3];
        for (int i = 0; i < 3; i++) {
            c[i] =
                cr_vec3_sub(cr_vec3_load(k->x + 3 * s->face[3 * f + i]), cr_vec3_load(b.position));
        }
        double w[3], sum = 0.0, z = 0.0;
        for (int i = 0; i < 3; i++) {
            const cr_vec3 p = c[(i + 1) % 3], q = c[(i + 2) % 3];
            w[i] = p.x * q.y - p.y * q.x;
            sum += w[i];
            z += w[i] * c[i].z;
        }
        const int inside =
            (w[0] >= 0 && w[1] >= 0 && w[2] >= 0) || (w[0] <= 0 && w[1] <= 0 && w[2] <= 0);
        above += inside && sum != 0.0 && z / sum > 0.0;
    }
    return above;
}

static void test_never_through(void)
{
    const struct {
        int cells;
        double mass, drop, rate, seconds;
        int box;
    } runs[] = {{2, 0.05, 0.3, 24, 1.0, 0},  {2, 5, 5.0, 24, 1.5, 0},   {2, 50, 1.0, 60, 1.0, 1},
                {4, 0.5, 5.0, 24, 1.5, 1},   {4, 50, 5.0, 24, 1.5, 0},  {8, 0.05, 5.0, 60, 1.4, 0},
                {8, 5, 0.3, 24, 1.0, 1},     {8, 50, 5.0, 24, 1.5, 1},  {8, 50, 5.0, 60, 1.3, 0},
                {8, 5, 2.0, 200, 0.8, 0},    {16, 50, 0.3, 24, 0.4, 0}, {16, 5, 0.1, 60, 0.3, 1},
                {32, 5, 0.01, 24, 0.125, 0}, {32, 50, 0.01, 60, 0.1, 1}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const double r = 0.2;
        kit* k = sheet_and(runs[i].box ? "'mesh': {'box': {'x': 0.3, 'y': 0.24, 'z': 0.2}}, "
                                         "'rotation': [0.3, 0.4, 0.2]"
                                       : "'sphere': {'radius': 0.2}",
                           "", 1 / runs[i].rate, runs[i].cells, 1000, runs[i].mass,
                           r + 0.01 + runs[i].drop, 0.0);
        k->judge_every = runs[i].cells > 16 ? 4 : 1;
        kit_run(k, runs[i].seconds);
        CHECK(!k->failed);
        if (!k->failed) {
            CHECK(faces_above(k) == 0);
        }
        printf("  %2dx%-2d nodes, %g kg %s from %g m, h 1/%g: %s, z %.3g m, %lld iterations, at "
               "most %d parts\n",
               runs[i].cells + 1, runs[i].cells + 1, runs[i].mass, runs[i].box ? "box" : "ball",
               runs[i].drop, runs[i].rate, k->failed ? "FAILED" : "held",
               kit_body(k, "it").position[2], (long long)k->iterations, k->most_parts);
        kit_close(k);
    }
}

// Every grid with every mass, speed and step, a ball and a box: thrown at the sheet from 2 cm above
// it as fast as a fall from so high would have made it. Some of them; `test_coupling all [first]`
// throws all, from the first on.
static int everything, first_throw;

static void one_throw(int cells, double mass, double drop, double rate, int box)
{
    char body[200];
    snprintf(body, sizeof body, "%s, 'velocity': [0, 0, %.17g]",
             box ? "'mesh': {'box': {'x': 0.3, 'y': 0.24, 'z': 0.2}}, 'rotation': [0.3, 0.4, 0.2]"
                 : "'sphere': {'radius': 0.2}",
             -sqrt(2 * g * drop));
    kit* k = sheet_and(body, "", 1 / rate, cells, 1000, mass, 0.22, 0.0);
    k->judge_every = cells > 16 ? 2 : 1;
    kit_run(k, ceil(0.25 * rate) / rate);
    CHECK(!k->failed);
    if (!k->failed) {
        CHECK(faces_above(k) == 0);
    }
    if (everything || k->failed || k->most_parts > 1) {
        printf("  %2dx%-2d nodes, %g kg %s from %g m, h 1/%g: %s, z %.3g m, %lld iterations, at "
               "most %d parts\n",
               cells + 1, cells + 1, mass, box ? "box" : "ball", drop, rate,
               k->failed ? "FAILED" : "held", kit_body(k, "it").position[2],
               (long long)k->iterations, k->most_parts);
        fflush(stdout);
    }
    kit_close(k);
}

// A corner of the box pulls one node of an edge far along before the other follows: distances that
// are not measured again were taken for larger than they are, and the box cut the sheet.
static void test_corner_that_drags_an_edge(void)
{
    one_throw(8, 50, 5, 24, 1);
    one_throw(8, 50, 5, 200, 1);
}

static void test_every_throw(void)
{
    const int cells[] = {2, 4, 8, 16, 32};
    const double masses[] = {0.05, 0.5, 5, 50}, drops[] = {0.01, 0.3, 1, 5};
    const double rates[] = {24, 60, 200};
    const int every[] = {7, 7, 11, 47, 96}; // finer grids are slow
    int number = 0, done = 0;
    for (int c = 0; c < 5; c++) {
        for (int m = 0; m < 4; m++) {
            for (int d = 0; d < 4; d++) {
                for (int r = 0; r < 3; r++) {
                    for (int box = 0; box < 2; box++) {
                        if (everything ? number >= first_throw : number % every[c] == 0) {
                            one_throw(cells[c], masses[m], drops[d], rates[r], box);
                            done++;
                        }
                        number++;
                    }
                }
            }
        }
    }
    printf("  %d of %d throws\n", done, number);
}

// A coarse sheet is near to all of a fine body under it when both are thick, and stays so in the
// shortest part of a step: that is no reason for parts.
static void test_thick_sheet_over_a_fine_body(void)
{
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0.4}, 'bodies': ["
        "{'name': 'low', 'type': 'fixed', 'thickness': 0.02,"
        " 'mesh': {'sphere': {'radius': 0.2, 'subdivisions': 2}}},"
        "{'name': 'sheet', 'type': 'cloth', 'thickness': 0.016, 'mesh': {'sheet': {'width': 0.3,"
        " 'height': 0.3, 'nx': 2, 'ny': 2}}, 'density': 2, 'stretch': 300, 'bend': 1e-3,"
        " 'damping': 0.01, 'position': [0.03, 0.02, 0.24], 'velocity': [0.3, 0.1, -0.3]}]}");
    int most = 0, touched = 0;
    for (int i = 0; i < 20 && kit_step(k); i++) {
        most = carom_sim_info(k->sim).parts > most ? carom_sim_info(k->sim).parts : most;
        touched |= carom_sim_info(k->sim).contacts > 0;
    }
    CHECK(!k->failed && touched);
    CHECK(most <= 4);
    printf("  at most %d parts\n", most);
    kit_close(k);
}

// The last steps of Newton's are solved with a factor of the one before, as exactly as with one of
// their own: fewer factors than iterations, and no more left over than round-off.
static void test_factors_serve_twice(void)
{
    kit* k = sheet_and("'sphere': {'radius': 0.2}, 'velocity': [1, 0, -3], 'angular_velocity': "
                       "[0, 30, 0], 'friction': 0.5",
                       "", 1e-3, 16, 1000, 0.5, 0.22, 0.005);
    int64_t iterations = 0, factors = 0;
    double residual = 0.0;
    for (int i = 0; i < 120 && kit_step(k); i++) {
        const carom_step_info info = carom_sim_info(k->sim);
        iterations += info.iterations;
        factors += info.factorisations;
        residual = fmax(residual, info.residual);
    }
    printf("  %lld iterations, %lld factors, residual at most %.1g\n", (long long)iterations,
           (long long)factors, residual);
    CHECK(!k->failed);
    CHECK(10 * factors < 9 * iterations);
    CHECK(residual <= 1e-9); // of stiff forces, round-off
    kit_close(k);
}

int main(int argc, char** argv)
{
    everything = argc > 1 && !strcmp(argv[1], "all");
    if (everything) {
        first_throw = argc > 2 ? atoi(argv[2]) : 0;
        RUN(test_every_throw);
        return check_failures != 0;
    }
    RUN(test_corner_that_drags_an_edge);
    RUN(test_every_throw);
    RUN(test_statics);
    RUN(test_thick_sheet_over_a_fine_body);
    RUN(test_never_through);
    RUN(test_factors_serve_twice);
    return check_failures != 0;
}
