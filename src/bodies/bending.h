// bending.h - bending of one hinge of cloth, the two triangles beside an edge: quadratic, damped.
//
// Nodes 0 and 1 are the edge, node 2 completes the first triangle, node 3 the second.
//   s(x) = sum_i K_i x_i [m]     (the cotangent Laplacian of the edge; 0 when the hinge is flat)
//   potential = stiffness w (|s(x)|^2 + k |s(x - x0)|^2)/2, w = 3/(A0 + A1), k = damping time/step
// K and w belong to the rest triangles, each laid flat in its own plane: the sheet wants to be
// flat, and for motions that keep edge lengths the potential is that of the curvature. x0 is the
// start of the step; the second term is the step's dissipation (it also resists the turning of a
// fold as a whole). The potential is quadratic in x: the Hessian is constant and positive
// semidefinite, the third derivative zero.
//
// How stiffness compares with a plate's rigidity B (N m), whose energy is B kappa^2/2 per area: on
// a grid of squares halved by parallel diagonals, a curvature kappa about a grid line stores
// 3 stiffness kappa^2/2 per area, and so does one about the diagonals; about the lines across the
// diagonals it is three times that.
#pragma once

#include "math/vec3.h"

typedef struct cr_bending_rest {
    double k[4]; // K, sum 0
    double w;    // 1/m^2
} cr_bending_rest;

typedef struct cr_bending_law {
    double stiffness; // N m
    double rate;      // damping time over step length; 0 is elastic alone
} cr_bending_law;

// From the rest corners of nodes (0,1,2) and (0,1,3), [6] m each in a plane of its own, both with
// an area (as cr_membrane_rest_make asks). The reverse adds to the corners' bars.
cr_bending_rest cr_bending_rest_make(const double* first, const double* second);
void cr_bending_rest_adj(const double* first, const double* second, const cr_bending_rest* rest_bar,
                         double* first_bar, double* second_bar);

// x [12] m are the nodes now, x0 [12] m those at the start of the step; x0 is read only when
// law->rate is not 0 and may be NULL otherwise.

// J
double cr_bending_energy(const cr_bending_rest* rest, const cr_bending_law* law, const double* x0,
                         const double* x);

// g [12] N, the gradient with respect to x.
void cr_bending_gradient(const cr_bending_rest* rest, const cr_bending_law* law, const double* x0,
                         const double* x, double* g);

// The 12x12 Hessian: the block of nodes a and b <= a is q[a(a+1)/2 + b] times the identity. N/m
void cr_bending_hessian(const cr_bending_rest* rest, const cr_bending_law* law, double* q);

// y [12] = Hessian d.
void cr_bending_apply(const cr_bending_rest* rest, const cr_bending_law* law, const double* d,
                      double* y);

// Reverse of the gradient under the loss u . gradient, u [12]: adds the derivatives with respect to
// law, x0 [12] and rest. That with respect to x is cr_bending_apply along u.
void cr_bending_gradient_adj(const cr_bending_rest* rest, const cr_bending_law* law,
                             const double* x0, const double* x, const double* u,
                             cr_bending_law* law_bar, double* x0_bar, cr_bending_rest* rest_bar);

// Forward: the change of rest for those of the corners, and g [12] += the change of the gradient, x
// held, for those of law, x0 [12] (NULL: none) and rest.
cr_bending_rest cr_bending_rest_jvp(const double* first, const double* second, const double* dfirst,
                                    const double* dsecond);
void cr_bending_gradient_jvp(const cr_bending_rest* rest, const cr_bending_law* law,
                             const double* x0, const double* x, const cr_bending_law* dlaw,
                             const double* dx0, const cr_bending_rest* drest, double* g);
