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
// exchanged, and all there are: a set that exists is found in five or so. Row by row it takes about
// as many exchanges as there are rows; so many times that is a circle.
enum { BLOCK_ROUNDS = 4, MOST_ROUNDS = 24, MOST_LAPS = 4, LANES = 8 };
static const double sign_noise = 1e-11;

typedef struct dual {
    int32_t m;            // rows that a working set of this step had
    int32_t friction;     // nonzero: B = A^T less friction, else A^T
    double* c;            // [m] 1/kg
    double* s;            // [m*m] S by columns, s[j*m + i] = a_i K^-1 b_j; then P by rows
    double* p;            // [m]
    double* lam;          // [m]
    double* gap;          // [m] s of the text
    double* small;        // [m*m] system of one working set
    double* table;        // [m*(m+2)] of the exchange row by row
    double* column;       // [LANES*n]
    int32_t* row;         // [m] lines
    int32_t *set, *pivot; // [m], [m+1]
} dual;

static carom_status take(cr_zone* zone, dual* d)
{
    int32_t m = 0;
    if (!cr_array_reserve(&zone->dual_set, 3 * zone->line.count + 1)) {
        return CAROM_ERR_MEMORY;
    }
    d->row = zone->dual_set.items;
    for (int32_t i = 0; i < zone->line.count; i++) {
        if (zone->line.items[i].wanted) {
            d->row[m++] = i;
        }
    }
    const int64_t count = 3 * (int64_t)m * m + 6 * (int64_t)m + LANES * (int64_t)zone->n;
    d->m = m;
    if (!cr_array_reserve(&zone->dual, (int32_t)count)) {
        return CAROM_ERR_MEMORY;
    }
    const size_t n = (size_t)m;
    d->s = zone->dual.items;
    d->small = d->s + n * n;
    d->table = d->small + n * n;
    d->c = d->table + n * (n + 2);
    d->p = d->c + n;
    d->lam = d->p + n;
    d->gap = d->lam + n;
    d->column = d->gap + n;
    d->set = d->row + zone->line.count;
    d->pivot = d->set + m;
    return CAROM_OK;
}

static cr_zone_line* row_of(const cr_zone* zone, const dual* d, int32_t i)
{
    return &zone->line.items[d->row[i]];
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
        const cr_zone_line* line = row_of(zone, d, i);
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
            cr_zone_line_push(zone, row_of(zone, d, first + j), 1.0, d->friction,
                              d->column + (ptrdiff_t)j * zone->n);
        }
        cr_zone_matrix_solve_many(&zone->matrix, count, d->column);
        for (int32_t j = 0; j < count; j++) {
            const double* x = d->column + (ptrdiff_t)j * zone->n;
            for (int32_t i = 0; i < d->m; i++) {
                const cr_zone_line* line = row_of(zone, d, i);
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
        const cr_zone_line* line = row_of(zone, d, i);
        cr_zone_line_push(zone, line, -(line->row.gap + line->sink) / d->c[i], d->friction, x);
    }
    cr_zone_matrix_solve(&zone->matrix, x);
    for (int32_t i = 0; i < d->m; i++) {
        const cr_zone_line* line = row_of(zone, d, i);
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
        const double eps = row_of(zone, d, j)->eps;
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
        if (row_of(zone, d, i)->active) {
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

// Rows on the wrong side change it; how many there were.
static int32_t exchange_wrong(cr_zone* zone, const dual* d)
{
    double most_lam = 0.0, most_gap = 0.0;
    for (int32_t i = 0; i < d->m; i++) {
        most_lam = cr_max(most_lam, fabs(d->lam[i]));
        most_gap = cr_max(most_gap, fabs(d->p[i]));
    }
    int32_t count = 0;
    for (int32_t i = 0; i < d->m; i++) {
        cr_zone_line* line = row_of(zone, d, i);
        if (line->active ? d->lam[i] < -sign_noise * most_lam
                         : d->gap[i] < -sign_noise * most_gap) {
            count++;
            line->active ^= 1;
        }
    }
    return count;
}

// Exchanges the basic variable of row r for the one of column e, entries of a row being m + 2
// apart.
static void pivot(int32_t m, double* t, int32_t r, int32_t e)
{
    const ptrdiff_t wide = m + 2;
    double* row = t + r * wide;
    const double by = 1.0 / row[e];
    row[e] = -1.0;
    for (ptrdiff_t k = 0; k < wide; k++) {
        row[k] *= -by;
    }
    for (int32_t i = 0; i < m; i++) {
        double* other = t + i * wide;
        const double times = other[e];
        if (i == r || times == 0.0) {
            continue;
        }
        other[e] = 0.0;
        for (ptrdiff_t k = 0; k < wide; k++) {
            other[k] += times * row[k];
        }
    }
}

// The row whose variable is the first to come to 0 as that of column e grows, the steepest of those
// that do so together; -1: none. The last column holds what the variables are.
static int32_t first_blocked(int32_t m, const double* t, int32_t e)
{
    static const double flat = 1e-11, together = 1e-12;
    const ptrdiff_t wide = m + 2;
    double least = HUGE_VAL, most = 0.0;
    for (int32_t i = 0; i < m; i++) {
        most = cr_max(most, fabs(t[i * wide + e]));
    }
    for (int32_t i = 0; i < m; i++) {
        const double down = -t[i * wide + e];
        if (down > flat * most) {
            least = cr_min(least, cr_max(t[i * wide + m + 1], 0.0) / down);
        }
    }
    int32_t found = -1;
    double steepest = 0.0;
    for (int32_t i = 0; i < m && isfinite(least); i++) {
        const double down = -t[i * wide + e];
        if (down > flat * most && down > steepest &&
            cr_max(t[i * wide + m + 1], 0.0) <= (1.0 + together) * least * down) {
            found = i;
            steepest = down;
        }
    }
    return found;
}

// s = P lam + p by the method of Lemke: all gaps are widened by the same z0, which is enough, and
// as much of it is taken back as rows allow, each time exchanging the row that is in the way. That
// ends with z0 = 0 wherever P is positive semidefinite, round-off aside.
static carom_status lemke(cr_zone* zone, dual* d)
{
    const int32_t m = d->m;
    const ptrdiff_t wide = m + 2;
    double* t = d->table;
    int32_t *basic = d->set, *other = d->pivot; // variables: j lam, m + j s, 2 m z0
    double* size = d->lam;
    int32_t r = 0;
    for (int32_t i = 0; i < m; i++) {
        size[i] = sqrt(d->s[(ptrdiff_t)i * m + i]);
        if (!(size[i] > 0.0)) {
            return CAROM_ERR_NO_CONVERGENCE;
        }
    }
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < m; j++) {
            t[i * wide + j] = d->s[(ptrdiff_t)j * m + i] / (size[i] * size[j]);
        }
        t[i * wide + m] = 1.0;
        t[i * wide + m + 1] = d->p[i] / size[i];
        basic[i] = m + i;
        other[i] = i;
        r = t[i * wide + m + 1] < t[r * wide + m + 1] ? i : r;
    }
    other[m] = 2 * m;
    int32_t e = m, left = -1;
    for (int32_t round = 0; round < MOST_LAPS * (m + 1) && left != 2 * m && r >= 0; round++) {
        left = basic[r];
        basic[r] = other[e];
        other[e] = left;
        pivot(m, t, r, e);
        const int32_t next = left >= m ? left - m : left + m; // what may grow now
        for (e = 0; e < m && other[e] != next; e++) {
        }
        r = left != 2 * m ? first_blocked(m, t, e) : 0;
    }
    if (left != 2 * m) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    for (int32_t i = 0; i < m; i++) {
        row_of(zone, d, i)->active = 0;
    }
    for (int32_t i = 0; i < m; i++) {
        if (basic[i] < m) {
            row_of(zone, d, basic[i])->active = 1;
        }
    }
    return CAROM_OK;
}

// All rows on the wrong side are exchanged as long as they become fewer. False: they do not.
static int exchange_all(cr_zone* zone, dual* d, carom_status* status)
{
    int32_t fewest = INT32_MAX, patience = BLOCK_ROUNDS;
    for (int32_t round = 0; round < MOST_ROUNDS && patience > 0; round++) {
        *status = solve_set(zone, d);
        if (*status != CAROM_OK) {
            return 0;
        }
        const int32_t wrong = exchange_wrong(zone, d);
        if (wrong == 0) {
            return 1;
        }
        patience = wrong < fewest ? BLOCK_ROUNDS : patience - 1;
        fewest = wrong < fewest ? wrong : fewest;
    }
    *status = CAROM_ERR_NO_CONVERGENCE;
    return 0;
}

// Where exchanging all that is wrong goes round in circles the set is found row by row; what
// round-off made of that is looked at once more.
static carom_status find_set(cr_zone* zone, dual* d)
{
    carom_status status;
    if (!exchange_all(zone, d, &status) && status == CAROM_ERR_NO_CONVERGENCE) {
        status = lemke(zone, d);
        if (status == CAROM_OK) {
            exchange_all(zone, d, &status);
        }
    }
    return status;
}

carom_status cr_zone_dual_find(cr_zone* zone, int32_t friction)
{
    dual d = {0};
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
