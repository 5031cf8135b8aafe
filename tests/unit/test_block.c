#include "check.h"
#include "math/block_factor.h"
#include "math/block_kernel.h"
#include "math/dense.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { most_blocks = 60, most_scalars = 6 * most_blocks, most_pairs = 6 * most_blocks };

typedef struct pattern {
    int32_t block_count, pair_count;
    int32_t size[most_blocks];
    int32_t pair[most_pairs][2];
} pattern;

static double dense[most_scalars * most_scalars]; // the matrix under test, row-major
static double reference[most_scalars * most_scalars];

static int32_t pick(uint64_t* seed, int32_t count)
{
    return (int32_t)(check_random_bits(seed) % (uint64_t)count);
}

// Bodies, nodes, or blocks of every size; from a diagonal to nearly full; repeats and both orders.
static pattern random_pattern(uint64_t* seed)
{
    pattern p = {.block_count = 1 + pick(seed, most_blocks)};
    const int32_t sizes = pick(seed, 3);
    for (int32_t i = 0; i < p.block_count; i++) {
        p.size[i] = sizes == 0 ? 6 : sizes == 1 ? 3 : 1 + pick(seed, 6);
    }
    p.pair_count = pick(seed, 6 * p.block_count);
    const int32_t reach = 1 + pick(seed, p.block_count);
    for (int32_t k = 0; k < p.pair_count; k++) {
        p.pair[k][0] = pick(seed, p.block_count);
        p.pair[k][1] = (p.pair[k][0] + pick(seed, reach)) % p.block_count;
    }
    return p;
}

static void build(cr_block_matrix* m, const pattern* p, int32_t symmetric)
{
    CHECK(cr_block_matrix_build(m, p->block_count, p->size, p->pair_count,
                                (const int32_t(*)[2])p->pair, symmetric) == CAROM_OK);
}

// Adds b at block (i,j) of the matrix and of its dense twin.
static void add(cr_block_matrix* m, int32_t i, int32_t j, const double* b)
{
    const int32_t n = m->scalar_count;
    cr_block_matrix_add(m, i, j, b);
    for (int32_t r = 0; r < m->size.items[i]; r++) {
        for (int32_t c = 0; c < m->size.items[j]; c++) {
            const int32_t row = m->first.items[i] + r, column = m->first.items[j] + c;
            dense[row * n + column] += b[r * m->size.items[j] + c];
            if (m->symmetric && i != j) {
                dense[column * n + row] += b[r * m->size.items[j] + c];
            }
        }
    }
}

// Random blocks everywhere in the pattern, each given from a random side; `diagonal` is added to
// the diagonal.
static void fill(cr_block_matrix* m, uint64_t* seed, double diagonal)
{
    cr_block_matrix_zero(m);
    memset(dense, 0, sizeof dense);
    for (int32_t j = 0; j < m->block_count; j++) {
        for (int32_t e = m->start.items[j]; e < m->start.items[j + 1]; e++) {
            const int32_t i = m->row.items[e];
            const int32_t n = m->size.items[i] * m->size.items[j];
            double b[36];
            for (int32_t k = 0; k < n; k++) {
                b[k] = check_random(seed, -1.0, 1.0);
            }
            for (int32_t r = 0; i == j && r < m->size.items[i]; r++) {
                for (int32_t c = 0; m->symmetric && c < r; c++) {
                    b[r * m->size.items[i] + c] = b[c * m->size.items[i] + r];
                }
                b[r * m->size.items[i] + r] += diagonal;
            }
            const int turned = pick(seed, 2);
            add(m, turned ? j : i, turned ? i : j, b);
            if (!m->symmetric && i != j) {
                for (int32_t k = 0; k < n; k++) {
                    b[k] = check_random(seed, -1.0, 1.0);
                }
                add(m, turned ? i : j, turned ? j : i, b);
            }
        }
    }
}

static void random_vector(int32_t n, uint64_t* seed, double* x)
{
    for (int32_t i = 0; i < n; i++) {
        x[i] = check_random(seed, -1.0, 1.0);
    }
}

static double distance(int32_t n, const double* a, const double* b)
{
    double most = 0.0;
    for (int32_t i = 0; i < n; i++) {
        const double d = fabs(a[i] - b[i]);
        most = d <= most ? most : d; // a NaN stays
    }
    return most;
}

static cr_block_factor* make_factor(void)
{
    cr_block_factor* f = NULL;
    CHECK(cr_block_factor_create(&f) == CAROM_OK);
    return f;
}

static void test_matrix_is_its_dense_twin(void)
{
    uint64_t seed = 1;
    for (int trial = 0; trial < 100; trial++) {
        const pattern p = random_pattern(&seed);
        cr_block_matrix m = {0};
        build(&m, &p, trial % 2);
        fill(&m, &seed, 0.0);
        int32_t found = 0;
        for (int32_t j = 0; j < m.block_count; j++) {
            CHECK(m.row.items[m.start.items[j]] == j);
            for (int32_t e = m.start.items[j]; e < m.start.items[j + 1]; e++) {
                CHECK(e == m.start.items[j] || m.row.items[e - 1] < m.row.items[e]);
                CHECK(cr_block_matrix_find(&m, m.row.items[e], j) == e);
                CHECK(cr_block_matrix_find(&m, j, m.row.items[e]) == e);
            }
            for (int32_t i = j; i < m.block_count; i++) {
                found += cr_block_matrix_find(&m, i, j) >= 0;
            }
        }
        CHECK(found == m.entry_count);
        for (int32_t k = 0; k < p.pair_count; k++) {
            CHECK(cr_block_matrix_find(&m, p.pair[k][0], p.pair[k][1]) >= 0);
        }
        const int32_t n = m.scalar_count;
        double x[most_scalars], y[most_scalars], z[most_scalars];
        random_vector(n, &seed, x);
        for (int transposed = 0; transposed < 2; transposed++) {
            if (transposed) {
                cr_block_matrix_apply_transposed(&m, x, y);
            } else {
                cr_block_matrix_apply(&m, x, y);
            }
            for (int32_t i = 0; i < n; i++) {
                z[i] = 0.0;
                for (int32_t j = 0; j < n; j++) {
                    z[i] += (transposed ? dense[j * n + i] : dense[i * n + j]) * x[j];
                }
            }
            CHECK_NEAR(distance(n, y, z), 0.0, 1e-12);
        }
        cr_block_matrix_release(&m);
    }
}

static void test_cholesky_solves_as_dense_does(void)
{
    uint64_t seed = 2;
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0};
    for (int trial = 0; trial < 150; trial++) {
        const pattern p = random_pattern(&seed);
        build(&m, &p, 1);
        fill(&m, &seed, 60.0);
        const int32_t n = m.scalar_count;
        double b[most_scalars], x[most_scalars], y[most_scalars];
        random_vector(n, &seed, b);
        memcpy(x, b, sizeof x);
        memcpy(y, b, sizeof y);
        CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
        CHECK(cr_block_factor_cholesky(f, &m) == CAROM_OK);
        cr_block_factor_solve(f, x);
        memcpy(reference, dense, sizeof reference);
        CHECK(cr_dense_cholesky(n, reference) == CAROM_OK);
        cr_dense_cholesky_solve(n, reference, y);
        CHECK_NEAR(distance(n, x, y), 0.0, 1e-14);
        CHECK(check_backward_error(n, dense, 0, x, b) < 1e-14);
        memcpy(x, b, sizeof x);
        cr_block_factor_solve_transposed(f, x);
        CHECK(check_backward_error(n, dense, 0, x, b) < 1e-14);
        CHECK(cr_block_factor_nonzeros(f) >= n && cr_block_factor_flops(f) >= n);
    }
    cr_block_matrix_release(&m);
    cr_block_factor_destroy(f);
}

// Factors the matrix, whose numbers stand in dense too, and solves with it and its transpose.
static void check_lu(cr_block_factor* f, const cr_block_matrix* m, uint64_t* seed)
{
    const int32_t n = m->scalar_count;
    CHECK(cr_block_factor_analyse(f, m) == CAROM_OK);
    CHECK(cr_block_factor_lu(f, m) == CAROM_OK);
    for (int transposed = 0; transposed < 2; transposed++) {
        double b[most_scalars], x[most_scalars];
        random_vector(n, seed, b);
        memcpy(x, b, sizeof x);
        if (transposed) {
            cr_block_factor_solve_transposed(f, x);
        } else {
            cr_block_factor_solve(f, x);
        }
        CHECK(check_backward_error(n, dense, transposed, x, b) < 1e-12);
    }
}

// The diagonal here does not dominate; exchanges inside supernodes are needed and are enough.
static void test_lu_solves_both_ways(void)
{
    uint64_t seed = 3;
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0};
    for (int trial = 0; trial < 150; trial++) {
        const pattern p = random_pattern(&seed);
        build(&m, &p, trial % 5 == 0); // a symmetric matrix may be given to LU as well
        fill(&m, &seed, trial % 2 ? 30.0 : 8.0);
        check_lu(f, &m, &seed);
    }
    cr_block_matrix_release(&m);
    cr_block_factor_destroy(f);
}

// An unsymmetric matrix whose numbers are symmetric but for `odd` random entries.
static void fill_nearly_symmetric(cr_block_matrix* m, uint64_t* seed, double diagonal, int32_t odd)
{
    cr_block_matrix_zero(m);
    memset(dense, 0, sizeof dense);
    for (int32_t j = 0; j < m->block_count; j++) {
        for (int32_t e = m->start.items[j]; e < m->start.items[j + 1]; e++) {
            const int32_t i = m->row.items[e], ni = m->size.items[i], nj = m->size.items[j];
            double b[36], mirror[36];
            for (int32_t k = 0; k < ni * nj; k++) {
                const int32_t r = k / nj, c = k % nj;
                b[k] = i == j && c < r ? b[c * nj + r] : check_random(seed, -1.0, 1.0);
                b[k] += i == j && r == c ? diagonal : 0.0;
                mirror[c * ni + r] = b[k];
            }
            add(m, i, j, b);
            if (i != j) {
                add(m, j, i, mirror);
            }
        }
    }
    for (int32_t k = 0; k < odd; k++) {
        const int32_t j = pick(seed, m->block_count);
        const int32_t count = m->start.items[j + 1] - m->start.items[j];
        const int32_t i = m->row.items[m->start.items[j] + pick(seed, count)];
        double b[36] = {0};
        b[pick(seed, m->size.items[i] * m->size.items[j])] = check_random(seed, 0.5, 1.0);
        add(m, i, j, b);
    }
}

static void solve_both_ways(cr_block_factor* f, int32_t n, const double* b, double* x)
{
    memcpy(x, b, (size_t)n * sizeof *x);
    cr_block_factor_solve(f, x);
    memcpy(x + n, b, (size_t)n * sizeof *x);
    cr_block_factor_solve_transposed(f, x + n);
}

// Few entries that are odd, all of them and none; the first to be eliminated and the last.
static void test_mixed_solves_both_ways(void)
{
    uint64_t seed = 14;
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0};
    for (int trial = 0; trial < 300; trial++) {
        const pattern p = random_pattern(&seed);
        build(&m, &p, 0);
        fill_nearly_symmetric(&m, &seed, 60.0, pick(&seed, trial % 3 ? 4 : 60));
        const int32_t n = m.scalar_count;
        double b[most_scalars], x[2 * most_scalars], many[16 * most_scalars];
        random_vector(n, &seed, b);
        CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
        CHECK(cr_block_factor_mixed(f, &m) == CAROM_OK);
        solve_both_ways(f, n, b, x);
        for (int transposed = 0; transposed < 2; transposed++) {
            CHECK(check_backward_error(n, dense, transposed, x + transposed * n, b) < 1e-14);
            for (int32_t k = 0; k < 16; k++) {
                memcpy(many + k * n, b, (size_t)n * sizeof *b);
            }
            if (transposed) {
                cr_block_factor_solve_transposed_many(f, 16, many);
            } else {
                cr_block_factor_solve_many(f, 16, many);
            }
            CHECK(check_backward_error(n, dense, transposed, many + 15 * n, b) < 1e-14);
        }
    }
    cr_block_matrix_release(&m);
    cr_block_factor_destroy(f);
}

// To the last bit Cholesky's where nothing is odd, LU's where the symmetric part is not positive.
static void test_mixed_is_one_or_the_other(void)
{
    uint64_t seed = 15;
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0}, twin = {0};
    for (int trial = 0; trial < 100; trial++) {
        const pattern p = random_pattern(&seed);
        const int positive = trial % 2;
        build(&m, &p, 0);
        build(&twin, &p, positive);
        fill_nearly_symmetric(&m, &seed, 60.0, 0);
        if (!positive) {
            m.lower.items[m.place.items[m.start.items[pick(&seed, p.block_count)]]] = -60.0;
            memcpy(twin.upper.items, m.upper.items, (size_t)m.value_count * sizeof(double));
        }
        memcpy(twin.lower.items, m.lower.items, (size_t)m.value_count * sizeof(double));
        const int32_t n = m.scalar_count;
        double b[most_scalars], x[2 * most_scalars], y[2 * most_scalars];
        random_vector(n, &seed, b);
        CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
        CHECK(cr_block_factor_mixed(f, &m) == CAROM_OK);
        solve_both_ways(f, n, b, x);
        CHECK(cr_block_factor_analyse(f, &twin) == CAROM_OK);
        CHECK((positive ? cr_block_factor_cholesky(f, &twin) : cr_block_factor_lu(f, &twin)) ==
              CAROM_OK);
        solve_both_ways(f, n, b, y);
        CHECK(memcmp(x, y, 2 * (size_t)n * sizeof *x) == 0);
    }
    cr_block_matrix_release(&m);
    cr_block_matrix_release(&twin);
    cr_block_factor_destroy(f);
}

// W + (A^T - mu T^T) A / eps, as sliding contacts between bodies give it: W the masses, A the
// normal of a contact at its two bodies, T a tangent.
static void test_lu_of_stiff_sliding_contacts(void)
{
    uint64_t seed = 4;
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0};
    for (int trial = 0; trial < 60; trial++) {
        const pattern p = random_pattern(&seed);
        build(&m, &p, 0);
        memset(dense, 0, sizeof dense);
        for (int32_t i = 0; i < p.block_count; i++) {
            double w[36] = {0};
            for (int32_t k = 0; k < p.size[i]; k++) {
                w[k * p.size[i] + k] = check_random(&seed, 0.5, 2.0);
            }
            add(&m, i, i, w);
        }
        const double mu = check_random(&seed, 0.0, 0.8);
        for (int32_t c = 0; c < p.pair_count; c++) {
            double a[2][6], t[2][6];
            for (int32_t side = 0; side < 2; side++) {
                random_vector(6, &seed, a[side]);
                random_vector(6, &seed, t[side]);
            }
            const int32_t sides = p.pair[c][0] == p.pair[c][1] ? 1 : 2;
            for (int32_t r = 0; r < sides; r++) {
                for (int32_t s = 0; s < sides; s++) {
                    const int32_t i = p.pair[c][r], j = p.pair[c][s];
                    double b[36];
                    for (int32_t k = 0; k < p.size[i] * p.size[j]; k++) {
                        const int32_t row = k / p.size[j], column = k % p.size[j];
                        b[k] = 1e5 * (a[r][row] - mu * t[r][row]) * a[s][column];
                    }
                    add(&m, i, j, b);
                }
            }
        }
        check_lu(f, &m, &seed);
    }
    cr_block_matrix_release(&m);
    cr_block_factor_destroy(f);
}

// M + G^T G / eps with fewer rows of G than unknowns: condition 1e10, and still a small residual.
static void test_ill_conditioned_is_backward_stable(void)
{
    uint64_t seed = 5;
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0};
    for (int trial = 0; trial < 40; trial++) {
        const pattern p = random_pattern(&seed);
        build(&m, &p, 1);
        memset(dense, 0, sizeof dense);
        for (int32_t i = 0; i < p.block_count; i++) {
            double w[36] = {0};
            for (int32_t k = 0; k < p.size[i]; k++) {
                w[k * p.size[i] + k] = 1.0;
            }
            add(&m, i, i, w);
        }
        for (int32_t c = 0; c < p.pair_count; c++) {
            double g[2][6], b[36];
            random_vector(12, &seed, g[0]);
            const int32_t sides = p.pair[c][0] == p.pair[c][1] ? 1 : 2;
            for (int32_t r = 0; r < sides; r++) {
                for (int32_t s = 0; s <= r; s++) { // each off-diagonal block once
                    const int32_t i = p.pair[c][r], j = p.pair[c][s];
                    for (int32_t k = 0; k < p.size[i] * p.size[j]; k++) {
                        b[k] = 1e10 * g[r][k / p.size[j]] * g[s][k % p.size[j]];
                    }
                    add(&m, i, j, b);
                }
            }
        }
        const int32_t n = m.scalar_count;
        double b[most_scalars], x[most_scalars];
        random_vector(n, &seed, b);
        memcpy(x, b, sizeof x);
        CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
        CHECK(cr_block_factor_cholesky(f, &m) == CAROM_OK);
        cr_block_factor_solve(f, x);
        CHECK(check_backward_error(n, dense, 0, x, b) < 1e-14);
    }
    cr_block_matrix_release(&m);
    cr_block_factor_destroy(f);
}

static void test_many_right_hand_sides(void)
{
    uint64_t seed = 12;
    static double many[20 * most_scalars], one[most_scalars];
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0};
    for (int trial = 0; trial < 60; trial++) {
        const pattern p = random_pattern(&seed);
        const int symmetric = trial % 3 == 0;
        build(&m, &p, symmetric);
        fill(&m, &seed, 20.0 + 40.0 * symmetric);
        const int32_t n = m.scalar_count, count = pick(&seed, 20);
        CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
        CHECK((symmetric ? cr_block_factor_cholesky(f, &m) : cr_block_factor_lu(f, &m)) ==
              CAROM_OK);
        for (int transposed = 0; transposed < 2; transposed++) {
            const uint64_t kept = seed;
            random_vector(n * count, &seed, many);
            if (transposed) {
                cr_block_factor_solve_transposed_many(f, count, many);
            } else {
                cr_block_factor_solve_many(f, count, many);
            }
            uint64_t again = kept;
            for (int32_t k = 0; k < count; k++) {
                random_vector(n, &again, one);
                CHECK(check_backward_error(n, dense, transposed, many + k * n, one) < 1e-12);
            }
        }
    }
    cr_block_matrix_release(&m);
    cr_block_factor_destroy(f);
}

// The same matrix with its blocks numbered differently has the same solution.
static void test_numbering_does_not_matter(void)
{
    uint64_t seed = 6;
    for (int trial = 0; trial < 30; trial++) {
        const pattern p = random_pattern(&seed);
        int32_t to[most_blocks];
        for (int32_t i = 0; i < p.block_count; i++) {
            const int32_t k = pick(&seed, i + 1);
            to[i] = to[k];
            to[k] = i;
        }
        pattern q = p;
        for (int32_t i = 0; i < p.block_count; i++) {
            q.size[to[i]] = p.size[i];
        }
        for (int32_t k = 0; k < p.pair_count; k++) {
            q.pair[k][0] = to[p.pair[p.pair_count - 1 - k][1]];
            q.pair[k][1] = to[p.pair[p.pair_count - 1 - k][0]];
        }
        cr_block_matrix a = {0}, b = {0};
        build(&a, &p, 0);
        build(&b, &q, 0);
        CHECK(a.entry_count == b.entry_count);
        fill(&a, &seed, 40.0);
        double x[most_scalars], y[most_scalars];
        random_vector(a.scalar_count, &seed, x);
        for (int32_t i = 0; i < p.block_count; i++) {
            for (int32_t j = 0; j < p.block_count; j++) {
                double block[36];
                for (int32_t k = 0; k < p.size[i] * p.size[j]; k++) {
                    block[k] = dense[(a.first.items[i] + k / p.size[j]) * a.scalar_count +
                                     a.first.items[j] + k % p.size[j]];
                }
                if (cr_block_matrix_find(&a, i, j) >= 0) {
                    cr_block_matrix_add(&b, to[i], to[j], block);
                }
            }
            for (int32_t k = 0; k < p.size[i]; k++) {
                y[b.first.items[to[i]] + k] = x[a.first.items[i] + k];
            }
        }
        cr_block_factor* f = make_factor();
        CHECK(cr_block_factor_analyse(f, &a) == CAROM_OK && cr_block_factor_lu(f, &a) == CAROM_OK);
        cr_block_factor_solve(f, x);
        CHECK(cr_block_factor_analyse(f, &b) == CAROM_OK && cr_block_factor_lu(f, &b) == CAROM_OK);
        cr_block_factor_solve(f, y);
        for (int32_t i = 0; i < p.block_count; i++) {
            for (int32_t k = 0; k < p.size[i]; k++) {
                CHECK_NEAR(x[a.first.items[i] + k], y[b.first.items[to[i]] + k], 1e-13);
            }
        }
        cr_block_factor_destroy(f);
        cr_block_matrix_release(&a);
        cr_block_matrix_release(&b);
    }
}

static void test_refuses_what_has_no_factor(void)
{
    uint64_t seed = 7;
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0};
    for (int trial = 0; trial < 200; trial++) {
        const pattern p = random_pattern(&seed);
        const int symmetric = trial % 2;
        build(&m, &p, symmetric);
        fill(&m, &seed, 60.0);
        CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
        const int32_t victim = pick(&seed, p.block_count);
        const int32_t size = p.size[victim];
        double* d = m.lower.items + m.place.items[m.start.items[victim]];
        double kept[36];
        memcpy(kept, d, (size_t)(size * size) * sizeof *d);
        switch (trial / 2 % 4) {
        case 0: // indefinite; an LU does not mind
            d[0] = -60.0;
            break;
        case 1: // a row and a column of zeros
            for (int32_t e = 0; e < m.entry_count; e++) {
                memset(m.lower.items + m.place.items[e], 0,
                       (size_t)(m.place.items[e + 1] - m.place.items[e]) * sizeof *d);
            }
            break;
        case 2:
            d[0] = (double)NAN;
            break;
        default:
            d[size * size - 1] = (double)INFINITY;
            break;
        }
        if (symmetric) {
            CHECK(cr_block_factor_cholesky(f, &m) == CAROM_ERR_NOT_POSITIVE);
        } else if (trial / 2 % 4 != 0) {
            CHECK(cr_block_factor_lu(f, &m) == CAROM_ERR_NOT_POSITIVE);
            CHECK(cr_block_factor_mixed(f, &m) == CAROM_ERR_NOT_POSITIVE);
        }
        // and the next matrix is none the worse for it
        fill(&m, &seed, 60.0);
        double b[most_scalars], x[most_scalars];
        random_vector(m.scalar_count, &seed, b);
        memcpy(x, b, sizeof x);
        CHECK((symmetric ? cr_block_factor_cholesky(f, &m) : cr_block_factor_lu(f, &m)) ==
              CAROM_OK);
        cr_block_factor_solve(f, x);
        CHECK(check_backward_error(m.scalar_count, dense, 0, x, b) < 1e-12);
    }
    cr_block_matrix_release(&m);
    cr_block_factor_destroy(f);
}

// Two bodies held together by springs alone: [K -K; -K K] may move as one, so there is no factor.
static void test_refuses_free_motion(void)
{
    uint64_t seed = 13;
    cr_block_factor* f = make_factor();
    for (int trial = 0; trial < 50; trial++) {
        const int32_t size = 1 + trial % 6;
        const pattern p = {2, 1, {size, size}, {{0, 1}}};
        cr_block_matrix m = {0};
        build(&m, &p, trial % 2);
        double k[36], minus[36];
        for (int32_t i = 0; i < size * size; i++) {
            const int32_t r = i / size, c = i % size;
            k[i] = r == c ? check_random(&seed, 4.0, 8.0) : check_random(&seed, -1.0, 1.0);
            k[i] = r > c ? k[c * size + r] : k[i];
        }
        for (int32_t i = 0; i < size * size; i++) {
            minus[i] = -k[i];
        }
        cr_block_matrix_add(&m, 0, 0, k);
        cr_block_matrix_add(&m, 1, 1, k);
        cr_block_matrix_add(&m, 1, 0, minus);
        if (!m.symmetric) {
            cr_block_matrix_add(&m, 0, 1, minus);
        }
        CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
        CHECK((m.symmetric ? cr_block_factor_cholesky(f, &m) : cr_block_factor_lu(f, &m)) ==
              CAROM_ERR_NOT_POSITIVE);
        cr_block_matrix_release(&m);
    }
    cr_block_factor_destroy(f);
}

// A NaN anywhere in the triangles that are read is found.
static void test_no_nan_gets_through(void)
{
    uint64_t seed = 8;
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0};
    for (int trial = 0; trial < 300; trial++) {
        const pattern p = random_pattern(&seed);
        const int symmetric = trial % 2;
        build(&m, &p, symmetric);
        fill(&m, &seed, 60.0);
        CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
        const int32_t j = pick(&seed, p.block_count);
        const int32_t e = m.start.items[j] + pick(&seed, m.start.items[j + 1] - m.start.items[j]);
        const int32_t i = m.row.items[e];
        int32_t at = m.place.items[e] + pick(&seed, m.place.items[e + 1] - m.place.items[e]);
        if (i == j) { // of a symmetric matrix the lower triangle of a diagonal block is read
            at = m.place.items[e] + (p.size[i] - 1) * p.size[i];
        }
        (symmetric || i == j || pick(&seed, 2) ? m.lower.items : m.upper.items)[at] = (double)NAN;
        CHECK((symmetric ? cr_block_factor_cholesky(f, &m) : cr_block_factor_lu(f, &m)) ==
              CAROM_ERR_NOT_POSITIVE);
        CHECK(symmetric || cr_block_factor_mixed(f, &m) == CAROM_ERR_NOT_POSITIVE);
    }
    cr_block_matrix_release(&m);
    cr_block_factor_destroy(f);
}

static void test_warm_use_takes_no_memory(void)
{
    uint64_t seed = 9;
    pattern p[8];
    cr_block_factor* f = make_factor();
    cr_block_matrix m = {0};
    for (int k = 0; k < 8; k++) {
        p[k] = random_pattern(&seed);
    }
    int64_t before = 0;
    double x[most_scalars];
    for (int round = 0; round < 3; round++) {
        before = round == 2 ? cr_memory_calls() : before;
        for (int k = 0; k < 8; k++) {
            build(&m, &p[k], 0);
            fill(&m, &seed, 60.0);
            random_vector(m.scalar_count, &seed, x);
            for (int again = 0; again < 2; again++) {
                CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
                CHECK(cr_block_factor_cholesky(f, &m) == CAROM_OK || 1);
                CHECK(cr_block_factor_lu(f, &m) == CAROM_OK);
                CHECK(cr_block_factor_mixed(f, &m) == CAROM_OK);
                cr_block_factor_solve(f, x);
                cr_block_factor_solve_transposed(f, x);
                cr_block_factor_solve_many(f, 1, x);
            }
        }
    }
    CHECK(cr_memory_calls() == before);
    cr_block_matrix_release(&m);
    cr_block_factor_destroy(f);
}

static carom_status whole_path(const pattern* p, uint64_t* seed, double* x)
{
    cr_block_matrix m = {0};
    cr_block_factor* f = NULL;
    carom_status status = cr_block_matrix_build(&m, p->block_count, p->size, p->pair_count,
                                                (const int32_t(*)[2])p->pair, 0);
    if (status == CAROM_OK) {
        fill(&m, seed, 60.0);
        status = cr_block_factor_create(&f);
    }
    if (status == CAROM_OK) {
        status = cr_block_factor_analyse(f, &m);
    }
    if (status == CAROM_OK) {
        status = cr_block_factor_lu(f, &m);
    }
    if (status == CAROM_OK) {
        cr_block_factor_solve(f, x);
    }
    cr_block_factor_destroy(f);
    cr_block_matrix_release(&m);
    return status;
}

static void test_survives_refused_memory(void)
{
    uint64_t seed = 10;
    const pattern p = random_pattern(&seed);
    double x[most_scalars] = {0};
    int refused = 0;
    carom_status status = CAROM_ERR_MEMORY;
    for (int n = 1; n < 200 && status != CAROM_OK; n++) {
        cr_memory_fail_after(n);
        status = whole_path(&p, &seed, x);
        cr_memory_fail_after(0);
        CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
        refused += status != CAROM_OK;
    }
    CHECK(status == CAROM_OK && refused > 20);
}

static void test_nothing_is_a_matrix_too(void)
{
    cr_block_matrix m = {0};
    cr_block_factor* f = make_factor();
    CHECK(cr_block_matrix_build(&m, 0, NULL, 0, NULL, 1) == CAROM_OK);
    CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
    CHECK(cr_block_factor_cholesky(f, &m) == CAROM_OK);
    double nothing = 1.0;
    cr_block_factor_solve(f, &nothing);
    cr_block_matrix_apply(&m, &nothing, &nothing);
    CHECK(nothing == 1.0 && cr_block_factor_nonzeros(f) == 0);
    cr_block_factor_destroy(f);
    cr_block_matrix_release(&m);
}

// A sheet of nodes: supernodes far wider than the kernels' tiles. Returns a hash of the solutions.
static uint64_t solve_sheet(int32_t side, int32_t size, int32_t workers)
{
    const int32_t n = side * side;
    int32_t* sizes = malloc((size_t)n * sizeof *sizes);
    int32_t(*pair)[2] = malloc((size_t)(3 * n) * sizeof *pair);
    int32_t pairs = 0;
    for (int32_t i = 0; i < n; i++) {
        sizes[i] = size > 0 ? size : 1 + i % 6;
        if (i % side + 1 < side) {
            pair[pairs][0] = i;
            pair[pairs++][1] = i + 1;
        }
        if (i + side < n) {
            pair[pairs][0] = i + side;
            pair[pairs++][1] = i;
        }
        if (i % side + 1 < side && i + side < n) {
            pair[pairs][0] = i;
            pair[pairs++][1] = i + side + 1;
        }
    }
    cr_block_factor* f = make_factor();
    uint64_t hash = 14695981039346656037u;
    for (int32_t symmetric = 0; symmetric < 2; symmetric++) {
        uint64_t seed = 11;
        cr_block_matrix m = {0};
        CHECK(cr_block_matrix_build(&m, n, sizes, pairs, (const int32_t(*)[2])pair, symmetric) ==
              CAROM_OK);
        for (int32_t k = 0; k < m.value_count; k++) {
            m.lower.items[k] = check_random(&seed, -1.0, 1.0);
            if (!symmetric) {
                m.upper.items[k] = check_random(&seed, -1.0, 1.0);
            }
        }
        for (int32_t j = 0; j < n; j++) {
            double* d = m.lower.items + m.place.items[m.start.items[j]];
            for (int32_t r = 0; r < sizes[j]; r++) {
                for (int32_t c = 0; c < r && symmetric; c++) {
                    d[r * sizes[j] + c] = d[c * sizes[j] + r];
                }
                d[r * sizes[j] + r] += 6.0 * sizes[j];
            }
        }
        double* b = malloc((size_t)m.scalar_count * sizeof *b);
        double* x = malloc((size_t)m.scalar_count * sizeof *x);
        double* y = malloc((size_t)m.scalar_count * sizeof *y);
        random_vector(m.scalar_count, &seed, b);
        memcpy(x, b, (size_t)m.scalar_count * sizeof *x);
        cr_block_factor_share(f, workers);
        CHECK(cr_block_factor_analyse(f, &m) == CAROM_OK);
        CHECK((symmetric ? cr_block_factor_cholesky(f, &m) : cr_block_factor_lu(f, &m)) ==
              CAROM_OK);
        cr_block_factor_solve(f, x);
        cr_block_matrix_apply(&m, x, y);
        CHECK_NEAR(distance(m.scalar_count, y, b), 0.0, 1e-12);
        for (int32_t i = 0; i < m.scalar_count; i++) {
            uint64_t bits;
            memcpy(&bits, &x[i], sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
        free(b);
        free(x);
        free(y);
        cr_block_matrix_release(&m);
    }
    cr_block_factor_destroy(f);
    free(sizes);
    free(pair);
    return hash;
}

// The same bits from every compiler, at every level of optimisation, on every machine, by any
// number of threads.
static void test_sheets_have_the_known_bits(void)
{
    static const struct {
        int32_t side, size;
        uint64_t hash;
    } known[] = {
        {24, 3, 0x64817f2a24e187d0}, {16, 6, 0xcfd328552ed68a40}, {17, 0, 0xae45578420d6cb7c}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        for (int32_t workers = 0; workers <= 5; workers++) {
            const uint64_t hash = solve_sheet(known[k].side, known[k].size, workers);
            CHECK(hash == known[k].hash);
            if (hash != known[k].hash) {
                printf("sheet of %d x %d gives %llx with %d workers\n", known[k].side,
                       known[k].side, (unsigned long long)hash, workers);
            }
        }
    }
}

typedef struct kernel_results {
    double product[48 * 20], spread[48 * 20], solved[48 * 20], cholesky[32 * 20], lu[32 * 20];
    double inverse[2][20], times[48], minus[20], swept[2][64];
    int32_t pivot[20];
} kernel_results;

// Every kernel on the same random numbers; m x n panels.
static void run_kernels(const cr_block_kernel* kernel, int32_t m, int32_t n, uint64_t seed,
                        kernel_results* out)
{
    static const cr_block_run run[] = {{0, 1, 1}, {2, 3, 3}, {7, 9, 6}, {15, 17, 12}, {30, 31, 9}};
    double a[48 * 20], b[48 * 20], t[32 * 20], y[48] = {0};
    memset(out, 0, sizeof *out);
    random_vector(48 * 20, &seed, a);
    random_vector(48 * 20, &seed, b);
    random_vector(32 * 20, &seed, t);
    random_vector(m, &seed, y);
    random_vector(20, &seed, out->minus);
    for (int32_t j = 0; j < 20; j++) {
        t[j * 33] += 8.0;
        out->inverse[0][j] = out->inverse[1][j] = 1e-10;
    }
    memcpy(out->cholesky, t, sizeof t);
    memcpy(out->lu, t, sizeof t);
    memcpy(out->solved, b, sizeof b);
    memcpy(out->spread, b, sizeof b);
    kernel->product(m, n, n, a, 48, b, 48, out->product, 48);
    kernel->spread(5, run, n, a, 48, out->spread, 48);
    CHECK(kernel->cholesky(n, out->cholesky, 32, out->inverse[0]));
    CHECK(kernel->lu(n, out->lu, 32, out->inverse[1], out->pivot));
    kernel->solve_right(m, n, out->solved, 48, out->cholesky, 1, 32, out->inverse[0], 1);
    kernel->times(m, n, a, 48, b, out->times);
    for (int32_t i = m; i < 48; i++) {
        y[i] = 0.0;
    }
    kernel->minus_transposed(m, n, a, 48, y, out->minus);
    for (int up = 0; up < 2; up++) { // n rows of three behind or before three others
        int32_t start[21] = {0}, column[60];
        double* x = out->swept[up];
        random_vector(64, &seed, x);
        for (int32_t r = 0; r < n; r++) {
            start[r + 1] = start[r];
            for (int32_t k = 1; k <= 3; k++) {
                const int32_t other = up ? r - k : r + k;
                if (other >= -1 && other < n) {
                    column[start[r + 1]++] = 3 * (other + 1);
                }
            }
        }
        kernel->sweep(n, up ? 1 : -1, start, column, a, x, x + 3);
    }
}

static void test_all_widths_of_vectors_give_the_same_bits(void)
{
    int levels = 1;
    for (; cr_block_kernel_level(levels); levels++) {
        for (int32_t m = 1; m <= 40; m++) {
            for (int32_t n = 1; n <= 20; n++) {
                kernel_results narrow, wide;
                run_kernels(cr_block_kernel_level(0), m, n, (uint64_t)(m * 100 + n), &narrow);
                run_kernels(cr_block_kernel_level(levels), m, n, (uint64_t)(m * 100 + n), &wide);
                CHECK(memcmp(&narrow, &wide, sizeof narrow) == 0);
            }
        }
    }
    printf("%d sets of kernels, the best has %s\n", levels, cr_block_kernel_best()->name);
}

int main(void)
{
    RUN(test_matrix_is_its_dense_twin);
    RUN(test_cholesky_solves_as_dense_does);
    RUN(test_lu_solves_both_ways);
    RUN(test_mixed_solves_both_ways);
    RUN(test_mixed_is_one_or_the_other);
    RUN(test_lu_of_stiff_sliding_contacts);
    RUN(test_ill_conditioned_is_backward_stable);
    RUN(test_many_right_hand_sides);
    RUN(test_numbering_does_not_matter);
    RUN(test_refuses_what_has_no_factor);
    RUN(test_refuses_free_motion);
    RUN(test_no_nan_gets_through);
    RUN(test_warm_use_takes_no_memory);
    RUN(test_survives_refused_memory);
    RUN(test_nothing_is_a_matrix_too);
    RUN(test_sheets_have_the_known_bits);
    RUN(test_all_widths_of_vectors_give_the_same_bits);
    return check_failures != 0;
}
