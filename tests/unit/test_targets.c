// Free motion with damping and locks: closed forms, and the reverse against differences.
#include "bodies/body_set.h"
#include "bodies/spin_held.h"
#include "check.h"
#include "dynamics/targets.h"
#include <string.h>

// A step as one flat vector: inertia 0..2, turn of the start 3..5, v 6..8, om 9..11,
// gravity 12..14, force 15..17, torque 18..20, mass 21, linear damping 22, angular damping 23.
enum { INPUTS = 24 };
static const double h = 0.03;
static const cr_quat q_at = {0.5, -0.5, 0.1, 0.7};

static cr_vec3 random_vec(uint64_t* seed, double size)
{
    const double x = check_random(seed, -size, size), y = check_random(seed, -size, size);
    return (cr_vec3){x, y, check_random(seed, -size, size)};
}

static cr_action action_of(const double* in)
{
    return (cr_action){.gravity = cr_vec3_load(in + 12),
                       .force = cr_vec3_load(in + 15),
                       .torque = cr_vec3_load(in + 18),
                       .linear_damping = in[22],
                       .angular_damping = in[23]};
}

static cr_quat start_of(const double* in)
{
    return cr_quat_mul(cr_quat_normalize(q_at), cr_quat_from_rotation(cr_vec3_load(in + 3)));
}

static cr_target aim(const double* in, int32_t lock)
{
    const cr_action action = action_of(in);
    return cr_targets_rigid(in[21], cr_vec3_load(in), lock, h, &action, start_of(in),
                            cr_vec3_load(in + 6), cr_vec3_load(in + 9));
}

static double loss(const double* in, int32_t lock, const cr_target_bars* by, cr_quat q_0)
{
    const cr_target t = aim(in, lock);
    const cr_vec3 d = cr_quat_to_rotation(cr_quat_mul(cr_quat_conjugate(q_0), t.q));
    return cr_vec3_dot(by->q, d) + cr_vec3_dot(by->u, t.u) + cr_vec3_dot(by->v, t.v) +
           cr_vec3_dot(by->om, t.om) + cr_vec3_dot(by->rate, t.rate) + cr_vec3_dot(by->a, t.a) +
           cr_vec3_dot(by->torque, t.torque);
}

static double slope(const double* in, int i, int32_t lock, const cr_target_bars* by)
{
    const cr_quat q_0 = aim(in, lock).q;
    double moved[INPUTS], rise[4];
    const double d = 1e-4, at[4] = {d, -d, 2 * d, -2 * d};
    for (int k = 0; k < 4; k++) {
        memcpy(moved, in, sizeof moved);
        moved[i] += at[k];
        rise[k] = loss(moved, lock, by, q_0);
    }
    return (8 * (rise[0] - rise[1]) - (rise[2] - rise[3])) / (12 * d);
}

static void test_adjoint(void)
{
    uint64_t seed = 5;
    static const double dampings[] = {0.0, 0.2, 30.0}; // c h below and above the series' end
    double worst = 0.0;
    for (int32_t lock = 0; lock < 64; lock++) {
        for (int k = 0; k < 3; k++) {
            double in[INPUTS], bar[INPUTS];
            cr_vec3_store(in, cr_vec3_add((cr_vec3){1.2, 1.2, 1.2}, random_vec(&seed, 0.7)));
            cr_vec3_store(in + 3, (cr_vec3){0, 0, 0});
            for (int i = 6; i < 21; i += 3) {
                cr_vec3_store(in + i, random_vec(&seed, 3.0));
            }
            in[21] = check_random(&seed, 0.5, 2);
            in[22] = dampings[k];
            in[23] = dampings[(k + lock) % 3];
            const cr_target_bars by = {random_vec(&seed, 1),  random_vec(&seed, 10),
                                       random_vec(&seed, 1),  random_vec(&seed, 1),
                                       random_vec(&seed, 1),  random_vec(&seed, 0.1),
                                       random_vec(&seed, 0.1)};
            const cr_vec3 one = {1, 1, 1};
            cr_target_starts out = {.q = one,
                                    .v = one,
                                    .om = one,
                                    .gravity = one,
                                    .force = one,
                                    .torque = one,
                                    .inertia = one,
                                    .mass = 1,
                                    .linear_damping = 1,
                                    .angular_damping = 1};
            const cr_action action = action_of(in);
            const cr_target target = aim(in, lock);
            cr_targets_rigid_adj(in[21], cr_vec3_load(in), lock, h, &action, &target, start_of(in),
                                 cr_vec3_load(in + 6), cr_vec3_load(in + 9), &by, &out);
            cr_vec3_store(bar, out.inertia);
            cr_vec3_store(bar + 3, out.q);
            cr_vec3_store(bar + 6, out.v);
            cr_vec3_store(bar + 9, out.om);
            cr_vec3_store(bar + 12, out.gravity);
            cr_vec3_store(bar + 15, out.force);
            cr_vec3_store(bar + 18, out.torque);
            bar[21] = out.mass;
            bar[22] = out.linear_damping;
            bar[23] = out.angular_damping;
            for (int i = 0; i < INPUTS; i++) {
                if (in[i] == 0.0 && i >= 22) { // damping has one side only there
                    double up[INPUTS];
                    memcpy(up, in, sizeof up);
                    up[i] = 1e-6;
                    const double rise =
                        (loss(up, lock, &by, target.q) - loss(in, lock, &by, target.q)) / 1e-6;
                    CHECK_NEAR(bar[i], 1 + rise, 1e-5 * (1 + fabs(rise)));
                    continue;
                }
                const double want = 1 + slope(in, i, lock, &by);
                CHECK_NEAR(bar[i], want, 1e-8 * (1 + fabs(want)));
                worst = fmax(worst, fabs(bar[i] - want) / (1 + fabs(want)));
            }
        }
    }
    printf("  64 locks: off by at most %.2g\n", worst);
}

static void test_node_adjoint(void)
{
    const cr_vec3 by = {0.3, -1.1, 0.7};
    const double dampings[] = {0.0, 0.4, 50.0};
    for (int k = 0; k < 3; k++) {
        // v 0..2, gravity 3..5, force 6..8, mass 9, damping 10
        double in[11] = {1, -2, 3, 0.5, 0.1, -9.81, 0.3, -0.2, 0.6, 0.7, dampings[k]};
        cr_vec3 v = {1, 1, 1}, gravity = {1, 1, 1}, force = {1, 1, 1};
        double bar[11], mass = 1, damping = 1;
        cr_targets_node_adj(in[9], h, cr_vec3_load(in + 3), cr_vec3_load(in + 6), in[10],
                            cr_vec3_load(in), by, &v, &gravity, &force, &mass, &damping);
        cr_vec3_store(bar, v);
        cr_vec3_store(bar + 3, gravity);
        cr_vec3_store(bar + 6, force);
        bar[9] = mass;
        bar[10] = damping;
        for (int i = 0; i < 11; i++) {
            double rise = 0.0;
            const double at = in[i], d = 1e-5;
            const int low = i == 10 && at == 0.0; // one-sided, of second order
            for (int s = 0; s < 3; s++) {
                static const double central[] = {0.5, -0.5, 0.0}, side[] = {2.0, -0.5, -1.5};
                static const double way[2][3] = {{1, -1, 0}, {1, 2, 0}};
                in[i] = at + d * way[low][s];
                rise += (low ? side[s] : central[s]) / d *
                        cr_vec3_dot(by, cr_targets_node(in[9], h, cr_vec3_load(in + 3),
                                                        cr_vec3_load(in + 6), in[10],
                                                        cr_vec3_load(in)));
            }
            in[i] = at;
            CHECK_NEAR(bar[i], 1 + rise, 1e-8 * (1 + fabs(rise)));
        }
    }
}

// v' = a - c v has v(t) = exp(-c t) v0 + (1 - exp(-c t)) a/c, whatever the steps: a body that falls
// through honey comes to a/c and not a digit beside it.
static void test_damping_is_exact(void)
{
    const double c = 2.5, t = 1.2;
    const cr_vec3 inertia = {1, 2, 3}, torque = {0, 0, 0.4}, om0 = {0, 0, 3}, v0 = {3, 0, 1};
    const cr_action action = {.gravity = {0, 0, -9.81},
                              .force = {1, 0, 0},
                              .torque = torque,
                              .linear_damping = c,
                              .angular_damping = c};
    for (int steps = 1; steps <= 1000; steps *= 10) {
        cr_quat q = {1, 0, 0, 0};
        cr_vec3 v = v0, om = om0;
        for (int i = 0; i < steps; i++) {
            const cr_target target =
                cr_targets_rigid(2.0, inertia, 0, t / steps, &action, q, v, om);
            q = target.q;
            v = target.v;
            om = target.om;
        }
        const double keep = exp(-c * t);
        CHECK_NEAR(v.x, keep * 3 + (1 - keep) * 0.5 / c, 1e-13);
        CHECK_NEAR(v.z, keep * 1 - (1 - keep) * 9.81 / c, 1e-13);
        CHECK_NEAR(om.z, keep * 3 + (1 - keep) * (0.4 / 3) / c, 1e-13);
        const cr_vec3 d = cr_targets_node(0.1, t, (cr_vec3){0, 0, -9.81}, (cr_vec3){0.05, 0, 0}, c,
                                          v0); // one step of a node has the same velocity
        CHECK_NEAR(d.x / t, keep * 3 + (1 - keep) * 0.5 / c, 1e-13);
        CHECK_NEAR(d.z / t, keep * 1 - (1 - keep) * 9.81 / c, 1e-13);
    }
    const cr_targets_fade none = cr_targets_fade_make(0.0, 0.25);
    CHECK(none.keep == 1.0 && none.gain == 0.25 && none.keep_slope == -0.25);
    for (int i = 0; i < 60; i++) { // the slopes across the end of their series
        const double x = 1e-4 * pow(10, i / 12.0), d = 1e-3 * x;
        const cr_targets_fade up = cr_targets_fade_make(x + d, 1),
                              down = cr_targets_fade_make(x - d, 1);
        const cr_targets_fade at = cr_targets_fade_make(x, 1);
        CHECK_NEAR(at.gain_slope, (up.gain - down.gain) / (2 * d), 1e-6 + 1e-15 / d);
        CHECK_NEAR(at.keep_slope, (up.keep - down.keep) / (2 * d), 1e-6 + 1e-15 / d);
    }
}

// A box about a slanted axis: J = e.I e is what turns, and the angle is that of a constant torque.
static void test_a_hinge(void)
{
    const cr_vec3 inertia = {0.4, 1.1, 2.3}, torque = {0.7, -0.4, 0.9};
    cr_quat q = cr_quat_from_rotation((cr_vec3){0.4, -0.7, 0.5});
    const cr_vec3 e = cr_mat3_row(cr_quat_to_matrix(q), 1); // R^T y
    const double j = inertia.x * e.x * e.x + inertia.y * e.y * e.y + inertia.z * e.z * e.z;
    const cr_quat q0 = q;
    cr_vec3 om = cr_vec3_scale(0.8, e), v = {0, 0, 0};
    const cr_action action = {.torque = torque};
    const int32_t lock = CR_LOCK_RX | CR_LOCK_RZ;
    const double t = 1.5;
    const int steps = 37;
    for (int i = 0; i < steps; i++) {
        const cr_target target = cr_targets_rigid(1.0, inertia, lock, t / steps, &action, q, v, om);
        // a zone that does nothing leaves the target as it is
        cr_spin_held_update(inertia, lock >> 3, t / steps, target.q, target.om, (cr_vec3){0, 0, 0},
                            &q, &om);
    }
    const cr_vec3 spin = cr_mat3_apply(cr_quat_to_matrix(q), om);
    CHECK_NEAR(spin.y, 0.8 + torque.y / j * t, 1e-13);
    CHECK_NEAR(fabs(spin.x) + fabs(spin.z), 0, 1e-14);
    const cr_vec3 turned = cr_quat_to_rotation(cr_quat_mul(q, cr_quat_conjugate(q0)));
    CHECK_NEAR(turned.y, 0.8 * t + 0.5 * torque.y / j * t * t, 1e-12);
    CHECK_NEAR(fabs(turned.x) + fabs(turned.z), 0, 1e-12);
}

// One axis held: the energy of a free spin stays, to second order, and so do no locked spins
// appear; with all three nothing turns.
static void test_held_axes(void)
{
    const cr_vec3 inertia = {0.4, 1.1, 2.3}, none = {0, 0, 0};
    double off[2];
    for (int k = 0; k < 2; k++) {
        const int steps = 400 << k;
        const cr_action action = {0};
        cr_quat q = cr_quat_from_rotation((cr_vec3){0.4, -0.7, 0.5});
        cr_vec3 om = cr_mat3_tapply(cr_quat_to_matrix(q), (cr_vec3){2, 0, -1});
        const double energy =
            inertia.x * om.x * om.x + inertia.y * om.y * om.y + inertia.z * om.z * om.z;
        for (int i = 0; i < steps; i++) {
            const cr_target target =
                cr_targets_rigid(1.0, inertia, CR_LOCK_RY, 2.0 / steps, &action, q, none, om);
            cr_spin_held_update(inertia, 2, 2.0 / steps, target.q, target.om, none, &q, &om);
            const cr_vec3 spin = cr_mat3_apply(cr_quat_to_matrix(q), om);
            CHECK_NEAR(spin.y, 0, 1e-14);
        }
        off[k] =
            (inertia.x * om.x * om.x + inertia.y * om.y * om.y + inertia.z * om.z * om.z) / energy -
            1;
    }
    CHECK(fabs(off[0]) < 1e-3 && fabs(off[1]) < 0.6 * fabs(off[0]));
    printf("  energy off by %.2g and %.2g of it\n", off[0], off[1]);
    const cr_action action = {.torque = {1, 2, 3}};
    const cr_quat q = cr_quat_from_rotation((cr_vec3){0.4, -0.7, 0.5});
    const cr_target still = cr_targets_rigid(1.0, inertia, CR_LOCK_RX | CR_LOCK_RY | CR_LOCK_RZ, h,
                                             &action, q, none, (cr_vec3){1, 2, 3});
    CHECK_NEAR(cr_vec3_norm(still.om) + cr_vec3_norm(still.rate), 0, 1e-15);
}

// inertia 0..2, turn of the target 3..5, om_1 6..8, w 9..11
static double update_loss(const double* in, int32_t held, cr_vec3 q_bar, cr_vec3 om_bar,
                          cr_quat q_0)
{
    cr_quat q;
    cr_vec3 om;
    cr_spin_held_update(cr_vec3_load(in), held, h, start_of(in), cr_vec3_load(in + 6),
                        cr_vec3_load(in + 9), &q, &om);
    const cr_vec3 d = cr_quat_to_rotation(cr_quat_mul(cr_quat_conjugate(q_0), q));
    return cr_vec3_dot(q_bar, d) + cr_vec3_dot(om_bar, om);
}

static void test_update_adjoint(void)
{
    uint64_t seed = 9;
    for (int sample = 0; sample < 64; sample++) {
        const int32_t held = sample % 8;
        double in[12];
        cr_vec3_store(in, cr_vec3_add((cr_vec3){1.2, 1.2, 1.2}, random_vec(&seed, 0.7)));
        cr_vec3_store(in + 3, (cr_vec3){0, 0, 0});
        cr_vec3_store(in + 6, random_vec(&seed, 2));
        cr_vec3_store(in + 9, random_vec(&seed, sample % 3 ? 0.2 : 1e-9));
        const cr_vec3 q_bar = random_vec(&seed, 1), om_bar = random_vec(&seed, 1);
        cr_vec3 q = {1, 1, 1}, om = {1, 1, 1}, w = {1, 1, 1}, inertia = {1, 1, 1};
        cr_spin_held_update_adj(cr_vec3_load(in), held, h, start_of(in), cr_vec3_load(in + 6),
                                cr_vec3_load(in + 9), q_bar, om_bar, &q, &om, &w, &inertia);
        double bar[12];
        cr_vec3_store(bar, inertia);
        cr_vec3_store(bar + 3, q);
        cr_vec3_store(bar + 6, om);
        cr_vec3_store(bar + 9, w);
        cr_quat q_0, q_free;
        cr_vec3 unused, om_free;
        cr_spin_held_update(cr_vec3_load(in), held, h, start_of(in), cr_vec3_load(in + 6),
                            cr_vec3_load(in + 9), &q_0, &unused);
        cr_spin_update(cr_vec3_load(in), h, start_of(in), cr_vec3_load(in + 6),
                       cr_vec3_load(in + 9), &q_free, &om_free);
        if (held == 0) { // nothing held: the other one
            CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(unused, om_free)), 0, 1e-13);
        }
        for (int i = 0; i < 12; i++) {
            double rise[4], moved[12];
            const double d = 1e-4, at[4] = {d, -d, 2 * d, -2 * d};
            for (int k = 0; k < 4; k++) {
                memcpy(moved, in, sizeof moved);
                moved[i] += at[k];
                rise[k] = update_loss(moved, held, q_bar, om_bar, q_0);
            }
            const double want = 1 + (8 * (rise[0] - rise[1]) - (rise[2] - rise[3])) / (12 * d);
            CHECK_NEAR(bar[i], want, 1e-8 * (1 + fabs(want)));
        }
    }
}

int main(void)
{
    RUN(test_adjoint);
    RUN(test_node_adjoint);
    RUN(test_damping_is_exact);
    RUN(test_a_hinge);
    RUN(test_held_axes);
    RUN(test_update_adjoint);
    return check_failures != 0;
}
