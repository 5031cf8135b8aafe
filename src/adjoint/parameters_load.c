#include "adjoint/parameters_inside.h"
#include "core/memory.h"

static int is_load(int32_t what)
{
    return what == CR_GOAL_OF_FORCE || what == CR_GOAL_OF_FORCES || what == CR_GOAL_OF_TORQUE ||
           what == CR_GOAL_OF_TORQUES;
}

static int is_torque(const cr_parameters_slot* slot)
{
    return slot->what == CR_GOAL_OF_TORQUE || slot->what == CR_GOAL_OF_TORQUES;
}

// Three numbers in all, or three per step.
static int is_constant(const cr_parameters_slot* slot)
{
    return slot->what == CR_GOAL_OF_FORCE || slot->what == CR_GOAL_OF_TORQUE;
}

static int64_t numbers(const cr_parameters* p, const cr_parameters_slot* slot, int64_t usual)
{
    return is_constant(slot) ? usual : 3 * p->steps;
}

carom_status cr_parameters_load_add(cr_parameters* p)
{
    cr_model* m = p->model;
    int32_t more = 0;
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_goal_parameter* g = &p->goal->parameter[i];
        if (is_load(g->what)) {
            const int32_t sheet = m->body_sheet[g->body];
            more += sheet >= 0 ? m->sheet[sheet].node_count : 1;
        }
    }
    cr_load* grown = cr_memory_grow(m->load, (size_t)m->load_count,
                                    (size_t)m->load_count + (size_t)more, sizeof *grown);
    if (!grown) {
        return CAROM_ERR_MEMORY;
    }
    m->load = grown;
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_goal_parameter* g = &p->goal->parameter[i];
        p->load[i] = -1;
        if (!is_load(g->what)) {
            continue;
        }
        p->load[i] = m->load_count;
        const int32_t sheet = m->body_sheet[g->body];
        const int32_t count = sheet >= 0 ? m->sheet[sheet].node_count : 1;
        for (int32_t k = 0; k < count; k++) {
            cr_load* load = &m->load[m->load_count++];
            *load = (cr_load){.body = g->body,
                              .node = sheet >= 0 ? m->sheet_node[sheet] + k : -1,
                              .step_count = p->slot[i].count / 3};
            load->force = cr_memory_take((size_t)p->slot[i].count, sizeof(double));
            load->torque =
                sheet < 0 ? cr_memory_take((size_t)p->slot[i].count, sizeof(double)) : NULL;
            if (!load->force || (sheet < 0 && !load->torque)) {
                return CAROM_ERR_MEMORY;
            }
        }
    }
    return CAROM_OK;
}

// The constant forces that act on a frame, or those that change, by step; and the same of torques.
static void scene(const cr_parameters* p, const cr_parameters_slot* slot, double* out)
{
    const cr_model* m = p->scene;
    const int torque = is_torque(slot), constant = is_constant(slot);
    for (int32_t i = 0; i < m->load_count; i++) {
        const cr_load* load = &m->load[i];
        const double* from = torque ? load->torque : load->force;
        if (load->body != slot->body || load->node >= 0 || !from ||
            (load->step_count == 1) != constant) {
            continue;
        }
        for (int64_t k = 0; k < (constant ? 1 : p->steps); k++) {
            const int64_t at = k < load->step_count ? k : load->step_count - 1;
            cr_vec3_accumulate(out + 3 * k, cr_vec3_load(from + 3 * at));
        }
    }
}

// Its own loads hold what theta has beyond the scene.
static carom_status write(cr_parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    const int torque = is_torque(slot);
    const int32_t first = p->load[slot - p->slot];
    const int32_t sheet = p->model->body_sheet[slot->body];
    const int32_t count = sheet >= 0 ? p->model->sheet[sheet].node_count : 1;
    for (int32_t l = first; l < first + count; l++) {
        double* out = torque ? p->model->load[l].torque : p->model->load[l].force;
        for (int32_t k = 0; k < slot->count; k++) {
            out[k] = theta[k] - p->origin[slot->first + k];
        }
    }
    return CAROM_OK;
}

void cr_parameters_load_gather(const cr_parameters* p, const cr_parameters_slot* slot,
                               const cr_gradient* g, double* out)
{
    const cr_model* m = p->model;
    const int32_t f = m->bodies.frame[slot->body];
    if (f >= 0) {
        cr_vec3_accumulate(out, is_torque(slot) ? g->torque[f] : g->force[f]);
        return;
    }
    int32_t from, to;
    cr_parameters_sheet_nodes(m, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) { // a driven node's is the bar of its velocity
        if (!m->bodies.node_pinned[n]) {
            cr_vec3_accumulate(out, g->node_force[n]);
        }
    }
}

static void gather(cr_parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                   double* out)
{
    if (is_constant(slot)) { // the others are gathered step by step
        cr_parameters_load_gather(p, slot, g, out);
    }
}

static void spread(cr_parameters* p, const cr_parameters_slot* slot, const double* d,
                   cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t f = m->bodies.frame[slot->body];
    if (!is_constant(slot)) {
        return;
    }
    if (f >= 0) {
        cr_vec3* at = is_torque(slot) ? &g->torque[f] : &g->force[f];
        *at = cr_vec3_add(*at, cr_vec3_load(d));
        return;
    }
    int32_t from, to;
    cr_parameters_sheet_nodes(m, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        if (!m->bodies.node_pinned[n]) {
            g->node_force[n] = cr_vec3_add(g->node_force[n], cr_vec3_load(d));
        }
    }
}

const cr_parameters_kind cr_parameters_load_kind = {
    .numbers = numbers,
    .scene = scene,
    .write = write,
    .gather = gather,
    .spread = spread,
};
