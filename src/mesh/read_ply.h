// read_ply.h - the Polygon File Format: text, binary of either byte order, any properties. Taken
// are x y z of "vertex", its texture coordinates (s t, u v, texture_u texture_v), the corner list
// of "face" (vertex_indices or vertex_index) and its list texcoord (two numbers per corner, before
// those of the vertices when both are there). Everything else is passed over.
#pragma once

#include "mesh/trimesh.h"

// As cr_read_obj; places are bytes in the body of a binary file.
carom_status cr_read_ply(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                         carom_error* error);
