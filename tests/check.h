// check.h - the tests' few macros: count failures, print both numbers, go on.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static int check_failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            check_failures++;                                                                      \
            printf("%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                  \
        }                                                                                          \
    } while (0)

// Asked this way round, a NaN on either side fails.
#define CHECK_NEAR(a, b, tolerance)                                                                \
    do {                                                                                           \
        const double check_a = (a), check_b = (b);                                                 \
        if (!(fabs(check_a - check_b) <= (tolerance))) {                                           \
            check_failures++;                                                                      \
            printf("%s:%d: %s = %.17g but %s = %.17g, apart by %.3g, allowed %.3g\n", __FILE__,    \
                   __LINE__, #a, check_a, #b, check_b, fabs(check_a - check_b),                    \
                   (double)(tolerance));                                                           \
        }                                                                                          \
    } while (0)

#define RUN(test)                                                                                  \
    do {                                                                                           \
        const int before = check_failures;                                                         \
        test();                                                                                    \
        printf("%-60s %s\n", #test, check_failures == before ? "ok" : "FAILED");                   \
    } while (0)

// A small generator, the same on every machine (splitmix64).
static inline uint64_t check_random_bits(uint64_t* seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Uniform in [least, most).
static inline double check_random(uint64_t* seed, double least, double most)
{
    return least + (most - least) * (double)(check_random_bits(seed) >> 11) * 0x1p-53;
}

// |A x - b| relative to |A| |x| + |b|, A [n*n] row-major (or A^T): what a backward-stable solver
// keeps near round-off.
static inline double check_backward_error(int32_t n, const double* a, int transposed,
                                          const double* x, const double* b)
{
    double worst = 0.0, norm = 0.0, size_x = 0.0, size_b = 0.0;
    for (int32_t i = 0; i < n; i++) {
        double sum = -b[i], row = 0.0;
        for (int32_t j = 0; j < n; j++) {
            const double entry = transposed ? a[j * n + i] : a[i * n + j];
            sum += entry * x[j];
            row += fabs(entry);
        }
        worst = fmax(worst, fabs(sum));
        norm = fmax(norm, row);
        size_x = fmax(size_x, fabs(x[i]));
        size_b = fmax(size_b, fabs(b[i]));
    }
    return worst / (norm * size_x + size_b);
}
