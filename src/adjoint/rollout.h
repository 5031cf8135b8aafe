// rollout.h - runs as functions: parameters, a state and controls in, states out, and the
// derivative of every step, at any time and as often as wanted.
//
// States and their bars are flat vectors of one shape, [13*frame_count + 6*node_count]: positions
// (m) and quaternions (w,x,y,z) of all frames, velocities (m/s) and angular velocities (rad/s,
// world axes) of all frames, positions and velocities of all nodes of cloth. Quaternions need not
// have length 1; they are taken along their direction, and their bars are those of that function.
// Every number of a state is an input of the step, but for the velocities of what does not move
// freely. Nothing else is: a step from a vector starts without a memory of contacts.
//
// A step that is kept stays in a slot until it is dropped, with the parameters it was taken at.
#pragma once

#include "adjoint/backward.h"
#include "adjoint/forward.h"
#include "adjoint/parameters.h"
#include "sim/sim_inside.h"

typedef struct cr_rollout_slot {
    int32_t used;
    double* before;        // [state_size] with quaternions of length 1
    double* length;        // [frame_count] that they had
    double *q_end, *w_end; // [4*frame_count], [3*frame_count] quaternions and spins after the step
    double* control;       // [control_size] all of them
    double* theta;         // [theta_size]
    cr_record record;
} cr_rollout_slot;

// One direction on its way forward.
typedef struct cr_rollout_lane {
    int32_t awake;     // nonzero: something of it is not zero
    int32_t moves;     // nonzero: it changes the parameters
    cr_gradient model; // what that means; made when first needed
    cr_state_bars state;
    cr_vec3 *force, *torque, *node_force; // of the present step's controls
} cr_rollout_lane;

typedef struct cr_rollout {
    const cr_model* scene; // borrowed, as is goal
    const cr_goal* goal;
    cr_parameters* parameters;
    const cr_model* model; // with theta
    cr_sim* sim;
    cr_sim* back; // scratch of the way back, made when first needed, as is the next
    cr_backward* backward;
    cr_gradient gradient;
    cr_state_bars bars;
    int32_t state_size, control_size, theta_size;
    double *theta, *written;        // [theta_size] what is asked for, and what the model has
    double* length;                 // [frame_count] of the quaternions last placed
    double* bar;                    // [state_size] scratch
    double* control_bar;            // [control_size] scratch
    int32_t chosen_count;           // controls that come from outside
    int32_t* chosen;                // [chosen_count] in 0..control_size-1
    CR_ARRAY(cr_rollout_slot) slot; //
    CR_ARRAY(int32_t) spare;        // slots that are free
    // of the way forward, made when first needed
    cr_forward* forward;
    CR_ARRAY(cr_rollout_lane) lane;  // directions that are looked at together
    CR_ARRAY(cr_forward_lane) awake; // those of them that are not all zero by now
    CR_ARRAY(int32_t) awake_lane;    // which
} cr_rollout;

// Owns what it makes; model and goal must outlive it. CAROM_ERR_ARGUMENT for parameters that are
// one per step (controls are that).
carom_status cr_rollout_init(cr_rollout* rollout, const cr_model* model, const cr_goal* goal,
                             int32_t worker_count, carom_error* error);
void cr_rollout_release(cr_rollout* rollout);

// Which controls come from outside, by their place in [forces 3*frame_count, torques
// 3*frame_count, node forces 3*node_count]; the rest is 0. Of a kinematic body without script and
// of a pinned node without script these are velocities (m/s) and angular velocities (rad/s), and
// choosing one of them makes the body or the node driven. CAROM_ERR_ARGUMENT for what is fixed or
// has a script, for torques of cloth, for a number out of range or chosen twice.
carom_status cr_rollout_choose(cr_rollout* rollout, int32_t count, const int32_t* index,
                               carom_error* error);

// The parameters of the coming steps. CAROM_ERR_ARGUMENT and the old ones for what cannot be.
carom_status cr_rollout_write(cr_rollout* rollout, const double* theta, carom_error* error);

// Where the next step begins: the start of the scene at theta (state NULL), or a state after so
// many steps. CAROM_ERR_NOT_FINITE, CAROM_ERR_ARGUMENT: the old one stays.
carom_status cr_rollout_place(cr_rollout* rollout, const double* state, int64_t step,
                              carom_error* error);
void cr_rollout_state(const cr_rollout* rollout, double* state);

// One step with controls [chosen_count]. slot NULL: not kept; else *slot is where it is.
carom_status cr_rollout_step(cr_rollout* rollout, const double* control, int32_t* slot,
                             carom_error* error);
void cr_rollout_drop(cr_rollout* rollout, int32_t slot);

// The reverse of kept steps, the last one first: bar [state_size] comes in as that of the state
// after the last and leaves as that of the state before the first. more [count*state_size] (may be
// NULL) is added to the bar of the state before each step. control_bar [count*chosen_count] is set,
// theta_bar [theta_size] added to; both may be NULL.
carom_status cr_rollout_back(cr_rollout* rollout, int32_t count, const int32_t* slot,
                             const double* more, double* bar, double* control_bar,
                             double* theta_bar, carom_error* error);
// Reverse of placing at the start of the scene: adds to theta_bar what bar [state_size] feels.
carom_status cr_rollout_start_adj(cr_rollout* rollout, const double* bar, double* theta_bar,
                                  carom_error* error);

// Forward through kept steps that follow each other, along `lanes` directions, on one factorisation
// a step. dstate [lanes*state_size] comes in as the change of the state before the first and leaves
// as that of the state after the last; dcontrol [lanes*count*chosen_count] and dtheta
// [lanes*theta_size] may be NULL: none. dstates [lanes*count*state_size] (may be NULL) gets the
// change of the state after each step.
carom_status cr_rollout_jvp(cr_rollout* rollout, int32_t count, const int32_t* slot, int32_t lanes,
                            double* dstate, const double* dcontrol, const double* dtheta,
                            double* dstates, carom_error* error);
// Forward of placing at the start of the scene: dstate [lanes*state_size] += what dtheta means.
carom_status cr_rollout_start_jvp(cr_rollout* rollout, int32_t lanes, const double* dtheta,
                                  double* dstate, carom_error* error);
// The derivative of the state after the last of these steps by the state before the first
// [state_size*state_size], by the controls of all [state_size * count*chosen_count] and by theta
// [state_size*theta_size], row by row; any may be NULL.
carom_status cr_rollout_jacobian(cr_rollout* rollout, int32_t count, const int32_t* slot,
                                 double* state, double* control, double* theta, carom_error* error);
