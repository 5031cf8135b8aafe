// Sine, cosine, exponential, logarithm and arc tangent against the same in long double, where that
// is longer.
#include "check.h"
#include "math/scalar.h"
#include <float.h>

// Distance in units of the last place of the true value.
static double ulps(double found, long double truth)
{
    int exponent;
    frexp((double)truth, &exponent);
    const double unit = ldexp(1.0, exponent < DBL_MIN_EXP ? DBL_MIN_EXP - 53 : exponent - 53);
    return fabs((double)((long double)found - truth)) / unit;
}

static const int long_enough = LDBL_MANT_DIG >= 64;
static const double allowed = 2.0; // what scalar.h promises

static double wild(uint64_t* seed, int least, int most)
{
    return ldexp(check_random(seed, -2, 2), (int)check_random(seed, least, most));
}

static void test_sine_and_cosine(void)
{
    uint64_t seed = 1;
    double worst_sin = 0, worst_cos = 0;
    for (int i = 0; i < 300000; i++) {
        const double x = i % 3 == 0   ? check_random(&seed, -10, 10)
                         : i % 3 == 1 ? wild(&seed, -60, 30)
                                      : check_random(&seed, -1e5, 1e5);
        const double s = cr_sin(x), c = cr_cos(x);
        CHECK(fabs(s) <= 1 && fabs(c) <= 1 && fabs(s * s + c * c - 1) <= 4 * DBL_EPSILON);
        CHECK(cr_sin(-x) == -s && cr_cos(-x) == c);
        worst_sin = fmax(worst_sin, ulps(s, sinl((long double)x)));
        worst_cos = fmax(worst_cos, ulps(c, cosl((long double)x)));
    }
    // next to multiples of pi/2 almost all digits cancel
    for (int i = 1; i < 100000; i++) {
        const double x = i * 1.5707963267948966;
        worst_sin = fmax(worst_sin, ulps(cr_sin(x), sinl((long double)x)));
        worst_cos = fmax(worst_cos, ulps(cr_cos(x), cosl((long double)x)));
    }
    printf("  sine within %.3f, cosine within %.3f units\n", worst_sin, worst_cos);
    if (long_enough) {
        CHECK(worst_sin <= allowed && worst_cos <= allowed);
    }
}

static void test_sine_at_the_edges(void)
{
    CHECK(cr_sin(0.0) == 0.0 && !signbit(cr_sin(0.0)) && signbit(cr_sin(-0.0)));
    CHECK(cr_cos(0.0) == 1.0);
    CHECK(cr_sin(0x1p-1070) == 0x1p-1070);
    CHECK(isnan(cr_sin(HUGE_VAL)) && isnan(cr_cos(-HUGE_VAL)) && isnan(cr_sin((double)NAN)));
    for (int e = 40; e < 1024; e++) { // angles without meaning still give a point on the circle
        const double x = ldexp(1.234567, e);
        CHECK_NEAR(cr_sin(x) * cr_sin(x) + cr_cos(x) * cr_cos(x), 1, 4 * DBL_EPSILON);
    }
}

static void test_exponential(void)
{
    uint64_t seed = 2;
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        const double x = i % 2 ? check_random(&seed, -745, 709.7) : wild(&seed, -60, 1);
        worst = fmax(worst, ulps(cr_exp(x), expl((long double)x)));
    }
    printf("  exponential within %.3f units\n", worst);
    if (long_enough) {
        CHECK(worst <= allowed);
    }
    CHECK(cr_exp(0) == 1 && cr_exp(-0.0) == 1);
    CHECK(cr_exp(-1000) == 0 && cr_exp(-HUGE_VAL) == 0);
    CHECK(isinf(cr_exp(1000)) && isinf(cr_exp(HUGE_VAL)) && isinf(cr_exp(709.785)));
    CHECK(isnan(cr_exp((double)NAN)));
}

static void test_exponential_less_one(void)
{
    uint64_t seed = 7;
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        const double x = i % 3 == 0   ? check_random(&seed, -745, 709.7)
                         : i % 3 == 1 ? check_random(&seed, -3, 3)
                                      : wild(&seed, -60, 1);
        worst = fmax(worst, ulps(cr_expm1(x), expm1l((long double)x)));
    }
    printf("  exponential less one within %.3f units\n", worst);
    if (long_enough) {
        CHECK(worst <= allowed);
    }
    CHECK(cr_expm1(0) == 0 && cr_expm1(1e-300) == 1e-300);
    CHECK(cr_expm1(-1000) == -1 && isinf(cr_expm1(1000)) && isnan(cr_expm1((double)NAN)));
}

static void test_logarithm(void)
{
    uint64_t seed = 8;
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        const double x =
            i % 3 == 0   ? ldexp(check_random(&seed, 1, 2), (int)check_random(&seed, -1074, 1023))
            : i % 3 == 1 ? check_random(&seed, 0.3, 3)
                         : 1 + wild(&seed, -50, -3);
        worst = fmax(worst, ulps(cr_log(x), logl((long double)x)));
    }
    printf("  logarithm within %.3f units\n", worst);
    if (long_enough) {
        CHECK(worst <= allowed);
    }
    CHECK(cr_log(1) == 0 && cr_log(HUGE_VAL) == HUGE_VAL && cr_log(0) == -HUGE_VAL);
    CHECK(isnan(cr_log(-1)) && isnan(cr_log((double)NAN)));
}

static void test_power(void)
{
    double product = 1.0;
    for (int32_t n = 0; n < 200; n++) {
        CHECK_NEAR(cr_scalar_power(0.9, n), product, 200 * DBL_EPSILON * product);
        product *= 0.9;
    }
    CHECK(cr_scalar_power(-2, 31) == -0x1p31 && cr_scalar_power(0.999, INT32_MAX) == 0);
}

static void test_arc_tangent(void)
{
    uint64_t seed = 3;
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        const double y = i % 2 ? check_random(&seed, -2, 2) : wild(&seed, -500, 1000);
        const double x = i % 3 ? check_random(&seed, -2, 2) : wild(&seed, -500, 1000);
        worst = fmax(worst, ulps(cr_atan2(y, x), atan2l((long double)y, (long double)x)));
    }
    printf("  arc tangent within %.3f units\n", worst);
    if (long_enough) {
        CHECK(worst <= allowed);
    }
    for (int i = -10; i <= 10; i++) {
        CHECK_NEAR(cr_asin(i / 10.0), asin(i / 10.0), 4 * DBL_EPSILON);
    }
    CHECK(cr_asin(1.1) == cr_asin(1.0) && cr_asin(-1.1) == -cr_asin(1.0));
}

// Zeros and infinities in all combinations, with the signs that IEEE 754 gives them.
static void test_arc_tangent_at_the_edges(void)
{
    static const double edge[] = {0.0,      -0.0,      1.0,        -1.0,     1e300,
                                  -1e300,   0x1p-1074, -0x1p-1074, 1e-300,   -1e-300,
                                  HUGE_VAL, -HUGE_VAL, 0x1p1023,   -0x1p1023};
    enum { COUNT = sizeof edge / sizeof *edge };
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < COUNT; j++) {
            const double found = cr_atan2(edge[i], edge[j]), truth = atan2(edge[i], edge[j]);
            CHECK(signbit(found) == signbit(truth));
            CHECK_NEAR(found, truth, 2 * DBL_EPSILON * fabs(truth));
        }
        CHECK(isnan(cr_atan2(edge[i], (double)NAN)) && isnan(cr_atan2((double)NAN, edge[i])));
    }
}

int main(void)
{
    RUN(test_sine_and_cosine);
    RUN(test_sine_at_the_edges);
    RUN(test_exponential);
    RUN(test_exponential_less_one);
    RUN(test_logarithm);
    RUN(test_power);
    RUN(test_arc_tangent);
    RUN(test_arc_tangent_at_the_edges);
    return check_failures != 0;
}
