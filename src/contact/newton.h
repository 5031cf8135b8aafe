// newton.h - the contact problem of one island, bodies and sheets alike, by one Newton loop.
//
// The unknowns z are (w, u) of every rigid body, R = R_p exp([w]) and t = t_0 + u, and the
// displacement d of every free node. The end of a step of length h satisfies
//
//     M (z - zt) + h^2 dE/dz - sum_c lam_c (a_c - mu_c f_c) = 0,     lam_c = h^2 k_c F(s_c)
//
// with the inertial targets zt, the sheets' potential E, the barrier of barrier.h for every contact
// c, its gap gradient a_c and its smoothed Coulomb direction f_c (row.h). See docs/solver.md.
#pragma once

#include "bodies/cloth.h"
#include "collision/carry.h"
#include "contact/candidate.h"
#include "contact/motion.h"
#include "contact/row.h"

// Which part of a candidate a contact of a step that was solved is.
typedef struct cr_newton_recalled {
    int32_t points;   // sub-feature: which of its points take part, by bits
    int32_t straight; // of two edges that fade: which of their ends are no corners
    double weight;    // how often it counted
    double rub;       // and with friction, ...
    int32_t over;     // ... from which this is taken off, see newton_rub.h
} cr_newton_recalled;

// How the way back solves the transposed equations: by the sparse factor, or for comparison densely
// by LAPACK, by a pivoted QR of the contacts or the whole of unknowns and multipliers.
typedef enum cr_newton_gradient {
    CR_NEWTON_SPARSE,
    CR_NEWTON_DENSE_QR,
    CR_NEWTON_DENSE_KKT,
} cr_newton_gradient;

// What is to be solved. Everything is read, except the end of the members in `motion`.
typedef struct cr_newton_task {
    int32_t workers; // how many threads the solve may use; its result does not depend on that
    const cr_body_set* bodies;
    const int32_t* like; // [body_count] a rigid body with the same p, to the bit
    const cr_surface* surface;
    const uint8_t* corner; // [vertex_count], see corners.h
    cr_motion* motion;
    double h;              // s
    const cr_cloth* sheet; // all sheets of the scene
    const cr_cloth_material* material;
    const int32_t* sheet_node;   // first node of each
    const double* node_velocity; // [3*node_count] m/s at the start
    cr_vec3 wind;                // m/s
    cr_vec3 gravity;             // m/s^2, the size of what the residual is compared with
    int32_t linear;              // nonzero: sheets resist as their quadratic model at the start
    int32_t frame_count;         // members
    const int32_t* frame;        // rigid frames, ascending
    int32_t member_sheet_count;
    const int32_t* member_sheet; // ascending
    int32_t candidate_count;
    const cr_candidate* candidate;
    int32_t measured; // nonzero: candidate.start is the distance where the step begins
    const cr_newton_recalled* recalled; // [candidate_count] of a step that was solved
    int32_t warm_count;
    const cr_contact_memory* warm; // contacts of the step before, keys ascending
    const cr_vec3* obstacle0; // [vertex_count] m, fixed, kinematic and pinned vertices at time 0
    const cr_vec3* obstacle1; // [vertex_count] m, the same at time 1
    double from, to;          // 0..1, the part of that motion that belongs to this step
    // The swept paths that candidates were searched along, and the margin around them, which no
    // iterate leaves.
    const cr_carry* carry;    // [body_count of the scene]
    const double* start;      // [3*vertex_count] m, of cloth: the path from start ...
    const double* ahead;      // [3*vertex_count] m, ... to ahead
    const double* node_reach; // [node_count] m
    // Or NULL: a step that leaves its margins asks for candidates along the way from the iterate,
    // which motion gets and `along` of the given motion, 0..1, to where it leads, which wish and
    // node_wish get. It puts them, with their swept paths and margins, into this task.
    carom_status (*query)(void* user, double along);
    void* user;
    cr_carry* wish;        // [frame_count of the scene] r1, t1
    double* node_wish;     // [3*node_count] m
    double friction_speed; // m/s
    int32_t max_iterations;
    int32_t budget;           // iterations after which the iterate is taken as it is; 0: never
    double tolerance;         // relative residual
    int32_t gradient;         // cr_newton_gradient, of cr_newton_adj
    const volatile int* stop; // or NULL; nonzero ends the solve with CAROM_ERR_INTERRUPTED
} cr_newton_task;

// A contact of the solution.
typedef struct cr_newton_contact {
    int32_t candidate; // one of those that it belongs to
    cr_newton_recalled part;
    cr_contact_key key;
    cr_closest at;
    double gap;    // m, distance - thickness: negative inside the layer
    double lam;    // kg m: impulse times h; the force is lam / h^2
    cr_vec3 place; // m, between the closest points
    double press;  // kg m, likewise, what friction goes with
    cr_vec3 dual;  // friction direction, |dual| <= 1: the force on B is lam n - mu press dual
    double sign;   // 1 where the key's first vertex is on side B, -1 on side A
} cr_newton_contact;

typedef struct cr_newton_report {
    int32_t iterations, factorisations;
    int32_t scalar_count; // unknowns
    int32_t row_count;    // contacts that carry a force
    int32_t grazes;       // pairs at the rim of their layer, where an impact would begin
    int32_t over_margin;  // steps of a body or node that were cut off at their margin
    int32_t queries;      // of the broad phase, after the first
    double residual;      // of the last iterate, relative to the forces on each body; 0: round-off
    int32_t unfinished;   // nonzero: taken with that residual, for the budget was spent
    double least_gap;     // m, over all candidates at the end: distance - thickness
} cr_newton_report;

typedef struct cr_newton cr_newton; // scratch of one worker

carom_status cr_newton_create(cr_newton** out);
void cr_newton_destroy(cr_newton* newton);

// Writes w, u, d of the members into task->motion. CAROM_ERR_NO_CONVERGENCE, CAROM_ERR_INTERRUPTED:
// the members' end is then not to be used. Contacts lent by cr_newton_contacts live until the next
// solve.
carom_status cr_newton_solve(cr_newton* newton, const cr_newton_task* task,
                             cr_newton_report* report);
int32_t cr_newton_contacts(const cr_newton* newton, const cr_newton_contact** contacts);
