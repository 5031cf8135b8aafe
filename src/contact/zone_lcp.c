#include "contact/zone_inside.h"
#include "math/dense.h"
#include <string.h>

// Rounds of exchange before the interior point takes over: a good start needs one or two. In a zone
// with cloth and not too many rows the working set is looked for among the multipliers before that:
// a factor of a sheet costs as much as many rows.
enum { MOST_ROUNDS = 12, PATIENCE = 2, SEARCHES = 3, MOST_DUAL = 200 };
// Rounds in which no fewer rows change sides than did before, after which they go round in circles:
// of 58,000 searches in heaps with friction 10,800 did, and of the others 0.1 % would have come to
// an end later.
enum { CIRCLES = 3 };
// A multiplier or a gap counts as negative when it is so by more than round-off, relative to the
// largest one.
static const double sign_noise = 1e-12;

// d := -grad - B g/eps of the working set.
static void right_side(cr_zone* zone, int32_t friction)
{
    for (int32_t i = 0; i < zone->n; i++) {
        zone->d[i] = -zone->grad[i];
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        if (line->active) {
            cr_zone_line_push(zone, line, -(line->row.gap + line->sink) / line->eps, friction,
                              zone->d);
        }
    }
}

// x := K^-1 x. A Newton step need not be more exact than what it leaves to the next one.
static carom_status solve(cr_zone* zone, double enough, double* x)
{
    static const double digits = 1e-8;
    if (zone->sweeping) {
        return cr_zone_sweep_solve(zone, x, enough, digits);
    }
    cr_zone_matrix_solve(&zone->matrix, x);
    return CAROM_OK;
}

// With the working set A:  H d + grad = B lam,  a.d + g + eps lam = 0, g with what the row gives
// way by beyond eps lam. Putting lam = -(g + a.d)/eps into the first gives (H + B A/eps) d = -grad
// - B g/eps.
static carom_status solve_set(cr_zone* zone, int32_t friction)
{
    carom_status status = cr_zone_matrix_begin(&zone->matrix);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        if (line->active) {
            cr_zone_line_add(zone, line, 1.0 / line->eps, friction);
        }
    }
    right_side(zone, friction);
    if (zone->sweeping) {
        status = cr_zone_sweep_make(zone, 0);
    } else {
        status = cr_zone_matrix_factor(&zone->matrix);
        zone->report.factorisations++;
    }
    cr_zone_matrix_reset(&zone->matrix);
    return status == CAROM_OK ? solve(zone, zone->enough, zone->d) : status;
}

// One sweep of refinement on the eliminated system would not help lam, which is a small difference;
// so refine the pair (d, lam) itself: r1 = -grad - H d + B lam, r2 = -g - a.d - eps lam. What it
// changes d by stays in zone->scratch.
static carom_status refine(cr_zone* zone, int32_t friction)
{
    double* r = zone->scratch;
    cr_zone_matrix_apply(&zone->matrix, zone->d, r);
    for (int32_t i = 0; i < zone->n; i++) {
        r[i] = -zone->grad[i] - r[i];
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        if (line->active) {
            const double ad = cr_zone_line_dot(zone, line, line->a, zone->d);
            const double r2 = -line->row.gap - line->sink - ad - line->eps * line->row.lam;
            cr_zone_line_push(zone, line, line->row.lam + r2 / line->eps, friction, r);
            line->ahead = r2; // kept for the second half
        }
    }
    const carom_status status = solve(zone, cr_max(zone->enough, zone->sweep.tolerance), r);
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        if (line->active) {
            const double ad = cr_zone_line_dot(zone, line, line->a, r);
            line->row.lam += (line->ahead - ad) / line->eps;
        }
    }
    for (int32_t i = 0; i < zone->n; i++) {
        zone->d[i] += r[i];
    }
    return status;
}

// New multipliers, and which lines should change sides. Returns how many did.
static int32_t exchange(cr_zone* zone)
{
    double most_lam = 0.0, most_gap = 0.0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        const double ad = cr_zone_line_dot(zone, line, line->a, zone->d);
        const double ahead = line->row.gap + line->sink + ad;
        line->row.lam = line->active ? -ahead / line->eps : 0.0;
        line->ahead = ahead;
        most_lam = cr_max(most_lam, fabs(line->row.lam));
        most_gap = cr_max(most_gap, cr_max(fabs(line->row.gap), fabs(ad)));
    }
    int32_t changed = 0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        const int wrong = line->active ? line->row.lam < -sign_noise * most_lam
                                       : line->ahead < -sign_noise * most_gap;
        if (wrong) {
            line->active = !line->active;
            line->wanted = 1;
            changed++;
        }
    }
    return changed;
}

// The lines that carry a load or have come too near.
static void begin_set(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        line->active = line->wanted = line->row.lam > 0.0 || line->row.gap < 0.0;
    }
}

static void no_pull(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        line->row.lam = line->active ? cr_max(line->row.lam, 0.0) : 0.0;
    }
}

int cr_zone_lcp_dual(const cr_zone* zone)
{
    return zone->task->member_sheet_count > 0 && zone->line.count <= MOST_DUAL;
}

// The interior point ends where s lam is nothing beside the largest gap, which may be that of a row
// far off; a row that is near keeps a force then that it has not, and the step is off by that.
// Here d and lam are those of the working set that it found, to the last digits.
int cr_zone_lcp_sharpen(cr_zone* zone)
{
    enum { ROUNDS = 3 };
    double* kept = zone->scratch; // refine alone uses it
    memcpy(kept, zone->d, (size_t)zone->n * sizeof *kept);
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        line->active = line->wanted = line->row.lam > 0.0;
        line->push = line->row.lam;
    }
    for (int round = 0; round < ROUNDS && solve_set(zone, 0) == CAROM_OK; round++) {
        if (exchange(zone) == 0) {
            (void)refine(zone, 0); // by a factor: it cannot fail
            no_pull(zone);
            return 1;
        }
    }
    memcpy(zone->d, kept, (size_t)zone->n * sizeof *kept);
    for (int32_t i = 0; i < zone->line.count; i++) {
        zone->line.items[i].row.lam = zone->line.items[i].push;
    }
    return 0;
}

// The Newton step d and the multipliers of the linearised problem at the current iterate.
carom_status cr_zone_lcp_solve(cr_zone* zone, int32_t friction)
{
    begin_set(zone);
    const int dual = cr_zone_lcp_dual(zone);
    int32_t least = INT32_MAX, circles = 0;
    for (int round = 0; round < (dual ? PATIENCE + SEARCHES : MOST_ROUNDS); round++) {
        if (round >= PATIENCE && zone->sweeping) {
            break; // the search among the multipliers has a factor
        }
        carom_status status =
            round >= PATIENCE && dual ? cr_zone_dual_find(zone, friction) : CAROM_OK;
        if (status == CAROM_OK) {
            status = solve_set(zone, friction);
        }
        if (status != CAROM_OK) {
            return status;
        }
        const int32_t changed = exchange(zone);
        if (changed == 0) {
            status = refine(zone, friction);
            no_pull(zone);
            return status;
        }
        circles = changed < least ? 0 : circles + 1;
        least = changed < least ? changed : least;
        if (!dual && circles >= CIRCLES) {
            break;
        }
    }
    return CAROM_ERR_NO_CONVERGENCE;
}

// x.M y, in eight sums that do not wait for each other
static double inner(const cr_zone* zone, const double* x, const double* y)
{
    double sum[8] = {0};
    int32_t i = 0;
    for (; i + 8 <= zone->n; i += 8) {
        for (int c = 0; c < 8; c++) {
            sum[c] += zone->mass[i + c] * x[i + c] * y[i + c];
        }
    }
    for (; i < zone->n; i++) {
        sum[0] += zone->mass[i] * x[i] * y[i];
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

// q := F^-1 K p with K = H + B A/eps of the working set and F the factor that there is.
static void apply_both(cr_zone* zone, const double* p, double* q)
{
    cr_zone_matrix_apply(&zone->matrix, p, q);
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        if (line->active) {
            cr_zone_line_push(zone, line, cr_zone_line_dot(zone, line, line->a, p) / line->eps, 1,
                              q);
        }
    }
    cr_zone_matrix_solve(&zone->matrix, q);
}

// Near the end of Newton's iterates the matrix K differs from that of the iterate before in little
// but how its few contacts rub, and the factor F of that one costs as much as ten solves with it.
// So K d = b is solved with F: s = F^-1 (b - K d) is what is missing, and each direction p, with
// q = F^-1 K p across all those before, takes off s what lies along q (generalised conjugate
// residuals): as many directions as contacts changed, and a few more. The lines of the working set
// must be those of the end, for there is no factor to look for others with.
carom_status cr_zone_lcp_reuse(cr_zone* zone)
{
    const double enough = zone->enough;
    enum { MOST = 6 };
    static const double digits = 1e-10; // more than that they seldom find: of 500 tries 40 did
    const int32_t n = zone->n;
    double qq[MOST];
    if (!zone->matrix.woven || !cr_zone_matrix_stands(&zone->matrix)) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    if (!cr_array_reserve(&zone->krylov, (2 * MOST + 1) * n)) {
        return CAROM_ERR_MEMORY;
    }
    double* const s = zone->krylov.items;
    begin_set(zone);
    right_side(zone, 1);
    memcpy(s, zone->d, sizeof(double) * (size_t)n);
    cr_zone_matrix_solve(&zone->matrix, s);
    memset(zone->d, 0, sizeof(double) * (size_t)n);
    const double first = cr_zone_length(zone, s);
    double left = first;
    if (!(enough >= digits * first)) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    for (int k = 0; k < MOST && (k == 0 || left > enough); k++) {
        double *p = s + (2 * k + 1) * n, *q = p + n;
        memcpy(p, s, sizeof(double) * (size_t)n);
        apply_both(zone, p, q);
        for (int j = 0; j < k; j++) {
            const double* before = s + (2 * j + 1) * n;
            const double along = inner(zone, q, before + n) / qq[j];
            cr_dense_add_times(n, -along, before, p);
            cr_dense_add_times(n, -along, before + n, q);
        }
        qq[k] = inner(zone, q, q);
        const double along = inner(zone, s, q) / qq[k];
        cr_dense_add_times(n, along, p, zone->d);
        cr_dense_add_times(n, -along, q, s);
        left = cr_zone_length(zone, s);
        if (k + 1 == MOST / 2 && !(left * left <= enough * first)) {
            return CAROM_ERR_NO_CONVERGENCE; // the other half of them would not do
        }
    }
    if (!(left <= enough) || exchange(zone) > 0) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    (void)refine(zone, 1); // by a factor: it cannot fail
    no_pull(zone);
    return cr_zone_length(zone, zone->scratch) <= enough ? CAROM_OK : CAROM_ERR_NO_CONVERGENCE;
}

// Rounded gaps g + r change the step by -(H + B A/eps)^-1 B r/eps. Where rows are redundant, what
// rounding has against them all is carried by forces r/eps, and with friction forces that balance
// along the normals do not along the surface: the step then trembles by far more than r. The signs
// of r are as good as random, another draw of them each time.
void cr_zone_lcp_shake(cr_zone* zone, double r, int32_t draw, double* out)
{
    uint64_t bits = 0x9e3779b97f4a7c15u * (uint64_t)(draw + 1);
    for (int32_t i = 0; i < zone->n; i++) {
        out[i] = 0.0;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        bits = (bits ^ bits >> 31) * 0xbf58476d1ce4e5b9u;
        if (line->active) {
            const double push = (bits >> 63 ? r : -r) / line->eps;
            cr_zone_line_push(zone, line, push, 1, out);
        }
    }
    cr_zone_matrix_solve(&zone->matrix, out);
}
