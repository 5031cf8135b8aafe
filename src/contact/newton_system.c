// The residual and its Jacobian.
//
//   F = M (z - zt) + h^2 dE + sum_c [ -lam a + mu L f + e Q ],   a = dD/dz,  f = Gamma^T s
//
// lam = h^2 k F(s) times the weight of the row (newton_hits.c), L what of it friction goes with
// (newton_rub.h); e Q is there for nearly parallel
// edges, whose weight changes with the unknowns (newton_fade.h). With stiff = -dlam/dD and, far
// from the solution, everything but z in the rows held,
//
//   J = M + h^2 d2E + sum_c Gamma^T [ stiff n n^T + mu s (dL/dD) n^T + mu L W (1 - n n^T) ] Gamma.
//
// W = weight (1 - psi' w t^T/|t|) is the derivative of the friction direction with the row's own
// unknown w in the place that Newton on the slip t alone would give to t/|t|; both are the same at
// the solution. Near the solution the turning of n, of the contact points and of the bodies is in
// J as well (row.h), and J is exact.
#include "contact/newton_chunks.h"
#include "contact/newton_fade.h"
#include "contact/newton_rub.h"
#include "contact/parallel_edges.h"
#include <string.h>

// Exact matrices that are made before they are added: what they take, half a megabyte, stays in the
// second cache. Of these the rows of a chunk, and the least that are shared: one takes 1 to 2 us.
enum { BATCH = 128, ROWS = 8, LEAST_ROWS = 64 };

// ---- residual

static void add_to(cr_newton* newton, const cr_row* row, double factor, const double* v)
{
    for (int32_t b = 0; b < row->block_count; b++) {
        double* at =
            newton->grad + (row->size[b] > 0 ? newton->block.items[row->block[b]].first : 0);
        for (int32_t k = 0; k < row->size[b]; k++) {
            at[k] += factor * v[row->offset[b] + k];
        }
    }
}

// J_k^T f_k over the points: out [unknowns of the row].
static void pull_back(const cr_row* row, const cr_vec3 f[4], double out[CR_ROW_DOFS])
{
    memset(out, 0, sizeof(double) * CR_ROW_DOFS);
    for (int k = 0; k < 4; k++) {
        const int32_t b = row->point_block[k];
        if (b < 0 || row->size[b] == 0) {
            continue;
        }
        double* at = out + row->offset[b];
        if (row->size[b] == 6) {
            cr_vec3_accumulate(at,
                               cr_mat3_tapply(row->body[b]->jth, cr_vec3_cross(row->arm[k], f[k])));
            at += 3;
        }
        cr_vec3_accumulate(at, f[k]);
    }
}

void cr_newton_system_fading(const cr_newton_row* row, double out[CR_ROW_DOFS])
{
    const cr_parallel_edges edges = cr_parallel_edges_make(row->at.x);
    pull_back(&row->at, edges.grad, out);
}

void cr_newton_system_force(const cr_newton_row* row, double out[CR_ROW_DOFS])
{
    double pull[CR_ROW_DOFS] = {0};
    if (row->fades) {
        cr_newton_system_fading(row, pull);
    }
    for (int32_t i = 0; i < row->at.offset[row->at.block_count]; i++) {
        const double rub = row->mu > 0.0 ? row->mu * row->press * row->slip.force[i] : 0.0;
        out[i] = row->excess * pull[i] - row->lam * row->at.grad[i] + rub;
    }
}

static void add_row_gradient(cr_newton* newton, const cr_newton_row* row)
{
    add_to(newton, &row->at, -row->lam, row->at.grad);
    if (row->mu > 0.0) {
        add_to(newton, &row->at, row->mu * row->press, row->slip.force);
    }
    if (row->fades) {
        double pull[CR_ROW_DOFS];
        cr_newton_system_fading(row, pull);
        add_to(newton, &row->at, row->excess, pull);
    }
    for (int32_t b = 0; b < row->at.block_count; b++) {
        if (row->at.size[b] > 0) {
            newton->block.items[row->at.block[b]].force +=
                (fabs(row->lam) + row->mu * fabs(row->press)) * fabs(row->at.share[b]);
        }
    }
}

// Of a force on a body the size, with torques as forces at its farthest vertex.
static double size_of(const cr_newton_block* block, const double* g)
{
    double size = cr_vec3_norm(cr_vec3_load(g + block->size - 3));
    if (block->frame >= 0 && block->extent > 0.0) {
        size = cr_max(size, cr_vec3_norm(cr_vec3_load(g)) / block->extent);
    }
    return size;
}

// Forces that would turn a body from this part of the longest free motion are what residuals are
// measured by where there are no greater ones: round-off of the motion itself is not.
static const double motion_share = 1e-4;

double cr_newton_system_gradient(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    const double fall = task->h * task->h * cr_vec3_norm(task->gravity);
    for (int32_t i = 0; i < newton->n; i++) {
        newton->grad[i] = newton->mass[i] * (newton->z[i] - newton->target[i]);
    }
    cr_newton_sheet_gradient(newton, newton->grad);
    for (int32_t b = 0; b < newton->block_count; b++) {
        cr_newton_block* block = &newton->block.items[b];
        const double mass = newton->mass[block->first + block->size - 1];
        block->force = size_of(block, newton->grad + block->first) +
                       mass * (fall + motion_share * newton->scale);
    }
    for (int32_t i = 0; i < newton->row.count; i++) {
        add_row_gradient(newton, &newton->row.items[i]);
    }
    double residual = 0.0;
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        double* g = newton->grad + block->first;
        if (block->lock) {
            cr_newton_setup_lock(block, g);
        }
        const double part = block->force > 0.0 ? size_of(block, g) / block->force : 0.0;
        residual = part <= residual ? residual : part; // a NaN stays
    }
    return residual;
}

// ---- Jacobian

static carom_status build(cr_newton* newton, int symmetric)
{
    newton->pairs.count = 0;
    carom_status status = cr_newton_sheet_pattern(newton);
    for (int32_t i = 0; i < newton->row.count && status == CAROM_OK; i++) {
        const cr_row* row = &newton->row.items[i].at;
        for (int b = 0; b < row->block_count; b++) {
            for (int c = 0; c < b; c++) {
                if (row->size[b] > 0 && row->size[c] > 0 &&
                    (!cr_array_push(&newton->pairs, row->block[b]) ||
                     !cr_array_push(&newton->pairs, row->block[c]))) {
                    return CAROM_ERR_MEMORY;
                }
            }
        }
    }
    return status != CAROM_OK
               ? status
               : cr_zone_matrix_build(&newton->matrix, newton->block_count, newton->sizes.items,
                                      newton->pairs.count / 2,
                                      (const int32_t(*)[2])(const void*)newton->pairs.items,
                                      symmetric);
}

// The mass block of a frame; along locked directions a plain diagonal, which the projected rows
// never couple to anything.
static void add_mass(cr_newton* newton, int32_t b)
{
    const cr_newton_block* block = &newton->block.items[b];
    double part[36] = {0};
    for (int i = 0; i < block->size; i++) {
        part[i * block->size + i] = newton->mass[block->first + i];
    }
    if (block->frame >= 0 && block->lock >> 3) {
        const cr_vec3 inertia = cr_vec3_load(newton->mass + block->first);
        const cr_mat3 p = block->free_turn;
        const cr_mat3 pip = cr_mat3_mul(p, cr_mat3_mul(cr_mat3_diagonal(inertia), p));
        const double most = cr_max(inertia.x, cr_max(inertia.y, inertia.z));
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                part[6 * i + j] = pip.m[i][j] + most * ((i == j) - p.m[i][j]);
            }
        }
    }
    cr_zone_matrix_add(&newton->matrix, b, b, part);
}

// Rows and columns of a block that a lock holds vanish.
static void project(const cr_newton_block* row, const cr_newton_block* column, double* part)
{
    double line[6];
    for (int32_t j = 0; j < column->size && row->lock; j++) {
        for (int32_t i = 0; i < row->size; i++) {
            line[i] = part[i * column->size + j];
        }
        cr_newton_setup_lock(row, line);
        for (int32_t i = 0; i < row->size; i++) {
            part[i * column->size + j] = line[i];
        }
    }
    for (int32_t i = 0; i < row->size && column->lock; i++) {
        cr_newton_setup_lock(column, part + i * column->size);
    }
}

static void add_block(cr_newton* newton, int32_t i, int32_t j, double* part)
{
    project(&newton->block.items[i], &newton->block.items[j], part);
    cr_zone_matrix_add(&newton->matrix, i, j, part);
}

// Gamma of one block by its turning part; what u moves is share times the unit matrix.
static cr_mat3 turning(const cr_row* row, int32_t b)
{
    const cr_vec3 arm = cr_vec3_add_scaled(row->arm_sum[b], -row->lever[b], row->at.n);
    return cr_mat3_scale(-1.0, cr_mat3_mul(cr_mat3_skew(arm), row->body[b]->jth));
}

static void put(double* part, int32_t stride, int32_t r, int32_t c, double factor, cr_mat3 m)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            part[(r + i) * stride + c + j] = factor * m.m[i][j];
        }
    }
}

// Gamma_i^T D Gamma_j of all pairs of blocks.
static void add_flat(cr_newton* newton, const cr_row* row, cr_mat3 d)
{
    cr_mat3 turn[CR_ROW_POINTS];
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->size[b] == 6) {
            turn[b] = turning(row, b);
        }
    }
    for (int32_t i = 0; i < row->block_count; i++) {
        for (int32_t j = 0; j < row->block_count; j++) {
            const int32_t ni = row->size[i], nj = row->size[j];
            if (ni == 0 || nj == 0 || (newton->matrix.symmetric && j > i)) {
                continue;
            }
            double part[36] = {0};
            put(part, nj, ni - 3, nj - 3, row->share[i] * row->share[j], d);
            const cr_mat3 dj = nj == 6 ? cr_mat3_mul(d, turn[j]) : d;
            if (nj == 6) {
                put(part, nj, ni - 3, 0, row->share[i], dj);
            }
            if (ni == 6) {
                put(part, nj, 0, nj - 3, row->share[j], cr_mat3_tmul(turn[i], d));
            }
            if (ni == 6 && nj == 6) {
                put(part, nj, 0, 0, 1.0, cr_mat3_tmul(turn[i], dj));
            }
            add_block(newton, row->block[i], row->block[j], part);
        }
    }
}

// W of the row, see above.
static cr_mat3 direction_rate(const cr_newton* newton, const cr_newton_row* row)
{
    const cr_row_slip* slip = &row->slip;
    const double size = cr_vec3_norm(slip->tau), psi = 1.0 / slip->weight, e = newton->stick;
    const double rate = size >= e ? 1.0 : psi * psi / (e * e);
    cr_mat3 w = cr_mat3_scale(slip->weight, cr_mat3_identity());
    return size > 0.0 ? cr_mat3_add_scaled(w, -rate * slip->weight / size,
                                           cr_mat3_outer(row->dual, slip->tau))
                      : w;
}

static cr_mat3 across(cr_vec3 n)
{
    return cr_mat3_add_scaled(cr_mat3_identity(), -1.0, cr_mat3_outer(n, n));
}

static void add_row_flat(cr_newton* newton, const cr_newton_row* row, int symmetric)
{
    const cr_vec3 n = row->at.at.n;
    cr_mat3 d = cr_mat3_scale(row->stiff, cr_mat3_outer(n, n));
    if (symmetric && row->weight < 0.0) {
        d = (cr_mat3){0}; // a matrix that has to be positive
    }
    if (row->mu > 0.0 && symmetric) {
        d = cr_mat3_add_scaled(d, row->mu * row->press * row->slip.weight, across(n));
    } else if (row->mu > 0.0) {
        d = cr_mat3_add_scaled(d, -row->mu * row->rub * row->law.slope,
                               cr_mat3_outer(row->slip.s, n));
        d = cr_mat3_add_scaled(d, row->mu * row->press,
                               cr_mat3_mul(direction_rate(newton, row), across(n)));
    }
    add_flat(newton, &row->at, d);
}

static void scatter(cr_newton* newton, const cr_row* row, double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    for (int32_t i = 0; i < row->block_count; i++) {
        for (int32_t j = 0; j < row->block_count; j++) {
            const int32_t ni = row->size[i], nj = row->size[j];
            if (ni == 0 || nj == 0 || (newton->matrix.symmetric && j > i)) {
                continue;
            }
            double part[36] = {0};
            for (int32_t r = 0; r < ni; r++) {
                memcpy(part + r * nj, m[row->offset[i] + r] + row->offset[j],
                       (size_t)nj * sizeof(double));
            }
            add_block(newton, row->block[i], row->block[j], part);
        }
    }
}

static void add_outer(int32_t n, double factor, const double* u, const double* v,
                      double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            m[i][j] += factor * u[i] * v[j];
        }
    }
}

// Column j of J_k: how unknown j of point k's block moves it.
static cr_mat3 point_turning(const cr_row* row, int32_t k)
{
    const int32_t b = row->point_block[k];
    return cr_mat3_scale(-1.0, cr_mat3_mul(cr_mat3_skew(row->arm[k]), row->body[b]->jth));
}

static void add_mat3(double m[CR_ROW_DOFS][CR_ROW_DOFS], int32_t r, int32_t c, double factor,
                     cr_mat3 a)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[r + i][c + j] += factor * a.m[i][j];
        }
    }
}

// The second derivative of a potential of the four points against the unknowns, from its gradient
// and Hessian against the points: J_k^T H_kl J_l, and what the turning of a body does to J_k^T g_k.
static void add_point_potential(const cr_row* row, double factor, const cr_parallel_edges* edges,
                                double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    for (int k = 0; k < 4; k++) {
        const int32_t bk = row->point_block[k];
        if (bk < 0 || row->size[bk] == 0) {
            continue;
        }
        const int32_t ok = row->offset[bk], uk = ok + row->size[bk] - 3;
        for (int l = 0; l < 4; l++) {
            const int32_t bl = row->point_block[l];
            if (bl < 0 || row->size[bl] == 0) {
                continue;
            }
            const int32_t ol = row->offset[bl], ul = ol + row->size[bl] - 3;
            const cr_mat3 h = edges->hess[k][l];
            add_mat3(m, uk, ul, factor, h);
            if (row->size[bl] == 6) {
                add_mat3(m, uk, ol, factor, cr_mat3_mul(h, point_turning(row, l)));
            }
            if (row->size[bk] == 6) {
                const cr_mat3 left = cr_mat3_tmul(point_turning(row, k), h);
                add_mat3(m, ok, ul, factor, left);
                if (row->size[bl] == 6) {
                    add_mat3(m, ok, ol, factor, cr_mat3_mul(left, point_turning(row, l)));
                }
            }
        }
        if (row->size[bk] == 6) {
            const cr_row_body* body = row->body[bk];
            add_mat3(m, ok, ok, factor,
                     cr_rot_d2w(&body->rot, row->p[k], cr_mat3_tapply(body->r_p, edges->grad[k])));
        }
    }
}

// What the weight of nearly parallel edges adds beyond the terms at that weight (newton_fade.h):
//     sum_s q_s [ -L_s a_s Q^T - L_s Q a_s^T ] + mu S f Q^T + e dQ,  S the load of friction by m.
static void add_fading(const cr_newton* newton, const cr_newton_row* row,
                       double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t n = row->at.offset[row->at.block_count];
    const cr_parallel_edges edges = cr_parallel_edges_make(row->at.x);
    cr_newton_fade_term term[CR_NEWTON_FADE_TERMS];
    const int32_t count = cr_newton_fade_terms(newton, row, term);
    double q[CR_ROW_DOFS];
    pull_back(&row->at, edges.grad, q);
    for (int32_t i = 0; i < count; i++) {
        const double load = term[i].q * term[i].load;
        add_outer(n, -load, term[i].at.grad, q, m);
        add_outer(n, -load, q, term[i].at.grad, m);
    }
    if (row->mu > 0.0) {
        add_outer(n, row->mu * cr_newton_fade_rub(row, term, count), row->slip.force, q, m);
    }
    add_point_potential(&row->at, row->excess, &edges, m);
}

void cr_newton_system_row(const cr_newton* newton, const cr_newton_row* row,
                          double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t n = row->at.offset[row->at.block_count];
    cr_row_curve curve;
    for (int32_t i = 0; i < n; i++) {
        memset(m[i], 0, (size_t)n * sizeof(double));
    }
    cr_row_curve_make(&curve, &row->at);
    if (!newton->flat) {
        cr_row_add_hessian(&row->at, &curve, -row->lam, m);
    }
    if (!newton->apart) {
        add_outer(n, row->stiff, row->at.grad, row->at.grad, m);
    }
    if (row->mu > 0.0) {
        cr_row_slip slip = row->slip;
        slip.ds = direction_rate(newton, row);
        cr_row_add_friction(&row->at, &curve, &slip, row->mu * row->press, m);
        double rise[CR_ROW_DOFS];
        cr_newton_rub_slope(newton, row, rise);
        if (newton->apart) { // but for what goes with the row's own force
            add_outer(n, row->mu * row->rub * row->law.slope, row->slip.force, row->at.grad, m);
        }
        add_outer(n, row->mu, row->slip.force, rise, m);
    }
    if (row->fades) {
        add_fading(newton, row, m);
    }
}

typedef double row_matrix[CR_ROW_DOFS][CR_ROW_DOFS];

// Rows begin to end - 1 of those that follow the first `exact_first`.
static void make_exact(cr_newton* newton, int32_t begin, int32_t end)
{
    row_matrix* m = (row_matrix*)newton->exact_rows.items;
    for (int32_t k = begin; k < end; k++) {
        cr_newton_system_row(newton, &newton->row.items[newton->exact_first + k], m[k]);
    }
}

// Without friction the curvature of the gaps keeps the matrix symmetric.
static void make_curved(cr_newton* newton, int32_t begin, int32_t end)
{
    row_matrix* m = (row_matrix*)newton->exact_rows.items;
    for (int32_t k = begin; k < end; k++) {
        cr_newton_row smooth = newton->row.items[newton->exact_first + k];
        smooth.mu = 0.0;
        cr_newton_system_row(newton, &smooth, m[k]);
    }
}

static void add_row(cr_newton* newton, const cr_newton_row* row, row_matrix m, int symmetric)
{
    scatter(newton, &row->at, m);
    if (symmetric && row->mu > 0.0) {
        add_flat(newton, &row->at,
                 cr_mat3_scale(row->mu * row->press * row->slip.weight, across(row->at.at.n)));
    }
}

// Batch by batch: matrices by all workers, then into the system in the order of the rows.
static carom_status add_rows_exact(cr_newton* newton, int symmetric)
{
    if (!cr_array_reserve(&newton->exact_rows, BATCH * CR_ROW_DOFS * CR_ROW_DOFS)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t first = 0; first < newton->row.count; first += BATCH) {
        const int32_t left = newton->row.count - first, count = left < BATCH ? left : BATCH;
        newton->exact_first = first;
        cr_newton_chunks_run(newton, count, ROWS, LEAST_ROWS, symmetric ? make_curved : make_exact);
        for (int32_t k = 0; k < count; k++) {
            add_row(newton, &newton->row.items[first + k],
                    ((row_matrix*)newton->exact_rows.items)[k], symmetric);
        }
    }
    return CAROM_OK;
}

carom_status cr_newton_system_assemble(cr_newton* newton, int exact, int symmetric)
{
    const carom_status status = build(newton, symmetric);
    if (status != CAROM_OK) {
        return status;
    }
    newton->matrix.workers = newton->task->workers;
    for (int32_t b = 0; b < newton->block_count; b++) {
        add_mass(newton, b);
    }
    cr_newton_sheet_hessian(newton);
    if (exact) {
        return add_rows_exact(newton, symmetric);
    }
    for (int32_t i = 0; i < newton->row.count; i++) {
        add_row_flat(newton, &newton->row.items[i], symmetric);
    }
    return CAROM_OK;
}

carom_status cr_newton_system_assemble_apart(cr_newton* newton)
{
    newton->apart = 1;
    const carom_status status = cr_newton_system_assemble(newton, 1, 0);
    newton->apart = 0;
    return status;
}
