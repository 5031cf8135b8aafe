// carry.h - what is expected of a rigid body in one step, and by how much it may miss that.
//
// Every vertex p is expected on the straight way from R0 p + t0 to R1 p + t1, which is the way of
// the pose through the space of all matrices, R0 + s (R1 - R0). No pose that is within `reach` of
// it has a vertex farther than `reach` from its own way: pairs that were looked for around the ways
// are then all that can meet.
#pragma once

#include "collision/box.h"
#include "math/mat3.h"
#include <stdint.h>

typedef struct cr_carry {
    cr_mat3 r0, r1;
    cr_vec3 t0, t1; // m
    double reach;   // m, >= 0
    int32_t still;  // nonzero: R1 = R0 and t1 = t0 to the bit
} cr_carry;

static inline cr_vec3 cr_carry_start(const cr_carry* c, cr_vec3 p)
{
    return cr_vec3_add(cr_mat3_apply(c->r0, p), c->t0);
}

static inline cr_vec3 cr_carry_end(const cr_carry* c, cr_vec3 p)
{
    return c->still ? cr_carry_start(c, p) : cr_vec3_add(cr_mat3_apply(c->r1, p), c->t1);
}

// The motion of a body that is where it is.
cr_carry cr_carry_rest(cr_mat3 r, cr_vec3 t);

// The most that a vertex within `extent` m of the origin of the body goes.
double cr_carry_length(const cr_carry* c, double extent);

// How far a vertex within `extent` m of the origin may be from its way when the pose is (r, t): an
// upper bound, 0 on the way itself.
double cr_carry_off(const cr_carry* c, double extent, cr_mat3 r, cr_vec3 t);

// How far x is from the straight way of one point, a to b. m
double cr_carry_off_segment(cr_vec3 a, cr_vec3 b, cr_vec3 x);

// A box around the ways of all points of `local`, grown by `margin` m; never too small, whatever
// was rounded.
cr_box cr_carry_box(const cr_carry* c, const cr_box* local, double margin);

// Both ends of a way side by side, for many boxes and points of one body: every sum and product
// is that of two numbers at once, and what comes of each is what it would be alone.
typedef double cr_carry_two __attribute__((vector_size(16)));
typedef struct cr_carry_ends {
    cr_carry_two r[3][3], size[3][3]; // entries of R0 and R1, and their absolute values
    cr_carry_two t[3], far[3];        // m, likewise of t0 and t1
} cr_carry_ends;

cr_carry_ends cr_carry_ends_make(const cr_carry* c);
// As cr_carry_box, to the bit.
cr_box cr_carry_ends_box(const cr_carry_ends* c, const cr_box* local, double margin);

// Along one axis, where the way of one point is, that is cr_carry_start and cr_carry_end of it,
// grown by margin m.
static inline void cr_carry_ends_axis(const cr_carry_ends* c, int axis, cr_vec3 p, double margin,
                                      double* lo, double* hi)
{
    const cr_carry_two x =
        c->r[axis][0] * p.x + c->r[axis][1] * p.y + c->r[axis][2] * p.z + c->t[axis];
    *lo = cr_min(x[0], x[1]) - margin;
    *hi = cr_max(x[0], x[1]) + margin;
}
