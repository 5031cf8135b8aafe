// candidate.h - two features that may touch in this step, with the numbers of their contact.
#pragma once

#include "collision/surface.h"
#include "math/vec3.h"

typedef struct cr_candidate {
    cr_pair pair;
    double start;       // m, their distance at the start of the step
    double thickness;   // m, the distance they keep
    double friction;    // Coulomb coefficient
    double restitution; // 0..1
    double compliance;  // 1/kg, eps: the gap gives way by eps * lam as long as that is little
    double room;        // m, what it gives way by at most, see give.h
    double blur;        // m, contacts of the same bodies nearer than this share a compliance
    double lever[2];    // m, at what distance from its closest point each side feels friction
    double width;       // m, the layer of barrier.h, at most the thickness
    double stiffness;   // N, k of barrier.h
} cr_candidate;

// A contact is known by the vertices that take part in it, ascending, -1 where there are fewer
// than four, and by which of them are on one side: four nodes of a fold can be two edges or a
// corner and a face. Two candidates with equal keys measure the same distance.
typedef struct cr_contact_key {
    int32_t v[4];
    int32_t side; // bit k: v[k] is on the side of v[0]
} cr_contact_key;

// A contact of the step before: where the next solve looks first.
typedef struct cr_contact_memory {
    cr_contact_key key;
    double force; // N
    cr_vec3 dual; // friction direction as the side of the key's first vertex feels it, at most 1
} cr_contact_memory;

int cr_candidate_compare_keys(const cr_contact_key* a, const cr_contact_key* b);
cr_contact_key cr_candidate_key(const cr_pair* pair, int32_t active);
