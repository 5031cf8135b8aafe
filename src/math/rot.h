// rot.h - rotation vectors: y = exp([w]) p, its first and second derivatives, and the Jacobians
// that turn a change of w into a rotation. Any w is good but for the inverse of Jr, which ends at
// |w| = 2 pi.
#pragma once

#include "math/quat.h"

// The scalar functions of s = |w|^2 that all the formulas share (th = |w|):
//   c = cos th, a = sin th/th, b = (1-cos th)/s, a1 = (c-a)/s, b1 = (a-2b)/s,
//   a2 = -(a+3 a1)/s, b2 = (a1-4 b1)/s, j = (1-a)/s, j1 = (-a1-2j)/s,
// each computed to about 1e-15 of itself (of 1 for c) for every th up to 3, 0 included.
typedef struct cr_rot {
    cr_vec3 w;
    double s, c, a, b, a1, b1, a2, b2, j, j1;
} cr_rot;

cr_rot cr_rot_make(cr_vec3 w);
cr_mat3 cr_rot_matrix(const cr_rot* r);                    // E = exp([w])
cr_vec3 cr_rot_apply(const cr_rot* r, cr_vec3 p);          // E p
cr_mat3 cr_rot_dw(const cr_rot* r, cr_vec3 p);             // Yw = d(E p)/dw
cr_mat3 cr_rot_d2w(const cr_rot* r, cr_vec3 p, cr_vec3 a); // Hess_w of a . E p; symmetric
cr_mat3 cr_rot_right(const cr_rot* r);                     // Jr: exp(w+dw) = exp(w) exp(Jr dw)
cr_mat3 cr_rot_left(const cr_rot* r);                      // Jl: exp(w+dw) = exp(Jl dw) exp(w)
cr_mat3 cr_rot_right_inverse(const cr_rot* r);             // Jr^-1
// d(a . Jl(w) u)/dw for constant a, u
cr_vec3 cr_rot_left_dw(const cr_rot* r, cr_vec3 a, cr_vec3 u);
// d/dw of Jl(w)^T a for constant a; its transpose times u is cr_rot_left_dw
cr_mat3 cr_rot_left_transpose_dw(const cr_rot* r, cr_vec3 a);
// d/dw of Jr(w)^-1 b for constant b
cr_mat3 cr_rot_right_inverse_dw(const cr_rot* r, cr_vec3 b);
