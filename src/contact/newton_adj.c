// The end of a step solves F(z) = 0 (newton_system.c), so with J^T y = z_bar every number theta in
// F has  theta_bar = -y . dF/dtheta. A row has F = -lam (a - mu f), lam = weight L(s) with
// s = 1 + (D - th)/width, and cr_row_adj gives lam y.da - mu lam y.df - v dD. What is left is
// -y . (a - mu f) dlam: with g = y . (a - mu f)
//     dlam = -stiff (dD - dth) + stiff (D - th)/width dwidth + lam/k dk
// so that v = g stiff. Nearly parallel edges have e Q more, and their terms' weights change with m
// (newton_fade.h): with g_s of a term
//     dm sum_s q_s L_s g_s - e y.dQ - Q.y sum_s q_s de_s
//     de_s = -L_s (dD_s - dth) + (e_s + L_s (D_s - th))/width dwidth + e_s/k dk.
#include "contact/newton_adj.h"
#include "contact/newton_adj_inside.h"
#include "contact/newton_fade.h"
#include "contact/newton_rub.h"
#include <string.h>

static int rubs(const cr_newton* newton)
{
    for (int32_t i = 0; i < newton->row.count; i++) {
        if (newton->row.items[i].mu > 0.0) {
            return 1;
        }
    }
    return 0;
}

carom_status cr_newton_adj_recall(cr_newton* newton, const cr_newton_task* task, int32_t flat)
{
    newton->task = task;
    newton->own_stress = 0;
    newton->flat = flat;
    carom_status status = cr_newton_setup(newton);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        if (block->frame >= 0) {
            cr_vec3_store(newton->z + block->first, task->motion->w[block->frame]);
            cr_vec3_store(newton->z + block->first + 3, task->motion->u[block->frame]);
        } else {
            cr_vec3_store(newton->z + block->first, task->motion->d[block->node]);
        }
    }
    newton->along = 1.0;
    cr_newton_setup_place(newton);
    return cr_newton_rows_recall(newton);
}

// Without friction J is symmetric; at a saddle, edge upon edge, it is not positive, and the
// equations hold there all the same.
carom_status cr_newton_adj_factor(cr_newton* newton, int sweeps)
{
    const int symmetric = !rubs(newton);
    carom_status status = cr_newton_system_assemble(newton, 1, symmetric);
    if (status == CAROM_OK) {
        status =
            sweeps ? cr_newton_sweep_factor(newton, 0, 1) : cr_zone_matrix_factor(&newton->matrix);
    }
    if (status == CAROM_ERR_NOT_POSITIVE && symmetric) {
        status = cr_newton_system_assemble(newton, 1, 0);
        status = status == CAROM_OK ? cr_zone_matrix_factor(&newton->matrix) : status;
    }
    return status;
}

// By sweeps so many digits, and of what they leave as many: nodes are light, and a last digit of
// theirs is not one of a body that they touch.
static const double digits = 1e-11;

static carom_status solve_once(cr_newton* newton, double* y)
{
    if (newton->task->gradient != CR_NEWTON_SPARSE) {
        return cr_newton_dense_solve(newton, y);
    }
    return cr_newton_sweep_solve(newton, y, 0.0, digits);
}

static void apply(const cr_newton* newton, const double* y, double* out)
{
    if (newton->task->gradient != CR_NEWTON_SPARSE) {
        cr_newton_dense_apply(newton, y, out);
    } else {
        cr_zone_matrix_apply_transposed(&newton->matrix, y, out);
    }
}

// A solve and one refinement: the matrix is as ill-conditioned as its stiffest contact.
static carom_status solve(cr_newton* newton, double* y)
{
    double *bar = newton->grad, *r = newton->d;
    memcpy(bar, y, sizeof(double) * (size_t)newton->n);
    carom_status status = solve_once(newton, y);
    if (status != CAROM_OK) {
        return status;
    }
    apply(newton, y, r);
    for (int32_t i = 0; i < newton->n; i++) {
        r[i] = bar[i] - r[i];
    }
    status = solve_once(newton, r);
    for (int32_t i = 0; i < newton->n; i++) {
        y[i] += r[i];
    }
    return status;
}

static void gather_end(const cr_newton* newton, const cr_newton_cotangents* bars, double* y)
{
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        if (block->frame >= 0) {
            cr_vec3_store(y + block->first, bars->w[block->frame]);
            cr_vec3_store(y + block->first + 3, bars->u[block->frame]);
            if (block->lock) {
                cr_newton_setup_lock(block, y + block->first);
            }
        } else {
            cr_vec3_store(y + block->first, bars->d[block->node]);
        }
    }
}

// F has M (z - zt): the target gets M y, the masses -y (z - zt).
static void spread_inertia(const cr_newton* newton, const double* y, cr_newton_cotangents* bars)
{
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        const double* at = y + block->first;
        const double* z = newton->z + block->first;
        const double* zt = newton->target + block->first;
        const double* m = newton->mass + block->first;
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            for (int i = 0; i < 3; i++) {
                bars->inertia[3 * f + i] -= at[i] * z[i];
                bars->mass[f] -= at[3 + i] * (z[3 + i] - zt[3 + i]);
            }
            cr_vec3_add_to(&bars->ut[f], cr_vec3_scale(m[3], cr_vec3_load(at + 3)));
        } else {
            for (int i = 0; i < 3; i++) {
                bars->node_mass[block->node] -= at[i] * (z[i] - zt[i]);
            }
            cr_vec3_add_to(&bars->dt[block->node], cr_vec3_scale(m[0], cr_vec3_load(at)));
        }
    }
}

// A point whose motion is given starts at o0 + from (o1 - o0) and moves by (to - from)(o1 - o0).
static void spread_given(const cr_newton_task* task, int32_t vertex, cr_vec3 start_bar,
                         cr_vec3 moved_bar, cr_newton_cotangents* bars)
{
    const double part = task->to - task->from;
    cr_vec3_add_to(
        &bars->obstacle0[vertex],
        cr_vec3_add_scaled(cr_vec3_scale(1.0 - task->from, start_bar), -part, moved_bar));
    cr_vec3_add_to(&bars->obstacle1[vertex],
                   cr_vec3_add_scaled(cr_vec3_scale(task->from, start_bar), part, moved_bar));
}

static void spread_points(const cr_newton* newton, const cr_newton_row* row,
                          const cr_row_bars* local, cr_newton_cotangents* bars)
{
    const cr_row* at = &row->at;
    for (int b = 0; b < at->block_count; b++) {
        if (at->size[b] == 0) {
            continue;
        }
        const cr_newton_block* block = &newton->block.items[at->block[b]];
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            cr_vec3_add_to(&bars->t0[f], local->start[b]);
            cr_vec3_add_to(&bars->rp[f], local->r_p[b]);
            cr_vec3_add_to(&bars->r0[f], local->r_0[b]);
            cr_vec3_add_to(&bars->turn[f], local->roll[b]);
        } else {
            cr_vec3_add_to(&bars->x0[block->node], local->start[b]);
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
            cr_vec3_add_to(&bars->p[point->vertex], local->p[k]);
        } else if (point->block < 0) {
            spread_given(newton->task, point->vertex, local->start[b], local->u[b], bars);
        }
    }
}

static double dot(const cr_row* at, const double v[CR_ROW_DOFS], const double y[CR_ROW_DOFS])
{
    double sum = 0.0;
    for (int32_t i = 0; i < at->offset[at->block_count]; i++) {
        sum += y[i] * v[i];
    }
    return sum;
}

static void spread_fading(const cr_newton* newton, const cr_newton_row* row,
                          const double y[CR_ROW_DOFS], cr_row_bars* local, cr_newton_row_bars* out)
{
    const cr_candidate* c = &newton->task->candidate[row->pair];
    const cr_newton_fade fade = cr_newton_fade_make(&row->at, y);
    cr_newton_fade_term term[CR_NEWTON_FADE_TERMS];
    const int32_t count = cr_newton_fade_terms(newton, row, term);
    double load = 0.0;
    if (row->mu > 0.0) {
        load = -row->mu * cr_newton_fade_rub(row, term, count) * dot(&row->at, row->slip.force, y);
    }
    for (int32_t i = 0; i < count; i++) {
        const cr_newton_fade_term* t = &term[i];
        load += t->q * t->load * dot(&t->at, t->at.grad, y);
        cr_row_adj(&t->at, NULL, 0.0, 0.0, y, -t->q * t->load * fade.pull, local);
        out->width -= fade.pull * t->q * (t->energy + t->load * t->gap) / c->width;
        out->stiffness -= fade.pull * t->q * t->energy / c->stiffness;
    }
    cr_newton_fade_adj(row, &fade, load, local);
}

// L mu f, whose load hangs on the row's distances.
static void spread_friction(const cr_newton* newton, const cr_newton_row* row,
                            const double y[CR_ROW_DOFS], cr_row_bars* local,
                            cr_newton_row_bars* out)
{
    cr_row_adj(&row->at, &row->slip, row->mu, row->press, y, 0.0, local);
    cr_row_adj(&row->at, NULL, 0.0, -row->press, y, 0.0, local); // but of y.a
    cr_newton_rub_adj(newton, row, -row->mu * dot(&row->at, row->slip.force, y), y, local, out);
}

static void spread_row(const cr_newton* newton, const cr_newton_row* row, const double* y,
                       cr_newton_cotangents* bars, cr_newton_row_bars* out)
{
    const cr_candidate* c = &newton->task->candidate[row->pair];
    cr_row_bars local;
    double own[CR_ROW_DOFS] = {0};
    memset(&local, 0, sizeof local);
    for (int b = 0; b < row->at.block_count; b++) {
        for (int i = 0; i < row->at.size[b]; i++) {
            own[row->at.offset[b] + i] = y[newton->block.items[row->at.block[b]].first + i];
        }
    }
    const double g = dot(&row->at, row->at.grad, own);
    *out = (cr_newton_row_bars){.width = g * row->stiff * row->gap / c->width,
                                .stiffness = g * row->lam / c->stiffness};
    if (row->fades) {
        spread_fading(newton, row, own, &local, out);
    }
    // without lam y.da where the curvature is left out
    cr_row_adj(&row->at, NULL, 0.0, newton->flat ? 0.0 : row->lam, own, g * row->stiff, &local);
    if (row->mu > 0.0) {
        spread_friction(newton, row, own, &local, out);
    }
    out->thickness = local.th;
    out->friction = local.mu;
    out->lever[0] = local.radius[0];
    out->lever[1] = local.radius[1];
    spread_points(newton, row, &local, bars);
}

// What a locked frame's equations would be without the lock, by its w.
typedef struct unheld {
    cr_vec3 force; // F
    cr_vec3 bar;   // w_bar - (dF/dw)^T y
} unheld;

static void unheld_row(const cr_newton* newton, const cr_newton_row* row, int32_t block,
                       const double* y, unheld* out)
{
    double m[CR_ROW_DOFS][CR_ROW_DOFS], f[CR_ROW_DOFS];
    const cr_row* at = &row->at;
    cr_newton_system_row(newton, row, m);
    cr_newton_system_force(row, f);
    for (int b = 0; b < at->block_count; b++) {
        if (at->size[b] == 0 || at->block[b] != block) {
            continue;
        }
        for (int i = at->offset[b]; i < at->offset[b] + 3; i++) {
            double bar = 0.0;
            for (int c = 0; c < at->block_count; c++) {
                for (int k = 0; k < at->size[c]; k++) {
                    bar += m[at->offset[c] + k][i] * y[newton->block.items[at->block[c]].first + k];
                }
            }
            (&out->bar.x)[i - at->offset[b]] -= bar;
            (&out->force.x)[i - at->offset[b]] += f[i];
        }
    }
}

// A frame that is held in some axes turns by w = N c, N the free axes as R_p sees them, and solves
// N^T F = 0. When R_p moves to R_p exp(d), N moves by -d x N: w and y with it. With F and B, force
// and bar above, both along the axes held:
//     rp_bar . d = B.(-d x w) - F.(-d x y)
static void spread_lock(const cr_newton* newton, int32_t b, const double* y,
                        cr_newton_cotangents* bars)
{
    const cr_newton_block* block = &newton->block.items[b];
    const cr_vec3 m = cr_vec3_load(newton->mass + block->first);
    const cr_vec3 w = cr_vec3_load(newton->z + block->first);
    const cr_vec3 y_w = cr_vec3_load(y + block->first);
    unheld at = {.force = cr_vec3_times(m, w),
                 .bar = cr_vec3_sub(bars->w[block->frame], cr_vec3_times(m, y_w))};
    for (int32_t i = 0; i < newton->row.count; i++) {
        unheld_row(newton, &newton->row.items[i], b, y, &at);
    }
    cr_vec3* rp = &bars->rp[block->frame];
    *rp = cr_vec3_add(*rp, cr_vec3_cross(at.bar, w));
    *rp = cr_vec3_add(*rp, cr_vec3_cross(y_w, at.force));
}

// F has h^2 dE(x), x = x0 + d, with E reading the start of the step too.
static void spread_sheet(cr_newton* newton, int32_t member, int32_t first_node, const double* y,
                         cr_newton_cotangents* bars)
{
    const cr_newton_task* task = newton->task;
    const int32_t s = task->member_sheet[member];
    const int32_t from = task->sheet_node[s], count = task->sheet_node[s + 1] - from;
    const cr_cloth_step step = cr_newton_sheet_step(task, member);
    const double factor = -task->h * task->h;
    const double* x = newton->sheet_x.items + 3 * (ptrdiff_t)first_node;
    double* at_nodes = newton->sheet_scratch.items; // y, then what the nodes feel
    double* felt = at_nodes + 3 * (ptrdiff_t)count;
    for (int32_t n = 0; n < count; n++) {
        const int32_t block = newton->node_block.items[first_node + n];
        const cr_vec3 at =
            block >= 0 ? cr_vec3_load(y + newton->block.items[block].first) : (cr_vec3){0, 0, 0};
        cr_vec3_store(at_nodes + 3 * (ptrdiff_t)n, at);
        cr_vec3_store(felt + 3 * (ptrdiff_t)n, (cr_vec3){0, 0, 0});
    }
    cr_cloth_apply(&task->sheet[s], &task->material[s], &step, x, at_nodes, factor, felt);
    for (int32_t n = 0; n < count; n++) {
        const cr_vec3 at = cr_vec3_load(felt + 3 * (ptrdiff_t)n);
        if (newton->node_block.items[first_node + n] >= 0) {
            cr_vec3_add_to(&bars->x0[from + n], at);
        } else { // its end is o0 + to (o1 - o0), whatever its start
            const int32_t v = task->bodies->node_vertex[from + n];
            cr_vec3_add_to(&bars->obstacle0[v], cr_vec3_scale(1.0 - task->to, at));
            cr_vec3_add_to(&bars->obstacle1[v], cr_vec3_scale(task->to, at));
        }
    }
    const cr_cloth_bars cloth = {.material = &bars->material[s],
                                 .wind = bars->wind,
                                 .x0 = &bars->x0[from].x,
                                 .v0 = &bars->v0[from].x,
                                 .corner = bars->corner ? bars->corner[s] : NULL};
    cr_cloth_gradient_adj(&task->sheet[s], &task->material[s], &step, x, at_nodes, factor, &cloth);
}

carom_status cr_newton_adj_ready(cr_newton* newton, int32_t gradient)
{
    return gradient == CR_NEWTON_SPARSE ? CAROM_OK : cr_newton_dense_open(newton);
}

carom_status cr_newton_adj(cr_newton* newton, const cr_newton_task* task, int32_t flat,
                           cr_newton_cotangents* bars, cr_newton_row_bars* rows)
{
    carom_status status = cr_newton_adj_recall(newton, task, flat);
    if (status == CAROM_OK) {
        status = task->gradient == CR_NEWTON_SPARSE ? cr_newton_adj_factor(newton, 1)
                                                    : cr_newton_dense_factor(newton);
    }
    double* y = newton->z_before;
    if (status == CAROM_OK) {
        gather_end(newton, bars, y);
        status = solve(newton, y);
    }
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        if (block->lock) {
            cr_newton_setup_lock(block, y + block->first);
        }
        if (block->lock >> 3) {
            spread_lock(newton, b, y, bars);
        }
    }
    spread_inertia(newton, y, bars);
    for (int32_t i = 0; i < newton->row.count; i++) {
        spread_row(newton, &newton->row.items[i], y, bars, &rows[i]);
    }
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        spread_sheet(newton, i, at, y, bars);
        at += task->sheet_node[s + 1] - task->sheet_node[s];
    }
    return CAROM_OK;
}
