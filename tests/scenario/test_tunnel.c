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

int main(void)
{
    RUN(test_thousand_metres_a_second_against_a_plane);
    return check_failures != 0;
}
