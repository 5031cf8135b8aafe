#include "bodies/spin.h"
#include "contact/events_inside.h"
#include "contact/row.h"
#include <string.h>

// Bars by the start of a segment, or by a state on it.
typedef struct state_bars {
    cr_vec3 q, om; // body axes
    cr_vec3 u, v;
} state_bars;

typedef struct body_bars {
    cr_vec3 a, torque; // of the first path; of a body that is held in some axes spin_up for torque
} body_bars;

// The scratch of a reverse: all in one block.
typedef struct reverse {
    cr_events* events;
    const cr_events_task* task;
    const cr_events_bars* out;
    state_bars* segment; // [segments]
    cr_vec3* pull;       // [segments] of their accelerations
    body_bars* body;     // [bodies]
    double* time;        // [impacts] bar of the time of each
    cr_events_impulse_bars impulse;
    double* after; // the impulse's, to be written
} reverse;

// Room for the largest impact, and for everything.
static carom_status take(reverse* r)
{
    cr_events* events = r->events;
    size_t members = 0, rows = 0;
    for (int32_t i = 0; i < events->impact.count; i++) {
        const cr_events_impact* impact = &events->impact.items[i];
        const size_t m = (size_t)(impact->member_end - impact->member_begin);
        const size_t n = (size_t)(impact->row_end - impact->row_begin);
        members = m > members ? m : members;
        rows = n > rows ? n : rows;
    }
    const size_t count = 15 * (size_t)events->segment.count + 6 * (size_t)events->body.count +
                         (size_t)events->impact.count + members * (12 + 12 + 1) + rows * 24;
    if (count > INT32_MAX || !cr_array_reserve(&events->bar, (int32_t)count) ||
        !cr_array_reserve(&events->row_bar, events->row.count)) {
        return CAROM_ERR_MEMORY;
    }
    double* at = events->bar.items;
    memset(at, 0, count * sizeof(double));
    r->segment = (state_bars*)(void*)at;
    at += 12 * events->segment.count;
    r->pull = (cr_vec3*)(void*)at;
    at += 3 * events->segment.count;
    r->body = (body_bars*)(void*)at;
    at += 6 * events->body.count;
    r->time = at;
    at += events->impact.count;
    cr_events_impulse_bars* impulse = &r->impulse;
    impulse->after = r->after = at;
    impulse->before = at + 6 * members;
    impulse->turn = (cr_vec3*)(void*)(at + 12 * members);
    impulse->x = impulse->turn + members;
    impulse->a = impulse->x + members;
    impulse->inertia = impulse->a + members;
    impulse->mass = (double*)(void*)(impulse->inertia + members);
    impulse->point = (cr_vec3*)(void*)(impulse->mass + members);
    impulse->given = impulse->point + 4 * rows;
    events->row_bar.count = events->row.count;
    for (int32_t i = 0; i < events->row.count; i++) {
        events->row_bar.items[i] = (cr_events_row_bars){.candidate = events->row.items[i].c};
    }
    return CAROM_OK;
}

// A clean sheet for one impact.
static void clear_impulse(reverse* r, const cr_events_impact* impact)
{
    const size_t members = (size_t)(impact->member_end - impact->member_begin);
    const size_t rows = (size_t)(impact->row_end - impact->row_begin);
    const cr_events_impulse_bars* bars = &r->impulse;
    memset(r->after, 0, 6 * members * sizeof(double));
    memset(bars->before, 0, 6 * members * sizeof(double));
    memset(bars->turn, 0, members * sizeof(cr_vec3));
    memset(bars->x, 0, members * sizeof(cr_vec3));
    memset(bars->a, 0, members * sizeof(cr_vec3));
    memset(bars->inertia, 0, members * sizeof(cr_vec3));
    memset(bars->mass, 0, members * sizeof(double));
    memset(bars->point, 0, 4 * rows * sizeof(cr_vec3));
    memset(bars->given, 0, 4 * rows * sizeof(cr_vec3));
    r->impulse.row = r->events->row_bar.items + impact->row_begin;
}

// Reverse of the spin at d since the start of a segment. Of a body that is held it is world axes
// that matter: om(d) = E^T om', om' = om + d up, up = R^T spin_up, as of a ball without torque.
static void spin_reverse(const cr_events_segment* segment, const cr_events_body* body, double d,
                         const state_bars* in, state_bars* start, cr_vec3* torque, cr_vec3* inertia,
                         cr_vec3* rate, cr_vec3* up, double* d_bar)
{
    if (!(body->lock >> 3)) {
        cr_spin_path_adj(body->inertia, d, segment->om, body->torque, segment->rate, in->q, in->om,
                         &start->q, &start->om, torque, inertia, rate, d_bar);
        return;
    }
    const cr_vec3 by = cr_mat3_tapply(segment->r, body->spin_up);
    const cr_vec3 om = cr_vec3_add_scaled(segment->om, d, by), ball = {1, 1, 1};
    cr_vec3 om_bar = {0}, unused[2] = {{0}};
    cr_spin_path_adj(ball, d, om, (cr_vec3){0}, segment->rate, in->q, in->om, &start->q, &om_bar,
                     &unused[0], &unused[1], rate, d_bar);
    cr_vec3_add_to(&start->om, om_bar);
    cr_vec3_add_to(up, cr_vec3_scale(d, om_bar));
    *d_bar += cr_vec3_dot(om_bar, by);
}

// Reverse of a segment's rate: the first one's is that of the motion, unless there is a support.
static void rate_reverse(reverse* r, const cr_events_segment* segment, const cr_events_body* body,
                         cr_vec3 rate, state_bars* start, cr_vec3* torque, cr_vec3* inertia,
                         cr_vec3* up, double* left_bar)
{
    const double left = r->task->h - segment->from;
    if (segment->impact < 0 && body->support < 0) {
        cr_vec3_add_to(&r->out->rate[body->frame], rate);
    } else if (body->lock >> 3) { // om + left/2 up
        cr_vec3_add_to(&start->om, rate);
        cr_vec3_add_to(up, cr_vec3_scale(0.5 * left, rate));
        *left_bar += 0.5 * cr_vec3_dot(rate, cr_mat3_tapply(segment->r, body->spin_up));
    } else {
        cr_spin_rate_adj(body->inertia, left, segment->om, body->torque, rate, &start->om, torque,
                         inertia, left_bar);
    }
}

// From bars of the state at time s of a segment, and of the angle that it turned, to its start and
// to the time at which it began. The bar of s itself is time_bar's.
static void segment_reverse(reverse* r, int32_t index, double s, const state_bars* in, cr_vec3 turn,
                            state_bars* start)
{
    const cr_events_segment* segment = &r->events->segment.items[index];
    const cr_events_body* body = &r->events->body.items[segment->body];
    const double d = s - segment->from;
    body_bars* by = &r->body[segment->body];
    cr_vec3 rate = cr_vec3_scale(d, turn), inertia = {0}, torque = {0}, up = {0};
    double d_bar = cr_vec3_dot(turn, segment->rate), left = 0.0; // bar of h - from
    spin_reverse(segment, body, d, in, start, &torque, &inertia, &rate, &up, &d_bar);
    d_bar += cr_vec3_dot(in->u, cr_vec3_add_scaled(segment->v, d, segment->a)) +
             cr_vec3_dot(in->v, segment->a);
    cr_vec3_add_to(&start->u, in->u);
    cr_vec3_add_to(&start->v, cr_vec3_add_scaled(in->v, d, in->u));
    cr_vec3_add_to(&r->pull[index],
                   cr_vec3_add(cr_vec3_scale(0.5 * d * d, in->u), cr_vec3_scale(d, in->v)));
    rate_reverse(r, segment, body, rate, start, &torque, &inertia, &up, &left);
    if (body->lock >> 3) { // up = R^T spin_up
        cr_vec3_add_to(&by->torque, cr_mat3_apply(segment->r, up));
        cr_vec3_add_to(&start->q, cr_vec3_cross(up, cr_mat3_tapply(segment->r, body->spin_up)));
    } else {
        cr_vec3_add_to(&by->torque, torque);
    }
    cr_vec3_accumulate(r->out->inertia + 3 * body->frame, inertia);
    if (segment->impact >= 0) {
        r->time[segment->impact] -= d_bar + left;
    }
}

// The bar of s that segment_reverse would give, nothing else touched.
static double time_bar(const reverse* r, int32_t index, double s, const state_bars* in,
                       cr_vec3 turn)
{
    const cr_events_segment* segment = &r->events->segment.items[index];
    const cr_events_body* body = &r->events->body.items[segment->body];
    const double d = s - segment->from;
    state_bars start;
    memset(&start, 0, sizeof start);
    cr_vec3 none[4] = {{0}};
    double d_bar = cr_vec3_dot(turn, segment->rate);
    spin_reverse(segment, body, d, in, &start, &none[0], &none[1], &none[2], &none[3], &d_bar);
    return d_bar + cr_vec3_dot(in->u, cr_vec3_add_scaled(segment->v, d, segment->a)) +
           cr_vec3_dot(in->v, segment->a);
}

// Reverse of cr_events_spin_up at the start of the step: P R y, y = I^-1 torque.
static void spin_up_reverse(reverse* r, const cr_events_body* body, cr_vec3 up_bar)
{
    const int32_t f = body->frame;
    const cr_vec3 y = cr_vec3_over(r->task->motion->torque[f], body->inertia);
    const cr_vec3 y_bar =
        cr_mat3_tapply(r->task->motion->r0[f], cr_events_unlocked(up_bar, body->lock >> 3));
    const cr_vec3 torque_bar = cr_vec3_over(y_bar, body->inertia);
    cr_vec3_add_to(&r->out->torque[f], torque_bar);
    cr_vec3_add_to(&r->out->q[f], cr_vec3_cross(y, y_bar));
    cr_vec3_accumulate(r->out->inertia + 3 * f, cr_vec3_neg(cr_vec3_times(torque_bar, y)));
}

// Reverse of write_held in events.c. With more = h (whole - path's) and Q = exp(h more) it is
//     R_p = Q R(h),   om1 = R_p^T (spin + more) = R(h)^T (Q^T spin + more),   spin = R(h) om(h);
// Q moves to exp(eta) Q with eta = h Jl dmore.
static void held_reverse(reverse* r, int32_t index, state_bars* end)
{
    const cr_events_body* body = &r->events->body.items[index];
    const cr_motion* motion = r->task->motion;
    const int32_t f = body->frame;
    const double h = r->task->h;
    const cr_vec3 whole = cr_events_spin_up(body, motion->r0[f], motion->torque[f]);
    const cr_vec3 more = cr_vec3_scale(h, cr_vec3_sub(whole, body->spin_up));
    const cr_rot rot = cr_rot_make(cr_vec3_scale(h, more));
    // from the segment: what the search remembers of the path (stand) is not in the record
    const cr_events_segment* segment = &r->events->segment.items[body->segment];
    const cr_rot last = cr_rot_make(cr_vec3_scale(h - segment->from, segment->rate));
    const cr_mat3 q = cr_rot_matrix(&rot), r_h = cr_mat3_mul(segment->r, cr_rot_matrix(&last));
    const cr_mat3 r_p = cr_mat3_mul(q, r_h);
    const cr_vec3 spin = cr_events_path_spin(r->events, index, h);
    const cr_vec3 om1 = cr_mat3_tapply(r_p, cr_vec3_add(spin, more));
    const cr_vec3 felt = cr_mat3_apply(r_h, end->om), spin_bar = cr_mat3_apply(q, felt);
    const cr_vec3 eta = cr_vec3_sub(cr_mat3_apply(r_p, end->q), cr_vec3_cross(spin, spin_bar));
    const cr_vec3 turn = cr_mat3_tapply(cr_rot_left(&rot), eta);
    const cr_vec3 more_bar = cr_vec3_scale(h, cr_vec3_add_scaled(felt, h, turn));
    spin_up_reverse(r, body, more_bar);
    cr_vec3_add_to(&r->body[index].torque, cr_vec3_neg(more_bar));
    const cr_vec3 om_bar = cr_mat3_tapply(r_h, spin_bar);
    cr_vec3_add_to(&end->q, cr_vec3_cross(end->om, om1));
    cr_vec3_add_to(&end->q, cr_vec3_cross(cr_mat3_tapply(r_h, spin), om_bar));
    end->om = om_bar;
}

// Reverse of how the targets were written: of one body that was hit.
static void target_reverse(reverse* r, int32_t index)
{
    const cr_events_body* body = &r->events->body.items[index];
    const int32_t f = body->frame;
    const double h = r->task->h;
    const cr_events_bars* out = r->out;
    body_bars* by = &r->body[index];
    state_bars end = {.q = out->rp[f], .om = out->om1[f], .u = out->ut[f], .v = out->v1[f]};
    if (body->support >= 0 && body->lock >> 3) {
        held_reverse(r, index, &end);
    } else if (body->support >= 0) { // spin = h I^-1 (torque - path's), R_p = R(h) exp(h spin)
        const cr_motion* motion = r->task->motion;
        const cr_vec3 torque = cr_vec3_sub(motion->torque[f], body->torque);
        const cr_vec3 spin = cr_vec3_scale(h, cr_vec3_over(torque, body->inertia));
        const cr_rot rot = cr_rot_make(cr_vec3_scale(h, spin));
        cr_vec3 spin_bar = cr_mat3_tapply(cr_rot_right(&rot), end.q);
        spin_bar = cr_vec3_add_scaled(end.om, h, spin_bar);
        end.q = cr_mat3_apply(cr_rot_matrix(&rot), end.q);
        const cr_vec3 torque_bar = cr_vec3_scale(h, cr_vec3_over(spin_bar, body->inertia));
        cr_vec3_add_to(&out->torque[f], torque_bar);
        cr_vec3_add_to(&by->torque, cr_vec3_neg(torque_bar));
        cr_vec3_accumulate(out->inertia + 3 * f,
                           cr_vec3_neg(cr_vec3_over(cr_vec3_times(spin, spin_bar), body->inertia)));
    }
    if (body->support >= 0) {
        const cr_vec3 more = cr_vec3_add_scaled(cr_vec3_scale(h, end.v), h * h, end.u);
        cr_vec3_add_to(&out->a[f], cr_events_unlocked(more, body->lock));
        cr_vec3_add_to(&r->pull[index], cr_vec3_neg(more)); // of the first segment
    }
    cr_vec3_add_to(&r->pull[body->segment], cr_vec3_scale(-0.5 * h, end.v)); // v1 = vt(h) - h a/2
    segment_reverse(r, body->segment, h, &end, out->turn[f], &r->segment[body->segment]);
}

// Where a row's point of given motion was: at this part of the obstacle's way.
static double way(const reverse* r, double s)
{
    return r->task->from + (r->task->to - r->task->from) * (s / r->task->h);
}

// Bars of a row's points: by the vertices they are. x of a given point, p along world axes of a
// member's, the velocity of a given one.
static void points_reverse(reverse* r, const cr_events_impact* impact)
{
    const cr_events* events = r->events;
    const cr_body_set* bodies = r->task->bodies;
    const cr_motion* motion = r->task->motion;
    const cr_events_bars* out = r->out;
    const double along = way(r, impact->time);
    const double rate = (r->task->to - r->task->from) / r->task->h;
    for (int32_t i = impact->row_begin; i < impact->row_end; i++) {
        const cr_events_row* row = &events->row.items[i];
        for (int k = 0; k < 4; k++) {
            const int32_t vertex = row->c.pair.v[k];
            const cr_vec3 x = r->impulse.point[4 * (i - impact->row_begin) + k];
            const cr_vec3 v = r->impulse.given[4 * (i - impact->row_begin) + k];
            if (vertex < 0) {
                continue;
            }
            const int32_t b = row->side[cr_row_side(row->c.pair.kind, k)];
            const int32_t body = bodies->vertex_body[vertex];
            if (b >= 0) {
                const cr_events_member* member = &events->member.items[impact->member_begin + b];
                cr_vec3_add_to(&out->p[vertex], cr_mat3_tapply(member->pose.r, x));
            } else if (bodies->kind[body] == CR_BODY_RIGID) { // kept still under a support
                const int32_t f = bodies->frame[body];
                const cr_vec3 p = cr_vec3_load(bodies->p + 3 * vertex);
                const cr_vec3 force = cr_mat3_tapply(motion->r0[f], x);
                cr_vec3_add_to(&out->p[vertex], force);
                cr_vec3_add_to(&out->q[f], cr_vec3_cross(p, force));
                cr_vec3_add_to(&out->t[f], x);
            } else {
                cr_vec3 end = cr_vec3_scale(along, x);
                end = cr_vec3_add_scaled(end, rate, v);
                cr_vec3_add_to(&out->obstacle1[vertex], end);
                cr_vec3_add_to(&out->obstacle0[vertex], cr_vec3_sub(x, end));
            }
        }
    }
}

// The mean gap of the group by its members and points, times f; returns its rate along the paths
// when f is 0.
static double mean_gap(reverse* r, const cr_events_impact* impact, double f)
{
    const cr_events* events = r->events;
    const double share = 1.0 / (impact->hit_end - impact->row_begin);
    double rate = 0.0;
    for (int32_t i = impact->row_begin; i < impact->hit_end; i++) {
        const cr_events_row* row = &events->row.items[i];
        const int32_t c = i - impact->row_begin;
        for (int k = 0; k < 4; k++) {
            if (!(row->at.active >> k & 1)) {
                continue;
            }
            const int32_t b = row->side[cr_row_side(row->c.pair.kind, k)];
            const cr_vec3 push = cr_vec3_scale(share * row->at.c[k], row->at.n);
            cr_vec3 v = row->given[k];
            if (b >= 0) {
                const cr_events_pose* pose = &events->member.items[impact->member_begin + b].pose;
                v = cr_vec3_add(pose->v, cr_vec3_cross(pose->turning, row->arm[k]));
                cr_vec3_add_to(&r->impulse.x[b], cr_vec3_scale(f, push));
                cr_vec3_add_to(&r->impulse.turn[b],
                               cr_vec3_cross(row->arm[k], cr_vec3_scale(f, push)));
            }
            cr_vec3_add_to(&r->impulse.point[4 * c + k], cr_vec3_scale(f, push));
            rate += cr_vec3_dot(push, v);
        }
        r->impulse.row[c].thickness -= f * share;
    }
    return rate;
}

// Bars of a member's state at the impact, by all that sees it: what comes after (q, u), the
// impulse's geometry (turn, x) and velocities (before).
static state_bars member_bars(const reverse* r, const cr_events_impact* impact, int32_t b)
{
    const cr_events_member* member = &r->events->member.items[impact->member_begin + b];
    const cr_events_body* body = &r->events->body.items[member->body];
    const state_bars* after = &r->segment[member->next];
    const double* before = r->impulse.before + 6 * b;
    // spin- = R om, so that it turns with R too
    const cr_vec3 spin_bar = cr_events_unlocked(cr_vec3_load(before), body->lock >> 3);
    const cr_vec3 turn =
        cr_vec3_add(r->impulse.turn[b], cr_vec3_cross(cr_vec3_load(member->before), spin_bar));
    return (state_bars){.q = cr_vec3_add(after->q, cr_mat3_tapply(member->pose.r, turn)),
                        .om = cr_mat3_tapply(member->pose.r, spin_bar),
                        .u = cr_vec3_add(after->u, r->impulse.x[b]),
                        .v = cr_vec3_load(before + 3)};
}

// Of the next segment's acceleration, a - (v+ - v-) / (T - s), by v-; by v+ its negative.
static cr_vec3 fading_bar(const reverse* r, const cr_events_impact* impact, int32_t b)
{
    const cr_events_member* member = &r->events->member.items[impact->member_begin + b];
    const int32_t f = r->events->body.items[member->body].frame;
    return cr_vec3_scale(cr_events_fade(r->task, f, impact->time), r->pull[member->next]);
}

static carom_status impact_reverse(reverse* r, int32_t index)
{
    const cr_events_impact* impact = &r->events->impact.items[index];
    const int32_t members = impact->member_end - impact->member_begin;
    clear_impulse(r, impact);
    for (int32_t b = 0; b < members; b++) {
        // om+ = R^T spin+
        const cr_events_member* member = &r->events->member.items[impact->member_begin + b];
        const state_bars* after = &r->segment[member->next];
        const int32_t lock = r->events->body.items[member->body].lock;
        const cr_vec3 spin_bar = cr_mat3_apply(member->pose.r, after->om);
        const cr_vec3 v = cr_vec3_sub(after->v, fading_bar(r, impact, b));
        cr_vec3_store(r->after + 6 * b, cr_events_unlocked(spin_bar, lock >> 3));
        cr_vec3_store(r->after + 6 * b + 3, cr_events_unlocked(v, lock));
        r->impulse.turn[b] = cr_vec3_cross(spin_bar, cr_vec3_load(member->after));
    }
    const carom_status status = cr_events_impulse_reverse(r->events, impact, &r->impulse);
    if (status != CAROM_OK) {
        return status;
    }
    // what a later time would change: the states on the paths, given points, and what follows
    double later = r->time[index];
    for (int32_t b = 0; b < members; b++) {
        const cr_events_member* member = &r->events->member.items[impact->member_begin + b];
        const int32_t f = r->events->body.items[member->body].frame;
        const cr_vec3 fading = fading_bar(r, impact, b);
        const cr_vec3 jump = cr_vec3_sub(cr_vec3_load(member->after + 3), member->pose.v);
        cr_vec3_accumulate(r->impulse.before + 6 * b + 3, fading);
        later -= cr_events_fade(r->task, f, impact->time) * cr_vec3_dot(fading, jump);
        const state_bars at = member_bars(r, impact, b);
        later += time_bar(r, member->segment, impact->time, &at, r->out->turn[f]);
    }
    for (int32_t i = impact->row_begin; i < impact->row_end; i++) {
        for (int k = 0; k < 4; k++) {
            later += cr_vec3_dot(r->impulse.point[4 * (i - impact->row_begin) + k],
                                 r->events->row.items[i].given[k]);
        }
    }
    // the time is where the mean gap is 0: ds = -d(mean gap) / rate
    const double rate = mean_gap(r, impact, 0.0);
    mean_gap(r, impact, -later / rate);
    for (int32_t b = 0; b < members; b++) {
        const cr_events_member* member = &r->events->member.items[impact->member_begin + b];
        const cr_events_body* body = &r->events->body.items[member->body];
        const state_bars at = member_bars(r, impact, b);
        segment_reverse(r, member->segment, impact->time, &at, r->out->turn[body->frame],
                        &r->segment[member->segment]);
        // where things are is t0 + u
        cr_vec3_add_to(&r->out->t[body->frame], r->impulse.x[b]);
        cr_vec3_add_to(&r->pull[member->segment], r->impulse.a[b]);
        cr_vec3_add_to(&r->pull[member->segment], r->pull[member->next]);
        cr_vec3_accumulate(r->out->inertia + 3 * body->frame, r->impulse.inertia[b]);
        r->out->mass[body->frame] += r->impulse.mass[b];
    }
    points_reverse(r, impact);
    return CAROM_OK;
}

// The first segment begins with v + h a/2 and om.
static void start_reverse(reverse* r, int32_t index)
{
    const cr_events_body* body = &r->events->body.items[index];
    const state_bars* start = &r->segment[index];
    const int32_t f = body->frame;
    const cr_mat3 r0 = r->task->motion->r0[f];
    cr_vec3_add_to(&r->pull[index], cr_vec3_scale(0.5 * r->task->h, start->v));
    r->body[index].a = r->pull[index];
    cr_vec3_add_to(&r->out->v[f], cr_events_unlocked(start->v, body->lock));
    cr_vec3_add_to(&r->out->q[f], start->q);
    if (!(body->lock >> 3)) {
        cr_vec3_add_to(&r->out->om[f], start->om);
        return;
    }
    // om = R^T P R om, P keeping the free axes
    cr_vec3 free = cr_events_unlocked(cr_mat3_apply(r0, start->om), body->lock >> 3);
    free = cr_mat3_tapply(r0, free);
    cr_vec3_add_to(&r->out->om[f], free);
    cr_vec3_add_to(&r->out->q[f], cr_vec3_cross(cr_vec3_load(r->task->om + 3 * f), free));
    cr_vec3_add_to(&r->out->q[f], cr_vec3_cross(start->om, r->events->segment.items[index].om));
}

// The acceleration of a free body: spin's is R y, y = I^-1 (torque - om x I om), and that of a held
// one as the motion has it.
static void free_reverse(reverse* r, const cr_events_member* member, const double* before)
{
    const cr_events_body* body = &r->events->body.items[member->body];
    const int32_t f = body->frame;
    cr_vec3_add_to(&r->out->a[f], cr_events_unlocked(cr_vec3_load(before + 3), body->lock));
    if (body->lock >> 3) {
        spin_up_reverse(r, body, cr_vec3_load(before));
        return;
    }
    const cr_vec3 i = body->inertia, om = r->events->segment.items[member->segment].om;
    const cr_vec3 momentum = cr_vec3_times(i, om);
    const cr_vec3 torque = r->task->motion->torque[f];
    const cr_vec3 y = cr_vec3_over(cr_vec3_sub(torque, cr_vec3_cross(om, momentum)), i);
    const cr_vec3 y_bar = cr_mat3_tapply(member->pose.r, cr_vec3_load(before));
    const cr_vec3 t = cr_vec3_over(y_bar, i);
    const cr_vec3 momentum_bar = cr_vec3_cross(om, t);
    cr_vec3_add_to(&r->out->q[f], cr_vec3_cross(y, y_bar));
    cr_vec3_add_to(&r->out->torque[f], t);
    cr_vec3_add_to(&r->out->om[f], cr_vec3_cross(t, momentum));
    cr_vec3_add_to(&r->out->om[f], cr_vec3_times(i, momentum_bar));
    cr_vec3_accumulate(r->out->inertia + 3 * f, cr_vec3_times(momentum_bar, om));
    cr_vec3_accumulate(r->out->inertia + 3 * f, cr_vec3_neg(cr_vec3_times(y, t)));
}

// A support gave its members their accelerations: a = a+, torque = torque + I R^T (spin+ - spin-);
// of a held one spin_up = spin+.
static carom_status support_reverse(reverse* r, int32_t index)
{
    const cr_events_impact* impact = &r->events->impact.items[index];
    const int32_t members = impact->member_end - impact->member_begin;
    clear_impulse(r, impact);
    for (int32_t b = 0; b < members; b++) {
        const cr_events_member* member = &r->events->member.items[impact->member_begin + b];
        const cr_events_body* body = &r->events->body.items[member->body];
        const body_bars* by = &r->body[member->body];
        cr_vec3_store(r->after + 6 * b + 3, cr_events_unlocked(by->a, body->lock));
        if (body->lock >> 3) {
            cr_vec3_store(r->after + 6 * b, cr_events_unlocked(by->torque, body->lock >> 3));
            continue;
        }
        const cr_vec3 more = cr_mat3_tapply(
            member->pose.r, cr_vec3_sub(cr_vec3_load(member->after), cr_vec3_load(member->before)));
        const cr_vec3 more_bar = cr_vec3_times(body->inertia, by->torque);
        const cr_vec3 spin_bar = cr_mat3_apply(member->pose.r, more_bar);
        cr_vec3_store(r->after + 6 * b, spin_bar);
        cr_vec3_store(r->impulse.before + 6 * b, cr_vec3_neg(spin_bar));
        cr_vec3_add_to(&r->out->torque[body->frame], by->torque);
        cr_vec3_add_to(&r->out->q[body->frame], cr_vec3_cross(more_bar, more));
        cr_vec3_accumulate(r->out->inertia + 3 * body->frame, cr_vec3_times(by->torque, more));
    }
    const carom_status status = cr_events_impulse_reverse(r->events, impact, &r->impulse);
    for (int32_t b = 0; b < members && status == CAROM_OK; b++) {
        const cr_events_member* member = &r->events->member.items[impact->member_begin + b];
        const int32_t f = r->events->body.items[member->body].frame;
        free_reverse(r, member, r->impulse.before + 6 * b);
        cr_vec3_add_to(&r->out->q[f], cr_mat3_tapply(member->pose.r, r->impulse.turn[b]));
        cr_vec3_add_to(&r->out->t[f], r->impulse.x[b]);
        cr_vec3_accumulate(r->out->inertia + 3 * f, r->impulse.inertia[b]);
        r->out->mass[f] += r->impulse.mass[b];
    }
    if (status == CAROM_OK) { // what is given keeps its velocity: there its acceleration is 0
        memset(r->impulse.given, 0,
               4 * (size_t)(impact->row_end - impact->row_begin) * sizeof(cr_vec3));
        points_reverse(r, impact);
    }
    return status;
}

carom_status cr_events_adj(cr_events* events, const cr_events_task* task,
                           const cr_events_bars* bars)
{
    reverse r = {.events = events, .task = task, .out = bars};
    events->task = task;
    carom_status status = take(&r);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < events->body.count; i++) {
        if (events->body.items[i].impacts > 0) {
            target_reverse(&r, i);
        }
    }
    for (int32_t i = events->impact.count - 1; i >= 0 && status == CAROM_OK; i--) {
        if (!events->impact.items[i].support) {
            status = impact_reverse(&r, i);
        }
    }
    for (int32_t i = 0; i < events->body.count && status == CAROM_OK; i++) {
        const cr_events_body* body = &events->body.items[i];
        if (body->impacts > 0) {
            start_reverse(&r, i);
        }
        if (body->support < 0) {
            cr_vec3_add_to(&bars->a[body->frame], cr_events_unlocked(r.body[i].a, body->lock));
            if (body->lock >> 3) {
                spin_up_reverse(&r, body, r.body[i].torque);
            } else {
                cr_vec3_add_to(&bars->torque[body->frame], r.body[i].torque);
            }
        }
    }
    for (int32_t i = events->impact.count - 1; i >= 0 && status == CAROM_OK; i--) {
        if (events->impact.items[i].support) {
            status = support_reverse(&r, i);
        }
    }
    return status;
}

int32_t cr_events_rows(const cr_events* events, const cr_events_row_bars** rows)
{
    *rows = events->row_bar.items;
    return events->row_bar.count;
}
