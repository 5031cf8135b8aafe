// backward.h - one step in reverse. The one place that knows the reverse order of a step.
#pragma once

#include "adjoint/gradient.h"
#include "sim/sim.h"

typedef struct cr_backward cr_backward; // scratch of one worker

carom_status cr_backward_create(const cr_model* model, cr_backward** out);
void cr_backward_destroy(cr_backward* backward);

// bars come in as those of the state after the recorded step and leave as those of the state before
// it; everything else is added to *gradient. The simulation lends its scratch: its state is left
// alone, its forces too.
carom_status cr_backward_step(cr_backward* backward, cr_sim* sim, const cr_record* record,
                              cr_state_bars* bars, cr_gradient* gradient);
