#include "contact/zone_inside.h"
#include <string.h>

// Candidates join bodies to a zone that may touch in the step; most of them do not. Those that the
// lines of an iterate join are a clump, and the equations of a clump hold nothing of another: each
// has its own working set, its own ladder of matrices and its own end. (Solved as one, a heap of 66
// bodies with friction 1.5, twelve clumps of two at most, went round in circles for 265 iterates:
// whenever one of them had to hold its friction all did, and all were taken back for one.) Sheets
// are one clump with all that lies on them.

static int32_t root_of(cr_zone* zone, int32_t block)
{
    cr_zone_block* blocks = zone->block.items;
    while (blocks[block].clump != block) {
        blocks[block].clump = blocks[blocks[block].clump].clump;
        block = blocks[block].clump;
    }
    return block;
}

// The lower one is the root, whatever order lines come in.
static void join(cr_zone* zone, int32_t a, int32_t b)
{
    const int32_t x = root_of(zone, a), y = root_of(zone, b);
    zone->block.items[x > y ? x : y].clump = x < y ? x : y;
}

// The clump of each block, in the order of their first blocks.
static carom_status number_clumps(cr_zone* zone)
{
    const int32_t nodes = zone->task->frame_count; // which stand behind the frames
    zone->clump.count = 0;
    for (int32_t b = 0; b < zone->block_count; b++) {
        zone->block.items[b].clump = b < nodes ? b : nodes;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        for (int k = 1; k < line->block_count; k++) {
            join(zone, line->block[0], line->block[k]);
        }
    }
    for (int32_t b = 0; b < zone->block_count; b++) {
        zone->block.items[b].clump = root_of(zone, b);
    }
    for (int32_t b = 0; b < zone->block_count; b++) { // a root stands before those that it is of
        cr_zone_block* block = &zone->block.items[b];
        const int32_t root = block->clump;
        block->clump = root == b ? zone->clump.count : zone->block.items[root].clump;
        if (root == b && !cr_array_push(&zone->clump, (cr_zone_clump){0})) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

static cr_zone_clump* of_line(cr_zone* zone, const cr_zone_line* line)
{
    return &zone->clump.items[zone->block.items[line->block[0]].clump];
}

// Blocks and lines by their clumps, those of each in the order they have in the zone. A line
// without a block moves nothing and is nobody's.
static carom_status sort_members(cr_zone* zone)
{
    if (!cr_array_reserve(&zone->clump_block, zone->block_count) ||
        !cr_array_reserve(&zone->clump_line, zone->line.count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t b = 0; b < zone->block_count; b++) {
        zone->clump.items[zone->block.items[b].clump].block_end++;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        if (zone->line.items[i].block_count > 0) {
            of_line(zone, &zone->line.items[i])->line_end++;
        }
    }
    int32_t block = 0, line = 0;
    for (int32_t c = 0; c < zone->clump.count; c++) { // numbers become ends, which grow again
        cr_zone_clump* clump = &zone->clump.items[c];
        const int32_t blocks = clump->block_end, lines = clump->line_end;
        *clump = (cr_zone_clump){block, block, line, line, 0, 0, 0};
        block += blocks;
        line += lines;
    }
    for (int32_t b = 0; b < zone->block_count; b++) {
        cr_zone_clump* clump = &zone->clump.items[zone->block.items[b].clump];
        zone->clump_block.items[clump->block_end++] = b;
        clump->sheets |= zone->block.items[b].frame < 0;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        if (zone->line.items[i].block_count > 0) {
            zone->clump_line.items[of_line(zone, &zone->line.items[i])->line_end++] = i;
        }
    }
    return CAROM_OK;
}

// What wakes or oils one wakes or oils all. Returns whether anybody was oiled by it.
static int32_t share_fate(cr_zone* zone, cr_zone_clump* clump)
{
    int32_t asleep = 1, oiled = 0, all = 1;
    for (int32_t i = clump->block_begin; i < clump->block_end; i++) {
        const cr_zone_block* block = &zone->block.items[zone->clump_block.items[i]];
        asleep &= block->asleep;
        oiled |= block->oiled;
        all &= block->oiled;
    }
    for (int32_t i = clump->block_begin; i < clump->block_end; i++) {
        cr_zone_block* block = &zone->block.items[zone->clump_block.items[i]];
        block->asleep = asleep;
        block->oiled = oiled;
    }
    clump->asleep = asleep;
    return oiled != all;
}

carom_status cr_zone_clump_find(cr_zone* zone, int32_t* spread)
{
    carom_status status = number_clumps(zone);
    if (status == CAROM_OK) {
        status = sort_members(zone);
    }
    *spread = 0;
    for (int32_t c = 0; c < zone->clump.count && status == CAROM_OK; c++) {
        *spread |= share_fate(zone, &zone->clump.items[c]);
    }
    return status;
}

// The blocks of a clump, and the vectors over them; block.clump of those in the zone becomes their
// number here.
static carom_status take_blocks(cr_zone* zone, const cr_zone_clump* clump)
{
    cr_zone* own = zone->own;
    own->block_count = clump->block_end - clump->block_begin;
    own->n = 0;
    if (!cr_array_reserve(&own->block, own->block_count) ||
        !cr_array_reserve(&own->sizes, own->block_count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < own->block_count; i++) {
        cr_zone_block* block = &zone->block.items[zone->clump_block.items[clump->block_begin + i]];
        block->clump = i;
        own->block.items[i] = *block;
        own->block.items[i].first = own->n;
        own->sizes.items[i] = block->size;
        own->n += block->size;
    }
    own->block.count = own->block_count;
    double** const vectors[] = {&own->z,    &own->target, &own->mass,
                                &own->grad, &own->d,      &own->scratch};
    if (!cr_array_reserve(&own->numbers, 6 * own->n)) {
        return CAROM_ERR_MEMORY;
    }
    for (int i = 0; i < 6; i++) {
        *vectors[i] = own->numbers.items + (size_t)i * (size_t)own->n;
    }
    for (int32_t i = 0; i < own->block_count; i++) {
        const int32_t from =
            zone->block.items[zone->clump_block.items[clump->block_begin + i]].first;
        const int32_t to = own->block.items[i].first;
        const size_t size = sizeof(double) * (size_t)own->block.items[i].size;
        memcpy(own->z + to, zone->z + from, size);
        memcpy(own->target + to, zone->target + from, size);
        memcpy(own->mass + to, zone->mass + from, size);
    }
    return CAROM_OK;
}

// The lines of a clump, each with points of its own.
static carom_status take_lines(cr_zone* zone, const cr_zone_clump* clump)
{
    cr_zone* own = zone->own;
    own->line.count = own->point.count = 0;
    const int32_t count = clump->line_end - clump->line_begin;
    if (!cr_array_reserve(&own->line, count) || !cr_array_reserve(&own->point, 4 * count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = clump->line_begin; i < clump->line_end; i++) {
        cr_zone_line* line = &own->line.items[own->line.count++];
        *line = zone->line.items[zone->clump_line.items[i]];
        for (int k = 0; k < line->block_count; k++) {
            line->block[k] = zone->block.items[line->block[k]].clump;
        }
        for (int k = 0; k < 4; k++) {
            if (line->point[k] >= 0) {
                cr_zone_point point = zone->point.items[line->point[k]];
                point.block = point.block < 0 ? -1 : zone->block.items[point.block].clump;
                line->point[k] = own->point.count;
                own->point.items[own->point.count++] = point;
            }
        }
    }
    return CAROM_OK;
}

// Sheets are where the zone has them; a clump without any has a task that knows of none.
static carom_status take_sheets(cr_zone* zone, const cr_zone_clump* clump)
{
    cr_zone* own = zone->own;
    own->task = zone->task;
    own->along = zone->along;
    if (!clump->sheets) {
        own->bare = *zone->task;
        own->bare.member_sheet_count = 0;
        own->task = &own->bare;
        return CAROM_OK;
    }
    if (!cr_array_reserve(&own->node_block, zone->node_block.count)) {
        return CAROM_ERR_MEMORY;
    }
    own->node_block.count = zone->node_block.count;
    for (int32_t i = 0; i < zone->node_block.count; i++) {
        const int32_t block = zone->node_block.items[i];
        own->node_block.items[i] = block < 0 ? -1 : zone->block.items[block].clump;
    }
    const carom_status status = cr_zone_sheet_setup(own);
    if (status == CAROM_OK) {
        cr_zone_sheet_place(own);
    }
    return status;
}

carom_status cr_zone_clump_enter(cr_zone* zone, const cr_zone_clump* clump, cr_zone** own)
{
    carom_status status = zone->own ? CAROM_OK : cr_zone_create(&zone->own);
    if (status == CAROM_OK) {
        status = take_blocks(zone, clump);
    }
    if (status == CAROM_OK) {
        status = take_lines(zone, clump);
    }
    if (status == CAROM_OK) {
        status = take_sheets(zone, clump);
    }
    *own = zone->own;
    if (status != CAROM_OK) {
        return status;
    }
    zone->own->stick = zone->stick;
    zone->own->report = (cr_zone_report){0};
    zone->own->holds = 0;
    zone->own->factored = 0; // what it holds may be another clump's
    for (int32_t i = 0; i < zone->own->block_count; i++) {
        const int32_t holds = zone->own->block.items[i].holds;
        zone->own->holds = holds > zone->own->holds ? holds : zone->own->holds;
    }
    return CAROM_OK;
}

void cr_zone_clump_leave(cr_zone* zone, const cr_zone_clump* clump)
{
    const cr_zone* own = zone->own;
    zone->report.factorisations += own->report.factorisations;
    for (int32_t i = 0; i < own->block_count; i++) {
        cr_zone_block* block = &zone->block.items[zone->clump_block.items[clump->block_begin + i]];
        const cr_zone_block* from = &own->block.items[i];
        block->clump = (int32_t)(clump - zone->clump.items);
        block->holds = own->holds;
        memcpy(zone->d + block->first, own->d + from->first, sizeof(double) * (size_t)from->size);
    }
    for (int32_t i = 0; i < own->line.count; i++) {
        const cr_zone_line* from = &own->line.items[i];
        cr_zone_line* line = &zone->line.items[zone->clump_line.items[clump->line_begin + i]];
        line->row.lam = from->row.lam;
        line->sigma = from->sigma;
        line->active = from->active;
    }
}
