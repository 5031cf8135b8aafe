// surface.h - the contact surface of a whole scene as flat lists of vertices, edges and faces.
#pragma once

#include "core/status.h"

// What two features may be near each other. Points 0..3; the side of point 0 is A, of point 3 is B.
//   PP: 0 | 3        PE: edge 0,1 | point 3
//   PT: triangle 0,1,2 | point 3        EE: edge 0,1 | edge 2,3
typedef enum cr_pair_kind { CR_PAIR_PP, CR_PAIR_PE, CR_PAIR_PT, CR_PAIR_EE } cr_pair_kind;

typedef struct cr_pair {
    int32_t kind; // cr_pair_kind
    int32_t v[4]; // vertices of the scene; -1 where the kind has no such point
} cr_pair;

// Ascending (kind, v[0], v[1], v[2], v[3]): <0, 0, >0. The order of every list of pairs.
int cr_surface_compare(const cr_pair* a, const cr_pair* b);

enum {
    CR_SURFACE_FIXED = 1, // does not move by itself: no pairs between two such bodies
    CR_SURFACE_SOFT = 2,  // may touch itself
};

// Bodies own consecutive ranges. A body without faces is its edges (a capsule); without edges too,
// its vertices (a sphere). edge holds only those edges that may touch first: convex, boundary and
// tangled ones of a rigid body, all edges of a soft one. Within one body vertices, edges (a,b) and
// faces ascend as in its mesh.
typedef struct cr_surface {
    int32_t body_count, vertex_count, edge_count, face_count;
    int32_t* edge;        // [2*edge_count] vertices of the scene
    int32_t* face;        // [3*face_count]
    int32_t* vertex_body; // [vertex_count]
    int32_t* body_vertex; // [body_count+1] first vertex
    int32_t* body_edge;   // [body_count+1]
    int32_t* body_face;   // [body_count+1]
    uint8_t* body_flags;  // [body_count] CR_SURFACE_*
    int32_t* body_group;  // [body_count] bodies of the same group >= 0 do not touch each other
    int32_t pass_count;   // pairs of bodies of which the judge of frames takes no notice
    int32_t* pass;        // [2*pass_count] lower body first, pairs ascending; NULL: none
} cr_surface;

// Room for the counts given, zeroed, every body in no group (-1); the caller fills it. On failure
// (CAROM_ERR_MEMORY, CAROM_ERR_ARGUMENT for a negative count) *surface is empty.
carom_status cr_surface_init(cr_surface* surface, int32_t body_count, int32_t vertex_count,
                             int32_t edge_count, int32_t face_count);
void cr_surface_release(cr_surface* surface);
