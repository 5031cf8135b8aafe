// events_impulse.h - the equations of one impact, for its solver and its reverse alone.
//
// Everything is in units of the group: masses of its lightest body, the spin of each body times its
// own radius of gyration. n = 6 * members unknown velocities u, and one impulse j per row:
//     F1 = M (u - u-) - sum_c j_c b_c,         b_c = a_c - mu_c Gamma_c^T rub_c(u)
//     F2 = a_c.u + given_c - bounce_c + eps_c (j_c - mean of j over the rows of its pair)
// The compliance eps acts on what distinguishes the rows of a pair, never on what they do together:
// it makes the split among redundant rows unique and takes nothing from a bounce.
#pragma once

#include "contact/events_inside.h"

typedef struct cr_events_impulse_line {
    double a[12];     // gap rate per velocity of side A, side B; 0 where the side is given
    double gamma[36]; // slip per velocity, 3 x 12
    double b[12];
    cr_vec3 touch[2]; // m, sum of c_k arm_k less lever, by side
    cr_vec3 slip;     // m/s, of given points
    double approach;  // m/s, gap rate of given points
    double bounce;    // m/s, what a.u + approach has to become
    double eps, mu;
    double j;
    double slack;        // m/s, the gap rate of an interior point, whose impulses are all positive
    double soft;         // slack / j there, what the row gives way by; else 0
    double give;         // 1/(eps + soft), see events_linear.c
    double shared;       // eps/(eps + soft)
    double weight, fall; // of the law: rub = weight tau, drub = (weight - fall tau tau^T) dtau
    cr_vec3 tau;
    cr_vec3 rub;  // that b is of: the law's, or dual; drub = (weight - fall/weight rub tau^T) dtau
    cr_vec3 dual; // an unknown of its own while it is solved for, at most 1 long
    int32_t active;
} cr_events_impulse_line;

// What eliminating the rows of two bodies adds to their velocities' matrix, see events_linear.c.
typedef struct cr_events_pair_block {
    int32_t side[2]; // members, -1: given; rows may name them the other way round
    double least;    // no row is stiffer than its reciprocal
    double eps;      // the largest
    double share;    // of the sum of the rows that each feels
    double shared;   // sum of the rows' own
    double sum;      // of something over the rows
    double a[12], b[12];
    double k[144];
} cr_events_pair_block;

typedef struct cr_events_impulse_system {
    int32_t n, m, pairs;
    int32_t active; // rows in the matrix that is factored
    double unit;    // kg
    cr_events* events;
    const cr_events_member* member;
    cr_events_row* row;
    cr_events_impulse_line* line;                   // [m]
    cr_events_pair_block* pair;                     // [pairs]
    double* length;                                 // [members] m
    cr_mat3* inertia;                               // [members] in units of the group
    double* mass;                                   // [members]
    double *u, *before, *du, *force, *trial, *kept; // [n]
    double* spare;                                  // [2*m]
    double* right;                                  // [n+m] of velocities, of active rows
    double *work, *refine;                          // [n+m], [2*(n+m)] of the linear solver
    double* matrix;                                 // [n*n] of a small group, else empty
    int32_t *pivot, *place, *size; // [n], [m] active rows in order, [pairs] rows of each
} cr_events_impulse_system;

// Takes the scratch and fills everything that depends on the geometry alone.
carom_status cr_events_impulse_prepare(cr_events* events, const cr_events_impact* impact,
                                       cr_events_impulse_system* system);
// b = a - mu Gamma^T rub
void cr_events_impulse_push(cr_events_impulse_line* line);
// tau, rub, weight, fall and b of every row at velocities u, for slips below `stick` sticking.
void cr_events_impulse_rub(cr_events_impulse_system* system, const double* u, double stick);
// events_linear.c: the Jacobian. Its pattern; CAROM_ERR_MEMORY or CAROM_OK.
enum { CR_EVENTS_DENSE = 24 }; // scalars: of more K is sparse
carom_status cr_events_linear_prepare(cr_events* events, cr_events_impulse_system* system);
// Factors it with the active rows, which get their places; false when it is singular.
int cr_events_linear_factor(cr_events_impulse_system* system);
// right becomes Jac^-1 right, Jac^-T right; false when there is no such thing.
int cr_events_linear_solve(cr_events_impulse_system* system);
int cr_events_linear_solve_transposed(cr_events_impulse_system* system);
// As with E' for E: near enough for a step that others follow.
void cr_events_linear_solve_roughly(cr_events_impulse_system* system);
// out -= E y, over the active rows.
void cr_events_linear_shift(cr_events_impulse_system* system, const double* y, double* out);
// m/s, of velocities u without that of given points
cr_vec3 cr_events_impulse_slip(const cr_events_impulse_system* system, int32_t c, const double* u);
// events_solve.c: from u and j on to velocities, impulses and dual friction that solve F1 and F2
// with j >= 0; false when there are none to be found.
int cr_events_solve(cr_events_impulse_system* system, double stick);
// out = M v
void cr_events_impulse_times_mass(const cr_events_impulse_system* system, const double* v,
                                  double* out);
// The velocity that restitution 1 asks for at a closing speed, and its derivatives.
double cr_events_impulse_bounce(double closing, double ramp, double* by_closing, double* by_ramp);
