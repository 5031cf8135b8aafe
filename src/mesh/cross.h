// cross.h - where a mesh passes through itself.
#pragma once

#include "core/array.h"
#include "mesh/trimesh.h"

typedef struct cr_cross_pair {
    int32_t face[2]; // ascending
    cr_vec3 at;      // m, where an edge of one pierces the other
} cr_cross_pair;

typedef struct cr_cross {
    CR_ARRAY(cr_cross_pair) pair; // ascending (face[0], face[1])
    int complete;                 // 0: the search was cut short, there may be more
} cr_cross;

// All pairs of faces without a common vertex of which an edge of one passes through the inside of
// the other. Clear crossings only: what touches, lies in one plane, or pierces by less than 1e-12
// of the pair's size is not one, and pairs that share a vertex are not asked. The search is cut
// short after so many pairs of overlapping boxes that the mesh must be a heap of equal faces.
// Coordinates have to be finite. CAROM_ERR_MEMORY leaves *cross empty.
carom_status cr_cross_find(cr_cross* cross, const cr_trimesh* mesh);
void cr_cross_release(cr_cross* cross);
