// intersect_frame.h - the judge of a whole frame: which faces intersect, which bodies are inside
// others, how near two bodies come. It shares no code with the collision detection it judges.
#pragma once

#include "collision/surface.h"
#include "math/vec3.h"

enum { CR_INTERSECT_FRAME_INSIDE = 1 }; // look for bodies wholly inside others, too

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

// Looks at every pair of faces of two bodies, save two FIXED ones, those of one group and those in
// surface->pass, and of each SOFT body with itself: there, faces that share a corner or an edge
// intersect when they have more than that in common. radius [body_count] m (or NULL: all 0) is that
// of the bodies without faces, which intersect where their distance is below the sum of radii; the
// thickness of meshes is no part of this. x [3*vertex_count] m. flags: CR_INTERSECT_FRAME_*. The
// same report for the same input. Fails with CAROM_ERR_MEMORY; CAROM_ERR_NOT_FINITE when a
// coordinate is not finite.
carom_status cr_intersect_frame(const cr_surface* surface, const double* x, const double* radius,
                                double search_distance, int32_t flags, cr_intersect_report* out);
