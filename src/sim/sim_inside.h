// sim_inside.h - the scratch of a simulation, shared by the files of sim/ and nobody else.
#pragma once

#include "contact/balance.h"
#include "contact/balance_clump.h"
#include "contact/balance_sheet.h"
#include "contact/events.h"
#include "contact/motion.h"
#include "contact/newton.h"
#include "dynamics/targets.h"
#include "math/quat.h"
#include "sim/record.h"
#include "sim/sim.h"

// A body may miss where it is expected by this much of its way, before anything was tried.
#define CR_SIM_SLACK 0.25

// A zone with cloth that can still be split is given up after so many iterations: one that
// converges takes less than ten as a rule.
enum { CR_SIM_HOPEFUL = 20 };

// rad: what impacts and friction in a part may bring its bodies to, see island_step.c.
#define CR_SIM_TURNED 2.0

// A step that gains energy, which a shorter one does less, is halved this often for that.
enum { CR_SIM_FAIR = 5 };

// What is expected of everything over a stretch of time, and by how much it may miss that: see
// collision/carry.h.
typedef struct cr_expect {
    double* start;      // [3*vertex_count] m, where cloth begins
    double* ahead;      // [3*vertex_count] m, where cloth is expected
    cr_carry* carry;    // [body_count] what is expected of the others
    double* node_reach; // [node_count] m, by how much a node may miss `ahead`
    double* wide;       // [body_count] m, the least reach of a carry in the next look
    double* node_wide;  // [node_count] m, likewise
    double range;       // m, of a part: the farthest that anything was expected to go at first
} cr_expect;

// The stretch of a step that everything is taken through at once: all of it, as a rule. A step in
// which too much could meet goes in several (sim_step.c).
typedef struct cr_leg {
    double h;        // s
    double from, to; // of the step, 0..1
} cr_leg;

// What solving one island left behind.
typedef struct cr_island_result {
    int32_t done;   // nonzero: what follows is of the island it stands for
    uint64_t sight; // of its members and of all they were compared with
    carom_status status;
    cr_zone_report report;
    int32_t impacts; // events, of all parts
    int32_t parts;
    int32_t eased;      // nonzero: solved with less friction than it has
    int32_t unfinished; // nonzero: its iteration budget was spent before it was solved
    int32_t hard;       // nonzero: one look around did not do, see parts.h
    int32_t again;      // nonzero: the last part has to be taken again, see carried.h
    int32_t gains;      // nonzero: the last part was solved but gained energy
    double turn;        // rad, of a member in it, at most
    double missed;      // residual of the last zone that was not solved
    int32_t
        narrow; // nonzero: something went, or wanted to go, farther than contacts were looked for
    // nonzero: it went farther than others were looked for: it stands if there are none, see
    // parts.h
    int32_t strayed;
    int32_t looked; // nonzero: it found its candidates itself, wherever it went, see substep.h
    CR_ARRAY(cr_contact) contact;
    CR_ARRAY(cr_contact_memory) memory; // of the last part, keys ascending
    cr_record record;                   // when the simulation keeps one
} cr_island_result;

// One thread's scratch.
typedef struct cr_worker {
    cr_zone* zone;
    cr_newton* newton;
    cr_events* events;
    CR_ARRAY(int32_t) frame;
    CR_ARRAY(int32_t) sheet;
    CR_ARRAY(cr_contact_memory) warm;
    CR_ARRAY(cr_balance_row) balance;     // contacts of the last zone
    CR_ARRAY(double) sheet_scratch;       // of the balance of sheets
    CR_ARRAY(int32_t) clump_of;           // [frame_count + sheet_count] of the scene, likewise
    CR_ARRAY(cr_balance_clump) clump;     // likewise
    int32_t bounced;                      // nonzero: there was an impact with restitution before it
    cr_expect* expect;                    // of the stretch under way
    CR_ARRAY(cr_candidate) own_candidate; // of the island under way
    CR_ARRAY(cr_closest) own_closest;     // likewise
    int32_t candidate_count;
    cr_candidate* candidate;   // [candidate_count] of the stretch under way
    const cr_closest* closest; // [candidate_count] where that begins
    int32_t most_iterations;   // of one zone
    int32_t measured;          // nonzero: candidates' distances are those of the start of the part
    int32_t looks;             // nonzero: an iterate that wants more room has it looked at
    int32_t fair;              // nonzero: a part that gains energy counts as not solved,
    double most_turn;          // rad, and one in which a member turns by more
    int32_t hopeful;           // nonzero: shorter parts are the better way, see zone.h
    int32_t last;              // nonzero: shorter parts than this are not taken
    double share;              // 0..1, of their friction that candidates have then
    int32_t stiff;             // nonzero: what is pressed is as stiff as what meets
    int32_t rounds;            // times a part was taken again for what cloth carries
    int32_t most_cramped; // iterates in a row that want more room, after which it asks for that
} cr_worker;

struct cr_sim {
    const cr_model* model;
    cr_state state;
    int32_t worker_count;
    const volatile int* stop;            // the caller's, or NULL: nonzero ends the step
    int32_t keeps;                       // nonzero: islands leave a record of what they did
    cr_worker* worker;                   // [worker_count]
    double *force, *torque, *node_force; // the caller's
    unsigned char *driven, *node_driven; // [frame_count], [node_count] moved by the caller
    int32_t drives;                      // nonzero: some of them are
    cr_vec3 *force_now, *torque_now;     // [frame_count] with the model's loads
    cr_vec3* node_force_now;             // [node_count]
    cr_state next;                       // where the members of islands have got to
    cr_motion motion;
    cr_quat* q_target;              // [frame_count] orientation of motion.rp
    cr_target* aimed;               // [frame_count] targets of the step taken as a whole
    cr_vec3 *obstacle0, *obstacle1; // [vertex_count] m, start and end of what moves by script
    cr_leg leg;                     // under way
    cr_carry* scripted;   // [body_count] what moves by script or not at all, over the step
    cr_expect whole;      // of the leg: nobody leaves it, so islands do not meet
    cr_expect part;       // of the part of a step that looks around by itself
    int32_t* hard;        // [body_count] > 0: of an island whose parts look around by themselves
    int32_t any_hard;     // nonzero: there is one
    uint8_t* corner;      // [vertex_count] see corners.h; NULL until the first step
    int64_t corner_shape; // of the model when that was made
    uint8_t* jam;         // [body_count] the resort it came to earlier in the step, see parts.c
    int32_t* taking;     // [body_count] roles in such a part: who is not of the island is not there
    cr_carry* wish;      // [frame_count] r1, t1: where they would have been then
    double* node_wish;   // [3*node_count] m, likewise
    unsigned char* left; // [frame_count] nonzero: carried by cloth, impacts are left to the zone
    double* hit;         // [frame_count] N s, scratch of carried.c
    cr_vec3* lift;       // [frame_count] N s, likewise
    double* wants;       // [frame_count] m, what iterates of bodies asked for beyond
    cr_near near;
    CR_ARRAY(cr_island_result) island;        // results, one per island; capacity kept
    CR_ARRAY(cr_island_result) island_before; // those of the last try of this step
    int32_t before_ready;
    int32_t* body_before; // [body_count] island in the last try
    uint8_t* fresh;       // [body_count] nonzero: that island was too narrow
    int32_t retries;      // times the current step was begun again
    int32_t island_ready; // results whose arrays were initialised
    cr_state begin;       // of a step in legs: where it began
    cr_record earlier;    // of its legs before the last
    CR_ARRAY(cr_contact) contact;
    cr_step_report report;
};

// What is `share` of a leg, as a share of its step: exact at both ends.
static inline double cr_sim_along(const cr_leg* leg, double share)
{
    return share < 1.0 ? leg->from + share * (leg->to - leg->from) : leg->to;
}

// sim_gather.c: what acts and moves by itself in the step that begins at sim->state: fills
// force_now and its like, obstacle0 and obstacle1, carry of what is scripted, and its end in
// `next`.
void cr_sim_gather(cr_sim* sim);
// The part of it that is scripted or driven ...
void cr_sim_gather_ways(cr_sim* sim);
// ... with the pose at the start worked out from the script as well.
void cr_sim_gather_scripts(cr_sim* sim);

// island.c: where inertia and loads take a rigid frame over h.
cr_target cr_island_target(const cr_sim* sim, int32_t frame, double h, cr_quat q, cr_vec3 v,
                           cr_vec3 om);
// Inertial targets of a worker's frames and sheets over h, from `next`, into motion. known
// [frame_count]: the frames' targets where they have been worked out, or NULL.
void cr_island_aim(cr_sim* sim, const cr_worker* worker, double h, const cr_target* known);
// The zone of one part, as a task: candidates and warm start are the caller's.
cr_zone_task cr_island_task(const cr_sim* sim, const cr_worker* worker, double h, double from,
                            double to);
// The impacts of one part, as a task: the candidates are the caller's.
cr_events_task cr_island_events(cr_sim* sim, const cr_worker* worker, double h, double from,
                                double to);
// island_balance.c: the energy balance of one part with the rows in worker->balance, as a task.
// Before it cr_island_balance_open says no where sheets are moved by something whose work is not
// known, or there is no memory (*status); the rows come by cr_island_balance_row, which says no
// where a moving obstacle does work; and cr_island_balance_close, which says no where nobody can be
// braked. guess: a body that may be one of the two, or -1.
int cr_island_balance_open(const cr_sim* sim, cr_worker* worker, carom_status* status);
int cr_island_balance_close(const cr_sim* sim, cr_worker* worker);
cr_balance_sheets cr_island_balance_sheets(cr_sim* sim, const cr_worker* worker, double h);
cr_balance_task cr_island_balance(cr_sim* sim, const cr_worker* worker, double h);
int cr_island_balance_row(const cr_model* model, const cr_candidate* candidate, int32_t guess,
                          double lam, cr_balance_row* row);
// The rows of the zone just solved: none where a moving obstacle takes part, whose work is not in
// the balance.
carom_status cr_island_balance_gather(cr_sim* sim, cr_worker* worker);
// island.c: impacts on the way to the targets, which are others after them.
carom_status cr_island_impacts(cr_sim* sim, cr_worker* worker, int32_t island, double h,
                               double from, double to);
// The end of a part becomes where its members are.
void cr_island_advance(cr_sim* sim, const cr_worker* worker, double h, double from, double to);
// The record of a part that was solved, before that: its members; then, after the caller has added
// its contacts, the rest.
carom_status cr_island_record_begin(cr_sim* sim, const cr_worker* worker, int32_t island, double h,
                                    double from, double to, cr_record_part* part);
carom_status cr_island_record_end(cr_sim* sim, const cr_worker* worker, int32_t island, int hits,
                                  cr_record_part* part);
// v, om and xv at the end of a part by the zone alone, into motion.
void cr_island_velocities(cr_sim* sim, const cr_worker* worker, double h);
// rad, by which the members turn in h at these spins (NULL: those of motion), at most; for exact
// balls it is all the same.
double cr_island_turn(const cr_sim* sim, const cr_worker* worker, double h, const double* om);
// A member, to guess by whose a vertex is; -1: there is none but cloth.
static inline int32_t cr_island_first(const cr_sim* sim, const cr_worker* worker)
{
    return worker->frame.count > 0 ? sim->model->bodies.frame_body[worker->frame.items[0]] : -1;
}
// island_step.c: moves the members of one island through the step, in parts if it must.
void cr_island_step(cr_sim* sim, cr_worker* worker, int32_t island);
// What that is made of: a worker takes up the island as the look around has left it ...
carom_status cr_island_open(cr_sim* sim, cr_worker* worker, int32_t island);
// (its candidates, as that has them) ...
carom_status cr_island_take_candidates(cr_sim* sim, cr_worker* worker, int32_t island);
// ... puts its members back to where the step began, with nothing done ...
void cr_island_rewind(cr_sim* sim, const cr_worker* worker, int32_t island);
// ... and (island.c) moves them from `from` to `to` of the step, 0..1, which take h s. Where
// that fails they stay where they were; contacts of impacts may have been added all the same. Where
// cloth carries somebody who was hit they stay, too, and result->again asks for it once more
// (carried.h).
carom_status cr_island_part(cr_sim* sim, cr_worker* worker, int32_t island, double h, double from,
                            double to);
// How often the leg has to be halved for nobody to turn too far in a part.
int32_t cr_island_whirl(const cr_sim* sim, const cr_worker* worker);
// Whether there is friction in the candidates, and less of it.
int cr_island_rubs(const cr_worker* worker);
void cr_island_ease(cr_worker* worker, double share);
