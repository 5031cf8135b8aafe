#include "sim/state.h"
#include "core/memory.h"
#include "math/quat.h"
#include <string.h>

static carom_status take(cr_state* state, int32_t frame_count, int32_t node_count)
{
    const size_t f = (size_t)frame_count, n = (size_t)node_count;
    *state = (cr_state){.frame_count = frame_count, .node_count = node_count};
    state->t = cr_memory_take(3 * f, sizeof(double));
    state->q = cr_memory_take(4 * f, sizeof(double));
    state->v = cr_memory_take(3 * f, sizeof(double));
    state->om = cr_memory_take(3 * f, sizeof(double));
    state->x = cr_memory_take(3 * n, sizeof(double));
    state->xv = cr_memory_take(3 * n, sizeof(double));
    if (!state->t || !state->q || !state->v || !state->om || !state->x || !state->xv) {
        cr_state_release(state);
        return CAROM_ERR_MEMORY;
    }
    return CAROM_OK;
}

carom_status cr_state_init(cr_state* state, const cr_model* model)
{
    const carom_status status = take(state, model->bodies.frame_count, model->bodies.node_count);
    if (status == CAROM_OK) {
        cr_state_restart(state, model);
    }
    return status;
}

void cr_state_restart(cr_state* state, const cr_model* model)
{
    const size_t f = (size_t)model->bodies.frame_count, n = (size_t)model->bodies.node_count;
    memcpy(state->t, model->t0, 3 * f * sizeof(double));
    memcpy(state->q, model->q0, 4 * f * sizeof(double));
    memcpy(state->v, model->v0, 3 * f * sizeof(double));
    memcpy(state->om, model->om0, 3 * f * sizeof(double));
    memcpy(state->x, model->x0, 3 * n * sizeof(double));
    memcpy(state->xv, model->xv0, 3 * n * sizeof(double));
    state->memory.count = 0;
    state->step = 0;
    state->time = 0.0;
}

carom_status cr_state_copy(cr_state* to, const cr_state* from)
{
    if (!to->t) {
        const carom_status status = take(to, from->frame_count, from->node_count);
        if (status != CAROM_OK) {
            return status;
        }
    }
    if (!cr_array_reserve(&to->memory, from->memory.count)) {
        return CAROM_ERR_MEMORY;
    }
    const size_t f = (size_t)from->frame_count, n = (size_t)from->node_count;
    memcpy(to->t, from->t, 3 * f * sizeof(double));
    memcpy(to->q, from->q, 4 * f * sizeof(double));
    memcpy(to->v, from->v, 3 * f * sizeof(double));
    memcpy(to->om, from->om, 3 * f * sizeof(double));
    memcpy(to->x, from->x, 3 * n * sizeof(double));
    memcpy(to->xv, from->xv, 3 * n * sizeof(double));
    if (from->memory.count > 0) {
        memcpy(to->memory.items, from->memory.items,
               (size_t)from->memory.count * sizeof(cr_contact_memory));
    }
    to->memory.count = from->memory.count;
    to->step = from->step;
    to->time = from->time;
    return CAROM_OK;
}

void cr_state_release(cr_state* state)
{
    cr_memory_free(state->t);
    cr_memory_free(state->q);
    cr_memory_free(state->v);
    cr_memory_free(state->om);
    cr_memory_free(state->x);
    cr_memory_free(state->xv);
    cr_array_release(&state->memory);
    *state = (cr_state){0};
}

static uint64_t hash_bytes(uint64_t hash, const void* data, size_t size)
{
    const unsigned char* bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

uint64_t cr_state_hash(const cr_state* state)
{
    const size_t f = (size_t)state->frame_count, n = (size_t)state->node_count;
    uint64_t hash = 0xcbf29ce484222325u;
    hash = hash_bytes(hash, &state->step, sizeof state->step);
    hash = hash_bytes(hash, &state->time, sizeof state->time);
    hash = hash_bytes(hash, state->t, 3 * f * sizeof(double));
    hash = hash_bytes(hash, state->q, 4 * f * sizeof(double));
    hash = hash_bytes(hash, state->v, 3 * f * sizeof(double));
    hash = hash_bytes(hash, state->om, 3 * f * sizeof(double));
    hash = hash_bytes(hash, state->x, 3 * n * sizeof(double));
    hash = hash_bytes(hash, state->xv, 3 * n * sizeof(double));
    for (int32_t i = 0; i < state->memory.count; i++) {
        hash = hash_bytes(hash, &state->memory.items[i].key, sizeof state->memory.items[i].key);
        hash = hash_bytes(hash, &state->memory.items[i].force, sizeof(double));
        hash = hash_bytes(hash, &state->memory.items[i].dual, sizeof(cr_vec3));
    }
    return hash;
}

uint64_t cr_state_contacts(const cr_state* state)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int32_t i = 0; i < state->memory.count; i++) {
        hash = hash_bytes(hash, &state->memory.items[i].key, sizeof state->memory.items[i].key);
    }
    return hash;
}

static int equal_memory(const cr_contact_memory* a, const cr_contact_memory* b)
{
    return memcmp(&a->key, &b->key, sizeof a->key) == 0 &&
           memcmp(&a->force, &b->force, sizeof a->force) == 0 &&
           memcmp(&a->dual, &b->dual, sizeof a->dual) == 0;
}

int cr_state_equal(const cr_state* a, const cr_state* b)
{
    const size_t f = (size_t)a->frame_count, n = (size_t)a->node_count;
    int equal = a->frame_count == b->frame_count && a->node_count == b->node_count &&
                a->step == b->step && memcmp(&a->time, &b->time, sizeof a->time) == 0 &&
                a->memory.count == b->memory.count;
    equal = equal && memcmp(a->t, b->t, 3 * f * sizeof(double)) == 0 &&
            memcmp(a->q, b->q, 4 * f * sizeof(double)) == 0 &&
            memcmp(a->v, b->v, 3 * f * sizeof(double)) == 0 &&
            memcmp(a->om, b->om, 3 * f * sizeof(double)) == 0 &&
            memcmp(a->x, b->x, 3 * n * sizeof(double)) == 0 &&
            memcmp(a->xv, b->xv, 3 * n * sizeof(double)) == 0;
    for (int32_t i = 0; equal && i < a->memory.count; i++) {
        equal = equal_memory(&a->memory.items[i], &b->memory.items[i]);
    }
    return equal;
}

size_t cr_state_bytes(const cr_state* state)
{
    return sizeof *state +
           (13 * (size_t)state->frame_count + 6 * (size_t)state->node_count) * sizeof(double) +
           (size_t)state->memory.count * sizeof(cr_contact_memory);
}

void cr_state_vertices(const cr_state* state, const cr_model* model, double* x)
{
    const cr_body_set* bodies = &model->bodies;
    for (int32_t b = 0; b < bodies->body_count; b++) {
        const int32_t f = bodies->frame[b];
        const cr_mat3 r =
            f >= 0 ? cr_quat_to_matrix(cr_quat_load(state->q + 4 * f)) : cr_mat3_identity();
        for (int32_t v = bodies->vertex[b]; v < bodies->vertex[b + 1]; v++) {
            const cr_vec3 at = f >= 0
                                   ? cr_vec3_add(cr_mat3_apply(r, cr_vec3_load(bodies->p + 3 * v)),
                                                 cr_vec3_load(state->t + 3 * f))
                                   : cr_vec3_load(state->x + 3 * bodies->node[v]);
            cr_vec3_store(x + 3 * v, at);
        }
    }
}

cr_energy cr_state_energy(const cr_state* state, const cr_model* model)
{
    const cr_body_set* bodies = &model->bodies;
    const cr_vec3 g = cr_vec3_load(model->world.gravity);
    cr_energy energy = {0};
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        const double m = bodies->mass[f];
        if (m == 0.0) {
            continue;
        }
        energy.kinetic += 0.5 * m * cr_vec3_norm2(cr_vec3_load(state->v + 3 * f));
        for (int i = 0; i < 3; i++) {
            const double om = state->om[3 * f + i];
            energy.kinetic += 0.5 * bodies->inertia[3 * f + i] * om * om;
        }
        energy.potential -= m * cr_vec3_dot(g, cr_vec3_load(state->t + 3 * f));
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (bodies->node_pinned[n]) {
            continue;
        }
        const double m = bodies->node_mass[n];
        energy.kinetic += 0.5 * m * cr_vec3_norm2(cr_vec3_load(state->xv + 3 * n));
        energy.potential -= m * cr_vec3_dot(g, cr_vec3_load(state->x + 3 * n));
    }
    for (int32_t s = 0; s < model->sheet_count; s++) {
        energy.elastic += cr_cloth_energy(&model->sheet[s], &model->material[s], NULL,
                                          state->x + 3 * model->sheet_node[s]);
    }
    return energy;
}

void cr_state_momentum(const cr_state* state, const cr_model* model, cr_vec3* linear,
                       cr_vec3* angular)
{
    const cr_body_set* bodies = &model->bodies;
    *linear = *angular = (cr_vec3){0, 0, 0};
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        const cr_vec3 p = cr_vec3_scale(bodies->mass[f], cr_vec3_load(state->v + 3 * f));
        const cr_vec3 spin = {bodies->inertia[3 * f] * state->om[3 * f],
                              bodies->inertia[3 * f + 1] * state->om[3 * f + 1],
                              bodies->inertia[3 * f + 2] * state->om[3 * f + 2]};
        const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(state->q + 4 * f));
        *linear = cr_vec3_add(*linear, p);
        *angular = cr_vec3_add(*angular, cr_mat3_apply(r, spin));
        *angular = cr_vec3_add(*angular, cr_vec3_cross(cr_vec3_load(state->t + 3 * f), p));
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (bodies->node_pinned[n]) {
            continue;
        }
        const cr_vec3 p = cr_vec3_scale(bodies->node_mass[n], cr_vec3_load(state->xv + 3 * n));
        *linear = cr_vec3_add(*linear, p);
        *angular = cr_vec3_add(*angular, cr_vec3_cross(cr_vec3_load(state->x + 3 * n), p));
    }
}
