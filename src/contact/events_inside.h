// events_inside.h - the record of a run of events and its scratch, shared by the events_*.c files
// and nobody else. Unless said otherwise spins, turns and torques are in world axes here: there the
// locked directions are coordinates, and mass is what turns with the body.
#pragma once

#include "contact/events.h"
#include "math/block_factor.h"

// A stretch of a body's path, from an impact or the start of the step.
typedef struct cr_events_segment {
    int32_t body;   // of cr_events.body
    int32_t impact; // that began it, -1: the start of the step
    int32_t next;   // impact that ended it, -1: the end of the step
    double from;    // s
    double to;      // s
    cr_quat q;      // at `from`, as all below
    cr_mat3 r;
    cr_vec3 u;    // m, displacement since the start of the step
    cr_vec3 v;    // m/s, vt
    cr_vec3 a;    // m/s^2, constant
    cr_vec3 om;   // rad/s, body axes
    cr_vec3 rate; // rad/s, body axes, constant
} cr_events_segment;

typedef struct cr_events_body {
    int32_t frame;
    int32_t segment;  // the last one
    int32_t impacts;  // so far
    int32_t support;  // impact record of kind support that gave its path, -1: none
    int32_t asked;    // nonzero: whether it is supported has been asked
    int32_t touching; // nonzero: rests on something at the start
    int32_t lock;
    double mass, extent;
    cr_vec3 inertia;
    cr_vec3 torque;  // of the path, in body axes
    cr_vec3 spin_up; // rad/s^2, of a body whose turning is locked, instead of torque
} cr_events_body;

// A candidate of the run, with where it was last seen.
typedef struct cr_events_near {
    int32_t candidate;
    int32_t side[2];  // body of A and of B, -1: its motion is given
    int32_t still;    // nonzero: points whose motion is given end where they begin
    int32_t shape[2]; // from the vertices of A, B to those of the body that stands for its shape
    int32_t row;      // in the group that is being made
    int32_t stop;     // its row in the last impact it took part in, -1: none
    int32_t rests;    // nonzero: touches at the start of the step and keeps still
    double start;     // m, gap at the start of the step
    double gap;       // m, in the group that is being made
    double noise;     // m, likewise: the round-off of the gap, at most
    double closing;   // m/s, likewise
    double speed;     // m/s, likewise: of both sides, at most
    cr_closest at;    // likewise
    int32_t lone[2];  // vertex that alone stands for side A, B, -1: there are more; likewise
    cr_vec3 place;    // m, between the closest points, likewise
} cr_events_near;

// A body at a time.
typedef struct cr_events_pose {
    cr_mat3 r;
    cr_vec3 u;       // m, displacement since the start of the step
    cr_vec3 t;       // m
    cr_vec3 v;       // m/s, vt
    cr_vec3 turning; // rad/s, of the path
} cr_events_pose;

// A body where it was last looked at: all its pairs at that time share the work.
typedef struct cr_events_stand {
    double s;        // s, NaN: nowhere yet
    int32_t segment; // of its path
    int32_t spins;   // nonzero: spin is known
    cr_events_pose pose;
    cr_vec3 spin;  // rad/s, momentary
    double turned; // rad, at most, before the segment began
    double swing;  // m, how far its turning may take a point of it by the end of the step, at most
    double roam;   // m, how far a point of it may be from its start until then, at most
} cr_events_stand;

// A body in an impact. (spin, velocity) before and after.
typedef struct cr_events_member {
    int32_t body;
    int32_t segment; // that the impact ends
    int32_t next;    // that it begins
    cr_events_pose pose;
    cr_vec3 a; // m/s^2, of the path
    double before[6], after[6];
} cr_events_member;

typedef struct cr_events_row {
    int32_t candidate; // of the task
    cr_candidate c;
    int32_t side[2]; // member of A and of B in its impact, -1: given
    int32_t pair;    // rows between the same two bodies have the same
    int32_t active;  // pushes
    cr_closest at;
    cr_vec3 x[4];     // m
    cr_vec3 arm[4];   // m, from the centre of mass; 0 of given points
    cr_vec3 given[4]; // m/s, velocity of given points
    double closing;   // m/s, a_c
    double ramp;      // m/s, v_r: impacts slower than it do not bounce, twice as fast ones fully
    double j;         // N s
    cr_vec3 rub;      // direction of friction, at most 1 long
} cr_events_row;

// One event: or a support, whose velocities are accelerations.
typedef struct cr_events_impact {
    int32_t support; // nonzero
    double time;     // s
    int32_t member_begin, member_end, row_begin, row_end, pair_count;
    int32_t hit_end; // rows before it hit: the time is where their mean gap is 0; the rest touches
    int32_t rubs;    // nonzero: with friction
    int32_t tamed;   // nonzero: restitution * tame, with tame such that the energy is kept
    double tame;
} cr_events_impact;

// Damping by c makes of v = 1 at the start of a step a path with vt = 1 - k/2 and a = -k / h,
// k = 1 - exp(-c h). From vt = 1 on it is 1 - s / T with T = h (2/k - 1)/2. So that paths that meet
// in an impact go on as one, and all momentum fades alike, what an impact adds to a velocity at s
// fades as 1 - t / (T - s): its a is -1 / (T - s) per m/s. By the end of a step at most all is
// gone.
static inline double cr_events_fade(const cr_events_task* task, int32_t frame, double s)
{
    const double c = task->damping ? task->damping[task->bodies->frame_body[frame]] : 0.0;
    const double k = -cr_expm1(-c * task->h);
    return k > 0.0 ? 1.0 / (task->h * cr_max(1.0 / k - 0.5, 1.0) - s) : 0.0;
}

// Whether it has to be asked whether a body rests on something before anything happens to it.
static inline int cr_events_unasked(const cr_events_body* body)
{
    return body->touching && !body->asked && body->impacts == 0;
}

// A direction that is locked feels nothing.
static inline cr_vec3 cr_events_unlocked(cr_vec3 a, int32_t lock)
{
    return (cr_vec3){lock & 1 ? 0.0 : a.x, lock & 2 ? 0.0 : a.y, lock & 4 ? 0.0 : a.z};
}

// rad/s^2 of a body whose turning is locked, from the torque of the motion, which is in the body
// axes r of the start.
static inline cr_vec3 cr_events_spin_up(const cr_events_body* body, cr_mat3 r, cr_vec3 torque)
{
    const cr_vec3 up = {torque.x / body->inertia.x, torque.y / body->inertia.y,
                        torque.z / body->inertia.z};
    return cr_events_unlocked(cr_mat3_apply(r, up), body->lock >> 3);
}

struct cr_events {
    const cr_events_task* task;
    CR_ARRAY(cr_events_body) body; // the members
    CR_ARRAY(cr_events_segment) segment;
    CR_ARRAY(cr_events_near) near;
    CR_ARRAY(double) toi;            // [near.count] s, HUGE_VAL: none as things are
    CR_ARRAY(int32_t) near_of;       // near pairs of each body, ascending
    CR_ARRAY(int32_t) near_first;    // [bodies+1] where those of each begin
    CR_ARRAY(int32_t) seen;          // near pairs that the group being made looked at, ascending
    CR_ARRAY(cr_events_stand) stand; // [bodies]
    cr_distance_face plane;          // of the still triangle that was looked at last
    int32_t plane_of[3];             // its vertices, -1: none
    CR_ARRAY(cr_events_impact) impact;
    CR_ARRAY(cr_events_member) member;
    CR_ARRAY(cr_events_row) row;
    CR_ARRAY(cr_events_contact) contact;
    CR_ARRAY(double) number; // scratch of an impulse
    CR_ARRAY(int32_t) index;
    CR_ARRAY(int32_t) graph; // of the bodies of a large impact
    cr_block_matrix matrix;  // of it
    cr_block_factor* factor; // of it; NULL: there was none yet
    CR_ARRAY(double) bar;    // scratch of the reverse
    CR_ARRAY(cr_events_row_bars) row_bar;
    cr_events_report report;
};

// events_path.c: bodies and gaps along the paths. A pose is lent until the body is looked at at
// another time; that of a body -1 stays where it is.
const cr_events_pose* cr_events_path_pose(cr_events* events, int32_t body, double s);
// Of a body whose turning is locked the spin stays about the free axes: it grows by spin_up.
cr_vec3 cr_events_path_spin(cr_events* events, int32_t body, double s); // world axes
// m/s^2, of the present path; of a body -1 none.
cr_vec3 cr_events_path_pull(const cr_events* events, int32_t body);
// A body got another path without another segment.
void cr_events_path_changed(cr_events* events, int32_t body);
// Whether a pair is too far apart to touch from time s on, by what is known without looking.
int cr_events_path_apart(cr_events* events, const cr_events_near* near, double s);
// The points of a near pair: where they are; of those whose motion is given the velocity too.
// Returns how near the sides come to each other there.
cr_closest cr_events_path_closest(cr_events* events, const cr_events_near* near,
                                  const cr_events_pose* const pose[2], double s, cr_vec3 x[4],
                                  cr_vec3 given[4]);
void cr_events_path_points(const cr_events* events, const cr_events_near* near,
                           const cr_events_pose* const pose[2], double s, cr_vec3 x[4],
                           cr_vec3 given[4]);
// m: pairs that are no farther apart than this touch, and hit together.
double cr_events_path_tolerance(const cr_events* events, const cr_events_near* near);
// m/s: the slowest impact that is one. It is round-off against what moves in a step.
double cr_events_path_floor(const cr_events* events, const cr_events_near* near);
// m/s: how fast a touching pair has to close to be hit, more than what rests gains in a step.
double cr_events_path_threshold(const cr_events* events, const cr_events_near* near, cr_vec3 n);
// dgap/ds with the velocities of both sides, and with these turnings instead of the paths'.
double cr_events_path_gap_rate(const cr_closest* at, const cr_vec3 x[4], const cr_vec3 given[4],
                               const cr_events_near* near, const cr_events_pose* const pose[2],
                               const cr_vec3 turning[2], int32_t kind);
// m, the largest coordinate; of it a gap is known no better than by the second, 32 units in the
// last place, whatever the time of a slow impact is then known to.
double cr_events_path_far(const cr_vec3 x[4]);
#define CR_EVENTS_GAP_NOISE (32 * 0x1p-53)
// Whether a pair at this gap touches: the sign of a gap near 0 is round-off.
int cr_events_path_touches(const cr_events* events, const cr_events_near* near, double gap);
// Sets near->start and near->rests. False when nothing can come of it in the step.
int cr_events_path_first(cr_events* events, cr_events_near* near);
// The time of impact, from the later of the two bodies' last impacts on; HUGE_VAL: none.
double cr_events_path_search(cr_events* events, cr_events_near* near);

// events_group.c: who takes part. Appends members and rows; not CAROM_OK: CAROM_ERR_MEMORY, or
// CAROM_ERR_NO_CONVERGENCE when there is nothing to it.
enum {
    CR_EVENTS_GROUP_BODIES = 256,
    CR_EVENTS_GROUP_PAIRS = 768,
    CR_EVENTS_GROUP_ROWS = 4096,
    CR_EVENTS_GROUP_UNSEEN = -2, // the row of a near pair that no group looks at
};
// The pair `first` at its toi, and all that hit together with it; solved, with all contacts of no
// restitution that touch then and would close because of it. *ask: a body of whom it has to be
// known first what it rests on, then nothing is solved; -1: nobody.
carom_status cr_events_group_hit(cr_events* events, int32_t first, cr_events_impact* impact,
                                 int32_t* ask);
// What body rests on at the start of the step, and they on, with accelerations for velocities.
carom_status cr_events_group_support(cr_events* events, int32_t body, cr_events_impact* impact);

// events_impulse.c: solves the group that impact describes; writes after[], j, active, rub, tame.
// Not CAROM_OK: CAROM_ERR_MEMORY, or CAROM_ERR_NO_CONVERGENCE, then there is no impulse.
carom_status cr_events_impulse_solve(cr_events* events, cr_events_impact* impact);

// Reverse of an impulse: bars by the group's (spin, velocity) after -> before, and by everything
// else it saw. By member: turn is along world axes, x that of the centre of mass.
typedef struct cr_events_impulse_bars {
    const double* after;     // [6*members] read
    double* before;          // [6*members] these and all below are added to
    cr_vec3 *turn, *x;       // [members]
    cr_vec3* a;              // [members]
    cr_vec3* inertia;        // [members]
    double* mass;            // [members]
    cr_vec3* point;          // [4*rows] x of a given point, p of the others, along world axes
    cr_vec3* given;          // [4*rows] velocity of a given point
    cr_events_row_bars* row; // [rows]
} cr_events_impulse_bars;
carom_status cr_events_impulse_reverse(cr_events* events, const cr_events_impact* impact,
                                       const cr_events_impulse_bars* bars);

// Forward of an impulse: changes in the letters of cr_events_impulse_bars, all read but `after`,
// which is set.
typedef struct cr_events_impulse_tangents {
    double* after;
    double* before;
    cr_vec3 *turn, *x, *a, *inertia;
    double* mass;
    cr_vec3 *point, *given;
    const cr_events_row_bars* row;
} cr_events_impulse_tangents;
// events_impulse_jvp.c: for `count` directions on one factorisation.
carom_status cr_events_impulse_jvp(cr_events* events, const cr_events_impact* impact, int32_t count,
                                   const cr_events_impulse_tangents* by);
