// zone.h - bodies and sheets that may touch each other, moved together: as near to their inertial
// targets as the contacts between them allow.
//
//     min 1/2 |z - zt|_M^2 + h^2 E(z)   subject to   g_c(z) + eps_c lam_c >= 0,  lam_c >= 0
//
// with z = (w, u) of every rigid body and d of every free node, g = distance - thickness at the end
// of the step, friction inside the same equations. eps is a stated compliance (about 1e-5 of the
// body's own): it makes the split of a load among redundant contacts unique, and the matrix of the
// Newton step, H + A^T A / eps, positive definite. See docs/contact.md.
#pragma once

#include "bodies/cloth.h"
#include "collision/carry.h"
#include "collision/distance.h"
#include "contact/candidate.h"
#include "contact/motion.h"
#include "contact/zone_matrix.h"
#include "core/arena.h"

// How the way back solves its system: by the sparse factor of the way there, or for comparison
// densely by LAPACK, by a pivoted QR of the contacts or the whole of unknowns and multipliers.
typedef enum cr_zone_gradient {
    CR_ZONE_SPARSE,
    CR_ZONE_DENSE_QR,
    CR_ZONE_DENSE_KKT,
} cr_zone_gradient;

// What is to be solved. Everything is read, except the end of the members in `motion`.
typedef struct cr_zone_task {
    const cr_body_set* bodies;
    const int32_t* like; // [body_count] a rigid body with the same p, to the bit; NULL: itself
    cr_motion* motion;
    double h; // s
    // >= 1, contacts give way by this times their eps: those that are pressed where the step
    // begins, and those that are not
    double soft, meets;
    const cr_cloth* sheet; // all sheets of the scene
    const cr_cloth_material* material;
    const int32_t* sheet_node;   // first node of each
    const double* node_velocity; // [3*node_count] m/s at the start
    cr_vec3 wind;                // m/s
    int32_t frame_count;         // members
    const int32_t* frame;        // rigid frames, ascending
    int32_t member_sheet_count;
    const int32_t* member_sheet; // ascending
    int32_t candidate_count;
    const cr_candidate* candidate;
    int32_t warm_count;
    const cr_contact_memory* warm; // contacts of the step before, keys ascending
    const cr_vec3* obstacle0; // [vertex_count] m, fixed, kinematic and pinned vertices at time 0
    const cr_vec3* obstacle1; // [vertex_count] m, the same at time 1
    double from, to;          // 0..1, the part of that motion that belongs to this step
    // [3*vertex_count] m, of cloth, where it was when candidate.start was measured; NULL: that is
    // where the step begins. Bodies were where their `carry` begins.
    const double* start;
    // The ways that are expected of bodies, and of nodes from `start` to `ahead`, and how far from
    // them things may be: nobody looked for contacts beyond. Where an iterate of a body wanted
    // more, `wants` gets what it wanted.
    const cr_carry* carry;    // [body_count of the scene]
    const double* ahead;      // [3*vertex_count] m, of cloth
    const double* node_reach; // [node_count] m
    double* wants;            // [frame_count of the scene] m
    cr_carry* wish;           // [frame_count of the scene] r1, t1: where such an iterate was
    double* node_wish;        // [3*node_count] m, the same of nodes, for `look`
    // An iterate that wants more room may have somebody to ask: it looks for contacts along the
    // ways from where motion has the members, and `along` of the given motion, 0..1, to where wish
    // and node_wish have them, and puts candidates, start and rooms into this task. Or NULL.
    carom_status (*look)(void* user, double along);
    void* user;
    int32_t most_cramped;  // iterates in a row that want more room, after which it asks for that
    double friction_speed; // m/s
    int32_t max_iterations;
    // nonzero: shorter parts are the better way where iterates do not shrink soon
    int32_t hopeful;
    const volatile int* stop; // or NULL; nonzero ends the solve with CAROM_ERR_INTERRUPTED
    int32_t whole;            // nonzero: all is solved together, for comparison, see zone_clump.c
    // of the way back alone
    int32_t gradient;   // cr_zone_gradient
    int32_t flat;       // nonzero: the gaps' curvature is left out, for comparison
    int32_t crowded;    // nonzero: some row's compliance hangs on where rows are
    int32_t idle_count; // candidates at the end that had no load, for this alone
    const double* say;  // [candidate_count] of the rows, NULL: 1; 0: edges that leave a part of one
} cr_zone_task;

// One contact of the solution.
typedef struct cr_zone_row {
    int32_t candidate; // which one stands for all that measure the same distance
    cr_contact_key key;
    cr_closest at;
    double gap;        // m
    double lam;        // kg m: impulse times h; the force is lam / h^2
    double compliance; // 1/kg, what the row had of it in the end
    double room;       // m, likewise
    double say;        // 0..1, how much of a contact of its own it was
    cr_vec3 place;     // m, between the closest points
    cr_vec3 slip;      // m, of side B against side A in the step, along the surface
    cr_vec3 rub;       // direction of friction, at most 1 long: the force on B is lam (n - mu rub)
} cr_zone_row;

typedef struct cr_zone_report {
    int32_t iterations, factorisations;
    int32_t strides;       // iterations that moved something by more than 1e-9 of the free motion:
                           // unlike how many of round-off follow, that is no chance
    int32_t scalar_count;  // unknowns
    int32_t row_count;     // rows with lam > 0
    int32_t weakly_active; // rows that touch without force: a kink of the gradient
    int32_t cramped;       // iterates that wanted more room than they had
    double residual;  // of the stationarity, relative to the largest force; of the last iterate
    double least_gap; // m, over all candidates at the end: distance - thickness
} cr_zone_report;

typedef struct cr_zone cr_zone; // scratch of one worker

carom_status cr_zone_create(cr_zone** out);
void cr_zone_destroy(cr_zone* zone);

// Writes w, u, d of the members into task->motion. CAROM_ERR_NO_CONVERGENCE, CAROM_ERR_INTERRUPTED:
// the members' end is then not to be used. The rows lent by cr_zone_rows live until the next solve.
carom_status cr_zone_solve(cr_zone* zone, const cr_zone_task* task, cr_zone_report* report);
int32_t cr_zone_rows(const cr_zone* zone, const cr_zone_row** rows);
// Rows without a load beside those with, and edges (say 0) that leave only a part of a row: they
// have a part in their compliance. As long as those.
// *crowded: how many rows have a compliance that hangs on where they and others are.
int32_t cr_zone_idle(const cr_zone* zone, const cr_zone_row** rows, int32_t* crowded);
