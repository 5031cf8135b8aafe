#include "adjoint/gradient.h"
#include "core/memory.h"
#include <string.h>

// Every array with its length, in one place: what is taken, zeroed and freed is this list.
typedef struct part {
    void** at;
    size_t count, size;
} part;

enum { PARTS = 24 };

static void list_parts(cr_gradient* g, part out[PARTS])
{
    const size_t f = (size_t)g->frame_count, n = (size_t)g->node_count;
    const size_t v = (size_t)g->vertex_count, b = (size_t)g->body_count;
    const part parts[PARTS] = {
        {(void**)&g->start.t, f, sizeof(cr_vec3)},
        {(void**)&g->start.q, f, sizeof(cr_vec3)},
        {(void**)&g->start.v, f, sizeof(cr_vec3)},
        {(void**)&g->start.om, f, sizeof(cr_vec3)},
        {(void**)&g->start.x, n, sizeof(cr_vec3)},
        {(void**)&g->start.xv, n, sizeof(cr_vec3)},
        {(void**)&g->mass, f, sizeof(double)},
        {(void**)&g->inertia, 3 * f, sizeof(double)},
        {(void**)&g->node_mass, n, sizeof(double)},
        {(void**)&g->friction, b, sizeof(double)},
        {(void**)&g->restitution, b, sizeof(double)},
        {(void**)&g->radius, b, sizeof(double)},
        {(void**)&g->width, b, sizeof(double)},
        {(void**)&g->stiffness, b, sizeof(double)},
        {(void**)&g->linear_damping, b, sizeof(double)},
        {(void**)&g->angular_damping, b, sizeof(double)},
        {(void**)&g->p, v, sizeof(cr_vec3)},
        {(void**)&g->own_turn, f, sizeof(cr_vec3)},
        {(void**)&g->own_shift, f, sizeof(cr_vec3)},
        {(void**)&g->force, f, sizeof(cr_vec3)},
        {(void**)&g->torque, f, sizeof(cr_vec3)},
        {(void**)&g->node_force, n, sizeof(cr_vec3)},
        {(void**)&g->shift, v, sizeof(cr_vec3)},
        {(void**)&g->material, (size_t)g->sheet_count, sizeof(cr_cloth_material)},
    };
    memcpy(out, parts, sizeof parts);
}

// ---- bars of a state

enum { BARS = 6 };

static void list_bars(cr_state_bars* bars, cr_vec3** out[BARS])
{
    cr_vec3** const all[BARS] = {&bars->t, &bars->q, &bars->v, &bars->om, &bars->x, &bars->xv};
    memcpy(out, all, sizeof all);
}

static size_t bars_length(const cr_model* model, int i)
{
    return (size_t)(i < 4 ? model->bodies.frame_count : model->bodies.node_count);
}

carom_status cr_gradient_bars_init(cr_state_bars* bars, const cr_model* model)
{
    cr_vec3** all[BARS];
    list_bars(bars, all);
    *bars = (cr_state_bars){0};
    for (int i = 0; i < BARS; i++) {
        *all[i] = cr_memory_take(bars_length(model, i), sizeof(cr_vec3));
        if (!*all[i]) {
            cr_gradient_bars_release(bars);
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

void cr_gradient_bars_zero(cr_state_bars* bars, const cr_model* model)
{
    cr_vec3** all[BARS];
    list_bars(bars, all);
    for (int i = 0; i < BARS; i++) {
        memset(*all[i], 0, bars_length(model, i) * sizeof(cr_vec3));
    }
}

void cr_gradient_bars_add(cr_state_bars* to, const cr_state_bars* from, const cr_model* model)
{
    cr_vec3 **all[BARS], **more[BARS];
    cr_state_bars source = *from;
    list_bars(to, all);
    list_bars(&source, more);
    for (int i = 0; i < BARS; i++) {
        for (size_t k = 0; k < bars_length(model, i); k++) {
            (*all[i])[k] = cr_vec3_add((*all[i])[k], (*more[i])[k]);
        }
    }
}

void cr_gradient_bars_release(cr_state_bars* bars)
{
    cr_vec3** all[BARS];
    list_bars(bars, all);
    for (int i = 0; i < BARS; i++) {
        cr_memory_free(*all[i]);
    }
    *bars = (cr_state_bars){0};
}

// ---- the whole

static cr_gradient counts_of(const cr_model* model)
{
    return (cr_gradient){.frame_count = model->bodies.frame_count,
                         .node_count = model->bodies.node_count,
                         .vertex_count = model->bodies.vertex_count,
                         .body_count = model->bodies.body_count,
                         .sheet_count = model->sheet_count,
                         .script_count = model->script_count};
}

carom_status cr_gradient_init(cr_gradient* g, const cr_model* model)
{
    *g = counts_of(model);
    part parts[PARTS];
    list_parts(g, parts);
    int ok = 1;
    for (int i = 0; i < PARTS && ok; i++) {
        *parts[i].at = cr_memory_take(parts[i].count, parts[i].size);
        ok = *parts[i].at != NULL;
    }
    g->corner = cr_memory_take((size_t)g->sheet_count, sizeof(double*));
    ok = ok && g->corner;
    for (int32_t s = 0; s < g->sheet_count && ok; s++) {
        g->corner[s] = cr_memory_take(6 * (size_t)model->sheet[s].face_count, sizeof(double));
        ok = g->corner[s] != NULL;
    }
    g->key_shift = cr_memory_take((size_t)g->script_count, sizeof(double*));
    g->key_turn = cr_memory_take((size_t)g->script_count, sizeof(double*));
    ok = ok && g->key_shift && g->key_turn;
    for (int32_t i = 0; i < g->script_count && ok; i++) {
        const size_t keys = (size_t)model->script[i].key_count;
        g->key_shift[i] = cr_memory_take(3 * keys, sizeof(double));
        g->key_turn[i] = cr_memory_take(3 * keys, sizeof(double));
        ok = g->key_shift[i] && g->key_turn[i];
    }
    if (!ok) {
        cr_gradient_release(g);
        return CAROM_ERR_MEMORY;
    }
    return CAROM_OK;
}

void cr_gradient_zero(cr_gradient* g, const cr_model* model)
{
    part parts[PARTS];
    list_parts(g, parts);
    for (int i = 0; i < PARTS; i++) {
        memset(*parts[i].at, 0, parts[i].count * parts[i].size);
    }
    for (int32_t s = 0; s < g->sheet_count; s++) {
        memset(g->corner[s], 0, 6 * (size_t)model->sheet[s].face_count * sizeof(double));
    }
    for (int32_t i = 0; i < g->script_count; i++) {
        const size_t keys = (size_t)model->script[i].key_count;
        memset(g->key_shift[i], 0, 3 * keys * sizeof(double));
        memset(g->key_turn[i], 0, 3 * keys * sizeof(double));
    }
    memset(g->gravity, 0, sizeof g->gravity);
    memset(g->wind, 0, sizeof g->wind);
}

void cr_gradient_release(cr_gradient* g)
{
    part parts[PARTS];
    list_parts(g, parts);
    for (int i = 0; i < PARTS; i++) {
        cr_memory_free(*parts[i].at);
    }
    for (int32_t s = 0; g->corner && s < g->sheet_count; s++) {
        cr_memory_free(g->corner[s]);
    }
    for (int32_t i = 0; g->key_shift && g->key_turn && i < g->script_count; i++) {
        cr_memory_free(g->key_shift[i]);
        cr_memory_free(g->key_turn[i]);
    }
    cr_memory_free(g->corner);
    cr_memory_free(g->key_shift);
    cr_memory_free(g->key_turn);
    *g = (cr_gradient){0};
}

size_t cr_gradient_bytes(const cr_model* model)
{
    cr_gradient g = counts_of(model);
    part parts[PARTS];
    list_parts(&g, parts);
    size_t sum = sizeof g;
    for (int i = 0; i < PARTS; i++) {
        sum += parts[i].count * parts[i].size;
    }
    for (int32_t s = 0; s < g.sheet_count; s++) {
        sum += 6 * (size_t)model->sheet[s].face_count * sizeof(double);
    }
    for (int32_t i = 0; i < g.script_count; i++) {
        sum += 6 * (size_t)model->script[i].key_count * sizeof(double);
    }
    return sum;
}
