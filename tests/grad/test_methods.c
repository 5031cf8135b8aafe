// The ways to solve a step backward: the sparse one and the dense ones agree wherever contacts are,
// redundant ones too; and what a gradient loses without the curvature of contacts.
#include "grad_kit.h"
#include "math/lapack.h"

// Relative to the largest entry of each parameter's gradient.
static const double agreement = 1e-10;

#define GROUND                                                                                     \
    "{'name': 'ground', 'type': 'fixed',"                                                          \
    " 'mesh': {'sheet': {'width': 8, 'height': 6, 'nx': 1, 'ny': 1}}}"
#define BOX(name, z, more)                                                                         \
    ", {'name': '" name "', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}}, 'position': [0, 0, " z     \
    "]" more "}"

#define BRICK(name, x, z)                                                                          \
    ", {'name': '" name "', 'mesh': {'box': {'size': [0.1, 0.1, 0.1]}}, 'position': [" x ", 0, " z \
    "]}"

// The world lacks its end: what a test says of it comes there.
typedef struct scene {
    const char *name, *world, *rest;
    int64_t steps;
} scene;

static const char tumble[] =
    "'bodies': [" GROUND ", {'name': 'box', 'mesh': {'box': {'size': [1, 0.7, 0.5]}},"
    " 'euler_degrees': [20, 25, 10], 'position': [0, 0, 0.58], 'velocity': [0.3, 0, 0],"
    " 'angular_velocity': [0.5, 1, 0.3]}],"
    "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"
    " {'what': 'rotation', 'of': 'box'}]},"
    "'parameters': [{'of': 'box', 'what': 'velocity'}, {'of': 'box', 'what': 'angular_velocity'},"
    " {'of': 'box', 'what': 'inertia'}, {'of': 'box', 'what': 'rotation'}]}";

static const char smooth[] = "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0";
static const char rough[] =
    "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': 0.4";

static const scene scenes[] = {
    {"tumbling box", smooth, tumble, 40},
    {"tumbling box that rubs", rough, tumble, 30},
    {"stack of ten, pushed: redundant contacts", rough,
     "'bodies': [" GROUND BOX("a", "0.1003", ", 'force': [3, 2, -20]") BOX("b", "0.30065", "") BOX(
         "c", "0.501", "") BOX("d", "0.70135", "") BOX("e", "0.9017", "") BOX("f", "1.10205", "")
         BOX("g", "1.3024", "") BOX("h", "1.50275", "") BOX("i", "1.7031", "")
             BOX("j", "1.90345",
                 ", 'velocity': [0.2, 0.1, 0]") "],"
                                                "'objective': {'terms': [{'what': 'position', "
                                                "'of': 'j', 'target': [0.1, 0, 0]},"
                                                " {'what': 'angular_velocity', 'of': 'e'}]},"
                                                "'parameters': [{'of': 'a', 'what': 'force'}, "
                                                "{'of': 'c', 'what': 'mass'},"
                                                " {'of': 'j', 'what': 'velocity'}, {'what': "
                                                "'gravity'}, {'of': 'b', 'what': 'friction'}]}",
     8},
    {"smooth stack of ten, pressed", smooth,
     "'bodies': [" GROUND BOX("a", "0.1003", "") BOX("b", "0.30065", "") BOX("c", "0.501", "")
         BOX("d", "0.70135", "") BOX("e", "0.9017", "") BOX("f", "1.10205", "")
             BOX("g", "1.3024", "") BOX("h", "1.50275", "") BOX("i", "1.7031", "")
                 BOX("j", "1.90345",
                     ", 'force': [0, 0, -20], 'velocity': [0.2, 0.1, "
                     "0]") "],"
                           "'objective': {'terms': [{'what': "
                           "'position', 'of': 'j', 'target': [0.1, 0, "
                           "0]},"
                           " {'what': 'contact_force', 'of': 'c', "
                           "'weight': 1e-6}]},"
                           "'parameters': [{'of': 'j', 'what': "
                           "'force'}, {'of': 'c', 'what': 'mass'},"
                           " {'of': 'j', 'what': 'velocity'}, {'what': "
                           "'gravity'}]}",
     8},
    // A step falls farther than the layers are thick: edges balance on edges, at a saddle, where
    // every step makes what rounds 2.5 times as large.
    {"three bricks, edge upon edge",
     "{'carom': 1, 'world': {'dt': 0.04, 'friction': 0, 'thickness': 5e-4",
     "'bodies': [" GROUND BRICK("a", "0", "0.0511") BRICK("b", "0.11", "0.0511")
         BRICK("c", "0.055",
               "0.1522") "],"
                         "'objective': {'terms': [{'what': 'position', 'of': 'c', 'target': [0.1, "
                         "0.2, 0]},"
                         " {'what': 'energy'}]},"
                         "'parameters': [{'of': 'a', 'what': 'force'}, {'of': 'c', 'what': 'mass'},"
                         " {'of': 'c', 'what': 'velocity'}, {'what': 'gravity'}]}",
     15},
    {"sheet over a box", rough,
     "'bodies': [{'name': 'box', 'type': 'fixed', 'mesh': {'box': {'size': [0.3, 0.3, 0.2]}}},"
     " {'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6, 'height': 0.6, 'nx': 5,"
     " 'ny': 5}}, 'position': [0.02, 0.01, 0.11], 'stretch': 100, 'bend': 1e-3}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'sheet', 'target': [0.1, 0, 0]},"
     " {'what': 'energy'}]},"
     "'parameters': [{'of': 'sheet', 'what': 'stretch'}, {'of': 'sheet', 'what': 'bend'},"
     " {'of': 'sheet', 'what': 'density'}, {'what': 'gravity'},"
     " {'of': 'sheet', 'what': 'friction'}]}",
     20},
    {"held box on a sheet, pushed by a ball", rough,
     "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6, 'height': 0.6,"
     " 'nx': 5, 'ny': 5}}, 'stretch': 300, 'pins': [{'nodes': 'border'}]},"
     " {'name': 'box', 'mesh': {'box': {'size': [0.2, 0.2, 0.1]}}, 'mass': 0.2, 'euler_degrees':"
     " [3, 2, 20], 'position': [0.02, 0.01, 0.065], 'lock': ['y', 'rx']},"
     " {'name': 'ball', 'sphere': {'radius': 0.05}, 'mass': 0.1, 'position': [0.21, 0.02, 0.07],"
     " 'velocity': [-0.5, 0, 0]}],"
     "'objective': {'terms': [{'what': 'position', 'of': 'box', 'target': [0.1, 0, 0]},"
     " {'what': 'rotation', 'of': 'box'}]},"
     "'parameters': [{'of': 'sheet', 'what': 'stretch'}, {'of': 'box', 'what': 'mass'},"
     " {'of': 'box', 'what': 'rotation'}, {'of': 'ball', 'what': 'velocity'},"
     " {'of': 'ball', 'what': 'friction'}]}",
     20},
};

static int open_scene(grad_kit* kit, const scene* s, const char* world)
{
    char text[8000];
    snprintf(text, sizeof text, "%s, %s}, %s", s->world, world, s->rest);
    return grad_kit_open(kit, text, s->steps, 0);
}

// How far two gradients are apart, relative to the largest entry of each parameter.
static double apart(const grad_kit* a, const grad_kit* b)
{
    double worst = 0.0;
    for (int32_t i = 0; i < cr_parameters_count(a->problem.parameters); i++) {
        const cr_parameters_slot* slot = cr_parameters_slot_at(a->problem.parameters, i);
        double size = 0.0, off = 0.0;
        for (int32_t k = slot->first; k < slot->first + slot->count; k++) {
            size = fmax(size, fabs(a->dtheta[k]));
            off = fmax(off, fabs(b->dtheta[k] - a->dtheta[k]));
        }
        CHECK(size > 0.0);
        worst = fmax(worst, off / size);
    }
    return worst;
}

// The same of the first numbers as one vector, by its length.
static double apart_of_first(const grad_kit* a, const grad_kit* b, int32_t count)
{
    double size = 0.0, off = 0.0;
    for (int32_t k = 0; k < count; k++) {
        size = hypot(size, a->dtheta[k]);
        off = hypot(off, b->dtheta[k] - a->dtheta[k]);
    }
    return off / size;
}

#define METHOD(name) "'contact': 'barrier', 'zone_gradient': '" name "'"

static void test_dense_ones_agree(void)
{
    static const char* const methods[] = {METHOD("dense-qr"), METHOD("dense-kkt")};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        grad_kit ours = {0};
        double off[2] = {1, 1};
        const int there = open_scene(&ours, &scenes[i], METHOD("sparse"));
        if (there) {
            grad_kit_run(&ours);
        }
        for (int m = 0; m < 2 && there; m++) {
            grad_kit other = {0};
            if (open_scene(&other, &scenes[i], methods[m])) {
                grad_kit_run(&other);
                off[m] = apart(&ours, &other);
            }
            CHECK(off[m] < agreement);
            grad_kit_close(&other);
        }
        printf("  %-42s dense-qr %.1e, dense-kkt %.1e\n", scenes[i].name, off[0], off[1]);
        grad_kit_close(&ours);
    }
}

static void measure_curvature(grad_kit* ours, grad_kit* flat, const char* dt, long long steps)
{
    cr_gradcheck_group group[8];
    cr_gradcheck_report report;
    carom_error error = {0};
    cr_gradcheck_options options = cr_gradcheck_default();
    options.step = 1e-3;
    CHECK(cr_problem_check(&ours->problem, ours->theta, &options, ours->dtheta, group, &report,
                           &error) == CAROM_OK);
    grad_kit_run(flat);
    const double off = apart_of_first(ours, flat, 6); // velocity and spin
    printf("  dt %-8.6s %3lld steps: ours %.1e, without curvature %.1f %%\n", dt, steps,
           report.max_relative_error, 100 * off);
    CHECK(report.max_relative_error < 3e-9);
    CHECK(off > 0.13 && off < 0.22);
}

// Against differences of whole runs, ours is at the differences' own noise. Without the curvature
// the gradient is off by a good tenth over a few dozen steps of contact, and smaller steps do not
// mend it.
static void test_curvature_matters(void)
{
    static const struct {
        const char* dt;
        int64_t steps;
    } runs[] = {{"0.0166666666666666667", 24}, {"0.01", 40}, {"0.005", 80}, {"0.005", 100}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char world[100];
        snprintf(world, sizeof world, "{'carom': 1, 'world': {'dt': %s, 'friction': 0", runs[i].dt);
        const scene s = {"", world, tumble, runs[i].steps};
        grad_kit ours = {0}, flat = {0};
        const int there = open_scene(&ours, &s, "'curvature': 'on'") &&
                          open_scene(&flat, &s, "'curvature': 'off'");
        if (there) {
            measure_curvature(&ours, &flat, runs[i].dt, (long long)runs[i].steps);
        }
        grad_kit_close(&ours);
        grad_kit_close(&flat);
    }
}

int main(void)
{
    cr_lapack* lapack = NULL;
    if (cr_lapack_open(&lapack) == CAROM_OK) {
        RUN(test_dense_ones_agree);
    } else {
        printf("no LAPACK here: the dense methods are not tested\n");
    }
    cr_lapack_close(lapack);
    RUN(test_curvature_matters);
    return check_failures != 0;
}
