#include "collision/ccd.h"
#include "contact/zone_inside.h"
#include <string.h>

// A pair may come this much nearer than it is, or than its thickness, on the way of one step.
static const double nearest_share = 0.2;
// Shorter steps than this are not tried: 2^-30 of what was asked for.
enum { MOST_CUTS = 30 };

// The points stand at the trial iterate, zone->before at the one it starts from. A pair is looked
// at closely only if its points move far enough to matter.
static double pair_free(const cr_zone* zone, int32_t candidate)
{
    const cr_candidate* c = &zone->task->candidate[candidate];
    const cr_closest* start = &zone->now.items[candidate];
    const double separation = nearest_share * cr_min(start->distance, c->thickness);
    const int32_t* mover = zone->mover.items + 2 * candidate;
    const double* stride = zone->stride.items;
    if (mover[0] >= 0 && mover[1] >= 0 &&
        start->distance - stride[mover[0]] - stride[mover[1]] > separation) {
        return 1.0;
    }
    cr_vec3 x0[4] = {0}, x1[4] = {0};
    double side[2] = {0, 0}; // farthest a point of side A, B goes
    for (int k = 0; k < 4; k++) {
        const int32_t p = zone->corner.items[4 * candidate + k];
        if (p < 0) {
            continue;
        }
        x0[k] = zone->before.items[p];
        x1[k] = zone->point.items[p].x;
        const int b = c->pair.kind == CR_PAIR_EE ? k >= 2 : k == 3;
        side[b] = cr_max(side[b], cr_vec3_norm2(cr_vec3_sub(x1[k], x0[k])));
    }
    if (start->distance - sqrt(side[0]) - sqrt(side[1]) > separation) {
        return 1.0;
    }
    return cr_ccd_free(c->pair.kind, x0, x1, separation);
}

// The part of a step from `from` to `to` after which something of size `room` is left.
static double part_within(double from, double to, double room)
{
    return to <= room ? 1.0 : cr_clamp((room - from) / (to - from), 0.0, 1.0);
}

static const cr_carry* expected(const cr_zone* zone, const cr_zone_block* block)
{
    return &zone->task->carry[zone->task->bodies->frame_body[block->frame]];
}

double cr_zone_check_gone(const cr_zone* zone, const cr_zone_block* block)
{
    if (block->frame < 0) {
        const cr_zone_task* task = zone->task;
        const int32_t v = task->bodies->node_vertex[block->node];
        return cr_carry_off_segment(
            cr_vec3_load(task->start + 3 * v), cr_vec3_load(task->ahead + 3 * v),
            cr_vec3_add(task->motion->x0[block->node], cr_vec3_load(zone->z + block->first)));
    }
    return cr_carry_off(expected(zone, block), zone->task->bodies->extent[block->frame],
                        block->body.r, block->body.t);
}

// Contacts were looked for only around the ways that are expected: no iterate may go farther away.
static double within_room(cr_zone* zone, int first)
{
    double part = 1.0;
    for (int32_t b = 0; b < zone->block_count; b++) {
        cr_zone_block* block = &zone->block.items[b];
        const double room =
            block->frame >= 0 ? expected(zone, block)->reach : zone->task->node_reach[block->node];
        const double now = cr_zone_check_gone(zone, block);
        if (!(now <= room)) {
            if (block->frame >= 0) {
                double* wants = &zone->task->wants[block->frame];
                *wants = cr_max(*wants, now);
            }
            if (block->frame >= 0 && first) {
                zone->task->wish[block->frame].r1 = block->body.r;
                zone->task->wish[block->frame].t1 = block->body.t;
            }
            zone->report.cramped++;
            part = cr_min(part, part_within(block->gone, now, room));
        }
        block->gone_now = now;
    }
    return part;
}

// How far the points of each mover went from the iterate before.
static void measure_strides(cr_zone* zone)
{
    double* stride = zone->stride.items;
    memset(stride, 0, sizeof(double) * (size_t)(zone->block_count + 1));
    for (int32_t i = 0; i < zone->point.count; i++) {
        const cr_zone_point* point = &zone->point.items[i];
        double* most = &stride[point->block + 1];
        *most = cr_max(*most, cr_vec3_norm2(cr_vec3_sub(point->x, zone->before.items[i])));
    }
    for (int32_t b = 0; b <= zone->block_count; b++) {
        stride[b] = sqrt(stride[b]);
    }
}

static void accept(cr_zone* zone)
{
    for (int32_t b = 0; b < zone->block_count; b++) {
        zone->block.items[b].gone = zone->block.items[b].gone_now;
    }
    for (int32_t b = 0; b <= zone->block_count; b++) {
        zone->way.items[b] += zone->stride.items[b];
    }
    for (int32_t i = 0; i < zone->point.count && zone->task->member_sheet_count > 0; i++) {
        cr_zone_point* point = &zone->point.items[i];
        point->way += cr_vec3_norm(cr_vec3_sub(point->x, zone->before.items[i]));
    }
}

void cr_zone_check_moved(cr_zone* zone)
{
    measure_strides(zone);
    accept(zone);
}

int cr_zone_check_tiny(const cr_zone* zone, double size)
{
    int free = zone->along == 1.0;
    for (int32_t b = 0; b < zone->block_count && free; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        free = block->frame >= 0 && block->gone + 2.0 * size <= expected(zone, block)->reach;
    }
    for (int32_t i = 0; i < zone->task->candidate_count && free; i++) {
        const double distance = zone->now.items[i].distance;
        free = distance - 2.0 * size >
               nearest_share * cr_min(distance, zone->task->candidate[i].thickness);
    }
    return free;
}

static void remember_points(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->point.count; i++) {
        zone->before.items[i] = zone->point.items[i].x;
    }
}

// z = z_before + step d for the largest step in (0,1] found to cross nothing. Pairs that shorten it
// become rows. Returns 0 when not even a step of `least` is free.
double cr_zone_check_step(cr_zone* zone, double least)
{
    const double along = zone->along;
    double step = 1.0;
    remember_points(zone);
    for (int cut = 0; cut < MOST_CUTS && step >= least; cut++) {
        for (int32_t i = 0; i < zone->n; i++) {
            zone->z[i] = zone->z_before[i] + step * zone->d[i];
        }
        zone->along = along + step * (1.0 - along);
        cr_zone_point_place(zone);
        measure_strides(zone);
        const int32_t cramped = zone->report.cramped;
        double free = within_room(zone, cut == 0);
        if (free < 1.0 && cut == 0 && zone->task->look && !zone->steady) {
            zone->report.cramped = cramped;
            zone->seen = cr_zone_look_again(zone, along);
            if (zone->seen != CAROM_OK) {
                break;
            }
            remember_points(zone);
            continue;
        }
        for (int32_t i = 0; i < zone->task->candidate_count; i++) {
            const double part = pair_free(zone, i);
            if (part < 1.0) {
                zone->limiting.items[i] = 1;
            }
            free = cr_min(free, part);
        }
        if (free >= 1.0) {
            accept(zone);
            return step;
        }
        // the paths of a turning body are not straight lines, so what was found is tried again
        step *= cr_max(0.9 * free, 0.1);
    }
    zone->along = along;
    for (int32_t i = 0; i < zone->n; i++) {
        zone->z[i] = zone->z_before[i];
    }
    cr_zone_point_place(zone);
    return 0.0;
}
