#include "contact/zone_inside.h"
#include "math/lapack.h"
#include <math.h>
#include <string.h>

// A column that is this small against the first is what round-off left of a redundant contact.
static const double rank_floor = 1e-14;

// H^T = L U, by Cholesky (U = L^T) where that can be. With A_ = L^-1 A^T eps^-1/2 and B_ = U^-T B
// eps^-1/2, both n x m,
//     (H + B eps^-1 A)^T = L (1 + A_ B_^T) U,      A_ P = Q [R1; 0],
// R1 with as many rows as A_ has rank. In the basis Q, x = Q^T U y, q = Q^T L^-1 z_bar, D = Q^T B_:
//     x2 = q2,      (1 + R1 P^T D1^T) x1 = q1 - R1 P^T D2^T q2.
// Without friction B_ = A_, D1 = R1 P^T and D2 = 0; and for eps -> 0 x1 -> 0, y is z_bar without
// its part along the contacts: the projection 1 - Q1 Q1^T of the published method, where H is M and
// the contacts have full rank.
typedef struct qr {
    int32_t n, m, least; // least = min(n, m)
    int positive;        // by Cholesky
    int32_t rank;        // of A_
    // H, A_, B_ [n*n], [n*m], [n*m]; R1 P^T [least*m]; 1 + R1 P^T D1^T; of Q; Q^T .. [n]
    double *h, *a, *b, *r, *t, *tau, *q, *scratch;
    int32_t scratch_count;
    int32_t *pivot, *order, *pivot_t;
} qr;

// The dense ways back: their factors and memory, which is kept.
struct cr_zone_dense {
    cr_lapack* lapack;
    double* room;
    size_t room_count;
    int32_t* wholes;
    size_t wholes_count;
    qr qr;
};

void cr_zone_dense_release(cr_zone* zone)
{
    if (zone->dense) {
        cr_lapack_close(zone->dense->lapack);
        cr_memory_free(zone->dense->room);
        cr_memory_free(zone->dense->wholes);
        cr_memory_free(zone->dense);
        zone->dense = NULL;
    }
}

carom_status cr_zone_dense_open(cr_zone* zone)
{
    if (zone->dense) {
        return CAROM_OK;
    }
    zone->dense = cr_memory_take(1, sizeof *zone->dense);
    const carom_status status =
        zone->dense ? cr_lapack_open(&zone->dense->lapack) : CAROM_ERR_MEMORY;
    if (status != CAROM_OK) {
        cr_zone_dense_release(zone);
    }
    return status;
}

// Room for so many numbers and whole numbers, the numbers all zero.
static carom_status take(cr_zone_dense* dense, size_t numbers, size_t wholes)
{
    if (numbers > dense->room_count) {
        cr_memory_free(dense->room);
        dense->room = cr_memory_take(numbers, sizeof(double));
        dense->room_count = dense->room ? numbers : 0;
    } else {
        memset(dense->room, 0, numbers * sizeof(double));
    }
    if (wholes > dense->wholes_count) {
        cr_memory_free(dense->wholes);
        dense->wholes = cr_memory_take(wholes, sizeof(int32_t));
        dense->wholes_count = dense->wholes ? wholes : 0;
    }
    return dense->room && dense->wholes ? CAROM_OK : CAROM_ERR_MEMORY;
}

// Adds factor times a line's vector to out, whose numbers are `stride` apart.
static void spread(const cr_zone* zone, const cr_zone_line* line, const double* from, double factor,
                   size_t stride, double* out)
{
    for (int b = 0; b < line->block_count; b++) {
        double* at = out + (size_t)zone->block.items[line->block[b]].first * stride;
        for (int i = line->offset[b]; i < line->offset[b + 1]; i++) {
            at[(size_t)(i - line->offset[b]) * stride] += factor * from[i];
        }
    }
}

static void solve_lu(const cr_lapack* lapack, int32_t n, const double* lu, const int32_t* pivot,
                     double* x)
{
    cr_lapack_exchange(lapack, n, 1, pivot, x);
    cr_lapack_triangle_solve(lapack, CR_LAPACK_LOWER_UNIT, n, 1, lu, x);
    cr_lapack_triangle_solve(lapack, CR_LAPACK_UPPER, n, 1, lu, x);
}

// ---- the whole system

// J = [H, -B; A, eps] by rows, which a column-major eye sees as J^T: J^T (y; v) = (z_bar; 0).
static carom_status factor_kkt(cr_zone* zone)
{
    cr_zone_dense* dense = zone->dense;
    const int32_t n = zone->n, all = n + zone->line.count;
    const size_t stride = (size_t)all;
    const carom_status status = take(dense, stride * stride + stride, stride);
    if (status != CAROM_OK) {
        return status;
    }
    double* j = dense->room;
    cr_zone_matrix_spread(&zone->matrix, all, j);
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        double* row = j + (size_t)(n + i) * stride;
        spread(zone, line, line->a, 1.0, 1, row);
        row[n + i] = line->eps;
        spread(zone, line, line->a, -1.0, stride, j + n + i);
        spread(zone, line, line->f, 1.0, stride, j + n + i);
    }
    return cr_lapack_lu(dense->lapack, all, j, dense->wholes);
}

static carom_status solve_kkt(cr_zone* zone, double* y)
{
    const cr_zone_dense* dense = zone->dense;
    const int32_t n = zone->n, all = n + zone->line.count;
    double* x = dense->room + (size_t)all * (size_t)all;
    memcpy(x, y, (size_t)n * sizeof(double));
    memset(x + n, 0, (size_t)zone->line.count * sizeof(double));
    solve_lu(dense->lapack, all, dense->room, dense->wholes, x);
    memcpy(y, x, (size_t)n * sizeof(double));
    return CAROM_OK;
}

// ---- by QR

static carom_status qr_take(cr_zone* zone)
{
    cr_zone_dense* dense = zone->dense;
    qr* s = &dense->qr;
    *s = (qr){.n = zone->n, .m = zone->line.count};
    s->least = s->n < s->m ? s->n : s->m;
    s->scratch_count = cr_lapack_qr_scratch(s->n, s->m);
    const size_t n = (size_t)s->n, m = (size_t)s->m, least = (size_t)s->least;
    const size_t scratch = (size_t)s->scratch_count;
    const carom_status status =
        take(dense, n * n + 2 * n * m + least * (m + least + 1) + n + scratch, n + m + least);
    if (status == CAROM_OK) {
        s->h = dense->room;
        s->a = s->h + n * n;
        s->b = s->a + n * m;
        s->r = s->b + n * m;
        s->t = s->r + least * m;
        s->tau = s->t + least * least;
        s->q = s->tau + least;
        s->scratch = s->q + n;
        s->pivot = dense->wholes;
        s->order = s->pivot + n;
        s->pivot_t = s->order + m;
    }
    return status;
}

static carom_status qr_factor_base(cr_zone* zone, qr* s)
{
    const cr_lapack* lapack = zone->dense->lapack;
    cr_zone_matrix_spread(&zone->matrix, s->n, s->h);
    s->positive = zone->matrix.symmetric && cr_lapack_cholesky(lapack, s->n, s->h) == CAROM_OK;
    if (s->positive) {
        return CAROM_OK;
    }
    memset(s->h, 0, (size_t)s->n * (size_t)s->n * sizeof(double));
    cr_zone_matrix_spread(&zone->matrix, s->n, s->h);
    return cr_lapack_lu(lapack, s->n, s->h, s->pivot);
}

static void qr_solve_left(const cr_lapack* lapack, const qr* s, int32_t columns, double* b)
{
    if (!s->positive) {
        cr_lapack_exchange(lapack, s->n, columns, s->pivot, b);
    }
    cr_lapack_triangle_solve(lapack, s->positive ? CR_LAPACK_LOWER : CR_LAPACK_LOWER_UNIT, s->n,
                             columns, s->h, b);
}

static void qr_fill_rows(const cr_zone* zone, const qr* s)
{
    for (int32_t i = 0; i < s->m; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        const double size = 1.0 / sqrt(line->eps);
        double* b = s->b + (size_t)i * (size_t)s->n;
        spread(zone, line, line->a, size, 1, s->a + (size_t)i * (size_t)s->n);
        if (!s->positive) {
            spread(zone, line, line->a, size, 1, b);
            spread(zone, line, line->f, -size, 1, b);
        }
    }
}

static carom_status qr_factor_rows(const cr_lapack* lapack, qr* s)
{
    qr_solve_left(lapack, s, s->m, s->a);
    carom_status status =
        cr_lapack_qr(lapack, s->n, s->m, s->a, s->order, s->tau, s->scratch, s->scratch_count);
    const double first = s->least > 0 ? fabs(s->a[0]) : 0.0;
    while (s->rank < s->least &&
           fabs(s->a[(size_t)s->rank * (size_t)(s->n + 1)]) > rank_floor * first) {
        s->rank++;
    }
    for (int32_t k = 0; k < s->m; k++) {
        const double* from = s->a + (size_t)k * (size_t)s->n;
        double* to = s->r + (size_t)s->order[k] * (size_t)s->least;
        memcpy(to, from, (size_t)(k < s->rank ? k + 1 : s->rank) * sizeof(double));
    }
    if (status == CAROM_OK && !s->positive) {
        cr_lapack_triangle_solve(lapack, CR_LAPACK_UPPER_TRANSPOSED, s->n, s->m, s->h, s->b);
        status = cr_lapack_qr_apply(lapack, 1, s->n, s->m, s->a, s->tau, s->m, s->b, s->scratch,
                                    s->scratch_count);
    }
    return status;
}

// T = 1 + R1 P^T D1^T has the rank's size.
static carom_status qr_factor_small(const cr_lapack* lapack, const qr* s)
{
    const size_t rank = (size_t)s->rank;
    for (size_t i = 0; i < rank; i++) {
        s->t[i * (rank + 1)] = 1.0;
    }
    cr_lapack_add_product(lapack, s->rank, s->rank, s->m, s->r, s->least, s->positive ? s->r : s->b,
                          s->positive ? s->least : s->n, s->t);
    return cr_lapack_lu(lapack, s->rank, s->t, s->pivot_t);
}

static carom_status factor_qr(cr_zone* zone)
{
    const cr_lapack* lapack = zone->dense->lapack;
    qr* s = &zone->dense->qr;
    carom_status status = qr_take(zone);
    if (status == CAROM_OK) {
        status = qr_factor_base(zone, s);
    }
    if (status == CAROM_OK && s->m > 0) {
        qr_fill_rows(zone, s);
        status = qr_factor_rows(lapack, s);
    }
    return status == CAROM_OK && s->rank > 0 ? qr_factor_small(lapack, s) : status;
}

// q1 -= R1 P^T D2^T q2
static void qr_couple(const qr* s)
{
    for (int32_t k = 0; k < s->m; k++) {
        const double* d = s->b + (size_t)k * (size_t)s->n;
        const double* r = s->r + (size_t)k * (size_t)s->least;
        double c = 0.0;
        for (int32_t i = s->rank; i < s->n; i++) {
            c += d[i] * s->q[i];
        }
        for (int32_t i = 0; i < s->rank; i++) {
            s->q[i] -= r[i] * c;
        }
    }
}

static carom_status solve_qr(cr_zone* zone, double* y)
{
    const cr_lapack* lapack = zone->dense->lapack;
    const qr* s = &zone->dense->qr;
    carom_status status = CAROM_OK;
    memcpy(s->q, y, (size_t)s->n * sizeof(double));
    qr_solve_left(lapack, s, 1, s->q);
    if (s->rank > 0) {
        status = cr_lapack_qr_apply(lapack, 1, s->n, s->m, s->a, s->tau, 1, s->q, s->scratch,
                                    s->scratch_count);
        if (!s->positive) {
            qr_couple(s);
        }
        solve_lu(lapack, s->rank, s->t, s->pivot_t, s->q);
        if (status == CAROM_OK) {
            status = cr_lapack_qr_apply(lapack, 0, s->n, s->m, s->a, s->tau, 1, s->q, s->scratch,
                                        s->scratch_count);
        }
    }
    cr_lapack_triangle_solve(lapack, s->positive ? CR_LAPACK_LOWER_TRANSPOSED : CR_LAPACK_UPPER,
                             s->n, 1, s->h, s->q);
    memcpy(y, s->q, (size_t)s->n * sizeof(double));
    return status;
}

carom_status cr_zone_dense_factor(cr_zone* zone)
{
    const carom_status status = cr_zone_dense_open(zone);
    if (status != CAROM_OK) {
        return status;
    }
    return zone->task->gradient == CR_ZONE_DENSE_QR ? factor_qr(zone) : factor_kkt(zone);
}

carom_status cr_zone_dense_solve(cr_zone* zone, double* y)
{
    return zone->task->gradient == CR_ZONE_DENSE_QR ? solve_qr(zone, y) : solve_kkt(zone, y);
}
