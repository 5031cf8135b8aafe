// mat3.h - 3x3 matrices, row-major, passed by value.
#pragma once

#include "math/vec3.h"

typedef struct cr_mat3 {
    double m[3][3]; // m[row][column]
} cr_mat3;

static inline cr_mat3 cr_mat3_identity(void)
{
    return (cr_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

static inline cr_mat3 cr_mat3_diagonal(cr_vec3 d)
{
    return (cr_mat3){{{d.x, 0, 0}, {0, d.y, 0}, {0, 0, d.z}}};
}

static inline cr_mat3 cr_mat3_from_columns(cr_vec3 a, cr_vec3 b, cr_vec3 c)
{
    return (cr_mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

static inline cr_vec3 cr_mat3_row(cr_mat3 a, int i)
{
    return (cr_vec3){a.m[i][0], a.m[i][1], a.m[i][2]};
}

static inline cr_vec3 cr_mat3_column(cr_mat3 a, int j)
{
    return (cr_vec3){a.m[0][j], a.m[1][j], a.m[2][j]};
}

// [a]x, so that [a]x b = a x b
static inline cr_mat3 cr_mat3_skew(cr_vec3 a)
{
    return (cr_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}

// a b^T
static inline cr_mat3 cr_mat3_outer(cr_vec3 a, cr_vec3 b)
{
    return (cr_mat3){{{a.x * b.x, a.x * b.y, a.x * b.z},
                      {a.y * b.x, a.y * b.y, a.y * b.z},
                      {a.z * b.x, a.z * b.y, a.z * b.z}}};
}

static inline cr_mat3 cr_mat3_transpose(cr_mat3 a)
{
    return (cr_mat3){{{a.m[0][0], a.m[1][0], a.m[2][0]},
                      {a.m[0][1], a.m[1][1], a.m[2][1]},
                      {a.m[0][2], a.m[1][2], a.m[2][2]}}};
}

static inline cr_mat3 cr_mat3_add(cr_mat3 a, cr_mat3 b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            a.m[i][j] += b.m[i][j];
        }
    }
    return a;
}

static inline cr_mat3 cr_mat3_scale(double s, cr_mat3 a)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            a.m[i][j] *= s;
        }
    }
    return a;
}

// a + s b
static inline cr_mat3 cr_mat3_add_scaled(cr_mat3 a, double s, cr_mat3 b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            a.m[i][j] += s * b.m[i][j];
        }
    }
    return a;
}

static inline cr_mat3 cr_mat3_mul(cr_mat3 a, cr_mat3 b)
{
    cr_mat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
        }
    }
    return c;
}

// A^T B
static inline cr_mat3 cr_mat3_tmul(cr_mat3 a, cr_mat3 b)
{
    cr_mat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c.m[i][j] = a.m[0][i] * b.m[0][j] + a.m[1][i] * b.m[1][j] + a.m[2][i] * b.m[2][j];
        }
    }
    return c;
}

static inline cr_vec3 cr_mat3_apply(cr_mat3 a, cr_vec3 b)
{
    return (cr_vec3){a.m[0][0] * b.x + a.m[0][1] * b.y + a.m[0][2] * b.z,
                     a.m[1][0] * b.x + a.m[1][1] * b.y + a.m[1][2] * b.z,
                     a.m[2][0] * b.x + a.m[2][1] * b.y + a.m[2][2] * b.z};
}

// A^T b
static inline cr_vec3 cr_mat3_tapply(cr_mat3 a, cr_vec3 b)
{
    return (cr_vec3){a.m[0][0] * b.x + a.m[1][0] * b.y + a.m[2][0] * b.z,
                     a.m[0][1] * b.x + a.m[1][1] * b.y + a.m[2][1] * b.z,
                     a.m[0][2] * b.x + a.m[1][2] * b.y + a.m[2][2] * b.z};
}

static inline double cr_mat3_det(cr_mat3 a)
{
    return cr_vec3_dot(cr_mat3_row(a, 0), cr_vec3_cross(cr_mat3_row(a, 1), cr_mat3_row(a, 2)));
}
