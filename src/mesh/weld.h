// weld.h - which points of a list are the same point.
#pragma once

#include "core/status.h"

// map[count]: for each point of x[3*count] the number of the place it belongs to, numbered in
// order of first appearance. Tolerance 0 (m): only equal coordinates are one place (0 and -0 are
// equal). Tolerance > 0: a point joins the earliest place founded within that distance, else it
// founds its own, so places lie more than the tolerance apart and no point moves further than it.
// Coordinates have to be finite. CAROM_ERR_MEMORY leaves map undefined.
carom_status cr_weld_map(const double* x, int32_t count, double tolerance, int32_t* map,
                         int32_t* place_count);
