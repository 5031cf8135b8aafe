// Gradients through the linearised cloth step with projection against differences.
#include "grad_kit.h"
#include "grad_scenes.h"

#define WORLD                                                                                      \
    "'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4,"                   \
    " 'cloth_solver': 'paper'},"

static const grad_kit_scene scenes[] = {
    {"hanging cloth", GRAD_SCENES_HANGING(WORLD), 15, 0},
    {"each modulus, the rest shape and scripted pins", GRAD_SCENES_MODULI(WORLD), 15, 0},
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
