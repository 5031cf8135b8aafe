// near.h - what may touch in a step, and the islands it makes.
#pragma once

#include "collision/broad.h"
#include "collision/distance.h"
#include "contact/candidate.h"
#include "sim/model.h"

// Bodies and sheets joined by candidates. Fixed and kinematic bodies join nothing.
typedef struct cr_island {
    int32_t body_begin, body_end;           // in cr_near.body
    int32_t candidate_begin, candidate_end; // in cr_near.order
} cr_island;

// A pair on its way to its island.
typedef struct cr_near_found {
    cr_pair pair;
    int32_t between; // in cr_near_finds.between
} cr_near_found;

// What the candidates of two bodies have in common.
typedef struct cr_near_between {
    int32_t body[2];   // A, B
    cr_candidate like; // all but the pair and its start
} cr_near_between;

// What was found, in the order of the pairs.
typedef struct cr_near_finds {
    CR_ARRAY(cr_near_found) found;
    CR_ARRAY(cr_closest) at; // of each at the start of the step
    CR_ARRAY(cr_near_between) between;
} cr_near_finds;

// Keeps its memory between steps.
typedef struct cr_near {
    const cr_model* model;
    cr_broad* broad;
    int64_t shape; // of the model when the trees were made
    cr_pair_list pair;
    CR_ARRAY(cr_near_found) kept; // scratch: pairs that are being looked at, ...
    CR_ARRAY(cr_closest) kept_at; // ... where they are closest, ...
    CR_ARRAY(int32_t) kept_count; // ... and how many are kept
    cr_near_finds all;            // of cr_near_find
    int32_t brought;              // candidates of the last look with a bound: see cr_near_look.most
    CR_ARRAY(int32_t) order;      // of those, island by island
    cr_near_finds part;           // of cr_near_list, and of what is fresh
    CR_ARRAY(cr_candidate) listed; // likewise
    CR_ARRAY(cr_island) island;    // by the lowest body in them
    int32_t* parent;               // [body_count] union-find
    int32_t* body_island;          // [body_count] -1: fixed or kinematic
    int32_t* body;                 // [body_count] moving bodies, island by island
    uint8_t* carried;              // [body_count] nonzero: not cloth
    double* margin;                // [body_count] m, how far beyond their reach contacts begin
    double* vertex_reach;          // [vertex_count] m, of cloth
    double* sheet_mass;            // [sheet_count] kg
    const int32_t* like;           // [body_count] lent by broad: cr_broad_like, since the last look
} cr_near;

// The trees anew where bodies have got another shape, and with them who is of one shape. Looks do
// so by themselves; what takes a recorded step without one has to ask.
carom_status cr_near_renew(cr_near* near);

carom_status cr_near_init(cr_near* near, const cr_model* model);
void cr_near_release(cr_near* near);

// The masses of the sheets and the thickness of the contacts again, after the model's numbers have
// changed. What hangs on the shapes of bodies is made again by the next look, by cr_model.shape.
void cr_near_weigh(cr_near* near);

// What is expected of everything in a step, and by how much it may miss that.
typedef struct cr_near_look {
    const cr_carry* carry;    // [body_count] of bodies that are not cloth
    const double* x;          // [3*vertex_count] m, of cloth: the start
    const double* ahead;      // [3*vertex_count] m, of cloth: the end of the straight way
    const double* node_reach; // [node_count] m
    const int32_t* role;      // [body_count] of cr_broad_assign, or NULL
    const uint8_t* fresh;     // [body_count] or NULL: see cr_near_find
    // Candidates of two things that move that are to be brought within reach at most,
    // CAROM_ERR_NO_CONVERGENCE where there are more; 0: any number. What is within twice its
    // thickness already does not count.
    int32_t most;
} cr_near_look;

// Every pair that can come within twice its thickness becomes a candidate, and what they join an
// island. Bodies of the same role > 0, the number of one of them from 1, are of one island, too.
// fresh: the others are as they were in the last call, with the same roles, and so is what was
// found among them; it is not looked for again.
carom_status cr_near_find(cr_near* near, const cr_near_look* look, int32_t worker_count);

// The candidates of an island, in the order of the pairs, and where each is closest at the start:
// candidate, closest [candidate_end - candidate_begin]. They are written down where they are
// needed, one island after the other: all of them together would not stay in the cache.
void cr_near_candidates(const cr_near* near, const cr_island* island, cr_candidate* candidate,
                        cr_closest* closest);

// The candidates alone, into `listed`, with `part.at` of each; islands and their candidates stay
// what they were.
carom_status cr_near_list(cr_near* near, const cr_near_look* look, int32_t worker_count);
