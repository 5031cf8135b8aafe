// balance_inside.h - the pieces of a balance, shared by balance.c and its reverse.
#pragma once

#include "contact/balance.h"
#include "math/rot.h"

typedef struct cr_balance_gain {
    double gain;   // J
    int32_t ahead; // nonzero: by the velocities half a step ahead
} cr_balance_gain;

typedef struct cr_balance_slip {
    cr_vec3 p, q;   // m/s, rad/s of B against A
    cr_vec3 arm[2]; // m, from each centre to where p is seen
} cr_balance_slip;

typedef struct cr_balance_brake {
    double slope, bend; // J per eta, per eta^2
    double eta;         // 1/m
    int32_t full;       // nonzero: as much as there may be
} cr_balance_brake;

cr_balance_gain cr_balance_measure(const cr_balance_task* task);
double cr_balance_radius2(const cr_body_set* bodies, const cr_balance_row* row);
cr_balance_slip cr_balance_relative(const cr_motion* motion, const cr_balance_row* row);
// What is locked is not braked; of a frame that may turn about some axes only, no turning is.
void cr_balance_lock(int32_t lock, cr_vec3* thrust, cr_vec3* twist);
// Fills spin, thrust (space) and twist (body axes) of the members.
cr_balance_brake cr_balance_directions(const cr_balance_task* task);
cr_balance_brake cr_balance_solve(cr_balance_brake brake, double gain);
