#include "contact/zone_inside.h"
#include <string.h>

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
        point->block =
            bodies->kind[body] == CR_BODY_RIGID ? find_frame(task, bodies->frame[body]) : -1;
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

// Every vertex that a candidate names becomes a point, in the order in which they are named.
static carom_status number_points(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    const int32_t vertex_count = task->bodies->vertex_count;
    const int32_t known = zone->vertex_point.count;
    if (!cr_array_reserve(&zone->vertex_point, vertex_count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t v = known; v < vertex_count; v++) {
        zone->vertex_point.items[v] = -1;
    }
    zone->vertex_point.count = known > vertex_count ? known : vertex_count;
    zone->point.count = 0;
    for (int32_t i = 0; i < 4 * task->candidate_count; i++) {
        const int32_t v = task->candidate[i / 4].pair.v[i % 4];
        zone->corner.items[i] = -1;
        if (v < 0) {
            continue;
        }
        if (zone->vertex_point.items[v] < 0) {
            zone->vertex_point.items[v] = zone->point.count;
            zone->point.items[zone->point.count++].vertex = v;
        }
        zone->corner.items[i] = zone->vertex_point.items[v];
    }
    for (int32_t i = 0; i < zone->point.count; i++) {
        zone->vertex_point.items[zone->point.items[i].vertex] = -1;
    }
    return CAROM_OK;
}

// Who moves the sides of the candidates, and how far that has come.
static void name_movers(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        const int32_t kind = zone->task->candidate[i].pair.kind;
        int32_t* mover = zone->mover.items + 2 * i;
        mover[0] = mover[1] = -2;
        for (int k = 0; k < 4; k++) {
            const int32_t p = zone->corner.items[4 * i + k];
            if (p >= 0) {
                int32_t* side = &mover[cr_row_side(kind, k)];
                const int32_t here = zone->point.items[p].block + 1;
                *side = *side == -2 || *side == here ? here : -1;
            }
        }
    }
    memset(zone->way.items, 0, sizeof(double) * (size_t)(zone->block_count + 1));
    for (int32_t i = 0; i < zone->point.count; i++) {
        double* way = &zone->way.items[zone->point.items[i].block + 1];
        *way = cr_max(*way, zone->point.items[i].way);
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
        !cr_array_reserve(&zone->mover, 2 * task->candidate_count) ||
        !cr_array_reserve(&zone->stride, zone->block_count + 1) ||
        !cr_array_reserve(&zone->way, zone->block_count + 1) ||
        !cr_array_reserve(&zone->before, most)) {
        return CAROM_ERR_MEMORY;
    }
    const carom_status status = number_points(zone);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < task->candidate_count; i++) {
        zone->limiting.items[i] = 0;
        zone->share.items[i] = (cr_zone_share){.line = -1, .seen = task->candidate[i].start};
    }
    for (int32_t i = 0; i < zone->point.count; i++) {
        cr_zone_point* point = &zone->point.items[i];
        fill_point(zone, point);
        const cr_vec3 seen =
            task->start ? cr_vec3_load(task->start + 3 * point->vertex) : point->x0;
        point->way = cr_vec3_norm(cr_vec3_sub(point->x0, seen));
    }
    name_movers(zone);
    return CAROM_OK;
}

void cr_zone_point_place(cr_zone* zone)
{
    const cr_motion* motion = zone->task->motion;
    for (int32_t b = 0; b < zone->block_count; b++) {
        cr_zone_block* block = &zone->block.items[b];
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            cr_row_body_move(&block->body, motion->t0[f], motion->turn[f],
                             cr_vec3_load(zone->z + block->first),
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
    zone->plane_of[0] = -1;
    cr_zone_sheet_place(zone);
}
