#include "adjoint/parameters_inside.h"
#include <string.h>

// Scripts of a body: of a frame its own, of cloth those of its pins, ascending.
static int has_script(const cr_model* m, int32_t body, int32_t script)
{
    const int32_t f = m->bodies.frame[body];
    if (f >= 0) {
        return m->frame_script[f] == script;
    }
    int32_t from, to;
    cr_parameters_sheet_nodes(m, body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        if (m->node_script[n] == script) {
            return 1;
        }
    }
    return 0;
}

// Three numbers per key for the shift, and of a frame three for the turn.
static int64_t numbers(const cr_parameters* p, const cr_parameters_slot* slot, int64_t usual)
{
    const cr_model* m = p->scene;
    const int32_t per_key = m->bodies.frame[slot->body] >= 0 ? 6 : 3;
    int64_t count = 0;
    (void)usual;
    for (int32_t s = 0; s < m->script_count; s++) {
        count += has_script(m, slot->body, s) ? per_key * m->script[s].key_count : 0;
    }
    return count;
}

static void scene(const cr_parameters* p, const cr_parameters_slot* slot, double* out)
{
    const cr_model* m = p->scene;
    for (int32_t s = 0; s < m->script_count; s++) {
        for (int32_t k = 0; has_script(m, slot->body, s) && k < m->script[s].key_count; k++) {
            memcpy(out, m->script[s].shift + 3 * (size_t)k, 3 * sizeof(double));
            out += 3;
            if (m->bodies.frame[slot->body] >= 0) {
                memcpy(out, m->script[s].turn + 3 * (size_t)k, 3 * sizeof(double));
                out += 3;
            }
        }
    }
}

static carom_status write(cr_parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    for (int32_t s = 0; s < m->script_count; s++) {
        for (int32_t k = 0; has_script(m, slot->body, s) && k < m->script[s].key_count; k++) {
            memcpy(m->script[s].shift + 3 * (size_t)k, theta, 3 * sizeof(double));
            theta += 3;
            if (m->bodies.frame[slot->body] >= 0) {
                memcpy(m->script[s].turn + 3 * (size_t)k, theta, 3 * sizeof(double));
                theta += 3;
            }
        }
    }
    return CAROM_OK;
}

static void gather(cr_parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                   double* out)
{
    const cr_model* m = p->model;
    for (int32_t s = 0; s < m->script_count; s++) {
        for (int32_t k = 0; has_script(m, slot->body, s) && k < m->script[s].key_count; k++) {
            cr_vec3_accumulate(out, cr_vec3_load(g->key_shift[s] + 3 * (size_t)k));
            out += 3;
            if (m->bodies.frame[slot->body] >= 0) {
                cr_vec3_accumulate(out, cr_vec3_load(g->key_turn[s] + 3 * (size_t)k));
                out += 3;
            }
        }
    }
}

static void spread(cr_parameters* p, const cr_parameters_slot* slot, const double* d,
                   cr_gradient* g)
{
    const cr_model* m = p->model;
    for (int32_t s = 0; s < m->script_count; s++) {
        for (int32_t k = 0; has_script(m, slot->body, s) && k < m->script[s].key_count; k++) {
            cr_vec3_accumulate(g->key_shift[s] + 3 * (size_t)k, cr_vec3_load(d));
            d += 3;
            if (m->bodies.frame[slot->body] >= 0) {
                cr_vec3_accumulate(g->key_turn[s] + 3 * (size_t)k, cr_vec3_load(d));
                d += 3;
            }
        }
    }
}

const cr_parameters_kind cr_parameters_script_kind = {
    .numbers = numbers,
    .scene = scene,
    .write = write,
    .gather = gather,
    .spread = spread,
};
