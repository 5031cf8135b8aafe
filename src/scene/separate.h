// separate.h - moves bodies that start in each other apart, when a scene asks for it.
#pragma once

#include "sim/start.h"

// Shifts bodies of the model, none turned, until cr_start_check accepts the start: two at a time,
// along the direction in which they are soonest free, each by the other's share of both masses.
// What is fixed, scripted, pinned or locked in a direction does not go that way. moved
// [3*body_count] m gets how far each went. CAROM_ERR_INTERSECTING when it cannot be done in a
// bounded number of moves (a sheet folded into itself, two fixed bodies, no room): *report is then
// that of the last look; it is that of the start accepted otherwise. floor and report as in
// start.h.
carom_status cr_separate_start(cr_model* model, const double* floor, cr_start_report* report,
                               double* moved);
