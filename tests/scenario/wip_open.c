// Scenarios that do not hold yet. Not built; a test moves to its own file when it passes.
#include "scenario/scene_kit.h"

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

// Step 22 fails at h = 1/100, not even in 256 parts: Newton's iterates wander about at a size that
// shrinks with h. Without friction the same scene takes 6 iterations a step, thanks to the descent
// and the interior point that a zone with friction does not have.
static void test_folded_and_dropped_with_friction(void)
{
    const size_t room = 200000;
    char* mesh = malloc(room);
    fold_text(mesh, room, 8, 4, 0.7, 0.04);
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0.4}, 'bodies': [{'name': 'floor', 'type': "
        "'fixed', 'mesh': {'sheet': {'width': 4, 'height': 4, 'nx': 1, 'ny': 1}}}, {'name': "
        "'sheet', 'type': 'cloth', %s, 'rest': 'uv', 'rotation': [0.1, 0.15, 0], 'position': [0, "
        "0.013, 0.25], 'stretch': 80, 'density': 0.2, 'thickness': 0.005, 'bend': 1e-4, 'damping': "
        "0.01}]}",
        mesh);
    free(mesh);
    k->judge_every = 1;
    kit_run(k, 0.8);
    CHECK(!k->failed);
    kit_close(k);
}

// Aligned boxes without friction that fall by 0.8 mm into place: impacts one corner at a time leave
// up to 1e-5 m/s sideways, and nothing stops that.
static void test_a_smooth_stack_dropped_into_place(void)
{
    const double rates[] = {24, 60, 200, 1000};
    for (int i = 0; i < 4; i++) {
        char bodies[4000] = "";
        for (int b = 0; b < 5; b++) {
            char* one = kit_text(", {'name': 'b%d', 'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': "
                                 "0.2}}, 'mass': 1, 'position': [0, 0, %.17g]}",
                                 b, 0.101 + 0.201 * b);
            strcat(bodies, one);
            free(one);
        }
        kit* k = kit_open("{'carom': 1, 'world': {'dt': %.17g, 'friction': 0}, 'bodies': [{'name': "
                          "'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 8, 'height': 8, "
                          "'nx': 1, 'ny': 1}}}%s]}",
                          1 / rates[i], bodies);
        k->judge_every = 100;
        kit_run(k, 1.0);
        const carom_body_state before = kit_body(k, "b0"), top = kit_body(k, "b4");
        kit_run(k, 4.0);
        const carom_body_state after = kit_body(k, "b0"), top_after = kit_body(k, "b4");
        CHECK(!k->failed);
        CHECK_NEAR(kit_apart(&before, &after), 0, 1e-6);
        CHECK_NEAR(kit_apart(&top, &top_after), 0, 1e-6);
        kit_close(k);
    }
}

// At 0.635 s one step gains 5e-4 J: a stack of three tips back on its foot, whose impact at two
// corners and the zone after it leave body bodies[1][2] faster than it came.
static void test_a_rough_heap_gains_nothing(void)
{
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.005, 'friction': 1.5}, 'bodies': [{'name': 'floor', "
        "'type': 'fixed', 'mesh': {'sheet': {'width': 6, 'height': 6, 'nx': 1, 'ny': 1}}, "
        "'position': [0.31, 0.17, 0]}, {'mesh': {'box': {'x': 0.3, 'y': 0.1, 'z': 0.1}}, "
        "'position': [0, 0, 0.2], 'rotation': [0.2, 0.1, 0], 'copies': {'count': [2, 2, 3], "
        "'spacing': [0.34, 0.2, 0.25], 'jitter': [0.01, 0.01, 0.01]}}]}");
    kit_run(k, 0.7);
    CHECK(!k->failed);
    kit_close(k);
}

int main(void)
{
    RUN(test_a_rough_heap_gains_nothing);
    RUN(test_folded_and_dropped_with_friction);
    RUN(test_a_smooth_stack_dropped_into_place);
    return check_failures != 0;
}
