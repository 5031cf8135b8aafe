#include "check.h"
#include "collision/broad.h"
#include "collision/distance.h"
#include "core/memory.h"
#include "math/quat.h"
#include <stdlib.h>
#include <string.h>

// A scene grows body by body in flat lists and then becomes a surface.
typedef struct scene {
    CR_ARRAY(double) x;
    CR_ARRAY(int32_t) edge, face, vertex_end, edge_end, face_end;
    CR_ARRAY(int32_t) flags, group;
    cr_surface surface;
    double *x0, *x1, *reach;
} scene;

static void put_vertex(scene* s, double x, double y, double z)
{
    CHECK(cr_array_push(&s->x, x) && cr_array_push(&s->x, y) && cr_array_push(&s->x, z));
}

static void put_edge(scene* s, int32_t a, int32_t b)
{
    CHECK(cr_array_push(&s->edge, a) && cr_array_push(&s->edge, b));
}

static void put_face(scene* s, int32_t a, int32_t b, int32_t c)
{
    CHECK(cr_array_push(&s->face, a) && cr_array_push(&s->face, b) && cr_array_push(&s->face, c));
}

static void end_body(scene* s, int32_t flags, int32_t group)
{
    CHECK(cr_array_push(&s->vertex_end, s->x.count / 3));
    CHECK(cr_array_push(&s->edge_end, s->edge.count / 2));
    CHECK(cr_array_push(&s->face_end, s->face.count / 3));
    CHECK(cr_array_push(&s->flags, flags) && cr_array_push(&s->group, group));
}

static void put_box(scene* s, double x, double y, double z, double size)
{
    const int32_t v = s->x.count / 3;
    for (int i = 0; i < 8; i++) {
        put_vertex(s, x + size * (i & 1), y + size * (i >> 1 & 1), z + size * (i >> 2 & 1));
    }
    for (int i = 0; i < 8; i++) {
        for (int k = 1; k < 8; k *= 2) {
            if (!(i & k)) {
                put_edge(s, v + i, v + i + k);
            }
        }
    }
    static const int32_t quad[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int f = 0; f < 6; f++) {
        put_face(s, v + quad[f][0], v + quad[f][1], v + quad[f][2]);
        put_face(s, v + quad[f][0], v + quad[f][2], v + quad[f][3]);
    }
}

// n x m vertices, all edges.
static void put_sheet(scene* s, double x, double y, double z, double step, int n, int m)
{
    const int32_t v = s->x.count / 3;
    for (int i = 0; i < n * m; i++) {
        const int column = i % m, row = i / m;
        put_vertex(s, x + step * column, y + step * row, z);
        const int32_t a = v + i;
        if (column + 1 < m) {
            put_edge(s, a, a + 1);
        }
        if (row + 1 < n) {
            put_edge(s, a, a + m);
        }
        if (column + 1 < m && row + 1 < n) {
            put_edge(s, a, a + m + 1);
            put_face(s, a, a + 1, a + m + 1);
            put_face(s, a + m + 1, a + m, a); // neither first nor ascending
        }
    }
}

static void put_curve(scene* s, uint64_t* seed, double x, double y, double z, int n)
{
    const int32_t v = s->x.count / 3;
    for (int i = 0; i < n; i++) {
        put_vertex(s, x + check_random(seed, -1, 1), y + check_random(seed, -1, 1),
                   z + check_random(seed, -1, 1));
        if (i > 0) {
            put_edge(s, v + i - 1, v + i);
        }
    }
}

static void finish(scene* s)
{
    const int32_t bodies = s->flags.count, vertices = s->x.count / 3;
    CHECK(cr_surface_init(&s->surface, bodies, vertices, s->edge.count / 2, s->face.count / 3) ==
          CAROM_OK);
    for (int32_t i = 0; i < s->edge.count; i++) {
        s->surface.edge[i] = s->edge.items[i];
    }
    for (int32_t i = 0; i < s->face.count; i++) {
        s->surface.face[i] = s->face.items[i];
    }
    for (int32_t b = 0; b < bodies; b++) {
        s->surface.body_vertex[b + 1] = s->vertex_end.items[b];
        s->surface.body_edge[b + 1] = s->edge_end.items[b];
        s->surface.body_face[b + 1] = s->face_end.items[b];
        s->surface.body_flags[b] = (uint8_t)s->flags.items[b];
        s->surface.body_group[b] = s->group.items[b];
        for (int32_t v = s->surface.body_vertex[b]; v < s->surface.body_vertex[b + 1]; v++) {
            s->surface.vertex_body[v] = b;
        }
    }
    s->x0 = cr_memory_take((size_t)vertices * 3, sizeof(double));
    s->x1 = cr_memory_take((size_t)vertices * 3, sizeof(double));
    s->reach = cr_memory_take((size_t)vertices, sizeof(double));
    for (int32_t i = 0; i < s->x.count; i++) {
        s->x0[i] = s->x1[i] = s->x.items[i];
    }
}

static void release(scene* s)
{
    cr_surface_release(&s->surface);
    cr_memory_free(s->x0);
    cr_memory_free(s->x1);
    cr_memory_free(s->reach);
    cr_array_release(&s->x);
    cr_array_release(&s->edge);
    cr_array_release(&s->face);
    cr_array_release(&s->vertex_end);
    cr_array_release(&s->edge_end);
    cr_array_release(&s->face_end);
    cr_array_release(&s->flags);
    cr_array_release(&s->group);
}

// Moves the vertices, each on its own, and gives them their reach.
static void stir(scene* s, uint64_t* seed, double motion, double reach)
{
    for (int32_t i = 0; i < s->x.count; i++) {
        s->x0[i] = s->x.items[i] + check_random(seed, -motion, motion);
        s->x1[i] = s->x0[i] + check_random(seed, -motion, motion);
    }
    for (int32_t v = 0; v < s->surface.vertex_count; v++) {
        s->reach[v] = check_random(seed, 0, reach);
    }
}

// Exchanges edges (and turns faces) of a body at random: the contract is about the order given.
static void shuffle(scene* s, uint64_t* seed, int32_t first_edge, int32_t first_face)
{
    for (int32_t i = s->edge.count / 2 - 1; i > first_edge; i--) {
        const int32_t j =
            first_edge + (int32_t)(check_random_bits(seed) % (uint64_t)(i - first_edge + 1));
        for (int k = 0; k < 2; k++) {
            const int32_t t = s->edge.items[2 * i + k];
            s->edge.items[2 * i + k] = s->edge.items[2 * j + k];
            s->edge.items[2 * j + k] = t;
        }
    }
    for (int32_t f = first_face; f < s->face.count / 3; f++) {
        const int32_t a = s->face.items[3 * f];
        s->face.items[3 * f] = s->face.items[3 * f + 1];
        s->face.items[3 * f + 1] = s->face.items[3 * f + 2];
        s->face.items[3 * f + 2] = a;
    }
}

static scene random_scene(uint64_t* seed, int32_t bodies)
{
    scene s = {0};
    const double side = check_random(seed, 0.5, 2.5 * cbrt(bodies + 1));
    for (int32_t b = 0; b < bodies; b++) {
        const double x = check_random(seed, 0, side), y = check_random(seed, 0, side);
        const double z = check_random(seed, 0, side);
        const int32_t first_edge = s.edge.count / 2, first_face = s.face.count / 3;
        int32_t flags = 0;
        switch (check_random_bits(seed) % 8) {
        case 0:
        case 1:
            put_box(&s, x, y, z, check_random(seed, 0.1, 1));
            break;
        case 2: {
            const int n = 2 + (int)(check_random_bits(seed) % 7);
            put_sheet(&s, x, y, z, check_random(seed, 0.05, 0.5), n,
                      2 + (int)(check_random_bits(seed) % 7));
            flags = CR_SURFACE_SOFT;
            break;
        }
        case 3:
            put_curve(&s, seed, x, y, z, 2 + (int)(check_random_bits(seed) % 12));
            break;
        case 4:
            put_curve(&s, seed, x, y, z, 2 + (int)(check_random_bits(seed) % 12));
            flags = CR_SURFACE_SOFT;
            break;
        case 5:
            put_vertex(&s, x, y, z);
            break;
        case 6:
            for (int i = (int)(check_random_bits(seed) % 20); i > 0; i--) { // none, too
                put_vertex(&s, x + check_random(seed, -1, 1), y, z + check_random(seed, -1, 1));
            }
            flags = check_random_bits(seed) % 2 ? CR_SURFACE_SOFT : 0;
            break;
        default: { // a mesh none of whose edges is listed, with a vertex that no face has
            const int32_t v = s.x.count / 3;
            for (int i = 0; i < 5; i++) {
                put_vertex(&s, x + check_random(seed, -1, 1), y + check_random(seed, -1, 1), z);
            }
            put_face(&s, v + 2, v, v + 1);
            put_face(&s, v + 1, v, v + 3);
            break;
        }
        }
        if (check_random_bits(seed) % 3 == 0) {
            shuffle(&s, seed, first_edge, first_face);
        }
        flags |= check_random_bits(seed) % 4 == 0 ? CR_SURFACE_FIXED : 0;
        end_body(&s, flags, (int32_t)(check_random_bits(seed) % 8) - 4);
    }
    finish(&s);
    return s;
}

typedef struct bounds {
    double lo[3], hi[3];
} bounds;

static bounds bounds_of(const scene* s, const int32_t* v, int n)
{
    bounds b = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            const double p = s->x0[3 * v[i] + k], q = s->x1[3 * v[i] + k], r = s->reach[v[i]];
            b.lo[k] = fmin(b.lo[k], fmin(p, q) - r);
            b.hi[k] = fmax(b.hi[k], fmax(p, q) + r);
        }
    }
    return b;
}

static int overlap(const bounds* a, const bounds* b)
{
    for (int k = 0; k < 3; k++) {
        if (a->lo[k] > b->hi[k] || b->lo[k] > a->hi[k]) {
            return 0;
        }
    }
    return 1;
}

static int bodies_may_touch(const cr_surface* s, int32_t a, int32_t b)
{
    if ((s->body_flags[a] & CR_SURFACE_FIXED) && (s->body_flags[b] & CR_SURFACE_FIXED)) {
        return 0;
    }
    if (a == b) {
        return (s->body_flags[a] & CR_SURFACE_SOFT) != 0;
    }
    return s->body_group[a] < 0 || s->body_group[a] != s->body_group[b];
}

static int dimension(const cr_surface* s, int32_t b)
{
    return s->body_face[b] < s->body_face[b + 1] ? 2 : s->body_edge[b] < s->body_edge[b + 1];
}

// Adds the pair of features a (n vertices) and b (m), if bodies and boxes allow.
static void consider(const scene* s, cr_pair_list* out, int32_t kind, const int32_t* a, int n,
                     const int32_t* b, int m)
{
    const int32_t* body = s->surface.vertex_body;
    if (!bodies_may_touch(&s->surface, body[a[0]], body[b[0]])) {
        return;
    }
    cr_pair pair = {kind, {-1, -1, -1, -1}};
    for (int i = 0; i < n; i++) {
        pair.v[i] = a[i];
        for (int j = 0; j < m; j++) {
            if (a[i] == b[j]) {
                return;
            }
            pair.v[4 - m + j] = b[j];
        }
    }
    const bounds p = bounds_of(s, a, n), q = bounds_of(s, b, m);
    if (overlap(&p, &q)) {
        CHECK(cr_array_push(out, pair));
    }
}

static int compare(const void* a, const void* b)
{
    return cr_surface_compare(a, b);
}

// Every feature against every other.
static void brute_force(const scene* s, cr_pair_list* out)
{
    const cr_surface* f = &s->surface;
    out->count = 0;
    for (int32_t v = 0; v < f->vertex_count; v++) {
        const int shape = dimension(f, f->vertex_body[v]);
        for (int32_t t = 0; t < f->face_count; t++) {
            consider(s, out, CR_PAIR_PT, &f->face[3 * t], 3, &v, 1);
        }
        for (int32_t e = 0; e < f->edge_count; e++) {
            const int32_t body = f->vertex_body[f->edge[2 * e]];
            if (dimension(f, body) == 1 && body != f->vertex_body[v]) {
                consider(s, out, CR_PAIR_PE, &f->edge[2 * e], 2, &v, 1);
            }
        }
        for (int32_t w = v + 1; w < f->vertex_count && shape == 0; w++) {
            if (dimension(f, f->vertex_body[w]) == 0) {
                consider(s, out, CR_PAIR_PP, &v, 1, &w, 1);
            }
        }
    }
    for (int32_t e = 0; e < f->edge_count; e++) {
        for (int32_t g = e + 1; g < f->edge_count; g++) {
            consider(s, out, CR_PAIR_EE, &f->edge[2 * e], 2, &f->edge[2 * g], 2);
        }
    }
    if (out->count == 0) {
        return;
    }
    qsort(out->items, (size_t)out->count, sizeof *out->items, compare);
}

static int same_lists(const cr_pair_list* a, const cr_pair_list* b)
{
    return a->count == b->count &&
           (a->count == 0 || !memcmp(a->items, b->items, (size_t)a->count * sizeof *a->items));
}

static void check_found(const scene* s, cr_broad* broad, cr_pair_list* found, cr_pair_list* truth)
{
    brute_force(s, truth);
    static const int32_t workers[4] = {1, 2, 7, 16};
    for (int w = 0; w < 4; w++) {
        CHECK(cr_broad_find(broad, s->x0, s->x1, s->reach, workers[w], found) == CAROM_OK);
        CHECK(same_lists(found, truth));
    }
}

static void test_agrees_with_brute_force(void)
{
    cr_pair_list found = {0}, truth = {0};
    int64_t kinds[4] = {0};
    for (uint64_t round = 0; round < 90; round++) {
        uint64_t seed = round;
        scene s = random_scene(&seed, 1 + (int32_t)(round % 30));
        cr_broad* broad = NULL;
        CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_OK);
        for (int step = 0; step < 3; step++) {
            // far motion after near: the trees were not made for it
            stir(&s, &seed, step == 2 ? 3 : 0.05 * step, check_random(&seed, 0, 0.2));
            check_found(&s, broad, &found, &truth);
            for (int32_t i = 0; i < truth.count; i++) {
                kinds[truth.items[i].kind]++;
            }
        }
        cr_broad_destroy(broad);
        release(&s);
    }
    CHECK(kinds[0] > 1000 && kinds[1] > 1000 && kinds[2] > 1000 && kinds[3] > 1000);
    cr_array_release(&found);
    cr_array_release(&truth);
}

// How far the points of a pair come towards each other along n, each on its way from x0 to x1.
static double closing(const scene* s, const cr_pair* pair, cr_vec3 n)
{
    double most[2] = {0, 0};
    for (int k = 0; k < 4; k++) {
        const int32_t v = pair->v[k];
        if (v >= 0) {
            const int side = pair->kind == CR_PAIR_EE ? k >= 2 : k == 3;
            const double way = cr_vec3_dot(
                n, cr_vec3_sub(cr_vec3_load(s->x1 + 3 * v), cr_vec3_load(s->x0 + 3 * v)));
            most[side] = cr_max(most[side], side ? -way : way);
        }
    }
    return most[0] + most[1];
}

// What a sparing call leaves out of `truth` are pairs of carried bodies that nothing brings near
// each other. Returns how many of them are points over still faces, and in *others the rest.
static int64_t check_spared(const scene* s, cr_broad* broad, const cr_carry* carry,
                            const uint8_t* carried, cr_pair_list* found, const cr_pair_list* truth,
                            int64_t* others)
{
    int32_t at = 0;
    int64_t spared = 0;
    CHECK(cr_broad_find(broad, s->x0, s->x1, s->reach, 2, found) == CAROM_OK);
    for (int32_t i = 0; i < truth->count; i++) {
        const cr_pair* pair = &truth->items[i];
        if (at < found->count && !memcmp(pair, &found->items[at], sizeof *pair)) {
            at++;
            continue;
        }
        cr_vec3 x[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        for (int k = 0; k < 4; k++) {
            x[k] = pair->v[k] < 0 ? x[k] : cr_vec3_load(s->x0 + 3 * pair->v[k]);
        }
        const int32_t a = s->surface.vertex_body[pair->v[0]];
        const double both = s->reach[pair->v[0]] + s->reach[pair->v[3]];
        const cr_closest closest = cr_distance_closest(pair->kind, x);
        CHECK(carried[a] && carried[s->surface.vertex_body[pair->v[3]]]);
        CHECK(closest.distance > both + closing(s, pair, closest.n));
        const int over = pair->kind == CR_PAIR_PT && carry[a].still;
        spared += over;
        *others += !over;
    }
    CHECK(at == found->count); // and nothing else
    return spared;
}

// Every body that is not soft is carried: a pose at the start and one at the end, near to it or
// far.
static void carry_bodies(scene* s, uint64_t* seed, double motion, double reach, cr_carry* carry,
                         double* margin)
{
    const cr_surface* surface = &s->surface;
    for (int32_t b = 0; b < surface->body_count; b++) {
        cr_carry* c = &carry[b];
        const cr_vec3 turn[2] = {{check_random(seed, -2, 2), check_random(seed, -2, 2), 1},
                                 {check_random(seed, -motion, motion), motion, 0}};
        const cr_vec3 shift = {check_random(seed, -1, 1), check_random(seed, -1, 1), 0};
        const cr_vec3 way = {check_random(seed, -motion, motion), 0, motion};
        const cr_quat q = cr_quat_from_rotation(turn[0]);
        *c = cr_carry_rest(cr_quat_to_matrix(q), shift);
        if (check_random_bits(seed) % 4 > 0) {
            c->r1 = cr_quat_to_matrix(cr_quat_mul(q, cr_quat_from_rotation(turn[1])));
            c->t1 = cr_vec3_add(shift, way);
            c->still = 0;
        }
        c->reach = check_random(seed, 0, reach);
        margin[b] = check_random(seed, 0, reach);
        for (int32_t v = surface->body_vertex[b]; v < surface->body_vertex[b + 1]; v++) {
            if (!(surface->body_flags[b] & CR_SURFACE_SOFT)) {
                const cr_vec3 p = cr_vec3_load(s->x.items + 3 * v);
                cr_vec3_store(s->x0 + 3 * v, cr_carry_start(c, p));
                cr_vec3_store(s->x1 + 3 * v, cr_carry_end(c, p));
                s->reach[v] = c->reach + margin[b];
            }
        }
    }
}

// The brute force knows nothing of poses: it sees the vertices where the poses bring them.
static void test_carried_bodies_agree_with_brute_force(void)
{
    cr_pair_list found = {0}, truth = {0};
    int64_t kinds[4] = {0}, others = 0;
    for (uint64_t round = 0; round < 60; round++) {
        uint64_t seed = 1000 + round;
        scene s = random_scene(&seed, 1 + (int32_t)(round % 30));
        uint8_t carried[64] = {0};
        cr_carry carry[64];
        double margin[64];
        CHECK(s.surface.body_count <= 64);
        for (int32_t b = 0; b < s.surface.body_count; b++) {
            carried[b] = !(s.surface.body_flags[b] & CR_SURFACE_SOFT);
        }
        cr_broad* broad = NULL;
        CHECK(cr_broad_create(&s.surface, s.x.items, carried, &broad) == CAROM_OK);
        for (int step = 0; step < 3; step++) {
            stir(&s, &seed, step == 2 ? 3 : 0.05 * step, 0.2);
            carry_bodies(&s, &seed, step == 2 ? 1 : 0.05 * step, 0.1, carry, margin);
            cr_broad_carry(broad, carry, margin, 1);
            brute_force(&s, &truth);
            check_spared(&s, broad, carry, carried, &found, &truth, &others);
            cr_broad_carry(broad, carry, margin, 0);
            check_found(&s, broad, &found, &truth);
            for (int32_t i = 0; i < truth.count; i++) {
                kinds[truth.items[i].kind]++;
            }
        }
        cr_broad_destroy(broad);
        release(&s);
    }
    CHECK(kinds[0] > 500 && kinds[1] > 500 && kinds[2] > 500 && kinds[3] > 500);
    CHECK(others > 100);
    cr_array_release(&found);
    cr_array_release(&truth);
}

// Bodies of one shape share their trees: each still has its own features and place.
static void test_bodies_of_one_shape(void)
{
    cr_pair_list found = {0}, truth = {0};
    uint64_t seed = 5;
    scene s = {0};
    uint8_t carried[24];
    cr_carry carry[24];
    double margin[24];
    for (int i = 0; i < 24; i++) {
        carried[i] = 1;
        if (i % 3 == 0) {
            put_sheet(&s, 0, 0, 0, 0.1, 9, 9); // several leaves
        } else {
            put_box(&s, 0, 0, 0, i % 3); // NOLINT: whole numbers are meant
        }
        end_body(&s, 0, -1);
    }
    finish(&s);
    cr_broad* broad = NULL;
    CHECK(cr_broad_create(&s.surface, s.x.items, carried, &broad) == CAROM_OK);
    for (int step = 0; step < 8; step++) {
        if (step > 4) { // some get another shape: the first of one, and others that shared it
            for (int32_t b = 0; b < 24; b += step) {
                for (int32_t v = s.surface.body_vertex[b]; v < s.surface.body_vertex[b + 1]; v++) {
                    s.x.items[3 * v + step % 3] *= 1.5;
                }
            }
            CHECK(cr_broad_renew(broad) == CAROM_OK);
        }
        carry_bodies(&s, &seed, 0.1 * (step % 5), 0.05, carry, margin);
        cr_broad_carry(broad, carry, margin, 0);
        check_found(&s, broad, &found, &truth);
        CHECK(found.count > 1000);
    }
    carry[3].t1.x = (double)NAN;
    CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &found) == CAROM_ERR_NOT_FINITE);
    carry[3].t1.x = 0;
    margin[3] = -1;
    CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &found) == CAROM_ERR_ARGUMENT);
    cr_broad_destroy(broad);
    release(&s);
    cr_array_release(&found);
    cr_array_release(&truth);
}

// Calls that are limited to some bodies find what all find, of those: exactly that.
static void test_limited_to_some_bodies(void)
{
    cr_pair_list all = {0}, some = {0};
    int64_t pairs = 0, limited = 0;
    for (uint64_t round = 0; round < 20; round++) {
        uint64_t seed = 7000 + round;
        scene s = random_scene(&seed, 24);
        uint8_t carried[64] = {0}, fresh[64] = {0};
        cr_carry carry[64];
        double margin[64];
        CHECK(s.surface.body_count <= 64);
        for (int32_t b = 0; b < s.surface.body_count; b++) {
            carried[b] = !(s.surface.body_flags[b] & CR_SURFACE_SOFT);
            fresh[b] = check_random_bits(&seed) % 4 == 0;
        }
        cr_broad* broad = NULL;
        CHECK(cr_broad_create(&s.surface, s.x.items, carried, &broad) == CAROM_OK);
        stir(&s, &seed, 0.05, 0.2);
        carry_bodies(&s, &seed, 0.05, 0.1, carry, margin);
        cr_broad_carry(broad, carry, margin, 0);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &all) == CAROM_OK);
        cr_broad_limit(broad, fresh);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &some) == CAROM_OK);
        int32_t at = 0;
        for (int32_t i = 0; i < all.count; i++) {
            const cr_pair* pair = &all.items[i];
            if (fresh[s.surface.vertex_body[pair->v[0]]] ||
                fresh[s.surface.vertex_body[pair->v[3]]]) {
                CHECK(at < some.count && !memcmp(pair, &some.items[at], sizeof *pair));
                at++;
            }
        }
        CHECK(at == some.count);
        pairs += all.count;
        limited += some.count;
        cr_broad_limit(broad, NULL);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &some) == CAROM_OK);
        CHECK(some.count == all.count);
        cr_broad_destroy(broad);
        release(&s);
    }
    CHECK(limited > 1000 && 10 * limited < 9 * pairs);
    cr_array_release(&all);
    cr_array_release(&some);
}

// Calls in which few bodies are there, or half of them, or none, find the pairs of these and no
// others, wherever the absent ones have gone meanwhile; the next call of all finds all.
static void test_absent_bodies_are_not_looked_at(void)
{
    cr_pair_list all = {0}, some = {0}, again = {0};
    int64_t pairs = 0, found = 0;
    for (uint64_t round = 0; round < 20; round++) {
        uint64_t seed = 9100 + round;
        scene s = random_scene(&seed, 24);
        uint8_t carried[64] = {0};
        int32_t role[64] = {0};
        cr_carry carry[64];
        double margin[64];
        CHECK(s.surface.body_count <= 64);
        for (int32_t b = 0; b < s.surface.body_count; b++) {
            carried[b] = !(s.surface.body_flags[b] & CR_SURFACE_SOFT);
        }
        cr_broad *broad = NULL, *whole = NULL;
        CHECK(cr_broad_create(&s.surface, s.x.items, carried, &broad) == CAROM_OK);
        CHECK(cr_broad_create(&s.surface, s.x.items, carried, &whole) == CAROM_OK);
        for (int call = 0; call < 6; call++) {
            const uint64_t one_in = call == 5 ? UINT64_MAX : 1 + 2 * ((uint64_t)call % 3);
            for (int32_t b = 0; b < s.surface.body_count; b++) {
                role[b] = check_random_bits(&seed) % one_in == 0 ? 0 : -1;
            }
            stir(&s, &seed, 0.05, 0.2);
            carry_bodies(&s, &seed, 0.05, 0.1, carry, margin);
            cr_broad_carry(broad, carry, margin, 0);
            cr_broad_assign(broad, role);
            CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &some) == CAROM_OK);
            cr_broad_assign(broad, NULL);
            CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &again) == CAROM_OK);
            cr_broad_carry(whole, carry, margin, 0);
            CHECK(cr_broad_find(whole, s.x0, s.x1, s.reach, 1, &all) == CAROM_OK);
            CHECK(again.count == all.count &&
                  (all.count == 0 ||
                   !memcmp(again.items, all.items, (size_t)all.count * sizeof *all.items)));
            int32_t at = 0;
            for (int32_t i = 0; i < all.count; i++) {
                const cr_pair* pair = &all.items[i];
                if (role[s.surface.vertex_body[pair->v[0]]] == 0 &&
                    role[s.surface.vertex_body[pair->v[3]]] == 0) {
                    CHECK(at < some.count && !memcmp(pair, &some.items[at], sizeof *pair));
                    at++;
                }
            }
            CHECK(at == some.count);
            pairs += all.count;
            found += some.count;
        }
        cr_broad_destroy(broad);
        cr_broad_destroy(whole);
        release(&s);
    }
    CHECK(found > 1000 && 10 * found < 9 * pairs);
    cr_array_release(&all);
    cr_array_release(&some);
    cr_array_release(&again);
}

// Two bodies about as far apart as they look, at rest or on their way: what is left out of them is
// farther apart than that.
static void test_bodies_that_stay_apart(void)
{
    enum { ROUNDS = 4000 };
    cr_pair_list found = {0}, truth = {0};
    uint64_t seed = 4711;
    scene s = {0};
    put_box(&s, -0.5, -0.5, -0.5, 1);
    end_body(&s, 0, -1);
    put_box(&s, -0.3, -0.5, -0.4, 0.9); // not around its own middle
    end_body(&s, 0, -1);
    finish(&s);
    const uint8_t carried[2] = {1, 1};
    cr_carry carry[2];
    double margin[2];
    cr_broad* broad = NULL;
    CHECK(cr_broad_create(&s.surface, s.x.items, carried, &broad) == CAROM_OK);
    int64_t kept = 0, over = 0, others = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double motion = round % 2 ? 0.0 : check_random(&seed, 0, 0.05);
        carry_bodies(&s, &seed, motion, 0.05, carry, margin);
        const cr_vec3 to = {check_random(&seed, -1, 1), check_random(&seed, -1, 1), 0.3};
        const cr_vec3 t = cr_vec3_scale(check_random(&seed, 1.0, 1.6) / cr_vec3_norm(to), to);
        for (int b = 0; b < 2; b++) {
            const int alike = round % 4 == 0; // both go the same way, and may stop anywhere on it
            const cr_vec3 way =
                alike ? (cr_vec3){0, 0, motion} : cr_vec3_sub(carry[b].t1, carry[b].t0);
            carry[b].r1 = alike ? carry[b].r0 : carry[b].r1;
            carry[b].t0 = b ? t : (cr_vec3){0, 0, 0};
            carry[b].t1 = cr_vec3_add(carry[b].t0, way);
            carry[b].still = 0;
            for (int32_t v = 8 * b; v < 8 * b + 8; v++) {
                const cr_vec3 p = cr_vec3_load(s.x.items + 3 * v);
                cr_vec3_store(s.x0 + 3 * v, cr_carry_start(&carry[b], p));
                cr_vec3_store(s.x1 + 3 * v, cr_carry_end(&carry[b], p));
            }
        }
        cr_broad_carry(broad, carry, margin, 1);
        brute_force(&s, &truth);
        over += check_spared(&s, broad, carry, carried, &found, &truth, &others);
        kept += found.count;
    }
    CHECK(over == 0 && others > 2 * ROUNDS && kept > ROUNDS);
    cr_broad_destroy(broad);
    release(&s);
    cr_array_release(&found);
    cr_array_release(&truth);
}

// What creeps is looked for among the vertices that were near a while ago: whatever it does then,
// creep on, jump, come nearer to its neighbours or look farther, nothing is missed.
static void test_creeping_bodies_agree_with_brute_force(void)
{
    enum { BODIES = 10, STEPS = 100 };
    cr_pair_list found = {0}, truth = {0};
    uint64_t seed = 77;
    scene s = {0};
    uint8_t carried[BODIES];
    cr_carry carry[BODIES];
    double margin[BODIES];
    for (int i = 0; i < BODIES; i++) {
        carried[i] = 1;
        if (i == 0) {
            put_box(&s, -20, -20, -40, 40);
        } else if (i % 2 == 0) {
            put_box(&s, -0.5, -0.5, -0.5, 1);
        } else {
            put_sheet(&s, -0.5, -0.5, 0, 0.1, 11, 11);
        }
        end_body(&s, i == 0 ? CR_SURFACE_FIXED : 0, -1);
    }
    finish(&s);
    cr_quat q[BODIES];
    cr_vec3 t[BODIES];
    for (int i = 0; i < BODIES; i++) {
        const cr_vec3 turn = {check_random(&seed, -0.4, 0.4), check_random(&seed, -0.4, 0.4), 0};
        q[i] = cr_quat_from_rotation(i == 0 ? (cr_vec3){0, 0, 0} : turn);
        const int pair = i / 2; // every other gap is a wide one
        t[i] = (cr_vec3){1.1 * i + pair, 0,
                         i == 0 ? 0 : 0.5 * (i % 2 == 0) + check_random(&seed, 0, 0.1)};
        margin[i] = 0.01;
    }
    cr_broad* broad = NULL;
    CHECK(cr_broad_create(&s.surface, s.x.items, carried, &broad) == CAROM_OK);
    int64_t pairs = 0, spared = 0, others = 0;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BODIES; i++) {
            const double m = i == 0 ? 0 : step % 20 == 19 ? 0.02 : 4e-4;
            const double to = i % 3 == 0 ? -m : m; // always the same way: it does get somewhere
            const cr_vec3 turn = {to, check_random(&seed, -m, m), 0};
            const cr_vec3 way = {check_random(&seed, -m, m), 0, check_random(&seed, -m, 0.5 * m)};
            carry[i] = cr_carry_rest(cr_quat_to_matrix(q[i]), t[i]);
            q[i] = cr_quat_normalize(cr_quat_mul(q[i], cr_quat_from_rotation(turn)));
            t[i] = cr_vec3_add(t[i], way);
            carry[i].r1 = cr_quat_to_matrix(q[i]);
            carry[i].t1 = t[i];
            carry[i].still = i == 0;
            carry[i].reach = i == 0 ? 0 : step % 7 == 6 ? 0.03 : 0.01;
            for (int32_t v = s.surface.body_vertex[i]; v < s.surface.body_vertex[i + 1]; v++) {
                const cr_vec3 p = cr_vec3_load(s.x.items + 3 * v);
                cr_vec3_store(s.x0 + 3 * v, cr_carry_start(&carry[i], p));
                cr_vec3_store(s.x1 + 3 * v, cr_carry_end(&carry[i], p));
                s.reach[v] = carry[i].reach + margin[i];
            }
        }
        cr_broad_carry(broad, carry, margin, 0);
        check_found(&s, broad, &found, &truth);
        pairs += truth.count;
        cr_broad_carry(broad, carry, margin, 1);
        spared += check_spared(&s, broad, carry, carried, &found, &truth, &others);
    }
    CHECK(pairs > 50 * STEPS);
    CHECK(spared > 10 * STEPS); // half of what stands on the floor, but for what is on its diagonal
    CHECK(others > STEPS);
    cr_broad_destroy(broad);
    release(&s);
    cr_array_release(&found);
    cr_array_release(&truth);
}

// No pose within reach of the way has a vertex farther from its own than that says.
static void test_off_is_an_upper_bound(void)
{
    uint64_t seed = 9;
    for (int round = 0; round < 2000; round++) {
        const double far = check_random(&seed, 0, 2);
        cr_quat q[3];
        cr_vec3 t[3], p = {check_random(&seed, -1, 1), check_random(&seed, -1, 1), 0.5};
        for (int i = 0; i < 3; i++) {
            const cr_vec3 w = {check_random(&seed, -far, far), check_random(&seed, -far, far),
                               check_random(&seed, -far, far)};
            q[i] = cr_quat_from_rotation(w);
            t[i] = (cr_vec3){check_random(&seed, -far, far), check_random(&seed, -far, far), far};
        }
        cr_carry c = cr_carry_rest(cr_quat_to_matrix(q[0]), t[0]);
        if (round % 3 > 0) {
            c.r1 = cr_quat_to_matrix(q[1]);
            c.t1 = t[1];
            c.still = 0;
        }
        const cr_mat3 r = cr_quat_to_matrix(q[2]);
        const cr_vec3 x = cr_vec3_add(cr_mat3_apply(r, p), t[2]);
        const double off = cr_carry_off_segment(cr_carry_start(&c, p), cr_carry_end(&c, p), x);
        CHECK(off <= cr_carry_off(&c, cr_vec3_norm(p), r, t[2]) * (1 + 1e-12));
        CHECK(cr_carry_off(&c, cr_vec3_norm(p), c.r1, c.t1) <= 1e-14);
        CHECK(cr_vec3_norm(cr_vec3_sub(cr_carry_end(&c, p), cr_carry_start(&c, p))) <=
              cr_carry_length(&c, cr_vec3_norm(p)) * (1 + 1e-12));
    }
}

// Integer positions: boxes that touch in a face, an edge or a corner all count.
static void test_touching_boxes_count(void)
{
    cr_pair_list found = {0}, truth = {0};
    scene s = {0};
    for (int i = 0; i < 27; i++) {
        put_box(&s, i % 3, i / 3 % 3, i / 9, 1); // NOLINT: whole numbers are meant
        end_body(&s, 0, -1);
    }
    put_box(&s, 0, 0, 0, 1); // and one that coincides
    end_body(&s, 0, -1);
    finish(&s);
    cr_broad* broad = NULL;
    CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_OK);
    check_found(&s, broad, &found, &truth);
    CHECK(found.count > 5000);
    cr_broad_destroy(broad);
    release(&s);
    cr_array_release(&found);
    cr_array_release(&truth);
}

// Larger than a task and than a block of keys, and folded onto itself.
static void test_soft_sheet_meets_itself(void)
{
    cr_pair_list found = {0}, truth = {0};
    scene s = {0};
    put_sheet(&s, 0, 0, 0, 1, 30, 30);
    end_body(&s, CR_SURFACE_SOFT, 3);
    put_sheet(&s, 5, 5, 0.5, 0.5, 30, 20);
    end_body(&s, CR_SURFACE_SOFT, -1);
    finish(&s);
    for (int32_t v = 0; v < 900; v++) {
        s.x0[3 * v] = 8 * cos(0.4 * s.x.items[3 * v]);
        s.x0[3 * v + 2] = 8 * sin(0.4 * s.x.items[3 * v]);
        s.reach[v] = 0.3;
    }
    cr_broad* broad = NULL;
    CHECK(cr_broad_create(&s.surface, s.x1, NULL, &broad) == CAROM_OK); // built flat, asked folded
    memcpy(s.x1, s.x0, (size_t)s.x.count * sizeof(double));
    check_found(&s, broad, &found, &truth);
    CHECK(found.count > 10000); // more than two blocks of keys
    cr_broad_destroy(broad);
    release(&s);
    cr_array_release(&found);
    cr_array_release(&truth);
}

// Whole leaves of the tree over the bodies are fixed here, under one body that moves over all.
static void test_fixed_ground_under_a_cloth(void)
{
    cr_pair_list found = {0}, truth = {0};
    scene s = {0};
    for (int i = 0; i < 80; i++) {
        const int column = i % 8, row = i / 8;
        put_box(&s, column, row, 0, 1);
        end_body(&s, CR_SURFACE_FIXED, -1);
    }
    put_sheet(&s, 0, 0, 1, 1, 11, 9);
    end_body(&s, CR_SURFACE_SOFT, -1);
    finish(&s);
    cr_broad* broad = NULL;
    uint64_t seed = 31;
    CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_OK);
    for (int step = 0; step < 3; step++) {
        stir(&s, &seed, 0.1 * step, 0.01);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 2, &found) == CAROM_OK);
        brute_force(&s, &truth);
        CHECK(same_lists(&found, &truth));
        CHECK(found.count > 1000);
    }
    cr_broad_destroy(broad);
    release(&s);
    cr_array_release(&found);
    cr_array_release(&truth);
}

static void test_all_points_in_one_place(void)
{
    cr_pair_list found = {0}, truth = {0};
    uint64_t seed = 5;
    scene s = random_scene(&seed, 14);
    for (int32_t i = 0; i < s.x.count; i++) {
        s.x0[i] = s.x1[i] = 1.5;
    }
    cr_broad* broad = NULL;
    CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_OK);
    check_found(&s, broad, &found, &truth);
    CHECK(found.count > 1000);
    cr_broad_destroy(broad);
    release(&s);
    cr_array_release(&found);
    cr_array_release(&truth);
}

static void test_nothing_and_one(void)
{
    cr_pair_list found = {0};
    for (int bodies = 0; bodies < 3; bodies++) { // none, one of nothing, one box
        scene s = {0};
        for (int b = 0; b < bodies; b++) {
            if (b == 1) {
                put_box(&s, 0, 0, 0, 1);
            }
            end_body(&s, 0, -1);
        }
        finish(&s);
        cr_broad* broad = NULL;
        CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_OK);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 2, &found) == CAROM_OK);
        CHECK(found.count == 0);
        cr_broad_destroy(broad);
        release(&s);
    }
    cr_array_release(&found);
}

static void test_refuses_what_is_not_finite(void)
{
    cr_pair_list found = {0}, truth = {0};
    uint64_t seed = 8;
    scene s = random_scene(&seed, 12);
    cr_broad* broad = NULL;
    CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_OK);
    const double bad[3] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int k = 0; k < 3; k++) {
        for (int32_t i = 0; i < s.x.count; i += 7) {
            double* const at[3] = {&s.x0[i], &s.x1[i], &s.reach[i / 3]};
            for (int which = 0; which < 3; which++) {
                const double keep = *at[which];
                *at[which] = bad[k];
                CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 2, &found) == CAROM_ERR_NOT_FINITE);
                CHECK(found.count == 0);
                *at[which] = keep;
            }
        }
    }
    s.reach[3] = -1;
    CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 2, &found) == CAROM_ERR_ARGUMENT);
    s.reach[3] = 1e308; // boxes without end are boxes still
    s.x0[9] = 1.7e308;
    check_found(&s, broad, &found, &truth);
    cr_broad_destroy(broad);
    s.x0[4] = (double)NAN;
    CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_ERR_NOT_FINITE && !broad);
    release(&s);
    cr_array_release(&found);
    cr_array_release(&truth);
}

static void test_warm_call_takes_no_memory(void)
{
    cr_pair_list found = {0};
    for (int32_t workers = 1; workers <= 16; workers += 5) {
        uint64_t seed = 77;
        scene s = random_scene(&seed, 200);
        stir(&s, &seed, 0.05, 0.3);
        cr_broad* broad = NULL;
        CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_OK);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, workers, &found) == CAROM_OK);
        const int64_t before = cr_memory_calls();
        for (int step = 0; step < 10; step++) {
            for (int32_t i = 0; i < s.x.count; i++) {
                s.x1[i] += 1e-9; // everything is fitted anew
            }
            CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, workers, &found) == CAROM_OK);
        }
        CHECK(cr_memory_calls() == before);
        cr_broad_destroy(broad);
        release(&s);
    }
    cr_array_release(&found);
}

static void test_survives_refused_memory(void)
{
    uint64_t seed = 21;
    scene s = random_scene(&seed, 40);
    stir(&s, &seed, 0.05, 0.3);
    cr_pair_list truth = {0};
    brute_force(&s, &truth);
    int finished = 0;
    for (int64_t n = 1; n < 1000 && !finished; n++) {
        cr_broad* broad = NULL;
        cr_pair_list found = {0};
        cr_memory_fail_after(n);
        carom_status status = cr_broad_create(&s.surface, s.x0, NULL, &broad);
        if (status == CAROM_OK) {
            status = cr_broad_find(broad, s.x0, s.x1, s.reach, 2, &found);
        }
        cr_memory_fail_after(0);
        finished = status == CAROM_OK;
        CHECK(finished || status == CAROM_ERR_MEMORY);
        if (broad) { // and goes on once there is memory again
            CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 2, &found) == CAROM_OK);
            CHECK(same_lists(&found, &truth));
        }
        cr_broad_destroy(broad);
        cr_array_release(&found);
    }
    CHECK(finished);
    release(&s);
    cr_array_release(&truth);
}

// What a call answers depends on its input alone, not on the calls before.
static void test_does_not_remember(void)
{
    uint64_t seed = 4;
    scene s = random_scene(&seed, 60);
    cr_broad* broad = NULL;
    cr_pair_list first = {0}, found = {0};
    CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_OK);
    stir(&s, &seed, 0.1, 0.2);
    CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &first) == CAROM_OK);
    CHECK(first.count > 100);
    for (int k = 0; k < 5; k++) {
        uint64_t other = (uint64_t)k;
        stir(&s, &other, 10, 0.5);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &found) == CAROM_OK);
        seed = 4;
        scene again = random_scene(&seed, 60);
        stir(&again, &seed, 0.1, 0.2);
        CHECK(cr_broad_find(broad, again.x0, again.x1, again.reach, 1, &found) == CAROM_OK);
        CHECK(same_lists(&found, &first));
        release(&again);
    }
    cr_broad_destroy(broad);
    release(&s);
    cr_array_release(&first);
    cr_array_release(&found);
}

// A bound says no to what has more pairs, for any number of workers, and changes nothing else.
static void test_bound(void)
{
    uint64_t seed = 4;
    scene s = random_scene(&seed, 60);
    cr_broad* broad = NULL;
    cr_pair_list all = {0}, found = {0};
    CHECK(cr_broad_create(&s.surface, s.x0, NULL, &broad) == CAROM_OK);
    stir(&s, &seed, 0.1, 0.2);
    CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, 1, &all) == CAROM_OK);
    for (int32_t workers = 1; workers <= 4; workers++) {
        cr_broad_bound(broad, all.count - 1);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, workers, &found) ==
              CAROM_ERR_NO_CONVERGENCE);
        CHECK(found.count == 0);
        cr_broad_bound(broad, all.count);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, workers, &found) == CAROM_OK);
        CHECK(same_lists(&found, &all));
        cr_broad_bound(broad, 0);
        CHECK(cr_broad_find(broad, s.x0, s.x1, s.reach, workers, &found) == CAROM_OK);
        CHECK(same_lists(&found, &all));
    }
    cr_broad_destroy(broad);
    release(&s);
    cr_array_release(&all);
    cr_array_release(&found);
}

int main(void)
{
    RUN(test_agrees_with_brute_force);
    RUN(test_carried_bodies_agree_with_brute_force);
    RUN(test_bodies_of_one_shape);
    RUN(test_limited_to_some_bodies);
    RUN(test_absent_bodies_are_not_looked_at);
    RUN(test_bodies_that_stay_apart);
    RUN(test_creeping_bodies_agree_with_brute_force);
    RUN(test_off_is_an_upper_bound);
    RUN(test_touching_boxes_count);
    RUN(test_soft_sheet_meets_itself);
    RUN(test_fixed_ground_under_a_cloth);
    RUN(test_all_points_in_one_place);
    RUN(test_nothing_and_one);
    RUN(test_refuses_what_is_not_finite);
    RUN(test_warm_call_takes_no_memory);
    RUN(test_survives_refused_memory);
    RUN(test_does_not_remember);
    RUN(test_bound);
    return check_failures != 0;
}
