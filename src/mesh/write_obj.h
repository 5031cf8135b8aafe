// write_obj.h - a mesh as Wavefront OBJ text; numbers are as short as reads back to the same bits.
#pragma once

#include "mesh/trimesh.h"
#include <stdio.h>

// False when the file refuses a byte (errno tells why).
int cr_write_obj(const cr_trimesh* mesh, FILE* file);
