#include "sim/sim.h"
#include "core/memory.h"
#include "sim/expect.h"
#include <string.h>

static carom_status take_scratch(cr_sim* sim)
{
    const cr_body_set* bodies = &sim->model->bodies;
    const size_t f = (size_t)bodies->frame_count, n = (size_t)bodies->node_count;
    const size_t v = (size_t)bodies->vertex_count, b = (size_t)bodies->body_count;
    sim->worker = cr_memory_take((size_t)sim->worker_count, sizeof(cr_worker));
    sim->force = cr_memory_take(3 * f, sizeof(double));
    sim->torque = cr_memory_take(3 * f, sizeof(double));
    sim->node_force = cr_memory_take(3 * n, sizeof(double));
    sim->driven = cr_memory_take(f, 1);
    sim->node_driven = cr_memory_take(n, 1);
    sim->force_now = cr_memory_take(f, sizeof(cr_vec3));
    sim->torque_now = cr_memory_take(f, sizeof(cr_vec3));
    sim->node_force_now = cr_memory_take(n, sizeof(cr_vec3));
    sim->q_target = cr_memory_take(f, sizeof(cr_quat));
    sim->aimed = cr_memory_take(f, sizeof(cr_target));
    sim->scripted = cr_memory_take(b, sizeof(cr_carry));
    sim->obstacle0 = cr_memory_take(v, sizeof(cr_vec3));
    sim->obstacle1 = cr_memory_take(v, sizeof(cr_vec3));
    sim->body_before = cr_memory_take(b, sizeof(int32_t));
    sim->fresh = cr_memory_take(b, 1);
    sim->hard = cr_memory_take(b, sizeof(int32_t));
    sim->jam = cr_memory_take(b, 1);
    sim->taking = cr_memory_take(b, sizeof(int32_t));
    sim->wish = cr_memory_take(f, sizeof(cr_carry));
    sim->wants = cr_memory_take(f, sizeof(double));
    sim->node_wish = cr_memory_take(3 * n, sizeof(double));
    sim->left = cr_memory_take(f, 1);
    sim->hit = cr_memory_take(f, sizeof(double));
    sim->lift = cr_memory_take(f, sizeof(cr_vec3));
    const int ok = sim->worker && sim->force && sim->torque && sim->node_force && sim->force_now &&
                   sim->torque_now && sim->node_force_now && sim->q_target && sim->obstacle0 &&
                   sim->obstacle1 && sim->hard && sim->jam && sim->taking && sim->wants &&
                   sim->wish && sim->node_wish && sim->body_before && sim->fresh && sim->driven &&
                   sim->node_driven && sim->aimed && sim->scripted && sim->left && sim->hit &&
                   sim->lift;
    carom_status status = ok ? CAROM_OK : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        status = cr_expect_init(&sim->whole, bodies);
    }
    if (status == CAROM_OK) {
        status = cr_expect_init(&sim->part, bodies);
    }
    return status;
}

// Beyond, a thread more only takes memory; and no system lets a program have millions of them.
enum { MOST_WORKERS = 256 };

carom_status cr_sim_create(const cr_model* model, int32_t worker_count, cr_sim** out)
{
    *out = NULL;
    cr_sim* sim = cr_memory_take(1, sizeof(cr_sim));
    if (!sim) {
        return CAROM_ERR_MEMORY;
    }
    sim->model = model;
    sim->worker_count = worker_count < 1              ? 1
                        : worker_count < MOST_WORKERS ? worker_count
                                                      : MOST_WORKERS;
    carom_status status = take_scratch(sim);
    for (int32_t i = 0; i < sim->worker_count && status == CAROM_OK; i++) {
        status = cr_zone_create(&sim->worker[i].zone);
        if (status == CAROM_OK) {
            status = cr_newton_create(&sim->worker[i].newton);
        }
        if (status == CAROM_OK) {
            status = cr_events_create(&sim->worker[i].events);
        }
    }
    if (status == CAROM_OK) {
        status = cr_state_init(&sim->state, model);
    }
    if (status == CAROM_OK) {
        status = cr_state_init(&sim->next, model);
    }
    if (status == CAROM_OK) {
        status = cr_state_init(&sim->begin, model);
    }
    if (status == CAROM_OK) {
        status = cr_motion_init(&sim->motion, model->bodies.frame_count, model->bodies.node_count);
    }
    if (status == CAROM_OK) {
        status = cr_near_init(&sim->near, model);
    }
    if (status != CAROM_OK) {
        cr_sim_destroy(sim);
        return status;
    }
    *out = sim;
    return CAROM_OK;
}

static void release_results(cr_island_result* results, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        cr_array_release(&results[i].contact);
        cr_array_release(&results[i].memory);
        cr_record_release(&results[i].record);
    }
}

void cr_sim_destroy(cr_sim* sim)
{
    if (!sim) {
        return;
    }
    for (int32_t i = 0; sim->worker && i < sim->worker_count; i++) {
        cr_zone_destroy(sim->worker[i].zone);
        cr_newton_destroy(sim->worker[i].newton);
        cr_events_destroy(sim->worker[i].events);
        cr_array_release(&sim->worker[i].frame);
        cr_array_release(&sim->worker[i].sheet);
        cr_array_release(&sim->worker[i].warm);
        cr_array_release(&sim->worker[i].balance);
        cr_array_release(&sim->worker[i].sheet_scratch);
        cr_array_release(&sim->worker[i].clump_of);
        cr_array_release(&sim->worker[i].clump);
        cr_array_release(&sim->worker[i].own_candidate);
        cr_array_release(&sim->worker[i].own_closest);
    }
    release_results(sim->island.items, sim->island_ready);
    release_results(sim->island_before.items, sim->before_ready);
    void* const blocks[] = {
        sim->worker,      sim->force,          sim->torque,   sim->node_force,  sim->force_now,
        sim->torque_now,  sim->node_force_now, sim->q_target, sim->obstacle0,   sim->obstacle1,
        sim->hard,        sim->taking,         sim->wants,    sim->wish,        sim->node_wish,
        sim->body_before, sim->fresh,          sim->driven,   sim->node_driven, sim->aimed,
        sim->scripted,    sim->left,           sim->hit,      sim->lift,        sim->jam};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
    cr_array_release(&sim->island);
    cr_array_release(&sim->island_before);
    cr_array_release(&sim->contact);
    cr_state_release(&sim->state);
    cr_state_release(&sim->next);
    cr_state_release(&sim->begin);
    cr_record_release(&sim->earlier);
    cr_motion_release(&sim->motion);
    cr_expect_release(&sim->whole);
    cr_expect_release(&sim->part);
    cr_near_release(&sim->near);
    cr_memory_free(sim->corner);
    cr_memory_free(sim);
}

const cr_model* cr_sim_model(const cr_sim* sim)
{
    return sim->model;
}

cr_state* cr_sim_state(cr_sim* sim)
{
    return &sim->state;
}

void cr_sim_reset(cr_sim* sim)
{
    cr_state_restart(&sim->next, sim->model);
    cr_state_restart(&sim->state, sim->model);
    cr_near_weigh(&sim->near);
    sim->contact.count = 0;
    sim->report = (cr_step_report){.least_gap = HUGE_VAL};
}

const cr_step_report* cr_sim_report(const cr_sim* sim)
{
    return &sim->report;
}

void cr_sim_set_stop(cr_sim* sim, const volatile int* stop)
{
    sim->stop = stop;
}

void cr_sim_keep(cr_sim* sim, int32_t keep)
{
    sim->keeps = keep;
}

carom_status cr_sim_record(const cr_sim* sim, cr_record* record)
{
    record->step = sim->state.step - 1;
    record->time = (double)record->step * sim->model->world.dt;
    carom_status status = cr_record_append(record, &sim->earlier);
    for (int32_t i = 0; i < sim->island.count && status == CAROM_OK; i++) {
        status = cr_record_append(record, &sim->island.items[i].record);
    }
    return status;
}

int32_t cr_sim_contacts(const cr_sim* sim, const cr_contact** contacts)
{
    *contacts = sim->contact.items;
    return sim->contact.count;
}

double* cr_sim_force(cr_sim* sim)
{
    return sim->force;
}

double* cr_sim_torque(cr_sim* sim)
{
    return sim->torque;
}

double* cr_sim_node_force(cr_sim* sim)
{
    return sim->node_force;
}

void cr_sim_drive(cr_sim* sim, const unsigned char* frame, const unsigned char* node)
{
    memcpy(sim->driven, frame, (size_t)sim->model->bodies.frame_count);
    memcpy(sim->node_driven, node, (size_t)sim->model->bodies.node_count);
    sim->drives = 0;
    for (int32_t f = 0; f < sim->model->bodies.frame_count; f++) {
        sim->drives |= frame[f];
    }
    for (int32_t n = 0; n < sim->model->bodies.node_count; n++) {
        sim->drives |= node[n];
    }
}

int cr_sim_is_driven(const cr_sim* sim)
{
    return sim->drives != 0;
}
