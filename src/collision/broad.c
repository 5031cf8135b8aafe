#include "collision/broad.h"
#include "collision/apart.h"
#include "collision/bvh.h"
#include "collision/keys.h"
#include "core/assert.h"
#include "core/parallel.h"
#include <float.h>
#include <string.h>

// Three forests hold one tree per body each: over its vertices, its edges, its faces. The trees
// within a body keep their shape, for its features stay neighbours, and are refitted only where
// bodies meet; the tree over the bodies is grown anew when some have gone elsewhere.
//
// A carried body is not refitted at all. Its trees stand in its own frame, one set for all bodies
// of the same shape, and a call copies out of them what may meet one of the bodies around it: the
// nodes by their boxes carried along, the features by their own. So a body that stands on the
// ground costs its underside, in time and in memory.
//
// A pair is found as one 64-bit key (kind, first, second), where a face or an edge is named by its
// rank in the order of its vertices. So the order of the keys is the order of the pairs. Bodies own
// ranges of ranks: the keys of one kind and first body, a group, stand together in the result, so
// groups are searched in order and sorted each on its own.

typedef enum feature { VERTEX, EDGE, FACE, FEATURES } feature;

enum {
    STRAYS = 32,         // bodies far from their leaf, above which a new tree is the cheaper
    TASK_ITEMS = 2048,   // features of a task: a large pair of bodies becomes several tasks
    JOB_VERTICES = 2048, // vertices worth the handing out of a job
    JOB_PAIRS = 1 << 14, // pairs likewise
    CARRIED_WEIGHT = 8,  // vertices that the box of a carried body costs as much as
};

static const int feature_corners[FEATURES] = {1, 2, 3};

// What the features of two bodies may do to each other, in the order of its fields.
typedef struct bond {
    int32_t kind;          // cr_pair_kind
    int32_t first, second; // bodies
} bond;

static const feature kind_first[4] = {VERTEX, EDGE, FACE, EDGE};
static const feature kind_second[4] = {VERTEX, VERTEX, VERTEX, EDGE};

// Two nodes whose features are to be told apart one by one, and the keys found.
typedef struct task {
    cr_keys_run run;
    int32_t a, b;   // nodes of the forests of the kind's two features
    int32_t kind;   // cr_pair_kind
    int32_t within; // both are of one soft body
} task;

// All tasks of one kind and first body.
typedef struct group {
    int32_t task; // its first
    int32_t key;  // first of its keys in the result
} group;

// The sides of a face that does not move, as planes that stand upright on it: n.x > d is beyond.
typedef struct rim {
    cr_vec3 n[3];
    double d[3]; // m, NaN: nothing is
} rim;

typedef struct feature_trees {
    cr_bvh bvh;      // of loose bodies, and behind them what a call copied of carried ones
    int32_t* root;   // [body_count] first node of each body's tree in bvh, -1: none
    int32_t* end;    // [body_count] of a loose body: the node behind its tree
    int32_t* first;  // [body_count] of a loose body: its first place in bvh
    int32_t* corner; // [corners*loose] vertices, by place; none for VERTEX
    int32_t* at;     // [count] feature of each rank; none for VERTEX, whose rank is its index
    int32_t loose_nodes, loose_items;
    cr_bvh own;         // of the first carried body of each shape, in its frame, items by rank less
                        // the body's first; boxes of nodes alone
    int32_t* own_root;  // [body_count] of each carried body in own, -1: none
    CR_ARRAY(rim) rims; // of FACE, for the places behind those of loose bodies
} feature_trees;

// A body around a carried one.
typedef struct neighbour {
    int32_t body;
    int32_t pair; // of the two, in `plane`
} neighbour;

// What a carried body may meet of another one: what is in the box, and of its own what is not below
// the plane, both at the same time.
typedef struct meeting {
    cr_box box;
    cr_vec3 m;    // in the frame of the carried body: of its points those with m.p < level
    double level; // m, at the start meet nothing
} meeting;

enum { LISTED = 64, LISTED_BOXES = 2 };

// Vertices of a carried body that were near others at a pose of it: as long as every vertex is
// within `room` of where it was then, by its reach and all, and the others are within their boxes
// of then, no other vertex of it can meet them. What it holds decides what is looked at, and
// nothing about what is found.
typedef struct shortlist {
    cr_mat3 r;
    cr_vec3 t;
    double room;                // m, less than 0: there is no list
    cr_box other[LISTED_BOXES]; // grown
    int32_t other_count, count;
    int32_t pause;        // calls to come for which no list is made
    int32_t item[LISTED]; // vertices less the body's first
} shortlist;

struct cr_broad {
    const cr_surface* surface;
    feature_trees of[FEATURES];
    uint8_t* shape;        // [body_count] feature of the highest dimension it has
    uint8_t* wanted;       // [body_count] bit f: its tree of feature f takes part in this call
    uint8_t* fitted;       // [body_count] bit f: that tree fits the boxes of the vertices
    uint8_t* trouble;      // [body_count] bits of TROUBLE_*
    cr_box* body_box;      // [body_count]
    cr_box* vertex_box;    // [vertex_count] when its body last took part; loose_vertices of them
    uint8_t* carried;      // [body_count] nonzero: moves as a rigid whole
    int32_t* like;         // [body_count] the first carried body of its shape
    int32_t* loose_vertex; // [body_count] of a loose body: its first in vertex_box
    const double* p;       // [3*vertex_count] m, of carried bodies in their frames

    cr_bvh bodies;
    cr_bvh_seed* seed; // [seed_count] bodies that have vertices
    cr_box* home;      // [2*body_count] of each leaf over bodies: where its bodies may go
    int32_t seed_count;

    cr_keys found;
    CR_ARRAY(uint64_t) key, spare; // keys in the order of the groups, and the other side of sorting
    CR_ARRAY(uint64_t) bonds, spare_bonds;
    CR_ARRAY(task) tasks;
    CR_ARRAY(group) groups;         // and one at the end
    CR_ARRAY(int32_t) jobs;         // first body, task or group of each job, and the end
    CR_ARRAY(int32_t) busy;         // bodies that take part
    int32_t* around;                // [body_count+1] first of each body's in `other`
    CR_ARRAY(neighbour) other;      // bodies whose boxes meet that of a carried one
    CR_ARRAY(cr_apart_plane) plane; // of the pairs in key that are left
    CR_ARRAY(meeting) meeting;      // of the body that is copied
    int32_t* simple;                // [body_count] bodies, those of the fewest edges first
    shortlist* list;                // [body_count] of carried bodies
    double* extent; // [body_count] m, of carried bodies: farthest vertex from the centre

    const double *x0, *x1, *reach; // of the call under way
    const cr_carry* carry;
    const double* margin;
    const int32_t* role;  // [body_count] or NULL
    const uint8_t* fresh; // [body_count] or NULL
    int32_t sparing;
    int32_t most; // pairs, 0: any number
    cr_pair* out;
};

enum { UNCOPIED = -2 }; // for a root: the body's turn has not come

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

static void centre_of(const cr_box* box, double centre[3])
{
    for (int k = 0; k < 3; k++) {
        centre[k] = 0.5 * box->lo[k] + 0.5 * box->hi[k];
    }
}

static cr_box box_around(const int32_t* v, int corners, const double* x)
{
    cr_box box = cr_box_empty();
    for (int c = 0; c < corners; c++) {
        const double* p = &x[3 * (size_t)v[c]];
        const cr_box point = {{p[0], p[1], p[2]}, {p[0], p[1], p[2]}};
        box = cr_box_union(&box, &point);
    }
    return box;
}

static cr_bvh_seed seed_of(const cr_broad* broad, feature f, int32_t rank, const double* x)
{
    const int corners = feature_corners[f];
    const int32_t* v = &rank;
    if (f != VERTEX) {
        v = &feature_vertices(broad->surface, f)[corners * broad->of[f].at[rank]];
    }
    const cr_box box = box_around(v, corners, x);
    cr_bvh_seed seed = {.item = rank};
    centre_of(&box, seed.centre);
    return seed;
}

// Grows the tree of one feature of a body. Loose ones know the items by rank, carried ones by rank
// less the body's first, and in boxes of their own frame.
static carom_status plant(cr_broad* broad, feature f, int32_t body, const double* x,
                          cr_bvh_seed* seeds)
{
    const cr_surface* s = broad->surface;
    feature_trees* trees = &broad->of[f];
    const int32_t* range = feature_range(s, f);
    const int32_t count = range[body + 1] - range[body];
    const int carried = broad->carried[body];
    if (count == 0) {
        return CAROM_OK;
    }
    for (int32_t i = 0; i < count; i++) {
        seeds[i] = seed_of(broad, f, range[body] + i, x);
        seeds[i].item -= carried ? range[body] : 0;
    }
    cr_bvh* bvh = carried ? &trees->own : &trees->bvh;
    const int32_t place = bvh->item_count;
    int32_t* root = carried ? &trees->own_root[body] : &trees->root[body];
    if (cr_bvh_plant(bvh, seeds, count, root) != CAROM_OK) {
        return CAROM_ERR_MEMORY;
    }
    const int corners = feature_corners[f];
    for (int32_t i = place; i < bvh->item_count; i++) {
        const int32_t rank = bvh->item[i] + (carried ? range[body] : 0);
        const int32_t* v =
            f == VERTEX ? &rank : &feature_vertices(s, f)[corners * (size_t)trees->at[rank]];
        if (carried) {
            bvh->box[i] = box_around(v, corners, x);
        }
        for (int c = 0; c < corners && f != VERTEX && !carried; c++) {
            trees->corner[corners * i + c] = v[c];
        }
    }
    if (carried) {
        cr_bvh_refit(bvh, *root, bvh->node.count);
    } else {
        trees->first[body] = place;
        trees->end[body] = bvh->node.count;
    }
    return CAROM_OK;
}

// Trees of one feature, a body after the other; bodies of the same shape share one.
static carom_status plant_all(cr_broad* broad, feature f, const double* x, cr_bvh_seed* seeds)
{
    feature_trees* trees = &broad->of[f];
    for (int32_t body = 0; body < broad->surface->body_count; body++) {
        trees->root[body] = trees->own_root[body] = -1;
        if (broad->carried[body] && broad->like[body] != body) {
            trees->own_root[body] = trees->own_root[broad->like[body]];
        } else if (plant(broad, f, body, x, seeds) != CAROM_OK) {
            return CAROM_ERR_MEMORY;
        }
    }
    trees->loose_nodes = trees->bvh.node.count;
    trees->loose_items = trees->bvh.item_count;
    cr_memory_free(trees->own.box); // the nodes have theirs
    trees->own.box = NULL;
    return CAROM_OK;
}

// The features of loose bodies, and those of the first carried body of each shape.
static void count_features(const cr_broad* broad, feature f, int32_t* loose, int32_t* own)
{
    const int32_t* range = feature_range(broad->surface, f);
    *loose = *own = 0;
    for (int32_t b = 0; b < broad->surface->body_count; b++) {
        const int32_t count = range[b + 1] - range[b];
        *loose += broad->carried[b] ? 0 : count;
        *own += broad->carried[b] && broad->like[b] == b ? count : 0;
    }
}

// The features of a body in the order of their vertices; that of its shape's first, if it has one.
static void rank_features(cr_broad* broad, feature f, int32_t body, int32_t* scratch)
{
    const cr_surface* s = broad->surface;
    int32_t* at = broad->of[f].at;
    const int32_t* range = feature_range(s, f);
    const int32_t like = broad->carried[body] ? broad->like[body] : body;
    const int32_t shift = range[body] - range[like];
    for (int32_t i = range[body]; i < range[body + 1]; i++) {
        at[i] = like == body ? i : at[i - shift] + shift;
    }
    if (like == body) {
        // bodies own ascending vertices, so ranks ascend from body to body by themselves
        sort_by_vertices(at + range[body], scratch, range[body + 1] - range[body],
                         feature_vertices(s, f), feature_corners[f]);
    }
}

// Memory and ranks of one feature. scratch [feature_count].
static carom_status init_trees(cr_broad* broad, feature f, int32_t* scratch)
{
    const cr_surface* s = broad->surface;
    feature_trees* trees = &broad->of[f];
    const int32_t count = feature_count(s, f);
    int32_t loose, own;
    count_features(broad, f, &loose, &own);
    if (cr_bvh_init(&trees->bvh, loose) != CAROM_OK || cr_bvh_init(&trees->own, own) != CAROM_OK) {
        return CAROM_ERR_MEMORY;
    }
    const size_t bodies = (size_t)s->body_count;
    trees->root = cr_memory_take(bodies, sizeof *trees->root);
    trees->end = cr_memory_take(bodies, sizeof *trees->end);
    trees->first = cr_memory_take(bodies, sizeof *trees->first);
    trees->own_root = cr_memory_take(bodies, sizeof *trees->own_root);
    if (!trees->root || !trees->end || !trees->first || !trees->own_root) {
        return CAROM_ERR_MEMORY;
    }
    if (f == VERTEX) {
        return CAROM_OK;
    }
    trees->at = cr_memory_take((size_t)count, sizeof *trees->at);
    trees->corner = cr_memory_take((size_t)loose * 3, sizeof *trees->corner);
    if (!trees->at || !trees->corner) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t body = 0; body < s->body_count; body++) {
        rank_features(broad, f, body, scratch);
    }
    return CAROM_OK;
}

static uint64_t mix(uint64_t hash, const void* bytes, size_t size)
{
    const unsigned char* at = bytes;
    uint64_t word = 0;
    for (size_t i = 0; i < size; i += sizeof word) {
        memcpy(&word, at + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static size_t body_features(const cr_surface* s, feature f, int32_t body)
{
    const int32_t* range = feature_range(s, f);
    return (size_t)(range[body + 1] - range[body]);
}

// The same vertices in its own frame, joined in the same way.
static int same_shape(const cr_broad* broad, int32_t a, int32_t b)
{
    const cr_surface* s = broad->surface;
    const size_t vertices = body_features(s, VERTEX, a);
    if (vertices != body_features(s, VERTEX, b) ||
        memcmp(broad->p + 3 * (size_t)s->body_vertex[a], broad->p + 3 * (size_t)s->body_vertex[b],
               3 * vertices * sizeof(double)) != 0) {
        return 0;
    }
    const int32_t shift = s->body_vertex[b] - s->body_vertex[a];
    for (feature f = EDGE; f < FEATURES; f++) {
        const size_t corners = (size_t)feature_corners[f], count = body_features(s, f, a);
        const int32_t* va = &feature_vertices(s, f)[corners * (size_t)feature_range(s, f)[a]];
        const int32_t* vb = &feature_vertices(s, f)[corners * (size_t)feature_range(s, f)[b]];
        if (count != body_features(s, f, b)) {
            return 0;
        }
        for (size_t i = 0; i < corners * count; i++) {
            if (va[i] + shift != vb[i]) {
                return 0;
            }
        }
    }
    return 1;
}

// Finds the first body of each shape. key, spare [body_count]: the bodies by hash of their
// vertices, then by number; a body is compared with the first of those that it shares a hash with.
static void find_likes(cr_broad* broad, uint64_t* key, uint64_t* spare)
{
    const cr_surface* s = broad->surface;
    int32_t count = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        broad->like[b] = b;
        if (broad->carried[b]) {
            const uint64_t hash = mix(0, broad->p + 3 * (size_t)s->body_vertex[b],
                                      3 * body_features(s, VERTEX, b) * sizeof(double));
            key[count++] = (hash & 0xffffffff00000000u) | (uint64_t)b;
        }
    }
    cr_keys_sort(key, spare, count);
    int32_t first = -1;
    for (int32_t i = 0; i < count; i++) {
        const int32_t b = (int32_t)(key[i] & INT32_MAX);
        const int same_hash = i > 0 && key[i] >> 32 == key[i - 1] >> 32;
        if (same_hash && same_shape(broad, first, b)) {
            broad->like[b] = first;
        } else {
            first = b;
        }
    }
}

// What create needs and gives back at its end.
typedef struct building {
    cr_bvh_seed* seeds;
    int32_t* scratch;
    uint64_t *key, *spare;
} building;

// Features of the richest body.
static int32_t most_features(const cr_surface* s)
{
    size_t most = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        for (feature f = VERTEX; f < FEATURES; f++) {
            const size_t count = body_features(s, f, b);
            most = count > most ? count : most;
        }
    }
    return (int32_t)most;
}

// Who is carried, who is of one shape, and where the boxes of loose vertices stand.
static carom_status sort_bodies(cr_broad* broad, const uint8_t* carried, building* with)
{
    const cr_surface* s = broad->surface;
    const size_t bodies = (size_t)s->body_count;
    broad->carried = cr_memory_take(bodies, 1);
    broad->like = cr_memory_take(bodies, sizeof *broad->like);
    broad->simple = cr_memory_take(bodies, sizeof *broad->simple);
    broad->loose_vertex = cr_memory_take(bodies, sizeof *broad->loose_vertex);
    with->key = cr_memory_take(bodies, sizeof *with->key);
    with->spare = cr_memory_take(bodies, sizeof *with->spare);
    if (!broad->carried || !broad->like || !broad->simple || !broad->loose_vertex || !with->key ||
        !with->spare) {
        return CAROM_ERR_MEMORY;
    }
    int32_t loose = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        broad->carried[b] = carried && carried[b];
        CR_ASSERT(!broad->carried[b] || !(s->body_flags[b] & CR_SURFACE_SOFT));
        broad->loose_vertex[b] = loose;
        loose += broad->carried[b] ? 0 : (int32_t)body_features(s, VERTEX, b);
    }
    find_likes(broad, with->key, with->spare);
    for (int32_t b = 0; b < s->body_count; b++) {
        with->key[b] = (uint64_t)body_features(s, EDGE, b) << 32 | (uint64_t)b;
    }
    cr_keys_sort(with->key, with->spare, s->body_count);
    for (int32_t b = 0; b < s->body_count; b++) {
        broad->simple[b] = (int32_t)(with->key[b] & INT32_MAX);
    }
    broad->vertex_box = cr_memory_take((size_t)loose, sizeof *broad->vertex_box);
    return broad->vertex_box ? CAROM_OK : CAROM_ERR_MEMORY;
}

static carom_status build(cr_broad* broad, const double* x, const uint8_t* carried, building* with)
{
    const cr_surface* s = broad->surface;
    const int32_t most = most_features(s);
    const size_t bodies = (size_t)s->body_count;
    broad->p = x;
    if (sort_bodies(broad, carried, with) != CAROM_OK) {
        return CAROM_ERR_MEMORY;
    }
    with->seeds = cr_memory_take((size_t)most, sizeof *with->seeds);
    with->scratch = cr_memory_take((size_t)most, sizeof *with->scratch);
    broad->around = cr_memory_take(bodies + 1, sizeof *broad->around);
    broad->shape = cr_memory_take(bodies, 1);
    broad->wanted = cr_memory_take(bodies, 1);
    broad->fitted = cr_memory_take(bodies, 1);
    broad->trouble = cr_memory_take(bodies, 1);
    broad->body_box = cr_memory_take(bodies, sizeof *broad->body_box);
    broad->seed = cr_memory_take(bodies, sizeof *broad->seed);
    broad->home = cr_memory_take(2 * bodies, sizeof *broad->home);
    broad->list = cr_memory_take(bodies, sizeof *broad->list);
    broad->extent = cr_memory_take(bodies, sizeof *broad->extent);
    if (!with->seeds || !with->scratch || !broad->shape || !broad->wanted || !broad->fitted ||
        !broad->trouble || !broad->body_box || !broad->around || !broad->seed || !broad->home ||
        !broad->list || !broad->extent || cr_bvh_init(&broad->bodies, s->body_count) != CAROM_OK ||
        !cr_array_reserve(&broad->bodies.node, 2 * s->body_count)) {
        return CAROM_ERR_MEMORY;
    }
    for (feature f = VERTEX; f < FEATURES; f++) {
        carom_status status = init_trees(broad, f, with->scratch);
        if (status == CAROM_OK) {
            status = plant_all(broad, f, x, with->seeds);
        }
        if (status != CAROM_OK) {
            return status;
        }
    }
    for (int32_t b = 0; b < s->body_count; b++) {
        broad->list[b].room = -1.0;
        for (int32_t v = s->body_vertex[b]; broad->carried[b] && v < s->body_vertex[b + 1]; v++) {
            broad->extent[b] =
                cr_max(broad->extent[b], cr_vec3_norm(cr_vec3_load(x + 3 * (size_t)v)));
        }
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

carom_status cr_broad_create(const cr_surface* surface, const double* x, const uint8_t* carried,
                             cr_broad** out)
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
    const carom_status status = build(broad, x, carried, &with);
    cr_memory_free(with.seeds);
    cr_memory_free(with.scratch);
    cr_memory_free(with.key);
    cr_memory_free(with.spare);
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
        cr_bvh_release(&broad->of[f].own);
        cr_memory_free(broad->of[f].root);
        cr_memory_free(broad->of[f].end);
        cr_memory_free(broad->of[f].first);
        cr_memory_free(broad->of[f].own_root);
        cr_array_release(&broad->of[f].rims);
        cr_memory_free(broad->of[f].corner);
        cr_memory_free(broad->of[f].at);
    }
    cr_memory_free(broad->shape);
    cr_memory_free(broad->wanted);
    cr_memory_free(broad->fitted);
    cr_memory_free(broad->trouble);
    cr_memory_free(broad->body_box);
    cr_memory_free(broad->vertex_box);
    cr_memory_free(broad->carried);
    cr_memory_free(broad->like);
    cr_memory_free(broad->loose_vertex);
    cr_memory_free(broad->around);
    cr_memory_free(broad->simple);
    cr_array_release(&broad->meeting);
    cr_array_release(&broad->plane);
    cr_array_release(&broad->other);
    cr_bvh_release(&broad->bodies);
    cr_memory_free(broad->seed);
    cr_memory_free(broad->home);
    cr_memory_free(broad->list);
    cr_memory_free(broad->extent);
    cr_keys_release(&broad->found);
    cr_array_release(&broad->key);
    cr_array_release(&broad->spare);
    cr_array_release(&broad->bonds);
    cr_array_release(&broad->spare_bonds);
    cr_array_release(&broad->tasks);
    cr_array_release(&broad->groups);
    cr_array_release(&broad->jobs);
    cr_array_release(&broad->busy);
    cr_memory_free(broad);
}

const int32_t* cr_broad_like(const cr_broad* broad)
{
    return broad->like;
}

// --- boxes ------------------------------------------------------------------------------------

static cr_box swept_box(const cr_broad* broad, int32_t v)
{
    const double *p = broad->x0 + 3 * (size_t)v, *q = broad->x1 + 3 * (size_t)v;
    const double r = broad->reach[v];
    return (cr_box){{cr_min(p[0], q[0]) - r, cr_min(p[1], q[1]) - r, cr_min(p[2], q[2]) - r},
                    {cr_max(p[0], q[0]) + r, cr_max(p[1], q[1]) + r, cr_max(p[2], q[2]) + r}};
}

// Ends a job before `next` once it has the weight of a full one. False: no memory.
static int end_job(cr_broad* broad, int64_t* weight, int64_t full, int32_t next)
{
    if (*weight < full) {
        return 1;
    }
    *weight = 0;
    return cr_array_push(&broad->jobs, next);
}

// The box of a carried body, and whether its numbers are in order.
static void fit_carried(cr_broad* broad, int32_t body)
{
    const cr_carry* c = &broad->carry[body];
    const int32_t root = broad->of[VERTEX].own_root[body];
    double zero = (c->reach + broad->margin[body]) * 0.0;
    for (int i = 0; i < 3; i++) {
        const cr_vec3 a = cr_mat3_row(c->r0, i), b = cr_mat3_row(c->r1, i);
        zero += (a.x + a.y + a.z) * 0.0 + (b.x + b.y + b.z) * 0.0;
    }
    zero += (c->t0.x + c->t0.y + c->t0.z) * 0.0 + (c->t1.x + c->t1.y + c->t1.z) * 0.0;
    const double least = cr_min(c->reach, broad->margin[body]);
    broad->body_box[body] = root < 0 ? cr_box_empty()
                                     : cr_carry_box(c, &broad->of[VERTEX].own.node.items[root].box,
                                                    c->reach + broad->margin[body]);
    broad->trouble[body] =
        (uint8_t)((zero == 0 ? 0 : TROUBLE_NOT_FINITE) | (least < 0 ? TROUBLE_NEGATIVE : 0));
}

static void fit_loose(cr_broad* broad, int32_t body)
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
        if (broad->carried[b]) {
            fit_carried(broad, b);
        } else {
            fit_loose(broad, b);
        }
    }
}

static carom_status fit_bodies(cr_broad* broad, int32_t worker_count)
{
    const cr_surface* s = broad->surface;
    int64_t weight = 0;
    broad->jobs.count = 0;
    int ok = cr_array_push(&broad->jobs, 0);
    for (int32_t b = 0; b < s->body_count && ok; b++) {
        weight += broad->carried[b] ? CARRIED_WEIGHT : s->body_vertex[b + 1] - s->body_vertex[b];
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

static int same_box(const cr_box* a, const cr_box* b)
{
    return (a->lo[0] == b->lo[0]) & (a->lo[1] == b->lo[1]) & (a->lo[2] == b->lo[2]) &
           (a->hi[0] == b->hi[0]) & (a->hi[1] == b->hi[1]) & (a->hi[2] == b->hi[2]);
}

// Boxes of the vertices of a body. True when they are what they were: a body at rest.
static int fit_vertices(cr_broad* broad, int32_t body)
{
    const cr_surface* s = broad->surface;
    cr_box* vertex_box = broad->vertex_box + broad->loose_vertex[body];
    int same = 1;
    for (int32_t v = s->body_vertex[body]; v < s->body_vertex[body + 1]; v++, vertex_box++) {
        const cr_box box = swept_box(broad, v);
        if (!same_box(&box, vertex_box)) {
            *vertex_box = box;
            same = 0;
        }
    }
    return same;
}

static void fit_features(cr_broad* broad, int32_t body, feature f)
{
    feature_trees* trees = &broad->of[f];
    const int32_t first = trees->first[body];
    const int32_t end = first + (int32_t)body_features(broad->surface, f, body);
    const int32_t own = broad->loose_vertex[body] - broad->surface->body_vertex[body];
    const cr_box* vertex = broad->vertex_box; // vertex v has place v + own
    cr_box* box = trees->bvh.box;
    for (int32_t i = first; f == VERTEX && i < end; i++) {
        box[i] = vertex[trees->bvh.item[i] + own];
    }
    for (int32_t i = first; f == EDGE && i < end; i++) {
        const int32_t* c = &trees->corner[2 * (size_t)i];
        box[i] = cr_box_union(&vertex[c[0] + own], &vertex[c[1] + own]);
    }
    for (int32_t i = first; f == FACE && i < end; i++) {
        const int32_t* c = &trees->corner[3 * (size_t)i];
        const cr_box side = cr_box_union(&vertex[c[0] + own], &vertex[c[1] + own]);
        box[i] = cr_box_union(&side, &vertex[c[2] + own]);
    }
    if (trees->root[body] >= 0) {
        cr_bvh_refit(&trees->bvh, trees->root[body], trees->end[body]);
    }
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
        if (broad->wanted[b] && !broad->carried[b]) {
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

// --- what is copied of carried bodies ------------------------------------------------------------

// Whether a's role leaves b out of the call.
static int leaves_out(const cr_broad* broad, int32_t a, int32_t b)
{
    const int32_t role = broad->role ? broad->role[a] : 0;
    return role < 0 || (role > 0 && (role == broad->role[b] ||
                                     (broad->surface->body_flags[b] & CR_SURFACE_FIXED)));
}

static int may_touch(const cr_broad* broad, int32_t a, int32_t b)
{
    const cr_surface* s = broad->surface;
    if (leaves_out(broad, a, b) || leaves_out(broad, b, a) ||
        (broad->fresh && !broad->fresh[a] && !broad->fresh[b])) {
        return 0;
    }
    const int both_fixed = s->body_flags[a] & s->body_flags[b] & CR_SURFACE_FIXED;
    const int one_group = s->body_group[a] >= 0 && s->body_group[a] == s->body_group[b];
    return a == b ? !both_fixed && (s->body_flags[a] & CR_SURFACE_SOFT) : !both_fixed && !one_group;
}

// One tree on its way from the body's frame into the world.
typedef struct copying {
    cr_broad* broad;
    const cr_carry* carry;
    cr_carry_ends ends; // of carry
    feature_trees* trees;
    feature f;
    int32_t first;  // rank of the body's first feature
    int32_t like;   // and that of the first body of its shape, which stands for it: one copy of a
                    // shape stays in the cache where a thousand would not
    double margin;  // m
    meeting* other; // what it may meet; those that a node meets are brought to the front
    int axis;       // along which the last feature that met nothing was apart from all of it
} copying;

// Along one axis, where a feature of these corners is.
static inline void carry_corners(const copying* c, const cr_vec3 p[3], int corners, int axis,
                                 cr_box* box)
{
    cr_carry_ends_axis(&c->ends, axis, p[0], c->margin, &box->lo[axis], &box->hi[axis]);
    for (int k = 1; k < corners; k++) {
        double lo, hi;
        cr_carry_ends_axis(&c->ends, axis, p[k], c->margin, &lo, &hi);
        box->lo[axis] = cr_min(box->lo[axis], lo);
        box->hi[axis] = cr_max(box->hi[axis], hi);
    }
}

// The corners of a feature in the body's frame.
static inline void feature_points(const copying* c, int32_t item, int corners, cr_vec3 p[3])
{
    const cr_broad* broad = c->broad;
    const int32_t rank = item + c->like;
    const int32_t* v = &rank;
    if (c->f != VERTEX) {
        v = &feature_vertices(broad->surface, c->f)[(size_t)corners * (size_t)c->trees->at[rank]];
    }
    for (int k = 0; k < corners; k++) {
        p[k] = cr_vec3_load(broad->p + 3 * (size_t)v[k]);
    }
}

// Whether a feature of these corners is below the plane of another body.
static inline int is_below(const meeting* other, const cr_vec3 p[3], int corners)
{
    double most = cr_vec3_dot(other->m, p[0]);
    for (int k = 1; k < corners; k++) {
        most = cr_max(most, cr_vec3_dot(other->m, p[k]));
    }
    return most < other->level;
}

// The box of a feature. False when it does not meet `around`, and then *box is not all there: most
// are sorted out by the axis that the one before was.
static int carry_feature(copying* c, const cr_vec3 p[3], int corners, const cr_box* around,
                         cr_box* box)
{
    int axis = c->axis;
    for (int k = 0; k < 3; k++, axis = axis < 2 ? axis + 1 : 0) {
        carry_corners(c, p, corners, axis, box);
        if (!((box->lo[axis] <= around->hi[axis]) & (around->lo[axis] <= box->hi[axis]))) {
            c->axis = axis;
            return 0;
        }
    }
    return 1;
}

// What stands upright on the sides of a face, a margin away from it.
static rim rim_of(const copying* c, int32_t item)
{
    rim out = {.d = {(double)NAN, (double)NAN, (double)NAN}};
    if (!c->carry->still || !c->broad->sparing) {
        return out;
    }
    const int32_t* v = &c->broad->surface->face[3 * (size_t)c->trees->at[item + c->like]];
    cr_vec3 x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = cr_carry_start(c->carry, cr_vec3_load(c->broad->p + 3 * (size_t)v[k]));
    }
    const cr_vec3 normal = cr_vec3_cross(cr_vec3_sub(x[1], x[0]), cr_vec3_sub(x[2], x[0]));
    for (int k = 0; k < 3; k++) {
        const cr_vec3 side = cr_vec3_cross(cr_vec3_sub(x[(k + 1) % 3], x[k]), normal);
        out.n[k] = cr_vec3_scale(1.0 / cr_vec3_norm(side), side); // NaN of a face without area
        out.d[k] = cr_vec3_dot(out.n[k], x[k]) + c->margin;
    }
    return out;
}

// Whether a feature of these corners and this box (NULL: any) meets one of the first n others.
static int meets_any(const copying* c, const cr_vec3 p[3], int corners, const cr_box* box,
                     int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if ((!box || cr_box_meet(box, &c->other[i].box)) && !is_below(&c->other[i], p, corners)) {
            return 1;
        }
    }
    return 0;
}

// Those of `count` features that meet one of the first n others, as a leaf. False: no memory.
static int copy_leaf(copying* c, const int32_t* item, int32_t count, int32_t n)
{
    cr_bvh* bvh = &c->trees->bvh;
    cr_bvh_node copy = {.box = cr_box_empty(), .first = bvh->item_count};
    if (cr_bvh_reserve(bvh, count) != CAROM_OK) {
        return 0;
    }
    cr_box around = c->other[0].box;
    for (int32_t i = 1; i < n; i++) {
        around = cr_box_union(&around, &c->other[i].box);
    }
    const int corners = feature_corners[c->f];
    for (int32_t i = 0; i < count; i++) {
        cr_vec3 p[3];
        cr_box box;
        feature_points(c, item[i], corners, p);
        if (meets_any(c, p, corners, NULL, n) && carry_feature(c, p, corners, &around, &box) &&
            (n == 1 || meets_any(c, p, corners, &box, n))) {
            if (c->f == FACE && !cr_array_push(&c->trees->rims, rim_of(c, item[i]))) {
                return 0;
            }
            bvh->item[bvh->item_count] = item[i] + c->first;
            bvh->box[bvh->item_count++] = box;
            copy.box = cr_box_union(&copy.box, &box);
            copy.count++;
        }
    }
    return cr_array_push(&bvh->node, copy);
}

// A copied node from its two children, the left one right behind it.
static void join_copies(cr_bvh* bvh, int32_t node, int32_t right)
{
    cr_bvh_node *copy = &bvh->node.items[node], *b = &bvh->node.items[right];
    copy->count = copy[1].count + b->count;
    copy->right = right;
    copy->box = cr_box_union(&copy[1].box, &b->box);
    if (copy->count == 0) { // nothing after all: one node is enough to say so
        copy->right = 0;
        bvh->node.count = node + 1;
    }
}

// What of a node meets one of the first n others. A node always becomes one, that of nothing where
// nothing is left: it meets none. False: no memory.
static int copy_node(copying* c, int32_t node, int32_t n)
{
    const cr_bvh_node* own = &c->trees->own.node.items[node];
    cr_bvh* bvh = &c->trees->bvh;
    const cr_box box = cr_carry_ends_box(&c->ends, &own->box, c->margin);
    int32_t near = 0;
    for (int32_t i = 0; i < n; i++) {
        const meeting other = c->other[i];
        if (cr_box_meet(&box, &other.box) && cr_box_reach(&own->box, other.m) >= other.level) {
            c->other[i] = c->other[near];
            c->other[near++] = other;
        }
    }
    const int32_t me = bvh->node.count;
    if (near == 0) {
        return cr_array_push(&bvh->node, ((cr_bvh_node){cr_box_empty(), bvh->item_count, 0, 0, 0}));
    }
    if (!own->right) {
        return copy_leaf(c, c->trees->own.item + own->first, own->count, near);
    }
    if (!cr_array_push(&bvh->node, ((cr_bvh_node){.first = bvh->item_count})) ||
        !copy_node(c, node + 1, near)) {
        return 0;
    }
    const int32_t right = bvh->node.count;
    if (!copy_node(c, own->right, near)) {
        return 0;
    }
    join_copies(bvh, me, right);
    return 1;
}

// The features of a list that meet one of the first n others. False: no memory.
static int copy_list(copying* c, const int32_t* item, int32_t count, int32_t n)
{
    cr_bvh* bvh = &c->trees->bvh;
    if (count <= CR_BVH_LEAF) {
        return copy_leaf(c, item, count, n);
    }
    const int32_t me = bvh->node.count, half = count / 2;
    if (!cr_array_push(&bvh->node, ((cr_bvh_node){.first = bvh->item_count})) ||
        !copy_list(c, item, half, n)) {
        return 0;
    }
    const int32_t right = bvh->node.count;
    if (!copy_list(c, item + half, count - half, n)) {
        return 0;
    }
    join_copies(bvh, me, right);
    return 1;
}

// A list looks around by this part of the body more than what it needs now. More lasts longer and
// holds more vertices.
static const double list_room = 0.01;
// Of that, by which the others may have moved.
static const double list_others = 0.25;
// Calls that a body with more vertices near than a list holds is left alone for.
enum { LIST_PAUSE = 16 };
// It is made of a body that has moved by no more than this part of that in the step: what is faster
// will not keep it.
static const double list_slow = 0.25;
// A vertex and the box of it may be rounded apart by this, relative to the coordinates.
static const double list_rounding = 64.0 * DBL_EPSILON;

// How far a vertex of the body may be from where it is at the pose (r, t), at both ends of its way.
static double drift(const cr_carry* c, double extent, cr_mat3 r, cr_vec3 t)
{
    double most = 0.0;
    for (int end = 0; end < 2; end++) {
        const cr_mat3 turn = cr_mat3_add_scaled(end ? c->r1 : c->r0, -1.0, r);
        const double norm2 = cr_vec3_norm2(cr_mat3_row(turn, 0)) +
                             cr_vec3_norm2(cr_mat3_row(turn, 1)) +
                             cr_vec3_norm2(cr_mat3_row(turn, 2));
        most =
            cr_max(most, cr_vec3_norm(cr_vec3_sub(end ? c->t1 : c->t0, t)) + sqrt(norm2) * extent);
    }
    return most + list_rounding * (extent + cr_vec3_max_abs(t) + most);
}

static int lies_within(const cr_box* inner, const cr_box* outer)
{
    return inner->lo[0] >= outer->lo[0] && inner->lo[1] >= outer->lo[1] &&
           inner->lo[2] >= outer->lo[2] && inner->hi[0] <= outer->hi[0] &&
           inner->hi[1] <= outer->hi[1] && inner->hi[2] <= outer->hi[2];
}

// Whether the list of a body holds all that may meet the n others.
static int still_holds(const copying* c, const shortlist* list, double extent, int32_t n)
{
    if (!(drift(c->carry, extent, list->r, list->t) + c->margin <= list->room)) {
        return 0;
    }
    for (int32_t i = 0; i < n; i++) {
        int known = 0;
        for (int32_t k = 0; k < list->other_count; k++) {
            known |= lies_within(&c->other[i].box, &list->other[k]);
        }
        if (!known) {
            return 0;
        }
    }
    return 1;
}

// Lists the vertices below a node that may meet the others of the list. False: they are too many.
static int list_node(const copying* c, const cr_carry* rest, const cr_carry_ends* ends,
                     shortlist* list, int32_t node)
{
    const cr_bvh_node* own = &c->trees->own.node.items[node];
    const cr_box box = cr_carry_ends_box(ends, &own->box, list->room);
    int meets = 0;
    for (int32_t k = 0; k < list->other_count; k++) {
        meets |= cr_box_meet(&box, &list->other[k]);
    }
    if (!meets) {
        return 1;
    }
    if (own->right) {
        return list_node(c, rest, ends, list, node + 1) &&
               list_node(c, rest, ends, list, own->right);
    }
    for (int32_t i = own->first; i < own->first + own->count; i++) {
        const int32_t item = c->trees->own.item[i];
        const cr_vec3 x =
            cr_carry_start(rest, cr_vec3_load(c->broad->p + 3 * (size_t)(item + c->like)));
        const double m = list->room;
        const cr_box at = {{x.x - m, x.y - m, x.z - m}, {x.x + m, x.y + m, x.z + m}};
        for (int32_t k = 0; k < list->other_count; k++) {
            if (cr_box_meet(&at, &list->other[k])) {
                if (list->count == LISTED) {
                    return 0;
                }
                list->item[list->count++] = item;
                break;
            }
        }
    }
    return 1;
}

// Makes the list of a body that hardly moves. False: there is none.
static int make_list(const copying* c, shortlist* list, int32_t root, double extent, int32_t n)
{
    const cr_carry rest = cr_carry_rest(c->carry->r0, c->carry->t0);
    const double spare = list_room * extent;
    const double gone = drift(c->carry, extent, rest.r0, rest.t0);
    list->room = -1.0;
    if (list->pause > 0) {
        list->pause--;
        return 0;
    }
    if (n > LISTED_BOXES || !(gone <= list_slow * spare)) {
        return 0;
    }
    for (int32_t i = 0; i < n; i++) {
        list->other[i] = c->other[i].box;
        for (int k = 0; k < 3; k++) {
            list->other[i].lo[k] -= list_others * spare;
            list->other[i].hi[k] += list_others * spare;
        }
    }
    list->r = rest.r0;
    list->t = rest.t0;
    list->other_count = n;
    list->count = 0;
    list->room = c->margin + gone + spare;
    const cr_carry_ends ends = cr_carry_ends_make(&rest);
    if (!list_node(c, &rest, &ends, list, root)) {
        list->room = -1.0;
        list->pause = LIST_PAUSE;
        return 0;
    }
    return 1;
}

// Bodies around each carried one, from the pairs in key.
static carom_status look_around(cr_broad* broad)
{
    const int32_t bodies = broad->surface->body_count;
    int32_t* around = broad->around;
    memset(around, 0, ((size_t)bodies + 1) * sizeof *around);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < broad->key.count; i++) {
            const int32_t body[2] = {(int32_t)(broad->key.items[i] >> 32),
                                     (int32_t)(broad->key.items[i] & INT32_MAX)};
            for (int k = 0; k < 2 && may_touch(broad, body[0], body[1]); k++) {
                if (pass == 0) {
                    around[body[k]]++;
                } else {
                    broad->other.items[--around[body[k]]] = (neighbour){body[1 - k], i};
                }
            }
        }
        int64_t sum = 0; // ends of the ranges, which the second pass takes back to their begins
        for (int32_t b = 0; b <= bodies && pass == 0; b++) {
            sum += around[b];
            around[b] = (int32_t)sum;
        }
        if (sum > INT32_MAX || (pass == 0 && !cr_array_reserve(&broad->other, (int32_t)sum))) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

// What feature f of a body may meet of another one, as bits: the kinds of bond_bodies, seen from
// one side.
static int opposite(const cr_broad* broad, feature f, int32_t body, int32_t other)
{
    const feature mine = broad->shape[body], its = broad->shape[other];
    if (f == FACE) {
        return 1 << VERTEX;
    }
    if (f == EDGE) {
        return (its != VERTEX ? 1 << EDGE : 0) | (mine == EDGE ? 1 << VERTEX : 0);
    }
    return its != VERTEX ? 1 << its : mine == VERTEX ? 1 << VERTEX : 0;
}

// Where a body has features f: where those are that were copied, or else where all of it is.
static const cr_box* whereabouts(const cr_broad* broad, feature f, int32_t body)
{
    const feature_trees* trees = &broad->of[f];
    const int32_t root = trees->root[body];
    return root == UNCOPIED ? &broad->body_box[body]
           : root >= 0      ? &trees->bvh.node.items[root].box
                            : NULL;
}

// What feature f of a body may meet of another one. False: no memory.
static int add_meetings(cr_broad* broad, feature f, int32_t body, const neighbour* with)
{
    CR_ASSERT(broad->body_box); // there is a body
    const cr_box* mine = &broad->body_box[body];
    const int meets = opposite(broad, f, body, with->body);
    const cr_apart_plane* plane = &broad->plane.items[with->pair];
    const cr_vec3 n = body < with->body ? plane->n : cr_vec3_neg(plane->n);
    const cr_carry* c = &broad->carry[body];
    meeting at = {.m = cr_mat3_tapply(c->r0, n)};
    at.level = (body < with->body ? plane->low : -plane->high) - cr_vec3_dot(n, c->t0);
    int ok = 1;
    for (feature its = VERTEX; its < FEATURES && ok; its++) {
        const cr_box* box = meets >> its & 1 ? whereabouts(broad, its, with->body) : NULL;
        if (box && cr_box_meet(box, mine)) {
            at.box = *box;
            ok = cr_array_push(&broad->meeting, at);
        }
    }
    return ok;
}

// Copies what is wanted of one carried body.
static carom_status copy_body(cr_broad* broad, feature f, int32_t body)
{
    feature_trees* trees = &broad->of[f];
    trees->root[body] = -1;
    broad->meeting.count = 0;
    if (!(broad->wanted[body] >> f & 1) || trees->own_root[body] < 0) {
        return CAROM_OK;
    }
    for (int32_t i = broad->around[body]; i < broad->around[body + 1]; i++) {
        if (!add_meetings(broad, f, body, &broad->other.items[i])) {
            return CAROM_ERR_MEMORY;
        }
    }
    if (broad->meeting.count == 0) {
        return CAROM_OK;
    }
    copying c = {broad,
                 &broad->carry[body],
                 cr_carry_ends_make(&broad->carry[body]),
                 trees,
                 f,
                 feature_range(broad->surface, f)[body],
                 feature_range(broad->surface, f)[broad->like[body]],
                 broad->carry[body].reach + broad->margin[body],
                 broad->meeting.items,
                 2};
    const int32_t n = broad->meeting.count, root = trees->own_root[body];
    shortlist* list = &broad->list[body];
    trees->root[body] = trees->bvh.node.count;
    const int listed = f == VERTEX && (still_holds(&c, list, broad->extent[body], n) ||
                                       make_list(&c, list, root, broad->extent[body], n));
    const int ok = listed ? copy_list(&c, list->item, list->count, n) : copy_node(&c, root, n);
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}

// The trees that are wanted of carried bodies, as far as they meet what is around. Vertices come
// before faces, and the edges of simple bodies before those of rich ones: of whatever stands in the
// middle of a large face nothing but vertices is then looked at, for the face's own corners and
// edges are nowhere near.
static carom_status copy_carried(cr_broad* broad)
{
    static const feature order[FEATURES] = {VERTEX, FACE, EDGE};
    const int32_t bodies = broad->surface->body_count;
    carom_status status = look_around(broad);
    for (feature f = VERTEX; f < FEATURES; f++) {
        feature_trees* trees = &broad->of[f];
        trees->bvh.node.count = trees->loose_nodes;
        trees->bvh.item_count = trees->loose_items;
        trees->rims.count = 0;
        for (int32_t b = 0; b < bodies; b++) {
            trees->root[b] = broad->carried[b] ? UNCOPIED : trees->root[b];
        }
    }
    for (int k = 0; k < FEATURES; k++) {
        for (int32_t i = 0; i < bodies && status == CAROM_OK; i++) {
            const int32_t b = broad->simple[i];
            status = broad->carried[b] ? copy_body(broad, order[k], b) : CAROM_OK;
        }
    }
    return status;
}

// --- pairs ------------------------------------------------------------------------------------

// One walk through two forests, and where its keys go.
typedef struct search {
    const cr_bvh *a, *b;
    const int32_t *corner_a, *corner_b; // of a body with itself
    const int32_t* at;                  // edge of each rank
    const rim* rims;                    // of faces from place first_rim on
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
static int is_beyond(const rim* side, const cr_box* box)
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

// Grows the tree over the bodies where they are now.
static carom_status plant_bodies(cr_broad* broad)
{
    cr_bvh* bvh = &broad->bodies;
    for (int32_t i = 0; i < broad->seed_count; i++) {
        centre_of(&broad->body_box[broad->seed[i].item], broad->seed[i].centre);
    }
    cr_bvh_clear(bvh);
    int32_t root;
    const carom_status status = cr_bvh_plant(bvh, broad->seed, broad->seed_count, &root);
    if (status != CAROM_OK) {
        cr_bvh_clear(bvh);
    }
    return status;
}

// Fits the tree over the bodies; the number of bodies that have left the neighbourhood their leaf
// had when the tree was grown.
static int32_t fit_body_tree(cr_broad* broad)
{
    cr_bvh* bvh = &broad->bodies;
    for (int32_t i = 0; i < bvh->item_count; i++) {
        bvh->box[i] = broad->body_box[bvh->item[i]];
    }
    cr_bvh_refit(bvh, 0, bvh->node.count);
    int32_t strays = 0;
    for (int32_t n = 0; n < bvh->node.count; n++) {
        const cr_bvh_node* node = &bvh->node.items[n];
        for (int32_t i = node->first; !node->right && i < node->first + node->count; i++) {
            double c[3];
            centre_of(&bvh->box[i], c);
            const cr_box point = {{c[0], c[1], c[2]}, {c[0], c[1], c[2]}};
            strays += !cr_box_meet(&point, &broad->home[n]);
        }
    }
    return strays;
}

// The tree over the bodies as they are now: the one of the call before, refitted, as long as it
// serves. Which of the two it is changes the time it takes and nothing else.
static carom_status update_body_tree(cr_broad* broad)
{
    cr_bvh* bvh = &broad->bodies;
    if (bvh->node.count > 0 && fit_body_tree(broad) <= STRAYS) {
        return CAROM_OK;
    }
    const carom_status status = plant_bodies(broad);
    if (status != CAROM_OK) {
        return status;
    }
    fit_body_tree(broad);
    for (int32_t n = 0; n < bvh->node.count; n++) {
        const cr_box* box = &bvh->node.items[n].box;
        for (int k = 0; k < 3; k++) {
            // half its size on either side
            const double margin = 0.5 * (box->hi[k] - box->lo[k]);
            broad->home[n].lo[k] = box->lo[k] - margin;
            broad->home[n].hi[k] = box->hi[k] + margin;
        }
    }
    return CAROM_OK;
}

// Pairs of bodies that meet, into key: a << 32 | b with a < b, in any order.
static carom_status search_bodies(cr_broad* broad)
{
    broad->key.count = 0;
    if (broad->seed_count == 0) {
        return CAROM_OK;
    }
    carom_status status = update_body_tree(broad);
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

static cr_apart_body apart_body(const cr_broad* broad, int32_t body)
{
    const int32_t first = broad->surface->body_vertex[broad->like[body]];
    return (cr_apart_body){.root = broad->of[VERTEX].own_root[body],
                           .carry = &broad->carry[body],
                           .tree = &broad->of[VERTEX].own,
                           .p = broad->p + 3 * (size_t)first,
                           .extent = broad->extent[body],
                           .margin = broad->margin[body]};
}

// Whether it is worth asking: what lies still is most often the floor, and boxes tell as much of
// it.
static int may_be_apart(const cr_broad* broad, int32_t a, int32_t b)
{
    return broad->carried[a] && broad->carried[b] && !broad->carry[a].still &&
           !broad->carry[b].still && may_touch(broad, a, b);
}

// Planes between the pairs in key. Leaves those out that stay apart although their boxes meet:
// nothing of them is then copied.
static carom_status leave_apart(cr_broad* broad)
{
    int32_t kept = 0;
    if (!cr_array_reserve(&broad->plane, broad->key.count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < broad->key.count; i++) {
        const uint64_t key = broad->key.items[i];
        const int32_t a = (int32_t)(key >> 32), b = (int32_t)(key & INT32_MAX);
        int apart = 0;
        broad->plane.items[kept] = cr_apart_anywhere();
        if (broad->sparing && may_be_apart(broad, a, b)) {
            const cr_apart_body body[2] = {apart_body(broad, a), apart_body(broad, b)};
            apart = cr_apart_stay(&body[0], &body[1], &broad->plane.items[kept]);
        }
        broad->key.items[kept] = key;
        kept += !apart;
    }
    broad->key.count = kept;
    return CAROM_OK;
}

// The kinds of bodies a <= b; returns how many bonds. The sides of kinds alike (EE, PP) stand in
// the order of the bodies.
static int bond_bodies(const cr_broad* broad, int32_t a, int32_t b, bond out[3])
{
    const int swap = broad->shape[a] < broad->shape[b];
    const int32_t high = swap ? b : a, low = swap ? a : b;
    const feature high_shape = broad->shape[high], low_shape = broad->shape[low];
    int n = 0;
    if (high_shape == FACE) {
        out[n++] = (bond){CR_PAIR_PT, high, low};
        if (low_shape == FACE && a != b) {
            out[n++] = (bond){CR_PAIR_PT, low, high};
        }
    }
    if (low_shape != VERTEX) {
        out[n++] = (bond){CR_PAIR_EE, a, b};
        if (low_shape == EDGE && a != b) {
            out[n++] = (bond){CR_PAIR_PE, low, high};
            if (high_shape == EDGE) {
                out[n++] = (bond){CR_PAIR_PE, high, low};
            }
        }
    } else if (high_shape == EDGE) {
        out[n++] = (bond){CR_PAIR_PE, high, low};
    } else if (high_shape == VERTEX) {
        out[n++] = (bond){CR_PAIR_PP, a, b};
    }
    return n;
}

// Writes down the bonds of bodies a <= b and the trees they want. False: no memory.
static int add_bonds(cr_broad* broad, int32_t a, int32_t b)
{
    if (!may_touch(broad, a, b)) {
        return 1;
    }
    bond bonds[3];
    const int n = bond_bodies(broad, a, b, bonds);
    int ok = 1;
    for (int k = 0; k < n && ok; k++) {
        const bond* at = &bonds[k];
        broad->wanted[at->first] |= (uint8_t)(1 << kind_first[at->kind]);
        broad->wanted[at->second] |= (uint8_t)(1 << kind_second[at->kind]);
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
static carom_status find_bonds(cr_broad* broad)
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
    task like; // all but its nodes
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
    const feature_trees *first = &broad->of[kind_first[at->kind]],
                        *second = &broad->of[kind_second[at->kind]];
    const int32_t a = first->root[at->first], b = second->root[at->second];
    if (a < 0 || b < 0) {
        return 1; // a mesh may have no edge that touches first
    }
    const int within = at->first == at->second;
    splitting s = {.broad = broad, .like = {.kind = at->kind, .within = within}, .ok = 1};
    const cr_bvh_walk walk = {first->bvh.node.items, second->bvh.node.items, TASK_ITEMS, add_task,
                              &s};
    if (within && first == second) {
        cr_bvh_meet_itself(&walk, a);
    } else {
        cr_bvh_meet(&walk, a, b);
    }
    return s.ok;
}

// Tasks and groups of all bonds.
static carom_status split_bonds(cr_broad* broad)
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
            ok = cr_array_push(&broad->groups, ((group){.task = broad->tasks.count}));
        }
        ok = ok && split_bond(broad, &at);
    }
    ok = ok && cr_array_push(&broad->groups, ((group){.task = broad->tasks.count}));
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}

static void search_job(int32_t job, int32_t worker, void* user)
{
    cr_broad* broad = user;
    cr_keys_cursor* cursor = &broad->found.cursor.items[worker];
    for (int32_t i = broad->jobs.items[job]; i < broad->jobs.items[job + 1]; i++) {
        if (broad->most > 0 && cursor->count > broad->most) {
            return; // one worker alone has found too many
        }
        task* t = &broad->tasks.items[i];
        const feature_trees *first = &broad->of[kind_first[t->kind]],
                            *second = &broad->of[kind_second[t->kind]];
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

// Fills the runs of the tasks; *count is the number of pairs.
static carom_status search_features(cr_broad* broad, int32_t worker_count, int32_t* count)
{
    int64_t weight = 0;
    broad->jobs.count = 0;
    int ok = cr_array_push(&broad->jobs, 0);
    for (int32_t i = 0; i < broad->tasks.count && ok; i++) {
        const task* t = &broad->tasks.items[i];
        weight += broad->of[kind_first[t->kind]].bvh.node.items[t->a].count +
                  broad->of[kind_second[t->kind]].bvh.node.items[t->b].count;
        ok = end_job(broad, &weight, TASK_ITEMS, i + 1);
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

static cr_pair unpack_pair(const cr_broad* broad, uint64_t key)
{
    const cr_surface* s = broad->surface;
    const int32_t kind = (int32_t)(key >> 62);
    const int32_t first = (int32_t)(key >> 31 & INT32_MAX), second = (int32_t)(key & INT32_MAX);
    if (kind == CR_PAIR_PP) {
        return (cr_pair){kind, {first, -1, -1, second}};
    }
    if (kind == CR_PAIR_PT) {
        const int32_t* v = &s->face[3 * (size_t)broad->of[FACE].at[first]];
        return (cr_pair){kind, {v[0], v[1], v[2], second}};
    }
    const int32_t* v = &s->edge[2 * (size_t)broad->of[EDGE].at[first]];
    if (kind == CR_PAIR_PE) {
        return (cr_pair){kind, {v[0], v[1], -1, second}};
    }
    const int32_t* w = &s->edge[2 * (size_t)broad->of[EDGE].at[second]];
    return (cr_pair){kind, {v[0], v[1], w[0], w[1]}};
}

static void write_job(int32_t job, int32_t worker, void* user)
{
    cr_broad* broad = user;
    (void)worker;
    for (int32_t g = broad->jobs.items[job]; g < broad->jobs.items[job + 1]; g++) {
        const group *at = &broad->groups.items[g], *next = at + 1;
        uint64_t* key = broad->key.items + at->key;
        const int32_t n = next->key - at->key;
        for (int32_t i = at->task; i < next->task; i++) {
            const cr_keys_run* run = &broad->tasks.items[i].run;
            cr_keys_copy(&broad->found, run, key);
            key += run->count;
        }
        key = broad->key.items + at->key;
        cr_keys_sort(key, broad->spare.items + at->key, n);
        for (int32_t i = 0; i < n; i++) {
            broad->out[at->key + i] = unpack_pair(broad, key[i]);
        }
    }
}

// Sorts the groups and writes their pairs to out.
static carom_status write_groups(cr_broad* broad, int32_t worker_count, int32_t count,
                                 cr_pair_list* out)
{
    if (!cr_array_reserve(out, count) || !cr_array_reserve(&broad->key, count) ||
        !cr_array_reserve(&broad->spare, count)) {
        return CAROM_ERR_MEMORY;
    }
    if (count == 0) {
        return CAROM_OK;
    }
    int64_t weight = 0, sum = 0;
    broad->jobs.count = 0;
    int ok = cr_array_push(&broad->jobs, 0);
    for (int32_t g = 0; g < broad->groups.count && ok; g++) {
        group* at = &broad->groups.items[g];
        at->key = (int32_t)sum;
        if (g + 1 == broad->groups.count) {
            break;
        }
        for (int32_t i = at->task; i < at[1].task; i++) {
            sum += broad->tasks.items[i].run.count;
        }
        weight += sum - at->key;
        ok = end_job(broad, &weight, JOB_PAIRS, g + 1);
    }
    if (!ok || !cr_array_push(&broad->jobs, broad->groups.count - 1)) {
        return CAROM_ERR_MEMORY;
    }
    broad->out = out->items;
    cr_parallel_for(broad->jobs.count - 1, worker_count, write_job, broad);
    out->count = count;
    return CAROM_OK;
}

void cr_broad_carry(cr_broad* broad, const cr_carry* carry, const double* margin, int32_t sparing)
{
    broad->sparing = sparing;
    broad->carry = carry;
    broad->margin = margin;
}

void cr_broad_assign(cr_broad* broad, const int32_t* role)
{
    broad->role = role;
}

void cr_broad_bound(cr_broad* broad, int32_t most)
{
    broad->most = most;
}

void cr_broad_limit(cr_broad* broad, const uint8_t* fresh)
{
    broad->fresh = fresh;
}

carom_status cr_broad_find(cr_broad* broad, const double* x0, const double* x1, const double* reach,
                           int32_t worker_count, cr_pair_list* out)
{
    const int32_t workers = worker_count > 1 ? worker_count : 1;
    int32_t count = 0;
    out->count = 0;
    broad->x0 = x0;
    broad->x1 = x1;
    broad->reach = reach;
    carom_status status = fit_bodies(broad, workers);
    if (status == CAROM_OK) {
        status = search_bodies(broad);
    }
    if (status == CAROM_OK) {
        status = leave_apart(broad);
    }
    if (status == CAROM_OK) {
        status = find_bonds(broad);
    }
    if (status == CAROM_OK) {
        status = fit_busy(broad, workers);
    }
    if (status == CAROM_OK) {
        status = copy_carried(broad);
    }
    if (status == CAROM_OK) {
        status = split_bonds(broad);
    }
    if (status == CAROM_OK) {
        status = search_features(broad, workers, &count);
    }
    return status == CAROM_OK ? write_groups(broad, workers, count, out) : status;
}
