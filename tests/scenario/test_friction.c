// Coulomb friction: what sticks sticks, what slides slides as the books say.
#include "scenario/scene_kit.h"

static const double g = 9.81;

// A box on a fixed incline of angle theta about y; the x axis points downhill.
static kit* incline(const char* shape, double h, double theta, double mu, double along, double v,
                    double lift)
{
    // gravity is turned instead of the plane: normal -z, downhill +x; layers so thin that the box
    // is carried from the start
    return kit_open(
        "{'carom': 1, 'world': {'dt': %.17g, 'gravity': [%.17g, 0, %.17g], 'friction': %.17g, "
        "'friction_speed': 1e-4, 'contact_width': 1e-5}, 'bodies': [{'name': 'ground', 'type': "
        "'fixed', 'mesh': {'sheet': "
        "{'width': 40, 'height': 8, 'nx': 5, 'ny': 3}}}, {'name': 'it', %s, 'position': [%.17g, "
        "0.1, %.17g], 'velocity': [%.17g, 0, 0]}]}",
        h, g * sin(theta), -g * cos(theta), mu, shape, along, lift, v);
}

#define BOX "'mesh': {'box': {'x': 0.4, 'y': 0.3, 'z': 0.2}}, 'mass': 2"
static const double box_lift = 0.1 + 0.4 * 5e-4; // half its height and its layer

// At or above tan theta the box stays: it creeps by no more than the stated speed.
static void test_it_sticks(void)
{
    const double mus[] = {0.1, 0.5, 1.0, 1.5}, rates[] = {1000, 60};
    const double shares[] = {1.0, 0.999, 0.9, 0.5};
    for (int m = 0; m < 4; m++) {
        for (int r = 0; r < 2; r++) {
            for (int s = 0; s < 4; s++) {
                const double theta = atan(shares[s] * mus[m]);
                kit* k = incline(BOX, 1 / rates[r], theta, mus[m], 0, 0, box_lift);
                kit_run(k, 0.1);
                const carom_body_state a = kit_body(k, "it");
                kit_run(k, 1.1);
                const carom_body_state b = kit_body(k, "it");
                CHECK(!k->failed);
                CHECK(kit_apart(&a, &b) <= 1e-4 * 1.0);
                if (r == 0) {
                    printf("  mu %g, tan theta %g of it: creeps %.3g m/s\n", mus[m], shares[s],
                           kit_apart(&a, &b));
                }
                kit_close(k);
            }
        }
    }
}

// Below it, a = g (sin theta - mu cos theta) to 1e-3.
static void test_it_slides(void)
{
    const double mus[] = {0.0, 0.1, 0.3, 0.5, 1.0}, angles[] = {0.2, 0.6, 1.0};
    double worst = 0.0;
    for (int m = 0; m < 5; m++) {
        for (int a = 0; a < 3; a++) {
            const double exact = g * (sin(angles[a]) - mus[m] * cos(angles[a]));
            // steep and rough, the box of 0.4 x 0.2 m tips over its front edge: mu > 2
            if (exact < 0.1) {
                continue;
            }
            kit* k = incline(BOX, 0.001, angles[a], mus[m], -5, 0, box_lift);
            kit_run(k, 0.1);
            const double v0 = kit_body(k, "it").velocity[0];
            kit_run(k, 0.6);
            const double found = (kit_body(k, "it").velocity[0] - v0) / 0.5;
            CHECK(!k->failed);
            CHECK_NEAR(found, exact, 1e-3 * exact);
            worst = fmax(worst, fabs(found / exact - 1));
            kit_close(k);
        }
    }
    printf("  acceleration off by at most %.2g\n", worst);
}

// Thrown along flat ground: stops after v^2/(2 mu g) and stays there.
static void test_it_stops(void)
{
    const double mus[] = {0.2, 0.5};
    for (int m = 0; m < 2; m++) {
        const double v = 2.0, way = v * v / (2 * mus[m] * g);
        kit* k = incline(BOX, 0.001, 0.0, mus[m], 0, v, box_lift);
        kit_run(k, v / (mus[m] * g) + 0.1);
        const carom_body_state a = kit_body(k, "it");
        kit_run(k, v / (mus[m] * g) + 1.1);
        const carom_body_state b = kit_body(k, "it");
        CHECK(!k->failed);
        // an implicit step loses its speed at its start: h v/2 less, and nothing else
        CHECK_NEAR(a.position[0], way - 0.5 * 0.001 * v, 1e-5 * way);
        CHECK_NEAR(kit_apart(&a, &b), 0, 1e-6);
        printf("  mu %g: stops after %.6g of v^2/2 mu g, then drifts %.2g m\n", mus[m],
               a.position[0] / way, kit_apart(&a, &b));
        kit_close(k);
    }
}

// The same with the incline free to move, a wedge on a smooth floor. With N between them and the
// wedge's acceleration A away from the box, M A = N (sin - mu cos), N = m (g cos - A sin), and the
// box goes down the wedge with a = g sin - mu N/m + A cos. Then with friction everywhere: all rest.
static void test_the_incline_moves(void)
{
    const double theta = 0.5, mu = 0.2, m = 1.0, wedge = 4.0;
    const double height = 0.6, base = height / tan(theta);
    // downhill is +x: top at x = 0, foot at x = base
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.001, 'friction': 0, 'friction_speed': 1e-4}, 'bodies': "
        "[{'name': 'floor', 'type': 'fixed', 'mesh': {'sheet': {'width': 30, 'height': 8, 'nx': 1, "
        "'ny': 1}}, 'position': [0.31, 0.17, 0]}, {'name': 'wedge', 'mass': %g, 'thickness': 1e-4, "
        "'mesh': {'vertices': "
        "[[0, -0.5, 0], [0, 0.5, 0], [%.17g, -0.5, 0], [%.17g, 0.5, 0], [0, -0.5, %.17g], [0, 0.5, "
        "%.17g]], 'faces': [[0, 1, 3], [0, 3, 2], [0, 4, 5], [0, 5, 1], [4, 2, 3], [4, 3, 5], [0, "
        "2, 4], [1, 5, 3]]}, 'position': [0, 0, 1e-4]}, {'name': 'it', 'mesh': {'box': {'x': 0.2, "
        "'y': 0.2, 'z': 0.1}}, 'mass': %g, 'thickness': 1e-4, 'rotation': [0, %.17g, 0], "
        "'position': [%.17g, 0.03, %.17g]}], 'pairs': [{'between': ['it', 'wedge'], 'friction': "
        "%g}]}",
        wedge, base, base, height, height, m, theta,
        0.2 * cos(theta) + (0.05 + 2.001e-4) * sin(theta),
        height + 1e-4 - 0.2 * sin(theta) + (0.05 + 2.001e-4) * cos(theta), mu);
    const double s = sin(theta), c = cos(theta);
    const double normal = m * g * c / (1 + m / wedge * s * (s - mu * c));
    const double wedge_a = normal * (s - mu * c) / wedge;
    const double along = g * s - mu * normal / m + wedge_a * c; // against the wedge
    kit_run(k, 0.05);
    const double v0 = kit_body(k, "it").velocity[0], w0 = kit_body(k, "wedge").velocity[0];
    kit_run(k, 0.25);
    const double box_a = (kit_body(k, "it").velocity[0] - v0) / 0.2;
    const double found = (kit_body(k, "wedge").velocity[0] - w0) / 0.2;
    CHECK(!k->failed);
    CHECK_NEAR(found, -wedge_a, 1e-3 * wedge_a);
    CHECK_NEAR(box_a, along * c - wedge_a, 1e-3 * along);
    printf("  wedge %.6g (exact %.6g), box %.6g (exact %.6g)\n", found, -wedge_a, box_a,
           along * c - wedge_a);
    kit_close(k);

    // above the limit angle the box stays on the free wedge, and the wedge on its floor
    k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.001, 'friction': 0.7, 'friction_speed': 1e-4}, 'bodies': "
        "[{'name': 'floor', 'type': 'fixed', 'mesh': {'sheet': {'width': 30, 'height': 8, 'nx': 1, "
        "'ny': 1}}, 'position': [0.31, 0.17, 0]}, {'name': 'wedge', 'mass': %g, 'thickness': 1e-4, "
        "'mesh': {'vertices': "
        "[[0, -0.5, 0], [0, 0.5, 0], [%.17g, -0.5, 0], [%.17g, 0.5, 0], [0, -0.5, %.17g], [0, 0.5, "
        "%.17g]], 'faces': [[0, 1, 3], [0, 3, 2], [0, 4, 5], [0, 5, 1], [4, 2, 3], [4, 3, 5], [0, "
        "2, 4], [1, 5, 3]]}, 'position': [0, 0, 1e-4]}, {'name': 'it', 'mesh': {'box': {'x': 0.2, "
        "'y': 0.2, 'z': 0.1}}, 'mass': %g, 'thickness': 1e-4, 'rotation': [0, %.17g, 0], "
        "'position': [%.17g, 0.03, %.17g]}]}",
        wedge, base, base, height, height, m, theta,
        0.2 * cos(theta) + (0.05 + 2.001e-4) * sin(theta),
        height + 1e-4 - 0.2 * sin(theta) + (0.05 + 2.001e-4) * cos(theta));
    kit_run(k, 0.1);
    const carom_body_state a = kit_body(k, "it"), w = kit_body(k, "wedge");
    kit_run(k, 1.1);
    const carom_body_state b = kit_body(k, "it"), x = kit_body(k, "wedge");
    CHECK(!k->failed);
    CHECK(kit_apart(&a, &b) <= 1e-4 && kit_apart(&w, &x) <= 1e-4);
    printf("  at rest on it: creeps %.3g and %.3g m/s\n", kit_apart(&a, &b), kit_apart(&w, &x));
    kit_close(k);
}

// A sheet laid on a box top slides when the world is tilted beyond the angle of friction, and does
// not below it.
static void test_cloth_slides_over_a_box(void)
{
    const double mu = 0.4, angles[] = {0.3, 0.6};
    for (int i = 0; i < 2; i++) {
        const double theta = angles[i], exact = g * (sin(theta) - mu * cos(theta));
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': 0.002, 'gravity': [%.17g, 0, %.17g], 'friction': %g, "
            "'friction_speed': 1e-4}, 'bodies': [{'name': 'box', 'type': 'fixed', 'mesh': {'box': "
            "{'x': 4, 'y': 1, 'z': 0.2}}, 'position': [0, 0, -0.1]}, {'name': 'sheet', 'type': "
            "'cloth', 'mesh': {'sheet': {'width': 0.3, 'height': 0.3, 'nx': 5, 'ny': 5}}, "
            "'thickness': 1e-3, 'position': [-0.9, 0.011, 1.001e-3], 'stretch': 200, 'density': "
            "0.3}]}",
            g * sin(theta), -g * cos(theta), mu);
        kit_run(k, 0.1);
        const carom_body_state a = kit_body(k, "sheet");
        kit_run(k, 0.4);
        const carom_body_state b = kit_body(k, "sheet");
        CHECK(!k->failed);
        if (exact > 0) {
            const double found = (b.velocity[0] - a.velocity[0]) / 0.3;
            CHECK_NEAR(found, exact, 1e-3 * exact);
            printf("  slides with %.6g m/s^2, exact %.6g\n", found, exact);
        } else {
            CHECK(kit_apart(&a, &b) <= 1e-4 * 0.3);
            printf("  creeps %.3g m/s\n", kit_apart(&a, &b) / 0.3);
        }
        kit_close(k);
    }
}

// Random boxes thrown at the ground with all kinds of friction: no step may fail and no step may
// gain energy. These were the hard ones: 9 of 1200 steps used to fail.
static void test_hard_random_boxes(void)
{
    uint64_t seed = 11;
    const double mus[] = {0.1, 0.4, 0.8, 1.5}, speeds[] = {1e-2, 1e-3, 1e-4};
    int steps = 0, split = 0;
    for (int run = 0; run < 60; run++) {
        double c[9];
        for (int i = 0; i < 9; i++) {
            c[i] = check_random(&seed, -1, 1);
        }
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': 0.01, 'friction': %g, 'friction_speed': %g}, 'bodies': "
            "[{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 8, 'height': 8, "
            "'nx': 1, 'ny': 1}}}, {'name': 'it', 'mesh': {'box': {'x': 1, 'y': 0.7, 'z': 0.5}}, "
            "'mass': 1, 'position': [0, 0, 0.75], 'rotation': [%g, %g, %g], 'velocity': [%g, %g, "
            "%g], 'angular_velocity': [%g, %g, %g]}]}",
            mus[run % 4], speeds[run % 3], 3 * c[0], 3 * c[1], 3 * c[2], 1.5 * c[3], 1.5 * c[4],
            1.5 * c[5], 4 * c[6], 4 * c[7], 4 * c[8]);
        k->judge_every = 10;
        while (!k->failed && carom_sim_time(k->sim) < 0.6 && kit_step(k)) {
            steps++;
            split += carom_sim_info(k->sim).parts > 1;
        }
        CHECK(!k->failed);
        kit_close(k);
    }
    printf("  %d steps, %d of them split\n", steps, split);
}

// A stack of three in the heap tips back on its foot: the impact at two corners and the zone after
// it must not leave anything faster than it came.
static void test_a_rough_heap_gains_nothing(void)
{
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.005, 'friction': 1.5}, 'bodies': [{'name': 'floor', "
        "'type': 'fixed', 'mesh': {'sheet': {'width': 6, 'height': 6, 'nx': 1, 'ny': 1}}, "
        "'position': [0.31, 0.17, 0]}, {'mesh': {'box': {'x': 0.3, 'y': 0.1, 'z': 0.1}}, "
        "'position': [0, 0, 0.2], 'rotation': [0.2, 0.1, 0], 'copies': {'count': [2, 2, 3], "
        "'spacing': [0.34, 0.2, 0.25], 'jitter': [0.01, 0.01, 0.01]}}]}");
    kit_run(k, 0.7);
    CHECK(!k->failed);
    kit_close(k);
}

int main(void)
{
    RUN(test_it_sticks);
    RUN(test_it_slides);
    RUN(test_it_stops);
    RUN(test_the_incline_moves);
    RUN(test_cloth_slides_over_a_box);
    RUN(test_hard_random_boxes);
    RUN(test_a_rough_heap_gains_nothing);
    return check_failures != 0;
}
