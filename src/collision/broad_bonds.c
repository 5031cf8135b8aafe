#include "collision/broad_inside.h"
#include <string.h>

// What the features of two bodies may do to each other, in the order of its fields.
typedef struct bond {
    int32_t kind;          // cr_pair_kind
    int32_t first, second; // bodies
} bond;

// The kinds of bodies a <= b; returns how many bonds. The sides of kinds alike (EE, PP) stand in
// the order of the bodies.
static int bond_bodies(const cr_broad* broad, int32_t a, int32_t b, bond out[3])
{
    const int swap = broad->shape[a] < broad->shape[b];
    const int32_t high = swap ? b : a, low = swap ? a : b;
    const cr_feature high_shape = broad->shape[high], low_shape = broad->shape[low];
    int n = 0;
    if (high_shape == CR_FACE) {
        out[n++] = (bond){CR_PAIR_PT, high, low};
        if (low_shape == CR_FACE && a != b) {
            out[n++] = (bond){CR_PAIR_PT, low, high};
        }
    }
    if (low_shape != CR_VERTEX) {
        out[n++] = (bond){CR_PAIR_EE, a, b};
        if (low_shape == CR_EDGE && a != b) {
            out[n++] = (bond){CR_PAIR_PE, low, high};
            if (high_shape == CR_EDGE) {
                out[n++] = (bond){CR_PAIR_PE, high, low};
            }
        }
    } else if (high_shape == CR_EDGE) {
        out[n++] = (bond){CR_PAIR_PE, high, low};
    } else if (high_shape == CR_VERTEX) {
        out[n++] = (bond){CR_PAIR_PP, a, b};
    }
    return n;
}

// Writes down the bonds of bodies a <= b and the trees they want. False: no memory.
static int add_bonds(cr_broad* broad, int32_t a, int32_t b)
{
    if (!cr_broad_bodies_may_touch(broad, a, b)) {
        return 1;
    }
    bond bonds[3];
    const int n = bond_bodies(broad, a, b, bonds);
    int ok = 1;
    for (int k = 0; k < n && ok; k++) {
        const bond* at = &bonds[k];
        broad->wanted[at->first] |= (uint8_t)(1 << cr_broad_first(at->kind));
        broad->wanted[at->second] |= (uint8_t)(1 << cr_broad_second(at->kind));
        ok = cr_array_push(&broad->bonds, (uint64_t)at->kind << 62 | (uint64_t)at->first << 31 |
                                              (uint64_t)at->second);
    }
    return ok;
}

static bond unpack_bond(uint64_t key)
{
    return (bond){(int32_t)(key >> 62), (int32_t)(key >> 31 & INT32_MAX),
                  (int32_t)(key & INT32_MAX)};
}

// Bonds of all bodies that meet, sorted, from the pairs in key.
carom_status cr_broad_bonds_find(cr_broad* broad)
{
    const int32_t body_count = broad->surface->body_count;
    memset(broad->wanted, 0, (size_t)body_count);
    broad->bonds.count = 0;
    int ok = 1;
    for (int32_t b = 0; b < body_count && ok; b++) {
        ok = add_bonds(broad, b, b);
    }
    for (int32_t i = 0; i < broad->key.count && ok; i++) {
        const uint64_t key = broad->key.items[i];
        ok = add_bonds(broad, (int32_t)(key >> 32), (int32_t)(key & INT32_MAX));
    }
    if (!ok || !cr_array_reserve(&broad->spare_bonds, broad->bonds.count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_keys_sort(broad->bonds.items, broad->spare_bonds.items, broad->bonds.count);
    return CAROM_OK;
}

// One bond on its way to tasks.
typedef struct splitting {
    cr_broad* broad;
    cr_broad_task like; // all but its nodes
    int ok;
} splitting;

static void add_task(int32_t node_a, int32_t node_b, void* user)
{
    splitting* s = user;
    s->like.a = node_a;
    s->like.b = node_b;
    s->ok = s->ok && cr_array_push(&s->broad->tasks, s->like);
}

// The tasks of one bond. False: no memory.
static int split_bond(cr_broad* broad, const bond* at)
{
    const cr_broad_trees *first = &broad->of[cr_broad_first(at->kind)],
                         *second = &broad->of[cr_broad_second(at->kind)];
    const int32_t a = first->root[at->first], b = second->root[at->second];
    if (a < 0 || b < 0) {
        return 1; // a mesh may have no edge that touches first
    }
    const int within = at->first == at->second;
    splitting s = {.broad = broad, .like = {.kind = at->kind, .within = within}, .ok = 1};
    const cr_bvh_walk walk = {first->bvh.node.items, second->bvh.node.items, CR_BROAD_TASK_ITEMS,
                              add_task, &s};
    if (within && first == second) {
        cr_bvh_meet_itself(&walk, a);
    } else {
        cr_bvh_meet(&walk, a, b);
    }
    return s.ok;
}

// Tasks and groups of all bonds.
carom_status cr_broad_bonds_split(cr_broad* broad)
{
    int ok = 1;
    uint64_t last = UINT64_MAX; // kind and first body
    broad->tasks.count = 0;
    broad->groups.count = 0;
    for (int32_t i = 0; i < broad->bonds.count && ok; i++) {
        const uint64_t key = broad->bonds.items[i];
        const bond at = unpack_bond(key);
        if (key >> 31 != last) {
            last = key >> 31;
            ok = cr_array_push(&broad->groups, ((cr_broad_group){.task = broad->tasks.count}));
        }
        ok = ok && split_bond(broad, &at);
    }
    ok = ok && cr_array_push(&broad->groups, ((cr_broad_group){.task = broad->tasks.count}));
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}
