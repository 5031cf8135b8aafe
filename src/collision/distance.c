#include "collision/distance.h"
#include "core/assert.h"
#include <string.h>

// An edge vector's part normal to the other one is pure round-off below this (squared sine): four
// units in the last place. The pair then has no plane and is taken by its edges and points.
static const double flat_sine2 = 8e-31;

// Below this squared sine the first Gram-Schmidt pass has lost a digit or more: do it twice.
static const double twice_sine2 = 1e-2;

// Least squared sine the second derivatives answer to; see distance.h.
static const double parallel_sine2 = 1e-12;

// Squares below this have lost digits to underflow.
static const double small_square = 1e-280;

static const int32_t bit_sets[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

static void set_weights(cr_closest* at, double c0, double c1, double c2, double c3)
{
    at->c[0] = c0;
    at->c[1] = c1;
    at->c[2] = c2;
    at->c[3] = c3;
    at->active = (c0 != 0.0) | (c1 != 0.0) << 1 | (c2 != 0.0) << 2 | (c3 != 0.0) << 3;
    at->free = bit_sets[at->active] - 2;
}

// D and n from r alone
static void set_normal(cr_closest* at, cr_vec3 r)
{
    const double rr = cr_vec3_norm2(r);
    if (rr > small_square) {
        at->distance = sqrt(rr);
        at->n = cr_vec3_scale(1.0 / at->distance, r);
        return;
    }
    const double size = cr_vec3_max_abs(r);
    if (!(size > 0.0)) {
        at->distance = 0.0;
        at->n = (cr_vec3){0};
        return;
    }
    const cr_vec3 unit = {r.x / size, r.y / size, r.z / size};
    const double length = cr_vec3_norm(unit);
    at->distance = size * length;
    at->n = cr_vec3_scale(1.0 / length, unit);
}

// e2 = alpha e1 + w with w normal to e1. One pass leaves w.e1 of the order of round-off * |e2||e1|,
// which is much for a small w; a second pass makes it round-off * |w||e1|. What w itself has lost
// is as if a point had moved by round-off * |e2|, and a distance moves by no more than its points.
typedef struct plane {
    cr_vec3 w;
    double alpha, e11, e22, ww;
} plane;

static inline plane plane_of(const cr_distance_face* face)
{
    return (plane){face->w, face->alpha, face->e11, face->e22, face->ww};
}

static inline plane plane_make(cr_vec3 e1, cr_vec3 e2)
{
    plane p;
    p.e11 = cr_vec3_norm2(e1);
    p.e22 = cr_vec3_norm2(e2);
    p.alpha = cr_vec3_dot(e1, e2) / p.e11;
    p.w = cr_vec3_add_scaled(e2, -p.alpha, e1);
    p.ww = cr_vec3_norm2(p.w);
    if (p.ww < twice_sine2 * p.e22) {
        const double more = cr_vec3_dot(e1, p.w) / p.e11;
        p.w = cr_vec3_add_scaled(p.w, -more, e1);
        p.alpha += more;
        p.ww = cr_vec3_norm2(p.w);
    }
    return p;
}

// d = b1 e1 + b2 e2 + r with r normal to e1 and e2. False when e1 and e2 span no plane.
typedef struct split {
    double b1, b2;
    cr_vec3 r;
} split;

static inline int split_make(const plane* p, cr_vec3 e1, cr_vec3 d, split* out)
{
    if (!(p->ww > flat_sine2 * p->e22)) {
        return 0;
    }
    const double along = cr_vec3_dot(d, e1) / p->e11;
    const cr_vec3 rest = cr_vec3_add_scaled(d, -along, e1);
    out->b2 = cr_vec3_dot(rest, p->w) / p->ww;
    out->b1 = along - out->b2 * p->alpha;
    out->r = cr_vec3_add_scaled(rest, -out->b2, p->w);
    return 1;
}

// r/|r| errs by round-off * |d|/D, the normal N = e1 x e2 of the plane by round-off * |e2|/|w|:
// take the better one. In contact that is N, and D = |N.d|/|N| loses nothing however small it is,
// down to an exact 0 for numbers that allow it. A blurred N must not meet the long d, only r.
static inline void set_interior_normal(cr_closest* at, const plane* p, cr_vec3 normal,
                                       double inverse, cr_vec3 d, cr_vec3 r)
{
    if (cr_vec3_norm2(r) * p->e22 > p->ww * cr_vec3_norm2(d)) {
        set_normal(at, r);
        return;
    }
    const double height = cr_vec3_dot(normal, p->ww < twice_sine2 * p->e22 ? r : d);
    at->distance = fabs(height) * inverse;
    at->n = cr_vec3_scale(height > 0.0 ? inverse : height < 0.0 ? -inverse : 0.0, normal);
}

// Where a point at d_a from end a and d_b from end b of the edge e = b - a projects: weights of a
// and b, the one that does not take part exactly 0, and the way r from there to the point, counted
// from the nearer end. The signs of e.d_a and e.d_b decide, so no length is divided by.
typedef struct foot {
    double a, b;
    cr_vec3 r;
} foot;

static inline foot foot_make(cr_vec3 e, cr_vec3 d_a, cr_vec3 d_b)
{
    const double past_a = cr_vec3_dot(e, d_a);
    const double before_b = -cr_vec3_dot(e, d_b);
    if (!(past_a > 0.0)) {
        return (foot){1.0, 0.0, d_a};
    }
    if (!(before_b > 0.0)) {
        return (foot){0.0, 1.0, d_b};
    }
    // the smaller weight by its quotient, the larger as the rest: they sum to 1
    const double inverse = 1.0 / (past_a + before_b);
    if (past_a < before_b) {
        const double b = past_a * inverse;
        return (foot){1.0 - b, b, cr_vec3_add_scaled(d_a, -b, e)};
    }
    const double a = before_b * inverse;
    return (foot){a, 1.0 - a, cr_vec3_add_scaled(d_b, a, e)};
}

static void closest_pe(const cr_vec3 x[4], cr_closest* at)
{
    const foot f =
        foot_make(cr_vec3_sub(x[1], x[0]), cr_vec3_sub(x[3], x[0]), cr_vec3_sub(x[3], x[1]));
    set_weights(at, -f.a, -f.b, 0.0, 1.0);
    set_normal(at, f.r);
}

static const int32_t first_bit[8] = {0, 0, 1, 0, 2, 0, 1, 0};

static void set_corner(cr_closest* at, int k, cr_vec3 r)
{
    double c[3] = {0.0, 0.0, 0.0};
    c[k] = -1.0;
    set_weights(at, c[0], c[1], c[2], 1.0);
    set_normal(at, r);
}

static void set_edge(cr_closest* at, int k, foot f)
{
    double c[3] = {0.0, 0.0, 0.0};
    c[k] = -f.a;
    c[k < 2 ? k + 1 : 0] = -f.b;
    set_weights(at, c[0], c[1], c[2], 1.0);
    set_normal(at, f.r);
}

// The closest point is not inside the triangle: it is on its rim. Edge k goes from corner k to k+1,
// d[k] from corner k to the point. Corner k when the point lies before edge k and past edge k-1;
// edge k when it lies beside it and on its outer side (beta of the opposite corner not above 0).
// These regions do not overlap, so a comparison of distances, blind to half of the digits, is left
// to triangles too flat to have an outer side and to round-off.
static void closest_on_rim(const cr_vec3 e[3], const cr_vec3 d[3], const double beta[3],
                           cr_closest* at)
{
    int past = 0, before = 0, outer = 0;
    for (int k = 0; k < 3; k++) {
        past |= (cr_vec3_dot(e[k], d[k]) > 0.0) << k;
        before |= (cr_vec3_dot(e[k], d[k < 2 ? k + 1 : 0]) < 0.0) << k;
        outer |= !(beta[k > 0 ? k - 1 : 2] > 0.0) << k;
    }
    const int before_last = (before << 1 | before >> 2) & 7; // bit k: before the end of edge k-1
    const int corner = ~(past | before_last) & 7;
    if (corner) {
        const int k = first_bit[corner];
        set_corner(at, k, d[k]);
        return;
    }
    const int beside = past & before & outer;
    if (beside == 1 || beside == 2 || beside == 4) {
        const int k = first_bit[beside];
        set_edge(at, k, foot_make(e[k], d[k], d[k < 2 ? k + 1 : 0]));
        return;
    }
    foot best = foot_make(e[0], d[0], d[1]);
    int best_k = 0;
    for (int k = 1; k < 3; k++) {
        const foot f = foot_make(e[k], d[k], d[k < 2 ? k + 1 : 0]);
        if (cr_vec3_norm2(f.r) < cr_vec3_norm2(best.r)) {
            best = f;
            best_k = k;
        }
    }
    set_edge(at, best_k, best);
}

static inline cr_distance_face face_make(const cr_vec3 x[3])
{
    const cr_vec3 e1 = cr_vec3_sub(x[1], x[0]), e2 = cr_vec3_sub(x[2], x[0]);
    const plane p = plane_make(e1, e2);
    const cr_vec3 normal = cr_vec3_cross(e1, e2);
    return (cr_distance_face){.x = {x[0], x[1], x[2]},
                              .e1 = e1,
                              .e2 = e2,
                              .w = p.w,
                              .alpha = p.alpha,
                              .e11 = p.e11,
                              .e22 = p.e22,
                              .ww = p.ww,
                              .e33 = cr_vec3_norm2(cr_vec3_sub(e2, e1)),
                              .normal = normal,
                              .inverse = 1.0 / cr_vec3_norm(normal)};
}

cr_distance_face cr_distance_face_make(const cr_vec3 x[3])
{
    return face_make(x);
}

// Beyond the edge opposite to corner k the point is at least as far away as from the edge's line,
// -beta_k times the height of that corner; and it is never nearer than the plane. The heights are
// |e1||w| over the lengths of the edges. Asked for twice the range, so that no rounding matters.
static inline int is_beyond(const cr_distance_face* face, const split* s, const double beta[3],
                            double range)
{
    const double far2 = 4.0 * range * range;
    const double area2 = face->e11 * face->ww;
    const double edge2[3] = {face->e33, face->e22, face->e11};
    int beyond = cr_vec3_norm2(s->r) > far2;
    for (int k = 0; k < 3; k++) {
        beyond |= (beta[k] < 0.0) & (beta[k] * beta[k] * area2 > far2 * edge2[k]);
    }
    return beyond;
}

// Inlined for both callers: without a range, and without a face that is kept, much of it is not
// needed.
__attribute__((always_inline)) static inline int
closest_to_face(const cr_distance_face* face, cr_vec3 y, double range, cr_closest* at)
{
    const cr_vec3 d = cr_vec3_sub(y, face->x[0]);
    const plane p = plane_of(face);
    split s;
    double beta[3] = {0.0, 0.0, 0.0}; // no plane: every edge is an outer one
    if (split_make(&p, face->e1, d, &s)) {
        beta[0] = 1.0 - s.b1 - s.b2;
        beta[1] = s.b1;
        beta[2] = s.b2;
        if (range < HUGE_VAL && is_beyond(face, &s, beta, range)) {
            return 0;
        }
        if (beta[0] > 0.0 && beta[1] > 0.0 && beta[2] > 0.0) {
            *at = (cr_closest){.c = {-beta[0], -beta[1], -beta[2], 1.0}, .active = 15, .free = 2};
            set_interior_normal(at, &p, face->normal, face->inverse, d, s.r);
            return 1;
        }
    }
    const cr_vec3 e[3] = {face->e1, cr_vec3_sub(face->x[2], face->x[1]), cr_vec3_neg(face->e2)};
    const cr_vec3 to[3] = {d, cr_vec3_sub(y, face->x[1]), cr_vec3_sub(y, face->x[2])};
    closest_on_rim(e, to, beta, at);
    return 1;
}

int cr_distance_face_closest(const cr_distance_face* face, cr_vec3 y, double range, cr_closest* at)
{
    return closest_to_face(face, y, range, at);
}

static void closest_pt(const cr_vec3 x[4], cr_closest* at)
{
    const cr_distance_face face = face_make(x);
    closest_to_face(&face, x[3], HUGE_VAL, at);
}

// Minimum of the convex |d - s a + t b|^2 over the unit square of (s,t): clamp the free minimum's
// s, take the best t there, and if that leaves the square, clamp t and take the best s. Lines with
// no common plane are parallel: any s will do to start from.
static void closest_ee(const cr_vec3 x[4], cr_closest* at)
{
    const cr_vec3 a = cr_vec3_sub(x[1], x[0]);
    const cr_vec3 b = cr_vec3_sub(x[3], x[2]);
    const cr_vec3 d = cr_vec3_sub(x[2], x[0]);
    const plane p = plane_make(a, b);
    split f = {0};
    double s = 0.0, t = 0.0;
    if (split_make(&p, a, d, &f)) {
        s = f.b1;
        t = -f.b2;
        if (s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0) {
            set_weights(at, s - 1.0, -s, 1.0 - t, t);
            const cr_vec3 normal = cr_vec3_cross(a, b);
            set_interior_normal(at, &p, normal, 1.0 / cr_vec3_norm(normal), d, f.r);
            return;
        }
    }
    int end = t >= 1.0; // of edge B
    if (!(s > 0.0 && s < 1.0)) {
        const int i = s >= 1.0;
        const foot on_b = foot_make(b, cr_vec3_sub(x[i], x[2]), cr_vec3_sub(x[i], x[3]));
        if (on_b.a != 0.0 && on_b.b != 0.0) {
            set_weights(at, -(i == 0), -(i == 1), on_b.a, on_b.b);
            set_normal(at, cr_vec3_neg(on_b.r));
            return;
        }
        end = on_b.b != 0.0;
    }
    const cr_vec3 y = x[2 + end];
    const foot on_a = foot_make(a, cr_vec3_sub(y, x[0]), cr_vec3_sub(y, x[1]));
    set_weights(at, -on_a.a, -on_a.b, end == 0, end == 1);
    set_normal(at, on_a.r);
}

cr_closest cr_distance_closest(int32_t kind, const cr_vec3 x[4])
{
    cr_closest at;
    switch (kind) {
    case CR_PAIR_PP:
        set_weights(&at, -1.0, 0.0, 0.0, 1.0);
        set_normal(&at, cr_vec3_sub(x[3], x[0]));
        break;
    case CR_PAIR_PE:
        closest_pe(x, &at);
        break;
    case CR_PAIR_PT:
        closest_pt(x, &at);
        break;
    default:
        CR_ASSERT(kind == CR_PAIR_EE);
        closest_ee(x, &at);
        break;
    }
    return at;
}

// One point and an edge, or two points, wherever they stand in the pair.
cr_closest cr_distance_closest_of(int32_t kind, const cr_vec3 x[4], int32_t points)
{
    const int middle = kind == CR_PAIR_EE ? 2 : 3;
    int at[2][3], count[2] = {0, 0};
    for (int k = 0; k < 4; k++) {
        if (points >> k & 1) {
            const int side = k >= middle;
            at[side][count[side]++] = k;
        }
    }
    CR_ASSERT(count[0] > 0 && count[1] > 0);
    if (count[0] + count[1] == 4) {
        return cr_distance_closest(kind, x);
    }
    const int edge = count[1] == 2; // the side that has two points, if one has
    const int *e = at[edge], *p = at[!edge], two = count[edge] == 2;
    const cr_vec3 y[4] = {x[e[0]], x[e[two]], {0, 0, 0}, x[p[0]]};
    const cr_closest found = cr_distance_closest(two ? CR_PAIR_PE : CR_PAIR_PP, y);
    const double sign = edge ? -1.0 : 1.0; // found goes from the edge to the point
    cr_closest out = {.distance = found.distance,
                      .n = cr_vec3_scale(sign, found.n),
                      .free = found.free,
                      .active = 1 << p[0]};
    out.c[p[0]] = sign * found.c[3];
    for (int i = 0; i <= two; i++) {
        out.c[e[i]] = sign * found.c[i];
        out.active |= (found.c[i] != 0.0) << e[i];
    }
    return out;
}

// Second derivatives. At the closest points D(x) = min over theta of |r|, r = sum_k c_k(theta) x_k;
// theta_j moves weight from one active point of a side to another, dc/dtheta_j = u_j in {0,+1,-1},
// T_j = dr/dtheta_j = sum_k u_j[k] x_k, n.T_j = 0. Differentiating these conditions with
// S = (T^T T)^-1, V_j = sum_i S_ji T_i (the dual basis, V_i.V_j = S_ij) and z_k = sum_j u_j[k] V_j
//   Hess_kl = c_k c_l Q/D - c_k z_l n^T - c_l n z_k^T - D (z_k.z_l) n n^T,
// where Q projects on what is normal to n and every T_j: I - n n^T for PP, m m^T with
// m = n x T/|T| for PE, nothing in the interior, so that no 1/D is left there.
typedef struct curvature {
    cr_vec3 z[4];
    cr_vec3 m;        // of PE
    double inverse_d; // 1/D where Q is not 0
} curvature;

// The active points of one side give its free parameters: first - second, first - third.
static int side_parameters(const cr_vec3 x[4], int32_t active, int from, int to, int first[2],
                           int other[2], cr_vec3 t[2], int count)
{
    int lead = -1;
    for (int k = from; k < to; k++) {
        if (!(active >> k & 1)) {
            continue;
        }
        if (lead < 0) {
            lead = k;
            continue;
        }
        CR_ASSERT(count < 2);
        first[count] = lead;
        other[count] = k;
        t[count] = cr_vec3_sub(x[lead], x[k]);
        count++;
    }
    return count;
}

static curvature curvature_make(int32_t kind, const cr_vec3 x[4], const cr_closest* at)
{
    curvature q = {0};
    if (at->free == 0) {
        q.inverse_d = 1.0 / at->distance;
        return q;
    }
    const int middle = kind == CR_PAIR_EE ? 2 : 3;
    int first[2] = {0, 0}, other[2] = {0, 0};
    cr_vec3 t[2] = {{0}}, v[2] = {{0}};
    int count = side_parameters(x, at->active, 0, middle, first, other, t, 0);
    count = side_parameters(x, at->active, middle, 4, first, other, t, count);
    CR_ASSERT(count == at->free);
    if (count == 1) {
        const double tt = cr_vec3_norm2(t[0]);
        v[0] = cr_vec3_scale(1.0 / tt, t[0]);
        q.m = cr_vec3_scale(1.0 / sqrt(tt), cr_vec3_cross(at->n, t[0]));
        q.inverse_d = 1.0 / at->distance;
    } else {
        const plane p = plane_make(t[0], t[1]);
        const double ww = cr_max(p.ww, parallel_sine2 * p.e22);
        v[1] = cr_vec3_scale(1.0 / ww, p.w);
        v[0] = cr_vec3_add_scaled(cr_vec3_scale(1.0 / p.e11, t[0]), -p.alpha, v[1]);
    }
    for (int j = 0; j < count; j++) {
        q.z[first[j]] = cr_vec3_add(q.z[first[j]], v[j]);
        q.z[other[j]] = cr_vec3_sub(q.z[other[j]], v[j]);
    }
    return q;
}

// Q a/D
static cr_vec3 across(const curvature* q, const cr_closest* at, cr_vec3 a)
{
    if (at->free == 0) {
        a = cr_vec3_add_scaled(a, -cr_vec3_dot(at->n, a), at->n);
        return cr_vec3_scale(q->inverse_d, a);
    }
    return cr_vec3_scale(q->inverse_d * cr_vec3_dot(q->m, a), q->m); // 0 in the interior
}

void cr_distance_hessian_apply(int32_t kind, const cr_vec3 x[4], const cr_closest* at,
                               const cr_vec3 dx[4], cr_vec3 out[4])
{
    if (!(at->distance > 0.0)) {
        memset(out, 0, 4 * sizeof *out);
        return;
    }
    const curvature q = curvature_make(kind, x, at);
    cr_vec3 dr = {0}, slide = {0}; // sum_l c_l dx_l and sum_l z_l (n.dx_l)
    for (int l = 0; l < 4; l++) {
        if (at->active >> l & 1) {
            dr = cr_vec3_add_scaled(dr, at->c[l], dx[l]);
            slide = cr_vec3_add_scaled(slide, cr_vec3_dot(at->n, dx[l]), q.z[l]);
        }
    }
    const cr_vec3 turn = cr_vec3_sub(across(&q, at, dr), slide);
    const cr_vec3 pull = cr_vec3_add_scaled(dr, at->distance, slide);
    for (int k = 0; k < 4; k++) {
        const cr_vec3 y = cr_vec3_scale(at->c[k], turn);
        out[k] = cr_vec3_add_scaled(y, -cr_vec3_dot(q.z[k], pull), at->n);
    }
}

void cr_distance_hessian(int32_t kind, const cr_vec3 x[4], const cr_closest* at,
                         double hess[12][12])
{
    if (!(at->distance > 0.0)) {
        memset(hess, 0, 144 * sizeof(double));
        return;
    }
    const curvature q = curvature_make(kind, x, at);
    const double c[4] = {at->c[0], at->c[1], at->c[2], at->c[3]}; // hess may not alias these
    double n[3], m[3], z[4][3];
    cr_vec3_store(n, at->n);
    cr_vec3_store(m, q.m);
    for (int k = 0; k < 4; k++) {
        cr_vec3_store(z[k], q.z[k]);
    }
    // row (k,i) = c_k across_i - n_i along_k with
    // across_i[l,j] = c_l Q_ij/D - z_l,i n_j  and  along_k[l,j] = c_l z_k,j + D (z_k.z_l) n_j
    double across_row[3][12], along_row[4][12];
    for (int i = 0; i < 3; i++) {
        double sheet[3]; // Q_ij/D
        for (int j = 0; j < 3; j++) {
            sheet[j] = q.inverse_d * (at->free == 0 ? (i == j) - n[i] * n[j] : m[i] * m[j]);
        }
        for (int l = 0; l < 4; l++) {
            for (int j = 0; j < 3; j++) {
                across_row[i][3 * l + j] = c[l] * sheet[j] - z[l][i] * n[j];
            }
        }
    }
    for (int k = 0; k < 4; k++) {
        for (int l = 0; l < 4; l++) {
            const double bend = at->distance * cr_vec3_dot(q.z[k], q.z[l]);
            for (int j = 0; j < 3; j++) {
                along_row[k][3 * l + j] = c[l] * z[k][j] + bend * n[j];
            }
        }
    }
    for (int row = 0; row < 12; row++) {
        const double c_k = c[row / 3], n_i = n[row % 3];
        const double *across_i = across_row[row % 3], *along_k = along_row[row / 3];
        double* out = hess[row];
        for (int col = 0; col < 12; col++) {
            out[col] = c_k * across_i[col] - n_i * along_k[col];
        }
    }
    for (int row = 0; row < 12; row++) { // one half as the mirror of the other: the same to the bit
        for (int col = 0; col < row; col++) {
            hess[col][row] = hess[row][col];
        }
    }
}

cr_distance_curve cr_distance_curve_make(int32_t kind, const cr_vec3 x[4], const cr_closest* at)
{
    cr_distance_curve out = {0};
    if (!(at->distance > 0.0)) {
        return out;
    }
    const curvature q = curvature_make(kind, x, at);
    memcpy(out.z, q.z, sizeof out.z);
    if (at->free == 0) {
        out.q = cr_mat3_add_scaled(cr_mat3_identity(), -1.0, cr_mat3_outer(at->n, at->n));
    } else {
        out.q = cr_mat3_outer(q.m, q.m); // 0 in the interior
    }
    out.q = cr_mat3_scale(q.inverse_d, out.q);
    return out;
}

// A direction is normal to a face when it leans less than this over it.
static const double level = 1e-9;

void cr_distance_take_face(int32_t kind, const cr_vec3 x[4], cr_closest* at)
{
    if (kind != CR_PAIR_PT || at->active == 15 || !(at->active >> 3 & 1)) {
        return;
    }
    const cr_vec3 t[2] = {cr_vec3_sub(x[1], x[0]), cr_vec3_sub(x[2], x[0])};
    for (int k = 0; k < 2; k++) {
        if (!(fabs(cr_vec3_dot(at->n, t[k])) <= level * cr_vec3_norm(t[k]))) {
            return;
        }
    }
    const plane p = plane_make(t[0], t[1]);
    if (p.ww > parallel_sine2 * p.e22) { // else a sliver, which has no normal
        at->active = 15;
        at->free = 2;
    }
}
