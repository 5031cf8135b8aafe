// distance.h - the distance of two features, where it is taken, and its first two derivatives.
#pragma once

#include "collision/surface.h"
#include "math/mat3.h"

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

// kind is a cr_pair_kind; points it does not have are not read. Degenerate edges and triangles are
// their own closest sub-features; of parallel edges one pair of closest points is given. D is good
// to a few round-offs of the size of the pair. n is good to round-off * size/D, in the interior to
// round-off / sine of the two edge vectors where that is better: there tiny D costs nothing.
// D and n are continuous across sub-features. Finite x up to 1e70 m, edges 0 or above 1e-70 m.
cr_closest cr_distance_closest(int32_t kind, const cr_vec3 x[4]);

// The same for a sub-feature: the hull of these of the pair's points (bits), one or more a side.
cr_closest cr_distance_closest_of(int32_t kind, const cr_vec3 x[4], int32_t points);

// Straight over a border of its face a point is over the face as well: distance and direction are
// the same, and along faces that are level the distance bends as over a face, not as around an edge
// or a vertex. Takes the face where that is so.
void cr_distance_take_face(int32_t kind, const cr_vec3 x[4], cr_closest* at);

// A triangle that many points are held against: what can be said of it without them.
typedef struct cr_distance_face {
    cr_vec3 x[3];               // m
    cr_vec3 e1, e2;             // m, x1 - x0 and x2 - x0
    cr_vec3 w;                  // m, e2 = alpha e1 + w, w normal to e1
    double alpha, e11, e22, ww; // e11 = e1.e1, ...
    double e33;                 // m^2, of the third side, x2 - x1
    cr_vec3 normal;             // m^2, e1 x e2
    double inverse;             // 1/m^2, of its length
} cr_distance_face;

cr_distance_face cr_distance_face_make(const cr_vec3 x[3]);
// *at is that of cr_distance_closest to the bit. False when y is seen at once to be more than range
// m away: *at is then not set.
int cr_distance_face_closest(const cr_distance_face* face, cr_vec3 y, double range, cr_closest* at);

// hess[3k+i][3l+j] = d2 D / dx_k,i dx_l,j with the sub-feature as found in *at; symmetric to the
// bit; zero for points that do not take part and for D = 0. It jumps by O(1/D) where the
// sub-feature changes. Edge vectors of an interior pair that meet under a sine below 1e-6 count as
// if under 1e-6: the sliding of the closest points, which grows as 1/sine, is bounded and fades.
void cr_distance_hessian(int32_t kind, const cr_vec3 x[4], const cr_closest* at,
                         double hess[12][12]);

// out = Hess dx without forming it.
void cr_distance_hessian_apply(int32_t kind, const cr_vec3 x[4], const cr_closest* at,
                               const cr_vec3 dx[4], cr_vec3 out[4]);

// The few numbers Hess is made of. For a motion dx of the points, with dr = sum c_k dx_k and
// slide = sum z_k (n.dx_k):   dn = Q dr - slide,   dc_k = -z_k.(dr + D slide),   and
// (Hess dx)_k = dc_k n + c_k dn. Each side's z_k add up to 0; all are normal to n. Zero for D = 0.
typedef struct cr_distance_curve {
    cr_vec3 z[4]; // [1/m]
    cr_mat3 q;    // [1/m] symmetric; 0 in the interior
} cr_distance_curve;

cr_distance_curve cr_distance_curve_make(int32_t kind, const cr_vec3 x[4], const cr_closest* at);
