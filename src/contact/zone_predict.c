#include "contact/zone_inside.h"
#include <string.h>

// grad += h^2 K_fp d_p at the free nodes: what the motion of pinned nodes does to them.
static void add_pins(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        const int32_t from = task->sheet_node[s], count = task->sheet_node[s + 1] - from;
        const cr_cloth_step step = cr_zone_sheet_step(task, i);
        double* moved = zone->sheet_scratch.items;
        double* felt = moved + 3 * count;
        memset(moved, 0, 6 * (size_t)count * sizeof(double));
        for (int32_t n = 0; n < count; n++) {
            if (zone->node_block.items[at + n] < 0) {
                const int32_t v = task->bodies->node_vertex[from + n];
                const cr_vec3 whole = cr_vec3_sub(task->obstacle1[v], task->obstacle0[v]);
                cr_vec3_store(moved + 3 * n, cr_vec3_scale(task->to - task->from, whole));
            }
        }
        cr_cloth_apply(&task->sheet[s], &task->material[s], &step, zone->sheet_x.items + 3 * at,
                       moved, task->h * task->h, felt);
        for (int32_t n = 0; n < count; n++) {
            const int32_t block = zone->node_block.items[at + n];
            if (block >= 0) {
                cr_vec3_accumulate(zone->grad + zone->block.items[block].first,
                                   cr_vec3_load(felt + 3 * n));
            }
        }
        at += count;
    }
}

carom_status cr_zone_predict_solve(cr_zone* zone, const cr_zone_task* task, cr_zone_task* alone)
{
    *alone = *task;
    alone->frame_count = alone->candidate_count = alone->slack = 0;
    carom_status status = cr_zone_begin(zone, alone);
    if (status != CAROM_OK) {
        return status;
    }
    cr_zone_point_place(zone); // z = 0: everything at its start
    status = cr_zone_newton_exact(zone, !zone->rubbing);
    if (status == CAROM_OK) {
        status = cr_zone_matrix_begin(&zone->matrix);
    }
    if (status == CAROM_OK) {
        status = cr_zone_matrix_factor(&zone->matrix);
    }
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < zone->n; i++) {
        zone->grad[i] = -zone->mass[i] * zone->target[i];
    }
    cr_zone_sheet_gradient(zone, zone->grad);
    add_pins(zone);
    for (int32_t i = 0; i < zone->n; i++) {
        zone->d[i] = -zone->grad[i];
    }
    cr_zone_matrix_solve(&zone->matrix, zone->d);
    return CAROM_OK;
}

carom_status cr_zone_predict(cr_zone* zone, const cr_zone_task* task)
{
    cr_zone_task alone;
    const carom_status status = cr_zone_predict_solve(zone, task, &alone);
    for (int32_t b = 0; b < zone->block_count && status == CAROM_OK; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        task->motion->dt[block->node] = cr_vec3_load(zone->d + block->first);
    }
    return status;
}
