// membrane_linear.h - the membrane's quadratic model about the start of a step, made convex.
//
// With F, E, S = C:E at the start x0, and F_d of the displacement d = x - x0, e_d = sym(F^T F_d):
//   potential = area (W(E) + S:e_d + (1 + k) C:e_d:e_d/2 + T:(F_d^T F_d)/2)
// Damping enters by k, for nothing has been strained when the step begins. With T = S this is the
// Taylor polynomial; under compression it is not convex. T is S with its eigenvalues raised to
// -floor, floor = support/sum_a |gN_a|^2. By |F_d|^2 <= sum_a |gN_a|^2 sum_a |d_a|^2 the model
// with support/2 area sum_a |d_a|^2 added is convex: what the inertia of the face makes up for is
// left as it is, and a face that carries no stress is away from the kink.
#pragma once

#include "bodies/membrane.h"

// As their namesakes in membrane.h, of this potential. x0 [9] m is always read; support in N/m^3.
double cr_membrane_linear_energy(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                 double support, const double* x0, const double* x);
void cr_membrane_linear_gradient(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                 double support, const double* x0, const double* x, double* g);
void cr_membrane_linear_hessian(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                double support, const double* x0, double (*block)[9]);
void cr_membrane_linear_apply(const cr_membrane_rest* rest, const cr_membrane_law* law,
                              double support, const double* x0, const double* d, double* y);

// Reverse of the gradient under the loss u . gradient, x held: adds to the bars.
void cr_membrane_linear_gradient_adj(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                     double support, const double* x0, const double* x,
                                     const double* u, cr_membrane_law* law_bar, double* support_bar,
                                     double* x0_bar, double* corner_bar);

// Forward, x held: g [9] += the change of the gradient. dcorner may be NULL: none.
void cr_membrane_linear_gradient_jvp(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                     double support, const double* x0, const double* x,
                                     const cr_membrane_law* dlaw, double dsupport,
                                     const double* dx0, const double* dcorner, double* g);

// What the three above share: the start, T, and where the displacement leads.
typedef struct cr_membrane_linear {
    double width;           // 1/m^2, sum_a |gN_a|^2
    double floor;           // N/m
    cr_membrane_map f, fd;  // F, F_d
    cr_membrane_sym e, ed;  // E, e_d
    cr_membrane_sym s, t;   // S, T
    cr_membrane_sym raised; // S + floor
} cr_membrane_linear;

cr_membrane_linear cr_membrane_linear_at(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                         double support, const double* x0, const double* x);
