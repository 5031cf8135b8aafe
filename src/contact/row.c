#include "contact/row.h"
#include "core/assert.h"
#include <string.h>

cr_row_body cr_row_body_make(cr_mat3 r_p, cr_mat3 r_0, cr_vec3 t_0, cr_vec3 roll, cr_vec3 w,
                             cr_vec3 u)
{
    cr_row_body body = {.r_p = r_p, .r_0 = r_0};
    cr_row_body_move(&body, t_0, roll, w, u);
    return body;
}

void cr_row_body_move(cr_row_body* body, cr_vec3 t_0, cr_vec3 roll, cr_vec3 w, cr_vec3 u)
{
    body->rot = cr_rot_make(w);
    body->r = cr_mat3_mul(body->r_p, cr_rot_matrix(&body->rot));
    body->turn = cr_mat3_add_scaled(body->r, -1.0, body->r_0);
    body->jth = cr_mat3_mul(body->r_p, cr_rot_left(&body->rot));
    body->t = cr_vec3_add(t_0, u);
    body->u = u;
    body->arc = cr_mat3_apply(body->r_p, cr_vec3_add(roll, w));
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
    row->share[b] += c;
    if (!body) {
        row->x[k] = cr_row_position(point);
        row->move[k] = point->u;
        return;
    }
    row->p[k] = point->p;
    row->arm[k] = cr_mat3_apply(body->r, point->p);
    row->x[k] = cr_vec3_add(row->arm[k], body->t);
    row->move[k] = cr_vec3_add(cr_mat3_apply(body->turn, point->p), body->u);
    row->arm_sum[b] = cr_vec3_add_scaled(row->arm_sum[b], c, row->arm[k]);
    row->p_sum[b] = cr_vec3_add_scaled(row->p_sum[b], c, point->p);
    row->side_block[cr_row_side(row->kind, k)] = b;
}

void cr_row_make(cr_row* row, int32_t kind, const cr_closest* at,
                 const cr_row_point point[CR_ROW_POINTS], const double radius[2])
{
    cr_row_make_of(row, kind, at, at->active, point, radius);
}

void cr_row_make_of(cr_row* row, int32_t kind, const cr_closest* at, int32_t points,
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
        if (points >> k & 1) {
            place_point(row, k, &point[k]);
        }
    }
    for (int32_t side = 0; side < 2; side++) {
        if (row->side_block[side] >= 0) {
            row->lever[row->side_block[side]] += radius[side];
        }
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->size[b] > 0) {
            push(row, b, cr_vec3_cross(row->arm_sum[b], at->n), cr_vec3_scale(row->share[b], at->n),
                 row->grad);
        }
    }
}

static cr_vec3 column(const cr_row_columns* a, int32_t j)
{
    return (cr_vec3){a->m[0][j], a->m[1][j], a->m[2][j]};
}

static void set_column(cr_row_columns* a, int32_t j, cr_vec3 v)
{
    a->m[0][j] = v.x;
    a->m[1][j] = v.y;
    a->m[2][j] = v.z;
}

static cr_vec3 unit(int32_t i)
{
    return (cr_vec3){i == 0, i == 1, i == 2};
}

// sum_k f_k (a.dx_k/dz_j) over the points of block b into columns, for per-point vectors f given by
// their sums: of f_k, and of arm_k f_k^T. dx_k is a unit of u, or theta x arm_k for a unit of w.
static void weigh_motion(const cr_row* row, int32_t b, cr_vec3 f_sum, cr_mat3 arm_f, cr_vec3 a,
                         cr_row_columns* out)
{
    int32_t o = row->offset[b];
    if (row->size[b] == 6) {
        for (int32_t i = 0; i < 3; i++, o++) {
            const cr_vec3 theta = cr_mat3_column(row->body[b]->jth, i);
            set_column(out, o, cr_mat3_tapply(arm_f, cr_vec3_cross(a, theta)));
        }
    }
    if (row->size[b] > 0) {
        set_column(out, o, cr_vec3_scale(a.x, f_sum));
        set_column(out, o + 1, cr_vec3_scale(a.y, f_sum));
        set_column(out, o + 2, cr_vec3_scale(a.z, f_sum));
    }
}

// What the unknowns move: share times a unit of u, or theta x arm for a unit of w.
static void block_motion(const cr_row* row, int32_t b, cr_vec3 arm, cr_row_columns* out)
{
    int32_t o = row->offset[b];
    if (row->size[b] == 6) {
        for (int32_t i = 0; i < 3; i++, o++) {
            set_column(out, o, cr_vec3_cross(cr_mat3_column(row->body[b]->jth, i), arm));
        }
    }
    for (int32_t i = 0; i < 3 && row->size[b] > 0; i++, o++) {
        set_column(out, o, cr_vec3_scale(row->share[b], unit(i)));
    }
}

void cr_row_curve_make(cr_row_curve* curve, const cr_row* row)
{
    const cr_distance_curve at = cr_distance_curve_make(row->kind, row->x, &row->at);
    const double d = row->at.distance;
    memcpy(curve->z, at.z, sizeof curve->z);
    memset(curve->z_sum, 0, sizeof curve->z_sum);
    memset(curve->arm_z, 0, sizeof curve->arm_z);
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = row->point_block[k];
        if (b >= 0 && row->size[b] > 0) {
            curve->z_sum[b] = cr_vec3_add(curve->z_sum[b], at.z[k]);
            if (row->body[b]) {
                curve->arm_z[b] = cr_mat3_add(curve->arm_z[b], cr_mat3_outer(row->arm[k], at.z[k]));
            }
        }
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->size[b] > 0) {
            block_motion(row, b, row->arm_sum[b], &curve->v);
            weigh_motion(row, b, curve->z_sum[b], curve->arm_z[b], row->at.n, &curve->slide);
        }
    }
    const int32_t n = row->offset[row->block_count];
    for (int32_t i = 0; i < 3; i++) {
        const double* q = at.q.m[i];
        for (int32_t j = 0; j < n; j++) {
            const double slide = curve->slide.m[i][j];
            const double across =
                q[0] * curve->v.m[0][j] + q[1] * curve->v.m[1][j] + q[2] * curve->v.m[2][j];
            curve->turn.m[i][j] = across - slide;
            curve->pull.m[i][j] = curve->v.m[i][j] + d * slide;
        }
    }
}

// line_j += a.b_j for all unknowns
__attribute__((always_inline)) static inline void
add_products_of(int32_t n, cr_vec3 a, const cr_row_columns* restrict b, double* restrict line)
{
    for (int32_t j = 0; j < n; j++) {
        line[j] += a.x * b->m[0][j] + a.y * b->m[1][j] + a.z * b->m[2][j];
    }
}

// Most rows have the unknowns of one body or of two. On their own the compiler still knows that
// nothing overlaps, and takes several unknowns at a time.
__attribute__((noinline)) static void add_products_6(cr_vec3 a, const cr_row_columns* restrict b,
                                                     double* restrict line)
{
    add_products_of(6, a, b, line);
}

__attribute__((noinline)) static void add_products_12(cr_vec3 a, const cr_row_columns* restrict b,
                                                      double* restrict line)
{
    add_products_of(12, a, b, line);
}

static void add_products(int32_t n, cr_vec3 a, const cr_row_columns* b, double* line)
{
    if (n == 6) {
        add_products_6(a, b, line);
    } else if (n == 12) {
        add_products_12(a, b, line);
    } else {
        add_products_of(n, a, b, line);
    }
}

// out_j += a b_j for all unknowns
static void add_image(int32_t n, cr_mat3 a, const cr_row_columns* b, cr_row_columns* out)
{
    for (int32_t i = 0; i < 3; i++) {
        add_products(n, cr_mat3_row(a, i), b, out->m[i]);
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

// Of a side with one point only no z_k is left, and in the interior no Q.
int32_t cr_row_is_straight(const cr_row* row)
{
    int32_t count[2] = {0, 0}, moves[2] = {0, 0};
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = row->point_block[k];
        if (b >= 0) {
            count[cr_row_side(row->kind, k)]++;
            moves[cr_row_side(row->kind, k)] |= row->size[b] > 0;
        }
    }
    return row->at.free == 2 && !(moves[0] && count[0] > 1) && !(moves[1] && count[1] > 1);
}

// m_i += v_i.turn_j - slide_i.pull_j times factor, over n unknowns
static void add_bending(int32_t n, const cr_row_curve* curve, double factor,
                        double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    for (int32_t i = 0; i < n; i++) {
        add_products(n, cr_vec3_scale(factor, column(&curve->v, i)), &curve->turn, m[i]);
        add_products(n, cr_vec3_scale(-factor, column(&curve->slide, i)), &curve->pull, m[i]);
    }
}

// d/dz_j of sum_k J_k^T c_k n. The change of c_k n is dc_k n + c_k dn; multiplied by dx_k/dz_i and
// summed over k that is -slide_i.pull_j + v_i.turn_j. And J_k itself turns, which is the Hessian of
// n . R_p exp(w) (sum_k c_k p_k) against w.
void cr_row_add_hessian(const cr_row* row, const cr_row_curve* curve, double factor,
                        double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t n = row->offset[row->block_count];
    if (!curve) {
        CR_ASSERT(cr_row_is_straight(row));
    } else {
        add_bending(n, curve, factor, m);
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

// The slip's dependence on a motion with sum c_k dx_k = v, dn = turn, dc_k = -z_k.pull and the
// change dpsi of psi, as dtau = from_v v + from_turn turn + from_pull pull + from_psi dpsi:
//   ddelta = v + sum dc_k move_k + dn x psi + n x dpsi
//   dtau = (1 - n n^T) ddelta - (n.delta) dn - n (delta.dn)
typedef struct slip_map {
    cr_mat3 from_v, from_turn, from_pull, from_psi;
} slip_map;

static slip_map slip_map_make(const cr_row* row, const cr_row_curve* curve, const cr_row_slip* slip)
{
    const cr_vec3 n = row->at.n;
    slip_map map;
    map.from_v = cr_mat3_add_scaled(cr_mat3_identity(), -1.0, cr_mat3_outer(n, n));
    map.from_psi = cr_mat3_skew(n);
    map.from_pull = (cr_mat3){0};
    for (int32_t k = 0; k < CR_ROW_POINTS; k++) {
        const cr_vec3 move = cr_vec3_neg(tangent(n, row->move[k]));
        map.from_pull = cr_mat3_add(map.from_pull, cr_mat3_outer(move, curve->z[k]));
    }
    map.from_turn = cr_mat3_mul(map.from_v, cr_mat3_skew(cr_vec3_neg(slip->psi)));
    map.from_turn = cr_mat3_add_scaled(map.from_turn, -1.0, cr_mat3_outer(n, slip->delta));
    map.from_turn =
        cr_mat3_add_scaled(map.from_turn, -cr_vec3_dot(n, slip->delta), cr_mat3_identity());
    return map;
}

// ds for every unknown
static void direction_rates(const cr_row* row, const cr_row_curve* curve, const cr_row_slip* slip,
                            cr_row_columns* out)
{
    const int32_t n = row->offset[row->block_count];
    const slip_map map = slip_map_make(row, curve, slip);
    for (int32_t i = 0; i < 3; i++) {
        memset(out->m[i], 0, (size_t)n * sizeof(double));
    }
    add_image(n, cr_mat3_mul(slip->ds, map.from_v), &curve->v, out);
    add_image(n, cr_mat3_mul(slip->ds, map.from_turn), &curve->turn, out);
    add_image(n, cr_mat3_mul(slip->ds, map.from_pull), &curve->pull, out);
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->size[b] == 6) { // dpsi = r R_p dw
            const cr_mat3 a = cr_mat3_mul(cr_mat3_mul(slip->ds, map.from_psi), row->body[b]->r_p);
            for (int32_t i = 0; i < 9; i++) {
                out->m[i / 3][row->offset[b] + i % 3] += row->lever[b] * a.m[i / 3][i % 3];
            }
        }
    }
}

// d/dw of sum_k c_k J_k^T s + r jth^T (s x n) for the w of a body, at fixed s, c and n
static cr_mat3 turning_of_force(const cr_row* row, const cr_row_slip* slip, int32_t b)
{
    const cr_row_body* body = row->body[b];
    const cr_vec3 s = cr_mat3_tapply(body->r_p, slip->s);
    const cr_vec3 a = cr_mat3_tapply(body->r_p, cr_vec3_cross(slip->s, row->at.n));
    return cr_mat3_add_scaled(cr_rot_d2w(&body->rot, row->p_sum[b], s), row->lever[b],
                              cr_rot_left_transpose_dw(&body->rot, a));
}

// r (s x theta) for the w of block b, 0 for u: how the force's lever takes a turn of n
static void lever_motion(const cr_row* row, int32_t b, cr_vec3 s, cr_row_columns* out)
{
    for (int32_t i = 0; i < row->size[b]; i++) {
        cr_vec3 c = {0};
        if (row->size[b] == 6 && i < 3) {
            const cr_vec3 theta = cr_mat3_column(row->body[b]->jth, i);
            c = cr_vec3_scale(row->lever[b], cr_vec3_cross(s, theta));
        }
        set_column(out, row->offset[b] + i, c);
    }
}

// force_i = s.(Gamma's column i) = sum_k c_k s.dx_k/dz_i + r s.(n x theta_i). It changes with s,
// c_k and n as  Gamma_i.ds + sum_k dc_k s.dx_k/dz_i - r (s x theta_i).dn, the middle sum being
// -(sum_k z_k s.dx_k/dz_i).pull; and with the turning of the body itself.
void cr_row_add_friction(const cr_row* row, const cr_row_curve* curve, const cr_row_slip* slip,
                         double factor, double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t n = row->offset[row->block_count];
    cr_row_columns ds, gamma, shift, lever;
    direction_rates(row, curve, slip, &ds);
    for (int32_t b = 0; b < row->block_count; b++) {
        block_motion(row, b, touch_arm(row, b), &gamma);
        weigh_motion(row, b, curve->z_sum[b], curve->arm_z[b], slip->s, &shift);
        lever_motion(row, b, slip->s, &lever);
    }
    for (int32_t i = 0; i < n; i++) {
        add_products(n, cr_vec3_scale(factor, column(&gamma, i)), &ds, m[i]);
        add_products(n, cr_vec3_scale(-factor, column(&shift, i)), &curve->pull, m[i]);
        add_products(n, cr_vec3_scale(-factor, column(&lever, i)), &curve->turn, m[i]);
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->size[b] == 6) {
            add_turning(row, b, factor, turning_of_force(row, slip, b), m);
        }
    }
}

void cr_row_add_friction_held(const cr_row* row, const cr_row_slip* slip, double factor,
                              double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t n = row->offset[row->block_count];
    cr_row_columns gamma;
    for (int32_t b = 0; b < row->block_count; b++) {
        block_motion(row, b, touch_arm(row, b), &gamma);
    }
    for (int32_t i = 0; i < n; i++) {
        const cr_vec3 slide = tangent(row->at.n, column(&gamma, i));
        add_products(n, cr_vec3_scale(factor * slip->weight, slide), &gamma, m[i]);
    }
}

cr_vec3 cr_row_slip_rate(const cr_row* row, const cr_row_curve* curve, const cr_row_slip* slip,
                         const double dz[CR_ROW_DOFS])
{
    cr_vec3 v = {0}, turn = {0}, pull = {0}, psi_rate = {0};
    for (int32_t j = 0; j < row->offset[row->block_count]; j++) {
        v = cr_vec3_add_scaled(v, dz[j], column(&curve->v, j));
        turn = cr_vec3_add_scaled(turn, dz[j], column(&curve->turn, j));
        pull = cr_vec3_add_scaled(pull, dz[j], column(&curve->pull, j));
    }
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->size[b] == 6) {
            const cr_vec3 w = cr_mat3_apply(row->body[b]->r_p, cr_vec3_load(dz + row->offset[b]));
            psi_rate = cr_vec3_add_scaled(psi_rate, row->lever[b], w);
        }
    }
    const slip_map map = slip_map_make(row, curve, slip);
    return cr_vec3_add(
        cr_vec3_add(cr_mat3_apply(map.from_v, v), cr_mat3_apply(map.from_turn, turn)),
        cr_vec3_add(cr_mat3_apply(map.from_pull, pull), cr_mat3_apply(map.from_psi, psi_rate)));
}
