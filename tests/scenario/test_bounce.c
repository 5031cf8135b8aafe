// Impacts at the time they happen: restitution, cradles, and hits too fast for a step to follow.
#include "layer.h"
#include "scenario/scene_kit.h"

#define CUBE "'mesh': {'box': {'x': 0.1, 'y': 0.1, 'z': 0.1}}, 'mass': 1"

// Heights of the next apices of a body that bounces: apex[count], above `floor`.
static void apices(kit* k, const char* name, double floor, int count, double* apex)
{
    // between steps the body is on the parabola through them, whose velocity is v + h g/2
    const double h = k->model ? carom_model_dt(k->model) : 1.0;
    const double g = 9.81;
    double before = 0.0;
    int found = 0;
    while (!k->failed && found < count && carom_sim_time(k->sim) < 10.0 && kit_step(k)) {
        const carom_body_state s = kit_body(k, name);
        const double v = s.velocity[2] - 0.5 * h * g;
        if (before > 0.0 && v <= 0.0) {
            apex[found++] = s.position[2] + 0.5 * v * v / g - floor;
        }
        before = v;
    }
    CHECK(found == count);
}

// Dropped from about 1 m above where contact begins: the k-th apex is e^(2k) as high above it.
static void bounce(const char* shape, double e, double at)
{
    kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.005, 'restitution': %g, 'friction': 0}, "
                      "'bodies': [{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': "
                      "8, 'height': 8, 'nx': 1, 'ny': 1}}}, {'name': 'it', %s, 'mass': 1, "
                      "'position': [0.3, 0.1, %.17g]}]}",
                      e, shape, at + 1.0);
    k->ballistic = 1;
    if (!k->failed) {
        k->energy = kit_energy_of(k, k->sim);
    }
    double apex[3] = {0};
    const cr_model* m = k->model->numbers;
    const double soft = layer_begins(m, 0, 1) - cr_model_thickness(m, 0, 1);
    apices(k, "it", at + soft, 3, apex);
    CHECK(!k->failed);
    for (int i = 0; i < 3; i++) {
        const double exact = pow(e, 2 * (i + 1)) * (1.0 - soft);
        CHECK_NEAR(apex[i], exact, 1e-3 * exact);
    }
    const carom_body_state s = kit_body(k, "it");
    CHECK_NEAR(cr_vec3_norm(cr_vec3_load(s.angular_velocity)), 0, 1e-6);
    printf("  e %g: apices %.6g %.6g %.6g\n", e, apex[0], apex[1], apex[2]);
    kit_close(k);
}

static void test_a_sphere_bounces(void)
{
    bounce("'sphere': {'radius': 0.1}", 1.0, 0.1);
    bounce("'sphere': {'radius': 0.1}", 0.7, 0.1);
}

static void test_a_flat_box_bounces_without_turning(void)
{
    bounce("'mesh': {'box': {'x': 0.3, 'y': 0.2, 'z': 0.1}}, 'thickness': 1e-4", 1.0, 0.0501);
    bounce("'mesh': {'box': {'x': 0.3, 'y': 0.2, 'z': 0.1}}, 'thickness': 1e-4", 0.7, 0.0501);
}

// e = 1 for ten seconds: no energy gained (kit_step looks), none lost.
static void test_a_perfect_bounce_goes_on(void)
{
    kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.005, 'restitution': 1, 'friction': 0}, "
                      "'bodies': [{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': "
                      "8, 'height': 8, 'nx': 1, 'ny': 1}}}, {'name': 'it', 'sphere': {'radius': "
                      "0.1}, 'mass': 1, 'position': [0.3, 0.1, 1.1]}]}");
    k->ballistic = 1;
    k->energy = k->failed ? 0.0 : kit_energy_of(k, k->sim);
    const double start = k->energy;
    kit_run(k, 10.0);
    CHECK_NEAR(k->energy, start, 1e-6 * start);
    printf("  energy after 10 s off by %.2g\n", k->energy / start - 1);
    kit_close(k);
}

// A row of equal spheres at e = 1: `in` of them come in at 1 m/s, as many leave at 1 m/s on the
// other side, the rest stand.
static void cradle(int count, int in, double gap)
{
    char bodies[3000] = "";
    double x = 0.0;
    for (int i = 0; i < count; i++) {
        const int comes = i < in;
        x += i == in ? 0.2 + 0.0513 : i ? 0.2 + gap : 0.0;
        char* one = kit_text("%s{'name': 's%d', 'sphere': {'radius': 0.1}, 'mass': 1, 'position': "
                             "[%.17g, 0, 0], 'velocity': [%d, 0, 0]}",
                             i ? ", " : "", i, x, comes);
        strcat(bodies, one);
        free(one);
    }
    kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.005, 'gravity': [0, 0, 0], 'restitution': 1, "
                      "'friction': 0}, 'bodies': [%s]}",
                      bodies);
    kit_run(k, 0.3);
    CHECK(!k->failed);
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        CHECK_NEAR(kit_body(k, name).velocity[0], i >= count - in, 1e-6);
    }
    kit_close(k);
}

static void test_newtons_cradle(void)
{
    const double gaps[] = {0.0, 1e-3};
    for (int g = 0; g < 2; g++) {
        cradle(3, 1, gaps[g]);
        cradle(5, 1, gaps[g]);
        cradle(5, 2, gaps[g]);
    }
}

// Two spheres meet off centre: along the line of centres they exchange their speeds.
static void test_oblique_spheres(void)
{
    const double offset = 0.12, r = 0.1;
    kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.01, 'gravity': [0, 0, 0], 'restitution': 1, "
                      "'friction': 0}, 'bodies': [{'name': 'a', 'sphere': {'radius': %g}, 'mass': "
                      "1, 'velocity': [2, 0, 0]}, {'name': 'b', 'sphere': {'radius': %g}, 'mass': "
                      "1, 'position': [0.6137, %g, 0]}]}",
                      r, r, offset);
    kit_run(k, 0.5);
    const double ny = offset / layer_begins(k->model->numbers, 0, 1), nx = sqrt(1 - ny * ny);
    CHECK(!k->failed);
    CHECK_NEAR(kit_body(k, "b").velocity[0], 2 * nx * nx, 1e-6);
    CHECK_NEAR(kit_body(k, "b").velocity[1], 2 * nx * ny, 1e-6);
    CHECK_NEAR(kit_body(k, "a").velocity[0], 2 - 2 * nx * nx, 1e-6);
    CHECK_NEAR(kit_body(k, "a").velocity[1], -2 * nx * ny, 1e-6);
    kit_close(k);
}

// Against a free cube at rest: nothing passes, momentum is kept, energy falls.
static void test_thousand_metres_a_second_against_a_cube(void)
{
    const char* turns[] = {"[0, 0, 0]", "[0, 0, 0.7853981633974483]", "[0.6, 0.5, 0.3]"};
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < 3; i++) {
            kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.01, 'gravity': [0, 0, 0]}, 'bodies': "
                              "[{'name': 'a', " CUBE ", 'position': [-5.3, 0, 0], 'rotation': %s, "
                              "'velocity': [1000, 0, 0]}, {'name': 'b', " CUBE
                              ", 'position': [0, %g, %g]}]}",
                              turns[t], 0.013 * i, 0.021 * i);
            k->judge_every = 1;
            double p0[3] = {0}, p[3] = {0}, l[3];
            carom_sim_momentum(k->sim, p0, l);
            for (int step = 0; step < 3 && kit_step(k); step++) {
                carom_sim_momentum(k->sim, p, l);
            }
            CHECK(!k->failed);
            CHECK_NEAR(p[0], p0[0], 1e-12 * 1000);
            CHECK_NEAR(p[1], p0[1], 1e-12 * 1000);
            CHECK_NEAR(p[2], p0[2], 1e-12 * 1000);
            // b was hit
            CHECK(kit_body(k, "b").velocity[0] > 100);
            printf("  turn %d offset %d: v %.6g and %.6g, E/E0 %.3g, %d parts\n", t, i,
                   kit_body(k, "a").velocity[0], kit_body(k, "b").velocity[0], k->energy / 5e5,
                   k->most_parts);
            kit_close(k);
        }
    }
}

// Thin things: a plate of a tenth of a millimetre, a sphere the size of a pea against a sheet of
// two triangles, a needle against a needle.
static void test_thin_and_small(void)
{
    const char* bodies[] = {
        "'mesh': {'box': {'x': 0.0001, 'y': 0.2, 'z': 0.2}}, 'mass': 0.01",
        "'sphere': {'radius': 0.003}, 'mass': 0.001",
        "'capsule': {'radius': 0.0005, 'length': 0.1}, 'mass': 0.001",
    };
    const char* targets[] = {
        "'type': 'fixed', 'mesh': {'sheet': {'width': 1, 'height': 1, 'nx': 1, 'ny': 1}}, "
        "'rotation': [0, 1.5707963267948966, 0]",
        "'mesh': {'box': {'x': 0.0001, 'y': 0.3, 'z': 0.3}}, 'mass': 0.01",
        "'type': 'fixed', 'capsule': {'radius': 0.0005, 'length': 0.1}, 'rotation': "
        "[1.5707963267948966, 0, 0]",
    };
    for (int b = 0; b < 3; b++) {
        for (int t = 0; t < 3; t++) {
            kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.01, 'gravity': [0, 0, 0]}, 'bodies': "
                              "[{'name': 'target', %s}, {'name': 'it', %s, 'position': [3.1, 0, "
                              "0], 'velocity': [-300, 0, 0]}]}",
                              targets[t], bodies[b]);
            k->judge_every = 1;
            for (int step = 0; step < 4 && kit_step(k); step++) {
            }
            CHECK(!k->failed);
            CHECK(kit_body(k, "it").position[0] > kit_body(k, "target").position[0]);
            kit_close(k);
        }
    }
}

// Cubes close together come down at different times: whoever is near, each hits the ground once, by
// its own corners, and stays flat.
static void test_neighbours_hit_one_by_one(void)
{
    enum { CUBES = 12 };
    char* bodies = kit_text("{'name': 'ground', 'type': 'fixed', 'position': [0, 0, -0.1], 'mesh': "
                            "{'box': {'x': 9, 'y': 2, 'z': 0.2}}}");
    for (int i = 0; i < CUBES; i++) {
        char* more = kit_text("%s, {'name': 'cube%d', 'density': 80, 'mesh': {'box': {'x': 0.1, "
                              "'y': 0.1, 'z': 0.1}}, 'position': [%g, 0, %g]}",
                              bodies, i, 0.12 * i, 0.06 + 0.4 * ((7 * i) % CUBES) / CUBES);
        free(bodies);
        bodies = more;
    }
    kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.04, 'gravity': [0, 0, -9.81], 'thickness': "
                      "5e-4, 'friction': 0}, 'bodies': [%s]}",
                      bodies);
    free(bodies);
    int32_t events = 0;
    for (int step = 0; step < 25 && kit_step(k); step++) {
        events += carom_sim_info(k->sim).events;
    }
    CHECK(events == CUBES);
    for (int i = 0; i < CUBES; i++) {
        char name[16];
        snprintf(name, sizeof name, "cube%d", i);
        CHECK_NEAR(cr_vec3_norm(cr_vec3_load(kit_body(k, name).angular_velocity)), 0.0, 1e-9);
    }
    kit_close(k);
}

int main(void)
{
    RUN(test_a_sphere_bounces);
    RUN(test_a_flat_box_bounces_without_turning);
    RUN(test_a_perfect_bounce_goes_on);
    RUN(test_newtons_cradle);
    RUN(test_oblique_spheres);
    RUN(test_thousand_metres_a_second_against_a_cube);
    RUN(test_thin_and_small);
    RUN(test_neighbours_hit_one_by_one);
    return check_failures != 0;
}
