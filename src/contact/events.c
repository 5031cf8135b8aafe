#include "contact/events.h"
#include "bodies/spin.h"
#include "contact/events_inside.h"
#include "contact/row.h"
#include "core/memory.h"
#include <string.h>

// No run has more events than this many per member, whatever max_events says.
enum { MOST_PER_MEMBER = 64 };

carom_status cr_events_create(cr_events** out)
{
    *out = cr_memory_take(1, sizeof(cr_events));
    return *out ? CAROM_OK : CAROM_ERR_MEMORY;
}

void cr_events_destroy(cr_events* events)
{
    if (!events) {
        return;
    }
    cr_array_release(&events->body);
    cr_array_release(&events->segment);
    cr_array_release(&events->near);
    cr_array_release(&events->toi);
    cr_array_release(&events->near_of);
    cr_array_release(&events->near_first);
    cr_array_release(&events->seen);
    cr_array_release(&events->stand);
    cr_array_release(&events->impact);
    cr_array_release(&events->member);
    cr_array_release(&events->row);
    cr_array_release(&events->contact);
    cr_array_release(&events->number);
    cr_array_release(&events->index);
    cr_array_release(&events->graph);
    cr_block_matrix_release(&events->matrix);
    cr_block_factor_destroy(events->factor);
    cr_array_release(&events->bar);
    cr_array_release(&events->row_bar);
    cr_memory_free(events);
}

static carom_status begin_body(cr_events* events, int32_t i)
{
    const cr_events_task* task = events->task;
    const cr_motion* motion = task->motion;
    const int32_t f = task->frame[i];
    cr_events_body body = {.frame = f,
                           .segment = i,
                           .support = -1,
                           .lock = task->bodies->lock[f],
                           .mass = task->bodies->mass[f],
                           .extent = task->bodies->extent[f],
                           .inertia = cr_vec3_load(task->bodies->inertia + 3 * f),
                           .torque = motion->torque[f]};
    const cr_mat3 r = motion->r0[f];
    const cr_vec3 a = cr_events_unlocked(motion->a[f], body.lock);
    const cr_vec3 v = cr_events_unlocked(cr_vec3_load(task->v + 3 * f), body.lock);
    cr_vec3 om = cr_vec3_load(task->om + 3 * f);
    if (body.lock >> 3) {
        om = cr_mat3_tapply(r, cr_events_unlocked(cr_mat3_apply(r, om), body.lock >> 3));
        body.spin_up = cr_events_spin_up(&body, r, body.torque);
    }
    const cr_events_segment segment = {.body = i,
                                       .impact = -1,
                                       .next = -1,
                                       .to = task->h,
                                       .q = cr_quat_load(task->q + 4 * f),
                                       .r = r,
                                       .v = cr_vec3_add_scaled(v, 0.5 * task->h, a),
                                       .a = a,
                                       .om = om,
                                       .rate = cr_vec3_scale(1.0 / task->h, motion->turn[f])};
    return cr_array_push(&events->body, body) && cr_array_push(&events->segment, segment)
               ? CAROM_OK
               : CAROM_ERR_MEMORY;
}

// The member that a body of the scene is, -1 when its motion is given, -2 when it is cloth
// or left to the zone.
static int32_t find_member(const cr_events_task* task, int32_t body)
{
    if (task->bodies->kind[body] == CR_BODY_CLOTH) {
        return -2;
    }
    if (task->bodies->kind[body] != CR_BODY_RIGID) {
        return -1;
    }
    int32_t low = 0, high = task->frame_count - 1;
    while (low <= high) {
        const int32_t mid = low + (high - low) / 2, frame = task->frame[mid];
        if (frame == task->bodies->frame[body]) {
            return task->left && task->left[frame] ? -2 : mid;
        }
        if (frame < task->bodies->frame[body]) {
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return -1;
}

// Whether all points of a pair whose motion is given end where they begin.
static int stays(const cr_events_task* task, const cr_pair* pair, const int32_t side[2])
{
    for (int k = 0; k < 4; k++) {
        const int32_t v = pair->v[k];
        if (v >= 0 && side[cr_row_side(pair->kind, k)] < 0 &&
            memcmp(&task->obstacle0[v], &task->obstacle1[v], sizeof *task->obstacle0) != 0) {
            return 0;
        }
    }
    return 1;
}

// From the vertices of a body to those of the one that stands for its shape.
static int32_t shape_of(const cr_events_task* task, int32_t body)
{
    return task->like ? task->bodies->vertex[task->like[body]] - task->bodies->vertex[body] : 0;
}

// Where in near the pairs of each body are.
static carom_status list_near(cr_events* events)
{
    const int32_t bodies = events->body.count;
    if (!cr_array_reserve(&events->near_first, bodies + 2) ||
        !cr_array_reserve(&events->near_of, 2 * events->near.count)) {
        return CAROM_ERR_MEMORY;
    }
    int32_t* first = events->near_first.items;
    memset(first, 0, (size_t)(bodies + 2) * sizeof(int32_t));
    for (int pass = 0; pass < 2; pass++) { // counts, two places ahead; then they move to ends
        for (int32_t i = 0; i < events->near.count; i++) {
            for (int side = 0; side < 2; side++) {
                const int32_t body = events->near.items[i].side[side];
                if (body >= 0 && pass == 0) {
                    first[body + 2]++;
                } else if (body >= 0) {
                    events->near_of.items[first[body + 1]++] = i;
                }
            }
        }
        for (int32_t b = 0; b < bodies && pass == 0; b++) {
            first[b + 2] += first[b + 1];
        }
    }
    return CAROM_OK;
}

static carom_status begin_bodies(cr_events* events)
{
    const cr_events_task* task = events->task;
    events->body.count = events->segment.count = events->near.count = events->stand.count = 0;
    events->impact.count = events->member.count = events->row.count = events->contact.count = 0;
    events->report = (cr_events_report){0};
    events->plane_of[0] = -1;
    for (int32_t i = 0; i < task->frame_count; i++) {
        if (begin_body(events, i) != CAROM_OK ||
            !cr_array_push(&events->stand, ((cr_events_stand){.s = (double)NAN}))) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

// Whether the vertex of a pair is inside a flat side or on a straight edge, which touch before it.
static int is_no_corner(const cr_events_task* task, const cr_pair* pair)
{
    return task->corner && pair->kind != CR_PAIR_EE && !task->corner[pair->v[3]];
}

// The near pairs, with a first look at each: toi is 0 where something may come of it.
static carom_status begin_near(cr_events* events)
{
    const cr_events_task* task = events->task;
    const int32_t lone = task->frame_count > 0 ? task->bodies->frame_body[task->frame[0]] : -1;
    int32_t last[2] = {-1, -1};
    const cr_pair* seen = NULL;
    cr_events_near near = {0};
    events->toi.count = 0;
    for (int32_t i = 0; i < task->candidate_count; i++) {
        const cr_pair* pair = &task->candidate[i].pair;
        const int32_t body[2] = {
            cr_body_set_owner(task->bodies, last[0] >= 0 ? last[0] : lone, pair->v[0]),
            cr_body_set_owner(task->bodies, last[1] >= 0 ? last[1] : lone, pair->v[3])};
        for (int side = 0; side < 2; side++) {
            if (body[side] != last[side]) {
                near.side[side] = find_member(task, body[side]);
                near.shape[side] = shape_of(task, body[side]);
                last[side] = body[side];
            }
        }
        if (is_no_corner(task, pair)) {
            continue;
        }
        if (near.side[0] < -1 || near.side[1] < -1 || (near.side[0] < 0 && near.side[1] < 0)) {
            continue;
        }
        near.candidate = i;
        const int same = seen && near.side[1] >= 0 && pair->kind == seen->kind &&
                         memcmp(pair->v, seen->v, 3 * sizeof *pair->v) == 0;
        near.still = same ? near.still : stays(task, pair, near.side);
        seen = pair; // many points are over one face
        near.row = CR_EVENTS_GROUP_UNSEEN;
        near.stop = -1;
        const int may = cr_events_path_first(events, &near);
        if (!cr_array_push(&events->near, near) ||
            !cr_array_push(&events->toi, may ? 0.0 : HUGE_VAL)) {
            return CAROM_ERR_MEMORY;
        }
        for (int side = 0; side < 2; side++) {
            if (near.side[side] >= 0) {
                events->body.items[near.side[side]].touching |= near.rests;
            }
        }
    }
    return CAROM_OK;
}

// Everybody at the start, and which pairs may meet. *hits: whether any does.
static carom_status begin(cr_events* events, int32_t* hits)
{
    carom_status status = begin_bodies(events);
    if (status == CAROM_OK) {
        status = begin_near(events);
    }
    *hits = 0;
    // Only now it is known who rests. A lone body that does is asked before anything happens to it,
    // and then all its pairs look again: whatever hits it is enough to know that.
    const int lone = events->body.count == 1 && cr_events_unasked(&events->body.items[0]);
    for (int32_t i = 0; i < events->near.count && status == CAROM_OK; i++) {
        double* toi = &events->toi.items[i];
        if (*toi < HUGE_VAL && !(lone && *hits)) {
            *toi = cr_events_path_search(events, &events->near.items[i]);
            *hits += *toi < HUGE_VAL;
        }
    }
    return status == CAROM_OK && *hits ? list_near(events) : status;
}

// The pairs of bodies that got other paths look again.
static void search_again(cr_events* events, const cr_events_impact* impact)
{
    for (int32_t m = impact->member_begin; m < impact->member_end; m++) {
        const int32_t body = events->member.items[m].body;
        for (int32_t i = events->near_first.items[body]; i < events->near_first.items[body + 1];
             i++) {
            const int32_t near = events->near_of.items[i];
            events->toi.items[near] = cr_events_path_search(events, &events->near.items[near]);
        }
    }
}

static int32_t earliest(const cr_events* events)
{
    int32_t best = -1;
    double least = HUGE_VAL;
    for (int32_t i = 0; i < events->near.count; i++) {
        if (events->toi.items[i] < least) {
            least = events->toi.items[i];
            best = i;
        }
    }
    return best;
}

// The mean of the spins at both ends of what is left.
static cr_vec3 rate_of(const cr_events_body* body, double left, cr_mat3 r, cr_vec3 om)
{
    return body->lock >> 3 ? cr_vec3_add_scaled(om, 0.5 * left, cr_mat3_tapply(r, body->spin_up))
                           : cr_spin_rate(body->inertia, left, om, body->torque);
}

// A supported body goes on as its support lets it from the start.
static void follow_support(cr_events* events, int32_t index)
{
    const cr_events_impact* impact = &events->impact.items[index];
    const double h = events->task->h;
    for (int32_t i = impact->member_begin; i < impact->member_end; i++) {
        const cr_events_member* member = &events->member.items[i];
        cr_events_body* body = &events->body.items[member->body];
        cr_events_segment* segment = &events->segment.items[member->segment];
        const cr_vec3 before = cr_vec3_load(member->before), after = cr_vec3_load(member->after);
        const cr_vec3 more = cr_mat3_tapply(member->pose.r, cr_vec3_sub(after, before));
        const cr_vec3 a = cr_vec3_load(member->after + 3);
        body->spin_up = cr_vec3_add(body->spin_up, cr_vec3_sub(after, before));
        segment->v = cr_vec3_add_scaled(segment->v, 0.5 * h, cr_vec3_sub(a, segment->a));
        segment->a = a;
        body->torque =
            cr_vec3_add(body->torque, (cr_vec3){body->inertia.x * more.x, body->inertia.y * more.y,
                                                body->inertia.z * more.z});
        body->support = index;
        segment->rate = rate_of(body, h, segment->r, segment->om);
        cr_events_path_changed(events, member->body);
    }
}

static int pushes(const cr_events* events, const cr_events_impact* impact)
{
    for (int32_t i = impact->row_begin; i < impact->row_end; i++) {
        if (events->row.items[i].active) {
            return 1;
        }
    }
    return 0;
}

static void forget(cr_events* events, const cr_events_impact* impact)
{
    events->member.count = impact->member_begin;
    events->row.count = impact->row_begin;
}

// Those that begin() left for later.
static void search_rest(cr_events* events)
{
    for (int32_t i = 0; i < events->near.count; i++) {
        if (events->toi.items[i] == 0.0) {
            events->toi.items[i] = cr_events_path_search(events, &events->near.items[i]);
        }
    }
}

// Asks of a body whether it rests on something; if it does it has another path from now on.
static carom_status ask_support(cr_events* events, int32_t index)
{
    cr_events_impact impact;
    events->body.items[index].asked = 1;
    carom_status status = cr_events_group_support(events, index, &impact);
    if (status == CAROM_OK) {
        status = cr_events_impulse_solve(events, &impact);
    }
    if (status == CAROM_ERR_MEMORY) {
        return status;
    }
    if (status != CAROM_OK || !pushes(events, &impact)) {
        forget(events, &impact);
        search_rest(events);
        return CAROM_OK;
    }
    if (!cr_array_push(&events->impact, impact)) {
        return CAROM_ERR_MEMORY;
    }
    follow_support(events, events->impact.count - 1);
    search_again(events, &impact);
    return CAROM_OK;
}

static carom_status report_contacts(cr_events* events, const cr_events_impact* impact)
{
    for (int32_t i = impact->row_begin; i < impact->row_end; i++) {
        const cr_events_row* row = &events->row.items[i];
        if (!row->active) {
            continue;
        }
        const double mu = row->c.friction;
        cr_vec3 place = {0};
        for (int k = 0; k < 4; k++) {
            place = cr_vec3_add_scaled(place, 0.5 * fabs(row->at.c[k]), row->x[k]);
        }
        const cr_vec3 push = cr_vec3_add_scaled(row->at.n, -mu, row->rub);
        const cr_events_contact contact = {.candidate = row->candidate,
                                           .time = impact->time,
                                           .place = place,
                                           .normal = row->at.n,
                                           .impulse = cr_vec3_scale(row->j, push)};
        if (!cr_array_push(&events->contact, contact)) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

// From the impact on everybody in it is on a new path.
static carom_status part_ways(cr_events* events, const cr_events_impact* impact)
{
    const double s = impact->time;
    for (int32_t i = impact->member_begin; i < impact->member_end; i++) {
        cr_events_member* member = &events->member.items[i];
        cr_events_body* body = &events->body.items[member->body];
        cr_events_segment* old = &events->segment.items[member->segment];
        events->stand.items[member->body].turned += (s - old->from) * cr_vec3_norm(old->rate);
        old->to = s;
        old->next = events->impact.count;
        cr_events_segment segment = {.body = member->body,
                                     .impact = events->impact.count,
                                     .next = -1,
                                     .from = s,
                                     .to = events->task->h,
                                     .u = member->pose.u,
                                     .v = cr_vec3_load(member->after + 3)};
        const cr_vec3 jump = cr_vec3_sub(segment.v, member->pose.v);
        segment.a = cr_vec3_add_scaled(old->a, -cr_events_fade(events->task, body->frame, s), jump);
        cr_vec3 om;
        cr_spin_path(body->inertia, s - old->from, old->q, old->om, body->torque, old->rate,
                     &segment.q, &om);
        segment.r = cr_quat_to_matrix(segment.q);
        segment.om = cr_mat3_tapply(member->pose.r, cr_vec3_load(member->after));
        segment.rate = rate_of(body, events->task->h - s, segment.r, segment.om);
        body->segment = member->next = events->segment.count;
        body->impacts++;
        events->report.most =
            body->impacts > events->report.most ? body->impacts : events->report.most;
        events->report.capped += body->impacts == events->task->max_events;
        if (!cr_array_push(&events->segment, segment)) {
            return CAROM_ERR_MEMORY;
        }
    }
    events->report.impacts++;
    return cr_array_push(&events->impact, *impact) ? CAROM_OK : CAROM_ERR_MEMORY;
}

// The event that begins with a pair: all that hit together with it. Where somebody has to be asked
// first nothing happens yet: it is looked for again.
static carom_status happen(cr_events* events, int32_t first)
{
    cr_events_impact impact;
    int32_t ask;
    carom_status status = cr_events_group_hit(events, first, &impact, &ask);
    if (status == CAROM_OK && ask >= 0) {
        forget(events, &impact);
        return ask_support(events, ask);
    }
    if (status == CAROM_ERR_MEMORY) {
        return status;
    }
    if (status != CAROM_OK || !pushes(events, &impact)) {
        forget(events, &impact);
        events->toi.items[first] = HUGE_VAL;
        return CAROM_OK;
    }
    status = report_contacts(events, &impact);
    if (status == CAROM_OK) {
        status = part_ways(events, &impact);
    }
    if (status == CAROM_OK) {
        search_again(events, &impact);
    }
    return status;
}

// Where a body that is held in some axes ends, in world axes: its path's spin, and what the support
// took of it, for the zone to see.
static void write_held(cr_events* events, const cr_events_body* body, int32_t index)
{
    const cr_events_task* task = events->task;
    cr_motion* motion = task->motion;
    const int32_t f = body->frame;
    const double h = task->h;
    cr_vec3 spin = cr_events_path_spin(events, index, h);
    if (body->support >= 0) {
        const cr_vec3 whole = cr_events_spin_up(body, motion->r0[f], motion->torque[f]);
        const cr_vec3 more = cr_vec3_scale(h, cr_vec3_sub(whole, body->spin_up));
        const cr_quat turn = cr_quat_from_rotation(cr_vec3_scale(h, more));
        spin = cr_vec3_add(spin, more);
        task->q_target[f] = cr_quat_normalize(cr_quat_mul(turn, task->q_target[f]));
    }
    motion->rp[f] = cr_quat_to_matrix(task->q_target[f]);
    motion->om1[f] = cr_mat3_tapply(motion->rp[f], spin);
}

static void write_target(cr_events* events, const cr_events_body* body)
{
    const cr_events_task* task = events->task;
    cr_motion* motion = task->motion;
    const cr_events_segment* segment = &events->segment.items[body->segment];
    const int32_t f = body->frame;
    const double h = task->h, d = h - segment->from;
    const cr_vec3 half = cr_vec3_scale(0.5, segment->a);
    cr_vec3 u = cr_vec3_add_scaled(segment->u, d, cr_vec3_add_scaled(segment->v, d, half));
    cr_vec3 v = cr_vec3_add_scaled(segment->v, d - 0.5 * h, segment->a);
    motion->guess[f] = u;
    cr_spin_path(body->inertia, d, segment->q, segment->om, body->torque, segment->rate,
                 &task->q_target[f], &motion->om1[f]);
    if (body->support >= 0) { // what the support took the zone sees in full
        const cr_vec3 a = cr_events_unlocked(motion->a[f], body->lock);
        const cr_vec3 more = cr_vec3_sub(a, events->segment.items[segment->body].a);
        u = cr_vec3_add_scaled(u, h * h, more);
        v = cr_vec3_add_scaled(v, h, more);
    }
    if (body->lock >> 3) {
        write_held(events, body, segment->body);
    } else if (body->support >= 0) {
        const cr_vec3 torque = cr_vec3_sub(motion->torque[f], body->torque);
        const cr_vec3 spin = {h * torque.x / body->inertia.x, h * torque.y / body->inertia.y,
                              h * torque.z / body->inertia.z};
        motion->om1[f] = cr_vec3_add(motion->om1[f], spin);
        const cr_quat turn = cr_quat_from_rotation(cr_vec3_scale(h, spin));
        task->q_target[f] = cr_quat_normalize(cr_quat_mul(task->q_target[f], turn));
    }
    motion->rp[f] = cr_quat_to_matrix(task->q_target[f]);
    motion->ut[f] = motion->u[f] = u;
    motion->v1[f] = v;
    motion->w[f] = motion->turn[f] = (cr_vec3){0};
}

static void write_targets(cr_events* events)
{
    cr_vec3* turn = events->task->motion->turn;
    for (int32_t i = 0; i < events->body.count; i++) {
        if (events->body.items[i].impacts > 0) {
            write_target(events, &events->body.items[i]);
        }
    }
    for (int32_t i = 0; i < events->segment.count; i++) {
        const cr_events_segment* segment = &events->segment.items[i];
        const cr_events_body* body = &events->body.items[segment->body];
        if (body->impacts > 0) {
            cr_vec3* sum = &turn[body->frame];
            *sum = cr_vec3_add_scaled(*sum, segment->to - segment->from, segment->rate);
        }
    }
}

carom_status cr_events_run(cr_events* events, const cr_events_task* task, cr_events_report* report)
{
    events->task = task;
    int32_t hits = 0;
    carom_status status = begin(events, &hits);
    const int64_t most = (int64_t)MOST_PER_MEMBER * (task->frame_count + 1);
    for (int64_t i = 0; i < most && status == CAROM_OK && hits; i++) {
        const int32_t first = earliest(events);
        if (first < 0) {
            break;
        }
        status = happen(events, first);
    }
    if (status == CAROM_OK) {
        write_targets(events);
    }
    *report = events->report;
    return status;
}

static carom_status put(cr_events_tape* tape, const void* items, int32_t count, size_t size)
{
    const size_t bytes = (size_t)count * size;
    if (bytes > (size_t)(INT32_MAX - tape->count - (int32_t)sizeof count) ||
        !cr_array_reserve(tape, tape->count + (int32_t)sizeof count + (int32_t)bytes)) {
        return CAROM_ERR_MEMORY;
    }
    memcpy(tape->items + tape->count, &count, sizeof count);
    tape->count += (int32_t)sizeof count;
    if (bytes > 0) {
        memcpy(tape->items + tape->count, items, bytes);
        tape->count += (int32_t)bytes;
    }
    return CAROM_OK;
}

#define PUT(tape, a) put((tape), (a)->items, keep ? (a)->count : 0, sizeof *(a)->items)

carom_status cr_events_save(const cr_events* events, cr_events_tape* tape)
{
    const int32_t was = tape->count;
    const int keep = events->report.impacts > 0;
    if (PUT(tape, &events->body) == CAROM_OK && PUT(tape, &events->segment) == CAROM_OK &&
        PUT(tape, &events->impact) == CAROM_OK && PUT(tape, &events->member) == CAROM_OK &&
        PUT(tape, &events->row) == CAROM_OK) {
        return CAROM_OK;
    }
    tape->count = was;
    return CAROM_ERR_MEMORY;
}

static int32_t next_count(const unsigned char** from)
{
    int32_t count;
    memcpy(&count, *from, sizeof count);
    *from += sizeof count;
    return count;
}

#define GET(from, a)                                                                               \
    do {                                                                                           \
        const int32_t get_count = next_count(&(from));                                             \
        (a)->count = 0;                                                                            \
        if (!cr_array_reserve((a), get_count)) {                                                   \
            return CAROM_ERR_MEMORY;                                                               \
        }                                                                                          \
        const size_t get_bytes = (size_t)get_count * sizeof *(a)->items;                           \
        if (get_bytes > 0) {                                                                       \
            memcpy((a)->items, (from), get_bytes);                                                 \
        }                                                                                          \
        (a)->count = get_count;                                                                    \
        (from) += get_bytes;                                                                       \
    } while (0)

carom_status cr_events_load(cr_events* events, const cr_events_task* task,
                            const unsigned char* from, const unsigned char** end)
{
    events->task = task;
    events->report = (cr_events_report){0};
    events->near.count = events->contact.count = 0;
    GET(from, &events->body);
    GET(from, &events->segment);
    GET(from, &events->impact);
    GET(from, &events->member);
    GET(from, &events->row);
    events->stand.count = 0; // no pose is known yet
    for (int32_t i = 0; i < events->body.count; i++) {
        if (!cr_array_push(&events->stand, ((cr_events_stand){.s = (double)NAN}))) {
            return CAROM_ERR_MEMORY;
        }
    }
    for (int32_t i = 0; i < events->impact.count; i++) {
        events->report.impacts += !events->impact.items[i].support;
    }
    write_targets(events);
    *end = from;
    return CAROM_OK;
}

int32_t cr_events_contacts(const cr_events* events, const cr_events_contact** contacts)
{
    *contacts = events->contact.items;
    return events->contact.count;
}

int cr_events_hit(const cr_events* events, int32_t frame)
{
    int32_t low = 0, high = events->body.count - 1;
    while (low <= high) {
        const int32_t mid = low + (high - low) / 2;
        if (events->body.items[mid].frame == frame) {
            return events->body.items[mid].impacts > 0;
        }
        if (events->body.items[mid].frame < frame) {
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return 0;
}
