// problem.h - a scene's objective as a function of its parameters: theta in, value and gradient
// out. What gradient checks and optimisers work on.
#pragma once

#include "adjoint/gradcheck.h"
#include "adjoint/objective.h"
#include "adjoint/parameters.h"

// Asked between steps; nonzero: stop (CAROM_ERR_INTERRUPTED).
typedef int cr_problem_stop(void* user);

// Told on the way back what the objective feels of every state and of the forces of every step:
// of the last state first, then of each step and the state before it. What comes is all that
// follows from there. Functions may be NULL.
typedef struct cr_problem_watch {
    void* user;
    void (*state)(void* user, int64_t step, const cr_state_bars* bars);
    void (*control)(void* user, int64_t step, const cr_gradient* gradient);
} cr_problem_watch;

typedef struct cr_problem {
    const cr_model* scene; // borrowed, as is goal
    const cr_goal* goal;
    int64_t steps;
    cr_parameters* parameters;
    cr_objective objective;
    cr_sim* sim;
    cr_tape* tape;
    cr_gradient gradient;
    cr_state before;
    cr_problem_stop* stop; // may be NULL
    void* stop_user;
    cr_problem_watch watch;
    // of the last run
    double forward_s, backward_s;
    int64_t weakly_active, impacts;
    int32_t max_contacts;
    uint64_t* contacts; // [steps] which features touched in each step, and how often
    double* scratch;    // [size of theta]
} cr_problem;

// Runs of `steps` steps. tape_budget as for cr_tape_create. Where the model or goal cannot serve:
// CAROM_ERR_ARGUMENT and a message. Owns what it makes; model and goal must outlive it.
carom_status cr_problem_init(cr_problem* problem, const cr_model* model, const cr_goal* goal,
                             int64_t steps, int32_t worker_count, size_t tape_budget,
                             carom_error* error);
void cr_problem_release(cr_problem* problem);

// The objective at theta. The step that fails says so in *error.
carom_status cr_problem_value(cr_problem* problem, const double* theta, double* value,
                              carom_error* error);
// The same run, bit by bit, with its gradient: dtheta [size] is set.
carom_status cr_problem_gradient(cr_problem* problem, const double* theta, double* value,
                                 double* dtheta, carom_error* error);

// How far is far for each number at theta: their own size where they have one, else a unit.
// scale [size].
void cr_problem_scales(const cr_problem* problem, const double* theta, double* scale);

// The gradient at theta against differences, one group for each entry of the scene's parameters:
// group [cr_parameters_count]. dtheta [size] gets the gradient. The noise floor of a scene with
// friction is that of its zones; world.friction_speed 1e-2 suits such checks.
carom_status cr_problem_check(cr_problem* problem, const double* theta,
                              const cr_gradcheck_options* options, double* dtheta,
                              cr_gradcheck_group* group, cr_gradcheck_report* report,
                              carom_error* error);
