#include "contact/zone_inside.h"

// min 1/2 d^T H d + c^T d   s.t.  s = g + a.d + eps lam >= 0, lam >= 0, s lam = 0: Mehrotra's
// predictor and corrector. With p = g + a.d + eps lam - s (to become 0) and q what s lam is still
// to change by, the steps are
//     dlam = (q - lam (a.dd + p)) / (s + eps lam),    ds = a.dd + eps dlam + p,
//     (H + A^T [lam/(s + eps lam)] A) dd = -c - H d + A^T (lam + (q - lam p)/(s + eps lam)).
enum { MOST_ROUNDS = 60 };
static const double to_the_wall = 0.995; // how far towards s = 0 or lam = 0 a step may go
// The end: complementarity and residuals this small against where they began.
static const double enough = 1e-11;

typedef struct scales {
    double gap; // m
    double lam; // kg m
} scales;

// Slack and multiplier of a start well inside: of the size of the violations and of the multipliers
// that would cure them.
static scales start(cr_zone* zone)
{
    double gap = 0.0, give = 0.0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        double sum = 0.0, ahead = line->row.gap +
                                  line->sink; // a M^-1 a^T, and the gap after a step by M alone
        for (int b = 0; b < line->block_count; b++) {
            const int32_t first = zone->block.items[line->block[b]].first;
            for (int k = line->offset[b]; k < line->offset[b + 1]; k++) {
                const int32_t at = first + k - line->offset[b];
                sum += line->a[k] * line->a[k] / zone->mass[at];
                ahead -= line->a[k] * zone->grad[at] / zone->mass[at];
            }
        }
        gap = cr_max(gap, cr_max(fabs(line->row.gap + line->sink), fabs(ahead)));
        give += sum / zone->line.count;
    }
    const scales scale = {gap, gap / give};
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        line->row.lam = cr_max(line->row.lam, scale.lam);
        line->s = cr_max(line->row.gap + line->sink, 0.5 * scale.gap);
    }
    for (int32_t i = 0; i < zone->n; i++) {
        zone->d[i] = 0.0;
    }
    return scale;
}

// dd for the q of every line (in push), from the factor at hand; then ds and dlam.
static void find_step(cr_zone* zone, double* dd)
{
    cr_zone_matrix_apply(&zone->matrix, zone->d, dd);
    for (int32_t i = 0; i < zone->n; i++) {
        dd[i] = -zone->grad[i] - dd[i];
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        const double lam = line->row.lam;
        const double give = line->s + line->eps * lam;
        cr_zone_line_push(zone, line, lam + (line->push - lam * line->miss) / give, 0, dd);
    }
    cr_zone_matrix_solve(&zone->matrix, dd);
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        const double ad = cr_zone_line_dot(zone, line, line->a, dd);
        line->dlam = (line->push - line->row.lam * (ad + line->miss)) /
                     (line->s + line->eps * line->row.lam);
        line->ds = ad + line->eps * line->dlam + line->miss;
    }
}

static double longest(const cr_zone* zone)
{
    double step = 1.0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        step = line->ds < 0.0 ? cr_min(step, -to_the_wall * line->s / line->ds) : step;
        step = line->dlam < 0.0 ? cr_min(step, -to_the_wall * line->row.lam / line->dlam) : step;
    }
    return step;
}

// Mean of s lam after a step of this length.
static double mean_after(const cr_zone* zone, double step)
{
    double sum = 0.0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        sum += (line->s + step * line->ds) * (line->row.lam + step * line->dlam);
    }
    return sum / zone->line.count;
}

// Of s and lam one has gone to 0: where it is lam, it is 0 for the next working set.
static void settle(cr_zone* zone, scales scale)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        if (line->row.lam * scale.gap < line->s * scale.lam) {
            line->row.lam = 0.0;
        }
    }
}

static carom_status factor(cr_zone* zone)
{
    carom_status status = cr_zone_matrix_begin(&zone->matrix);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        cr_zone_line_add(zone, line, line->row.lam / (line->s + line->eps * line->row.lam), 0);
    }
    status = cr_zone_matrix_factor(&zone->matrix);
    cr_zone_matrix_reset(&zone->matrix);
    zone->report.factorisations++;
    return status;
}

carom_status cr_zone_ipm_solve(cr_zone* zone)
{
    const scales scale = start(zone);
    double* dd = zone->scratch;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double miss = 0.0;
        for (int32_t i = 0; i < zone->line.count; i++) {
            cr_zone_line* line = &zone->line.items[i];
            line->miss = line->row.gap + line->sink +
                         cr_zone_line_dot(zone, line, line->a, zone->d) +
                         line->eps * line->row.lam - line->s;
            line->ds = line->dlam = 0.0;
            line->push = -line->s * line->row.lam;
            miss = cr_max(miss, fabs(line->miss));
        }
        const double mean = mean_after(zone, 0.0);
        if (!isfinite(mean)) {
            return CAROM_ERR_NO_CONVERGENCE;
        }
        if (mean <= enough * scale.gap * scale.lam && miss <= enough * scale.gap) {
            settle(zone, scale);
            cr_zone_lcp_sharpen(zone);
            return CAROM_OK;
        }
        const carom_status status = factor(zone);
        if (status != CAROM_OK) {
            return status;
        }
        find_step(zone, dd);
        const double ahead = mean_after(zone, longest(zone));
        const double left = ahead / mean, centre = left * left * left * mean;
        for (int32_t i = 0; i < zone->line.count; i++) {
            cr_zone_line* line = &zone->line.items[i];
            line->push = centre - line->s * line->row.lam - line->ds * line->dlam;
        }
        find_step(zone, dd);
        const double step = longest(zone);
        for (int32_t i = 0; i < zone->line.count; i++) {
            cr_zone_line* line = &zone->line.items[i];
            line->s += step * line->ds;
            line->row.lam += step * line->dlam;
        }
        for (int32_t i = 0; i < zone->n; i++) {
            zone->d[i] += step * dd[i];
        }
    }
    return CAROM_ERR_NO_CONVERGENCE;
}
