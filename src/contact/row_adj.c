#include "contact/row.h"

// The scalar to reverse, with J_k u = xd_k, th_b = jth u_w of block b and wd = sum_b r_b th_b:
//   Phi = lam n.(sum c_k xd_k) - v D + f s.ev,    f = -mu lam,  ev = sum c_k xd_k + n x wd.
// Every route ends in one of: the points x_k, their moves, the velocities xd_k, wd or psi.
typedef struct sweep {
    cr_vec3 xd[CR_ROW_POINTS];     // [m] velocity of the points under u
    cr_vec3 theta[CR_ROW_POINTS];  // by block
    cr_vec3 along;                 // xd_k bar = c_k along
    cr_vec3 slide;                 // move_k bar = c_k slide
    cr_vec3 source[CR_ROW_POINTS]; // x_k bar = (hess source)_k - v c_k n
    cr_vec3 wd, psi;               // bars
} sweep;

static cr_vec3 spin_of(const cr_row* row, int32_t b, const double* u)
{
    return row->size[b] == 6 ? cr_mat3_apply(row->body[b]->jth, cr_vec3_load(u + row->offset[b]))
                             : (cr_vec3){0};
}

static cr_vec3 shift_of(const cr_row* row, int32_t b, const double* u)
{
    return row->size[b] ? cr_vec3_load(u + row->offset[b] + row->size[b] - 3) : (cr_vec3){0};
}

static void sweep_gap(const cr_row* row, double lam, const double* u, sweep* w)
{
    *w = (sweep){.along = cr_vec3_scale(lam, row->at.n)};
    for (int32_t b = 0; b < row->block_count; b++) {
        w->theta[b] = spin_of(row, b, u);
    }
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = row->point_block[k];
        if (b >= 0) {
            w->xd[k] = cr_vec3_add(cr_vec3_cross(w->theta[b], row->arm[k]), shift_of(row, b, u));
            w->source[k] = cr_vec3_scale(lam, w->xd[k]);
        }
    }
}

// s_bar = f ev and ev_bar = f s =: e. tau = (1 - n n^T) delta hands tau_bar = ds s_bar on to delta
// as k = (1 - n n^T) tau_bar. n collects from the projection of the slip (two terms), the lever of
// the force and the arc of rolling; c_k from the force e.xd_k and the slip k.move_k. How n and c_k
// hang on the points says hess: dc_k = n.(hess dx)_k, dn = the sum of (hess dx)_k over side B.
static void sweep_friction(const cr_row* row, const cr_row_slip* slip, double mu, double lam,
                           sweep* w, double* mu_bar)
{
    const cr_vec3 n = row->at.n;
    cr_vec3 wd = {0}, ev = {0};
    for (int32_t b = 0; b < row->block_count; b++) {
        wd = cr_vec3_add_scaled(wd, row->lever[b], w->theta[b]);
    }
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        ev = cr_vec3_add_scaled(ev, row->at.c[k], w->xd[k]);
    }
    cr_vec3_add_to(&ev, cr_vec3_cross(n, wd));

    const cr_vec3 e = cr_vec3_scale(-mu * lam, slip->s);
    const cr_vec3 tau_bar = cr_mat3_apply(slip->ds, cr_vec3_scale(-mu * lam, ev));
    const double tau_n = cr_vec3_dot(n, tau_bar);
    const cr_vec3 slide = cr_vec3_add_scaled(tau_bar, -tau_n, n);
    cr_vec3 n_bar = cr_vec3_scale(-cr_vec3_dot(n, slip->delta), tau_bar);
    n_bar = cr_vec3_add_scaled(n_bar, -tau_n, slip->delta);
    cr_vec3_add_to(&n_bar, cr_vec3_cross(wd, e));
    cr_vec3_add_to(&n_bar, cr_vec3_cross(slip->psi, slide));

    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        const double c_bar = cr_vec3_dot(e, w->xd[k]) + cr_vec3_dot(slide, row->move[k]);
        w->source[k] = cr_vec3_add_scaled(w->source[k], c_bar, n);
        if (cr_row_side(row->kind, k) == 1) {
            cr_vec3_add_to(&w->source[k], n_bar);
        }
    }
    cr_vec3_add_to(&w->along, e);
    w->slide = slide;
    w->wd = cr_vec3_cross(e, n);
    w->psi = cr_vec3_cross(slide, n);
    *mu_bar -= lam * cr_vec3_dot(slip->s, ev);
}

// What a body hands on: torque is the sum over its points of arm x (x_k bar + move_k bar).
//   arms turn with R_p, and so do the velocities th x arm, the rolling wd and psi
//   jth u_w and psi hang on w once more: Hessian of along.R_p E p, d(wd_bar.Jl u)/dw, R_p w
static void body_bars(const cr_row* row, const sweep* sw, const double* u, int32_t b,
                      cr_vec3 torque, cr_row_bars* bars)
{
    const cr_row_body* body = row->body[b];
    const double r = row->lever[b];
    const cr_vec3 theta = sw->theta[b];
    const cr_vec3 psi = cr_vec3_scale(r, cr_mat3_tapply(body->r_p, sw->psi));

    cr_vec3 turn = torque;
    cr_vec3_add_to(&turn, cr_vec3_cross(cr_vec3_cross(theta, row->arm_sum[b]), sw->along));
    turn = cr_vec3_add_scaled(turn, r, cr_vec3_cross(theta, sw->wd));
    turn = cr_vec3_add_scaled(turn, r, cr_vec3_cross(body->arc, sw->psi));
    cr_vec3_add_to(&bars->r_p[b], cr_mat3_tapply(body->r_p, turn));

    const cr_vec3 slide = cr_mat3_tapply(body->r_0, sw->slide);
    cr_vec3_add_to(&bars->r_0[b], cr_vec3_cross(slide, row->p_sum[b]));
    cr_vec3_add_to(&bars->roll[b], psi);

    cr_vec3_add_to(&bars->w[b], cr_mat3_tapply(body->jth, torque));
    cr_vec3_add_to(&bars->w[b], psi);
    if (row->size[b] == 6) {
        const cr_vec3 uw = cr_vec3_load(u + row->offset[b]);
        const cr_vec3 along = cr_mat3_tapply(body->r_p, sw->along);
        const cr_vec3 wd = cr_mat3_tapply(body->r_p, sw->wd);
        cr_vec3_add_to(&bars->w[b],
                       cr_mat3_apply(cr_rot_d2w(&body->rot, row->p_sum[b], along), uw));
        cr_vec3_add_to(&bars->w[b], cr_vec3_scale(r, cr_rot_left_dw(&body->rot, wd, uw)));
    }
}

void cr_row_adj(const cr_row* row, const cr_row_slip* slip, double mu, double lam,
                const double u[CR_ROW_DOFS], double v, cr_row_bars* bars)
{
    sweep sw;
    sweep_gap(row, lam, u, &sw);
    if (slip) {
        sweep_friction(row, slip, mu, lam, &sw, &bars->mu);
    }
    cr_vec3 bent[CR_ROW_POINTS], torque[CR_ROW_POINTS] = {0};
    cr_distance_hessian_apply(row->kind, row->x, &row->at, sw.source, bent);
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = row->point_block[k];
        if (b < 0) {
            continue;
        }
        const double c = row->at.c[k];
        const cr_vec3 x_bar = cr_vec3_add_scaled(bent[k], -v * c, row->at.n);
        const cr_vec3 move_bar = cr_vec3_scale(c, sw.slide);
        const cr_vec3 both = cr_vec3_add(x_bar, move_bar);
        cr_vec3_add_to(&bars->start[b], x_bar);
        cr_vec3_add_to(&bars->u[b], both);
        if (row->body[b]) {
            // x = R p + t, move = (R - R_0) p + u, xd = th x R p + ..
            const cr_vec3 xd_bar = cr_vec3_scale(c, sw.along);
            const cr_vec3 arm_bar = cr_vec3_add(x_bar, cr_vec3_cross(xd_bar, sw.theta[b]));
            cr_vec3_add_to(&bars->p[k], cr_mat3_tapply(row->body[b]->r, arm_bar));
            cr_vec3_add_to(&bars->p[k], cr_mat3_tapply(row->body[b]->turn, move_bar));
            cr_vec3_add_to(&torque[b], cr_vec3_cross(row->arm[k], both));
        }
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->body[b]) {
            body_bars(row, &sw, u, b, torque[b], bars);
        }
    }
    for (int32_t side = 0; side < 2; side++) {
        const int32_t b = row->side_block[side];
        if (b >= 0) {
            bars->radius[side] +=
                cr_vec3_dot(sw.theta[b], sw.wd) + cr_vec3_dot(row->body[b]->arc, sw.psi);
        }
    }
    bars->th += v;
}
