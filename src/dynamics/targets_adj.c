#include "bodies/body_set.h"
#include "bodies/spin.h"
#include "dynamics/targets.h"

static cr_vec3 unlocked(cr_vec3 a, int32_t lock)
{
    return (cr_vec3){lock & 1 ? 0.0 : a.x, lock & 2 ? 0.0 : a.y, lock & 4 ? 0.0 : a.z};
}

// v1 = keep P (v + h a), u = h v1, keep = exp(-c h); a = gravity + force/m.
static void translation_adj(double mass, int32_t lock, double h, const cr_action* action,
                            const cr_target* target, cr_vec3 v, const cr_target_bars* in,
                            cr_target_starts* out)
{
    const double keep = cr_exp(-action->linear_damping * h);
    cr_vec3 v1_bar = cr_vec3_add_scaled(in->v, h, in->u);
    out->linear_damping -= h * cr_vec3_dot(v1_bar, target->v);
    v1_bar = cr_vec3_scale(keep, unlocked(v1_bar, lock));
    const cr_vec3 a_bar = cr_vec3_scale(h, v1_bar);
    (void)v;
    out->v = cr_vec3_add(out->v, v1_bar);
    out->gravity = cr_vec3_add(out->gravity, a_bar);
    out->force = cr_vec3_add_scaled(out->force, 1.0 / mass, a_bar);
    out->mass -= cr_vec3_dot(a_bar, action->force) / (mass * mass);
}

// Torque in body axes is R^T tau: along R -> R exp([delta]) it changes by -delta x (R^T tau).
void cr_targets_rigid_adj(double mass, cr_vec3 inertia, int32_t lock, double h,
                          const cr_action* action, const cr_target* target, cr_quat q, cr_vec3 v,
                          cr_vec3 om, const cr_target_bars* in, cr_target_starts* out)
{
    translation_adj(mass, lock, h, action, target, v, in, out);
    const cr_mat3 r = cr_quat_to_matrix(q);
    const cr_vec3 torque = cr_mat3_tapply(r, action->torque);
    const double keep = cr_exp(-action->angular_damping * h);
    out->angular_damping -= h * cr_vec3_dot(in->om, target->om);
    const cr_vec3 om1_bar = cr_vec3_scale(keep, in->om);
    const cr_vec3 rate = cr_spin_rate(inertia, h, om, torque);
    cr_vec3 rate_bar = in->rate, torque_bar = {0, 0, 0};
    double h_bar = 0.0;
    cr_spin_path_adj(inertia, h, om, torque, rate, in->q, om1_bar, &out->q, &out->om, &torque_bar,
                     &out->inertia, &rate_bar, &h_bar);
    cr_spin_rate_adj(inertia, h, om, torque, rate_bar, &out->om, &torque_bar, &out->inertia,
                     &h_bar);
    out->torque = cr_vec3_add(out->torque, cr_mat3_apply(r, torque_bar));
    // torque_bar . (-delta x torque) = delta . (torque_bar x torque) ... by the triple product
    out->q = cr_vec3_add(out->q, cr_vec3_cross(torque_bar, torque));
}

// dt = h v + h^2 (gravity + force/m)
void cr_targets_node_adj(double mass, double h, cr_vec3 force, cr_vec3 dt_bar, cr_vec3* v_bar,
                         cr_vec3* gravity_bar, cr_vec3* force_bar, double* mass_bar)
{
    *v_bar = cr_vec3_add_scaled(*v_bar, h, dt_bar);
    *gravity_bar = cr_vec3_add_scaled(*gravity_bar, h * h, dt_bar);
    *force_bar = cr_vec3_add_scaled(*force_bar, h * h / mass, dt_bar);
    *mass_bar -= h * h * cr_vec3_dot(dt_bar, force) / (mass * mass);
}
