// recording.h - targets of an objective that come from a recorded motion.
#pragma once

#include "api/handles.h"

// Fills times and targets of the terms that name a recording, a trajectory file relative to folder.
// A file that is not there leaves its terms empty (cr_objective_check then refuses them: a scene
// may be run before its recording exists). CAROM_ERR_FORMAT, CAROM_ERR_SCENE (the body is not in
// it, has another number of nodes, or a time is not recorded) or CAROM_ERR_MEMORY with a message.
carom_status carom_recording_fill(const char* folder, const cr_model* model, cr_goal* goal,
                                  carom_error* error);
