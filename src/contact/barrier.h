// barrier.h - the contact law: a potential in a layer of finite width under the bodies' surface.
//
// Two features at the distance D touch where D is the thickness of their pair. The layer is the
// last `width` of it, s = 1 + (D - thickness)/width, 1 at the surface and 0 at its bottom:
//
//     B(D) = k width (1 - s)^3 / s^2   for 0 < s < 1,  0 beyond,      force = -dB/dD = k F(s)
//     F(s) = (3 + 2 q) q^2,  q = (1 - s)/s
//
// A load of f k leaves about (2/f)^(1/3) of the layer, and an impact of the energy W about the root
// of k width / W: with a logarithm instead of 1/s^2 these would be 1/f and exp(-W / (k width)),
// which for a body that holds a million times its weight, or comes at some metres per second, is
// less than round-off.
//
// B has two continuous derivatives, and no load brings anything to the bottom of the layer. Nothing
// in it depends on the length of a step: what is at rest stays at rest under any other.
#pragma once

#include "math/scalar.h"

// F(1/2). A contact's k is m a / F(1/2): the acceleration a, a number of the material,
// presses the mass m halfway down the layer.
#define CR_BARRIER_HALFWAY 5.0

typedef struct cr_barrier {
    double energy; // J, B
    double force;  // N, -dB/dD
    double slope;  // N/m, -d force/dD >= 0
} cr_barrier;

// k [N] > 0, width [m] > 0; s > 0.
static inline cr_barrier cr_barrier_at(double k, double width, double s)
{
    if (!(s < 1.0)) {
        return (cr_barrier){0, 0, 0};
    }
    const double r = 1.0 - s, q = r / s;
    return (cr_barrier){k * width * r * q * q, k * q * q * (3.0 + 2.0 * q),
                        k / width * 6.0 * q * (1.0 + q) / (s * s)};
}
