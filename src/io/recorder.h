// recorder.h - writes a simulation into a trajectory file, frame by frame (docs/trajectory.md).
#pragma once

#include "sim/sim.h"

typedef struct cr_recorder cr_recorder;

// Opens PATH.part beside path and writes what does not change. An existing file at path stays as it
// is until cr_recorder_finish puts the new one in its place; each frame is handed to the system
// whole, so what was recorded before a kill can be read from PATH.part. What is no regular file (a
// pipe, a device) is written to directly. scene_name and scene_text (may be NULL) are kept in the
// file. every: steps from frame to frame, as information. The model must outlive the recorder.
// CAROM_ERR_FILE, CAROM_ERR_MEMORY, CAROM_ERR_ARGUMENT with a message; *out is then NULL.
carom_status cr_recorder_create(const cr_model* model, const char* path, const char* scene_name,
                                const char* scene_text, int32_t every, cr_recorder** out,
                                carom_error* error);

// Appends the present state. On failure the file ends with the frame before, and every later call
// fails. No allocation once warm.
carom_status cr_recorder_add(cr_recorder* recorder, cr_sim* sim, carom_error* error);

// What an objective feels of the state that was added last: dL/dposition and dL/dforce of all
// bodies [3*body_count], dL/dx of all vertices [3*vertex_count], of which those of cloth are kept.
carom_status cr_recorder_gradient(cr_recorder* recorder, const double* position,
                                  const double* force, const double* vertex, carom_error* error);

// Ends the file with how the run ended (status, and text or NULL), makes sure that it is on the
// disk and gives it its name. Afterwards only cr_recorder_destroy may be called.
carom_status cr_recorder_finish(cr_recorder* recorder, carom_status outcome, const char* text,
                                carom_error* error);

// Without finish the file stays under its preliminary name. NULL is fine.
void cr_recorder_destroy(cr_recorder* recorder);

const char* cr_recorder_path(const cr_recorder* recorder); // where the file is now
int64_t cr_recorder_size(const cr_recorder* recorder);     // bytes
int64_t cr_recorder_frames(const cr_recorder* recorder);
