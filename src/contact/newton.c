#include "contact/newton_inside.h"
#include "core/memory.h"
#include <string.h>

// Below this residual, or where no more than this part of the free motion was taken of the last
// step, the linear model is good enough for the curvature of the gaps to help; far from the
// solution it makes more iterations of fewer.
static const double curved_below = 0.1, curved_step = 1e-2;
// Steps of sheets longer than this part of the free motion are taken with a symmetric matrix, whose
// factor tells whether it is positive; shorter ones with the exact one.
static const double exact_below = 0.03;
// Steps below this part lead to a solution where nothing but round-off would lead away from it,
// stable or not: a sheet that is folded alike on both sides stays so.
static const double unstable_below = 1e-6;
// And steps below this part with the curvature of the gaps, where the matrix stays positive with
// it.
static const double curved_sheet_below = 0.3;
// A step this much of the free motion shorter than the tolerance asks for ends a solve of sheets,
// whose stiff forces cancel to more than the residual can show.
static const double step_tolerance = 0.1;
// After exact steps that shrink by this the factor of the last one is good enough for the next: it
// makes an error smaller by about as much, and costs a sixteenth.
static const double keeps_factor = 0.1;
// So is that of any step that left only this of the residual: what is left is its round-off.
static const double settled = 1e-6;
// An exact step is shorter than those before it by this at least, or it leads nowhere. After some
// of them that do, steps have to be this much shorter for the next exact one.
static const double progress = 0.9, exact_again = 0.1;
// The last steps shrink ever faster, so one too short to matter can be foreseen. But a residual
// larger than this times the tolerance is no round-off of stiff forces, and takes that step.
static const double round_off = 10.0;
// A step this much shorter than the free motion is round-off, and so is one of a few times the
// round-off of places, where forces that balance hold everything.
static const double noise = 1e-13, grains = 8.0;
// Blending towards tension, when a factor is refused and after one that is not.
static const double first_tension = 0.25, least_tension = 0.05;
// So many steps of sheets that nothing touches are taken untested: where a sheet buckles the merit
// rises before it falls, and shorter steps only make more of them.
static const int32_t untested = 20;
// What sweeps leave of a Newton step is the work of the next one, or far below its round-off.
static const double digits_of_a_step = 1e-8, noise_of_a_step = 1e-15;
// How often a step that does not lead nearer is shortened, and how many exact ones in a row may
// lead nowhere: around a kink of friction two or three do.
enum { CUTS = 7, MOST_STALLS = 4 };

carom_status cr_newton_create(cr_newton** out)
{
    *out = cr_memory_take(1, sizeof **out);
    return *out ? CAROM_OK : CAROM_ERR_MEMORY;
}

void cr_newton_destroy(cr_newton* newton)
{
    if (!newton) {
        return;
    }
    cr_newton_dense_release(newton);
    cr_block_sweep_release(&newton->sweep);
    cr_array_release(&newton->in_knot);
    cr_array_release(&newton->asked);
    cr_array_release(&newton->block);
    cr_array_release(&newton->node_block);
    cr_array_release(&newton->point);
    cr_array_release(&newton->place);
    cr_array_release(&newton->pair);
    cr_array_release(&newton->hit);
    cr_array_release(&newton->visit);
    cr_array_release(&newton->border);
    cr_array_release(&newton->row);
    cr_array_release(&newton->base);
    cr_array_release(&newton->dual);
    cr_array_release(&newton->chain);
    cr_array_release(&newton->close);
    cr_array_release(&newton->free);
    cr_array_release(&newton->near);
    cr_array_release(&newton->picked);
    cr_array_release(&newton->exact_rows);
    cr_array_release(&newton->contact);
    cr_array_release(&newton->sizes);
    cr_array_release(&newton->pairs);
    cr_array_release(&newton->numbers);
    cr_array_release(&newton->sheet_x);
    cr_array_release(&newton->sheet_scratch);
    cr_array_release(&newton->stress);
    cr_array_release(&newton->stress_base);
    cr_array_release(&newton->model);
    cr_array_release(&newton->pull);
    cr_zone_matrix_release(&newton->matrix);
    cr_memory_free(newton);
}

int32_t cr_newton_contacts(const cr_newton* newton, const cr_newton_contact** contacts)
{
    *contacts = newton->contact.items;
    return newton->contact.count;
}

static int has_sheets(const cr_newton* newton)
{
    return newton->task->member_sheet_count > 0;
}

static carom_status factor(cr_newton* newton, int exact, int symmetric)
{
    const carom_status status = cr_newton_system_assemble(newton, exact, symmetric);
    return status == CAROM_OK ? cr_newton_sweep_factor(newton, symmetric, 0) : status;
}

// The length of the step d in the norm of the masses. kg^1/2 m
static double length_of_step(const cr_newton* newton)
{
    double sum = 0.0;
    for (int32_t i = 0; i < newton->n; i++) {
        sum += newton->mass[i] * newton->d[i] * newton->d[i];
    }
    return sqrt(sum);
}

// d = -J^-1 grad by the factor at hand.
static carom_status solve_again(cr_newton* newton)
{
    for (int32_t i = 0; i < newton->n; i++) {
        newton->d[i] = -newton->grad[i];
    }
    const carom_status status =
        cr_newton_sweep_solve(newton, newton->d, noise_of_a_step * newton->scale, digits_of_a_step);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        if (block->lock) {
            cr_newton_setup_lock(block, newton->d + block->first);
        }
    }
    return length_of_step(newton) < HUGE_VAL ? CAROM_OK : CAROM_ERR_NOT_POSITIVE;
}

// d = -J^-1 grad; CAROM_ERR_NOT_POSITIVE: not with this matrix.
static carom_status try_solve(cr_newton* newton, int exact, int symmetric)
{
    const carom_status status = factor(newton, exact, symmetric);
    return status == CAROM_OK ? solve_again(newton) : status;
}

// Whether the last step was taken as it was asked for.
static int is_whole(const cr_newton* newton)
{
    return newton->least_share >= 1.0 && newton->cuts == 0 && newton->along == 1.0;
}

// Bodies alone: the exact matrix near the solution, then without curvature, then a positive one.
static carom_status solve_bodies(cr_newton* newton, double residual)
{
    carom_status status = CAROM_ERR_NOT_POSITIVE;
    const double went = newton->least_share * newton->size;
    if (residual < curved_below || went < curved_step * newton->scale) {
        status = try_solve(newton, 1, 0);
    }
    if (status == CAROM_ERR_NOT_POSITIVE) {
        status = try_solve(newton, 0, 0);
    }
    return status == CAROM_ERR_NOT_POSITIVE ? try_solve(newton, 0, 1) : status;
}

// With sheets, by a symmetric matrix: positive by blending compression out where it has to be. What
// was enough last time is halved where it was at once, and kept where its step had to be cut.
static carom_status solve_positive(cr_newton* newton, double size)
{
    const int cheap = newton->task->budget > 0;
    // sweeps do not tell whether a matrix is positive that contacts may bend
    int curved =
        newton->row.count > 0 && size < curved_sheet_below * newton->scale && !newton->sweeping;
    int refused = 0;
    newton->tension = cheap ? 1.0 : newton->tension;
    if (newton->cuts > 0) { // too little was left out for the direction to be worth its length
        newton->tension = cr_max(first_tension, cr_min(1.0, 2.0 * newton->tension));
    }
    for (;;) {
        const carom_status status = try_solve(newton, curved, 1);
        newton->definite = status == CAROM_OK && newton->tension == 0.0;
        if (status == CAROM_OK && !refused) {
            newton->tension = newton->tension * 0.5 < least_tension ? 0.0 : newton->tension * 0.5;
        }
        if (status != CAROM_ERR_NOT_POSITIVE) {
            return status;
        }
        if (!curved) {
            if (newton->tension >= 1.0 || newton->task->linear) {
                return status;
            }
            newton->tension = cr_max(first_tension, cr_min(1.0, 2.0 * newton->tension));
            refused = 1;
        }
        curved = 0;
    }
}

// Exact steps that do not become shorter lead nowhere: the matrix is nearly singular, or the
// solution is at a kink of friction. Positive ones go on then, until they are much shorter.
static void judge_length(cr_newton* newton)
{
    const double length = length_of_step(newton);
    if (length <= progress * newton->shortest) {
        newton->shortest = length;
        newton->stalls = 0;
    } else if (++newton->stalls > MOST_STALLS) {
        newton->exact_below = exact_again * newton->size;
        newton->shortest = HUGE_VAL;
        newton->stalls = 0;
    }
}

// With sheets: positive as long as steps are long, or the matrix would not be positive without
// compression blended out; else the exact one.
static carom_status solve_sheets(cr_newton* newton, double size, double residual)
{
    const int settles = residual <= settled * newton->before;
    newton->before = residual;
    const int near = size < newton->exact_below && newton->cuts == 0;
    const int shrinks = newton->exact && near && size <= keeps_factor * newton->size_before;
    if ((shrinks || settles) && is_whole(newton)) {
        return solve_again(newton);
    }
    // with a budget all compression is left out, and nothing is known of the whole
    const int definite = newton->definite || size < unstable_below * newton->scale;
    newton->exact = near && (definite || newton->task->budget > 0);
    if (newton->exact) {
        newton->tension = 0.0;
        const int symmetric = newton->row.count == 0; // friction is what is not
        const carom_status status = try_solve(newton, 1, symmetric);
        newton->exact = status == CAROM_OK;
        if (status == CAROM_OK) {
            judge_length(newton);
        }
        if (status != CAROM_ERR_NOT_POSITIVE) {
            return status;
        }
    }
    return solve_positive(newton, size);
}

// The longest way that the step d asks of anything. m
static double size_of_step(const cr_newton* newton)
{
    double most = 0.0;
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        const double* d = newton->d + block->first;
        double way = cr_vec3_norm(cr_vec3_load(d + block->size - 3));
        way += block->frame >= 0 ? block->extent * cr_vec3_norm(cr_vec3_load(d)) : 0.0;
        most = cr_max(most, way);
    }
    return most;
}

// What a step of sheets has to lower: inertia, elasticity and contact.
static double merit(const cr_newton* newton)
{
    double sum = 0.0;
    for (int32_t i = 0; i < newton->n; i++) {
        const double w = newton->z[i] - newton->target[i];
        sum += 0.5 * newton->mass[i] * w * w;
    }
    return sum + cr_newton_sheet_energy(newton) + cr_newton_rows_energy(newton);
}

// Takes the shortened step d from the rows in `base`.
static carom_status take(cr_newton* newton)
{
    carom_status status = cr_newton_rows_predict(newton);
    if (status == CAROM_OK) {
        cr_newton_bound_move(newton);
        cr_newton_setup_place(newton);
        status = cr_newton_rows_collect(newton);
    }
    return status;
}

static int is_free(const cr_newton* newton)
{
    return newton->row.count == 0 && newton->base.count == 0 &&
           newton->report.iterations <= untested;
}

// Back to where the step under way starts, with what the bound knows of the pairs there.
static carom_status go_back(cr_newton* newton)
{
    cr_newton_bound_return(newton);
    cr_newton_setup_place(newton);
    return cr_newton_rows_collect(newton);
}

// Newton's own direction, along which a goal falls, is that of one share for all blocks; half of
// it is part of a way that was looked at.
static carom_status shorten(cr_newton* newton, double least, double* part)
{
    if (least < 1.0 && *part == 1.0) {
        const carom_status status = go_back(newton);
        *part = least;
        if (status == CAROM_OK) {
            cr_newton_bound_alike(newton, least);
        }
        return status;
    }
    cr_newton_bound_return(newton);
    cr_newton_setup_place(newton);
    cr_newton_bound_halve(newton);
    *part *= 0.5;
    return CAROM_OK;
}

// A step by a positive matrix has to lower the merit, friction held at what it was.
static carom_status descend(cr_newton* newton, double least)
{
    const double before = merit(newton) + cr_newton_rows_friction(newton, &newton->row, 0.0);
    double part = 1.0;
    cr_newton_rows_keep_base(newton);
    cr_newton_sheet_stress_keep(newton);
    for (newton->cuts = 0;; newton->cuts++) {
        const double friction = cr_newton_rows_friction(newton, &newton->base, 1.0);
        cr_newton_sheet_stress_follow(newton, part);
        carom_status status = take(newton);
        if (status != CAROM_OK || newton->cuts == CUTS || is_free(newton) ||
            merit(newton) + friction <= before) {
            return status;
        }
        status = shorten(newton, least, &part);
        if (status != CAROM_OK) {
            return status;
        }
    }
}

// Friction has no potential, and of the forces the stiffest are the largest, so that nothing can
// judge an exact step but the next one. Where they do not become shorter they go to and fro across
// a kink, and half of one ends between its sides.
static carom_status follow(cr_newton* newton)
{
    const int halved = newton->exact && newton->stalls > 0;
    newton->cuts = 0;
    cr_newton_rows_keep_base(newton);
    cr_newton_sheet_stress_keep(newton);
    if (halved) {
        cr_newton_bound_halve(newton);
        newton->least_share *= 0.5;
    }
    cr_newton_sheet_stress_follow(newton, halved ? 0.5 : 1.0);
    return take(newton);
}

// Where the step under way starts from.
static void keep_place(cr_newton* newton)
{
    for (int32_t i = 0; i < newton->n; i++) {
        newton->z_before[i] = newton->z[i];
    }
}

static carom_status advance(cr_newton* newton)
{
    double least = 1.0;
    keep_place(newton);
    newton->along_before = newton->along;
    const carom_status status = cr_newton_bound(newton, &least);
    if (status != CAROM_OK) {
        return status;
    }
    newton->least_share = least;
    if (has_sheets(newton) && newton->along_before == 1.0) {
        return newton->exact ? follow(newton) : descend(newton, least);
    }
    return follow(newton);
}

static carom_status begin(cr_newton* newton, const cr_newton_task* task)
{
    newton->task = task;
    newton->report = (cr_newton_report){.least_gap = HUGE_VAL, .residual = HUGE_VAL};
    newton->first_collect = 1;
    newton->own_stress = !task->linear;
    newton->flat = newton->sweeping = 0;
    newton->exact = newton->cuts = newton->definite = 0;
    newton->size = newton->size_before = newton->shortest = HUGE_VAL;
    newton->before = 0.0;
    newton->stalls = 0;
    newton->least_share = 1.0;
    newton->tension = 0.0;
    newton->row.count = newton->base.count = newton->dual.count = 0;
    carom_status status = cr_newton_setup(newton);
    if (status != CAROM_OK) {
        return status;
    }
    newton->report.scalar_count = newton->n;
    newton->exact_below = exact_below * newton->scale;
    cr_newton_setup_place(newton);
    if (has_sheets(newton)) {
        cr_newton_sheet_stress_begin(newton);
    }
    // where everything would be without forces: a sliding body has slid, a resting one rests
    keep_place(newton);
    newton->along_before = 0.0;
    double least;
    status = cr_newton_bound(newton, &least);
    cr_newton_rows_keep_base(newton);
    return status == CAROM_OK ? take(newton) : status;
}

static void finish(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        const double* z = newton->z + block->first;
        if (block->frame >= 0) {
            task->motion->w[block->frame] = cr_vec3_load(z);
            task->motion->u[block->frame] = cr_vec3_load(z + 3);
        } else {
            task->motion->d[block->node] = cr_vec3_load(z);
        }
    }
    newton->report.least_gap = cr_newton_bound_gap(newton);
    newton->report.grazes = cr_newton_bound_grazes(newton);
    for (int32_t i = 0; i < newton->row.count; i++) {
        newton->report.row_count += newton->row.items[i].lam > 0.0;
    }
}

static int is_round_off(const cr_newton* newton, double size)
{
    return size <= noise * newton->scale + grains * newton->grain;
}

// No iterate intersects anything, so that one at which everything given has moved all its way can
// be taken, solved or not.
static int is_spent(const cr_newton* newton, double residual)
{
    const int32_t budget = newton->task->budget;
    return budget > 0 && newton->report.iterations >= budget && newton->along == 1.0 &&
           residual < HUGE_VAL;
}

// The next step after one of this size: exact ones shrink ever faster, and where nothing touches
// linear sheets one is all there is.
static double next_size(const cr_newton* newton, double residual, double size)
{
    if (residual > round_off * newton->task->tolerance) {
        return size;
    }
    if (newton->task->linear && newton->row.count == 0 && newton->base.count == 0) {
        return size < HUGE_VAL ? 0.0 : size;
    }
    const int shrinks = newton->exact && size < newton->size_before;
    return shrinks && newton->size_before < HUGE_VAL ? size * (size / newton->size_before) : size;
}

// Solved when the forces balance, or when the last step was Newton's own and the next one would be
// too short to matter.
static int is_solved(const cr_newton* newton, double residual, double size)
{
    const double tolerance = newton->task->tolerance;
    const double least = step_tolerance * tolerance * newton->scale;
    const int exact =
        residual <= tolerance || (is_whole(newton) && next_size(newton, residual, size) <= least);
    return newton->along == 1.0 && (exact || is_round_off(newton, size));
}

carom_status cr_newton_solve(cr_newton* newton, const cr_newton_task* task,
                             cr_newton_report* report)
{
    carom_status status = begin(newton, task);
    double size = HUGE_VAL;
    while (status == CAROM_OK) {
        const double residual = cr_newton_system_gradient(newton);
        newton->report.residual = is_round_off(newton, size) ? 0.0 : residual;
        const int solved = is_solved(newton, residual, size);
        if (solved || is_spent(newton, residual)) {
            newton->report.unfinished = !solved;
            finish(newton);
            status = cr_newton_rows_keep(newton);
            break;
        }
        if (!(residual < HUGE_VAL) || newton->report.iterations >= task->max_iterations) {
            status = CAROM_ERR_NO_CONVERGENCE;
            break;
        }
        if (task->stop && *task->stop) {
            status = CAROM_ERR_INTERRUPTED;
            break;
        }
        newton->report.iterations++;
        status = has_sheets(newton) ? solve_sheets(newton, size, residual)
                                    : solve_bodies(newton, residual);
        newton->size_before = newton->size;
        size = newton->size = size_of_step(newton);
        if (status == CAROM_OK) {
            status = advance(newton);
        }
        status = status == CAROM_ERR_NOT_POSITIVE ? CAROM_ERR_NO_CONVERGENCE : status;
    }
    *report = newton->report;
    return status;
}
