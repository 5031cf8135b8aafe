#include "mesh/cross.h"
#include "mesh/sort.h"
#include <string.h>

// Signed volumes below this part of the cube of the pair's size are round-off.
static const double clear_of_round_off = 1e-12;

// Box pairs looked at per face before giving up, beyond the first ten million.
static const int64_t tests_per_face = 200;
static const int64_t tests_free = 10000000;

typedef struct box {
    cr_vec3 least, most;
} box;

// Faces along a space-filling curve are the leaves of a binary tree of boxes: node i has the
// children 2i and 2i+1, leaf k is node width+k.
typedef struct tree {
    int32_t width;   // a power of two, at least the number of faces
    int32_t count;   // faces
    box* node;       // [2*width]
    int32_t* sorted; // [count] faces along the curve
    uint64_t* key;   // [count] by face
} tree;

static cr_vec3 corner(const cr_trimesh* mesh, int32_t f, int k)
{
    return cr_trimesh_at(mesh, mesh->face[3 * f + k]);
}

static box face_box(const cr_trimesh* mesh, int32_t f)
{
    const cr_vec3 a = corner(mesh, f, 0), b = corner(mesh, f, 1), c = corner(mesh, f, 2);
    return (box){cr_vec3_min(a, cr_vec3_min(b, c)), cr_vec3_max(a, cr_vec3_max(b, c))};
}

static box join(box a, box b)
{
    return (box){cr_vec3_min(a.least, b.least), cr_vec3_max(a.most, b.most)};
}

static int overlap(const box* a, const box* b)
{
    return a->least.x <= b->most.x && b->least.x <= a->most.x && a->least.y <= b->most.y &&
           b->least.y <= a->most.y && a->least.z <= b->most.z && b->least.z <= a->most.z;
}

// 21 bits spread out to every third place
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

// Of 2^21 steps from least to least + size. A box so small or large that its size is no use to
// divide by has one step only: the tree is slower then, not wrong.
static uint64_t step_along(double x, double least, double size)
{
    const double t = (x - least) / size;
    return spread(t >= 0 && t <= 1 ? (uint64_t)(t * 2097151.0) : 0);
}

static uint64_t curve_place(cr_vec3 p, cr_vec3 least, double size)
{
    return step_along(p.x, least.x, size) | step_along(p.y, least.y, size) << 1 |
           step_along(p.z, least.z, size) << 2;
}

static int before(int32_t i, int32_t j, const void* user)
{
    const uint64_t* key = user;
    return key[i] < key[j];
}

static carom_status build_tree(tree* t, const cr_trimesh* mesh)
{
    t->count = mesh->face_count;
    t->width = 1;
    while (t->width < t->count) {
        t->width *= 2;
    }
    t->node = cr_memory_take((size_t)t->width, 2 * sizeof *t->node);
    t->sorted = cr_memory_take((size_t)t->count, sizeof *t->sorted);
    t->key = cr_memory_take((size_t)t->count, sizeof *t->key);
    if (!t->node || !t->sorted || !t->key) {
        return CAROM_ERR_MEMORY;
    }
    cr_vec3 least, most;
    cr_trimesh_box(mesh, &least, &most);
    const double size = cr_vec3_max_abs(cr_vec3_sub(most, least));
    for (int32_t f = 0; f < t->count; f++) {
        const box b = face_box(mesh, f);
        t->key[f] = curve_place(cr_vec3_scale(0.5, cr_vec3_add(b.least, b.most)), least, size);
        t->sorted[f] = f;
    }
    const carom_status status = cr_sort_indices(t->sorted, t->count, before, t->key);
    if (status != CAROM_OK) {
        return status;
    }
    const double inf = (double)INFINITY;
    for (int32_t k = 0; k < t->width; k++) { // leaves beyond the last face overlap nothing
        t->node[t->width + k] = k < t->count ? face_box(mesh, t->sorted[k])
                                             : (box){{inf, inf, inf}, {-inf, -inf, -inf}};
    }
    for (int32_t i = t->width - 1; i > 0; i--) {
        t->node[i] = join(t->node[2 * i], t->node[2 * i + 1]);
    }
    return CAROM_OK;
}

static double volume6(cr_vec3 a, cr_vec3 b, cr_vec3 c, cr_vec3 d)
{
    return cr_vec3_dot(cr_vec3_sub(a, d), cr_vec3_cross(cr_vec3_sub(b, d), cr_vec3_sub(c, d)));
}

// Segment pq against triangle abc: p and q clearly on different sides, and the line pq clearly on
// the same side of all three edges.
static int pierces(cr_vec3 p, cr_vec3 q, const cr_vec3 t[3], double least, cr_vec3* at)
{
    const double above = volume6(t[0], t[1], t[2], p);
    const double below = volume6(t[0], t[1], t[2], q);
    if (!((above > least && below < -least) || (above < -least && below > least))) {
        return 0;
    }
    const double u = volume6(p, q, t[0], t[1]);
    const double v = volume6(p, q, t[1], t[2]);
    const double w = volume6(p, q, t[2], t[0]);
    if (!((u > least && v > least && w > least) || (u < -least && v < -least && w < -least))) {
        return 0;
    }
    *at = cr_vec3_add_scaled(p, above / (above - below), cr_vec3_sub(q, p));
    return 1;
}

static int share_vertex(const cr_trimesh* mesh, int32_t f, int32_t g)
{
    for (int k = 0; k < 9; k++) {
        if (mesh->face[3 * f + k / 3] == mesh->face[3 * g + k % 3]) {
            return 1;
        }
    }
    return 0;
}

static int faces_cross(const cr_trimesh* mesh, int32_t f, int32_t g, cr_vec3* at)
{
    const box b = join(face_box(mesh, f), face_box(mesh, g));
    const double size = cr_vec3_norm(cr_vec3_sub(b.most, b.least));
    const double least = clear_of_round_off * size * size * size;
    cr_vec3 s[3], t[3];
    for (int k = 0; k < 3; k++) {
        s[k] = corner(mesh, f, k);
        t[k] = corner(mesh, g, k);
    }
    for (int k = 0; k < 3; k++) {
        if (pierces(s[k], s[(k + 1) % 3], t, least, at) ||
            pierces(t[k], t[(k + 1) % 3], s, least, at)) {
            return 1;
        }
    }
    return 0;
}

// Face f against all faces of a greater number.
static carom_status search(cr_cross* cross, const cr_trimesh* mesh, const tree* t, int32_t f,
                           int64_t* tests)
{
    int32_t stack[64]; // two per level, and there are at most 31 levels
    int32_t top = 0;
    const box b = face_box(mesh, f);
    stack[top++] = 1;
    while (top > 0 && *tests > 0) {
        const int32_t i = stack[--top];
        if (!overlap(t->node + i, &b)) {
            continue;
        }
        if (i < t->width) {
            stack[top++] = 2 * i + 1;
            stack[top++] = 2 * i;
            continue;
        }
        const int32_t g = t->sorted[i - t->width];
        cr_vec3 at;
        --*tests;
        if (g > f && !share_vertex(mesh, f, g) && faces_cross(mesh, f, g, &at)) {
            const cr_cross_pair pair = {{f, g}, at};
            if (!cr_array_push(&cross->pair, pair)) {
                return CAROM_ERR_MEMORY;
            }
        }
    }
    return CAROM_OK;
}

static int pair_before(int32_t i, int32_t j, const void* user)
{
    const cr_cross_pair* pair = user;
    return pair[i].face[0] != pair[j].face[0] ? pair[i].face[0] < pair[j].face[0]
                                              : pair[i].face[1] < pair[j].face[1];
}

static carom_status sort_pairs(cr_cross* cross)
{
    const int32_t n = cross->pair.count;
    int32_t* index = cr_memory_take((size_t)n, sizeof *index);
    cr_cross_pair* sorted = cr_memory_take((size_t)n, sizeof *sorted);
    carom_status status = CAROM_ERR_MEMORY;
    if (index && sorted) {
        for (int32_t i = 0; i < n; i++) {
            index[i] = i;
        }
        status = cr_sort_indices(index, n, pair_before, cross->pair.items);
    }
    for (int32_t i = 0; i < n && status == CAROM_OK; i++) {
        sorted[i] = cross->pair.items[index[i]];
    }
    if (status == CAROM_OK && n > 0) {
        memcpy(cross->pair.items, sorted, (size_t)n * sizeof *sorted);
    }
    cr_memory_free(index);
    cr_memory_free(sorted);
    return status;
}

carom_status cr_cross_find(cr_cross* cross, const cr_trimesh* mesh)
{
    cr_cross_release(cross);
    tree t = {0};
    int64_t tests = tests_free + tests_per_face * mesh->face_count;
    carom_status status = build_tree(&t, mesh);
    for (int32_t f = 0; f < mesh->face_count && status == CAROM_OK && tests > 0; f++) {
        status = search(cross, mesh, &t, f, &tests);
    }
    cross->complete = tests > 0;
    if (status == CAROM_OK) {
        status = sort_pairs(cross);
    }
    cr_memory_free(t.node);
    cr_memory_free(t.sorted);
    cr_memory_free(t.key);
    if (status != CAROM_OK) {
        cr_cross_release(cross);
    }
    return status;
}

void cr_cross_release(cr_cross* cross)
{
    cr_array_release(&cross->pair);
    cross->complete = 0;
}
