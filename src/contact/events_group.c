#include "contact/events_inside.h"
#include "contact/row.h"
#include "core/order.h"
#include <string.h>

// Rows of one impact of two bodies that are apart by more than this part of the tolerance belong
// together only if they point the same way, by this cosine: else they are other contacts, later.
static const double together = 1e-6, same_way = 0.99;

// A vertex has one distance from a body: its nearest pair. Nearer by less is round-off.
static const double nearer = 1e-12;

// Of a step: where the mean gap is 0 has to be known so well.
static const double time_known = 1e-9;

// Rows of two bodies whose places are this near to each other, by the tolerance, and that point the
// same way by this cosine, are one contact seen twice: a corner over a corner, by its faces.
static const double same_place = 1e-2, same_normal = 0.999;

// Of the speeds that meet: a row that opens by less does not open. After an impact whose rows were
// stopped they close by round-off of either sign, and rows that neither close nor open belong to
// the next impact of the same bodies: what it does must not make them close.
static const double still = 1e-11;

// 7 - 4 sqrt(3). Three equal bodies in a row that touch and bounce less than this hit each other
// without end, and the end of that is one velocity.
static const double collapse = 0.0717967697244908;

// Of the closing speed of an impact: less is not felt elsewhere, and left to the layer.
static const double felt = 1e-2;

enum { SUPPORT_BODIES = 8, ROOT_STEPS = 30 };

// The group that is being made.
typedef struct group {
    cr_events* events;
    cr_events_impact* impact;
    int32_t pair[CR_EVENTS_GROUP_PAIRS][2]; // bodies ascending, -1: anything given
} group;

static cr_events_near* seen(const group* g, int32_t i)
{
    return &g->events->near.items[g->events->seen.items[i]];
}

static int32_t member_of(const group* g, int32_t body)
{
    for (int32_t i = g->impact->member_begin; i < g->impact->member_end && body >= 0; i++) {
        if (g->events->member.items[i].body == body) {
            return i - g->impact->member_begin;
        }
    }
    return -1;
}

static int32_t pair_of(const group* g, const cr_events_near* near)
{
    const int32_t low = near->side[0] < near->side[1] ? near->side[0] : near->side[1];
    const int32_t high = near->side[0] < near->side[1] ? near->side[1] : near->side[0];
    for (int32_t i = 0; i < g->impact->pair_count; i++) {
        if (g->pair[i][0] == low && g->pair[i][1] == high) {
            return i;
        }
    }
    return -1;
}

// False when there is no room or no memory; the latter is told apart by *status.
static int add_member(group* g, int32_t body, carom_status* status)
{
    if (body < 0 || member_of(g, body) >= 0) {
        return 1;
    }
    if (g->impact->member_end - g->impact->member_begin >= CR_EVENTS_GROUP_BODIES) {
        return 0;
    }
    const double s = g->impact->time;
    const int32_t segment = g->events->body.items[body].segment;
    cr_events_member member = {
        .body = body, .segment = segment, .a = g->events->segment.items[segment].a};
    member.pose = *cr_events_path_pose(g->events, body, s);
    cr_vec3_store(member.before, cr_events_path_spin(g->events, body, s));
    cr_vec3_store(member.before + 3, member.pose.v);
    memcpy(member.after, member.before, sizeof member.after);
    if (!cr_array_push(&g->events->member, member)) {
        *status = CAROM_ERR_MEMORY;
        return 0;
    }
    g->impact->member_end++;
    return 1;
}

static int name_pair(group* g, const cr_events_near* near)
{
    if (pair_of(g, near) >= 0) {
        return 1;
    }
    if (g->impact->pair_count >= CR_EVENTS_GROUP_PAIRS) {
        return 0;
    }
    int32_t* pair = g->pair[g->impact->pair_count++];
    pair[0] = near->side[0] < near->side[1] ? near->side[0] : near->side[1];
    pair[1] = near->side[0] < near->side[1] ? near->side[1] : near->side[0];
    return 1;
}

static int add_pair(group* g, const cr_events_near* near, carom_status* status)
{
    return add_member(g, near->side[0], status) && add_member(g, near->side[1], status) &&
           name_pair(g, near);
}

// The point that alone stands for a side of a pair, -1 when there are more.
static int32_t lone_vertex(const cr_pair* pair, int32_t active, int side)
{
    int32_t vertex = -1, count = 0;
    for (int k = 0; k < 4; k++) {
        if ((active >> k & 1) && cr_row_side(pair->kind, k) == side) {
            vertex = pair->v[k];
            count++;
        }
    }
    return count == 1 ? vertex : -1;
}

// Where a side of a near pair is at the group's time. A support is of the start of the step: a body
// that has been hit since, and has another path, stands where the step found it. *start is room for
// that.
static const cr_events_pose* pose_at(const group* g, int32_t body, cr_events_pose* start)
{
    cr_events* events = g->events;
    if (!g->impact->support || body < 0 || events->body.items[body].impacts == 0) {
        return cr_events_path_pose(events, body, g->impact->time);
    }
    const cr_motion* motion = events->task->motion;
    const int32_t f = events->body.items[body].frame;
    *start = (cr_events_pose){.r = motion->r0[f], .t = motion->t0[f]};
    return start;
}

// Gap, closest points and closing speed of a near pair at the group's time; its rate by the path.
static double look_at(group* g, cr_events_near* near)
{
    cr_events* events = g->events;
    const cr_pair* pair = &events->task->candidate[near->candidate].pair;
    const double s = g->impact->time;
    const cr_events_pose* pose[2];
    cr_events_pose start[2];
    cr_vec3 x[4], given[4], turning[2], spin[2] = {{0}};
    for (int side = 0; side < 2; side++) {
        const int32_t body = near->side[side];
        pose[side] = pose_at(g, body, &start[side]);
        turning[side] = pose[side]->turning;
        if (body >= 0) {
            spin[side] = cr_events_path_spin(events, body, s);
        }
    }
    near->at = cr_events_path_closest(events, near, pose, s, x, given);
    near->gap = near->at.distance - events->task->candidate[near->candidate].thickness;
    near->noise = CR_EVENTS_GAP_NOISE * cr_events_path_far(x);
    near->place = (cr_vec3){0};
    for (int k = 0; k < 4; k++) {
        near->place = cr_vec3_add_scaled(near->place, 0.5 * fabs(near->at.c[k]), x[k]);
    }
    near->lone[0] = lone_vertex(pair, near->at.active, 0);
    near->lone[1] = lone_vertex(pair, near->at.active, 1);
    near->closing = -cr_events_path_gap_rate(&near->at, x, given, near, pose, spin, pair->kind);
    near->speed = 0.0;
    for (int side = 0; side < 2; side++) {
        const double extent =
            near->side[side] >= 0 ? events->body.items[near->side[side]].extent : 0.0;
        near->speed += cr_vec3_norm(pose[side]->v) + extent * cr_vec3_norm(spin[side]);
    }
    for (int k = 0; k < 4; k++) {
        near->speed += cr_vec3_norm(given[k]);
    }
    events->report.evaluations++;
    return cr_events_path_gap_rate(&near->at, x, given, near, pose, turning, pair->kind);
}

enum { UNSEEN = CR_EVENTS_GROUP_UNSEEN, SEEN = -1 };

static int closes(const cr_events_near* near)
{
    return near->closing > -still * near->speed;
}

static int same_bodies(const cr_events_near* a, const cr_events_near* b)
{
    return (a->side[0] == b->side[0] && a->side[1] == b->side[1]) ||
           (a->side[0] == b->side[1] && a->side[1] == b->side[0]);
}

// All near pairs of the same two bodies are among those of either of them: the shorter list.
static int32_t list_of(const group* g, const cr_events_near* near)
{
    const int32_t* first = g->events->near_first.items;
    const int32_t a = near->side[0], b = near->side[1];
    if (a < 0 || b < 0) {
        return a < 0 ? b : a;
    }
    return first[a + 1] - first[a] <= first[b + 1] - first[b] ? a : b;
}

// A pair in which a vertex is nearer to some other part of the same body is no contact of its own:
// the diagonal of a face under a corner, the next triangle under a ball.
static int outdone(const group* g, const cr_events_near* near)
{
    const cr_events* events = g->events;
    const int32_t list = list_of(g, near);
    const double nearest = near->at.distance * (1.0 - nearer);
    if (near->lone[0] < 0 && near->lone[1] < 0) {
        return 0;
    }
    for (int32_t i = events->near_first.items[list]; i < events->near_first.items[list + 1]; i++) {
        const cr_events_near* other = &events->near.items[events->near_of.items[i]];
        const double noise = near->noise + other->noise;
        if (other->row == UNSEEN || !(other->at.distance < nearest - noise) ||
            !same_bodies(other, near)) {
            continue;
        }
        for (int side = 0; side < 2; side++) {
            const int32_t vertex = near->lone[side];
            if (vertex >= 0 && (other->lone[0] == vertex || other->lone[1] == vertex)) {
                return 1;
            }
        }
    }
    return 0;
}

static int same_contact(const group* g, const cr_events_near* a, const cr_events_near* b)
{
    const double apart = cr_vec3_norm(cr_vec3_sub(a->place, b->place));
    return same_bodies(a, b) && apart <= same_place * cr_events_path_tolerance(g->events, a) &&
           fabs(cr_vec3_dot(a->at.n, b->at.n)) >= same_normal;
}

// Whether an earlier row is the same contact.
static int repeated(const group* g, const cr_events_near* near)
{
    const cr_events* events = g->events;
    const int32_t list = list_of(g, near);
    for (int32_t i = events->near_first.items[list]; i < events->near_first.items[list + 1]; i++) {
        const cr_events_near* other = &events->near.items[events->near_of.items[i]];
        if (other == near) {
            return 0;
        }
        if (other->row >= 0 && same_contact(g, other, near)) {
            return 1;
        }
    }
    return 0;
}

static void begin(group* g, cr_events* events, cr_events_impact* impact, double s)
{
    *g = (group){.events = events, .impact = impact};
    *impact = (cr_events_impact){.time = s,
                                 .member_begin = events->member.count,
                                 .member_end = events->member.count,
                                 .row_begin = events->row.count,
                                 .row_end = events->row.count};
    events->seen.count = 0;
}

// Nothing is seen any more.
static void end(group* g)
{
    for (int32_t i = 0; i < g->events->seen.count; i++) {
        seen(g, i)->row = UNSEEN;
    }
    g->events->seen.count = 0;
}

// A near pair becomes a row at the group's time.
static carom_status add_row(group* g, cr_events_near* near)
{
    cr_events* events = g->events;
    const cr_pair* pair = &events->task->candidate[near->candidate].pair;
    cr_events_row row = {.candidate = near->candidate,
                         .c = events->task->candidate[near->candidate],
                         .pair = pair_of(g, near),
                         .active = 1,
                         .at = near->at,
                         .closing = near->closing};
    const cr_events_pose* pose[2];
    cr_events_pose start[2];
    cr_vec3 a[2];
    for (int side = 0; side < 2; side++) {
        pose[side] = pose_at(g, near->side[side], &start[side]);
        row.side[side] = member_of(g, near->side[side]);
        a[side] = cr_events_path_pull(events, near->side[side]);
    }
    cr_events_path_points(events, near, pose, g->impact->time, row.x, row.given);
    cr_distance_take_face(pair->kind, row.x, &row.at);
    for (int k = 0; k < 4; k++) {
        const int side = cr_row_side(pair->kind, k);
        if (row.at.active >> k & 1 && row.side[side] >= 0) {
            row.arm[k] = cr_vec3_sub(row.x[k], pose[side]->t);
        }
    }
    const double gained = fabs(cr_vec3_dot(near->at.n, cr_vec3_sub(a[0], a[1])));
    row.ramp =
        events->task->bounce_floor * events->task->h * gained + cr_events_path_floor(events, near);
    near->row = g->impact->row_end - g->impact->row_begin;
    near->stop = g->impact->support ? -1 : g->impact->row_end;
    if (!cr_array_push(&events->row, row)) {
        return CAROM_ERR_MEMORY;
    }
    g->impact->row_end++;
    return CAROM_OK;
}

static int before(const int32_t* a, const int32_t* b)
{
    return *a < *b;
}

CR_ORDER_DEFINE(sort_seen, int32_t, before)

static carom_status order_seen(cr_events* events)
{
    const int32_t count = events->seen.count;
    if (!cr_array_reserve(&events->seen, 2 * count)) {
        return CAROM_ERR_MEMORY;
    }
    sort_seen(events->seen.items, events->seen.items + count, count);
    return CAROM_OK;
}

// Looks at all near pairs of the members, and takes in other bodies that are being hit right now.
static carom_status spread(group* g)
{
    cr_events* events = g->events;
    carom_status status = CAROM_OK;
    for (int32_t m = g->impact->member_begin; m < g->impact->member_end; m++) {
        const int32_t body = events->member.items[m].body;
        for (int32_t k = events->near_first.items[body]; k < events->near_first.items[body + 1];
             k++) {
            cr_events_near* near = &events->near.items[events->near_of.items[k]];
            if (near->row != UNSEEN || cr_events_path_apart(events, near, g->impact->time)) {
                continue;
            }
            if (!cr_array_push(&events->seen, events->near_of.items[k])) {
                return CAROM_ERR_MEMORY;
            }
            look_at(g, near);
            near->row = SEEN;
            if (near->gap <= cr_events_path_tolerance(events, near) &&
                near->closing > cr_events_path_threshold(events, near, near->at.n) &&
                pair_of(g, near) < 0) {
                add_pair(g, near, &status);
            }
            if (status != CAROM_OK) {
                return status;
            }
        }
    }
    return order_seen(events);
}

// The nearest pair of each pair of bodies leads: its normal is the one to be parallel to.
static int32_t leader(const group* g, int32_t pair, int32_t first)
{
    const cr_events* events = g->events;
    if (pair_of(g, &events->near.items[first]) == pair) {
        return first;
    }
    int32_t best = -1;
    for (int32_t i = 0; i < events->seen.count; i++) {
        const cr_events_near* near = seen(g, i);
        if (closes(near) && pair_of(g, near) == pair &&
            (best < 0 || near->gap < events->near.items[best].gap)) {
            best = events->seen.items[i];
        }
    }
    return best;
}

static carom_status choose(group* g, int32_t first)
{
    cr_events* events = g->events;
    g->impact->row_end = events->row.count = g->impact->row_begin;
    int32_t lead[CR_EVENTS_GROUP_PAIRS];
    for (int32_t p = 0; p < g->impact->pair_count; p++) {
        lead[p] = leader(g, p, first);
    }
    for (int32_t i = 0; i < events->seen.count; i++) {
        cr_events_near* near = seen(g, i);
        const int32_t pair = pair_of(g, near);
        if (pair < 0 || !closes(near)) {
            continue;
        }
        const double tolerance = cr_events_path_tolerance(events, near);
        const cr_vec3 n = events->near.items[lead[pair]].at.n;
        if (events->seen.items[i] != first &&
            (!(near->gap <= tolerance) || (near->gap > together * tolerance &&
                                           !(fabs(cr_vec3_dot(n, near->at.n)) > same_way)))) {
            continue;
        }
        if (outdone(g, near) || repeated(g, near)) {
            continue;
        }
        if (g->impact->row_end - g->impact->row_begin < CR_EVENTS_GROUP_ROWS &&
            add_row(g, near) != CAROM_OK) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

static void place_members(group* g)
{
    for (int32_t i = g->impact->member_begin; i < g->impact->member_end; i++) {
        cr_events_member* member = &g->events->member.items[i];
        member->pose = *cr_events_path_pose(g->events, member->body, g->impact->time);
        cr_vec3_store(member->before,
                      cr_events_path_spin(g->events, member->body, g->impact->time));
        cr_vec3_store(member->before + 3, member->pose.v);
        memcpy(member->after, member->before, sizeof member->after);
    }
}

// Moves the group's time to where the mean gap of its rows is 0. Smooth in everything, where the
// least gap has a kink at a body that comes down flat. False when it does not get there.
static int settle_time(group* g)
{
    cr_events* events = g->events;
    const double s0 = g->impact->time, h = events->task->h;
    double last = HUGE_VAL;
    for (int step = 0; step < ROOT_STEPS; step++) {
        double gap = 0.0, rate = 0.0, noise = 0.0;
        for (int32_t i = 0; i < events->seen.count; i++) {
            if (seen(g, i)->row >= 0) {
                rate += look_at(g, seen(g, i));
                gap += seen(g, i)->gap;
                noise += seen(g, i)->noise;
            }
        }
        if (gap == 0.0) {
            return 1;
        }
        const double move = -gap / rate;
        if ((fabs(move) < time_known * h || fabs(gap) <= noise) && !(fabs(move) < 0.5 * last)) {
            return rate < 0.0; // round-off no longer falls
        }
        if (!(rate < 0.0 && fabs(g->impact->time + move - s0) < 0.25 * h)) {
            return 0;
        }
        last = fabs(move);
        g->impact->time += move;
        place_members(g);
    }
    return 0;
}

// Where its rows were stopped a moment ago, their mean gap is 0 there and does not change: a root
// of its own, at which nothing hits. So the pair that began the group has to hit still.
static int all_close(const group* g, int32_t first)
{
    const cr_events_near* hit = &g->events->near.items[first];
    if (!(hit->closing > cr_events_path_floor(g->events, hit))) {
        return 0;
    }
    for (int32_t i = 0; i < g->events->seen.count; i++) {
        if (seen(g, i)->row >= 0 && !closes(seen(g, i))) {
            return 0;
        }
    }
    return 1;
}

// The rows as they are at the settled time.
static carom_status finish(group* g)
{
    cr_events* events = g->events;
    g->impact->row_end = events->row.count = g->impact->row_begin;
    for (int32_t i = 0; i < events->seen.count; i++) {
        if (seen(g, i)->row >= 0 && add_row(g, seen(g, i)) != CAROM_OK) {
            return CAROM_ERR_MEMORY;
        }
    }
    g->impact->hit_end = g->impact->row_end;
    return CAROM_OK;
}

static void drop_all(group* g)
{
    end(g);
    g->events->member.count = g->impact->member_end = g->impact->member_begin;
    g->events->row.count = g->impact->row_end = g->impact->row_begin;
}

// It alone.
static carom_status make_lone(group* g, int32_t first, double toi)
{
    carom_status status = CAROM_OK;
    cr_events* events = g->events;
    drop_all(g);
    begin(g, events, g->impact, toi);
    add_pair(g, &events->near.items[first], &status);
    if (status != CAROM_OK || !cr_array_push(&events->seen, first)) {
        return CAROM_ERR_MEMORY;
    }
    look_at(g, &events->near.items[first]);
    events->near.items[first].row = 0;
    return CAROM_OK;
}

static carom_status make(group* g, int32_t first, double toi)
{
    cr_events* events = g->events;
    carom_status status = CAROM_OK;
    add_pair(g, &events->near.items[first], &status);
    if (status == CAROM_OK) {
        status = spread(g);
    }
    if (status == CAROM_OK) {
        status = choose(g, first);
    }
    if (status != CAROM_OK) {
        return status;
    }
    if (events->near.items[first].row < 0) { // it is no contact of its own
        drop_all(g);
        return CAROM_ERR_NO_CONVERGENCE;
    }
    if (!settle_time(g) || !all_close(g, first)) {
        status = make_lone(g, first, toi);
    }
    return status == CAROM_OK ? finish(g) : status;
}

// The velocities of a side that was solved for, or on its path.
static void velocities_after(const group* g, int32_t body, cr_events_pose* pose, cr_vec3* spin)
{
    const double s = g->impact->time;
    const int32_t member = member_of(g, body);
    *pose = *cr_events_path_pose(g->events, body, s);
    *spin = (cr_vec3){0};
    if (member >= 0) {
        const cr_events_member* m = &g->events->member.items[g->impact->member_begin + member];
        *spin = cr_vec3_load(m->after);
        pose->v = cr_vec3_load(m->after + 3);
    } else if (body >= 0) {
        *spin = cr_events_path_spin(g->events, body, s);
    }
}

// How fast a pair closes after what was solved.
static double closing_after(const group* g, const cr_events_near* near)
{
    cr_events* events = g->events;
    cr_events_pose after[2];
    const cr_events_pose* pose[2] = {&after[0], &after[1]};
    cr_vec3 spin[2], x[4], given[4];
    for (int side = 0; side < 2; side++) {
        velocities_after(g, near->side[side], &after[side], &spin[side]);
    }
    cr_events_path_points(events, near, pose, g->impact->time, x, given);
    return -cr_events_path_gap_rate(&near->at, x, given, near, pose, spin,
                                    events->task->candidate[near->candidate].pair.kind);
}

// Whether a pair that touches, and hardly bounces, resists what was solved.
static int resists(group* g, cr_events_near* near)
{
    cr_events* events = g->events;
    const double hit = events->row.items[g->impact->row_begin].closing;
    return near->row == SEEN && events->task->candidate[near->candidate].restitution < collapse &&
           cr_events_path_touches(events, near, near->gap) &&
           closing_after(g, near) - cr_max(near->closing, 0.0) >
               cr_events_path_floor(events, near) + felt * cr_max(hit, 0.0);
}

// What the group has not looked at since its time was settled: the near pairs of its members from
// `first` on, and those that were seen near to touching at a time `shift` away.
static carom_status look_around(group* g, int32_t first, double shift)
{
    cr_events* events = g->events;
    for (int32_t i = 0; i < events->seen.count && shift > 0.0; i++) {
        cr_events_near* near = seen(g, i);
        if (near->row == SEEN &&
            near->gap - 2.0 * shift * near->speed <= cr_events_path_tolerance(events, near)) {
            look_at(g, near);
        }
    }
    for (int32_t m = first; m < g->impact->member_end; m++) {
        const int32_t body = events->member.items[m].body;
        for (int32_t k = events->near_first.items[body]; k < events->near_first.items[body + 1];
             k++) {
            cr_events_near* near = &events->near.items[events->near_of.items[k]];
            if (near->row != UNSEEN || cr_events_path_apart(events, near, g->impact->time)) {
                continue;
            }
            if (!cr_array_push(&events->seen, events->near_of.items[k])) {
                return CAROM_ERR_MEMORY;
            }
            look_at(g, near);
            near->row = SEEN;
        }
    }
    return order_seen(events);
}

// Bodies of which a contact resists what was solved come in, with all that touches between them.
static carom_status take_in(group* g)
{
    cr_events* events = g->events;
    carom_status status = CAROM_OK;
    int wanted[CR_EVENTS_GROUP_PAIRS] = {0};
    for (int32_t i = 0; i < events->seen.count && status == CAROM_OK; i++) {
        cr_events_near* near = seen(g, i);
        if (resists(g, near) && add_pair(g, near, &status)) {
            wanted[pair_of(g, near)] = 1;
        }
    }
    for (int32_t i = 0; i < events->seen.count && status == CAROM_OK; i++) {
        cr_events_near* near = seen(g, i);
        if (near->row != SEEN || !cr_events_path_touches(events, near, near->gap)) {
            continue;
        }
        const int32_t pair = pair_of(g, near);
        if (pair >= 0 && wanted[pair] && !outdone(g, near) && !repeated(g, near) &&
            g->impact->row_end - g->impact->row_begin < CR_EVENTS_GROUP_ROWS) {
            status = add_row(g, near);
        }
    }
    return status;
}

static carom_status solve(group* g)
{
    const cr_events* events = g->events;
    g->impact->rubs = 0;
    for (int32_t i = g->impact->row_begin; i < g->impact->row_end; i++) {
        g->impact->rubs |= events->row.items[i].c.friction > 0.0;
    }
    return cr_events_impulse_solve(g->events, g->impact);
}

// To fewer members and rows.
static void go_back(group* g, const cr_events_impact* to)
{
    *g->impact = *to;
    g->events->member.count = to->member_end;
    g->events->row.count = to->row_end;
}

static int32_t find_unasked(const group* g)
{
    for (int32_t i = g->impact->member_begin; i < g->impact->member_end; i++) {
        const int32_t body = g->events->member.items[i].body;
        if (cr_events_unasked(&g->events->body.items[body])) {
            return body;
        }
    }
    return -1;
}

// With next to no restitution one pair after the other would hand a momentum to and fro without
// end; what that comes to is one impact of all. So what touches and would close because of an
// impact takes part in it. A contact that bounces has an impact of its own, as in a cradle.
static carom_status solve_all(group* g, double shift)
{
    int32_t looked = g->impact->member_begin;
    carom_status status = solve(g);
    while (status == CAROM_OK) {
        const cr_events_impact solved = *g->impact;
        status = look_around(g, looked, shift);
        looked = solved.member_end;
        shift = 0.0;
        if (status == CAROM_OK) {
            status = take_in(g);
        }
        if (status != CAROM_OK) {
            return status;
        }
        if (g->impact->row_end == solved.row_end) {
            go_back(g, &solved);
            return CAROM_OK;
        }
        status = solve(g);
        if (status == CAROM_ERR_NO_CONVERGENCE) { // what was solved before stands
            go_back(g, &solved);
            return solve(g);
        }
    }
    return status;
}

carom_status cr_events_group_hit(cr_events* events, int32_t first, cr_events_impact* impact,
                                 int32_t* ask)
{
    group g;
    const double toi = events->toi.items[first];
    begin(&g, events, impact, toi);
    carom_status status = CAROM_OK;
    *ask = -1;
    for (int side = 0; side < 2 && *ask < 0; side++) {
        const int32_t body = events->near.items[first].side[side];
        *ask = body >= 0 && cr_events_unasked(&events->body.items[body]) ? body : -1;
    }
    if (*ask < 0) {
        status = make(&g, first, toi);
        *ask = status == CAROM_OK ? find_unasked(&g) : -1;
        if (status == CAROM_OK && *ask < 0) {
            status = solve_all(&g, fabs(impact->time - toi));
        }
    }
    end(&g);
    return status;
}

// dspin/ds at the start of a body's path: R I^-1 (torque - om x I om)
static cr_vec3 spin_up(const cr_events* events, const cr_events_body* body)
{
    const cr_events_segment* segment = &events->segment.items[body->segment];
    const cr_vec3 i = body->inertia, om = segment->om;
    const cr_vec3 momentum = {i.x * om.x, i.y * om.y, i.z * om.z};
    const cr_vec3 t = cr_vec3_sub(body->torque, cr_vec3_cross(om, momentum));
    return cr_mat3_apply(segment->r, (cr_vec3){t.x / i.x, t.y / i.y, t.z / i.z});
}

static int may_join(const group* g, int32_t body)
{
    if (body < 0 || member_of(g, body) >= 0) {
        return 0;
    }
    const cr_events_body* b = &g->events->body.items[body];
    return b->impacts == 0 && b->support < 0 &&
           g->impact->member_end - g->impact->member_begin < SUPPORT_BODIES;
}

// What rests on what, from one body on. Bodies that there is no room for, or that have been hit
// already, stand as if they kept still.
static carom_status spread_rest(group* g)
{
    cr_events* events = g->events;
    carom_status status = CAROM_OK;
    for (int32_t m = g->impact->member_begin; m < g->impact->member_end; m++) {
        const int32_t body = events->member.items[m].body;
        for (int32_t k = events->near_first.items[body]; k < events->near_first.items[body + 1];
             k++) {
            cr_events_near* near = &events->near.items[events->near_of.items[k]];
            if (!near->rests || near->row != UNSEEN || !name_pair(g, near)) {
                continue;
            }
            for (int side = 0; side < 2; side++) {
                if (may_join(g, near->side[side])) {
                    add_member(g, near->side[side], &status);
                }
            }
            if (status != CAROM_OK || !cr_array_push(&events->seen, events->near_of.items[k])) {
                return CAROM_ERR_MEMORY;
            }
            look_at(g, near);
            near->row = SEEN;
        }
    }
    return order_seen(events);
}

static carom_status make_support(group* g, int32_t body)
{
    cr_events* events = g->events;
    cr_events_impact* impact = g->impact;
    carom_status status = CAROM_OK;
    double most = 0.0; // m/s^2
    if (!may_join(g, body)) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    add_member(g, body, &status);
    if (status == CAROM_OK) {
        status = spread_rest(g);
    }
    for (int32_t i = 0; i < events->seen.count && status == CAROM_OK; i++) {
        cr_events_near* near = seen(g, i);
        if (!outdone(g, near) && !repeated(g, near) &&
            impact->row_end - impact->row_begin < CR_EVENTS_GROUP_ROWS) {
            status = add_row(g, near);
        }
    }
    for (int32_t i = impact->row_begin; i < impact->row_end; i++) {
        for (int k = 0; k < 4; k++) { // what is given moves straight on
            events->row.items[i].given[k] = (cr_vec3){0};
        }
    }
    for (int32_t i = impact->member_begin; i < impact->member_end; i++) {
        cr_events_member* member = &events->member.items[i];
        const cr_events_body* b = &events->body.items[member->body];
        cr_vec3_store(member->before, b->lock >> 3 ? b->spin_up : spin_up(events, b));
        cr_vec3_store(member->before + 3, cr_events_unlocked(member->a, b->lock));
        memcpy(member->after, member->before, sizeof member->after);
        most = cr_max(most, cr_vec3_norm(member->a));
        most = cr_max(most, b->extent * cr_vec3_norm(cr_vec3_load(member->before)));
    }
    // nothing rests where nothing presses
    const double gained = events->task->h * most;
    const int idle = impact->row_end == impact->row_begin ||
                     !(gained > cr_events_path_floor(events, seen(g, 0)));
    return status == CAROM_OK && idle ? CAROM_ERR_NO_CONVERGENCE : status;
}

carom_status cr_events_group_support(cr_events* events, int32_t body, cr_events_impact* impact)
{
    group g;
    begin(&g, events, impact, 0.0);
    impact->support = 1;
    const carom_status status = make_support(&g, body);
    end(&g);
    return status;
}
