// Gradients against formulas, in the integrator's own discrete form where it has one: v' = v + h a,
// x' = x + h v', so that n steps of a constant force give x = x0 + T v + T (T + h) a / 2.
#include "grad_kit.h"
#include "layer.h"
#include <stdarg.h>

static const double exactly = 1e-9; // relative: what round-off and the zones leave

// Opens a scene made by printf, runs it and hands out the gradient.
static double gradient_of(int64_t steps, double* dtheta, int32_t size, const char* format, ...)
{
    char text[4000];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    grad_kit kit;
    double value = (double)NAN;
    if (grad_kit_open(&kit, text, steps, 0)) {
        value = grad_kit_run(&kit);
        CHECK(kit.size == size);
        memcpy(dtheta, kit.dtheta, (size_t)size * sizeof(double));
    }
    grad_kit_close(&kit);
    return value;
}

// A plate that starts at this height and slides on the ground, its mass 1 kg.
#define SLIDER                                                                                     \
    "'bodies': [" GROUND ", {'name': 'b', 'mesh': {'box': {'size': [0.4, 0.4, 0.1]}}, 'mass': 1, " \
    "'thickness': 1e-4, 'position': [0, 0, %.17g], 'velocity': [%g, 0, 0]}]"

#define SPACE "'carom': 1, 'world': {'dt': %g, 'gravity': [0, 0, 0], 'friction': 0},"
#define GROUND                                                                                     \
    "{'name': 'ground', 'type': 'fixed',"                                                          \
    " 'mesh': {'sheet': {'width': 40, 'height': 20, 'nx': 1, 'ny': 1}}}"

static void test_free_flight(void)
{
    const double m = 2.5, force = 3.0;
    for (int round = 0; round < 3; round++) {
        const double h = round == 0 ? 0.1 : round == 1 ? 0.01 : 1.0 / 64;
        const int64_t n = round == 0 ? 7 : 50;
        const double t = (double)n * h, way = 0.5 * t * (t + h);
        double g[7];
        gradient_of(n, g, 7,
                    "{" SPACE "'bodies': [{'name': 'b', 'mesh': {'box': {'size': [1, 1, 1]}},"
                    " 'mass': %g, 'velocity': [1, 0, 0], 'force': [%g, 0, 0]}],"
                    "'objective': {'terms': [{'what': 'position', 'of': 'b', 'norm': 'value',"
                    " 'axes': [1, 0, 0]}]}, 'parameters': [{'of': 'b', 'what': 'velocity'},"
                    " {'of': 'b', 'what': 'force'}, {'of': 'b', 'what': 'mass'}]}",
                    h, m, force);
        CHECK_NEAR(g[0], t, exactly * t);                                  // dx/dv = T
        CHECK_NEAR(g[3], way / m, exactly * way / m);                      // dx/dF = T(T+h)/2m
        CHECK_NEAR(g[6], -force * way / (m * m), exactly * way / (m * m)); // dx/dm
        CHECK(g[1] == 0.0 && g[4] == 0.0);
    }
}

// A force of each step k acts over the n - k steps that follow: dx/dF_k = h^2 (n - k)/m.
static void test_forces_by_step(void)
{
    enum { N = 12 };
    const double h = 0.02, m = 0.7;
    double g[3 * N];
    gradient_of(N, g, 3 * N,
                "{" SPACE "'bodies': [{'name': 'b', 'sphere': {'radius': 0.1}, 'mass': %g}],"
                "'objective': {'terms': [{'what': 'position', 'of': 'b', 'norm': 'value',"
                " 'axes': [0, 1, 0]}]}, 'parameters': [{'of': 'b', 'what': 'forces'}]}",
                h, m);
    for (int k = 0; k < N; k++) {
        CHECK_NEAR(g[3 * k + 1], h * h * (N - k) / m, 1e-15);
        CHECK(g[3 * k] == 0.0);
    }
}

static void test_gravity(void)
{
    const double h = 0.01, t = 0.3, m = 1.5;
    double g[3];
    gradient_of(30, g, 3,
                "{'carom': 1, 'world': {'dt': %g}, 'bodies': [{'name': 'b', 'sphere': {'radius':"
                " 0.1}, 'mass': %g, 'position': [0, 0, 5]}],"
                "'objective': {'terms': [{'what': 'position', 'of': 'b', 'norm': 'value',"
                " 'axes': [0, 0, 1]}]}, 'parameters': [{'what': 'gravity'}]}",
                h, m);
    CHECK_NEAR(g[2], 0.5 * t * (t + h), 1e-13);
}

// A body without torque about a principal axis turns by T om: the angle's derivative is T.
static void test_turning(void)
{
    double g[4];
    gradient_of(40, g, 4,
                "{" SPACE "'bodies': [{'name': 'b', 'mesh': {'box': {'size': [1, 2, 3]}},"
                " 'mass': 1, 'angular_velocity': [0, 0, 2]}],"
                "'objective': {'terms': [{'what': 'rotation', 'of': 'b', 'norm': 'value',"
                " 'axes': [0, 0, 1]}]}, 'parameters': [{'of': 'b', 'what': 'angular_velocity'},"
                " {'of': 'b', 'what': 'mass'}]}",
                0.01);
    CHECK_NEAR(g[2], 0.4, 1e-12);
    CHECK_NEAR(g[3], 0.0, 1e-12);
}

// m, of the middle of the slider where each of its corners carries a quarter of its weight.
static double resting_height(double g0)
{
    char text[1000];
    snprintf(text, sizeof text, "{'carom': 1, " SLIDER "}", 1.0, 0.0);
    return 0.05 + layer_first_held(text, 0.25 * g0);
}

// With friction, v' = v - h mu g until it stands: over n steps that slide d/dmu = -g T (T + h)/2.
static void test_sliding(void)
{
    const double h = 0.005, mu = 0.3, g0 = 9.81;
    const int64_t n = 40;
    const double t = (double)n * h;
    double g[3 + 2];
    gradient_of(n, g, 5,
                "{'carom': 1, 'world': {'dt': %g, 'gravity': [0, 0, -%g], 'friction': %g,"
                " 'friction_speed': 1e-4}, " SLIDER
                ", 'objective': {'terms': [{'what': 'position', 'of':"
                " 'b', 'norm': 'value', 'axes': [1, 0, 0]}]}, 'parameters': [{'of': 'b', 'what':"
                " 'velocity'}, {'of': 'b', 'what': 'friction'}, {'of': 'ground', 'what':"
                " 'friction'}]}",
                h, g0, mu, resting_height(g0), 1.5);
    // both bodies have mu, and the pair sqrt(mu mu): each takes half
    CHECK_NEAR(g[0], t, 1e-6 * t);
    CHECK_NEAR(g[3] + g[4], -0.5 * g0 * t * (t + h), 1e-6);
    CHECK_NEAR(g[3], g[4], 1e-9);
}

// Until it stands: d/dv = v/(mu g), d/dmu = -v^2/(2 mu^2 g), both by O(h).
static void test_stopping_distance(void)
{
    const double v = 1.0, mu = 0.3, g0 = 9.81;
    double off[2][2];
    for (int round = 0; round < 2; round++) {
        const double h = round ? 0.0025 : 0.01;
        double g[4];
        gradient_of((int64_t)(0.6 / h), g, 4,
                    "{'carom': 1, 'world': {'dt': %g, 'gravity': [0, 0, -%g], 'friction': %g,"
                    " 'friction_speed': 1e-5}, 'bodies': [" GROUND ", {'name': 'b', 'mesh': {'box':"
                    " {'size': [0.4, 0.4, 0.1]}}, 'thickness': 1e-4, 'position': [0, 0, 0.0501],"
                    " 'velocity': [%g, 0, 0]}], 'pairs': [], 'objective': {'terms': [{'what':"
                    " 'position', 'of': 'b', 'norm': 'value', 'axes': [1, 0, 0]}]}, 'parameters':"
                    " [{'of': 'b', 'what': 'velocity'}, {'of': 'b', 'what': 'friction'}]}",
                    h, g0, mu, v);
        off[round][0] = fabs(g[0] - v / (mu * g0)) / (v / (mu * g0));
        off[round][1] =
            fabs(2.0 * g[3] + v * v / (2 * mu * mu * g0)) / (v * v / (2 * mu * mu * g0));
    }
    CHECK(off[0][0] < 0.05 && off[0][1] < 0.05);
    CHECK(off[1][0] < 0.5 * off[0][0] && off[1][1] < 0.5 * off[0][1]);
}

// What rests on the ground is carried by it: the force grows by what presses.
static void test_contact_force(void)
{
    double g[4];
    const double force =
        gradient_of(10, g, 4,
                    "{'carom': 1, 'world': {'dt': 0.01, 'gravity': [0, 0, -10]}, 'bodies': [" GROUND
                    ", {'name': 'b', 'mesh': {'box': {'size': [0.4, 0.4, 0.4]}}, 'mass': 2,"
                    " 'thickness': 1e-4, 'position': [0, 0, 0.2001], 'force': [0, 0, -5]}],"
                    "'objective': {'terms': [{'what': 'contact_force', 'of': 'b', 'norm': 'value',"
                    " 'axes': [0, 0, 1]}]}, 'parameters': [{'of': 'b', 'what': 'force'},"
                    " {'of': 'b', 'what': 'mass'}]}");
    CHECK_NEAR(force, 25.0, 1e-3);
    CHECK_NEAR(g[2], -1.0, 1e-4); // the contact gives way by 1e-5 of its load in a step
    CHECK_NEAR(g[3], 10.0, 1e-3);
}

// A strip of one column hangs from its top; at small strain the tip sinks by L^2 rho g / (2 Eh), so
// d(tip)/dEh = -tip/Eh: Eh times the gradient is minus the sinking itself.
static void test_hanging_strip(void)
{
    double g[1];
    const double eh = 2e4;
    const double tip = gradient_of(
        400, g, 1,
        "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [{'name': 's', 'type': 'cloth', 'mesh':"
        " {'sheet': {'width': 0.1, 'height': 1, 'nx': 1, 'ny': 8}}, 'euler_degrees': [90, 0, 0],"
        " 'density': 0.2, 'stretch': %g, 'poisson': 0, 'bend': 0, 'damping': 0.05,"
        " 'pins': [{'nodes': {'box': [[-1, -1, 0.49], [1, 1, 0.51]]}}]}],"
        "'objective': {'terms': [{'what': 'position', 'of': 's', 'node': 0, 'norm': 'value',"
        " 'axes': [0, 0, 1], 'target': [0, 0, -0.5]}]},"
        "'parameters': [{'of': 's', 'what': 'stretch'}]}",
        eh);
    CHECK(tip < -1e-5);
    CHECK_NEAR(eh * g[0], -tip, 1e-3 * -tip);
}

// Pins carry what hangs on them along one to one.
static void test_pins_carry(void)
{
    double g[3];
    gradient_of(5, g, 3,
                "{" SPACE "'bodies': [{'name': 's', 'type': 'cloth', 'mesh': {'sheet': {'width': 1,"
                " 'height': 1, 'nx': 2, 'ny': 2}}, 'pins': [{'nodes': 'all'}]}],"
                "'objective': {'terms': [{'what': 'position', 'of': 's', 'norm': 'value', 'axes':"
                " [1, 2, 3]}]}, 'parameters': [{'of': 's', 'what': 'position'}]}",
                0.01);
    CHECK_NEAR(g[0], 1.0, 1e-14);
    CHECK_NEAR(g[1], 2.0, 1e-14);
    CHECK_NEAR(g[2], 3.0, 1e-14);
}

// ---- impacts, as soon as they have a reverse

// It comes to rest on the ground from whatever height and goes on sideways.
static void test_inelastic_landing(void)
{
    double g[6];
    gradient_of(60, g, 6,
                "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0}, 'bodies': [" GROUND ", {'name':"
                " 'b', 'mesh': {'box': {'size': [0.4, 0.4, 0.1]}}, 'position': [0, 0.013, 0.6],"
                " 'velocity': [1, 0, 0]}], 'objective': {'terms': [{'what': 'position', 'of': 'b',"
                " 'norm': 'value'}]}, 'parameters': [{'of': 'b', 'what': 'position'}, {'of': 'b',"
                " 'what': 'velocity'}]}");
    CHECK_NEAR(g[2], 0.0, 1e-6); // dz/dz0
    CHECK_NEAR(g[0], 1.0, 1e-6); // dx/dx0
    CHECK_NEAR(g[3], 0.6, 1e-6); // dx/dvx = T
    CHECK_NEAR(g[5], 0.0, 1e-6);
}

#define HEAD_ON                                                                                    \
    SPACE "'bodies': [{'name': 'a', 'mesh': {'box': {'size': [1, 1, 1]}}, 'thickness': 1e-4, "     \
          "'mass': 1, 'velocity': [2, 0, 0]}, {'name': 'b', 'mesh': {'box': {'size': [1, 0.98, "   \
          "0.98]}}, 'thickness': 1e-4, 'mass': 3, 'position': [%.17g, 0, 0]}]"

// Gap 1, v1 = 2, m1 = 1, m2 = 3, T = 1: they meet at 1/2 and go on together at m1 v1/(m1 + m2).
static void test_head_on_cubes(void)
{
    static const double steps[] = {0.02, 0.01, 1.0 / 128};
    for (int round = 0; round < 3; round++) {
        const double h = steps[round];
        const int64_t n = (int64_t)llround(1.0 / h);
        char text[1000];
        snprintf(text, sizeof text, "{" HEAD_ON "}", h, 3.0);
        const double begins = layer_first_begins(text);
        double g[8], v[8];
        for (int what = 0; what < 2; what++) {
            gradient_of(
                n, what ? v : g, 8,
                "{" HEAD_ON
                ", 'objective': {'terms': [{'what': '%s', 'of': 'a', 'norm': 'value', 'axes':"
                " [1, 0, 0]}]}, 'parameters': [{'of': 'a', 'what': 'velocity'}, {'of': 'a',"
                " 'what': 'mass'}, {'of': 'b', 'what': 'position'}, {'of': 'b', 'what':"
                " 'mass'}]}",
                h, 2.0 + begins, what ? "velocity" : "position");
        }
        CHECK_NEAR(g[0], 0.25, 1e-6);   // dx1/dv1
        CHECK_NEAR(g[3], 0.1875, 1e-6); // dx1/dm1
        CHECK_NEAR(g[4], 0.75, 1e-6);   // dx1/dgap
        CHECK_NEAR(v[3], 0.375, 1e-6);  // dv'/dm1
    }
}

// Without gravity x = -e v (T - t) with t = x0/v: dx/dx0 = -e .. at any h and phase of the impact.
static void test_bounce(void)
{
    static const double es[] = {0.3, 0.7, 1.0};
    for (int i = 0; i < 3; i++) {
        for (int phase = 0; phase < 7; phase++) {
            const double h = phase % 2 ? 0.01 : 0.037, x0 = 0.2 + 0.0013 * phase;
            const int64_t n = (int64_t)llround(0.7 / h);
            double g[6];
            gradient_of(n, g, 6,
                        "{" SPACE "'bodies': [" GROUND ", {'name': 'b', 'sphere': {'radius': 0.1},"
                        " 'restitution': %g, 'position': [0, 0, %.17g], 'velocity': [0, 0, -1]}],"
                        "'objective': {'terms': [{'what': 'position', 'of': 'b', 'norm': 'value',"
                        " 'axes': [0, 0, 1]}]}, 'parameters': [{'of': 'b', 'what': 'position'},"
                        " {'of': 'b', 'what': 'velocity'}]}",
                        h, es[i], 0.1 + x0);
            CHECK_NEAR(g[2], -es[i], 1e-9);
            CHECK_NEAR(g[5], -es[i] * (double)n * h, 1e-9);
        }
    }
}

// From 1 m with gravity: z = e u s - g s^2/2 after s = T - t, u = g t, t = sqrt(2 z0/g).
static void test_drop_converges(void)
{
    static const double es[] = {0.7, 1.0};
    for (int i = 0; i < 2; i++) {
        double off[2];
        const double g0 = 9.81, e = es[i], z0 = 1.0, t = sqrt(2.0 * z0 / g0), end = 0.5;
        const double s = end - t, dt = 1.0 / (g0 * t); // dt/dz0
        const double exact = dt * (e * g0 * s - e * g0 * t + g0 * s);
        for (int round = 0; round < 2; round++) {
            const double h = round ? 1.0 / 800 : 1.0 / 200;
            double g[3];
            gradient_of(
                (int64_t)llround(end / h), g, 3,
                "{'carom': 1, 'world': {'dt': %.17g, 'gravity': [0, 0, -9.81]}, 'bodies': [" GROUND
                ", {'name': 'b', 'sphere': {'radius': 0.1}, 'restitution': %g,"
                " 'position': [0, 0, 1.1]}], 'objective': {'terms': [{'what': 'position',"
                " 'of': 'b', 'norm': 'value', 'axes': [0, 0, 1]}]}, 'parameters': [{'of':"
                " 'b', 'what': 'position'}]}",
                h, e);
            off[round] = fabs(g[2] - exact) / fabs(exact);
        }
        CHECK(off[0] < 0.02);
        CHECK(off[1] < 0.5 * off[0] || off[1] < 1e-6);
    }
}

static void test_impacts(void)
{
    RUN(test_inelastic_landing);
    RUN(test_head_on_cubes);
    RUN(test_bounce);
    RUN(test_drop_converges);
}

int main(void)
{
    RUN(test_free_flight);
    RUN(test_forces_by_step);
    RUN(test_gravity);
    RUN(test_turning);
    RUN(test_sliding);
    RUN(test_stopping_distance);
    RUN(test_contact_force);
    RUN(test_hanging_strip);
    RUN(test_pins_carry);
    test_impacts();
    return check_failures != 0;
}
