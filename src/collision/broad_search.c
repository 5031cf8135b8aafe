#include "collision/broad_inside.h"
#include "core/parallel.h"

// One walk through two forests, and where its keys go.
typedef struct search {
    const cr_bvh *a, *b;
    const int32_t *corner_a, *corner_b; // of a body with itself
    const int32_t* at;                  // edge of each rank
    const cr_broad_rim* rims;           // of faces from place first_rim on
    int32_t first_rim;
    uint64_t base; // the kind, at its place in the key
    int32_t shift, kind;
    cr_keys* keys;
    cr_keys_cursor* cursor;
} search;

_Static_assert((CR_BVH_LEAF) * (CR_BVH_LEAF) <= CR_KEYS_ROOM, "two leaves fill one room of keys");

// The items of a leaf that meet the box of the other leaf: only these are held against each other.
static int32_t sift(const cr_bvh* bvh, const cr_bvh_node* leaf, const cr_box* box,
                    int32_t near[CR_BVH_LEAF])
{
    int32_t n = 0;
    for (int32_t i = leaf->first; i < leaf->first + leaf->count; i++) {
        near[n] = i;
        n += cr_box_meet(&bvh->box[i], box);
    }
    return n;
}

// The two triangles of a floor have the same box, and nearly everything on it stands over one of
// them. All that is in a box of half sides h around c is beyond a side when c is by H = h_x + h_y +
// h_z; asked for 3 H, which leaves 2 H. In H there is the way of each vertex, half of it, and three
// times what it may miss that by: no vertex of the box comes near the face on any way, however it
// is measured.
static int is_beyond(const cr_broad_rim* side, const cr_box* box)
{
    const cr_vec3 c = {0.5 * (box->lo[0] + box->hi[0]), 0.5 * (box->lo[1] + box->hi[1]),
                       0.5 * (box->lo[2] + box->hi[2])};
    const double size =
        0.5 * (box->hi[0] - box->lo[0] + box->hi[1] - box->lo[1] + box->hi[2] - box->lo[2]);
    int beyond = 0;
    for (int k = 0; k < 3; k++) {
        beyond |= cr_vec3_dot(side->n[k], c) > side->d[k] + 3.0 * size;
    }
    return beyond;
}

static void search_leaves(int32_t node_a, int32_t node_b, void* user)
{
    search* s = user;
    const cr_bvh_node *a = &s->a->node.items[node_a], *b = &s->b->node.items[node_b];
    int32_t near_a[CR_BVH_LEAF], near_b[CR_BVH_LEAF];
    const int32_t n_a = sift(s->a, a, &b->box, near_a);
    if (n_a == 0) {
        return;
    }
    const int32_t n_b = sift(s->b, b, &a->box, near_b);
    uint64_t* out = cr_keys_room(s->keys, s->cursor);
    for (int32_t i = 0; i < n_a; i++) {
        if (s->kind == CR_PAIR_PT && near_a[i] >= s->first_rim &&
            is_beyond(&s->rims[near_a[i] - s->first_rim], &b->box)) {
            continue;
        }
        const cr_box box = s->a->box[near_a[i]];
        const uint64_t first = s->base | (uint64_t)s->a->item[near_a[i]] << s->shift;
        for (int32_t j = 0; j < n_b; j++) {
            *out = first | (uint64_t)s->b->item[near_b[j]];
            out += cr_box_meet(&box, &s->b->box[near_b[j]]);
        }
    }
    s->cursor->at = out;
}

// The key of two features of one body, and whether they share no vertex. The feature that comes
// first in the surface is the first of the pair.
static int key_within(const search* s, int32_t i, int32_t j, uint64_t* key)
{
    uint64_t first = (uint64_t)s->a->item[i], second = (uint64_t)s->b->item[j];
    int apart = 1;
    if (s->kind == CR_PAIR_PT) {
        const int32_t* c = &s->corner_a[3 * (size_t)i];
        const int32_t v = s->b->item[j];
        apart = (c[0] != v) & (c[1] != v) & (c[2] != v);
    } else {
        int swap = first > second;
        if (s->kind == CR_PAIR_EE) {
            const int32_t *c = &s->corner_a[2 * (size_t)i], *d = &s->corner_b[2 * (size_t)j];
            apart = (c[0] != d[0]) & (c[0] != d[1]) & (c[1] != d[0]) & (c[1] != d[1]);
            swap = s->at[first] > s->at[second];
        }
        const uint64_t exchange = (first ^ second) & -(uint64_t)swap;
        first ^= exchange;
        second ^= exchange;
    }
    *key = s->base | first << s->shift | second;
    return apart;
}

static void search_leaves_within(int32_t node_a, int32_t node_b, void* user)
{
    search* s = user;
    const cr_bvh_node *a = &s->a->node.items[node_a], *b = &s->b->node.items[node_b];
    const int alone = a == b;
    int32_t near_a[CR_BVH_LEAF], near_b[CR_BVH_LEAF];
    const int32_t n_a = sift(s->a, a, &b->box, near_a);
    const int32_t n_b = sift(s->b, b, &a->box, near_b);
    uint64_t* out = cr_keys_room(s->keys, s->cursor);
    for (int32_t i = 0; i < n_a; i++) {
        const cr_box box = s->a->box[near_a[i]];
        for (int32_t j = alone ? i + 1 : 0; j < n_b; j++) {
            const int apart = key_within(s, near_a[i], near_b[j], out);
            out += apart & cr_box_meet(&box, &s->b->box[near_b[j]]);
        }
    }
    s->cursor->at = out;
}

carom_status cr_broad_search_bodies(cr_broad* broad)
{
    carom_status status = CAROM_OK;
    cr_keys_run run = {0};
    int32_t count = 0;
    int again = 1;
    for (int round = 0; round < 2 && again && status == CAROM_OK; round++) {
        status = cr_keys_open(&broad->found, 1);
        if (status == CAROM_OK) {
            cr_keys_cursor* cursor = broad->found.cursor.items;
            run = cr_keys_begin(&broad->found, cursor);
            const cr_bvh* bvh = &broad->bodies;
            search s = {.a = bvh,
                        .b = bvh,
                        .shift = 32,
                        .kind = CR_PAIR_PP,
                        .keys = &broad->found,
                        .cursor = cursor};
            const cr_bvh_walk walk = {bvh->node.items, bvh->node.items, 0, search_leaves_within,
                                      &s};
            cr_bvh_meet_itself(&walk, 0);
            cr_keys_end(cursor, &run);
            status = cr_keys_close(&broad->found, &count, &again);
        }
    }
    if (status != CAROM_OK || !cr_array_reserve(&broad->key, count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_keys_copy(&broad->found, &run, broad->key.items);
    broad->key.count = count;
    return CAROM_OK;
}

static void search_job(int32_t job, int32_t worker, void* user)
{
    cr_broad* broad = user;
    cr_keys_cursor* cursor = &broad->found.cursor.items[worker];
    for (int32_t i = broad->jobs.items[job]; i < broad->jobs.items[job + 1]; i++) {
        if (broad->most > 0 && cursor->count > broad->most) {
            return; // one worker alone has found too many
        }
        cr_broad_task* t = &broad->tasks.items[i];
        const cr_broad_trees *first = &broad->of[cr_broad_first(t->kind)],
                             *second = &broad->of[cr_broad_second(t->kind)];
        search s = {.a = &first->bvh,
                    .b = &second->bvh,
                    .corner_a = first->corner,
                    .corner_b = second->corner,
                    .at = first->at,
                    .rims = first->rims.items,
                    .first_rim = first->loose_items,
                    .base = (uint64_t)t->kind << 62,
                    .shift = 31,
                    .kind = t->kind,
                    .keys = &broad->found,
                    .cursor = cursor};
        const cr_bvh_walk walk = {first->bvh.node.items, second->bvh.node.items, 0,
                                  t->within ? search_leaves_within : search_leaves, &s};
        t->run = cr_keys_begin(&broad->found, cursor);
        if (t->within && first == second && t->a == t->b) {
            cr_bvh_meet_itself(&walk, t->a);
        } else {
            cr_bvh_meet(&walk, t->a, t->b);
        }
        cr_keys_end(cursor, &t->run);
    }
}

carom_status cr_broad_search_features(cr_broad* broad, int32_t worker_count, int32_t* count)
{
    int64_t weight = 0;
    broad->jobs.count = 0;
    int ok = cr_array_push(&broad->jobs, 0);
    for (int32_t i = 0; i < broad->tasks.count && ok; i++) {
        const cr_broad_task* t = &broad->tasks.items[i];
        weight += broad->of[cr_broad_first(t->kind)].bvh.node.items[t->a].count +
                  broad->of[cr_broad_second(t->kind)].bvh.node.items[t->b].count;
        ok = cr_broad_end_job(broad, &weight, CR_BROAD_TASK_ITEMS, i + 1);
    }
    if (!ok || !cr_array_push(&broad->jobs, broad->tasks.count)) {
        return CAROM_ERR_MEMORY;
    }
    carom_status status = CAROM_OK;
    int again = 1;
    for (int round = 0; round < 2 && again && status == CAROM_OK; round++) {
        status = cr_keys_open(&broad->found, worker_count);
        if (status == CAROM_OK) {
            cr_parallel_for(broad->jobs.count - 1, worker_count, search_job, broad);
            status = cr_keys_close(&broad->found, count, &again);
        }
        if (status == CAROM_OK && broad->most > 0 && *count > broad->most) {
            status = CAROM_ERR_NO_CONVERGENCE;
        }
    }
    return status;
}
