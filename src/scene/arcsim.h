// arcsim.h - scenes of the ARCSim format (cloths, obstacles, handles, motions) as scenes of ours.
#pragma once

#include "core/status.h"

// Reads the file at path. Meshes and materials it names are looked for beside it and in the folders
// above. Materials become orthotropic constants at zero strain and one bending stiffness. *text is
// a scene, *notes what was not carried over, one per line; both are freed by cr_memory_free. On
// failure (CAROM_ERR_FILE, _FORMAT, _MEMORY) both are NULL.
carom_status cr_arcsim_import(const char* path, char** text, char** notes, carom_error* error);
