// newton_rub.h - the load that the friction of a row goes with.
//
// Contacts count with signs (newton_hits.c). Friction that counts with a negative sign would push
// on what slips, so it goes with the positive ones only, each with what it has over those that are
// taken off it:
//     L = max(0, r sum_t q_t L_t)
// over sub-features t of the row's own pair, its own with q = 1. Of two edges the others are the
// ends, with the q of newton_hits.c: the load begins at 0 where the crossing leaves an end: there
// the sum is 0, or less where one edge's end is nearer to the other edge than its ends are. Of a
// vertex in a valley they are the edges that its faces share, each taken off either by half. So
// loads are not negative, and their sum is that of the signed forces.
#pragma once

#include "contact/newton_adj.h"
#include "contact/newton_inside.h"

enum { CR_NEWTON_RUB_TERMS = 9 };

typedef struct cr_newton_rub_term {
    int32_t points;
    double factor;  // r q_t
    double gap;     // m
    cr_barrier law; // h^2 times the barrier's
} cr_newton_rub_term;

// The terms that are near, the row's own first; how many. at: the row's closest points.
int32_t cr_newton_rub_terms(const cr_newton* newton, const cr_newton_row* row,
                            cr_newton_rub_term out[CR_NEWTON_RUB_TERMS]);
// kg m, L.
double cr_newton_rub_load(const cr_newton* newton, const cr_newton_row* row);
// out [unknowns of the row] = dL/dz, the factors held.
void cr_newton_rub_slope(const cr_newton* newton, const cr_newton_row* row,
                         double out[CR_ROW_DOFS]);
// Adds the cotangents of  factor L  to those of what the row and its layer read.
void cr_newton_rub_adj(const cr_newton* newton, const cr_newton_row* row, double factor,
                       const double y[CR_ROW_DOFS], cr_row_bars* local, cr_newton_row_bars* out);
// dL, the unknowns and factors held, for changes *d of what the row reads and *of its numbers.
double cr_newton_rub_jvp(const cr_newton* newton, const cr_newton_row* row, const cr_row_bars* d,
                         const cr_newton_row_bars* of);
