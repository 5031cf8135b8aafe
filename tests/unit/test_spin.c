#include "bodies/spin.h"
#include "check.h"
#include <string.h>

// A step as one flat vector, so that any input can be nudged:
// inertia 0..2, orientation offset 3..5 (R -> R exp), spin 6..8, torque or w 9..11, h 12.
enum { INPUTS = 13 };

static const cr_quat q_at = {0.5, -0.5, 0.1, 0.7};
static const cr_vec3 q_weight = {0.3, -1.1, 0.7}, om_weight = {-0.4, 0.2, 0.9};

static cr_vec3 random_vec(uint64_t* seed, double size)
{
    const double x = check_random(seed, -size, size), y = check_random(seed, -size, size);
    return (cr_vec3){x, y, check_random(seed, -size, size)};
}

// The loss sees the orientation through its rotation relative to that of the unmoved step.
typedef void stage(const double* in, cr_quat* q, cr_vec3* om);

static cr_quat start(const double* in)
{
    return cr_quat_mul(cr_quat_normalize(q_at), cr_quat_from_rotation(cr_vec3_load(in + 3)));
}

static void predict(const double* in, cr_quat* q, cr_vec3* om)
{
    cr_spin_predict(cr_vec3_load(in), in[12], start(in), cr_vec3_load(in + 6), cr_vec3_load(in + 9),
                    q, om);
}

static void update(const double* in, cr_quat* q, cr_vec3* om)
{
    cr_spin_update(cr_vec3_load(in), in[12], start(in), cr_vec3_load(in + 6), cr_vec3_load(in + 9),
                   q, om);
}

static double loss(stage* f, const double* in, int i, double by, cr_quat q_0)
{
    double moved[INPUTS];
    memcpy(moved, in, sizeof moved);
    moved[i] += by;
    cr_quat q;
    cr_vec3 om;
    f(moved, &q, &om);
    const cr_vec3 d = cr_quat_to_rotation(cr_quat_mul(cr_quat_conjugate(q_0), q));
    return cr_vec3_dot(q_weight, d) + cr_vec3_dot(om_weight, om);
}

static double slope(stage* f, const double* in, int i)
{
    cr_quat q_0;
    cr_vec3 om;
    f(in, &q_0, &om);
    const double h = 1e-4 * (i == 12 ? in[12] : 1.0);
    const double near = loss(f, in, i, h, q_0) - loss(f, in, i, -h, q_0);
    const double far = loss(f, in, i, 2 * h, q_0) - loss(f, in, i, -2 * h, q_0);
    return (8 * near - far) / (12 * h);
}

static void random_inputs(uint64_t* seed, double spin, double turn, double* in)
{
    cr_vec3_store(in, (cr_vec3){check_random(seed, 0.5, 2), check_random(seed, 0.5, 2),
                                check_random(seed, 0.5, 2)});
    cr_vec3_store(in + 3, (cr_vec3){0, 0, 0});
    cr_vec3_store(in + 6, random_vec(seed, spin));
    cr_vec3_store(in + 9, random_vec(seed, turn));
    in[12] = check_random(seed, 0.02, 0.1);
}

// The last one turns by 6 rad in a step: too fast for the mean of an uneven body.
static const double spins[] = {0.0, 1e-6, 1.0, 10.0, 60.0};

static void test_predict_adjoint(void)
{
    uint64_t seed = 1;
    for (int sample = 0; sample < 50; sample++) {
        double in[INPUTS];
        random_inputs(&seed, spins[sample % 5], sample % 2 ? 5.0 : 0.0, in);
        cr_vec3 q = {1, 1, 1}, om = {1, 1, 1}, torque = {1, 1, 1}, inertia = {1, 1, 1};
        double h = 1;
        cr_spin_predict_adj(cr_vec3_load(in), in[12], cr_vec3_load(in + 6), cr_vec3_load(in + 9),
                            q_weight, om_weight, &q, &om, &torque, &inertia, &h);
        double bar[INPUTS];
        cr_vec3_store(bar, inertia);
        cr_vec3_store(bar + 3, q);
        cr_vec3_store(bar + 6, om);
        cr_vec3_store(bar + 9, torque);
        bar[12] = h;
        for (int i = 0; i < INPUTS; i++) {
            const double want = 1 + slope(predict, in, i);
            CHECK_NEAR(bar[i], want, 5e-9 * (1 + fabs(want)));
        }
    }
}

// A part of a path whose rate is its own input
static const cr_vec3 path_rate = {1.3, -0.7, 2.1};
static int path_nudged;
static double path_nudge;

static void path(const double* in, cr_quat* q, cr_vec3* om)
{
    double rate[3];
    cr_vec3_store(rate, path_rate);
    rate[path_nudged] += path_nudge;
    cr_spin_path(cr_vec3_load(in), in[12], start(in), cr_vec3_load(in + 6), cr_vec3_load(in + 9),
                 cr_vec3_load(rate), q, om);
}

static void test_path_adjoint(void)
{
    uint64_t seed = 4;
    for (int sample = 0; sample < 20; sample++) {
        double in[INPUTS], rate_bar[3];
        random_inputs(&seed, 3.0, 5.0, in);
        cr_vec3 q = {1, 1, 1}, om = {1, 1, 1}, torque = {1, 1, 1}, inertia = {1, 1, 1};
        cr_vec3 rate = {1, 1, 1};
        double s = 1;
        cr_spin_path_adj(cr_vec3_load(in), in[12], cr_vec3_load(in + 6), cr_vec3_load(in + 9),
                         path_rate, q_weight, om_weight, &q, &om, &torque, &inertia, &rate, &s);
        double bar[INPUTS];
        cr_vec3_store(bar, inertia);
        cr_vec3_store(bar + 3, q);
        cr_vec3_store(bar + 6, om);
        cr_vec3_store(bar + 9, torque);
        cr_vec3_store(rate_bar, rate);
        bar[12] = s;
        for (int i = 0; i < INPUTS; i++) {
            const double want = 1 + slope(path, in, i);
            CHECK_NEAR(bar[i], want, 2e-9 * (1 + fabs(want)));
        }
        cr_quat q_0;
        cr_vec3 unused;
        path(in, &q_0, &unused);
        for (path_nudged = 0; path_nudged < 3; path_nudged++) {
            double rise[2];
            for (int side = 0; side < 2; side++) {
                path_nudge = side ? -1e-5 : 1e-5;
                rise[side] = loss(path, in, 0, 0.0, q_0);
            }
            path_nudge = 0.0;
            CHECK_NEAR(rate_bar[path_nudged], 1 + (rise[0] - rise[1]) / 2e-5, 1e-8);
        }
        path_nudged = 0;
    }
}

static double energy(cr_vec3 inertia, cr_vec3 om)
{
    return 0.5 * (inertia.x * om.x * om.x + inertia.y * om.y * om.y + inertia.z * om.z * om.z);
}

static void test_free_turning_conserves_energy(void)
{
    const cr_vec3 inertia = {1.0, 2.0, 3.0};
    cr_quat q = cr_quat_normalize(q_at);
    cr_vec3 om = {0.1, 7.0, -0.3};
    const double before = energy(inertia, om);
    for (int step = 0; step < 1000; step++) {
        const double last = energy(inertia, om);
        cr_spin_predict(inertia, 0.01, q, om, (cr_vec3){0, 0, 0}, &q, &om);
        CHECK_NEAR(energy(inertia, om), last, 1e-14 * last);
    }
    CHECK_NEAR(energy(inertia, om), before, 1e-13 * before);
}

static void test_an_even_body_turns_at_its_spin(void)
{
    const cr_vec3 inertia = {0.4, 0.4, 0.4}, om = {900.0, -20.0, 31.0};
    const cr_vec3 rate = cr_spin_rate(inertia, 0.01, om, (cr_vec3){0, 0, 0});
    CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(rate, om)), 0.0, 1e-12);
}

// A box of 0.4 x 0.2 x 0.1 m and 8 kg turned for a second
static cr_vec3 spin_after_a_second(int steps)
{
    const cr_vec3 inertia = {8.0 / 12 * 0.05, 8.0 / 12 * 0.17, 8.0 / 12 * 0.2};
    cr_quat q = cr_quat_identity();
    cr_vec3 om = {1, 2, 3};
    for (int i = 0; i < steps; i++) {
        cr_spin_predict(inertia, 1.0 / steps, q, om, (cr_vec3){0, 0, 0}, &q, &om);
    }
    return om;
}

static void test_free_turning_is_of_second_order(void)
{
    const cr_vec3 limit = {-1.91475916, -0.28101016, 3.41559697};
    double last = 0.0;
    for (int steps = 50; steps <= 800; steps *= 2) {
        const double off = cr_vec3_norm(cr_vec3_sub(spin_after_a_second(steps), limit));
        if (last > 0.0) {
            CHECK_NEAR(last / off, 4.0, 0.1);
        }
        last = off;
    }
    CHECK_NEAR(last, 0.0, 1e-5);
    // the error halves twice per doubling: what is left of it after extrapolation is of fourth
    // order
    const cr_vec3 coarse = spin_after_a_second(400), fine = spin_after_a_second(800);
    const cr_vec3 best = cr_vec3_add_scaled(fine, 1.0 / 3, cr_vec3_sub(fine, coarse));
    CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(best, limit)), 0.0, 1e-7);
}

static void test_update_adjoint(void)
{
    uint64_t seed = 2;
    static const double turns[] = {0.0, 1e-8, 1e-3, 0.1, 1.0};
    for (int sample = 0; sample < 50; sample++) {
        double in[INPUTS];
        random_inputs(&seed, 3.0, turns[sample % 5], in);
        cr_vec3 q = {1, 1, 1}, om = {1, 1, 1}, w = {1, 1, 1}, inertia = {1, 1, 1};
        cr_spin_update_adj(cr_vec3_load(in), in[12], cr_vec3_load(in + 6), cr_vec3_load(in + 9),
                           q_weight, om_weight, &q, &om, &w, &inertia);
        double bar[INPUTS];
        cr_vec3_store(bar, inertia);
        cr_vec3_store(bar + 3, q);
        cr_vec3_store(bar + 6, om);
        cr_vec3_store(bar + 9, w);
        for (int i = 0; i < 12; i++) {
            const double want = 1 + slope(update, in, i);
            CHECK_NEAR(bar[i], want, 2e-9 * (1 + fabs(want)));
        }
    }
}

static void test_free_turning_conserves_angular_momentum(void)
{
    const cr_vec3 inertia = {1.0, 2.0, 3.0};
    cr_quat q = cr_quat_normalize(q_at);
    cr_vec3 om = {0.1, 7.0, -0.3}; // about the middle axis: it tumbles
    const cr_vec3 before = cr_mat3_apply(cr_quat_to_matrix(q), (cr_vec3){0.1, 14.0, -0.9});
    double least = om.y;
    for (int step = 0; step < 2000; step++) {
        cr_spin_predict(inertia, 0.01, q, om, (cr_vec3){0, 0, 0}, &q, &om);
        least = fmin(least, om.y);
    }
    CHECK(least < -5.0);
    const cr_vec3 momentum = {om.x * inertia.x, om.y * inertia.y, om.z * inertia.z};
    const cr_vec3 after = cr_mat3_apply(cr_quat_to_matrix(q), momentum);
    CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(after, before)), 0.0, 1e-11);
}

// A force f at body point p solves I w = h^2 (dE p/dw)^T R_p^T f; the update must then gain exactly
// the angular momentum h x torque of that force at the turned point.
static void test_update_gains_the_torque_that_acted(void)
{
    uint64_t seed = 3;
    const cr_vec3 inertia = {1.0, 2.0, 3.0}, om_1 = {0.5, -0.2, 0.3};
    const double h = 0.05;
    for (int sample = 0; sample < 20; sample++) {
        const cr_vec3 p = random_vec(&seed, 1), f = random_vec(&seed, 200);
        const cr_quat q_p = cr_quat_normalize(q_at);
        const cr_mat3 r_p = cr_quat_to_matrix(q_p);
        cr_vec3 w = {0, 0, 0};
        for (int i = 0; i < 300; i++) { // a fixed point, damped
            const cr_rot r = cr_rot_make(w);
            const cr_vec3 g = cr_mat3_tapply(cr_rot_dw(&r, p), cr_mat3_tapply(r_p, f));
            const cr_vec3 next = {h * h * g.x / 1.0, h * h * g.y / 2.0, h * h * g.z / 3.0};
            w = cr_vec3_scale(0.5, cr_vec3_add(w, next));
        }
        CHECK(cr_vec3_norm(w) > 1e-3);
        cr_quat q;
        cr_vec3 om;
        cr_spin_update(inertia, h, q_p, om_1, w, &q, &om);
        const cr_mat3 r = cr_quat_to_matrix(q);
        const cr_vec3 after = cr_mat3_apply(r, (cr_vec3){om.x, 2 * om.y, 3 * om.z});
        const cr_vec3 before = cr_mat3_apply(r_p, (cr_vec3){om_1.x, 2 * om_1.y, 3 * om_1.z});
        const cr_vec3 torque = cr_vec3_cross(cr_mat3_apply(r, p), f);
        const cr_vec3 gained = cr_vec3_sub(after, before);
        CHECK_NEAR(cr_vec3_norm(cr_vec3_add_scaled(gained, -h, torque)), 0.0, 1e-12);
    }
}

int main(void)
{
    RUN(test_predict_adjoint);
    RUN(test_path_adjoint);
    RUN(test_update_adjoint);
    RUN(test_free_turning_conserves_energy);
    RUN(test_an_even_body_turns_at_its_spin);
    RUN(test_free_turning_is_of_second_order);
    RUN(test_free_turning_conserves_angular_momentum);
    RUN(test_update_gains_the_torque_that_acted);
    return check_failures != 0;
}
