// hull.h - whether the convex hulls of a few points come near each other.
#pragma once

#include "math/vec3.h"

// a [a_count], b [b_count] m, at least one point each. 0: the hulls are at least `range` m apart,
// to round-off. 1: they are not, or that is not known, as for points that are not finite.
int cr_hull_near(const cr_vec3* a, int a_count, const cr_vec3* b, int b_count, double range);
