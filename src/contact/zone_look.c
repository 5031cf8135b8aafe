#include "contact/zone_inside.h"
#include "core/order.h"

static int pair_order(const cr_pair* a, const cr_pair* b)
{
    for (int k = 0; k < 4; k++) {
        if (a->v[k] != b->v[k]) {
            return a->v[k] < b->v[k] ? -1 : 1;
        }
    }
    return (a->kind > b->kind) - (a->kind < b->kind);
}

static int load_before(const cr_zone_load* a, const cr_zone_load* b)
{
    return pair_order(&a->pair, &b->pair) < 0;
}

CR_ORDER_DEFINE(sort_loads, cr_zone_load, load_before)

// Where the trial iterate has the members.
static void wish(const cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        if (block->frame >= 0) {
            task->wish[block->frame].r1 = block->body.r;
            task->wish[block->frame].t1 = block->body.t;
        } else {
            const cr_vec3 d = cr_vec3_load(zone->z + block->first);
            cr_vec3_store(task->node_wish + 3 * block->node,
                          cr_vec3_add(task->motion->x0[block->node], d));
        }
    }
}

// The candidates that carry something, or stopped a step.
static carom_status put_by(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    zone->load.count = 0;
    cr_zone_line_settle(zone);
    for (int32_t i = 0; i < task->candidate_count; i++) {
        const cr_zone_share* share = &zone->share.items[i];
        const cr_zone_load load = {task->candidate[i].pair, share->lam, share->sigma,
                                   zone->limiting.items[i]};
        if ((load.lam > 0.0 || load.limiting) && !cr_array_push(&zone->load, load)) {
            return CAROM_ERR_MEMORY;
        }
    }
    if (!cr_array_reserve(&zone->load, 2 * zone->load.count)) {
        return CAROM_ERR_MEMORY;
    }
    if (zone->load.count > 1) {
        sort_loads(zone->load.items, zone->load.items + zone->load.count, zone->load.count);
    }
    return CAROM_OK;
}

static const cr_zone_load* find_load(const cr_zone* zone, const cr_pair* pair)
{
    int32_t low = 0, high = zone->load.count - 1;
    while (low <= high) {
        const int32_t mid = low + (high - low) / 2;
        const int order = pair_order(&zone->load.items[mid].pair, pair);
        if (order == 0) {
            return &zone->load.items[mid];
        }
        if (order < 0) {
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return NULL;
}

// What is a candidate no more is out of sight of all that carries anything.
static void take_up(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        const cr_zone_load* load = find_load(zone, &zone->task->candidate[i].pair);
        if (load) {
            zone->share.items[i].lam = load->lam;
            zone->share.items[i].sigma = load->sigma;
            zone->limiting.items[i] = (uint8_t)load->limiting;
        }
    }
}

carom_status cr_zone_look_again(cr_zone* zone, double along)
{
    wish(zone);
    for (int32_t i = 0; i < zone->n; i++) {
        zone->z[i] = zone->z_before[i];
    }
    zone->along = along;
    cr_zone_point_place(zone);
    cr_zone_end(zone);
    carom_status status = put_by(zone);
    zone->line.count = 0; // of candidates that are others from here on, whatever comes of the look
    if (status == CAROM_OK) {
        status = zone->task->look(zone->task->user, along);
    }
    if (status == CAROM_OK) {
        status = cr_zone_point_setup(zone);
    }
    if (status != CAROM_OK) {
        return status;
    }
    cr_zone_point_place(zone);
    cr_zone_point_away(zone);
    cr_zone_line_measure(zone);
    take_up(zone);
    for (int32_t b = 0; b < zone->block_count; b++) {
        zone->block.items[b].gone = cr_zone_check_gone(zone, &zone->block.items[b]);
        // what several candidates carried together some of them may carry no more: loads are to be
        // found anew, of what was solved too
        zone->block.items[b].asleep = 0;
    }
    zone->factored = 0;
    zone->looks++;
    return CAROM_OK;
}
