// simplex.h - what of a few points, and of all that is between them, is closest to 0: the step of
// Gilbert, Johnson and Keerthi.
#pragma once

#include "math/vec3.h"
#include <stdint.h>

// Zero-initialised it has no point; distance is then to be HUGE_VAL.
typedef struct cr_simplex {
    cr_vec3 w[3]; // m, those that the closest place is made of
    int32_t count;
    double distance; // m
    cr_vec3 n;       // from 0 to it; zero where that is 0
} cr_simplex;

// Takes in one more point, and leaves those out that are not needed. Of four of them the closest
// place is on a side that has the new one, or 0 is between them: what is said of a closest place is
// then too far.
cr_simplex cr_simplex_take(const cr_simplex* s, cr_vec3 w);
