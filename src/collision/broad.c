#include "collision/broad.h"
#include "collision/bvh.h"
#include "collision/keys.h"
#include "core/assert.h"
#include "core/parallel.h"
#include <string.h>

// Three forests hold one tree per body each: over its vertices, its edges, its faces. The tree over
// the bodies is grown anew in every call, for a body may go anywhere; the trees within a body keep
// their shape, for its features stay neighbours, and are refitted only where bodies meet.
//
// A pair is found as one 64-bit key (kind, first, second), where a face or an edge is named by its
// rank in the order of its vertices. So the order of the keys is the order of the pairs, and who
// found which of them first does not matter.

typedef enum feature { VERTEX, EDGE, FACE, FEATURES } feature;

enum {
    FEATURE_LEAF = 8,    // items of a leaf
    BODY_LEAF = 4,       // bodies of a leaf
    TASK_ITEMS = 2048,   // features of a task: a large pair of bodies becomes several tasks
    JOB_VERTICES = 2048, // vertices worth the handing out of a job
    JOB_PAIRS = 1 << 14, // pairs likewise
};

static const int feature_corners[FEATURES] = {1, 2, 3};

// Two nodes whose features are to be told apart one by one.
typedef struct task {
    int32_t a, b;          // nodes of the forests of `first` and `second`
    uint8_t kind;          // cr_pair_kind
    uint8_t first, second; // feature
    uint8_t within;        // both are of one soft body
} task;

typedef struct feature_trees {
    cr_bvh bvh;
    int32_t* root;   // [body_count+1] first node of each body's tree
    int32_t* corner; // [corners*count] places in the vertex forest, by place; none for VERTEX
    int32_t* at;     // [count] feature of each rank; none for VERTEX, whose rank is its index
} feature_trees;

struct cr_broad {
    const cr_surface* surface;
    feature_trees of[FEATURES];
    uint8_t* shape;   // [body_count] feature of the highest dimension it has
    uint8_t* wanted;  // [body_count] bit f: its tree of feature f takes part in this call
    uint8_t* fitted;  // [body_count] bit f: that tree fits the boxes of the vertices
    uint8_t* trouble; // [body_count] bits of TROUBLE_*
    cr_box* body_box; // [body_count]
    int32_t second_bits, key_bits;

    cr_bvh bodies;
    cr_bvh_seed* seed; // [body_count] of the tree over the bodies, in the order of the last call
    int32_t seed_count;

    cr_keys body_pairs, pairs;
    CR_ARRAY(task) tasks;
    CR_ARRAY(int32_t) jobs; // first body or task of each job, and the end
    CR_ARRAY(int32_t) busy; // bodies that take part

    const double *x0, *x1, *reach; // of the call under way
    cr_pair* out;
};

enum { TROUBLE_NOT_FINITE = 1, TROUBLE_NEGATIVE = 2 };

// --- creation ---------------------------------------------------------------------------------

static int32_t lexical(const int32_t* a, const int32_t* b, int corners)
{
    for (int k = 0; k < corners; k++) {
        if (a[k] != b[k]) {
            return a[k] < b[k] ? -1 : 1;
        }
    }
    return 0;
}

// Sorts features order[0..n-1] by their vertices, merging ever longer runs; equal ones keep their
// order.
static void sort_by_vertices(int32_t* order, int32_t* scratch, int32_t n, const int32_t* vertex,
                             int corners)
{
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t low = 0; low < n; low += 2 * run) {
            const int64_t middle = low + run < n ? low + run : n;
            const int64_t high = low + 2 * run < n ? low + 2 * run : n;
            int64_t i = low, j = middle;
            for (int64_t k = low; k < high; k++) {
                const int left =
                    i < middle &&
                    (j >= high || lexical(&vertex[(size_t)corners * order[i]],
                                          &vertex[(size_t)corners * order[j]], corners) <= 0);
                scratch[k] = left ? order[i++] : order[j++];
            }
        }
        for (int32_t k = 0; k < n; k++) {
            order[k] = scratch[k];
        }
    }
}

static const int32_t* feature_vertices(const cr_surface* s, feature f)
{
    return f == EDGE ? s->edge : s->face;
}

static const int32_t* feature_range(const cr_surface* s, feature f)
{
    return f == VERTEX ? s->body_vertex : f == EDGE ? s->body_edge : s->body_face;
}

static int32_t feature_count(const cr_surface* s, feature f)
{
    return f == VERTEX ? s->vertex_count : f == EDGE ? s->edge_count : s->face_count;
}

// Grows the trees of one feature, a body after the other, over the middles of their vertices.
// `place` [vertex_count] holds the place of each vertex in its forest, and is written for VERTEX.
static carom_status plant(cr_broad* broad, feature f, const double* x, cr_bvh_seed* seeds,
                          int32_t* place)
{
    const cr_surface* s = broad->surface;
    feature_trees* trees = &broad->of[f];
    const int corners = feature_corners[f];
    const int32_t* range = feature_range(s, f);
    for (int32_t body = 0; body < s->body_count; body++) {
        const int32_t count = range[body + 1] - range[body];
        trees->root[body] = trees->bvh.node.count;
        for (int32_t i = 0; i < count; i++) {
            const int32_t rank = range[body] + i;
            cr_box box = cr_box_empty();
            for (int c = 0; c < corners; c++) {
                const int32_t v =
                    f == VERTEX ? rank : feature_vertices(s, f)[corners * trees->at[rank] + c];
                const cr_box point = {{x[3 * v], x[3 * v + 1], x[3 * v + 2]},
                                      {x[3 * v], x[3 * v + 1], x[3 * v + 2]}};
                box = cr_box_union(&box, &point);
            }
            seeds[i] = (cr_bvh_seed){.item = rank};
            for (int k = 0; k < 3; k++) {
                seeds[i].centre[k] = 0.5 * box.lo[k] + 0.5 * box.hi[k];
            }
        }
        int32_t root;
        if (count > 0 && cr_bvh_plant(&trees->bvh, seeds, count, &root) != CAROM_OK) {
            return CAROM_ERR_MEMORY;
        }
    }
    trees->root[s->body_count] = trees->bvh.node.count;
    for (int32_t i = 0; i < trees->bvh.item_count; i++) {
        const int32_t rank = trees->bvh.item[i];
        if (f == VERTEX) {
            place[rank] = i;
        }
        for (int c = 0; f != VERTEX && c < corners; c++) {
            trees->corner[corners * i + c] =
                place[feature_vertices(s, f)[corners * trees->at[rank] + c]];
        }
    }
    return CAROM_OK;
}

// Memory and ranks of one forest. scratch [feature_count].
static carom_status init_forest(cr_broad* broad, feature f, int32_t* scratch)
{
    const cr_surface* s = broad->surface;
    feature_trees* trees = &broad->of[f];
    const int32_t count = feature_count(s, f);
    if (cr_bvh_init(&trees->bvh, count, FEATURE_LEAF) != CAROM_OK) {
        return CAROM_ERR_MEMORY;
    }
    trees->root = cr_memory_take((size_t)s->body_count + 1, sizeof *trees->root);
    if (!trees->root) {
        return CAROM_ERR_MEMORY;
    }
    if (f == VERTEX) {
        return CAROM_OK;
    }
    trees->at = cr_memory_take((size_t)count, sizeof *trees->at);
    trees->corner = cr_memory_take((size_t)count * 3, sizeof *trees->corner);
    if (!trees->at || !trees->corner) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < count; i++) {
        trees->at[i] = i;
    }
    const int32_t* range = feature_range(s, f);
    for (int32_t body = 0; body < s->body_count; body++) {
        // bodies own ascending vertices, so ranks ascend from body to body by themselves
        sort_by_vertices(trees->at + range[body], scratch, range[body + 1] - range[body],
                         feature_vertices(s, f), feature_corners[f]);
    }
    return CAROM_OK;
}

// Bits that hold every number below n.
static int32_t bits_below(int32_t n)
{
    int32_t bits = 0;
    while (bits < 31 && ((int64_t)1 << bits) < n) {
        bits++;
    }
    return bits;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

// What create needs and gives back at its end.
typedef struct building {
    cr_bvh_seed* seeds;
    int32_t *place, *scratch;
} building;

static carom_status build(cr_broad* broad, const double* x, building* with)
{
    const cr_surface* s = broad->surface;
    const int32_t most = larger(s->vertex_count, larger(s->edge_count, s->face_count));
    const size_t bodies = (size_t)s->body_count;
    broad->second_bits = bits_below(larger(s->vertex_count, s->edge_count));
    broad->key_bits = broad->second_bits + bits_below(most) + 2;
    with->seeds = cr_memory_take((size_t)most, sizeof *with->seeds);
    with->place = cr_memory_take((size_t)s->vertex_count, sizeof *with->place);
    with->scratch = cr_memory_take((size_t)most, sizeof *with->scratch);
    broad->shape = cr_memory_take(bodies, 1);
    broad->wanted = cr_memory_take(bodies, 1);
    broad->fitted = cr_memory_take(bodies, 1);
    broad->trouble = cr_memory_take(bodies, 1);
    broad->body_box = cr_memory_take(bodies, sizeof *broad->body_box);
    broad->seed = cr_memory_take(bodies, sizeof *broad->seed);
    if (!with->seeds || !with->place || !with->scratch || !broad->shape || !broad->wanted ||
        !broad->fitted || !broad->trouble || !broad->body_box || !broad->seed ||
        cr_bvh_init(&broad->bodies, s->body_count, BODY_LEAF) != CAROM_OK ||
        !cr_array_reserve(&broad->bodies.node, 2 * s->body_count)) {
        return CAROM_ERR_MEMORY;
    }
    for (feature f = VERTEX; f < FEATURES; f++) {
        carom_status status = init_forest(broad, f, with->scratch);
        if (status == CAROM_OK) {
            status = plant(broad, f, x, with->seeds, with->place);
        }
        if (status != CAROM_OK) {
            return status;
        }
    }
    for (int32_t b = 0; b < s->body_count; b++) {
        const int has_faces = s->body_face[b + 1] > s->body_face[b];
        const int has_edges = s->body_edge[b + 1] > s->body_edge[b];
        broad->shape[b] = has_faces ? FACE : has_edges ? EDGE : VERTEX;
        if (s->body_vertex[b + 1] > s->body_vertex[b]) { // a body of nothing meets nothing
            broad->seed[broad->seed_count++] =
                (cr_bvh_seed){.item = b, .still = (s->body_flags[b] & CR_SURFACE_FIXED) != 0};
        }
    }
    return CAROM_OK;
}

carom_status cr_broad_create(const cr_surface* surface, const double* x, cr_broad** out)
{
    *out = NULL;
    for (int64_t i = 0; i < 3 * (int64_t)surface->vertex_count; i++) {
        if (!isfinite(x[i])) {
            return CAROM_ERR_NOT_FINITE;
        }
    }
    cr_broad* broad = cr_memory_take(1, sizeof *broad);
    if (!broad) {
        return CAROM_ERR_MEMORY;
    }
    broad->surface = surface;
    building with = {0};
    const carom_status status = build(broad, x, &with);
    cr_memory_free(with.seeds);
    cr_memory_free(with.place);
    cr_memory_free(with.scratch);
    if (status != CAROM_OK) {
        cr_broad_destroy(broad);
        return status;
    }
    *out = broad;
    return CAROM_OK;
}

void cr_broad_destroy(cr_broad* broad)
{
    if (!broad) {
        return;
    }
    for (feature f = VERTEX; f < FEATURES; f++) {
        cr_bvh_release(&broad->of[f].bvh);
        cr_memory_free(broad->of[f].root);
        cr_memory_free(broad->of[f].corner);
        cr_memory_free(broad->of[f].at);
    }
    cr_memory_free(broad->shape);
    cr_memory_free(broad->wanted);
    cr_memory_free(broad->fitted);
    cr_memory_free(broad->trouble);
    cr_memory_free(broad->body_box);
    cr_bvh_release(&broad->bodies);
    cr_memory_free(broad->seed);
    cr_keys_release(&broad->body_pairs);
    cr_keys_release(&broad->pairs);
    cr_array_release(&broad->tasks);
    cr_array_release(&broad->jobs);
    cr_array_release(&broad->busy);
    cr_memory_free(broad);
}

// --- boxes ------------------------------------------------------------------------------------

static cr_box swept_box(const cr_broad* broad, int32_t v)
{
    const double *p = broad->x0 + 3 * (size_t)v, *q = broad->x1 + 3 * (size_t)v;
    const double r = broad->reach[v];
    return (cr_box){{cr_min(p[0], q[0]) - r, cr_min(p[1], q[1]) - r, cr_min(p[2], q[2]) - r},
                    {cr_max(p[0], q[0]) + r, cr_max(p[1], q[1]) + r, cr_max(p[2], q[2]) + r}};
}

// Groups n things of weight w(i) into jobs. True while there is memory.
static int end_job(cr_broad* broad, int64_t* weight, int64_t full, int32_t next)
{
    if (*weight < full) {
        return 1;
    }
    *weight = 0;
    return cr_array_push(&broad->jobs, next);
}

static void fit_body(cr_broad* broad, int32_t body)
{
    const cr_surface* s = broad->surface;
    cr_box box = cr_box_empty();
    double zero = 0, least = 0; // zero turns NaN with the first number that is not finite
    for (int32_t v = s->body_vertex[body]; v < s->body_vertex[body + 1]; v++) {
        const double *p = broad->x0 + 3 * (size_t)v, *q = broad->x1 + 3 * (size_t)v;
        const double r = broad->reach[v];
        zero +=
            p[0] * 0.0 + p[1] * 0.0 + p[2] * 0.0 + q[0] * 0.0 + q[1] * 0.0 + q[2] * 0.0 + r * 0.0;
        least = cr_min(least, r);
        const cr_box here = swept_box(broad, v);
        box = cr_box_union(&box, &here);
    }
    broad->body_box[body] = box;
    broad->trouble[body] =
        (uint8_t)((zero == 0 ? 0 : TROUBLE_NOT_FINITE) | (least < 0 ? TROUBLE_NEGATIVE : 0));
}

static void fit_bodies_job(int32_t job, int32_t worker, void* user)
{
    cr_broad* broad = user;
    (void)worker;
    for (int32_t b = broad->jobs.items[job]; b < broad->jobs.items[job + 1]; b++) {
        fit_body(broad, b);
    }
}

static carom_status fit_bodies(cr_broad* broad, int32_t worker_count)
{
    const cr_surface* s = broad->surface;
    int64_t weight = 0;
    broad->jobs.count = 0;
    int ok = cr_array_push(&broad->jobs, 0);
    for (int32_t b = 0; b < s->body_count && ok; b++) {
        weight += s->body_vertex[b + 1] - s->body_vertex[b];
        ok = end_job(broad, &weight, JOB_VERTICES, b + 1);
    }
    if (!ok || !cr_array_push(&broad->jobs, s->body_count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_parallel_for(broad->jobs.count - 1, worker_count, fit_bodies_job, broad);
    int trouble = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        trouble |= broad->trouble[b];
    }
    return trouble & TROUBLE_NOT_FINITE ? CAROM_ERR_NOT_FINITE
           : trouble                    ? CAROM_ERR_ARGUMENT
                                        : CAROM_OK;
}

// Boxes of the vertices of a body. True when they are what they were: a body at rest.
static int fit_vertices(cr_broad* broad, int32_t body)
{
    const cr_surface* s = broad->surface;
    cr_bvh* bvh = &broad->of[VERTEX].bvh;
    int same = 1;
    for (int32_t i = s->body_vertex[body]; i < s->body_vertex[body + 1]; i++) {
        const cr_box box = swept_box(broad, bvh->item[i]);
        cr_box* old = &bvh->box[i];
        same &= (box.lo[0] == old->lo[0]) & (box.lo[1] == old->lo[1]) & (box.lo[2] == old->lo[2]) &
                (box.hi[0] == old->hi[0]) & (box.hi[1] == old->hi[1]) & (box.hi[2] == old->hi[2]);
        *old = box;
    }
    return same;
}

static void fit_features(cr_broad* broad, int32_t body, feature f)
{
    const int32_t* range = feature_range(broad->surface, f);
    const cr_box* vertex = broad->of[VERTEX].bvh.box;
    feature_trees* trees = &broad->of[f];
    for (int32_t i = range[body]; f == EDGE && i < range[body + 1]; i++) {
        const int32_t* c = &trees->corner[2 * (size_t)i];
        trees->bvh.box[i] = cr_box_union(&vertex[c[0]], &vertex[c[1]]);
    }
    for (int32_t i = range[body]; f == FACE && i < range[body + 1]; i++) {
        const int32_t* c = &trees->corner[3 * (size_t)i];
        const cr_box side = cr_box_union(&vertex[c[0]], &vertex[c[1]]);
        trees->bvh.box[i] = cr_box_union(&side, &vertex[c[2]]);
    }
    cr_bvh_refit(&trees->bvh, trees->root[body], trees->root[body + 1]);
}

static void fit_busy_job(int32_t job, int32_t worker, void* user)
{
    cr_broad* broad = user;
    (void)worker;
    for (int32_t i = broad->jobs.items[job]; i < broad->jobs.items[job + 1]; i++) {
        const int32_t body = broad->busy.items[i];
        uint8_t fitted = fit_vertices(broad, body) ? broad->fitted[body] : 0;
        for (feature f = VERTEX; f < FEATURES; f++) {
            if (broad->wanted[body] & ~fitted & 1 << f) {
                fit_features(broad, body, f);
            }
        }
        broad->fitted[body] = fitted | broad->wanted[body];
    }
}

// Refits the trees that are wanted, of bodies that are not as they were.
static carom_status fit_busy(cr_broad* broad, int32_t worker_count)
{
    const cr_surface* s = broad->surface;
    int64_t weight = 0;
    broad->jobs.count = 0;
    broad->busy.count = 0;
    int ok = cr_array_push(&broad->jobs, 0);
    for (int32_t b = 0; b < s->body_count && ok; b++) {
        if (broad->wanted[b]) {
            weight += s->body_vertex[b + 1] - s->body_vertex[b];
            ok = cr_array_push(&broad->busy, b) &&
                 end_job(broad, &weight, JOB_VERTICES, broad->busy.count);
        }
    }
    if (!ok || !cr_array_push(&broad->jobs, broad->busy.count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_parallel_for(broad->jobs.count - 1, worker_count, fit_busy_job, broad);
    return CAROM_OK;
}

// --- pairs ------------------------------------------------------------------------------------

// One walk through two forests, and where its keys go.
typedef struct search {
    const cr_bvh *a, *b;
    const int32_t *corner_a, *corner_b; // of a body with itself
    const int32_t* at;                  // edge of each rank
    uint64_t base;                      // the kind, at its place in the key
    int32_t shift, kind;
    cr_keys* keys;
    cr_keys_cursor* cursor;
} search;

// The items of a leaf that meet the box of the other leaf. Without them the pairs would be many.
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
        const cr_box box = s->a->box[near_a[i]];
        const uint64_t first = s->base | (uint64_t)s->a->item[near_a[i]] << s->shift;
        for (int32_t j = 0; j < n_b; j++) {
            *out = first | (uint64_t)s->b->item[near_b[j]];
            out += cr_box_meet(&box, &s->b->box[near_b[j]]);
        }
    }
    s->cursor->at = out;
}

// The key of two features of one body, if they share no vertex; its first feature comes first in
// the surface.
static int key_within(const search* s, int32_t i, int32_t j, uint64_t* key)
{
    int32_t first = s->a->item[i], second = s->b->item[j];
    int apart = 1;
    if (s->kind == CR_PAIR_PT) {
        const int32_t* c = &s->corner_a[3 * (size_t)i];
        apart = (c[0] != j) & (c[1] != j) & (c[2] != j);
    } else {
        if (s->kind == CR_PAIR_EE) {
            const int32_t *c = &s->corner_a[2 * (size_t)i], *d = &s->corner_b[2 * (size_t)j];
            apart = (c[0] != d[0]) & (c[0] != d[1]) & (c[1] != d[0]) & (c[1] != d[1]);
        }
        const int swap = s->at ? s->at[first] > s->at[second] : first > second;
        first = swap ? s->b->item[j] : first;
        second = swap ? s->a->item[i] : second;
    }
    *key = s->base | (uint64_t)first << s->shift | (uint64_t)second;
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
            if (cr_box_meet(&box, &s->b->box[near_b[j]])) {
                out += key_within(s, near_a[i], near_b[j], out);
            }
        }
    }
    s->cursor->at = out;
}

// Pairs of bodies that meet, into body_pairs: a << 32 | b with a < b.
static carom_status search_bodies(cr_broad* broad)
{
    cr_bvh* bvh = &broad->bodies;
    int32_t root = 0;
    for (int32_t i = 0; i < broad->seed_count; i++) {
        cr_bvh_seed* seed = &broad->seed[i];
        const cr_box* box = &broad->body_box[seed->item];
        for (int k = 0; k < 3; k++) {
            seed->centre[k] = 0.5 * box->lo[k] + 0.5 * box->hi[k];
        }
    }
    cr_bvh_clear(bvh);
    if (broad->seed_count > 0 &&
        cr_bvh_plant(bvh, broad->seed, broad->seed_count, &root) != CAROM_OK) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < bvh->item_count; i++) {
        bvh->box[i] = broad->body_box[bvh->item[i]];
    }
    cr_bvh_refit(bvh, 0, bvh->node.count);
    int again = 1;
    for (int round = 0; round < 2 && again; round++) {
        if (cr_keys_open(&broad->body_pairs, 1) != CAROM_OK) {
            return CAROM_ERR_MEMORY;
        }
        search s = {.a = bvh,
                    .b = bvh,
                    .shift = 32,
                    .kind = CR_PAIR_PP,
                    .keys = &broad->body_pairs,
                    .cursor = broad->body_pairs.cursor.items};
        const cr_bvh_walk walk = {bvh->node.items, bvh->node.items, 0, search_leaves_within, &s};
        if (broad->seed_count > 0) {
            cr_bvh_meet_itself(&walk, root);
        }
        if (cr_keys_close(&broad->body_pairs, &again) != CAROM_OK) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

// Two trees of which features may touch.
typedef struct bond {
    int32_t kind; // cr_pair_kind
    feature first, second;
    int32_t first_body, second_body;
} bond;

// What the features of bodies a <= b may do to each other; returns how many bonds. The sides of
// kinds alike (EE, PP) stand in the order of the bodies.
static int bond_bodies(const cr_broad* broad, int32_t a, int32_t b, bond out[3])
{
    const int swap = broad->shape[a] < broad->shape[b];
    const int32_t high = swap ? b : a, low = swap ? a : b;
    const feature high_shape = broad->shape[high], low_shape = broad->shape[low];
    int n = 0;
    if (high_shape == FACE) {
        out[n++] = (bond){CR_PAIR_PT, FACE, VERTEX, high, low};
        if (low_shape == FACE && a != b) {
            out[n++] = (bond){CR_PAIR_PT, FACE, VERTEX, low, high};
        }
    }
    if (low_shape != VERTEX) {
        out[n++] = (bond){CR_PAIR_EE, EDGE, EDGE, a, b};
    } else if (high_shape == EDGE) {
        out[n++] = (bond){CR_PAIR_PE, EDGE, VERTEX, high, low};
    } else if (high_shape == VERTEX) {
        out[n++] = (bond){CR_PAIR_PP, VERTEX, VERTEX, a, b};
    }
    return n;
}

static int may_touch(const cr_surface* s, int32_t a, int32_t b)
{
    const int both_fixed = s->body_flags[a] & s->body_flags[b] & CR_SURFACE_FIXED;
    const int one_group = s->body_group[a] >= 0 && s->body_group[a] == s->body_group[b];
    return a == b ? !both_fixed && (s->body_flags[a] & CR_SURFACE_SOFT) : !both_fixed && !one_group;
}

typedef void bond_fn(cr_broad* broad, const bond* of, void* user);

// Hands on every bond of two bodies that meet and may touch, or of one that may touch itself.
static void each_bond(cr_broad* broad, bond_fn* fn, void* user)
{
    const cr_surface* s = broad->surface;
    bond bonds[3];
    for (int32_t i = -s->body_count; i < broad->body_pairs.count; i++) {
        int32_t a = i + s->body_count, b = a; // first each with itself
        if (i >= 0) {
            a = (int32_t)(broad->body_pairs.items[i] >> 32);
            b = (int32_t)(broad->body_pairs.items[i] & UINT32_MAX);
        }
        if (!may_touch(s, a, b)) {
            continue;
        }
        const int n = bond_bodies(broad, a, b, bonds);
        for (int k = 0; k < n; k++) {
            fn(broad, &bonds[k], user);
        }
    }
}

static void want_trees(cr_broad* broad, const bond* of, void* user)
{
    (void)user;
    broad->wanted[of->first_body] |= (uint8_t)(1 << of->first);
    broad->wanted[of->second_body] |= (uint8_t)(1 << of->second);
}

// One bond on its way to tasks.
typedef struct splitting {
    cr_broad* broad;
    task like; // all but its nodes
    int* ok;
} splitting;

static void add_task(int32_t node_a, int32_t node_b, void* user)
{
    splitting* s = user;
    s->like.a = node_a;
    s->like.b = node_b;
    *s->ok = *s->ok && cr_array_push(&s->broad->tasks, s->like);
}

static void split_bond(cr_broad* broad, const bond* of, void* user)
{
    const feature_trees *first = &broad->of[of->first], *second = &broad->of[of->second];
    const int32_t a = first->root[of->first_body], b = second->root[of->second_body];
    if (a == first->root[of->first_body + 1] || b == second->root[of->second_body + 1]) {
        return; // a mesh may have no edge that touches first
    }
    const int within = of->first_body == of->second_body;
    splitting s = {.broad = broad,
                   .like = {.kind = (uint8_t)of->kind,
                            .first = (uint8_t)of->first,
                            .second = (uint8_t)of->second,
                            .within = (uint8_t)within},
                   .ok = user};
    const cr_bvh_walk walk = {first->bvh.node.items, second->bvh.node.items, TASK_ITEMS, add_task,
                              &s};
    if (within && of->first == of->second) {
        cr_bvh_meet_itself(&walk, a);
    } else {
        cr_bvh_meet(&walk, a, b);
    }
}

static void search_job(int32_t job, int32_t worker, void* user)
{
    cr_broad* broad = user;
    for (int32_t i = broad->jobs.items[job]; i < broad->jobs.items[job + 1]; i++) {
        const task* t = &broad->tasks.items[i];
        const feature_trees *first = &broad->of[t->first], *second = &broad->of[t->second];
        search s = {.a = &first->bvh,
                    .b = &second->bvh,
                    .corner_a = first->corner,
                    .corner_b = second->corner,
                    .at = first->at,
                    .base = (uint64_t)t->kind << (broad->key_bits - 2),
                    .shift = broad->second_bits,
                    .kind = t->kind,
                    .keys = &broad->pairs,
                    .cursor = &broad->pairs.cursor.items[worker]};
        const cr_bvh_walk walk = {first->bvh.node.items, second->bvh.node.items, 0,
                                  t->within ? search_leaves_within : search_leaves, &s};
        if (t->within && t->first == t->second && t->a == t->b) {
            cr_bvh_meet_itself(&walk, t->a);
        } else {
            cr_bvh_meet(&walk, t->a, t->b);
        }
    }
}

static carom_status search_features(cr_broad* broad, int32_t worker_count)
{
    int ok = 1;
    broad->tasks.count = 0;
    each_bond(broad, split_bond, &ok);
    int64_t weight = 0;
    broad->jobs.count = 0;
    ok = ok && cr_array_push(&broad->jobs, 0);
    for (int32_t i = 0; i < broad->tasks.count && ok; i++) {
        const task* t = &broad->tasks.items[i];
        weight += broad->of[t->first].bvh.node.items[t->a].count +
                  broad->of[t->second].bvh.node.items[t->b].count;
        ok = end_job(broad, &weight, TASK_ITEMS, i + 1);
    }
    if (!ok || !cr_array_push(&broad->jobs, broad->tasks.count)) {
        return CAROM_ERR_MEMORY;
    }
    int again = 1;
    for (int round = 0; round < 2 && again; round++) {
        if (cr_keys_open(&broad->pairs, worker_count) != CAROM_OK) {
            return CAROM_ERR_MEMORY;
        }
        cr_parallel_for(broad->jobs.count - 1, worker_count, search_job, broad);
        const carom_status status = cr_keys_close(&broad->pairs, &again);
        if (status != CAROM_OK) {
            return status;
        }
    }
    return cr_keys_sort(&broad->pairs, broad->key_bits, worker_count);
}

static void write_pairs_job(int32_t job, int32_t worker, void* user)
{
    const cr_broad* broad = user;
    const cr_surface* s = broad->surface;
    (void)worker;
    const int32_t begin = job * JOB_PAIRS;
    const int32_t rest = broad->pairs.count - begin;
    const int32_t end = begin + (rest < JOB_PAIRS ? rest : JOB_PAIRS);
    const uint64_t mask = ((uint64_t)1 << broad->second_bits) - 1;
    for (int32_t i = begin; i < end; i++) {
        const uint64_t key = broad->pairs.items[i];
        const int32_t kind = (int32_t)(key >> (broad->key_bits - 2));
        const uint64_t both = key & (((uint64_t)1 << (broad->key_bits - 2)) - 1);
        const int32_t first = (int32_t)(both >> broad->second_bits);
        const int32_t second = (int32_t)(both & mask);
        cr_pair pair = {kind, {first, -1, -1, second}};
        if (kind == CR_PAIR_PT) {
            const int32_t* v = &s->face[3 * (size_t)broad->of[FACE].at[first]];
            pair = (cr_pair){kind, {v[0], v[1], v[2], second}};
        } else if (kind != CR_PAIR_PP) {
            const int32_t* v = &s->edge[2 * (size_t)broad->of[EDGE].at[first]];
            pair = (cr_pair){kind, {v[0], v[1], -1, second}};
            if (kind == CR_PAIR_EE) {
                const int32_t* w = &s->edge[2 * (size_t)broad->of[EDGE].at[second]];
                pair.v[2] = w[0];
                pair.v[3] = w[1];
            }
        }
        broad->out[i] = pair;
    }
}

carom_status cr_broad_find(cr_broad* broad, const double* x0, const double* x1, const double* reach,
                           int32_t worker_count, cr_pair_list* out)
{
    const int32_t workers = worker_count > 1 ? worker_count : 1;
    out->count = 0;
    broad->x0 = x0;
    broad->x1 = x1;
    broad->reach = reach;
    carom_status status = fit_bodies(broad, workers);
    if (status == CAROM_OK) {
        status = search_bodies(broad);
    }
    if (status == CAROM_OK) {
        memset(broad->wanted, 0, (size_t)broad->surface->body_count);
        each_bond(broad, want_trees, NULL);
        status = fit_busy(broad, workers);
    }
    if (status == CAROM_OK) {
        status = search_features(broad, workers);
    }
    if (status != CAROM_OK) {
        return status;
    }
    const int32_t count = broad->pairs.count;
    if (!cr_array_reserve(out, count)) {
        return CAROM_ERR_MEMORY;
    }
    broad->out = out->items;
    cr_parallel_for(count / JOB_PAIRS + (count % JOB_PAIRS > 0), workers, write_pairs_job, broad);
    out->count = count;
    return CAROM_OK;
}
