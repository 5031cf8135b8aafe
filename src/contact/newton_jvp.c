// In the letters of newton_adj.c: J dz = -dF at held z. The right side gathers where dz will be, in
// w, u and d.
#include "contact/newton_adj.h"
#include "contact/newton_adj_inside.h"
#include "contact/newton_fade.h"
#include "contact/newton_rub.h"
#include <string.h>

// F has M (z - zt).
static void gather_inertia(const cr_newton* newton, const cr_newton_tangents* by)
{
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        const double *z = newton->z + block->first, *zt = newton->target + block->first;
        const double* m = newton->mass + block->first;
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            const cr_vec3 off = cr_vec3_sub(cr_vec3_load(z + 3), cr_vec3_load(zt + 3));
            const cr_vec3 inertia = cr_vec3_load(by->inertia + 3 * f);
            by->w[f] = cr_vec3_neg(cr_vec3_times(inertia, cr_vec3_load(z)));
            by->u[f] = cr_vec3_add_scaled(cr_vec3_scale(m[3], by->ut[f]), -by->mass[f], off);
        } else {
            const int32_t n = block->node;
            const cr_vec3 off = cr_vec3_sub(cr_vec3_load(z), cr_vec3_load(zt));
            by->d[n] = cr_vec3_add_scaled(cr_vec3_scale(m[0], by->dt[n]), -by->node_mass[n], off);
        }
    }
}

// What the changes mean for one row.
static void row_tangents(const cr_newton* newton, const cr_newton_row* row,
                         const cr_newton_tangents* by, const cr_newton_row_bars* of,
                         cr_row_bars* out)
{
    const cr_newton_task* task = newton->task;
    const cr_row* at = &row->at;
    memset(out, 0, sizeof *out);
    out->mu = of->friction;
    out->radius[0] = of->lever[0];
    out->radius[1] = of->lever[1];
    for (int b = 0; b < at->block_count; b++) {
        if (at->size[b] == 0) {
            continue;
        }
        const cr_newton_block* block = &newton->block.items[at->block[b]];
        if (block->frame >= 0) {
            out->start[b] = by->t0[block->frame];
            out->r_p[b] = by->rp[block->frame];
            out->r_0[b] = by->r0[block->frame];
            out->roll[b] = by->turn[block->frame];
        } else {
            out->start[b] = by->x0[block->node];
        }
    }
    const cr_newton_pair* pair = &newton->pair.items[row->pair];
    for (int k = 0; k < 4; k++) {
        const int32_t b = at->point_block[k];
        if (pair->point[k] < 0 || b < 0) {
            continue;
        }
        const cr_newton_point* point = &newton->point.items[pair->point[k]];
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

static void add_to_block(const cr_newton_block* block, double s, const double* q,
                         const cr_newton_tangents* by)
{
    if (block->frame >= 0) {
        cr_vec3* w = &by->w[block->frame];
        cr_vec3* u = &by->u[block->frame];
        *w = cr_vec3_add_scaled(*w, s, cr_vec3_load(q));
        *u = cr_vec3_add_scaled(*u, s, cr_vec3_load(q + 3));
    } else {
        cr_vec3* d = &by->d[block->node];
        *d = cr_vec3_add_scaled(*d, s, cr_vec3_load(q));
    }
}

static void add_to_blocks(const cr_newton* newton, const cr_row* row, double s, const double* q,
                          const cr_newton_tangents* by)
{
    for (int b = 0; b < row->block_count; b++) {
        if (row->size[b] > 0) {
            add_to_block(&newton->block.items[row->block[b]], s, q + row->offset[b], by);
        }
    }
}

// What fades: dm of the terms' weights, and e Q.
static void fading_change(const cr_newton* newton, const cr_newton_row* row, const cr_row_bars* d,
                          const cr_newton_row_bars* of, double q[CR_ROW_DOFS])
{
    const cr_candidate* c = &newton->task->candidate[row->pair];
    const int32_t n = row->at.offset[row->at.block_count];
    double fade[CR_ROW_DOFS] = {0}, pull[CR_ROW_DOFS], unused[CR_ROW_DOFS], de = 0.0;
    const double dm = cr_newton_fade_jvp(row, d, fade);
    cr_newton_fade_term term[CR_NEWTON_FADE_TERMS];
    const int32_t count = cr_newton_fade_terms(newton, row, term);
    for (int32_t i = 0; i < count; i++) {
        const cr_newton_fade_term* t = &term[i];
        const double gap = cr_row_jvp(&t->at, NULL, 0.0, 0.0, 0, d, unused) - of->thickness;
        de += t->q * (-t->load * gap + (t->energy + t->load * t->gap) / c->width * of->width +
                      t->energy / c->stiffness * of->stiffness);
        for (int32_t k = 0; k < n; k++) {
            q[k] += dm * t->q * t->load * t->at.grad[k];
        }
    }
    const double rub = row->mu > 0.0 ? row->mu * cr_newton_fade_rub(row, term, count) : 0.0;
    for (int32_t k = 0; k < n && rub != 0.0; k++) {
        q[k] -= dm * rub * row->slip.force[k];
    }
    cr_newton_system_fading(row, pull);
    for (int32_t k = 0; k < n; k++) {
        q[k] -= fade[k] + de * pull[k];
    }
}

// The change of -F of one row for one direction.
static void row_change(const cr_newton* newton, const cr_newton_row* row, const cr_row_bars* d,
                       const cr_newton_row_bars* of, double q[CR_ROW_DOFS])
{
    const cr_candidate* c = &newton->task->candidate[row->pair];
    const cr_row* at = &row->at;
    const int32_t n = at->offset[at->block_count];
    const double gap = cr_row_jvp(at, NULL, 0.0, row->lam, newton->flat, d, q) - of->thickness;
    const double dlam = -row->stiff * gap + row->stiff * row->gap / c->width * of->width +
                        row->lam / c->stiffness * of->stiffness;
    for (int i = 0; i < n; i++) {
        q[i] += dlam * at->grad[i];
    }
    if (row->mu > 0.0) {
        double rub[CR_ROW_DOFS];
        cr_row_jvp(at, &row->slip, row->mu, row->press, 1, d, rub);
        const double dload = cr_newton_rub_jvp(newton, row, d, of);
        for (int i = 0; i < n; i++) {
            q[i] += rub[i] - row->mu * dload * row->slip.force[i];
        }
    }
    if (row->fades) {
        fading_change(newton, row, d, of, q);
    }
}

static void gather_row(const cr_newton* newton, int32_t index, int32_t count,
                       const cr_newton_tangents* by, const cr_newton_row_bars* rows)
{
    const cr_newton_row* row = &newton->row.items[index];
    for (int32_t i = 0; i < count; i++) {
        const cr_newton_row_bars* of =
            &rows[(size_t)i * (size_t)newton->task->candidate_count + (size_t)index];
        cr_row_bars d;
        double q[CR_ROW_DOFS];
        row_tangents(newton, row, &by[i], of, &d);
        row_change(newton, row, &d, of, q);
        add_to_blocks(newton, &row->at, 1.0, q, &by[i]);
    }
}

// A frame that is held turns by w = N c and solves N^T F = 0. When R_p moves to R_p exp(d), N moves
// by -d x N, so w changes by e = -d x w besides what is solved for, and F is seen from another
// side: N^T (d x F) more. Everything that hangs on w feels e.
static void gather_lock(const cr_newton* newton, int32_t b, int32_t count,
                        const cr_newton_tangents* by)
{
    const cr_newton_block* block = &newton->block.items[b];
    const int32_t f = block->frame;
    const cr_vec3 mass = cr_vec3_load(newton->mass + block->first);
    const cr_vec3 w = cr_vec3_load(newton->z + block->first);
    cr_vec3 force = cr_vec3_times(mass, w); // F as it would be without the lock, by w
    for (int32_t r = 0; r < newton->row.count; r++) {
        const cr_newton_row* row = &newton->row.items[r];
        const cr_row* at = &row->at;
        double m[CR_ROW_DOFS][CR_ROW_DOFS], own[CR_ROW_DOFS], q[CR_ROW_DOFS];
        cr_newton_system_row(newton, row, m);
        cr_newton_system_force(row, own);
        for (int k = 0; k < at->block_count; k++) {
            if (at->size[k] == 0 || at->block[k] != b) {
                continue;
            }
            const int o = at->offset[k];
            force = cr_vec3_add(force, cr_vec3_load(own + o));
            for (int32_t i = 0; i < count; i++) {
                const cr_vec3 e = cr_vec3_cross(w, by[i].rp[f]);
                for (int j = 0; j < at->offset[at->block_count]; j++) {
                    q[j] = m[j][o] * e.x + m[j][o + 1] * e.y + m[j][o + 2] * e.z;
                }
                add_to_blocks(newton, at, -1.0, q, &by[i]);
            }
        }
    }
    for (int32_t i = 0; i < count; i++) {
        const cr_vec3 d = by[i].rp[f], e = cr_vec3_cross(w, d);
        by[i].w[f] = cr_vec3_sub(by[i].w[f], cr_vec3_times(mass, e));
        by[i].w[f] = cr_vec3_sub(by[i].w[f], cr_vec3_cross(d, force));
    }
}

// F has h^2 dE(x), x = x0 + d; of a pinned node x = o0 + to (o1 - o0).
static void gather_sheet(const cr_newton* newton, int32_t member, int32_t at,
                         const cr_newton_tangents* by)
{
    const cr_newton_task* task = newton->task;
    const int32_t s = task->member_sheet[member];
    const int32_t from = task->sheet_node[s], count = task->sheet_node[s + 1] - from;
    const double factor = -task->h * task->h;
    const double* x = newton->sheet_x.items + 3 * (ptrdiff_t)at;
    double* dx = newton->sheet_scratch.items;
    double* felt = dx + 3 * (ptrdiff_t)count;
    memset(felt, 0, 3 * (size_t)count * sizeof(double));
    for (int32_t n = 0; n < count; n++) {
        cr_vec3 moved = by->x0[from + n];
        if (newton->node_block.items[at + n] < 0) {
            const int32_t v = task->bodies->node_vertex[from + n];
            moved = cr_vec3_add_scaled(by->obstacle0[v], task->to,
                                       cr_vec3_sub(by->obstacle1[v], by->obstacle0[v]));
        }
        cr_vec3_store(dx + 3 * (ptrdiff_t)n, moved);
    }
    const cr_cloth_step step = cr_newton_sheet_step(task, member);
    const cr_cloth_tangents d = {.material = by->material ? &by->material[s] : NULL,
                                 .wind = by->wind,
                                 .x0 = &by->x0[from].x,
                                 .v0 = &by->v0[from].x,
                                 .corner = by->corner ? by->corner[s] : NULL};
    cr_cloth_apply(&task->sheet[s], &task->material[s], &step, x, dx, factor, felt);
    cr_cloth_gradient_jvp(&task->sheet[s], &task->material[s], &step, x, factor, &d, felt);
    for (int32_t n = 0; n < count; n++) {
        if (newton->node_block.items[at + n] >= 0) {
            cr_vec3_add_to(&by->d[from + n], cr_vec3_load(felt + 3 * (ptrdiff_t)n));
        }
    }
}

static void gather_right(const cr_newton* newton, const cr_newton_tangents* by, double* right)
{
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        if (block->frame >= 0) {
            cr_vec3_store(right + block->first, by->w[block->frame]);
            cr_vec3_store(right + block->first + 3, by->u[block->frame]);
            if (block->lock) {
                cr_newton_setup_lock(block, right + block->first);
            }
        } else {
            cr_vec3_store(right + block->first, by->d[block->node]);
        }
    }
}

static void solve(cr_newton* newton, double* x)
{
    double *right = newton->grad, *r = newton->d;
    memcpy(right, x, sizeof(double) * (size_t)newton->n);
    cr_zone_matrix_solve(&newton->matrix, x);
    cr_zone_matrix_apply(&newton->matrix, x, r);
    for (int32_t i = 0; i < newton->n; i++) {
        r[i] = right[i] - r[i];
    }
    cr_zone_matrix_solve(&newton->matrix, r);
    for (int32_t i = 0; i < newton->n; i++) {
        x[i] += r[i];
    }
}

static void scatter(const cr_newton* newton, double* x, const cr_newton_tangents* by)
{
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        if (block->frame < 0) {
            by->d[block->node] = cr_vec3_load(x + block->first);
            continue;
        }
        const int32_t f = block->frame;
        if (block->lock) {
            cr_newton_setup_lock(block, x + block->first);
        }
        by->w[f] = cr_vec3_load(x + block->first);
        by->u[f] = cr_vec3_load(x + block->first + 3);
        if (block->lock >> 3) {
            const cr_vec3 w = cr_vec3_load(newton->z + block->first);
            cr_vec3_add_to(&by->w[f], cr_vec3_cross(w, by->rp[f]));
        }
    }
}

carom_status cr_newton_jvp(cr_newton* newton, const cr_newton_task* task, int32_t flat,
                           int32_t count, const cr_newton_tangents* by,
                           const cr_newton_row_bars* rows)
{
    carom_status status = cr_newton_adj_recall(newton, task, flat);
    if (status == CAROM_OK) {
        status = cr_newton_adj_factor(newton, 0);
    }
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < count; i++) {
        gather_inertia(newton, &by[i]);
    }
    for (int32_t r = 0; r < newton->row.count; r++) {
        gather_row(newton, r, count, by, rows);
    }
    for (int32_t b = 0; b < newton->block_count; b++) {
        if (newton->block.items[b].lock >> 3) {
            gather_lock(newton, b, count, by);
        }
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t at = 0;
        for (int32_t m = 0; m < task->member_sheet_count; m++) {
            const int32_t s = task->member_sheet[m];
            gather_sheet(newton, m, at, &by[i]);
            at += task->sheet_node[s + 1] - task->sheet_node[s];
        }
        double* x = newton->z_before;
        gather_right(newton, &by[i], x);
        solve(newton, x);
        scatter(newton, x, &by[i]);
    }
    return CAROM_OK;
}
