// balance.h - the last word on a zone's velocities: what its contacts gave in energy they take
// back.
//
// A zone evaluates its gaps and levers at the end of the step. The force of a contact then works
// along A dz = dg + dz^T Hess(g) dz / 2, and the second term is positive where the gap is convex: a
// corner that a box turns over, an edge that a ball goes around. Each such step would give (h om)^2
// r/2 times the force. The energy that frames had at the start and got from outer forces is all
// they may have at the end; the rest is braked away between those that touch,
//     v'' = v' - eta X/m,    X = sum lam (v_B - v_A),     and spins likewise,
// by equal and opposite forces and couples that leave linear and angular momentum as they are. Of
// second order in h, and nothing at all where no energy was gained. See docs/contact.md.
#pragma once

#include "contact/give.h"
#include "contact/motion.h"

// A contact that carried a load. Frame -1: a fixed side, or cloth that lies on one; both: nobody is
// braked by it.
typedef struct cr_balance_row {
    int32_t frame[2];
    double lam;       // kg m
    double eps, room; // 1/kg, m: it holds about lam depth / 2 h^2 of energy by its give
} cr_balance_row;

typedef struct cr_balance_task {
    const cr_body_set* bodies;
    const cr_motion* motion; // reads start, targets and end; v and om of the members change
    double h;                // s
    int32_t bounced;         // nonzero: there was an impact with restitution on the way
    int32_t frame_count;     // members
    const int32_t* frame;
    int32_t row_count;
    const cr_balance_row* row;
    double more; // J, gained by sheets (balance_sheet.h), which are not braked themselves
} cr_balance_task;

// A contact holds energy by its give, which may come back when it lets go. A gain below this part
// of what all hold is none: at rest all gains are round-off.
#define CR_BALANCE_HELD 0.0625
// Nor is one below this part of the kinetic energy: so exactly a zone is solved.
#define CR_BALANCE_NOISE 1e-9

// Brakes motion->v and om of the members. Returns the energy gained before [J], at most 0 when
// nothing was to be done.
double cr_balance_run(const cr_balance_task* task);

// After it: whether energy was gained all the same, because the members move against each other by
// too little to brake it. A shorter step would gain less.
int32_t cr_balance_fails(const cr_balance_task* task);

// Bars, by frame of the scene; all are added to but v and om, which come in as those of the result
// and leave as those of what cr_balance_run was given. Orientations along R -> R exp([delta]).
typedef struct cr_balance_bars {
    cr_vec3 *v, *om;           // of the end
    cr_vec3 *t, *q, *u;        // of the end: place, orientation, and the way there
    cr_vec3 *v0, *om_free, *a; // of the start and the targets
    double *mass, *inertia;    // [frame_count], [3*frame_count]
    double *lam, *eps, *room;  // [row_count]
    double* more;              // or NULL
    cr_vec3* spin;             // scratch
} cr_balance_bars;

// task->motion holds v and om as they were before cr_balance_run.
void cr_balance_adj(const cr_balance_task* task, const cr_balance_bars* bars);

// Forward: *by holds changes in the place of bars; v and om come in as those of what cr_balance_run
// was given and leave as those of its result, everything else is read. For `count` directions, with
// thrust and twist [frame_count of the scene] as scratch.
void cr_balance_jvp(const cr_balance_task* task, int32_t count, const cr_balance_bars* by,
                    cr_vec3* thrust, cr_vec3* twist);
