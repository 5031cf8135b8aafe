#include "bodies/body_set.h"
#include "bodies/spin_held.h"
#include "dynamics/targets.h"

static cr_vec3 unlocked(cr_vec3 a, int32_t lock)
{
    return (cr_vec3){lock & 1 ? 0.0 : a.x, lock & 2 ? 0.0 : a.y, lock & 4 ? 0.0 : a.z};
}

// keep v + gain a with a = gravity + force/m
static cr_vec3 speed_jvp(double mass, double h, cr_vec3 gravity, cr_vec3 force, double damping,
                         cr_vec3 v, cr_vec3 dv, cr_vec3 dgravity, cr_vec3 dforce, double dmass,
                         double ddamping)
{
    const cr_targets_fade fade = cr_targets_fade_make(damping, h);
    const cr_vec3 a = cr_vec3_add_scaled(gravity, 1.0 / mass, force);
    cr_vec3 da = cr_vec3_add_scaled(dgravity, 1.0 / mass, dforce);
    da = cr_vec3_add_scaled(da, -dmass / (mass * mass), force);
    const cr_vec3 by_damping =
        cr_vec3_add_scaled(cr_vec3_scale(fade.keep_slope, v), fade.gain_slope, a);
    const cr_vec3 sum = cr_vec3_add_scaled(cr_vec3_scale(fade.keep, dv), fade.gain, da);
    return cr_vec3_add_scaled(sum, ddamping, by_damping);
}

// The turning of a step, forward, and how it changes.
typedef struct turning {
    cr_vec3 inertia, dinertia;
    int32_t held;
    double h;
    cr_mat3 r, r1;
    cr_vec3 om0, torque, rate, free, om1; // as in targets_adj.c
    cr_vec3 dq, dom0, dtorque, drate, dq1, dfree, dom1;
} turning;

// rate = om0 + h/2 G (torque - om0 x I om0) of a body that is held.
static cr_vec3 rate_jvp(const turning* t)
{
    if (!t->held) {
        return cr_spin_rate_jvp(t->inertia, t->h, t->om0, t->torque, t->dom0, t->dtorque,
                                t->dinertia, 0.0);
    }
    const cr_vec3 momentum = cr_vec3_times(t->inertia, t->om0);
    const cr_vec3 dmomentum =
        cr_vec3_add(cr_vec3_times(t->dinertia, t->om0), cr_vec3_times(t->inertia, t->dom0));
    const cr_vec3 pull = cr_vec3_sub(t->torque, cr_vec3_cross(t->om0, momentum));
    cr_vec3 dpull = cr_vec3_sub(t->dtorque, cr_vec3_cross(t->dom0, momentum));
    dpull = cr_vec3_sub(dpull, cr_vec3_cross(t->om0, dmomentum));
    return cr_vec3_add_scaled(
        t->dom0, 0.5 * t->h,
        cr_spin_held_solve_jvp(t->r, t->inertia, t->held, pull, t->dq, dpull, t->dinertia));
}

// om1 = G m, m = keep I free + (gain - keep h) torque.
static cr_vec3 end_spin_jvp(const turning* t, double damping, double ddamping)
{
    const cr_targets_fade fade = cr_targets_fade_make(damping, t->h);
    const double rest = fade.gain - fade.keep * t->h;
    const cr_vec3 momentum = cr_vec3_times(t->inertia, t->free);
    const cr_vec3 dmomentum =
        cr_vec3_add(cr_vec3_times(t->dinertia, t->free), cr_vec3_times(t->inertia, t->dfree));
    cr_vec3 dm = cr_vec3_add_scaled(cr_vec3_scale(fade.keep, dmomentum), rest, t->dtorque);
    dm = cr_vec3_add_scaled(dm, ddamping * fade.keep_slope, momentum);
    dm = cr_vec3_add_scaled(dm, ddamping * (fade.gain_slope - fade.keep_slope * t->h), t->torque);
    if (!t->held) {
        return cr_vec3_over(cr_vec3_sub(dm, cr_vec3_times(t->dinertia, t->om1)), t->inertia);
    }
    const cr_vec3 m = cr_vec3_add_scaled(cr_vec3_scale(fade.keep, momentum), rest, t->torque);
    return cr_spin_held_solve_jvp(t->r1, t->inertia, t->held, m, t->dq1, dm, t->dinertia);
}

// The path's torque: torque + I (om1 - free)/h; of a body that is held I (E om1 - om0)/h.
static cr_vec3 path_torque_jvp(const turning* t)
{
    cr_vec3 gain = cr_vec3_sub(t->om1, t->free), dgain = cr_vec3_sub(t->dom1, t->dfree);
    cr_vec3 sum = t->dtorque;
    if (t->held) {
        const cr_rot rot = cr_rot_make(cr_vec3_scale(t->h, t->rate));
        const cr_mat3 e = cr_rot_matrix(&rot);
        const cr_vec3 d = cr_vec3_scale(t->h, cr_mat3_apply(cr_rot_right(&rot), t->drate));
        gain = cr_vec3_sub(cr_mat3_apply(e, t->om1), t->om0);
        dgain = cr_mat3_apply(e, cr_vec3_add(t->dom1, cr_vec3_cross(d, t->om1)));
        dgain = cr_vec3_sub(dgain, t->dom0);
        sum = (cr_vec3){0};
    }
    sum = cr_vec3_add_scaled(sum, 1.0 / t->h, cr_vec3_times(t->inertia, dgain));
    return cr_vec3_add_scaled(sum, 1.0 / t->h, cr_vec3_times(t->dinertia, gain));
}

void cr_targets_rigid_jvp(double mass, cr_vec3 inertia, int32_t lock, double h,
                          const cr_action* action, const cr_target* target, cr_quat q, cr_vec3 v,
                          cr_vec3 om, const cr_target_starts* d, cr_target_bars* out)
{
    out->v = unlocked(speed_jvp(mass, h, action->gravity, action->force, action->linear_damping, v,
                                d->v, d->gravity, d->force, d->mass, d->linear_damping),
                      lock);
    out->u = cr_vec3_scale(h, out->v);
    out->a = cr_vec3_scale(1.0 / h, cr_vec3_sub(out->v, d->v));

    turning t = {.inertia = inertia,
                 .dinertia = d->inertia,
                 .held = lock >> 3,
                 .h = h,
                 .r = cr_quat_to_matrix(q),
                 .r1 = cr_quat_to_matrix(target->q),
                 .rate = target->rate,
                 .om1 = target->om,
                 .dq = d->q};
    cr_quat q1;
    t.om0 = t.held ? cr_spin_held_part(t.r, t.held, om) : om;
    t.dom0 = t.held ? cr_spin_held_part_jvp(t.r, t.held, om, d->q, d->om) : d->om;
    t.torque = cr_mat3_tapply(t.r, action->torque); // moves by -delta x torque
    t.dtorque = cr_vec3_sub(cr_mat3_tapply(t.r, d->torque), cr_vec3_cross(d->q, t.torque));
    cr_spin_path(inertia, h, q, t.om0, t.torque, t.rate, &q1, &t.free);
    t.drate = rate_jvp(&t);
    const cr_spin_path_tangent path = {
        .q = t.dq, .om = t.dom0, .torque = t.dtorque, .inertia = t.dinertia, .rate = t.drate};
    cr_spin_path_jvp(inertia, h, t.om0, t.torque, t.rate, &path, &t.dq1, &t.dfree);
    t.dom1 = end_spin_jvp(&t, action->angular_damping, d->angular_damping);
    out->q = t.dq1;
    out->om = t.dom1;
    out->rate = t.drate;
    out->torque = path_torque_jvp(&t);
}

cr_vec3 cr_targets_node_jvp(double mass, double h, cr_vec3 gravity, cr_vec3 force, double damping,
                            cr_vec3 v, cr_vec3 dv, cr_vec3 dgravity, cr_vec3 dforce, double dmass,
                            double ddamping)
{
    return cr_vec3_scale(
        h, speed_jvp(mass, h, gravity, force, damping, v, dv, dgravity, dforce, dmass, ddamping));
}
