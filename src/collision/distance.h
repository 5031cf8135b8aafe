// distance.h - the distance of two features, where it is taken, and its first two derivatives.
#pragma once

#include "collision/surface.h"
#include "math/vec3.h"

// The closest points of a pair are  a = -sum_{k in A} c_k x_k  and  b = sum_{k in B} c_k x_k,
// r = b - a = sum_k c_k x_k, D = |r|, n = r/D (from A to B). A point that does not take part has
// c_k exactly 0; `active` counts by bits which do (the sub-feature: 2 points PP .. 4 points).
typedef struct cr_closest {
    double c[4];
    double distance; // [m] D
    cr_vec3 n;       // unit; dD/dx_k = c_k n. Zero when D is 0
    int32_t active;  // bit k: c_k != 0
    int32_t free;    // free parameters of the sub-feature: 0 point-point, 1 point-edge, 2 interior
} cr_closest;

// kind is a cr_pair_kind. Degenerate edges and triangles are their own closest sub-features.
cr_closest cr_distance_closest(int32_t kind, const cr_vec3 x[4]);

// Hess[3k+i][3l+j] = d2 D / dx_k,i dx_l,j at the closest points found there; symmetric.
void cr_distance_hessian(int32_t kind, const cr_vec3 x[4], const cr_closest* at,
                         double hess[12][12]);
