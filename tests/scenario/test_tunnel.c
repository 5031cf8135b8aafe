// No tunnelling: however fast, heavy or thin, nothing ends up on the other side.
#include "scenario/scene_kit.h"

#define CUBE "'mesh': {'box': {'x': 0.1, 'y': 0.1, 'z': 0.1}}, 'mass': 1"

// Least x of the vertices of a body.
static double least_x(kit* k, const char* name)
{
    if (k->failed) {
        return -HUGE_VAL;
    }
    const int32_t body = carom_model_body_find(k->model, name);
    const cr_surface* s = &k->model->numbers->surface;
    double least = HUGE_VAL;
    carom_sim_vertices(k->sim, k->x);
    for (int32_t v = s->body_vertex[body]; v < s->body_vertex[body + 1]; v++) {
        least = fmin(least, k->x[3 * v]);
    }
    return least;
}

// Ten metres a step against a plane of no thickness: flat, on an edge, on a corner, spinning, from
// right before it and from metres away.
static void test_thousand_metres_a_second_against_a_plane(void)
{
    const char* turns[] = {"[0, 0, 0]", "[0, 0, 0.7853981633974483]", "[0.6, 0.5, 0.3]"};
    const char* spins[] = {"[0, 0, 0]", "[30, 200, -70]"};
    for (int t = 0; t < 3; t++) {
        for (int s = 0; s < 2; s++) {
            for (int i = 0; i < 4; i++) {
                const double from = 0.1 + i * 2.7;
                kit* k = kit_open(
                    "{'carom': 1, 'world': {'dt': 0.01, 'gravity': [0, 0, 0]}, 'bodies': [{'name': "
                    "'wall', 'type': 'fixed', 'mesh': {'sheet': {'width': 30, 'height': 30, 'nx': "
                    "1, 'ny': 1}}, 'rotation': [0, 1.5707963267948966, 0]}, {'name': 'it', " CUBE
                    ", 'position': [%g, 0.013, 0.021], 'rotation': %s, 'velocity': [-1000, 0, 0], "
                    "'angular_velocity': %s}]}",
                    from, turns[t], spins[s]);
                k->judge_every = 1;
                double least = HUGE_VAL;
                for (int step = 0; step < 12 && kit_step(k); step++) {
                    least = fmin(least, least_x(k, "it"));
                }
                CHECK(!k->failed);
                CHECK(least > 0);
                CHECK(kit_body(k, "it").velocity[0] > -10.0); // what spin is left may still tip it
                kit_close(k);
            }
        }
    }
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

int main(void)
{
    RUN(test_thousand_metres_a_second_against_a_plane);
    RUN(test_thousand_metres_a_second_against_a_cube);
    RUN(test_thin_and_small);
    return check_failures != 0;
}
