// newton_fade.h - what the fading of nearly parallel edges adds to the derivatives of a row.
//
// With the weight m(x) of parallel_edges.h the row's part of the equations is
//     -lam (a - mu f) + e q,   lam = m L,   q = sum_k J_k^T m'_k,
// L the barrier's force and e its energy, both times h^2. Everything else of it is in row.h.
#pragma once

#include "contact/newton_inside.h"
#include "contact/parallel_edges.h"

typedef struct cr_newton_fade {
    cr_parallel_edges edges;
    cr_vec3 theta[CR_ROW_POINTS];    // by block, the turn in space of the vector y
    cr_vec3 velocity[CR_ROW_POINTS]; // J_k y
    double pull;                     // q . y
} cr_newton_fade;

// y [unknowns of the row].
cr_newton_fade cr_newton_fade_make(const cr_row* row, const double y[CR_ROW_DOFS]);

// Adds the cotangents of  g L dm - e sum_k (m'_k . d(J_k y) + y^T J_k^T m''_kl dx_l)  with respect
// to what the row reads, D and the unknowns held.
void cr_newton_fade_adj(const cr_newton_row* row, const cr_newton_fade* fade, double g,
                        cr_row_bars* bars);

// Forward, the unknowns held: returns dm and adds e dq to out, for changes *d of what a row reads.
double cr_newton_fade_jvp(const cr_newton_row* row, const cr_row_bars* d, double out[CR_ROW_DOFS]);
