// The ruler itself: differences of functions whose derivatives are known.
#include "adjoint/gradcheck.h"
#include "check.h"
#include <string.h>

enum { SIZE = 6 };

typedef struct known {
    int kind;
    uint64_t trace[3];
    double noise;
    uint64_t seed;
} known;

enum { SMOOTH, LINEAR, CONSTANT, KINKED, TORN, BROKEN, HALF_BROKEN, STEEP, CROWDED };

static carom_status value_of(void* user, const double* x, double* value, carom_error* error)
{
    known* k = user;
    (void)error;
    k->trace[1] = k->kind == KINKED && x[0] > 1.0; // the contact that makes the kink
    k->trace[1] |= k->kind == CROWDED && fabs(x[0] - 1.0) > 1e-4;
    switch (k->kind) {
    case CROWDED: // steep, and other contacts on both sides of a narrow valley
        *value = exp(30.0 * x[0]) + (k->trace[1] ? x[0] : 1.0) + x[1];
        return CAROM_OK;
    case LINEAR:
        *value = 3.0 * x[0] - 2.0 * x[1] + x[5];
        return CAROM_OK;
    case CONSTANT:
        *value = 7.0;
        return CAROM_OK;
    case KINKED:
        *value = fabs(x[0] - 1.0) + 2.0 * x[1] * x[1];
        return CAROM_OK;
    case TORN: // a corner nearby that nothing tells of
        *value = x[0] + (x[0] > 1.0003 ? 9.0 * (x[0] - 1.0003) : 0.0);
        return CAROM_OK;
    case BROKEN:
        return CAROM_ERR_NO_CONVERGENCE;
    case HALF_BROKEN:
        *value = x[0] * x[0] * x[0];
        return x[0] > 1.0005 ? CAROM_ERR_NO_CONVERGENCE : CAROM_OK;
    case STEEP:
        *value = exp(30.0 * x[0]) + x[1];
        return CAROM_OK;
    default:
        *value = sin(x[0]) * exp(x[1]) + x[2] * x[2] * x[2] * x[3] + 1e-3 * x[4] + x[5] * x[5];
        *value += k->noise * check_random(&k->seed, -1, 1);
        return CAROM_OK;
    }
}

static void exact(const double* x, double* g)
{
    g[0] = cos(x[0]) * exp(x[1]);
    g[1] = sin(x[0]) * exp(x[1]);
    g[2] = 3.0 * x[2] * x[2] * x[3];
    g[3] = x[2] * x[2] * x[2];
    g[4] = 1e-3;
    g[5] = 2.0 * x[5];
}

static carom_status run(known* k, const double* x, const double* g, cr_gradcheck_group* group,
                        int32_t groups, cr_gradcheck_report* report)
{
    const cr_gradcheck_function f = {k, value_of, SIZE, k->trace, 3};
    const cr_gradcheck_options options = cr_gradcheck_default();
    return cr_gradcheck_run(&f, x, g, &options, group, groups, report, NULL);
}

static const double at[SIZE] = {1.0, 0.5, -0.7, 1.2, 0.3, 0.9};

static void test_smooth_functions_agree(void)
{
    known k = {.kind = SMOOTH};
    cr_gradcheck_group group[] = {{.first = 0, .count = 2, .scale = 1.0},
                                  {.first = 2, .count = 4, .scale = 1.0}};
    cr_gradcheck_report r;
    double g[SIZE];
    exact(at, g);
    CHECK(run(&k, at, g, group, 2, &r) == CAROM_OK);
    CHECK(r.max_relative_error < 1e-10 && r.max_relative_error > 0.0);
    CHECK_NEAR(r.taylor_slope, 2.0, 0.05);
    CHECK(r.switches == 0 && r.kinks == 0 && r.failed == 0);
    CHECK(r.evaluations == 1 + 6 * SIZE + 2);
    CHECK(group[0].checked == 2 && group[1].checked == 4);
}

// Every entry, off by a millionth of the largest of its group, is seen, and by how much.
static void test_wrong_gradients_are_seen(void)
{
    for (int i = 0; i < SIZE; i++) {
        for (int e = 2; e <= 6; e += 2) {
            known k = {.kind = SMOOTH};
            cr_gradcheck_group group = {.first = 0, .count = SIZE, .scale = 1.0};
            cr_gradcheck_report r;
            double g[SIZE];
            exact(at, g);
            double largest = 0.0;
            for (int j = 0; j < SIZE; j++) {
                largest = fmax(largest, fabs(g[j]));
            }
            const double off = pow(10.0, -e);
            g[i] -= off * largest;
            CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
            CHECK_NEAR(r.max_relative_error, off, 0.02 * off);
            CHECK(group.worst == i);
            CHECK_NEAR(group.worst_difference - group.worst_exact, off * largest,
                       0.01 * off * largest);
        }
    }
}

static void test_a_wrong_gradient_has_slope_one(void)
{
    known k = {.kind = SMOOTH};
    cr_gradcheck_group group = {.first = 0, .count = SIZE, .scale = 1.0};
    cr_gradcheck_report r;
    double g[SIZE];
    exact(at, g);
    g[0] += 1.0;
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK_NEAR(r.taylor_slope, 1.0, 0.1);
}

static void test_linear_and_constant(void)
{
    known k = {.kind = LINEAR};
    cr_gradcheck_group group = {.first = 0, .count = SIZE, .scale = 1.0};
    cr_gradcheck_report r;
    double g[SIZE] = {3, -2, 0, 0, 0, 1};
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.max_relative_error < 1e-11);
    CHECK(isnan(r.taylor_slope)); // nothing is left to have a slope
    k.kind = CONSTANT;
    memset(g, 0, sizeof g);
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.max_relative_error == 0.0);
    g[3] = 1.0; // a gradient where there is none
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK_NEAR(r.max_relative_error, 1.0, 1e-6);
}

static void test_not_a_number_is_the_worst(void)
{
    known k = {.kind = SMOOTH};
    cr_gradcheck_group group = {.first = 0, .count = SIZE, .scale = 1.0};
    cr_gradcheck_report r;
    double g[SIZE];
    exact(at, g);
    g[2] = (double)NAN;
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(!(r.max_relative_error <= 1e300));
}

static void test_kinks_are_told_as_kinks(void)
{
    known k = {.kind = KINKED};
    cr_gradcheck_group group = {.first = 0, .count = 2, .scale = 1.0};
    cr_gradcheck_report r;
    double g[SIZE] = {1.0, 4.0 * 0.5};
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.kinks == 1 && group.kinks == 1 && r.switches > 0);
    CHECK(r.max_relative_error < 1e-9); // the other one is good
    // a change of features that changes nothing is none: between both sides the difference is 0
    g[0] = 0.0;
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.kinks == 0 && r.switches > 0);
    g[0] = 1.0;
    // near it the small steps stay on one side
    double x[SIZE];
    memcpy(x, at, sizeof x);
    x[0] = 1.0 + 1e-4;
    CHECK(run(&k, x, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.kinks == 0 && r.switches > 0);
    CHECK(r.max_relative_error < 1e-8);
    // and a wrong gradient there is no kink
    const double wrong[SIZE] = {-1.0, 2.0};
    CHECK(run(&k, x, wrong, &group, 1, &r) == CAROM_OK);
    CHECK_NEAR(r.max_relative_error, 1.0, 1e-6);
}

static void test_corners_nobody_told_of(void)
{
    known k = {.kind = TORN};
    cr_gradcheck_group group = {.first = 0, .count = 1, .scale = 1.0};
    cr_gradcheck_report r;
    const double g[SIZE] = {1.0};
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.kinks == 1 || r.max_relative_error < 1e-6); // never a wrong gradient
}

static void test_noise_is_told(void)
{
    known k = {.kind = SMOOTH, .noise = 1e-9};
    cr_gradcheck_group group = {.first = 0, .count = SIZE, .scale = 1.0};
    cr_gradcheck_report r;
    double g[SIZE];
    exact(at, g);
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.max_relative_error < 1e-4);
    CHECK(group.noise > 1e-8 && group.noise < 1e-2);
    CHECK(r.max_relative_error < 10.0 * group.noise);
}

static void test_runs_that_fail(void)
{
    known k = {.kind = BROKEN};
    cr_gradcheck_group group = {.first = 0, .count = 1, .scale = 1.0};
    cr_gradcheck_report r;
    const double g[SIZE] = {3.0};
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_ERR_NO_CONVERGENCE);
    k.kind = HALF_BROKEN; // the largest step is too far, the others do
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.failed == 0);
    CHECK(r.max_relative_error < 1e-9);
}

// Strong curvature: the extrapolation earns its keep.
static void test_steep_functions(void)
{
    known k = {.kind = STEEP};
    cr_gradcheck_group group = {.first = 0, .count = 2, .scale = 1.0};
    cr_gradcheck_report r;
    const double g[SIZE] = {30.0 * exp(30.0), 1.0};
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.max_relative_error < 1e-9);
}

// Of the steps asked for only the smallest stays within the valley; one difference is not enough.
static void test_narrow_valleys(void)
{
    known k = {.kind = CROWDED};
    cr_gradcheck_group group = {.first = 0, .count = 2, .scale = 1.0};
    cr_gradcheck_report r;
    const double g[SIZE] = {30.0 * exp(30.0), 1.0};
    CHECK(run(&k, at, g, &group, 1, &r) == CAROM_OK);
    CHECK(r.kinks == 0 && r.failed == 0 && r.max_relative_error < 1e-7);
    const double wrong[SIZE] = {30.0 * exp(30.0) * (1.0 + 1e-5), 1.0};
    CHECK(run(&k, at, wrong, &group, 1, &r) == CAROM_OK);
    CHECK(r.kinks == 0 && r.max_relative_error > 5e-6);
}

static void test_a_choice_is_spread(void)
{
    known k = {.kind = SMOOTH};
    cr_gradcheck_group group = {.first = 0, .count = SIZE, .scale = 1.0};
    cr_gradcheck_report r;
    double g[SIZE];
    exact(at, g);
    const cr_gradcheck_function f = {&k, value_of, SIZE, NULL, 0};
    const cr_gradcheck_options options = {.step = 1e-3, .most = 3};
    CHECK(cr_gradcheck_run(&f, at, g, &options, &group, 1, &r, NULL) == CAROM_OK);
    CHECK(group.checked == 3);
    CHECK(r.evaluations == 1 + 6 * 3 + 2);
}

// Somebody asks to stop: that is no verdict, and nothing runs after it.
static carom_status stopped_value(void* user, const double* x, double* value, carom_error* error)
{
    int* left = user;
    (void)error;
    *value = x[0];
    return --*left >= 0 ? CAROM_OK : CAROM_ERR_INTERRUPTED;
}

static void test_being_stopped_is_no_verdict(void)
{
    int left = 5;
    const cr_gradcheck_function f = {&left, stopped_value, SIZE, NULL, 0};
    const cr_gradcheck_options options = cr_gradcheck_default();
    cr_gradcheck_group group = {.first = 0, .count = SIZE, .scale = 1.0};
    cr_gradcheck_report r;
    const double g[SIZE] = {1.0};
    CHECK(cr_gradcheck_run(&f, at, g, &options, &group, 1, &r, NULL) == CAROM_ERR_INTERRUPTED);
    CHECK(left == -1 && r.evaluations == 6);
}

int main(void)
{
    RUN(test_smooth_functions_agree);
    RUN(test_wrong_gradients_are_seen);
    RUN(test_a_wrong_gradient_has_slope_one);
    RUN(test_linear_and_constant);
    RUN(test_not_a_number_is_the_worst);
    RUN(test_kinks_are_told_as_kinks);
    RUN(test_corners_nobody_told_of);
    RUN(test_noise_is_told);
    RUN(test_runs_that_fail);
    RUN(test_being_stopped_is_no_verdict);
    RUN(test_steep_functions);
    RUN(test_narrow_valleys);
    RUN(test_a_choice_is_spread);
    return check_failures != 0;
}
