// forward.h - one recorded step forward, along directions: the one place that knows the order in
// which changes go through a step. Every stage has its jvp beside its adj; the equations of a part
// are factored once for all directions.
#pragma once

#include "adjoint/gradient.h"
#include "sim/sim.h"

typedef struct cr_forward cr_forward; // scratch of one worker

carom_status cr_forward_create(const cr_model* model, cr_forward** out);
void cr_forward_destroy(cr_forward* forward);

// One direction. Bars and gradient hold changes here: of the state, and of what stays constant
// (force, torque and node_force of it act in every step). Borrows its arrays.
typedef struct cr_forward_lane {
    cr_state_bars state;       // of the state before; leaves as that of the state after
    cr_gradient* model;        // read; NULL: nothing that is constant changes
    const cr_vec3* force;      // [frame_count] of this step's own; of driven frames velocities
    const cr_vec3* torque;     // [frame_count] and spins
    const cr_vec3* node_force; // [node_count] of driven nodes velocities
} cr_forward_lane;

// The record has to be of a step that was placed. The simulation lends its scratch, as for
// cr_backward_step.
carom_status cr_forward_step(cr_forward* forward, cr_sim* sim, const cr_record* record,
                             int32_t count, const cr_forward_lane* lane);

// Bytes of scratch that a direction takes.
size_t cr_forward_lane_bytes(const cr_model* model);
