// grad.h - gradients: a scene's objective by its parameters, and any loss of yours by a tape.
#pragma once

#include "carom/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- problems: the objective a scene states, as a function of the parameters it lists

typedef struct carom_problem carom_problem; // one thread at a time

typedef struct carom_problem_options {
    size_t struct_size;
    int64_t steps;           // of a run; 0: the scene's duration
    int32_t worker_count;    // 1; results do not depend on it
    size_t tape_memory;      // bytes the tape may hold; 0: no limit. Results do not depend on it
    int (*stop)(void* user); // asked at every step; nonzero stops (CAROM_ERR_INTERRUPTED); or NULL
    void* user;
} carom_problem_options;
CAROM_API carom_problem_options carom_problem_default(void);

// The model must outlive the problem. options may be NULL. CAROM_ERR_ARGUMENT and a message when
// the scene states no objective, or one that has no gradient. On failure *problem is NULL.
CAROM_API carom_status carom_problem_create(const carom_model* model,
                                            const carom_problem_options* options,
                                            carom_problem** problem, carom_error* error);
CAROM_API void carom_problem_destroy(carom_problem* problem); // NULL is fine

// One entry of the scene's list of parameters; all of them together are the vector theta.
typedef struct carom_parameter_info {
    const char* name;      // in scene files: "velocity", "mass", ...
    const char* body_name; // "" for the world; both lent until the model is destroyed
    int32_t body;          // -1: the world
    int32_t first, count;  // its numbers in theta
} carom_parameter_info;
CAROM_API int32_t carom_problem_parameter_count(const carom_problem* problem);
CAROM_API carom_status carom_problem_parameter(const carom_problem* problem, int32_t parameter,
                                               carom_parameter_info* info);
CAROM_API int32_t carom_problem_size(const carom_problem* problem); // of theta
CAROM_API int64_t carom_problem_steps(const carom_problem* problem);
// What the scene itself says: theta [size].
CAROM_API void carom_problem_scene(const carom_problem* problem, double* theta);
// Where an optimisation starts, and the bounds (infinite where there is none), [size] each.
CAROM_API void carom_problem_range(const carom_problem* problem, double* start, double* least,
                                   double* most);

// The objective at theta, and its gradient dtheta [size].
CAROM_API carom_status carom_problem_value(carom_problem* problem, const double* theta,
                                           double* value, carom_error* error);
CAROM_API carom_status carom_problem_gradient(carom_problem* problem, const double* theta,
                                              double* value, double* dtheta, carom_error* error);

// What the objective feels of a state on the way back, all that follows included: dL/dposition of
// every body (of cloth the sum over its nodes), dL/dforce in the step that begins there (0 for the
// last state), [3*body_count] each, and dL/dx of cloth's nodes, [3*vertex_count]. From the last
// state (step = carom_problem_steps) to the first (0). Lent for the call.
typedef void carom_problem_watcher(void* user, int64_t step, const double* position,
                                   const double* force, const double* vertex);
// Who is told by carom_problem_gradient from now on; NULL: nobody.
CAROM_API carom_status carom_problem_watch(carom_problem* problem, carom_problem_watcher* watcher,
                                           void* user);

// What the last of these took.
typedef struct carom_problem_info {
    double forward_s, backward_s;
    size_t tape_bytes;        // the most the tape held
    size_t tape_record_bytes; // the records of all steps would take
    int64_t replayed;         // steps taken again on the way back, for want of memory
    int64_t weakly_active;    // contacts that touch without force: kinks of the gradient
    int64_t impacts;          // events inside steps
    int32_t max_contacts;
} carom_problem_info;
CAROM_API carom_problem_info carom_problem_about(const carom_problem* problem);

// Writes theta into a scene, the one the model was made from: its parameters are then what theta
// says. *notes (may be NULL) lists what a scene file cannot hold, one per line; to be given back by
// carom_scene_text_free.
CAROM_API carom_status carom_problem_apply(const carom_problem* problem, const double* theta,
                                           carom_scene* scene, char** notes, carom_error* error);

// ---- checks

typedef struct carom_check_options {
    size_t struct_size;
    double step;  // of the largest differences, relative to the size of each number
    int32_t most; // numbers of one parameter that are checked, spread over it
} carom_check_options;
CAROM_API carom_check_options carom_check_default(void);

// How one parameter's gradient stood against differences; errors are relative to the largest entry.
typedef struct carom_check_row {
    int32_t checked, kinks, failed; // numbers: all looked at; at a kink; without a run
    double max_relative_error;      // kinks left out
    double noise;                   // what the differences themselves are good to
    int32_t worst;                  // in theta
    double worst_exact, worst_difference;
} carom_check_row;

typedef struct carom_check_report {
    double value;
    double max_relative_error;
    double taylor_slope; // 2 for a right gradient; NaN when the function is linear or at a kink
    int64_t contact_switches; // steps of moved runs in which other features touched
    int64_t weakly_active;
    int64_t evaluations;
    int32_t kinks, failed;
} carom_check_report;

// The gradient at theta against central differences of three step sizes: row [parameter_count],
// dtheta [size] gets the gradient. options may be NULL.
CAROM_API carom_status carom_problem_check(carom_problem* problem, const double* theta,
                                           const carom_check_options* options, double* dtheta,
                                           carom_check_row* row, carom_check_report* report,
                                           carom_error* error);

// ---- optimisation

typedef enum carom_optimize_method {
    CAROM_OPTIMIZE_LBFGS, // with line search and bounds
    CAROM_OPTIMIZE_GD,    // gradient descent with momentum
    CAROM_OPTIMIZE_ADAM,
} carom_optimize_method;

typedef enum carom_optimize_end {
    CAROM_OPTIMIZE_CONVERGED, // the gradient has become small
    CAROM_OPTIMIZE_STALLED,   // no way down was found any more
    CAROM_OPTIMIZE_LIMIT,     // as many iterations as asked for
    CAROM_OPTIMIZE_STOPPED,   // by hand
} carom_optimize_end;

typedef struct carom_optimize_report {
    int32_t iterations;
    int64_t evaluations;
    double value_start, value_end;
    double gradient_start, gradient_end; // norm, in scales of the numbers, bounds left out
    carom_optimize_end end;
} carom_optimize_report;

typedef struct carom_optimize_options {
    size_t struct_size;
    carom_optimize_method method;
    int32_t iterations;
    double rate;      // of gradient descent and Adam; 0: the usual one
    double momentum;  // of gradient descent
    double tolerance; // of the gradient's norm against that at the start
    // After each iteration; theta is the best so far. Nonzero stops. Or NULL.
    int (*progress)(void* user, const carom_optimize_report* report, const double* theta);
    void* user;
} carom_optimize_options;
CAROM_API carom_optimize_options carom_optimize_default(void);

// theta [size]: where to start, and on return the best there was, also when it was stopped.
// options may be NULL. Fails only when the run fails at the start.
CAROM_API carom_status carom_problem_optimize(carom_problem* problem,
                                              const carom_optimize_options* options, double* theta,
                                              carom_optimize_report* report, carom_error* error);

// ---- tapes: a loss of your own over a run of your own

typedef struct carom_tape carom_tape; // one thread at a time; several may live at once

// The model must outlive the tape. memory: bytes it may hold, 0: no limit; beyond, states are kept
// and steps taken again. Gradients have the same bits for any memory and number of workers.
CAROM_API carom_status carom_tape_create(const carom_model* model, int32_t worker_count,
                                         size_t memory, carom_tape** tape, carom_error* error);
CAROM_API void carom_tape_destroy(carom_tape* tape); // NULL is fine
CAROM_API void carom_tape_reset(carom_tape* tape);   // forgets the run, keeps the memory

// One step, as carom_sim_step, written down: the same bits. CAROM_ERR_MISUSE for a simulation of
// another model, one that moved since the last step of the tape, or after carom_tape_backward.
CAROM_API carom_status carom_tape_step(carom_tape* tape, carom_sim* sim, carom_error* error);
CAROM_API int64_t carom_tape_steps(const carom_tape* tape);
CAROM_API size_t carom_tape_bytes(const carom_tape* tape); // the most it held

// What a loss feels of a state. World axes; a rotation's three numbers are along R -> exp([d]) R.
// The angular velocity of a body that moves by script is not felt.
typedef struct carom_bars {
    double *position, *rotation, *velocity, *angular_velocity; // [3*body_count], cloth aside
    double *vertex_position, *vertex_velocity;                 // [3*vertex_count], of cloth
} carom_bars;

typedef struct carom_tape_listener {
    void* user;
    // Adds dL/d(state after `step` steps), from the last (step = carom_tape_steps) to the first
    // (0).
    void (*state)(void* user, int64_t step, const carom_bars* bars);
    // Then, for each step, what the loss feels of the forces and torques of that step:
    // [3*body_count] each. step is 0 for the first. Or NULL.
    void (*control)(void* user, int64_t step, const double* force, const double* torque);
} carom_tape_listener;

// The gradient with respect to one body's numbers. Forces and torques are those that act in every
// step.
typedef struct carom_body_gradient {
    double position[3], rotation[3], velocity[3], angular_velocity[3]; // at the start, world axes
    double mass, inertia[3]; // principal moments; mass alone, inertia held
    double friction, restitution, thickness;
    double force[3], torque[3];
} carom_body_gradient;

typedef struct carom_gradient {
    double gravity[3], wind[3];
    carom_body_gradient* body; // [body_count] the caller's
    double* vertex;            // [3*vertex_count] the caller's, or NULL: of body coordinates (mass
                               // and inertia held), of cloth: of where its nodes start
} carom_gradient;

// Through the run backward, once; *gradient is set. CAROM_ERR_MISUSE for an empty tape or a second
// time without carom_tape_rewind.
CAROM_API carom_status carom_tape_backward(carom_tape* tape, const carom_tape_listener* listener,
                                           carom_gradient* gradient, carom_error* error);
CAROM_API void carom_tape_rewind(carom_tape* tape); // the same run, once more

#ifdef __cplusplus
}
#endif
