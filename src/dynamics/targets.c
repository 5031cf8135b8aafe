#include "dynamics/targets.h"
#include "bodies/body_set.h"
#include "bodies/spin.h"

static cr_vec3 unlocked(cr_vec3 a, int32_t lock)
{
    return (cr_vec3){lock & 1 ? 0.0 : a.x, lock & 2 ? 0.0 : a.y, lock & 4 ? 0.0 : a.z};
}

// Of a spin in body axes, the world axes in `lock` taken out.
static cr_vec3 unlocked_spin(cr_quat q, cr_vec3 om, int32_t lock)
{
    const cr_mat3 r = cr_quat_to_matrix(q);
    return cr_mat3_tapply(r, unlocked(cr_mat3_apply(r, om), lock));
}

// The spin in body axes whose angular momentum about the free world axes is that of `momentum`
// (body axes); what holds the locked ones takes the rest. A rotation about one free axis that is
// not principal thus keeps its speed.
static cr_vec3 held_spin(cr_quat q, cr_vec3 inertia, cr_vec3 momentum, int32_t lock)
{
    const cr_mat3 r = cr_quat_to_matrix(q);
    cr_mat3 i = cr_mat3_mul(r, cr_mat3_mul(cr_mat3_diagonal(inertia), cr_mat3_transpose(r)));
    const cr_vec3 l = unlocked(cr_mat3_apply(r, momentum), lock);
    for (int k = 0; k < 3; k++) {
        if (lock >> k & 1) {
            for (int j = 0; j < 3; j++) {
                i.m[k][j] = i.m[j][k] = j == k;
            }
        }
    }
    const cr_vec3 c0 = cr_mat3_column(i, 0), c1 = cr_mat3_column(i, 1), c2 = cr_mat3_column(i, 2);
    const double det = cr_mat3_det(i);
    const cr_vec3 spin = {cr_vec3_dot(l, cr_vec3_cross(c1, c2)) / det,
                          cr_vec3_dot(l, cr_vec3_cross(c2, c0)) / det,
                          cr_vec3_dot(l, cr_vec3_cross(c0, c1)) / det};
    return cr_mat3_tapply(r, unlocked(spin, lock));
}

static cr_vec3 times(cr_vec3 d, cr_vec3 a)
{
    return (cr_vec3){d.x * a.x, d.y * a.y, d.z * a.z};
}

static void aim_turning(cr_vec3 inertia, int32_t lock, double h, double damping, cr_quat q,
                        cr_vec3 om, cr_target* target)
{
    if (lock) { // a turn about a free axis stays about it
        om = unlocked_spin(q, om, lock);
        target->rate = om;
    } else {
        target->rate = cr_spin_rate(inertia, h, om, target->torque);
    }
    cr_vec3 free;
    cr_spin_path(inertia, h, q, om, target->torque, target->rate, &target->q, &free);
    target->om = lock ? held_spin(target->q, inertia, times(inertia, free), lock) : free;
    if (damping > 0.0) {
        target->om = cr_vec3_scale(cr_exp(-damping * h), target->om);
    }
    const cr_vec3 more = cr_vec3_sub(target->om, free);
    target->torque = cr_vec3_add_scaled(target->torque, 1.0 / h, times(inertia, more));
}

cr_target cr_targets_rigid(double mass, cr_vec3 inertia, int32_t lock, double h,
                           const cr_action* action, cr_quat q, cr_vec3 v, cr_vec3 om)
{
    cr_target target;
    target.a = cr_vec3_add_scaled(action->gravity, 1.0 / mass, action->force);
    target.v = cr_vec3_add_scaled(v, h, target.a);
    if (lock || action->linear_damping > 0.0) {
        const double keep = cr_exp(-action->linear_damping * h);
        target.v = unlocked(cr_vec3_scale(keep, target.v), lock);
        target.a = cr_vec3_scale(1.0 / h, cr_vec3_sub(target.v, v));
    }
    target.u = cr_vec3_scale(h, target.v);
    target.torque = cr_mat3_tapply(cr_quat_to_matrix(q), action->torque);
    aim_turning(inertia, lock >> 3, h, action->angular_damping, q, om, &target);
    return target;
}

cr_vec3 cr_targets_node(double mass, double h, cr_vec3 gravity, cr_vec3 force, cr_vec3 v)
{
    const cr_vec3 a = cr_vec3_add_scaled(gravity, 1.0 / mass, force);
    return cr_vec3_scale(h, cr_vec3_add_scaled(v, h, a));
}
