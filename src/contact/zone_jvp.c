#include "contact/zone_inside.h"
#include <string.h>

// In the letters of zone_adj.c, of the equations
//     H dz - B dlam = -dF1,     A dz + eps dlam = -dF2
// the second gives dlam, and with it (H + B A / eps) dz = -dF1 - B dF2 / eps: the matrix of the
// reverse, not transposed. The right side gathers where dz will be, in w, u and d.

static cr_vec3 times(const double* m, cr_vec3 a)
{
    return (cr_vec3){m[0] * a.x, m[1] * a.y, m[2] * a.z};
}

// F1 has M (z - zt).
static void gather_inertia(const cr_zone* zone, const cr_zone_tangents* by)
{
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        const double *z = zone->z + block->first, *zt = zone->target + block->first;
        const double* m = zone->mass + block->first;
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            const cr_vec3 off = cr_vec3_sub(cr_vec3_load(z + 3), cr_vec3_load(zt + 3));
            by->w[f] = cr_vec3_neg(times(by->inertia + 3 * f, cr_vec3_load(z)));
            by->u[f] = cr_vec3_add_scaled(cr_vec3_scale(m[3], by->ut[f]), -by->mass[f], off);
        } else {
            const int32_t n = block->node;
            const cr_vec3 off = cr_vec3_sub(cr_vec3_load(z), cr_vec3_load(zt));
            by->d[n] = cr_vec3_add_scaled(cr_vec3_scale(m[0], by->dt[n]), -by->node_mass[n], off);
        }
    }
}

// What the changes mean for one row.
static void row_tangents(const cr_zone* zone, const cr_zone_line* line, const cr_row* row,
                         const cr_zone_tangents* by, const cr_zone_row_tangents* of,
                         cr_row_bars* out)
{
    const cr_zone_task* task = zone->task;
    memset(out, 0, sizeof *out);
    out->mu = of->friction;
    out->radius[0] = of->lever[0];
    out->radius[1] = of->lever[1];
    for (int b = 0; b < row->block_count; b++) {
        if (row->size[b] == 0) {
            continue;
        }
        const cr_zone_block* block = &zone->block.items[row->block[b]];
        if (block->frame >= 0) {
            out->start[b] = by->t0[block->frame];
            out->r_p[b] = by->rp[block->frame];
            out->r_0[b] = by->r0[block->frame];
            out->roll[b] = by->turn[block->frame];
        } else {
            out->start[b] = by->x0[block->node];
        }
    }
    for (int k = 0; k < 4; k++) {
        const int32_t b = row->point_block[k];
        if (line->point[k] < 0 || b < 0) {
            continue;
        }
        const cr_zone_point* point = &zone->point.items[line->point[k]];
        if (point->rigid) {
            out->p[k] = by->p ? by->p[point->vertex] : (cr_vec3){0, 0, 0};
        } else if (point->block < 0) { // starts at o0 + from (o1 - o0), moves by the rest
            const cr_vec3 whole =
                cr_vec3_sub(by->obstacle1[point->vertex], by->obstacle0[point->vertex]);
            out->start[b] = cr_vec3_add_scaled(by->obstacle0[point->vertex], task->from, whole);
            out->u[b] = cr_vec3_scale(task->to - task->from, whole);
        }
    }
}

static void add_to_block(const cr_zone_block* block, double s, const double* q,
                         const cr_zone_tangents* by)
{
    if (block->frame >= 0) {
        cr_vec3_add_to(&by->w[block->frame], cr_vec3_scale(s, cr_vec3_load(q)));
        cr_vec3_add_to(&by->u[block->frame], cr_vec3_scale(s, cr_vec3_load(q + 3)));
    } else {
        cr_vec3_add_to(&by->d[block->node], cr_vec3_scale(s, cr_vec3_load(q)));
    }
}

// What the depth of a line changes by with its compliance and room.
static double give_by(const cr_zone_line* line, const cr_zone_row_tangents* of)
{
    const double lam = line->row.lam;
    const cr_give give = cr_give_make(line->eps0, line->room, lam);
    return give.slope * lam / line->eps0 * of->compliance + give.share * give.share * of->room;
}

// One row for all directions. rows->lam holds dF2 until the end.
static void gather_row(const cr_zone* zone, int32_t index, int32_t count,
                       const cr_zone_tangents* by, cr_zone_row_tangents* rows)
{
    const cr_zone_line* line = &zone->line.items[index];
    const double lam = line->row.lam;
    cr_row row;
    cr_row_slip slip;
    cr_row_bars d;
    double q[CR_ROW_DOFS];
    cr_zone_line_row(zone, line, &row);
    const int rubs = line->mu > 0.0;
    if (rubs) {
        cr_row_slip_make(&slip, &row, zone->stick);
    }
    for (int32_t i = 0; i < count; i++) {
        cr_zone_row_tangents* of =
            &rows[(size_t)i * (size_t)zone->task->candidate_count + (size_t)index];
        row_tangents(zone, line, &row, &by[i], of, &d);
        const double gap =
            cr_row_jvp(&row, rubs ? &slip : NULL, line->mu, lam, zone->task->flat, &d, q);
        of->lam = gap - of->thickness + give_by(line, of);
        for (int b = 0; b < row.block_count; b++) {
            if (row.size[b] > 0) {
                add_to_block(&zone->block.items[row.block[b]], 1.0, q + row.offset[b], &by[i]);
            }
        }
    }
}

// A frame that is held turns by w = N c and solves N^T F1 = 0. When R_p moves to R_p exp(d), N
// moves by -d x N, so w changes by e = -d x w besides what is solved for, and F1 is seen from
// another side: N^T (d x F1) more. Everything that hangs on w feels e.
static void gather_lock(const cr_zone* zone, int32_t b, int32_t count, const cr_zone_tangents* by,
                        cr_zone_row_tangents* rows)
{
    const cr_zone_block* block = &zone->block.items[b];
    const int32_t f = block->frame;
    const double* mass = zone->mass + block->first;
    const cr_vec3 w = cr_vec3_load(zone->z + block->first);
    cr_vec3 force = times(mass, w); // F1 as it would be without the lock, by w
    for (int32_t r = 0; r < zone->line.count; r++) {
        const cr_zone_line* line = &zone->line.items[r];
        cr_row row;
        cr_row_slip slip;
        double m[CR_ROW_DOFS][CR_ROW_DOFS];
        cr_zone_line_matrix(zone, line, &row, m);
        const int rubs = line->mu > 0.0;
        if (rubs) {
            cr_row_slip_make(&slip, &row, zone->stick);
        }
        for (int own = 0; own < row.block_count; own++) {
            if (row.size[own] == 0 || row.block[own] != b) {
                continue;
            }
            const int at = row.offset[own];
            const cr_vec3 push = cr_vec3_load(row.grad + at);
            const cr_vec3 rub =
                rubs ? cr_vec3_scale(line->mu, cr_vec3_load(slip.force + at)) : (cr_vec3){0, 0, 0};
            force = cr_vec3_add_scaled(force, -line->row.lam, cr_vec3_sub(push, rub));
            for (int32_t i = 0; i < count; i++) {
                const cr_vec3 e = cr_vec3_cross(w, by[i].rp[f]);
                double q[CR_ROW_DOFS];
                for (int k = 0; k < row.offset[row.block_count]; k++) {
                    q[k] = m[k][at] * e.x + m[k][at + 1] * e.y + m[k][at + 2] * e.z;
                }
                for (int c = 0; c < row.block_count; c++) {
                    if (row.size[c] > 0) {
                        add_to_block(&zone->block.items[row.block[c]], -1.0, q + row.offset[c],
                                     &by[i]);
                    }
                }
                rows[(size_t)i * (size_t)zone->task->candidate_count + (size_t)r].lam +=
                    cr_vec3_dot(push, e);
            }
        }
    }
    for (int32_t i = 0; i < count; i++) {
        const cr_vec3 d = by[i].rp[f], e = cr_vec3_cross(w, d);
        by[i].w[f] = cr_vec3_sub(by[i].w[f], times(mass, e));
        by[i].w[f] = cr_vec3_sub(by[i].w[f], cr_vec3_cross(d, force));
    }
}

void cr_zone_jvp_sheet(const cr_zone* zone, int32_t member, const double* x, const double* dx,
                       double factor, const cr_zone_tangents* by, double* y)
{
    const cr_zone_task* task = zone->task;
    const int32_t s = task->member_sheet[member], from = task->sheet_node[s];
    const cr_cloth_step step = cr_zone_sheet_step(task, member);
    const cr_cloth_tangents d = {.material = by->material ? &by->material[s] : NULL,
                                 .wind = by->wind,
                                 .x0 = &by->x0[from].x,
                                 .v0 = &by->v0[from].x,
                                 .corner = by->corner ? by->corner[s] : NULL};
    cr_cloth_apply(&task->sheet[s], &task->material[s], &step, x, dx, factor, y);
    cr_cloth_gradient_jvp(&task->sheet[s], &task->material[s], &step, x, factor, &d, y);
}

// F1 has h^2 dE(x), x = x0 + d; of a pinned node x = o0 + to (o1 - o0).
static void gather_sheet(const cr_zone* zone, int32_t member, int32_t at,
                         const cr_zone_tangents* by)
{
    const cr_zone_task* task = zone->task;
    const int32_t s = task->member_sheet[member];
    const int32_t from = task->sheet_node[s], count = task->sheet_node[s + 1] - from;
    double* dx = zone->sheet_scratch.items;
    double* felt = dx + 3 * count;
    memset(felt, 0, 3 * (size_t)count * sizeof(double));
    for (int32_t n = 0; n < count; n++) {
        cr_vec3 moved = by->x0[from + n];
        if (zone->node_block.items[at + n] < 0) {
            const int32_t v = task->bodies->node_vertex[from + n];
            moved = cr_vec3_add_scaled(by->obstacle0[v], task->to,
                                       cr_vec3_sub(by->obstacle1[v], by->obstacle0[v]));
        }
        cr_vec3_store(dx + 3 * n, moved);
    }
    cr_zone_jvp_sheet(zone, member, zone->sheet_x.items + 3 * at, dx, -task->h * task->h, by, felt);
    for (int32_t n = 0; n < count; n++) {
        if (zone->node_block.items[at + n] >= 0) {
            cr_vec3_add_to(&by->d[from + n], cr_vec3_load(felt + 3 * n));
        }
    }
}

static void gather_right(const cr_zone* zone, const cr_zone_tangents* by, double* right)
{
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        if (block->frame >= 0) {
            cr_vec3_store(right + block->first, by->w[block->frame]);
            cr_vec3_store(right + block->first + 3, by->u[block->frame]);
            if (block->lock) {
                cr_zone_line_lock(block, right + block->first);
            }
        } else {
            cr_vec3_store(right + block->first, by->d[block->node]);
        }
    }
}

static void add_felt(const cr_zone* zone, const cr_zone_row_tangents* felt,
                     cr_zone_row_tangents* rows)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        rows[i].compliance += felt[i].compliance;
        rows[i].room += felt[i].room;
    }
}

// What compliance and room have to do with the rows' places at held unknowns.
static carom_status gather_crowd(cr_zone* zone, int32_t count, const cr_zone_tangents* by,
                                 cr_zone_row_tangents* rows)
{
    if (!zone->crowded) {
        return CAROM_OK;
    }
    if (!cr_array_reserve(&zone->felt, zone->line.count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < count; i++) {
        cr_zone_row_tangents* of = rows + (size_t)i * (size_t)zone->task->candidate_count;
        cr_zone_crowd_jvp(zone, NULL, &by[i], of, zone->felt.items);
        add_felt(zone, zone->felt.items, of);
    }
    return CAROM_OK;
}

// Refined in dz and dlam together, as the reverse is in y and v. rows->lam comes in as dF2 and
// leaves as dlam.
static void solve(cr_zone* zone, cr_zone_row_tangents* rows, double* x)
{
    cr_zone_row_tangents* felt = zone->felt.items;
    const int32_t count = rows ? zone->line.count : 0; // nothing touches: there is no list
    double *right = zone->grad, *r = zone->scratch;
    memset(x, 0, sizeof(double) * (size_t)zone->n);
    for (int32_t i = 0; i < count; i++) {
        zone->line.items[i].dlam = 0.0;
    }
    int done = 0;
    const int most_sweeps = zone->crowded ? CR_ZONE_CROWDED_SWEEPS : 3;
    for (int sweep = 0; sweep < most_sweeps && !done; sweep++) {
        double most = 0.0; // change of dlam
        cr_zone_matrix_apply(&zone->matrix, x, r);
        for (int32_t i = 0; i < zone->n; i++) {
            r[i] = right[i] - r[i];
        }
        if (zone->crowded) {
            cr_zone_crowd_jvp(zone, x, NULL, NULL, felt);
        }
        for (int32_t i = 0; i < count; i++) {
            cr_zone_line* line = &zone->line.items[i];
            line->miss =
                -rows[i].lam - cr_zone_line_dot(zone, line, line->a, x) - line->eps * line->dlam;
            line->miss -= zone->crowded ? give_by(line, &felt[i]) : 0.0;
            cr_zone_line_push(zone, line, line->dlam + line->miss / line->eps, 1, r);
        }
        cr_zone_matrix_solve(&zone->matrix, r);
        for (int32_t i = 0; i < zone->n; i++) {
            x[i] += r[i];
        }
        for (int32_t i = 0; i < count; i++) {
            cr_zone_line* line = &zone->line.items[i];
            const double more = (line->miss - cr_zone_line_dot(zone, line, line->a, r)) / line->eps;
            line->dlam += more;
            most = cr_max(most, fabs(more));
        }
        done = cr_zone_adj_settled(zone, x, r, most);
    }
    for (int32_t i = 0; i < count; i++) {
        rows[i].lam = zone->line.items[i].dlam;
    }
    if (zone->crowded) {
        cr_zone_crowd_jvp(zone, x, NULL, NULL, felt);
        add_felt(zone, felt, rows);
    }
}

static void scatter(const cr_zone* zone, const double* x, const cr_zone_tangents* by)
{
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            by->w[f] = cr_vec3_load(x + block->first);
            by->u[f] = cr_vec3_load(x + block->first + 3);
            if (block->lock >> 3) {
                cr_vec3_add_to(&by->w[f],
                               cr_vec3_cross(cr_vec3_load(zone->z + block->first), by->rp[f]));
            }
        } else {
            by->d[block->node] = cr_vec3_load(x + block->first);
        }
    }
}

carom_status cr_zone_jvp(cr_zone* zone, const cr_zone_task* task, const double* lam, int32_t count,
                         const cr_zone_tangents* by, cr_zone_row_tangents* rows)
{
    cr_zone_task own = *task;
    own.gradient = CR_ZONE_SPARSE;
    carom_status status = cr_zone_adj_recall(zone, &own, lam);
    if (status == CAROM_OK) {
        status = cr_zone_adj_factor(zone, 0); // there may be many directions
    }
    if (status != CAROM_OK) {
        return status;
    }
    cr_zone_matrix_reset(&zone->matrix);
    status = gather_crowd(zone, count, by, rows);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < count; i++) {
        gather_inertia(zone, &by[i]);
    }
    for (int32_t r = 0; r < zone->line.count; r++) {
        gather_row(zone, r, count, by, rows);
    }
    for (int32_t b = 0; b < zone->block_count; b++) {
        if (zone->block.items[b].lock >> 3) {
            gather_lock(zone, b, count, by, rows);
        }
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t at = 0;
        for (int32_t m = 0; m < task->member_sheet_count; m++) {
            const int32_t s = task->member_sheet[m];
            gather_sheet(zone, m, at, &by[i]);
            at += task->sheet_node[s + 1] - task->sheet_node[s];
        }
        gather_right(zone, &by[i], zone->grad);
        // where there is no list there is no place in it
        solve(zone, rows ? rows + (size_t)i * (size_t)task->candidate_count : NULL, zone->d);
        scatter(zone, zone->d, &by[i]);
    }
    zone->task = task; // `own` ends here
    return CAROM_OK;
}
