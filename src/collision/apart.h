// apart.h - whether two carried bodies stay apart through a step, and what of them is near.
//
// Boxes of neighbours overlap long before the neighbours meet. Two bodies that a direction keeps
// apart need not be looked into; where they are near, most of either is far from the other.
#pragma once

#include "collision/bvh.h"
#include "collision/carry.h"

// One body in one call; all of it is lent.
typedef struct cr_apart_body {
    int32_t root; // of its vertices in `tree`
    const cr_carry* carry;
    const cr_bvh* tree; // in its frame, items by number in the body
    const double* p;    // [3*count] m, its vertices in its frame
    double extent;      // m, the farthest of them from the origin
    double margin;      // m
} cr_apart_body;

// Of two bodies at the start: points x of the first with n.x < low are near none of the second, and
// of the second those with n.x > high near none of the first.
typedef struct cr_apart_plane {
    cr_vec3 n;
    double low, high; // m
} cr_apart_plane;

// The plane that says nothing.
cr_apart_plane cr_apart_anywhere(void);

// Whether no two features of a and b, D m apart at the start and along n, have
//     D < carry.reach + margin of both + how far their points come towards each other along n,
// where each point may stop at any place of its way. 0 where that is not so or not known; *plane is
// then set, and `near` in it means just that.
int cr_apart_stay(const cr_apart_body* a, const cr_apart_body* b, cr_apart_plane* plane);
