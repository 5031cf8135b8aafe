// Forward mode: <J u, w> = <u, J^T w> through runs of every kind, for every input that the way back
// knows, one kind of input at a time; many directions at once have the bits of each alone.
#include "carom/carom.h"
#include "check.h"
#include "core/memory.h"
#include "grad_scenes.h"
#include <stdlib.h>
#include <string.h>

// Of the lengths of the vectors in either product. What is left is the round-off of systems whose
// condition is that of stiff contacts.
static const double alike = 1e-10;

// Of the lengths of direction and loss: a derivative below it is one that cancels, as that by a
// restitution which is lowered until no energy is gained.
static const double nothing = 1e-14;

typedef struct scene {
    const char* name;
    int32_t steps;
    const char* text; // ' stands for "
    int32_t impacts;  // nonzero: there have to be some on the way
} scene;

// Every number of a rigid body, and of cloth, that can be asked for.
#define RIGID(who)                                                                                 \
    "{'of': '" who "', 'what': 'position'}, {'of': '" who "', 'what': 'rotation'},"                \
    "{'of': '" who "', 'what': 'velocity'}, {'of': '" who "', 'what': 'angular_velocity'},"        \
    "{'of': '" who "', 'what': 'mass'}, {'of': '" who "', 'what': 'inertia'},"                     \
    "{'of': '" who "', 'what': 'center_of_mass'}, {'of': '" who "', 'what': 'friction'},"          \
    "{'of': '" who "', 'what': 'restitution'}, {'of': '" who "', 'what': 'thickness'},"            \
    "{'of': '" who "', 'what': 'force'}, {'of': '" who "', 'what': 'torque'}"
#define CLOTH(who)                                                                                 \
    "{'of': '" who "', 'what': 'position'}, {'of': '" who "', 'what': 'velocity'},"                \
    "{'of': '" who "', 'what': 'density'}, {'of': '" who "', 'what': 'stretch'},"                  \
    "{'of': '" who "', 'what': 'poisson'}, {'of': '" who "', 'what': 'bend'},"                     \
    "{'of': '" who "', 'what': 'damping'}, {'of': '" who "', 'what': 'bend_damping'},"             \
    "{'of': '" who "', 'what': 'drag_normal'}, {'of': '" who "', 'what': 'drag_tangent'},"         \
    "{'of': '" who "', 'what': 'friction'}, {'of': '" who "', 'what': 'thickness'},"               \
    "{'of': '" who "', 'what': 'vertices'}, {'of': '" who "', 'what': 'rest'},"                    \
    "{'of': '" who "', 'what': 'force'}"
#define WORLD "{'what': 'gravity'}"
#define GROUND                                                                                     \
    "{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 4, 'height': 4, 'nx': 1, "    \
    "'ny': 1}}}"
#define OF_GROUND                                                                                  \
    "{'of': 'ground', 'what': 'vertices'}, {'of': 'ground', 'what': 'position'},"                  \
    "{'of': 'ground', 'what': 'friction'}, {'of': 'ground', 'what': 'thickness'}"

// A ball of faces on another.
#define FACES(LOCK)                                                                                \
    "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'compliance': 1e-3}, 'bodies': ["  \
    "{'name': 'ground', 'type': 'fixed', 'thickness': 0.02,"                                       \
    " 'mesh': {'sphere': {'radius': 0.2, 'subdivisions': 2}}},"                                    \
    "{'name': 'high', 'thickness': 0.016,"                                                         \
    " 'mesh': {'sphere': {'radius': 0.1, 'subdivisions': 1}}, 'density': 300,"                     \
    " 'position': [0.03, 0.02, 0.331], 'euler_degrees': [10, 20, 30],"                             \
    " 'velocity': [0.3, 0.1, -0.3], 'friction': 0.4" LOCK "}],"                                    \
    "'parameters': [" RIGID("high") ", " OF_GROUND ", " WORLD "]}"

// A box turns over its edge on a sheet that lies on a ground and is held by some nodes.
#define TIPS(LAW, GROUND, NODES)                                                                   \
    "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.8" LAW "}, "         \
    "'bodies': [" GROUND ", {'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6,"   \
    " 'height': 0.6, 'nx': 3, 'ny': 3}}, 'position': [0, 0, 0.011], 'density': 2,"                 \
    " 'stretch': 200, 'bend': 1e-2, 'damping': 0.01, 'thickness': 0.01,"                           \
    " 'pins': [{'nodes': " NODES "}]},"                                                            \
    " {'name': 'box', 'mesh': {'box': {'size': [0.2, 0.17, 0.2]}}, 'thickness': 0.01,"             \
    " 'mass': 0.2, 'position': [0.01, 0.02, 0.173], 'euler_degrees': [3, 38, 5],"                  \
    " 'angular_velocity': [0, 1.5, 0], 'velocity': [0.2, 0, 0]}],"                                 \
    "'parameters': [" RIGID("box") ", " CLOTH("sheet") ", {'of': 'sheet', 'what': 'pins'}, " WORLD \
                                                       "]}"

static const scene scenes[] = {
    {"free flight", 8,
     "{'carom': 1, 'world': {'dt': 0.02}, 'bodies': ["
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.1]}}, 'position': [0.1, 0.2, 3],"
     " 'angular_velocity': [3, -2, 5], 'velocity': [1, 0, 2], 'euler_degrees': [10, 20, 30],"
     " 'torque': [0.01, 0.02, -0.01]}],"
     "'parameters': [" RIGID("box") ", " WORLD "]}",
     0},
    {"crowd that goes in legs", 2,
     "{'carom': 1, 'world': {'dt': 0.04, 'friction_speed': 0.1}, 'bodies': [" GRAD_SCENES_CROWD "],"
     "'parameters': [" RIGID("b0") ", " RIGID("b4") ", " WORLD "]}",
     1},
    // the sheet's corners are held beside the table; braked in the last ten steps
    {"box tips over on a sheet", 24,
     TIPS("",
          "{'name': 'ground', 'type': 'fixed', 'position': [0, 0, -0.1], 'mesh': {'box': {'size':"
          " [0.5, 0.5, 0.2]}}}",
          "'corners'"),
     0},
    // a pin at 9.9 mm where the ground is 10 mm thick: only hard contacts give way to that
    {"box on a sheet whose corner is driven into the ground", 12,
     TIPS(", 'contact': 'hard'", GROUND, "[0]"), 0},
    {"box on a sheet whose corner is driven into the ground's layer", 11,
     TIPS(", 'contact': 'barrier'", GROUND, "[0]"), 0},
    {"sheet braked on a sheet", 15,
     GRAD_SCENES_SHEET_ON_SHEET ", 'parameters': [" CLOTH("high") ", " CLOTH("low") ", " WORLD "]}",
     0},
    {"sheet braked with a box", 10,
     GRAD_SCENES_SHEET_ON_BOX ", 'parameters': [" CLOTH("high") ", " RIGID("box") ", " WORLD "]}",
     0},
    {"disc that spins, in parts", 6,
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'compliance': 1e-3}, 'bodies': "
     "[" GROUND ", " GRAD_SCENES_WHIRL
     "], 'parameters': [" RIGID("low") ", " RIGID("disc") ", " OF_GROUND ", " WORLD "]}",
     0},
    {"damping", 8,
     "{'carom': 1, 'world': {'dt': 0.02}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.1]}}, 'position': [0.1, 0.2, 0.09],"
     " 'angular_velocity': [1, -2, 1], 'velocity': [1, 0, -0.5], 'euler_degrees': [4, 6, 30],"
     " 'linear_damping': 0.7, 'angular_damping': 1.3}],"
     "'parameters': [" RIGID("box") ", " OF_GROUND "]}",
     0},
    {"tumbling box", 24,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.15]}}, 'position': [0, 0, 0.22],"
     " 'angular_velocity': [2, 6, 1], 'velocity': [1.5, 0.2, -0.5], 'euler_degrees': [20, 30, 10],"
     " 'friction': 0.4}],"
     "'parameters': [" RIGID("box") ", " OF_GROUND ", " WORLD "]}",
     0},
    {"bounces", 30,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.15]}}, 'position': [0, 0, 0.4],"
     " 'angular_velocity': [2, 3, 1], 'velocity': [0.6, 0.2, -2], 'euler_degrees': [20, 30, 10],"
     " 'friction': 0.4, 'restitution': 0.6},"
     "{'name': 'ball', 'sphere': {'radius': 0.1}, 'position': [0.25, 0.12, 0.8],"
     " 'velocity': [-0.3, 0, -1.5], 'restitution': 0.8}],"
     "'parameters': [" RIGID("box") ", " RIGID("ball") ", " OF_GROUND ", " WORLD "]}",
     1},
    {"bounces, damped", 30,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.15]}}, 'position': [0, 0, 0.4],"
     " 'angular_velocity': [2, 3, 1], 'velocity': [0.6, 0.2, -2], 'euler_degrees': [20, 30, 10],"
     " 'friction': 0.4, 'restitution': 0.6, 'linear_damping': 3},"
     "{'name': 'ball', 'sphere': {'radius': 0.1}, 'position': [0.25, 0.12, 0.8],"
     " 'velocity': [-0.3, 0, -4.5], 'restitution': 0.8, 'linear_damping': 5}],"
     "'parameters': [" RIGID("box") ", " RIGID("ball") ", " OF_GROUND ", " WORLD "]}",
     1},
    {"hit while lying", 14,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.4, 0.2]}}, 'position': [0, 0, 0.102],"
     " 'friction': 0.4, 'restitution': 0.3},"
     "{'name': 'ball', 'sphere': {'radius': 0.1}, 'position': [0.05, 0.03, 0.42],"
     " 'velocity': [0.2, 0, -3], 'restitution': 0.5}],"
     "'parameters': [" RIGID("box") ", " RIGID("ball") ", " OF_GROUND ", " WORLD "]}",
     1},
    {"stack", 12,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'a', 'mesh': {'box': {'size': [0.4, 0.35, 0.2]}}, 'position': [0, 0, 0.102]},"
     "{'name': 'b', 'mesh': {'box': {'size': [0.3, 0.32, 0.2]}}, 'position': [0.01, 0, 0.306],"
     " 'euler_degrees': [0, 0, 12], 'velocity': [0.1, 0, 0]},"
     "{'name': 'c', 'mesh': {'box': {'size': [0.2, 0.25, 0.2]}}, 'position': [0.02, 0.03, 0.51],"
     " 'euler_degrees': [0, 0, 31], 'friction': 0.2}],"
     "'parameters': [" RIGID("a") ", " RIGID("c") ", " OF_GROUND ", " WORLD "]}",
     0},
    {"faces on faces", 8, FACES(""), 1},
    {"faces on faces, held", 8, FACES(", 'lock': ['y', 'rx', 'rz']"), 1},
    {"faces on a sheet", 4,
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'compliance': 1e-3}, 'bodies': "
     "[" GRAD_SCENES_FACES_ON_SHEET "],"
     "'parameters': [" RIGID("high") ", " CLOTH("sheet") ", {'of': 'sheet', 'what': 'pins'}, " WORLD
                                                         "]}",
     0},
    {"edges that are nearly parallel", 4,
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'compliance': 1e-3}, 'bodies': ["
     "{'name': 'ground', 'type': 'fixed', 'thickness': 0.02,"
     " 'mesh': {'box': {'size': [0.2, 0.2, 0.2]}}},"
     "{'name': 'high', 'thickness': 0.03, 'mesh': {'box': {'size': [0.2, 0.2, 0.2]}},"
     " 'density': 300, 'position': [0.0001, 0.0002, 0.2502], 'euler_degrees': [0.001, 0.002, 0.17],"
     " 'velocity': [0.001, 0.002, -0.03], 'angular_velocity': [0, 0, 0.01], 'friction': 0.4}],"
     "'parameters': [" RIGID("high") ", " OF_GROUND ", " WORLD "]}",
     0},
    {"an end beside edges that cross", 4,
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'compliance': 1e-3}, 'bodies': "
     "[" GRAD_SCENES_RIM("ground", "0.1997") "], 'parameters': [" RIGID("high") ", " OF_GROUND
                                                                                ", " WORLD "]}",
     0},
    {"an end beside edges that do not", 4,
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'compliance': 2e-2}, 'bodies': "
     "[" GRAD_SCENES_RIM("ground", "0.20045") "], 'parameters': [" RIGID("high") ", " OF_GROUND
                                                                                 ", " WORLD "]}",
     0},
    {"ball on cloth", 8,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01, 'wind': [0.5, 0.2, 0.1]},"
     "'bodies': ["
     "{'name': 'ball', 'sphere': {'radius': 0.1}, 'position': [0.03, 0.02, 0.615],"
     " 'velocity': [0.3, 0, -1]},"
     "{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6, 'height': 0.6, 'nx': 4,"
     " 'ny': 4}}, 'position': [0, 0, 0.5], 'stretch': 200, 'bend': 1e-3, 'damping': 0.01,"
     " 'bend_damping': 0.02, 'drag_normal': 0.4, 'drag_tangent': 0.1, 'thickness': 0.001,"
     " 'pins': [{'nodes': 'corners'}]}],"
     "'parameters': [" RIGID("ball") ", " CLOTH("sheet") ", {'of': 'sheet', 'what': 'pins'},"
                                                         " {'what': 'wind'}, " WORLD "]}",
     0},
    {"ball on a large sheet in short steps", 12,
     GRAD_SCENES_LARGE ", 'parameters': [" RIGID("ball") ", " CLOTH("sheet") ", " WORLD "]}", 0},
    {"large sheet alone in short steps", 6,
     "{'carom': 1, 'world': {'dt': 0.0005, 'contact': 'barrier'}, 'bodies': [{'name': 'sheet',"
     " 'type': 'cloth', 'mesh':"
     " {'sheet': {'width': 1, 'height': 1, 'nx': 26, 'ny': 26}}, 'density': 0.374, 'stretch': 1000,"
     " 'poisson': 0.45, 'rest_scale': 0.9, 'damping': 0.001, 'pins': [{'nodes': 'corners'}]}],"
     "'parameters': [" CLOTH("sheet") ", " WORLD "]}",
     0},
    {"cloth on cloth", 8,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': ["
     "{'name': 'low', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6, 'height': 0.6, 'nx': 3,"
     " 'ny': 3}}, 'position': [0, 0, 0.5], 'stretch': 200, 'bend': 1e-3, 'damping': 0.01,"
     " 'thickness': 0.002, 'pins': [{'nodes': 'corners'}]},"
     "{'name': 'high', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.4, 'height': 0.45, 'nx': 2,"
     " 'ny': 2}}, 'position': [0.02, 0.01, 0.51], 'stretch': 150, 'bend': 1e-3,"
     " 'velocity': [0.2, 0.1, -1.2], 'thickness': 0.002}],"
     "'parameters': [" CLOTH("low") ", " CLOTH("high") ", {'of': 'low', 'what': 'pins'}]}",
     0},
    {"pusher", 12,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.1]}}, 'position': [0.3, 0.01, 0.055]},"
     "{'name': 'hand', 'type': 'kinematic', 'mesh': {'box': {'size': [0.1, 0.1, 0.08]}},"
     " 'position': [0.07, 0, 0.07], 'euler_degrees': [7, -6, 12], 'script': {'keys': [{'time': 0},"
     " {'time': 0.1, 'shift': [0.1, 0.02, 0], 'turn': [0, 0, 0.2]},"
     " {'time': 0.3, 'shift': [0.3, 0, 0], 'turn': [0, 0.1, 0.3]}]}},"
     "{'name': 'arm', 'type': 'kinematic', 'mesh': {'box': {'size': [0.1, 0.1, 0.08]}},"
     " 'position': [0.64, 0.32, 0.07], 'euler_degrees': [3, -6, 5]}],"
     "'parameters': [" RIGID(
         "box") ", " OF_GROUND ", {'of': 'hand', 'what': 'script'},"
                " {'of': 'hand', 'what': 'vertices'}, {'of': 'hand', 'what': 'position'},"
                " {'of': 'hand', 'what': 'rotation'}, {'of': 'arm', 'what': 'friction'}]}",
     0},
    {"locked axes", 16,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.15]}}, 'position': [0, 0, 0.25],"
     " 'angular_velocity': [0, 3, 0], 'velocity': [0.6, 0, -1], 'euler_degrees': [8, 30, 10],"
     " 'friction': 0.4, 'restitution': 0.5, 'lock': ['y', 'rx', 'rz']},"
     "{'name': 'two', 'mesh': {'box': {'size': [0.25, 0.2, 0.15]}}, 'position': [0.8, 0.6, 0.2],"
     " 'angular_velocity': [1, 2, 0], 'velocity': [0, 0, -1.3], 'euler_degrees': [12, 25, 0],"
     " 'lock': ['rz'], 'angular_damping': 0.5},"
     "{'name': 'none', 'mesh': {'box': {'size': [0.25, 0.2, 0.15]}}, 'position': [-0.8, 0.6, 0.08],"
     " 'velocity': [0.5, 0, 0], 'lock': ['rx', 'ry', 'rz']}],"
     "'parameters': [" RIGID("box") ", " RIGID("two") ", " RIGID("none") ", " OF_GROUND "]}",
     1},
    {"hit while lying, locked", 14,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.4, 0.2]}}, 'position': [0, 0, 0.102],"
     " 'friction': 0.4, 'restitution': 0.3, 'lock': ['rx', 'rz']},"
     "{'name': 'ball', 'sphere': {'radius': 0.1}, 'position': [0.05, 0.03, 0.42],"
     " 'velocity': [0.2, 0, -3], 'restitution': 0.5}],"
     "'parameters': [" RIGID("box") ", " RIGID("ball") ", " OF_GROUND ", " WORLD "]}",
     1},
    {"linearised sheets", 10,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01, 'contact': 'barrier',"
     " 'elasticity': 'linearized'}, 'bodies': ["
     "{'name': 'ball', 'sphere': {'radius': 0.1}, 'position': [0.03, 0.02, 0.615],"
     " 'velocity': [0.3, 0, -1]},"
     "{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6, 'height': 0.6, 'nx': 4,"
     " 'ny': 4}}, 'position': [0, 0, 0.5], 'stretch': 200, 'bend': 1e-3, 'damping': 0.01,"
     " 'drag_normal': 0.4, 'thickness': 0.001, 'pins': [{'nodes': [0, 4]}, {'nodes': [20],"
     " 'script': {'keys': [{'time': 0}, {'time': 0.2, 'shift': [0.05, 0, -0.1]}]}}]}],"
     "'parameters': [" RIGID("ball") ", " CLOTH("sheet") ", {'of': 'sheet', 'what': 'pins'},"
                                                         " {'of': 'sheet', 'what': 'script'}]}",
     0},
    {"pins that move", 8,
     "{'carom': 1, 'world': {'dt': 0.0125}, 'bodies': ["
     "{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6, 'height': 0.6, 'nx': 3,"
     " 'ny': 3}}, 'position': [0, 0, 0.5], 'c11': 150, 'c22': 120, 'c12': 30, 'c33': 50,"
     " 'pins': [{'nodes': [0, 3]}, {'nodes': [12], 'script': {'keys': [{'time': 0},"
     " {'time': 0.2, 'shift': [0.05, 0, 0.1]}]}}]}],"
     "'parameters': [{'of': 'sheet', 'what': 'script'}, {'of': 'sheet', 'what': 'pins'},"
     " {'of': 'sheet', 'what': 'c11'}, {'of': 'sheet', 'what': 'c22'},"
     " {'of': 'sheet', 'what': 'c12'}, {'of': 'sheet', 'what': 'c33'}]}",
     0},
    {"solid by its vertices", 12,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.12]}}, 'position': [0, 0, 0.16],"
     " 'angular_velocity': [2, 3, 1], 'velocity': [0.6, 0.2, -1], 'euler_degrees': [20, 30, 10],"
     " 'friction': 0.4}],"
     "'parameters': [{'of': 'box', 'what': 'vertices'}, {'of': 'box', 'what': "
     "'angular_velocity'}]}",
     0},
    {"spin too fast for its mean", 5,
     "{'carom': 1, 'world': {'dt': 0.02}, 'bodies': ["
     "{'name': 'box', 'mesh': {'box': {'size': [0.6, 0.2, 0.1]}}, 'position': [0, 0, 3],"
     " 'angular_velocity': [90, 200, 150], 'euler_degrees': [10, 20, 30],"
     " 'force': [300, 200, 100], 'torque': [100, 200, -100]}],"
     "'parameters': [" RIGID("box") "]}",
     0},
    {"mesh beside its mass", 14,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.12]}}, 'position': [0, 0, 0.16],"
     " 'mass': 3, 'inertia': [0.02, 0.03, 0.04], 'velocity': [0.6, 0.2, -1],"
     " 'euler_degrees': [20, 30, 10]},"
     "{'name': 'wall', 'type': 'kinematic', 'mesh': {'box': {'size': [0.1, 0.5, 0.5]}},"
     " 'position': [0.25, 0, 0.3], 'euler_degrees': [3, -6, 5]}],"
     "'pairs': [{'between': ['box', 'wall'], 'friction': 0.3, 'restitution': 0.2,"
     " 'thickness': 0.01}],"
     "'parameters': [{'of': 'box', 'what': 'vertices'}, {'of': 'box', 'what': 'velocity'},"
     " {'of': 'wall', 'what': 'position'}, {'of': 'wall', 'what': 'thickness'},"
     " {'of': 'wall', 'what': 'friction'}, {'of': 'ground', 'what': 'restitution'}]}",
     0},
    {"a stack that is hit", 10,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01}, 'bodies': [" GROUND ","
     "{'name': 'low', 'mesh': {'box': {'size': [0.6, 0.5, 0.2]}}, 'position': [0, 0, 0.102],"
     " 'density': 4000},"
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.3, 0.2]}}, 'position': [0, 0, 0.304],"
     " 'restitution': 0.3},"
     "{'name': 'ball', 'sphere': {'radius': 0.1}, 'position': [0.05, 0.03, 0.62],"
     " 'velocity': [0.2, 0, -3], 'restitution': 0.5}],"
     "'parameters': [" RIGID("low") ", " RIGID("box") ", " RIGID("ball") "]}",
     1},
    {"without curvature", 10,
     "{'carom': 1, 'world': {'dt': 0.0125, 'friction_speed': 0.01, 'curvature': 'off'},"
     "'bodies': [" GROUND ","
     "{'name': 'box', 'mesh': {'box': {'size': [0.3, 0.2, 0.15]}}, 'position': [0, 0, 0.2],"
     " 'angular_velocity': [2, 4, 1], 'velocity': [1, 0.2, -1], 'euler_degrees': [20, 30, 10],"
     " 'friction': 0.4}],"
     "'parameters': [" RIGID("box") "]}",
     0},
};

enum { SCENES = sizeof scenes / sizeof *scenes };

static double chance(uint64_t* seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static carom_model* model_of(const char* text)
{
    char plain[8192];
    carom_error error = {0};
    carom_scene* parsed = NULL;
    carom_model* model = NULL;
    const size_t length = strlen(text);
    CHECK(length < sizeof plain);
    for (size_t i = 0; i <= length; i++) {
        plain[i] = text[i] == '\'' ? '"' : text[i];
    }
    if (carom_scene_parse(plain, length, NULL, &parsed, &error) != CAROM_OK ||
        carom_model_create(parsed, &model, &error) != CAROM_OK) {
        printf("%s\n", error.message);
    }
    carom_scene_destroy(parsed);
    CHECK(model != NULL);
    return model;
}

// A run that was taken, and room for one direction and one loss.
typedef struct run {
    carom_rollout* rollout;
    carom_layout layout;
    int32_t steps, chosen;
    int32_t* slot;
    double* theta;
    double *u_state, *u_control, *u_theta; // direction
    double *state, *states;                // J u
    double *w, *more;                      // the loss, by every state
    double *bar, *control_bar, *theta_bar; // J^T w
} run;

static double* room(size_t count)
{
    return calloc(count > 0 ? count : 1, sizeof(double));
}

// Every control that the scene lets be chosen.
static int32_t choose_all(carom_rollout* r, int32_t count, int32_t* out)
{
    int32_t chosen = 0;
    for (int32_t i = 0; i < count; i++) {
        out[chosen] = i;
        chosen += carom_rollout_choose(r, chosen + 1, out, NULL) == CAROM_OK;
    }
    CHECK(carom_rollout_choose(r, chosen, out, NULL) == CAROM_OK);
    return chosen;
}

static run run_of(const carom_model* model, const scene* s, int driven)
{
    run r = {.steps = s->steps};
    carom_error error = {0};
    uint64_t seed = 5;
    CHECK(carom_rollout_create(model, 1, &r.rollout, &error) == CAROM_OK);
    if (!r.rollout) {
        printf("%s: %s\n", s->name, error.message);
        exit(1);
    }
    r.layout = carom_rollout_layout(r.rollout);
    int32_t* all = calloc((size_t)r.layout.control_size, sizeof(int32_t));
    r.chosen = driven ? choose_all(r.rollout, r.layout.control_size, all) : 0;
    free(all);
    const size_t t = (size_t)s->steps, n = (size_t)r.layout.state_size, c = (size_t)r.chosen;
    const size_t p = (size_t)r.layout.theta_size;
    r.slot = calloc(t, sizeof(int32_t));
    r.theta = room(p);
    r.u_state = room(n), r.u_control = room(t * c), r.u_theta = room(p);
    r.state = room(n), r.states = room(t * n);
    r.w = room(n), r.more = room(t * n);
    r.bar = room(n), r.control_bar = room(t * c), r.theta_bar = room(p);
    carom_rollout_scene(r.rollout, r.theta);
    double* control = room(t * c);
    for (size_t i = 0; i < t * c; i++) {
        control[i] = 0.1 * chance(&seed);
    }
    int32_t done = 0;
    carom_status status = CAROM_OK;
    int32_t impacts = 0;
    for (int32_t i = 0; i < s->steps && status == CAROM_OK; i++) {
        status = carom_rollout_run(r.rollout, 1, control + (size_t)i * c, NULL, r.slot + i, &done,
                                   &error);
        impacts += carom_sim_info(carom_rollout_sim(r.rollout)).events;
    }
    CHECK(impacts > 0 || s->impacts == 0);
    if (status != CAROM_OK) {
        printf("%s: %s\n", s->name, error.message);
    }
    CHECK(status == CAROM_OK);
    free(control);
    return r;
}

static void end_run(run* r)
{
    double* const all[] = {r->theta, r->u_state,     r->u_control, r->u_theta,
                           r->state, r->states,      r->w,         r->more,
                           r->bar,   r->control_bar, r->theta_bar};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
    free(r->slot);
    carom_rollout_destroy(r->rollout);
}

static double dot(const double* a, const double* b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// The way back of the loss w, more; from the start of the scene.
static void go_back(run* r)
{
    carom_error error = {0};
    memcpy(r->bar, r->w, (size_t)r->layout.state_size * sizeof(double));
    memset(r->theta_bar, 0, (size_t)r->layout.theta_size * sizeof(double));
    CHECK(carom_rollout_back(r->rollout, r->steps, r->slot, r->more, r->bar, r->control_bar,
                             r->theta_bar, &error) == CAROM_OK);
    CHECK(carom_rollout_start_back(r->rollout, r->bar, r->theta_bar, &error) == CAROM_OK);
}

// <J u, w> against <u, J^T w> for a direction in one kind of input.
static void compare(run* r, const scene* s, const char* what, double* worst)
{
    const size_t t = (size_t)r->steps, n = (size_t)r->layout.state_size, c = (size_t)r->chosen;
    const size_t p = (size_t)r->layout.theta_size;
    carom_error error = {0};
    memcpy(r->state, r->u_state, n * sizeof(double));
    CHECK(carom_rollout_start_jvp(r->rollout, 1, r->u_theta, r->state, &error) == CAROM_OK);
    double forward = dot(r->more, r->state, n), long_j = dot(r->state, r->state, n);
    CHECK(carom_rollout_jvp(r->rollout, r->steps, r->slot, 1, r->state, r->u_control, r->u_theta,
                            r->states, &error) == CAROM_OK);
    if (error.status != CAROM_OK) {
        printf("%s: %s\n", s->name, error.message);
    }
    CHECK(memcmp(r->state, r->states + (t - 1) * n, n * sizeof(double)) == 0);
    forward += dot(r->w, r->state, n) + dot(r->more + n, r->states, (t - 1) * n);
    const double back = dot(r->u_state, r->bar, n) + dot(r->u_control, r->control_bar, t * c) +
                        dot(r->u_theta, r->theta_bar, p);
    long_j += dot(r->states, r->states, t * n);
    const double long_w = dot(r->w, r->w, n) + dot(r->more, r->more, t * n);
    const double long_u = dot(r->u_state, r->u_state, n) + dot(r->u_control, r->u_control, t * c) +
                          dot(r->u_theta, r->u_theta, p);
    const double scale = sqrt(long_j * long_w) + nothing / alike * sqrt(long_u * long_w);
    const double off = fabs(forward - back) / scale;
    *worst = off > *worst ? off : *worst;
    if (!(off <= alike)) {
        printf("%s, %s: <Ju,w> = %.15g, <u,J'w> = %.15g, off by %.2e of the lengths\n", s->name,
               what, forward, back, off);
    }
    CHECK(off <= alike);
    memset(r->u_state, 0, n * sizeof(double));
    memset(r->u_control, 0, t * c * sizeof(double));
    memset(r->u_theta, 0, p * sizeof(double));
}

static void check_run(const carom_model* model, const scene* s, int driven, int tries,
                      double* worst)
{
    run r = run_of(model, s, driven);
    const size_t t = (size_t)r.steps, n = (size_t)r.layout.state_size, c = (size_t)r.chosen;
    uint64_t seed = 11;
    for (int try = 0; try < tries; try++) {
        for (size_t i = 0; i < n; i++) {
            r.w[i] = chance(&seed);
        }
        for (size_t i = 0; i < t * n; i++) { // the last state alone, or every one
            r.more[i] = try == 1 ? chance(&seed) : 0.0;
        }
        go_back(&r);
        for (size_t i = 0; i < n; i++) {
            r.u_state[i] = chance(&seed);
        }
        compare(&r, s, "state", worst);
        for (size_t i = 0; i < t * c; i++) {
            r.u_control[i] = chance(&seed);
        }
        if (c > 0) {
            compare(&r, s, "controls", worst);
        }
        for (int32_t k = 0; k < r.layout.parameter_count; k++) {
            carom_parameter_info info;
            char what[128];
            CHECK(carom_rollout_parameter(r.rollout, k, &info) == CAROM_OK);
            snprintf(what, sizeof what, "%s of %s", info.name, info.body_name);
            for (int32_t i = 0; i < info.count; i++) {
                const double at = r.theta[info.first + i];
                r.u_theta[info.first + i] = chance(&seed) * (at != 0.0 ? fabs(at) : 1.0);
            }
            compare(&r, s, what, worst);
        }
    }
    end_run(&r);
}

// With all that can be driven driven, and with all of it as the scene has it.
static void check_scene(const scene* s, int tries, double* worst)
{
    carom_model* model = model_of(s->text);
    check_run(model, s, 1, tries, worst);
    check_run(model, s, 0, tries, worst);
    carom_model_destroy(model);
}

static void test_forward_is_the_transpose_of_backward(void)
{
    for (int i = 0; i < SCENES; i++) {
        double worst = 0.0;
        check_scene(&scenes[i], 3, &worst);
        printf("    %-26s %.1e\n", scenes[i].name, worst);
    }
}

// Bodies thrown at each other at random, with and without a ground: restitution and friction
// together, several impacts in a step, impacts whose restitution is lowered, boxes that turn over
// each other.
static void random_scene(uint64_t* seed, int index, char* out, size_t size)
{
    static const double restitutions[] = {0.0, 0.5, 1.0}, frictions[] = {0.0, 0.3, 0.6};
    const int ground = index % 2;
    int at = snprintf(out, size,
                      "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'restitution': "
                      "%g, 'friction': %g, 'gravity': [0, 0, %g]}, 'bodies': [%s",
                      restitutions[index % 3], frictions[index / 3 % 3], ground ? -9.81 : 0.0,
                      ground ? GROUND "," : "");
    for (int i = 0; i < 3; i++) {
        double r[11];
        for (int k = 0; k < 11; k++) {
            r[k] = chance(seed);
        }
        char shape[96] = "'sphere': {'radius': 0.09}";
        if (r[10] > -0.5) {
            snprintf(shape, sizeof shape, "'mesh': {'box': {'size': [0.2, 0.15, 0.1]}}");
        }
        at += snprintf(out + at, size - (size_t)at,
                       "%s{'name': '%c', %s, 'mass': %.3f, 'position': [%.3f, %.3f, %.3f],"
                       "'velocity': [%.3f, %.3f, %.3f], 'angular_velocity': [%.3f, %.3f, %.3f],"
                       "'rotation': [%.3f, %.3f, %.3f]}",
                       i > 0 ? "," : "", "abc"[i], shape, 1.5 + r[0], 0.3 * i - 0.3 + 0.02 * r[1],
                       0.02 * r[2], 0.22 + 0.04 * r[3], 2.0 * (1 - i) + 0.5 * r[4], 0.5 * r[5],
                       0.5 * r[6] - ground, 5 * r[7], 5 * r[8], 5 * r[9], 2 * r[7], 2 * r[5],
                       2 * r[2]);
    }
    snprintf(out + at, size - (size_t)at, "], 'parameters': [%s, %s, {'what': 'gravity'}]}",
             RIGID("a"), RIGID("b"));
}

static void test_random_collisions(void)
{
    uint64_t seed = 77;
    double worst = 0.0;
    for (int i = 0; i < 36; i++) {
        char text[8192], name[32];
        random_scene(&seed, i, text, sizeof text);
        snprintf(name, sizeof name, "random %d", i);
        const scene s = {name, 14, text, 0};
        check_scene(&s, 2, &worst);
    }
    printf("    %.1e\n", worst);
}

// More bodies upon each other than an impact looks at: the lowest are kept still.
static void test_tower_that_is_hit(void)
{
    enum { BRICKS = 27 };
    char text[8192];
    double worst = 0.0;
    int at = snprintf(text, sizeof text,
                      "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01}, 'bodies': ["
                      "%s, {'name': 'ball', 'sphere': {'radius': 0.1}, 'mass': 5,"
                      "'position': [0.02, 0.01, %.3f], 'velocity': [0, 0, -3]}",
                      GROUND, 0.052 * BRICKS + 0.125);
    for (int i = 0; i < BRICKS; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       ",{'name': 'b%d', 'mesh': {'box': {'size': [0.3, 0.3, 0.05]}},"
                       "'position': [0, 0, %.3f]}",
                       i, 0.027 + 0.052 * i);
    }
    snprintf(text + at, sizeof text - (size_t)at, "], 'parameters': [%s, %s]}", RIGID("ball"),
             RIGID("b1"));
    const scene s = {"tower", 4, text, 1};
    check_scene(&s, 2, &worst);
    printf("    %.1e\n", worst);
}

// Directions of all kinds at once, some of them 0, some of which begin late.
enum { MANY = 7 };

typedef struct directions {
    double *state, *control, *theta, *states;
} directions;

static directions many_of(const run* r, uint64_t seed)
{
    const size_t t = (size_t)r->steps, n = (size_t)r->layout.state_size, c = (size_t)r->chosen;
    const size_t p = (size_t)r->layout.theta_size;
    directions d = {room(MANY * n), room(MANY * t * c), room(MANY * p), room(MANY * t * n)};
    for (size_t i = 0; i < MANY; i++) {
        for (size_t k = 0; k < n; k++) {
            d.state[i * n + k] = i < 2 ? chance(&seed) : 0.0;
        }
        for (size_t k = i == 2 ? 0 : (t - 2) * c; k < t * c; k++) {
            d.control[i * t * c + k] = i == 2 || i == 3 ? chance(&seed) : 0.0;
        }
        for (size_t k = 0; k < p; k++) {
            d.theta[i * p + k] = i == 1 || i == 4 ? chance(&seed) : 0.0;
        }
    }
    return d; // 5 and 6 stay 0
}

static void end_directions(directions* d)
{
    free(d->state);
    free(d->control);
    free(d->theta);
    free(d->states);
}

static const scene* scene_of(const char* name)
{
    for (int i = 0; i < SCENES; i++) {
        if (strcmp(scenes[i].name, name) == 0) {
            return &scenes[i];
        }
    }
    CHECK(!"a scene of that name");
    return scenes;
}

static void test_many_directions_have_the_bits_of_each(void)
{
    const char* const names[] = {"hit while lying", "ball on cloth", "locked axes"};
    for (int k = 0; k < 3; k++) {
        const scene* s = scene_of(names[k]);
        carom_model* model = model_of(s->text);
        run r = run_of(model, s, 1);
        const size_t t = (size_t)r.steps, n = (size_t)r.layout.state_size, c = (size_t)r.chosen;
        const size_t p = (size_t)r.layout.theta_size;
        directions all = many_of(&r, 3), one = many_of(&r, 3);
        CHECK(carom_rollout_jvp(r.rollout, r.steps, r.slot, MANY, all.state, all.control, all.theta,
                                all.states, NULL) == CAROM_OK);
        for (size_t i = 0; i < MANY; i++) {
            CHECK(carom_rollout_jvp(r.rollout, r.steps, r.slot, 1, one.state + i * n,
                                    one.control + i * t * c, one.theta + i * p,
                                    one.states + i * t * n, NULL) == CAROM_OK);
        }
        CHECK(memcmp(all.state, one.state, MANY * n * sizeof(double)) == 0);
        CHECK(memcmp(all.states, one.states, MANY * t * n * sizeof(double)) == 0);
        CHECK(dot(all.state, all.state, n) > 0.0 &&
              dot(all.state + 4 * n, all.state + 4 * n, n) > 0.0);
        CHECK(dot(all.state + 3 * n, all.state + 3 * n, n) > 0.0);
        CHECK(dot(all.state + 5 * n, all.state + 5 * n, 2 * n) == 0.0);
        end_directions(&all);
        end_directions(&one);
        end_run(&r);
        carom_model_destroy(model);
    }
}

// Columns of the Jacobian of a run are its derivatives along the axes; of one step and of all.
static void test_jacobian_is_all_directions(void)
{
    const scene* s = scene_of("hit while lying");
    carom_model* model = model_of(s->text);
    run r = run_of(model, s, 1);
    const size_t n = (size_t)r.layout.state_size, p = (size_t)r.layout.theta_size;
    for (int32_t steps = 1; steps <= r.steps; steps += r.steps - 1) {
        const size_t c = (size_t)(steps * r.chosen);
        double *state = room(n * n), *control = room(n * c), *theta = room(n * p);
        double *alone = room(n * p), *sum = room(n), *u = room(n), *uc = room(c), *ut = room(p);
        uint64_t seed = 21;
        CHECK(carom_rollout_jacobian(r.rollout, steps, r.slot, state, control, theta, NULL) ==
              CAROM_OK);
        CHECK(carom_rollout_jacobian(r.rollout, steps, r.slot, NULL, NULL, alone, NULL) ==
              CAROM_OK);
        CHECK(memcmp(theta, alone, n * p * sizeof(double)) == 0);
        for (size_t i = 0; i < n + c + p; i++) {
            *(i < n ? &u[i] : i < n + c ? &uc[i - n] : &ut[i - n - c]) = chance(&seed);
        }
        for (size_t i = 0; i < n; i++) {
            sum[i] =
                dot(state + i * n, u, n) + dot(control + i * c, uc, c) + dot(theta + i * p, ut, p);
        }
        CHECK(carom_rollout_jvp(r.rollout, steps, r.slot, 1, u, uc, ut, NULL, NULL) == CAROM_OK);
        double off = 0.0;
        for (size_t i = 0; i < n; i++) {
            off += (u[i] - sum[i]) * (u[i] - sum[i]);
        }
        CHECK(sqrt(off) <= alike * sqrt(dot(u, u, n)));
        double* const rooms[] = {state, control, theta, alone, sum, u, uc, ut};
        for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
            free(rooms[i]);
        }
    }
    end_run(&r);
    carom_model_destroy(model);
}

static void test_batch_has_the_bits_of_its_items(void)
{
    enum { COUNT = 3, DIRECTIONS = 2, STEPS = 6 };
    const scene* s = scene_of("tumbling box");
    carom_model* model = model_of(s->text);
    const int32_t chosen[3] = {3, 4, 5};
    double* out[2];
    for (int w = 0; w < 2; w++) {
        carom_batch* batch = NULL;
        int32_t slot[COUNT * STEPS], done[COUNT];
        double controls[COUNT * STEPS * 3], dcontrols[COUNT * DIRECTIONS * STEPS * 3];
        uint64_t seed = 2;
        CHECK(carom_batch_create(model, COUNT, w == 0 ? 1 : 3, &batch, NULL) == CAROM_OK);
        CHECK(carom_batch_choose(batch, 3, chosen, NULL) == CAROM_OK);
        const carom_layout layout = carom_rollout_layout(carom_batch_item(batch, 0));
        const size_t n = (size_t)layout.state_size, p = (size_t)layout.theta_size;
        double* dtheta = room(COUNT * DIRECTIONS * p);
        out[w] = room(COUNT * DIRECTIONS * n);
        for (size_t i = 0; i < COUNT * STEPS * 3; i++) {
            controls[i] = chance(&seed);
        }
        for (size_t i = 0; i < COUNT * DIRECTIONS * STEPS * 3; i++) {
            dcontrols[i] = chance(&seed);
        }
        for (size_t i = 0; i < COUNT * DIRECTIONS * p; i++) {
            dtheta[i] = chance(&seed);
        }
        CHECK(carom_batch_run(batch, STEPS, controls, NULL, slot, done, NULL) == CAROM_OK);
        CHECK(carom_batch_start_jvp(batch, DIRECTIONS, dtheta, out[w], NULL) == CAROM_OK);
        CHECK(carom_batch_jvp(batch, STEPS, slot, DIRECTIONS, out[w], dcontrols, dtheta, NULL,
                              NULL) == CAROM_OK);
        double* alone = room(DIRECTIONS * n);
        carom_rollout* item = carom_batch_item(batch, 1);
        CHECK(carom_rollout_start_jvp(item, DIRECTIONS, dtheta + DIRECTIONS * p, alone, NULL) ==
              CAROM_OK);
        CHECK(carom_rollout_jvp(item, STEPS, slot + STEPS, DIRECTIONS, alone,
                                dcontrols + (size_t)DIRECTIONS * STEPS * 3, dtheta + DIRECTIONS * p,
                                NULL, NULL) == CAROM_OK);
        CHECK(memcmp(alone, out[w] + DIRECTIONS * n, DIRECTIONS * n * sizeof(double)) == 0);
        CHECK(w == 0 || memcmp(out[0], out[1], COUNT * DIRECTIONS * n * sizeof(double)) == 0);
        free(alone);
        free(dtheta);
        carom_batch_destroy(batch);
    }
    free(out[0]);
    free(out[1]);
    carom_model_destroy(model);
}

// Warm, nothing is taken; and whichever allocation fails, it is said, and nothing is lost.
static void test_memory(void)
{
    const char* const names[] = {"hit while lying", "linearised sheets"};
    for (int k = 0; k < 2; k++) {
        const scene* s = scene_of(names[k]);
        carom_model* model = model_of(s->text);
        const int64_t blocks = cr_memory_blocks();
        int refused = 1;
        for (int64_t at = 1; refused && at < 2000; at += 1 + at / 20) {
            run r = run_of(model, s, 1);
            const size_t n = (size_t)r.layout.state_size;
            directions d[2] = {many_of(&r, 9), many_of(&r, 9)};
            carom_error error = {0};
            cr_memory_fail_once(at);
            const carom_status status =
                carom_rollout_jvp(r.rollout, r.steps, r.slot, MANY, d[0].state, d[0].control,
                                  d[0].theta, d[0].states, &error);
            cr_memory_fail_once(0);
            refused = status != CAROM_OK;
            CHECK(!refused || (status == CAROM_ERR_MEMORY && error.message[0] != 0));
            CHECK(refused || at > 20);
            for (int again = 0; again < 2; again++) { // the second time nothing is taken
                const int64_t calls = cr_memory_calls();
                end_directions(&d[again]);
                d[again] = many_of(&r, 9);
                CHECK(carom_rollout_jvp(r.rollout, r.steps, r.slot, MANY, d[again].state,
                                        d[again].control, d[again].theta, d[again].states,
                                        NULL) == CAROM_OK);
                CHECK(again == 0 || cr_memory_calls() == calls);
            }
            CHECK(memcmp(d[0].state, d[1].state, MANY * n * sizeof(double)) == 0);
            end_directions(&d[0]);
            end_directions(&d[1]);
            end_run(&r);
            CHECK(cr_memory_blocks() == blocks);
        }
        CHECK(!refused);
        carom_model_destroy(model);
    }
}

static void test_misuse(void)
{
    const scene* s = scene_of("free flight");
    carom_model* model = model_of(s->text);
    run r = run_of(model, s, 1);
    carom_error error = {0};
    CHECK(carom_rollout_jvp(NULL, 1, r.slot, 1, r.state, NULL, NULL, NULL, &error) != CAROM_OK);
    CHECK(carom_rollout_jvp(r.rollout, 1, NULL, 1, r.state, NULL, NULL, NULL, &error) != CAROM_OK);
    CHECK(carom_rollout_jvp(r.rollout, 1, r.slot, 1, NULL, NULL, NULL, NULL, &error) != CAROM_OK);
    CHECK(carom_rollout_jvp(r.rollout, 1, r.slot, -1, r.state, NULL, NULL, NULL, &error) ==
          CAROM_ERR_ARGUMENT);
    CHECK(carom_rollout_jacobian(r.rollout, 0, r.slot, NULL, NULL, NULL, &error) ==
          CAROM_ERR_ARGUMENT);
    CHECK(carom_rollout_jvp(r.rollout, 1, r.slot, 0, r.state, NULL, NULL, NULL, NULL) == CAROM_OK);
    const int32_t gone = r.slot[0];
    carom_rollout_drop(r.rollout, 1, &gone);
    CHECK(carom_rollout_jvp(r.rollout, 1, &gone, 1, r.state, NULL, NULL, NULL, &error) ==
          CAROM_ERR_MISUSE);
    CHECK(carom_rollout_jacobian(r.rollout, 1, &gone, NULL, NULL, NULL, &error) ==
          CAROM_ERR_MISUSE);
    end_run(&r);
    carom_model_destroy(model);
}

int main(void)
{
    RUN(test_forward_is_the_transpose_of_backward);
    RUN(test_random_collisions);
    RUN(test_tower_that_is_hit);
    RUN(test_many_directions_have_the_bits_of_each);
    RUN(test_jacobian_is_all_directions);
    RUN(test_batch_has_the_bits_of_its_items);
    RUN(test_memory);
    RUN(test_misuse);
    return check_failures != 0;
}
