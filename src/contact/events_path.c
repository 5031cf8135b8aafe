#include "bodies/spin.h"
#include "contact/events_inside.h"
#include "contact/row.h"
#include <string.h>

// Corners of a body that comes down flat hit together when they are this close, in body sizes.
static const double group_tilt = 1e-3;

// Of a body size per step: slower impacts are round-off.
static const double slowest = 1e-7;
// Of the width of a layer per step: what closes slower goes so little way into it that the layer
// stops it. In a heap that settles everything closes a little, and whoever touches would take part
// in it.
static const double gentle = 1e-3;

// A search takes at least this many equal steps through the rest of a step where it creeps along a
// pair that hovers, and at most that many evaluations.
enum { LEAST_PARTS = 64, MOST_STEPS = 300, ROOT_STEPS = 80 };

// A pair that starts deeper than what it closes in this part of a step is the zone's.
static const double deepest = 0.05;

// Of the tolerance: a pair that is no farther apart touches, whatever the sign of its gap is. After
// an impact, and in a contact that carries next to nothing, that sign is round-off.
static const double touches = 1e-6;

// A touching pair is hit at the root of its path: by this part of its closing speed at least its
// gap has to fall there.
static const double well_defined = 0.25;

// Of a step, and of the coordinates: a root is no better known.
static const double time_round_off = 4e-16, gap_round_off = 2e-16;

// Of a step: a root that is not known better is none.
static const double time_known = 1e-9;

static const cr_events_pose still;

static void place_stand(const cr_events* events, const cr_events_body* b, double s,
                        cr_events_stand* stand)
{
    const cr_events_segment* segment = &events->segment.items[b->segment];
    const double d = s - segment->from;
    cr_events_pose* pose = &stand->pose;
    pose->r = segment->r;
    pose->u = segment->u;
    pose->v = segment->v;
    if (d != 0.0) {
        const cr_rot e = cr_rot_make(cr_vec3_scale(d, segment->rate));
        pose->r = cr_mat3_mul(segment->r, cr_rot_matrix(&e));
        pose->u =
            cr_vec3_add_scaled(pose->u, d, cr_vec3_add_scaled(segment->v, 0.5 * d, segment->a));
        pose->v = cr_vec3_add_scaled(pose->v, d, segment->a);
    }
    pose->t = cr_vec3_add(events->task->motion->t0[b->frame], pose->u);
    pose->turning = cr_mat3_apply(pose->r, segment->rate);
    const double angle =
        stand->turned + (events->task->h - segment->from) * cr_vec3_norm(segment->rate);
    const double left = events->task->h - s;
    stand->swing = cr_min(angle, 2.0) * b->extent;
    stand->roam = stand->swing + (cr_vec3_norm(pose->u) + left * cr_vec3_norm(pose->v) +
                                  0.5 * left * left * cr_vec3_norm(segment->a));
    stand->s = s;
    stand->segment = b->segment;
    stand->spins = 0;
}

static inline cr_events_stand* stand_at(cr_events* events, int32_t body, double s)
{
    cr_events_stand* stand = &events->stand.items[body];
    const cr_events_body* b = &events->body.items[body];
    if (!(stand->s == s && stand->segment == b->segment)) {
        place_stand(events, b, s, stand);
    }
    return stand;
}

const cr_events_pose* cr_events_path_pose(cr_events* events, int32_t body, double s)
{
    return body < 0 ? &still : &stand_at(events, body, s)->pose;
}

cr_vec3 cr_events_path_pull(const cr_events* events, int32_t body)
{
    return body < 0 ? (cr_vec3){0} : events->segment.items[events->body.items[body].segment].a;
}

void cr_events_path_changed(cr_events* events, int32_t body)
{
    events->stand.items[body].s = (double)NAN;
}

cr_vec3 cr_events_path_spin(cr_events* events, int32_t body, double s)
{
    const cr_events_body* b = &events->body.items[body];
    const cr_events_segment* segment = &events->segment.items[b->segment];
    if (b->lock >> 3) {
        const cr_vec3 spin = cr_mat3_apply(segment->r, segment->om);
        const cr_vec3 later = cr_vec3_add_scaled(spin, s - segment->from, b->spin_up);
        return cr_events_unlocked(later, b->lock >> 3);
    }
    cr_events_stand* stand = stand_at(events, body, s);
    if (!stand->spins) {
        cr_quat q;
        cr_vec3 om;
        cr_spin_path(b->inertia, s - segment->from, segment->q, segment->om, b->torque,
                     segment->rate, &q, &om);
        stand->spin = cr_mat3_apply(cr_quat_to_matrix(q), om);
        stand->spins = 1;
    }
    return stand->spin;
}

static cr_vec3 given_velocity(const cr_events_task* task, int32_t vertex)
{
    const cr_vec3 whole = cr_vec3_sub(task->obstacle1[vertex], task->obstacle0[vertex]);
    return cr_vec3_scale((task->to - task->from) / task->h, whole);
}

void cr_events_path_points(const cr_events* events, const cr_events_near* near,
                           const cr_events_pose* const pose[2], double s, cr_vec3 x[4],
                           cr_vec3 given[4])
{
    const cr_events_task* task = events->task;
    const cr_pair* pair = &task->candidate[near->candidate].pair;
    for (int k = 0; k < 4; k++) {
        const int32_t vertex = pair->v[k];
        x[k] = given[k] = (cr_vec3){0};
        if (vertex < 0) {
            continue;
        }
        const int32_t side = cr_row_side(pair->kind, k);
        if (near->side[side] >= 0) {
            const cr_vec3 p = cr_vec3_load(task->bodies->p + 3 * (vertex + near->shape[side]));
            x[k] = cr_vec3_add(cr_mat3_apply(pose[side]->r, p), pose[side]->t);
            continue;
        }
        const cr_vec3 begin = task->obstacle0[vertex];
        if (near->still) {
            x[k] = begin;
            continue;
        }
        const cr_vec3 whole = cr_vec3_sub(task->obstacle1[vertex], begin);
        const double part = task->to - task->from;
        x[k] = cr_vec3_add_scaled(begin, task->from + part * (s / task->h), whole);
        given[k] = given_velocity(task, vertex);
    }
}

// Whether a side is where the step found it, on the path it began with.
static int unmoved(const cr_events* events, int32_t body, double s)
{
    return s == 0.0 &&
           (body < 0 || events->segment.items[events->body.items[body].segment].impact < 0);
}

// A face that stays where it is has many points held against it.
static cr_closest over_still(cr_events* events, const cr_pair* pair, const cr_vec3 x[4])
{
    cr_closest at;
    if (memcmp(events->plane_of, pair->v, sizeof events->plane_of) != 0) {
        events->plane = cr_distance_face_make(x);
        memcpy(events->plane_of, pair->v, sizeof events->plane_of);
    }
    cr_distance_face_closest(&events->plane, x[3], HUGE_VAL, &at);
    return at;
}

cr_closest cr_events_path_closest(cr_events* events, const cr_events_near* near,
                                  const cr_events_pose* const pose[2], double s, cr_vec3 x[4],
                                  cr_vec3 given[4])
{
    const cr_events_task* task = events->task;
    const cr_pair* pair = &task->candidate[near->candidate].pair;
    cr_events_path_points(events, near, pose, s, x, given);
    if (task->closest && unmoved(events, near->side[0], s) && unmoved(events, near->side[1], s)) {
        return task->closest[near->candidate];
    }
    return pair->kind == CR_PAIR_PT && near->still && near->side[0] < 0
               ? over_still(events, pair, x)
               : cr_distance_closest(pair->kind, x);
}

double cr_events_path_gap_rate(const cr_closest* at, const cr_vec3 x[4], const cr_vec3 given[4],
                               const cr_events_near* near, const cr_events_pose* const pose[2],
                               const cr_vec3 turning[2], int32_t kind)
{
    double rate = 0.0;
    for (int k = 0; k < 4; k++) {
        if (!(at->active >> k & 1)) {
            continue;
        }
        const int32_t side = cr_row_side(kind, k);
        cr_vec3 v = given[k];
        if (near->side[side] < 0 && near->still) {
            continue;
        }
        if (near->side[side] >= 0) {
            const cr_vec3 arm = cr_vec3_sub(x[k], pose[side]->t);
            v = cr_vec3_add(pose[side]->v, cr_vec3_cross(turning[side], arm));
        }
        rate += at->c[k] * cr_vec3_dot(at->n, v);
    }
    return rate;
}

// The smaller of the bodies.
static double size_of(const cr_events* events, const cr_events_near* near)
{
    double size = HUGE_VAL;
    for (int side = 0; side < 2; side++) {
        if (near->side[side] >= 0) {
            size = cr_min(size, events->body.items[near->side[side]].extent);
        }
    }
    return size;
}

double cr_events_path_tolerance(const cr_events* events, const cr_events_near* near)
{
    const double thickness = events->task->candidate[near->candidate].thickness;
    return cr_min(thickness, group_tilt * size_of(events, near));
}

double cr_events_path_floor(const cr_events* events, const cr_events_near* near)
{
    const double width = events->task->candidate[near->candidate].width;
    return cr_max(slowest * size_of(events, near), gentle * width) / events->task->h;
}

// A contact at rest gains at most h/2 + s of its acceleration along n before the zone takes it
// back. Two bodies in flight gain only the difference of theirs; of two that rest on something it
// is not known which of them the support holds.
static double gain(const cr_events* events, const cr_events_near* near, cr_vec3 n, int rests)
{
    double along[2] = {0, 0}, turning = 0.0;
    for (int side = 0; side < 2; side++) {
        if (near->side[side] < 0) {
            continue;
        }
        const cr_events_body* b = &events->body.items[near->side[side]];
        const cr_vec3 spin_up = {b->torque.x / b->inertia.x, b->torque.y / b->inertia.y,
                                 b->torque.z / b->inertia.z};
        along[side] = cr_vec3_dot(n, cr_events_path_pull(events, near->side[side]));
        turning += cr_vec3_norm(spin_up) * b->extent;
    }
    const double most = rests ? cr_max(fabs(along[0]), fabs(along[1])) : fabs(along[0] - along[1]);
    return events->task->bounce_floor * events->task->h * (most + turning) +
           cr_events_path_floor(events, near);
}

double cr_events_path_threshold(const cr_events* events, const cr_events_near* near, cr_vec3 n)
{
    int rests = 0;
    for (int side = 0; side < 2; side++) {
        rests |= near->side[side] >= 0 && events->body.items[near->side[side]].touching;
    }
    return gain(events, near, n, rests);
}

// A pair at a time: everything a search looks at.
typedef struct look {
    double s, gap, rate;
    cr_closest at;
    cr_vec3 x[4], given[4];
    const cr_events_pose* pose[2];
} look;

static void look_at(cr_events* events, const cr_events_near* near, double s, look* l)
{
    const cr_candidate* c = &events->task->candidate[near->candidate];
    l->s = s;
    for (int side = 0; side < 2; side++) {
        l->pose[side] = cr_events_path_pose(events, near->side[side], s);
    }
    const cr_vec3 turning[2] = {l->pose[0]->turning, l->pose[1]->turning};
    l->at = cr_events_path_closest(events, near, l->pose, s, l->x, l->given);
    l->gap = l->at.distance - c->thickness;
    l->rate = cr_events_path_gap_rate(&l->at, l->x, l->given, near, l->pose, turning, c->pair.kind);
    events->report.evaluations++;
}

// How fast the pair closes by its momentary velocities, not by the mean rate of the path.
static double closing(cr_events* events, const cr_events_near* near, const look* l)
{
    cr_vec3 spin[2] = {{0}};
    for (int side = 0; side < 2; side++) {
        if (near->side[side] >= 0) {
            spin[side] = cr_events_path_spin(events, near->side[side], l->s);
        }
    }
    const int32_t kind = events->task->candidate[near->candidate].pair.kind;
    return -cr_events_path_gap_rate(&l->at, l->x, l->given, near, l->pose, spin, kind);
}

// Bounds on how a gap can change in the rest of the step.
typedef struct bounds {
    double speed; // m/s, of the gap
    cr_vec3 pull; // m/s^2, acceleration of A less that of B
    double bend;  // m/s^2, by which points leave their tangents as the bodies turn
    double sway;  // m/s, by how much other points of the features may close faster
} bounds;

static double feature_size(int32_t kind, const cr_vec3 x[4], int side)
{
    if (side) {
        return kind == CR_PAIR_EE ? cr_vec3_norm(cr_vec3_sub(x[2], x[3])) : 0.0;
    }
    double size = kind == CR_PAIR_PP ? 0.0 : cr_vec3_norm(cr_vec3_sub(x[1], x[0]));
    if (kind == CR_PAIR_PT) {
        size = cr_max(size, cr_vec3_norm(cr_vec3_sub(x[2], x[0])));
        size = cr_max(size, cr_vec3_norm(cr_vec3_sub(x[2], x[1])));
    }
    return size;
}

// By how much the velocities of a feature whose motion is given differ.
static double given_sway(int32_t kind, const cr_vec3 given[4], int side)
{
    const int first = side == 0 ? 0 : kind == CR_PAIR_EE ? 2 : 3;
    double most = 0.0;
    for (int k = first + 1; k < 4 && cr_row_side(kind, k) == side; k++) {
        most = cr_max(most, cr_vec3_norm(cr_vec3_sub(given[k], given[first])));
    }
    return 2.0 * most;
}

static bounds bound(const cr_events* events, const cr_events_near* near, const look* l)
{
    const int32_t kind = events->task->candidate[near->candidate].pair.kind;
    const double left = events->task->h - l->s;
    cr_vec3 v[2] = {{0}}, a[2] = {{0}};
    double given = 0.0, turning = 0.0;
    bounds out = {0};
    for (int side = 0; side < 2; side++) {
        if (near->side[side] < 0) {
            double most = 0.0;
            for (int k = 0; k < 4 && !near->still; k++) {
                if (cr_row_side(kind, k) == side) {
                    most = cr_max(most, cr_vec3_norm2(l->given[k]));
                }
            }
            if (most > 0.0) {
                given += sqrt(most);
                out.sway += given_sway(kind, l->given, side);
            }
            continue;
        }
        const cr_events_body* b = &events->body.items[near->side[side]];
        const double rate = cr_vec3_norm(l->pose[side]->turning);
        v[side] = l->pose[side]->v;
        a[side] = cr_events_path_pull(events, near->side[side]);
        turning += rate * b->extent;
        out.bend += rate * rate * b->extent;
        out.sway += rate * feature_size(kind, l->x, side);
    }
    out.pull = cr_vec3_sub(a[0], a[1]);
    out.speed =
        cr_vec3_norm(cr_vec3_sub(v[0], v[1])) + given + cr_vec3_norm(out.pull) * left + turning;
    return out;
}

static double bend_along(const bounds* b, cr_vec3 n)
{
    return b->bend + cr_max(0.0, cr_vec3_dot(n, b->pull));
}

static cr_vec3 point_velocity(const cr_events_near* near, const look* l, int k, int side)
{
    if (near->side[side] < 0) {
        return l->given[k];
    }
    const cr_vec3 arm = cr_vec3_sub(l->x[k], l->pose[side]->t);
    return cr_vec3_add(l->pose[side]->v, cr_vec3_cross(l->pose[side]->turning, arm));
}

// When 0 = gap + rate t - bend t^2/2, without cancellation
static double first_root(double gap, double rate, double bend)
{
    const double root = sqrt(rate * rate + 2.0 * bend * gap);
    return rate > 0.0 ? (rate + root) / bend : 2.0 * gap / (root - rate);
}

// A plane between the features, normal to n, stays between them for a while: the distance is at
// least what they are apart along n, and each of their points moves along n as its velocity there
// (at most sway more than that of the closest points), its body's acceleration and its turning
// (at most bend) tell. The step to where this bound reaches 0.
static double safe_step(const look* l, const bounds* b)
{
    const double slope = l->rate - b->sway;
    const double bend = bend_along(b, l->at.n);
    return cr_max(l->gap / b->speed, first_root(l->gap, slope, bend));
}

// The points of two features stay apart along n, the way from one to the other now, as long as each
// point of A stays behind each of B: and then so do the features, which are their hulls. A point
// moves along n by its velocity now, its body's acceleration and its turning (at most bend). The
// step to where the first of these bounds reaches 0. It tells more than safe_step(), whose sway
// knows no directions, and is asked of pairs that may not meet at all: roots are come to by steps
// that are short beside them.
static double step_by_points(const cr_events* events, const cr_events_near* near, const look* l,
                             const bounds* b)
{
    const double bend = bend_along(b, l->at.n);
    const cr_pair* pair = &events->task->candidate[near->candidate].pair;
    double along[4], rate[4], least = HUGE_VAL;
    for (int k = 0; k < 4; k++) {
        if (pair->v[k] >= 0) {
            const int side = cr_row_side(pair->kind, k);
            along[k] = cr_vec3_dot(l->at.n, l->x[k]);
            rate[k] = cr_vec3_dot(l->at.n, point_velocity(near, l, k, side));
        }
    }
    const double thickness = l->at.distance - l->gap;
    for (int a = 0; a < 3 && cr_row_side(pair->kind, a) == 0; a++) {
        for (int c = 3; c > a && cr_row_side(pair->kind, c) == 1; c--) {
            if (pair->v[a] >= 0 && pair->v[c] >= 0) {
                // no nearer than the closest points, but for round-off
                const double gap = cr_max(along[c] - along[a] - thickness, l->gap);
                least = cr_min(least, first_root(gap, rate[c] - rate[a], bend));
            }
        }
    }
    return least;
}

// Whether the gap stays open for the rest of the step, of which `safe` is known to be free.
static int stays_open(const cr_events* events, const cr_events_near* near, const look* l,
                      const bounds* b, double safe)
{
    const double left = events->task->h - l->s;
    return !(safe < left) || !(step_by_points(events, near, l, b) < left);
}

// Newton's step to the root, and whether it is one.
static double root_step(const look* l)
{
    return l->rate < 0.0 ? -l->gap / l->rate : HUGE_VAL;
}

double cr_events_path_far(const cr_vec3 x[4])
{
    double far = 0.0;
    for (int k = 0; k < 4; k++) {
        far = cr_max(far, cr_vec3_max_abs(x[k]));
    }
    return far;
}

static int at_root(const cr_events* events, const look* l)
{
    return fabs(l->gap) <= gap_round_off * cr_events_path_far(l->x) ||
           fabs(root_step(l)) <= time_round_off * events->task->h;
}

// From a bracket, gap > 0 at lo and <= 0 at hi, to the root: Newton, halving where it strays.
static void refine(cr_events* events, const cr_events_near* near, double lo, double hi, look* l)
{
    for (int i = 0; i < ROOT_STEPS && !at_root(events, l); i++) {
        double next = l->s + root_step(l);
        if (!(next > lo && next < hi)) {
            next = 0.5 * (lo + hi);
        }
        look_at(events, near, next, l);
        if (l->gap > 0.0) {
            lo = next;
        } else {
            hi = next;
        }
    }
}

// A pair that touches already: back to where its gap was 0. False when that is too long ago.
static int step_back(cr_events* events, const cr_events_near* near, look* l)
{
    const double s0 = l->s;
    for (int i = 0; i < ROOT_STEPS && !at_root(events, l); i++) {
        const double next = l->s + root_step(l);
        if (!(fabs(next - s0) <= deepest * events->task->h)) {
            return 0;
        }
        look_at(events, near, next, l);
    }
    return fabs(root_step(l)) <= time_known * events->task->h ||
           fabs(l->gap) <= CR_EVENTS_GAP_NOISE * cr_events_path_far(l->x);
}

// How far a feature whose motion is given goes.
static double given_way(const cr_events_task* task, const cr_pair* pair, int side)
{
    const int first = side == 0 ? 0 : pair->kind == CR_PAIR_EE ? 2 : 3;
    double most = 0.0;
    for (int k = first; k < 4 && cr_row_side(pair->kind, k) == side; k++) {
        const int32_t v = pair->v[k];
        if (v >= 0) {
            most = cr_max(most, cr_vec3_norm(cr_vec3_sub(task->obstacle1[v], task->obstacle0[v])));
        }
    }
    return most;
}

// The distance was measured at the start of the step, and changes by no more than what the sides
// have moved against each other since, u_B - u_A and their turning.
int cr_events_path_apart(cr_events* events, const cr_events_near* near, double s)
{
    const cr_events_task* task = events->task;
    const cr_candidate* c = &task->candidate[near->candidate];
    if (task->from > 0.0) {
        return 0; // the distance that is known is of an earlier time
    }
    const double left = task->h - s, room = c->start - c->thickness;
    if (near->side[0] < 0 || near->side[1] < 0) {
        const int moves = near->side[0] < 0;
        const double way = (near->still ? 0.0 : given_way(task, &c->pair, !moves)) +
                           stand_at(events, near->side[moves], s)->roam;
        return room > 1.001 * way + cr_events_path_tolerance(events, near);
    }
    cr_vec3 u[2] = {{0}}, v[2] = {{0}}, a[2] = {{0}};
    double way = 0.0;
    for (int side = 0; side < 2; side++) {
        const int32_t body = near->side[side];
        const cr_events_stand* stand = stand_at(events, body, s);
        u[side] = stand->pose.u;
        v[side] = stand->pose.v;
        a[side] = cr_events_path_pull(events, body);
        way += stand->swing;
    }
    way += cr_vec3_norm(cr_vec3_sub(u[1], u[0])) + left * cr_vec3_norm(cr_vec3_sub(v[1], v[0])) +
           0.5 * left * left * cr_vec3_norm(cr_vec3_sub(a[1], a[0]));
    return room > 1.001 * way + cr_events_path_tolerance(events, near);
}

// Whether a pair was stopped by the last impact of both its bodies: it touches from then on, for
// the rows of one impact are hit together, where their mean gap is 0.
static int stopped(const cr_events* events, const cr_events_near* near)
{
    if (near->stop < 0 || near->stop >= events->row.count ||
        events->row.items[near->stop].candidate != near->candidate ||
        !events->row.items[near->stop].active) {
        return 0;
    }
    for (int side = 0; side < 2; side++) {
        if (near->side[side] >= 0) {
            const cr_events_body* body = &events->body.items[near->side[side]];
            const int32_t last = events->segment.items[body->segment].impact;
            if (last < 0 || near->stop < events->impact.items[last].row_begin ||
                near->stop >= events->impact.items[last].row_end) {
                return 0;
            }
        }
    }
    return 1;
}

int cr_events_path_touches(const cr_events* events, const cr_events_near* near, double gap)
{
    return !(gap > touches * cr_events_path_tolerance(events, near)) || stopped(events, near);
}

int cr_events_path_first(cr_events* events, cr_events_near* near)
{
    near->rests = 0;
    if (cr_events_path_apart(events, near, 0.0)) {
        near->start = events->task->candidate[near->candidate].start -
                      events->task->candidate[near->candidate].thickness;
        return 0;
    }
    look l;
    look_at(events, near, 0.0, &l);
    near->start = l.gap;
    if (l.gap <= cr_events_path_tolerance(events, near)) {
        near->rests = fabs(l.rate) < gain(events, near, l.at.n, 1);
        if (near->rests && cr_events_path_touches(events, near, l.gap)) {
            return 0;
        }
    }
    const bounds b = bound(events, near, &l);
    return !(l.gap > 0.0) || !stays_open(events, near, &l, &b, safe_step(&l, &b));
}

double cr_events_path_search(cr_events* events, cr_events_near* near)
{
    const cr_events_task* task = events->task;
    double s0 = 0.0;
    int fresh = near->start > cr_events_path_tolerance(events, near);
    for (int side = 0; side < 2; side++) {
        if (near->side[side] >= 0) {
            const cr_events_body* b = &events->body.items[near->side[side]];
            s0 = cr_max(s0, events->segment.items[b->segment].from);
            fresh = fresh && b->impacts == 0;
            if (b->impacts >= task->max_events) {
                return HUGE_VAL;
            }
        }
    }
    if (cr_events_path_apart(events, near, s0)) {
        return HUGE_VAL;
    }
    look l;
    look_at(events, near, s0, &l);
    if (s0 == 0.0) {
        near->start = l.gap;
        fresh = fresh || l.gap > cr_events_path_tolerance(events, near);
    }
    if (cr_events_path_touches(events, near, l.gap)) {
        const double threshold = cr_events_path_threshold(events, near, l.at.n);
        // the rate is near enough to sort out what rests
        if (!(-l.rate > 0.5 * threshold)) {
            return HUGE_VAL;
        }
        // Of a turning body the rate is the mean of its path, which differs from what it closes by
        // now. Where it is much less the root is ill defined, and so would be all that follows. At
        // the root it has to be an impact still: it may be where it was stopped a moment ago.
        const double now = closing(events, near, &l);
        if (now > threshold && -l.rate > well_defined * now && step_back(events, near, &l) &&
            closing(events, near, &l) > threshold) {
            return l.s;
        }
        return HUGE_VAL;
    }
    const bounds b = bound(events, near, &l);
    // never so long that a thin thing is skipped: within the thickness the gap is negative
    const double thick = task->candidate[near->candidate].thickness;
    const double least = cr_min((task->h - s0) / LEAST_PARTS, 0.5 * thick / b.speed);
    for (int i = 0; i < MOST_STEPS && l.s < task->h; i++) {
        const double safe = safe_step(&l, &b);
        if (stays_open(events, near, &l, &b, safe)) {
            return HUGE_VAL;
        }
        const double last = l.s;
        look_at(events, near, cr_min(l.s + cr_max(safe, least), task->h), &l);
        if (!(l.gap > 0.0)) {
            refine(events, near, last, l.s, &l);
            const double slow = fresh ? cr_events_path_floor(events, near)
                                      : cr_events_path_threshold(events, near, l.at.n);
            return closing(events, near, &l) > slow ? l.s : HUGE_VAL;
        }
    }
    return HUGE_VAL;
}
