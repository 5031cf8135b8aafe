// ccd.h - first time at which two features on straight vertex paths come within a separation.
#pragma once

#include "collision/surface.h"
#include "math/vec3.h"

// Points go from x0[k] to x1[k] as the time goes from 0 to 1; those that the kind does not name are
// not read. True when they may come within `separation` (>= 0, m; 0: touch) of each other, with
// *toi in [0,1] never later than the first such time; *toi is 1 when they do not. Conservative: it
// may say yes for a near miss, never no for a hit; rounding is accounted for. At toi the distance
// is within a millionth of the size of the separation (nearly always 1e-9 or less). A pair that
// starts within the separation gives toi 0, and so does one with a coordinate that is not finite.
int cr_ccd_hit(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4], double separation,
               double* toi);

// The fraction t in [0,1] of the motion that is safe: on all of [0,t] the pair is farther than
// `separation` apart. 1 when it is so throughout, 0 when it starts within. Never too large.
double cr_ccd_free(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4], double separation);

// The smallest distance (m) during the motion as found by looking at a thousand times and closely
// around the nearest of them. Not conservative and slow (a tenth of a millisecond): a ruler for
// checks, which never shows less than there is.
double cr_ccd_gap(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4]);

// The largest coordinate difference between the two sides at either end of the motion, m. What
// "relative" refers to above and in every tolerance of ccd.c.
double cr_ccd_size(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4]);
