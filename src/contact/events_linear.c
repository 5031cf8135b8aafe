// The linear systems of an impact, by block elimination to the graph of its bodies:
//     [ N   -B ] [du]   [r1]       N = M + friction
//     [ A    E ] [dj] = [r2],      (E x)_c = (eps_c + soft_c) x_c - eps_c mean of x over its pair
// E couples the rows of one pair of bodies only. With E' close to it,
//     K = N + B E'^-1 A,      du = K^-1 (r1 + B E'^-1 r2),      dj = E'^-1 (r2 - A du),
// K having a 6 x 6 block per body and per pair. E may have no inverse: eps leaves alone what the
// rows of a pair do together. E' gives way there a little, and where eps is 0; the residual of the
// system itself, solved for again, takes that back.
#include "contact/events_impulse.h"
#include "math/dense.h"
#include <string.h>

// What E' gives way by, of the reciprocal of the lighter mass of a pair: more than the first times
// round-off is lost in K, and each refinement leaves at most the second of an error. No row is
// stiffer than the third.
static const double soft_mean = 1e-6, stiffest = 1e-9;

enum { REFINEMENTS = 6 };

// Of the solution: refined so far; and what the last refinement may still be.
static const double refined = 1e-15, usable = 1e-9;

static carom_status build_pattern(cr_events* events, cr_events_impulse_system* system)
{
    const int32_t bodies = system->n / 6;
    int32_t pairs = 0;
    if (!cr_array_reserve(&events->graph, 2 * system->pairs + bodies)) {
        return CAROM_ERR_MEMORY;
    }
    int32_t* size = events->graph.items;
    int32_t(*edge)[2] = (int32_t(*)[2])(void*)(events->graph.items + bodies);
    for (int32_t b = 0; b < bodies; b++) {
        size[b] = 6;
    }
    for (int32_t p = 0; p < system->pairs; p++) {
        const int32_t* side = system->pair[p].side;
        if (side[0] >= 0 && side[1] >= 0) {
            edge[pairs][0] = side[0];
            edge[pairs++][1] = side[1];
        }
    }
    carom_status status =
        cr_block_matrix_build(&events->matrix, bodies, size, pairs, (const int32_t(*)[2])edge, 0);
    if (status == CAROM_OK && !events->factor) {
        status = cr_block_factor_create(&events->factor);
    }
    return status == CAROM_OK ? cr_block_factor_analyse(events->factor, &events->matrix) : status;
}

// Which bodies each pair is of; rows of a pair may name them either way round.
carom_status cr_events_linear_prepare(cr_events* events, cr_events_impulse_system* system)
{
    for (int32_t p = 0; p < system->pairs; p++) {
        system->pair[p].side[0] = system->pair[p].side[1] = -1;
    }
    for (int32_t c = 0; c < system->m; c++) {
        memcpy(system->pair[system->row[c].pair].side, system->row[c].side,
               sizeof system->row[c].side);
    }
    system->events = events;
    return system->n > CR_EVENTS_DENSE ? build_pattern(events, system) : CAROM_OK;
}

// What of 12 velocities of a pair is of bodies that move.
typedef struct span {
    int begin, end;
} span;

static span span_of(const cr_events_pair_block* pair)
{
    return (span){pair->side[0] < 0 ? 6 : 0, pair->side[1] < 0 ? 6 : 12};
}

// block[12][12] += factor b a^T, with both sides the pair's way round
static void add_outer(span of, double factor, const double* restrict b, const double* restrict a,
                      double* restrict block)
{
    for (int k = of.begin; k < of.end; k++) {
        const double f = factor * b[k];
        for (int l = 0; l < 12; l++) {
            block[12 * k + l] += f * a[l];
        }
    }
}

static void orient(const double* a, int flip, double out[12])
{
    memcpy(out + (flip ? 6 : 0), a, 6 * sizeof *a);
    memcpy(out + (flip ? 0 : 6), a + 6, 6 * sizeof *a);
}

// block += mu j Gamma^T (weight (1 - n n^T) - fall/weight rub tau^T) Gamma
static void add_friction(const cr_events_impulse_line* line, cr_vec3 n, int flip, span of,
                         double* block)
{
    cr_mat3 d = cr_mat3_scale(-line->weight, cr_mat3_outer(n, n));
    d = cr_mat3_add_scaled(d, -line->fall / line->weight, cr_mat3_outer(line->rub, line->tau));
    double gamma[3][12];
    for (int i = 0; i < 3; i++) {
        d.m[i][i] += line->weight;
        orient(line->gamma + 12 * i, flip, gamma[i]);
    }
    for (int i = 0; i < 3; i++) {
        double dg[12];
        for (int k = 0; k < 12; k++) {
            dg[k] = d.m[i][0] * gamma[0][k] + d.m[i][1] * gamma[1][k] + d.m[i][2] * gamma[2][k];
        }
        add_outer(of, line->mu * line->j, gamma[i], dg, block);
    }
}

static void add_row(cr_events_impulse_system* system, int32_t c)
{
    cr_events_impulse_line* line = &system->line[c];
    const cr_events_row* row = &system->row[c];
    cr_events_pair_block* pair = &system->pair[row->pair];
    const int flip = row->side[0] != pair->side[0];
    if (line->mu > 0.0 && line->j > 0.0) {
        add_friction(line, row->at.n, flip, span_of(pair), pair->k);
    }
    if (!line->active) {
        return;
    }
    double a[12], b[12];
    orient(line->a, flip, a);
    orient(line->b, flip, b);
    const double eps = cr_max(line->eps, pair->least);
    line->give = 1.0 / (eps + line->soft);
    line->shared = eps * line->give;
    add_outer(span_of(pair), line->give, b, a, pair->k);
    for (int k = 0; k < 12; k++) {
        pair->a[k] += line->give * a[k];
        pair->b[k] += line->shared * b[k];
    }
    pair->shared += line->shared;
    pair->eps = cr_max(pair->eps, line->eps);
}

static double lighter_mass(const cr_events_impulse_system* system, const int32_t side[2])
{
    double mass = HUGE_VAL;
    for (int s = 0; s < 2; s++) {
        mass = side[s] >= 0 ? cr_min(mass, system->mass[side[s]]) : mass;
    }
    return mass;
}

// E' = D - e 1^T / s, e = max(eps, least), D = e + soft, has the inverse
//     D^-1 + q 1^T D^-1 / (s - sum q),    q = e / D.    s is a little more than the number of rows.
static void gather_pairs(cr_events_impulse_system* system)
{
    for (int32_t p = 0; p < system->pairs; p++) {
        cr_events_pair_block* pair = &system->pair[p];
        *pair = (cr_events_pair_block){.side = {pair->side[0], pair->side[1]}};
        pair->least = stiffest / lighter_mass(system, pair->side);
    }
    for (int32_t c = 0; c < system->m; c++) {
        add_row(system, c);
    }
    for (int32_t p = 0; p < system->pairs; p++) {
        cr_events_pair_block* pair = &system->pair[p];
        const double eps = cr_max(pair->eps, pair->least);
        const double give = cr_min(1.0, soft_mean / stiffest * pair->least / eps);
        const double size = system->size[p];
        pair->share = 1.0 / (size * (1.0 + give) - pair->shared);
        add_outer(span_of(pair), pair->share, pair->b, pair->a, pair->k);
    }
}

static void body_block(const cr_events_impulse_system* system, int32_t b, double out[36])
{
    memset(out, 0, 36 * sizeof *out);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[6 * i + j] = system->inertia[b].m[i][j];
        }
        out[6 * (3 + i) + 3 + i] = system->mass[b];
    }
}

// K is small or sparse: block (i,j) += add.
static void add_block(cr_events_impulse_system* system, int32_t i, int32_t j, const double* add)
{
    if (system->n > CR_EVENTS_DENSE) {
        cr_block_matrix_add(&system->events->matrix, i, j, add);
        return;
    }
    for (int k = 0; k < 6; k++) {
        for (int l = 0; l < 6; l++) {
            system->matrix[(6 * i + k) * system->n + 6 * j + l] += add[6 * k + l];
        }
    }
}

static void assemble(cr_events_impulse_system* system)
{
    double block[36];
    if (system->n > CR_EVENTS_DENSE) {
        cr_block_matrix_zero(&system->events->matrix);
    } else {
        memset(system->matrix, 0, (size_t)(system->n * system->n) * sizeof(double));
    }
    for (int32_t b = 0; 6 * b < system->n; b++) {
        body_block(system, b, block);
        add_block(system, b, b, block);
    }
    for (int32_t p = 0; p < system->pairs; p++) {
        const cr_events_pair_block* pair = &system->pair[p];
        for (int s = 0; s < 4; s++) {
            const int k = s / 2, l = s % 2;
            if (pair->side[k] < 0 || pair->side[l] < 0) {
                continue;
            }
            for (int i = 0; i < 6; i++) {
                memcpy(block + 6 * i, pair->k + 12 * (6 * k + i) + 6 * l, 6 * sizeof *block);
            }
            add_block(system, pair->side[k], pair->side[l], block);
        }
    }
}

int cr_events_linear_factor(cr_events_impulse_system* system)
{
    int32_t active = 0;
    for (int32_t c = 0; c < system->m; c++) {
        if (system->line[c].active) {
            system->place[active++] = c;
        }
    }
    gather_pairs(system);
    assemble(system);
    system->active = active;
    const carom_status status =
        system->n > CR_EVENTS_DENSE
            ? cr_block_factor_lu(system->events->factor, &system->events->matrix)
            : cr_dense_lu(system->n, system->matrix, system->pivot);
    return status == CAROM_OK;
}

static void solve_bodies(cr_events_impulse_system* system, int transposed, double* x)
{
    if (system->n > CR_EVENTS_DENSE && transposed) {
        cr_block_factor_solve_transposed(system->events->factor, x);
    } else if (system->n > CR_EVENTS_DENSE) {
        cr_block_factor_solve(system->events->factor, x);
    } else if (transposed) {
        cr_dense_lu_solve_transposed(system->n, system->matrix, system->pivot, x);
    } else {
        cr_dense_lu_solve(system->n, system->matrix, system->pivot, x);
    }
}

typedef enum weights { PLAIN, BY_EPS, BY_SHARED } weights;

// Sums over the rows of each pair, of the active ones' x: into pair->sum.
static void sum_pairs(cr_events_impulse_system* system, const double* x, weights by)
{
    for (int32_t p = 0; p < system->pairs; p++) {
        system->pair[p].sum = 0.0;
    }
    for (int32_t i = 0; i < system->active; i++) {
        const cr_events_impulse_line* line = &system->line[system->place[i]];
        const double weight = by == PLAIN ? 1.0 : by == BY_EPS ? line->eps : line->shared;
        system->pair[system->row[system->place[i]].pair].sum += weight * x[i];
    }
}

// y := E'^-1 y
static void divide_rows(cr_events_impulse_system* system, double* y)
{
    for (int32_t i = 0; i < system->active; i++) {
        y[i] *= system->line[system->place[i]].give;
    }
    sum_pairs(system, y, PLAIN);
    for (int32_t i = 0; i < system->active; i++) {
        const int32_t c = system->place[i];
        const cr_events_pair_block* pair = &system->pair[system->row[c].pair];
        y[i] += system->line[c].shared * pair->share * pair->sum;
    }
}

// y := E'^-T y
static void divide_rows_transposed(cr_events_impulse_system* system, double* y)
{
    sum_pairs(system, y, BY_SHARED);
    for (int32_t i = 0; i < system->active; i++) {
        const int32_t c = system->place[i];
        const cr_events_pair_block* pair = &system->pair[system->row[c].pair];
        y[i] = (y[i] + pair->share * pair->sum) * system->line[c].give;
    }
}

static void divide(cr_events_impulse_system* system, int transposed, double* y)
{
    if (transposed) {
        divide_rows_transposed(system, y);
    } else {
        divide_rows(system, y);
    }
}

// out -= E y, or by the transpose
static void take_rows(cr_events_impulse_system* system, int transposed, const double* y,
                      double* out)
{
    sum_pairs(system, y, transposed ? BY_EPS : PLAIN);
    for (int32_t i = 0; i < system->active; i++) {
        const int32_t c = system->place[i], p = system->row[c].pair;
        const double mean = system->pair[p].sum / system->size[p], eps = system->line[c].eps;
        out[i] -= (eps + system->line[c].soft) * y[i] - (transposed ? 1.0 : eps) * mean;
    }
}

void cr_events_linear_shift(cr_events_impulse_system* system, const double* y, double* out)
{
    take_rows(system, 0, y, out);
}

// The way from rows to bodies is b, and that from bodies to rows a; transposed they change places.
static const double* way(const cr_events_impulse_system* system, int32_t c, int to_rows,
                         int transposed)
{
    return to_rows != transposed ? system->line[c].a : system->line[c].b;
}

static void spread(const cr_events_impulse_system* system, int transposed, double factor,
                   const double* y, double* x)
{
    for (int32_t i = 0; i < system->active; i++) {
        const int32_t c = system->place[i];
        const double* b = way(system, c, 0, transposed);
        for (int k = 0; k < 12; k++) {
            const int32_t body = system->row[c].side[k / 6];
            if (body >= 0) {
                x[6 * body + k % 6] += factor * y[i] * b[k];
            }
        }
    }
}

static void collect(const cr_events_impulse_system* system, int transposed, double factor,
                    const double* x, double* y)
{
    for (int32_t i = 0; i < system->active; i++) {
        const int32_t c = system->place[i];
        const double* a = way(system, c, 1, transposed);
        for (int k = 0; k < 12; k++) {
            const int32_t body = system->row[c].side[k / 6];
            if (body >= 0) {
                y[i] += factor * a[k] * x[6 * body + k % 6];
            }
        }
    }
}

// force += mu j Gamma^T (weight (1 - n n^T) - fall/weight rub tau^T) Gamma x
static void apply_friction(const cr_events_impulse_system* system, int32_t c, const double* x,
                           double* force)
{
    const cr_events_impulse_line* line = &system->line[c];
    const cr_vec3 n = system->row[c].at.n, slip = cr_events_impulse_slip(system, c, x);
    cr_vec3 rub = cr_vec3_add_scaled(slip, -cr_vec3_dot(n, slip), n);
    rub = cr_vec3_add_scaled(cr_vec3_scale(line->weight, rub),
                             -line->fall / line->weight * cr_vec3_dot(line->tau, slip), line->rub);
    const double d[3] = {rub.x, rub.y, rub.z}, load = line->mu * line->j;
    for (int k = 0; k < 12; k++) {
        const int32_t b = system->row[c].side[k / 6];
        for (int i = 0; b >= 0 && i < 3; i++) {
            force[6 * b + k % 6] += load * line->gamma[12 * i + k] * d[i];
        }
    }
}

// out -= N x. With the law's rub N is symmetric, so that it is its own transpose.
static void take_bodies(cr_events_impulse_system* system, const double* x, double* out)
{
    double* force = system->work;
    cr_events_impulse_times_mass(system, x, force);
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_impulse_line* line = &system->line[c];
        if (line->mu > 0.0 && line->j > 0.0) {
            apply_friction(system, c, x, force);
        }
    }
    for (int32_t i = 0; i < system->n; i++) {
        out[i] -= force[i];
    }
}

static double largest(const double* x, int32_t count)
{
    double most = 0.0;
    for (int32_t i = 0; i < count; i++) {
        most = cr_max(most, fabs(x[i]));
    }
    return most;
}

// One solve with E' for E: right becomes a solution. Transposed the signs of A and B change places,
// [N^T A^T; -B^T E^T], which with -y for y is the same system with A^T and B^T for B and A.
static void solve_once(cr_events_impulse_system* system, int transposed, double* right)
{
    double *x = right, *y = right + system->n;
    double* load = system->work;
    memcpy(load, y, (size_t)system->active * sizeof *load);
    divide(system, transposed, load);
    spread(system, transposed, 1.0, load, x);
    solve_bodies(system, transposed, x);
    collect(system, transposed, -1.0, x, y);
    divide(system, transposed, y);
}

static int solve(cr_events_impulse_system* system, int transposed)
{
    const int32_t n = system->n, all = n + system->active;
    const size_t bytes = (size_t)all * sizeof(double);
    double *given = system->refine, *sum = given + n + system->m, *more = system->right;
    for (int32_t i = n; i < all && transposed; i++) {
        more[i] = -more[i];
    }
    memcpy(given, more, bytes);
    solve_once(system, transposed, more);
    memcpy(sum, more, bytes);
    // masses are 1 and more: what is asked for moves nothing by more
    const double asked = largest(given, all);
    double last[2] = {largest(sum, n), largest(sum + n, all - n)};
    for (int32_t i = 0; i < REFINEMENTS; i++) {
        memcpy(more, given, bytes);
        take_bodies(system, sum, more);
        spread(system, transposed, 1.0, sum + n, more);
        collect(system, transposed, -1.0, sum, more + n);
        take_rows(system, transposed, sum + n, more + n);
        solve_once(system, transposed, more);
        for (int32_t k = 0; k < all; k++) {
            sum[k] += more[k];
        }
        const double by[2] = {largest(more, n), largest(more + n, all - n)};
        const double of[2] = {largest(sum, n) + asked, largest(sum + n, all - n)};
        const int done = by[0] <= refined * of[0] && by[1] <= refined * of[1];
        const int falls = by[0] < 0.5 * last[0] || by[1] < 0.5 * last[1];
        memcpy(last, by, sizeof last);
        if (done || !falls) {
            break;
        }
    }
    memcpy(more, sum, bytes);
    for (int32_t i = n; i < all && transposed; i++) {
        more[i] = -more[i];
    }
    return last[0] <= usable * (largest(sum, n) + asked);
}

void cr_events_linear_solve_roughly(cr_events_impulse_system* system)
{
    solve_once(system, 0, system->right);
}

int cr_events_linear_solve(cr_events_impulse_system* system)
{
    return solve(system, 0);
}

int cr_events_linear_solve_transposed(cr_events_impulse_system* system)
{
    return solve(system, 1);
}
