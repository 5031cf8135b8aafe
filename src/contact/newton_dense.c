#include "contact/newton_adj_inside.h"
#include "core/memory.h"
#include "math/lapack.h"
#include <math.h>
#include <string.h>

// The equations of a step in unknowns z and multipliers lam_c = h^2 k F(s_c), one for each row:
//     F1(z, lam) = M (z - zt) + h^2 dE - sum_c lam_c b_c = 0,     b = weight a - mu rub f,
//     F2(z, lam) = D_c(z) - (h^2 k F)^-1 (lam_c) = 0.
// Their derivative is J = [H, -B; A, eps]: H the Jacobian with the multipliers held, and
// eps = -dD/dlam = 1/slope, one over B''. Without lam it is H + B A/eps, the Jacobian that Newton
// has. Both dense ways solve its transpose.

// A column that is this small against the first is what round-off left of a redundant contact.
static const double rank_floor = 1e-14;

// H^T = L U. With A_ = L^-1 A^T eps^-1/2 and B_ = U^-T B eps^-1/2, both n x m,
//     (H + B A/eps)^T = L (1 + A_ B_^T) U,      A_ P = Q [R1; 0],
// R1 with as many rows as A_ has rank. In the basis Q, x = Q^T U y, q = Q^T L^-1 z_bar, D = Q^T B_:
//     x2 = q2,      (1 + R1 P^T D1^T) x1 = q1 - R1 P^T D2^T q2.
// Without friction, where H is a mass matrix, B_ = A_ and D2 = 0; and for eps -> 0 x1 -> 0: what is
// left is the projection 1 - Q1 Q1^T of the published method.
typedef struct qr {
    int32_t n, m, least; // least = min(n, m)
    int32_t rank;        // of A_
    // H, A_, B_ [n*n], [n*m], [n*m]; R1 P^T [least*m]; 1 + R1 P^T D1^T; of Q; Q^T .. [n]
    double *h, *a, *b, *r, *t, *tau, *q, *scratch;
    int32_t scratch_count;
    int32_t *pivot, *order, *pivot_t;
} qr;

// Factors and memory, which is kept.
struct cr_newton_dense {
    cr_lapack* lapack;
    double* room;
    size_t room_count;
    int32_t* wholes;
    size_t wholes_count;
    qr qr;
};

void cr_newton_dense_release(cr_newton* newton)
{
    if (newton->dense) {
        cr_lapack_close(newton->dense->lapack);
        cr_memory_free(newton->dense->room);
        cr_memory_free(newton->dense->wholes);
        cr_memory_free(newton->dense);
        newton->dense = NULL;
    }
}

carom_status cr_newton_dense_open(cr_newton* newton)
{
    if (newton->dense) {
        return CAROM_OK;
    }
    newton->dense = cr_memory_take(1, sizeof *newton->dense);
    const carom_status status =
        newton->dense ? cr_lapack_open(&newton->dense->lapack) : CAROM_ERR_MEMORY;
    if (status != CAROM_OK) {
        cr_newton_dense_release(newton);
    }
    return status;
}

// Room for so many numbers and whole numbers, the numbers all zero.
static carom_status take(cr_newton_dense* dense, size_t numbers, size_t wholes)
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

// b of a row, over its own unknowns.
static void push(const cr_newton_row* row, double out[CR_ROW_DOFS])
{
    for (int32_t k = 0; k < row->at.offset[row->at.block_count]; k++) {
        const double rub = row->mu > 0.0 ? row->mu * row->rub * row->slip.force[k] : 0.0;
        out[k] = row->weight * row->at.grad[k] - rub;
    }
}

// Adds factor times a row's vector to out, whose numbers are `stride` apart; not what locks hold.
static void spread(const cr_newton* newton, const cr_row* row, const double* from, double factor,
                   size_t stride, double* out)
{
    for (int b = 0; b < row->block_count; b++) {
        if (row->size[b] == 0) {
            continue;
        }
        const cr_newton_block* block = &newton->block.items[row->block[b]];
        double part[6];
        memcpy(part, from + row->offset[b], (size_t)row->size[b] * sizeof(double));
        if (block->lock) {
            cr_newton_setup_lock(block, part);
        }
        for (int i = 0; i < row->size[b]; i++) {
            out[(size_t)(block->first + i) * stride] += factor * part[i];
        }
    }
}

static double dot(const cr_newton* newton, const cr_row* row, const double* from, const double* y)
{
    double sum = 0.0;
    for (int b = 0; b < row->block_count; b++) {
        for (int i = 0; i < row->size[b]; i++) {
            sum += from[row->offset[b] + i] * y[newton->block.items[row->block[b]].first + i];
        }
    }
    return sum;
}

void cr_newton_dense_apply(const cr_newton* newton, const double* y, double* out)
{
    cr_zone_matrix_apply_transposed(&newton->matrix, y, out);
    for (int32_t i = 0; i < newton->row.count; i++) {
        const cr_newton_row* row = &newton->row.items[i];
        double b[CR_ROW_DOFS];
        push(row, b);
        const double v = row->law.slope * dot(newton, &row->at, b, y);
        spread(newton, &row->at, row->at.grad, v, 1, out);
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

// J by rows, which a column-major eye sees as J^T: J^T (y; v) = (z_bar; 0). A row at the very rim
// of its layer has no force that could change: its multiplier stands alone.
static carom_status factor_kkt(cr_newton* newton)
{
    cr_newton_dense* dense = newton->dense;
    const int32_t n = newton->n, all = n + newton->row.count;
    const size_t stride = (size_t)all;
    const carom_status status = take(dense, stride * stride + stride, stride);
    if (status != CAROM_OK) {
        return status;
    }
    double* j = dense->room;
    cr_zone_matrix_spread(&newton->matrix, all, j);
    for (int32_t i = 0; i < newton->row.count; i++) {
        const cr_newton_row* row = &newton->row.items[i];
        double* line = j + (size_t)(n + i) * stride;
        line[n + i] = 1.0;
        if (row->law.slope > 0.0) {
            double b[CR_ROW_DOFS];
            push(row, b);
            spread(newton, &row->at, row->at.grad, 1.0, 1, line);
            spread(newton, &row->at, b, -1.0, stride, j + n + i);
            line[n + i] = 1.0 / row->law.slope;
        }
    }
    return cr_lapack_lu(dense->lapack, all, j, dense->wholes);
}

static void solve_kkt(const cr_newton* newton, double* y)
{
    const cr_newton_dense* dense = newton->dense;
    const int32_t n = newton->n, all = n + newton->row.count;
    double* x = dense->room + (size_t)all * (size_t)all;
    memcpy(x, y, (size_t)n * sizeof(double));
    memset(x + n, 0, (size_t)newton->row.count * sizeof(double));
    solve_lu(dense->lapack, all, dense->room, dense->wholes, x);
    memcpy(y, x, (size_t)n * sizeof(double));
}

// ---- by QR

static carom_status qr_take(cr_newton* newton)
{
    cr_newton_dense* dense = newton->dense;
    qr* s = &dense->qr;
    *s = (qr){.n = newton->n, .m = newton->row.count};
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

static void qr_solve_left(const cr_lapack* lapack, const qr* s, int32_t columns, double* b)
{
    cr_lapack_exchange(lapack, s->n, columns, s->pivot, b);
    cr_lapack_triangle_solve(lapack, CR_LAPACK_LOWER_UNIT, s->n, columns, s->h, b);
}

static void qr_fill_rows(const cr_newton* newton, const qr* s)
{
    for (int32_t i = 0; i < s->m; i++) {
        const cr_newton_row* row = &newton->row.items[i];
        const double size = sqrt(row->law.slope);
        const size_t column = (size_t)i * (size_t)s->n;
        double b[CR_ROW_DOFS];
        push(row, b);
        spread(newton, &row->at, row->at.grad, size, 1, s->a + column);
        spread(newton, &row->at, b, size, 1, s->b + column);
    }
}

// R1 P^T, the rank found.
static void qr_keep_triangle(qr* s)
{
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
}

static carom_status qr_factor_rows(const cr_lapack* lapack, qr* s)
{
    qr_solve_left(lapack, s, s->m, s->a);
    const carom_status status =
        cr_lapack_qr(lapack, s->n, s->m, s->a, s->order, s->tau, s->scratch, s->scratch_count);
    if (status != CAROM_OK) {
        return status;
    }
    qr_keep_triangle(s);
    cr_lapack_triangle_solve(lapack, CR_LAPACK_UPPER_TRANSPOSED, s->n, s->m, s->h, s->b);
    return cr_lapack_qr_apply(lapack, 1, s->n, s->m, s->a, s->tau, s->m, s->b, s->scratch,
                              s->scratch_count);
}

// T = 1 + R1 P^T D1^T has the rank's size.
static carom_status qr_factor_small(const cr_lapack* lapack, const qr* s)
{
    const size_t rank = (size_t)s->rank;
    for (size_t i = 0; i < rank; i++) {
        s->t[i * (rank + 1)] = 1.0;
    }
    cr_lapack_add_product(lapack, s->rank, s->rank, s->m, s->r, s->least, s->b, s->n, s->t);
    return cr_lapack_lu(lapack, s->rank, s->t, s->pivot_t);
}

static carom_status factor_qr(cr_newton* newton)
{
    const cr_lapack* lapack = newton->dense->lapack;
    qr* s = &newton->dense->qr;
    carom_status status = qr_take(newton);
    if (status == CAROM_OK) {
        cr_zone_matrix_spread(&newton->matrix, s->n, s->h);
        status = cr_lapack_lu(lapack, s->n, s->h, s->pivot);
    }
    if (status == CAROM_OK && s->m > 0) {
        qr_fill_rows(newton, s);
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

static carom_status qr_turn(const cr_lapack* lapack, const qr* s, int transposed)
{
    return cr_lapack_qr_apply(lapack, transposed, s->n, s->m, s->a, s->tau, 1, s->q, s->scratch,
                              s->scratch_count);
}

static carom_status solve_qr(const cr_newton* newton, double* y)
{
    const cr_lapack* lapack = newton->dense->lapack;
    const qr* s = &newton->dense->qr;
    carom_status status = CAROM_OK;
    memcpy(s->q, y, (size_t)s->n * sizeof(double));
    qr_solve_left(lapack, s, 1, s->q);
    if (s->rank > 0) {
        status = qr_turn(lapack, s, 1);
        qr_couple(s);
        solve_lu(lapack, s->rank, s->t, s->pivot_t, s->q);
        status = status == CAROM_OK ? qr_turn(lapack, s, 0) : status;
    }
    cr_lapack_triangle_solve(lapack, CR_LAPACK_UPPER, s->n, 1, s->h, s->q);
    memcpy(y, s->q, (size_t)s->n * sizeof(double));
    return status;
}

carom_status cr_newton_dense_factor(cr_newton* newton)
{
    carom_status status = cr_newton_dense_open(newton);
    if (status == CAROM_OK) {
        status = cr_newton_system_assemble_apart(newton);
    }
    if (status != CAROM_OK) {
        return status;
    }
    return newton->task->gradient == CR_NEWTON_DENSE_QR ? factor_qr(newton) : factor_kkt(newton);
}

carom_status cr_newton_dense_solve(cr_newton* newton, double* y)
{
    if (newton->task->gradient == CR_NEWTON_DENSE_QR) {
        return solve_qr(newton, y);
    }
    solve_kkt(newton, y);
    return CAROM_OK;
}
