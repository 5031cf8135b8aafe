// ccd.h - first time at which two features on straight vertex paths come within a separation.
#pragma once

#include "collision/surface.h"
#include "math/vec3.h"

// Points go from x0[k] to x1[k] as the time goes from 0 to 1. True when they may come within
// `separation` (>= 0, m; 0: touch) of each other, with *toi in [0,1] never later than the first
// such time. Conservative: it may say yes for a near miss, never no for a hit; rounding is
// accounted for. A pair that starts within the separation gives toi 0.
int cr_ccd_hit(int32_t kind, const cr_vec3 x0[4], const cr_vec3 x1[4], double separation,
               double* toi);
