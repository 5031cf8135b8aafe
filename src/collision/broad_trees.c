#include "collision/broad_inside.h"

// Three forests hold one tree per body each: over its vertices, its edges, its faces. The trees
// within a body keep their shape, for its features stay neighbours. A face or an edge is known by
// its rank in the order of its vertices.

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

static cr_bvh_seed seed_of(const cr_broad* broad, cr_feature f, int32_t rank, const double* x)
{
    const int corners = cr_broad_corners(f);
    const int32_t* v = &rank;
    if (f != CR_VERTEX) {
        v = &cr_broad_vertices(broad->surface, f)[corners * broad->of[f].at[rank]];
    }
    const cr_box box = box_around(v, corners, x);
    cr_bvh_seed seed = {.item = rank};
    cr_broad_centre(&box, seed.centre);
    return seed;
}

// Grows the tree of one feature of a body. Loose ones know the items by rank, carried ones by rank
// less the body's first, and in boxes of their own frame.
static carom_status plant(cr_broad* broad, cr_feature f, int32_t body, const double* x,
                          cr_bvh_seed* seeds)
{
    const cr_surface* s = broad->surface;
    cr_broad_trees* trees = &broad->of[f];
    const int32_t* range = cr_broad_range(s, f);
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
    const int corners = cr_broad_corners(f);
    for (int32_t i = place; i < bvh->item_count; i++) {
        const int32_t rank = bvh->item[i] + (carried ? range[body] : 0);
        const int32_t* v =
            f == CR_VERTEX ? &rank : &cr_broad_vertices(s, f)[corners * (size_t)trees->at[rank]];
        if (carried) {
            bvh->box[i] = box_around(v, corners, x);
        }
        for (int c = 0; c < corners && f != CR_VERTEX && !carried; c++) {
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
static carom_status plant_all(cr_broad* broad, cr_feature f, const double* x, cr_bvh_seed* seeds)
{
    cr_broad_trees* trees = &broad->of[f];
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
static void count_features(const cr_broad* broad, cr_feature f, int32_t* loose, int32_t* own)
{
    const int32_t* range = cr_broad_range(broad->surface, f);
    *loose = *own = 0;
    for (int32_t b = 0; b < broad->surface->body_count; b++) {
        const int32_t count = range[b + 1] - range[b];
        *loose += broad->carried[b] ? 0 : count;
        *own += broad->carried[b] && broad->like[b] == b ? count : 0;
    }
}

// The features of a body in the order of their vertices; that of its shape's first, if it has one.
static void rank_features(cr_broad* broad, cr_feature f, int32_t body, int32_t* scratch)
{
    const cr_surface* s = broad->surface;
    int32_t* at = broad->of[f].at;
    const int32_t* range = cr_broad_range(s, f);
    const int32_t like = broad->carried[body] ? broad->like[body] : body;
    const int32_t shift = range[body] - range[like];
    for (int32_t i = range[body]; i < range[body + 1]; i++) {
        at[i] = like == body ? i : at[i - shift] + shift;
    }
    if (like == body) {
        // bodies own ascending vertices, so ranks ascend from body to body by themselves
        sort_by_vertices(at + range[body], scratch, range[body + 1] - range[body],
                         cr_broad_vertices(s, f), cr_broad_corners(f));
    }
}

static int32_t feature_count(const cr_surface* s, cr_feature f)
{
    return f == CR_VERTEX ? s->vertex_count : f == CR_EDGE ? s->edge_count : s->face_count;
}

// Memory and ranks of one feature.
static carom_status init_trees(cr_broad* broad, cr_feature f, int32_t* scratch)
{
    const cr_surface* s = broad->surface;
    cr_broad_trees* trees = &broad->of[f];
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
    if (f == CR_VERTEX) {
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

carom_status cr_broad_trees_init(cr_broad* broad, cr_feature f, cr_bvh_seed* seeds,
                                 int32_t* scratch)
{
    const carom_status status = init_trees(broad, f, scratch);
    return status == CAROM_OK ? plant_all(broad, f, broad->p, seeds) : status;
}

void cr_broad_trees_release(cr_broad_trees* trees)
{
    cr_bvh_release(&trees->bvh);
    cr_bvh_release(&trees->own);
    cr_memory_free(trees->root);
    cr_memory_free(trees->end);
    cr_memory_free(trees->first);
    cr_memory_free(trees->own_root);
    cr_array_release(&trees->rims);
    cr_memory_free(trees->corner);
    cr_memory_free(trees->at);
    *trees = (cr_broad_trees){0};
}
