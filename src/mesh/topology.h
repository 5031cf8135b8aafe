// topology.h - who is next to whom in a mesh: edges, the faces beside them, how they bend.
#pragma once

#include "mesh/trimesh.h"

typedef enum cr_edge_kind {
    CR_EDGE_CONVEX,   // the two faces make a ridge: it can touch first
    CR_EDGE_FLAT,     // coplanar faces, a diagonal: never the closest feature alone
    CR_EDGE_CONCAVE,  // a valley: never the closest feature alone
    CR_EDGE_BOUNDARY, // one face
    CR_EDGE_TANGLED,  // more than two faces, or two of opposite orientation
} cr_edge_kind;

// Owns its arrays; those of the mesh are read at build time only.
typedef struct cr_topology {
    int32_t vertex_count, face_count, edge_count;
    int32_t* edge;      // [2*edge_count] vertices a < b, edges in ascending (a,b)
    int32_t* edge_face; // [2*edge_count] first two faces beside it, -1 for none
    int32_t* opposite;  // [2*edge_count] that face's vertex off the edge, -1 for none
    int32_t* face_edge; // [3*face_count] edge k joins corners k and (k+1)%3
    uint8_t* edge_kind; // [edge_count] cr_edge_kind
} cr_topology;

// Any old content is released. A pair of faces folded back onto each other (a knife's edge) or one
// without area counts as CONVEX: when in doubt, an edge can touch. On failure the topology is
// empty: CAROM_ERR_MESH when the mesh is not sound (cr_trimesh_sound), CAROM_ERR_MEMORY.
carom_status cr_topology_build(cr_topology* topology, const cr_trimesh* mesh);
void cr_topology_release(cr_topology* topology);

// The kinds of the edges again, of the same mesh with other vertices.
void cr_topology_bend(cr_topology* topology, const cr_trimesh* mesh);

// Whether it has faces and no edge is BOUNDARY or TANGLED.
int cr_topology_closed(const cr_topology* topology);
// Whether an edge of a body that keeps its shape can touch first; closed: cr_topology_closed.
int cr_topology_touches(const cr_topology* topology, int closed, int32_t edge);
