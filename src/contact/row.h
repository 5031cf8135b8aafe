// row.h - one contact row: a pair of near features seen from the unknowns of a zone. Its gap
// gradient and Hessian, its smoothed Coulomb friction with the exact Jacobian, and the reverse.
//
// Unknowns of a row are those of its blocks, one after the other: (w, u) of a rigid body, 6
// numbers, or u of a free node, 3 numbers. Orientation R = R_p exp(w) with R_p the predicted one; u
// is the displacement since the start of the step [m], never a position, so that small slips keep
// their digits. Everything below is pure: no memory is taken, nothing is kept.
#pragma once

#include "collision/distance.h"
#include "math/rot.h"

enum { CR_ROW_POINTS = 4, CR_ROW_DOFS = 24 };

// The side of point k: A is 0, B is 1.
static inline int32_t cr_row_side(int32_t kind, int32_t k)
{
    return kind == CR_PAIR_EE ? k >= 2 : k == 3;
}

// A rigid body at the present iterate, made once and shared by all its rows. Also a kinematic body:
// then w = 0, R_p is its given orientation and u its given displacement.
typedef struct cr_row_body {
    cr_rot rot;   // of w
    cr_mat3 r_p;  // predicted orientation
    cr_mat3 r_0;  // orientation at the start of the step
    cr_mat3 r;    // R = R_p exp(w)
    cr_mat3 turn; // R - R_0
    cr_mat3 jth;  // R_p Jl(w): the turn in space per change of w
    cr_vec3 t;    // [m] t_0 + u, centre of mass
    cr_vec3 u;    // [m]
    cr_vec3 arc;  // [rad] R_p (roll + w): how far it turned in the step, in space
} cr_row_body;

// roll [rad] is the turn of the prediction in the body frame: h om, om the spin at the start.
cr_row_body cr_row_body_make(cr_mat3 r_p, cr_mat3 r_0, cr_vec3 t_0, cr_vec3 roll, cr_vec3 w,
                             cr_vec3 u);
// The same for a body that has its r_p and r_0.
void cr_row_body_move(cr_row_body* body, cr_vec3 t_0, cr_vec3 roll, cr_vec3 w, cr_vec3 u);

// What one of the four points is. Points of the same `body`, or loose points of the same block >=
// 0, share their unknowns.
typedef struct cr_row_point {
    const cr_row_body* body; // NULL: a loose point (cloth node, fixed or scripted vertex)
    int32_t block;           // the caller's number of its unknowns; negative: it has none
    cr_vec3 p;               // [m] of a body: body coordinates
    cr_vec3 start, u;        // [m] of a loose point: start of the step, displacement since
} cr_row_point;

// R p + t_0 + u, or start + u: the position to give to cr_distance_closest.
cr_vec3 cr_row_position(const cr_row_point* point);

// Points that do not take part in the closest pair (c_k = 0) belong to no block and are skipped.
// Blocks stand in the order of their first point; those without unknowns have size 0.
typedef struct cr_row {
    int32_t kind;                           // cr_pair_kind
    cr_closest at;                          // weights c_k and normal n, from A to B
    cr_vec3 x[CR_ROW_POINTS];               // [m]
    cr_vec3 move[CR_ROW_POINTS];            // [m] x - x at the start of the step
    cr_vec3 arm[CR_ROW_POINTS];             // [m] R p of a body's point, else 0
    cr_vec3 p[CR_ROW_POINTS];               // [m] body coordinates, else 0
    int32_t point_block[CR_ROW_POINTS];     // 0..block_count-1, or -1: takes no part
    int32_t block_count;                    // 1..4
    int32_t block[CR_ROW_POINTS];           // the caller's number; negative: no unknowns
    int32_t size[CR_ROW_POINTS];            // 6, 3 or 0
    int32_t offset[CR_ROW_POINTS + 1];      // first unknown; offset[block_count] counts them all
    const cr_row_body* body[CR_ROW_POINTS]; // [block_count] NULL for a loose point
    double share[CR_ROW_POINTS];            // [block_count] sum of c_k over its points
    cr_vec3 arm_sum[CR_ROW_POINTS];         // [block_count] sum of c_k R p_k
    cr_vec3 p_sum[CR_ROW_POINTS];           // [block_count] sum of c_k p_k
    int32_t side_block[2];                  // block whose body turns side A, B; -1: none does
    double lever[CR_ROW_POINTS];            // [m] [block_count] radius of its side; 0 without body
    double grad[CR_ROW_DOFS];               // dD/dz = sum_k c_k J_k^T n
} cr_row;

// radius[2] [m]: how far the surface on which friction acts lies before the points of sides A and B
// (own radius or half thickness; radius[0] + radius[1] = thickness of the pair).
void cr_row_make(cr_row* row, int32_t kind, const cr_closest* at,
                 const cr_row_point point[CR_ROW_POINTS], const double radius[2]);
// The same with the unknowns of these points (bits), among which are those that take part: for a
// force that depends on more than the distance.
void cr_row_make_of(cr_row* row, int32_t kind, const cr_closest* at, int32_t points,
                    const cr_row_point point[CR_ROW_POINTS], const double radius[2]);

// A 3-vector for every unknown: vector j is (m[0][j], m[1][j], m[2][j]).
typedef struct cr_row_columns {
    double m[3][CR_ROW_DOFS];
} cr_row_columns;

// How the closest points and the normal move with the unknowns: unknown j moves r = B - A by v_j at
// fixed weights, n by turn_j and c_k by -z_k.pull_j; see cr_distance_curve. Made only for rows that
// carry a force.
typedef struct cr_row_curve {
    cr_vec3 z[CR_ROW_POINTS];
    cr_vec3 z_sum[CR_ROW_POINTS]; // [block_count] sum of z_k over its points
    cr_mat3 arm_z[CR_ROW_POINTS]; // [block_count] sum of arm_k z_k^T
    cr_row_columns v;             // sum_k c_k dx_k/dz_j
    cr_row_columns slide;         // sum_k z_k n.dx_k/dz_j
    cr_row_columns turn;          // Q v - slide
    cr_row_columns pull;          // v + D slide
} cr_row_curve;

void cr_row_curve_make(cr_row_curve* curve, const cr_row* row);

// Whether the unknowns move a single point over a plane that has none: D is then linear in the
// point, and cr_row_add_hessian asks for no curve.
int32_t cr_row_is_straight(const cr_row* row);

// m += factor d2D/dz dz. Symmetric; only the row's own unknowns are touched. curve may be NULL for
// a row that is straight.
void cr_row_add_hessian(const cr_row* row, const cr_row_curve* curve, double factor,
                        double m[CR_ROW_DOFS][CR_ROW_DOFS]);

// Slip of B against A in the step, at the surface, and the smoothed Coulomb direction s(tau):
// tau/|tau| from |tau| >= e on, tau (2/e - |tau|/e^2) before. The friction force in F1 (the side of
// M (z - z_hat)) is mu lam force, so force is also its derivative against lam, per mu.
typedef struct cr_row_slip {
    cr_vec3 psi;               // [m] sum of radius times arc: the rolling of the surfaces
    cr_vec3 delta;             // [m] sum c_k move_k + n x psi
    cr_vec3 tau;               // [m] its part normal to n
    cr_vec3 s;                 // |s| <= 1
    cr_mat3 ds;                // [1/m] ds/dtau, symmetric
    double weight;             // [1/m] s = weight tau
    double force[CR_ROW_DOFS]; // Gamma^T s with Gamma = d(slip at fixed c, n)/dz
} cr_row_slip;

// e > 0 [m]: h times the speed below which friction sticks.
void cr_row_slip_make(cr_row_slip* slip, const cr_row* row, double e);

// m[i][j] += factor d(force_i)/dz_j, exact and not symmetric; factor = mu lam.
void cr_row_add_friction(const cr_row* row, const cr_row_curve* curve, const cr_row_slip* slip,
                         double factor, double m[CR_ROW_DOFS][CR_ROW_DOFS]);

// The same with c, n and weight held: factor weight Gamma^T (1 - n n^T) Gamma, symmetric and
// positive. The matrix of a cautious step.
void cr_row_add_friction_held(const cr_row* row, const cr_row_slip* slip, double factor,
                              double m[CR_ROW_DOFS][CR_ROW_DOFS]);

// dtau for the change dz of the row's unknowns.
cr_vec3 cr_row_slip_rate(const cr_row* row, const cr_row_curve* curve, const cr_row_slip* slip,
                         const double dz[CR_ROW_DOFS]);

// Derivatives of a loss against what a row reads. By block unless said otherwise; blocks without
// body leave w, r_p, r_0 and roll alone.
typedef struct cr_row_bars {
    cr_vec3 w[CR_ROW_POINTS];
    cr_vec3 u[CR_ROW_POINTS];     // displacement, the start held: with w, that of the unknowns
    cr_vec3 start[CR_ROW_POINTS]; // t_0 or a loose point's start, the displacement held
    cr_vec3 r_p[CR_ROW_POINTS];   // along R_p -> R_p exp(delta), R_0 held
    cr_vec3 r_0[CR_ROW_POINTS];   // along R_0 -> R_0 exp(delta), R_p held
    cr_vec3 roll[CR_ROW_POINTS];  // h times this goes to the spin at the start
    cr_vec3 p[CR_ROW_POINTS];     // by point: body coordinates
    double radius[2];             // by side
    double th;                    // thickness of the pair, in g = D - th
    double mu;
} cr_row_bars;

// Adds the derivatives of   lam u.grad - v D - mu lam u.force   at constant u, v and lam. These are
// the row's parts of dL when the zone's adjoint is  Jac^T [u;v] = [dL/dz; 0]  with the equations
// F1 = .. - lam grad + mu lam force and F2 = D - th + eps lam. slip NULL: no friction.
// For a scripted loose point given by start and end: end_bar = u, start_bar = start - u.
void cr_row_adj(const cr_row* row, const cr_row_slip* slip, double mu, double lam,
                const double u[CR_ROW_DOFS], double v, cr_row_bars* bars);

// Forward, w and the unknown u held: q [unknowns] gets the change of lam grad - mu lam force, and
// what is returned is that of D, for changes *d of everything else a row reads (as cr_row_bars has
// it; w and th are not looked at, u counts for blocks without unknowns). slip NULL: no friction.
// flat nonzero: grad counts as constant.
double cr_row_jvp(const cr_row* row, const cr_row_slip* slip, double mu, double lam, int32_t flat,
                  const cr_row_bars* d, double q[CR_ROW_DOFS]);
