// rigid_ipc.h - scenes of the rigid-ipc format as scenes of ours. Axes stay as they are (there y is
// up): gravity tells.
#pragma once

#include "core/status.h"

// Reads the file at path. Mesh names are made to lead to the folder `meshes`; NULL: a folder of
// that name beside the fixture or above it. *text is a scene, *notes what was not carried over, one
// per line; both are freed by cr_memory_free. On failure (CAROM_ERR_FILE, _FORMAT, _SCENE, _MEMORY)
// both are NULL.
carom_status cr_rigid_ipc_import(const char* path, const char* meshes, char** text, char** notes,
                                 carom_error* error);
