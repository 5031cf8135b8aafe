// Gradients through steps whose sheets resist as their quadratic model, against differences.
#include "grad_kit.h"
#include "grad_scenes.h"

#define WORLD                                                                                      \
    "'carom': 1, 'world': {'dt': 0.016, 'friction_speed': 0.01, 'friction': 0.4,"                  \
    " 'contact': 'barrier', 'elasticity': 'linearized'},"

// Differences are short: a larger change lets other features touch, or compression begin.
static const grad_kit_scene scenes[] = {
    {"hanging cloth", GRAD_SCENES_HANGING(WORLD), 15, 1e-4},
    {"each modulus, the rest shape and scripted pins", GRAD_SCENES_MODULI(WORLD), 15, 1e-4},
    {"drape of 8 by 8 over a ball",
     "{" WORLD "'bodies': [{'name': 'ball', 'type': 'fixed', 'sphere': {'radius': 0.35}},"
     " {'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 1.2, 'height': 1.2, 'nx': 7,"
     " 'ny': 7}}, 'position': [0.05, 0.03, 0.37], 'velocity': [0.5, 0, -1], 'c11': 150,"
     " 'c22': 120, 'c12': 30, 'c33': 50, 'bend': 1e-3, 'damping': 0.01, 'bend_damping': 0.02}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'target': [0.1, 0.2, 0.3]},"
     " {'what': 'velocity', 'of': 'sheet', 'target': [0.1, 0, 0.2], 'weight': 0.1}]},"
     "'parameters': [{'of': 'sheet', 'what': 'velocity'}, {'of': 'sheet', 'what': 'density'},"
     " {'of': 'sheet', 'what': 'c11'}, {'of': 'sheet', 'what': 'c22'},"
     " {'of': 'sheet', 'what': 'c12'}, {'of': 'sheet', 'what': 'c33'},"
     " {'of': 'sheet', 'what': 'bend'}, {'of': 'sheet', 'what': 'damping'},"
     " {'of': 'sheet', 'what': 'bend_damping'}, {'of': 'sheet', 'what': 'vertices'},"
     " {'of': 'sheet', 'what': 'rest'}, {'of': 'sheet', 'what': 'friction'},"
     " {'of': 'ball', 'what': 'position'}, {'what': 'gravity'}]}",
     20, 1e-5},
    {"ball on cloth",
     "{" WORLD "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6,"
     " 'height': 0.6, 'nx': 4, 'ny': 4}}, 'density': 0.3, 'stretch': 300, 'bend': 1e-3,"
     " 'damping': 0.01, 'thickness': 0.002, 'pins': [{'nodes': 'border'}]},"
     " {'name': 'ball', 'sphere': {'radius': 0.1}, 'mass': 0.1, 'position': [0.03, 0.05, 0.1023],"
     " 'force': [0.2, 0, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'ball', 'target': [0.1, 0, 0]}]},"
     "'parameters': [{'of': 'ball', 'what': 'force'}, {'of': 'ball', 'what': 'mass'},"
     " {'of': 'ball', 'what': 'friction'}, {'of': 'sheet', 'what': 'stretch'},"
     " {'of': 'sheet', 'what': 'density'}, {'of': 'ball', 'what': 'position'},"
     " {'of': 'sheet', 'what': 'thickness'}, {'of': 'sheet', 'what': 'rest'},"
     " {'of': 'sheet', 'what': 'vertices'}]}",
     12, 0},
    {"cloth over a box",
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
};

int main(int argc, char** argv)
{
    return grad_kit_main(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
