// apart.h - carried bodies that stay apart through a step: bounds that are kept from call to call.
//
// Boxes of neighbours overlap long before the neighbours meet. Two bodies that a direction keeps
// apart need not be looked into, and as long as they have not gone far the direction of a while ago
// still tells.
#pragma once

#include "collision/bvh.h"
#include "collision/carry.h"

// One body in one call; all of it is lent.
typedef struct cr_apart_body {
    int32_t number;
    int32_t root; // of its vertices in `tree`
    const cr_carry* carry;
    const cr_bvh* tree; // in its frame, items by number in the body
    const double* p;    // [3*count] m, its vertices in its frame
    double extent;      // m, the farthest of them from the origin
    double margin;      // m
} cr_apart_body;

typedef struct cr_apart_place cr_apart_place;
typedef struct cr_apart_slot cr_apart_slot;

// What is known of the bodies of one scene. It decides what is looked at, and nothing about what is
// found.
typedef struct cr_apart {
    cr_apart_place* place; // [body_count]
    cr_apart_slot* slot;   // [body_count][some]
} cr_apart;

// Refuses with CAROM_ERR_MEMORY; there is nothing to release then.
carom_status cr_apart_init(cr_apart* apart, int32_t body_count);
void cr_apart_release(cr_apart* apart);

// Of two bodies at the start: points x of the first with n.x < low are near none of the second, and
// of the second those with n.x > high near none of the first.
typedef struct cr_apart_plane {
    cr_vec3 n;
    double low, high; // m
} cr_apart_plane;

// The plane that says nothing.
cr_apart_plane cr_apart_anywhere(void);

// Whether no two features of a and b, a.number < b.number, D m apart at the start and along n, have
//     D < carry.reach + margin of both + how far their points come towards each other along n,
// where each point may stop at any place of its way. 0 where it is not known; *plane is then set,
// and what it calls near is that.
int cr_apart_stay(cr_apart* apart, const cr_apart_body* a, const cr_apart_body* b,
                  cr_apart_plane* plane);
