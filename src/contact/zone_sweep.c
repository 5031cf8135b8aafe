#include "contact/zone_inside.h"
#include <string.h>

// A factor of a sheet of n nodes takes n^1.5 operations. Sweeps take n times their rounds, and
// those go with the square root of how many times its mass the diagonal of a node is: 9 for 15
// digits of a node that is as stiff as it is heavy. So sweeps are the cheaper way where there are
// this many nodes for each of these times: 441 of them at 4.8 times take 31 % less of a step.
static const double nodes_per_stiffness = 64.0;
// Sheets of fewer nodes are factored all the same: that takes as long however stiff they are.
enum { LEAST_NODES = 512 };
// Rounds after which they are given up, of a node as stiff as it is heavy and of any.
static const double most_rounds = 12.0;
enum { SOME_ROUNDS = 20 };
// A knot is factored: no more than one block in so many.
enum { KNOT_PART = 4 };
// Of its mass, what compression may take off a node.
static const double surely = 0.9;

// How many times its mass a node's diagonal is, on average.
static double stiffness(const cr_zone* zone, int32_t* nodes)
{
    const cr_block_matrix* m = &zone->matrix.sparse;
    double sum = 0.0;
    *nodes = 0;
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        if (block->node >= 0) {
            const double* d = m->lower.items + m->place.items[m->start.items[b]];
            sum += (d[0] + d[4] + d[8]) / (3.0 * zone->mass[block->first]);
            *nodes += 1;
        }
    }
    return sum / *nodes;
}

// Bodies, and nodes that a row joins to something.
static int32_t mark_knot(cr_zone* zone)
{
    int32_t count = 0;
    for (int32_t b = 0; b < zone->block_count; b++) {
        zone->in_knot.items[b] = zone->block.items[b].node < 0;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        for (int b = 0; b < line->block_count; b++) {
            zone->in_knot.items[line->block[b]] = 1;
        }
    }
    for (int32_t b = 0; b < zone->block_count; b++) {
        count += zone->in_knot.items[b];
    }
    return count;
}

// Sweeps do not tell whether a matrix is positive, as a factor does. Here it is beyond doubt:
// nothing curves the contacts, and what compression takes off is less than the mass has.
static int surely_positive(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    int32_t at = 0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        if (zone->line.items[i].row.lam > 0.0) {
            return 0;
        }
    }
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        const cr_cloth* sheet = &task->sheet[s];
        const cr_cloth_step step = cr_zone_sheet_step(task, i);
        double* loss = zone->sheet_scratch.items;
        memset(loss, 0, sizeof(double) * (size_t)sheet->node_count);
        cr_cloth_buckle(sheet, &task->material[s], &step, zone->sheet_x.items + 3 * (size_t)at,
                        task->h * task->h, loss);
        for (int32_t n = 0; n < sheet->node_count; n++) {
            const int32_t b = zone->node_block.items[at + n];
            if (b >= 0 && !(loss[n] <= surely * zone->mass[zone->block.items[b].first])) {
                return 0;
            }
        }
        at += sheet->node_count;
    }
    return 1;
}

int cr_zone_sweep_suits(cr_zone* zone, int32_t positive)
{
    int32_t nodes;
    if (!zone->matrix.woven || zone->matrix.dense ||
        !cr_array_reserve(&zone->in_knot, zone->block_count)) {
        return 0;
    }
    const double stiff = stiffness(zone, &nodes);
    if (nodes < LEAST_NODES || !(nodes >= nodes_per_stiffness * stiff) ||
        KNOT_PART * mark_knot(zone) > nodes || (positive && !surely_positive(zone))) {
        return 0;
    }
    zone->rounds = SOME_ROUNDS + (int32_t)(most_rounds * sqrt(cr_max(stiff, 0.0)));
    return 1;
}

carom_status cr_zone_sweep_make(cr_zone* zone, int32_t transposed)
{
    double* length = zone->scratch;
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        for (int32_t c = 0; c < block->size; c++) {
            const int turns = block->frame >= 0 && c < 3;
            length[block->first + c] = turns ? zone->task->bodies->extent[block->frame] : 1.0;
        }
    }
    return cr_block_sweep_build(&zone->sweep, &zone->matrix.sparse, zone->in_knot.items, length,
                                transposed);
}

carom_status cr_zone_sweep_solve(cr_zone* zone, double* x, double enough, double digits)
{
    return cr_block_sweep_solve(&zone->sweep, x, enough, digits, zone->rounds);
}
