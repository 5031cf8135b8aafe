// adjacency.h - which faces meet at a vertex, and whether a vertex sticks out of its body.
#pragma once

#include "collision/surface.h"
#include "math/vec3.h"

// Owns its arrays.
typedef struct cr_adjacency {
    int32_t* start;  // [vertex_count+1] first of a vertex's faces in `face`
    int32_t* face;   // [3*face_count] faces of the surface around each vertex, ascending
    uint8_t* corner; // [vertex_count] 0: inside a flat patch, a straight edge or a hollow
} cr_adjacency;

// p [3*vertex_count] m in the frame of each body; rigid [body_count] nonzero: it keeps its shape. A
// vertex of such a body is a corner unless no edge that can touch ends there, or two that go
// straight on: whatever meets it meets the ends of those edges and the rims of those faces as well.
// Of the other bodies all vertices are corners.
carom_status cr_adjacency_build(cr_adjacency* adjacency, const cr_surface* surface, const double* p,
                                const uint8_t* rigid);
void cr_adjacency_release(cr_adjacency* adjacency);
