// read_obj.h - Wavefront OBJ: v, vt and f; polygons become fans about their first corner. Normals,
// groups, materials, lines and curves are passed over.
#pragma once

#include "mesh/trimesh.h"

// Replaces *mesh by what the bytes say; texture coordinates are kept only when every corner names
// one. name is for messages. On failure the mesh is empty: CAROM_ERR_FORMAT with file, line and
// what would be accepted, CAROM_ERR_MEMORY.
carom_status cr_read_obj(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                         carom_error* error);
