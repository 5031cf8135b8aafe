// Large sheets in short steps without a factor: by sweeps over the rows of their matrix
// (math/block_sweep.h), whose work goes with the nodes.
#include "contact/newton_inside.h"
#include <string.h>

// A factor of a sheet of n nodes takes n^1.5 operations. Sweeps take n times their rounds, and
// those go with the square root of how many times its mass the diagonal of a node is: 9 for 15
// digits of a node that is as stiff as it is heavy. So sweeps are the cheaper way where there are
// this many nodes for each of these times.
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
static double stiffness(const cr_newton* newton, int32_t* nodes)
{
    const cr_block_matrix* m = &newton->matrix.sparse;
    double sum = 0.0;
    *nodes = 0;
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        if (block->node >= 0) {
            const double* d = m->lower.items + m->place.items[m->start.items[b]];
            sum += (d[0] + d[4] + d[8]) / (3.0 * newton->mass[block->first]);
            *nodes += 1;
        }
    }
    return sum / *nodes;
}

// Bodies, and nodes that a row joins to something.
static int32_t mark_knot(cr_newton* newton)
{
    int32_t count = 0;
    for (int32_t b = 0; b < newton->block_count; b++) {
        newton->in_knot.items[b] = newton->block.items[b].node < 0;
    }
    for (int32_t i = 0; i < newton->row.count; i++) {
        const cr_row* row = &newton->row.items[i].at;
        for (int b = 0; b < row->block_count; b++) {
            if (row->size[b] > 0) {
                newton->in_knot.items[row->block[b]] = 1;
            }
        }
    }
    for (int32_t b = 0; b < newton->block_count; b++) {
        count += newton->in_knot.items[b];
    }
    return count;
}

// Sweeps do not tell whether a matrix is positive, as a factor does. Here it is beyond doubt: what
// compression takes off is less than the mass has, and contacts add to it.
static int surely_positive(const cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    if (task->linear) {
        return 1;
    }
    int32_t nodes = 0;
    double* loss = newton->sheet_scratch.items;
    cr_newton_sheet_buckle(newton, loss, &nodes);
    for (int32_t n = 0; n < nodes; n++) {
        const int32_t b = newton->node_block.items[n];
        if (b >= 0 && !(loss[n] <= surely * newton->mass[newton->block.items[b].first])) {
            return 0;
        }
    }
    return 1;
}

static int suits(cr_newton* newton, int positive)
{
    int32_t nodes;
    if (!newton->matrix.woven || newton->matrix.dense ||
        !cr_array_reserve(&newton->in_knot, newton->block_count)) {
        return 0;
    }
    const double stiff = stiffness(newton, &nodes);
    if (nodes < LEAST_NODES || !(nodes >= nodes_per_stiffness * stiff) ||
        KNOT_PART * mark_knot(newton) > nodes || (positive && !surely_positive(newton))) {
        return 0;
    }
    newton->rounds = SOME_ROUNDS + (int32_t)(most_rounds * sqrt(cr_max(stiff, 0.0)));
    return 1;
}

static carom_status make(cr_newton* newton, int transposed)
{
    double* length = newton->d;
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        for (int32_t c = 0; c < block->size; c++) {
            length[block->first + c] = block->frame >= 0 && c < 3 ? block->extent : 1.0;
        }
    }
    return cr_block_sweep_build(&newton->sweep, &newton->matrix.sparse, newton->in_knot.items,
                                length, transposed);
}

static carom_status factor(cr_newton* newton)
{
    newton->report.factorisations++;
    return cr_zone_matrix_factor(&newton->matrix);
}

carom_status cr_newton_sweep_factor(cr_newton* newton, int positive, int transposed)
{
    newton->backward = transposed;
    newton->sweeping = suits(newton, positive) && cr_array_reserve(&newton->asked, newton->n) &&
                       make(newton, transposed) == CAROM_OK;
    return newton->sweeping ? CAROM_OK : factor(newton);
}

// Whatever does not come to its end is factored.
carom_status cr_newton_sweep_solve(cr_newton* newton, double* x, double enough, double digits)
{
    if (newton->sweeping) {
        const size_t size = sizeof(double) * (size_t)newton->n;
        memcpy(newton->asked.items, x, size);
        if (cr_block_sweep_solve(&newton->sweep, x, enough, digits, newton->rounds) == CAROM_OK) {
            return CAROM_OK;
        }
        memcpy(x, newton->asked.items, size);
        newton->sweeping = 0;
        const carom_status status = factor(newton);
        if (status != CAROM_OK) {
            return status;
        }
    }
    if (newton->backward) {
        cr_zone_matrix_solve_transposed(&newton->matrix, x);
    } else {
        cr_zone_matrix_solve(&newton->matrix, x);
    }
    return CAROM_OK;
}
