// expect.h - what is expected of bodies and nodes over a stretch of time, and by how much they may
// miss it: contacts are looked for around that, and nothing goes farther.
#pragma once

#include "sim/sim_inside.h"

// Arrays for the model's bodies; CAROM_ERR_MEMORY leaves *expect to be released all the same.
carom_status cr_expect_init(cr_expect* expect, const cr_body_set* bodies);
void cr_expect_release(cr_expect* expect);

// sim->whole, of everything, over the step that begins at sim->state.
void cr_expect_step(cr_sim* sim);
// sim->part, of a worker's members and of what moves by script, over the part [from, to] of the
// step, 0..1, that takes h s and begins at sim->next.
void cr_expect_part(cr_sim* sim, const cr_worker* worker, double h, double from, double to);

// Nobody has wanted anything yet.
void cr_expect_forget(cr_sim* sim, const cr_worker* worker);
// A zone did not converge and a member wanted more room in worker->expect than it had: it gets
// some. `believed`: a body is expected where it wanted to be, instead of farther on all sides.
void cr_expect_widen(cr_sim* sim, const cr_worker* worker, int believed);
// As much room in the step for every member as the fastest of them takes, on all sides.
void cr_expect_free(cr_sim* sim, const cr_worker* worker);
// Whether any member has got out of sim->whole; each that has gets a reach that would have done.
int cr_expect_missed(cr_sim* sim, const cr_worker* worker);
