// broad.h - which features of a scene may come near each other: trees over bodies and features.
#pragma once

#include "collision/surface.h"
#include "core/array.h"

typedef CR_ARRAY(cr_pair) cr_pair_list;

typedef struct cr_broad cr_broad; // trees and scratch of one scene; keeps its memory between calls

// Builds the trees from positions x [3*vertex_count]. The surface must outlive it.
carom_status cr_broad_create(const cr_surface* surface, const double* x, cr_broad** out);
void cr_broad_destroy(cr_broad* broad);

// All pairs whose boxes overlap, where vertex v sweeps the box of x0[v] and x1[v] (x1 may be x0)
// grown by reach[v] m on every side. Pairs of two FIXED bodies or of one group are left out; a SOFT
// body meets itself, pairs that share a vertex left out. `out` is emptied first, then sorted by
// cr_surface_compare, each pair once; the same for any worker_count. No allocation once warm.
carom_status cr_broad_find(cr_broad* broad, const double* x0, const double* x1,
                           const double* reach, int32_t worker_count, cr_pair_list* out);
