// events.h - impacts of rigid bodies as events at their time of impact, before the zone solve.
//
// On the way to its inertial target a body follows
//     t(s) = t + s vt + s^2 a/2,  vt = v + h a/2,      R(s) = R exp(s rate),      0 <= s <= h,
// the parabola through the ends of the steps. Where a pair meets on these paths faster than a
// resting contact would, at the time s at which its gap is 0, the velocities jump (A = d gap/dt per
// velocity, a_c = -(A u-)_c the closing speeds):
//     M (u+ - u-) - A^T j + mu sum_c j_c Gamma_c^T rub(slip of u+) = 0
//     0 <= j_c  _|_  (A u+)_c - restitution_c ramp(a_c) a_c >= 0
// and the paths go on from there. Damping is in a: what an impact does to a velocity it does to a's
// share of damping too, as if the path after it were one that began with the step. The targets that
// come of it replace the inertial ones; the zone that follows takes what presses, slides and rests.
// So an impact's normal, lever and speed are those of the impact and not of a step's end, and the
// time of impact is differentiated: without that the gradient is wrong by O(1) at every h. See
// docs/contact.md.
//
// Pairs of rigid bodies with rigid, kinematic and fixed ones; cloth is left to the zone.
#pragma once

#include "collision/distance.h"
#include "contact/candidate.h"
#include "contact/motion.h"
#include "core/array.h"
#include "math/quat.h"

// What there is. Of `motion` r0, t0, turn, a and torque of the members are read; of a member that
// is hit rp, ut, turn, guess, v1, om1, w = 0 and u are written, and its q_target.
typedef struct cr_events_task {
    const cr_body_set* bodies;
    cr_motion* motion;
    cr_quat* q_target;    // [frame_count] orientation of motion->rp
    const double* q;      // [4*frame_count] w,x,y,z, start
    const double* v;      // [3*frame_count] m/s, start
    const double* om;     // [3*frame_count] rad/s, start, body axes
    double h;             // s
    int32_t frame_count;  // members
    const int32_t* frame; // rigid frames, ascending
    int32_t candidate_count;
    const cr_candidate* candidate;
    const cr_closest* closest; // [candidate_count] at the start; NULL: not known
    const uint8_t* corner; // [vertex_count] 0: this vertex hits nothing, see corners.h; NULL: all
    const int32_t* like;   // [body_count] a body with the same p, to the bit; NULL: itself
    const cr_vec3* obstacle0;  // [vertex_count] m, fixed and kinematic vertices at time 0
    const cr_vec3* obstacle1;  // [vertex_count] m, the same at time 1; straight in between
    double from, to;           // 0..1, the part of that motion that belongs to this step
    const double* damping;     // [body_count] 1/s, of velocities; NULL: none
    double friction_speed;     // m/s, slips below it stick
    double bounce_floor;       // 1, impacts slower than this many h * |acceleration| do not bounce
    int32_t max_events;        // of one body; the zone takes the rest
    const unsigned char* left; // [frame_count] nonzero: the zone takes all of it; NULL: nobody
} cr_events_task;

// One contact of an impact.
typedef struct cr_events_contact {
    int32_t candidate;
    double time;     // s, since the start of the step
    cr_vec3 place;   // m, between the closest points
    cr_vec3 normal;  // from side A to B
    cr_vec3 impulse; // N s, on B; the opposite acts on A
} cr_events_contact;

typedef struct cr_events_report {
    int32_t impacts;     // events
    int32_t most;        // of one body
    int32_t capped;      // bodies that came to max_events
    int32_t unrubbed;    // impacts whose friction was not solved for: taken without
    int32_t tamed;       // impacts whose restitution was lowered so that no energy comes of it
    int32_t evaluations; // of a gap
} cr_events_report;

typedef struct cr_events cr_events; // scratch of one worker, and the record of its last run

carom_status cr_events_create(cr_events** out);
void cr_events_destroy(cr_events* events);

// Takes no memory once warm. Failure is of memory only.
carom_status cr_events_run(cr_events* events, const cr_events_task* task, cr_events_report* report);

// Of the last run: the contacts, in the order of time, until the next; whether a frame was hit.
int32_t cr_events_contacts(const cr_events* events, const cr_events_contact** contacts);
int cr_events_hit(const cr_events* events, int32_t frame);

// The record of a run as bytes, for a tape. Save appends; load brings the record back, writes the
// targets of the members that were hit as the run did, and returns where the bytes of this one end.
// Of the task load and the reverse read bodies, om, h, friction_speed, bounce_floor, from, to,
// motion (as the run found it) and, for the targets, q_target; not the candidates.
typedef CR_ARRAY(unsigned char) cr_events_tape;
carom_status cr_events_save(const cr_events* events, cr_events_tape* tape);
carom_status cr_events_load(cr_events* events, const cr_events_task* task,
                            const unsigned char* from, const unsigned char** end);

// dL by what the targets of the run are: read. And by what the run read: added to.
// Orientations along R -> R exp(delta).
typedef struct cr_events_bars {
    // [frame_count], of the members that were hit
    const cr_vec3 *rp, *ut, *turn, *v1, *om1;
    // [frame_count]
    cr_vec3 *q, *t, *v, *om; // start; t as far as the contacts see where things are
    cr_vec3 *a, *torque;     // of motion
    cr_vec3* rate;           // of motion's turn over h
    double* inertia;         // [3*frame_count] kg m^2, the principal ones
    double* mass;
    // [vertex_count]
    cr_vec3* p; // body coordinates of a rigid body's vertex
    cr_vec3 *obstacle0, *obstacle1;
} cr_events_bars;

// And by the numbers of one contact that an impact saw.
typedef struct cr_events_row_bars {
    cr_candidate candidate;
    double thickness, friction, restitution, compliance, lever[2];
} cr_events_row_bars;

// Reverse of the last run, or of the one that was loaded last. Of a member that was hit all
// dependence goes through here; of the others only what the impacts saw of them. The rows live
// until the next call.
carom_status cr_events_adj(cr_events* events, const cr_events_task* task,
                           const cr_events_bars* bars);
int32_t cr_events_rows(const cr_events* events, const cr_events_row_bars** rows);

// Changes of what the run read, and of its targets: those of the members that were hit are set, the
// rest is read. Letters are those of cr_events_bars.
typedef struct cr_events_tangents {
    cr_vec3 *rp, *ut, *turn, *v1, *om1;
    const cr_vec3 *q, *t, *v, *om, *a, *torque, *rate;
    const double *inertia, *mass;
    const cr_vec3* p; // NULL: none
    const cr_vec3 *obstacle0, *obstacle1;
    const cr_events_row_bars* row; // [cr_events_row_count] of the contacts' own numbers
} cr_events_tangents;

// The contacts that the impacts of the last run, or of the one loaded last, saw.
int32_t cr_events_row_count(const cr_events* events);
const cr_candidate* cr_events_row_candidate(const cr_events* events, int32_t row);

// Forward of that run, for `count` directions: every impact's equations are factored once.
carom_status cr_events_jvp(cr_events* events, const cr_events_task* task, int32_t count,
                           const cr_events_tangents* by);
