#include "math/block_sweep.h"
#include "core/assert.h"
#include "math/block_kernel.h"
#include "math/dense.h"
#include "math/scalar.h"
#include <string.h>

// w: on sheets in steps of 1/4000 s 1.2 to 1.35 take as many rounds, 1.0 a tenth more, 0.9 a fifth.
static const double relax = 1.2;

// A diagonal block whose determinant is this far below the product of its columns is singular.
static const double least_volume = 1e-12;

enum { BEHIND, AHEAD };

void cr_block_sweep_release(cr_block_sweep* s)
{
    cr_array_release(&s->block);
    cr_array_release(&s->index);
    cr_array_release(&s->at);
    cr_array_release(&s->outside);
    for (int side = 0; side < 2; side++) {
        cr_array_release(&s->start[side]);
        cr_array_release(&s->column[side]);
        cr_array_release(&s->value[side]);
    }
    cr_array_release(&s->inverse);
    cr_array_release(&s->knot_row);
    cr_array_release(&s->knot_column);
    cr_array_release(&s->knot_value);
    cr_array_release(&s->pairs);
    cr_array_release(&s->sizes);
    cr_block_matrix_release(&s->knot);
    cr_block_factor_destroy(s->knot_factor);
    s->knot_factor = NULL;
    cr_array_release(&s->length);
    cr_array_release(&s->given);
    cr_array_release(&s->numbers);
}

// Knots first, then the others, each in the order of the matrix.
static carom_status number(cr_block_sweep* s, const cr_block_matrix* m, const uint8_t* in_knot)
{
    const int32_t count = m->block_count;
    if (!cr_array_reserve(&s->block, count) || !cr_array_reserve(&s->index, count) ||
        !cr_array_reserve(&s->at, count) || !cr_array_reserve(&s->outside, count) ||
        !cr_array_reserve(&s->sizes, count)) {
        return CAROM_ERR_MEMORY;
    }
    int32_t k = 0, scalar = 0;
    for (int side = 1; side >= 0; side--) {
        for (int32_t b = 0; b < count; b++) {
            if ((in_knot[b] != 0) != side) {
                continue;
            }
            CR_ASSERT(side || m->size.items[b] == 3);
            s->block.items[k] = b;
            s->index.items[b] = k;
            s->outside.items[k] = m->first.items[b];
            s->sizes.items[k] = m->size.items[b];
            s->at.items[b] = scalar;
            scalar += m->size.items[b];
            k++;
        }
        if (side) {
            s->knot_count = k;
            s->knot_size = scalar;
        }
    }
    s->block_count = count;
    s->row_count = count - s->knot_count;
    s->scalar_count = scalar;
    return CAROM_OK;
}

// How many entries each row has on either side, and the knot has of the others.
static carom_status count_entries(cr_block_sweep* s, const cr_block_matrix* m,
                                  const uint8_t* in_knot)
{
    const int32_t size = s->knot_size;
    int32_t felt = 0;
    for (int side = 0; side < 2; side++) {
        if (!cr_array_reserve(&s->start[side], s->row_count + 2)) {
            return CAROM_ERR_MEMORY;
        }
        memset(s->start[side].items, 0, sizeof(int32_t) * (size_t)(s->row_count + 2));
    }
    // the count of row r stands at r + 2, so that after the sums its place is at r + 1 and moves on
    // to where the next begins while it is filled
    int32_t* const behind = s->start[BEHIND].items + 2;
    int32_t* const ahead = s->start[AHEAD].items + 2;
    for (int32_t j = 0; j < m->block_count; j++) {
        for (int32_t e = m->start.items[j] + 1; e < m->start.items[j + 1]; e++) {
            const int32_t i = m->row.items[e];
            if (in_knot[i] && in_knot[j]) {
                continue;
            }
            if (in_knot[i] || in_knot[j]) {
                behind[(s->at.items[in_knot[i] ? j : i] - size) / 3]++;
                felt++;
            } else {
                behind[(s->at.items[i] - size) / 3]++;
                ahead[(s->at.items[j] - size) / 3]++;
            }
        }
    }
    for (int side = 0; side < 2; side++) {
        int32_t* start = s->start[side].items;
        for (int32_t r = 0; r < s->row_count; r++) {
            start[r + 2] += start[r + 1];
        }
        const int32_t entries = start[s->row_count + 1];
        if (!cr_array_reserve(&s->column[side], entries) ||
            !cr_array_reserve(&s->value[side], 9 * entries + 4)) { // vectors of 4 read past the end
            return CAROM_ERR_MEMORY;
        }
    }
    s->knot_row.count = s->knot_column.count = 0;
    return cr_array_reserve(&s->knot_row, felt) && cr_array_reserve(&s->knot_column, felt) &&
                   cr_array_reserve(&s->knot_value, 9 * felt + 4) &&
                   cr_array_reserve(&s->inverse, 9 * s->row_count)
               ? CAROM_OK
               : CAROM_ERR_MEMORY;
}

// out := w A^-1, by rows. 0 when there is none.
static int invert(const double* a, double* out)
{
    const double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8];
    const double c2 = a[3] * a[7] - a[4] * a[6];
    const double det = a[0] * c0 + a[1] * c1 + a[2] * c2;
    double most = 1.0;
    for (int c = 0; c < 3; c++) {
        most *= cr_max(fabs(a[c]), cr_max(fabs(a[3 + c]), fabs(a[6 + c])));
    }
    if (!(fabs(det) > least_volume * most)) { // so a NaN is refused too
        return 0;
    }
    const double f = relax / det;
    const double adjugate[9] = {c0, a[2] * a[7] - a[1] * a[8], a[1] * a[5] - a[2] * a[4],
                                c1, a[0] * a[8] - a[2] * a[6], a[2] * a[3] - a[0] * a[5],
                                c2, a[1] * a[6] - a[0] * a[7], a[0] * a[4] - a[1] * a[3]};
    for (int k = 0; k < 9; k++) {
        out[k] = f * adjugate[k];
    }
    return 1;
}

static int invert_diagonals(cr_block_sweep* s, const cr_block_matrix* m)
{
    for (int32_t r = 0; r < s->row_count; r++) {
        const int32_t b = s->block.items[s->knot_count + r];
        double turned[9];
        const double* a = m->lower.items + m->place.items[m->start.items[b]];
        for (int k = 0; k < 9 && s->transposed; k++) {
            turned[k] = a[k % 3 * 3 + k / 3];
        }
        if (!invert(s->transposed ? turned : a, s->inverse.items + 9 * (size_t)r)) {
            return 0;
        }
    }
    return 1;
}

// to, by columns, := D B of two blocks by rows; B transposed where `turned`
static void scale(const double* d, const double* b, int turned, double* to)
{
    double t[9];
    for (int k = 0; k < 9 && turned; k++) {
        t[k] = b[k % 3 * 3 + k / 3];
    }
    const double* from = turned ? t : b;
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++) {
            to[3 * c + r] =
                d[3 * r] * from[c] + d[3 * r + 1] * from[3 + c] + d[3 * r + 2] * from[6 + c];
        }
    }
}

// An entry of the row that holds block b, with its column at `column`.
static void enter(cr_block_sweep* s, int side, int32_t b, int32_t column, const double* value,
                  int turned)
{
    const int32_t row = (s->at.items[b] - s->knot_size) / 3;
    const int32_t place = s->start[side].items[row + 1]++;
    s->column[side].items[place] = column;
    scale(s->inverse.items + 9 * (size_t)row, value, turned,
          s->value[side].items + 9 * (size_t)place);
}

static void feel(cr_block_sweep* s, int32_t row, int32_t column, const double* value, int turned)
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int32_t place = s->knot_row.count++;
    s->knot_row.items[place] = row;
    s->knot_column.items[place] = column;
    s->knot_column.count++;
    scale(one, value, turned, s->knot_value.items + 9 * (size_t)place);
}

// Every entry e of the matrix holds block (i,j) and block (j,i); of a symmetric matrix, and of the
// transpose, they are given the other way round.
static void fill(cr_block_sweep* s, const cr_block_matrix* m, const uint8_t* in_knot)
{
    for (int32_t j = 0; j < m->block_count; j++) {
        for (int32_t e = m->start.items[j] + 1; e < m->start.items[j + 1]; e++) {
            const int32_t i = m->row.items[e];
            if (in_knot[i] && in_knot[j]) {
                continue;
            }
            const double* lower = m->lower.items + m->place.items[e];
            const double* upper = m->symmetric ? lower : m->upper.items + m->place.items[e];
            const double* ij = s->transposed ? upper : lower;
            const double* ji = s->transposed ? lower : upper;
            const int ij_turned = s->transposed && !m->symmetric;
            const int ji_turned = s->transposed || m->symmetric;
            const int32_t at_i = s->at.items[i], at_j = s->at.items[j];
            if (in_knot[j]) {
                enter(s, BEHIND, i, at_j, ij, ij_turned);
                feel(s, at_j, at_i, ji, ji_turned);
            } else if (in_knot[i]) {
                enter(s, BEHIND, j, at_i, ji, ji_turned);
                feel(s, at_i, at_j, ij, ij_turned);
            } else {
                enter(s, BEHIND, i, at_j, ij, ij_turned);
                enter(s, AHEAD, j, at_i, ji, ji_turned);
            }
        }
    }
}

// The knot as a matrix of its own, and its factor.
static carom_status tie(cr_block_sweep* s, const cr_block_matrix* m, const uint8_t* in_knot)
{
    if (s->knot_count == 0) {
        return CAROM_OK;
    }
    if (!s->knot_factor) {
        const carom_status status = cr_block_factor_create(&s->knot_factor);
        if (status != CAROM_OK) {
            return status;
        }
    }
    s->pairs.count = 0;
    for (int32_t k = 0; k < s->knot_count; k++) {
        const int32_t j = s->block.items[k];
        for (int32_t e = m->start.items[j] + 1; e < m->start.items[j + 1]; e++) {
            const int32_t i = m->row.items[e];
            if (in_knot[i] &&
                (!cr_array_push(&s->pairs, s->index.items[i]) || !cr_array_push(&s->pairs, k))) {
                return CAROM_ERR_MEMORY;
            }
        }
    }
    carom_status status =
        cr_block_matrix_build(&s->knot, s->knot_count, s->sizes.items, s->pairs.count / 2,
                              (const int32_t(*)[2])(const void*)s->pairs.items, m->symmetric);
    for (int32_t k = 0; k < s->knot_count && status == CAROM_OK; k++) {
        const int32_t j = s->block.items[k];
        for (int32_t e = m->start.items[j]; e < m->start.items[j + 1]; e++) {
            const int32_t i = m->row.items[e], own = s->index.items[i];
            if (!in_knot[i]) {
                continue;
            }
            cr_block_matrix_add(&s->knot, own, k, m->lower.items + m->place.items[e]);
            if (!m->symmetric && i != j) {
                cr_block_matrix_add(&s->knot, k, own, m->upper.items + m->place.items[e]);
            }
        }
    }
    if (status == CAROM_OK) {
        status = cr_block_factor_analyse(s->knot_factor, &s->knot);
    }
    return status == CAROM_OK ? cr_block_factor_lu(s->knot_factor, &s->knot) : status;
}

carom_status cr_block_sweep_build(cr_block_sweep* s, const cr_block_matrix* m,
                                  const uint8_t* in_knot, const double* length, int32_t transposed)
{
    enum { VECTORS = 7, PAST_END = 4 };
    s->kernel = cr_block_kernel_best();
    s->transposed = transposed;
    carom_status status = number(s, m, in_knot);
    if (status == CAROM_OK) {
        status = count_entries(s, m, in_knot);
    }
    if (status != CAROM_OK || !cr_array_reserve(&s->length, s->knot_size) ||
        !cr_array_reserve(&s->given, s->knot_size) ||
        !cr_array_reserve(&s->numbers, VECTORS * (s->scalar_count + PAST_END))) {
        return CAROM_ERR_MEMORY;
    }
    if (!invert_diagonals(s, m)) {
        return CAROM_ERR_NOT_POSITIVE;
    }
    fill(s, m, in_knot);
    for (int32_t k = 0; k < s->knot_count; k++) {
        for (int32_t c = 0; c < s->sizes.items[k]; c++) {
            s->length.items[s->at.items[s->block.items[k]] + c] =
                length ? length[s->outside.items[k] + c] : 1.0;
        }
    }
    return tie(s, m, in_knot);
}

// x := factor K^-1 x of the knot K
static void untie(cr_block_sweep* s, double factor, double* x)
{
    if (s->knot_count == 0) {
        return;
    }
    if (s->transposed) {
        cr_block_factor_solve_transposed(s->knot_factor, x);
    } else {
        cr_block_factor_solve(s->knot_factor, x);
    }
    for (int32_t i = 0; i < s->knot_size; i++) {
        x[i] *= factor;
    }
}

// f := what the knot feels of the others at x
static void feel_others(const cr_block_sweep* s, const double* x, double* f)
{
    memset(f, 0, sizeof(double) * (size_t)s->knot_size);
    for (int32_t e = 0; e < s->knot_row.count; e++) {
        const double* b = s->knot_value.items + 9 * (size_t)e;
        const double* v = x + s->knot_column.items[e];
        double* to = f + s->knot_row.items[e];
        for (int r = 0; r < 3; r++) {
            to[r] += b[r] * v[0] + b[3 + r] * v[1] + b[6 + r] * v[2];
        }
    }
}

// x := (1 + L')^-1 x. Nothing is behind the knot.
static void sweep_up(const cr_block_sweep* s, double* x)
{
    s->kernel->sweep(s->row_count, 1, s->start[BEHIND].items, s->column[BEHIND].items,
                     s->value[BEHIND].items, x, x + s->knot_size);
}

// x := (1 + U')^-1 x. The knot comes last and feels f of what is ahead of it; f [knot_size] is
// scratch.
static void sweep_down(cr_block_sweep* s, double* f, double* x)
{
    s->kernel->sweep(s->row_count, -1, s->start[AHEAD].items, s->column[AHEAD].items,
                     s->value[AHEAD].items, x, x + s->knot_size);
    if (s->knot_count == 0) {
        return;
    }
    feel_others(s, x, f);
    untie(s, relax, f);
    for (int32_t i = 0; i < s->knot_size; i++) {
        x[i] -= f[i];
    }
}

// q := O v, with t as scratch
static void apply(cr_block_sweep* s, const double* v, double* f, double* t, double* q)
{
    const int32_t n = s->scalar_count;
    memcpy(t, v, sizeof(double) * (size_t)n);
    sweep_down(s, f, t);
    for (int32_t i = 0; i < n; i++) {
        q[i] = v[i] + (relax - 2.0) * t[i];
    }
    sweep_up(s, q);
    for (int32_t i = 0; i < n; i++) {
        q[i] += t[i];
    }
}

// In eight sums that do not wait for each other; unknowns of the knot by their lengths.
static double inner(const cr_block_sweep* s, const double* restrict x, const double* restrict y)
{
    double sum[8] = {0};
    int32_t i = 0;
    for (; i < s->knot_size; i++) {
        const double length = s->length.items[i];
        sum[0] += (length * x[i]) * (length * y[i]);
    }
    for (; i + 8 <= s->scalar_count; i += 8) {
        for (int c = 0; c < 8; c++) {
            sum[c] += x[i + c] * y[i + c];
        }
    }
    for (; i < s->scalar_count; i++) {
        sum[0] += x[i] * y[i];
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

// The larger of two sizes; a NaN stays.
static inline double larger(double most, double size)
{
    return size > most || isnan(size) ? size : most;
}

// The largest of them, likewise.
static double largest(const cr_block_sweep* s, const double* x)
{
    double most[8] = {0};
    int32_t i = 0;
    for (; i < s->knot_size; i++) {
        most[0] = larger(most[0], fabs(s->length.items[i] * x[i]));
    }
    for (; i + 8 <= s->scalar_count; i += 8) {
        for (int c = 0; c < 8; c++) {
            most[c] = larger(most[c], fabs(x[i + c]));
        }
    }
    for (; i < s->scalar_count; i++) {
        most[0] = larger(most[0], fabs(x[i]));
    }
    for (int c = 1; c < 8; c++) {
        most[0] = larger(most[0], most[c]);
    }
    return most[0];
}

// Where the matrix is symmetric each direction p with q = O p across the one before is across all
// of them, but for the metric in which that would be so; where it is not so in the knot alone, the
// same has been enough.
//
// The unknowns of the knot are at last those that go with the others, to the last digit: a body may
// be stiffer against the nodes it touches than it is heavy by as many orders as the rounds have
// found.
carom_status cr_block_sweep_solve(cr_block_sweep* s, double* x, double enough, double digits,
                                  int32_t most)
{
    const int32_t n = s->scalar_count;
    const ptrdiff_t wide = n + 4; // vectors of 4 read past the end
    double *y = s->numbers.items, *r = y + wide, *t = r + wide;
    double *p = t + wide, *q = p + wide, *p_before = q + wide, *q_before = p_before + wide;
    double* const f = x; // whatever the knot feels: x is free until its end
    double* const b = s->given.items;
    memset(y, 0, sizeof(double) * (size_t)(7 * wide));
    for (int32_t k = 0; k < s->block_count; k++) {
        memcpy(r + s->at.items[s->block.items[k]], x + s->outside.items[k],
               sizeof(double) * (size_t)s->sizes.items[k]);
    }
    for (int32_t i = 0; i < s->knot_size; i++) {
        b[i] = r[i];
    }
    untie(s, relax, r);
    for (int32_t k = 0; k < s->row_count; k++) {
        const double* d = s->inverse.items + 9 * (size_t)k;
        double* at = r + s->knot_size + 3 * (size_t)k;
        const double given[3] = {at[0], at[1], at[2]};
        for (int c = 0; c < 3; c++) {
            at[c] = d[3 * c] * given[0] + d[3 * c + 1] * given[1] + d[3 * c + 2] * given[2];
        }
    }
    sweep_up(s, r);
    double left = largest(s, r), qq_before = 0.0;
    s->tolerance = cr_max(enough, digits * left);
    for (int32_t it = 0; !(left <= s->tolerance); it++) {
        if (it >= most || !isfinite(left)) {
            return CAROM_ERR_NO_CONVERGENCE;
        }
        memcpy(p, r, sizeof(double) * (size_t)n);
        apply(s, p, f, t, q);
        if (it > 0) {
            const double along = inner(s, q, q_before) / qq_before;
            cr_dense_add_times(n, -along, p_before, p);
            cr_dense_add_times(n, -along, q_before, q);
        }
        const double qq = inner(s, q, q);
        const double along = inner(s, r, q) / qq;
        cr_dense_add_times(n, along, p, y);
        cr_dense_add_times(n, -along, q, r);
        left = largest(s, r);
        double *const free_p = p_before, *const free_q = q_before;
        p_before = p;
        q_before = q;
        p = free_p;
        q = free_q;
        qq_before = qq;
    }
    sweep_down(s, f, y);
    feel_others(s, y, f);
    for (int32_t i = 0; i < s->knot_size; i++) {
        y[i] = b[i] - f[i];
    }
    untie(s, 1.0, y);
    for (int32_t k = 0; k < s->block_count; k++) {
        memcpy(x + s->outside.items[k], y + s->at.items[s->block.items[k]],
               sizeof(double) * (size_t)s->sizes.items[k]);
    }
    return CAROM_OK;
}
