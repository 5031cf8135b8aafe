// grad_scenes.h - scenes that more than one test differentiates, each in a world of its own.
#pragma once

// A ball thrown on a sheet of so many nodes, in steps so short, that sweeps solve it.
#define GRAD_SCENES_LARGE                                                                          \
    "{'carom': 1, 'world': {'dt': 0.00025, 'friction_speed': 0.01, 'friction': 0.4,"               \
    " 'contact': 'barrier'}, 'bodies': ["                                                          \
    "{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 1, 'height': 1, 'nx': 26,"     \
    " 'ny': 26}}, 'density': 0.374, 'stretch': 1000, 'bend': 1e-4, 'damping': 0.005,"              \
    " 'thickness': 0.002, 'pins': [{'nodes': 'corners'}]},"                                        \
    "{'name': 'ball', 'sphere': {'radius': 0.1}, 'mass': 0.3, 'position': [0.03, 0.05, 0.1022],"   \
    " 'velocity': [1, 0.5, -3], 'angular_velocity': [0, 10, 0]}]"

// A sheet held at two corners, everything that a sheet may have switched on.
#define GRAD_SCENES_HANGING(WORLD)                                                                 \
    "{" WORLD "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.5,"     \
    " 'height': 0.5, 'nx': 3, 'ny': 3}}, 'density': 0.2, 'stretch': 50, 'poisson': 0.25,"          \
    " 'bend': 1e-4, 'damping': 0.01, 'bend_damping': 0.01, 'drag_normal': 0.5,"                    \
    " 'drag_tangent': 0.1, 'velocity': [0.1, 0, 0.2], 'pins': [{'nodes': [0, 3]}]}],"              \
    "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'node': 15,"                      \
    " 'target': [0, 0, -0.3]}, {'what': 'velocity', 'of': 'sheet', 'at': 'always'},"               \
    " {'what': 'energy', 'of': 'sheet', 'at': [0.05]}, {'what': 'momentum', 'of': 'sheet'}]},"     \
    "'parameters': [{'of': 'sheet', 'what': 'position'}, {'of': 'sheet', 'what': 'velocity'},"     \
    " {'of': 'sheet', 'what': 'density'}, {'of': 'sheet', 'what': 'stretch'},"                     \
    " {'of': 'sheet', 'what': 'poisson'}, {'of': 'sheet', 'what': 'bend'},"                        \
    " {'of': 'sheet', 'what': 'damping'}, {'of': 'sheet', 'what': 'bend_damping'},"                \
    " {'of': 'sheet', 'what': 'drag_normal'}, {'of': 'sheet', 'what': 'drag_tangent'},"            \
    " {'of': 'sheet', 'what': 'vertices'}, {'of': 'sheet', 'what': 'pins'},"                       \
    " {'of': 'sheet', 'what': 'force'}, {'of': 'sheet', 'what': 'forces'},"                        \
    " {'what': 'gravity'}, {'what': 'wind'}]}"

// An irregular sheet by its four moduli, one of its pins moved by a script.
#define GRAD_SCENES_MODULI(WORLD)                                                                  \
    "{" WORLD "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.5,"     \
    " 'height': 0.5, 'nx': 3, 'ny': 3, 'jitter': 0.2}}, 'density': 0.2, 'c11': 50, 'c22': 40,"     \
    " 'c12': 10, 'c33': 15, 'bend': 1e-3, 'damping': 0.02, 'pins': [{'nodes': [0], 'script':"      \
    " {'keys': [{'time': 0}, {'time': 0.2, 'shift': [0.02, 0.01, 0.05]}]}}, {'nodes': [3]}]}],"    \
    "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'node': 15,"                      \
    " 'target': [0, 0, -0.3]}]},"                                                                  \
    "'parameters': [{'of': 'sheet', 'what': 'c11'}, {'of': 'sheet', 'what': 'c22'},"               \
    " {'of': 'sheet', 'what': 'c12'}, {'of': 'sheet', 'what': 'c33'},"                             \
    " {'of': 'sheet', 'what': 'rest'}, {'of': 'sheet', 'what': 'script'},"                         \
    " {'of': 'sheet', 'what': 'pins'}]}"

// A ball of faces on a sheet held at its corners, both thick: many contacts share a place.
#define GRAD_SCENES_FACES_ON_SHEET                                                                 \
    "{'name': 'sheet', 'type': 'cloth', 'thickness': 0.016, 'mesh': {'sheet': {'width': 0.3,"      \
    " 'height': 0.3, 'nx': 2, 'ny': 2}}, 'density': 2, 'stretch': 300, 'bend': 1e-3,"              \
    " 'damping': 0.01, 'friction': 0.4, 'pins': [{'nodes': 'corners'}]},"                          \
    "{'name': 'high', 'thickness': 0.02, 'mesh': {'sphere': {'radius': 0.1, 'subdivisions': 1}},"  \
    " 'density': 300, 'position': [0.03, 0.02, 0.137], 'euler_degrees': [10, 20, 30],"             \
    " 'velocity': [0.3, 0.1, -0.3], 'friction': 0.4}"

// Sheets that slide without friction where the energy balance brakes them: over another one on the
// ground, in three of fifteen steps, and together with a free box under one, in one of ten.
#define GRAD_SCENES_SLIDER(NAME, NUMBERS)                                                          \
    "{'name': '" NAME "', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.4, 'height': 0.4,"        \
    " 'nx': 3, 'ny': 3, 'jitter': 0.1}}, 'stretch': 200, 'bend': 1e-3, 'damping': 0.01,"           \
    " 'thickness': 0.01, " NUMBERS "}"
#define GRAD_SCENES_SLIDES(LOW, NUMBERS)                                                           \
    "{'carom': 1, 'world': {'dt': 0.02, 'friction': 0}, 'bodies': [{'name': 'ground',"             \
    " 'type': 'fixed', 'mesh': {'box': {'size': [4, 4, 1]}}, 'position': [0.13, 0.07, "            \
    "-0.5]}, " LOW ", " GRAD_SCENES_SLIDER("high", "'density': 0.3, " NUMBERS) "]"
#define GRAD_SCENES_SHEET_ON_SHEET                                                                 \
    GRAD_SCENES_SLIDES(                                                                            \
        GRAD_SCENES_SLIDER("low", "'density': 0.35, 'position': [-0.0366, 0.0347, 0.03],"          \
                                  " 'euler_degrees': [1.58, -1.47, 44.6]"),                        \
        "'position': [0.0289, -0.0406, 0.06], 'euler_degrees': [-2.83, 2.01, 38.9],"               \
        " 'velocity': [0.839, 0.152, 0]")
#define GRAD_SCENES_SHEET_ON_BOX                                                                   \
    GRAD_SCENES_SLIDES(                                                                            \
        "{'name': 'box', 'mesh': {'box': {'size': [0.2, 0.25, 0.2]}}, 'mass': 1,"                  \
        " 'position': [0, 0, 0.11]}",                                                              \
        "'position': [-0.0267, -0.0269, 0.25],"                                                    \
        " 'euler_degrees': [-1.687, -0.242, 26.08], 'velocity': [0.825, -0.004, 0]")

// A box whose lower edge nearly follows the upper one of a box that is held. At 0.1997 they cross
// near an end: the crossing and the end outside are two contacts that share what there is. At
// 0.20045 they do not, and the nearer end shares with the farther one.
#define GRAD_SCENES_RIM(LOW, X)                                                                    \
    "{'name': '" LOW "', 'type': 'fixed', 'thickness': 0.02,"                                      \
    " 'mesh': {'box': {'size': [0.2, 0.4, 0.2]}}, 'friction': 0.4},"                               \
    "{'name': 'high', 'thickness': 0.03, 'mesh': {'box': {'size': [0.2, 0.2, 0.2]}},"              \
    " 'density': 300, 'position': [" X ", 0.0002, 0.2502], 'euler_degrees': [0, 0, 0.2],"          \
    " 'velocity': [0, 0, -0.03], 'friction': 0.4, 'lock': ['rx', 'ry']}"

// Six boxes thrown at each other at 60 m/s, all to all within a long step: it goes in legs. No
// two masses are the same: the compliance of two bodies is that of the heavier one, a kink there.
#define GRAD_SCENES_CROWD                                                                          \
    "{'name': 'b0', 'mesh': {'box': {'size': [0.3, 0.24, 0.2]}}, 'density': 300, "                 \
    "'friction': 0.3, 'position': [0.9, 0, 0], 'euler_degrees': [7, 20, 30], "                     \
    "'velocity': [-63, -2, -3], 'angular_velocity': [1, 2, -1]}, {'name': 'b1', "                  \
    "'mesh': {'box': {'size': [0.3, 0.24, 0.2]}}, 'density': 320, 'friction': 0.3, "               \
    "'position': [0.45, 0.779, 0.1], 'euler_degrees': [17, 15, 41], 'velocity': "                  \
    "[-24, -49.962, 1], 'angular_velocity': [2, 1, 0]}, {'name': 'b2', 'mesh': "                   \
    "{'box': {'size': [0.3, 0.24, 0.2]}}, 'density': 340, 'friction': 0.3, "                       \
    "'position': [-0.45, 0.779, 0.2], 'euler_degrees': [27, 10, 52], 'velocity': "                 \
    "[33, -51.962, -2], 'angular_velocity': [1, 0, 1]}, {'name': 'b3', 'mesh': "                   \
    "{'box': {'size': [0.3, 0.24, 0.2]}}, 'density': 360, 'friction': 0.3, "                       \
    "'position': [-0.9, 0, 0.05], 'euler_degrees': [37, 5, 63], 'velocity': [60, "                 \
    "-2, 2], 'angular_velocity': [2, 2, 2]}, {'name': 'b4', 'mesh': {'box': "                      \
    "{'size': [0.3, 0.24, 0.2]}}, 'density': 380, 'friction': 0.3, 'position': "                   \
    "[-0.45, -0.779, 0.15], 'euler_degrees': [47, 0, 74], 'velocity': [27, 53.962, "               \
    "-1], 'angular_velocity': [1, 1, -1]}, {'name': 'b5', 'mesh': {'box': {'size': "               \
    "[0.3, 0.24, 0.2]}}, 'density': 400, 'friction': 0.3, 'position': [0.45, "                     \
    "-0.779, 0], 'euler_degrees': [57, -5, 85], 'velocity': [-24, 51.962, 3], "                    \
    "'angular_velocity': [2, 0, 0]}"

// A disc that spins by two radians a step on a lighter box and is pressed: contacts that are soft
// give way as in a whole step where it goes in parts.
#define GRAD_SCENES_WHIRL                                                                          \
    "{'name': 'low', 'thickness': 0.002, 'mass': 0.5, 'friction': 0.1, 'force': [60, 5, 0],"       \
    " 'mesh': {'box': {'size': [0.4, 0.3, 0.1]}}, 'position': [0.01, 0, 0.0512]},"                 \
    "{'name': 'disc', 'thickness': 0.002, 'mass': 2, 'friction': 0.1,"                             \
    " 'mesh': {'cylinder': {'radius': 0.1, 'height': 0.04, 'segments': 7}},"                       \
    " 'position': [0.02, 0.01, 0.1241], 'velocity': [0.2, 0.1, 0],"                                \
    " 'angular_velocity': [0, 0, 200], 'force': [10, 4, -100]}"
