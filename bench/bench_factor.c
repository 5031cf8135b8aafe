// bench_factor.c - analyse, factor and solve on the matrices of stacks and sheets, beside CHOLMOD
// and conjugate gradients.
//
//     bench_factor [--seconds S] [--csv] [SCENE.json STEPS]...
//
// Of every scene so many steps are taken, and the largest matrix that a zone factored is kept, the
// last of its size. Without scenes: matrices of that pattern with random blocks. Every figure is
// the best of as many runs as fit the time (default 0.3 s), on one thread.
#include "math/block_factor.h"
#include "math/dense.h"
#include <carom/carom.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef BENCH_CHOLMOD
#include <cholmod.h>
#endif

typedef CR_ARRAY(int32_t) int_array;

static double budget = 0.3; // s
static int csv;             // a line of values for programs instead of a table

// Uniform in [least, most), the same on every machine.
static double random_in(uint64_t* seed, double least, double most)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return least + (most - least) * (double)(*seed >> 11) * 0x1p-53;
}

// Time this thread has computed, s: what else the machine does counts less than on a wall clock.
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ms of the best run of `expression`; runs shorter than the clock's own cost are timed together
#define BEST(expression)                                                                           \
    __extension__({                                                                                \
        double best = HUGE_VAL;                                                                    \
        int together = 1;                                                                          \
        const double until = now() + budget;                                                       \
        do {                                                                                       \
            const double begin = now();                                                            \
            for (int run = 0; run < together; run++) {                                             \
                expression;                                                                        \
            }                                                                                      \
            const double taken = now() - begin;                                                    \
            best = fmin(best, taken / together);                                                   \
            together = taken < 1e-4 ? 2 * together : together;                                     \
        } while (now() < until);                                                                   \
        1e3 * best;                                                                                \
    })

static void must(int condition, const char* what)
{
    if (!condition) {
        fprintf(stderr, "bench_factor: %s\n", what);
        exit(1);
    }
}

static void add_pair(int_array* pairs, int32_t i, int32_t j)
{
    must(cr_array_push(pairs, i) && cr_array_push(pairs, j), "no memory");
}

// A lower layer of boxes in a grid and an upper one, each box of which rests on four of the lower.
static int32_t stack_pairs(int32_t bodies, int_array* pairs)
{
    const int32_t side = (int32_t)(sqrt(0.5 * bodies) + 1.0);
    const int32_t lower = side * side;
    for (int32_t y = 0; y + 1 < side; y++) {
        for (int32_t x = 0; x + 1 < side; x++) {
            const int32_t upper = lower + y * (side - 1) + x;
            for (int32_t corner = 0; corner < 4; corner++) {
                add_pair(pairs, upper, (y + corner / 2) * side + x + corner % 2);
            }
        }
    }
    return lower + (side - 1) * (side - 1);
}

// A square sheet of triangles: edges, and the far corners of triangles that share an edge.
static int32_t sheet_pairs(int32_t side, int_array* pairs)
{
    static const int32_t step[6][2] = {{1, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 1}, {-1, 1}};
    for (int32_t y = 0; y < side; y++) {
        for (int32_t x = 0; x < side; x++) {
            for (int32_t k = 0; k < 6; k++) {
                const int32_t to_x = x + step[k][0], to_y = y + step[k][1];
                if (to_x >= 0 && to_x < side && to_y < side) {
                    add_pair(pairs, y * side + x, to_y * side + to_x);
                }
            }
        }
    }
    return side * side;
}

// Random blocks, the diagonal large enough for every row to dominate.
static void fill(cr_block_matrix* m)
{
    uint64_t seed = 7;
    for (int32_t j = 0; j < m->block_count; j++) {
        for (int32_t e = m->start.items[j]; e < m->start.items[j + 1]; e++) {
            const int32_t i = m->row.items[e];
            double* b = m->lower.items + m->place.items[e];
            const int32_t n = m->size.items[i] * m->size.items[j];
            for (int32_t v = 0; v < n; v++) {
                b[v] = random_in(&seed, -1.0, 1.0);
                if (!m->symmetric && i != j) {
                    m->upper.items[m->place.items[e] + v] = random_in(&seed, -1.0, 1.0);
                }
            }
            if (i != j) {
                continue;
            }
            for (int32_t r = 0; r < m->size.items[i]; r++) {
                for (int32_t c = 0; c < r && m->symmetric; c++) {
                    b[r * m->size.items[i] + c] = b[c * m->size.items[i] + r];
                }
                b[r * m->size.items[i] + r] = 120.0;
            }
        }
    }
}

static double residual(const cr_block_matrix* m, const double* x, const double* b, double* scratch)
{
    double most = 0.0;
    cr_block_matrix_apply(m, x, scratch);
    for (int32_t i = 0; i < m->scalar_count; i++) {
        most = fmax(most, fabs(scratch[i] - b[i]));
    }
    return most;
}

static void report(const char* family, const char* method, int32_t unknowns, double analyse,
                   double factor, double solve, double nonzeros, double flops, double residual)
{
    printf(csv ? "%s,%s,%d,%.6g,%.6g,%.6g,%.0f,%.6g,%.4g,%.3g\n"
               : "%-14s %-20s %8d %9.4f %9.4f %9.4f %10.0f %10.3g %8.2f %9.1e\n",
           family, method, (int)unknowns, analyse, factor, solve, nonzeros, flops,
           flops / factor * 1e-6, residual);
    fflush(stdout);
}

typedef carom_status factor_function(cr_block_factor* f, const cr_block_matrix* m);

// `work`: operations for each that Cholesky takes, 0 where they are not counted
static void bench_ours(const char* family, const char* method, factor_function* factor_by, int work,
                       cr_block_matrix* m, cr_block_matrix* other, double* b, double* x,
                       double* scratch)
{
    cr_block_factor* f = NULL;
    must(cr_block_factor_create(&f) == CAROM_OK, "no memory");
    // a different pattern in between, so that the analysis is not skipped
    const double analyse = BEST((cr_block_factor_analyse(f, other), cr_block_factor_analyse(f, m)));
    int good = 1;
    const double factor = BEST(good = good && factor_by(f, m) == CAROM_OK);
    must(good, "the matrix was refused");
    const size_t bytes = (size_t)m->scalar_count * sizeof *x;
    const double solve = BEST((memcpy(x, b, bytes), cr_block_factor_solve(f, x)));
    report(family, method, m->scalar_count, analyse, factor, solve,
           (double)cr_block_factor_nonzeros(f), cr_block_factor_flops(f) * work,
           residual(m, x, b, scratch));
    double* many = cr_memory_take(64 * (size_t)m->scalar_count, sizeof *many);
    must(many != NULL, "no memory");
    const double each = BEST(cr_block_factor_solve_many(f, 64, many)) / 64;
    if (!csv) {
        printf("%-14s %-20s %8s %9s %9s %9.4f\n", family, "  each of 64 at once", "", "", "", each);
    }
    cr_memory_free(many);
    cr_block_factor_destroy(f);
}

#ifdef BENCH_CHOLMOD
// The lower triangle as CHOLMOD wants it: compressed columns of scalars.
static cholmod_sparse* to_cholmod(const cr_block_matrix* m, cholmod_common* common)
{
    size_t most = (size_t)m->value_count;
    const size_t n = (size_t)m->scalar_count;
    cholmod_sparse* a = cholmod_allocate_sparse(n, n, most, 1, 1, -1, CHOLMOD_REAL, common);
    must(a != NULL, "no memory");
    int* start = a->p;
    int* row = a->i;
    double* value = a->x;
    int at = 0;
    for (int32_t j = 0; j < m->block_count; j++) {
        for (int32_t c = 0; c < m->size.items[j]; c++) {
            start[m->first.items[j] + c] = at;
            for (int32_t e = m->start.items[j]; e < m->start.items[j + 1]; e++) {
                const int32_t i = m->row.items[e];
                for (int32_t r = i == j ? c : 0; r < m->size.items[i]; r++) {
                    row[at] = m->first.items[i] + r;
                    value[at++] = m->lower.items[m->place.items[e] + r * m->size.items[j] + c];
                }
            }
        }
    }
    start[n] = at;
    return a;
}

static void bench_cholmod(const char* family, const char* method, int kind,
                          const cr_block_matrix* m, double* b, double* scratch)
{
    cholmod_common common;
    cholmod_start(&common);
    common.supernodal = kind;
    common.final_ll = 1;
    common.print = 0;
    cholmod_sparse* a = to_cholmod(m, &common);
    cholmod_factor* l = NULL;
    const double analyse =
        BEST((cholmod_free_factor(&l, &common), l = cholmod_analyze(a, &common)));
    must(l != NULL, "CHOLMOD did not analyse");
    const double flops = common.fl, nonzeros = common.lnz;
    const double factor = BEST(cholmod_factorize(a, l, &common));
    must(common.status == CHOLMOD_OK, "CHOLMOD refused the matrix");
    cholmod_dense rhs = {.nrow = (size_t)m->scalar_count,
                         .ncol = 1,
                         .nzmax = (size_t)m->scalar_count,
                         .d = (size_t)m->scalar_count,
                         .x = b,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
    cholmod_dense *x = NULL, *y = NULL, *e = NULL;
    const double solve = BEST(cholmod_solve2(CHOLMOD_A, l, &rhs, NULL, &x, NULL, &y, &e, &common));
    report(family, method, m->scalar_count, analyse, factor, solve, nonzeros, flops,
           residual(m, x->x, b, scratch));
    cholmod_free_dense(&x, &common);
    cholmod_free_dense(&y, &common);
    cholmod_free_dense(&e, &common);
    cholmod_free_factor(&l, &common);
    cholmod_free_sparse(&a, &common);
    cholmod_finish(&common);
}
#endif

// ---- without a factor: conjugate gradients, with the diagonal blocks solved for in each iteration

typedef struct gradients {
    const cr_block_matrix* m;
    double* block;                 // [36*block_count] the diagonal blocks, factored
    double *x, *r, *z, *p, *along; // [scalar_count]
    double least;                  // of |r| / |b|: where it ends
    int iterations;                // that it took
} gradients;

static double dot(int32_t n, const double* a, const double* b)
{
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void gradients_ready(gradients* g)
{
    const cr_block_matrix* m = g->m;
    for (int32_t i = 0; i < m->block_count; i++) {
        const size_t n = (size_t)m->size.items[i];
        memcpy(g->block + 36 * i, m->lower.items + m->place.items[m->start.items[i]],
               n * n * sizeof(double));
        must(cr_dense_cholesky((int32_t)n, g->block + 36 * i) == CAROM_OK, "no positive block");
    }
}

static void gradients_solve(gradients* g, const double* b)
{
    enum { MOST = 2000 };
    const cr_block_matrix* m = g->m;
    const int32_t n = m->scalar_count;
    double before = 0.0;
    memset(g->x, 0, (size_t)n * sizeof *g->x);
    memset(g->p, 0, (size_t)n * sizeof *g->p);
    memcpy(g->r, b, (size_t)n * sizeof *g->r);
    const double end = g->least * sqrt(dot(n, b, b));
    for (g->iterations = 0; g->iterations < MOST && sqrt(dot(n, g->r, g->r)) > end;
         g->iterations++) {
        memcpy(g->z, g->r, (size_t)n * sizeof *g->z);
        for (int32_t i = 0; i < m->block_count; i++) {
            cr_dense_cholesky_solve(m->size.items[i], g->block + 36 * i, g->z + m->first.items[i]);
        }
        const double rz = dot(n, g->r, g->z);
        for (int32_t i = 0; i < n; i++) {
            g->p[i] = g->z[i] + (g->iterations > 0 ? rz / before : 0.0) * g->p[i];
        }
        cr_block_matrix_apply(m, g->p, g->along);
        const double step = rz / dot(n, g->p, g->along);
        for (int32_t i = 0; i < n; i++) {
            g->x[i] += step * g->p[i];
            g->r[i] -= step * g->along[i];
        }
        before = rz;
    }
}

static void bench_gradients(const char* family, const cr_block_matrix* m, const double* b,
                            double* scratch)
{
    const size_t n = (size_t)m->scalar_count;
    double* all = cr_memory_take(5 * n, sizeof *all);
    gradients g = {.m = m,
                   .block = cr_memory_take(36 * (size_t)m->block_count, sizeof *g.block),
                   .x = all,
                   .r = all + n,
                   .z = all + 2 * n,
                   .p = all + 3 * n,
                   .along = all + 4 * n,
                   .least = 1e-12};
    must(all && g.block, "no memory");
    const double ready = BEST(gradients_ready(&g));
    const double solve = BEST(gradients_solve(&g, b));
    char method[32];
    snprintf(method, sizeof method, "CG (%d iterations)", g.iterations);
    report(family, method, m->scalar_count, 0.0, ready, solve, 0.0, 0.0,
           residual(m, g.x, b, scratch));
    cr_memory_free(all);
    cr_memory_free(g.block);
}

// All methods that can do with it; CHOLMOD and conjugate gradients where it is symmetric.
static void bench_matrix(const char* family, cr_block_matrix* m)
{
    cr_block_matrix one = {0};
    must(cr_block_matrix_build(&one, 1, m->size.items, 0, NULL, 1) == CAROM_OK, "no memory");
    double* b = cr_memory_take((size_t)m->scalar_count, sizeof *b);
    double* x = cr_memory_take((size_t)m->scalar_count, sizeof *x);
    double* scratch = cr_memory_take((size_t)m->scalar_count, sizeof *scratch);
    must(b && x && scratch, "no memory");
    uint64_t seed = 11;
    for (int32_t i = 0; i < m->scalar_count; i++) {
        b[i] = random_in(&seed, -1.0, 1.0);
    }
    if (m->symmetric) {
        bench_ours(family, "carom", cr_block_factor_cholesky, 1, m, &one, b, x, scratch);
        bench_gradients(family, m, b, scratch);
    } else {
        bench_ours(family, "carom LU", cr_block_factor_lu, 2, m, &one, b, x, scratch);
        bench_ours(family, "carom mixed", cr_block_factor_mixed, 0, m, &one, b, x, scratch);
    }
#ifdef BENCH_CHOLMOD
    if (m->symmetric) {
        bench_cholmod(family, "CHOLMOD simplicial", CHOLMOD_SIMPLICIAL, m, b, scratch);
        bench_cholmod(family, "CHOLMOD supernodal", CHOLMOD_SUPERNODAL, m, b, scratch);
    }
#endif
    cr_memory_free(b);
    cr_memory_free(x);
    cr_memory_free(scratch);
    cr_block_matrix_release(&one);
}

// A pattern with random blocks, symmetric and not.
static void bench_random(const char* family, int32_t is_sheet, int32_t count)
{
    int_array pairs = {0}, size = {0};
    const int32_t n = is_sheet ? sheet_pairs(count, &pairs) : stack_pairs(count, &pairs);
    for (int32_t i = 0; i < n; i++) {
        must(cr_array_push(&size, is_sheet ? 3 : 6), "no memory");
    }
    for (int symmetric = 1; symmetric >= 0; symmetric--) {
        cr_block_matrix m = {0};
        must(cr_block_matrix_build(&m, n, size.items, pairs.count / 2,
                                   (const int32_t(*)[2])pairs.items, symmetric) == CAROM_OK,
             "no memory");
        fill(&m);
        bench_matrix(family, &m);
        cr_block_matrix_release(&m);
    }
    cr_array_release(&pairs);
    cr_array_release(&size);
}

// ---- what zones factor. The linker sends their calls here first (-Wl,--wrap), so the library
// need not know of it.

static cr_block_matrix kept; // the largest so far, the last of its size

carom_status __real_cr_block_factor_cholesky(cr_block_factor* f, const cr_block_matrix* m);
carom_status __wrap_cr_block_factor_cholesky(cr_block_factor* f, const cr_block_matrix* m);
carom_status __real_cr_block_factor_lu(cr_block_factor* f, const cr_block_matrix* m);
carom_status __wrap_cr_block_factor_lu(cr_block_factor* f, const cr_block_matrix* m);
carom_status __real_cr_block_factor_mixed(cr_block_factor* f, const cr_block_matrix* m);
carom_status __wrap_cr_block_factor_mixed(cr_block_factor* f, const cr_block_matrix* m);

static int keeping;

static void keep(const cr_block_matrix* m)
{
    if (!keeping || m->scalar_count < kept.scalar_count) {
        return;
    }
    int_array pairs = {0};
    for (int32_t j = 0; j < m->block_count; j++) {
        for (int32_t e = m->start.items[j]; e < m->start.items[j + 1]; e++) {
            add_pair(&pairs, m->row.items[e], j);
        }
    }
    must(cr_block_matrix_build(&kept, m->block_count, m->size.items, pairs.count / 2,
                               (const int32_t(*)[2])pairs.items, m->symmetric) == CAROM_OK,
         "no memory");
    const size_t bytes = (size_t)m->value_count * sizeof(double);
    memcpy(kept.lower.items, m->lower.items, bytes);
    if (!m->symmetric) {
        memcpy(kept.upper.items, m->upper.items, bytes);
    }
    cr_array_release(&pairs);
}

carom_status __wrap_cr_block_factor_cholesky(cr_block_factor* f, const cr_block_matrix* m)
{
    keep(m);
    return __real_cr_block_factor_cholesky(f, m);
}

carom_status __wrap_cr_block_factor_lu(cr_block_factor* f, const cr_block_matrix* m)
{
    keep(m);
    return __real_cr_block_factor_lu(f, m);
}

carom_status __wrap_cr_block_factor_mixed(cr_block_factor* f, const cr_block_matrix* m)
{
    keep(m);
    return __real_cr_block_factor_mixed(f, m);
}

static void bench_scene(const char* path, int64_t steps)
{
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    carom_error error = {CAROM_OK, ""};
    must(carom_scene_load(path, &scene, &error) == CAROM_OK &&
             carom_model_create(scene, &model, &error) == CAROM_OK &&
             carom_sim_create(model, 1, &sim, &error) == CAROM_OK,
         error.message);
    keeping = 1;
    while (carom_sim_steps(sim) < steps) {
        must(carom_sim_step(sim, &error) == CAROM_OK, error.message);
    }
    keeping = 0;
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
    must(kept.scalar_count > 0, "no zone of this scene was large enough for a sparse factor");
    const char* name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char family[64];
    snprintf(family, sizeof family, "%.*s", (int)strcspn(name, "."), name);
    bench_matrix(family, &kept);
    cr_block_matrix_release(&kept);
    kept = (cr_block_matrix){0};
}

int main(int argc, char** argv)
{
    // the libraries read their number of threads when they are loaded
    if (!getenv("OPENBLAS_NUM_THREADS")) {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2")) { // which an older OpenBLAS may not notice by itself
            setenv("OPENBLAS_CORETYPE", __builtin_cpu_supports("avx512f") ? "SkylakeX" : "Haswell",
                   0);
        }
#endif
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
    int at = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--csv") == 0) {
            csv = 1;
        } else {
            must(strcmp(argv[at], "--seconds") == 0 && at + 1 < argc,
                 "usage: bench_factor [--seconds S] [--csv] [SCENE.json STEPS]...");
            budget = strtod(argv[++at], NULL);
        }
    }
    printf(csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
               : "%-14s %-20s %8s %9s %9s %9s %10s %10s %8s %9s\n",
           "matrix", "method", "unknowns", "analyse ms", "factor ms", "solve ms", "nnz(L)", "flops",
           "GFlop/s", "residual");
    if (at < argc) {
        must((argc - at) % 2 == 0, "every scene needs a number of steps");
        for (; at < argc; at += 2) {
            bench_scene(argv[at], strtol(argv[at + 1], NULL, 10));
        }
        return 0;
    }
    static const int stacks[] = {1, 5, 25, 100, 300, 1000, 4000}, sheets[] = {9, 33, 100};
    char family[64];
    for (int i = 0; i < (int)(sizeof stacks / sizeof *stacks); i++) {
        snprintf(family, sizeof family, "stack %d", stacks[i]);
        bench_random(family, 0, stacks[i]);
    }
    for (int i = 0; i < (int)(sizeof sheets / sizeof *sheets); i++) {
        snprintf(family, sizeof family, "sheet %dx%d", sheets[i], sheets[i]);
        bench_random(family, 1, sheets[i]);
    }
    return 0;
}
