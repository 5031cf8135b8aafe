// vec3.h - vectors of three doubles, passed by value.
#pragma once

#include "math/scalar.h"

typedef struct cr_vec3 {
    double x, y, z;
} cr_vec3;

// The three doubles at p as a vector, and back.
static inline cr_vec3 cr_vec3_load(const double* p)
{
    return (cr_vec3){p[0], p[1], p[2]};
}

static inline void cr_vec3_store(double* p, cr_vec3 a)
{
    p[0] = a.x;
    p[1] = a.y;
    p[2] = a.z;
}

// component by component
static inline cr_vec3 cr_vec3_times(cr_vec3 a, cr_vec3 b)
{
    return (cr_vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline cr_vec3 cr_vec3_over(cr_vec3 a, cr_vec3 b)
{
    return (cr_vec3){a.x / b.x, a.y / b.y, a.z / b.z};
}

// p += a, the move of every adjoint
static inline void cr_vec3_accumulate(double* p, cr_vec3 a)
{
    p[0] += a.x;
    p[1] += a.y;
    p[2] += a.z;
}

static inline cr_vec3 cr_vec3_add(cr_vec3 a, cr_vec3 b)
{
    return (cr_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline void cr_vec3_add_to(cr_vec3* sum, cr_vec3 a)
{
    *sum = cr_vec3_add(*sum, a);
}

static inline cr_vec3 cr_vec3_sub(cr_vec3 a, cr_vec3 b)
{
    return (cr_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline cr_vec3 cr_vec3_neg(cr_vec3 a)
{
    return (cr_vec3){-a.x, -a.y, -a.z};
}

static inline cr_vec3 cr_vec3_scale(double s, cr_vec3 a)
{
    return (cr_vec3){s * a.x, s * a.y, s * a.z};
}

// a + s b
static inline cr_vec3 cr_vec3_add_scaled(cr_vec3 a, double s, cr_vec3 b)
{
    return (cr_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double cr_vec3_dot(cr_vec3 a, cr_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline cr_vec3 cr_vec3_cross(cr_vec3 a, cr_vec3 b)
{
    return (cr_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double cr_vec3_norm2(cr_vec3 a)
{
    return cr_vec3_dot(a, a);
}

static inline double cr_vec3_norm(cr_vec3 a)
{
    return sqrt(cr_vec3_dot(a, a));
}

static inline cr_vec3 cr_vec3_min(cr_vec3 a, cr_vec3 b)
{
    return (cr_vec3){cr_min(a.x, b.x), cr_min(a.y, b.y), cr_min(a.z, b.z)};
}

static inline cr_vec3 cr_vec3_max(cr_vec3 a, cr_vec3 b)
{
    return (cr_vec3){cr_max(a.x, b.x), cr_max(a.y, b.y), cr_max(a.z, b.z)};
}

// The largest component by size.
static inline double cr_vec3_max_abs(cr_vec3 a)
{
    return cr_max(fabs(a.x), cr_max(fabs(a.y), fabs(a.z)));
}

static inline int cr_vec3_finite(cr_vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}
