// optimize.h - makes a function small: L-BFGS with line search, gradient descent with momentum, or
// Adam, all within simple bounds.
#pragma once

#include "core/status.h"

typedef enum cr_optimize_method {
    CR_OPTIMIZE_LBFGS,
    CR_OPTIMIZE_GD,
    CR_OPTIMIZE_ADAM,
} cr_optimize_method;

// The function. A value that cannot be had (a step that failed) stops no optimiser: it goes back.
typedef struct cr_optimize_function {
    void* user;
    carom_status (*gradient)(void* user, const double* theta, double* value, double* dtheta,
                             carom_error* error);
    int32_t size;
    const double* scale;        // [size] how far is far, above 0
    const double *least, *most; // [size] bounds; +-HUGE_VAL: none
} cr_optimize_function;

typedef enum cr_optimize_end {
    CR_OPTIMIZE_CONVERGED, // the gradient, within the bounds, has become small
    CR_OPTIMIZE_STALLED,   // no way down could be found any more, or only by round-off
    CR_OPTIMIZE_LIMIT,     // as many iterations as asked for
    CR_OPTIMIZE_STOPPED,   // by hand
} cr_optimize_end;

typedef struct cr_optimize_report {
    int32_t iterations;
    int64_t evaluations;
    double value_start, value_end;
    double gradient_start, gradient_end; // norm within the bounds, per scale
    cr_optimize_end end;
} cr_optimize_report;

// After each iteration: theta is the best so far. Nonzero: stop.
typedef int cr_optimize_progress(void* user, const cr_optimize_report* report, const double* theta);

typedef struct cr_optimize_options {
    cr_optimize_method method;
    int32_t iterations;
    double rate;      // of a step, in scales; 0: found out (gradient descent), 0.02 (Adam)
    double momentum;  // of gradient descent, 0..1
    double tolerance; // of the gradient's norm against that at the start
    cr_optimize_progress* progress; // may be NULL
    void* user;
} cr_optimize_options;

cr_optimize_options cr_optimize_default(void);

// theta [size]: where to start, and on return the best there was, whatever ended it. Fails only
// when the function fails at the start, or for want of memory.
carom_status cr_optimize_run(const cr_optimize_function* function,
                             const cr_optimize_options* options, double* theta,
                             cr_optimize_report* report, carom_error* error);
