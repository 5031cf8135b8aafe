// write_ply.h - a mesh as binary little-endian PLY in doubles. Texture coordinates go to the
// vertices (s, t) when each vertex has its own, else to the corners of faces (texcoord).
#pragma once

#include "mesh/trimesh.h"
#include <stdio.h>

// False when the file refuses a byte (errno tells why).
int cr_write_ply(const cr_trimesh* mesh, FILE* file);
