#include "adjoint/gradcheck.h"
#include "core/memory.h"
#include "math/scalar.h"
#include <math.h>
#include <string.h>

enum { SIZES = 3, MOST_AGAIN = 2 };
static const double ratio = 4.0; // from one step size to the next
// A sensitivity that changes the value by less than this part of it, over the whole scale of a
// number, is nothing: differences cannot tell it from round-off.
static const double nothing = 1e-9;
// Of a run's value, relatively: what round-off leaves undecided after a few hundred sums. The
// smallest step's difference has it over its h.
static const double value_noise = 1e-14;
// A group so small that this part of it is lost in that is measured by what can be seen instead.
static const double finest = 1e-6;
// Differences that are off by much, and among themselves by a share of that, lie on both sides of
// something: they have no say. A smooth function's agree to many more digits.
static const double gross = 1e-3, torn_share = 1e-2;

typedef struct checker {
    const cr_gradcheck_function* function;
    const cr_gradcheck_options* options;
    const double *theta, *gradient;
    double* moved;   // [size]
    uint64_t* trace; // [trace_count] of the unmoved run
    int stopped;     // nonzero: somebody asked for it, there is no use in further runs
    cr_gradcheck_report* report;
} checker;

cr_gradcheck_options cr_gradcheck_default(void)
{
    return (cr_gradcheck_options){.step = 1e-3, .most = 24};
}

// The function at `moved`. Gives how many steps went otherwise, or -1 when it failed.
static int64_t look(checker* c, double* value)
{
    const cr_gradcheck_function* f = c->function;
    if (c->stopped) {
        return -1;
    }
    c->report->evaluations++;
    const carom_status status = f->value(f->user, c->moved, value, NULL);
    c->stopped = status == CAROM_ERR_INTERRUPTED;
    if (status != CAROM_OK || !isfinite(*value)) {
        return -1;
    }
    int64_t differ = 0;
    for (int64_t i = 0; f->trace && i < f->trace_count; i++) {
        differ += f->trace[i] != c->trace[i];
    }
    c->report->switches += differ;
    return differ;
}

typedef struct estimate {
    double slope, error;
    int clean; // nonzero: from runs without a change of contacts
    int known; // nonzero: there is one
} estimate;

// d[k] belongs to step size h/ratio^k, for k from..to. The table's columns cancel h^2, h^4, ..
static estimate extrapolate(const double* d, int from, int to)
{
    double a[SIZES][SIZES];
    estimate best = {.slope = d[to], .error = HUGE_VAL, .known = 1};
    for (int k = from; k <= to; k++) {
        a[k][0] = d[k];
        double factor = ratio * ratio;
        for (int j = 1; j <= k - from; j++, factor *= ratio * ratio) {
            a[k][j] = (factor * a[k][j - 1] - a[k - 1][j - 1]) / (factor - 1.0);
            const double error = fmax(fabs(a[k][j] - a[k][j - 1]), fabs(a[k][j] - a[k - 1][j - 1]));
            if (error < best.error) {
                best.slope = a[k][j];
                best.error = error;
            }
        }
    }
    return best;
}

// The derivative along one number, by steps from h down.
static estimate differentiate_from(checker* c, int32_t i, double h)
{
    double d[SIZES];
    int state[SIZES]; // 0: failed, 1: other contacts, 2: clean
    for (int k = 0; k < SIZES; k++, h /= ratio) {
        double up = 0.0, down = 0.0;
        c->moved[i] = c->theta[i] + h;
        const double above = c->moved[i];
        const int64_t first = look(c, &up);
        c->moved[i] = c->theta[i] - h;
        const int64_t second = first < 0 ? -1 : look(c, &down);
        d[k] = (up - down) / (above - c->moved[i]); // the step that was really taken
        state[k] = second < 0 ? 0 : first + second > 0 ? 1 : 2;
    }
    c->moved[i] = c->theta[i];
    for (int want = 2; want >= 1; want--) { // the smaller the step, the fewer changes
        int from = SIZES;
        while (from > 0 && state[from - 1] >= want) {
            from--;
        }
        if (from < SIZES) {
            estimate e = extrapolate(d, from, SIZES - 1);
            e.clean = want == 2;
            return e;
        }
    }
    return (estimate){0};
}

// Where contacts change within the steps asked for, smaller ones may still stay clear of it: one
// clean difference alone has nobody to agree with.
static estimate differentiate(checker* c, int32_t i, double h)
{
    estimate best = differentiate_from(c, i, h);
    for (int again = 0; again < MOST_AGAIN && !(best.clean && best.error < HUGE_VAL); again++) {
        h /= ratio * ratio;
        const estimate e = differentiate_from(c, i, h);
        if (e.known && (!best.known || e.clean > best.clean ||
                        (e.clean == best.clean && e.error < best.error))) {
            best = e;
        }
    }
    return best;
}

static int32_t pick(const cr_gradcheck_group* g, int32_t k)
{
    return g->first + (int32_t)((int64_t)k * g->count / g->checked);
}

static void check_group(checker* c, cr_gradcheck_group* g)
{
    double worst = -1.0, noise = 0.0;
    g->checked = g->count < c->options->most ? g->count : c->options->most;
    g->kinks = g->failed = 0;
    g->worst = g->first;
    g->worst_exact = g->worst_difference = 0.0;
    const double h = c->options->step * g->scale;
    const double blind = value_noise * fabs(c->report->value) * ratio * ratio / h;
    g->largest = fmax(nothing * fabs(c->report->value) / g->scale, blind / finest);
    for (int32_t i = 0; i < g->count; i++) {
        g->largest = fmax(g->largest, fabs(c->gradient[g->first + i]));
    }
    for (int32_t k = 0; k < g->checked; k++) {
        const int32_t i = pick(g, k);
        const estimate e = differentiate(c, i, h);
        const double off = fabs(e.slope - c->gradient[i]);
        // other features that make no difference (two ways to name one place) are no kink
        const int other = !e.clean && !(off <= finest * g->largest);
        const int torn = off > gross * g->largest && e.error > torn_share * off &&
                         e.error < HUGE_VAL; // one difference alone has nobody to disagree with
        const int kink = e.known && (other || torn);
        g->failed += !e.known;
        g->kinks += kink;
        if (!e.known || kink) {
            continue;
        }
        g->largest = fmax(g->largest, fabs(e.slope));
        noise = fmax(noise, fmin(e.error, HUGE_VAL));
        if (worst == worst && !(off <= worst)) { // so that a NaN is the worst, and stays it
            worst = off;
            g->worst = i;
            g->worst_exact = c->gradient[i];
            g->worst_difference = e.slope;
        }
    }
    noise = fmax(isfinite(noise) ? noise : 0.0, blind);
    const int any = g->largest > 0.0;
    g->max_relative_error = worst < 0.0 || !any ? 0.0 : worst / g->largest;
    g->noise = any ? noise / g->largest : 0.0;
}

// Along d = (+-scale) of every number, signs from a fixed sequence: f(theta + s d) - f - s g.d is
// of second order in s.
static double taylor(checker* c, const cr_gradcheck_group* group, int32_t group_count)
{
    double remainder[2], along = 0.0;
    for (int round = 0; round < 2; round++) {
        const double s = c->options->step / (round == 0 ? 1.0 : 2.0);
        uint64_t seed = 1;
        along = 0.0;
        for (int32_t g = 0; g < group_count; g++) {
            for (int32_t i = group[g].first; i < group[g].first + group[g].count; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                const double d = (seed >> 63 ? 1.0 : -1.0) * group[g].scale;
                c->moved[i] = c->theta[i] + s * d;
                along += c->gradient[i] * (c->moved[i] - c->theta[i]);
            }
        }
        double value = 0.0;
        const int64_t differ = look(c, &value);
        remainder[round] = differ == 0 ? fabs(value - c->report->value - along) : (double)NAN;
    }
    memcpy(c->moved, c->theta, (size_t)c->function->size * sizeof(double));
    const double floor = 1e4 * value_noise * fabs(c->report->value);
    return remainder[1] > floor ? cr_log(remainder[0] / remainder[1]) / cr_log(2.0) : (double)NAN;
}

carom_status cr_gradcheck_run(const cr_gradcheck_function* function, const double* theta,
                              const double* gradient, const cr_gradcheck_options* options,
                              cr_gradcheck_group* group, int32_t group_count,
                              cr_gradcheck_report* report, carom_error* error)
{
    const size_t size = (size_t)function->size;
    const size_t traces = function->trace ? (size_t)function->trace_count : 0;
    *report = (cr_gradcheck_report){0};
    checker c = {.function = function,
                 .options = options,
                 .theta = theta,
                 .gradient = gradient,
                 .report = report,
                 .moved = cr_memory_take(size, sizeof(double)),
                 .trace = cr_memory_take(traces, sizeof(uint64_t))};
    carom_status status = CAROM_ERR_MEMORY;
    if (c.moved && c.trace) {
        memcpy(c.moved, theta, size * sizeof(double));
        status = function->value(function->user, theta, &report->value, error);
        report->evaluations = 1;
    }
    if (status == CAROM_OK) {
        if (traces > 0) {
            memcpy(c.trace, function->trace, traces * sizeof(uint64_t));
        }
        for (int32_t g = 0; g < group_count; g++) {
            check_group(&c, &group[g]);
            report->kinks += group[g].kinks;
            report->failed += group[g].failed;
            if (!(group[g].max_relative_error <= report->max_relative_error)) {
                report->max_relative_error = group[g].max_relative_error;
            }
        }
        report->taylor_slope = taylor(&c, group, group_count);
    }
    if (c.stopped) {
        status = cr_status_refuse(error, CAROM_ERR_INTERRUPTED, "stopped after %lld runs",
                                  (long long)report->evaluations);
    }
    cr_memory_free(c.moved);
    cr_memory_free(c.trace);
    return status;
}
