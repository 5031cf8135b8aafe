// start.h - is the place where everything starts a possible one? Bodies must not intersect, and
// those that begin closer than their thickness are told by how much.
#pragma once

#include "core/array.h"
#include "sim/model.h"

// Two bodies that start closer than they would touch.
typedef struct cr_start_pair {
    int32_t body[2]; // ascending; equal for cloth near itself
    double distance; // m, of their meshes
} cr_start_pair;

typedef CR_ARRAY(cr_start_pair) cr_start_list;

// What came out. body, place and inner are set when the status is CAROM_ERR_INTERSECTING.
typedef struct cr_start_report {
    int32_t body[2];
    cr_vec3 place;   // m
    int32_t inner;   // nonzero: body[0] is wholly inside body[1]
    double distance; // m; 0 when they intersect, tiny when they only touch
    cr_start_list near;
} cr_start_report;

// Looks at the start of a model whose pairings are in place. floor [body_count] m: the least
// distance a body can live with; a sphere or capsule keeps its radius but for a sliver.
// CAROM_ERR_INTERSECTING, CAROM_ERR_NOT_FINITE or CAROM_ERR_MEMORY without a message: the caller
// knows the names and places. The caller releases report->near.
carom_status cr_start_check(const cr_model* model, const double* floor, cr_start_report* report);

// Where every vertex starts: x [3*vertex_count] m.
void cr_start_place(const cr_model* model, double* x);

// Two bodies by themselves, at x: CAROM_ERR_INTERSECTING when they intersect, one is inside the
// other or they are nearer than `least` m.
carom_status cr_start_two(const cr_model* model, const double* x, int32_t a, int32_t b,
                          double least);
