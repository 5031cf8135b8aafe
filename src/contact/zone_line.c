#include "contact/zone_inside.h"
#include <stdlib.h>
#include <string.h>

static int compare_lines(const void* a, const void* b)
{
    const cr_zone_row *ra = &((const cr_zone_line*)a)->row, *rb = &((const cr_zone_line*)b)->row;
    const int order = cr_candidate_compare_keys(&ra->key, &rb->key);
    return order ? order : (ra->candidate < rb->candidate ? -1 : ra->candidate > rb->candidate);
}

// Where a key stands among rows with ascending keys, `stride` bytes apart; -1: nowhere.
static int32_t find_key(const cr_contact_key* key, int32_t count, const void* first, size_t stride)
{
    int32_t low = 0, high = count - 1;
    while (low <= high) {
        const int32_t mid = low + (high - low) / 2;
        const void* at = (const char*)first + (size_t)mid * stride;
        const int order = cr_candidate_compare_keys(at, key);
        if (order == 0) {
            return mid;
        }
        if (order < 0) {
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return -1;
}

// The multiplier that a key had: in the last iterate, or for the first one in the last step.
static double old_lam(const cr_zone* zone, const cr_contact_key* key)
{
    const cr_zone_task* task = zone->task;
    if (zone->report.iterations == 0) {
        const int32_t i =
            find_key(key, task->warm_count, task->warm, sizeof(cr_contact_memory));
        return i >= 0 ? task->warm[i].force * task->h * task->h : 0.0;
    }
    const cr_zone_line* old = zone->old_line.items;
    if (zone->old_line.count == 0) {
        return 0.0;
    }
    const int32_t i = find_key(key, zone->old_line.count, &old[0].row.key, sizeof(cr_zone_line));
    return i >= 0 ? old[i].row.lam : 0.0;
}

static void make_row(const cr_zone* zone, const cr_zone_line* line, cr_row* row)
{
    const cr_candidate* c = &zone->task->candidate[line->row.candidate];
    cr_row_point points[4] = {{0}};
    for (int k = 0; k < 4; k++) {
        points[k].block = -1;
        if (line->point[k] >= 0) {
            const cr_zone_point* point = &zone->point.items[line->point[k]];
            points[k] = (cr_row_point){
                .body = point->rigid ? &zone->block.items[point->block].body : NULL,
                .block = point->block,
                .p = point->p,
                .start = point->x0,
                .u = point->moved};
        }
    }
    cr_row_make(row, c->pair.kind, &line->row.at, points, c->lever);
}

// A locked frame does not feel what would move it along a locked direction: a := P a.
static void respect_lock(const cr_zone_block* block, double* a)
{
    if (block->lock >> 3) {
        cr_vec3_store(a, cr_mat3_apply(block->free_turn, cr_vec3_load(a)));
    }
    for (int axis = 0; axis < 3; axis++) {
        a[3 + axis] = block->lock >> axis & 1 ? 0.0 : a[3 + axis];
    }
}

// The line's derivatives by block; blocks without unknowns are left out.
static void derive(const cr_zone* zone, cr_zone_line* line)
{
    cr_row row;
    make_row(zone, line, &row);
    cr_row_slip slip;
    const int rubs = line->mu > 0.0;
    line->tau = (cr_vec3){0, 0, 0};
    if (rubs) {
        cr_row_slip_make(&slip, &row, zone->stick);
        line->tau = slip.tau;
    }
    line->block_count = line->offset[0] = 0;
    for (int b = 0; b < row.block_count; b++) {
        if (row.size[b] == 0) {
            continue;
        }
        const cr_zone_block* block = &zone->block.items[row.block[b]];
        const int at = line->offset[line->block_count];
        for (int i = 0; i < row.size[b]; i++) {
            line->a[at + i] = row.grad[row.offset[b] + i];
            line->f[at + i] = rubs ? line->mu * slip.force[row.offset[b] + i] : 0.0;
        }
        if (block->lock) {
            respect_lock(block, line->a + at);
            respect_lock(block, line->f + at);
        }
        line->block[line->block_count++] = row.block[b];
        line->offset[line->block_count] = at + row.size[b];
    }
}

// Classifies every candidate at the current points and keeps as rows those near enough to matter,
// those that carry a load and those that stopped a step. Candidates of equal key measure the same
// distance: one of them stands for all.
carom_status cr_zone_line_collect(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    const int32_t old_capacity = zone->old_line.capacity;
    cr_zone_line* const old_items = zone->old_line.items;
    zone->old_line.items = zone->line.items;
    zone->old_line.count = zone->line.count;
    zone->old_line.capacity = zone->line.capacity;
    zone->line.items = old_items;
    zone->line.capacity = old_capacity;
    zone->line.count = 0;
    for (int32_t i = 0; i < task->candidate_count; i++) {
        const cr_candidate* c = &task->candidate[i];
        cr_vec3 x[4] = {0};
        for (int k = 0; k < 4; k++) {
            const int32_t p = zone->corner.items[4 * i + k];
            if (p >= 0) {
                x[k] = zone->point.items[p].x;
            }
        }
        cr_closest* now = &zone->now.items[i];
        *now = cr_distance_closest(c->pair.kind, x);
        const double gap = now->distance - c->thickness;
        cr_zone_line line;
        line.row.key = cr_candidate_key(&c->pair, now->active);
        line.row.lam = old_lam(zone, &line.row.key);
        if (!(gap < c->thickness) && !(line.row.lam > 0.0) && !zone->limiting.items[i]) {
            continue;
        }
        line.row.candidate = i;
        line.row.at = *now;
        line.row.gap = gap;
        memcpy(line.point, zone->corner.items + 4 * i, sizeof line.point);
        line.eps = c->compliance;
        line.mu = c->friction;
        line.active = 0;
        if (!cr_array_push(&zone->line, line)) {
            return CAROM_ERR_MEMORY;
        }
    }
    qsort(zone->line.items, (size_t)zone->line.count, sizeof(cr_zone_line), compare_lines);
    int32_t kept = 0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        if (kept > 0 && cr_candidate_compare_keys(&zone->line.items[kept - 1].row.key,
                                                  &line->row.key) == 0) {
            continue;
        }
        zone->line.items[kept++] = *line;
    }
    zone->line.count = kept;
    for (int32_t i = 0; i < kept; i++) {
        derive(zone, &zone->line.items[i]);
    }
    return CAROM_OK;
}

double cr_zone_line_dot(const cr_zone* zone, const cr_zone_line* line, const double* a,
                        const double* z)
{
    double sum = 0.0;
    for (int b = 0; b < line->block_count; b++) {
        const double* at = z + zone->block.items[line->block[b]].first;
        for (int i = line->offset[b]; i < line->offset[b + 1]; i++) {
            sum += a[i] * at[i - line->offset[b]];
        }
    }
    return sum;
}

// m := P m P over the unknowns of a locked frame.
static void respect_lock_twice(const cr_zone_block* block, int at, int n,
                               double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    for (int i = 0; i < n; i++) {
        respect_lock(block, m[i] + at);
    }
    for (int j = 0; j < n; j++) {
        double column[6];
        for (int i = 0; i < 6; i++) {
            column[i] = m[at + i][j];
        }
        respect_lock(block, column);
        for (int i = 0; i < 6; i++) {
            m[at + i][j] = column[i];
        }
    }
}

static void add_curve(cr_zone* zone, const cr_zone_line* line)
{
    cr_row row;
    cr_row_curve curve;
    double m[CR_ROW_DOFS][CR_ROW_DOFS] = {{0}};
    make_row(zone, line, &row);
    cr_row_curve_make(&curve, &row);
    cr_row_add_hessian(&row, &curve, -line->row.lam, m);
    if (line->mu > 0.0) {
        cr_row_slip slip;
        cr_row_slip_make(&slip, &row, zone->stick);
        cr_row_add_friction(&row, &curve, &slip, line->mu * line->row.lam, m);
    }
    for (int b = 0; b < row.block_count; b++) {
        if (row.size[b] && zone->block.items[row.block[b]].lock) {
            respect_lock_twice(&zone->block.items[row.block[b]], row.offset[b],
                               row.offset[row.block_count], m);
        }
    }
    for (int i = 0; i < row.block_count; i++) {
        for (int j = 0; j < row.block_count; j++) {
            if (!row.size[i] || !row.size[j] || (zone->matrix.symmetric && j > i)) {
                continue;
            }
            double part[36];
            for (int r = 0; r < row.size[i]; r++) {
                for (int s = 0; s < row.size[j]; s++) {
                    part[r * row.size[j] + s] = m[row.offset[i] + r][row.offset[j] + s];
                }
            }
            cr_zone_matrix_add(&zone->matrix, row.block[i], row.block[j], part);
        }
    }
}

void cr_zone_line_curve(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        if (line->row.lam > 0.0) {
            add_curve(zone, line);
        }
    }
}
