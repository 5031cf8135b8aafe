// orient.h - which faces of a mesh hang together, and which way each should face.
#pragma once

#include "mesh/topology.h"

// Owns its arrays. Components hang together by edges; they are numbered by their first face.
typedef struct cr_orient {
    int32_t component_count;
    int32_t* component;   // [face_count]
    uint8_t* turned;      // [face_count] 1: against the majority of the faces it can be compared to
    int32_t turned_count; // of these
    uint8_t* open;        // [component_count] it has an edge without exactly two faces
    double* volume;       // [component_count] m^3, signed, once the turned ones are turned
    uint8_t* inside_out;  // [component_count] closed, but its volume has the wrong sign: negative
                          // outside the others, positive inside one of them (a cavity)
} cr_orient;

// topology is that of mesh. Any old content is released; CAROM_ERR_MEMORY leaves *orient empty.
carom_status cr_orient_build(cr_orient* orient, const cr_trimesh* mesh,
                             const cr_topology* topology);
void cr_orient_release(cr_orient* orient);

// How many faces meet in each edge: count[edge_count].
void cr_orient_edge_faces(const cr_topology* topology, int32_t* count);
