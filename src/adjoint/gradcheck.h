// gradcheck.h - a gradient held against differences of the function itself.
//
// Each number is moved both ways by three step sizes h, h/4, h/16; the three central differences
// are extrapolated (Ridders), and the entry of the table that agrees best with its neighbours is
// taken, without a look at the gradient. Runs in which other features touch than in the unmoved one
// do not count as long as there are some without; a number that has none, and whose differences do
// not agree with the gradient to a millionth, is at a kink; so is one whose differences disagree
// among themselves as they do across a jump.
#pragma once

#include "core/status.h"

// The function and its parameters. trace [trace_count] tells, after each call, what happened on the
// way (which features touched, step by step); NULL: nothing to tell.
typedef struct cr_gradcheck_function {
    void* user;
    carom_status (*value)(void* user, const double* theta, double* value, carom_error* error);
    int32_t size;
    const uint64_t* trace;
    int64_t trace_count;
} cr_gradcheck_function;

// A group of numbers that are measured by the largest of them.
typedef struct cr_gradcheck_group {
    int32_t first, count;
    double scale; // how far is far for them, above 0; a step is a small part of it
    // out
    int32_t checked;           // all, or a choice of at most cr_gradcheck_options.most
    int32_t kinks;             // of those: entries that no step leaves without a change of contacts
    int32_t failed;            // entries of which a moved run failed at every step size
    double largest;            // of all entries, gradient or difference
    double max_relative_error; // against largest
    double noise;              // share of that error that the differences themselves may have
    int32_t worst;             // entry, from 0 in theta
    double worst_exact, worst_difference;
} cr_gradcheck_group;

typedef struct cr_gradcheck_options {
    double step;  // h, relative to the scale
    int32_t most; // entries of one group, evenly spread over it
} cr_gradcheck_options;

cr_gradcheck_options cr_gradcheck_default(void);

typedef struct cr_gradcheck_report {
    double value;
    double max_relative_error; // of all groups, kinks left out
    double taylor_slope;       // of |f(theta + s d) - f - s g.d| against s along one direction: 2
                               // for a right gradient; NaN when there is nothing left to see
    int64_t switches;          // steps, over all moved runs, whose contacts differ
    int64_t evaluations;
    int32_t kinks, failed;
} cr_gradcheck_report;

// gradient [size] is that at theta, value the function there. Fails only when the function fails at
// theta itself, is interrupted, or for want of memory. A group of which no run came to its end has
// failed == checked and an error of 0.
carom_status cr_gradcheck_run(const cr_gradcheck_function* function, const double* theta,
                              const double* gradient, const cr_gradcheck_options* options,
                              cr_gradcheck_group* group, int32_t group_count,
                              cr_gradcheck_report* report, carom_error* error);
