#include "adjoint/optimize.h"
#include "core/memory.h"
#include "math/scalar.h"
#include <math.h>
#include <string.h>

enum { MEMORY = 12, MOST_TRIALS = 30 };
static const double armijo = 1e-4, wolfe = 0.9; // the usual shares of the slope at the start
// The first step of all goes this far, in scales: nothing is known yet.
static const double first_step = 0.1;
// Two values nearer than this, relatively, are the same but for round-off.
static const double same_value = 1e-14;
static const double adam_rate = 0.02, adam_first = 0.9, adam_second = 0.999;
static const double adam_floor = 1e-12; // of a second moment, against the largest ever

// All vectors are in scales: x = theta / scale.
typedef struct search {
    const cr_optimize_function* f;
    const cr_optimize_options* o;
    cr_optimize_report* report;
    int32_t n;
    double *x, *g, *d;        // [n] here, gradient here, direction
    double *x_new, *g_new;    // [n] of a trial
    double *theta, *best;     // [n] scratch; the best x
    double value, best_value; // here; of the best
    double *s, *y;            // [MEMORY*n] steps and changes of gradient
    double rho[MEMORY];
    int32_t pairs, newest;
    double *m1, *m2; // [n] of Adam, or the velocity of gradient descent
} search;

cr_optimize_options cr_optimize_default(void)
{
    return (cr_optimize_options){
        .method = CR_OPTIMIZE_LBFGS, .iterations = 100, .momentum = 0.9, .tolerance = 1e-9};
}

static double dot(const double* a, const double* b, int32_t n)
{
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double clip(const search* s, int32_t i, double x)
{
    return fmin(fmax(x, s->f->least[i] / s->f->scale[i]), s->f->most[i] / s->f->scale[i]);
}

// Whether the way down leads out of the bounds.
static int held(const search* s, int32_t i)
{
    const double down = -s->g[i], x = s->x[i] + down;
    return down != 0.0 && clip(s, i, s->x[i]) == s->x[i] && clip(s, i, x) == s->x[i];
}

static double free_norm(const search* s)
{
    double sum = 0.0;
    for (int32_t i = 0; i < s->n; i++) {
        sum += held(s, i) ? 0.0 : s->g[i] * s->g[i];
    }
    return sqrt(sum);
}

// Value and gradient at x. What fails or is not finite is infinitely high.
static carom_status evaluate(search* s, const double* x, double* value, double* g,
                             carom_error* error)
{
    for (int32_t i = 0; i < s->n; i++) {
        // to the bound itself, not to what the scale's rounding makes of it
        s->theta[i] = fmin(fmax(x[i] * s->f->scale[i], s->f->least[i]), s->f->most[i]);
    }
    s->report->evaluations++;
    const carom_status status = s->f->gradient(s->f->user, s->theta, value, g, error);
    if (status != CAROM_OK || !isfinite(*value)) {
        *value = HUGE_VAL;
        return status != CAROM_OK ? status : CAROM_ERR_NOT_FINITE;
    }
    for (int32_t i = 0; i < s->n; i++) {
        g[i] *= s->f->scale[i];
    }
    return CAROM_OK;
}

static void swap(double** a, double** b)
{
    double* t = *a;
    *a = *b;
    *b = t;
}

// The trial becomes the place.
static void move(search* s, double value)
{
    swap(&s->x, &s->x_new);
    swap(&s->g, &s->g_new);
    s->value = value;
    if (value < s->best_value) {
        s->best_value = value;
        memcpy(s->best, s->x, (size_t)s->n * sizeof(double));
    }
}

// ---- L-BFGS

// d = -H g by the two loops, over what the bounds do not hold.
static void direct(search* s)
{
    const int32_t n = s->n;
    double alpha[MEMORY];
    for (int32_t i = 0; i < n; i++) {
        s->d[i] = held(s, i) ? 0.0 : -s->g[i];
    }
    for (int32_t k = 0; k < s->pairs; k++) {
        const int32_t at = (s->newest - k + MEMORY) % MEMORY;
        alpha[at] = s->rho[at] * dot(s->s + (size_t)at * (size_t)n, s->d, n);
        for (int32_t i = 0; i < n; i++) {
            s->d[i] -= alpha[at] * s->y[(size_t)at * (size_t)n + (size_t)i];
        }
    }
    if (s->pairs > 0) {
        const double* y = s->y + (size_t)s->newest * (size_t)n;
        const double size = 1.0 / (s->rho[s->newest] * dot(y, y, n));
        for (int32_t i = 0; i < n; i++) {
            s->d[i] *= size;
        }
    }
    for (int32_t k = s->pairs - 1; k >= 0; k--) {
        const int32_t at = (s->newest - k + MEMORY) % MEMORY;
        const double beta = s->rho[at] * dot(s->y + (size_t)at * (size_t)n, s->d, n);
        for (int32_t i = 0; i < n; i++) {
            s->d[i] += (alpha[at] - beta) * s->s[(size_t)at * (size_t)n + (size_t)i];
        }
    }
    for (int32_t i = 0; i < n; i++) {
        s->d[i] = held(s, i) ? 0.0 : s->d[i];
    }
}

static void remember(search* s) // the step from x to x_new
{
    const size_t n = (size_t)s->n, at = (size_t)((s->newest + 1) % MEMORY);
    double* step = s->s + at * n;
    double* change = s->y + at * n;
    for (size_t i = 0; i < n; i++) {
        step[i] = s->x_new[i] - s->x[i];
        change[i] = s->g_new[i] - s->g[i];
    }
    const double bent = dot(step, change, s->n);
    // only where the function bends up does it say something about its minimum
    if (bent > 1e-12 * sqrt(dot(step, step, s->n) * dot(change, change, s->n))) {
        s->newest = (int32_t)at;
        s->rho[at] = 1.0 / bent;
        s->pairs += s->pairs < MEMORY;
    }
}

// Where between two slopes of a line the slope should be zero, not too near either end.
static double between(double low, double low_slope, double high, double high_slope)
{
    const double turn = -low_slope / (high_slope - low_slope);
    const double share = turn > 0.0 && turn < 1.0 ? turn : 0.5;
    return low + (high - low) * fmin(fmax(share, 0.05), 0.95);
}

// Along d for a point that is lower by a share of the slope (Armijo) and flatter (weak Wolfe), with
// what leaves the bounds put back on them. On success the trial is such a point; value its value.
static int line_search(search* s, double t, double* value)
{
    const int32_t n = s->n;
    const double slope = dot(s->g, s->d, n);
    double low = 0.0, low_slope = slope, high = HUGE_VAL, high_slope = (double)NAN;
    int found = 0;
    if (!(slope < 0.0)) {
        return 0;
    }
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        int clipped = 0;
        double along = 0.0;
        for (int32_t i = 0; i < n; i++) {
            const double x = s->x[i] + t * s->d[i];
            s->x_new[i] = clip(s, i, x);
            clipped |= s->x_new[i] != x;
            along += s->g[i] * (s->x_new[i] - s->x[i]);
        }
        const carom_status status = evaluate(s, s->x_new, value, s->g_new, NULL);
        if (status == CAROM_ERR_INTERRUPTED) {
            return -1;
        }
        const double now = status == CAROM_OK ? dot(s->g_new, s->d, n) : (double)NAN;
        if (!(*value <= s->value + armijo * along) || !(along < 0.0)) {
            high = t;
            high_slope = now;
            t = high_slope == high_slope ? between(low, low_slope, high, high_slope)
                                         : 0.5 * (low + high);
        } else if (now < wolfe * slope && !clipped && trial < MOST_TRIALS - 1) {
            // still steep: farther, as far as the slopes say
            const double next =
                now > low_slope ? t - now * (t - low) / (now - low_slope) : HUGE_VAL;
            low = t;
            low_slope = now;
            t = high < HUGE_VAL ? between(low, low_slope, high, high_slope)
                                : fmin(fmax(next, 1.5 * t), 10.0 * t);
        } else {
            found = 1;
            break;
        }
        if (!(t > 0.0) || (high < HUGE_VAL && high - low <= 1e-15 * high)) {
            break;
        }
    }
    return found;
}

static cr_optimize_end step_lbfgs(search* s)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        double value, length = 1.0;
        direct(s);
        if (s->pairs == 0) {
            const double size = sqrt(dot(s->d, s->d, s->n));
            length = size > 0.0 ? fmin(1.0, first_step / size) : 1.0;
        }
        const int found = line_search(s, length, &value);
        if (found < 0) {
            return CR_OPTIMIZE_STOPPED;
        }
        if (found) {
            const double before = s->value;
            remember(s);
            move(s, value);
            return before - value <= same_value * fabs(before) ? CR_OPTIMIZE_STALLED
                                                               : CR_OPTIMIZE_LIMIT;
        }
        if (s->pairs == 0) {
            break;
        }
        s->pairs = 0; // what was learnt misleads: straight down instead
    }
    return CR_OPTIMIZE_STALLED;
}

// ---- gradient descent with momentum, whose rate halves whenever it leads up

static cr_optimize_end step_descent(search* s, double* rate)
{
    const double size = free_norm(s);
    if (!(*rate > 0.0)) {
        *rate = first_step / size;
    }
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        for (int32_t i = 0; i < s->n; i++) {
            s->m2[i] = s->o->momentum * s->m1[i] - *rate * s->g[i];
            s->x_new[i] = clip(s, i, s->x[i] + s->m2[i]);
        }
        double value;
        const carom_status status = evaluate(s, s->x_new, &value, s->g_new, NULL);
        if (status == CAROM_ERR_INTERRUPTED) {
            return CR_OPTIMIZE_STOPPED;
        }
        if (value <= s->value) {
            for (int32_t i = 0; i < s->n; i++) { // what a bound stopped stands still
                s->m1[i] = s->x_new[i] - s->x[i];
            }
            move(s, value);
            *rate *= 1.1;
            return CR_OPTIMIZE_LIMIT;
        }
        memset(s->m1, 0, (size_t)s->n * sizeof(double));
        *rate *= 0.5;
    }
    return CR_OPTIMIZE_STALLED;
}

// ---- Adam

static cr_optimize_end step_adam(search* s, int32_t iteration, double rate)
{
    const double first = 1.0 - cr_scalar_power(adam_first, iteration),
                 second = 1.0 - cr_scalar_power(adam_second, iteration);
    double largest = 0.0;
    for (int32_t i = 0; i < s->n; i++) {
        s->m1[i] = adam_first * s->m1[i] + (1.0 - adam_first) * s->g[i];
        s->m2[i] = adam_second * s->m2[i] + (1.0 - adam_second) * s->g[i] * s->g[i];
        largest = fmax(largest, s->m2[i]);
    }
    for (int32_t i = 0; i < s->n; i++) {
        const double size = sqrt(s->m2[i] / second + adam_floor * largest / second);
        const double way = size > 0.0 ? rate * (s->m1[i] / first) / size : 0.0;
        s->x_new[i] = clip(s, i, s->x[i] - way);
    }
    double value;
    const carom_status status = evaluate(s, s->x_new, &value, s->g_new, NULL);
    if (status == CAROM_ERR_INTERRUPTED) {
        return CR_OPTIMIZE_STOPPED;
    }
    if (status != CAROM_OK) { // back to the best place, with no speed
        memcpy(s->x_new, s->best, (size_t)s->n * sizeof(double));
        memset(s->m1, 0, (size_t)s->n * sizeof(double));
        if (evaluate(s, s->x_new, &value, s->g_new, NULL) != CAROM_OK) {
            return CR_OPTIMIZE_STALLED;
        }
    }
    move(s, value);
    return CR_OPTIMIZE_LIMIT;
}

// ---- the whole

static int take(search* s)
{
    const size_t n = (size_t)s->n;
    double** const vectors[] = {&s->x,     &s->g,    &s->d,  &s->x_new, &s->g_new,
                                &s->theta, &s->best, &s->m1, &s->m2};
    int ok = 1;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = cr_memory_take(n, sizeof(double));
        ok = ok && *vectors[i];
    }
    s->s = cr_memory_take(MEMORY * n, sizeof(double));
    s->y = cr_memory_take(MEMORY * n, sizeof(double));
    return ok && s->s && s->y;
}

static void release(search* s)
{
    void* const blocks[] = {s->x,    s->g,  s->d,  s->x_new, s->g_new, s->theta,
                            s->best, s->m1, s->m2, s->s,     s->y};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
}

static void hand_out(search* s, double* theta)
{
    for (int32_t i = 0; i < s->n; i++) {
        theta[i] = fmin(fmax(s->best[i] * s->f->scale[i], s->f->least[i]), s->f->most[i]);
    }
}

static void iterate(search* s, double* theta)
{
    const cr_optimize_options* o = s->o;
    cr_optimize_report* r = s->report;
    double rate = o->rate > 0.0 ? o->rate : o->method == CR_OPTIMIZE_ADAM ? adam_rate : 0.0;
    r->end = CR_OPTIMIZE_LIMIT;
    while (r->iterations < o->iterations) {
        if (!(free_norm(s) > o->tolerance * r->gradient_start)) {
            r->end = CR_OPTIMIZE_CONVERGED;
            break;
        }
        const cr_optimize_end end = o->method == CR_OPTIMIZE_LBFGS ? step_lbfgs(s)
                                    : o->method == CR_OPTIMIZE_GD
                                        ? step_descent(s, &rate)
                                        : step_adam(s, r->iterations + 1, rate);
        r->value_end = s->best_value;
        r->gradient_end = free_norm(s);
        if (end != CR_OPTIMIZE_LIMIT) {
            r->end = end;
            break;
        }
        r->iterations++;
        hand_out(s, theta);
        if (o->progress && o->progress(o->user, r, theta)) {
            r->end = CR_OPTIMIZE_STOPPED;
            break;
        }
    }
}

carom_status cr_optimize_run(const cr_optimize_function* function,
                             const cr_optimize_options* options, double* theta,
                             cr_optimize_report* report, carom_error* error)
{
    search s = {
        .f = function, .o = options, .report = report, .n = function->size, .newest = MEMORY - 1};
    *report = (cr_optimize_report){0};
    carom_status status = CAROM_ERR_MEMORY;
    if (take(&s)) {
        for (int32_t i = 0; i < s.n; i++) {
            s.x[i] = clip(&s, i, theta[i] / function->scale[i]);
        }
        status = evaluate(&s, s.x, &s.value, s.g, error);
    } else {
        cr_status_refuse(error, status, "no memory for an optimisation over %d numbers", s.n);
    }
    if (status == CAROM_OK) {
        memcpy(s.best, s.x, (size_t)s.n * sizeof(double));
        s.best_value = report->value_start = report->value_end = s.value;
        report->gradient_start = report->gradient_end = free_norm(&s);
        iterate(&s, theta);
        hand_out(&s, theta);
    }
    release(&s);
    return status;
}
