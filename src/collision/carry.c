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

// R b + t for a box b: its middle is carried, its half sides by |R|.
static cr_box carried(cr_mat3 r, cr_vec3 t, const cr_box* local, double margin)
{
    const double at[3] = {t.x, t.y, t.z};
    cr_box box;
    for (int i = 0; i < 3; i++) {
        double middle = at[i], half = 0.0, size = fabs(at[i]);
        for (int k = 0; k < 3; k++) {
            const double m = 0.5 * local->lo[k] + 0.5 * local->hi[k];
            middle += r.m[i][k] * m;
            half += fabs(r.m[i][k]) * (0.5 * local->hi[k] - 0.5 * local->lo[k]);
            size += fabs(m);
        }
        half += margin + rounding * (size + half + margin);
        box.lo[i] = middle - half;
        box.hi[i] = middle + half;
    }
    return box;
}

cr_box cr_carry_box(const cr_carry* c, const cr_box* local, double margin)
{
    const cr_box first = carried(c->r0, c->t0, local, margin);
    if (c->still) {
        return first;
    }
    const cr_box last = carried(c->r1, c->t1, local, margin);
    return cr_box_union(&first, &last);
}
