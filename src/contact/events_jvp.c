#include "bodies/spin_held.h"
#include "contact/events_inside.h"
#include "contact/row.h"
#include <string.h>

// Changes of a segment's start, or of a state on it.
typedef struct state_change {
    cr_vec3 q, om; // body axes
    cr_vec3 u, v;
} state_change;

typedef struct segment_change {
    state_change start;
    cr_vec3 rate, a;
    double from; // s
} segment_change;

typedef struct body_change {
    cr_vec3 a, torque; // of the first path; of a body that is held in some axes spin_up for torque
} body_change;

// One direction on its way through the run.
typedef struct lane {
    const cr_events_tangents* by;
    segment_change* segment; // [segments]
    body_change* body;       // [bodies]
    cr_vec3* turn;           // [bodies] of the angle gone so far
    state_change* at;        // [members of the largest impact]
    double ds;               // s, of the time of the present impact
} lane;

// The scratch of all directions.
typedef struct forward {
    cr_events* events;
    const cr_events_task* task;
    int32_t count;
    lane* lane;                          // [count]
    cr_events_impulse_tangents* impulse; // [count]
} forward;

// Doubles that hold so many bytes.
static size_t words(size_t bytes)
{
    return (bytes + sizeof(double) - 1) / sizeof(double);
}

static double* cut(double** from, size_t count)
{
    double* out = *from;
    *from += count;
    return out;
}

static carom_status take(forward* f, const cr_events_tangents* by)
{
    cr_events* events = f->events;
    const size_t segments = (size_t)events->segment.count, bodies = (size_t)events->body.count;
    size_t members = 0, rows = 0;
    for (int32_t i = 0; i < events->impact.count; i++) {
        const cr_events_impact* impact = &events->impact.items[i];
        const size_t m = (size_t)(impact->member_end - impact->member_begin);
        const size_t n = (size_t)(impact->row_end - impact->row_begin);
        members = m > members ? m : members;
        rows = n > rows ? n : rows;
    }
    const size_t each = words(sizeof(lane)) + words(sizeof(cr_events_impulse_tangents)) +
                        segments * words(sizeof(segment_change)) +
                        bodies * (words(sizeof(body_change)) + 3) +
                        members * (words(sizeof(state_change)) + 6 + 6 + 4 * 3 + 1) + rows * 24;
    const size_t count = each * (size_t)f->count;
    if (count > INT32_MAX || !cr_array_reserve(&events->bar, (int32_t)count)) {
        return CAROM_ERR_MEMORY;
    }
    double* at = events->bar.items;
    memset(at, 0, count * sizeof(double));
    f->lane = (lane*)(void*)cut(&at, words(sizeof(lane)) * (size_t)f->count);
    f->impulse = (cr_events_impulse_tangents*)(void*)cut(
        &at, words(sizeof(cr_events_impulse_tangents)) * (size_t)f->count);
    for (int32_t i = 0; i < f->count; i++) {
        lane* l = &f->lane[i];
        cr_events_impulse_tangents* d = &f->impulse[i];
        l->by = &by[i];
        l->segment = (segment_change*)(void*)cut(&at, segments * words(sizeof(segment_change)));
        l->body = (body_change*)(void*)cut(&at, bodies * words(sizeof(body_change)));
        l->turn = (cr_vec3*)(void*)cut(&at, 3 * bodies);
        l->at = (state_change*)(void*)cut(&at, members * words(sizeof(state_change)));
        d->after = cut(&at, 6 * members);
        d->before = cut(&at, 6 * members);
        d->turn = (cr_vec3*)(void*)cut(&at, 3 * members);
        d->x = (cr_vec3*)(void*)cut(&at, 3 * members);
        d->a = (cr_vec3*)(void*)cut(&at, 3 * members);
        d->inertia = (cr_vec3*)(void*)cut(&at, 3 * members);
        d->mass = cut(&at, members);
        d->point = (cr_vec3*)(void*)cut(&at, 12 * rows);
        d->given = (cr_vec3*)(void*)cut(&at, 12 * rows);
    }
    return CAROM_OK;
}

static cr_vec3 inertia_change(const lane* l, int32_t frame)
{
    return cr_vec3_load(l->by->inertia + 3 * frame);
}

// Of cr_events_spin_up at the start of the step: P R y, y = I^-1 torque.
static cr_vec3 spin_up_change(const forward* f, const lane* l, const cr_events_body* body)
{
    const int32_t frame = body->frame;
    const cr_vec3 y = cr_vec3_over(f->task->motion->torque[frame], body->inertia);
    const cr_vec3 dtorque = l->by->torque[frame];
    const cr_vec3 dy = cr_vec3_over(
        cr_vec3_sub(dtorque, cr_vec3_times(inertia_change(l, frame), y)), body->inertia);
    const cr_vec3 moved = cr_vec3_add(dy, cr_vec3_cross(l->by->q[frame], y));
    return cr_events_unlocked(cr_mat3_apply(f->task->motion->r0[frame], moved), body->lock >> 3);
}

// Of R^T spin_up along a segment, whose R moves by q.
static cr_vec3 up_change(const cr_events_segment* segment, const cr_events_body* body, cr_vec3 q,
                         cr_vec3 dup)
{
    const cr_vec3 up = cr_mat3_tapply(segment->r, body->spin_up);
    return cr_vec3_sub(cr_mat3_tapply(segment->r, dup), cr_vec3_cross(q, up));
}

// Of a segment's rate: the first one's is that of the motion, unless there is a support.
static void begin_segment(const forward* f, const lane* l, int32_t index)
{
    const cr_events_segment* segment = &f->events->segment.items[index];
    const cr_events_body* body = &f->events->body.items[segment->body];
    segment_change* d = &l->segment[index];
    const double left = f->task->h - segment->from;
    if (segment->impact < 0 && body->support < 0) {
        d->rate = l->by->rate[body->frame];
    } else if (body->lock >> 3) { // om + left/2 up
        const cr_vec3 up = cr_mat3_tapply(segment->r, body->spin_up);
        const cr_vec3 dup = up_change(segment, body, d->start.q, l->body[segment->body].torque);
        d->rate = cr_vec3_add_scaled(d->start.om, 0.5 * left, dup);
        d->rate = cr_vec3_add_scaled(d->rate, -0.5 * d->from, up);
    } else {
        d->rate = cr_spin_rate_jvp(body->inertia, left, segment->om, body->torque, d->start.om,
                                   l->body[segment->body].torque, inertia_change(l, body->frame),
                                   -d->from);
    }
}

// Of the state at time s of a segment, which itself moves by ds.
static state_change segment_at(const forward* f, const lane* l, int32_t index, double s, double ds)
{
    const cr_events_segment* segment = &f->events->segment.items[index];
    const cr_events_body* body = &f->events->body.items[segment->body];
    const segment_change* begun = &l->segment[index];
    const state_change* start = &begun->start;
    const body_change* by = &l->body[segment->body];
    const double d = s - segment->from, dd = ds - begun->from;
    state_change out;
    out.u = cr_vec3_add_scaled(cr_vec3_add_scaled(start->u, d, start->v), 0.5 * d * d, begun->a);
    out.u = cr_vec3_add_scaled(out.u, dd, cr_vec3_add_scaled(segment->v, d, segment->a));
    out.v = cr_vec3_add_scaled(cr_vec3_add_scaled(start->v, d, begun->a), dd, segment->a);
    cr_spin_path_tangent path = {.q = start->q, .om = start->om, .rate = begun->rate, .s = dd};
    if (!(body->lock >> 3)) {
        path.torque = by->torque;
        path.inertia = inertia_change(l, body->frame);
        cr_spin_path_jvp(body->inertia, d, segment->om, body->torque, segment->rate, &path, &out.q,
                         &out.om);
        return out;
    }
    // a ball without torque whose spin is om + d up
    const cr_vec3 up = cr_mat3_tapply(segment->r, body->spin_up), ball = {1, 1, 1};
    path.om = cr_vec3_add_scaled(path.om, d, up_change(segment, body, start->q, by->torque));
    path.om = cr_vec3_add_scaled(path.om, dd, up);
    cr_spin_path_jvp(ball, d, cr_vec3_add_scaled(segment->om, d, up), (cr_vec3){0}, segment->rate,
                     &path, &out.q, &out.om);
    return out;
}

// The angle that a segment adds is (s - from) rate.
static void add_turn(const forward* f, const lane* l, int32_t index, double s, double ds)
{
    const cr_events_segment* segment = &f->events->segment.items[index];
    const segment_change* begun = &l->segment[index];
    cr_vec3* sum = &l->turn[segment->body];
    *sum = cr_vec3_add_scaled(*sum, s - segment->from, begun->rate);
    *sum = cr_vec3_add_scaled(*sum, ds - begun->from, segment->rate);
}

// The first segment begins with v + h a/2 and om.
static void start_body(const forward* f, const lane* l, int32_t index)
{
    const cr_events_body* body = &f->events->body.items[index];
    const int32_t frame = body->frame;
    const cr_vec3 v = cr_events_unlocked(l->by->v[frame], body->lock);
    state_change* start = &l->segment[index].start;
    start->q = l->by->q[frame];
    l->segment[index].a = l->body[index].a;
    start->v = cr_vec3_add_scaled(v, 0.5 * f->task->h, l->body[index].a);
    start->om = body->lock >> 3 ? cr_spin_held_part_jvp(f->task->motion->r0[frame], body->lock >> 3,
                                                        cr_vec3_load(f->task->om + 3 * frame),
                                                        l->by->q[frame], l->by->om[frame])
                                : l->by->om[frame];
    begin_segment(f, l, index);
}

// Of a row's points at constant time: x of a given point, p along world axes of a member's; and the
// velocity of a given one, which of a support is an acceleration and 0.
static void point_changes(const forward* f, const cr_events_impact* impact, const lane* l,
                          const cr_events_impulse_tangents* d)
{
    const cr_events* events = f->events;
    const cr_body_set* bodies = f->task->bodies;
    const double part = f->task->to - f->task->from;
    const double along = f->task->from + part * (impact->time / f->task->h);
    for (int32_t i = impact->row_begin; i < impact->row_end; i++) {
        const cr_events_row* row = &events->row.items[i];
        for (int k = 0; k < 4; k++) {
            const int32_t vertex = row->c.pair.v[k];
            cr_vec3* x = &d->point[4 * (i - impact->row_begin) + k];
            cr_vec3* v = &d->given[4 * (i - impact->row_begin) + k];
            *x = *v = (cr_vec3){0};
            if (vertex < 0) {
                continue;
            }
            const int32_t b = row->side[cr_row_side(row->c.pair.kind, k)];
            const int32_t body = bodies->vertex_body[vertex];
            const cr_vec3 dp = l->by->p ? l->by->p[vertex] : (cr_vec3){0};
            if (b >= 0) {
                *x = cr_mat3_apply(events->member.items[impact->member_begin + b].pose.r, dp);
            } else if (bodies->kind[body] == CR_BODY_RIGID) { // kept still under a support
                const int32_t frame = bodies->frame[body];
                const cr_vec3 p = cr_vec3_load(bodies->p + 3 * vertex);
                const cr_vec3 moved = cr_vec3_add(dp, cr_vec3_cross(l->by->q[frame], p));
                *x = cr_vec3_add(l->by->t[frame], cr_mat3_apply(f->task->motion->r0[frame], moved));
            } else {
                const cr_vec3 whole =
                    cr_vec3_sub(l->by->obstacle1[vertex], l->by->obstacle0[vertex]);
                *x = cr_vec3_add_scaled(l->by->obstacle0[vertex], along, whole);
                *v = impact->support ? (cr_vec3){0} : cr_vec3_scale(part / f->task->h, whole);
            }
        }
    }
}

static void member_numbers(const forward* f, const cr_events_impact* impact, int32_t b,
                           const lane* l, const cr_events_impulse_tangents* d)
{
    const cr_events_member* member = &f->events->member.items[impact->member_begin + b];
    const int32_t frame = f->events->body.items[member->body].frame;
    d->inertia[b] = inertia_change(l, frame);
    d->mass[b] = l->by->mass[frame];
    d->a[b] = l->segment[member->segment].a;
}

// The mean gap of the group at constant time; *rate is its rate along the paths.
static double mean_gap(const forward* f, const cr_events_impact* impact,
                       const cr_events_impulse_tangents* d, double* rate)
{
    const cr_events* events = f->events;
    const double share = 1.0 / (impact->hit_end - impact->row_begin);
    double sum = 0.0;
    *rate = 0.0;
    for (int32_t i = impact->row_begin; i < impact->hit_end; i++) {
        const cr_events_row* row = &events->row.items[i];
        const int32_t c = i - impact->row_begin;
        for (int k = 0; k < 4; k++) {
            if (!(row->at.active >> k & 1)) {
                continue;
            }
            const int32_t b = row->side[cr_row_side(row->c.pair.kind, k)];
            const cr_vec3 push = cr_vec3_scale(share * row->at.c[k], row->at.n);
            cr_vec3 v = row->given[k], dx = d->point[4 * c + k];
            if (b >= 0) {
                const cr_events_pose* pose = &events->member.items[impact->member_begin + b].pose;
                v = cr_vec3_add(pose->v, cr_vec3_cross(pose->turning, row->arm[k]));
                cr_vec3_add_to(&dx, cr_vec3_add(d->x[b], cr_vec3_cross(d->turn[b], row->arm[k])));
            }
            sum += cr_vec3_dot(push, dx);
            *rate += cr_vec3_dot(push, v);
        }
        sum -= share * d->row[c].thickness;
    }
    return sum;
}

// The members at the impact, whose time moves by ds.
static void members_at(const forward* f, const cr_events_impact* impact, double ds, const lane* l,
                       const cr_events_impulse_tangents* d)
{
    for (int32_t b = 0; b < impact->member_end - impact->member_begin; b++) {
        const cr_events_member* member = &f->events->member.items[impact->member_begin + b];
        const cr_events_body* body = &f->events->body.items[member->body];
        l->at[b] = segment_at(f, l, member->segment, impact->time, ds);
        d->turn[b] = cr_mat3_apply(member->pose.r, l->at[b].q);
        d->x[b] = cr_vec3_add(l->by->t[body->frame], l->at[b].u);
        // spin- = R om
        const cr_vec3 spin = cr_vec3_add(cr_mat3_apply(member->pose.r, l->at[b].om),
                                         cr_vec3_cross(d->turn[b], cr_vec3_load(member->before)));
        cr_vec3_store(d->before + 6 * b, cr_events_unlocked(spin, body->lock >> 3));
        cr_vec3_store(d->before + 6 * b + 3, l->at[b].v);
    }
}

// How the members came to the impact, and when: ds = -d(mean gap) / rate.
static void arrive(const forward* f, const cr_events_impact* impact, lane* l,
                   cr_events_impulse_tangents* d)
{
    d->row = l->by->row + impact->row_begin;
    for (int32_t b = 0; b < impact->member_end - impact->member_begin; b++) {
        member_numbers(f, impact, b, l, d);
    }
    point_changes(f, impact, l, d);
    members_at(f, impact, 0.0, l, d);
    double rate;
    const double gap = mean_gap(f, impact, d, &rate);
    l->ds = -gap / rate;
    members_at(f, impact, l->ds, l, d);
    for (int32_t i = impact->row_begin; i < impact->row_end; i++) {
        for (int k = 0; k < 4; k++) {
            cr_vec3* x = &d->point[4 * (i - impact->row_begin) + k];
            *x = cr_vec3_add_scaled(*x, l->ds, f->events->row.items[i].given[k]);
        }
    }
}

// And how they go on.
static void leave(const forward* f, const cr_events_impact* impact, const lane* l,
                  const cr_events_impulse_tangents* d)
{
    for (int32_t b = 0; b < impact->member_end - impact->member_begin; b++) {
        const cr_events_member* member = &f->events->member.items[impact->member_begin + b];
        const int32_t lock = f->events->body.items[member->body].lock;
        // om+ = R^T spin+
        cr_vec3 spin = cr_events_unlocked(cr_vec3_load(d->after + 6 * b), lock >> 3);
        spin = cr_vec3_sub(spin, cr_vec3_cross(d->turn[b], cr_vec3_load(member->after)));
        add_turn(f, l, member->segment, impact->time, l->ds);
        segment_change* next = &l->segment[member->next];
        next->start =
            (state_change){.q = l->at[b].q,
                           .u = l->at[b].u,
                           .om = cr_mat3_tapply(member->pose.r, spin),
                           .v = cr_events_unlocked(cr_vec3_load(d->after + 6 * b + 3), lock)};
        // a - (v+ - v-) / (T - s)
        const double fade =
            cr_events_fade(f->task, f->events->body.items[member->body].frame, impact->time);
        const cr_vec3 jump = cr_vec3_sub(cr_vec3_load(member->after + 3), member->pose.v);
        next->a = cr_vec3_add_scaled(l->segment[member->segment].a, -fade,
                                     cr_vec3_sub(next->start.v, l->at[b].v));
        next->a = cr_vec3_add_scaled(next->a, -fade * fade * l->ds, jump);
        next->from = l->ds;
        begin_segment(f, l, member->next);
    }
}

static carom_status impact_jvp(const forward* f, const cr_events_impact* impact)
{
    for (int32_t i = 0; i < f->count; i++) {
        arrive(f, impact, &f->lane[i], &f->impulse[i]);
    }
    const carom_status status = cr_events_impulse_jvp(f->events, impact, f->count, f->impulse);
    for (int32_t i = 0; i < f->count && status == CAROM_OK; i++) {
        leave(f, impact, &f->lane[i], &f->impulse[i]);
    }
    return status;
}

// The acceleration of a free body: spin's is R y, y = I^-1 (torque - om x I om), and that of a held
// one as the motion has it.
static void free_change(const forward* f, const cr_events_impact* impact, int32_t b, const lane* l,
                        const cr_events_impulse_tangents* d)
{
    const cr_events_member* member = &f->events->member.items[impact->member_begin + b];
    const cr_events_body* body = &f->events->body.items[member->body];
    const int32_t frame = body->frame;
    cr_vec3_store(d->before + 6 * b + 3, cr_events_unlocked(l->by->a[frame], body->lock));
    if (body->lock >> 3) {
        cr_vec3_store(d->before + 6 * b, spin_up_change(f, l, body));
        return;
    }
    const cr_vec3 i = body->inertia, di = inertia_change(l, frame);
    const cr_vec3 om = f->events->segment.items[member->segment].om, dom = l->by->om[frame];
    const cr_vec3 momentum = cr_vec3_times(i, om);
    const cr_vec3 dmomentum = cr_vec3_add(cr_vec3_times(di, om), cr_vec3_times(i, dom));
    const cr_vec3 y =
        cr_vec3_over(cr_vec3_sub(f->task->motion->torque[frame], cr_vec3_cross(om, momentum)), i);
    cr_vec3 dy = cr_vec3_sub(l->by->torque[frame], cr_vec3_cross(dom, momentum));
    dy = cr_vec3_sub(dy, cr_vec3_cross(om, dmomentum));
    dy = cr_vec3_over(cr_vec3_sub(dy, cr_vec3_times(di, y)), i);
    cr_vec3_store(
        d->before + 6 * b,
        cr_mat3_apply(member->pose.r, cr_vec3_add(dy, cr_vec3_cross(l->by->q[frame], y))));
}

// A support gave its members their accelerations: a = a+, torque = torque + I R^T (spin+ - spin-);
// of a held one spin_up = spin+.
static void supported(const forward* f, const cr_events_impact* impact, int32_t b, const lane* l,
                      const cr_events_impulse_tangents* d)
{
    const cr_events_member* member = &f->events->member.items[impact->member_begin + b];
    const cr_events_body* body = &f->events->body.items[member->body];
    const int32_t frame = body->frame;
    body_change* out = &l->body[member->body];
    const cr_vec3 dspin = cr_vec3_load(d->after + 6 * b);
    out->a = cr_events_unlocked(cr_vec3_load(d->after + 6 * b + 3), body->lock);
    if (body->lock >> 3) {
        out->torque = cr_events_unlocked(dspin, body->lock >> 3);
        return;
    }
    const cr_mat3 r = member->pose.r;
    const cr_vec3 more =
        cr_mat3_tapply(r, cr_vec3_sub(cr_vec3_load(member->after), cr_vec3_load(member->before)));
    cr_vec3 dmore = cr_mat3_tapply(r, cr_vec3_sub(dspin, cr_vec3_load(d->before + 6 * b)));
    dmore = cr_vec3_sub(dmore, cr_vec3_cross(l->by->q[frame], more));
    out->torque = cr_vec3_add(l->by->torque[frame], cr_vec3_times(inertia_change(l, frame), more));
    out->torque = cr_vec3_add(out->torque, cr_vec3_times(body->inertia, dmore));
}

static carom_status support_jvp(const forward* f, const cr_events_impact* impact)
{
    const int32_t members = impact->member_end - impact->member_begin;
    for (int32_t i = 0; i < f->count; i++) {
        const lane* l = &f->lane[i];
        cr_events_impulse_tangents* d = &f->impulse[i];
        d->row = l->by->row + impact->row_begin;
        point_changes(f, impact, l, d);
        for (int32_t b = 0; b < members; b++) {
            const cr_events_member* member = &f->events->member.items[impact->member_begin + b];
            const int32_t frame = f->events->body.items[member->body].frame;
            member_numbers(f, impact, b, l, d);
            d->turn[b] = cr_mat3_apply(member->pose.r, l->by->q[frame]);
            d->x[b] = l->by->t[frame];
            free_change(f, impact, b, l, d);
        }
    }
    const carom_status status = cr_events_impulse_jvp(f->events, impact, f->count, f->impulse);
    for (int32_t i = 0; i < f->count && status == CAROM_OK; i++) {
        for (int32_t b = 0; b < members; b++) {
            supported(f, impact, b, &f->lane[i], &f->impulse[i]);
        }
    }
    return status;
}

// Of write_held in events.c: with more = h (whole - path's) and Q = exp(h more),
//     R_p = Q R(h),   om1 = R_p^T (spin + more),   spin = R(h) om(h).
static void held_end(const forward* f, const lane* l, int32_t index, state_change* end)
{
    const cr_events_body* body = &f->events->body.items[index];
    const cr_motion* motion = f->task->motion;
    const double h = f->task->h;
    const cr_vec3 whole =
        cr_events_spin_up(body, motion->r0[body->frame], motion->torque[body->frame]);
    const cr_vec3 more = cr_vec3_scale(h, cr_vec3_sub(whole, body->spin_up));
    const cr_vec3 dmore =
        cr_vec3_scale(h, cr_vec3_sub(spin_up_change(f, l, body), l->body[index].torque));
    const cr_rot rot = cr_rot_make(cr_vec3_scale(h, more));
    const cr_events_segment* segment = &f->events->segment.items[body->segment];
    const cr_rot last = cr_rot_make(cr_vec3_scale(h - segment->from, segment->rate));
    const cr_mat3 r_h = cr_mat3_mul(segment->r, cr_rot_matrix(&last));
    const cr_mat3 r_p = cr_mat3_mul(cr_rot_matrix(&rot), r_h);
    const cr_vec3 spin = cr_events_path_spin(f->events, index, h);
    const cr_vec3 om1 = cr_mat3_tapply(r_p, cr_vec3_add(spin, more));
    const cr_vec3 om_h = cr_mat3_tapply(r_h, spin);
    const cr_vec3 dspin = cr_mat3_apply(r_h, cr_vec3_add(end->om, cr_vec3_cross(end->q, om_h)));
    // Q -> exp(eta) Q turns the spin's place, not the spin
    const cr_vec3 eta = cr_vec3_scale(h, cr_mat3_apply(cr_rot_left(&rot), dmore));
    end->q = cr_vec3_add(end->q, cr_mat3_tapply(r_p, eta));
    end->om =
        cr_vec3_sub(cr_mat3_tapply(r_p, cr_vec3_add(dspin, dmore)), cr_vec3_cross(end->q, om1));
}

// The targets of one body that was hit.
static void target_change(const forward* f, const lane* l, int32_t index)
{
    const cr_events_body* body = &f->events->body.items[index];
    const cr_motion* motion = f->task->motion;
    const int32_t frame = body->frame;
    const double h = f->task->h;
    const body_change* by = &l->body[index];
    state_change end = segment_at(f, l, body->segment, h, 0.0);
    add_turn(f, l, body->segment, h, 0.0);
    end.v = cr_vec3_add_scaled(end.v, -0.5 * h, l->segment[body->segment].a); // v1 = vt(h) - h a/2
    if (body->support >= 0 && body->lock >> 3) {
        held_end(f, l, index, &end);
    } else if (body->support >= 0) { // spin = h I^-1 (torque - path's), R_p = R(h) exp(h spin)
        const cr_vec3 torque = cr_vec3_sub(motion->torque[frame], body->torque);
        const cr_vec3 dtorque = cr_vec3_sub(l->by->torque[frame], by->torque);
        const cr_vec3 spin = cr_vec3_scale(h, cr_vec3_over(torque, body->inertia));
        const cr_vec3 dspin = cr_vec3_over(
            cr_vec3_sub(cr_vec3_scale(h, dtorque), cr_vec3_times(inertia_change(l, frame), spin)),
            body->inertia);
        const cr_rot rot = cr_rot_make(cr_vec3_scale(h, spin));
        end.q = cr_vec3_add_scaled(cr_mat3_tapply(cr_rot_matrix(&rot), end.q), h,
                                   cr_mat3_apply(cr_rot_right(&rot), dspin));
        end.om = cr_vec3_add(end.om, dspin);
    }
    if (body->support >= 0) {
        const cr_vec3 more = cr_vec3_sub(cr_events_unlocked(l->by->a[frame], body->lock), by->a);
        end.u = cr_vec3_add_scaled(end.u, h * h, more);
        end.v = cr_vec3_add_scaled(end.v, h, more);
    }
    l->by->rp[frame] = end.q;
    l->by->om1[frame] = end.om;
    l->by->ut[frame] = end.u;
    l->by->v1[frame] = end.v;
    l->by->turn[frame] = l->turn[index];
}

static void start_bodies(const forward* f, const lane* l)
{
    for (int32_t i = 0; i < f->events->body.count; i++) {
        const cr_events_body* body = &f->events->body.items[i];
        if (body->support < 0) {
            l->body[i].a = cr_events_unlocked(l->by->a[body->frame], body->lock);
            l->body[i].torque =
                body->lock >> 3 ? spin_up_change(f, l, body) : l->by->torque[body->frame];
        }
        if (body->impacts > 0) {
            start_body(f, l, i);
        }
    }
}

carom_status cr_events_jvp(cr_events* events, const cr_events_task* task, int32_t count,
                           const cr_events_tangents* by)
{
    forward f = {.events = events, .task = task, .count = count};
    events->task = task;
    carom_status status = take(&f, by);
    for (int32_t i = 0; i < events->impact.count && status == CAROM_OK; i++) {
        if (events->impact.items[i].support) {
            status = support_jvp(&f, &events->impact.items[i]);
        }
    }
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        start_bodies(&f, &f.lane[i]);
    }
    for (int32_t i = 0; i < events->impact.count && status == CAROM_OK; i++) {
        if (!events->impact.items[i].support) {
            status = impact_jvp(&f, &events->impact.items[i]);
        }
    }
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        for (int32_t b = 0; b < events->body.count; b++) {
            if (events->body.items[b].impacts > 0) {
                target_change(&f, &f.lane[i], b);
            }
        }
    }
    return status;
}

int32_t cr_events_row_count(const cr_events* events)
{
    return events->row.count;
}

const cr_candidate* cr_events_row_candidate(const cr_events* events, int32_t row)
{
    return &events->row.items[row].c;
}
