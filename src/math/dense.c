#include "math/dense.h"
#include "core/assert.h"
#include "math/block_kernel.h"
#include "math/scalar.h"
#include <float.h>

#include <string.h>

// A pivot this far below the diagonal entry it came from is round-off, not stiffness. The pivots of
// an LU, compared with the largest entry of their column, carry the round-off of small ones before.
static const double pivot_floor = 1e-14;
static const double lu_pivot_floor = 1e-13;

enum {
    pivots_at_once = 4, // columns of the factor that are applied to the rest of A together
    chunk = 64,         // columns of the rest of A that are visited together
    kernel_least = 7,   // sizes that the kernels of supernodes do faster, from a copy
    kernel_most = 60,
    kernel_step = 72, // whole lines, and the slack the kernels want behind a column
    lone = 6,         // one body: so common that its loops are written out, by the compiler
    eigen_most = 12,
    eigen_sweeps = 40, // 6 to 8 do; the limit is for NaN
};

static inline double* row_of(double* a, int32_t n, int32_t i)
{
    return a + (size_t)i * (size_t)n;
}

static inline const double* row_in(const double* a, int32_t n, int32_t i)
{
    return a + (size_t)i * (size_t)n;
}

// Whether what elimination left of a diagonal entry is a pivot. Row j of the factor still knows the
// entry: a_jj = sum_k l_jk^2 + left.
static int acceptable(double left, const double* row, int32_t j)
{
    double entry = fabs(left);
    for (int32_t k = 0; k < j; k++) {
        entry += row[k] * row[k];
    }
    return left > pivot_floor * entry && left <= DBL_MAX;
}

// Columns j .. j+count-1 of the factor, all rows, given that earlier columns have been applied.
static int factor_columns(int32_t n, double* a, int32_t j, int32_t count)
{
    double inverse[pivots_at_once] = {0};
    for (int32_t i = j; i < n; i++) {
        double* row = row_of(a, n, i) + j;
        const int32_t inside = i - j; // row i meets its own pivot here
        for (int32_t c = 0; c < count && c <= inside; c++) {
            double sum = row[c];
            const double* pivot_row = row_in(a, n, j + c) + j;
            for (int32_t k = 0; k < c; k++) {
                sum -= row[k] * pivot_row[k];
            }
            if (c < inside) {
                row[c] = sum * inverse[c];
                continue;
            }
            if (!acceptable(sum, row_in(a, n, i), i)) {
                return 0;
            }
            row[c] = sqrt(sum);
            inverse[c] = 1.0 / row[c];
        }
    }
    return 1;
}

// A := A - C C^T on the rows and columns from `first` on, C being columns j .. j+3. Down a column
// of C the numbers lie n apart, so a chunk of them is drawn together first.
static void apply_columns(int32_t n, double* a, int32_t j, int32_t first)
{
    double column[pivots_at_once][chunk];
    for (int32_t from = first; from < n; from += chunk) {
        const int32_t to = n - from < chunk ? n : from + chunk;
        for (int32_t k = from; k < to; k++) {
            const double* row = row_in(a, n, k) + j;
            for (int32_t c = 0; c < pivots_at_once; c++) {
                column[c][k - from] = row[c];
            }
        }
        for (int32_t i = from; i < n; i++) {
            const double* c = row_in(a, n, i) + j;
            const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
            double* row = row_of(a, n, i) + from;
            const int32_t length = (i < to ? i + 1 : to) - from;
            for (int32_t k = 0; k < length; k++) {
                row[k] -=
                    c0 * column[0][k] + c1 * column[1][k] + c2 * column[2][k] + c3 * column[3][k];
            }
        }
    }
}

// Column-major, with zeros above the diagonal and in the rows behind that the kernels touch.
static carom_status cholesky_by_kernels(int32_t n, double* a)
{
    _Alignas(64) double d[kernel_most * kernel_step];
    double inverse[kernel_most];
    memset(d, 0, (size_t)(n * kernel_step) * sizeof *d);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j <= i; j++) {
            d[j * kernel_step + i] = a[i * n + j];
        }
        inverse[i] = pivot_floor * fabs(a[i * n + i]);
    }
    if (!cr_block_kernel_best()->cholesky(n, d, kernel_step, inverse)) {
        return CAROM_ERR_NOT_POSITIVE;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j <= i; j++) {
            a[i * n + j] = d[j * kernel_step + i];
        }
    }
    return CAROM_OK;
}

// Row by row, for what is too small for anything cleverer.
__attribute__((always_inline)) static inline carom_status cholesky_by_rows(int32_t n, double* a)
{
    double inverse[kernel_least];
    for (int32_t i = 0; i < n; i++) {
        double* row = row_of(a, n, i);
        double left = row[i];
        const double least = pivot_floor * fabs(left);
        for (int32_t j = 0; j < i; j++) {
            const double* other = row_in(a, n, j);
            double sum = row[j];
            for (int32_t k = 0; k < j; k++) {
                sum -= row[k] * other[k];
            }
            row[j] = sum * inverse[j];
            left -= row[j] * row[j];
        }
        if (!(left > least && left <= DBL_MAX)) {
            return CAROM_ERR_NOT_POSITIVE;
        }
        row[i] = sqrt(left);
        inverse[i] = 1.0 / row[i];
    }
    return CAROM_OK;
}

carom_status cr_dense_cholesky(int32_t n, double* a)
{
    if (n == lone) {
        return cholesky_by_rows(lone, a);
    }
    if (n < kernel_least) {
        return cholesky_by_rows(n, a);
    }
    if (n <= kernel_most) {
        return cholesky_by_kernels(n, a);
    }
    for (int32_t j = 0; j < n; j += pivots_at_once) {
        const int32_t count = n - j < pivots_at_once ? n - j : pivots_at_once;
        if (!factor_columns(n, a, j, count)) {
            return CAROM_ERR_NOT_POSITIVE;
        }
        if (j + count < n) {
            apply_columns(n, a, j, j + count);
        }
    }
    return CAROM_OK;
}

// Four sums at a time, always joined in the same way.
__attribute__((always_inline)) static inline double sum_products(int32_t count, const double* a,
                                                                 const double* b)
{
    double sum[4] = {0};
    int32_t k = 0;
    for (; k + 4 <= count; k += 4) {
        for (int32_t c = 0; c < 4; c++) {
            sum[c] += a[k + c] * b[k + c];
        }
    }
    double rest = 0.0;
    for (; k < count; k++) {
        rest += a[k] * b[k];
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]) + rest;
}

static double dot(int32_t count, const double* a, const double* b)
{
    return sum_products(count, a, b);
}

static inline void subtract_scaled(int32_t count, double scale, const double* a, double* x)
{
    for (int32_t k = 0; k < count; k++) {
        x[k] -= scale * a[k];
    }
}

static void lone_cholesky_solve(const double* l, double* x)
{
#pragma GCC unroll 6
    for (int32_t i = 0; i < lone; i++) {
        x[i] = (x[i] - sum_products(i, l + lone * i, x)) / l[lone * i + i];
    }
#pragma GCC unroll 6
    for (int32_t i = lone - 1; i >= 0; i--) {
        x[i] /= l[lone * i + i];
        subtract_scaled(i, x[i], l + lone * i, x);
    }
}

// L y = x by rows, then L^T x = y by rows of L again, so by columns of L^T
void cr_dense_cholesky_solve(int32_t n, const double* l, double* x)
{
    if (n == lone) {
        lone_cholesky_solve(l, x);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        const double* row = row_in(l, n, i);
        x[i] = (x[i] - dot(i, row, x)) / row[i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const double* row = row_in(l, n, i);
        x[i] /= row[i];
        subtract_scaled(i, x[i], row, x);
    }
}

static void exchange_rows(int32_t n, double* a, double* b)
{
    for (int32_t k = 0; k < n; k++) {
        const double here = a[k];
        a[k] = b[k];
        b[k] = here;
    }
}

static carom_status lu_by_kernels(int32_t n, double* a, int32_t* pivot)
{
    _Alignas(64) double d[kernel_most * kernel_step];
    double inverse[kernel_most];
    for (int32_t j = 0; j < n; j++) {
        double largest = 0.0;
        for (int32_t i = 0; i < n; i++) {
            d[j * kernel_step + i] = a[i * n + j];
            largest = cr_max(largest, fabs(a[i * n + j]));
        }
        for (int32_t i = n; i < n + 8; i++) {
            d[j * kernel_step + i] = 0.0;
        }
        inverse[j] = lu_pivot_floor * largest;
    }
    if (!cr_block_kernel_best()->lu(n, d, kernel_step, inverse, pivot)) {
        return CAROM_ERR_NOT_POSITIVE;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            a[i * n + j] = d[j * kernel_step + i];
        }
    }
    return CAROM_OK;
}

// The largest entry of column j from the diagonal on becomes the pivot. It is compared with what
// the column holds above the diagonal: |L| <= 1, so no entry of column j of A exceeds the sum of
// |U|. Zeros are passed over: the systems of impacts are mostly that.
carom_status cr_dense_lu(int32_t n, double* a, int32_t* pivot)
{
    if (n >= kernel_least && n <= kernel_most) {
        return lu_by_kernels(n, a, pivot);
    }
    for (int32_t j = 0; j < n; j++) {
        double above = 0.0;
        int finite = 1;
        for (int32_t i = 0; i < j; i++) {
            const double size = fabs(row_in(a, n, i)[j]);
            finite &= size <= DBL_MAX; // a NaN that only zeros were multiplied with is still here
            above = cr_max(above, size);
        }
        int32_t p = j;
        for (int32_t i = j + 1; i < n; i++) {
            p = fabs(row_in(a, n, i)[j]) > fabs(row_in(a, n, p)[j]) ? i : p;
        }
        double* row = row_of(a, n, j);
        const double size = fabs(row_in(a, n, p)[j]);
        if (!(finite && size > lu_pivot_floor * above && size <= DBL_MAX)) {
            return CAROM_ERR_NOT_POSITIVE;
        }
        pivot[j] = p;
        if (p != j) {
            exchange_rows(n, row, row_of(a, n, p));
        }
        int32_t end = n;
        while (end > j + 1 && row[end - 1] == 0.0) {
            end--;
        }
        const double inverse = 1.0 / row[j];
        for (int32_t i = j + 1; i < n; i++) {
            double* other = row_of(a, n, i);
            if (other[j] != 0.0) {
                other[j] *= inverse;
                subtract_scaled(end - j - 1, other[j], row + j + 1, other + j + 1);
            }
        }
    }
    return CAROM_OK;
}

static void exchange(double* x, int32_t i, int32_t j)
{
    const double here = x[i];
    x[i] = x[j];
    x[j] = here;
}

// P A = L U: L U x = P b
void cr_dense_lu_solve(int32_t n, const double* lu, const int32_t* pivot, double* x)
{
    for (int32_t i = 0; i < n; i++) {
        exchange(x, i, pivot[i]);
    }
    for (int32_t i = 1; i < n; i++) {
        x[i] -= dot(i, row_in(lu, n, i), x);
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const double* row = row_in(lu, n, i);
        x[i] = (x[i] - dot(n - i - 1, row + i + 1, x + i + 1)) / row[i];
    }
}

// A^T = U^T L^T P: U^T z = b, L^T y = z, x = P^T y
void cr_dense_lu_solve_transposed(int32_t n, const double* lu, const int32_t* pivot, double* x)
{
    for (int32_t i = 0; i < n; i++) {
        const double* row = row_in(lu, n, i);
        x[i] /= row[i];
        subtract_scaled(n - i - 1, x[i], row + i + 1, x + i + 1);
    }
    for (int32_t i = n - 1; i > 0; i--) {
        subtract_scaled(i, x[i], row_in(lu, n, i), x);
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        exchange(x, i, pivot[i]);
    }
}

// Turns coordinates p and q so that a_pq vanishes: with t = tan(angle) the smaller root of
// t^2 + 2 theta t - 1 = 0, theta = (a_qq - a_pp) / (2 a_pq); then a_pp -= t a_pq, a_qq += t a_pq.
static void rotate(int32_t n, double* a, double* vector, int32_t p, int32_t q)
{
    const double a_pq = a[p * n + q];
    const double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a_pq);
    const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0);
    const double s = t * c;
    a[p * n + p] -= t * a_pq;
    a[q * n + q] += t * a_pq;
    a[p * n + q] = a[q * n + p] = 0.0;
    for (int32_t k = 0; k < n; k++) {
        if (k != p && k != q) {
            const double kp = a[k * n + p], kq = a[k * n + q];
            a[k * n + p] = a[p * n + k] = c * kp - s * kq;
            a[k * n + q] = a[q * n + k] = s * kp + c * kq;
        }
        const double vp = vector[k * n + p], vq = vector[k * n + q];
        vector[k * n + p] = c * vp - s * vq;
        vector[k * n + q] = s * vp + c * vq;
    }
}

// Ascending by exchange of columns; n is small.
static void sort_eigen(int32_t n, double* value, double* vector)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t least = i;
        for (int32_t j = i + 1; j < n; j++) {
            least = value[j] < value[least] ? j : least;
        }
        exchange(value, i, least);
        for (int32_t k = 0; least != i && k < n; k++) {
            exchange(vector + k * n, i, least);
        }
    }
}

void cr_dense_eigen(int32_t n, const double* a, double* value, double* vector)
{
    CR_ASSERT(n >= 0 && n <= eigen_most);
    double work[eigen_most * eigen_most];
    double largest = 0.0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            work[i * n + j] = a[i * n + j];
            vector[i * n + j] = i == j;
            largest = cr_max(largest, fabs(a[i * n + j]));
        }
    }
    // an entry this small moves no eigenvalue by a unit in the last place of the largest
    const double small = 0.01 * DBL_EPSILON * largest;
    int rotated = 1;
    for (int sweep = 0; sweep < eigen_sweeps && rotated; sweep++) {
        rotated = 0;
        for (int32_t p = 0; p < n; p++) {
            for (int32_t q = p + 1; q < n; q++) {
                if (fabs(work[p * n + q]) > small) {
                    rotate(n, work, vector, p, q);
                    rotated = 1;
                }
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        value[i] = work[i * n + i];
    }
    sort_eigen(n, value, vector);
}

void cr_dense_add_times(int32_t n, double factor, const double* restrict x, double* restrict y)
{
    for (int32_t i = 0; i < n; i++) {
        y[i] += factor * x[i];
    }
}
