#include "sim/carried.h"
#include "sim/expect.h"
#include "sim/parts.h"
#include <string.h>

// A zone that does not converge for want of room is tried this often with more before it is split.
enum { MOST_WIDENINGS = 6 };
// After so many cramped iterates in a row a zone asks for a widening, while there are any left.
// Cloth that wants more room once is taken in parts, where it has it.
enum { MOST_CRAMPED = 3, MOST_CRAMPED_CLOTH = 1 };
// rad: a step in which a body turns by more is taken in parts, at most 2^CR_SIM_FAIR. A body that
// is uneven has no mean spin beyond that, so its free rotation does not keep its energy
// (docs/rotation.md), and where it touches something the gap at the end of the step has several
// places to be zero at, among which round-off would choose. What it turns by is known before the
// step but for impacts and friction in it: those may bring it to `most_turned`.
static const double most_turn = 1.0, most_turned = CR_SIM_TURNED;
// So often a body's wish where to go is believed.
enum { MOST_WISHES = 2 };

// Puts the members back to where the step began.
static void rewind_members(cr_sim* sim, const cr_worker* worker)
{
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i];
        memcpy(sim->next.t + 3 * f, sim->state.t + 3 * f, 3 * sizeof(double));
        memcpy(sim->next.q + 4 * f, sim->state.q + 4 * f, 4 * sizeof(double));
        memcpy(sim->next.v + 3 * f, sim->state.v + 3 * f, 3 * sizeof(double));
        memcpy(sim->next.om + 3 * f, sim->state.om + 3 * f, 3 * sizeof(double));
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        const int32_t from = sim->model->sheet_node[s], to = sim->model->sheet_node[s + 1];
        const size_t size = 3 * (size_t)(to - from) * sizeof(double);
        memcpy(sim->next.x + 3 * from, sim->state.x + 3 * from, size);
        memcpy(sim->next.xv + 3 * from, sim->state.xv + 3 * from, size);
    }
}

// So often a step is halved, at most, for what turns. Parts of a whirl leave the way of the whole
// step, which is straight; where the look around has been widened often for that, it is let be.
static int32_t most_fair(const cr_sim* sim)
{
    const int32_t most = sim->retries < MOST_WIDENINGS - 1 ? sim->model->world.max_halvings : 0;
    return most < CR_SIM_FAIR ? most : CR_SIM_FAIR;
}

// How often a stretch halved so often already has to be halved in all for this turn in one of its
// parts to be no more than most_turn.
static int32_t halvings_for(const cr_sim* sim, int32_t halvings, double turn)
{
    const int32_t most = most_fair(sim);
    for (double left = turn; halvings < most && left > most_turn; left *= 0.5) {
        halvings++;
    }
    return halvings;
}

int32_t cr_island_whirl(const cr_sim* sim, const cr_worker* worker)
{
    return halvings_for(sim, 0, cr_island_turn(sim, worker, sim->leg.h, sim->state.om));
}

void cr_island_rewind(cr_sim* sim, const cr_worker* worker, int32_t index)
{
    cr_island_result* result = &sim->island.items[index];
    result->contact.count = result->impacts = 0;
    cr_record_clear(&result->record);
    rewind_members(sim, worker);
}

// One part, from `at` to at + size of `end`; whoever is hit and carried by cloth takes it again.
// Where it fails nothing is left of it.
static carom_status try_part(cr_sim* sim, cr_worker* worker, int32_t index, int64_t at,
                             int64_t size, int64_t end)
{
    cr_island_result* result = &sim->island.items[index];
    const int32_t contacts = result->contact.count, impacts = result->impacts;
    carom_status status;
    cr_carried_forget(sim, worker);
    do {
        status = cr_island_part(sim, worker, index, sim->leg.h * ((double)size / (double)end),
                                cr_sim_along(&sim->leg, (double)at / (double)end),
                                cr_sim_along(&sim->leg, (double)(at + size) / (double)end));
    } while (status == CAROM_OK && result->again);
    if (status != CAROM_OK) {
        result->contact.count = contacts;
        result->impacts = impacts;
    }
    return status;
}

// A part of 2^-halvings of the step was not solved, gained energy or turned something too far: how
// often it has to be halved for that.
static int32_t halvings_after(const cr_sim* sim, const cr_island_result* result, int32_t halvings)
{
    const int32_t turned = halvings_for(sim, halvings, result->turn);
    return result->turn > most_turned && turned > halvings ? turned : halvings + 1;
}

// The step in parts of 2^-halvings of it. One that is not solved is halved, alone, down to
// 2^-finest of the step; after those that are, longer ones are tried again, after twice as many
// each time that led nowhere, but none longer than at first. fair: a part that gains energy, or in
// which something turns too far, is halved for that, down to 2^-CR_SIM_FAIR. A zone that had too
// little room gets more instead and waits for the next try.
static carom_status go_through(cr_sim* sim, cr_worker* worker, int32_t index, int32_t finest,
                               int fair)
{
    cr_island_result* result = &sim->island.items[index];
    const int64_t end = (int64_t)1 << finest; // of `at`, in the smallest parts
    const double turn = fair ? cr_island_turn(sim, worker, sim->leg.h, sim->state.om) : 0.0;
    const int32_t first = halvings_for(sim, 0, turn);
    int32_t halvings = first;
    int64_t solved = 0, wait = 1; // parts since the last change, and how many there are to be
    cr_island_rewind(sim, worker, index);
    result->parts = 0;
    for (int64_t at = 0; at < end;) {
        const int64_t size = end >> halvings;
        result->report.cramped = 0;
        if (fair) {
            worker->fair = halvings < CR_SIM_FAIR && halvings < finest;
            worker->most_turn = halvings < most_fair(sim) ? most_turned : HUGE_VAL;
        }
        result->status = try_part(sim, worker, index, at, size, end);
        if (result->status == CAROM_ERR_NO_CONVERGENCE) {
            const int unfair = result->gains || result->turn > most_turned;
            if (fair && !unfair && result->report.cramped > 0 && sim->retries < MOST_WIDENINGS) {
                // where twice a body was not where it wanted to be, iterates look by themselves
                result->hard = sim->retries >= MOST_WISHES && finest > 0;
                if (!result->hard) {
                    cr_expect_widen(sim, worker, sim->retries < MOST_WISHES);
                }
                result->narrow = 1;
                return CAROM_OK;
            }
            if (halvings == finest) {
                return result->status;
            }
            wait = result->parts > 0 && wait < end ? 2 * wait : wait;
            solved = 0;
            halvings = halvings_after(sim, result, halvings);
            continue;
        }
        if (result->status != CAROM_OK) {
            return result->status;
        }
        result->parts++;
        at += size;
        if (cr_expect_missed(sim, worker)) {
            result->narrow = 1;
            return CAROM_OK; // the look around was too narrow: all of it is done again
        }
        solved++;
        // a longer one begins where such a one would: at a multiple of its size, a power of two
        if (halvings > first && (at & (2 * size - 1)) == 0 && solved >= wait &&
            2.0 * result->turn <= most_turn) {
            halvings--;
            solved = 0;
        }
    }
    return CAROM_OK;
}

int cr_island_rubs(const cr_worker* worker)
{
    int rubs = 0;
    for (int32_t i = 0; i < worker->candidate_count; i++) {
        rubs |= worker->candidate[i].friction > 0.0;
    }
    return rubs;
}

void cr_island_ease(cr_worker* worker, double share)
{
    for (int32_t i = 0; i < worker->candidate_count; i++) {
        worker->candidate[i].friction *= share;
    }
}

// Not solved in any number of parts: what is light and wedged between heavy things may have no
// motion that its friction allows. A step with less friction is the lesser evil, and it is
// reported: half of it, then a quarter, then none, in a few parts, no more than any step may have.
static carom_status ease(cr_sim* sim, cr_worker* worker, int32_t index)
{
    static const double share[] = {0.5, 0.5, 0.0}; // of what is left
    const int32_t most = sim->model->world.max_halvings, finest = most < 4 ? most : 4;
    cr_island_result* result = &sim->island.items[index];
    carom_status status = CAROM_ERR_NO_CONVERGENCE;
    for (int s = 0; s < 3 && status == CAROM_ERR_NO_CONVERGENCE && cr_island_rubs(worker); s++) {
        cr_island_ease(worker, share[s]);
        result->eased = 1;
        status = go_through(sim, worker, index, finest, 0);
    }
    return status;
}

carom_status cr_island_take_candidates(cr_sim* sim, cr_worker* worker, int32_t index)
{
    const cr_near* near = &sim->near;
    const cr_island* island = &near->island.items[index];
    const int32_t count = island->candidate_end - island->candidate_begin;
    worker->candidate_count = 0;
    if (!cr_array_reserve(&worker->own_candidate, count) ||
        !cr_array_reserve(&worker->own_closest, count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_near_candidates(near, island, worker->own_candidate.items, worker->own_closest.items);
    worker->candidate_count = count;
    worker->candidate = count > 0 ? worker->own_candidate.items : NULL;
    worker->closest = count > 0 ? worker->own_closest.items : NULL;
    return CAROM_OK;
}

carom_status cr_island_open(cr_sim* sim, cr_worker* worker, int32_t index)
{
    const cr_model* model = sim->model;
    const cr_island* island = &sim->near.island.items[index];
    cr_island_result* result = &sim->island.items[index];
    worker->frame.count = worker->sheet.count = 0;
    worker->expect = &sim->whole;
    worker->looks = worker->fair = worker->hopeful = worker->stiff = 0;
    result->memory.count = result->contact.count = 0;
    result->narrow = result->strayed = result->eased = result->hard = 0;
    result->unfinished = result->looked = 0;
    result->report = (cr_zone_report){.least_gap = HUGE_VAL};
    result->status = cr_island_take_candidates(sim, worker, index);
    for (int32_t i = island->body_begin; i < island->body_end; i++) {
        const int32_t b = sim->near.body[i];
        const int ok = model->body_sheet[b] >= 0
                           ? cr_array_push(&worker->sheet, model->body_sheet[b])
                           : cr_array_push(&worker->frame, model->bodies.frame[b]);
        if (!ok) {
            result->status = CAROM_ERR_MEMORY;
        }
    }
    return result->status;
}

// Cloth that is hit moves in ways that nobody foresees, and more of them the longer the step is: an
// island with cloth is solved at once, or else its parts look around by themselves (parts.h).
static void step_cloth(cr_sim* sim, cr_worker* worker, int32_t index)
{
    cr_island_result* result = &sim->island.items[index];
    worker->most_cramped = MOST_CRAMPED_CLOTH;
    worker->most_iterations = sim->model->world.max_iterations < CR_SIM_HOPEFUL
                                  ? sim->model->world.max_iterations
                                  : CR_SIM_HOPEFUL;
    worker->fair = sim->model->world.max_halvings > 0;
    worker->most_turn = HUGE_VAL;
    result->parts = 1;
    result->status = cr_parts_crowded(sim, worker) && sim->model->world.max_halvings > 0
                         ? CAROM_ERR_NO_CONVERGENCE
                         : go_through(sim, worker, index, 0, 0);
    result->hard = result->narrow || result->status == CAROM_ERR_NO_CONVERGENCE;
    result->narrow = result->hard;
}

void cr_island_step(cr_sim* sim, cr_worker* worker, int32_t index)
{
    if (cr_island_open(sim, worker, index) != CAROM_OK) {
        return;
    }
    if (worker->sheet.count > 0) {
        step_cloth(sim, worker, index);
        return;
    }
    worker->most_cramped = sim->retries < MOST_WIDENINGS ? MOST_CRAMPED : INT32_MAX;
    worker->most_iterations = sim->model->world.max_iterations;
    const int32_t finest = sim->model->world.max_halvings;
    carom_status status = go_through(sim, worker, index, finest, 1);
    if (status == CAROM_ERR_NO_CONVERGENCE) {
        worker->fair = 0;
        status = ease(sim, worker, index);
    }
    if (status == CAROM_ERR_NO_CONVERGENCE) { // see STIFF_AT_LAST in parts.c
        worker->stiff = 1;
        go_through(sim, worker, index, finest, 0);
    }
}
