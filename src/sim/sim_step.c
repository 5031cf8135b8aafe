#include "core/assert.h"
#include "core/memory.h"
#include "core/order.h"
#include "core/parallel.h"
#include "sim/expect.h"
#include "sim/parts.h"
#include "sim/substep.h"
#include <string.h>

// A step whose look around was too narrow is done again with a wider one at most this often.
enum { MOST_RETRIES = 40 };

static void run_island(int32_t island, int32_t worker, void* user)
{
    cr_sim* sim = user;
    cr_island_result* result = &sim->island.items[island];
    if (sim->model->world.contact == CR_CONTACT_BARRIER) {
        if (!result->done && !cr_substep_is_large(sim, island)) {
            cr_substep_run(sim, &sim->worker[worker], island, 0);
            result->done = !result->hard;
        }
    } else if (!result->done && !cr_parts_hard(sim, island)) {
        cr_island_step(sim, &sim->worker[worker], island);
        result->done = 1;
    }
}

// Islands that look around by themselves do so one after another: there is one look.
static void run_hard(cr_sim* sim)
{
    const int barrier = sim->model->world.contact == CR_CONTACT_BARRIER;
    for (int32_t i = 0; i < sim->island.count && (sim->any_hard || barrier); i++) {
        if (!sim->island.items[i].done) {
            if (barrier) {
                cr_substep_run(sim, &sim->worker[0], i, 1);
            } else {
                cr_parts_step(sim, &sim->worker[0], i);
            }
            sim->island.items[i].done = 1;
        }
    }
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

// The same number for the same members with the same candidates, which do not matter to those that
// look for their own.
static uint64_t sight(const cr_sim* sim, int32_t index, int looked)
{
    const cr_island* island = &sim->near.island.items[index];
    const int32_t seen =
        looked || cr_parts_hard(sim, index) ? island->candidate_begin : island->candidate_end;
    uint64_t hash = 0;
    for (int32_t i = island->body_begin; i < island->body_end; i++) {
        hash = mix(hash, (uint64_t)sim->near.body[i]);
    }
    for (int32_t i = island->candidate_begin; i < seen; i++) {
        const cr_pair* pair = &sim->near.all.found.items[sim->near.order.items[i]].pair;
        hash = mix(hash, (uint64_t)(uint32_t)pair->v[0] << 32 | (uint32_t)pair->v[1]);
        hash = mix(hash, (uint64_t)(uint32_t)pair->v[2] << 32 | (uint32_t)pair->v[3]);
        hash = mix(hash, (uint64_t)(uint32_t)pair->kind);
    }
    return hash;
}

static carom_status make_ready(cr_island_result** items, int32_t* ready, int32_t count,
                               int32_t* capacity)
{
    if (!cr_array_reserve_bytes((void**)items, capacity, *ready, count, sizeof **items)) {
        return CAROM_ERR_MEMORY;
    }
    for (; *ready < count; ++*ready) {
        (*items)[*ready] = (cr_island_result){0};
    }
    return CAROM_OK;
}

// Places for the results of all islands. Of those that see in this try of the step what they saw in
// the last one, the result stands; one that strayed sees now as far as it went.
static carom_status ready_results(cr_sim* sim, int32_t retry)
{
    const int32_t count = sim->near.island.count;
    carom_status status =
        make_ready(&sim->island.items, &sim->island_ready, count, &sim->island.capacity);
    if (status != CAROM_OK) {
        return status;
    }
    sim->island.count = count;
    for (int32_t i = 0; i < count; i++) {
        const cr_island* island = &sim->near.island.items[i];
        cr_island_result* result = &sim->island.items[i];
        const int32_t old = retry > 0 ? sim->body_before[sim->near.body[island->body_begin]] : -1;
        cr_island_result* before = old >= 0 ? &sim->island_before.items[old] : NULL;
        if (before && before->done && !before->narrow &&
            before->sight == sight(sim, i, before->looked)) {
            const cr_island_result keep = *result;
            *result = *before;
            *before = keep;
            before->done = 0;
            result->strayed = 0;
        } else {
            result->done = 0;
        }
    }
    return CAROM_OK;
}

// The results of this try become those of the last one.
static carom_status put_aside(cr_sim* sim)
{
    carom_status status = make_ready(&sim->island_before.items, &sim->before_ready,
                                     sim->island.count, &sim->island_before.capacity);
    for (int32_t i = 0; i < sim->island.count && status == CAROM_OK; i++) {
        if (sim->island.items[i].hard) {
            status = cr_parts_mark(sim, &sim->worker[0], i);
            sim->island.items[i].narrow = 1;
        }
    }
    for (int32_t i = 0; i < sim->island.count && status == CAROM_OK; i++) {
        const cr_island_result keep = sim->island_before.items[i];
        sim->island.items[i].sight = sight(sim, i, sim->island.items[i].looked);
        sim->island_before.items[i] = sim->island.items[i];
        sim->island.items[i] = keep;
    }
    for (int32_t b = 0; b < sim->model->bodies.body_count; b++) {
        const int32_t old = sim->near.body_island[b];
        sim->body_before[b] = old;
        const cr_island_result* before = old >= 0 ? &sim->island_before.items[old] : NULL;
        sim->fresh[b] = before && (before->narrow || before->strayed);
    }
    return status;
}

static int memory_before(const cr_contact_memory* a, const cr_contact_memory* b)
{
    return cr_candidate_compare_keys(&a->key, &b->key) < 0;
}

CR_ORDER_DEFINE(sort_memory, cr_contact_memory, memory_before)

// Room for all contacts, and to sort them, before anything is written.
static int ready_to_commit(cr_sim* sim)
{
    int32_t memories = 0, contacts = sim->contact.count;
    for (int32_t i = 0; i < sim->island.count; i++) {
        memories += sim->island.items[i].memory.count;
        contacts += sim->island.items[i].contact.count;
    }
    return cr_array_reserve(&sim->next.memory, 2 * memories) &&
           cr_array_reserve(&sim->state.memory, memories) &&
           cr_array_reserve(&sim->contact, contacts);
}

// The last act of a leg: nothing before this has changed the state, and nothing in it can fail half
// way.
static carom_status commit(cr_sim* sim, carom_error* error)
{
    cr_state* state = &sim->state;
    cr_state* next = &sim->next;
    const int first = sim->leg.from == 0.0, last = sim->leg.to == 1.0;
    sim->contact.count = first ? 0 : sim->contact.count;
    if (!ready_to_commit(sim)) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "step %lld: no memory for its contacts",
                                (long long)state->step);
    }
    next->memory.count = 0;
    for (int32_t i = 0; i < sim->island.count; i++) {
        const cr_island_result* result = &sim->island.items[i];
        for (int32_t k = 0; k < result->memory.count; k++) {
            next->memory.items[next->memory.count++] = result->memory.items[k];
        }
        for (int32_t k = 0; k < result->contact.count; k++) {
            sim->contact.items[sim->contact.count++] = result->contact.items[k];
        }
    }
    if (next->memory.count > 1) {
        sort_memory(next->memory.items, next->memory.items + next->memory.count,
                    next->memory.count);
    }
    next->step = state->step + last;
    next->time = last ? (double)next->step * sim->model->world.dt : state->time;
    const carom_status status = cr_state_copy(state, next);
    CR_ASSERT(status == CAROM_OK); // there is room
    return status;
}

// What a leg did, on top of the legs before it.
static void add_report(cr_sim* sim)
{
    cr_step_report* report = &sim->report;
    int32_t islands = 0, contacts = 0, parts = 0;
    for (int32_t i = 0; i < sim->island.count; i++) {
        const cr_island_result* result = &sim->island.items[i];
        const cr_zone_report* zone = &result->report;
        islands += zone->iterations > 0;
        contacts += zone->row_count;
        parts = result->parts > parts ? result->parts : parts;
        report->impacts += result->impacts;
        report->eased += result->eased;
        report->unfinished += result->unfinished;
        report->iterations += zone->iterations;
        report->factorisations += zone->factorisations;
        report->weakly_active += zone->weakly_active;
        if (zone->scalar_count > report->max_zone_dofs) {
            report->max_zone_dofs = zone->scalar_count;
        }
        if (zone->row_count > report->max_zone_contacts) {
            report->max_zone_contacts = zone->row_count;
        }
        report->least_gap = cr_min(report->least_gap, zone->least_gap);
        report->residual = cr_max(report->residual, zone->residual);
    }
    report->island_count = islands > report->island_count ? islands : report->island_count;
    report->contact_count = contacts > report->contact_count ? contacts : report->contact_count;
    report->candidate_count += sim->near.order.count;
    report->retries += sim->retries;
    report->parts += parts;
}

static const char stopped[] = "step %lld: stopped by hand";

static carom_status refuse_island(const cr_sim* sim, int32_t i, carom_error* error)
{
    const cr_island_result* result = &sim->island.items[i];
    const cr_island* island = &sim->near.island.items[i];
    if (result->status == CAROM_ERR_MEMORY) {
        return cr_status_refuse(error, result->status,
                                "step %lld: no memory for the contacts of %d bodies",
                                (long long)sim->state.step, island->body_end - island->body_begin);
    }
    if (result->status == CAROM_ERR_INTERRUPTED) {
        return cr_status_refuse(error, result->status, stopped, (long long)sim->state.step);
    }
    return cr_status_refuse(
        error, result->status,
        "step %lld: the contacts of %d bodies (\"%s\" and others) were not solved, not even in "
        "parts of %g s: residual %.3g, %d unknowns; try a smaller dt",
        (long long)sim->state.step, island->body_end - island->body_begin,
        sim->model->name[sim->near.body[island->body_begin]],
        ldexp(sim->leg.h, -sim->model->world.max_halvings), result->missed,
        result->report.scalar_count);
}

// Candidates and nodes; fewer are solved before other workers are awake, in some 50 us.
enum { LEAST_TO_SHARE = 300 };

static int worth_sharing(const cr_sim* sim)
{
    return sim->near.order.count + sim->model->bodies.node_count > LEAST_TO_SHARE;
}

static void forget_hard(cr_sim* sim)
{
    if (sim->any_hard) {
        memset(sim->hard, 0, (size_t)sim->model->bodies.body_count * sizeof *sim->hard);
        sim->any_hard = 0;
    }
}

// With contact layers whoever has sheets looks for contacts by itself, part by part: ways of a
// whole step bring too much of a sheet into its own sight. The look of the step compares them with
// others.
static void set_sheets_apart(cr_sim* sim)
{
    const cr_model* model = sim->model;
    for (int32_t s = 0; s < model->sheet_count; s++) {
        sim->hard[model->sheet_body[s]] = model->sheet_body[s] + 1;
    }
    sim->any_hard = model->sheet_count > 0;
}

static void forget_jams(cr_sim* sim)
{
    memset(sim->jam, 0, (size_t)sim->model->bodies.body_count);
}

// Everything through sim->leg, from sim->state to sim->next. CAROM_ERR_NO_CONVERGENCE: something
// was not solved, or there are more candidates than `most`, 0 for any number.
static carom_status take_leg(cr_sim* sim, int32_t most, carom_error* error)
{
    cr_expect_step(sim);
    forget_hard(sim);
    const int barrier = sim->model->world.contact == CR_CONTACT_BARRIER;
    if (barrier) {
        set_sheets_apart(sim);
    }
    cr_near_look look = {.carry = sim->whole.carry,
                         .x = sim->whole.start,
                         .ahead = sim->whole.ahead,
                         .node_reach = sim->whole.node_reach,
                         .most = most};
    for (int32_t retry = 0; retry <= MOST_RETRIES; retry++) {
        sim->retries = retry;
        if (sim->stop && *sim->stop) {
            return cr_status_refuse(error, CAROM_ERR_INTERRUPTED, stopped,
                                    (long long)sim->state.step);
        }
        look.role = sim->any_hard ? sim->hard : NULL;
        look.fresh = retry > 0 && (barrier || !sim->any_hard) ? sim->fresh : NULL;
        carom_status status = cr_near_find(&sim->near, &look, sim->worker_count);
        if (status == CAROM_ERR_NO_CONVERGENCE) {
            return status;
        }
        if (status == CAROM_OK) {
            status = ready_results(sim, retry);
        }
        if (status == CAROM_OK) {
            status = cr_substep_ready(sim);
        }
        if (status != CAROM_OK) {
            return cr_status_refuse(error, status, "step %lld: %s", (long long)sim->state.step,
                                    status == CAROM_ERR_MEMORY
                                        ? "no memory to find what may touch"
                                        : "what may touch could not be found");
        }
        cr_parallel_for(sim->near.island.count, worth_sharing(sim) ? sim->worker_count : 1,
                        run_island, sim);
        run_hard(sim);
        int narrow = 0;
        for (int32_t i = 0; i < sim->island.count; i++) {
            narrow |= sim->island.items[i].narrow || sim->island.items[i].strayed;
        }
        if (narrow) {
            status = put_aside(sim);
            if (status != CAROM_OK) {
                return cr_status_refuse(error, status, "step %lld: no memory for another try",
                                        (long long)sim->state.step);
            }
            continue;
        }
        for (int32_t i = 0; i < sim->island.count; i++) {
            if (sim->island.items[i].status != CAROM_OK) {
                return refuse_island(sim, i, error);
            }
        }
        return CAROM_OK;
    }
    return cr_status_refuse(error, CAROM_ERR_NO_CONVERGENCE,
                            "step %lld: bodies got farther each time the step was tried; try a "
                            "smaller dt",
                            (long long)sim->state.step);
}

// Puts aside what is needed of a leg that is not the last one, and of the state before the first.
static carom_status keep_leg(cr_sim* sim, carom_error* error)
{
    carom_status status = CAROM_OK;
    if (sim->leg.from == 0.0) {
        status = cr_state_copy(&sim->begin, &sim->state);
    }
    for (int32_t i = 0; i < sim->island.count && status == CAROM_OK && sim->keeps; i++) {
        status = cr_record_append(&sim->earlier, &sim->island.items[i].record);
    }
    return status == CAROM_OK
               ? status
               : cr_status_refuse(error, status, "step %lld: no memory for a part of it",
                                  (long long)sim->state.step);
}

// Candidates among what moves, for each vertex of it, that a leg may bring within reach. In a crowd
// at speed everything could meet everything in the step: impacts are then looked for among far more
// pairs than will ever come near, and again after each of them. In shorter legs a pair is looked at
// when it may meet. A ball counts as if it had the corners of a box; sheets that are crowded go in
// parts of their own first (parts.h).
enum { CROWD = 20, CROWD_OF_CLOTH = 80, LEAST_VERTICES = 8 };

static int32_t most_brought(const cr_sim* sim)
{
    const cr_body_set* bodies = &sim->model->bodies;
    int64_t most = 0;
    for (int32_t b = 0; b < bodies->body_count; b++) {
        const int64_t vertices = bodies->vertex[b + 1] - bodies->vertex[b];
        const int64_t corners = vertices > LEAST_VERTICES ? vertices : LEAST_VERTICES;
        most += bodies->kind[b] == CR_BODY_RIGID   ? CROWD * corners
                : bodies->kind[b] == CR_BODY_CLOTH ? CROWD_OF_CLOTH * vertices
                                                   : 0;
    }
    return most < INT32_MAX ? (int32_t)most : INT32_MAX;
}

// The step in one leg, as a rule; where that is crowded, or something in it is not solved in any
// other way, in legs of 2^-k of it, as long as they can be.
static carom_status take_legs(cr_sim* sim, carom_error* error)
{
    const int32_t finest = sim->model->world.max_halvings;
    const int64_t end = (int64_t)1 << finest; // of `at`, in the shortest legs
    const int32_t most = most_brought(sim);
    int32_t halvings = 0;
    int64_t calm = 0, wait = 1; // legs since the last change, and how many there are to be
    for (int64_t at = 0; at < end;) {
        const int64_t size = end >> halvings;
        sim->leg = (cr_leg){.h = ldexp(sim->model->world.dt, -halvings),
                            .from = (double)at / (double)end,
                            .to = (double)(at + size) / (double)end};
        carom_status status = take_leg(sim, halvings < finest ? most : 0, error);
        if (status == CAROM_ERR_NO_CONVERGENCE && halvings < finest) {
            forget_jams(sim);
            wait = at > 0 && wait < end ? 2 * wait : wait;
            calm = 0;
            halvings++;
            continue;
        }
        if (status == CAROM_OK && at + size < end) {
            status = keep_leg(sim, error);
        }
        add_report(sim);
        if (status == CAROM_OK) {
            status = commit(sim, error);
        }
        if (status != CAROM_OK) {
            return status;
        }
        at += size;
        calm++;
        if (halvings > 0 && at % (2 * size) == 0 && calm >= wait && sim->near.brought < most / 4) {
            calm = 0;
            halvings--;
        }
    }
    return CAROM_OK;
}

carom_status cr_sim_step(cr_sim* sim, carom_error* error)
{
    if (sim->keeps && sim->model->world.iteration_budget > 0) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "step %lld: with world.iteration_budget %d it may end before it is "
                                "solved, and has no gradient then; set that to 0 for gradients",
                                (long long)sim->state.step, sim->model->world.iteration_budget);
    }
    cr_sim_gather(sim);
    sim->report = (cr_step_report){.least_gap = HUGE_VAL};
    cr_record_clear(&sim->earlier);
    forget_jams(sim);
    const carom_status status = take_legs(sim, error);
    if (status == CAROM_OK && error) {
        *error = (carom_error){0}; // of a leg that was taken in two
    }
    if (status != CAROM_OK && sim->leg.from > 0.0) {
        const carom_status back = cr_state_copy(&sim->state, &sim->begin);
        CR_ASSERT(back == CAROM_OK); // it had the room
        (void)back;
    }
    return status;
}
