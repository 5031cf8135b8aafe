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
};

int main(int argc, char** argv)
{
    return grad_kit_main(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
