#include "contact/zone_inside.h"
#include "math/dense.h"
#include <string.h>

// The working set of the Newton step when exchanging rows one set after another goes round in
// circles: by the multipliers alone, so that a set costs a small dense system and no factor.
//
// Looked for are d, s >= 0, lam >= 0 with s lam = 0 and
//     H d - B lam = -grad,      s = g + A d + eps lam.
// H alone need not be solvable. With every row half in the way, K = H + B D A, D = 1/c, where c is
// what the row gives way by its masses alone, A d from the second equation put into B D A d gives
//     K d = -grad - B D g + B (D s + (1 - D eps) lam),
// and A d taken from this back into the second, with S = A K^-1 B and q = g + A K^-1 (-grad - B D
// g),
//     (1 - S D) s = q + (S (1 - D eps) + eps) lam:
// a linear complementarity problem s = P lam + p of the size of the rows. 1 - S D is far from
// singular, because a row that gives way as much as the rest of its body halves the load.

// Rounds in which the number of rows on the wrong side need not fall before single rows are
// exchanged, and all there are: a set that exists is found in five or so.
enum { BLOCK_ROUNDS = 4, MOST_ROUNDS = 24, LANES = 8 };
static const double sign_noise = 1e-11;

typedef struct dual {
    int32_t m;
    int32_t friction;     // nonzero: B = A^T less friction, else A^T
    double* c;            // [m] 1/kg
    double* s;            // [m*m] S by columns, s[j*m + i] = a_i K^-1 b_j; then P by rows
    double* p;            // [m]
    double* lam;          // [m]
    double* gap;          // [m] s of the text
    double* small;        // [m*m] system of one working set
    double* column;       // [LANES*n]
    int32_t *set, *pivot; // [m]
} dual;

static carom_status take(cr_zone* zone, dual* d)
{
    const int32_t m = zone->line.count;
    const int64_t count = 2 * (int64_t)m * m + 4 * (int64_t)m + LANES * (int64_t)zone->n;
    *d = (dual){.m = m};
    if (!cr_array_reserve(&zone->dual, (int32_t)count) ||
        !cr_array_reserve(&zone->dual_set, 2 * m)) {
        return CAROM_ERR_MEMORY;
    }
    const size_t n = (size_t)m;
    d->s = zone->dual.items;
    d->small = d->s + n * n;
    d->c = d->small + n * n;
    d->p = d->c + n;
    d->lam = d->p + n;
    d->gap = d->lam + n;
    d->column = d->gap + n;
    d->set = zone->dual_set.items;
    d->pivot = d->set + m;
    return CAROM_OK;
}

// How a row gives way when nothing but the masses at it holds it.
static double mass_give(const cr_zone* zone, const cr_zone_line* line)
{
    double sum = 0.0;
    for (int b = 0; b < line->block_count; b++) {
        const int32_t first = zone->block.items[line->block[b]].first - line->offset[b];
        for (int k = line->offset[b]; k < line->offset[b + 1]; k++) {
            sum += line->a[k] * line->a[k] / zone->mass[first + k];
        }
    }
    return sum;
}

static carom_status factor_softly(cr_zone* zone, dual* d)
{
    carom_status status = cr_zone_matrix_begin(&zone->matrix);
    for (int32_t i = 0; i < d->m && status == CAROM_OK; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        d->c[i] = line->eps + mass_give(zone, line);
        cr_zone_line_add(zone, line, 1.0 / d->c[i], d->friction);
    }
    if (status == CAROM_OK) {
        status = cr_zone_matrix_factor(&zone->matrix);
        zone->report.factorisations++;
        cr_zone_matrix_reset(&zone->matrix);
    }
    return status;
}

static void fill_s(cr_zone* zone, dual* d)
{
    for (int32_t first = 0; first < d->m; first += LANES) {
        const int32_t count = d->m - first < LANES ? d->m - first : LANES;
        memset(d->column, 0, sizeof(double) * (size_t)count * (size_t)zone->n);
        for (int32_t j = 0; j < count; j++) {
            cr_zone_line_push(zone, &zone->line.items[first + j], 1.0, d->friction,
                              d->column + (ptrdiff_t)j * zone->n);
        }
        cr_zone_matrix_solve_many(&zone->matrix, count, d->column);
        for (int32_t j = 0; j < count; j++) {
            const double* x = d->column + (ptrdiff_t)j * zone->n;
            for (int32_t i = 0; i < d->m; i++) {
                const cr_zone_line* line = &zone->line.items[i];
                d->s[(ptrdiff_t)(first + j) * d->m + i] = cr_zone_line_dot(zone, line, line->a, x);
            }
        }
    }
}

// q, into p.
static void fill_q(cr_zone* zone, dual* d)
{
    double* x = d->column;
    for (int32_t i = 0; i < zone->n; i++) {
        x[i] = -zone->grad[i];
    }
    for (int32_t i = 0; i < d->m; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        cr_zone_line_push(zone, line, -(line->row.gap + line->sink) / d->c[i], d->friction, x);
    }
    cr_zone_matrix_solve(&zone->matrix, x);
    for (int32_t i = 0; i < d->m; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        d->p[i] = line->row.gap + line->sink + cr_zone_line_dot(zone, line, line->a, x);
    }
}

// s and p become those of s = P lam + p.
static carom_status eliminate(cr_zone* zone, dual* d)
{
    const int32_t m = d->m;
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < m; j++) {
            d->small[(ptrdiff_t)i * m + j] = (i == j) - d->s[(ptrdiff_t)j * m + i] / d->c[j];
        }
    }
    const carom_status status = cr_dense_lu(m, d->small, d->pivot);
    if (status != CAROM_OK) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    for (int32_t j = 0; j < m; j++) {
        const double eps = zone->line.items[j].eps;
        double* column = d->s + (ptrdiff_t)j * m;
        for (int32_t i = 0; i < m; i++) {
            column[i] *= 1.0 - eps / d->c[j];
        }
        column[j] += eps;
        cr_dense_lu_solve(m, d->small, d->pivot, column);
    }
    cr_dense_lu_solve(m, d->small, d->pivot, d->p);
    return CAROM_OK;
}

// lam and s of a working set: P lam + p = 0 for the rows in it, lam = 0 for the others.
static carom_status solve_set(const cr_zone* zone, dual* d)
{
    const int32_t m = d->m;
    int32_t count = 0;
    for (int32_t i = 0; i < m; i++) {
        d->lam[i] = 0.0;
        if (zone->line.items[i].active) {
            d->set[count++] = i;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < count; j++) {
            d->small[(ptrdiff_t)i * count + j] = d->s[(ptrdiff_t)d->set[j] * m + d->set[i]];
        }
        d->gap[i] = -d->p[d->set[i]];
    }
    if (count > 0 && cr_dense_lu(count, d->small, d->pivot) != CAROM_OK) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    if (count > 0) {
        cr_dense_lu_solve(count, d->small, d->pivot, d->gap);
    }
    for (int32_t i = 0; i < count; i++) {
        d->lam[d->set[i]] = d->gap[i];
    }
    for (int32_t i = 0; i < m; i++) {
        d->gap[i] = d->p[i];
    }
    for (int32_t j = 0; j < m; j++) {
        for (int32_t i = 0; i < m && d->lam[j] != 0.0; i++) {
            d->gap[i] += d->s[(ptrdiff_t)j * m + i] * d->lam[j];
        }
    }
    return CAROM_OK;
}

// How many rows are on the wrong side, the last of them in *last. `exchange`: they change it.
static int32_t wrong_rows(cr_zone* zone, const dual* d, int exchange, int32_t* last)
{
    double most_lam = 0.0, most_gap = 0.0;
    for (int32_t i = 0; i < d->m; i++) {
        most_lam = cr_max(most_lam, fabs(d->lam[i]));
        most_gap = cr_max(most_gap, fabs(d->p[i]));
    }
    int32_t count = 0;
    for (int32_t i = 0; i < d->m; i++) {
        cr_zone_line* line = &zone->line.items[i];
        if (line->active ? d->lam[i] < -sign_noise * most_lam
                         : d->gap[i] < -sign_noise * most_gap) {
            count++;
            *last = i;
            line->active ^= exchange;
        }
    }
    return count;
}

// All rows on the wrong side are exchanged as long as they become fewer; then the last of them
// alone, until they do: that ends for every P with positive principal minors.
static carom_status find_set(cr_zone* zone, dual* d)
{
    int32_t fewest = INT32_MAX, patience = BLOCK_ROUNDS, last = 0;
    for (int32_t round = 0; round < MOST_ROUNDS; round++) {
        const carom_status status = solve_set(zone, d);
        if (status != CAROM_OK) {
            return status;
        }
        const int32_t wrong = wrong_rows(zone, d, 0, &last);
        if (wrong == 0) {
            return CAROM_OK;
        }
        patience = wrong < fewest ? BLOCK_ROUNDS : patience - 1;
        fewest = wrong < fewest ? wrong : fewest;
        if (patience > 0) {
            wrong_rows(zone, d, 1, &last);
        } else {
            zone->line.items[last].active ^= 1;
        }
    }
    return CAROM_ERR_NO_CONVERGENCE;
}

carom_status cr_zone_dual_find(cr_zone* zone, int32_t friction)
{
    dual d;
    carom_status status = take(zone, &d);
    d.friction = friction;
    if (status == CAROM_OK) {
        status = factor_softly(zone, &d);
    }
    if (status != CAROM_OK) {
        return status;
    }
    fill_s(zone, &d);
    fill_q(zone, &d);
    status = eliminate(zone, &d);
    return status == CAROM_OK ? find_set(zone, &d) : status;
}
