// substep.h - one island through its step when contacts have a width: whole, or in sub-steps.
#pragma once

#include "sim/sim_inside.h"

// Whether the island is taken by itself, one after another, with broad-phase queries of its own:
// those with sheets or many bodies, and those whose iterates left their margins before.
int cr_substep_is_large(const cr_sim* sim, int32_t island);

// Moves the members. queries: iterates that leave their margins get new candidates.
void cr_substep_run(cr_sim* sim, cr_worker* worker, int32_t island, int queries);

// What one sub-step of length h solves, from `from` to `to` of the step (0..1), but for what the
// search for its candidates was told.
cr_newton_task cr_substep_task(cr_sim* sim, const cr_worker* worker, double h, double from,
                               double to);

// Before the islands of a step: what they share is made. Failure is of memory.
carom_status cr_substep_ready(cr_sim* sim);
