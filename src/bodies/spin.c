#include "bodies/spin.h"

// Products and quotients by entry: the diagonal inertia and its inverse at work.
static cr_vec3 times(cr_vec3 d, cr_vec3 a)
{
    return (cr_vec3){d.x * a.x, d.y * a.y, d.z * a.z};
}

static cr_vec3 over(cr_vec3 a, cr_vec3 d)
{
    return (cr_vec3){a.x / d.x, a.y / d.y, a.z / d.z};
}

static void add(cr_vec3* sum, cr_vec3 a)
{
    *sum = cr_vec3_add(*sum, a);
}

static cr_quat turned(cr_quat q, cr_vec3 w)
{
    return cr_quat_normalize(cr_quat_mul(q, cr_quat_from_rotation(w)));
}

void cr_spin_predict(cr_vec3 inertia, double h, cr_quat q, cr_vec3 om, cr_vec3 torque, cr_quat* q_p,
                     cr_vec3* om_1)
{
    const cr_rot r = cr_rot_make(cr_vec3_scale(h, om));
    const cr_vec3 momentum = cr_mat3_tapply(cr_rot_matrix(&r), times(inertia, om));
    *q_p = turned(q, r.w);
    *om_1 = over(cr_vec3_add_scaled(momentum, h, torque), inertia);
}

// Let E move to E exp(d). Then R_p moves by d, and c = E^T I om by -d x c, so with k = I^-1
// om_1_bar
//   dL = q_p_bar.d - k.(d x c) = d.(q_p_bar + k x c) =: d.x.
// d = Jr(h om) d(h om) for a change of om, and d = om dh for one of h (Jr leaves its own axis
// alone). R -> R exp(delta) turns R_p by E^T delta.
void cr_spin_predict_adj(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque, cr_vec3 q_p_bar,
                         cr_vec3 om_1_bar, cr_vec3* q_bar, cr_vec3* om_bar, cr_vec3* torque_bar,
                         cr_vec3* inertia_bar, double* h_bar)
{
    const cr_rot r = cr_rot_make(cr_vec3_scale(h, om));
    const cr_mat3 e = cr_rot_matrix(&r);
    const cr_vec3 c = cr_mat3_tapply(e, times(inertia, om));
    const cr_vec3 om_1 = over(cr_vec3_add_scaled(c, h, torque), inertia);
    const cr_vec3 k = over(om_1_bar, inertia);
    const cr_vec3 ek = cr_mat3_apply(e, k);
    const cr_vec3 x = cr_vec3_add(q_p_bar, cr_vec3_cross(k, c));

    add(q_bar, cr_mat3_apply(e, q_p_bar));
    add(om_bar, cr_vec3_scale(h, cr_mat3_tapply(cr_rot_right(&r), x)));
    add(om_bar, times(inertia, ek));
    add(torque_bar, cr_vec3_scale(h, k));
    // I stands before om, and its inverse before the whole
    add(inertia_bar, cr_vec3_sub(times(ek, om), times(k, om_1)));
    *h_bar += cr_vec3_dot(om, x) + cr_vec3_dot(k, torque);
}

// I om_1 + Jr(w)^-1 I w / h: the angular momentum in the predicted frame
static cr_vec3 momentum_after(cr_vec3 inertia, double h, cr_vec3 om_1, const cr_rot* r)
{
    const cr_vec3 gained = cr_mat3_apply(cr_rot_right_inverse(r), times(inertia, r->w));
    return cr_vec3_add_scaled(times(inertia, om_1), 1.0 / h, gained);
}

void cr_spin_update(cr_vec3 inertia, double h, cr_quat q_p, cr_vec3 om_1, cr_vec3 w, cr_quat* q,
                    cr_vec3* om)
{
    const cr_rot r = cr_rot_make(w);
    const cr_vec3 y = momentum_after(inertia, h, om_1, &r);
    *q = turned(q_p, w);
    *om = over(cr_mat3_tapply(cr_rot_matrix(&r), y), inertia);
}

// As above with E = exp(w), c = E^T y, k = I^-1 om_bar: E exp(d) costs d.(q_bar + k x c), d = Jr
// dw; y_bar = E k; and with b = I w, g = Jr^-T y_bar / h:
//   dy = I dom_1 + dI om_1 + (Jr^-1 (I dw + dI w) + d(Jr^-1 b)/dw dw) / h
void cr_spin_update_adj(cr_vec3 inertia, double h, cr_vec3 om_1, cr_vec3 w, cr_vec3 q_bar,
                        cr_vec3 om_bar, cr_vec3* q_p_bar, cr_vec3* om_1_bar, cr_vec3* w_bar,
                        cr_vec3* inertia_bar)
{
    const cr_rot r = cr_rot_make(w);
    const cr_mat3 e = cr_rot_matrix(&r);
    const cr_vec3 c = cr_mat3_tapply(e, momentum_after(inertia, h, om_1, &r));
    const cr_vec3 k = over(om_bar, inertia);
    const cr_vec3 y_bar = cr_mat3_apply(e, k);
    const cr_vec3 yh = cr_vec3_scale(1.0 / h, y_bar);
    const cr_vec3 g = cr_mat3_tapply(cr_rot_right_inverse(&r), yh);
    const cr_vec3 x = cr_vec3_add(q_bar, cr_vec3_cross(k, c));

    add(q_p_bar, cr_mat3_apply(e, q_bar));
    add(om_1_bar, times(inertia, y_bar));
    add(w_bar, cr_mat3_tapply(cr_rot_right(&r), x));
    add(w_bar, times(inertia, g));
    add(w_bar, cr_mat3_tapply(cr_rot_right_inverse_dw(&r, times(inertia, w)), yh));
    add(inertia_bar, cr_vec3_add(times(y_bar, om_1), times(g, w)));
    add(inertia_bar, cr_vec3_neg(times(k, over(c, inertia))));
}
