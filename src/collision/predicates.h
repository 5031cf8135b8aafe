// predicates.h - on which side a point lies, answered exactly: the ground under the intersection
// tests that judge the engine.
#pragma once

#include "math/vec3.h"

// Sign (-1, 0, 1) of the determinant of (a-d, b-d, c-d): 1 when d sees a, b, c clockwise, that is
// when d lies behind the face abc whose front sees it counter-clockwise; 0 when coplanar.
// Exact for all finite doubles, subnormal and huge ones too.
int cr_predicates_orient3d(cr_vec3 a, cr_vec3 b, cr_vec3 c, cr_vec3 d);

// Sign of the determinant of (a-c, b-c) in the plane: 1 when a, b, c turn left; 0 when they are
// collinear. Exact for all finite doubles.
int cr_predicates_orient2d(double ax, double ay, double bx, double by, double cx, double cy);
