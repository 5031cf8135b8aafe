#include "dynamics/targets.h"
#include "bodies/body_set.h"
#include "bodies/spin_held.h"

static cr_vec3 unlocked(cr_vec3 a, int32_t lock)
{
    return (cr_vec3){lock & 1 ? 0.0 : a.x, lock & 2 ? 0.0 : a.y, lock & 4 ? 0.0 : a.z};
}

// With x = c h: gain/h = phi(x) = (1 - exp(-x))/x, and phi' = (exp(-x) - phi)/x, which below
// phi_small is a difference of equals: there six terms of its series have 16 digits.
static const double phi_small = 1e-2;

cr_targets_fade cr_targets_fade_make(double c, double h)
{
    const double x = c * h;
    const double keep = cr_exp(-x), phi = x > 0.0 ? -cr_expm1(-x) / x : 1.0;
    const double slope =
        x < phi_small
            ? -1.0 / 2 + x * (1.0 / 3 - x * (1.0 / 8 - x * (1.0 / 30 - x * (1.0 / 144 - x / 840))))
            : (keep - phi) / x;
    return (cr_targets_fade){keep, h * phi, -h * keep, h * h * slope};
}

// rate is the mean of the spins at both ends: of a body that is held in some axes it is found from
// the acceleration at the start, exactly when one axis is free.
static cr_vec3 turning_rate(cr_vec3 inertia, int32_t held, double h, cr_mat3 r, cr_vec3 om,
                            cr_vec3 torque)
{
    if (!held) {
        return cr_spin_rate(inertia, h, om, torque);
    }
    const cr_vec3 pull = cr_vec3_sub(torque, cr_vec3_cross(om, cr_vec3_times(inertia, om)));
    return cr_vec3_add_scaled(om, 0.5 * h, cr_spin_held_solve(r, inertia, held, pull));
}

static void aim_turning(cr_vec3 inertia, int32_t held, double h, double damping, cr_quat q,
                        cr_vec3 om, cr_target* target)
{
    const cr_mat3 r = cr_quat_to_matrix(q);
    const cr_vec3 torque = target->torque;
    om = held ? cr_spin_held_part(r, held, om) : om;
    target->rate = turning_rate(inertia, held, h, r, om, torque);
    cr_vec3 free;
    cr_spin_path(inertia, h, q, om, torque, target->rate, &target->q, &free);
    target->om = free;
    if (!held && !(damping > 0.0)) {
        return;
    }
    const cr_targets_fade fade = cr_targets_fade_make(damping, h);
    const cr_vec3 kept = cr_vec3_scale(fade.keep, cr_vec3_times(inertia, free));
    const cr_vec3 m = cr_vec3_add_scaled(kept, fade.gain - fade.keep * h, torque);
    if (held) {
        const cr_mat3 r1 = cr_quat_to_matrix(target->q);
        target->om = cr_spin_held_solve(r1, inertia, held, m);
        const cr_vec3 end = cr_mat3_tapply(r, cr_mat3_apply(r1, target->om));
        target->torque = cr_vec3_scale(1.0 / h, cr_vec3_times(inertia, cr_vec3_sub(end, om)));
        return;
    }
    target->om = cr_vec3_over(m, inertia);
    const cr_vec3 more = cr_vec3_sub(target->om, free);
    target->torque = cr_vec3_add_scaled(torque, 1.0 / h, cr_vec3_times(inertia, more));
}

cr_target cr_targets_rigid(double mass, cr_vec3 inertia, int32_t lock, double h,
                           const cr_action* action, cr_quat q, cr_vec3 v, cr_vec3 om)
{
    cr_target target;
    target.a = cr_vec3_add_scaled(action->gravity, 1.0 / mass, action->force);
    target.v = cr_vec3_add_scaled(v, h, target.a);
    if (lock || action->linear_damping > 0.0) {
        const cr_targets_fade fade = cr_targets_fade_make(action->linear_damping, h);
        const cr_vec3 kept = cr_vec3_scale(fade.keep, v);
        target.v = unlocked(cr_vec3_add_scaled(kept, fade.gain, target.a), lock);
        target.a = cr_vec3_scale(1.0 / h, cr_vec3_sub(target.v, v));
    }
    target.u = cr_vec3_scale(h, target.v);
    target.torque = cr_mat3_tapply(cr_quat_to_matrix(q), action->torque);
    aim_turning(inertia, lock >> 3, h, action->angular_damping, q, om, &target);
    return target;
}

cr_vec3 cr_targets_node(double mass, double h, cr_vec3 gravity, cr_vec3 force, double damping,
                        cr_vec3 v)
{
    const cr_vec3 a = cr_vec3_add_scaled(gravity, 1.0 / mass, force);
    if (!(damping > 0.0)) {
        return cr_vec3_scale(h, cr_vec3_add_scaled(v, h, a));
    }
    const cr_targets_fade fade = cr_targets_fade_make(damping, h);
    return cr_vec3_scale(h, cr_vec3_add_scaled(cr_vec3_scale(fade.keep, v), fade.gain, a));
}
