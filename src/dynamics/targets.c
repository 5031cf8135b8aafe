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

cr_target cr_targets_rigid(double mass, cr_vec3 inertia, int32_t lock, double h,
                           const cr_action* action, cr_quat q, cr_vec3 v, cr_vec3 om)
{
    cr_target target;
    const double keep = cr_exp(-action->linear_damping * h);
    const double keep_spin = cr_exp(-action->angular_damping * h);
    const cr_vec3 a = cr_vec3_add_scaled(action->gravity, 1.0 / mass, action->force);
    target.v = cr_vec3_scale(keep, cr_vec3_add_scaled(v, h, a));
    const cr_vec3 torque = cr_mat3_tapply(cr_quat_to_matrix(q), action->torque);
    if (lock) {
        target.v = unlocked(target.v, lock);
        om = lock >> 3 ? unlocked_spin(q, om, lock >> 3) : om;
    }
    target.u = cr_vec3_scale(h, target.v);
    cr_spin_predict(inertia, h, q, om, torque, &target.q, &target.om);
    target.om = cr_vec3_scale(keep_spin, target.om);
    if (lock >> 3) {
        target.om = unlocked_spin(target.q, target.om, lock >> 3);
    }
    return target;
}

cr_vec3 cr_targets_node(double mass, double h, cr_vec3 gravity, cr_vec3 force, cr_vec3 v)
{
    const cr_vec3 a = cr_vec3_add_scaled(gravity, 1.0 / mass, force);
    return cr_vec3_scale(h, cr_vec3_add_scaled(v, h, a));
}
