// held.h - the energy that contacts hold by their give, for tests and benches that watch energy.
#pragma once

#include "carom/sim.h"
#include <math.h>

// J, at most so much do the contacts of the last step hold, h its length in s: each gives way by
// eps lam and stores half of force times depth, which may come back when it lets go.
static inline double held_energy(const carom_sim* sim, double h)
{
    double force = 0.0;
    for (int32_t i = 0; i < carom_sim_contact_count(sim); i++) {
        carom_contact c;
        carom_sim_contact(sim, i, &c);
        force += fabs(c.impulse[0] * c.normal[0] + c.impulse[1] * c.normal[1] +
                      c.impulse[2] * c.normal[2]) /
                 h;
    }
    return 0.5 * force * fmax(0.0, -carom_sim_info(sim).least_gap);
}
