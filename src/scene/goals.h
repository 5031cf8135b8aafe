// goals.h - the objective and the parameters of a scene, with names made into numbers.
#pragma once

#include "scene/scene.h"
#include "sim/goal.h"

// *goal is released first; empty when the scene states neither, and after any failure
// (CAROM_ERR_SCENE with place and path, CAROM_ERR_MEMORY). The model is the one of this scene.
carom_status cr_goals_build(const cr_scene* scene, const cr_model* model, cr_goal* goal,
                            carom_error* error);
