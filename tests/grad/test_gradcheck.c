// Gradients of small scenes against differences, for every kind of parameter and contact.
#include "grad_kit.h"
#include "grad_scenes.h"

#define WORLD "'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4},"
#define SMOOTH "'carom': 1, 'world': {'dt': 0.01, 'friction': 0},"
#define GROUND                                                                                     \
    "{'name': 'ground', 'type': 'fixed',"                                                          \
    " 'mesh': {'sheet': {'width': 8, 'height': 6, 'nx': 1, 'ny': 1}}}"

#define TUMBLE                                                                                     \
    "{" SMOOTH "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [1, 0.7, 0.5]}},"  \
    " 'euler_degrees': [20, 25, 10], 'position': [0, 0, 0.58], 'velocity': [0.3, 0, 0],"           \
    " 'angular_velocity': [0.5, 1, 0.3]}],"                                                        \
    "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"            \
    " {'what': 'rotation', 'of': 'box'}]},"                                                        \
    "'parameters': [{'of': 'box', 'what': 'velocity'},"                                            \
    " {'of': 'box', 'what': 'angular_velocity'}, {'of': 'box', 'what': 'inertia'}]}"

#define BOUNCE(e)                                                                                  \
    "{" WORLD "'bodies': [" GROUND                                                                 \
    ", {'name': 'ball', 'sphere': {'radius': 0.1}, 'restitution': " e                              \
    ", 'position': [0, 0, 0.3], 'velocity': [1, 0, -0.5]}],"                                       \
    "'objective': {'terms': [{'what': 'position', 'of': 'ball', 'target': [0.5, 0, 0]},"           \
    " {'what': 'angular_velocity', 'of': 'ball', 'weight': 0.01}]},"                               \
    "'parameters': [{'of': 'ball', 'what': 'velocity'}, {'of': 'ball', 'what': 'position'},"       \
    " {'of': 'ball', 'what': 'friction'}, {'of': 'ball', 'what': 'angular_velocity'},"             \
    " {'of': 'ball', 'what': 'mass'}, {'what': 'gravity'}]}"

#define BOX_BOUNCE(e, more)                                                                        \
    "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.3, 0.25, 0.2]}}" \
    ", 'restitution': " e ", 'euler_degrees': [30, 40, 10], 'position': [0, 0, 0.4],"              \
    " 'velocity': [0.5, 0, -1], 'angular_velocity': [1, 2, 0]}],"                                  \
    "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"            \
    " {'what': 'angular_velocity', 'of': 'box', 'weight': 0.1}]},"                                 \
    "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'rotation'}," more    \
    " {'of': 'box', 'what': 'mass'}]}"

// Contacts as soft as that show what they give way by.
#define SOFT                                                                                       \
    "'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4,"                   \
    " 'compliance': 1e-3},"
// A ball of faces on another, and what is asked of it.
#define FACES(LOCK)                                                                                \
    "{" SOFT "'bodies': [{'name': 'low', 'type': 'fixed', 'thickness': 0.02,"                      \
    " 'mesh': {'sphere': {'radius': 0.2, 'subdivisions': 2}}},"                                    \
    "{'name': 'high', 'thickness': 0.016,"                                                         \
    " 'mesh': {'sphere': {'radius': 0.1, 'subdivisions': 1}}, 'density': 300,"                     \
    " 'position': [0.03, 0.02, 0.331], 'euler_degrees': [10, 20, 30],"                             \
    " 'velocity': [0.3, 0.1, -0.3]" LOCK "}],"                                                     \
    "'objective': {'terms': [{'what': 'position', 'of': 'high', 'target': [0.1, 0, 0.2]},"         \
    " {'what': 'velocity', 'of': 'high', 'target': [0.1, 0, 0.2]}]},"

#define RIM_GOAL                                                                                   \
    "'objective': {'terms': [{'what': 'position', 'of': 'high', 'target': [0.1, 0, 0.2]},"         \
    " {'what': 'velocity', 'of': 'high', 'target': [0.1, 0, 0.2]},"                                \
    " {'what': 'angular_velocity', 'of': 'high', 'target': [0.1, 0, 0.2], 'weight': 0.1}]},"       \
    "'parameters': [{'of': 'high', 'what': 'velocity'}, {'of': 'high', 'what': 'rotation'},"       \
    " {'of': 'high', 'what': 'position'}, {'of': 'high', 'what': 'angular_velocity'},"             \
    " {'of': 'high', 'what': 'thickness'}]}"

static const grad_kit_scene scenes[] = {
    {"free flight of a box",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}},"
     " 'velocity': [1, 2, 3], 'angular_velocity': [1, -2, 3], 'euler_degrees': [20, 30, 40],"
     " 'force': [0.5, 0.3, -0.2], 'torque': [0.01, 0.02, -0.03]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'point': [0.2, 0.1, 0.05],"
     " 'target': [1, 1, 1]}, {'what': 'rotation', 'of': 'box', 'weight': 0.5},"
     " {'what': 'velocity', 'of': 'box', 'at': [0, 0.05, 0.1]},"
     " {'what': 'angular_velocity', 'of': 'box', 'at': 'always', 'target': [0.5, 0.2, -1],"
     " 'axes': [1, 0.5, 2]}, {'what': 'angular_momentum', 'of': 'box', 'target': [1, 2, 3],"
     " 'at': [0, 0.08]}]},"
     "'parameters': [{'of': 'box', 'what': 'position'}, {'of': 'box', 'what': 'rotation'},"
     " {'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'},"
     " {'of': 'box', 'what': 'mass'}, {'of': 'box', 'what': 'inertia'},"
     " {'of': 'box', 'what': 'force'}, {'of': 'box', 'what': 'torque'}, {'of': 'box', 'what': "
     "'forces'},"
     " {'of': 'box', 'what': 'torques'}, {'what': 'gravity'}]}",
     20, 0},
    {"vertices of a flying solid",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}},"
     " 'velocity': [1, 2, 3], 'angular_velocity': [1, -2, 3], 'force': [5, 3, -2],"
     " 'torque': [0.1, 0.2, -0.3]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [1, 1, 1]},"
     " {'what': 'angular_velocity', 'of': 'box'}, {'what': 'energy'},"
     " {'what': 'angular_momentum'}]},"
     "'parameters': [{'of': 'box', 'what': 'vertices'}, {'of': 'box', 'what': 'rotation'},"
     " {'of': 'box', 'what': 'angular_velocity'}]}",
     10, 0},
    {"vertices of a solid whose moments do not ascend",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.2, 0.4, 0.1]}},"
     " 'velocity': [1, 2, 3], 'angular_velocity': [1, -2, 3]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [1, 1, 1]},"
     " {'what': 'rotation', 'of': 'box', 'target': [0.9, 0.3, 0.2, 0.1]}]},"
     "'parameters': [{'of': 'box', 'what': 'vertices'}]}",
     10, 0},
    {"rotation and a point of a solid, by its vertices",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}},"
     " 'velocity': [1, 2, 3], 'angular_velocity': [1, -2, 3], 'torque': [0.1, 0.2, -0.3]}],"
     "'objective': {'terms': [{'what': 'rotation', 'of': 'box', 'target': [0.9, 0.3, 0.2, 0.1]},"
     " {'what': 'position', 'of': 'box', 'point': [0.1, 0.2, 0.3], 'target': [1, 0, 0]}]},"
     "'parameters': [{'of': 'box', 'what': 'vertices'}, {'of': 'box', 'what': 'rotation'}]}",
     10, 0},
    {"rotation and a point of a solid, by its centre",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}},"
     " 'velocity': [1, 2, 3], 'angular_velocity': [1, -2, 3], 'force': [5, 3, -2]}],"
     "'objective': {'terms': [{'what': 'rotation', 'of': 'box', 'target': [0.9, 0.3, 0.2, 0.1]},"
     " {'what': 'position', 'of': 'box', 'point': [0.1, 0.2, 0.3], 'target': [1, 0, 0]}]},"
     "'parameters': [{'of': 'box', 'what': 'center_of_mass'}, {'of': 'box', 'what': 'inertia'}]}",
     10, 0},
    {"box resting, pushed sideways and pressed",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003], 'force': [3, 2, -20]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"
     " {'what': 'contact_force', 'of': 'box', 'weight': 1e-6}]},"
     "'parameters': [{'of': 'box', 'what': 'force'}, {'of': 'box', 'what': 'mass'},"
     " {'of': 'box', 'what': 'friction'}, {'of': 'ground', 'what': 'friction'},"
     " {'of': 'box', 'what': 'forces'}, {'what': 'gravity'},"
     " {'of': 'box', 'what': 'velocity'}]}",
     6, 1e-4},
    {"box sliding",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003], 'velocity': [1, 0.3, 0], 'angular_velocity': [0, 0, 0.5]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"
     " {'what': 'angular_velocity', 'of': 'box'}]},"
     "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'},"
     " {'of': 'box', 'what': 'friction'}, {'of': 'box', 'what': 'density'},"
     " {'of': 'box', 'what': 'center_of_mass'}, {'of': 'box', 'what': 'thickness'}]}",
     20, 0},
    {"ball rolling",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'ball', 'sphere': {'radius': 0.1},"
     " 'position': [0, 0, 0.1], 'velocity': [1, 0.3, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'ball', 'target': [0.5, 0, 0]},"
     " {'what': 'angular_velocity', 'of': 'ball', 'weight': 0.01}]},"
     "'parameters': [{'of': 'ball', 'what': 'velocity'}, {'of': 'ball', 'what': 'friction'},"
     " {'of': 'ball', 'what': 'inertia'}, {'of': 'ball', 'what': 'torque'},"
     " {'of': 'ball', 'what': 'mass'}]}",
     30, 0},
    {"box on box",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'low', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003], 'force': [1, 0, 0]},"
     " {'name': 'high', 'mesh': {'box': {'size': [0.2, 0.25, 0.2]}}, 'position': [0.03, 0.02,"
     " 0.30065], 'velocity': [0.4, 0.2, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'high', 'target': [0.1, 0, 0]},"
     " {'what': 'position', 'of': 'low'}]},"
     "'parameters': [{'of': 'low', 'what': 'force'}, {'of': 'high', 'what': 'velocity'},"
     " {'of': 'low', 'what': 'mass'}, {'of': 'high', 'what': 'mass'},"
     " {'of': 'high', 'what': 'friction'}]}",
     15, 0},
    // by the give of a part instead of the whole step's in the way back 4e-4
    {"disc that spins on a box, in parts",
     "{" SOFT "'bodies': [" GROUND ", " GRAD_SCENES_WHIRL "],"
     "'objective': {'terms': [{'what': 'position', 'of': 'disc', 'target': [0.1, 0, 0.1]},"
     " {'what': 'velocity', 'of': 'disc', 'target': [0.1, 0, 0.2]},"
     " {'what': 'position', 'of': 'low', 'target': [0, 0, 0.2]}]},"
     "'parameters': [{'of': 'disc', 'what': 'velocity'}, {'of': 'disc', 'what': 'mass'},"
     " {'of': 'disc', 'what': 'force'}, {'of': 'low', 'what': 'mass'},"
     " {'of': 'low', 'what': 'friction'}]}",
     6, 0},
    {"block on a fixed incline, sliding",
     "{" WORLD "'bodies': [{'name': 'ground', 'type': 'fixed', 'euler_degrees': [0, 30, 0],"
     " 'mesh': {'sheet': {'width': 8, 'height': 6, 'nx': 1, 'ny': 1}}},"
     " {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0.05015, 0, 0.08687], 'euler_degrees': [0, 30, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]}]},"
     "'parameters': [{'of': 'box', 'what': 'friction'}, {'of': 'box', 'what': 'force'},"
     " {'what': 'gravity'}]}",
     20, 0},
    {"hanging cloth", GRAD_SCENES_HANGING(SMOOTH), 15, 0},
    {"each modulus, the rest shape and scripted pins", GRAD_SCENES_MODULI(SMOOTH), 15, 0},
    {"ball on cloth",
     "{" WORLD "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6,"
     " 'height': 0.6, 'nx': 4, 'ny': 4}}, 'density': 0.3, 'stretch': 300, 'bend': 1e-3,"
     " 'damping': 0.01, 'thickness': 0.002, 'pins': [{'nodes': 'corners'}]},"
     " {'name': 'ball', 'sphere': {'radius': 0.1}, 'mass': 0.3, 'position': [0.03, 0.05, 0.1023],"
     " 'force': [0.2, 0, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'ball', 'target': [0.1, 0, 0]}]},"
     "'parameters': [{'of': 'ball', 'what': 'force'}, {'of': 'ball', 'what': 'mass'},"
     " {'of': 'ball', 'what': 'friction'}, {'of': 'sheet', 'what': 'stretch'},"
     " {'of': 'sheet', 'what': 'density'}, {'of': 'ball', 'what': 'position'},"
     " {'of': 'sheet', 'what': 'thickness'}]}",
     15, 0},
    {"ball on a large sheet in short steps",
     GRAD_SCENES_LARGE ", 'objective': {'terms': [{'what': 'position', 'of': 'ball', 'target':"
                       " [0.1, 0, 0]}, {'what': 'velocity', 'of': 'ball', 'target': [0.5, 0, 0],"
                       " 'weight': 0.01}, {'what': 'velocity', 'of': 'sheet', 'weight': 0.1}]},"
                       "'parameters': [{'of': 'ball', 'what': 'velocity'}, {'of': 'ball', 'what':"
                       " 'angular_velocity'}, {'of': 'ball', 'what': 'mass'}, {'of': 'ball',"
                       " 'what': 'friction'}, {'of': 'sheet', 'what': 'stretch'}, {'of': 'sheet',"
                       " 'what': 'density'}, {'of': 'sheet', 'what': 'thickness'}]}",
     40, 0},
    // braked in the last eight steps: without the sheet's part in that 7e-3
    {"box that tips over its edge on a sheet",
     "{" WORLD "'bodies': [" GROUND
     ", {'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width':"
     " 0.6, 'height': 0.6, 'nx': 3, 'ny': 3}}, 'position': [0, 0, 0.011], 'density': 2, 'stretch':"
     " 200, 'bend': 1e-2, 'damping': 0.01, 'thickness': 0.01, 'friction': 1},"
     " {'name': 'box', 'mesh': {'box': {'size': [0.2, 0.17, 0.2]}}, 'thickness': 0.01, 'mass': 0.2,"
     " 'friction': 1, 'position': [0.01, 0.02, 0.173], 'euler_degrees': [3, 38, 5],"
     " 'angular_velocity': [0, 1.5, 0], 'velocity': [0.2, 0, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"
     " {'what': 'velocity', 'of': 'box', 'target': [0, 0.1, 0]}, {'what': 'rotation', 'of': "
     "'box'}]},"
     "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'},"
     " {'of': 'box', 'what': 'inertia'}, {'of': 'sheet', 'what': 'velocity'},"
     " {'what': 'gravity'}]}",
     22, 3e-5},
    {"cube flat on ground, frictionless, pressed off its middle",
     "{" SMOOTH "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.3, 0.3, 0.3]}},"
     " 'position': [0, 0, 0.15015], 'force': [4, -3, -30], 'torque': [0.5, 0.3, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.3, 0, 0]},"
     " {'what': 'rotation', 'of': 'box', 'weight': 100},"
     " {'what': 'contact_force', 'of': 'box', 'norm': 'value', 'weight': 1e-3}]},"
     "'parameters': [{'of': 'box', 'what': 'force'}, {'of': 'box', 'what': 'torque'},"
     " {'of': 'box', 'what': 'mass'}, {'of': 'box', 'what': 'torques'}]}",
     12, 0},
    {"stack of five",
     "{" WORLD "'bodies': [" GROUND
     ", {'name': 'a', 'mesh': {'box': {'size': [0.3, 0.3, 0.2]}}, 'position': [0, 0, 0.1002],"
     " 'thickness': 1e-4},"
     " {'name': 'b', 'mesh': {'box': {'size': [0.28, 0.3, 0.2]}}, 'position': [0.01, 0, 0.3005],"
     " 'thickness': 1e-4},"
     " {'name': 'c', 'mesh': {'box': {'size': [0.26, 0.28, 0.2]}}, 'position': [0, 0.01, 0.5008],"
     " 'thickness': 1e-4},"
     " {'name': 'd', 'mesh': {'box': {'size': [0.24, 0.25, 0.2]}}, 'position': [-0.01, 0, 0.7011],"
     " 'thickness': 1e-4},"
     " {'name': 'e', 'mesh': {'box': {'size': [0.2, 0.2, 0.2]}}, 'position': [0, 0, 0.9014],"
     " 'thickness': 1e-4, 'velocity': [0.3, 0.1, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'e', 'target': [0.1, 0, 0]},"
     " {'what': 'velocity', 'of': 'c'}]},"
     "'parameters': [{'of': 'e', 'what': 'velocity'}, {'of': 'a', 'what': 'force'},"
     " {'of': 'd', 'what': 'friction'}]}",
     12, 0},
    {"crowd that goes in legs",
     "{'carom': 1, 'world': {'dt': 0.04, 'friction_speed': 0.1}, 'bodies': "
     "[" GRAD_SCENES_CROWD "],"
     "'objective': {'terms': [{'what': 'position', 'of': 'b0', 'target': [0, 0, 0]},"
     " {'what': 'velocity', 'of': 'b3'}, {'what': 'rotation', 'of': 'b4'}]},"
     "'parameters': [{'of': 'b0', 'what': 'velocity'}, {'of': 'b2', 'what': 'mass'},"
     " {'of': 'b4', 'what': 'angular_velocity'}, {'of': 'b5', 'what': 'friction'}]}",
     2, 1e-4},
    {"cube in a V",
     "{" SMOOTH "'bodies': ["
     " {'name': 'left', 'type': 'fixed', 'euler_degrees': [0, 45, 0], 'position': [-1, 0, 1],"
     " 'mesh': {'sheet': {'width': 3, 'height': 3, 'nx': 1, 'ny': 1}}},"
     " {'name': 'right', 'type': 'fixed', 'euler_degrees': [0, -45, 0], 'position': [1.001, 0, 1],"
     " 'mesh': {'sheet': {'width': 2.8, 'height': 3, 'nx': 1, 'ny': 1}}},"
     " {'name': 'box', 'mesh': {'box': {'size': [0.3, 0.4, 0.3]}}, 'euler_degrees': [0, 45, 0],"
     " 'position': [0.0005, 0, 0.2135], 'force': [3, 5, -10]}],"
     "'pairs': [{'between': ['left', 'right'], 'contact': false}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.3, 0.4, 0]}]},"
     "'parameters': [{'of': 'box', 'what': 'force'}, {'of': 'box', 'what': 'mass'},"
     " {'of': 'box', 'what': 'velocity'}]}",
     12, 0},
    {"pressing cylinder on a free box",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'low', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003]},"
     " {'name': 'rod', 'capsule': {'radius': 0.05, 'length': 0.2}, 'euler_degrees': [90, 0, 20],"
     " 'position': [0.02, 0.01, 0.2506], 'force': [0.3, 0.2, -3], 'angular_velocity': [0, 1, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'rod', 'target': [0.1, 0, 0]},"
     " {'what': 'angular_velocity', 'of': 'rod', 'weight': 0.01}]},"
     "'parameters': [{'of': 'rod', 'what': 'force'}, {'of': 'rod', 'what': 'angular_velocity'},"
     " {'of': 'rod', 'what': 'density'}, {'of': 'low', 'what': 'mass'},"
     " {'of': 'rod', 'what': 'friction'}]}",
     15, 0},
    {"edge on edge of two free bodies",
     "{" SMOOTH "'bodies': [{'name': 'a', 'mesh': {'box': {'size': [0.6, 0.2, 0.2]}},"
     " 'euler_degrees': [45, 0, 0], 'force': [0, 0, 40]},"
     " {'name': 'b', 'mesh': {'box': {'size': [0.2, 0.6, 0.2]}}, 'euler_degrees': [0, 45, 10],"
     " 'position': [0.05, 0.03, 0.2834], 'force': [0, 1, -40]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'b', 'target': [0.1, 0, 0]},"
     " {'what': 'angular_velocity', 'of': 'a'}]},"
     "'parameters': [{'of': 'a', 'what': 'force'}, {'of': 'b', 'what': 'force'},"
     " {'of': 'b', 'what': 'mass'}, {'of': 'b', 'what': 'torque'}]}",
     8, 0},
    {"sticking block on a fixed incline",
     "{" WORLD "'bodies': [{'name': 'ground', 'type': 'fixed', 'euler_degrees': [0, 15, 0],"
     " 'mesh': {'sheet': {'width': 8, 'height': 6, 'nx': 1, 'ny': 1}}},"
     " {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0.025960, 0, 0.096883], 'euler_degrees': [0, 15, 0]}],"
     "'objective': {'terms': [{'what': 'velocity', 'of': 'box', 'at': 'always'}]},"
     "'parameters': [{'of': 'box', 'what': 'friction'}, {'of': 'box', 'what': 'force'},"
     " {'what': 'gravity'}]}",
     20, 0},
    {"block on a free wedge",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'wedge', 'friction': 0.1, 'mesh': {'vertices':"
     " [[-0.5, -0.3, 0], [0.5, -0.3, 0], [0.5, 0.3, 0], [-0.5, 0.3, 0], [-0.5, -0.3, 0.5],"
     " [-0.5, 0.3, 0.5]], 'faces': [[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 5], [1, 5, 4],"
     " [2, 3, 5], [3, 0, 4], [3, 4, 5]]}, 'position': [0, 0, 0.0006]},"
     " {'name': 'box', 'friction': 0.1, 'mesh': {'box': {'size': [0.2, 0.2, 0.2]}},"
     " 'euler_degrees': [0, 26.56505118, 0], 'position': [-0.05497, 0.01, 0.39070]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"
     " {'what': 'position', 'of': 'wedge'}]},"
     "'parameters': [{'of': 'box', 'what': 'friction'}, {'of': 'wedge', 'what': 'mass'},"
     " {'of': 'box', 'what': 'force'}]}",
     20, 0},
    {"height of the ground under a box that slides",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003], 'velocity': [1, 0.3, 0], 'force': [0, 0, -50]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]}]},"
     "'parameters': [{'of': 'ground', 'what': 'position'}, {'of': 'box', 'what': 'velocity'}]}",
     12, 1e-4},
    {"capsule rolling",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'rod', 'capsule': {'radius': 0.05, 'length': 0.2},"
     " 'euler_degrees': [90, 0, 0], 'position': [0, 0, 0.05], 'velocity': [0.5, 0, 0],"
     " 'force': [0.5, 0.1, -1]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'rod', 'target': [0.2, 0.1, 0]},"
     " {'what': 'angular_momentum', 'of': 'rod'}, {'what': 'momentum', 'of': 'rod'},"
     " {'what': 'energy', 'of': 'rod'}]},"
     "'parameters': [{'of': 'rod', 'what': 'velocity'}, {'of': 'rod', 'what': 'force'},"
     " {'of': 'rod', 'what': 'inertia'}, {'of': 'rod', 'what': 'mass'}, {'what': 'gravity'}]}",
     25, 0},
    {"cloth over a box with friction",
     "{" WORLD
     "'bodies': [{'name': 'box', 'type': 'fixed', 'mesh': {'box': {'size': [0.3, 0.3, 0.2]"
     "}}}, {'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.7, 'height': 0.6, 'nx':"
     " 5, 'ny': 5}}, 'position': [0.02, 0.01, 0.1052], 'density': 0.3, 'stretch': 100,"
     " 'bend': 1e-3, 'damping': 0.01, 'thickness': 0.005, 'velocity': [0.2, 0, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'target': [0.1, 0, 0]},"
     " {'what': 'velocity', 'of': 'sheet', 'node': 0}]},"
     "'parameters': [{'of': 'sheet', 'what': 'velocity'}, {'of': 'sheet', 'what': 'stretch'},"
     " {'of': 'sheet', 'what': 'friction'}, {'of': 'sheet', 'what': 'bend'},"
     " {'of': 'sheet', 'what': 'density'}, {'what': 'gravity'}]}",
     10, 1e-4},
    {"cloth on cloth",
     "{" WORLD "'bodies': [{'name': 'low', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6,"
     " 'height': 0.6, 'nx': 3, 'ny': 3}}, 'density': 0.3, 'stretch': 200, 'damping': 0.01,"
     " 'thickness': 0.005, 'pins': [{'nodes': 'corners'}]}, {'name': 'high', 'type': 'cloth',"
     " 'mesh': {'sheet': {'width': 0.31, 'height': 0.29, 'nx': 2, 'ny': 2}}, 'density': 0.3,"
     " 'stretch': 200, 'damping': 0.01, 'thickness': 0.005, 'position': [0.03, 0.02, 0.0103],"
     " 'velocity': [0.2, 0.1, 0], 'euler_degrees': [0, 0, 20]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'high', 'target': [0.1, 0, 0]}]},"
     "'parameters': [{'of': 'high', 'what': 'velocity'}, {'of': 'low', 'what': 'stretch'},"
     " {'of': 'high', 'what': 'friction'}, {'of': 'high', 'what': 'density'}]}",
     10, 1e-4},
    {"ball with friction and drag on a windy sheet",
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'wind': [1, 0.5, 0]},"
     " 'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6,"
     " 'height': 0.6, 'nx': 3, 'ny': 3, 'jitter': 0.2}}, 'density': 0.3, 'stretch': 300,"
     " 'drag_normal': 0.5, 'drag_tangent': 0.2, 'thickness': 0.002, 'pins': [{'nodes': 'border'}]},"
     " {'name': 'ball', 'sphere': {'radius': 0.1}, 'mass': 0.3, 'position': [0.03, 0.05, 0.1023],"
     " 'velocity': [0.3, 0, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'ball', 'target': [0.1, 0, 0]}]},"
     "'parameters': [{'what': 'wind'}, {'of': 'sheet', 'what': 'drag_normal'},"
     " {'of': 'sheet', 'what': 'pins'}, {'of': 'sheet', 'what': 'rest'},"
     " {'of': 'ball', 'what': 'velocity'}]}",
     15, 1e-4},
    {"scripted cloth",
     "{" SMOOTH "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.5,"
     " 'height': 0.5, 'nx': 3, 'ny': 3}}, 'density': 0.2, 'stretch': 50, 'damping': 0.02,"
     " 'pins': [{'nodes': [0, 1], 'script': {'smooth': true, 'keys': [{'time': 0}, {'time': 0.05,"
     " 'shift': [0, 0, 0.01]}, {'time': 0.2, 'shift': [0.02, 0.01, 0.05]}]}},"
     " {'nodes': [3], 'script': {'velocity': [0.1, 0, 0]}}]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'at': 'always', 'norm': 'norm'},"
     " {'what': 'velocity', 'of': 'sheet', 'node': 15, 'norm': 'value', 'axes': [1, 2, 3]}]},"
     "'parameters': [{'of': 'sheet', 'what': 'script'}, {'of': 'sheet', 'what': 'pins'},"
     " {'of': 'sheet', 'what': 'damping'}]}",
     15, 0},
    {"forces on the nodes of a sheet",
     "{" SMOOTH "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.5,"
     " 'height': 0.5, 'nx': 2, 'ny': 2}}, 'density': 0.2, 'stretch': 50, 'node_forces':"
     " [{'nodes': [4], 'force': [0.1, 0.2, 0.3]}]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'node': 4},"
     " {'what': 'effort', 'of': 'sheet', 'at': 'always', 'weight': 0.1},"
     " {'what': 'angular_momentum', 'of': 'sheet'}]},"
     "'parameters': [{'of': 'sheet', 'what': 'force'}, {'of': 'sheet', 'what': 'forces'}]}",
     10, 0},
    {"effort of a controlled body",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}},"
     " 'forces': [[1, 2, 3], [2, 1, 0]], 'torques': [[0.1, 0, 0]]},"
     " {'name': 'ball', 'sphere': {'radius': 0.1}, 'position': [2, 0, 0], 'force': [1, 0, 0]}],"
     "'objective': {'terms': [{'what': 'effort', 'of': 'box', 'at': 'always', 'norm': 'norm'},"
     " {'what': 'effort', 'weight': 0.1}, {'what': 'effort', 'of': 'ball', 'norm': 'value',"
     " 'target': [0, 1, 2], 'at': [0.02, 0.04]}, {'what': 'velocity', 'of': 'box'}]},"
     "'parameters': [{'of': 'box', 'what': 'forces'}, {'of': 'box', 'what': 'torques'},"
     " {'of': 'box', 'what': 'force'}, {'of': 'ball', 'what': 'force'}]}",
     6, 0},
    {"damped flight",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}},"
     " 'linear_damping': 0.5, 'angular_damping': 0.7, 'velocity': [1, 2, 3],"
     " 'angular_velocity': [1, -2, 3]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box'}, {'what': 'angular_velocity',"
     " 'of': 'box'}, {'what': 'contact_force', 'of': 'box'}]},"
     "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'},"
     " {'of': 'box', 'what': 'mass'}]}",
     20, 0},
    {"locked translation",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}},"
     " 'lock': ['y'], 'velocity': [1, 2, 3], 'angular_velocity': [1, -2, 3], 'force': [1, 1, 1]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'point': [0.1, 0.1, 0]}]},"
     "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'},"
     " {'of': 'box', 'what': 'force'}]}",
     20, 0},
    {"contact numbers of a pair",
     "{" WORLD "'pairs': [{'between': ['ground', 'box'], 'friction': 0.3}],"
     "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003], 'velocity': [1, 0.3, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]}]},"
     "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'friction'}]}",
     20, 0},

    {"vertices of the fixed ground under a ball",
     "{" WORLD "'bodies': [{'name': 'ground', 'type': 'fixed', 'mesh': {'vertices': [[-2, -2, 0.1],"
     " [3, -2, 0], [0, 3, -0.05]], 'faces': [[0, 1, 2]]}}, {'name': 'ball', 'sphere': {'radius':"
     " 0.1}, 'position': [0.1, 0.05, 0.1285], 'velocity': [0.5, 0.2, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'ball', 'target': [0.5, 0, 0]}]},"
     "'parameters': [{'of': 'ground', 'what': 'vertices'}, {'of': 'ground', 'what': 'rotation'},"
     " {'of': 'ground', 'what': 'position'}, {'of': 'ground', 'what': 'friction'},"
     " {'of': 'ball', 'what': 'thickness'}]}",
     20, 1e-5},
    {"non-convex body on the ground",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'ring', 'mesh': {'torus': {'major': 0.2, 'minor':"
     " 0.06, 'segments': 12, 'rings': 6}}, 'position': [0, 0, 0.0785], 'euler_degrees': [3, 5, 0],"
     " 'force': [0, 0, -20], 'velocity': [0.3, 0, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'ring', 'target': [0.1, 0, 0]},"
     " {'what': 'rotation', 'of': 'ring'}]},"
     "'parameters': [{'of': 'ring', 'what': 'force'}, {'of': 'ring', 'what': 'velocity'},"
     " {'of': 'ring', 'what': 'density'}]}",
     20, 0},
    {"corner on a free rotating face",
     "{" WORLD "'bodies': [{'name': 'plate', 'mesh': {'box': {'size': [0.8, 0.7, 0.1]}},"
     " 'force': [0, 0, 600], 'angular_velocity': [0.2, 0.3, 0.1]},"
     " {'name': 'box', 'mesh': {'box': {'size': [0.2, 0.25, 0.2]}}, 'euler_degrees': [40, 35, 10],"
     " 'position': [0.05, 0.03, 0.2398], 'force': [1, 2, -60]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"
     " {'what': 'angular_velocity', 'of': 'plate'}]},"
     "'parameters': [{'of': 'plate', 'what': 'angular_velocity'}, {'of': 'box', 'what': 'force'},"
     " {'of': 'box', 'what': 'rotation'}, {'of': 'box', 'what': 'mass'},"
     " {'of': 'plate', 'what': 'inertia'}, {'of': 'box', 'what': 'friction'}]}",
     12, 0},
    {"tumbling box, 30 contact steps", TUMBLE, 60, 0},
    {"tumbling box, 10 contact steps", TUMBLE, 40, 0},
    {"tumbling box, 3 contact steps", TUMBLE, 33, 0},
    {"ball and box that go around an edge",
     "{" WORLD "'bodies': [{'name': 'table', 'mass': 5, 'mesh': {'box': {'size': [1, 1, 0.2]}},"
     " 'position': [0, 0, 0.101]}, " GROUND ", {'name': 'ball', 'sphere': {'radius': 0.1},"
     " 'position': [0.491, 0.03, 0.302], 'velocity': [0.5, 0.1, 0], 'friction': 0, 'mass': 0.7}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'ball', 'target': [0.1, 0, 0]},"
     " {'what': 'velocity', 'of': 'ball'}]},"
     "'parameters': [{'of': 'ball', 'what': 'velocity'}, {'of': 'ball', 'what': 'mass'},"
     " {'of': 'table', 'what': 'mass'}, {'of': 'table', 'what': 'inertia'},"
     " {'of': 'ball', 'what': 'position'}, {'what': 'gravity'}]}",
     14, 0},
    {"kinematic pusher",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003]},"
     " {'name': 'pusher', 'type': 'kinematic', 'mesh': {'box': {'size': [0.1, 0.2, 0.1]}},"
     " 'position': [-0.25025, 0.01, 0.1], 'script': {'smooth': true, 'keys': [{'time': 0},"
     " {'time': 0.1, 'shift': [0.02, 0, 0.005]}, {'time': 0.3, 'shift': [0.1, 0, 0],"
     " 'turn': [0, 0, 0.1]}]}}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0.1, 0]},"
     " {'what': 'rotation', 'of': 'box'}, {'what': 'position', 'of': 'pusher'}]},"
     "'parameters': [{'of': 'pusher', 'what': 'script'}, {'of': 'box', 'what': 'friction'}]}",
     25, 1e-4},
    {"kinematic pusher that hits",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003]},"
     " {'name': 'pusher', 'type': 'kinematic', 'sphere': {'radius': 0.05},"
     " 'position': [-0.2603, 0.01, 0.1], 'script': {'velocity': [0.5, 0, 0]}}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0.1, 0]}]},"
     "'parameters': [{'of': 'box', 'what': 'mass'}, {'of': 'box', 'what': 'friction'},"
     " {'of': 'pusher', 'what': 'position'}]}",
     15, 1e-4},
    {"ball that bounces, e = 0.3", BOUNCE("0.3"), 40, 0},
    {"ball that bounces, e = 0.7", BOUNCE("0.7"), 40, 0},
    {"ball that bounces, e = 1", BOUNCE("1"), 40, 0},
    {"box that bounces, e = 0.3", BOX_BOUNCE("0.3", "{'of': 'box', 'what': 'restitution'},"), 30,
     1e-4},
    {"box that bounces, e = 0.7", BOX_BOUNCE("0.7", "{'of': 'box', 'what': 'restitution'},"), 30,
     1e-4},
    {"box that bounces, e = 1", BOX_BOUNCE("1", ""), 30, 1e-4},
    {"head-on cubes",
     "{'carom': 1, 'world': {'dt': 0.01, 'gravity': [0, 0, 0], 'friction': 0}, 'bodies': ["
     " {'name': 'a', 'mesh': {'box': {'size': [1, 1, 1]}}, 'mass': 1, 'position': [-1, 0, 0],"
     " 'velocity': [2, 0, 0]}, {'name': 'b', 'mesh': {'box': {'size': [1, 1, 1]}}, 'mass': 3,"
     " 'position': [0.5, 0, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'a', 'axes': [1, 0, 0]},"
     " {'what': 'velocity', 'of': 'b', 'axes': [1, 0, 0]}]},"
     "'parameters': [{'of': 'a', 'what': 'mass'}, {'of': 'b', 'what': 'mass'},"
     " {'of': 'a', 'what': 'velocity', 'min': 0}]}",
     40, 0},
    {"corner that hits the ground",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.3, 0.25, 0.2]}},"
     " 'euler_degrees': [30, 40, 10], 'position': [0, 0, 0.35], 'velocity': [0.5, 0, -1],"
     " 'angular_velocity': [1, 2, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"
     " {'what': 'angular_velocity', 'of': 'box', 'weight': 0.1}]},"
     "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'},"
     " {'of': 'box', 'what': 'rotation'}, {'of': 'box', 'what': 'position'},"
     " {'of': 'box', 'what': 'friction'}, {'of': 'box', 'what': 'inertia'}]}",
     20, 1e-4},
    // soft, so that what rows of one place do to each other's compliance shows: 4e-4 of the
    // gradient
    {"faces of a ball that roll over those of another",
     FACES("") "'parameters': [{'of': 'high', 'what': 'velocity'},"
               " {'of': 'high', 'what': 'rotation'}, {'of': 'high', 'what': 'position'},"
               " {'of': 'high', 'what': 'mass'}, {'of': 'high', 'what': 'thickness'},"
               " {'of': 'low', 'what': 'thickness'}, {'of': 'high', 'what': 'friction'},"
               " {'of': 'low', 'what': 'position'}]}",
     10, 0},
    {"the same, held in some axes",
     FACES(", 'lock': ['y', 'rx', 'rz']") "'parameters': [{'of': 'high', 'what': 'velocity'},"
                                          " {'of': 'high', 'what': 'angular_velocity'}, {'of': "
                                          "'high', 'what': 'position'},"
                                          " {'of': 'high', 'what': 'thickness'}]}",
     10, 0},
    // likewise of nodes, free and pinned: without their part 3e-5
    {"faces of a ball on those of a sheet",
     "{" SOFT "'bodies': [" GRAD_SCENES_FACES_ON_SHEET "],"
     "'objective': {'terms': [{'what': 'position', 'of': 'high', 'target': [0.1, 0, 0.2]},"
     " {'what': 'velocity', 'of': 'sheet', 'target': [0.1, 0, 0.2]}]},"
     "'parameters': [{'of': 'high', 'what': 'velocity'}, {'of': 'high', 'what': 'position'},"
     " {'of': 'sheet', 'what': 'density'}, {'of': 'sheet', 'what': 'thickness'},"
     " {'of': 'high', 'what': 'thickness'}, {'of': 'sheet', 'what': 'friction'},"
     " {'of': 'sheet', 'what': 'pins'}, {'of': 'sheet', 'what': 'vertices'}]}",
     4, 0},
    {"a sheet that is braked on another",
     GRAD_SCENES_SHEET_ON_SHEET
     ", 'objective': {'terms': [{'what': 'position', 'of': 'high', 'node': 5, 'target': [0, 0, "
     "0.3]}, {'what': 'velocity', 'of': 'high', 'target': [0.1, 0.2, 0.3]},"
     " {'what': 'velocity', 'of': 'low', 'target': [0.1, 0.2, 0.3]}]},"
     "'parameters': [{'of': 'high', 'what': 'velocity'}, {'of': 'high', 'what': 'position'},"
     " {'of': 'high', 'what': 'density'}, {'of': 'low', 'what': 'density'},"
     " {'of': 'high', 'what': 'stretch'}, {'of': 'low', 'what': 'bend'},"
     " {'of': 'high', 'what': 'thickness'}, {'of': 'low', 'what': 'vertices'},"
     " {'of': 'high', 'what': 'force'}, {'what': 'gravity'}]}",
     15, 0},
    {"a sheet that is braked together with a box",
     GRAD_SCENES_SHEET_ON_BOX
     ", 'objective': {'terms': [{'what': 'position', 'of': 'high', 'node': 5, 'target': [0, 0, "
     "0.3]}, {'what': 'velocity', 'of': 'high', 'target': [0.1, 0.2, 0.3]},"
     " {'what': 'velocity', 'of': 'box', 'target': [0.1, 0.2, 0.3]},"
     " {'what': 'angular_velocity', 'of': 'box', 'target': [0.1, 0.2, 0.3]}]},"
     "'parameters': [{'of': 'high', 'what': 'velocity'}, {'of': 'high', 'what': 'position'},"
     " {'of': 'high', 'what': 'density'}, {'of': 'high', 'what': 'stretch'},"
     " {'of': 'high', 'what': 'vertices'}, {'of': 'box', 'what': 'mass'},"
     " {'of': 'box', 'what': 'inertia'}, {'of': 'box', 'what': 'rotation'},"
     " {'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'}]}",
     10, 0},
    // between no say and all of it: without its derivative 9e-3
    {"edges that are nearly parallel",
     "{" SOFT "'bodies': ["
     "{'name': 'low', 'type': 'fixed', 'thickness': 0.02, 'mesh': {'box': {'size': [0.2, 0.2, "
     "0.2]}}},"
     "{'name': 'high', 'thickness': 0.03, 'mesh': {'box': {'size': [0.2, 0.2, 0.2]}},"
     " 'density': 300, 'position': [0.0001, 0.0002, 0.2502], 'euler_degrees': [0.001, 0.002, 0.17],"
     " 'velocity': [0.001, 0.002, -0.03], 'angular_velocity': [0, 0, 0.01]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'high', 'target': [0.1, 0, 0.2]},"
     " {'what': 'velocity', 'of': 'high', 'target': [0.1, 0, 0.2]}]},"
     "'parameters': [{'of': 'high', 'what': 'velocity'}, {'of': 'high', 'what': 'rotation'},"
     " {'of': 'high', 'what': 'position'}]}",
     4, 3e-6},
    // without what nearly parallel edges leave of a row beside them 3e-3, and 0.04 softer than that
    {"an end beside edges that cross nearly parallel",
     "{" SOFT "'bodies': [" GRAD_SCENES_RIM("low", "0.1997") "]," RIM_GOAL, 4, 1e-6},
    {"an end beside edges that are nearly parallel and do not cross",
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'compliance': 2e-2},"
     "'bodies': [" GRAD_SCENES_RIM("low", "0.20045") "]," RIM_GOAL,
     4, 3e-6},
};

int main(int argc, char** argv)
{
    return grad_kit_main(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
