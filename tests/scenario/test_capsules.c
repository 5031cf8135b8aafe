// Capsules that lie along something: parallel edges touch along a stretch, and the ends of it
// carry.
#include "scenario/scene_kit.h"

static const double g = 9.81;

#define ALONG "'rotation': [0, 1.5707963267948966, 0]" // the axis along x

// s, until what sticks has crept to its place: a contact of the load N that has given way by d is a
// spring of N/d, its friction below the speed v a damper of mu N/v, and the way to rest decays in
// mu d/v, about a second for a tenth of a layer of half a centimetre at 1e-4 m/s.
static const double creeps = 6.0;

// Runs a scene until it rests, watches it for a while, and weighs what carries "it".
static void watch(const char* name, const char* bodies, double mass, double settled, double until)
{
    const double rates[] = {24, 60, 200};
    for (int i = 0; i < 3; i++) {
        kit* k = kit_open("{'carom': 1, 'world': {'dt': %.17g, 'friction': 0.5}, 'bodies': [%s]}",
                          1 / rates[i], bodies);
        k->judge_every = 2;
        kit_run(k, creeps + settled);
        const carom_body_state start = kit_body(k, "it");
        kit_run(k, creeps + until);
        const carom_body_state end = kit_body(k, "it");
        const cr_vec3 push = kit_impulse(k, "it", NULL);
        CHECK(!k->failed);
        CHECK_NEAR(kit_apart(&start, &end), 0, 1e-6);
        CHECK_NEAR(kit_tilt(&start, &end), 0, 1e-6);
        CHECK_NEAR(push.z * rates[i], mass * g, 1e-6 * mass * g);
        printf("  %s, h 1/%g: drift %.2g m, load off by %.2g, at %.5g m, at most %d parts\n", name,
               rates[i], kit_apart(&start, &end), push.z * rates[i] / (mass * g) - 1,
               end.position[2], k->most_parts);
        kit_close(k);
    }
}

static void test_in_the_trough_of_two_others(void)
{
    watch("trough",
          "{'name': 'a', 'type': 'fixed', 'capsule': {'radius': 0.1, 'length': 0.5}, " ALONG
          ", 'position': [-0.1, 0, 0]}, {'name': 'b', 'type': 'fixed', 'capsule': {'radius': 0.1, "
          "'length': 0.5}, " ALONG ", 'position': [-0.1, 0.21, 0]}, {'name': 'it', 'capsule': "
          "{'radius': 0.1, 'length': 0.5}, 'mass': 1.5, " ALONG
          ", 'position': [0.05, 0.105, 0.25]}",
          1.5, 1.0, 3.0);
    // shorter than what it lies on, and not quite along it
    watch("trough, askew",
          "{'name': 'a', 'type': 'fixed', 'capsule': {'radius': 0.1, 'length': 0.8}, " ALONG
          ", 'position': [0, 0, 0]}, {'name': 'b', 'type': 'fixed', 'capsule': {'radius': 0.1, "
          "'length': 0.8}, " ALONG ", 'position': [0, 0.21, 0]}, {'name': 'it', 'capsule': "
          "{'radius': 0.08, 'length': 0.3}, 'mass': 1.5, 'rotation': [0, 1.55, 0.03], "
          "'position': [0.05, 0.105, 0.25]}",
          1.5, 1.5, 3.5);
}

// One on another, kept from rolling off by a lock.
static void test_one_on_another(void)
{
    watch("on top",
          "{'name': 'a', 'type': 'fixed', 'capsule': {'radius': 0.1, 'length': 0.5}, " ALONG
          "}, {'name': 'it', 'capsule': {'radius': 0.1, 'length': 0.5}, 'mass': 2, " ALONG
          ", 'lock': ['y', 'rz'], 'position': [0.1, 0, 0.23]}",
          2, 1.0, 2.5);
}

// A long capsule along a short ridge: the ridge's corners carry it.
static void test_along_a_ridge(void)
{
    watch("ridge",
          "{'name': 'roof', 'type': 'fixed', 'mesh': {'box': {'x': 0.4, 'y': 0.3, 'z': 0.3}}, "
          "'rotation': [0.7853981633974483, 0, 0]}, {'name': 'it', 'capsule': {'radius': 0.05, "
          "'length': 1.2}, 'mass': 1, " ALONG ", 'lock': ['y', 'rz'], 'position': [0.05, 0, 0.29]}",
          1, 1.0, 2.5);
}

static void test_on_a_plane_and_a_box(void)
{
    watch(
        "plane",
        "{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 4, 'height': 4, 'nx': "
        "1, 'ny': 1}}}, {'name': 'it', 'capsule': {'radius': 0.1, 'length': 0.5}, 'mass': 1, " ALONG
        ", 'position': [0.1, 0.2, 0.13]}",
        1, 1.0, 3.0);
    // along the rim of a table, half over it
    watch("table",
          "{'name': 'table', 'type': 'fixed', 'mesh': {'box': {'x': 1, 'y': 1, 'z': 0.2}}}, "
          "{'name': 'it', 'capsule': {'radius': 0.05, 'length': 1.4}, 'mass': 1, " ALONG
          ", 'position': [0.05, 0.4, 0.17]}",
          1, 1.0, 3.0);
}

// Free ones, three in a heap between two walls.
static void test_a_heap(void)
{
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0.5}, 'bodies': [{'name': 'ground', "
        "'type': "
        "'fixed', 'mesh': {'sheet': {'width': 4, 'height': 4, 'nx': 1, 'ny': 1}}}, {'name': "
        "'left', "
        "'type': 'fixed', 'mesh': {'box': {'x': 2, 'y': 0.1, 'z': 0.4}}, 'position': [0, -0.16, "
        "0.2005]}, {'name': 'right', 'type': 'fixed', 'mesh': {'box': {'x': 2, 'y': 0.1, 'z': "
        "0.4}}, "
        "'position': [0, 0.37, 0.2005]}, {'name': 'a', 'capsule': {'radius': 0.1, 'length': 0.5}, "
        "'mass': 1, " ALONG ", 'position': [0, 0, 0.11]}, {'name': 'b', 'capsule': {'radius': 0.1, "
        "'length': 0.4}, 'mass': 1, " ALONG ", 'position': [0.1, 0.21, 0.12]}, {'name': 'it', "
        "'capsule': {'radius': 0.1, 'length': 0.3}, 'mass': 1, " ALONG
        ", 'position': [0.05, 0.1, 0.35]}]}");
    k->judge_every = 2;
    kit_run(k, 2.0);
    const carom_body_state start = kit_body(k, "it");
    kit_run(k, 4.0);
    const carom_body_state end = kit_body(k, "it");
    CHECK(!k->failed);
    CHECK_NEAR(kit_apart(&start, &end), 0, 2 * 1e-3); // sticking creeps by friction_speed at most
    CHECK_NEAR(kit_impulse(k, "it", NULL).z * 100, g, 1e-5 * g);
    printf("  heap: drift %.2g m, load off by %.2g, at most %d parts\n", kit_apart(&start, &end),
           kit_impulse(k, "it", NULL).z * 100 / g - 1, k->most_parts);
    kit_close(k);
}

int main(void)
{
    RUN(test_in_the_trough_of_two_others);
    RUN(test_one_on_another);
    RUN(test_along_a_ridge);
    RUN(test_on_a_plane_and_a_box);
    RUN(test_a_heap);
    return check_failures != 0;
}
