#include "collision/broad_inside.h"
#include "core/assert.h"

// Memory of as many as there are bodies, who is carried, and where the boxes of loose vertices
// stand.
static carom_status take_bodies(cr_broad* broad, const uint8_t* carried)
{
    const cr_surface* s = broad->surface;
    const size_t bodies = (size_t)s->body_count;
    broad->carried = cr_memory_take(bodies, 1);
    broad->like = cr_memory_take(bodies, sizeof *broad->like);
    broad->simple = cr_memory_take(bodies, sizeof *broad->simple);
    broad->loose_vertex = cr_memory_take(bodies, sizeof *broad->loose_vertex);
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
    if (!broad->carried || !broad->like || !broad->simple || !broad->loose_vertex ||
        !broad->around || !broad->shape || !broad->wanted || !broad->fitted || !broad->trouble ||
        !broad->body_box || !broad->seed || !broad->home || !broad->list || !broad->extent ||
        cr_bvh_init(&broad->bodies, s->body_count) != CAROM_OK ||
        !cr_array_reserve(&broad->bodies.node, 2 * s->body_count)) {
        return CAROM_ERR_MEMORY;
    }
    int32_t loose = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        broad->carried[b] = carried && carried[b];
        CR_ASSERT(!broad->carried[b] || !(s->body_flags[b] & CR_SURFACE_SOFT));
        broad->loose_vertex[b] = loose;
        loose += broad->carried[b] ? 0 : (int32_t)cr_broad_count(s, CR_VERTEX, b);
    }
    broad->vertex_box = cr_memory_take((size_t)loose, sizeof *broad->vertex_box);
    return broad->vertex_box ? CAROM_OK : CAROM_ERR_MEMORY;
}

// What bodies are made of, and how far their vertices are from their centres.
static void describe_bodies(cr_broad* broad)
{
    const cr_surface* s = broad->surface;
    broad->seed_count = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        broad->list[b].room = -1.0;
        broad->list[b].pause = 0;
        broad->fitted[b] = 0;
        broad->extent[b] = 0.0;
        for (int32_t v = s->body_vertex[b]; broad->carried[b] && v < s->body_vertex[b + 1]; v++) {
            broad->extent[b] =
                cr_max(broad->extent[b], cr_vec3_norm(cr_vec3_load(broad->p + 3 * (size_t)v)));
        }
        const int has_faces = s->body_face[b + 1] > s->body_face[b];
        const int has_edges = s->body_edge[b + 1] > s->body_edge[b];
        broad->shape[b] = has_faces ? CR_FACE : has_edges ? CR_EDGE : CR_VERTEX;
        if (s->body_vertex[b + 1] > s->body_vertex[b]) { // a body of nothing meets nothing
            broad->seed[broad->seed_count++] =
                (cr_bvh_seed){.item = b, .still = (s->body_flags[b] & CR_SURFACE_FIXED) != 0};
        }
    }
}

// What growing needs and gives back at its end.
typedef struct growing {
    cr_bvh_seed* seeds;
    int32_t* scratch;
    uint64_t *key, *spare;
} growing;

// Features of the richest body.
static int32_t most_features(const cr_surface* s)
{
    size_t most = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        for (cr_feature f = CR_VERTEX; f < CR_FEATURES; f++) {
            const size_t count = cr_broad_count(s, f, b);
            most = count > most ? count : most;
        }
    }
    return (int32_t)most;
}

// Who is of one shape, who has fewer edges, and the trees.
static carom_status grow_with(cr_broad* broad, growing* with)
{
    const cr_surface* s = broad->surface;
    const size_t bodies = (size_t)s->body_count, most = (size_t)most_features(s);
    with->seeds = cr_memory_take(most, sizeof *with->seeds);
    with->scratch = cr_memory_take(most, sizeof *with->scratch);
    with->key = cr_memory_take(bodies, sizeof *with->key);
    with->spare = cr_memory_take(bodies, sizeof *with->spare);
    if (!with->seeds || !with->scratch || !with->key || !with->spare) {
        return CAROM_ERR_MEMORY;
    }
    cr_broad_like_find(broad, with->key, with->spare);
    for (int32_t b = 0; b < s->body_count; b++) {
        with->key[b] = (uint64_t)cr_broad_count(s, CR_EDGE, b) << 32 | (uint64_t)b;
    }
    cr_keys_sort(with->key, with->spare, s->body_count);
    for (int32_t b = 0; b < s->body_count; b++) {
        broad->simple[b] = (int32_t)(with->key[b] & INT32_MAX);
    }
    for (cr_feature f = CR_VERTEX; f < CR_FEATURES; f++) {
        if (cr_broad_trees_init(broad, f, with->seeds, with->scratch) != CAROM_OK) {
            return CAROM_ERR_MEMORY;
        }
    }
    describe_bodies(broad);
    return CAROM_OK;
}

static carom_status grow(cr_broad* broad)
{
    growing with = {0};
    const carom_status status = grow_with(broad, &with);
    cr_memory_free(with.seeds);
    cr_memory_free(with.scratch);
    cr_memory_free(with.key);
    cr_memory_free(with.spare);
    return status;
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
    broad->p = x;
    carom_status status = take_bodies(broad, carried);
    if (status == CAROM_OK) {
        status = grow(broad);
    }
    if (status != CAROM_OK) {
        cr_broad_destroy(broad);
        return status;
    }
    *out = broad;
    return CAROM_OK;
}

carom_status cr_broad_renew(cr_broad* broad)
{
    for (cr_feature f = CR_VERTEX; f < CR_FEATURES; f++) {
        cr_broad_trees_release(&broad->of[f]);
    }
    return grow(broad);
}

void cr_broad_destroy(cr_broad* broad)
{
    if (!broad) {
        return;
    }
    for (cr_feature f = CR_VERTEX; f < CR_FEATURES; f++) {
        cr_broad_trees_release(&broad->of[f]);
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
    carom_status status = cr_broad_fit_bodies(broad, workers);
    if (status == CAROM_OK) {
        status = cr_broad_bodies_find(broad);
    }
    if (status == CAROM_OK) {
        status = cr_broad_bonds_find(broad);
    }
    if (status == CAROM_OK) {
        status = cr_broad_fit_busy(broad, workers);
    }
    if (status == CAROM_OK) {
        status = cr_broad_copy_carried(broad);
    }
    if (status == CAROM_OK) {
        status = cr_broad_bonds_split(broad);
    }
    if (status == CAROM_OK) {
        status = cr_broad_search_features(broad, workers, &count);
    }
    return status == CAROM_OK ? cr_broad_write_groups(broad, workers, count, out) : status;
}
