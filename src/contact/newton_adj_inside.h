// newton_adj_inside.h - what the reverse and the forward derivative of a step share.
#pragma once

#include "contact/newton_inside.h"

// The end of the step with its rows, and a factor of the exact Jacobian there.
carom_status cr_newton_adj_recall(cr_newton* newton, const cr_newton_task* task, int32_t flat);
