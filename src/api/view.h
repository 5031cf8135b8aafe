// view.h - numbers of a model and a state as the public interface shows them. Used by simulations
// and by trajectories; not exported.
#pragma once

#include "carom/sim.h"
#include "sim/state.h"

// Both: CAROM_ERR_ARGUMENT for a body that is not there. The model needs bodies, surface, name,
// own_t and own_q only.
carom_status carom_view_body(const cr_model* model, int32_t body, carom_body_info* info);
carom_status carom_view_state(const cr_model* model, const cr_state* state, int32_t body,
                              carom_body_state* out);
