// newton_adj_inside.h - what the reverse and the forward derivative of a step share.
#pragma once

#include "contact/newton_inside.h"

// The end of the step with its rows.
carom_status cr_newton_adj_recall(cr_newton* newton, const cr_newton_task* task, int32_t flat);
// A factor of the exact Jacobian there; sweeps: or what takes its place in solves with its
// transpose.
carom_status cr_newton_adj_factor(cr_newton* newton, int sweeps);

// newton_dense.c: the transposed solve by LAPACK, as task->gradient asks for. Needs the rows;
// factors the system of unknowns and multipliers. CAROM_ERR_FILE: there is no LAPACK.
carom_status cr_newton_dense_open(cr_newton* newton);
carom_status cr_newton_dense_factor(cr_newton* newton);
carom_status cr_newton_dense_solve(cr_newton* newton, double* y);
// out = J^T y, J the exact Jacobian.
void cr_newton_dense_apply(const cr_newton* newton, const double* y, double* out);
