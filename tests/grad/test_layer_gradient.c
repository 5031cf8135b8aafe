// Gradients through contacts with a layer, against differences: sliding, rolling, resting, landing,
// sheets with bodies.
#include "grad_kit.h"

static const grad_kit_scene scenes[] = {
    {"box that slides and stops",
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4, 'contact': "
     "'barrier'}, 'bodies': [{'name': 'floor', 'type': 'fixed', 'mesh': {'box': {'size': [6, 6, "
     "0.2]}}, 'position': [0, 0, -0.1]}, {'name': 'box', 'mesh': {'box': {'size': [0.2, 0.16, "
     "0.12]}}, 'density': 500, 'position': [0, 0, 0.0608], 'velocity': [0.9, 0.2, 0], "
     "'angular_velocity': [0, 0, 1]}], 'objective': {'terms': [{'what': 'position', 'of': 'box', "
     "'target': [0.1, 0.05, 0.2]}, {'what': 'velocity', 'of': 'box', 'target': [0.1, 0, 0.2], "
     "'weight': 0.1}]}, 'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': "
     "'friction'}, {'of': 'box', 'what': 'mass'}, {'of': 'box', 'what': 'angular_velocity'}, "
     "{'of': 'box', 'what': 'contact_width'}, {'of': 'box', 'what': 'contact_stiffness'}, {'of': "
     "'box', 'what': 'thickness'}, {'what': 'gravity'}]}",
     30, 0},
    {"ball that slides, then rolls",
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4, 'contact': "
     "'barrier'}, 'bodies': [{'name': 'floor', 'type': 'fixed', 'mesh': {'box': {'size': [6, 6, "
     "0.2]}}, 'position': [0, 0, -0.1]}, {'name': 'ball', 'sphere': {'radius': 0.1}, 'position': "
     "[0, 0, 0.1005], 'velocity': [1, 0.2, 0], 'angular_velocity': [2, 0, 1]}], 'objective': "
     "{'terms': [{'what': 'position', 'of': 'ball', 'target': [0.1, 0.05, 0.2]}, {'what': "
     "'velocity', 'of': 'ball', 'target': [0.1, 0, 0.2], 'weight': 0.1}]}, 'parameters': [{'of': "
     "'ball', 'what': 'velocity'}, {'of': 'ball', 'what': 'friction'}, {'of': 'ball', 'what': "
     "'thickness'}, {'of': 'ball', 'what': 'angular_velocity'}, {'of': 'ball', 'what': "
     "'contact_width'}, {'of': 'ball', 'what': 'contact_stiffness'}]}",
     30, 0},
    {"stack of three at rest, pulled sideways",
     "{'carom': 1, 'world': {'dt': 0.0166666666666666666, 'friction_speed': 0.01, 'friction': "
     "0.4, 'contact': 'barrier'}, 'bodies': [{'name': 'floor', 'type': 'fixed', 'mesh': {'box': "
     "{'size': [6, 6, 0.2]}}, 'position': [0, 0, -0.1]}, {'name': 'low', 'mesh': {'box': {'size': "
     "[0.1, 0.1, 0.1]}}, 'density': 500, 'position': [0, 0, 0.0506]}, {'name': 'middle', 'mesh': "
     "{'box': {'size': [0.1, 0.1, 0.1]}}, 'density': 500, 'position': [0.004, 0.003, 0.1515]}, "
     "{'name': 'high', 'mesh': {'box': {'size': [0.1, 0.1, 0.1]}}, 'density': 500, 'position': "
     "[-0.003, 0.005, 0.2524], 'force': [0.5, 0.2, 0]}], 'objective': {'terms': [{'what': "
     "'position', 'of': 'high', 'target': [0.1, 0.05, 0.2]}, {'what': 'velocity', 'of': 'high', "
     "'target': [0.1, 0, 0.2], 'weight': 0.1}, {'what': 'position', 'of': 'low', 'target': [0.1, "
     "0.05, 0.2]}, {'what': 'velocity', 'of': 'low', 'target': [0.1, 0, 0.2], 'weight': 0.1}]}, "
     "'parameters': [{'of': 'high', 'what': 'force'}, {'of': 'low', 'what': 'mass'}, {'of': "
     "'high', 'what': 'mass'}, {'of': 'low', 'what': 'contact_width'}, {'of': 'low', 'what': "
     "'contact_stiffness'}, {'of': 'low', 'what': 'thickness'}, {'of': 'middle', 'what': "
     "'contact_stiffness'}]}",
     30, 0},
    {"box that lands on an edge",
     "{'carom': 1, 'world': {'dt': 0.005, 'friction_speed': 0.01, 'friction': 0.4, 'contact': "
     "'barrier'}, 'bodies': [{'name': 'floor', 'type': 'fixed', 'mesh': {'box': {'size': [6, 6, "
     "0.2]}}, 'position': [0, 0, -0.1]}, {'name': 'box', 'mesh': {'box': {'size': [0.2, 0.16, "
     "0.12]}}, 'density': 500, 'position': [0, 0, 0.16], 'euler_degrees': [30, 20, 10], "
     "'velocity': [0.4, 0.1, -0.5], 'angular_velocity': [1, 0.5, 0.2]}], 'objective': {'terms': "
     "[{'what': 'position', 'of': 'box', 'target': [0.1, 0.05, 0.2]}, {'what': 'velocity', 'of': "
     "'box', 'target': [0.1, 0, 0.2], 'weight': 0.1}]}, 'parameters': [{'of': 'box', 'what': "
     "'velocity'}, {'of': 'box', 'what': 'rotation'}, {'of': 'box', 'what': 'mass'}, {'of': "
     "'box', 'what': 'friction'}, {'of': 'box', 'what': 'contact_width'}, {'of': 'box', 'what': "
     "'contact_stiffness'}, {'of': 'box', 'what': 'thickness'}]}",
     40, 0},
    {"ball on a sheet",
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4, 'contact': "
     "'barrier'}, 'bodies': [{'name': 'ball', 'sphere': {'radius': 0.08}, 'density': 200, "
     "'position': [0.03, 0.02, 0.1], 'velocity': [0.2, 0, -0.4]}, {'name': 'sheet', 'type': "
     "'cloth', 'mesh': {'sheet': {'width': 0.6, 'height': 0.6, 'nx': 6, 'ny': 6}}, 'density': "
     "0.3, 'pins': [{'nodes': 'border'}]}], 'objective': {'terms': [{'what': 'position', 'of': "
     "'ball', 'target': [0.1, 0.05, 0.2]}, {'what': 'velocity', 'of': 'ball', 'target': [0.1, 0, "
     "0.2], 'weight': 0.1}]}, 'parameters': [{'of': 'ball', 'what': 'velocity'}, {'of': 'ball', "
     "'what': 'mass'}, {'of': 'ball', 'what': 'friction'}, {'of': 'sheet', 'what': 'density'}, "
     "{'of': 'sheet', 'what': 'contact_width'}, {'of': 'sheet', 'what': 'contact_stiffness'}]}",
     25, 0},
    {"three boxes that fall on each other",
     "{'carom': 1, 'world': {'dt': 0.005, 'friction_speed': 0.01, 'friction': 0.4, 'contact': "
     "'barrier'}, 'bodies': [{'name': 'floor', 'type': 'fixed', 'mesh': {'box': {'size': [6, 6, "
     "0.2]}}, 'position': [0, 0, -0.1]}, {'name': 'low', 'mesh': {'box': {'size': [0.1, 0.08, "
     "0.06]}}, 'density': 500, 'position': [0, 0, 0.06], 'euler_degrees': [20, 10, 30]}, {'name': "
     "'middle', 'mesh': {'box': {'size': [0.07, 0.1, 0.05]}}, 'density': 500, 'position': [0.01, "
     "0.02, 0.16], 'euler_degrees': [50, 20, 70]}, {'name': 'high', 'mesh': {'box': {'size': "
     "[0.09, 0.06, 0.08]}}, 'density': 500, 'position': [-0.01, 0.01, 0.3], 'euler_degrees': [10, "
     "60, 20]}], 'objective': {'terms': [{'what': 'position', 'of': 'high', 'target': [0.1, 0.05, "
     "0.2]}, {'what': 'velocity', 'of': 'high', 'target': [0.1, 0, 0.2], 'weight': 0.1}, {'what': "
     "'position', 'of': 'low', 'target': [0.1, 0.05, 0.2]}, {'what': 'velocity', 'of': 'low', "
     "'target': [0.1, 0, 0.2], 'weight': 0.1}]}, 'parameters': [{'of': 'high', 'what': "
     "'velocity'}, {'of': 'low', 'what': 'mass'}, {'of': 'middle', 'what': 'rotation'}, {'of': "
     "'middle', 'what': 'friction'}, {'of': 'middle', 'what': 'contact_width'}, {'of': 'middle', "
     "'what': 'contact_stiffness'}, {'of': 'middle', 'what': 'thickness'}]}",
     60, 1e-4},
    {"bag with two bodies",
     "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4, 'contact': "
     "'barrier'}, 'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.1, 0.08, 0.06]}}, "
     "'density': 500, 'position': [0.02, 0, 0.06], 'euler_degrees': [20, 10, 30]}, {'name': "
     "'ball', 'sphere': {'radius': 0.05}, 'density': 300, 'position': [-0.1, 0.08, 0.11]}, "
     "{'name': 'bag', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.5, 'height': 0.5, 'nx': 6, "
     "'ny': 6}}, 'density': 0.3, 'pins': [{'nodes': 'corners'}]}], 'objective': {'terms': "
     "[{'what': 'position', 'of': 'box', 'target': [0.1, 0.05, 0.2]}, {'what': 'velocity', 'of': "
     "'box', 'target': [0.1, 0, 0.2], 'weight': 0.1}, {'what': 'position', 'of': 'ball', "
     "'target': [0.1, 0.05, 0.2]}, {'what': 'velocity', 'of': 'ball', 'target': [0.1, 0, 0.2], "
     "'weight': 0.1}]}, 'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'ball', 'what': "
     "'mass'}, {'of': 'bag', 'what': 'stretch'}, {'of': 'bag', 'what': 'friction'}, {'of': 'box', "
     "'what': 'contact_stiffness'}]}",
     25, 1e-5},
};

int main(int argc, char** argv)
{
    return grad_kit_main(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
