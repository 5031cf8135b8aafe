#include "bodies/body_set.h"
#include "bodies/spin_held.h"
#include "dynamics/targets.h"

static cr_vec3 unlocked(cr_vec3 a, int32_t lock)
{
    return (cr_vec3){lock & 1 ? 0.0 : a.x, lock & 2 ? 0.0 : a.y, lock & 4 ? 0.0 : a.z};
}

// v1 = P (keep v + gain a0), u = h v1, a0 = gravity + force/m; the path's a is (v1 - v)/h.
static void translation_adj(double mass, int32_t lock, double h, const cr_action* action, cr_vec3 v,
                            const cr_target_bars* in, cr_target_starts* out)
{
    const cr_targets_fade fade = cr_targets_fade_make(action->linear_damping, h);
    const cr_vec3 a0 = cr_vec3_add_scaled(action->gravity, 1.0 / mass, action->force);
    cr_vec3 v1_bar = cr_vec3_add_scaled(in->v, h, in->u);
    v1_bar = unlocked(cr_vec3_add_scaled(v1_bar, 1.0 / h, in->a), lock);
    out->v = cr_vec3_add_scaled(out->v, -1.0 / h, in->a);
    out->v = cr_vec3_add_scaled(out->v, fade.keep, v1_bar);
    const cr_vec3 a0_bar = cr_vec3_scale(fade.gain, v1_bar);
    out->linear_damping +=
        fade.keep_slope * cr_vec3_dot(v1_bar, v) + fade.gain_slope * cr_vec3_dot(v1_bar, a0);
    cr_vec3_add_to(&out->gravity, a0_bar);
    out->force = cr_vec3_add_scaled(out->force, 1.0 / mass, a0_bar);
    out->mass -= cr_vec3_dot(a0_bar, action->force) / (mass * mass);
}

// The turning of a step, forward, as far as its reverse looks at it.
typedef struct turning {
    cr_vec3 inertia;
    int32_t held;
    double h;
    cr_mat3 r, r1;
    cr_vec3 om0;    // of the start, along the free axes
    cr_vec3 torque; // body axes
    cr_vec3 rate, free, om1;
} turning;

// Bars of what it is made of.
typedef struct turning_bars {
    cr_vec3 q1, om1, free, rate, om0, torque;
} turning_bars;

// The path's torque: torque + I (om1 - free)/h; of a body that is held I (E om1 - om0)/h, where
// E = exp(h rate) moves to E exp(d) with d = h Jr drate.
static void path_torque_adj(const turning* t, cr_vec3 bar, turning_bars* b, cr_vec3* inertia_bar)
{
    const cr_vec3 by = cr_vec3_scale(1.0 / t->h, cr_vec3_times(t->inertia, bar));
    if (!t->held) {
        cr_vec3_add_to(&b->torque, bar);
        cr_vec3_add_to(&b->om1, by);
        cr_vec3_add_to(&b->free, cr_vec3_neg(by));
        cr_vec3_add_to(inertia_bar,
                       cr_vec3_scale(1.0 / t->h, cr_vec3_times(bar, cr_vec3_sub(t->om1, t->free))));
        return;
    }
    const cr_rot rot = cr_rot_make(cr_vec3_scale(t->h, t->rate));
    const cr_mat3 e = cr_rot_matrix(&rot);
    const cr_vec3 gain = cr_vec3_sub(cr_mat3_apply(e, t->om1), t->om0);
    const cr_vec3 end_bar = cr_mat3_tapply(e, by);
    cr_vec3_add_to(&b->om1, end_bar);
    cr_vec3_add_to(&b->om0, cr_vec3_neg(by));
    cr_vec3_add_to(inertia_bar, cr_vec3_scale(1.0 / t->h, cr_vec3_times(bar, gain)));
    const cr_vec3 d_bar = cr_vec3_cross(t->om1, end_bar);
    cr_vec3_add_to(&b->rate, cr_vec3_scale(t->h, cr_mat3_tapply(cr_rot_right(&rot), d_bar)));
}

// om1 = G m, m = keep I free + (gain - keep h) torque.
static void end_spin_adj(const turning* t, double damping, turning_bars* b, cr_target_starts* out)
{
    const cr_targets_fade fade = cr_targets_fade_make(damping, t->h);
    const double rest = fade.gain - fade.keep * t->h;
    const cr_vec3 momentum = cr_vec3_times(t->inertia, t->free);
    cr_vec3 m_bar = {0};
    if (t->held) {
        const cr_vec3 m = cr_vec3_add_scaled(cr_vec3_scale(fade.keep, momentum), rest, t->torque);
        cr_spin_held_solve_adj(t->r1, t->inertia, t->held, m, b->om1, &b->q1, &m_bar,
                               &out->inertia);
    } else {
        m_bar = cr_vec3_over(b->om1, t->inertia);
        cr_vec3_add_to(&out->inertia, cr_vec3_neg(cr_vec3_times(m_bar, t->om1)));
    }
    b->free = cr_vec3_add_scaled(b->free, fade.keep, cr_vec3_times(t->inertia, m_bar));
    cr_vec3_add_to(&out->inertia, cr_vec3_scale(fade.keep, cr_vec3_times(m_bar, t->free)));
    b->torque = cr_vec3_add_scaled(b->torque, rest, m_bar);
    out->angular_damping +=
        fade.keep_slope * cr_vec3_dot(m_bar, momentum) +
        (fade.gain_slope - fade.keep_slope * t->h) * cr_vec3_dot(m_bar, t->torque);
}

// rate = om0 + h/2 G (torque - om0 x I om0) of a body that is held.
static void rate_adj(const turning* t, turning_bars* b, cr_target_starts* out)
{
    if (!t->held) {
        double h_bar = 0.0;
        cr_spin_rate_adj(t->inertia, t->h, t->om0, t->torque, b->rate, &b->om0, &b->torque,
                         &out->inertia, &h_bar);
        return;
    }
    const cr_vec3 momentum = cr_vec3_times(t->inertia, t->om0);
    const cr_vec3 pull = cr_vec3_sub(t->torque, cr_vec3_cross(t->om0, momentum));
    cr_vec3 pull_bar = {0};
    cr_spin_held_solve_adj(t->r, t->inertia, t->held, pull, cr_vec3_scale(0.5 * t->h, b->rate),
                           &out->q, &pull_bar, &out->inertia);
    const cr_vec3 momentum_bar = cr_vec3_cross(t->om0, pull_bar);
    cr_vec3_add_to(&b->om0, b->rate);
    cr_vec3_add_to(&b->om0, cr_vec3_cross(pull_bar, momentum));
    cr_vec3_add_to(&b->om0, cr_vec3_times(t->inertia, momentum_bar));
    cr_vec3_add_to(&out->inertia, cr_vec3_times(momentum_bar, t->om0));
    cr_vec3_add_to(&b->torque, pull_bar);
}

// Torque in body axes is R^T tau: along R -> R exp([delta]) it changes by -delta x (R^T tau).
void cr_targets_rigid_adj(double mass, cr_vec3 inertia, int32_t lock, double h,
                          const cr_action* action, const cr_target* target, cr_quat q, cr_vec3 v,
                          cr_vec3 om, const cr_target_bars* in, cr_target_starts* out)
{
    translation_adj(mass, lock, h, action, v, in, out);
    turning t = {.inertia = inertia,
                 .held = lock >> 3,
                 .h = h,
                 .r = cr_quat_to_matrix(q),
                 .r1 = cr_quat_to_matrix(target->q),
                 .rate = target->rate,
                 .om1 = target->om};
    cr_quat q1;
    t.om0 = t.held ? cr_spin_held_part(t.r, t.held, om) : om;
    t.torque = cr_mat3_tapply(t.r, action->torque);
    cr_spin_path(inertia, h, q, t.om0, t.torque, t.rate, &q1, &t.free);

    turning_bars b = {.q1 = in->q, .om1 = in->om, .rate = in->rate};
    double h_bar = 0.0;
    path_torque_adj(&t, in->torque, &b, &out->inertia);
    end_spin_adj(&t, action->angular_damping, &b, out);
    cr_spin_path_adj(inertia, h, t.om0, t.torque, t.rate, b.q1, b.free, &out->q, &b.om0, &b.torque,
                     &out->inertia, &b.rate, &h_bar);
    rate_adj(&t, &b, out);
    if (t.held) {
        cr_spin_held_part_adj(t.r, t.held, om, b.om0, &out->q, &out->om);
    } else {
        cr_vec3_add_to(&out->om, b.om0);
    }
    cr_vec3_add_to(&out->torque, cr_mat3_apply(t.r, b.torque));
    // torque_bar . (-delta x torque) = delta . (torque_bar x torque) ... by the triple product
    cr_vec3_add_to(&out->q, cr_vec3_cross(b.torque, t.torque));
}

// dt = h (keep v + gain a), a = gravity + force/m
void cr_targets_node_adj(double mass, double h, cr_vec3 gravity, cr_vec3 force, double damping,
                         cr_vec3 v, cr_vec3 dt_bar, cr_vec3* v_bar, cr_vec3* gravity_bar,
                         cr_vec3* force_bar, double* mass_bar, double* damping_bar)
{
    const cr_targets_fade fade = cr_targets_fade_make(damping, h);
    const cr_vec3 a = cr_vec3_add_scaled(gravity, 1.0 / mass, force);
    const cr_vec3 v1_bar = cr_vec3_scale(h, dt_bar), a_bar = cr_vec3_scale(fade.gain, v1_bar);
    *v_bar = cr_vec3_add_scaled(*v_bar, fade.keep, v1_bar);
    cr_vec3_add_to(gravity_bar, a_bar);
    *force_bar = cr_vec3_add_scaled(*force_bar, 1.0 / mass, a_bar);
    *mass_bar -= cr_vec3_dot(a_bar, force) / (mass * mass);
    *damping_bar +=
        fade.keep_slope * cr_vec3_dot(v1_bar, v) + fade.gain_slope * cr_vec3_dot(v1_bar, a);
}
