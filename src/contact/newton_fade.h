// newton_fade.h - what the fading of nearly parallel edges adds to the derivatives of a row.
//
// The terms s of two edges (newton_hits.c) count m(x) q_s times, which with rows of constant weight
// is only their forces. What the change of m does beside that is kept with the row of the edges:
//     e Q,   Q = sum_k J_k^T m'_k,   e = sum_s q_s e_s,
// and the derivative by m of the terms' own forces, -dm (sum_s q_s L_s a_s - mu S f). L is the
// barrier's force and e its energy, both times h^2.
#pragma once

#include "contact/newton_inside.h"
#include "contact/parallel_edges.h"

typedef struct cr_newton_fade {
    cr_parallel_edges edges;
    cr_vec3 theta[CR_ROW_POINTS];    // by block, the turn in space of the vector y
    cr_vec3 velocity[CR_ROW_POINTS]; // J_k y
    double pull;                     // Q . y
} cr_newton_fade;

// A term that is near, with the unknowns of all four points.
typedef struct cr_newton_fade_term {
    cr_row at;
    double q;
    double load;   // kg m, L
    double energy; // kg m^2, e
    double gap;    // m
} cr_newton_fade_term;

enum { CR_NEWTON_FADE_TERMS = 9 };

// How many.
int32_t cr_newton_fade_terms(const cr_newton* newton, const cr_newton_row* row,
                             cr_newton_fade_term out[CR_NEWTON_FADE_TERMS]);

// kg m, S: by how much the load of friction (newton_rub.h) goes with m.
double cr_newton_fade_rub(const cr_newton_row* row, const cr_newton_fade_term* term, int32_t count);

// y [unknowns of the row].
cr_newton_fade cr_newton_fade_make(const cr_row* row, const double y[CR_ROW_DOFS]);

// Adds the cotangents of  load dm - e sum_k (m'_k . d(J_k y) + y^T J_k^T m''_kl dx_l)  with respect
// to what the row reads, distances and the unknowns held.
void cr_newton_fade_adj(const cr_newton_row* row, const cr_newton_fade* fade, double load,
                        cr_row_bars* bars);

// Forward, the unknowns held: returns dm and adds e dQ to out, for changes *d of what a row reads.
double cr_newton_fade_jvp(const cr_newton_row* row, const cr_row_bars* d, double out[CR_ROW_DOFS]);
