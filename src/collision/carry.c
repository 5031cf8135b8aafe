#include "collision/carry.h"
#include <float.h>

// A vertex and a corner of the box around it are rounded apart by no more than this, relative to
// the largest number on the way: three products and three sums each, and some to spare.
static const double rounding = 16.0 * DBL_EPSILON;

cr_carry cr_carry_rest(cr_mat3 r, cr_vec3 t)
{
    return (cr_carry){.r0 = r, .r1 = r, .t0 = t, .t1 = t, .still = 1};
}

static cr_mat3 minus(cr_mat3 a, cr_mat3 b)
{
    return cr_mat3_add_scaled(a, -1.0, b);
}

static double norm2(cr_mat3 a)
{
    return cr_vec3_norm2(cr_mat3_row(a, 0)) + cr_vec3_norm2(cr_mat3_row(a, 1)) +
           cr_vec3_norm2(cr_mat3_row(a, 2));
}

static double dot(cr_mat3 a, cr_mat3 b)
{
    return cr_vec3_dot(cr_mat3_row(a, 0), cr_mat3_row(b, 0)) +
           cr_vec3_dot(cr_mat3_row(a, 1), cr_mat3_row(b, 1)) +
           cr_vec3_dot(cr_mat3_row(a, 2), cr_mat3_row(b, 2));
}

// |A p| <= |A|_F |p|; of a difference of two rotations |A|_F / sqrt(2), for it has two equal
// singular values and one that is 0.
double cr_carry_length(const cr_carry* c, double extent)
{
    return cr_vec3_norm(cr_vec3_sub(c->t1, c->t0)) +
           sqrt(0.5 * norm2(minus(c->r1, c->r0))) * extent;
}

// The place s on the way that is nearest to (r, t), by |t|^2 + extent^2 |R|_F^2; any other s in
// [0, 1] would give an upper bound too.
double cr_carry_off(const cr_carry* c, double extent, cr_mat3 r, cr_vec3 t)
{
    const cr_vec3 gone = cr_vec3_sub(t, c->t0);
    const cr_mat3 turned = minus(r, c->r0);
    if (c->still) {
        return cr_vec3_norm(gone) + sqrt(0.5 * norm2(turned)) * extent;
    }
    const cr_vec3 shift = cr_vec3_sub(c->t1, c->t0);
    const cr_mat3 turn = minus(c->r1, c->r0);
    const double weight = extent * extent;
    const double whole = cr_vec3_norm2(shift) + weight * norm2(turn);
    const double part = cr_vec3_dot(gone, shift) + weight * dot(turned, turn);
    const double s = whole > 0.0 ? cr_clamp(part / whole, 0.0, 1.0) : 0.0;
    const cr_mat3 rest = cr_mat3_add_scaled(turned, -s, turn);
    return cr_vec3_norm(cr_vec3_add_scaled(gone, -s, shift)) + sqrt(norm2(rest)) * extent;
}

double cr_carry_off_segment(cr_vec3 a, cr_vec3 b, cr_vec3 x)
{
    const cr_vec3 way = cr_vec3_sub(b, a), gone = cr_vec3_sub(x, a);
    const double whole = cr_vec3_norm2(way);
    const double s = whole > 0.0 ? cr_clamp(cr_vec3_dot(gone, way) / whole, 0.0, 1.0) : 0.0;
    return cr_vec3_norm(cr_vec3_add_scaled(gone, -s, way));
}

cr_carry_ends cr_carry_ends_make(const cr_carry* c)
{
    const double t[2][3] = {{c->t0.x, c->t0.y, c->t0.z}, {c->t1.x, c->t1.y, c->t1.z}};
    cr_carry_ends out;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            out.r[i][k] = (cr_carry_two){c->r0.m[i][k], c->r1.m[i][k]};
            out.size[i][k] = (cr_carry_two){fabs(c->r0.m[i][k]), fabs(c->r1.m[i][k])};
        }
        out.t[i] = (cr_carry_two){t[0][i], t[1][i]};
        out.far[i] = (cr_carry_two){fabs(t[0][i]), fabs(t[1][i])};
    }
    return out;
}

// R b + t for a box b: its middle is carried, its half sides by |R|.
cr_box cr_carry_ends_box(const cr_carry_ends* c, const cr_box* local, double margin)
{
    double m[3], side[3];
    for (int k = 0; k < 3; k++) {
        m[k] = 0.5 * local->lo[k] + 0.5 * local->hi[k];
        side[k] = 0.5 * local->hi[k] - 0.5 * local->lo[k];
    }
    cr_box box;
    for (int i = 0; i < 3; i++) {
        const cr_carry_two middle =
            c->t[i] + c->r[i][0] * m[0] + c->r[i][1] * m[1] + c->r[i][2] * m[2];
        const cr_carry_two half =
            c->size[i][0] * side[0] + c->size[i][1] * side[1] + c->size[i][2] * side[2];
        const cr_carry_two size = c->far[i] + fabs(m[0]) + fabs(m[1]) + fabs(m[2]);
        const cr_carry_two grown = half + (margin + rounding * (size + half + margin));
        const cr_carry_two lo = middle - grown, hi = middle + grown;
        box.lo[i] = cr_min(lo[0], lo[1]);
        box.hi[i] = cr_max(hi[0], hi[1]);
    }
    return box;
}

cr_box cr_carry_box(const cr_carry* c, const cr_box* local, double margin)
{
    const cr_carry_ends ends = cr_carry_ends_make(c);
    return cr_carry_ends_box(&ends, local, margin);
}
