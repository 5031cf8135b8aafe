// bench_broad.c - what it costs to find the pairs of a scene: cost per body as the scene grows, and
// the scenes that are hard on trees. Arguments: [workers] [rounds].
#include "collision/broad.h"
#include "core/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct scene {
    CR_ARRAY(double) x;
    CR_ARRAY(int32_t) edge, face, vertex_end, edge_end, face_end, flags;
} scene;

static void need(int ok)
{
    if (!ok) {
        fprintf(stderr, "bench_broad: a call failed\n");
        exit(1);
    }
}

// Uniform in [least, most), the same on every machine (splitmix64).
static double uniform(uint64_t* seed, double least, double most)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return least + (most - least) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void put_vertex(scene* s, double x, double y, double z)
{
    need(cr_array_push(&s->x, x) && cr_array_push(&s->x, y) && cr_array_push(&s->x, z));
}

static void put_edge(scene* s, int32_t a, int32_t b)
{
    need(cr_array_push(&s->edge, a) && cr_array_push(&s->edge, b));
}

static void put_face(scene* s, int32_t a, int32_t b, int32_t c)
{
    need(cr_array_push(&s->face, a) && cr_array_push(&s->face, b) && cr_array_push(&s->face, c));
}

static void end_body(scene* s, int32_t flags)
{
    need(cr_array_push(&s->vertex_end, s->x.count / 3) &&
         cr_array_push(&s->edge_end, s->edge.count / 2) &&
         cr_array_push(&s->face_end, s->face.count / 3) && cr_array_push(&s->flags, flags));
}

// A box of 12 faces and 12 convex edges, its lowest corner at (x,y,z).
static void put_box(scene* s, double x, double y, double z, double a, double b, double c)
{
    const int32_t v = s->x.count / 3;
    for (int i = 0; i < 8; i++) {
        put_vertex(s, x + a * (i & 1), y + b * (i >> 1 & 1), z + c * (i >> 2 & 1));
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

// n x n vertices with all edges; bump lifts it into waves.
static void put_sheet(scene* s, double x, double y, double z, double step, int n, double bump)
{
    const int32_t v = s->x.count / 3;
    for (int i = 0; i < n * n; i++) {
        const int column = i % n, row = i / n;
        put_vertex(s, x + step * column, y + step * row,
                   z + bump * sin(0.7 * column) * sin(0.7 * row));
        const int32_t a = v + i;
        if (column + 1 < n) {
            put_edge(s, a, a + 1);
        }
        if (row + 1 < n) {
            put_edge(s, a, a + n);
        }
        if (column + 1 < n && row + 1 < n) {
            put_edge(s, a, a + n + 1);
            put_face(s, a, a + 1, a + n + 1);
            put_face(s, a, a + n + 1, a + n);
        }
    }
}

static cr_surface surface_of(const scene* s)
{
    cr_surface f;
    need(cr_surface_init(&f, s->flags.count, s->x.count / 3, s->edge.count / 2,
                         s->face.count / 3) == CAROM_OK);
    memcpy(f.edge, s->edge.items, (size_t)s->edge.count * sizeof(int32_t));
    memcpy(f.face, s->face.items, (size_t)s->face.count * sizeof(int32_t));
    for (int32_t b = 0; b < f.body_count; b++) {
        f.body_vertex[b + 1] = s->vertex_end.items[b];
        f.body_edge[b + 1] = s->edge_end.items[b];
        f.body_face[b + 1] = s->face_end.items[b];
        f.body_flags[b] = (uint8_t)s->flags.items[b];
        f.body_group[b] = -1;
        for (int32_t v = f.body_vertex[b]; v < f.body_vertex[b + 1]; v++) {
            f.vertex_body[v] = b;
        }
    }
    return f;
}

static int32_t workers = 1, rounds = 15;

// [s] One worker is timed by the processor it used, for others may want it too; several by the
// clock on the wall.
static double now(void)
{
    struct timespec t;
    clock_gettime(workers == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A scene under way, and what is known of it so far.
typedef struct run {
    cr_surface surface;
    cr_broad* broad;
    double *x0, *x1, *reach;
    cr_pair_list found;
    double built, best; // [s]
} run;

static void run_begin(run* r, scene* s, double reach)
{
    *r = (run){.surface = surface_of(s), .best = HUGE_VAL, .x0 = s->x.items};
    const size_t n = (size_t)r->surface.vertex_count;
    r->x1 = cr_memory_take(3 * n, sizeof(double));
    r->reach = cr_memory_take(n, sizeof(double));
    need(r->x1 && r->reach);
    for (size_t v = 0; v < n; v++) {
        r->reach[v] = reach;
    }
    const double begin = now();
    need(cr_broad_create(&r->surface, r->x0, NULL, &r->broad) == CAROM_OK);
    r->built = now() - begin;
    s->x.items = NULL; // the run has it now
    cr_array_release(&s->edge);
    cr_array_release(&s->face);
    cr_array_release(&s->vertex_end);
    cr_array_release(&s->edge_end);
    cr_array_release(&s->face_end);
    cr_array_release(&s->flags);
}

// One call, after everything that is not FIXED moved a little. Returns what it took in s.
static double run_once(run* r, int round)
{
    const cr_surface* f = &r->surface;
    for (int32_t v = 0; v < f->vertex_count; v++) {
        const int fixed = f->body_flags[f->vertex_body[v]] & CR_SURFACE_FIXED;
        for (int32_t k = 3 * v; k < 3 * v + 3; k++) {
            r->x1[k] = r->x0[k] + (fixed ? 0 : 0.01 * r->reach[v] * (round % 10));
        }
    }
    const double start = now();
    need(cr_broad_find(r->broad, r->x0, r->x1, r->reach, workers, &r->found) == CAROM_OK);
    const double took = now() - start;
    r->best = round > 0 && took < r->best ? took : r->best;
    return took;
}

static void run_end(run* r)
{
    cr_broad_destroy(r->broad);
    cr_surface_release(&r->surface);
    cr_memory_free(r->x0);
    cr_memory_free(r->x1);
    cr_memory_free(r->reach);
    cr_array_release(&r->found);
}

static void print_row(const char* name, const run* r, double best)
{
    printf("%-34s %7d %8d %9d %9.3f %9.3f %9.1f %9.1f\n", name, r->surface.body_count,
           r->surface.face_count, r->found.count, 1e3 * r->built, 1e3 * best,
           1e9 * best / r->surface.body_count, r->found.count ? 1e9 * best / r->found.count : 0.0);
}

static void measure(const char* name, scene* s, double reach)
{
    run r;
    run_begin(&r, s, reach);
    for (int round = 0; round <= rounds; round++) {
        run_once(&r, round);
    }
    print_row(name, &r, r.best);
    run_end(&r);
}

// Boxes of 0.5 to 1 m, one in 15 m^3: few overlap.
static scene random_boxes(int32_t n, uint64_t seed)
{
    scene s = {0};
    const double side = cbrt(15.0 * n);
    for (int32_t b = 0; b < n; b++) {
        const double x = uniform(&seed, 0, side), y = uniform(&seed, 0, side);
        const double z = uniform(&seed, 0, side), a = uniform(&seed, 0.5, 1);
        put_box(&s, x, y, z, a, a, a);
        end_body(&s, 0);
    }
    return s;
}

enum { MOST_BODIES = 10000 };

// Time of a call per body in s. *alone: of one scene called again and again. Returned: of as many
// scenes in turn as make MOST_BODIES, so that caches and branch predictors face the same amount of
// data whatever n is, as they do within a simulation that does more than find pairs.
static double measure_random(int32_t n, double* alone)
{
    enum { MOST = 10 };
    run runs[MOST];
    const int count = MOST_BODIES / n;
    need(count >= 1 && count <= MOST);
    for (int i = 0; i < count; i++) {
        scene s = random_boxes(n, (uint64_t)i);
        run_begin(&runs[i], &s, 0.01);
    }
    double best = HUGE_VAL;
    for (int round = 0; round <= rounds; round++) {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += run_once(&runs[i], round);
        }
        best = round > 0 && sum < best ? sum : best;
    }
    print_row("random boxes, scenes in turn", &runs[0], best / count);
    runs[0].best = HUGE_VAL;
    for (int round = 0; round <= rounds; round++) {
        run_once(&runs[0], round);
    }
    print_row("random boxes, one scene", &runs[0], runs[0].best);
    *alone = runs[0].best / n;
    for (int i = 0; i < count; i++) {
        run_end(&runs[i]);
    }
    return best / count / n;
}

static void line(const char* name, int axis)
{
    scene s = {0};
    for (int32_t b = 0; b < 10000; b++) {
        const double at = 1.005 * b;
        put_box(&s, axis == 0 ? at : 0, axis == 1 ? at : 0, axis == 2 ? at : 0, 1, 1, 1);
        end_body(&s, 0);
    }
    measure(name, &s, 0.01);
}

static void pile(const char* name, int side, int layers, int ground)
{
    scene s = {0};
    uint64_t seed = 3;
    if (ground) {
        put_box(&s, -1, -1, -1, side + 2, side + 2, 1);
        end_body(&s, CR_SURFACE_FIXED);
    }
    for (int b = 0; b < side * side * layers; b++) {
        put_box(&s, b % side + uniform(&seed, -0.01, 0.01),
                b / side % side + uniform(&seed, -0.01, 0.01), // NOLINT: whole rows
                b / side / side, 1, 1, 1);                     // NOLINT: whole layers
        end_body(&s, 0);
    }
    measure(name, &s, 0.02);
}

int main(int argc, char** argv)
{
    workers = argc > 1 ? atoi(argv[1]) : 1; // NOLINT: a benchmark's own argument
    rounds = argc > 2 ? atoi(argv[2]) : 15; // NOLINT
    printf("workers %d, best of %d warm calls\n", workers, rounds);
    printf("%-34s %7s %8s %9s %9s %9s %9s %9s\n", "scene", "bodies", "faces", "pairs", "build ms",
           "find ms", "ns/body", "ns/pair");
    double small_alone, large_alone;
    const double small = measure_random(1000, &small_alone);
    measure_random(2000, &large_alone);
    measure_random(5000, &large_alone);
    const double large = measure_random(MOST_BODIES, &large_alone);
    printf("cost per body, 10000 : 1000 bodies = %.2f in turn (has to stay below 1.5), %.2f of one "
           "scene\n",
           large / small, large_alone / small_alone);

    line("cubes in a line along x", 0);
    line("cubes in a line along y", 1);
    line("cubes in a line along z", 2);
    pile("pile 10 x 10 x 10 on the ground", 10, 10, 1);
    pile("plane 100 x 100 x 1 on the ground", 100, 1, 1);
    pile("towers 10 x 10 x 100", 10, 100, 0);

    scene s = {0};
    put_sheet(&s, 0, 0, 0, 0.01, 100, 0);
    end_body(&s, CR_SURFACE_SOFT);
    measure("cloth 100 x 100 itself, flat", &s, 0.0005);
    s = (scene){0};
    put_sheet(&s, 0, 0, 0, 0.01, 100, 0.01);
    end_body(&s, CR_SURFACE_SOFT);
    measure("cloth 100 x 100 itself, wavy", &s, 0.0005);
    s = (scene){0};
    put_sheet(&s, 0, 0, 0, 0.01, 100, 0.01);
    end_body(&s, 0);
    put_sheet(&s, 0, 0, 0.012, 0.01, 100, 0.01);
    end_body(&s, CR_SURFACE_FIXED);
    measure("mesh of 20k faces on another", &s, 0.001);

    s = (scene){0};
    put_sheet(&s, 0, 0, 0, 0.1, 300, 0.05);
    end_body(&s, CR_SURFACE_FIXED);
    uint64_t seed = 9;
    for (int b = 0; b < 1000; b++) {
        put_box(&s, uniform(&seed, 0, 29), uniform(&seed, 0, 29), 0.06, 0.2, 0.2, 0.2);
        end_body(&s, 0);
    }
    measure("1000 boxes on terrain of 180k", &s, 0.01);
    return 0;
}
