// figurine.h - a small four-legged animal: closed, oriented, far from convex. The stand-in for
// scanned figures that can be made anywhere.
#pragma once

#include "mesh/trimesh.h"

// Looks along +x, stands in -z; the box around it is centred at the origin and size (m) long in x.
// resolution: cells along x (9..200); faces grow with its square, from 856 on. Replaces *mesh; on
// failure it is empty: CAROM_ERR_ARGUMENT, CAROM_ERR_MEMORY.
carom_status cr_figurine_make(cr_trimesh* mesh, double size, int32_t resolution);
