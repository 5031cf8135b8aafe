#include "contact/zone_inside.h"
#include <string.h>

static int32_t node_count(const cr_zone_task* task, int32_t member)
{
    const int32_t s = task->member_sheet[member];
    return task->sheet_node[s + 1] - task->sheet_node[s];
}

carom_status cr_zone_sheet_setup(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    int32_t nodes = 0, scratch = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const cr_cloth* sheet = &task->sheet[task->member_sheet[i]];
        nodes += sheet->node_count;
        const int32_t most = 9 * sheet->pair_count; // diagonals alone make it 9 a node
        scratch = most > scratch ? most : scratch;
    }
    const int ok = cr_array_reserve(&zone->sheet_x, 3 * nodes) &&
                   cr_array_reserve(&zone->sheet_scratch, scratch);
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}

void cr_zone_sheet_place(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t first = task->sheet_node[task->member_sheet[i]];
        for (int32_t n = 0; n < node_count(task, i); n++, at++) {
            const int32_t block = zone->node_block.items[at];
            cr_vec3 x;
            if (block >= 0) {
                x = cr_vec3_add(task->motion->x0[first + n],
                                cr_vec3_load(zone->z + zone->block.items[block].first));
            } else {
                const int32_t v = task->bodies->node_vertex[first + n];
                const double gone = task->from + zone->along * (task->to - task->from);
                const cr_vec3 whole = cr_vec3_sub(task->obstacle1[v], task->obstacle0[v]);
                x = cr_vec3_add_scaled(task->obstacle0[v], gone, whole);
            }
            cr_vec3_store(zone->sheet_x.items + 3 * at, x);
        }
    }
}

cr_cloth_step cr_zone_sheet_step(const cr_zone_task* task, int32_t member)
{
    const int32_t first = task->sheet_node[task->member_sheet[member]];
    return (cr_cloth_step){.h = task->h,
                           .wind = {task->wind.x, task->wind.y, task->wind.z},
                           .x0 = &task->motion->x0[first].x,
                           .v0 = task->node_velocity + 3 * first};
}

double cr_zone_sheet_energy(const cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    double sum = 0.0;
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        const cr_cloth_step step = cr_zone_sheet_step(task, i);
        sum += task->h * task->h *
               cr_cloth_energy(&task->sheet[s], &task->material[s], &step,
                               zone->sheet_x.items + 3 * at);
        at += node_count(task, i);
    }
    return sum;
}

void cr_zone_sheet_gradient(cr_zone* zone, double* grad)
{
    const cr_zone_task* task = zone->task;
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i], count = node_count(task, i);
        const cr_cloth_step step = cr_zone_sheet_step(task, i);
        double* g = zone->sheet_scratch.items;
        memset(g, 0, 3 * (size_t)count * sizeof(double));
        cr_cloth_gradient(&task->sheet[s], &task->material[s], &step, zone->sheet_x.items + 3 * at,
                          task->h * task->h, g);
        for (int32_t n = 0; n < count; n++) {
            const int32_t block = zone->node_block.items[at + n];
            if (block >= 0) {
                cr_vec3_accumulate(grad + zone->block.items[block].first, cr_vec3_load(g + 3 * n));
            }
        }
        at += count;
    }
}

carom_status cr_zone_sheet_pattern(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const cr_cloth* sheet = &task->sheet[task->member_sheet[i]];
        if (!cr_array_reserve(&zone->pairs, zone->pairs.count + 2 * sheet->pair_count)) {
            return CAROM_ERR_MEMORY;
        }
        for (int32_t e = 0; e < sheet->pair_count; e++) {
            const int32_t a = zone->node_block.items[at + sheet->pair[e][0]];
            const int32_t b = zone->node_block.items[at + sheet->pair[e][1]];
            if (a >= 0 && b >= 0) {
                zone->pairs.items[zone->pairs.count++] = a;
                zone->pairs.items[zone->pairs.count++] = b;
            }
        }
        at += node_count(task, i);
    }
    return CAROM_OK;
}

void cr_zone_sheet_hessian(cr_zone* zone, int32_t curvature)
{
    const cr_zone_task* task = zone->task;
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        const cr_cloth* sheet = &task->sheet[s];
        const cr_cloth_step step = cr_zone_sheet_step(task, i);
        double* block = zone->sheet_scratch.items;
        memset(block, 0, 9 * (size_t)sheet->pair_count * sizeof(double));
        cr_cloth_hessian(sheet, &task->material[s], &step, zone->sheet_x.items + 3 * at,
                         (cr_cloth_curvature)curvature, task->h * task->h, block);
        for (int32_t e = 0; e < sheet->pair_count; e++) {
            const int32_t a = zone->node_block.items[at + sheet->pair[e][0]];
            const int32_t b = zone->node_block.items[at + sheet->pair[e][1]];
            if (a < 0 || b < 0) {
                continue;
            }
            cr_zone_matrix_add(&zone->matrix, a, b, block + 9 * e);
            if (!zone->matrix.symmetric && a != b) {
                double flipped[9];
                for (int k = 0; k < 9; k++) {
                    flipped[k] = block[9 * e + k % 3 * 3 + k / 3];
                }
                cr_zone_matrix_add(&zone->matrix, b, a, flipped);
            }
        }
        at += sheet->node_count;
    }
}
