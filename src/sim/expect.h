// expect.h - what is expected of bodies and nodes over a stretch of time, and by how much they may
// miss it: contacts are looked for around that, and nothing goes farther.
#pragma once

#include "sim/sim_inside.h"

// Arrays for the model's bodies; CAROM_ERR_MEMORY leaves *expect to be released all the same.
carom_status cr_expect_init(cr_expect* expect, const cr_body_set* bodies);
void cr_expect_release(cr_expect* expect);

// sim->whole, of everything, over the leg of the step that begins at sim->state.
void cr_expect_step(cr_sim* sim);
// sim->part, of a worker's members and of what moves by script, over the part [from, to] of the
// step, 0..1, that takes h s and begins at sim->next.
void cr_expect_part(cr_sim* sim, const cr_worker* worker, double h, double from, double to);

// How far a worker's members are expected to go in worker->expect, into sim->part: what
// cr_expect_onwards follows is measured by it.
void cr_expect_range(cr_sim* sim, const cr_worker* worker);
// sim->part once more, from where a zone's iterate has got to (sim->motion, and what moves by
// script at `from`) on towards where it wants to be (sim->wish, sim->node_wish); `to` as it was.
void cr_expect_onwards(cr_sim* sim, const cr_worker* worker, double from, double to);

// The shortest edge of a worker's sheets at the start of the step, and the longest way that any of
// its frames, of its frames that some candidate is of, and of its sheets' nodes goes in it by its
// speed. m
double cr_expect_edge(const cr_sim* sim, const cr_worker* worker);
double cr_expect_frame_way(const cr_sim* sim, const cr_worker* worker);
double cr_expect_near_way(const cr_sim* sim, const cr_worker* worker);
double cr_expect_sheet_way(const cr_sim* sim, const cr_worker* worker);

// Nobody has wanted anything yet.
void cr_expect_forget(cr_sim* sim, const cr_worker* worker);
// A zone of bodies did not converge and one wanted more room in worker->expect than it had: it gets
// some. `believed`: a body is expected where it wanted to be, instead of farther on all sides.
void cr_expect_widen(cr_sim* sim, const cr_worker* worker, int believed);
// Twice as much room in the step for every member as the fastest of them takes, on all sides.
void cr_expect_free(cr_sim* sim, const cr_worker* worker);
// Whether any member is out of sim->whole. Each that is will get a reach that would have done, by
// cr_expect_admit, after the last use of candidates that were looked for with the reach of before.
int cr_expect_strayed(cr_sim* sim, const cr_worker* worker);
void cr_expect_admit(cr_sim* sim, const cr_worker* worker);
// Both at once.
int cr_expect_missed(cr_sim* sim, const cr_worker* worker);
