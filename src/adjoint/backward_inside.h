// backward_inside.h - what the ways through a recorded step share, there and back; for backward.c
// and forward.c alone.
#pragma once

#include "adjoint/gradient.h"
#include "sim/pair_law.h"
#include "sim/sim_inside.h"

// Puts the members where the part found them, and aims them again as it did.
carom_status cr_backward_recall(cr_worker* worker, cr_sim* sim, const cr_record* record,
                                const cr_record_part* part);
// The rows of a part's energy balance into worker->balance. 0: it has none; negative: no memory.
int cr_backward_balance(cr_worker* worker, const cr_sim* sim, const cr_record* record,
                        const cr_record_part* part);
// The arrays of a gradient that contacts' numbers come from.
cr_pair_sources cr_backward_sources(const cr_gradient* g);
// How the blur of two bodies' contacts in near.c goes with the layer of each; both alike share it.
void cr_backward_blur(const cr_model* model, int32_t a, int32_t b, double by[2]);
// kg, as near.c weighs a body for the compliance of its contacts: 0 for what does not move freely.
double cr_backward_weight(const cr_model* model, int32_t body);
