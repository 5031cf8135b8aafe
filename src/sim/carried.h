// carried.h - bodies that cloth carries are not hit on their way down.
//
// Impacts are looked for on the ways that bodies take by themselves (contact/events.h), and cloth
// is not there. What lies on a sheet falls in that look by h^2 a, may meet the floor beneath, and
// gets the velocity of that impact, although the zone then leaves it where it is. So where cloth
// had a good part in what became of a body, compared with its impacts, these are left to the zone
// and the part of the step is taken again. See docs/contact.md.
#pragma once

#include "sim/sim_inside.h"

// A part of a step begins: nobody is known to be carried.
void cr_carried_forget(cr_sim* sim, cr_worker* worker);

// After the impacts of an island with cloth: who was hit, and how much.
void cr_carried_hits(cr_sim* sim, const cr_worker* worker);

// After its zone: whether somebody was hit on a way that cloth did not let him go. His impacts are
// left to the zone from now on, and the part has to be taken again; that is so two times at most.
int cr_carried_found(cr_sim* sim, cr_worker* worker, double h);
