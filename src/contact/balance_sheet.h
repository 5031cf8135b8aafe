// balance_sheet.h - what sheets gained in a step, for the balance of an island that has some.
//
//     gain = sum_n m (|v|^2 - |v0|^2)/2 - (m gravity + force).d   +   E(x0 + d) - E(x0)
//
// with v the velocity at the end, d/h unless it was braked, and E the elastic energy alone: damping
// and air only lose. E is a quartic, so along d its slope is a cubic and Simpson's rule is exact,
//     E(x0 + d) - E(x0) = d.(dE(x0) + 4 dE(x0 + d/2) + dE(x0 + d)) / 6,
// which loses no digits where d is small, and whose derivatives by moduli and rest shape are those
// of the gradient.
#pragma once

#include "bodies/cloth.h"
#include "contact/motion.h"

typedef struct cr_balance_sheets {
    const cr_body_set* bodies;
    const cr_motion* motion; // reads x0, d and xv; pinned nodes stay
    double h;                // s
    cr_vec3 gravity;         // m/s^2
    const cr_cloth* sheet;   // all sheets of the scene
    const cr_cloth_material* material;
    const int32_t* sheet_node; // first node of each
    const double* velocity;    // [3*node_count] m/s, at the start
    const cr_vec3* force;      // [node_count] N
    int32_t count;             // members
    const int32_t* member;
    double* scratch; // [cr_balance_sheet_scratch]
} cr_balance_sheets;

// How many numbers of scratch such sheets take.
int32_t cr_balance_sheet_scratch(const cr_cloth* sheet, const int32_t* member, int32_t count);

// J, less the round-off of the kinetic energy.
double cr_balance_sheet_gain(const cr_balance_sheets* task);
// J, sum m (h a)^2 / 2, a from gravity and force.
double cr_balance_sheet_fall(const cr_balance_sheets* task);

// Reverse, all added to: bar is dL/dgain.
typedef struct cr_balance_sheet_bars {
    cr_vec3 *x0, *d, *v0, *v;    // [node_count]; of pinned nodes too
    cr_vec3* force;              // [node_count]
    double* node_mass;           // [node_count]
    double* gravity;             // [3]
    cr_cloth_material* material; // [sheet_count]
    double** corner;             // [sheet_count] [6*face_count]
} cr_balance_sheet_bars;
void cr_balance_sheet_adj(const cr_balance_sheets* task, double bar,
                          const cr_balance_sheet_bars* bars);

// Forward: the change of the gain, with changes in the place of bars; material and corner may be
// NULL: none.
double cr_balance_sheet_jvp(const cr_balance_sheets* task, const cr_balance_sheet_bars* by);
