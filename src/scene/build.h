// build.h - from a checked scene to a model: meshes, masses, the contact surface, where all starts.
#pragma once

#include "scene/scene.h"

enum {
    CR_BUILD_MOST_BODIES = 1000000,
    CR_BUILD_MOST_VERTICES = 100000000,
};

// The caller owns *model (cr_model_destroy). CAROM_ERR_SCENE, _MESH, _FILE, _FORMAT,
// _INTERSECTING (two bodies overlap at the start) or _MEMORY with a message; *model is then NULL.
carom_status cr_build_model(const cr_scene* scene, cr_model** model, carom_error* error);

// Bodies of that name: one, or a block of copies by the name they share. False when there is none.
int cr_build_find(const cr_model* model, const char* name, int32_t* first, int32_t* count);
