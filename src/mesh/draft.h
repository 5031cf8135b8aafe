// draft.h - a mesh in the making: vertices, texture coordinates and faces pushed one by one.
#pragma once

#include "core/array.h"
#include "mesh/trimesh.h"

// Zero-initialised is empty.
typedef struct cr_draft {
    CR_ARRAY(double) x;        // 3 per vertex
    CR_ARRAY(double) uv;       // 2 each
    CR_ARRAY(int32_t) face;    // 3 per face
    CR_ARRAY(int32_t) face_uv; // 3 per face, unless bare
    int bare;                  // some face came without texture coordinates
} cr_draft;

// Each returns CAROM_OK, CAROM_ERR_MEMORY, or CAROM_ERR_MESH when the list is as long as a mesh
// can hold (CR_TRIMESH_MOST). Indices are taken as they are.
carom_status cr_draft_vertex(cr_draft* draft, const double x[3]);
carom_status cr_draft_uv(cr_draft* draft, const double uv[2]);
carom_status cr_draft_face(cr_draft* draft, const int32_t vertex[3], const int32_t* uv); // or NULL

static inline int32_t cr_draft_vertex_count(const cr_draft* draft)
{
    return draft->x.count / 3;
}

static inline int32_t cr_draft_uv_count(const cr_draft* draft)
{
    return draft->uv.count / 2;
}

// One vertex for each position. CAROM_ERR_MEMORY leaves the draft as it was.
carom_status cr_draft_weld(cr_draft* draft);

// Hands everything over to *mesh, whose old content is released; the draft is empty then. Texture
// coordinates are kept only when every face has them. CAROM_ERR_MEMORY: the mesh is empty.
carom_status cr_draft_finish(cr_draft* draft, cr_trimesh* mesh);
void cr_draft_release(cr_draft* draft);
