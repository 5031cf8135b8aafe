// What is solved together: what touches, or everything. Both are the same motion.
#include "scenario/scene_kit.h"

static kit* scene(const char* zones)
{
    return kit_open(
        "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0.4, 'zones': '%s'}, 'bodies': [{'name': "
        "'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 8, 'height': 8, 'nx': 1, 'ny': "
        "1}}}, {'name': 'a', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}}, 'position': [0, 0, 0.12], "
        "'velocity': [1, 0, 0]}, {'name': 'b', 'mesh': {'box': {'size': [0.3, 0.3, 0.2]}}, "
        "'position': [0, 0, 0.33], 'velocity': [0.5, 0, 0]}, {'name': 'c', 'sphere': {'radius': "
        "0.1}, 'position': [1, 0.2, 0.3], 'velocity': [0.5, 0, 0]}, {'name': 's', 'type': 'cloth', "
        "'mesh': {'sheet': {'width': 0.6, 'height': 0.6, 'nx': 4, 'ny': 4}}, 'stretch': 200, "
        "'density': 0.3, 'damping': 0.01, 'position': [-1.5, 0, 0.5], 'pins': [{'nodes': "
        "'corners'}]}, {'name': 'd', 'sphere': {'radius': 0.1}, 'mass': 0.3, 'position': [-1.47, "
        "0.02, 0.62]}, {'name': 'e', 'sphere': {'radius': 0.1}, 'mass': 0.3, 'position': [3, 0, "
        "3]}]}",
        zones);
}

// m, between the vertices of two runs of one scene, at most.
static double apart(kit* a, kit* b)
{
    double most = 0.0;
    carom_sim_vertices(a->sim, a->x);
    carom_sim_vertices(b->sim, b->x);
    for (int32_t k = 0; k < 3 * a->vertex_count; k++) {
        most = fmax(most, fabs(a->x[k] - b->x[k]));
    }
    return most;
}

static void test_one_zone_or_many(void)
{
    kit *local = scene("local"), *global = scene("global");
    double most = 0.0;
    int32_t largest = 0;
    for (int i = 0; i < 60 && kit_step(local) && kit_step(global); i++) {
        const carom_step_info info = carom_sim_info(global->sim);
        CHECK(info.max_zone_dofs == 5 * 6 + 21 * 3); // all that moves
        CHECK(info.zones == 1);
        const int32_t dofs = carom_sim_info(local->sim).max_zone_dofs;
        largest = dofs > largest ? dofs : largest;
        most = fmax(most, apart(local, global));
    }
    CHECK(!local->failed && !global->failed);
    CHECK(largest == 6 + 21 * 3); // the sheet with its ball
    CHECK_NEAR(most, 0, 1e-8);
    printf("  %.2g m apart after 60 steps\n", most);
    kit_close(local);
    kit_close(global);
}

// Bricks in two layers, each on two, are one zone. Edge to edge their contacts take turns by
// round-off; that is no reason for more iterations, nor for shorter steps.
static void test_bricks(void)
{
    enum { LOWER = 151, UPPER = 149, STEPS = 4, ROOM = 200 };
    char* bodies = calloc(LOWER + UPPER, ROOM);
    size_t used = 0;
    for (int i = 0; i < LOWER + UPPER; i++) {
        const int high = i >= LOWER;
        const double x = 0.11 * (high ? i - LOWER + 1.5 : i);
        used += (size_t)snprintf(bodies + used, ROOM,
                                 ", {'density': 80, 'mesh': {'box': {'size': [0.1, 0.1, 0.1]}}, "
                                 "'position': [%.17g, 0, %.17g]}",
                                 x, high ? 0.1522 : 0.0511);
    }
    kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.04, 'thickness': 5e-4}, 'bodies': [{'name': "
                      "'ground', 'type': 'fixed', 'position': [8.3, 0, -0.1], 'mesh': {'box': "
                      "{'size': [19, 2, 0.2]}}}%s]}",
                      bodies);
    k->branches = 1;
    free(bodies);
    for (int i = 0; i < STEPS && kit_step(k); i++) {
        CHECK(carom_sim_info(k->sim).parts == 1);
    }
    CHECK(!k->failed);
    CHECK(k->iterations <= 15 * STEPS);
    printf("  %d bricks, %lld iterations in %d steps\n", LOWER + UPPER, (long long)k->iterations,
           STEPS);
    kit_close(k);
}

// Boxes and balls that roll and tumble beside each other: fast enough to be one zone, and most of
// them touch nothing but the floor or one other. Solved clump by clump or all together, they move
// alike.
static kit* throng(const char* zones)
{
    enum { SIDE = 4, ROOM = 300 };
    char bodies[SIDE * SIDE * ROOM];
    size_t used = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = 0.32 * (i % SIDE), y = 0.32 * (i / SIDE);
        static const char* const shape[] = {"'mesh': {'box': {'size': [0.3, 0.2, 0.2]}}",
                                            "'sphere': {'radius': 0.1}",
                                            "'mesh': {'box': {'size': [0.2, 0.28, 0.1]}}"};
        used += (size_t)snprintf(bodies + used, ROOM,
                                 ", {'density': 300, %s, 'position': [%.17g, %.17g, %.17g], "
                                 "'velocity': [%d, %d, -3], 'angular_velocity': [%d, 5, %d]}",
                                 shape[i % 3], x, y, 0.21 + 0.01 * (i % 5), i % 3 * 4 - 4,
                                 i % 4 * 3 - 4, i % 5, 3 - i % 7);
    }
    return kit_open("{'carom': 1, 'world': {'dt': 0.02, 'friction': 0.6, 'zones': '%s'}, "
                    "'bodies': [{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 9, "
                    "'height': 9, 'nx': 1, 'ny': 1}}}%s]}",
                    zones, bodies);
}

static void test_clumps(void)
{
    kit *local = throng("local"), *global = throng("global");
    double most = 0.0;
    int32_t largest = 0;
    for (int i = 0; i < 40 && kit_step(local) && kit_step(global); i++) {
        const int32_t dofs = carom_sim_info(local->sim).max_zone_dofs;
        largest = dofs > largest ? dofs : largest;
        most = fmax(most, apart(local, global));
    }
    CHECK(!local->failed && !global->failed);
    CHECK(largest > 12 * 6); // most of them
    CHECK_NEAR(most, 0, 1e-8);
    printf("  %.2g m apart after 40 steps\n", most);
    kit_close(local);
    kit_close(global);
}

int main(void)
{
    RUN(test_clumps);
    RUN(test_one_zone_or_many);
    RUN(test_bricks);
    return check_failures != 0;
}
