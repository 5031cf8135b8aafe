// balance.h - the last word on a zone's velocities: what its contacts gave in energy they take
// back.
//
// A zone evaluates its gaps and levers at the end of the step. The force of a contact then works
// along A dz = dg + dz^T Hess(g) dz / 2, and the second term is positive where the gap is convex: a
// corner that a box turns over, an edge that a ball goes around. Each such step would give (h om)^2
// r/2 times the force. The energy that frames had at the start and got from outer forces is all
// they may have at the end; the rest is braked away between those that touch,
//     v'' = v' - eta X/m,    X = sum lam (v_B - v_A),     and spins likewise,
// by equal and opposite forces and couples that leave linear and angular momentum as they are; and
// sheets that touch something against what holds them, or their own rigid motion (balance_clump.h).
// Of second order in h, and nothing at all where no energy was gained. See docs/contact.md.
#pragma once

#include "contact/give.h"
#include "contact/motion.h"

// A contact that carried a load. Frame -1: a fixed side, or cloth that lies on one; both: it brakes
// no frames.
typedef struct cr_balance_row {
    int32_t frame[2];
    double lam;       // kg m
    double eps, room; // 1/kg, m: it holds about lam depth / 2 h^2 of energy by its give
} cr_balance_row;

// What a sheet that touches something is braked against is its clump, counted from 0; or one of
// these.
enum {
    CR_BALANCE_APART = -1,  // it touches nothing, and is not braked
    CR_BALANCE_GROUND = -2, // rest: it hangs or lies on something that does not move
};
typedef struct cr_balance_clump cr_balance_clump;

typedef struct cr_balance_task {
    const cr_body_set* bodies;
    const cr_motion* motion; // reads start, targets and end; v, om and xv of the members change
    double h;                // s
    int32_t bounced;         // nonzero: there was an impact with restitution on the way
    int32_t frame_count;     // members
    const int32_t* frame;
    int32_t row_count;
    const cr_balance_row* row;
    double more; // J, gained by sheets (balance_sheet.h) with xv as it is
    double fall; // J, m (h a)^2 / 2 of their nodes
    int32_t sheet_count;
    const int32_t* sheet;       // members
    const int32_t* sheet_node;  // first node of each sheet of the scene
    const int32_t* sheet_clump; // by sheet of the scene
    const int32_t* frame_clump; // by frame of the scene; not looked at where there are no clumps
    int32_t clump_count;        // some may have no members
    cr_balance_clump* clump;    // scratch
} cr_balance_task;

// A contact holds energy by its give, which may come back when it lets go. A gain below this part
// of what all hold is none: at rest all gains are round-off.
#define CR_BALANCE_HELD 0.0625
// Nor is one below this part of the kinetic energy: so exactly a zone is solved.
#define CR_BALANCE_NOISE 1e-9

// Brakes motion->v, om and xv of the members. Returns the energy gained before [J], at most 0 when
// nothing was to be done.
double cr_balance_run(const cr_balance_task* task);

// After it, with `more` measured again: whether energy was gained all the same, because the members
// move against each other by too little to brake it. A shorter step would gain less.
int32_t cr_balance_fails(const cr_balance_task* task);

// Bars, by frame or node of the scene; all are added to but v, om and xv, which come in as those of
// the result and leave as those of what cr_balance_run was given. Orientations along R -> R
// exp([delta]).
typedef struct cr_balance_bars {
    cr_vec3 *v, *om;           // of the end
    cr_vec3 *t, *q, *u;        // of the end: place, orientation, and the way there
    cr_vec3 *v0, *om_free, *a; // of the start and the targets
    double *mass, *inertia;    // [frame_count], [3*frame_count]
    double *lam, *eps, *room;  // [row_count]
    double* more;              // or NULL
    cr_vec3* spin;             // scratch
    // of sheets, NULL without any
    cr_vec3 *xv, *x;   // of the end
    double* node_mass; // [node_count]
    cr_vec3* push;     // [node_count] scratch of the forward mode
} cr_balance_bars;

// task->motion holds v and om as they were before cr_balance_run.
void cr_balance_adj(const cr_balance_task* task, const cr_balance_bars* bars);

// Forward: *by holds changes in the place of bars; v, om and xv come in as those of what
// cr_balance_run was given and leave as those of its result, everything else is read. For `count`
// directions, with thrust and twist [frame_count of the scene] as scratch.
void cr_balance_jvp(const cr_balance_task* task, int32_t count, const cr_balance_bars* by,
                    cr_vec3* thrust, cr_vec3* twist);
