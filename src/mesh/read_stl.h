// read_stl.h - stereolithography files, text and binary. An STL file repeats each vertex in every
// face: equal positions are welded to one. Normals are passed over; the corners' order counts.
#pragma once

#include "mesh/trimesh.h"

// As cr_read_obj; places are bytes in a binary file.
carom_status cr_read_stl(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                         carom_error* error);

// Whether the bytes are an STL file without any doubt: the length of a binary one is exactly what
// its count asks for, or the text has "solid" and a "facet" (or "endsolid") after its first line.
int cr_read_stl_fits(const void* data, size_t size);
