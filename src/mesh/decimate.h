// decimate.h - the same shape with fewer triangles.
#pragma once

#include "mesh/trimesh.h"

// Collapses edges, the cheapest by the sum of squared distances to the planes met so far first,
// until at most face_count triangles are left or no edge may go: the surface stays as connected as
// it was, no face turns over or becomes a sliver by it, open borders keep their course. Texture
// coordinates are dropped. Deterministic. The mesh has to be sound (cr_trimesh_sound) with finite
// vertices (CAROM_ERR_ARGUMENT). CAROM_ERR_MEMORY: the mesh is as before.
carom_status cr_decimate_run(cr_trimesh* mesh, int32_t face_count);
