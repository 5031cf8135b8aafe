// trimesh.h - a triangle mesh as read, generated or handed in: the raw material of every body.
#pragma once

#include "core/status.h"
#include "math/vec3.h"

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

// Room for the counts given, zeroed; any old content is released.
carom_status cr_trimesh_init(cr_trimesh* mesh, int32_t vertex_count, int32_t face_count,
                             int32_t uv_count);
carom_status cr_trimesh_copy(cr_trimesh* to, const cr_trimesh* from);
void cr_trimesh_release(cr_trimesh* mesh);
