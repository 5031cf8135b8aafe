#include "contact/zone_inside.h"
#include <string.h>

// The end of the zone solves
//     F1 = M (z - zt) + h^2 dE - sum lam (a - f) = 0,    F2 = g + eps lam = 0,
// whose derivative is J = [H, -B; A, eps], B = a - f. With J^T (y; v) = (z_bar; lam_bar) every
// number theta in F1, F2 has  theta_bar = -y . dF1/dtheta - v . dF2/dtheta. From the second row
// v = (B^T y + lam_bar) / eps, so y solves the transpose of the matrix that Newton used:
// (H + B A / eps)^T y = z_bar - A^T lam_bar / eps.
static carom_status factor_as(cr_zone* zone, int32_t symmetric, int32_t sweeps)
{
    const int dense = zone->task->gradient != CR_ZONE_SPARSE;
    carom_status status = cr_zone_newton_exact(zone, symmetric);
    zone->sweeping = status == CAROM_OK && sweeps && !dense && cr_zone_sweep_suits(zone, 0);
    if (status == CAROM_OK && dense) {
        status = cr_zone_dense_factor(zone);
    }
    if (status == CAROM_OK) {
        status = cr_zone_matrix_begin(&zone->matrix);
    }
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line_add(zone, &zone->line.items[i], 1.0 / zone->line.items[i].eps, 1);
    }
    if (zone->sweeping) {
        status = cr_zone_sweep_make(zone, 1);
        zone->sweeping = status == CAROM_OK;
    }
    if (!zone->sweeping && status != CAROM_ERR_MEMORY && !dense) {
        status = cr_zone_matrix_factor(&zone->matrix);
    }
    return status;
}

// Where bodies stand on each other in perfect but unstable balance, edge upon edge, the step ends
// at a saddle: the matrix is symmetric and not positive. The equations hold there all the same, and
// so does their derivative.
carom_status cr_zone_adj_factor(cr_zone* zone, int32_t sweeps)
{
    const carom_status status = factor_as(zone, !zone->rubbing, sweeps);
    return status == CAROM_ERR_NOT_POSITIVE && !zone->rubbing ? factor_as(zone, 0, 0) : status;
}

// By sweeps a second solve, of what the first has left, has to follow: nodes are light, so that
// what is a last digit of theirs is not one of a body that they touch. (To 1e-15 of the largest
// unknown the gradient of a body that lay on 441 nodes for 1200 steps was off by 5e-9, to 1e-18 by
// 2e-13.)
static carom_status solve_once(cr_zone* zone, double* y)
{
    static const double digits = 1e-11; // that the next correction is surely below `settled`
    if (zone->sweeping) {
        return cr_zone_sweep_solve(zone, y, 0.0, digits);
    }
    if (zone->task->gradient != CR_ZONE_SPARSE) {
        return cr_zone_dense_solve(zone, y);
    }
    cr_zone_matrix_solve_transposed(&zone->matrix, y);
    return CAROM_OK;
}

static double push_dot(const cr_zone* zone, const cr_zone_line* line, const double* y) // B . y
{
    return cr_zone_line_dot(zone, line, line->a, y) - cr_zone_line_dot(zone, line, line->f, y);
}

// A correction of this part of a solution, in unknowns and in multipliers: what the solve gets
// wrong it gets wrong by this factor, so that after it nothing but round-off is left.
static const double settled = 1e-10;

static double largest(const double* x, int32_t count)
{
    double most = 0.0;
    for (int32_t i = 0; i < count; i++) {
        most = cr_max(most, fabs(x[i]));
    }
    return most;
}

int cr_zone_adj_settled(const cr_zone* zone, const double* x, const double* r, double more)
{
    double most = 0.0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        most = cr_max(most, fabs(zone->line.items[i].dlam));
    }
    return largest(r, zone->n) <= settled * largest(x, zone->n) && more <= settled * most;
}

// r gets what the unknowns feel of the compliance of rows of one place, see zone_crowd.c.
static void add_crowd(cr_zone* zone, cr_zone_row_bars* rows, double* r)
{
    double* felt = zone->z_before;
    memset(felt, 0, sizeof(double) * (size_t)zone->n);
    cr_zone_crowd_adj(zone, rows, 0, felt, NULL);
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        if (block->lock) {
            cr_zone_line_lock(block, felt + block->first);
        }
    }
    for (int32_t i = 0; i < zone->n; i++) {
        r[i] += felt[i];
    }
}

// Refined in y and v together, which is well conditioned where the matrix, with its 1/eps, is not.
// The matrix knows nothing of crowds either, so that there it may take a few sweeps more. z_bar is
// in zone->grad.
static carom_status solve_by(cr_zone* zone, cr_zone_row_bars* rows, int32_t sweeps, double* y)
{
    double *bar = zone->grad, *r = zone->scratch;
    carom_status status = cr_zone_adj_factor(zone, sweeps);
    if (status != CAROM_OK) {
        return status;
    }
    cr_zone_matrix_reset(&zone->matrix);
    memset(y, 0, sizeof(double) * (size_t)zone->n);
    for (int32_t i = 0; i < zone->line.count; i++) {
        zone->line.items[i].dlam = 0.0;
    }
    int done = 0;
    const int most_sweeps = zone->crowded ? CR_ZONE_CROWDED_SWEEPS : 3;
    for (int sweep = 0; sweep < most_sweeps && status == CAROM_OK && !done; sweep++) {
        double most = 0.0; // change of v
        cr_zone_matrix_apply_transposed(&zone->matrix, y, r);
        for (int32_t i = 0; i < zone->n; i++) {
            r[i] = bar[i] - r[i];
        }
        if (zone->crowded) {
            add_crowd(zone, rows, r);
        }
        for (int32_t i = 0; i < zone->line.count; i++) {
            cr_zone_line* line = &zone->line.items[i];
            line->miss = rows[i].lam + push_dot(zone, line, y) - line->eps * line->dlam;
            cr_zone_line_push(zone, line, -line->dlam - line->miss / line->eps, 0, r);
        }
        status = solve_once(zone, r);
        for (int32_t i = 0; i < zone->n; i++) {
            y[i] += r[i];
        }
        for (int32_t i = 0; i < zone->line.count; i++) {
            cr_zone_line* line = &zone->line.items[i];
            const double more = (line->miss + push_dot(zone, line, r)) / line->eps;
            line->dlam += more;
            most = cr_max(most, fabs(more));
        }
        done = cr_zone_adj_settled(zone, y, r, most);
    }
    return status;
}

// y comes in as z_bar; v is left in dlam of the lines.
static carom_status solve(cr_zone* zone, cr_zone_row_bars* rows, double* y)
{
    memcpy(zone->grad, y, sizeof(double) * (size_t)zone->n);
    carom_status status = solve_by(zone, rows, 1, y);
    if (status == CAROM_ERR_NO_CONVERGENCE && zone->sweeping) {
        status = solve_by(zone, rows, 0, y);
    }
    zone->sweeping = 0;
    return status;
}

static void gather_end(const cr_zone* zone, const cr_zone_bars* bars, double* y)
{
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        if (block->frame >= 0) {
            cr_vec3_store(y + block->first, bars->w[block->frame]);
            cr_vec3_store(y + block->first + 3, bars->u[block->frame]);
            if (block->lock) {
                cr_zone_line_lock(block, y + block->first);
            }
        } else {
            cr_vec3_store(y + block->first, bars->d[block->node]);
        }
    }
}

// F1 has M (z - zt): the target gets M y, the masses -y (z - zt).
static void spread_inertia(const cr_zone* zone, const double* y, cr_zone_bars* bars)
{
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        const double* at = y + block->first;
        const double* z = zone->z + block->first;
        const double* zt = zone->target + block->first;
        const double* m = zone->mass + block->first;
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            for (int i = 0; i < 3; i++) {
                bars->inertia[3 * f + i] -= at[i] * z[i];
                bars->mass[f] -= at[3 + i] * (z[3 + i] - zt[3 + i]);
            }
            cr_vec3_accumulate(&bars->ut[f].x, cr_vec3_scale(m[3], cr_vec3_load(at + 3)));
        } else {
            for (int i = 0; i < 3; i++) {
                bars->node_mass[block->node] -= at[i] * (z[i] - zt[i]);
            }
            cr_vec3_accumulate(&bars->dt[block->node].x, cr_vec3_scale(m[0], cr_vec3_load(at)));
        }
    }
}

// A point whose motion is given starts at o0 + from (o1 - o0) and moves by (to - from)(o1 - o0).
void cr_zone_given_adj(const cr_zone_task* task, int32_t vertex, cr_vec3 start_bar,
                       cr_vec3 moved_bar, cr_zone_bars* bars)
{
    const double part = task->to - task->from;
    cr_vec3_accumulate(
        &bars->obstacle0[vertex].x,
        cr_vec3_add_scaled(cr_vec3_scale(1.0 - task->from, start_bar), -part, moved_bar));
    cr_vec3_accumulate(&bars->obstacle1[vertex].x,
                       cr_vec3_add_scaled(cr_vec3_scale(task->from, start_bar), part, moved_bar));
}

static void spread_row(const cr_zone* zone, const cr_zone_line* line, const double* y,
                       cr_zone_bars* bars, cr_zone_row_bars* out)
{
    cr_row row;
    cr_row_slip slip;
    cr_row_bars local;
    double dofs[CR_ROW_DOFS] = {0};
    memset(&local, 0, sizeof local);
    cr_zone_line_row(zone, line, &row);
    const int rubs = line->mu > 0.0;
    if (rubs) {
        cr_row_slip_make(&slip, &row, zone->stick);
    }
    for (int b = 0; b < row.block_count; b++) {
        for (int i = 0; i < row.size[b]; i++) {
            dofs[row.offset[b] + i] = y[zone->block.items[row.block[b]].first + i];
        }
    }
    const double lam = line->row.lam;
    const double v = line->dlam;
    cr_row_adj(&row, rubs ? &slip : NULL, line->mu, lam, dofs, v, &local);
    if (zone->task->flat) { // without lam y.dg/dz, whose derivative is the curvature
        cr_row_adj(&row, NULL, 0.0, -lam, dofs, 0.0, &local);
    }
    out->thickness += local.th;
    out->friction += local.mu;
    out->lever[0] += local.radius[0];
    out->lever[1] += local.radius[1];
    const cr_give give = cr_give_make(line->eps0, line->room, lam);
    out->compliance -= v * give.slope * lam / line->eps0;
    out->room -= v * give.share * give.share;
    for (int b = 0; b < row.block_count; b++) {
        if (row.size[b] == 0) {
            continue;
        }
        const cr_zone_block* block = &zone->block.items[row.block[b]];
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            cr_vec3_accumulate(&bars->t0[f].x, local.start[b]);
            cr_vec3_accumulate(&bars->rp[f].x, local.r_p[b]);
            cr_vec3_accumulate(&bars->r0[f].x, local.r_0[b]);
            cr_vec3_accumulate(&bars->turn[f].x, local.roll[b]);
        } else {
            cr_vec3_accumulate(&bars->x0[block->node].x, local.start[b]);
        }
    }
    for (int k = 0; k < 4; k++) {
        const int32_t b = row.point_block[k];
        if (line->point[k] < 0 || b < 0) {
            continue;
        }
        const cr_zone_point* point = &zone->point.items[line->point[k]];
        if (point->rigid) {
            cr_vec3_accumulate(&bars->p[point->vertex].x, local.p[k]);
        } else if (point->block < 0) {
            cr_zone_given_adj(zone->task, point->vertex, local.start[b], local.u[b], bars);
        }
    }
}

// What a locked frame's equations would be without the lock, by its w.
typedef struct unheld {
    cr_vec3 force; // F1
    cr_vec3 bar;   // w_bar - (dF1/dw)^T y - sum v dg/dw
} unheld;

static void unheld_row(const cr_zone* zone, const cr_zone_line* line, int32_t block,
                       const double* y, unheld* out)
{
    cr_row row;
    double m[CR_ROW_DOFS][CR_ROW_DOFS];
    cr_zone_line_matrix(zone, line, &row, m);
    const double v = line->dlam;
    cr_row_slip slip;
    const int rubs = line->mu > 0.0;
    if (rubs) {
        cr_row_slip_make(&slip, &row, zone->stick);
    }
    for (int b = 0; b < row.block_count; b++) {
        if (row.size[b] == 0 || row.block[b] != block) {
            continue;
        }
        for (int i = row.offset[b]; i < row.offset[b] + 3; i++) {
            double bar = v * row.grad[i];
            for (int c = 0; c < row.block_count; c++) {
                for (int k = 0; k < row.size[c]; k++) {
                    bar += m[row.offset[c] + k][i] * y[zone->block.items[row.block[c]].first + k];
                }
            }
            const double rub = rubs ? line->mu * slip.force[i] : 0.0;
            (&out->bar.x)[i - row.offset[b]] -= bar;
            (&out->force.x)[i - row.offset[b]] -= line->row.lam * (row.grad[i] - rub);
        }
    }
}

// A frame that is held in some axes turns by w = N c, N the free axes as R_p sees them, and solves
// N^T F1 = 0. When R_p moves to R_p exp(d), N moves by -d x N: w and y with it. With F and B, force
// and bar above, both along the axes held:
//     rp_bar . d = B.(-d x w) - F.(-d x y)
static void spread_lock(cr_zone* zone, int32_t b, const double* y, cr_zone_bars* bars,
                        cr_zone_row_bars* rows)
{
    const cr_zone_block* block = &zone->block.items[b];
    const double* m = zone->mass + block->first;
    const cr_vec3 w = cr_vec3_load(zone->z + block->first);
    const cr_vec3 y_w = cr_vec3_load(y + block->first);
    unheld at = {.force = {m[0] * w.x, m[1] * w.y, m[2] * w.z}, .bar = bars->w[block->frame]};
    at.bar = cr_vec3_sub(at.bar, (cr_vec3){m[0] * y_w.x, m[1] * y_w.y, m[2] * y_w.z});
    for (int32_t i = 0; i < zone->line.count; i++) {
        unheld_row(zone, &zone->line.items[i], b, y, &at);
    }
    if (zone->crowded) {
        memset(zone->z_before, 0, sizeof(double) * (size_t)zone->n);
        cr_zone_crowd_adj(zone, rows, 0, zone->z_before, NULL);
        at.bar = cr_vec3_add(at.bar, cr_vec3_load(zone->z_before + block->first));
    }
    cr_vec3* rp = &bars->rp[block->frame];
    *rp = cr_vec3_add(*rp, cr_vec3_cross(at.bar, w));
    *rp = cr_vec3_add(*rp, cr_vec3_cross(y_w, at.force));
}

// F1 has h^2 dE(x), x = x0 + d, with E reading the start of the step too.
static void spread_sheet(cr_zone* zone, int32_t member, int32_t first_block, const double* y,
                         cr_zone_bars* bars)
{
    const cr_zone_task* task = zone->task;
    const int32_t s = task->member_sheet[member];
    const int32_t from = task->sheet_node[s], count = task->sheet_node[s + 1] - from;
    const cr_cloth_step step = cr_zone_sheet_step(task, member);
    const double factor = -task->h * task->h;
    const double* x = zone->sheet_x.items + 3 * first_block;
    double* dofs = zone->sheet_scratch.items; // y at the nodes, then what the nodes feel
    double* felt = dofs + 3 * count;
    for (int32_t n = 0; n < count; n++) {
        const int32_t block = zone->node_block.items[first_block + n];
        const cr_vec3 at =
            block >= 0 ? cr_vec3_load(y + zone->block.items[block].first) : (cr_vec3){0, 0, 0};
        cr_vec3_store(dofs + 3 * n, at);
        cr_vec3_store(felt + 3 * n, (cr_vec3){0, 0, 0});
    }
    cr_cloth_apply(&task->sheet[s], &task->material[s], &step, x, dofs, factor, felt);
    for (int32_t n = 0; n < count; n++) {
        const cr_vec3 at = cr_vec3_load(felt + 3 * n);
        if (zone->node_block.items[first_block + n] >= 0) {
            cr_vec3_accumulate(&bars->x0[from + n].x, at);
        } else { // its end is o0 + to (o1 - o0), whatever its start
            const int32_t v = task->bodies->node_vertex[from + n];
            cr_vec3_accumulate(&bars->obstacle0[v].x, cr_vec3_scale(1.0 - task->to, at));
            cr_vec3_accumulate(&bars->obstacle1[v].x, cr_vec3_scale(task->to, at));
        }
    }
    const cr_cloth_bars cloth = {.material = &bars->material[s],
                                 .wind = bars->wind,
                                 .x0 = &bars->x0[from].x,
                                 .v0 = &bars->v0[from].x,
                                 .corner = bars->corner ? bars->corner[s] : NULL};
    cr_cloth_gradient_adj(&task->sheet[s], &task->material[s], &step, x, dofs, factor, &cloth);
}

carom_status cr_zone_adj_ready(cr_zone* zone, int32_t gradient)
{
    return gradient == CR_ZONE_SPARSE ? CAROM_OK : cr_zone_dense_open(zone);
}

carom_status cr_zone_adj_recall(cr_zone* zone, const cr_zone_task* task, const double* lam)
{
    const carom_status status = cr_zone_begin(zone, task);
    if (status != CAROM_OK) {
        return status;
    }
    const cr_motion* motion = task->motion;
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        if (block->frame >= 0) {
            cr_vec3_store(zone->z + block->first, motion->w[block->frame]);
            cr_vec3_store(zone->z + block->first + 3, motion->u[block->frame]);
        } else {
            cr_vec3_store(zone->z + block->first, motion->d[block->node]);
        }
    }
    zone->along = 1.0;
    cr_zone_point_place(zone);
    return cr_zone_line_recall(zone, lam);
}

carom_status cr_zone_adj(cr_zone* zone, const cr_zone_task* task, const double* lam,
                         cr_zone_bars* bars, cr_zone_row_bars* rows)
{
    carom_status status = cr_zone_adj_recall(zone, task, lam);
    if (status != CAROM_OK) {
        return status;
    }
    double* y = zone->d;
    gather_end(zone, bars, y);
    status = solve(zone, rows, y);
    if (status != CAROM_OK) {
        return status;
    }
    spread_inertia(zone, y, bars);
    for (int32_t b = 0; b < zone->block_count; b++) {
        if (zone->block.items[b].lock >> 3) {
            spread_lock(zone, b, y, bars, rows);
        }
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        spread_row(zone, &zone->line.items[i], y, bars, &rows[i]);
    }
    if (zone->crowded) {
        cr_zone_crowd_adj(zone, rows, 1, NULL, bars);
    }
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        spread_sheet(zone, i, at, y, bars);
        at += task->sheet_node[s + 1] - task->sheet_node[s];
    }
    return CAROM_OK;
}
