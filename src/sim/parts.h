// parts.h - the step of an island that one look around does not do: one with cloth that is hit
// hard, or one of bodies that go where they were not expected.
//
// A heavy thing that lands on light cloth drags it along by much more than anybody foresaw, and
// nodes far from the contact follow within the same step. Looking for contacts that far around
// everything would find nearly all pairs of the sheet. So the step is taken in parts, as long as
// they can be and no longer, and each looks around for itself: from where things are by then, over
// a way that is shorter.
#pragma once

#include "sim/sim_inside.h"

// The members of an island become `hard`, with more room in sim->whole: the next look around joins
// them as they are and compares them with others alone.
carom_status cr_parts_mark(cr_sim* sim, cr_worker* worker, int32_t island);
// Whether members of an island are.
int cr_parts_hard(const cr_sim* sim, int32_t island);
// Whether there are so many candidates that shorter parts are the better way.
int cr_parts_crowded(const cr_sim* sim, const cr_worker* worker);
// Moves such an island through the step. Where it goes farther than others were looked for it has
// `strayed`: the next look goes as far, and if nobody else is there what was done stands.
void cr_parts_step(cr_sim* sim, cr_worker* worker, int32_t island);

// For cr_zone_task.look, user a cr_parts_view: candidates of a zone's iterate and its wish.
// CAROM_ERR_NO_CONVERGENCE: there are so many that shorter parts are the better way.
typedef struct cr_parts_view {
    cr_sim* sim;
    cr_worker* worker;
    cr_zone_task* task;
} cr_parts_view;
carom_status cr_parts_look(void* user, double along);
