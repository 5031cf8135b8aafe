#include "contact/row.h"

// How everything that a row is made of changes.
typedef struct change {
    cr_vec3 turn[CR_ROW_POINTS]; // [block_count] of the body in space: R_p delta
    cr_vec3 arm[CR_ROW_POINTS], move[CR_ROW_POINTS];
    cr_vec3 bent[CR_ROW_POINTS]; // of c_k n
    cr_vec3 n;
    double distance;
} change;

// x = R p + t, move = (R - R_0) p + u; of a loose point x = start + u, move = u.
static change change_of(const cr_row* row, const cr_row_bars* d)
{
    change m = {0};
    cr_vec3 dx[CR_ROW_POINTS] = {{0}};
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->body[b]) {
            m.turn[b] = cr_mat3_apply(row->body[b]->r_p, d->r_p[b]);
        }
    }
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = row->point_block[k];
        if (b < 0) {
            continue;
        }
        const cr_row_body* body = row->body[b];
        const cr_vec3 u = row->size[b] == 0 ? d->u[b] : (cr_vec3){0};
        dx[k] = cr_vec3_add(d->start[b], u);
        m.move[k] = u;
        if (body) {
            const cr_vec3 turned = cr_vec3_cross(m.turn[b], row->arm[k]);
            m.arm[k] = cr_vec3_add(turned, cr_mat3_apply(body->r, d->p[k]));
            cr_vec3_add_to(&dx[k], m.arm[k]);
            cr_vec3_add_to(&m.move[k], turned);
            cr_vec3_add_to(&m.move[k], cr_mat3_apply(body->turn, d->p[k]));
            const cr_vec3 before = cr_mat3_apply(body->r_0, cr_vec3_cross(d->r_0[b], row->p[k]));
            m.move[k] = cr_vec3_sub(m.move[k], before);
        }
        m.distance += row->at.c[k] * cr_vec3_dot(row->at.n, dx[k]);
    }
    cr_distance_hessian_apply(row->kind, row->x, &row->at, dx, m.bent);
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        if (cr_row_side(row->kind, k) == 1 && row->point_block[k] >= 0) {
            cr_vec3_add_to(&m.n, m.bent[k]);
        }
    }
    return m;
}

// out += s times the change of what a block's unknowns feel of a torque and a force: jth turns too.
static void push(const cr_row* row, int32_t b, double s, cr_vec3 turn, cr_vec3 torque,
                 cr_vec3 dtorque, cr_vec3 dforce, double out[CR_ROW_DOFS])
{
    double* z = out + row->offset[b];
    if (row->size[b] == 6) {
        const cr_vec3 both = cr_vec3_sub(dtorque, cr_vec3_cross(turn, torque));
        cr_vec3_accumulate(z, cr_vec3_scale(s, cr_mat3_tapply(row->body[b]->jth, both)));
        z += 3;
    }
    if (row->size[b] > 0) {
        cr_vec3_accumulate(z, cr_vec3_scale(s, dforce));
    }
}

// grad = (jth^T sum arm_k x c_k n, sum c_k n)
static void push_gap(const cr_row* row, const change* m, double lam, double q[CR_ROW_DOFS])
{
    cr_vec3 dtorque[CR_ROW_POINTS] = {{0}}, dforce[CR_ROW_POINTS] = {{0}};
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = row->point_block[k];
        if (b >= 0) {
            const cr_vec3 f = cr_vec3_scale(row->at.c[k], row->at.n);
            cr_vec3_add_to(&dforce[b], m->bent[k]);
            cr_vec3_add_to(&dtorque[b], cr_vec3_cross(m->arm[k], f));
            cr_vec3_add_to(&dtorque[b], cr_vec3_cross(row->arm[k], m->bent[k]));
        }
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        push(row, b, lam, m->turn[b], cr_vec3_cross(row->arm_sum[b], row->at.n), dtorque[b],
             dforce[b], q);
    }
}

// tau = (1 - n n^T) delta, delta = sum c_k move_k + n x psi, psi = sum lever arc
static cr_vec3 slip_change(const cr_row* row, const cr_row_slip* slip, const change* m,
                           const double* dlever, const cr_row_bars* d)
{
    const cr_vec3 n = row->at.n;
    cr_vec3 delta = cr_vec3_cross(m->n, slip->psi), psi = {0};
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        if (row->point_block[k] >= 0) {
            delta = cr_vec3_add_scaled(delta, cr_vec3_dot(n, m->bent[k]), row->move[k]);
            delta = cr_vec3_add_scaled(delta, row->at.c[k], m->move[k]);
        }
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        const cr_row_body* body = row->body[b];
        if (body) {
            const cr_vec3 arc = cr_vec3_add(cr_vec3_cross(m->turn[b], body->arc),
                                            cr_mat3_apply(body->r_p, d->roll[b]));
            psi = cr_vec3_add_scaled(psi, row->lever[b], arc);
            psi = cr_vec3_add_scaled(psi, dlever[b], body->arc);
        }
    }
    cr_vec3_add_to(&delta, cr_vec3_cross(n, psi));
    cr_vec3 tau = cr_vec3_add_scaled(delta, -cr_vec3_dot(n, delta), n);
    tau = cr_vec3_add_scaled(tau, -cr_vec3_dot(n, slip->delta), m->n);
    return cr_vec3_add_scaled(tau, -cr_vec3_dot(m->n, slip->delta), n);
}

// force = (jth^T ((sum c_k arm_k - lever n) x s), share s)
static void push_friction(const cr_row* row, const cr_row_slip* slip, double mu, double lam,
                          const change* m, const cr_row_bars* d, double q[CR_ROW_DOFS])
{
    const cr_vec3 n = row->at.n, s = slip->s;
    double dlever[CR_ROW_POINTS] = {0}, dshare[CR_ROW_POINTS] = {0};
    cr_vec3 dtouch[CR_ROW_POINTS] = {{0}};
    for (int32_t side = 0; side < 2; side++) {
        if (row->side_block[side] >= 0) {
            dlever[row->side_block[side]] += d->radius[side];
        }
    }
    const cr_vec3 ds = cr_mat3_apply(slip->ds, slip_change(row, slip, m, dlever, d));
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = row->point_block[k];
        if (b >= 0) {
            const double dc = cr_vec3_dot(n, m->bent[k]);
            dshare[b] += dc;
            dtouch[b] = cr_vec3_add_scaled(dtouch[b], dc, row->arm[k]);
            dtouch[b] = cr_vec3_add_scaled(dtouch[b], row->at.c[k], m->arm[k]);
        }
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        const cr_vec3 touch = cr_vec3_add_scaled(row->arm_sum[b], -row->lever[b], n);
        dtouch[b] = cr_vec3_add_scaled(dtouch[b], -row->lever[b], m->n);
        dtouch[b] = cr_vec3_add_scaled(dtouch[b], -dlever[b], n);
        const cr_vec3 dtorque = cr_vec3_add(cr_vec3_cross(dtouch[b], s), cr_vec3_cross(touch, ds));
        const cr_vec3 dforce = cr_vec3_add_scaled(cr_vec3_scale(dshare[b], s), row->share[b], ds);
        push(row, b, -mu * lam, m->turn[b], cr_vec3_cross(touch, s), dtorque, dforce, q);
    }
    for (int32_t i = 0; i < row->offset[row->block_count]; i++) {
        q[i] -= d->mu * lam * slip->force[i];
    }
}

double cr_row_jvp(const cr_row* row, const cr_row_slip* slip, double mu, double lam, int32_t flat,
                  const cr_row_bars* d, double q[CR_ROW_DOFS])
{
    const change m = change_of(row, d);
    for (int32_t i = 0; i < row->offset[row->block_count]; i++) {
        q[i] = 0.0;
    }
    if (!flat) {
        push_gap(row, &m, lam, q);
    }
    if (slip) {
        push_friction(row, slip, mu, lam, &m, d, q);
    }
    return m.distance;
}
