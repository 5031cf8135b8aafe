// membrane.h - stretching of one triangle of cloth: orthotropic St Venant-Kirchhoff, with damping.
//
// Corner a sits at x_a in space and at X_a on the rest plane, whose axes u and v are warp and weft.
//   F = sum_a x_a gN_a^T (3x2), E = (F^T F - I)/2
//   W(E) = (c11 Euu^2 + 2 c12 Euu Evv + c22 Evv^2)/2 + 2 c33 Euv^2          [J/m^2]
//   potential = area (W(E) + k W(E - E0)), k = damping time / step length
// E0 is the strain at the start of the step. The second term is the Kelvin-Voigt dissipation of the
// step written as a potential: its gradient is the force of the stress beta C:(E - E0)/h. Strains
// do not see rigid motion, so neither does the damping. The potential is a quartic in x: every
// derivative below is exact.
#pragma once

#include "core/status.h"
#include "math/vec3.h"

// A rest triangle.
typedef struct cr_membrane_rest {
    double grad[3][2]; // 1/m, gN_a: slope of corner a's hat function along u and v
    double area;       // m^2
} cr_membrane_rest;

// Moduli, and the damping of one step. {c12^2 <= c11 c22, all others >= 0} makes W convex in E.
typedef struct cr_membrane_law {
    double c11, c12, c22, c33; // N/m
    double rate;               // k: damping time over step length; 0 is elastic alone
} cr_membrane_law;

// A symmetric tensor on the rest plane, strain or stress; uv stands for both of its places.
typedef struct cr_membrane_sym {
    double uu, vv, uv;
} cr_membrane_sym;

// F by columns: where the rest axes go.
typedef struct cr_membrane_map {
    cr_vec3 u, v;
} cr_membrane_map;

// F of the corners x [9]. Also F_d of any corner field d, for F is linear.
static inline cr_membrane_map cr_membrane_deform(const cr_membrane_rest* rest, const double* x)
{
    // the hats sum to one, so corner 0 enters by differences and a far origin costs no digits
    const cr_vec3 x0 = cr_vec3_load(x);
    const cr_vec3 a = cr_vec3_sub(cr_vec3_load(x + 3), x0);
    const cr_vec3 b = cr_vec3_sub(cr_vec3_load(x + 6), x0);
    const double(*g)[2] = rest->grad;
    return (cr_membrane_map){cr_vec3_add_scaled(cr_vec3_scale(g[1][0], a), g[2][0], b),
                             cr_vec3_add_scaled(cr_vec3_scale(g[1][1], a), g[2][1], b)};
}

// E of F.
static inline cr_membrane_sym cr_membrane_strain(cr_membrane_map f)
{
    return (cr_membrane_sym){0.5 * (cr_vec3_norm2(f.u) - 1.0), 0.5 * (cr_vec3_norm2(f.v) - 1.0),
                             0.5 * cr_vec3_dot(f.u, f.v)};
}

// sym(A^T B): the change of E when F changes along A at B, or its second change along both.
static inline cr_membrane_sym cr_membrane_strain_change(cr_membrane_map a, cr_membrane_map b)
{
    return (cr_membrane_sym){cr_vec3_dot(a.u, b.u), cr_vec3_dot(a.v, b.v),
                             0.5 * (cr_vec3_dot(a.u, b.v) + cr_vec3_dot(a.v, b.u))};
}

// C:E
static inline cr_membrane_sym cr_membrane_stress(const cr_membrane_law* law, cr_membrane_sym e)
{
    return (cr_membrane_sym){law->c11 * e.uu + law->c12 * e.vv, law->c12 * e.uu + law->c22 * e.vv,
                             2.0 * law->c33 * e.uv};
}

// A S, column by column
static inline cr_membrane_map cr_membrane_mul(cr_membrane_map a, cr_membrane_sym s)
{
    return (cr_membrane_map){cr_vec3_add_scaled(cr_vec3_scale(s.uu, a.u), s.uv, a.v),
                             cr_vec3_add_scaled(cr_vec3_scale(s.uv, a.u), s.vv, a.v)};
}

// Whether no eigenvalue of s is negative; s with those set to 0; and the change of that for a
// change ds, which is symmetric: contracting with it is its own reverse.
static inline int cr_membrane_is_tension(cr_membrane_sym s)
{
    return s.uu >= 0.0 && s.vv >= 0.0 && s.uu * s.vv >= s.uv * s.uv;
}
cr_membrane_sym cr_membrane_tension(cr_membrane_sym s);
cr_membrane_sym cr_membrane_tension_jvp(cr_membrane_sym s, cr_membrane_sym ds);

// Moduli of an isotropic sheet under plane stress. young in N/m (modulus times thickness), poisson
// in (-1,1). rate is left 0. The reverse adds to both bars.
cr_membrane_law cr_membrane_isotropic(double young, double poisson);
void cr_membrane_isotropic_adj(double young, double poisson, const cr_membrane_law* law_bar,
                               double* young_bar, double* poisson_bar);
cr_membrane_law cr_membrane_isotropic_jvp(double young, double poisson, double dyoung,
                                          double dpoisson);

// The rest triangle with corners X [6] m, in either orientation. CAROM_ERR_MESH, and *rest as it
// was, when it is too thin to resist with finite stiffness or not finite.
carom_status cr_membrane_rest_make(const double* corner, cr_membrane_rest* rest);

// Reverse of area alone: adds to corner_bar [6].
void cr_membrane_area_adj(const cr_membrane_rest* rest, double area_bar, double* corner_bar);

// In all that follows x [9] m are the corners now and x0 [9] m those at the start of the step; x0
// is read only when law->rate is not 0 and may be NULL otherwise.

// J
double cr_membrane_energy(const cr_membrane_rest* rest, const cr_membrane_law* law,
                          const double* x0, const double* x);

// g [9] N, the gradient with respect to x (minus the force).
void cr_membrane_gradient(const cr_membrane_rest* rest, const cr_membrane_law* law,
                          const double* x0, const double* x, double* g);

// The 9x9 Hessian in N/m by 3x3 blocks, row-major, of its lower triangle: block [a(a+1)/2 + b] has
// the rows of corner a and the columns of corner b <= a. Exact, so indefinite under compression.
void cr_membrane_hessian(const cr_membrane_rest* rest, const cr_membrane_law* law, const double* x0,
                         const double* x, double (*block)[9]);

// What it would be where F is f and the stress, whatever the strain, s.
void cr_membrane_hessian_under(const cr_membrane_rest* rest, const cr_membrane_law* law,
                               cr_membrane_map f, cr_membrane_sym s, double (*block)[9]);

// The same with the negative eigenvalues of d2(potential)/dF2 set to 0: positive semidefinite, and
// the exact Hessian wherever that is. law has to be convex.
void cr_membrane_hessian_projected(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                   const double* x0, const double* x, double (*block)[9]);

// N/m, so much that with it on its diagonal the exact Hessian is positive semidefinite: 0 under
// tension, and an upper bound of what compression takes.
double cr_membrane_buckle(const cr_membrane_rest* rest, const cr_membrane_law* law,
                          const double* x0, const double* x);
// The same of a stress in the place of that at x.
double cr_membrane_buckle_of(const cr_membrane_rest* rest, cr_membrane_sym s);

// y [9] = Hessian d, exact.
void cr_membrane_apply(const cr_membrane_rest* rest, const cr_membrane_law* law, const double* x0,
                       const double* x, const double* d, double* y);

// y [9] = D3[a,b]: the third derivative with two of its places filled; symmetric in a and b.
void cr_membrane_third(const cr_membrane_rest* rest, const cr_membrane_law* law, const double* x,
                       const double* a, const double* b, double* y);

// Reverse of the gradient under the loss u . gradient, u [9]: adds the derivatives with respect to
// law, x0 [9] and the rest corners X [6]. That with respect to x is cr_membrane_apply along u.
void cr_membrane_gradient_adj(const cr_membrane_rest* rest, const cr_membrane_law* law,
                              const double* x0, const double* x, const double* u,
                              cr_membrane_law* law_bar, double* x0_bar, double* corner_bar);

// Forward: g [9] += the change of the gradient, x held, for changes of the law, of x0 [9] and of
// the rest corners X [6]; dx0 and dcorner may be NULL: none.
void cr_membrane_gradient_jvp(const cr_membrane_rest* rest, const cr_membrane_law* law,
                              const double* x0, const double* x, const cr_membrane_law* dlaw,
                              const double* dx0, const double* dcorner, double* g);

// And of the area alone: the change for that of the corners [6].
double cr_membrane_area_jvp(const cr_membrane_rest* rest, const double* dcorner);
