#include "contact/balance.h"
#include "contact/balance_clump.h"
#include "contact/balance_inside.h"

// The bars of what eta is made of. From bend eta^2/2 - slope eta + gain = 0:
//     deta (slope - bend eta) = dgain - eta dslope + eta^2 dbend / 2,
// and where eta is a part of slope/bend,  deta = eta (dslope/slope - dbend/bend).
typedef struct ingredients {
    double gain, slope, bend;
} ingredients;

static ingredients eta_adj(const cr_balance_brake* brake, double eta_bar)
{
    const double eta = brake->eta;
    if (brake->full) {
        return (ingredients){0.0, eta_bar * eta / brake->slope, -eta_bar * eta / brake->bend};
    }
    const double per = eta_bar / (brake->slope - brake->bend * eta);
    return (ingredients){per, -eta * per, 0.5 * eta * eta * per};
}

// gain = sum m (v^2 - v0^2)/2 - m a.u + (om I om - om_free I om_free)/2 [+ h m (v - v0).a/2]
//        + more - held,   held = sum noise (m v^2 + om I om)/2 + sum part eps lam^2 / 2 h^2
static void gain_adj(const cr_balance_task* task, double bar, int32_t ahead,
                     const cr_balance_bars* bars)
{
    const cr_motion* motion = task->motion;
    const double half = ahead ? 0.5 * task->h : 0.0;
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const double m_bar = bar * task->bodies->mass[f];
        const cr_vec3 inertia = cr_vec3_load(task->bodies->inertia + 3 * f);
        const cr_vec3 v = motion->v[f], v0 = motion->v0[f], a = motion->a[f], u = motion->u[f];
        const cr_vec3 om = motion->om[f], om_free = motion->om_free[f];
        const cr_vec3 more = cr_vec3_sub(v, v0);
        const double most = 1.0 - CR_BALANCE_NOISE;
        cr_vec3_add_to(&bars->v[f],
                       cr_vec3_scale(m_bar, cr_vec3_add_scaled(cr_vec3_scale(most, v), half, a)));
        cr_vec3_add_to(&bars->v0[f], cr_vec3_scale(-m_bar, cr_vec3_add_scaled(v0, half, a)));
        cr_vec3_add_to(&bars->a[f],
                       cr_vec3_scale(m_bar, cr_vec3_sub(cr_vec3_scale(half, more), u)));
        cr_vec3_add_to(&bars->u[f], cr_vec3_scale(-m_bar, a));
        cr_vec3_add_to(&bars->om[f], cr_vec3_scale(most * bar, cr_vec3_times(inertia, om)));
        cr_vec3_add_to(&bars->om_free[f], cr_vec3_scale(-bar, cr_vec3_times(inertia, om_free)));
        bars->mass[f] +=
            bar * (0.5 * cr_vec3_dot(more, cr_vec3_add(v, v0)) - cr_vec3_dot(a, u) +
                   half * cr_vec3_dot(more, a) - 0.5 * CR_BALANCE_NOISE * cr_vec3_norm2(v));
        cr_vec3 inertia_bar = cr_vec3_scale(0.5 * most * bar, cr_vec3_times(om, om));
        inertia_bar = cr_vec3_add_scaled(inertia_bar, -0.5 * bar, cr_vec3_times(om_free, om_free));
        cr_vec3_accumulate(bars->inertia + 3 * f, inertia_bar);
    }
    if (bars->more) {
        *bars->more += bar;
    }
    const double per = CR_BALANCE_HELD / (task->h * task->h);
    for (int32_t i = 0; i < task->row_count; i++) {
        const cr_balance_row* row = &task->row[i];
        const cr_give give = cr_give_make(row->eps, row->room, row->lam);
        bars->lam[i] -= bar * per * 0.5 * (give.depth + give.slope * row->lam);
        bars->eps[i] -= bar * per * 0.5 * row->lam * give.slope * row->lam / row->eps;
        bars->room[i] -= bar * per * 0.5 * row->lam * give.share * give.share;
    }
}

// What a frame feels of (thrust, twist) = (X, Y) by themselves, twist in body axes:
//     v'' = v - eta X/m,  om'' = om - eta Y/I,  slope = X.v + Y.om,  bend = X.X/m + Y.Y/I.
// The bars of X and Y come back in x_bar, y_bar.
static void frame_adj(const cr_balance_task* task, int32_t f, double eta, const ingredients* of,
                      const cr_balance_bars* bars, cr_vec3* x_bar, cr_vec3* y_bar)
{
    const cr_motion* motion = task->motion;
    const double m = task->bodies->mass[f];
    const cr_vec3 inertia = cr_vec3_load(task->bodies->inertia + 3 * f);
    const cr_vec3 x = motion->thrust[f], y = motion->twist[f];
    const cr_vec3 v_bar = bars->v[f], om_bar = bars->om[f];
    const cr_vec3 y_over = cr_vec3_over(y, inertia);
    *x_bar =
        cr_vec3_scale(1.0 / m, cr_vec3_add_scaled(cr_vec3_scale(-eta, v_bar), 2.0 * of->bend, x));
    *x_bar = cr_vec3_add_scaled(*x_bar, of->slope, motion->v[f]);
    *y_bar = cr_vec3_add_scaled(cr_vec3_scale(-eta, cr_vec3_over(om_bar, inertia)), 2.0 * of->bend,
                                y_over);
    *y_bar = cr_vec3_add_scaled(*y_bar, of->slope, motion->om[f]);
    bars->mass[f] += (eta * cr_vec3_dot(v_bar, x) - of->bend * cr_vec3_norm2(x)) / (m * m);
    const cr_vec3 inertia_bar =
        cr_vec3_add_scaled(cr_vec3_scale(eta, cr_vec3_times(cr_vec3_over(om_bar, inertia), y_over)),
                           -of->bend, cr_vec3_times(y_over, y_over));
    cr_vec3_accumulate(bars->inertia + 3 * f, inertia_bar);
    cr_vec3_add_to(&bars->v[f], cr_vec3_scale(of->slope, x));
    cr_vec3_add_to(&bars->om[f], cr_vec3_scale(of->slope, y));
    cr_balance_lock(task->bodies->lock[f], x_bar, y_bar);
}

// r2 = 1 / sum of 3 m / tr I over the frames of a row.
static void radius2_adj(const cr_balance_task* task, const cr_balance_row* row, double r2,
                        double bar, const cr_balance_bars* bars)
{
    for (int side = 0; side < 2; side++) {
        const int32_t f = row->frame[side];
        if (f >= 0) {
            const double* i = task->bodies->inertia + 3 * f;
            const double trace = i[0] + i[1] + i[2];
            bars->mass[f] -= bar * r2 * r2 * 3.0 / trace;
            const double per = bar * r2 * r2 * 3.0 * task->bodies->mass[f] / (trace * trace);
            cr_vec3_accumulate(bars->inertia + 3 * f, (cr_vec3){per, per, per});
        }
    }
}

// X += sign lam p,  Y += sign lam (arm x p + r2 q) in space, with
// p = sum sign (v + spin x arm),  q = sum sign spin. The bars of X, Y are in motion->thrust, twist
// by now and those of the spins are gathered in spin_bar.
static void row_adj(const cr_balance_task* task, int32_t at, const cr_vec3* x_bar,
                    const cr_vec3* y_bar, cr_vec3* spin_bar, const cr_balance_bars* bars)
{
    const cr_motion* motion = task->motion;
    const cr_balance_row* row = &task->row[at];
    const cr_balance_slip slip = cr_balance_relative(motion, row);
    const double r2 = cr_balance_radius2(task->bodies, row), lam = row->lam;
    cr_vec3 p_bar = {0, 0, 0}, q_bar = {0, 0, 0}, arm_bar[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int side = 0; side < 2; side++) {
        const int32_t f = row->frame[side];
        if (f < 0) {
            continue;
        }
        const double sign = side ? 1.0 : -1.0;
        const cr_vec3 arm = slip.arm[side];
        const cr_vec3 couple = cr_vec3_add_scaled(cr_vec3_cross(arm, slip.p), r2, slip.q);
        bars->lam[at] += sign * (cr_vec3_dot(x_bar[f], slip.p) + cr_vec3_dot(y_bar[f], couple));
        p_bar = cr_vec3_add_scaled(p_bar, sign * lam,
                                   cr_vec3_add(x_bar[f], cr_vec3_cross(y_bar[f], arm)));
        q_bar = cr_vec3_add_scaled(q_bar, sign * lam * r2, y_bar[f]);
        arm_bar[side] = cr_vec3_scale(sign * lam, cr_vec3_cross(slip.p, y_bar[f]));
        radius2_adj(task, row, r2, sign * lam * cr_vec3_dot(y_bar[f], slip.q), bars);
    }
    for (int side = 0; side < 2; side++) {
        const int32_t f = row->frame[side];
        if (f < 0) {
            continue;
        }
        const double sign = side ? 1.0 : -1.0;
        cr_vec3_add_to(&bars->v[f], cr_vec3_scale(sign, p_bar));
        cr_vec3_add_to(
            &spin_bar[f],
            cr_vec3_scale(sign, cr_vec3_add(cr_vec3_cross(slip.arm[side], p_bar), q_bar)));
        arm_bar[side] =
            cr_vec3_add_scaled(arm_bar[side], sign, cr_vec3_cross(p_bar, motion->spin[f]));
    }
    if (row->frame[0] >= 0 && row->frame[1] >= 0) { // arms are -+ (t_A - t_B)/2
        const cr_vec3 half = cr_vec3_scale(0.5, cr_vec3_sub(arm_bar[1], arm_bar[0]));
        cr_vec3_add_to(&bars->t[row->frame[0]], half);
        cr_vec3_add_to(&bars->t[row->frame[1]], cr_vec3_neg(half));
    }
}

void cr_balance_adj(const cr_balance_task* task, const cr_balance_bars* bars)
{
    const cr_motion* motion = task->motion;
    const cr_balance_gain gain = cr_balance_measure(task);
    if (!(gain.gain > 0.0)) {
        return;
    }
    const cr_balance_brake brake = cr_balance_solve(cr_balance_directions(task), gain.gain);
    if (!(brake.slope > 0.0 && isfinite(brake.eta))) {
        return;
    }
    double eta_bar = 0.0;
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const cr_vec3 inertia = cr_vec3_load(task->bodies->inertia + 3 * f);
        eta_bar -= cr_vec3_dot(bars->v[f], motion->thrust[f]) / task->bodies->mass[f] +
                   cr_vec3_dot(bars->om[f], cr_vec3_over(motion->twist[f], inertia));
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            eta_bar -= cr_vec3_dot(bars->xv[n], motion->push[n]) / task->bodies->node_mass[n];
        }
    }
    const ingredients of = eta_adj(&brake, eta_bar);
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const cr_rot rot = cr_rot_make(motion->w[f]);
        const cr_mat3 r = cr_mat3_mul(motion->rp[f], cr_rot_matrix(&rot));
        const cr_vec3 twist = motion->twist[f];
        cr_vec3 x_bar, y_bar;
        frame_adj(task, f, brake.eta, &of, bars, &x_bar, &y_bar);
        // twist is R^T of what rows add up: along R exp([delta]) it moves by -delta x twist
        cr_vec3_add_to(&bars->q[f], cr_vec3_cross(y_bar, twist));
        motion->thrust[f] = x_bar;
        motion->twist[f] = cr_mat3_apply(r, y_bar);
        bars->spin[f] = (cr_vec3){0, 0, 0};
    }
    for (int32_t i = 0; i < task->row_count; i++) {
        row_adj(task, i, motion->thrust, motion->twist, bars->spin, bars);
    }
    if (task->sheet_count > 0) {
        cr_balance_clump_adj(task, brake.eta, of.slope, of.bend, bars);
    }
    for (int32_t i = 0; i < task->frame_count; i++) { // spin = R om
        const int32_t f = task->frame[i];
        const cr_rot rot = cr_rot_make(motion->w[f]);
        const cr_mat3 r = cr_mat3_mul(motion->rp[f], cr_rot_matrix(&rot));
        const cr_vec3 back = cr_mat3_tapply(r, bars->spin[f]);
        cr_vec3_add_to(&bars->om[f], back);
        cr_vec3_add_to(&bars->q[f], cr_vec3_cross(motion->om[f], back));
    }
    gain_adj(task, of.gain, gain.ahead, bars);
}
