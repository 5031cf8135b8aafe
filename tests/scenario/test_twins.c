// A scene turned and shifted gives the turned and shifted motion; and scenes made to be nasty.
#include "scenario/scene_kit.h"

#define FLOOR                                                                                      \
    "{'name': 'floor', 'type': 'fixed', 'mesh': {'sheet': {'width': 6, 'height': 6, 'nx': 1, "     \
    "'ny': 1}}, 'position': [0.31, 0.17, 0]}"

// Runs a scene and its twin side by side. `off` m is how far they may come apart: round-off of
// coordinates of a few metres (1e-15), the solver's 1e-9 of a step's motion, and what the motion
// itself makes of it.
static void twins(const char* what, const char* text, double seconds, double off, int driven)
{
    char* quoted = kit_text("%s", text);
    kit* k = kit_open_text(quoted);
    kit_twin(k, quoted, (cr_vec3){0.7, -0.4, 1.1}, (cr_vec3){1.3, -2.1, 0.7});
    free(quoted);
    k->driven = driven;
    kit_run(k, seconds);
    CHECK(!k->failed);
    CHECK_NEAR(kit_twin_off(k), 0, off);
    printf("  %-44s apart by %.2g m after %g s\n", what, kit_twin_off(k), seconds);
    kit_close(k);
}

static void test_turned_and_shifted(void)
{
    twins("free flight",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [{'mesh': {'box': {'x': 0.4, 'y': 0.2, "
          "'z': 0.1}}, 'velocity': [1, 2, 3], 'angular_velocity': [1, 2, 3]}]}",
          1.0, 1e-12, 0);
    twins("a box at rest",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" FLOOR
          ", {'mesh': {'box': {'x': 0.4, 'y': 0.2, 'z': 0.1}}, 'position': [0, 0, 0.06]}]}",
          1.0, 1e-9, 0);
    twins("a box that tumbles",
          "{'carom': 1, 'world': {'dt': 0.005}, 'bodies': [" FLOOR
          ", {'mesh': {'box': {'x': 0.4, 'y': 0.2, 'z': 0.1}}, 'position': [0, 0, 0.4], "
          "'rotation': [0.3, 0.4, 0.1], 'velocity': [1, 0.3, 0], 'angular_velocity': [1, 2, 3]}]}",
          0.5, 1e-9, 0);
    twins("a stack with friction", // outside of each other's layers, which so hold nothing
          "{'carom': 1, 'world': {'dt': 0.01, 'contact_width': 1e-4}, 'bodies': [" FLOOR
          ", {'mesh': {'box': {'x': 0.3, 'y': 0.3, 'z': 0.2}}, 'position': [0, 0, 0.1004]}, "
          "{'mesh': {'box': {'x': 0.28, 'y': 0.26, 'z': 0.2}}, 'position': [0.03, 0.01, 0.301]}, "
          "{'mesh': {'box': {'x': 0.25, 'y': 0.2, 'z': 0.2}}, 'position': [0, 0.02, 0.502]}]}",
          0.5, 1e-9, 0);
    twins("balls and capsules that bounce",
          "{'carom': 1, 'world': {'dt': 0.005, 'restitution': 0.6}, 'bodies': [" FLOOR
          ", {'sphere': {'radius': 0.1}, 'mass': 1, 'position': [0, 0, 0.3]}, {'sphere': "
          "{'radius': 0.08}, 'mass': 0.5, 'position': [0.05, 0.02, 0.55], 'velocity': [0, 0, -1]}, "
          "{'capsule': {'radius': 0.05, 'length': 0.2}, 'mass': 0.7, 'position': [0.4, 0, 0.3], "
          "'rotation': [0.5, 0.9, 0]}]}",
          0.4, 1e-9, 1);
    twins("a kinematic pusher",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" FLOOR
          ", {'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, 'position': [0, 0, 0.101]}, "
          "{'type': 'kinematic', 'mesh': {'box': {'x': 0.1, 'y': 0.5, 'z': 0.2}}, 'position': "
          "[-0.3, 0.03, 0.12], 'script': {'velocity': [0.6, 0, 0], 'angular_velocity': [0, 0, "
          "0.3]}}]}",
          0.8, 1e-6, 1);
    twins("cloth in the wind",
          "{'carom': 1, 'world': {'dt': 0.01, 'wind': [3, 1, 0]}, 'bodies': [{'type': 'cloth', "
          "'mesh': {'sheet': {'width': 0.5, 'height': 0.5, 'nx': 6, 'ny': 6}}, 'drag_normal': 1, "
          "'drag_tangent': 0.1, 'stretch': 200, 'pins': [{'nodes': [0, 42]}]}]}",
          0.6, 1e-7, 1);
    twins("a ball on cloth",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [{'type': 'cloth', 'mesh': {'sheet': "
          "{'width': 1, 'height': 1, 'nx': 6, 'ny': 6}}, 'stretch': 500, 'pins': [{'nodes': "
          "'border'}]}, {'sphere': {'radius': 0.15}, 'mass': 0.5, 'position': [0.02, 0.03, 0.3], "
          "'friction': 0.3}]}",
          0.6, 1e-6, 0);
}

// One nasty scene: it has to run, and nothing may intersect or gain energy.
static void nasty(const char* what, const char* text, double seconds, int judge_every, int driven)
{
    char* quoted = kit_text("%s", text);
    kit* k = kit_open_text(quoted);
    free(quoted);
    k->driven = driven;
    k->judge_every = judge_every;
    kit_run(k, seconds);
    CHECK(!k->failed);
    printf("  %-44s %s, at most %d parts\n", what, k->failed ? "FAILED" : "ran", k->most_parts);
    kit_close(k);
}

static void test_nasty(void)
{
    nasty("exactly touching, exactly symmetric",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" FLOOR
          ", {'name': 'a', 'inset': true, 'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, "
          "'position': [-0.1, 0, 0.1]}, {'name': 'b', 'inset': true, 'mesh': {'box': {'x': 0.2, "
          "'y': 0.2, 'z': 0.2}}, 'position': [0.1, 0, 0.1]}, {'name': 'c', 'inset': true, 'mesh': "
          "{'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, 'position': [0, 0, 0.3]}]}",
          1.0, 5, 0);
    nasty("a million times as heavy on top",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" FLOOR
          ", {'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, 'mass': 0.001, 'position': [0, 0, "
          "0.11]}, {'mesh': {'box': {'x': 0.4, 'y': 0.4, 'z': 0.4}}, 'mass': 1000, 'position': "
          "[0.02, 0.01, 0.43]}]}",
          1.0, 5, 0);
    nasty("a million times as light on top",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" FLOOR
          ", {'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, 'mass': 1000, 'position': [0, 0, "
          "0.11]}, {'mesh': {'box': {'x': 0.1, 'y': 0.1, 'z': 0.1}}, 'mass': 0.001, 'position': "
          "[0.02, 0.01, 0.29]}]}",
          1.0, 5, 0);
    nasty("slivers",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" FLOOR
          ", {'mesh': {'cylinder': {'radius': 0.2, 'height': 0.002, 'segments': 64}}, 'position': "
          "[0, 0, 0.2], 'rotation': [0.3, 0.1, 0]}, {'mesh': {'box': {'x': 0.5, 'y': 0.001, 'z': "
          "0.001}}, 'position': [0, 0, 0.4], 'rotation': [0.1, 0.2, 0.3]}]}",
          0.6, 3, 0);
    nasty("friction of 1.5 in a heap",
          "{'carom': 1, 'world': {'dt': 0.002, 'friction': 1.5}, 'bodies': [" FLOOR
          ", {'mesh': {'box': {'x': 0.3, 'y': 0.1, 'z': 0.1}}, 'position': [0, 0, 0.2], "
          "'rotation': [0.2, 0.1, 0], 'copies': {'count': [2, 2, 3], 'spacing': [0.34, 0.2, "
          "0.25], 'jitter': [0.01, 0.01, 0.01]}}]}",
          0.7, 5, 0);
    nasty("a locked slider and a hinge",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" FLOOR
          ", {'mesh': {'box': {'x': 0.3, 'y': 0.1, 'z': 0.1}}, 'position': [0, 0, 0.2], 'lock': "
          "['x', 'y', 'rx', 'ry', 'rz']}, {'mesh': {'box': {'x': 0.6, 'y': 0.1, 'z': 0.1}}, "
          "'position': [0.3, 0.02, 0.5], 'lock': ['x', 'y', 'z', 'rx', 'rz']}, {'sphere': "
          "{'radius': 0.1}, 'mass': 2, 'position': [0.5, 0.02, 0.9]}]}",
          1.0, 5, 0);
    nasty("a pusher that squeezes a box",
          "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" FLOOR
          ", {'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, 'position': [0, 0, 0.101]}, "
          "{'type': 'kinematic', 'mesh': {'box': {'x': 0.1, 'y': 0.5, 'z': 0.2}}, 'position': "
          "[-0.4, 0.03, 0.12], 'script': {'velocity': [1, 0, 0], 'until': 0.5}}, {'type': "
          "'fixed', 'mesh': {'box': {'x': 0.1, 'y': 0.6, 'z': 0.3}}, 'position': [0.62, 0, "
          "0.16]}]}",
          0.8, 2, 1);
    nasty("cloth on cloth",
          "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0}, 'bodies': [{'type': 'cloth', 'mesh': "
          "{'sheet': {'width': 0.8, 'height': 0.8, 'nx': 6, 'ny': 6}}, 'stretch': 300, 'pins': "
          "[{'nodes': 'border'}]}, {'type': 'cloth', 'mesh': {'sheet': {'width': 0.4, 'height': "
          "0.4, 'nx': 4, 'ny': 4}}, 'stretch': 100, 'position': [0.02, 0.01, 0.1], 'rotation': "
          "[0.1, 0.05, 0.3]}]}",
          0.6, 2, 0);
    nasty("cloth pinned and carried by a script",
          "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0}, 'bodies': [{'type': 'fixed', "
          "'sphere': {'radius': 0.2}}, {'type': 'cloth', 'mesh': {'sheet': {'width': 0.6, "
          "'height': 0.6, 'nx': 6, 'ny': 6}}, 'stretch': 300, 'position': [-0.7, 0, 0.1], 'pins': "
          "[{'nodes': 'corners', 'script': {'keys': [{'time': 0}, {'time': 0.8, 'shift': [0.8, 0, "
          "0.0]}]}}]}]}",
          0.8, 2, 1);
}

int main(void)
{
    RUN(test_turned_and_shifted);
    RUN(test_nasty);
    return check_failures != 0;
}
