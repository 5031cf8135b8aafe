// quat.h - unit quaternions (w,x,y,z): how an orientation is stored between steps.
#pragma once

#include "math/mat3.h"

typedef struct cr_quat {
    double w, x, y, z;
} cr_quat;

static inline cr_quat cr_quat_load(const double* p)
{
    return (cr_quat){p[0], p[1], p[2], p[3]};
}

static inline void cr_quat_store(double* p, cr_quat q)
{
    p[0] = q.w;
    p[1] = q.x;
    p[2] = q.y;
    p[3] = q.z;
}

static inline cr_quat cr_quat_identity(void)
{
    return (cr_quat){1, 0, 0, 0};
}

static inline cr_quat cr_quat_mul(cr_quat a, cr_quat b)
{
    return (cr_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                     a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                     a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline cr_quat cr_quat_conjugate(cr_quat a)
{
    return (cr_quat){a.w, -a.x, -a.y, -a.z};
}

cr_quat cr_quat_normalize(cr_quat a);     // the identity for a quaternion of no length
cr_quat cr_quat_from_rotation(cr_vec3 w); // exp([w]): rotation by |w| about w
cr_vec3 cr_quat_to_rotation(cr_quat a);   // its inverse, |w| <= pi
cr_mat3 cr_quat_to_matrix(cr_quat a);     // of a unit quaternion
cr_quat cr_quat_from_matrix(cr_mat3 r);   // of a rotation matrix, w >= 0
