// slope.h - the tests' ruler: the slope of a function of many numbers along one of them.
#pragma once

typedef double slope_fn(void* user);

// Five-point difference along *at, put back before returning. Exact but for round-off on
// polynomials up to the fourth degree, however long the step.
static inline double slope(slope_fn* f, void* user, double* at, double step)
{
    const double keep = *at;
    double value[4];
    const double way[4] = {-2.0, -1.0, 1.0, 2.0};
    for (int i = 0; i < 4; i++) {
        *at = keep + way[i] * step;
        value[i] = f(user);
    }
    *at = keep;
    return (8.0 * (value[2] - value[1]) - (value[3] - value[0])) / (12.0 * step);
}
