// broad.h - which features of a scene may come near each other: trees over bodies and features.
#pragma once

#include "collision/carry.h"
#include "collision/surface.h"
#include "core/array.h"

typedef CR_ARRAY(cr_pair) cr_pair_list;

typedef struct cr_broad cr_broad; // trees and scratch of one scene; keeps its memory between calls

// Builds the trees from positions x [3*vertex_count] m. carried [body_count] (NULL: none) says
// which bodies move as rigid wholes: x of theirs is in their own frames and must outlive the broad
// phase, as must the surface. Such bodies cost what of them is near others, and those of the same
// shape share their trees; a soft body cannot be carried. Refuses with CAROM_ERR_NOT_FINITE or
// CAROM_ERR_MEMORY; *out is then NULL.
carom_status cr_broad_create(const cr_surface* surface, const double* x, const uint8_t* carried,
                             cr_broad** out);
void cr_broad_destroy(cr_broad* broad);

// What cr_broad_create would make of the surface and x as they are by now, after carried bodies
// have got other vertices or edges; all of x is read again. After CAROM_ERR_MEMORY it can only be
// renewed or destroyed.
carom_status cr_broad_renew(cr_broad* broad);

// [body_count] of each carried body the first one of its shape, which may be itself: its vertices
// are at the same places in its frame, to the bit. Lent as long as the broad phase lives, which
// writes it anew when it is renewed.
const int32_t* cr_broad_like(const cr_broad* broad);

// Lends the motions of the carried bodies to the calls that follow: carry and margin [body_count],
// of which those of carried bodies are read. Their vertices sweep from R0 p + t0 to R1 p + t1 and
// reach carry.reach + margin m farther; x0, x1 and reach of cr_broad_find are not read for them.
// sparing nonzero: a pair of features of two carried bodies may be left out where their distance at
// the start, along n, is more than both bodies' carry.reach + margin and how far their points come
// towards each other along n, each as far on its way as it likes: boxes of neighbours overlap that
// do not come near each other, and the two triangles of a floor have one box.
void cr_broad_carry(cr_broad* broad, const cr_carry* carry, const double* margin, int32_t sparing);

// Lends the parts that bodies play in the calls that follow, role [body_count] or NULL for all 0:
//     0  meets everything          -1  is not there
//   k>0  meets neither itself, nor others of the same k, nor what is FIXED
void cr_broad_assign(cr_broad* broad, const int32_t* role);

// The calls that follow give up with CAROM_ERR_NO_CONVERGENCE where there are more pairs than this,
// having taken memory for about as many; 0: they do not.
void cr_broad_bound(cr_broad* broad, int32_t most);

// Lends who is looked at in the calls that follow, fresh [body_count] or NULL for all: only pairs
// with a feature of such a body are found.
void cr_broad_limit(cr_broad* broad, const uint8_t* fresh);

// All pairs whose boxes overlap (closed, compared exactly), where vertex v sweeps the box of x0[v]
// and x1[v] (x1 may be x0) grown by reach[v] >= 0 m on every side, and a feature has the box around
// those of its vertices. Which kinds there are follows from what the two bodies are:
//   mesh - mesh    PT both ways, EE    curve - curve   PE both ways, EE
//   mesh - curve   PT, EE, PE          curve - point   PE
//   mesh - point   PT                  point - point   PP
// PT has the face in mesh order | the vertex, EE the lower edge | the higher, PP the lower vertex |
// the higher, PE of a mesh and a curve the curve's edge | the mesh's vertex. Edges that are
// parallel touch along a stretch, with an end of one of them at either end of it: that is what
// curves have PE for, where meshes have PT. Pairs of two FIXED bodies or of one group are left out.
// A SOFT body that is not FIXED meets itself as it would another of its shape, pairs that share a
// vertex left out. `out` is emptied first, then sorted by cr_surface_compare, each pair once; the
// same for any worker_count and whatever was asked before. No allocation once warm. Refuses with
// CAROM_ERR_NOT_FINITE (x0, x1 or reach), CAROM_ERR_ARGUMENT (a reach below 0), CAROM_ERR_MEMORY or
// CAROM_ERR_NO_CONVERGENCE (cr_broad_bound); `out` is then empty.
carom_status cr_broad_find(cr_broad* broad, const double* x0, const double* x1, const double* reach,
                           int32_t worker_count, cr_pair_list* out);
