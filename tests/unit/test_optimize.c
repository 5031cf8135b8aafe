#include "adjoint/optimize.h"
#include "check.h"
#include "core/memory.h"
#include <string.h>

enum { MOST = 40 };

typedef struct hill {
    int kind;
    int32_t size;
    int64_t calls, limit; // stops after so many; 0: never
    double outside;       // largest way over a bound that was asked for
    const double *least, *most;
} hill;

enum { BOWL, ROSENBROCK, HOLED, WALLED, CORNER };

static carom_status look(void* user, const double* x, double* value, double* g, carom_error* error)
{
    hill* h = user;
    (void)error;
    h->calls++;
    if (h->limit && h->calls > h->limit) {
        return CAROM_ERR_INTERRUPTED;
    }
    for (int32_t i = 0; i < h->size; i++) {
        h->outside = fmax(h->outside, fmax(h->least[i] - x[i], x[i] - h->most[i]));
    }
    *value = 0.0;
    memset(g, 0, (size_t)h->size * sizeof(double));
    if (h->kind == ROSENBROCK) {
        for (int32_t i = 0; i + 1 < h->size; i++) {
            const double a = 1.0 - x[i], b = x[i + 1] - x[i] * x[i];
            *value += a * a + 100.0 * b * b;
            g[i] += -2.0 * a - 400.0 * x[i] * b;
            g[i + 1] += 200.0 * b;
        }
        return CAROM_OK;
    }
    for (int32_t i = 0; i < h->size; i++) { // curvatures from 1 to 1000, minimum at i
        const double k = pow(1000.0, (double)i / (double)h->size), d = x[i] - i;
        *value += h->kind == CORNER ? fabs(d) : 0.5 * k * d * d;
        g[i] = h->kind == CORNER ? (d > 0) - (d < 0) : k * d;
    }
    // nothing can be run beyond a wall, or in a hole half way
    const int fails =
        (h->kind == WALLED && x[0] < -0.5) || (h->kind == HOLED && x[0] > -6.0 && x[0] < -4.0);
    return fails ? CAROM_ERR_NO_CONVERGENCE : CAROM_OK;
}

static double scale[MOST], least[MOST], most[MOST], x[MOST];

static carom_status run(hill* h, cr_optimize_method method, int32_t iterations,
                        cr_optimize_report* report)
{
    cr_optimize_options o = cr_optimize_default();
    o.method = method;
    o.iterations = iterations;
    h->least = least;
    h->most = most;
    const cr_optimize_function f = {h, look, h->size, scale, least, most};
    return cr_optimize_run(&f, &o, x, report, NULL);
}

static void ready(int32_t size, double start)
{
    for (int32_t i = 0; i < size; i++) {
        scale[i] = 1.0;
        least[i] = -HUGE_VAL;
        most[i] = HUGE_VAL;
        x[i] = start;
    }
}

static void test_bowls(void)
{
    static const int32_t enough[] = {60, 2000, 3000};
    for (int m = 0; m < 3; m++) {
        hill h = {.kind = BOWL, .size = 8};
        cr_optimize_report r;
        ready(8, -10.0);
        CHECK(run(&h, (cr_optimize_method)m, enough[m], &r) == CAROM_OK);
        for (int i = 0; i < 8; i++) {
            CHECK_NEAR(x[i], i, m == CR_OPTIMIZE_LBFGS ? 1e-6 : 1e-2);
        }
        CHECK(r.value_end < r.value_start && r.gradient_end < r.gradient_start);
        CHECK(r.evaluations == h.calls);
    }
}

// One number and a parabola: as the mass of two cubes is.
static void test_a_parabola_takes_a_few(void)
{
    hill h = {.kind = BOWL, .size = 1};
    cr_optimize_report r;
    ready(1, -4.0);
    CHECK(run(&h, CR_OPTIMIZE_LBFGS, 10, &r) == CAROM_OK);
    CHECK_NEAR(x[0], 0.0, 1e-9);
    CHECK(r.end == CR_OPTIMIZE_CONVERGED && r.iterations <= 4);
}

static void test_valleys(void)
{
    hill h = {.kind = ROSENBROCK, .size = 10};
    cr_optimize_report r;
    ready(10, -1.2);
    CHECK(run(&h, CR_OPTIMIZE_LBFGS, 300, &r) == CAROM_OK);
    for (int i = 0; i < 10; i++) {
        CHECK_NEAR(x[i], 1.0, 1e-5);
    }
    CHECK(r.end == CR_OPTIMIZE_CONVERGED && r.iterations < 150);
}

static void test_scales_do_not_matter(void)
{
    hill h = {.kind = BOWL, .size = 6};
    cr_optimize_report r;
    ready(6, -3.0);
    for (int i = 0; i < 6; i++) {
        scale[i] = pow(10.0, i - 3);
    }
    CHECK(run(&h, CR_OPTIMIZE_LBFGS, 200, &r) == CAROM_OK);
    for (int i = 0; i < 6; i++) {
        CHECK_NEAR(x[i], i, 1e-4);
    }
}

static void test_bounds_hold(void)
{
    for (int m = 0; m < 3; m++) {
        hill h = {.kind = BOWL, .size = 8};
        cr_optimize_report r;
        ready(8, 2.0);
        for (int i = 0; i < 8; i++) {
            least[i] = 1.5;
            most[i] = 4.25;
        }
        CHECK(run(&h, (cr_optimize_method)m, m == 0 ? 60 : 3000, &r) == CAROM_OK);
        CHECK(h.outside <= 0.0); // never asked for what may not be
        for (int i = 0; i < 8; i++) {
            const double want = fmin(fmax(i, 1.5), 4.25);
            CHECK_NEAR(x[i], want, m == CR_OPTIMIZE_LBFGS ? 1e-6 : 1e-2);
        }
        CHECK(m != CR_OPTIMIZE_LBFGS || r.end == CR_OPTIMIZE_CONVERGED);
    }
}

static void test_failing_runs_are_gone_around(void)
{
    for (int m = 0; m < 3; m++) {
        hill h = {.kind = WALLED, .size = 2};
        cr_optimize_report r;
        ready(2, 3.0);
        CHECK(run(&h, (cr_optimize_method)m, 2000, &r) == CAROM_OK);
        CHECK_NEAR(x[0], 0.0, 1e-2);
        CHECK_NEAR(x[1], 1.0, 1e-2);
    }
    hill h = {.kind = HOLED, .size = 2};
    cr_optimize_report r;
    ready(2, -5.0);
    CHECK(run(&h, CR_OPTIMIZE_LBFGS, 100, &r) == CAROM_ERR_NO_CONVERGENCE); // it starts in it
}

static void test_corners_are_found(void)
{
    hill h = {.kind = CORNER, .size = 3};
    cr_optimize_report r;
    ready(3, -2.2);
    CHECK(run(&h, CR_OPTIMIZE_LBFGS, 500, &r) == CAROM_OK);
    CHECK(r.value_end < 1e-3 * r.value_start);
}

static int stop_at_three(void* user, const cr_optimize_report* report, const double* theta)
{
    (void)theta;
    ++*(int*)user;
    return report->iterations >= 3;
}

static void test_the_best_is_kept(void)
{
    for (int m = 0; m < 3; m++) {
        hill h = {.kind = ROSENBROCK, .size = 4, .limit = 9};
        cr_optimize_report r;
        double g[4], value;
        ready(4, -1.2);
        CHECK(run(&h, (cr_optimize_method)m, 100, &r) == CAROM_OK); // interrupted inside
        CHECK(r.end == CR_OPTIMIZE_STOPPED);
        h.limit = 0;
        CHECK(look(&h, x, &value, g, NULL) == CAROM_OK);
        CHECK_NEAR(value, r.value_end, 1e-12 * value);
        CHECK(r.value_end < r.value_start);
    }
    hill h = {.kind = BOWL, .size = 5, .least = least, .most = most};
    cr_optimize_report r;
    int calls = 0;
    cr_optimize_options o = cr_optimize_default();
    o.progress = stop_at_three;
    o.user = &calls;
    ready(5, 9.0);
    const cr_optimize_function f = {&h, look, h.size, scale, least, most};
    CHECK(cr_optimize_run(&f, &o, x, &r, NULL) == CAROM_OK);
    CHECK(calls == 3 && r.iterations == 3 && r.end == CR_OPTIMIZE_STOPPED);
}

static void test_no_memory(void)
{
    for (int n = 1; n <= 11; n++) {
        hill h = {.kind = BOWL, .size = 3};
        cr_optimize_report r;
        ready(3, 9.0);
        cr_memory_fail_after(n);
        CHECK(run(&h, CR_OPTIMIZE_LBFGS, 3, &r) == CAROM_ERR_MEMORY);
        cr_memory_fail_after(0);
    }
}

int main(void)
{
    RUN(test_bowls);
    RUN(test_a_parabola_takes_a_few);
    RUN(test_valleys);
    RUN(test_scales_do_not_matter);
    RUN(test_bounds_hold);
    RUN(test_failing_runs_are_gone_around);
    RUN(test_corners_are_found);
    RUN(test_the_best_is_kept);
    RUN(test_no_memory);
    return check_failures != 0;
}
