// tape.h - a run that can be gone through backward: what each step did, within a memory budget.
//
// As long as the records of all steps fit, they are kept. Beyond, only the newest are, and states
// (checkpoints) at regular steps from the start on, whose spacing doubles each time their share of
// the budget is full. The way back then steps again from checkpoint to checkpoint, and where even
// one such stretch is too long it is halved: so n steps take at most n log2(n) extra steps and
// log2(n) states beyond the budget, mostly n and none. A step from a state gives the same bits
// each time, so gradients do not depend on the budget or on the number of workers.
#pragma once

#include "adjoint/gradient.h"
#include "sim/sim.h"

typedef struct cr_tape cr_tape;

// The model must outlive the tape and keep its numbers from the first step of a run to the end of
// the way back. budget: bytes for records and checkpoints; 0: no limit.
carom_status cr_tape_create(const cr_model* model, int32_t worker_count, size_t budget,
                            cr_tape** out);
void cr_tape_destroy(cr_tape* tape);
// The message of a creation that failed: no memory, or (CAROM_ERR_FILE) no LAPACK where
// world.zone_gradient asks for a dense one. Returns status.
carom_status cr_tape_refuse(carom_status status, carom_error* error);

// Forgets the run and keeps the memory: the next run of the same kind takes none.
void cr_tape_reset(cr_tape* tape);

// One step of a simulation, written down. The forces the caller has set on it are kept too.
// CAROM_ERR_MISUSE: a simulation of another model, one that was changed or stepped without the tape
// since the tape's last step, or a tape that has been gone through backward (reset or rewind it).
// On any failure the simulation and the tape are what they were.
carom_status cr_tape_step(cr_tape* tape, cr_sim* sim, carom_error* error);

int64_t cr_tape_steps(const cr_tape* tape);
const cr_state* cr_tape_start(const cr_tape* tape); // before the first step; lent, NULL: no step
size_t cr_tape_bytes(const cr_tape* tape); // the most held for records, checkpoints and forces
size_t cr_tape_record_bytes(const cr_tape* tape); // what the records of all steps would take
int64_t cr_tape_replayed(const cr_tape* tape);    // steps that the last way back took again

// One step seen from outside. Lent for the call.
typedef struct cr_tape_moment {
    int64_t step; // 0 for the first step of the tape
    const cr_state *before, *after;
    const cr_vec3 *force, *torque; // [frame_count] N, N m: all that acted, contact aside
    const cr_vec3* node_force;     // [node_count] N
} cr_tape_moment;

// Who wants the gradient. Called for every step from the last to the first.
typedef struct cr_tape_listener {
    void* user;
    // Adds what the loss feels of the state after the step (step n-1 has the end of the run) and of
    // the one before; and to the gradient what it feels of numbers directly. Of forces the gradient
    // holds those of this step alone.
    void (*feel)(void* user, const cr_tape_moment* moment, cr_state_bars* after,
                 cr_state_bars* before, cr_gradient* gradient);
    // Then: gradient->force, torque, node_force are those of this step. May be NULL.
    void (*control)(void* user, int64_t step, const cr_gradient* gradient);
} cr_tape_listener;

// Goes through the run from its end to its start and adds dL/d(everything) to *gradient.
// CAROM_ERR_MISUSE: no step was taken, or the tape has been gone through already.
carom_status cr_tape_backward(cr_tape* tape, const cr_tape_listener* listener,
                              cr_gradient* gradient, carom_error* error);

// After a way back: makes the same run ready for another one, with another listener.
void cr_tape_rewind(cr_tape* tape);

// The moment of the step a simulation has just taken; before is the state it began with.
cr_tape_moment cr_tape_moment_now(cr_sim* sim, const cr_state* before, int64_t step);
