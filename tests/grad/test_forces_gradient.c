// Gradients through damping and locks against differences.
#include "grad_kit.h"

#define WORLD "'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4},"
#define SMOOTH "'carom': 1, 'world': {'dt': 0.01, 'friction': 0},"
#define GROUND                                                                                     \
    "{'name': 'ground', 'type': 'fixed',"                                                          \
    " 'mesh': {'sheet': {'width': 8, 'height': 6, 'nx': 1, 'ny': 1}}}"

// A slanted box that can only turn as the lock lets it, with everything pulling at it.
#define HELD(lock)                                                                                 \
    "{" SMOOTH                                                                                     \
    "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}}, 'lock': [" lock        \
    "], 'euler_degrees': [20, 30, 40], 'velocity': [1, 2, 3], 'angular_velocity': [1, -2, "        \
    "3], 'force': [1, 1, 1], 'torque': [0.1, 0.2, -0.3], 'angular_damping': 0.6}],"                \
    "'objective': {'terms': [{'what': 'position', 'of': 'box', 'point': [0.1, 0.1, 0]},"           \
    " {'what': 'rotation', 'of': 'box'}, {'what': 'angular_velocity', 'of': 'box', 'at':"          \
    " 'always'}, {'what': 'angular_momentum', 'of': 'box'}]},"                                     \
    "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'}," \
    " {'of': 'box', 'what': 'force'}, {'of': 'box', 'what': 'torques'},"                           \
    " {'of': 'box', 'what': 'rotation'}, {'of': 'box', 'what': 'inertia'}]}"

// The same kind of box on the ground, pressed and pushed.
#define PRESSED(world, lock, z)                                                                    \
    "{" world "'bodies': [" GROUND                                                                 \
    ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}}, 'lock': [" lock                 \
    "], 'euler_degrees': [20, 25, 10], 'position': [0, 0, " z "], 'velocity': [0.3, 0.1, 0],"      \
    " 'force': [3, 2, -60], 'torque': [2, 1, 0.5]}],"                                              \
    "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"            \
    " {'what': 'rotation', 'of': 'box'}, {'what': 'angular_velocity', 'of': 'box'}]},"             \
    "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'}," \
    " {'of': 'box', 'what': 'force'}, {'of': 'box', 'what': 'torque'},"                            \
    " {'of': 'box', 'what': 'rotation'}, {'of': 'box', 'what': 'inertia'},"                        \
    " {'of': 'box', 'what': 'mass'}, {'of': 'box', 'what': 'thickness'}]}"

// And one that falls and hits.
#define HITS(lock)                                                                                 \
    "{" WORLD "'bodies': [" GROUND                                                                 \
    ", {'name': 'box', 'mesh': {'box': {'size': [0.3, 0.25, 0.2]}}, 'lock': [" lock                \
    "], 'restitution': 0.5, 'euler_degrees': [30, 40, 10], 'position': [0, 0, 0.35],"              \
    " 'velocity': [0.5, 0, -1], 'angular_velocity': [1, 2, 0], 'torque': [0.5, -0.3, 0.4],"        \
    " 'linear_damping': 0.3, 'angular_damping': 0.7}],"                                            \
    "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"            \
    " {'what': 'angular_velocity', 'of': 'box', 'weight': 0.1}, {'what': 'rotation', 'of':"        \
    " 'box'}]},"                                                                                   \
    "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'}," \
    " {'of': 'box', 'what': 'rotation'}, {'of': 'box', 'what': 'mass'},"                           \
    " {'of': 'box', 'what': 'torque'}, {'of': 'box', 'what': 'force'},"                            \
    " {'of': 'box', 'what': 'inertia'}, {'of': 'box', 'what': 'friction'}, {'what': 'gravity'}]}"

static const grad_kit_scene scenes[] = {
    {"damped flight, pushed and twisted",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}},"
     " 'linear_damping': 0.5, 'angular_damping': 0.7, 'velocity': [1, 2, 3], 'force': [1, 2, 3],"
     " 'torque': [0.1, 0.2, -0.1], 'angular_velocity': [1, -2, 3]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box'}, {'what': 'angular_velocity',"
     " 'of': 'box'}, {'what': 'rotation', 'of': 'box'}, {'what': 'contact_force', 'of': 'box'}]},"
     "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'},"
     " {'of': 'box', 'what': 'mass'}, {'of': 'box', 'what': 'inertia'},"
     " {'of': 'box', 'what': 'torque'}, {'of': 'box', 'what': 'force'}, {'what': 'gravity'}]}",
     20, 0},
    {"damped cloth with a ball on it",
     "{" WORLD "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6,"
     " 'height': 0.6, 'nx': 4, 'ny': 4}}, 'density': 0.3, 'stretch': 300, 'linear_damping': 2.5,"
     " 'thickness': 0.002, 'pins': [{'nodes': 'corners'}]},"
     " {'name': 'ball', 'sphere': {'radius': 0.1}, 'mass': 0.3, 'position': [0.03, 0.05, 0.1023],"
     " 'linear_damping': 1.5}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'ball', 'target': [0.1, 0, 0]},"
     " {'what': 'velocity', 'of': 'sheet'}]},"
     "'parameters': [{'of': 'ball', 'what': 'force'}, {'of': 'ball', 'what': 'mass'},"
     " {'of': 'sheet', 'what': 'density'}, {'of': 'sheet', 'what': 'velocity'},"
     " {'of': 'sheet', 'what': 'force'}, {'what': 'gravity'}]}",
     15, 1e-4},
    {"held about x", HELD("'rx'"), 20, 0},
    {"held about y and z", HELD("'ry', 'rz', 'x'"), 20, 0},
    {"held about all axes", HELD("'rx', 'ry', 'rz'"), 20, 0},
    {"pressed on a corner, held about y", PRESSED(SMOOTH, "'ry'", "0.2218"), 8, 0},
    {"pressed on a corner, held about x and z", PRESSED(SMOOTH, "'rx', 'rz'", "0.2218"), 8, 0},
    {"rubbing on a corner, held about z", PRESSED(WORLD, "'rz', 'y'", "0.2218"), 8, 0},
    {"rubbing on a corner, held about x and y", PRESSED(WORLD, "'rx', 'ry'", "0.2218"), 8, 0},
    {"rubbing on a corner, held about all axes", PRESSED(WORLD, "'rx', 'ry', 'rz'", "0.2218"), 8,
     0},
    {"falls and hits, damped", HITS(""), 20, 1e-4},
    {"falls and hits, held about y", HITS("'ry'"), 20, 1e-4},
    {"falls and hits, held about x and z", HITS("'rx', 'rz', 'y'"), 20, 1e-4},
    {"falls and hits, held about all axes", HITS("'rx', 'ry', 'rz'"), 20, 1e-4},
    {"a capsule along two others",
     "{" WORLD
     "'bodies': [{'name': 'a', 'type': 'fixed', 'capsule': {'radius': 0.1, 'length': 0.5},"
     " 'euler_degrees': [0, 90, 0]}, {'name': 'b', 'type': 'fixed', 'capsule': {'radius': 0.1,"
     " 'length': 0.5}, 'euler_degrees': [0, 90, 0], 'position': [0, 0.21, 0]}, {'name': 'it',"
     " 'capsule': {'radius': 0.1, 'length': 0.4}, 'mass': 1.5, 'euler_degrees': [0, 90, 0],"
     " 'position': [0.12, 0.105, 0.17025], 'force': [1, 0.5, -20], 'velocity': [0.3, 0, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'it', 'target': [0.3, 0.4, 0]},"
     " {'what': 'velocity', 'of': 'it'}]},"
     "'parameters': [{'of': 'it', 'what': 'force'}, {'of': 'it', 'what': 'mass'},"
     " {'of': 'it', 'what': 'velocity'}, {'of': 'it', 'what': 'friction'}]}",
     12, 0},
    {"a held box that rests is hit by a ball",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003], 'lock': ['ry'], 'torque': [0, 0, 0.1]},"
     " {'name': 'ball', 'sphere': {'radius': 0.05}, 'mass': 0.5, 'position': [0.03, -0.24, 0.13],"
     " 'velocity': [0, 1, 0], 'lock': ['rz']}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0.1, 0]},"
     " {'what': 'angular_velocity', 'of': 'box'}, {'what': 'position', 'of': 'ball'}]},"
     "'parameters': [{'of': 'box', 'what': 'mass'}, {'of': 'ball', 'what': 'velocity'},"
     " {'of': 'box', 'what': 'torque'}, {'of': 'ball', 'what': 'mass'}]}",
     12, 1e-3},
};

int main(int argc, char** argv)
{
    return grad_kit_main(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
