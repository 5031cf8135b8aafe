#include "math/block_matrix.h"
#include "core/assert.h"
#include <string.h>

// Gives every array of the pattern its room; the values follow once their number is known.
static int reserve_pattern(cr_block_matrix* m, int32_t block_count, int32_t listed)
{
    return cr_array_reserve(&m->size, block_count) &&
           cr_array_reserve(&m->first, block_count + 1) &&
           cr_array_reserve(&m->start, block_count + 1) && cr_array_reserve(&m->row, listed) &&
           cr_array_reserve(&m->place, listed + 1) &&
           cr_array_reserve(&m->scratch, listed + block_count + 1);
}

// Counts into sums: slot[i] becomes the number of items in the buckets before i.
static void counts_to_starts(int32_t count, int32_t* slot)
{
    int32_t sum = 0;
    for (int32_t i = 0; i <= count; i++) {
        const int32_t here = slot[i];
        slot[i] = sum;
        sum += here;
    }
}

// Two passes of a bucket sort, by row and then by column, leave each column's rows ascending. The
// sorted list is kept as rows alone (place) beside their columns (row) until repeats are dropped.
static void sort_pairs(cr_block_matrix* m, int32_t pair_count, const int32_t (*pair)[2])
{
    const int32_t n = m->block_count;
    const int32_t listed = pair_count + n;
    int32_t* by_row = m->scratch.items; // [listed] columns, in order of rows
    int32_t* slot = by_row + listed;    // [n+1]
    int32_t* start = m->start.items;    // [n+1]
    memset(slot, 0, (size_t)(n + 1) * sizeof *slot);
    memset(start, 0, (size_t)(n + 1) * sizeof *start);
    for (int32_t p = 0; p < pair_count; p++) {
        const int32_t i = pair[p][0], j = pair[p][1];
        CR_ASSERT(i >= 0 && i < n && j >= 0 && j < n);
        slot[i > j ? i : j]++;
        start[i > j ? j : i]++;
    }
    for (int32_t i = 0; i < n; i++) {
        slot[i]++; // the diagonal
        start[i]++;
    }
    counts_to_starts(n, slot);
    counts_to_starts(n, start);
    for (int32_t p = 0; p < pair_count; p++) {
        const int32_t i = pair[p][0], j = pair[p][1];
        by_row[slot[i > j ? i : j]++] = i > j ? j : i;
    }
    for (int32_t i = 0; i < n; i++) {
        by_row[slot[i]++] = i;
    }
    // slot[i] is now the end of row i; the second pass moves start[j] to the end of column j
    for (int32_t i = 0, p = 0; i < n; i++) {
        for (; p < slot[i]; p++) {
            m->row.items[start[by_row[p]]++] = i;
        }
    }
}

// Drops repeats, sets start and place. Returns the number of doubles, or -1 when it does not fit.
static int64_t close_up(cr_block_matrix* m)
{
    const int32_t* size = m->size.items;
    int32_t* row = m->row.items;
    int64_t values = 0;
    int32_t kept = 0;
    for (int32_t j = 0, p = 0; j < m->block_count; j++) {
        const int32_t end = m->start.items[j]; // as sort_pairs left it
        m->start.items[j] = kept;
        for (; p < end; p++) {
            if (kept > m->start.items[j] && row[kept - 1] == row[p]) {
                continue;
            }
            row[kept] = row[p];
            m->place.items[kept++] = (int32_t)values;
            values += size[row[p]] * size[j];
            if (values > INT32_MAX) {
                return -1;
            }
        }
    }
    m->start.items[m->block_count] = kept;
    m->place.items[kept] = (int32_t)values;
    m->entry_count = kept;
    return values;
}

carom_status cr_block_matrix_build(cr_block_matrix* m, int32_t block_count, const int32_t* size,
                                   int32_t pair_count, const int32_t (*pair)[2], int32_t symmetric)
{
    CR_ASSERT(block_count >= 0 && pair_count >= 0);
    const int64_t listed = (int64_t)pair_count + block_count;
    if (listed + block_count >= INT32_MAX || !reserve_pattern(m, block_count, (int32_t)listed)) {
        return CAROM_ERR_MEMORY;
    }
    m->block_count = block_count;
    m->symmetric = symmetric;
    m->entry_count = m->value_count = 0;
    int32_t scalars = 0;
    for (int32_t i = 0; i < block_count; i++) {
        CR_ASSERT(size[i] >= 1 && size[i] <= 6);
        m->size.items[i] = size[i];
        m->first.items[i] = scalars;
        scalars += size[i];
    }
    m->first.items[block_count] = scalars;
    m->scalar_count = scalars;
    sort_pairs(m, pair_count, pair);
    const int64_t values = close_up(m);
    if (values < 0 || !cr_array_reserve(&m->lower, (int32_t)values) ||
        (!symmetric && !cr_array_reserve(&m->upper, (int32_t)values))) {
        m->block_count = m->scalar_count = m->entry_count = 0;
        return CAROM_ERR_MEMORY;
    }
    m->value_count = (int32_t)values;
    m->size.count = block_count;
    m->first.count = m->start.count = block_count + 1;
    m->row.count = m->entry_count;
    m->place.count = m->entry_count + 1;
    m->lower.count = m->value_count;
    m->upper.count = symmetric ? 0 : m->value_count;
    cr_block_matrix_zero(m);
    return CAROM_OK;
}

void cr_block_matrix_release(cr_block_matrix* m)
{
    cr_array_release(&m->size);
    cr_array_release(&m->first);
    cr_array_release(&m->start);
    cr_array_release(&m->row);
    cr_array_release(&m->place);
    cr_array_release(&m->lower);
    cr_array_release(&m->upper);
    cr_array_release(&m->scratch);
    memset(m, 0, sizeof *m);
}

void cr_block_matrix_zero(cr_block_matrix* m)
{
    if (m->value_count > 0) {
        const size_t bytes = (size_t)m->value_count * sizeof(double);
        memset(m->lower.items, 0, bytes);
        if (!m->symmetric) {
            memset(m->upper.items, 0, bytes);
        }
    }
}

int32_t cr_block_matrix_find(const cr_block_matrix* m, int32_t i, int32_t j)
{
    const int32_t row = i > j ? i : j;
    const int32_t column = i > j ? j : i;
    int32_t low = m->start.items[column];
    int32_t high = m->start.items[column + 1];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (m->row.items[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < m->start.items[column + 1] && m->row.items[low] == row ? low : -1;
}

void cr_block_matrix_add(cr_block_matrix* m, int32_t i, int32_t j, const double* b)
{
    const int32_t e = cr_block_matrix_find(m, i, j);
    CR_ASSERT(e >= 0);
    const int32_t rows = m->size.items[i], columns = m->size.items[j];
    if (i < j && m->symmetric) {
        double* to = m->lower.items + m->place.items[e]; // block (j,i), columns x rows
        for (int32_t r = 0; r < rows; r++) {
            for (int32_t c = 0; c < columns; c++) {
                to[c * rows + r] += b[r * columns + c];
            }
        }
        return;
    }
    double* to = (i < j ? m->upper.items : m->lower.items) + m->place.items[e];
    for (int32_t v = 0; v < rows * columns; v++) {
        to[v] += b[v];
    }
}

// y += B x, B row-major. The sizes are those of bodies and nodes, so that loops of known length
// serve nearly every call.
static inline void add_product(int32_t rows, int32_t columns, const double* b, const double* x,
                               double* y)
{
    for (int32_t r = 0; r < rows; r++) {
        double sum = 0.0;
        for (int32_t c = 0; c < columns; c++) {
            sum += b[r * columns + c] * x[c];
        }
        y[r] += sum;
    }
}

// y += B^T x
static inline void add_transposed(int32_t rows, int32_t columns, const double* b, const double* x,
                                  double* y)
{
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < columns; c++) {
            y[c] += b[r * columns + c] * x[r];
        }
    }
}

static void add_block(int32_t rows, int32_t columns, int32_t transposed, const double* b,
                      const double* x, double* y)
{
    if (rows == 6 && columns == 6) {
        transposed ? add_transposed(6, 6, b, x, y) : add_product(6, 6, b, x, y);
    } else if (rows == 3 && columns == 3) {
        transposed ? add_transposed(3, 3, b, x, y) : add_product(3, 3, b, x, y);
    } else {
        transposed ? add_transposed(rows, columns, b, x, y) : add_product(rows, columns, b, x, y);
    }
}

// y = A x or A^T x. Entry e adds block (i,j) times x_j to y_i and, off the diagonal, block (j,i)
// times x_i to y_j.
static void apply(const cr_block_matrix* m, int32_t transposed, const double* x, double* y)
{
    if (m->scalar_count > 0) {
        memset(y, 0, (size_t)m->scalar_count * sizeof *y);
    }
    for (int32_t j = 0; j < m->block_count; j++) {
        const int32_t nj = m->size.items[j], at_j = m->first.items[j];
        for (int32_t e = m->start.items[j]; e < m->start.items[j + 1]; e++) {
            const int32_t i = m->row.items[e];
            const int32_t ni = m->size.items[i], at_i = m->first.items[i];
            const double* lower = m->lower.items + m->place.items[e];
            if (i == j) {
                add_block(ni, nj, transposed, lower, x + at_j, y + at_j);
            } else if (m->symmetric) {
                add_block(ni, nj, 0, lower, x + at_j, y + at_i);
                add_block(ni, nj, 1, lower, x + at_i, y + at_j);
            } else {
                const double* upper = m->upper.items + m->place.items[e];
                const double* below = transposed ? upper : lower; // what acts on x_j
                const double* above = transposed ? lower : upper; // what acts on x_i
                add_block(transposed ? nj : ni, transposed ? ni : nj, transposed, below, x + at_j,
                          y + at_i);
                add_block(transposed ? ni : nj, transposed ? nj : ni, transposed, above, x + at_i,
                          y + at_j);
            }
        }
    }
}

void cr_block_matrix_apply(const cr_block_matrix* m, const double* x, double* y)
{
    apply(m, 0, x, y);
}

void cr_block_matrix_apply_transposed(const cr_block_matrix* m, const double* x, double* y)
{
    apply(m, 1, x, y);
}
