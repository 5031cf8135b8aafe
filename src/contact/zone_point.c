#include "contact/zone_inside.h"
#include <stdlib.h>

static int compare_points(const void* a, const void* b)
{
    const int32_t va = ((const cr_zone_point*)a)->vertex, vb = ((const cr_zone_point*)b)->vertex;
    return va < vb ? -1 : va > vb;
}

static int32_t find_point(const cr_zone* zone, int32_t vertex)
{
    int32_t low = 0, high = zone->point.count - 1;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (zone->point.items[mid].vertex < vertex) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static int32_t find_frame(const cr_zone_task* task, int32_t frame)
{
    int32_t low = 0, high = task->frame_count - 1;
    while (low <= high) {
        const int32_t mid = low + (high - low) / 2;
        if (task->frame[mid] == frame) {
            return mid;
        }
        if (task->frame[mid] < frame) {
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return -1;
}

// The block of a node: the member sheets' nodes stand one after another in node_block.
static int32_t find_node(const cr_zone* zone, int32_t node)
{
    const cr_zone_task* task = zone->task;
    int32_t base = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        const int32_t from = task->sheet_node[s], to = task->sheet_node[s + 1];
        if (node >= from && node < to) {
            return zone->node_block.items[base + node - from];
        }
        base += to - from;
    }
    return -1;
}

static void fill_point(const cr_zone* zone, cr_zone_point* point)
{
    const cr_zone_task* task = zone->task;
    const cr_body_set* bodies = task->bodies;
    const int32_t node = bodies->node[point->vertex];
    const int32_t body = bodies->vertex_body[point->vertex];
    point->p = cr_vec3_load(bodies->p + 3 * point->vertex);
    point->rigid = 0;
    if (node >= 0) {
        point->block = find_node(zone, node);
    } else {
        point->block = bodies->kind[body] == CR_BODY_RIGID ? find_frame(task, bodies->frame[body])
                                                           : -1;
        point->rigid = point->block >= 0;
    }
    if (point->block < 0) {
        const cr_vec3 begin = task->obstacle0[point->vertex];
        const cr_vec3 whole = cr_vec3_sub(task->obstacle1[point->vertex], begin);
        point->x0 = cr_vec3_add_scaled(begin, task->from, whole);
        point->given = cr_vec3_scale(task->to - task->from, whole);
    } else {
        point->x0 = cr_motion_start(task->motion, bodies, point->vertex);
        point->given = (cr_vec3){0, 0, 0};
    }
}

carom_status cr_zone_point_setup(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    const int32_t most = 4 * task->candidate_count;
    if (!cr_array_reserve(&zone->point, most) || !cr_array_reserve(&zone->corner, most) ||
        !cr_array_reserve(&zone->now, task->candidate_count) ||
        !cr_array_reserve(&zone->limiting, task->candidate_count) ||
        !cr_array_reserve(&zone->share, task->candidate_count) ||
        !cr_array_reserve(&zone->before, most)) {
        return CAROM_ERR_MEMORY;
    }
    int32_t count = 0;
    for (int32_t i = 0; i < task->candidate_count; i++) {
        zone->limiting.items[i] = 0;
        zone->share.items[i] = (cr_zone_share){.line = -1};
        for (int k = 0; k < 4; k++) {
            if (task->candidate[i].pair.v[k] >= 0) {
                zone->point.items[count++].vertex = task->candidate[i].pair.v[k];
            }
        }
    }
    qsort(zone->point.items, (size_t)count, sizeof(cr_zone_point), compare_points);
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        if (kept == 0 || zone->point.items[kept - 1].vertex != zone->point.items[i].vertex) {
            zone->point.items[kept++].vertex = zone->point.items[i].vertex;
        }
    }
    zone->point.count = kept;
    for (int32_t i = 0; i < kept; i++) {
        fill_point(zone, &zone->point.items[i]);
    }
    for (int32_t i = 0; i < task->candidate_count; i++) {
        for (int k = 0; k < 4; k++) {
            const int32_t v = task->candidate[i].pair.v[k];
            zone->corner.items[4 * i + k] = v >= 0 ? find_point(zone, v) : -1;
        }
    }
    return CAROM_OK;
}

void cr_zone_point_place(cr_zone* zone)
{
    const cr_motion* motion = zone->task->motion;
    for (int32_t b = 0; b < zone->block_count; b++) {
        cr_zone_block* block = &zone->block.items[b];
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            block->body = cr_row_body_make(motion->rp[f], motion->r0[f], motion->t0[f],
                                           motion->turn[f], cr_vec3_load(zone->z + block->first),
                                           cr_vec3_load(zone->z + block->first + 3));
        }
    }
    for (int32_t i = 0; i < zone->point.count; i++) {
        cr_zone_point* point = &zone->point.items[i];
        if (point->rigid) {
            const cr_row_body* body = &zone->block.items[point->block].body;
            point->x = cr_vec3_add(cr_mat3_apply(body->r, point->p), body->t);
            continue;
        }
        point->moved = point->block < 0
                           ? cr_vec3_scale(zone->along, point->given)
                           : cr_vec3_load(zone->z + zone->block.items[point->block].first);
        point->x = cr_vec3_add(point->x0, point->moved);
    }
    cr_zone_sheet_place(zone);
}
