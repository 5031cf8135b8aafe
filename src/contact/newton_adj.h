// newton_adj.h - the derivatives of what newton.h solves: from cotangents of where a step ended to
// those of where it started, of its targets and of every number in its contacts; and forward, along
// directions.
#pragma once

#include "contact/newton.h"
#include "contact/zone_adj.h"

typedef cr_zone_bars cr_newton_cotangents;
typedef cr_zone_bars cr_newton_tangents;

// Cotangents, or tangents, of one contact's own numbers.
typedef struct cr_newton_row_bars {
    double thickness, width, stiffness, friction;
    double lever[2];
} cr_newton_row_bars;

// Gets ready for a cr_newton_gradient. CAROM_ERR_FILE: it needs a LAPACK, and there is none.
carom_status cr_newton_adj_ready(cr_newton* newton, int32_t gradient);

// task as for cr_newton_solve, but: its candidates are the contacts of the solution, and motion
// holds the end; swept paths, margins and warm contacts are not read. rows [candidate_count] are
// set. Nothing is decided again. flat nonzero: the gaps' curvature is left out, for comparison.
// CAROM_ERR_NOT_POSITIVE: the equations have no unique derivative there.
carom_status cr_newton_adj(cr_newton* newton, const cr_newton_task* task, int32_t flat,
                           cr_newton_cotangents* bars, cr_newton_row_bars* rows);

// Forward, for `count` directions by one sparse factor: by[count], of which w, u and d are set and
// all else is read, rows [count * candidate_count]. material, corner and wind may be NULL, and then
// p, too, counts as constant.
carom_status cr_newton_jvp(cr_newton* newton, const cr_newton_task* task, int32_t flat,
                           int32_t count, const cr_newton_tangents* by,
                           const cr_newton_row_bars* rows);
