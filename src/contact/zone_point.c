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

// A body of the scene whose vertices are being filled in: those of one body stand together.
typedef struct owner {
    int32_t from, to; // its vertices; nothing at first
    int32_t body;
    int32_t frame; // -1: cloth
    int32_t shape; // from its vertices to those of the body that stands for its shape
    int32_t block; // of a body that moves, -1: its motion is given, or cloth
} owner;

static void find_owner(const cr_zone_task* task, int32_t vertex, owner* of)
{
    const cr_body_set* bodies = task->bodies;
    const int32_t body = cr_body_set_owner(bodies, cr_zone_point_lone(task), vertex);
    *of = (owner){.from = bodies->vertex[body],
                  .to = bodies->vertex[body + 1],
                  .body = body,
                  .frame = bodies->frame[body],
                  .block = -1};
    if (task->like && of->frame >= 0) {
        of->shape = bodies->vertex[task->like[body]] - of->from;
    }
    if (bodies->kind[body] == CR_BODY_RIGID) {
        of->block = find_frame(task, of->frame);
    }
}

static void own(const cr_zone_task* task, int32_t vertex, owner* of)
{
    if (vertex < of->from || vertex >= of->to) {
        find_owner(task, vertex, of);
    }
}

static void fill_point(const cr_zone* zone, cr_zone_point* point, owner* of)
{
    const cr_zone_task* task = zone->task;
    const cr_body_set* bodies = task->bodies;
    const cr_motion* motion = task->motion;
    own(task, point->vertex, of);
    const int32_t node = of->frame < 0 ? bodies->node[point->vertex] : -1;
    point->p = cr_vec3_load(bodies->p + 3 * (point->vertex + of->shape));
    point->block = node >= 0 ? find_node(zone, node) : of->block;
    point->rigid = of->block >= 0;
    point->given = (cr_vec3){0, 0, 0};
    if (point->rigid) {
        point->x0 =
            cr_vec3_add(cr_mat3_apply(motion->r0[of->frame], point->p), motion->t0[of->frame]);
    } else if (point->block >= 0) {
        point->x0 = motion->x0[node];
    } else {
        const cr_vec3 begin = task->obstacle0[point->vertex];
        const cr_vec3 whole = cr_vec3_sub(task->obstacle1[point->vertex], begin);
        point->x0 = cr_vec3_add_scaled(begin, task->from, whole);
        point->given = cr_vec3_scale(task->to - task->from, whole);
    }
}

// Where a point was when its candidates were measured.
static cr_vec3 seen_at(const cr_zone_task* task, const cr_zone_point* point, const owner* of)
{
    return of->frame >= 0 ? cr_carry_start(&task->carry[of->body], point->p)
                          : cr_vec3_load(task->start + 3 * point->vertex);
}

// How far a point is from there: that was at the start of the step,
// of which this may be a later part.
static double gone_before(const cr_zone_task* task, const cr_zone_point* point, const owner* of)
{
    if (task->from == 0.0 || !task->start) {
        return 0.0;
    }
    return cr_vec3_norm(cr_vec3_sub(point->x0, seen_at(task, point, of)));
}

// The point of a vertex, by a table of places that is at most half full: its own, or the next one
// that is free. What stands where decides nothing.
static int32_t point_of(cr_zone* zone, int32_t vertex, int32_t bits)
{
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    uint32_t at = ((uint32_t)vertex * 0x9e3779b1u) >> (32 - bits);
    while (zone->place.items[at] >= 0) {
        if (zone->point.items[zone->place.items[at]].vertex == vertex) {
            return zone->place.items[at];
        }
        at = (at + 1) & mask;
    }
    zone->place.items[at] = zone->point.count;
    zone->point.items[zone->point.count].vertex = vertex;
    return zone->point.count++;
}

// Every vertex that a candidate names becomes a point, in the order in which they are named, most
// at most.
static carom_status number_points(cr_zone* zone, int32_t most)
{
    const cr_zone_task* task = zone->task;
    int32_t bits = 4;
    while (bits < 30 && (int64_t)2 * most > (int64_t)1 << bits) {
        bits++;
    }
    if (!cr_array_reserve(&zone->place, 1 << bits)) {
        return CAROM_ERR_MEMORY;
    }
    memset(zone->place.items, -1, sizeof(int32_t) << bits);
    zone->point.count = 0;
    for (int32_t i = 0; i < 4 * task->candidate_count; i++) {
        const int32_t v = task->candidate[i / 4].pair.v[i % 4];
        const int again = i >= 4 && v == task->candidate[i / 4 - 1].pair.v[i % 4];
        zone->corner.items[i] = v < 0   ? -1
                                : again ? zone->corner.items[i - 4]
                                        : point_of(zone, v, bits);
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
    const int32_t corners = 4 * task->candidate_count, vertices = task->bodies->vertex_count;
    const int32_t most = corners < vertices ? corners : vertices; // points
    if (!cr_array_reserve(&zone->point, most) || !cr_array_reserve(&zone->corner, corners) ||
        !cr_array_reserve(&zone->now, task->candidate_count) ||
        !cr_array_reserve(&zone->limiting, task->candidate_count) ||
        !cr_array_reserve(&zone->share, task->candidate_count) ||
        !cr_array_reserve(&zone->mover, 2 * task->candidate_count) ||
        !cr_array_reserve(&zone->stride, zone->block_count + 1) ||
        !cr_array_reserve(&zone->way, zone->block_count + 1) ||
        !cr_array_reserve(&zone->before, most)) {
        return CAROM_ERR_MEMORY;
    }
    const carom_status status = number_points(zone, most);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < task->candidate_count; i++) {
        zone->limiting.items[i] = 0;
        zone->share.items[i] = (cr_zone_share){.line = -1, .seen = task->candidate[i].start};
    }
    owner of = {0};
    for (int32_t i = 0; i < zone->point.count; i++) {
        cr_zone_point* point = &zone->point.items[i];
        fill_point(zone, point, &of);
        point->way = gone_before(task, point, &of);
    }
    name_movers(zone);
    return CAROM_OK;
}

void cr_zone_point_away(cr_zone* zone)
{
    owner of = {0};
    for (int32_t i = 0; i < zone->point.count; i++) {
        cr_zone_point* point = &zone->point.items[i];
        own(zone->task, point->vertex, &of);
        point->way = cr_vec3_norm(cr_vec3_sub(point->x, seen_at(zone->task, point, &of)));
    }
    name_movers(zone);
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
