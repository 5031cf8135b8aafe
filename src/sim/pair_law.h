// pair_law.h - the numbers of the contacts of two bodies, from the bodies' own.
//
//   thickness   where contact begins: the thickness of both, unless a pairing gives another, and
//               the widths of both layers; the distance at the start where that is less
//   width       of the layer: both widths
//   stiffness   k of barrier.h: the mean mass of those that move (of a sheet: of one node) times
//               the mean of both accelerations, which press it halfway down the layer
//   friction    the geometric mean
//   lever       how far from its closest point each side feels friction: its share of the
//               thickness; a sheet has no turning that could feel it and leaves all to the other
#pragma once

#include "contact/candidate.h"
#include "sim/model.h"

typedef struct cr_pair_numbers {
    double thickness, width; // m
    double stiffness;        // N
    double friction;
    double lever[2]; // m
} cr_pair_numbers;

// Those that a candidate was given.
static inline cr_pair_numbers cr_pair_numbers_of(const cr_candidate* c)
{
    return (cr_pair_numbers){
        c->thickness, c->width, c->stiffness, c->friction, {c->lever[0], c->lever[1]}};
}

// Cotangents or tangents of the bodies' own numbers.
typedef struct cr_pair_sources {
    double *radius, *width, *stiffness, *friction; // [body_count]
    double* mass;                                  // [frame_count]
    double* node_mass;                             // [node_count]
} cr_pair_sources;

// sheet_mass [sheet_count] kg. One of the two moves.
cr_pair_numbers cr_pair_law(const cr_model* model, const double* sheet_mass, int32_t a, int32_t b);

// Adds to `out` what the bodies feel of cotangents of the numbers, which are `at`.
void cr_pair_law_adj(const cr_model* model, int32_t a, int32_t b, const cr_pair_numbers* at,
                     const cr_pair_numbers* bar, const cr_pair_sources* out);

// The change of the numbers for a change of the bodies' own.
cr_pair_numbers cr_pair_law_jvp(const cr_model* model, int32_t a, int32_t b,
                                const cr_pair_numbers* at, const cr_pair_sources* by);
