// read_off.h - the Object File Format as text: OFF, COFF, NOFF and their kin; columns after a
// vertex's x y z and after a face's corners are passed over.
#pragma once

#include "mesh/trimesh.h"

// As cr_read_obj.
carom_status cr_read_off(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                         carom_error* error);
