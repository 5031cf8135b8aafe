#include "bodies/spin.h"

static cr_quat turned(cr_quat q, cr_vec3 w)
{
    return cr_quat_normalize(cr_quat_mul(q, cr_quat_from_rotation(w)));
}

// Newton for the rate takes 3 or 4 steps; the limit is for bodies too fast for it.
enum { RATE_STEPS = 20 };

// Of the spin: a change of the rate below it is round-off.
static const double rate_round_off = 4e-16;

// [rad] The turn by the mean rate differs from that by the spin by less than this, or it is not
// the one that a shorter step would lead to.
static const double rate_nearby = 0.5;

// x = A^-1 b by Cramer's rule; A is near twice the identity here
static cr_vec3 solve(cr_mat3 a, cr_vec3 b)
{
    const cr_vec3 c0 = cr_mat3_column(a, 0), c1 = cr_mat3_column(a, 1), c2 = cr_mat3_column(a, 2);
    const cr_vec3 c12 = cr_vec3_cross(c1, c2);
    const double det = cr_vec3_dot(c0, c12);
    return (cr_vec3){cr_vec3_dot(b, c12) / det, cr_vec3_dot(b, cr_vec3_cross(c2, c0)) / det,
                     cr_vec3_dot(b, cr_vec3_cross(c0, c1)) / det};
}

// The mean as an equation: G(rate) = 2 rate - om - om(h) = 0. When E = exp(h rate) moves to
// E exp(d), c = E^T I om moves by c x d, and d = h Jr drate:  dG/drate = 2 - h I^-1 [c] Jr.
static cr_mat3 mean_slope(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 rate, cr_vec3* c)
{
    const cr_rot r = cr_rot_make(cr_vec3_scale(h, rate));
    *c = cr_mat3_tapply(cr_rot_matrix(&r), cr_vec3_times(inertia, om));
    cr_mat3 slope = cr_mat3_mul(cr_mat3_skew(*c), cr_rot_right(&r));
    const double by[3] = {inertia.x, inertia.y, inertia.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            slope.m[i][j] = 2.0 * (i == j) - h * slope.m[i][j] / by[i];
        }
    }
    return slope;
}

// For bodies too fast for the mean: a turn about the angular momentum l = I om itself. It leaves l
// and so om as they are in the body, keeps the energy at every s, and turns at the spin's own rate
// about that axis.
static cr_vec3 steady_rate(cr_vec3 inertia, cr_vec3 om)
{
    const cr_vec3 l = cr_vec3_times(inertia, om);
    const double ll = cr_vec3_norm2(l);
    return ll > 0.0 ? cr_vec3_scale(cr_vec3_dot(om, l) / ll, l) : om;
}

static void steady_rate_adj(cr_vec3 inertia, cr_vec3 om, cr_vec3 rate_bar, cr_vec3* om_bar,
                            cr_vec3* inertia_bar)
{
    const cr_vec3 l = cr_vec3_times(inertia, om);
    const double ll = cr_vec3_norm2(l);
    if (!(ll > 0.0)) {
        cr_vec3_add_to(om_bar, rate_bar);
        return;
    }
    const double k = cr_vec3_dot(om, l) / ll, k_bar = cr_vec3_dot(rate_bar, l) / ll;
    cr_vec3 l_bar = cr_vec3_add_scaled(cr_vec3_scale(k, rate_bar), -2.0 * k * k_bar, l);
    l_bar = cr_vec3_add_scaled(l_bar, k_bar, om);
    cr_vec3_add_to(om_bar, cr_vec3_scale(k_bar, l));
    cr_vec3_add_to(om_bar, cr_vec3_times(inertia, l_bar));
    cr_vec3_add_to(inertia_bar, cr_vec3_times(om, l_bar));
}

// rate = k l, k = om.l/l.l
static cr_vec3 steady_rate_jvp(cr_vec3 inertia, cr_vec3 om, cr_vec3 dom, cr_vec3 dinertia)
{
    const cr_vec3 l = cr_vec3_times(inertia, om);
    const double ll = cr_vec3_norm2(l);
    if (!(ll > 0.0)) {
        return dom;
    }
    const cr_vec3 dl = cr_vec3_add(cr_vec3_times(dinertia, om), cr_vec3_times(inertia, dom));
    const double k = cr_vec3_dot(om, l) / ll;
    const double dk =
        (cr_vec3_dot(dom, l) + cr_vec3_dot(om, dl) - 2.0 * k * cr_vec3_dot(l, dl)) / ll;
    return cr_vec3_add_scaled(cr_vec3_scale(dk, l), k, dl);
}

// False when there is no mean nearby: *rate is then the steady one.
static int find_mean(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque, cr_vec3* rate)
{
    const cr_vec3 gain = cr_vec3_over(cr_vec3_scale(h, torque), inertia);
    cr_vec3 mean = cr_vec3_add_scaled(om, 0.5, gain);
    double last = HUGE_VAL;
    for (int i = 0; i < RATE_STEPS; i++) {
        cr_vec3 c;
        const cr_mat3 slope = mean_slope(inertia, h, om, mean, &c);
        cr_vec3 g = cr_vec3_sub(cr_vec3_add(mean, mean), cr_vec3_add(om, gain));
        g = cr_vec3_sub(g, cr_vec3_over(c, inertia));
        const cr_vec3 step = solve(slope, g);
        mean = cr_vec3_sub(mean, step);
        const double size = cr_vec3_norm(step), whole = cr_vec3_norm(mean);
        // at the end steps are round-off and no longer fall
        if (size <= rate_round_off * whole || (size <= 1e-12 * whole && size >= 0.5 * last)) {
            const cr_vec3 off = cr_vec3_sub(mean, cr_vec3_add_scaled(om, 0.5, gain));
            if (!(h * cr_vec3_norm(off) < rate_nearby)) {
                break;
            }
            *rate = mean;
            return 1;
        }
        last = size;
    }
    *rate = steady_rate(inertia, om);
    return 0;
}

cr_vec3 cr_spin_rate(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque)
{
    cr_vec3 rate;
    find_mean(inertia, h, om, torque, &rate);
    return rate;
}

// With y = (dG/drate)^-T rate_bar:  dL = y.(dom + dom(h)), the latter at constant rate.
void cr_spin_rate_adj(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque, cr_vec3 rate_bar,
                      cr_vec3* om_bar, cr_vec3* torque_bar, cr_vec3* inertia_bar, double* h_bar)
{
    cr_vec3 rate, c, q_unused = {0}, rate_unused = {0};
    if (!find_mean(inertia, h, om, torque, &rate)) {
        steady_rate_adj(inertia, om, rate_bar, om_bar, inertia_bar);
        return;
    }
    const cr_mat3 slope = mean_slope(inertia, h, om, rate, &c);
    const cr_vec3 y = solve(cr_mat3_transpose(slope), rate_bar);
    cr_vec3_add_to(om_bar, y);
    cr_spin_path_adj(inertia, h, om, torque, rate, (cr_vec3){0}, y, &q_unused, om_bar, torque_bar,
                     inertia_bar, &rate_unused, h_bar);
}

// (dG/drate) drate = dom + dom(h), the latter at constant rate.
cr_vec3 cr_spin_rate_jvp(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque, cr_vec3 dom,
                         cr_vec3 dtorque, cr_vec3 dinertia, double dh)
{
    cr_vec3 rate, c, dq, dend;
    if (!find_mean(inertia, h, om, torque, &rate)) {
        return steady_rate_jvp(inertia, om, dom, dinertia);
    }
    const cr_mat3 slope = mean_slope(inertia, h, om, rate, &c);
    const cr_spin_path_tangent d = {.om = dom, .torque = dtorque, .inertia = dinertia, .s = dh};
    cr_spin_path_jvp(inertia, h, om, torque, rate, &d, &dq, &dend);
    return solve(slope, cr_vec3_add(dom, dend));
}

void cr_spin_path(cr_vec3 inertia, double s, cr_quat q, cr_vec3 om, cr_vec3 torque, cr_vec3 rate,
                  cr_quat* q_s, cr_vec3* om_s)
{
    const cr_rot r = cr_rot_make(cr_vec3_scale(s, rate));
    const cr_vec3 momentum = cr_mat3_tapply(cr_rot_matrix(&r), cr_vec3_times(inertia, om));
    *q_s = turned(q, r.w);
    *om_s = cr_vec3_over(cr_vec3_add_scaled(momentum, s, torque), inertia);
}

// Let E = exp(s rate) move to E exp(d). Then R_s moves by d, and c = E^T I om by -d x c, so with
// k = I^-1 om_s_bar
//   dL = q_s_bar.d - k.(d x c) = d.(q_s_bar + k x c) =: d.x.
// d = s Jr(s rate) drate for a change of the rate, and d = rate ds for one of s (Jr leaves its own
// axis alone). R -> R exp(delta) turns R_s by E^T delta.
void cr_spin_path_adj(cr_vec3 inertia, double s, cr_vec3 om, cr_vec3 torque, cr_vec3 rate,
                      cr_vec3 q_s_bar, cr_vec3 om_s_bar, cr_vec3* q_bar, cr_vec3* om_bar,
                      cr_vec3* torque_bar, cr_vec3* inertia_bar, cr_vec3* rate_bar, double* s_bar)
{
    const cr_rot r = cr_rot_make(cr_vec3_scale(s, rate));
    const cr_mat3 e = cr_rot_matrix(&r);
    const cr_vec3 c = cr_mat3_tapply(e, cr_vec3_times(inertia, om));
    const cr_vec3 om_s = cr_vec3_over(cr_vec3_add_scaled(c, s, torque), inertia);
    const cr_vec3 k = cr_vec3_over(om_s_bar, inertia);
    const cr_vec3 ek = cr_mat3_apply(e, k);
    const cr_vec3 x = cr_vec3_add(q_s_bar, cr_vec3_cross(k, c));

    cr_vec3_add_to(q_bar, cr_mat3_apply(e, q_s_bar));
    cr_vec3_add_to(rate_bar, cr_vec3_scale(s, cr_mat3_tapply(cr_rot_right(&r), x)));
    cr_vec3_add_to(om_bar, cr_vec3_times(inertia, ek));
    cr_vec3_add_to(torque_bar, cr_vec3_scale(s, k));
    // I stands before om, and its inverse before the whole
    cr_vec3_add_to(inertia_bar, cr_vec3_sub(cr_vec3_times(ek, om), cr_vec3_times(k, om_s)));
    *s_bar += cr_vec3_dot(rate, x) + cr_vec3_dot(k, torque);
}

// In the letters of the reverse: d = s Jr drate + rate ds, dc = c x d + E^T d(I om).
void cr_spin_path_jvp(cr_vec3 inertia, double s, cr_vec3 om, cr_vec3 torque, cr_vec3 rate,
                      const cr_spin_path_tangent* d, cr_vec3* dq_s, cr_vec3* dom_s)
{
    const cr_rot r = cr_rot_make(cr_vec3_scale(s, rate));
    const cr_mat3 e = cr_rot_matrix(&r);
    const cr_vec3 c = cr_mat3_tapply(e, cr_vec3_times(inertia, om));
    const cr_vec3 om_s = cr_vec3_over(cr_vec3_add_scaled(c, s, torque), inertia);
    const cr_vec3 turn =
        cr_vec3_add_scaled(cr_vec3_scale(s, cr_mat3_apply(cr_rot_right(&r), d->rate)), d->s, rate);
    const cr_vec3 momentum =
        cr_vec3_add(cr_vec3_times(d->inertia, om), cr_vec3_times(inertia, d->om));
    cr_vec3 sum = cr_vec3_add(cr_vec3_cross(c, turn), cr_mat3_tapply(e, momentum));
    sum = cr_vec3_add_scaled(cr_vec3_add_scaled(sum, d->s, torque), s, d->torque);
    *dq_s = cr_vec3_add(cr_mat3_tapply(e, d->q), turn);
    *dom_s = cr_vec3_over(cr_vec3_sub(sum, cr_vec3_times(d->inertia, om_s)), inertia);
}

void cr_spin_predict(cr_vec3 inertia, double h, cr_quat q, cr_vec3 om, cr_vec3 torque, cr_quat* q_p,
                     cr_vec3* om_1)
{
    const cr_vec3 rate = cr_spin_rate(inertia, h, om, torque);
    cr_spin_path(inertia, h, q, om, torque, rate, q_p, om_1);
}

void cr_spin_predict_adj(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque, cr_vec3 q_p_bar,
                         cr_vec3 om_1_bar, cr_vec3* q_bar, cr_vec3* om_bar, cr_vec3* torque_bar,
                         cr_vec3* inertia_bar, double* h_bar)
{
    const cr_vec3 rate = cr_spin_rate(inertia, h, om, torque);
    cr_vec3 rate_bar = {0};
    cr_spin_path_adj(inertia, h, om, torque, rate, q_p_bar, om_1_bar, q_bar, om_bar, torque_bar,
                     inertia_bar, &rate_bar, h_bar);
    cr_spin_rate_adj(inertia, h, om, torque, rate_bar, om_bar, torque_bar, inertia_bar, h_bar);
}

// I om_1 + Jr(w)^-1 I w / h: the angular momentum in the predicted frame
static cr_vec3 momentum_after(cr_vec3 inertia, double h, cr_vec3 om_1, const cr_rot* r)
{
    const cr_vec3 gained = cr_mat3_apply(cr_rot_right_inverse(r), cr_vec3_times(inertia, r->w));
    return cr_vec3_add_scaled(cr_vec3_times(inertia, om_1), 1.0 / h, gained);
}

void cr_spin_update(cr_vec3 inertia, double h, cr_quat q_p, cr_vec3 om_1, cr_vec3 w, cr_quat* q,
                    cr_vec3* om)
{
    const cr_rot r = cr_rot_make(w);
    const cr_vec3 y = momentum_after(inertia, h, om_1, &r);
    *q = turned(q_p, w);
    *om = cr_vec3_over(cr_mat3_tapply(cr_rot_matrix(&r), y), inertia);
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
    const cr_vec3 k = cr_vec3_over(om_bar, inertia);
    const cr_vec3 y_bar = cr_mat3_apply(e, k);
    const cr_vec3 yh = cr_vec3_scale(1.0 / h, y_bar);
    const cr_vec3 g = cr_mat3_tapply(cr_rot_right_inverse(&r), yh);
    const cr_vec3 x = cr_vec3_add(q_bar, cr_vec3_cross(k, c));

    cr_vec3_add_to(q_p_bar, cr_mat3_apply(e, q_bar));
    cr_vec3_add_to(om_1_bar, cr_vec3_times(inertia, y_bar));
    cr_vec3_add_to(w_bar, cr_mat3_tapply(cr_rot_right(&r), x));
    cr_vec3_add_to(w_bar, cr_vec3_times(inertia, g));
    cr_vec3_add_to(w_bar,
                   cr_mat3_tapply(cr_rot_right_inverse_dw(&r, cr_vec3_times(inertia, w)), yh));
    cr_vec3_add_to(inertia_bar, cr_vec3_add(cr_vec3_times(y_bar, om_1), cr_vec3_times(g, w)));
    cr_vec3_add_to(inertia_bar, cr_vec3_neg(cr_vec3_times(k, cr_vec3_over(c, inertia))));
}

// In the letters of the reverse, c = E^T y: d = Jr dw, dc = c x d + E^T dy.
void cr_spin_update_jvp(cr_vec3 inertia, double h, cr_vec3 om_1, cr_vec3 w, cr_vec3 dq_p,
                        cr_vec3 dom_1, cr_vec3 dw, cr_vec3 dinertia, cr_vec3* dq, cr_vec3* dom)
{
    const cr_rot r = cr_rot_make(w);
    const cr_mat3 e = cr_rot_matrix(&r);
    const cr_vec3 c = cr_mat3_tapply(e, momentum_after(inertia, h, om_1, &r));
    const cr_vec3 turn = cr_mat3_apply(cr_rot_right(&r), dw);
    const cr_vec3 db = cr_vec3_add(cr_vec3_times(inertia, dw), cr_vec3_times(dinertia, w));
    cr_vec3 dy = cr_mat3_apply(cr_rot_right_inverse(&r), db);
    cr_vec3_add_to(&dy, cr_mat3_apply(cr_rot_right_inverse_dw(&r, cr_vec3_times(inertia, w)), dw));
    dy = cr_vec3_scale(1.0 / h, dy);
    cr_vec3_add_to(&dy, cr_vec3_add(cr_vec3_times(inertia, dom_1), cr_vec3_times(dinertia, om_1)));
    const cr_vec3 dc = cr_vec3_add(cr_vec3_cross(c, turn), cr_mat3_tapply(e, dy));
    *dq = cr_vec3_add(cr_mat3_tapply(e, dq_p), turn);
    *dom =
        cr_vec3_over(cr_vec3_sub(dc, cr_vec3_times(dinertia, cr_vec3_over(c, inertia))), inertia);
}
