#include "contact/zone_inside.h"
#include <string.h>

// The linearised force dE(x) + K(x) d as a sum of forces at five places, as in zone_predict_adj.c.
typedef struct place {
    double s, weight;
} place;
static const place places[] = {
    {0, 1}, {1, 8.0 / 12}, {-1, -8.0 / 12}, {2, -1.0 / 12}, {-2, 1.0 / 12}};

// right -= h^2 weight times the change of dE(x + s d), d of free nodes held.
static void gather_force(const cr_zone* zone, int32_t member, int32_t at, place p,
                         const cr_zone_tangents* by, double* right)
{
    const cr_zone_task* task = zone->task;
    const int32_t s = task->member_sheet[member];
    const int32_t from = task->sheet_node[s], count = task->sheet_node[s + 1] - from;
    const double part = task->to - task->from;
    double* x = zone->sheet_scratch.items; // where the nodes are, how that changes, what they feel
    double* dx = x + 3 * count;
    double* felt = dx + 3 * count;
    memset(felt, 0, 3 * (size_t)count * sizeof(double));
    for (int32_t n = 0; n < count; n++) {
        const int32_t block = zone->node_block.items[at + n];
        const int32_t v = task->bodies->node_vertex[from + n];
        cr_vec3 moved, change = by->x0[from + n];
        if (block >= 0) {
            moved = cr_vec3_load(zone->d + zone->block.items[block].first);
        } else { // starts at o0 + from (o1 - o0), moves by part (o1 - o0)
            const cr_vec3 whole = cr_vec3_sub(by->obstacle1[v], by->obstacle0[v]);
            moved = cr_vec3_scale(part, cr_vec3_sub(task->obstacle1[v], task->obstacle0[v]));
            change = cr_vec3_add_scaled(by->obstacle0[v], task->from + p.s * part, whole);
        }
        const cr_vec3 start = cr_vec3_load(zone->sheet_x.items + 3 * (at + n));
        cr_vec3_store(x + 3 * n, cr_vec3_add_scaled(start, p.s, moved));
        cr_vec3_store(dx + 3 * n, change);
    }
    cr_zone_jvp_sheet(zone, member, x, dx, -task->h * task->h * p.weight, by, felt);
    for (int32_t n = 0; n < count; n++) {
        const int32_t block = zone->node_block.items[at + n];
        if (block >= 0) {
            cr_vec3_accumulate(right + zone->block.items[block].first, cr_vec3_load(felt + 3 * n));
        }
    }
}

// F = M (d - dt) + h^2 (dE + K d) = 0 at the start, so (M + h^2 K) dd = -dF at constant d.
carom_status cr_zone_predict_jvp(cr_zone* zone, const cr_zone_task* task, int32_t count,
                                 const cr_zone_tangents* by)
{
    cr_zone_task alone;
    const carom_status status = cr_zone_predict_solve(zone, task, &alone);
    if (status != CAROM_OK) {
        return status;
    }
    double* right = zone->z_before;
    for (int32_t i = 0; i < count; i++) {
        for (int32_t b = 0; b < zone->block_count; b++) {
            const cr_zone_block* block = &zone->block.items[b];
            const int32_t first = block->first, n = block->node;
            const cr_vec3 off =
                cr_vec3_sub(cr_vec3_load(zone->d + first), cr_vec3_load(zone->target + first));
            cr_vec3_store(right + first,
                          cr_vec3_add_scaled(cr_vec3_scale(zone->mass[first], by[i].dt[n]),
                                             -by[i].node_mass[n], off));
        }
        int32_t at = 0;
        for (int32_t m = 0; m < task->member_sheet_count; m++) {
            for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
                gather_force(zone, m, at, places[k], &by[i], right);
            }
            at += task->sheet_node[task->member_sheet[m] + 1] -
                  task->sheet_node[task->member_sheet[m]];
        }
        cr_zone_matrix_solve(&zone->matrix, right);
        for (int32_t b = 0; b < zone->block_count; b++) {
            const cr_zone_block* block = &zone->block.items[b];
            by[i].dt[block->node] = cr_vec3_load(right + block->first);
        }
    }
    return CAROM_OK;
}
