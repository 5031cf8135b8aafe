// scalar.h - the functions of libm that the engine uses. The one place where platforms may differ.
#pragma once

#include <math.h>

static inline double cr_sin(double x)
{
    return sin(x);
}

static inline double cr_cos(double x)
{
    return cos(x);
}

static inline double cr_atan2(double y, double x)
{
    return atan2(y, x);
}

static inline double cr_exp(double x)
{
    return exp(x);
}

static inline double cr_expm1(double x)
{
    return expm1(x);
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
