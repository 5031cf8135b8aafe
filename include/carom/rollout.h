// rollout.h - runs as functions: parameters, a state and controls in, states out, and the
// derivative of every step. What bindings to frameworks of automatic differentiation are made of.
#pragma once

#include "carom/grad.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- every parameter there is

// One kind of parameter, as scene files name it in "parameters".
typedef struct carom_parameter_kind {
    const char* name;  // "mass"
    const char* who;   // who has it: letters of W world, R rigid, K kinematic, F fixed, C cloth
    int32_t numbers;   // of one body; 0: it depends
    const char* about; // unit, and what it is
} carom_parameter_kind;
CAROM_API int32_t carom_parameter_kind_count(void);
CAROM_API carom_status carom_parameter_kind_at(int32_t i, carom_parameter_kind* kind);

// ---- one run

typedef struct carom_rollout carom_rollout; // one thread at a time

// The parameters are those the scene lists; its objective is not looked at. The model must outlive
// the rollout. CAROM_ERR_ARGUMENT for parameters that are one per step: controls are that.
CAROM_API carom_status carom_rollout_create(const carom_model* model, int32_t worker_count,
                                            carom_rollout** rollout, carom_error* error);
CAROM_API void carom_rollout_destroy(carom_rollout* rollout); // NULL is fine

// How long the flat vectors are. Frames are the bodies that are not cloth, in their order; nodes
// the vertices of cloth, in theirs.
//   state    t [3*frame_count] m, quaternions w,x,y,z of their
//            meshes [4*frame_count], velocities [3*frame_count]
//            m/s, angular velocities [3*frame_count] rad/s in world axes, positions [3*node_count]
//            m and velocities [3*node_count] m/s of nodes
//   controls forces [3*frame_count] N, torques [3*frame_count] N m, forces on nodes [3*node_count]
//            N; of kinematic bodies and pinned nodes velocities m/s and angular velocities rad/s
//   theta    as carom_rollout_parameter says
// Bars, that is derivatives of a loss, have the shape of what they are of. Quaternions are taken
// along their direction, whatever their length. Velocities of what does not move freely are not
// read, nor is the bar of its angular velocity.
typedef struct carom_layout {
    int32_t frame_count, node_count;
    int32_t state_size, control_size, theta_size;
    int32_t parameter_count;
} carom_layout;
CAROM_API carom_layout carom_rollout_layout(const carom_rollout* rollout);
CAROM_API carom_status carom_rollout_parameter(const carom_rollout* rollout, int32_t parameter,
                                               carom_parameter_info* info);
CAROM_API void carom_rollout_scene(const carom_rollout* rollout, double* theta); // [theta_size]
CAROM_API void carom_rollout_range(const carom_rollout* rollout, double* start, double* least,
                                   double* most); // as carom_problem_range

// Lent until the rollout is destroyed: its model at the present parameters, and its simulation to
// look at: bodies, contacts, energies of where it is.
CAROM_API const carom_model* carom_rollout_model(const carom_rollout* rollout);
CAROM_API const carom_sim* carom_rollout_sim(const carom_rollout* rollout);

// Which of the control_size controls come from outside; the rest, and at first all, are 0. Choosing
// one of a kinematic body or a pinned node, which may have no script, makes it driven: it moves as
// its controls say and else stays. Steps that were kept are dropped.
CAROM_API carom_status carom_rollout_choose(carom_rollout* rollout, int32_t count,
                                            const int32_t* index, carom_error* error);
// The parameters of the coming steps, theta [theta_size].
CAROM_API carom_status carom_rollout_write(carom_rollout* rollout, const double* theta,
                                           carom_error* error);
// Where the next step begins: at the start of the scene (state NULL) or in a state after `step`
// steps, which scripts and forces per step go by. Contacts are not remembered.
CAROM_API carom_status carom_rollout_place(carom_rollout* rollout, const double* state,
                                           int64_t step, carom_error* error);
CAROM_API void carom_rollout_state(const carom_rollout* rollout, double* state);

// Takes `count` steps from where it is, with controls [count * chosen]. states [count *
// state_size] (may be NULL) gets the state after each. slot [count] (may be NULL: not kept) tells
// where each step is kept, until it is dropped. *done steps were taken when it fails.
CAROM_API carom_status carom_rollout_run(carom_rollout* rollout, int32_t count,
                                         const double* controls, double* states, int32_t* slot,
                                         int32_t* done, carom_error* error);
CAROM_API void carom_rollout_drop(carom_rollout* rollout, int32_t count, const int32_t* slot);

// The reverse of kept steps that follow each other, or of a single one, as often as wanted. bar
// [state_size] comes in as dL/d(state after the last) and leaves as dL/d(state before the first).
// more [count * state_size] (may be NULL) is added to the bar of the state before each step.
// control_bar [count * chosen] (may be NULL) is set; theta_bar [theta_size] (may be NULL) is added
// to.
CAROM_API carom_status carom_rollout_back(carom_rollout* rollout, int32_t count,
                                          const int32_t* slot, const double* more, double* bar,
                                          double* control_bar, double* theta_bar,
                                          carom_error* error);
// The start of the scene follows from the parameters: adds to theta_bar what dL/d(state at the
// start) means for them.
CAROM_API carom_status carom_rollout_start_back(carom_rollout* rollout, const double* bar,
                                                double* theta_bar, carom_error* error);

// Forward through kept steps that follow each other, along `directions` directions at once: the
// equations of a step are factored once and solved once for each. dstate [directions * state_size]
// comes in as the change of the state before the first and leaves as that of the state after the
// last. dcontrols [directions * count * chosen] and dtheta [directions * theta_size] may be NULL:
// none. dstates [directions * count * state_size] (may be NULL) gets the change of the state after
// each step. <dstate, bar> is the same on the way back, to round-off. dstate is not to be used
// after a failure.
CAROM_API carom_status carom_rollout_jvp(carom_rollout* rollout, int32_t count, const int32_t* slot,
                                         int32_t directions, double* dstate,
                                         const double* dcontrols, const double* dtheta,
                                         double* dstates, carom_error* error);
// How the start of the scene changes with the parameters: adds that to dstate.
CAROM_API carom_status carom_rollout_start_jvp(carom_rollout* rollout, int32_t directions,
                                               const double* dtheta, double* dstate,
                                               carom_error* error);

// The Jacobian of the state after the last of such steps (of one: count = 1), by rows: by the state
// before the first [state_size * state_size], by the controls of all [state_size * count * chosen]
// and by theta [state_size * theta_size]; any may be NULL.
CAROM_API carom_status carom_rollout_jacobian(carom_rollout* rollout, int32_t count,
                                              const int32_t* slot, double* state, double* control,
                                              double* theta, carom_error* error);

// ---- many runs of one model

typedef struct carom_batch carom_batch; // one thread at a time; works on many

// `count` rollouts. Results do not depend on worker_count. Arrays of all items stand one item after
// another. A call does what it can for every item; the status is that of the first that failed, and
// its message names it.
CAROM_API carom_status carom_batch_create(const carom_model* model, int32_t count,
                                          int32_t worker_count, carom_batch** batch,
                                          carom_error* error);
CAROM_API void carom_batch_destroy(carom_batch* batch); // NULL is fine
CAROM_API int32_t carom_batch_count(const carom_batch* batch);
// Lent until the batch is destroyed; NULL for a number out of range.
CAROM_API carom_rollout* carom_batch_item(const carom_batch* batch, int32_t item);
CAROM_API carom_status carom_batch_choose(carom_batch* batch, int32_t count, const int32_t* index,
                                          carom_error* error);
// theta [theta_size] for all, or [count * theta_size] when `each` is nonzero.
CAROM_API carom_status carom_batch_write(carom_batch* batch, const double* theta, int32_t each,
                                         carom_error* error);
// state [count * state_size] or NULL; all after as many steps.
CAROM_API carom_status carom_batch_place(carom_batch* batch, const double* state, int64_t step,
                                         carom_error* error);
CAROM_API void carom_batch_state(const carom_batch* batch, double* state);
// steps steps of every item: controls [count * steps * chosen], states [count * steps *
// state_size], slot [count * steps] and done [count], as carom_rollout_run.
CAROM_API carom_status carom_batch_run(carom_batch* batch, int32_t steps, const double* controls,
                                       double* states, int32_t* slot, int32_t* done,
                                       carom_error* error);
CAROM_API void carom_batch_drop(carom_batch* batch, int32_t steps, const int32_t* slot);
// As carom_rollout_back, for every item: slot [count * steps], more [count * steps * state_size],
// bar [count * state_size], control_bar [count * steps * chosen], theta_bar [count * theta_size].
CAROM_API carom_status carom_batch_back(carom_batch* batch, int32_t steps, const int32_t* slot,
                                        const double* more, double* bar, double* control_bar,
                                        double* theta_bar, carom_error* error);
CAROM_API carom_status carom_batch_start_back(carom_batch* batch, const double* bar,
                                              double* theta_bar, carom_error* error);
// As carom_rollout_jvp, for every item: slot [count * steps], dstate [count * directions *
// state_size], dcontrols [count * directions * steps * chosen], dtheta [count * directions *
// theta_size], dstates [count * directions * steps * state_size].
CAROM_API carom_status carom_batch_jvp(carom_batch* batch, int32_t steps, const int32_t* slot,
                                       int32_t directions, double* dstate, const double* dcontrols,
                                       const double* dtheta, double* dstates, carom_error* error);
CAROM_API carom_status carom_batch_start_jvp(carom_batch* batch, int32_t directions,
                                             const double* dtheta, double* dstate,
                                             carom_error* error);
// As carom_rollout_jacobian, for every item: slot [count * steps], state [count * state_size *
// state_size], control [count * state_size * steps * chosen], theta [count * state_size *
// theta_size]; any of the three may be NULL.
CAROM_API carom_status carom_batch_jacobian(carom_batch* batch, int32_t steps, const int32_t* slot,
                                            double* state, double* control, double* theta,
                                            carom_error* error);

#ifdef __cplusplus
}
#endif
