#include "sim/expect.h"
#include "core/memory.h"

// What lies beyond its reach gets this much more than it took.
static const double generous = 1.5;
// Of its sheet's shortest edge, what a node may miss its way by before anything was tried: its
// neighbours' neighbours do not come into sight then.
static const double edge_room = 0.3;
// With contact layers a node's look goes as far beyond its way as its layer is deep, times this:
// the last steps of a solve are shorter, and each layer more brings a row of the sheet into its
// sight.
static const double layer_room = 0.3;
// Room that costs nothing: as many times as the fastest needs.
static const double ample = 2.0;
// A wish is followed so many times as far as anything was expected to go.
static const double wild = 2.0;

carom_status cr_expect_init(cr_expect* expect, const cr_body_set* bodies)
{
    const size_t v = (size_t)bodies->vertex_count;
    expect->start = cr_memory_take(3 * v, sizeof(double));
    expect->ahead = cr_memory_take(3 * v, sizeof(double));
    expect->carry = cr_memory_take((size_t)bodies->body_count, sizeof(cr_carry));
    expect->node_reach = cr_memory_take((size_t)bodies->node_count, sizeof(double));
    expect->wide = cr_memory_take((size_t)bodies->body_count, sizeof(double));
    expect->node_wide = cr_memory_take((size_t)bodies->node_count, sizeof(double));
    return expect->start && expect->ahead && expect->carry && expect->node_reach && expect->wide &&
                   expect->node_wide
               ? CAROM_OK
               : CAROM_ERR_MEMORY;
}

void cr_expect_release(cr_expect* expect)
{
    cr_memory_free(expect->start);
    cr_memory_free(expect->ahead);
    cr_memory_free(expect->carry);
    cr_memory_free(expect->node_reach);
    cr_memory_free(expect->wide);
    cr_memory_free(expect->node_wide);
    *expect = (cr_expect){0};
}

// Everything is expected on the straight way of its velocity, or to stop there: what rests will
// rest. It may miss that by what loads add, a part of the way, and its thickness. What goes farther
// is found out afterwards.
static cr_carry frame_from(const cr_sim* sim, const cr_state* state, int32_t f, double h,
                           cr_target* aim)
{
    const cr_body_set* bodies = &sim->model->bodies;
    const cr_quat q = cr_quat_load(state->q + 4 * f);
    const cr_vec3 v = cr_vec3_load(state->v + 3 * f);
    const cr_vec3 om = cr_vec3_load(state->om + 3 * f);
    const cr_target target = cr_island_target(sim, f, h, q, v, om);
    *aim = target;
    const cr_quat turned = cr_quat_mul(q, cr_quat_from_rotation(cr_vec3_scale(h, om)));
    cr_carry carry = cr_carry_rest(cr_quat_to_matrix(q), cr_vec3_load(state->t + 3 * f));
    carry.r1 = cr_quat_to_matrix(cr_quat_normalize(turned));
    carry.t1 = cr_vec3_add_scaled(carry.t0, h, v);
    carry.still = 0;
    carry.reach = CR_SIM_SLACK * cr_carry_length(&carry, bodies->extent[f]) +
                  cr_body_set_reach(bodies, bodies->frame_body[f]) +
                  cr_carry_off(&carry, bodies->extent[f], cr_quat_to_matrix(target.q),
                               cr_vec3_add(carry.t0, target.u));
    return carry;
}

// The shortest edge of a sheet. m
static double shortest_edge(const cr_sim* sim, const cr_state* state, int32_t sheet)
{
    const cr_surface* surface = &sim->model->surface;
    const int32_t* node = sim->model->bodies.node;
    const int32_t b = sim->model->sheet_body[sheet];
    double least = HUGE_VAL;
    for (int32_t e = surface->body_edge[b]; e < surface->body_edge[b + 1]; e++) {
        const int32_t* v = surface->edge + 2 * (ptrdiff_t)e;
        const cr_vec3 way = cr_vec3_sub(cr_vec3_load(state->x + 3 * (ptrdiff_t)node[v[1]]),
                                        cr_vec3_load(state->x + 3 * (ptrdiff_t)node[v[0]]));
        least = cr_min(least, cr_vec3_norm2(way));
    }
    return sqrt(least);
}

// What a node's reach has for its contacts.
static double contact_room(const cr_sim* sim, int32_t body)
{
    const double reach = cr_body_set_reach(&sim->model->bodies, body);
    return sim->model->world.contact == CR_CONTACT_BARRIER ? layer_room * reach : reach;
}

// A sheet over h s, `share` of the step: so much of a scripted way is gone. No node may miss its
// way by so much that half the sheet comes into its sight, before anything was tried.
static void expect_sheet(cr_sim* sim, cr_expect* expect, const cr_state* state, int32_t sheet,
                         double h, double share)
{
    const cr_model* model = sim->model;
    const cr_body_set* bodies = &model->bodies;
    const double fall = h * h * cr_vec3_norm(cr_vec3_load(model->world.gravity));
    const double room = edge_room * shortest_edge(sim, state, sheet);
    for (int32_t n = model->sheet_node[sheet]; n < model->sheet_node[sheet + 1]; n++) {
        const int pinned = bodies->node_pinned[n];
        const int32_t v = bodies->node_vertex[n];
        const double pushed =
            pinned ? 0.0 : h * h * cr_vec3_norm(sim->node_force_now[n]) / bodies->node_mass[n];
        const cr_vec3 way =
            pinned ? cr_vec3_scale(share, cr_vec3_sub(sim->obstacle1[v], sim->obstacle0[v]))
                   : cr_vec3_scale(h, cr_vec3_load(state->xv + 3 * n));
        const cr_vec3 at = cr_vec3_load(state->x + 3 * n);
        const double miss = CR_SIM_SLACK * cr_vec3_norm(way) + fall + pushed;
        cr_vec3_store(expect->start + 3 * v, at);
        cr_vec3_store(expect->ahead + 3 * v, cr_vec3_add(at, way));
        expect->node_reach[n] = cr_min(miss, room) + contact_room(sim, bodies->vertex_body[v]);
    }
}

// The stretch from `from` to `to` of a motion.
static cr_carry slice(const cr_carry* whole, double from, double to)
{
    cr_carry part = *whole;
    const cr_mat3 turn = cr_mat3_add_scaled(whole->r1, -1.0, whole->r0);
    const cr_vec3 way = cr_vec3_sub(whole->t1, whole->t0);
    if (!whole->still && (from > 0.0 || to < 1.0)) {
        part.r0 = cr_mat3_add_scaled(whole->r0, from, turn);
        part.r1 = cr_mat3_add_scaled(whole->r0, to, turn);
        part.t0 = cr_vec3_add_scaled(whole->t0, from, way);
        part.t1 = cr_vec3_add_scaled(whole->t0, to, way);
    }
    return part;
}

// What moves by script, or does not move at all.
static void expect_scripts(const cr_sim* sim, cr_expect* expect, double from, double to)
{
    const cr_body_set* bodies = &sim->model->bodies;
    for (int32_t b = 0; b < bodies->body_count; b++) {
        if (bodies->kind[b] == CR_BODY_FIXED || bodies->kind[b] == CR_BODY_KINEMATIC) {
            expect->carry[b] = slice(&sim->scripted[b], from, to);
        }
    }
}

void cr_expect_step(cr_sim* sim)
{
    const cr_body_set* bodies = &sim->model->bodies;
    const double h = sim->leg.h;
    expect_scripts(sim, &sim->whole, sim->leg.from, sim->leg.to);
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        const int32_t b = bodies->frame_body[f];
        if (bodies->kind[b] == CR_BODY_RIGID) {
            sim->whole.carry[b] = frame_from(sim, &sim->state, f, h, &sim->aimed[f]);
        }
    }
    for (int32_t i = 0; i < sim->model->sheet_count; i++) {
        expect_sheet(sim, &sim->whole, &sim->state, i, h, sim->leg.to - sim->leg.from);
    }
}

static double frame_range(const cr_sim* sim, const cr_expect* expect, int32_t f)
{
    const cr_carry* carry = &expect->carry[sim->model->bodies.frame_body[f]];
    return cr_carry_length(carry, sim->model->bodies.extent[f]) + carry->reach;
}

// The farthest that any frame of the island was expected to go.
static double farthest_frame(const cr_sim* sim, const cr_worker* worker, const cr_expect* expect)
{
    double most = 0.0;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        most = cr_max(most, frame_range(sim, expect, worker->frame.items[i]));
    }
    return most;
}

// The farthest that anything of the island was expected to go: its members, and what moves by
// script and may hit them.
static double farthest(const cr_sim* sim, const cr_worker* worker, const cr_expect* expect)
{
    const cr_body_set* bodies = &sim->model->bodies;
    double most = farthest_frame(sim, worker, expect);
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        for (int32_t n = sim->model->sheet_node[s]; n < sim->model->sheet_node[s + 1]; n++) {
            most = cr_max(most, expect->node_reach[n]);
        }
    }
    for (int32_t i = 0; i < worker->candidate_count; i++) {
        const cr_pair* pair = &worker->candidate[i].pair;
        for (int k = 0; k < 4; k += 3) {
            const int32_t b = bodies->vertex_body[pair->v[k]];
            if (bodies->kind[b] == CR_BODY_KINEMATIC) {
                most = cr_max(most, frame_range(sim, expect, bodies->frame[b]));
            }
        }
    }
    return most;
}

void cr_expect_range(cr_sim* sim, const cr_worker* worker)
{
    sim->part.range = farthest(sim, worker, worker->expect);
}

double cr_expect_edge(const cr_sim* sim, const cr_worker* worker)
{
    double least = HUGE_VAL;
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        least = cr_min(least, shortest_edge(sim, &sim->state, worker->sheet.items[i]));
    }
    return least;
}

static double frame_way(const cr_sim* sim, int32_t f)
{
    const cr_body_set* bodies = &sim->model->bodies;
    return cr_carry_length(&sim->whole.carry[bodies->frame_body[f]], bodies->extent[f]);
}

double cr_expect_frame_way(const cr_sim* sim, const cr_worker* worker)
{
    double most = 0.0;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        most = cr_max(most, frame_way(sim, worker->frame.items[i]));
    }
    return most;
}

double cr_expect_near_way(const cr_sim* sim, const cr_worker* worker)
{
    const cr_body_set* bodies = &sim->model->bodies;
    double most = 0.0;
    int32_t last = -1;
    for (int32_t i = 0; i < worker->candidate_count; i++) {
        for (int k = 0; k < 4; k += 3) {
            const int32_t b = bodies->vertex_body[worker->candidate[i].pair.v[k]];
            if (bodies->kind[b] == CR_BODY_RIGID && b != last) {
                most = cr_max(most, frame_way(sim, bodies->frame[b]));
                last = b;
            }
        }
    }
    return most;
}

double cr_expect_sheet_way(const cr_sim* sim, const cr_worker* worker)
{
    const cr_body_set* bodies = &sim->model->bodies;
    double most = 0.0;
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        for (int32_t n = sim->model->sheet_node[s]; n < sim->model->sheet_node[s + 1]; n++) {
            const int32_t v = bodies->node_vertex[n];
            most = cr_max(most, cr_vec3_norm(cr_vec3_sub(cr_vec3_load(sim->whole.ahead + 3 * v),
                                                         cr_vec3_load(sim->whole.start + 3 * v))));
        }
    }
    return most;
}

void cr_expect_part(cr_sim* sim, const cr_worker* worker, double h, double from, double to)
{
    const cr_body_set* bodies = &sim->model->bodies;
    expect_scripts(sim, &sim->part, from, to);
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i];
        cr_target aim;
        sim->part.carry[bodies->frame_body[f]] = frame_from(sim, &sim->next, f, h, &aim);
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        expect_sheet(sim, &sim->part, &sim->next, worker->sheet.items[i], h, to - from);
    }
    sim->part.range = farthest(sim, worker, &sim->part);
}

// Where the iterate has a node, and the way from there to where it wants to be.
static cr_vec3 node_onwards(const cr_sim* sim, int32_t n, double from, double to, cr_vec3* way)
{
    const cr_body_set* bodies = &sim->model->bodies;
    if (bodies->node_pinned[n]) {
        const int32_t v = bodies->node_vertex[n];
        const cr_vec3 whole = cr_vec3_sub(sim->obstacle1[v], sim->obstacle0[v]);
        *way = cr_vec3_scale(to - from, whole);
        return cr_vec3_add_scaled(sim->obstacle0[v], from, whole);
    }
    const cr_vec3 at = cr_vec3_add(sim->motion.x0[n], sim->motion.d[n]);
    *way = cr_vec3_sub(cr_vec3_load(sim->node_wish + 3 * n), at);
    return at;
}

static cr_carry frame_onwards(const cr_sim* sim, int32_t f)
{
    const cr_motion* motion = &sim->motion;
    const cr_quat q = cr_quat_mul(sim->q_target[f], cr_quat_from_rotation(motion->w[f]));
    cr_carry carry = cr_carry_rest(cr_quat_to_matrix(cr_quat_normalize(q)),
                                   cr_vec3_add(motion->t0[f], motion->u[f]));
    carry.r1 = sim->wish[f].r1;
    carry.t1 = sim->wish[f].t1;
    carry.still = 0;
    return carry;
}

// The longest way of a member, as wished.
static double longest_wish(const cr_sim* sim, const cr_worker* worker, double from, double to)
{
    double most = 0.0;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i];
        const cr_carry carry = frame_onwards(sim, f);
        most = cr_max(most, cr_carry_length(&carry, sim->model->bodies.extent[f]));
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        for (int32_t n = sim->model->sheet_node[s]; n < sim->model->sheet_node[s + 1]; n++) {
            cr_vec3 way;
            node_onwards(sim, n, from, to, &way);
            most = cr_max(most, cr_vec3_norm(way));
        }
    }
    return most;
}

// A wish that leads much farther than anything here goes is a wild one, and followed part of its
// way. Around the ways there is room for the next wishes, which are shorter as a rule.
void cr_expect_onwards(cr_sim* sim, const cr_worker* worker, double from, double to)
{
    const cr_model* model = sim->model;
    const cr_body_set* bodies = &model->bodies;
    cr_expect* part = &sim->part;
    const double longest = longest_wish(sim, worker, from, to);
    const double followed = longest > wild * part->range ? wild * part->range / longest : 1.0;
    expect_scripts(sim, &sim->part, from, to);
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i], b = bodies->frame_body[f];
        const cr_carry wished = frame_onwards(sim, f);
        cr_carry* carry = &part->carry[b];
        *carry = slice(&wished, 0.0, followed);
        carry->reach =
            CR_SIM_SLACK * (cr_carry_length(carry, bodies->extent[f]) + followed * longest) +
            cr_body_set_reach(bodies, b);
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        const double room = cr_min(CR_SIM_SLACK * followed * longest,
                                   edge_room * shortest_edge(sim, &sim->next, s));
        for (int32_t n = model->sheet_node[s]; n < model->sheet_node[s + 1]; n++) {
            const int32_t v = bodies->node_vertex[n];
            cr_vec3 way;
            const cr_vec3 at = node_onwards(sim, n, from, to, &way);
            const double share = bodies->node_pinned[n] ? 1.0 : followed;
            cr_vec3_store(part->start + 3 * v, at);
            cr_vec3_store(part->ahead + 3 * v, cr_vec3_add_scaled(at, share, way));
            part->node_reach[n] = CR_SIM_SLACK * share * cr_vec3_norm(way) + room +
                                  contact_room(sim, bodies->vertex_body[v]);
        }
    }
}

void cr_expect_forget(cr_sim* sim, const cr_worker* worker)
{
    for (int32_t i = 0; i < worker->frame.count; i++) {
        sim->wants[worker->frame.items[i]] = 0.0;
    }
}

// How far the farthest vertex of a frame is from the way that is expected of it.
static double frame_off(const cr_sim* sim, int32_t f)
{
    const cr_body_set* bodies = &sim->model->bodies;
    return cr_carry_off(&sim->whole.carry[bodies->frame_body[f]], bodies->extent[f],
                        cr_quat_to_matrix(cr_quat_load(sim->next.q + 4 * f)),
                        cr_vec3_load(sim->next.t + 3 * f));
}

// How far a node is from the way that is expected of it.
static double node_off(const cr_sim* sim, int32_t n)
{
    const int32_t v = sim->model->bodies.node_vertex[n];
    return cr_carry_off_segment(cr_vec3_load(sim->whole.start + 3 * v),
                                cr_vec3_load(sim->whole.ahead + 3 * v),
                                cr_vec3_load(sim->next.x + 3 * n));
}

int cr_expect_strayed(cr_sim* sim, const cr_worker* worker)
{
    cr_expect* whole = &sim->whole;
    int any = 0;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i], b = sim->model->bodies.frame_body[f];
        const double far = frame_off(sim, f);
        if (!(far <= whole->carry[b].reach)) {
            any = 1;
            whole->wide[b] = cr_max(whole->wide[b], generous * far);
        }
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        for (int32_t n = sim->model->sheet_node[s]; n < sim->model->sheet_node[s + 1]; n++) {
            const double far = node_off(sim, n);
            if (!(far <= whole->node_reach[n])) {
                any = 1;
                whole->node_wide[n] = cr_max(whole->node_wide[n], generous * far);
            }
        }
    }
    return any;
}

void cr_expect_admit(cr_sim* sim, const cr_worker* worker)
{
    cr_expect* whole = &sim->whole;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t b = sim->model->bodies.frame_body[worker->frame.items[i]];
        whole->carry[b].reach = cr_max(whole->carry[b].reach, whole->wide[b]);
        whole->wide[b] = 0.0;
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        for (int32_t n = sim->model->sheet_node[s]; n < sim->model->sheet_node[s + 1]; n++) {
            whole->node_reach[n] = cr_max(whole->node_reach[n], whole->node_wide[n]);
            whole->node_wide[n] = 0.0;
        }
    }
}

int cr_expect_missed(cr_sim* sim, const cr_worker* worker)
{
    const int any = cr_expect_strayed(sim, worker);
    cr_expect_admit(sim, worker);
    return any;
}

// At first a body is expected where it wanted to be instead: one that hits something goes on in
// another direction, not in all of them. Where that was not it, or is farther than anything near
// goes, it gets more room on all sides, up to what the fastest of the island has on top of its own:
// what lies still goes as far as what hits it.
static void widen_frame(cr_sim* sim, const cr_worker* worker, int32_t f, double most, int believed)
{
    cr_carry* carry = &worker->expect->carry[sim->model->bodies.frame_body[f]];
    const double extent = sim->model->bodies.extent[f];
    cr_carry anew = *carry;
    anew.r1 = sim->wish[f].r1;
    anew.t1 = sim->wish[f].t1;
    anew.still = 0;
    const double length = cr_carry_length(&anew, extent);
    if (sim->wants[f] > 0.0 && believed && length <= 2.0 * most) {
        carry->r1 = anew.r1;
        carry->t1 = anew.t1;
        carry->reach += CR_SIM_SLACK * length;
        return;
    }
    carry->reach += cr_min(generous * sim->wants[f], most);
}

void cr_expect_widen(cr_sim* sim, const cr_worker* worker, int believed)
{
    const double most = farthest(sim, worker, worker->expect);
    for (int32_t i = 0; i < worker->frame.count; i++) {
        widen_frame(sim, worker, worker->frame.items[i], most, believed);
    }
}

void cr_expect_free(cr_sim* sim, const cr_worker* worker)
{
    const double most = ample * farthest(sim, worker, worker->expect);
    for (int32_t i = 0; i < worker->frame.count; i++) {
        worker->expect->carry[sim->model->bodies.frame_body[worker->frame.items[i]]].reach += most;
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        for (int32_t n = sim->model->sheet_node[s]; n < sim->model->sheet_node[s + 1]; n++) {
            worker->expect->node_reach[n] += most;
        }
    }
}
