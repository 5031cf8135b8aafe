#include "check.h"
#include "math/dense.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { most = 90 };

static double given[most * most], made[most * most];

static void random_numbers(int32_t count, uint64_t* seed, double* x)
{
    for (int32_t i = 0; i < count; i++) {
        x[i] = check_random(seed, -1.0, 1.0);
    }
}

// G^T G / n + shift
static void make_positive(int32_t n, uint64_t* seed, double shift)
{
    random_numbers(n * n, seed, made);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            double sum = i == j ? shift : 0.0;
            for (int32_t k = 0; k < n; k++) {
                sum += made[k * n + i] * made[k * n + j] / n;
            }
            given[i * n + j] = sum;
        }
    }
}

static void test_cholesky_gives_its_matrix_back(void)
{
    uint64_t seed = 1;
    for (int32_t n = 1; n <= most; n++) {
        make_positive(n, &seed, n % 2 ? 0.1 : 1e-9);
        memcpy(made, given, sizeof made);
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = i + 1; j < n; j++) {
                made[i * n + j] = (double)NAN; // never read, never written
            }
        }
        CHECK(cr_dense_cholesky(n, made) == CAROM_OK);
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j <= i; j++) {
                double sum = 0.0;
                for (int32_t k = 0; k <= j; k++) {
                    sum += made[i * n + k] * made[j * n + k];
                }
                CHECK_NEAR(sum, given[i * n + j], 1e-14);
            }
            for (int32_t j = i + 1; j < n; j++) {
                CHECK(isnan(made[i * n + j]));
            }
        }
        double x[most], b[most];
        random_numbers(n, &seed, b);
        memcpy(x, b, sizeof x);
        cr_dense_cholesky_solve(n, made, x);
        CHECK(check_backward_error(n, given, 0, x, b) < 1e-15 * (10 + n));
    }
}

static void test_cholesky_refuses(void)
{
    uint64_t seed = 2;
    for (int trial = 0; trial < 400; trial++) {
        const int32_t n = 1 + trial % 40;
        make_positive(n, &seed, 0.5);
        const int32_t k = (int32_t)check_random(&seed, 0.0, n);
        const int32_t j = (int32_t)check_random(&seed, 0.0, k + 1.0);
        switch (trial % 5) {
        case 0:
            given[k * n + k] = -given[k * n + k];
            break;
        case 1:
            given[k * n + j] = (double)NAN;
            break;
        case 2:
            given[k * n + k] = (double)INFINITY;
            break;
        case 3: // row and column k repeat those of j: singular
            if (j == k) {
                given[k * n + k] = 0.0;
                break;
            }
            for (int32_t i = 0; i < n; i++) {
                given[k * n + i] = given[j * n + i];
            }
            for (int32_t i = 0; i < n; i++) {
                given[i * n + k] = given[i * n + j];
            }
            break;
        default:
            memset(given, 0, sizeof given);
            break;
        }
        CHECK(cr_dense_cholesky(n, given) == CAROM_ERR_NOT_POSITIVE);
    }
}

// A scale of its own for every unknown is no reason to refuse.
static void test_cholesky_is_relative(void)
{
    uint64_t seed = 3;
    const int32_t n = 12;
    make_positive(n, &seed, 0.3);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            given[i * n + j] *= ldexp(1.0, 12 * (i + j) - 300);
        }
    }
    CHECK(cr_dense_cholesky(n, given) == CAROM_OK);
}

static void test_lu_solves_both_ways(void)
{
    uint64_t seed = 4;
    for (int32_t n = 1; n <= most; n++) {
        random_numbers(n * n, &seed, given);
        for (int32_t i = 0; n > 1 && i < n; i++) {
            given[i * n + i] = 0.0; // without exchanges it would not even start
        }
        memcpy(made, given, sizeof made);
        int32_t pivot[most];
        CHECK(cr_dense_lu(n, made, pivot) == CAROM_OK);
        double x[most], b[most];
        random_numbers(n, &seed, b);
        memcpy(x, b, sizeof x);
        cr_dense_lu_solve(n, made, pivot, x);
        CHECK(check_backward_error(n, given, 0, x, b) < 1e-15 * (10 + n));
        memcpy(x, b, sizeof x);
        cr_dense_lu_solve_transposed(n, made, pivot, x);
        CHECK(check_backward_error(n, given, 1, x, b) < 1e-15 * (10 + n));
    }
}

// Mostly zeros, of a size without kernels: what is passed over is not missed.
static void test_lu_with_many_zeros(void)
{
    uint64_t seed = 6;
    for (int trial = 0; trial < 60; trial++) {
        const int32_t n = 61 + trial % (most - 60);
        random_numbers(n * n, &seed, given);
        for (int32_t i = 0; i < n * n; i++) {
            const int32_t off = abs(i / n - i % n);
            given[i] = off > 4 && off % 17 ? 0.0 : given[i];
        }
        int32_t pivot[most];
        memcpy(made, given, sizeof made);
        CHECK(cr_dense_lu(n, made, pivot) == CAROM_OK);
        double x[most], b[most];
        random_numbers(n, &seed, b);
        memcpy(x, b, sizeof x);
        cr_dense_lu_solve(n, made, pivot, x);
        CHECK(check_backward_error(n, given, 0, x, b) < 1e-15 * (10 + n));
        given[(n - 1) * n + n / 2] = given[n - 1] = (double)NAN;
        CHECK(cr_dense_lu(n, given, pivot) == CAROM_ERR_NOT_POSITIVE);
    }
}

static void test_lu_refuses(void)
{
    uint64_t seed = 5;
    for (int trial = 0; trial < 400; trial++) {
        const int32_t n = 1 + trial % 40;
        int32_t pivot[most];
        random_numbers(n * n, &seed, given);
        for (int32_t i = 0; i < n; i++) {
            given[i * n + i] += n; // but for what follows far from singular
        }
        const int32_t k = (int32_t)check_random(&seed, 0.0, n);
        const int32_t j = (k + 1) % n;
        for (int32_t i = 0; i < n; i++) {
            switch (trial % 4) {
            case 0:
                given[k * n + i] = 0.0;
                break;
            case 1:
                given[k * n + i] = n > 1 ? 3.0 * given[j * n + i] : 0.0;
                break;
            case 2:
                given[i * n + k] = 0.0;
                break;
            default:
                given[k * n + j] = (double)NAN;
                break;
            }
        }
        CHECK(cr_dense_lu(n, given, pivot) == CAROM_ERR_NOT_POSITIVE);
    }
}

static void check_eigen(int32_t n, double scale)
{
    double value[12], vector[144];
    cr_dense_eigen(n, given, value, vector);
    for (int32_t i = 0; i < n; i++) {
        CHECK(i == 0 || value[i - 1] <= value[i]);
        for (int32_t j = 0; j < n; j++) {
            double back = 0.0, turn = 0.0;
            for (int32_t k = 0; k < n; k++) {
                back += vector[i * n + k] * value[k] * vector[j * n + k];
                turn += vector[k * n + i] * vector[k * n + j];
            }
            CHECK_NEAR(back, given[i * n + j], 1e-14 * scale);
            CHECK_NEAR(turn, i == j, 1e-14);
        }
    }
}

static void test_eigen_takes_apart_and_puts_together(void)
{
    uint64_t seed = 6;
    for (int trial = 0; trial < 240; trial++) {
        const int32_t n = 1 + trial % 12;
        const double scale = ldexp(1.0, trial % 7 * 200 - 600); // 2^-600 .. 2^600
        random_numbers(n * n, &seed, given);
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < i; j++) {
                // now and then nearly equal values, or several zeros
                given[i * n + j] *= trial % 3 == 0 ? 1e-9 : trial % 3 == 1 ? 0.0 : 1.0;
                given[j * n + i] = given[i * n + j];
            }
            given[i * n + i] = trial % 5 == 0 ? 1.0 : given[i * n + i];
        }
        for (int32_t k = 0; k < n * n; k++) {
            given[k] *= scale;
        }
        check_eigen(n, 12.0 * scale);
    }
    memset(given, 0, sizeof given);
    check_eigen(6, 1.0);
}

static void test_eigen_of_a_known_matrix(void)
{
    const double a[9] = {2, -1, 0, -1, 2, -1, 0, -1, 2};
    double value[3], vector[9];
    cr_dense_eigen(3, a, value, vector);
    CHECK_NEAR(value[0], 2.0 - sqrt(2.0), 1e-15);
    CHECK_NEAR(value[1], 2.0, 1e-15);
    CHECK_NEAR(value[2], 2.0 + sqrt(2.0), 1e-15);
    CHECK_NEAR(fabs(vector[0 * 3 + 1]), sqrt(0.5), 1e-15);
    CHECK_NEAR(vector[1 * 3 + 1], 0.0, 1e-15);
}

int main(void)
{
    RUN(test_cholesky_gives_its_matrix_back);
    RUN(test_cholesky_refuses);
    RUN(test_cholesky_is_relative);
    RUN(test_lu_solves_both_ways);
    RUN(test_lu_with_many_zeros);
    RUN(test_lu_refuses);
    RUN(test_eigen_takes_apart_and_puts_together);
    RUN(test_eigen_of_a_known_matrix);
    return check_failures != 0;
}
