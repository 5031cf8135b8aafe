// Sweeps solve what factors solve, both ways, to the last digits of the knot too, in rounds that do
// not grow with the matrix; and say so where they do not.
#include "check.h"
#include "math/block_sweep.h"
#include <stdlib.h>
#include <string.h>

// A sheet of side x side nodes, each joined to those within two of it along the rows and across,
// and `bodies` before and behind them.
typedef struct net {
    cr_block_matrix m;
    uint8_t* in_knot;
    int32_t nodes, first; // of the nodes
} net;

static int32_t pick(uint64_t* seed, int32_t count)
{
    return (int32_t)(check_random_bits(seed) % (uint64_t)count);
}

static void add_pair(int32_t (*pair)[2], int32_t* count, int32_t i, int32_t j)
{
    pair[*count][0] = i;
    pair[(*count)++][1] = j;
}

// Both blocks of an entry, by chance or, of a symmetric matrix, one.
static void add_random(cr_block_matrix* m, int32_t i, int32_t j, double size, uint64_t* seed)
{
    for (int way = 0; way < (m->symmetric ? 1 : 2); way++) {
        double b[36];
        for (int k = 0; k < 36; k++) {
            b[k] = check_random(seed, -size, size);
        }
        cr_block_matrix_add(m, way ? j : i, way ? i : j, b);
    }
}

// Nodes weigh 1; springs of the strength given join them; what bodies touch is held to them by
// springs that are `hold` times as stiff as a node is heavy.
static net make_net(int32_t side, int32_t bodies, int32_t touches, double spring, double hold,
                    int32_t symmetric, uint64_t* seed)
{
    net n = {.nodes = side * side, .first = bodies / 2};
    const int32_t count = n.nodes + bodies;
    int32_t(*pair)[2] = calloc((size_t)(8 * count + 2 * touches), sizeof *pair);
    int32_t* size = calloc((size_t)count, sizeof *size);
    int32_t(*touch)[2] = calloc((size_t)(touches + 1), sizeof *touch);
    int32_t pairs = 0;
    n.in_knot = calloc((size_t)count, 1);
    for (int32_t b = 0; b < count; b++) {
        const int is_node = b >= n.first && b < n.first + n.nodes;
        size[b] = is_node ? 3 : 6;
        n.in_knot[b] = !is_node;
    }
    for (int32_t y = 0; y < side; y++) {
        for (int32_t x = 0; x < side; x++) {
            for (int32_t d = 1; d <= 2; d++) {
                const int32_t at = n.first + y * side + x;
                if (x + d < side) {
                    add_pair(pair, &pairs, at, at + d);
                }
                if (y + d < side) {
                    add_pair(pair, &pairs, at + d * side, at);
                }
            }
        }
    }
    const int32_t woven = pairs;
    for (int32_t k = 0; k < touches && bodies > 0; k++) {
        const int32_t body = pick(seed, bodies);
        touch[k][0] = body < n.first ? body : body + n.nodes;
        touch[k][1] = n.first + pick(seed, n.nodes);
        n.in_knot[touch[k][1]] = 1;
        add_pair(pair, &pairs, touch[k][0], touch[k][1]);
    }
    CHECK(cr_block_matrix_build(&n.m, count, size, pairs, (const int32_t(*)[2])pair, symmetric) ==
          CAROM_OK);
    for (int32_t b = 0; b < count; b++) {
        double mass[36] = {0};
        for (int32_t k = 0; k < size[b]; k++) {
            mass[k * size[b] + k] = size[b] == 6 ? 1000.0 : 1.0;
        }
        cr_block_matrix_add(&n.m, b, b, mass);
    }
    for (int32_t k = 0; k < woven; k++) { // (x_i - x_j)^2 along a direction
        const int32_t i = pair[k][0], j = pair[k][1];
        double u[3], b[9], minus[9];
        for (int c = 0; c < 3; c++) {
            u[c] = check_random(seed, -1.0, 1.0);
        }
        for (int c = 0; c < 9; c++) {
            b[c] = spring * u[c / 3] * u[c % 3];
            minus[c] = -b[c];
        }
        cr_block_matrix_add(&n.m, i, i, b);
        cr_block_matrix_add(&n.m, j, j, b);
        cr_block_matrix_add(&n.m, i, j, minus);
        if (!symmetric) {
            cr_block_matrix_add(&n.m, j, i, minus);
        }
        add_random(&n.m, i, j, 0.02, seed); // so that no block is its own mirror image
    }
    for (int32_t k = 0; k < touches && bodies > 0; k++) { // hold a b^T of body and node together
        double a[9], b[9], part[36];
        for (int c = 0; c < 9; c++) {
            a[c] = check_random(seed, -1.0, 1.0);
            b[c] = symmetric ? a[c] : a[c] + check_random(seed, -0.1, 0.1);
        }
        const int32_t who[2] = {touch[k][0], touch[k][1]}, from[2] = {0, 6}, wide[2] = {6, 3};
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                if (symmetric && j > i) {
                    continue;
                }
                for (int c = 0; c < wide[i] * wide[j]; c++) {
                    part[c] = hold * a[from[i] + c / wide[j]] * b[from[j] + c % wide[j]];
                }
                cr_block_matrix_add(&n.m, who[i], who[j], part);
            }
        }
    }
    free(pair);
    free(size);
    free(touch);
    return n;
}

static void release_net(net* n)
{
    cr_block_matrix_release(&n->m);
    free(n->in_knot);
}

// The largest of what is left of each equation, relative to the sum of its parts' sizes; all, and
// of the knot alone.
static void left_over(const net* n, int transposed, const double* x, const double* b, double out[2])
{
    const int32_t count = n->m.scalar_count;
    double* y = calloc((size_t)count, sizeof *y);
    double* size = calloc((size_t)count, sizeof *size);
    const cr_block_matrix* m = &n->m;
    out[0] = out[1] = 0.0;
    transposed ? cr_block_matrix_apply_transposed(m, x, y) : cr_block_matrix_apply(m, x, y);
    for (int32_t j = 0; j < m->block_count; j++) {
        for (int32_t e = m->start.items[j]; e < m->start.items[j + 1]; e++) {
            const int32_t i = m->row.items[e], ni = m->size.items[i], nj = m->size.items[j];
            for (int32_t k = 0; k < ni * nj; k++) {
                const double lower = m->lower.items[m->place.items[e] + k];
                size[m->first.items[i] + k / nj] += fabs(lower * x[m->first.items[j] + k % nj]);
                size[m->first.items[j] + k % nj] += fabs(lower * x[m->first.items[i] + k / nj]);
            }
        }
    }
    for (int32_t k = 0; k < m->block_count; k++) {
        for (int32_t c = m->first.items[k]; c < m->first.items[k + 1]; c++) {
            const double left = fabs(y[c] - b[c]) / (size[c] + fabs(b[c]));
            out[0] = left <= out[0] ? out[0] : left;
            out[1] = !n->in_knot[k] || left <= out[1] ? out[1] : left;
        }
    }
    free(y);
    free(size);
}

static void test_solves_both_ways(void)
{
    uint64_t seed = 5;
    cr_block_sweep sweep = {0};
    for (int trial = 0; trial < 60; trial++) {
        const int symmetric = trial % 2, transposed = trial / 2 % 2;
        const int32_t bodies = pick(&seed, 4);
        net n = make_net(4 + pick(&seed, 12), bodies, pick(&seed, 12), trial % 3 ? 2.0 : 0.3,
                         trial % 5 ? 1e8 : 1.0, symmetric, &seed);
        const int32_t count = n.m.scalar_count;
        double* b = calloc((size_t)count, sizeof *b);
        double* x = calloc((size_t)count, sizeof *x);
        for (int32_t i = 0; i < count; i++) {
            x[i] = b[i] = check_random(&seed, -1.0, 1.0);
        }
        CHECK(cr_block_sweep_build(&sweep, &n.m, n.in_knot, NULL, transposed) == CAROM_OK);
        CHECK(cr_block_sweep_solve(&sweep, x, 0.0, 1e-15, 80) == CAROM_OK);
        double left[2];
        left_over(&n, transposed, x, b, left);
        CHECK_NEAR(left[1], 0.0, 1e-14); // the knot's equations are solved, not approached
        // what is stiff makes round-off of what is not, as with a factor; a second solve mends it
        double* r = calloc((size_t)count, sizeof *r);
        transposed ? cr_block_matrix_apply_transposed(&n.m, x, r)
                   : cr_block_matrix_apply(&n.m, x, r);
        for (int32_t i = 0; i < count; i++) {
            r[i] = b[i] - r[i];
        }
        CHECK(cr_block_sweep_solve(&sweep, r, 0.0, 1e-10, 80) == CAROM_OK);
        for (int32_t i = 0; i < count; i++) {
            x[i] += r[i];
        }
        left_over(&n, transposed, x, b, left);
        CHECK_NEAR(left[0], 0.0, 1e-13);
        free(r);
        free(b);
        free(x);
        release_net(&n);
    }
    cr_block_sweep_release(&sweep);
}

// As few as it can be asked for, or -1.
static int32_t rounds(cr_block_sweep* sweep, int32_t count, uint64_t seed)
{
    double* x = calloc((size_t)count, sizeof *x);
    int32_t least = -1;
    for (int32_t most = 1; most < 200 && least < 0; most++) {
        uint64_t draw = seed;
        for (int32_t i = 0; i < count; i++) {
            x[i] = check_random(&draw, -1.0, 1.0);
        }
        least = cr_block_sweep_solve(sweep, x, 0.0, 1e-12, most) == CAROM_OK ? most : -1;
    }
    free(x);
    return least;
}

static void test_rounds_do_not_grow(void)
{
    cr_block_sweep sweep = {0};
    int32_t found[3];
    const int32_t side[3] = {12, 24, 48};
    for (int i = 0; i < 3; i++) {
        uint64_t seed = 9;
        net n = make_net(side[i], 2, 6, 2.0, 1e6, 0, &seed);
        CHECK(cr_block_sweep_build(&sweep, &n.m, n.in_knot, NULL, 0) == CAROM_OK);
        found[i] = rounds(&sweep, n.m.scalar_count, 3);
        release_net(&n);
    }
    printf("  rounds for 12 digits: %d, %d, %d\n", found[0], found[1], found[2]);
    CHECK(found[0] > 0 && found[2] > 0);
    CHECK(found[1] <= found[0] + 3 && found[2] <= found[1] + 3);
    cr_block_sweep_release(&sweep);
}

// Loose solves stop early; what is small enough is left alone but for the knot.
static void test_stops_when_told(void)
{
    uint64_t seed = 4;
    cr_block_sweep sweep = {0};
    net n = make_net(10, 1, 4, 2.0, 1e4, 0, &seed);
    const int32_t count = n.m.scalar_count;
    double* x = calloc((size_t)count, sizeof *x);
    CHECK(cr_block_sweep_build(&sweep, &n.m, n.in_knot, NULL, 0) == CAROM_OK);
    for (int32_t i = 0; i < count; i++) {
        x[i] = 1.0;
    }
    CHECK(cr_block_sweep_solve(&sweep, x, 0.0, 1e-14, 5) == CAROM_ERR_NO_CONVERGENCE);
    for (int32_t i = 0; i < count; i++) {
        x[i] = 1.0;
    }
    CHECK(cr_block_sweep_solve(&sweep, x, 1e3, 0.0, 0) == CAROM_OK && sweep.tolerance == 1e3);
    for (int32_t k = 0; k < n.m.block_count; k++) {
        for (int32_t c = n.m.first.items[k]; c < n.m.first.items[k + 1]; c++) {
            CHECK((x[c] != 0.0) == (n.in_knot[k] != 0));
        }
    }
    release_net(&n);
    free(x);
    cr_block_sweep_release(&sweep);
}

static void test_refuses_what_it_cannot_solve(void)
{
    uint64_t seed = 6;
    cr_block_sweep sweep = {0};
    const double bad[] = {-1.0, 0.0, (double)NAN};
    for (int i = 0; i < 3; i++) { // a node without mass or springs, and one that is not a number
        net n = make_net(6, 0, 0, 1.0, 0.0, 1, &seed);
        double* d = n.m.lower.items + n.m.place.items[n.m.start.items[7]];
        for (int k = 0; k < 9 && i > 0; k++) {
            d[k] = bad[i];
        }
        for (int k = 0; k < 9 && i == 0; k += 4) {
            d[k] = -20.0 * d[k]; // far from positive: rounds lead nowhere, or to the solution
        }
        double x[108] = {1.0}, left[2];
        carom_status status = cr_block_sweep_build(&sweep, &n.m, n.in_knot, NULL, 0);
        CHECK((status == CAROM_ERR_NOT_POSITIVE) == (i > 0));
        if (status == CAROM_OK && cr_block_sweep_solve(&sweep, x, 0.0, 1e-12, 400) == CAROM_OK) {
            const double b[108] = {1.0};
            left_over(&n, 0, x, b, left);
            CHECK_NEAR(left[0], 0.0, 1e-8);
        }
        release_net(&n);
    }
    cr_block_sweep_release(&sweep);
}

// Wherever it stands, in the knot or not.
static void test_no_nan_gets_through(void)
{
    uint64_t seed = 8;
    cr_block_sweep sweep = {0};
    net n = make_net(6, 1, 3, 2.0, 1e4, 0, &seed);
    CHECK(cr_block_sweep_build(&sweep, &n.m, n.in_knot, NULL, 0) == CAROM_OK);
    for (int32_t i = 0; i < n.m.scalar_count; i++) {
        double x[6 * 6 * 3 + 6] = {0};
        x[i] = (double)NAN;
        CHECK(cr_block_sweep_solve(&sweep, x, 1e3, 1e-8, 50) == CAROM_ERR_NO_CONVERGENCE);
    }
    release_net(&n);
    cr_block_sweep_release(&sweep);
}

int main(void)
{
    RUN(test_solves_both_ways);
    RUN(test_rounds_do_not_grow);
    RUN(test_stops_when_told);
    RUN(test_refuses_what_it_cannot_solve);
    RUN(test_no_nan_gets_through);
    return check_failures != 0;
}
