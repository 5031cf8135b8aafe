// give.h - by how much a contact gives way under its load.
//
//     depth(lam) = eps lam / (1 + eps lam / room)
//
// As soft as eps under a load of its own bodies' size, and harder the more it carries: what is
// light and lies under something heavy stands no deeper than `room`, whatever the heavy one weighs.
#pragma once

typedef struct cr_give {
    double depth; // m, below room
    double slope; // 1/kg, d depth / d lam; times lam/eps it is d depth / d eps
    double share; // 0..1, of its room that is taken; its square is d depth / d room
} cr_give;

// eps [1/kg] > 0, room [m] > 0, lam [kg m] >= 0.
static inline cr_give cr_give_make(double eps, double room, double lam)
{
    const double left = 1.0 / (1.0 + eps * lam / room);
    return (cr_give){eps * lam * left, eps * left * left, eps * lam / room * left};
}

// The lam [kg m] of that depth [m]; negative or without bound where no load leads there.
static inline double cr_give_load(double eps, double room, double depth)
{
    return depth / (eps * (1.0 - depth / room));
}
