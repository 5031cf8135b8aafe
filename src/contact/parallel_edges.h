// parallel_edges.h - how much two nearly parallel edges are a contact of their own.
//
// The closest points of parallel edges are a whole stretch, and where on it is decided by
// round-off: what carries the load there are the vertices at its ends. So the potential of two
// edges a and b is multiplied by m(c), c = |a x b|^2 / (|a|^2 |b|^2): 1 from c = CR_PARALLEL_EDGES
// on and m = (2 - c/e) c/e below it, which is once continuously differentiable and 0 at c = 0.
#pragma once

#include "math/mat3.h"

// sin^2 of the angle below which the weight falls: 1.8 degrees.
#define CR_PARALLEL_EDGES 1e-3

typedef struct cr_parallel_edges {
    double m;           // 0..1
    cr_vec3 grad[4];    // 1/m, dm/dx_k
    cr_mat3 hess[4][4]; // 1/m^2, d2m / dx_k dx_l
} cr_parallel_edges;

// Whether the weight is less than 1. x [4]: edge 0,1 and edge 2,3.
int cr_parallel_edges_fade(const cr_vec3 x[4]);
cr_parallel_edges cr_parallel_edges_make(const cr_vec3 x[4]);
