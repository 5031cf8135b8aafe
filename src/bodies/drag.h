// drag.h - air drag and wind on one triangle of cloth, linear in the velocity at the END of the
// step.
//
// With the start of the step's unit normal n, area A and mean velocity against the air u = v0 -
// wind:
//   D = A (normal |u.n| n n^T + tangent (I - n n^T))            [N s/m], positive semidefinite
//   q = (mean of x - x0)/h - wind                                  [m/s]
//   potential = h q.D q/2 [J],  force on each corner = -D q/3
// Drag across the sheet grows with the square of speed, along it linearly; the square is taken as
// (speed at the start) x (speed at the end), so the step's potential stays a convex quadratic in x
// and drag can only dissipate, however long the step. Third derivatives are zero.
//
// |u.n| has a kink at u.n = 0, where the two sides of the derivative differ in sign; the reverse
// gives their mean, 0. A triangle without area feels no air and gives no derivative.
#pragma once

#include "math/mat3.h"

typedef struct cr_drag_law {
    double normal;  // kg/m^3, half the air's density times the drag coefficient of a plate
    double tangent; // kg/(m^2 s)
} cr_drag_law;

// What the air and the start of the step contribute. Borrows x0 and v0.
typedef struct cr_drag_start {
    double h;         // s, above 0
    double wind[3];   // m/s
    const double* x0; // [9] m, corners
    const double* v0; // [9] m/s
} cr_drag_start;

// D: minus the force on the whole triangle per end-of-step velocity against the air.
cr_mat3 cr_drag_matrix(const cr_drag_law* law, const cr_drag_start* start);

// J, at corners x [9] m
double cr_drag_energy(const cr_drag_law* law, const cr_drag_start* start, const double* x);

// The gradient with respect to every one of the corners x_a (they are equal): D q/3. N
cr_vec3 cr_drag_gradient(const cr_drag_law* law, const cr_drag_start* start, const double* x);

// The block of every pair of corners in the 9x9 Hessian (they are equal): D/(9h). N/m
cr_mat3 cr_drag_hessian(const cr_drag_law* law, const cr_drag_start* start);

// Hessian d, d [9]: the part of every corner.
cr_vec3 cr_drag_apply(const cr_drag_law* law, const cr_drag_start* start, const double* d);

// Reverse of the gradient under the loss sum_a u_a . gradient, u [9]: adds the derivatives with
// respect to law, h, wind [3], x0 [9] and v0 [9]. That with respect to x is cr_drag_apply along u.
void cr_drag_gradient_adj(const cr_drag_law* law, const cr_drag_start* start, const double* x,
                          const double* u, cr_drag_law* law_bar, double* h_bar, double* wind_bar,
                          double* x0_bar, double* v0_bar);

// Forward: the change of what every corner feels, x held, for changes of law, wind [3], x0 [9] and
// v0 [9].
cr_vec3 cr_drag_gradient_jvp(const cr_drag_law* law, const cr_drag_start* start, const double* x,
                             const cr_drag_law* dlaw, const double* dwind, const double* dx0,
                             const double* dv0);
