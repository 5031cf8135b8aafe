#include "adjoint/backward.h"
#include "adjoint/backward_inside.h"
#include "bodies/spin_held.h"
#include "contact/newton_adj.h"
#include "contact/zone_adj.h"
#include "core/memory.h"
#include "dynamics/targets.h"
#include "math/rot.h"
#include "sim/pair_law.h"
#include "sim/sim_inside.h"
#include "sim/substep.h"
#include <string.h>

struct cr_backward {
    const cr_model* model;
    cr_zone_bars zone; // arrays as long as the scene; those of the members are zeroed for each part
    cr_vec3 *v1, *om1; // [frame_count] bars of the targets' velocities
    cr_worker worker;
    CR_ARRAY(cr_candidate) candidate;
    CR_ARRAY(double) lam;
    CR_ARRAY(cr_zone_row_bars) row;
    CR_ARRAY(cr_newton_row_bars) contact;
    CR_ARRAY(cr_newton_recalled) recalled;
    // of impacts
    cr_vec3 *q, *t, *v, *om, *a, *torque, *rate; // [frame_count]
    // of the energy balance
    cr_vec3 *v0, *om_free, *pull, *way, *spin; // [frame_count]
    cr_vec3 *node_x0, *node_d, *node_v0;       // [node_count]
    CR_ARRAY(double) lam_bar;                  // by row
    CR_ARRAY(double) eps_bar;
    CR_ARRAY(double) room_bar;
};

carom_status cr_backward_create(const cr_model* model, cr_backward** out)
{
    const size_t f = (size_t)model->bodies.frame_count, n = (size_t)model->bodies.node_count;
    const size_t v = (size_t)model->bodies.vertex_count;
    cr_backward* b = cr_memory_take(1, sizeof *b);
    *out = NULL;
    if (!b) {
        return CAROM_ERR_MEMORY;
    }
    b->model = model;
    cr_vec3** const frames[] = {
        &b->zone.w, &b->zone.u, &b->zone.r0, &b->zone.t0, &b->zone.rp, &b->zone.ut, &b->zone.turn,
        &b->v1,     &b->om1,    &b->q,       &b->t,       &b->v,       &b->om,      &b->a,
        &b->torque, &b->v0,     &b->om_free, &b->pull,    &b->way,     &b->spin,    &b->rate};
    cr_vec3** const nodes[] = {&b->zone.d,  &b->zone.x0, &b->zone.dt, &b->zone.v0,
                               &b->node_x0, &b->node_d,  &b->node_v0};
    int ok = 1;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        *frames[i] = cr_memory_take(f, sizeof(cr_vec3));
        ok = ok && *frames[i];
    }
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        *nodes[i] = cr_memory_take(n, sizeof(cr_vec3));
        ok = ok && *nodes[i];
    }
    b->zone.obstacle0 = cr_memory_take(v, sizeof(cr_vec3));
    b->zone.obstacle1 = cr_memory_take(v, sizeof(cr_vec3));
    ok = ok && b->zone.obstacle0 && b->zone.obstacle1;
    if (ok) {
        ok = cr_zone_create(&b->worker.zone) == CAROM_OK &&
             cr_newton_create(&b->worker.newton) == CAROM_OK &&
             cr_events_create(&b->worker.events) == CAROM_OK;
    }
    const int32_t gradient = model->world.zone_gradient;
    carom_status status = ok ? cr_zone_adj_ready(b->worker.zone, gradient) : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        status = cr_newton_adj_ready(b->worker.newton, gradient);
    }
    if (status != CAROM_OK) {
        cr_backward_destroy(b);
        return status;
    }
    *out = b;
    return CAROM_OK;
}

void cr_backward_destroy(cr_backward* b)
{
    if (!b) {
        return;
    }
    void* const blocks[] = {b->zone.w,
                            b->zone.u,
                            b->zone.r0,
                            b->zone.t0,
                            b->zone.rp,
                            b->zone.ut,
                            b->zone.turn,
                            b->v1,
                            b->om1,
                            b->zone.d,
                            b->zone.x0,
                            b->zone.dt,
                            b->zone.v0,
                            b->zone.obstacle0,
                            b->zone.obstacle1,
                            b->q,
                            b->t,
                            b->v,
                            b->om,
                            b->a,
                            b->torque,
                            b->v0,
                            b->om_free,
                            b->pull,
                            b->way,
                            b->spin,
                            b->rate,
                            b->node_x0,
                            b->node_d,
                            b->node_v0};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
    cr_zone_destroy(b->worker.zone);
    cr_newton_destroy(b->worker.newton);
    cr_events_destroy(b->worker.events);
    cr_array_release(&b->worker.frame);
    cr_array_release(&b->worker.sheet);
    cr_array_release(&b->worker.warm);
    cr_array_release(&b->worker.balance);
    cr_array_release(&b->worker.sheet_scratch);
    cr_array_release(&b->worker.clump_of);
    cr_array_release(&b->worker.clump);
    cr_array_release(&b->candidate);
    cr_array_release(&b->lam);
    cr_array_release(&b->row);
    cr_array_release(&b->contact);
    cr_array_release(&b->recalled);
    cr_array_release(&b->lam_bar);
    cr_array_release(&b->eps_bar);
    cr_array_release(&b->room_bar);
    cr_memory_free(b);
}

carom_status cr_backward_recall(cr_worker* worker, cr_sim* sim, const cr_record* record,
                                const cr_record_part* part)
{
    const cr_model* model = sim->model;
    worker->frame.count = worker->sheet.count = 0;
    for (int32_t i = part->frame_begin; i < part->frame_end; i++) {
        const cr_record_frame* frame = &record->frame.items[i];
        const int32_t f = frame->frame;
        cr_vec3_store(sim->next.t + 3 * f, frame->t);
        cr_quat_store(sim->next.q + 4 * f, frame->q);
        cr_vec3_store(sim->next.v + 3 * f, frame->v);
        cr_vec3_store(sim->next.om + 3 * f, frame->om);
        sim->force_now[f] = frame->force;
        sim->torque_now[f] = frame->torque;
        if (!cr_array_push(&worker->frame, f)) {
            return CAROM_ERR_MEMORY;
        }
    }
    int32_t at = part->node_begin;
    for (int32_t i = part->sheet_begin; i < part->sheet_end; i++) {
        const int32_t s = record->sheet.items[i];
        for (int32_t n = model->sheet_node[s]; n < model->sheet_node[s + 1]; n++, at++) {
            cr_vec3_store(sim->next.x + 3 * n, record->node.items[at].x);
            cr_vec3_store(sim->next.xv + 3 * n, record->node.items[at].v);
            sim->node_force_now[n] = record->node.items[at].force;
        }
        if (!cr_array_push(&worker->sheet, s)) {
            return CAROM_ERR_MEMORY;
        }
    }
    cr_island_aim(sim, worker, part->h, NULL);
    if (part->impact_end > part->impact_begin) {
        const cr_events_task task = cr_island_events(sim, worker, part->h, part->from, part->to);
        const unsigned char* end;
        const carom_status status =
            cr_events_load(worker->events, &task, record->impact.items + part->impact_begin, &end);
        if (status != CAROM_OK) {
            return status;
        }
    }
    for (int32_t i = part->frame_begin; i < part->frame_end; i++) {
        sim->motion.w[record->frame.items[i].frame] = record->frame.items[i].w;
        sim->motion.u[record->frame.items[i].frame] = record->frame.items[i].u;
    }
    at = part->node_begin;
    for (int32_t i = part->sheet_begin; i < part->sheet_end; i++) {
        const int32_t s = record->sheet.items[i];
        for (int32_t n = model->sheet_node[s]; n < model->sheet_node[s + 1]; n++, at++) {
            sim->motion.d[n] = record->node.items[at].d;
        }
    }
    return CAROM_OK;
}

int cr_backward_balance(cr_worker* worker, const cr_sim* sim, const cr_record* record,
                        const cr_record_part* part)
{
    const int32_t count = part->row_end - part->row_begin;
    carom_status status = CAROM_OK;
    worker->bounced = part->bounced;
    if (!cr_island_balance_open(sim, worker, &status) || count == 0) {
        return status == CAROM_OK ? 0 : -1;
    }
    if (!cr_array_reserve(&worker->balance, count)) {
        return -1;
    }
    for (int32_t i = 0; i < count; i++) {
        const cr_record_row* row = &record->row.items[part->row_begin + i];
        if (!cr_island_balance_row(sim->model, &row->candidate, -1, row->lam,
                                   &worker->balance.items[i])) {
            return 0;
        }
    }
    worker->balance.count = count;
    return cr_island_balance_close(sim, worker);
}

// Reverse of the energy balance, which has the last word on the velocities of a part: bars->v and
// om, and xv of nodes, become those of what the zone left. What start and targets feel of it waits
// in v0, om_free, pull (their acceleration) and way (u), what rows feel in lam_bar, eps_bar and
// room_bar, what nodes feel in node_x0, node_d and node_v0.
static carom_status balance_adj(cr_backward* b, cr_sim* sim, const cr_record* record,
                                const cr_record_part* part, const cr_state_bars* bars,
                                cr_gradient* g)
{
    const cr_vec3 zero = {0, 0, 0};
    const int32_t count = part->row_end - part->row_begin;
    for (int32_t i = 0; i < b->worker.frame.count; i++) {
        const int32_t f = b->worker.frame.items[i];
        b->v0[f] = b->om_free[f] = b->pull[f] = b->way[f] = zero;
    }
    for (int32_t i = 0; i < b->worker.sheet.count; i++) {
        const int32_t s = b->worker.sheet.items[i];
        for (int32_t n = b->model->sheet_node[s]; n < b->model->sheet_node[s + 1]; n++) {
            b->node_x0[n] = b->node_d[n] = b->node_v0[n] = zero;
        }
    }
    if (!cr_array_reserve(&b->lam_bar, count) || !cr_array_reserve(&b->eps_bar, count) ||
        !cr_array_reserve(&b->room_bar, count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < count; i++) {
        b->lam_bar.items[i] = b->eps_bar.items[i] = b->room_bar.items[i] = 0.0;
    }
    const int takes_part = b->model->world.contact == CR_CONTACT_HARD
                               ? cr_backward_balance(&b->worker, sim, record, part)
                               : 0;
    if (takes_part <= 0) {
        return takes_part < 0 ? CAROM_ERR_MEMORY : CAROM_OK;
    }
    cr_island_velocities(sim, &b->worker, part->h);
    const cr_balance_task task = cr_island_balance(sim, &b->worker, part->h);
    double more = 0.0;
    const cr_balance_bars out = {.v = bars->v,
                                 .om = bars->om,
                                 .t = bars->t,
                                 .q = bars->q,
                                 .u = b->way,
                                 .v0 = b->v0,
                                 .om_free = b->om_free,
                                 .a = b->pull,
                                 .mass = g->mass,
                                 .inertia = g->inertia,
                                 .lam = b->lam_bar.items,
                                 .eps = b->eps_bar.items,
                                 .room = b->room_bar.items,
                                 .more = &more,
                                 .spin = b->spin,
                                 .xv = bars->xv,
                                 .x = bars->x,
                                 .node_mass = g->node_mass};
    cr_balance_adj(&task, &out);
    if (more != 0.0 && b->worker.sheet.count > 0) {
        const cr_balance_sheets sheets = cr_island_balance_sheets(sim, &b->worker, part->h);
        const cr_balance_sheet_bars nodes = {.x0 = b->node_x0,
                                             .d = b->node_d,
                                             .v0 = b->node_v0,
                                             .v = bars->xv,
                                             .force = g->node_force,
                                             .node_mass = g->node_mass,
                                             .gravity = g->gravity,
                                             .material = g->material,
                                             .corner = g->corner};
        cr_balance_sheet_adj(&sheets, more, &nodes);
    }
    return CAROM_OK;
}

// Reverse of the update at the end of a part:
//     t' = t0 + u,  v' = v1 + (u - ut)/h,  (R', om') by cr_spin_update;  x' = x0 + d,  v' = d/h.
static void advance_adj(cr_backward* b, const cr_sim* sim, const cr_record_part* part,
                        const cr_state_bars* bars, cr_gradient* g)
{
    const cr_body_set* bodies = &b->model->bodies;
    const cr_vec3 zero = {0, 0, 0};
    const double h = part->h;
    for (int32_t i = 0; i < b->worker.frame.count; i++) {
        const int32_t f = b->worker.frame.items[i];
        const cr_vec3 v_bar = cr_vec3_scale(1.0 / h, bars->v[f]);
        b->zone.t0[f] = bars->t[f];
        b->zone.u[f] = cr_vec3_add(cr_vec3_add(bars->t[f], v_bar), b->way[f]);
        b->zone.ut[f] = cr_vec3_neg(v_bar);
        b->v1[f] = bars->v[f];
        b->zone.rp[f] = b->om1[f] = b->zone.w[f] = b->zone.r0[f] = b->zone.turn[f] = zero;
        cr_vec3 inertia_bar = zero;
        const cr_vec3 inertia = cr_vec3_load(bodies->inertia + 3 * f);
        if (bodies->lock[f] >> 3) {
            cr_spin_held_update_adj(inertia, bodies->lock[f] >> 3, h, sim->q_target[f],
                                    sim->motion.om1[f], sim->motion.w[f], bars->q[f], bars->om[f],
                                    &b->zone.rp[f], &b->om1[f], &b->zone.w[f], &inertia_bar);
        } else {
            cr_spin_update_adj(inertia, h, sim->motion.om1[f], sim->motion.w[f], bars->q[f],
                               bars->om[f], &b->zone.rp[f], &b->om1[f], &b->zone.w[f],
                               &inertia_bar);
        }
        cr_vec3_accumulate(g->inertia + 3 * f, inertia_bar);
    }
    for (int32_t i = 0; i < b->worker.sheet.count; i++) {
        const int32_t s = b->worker.sheet.items[i];
        for (int32_t n = b->model->sheet_node[s]; n < b->model->sheet_node[s + 1]; n++) {
            const cr_vec3 v_bar = cr_vec3_scale(1.0 / h, bars->xv[n]);
            b->zone.dt[n] = b->zone.x0[n] = b->zone.d[n] = zero;
            b->zone.v0[n] = b->node_v0[n];
            if (bodies->node_pinned[n]) { // x' = o0 + to (o1 - o0), v' = (to - from)(o1 - o0)/h
                const int32_t v = bodies->node_vertex[n];
                const double gone = part->to - part->from;
                cr_vec3 end = cr_vec3_add_scaled(cr_vec3_scale(part->to, bars->x[n]), gone, v_bar);
                // what the balance saw of it: from o0 + from (o1 - o0) on, by (to - from)(o1 - o0)
                end = cr_vec3_add_scaled(end, part->from, b->node_x0[n]);
                end = cr_vec3_add_scaled(end, gone, b->node_d[n]);
                const cr_vec3 both = cr_vec3_add(bars->x[n], b->node_x0[n]);
                cr_vec3_accumulate(&b->zone.obstacle1[v].x, end);
                cr_vec3_accumulate(&b->zone.obstacle0[v].x, cr_vec3_sub(both, end));
            } else {
                b->zone.x0[n] = cr_vec3_add(bars->x[n], b->node_x0[n]);
                b->zone.d[n] = cr_vec3_add(cr_vec3_add(bars->x[n], v_bar), b->node_d[n]);
            }
        }
    }
}

double cr_backward_weight(const cr_model* model, int32_t body)
{
    const int32_t sheet = model->body_sheet[body];
    if (sheet < 0) {
        return model->bodies.mass[model->bodies.frame[body]];
    }
    double sum = 0.0;
    for (int32_t n = model->sheet_node[sheet]; n < model->sheet_node[sheet + 1]; n++) {
        sum += model->bodies.node_mass[n];
    }
    return sum;
}

void cr_backward_blur(const cr_model* model, int32_t a, int32_t b, double by[2])
{
    const double ra = model->bodies.radius[a], rb = model->bodies.radius[b];
    const int layers = cr_min(ra, rb) > 0.0; // twice the thinner, else the only one there is
    const double all = layers ? 2.0 : 1.0;
    by[0] = ra == rb ? 0.5 * all : (ra < rb) == layers ? all : 0.0;
    by[1] = all - by[0];
}

cr_pair_sources cr_backward_sources(const cr_gradient* g)
{
    return (cr_pair_sources){.radius = g->radius,
                             .width = g->width,
                             .stiffness = g->stiffness,
                             .friction = g->friction,
                             .mass = g->mass,
                             .node_mass = g->node_mass};
}

// Of hard contacts thickness is the sum of radii unless a pairing says otherwise, friction the
// geometric mean.
static void hard_numbers_adj(const cr_model* model, const cr_candidate* c,
                             const cr_zone_row_bars* in, cr_gradient* g)
{
    const int32_t a = model->bodies.vertex_body[c->pair.v[0]];
    const int32_t b = model->bodies.vertex_body[c->pair.v[3]];
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    const double ra = model->body_sheet[a] >= 0 ? 0.0 : model->bodies.radius[a];
    const double rb = model->body_sheet[b] >= 0 ? 0.0 : model->bodies.radius[b];
    double th_bar = in->thickness + in->room * c->room / c->thickness;
    const double sum = ra + rb;
    if (sum > 0.0) { // lever_a = th ra / sum
        th_bar += (in->lever[0] * ra + in->lever[1] * rb) / sum;
        const double tilt = (in->lever[0] - in->lever[1]) * c->thickness / (sum * sum);
        g->radius[a] += model->body_sheet[a] >= 0 ? 0.0 : tilt * rb;
        g->radius[b] -= model->body_sheet[b] >= 0 ? 0.0 : tilt * ra;
    }
    if (!pairing || (pairing->thickness < 0.0 && pairing->reach < 0.0)) {
        g->radius[a] += th_bar;
        g->radius[b] += th_bar;
    }
    double blur[2];
    cr_backward_blur(model, a, b, blur);
    g->radius[a] += blur[0] * in->blur;
    g->radius[b] += blur[1] * in->blur;
    if ((!pairing || pairing->friction < 0.0) && c->friction > 0.0) {
        g->friction[a] += 0.5 * in->friction * c->friction / model->bodies.friction[a];
        g->friction[b] += 0.5 * in->friction * c->friction / model->bodies.friction[b];
    }
}

// Those of contacts with a width are the pair law's, where they touch too. The compliance goes with
// the heavier body's mass, its room with the thickness.
static void row_numbers_adj(const cr_model* model, const cr_candidate* c,
                            const cr_zone_row_bars* in, cr_gradient* g)
{
    const int32_t a = model->bodies.vertex_body[c->pair.v[0]];
    const int32_t b = model->bodies.vertex_body[c->pair.v[3]];
    if (model->world.contact == CR_CONTACT_BARRIER) {
        const cr_pair_numbers at = cr_pair_numbers_of(c);
        const cr_pair_numbers bar = {.thickness = in->thickness,
                                     .friction = in->friction,
                                     .lever = {in->lever[0], in->lever[1]}};
        const cr_pair_sources to = cr_backward_sources(g);
        cr_pair_law_adj(model, a, b, &at, &bar, &to);
    } else {
        hard_numbers_adj(model, c, in, g);
    }
    const double ma = cr_backward_weight(model, a), mb = cr_backward_weight(model, b);
    const int32_t heavy = ma >= mb ? a : b;
    const double m_bar = -in->compliance * c->compliance / cr_max(ma, mb);
    const int32_t sheet = model->body_sheet[heavy];
    if (sheet < 0) {
        g->mass[model->bodies.frame[heavy]] += m_bar;
    }
    for (int32_t n = sheet < 0 ? 0 : model->sheet_node[sheet];
         sheet >= 0 && n < model->sheet_node[sheet + 1]; n++) {
        g->node_mass[n] += m_bar;
    }
}

// The larger of the two bodies' own; both alike share it.
static void restitution_adj(const cr_model* model, const cr_candidate* c, double bar,
                            cr_gradient* g)
{
    const int32_t a = model->bodies.vertex_body[c->pair.v[0]];
    const int32_t b = model->bodies.vertex_body[c->pair.v[3]];
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    if (pairing && pairing->restitution >= 0.0) {
        return;
    }
    const double ea = model->bodies.restitution[a], eb = model->bodies.restitution[b];
    g->restitution[a] += ea > eb ? bar : ea == eb ? 0.5 * bar : 0.0;
    g->restitution[b] += eb > ea ? bar : ea == eb ? 0.5 * bar : 0.0;
}

static carom_status zone_adj(cr_backward* b, cr_sim* sim, const cr_record* record,
                             const cr_record_part* part, cr_gradient* g)
{
    const int32_t loaded = part->row_end - part->row_begin;
    const int32_t count = part->idle_end - part->row_begin;
    if (!cr_array_reserve(&b->candidate, count) || !cr_array_reserve(&b->lam, 2 * count) ||
        !cr_array_reserve(&b->row, count)) {
        return CAROM_ERR_MEMORY;
    }
    double* say = count > 0 ? b->lam.items + count : NULL;
    for (int32_t i = 0; i < count; i++) {
        b->candidate.items[i] = record->row.items[part->row_begin + i].candidate;
        b->lam.items[i] = record->row.items[part->row_begin + i].lam;
        say[i] = record->row.items[part->row_begin + i].say;
        b->row.items[i] = (cr_zone_row_bars){.lam = 0.0};
        if (i < loaded) {
            b->row.items[i] = (cr_zone_row_bars){.lam = b->lam_bar.items[i],
                                                 .compliance = b->eps_bar.items[i],
                                                 .room = b->room_bar.items[i]};
        }
    }
    cr_zone_task task = cr_island_task(sim, &b->worker, part->h, part->from, part->to);
    task.candidate_count = count;
    task.candidate = b->candidate.items;
    task.idle_count = count - loaded;
    task.crowded = part->crowded;
    task.say = say;
    task.gradient = b->model->world.zone_gradient;
    task.flat = b->model->world.flat_gradient;
    b->zone.mass = g->mass;
    b->zone.inertia = g->inertia;
    b->zone.node_mass = g->node_mass;
    b->zone.p = g->p;
    b->zone.material = g->material;
    b->zone.corner = g->corner;
    b->zone.wind = g->wind;
    const carom_status status =
        cr_zone_adj(b->worker.zone, &task, b->lam.items, &b->zone, b->row.items);
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        row_numbers_adj(b->model, &b->candidate.items[i], &b->row.items[i], g);
    }
    return status;
}

static carom_status contacts_adj(cr_backward* b, cr_sim* sim, const cr_record* record,
                                 const cr_record_part* part, cr_gradient* g)
{
    const cr_model* model = b->model;
    const int32_t count = part->row_end - part->row_begin;
    if (!cr_array_reserve(&b->candidate, count) || !cr_array_reserve(&b->contact, count) ||
        !cr_array_reserve(&b->recalled, count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < count; i++) {
        const cr_record_row* row = &record->row.items[part->row_begin + i];
        b->candidate.items[i] = row->candidate;
        b->recalled.items[i] =
            (cr_newton_recalled){row->points, row->straight, row->say, row->rub, row->over};
    }
    b->worker.candidate = b->candidate.items;
    b->worker.candidate_count = count;
    cr_newton_task task = cr_substep_task(sim, &b->worker, part->h, part->from, part->to);
    task.recalled = b->recalled.items;
    task.gradient = model->world.zone_gradient;
    b->zone.mass = g->mass;
    b->zone.inertia = g->inertia;
    b->zone.node_mass = g->node_mass;
    b->zone.p = g->p;
    b->zone.material = g->material;
    b->zone.corner = g->corner;
    b->zone.wind = g->wind;
    const carom_status status = cr_newton_adj(b->worker.newton, &task, model->world.flat_gradient,
                                              &b->zone, b->contact.items);
    const cr_pair_sources sources = cr_backward_sources(g);
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        const cr_candidate* c = &b->candidate.items[i];
        const cr_newton_row_bars* in = &b->contact.items[i];
        const cr_pair_numbers at = cr_pair_numbers_of(c);
        const cr_pair_numbers bar = {
            in->thickness, in->width, in->stiffness, in->friction, {in->lever[0], in->lever[1]}};
        cr_pair_law_adj(model, model->bodies.vertex_body[c->pair.v[0]],
                        model->bodies.vertex_body[c->pair.v[3]], &at, &bar, &sources);
    }
    return status;
}

// Reverse of the impacts: of a frame that was hit the targets' bars end here and those of its
// start, acceleration and torque begin.
static carom_status impacts_adj(cr_backward* b, cr_sim* sim, const cr_record_part* part,
                                cr_gradient* g)
{
    const cr_vec3 zero = {0, 0, 0};
    for (int32_t i = 0; i < b->worker.frame.count; i++) {
        const int32_t f = b->worker.frame.items[i];
        b->q[f] = b->t[f] = b->v[f] = b->om[f] = b->a[f] = b->torque[f] = b->rate[f] = zero;
    }
    if (part->impact_end == part->impact_begin) {
        return CAROM_OK;
    }
    const cr_events_task task = cr_island_events(sim, &b->worker, part->h, part->from, part->to);
    const cr_events_bars bars = {.rp = b->zone.rp,
                                 .ut = b->zone.ut,
                                 .turn = b->zone.turn,
                                 .v1 = b->v1,
                                 .om1 = b->om1,
                                 .q = b->q,
                                 .t = b->t,
                                 .v = b->v,
                                 .om = b->om,
                                 .a = b->a,
                                 .torque = b->torque,
                                 .rate = b->rate,
                                 .inertia = g->inertia,
                                 .mass = g->mass,
                                 .p = g->p,
                                 .obstacle0 = b->zone.obstacle0,
                                 .obstacle1 = b->zone.obstacle1};
    const carom_status status = cr_events_adj(b->worker.events, &task, &bars);
    const cr_events_row_bars* rows;
    const int32_t count = status == CAROM_OK ? cr_events_rows(b->worker.events, &rows) : 0;
    for (int32_t i = 0; i < count; i++) {
        const cr_zone_row_bars row = {.thickness = rows[i].thickness,
                                      .friction = rows[i].friction,
                                      .compliance = rows[i].compliance,
                                      .lever = {rows[i].lever[0], rows[i].lever[1]}};
        row_numbers_adj(b->model, &rows[i].candidate, &row, g);
        restitution_adj(b->model, &rows[i].candidate, rows[i].restitution, g);
    }
    return status;
}

// Reverse of the aim: from bars of the targets and of the start to those of the state before.
static void aim_adj(cr_backward* b, const cr_sim* sim, const cr_record_part* part,
                    cr_state_bars* bars, cr_gradient* g)
{
    const cr_model* model = b->model;
    const cr_body_set* bodies = &model->bodies;
    const cr_vec3 gravity = cr_vec3_load(model->world.gravity);
    cr_vec3 gravity_bar = {0, 0, 0};
    for (int32_t i = 0; i < b->worker.frame.count; i++) {
        const int32_t f = b->worker.frame.items[i], body = bodies->frame_body[f];
        const cr_action action = {.gravity = gravity,
                                  .force = sim->force_now[f],
                                  .torque = sim->torque_now[f],
                                  .linear_damping = model->linear_damping[body],
                                  .angular_damping = model->angular_damping[body]};
        const cr_quat q = cr_quat_load(sim->next.q + 4 * f);
        const cr_vec3 v = cr_vec3_load(sim->next.v + 3 * f);
        const cr_vec3 om = cr_vec3_load(sim->next.om + 3 * f);
        const cr_vec3 inertia = cr_vec3_load(bodies->inertia + 3 * f);
        const cr_target target =
            cr_targets_rigid(bodies->mass[f], inertia, bodies->lock[f], part->h, &action, q, v, om);
        const int hit = part->impact_end > part->impact_begin && cr_events_hit(b->worker.events, f);
        cr_target_bars in = {
            .rate = b->rate[f], .a = cr_vec3_add(b->a[f], b->pull[f]), .torque = b->torque[f]};
        if (!hit) {
            in.q = b->zone.rp[f];
            in.u = b->zone.ut[f];
            in.v = b->v1[f];
            in.om = b->om1[f];
            in.rate = cr_vec3_add_scaled(in.rate, part->h, b->zone.turn[f]);
        }
        in.om = cr_vec3_add(in.om, b->om_free[f]);
        cr_target_starts out = {.q = b->zone.r0[f]};
        cr_targets_rigid_adj(bodies->mass[f], inertia, bodies->lock[f], part->h, &action, &target,
                             q, v, om, &in, &out);
        bars->t[f] = cr_vec3_add(b->zone.t0[f], b->t[f]);
        bars->q[f] = cr_vec3_add(out.q, b->q[f]);
        bars->v[f] = cr_vec3_add(cr_vec3_add(out.v, b->v[f]), b->v0[f]);
        bars->om[f] = cr_vec3_add(out.om, b->om[f]);
        gravity_bar = cr_vec3_add(gravity_bar, out.gravity);
        g->force[f] = cr_vec3_add(g->force[f], out.force);
        g->torque[f] = cr_vec3_add(g->torque[f], out.torque);
        g->mass[f] += out.mass;
        cr_vec3_accumulate(g->inertia + 3 * f, out.inertia);
        g->linear_damping[body] += out.linear_damping;
        g->angular_damping[body] += out.angular_damping;
    }
    for (int32_t i = 0; i < b->worker.sheet.count; i++) {
        const int32_t s = b->worker.sheet.items[i];
        for (int32_t n = model->sheet_node[s]; n < model->sheet_node[s + 1]; n++) {
            bars->x[n] = b->zone.x0[n];
            bars->xv[n] = b->zone.v0[n];
            if (!bodies->node_pinned[n]) {
                const int32_t body = model->sheet_body[s];
                cr_targets_node_adj(bodies->node_mass[n], part->h, gravity, sim->node_force_now[n],
                                    model->linear_damping[body], cr_vec3_load(sim->next.xv + 3 * n),
                                    b->zone.dt[n], &bars->xv[n], &gravity_bar, &g->node_force[n],
                                    &g->node_mass[n], &g->linear_damping[body]);
            }
        }
    }
    cr_vec3_accumulate(g->gravity, gravity_bar);
}

// What a pose (t, R) of a frame that moves by script felt goes to the start of the frame, which
// carries the whole way, and when the script is in it (everywhere but at the start of the run) to
// the keys: t = t0 + shift, R = exp(turn) R0. Turning by dturn is R exp(R^T Jl dturn).
static void scripted_adj(const cr_model* model, int32_t f, double time, int scripted, cr_mat3 r,
                         cr_vec3 t_bar, cr_vec3 q_bar, cr_gradient* g)
{
    g->start.t[f] = cr_vec3_add(g->start.t[f], t_bar);
    g->start.q[f] = cr_vec3_add(g->start.q[f], q_bar);
    const int32_t s = model->frame_script[f];
    if (s < 0 || !scripted) {
        return;
    }
    cr_vec3 shift, turn;
    cr_model_script_at(&model->script[s], time, &shift, &turn);
    const cr_rot rot = cr_rot_make(turn);
    const cr_vec3 turn_bar = cr_mat3_tapply(cr_rot_left(&rot), cr_mat3_apply(r, q_bar));
    cr_model_script_at_adj(&model->script[s], time, t_bar, turn_bar, g->key_shift[s],
                           g->key_turn[s]);
}

// A driven frame: t1 = t0 + h v, R1 = exp(h om) R0. The bars of v and om are those of its controls.
// A turn of R0 by delta in its own axes turns R1 by the same.
static void driven_adj(const cr_sim* sim, int32_t f, double h, cr_mat3 r1, cr_vec3 t1_bar,
                       cr_vec3 q1_bar, cr_state_bars* bars, cr_gradient* g)
{
    const cr_rot rot = cr_rot_make(cr_vec3_scale(h, cr_vec3_load(sim->torque + 3 * f)));
    const cr_vec3 turn_bar = cr_mat3_tapply(cr_rot_left(&rot), cr_mat3_apply(r1, q1_bar));
    bars->t[f] = cr_vec3_add(bars->t[f], t1_bar);
    bars->q[f] = cr_vec3_add(bars->q[f], q1_bar);
    g->force[f] = cr_vec3_add_scaled(g->force[f], h, t1_bar);
    g->torque[f] = cr_vec3_add_scaled(g->torque[f], h, turn_bar);
}

// A frame that moves by script: its vertices' places at the start and the end of the step, and its
// place in the state after the step. The state before has no say in any of it, so its bars are 0;
// unless it was placed there, and has all the say about the start.
static void obstacle_adj(cr_backward* b, const cr_sim* sim, int32_t body, int placed,
                         cr_state_bars* bars, cr_gradient* g)
{
    const cr_body_set* bodies = &b->model->bodies;
    const int32_t f = bodies->frame[body];
    const cr_vec3 zero = {0, 0, 0};
    const double h = b->model->world.dt, time = sim->state.time;
    const cr_mat3 r1 = cr_quat_to_matrix(cr_quat_load(sim->next.q + 4 * f));
    const cr_mat3 r0 = cr_quat_to_matrix(cr_quat_load(sim->state.q + 4 * f));
    const cr_vec3 v_bar = cr_vec3_scale(1.0 / h, bars->v[f]); // v = (t1 - t0)/h
    cr_vec3 t0 = cr_vec3_neg(v_bar), t1 = cr_vec3_add(bars->t[f], v_bar);
    cr_vec3 q0 = zero, q1 = bars->q[f];
    for (int32_t v = bodies->vertex[body]; v < bodies->vertex[body + 1]; v++) {
        const cr_vec3 p = cr_vec3_load(bodies->p + 3 * v);
        const cr_vec3 o0 = cr_mat3_tapply(r0, b->zone.obstacle0[v]);
        const cr_vec3 o1 = cr_mat3_tapply(r1, b->zone.obstacle1[v]);
        g->p[v] = cr_vec3_add(g->p[v], cr_vec3_add(o0, o1));
        t0 = cr_vec3_add(t0, b->zone.obstacle0[v]);
        t1 = cr_vec3_add(t1, b->zone.obstacle1[v]);
        q0 = cr_vec3_add(q0, cr_vec3_cross(p, o0));
        q1 = cr_vec3_add(q1, cr_vec3_cross(p, o1));
    }
    bars->t[f] = bars->q[f] = bars->v[f] = bars->om[f] = zero;
    if (placed) {
        bars->t[f] = t0;
        bars->q[f] = q0;
    } else {
        scripted_adj(b->model, f, time, sim->state.step > 0, r0, t0, q0, g);
    }
    if (sim->driven[f]) {
        driven_adj(sim, f, h, r1, t1, q1, bars, g);
    } else if (placed && bodies->kind[body] == CR_BODY_FIXED) {
        bars->t[f] = cr_vec3_add(bars->t[f], t1);
        bars->q[f] = cr_vec3_add(bars->q[f], q1);
    } else {
        scripted_adj(b->model, f, time + h, 1, r1, t1, q1, g);
    }
}

// What scripted vertices felt at the start and the end of the step goes to the script and to where
// everything began; the start of a pinned node goes to the state before.
static void obstacles_adj(cr_backward* b, const cr_sim* sim, int placed, cr_state_bars* bars,
                          cr_gradient* g)
{
    const cr_body_set* bodies = &b->model->bodies;
    const cr_vec3 zero = {0, 0, 0};
    for (int32_t body = 0; body < bodies->body_count; body++) {
        if (bodies->frame[body] >= 0 && bodies->kind[body] != CR_BODY_RIGID) {
            obstacle_adj(b, sim, body, placed, bars, g);
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (bodies->node_pinned[n]) {
            const int32_t v = bodies->node_vertex[n], s = b->model->node_script[n];
            bars->x[n] = cr_vec3_add(bars->x[n], b->zone.obstacle0[v]);
            if (sim->node_driven[n]) { // o1 = o0 + h v
                const double h = b->model->world.dt;
                bars->x[n] = cr_vec3_add(bars->x[n], b->zone.obstacle1[v]);
                g->node_force[n] = cr_vec3_add_scaled(g->node_force[n], h, b->zone.obstacle1[v]);
                continue;
            }
            g->shift[v] = cr_vec3_add(g->shift[v], b->zone.obstacle1[v]);
            if (s >= 0) {
                cr_model_script_at_adj(&b->model->script[s], sim->state.time + b->model->world.dt,
                                       b->zone.obstacle1[v], zero, g->key_shift[s], g->key_turn[s]);
            }
        }
    }
}

// Vertices of rigid bodies are nobody's obstacle, and nearly all there are.
static void clear_obstacles(cr_backward* b)
{
    const cr_body_set* bodies = &b->model->bodies;
    for (int32_t i = 0; i < bodies->body_count; i++) {
        const int32_t from = bodies->vertex[i];
        const size_t count = (size_t)(bodies->vertex[i + 1] - from);
        if (bodies->kind[i] != CR_BODY_RIGID && count > 0) {
            memset(b->zone.obstacle0 + from, 0, count * sizeof(cr_vec3));
            memset(b->zone.obstacle1 + from, 0, count * sizeof(cr_vec3));
        }
    }
}

carom_status cr_backward_step(cr_backward* b, cr_sim* sim, const cr_record* record,
                              cr_state_bars* bars, cr_gradient* gradient)
{
    clear_obstacles(b);
    const int barrier = b->model->world.contact == CR_CONTACT_BARRIER;
    carom_status status = cr_near_renew(&sim->near);
    if (status != CAROM_OK) {
        return status;
    }
    const int64_t step = sim->state.step;
    const double time = sim->state.time;
    sim->state.step = record->step;
    sim->state.time = record->time;
    if (record->placed) {
        cr_sim_gather_ways(sim);
    } else {
        cr_sim_gather_scripts(sim);
    }
    for (int32_t i = record->part.count - 1; i >= 0 && status == CAROM_OK; i--) {
        const cr_record_part* part = &record->part.items[i];
        status = cr_backward_recall(&b->worker, sim, record, part);
        if (status != CAROM_OK) {
            break;
        }
        status = balance_adj(b, sim, record, part, bars, gradient);
        if (status != CAROM_OK) {
            break;
        }
        advance_adj(b, sim, part, bars, gradient);
        if (part->alone) {
            for (int32_t k = 0; k < b->worker.frame.count; k++) {
                const int32_t f = b->worker.frame.items[k];
                b->zone.ut[f] = cr_vec3_add(b->zone.ut[f], b->zone.u[f]);
            }
        } else {
            status = barrier ? contacts_adj(b, sim, record, part, gradient)
                             : zone_adj(b, sim, record, part, gradient);
        }
        if (status == CAROM_OK) {
            status = impacts_adj(b, sim, part, gradient);
        }
        aim_adj(b, sim, part, bars, gradient);
    }
    obstacles_adj(b, sim, record->placed, bars, gradient);
    sim->state.step = step;
    sim->state.time = time;
    return status;
}
