// Cloth: strips, chains, drapes and folds with known shapes, periods and weights.
#include "scenario/scene_kit.h"

static const double g = 9.81;

// Least z of a body's vertices; of all x or y it is the same call on a turned scene.
static double lowest(kit* k, const char* name)
{
    double low = HUGE_VAL;
    if (k->failed) {
        return low;
    }
    const int32_t body = carom_model_body_find(k->model, name);
    const cr_surface* s = &k->model->numbers->surface;
    carom_sim_vertices(k->sim, k->x);
    for (int32_t v = s->body_vertex[body]; v < s->body_vertex[body + 1]; v++) {
        low = fmin(low, k->x[3 * v + 2]);
    }
    return low;
}

// Fastest node, m/s.
static double liveliest(const kit* k)
{
    double most = 0.0;
    if (!k->failed) {
        const carom_energy e = carom_sim_energy(k->sim);
        most = sqrt(2 * e.kinetic);
    }
    return most;
}

// Steps until the kinetic energy is below so much (J), at most so many seconds.
static void settle(kit* k, double kinetic, double seconds)
{
    while (!k->failed && carom_sim_time(k->sim) < seconds && kit_step(k)) {
        if (carom_sim_steps(k->sim) > 20 && carom_sim_energy(k->sim).kinetic < kinetic) {
            return;
        }
    }
}

// A strip of 1 m hangs by its upper edge: it gets longer by rho g L^2/2E, which StVK makes
// 0.01890497 m at 0.2 kg/m^2 and 50 N/m.
static void test_hanging_strip(void)
{
    const double steps[] = {0.05, 0.01};
    for (int i = 0; i < 2; i++) {
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': %g}, 'bodies': [{'name': 'strip', 'type': 'cloth', "
            "'mesh': {'sheet': {'width': 0.1, 'height': 1, 'nx': 2, 'ny': 20}}, 'rotation': "
            "[1.5707963267948966, 0, 0], 'stretch': 50, 'poisson': 0, 'density': 0.2, 'damping': "
            "0.1, 'pins': [{'nodes': {'box': [[-1, -0.01, 0.499], [1, 0.01, 0.501]]}}]}]}",
            steps[i]);
        settle(k, 1e-20, 20.0);
        const double longer = 0.5 - lowest(k, "strip") - 1.0;
        CHECK(!k->failed);
        CHECK_NEAR(longer, 0.01890497, 0.01 * 0.01890497);
        printf("  h %g: longer by %.7g m (%.2g off)\n", steps[i], longer, longer / 0.01890497 - 1);
        kit_close(k);
    }
}

// A chain of length S between points 1 m apart sags as the catenary says. It starts straight, and
// its ends come together in half a second.
static void test_catenary(void)
{
    const double lengths[] = {1.05, 1.2, 1.5}, sags[] = {0.139304, 0.292344, 0.502633};
    for (int i = 0; i < 3; i++) {
        const double s = lengths[i], in = 0.5 * (s - 1.0);
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': 0.02}, 'bodies': [{'name': 'chain', 'type': 'cloth', "
            "'mesh': {'sheet': {'width': %.17g, 'height': 0.05, 'nx': 40, 'ny': 1}}, 'stretch': "
            "5000, 'poisson': 0, 'density': 0.2, 'bend': 0, 'damping': 0.02, 'drag_tangent': 2, "
            "'drag_normal': 2, 'pins': [{'nodes': {'box': [[%.17g, -1, -1], [10, 1, 1]]}, "
            "'script': {'keys': [{'time': 0}, {'time': 0.5, 'shift': [%.17g, 0, 0]}]}}, {'nodes': "
            "{'box': [[-10, -1, -1], [%.17g, 1, 1]]}, 'script': {'keys': [{'time': 0}, {'time': "
            "0.5, 'shift': [%.17g, 0, 0]}]}}]}]}",
            s, 0.5 * s - 1e-6, -in, -0.5 * s + 1e-6, in);
        k->driven = 1;
        k->branches = i == 2; // pressed together while straight, it buckles this way or that
        kit_run(k, 1.0);
        k->driven = 0;
        settle(k, 1e-12, 20.0);
        const double sag = -lowest(k, "chain");
        CHECK(!k->failed);
        CHECK_NEAR(sag, sags[i], 0.01 * sags[i]);
        printf("  S %g: sags %.6g m, exact %.6g\n", s, sag, sags[i]);
        kit_close(k);
    }
}

// A sheet that hangs by its edge swings like a chain: first period 2 pi/(1.2024128 sqrt(g/L)).
static void test_swinging_sheet(void)
{
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.001}, 'bodies': [{'name': 'sheet', 'type': 'cloth', "
        "'mesh': {'sheet': {'width': 0.2, 'height': 1, 'nx': 2, 'ny': 16}}, 'rotation': [%.17g, 0, "
        "0], 'stretch': 2000, 'poisson': 0, 'density': 0.2, 'bend': 0, 'damping': 0.01, 'pins': "
        "[{'nodes': {'box': [[-1, -1, %.17g], [1, 1, 1]]}}]}]}",
        1.5707963267948966 - 0.03, 0.5 * cos(0.03) - 1e-6);
    const double exact = 2 * 3.14159265358979324 / (1.2024128 * sqrt(g / 1.0));
    const double middle = k->failed ? 0.0 : 0.5 * sin(0.03); // under the pins
    double before = 0.0, first = 0.0, last = 0.0;
    int crossings = 0;
    k->judge_every = 500;
    while (!k->failed && carom_sim_time(k->sim) < 4.0 && kit_step(k)) {
        const double now = kit_body(k, "sheet").position[1] - middle;
        if (before * now < 0.0) {
            const double at = carom_sim_time(k->sim) - 0.001 * now / (now - before);
            first = crossings ? first : at;
            last = at;
            crossings++;
        }
        before = now;
    }
    CHECK(!k->failed);
    CHECK(crossings >= 4);
    const double period = 2 * (last - first) / (crossings - 1);
    CHECK_NEAR(period, exact, 0.02 * exact);
    printf("  period %.6g s, exact %.6g (%d crossings)\n", period, exact, crossings);
    kit_close(k);
}

// Draped over a fixed ball: at rest the contacts carry the sheet.
static void test_draped_over_a_ball(void)
{
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.02, 'friction': 0.6}, 'bodies': [{'name': 'ball', 'type': "
        "'fixed', 'sphere': {'radius': 0.3}}, {'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': "
        "{'width': 0.8, 'height': 0.8, 'nx': 9, 'ny': 9}}, 'position': [0, 0, 0.31], 'stretch': "
        "100, 'density': 0.2, 'thickness': 0.004, 'damping': 0.05, 'bend_damping': 0.05, "
        "'drag_normal': 2, 'drag_tangent': 1}]}");
    settle(k, 1e-12, 8.0);
    const double weight = 0.2 * 0.64 * g * 0.02;
    const cr_vec3 push = kit_impulse(k, "sheet", NULL);
    CHECK(!k->failed);
    CHECK_NEAR(push.z, weight, 1e-3 * weight);
    CHECK_NEAR(hypot(push.x, push.y), 0, 1e-3 * weight);
    printf("  contact impulse %.8g of the weight, sideways %.2g, moves at %.2g m/s, %g s\n",
           push.z / weight, hypot(push.x, push.y) / weight, liveliest(k), carom_sim_time(k->sim));
    kit_close(k);
}

// A sheet folded once, dropped on the floor: it comes down on itself and never through. Folded
// about x = 0 with a half circle of radius r between two flat halves.
static void fold_text(char* out, size_t room, int nx, int ny, double size, double r)
{
    size_t used = 0;
    used += (size_t)snprintf(out + used, room - used, "'mesh': {'vertices': [");
    for (int j = 0; j <= ny; j++) {
        for (int i = 0; i <= nx; i++) {
            const double u = size * ((double)i / nx - 0.5), bow = 1.57079632679489662 * r;
            // along the sheet: lower half to the right, arc, upper half to the right
            const double x = u < -bow ? -u - bow : u > bow ? u - bow : -r * cos(u / r);
            const double z = u < -bow ? 0.0 : u > bow ? 2 * r : r + r * sin(u / r);
            used += (size_t)snprintf(out + used, room - used, "%s[%.15g, %.15g, %.15g]",
                                     i || j ? ", " : "", x, size * ((double)j / ny - 0.5), z);
        }
    }
    used += (size_t)snprintf(out + used, room - used, "], 'faces': [");
    for (int j = 0; j < ny; j++) {
        for (int i = 0; i < nx; i++) {
            const int a = j * (nx + 1) + i, b = a + 1, c = a + nx + 1, d = c + 1;
            used += (size_t)snprintf(out + used, room - used, "%s[%d, %d, %d], [%d, %d, %d]",
                                     i || j ? ", " : "", a, b, d, a, d, c);
        }
    }
    used += (size_t)snprintf(out + used, room - used, "], 'uv': [");
    for (int j = 0; j <= ny; j++) {
        for (int i = 0; i <= nx; i++) {
            used += (size_t)snprintf(out + used, room - used, "%s[%.15g, %.15g]",
                                     i || j ? ", " : "", size * i / nx, size * j / ny);
        }
    }
    used += (size_t)snprintf(out + used, room - used, "]}");
    CHECK(used < room);
}

static void test_folded_and_dropped(void)
{
    const double frictions[] = {0.0, 0.0, 0.4, 0.4, 1.0}, rates[] = {100, 50, 100, 50, 100};
    const int sides[] = {12, 12, 12, 8, 8};
    for (int i = 0; i < 5; i++) {
        const size_t room = 200000;
        char* mesh = malloc(room);
        fold_text(mesh, room, sides[i], sides[i] / 2, 0.7, 0.04);
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': %g, 'friction': %g}, 'bodies': [{'name': 'floor', "
            "'type': 'fixed', 'mesh': {'sheet': {'width': 4, 'height': 4, 'nx': 1, 'ny': 1}}}, "
            "{'name': 'sheet', 'type': 'cloth', %s, 'rest': 'uv', 'rotation': [0.1, 0.15, 0], "
            "'position': [0, 0.013, 0.25], 'stretch': 80, 'density': 0.2, 'thickness': 0.005, "
            "'bend': 1e-4, 'damping': 0.01}]}",
            1 / rates[i], frictions[i], mesh);
        free(mesh);
        k->judge_every = 1;
        kit_run(k, 0.5);
        CHECK(!k->failed);
        CHECK(lowest(k, "sheet") > 0);
        printf("  friction %g, h 1/%g: lowest %.3g m, %lld iterations, at most %d parts\n",
               frictions[i], rates[i], lowest(k, "sheet"), (long long)k->iterations, k->most_parts);
        kit_close(k);
    }
}

// Without gravity a sheet that is held at its border is in balance from the start, taut, slack or
// pressed together, near the origin and far from it. Nothing moves it, and round-off of the balance
// is no motion.
static void test_at_rest_without_gravity(void)
{
    const double scales[] = {0.5, 0.9, 1.0, 1.01, 2.5}, far[] = {0, 100};
    for (int i = 0; i < 10; i++) {
        kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.001, 'gravity': [0, 0, 0]}, 'bodies': "
                          "[{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 1, "
                          "'height': 1, 'nx': 6, 'ny': 6}}, 'position': [%g, 0, 0], 'rest_scale': "
                          "%g, 'density': 0.374, 'stretch': 1000, 'pins': [{'nodes': 'border'}]}]}",
                          far[i / 5], scales[i % 5]);
        for (int step = 0; step < 5; step++) {
            CHECK(carom_sim_step(k->sim, NULL) == CAROM_OK);
            CHECK(carom_sim_info(k->sim).parts == 1 && carom_sim_info(k->sim).residual <= 1e-9);
        }
        CHECK_NEAR(liveliest(k), 0.0, 1e-9);
        kit_close(k);
    }
}

int main(void)
{
    RUN(test_hanging_strip);
    RUN(test_catenary);
    RUN(test_swinging_sheet);
    RUN(test_draped_over_a_ball);
    RUN(test_folded_and_dropped);
    RUN(test_at_rest_without_gravity);
    return check_failures != 0;
}
