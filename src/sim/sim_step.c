#include "core/assert.h"
#include "core/memory.h"
#include "core/order.h"
#include "core/parallel.h"
#include "sim/expect.h"
#include "sim/parts.h"
#include <string.h>

// A step whose look around was too narrow is done again with a wider one at most this often.
enum { MOST_RETRIES = 40 };

// The model's own loads and the caller's, for the coming step.
static void gather_loads(cr_sim* sim)
{
    const cr_model* model = sim->model;
    for (int32_t f = 0; f < model->bodies.frame_count; f++) {
        sim->force_now[f] = cr_vec3_load(sim->force + 3 * f);
        sim->torque_now[f] = cr_vec3_load(sim->torque + 3 * f);
    }
    for (int32_t n = 0; n < model->bodies.node_count; n++) {
        sim->node_force_now[n] = cr_vec3_load(sim->node_force + 3 * n);
    }
    for (int32_t i = 0; i < model->load_count; i++) {
        const cr_load* load = &model->load[i];
        const int64_t last = load->step_count - 1;
        const int64_t at = sim->state.step < last ? sim->state.step : last;
        const int32_t f = model->bodies.frame[load->body];
        cr_vec3* force = load->node >= 0 ? &sim->node_force_now[load->node] : &sim->force_now[f];
        *force = cr_vec3_add(*force, cr_vec3_load(load->force + 3 * at));
        if (load->torque && load->node < 0) {
            sim->torque_now[f] =
                cr_vec3_add(sim->torque_now[f], cr_vec3_load(load->torque + 3 * at));
        }
    }
}

// Pose of a kinematic frame at a time: the start, moved and turned as its script says.
static void scripted_pose(const cr_model* model, int32_t f, double time, cr_vec3* t, cr_quat* q)
{
    *t = cr_vec3_load(model->t0 + 3 * f);
    *q = cr_quat_load(model->q0 + 4 * f);
    if (model->frame_script[f] >= 0) {
        cr_vec3 shift, turn;
        cr_model_script_at(&model->script[model->frame_script[f]], time, &shift, &turn);
        *t = cr_vec3_add(*t, shift);
        *q = cr_quat_normalize(cr_quat_mul(cr_quat_from_rotation(turn), *q));
    }
}

static cr_vec3 scripted_node(const cr_model* model, int32_t n, double time)
{
    const cr_vec3 x = cr_vec3_load(model->x0 + 3 * n);
    if (model->node_script[n] < 0) {
        return x;
    }
    cr_vec3 shift, turn;
    cr_model_script_at(&model->script[model->node_script[n]], time, &shift, &turn);
    return cr_vec3_add(x, shift);
}

// Pose of a driven frame at the end of a step: t + h v, exp(h om) q.
static void driven_pose(const cr_sim* sim, int32_t f, double h, cr_vec3* t, cr_quat* q)
{
    const cr_vec3 v = cr_vec3_load(sim->force + 3 * f), om = cr_vec3_load(sim->torque + 3 * f);
    *t = cr_vec3_add_scaled(*t, h, v);
    *q = cr_quat_normalize(cr_quat_mul(cr_quat_from_rotation(cr_vec3_scale(h, om)), *q));
}

// Fixed and kinematic frames and pinned nodes: where their vertices are at the start and the end.
// Their new poses go to `next` at once, for no zone changes them.
void cr_sim_move_scripted(cr_sim* sim)
{
    const cr_model* model = sim->model;
    const cr_body_set* bodies = &model->bodies;
    const double h = model->world.dt;
    for (int32_t b = 0; b < bodies->body_count; b++) {
        const int32_t f = bodies->frame[b];
        if (f < 0 || bodies->kind[b] == CR_BODY_RIGID) {
            continue;
        }
        cr_vec3 t1 = cr_vec3_load(sim->state.t + 3 * f);
        cr_quat q1 = cr_quat_load(sim->state.q + 4 * f);
        const cr_vec3 t0 = t1;
        const cr_quat q0 = q1;
        if (sim->driven[f]) {
            driven_pose(sim, f, h, &t1, &q1);
        } else if (bodies->kind[b] == CR_BODY_KINEMATIC) {
            scripted_pose(model, f, sim->state.time + h, &t1, &q1);
        }
        const cr_mat3 r0 = cr_quat_to_matrix(q0), r1 = cr_quat_to_matrix(q1);
        const cr_vec3 turn = cr_quat_to_rotation(cr_quat_mul(cr_quat_conjugate(q0), q1));
        cr_vec3_store(sim->next.t + 3 * f, t1);
        cr_quat_store(sim->next.q + 4 * f, q1);
        cr_vec3_store(sim->next.v + 3 * f, cr_vec3_scale(1.0 / h, cr_vec3_sub(t1, t0)));
        cr_vec3_store(sim->next.om + 3 * f, cr_vec3_scale(1.0 / h, turn));
        sim->whole.carry[b] = (cr_carry){
            .r0 = r0, .r1 = r1, .t0 = t0, .t1 = t1, .still = bodies->kind[b] == CR_BODY_FIXED};
        for (int32_t v = bodies->vertex[b]; v < bodies->vertex[b + 1]; v++) {
            const cr_vec3 p = cr_vec3_load(bodies->p + 3 * v);
            sim->obstacle0[v] = cr_carry_start(&sim->whole.carry[b], p);
            sim->obstacle1[v] = cr_carry_end(&sim->whole.carry[b], p);
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (bodies->node_pinned[n]) {
            const int32_t v = bodies->node_vertex[n];
            sim->obstacle0[v] = cr_vec3_load(sim->state.x + 3 * n);
            sim->obstacle1[v] = sim->node_driven[n]
                                    ? cr_vec3_add_scaled(sim->obstacle0[v], h,
                                                         cr_vec3_load(sim->node_force + 3 * n))
                                    : scripted_node(model, n, sim->state.time + h);
        }
    }
}

static void run_island(int32_t island, int32_t worker, void* user)
{
    cr_sim* sim = user;
    if (!sim->island.items[island].done && !cr_parts_hard(sim, island)) {
        cr_island_step(sim, &sim->worker[worker], island);
        sim->island.items[island].done = 1;
    }
}

// Islands that look around by themselves do so one after another: there is one look.
static void run_hard(cr_sim* sim)
{
    for (int32_t i = 0; i < sim->island.count && sim->any_hard; i++) {
        if (!sim->island.items[i].done) {
            cr_parts_step(sim, &sim->worker[0], i);
            sim->island.items[i].done = 1;
        }
    }
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

// The same number for the same members with the same candidates.
static uint64_t sight(const cr_sim* sim, const cr_island* island)
{
    uint64_t hash = 0;
    for (int32_t i = island->body_begin; i < island->body_end; i++) {
        hash = mix(hash, (uint64_t)sim->near.body[i]);
    }
    for (int32_t i = island->candidate_begin; i < island->candidate_end; i++) {
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
// the last one, the result stands.
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
        if (before && before->done && !before->narrow && before->sight == sight(sim, island)) {
            const cr_island_result keep = *result;
            *result = *before;
            *before = keep;
            before->done = 0;
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
        sim->island.items[i].sight = sight(sim, &sim->near.island.items[i]);
        sim->island_before.items[i] = sim->island.items[i];
        sim->island.items[i] = keep;
    }
    for (int32_t b = 0; b < sim->model->bodies.body_count; b++) {
        const int32_t old = sim->near.body_island[b];
        sim->body_before[b] = old;
        sim->fresh[b] = old >= 0 && sim->island_before.items[old].narrow;
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
    int32_t memories = 0, contacts = 0;
    for (int32_t i = 0; i < sim->island.count; i++) {
        memories += sim->island.items[i].memory.count;
        contacts += sim->island.items[i].contact.count;
    }
    return cr_array_reserve(&sim->next.memory, 2 * memories) &&
           cr_array_reserve(&sim->state.memory, memories) &&
           cr_array_reserve(&sim->contact, contacts);
}

// The last act: nothing before this has changed the state, and nothing in it can fail half way.
static carom_status commit(cr_sim* sim, carom_error* error)
{
    cr_state* state = &sim->state;
    cr_state* next = &sim->next;
    if (!ready_to_commit(sim)) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "step %lld: no memory for its contacts",
                                (long long)state->step);
    }
    next->memory.count = 0;
    sim->contact.count = 0;
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
    next->step = state->step + 1;
    next->time = (double)next->step * sim->model->world.dt;
    const carom_status status = cr_state_copy(state, next);
    CR_ASSERT(status == CAROM_OK); // there is room
    return status;
}

static void write_report(cr_sim* sim, int32_t retries)
{
    cr_step_report report = {
        .least_gap = HUGE_VAL, .retries = retries, .candidate_count = sim->near.order.count};
    for (int32_t i = 0; i < sim->island.count; i++) {
        const cr_island_result* result = &sim->island.items[i];
        const cr_zone_report* zone = &result->report;
        report.island_count += zone->iterations > 0;
        report.parts = result->parts > report.parts ? result->parts : report.parts;
        report.impacts += result->impacts;
        report.eased += result->eased;
        report.iterations += zone->iterations;
        report.factorisations += zone->factorisations;
        report.weakly_active += zone->weakly_active;
        report.contact_count += zone->row_count;
        if (zone->scalar_count > report.max_zone_dofs) {
            report.max_zone_dofs = zone->scalar_count;
        }
        if (zone->row_count > report.max_zone_contacts) {
            report.max_zone_contacts = zone->row_count;
        }
        report.least_gap = cr_min(report.least_gap, zone->least_gap);
        report.residual = cr_max(report.residual, zone->residual);
    }
    sim->report = report;
}

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
        return cr_status_refuse(error, result->status, "step %lld: stopped by hand",
                                (long long)sim->state.step);
    }
    return cr_status_refuse(
        error, result->status,
        "step %lld: the contacts of %d bodies (\"%s\" and others) were not solved, not even in %d "
        "parts of %g s: residual %.3g, %d unknowns, %d candidates; try a smaller dt",
        (long long)sim->state.step, island->body_end - island->body_begin,
        sim->model->name[sim->near.body[island->body_begin]], result->parts,
        sim->model->world.dt / result->parts, result->missed, result->report.scalar_count,
        island->candidate_end - island->candidate_begin);
}

// Waking workers costs more than a few islands do.
enum { LEAST_TO_SHARE = 2000 };

static int worth_sharing(const cr_sim* sim)
{
    return sim->near.order.count + sim->model->bodies.node_count > LEAST_TO_SHARE;
}

void cr_sim_gather_scripts(cr_sim* sim)
{
    const cr_body_set* bodies = &sim->model->bodies;
    for (int32_t b = 0; b < bodies->body_count; b++) {
        if (bodies->kind[b] == CR_BODY_KINEMATIC) {
            const int32_t f = bodies->frame[b];
            cr_vec3 t = cr_vec3_load(sim->model->t0 + 3 * f);
            cr_quat q = cr_quat_load(sim->model->q0 + 4 * f);
            if (sim->state.step > 0) {
                scripted_pose(sim->model, f, sim->state.time, &t, &q);
            }
            cr_vec3_store(sim->state.t + 3 * f, t);
            cr_quat_store(sim->state.q + 4 * f, q);
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (bodies->node_pinned[n]) {
            const cr_vec3 x = sim->state.step > 0 ? scripted_node(sim->model, n, sim->state.time)
                                                  : cr_vec3_load(sim->model->x0 + 3 * n);
            cr_vec3_store(sim->state.x + 3 * n, x);
        }
    }
    cr_sim_move_scripted(sim);
}

void cr_sim_gather(cr_sim* sim)
{
    gather_loads(sim);
    cr_sim_move_scripted(sim);
}

static void forget_hard(cr_sim* sim)
{
    if (sim->any_hard) {
        memset(sim->hard, 0, (size_t)sim->model->bodies.body_count * sizeof *sim->hard);
        sim->any_hard = 0;
    }
}

carom_status cr_sim_step(cr_sim* sim, carom_error* error)
{
    cr_sim_gather(sim);
    cr_expect_step(sim);
    forget_hard(sim);
    cr_near_look look = {
        sim->whole.carry, sim->whole.start, sim->whole.ahead, sim->whole.node_reach, NULL, NULL};
    for (int32_t retry = 0; retry <= MOST_RETRIES; retry++) {
        sim->retries = retry;
        look.role = sim->any_hard ? sim->hard : NULL;
        look.fresh = retry > 0 && !sim->any_hard ? sim->fresh : NULL;
        carom_status status = cr_near_find(&sim->near, &look, sim->worker_count);
        if (status == CAROM_OK) {
            status = ready_results(sim, retry);
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
            narrow |= sim->island.items[i].narrow;
        }
        if (narrow) {
            status = put_aside(sim);
            if (status != CAROM_OK) {
                return cr_status_refuse(error, status, "step %lld: no memory for another try",
                                        (long long)sim->state.step);
            }
            continue;
        }
        write_report(sim, retry);
        for (int32_t i = 0; i < sim->island.count; i++) {
            if (sim->island.items[i].status != CAROM_OK) {
                return refuse_island(sim, i, error);
            }
        }
        return commit(sim, error);
    }
    return cr_status_refuse(error, CAROM_ERR_NO_CONVERGENCE,
                            "step %lld: bodies got farther each time the step was tried; try a "
                            "smaller dt",
                            (long long)sim->state.step);
}
