// holes.h - the rims of a mesh's holes, one loop each.
#pragma once

#include "mesh/topology.h"

// Owns its arrays. Loop i runs through vertex[start[i]] .. vertex[start[i+1]-1] and back to the
// first one; a face on the hole's side of each step continues the faces around it, no vertex
// appears twice in a loop.
typedef struct cr_holes {
    int32_t loop_count;
    int32_t stray_count; // boundary edges in no loop, where neighbouring faces disagree
    int32_t* start;      // [loop_count+1]
    int32_t* vertex;     // [start[loop_count]]
} cr_holes;

// topology is that of mesh; faces marked in turned [face_count] (or NULL) count as turned over. Any
// old content is released; CAROM_ERR_MEMORY leaves *holes empty.
carom_status cr_holes_trace(cr_holes* holes, const cr_trimesh* mesh, const cr_topology* topology,
                            const uint8_t* turned);
void cr_holes_release(cr_holes* holes);
