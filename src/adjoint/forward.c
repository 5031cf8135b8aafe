#include "adjoint/forward.h"
#include "adjoint/backward_inside.h"
#include "bodies/spin_held.h"
#include "contact/newton_adj.h"
#include "contact/zone_adj.h"
#include "core/assert.h"
#include "core/memory.h"
#include "dynamics/targets.h"
#include "math/rot.h"
#include "sim/substep.h"
#include <string.h>

// What one direction needs on its way through a step. All arrays are in one block.
typedef struct scratch {
    cr_vec3* block;
    cr_zone_tangents zone;                           // start: those of the lane's state
    cr_vec3 *v1, *om1, *a, *torque, *rate, *om_free; // [frame_count] of targets
    cr_vec3* v0;                                     // [frame_count] of the start
    cr_vec3* node_v0;                                // [node_count] likewise
    cr_vec3 *node_x0, *node_force, *push;            // [node_count] of the energy balance
    cr_vec3 *pose_t[2], *pose_q[2];                  // [frame_count] of what moves by script
    cr_vec3 *spin, *thrust, *twist;                  // [frame_count] of the energy balance
} scratch;

enum { FRAME_ARRAYS = 19, NODE_ARRAYS = 6, VERTEX_ARRAYS = 2 };

struct cr_forward {
    const cr_model* model;
    cr_worker worker;
    cr_gradient still; // zeros, for directions that leave the model alone
    int32_t ready;     // scratches that were made
    CR_ARRAY(scratch) scratch;
    CR_ARRAY(cr_zone_tangents) zone; // those of the scratches, side by side
    CR_ARRAY(cr_candidate) candidate;
    CR_ARRAY(double) lam;
    CR_ARRAY(cr_zone_row_tangents) row;     // [count * rows]
    CR_ARRAY(cr_newton_row_bars) contact;   // [count * rows]
    CR_ARRAY(cr_newton_recalled) recalled;  // [rows]
    CR_ARRAY(cr_events_row_bars) event_row; // [count * rows]
    CR_ARRAY(cr_events_tangents) events;    // [count]
    CR_ARRAY(cr_balance_bars) balance;      // [count]
    CR_ARRAY(double) balance_number;        // [count * (3 * rows + 1)]
};

typedef cr_forward_lane lane;

carom_status cr_forward_create(const cr_model* model, cr_forward** out)
{
    *out = NULL;
    cr_forward* f = cr_memory_take(1, sizeof *f);
    if (!f) {
        return CAROM_ERR_MEMORY;
    }
    f->model = model;
    carom_status status = cr_gradient_init(&f->still, model);
    if (status == CAROM_OK) {
        status = cr_zone_create(&f->worker.zone);
    }
    if (status == CAROM_OK) {
        status = cr_newton_create(&f->worker.newton);
    }
    if (status == CAROM_OK) {
        status = cr_events_create(&f->worker.events);
    }
    if (status != CAROM_OK) {
        cr_forward_destroy(f);
        return status;
    }
    *out = f;
    return CAROM_OK;
}

void cr_forward_destroy(cr_forward* f)
{
    if (!f) {
        return;
    }
    for (int32_t i = 0; i < f->ready; i++) {
        cr_memory_free(f->scratch.items[i].block);
    }
    cr_gradient_release(&f->still);
    cr_zone_destroy(f->worker.zone);
    cr_newton_destroy(f->worker.newton);
    cr_array_release(&f->contact);
    cr_array_release(&f->recalled);
    cr_events_destroy(f->worker.events);
    cr_array_release(&f->worker.frame);
    cr_array_release(&f->worker.sheet);
    cr_array_release(&f->worker.warm);
    cr_array_release(&f->worker.balance);
    cr_array_release(&f->worker.sheet_scratch);
    cr_array_release(&f->worker.clump_of);
    cr_array_release(&f->worker.clump);
    cr_array_release(&f->scratch);
    cr_array_release(&f->zone);
    cr_array_release(&f->candidate);
    cr_array_release(&f->lam);
    cr_array_release(&f->row);
    cr_array_release(&f->event_row);
    cr_array_release(&f->events);
    cr_array_release(&f->balance);
    cr_array_release(&f->balance_number);
    cr_memory_free(f);
}

static size_t block_length(const cr_model* model)
{
    return FRAME_ARRAYS * (size_t)model->bodies.frame_count +
           NODE_ARRAYS * (size_t)model->bodies.node_count +
           VERTEX_ARRAYS * (size_t)model->bodies.vertex_count;
}

size_t cr_forward_lane_bytes(const cr_model* model)
{
    return block_length(model) * sizeof(cr_vec3);
}

static int make_scratch(const cr_model* model, scratch* s)
{
    const size_t f = (size_t)model->bodies.frame_count, n = (size_t)model->bodies.node_count;
    const size_t v = (size_t)model->bodies.vertex_count;
    *s = (scratch){.block = cr_memory_take(block_length(model), sizeof(cr_vec3))};
    if (!s->block) {
        return 0;
    }
    cr_vec3** const frames[FRAME_ARRAYS] = {
        &s->zone.w,    &s->zone.u, &s->zone.rp,   &s->zone.ut,   &s->zone.turn,
        &s->v1,        &s->om1,    &s->a,         &s->torque,    &s->rate,
        &s->om_free,   &s->v0,     &s->pose_t[0], &s->pose_t[1], &s->pose_q[0],
        &s->pose_q[1], &s->spin,   &s->thrust,    &s->twist};
    cr_vec3* at = s->block;
    for (int i = 0; i < FRAME_ARRAYS; i++, at += f) {
        *frames[i] = at;
    }
    s->zone.d = at;
    s->zone.dt = at + n;
    s->node_v0 = at + 2 * n;
    s->node_x0 = at + 3 * n;
    s->node_force = at + 4 * n;
    s->push = at + 5 * n;
    s->zone.obstacle0 = at + NODE_ARRAYS * n;
    s->zone.obstacle1 = at + NODE_ARRAYS * n + v;
    return 1;
}

// Of what stays constant: that of the lane, or nothing.
static const cr_gradient* model_of(const cr_forward* f, const lane* l)
{
    return l->model ? l->model : &f->still;
}

// Scratch for all lanes, looking at their states.
static carom_status prepare(cr_forward* f, int32_t count, const lane* l)
{
    if (!cr_array_reserve(&f->scratch, count) || !cr_array_reserve(&f->zone, count) ||
        !cr_array_reserve(&f->events, count) || !cr_array_reserve(&f->balance, count)) {
        return CAROM_ERR_MEMORY;
    }
    for (; f->ready < count; f->ready++) {
        if (!make_scratch(f->model, &f->scratch.items[f->ready])) {
            return CAROM_ERR_MEMORY;
        }
        f->scratch.count = f->ready + 1;
    }
    for (int32_t i = 0; i < count; i++) {
        const cr_gradient* g = model_of(f, &l[i]);
        const int moves = l[i].model != NULL;
        cr_zone_tangents* zone = &f->scratch.items[i].zone;
        zone->r0 = l[i].state.q;
        zone->t0 = l[i].state.t;
        zone->x0 = l[i].state.x;
        zone->v0 = l[i].state.xv;
        zone->mass = g->mass;
        zone->inertia = g->inertia;
        zone->node_mass = g->node_mass;
        zone->p = moves ? g->p : NULL;
        zone->material = moves ? g->material : NULL;
        zone->corner = moves ? g->corner : NULL;
        zone->wind = moves ? l[i].model->wind : NULL;
        f->zone.items[i] = *zone;
    }
    return CAROM_OK;
}

// ---- what moves by script

// A script is linear in its keys: that of their changes is its change.
static void script_change(const cr_model* model, int32_t script, const cr_gradient* g, double time,
                          cr_vec3* shift, cr_vec3* turn)
{
    cr_script d = model->script[script];
    d.shift = g->key_shift[script];
    d.turn = d.turn ? g->key_turn[script] : NULL;
    cr_model_script_at(&d, time, shift, turn);
}

// Where a scripted frame is at a time: t = t0 + shift, R = exp(turn) R0.
static void scripted_pose(const cr_model* model, int32_t frame, const cr_gradient* g, double time,
                          cr_mat3 r, cr_vec3* t, cr_vec3* q)
{
    *t = g->start.t[frame];
    *q = g->start.q[frame];
    const int32_t s = model->frame_script[frame];
    if (s < 0) {
        return;
    }
    cr_vec3 shift, turn, dshift, dturn;
    cr_model_script_at(&model->script[s], time, &shift, &turn);
    script_change(model, s, g, time, &dshift, &dturn);
    const cr_rot rot = cr_rot_make(turn);
    *t = cr_vec3_add(*t, dshift);
    *q = cr_vec3_add(*q, cr_mat3_tapply(r, cr_mat3_apply(cr_rot_left(&rot), dturn)));
}

static cr_vec3 own_of(const cr_vec3* own, int32_t i)
{
    return own ? own[i] : (cr_vec3){0, 0, 0};
}

static void frame_poses(const cr_forward* f, const cr_sim* sim, int32_t body, const lane* l,
                        scratch* s)
{
    const cr_model* model = f->model;
    const int32_t frame = model->bodies.frame[body];
    const double h = model->world.dt;
    const cr_mat3 r1 = cr_quat_to_matrix(cr_quat_load(sim->next.q + 4 * frame));
    cr_vec3 t = l->state.t[frame], q = l->state.q[frame];
    s->pose_t[0][frame] = t;
    s->pose_q[0][frame] = q;
    if (sim->driven[frame]) { // t1 = t0 + h v, R1 = exp(h om) R0
        const cr_rot rot = cr_rot_make(cr_vec3_scale(h, cr_vec3_load(sim->torque + 3 * frame)));
        const cr_vec3 turn = cr_mat3_apply(cr_rot_left(&rot), own_of(l->torque, frame));
        t = cr_vec3_add_scaled(t, h, own_of(l->force, frame));
        q = cr_vec3_add_scaled(q, h, cr_mat3_tapply(r1, turn));
    } else if (model->bodies.kind[body] == CR_BODY_KINEMATIC) {
        scripted_pose(model, frame, model_of(f, l), sim->state.time + h, r1, &t, &q);
    }
    s->pose_t[1][frame] = t;
    s->pose_q[1][frame] = q;
}

// Poses of frames, and places of pinned nodes, that no zone moves.
static void scripted_jvp(const cr_forward* f, const cr_sim* sim, const lane* l, scratch* s)
{
    const cr_model* model = f->model;
    const cr_body_set* bodies = &model->bodies;
    const double h = model->world.dt;
    for (int32_t body = 0; body < bodies->body_count; body++) {
        if (bodies->frame[body] >= 0 && bodies->kind[body] != CR_BODY_RIGID) {
            frame_poses(f, sim, body, l, s);
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (!bodies->node_pinned[n]) {
            continue;
        }
        const int32_t v = bodies->node_vertex[n], script = model->node_script[n];
        cr_vec3 end = l->state.x[n];
        s->zone.obstacle0[v] = end;
        if (sim->node_driven[n]) {
            end = cr_vec3_add_scaled(end, h, own_of(l->node_force, n));
        } else {
            end = model_of(f, l)->shift[v];
            if (script >= 0) {
                cr_vec3 shift, turn;
                script_change(model, script, model_of(f, l), sim->state.time + h, &shift, &turn);
                end = cr_vec3_add(end, shift);
            }
        }
        s->zone.obstacle1[v] = end;
    }
}

// The places of one vertex of what moves by script.
static void vertex_jvp(const cr_forward* f, const cr_sim* sim, int32_t vertex, const lane* l,
                       scratch* s)
{
    const cr_body_set* bodies = &f->model->bodies;
    const int32_t frame = bodies->frame[bodies->vertex_body[vertex]];
    const cr_vec3 p = cr_vec3_load(bodies->p + 3 * vertex);
    const cr_vec3 dp = l->model ? l->model->p[vertex] : (cr_vec3){0, 0, 0};
    const double* q[2] = {sim->state.q + 4 * frame, sim->next.q + 4 * frame};
    cr_vec3* out[2] = {&s->zone.obstacle0[vertex], &s->zone.obstacle1[vertex]};
    for (int end = 0; end < 2; end++) {
        const cr_vec3 moved = cr_vec3_add(dp, cr_vec3_cross(s->pose_q[end][frame], p));
        const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(q[end]));
        *out[end] = cr_vec3_add(s->pose_t[end][frame], cr_mat3_apply(r, moved));
    }
}

static void pair_vertices(const cr_forward* f, const cr_sim* sim, const cr_candidate* c,
                          int32_t count, const lane* l)
{
    const cr_body_set* bodies = &f->model->bodies;
    for (int k = 0; k < 4; k++) {
        const int32_t v = c->pair.v[k];
        const int32_t body = v >= 0 ? bodies->vertex_body[v] : -1;
        if (body < 0 || bodies->frame[body] < 0 || bodies->kind[body] == CR_BODY_RIGID) {
            continue;
        }
        for (int32_t i = 0; i < count; i++) {
            vertex_jvp(f, sim, v, &l[i], &f->scratch.items[i]);
        }
    }
}

// ---- the stages of a part

// One frame for all directions: its target is worked out once.
static void aim_frame(const cr_forward* f, const cr_sim* sim, const cr_record_part* part,
                      int32_t frame, int32_t count, const lane* l)
{
    const cr_model* model = f->model;
    const cr_body_set* bodies = &model->bodies;
    const int32_t body = bodies->frame_body[frame], lock = bodies->lock[frame];
    const double mass = bodies->mass[frame];
    const cr_action action = {.gravity = cr_vec3_load(model->world.gravity),
                              .force = sim->force_now[frame],
                              .torque = sim->torque_now[frame],
                              .linear_damping = model->linear_damping[body],
                              .angular_damping = model->angular_damping[body]};
    const cr_quat q = cr_quat_load(sim->next.q + 4 * frame);
    const cr_vec3 v = cr_vec3_load(sim->next.v + 3 * frame);
    const cr_vec3 om = cr_vec3_load(sim->next.om + 3 * frame);
    const cr_vec3 inertia = cr_vec3_load(bodies->inertia + 3 * frame);
    const cr_target target = cr_targets_rigid(mass, inertia, lock, part->h, &action, q, v, om);
    for (int32_t i = 0; i < count; i++) {
        const cr_gradient* g = model_of(f, &l[i]);
        const cr_state_bars* state = &l[i].state;
        const cr_target_starts d = {
            .q = state->q[frame],
            .v = state->v[frame],
            .om = state->om[frame],
            .gravity = cr_vec3_load(g->gravity),
            .force = cr_vec3_add(g->force[frame], own_of(l[i].force, frame)),
            .torque = cr_vec3_add(g->torque[frame], own_of(l[i].torque, frame)),
            .inertia = cr_vec3_load(g->inertia + 3 * frame),
            .mass = g->mass[frame],
            .linear_damping = g->linear_damping[body],
            .angular_damping = g->angular_damping[body]};
        cr_target_bars out;
        cr_targets_rigid_jvp(mass, inertia, lock, part->h, &action, &target, q, v, om, &d, &out);
        scratch* s = &f->scratch.items[i];
        s->zone.rp[frame] = out.q;
        s->zone.ut[frame] = s->zone.u[frame] = out.u;
        s->zone.turn[frame] = cr_vec3_scale(part->h, out.rate);
        s->zone.w[frame] = (cr_vec3){0, 0, 0};
        s->v1[frame] = out.v;
        s->om1[frame] = s->om_free[frame] = out.om;
        s->a[frame] = out.a;
        s->torque[frame] = out.torque;
        s->rate[frame] = out.rate;
        s->v0[frame] = state->v[frame];
    }
}

static void aim_nodes(const cr_forward* f, const cr_sim* sim, const cr_record_part* part,
                      const lane* l, const scratch* s)
{
    const cr_model* model = f->model;
    const cr_body_set* bodies = &model->bodies;
    const cr_gradient* g = model_of(f, l);
    const cr_vec3 gravity = cr_vec3_load(model->world.gravity);
    for (int32_t i = 0; i < f->worker.sheet.count; i++) {
        const int32_t sheet = f->worker.sheet.items[i], body = model->sheet_body[sheet];
        for (int32_t n = model->sheet_node[sheet]; n < model->sheet_node[sheet + 1]; n++) {
            s->node_v0[n] = l->state.xv[n];
            s->node_force[n] = cr_vec3_add(g->node_force[n], own_of(l->node_force, n));
            s->zone.dt[n] =
                cr_targets_node_jvp(bodies->node_mass[n], part->h, gravity, sim->node_force_now[n],
                                    model->linear_damping[body], cr_vec3_load(sim->next.xv + 3 * n),
                                    l->state.xv[n], cr_vec3_load(g->gravity), s->node_force[n],
                                    g->node_mass[n], g->linear_damping[body]);
        }
    }
}

static void aim_jvp(const cr_forward* f, const cr_sim* sim, const cr_record_part* part,
                    int32_t count, const lane* l)
{
    for (int32_t i = 0; i < f->worker.frame.count; i++) {
        aim_frame(f, sim, part, f->worker.frame.items[i], count, l);
    }
    for (int32_t i = 0; i < count; i++) {
        aim_nodes(f, sim, part, &l[i], &f->scratch.items[i]);
    }
}

static cr_zone_row_tangents hard_numbers(const cr_model* model, const cr_candidate* c,
                                         const cr_gradient* g)
{
    const int32_t a = model->bodies.vertex_body[c->pair.v[0]];
    const int32_t b = model->bodies.vertex_body[c->pair.v[3]];
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    const double ra = model->body_sheet[a] >= 0 ? 0.0 : model->bodies.radius[a];
    const double rb = model->body_sheet[b] >= 0 ? 0.0 : model->bodies.radius[b];
    const double sum = ra + rb;
    cr_zone_row_tangents out = {0};
    if (!pairing || (pairing->thickness < 0.0 && pairing->reach < 0.0)) {
        out.thickness = g->radius[a] + g->radius[b];
    }
    out.room = c->room / c->thickness * out.thickness;
    double blur[2];
    cr_backward_blur(model, a, b, blur);
    out.blur = blur[0] * g->radius[a] + blur[1] * g->radius[b];
    if (sum > 0.0) { // lever_a = th ra / sum
        const double da = model->body_sheet[a] >= 0 ? 0.0 : g->radius[a];
        const double db = model->body_sheet[b] >= 0 ? 0.0 : g->radius[b];
        const double tilt = (rb * da - ra * db) * c->thickness / (sum * sum);
        out.lever[0] = out.thickness * ra / sum + tilt;
        out.lever[1] = out.thickness * rb / sum - tilt;
    }
    if ((!pairing || pairing->friction < 0.0) && c->friction > 0.0) {
        out.friction = 0.5 * c->friction *
                       (g->friction[a] / model->bodies.friction[a] +
                        g->friction[b] / model->bodies.friction[b]);
    }
    return out;
}

static cr_zone_row_tangents layer_numbers(const cr_model* model, const cr_candidate* c,
                                          const cr_gradient* g)
{
    const cr_pair_numbers at = cr_pair_numbers_of(c);
    const cr_pair_sources by = cr_backward_sources(g);
    const cr_pair_numbers d = cr_pair_law_jvp(model, model->bodies.vertex_body[c->pair.v[0]],
                                              model->bodies.vertex_body[c->pair.v[3]], &at, &by);
    return (cr_zone_row_tangents){
        .thickness = d.thickness, .friction = d.friction, .lever = {d.lever[0], d.lever[1]}};
}

// A row's own numbers, as row_numbers_adj has them.
static cr_zone_row_tangents row_numbers(const cr_model* model, const cr_candidate* c,
                                        const cr_gradient* g)
{
    const int32_t a = model->bodies.vertex_body[c->pair.v[0]];
    const int32_t b = model->bodies.vertex_body[c->pair.v[3]];
    cr_zone_row_tangents out = model->world.contact == CR_CONTACT_BARRIER
                                   ? layer_numbers(model, c, g)
                                   : hard_numbers(model, c, g);
    const double ma = cr_backward_weight(model, a), mb = cr_backward_weight(model, b);
    const int32_t heavy = ma >= mb ? a : b, sheet = model->body_sheet[heavy];
    double dm = sheet < 0 ? g->mass[model->bodies.frame[heavy]] : 0.0;
    for (int32_t n = sheet < 0 ? 0 : model->sheet_node[sheet];
         sheet >= 0 && n < model->sheet_node[sheet + 1]; n++) {
        dm += g->node_mass[n];
    }
    out.compliance = -c->compliance * dm / cr_max(ma, mb);
    return out;
}

// The larger of the two bodies' own; both alike share it.
static double restitution_of(const cr_model* model, const cr_candidate* c, const cr_gradient* g)
{
    const int32_t a = model->bodies.vertex_body[c->pair.v[0]];
    const int32_t b = model->bodies.vertex_body[c->pair.v[3]];
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    if (pairing && pairing->restitution >= 0.0) {
        return 0.0;
    }
    const double ea = model->bodies.restitution[a], eb = model->bodies.restitution[b];
    return ea > eb   ? g->restitution[a]
           : eb > ea ? g->restitution[b]
                     : 0.5 * (g->restitution[a] + g->restitution[b]);
}

// The impacts: of a frame that was hit the targets become those that they left.
static carom_status impacts_jvp(cr_forward* f, cr_sim* sim, const cr_record_part* part,
                                int32_t count, const lane* l)
{
    if (part->impact_end == part->impact_begin) {
        return CAROM_OK;
    }
    const int32_t rows = cr_events_row_count(f->worker.events);
    if ((int64_t)rows * count > INT32_MAX || !cr_array_reserve(&f->event_row, rows * count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t r = 0; r < rows; r++) {
        const cr_candidate* c = cr_events_row_candidate(f->worker.events, r);
        pair_vertices(f, sim, c, count, l);
        for (int32_t i = 0; i < count; i++) {
            cr_events_row_bars* out = &f->event_row.items[i * rows + r];
            *out = (cr_events_row_bars){.thickness = 0.0};
            if (l[i].model) {
                const cr_zone_row_tangents of = row_numbers(f->model, c, l[i].model);
                *out = (cr_events_row_bars){.thickness = of.thickness,
                                            .friction = of.friction,
                                            .restitution = restitution_of(f->model, c, l[i].model),
                                            .compliance = of.compliance,
                                            .lever = {of.lever[0], of.lever[1]}};
            }
        }
    }
    for (int32_t i = 0; i < count; i++) {
        const cr_gradient* g = model_of(f, &l[i]);
        const scratch* s = &f->scratch.items[i];
        f->events.items[i] = (cr_events_tangents){.rp = s->zone.rp,
                                                  .ut = s->zone.ut,
                                                  .turn = s->zone.turn,
                                                  .v1 = s->v1,
                                                  .om1 = s->om1,
                                                  .q = l[i].state.q,
                                                  .t = l[i].state.t,
                                                  .v = l[i].state.v,
                                                  .om = l[i].state.om,
                                                  .a = s->a,
                                                  .torque = s->torque,
                                                  .rate = s->rate,
                                                  .inertia = g->inertia,
                                                  .mass = g->mass,
                                                  .p = s->zone.p,
                                                  .obstacle0 = s->zone.obstacle0,
                                                  .obstacle1 = s->zone.obstacle1,
                                                  .row = f->event_row.items + i * rows};
    }
    const cr_events_task task = cr_island_events(sim, &f->worker, part->h, part->from, part->to);
    return cr_events_jvp(f->worker.events, &task, count, f->events.items);
}

static carom_status zone_jvp(cr_forward* f, cr_sim* sim, const cr_record* record,
                             const cr_record_part* part, int32_t count, const lane* l)
{
    const int32_t rows = part->idle_end - part->row_begin;
    if ((int64_t)rows * count > INT32_MAX || !cr_array_reserve(&f->candidate, rows) ||
        !cr_array_reserve(&f->lam, 2 * rows) || !cr_array_reserve(&f->row, rows * count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t r = 0; r < rows; r++) {
        const cr_record_row* row = &record->row.items[part->row_begin + r];
        f->candidate.items[r] = row->candidate;
        f->lam.items[r] = row->lam;
        f->lam.items[rows + r] = row->say;
        pair_vertices(f, sim, &row->candidate, count, l);
        for (int32_t i = 0; i < count; i++) {
            f->row.items[i * rows + r] = l[i].model
                                             ? row_numbers(f->model, &row->candidate, l[i].model)
                                             : (cr_zone_row_tangents){.thickness = 0.0};
        }
    }
    cr_zone_task task = cr_island_task(sim, &f->worker, part->h, part->from, part->to);
    task.candidate_count = rows;
    task.candidate = f->candidate.items;
    task.idle_count = part->idle_end - part->row_end;
    task.crowded = part->crowded;
    task.say = rows > 0 ? f->lam.items + rows : NULL;
    task.flat = f->model->world.flat_gradient;
    return cr_zone_jvp(f->worker.zone, &task, f->lam.items, count, f->zone.items, f->row.items);
}

static cr_newton_row_bars contact_numbers(const cr_model* model, const cr_candidate* c,
                                          const cr_gradient* g)
{
    const cr_pair_numbers at = cr_pair_numbers_of(c);
    const cr_pair_sources by = cr_backward_sources(g);
    const cr_pair_numbers d = cr_pair_law_jvp(model, model->bodies.vertex_body[c->pair.v[0]],
                                              model->bodies.vertex_body[c->pair.v[3]], &at, &by);
    return (cr_newton_row_bars){
        d.thickness, d.width, d.stiffness, d.friction, {d.lever[0], d.lever[1]}};
}

static carom_status contacts_jvp(cr_forward* f, cr_sim* sim, const cr_record* record,
                                 const cr_record_part* part, int32_t count, const lane* l)
{
    const int32_t rows = part->row_end - part->row_begin;
    if ((int64_t)rows * count > INT32_MAX || !cr_array_reserve(&f->candidate, rows) ||
        !cr_array_reserve(&f->contact, rows * count) || !cr_array_reserve(&f->recalled, rows)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t r = 0; r < rows; r++) {
        const cr_record_row* row = &record->row.items[part->row_begin + r];
        const cr_candidate* c = &row->candidate;
        f->candidate.items[r] = *c;
        f->recalled.items[r] =
            (cr_newton_recalled){row->points, row->straight, row->say, row->rub, row->over};
        pair_vertices(f, sim, c, count, l);
        for (int32_t i = 0; i < count; i++) {
            f->contact.items[i * rows + r] = l[i].model ? contact_numbers(f->model, c, l[i].model)
                                                        : (cr_newton_row_bars){.thickness = 0.0};
        }
    }
    f->worker.candidate = f->candidate.items;
    f->worker.candidate_count = rows;
    cr_newton_task task = cr_substep_task(sim, &f->worker, part->h, part->from, part->to);
    task.recalled = f->recalled.items;
    return cr_newton_jvp(f->worker.newton, &task, f->model->world.flat_gradient, count,
                         f->zone.items, f->contact.items);
}

// t' = t0 + u, v' = v1 + (u - ut)/h, (R', om') by cr_spin_update; x' = x0 + d, v' = d/h.
static void advance_jvp(const cr_forward* f, const cr_sim* sim, const cr_record_part* part,
                        const lane* l, const scratch* s)
{
    const cr_body_set* bodies = &f->model->bodies;
    const cr_gradient* g = model_of(f, l);
    const double h = part->h;
    for (int32_t i = 0; i < f->worker.frame.count; i++) {
        const int32_t frame = f->worker.frame.items[i], held = bodies->lock[frame] >> 3;
        const cr_vec3 inertia = cr_vec3_load(bodies->inertia + 3 * frame);
        const cr_vec3 dinertia = cr_vec3_load(g->inertia + 3 * frame);
        const cr_vec3 push = cr_vec3_sub(s->zone.u[frame], s->zone.ut[frame]);
        l->state.t[frame] = cr_vec3_add(l->state.t[frame], s->zone.u[frame]);
        l->state.v[frame] = cr_vec3_add_scaled(s->v1[frame], 1.0 / h, push);
        if (held) {
            cr_spin_held_update_jvp(inertia, held, h, sim->q_target[frame], sim->motion.om1[frame],
                                    sim->motion.w[frame], s->zone.rp[frame], s->om1[frame],
                                    s->zone.w[frame], dinertia, &l->state.q[frame],
                                    &l->state.om[frame]);
        } else {
            cr_spin_update_jvp(inertia, h, sim->motion.om1[frame], sim->motion.w[frame],
                               s->zone.rp[frame], s->om1[frame], s->zone.w[frame], dinertia,
                               &l->state.q[frame], &l->state.om[frame]);
        }
    }
    for (int32_t i = 0; i < f->worker.sheet.count; i++) {
        const int32_t sheet = f->worker.sheet.items[i];
        for (int32_t n = f->model->sheet_node[sheet]; n < f->model->sheet_node[sheet + 1]; n++) {
            cr_vec3 d = s->zone.d[n];
            if (bodies->node_pinned[n]) { // x' = o0 + to (o1 - o0), v' = (to - from)(o1 - o0)/h
                const int32_t v = bodies->node_vertex[n];
                const cr_vec3 whole = cr_vec3_sub(s->zone.obstacle1[v], s->zone.obstacle0[v]);
                l->state.x[n] = cr_vec3_add_scaled(s->zone.obstacle0[v], part->to, whole);
                d = cr_vec3_scale(part->to - part->from, whole);
            } else {
                l->state.x[n] = cr_vec3_add(l->state.x[n], d);
            }
            l->state.xv[n] = cr_vec3_scale(1.0 / h, d);
        }
    }
}

// J, the change of what the sheets of a part gained. d is h times the velocity it left, of pinned
// nodes too.
static double sheets_jvp(const cr_forward* f, cr_sim* sim, const cr_record_part* part,
                         const lane* l, const scratch* s)
{
    const cr_balance_sheets task = cr_island_balance_sheets(sim, &f->worker, part->h);
    const cr_gradient* g = model_of(f, l);
    for (int32_t i = 0; i < f->worker.sheet.count; i++) {
        const int32_t sheet = f->worker.sheet.items[i];
        for (int32_t n = f->model->sheet_node[sheet]; n < f->model->sheet_node[sheet + 1]; n++) {
            s->zone.d[n] = cr_vec3_scale(part->h, l->state.xv[n]);
            s->node_x0[n] = cr_vec3_sub(l->state.x[n], s->zone.d[n]);
        }
    }
    const cr_balance_sheet_bars by = {.x0 = s->node_x0,
                                      .d = s->zone.d,
                                      .v0 = s->node_v0,
                                      .v = l->state.xv,
                                      .force = s->node_force,
                                      .node_mass = g->node_mass,
                                      .gravity = (double*)g->gravity,
                                      .material = s->zone.material,
                                      .corner = s->zone.corner};
    return cr_balance_sheet_jvp(&task, &by);
}

// The energy balance has the last word on the velocities of a part.
static carom_status balance_jvp(cr_forward* f, cr_sim* sim, const cr_record* record,
                                const cr_record_part* part, int32_t count, const lane* l)
{
    const int takes_part = cr_backward_balance(&f->worker, sim, record, part);
    if (takes_part <= 0) {
        return takes_part < 0 ? CAROM_ERR_MEMORY : CAROM_OK;
    }
    const int32_t rows = part->row_end - part->row_begin;
    const int32_t all = part->idle_end - part->row_begin;
    if ((3 * (int64_t)rows + 1) * count > INT32_MAX ||
        !cr_array_reserve(&f->balance_number, (3 * rows + 1) * count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_island_velocities(sim, &f->worker, part->h);
    for (int32_t i = 0; i < count; i++) {
        const cr_gradient* g = model_of(f, &l[i]);
        const scratch* s = &f->scratch.items[i];
        double* lam = f->balance_number.items + (3 * (size_t)rows + 1) * (size_t)i;
        double* more = lam + 3 * (ptrdiff_t)rows;
        *more = sheets_jvp(f, sim, part, &l[i], s);
        for (int32_t r = 0; r < rows; r++) {
            lam[r] = f->row.items[i * all + r].lam;
            lam[rows + r] = f->row.items[i * all + r].compliance;
            lam[2 * rows + r] = f->row.items[i * all + r].room;
        }
        f->balance.items[i] = (cr_balance_bars){.v = l[i].state.v,
                                                .om = l[i].state.om,
                                                .t = l[i].state.t,
                                                .q = l[i].state.q,
                                                .u = s->zone.u,
                                                .v0 = s->v0,
                                                .om_free = s->om_free,
                                                .a = s->a,
                                                .mass = g->mass,
                                                .inertia = g->inertia,
                                                .lam = lam,
                                                .eps = lam + rows,
                                                .room = lam + 2 * (ptrdiff_t)rows,
                                                .more = more,
                                                .spin = f->scratch.items[0].spin,
                                                .xv = l[i].state.xv,
                                                .x = l[i].state.x,
                                                .node_mass = g->node_mass,
                                                .push = f->scratch.items[0].push};
    }
    const cr_balance_task task = cr_island_balance(sim, &f->worker, part->h);
    cr_balance_jvp(&task, count, f->balance.items, f->scratch.items[0].thrust,
                   f->scratch.items[0].twist);
    return CAROM_OK;
}

static carom_status part_jvp(cr_forward* f, cr_sim* sim, const cr_record* record,
                             const cr_record_part* part, int32_t count, const lane* l)
{
    const int barrier = f->model->world.contact == CR_CONTACT_BARRIER;
    carom_status status = cr_backward_recall(&f->worker, sim, record, part);
    if (status == CAROM_OK) {
        aim_jvp(f, sim, part, count, l);
        status = impacts_jvp(f, sim, part, count, l);
    }
    if (status == CAROM_OK && !part->alone) {
        status = barrier ? contacts_jvp(f, sim, record, part, count, l)
                         : zone_jvp(f, sim, record, part, count, l);
    }
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        advance_jvp(f, sim, part, &l[i], &f->scratch.items[i]);
    }
    return status == CAROM_OK && !barrier ? balance_jvp(f, sim, record, part, count, l) : status;
}

// What moves by script is where it was told to be: v = (t1 - t0)/h. Its spin counts as constant in
// its own axes, as on the way back.
static void finish_scripted(const cr_forward* f, const lane* l, const scratch* s)
{
    const cr_body_set* bodies = &f->model->bodies;
    const double h = f->model->world.dt;
    for (int32_t body = 0; body < bodies->body_count; body++) {
        const int32_t frame = bodies->frame[body];
        if (frame >= 0 && bodies->kind[body] != CR_BODY_RIGID) {
            const cr_vec3 way = cr_vec3_sub(s->pose_t[1][frame], s->pose_t[0][frame]);
            l->state.t[frame] = s->pose_t[1][frame];
            l->state.q[frame] = s->pose_q[1][frame];
            l->state.v[frame] = cr_vec3_scale(1.0 / h, way);
            l->state.om[frame] = (cr_vec3){0, 0, 0};
        }
    }
}

carom_status cr_forward_step(cr_forward* f, cr_sim* sim, const cr_record* record, int32_t count,
                             const cr_forward_lane* l)
{
    CR_ASSERT(record->placed);
    carom_status status = prepare(f, count, l);
    if (status == CAROM_OK) {
        status = cr_near_renew(&sim->near);
    }
    if (status != CAROM_OK) {
        return status;
    }
    const int64_t step = sim->state.step;
    const double time = sim->state.time;
    sim->state.step = record->step;
    sim->state.time = record->time;
    cr_sim_gather_ways(sim);
    for (int32_t i = 0; i < count; i++) {
        scripted_jvp(f, sim, &l[i], &f->scratch.items[i]);
    }
    for (int32_t i = 0; i < record->part.count && status == CAROM_OK; i++) {
        status = part_jvp(f, sim, record, &record->part.items[i], count, l);
    }
    for (int32_t i = 0; i < count; i++) {
        finish_scripted(f, &l[i], &f->scratch.items[i]);
    }
    sim->state.step = step;
    sim->state.time = time;
    return status;
}
