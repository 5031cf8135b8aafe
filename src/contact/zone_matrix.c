#include "contact/zone_matrix.h"
#include "core/assert.h"
#include "math/dense.h"
#include <string.h>

// Below this many unknowns a dense factor beats the sparse one: eight bodies.
enum { DENSE_MOST = 48 };

carom_status cr_zone_matrix_build(cr_zone_matrix* m, int32_t block_count, const int32_t* size,
                                  int32_t pair_count, const int32_t (*pair)[2], int32_t symmetric)
{
    if (!cr_array_reserve(&m->first, block_count + 1)) {
        return CAROM_ERR_MEMORY;
    }
    m->first.items[0] = 0;
    int32_t nodes = 0;
    for (int32_t i = 0; i < block_count; i++) {
        m->first.items[i + 1] = m->first.items[i] + size[i];
        nodes += size[i] == 3;
    }
    m->woven = 2 * nodes > block_count;
    m->block_count = block_count;
    m->scalar_count = m->first.items[block_count];
    m->symmetric = symmetric;
    m->dense = m->scalar_count <= DENSE_MOST;
    if (m->dense) {
        // a sheet that is pinned everywhere has no unknowns, but its matrix has a place
        const int32_t n = m->scalar_count > 0 ? m->scalar_count : 1;
        if (!cr_array_reserve(&m->base, n * n) || !cr_array_reserve(&m->factor, n * n) ||
            !cr_array_reserve(&m->keep[0], n * n) || !cr_array_reserve(&m->pivot, n)) {
            return CAROM_ERR_MEMORY;
        }
        cr_zone_matrix_zero(m);
        return CAROM_OK;
    }
    if (!m->sparse_factor) {
        const carom_status status = cr_block_factor_create(&m->sparse_factor);
        if (status != CAROM_OK) {
            return status;
        }
    }
    const carom_status status =
        cr_block_matrix_build(&m->sparse, block_count, size, pair_count, pair, symmetric);
    if (status != CAROM_OK) {
        return status;
    }
    const int32_t kept = m->sparse.value_count;
    const int ok =
        cr_array_reserve(&m->keep[0], kept) && (symmetric || cr_array_reserve(&m->keep[1], kept));
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}

void cr_zone_matrix_release(cr_zone_matrix* m)
{
    cr_array_release(&m->first);
    cr_array_release(&m->base);
    cr_array_release(&m->factor);
    cr_array_release(&m->pivot);
    cr_array_release(&m->keep[0]);
    cr_array_release(&m->keep[1]);
    cr_block_matrix_release(&m->sparse);
    cr_block_factor_destroy(m->sparse_factor);
    m->sparse_factor = NULL;
}

void cr_zone_matrix_zero(cr_zone_matrix* m)
{
    if (m->dense) {
        memset(m->base.items, 0,
               sizeof(double) * (size_t)m->scalar_count * (size_t)m->scalar_count);
    } else {
        cr_block_matrix_zero(&m->sparse);
    }
}

// at[r][c] += b[r][c], rows of at being n apart.
static inline void add_block(int32_t ni, int32_t nj, const double* restrict b, int32_t n,
                             double* restrict at)
{
    for (int32_t r = 0; r < ni; r++) {
        for (int32_t c = 0; c < nj; c++) {
            at[r * n + c] += b[r * nj + c];
        }
    }
}

// A dense symmetric matrix is kept whole, so that it does not matter which way a block is given.
void cr_zone_matrix_add(cr_zone_matrix* m, int32_t i, int32_t j, const double* b)
{
    if (!m->dense) {
        cr_block_matrix_add(&m->sparse, i, j, b);
        return;
    }
    const int32_t n = m->scalar_count, fi = m->first.items[i], fj = m->first.items[j];
    const int32_t ni = m->first.items[i + 1] - fi, nj = m->first.items[j + 1] - fj;
    double* const at = m->base.items + (size_t)fi * (size_t)n + fj;
    if (ni == 6 && nj == 6) {
        add_block(6, 6, b, n, at); // two bodies, as nearly always: unrolled
    } else {
        add_block(ni, nj, b, n, at);
    }
    if (m->symmetric && i != j) {
        double* const mirror = m->base.items + (size_t)fj * (size_t)n + fi;
        for (int32_t r = 0; r < ni; r++) {
            for (int32_t c = 0; c < nj; c++) {
                mirror[c * n + r] += b[r * nj + c];
            }
        }
    }
}

// at[r][c] += u[r] v[c], rows of at being n apart.
static inline void add_product(int32_t ni, int32_t nj, const double* restrict u,
                               const double* restrict v, int32_t n, double* restrict at)
{
    for (int32_t r = 0; r < ni; r++) {
        for (int32_t c = 0; c < nj; c++) {
            at[r * n + c] += u[r] * v[c];
        }
    }
}

void cr_zone_matrix_add_outer(cr_zone_matrix* m, int32_t i, int32_t j, const double* u,
                              const double* v)
{
    const int32_t* first = m->first.items;
    const int32_t fi = first[i], ni = first[i + 1] - fi, fj = first[j], nj = first[j + 1] - fj;
    if (!m->dense) {
        double part[36] = {0};
        if (ni == 6 && nj == 6) {
            add_product(6, 6, u, v, 6, part);
        } else {
            add_product(ni, nj, u, v, nj, part);
        }
        cr_block_matrix_add(&m->sparse, i, j, part);
        return;
    }
    const int32_t n = m->scalar_count;
    double* const at = m->base.items + (size_t)fi * (size_t)n + fj;
    if (ni == 6 && nj == 6) {
        add_product(6, 6, u, v, n, at);
    } else {
        add_product(ni, nj, u, v, n, at);
    }
    if (m->symmetric && i != j) { // v u^T, the factors of each product the other way round
        double* const mirror = m->base.items + (size_t)fj * (size_t)n + fi;
        add_product(nj, ni, v, u, n, mirror);
    }
}

void cr_zone_matrix_add_turn(cr_zone_matrix* m, int32_t i, const double b[9])
{
    if (m->dense) {
        const int32_t n = m->scalar_count, fi = m->first.items[i];
        add_block(3, 3, b, n, m->base.items + (size_t)fi * (size_t)n + fi);
        return;
    }
    double part[36] = {0};
    add_block(3, 3, b, 6, part);
    cr_block_matrix_add(&m->sparse, i, i, part);
}

void cr_zone_matrix_spread(const cr_zone_matrix* m, int32_t stride, double* out)
{
    const size_t wide = (size_t)stride;
    const int32_t n = m->scalar_count;
    for (int32_t i = 0; i < n && m->dense; i++) {
        memcpy(out + (size_t)i * wide, m->base.items + (size_t)i * (size_t)n,
               (size_t)n * sizeof(double));
    }
    const cr_block_matrix* s = &m->sparse;
    for (int32_t j = 0; j < s->block_count && !m->dense; j++) {
        for (int32_t e = s->start.items[j]; e < s->start.items[j + 1]; e++) {
            const int32_t i = s->row.items[e], ni = s->size.items[i], nj = s->size.items[j];
            const double* lower = s->lower.items + s->place.items[e];
            const double* upper = s->symmetric ? NULL : s->upper.items + s->place.items[e];
            for (int32_t r = 0; r < ni; r++) {
                for (int32_t c = 0; c < nj; c++) {
                    const size_t row = (size_t)(s->first.items[i] + r);
                    const size_t column = (size_t)(s->first.items[j] + c);
                    const double there = lower[r * nj + c];
                    out[row * wide + column] = there;
                    if (i != j) {
                        out[column * wide + row] = upper ? upper[c * ni + r] : there;
                    }
                }
            }
        }
    }
}

void cr_zone_matrix_apply(const cr_zone_matrix* m, const double* x, double* y)
{
    if (!m->dense) {
        cr_block_matrix_apply(&m->sparse, x, y);
        return;
    }
    const int32_t n = m->scalar_count;
    for (int32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < n; j++) {
            sum += m->base.items[i * n + j] * x[j];
        }
        y[i] = sum;
    }
}

void cr_zone_matrix_apply_transposed(const cr_zone_matrix* m, const double* x, double* y)
{
    if (!m->dense) {
        cr_block_matrix_apply_transposed(&m->sparse, x, y);
        return;
    }
    const int32_t n = m->scalar_count;
    for (int32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < n; j++) {
            sum += m->base.items[j * n + i] * x[j];
        }
        y[i] = sum;
    }
}

carom_status cr_zone_matrix_begin(cr_zone_matrix* m)
{
    if (m->dense) {
        const size_t n = (size_t)m->scalar_count;
        memcpy(m->keep[0].items, m->base.items, n * n * sizeof(double));
        return CAROM_OK;
    }
    const size_t count = (size_t)m->sparse.value_count;
    memcpy(m->keep[0].items, m->sparse.lower.items, count * sizeof(double));
    if (!m->symmetric) {
        memcpy(m->keep[1].items, m->sparse.upper.items, count * sizeof(double));
    }
    return CAROM_OK;
}

carom_status cr_zone_matrix_factor(cr_zone_matrix* m)
{
    m->factor_count++;
    if (m->dense) {
        const int32_t n = m->scalar_count;
        memcpy(m->factor.items, m->base.items, sizeof(double) * (size_t)n * (size_t)n);
        return m->symmetric ? cr_dense_cholesky(n, m->factor.items)
                            : cr_dense_lu(n, m->factor.items, m->pivot.items);
    }
    cr_block_factor_share(m->sparse_factor, m->workers);
    const carom_status status = cr_block_factor_analyse(m->sparse_factor, &m->sparse);
    if (status != CAROM_OK) {
        return status;
    }
    if (m->symmetric) {
        return cr_block_factor_cholesky(m->sparse_factor, &m->sparse);
    }
    // of bodies that rub hardly a block is its mirror image, of a sheet most are
    return m->woven ? cr_block_factor_mixed(m->sparse_factor, &m->sparse)
                    : cr_block_factor_lu(m->sparse_factor, &m->sparse);
}

int cr_zone_matrix_stands(const cr_zone_matrix* m)
{
    return !m->dense && cr_block_factor_analyse(m->sparse_factor, &m->sparse) == CAROM_OK &&
           cr_block_factor_stands(m->sparse_factor);
}

// An array changes places with one that is kept: K is not needed any more.
static void exchange(double** items, int32_t* capacity, cr_zone_values* kept)
{
    double* const there = *items;
    const int32_t room = *capacity;
    *items = kept->items;
    *capacity = kept->capacity;
    kept->items = there;
    kept->capacity = room;
}

void cr_zone_matrix_reset(cr_zone_matrix* m)
{
    if (m->dense) {
        const size_t n = (size_t)m->scalar_count;
        memcpy(m->base.items, m->keep[0].items, n * n * sizeof(double));
        return;
    }
    exchange(&m->sparse.lower.items, &m->sparse.lower.capacity, &m->keep[0]);
    if (!m->symmetric) {
        exchange(&m->sparse.upper.items, &m->sparse.upper.capacity, &m->keep[1]);
    }
}

void cr_zone_matrix_solve(cr_zone_matrix* m, double* x)
{
    if (!m->dense) {
        cr_block_factor_solve(m->sparse_factor, x);
    } else if (m->symmetric) {
        cr_dense_cholesky_solve(m->scalar_count, m->factor.items, x);
    } else {
        cr_dense_lu_solve(m->scalar_count, m->factor.items, m->pivot.items, x);
    }
}

void cr_zone_matrix_solve_many(cr_zone_matrix* m, int32_t count, double* x)
{
    if (!m->dense) {
        cr_block_factor_solve_many(m->sparse_factor, count, x);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        cr_zone_matrix_solve(m, x + (ptrdiff_t)i * m->scalar_count);
    }
}

void cr_zone_matrix_solve_transposed(cr_zone_matrix* m, double* x)
{
    if (!m->dense) {
        cr_block_factor_solve_transposed(m->sparse_factor, x);
    } else if (m->symmetric) {
        cr_dense_cholesky_solve(m->scalar_count, m->factor.items, x);
    } else {
        cr_dense_lu_solve_transposed(m->scalar_count, m->factor.items, m->pivot.items, x);
    }
}
