// balance_clump.h - how sheets are braked, and what they share with others: the pieces of balance.c
// and its reverse that know of nodes.
//
// A sheet that is held loses speed against what holds it. One that is free, with all free sheets
// and all frames that hang together with it by contacts, is a clump: it loses speed against its own
// rigid motion, the one that has its momentum and angular momentum,
//     e = v - V - W x (x - c),   spin - W,      sum m e = 0,   sum m (x - c) x e + J (spin - W) =
//     0,
// so that both stay as they are. Either way the impulse is rate m e, the least change of velocities
// in the metric of mass that takes so much energy; rate is the load of all contacts over the mass
// of all they move, which is how frames are braked by theirs.
#pragma once

#include "contact/balance.h"

typedef struct cr_balance_rigid {
    cr_vec3 v, w; // m/s of the centre, rad/s
} cr_balance_rigid;

// By the places at the end of the step.
struct cr_balance_clump {
    double mass;           // kg
    cr_vec3 c;             // m, centre
    cr_mat3 inverse;       // 1/(kg m^2), of the inertia about it
    cr_balance_rigid move; // of the velocities before the brake
    cr_balance_rigid by;   // of a reverse or a change under way
    cr_vec3 tilt;          // likewise
};

// kg, of all that the balance brakes.
double cr_balance_clump_mass(const cr_balance_task* task);
// m, the sum of lam over that mass.
double cr_balance_clump_rate(const cr_balance_task* task);

// The clumps, from motion->xv, v and spin; then motion->push of the nodes, and what frames in
// clumps add to thrust and twist (space). Of what they take the slope and the bend.
void cr_balance_clump_push(const cr_balance_task* task, double* slope, double* bend);

// Reverse of that. Comes with motion->push as it was left, and thrust and twist (space) holding the
// bars of what they were; slope, bend: bars; v'' = v - eta push/m is undone on bars->xv, too. Adds
// to bars->xv, x, node_mass, v, t, q, spin, mass, inertia and lam, and spoils push, thrust, twist.
void cr_balance_clump_adj(const cr_balance_task* task, double eta, double slope, double bend,
                          const cr_balance_bars* bars);

// Forward: by->push gets the change of push; x and y of frames (space) are set to those of thrust
// and twist, 0 for who is in no clump; slope and bend are added to. by->spin is that of the spins.
void cr_balance_clump_jvp(const cr_balance_task* task, const cr_balance_bars* by, cr_vec3* x,
                          cr_vec3* y, double* slope, double* bend);

// What all of them ask. The clump of a frame, or CR_BALANCE_APART.
static inline int32_t cr_balance_clump_of(const cr_balance_task* task, int32_t f)
{
    return task->clump_count > 0 ? task->frame_clump[f] : CR_BALANCE_APART;
}

static inline int cr_balance_clump_has(const cr_balance_task* task, int32_t sheet, int32_t n)
{
    return task->sheet_clump[sheet] != CR_BALANCE_APART && !task->bodies->node_pinned[n];
}

static inline cr_vec3 cr_balance_clump_place(const cr_motion* motion, int32_t f)
{
    return cr_vec3_add(motion->t0[f], motion->u[f]);
}

static inline cr_vec3 cr_balance_clump_node(const cr_motion* motion, int32_t n)
{
    return cr_vec3_add(motion->x0[n], motion->d[n]);
}

// What is left of a field at x without a rigid motion.
static inline cr_vec3 cr_balance_clump_rest(const cr_balance_clump* clump,
                                            const cr_balance_rigid* rigid, cr_vec3 x, cr_vec3 field)
{
    const cr_vec3 turned = cr_vec3_cross(rigid->w, cr_vec3_sub(x, clump->c));
    return cr_vec3_sub(cr_vec3_sub(field, rigid->v), turned);
}

// That is e, of a frame in a clump and of a node whose sheet has this label.
static inline cr_vec3 cr_balance_clump_frame_rest(const cr_balance_task* task, int32_t f)
{
    const cr_balance_clump* clump = &task->clump[task->frame_clump[f]];
    return cr_balance_clump_rest(clump, &clump->move, cr_balance_clump_place(task->motion, f),
                                 task->motion->v[f]);
}

static inline cr_vec3 cr_balance_clump_node_rest(const cr_balance_task* task, int32_t label,
                                                 int32_t n)
{
    const cr_vec3 v = task->motion->xv[n];
    if (label < 0) {
        return v;
    }
    const cr_balance_clump* clump = &task->clump[label];
    return cr_balance_clump_rest(clump, &clump->move, cr_balance_clump_node(task->motion, n), v);
}

// R of a frame at the end, and J a = R I R^T a.
cr_mat3 cr_balance_clump_turn(const cr_motion* motion, int32_t f);
cr_vec3 cr_balance_clump_inertia(const cr_balance_task* task, int32_t f, cr_vec3 a);

// The rigid motion of every clump that has the momenta of a field: of nodes, of centres and of
// spins; into `by`.
void cr_balance_clump_fit(const cr_balance_task* task, const cr_vec3* node, const cr_vec3* frame,
                          const cr_vec3* spin);
