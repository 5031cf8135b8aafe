#include "contact/zone_inside.h"
#include <string.h>

// What a locked frame may still turn about: I - sum a a^T over the locked world axes a, seen in the
// frame. Locked translations are single coordinates and need no such thing.
static cr_mat3 free_turn(cr_mat3 rp, int32_t lock)
{
    cr_mat3 p = cr_mat3_identity();
    for (int axis = 0; axis < 3; axis++) {
        if (lock >> (3 + axis) & 1) {
            const cr_vec3 a = cr_mat3_row(rp, axis); // R_p^T e_axis
            p = cr_mat3_add_scaled(p, -1.0, cr_mat3_outer(a, a));
        }
    }
    return p;
}

carom_status cr_zone_setup_blocks(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    const cr_body_set* bodies = task->bodies;
    zone->block.count = zone->node_block.count = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const cr_zone_block block = {.frame = f,
                                     .node = -1,
                                     .first = n,
                                     .size = 6,
                                     .lock = bodies->lock[f],
                                     .free_turn = free_turn(task->motion->rp[f], bodies->lock[f]),
                                     .body.r_p = task->motion->rp[f],
                                     .body.r_0 = task->motion->r0[f]};
        if (!cr_array_push(&zone->block, block)) {
            return CAROM_ERR_MEMORY;
        }
        n += 6;
    }
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        for (int32_t node = task->sheet_node[s]; node < task->sheet_node[s + 1]; node++) {
            const int32_t pinned = bodies->node_pinned[node];
            if (!cr_array_push(&zone->node_block, pinned ? -1 : zone->block.count)) {
                return CAROM_ERR_MEMORY;
            }
            if (pinned) {
                continue;
            }
            const cr_zone_block block = {.frame = -1, .node = node, .first = n, .size = 3};
            if (!cr_array_push(&zone->block, block)) {
                return CAROM_ERR_MEMORY;
            }
            n += 3;
        }
    }
    zone->block_count = zone->block.count;
    zone->n = n;
    return CAROM_OK;
}

// z starts where everything would be without forces: a sliding body has slid, a resting one rests.
carom_status cr_zone_setup_numbers(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    const cr_motion* motion = task->motion;
    const cr_body_set* bodies = task->bodies;
    const int32_t n = zone->n;
    if (!cr_array_reserve(&zone->numbers, 7 * n) ||
        !cr_array_reserve(&zone->sizes, zone->block_count)) {
        return CAROM_ERR_MEMORY;
    }
    double** const vectors[] = {&zone->z,    &zone->target,   &zone->grad,   &zone->d,
                                &zone->mass, &zone->z_before, &zone->scratch};
    for (int i = 0; i < 7; i++) {
        *vectors[i] = n > 0 ? zone->numbers.items + (size_t)i * (size_t)n : NULL;
    }
    if (n > 0) { // a sheet that is pinned everywhere has no unknowns
        memset(zone->numbers.items, 0, sizeof(double) * 7 * (size_t)n);
    }
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        const int32_t at = block->first;
        zone->sizes.items[b] = block->frame >= 0 ? 6 : 3;
        if (block->frame >= 0) {
            const int32_t f = block->frame;
            for (int i = 0; i < 3; i++) {
                zone->mass[at + i] = bodies->inertia[3 * f + i];
                zone->mass[at + 3 + i] = bodies->mass[f];
            }
            cr_vec3_store(zone->target + at + 3, motion->ut[f]);
            // the start, seen from the target: r0 = rp exp(w)
            const cr_mat3 back = cr_mat3_tmul(motion->rp[f], motion->r0[f]);
            cr_vec3_store(zone->z + at, cr_quat_to_rotation(cr_quat_from_matrix(back)));
            for (int i = 0; i < 3; i++) {
                zone->d[at + i] = -zone->z[at + i];
            }
            cr_vec3_store(zone->d + at + 3, motion->guess[f]);
            cr_zone_line_lock(block, zone->z + at);
            cr_zone_line_lock(block, zone->d + at);
        } else {
            for (int i = 0; i < 3; i++) {
                zone->mass[at + i] = bodies->node_mass[block->node];
            }
            cr_vec3_store(zone->target + at, motion->dt[block->node]);
            cr_vec3_store(zone->d + at, motion->drift[block->node]);
        }
    }
    return CAROM_OK;
}
