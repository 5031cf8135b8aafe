#include "collision/ccd.h"
#include "core/assert.h"
#include <float.h>

// The pair as seen from one side. With d = a - b for every point a of A and b of B, the distance
// of the two features is that of the origin to the convex hull of the d: a point (PP), a segment
// (PE), a triangle (PT) or a parallelogram (EE). Each corner d_k is linear in the time. So
//   - the pair is free on [s,t] if some direction has u . d_k > separation |u| for all k at both
//     ends: positions between are mixtures of the ends;
//   - it is free, too, if that holds for a direction that turns from u_s to u_t linearly: then
//     u . d_k is a quadratic in the time whose Bernstein coefficients are u_s.d_k(s),
//     (u_s.d_k(t) + u_t.d_k(s))/2 and u_t.d_k(t), and it lies above the least of them.
// The direction to take is the one to the closest point of the hull. Where that point wanders from
// feature to feature, or the pair turns by much, the interval is cut. Nothing rests on the closest
// points being right: a bad direction proves nothing and costs time, no more. Touching at the start
// or at the end, flat patches, parallel edges and no motion at all are no special cases.

enum {
    CORNERS = 4,
    NO_SIDE = -1,
    STEPS = 800,        // most proofs tried per query: what is open then counts as a hit
    PENDING = 48,       // right ends of cut intervals that wait
    GAP_SAMPLES = 1024, // times at which cr_ccd_gap looks first: a power of two
    GAP_CUTS = 96       // of an interval that holds a minimum, to two thirds each
};

// Rounding of one u . d_k, in units of the size. A corner is one subtraction (1 eps = 2^-53) and at
// a time between two products, a complement and a sum: 4 eps a component. The product with a unit
// vector adds 3 eps, so 7 sqrt(3) eps in all, one more for the mean of two; the separation times
// |u| <= 1 + 8 eps is covered as well. 32 eps leaves a factor of two.
static const double margin_unit = 0x1p-48;

// The same where the sum of |u_i| |d_i| itself is at hand: 7 eps of it.
static const double fine_unit = 0x1p-50;

// Rounding of the coefficients of the cubic n . d_0, n = p x q, in units of |p| |q| size (largest
// components): 20 eps for n, 108 eps for the product, 140 eps for the thirds; 160 eps covers them.
static const double cubic_unit = 160 * 0x1p-53;

// Rounding of the coefficients of (e.e)(w.d_k) - (w.e)(e.d_k) for |w| <= 1, in units of e^2 size:
// 40 eps for e.e, 12 for w.d_k, 14 for w.e and 36 for e.d_k make 236 eps; 512 eps covers them.
static const double side_unit = 512 * 0x1p-53;

// Closer than this, in units of the size, and not provably free: that is a touch.
static const double touch_unit = 0x1p-40;

// A hit that is sure anyway is followed up to this distance, in units of the size.
static const double tight_unit = 0x1p-30;

// Below this sine of the angle between its sides a patch is all rim: its normal is noise.
static const double flat_sine = 1e-13;

// Squares below this have lost digits to the end of the range: no unit vector comes from them.
static const double least_square = DBL_MIN / DBL_EPSILON;

// The first look of an approach stops short of the expected hit by this part of the way; every
// proof squares it, for the expectation gets as much better, down to shy, which also keeps a look
// off the point where a direction just ceases to prove.
static const double short_first = 0.125, shy = 0x1p-30;

// The least part of an interval that a cut for a near miss leaves on either side.
static const double least_cut = 0x1p-5;

// Sizes outside of these are brought to about 1, so that no product leaves the range of a double.
static const double size_least = 0x1p-64, size_most = 0x1p64;

// The corners of the hull run round its rim; p and q are its sides from corner 0 to the next and to
// the last one.
typedef struct motion {
    int32_t corners; // 1 point, 2 segment, 3 triangle, 4 parallelogram
    cr_vec3 start[CORNERS], end[CORNERS];
    cr_vec3 p_start, p_end, q_start, q_end; // zero where there is none
    double separation;                      // [m]
    double size;                            // [m] largest component of a corner
    double limit;                           // [m] u . d_k above this is farther than separation
    double touch, tight;                    // [m] distances, see touch_unit and tight_unit
    double cubic_error, side_error;         // [m^3] see cubic_unit and side_unit
    int exponent;                           // lengths are in units of 2^exponent m
} motion;

// The hull at one time: its corners and the unit direction u from the origin to its closest point.
typedef struct look {
    double t;
    cr_vec3 d[CORNERS];
    double along[CORNERS]; // [m] u . d_k
    double least;          // [m] the least of them
    cr_vec3 u;
    double distance; // [m]
    int32_t inside;  // the closest point lies inside the patch: u is its normal
    int32_t side;    // it lies inside the side of the rim after this corner, or NO_SIDE
} look;

static cr_vec3 mix(cr_vec3 a, cr_vec3 b, double t)
{
    const double s = 1 - t;
    return (cr_vec3){s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z};
}

static void set_corners(int32_t kind, const cr_vec3 x[4], cr_vec3 d[CORNERS])
{
    if (kind == CR_PAIR_EE) { // a0-b0, a1-b0, a1-b1, a0-b1: round the rim
        d[0] = cr_vec3_sub(x[0], x[2]);
        d[1] = cr_vec3_sub(x[1], x[2]);
        d[2] = cr_vec3_sub(x[1], x[3]);
        d[3] = cr_vec3_sub(x[0], x[3]);
        return;
    }
    const int32_t corners = kind == CR_PAIR_PT ? 3 : kind == CR_PAIR_PE ? 2 : 1;
    for (int32_t k = 0; k < corners; k++) {
        d[k] = cr_vec3_sub(x[k], x[3]);
    }
}

// The sides p and q, from the points themselves: as exact as they are short, however far the
// pair travels.
static void set_sides(int32_t kind, const cr_vec3 x[4], cr_vec3* p, cr_vec3* q)
{
    *p = cr_vec3_sub(x[1], x[0]);
    if (kind != CR_PAIR_PE) {
        *q = kind == CR_PAIR_EE ? cr_vec3_sub(x[2], x[3]) : cr_vec3_sub(x[2], x[0]);
    }
}

static void set_size(motion* m, double size)
{
    m->size = size;
    m->limit = m->separation + margin_unit * (size + m->separation);
    m->touch = m->separation + touch_unit * size;
    m->tight = m->separation + tight_unit * size;
    const double p = cr_max(cr_vec3_max_abs(m->p_start), cr_vec3_max_abs(m->p_end));
    const double q = cr_max(cr_vec3_max_abs(m->q_start), cr_vec3_max_abs(m->q_end));
    const double e = p + q, reach = size + m->separation;
    m->cubic_error = cubic_unit * p * q * reach + DBL_MIN;
    m->side_error = side_unit * e * e * reach + DBL_MIN;
}

static cr_vec3 shift(cr_vec3 a, int exponent)
{
    return (cr_vec3){ldexp(a.x, exponent), ldexp(a.y, exponent), ldexp(a.z, exponent)};
}

// A power of two changes no digit of what matters, so it changes no answer.
static void rescale(motion* m)
{
    const double size = frexp(m->size, &m->exponent);
    const int by = -m->exponent;
    for (int32_t k = 0; k < m->corners; k++) {
        m->start[k] = shift(m->start[k], by);
        m->end[k] = shift(m->end[k], by);
    }
    m->p_start = shift(m->p_start, by);
    m->p_end = shift(m->p_end, by);
    m->q_start = shift(m->q_start, by);
    m->q_end = shift(m->q_end, by);
    m->separation = ldexp(m->separation, by);
    set_size(m, size);
}

typedef enum outcome { FREE, MET, OPEN } outcome;

// Sets the corners and the size. The answer may be plain by then: the pair is separated along an
// axis throughout, is one point that does not move, or is not made of numbers (counts as met).
static outcome set_motion(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4], double separation,
                          motion* m)
{
    CR_ASSERT(kind >= CR_PAIR_PP && kind <= CR_PAIR_EE);
    m->corners = kind == CR_PAIR_EE ? 4 : kind == CR_PAIR_PT ? 3 : kind == CR_PAIR_PE ? 2 : 1;
    m->separation = separation;
    m->exponent = 0;
    set_corners(kind, x0, m->start);
    set_corners(kind, x1, m->end);

    cr_vec3 low = m->start[0], high = low, sum = {0};
    for (int32_t k = 0; k < m->corners; k++) {
        low = cr_vec3_min(low, cr_vec3_min(m->start[k], m->end[k]));
        high = cr_vec3_max(high, cr_vec3_max(m->start[k], m->end[k]));
        sum = cr_vec3_add(sum, cr_vec3_add(m->start[k], m->end[k]));
    }
    m->size = cr_max(cr_vec3_max_abs(low), cr_vec3_max_abs(high));
    if (!(cr_vec3_finite(sum) && separation >= 0 && separation < (double)INFINITY) ||
        m->size == 0) {
        return MET;
    }
    // a component of a corner has one relative rounding, so its sign is sure
    const double apart = separation * (1 + margin_unit);
    const int32_t above = low.x > apart || low.y > apart || low.z > apart;
    const int32_t below = high.x < -apart || high.y < -apart || high.z < -apart;
    return above || below ? FREE : OPEN;
}

// The rest of *m, for a motion whose size is finite and not zero.
static void finish_motion(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4], motion* m)
{
    m->p_start = m->p_end = m->q_start = m->q_end = (cr_vec3){0};
    if (m->corners > 1) {
        set_sides(kind, x0, &m->p_start, &m->q_start);
        set_sides(kind, x1, &m->p_end, &m->q_end);
    }
    set_size(m, m->size);
    if (!(m->size > size_least && m->size < size_most)) {
        rescale(m);
    }
}

// The closest point of the segment a b to the origin; *between is 1 if it is neither end. It is
// a - e (a.e)/(e.e) = e x (a x e) / (e.e), of which the second form stays at right angles to e
// however near the origin it comes.
static cr_vec3 close_segment(cr_vec3 a, cr_vec3 b, int32_t* between)
{
    const cr_vec3 e = cr_vec3_sub(b, a);
    const double ae = -cr_vec3_dot(a, e), ee = cr_vec3_norm2(e);
    *between = 0;
    if (!(ae > 0 && ee > least_square)) {
        return a;
    }
    if (!(ae < ee)) {
        return b;
    }
    *between = 1;
    return cr_vec3_scale(1 / ee, cr_vec3_cross(e, cr_vec3_cross(a, e)));
}

// Takes the side of the rim after corner k if it is nearer than the best so far.
static void try_side(const motion* m, look* at, int32_t k, double* best)
{
    int32_t between;
    const cr_vec3 c = close_segment(at->d[k], at->d[k + 1 < m->corners ? k + 1 : 0], &between);
    const double distance2 = cr_vec3_norm2(c);
    if (!(distance2 >= *best)) {
        *best = distance2;
        at->u = c;
        at->side = between ? k : NO_SIDE;
    }
}

// The direction from the closest point, which stands in u; near zero none, which proves nothing.
static void point_to(look* at, double distance2)
{
    at->distance = sqrt(distance2);
    at->u = cr_vec3_scale(distance2 > least_square ? 1 / at->distance : 0, at->u);
}

// Closest point of a triangle or parallelogram: d_0 + alpha p + beta q at right angles to both
// gives, with n = p x q,  alpha n.n = -(d_0 x q).n  and  beta n.n = (d_0 x p).n. Outside of the
// patch it is on one of the sides that this point lies beyond.
static void close_patch(const motion* m, look* at)
{
    const cr_vec3 p = mix(m->p_start, m->p_end, at->t), q = mix(m->q_start, m->q_end, at->t);
    const cr_vec3* const d = at->d;
    const cr_vec3 n = cr_vec3_cross(p, q);
    const double nn = cr_vec3_norm2(n);
    const double alpha = -cr_vec3_dot(cr_vec3_cross(d[0], q), n);
    const double beta = cr_vec3_dot(cr_vec3_cross(d[0], p), n);
    const int32_t triangle = m->corners == 3;

    const double noise = flat_sine * flat_sine * cr_vec3_norm2(p) * cr_vec3_norm2(q);
    const int32_t flat = !(nn > noise && nn > least_square);
    const int32_t below = flat || beta < 0;
    const int32_t left = flat || alpha < 0;
    const int32_t beyond = flat || (triangle ? alpha + beta > nn : alpha > nn);
    const int32_t above = !triangle && (flat || beta > nn);
    at->inside = !(below || left || beyond || above);
    if (at->inside) {
        const double size = sqrt(nn), height = cr_vec3_dot(n, d[0]);
        at->u = cr_vec3_scale((height < 0 ? -1 : 1) / size, n);
        at->distance = fabs(height) / size;
        return;
    }
    double best = (double)INFINITY;
    if (below) {
        try_side(m, at, 0, &best);
    }
    if (beyond) {
        try_side(m, at, 1, &best);
    }
    if (above) {
        try_side(m, at, 2, &best);
    }
    if (left) {
        try_side(m, at, m->corners - 1, &best);
    }
    point_to(at, best);
}

static void look_at(const motion* m, double t, look* at)
{
    at->t = t;
    at->inside = 0;
    at->side = NO_SIDE;
    for (int32_t k = 0; k < m->corners; k++) {
        at->d[k] = mix(m->start[k], m->end[k], t);
    }
    if (m->corners > 2) {
        close_patch(m, at);
    } else {
        double best = (double)INFINITY;
        try_side(m, at, 0, &best);
        point_to(at, best);
    }
    at->least = (double)INFINITY;
    for (int32_t k = 0; k < m->corners; k++) {
        at->along[k] = cr_vec3_dot(at->u, at->d[k]);
        at->least = cr_min(at->least, at->along[k]);
    }
}

// Free between two looks by the normal of the patch itself: n(t) . d_0(t) is the cubic of
// coplanarity. Exact for a patch that turns, where a mean of two normals is not.
static int free_by_patch(const motion* m, const look* a, const look* b)
{
    const cr_vec3 pa = mix(m->p_start, m->p_end, a->t), qa = mix(m->q_start, m->q_end, a->t);
    const cr_vec3 pb = mix(m->p_start, m->p_end, b->t), qb = mix(m->q_start, m->q_end, b->t);
    const cr_vec3 na = cr_vec3_cross(pa, qa), nb = cr_vec3_cross(pb, qb);
    const cr_vec3 twice = cr_vec3_add(cr_vec3_cross(pa, qb), cr_vec3_cross(pb, qa));
    const double side = cr_vec3_dot(na, a->d[0]) < 0 ? -1 : 1;
    const double f0 = side * cr_vec3_dot(na, a->d[0]);
    const double f3 = side * cr_vec3_dot(nb, b->d[0]);
    const double f1 = side * (cr_vec3_dot(na, b->d[0]) + cr_vec3_dot(twice, a->d[0])) / 3;
    const double f2 = side * (cr_vec3_dot(nb, a->d[0]) + cr_vec3_dot(twice, b->d[0])) / 3;
    const double error = m->cubic_error;
    if (m->separation == 0) {
        return f0 > error && f1 > error && f2 > error && f3 > error;
    }
    // |n(t)| lies below the cubic of the norms of its coefficients
    const double la = m->separation * cr_vec3_norm(na), lb = m->separation * cr_vec3_norm(nb);
    const double l = m->separation * cr_vec3_norm(twice);
    return f0 > la + error && f1 > (la + l) / 3 + error && f2 > (lb + l) / 3 + error &&
           f3 > lb + error;
}

// The side of the rim after corner k, along or against the rim.
static cr_vec3 side_at(const motion* m, int32_t k, double t)
{
    const cr_vec3 p = mix(m->p_start, m->p_end, t), q = mix(m->q_start, m->q_end, t);
    if (k == 0 || (k == 2 && m->corners == 4)) {
        return p;
    }
    return k == 1 && m->corners == 3 ? cr_vec3_sub(q, p) : q;
}

// Bernstein coefficients of a quadratic times a line.
static void cubic(const double quadratic[3], double line0, double line1, double c[4])
{
    c[0] = quadratic[0] * line0;
    c[1] = (quadratic[0] * line1 + 2 * quadratic[1] * line0) / 3;
    c[2] = (2 * quadratic[1] * line1 + quadratic[2] * line0) / 3;
    c[3] = quadratic[2] * line1;
}

// Free between two looks that both see the same side e of the rim, by a direction that stays at
// right angles to it as it turns: u(t) = (e.e) w - (w.e) e with a constant w. Then u . d_k is a
// cubic, the same at both ends of the side, and |u| <= (e.e) |w|.
static int free_by_side(const motion* m, const look* a, const look* b)
{
    const cr_vec3 ea = side_at(m, a->side, a->t), eb = side_at(m, a->side, b->t);
    const cr_vec3 w = cr_vec3_scale(0.5, cr_vec3_add(a->u, b->u));
    const double ee[3] = {cr_vec3_norm2(ea), cr_vec3_dot(ea, eb), cr_vec3_norm2(eb)};
    const double apart = m->separation * cr_vec3_norm(w);
    double apart_ee[4];
    cubic(ee, apart, apart, apart_ee);
    for (int32_t k = 0; k < m->corners; k++) {
        const cr_vec3 da = a->d[k], db = b->d[k];
        const double ed[3] = {cr_vec3_dot(ea, da),
                              0.5 * (cr_vec3_dot(ea, db) + cr_vec3_dot(eb, da)),
                              cr_vec3_dot(eb, db)};
        double c[4], minus[4];
        cubic(ee, cr_vec3_dot(w, da), cr_vec3_dot(w, db), c);
        cubic(ed, cr_vec3_dot(w, ea), cr_vec3_dot(w, eb), minus);
        for (int i = 0; i < 4; i++) {
            if (!(c[i] - minus[i] > apart_ee[i] + m->side_error)) {
                return 0;
            }
        }
    }
    return 1;
}

// Free between two looks by the direction of either, by the mean of both, or by a cubic.
static int prove(const motion* m, const look* a, const look* b)
{
    const double limit = m->limit;
    double ab = (double)INFINITY, ba = ab, both = ab;
    for (int32_t k = 0; k < m->corners; k++) {
        const double s = cr_vec3_dot(a->u, b->d[k]), t = cr_vec3_dot(b->u, a->d[k]);
        ab = cr_min(ab, s);
        ba = cr_min(ba, t);
        both = cr_min(both, s + t);
    }
    const int32_t a_free = a->least > limit, b_free = b->least > limit;
    return (a_free && ab > limit) || (b_free && ba > limit) ||
           (a_free && b_free && both > 2 * limit) ||
           (a->inside && b->inside && cr_vec3_dot(a->u, b->u) > 0 && free_by_patch(m, a, b)) ||
           (a->side >= 0 && a->side == b->side && cr_vec3_dot(a->u, b->u) > 0 &&
            free_by_side(m, a, b));
}

// The part of the way from one look to another on which the direction of the first proves it free.
static double reach(const motion* m, const look* from, const look* to)
{
    double part = 1;
    for (int32_t k = 0; k < m->corners; k++) {
        const double here = from->along[k] - m->limit;
        const double there = cr_vec3_dot(from->u, to->d[k]) - m->limit;
        if (!(here - there <= 0) && here < part * (here - there)) {
            part = here / (here - there);
        }
    }
    return cr_max(part, 0);
}

// u . d_k > separation |u| with the rounding of this very sum: a corner that is a few roundings
// away along an axis is so for sure, whatever its other coordinates.
static int free_along(const motion* m, const look* at, cr_vec3 u)
{
    const double s = 1 - at->t, t = at->t;
    const double apart = m->separation * cr_vec3_norm(u) * (1 + margin_unit);
    for (int32_t k = 0; k < m->corners; k++) {
        const cr_vec3 a = m->start[k], b = m->end[k];
        const double sum = fabs(u.x) * (s * fabs(a.x) + t * fabs(b.x)) +
                           fabs(u.y) * (s * fabs(a.y) + t * fabs(b.y)) +
                           fabs(u.z) * (s * fabs(a.z) + t * fabs(b.z));
        if (!(cr_vec3_dot(u, at->d[k]) > apart + (fine_unit * sum + DBL_MIN))) {
            return 0;
        }
    }
    return 1;
}

// Free between two looks of which one is as good as touching. Boxes and floors stand along the
// axes, so these are tried, and the direction of the closest approach on the way between the two
// closest points.
static int prove_fine(const motion* m, const look* a, const look* b)
{
    cr_vec3 u[] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1},
                   {0, 0, -1}, a->u,       b->u,      {0, 0, 0}};
    const int32_t count = sizeof u / sizeof *u;
    int32_t between;
    u[count - 1] =
        close_segment(cr_vec3_scale(a->distance, a->u), cr_vec3_scale(b->distance, b->u), &between);
    for (int32_t i = 0; i < count; i++) {
        if (free_along(m, a, u[i]) && free_along(m, b, u[i])) {
            return 1;
        }
    }
    return 0;
}

// What the search has learnt about the way to a hit.
typedef struct approach {
    double t, distance; // the proven look before this one; t < 0: none
    double short_by;    // how much before the expected hit to look, as a part of the way there
} approach;

// Where to look next between a and b: no proof covers all of it.
static double cut(const motion* m, const look* a, const look* b, const approach* way)
{
    const double wide = b->t - a->t;
    const double facing = cr_vec3_dot(a->u, b->u);
    if (facing < 0 || b->distance <= m->touch) {
        // Through: the distance, signed along u, comes to zero. Look a little before that, by
        // the slope to b or since the last look, whichever is nearer.
        double slope = (a->distance - facing * b->distance) / wide;
        if (way->t >= 0 && a->distance >= way->distance) { // it rises first: that tells nothing
            return a->t + 0.5 * wide;
        }
        if (way->t >= 0 && a->t - way->t < wide) {
            slope = (way->distance - a->distance) / (a->t - way->t);
        }
        const double fraction = (a->distance - m->separation) / (slope * wide);
        const double wanted = cr_min(1, fraction) * (1 - way->short_by);
        return a->t + wide * cr_max(wanted, reach(m, a, b) * (1 - shy));
    }
    // Past: the middle of what neither direction covers.
    const double fraction = 0.5 * (reach(m, a, b) + 1 - reach(m, b, a));
    return a->t + wide * cr_clamp(fraction, least_cut, 1 - least_cut);
}

// From one side of the patch to the other, and neither time beside it.
static int through(const look* a, const look* b)
{
    return a->inside && b->inside && cr_vec3_dot(a->u, b->u) < 0;
}

// Free from a look to the end by its direction alone: what most pairs in contact need.
static int free_to_end(const motion* m, const look* a)
{
    double least = a->least;
    for (int32_t k = 0; k < m->corners; k++) {
        least = cr_min(least, cr_vec3_dot(a->u, m->end[k]));
    }
    return least > m->limit;
}

// How many of the pending looks are left when those that can be reached from a, which is as good
// as touching, are taken off; the last one taken off is the farthest that can be reached.
static int32_t skip_fine(const motion* m, const look* a, const look* pending, int32_t waiting)
{
    for (int32_t j = 0; j < waiting; j++) {
        if (prove_fine(m, a, &pending[j])) {
            return j;
        }
    }
    return waiting;
}

// The time up to which the pair is proven free: 1 and *met = 0 if it is so to the end.
static double advance(const motion* m, int32_t* met)
{
    look a, pending[PENDING]; // all before a is free; the last one pending is the next to reach
    int32_t waiting = 1, fresh = 0;
    approach way = {-1, 0, short_first};
    *met = 0;
    look_at(m, 0, &a);
    if (free_to_end(m, &a)) {
        return 1;
    }
    look_at(m, 1, &pending[0]);
    for (int32_t i = 0; i < STEPS; i++) {
        const look* const b = &pending[waiting - 1];
        int32_t left = waiting;
        if (prove(m, &a, b)) {
            left = waiting - 1;
        } else if (a.distance <= m->tight) {
            if (through(&a, b)) {
                break;
            }
            if (a.distance <= m->touch || b->distance <= m->touch) {
                left = skip_fine(m, &a, pending, waiting);
                if (left == waiting) {
                    break;
                }
            }
        }
        if (left == 0) {
            return 1;
        }
        if (left < waiting) {
            way = (approach){a.t, a.distance, cr_max(way.short_by * way.short_by, shy)};
            a = pending[left];
            waiting = left;
            fresh = 0;
            continue;
        }
        if (fresh) { // the last look was too far away
            way.short_by = way.short_by < short_first ? short_first : 0.5 * (1 + way.short_by);
        }
        const double t = cut(m, &a, b, &way);
        if (!(t > a.t && t < b->t) || waiting == PENDING) {
            break;
        }
        look_at(m, t, &pending[waiting++]);
        fresh = 1;
    }
    *met = 1;
    return a.t;
}

int cr_ccd_hit(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4], double separation,
               double* toi)
{
    motion m;
    const outcome plain = set_motion(kind, x0, x1, separation, &m);
    int32_t met = plain == MET;
    if (plain == OPEN) {
        finish_motion(kind, x0, x1, &m);
        *toi = advance(&m, &met);
    } else {
        *toi = met ? 0 : 1;
    }
    return met;
}

double cr_ccd_free(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4], double separation)
{
    double toi;
    cr_ccd_hit(kind, x0, x1, separation, &toi);
    return toi;
}

double cr_ccd_size(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4])
{
    motion m;
    set_motion(kind, x0, x1, 0, &m);
    return m.size;
}

static double distance_at(const motion* m, double t)
{
    look at;
    look_at(m, t, &at);
    return at.distance;
}

// The least distance on [low,high], where it falls and then rises.
static double least_between(const motion* m, double low, double high)
{
    double least = (double)INFINITY;
    for (int32_t i = 0; i < GAP_CUTS; i++) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        const double da = distance_at(m, a), db = distance_at(m, b);
        least = cr_min(least, cr_min(da, db));
        if (da < db) {
            high = b;
        } else {
            low = a;
        }
    }
    return least;
}

double cr_ccd_gap(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4])
{
    motion m;
    if (set_motion(kind, x0, x1, 0, &m) == MET) {
        return 0;
    }
    finish_motion(kind, x0, x1, &m);
    const double wide = 1.0 / GAP_SAMPLES;
    double before = (double)INFINITY, here = distance_at(&m, 0), least = here;
    for (int32_t i = 0; i <= GAP_SAMPLES; i++) {
        const double t = i * wide;
        const double after = i < GAP_SAMPLES ? distance_at(&m, t + wide) : (double)INFINITY;
        if (here <= before && here <= after) {
            const double found = least_between(&m, cr_max(0, t - wide), cr_min(1, t + wide));
            least = cr_min(least, cr_min(here, found));
        }
        before = here;
        here = after;
    }
    return ldexp(least, m.exponent);
}
