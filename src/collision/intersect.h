// intersect.h - do triangles intersect, is a point inside? Exact answers, written without a line of
// the code that they judge.
#pragma once

#include "core/status.h"
#include "math/vec3.h"

// A triangle is the convex hull of its corners, a segment of its ends; degenerate ones are segments
// and points. Touching counts. Exact for all finite doubles, whatever the order of the points.
int cr_intersect_segment_triangle(cr_vec3 p, cr_vec3 q, const cr_vec3 t[3]);
int cr_intersect_triangles(const cr_vec3 a[3], const cr_vec3 b[3]);

// Two faces of one mesh that share 1, 2 or 3 corners, these first in both and in one order: do they
// have more in common? Exact.
int cr_intersect_neighbours(const cr_vec3 a[3], const cr_vec3 b[3], int shared);

// Is p inside (or on) the closed surface of the faces over x? Exact, by the parity of crossings of
// a segment that leads out of its box; where it grazes an edge, another is tried. 1 yes, 0 no, -1
// when every try grazed. The faces have to pass cr_intersect_closed. Coordinates below 1e300.
int cr_intersect_inside(const double* x, const int32_t* face, int32_t face_count, cr_vec3 p);

// *closed: every edge has an even number of faces, so that inside and outside have a meaning.
// Corners are the same when their numbers are. Fails with CAROM_ERR_MEMORY only.
carom_status cr_intersect_closed(const int32_t* face, int32_t face_count, int* closed);
