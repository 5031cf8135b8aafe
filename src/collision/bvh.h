// bvh.h - trees of axis-aligned boxes: many of them in one set of arrays, refitted in place.
#pragma once

#include "collision/box.h"
#include "core/array.h"
#include "core/status.h"

// Most items of a leaf. Between 8 and 16 the measured times are alike; a box is then one leaf.
enum { CR_BVH_LEAF = 16 };

// The left child of inner node i is i + 1; children stand behind their parent.
typedef struct cr_bvh_node {
    cr_box box;
    int32_t first, count; // items below it
    int32_t right;        // right child, 0 in a leaf
    int32_t still;        // 1: nothing below it moves by itself; two such nodes never meet
} cr_bvh_node;

// One item before it has its place: where it is and what it is.
typedef struct cr_bvh_seed {
    double centre[3]; // [m]
    int32_t item;
    int32_t still;
} cr_bvh_seed;

// Zero-initialised is a forest without trees. Trees own consecutive ranges of nodes and items.
typedef struct cr_bvh {
    CR_ARRAY(cr_bvh_node) node;
    int32_t* item; // [item_count] what stands at each place
    cr_box* box;   // [item_count] its box; the caller fills it in before a refit
    int32_t item_count, item_capacity;
} cr_bvh;

// Room for item_capacity items.
carom_status cr_bvh_init(cr_bvh* bvh, int32_t item_capacity);
void cr_bvh_release(cr_bvh* bvh);

// Room for `more` items behind those that stand; never shrinks.
carom_status cr_bvh_reserve(cr_bvh* bvh, int32_t more);

// Forgets the trees and keeps the memory.
void cr_bvh_clear(cr_bvh* bvh);

// Appends a tree over seeds [count], count >= 1; reorders them into the order of its items. Boxes
// of items and nodes are not set yet. *root is its root.
carom_status cr_bvh_plant(cr_bvh* bvh, cr_bvh_seed* seeds, int32_t count, int32_t* root);

// Boxes of the nodes first..end-1 (one or more whole trees) from those of their items.
void cr_bvh_refit(cr_bvh* bvh, int32_t first, int32_t end);

// Walks two trees (or one against itself: node_a == node_b, bvh a == b) and hands on every pair of
// nodes that meet and are both leaves or together hold at most `limit` items, each pair once; of a
// walk against itself also every such node with itself.
typedef void cr_bvh_fn(int32_t node_a, int32_t node_b, void* user);
typedef struct cr_bvh_walk {
    const cr_bvh_node *a, *b; // nodes of the two forests
    int32_t limit;
    cr_bvh_fn* fn;
    void* user;
} cr_bvh_walk;
void cr_bvh_meet(const cr_bvh_walk* walk, int32_t node_a, int32_t node_b);
void cr_bvh_meet_itself(const cr_bvh_walk* walk, int32_t node);
