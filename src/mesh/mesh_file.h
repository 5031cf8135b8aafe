// mesh_file.h - meshes from and to files: picks the reader by what the bytes say, then by the name.
#pragma once

#include "mesh/trimesh.h"

// What can be read, for messages and help texts.
#define CR_MESH_FILE_FORMATS "OBJ (.obj), PLY (.ply), STL (.stl), OFF (.off)"
#define CR_MESH_FILE_WRITES "OBJ (.obj), PLY (.ply)"

// Replaces *mesh by what the bytes say. The name decides where the bytes leave a doubt, and appears
// in messages. On failure the mesh is empty: CAROM_ERR_FORMAT with file, place, what was found and
// what would be accepted; CAROM_ERR_MEMORY.
carom_status cr_mesh_file_parse(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                                carom_error* error);

// The same for a file; CAROM_ERR_FILE when it is missing, a directory, empty or cannot be read.
carom_status cr_mesh_file_read(cr_trimesh* mesh, const char* path, carom_error* error);

// OBJ or binary PLY, as the name ends. What is written reads back to the same bits.
carom_status cr_mesh_file_write(const cr_trimesh* mesh, const char* path, carom_error* error);
