// objective.h - the value of a scene's objective over a run, moment by moment, and its reverse.
//
// Orientations are those of the mesh as the scene knows it: R_mesh = R own_q. The contact force on
// a rigid body is what its velocity gained beyond free motion, m (v' - v_free)/h: impacts and
// resting contacts of the step together. Times are rounded to the nearest step end; those after the
// end of the run do not count.
#pragma once

#include "adjoint/tape.h"
#include "sim/goal.h"

typedef struct cr_objective {
    const cr_model* model;
    const cr_goal* goal;
    int64_t steps; // of the run
} cr_objective;

// CAROM_ERR_ARGUMENT and a message for terms that have no gradient here: the contact force on
// anything but a rigid body, velocity and spin of what moves by script.
carom_status cr_objective_check(const cr_objective* objective, carom_error* error);

// What one step of the run adds to the objective.
double cr_objective_moment(const cr_objective* objective, const cr_tape_moment* moment);

// Its reverse: adds.
void cr_objective_moment_adj(const cr_objective* objective, const cr_tape_moment* moment,
                             cr_state_bars* after, cr_state_bars* before, cr_gradient* gradient);
