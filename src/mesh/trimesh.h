// trimesh.h - a triangle mesh as read, generated or handed in: the raw material of every body.
#pragma once

#include "core/status.h"
#include "math/vec3.h"

// No list of a mesh is longer, so that 3*i always fits an index.
#define CR_TRIMESH_MOST (INT32_MAX / 3)

// Owns its arrays. Zero-initialised is empty. A lone vertex (a sphere's centre) or a pair of them
// (a capsule's axis) is a mesh without faces.
typedef struct cr_trimesh {
    int32_t vertex_count;
    int32_t face_count;
    int32_t uv_count; // 0: no texture coordinates
    double* x;        // [3*vertex_count] m
    int32_t* face;    // [3*face_count] vertices, counter-clockwise from outside
    double* uv;       // [2*uv_count] m, the rest shape of a sheet
    int32_t* face_uv; // [3*face_count] into uv, or NULL when uv_count is 0
} cr_trimesh;

// Room for the counts given, zeroed; any old content is released. On failure the mesh is empty:
// CAROM_ERR_ARGUMENT for a count outside 0..CR_TRIMESH_MOST, CAROM_ERR_MEMORY.
carom_status cr_trimesh_init(cr_trimesh* mesh, int32_t vertex_count, int32_t face_count,
                             int32_t uv_count);

// Replaces *to, which must not be *from, by a copy. On failure *to is empty.
carom_status cr_trimesh_copy(cr_trimesh* to, const cr_trimesh* from);
void cr_trimesh_release(cr_trimesh* mesh);

// Whether every index points at something and no face names a vertex twice: what topology and
// everything built on it take for granted.
int cr_trimesh_sound(const cr_trimesh* mesh);

// The smallest box around all finite vertices; both corners zero when there is none.
void cr_trimesh_box(const cr_trimesh* mesh, cr_vec3* least, cr_vec3* most);

static inline cr_vec3 cr_trimesh_at(const cr_trimesh* mesh, int32_t vertex)
{
    return cr_vec3_load(mesh->x + (size_t)3 * (size_t)vertex);
}
