#include "contact/row.h"
#include "core/assert.h"
#include <string.h>

cr_row_body cr_row_body_make(cr_mat3 r_p, cr_mat3 r_0, cr_vec3 t_0, cr_vec3 roll, cr_vec3 w,
                             cr_vec3 u)
{
    cr_row_body body = {.rot = cr_rot_make(w), .r_p = r_p, .r_0 = r_0, .u = u};
    body.r = cr_mat3_mul(r_p, cr_rot_matrix(&body.rot));
    body.turn = cr_mat3_add_scaled(body.r, -1.0, r_0);
    body.jth = cr_mat3_mul(r_p, cr_rot_left(&body.rot));
    body.t = cr_vec3_add(t_0, u);
    body.arc = cr_mat3_apply(r_p, cr_vec3_add(roll, w));
    return body;
}

cr_vec3 cr_row_position(const cr_row_point* point)
{
    return point->body ? cr_vec3_add(cr_mat3_apply(point->body->r, point->p), point->body->t)
                       : cr_vec3_add(point->start, point->u);
}

// exp(w+dw) = exp(Jl dw) exp(w), so a change of w turns the body by jth dw in space and moves the
// point at arm a by (jth dw) x a: J_k = [-[a_k] jth, 1]. A force f there asks jth^T (a_k x f) of w
// and f of u. Forces c_k f along one direction f therefore need only the sums of c_k and c_k a_k.
static void push(const cr_row* row, int32_t block, cr_vec3 torque, cr_vec3 force,
                 double out[CR_ROW_DOFS])
{
    double* z = out + row->offset[block];
    if (row->size[block] == 6) {
        cr_vec3_store(z, cr_mat3_tapply(row->body[block]->jth, torque));
        cr_vec3_store(z + 3, force);
    } else if (row->size[block] == 3) {
        cr_vec3_store(z, force);
    }
}

static int32_t block_of(cr_row* row, const cr_row_point* point)
{
    int32_t b = 0;
    for (; b < row->block_count; b++) {
        if (point->body ? row->body[b] == point->body
                        : !row->body[b] && point->block >= 0 && row->block[b] == point->block) {
            return b;
        }
    }
    row->block_count++;
    row->block[b] = point->block;
    row->body[b] = point->body;
    row->size[b] = point->block < 0 ? 0 : point->body ? 6 : 3;
    row->offset[b + 1] = row->offset[b] + row->size[b];
    row->share[b] = row->lever[b] = 0.0;
    row->arm_sum[b] = row->p_sum[b] = (cr_vec3){0};
    return b;
}

static void place_point(cr_row* row, int32_t k, const cr_row_point* point)
{
    const cr_row_body* body = point->body;
    const int32_t b = block_of(row, point);
    const double c = row->at.c[k];
    row->point_block[k] = b;
    row->x[k] = cr_row_position(point);
    row->share[b] += c;
    if (!body) {
        row->move[k] = point->u;
        return;
    }
    row->p[k] = point->p;
    row->arm[k] = cr_mat3_apply(body->r, point->p);
    row->move[k] = cr_vec3_add(cr_mat3_apply(body->turn, point->p), body->u);
    row->arm_sum[b] = cr_vec3_add_scaled(row->arm_sum[b], c, row->arm[k]);
    row->p_sum[b] = cr_vec3_add_scaled(row->p_sum[b], c, point->p);
    row->side_block[cr_row_side(row->kind, k)] = b;
}

void cr_row_make(cr_row* row, int32_t kind, const cr_closest* at,
                 const cr_row_point point[CR_ROW_POINTS], const double radius[2])
{
    row->kind = kind;
    row->at = *at;
    row->block_count = 0;
    row->offset[0] = 0;
    row->side_block[0] = row->side_block[1] = -1;
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        row->point_block[k] = -1;
        row->x[k] = row->move[k] = row->arm[k] = row->p[k] = (cr_vec3){0};
        if (at->active >> k & 1) {
            place_point(row, k, &point[k]);
        }
    }
    for (int32_t side = 0; side < 2; side++) {
        if (row->side_block[side] >= 0) {
            row->lever[row->side_block[side]] += radius[side];
        }
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        push(row, b, cr_vec3_cross(row->arm_sum[b], at->n), cr_vec3_scale(row->share[b], at->n),
             row->grad);
    }
}

// Block (k,l) of hess times a
static cr_vec3 hess_apply(double hess[12][12], int32_t k, int32_t l, cr_vec3 a)
{
    const double* h[3] = {&hess[3 * k][3 * l], &hess[3 * k + 1][3 * l], &hess[3 * k + 2][3 * l]};
    return (cr_vec3){cr_vec3_dot(cr_vec3_load(h[0]), a), cr_vec3_dot(cr_vec3_load(h[1]), a),
                     cr_vec3_dot(cr_vec3_load(h[2]), a)};
}

static cr_vec3 unit(int32_t i)
{
    return (cr_vec3){i == 0, i == 1, i == 2};
}

// What unknown i of block b moves: the whole block by u in space, or turns it by theta.
typedef struct motion {
    cr_vec3 theta, u;
} motion;

static motion motion_of(const cr_row* row, int32_t b, int32_t i)
{
    motion m = {.theta = {0}};
    if (row->size[b] == 6 && i < 3) {
        m.theta = cr_mat3_column(row->body[b]->jth, i);
    } else {
        m.u = unit(i % 3);
    }
    return m;
}

void cr_row_curve_make(cr_row_curve* curve, const cr_row* row)
{
    double hess[12][12];
    cr_distance_hessian(row->kind, row->x, &row->at, hess);
    for (int32_t b = 0; b < row->block_count; b++) {
        for (int32_t i = 0; i < row->size[b]; i++) {
            const motion m = motion_of(row, b, i);
            cr_vec3* column = curve->hj[row->offset[b] + i];
            memset(column, 0, CR_ROW_POINTS * sizeof *column);
            for (int32_t l = 0; l < CR_ROW_POINTS; l++) {
                if (row->point_block[l] != b) {
                    continue;
                }
                const cr_vec3 dx = cr_vec3_add(m.u, cr_vec3_cross(m.theta, row->arm[l]));
                for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
                    if (row->point_block[k] >= 0) {
                        column[k] = cr_vec3_add(column[k], hess_apply(hess, k, l, dx));
                    }
                }
            }
        }
    }
}

// m[off+i][off+j] += factor a[i][j] for the w of block b
static void add_turning(const cr_row* row, int32_t b, double factor, cr_mat3 a,
                        double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t o = row->offset[b];
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            m[o + i][o + j] += factor * a.m[i][j];
        }
    }
}

// d/dz_i of sum_k J_k^T g_k with g_k = dD/dx_k = c_k n: J_k^T (hess dx)_k, and J_k itself turns,
// which is the Hessian of n . R_p exp(w) (sum_k c_k p_k) against w.
void cr_row_add_hessian(const cr_row* row, const cr_row_curve* curve, double factor,
                        double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t n = row->offset[row->block_count];
    for (int32_t i = 0; i < n; i++) {
        double line[CR_ROW_DOFS];
        cr_vec3 force[CR_ROW_POINTS] = {0}, torque[CR_ROW_POINTS] = {0};
        for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
            const int32_t b = row->point_block[k];
            if (b >= 0) {
                const cr_vec3 f = curve->hj[i][k];
                force[b] = cr_vec3_add(force[b], f);
                torque[b] = cr_vec3_add(torque[b], cr_vec3_cross(row->arm[k], f));
            }
        }
        for (int32_t b = 0; b < row->block_count; b++) {
            push(row, b, torque[b], force[b], line);
        }
        for (int32_t j = 0; j < n; j++) {
            m[i][j] += factor * line[j];
        }
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->size[b] == 6) {
            const cr_row_body* body = row->body[b];
            const cr_vec3 a = cr_mat3_tapply(body->r_p, row->at.n);
            add_turning(row, b, factor, cr_rot_d2w(&body->rot, row->p_sum[b], a), m);
        }
    }
}

// The part normal to n
static cr_vec3 tangent(cr_vec3 n, cr_vec3 a)
{
    return cr_vec3_add_scaled(a, -cr_vec3_dot(n, a), n);
}

// s = weight tau, with ds/dtau = (1 - s s^T)/|tau| beyond e and weight 1 - tau tau^T/(|tau| e^2)
// within, where the second term vanishes at 0.
static void smooth_direction(cr_row_slip* slip, double e)
{
    const double size = cr_vec3_norm(slip->tau);
    double fall; // ds = weight 1 - fall tau tau^T
    if (size >= e) {
        slip->weight = 1.0 / size;
        fall = slip->weight * slip->weight * slip->weight;
    } else {
        slip->weight = (2.0 - size / e) / e;
        fall = size > 0.0 ? 1.0 / (size * e * e) : 0.0;
    }
    slip->s = cr_vec3_scale(slip->weight, slip->tau);
    slip->ds = cr_mat3_scale(-fall, cr_mat3_outer(slip->tau, slip->tau));
    for (int i = 0; i < 3; i++) {
        slip->ds.m[i][i] += slip->weight;
    }
}

// Where the surface of block b touches: sum c_k a_k - r n
static cr_vec3 touch_arm(const cr_row* row, int32_t b)
{
    return cr_vec3_add_scaled(row->arm_sum[b], -row->lever[b], row->at.n);
}

void cr_row_slip_make(cr_row_slip* slip, const cr_row* row, double e)
{
    CR_ASSERT(e > 0.0);
    const cr_vec3 n = row->at.n;
    cr_vec3 chord = {0};
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        chord = cr_vec3_add_scaled(chord, row->at.c[k], row->move[k]);
    }
    slip->psi = (cr_vec3){0};
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->body[b]) {
            slip->psi = cr_vec3_add_scaled(slip->psi, row->lever[b], row->body[b]->arc);
        }
    }
    slip->delta = cr_vec3_add(chord, cr_vec3_cross(n, slip->psi));
    slip->tau = tangent(n, slip->delta);
    smooth_direction(slip, e);
    for (int32_t b = 0; b < row->block_count; b++) {
        push(row, b, cr_vec3_cross(touch_arm(row, b), slip->s),
             cr_vec3_scale(row->share[b], slip->s), slip->force);
    }
}

// How n, c_k and tau change with an unknown or along a direction: from (hess dx)_k = dc_k n + c_k
// dn follow dc_k = n.(hess dx)_k and, the weights of side B adding up to 1, dn = sum over B.
typedef struct rates {
    double c[CR_ROW_POINTS];
    cr_vec3 n, tau;
} rates;

// hdx is hess dx; velocity = sum c_k dx_k; psi_rate = dpsi
static rates rates_make(const cr_row* row, const cr_row_slip* slip,
                        const cr_vec3 hdx[CR_ROW_POINTS], cr_vec3 velocity, cr_vec3 psi_rate)
{
    const cr_vec3 n = row->at.n;
    rates d = {.n = {0}};
    cr_vec3 delta = cr_vec3_add(velocity, cr_vec3_cross(n, psi_rate));
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        d.c[k] = cr_vec3_dot(n, hdx[k]);
        delta = cr_vec3_add_scaled(delta, d.c[k], row->move[k]);
        if (cr_row_side(row->kind, k) == 1) {
            d.n = cr_vec3_add(d.n, hdx[k]);
        }
    }
    delta = cr_vec3_add(delta, cr_vec3_cross(d.n, slip->psi));
    d.tau = cr_vec3_add_scaled(delta, -cr_vec3_dot(n, slip->delta), d.n);
    d.tau = cr_vec3_add_scaled(d.tau, -cr_vec3_dot(n, delta) - cr_vec3_dot(d.n, slip->delta), n);
    return d;
}

static rates rates_of_unknown(const cr_row* row, const cr_row_curve* curve, const cr_row_slip* slip,
                              int32_t b, int32_t i)
{
    const motion m = motion_of(row, b, i);
    const cr_vec3 velocity =
        cr_vec3_add_scaled(cr_vec3_cross(m.theta, row->arm_sum[b]), row->share[b], m.u);
    cr_vec3 psi_rate = {0};
    if (row->size[b] == 6 && i < 3) {
        psi_rate = cr_vec3_scale(row->lever[b], cr_mat3_column(row->body[b]->r_p, i));
    }
    return rates_make(row, slip, curve->hj[row->offset[b] + i], velocity, psi_rate);
}

// d(Gamma^T s) for rates d, all but the turning of J_k and jth at fixed s, c and n:
// force of a block  share ds + dshare s,  torque  touch_arm x ds + (sum dc_k a_k - r dn) x s
static void force_rate(const cr_row* row, const cr_row_slip* slip, const rates* d,
                       double out[CR_ROW_DOFS])
{
    const cr_vec3 ds = cr_mat3_apply(slip->ds, d->tau);
    for (int32_t b = 0; b < row->block_count; b++) {
        double share = 0.0;
        cr_vec3 arm = cr_vec3_scale(-row->lever[b], d->n);
        for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
            if (row->point_block[k] == b) {
                share += d->c[k];
                arm = cr_vec3_add_scaled(arm, d->c[k], row->arm[k]);
            }
        }
        push(row, b, cr_vec3_add(cr_vec3_cross(touch_arm(row, b), ds), cr_vec3_cross(arm, slip->s)),
             cr_vec3_add_scaled(cr_vec3_scale(row->share[b], ds), share, slip->s), out);
    }
}

// d/dw of sum_k c_k J_k^T s + r jth^T (s x n) for the w of a body, at fixed s, c and n
static cr_mat3 turning_of_force(const cr_row* row, const cr_row_slip* slip, int32_t b)
{
    const cr_row_body* body = row->body[b];
    const cr_vec3 s = cr_mat3_tapply(body->r_p, slip->s);
    const cr_vec3 a = cr_mat3_tapply(body->r_p, cr_vec3_cross(slip->s, row->at.n));
    cr_mat3 h = cr_rot_d2w(&body->rot, row->p_sum[b], s);
    for (int32_t i = 0; i < 3; i++) {
        const cr_vec3 g = cr_rot_left_dw(&body->rot, a, unit(i));
        h.m[i][0] += row->lever[b] * g.x;
        h.m[i][1] += row->lever[b] * g.y;
        h.m[i][2] += row->lever[b] * g.z;
    }
    return h;
}

void cr_row_add_friction(const cr_row* row, const cr_row_curve* curve, const cr_row_slip* slip,
                         double factor, double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t n = row->offset[row->block_count];
    for (int32_t b = 0; b < row->block_count; b++) {
        for (int32_t i = 0; i < row->size[b]; i++) {
            double column[CR_ROW_DOFS];
            const rates d = rates_of_unknown(row, curve, slip, b, i);
            force_rate(row, slip, &d, column);
            for (int32_t j = 0; j < n; j++) {
                m[j][row->offset[b] + i] += factor * column[j];
            }
        }
        if (row->size[b] == 6) {
            add_turning(row, b, factor, turning_of_force(row, slip, b), m);
        }
    }
}

// Column i of (1 - n n^T) Gamma is the slip that unknown i makes; Gamma^T of it is the line.
void cr_row_add_friction_held(const cr_row* row, const cr_row_slip* slip, double factor,
                              double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t n = row->offset[row->block_count];
    for (int32_t b = 0; b < row->block_count; b++) {
        for (int32_t i = 0; i < row->size[b]; i++) {
            double line[CR_ROW_DOFS];
            const motion d = motion_of(row, b, i);
            const cr_vec3 slide =
                cr_vec3_add_scaled(cr_vec3_cross(d.theta, touch_arm(row, b)), row->share[b], d.u);
            const cr_vec3 f = cr_vec3_scale(factor * slip->weight, tangent(row->at.n, slide));
            for (int32_t c = 0; c < row->block_count; c++) {
                push(row, c, cr_vec3_cross(touch_arm(row, c), f), cr_vec3_scale(row->share[c], f),
                     line);
            }
            for (int32_t j = 0; j < n; j++) {
                m[row->offset[b] + i][j] += line[j];
            }
        }
    }
}

cr_vec3 cr_row_slip_rate(const cr_row* row, const cr_row_curve* curve, const cr_row_slip* slip,
                         const double dz[CR_ROW_DOFS])
{
    cr_vec3 dtau = {0};
    for (int32_t b = 0; b < row->block_count; b++) {
        for (int32_t i = 0; i < row->size[b]; i++) {
            const rates d = rates_of_unknown(row, curve, slip, b, i);
            dtau = cr_vec3_add_scaled(dtau, dz[row->offset[b] + i], d.tau);
        }
    }
    return dtau;
}
