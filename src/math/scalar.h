// scalar.h - plain functions of one or two numbers. Those that a libm computes in its own way are
// made here from operations that every machine rounds alike, so the engine's bits are the same on
// all of them; within two units of the last place of the true value.
#pragma once

#include <math.h>
#include <stdint.h>

double cr_scalar_sin(double x);
double cr_scalar_cos(double x);
double cr_scalar_exp(double x);
double cr_scalar_expm1(double x); // exp x - 1
double cr_scalar_log(double x);
double cr_scalar_atan2(double y, double x);
double cr_scalar_power(double x, int32_t n); // n >= 0

static inline double cr_sin(double x)
{
    return cr_scalar_sin(x);
}

static inline double cr_cos(double x)
{
    return cr_scalar_cos(x);
}

static inline double cr_atan2(double y, double x)
{
    return cr_scalar_atan2(y, x);
}

static inline double cr_exp(double x)
{
    return cr_scalar_exp(x);
}

// The angle in [-pi/2, pi/2] whose sine is x; x beyond +-1 counts as +-1.
static inline double cr_asin(double x)
{
    const double s = x > 1.0 ? 1.0 : x < -1.0 ? -1.0 : x;
    return cr_scalar_atan2(s, sqrt((1.0 - s) * (1.0 + s)));
}

static inline double cr_expm1(double x)
{
    return cr_scalar_expm1(x);
}

static inline double cr_log(double x)
{
    return cr_scalar_log(x);
}

static inline double cr_min(double a, double b)
{
    return a < b ? a : b;
}

static inline double cr_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double cr_clamp(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}
