// block_kernel_body.h - the text of block_kernel.c, once for every width of vectors. No guard: it
// is included once per set, with LANES doubles to a vector, TARGET the attribute that allows them
// and NAME(x) the names of the set.

#define INLINE TARGET static inline __attribute__((always_inline))

// may lie anywhere in an array of doubles
typedef double NAME(vec) __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

typedef double NAME(vec4) __attribute__((vector_size(32), aligned(8), may_alias));
typedef double NAME(vec2) __attribute__((vector_size(16), aligned(8), may_alias));

// Tiles of up to 2 vectors x 6 columns live in registers. vecs and n are constants where these are
// inlined, so that the loops over them vanish.
INLINE void NAME(product_tile)(const int vecs, const int n, int32_t k, const double* a,
                               ptrdiff_t a_step, const double* b, ptrdiff_t b_step, double* c,
                               ptrdiff_t c_step)
{
    NAME(vec) sum[6][2];
    for (int j = 0; j < n; j++) {
        for (int v = 0; v < vecs; v++) {
            sum[j][v] = (NAME(vec)){0};
        }
    }
    for (int32_t p = 0; p < k; p++) {
        NAME(vec) x[2];
        for (int v = 0; v < vecs; v++) {
            x[v] = *(const NAME(vec)*)(a + v * LANES);
        }
        for (int j = 0; j < n; j++) {
            for (int v = 0; v < vecs; v++) {
                sum[j][v] += x[v] * b[j];
            }
        }
        a += a_step;
        b += b_step;
    }
    for (int j = 0; j < n; j++) {
        for (int v = 0; v < vecs; v++) {
            *(NAME(vec)*)(c + j * c_step + v * LANES) = sum[j][v];
        }
    }
}

INLINE void NAME(product_columns)(const int n, int32_t m, int32_t k, const double* a,
                                  int32_t a_step, const double* b, int32_t b_step, double* c,
                                  int32_t c_step)
{
    int32_t i = 0;
    const int32_t rows = (m + 7) & ~7;
    for (; i + 2 * LANES <= rows; i += 2 * LANES) {
        NAME(product_tile)(2, n, k, a + i, a_step, b, b_step, c + i, c_step);
    }
    for (; i < rows; i += LANES) {
        NAME(product_tile)(1, n, k, a + i, a_step, b, b_step, c + i, c_step);
    }
}

TARGET static void NAME(product)(int32_t m, int32_t n, int32_t k, const double* a, int32_t a_step,
                                 const double* b, int32_t b_step, double* c, int32_t c_step)
{
    for (; n >= 6; n -= 6) {
        NAME(product_columns)(6, m, k, a, a_step, b, b_step, c, c_step);
        b += 6;
        c += 6 * (ptrdiff_t)c_step;
    }
    switch (n) {
    case 5:
        NAME(product_columns)(5, m, k, a, a_step, b, b_step, c, c_step);
        break;
    case 4:
        NAME(product_columns)(4, m, k, a, a_step, b, b_step, c, c_step);
        break;
    case 3:
        NAME(product_columns)(3, m, k, a, a_step, b, b_step, c, c_step);
        break;
    case 2:
        NAME(product_columns)(2, m, k, a, a_step, b, b_step, c, c_step);
        break;
    case 1:
        NAME(product_columns)(1, m, k, a, a_step, b, b_step, c, c_step);
        break;
    default:
        break;
    }
}

INLINE void NAME(spread_rows)(const int32_t rows, int32_t n, const double* a, ptrdiff_t a_step,
                              double* b, ptrdiff_t b_step)
{
    for (int32_t j = 0; j < n; j++) {
        int32_t i = 0;
        for (; i + LANES <= rows; i += LANES) {
            *(NAME(vec)*)(b + i) -= *(const NAME(vec)*)(a + i);
        }
        if (LANES > 4 && i + 4 <= rows) {
            *(NAME(vec4)*)(b + i) -= *(const NAME(vec4)*)(a + i);
            i += 4;
        }
        if (LANES > 2 && i + 2 <= rows) {
            *(NAME(vec2)*)(b + i) -= *(const NAME(vec2)*)(a + i);
            i += 2;
        }
        if (i < rows) {
            b[i] -= a[i];
        }
        a += a_step;
        b += b_step;
    }
}

TARGET static void NAME(spread)(int32_t run_count, const cr_block_run* run, int32_t n,
                                const double* a, int32_t a_step, double* b, int32_t b_step)
{
    for (int32_t r = 0; r < run_count; r++) {
        const double* from = a + run[r].from;
        double* to = b + run[r].to;
        switch (run[r].count) { // the loops over the rows of a body or a node vanish
        case 3:
            NAME(spread_rows)(3, n, from, a_step, to, b_step);
            break;
        case 6:
            NAME(spread_rows)(6, n, from, a_step, to, b_step);
            break;
        case 12:
            NAME(spread_rows)(12, n, from, a_step, to, b_step);
            break;
        default:
            NAME(spread_rows)(run[r].count, n, from, a_step, to, b_step);
            break;
        }
    }
}

// Columns k .. k+n-1 of X, given those before: subtracts what the earlier columns contribute and,
// if asked, solves with the n x n triangle. t is row k of T, inverse belongs to column k.
INLINE void NAME(solve_tile)(const int vecs, const int n, const int triangle, int32_t k,
                             const double* x, ptrdiff_t x_step, const double* t, ptrdiff_t t_row,
                             ptrdiff_t t_step, const double* inverse, ptrdiff_t inverse_step,
                             double* out)
{
    NAME(vec) sum[6][2];
    for (int j = 0; j < n; j++) {
        for (int v = 0; v < vecs; v++) {
            sum[j][v] = *(const NAME(vec)*)(out + j * x_step + v * LANES);
        }
    }
    for (int32_t p = 0; p < k; p++) {
        NAME(vec) y[2];
        for (int v = 0; v < vecs; v++) {
            y[v] = *(const NAME(vec)*)(x + v * LANES);
        }
        for (int j = 0; j < n; j++) {
            for (int v = 0; v < vecs; v++) {
                sum[j][v] -= y[v] * t[j * t_row];
            }
        }
        x += x_step;
        t += t_step;
    }
    if (triangle) {
        for (int j = 0; j < n; j++) {
            for (int v = 0; v < vecs; v++) {
                for (int i = 0; i < j; i++) {
                    sum[j][v] -= sum[i][v] * t[j * t_row + i * t_step];
                }
                if (inverse) {
                    sum[j][v] *= inverse[j * inverse_step];
                }
            }
        }
    }
    for (int j = 0; j < n; j++) {
        for (int v = 0; v < vecs; v++) {
            *(NAME(vec)*)(out + j * x_step + v * LANES) = sum[j][v];
        }
    }
}

INLINE void NAME(solve_columns)(const int n, const int triangle, int32_t m, int32_t k,
                                const double* x, int32_t x_step, const double* t, int32_t t_row,
                                int32_t t_step, const double* inverse, int32_t inverse_step,
                                double* out)
{
    int32_t i = 0;
    const int32_t rows = (m + 7) & ~7;
    for (; i + 2 * LANES <= rows; i += 2 * LANES) {
        NAME(solve_tile)
        (2, n, triangle, k, x + i, x_step, t, t_row, t_step, inverse, inverse_step, out + i);
    }
    for (; i < rows; i += LANES) {
        NAME(solve_tile)
        (1, n, triangle, k, x + i, x_step, t, t_row, t_step, inverse, inverse_step, out + i);
    }
}

// n <= 6 columns at `out`, after the k columns at x
INLINE void NAME(solve_some)(int32_t n, const int triangle, int32_t m, int32_t k, const double* x,
                             int32_t x_step, const double* t, int32_t t_row, int32_t t_step,
                             const double* inverse, int32_t inverse_step, double* out)
{
    switch (n) {
    case 6:
        NAME(solve_columns)
        (6, triangle, m, k, x, x_step, t, t_row, t_step, inverse, inverse_step, out);
        break;
    case 5:
        NAME(solve_columns)
        (5, triangle, m, k, x, x_step, t, t_row, t_step, inverse, inverse_step, out);
        break;
    case 4:
        NAME(solve_columns)
        (4, triangle, m, k, x, x_step, t, t_row, t_step, inverse, inverse_step, out);
        break;
    case 3:
        NAME(solve_columns)
        (3, triangle, m, k, x, x_step, t, t_row, t_step, inverse, inverse_step, out);
        break;
    case 2:
        NAME(solve_columns)
        (2, triangle, m, k, x, x_step, t, t_row, t_step, inverse, inverse_step, out);
        break;
    case 1:
        NAME(solve_columns)
        (1, triangle, m, k, x, x_step, t, t_row, t_step, inverse, inverse_step, out);
        break;
    default:
        break;
    }
}

TARGET static void NAME(minus)(int32_t m, int32_t n, int32_t k, const double* a, const double* b,
                               int32_t b_row, int32_t b_step, double* c, int32_t step)
{
    for (int32_t j = 0; j < n; j += 6) {
        NAME(solve_some)
        (n - j < 6 ? n - j : 6, 0, m, k, a, step, b + j * (ptrdiff_t)b_row, b_row, b_step, NULL, 0,
         c + j * (ptrdiff_t)step);
    }
}

TARGET static void NAME(solve_right)(int32_t m, int32_t n, double* x, int32_t x_step,
                                     const double* t, int32_t t_row, int32_t t_step,
                                     const double* inverse, int32_t inverse_step)
{
    for (int32_t k = 0; k < n; k += 6) {
        const int32_t some = n - k < 6 ? n - k : 6;
        NAME(solve_some)
        (some, 1, m, k, x, x_step, t + k * (ptrdiff_t)t_row, t_row, t_step,
         inverse ? inverse + k * (ptrdiff_t)inverse_step : NULL, inverse_step,
         x + k * (ptrdiff_t)x_step);
    }
}

// Column j of the lower triangle of an n x n matrix, a[column][row], given that earlier columns
// have been applied: applies it to the later ones. False when its pivot is not above `least`.
INLINE int NAME(eliminate)(const int n, const int j, double (*a)[6], double least)
{
    if (j >= n) {
        return 1;
    }
    const double one_over = 1.0 / a[j][j];
    for (int k = j + 1; k < n; k++) {
        const double m = a[j][k] * one_over;
        for (int i = k; i < n; i++) {
            a[k][i] -= a[j][i] * m;
        }
    }
    return a[j][j] > least && a[j][j] <= DBL_MAX;
}

// The lower triangle of an n x n matrix, n <= 6, in place. First A = M D M^T, so that only a
// division stands between one pivot and the next; the roots are taken of all pivots together at the
// end: L = (M D) D^-1/2. Written out by columns: with n a constant all of it happens in registers.
INLINE int NAME(cholesky_fixed)(const int n, double* d, ptrdiff_t step, double* inverse)
{
    double a[6][6]; // below the diagonal M D
    double least[6];
    for (int j = 0; j < n; j++) {
        least[j] = inverse[j];
        for (int i = j; i < n; i++) {
            a[j][i] = d[i + j * step];
        }
    }
    int good = NAME(eliminate)(n, 0, a, least[0]);
    good &= NAME(eliminate)(n, 1, a, least[1]);
    good &= NAME(eliminate)(n, 2, a, least[2]);
    good &= NAME(eliminate)(n, 3, a, least[3]);
    good &= NAME(eliminate)(n, 4, a, least[4]);
    good &= NAME(eliminate)(n, 5, a, least[5]);
    for (int j = 0; j < n; j++) {
        const double root = sqrt(a[j][j]);
        const double one_over = 1.0 / root;
        inverse[j] = one_over;
        d[j + j * step] = root;
        for (int i = j + 1; i < n; i++) {
            d[i + j * step] = a[j][i] * one_over;
        }
    }
    return good;
}

INLINE int NAME(cholesky_some)(int32_t n, double* d, ptrdiff_t step, double* inverse)
{
    return n == 6   ? NAME(cholesky_fixed)(6, d, step, inverse)
           : n == 3 ? NAME(cholesky_fixed)(3, d, step, inverse)
                    : NAME(cholesky_fixed)(n, d, step, inverse);
}

TARGET static int NAME(cholesky)(int32_t n, double* d, int32_t step, double* inverse)
{
    for (int32_t k = 0; k < n; k += 6) {
        const int32_t some = n - k < 6 ? n - k : 6;
        double* column = d + (ptrdiff_t)k * step;
        NAME(minus)(n - k, some, k, d + k, d + k, 1, step, column + k, step);
        if (!NAME(cholesky_some)(some, column + k, step, inverse + k)) {
            return 0;
        }
        if (n > k + some) {
            NAME(solve_some)
            (some, 1, n - k - some, 0, column, step, column + k, 1, step, inverse + k, 1,
             column + k + some);
        }
    }
    return 1;
}

// Rows i and p of columns from .. to-1.
INLINE void NAME(exchange)(double* d, ptrdiff_t step, int32_t from, int32_t to, int32_t i,
                           int32_t p)
{
    for (int32_t c = from; c < to; c++) {
        const double here = d[i + c * step];
        d[i + c * step] = d[p + c * step];
        d[p + c * step] = here;
    }
}

// other -= factor * column, rows first .. n-1
INLINE void NAME(minus_column)(int32_t first, int32_t n, double factor,
                               const double* restrict column, double* restrict other)
{
    for (int32_t i = first; i < n; i++) {
        other[i] -= column[i] * factor;
    }
}

// The first row of first .. n-1 with the largest magnitude. Four maxima that do not wait for each
// other, then a search for where the largest came from. A NaN is passed over unless it is first.
INLINE int32_t NAME(find_pivot)(int32_t first, int32_t n, const double* column)
{
    double most[4] = {0};
    int32_t i = first;
    for (; i + 4 <= n; i += 4) {
        for (int c = 0; c < 4; c++) {
            most[c] = fabs(column[i + c]) > most[c] ? fabs(column[i + c]) : most[c];
        }
    }
    for (; i < n; i++) {
        most[0] = fabs(column[i]) > most[0] ? fabs(column[i]) : most[0];
    }
    most[0] = most[0] > most[1] ? most[0] : most[1];
    most[2] = most[2] > most[3] ? most[2] : most[3];
    const double largest = most[0] > most[2] ? most[0] : most[2];
    if (!(fabs(column[first]) < largest)) {
        return first;
    }
    for (i = first + 1; fabs(column[i]) != largest; i++) {
    }
    return i;
}

// u := l^-1 u for a unit lower triangle l[column][row]; written out, so that it happens in
// registers
INLINE void NAME(unit_solve)(double (*l)[6], double* u)
{
    const double x0 = u[0];
    const double x1 = u[1] - l[0][1] * x0;
    const double x2 = u[2] - l[0][2] * x0 - l[1][2] * x1;
    const double x3 = u[3] - l[0][3] * x0 - l[1][3] * x1 - l[2][3] * x2;
    const double x4 = u[4] - l[0][4] * x0 - l[1][4] * x1 - l[2][4] * x2 - l[3][4] * x3;
    u[5] = u[5] - l[0][5] * x0 - l[1][5] * x1 - l[2][5] * x2 - l[3][5] * x3 - l[4][5] * x4;
    u[1] = x1;
    u[2] = x2;
    u[3] = x3;
    u[4] = x4;
}

// Columns k .. k+some-1 of an LU: the largest entry of each in turn becomes the pivot.
INLINE int NAME(lu_some)(int32_t n, int32_t k, int32_t some, double* d, ptrdiff_t step,
                         double* inverse, int32_t* pivot)
{
    for (int32_t j = k; j < k + some; j++) {
        double* column = d + j * step;
        const int32_t p = NAME(find_pivot)(j, n, column);
        const double largest = fabs(column[p]);
        // A NaN on the diagonal stays there and is refused. One below it spreads along its row,
        // which is never chosen until it is the last: then it is refused.
        if (!(largest > inverse[j] && largest <= DBL_MAX)) {
            return 0;
        }
        pivot[j] = p;
        if (p != j) {
            NAME(exchange)(d, step, 0, n, j, p);
        }
        inverse[j] = 1.0 / column[j];
        for (int32_t i = j + 1; i < n; i++) {
            column[i] *= inverse[j];
        }
        for (int32_t c = j + 1; c < k + some; c++) {
            NAME(minus_column)(j + 1, n, d[j + c * step], column, d + c * step);
        }
    }
    return 1;
}

TARGET static int NAME(lu)(int32_t n, double* d, int32_t d_step, double* inverse, int32_t* pivot)
{
    const ptrdiff_t step = d_step;
    for (int32_t k = 0; k < n; k += 6) {
        const int32_t some = n - k < 6 ? n - k : 6;
        if (!NAME(lu_some)(n, k, some, d, step, inverse, pivot)) {
            return 0;
        }
        const int32_t next = k + some;
        double l[6][6] = {0};
        for (int32_t j = 0; j < some; j++) {
            for (int32_t i = j + 1; i < some; i++) {
                l[j][i] = d[k + i + (k + j) * step];
            }
        }
        for (int32_t c = next; c < n; c++) { // there are columns left, so this was a full six
            NAME(unit_solve)(l, d + c * step + k);
        }
        NAME(minus)
        (n - next, n - next, some, d + next + k * step, d + k + next * step, d_step, 1,
         d + next + next * step, d_step);
    }
    return 1;
}

INLINE void NAME(times_tile)(const int vecs, int32_t n, const double* p, ptrdiff_t p_step,
                             const double* x, double* y)
{
    NAME(vec) sum[4];
    for (int v = 0; v < vecs; v++) {
        sum[v] = (NAME(vec)){0};
    }
    for (int32_t j = 0; j < n; j++) {
        for (int v = 0; v < vecs; v++) {
            sum[v] += *(const NAME(vec)*)(p + v * LANES) * x[j];
        }
        p += p_step;
    }
    for (int v = 0; v < vecs; v++) {
        *(NAME(vec)*)(y + v * LANES) = sum[v];
    }
}

TARGET static void NAME(times)(int32_t m, int32_t n, const double* p, int32_t p_step,
                               const double* x, double* y)
{
    int32_t i = 0;
    const int32_t rows = (m + 7) & ~7;
    for (; i + 4 * LANES <= rows; i += 4 * LANES) {
        NAME(times_tile)(4, n, p + i, p_step, x, y + i);
    }
    for (; i + 2 * LANES <= rows; i += 2 * LANES) {
        NAME(times_tile)(2, n, p + i, p_step, x, y + i);
    }
    for (; i < rows; i += LANES) {
        NAME(times_tile)(1, n, p + i, p_step, x, y + i);
    }
}

// Eight partial sums to a column, row i in sum i mod 8, whatever the width of the vectors.
INLINE void NAME(minus_columns)(const int n, int32_t rows, const double* p, ptrdiff_t p_step,
                                const double* y, double* x)
{
    NAME(vec) sum[2][8 / LANES];
    for (int j = 0; j < n; j++) {
        for (int v = 0; v < 8 / LANES; v++) {
            sum[j][v] = (NAME(vec)){0};
        }
    }
    for (int32_t i = 0; i < rows; i += 8) {
        for (int v = 0; v < 8 / LANES; v++) {
            for (int j = 0; j < n; j++) {
                sum[j][v] += *(const NAME(vec)*)(p + j * p_step + i + v * LANES) *
                             *(const NAME(vec)*)(y + i + v * LANES);
            }
        }
    }
    for (int j = 0; j < n; j++) {
        double s[8];
        memcpy(s, sum[j], sizeof s);
        x[j] -= ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    }
}

TARGET static void NAME(minus_transposed)(int32_t m, int32_t n, const double* p, int32_t p_step,
                                          const double* y, double* x)
{
    const int32_t rows = (m + 7) & ~7;
    int32_t j = 0;
    for (; j + 2 <= n; j += 2) {
        NAME(minus_columns)(2, rows, p + j * (ptrdiff_t)p_step, p_step, y, x + j);
    }
    if (j < n) {
        NAME(minus_columns)(1, rows, p + j * (ptrdiff_t)p_step, p_step, y, x + j);
    }
}

// A row of three in the first three lanes of four; the fourth is never kept. Three sums, one to
// each column of the blocks, do not wait for each other.
TARGET static void NAME(sweep)(int32_t count, int32_t step, const int32_t* start,
                               const int32_t* column, const double* block, const double* x,
                               double* row)
{
    for (int32_t k = 0, r = step > 0 ? 0 : count - 1; k < count; k++, r += step) {
        NAME(vec4) sum[3] = {{0}, {0}, {0}};
        for (int32_t e = start[r]; e < start[r + 1]; e++) {
            const double* b = block + 9 * (ptrdiff_t)e;
            const double* v = x + column[e];
            sum[0] += *(const NAME(vec4)*)b * v[0];
            sum[1] += *(const NAME(vec4)*)(b + 3) * v[1];
            sum[2] += *(const NAME(vec4)*)(b + 6) * v[2];
        }
        double* at = row + 3 * (ptrdiff_t)r;
        const NAME(vec4) left = *(const NAME(vec4)*)at - ((sum[0] + sum[1]) + sum[2]);
        at[0] = left[0];
        at[1] = left[1];
        at[2] = left[2];
    }
}

static const cr_block_kernel NAME(set) = {
    .name = SET_NAME,
    .product = NAME(product),
    .spread = NAME(spread),
    .solve_right = NAME(solve_right),
    .minus = NAME(minus),
    .cholesky = NAME(cholesky),
    .lu = NAME(lu),
    .times = NAME(times),
    .minus_transposed = NAME(minus_transposed),
    .sweep = NAME(sweep),
};

#undef INLINE
