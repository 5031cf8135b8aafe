// corners.h - which vertices of a surface are samples of their own.
#pragma once

#include "collision/surface.h"
#include "math/vec3.h"

// corner [vertex_count]: 0 where a vertex of a rigid body lies inside a flat patch, a straight edge
// or a hollow: no edge that can touch ends there, or two that go straight on. Whatever meets such a
// vertex meets the ends of those edges and the rims of those faces as well. Of the other bodies all
// vertices are corners. p [3*vertex_count] m in the frame of each body; rigid [body_count] nonzero:
// it keeps its shape.
carom_status cr_corners_find(const cr_surface* surface, const double* p, const uint8_t* rigid,
                             uint8_t* corner);
