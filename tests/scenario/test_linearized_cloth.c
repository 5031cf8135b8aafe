// The linearised step of sheets: its shape at rest is that of the converged one, with a load and
// without, for every step length; and contact never passes through. What it does not have is the
// energy bound, so energies are not watched here.
#include "scenario/scene_kit.h"

static const double g = 9.81;

static void settle(kit* k, double kinetic, double seconds)
{
    while (!k->failed && carom_sim_time(k->sim) < seconds && kit_step(k)) {
        if (carom_sim_steps(k->sim) > 20 && carom_sim_energy(k->sim).kinetic < kinetic) {
            return;
        }
    }
}

// A strip that hangs by its upper edge.
static void test_the_statics_of_a_strip(void)
{
    const double steps[] = {0.05, 0.01};
    for (int i = 0; i < 2; i++) {
        kit* two[2];
        for (int linear = 0; linear < 2; linear++) {
            two[linear] = kit_open(
                "{'carom': 1, 'world': {'dt': %g, 'contact': 'barrier', 'elasticity': '%s'}, "
                "'bodies': [{'name': "
                "'strip', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.1, 'height': 1, 'nx': 2, "
                "'ny': 20}}, 'rotation': [1.5707963267948966, 0, 0], 'stretch': 50, 'poisson': 0, "
                "'density': 0.2, 'damping': 0.1, 'pins': [{'nodes': {'box': [[-1, -0.01, 0.499], "
                "[1, 0.01, 0.501]]}}]}]}",
                steps[i], linear ? "linearized" : "converged");
            two[linear]->driven = linear;
            settle(two[linear], 1e-24, 30.0);
            CHECK(!two[linear]->failed);
        }
        double low = HUGE_VAL;
        carom_sim_vertices(two[1]->sim, two[1]->x);
        for (int32_t v = 0; v < two[1]->vertex_count; v++) {
            low = fmin(low, two[1]->x[3 * v + 2]);
        }
        CHECK_NEAR(-0.5 - low, 0.01890497, 0.01 * 0.01890497);
        CHECK_NEAR(kit_differ(two[0], two[1]), 0, 1e-9);
        printf("  h %g: longer by %.7g m, %.2g m from the converged step's shape\n", steps[i],
               -0.5 - low, kit_differ(two[0], two[1]));
        kit_close(two[0]);
        kit_close(two[1]);
    }
}

// A ball on a pinned sheet. At rest the model is taken where it is used, and the forces are exact:
// what differs is what is left of the motion.
static void test_a_ball_comes_to_rest_on_a_sheet(void)
{
    const double rates[] = {100, 200, 400};
    for (int i = 0; i < 3; i++) {
        kit* two[2];
        for (int linear = 0; linear < 2; linear++) {
            two[linear] = kit_open(
                "{'carom': 1, 'world': {'dt': %.17g, 'friction': 0, 'contact': 'barrier', "
                "'elasticity': '%s'}, "
                "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 1, "
                "'height': 1, 'nx': 6, 'ny': 6}}, 'stretch': 100, 'density': 0.374, 'damping': "
                "0.03, 'bend': 1e-4, 'drag_normal': 20, 'drag_tangent': 20, 'pins': [{'nodes': "
                "'border'}]}, {'name': 'it', 'sphere': {'radius': 0.2}, 'mass': 0.1, 'position': "
                "[0, 0, 0.201]}]}",
                1 / rates[i], linear ? "linearized" : "converged");
            two[linear]->driven = linear;
            settle(two[linear], 1e-20, 12.0);
            CHECK(!two[linear]->failed);
            const cr_vec3 push = kit_impulse(two[linear], "it", "sheet");
            CHECK_NEAR(push.z * rates[i], 0.1 * g, 1e-4 * 0.1 * g);
        }
        const carom_body_state a = kit_body(two[0], "it"), b = kit_body(two[1], "it");
        const double off = kit_apart(&a, &b);
        CHECK_NEAR(off, 0, 1e-8);
        printf("  h 1/%g: %.3g m from the converged step's place at %.4g m, %g s\n", rates[i], off,
               a.position[2], carom_sim_time(two[1]->sim));
        kit_close(two[0]);
        kit_close(two[1]);
    }
}

// Whatever else it does, nothing passes. The judge looks at every step.
static void test_contact_never_passes(void)
{
    const struct {
        int cells;
        double mass, drop, rate, seconds;
        int box;
    } runs[] = {{2, 0.05, 0.3, 60, 0.8, 0},
                {4, 0.5, 1.0, 60, 0.7, 1},
                {8, 5, 0.3, 200, 0.4, 0},
                {8, 0.5, 0.1, 24, 0.8, 0},
                {16, 5, 0.05, 200, 0.15, 0}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': %.17g, 'friction': 0.3, 'contact': 'barrier', "
            "'elasticity': 'linearized'}, "
            "'bodies': [{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 1, "
            "'height': 1, 'nx': %d, 'ny': %d}}, 'stretch': 1000, 'density': 0.374, 'bend': 1e-4, "
            "'pins': [{'nodes': 'border'}]}, {'name': 'it', %s, 'mass': %.17g, 'position': [0, 0, "
            "%.17g]}]}",
            1 / runs[i].rate, runs[i].cells, runs[i].cells,
            runs[i].box ? "'mesh': {'box': {'x': 0.3, 'y': 0.24, 'z': 0.2}}, 'rotation': [0.3, "
                          "0.4, 0.2]"
                        : "'sphere': {'radius': 0.2}",
            runs[i].mass, 0.21 + runs[i].drop);
        k->driven = 1;
        k->judge_every = 1;
        kit_run(k, runs[i].seconds);
        CHECK(!k->failed);
        printf("  %2dx%-2d nodes, %g kg %s from %g m, h 1/%g: z %.3g m, %lld iterations, at most "
               "%d parts\n",
               runs[i].cells + 1, runs[i].cells + 1, runs[i].mass, runs[i].box ? "box" : "ball",
               runs[i].drop, runs[i].rate, kit_body(k, "it").position[2], (long long)k->iterations,
               k->most_parts);
        kit_close(k);
    }
}

int main(void)
{
    RUN(test_the_statics_of_a_strip);
    RUN(test_a_ball_comes_to_rest_on_a_sheet);
    RUN(test_contact_never_passes);
    return check_failures != 0;
}
