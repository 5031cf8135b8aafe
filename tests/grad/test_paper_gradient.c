// Gradients through the linearised cloth step with projection against differences.
#include "grad_kit.h"

#define WORLD                                                                                      \
    "'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4,"                   \
    " 'cloth_solver': 'paper'},"

static const grad_kit_scene scenes[] = {
    {"hanging cloth",
     "{" WORLD "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.5,"
     " 'height': 0.5, 'nx': 3, 'ny': 3}}, 'density': 0.2, 'stretch': 50, 'poisson': 0.25,"
     " 'bend': 1e-4, 'damping': 0.01, 'bend_damping': 0.01, 'drag_normal': 0.5,"
     " 'drag_tangent': 0.1, 'velocity': [0.1, 0, 0.2], 'pins': [{'nodes': [0, 3]}]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'node': 15,"
     " 'target': [0, 0, -0.3]}, {'what': 'velocity', 'of': 'sheet', 'at': 'always'},"
     " {'what': 'energy', 'of': 'sheet', 'at': [0.05]}, {'what': 'momentum', 'of': 'sheet'}]},"
     "'parameters': [{'of': 'sheet', 'what': 'position'}, {'of': 'sheet', 'what': 'velocity'},"
     " {'of': 'sheet', 'what': 'density'}, {'of': 'sheet', 'what': 'stretch'},"
     " {'of': 'sheet', 'what': 'poisson'}, {'of': 'sheet', 'what': 'bend'},"
     " {'of': 'sheet', 'what': 'damping'}, {'of': 'sheet', 'what': 'bend_damping'},"
     " {'of': 'sheet', 'what': 'drag_normal'}, {'of': 'sheet', 'what': 'drag_tangent'},"
     " {'of': 'sheet', 'what': 'vertices'}, {'of': 'sheet', 'what': 'pins'},"
     " {'of': 'sheet', 'what': 'force'}, {'of': 'sheet', 'what': 'forces'},"
     " {'what': 'gravity'}, {'what': 'wind'}]}",
     15, 0},
    {"each modulus, the rest shape and scripted pins",
     "{" WORLD "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.5,"
     " 'height': 0.5, 'nx': 3, 'ny': 3, 'jitter': 0.2}}, 'density': 0.2, 'c11': 50, 'c22': 40,"
     " 'c12': 10, 'c33': 15, 'bend': 1e-3, 'damping': 0.02, 'pins': [{'nodes': [0], 'script':"
     " {'keys': [{'time': 0}, {'time': 0.2, 'shift': [0.02, 0.01, 0.05]}]}}, {'nodes': [3]}]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'node': 15,"
     " 'target': [0, 0, -0.3]}]},"
     "'parameters': [{'of': 'sheet', 'what': 'c11'}, {'of': 'sheet', 'what': 'c22'},"
     " {'of': 'sheet', 'what': 'c12'}, {'of': 'sheet', 'what': 'c33'},"
     " {'of': 'sheet', 'what': 'rest'}, {'of': 'sheet', 'what': 'script'},"
     " {'of': 'sheet', 'what': 'pins'}]}",
     15, 0},
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
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (argc < 2 || strstr(scenes[i].name, argv[1])) {
            grad_kit_check(&scenes[i]);
        }
    }
    return check_failures != 0;
}
