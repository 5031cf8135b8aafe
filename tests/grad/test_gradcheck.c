// Gradients of small scenes against differences, for every kind of parameter and contact.
#include "grad_kit.h"

// Relative to the largest entry of each parameter's gradient.
static const double tolerance = 1e-6;

typedef struct scene {
    const char* name;
    const char* text;
    int64_t steps;
    double step; // of the differences, relative; 0: the usual one
} scene;

#define WORLD "'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4},"
#define SMOOTH "'carom': 1, 'world': {'dt': 0.01, 'friction': 0},"
#define GROUND                                                                                     \
    "{'name': 'ground', 'type': 'fixed',"                                                          \
    " 'mesh': {'sheet': {'width': 8, 'height': 6, 'nx': 1, 'ny': 1}}}"

static const scene scenes[] = {
    {"free flight of a box",
     "{" SMOOTH "'bodies': [{'name': 'box', 'mesh': {'box': {'size': [0.4, 0.2, 0.1]}},"
     " 'velocity': [1, 2, 3], 'angular_velocity': [1, -2, 3], 'euler_degrees': [20, 30, 40],"
     " 'force': [0.5, 0.3, -0.2], 'torque': [0.01, 0.02, -0.03]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'point': [0.2, 0.1, 0.05],"
     " 'target': [1, 1, 1]}, {'what': 'rotation', 'of': 'box', 'weight': 0.5},"
     " {'what': 'velocity', 'of': 'box', 'at': [0.05, 0.1]},"
     " {'what': 'angular_velocity', 'of': 'box', 'at': 'always'}]},"
     "'parameters': [{'of': 'box', 'what': 'position'}, {'of': 'box', 'what': 'rotation'},"
     " {'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'},"
     " {'of': 'box', 'what': 'mass'}, {'of': 'box', 'what': 'density'},"
     " {'of': 'box', 'what': 'inertia'}, {'of': 'box', 'what': 'force'},"
     " {'of': 'box', 'what': 'torque'}, {'of': 'box', 'what': 'forces'},"
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
    {"box resting, pushed sideways and pressed",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003], 'force': [3, 2, -20]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"
     " {'what': 'contact_force', 'of': 'box', 'weight': 1e-4}]},"
     "'parameters': [{'of': 'box', 'what': 'force'}, {'of': 'box', 'what': 'mass'},"
     " {'of': 'box', 'what': 'friction'}, {'of': 'ground', 'what': 'friction'},"
     " {'of': 'box', 'what': 'forces'}, {'what': 'gravity'},"
     " {'of': 'box', 'what': 'velocity'}]}",
     20, 0},
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
    {"block on a fixed incline, sliding",
     "{" WORLD "'bodies': [{'name': 'ground', 'type': 'fixed', 'euler_degrees': [0, 30, 0],"
     " 'mesh': {'sheet': {'width': 8, 'height': 6, 'nx': 1, 'ny': 1}}},"
     " {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0.05015, 0, 0.08687], 'euler_degrees': [0, 30, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]}]},"
     "'parameters': [{'of': 'box', 'what': 'friction'}, {'of': 'box', 'what': 'force'},"
     " {'what': 'gravity'}]}",
     20, 0},
    {"kinematic pusher",
     "{" WORLD "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}},"
     " 'position': [0, 0, 0.1003]},"
     " {'name': 'pusher', 'type': 'kinematic', 'mesh': {'box': {'size': [0.1, 0.2, 0.1]}},"
     " 'position': [-0.25025, 0.01, 0.1], 'script': {'smooth': true, 'keys': [{'time': 0},"
     " {'time': 0.1, 'shift': [0.02, 0, 0.005]}, {'time': 0.3, 'shift': [0.1, 0, 0],"
     " 'turn': [0, 0, 0.1]}]}}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0.1, 0]},"
     " {'what': 'rotation', 'of': 'box'}, {'what': 'position', 'of': 'pusher'}]},"
     "'parameters': [{'of': 'pusher', 'what': 'script'}, {'of': 'box', 'what': 'mass'},"
     " {'of': 'box', 'what': 'friction'}]}",
     25, 0},
    {"hanging cloth",
     "{" SMOOTH "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.5,"
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
    {"each modulus and the rest shape of a hanging cloth",
     "{" SMOOTH "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.5,"
     " 'height': 0.5, 'nx': 3, 'ny': 3, 'jitter': 0.2}}, 'density': 0.2, 'c11': 50, 'c22': 40,"
     " 'c12': 10, 'c33': 15, 'bend': 1e-3, 'pins': [{'nodes': [0], 'script': {'keys':"
     " [{'time': 0}, {'time': 0.2, 'shift': [0.02, 0.01, 0.05]}]}}, {'nodes': [3]}]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'node': 15,"
     " 'target': [0, 0, -0.3]}]},"
     "'parameters': [{'of': 'sheet', 'what': 'c11'}, {'of': 'sheet', 'what': 'c22'},"
     " {'of': 'sheet', 'what': 'c12'}, {'of': 'sheet', 'what': 'c33'},"
     " {'of': 'sheet', 'what': 'rest'}, {'of': 'sheet', 'what': 'script'}]}",
     15, 0},
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
};

static void check_scene(const scene* s)
{
    grad_kit kit;
    if (!grad_kit_open(&kit, s->text, s->steps, 0)) {
        printf("%s: not opened\n", s->name);
        grad_kit_close(&kit);
        return;
    }
    cr_gradcheck_group group[32];
    cr_gradcheck_report report;
    cr_gradcheck_options options = cr_gradcheck_default();
    options.most = 9;
    options.step = s->step > 0.0 ? s->step : options.step;
    carom_error error = {0};
    const carom_status status =
        cr_problem_check(&kit.problem, kit.theta, &options, kit.dtheta, group, &report, &error);
    if (status != CAROM_OK) {
        printf("%s\n", error.message);
    }
    CHECK(status == CAROM_OK);
    printf("%s: %.2g, slope %.2f, %lld switches, %d kinks, %d failed, %lld impacts\n", s->name,
           report.max_relative_error, report.taylor_slope, (long long)report.switches, report.kinks,
           report.failed, (long long)kit.problem.impacts);
    for (int32_t i = 0; i < cr_parameters_count(kit.problem.parameters) && status == CAROM_OK;
         i++) {
        const cr_parameters_slot* slot = cr_parameters_slot_at(kit.problem.parameters, i);
        const cr_gradcheck_group* g = &group[i];
        if (!(g->max_relative_error <= tolerance) || g->kinks + g->failed > 0) {
            printf("    %s %d: error %.3g noise %.2g kinks %d failed %d: [%d] %.15g against %.15g\n",
                   cr_goal_parameter_name(slot->what), slot->body, g->max_relative_error, g->noise,
                   g->kinks, g->failed, g->worst - g->first, g->worst_exact, g->worst_difference);
        }
        CHECK(g->max_relative_error <= tolerance);
        CHECK(g->kinks < g->checked); // something was seen
        CHECK(g->failed == 0);
    }
    grad_kit_close(&kit);
}

int main(int argc, char** argv)
{
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (argc < 2 || strstr(scenes[i].name, argv[1])) {
            check_scene(&scenes[i]);
        }
    }
    return check_failures != 0;
}
