// trajectory.h - reads a trajectory file (docs/trajectory.md). What can be opened is good: every
// checksum, count and index was looked at. After a kill or damage, the frames before it are there.
#pragma once

#include "core/array.h"
#include "io/trajectory_format.h"
#include "sim/state.h"

typedef enum cr_trajectory_end {
    CR_TRAJECTORY_WHOLE,   // as the run left it when it ended
    CR_TRAJECTORY_CUT,     // the file stops before the run ended: a kill, or a run still going on
    CR_TRAJECTORY_DAMAGED, // bytes are not what was written
} cr_trajectory_end;

typedef struct cr_trajectory_place {
    int64_t at;       // byte of the chunk
    int64_t size;     // bytes of its payload
    int64_t gradient; // byte of its gradient's chunk; 0: it has none
} cr_trajectory_place;

// Where the bytes are: a file, or memory that outlives the trajectory.
typedef struct cr_trajectory_source {
    int file;                   // -1: memory
    const unsigned char* bytes; // [size] or NULL
    int64_t size;
} cr_trajectory_source;

typedef struct cr_trajectory {
    cr_trajectory_source source;
    // Of the model: world.dt, world.gravity, bodies, surface (pass included), name, own_t, own_q.
    // No sheets, scripts, loads or pairings.
    cr_model* model;
    int32_t every;    // steps from frame to frame
    char* scene_name; // "" when it was not recorded
    char* scene_text; // likewise
    CR_ARRAY(cr_trajectory_place) frame;
    int32_t end;          // cr_trajectory_end
    int64_t end_at;       // bytes that are good
    char end_text[200];   // what is wrong after them, in words; empty when WHOLE
    carom_status outcome; // how the run ended, when WHOLE
    char* outcome_text;   // and why, "" when there is no more to say
    int64_t gradients;    // frames that have one
    int64_t step_before;  // of the last frame found while opening
    // the frame that was read last, -1 before the first
    int64_t now;
    const cr_trajectory_step* step;
    cr_state state;                       // views; no memory of contacts
    const cr_trajectory_contact* contact; // [step->contact_count]
    cr_chunk chunk;
    cr_chunk pull; // its gradient
} cr_trajectory;

// The caller owns *out. CAROM_ERR_FILE, CAROM_ERR_FORMAT (no trajectory, or the part before the
// first frame is not whole) or CAROM_ERR_MEMORY with a message; *out is then NULL. name is what
// messages call the bytes.
carom_status cr_trajectory_open(const char* path, cr_trajectory** out, carom_error* error);
carom_status cr_trajectory_parse(const void* bytes, size_t size, const char* name,
                                 cr_trajectory** out, carom_error* error);
void cr_trajectory_close(cr_trajectory* trajectory); // NULL is fine

// Reads a frame from 0 to frame.count - 1 into now, step, state and contact. On failure (the file
// changed since it was opened) there is no frame: now is -1. No allocation.
carom_status cr_trajectory_read(cr_trajectory* trajectory, int64_t frame, carom_error* error);

// The gradient of the frame that was read: dL/dposition and dL/dforce of all bodies, dL/dx of all
// nodes, [6*body_count + 3*node_count], lent until the next call; NULL when it has none or changed
// since the file was opened.
const double* cr_trajectory_gradient(cr_trajectory* trajectory);

// Whether a file begins as a trajectory does. False too when it cannot be read.
int cr_trajectory_recognise(const char* path);
