// intersect.h - do triangles intersect? The judge of every frame: exact, and written without a line
// of what it judges.
#pragma once

#include "collision/surface.h"
#include "math/vec3.h"

// A triangle is the convex hull of its corners, a segment of its ends; degenerate ones are segments
// and points. Touching counts. Exact for all finite doubles, whatever the order of the points.
int cr_intersect_segment_triangle(cr_vec3 p, cr_vec3 q, const cr_vec3 t[3]);
int cr_intersect_triangles(const cr_vec3 a[3], const cr_vec3 b[3]);

// Is p inside (or on) the closed surface of the faces over x? Exact, by the parity of crossings of
// a segment that leads out of its box; where it grazes an edge, another is tried. 1 yes, 0 no, -1
// when every try grazed. The faces have to pass cr_intersect_closed. Coordinates below 1e300.
int cr_intersect_inside(const double* x, const int32_t* face, int32_t face_count, cr_vec3 p);

// *closed: every edge has an even number of faces, so that inside and outside have a meaning.
// Corners are the same when their numbers are. Fails with CAROM_ERR_MEMORY only.
carom_status cr_intersect_closed(const int32_t* face, int32_t face_count, int* closed);

enum { CR_INTERSECT_INSIDE = 1 }; // look for bodies wholly inside others, too

typedef struct cr_intersect_report {
    int32_t pair_count; // intersecting pairs of faces; an edge of a capsule and a sphere are faces
    int32_t body[2];    // of the first such pair, -1 without one
    int32_t face[2];    // its faces, -1 where the body has none
    cr_vec3 place;      // [m] where: a point of both, to a few digits; for balls, near it
    int32_t inside_count; // shells wholly inside a closed body; looked for when pair_count is 0
    int32_t inner, outer; // bodies of the first one, -1 without one
    double min_distance;  // [m] between two bodies, 0 where they intersect, below it where balls do
    int32_t min_body[2];  // -1 (and min_distance = search_distance) when all are farther apart
} cr_intersect_report;

// Looks at every pair of faces of two bodies, save two FIXED ones and those of one group, and of
// each SOFT body with itself: there, faces that share a corner or an edge intersect when they have
// more than that in common. radius [body_count] m (or NULL: all 0) is that of the bodies without
// faces, which intersect where their distance is below the sum of radii; the thickness of meshes
// is no part of this. x [3*vertex_count] m. flags: CR_INTERSECT_*.
// The same report for the same input. Fails with CAROM_ERR_MEMORY; CAROM_ERR_NOT_FINITE when a
// coordinate is not finite.
carom_status cr_intersect_frame(const cr_surface* surface, const double* x, const double* radius,
                                double search_distance, int32_t flags, cr_intersect_report* out);
