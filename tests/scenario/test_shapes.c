// Exact shapes: a sphere is one vertex and a radius, a capsule one edge and a radius.
#include "layer.h"
#include "scenario/scene_kit.h"

static const double g = 9.81;

// The centre of a smooth ball of radius r that slides at v off the edge of a table, from when it
// stands over the edge: on the arc about the edge, theta'' = (g/r) sin theta, until nothing
// presses, then free. Where it is after time t, relative to the edge.
static void exact_arc(double r, double v, double t, double* x, double* z)
{
    double theta = 0.0, rate = v / r;
    const int steps = 20000;
    const double h = t / steps;
    int step = 0;
    for (; step < steps; step++) {
        if (g * cos(theta) < rate * rate * r) {
            break;
        }
        // one step of Runge and Kutta
        const double k1 = g / r * sin(theta);
        const double k2 = g / r * sin(theta + 0.5 * h * rate);
        const double k3 = g / r * sin(theta + 0.5 * h * rate + 0.25 * h * h * k1);
        const double k4 = g / r * sin(theta + h * rate + 0.5 * h * h * k2);
        theta += h * rate + h * h / 6 * (k1 + k2 + k3);
        rate += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    const double left = t - step * h;
    *x = r * sin(theta) + r * rate * cos(theta) * left;
    *z = r * cos(theta) - r * rate * sin(theta) * left - 0.5 * g * left * left;
}

#define TABLE                                                                                      \
    "{'name': 'table', 'type': 'fixed', 'mesh': {'sheet': {'width': 2, 'height': 2, 'nx': 8, "     \
    "'ny': 8}}, 'position': [-1, 0, 0]}"
#define BALL "{'name': 'ball', 'sphere': {'radius': 0.3}, 'mass': 1.3, 'contact_width': 1e-6, "

// Over a table of 128 triangles and off its edge. On the table height and speed are exact; on the
// arc the error is of first order in h.
static void slide_off(double v)
{
    const double start = -0.87, after = 0.35;
    // where the table holds the ball is its radius for all that follows
    const double r = layer_first_held(
        "{'carom': 1, 'bodies': [" TABLE ", " BALL "'position': [0, 0, 9]}]}", 1.3 * g);
    double error[3] = {0};
    for (int i = 0; i < 3; i++) {
        const double h = 0.01 / (1 << i);
        kit* k = kit_open("{'carom': 1, 'world': {'dt': %.17g, 'friction': 0}, 'bodies': [" TABLE
                          ", " BALL "'position': [%.17g, 0.123, %.17g], 'velocity': [%g, 0, 0]}]}",
                          h, start, r, v);
        const double leaves = -start / v;
        double dz = 0.0, dx = 0.0;
        k->judge_every = 5;
        k->turns = 1;
        while (!k->failed && carom_sim_time(k->sim) + h < leaves && kit_step(k)) {
            const carom_body_state b = kit_body(k, "ball");
            dx = fmax(dx, fabs(b.position[0] - start - v * carom_sim_time(k->sim)));
            dz = fmax(dz, fabs(b.position[2] - r));
        }
        CHECK_NEAR(dz, 0, 2 * 1e-5 * g * h * h); // what the contact gives way under its weight
        CHECK_NEAR(dx, 0, 1e-12);
        kit_run(k, ceil((leaves + after) / h) * h);
        double x, z;
        exact_arc(r, v, carom_sim_time(k->sim) - leaves, &x, &z);
        const carom_body_state b = kit_body(k, "ball");
        CHECK(!k->failed);
        CHECK_NEAR(b.position[1], 0.123, 1e-12);
        error[i] = hypot(b.position[0] - x, b.position[2] - z);
        kit_close(k);
    }
    CHECK(error[0] < 0.2 * 0.3);
    CHECK(error[1] < 0.75 * error[0] && error[2] < 0.75 * error[1]);
    printf("  v %g: off the exact arc by %.3g, %.3g, %.3g m at h = 1/100, 1/200, 1/400\n", v,
           error[0], error[1], error[2]);
}

static void test_slides_over_triangles_and_off_an_edge(void)
{
    slide_off(0.5);
    slide_off(0.9);
    slide_off(1.5);
}

// A ball that rolls: a = 5/7 g sin theta with friction, g sin theta without.
static void test_rolls_down_an_incline(void)
{
    const double thetas[] = {0.1, 0.3, 0.6};
    for (int i = 0; i < 3; i++) {
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': 0.001, 'gravity': [%.17g, 0, %.17g], 'friction': 0.8, "
            "'friction_speed': 1e-4}, 'bodies': [{'name': 'ground', 'type': 'fixed', 'mesh': "
            "{'sheet': {'width': 20, 'height': 4, 'nx': 7, 'ny': 3}}}, {'name': 'ball', 'sphere': "
            "{'radius': 0.1}, 'mass': 0.7, 'position': [-3.3, 0.07, 0.1]}]}",
            g * sin(thetas[i]), -g * cos(thetas[i]));
        kit_run(k, 0.1);
        const carom_body_state a = kit_body(k, "ball");
        kit_run(k, 1.1);
        const carom_body_state b = kit_body(k, "ball");
        const double exact = 5.0 / 7.0 * g * sin(thetas[i]);
        const double found = b.velocity[0] - a.velocity[0];
        CHECK(!k->failed);
        CHECK_NEAR(found, exact, 1e-3 * exact);
        CHECK_NEAR(b.angular_velocity[1] * 0.1, b.velocity[0], 1e-3 * b.velocity[0]);
        printf("  theta %g: %.7g m/s^2, exact %.7g\n", thetas[i], found, exact);
        kit_close(k);
    }
}

// A capsule lies across the edge of a table, its middle over the table: it stays. Balanced on the
// ridge of a roof it does not pass. A ball set down between two others goes down between them.
static void test_round_things_on_edges(void)
{
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.005, 'friction': 0.5}, 'bodies': [{'name': 'table', "
        "'type': 'fixed', 'mesh': {'box': {'x': 2, 'y': 2, 'z': 0.2}}, 'position': [-1, 0, -0.1]}, "
        "{'name': 'it', 'capsule': {'radius': 0.05, 'length': 0.6}, 'mass': 1, 'rotation': [0, "
        "1.5707963267948966, 0], 'position': [-0.1, 0.2, 0.08]}]}");
    kit_run(k, 1.0);
    const carom_body_state a = kit_body(k, "it");
    kit_run(k, 3.0);
    const carom_body_state b = kit_body(k, "it");
    CHECK(!k->failed);
    // its middle is at 3/4 of the way from its end at -0.4, which carries a quarter of its weight,
    // to the edge of the table, which carries the rest
    double height = 0.0;
    for (int i = 0; i < 2 && !k->failed; i++) {
        const double share = i ? 0.75 : 0.25;
        height += share * layer_held(k->model->numbers, 0, 1, share * g);
    }
    CHECK_NEAR(b.position[2], height, 1e-6);
    CHECK_NEAR(kit_apart(&a, &b), 0, 1e-6);
    kit_close(k);

    // a ridge along y under a capsule along x: exactly balanced, and pushed off centre
    for (int i = 0; i < 2; i++) {
        k = kit_open(
            "{'carom': 1, 'world': {'dt': 0.005, 'friction': 0.6}, 'bodies': [{'name': 'roof', "
            "'type': 'fixed', 'mesh': {'box': {'x': 0.5, 'y': 2, 'z': 0.5}}, 'rotation': [0, "
            "0.7853981633974483, 0]}, {'name': 'it', 'capsule': {'radius': 0.05, 'length': 0.6}, "
            "'mass': 1, 'rotation': [0, 1.5707963267948966, 0], 'position': [%g, 0.2, 0.41]}, "
            "{'name': 'floor', 'type': 'fixed', 'mesh': {'sheet': {'width': 6, 'height': 6, 'nx': "
            "2, 'ny': 2}}, 'position': [0, 0, -0.5]}]}",
            0.01 * i);
        k->judge_every = 2;
        kit_run(k, 1.5);
        CHECK(!k->failed);
        kit_close(k);
    }

    k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.005, 'friction': 0.3}, 'bodies': [{'name': 'floor', "
        "'type': 'fixed', 'mesh': {'sheet': {'width': 6, 'height': 6, 'nx': 1, 'ny': 1}}}, "
        "{'name': 'a', 'sphere': {'radius': 0.1}, 'mass': 1, 'position': [-0.1, 0.3, 0.1]}, "
        "{'name': 'b', 'sphere': {'radius': 0.1}, 'mass': 1, 'position': [0.101, 0.3, 0.1]}, "
        "{'name': 'c', 'sphere': {'radius': 0.1}, 'mass': 1, 'position': [0.01, 0.3, 0.3]}]}");
    k->judge_every = 2;
    kit_run(k, 1.5);
    CHECK(!k->failed);
    CHECK_NEAR(kit_body(k, "c").position[2], layer_held(k->model->numbers, 0, 3, g), 1e-4);
    kit_close(k);
}

int main(void)
{
    RUN(test_slides_over_triangles_and_off_an_edge);
    RUN(test_rolls_down_an_incline);
    RUN(test_round_things_on_edges);
    return check_failures != 0;
}
