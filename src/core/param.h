// param.h - one row per number a user may set. Scene reader, command line, Python, reference page
// and gradient requests all walk such a table; adding a row is adding the parameter everywhere.
#pragma once

#include <stddef.h>

// A table ends with a row whose name is NULL.
typedef struct cr_param {
    const char *name, *unit, *about;
    double fallback, least, most; // value when not given, and the accepted range, ends included
    size_t offset;                // of the double inside the struct the table describes
    int differentiable;           // nonzero: backward also delivers the gradient with respect to it
} cr_param;
