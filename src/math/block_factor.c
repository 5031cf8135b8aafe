#include "math/block_factor.h"
#include "core/arena.h"
#include "core/assert.h"
#include "core/parallel.h"
#include "math/block_kernel.h"
#include "math/block_schedule.h"
#include "math/scalar.h"
#include <stdatomic.h>
#include <string.h>

// A pivot this far below its diagonal entry in the matrix is round-off, not stiffness. The pivots
// of an LU, compared with the largest entry of their column, carry the round-off of small ones
// before.
static const double pivot_floor = 1e-14;
static const double lu_pivot_floor = 1e-13;

// Columns of an update that are computed and then spread at one go: they stay in the first cache.
static const int32_t strip = 12;

// Fewer flops, some 80 us, are not worth waking other threads.
static const double least_flops = 5e5;

// More find too little to do.
enum { MOST_WORKERS = 32 };

// Of a supernode, and of a whole matrix: in a mixed one each supernode has a kind of its own.
typedef enum factor_kind { FACTOR_NONE, FACTOR_CHOLESKY, FACTOR_LU, FACTOR_MIXED } factor_kind;

// What eliminating one supernode after the other needs; each worker has its own.
typedef struct scratch {
    int32_t* place;    // [block_count] row in the panel (or column in the square) being made
    cr_block_run* run; // [block_count]
    double* product;   // [strip * (tallest + 8)]
} scratch;

struct cr_block_factor {
    const cr_block_kernel* kernel;
    factor_kind kind;
    int32_t analysed;
    cr_block_order order;
    cr_block_schedule schedule;
    cr_arena arena;

    // the pattern it was made for
    int32_t block_count, entry_count;
    CR_ARRAY(int32_t) size;
    CR_ARRAY(int32_t) start;
    CR_ARRAY(int32_t) row;

    // A = L U: squares hold L and U (of Cholesky: L alone), lower the panels of L, upper those of
    // U^T. inverse is one over the diagonal, by scalar in the order of elimination.
    CR_ARRAY(double) square;
    CR_ARRAY(double) lower;
    CR_ARRAY(double) upper;
    CR_ARRAY(double) inverse;
    CR_ARRAY(int32_t) pivot;
    CR_ARRAY(uint8_t) own; // [super_count] a factor_kind: how each supernode is eliminated

    int32_t workers;         // threads that a factorisation may use, 0 counts as 1
    CR_ARRAY(int32_t) place; // of each worker, see scratch
    CR_ARRAY(cr_block_run) run;
    CR_ARRAY(double) product;
    CR_ARRAY(double) x;    // [scalar_count][8] right-hand sides in the order of elimination
    CR_ARRAY(double) tail; // [tallest][8] the part of them a panel touches
};

carom_status cr_block_factor_create(cr_block_factor** out)
{
    *out = cr_memory_take(1, sizeof **out);
    if (!*out) {
        return CAROM_ERR_MEMORY;
    }
    (*out)->kernel = cr_block_kernel_best();
    return CAROM_OK;
}

void cr_block_factor_destroy(cr_block_factor* f)
{
    if (!f) {
        return;
    }
    cr_block_order_release(&f->order);
    cr_block_schedule_release(&f->schedule);
    cr_arena_release(&f->arena);
    cr_array_release(&f->size);
    cr_array_release(&f->start);
    cr_array_release(&f->row);
    cr_array_release(&f->square);
    cr_array_release(&f->lower);
    cr_array_release(&f->upper);
    cr_array_release(&f->inverse);
    cr_array_release(&f->pivot);
    cr_array_release(&f->own);
    cr_array_release(&f->place);
    cr_array_release(&f->run);
    cr_array_release(&f->product);
    cr_array_release(&f->x);
    cr_array_release(&f->tail);
    cr_memory_free(f);
}

static int same(const int32_t* a, const int32_t* b, int32_t count)
{
    return count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static int same_pattern(const cr_block_factor* f, const cr_block_matrix* m)
{
    return f->analysed && f->block_count == m->block_count && f->entry_count == m->entry_count &&
           same(f->size.items, m->size.items, m->block_count) &&
           same(f->start.items, m->start.items, m->block_count + 1) &&
           same(f->row.items, m->row.items, m->entry_count);
}

static int keep_pattern(cr_block_factor* f, const cr_block_matrix* m)
{
    if (!cr_array_reserve(&f->size, m->block_count) ||
        !cr_array_reserve(&f->start, m->block_count + 1) ||
        !cr_array_reserve(&f->row, m->entry_count)) {
        return 0;
    }
    f->block_count = m->block_count;
    f->entry_count = m->entry_count;
    if (m->block_count > 0) {
        memcpy(f->size.items, m->size.items, (size_t)m->block_count * sizeof(int32_t));
        memcpy(f->start.items, m->start.items, (size_t)(m->block_count + 1) * sizeof(int32_t));
        memcpy(f->row.items, m->row.items, (size_t)m->entry_count * sizeof(int32_t));
    }
    return 1;
}

static int reserve_work(cr_block_factor* f)
{
    const cr_block_order* o = &f->order;
    return cr_array_reserve(&f->square, o->square_count) &&
           cr_array_reserve(&f->lower, o->panel_count) &&
           cr_array_reserve(&f->inverse, o->scalar_count) &&
           cr_array_reserve(&f->pivot, o->scalar_count) &&
           cr_array_reserve(&f->own, o->super_count) &&
           cr_array_reserve(&f->x, 8 * o->scalar_count) &&
           cr_array_reserve(&f->tail, 8 * o->tallest);
}

static int32_t worker_count(const cr_block_factor* f)
{
    return f->workers > 1 && f->order.flops > least_flops ? f->workers : 1;
}

static int reserve_scratch(cr_block_factor* f)
{
    const int32_t workers = worker_count(f);
    return cr_array_reserve(&f->place, workers * f->order.block_count) &&
           cr_array_reserve(&f->run, workers * f->order.block_count) &&
           cr_array_reserve(&f->product, workers * strip * (f->order.tallest + 8));
}

static scratch scratch_of(const cr_block_factor* f, int32_t worker)
{
    const ptrdiff_t blocks = (ptrdiff_t)worker * f->order.block_count;
    return (scratch){f->place.items + blocks, f->run.items + blocks,
                     f->product.items + (ptrdiff_t)worker * strip * (f->order.tallest + 8)};
}

void cr_block_factor_share(cr_block_factor* f, int32_t workers)
{
    f->workers = workers < MOST_WORKERS ? workers : MOST_WORKERS;
}

carom_status cr_block_factor_analyse(cr_block_factor* f, const cr_block_matrix* m)
{
    if (same_pattern(f, m)) {
        return reserve_scratch(f) ? CAROM_OK : CAROM_ERR_MEMORY;
    }
    f->analysed = 0;
    f->kind = FACTOR_NONE;
    carom_status status = cr_block_order_build(&f->order, m, &f->arena);
    if (status == CAROM_OK) {
        status = cr_arena_settle(&f->arena);
    }
    if (status == CAROM_OK) {
        status = cr_block_schedule_build(&f->schedule, &f->order);
    }
    if (status != CAROM_OK || !reserve_work(f) || !reserve_scratch(f) || !keep_pattern(f, m)) {
        return CAROM_ERR_MEMORY;
    }
    f->analysed = 1;
    return CAROM_OK;
}

// to (column-major) := block of `rows` x `columns` numbers, row-major, or its transpose
static inline void copy_sized(int32_t rows, int32_t columns, int32_t transposed, const double* from,
                              double* to, ptrdiff_t step)
{
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < columns; c++) {
            to[transposed ? r * step + c : c * step + r] = from[r * columns + c];
        }
    }
}

// The blocks of bodies and nodes by loops of known length.
static void copy_block(int32_t rows, int32_t columns, int32_t transposed, const double* from,
                       double* to, ptrdiff_t step)
{
    if (rows == 6 && columns == 6) {
        transposed ? copy_sized(6, 6, 1, from, to, step) : copy_sized(6, 6, 0, from, to, step);
    } else if (rows == 3 && columns == 3) {
        transposed ? copy_sized(3, 3, 1, from, to, step) : copy_sized(3, 3, 0, from, to, step);
    } else {
        copy_sized(rows, columns, transposed, from, to, step);
    }
}

static void clear(double* values, int64_t count)
{
    if (count > 0) {
        memset(values, 0, (size_t)count * sizeof *values);
    }
}

// The columns of the matrix that belong to supernode s. With `upper`, the rows as well.
static void assemble(cr_block_factor* f, const cr_block_matrix* m, int32_t s, int32_t with_upper)
{
    const cr_block_super* super = &f->order.super.items[s];
    clear(f->square.items + super->square_place, (int64_t)super->square_step * super->width);
    clear(f->lower.items + super->panel_place, (int64_t)super->panel_step * super->width);
    if (with_upper) {
        clear(f->upper.items + super->panel_place, (int64_t)super->panel_step * super->width);
    }
    for (int32_t e = super[0].entry_start; e < super[1].entry_start; e++) {
        const cr_block_source* source = &f->order.source.items[e];
        const double* given = m->lower.items + m->place.items[source->entry]; // block (i,j)
        double* below = (source->in_square ? f->square.items : f->lower.items) + source->place;
        if (!with_upper) {
            copy_block(source->rows, source->columns, source->turned, given, below, source->step);
            continue;
        }
        if (source->place == source->mirror && source->in_square) {
            copy_block(source->rows, source->columns, 0, given, below, source->step);
            continue;
        }
        // block (j,i), columns x rows; of a symmetric matrix it is the other one's transpose
        const int32_t symmetric = m->symmetric;
        const double* other = symmetric ? given : m->upper.items + m->place.items[source->entry];
        const int32_t other_rows = symmetric ? source->rows : source->columns;
        const int32_t other_columns = symmetric ? source->columns : source->rows;
        double* above =
            source->in_square ? f->square.items + source->mirror : f->upper.items + source->place;
        // the panel of U is kept transposed, the square is not
        const int32_t flip = !source->in_square;
        if (source->turned) {
            copy_block(other_rows, other_columns, symmetric, other, below, source->step);
            copy_block(source->rows, source->columns, flip, given, above, source->step);
        } else {
            copy_block(source->rows, source->columns, 0, given, below, source->step);
            copy_block(other_rows, other_columns, symmetric != flip, other, above, source->step);
        }
    }
}

// The largest magnitude of n numbers, by eight that do not wait for each other.
static double largest(int32_t n, const double* x)
{
    double most[8] = {0};
    int32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int c = 0; c < 8; c++) {
            most[c] = cr_max(most[c], fabs(x[i + c]));
        }
    }
    for (; i < n; i++) {
        most[0] = cr_max(most[0], fabs(x[i]));
    }
    for (int c = 1; c < 8; c++) {
        most[0] = cr_max(most[0], most[c]);
    }
    return most[0];
}

// The least pivots that are taken for more than round-off.
static void least_pivots(cr_block_factor* f, const cr_block_super* super, factor_kind kind)
{
    const double* square = f->square.items + super->square_place;
    double* least = f->inverse.items + super->scalar;
    for (int32_t j = 0; j < super->width; j++) {
        const double* column = square + (ptrdiff_t)j * super->square_step;
        least[j] = kind == FACTOR_LU ? lu_pivot_floor * largest(super->width, column)
                                     : pivot_floor * fabs(column[j]);
    }
}

// Rows `first` to `last` of a panel, as runs in what `place` speaks of; counted from `origin`.
static int32_t find_runs(const cr_block_order* o, const int32_t* place, int32_t first, int32_t last,
                         int32_t origin, cr_block_run* run)
{
    int32_t count = 0;
    for (int32_t p = first; p < last; p++) {
        const int32_t i = o->row.items[p];
        const int32_t from = o->row_place.items[p] - origin;
        const int32_t to = place[i];
        const int32_t size = o->size.items[i];
        if (count > 0 && run[count - 1].to + run[count - 1].count == to) {
            run[count - 1].count += size;
        } else {
            run[count++] = (cr_block_run){from, to, size};
        }
    }
    return count;
}

// Supernode `from` has rows that are columns of supernode `to`.
typedef struct meeting {
    const cr_block_super *from, *to;
    int32_t top;            // the first such row of its panel
    int32_t width;          // how many, in scalars
    int32_t height;         // rows from there on
    int32_t inside, behind; // runs of the rows that are columns of `to`, and of those behind them
    int32_t product_step;
} meeting;

// Takes columns c .. past-1 of the product, as far as they are rows of run_count runs, off the
// columns of B that they stand for. With `diagonal`, B is the square of a symmetric matrix: then
// only the rows from the diagonal on are of interest, and only those are in the product.
static void spread(const cr_block_factor* f, const scratch* own, const meeting* w, int32_t c,
                   int32_t past, int32_t diagonal, int32_t run_count, const cr_block_run* rows,
                   double* b, int32_t b_step)
{
    const cr_block_run* run = own->run;
    for (int32_t q = 0; q < w->inside; q++) {
        const int32_t end = run[q].from + run[q].count;
        const int32_t left = run[q].from > c ? run[q].from : c;
        const int32_t right = end < past ? end : past;
        if (left >= right) {
            continue;
        }
        const int32_t column = run[q].to + left - run[q].from;
        const double* a = own->product + (ptrdiff_t)(left - c) * w->product_step;
        double* to = b + (ptrdiff_t)column * b_step;
        if (diagonal) {
            const cr_block_run first = {left, column, end - left};
            f->kernel->spread(1, &first, right - left, a, w->product_step, to, b_step);
            f->kernel->spread(w->inside - q - 1, run + q + 1, right - left, a, w->product_step, to,
                              b_step);
        } else {
            f->kernel->spread(run_count, rows, right - left, a, w->product_step, to, b_step);
        }
    }
}

// Takes from `to` what `from` contributes. In letters, with R the rows that are columns of `to` and
// Q those behind them: square(R,R) -= L_R U_R and panel(Q,R) -= L_Q U_R; of an LU also
// U^T(Q,R) -= U^T_Q L_R^T. Where `from` is symmetric U is L^T: one product for both panels.
static void update(cr_block_factor* f, const scratch* own, const meeting* w, factor_kind from_kind,
                   factor_kind to_kind)
{
    const int lu = to_kind == FACTOR_LU, two = from_kind == FACTOR_LU;
    const cr_block_super *from = w->from, *to = w->to;
    const cr_block_run* inside = own->run;
    const cr_block_run* behind = inside + w->inside;
    const double* lower = f->lower.items + from->panel_place + w->top;
    const double* upper = two ? f->upper.items + from->panel_place + w->top : lower;
    double* product = own->product;
    for (int32_t c = 0; c < w->width; c += strip) {
        const int32_t past = c + strip < w->width ? c + strip : w->width;
        const int32_t skip = lu ? 0 : c;
        f->kernel->product(w->height - skip, past - c, from->width, lower + skip, from->panel_step,
                           upper + c, from->panel_step, product + skip, w->product_step);
        spread(f, own, w, c, past, !lu, w->inside, inside, f->square.items + to->square_place,
               to->square_step);
        spread(f, own, w, c, past, 0, w->behind, behind, f->lower.items + to->panel_place,
               to->panel_step);
        if (lu && w->behind > 0) {
            if (two) {
                f->kernel->product(w->height - w->width, past - c, from->width, upper + w->width,
                                   from->panel_step, lower + c, from->panel_step,
                                   product + w->width, w->product_step);
            }
            spread(f, own, w, c, past, 0, w->behind, behind, f->upper.items + to->panel_place,
                   to->panel_step);
        }
    }
}

static void note_places(const cr_block_order* o, int32_t s, int32_t* place)
{
    const cr_block_super* super = &o->super.items[s];
    for (int32_t k = super[0].first; k < super[1].first; k++) {
        place[k] = o->first.items[k] - super->scalar;
    }
    for (int32_t p = super[0].row_start; p < super[1].row_start; p++) {
        place[o->row.items[p]] = o->row_place.items[p];
    }
}

// Rows p1 up to p2 of supernode d are columns of supernode s.
static meeting meet(const cr_block_order* o, const scratch* own, int32_t s, int32_t d, int32_t p1,
                    int32_t p2)
{
    meeting w = {.from = &o->super.items[d], .to = &o->super.items[s]};
    const int32_t end = w.from[1].row_start;
    w.top = o->row_place.items[p1];
    w.width = (p2 < end ? o->row_place.items[p2] : w.from->height) - w.top;
    w.height = w.from->height - w.top;
    w.product_step = (w.height + 7) / 8 * 8;
    w.inside = find_runs(o, own->place, p1, p2, w.top, own->run);
    w.behind = find_runs(o, own->place, p2, end, w.top, own->run + w.inside);
    return w;
}

static void apply_updates(cr_block_factor* f, const scratch* own, int32_t s)
{
    const cr_block_schedule* plan = &f->schedule;
    for (int32_t k = plan->update_start.items[s]; k < plan->update_start.items[s + 1]; k++) {
        const cr_block_update* of = &plan->update.items[k];
        const meeting w = meet(&f->order, own, s, of->from, of->row, of->past);
        update(f, own, &w, (factor_kind)f->own.items[of->from], (factor_kind)f->own.items[s]);
    }
}

static int finish_cholesky(cr_block_factor* f, const cr_block_super* super)
{
    double* square = f->square.items + super->square_place;
    double* inverse = f->inverse.items + super->scalar;
    if (!f->kernel->cholesky(super->width, square, super->square_step, inverse)) {
        return 0;
    }
    f->kernel->solve_right(super->height, super->width, f->lower.items + super->panel_place,
                           super->panel_step, square, 1, super->square_step, inverse, 1);
    return 1;
}

// P A = L U in the square; then below it L := A U^-1, and beside it U := L^-1 P A.
static int finish_lu(cr_block_factor* f, const cr_block_super* super)
{
    double* square = f->square.items + super->square_place;
    double* inverse = f->inverse.items + super->scalar;
    double* upper = f->upper.items + super->panel_place;
    int32_t* pivot = f->pivot.items + super->scalar;
    const int32_t step = super->panel_step;
    if (!f->kernel->lu(super->width, square, super->square_step, inverse, pivot)) {
        return 0;
    }
    f->kernel->solve_right(super->height, super->width, f->lower.items + super->panel_place, step,
                           square, super->square_step, 1, inverse, 1);
    for (int32_t j = 0; j < super->width; j++) {
        double* a = upper + (ptrdiff_t)j * step;
        double* b = upper + (ptrdiff_t)pivot[j] * step;
        for (int32_t i = 0; a != b && i < super->height; i++) {
            const double here = a[i];
            a[i] = b[i];
            b[i] = here;
        }
    }
    f->kernel->solve_right(super->height, super->width, upper, step, square, 1, super->square_step,
                           NULL, 0);
    return 1;
}

// Whether entry e, of size i x j, is its mirror image's transpose; on the diagonal its own.
static int is_even(const cr_block_matrix* m, int32_t e, int32_t ni, int32_t nj, int diagonal)
{
    const double* lower = m->lower.items + m->place.items[e];
    const double* upper = diagonal ? lower : m->upper.items + m->place.items[e];
    for (int32_t r = 0; r < ni; r++) {
        for (int32_t c = 0; c < nj; c++) {
            if (lower[r * nj + c] != upper[c * ni + r]) {
                return 0;
            }
        }
    }
    return 1;
}

// In a mixed matrix a supernode is symmetric if its own entries are and if all that is eliminated
// into it is: that is passed on from each to the one its first row belongs to, for whatever else
// it is eliminated into comes after that one.
static void choose_kinds(cr_block_factor* f, const cr_block_matrix* m, factor_kind kind)
{
    const cr_block_order* o = &f->order;
    uint8_t* own = f->own.items;
    for (int32_t s = 0; s < o->super_count; s++) {
        own[s] = (uint8_t)(kind == FACTOR_MIXED ? FACTOR_CHOLESKY : kind);
    }
    for (int32_t s = 0; s < o->super_count && kind == FACTOR_MIXED; s++) {
        const cr_block_super* super = &o->super.items[s];
        for (int32_t e = super[0].entry_start;
             own[s] == FACTOR_CHOLESKY && e < super[1].entry_start; e++) {
            const cr_block_source* source = &o->source.items[e];
            const int diagonal = source->in_square && source->place == source->mirror;
            if (!is_even(m, source->entry, source->rows, source->columns, diagonal)) {
                own[s] = FACTOR_LU;
            }
        }
        if (own[s] == FACTOR_LU && super[0].row_start < super[1].row_start) {
            own[o->super_of.items[o->row.items[super->row_start]]] = FACTOR_LU;
        }
    }
}

// Gathers what the finished supernodes contribute, then finishes this one. 0: it is not positive.
static int eliminate(cr_block_factor* f, const cr_block_matrix* m, const scratch* own, int32_t s)
{
    const cr_block_super* super = &f->order.super.items[s];
    const factor_kind kind = (factor_kind)f->own.items[s];
    assemble(f, m, s, kind == FACTOR_LU);
    least_pivots(f, super, kind);
    note_places(&f->order, s, own->place);
    apply_updates(f, own, s);
    return kind == FACTOR_LU ? finish_lu(f, super) : finish_cholesky(f, super);
}

// The jobs of one group.
typedef struct sharing {
    cr_block_factor* f;
    const cr_block_matrix* m;
    int32_t first;      // job
    _Atomic int failed; // a supernode is not positive
} sharing;

static void run_job(int32_t job, int32_t worker, void* user)
{
    sharing* of = user;
    const cr_block_schedule* plan = &of->f->schedule;
    const cr_block_job* range = &plan->job.items[of->first + job];
    const scratch own = scratch_of(of->f, worker);
    for (int32_t k = range->first; k < range->past && !of->failed; k++) {
        if (!eliminate(of->f, of->m, &own, plan->order.items[k])) {
            of->failed = 1;
        }
    }
}

// Group by group. Each supernode is updated in an order of its own, whoever does it and when.
static carom_status factor(cr_block_factor* f, const cr_block_matrix* m, factor_kind kind)
{
    CR_ASSERT(same_pattern(f, m));
    f->kind = FACTOR_NONE;
    const cr_block_schedule* plan = &f->schedule;
    sharing of = {.f = f, .m = m};
    choose_kinds(f, m, kind);
    for (int32_t g = 0; g < plan->group_count && !of.failed; g++) {
        const int share = plan->spare.items[g] > least_flops;
        of.first = plan->group.items[g];
        cr_parallel_for(plan->group.items[g + 1] - of.first, share ? worker_count(f) : 1, run_job,
                        &of);
    }
    if (of.failed) {
        return CAROM_ERR_NOT_POSITIVE;
    }
    f->kind = kind;
    return CAROM_OK;
}

carom_status cr_block_factor_cholesky(cr_block_factor* f, const cr_block_matrix* m)
{
    return factor(f, m, FACTOR_CHOLESKY);
}

carom_status cr_block_factor_lu(cr_block_factor* f, const cr_block_matrix* m)
{
    if (!cr_array_reserve(&f->upper, f->order.panel_count)) {
        return CAROM_ERR_MEMORY;
    }
    return factor(f, m, FACTOR_LU);
}

carom_status cr_block_factor_mixed(cr_block_factor* f, const cr_block_matrix* m)
{
    CR_ASSERT(!m->symmetric);
    if (!cr_array_reserve(&f->upper, f->order.panel_count)) {
        return CAROM_ERR_MEMORY;
    }
    const carom_status status = factor(f, m, FACTOR_MIXED);
    return status == CAROM_ERR_NOT_POSITIVE ? factor(f, m, FACTOR_LU) : status;
}

int cr_block_factor_stands(const cr_block_factor* f)
{
    return f->kind != FACTOR_NONE;
}

// One half of a solve, at one supernode: the triangle T on its diagonal, entry (i,j) at
// square[i * row + j * step], the panel below it, and the exchanges that go with it, if any.
typedef struct triangle {
    const double* square;
    int32_t row, step;
    const double* inverse; // one over its diagonal, or NULL for ones
    const double* panel;
    const int32_t* pivot;
} triangle;

// A = L L^T goes down the tree with L and up with its transpose. With A = P^T L U it is L first,
// with its exchanges, and then (U^T)^T; for A^T x = b the two change places.
static triangle pick_triangle(const cr_block_factor* f, int32_t s, int upward, int transposed)
{
    const cr_block_super* super = &f->order.super.items[s];
    const int lu = f->own.items[s] == FACTOR_LU;
    const int upper = lu && (upward != transposed);
    return (triangle){
        .square = f->square.items + super->square_place,
        .row = upper ? super->square_step : 1,
        .step = upper ? 1 : super->square_step,
        .inverse = lu && !upper ? NULL : f->inverse.items + super->scalar,
        .panel = (upper ? f->upper.items : f->lower.items) + super->panel_place,
        .pivot = lu && !upper ? f->pivot.items + super->scalar : NULL,
    };
}

// x := T^-1 x. What x_j contributes is subtracted from all the others at once: these subtractions
// do not wait for each other.
static inline void solve_forward(int32_t n, const double* t, ptrdiff_t row, ptrdiff_t step,
                                 const double* inverse, double* x)
{
    for (int32_t j = 0; j < n; j++) {
        const double x_j = inverse ? x[j] * inverse[j] : x[j];
        x[j] = x_j;
        for (int32_t i = j + 1; i < n; i++) {
            x[i] -= t[i * row + j * step] * x_j;
        }
    }
}

// x := T^-T x
static inline void solve_backward(int32_t n, const double* t, ptrdiff_t row, ptrdiff_t step,
                                  const double* inverse, double* x)
{
    for (int32_t j = n - 1; j >= 0; j--) {
        const double x_j = inverse ? x[j] * inverse[j] : x[j];
        x[j] = x_j;
        for (int32_t i = 0; i < j; i++) {
            x[i] -= t[j * row + i * step] * x_j;
        }
    }
}

// Numbers i and j of a vector, or columns of `lanes` numbers.
static inline void exchange(int32_t lanes, double* x, int32_t i, int32_t j)
{
    for (int32_t k = 0; k < lanes; k++) {
        const double here = x[i * lanes + k];
        x[i * lanes + k] = x[j * lanes + k];
        x[j * lanes + k] = here;
    }
}

static void exchange_forward(int32_t lanes, int32_t n, const int32_t* pivot, double* x)
{
    for (int32_t j = 0; pivot && j < n; j++) {
        exchange(lanes, x, j, pivot[j]);
    }
}

static void exchange_backward(int32_t lanes, int32_t n, const int32_t* pivot, double* x)
{
    for (int32_t j = n - 1; pivot && j >= 0; j--) {
        exchange(lanes, x, j, pivot[j]);
    }
}

// tail := the part of y that a panel's rows stand for, and the other way round y -= tail.
static inline void gather(const cr_block_order* o, const cr_block_super* super, int32_t lanes,
                          const double* y, double* tail)
{
    for (int32_t p = super[0].row_start; p < super[1].row_start; p++) {
        const int32_t i = o->row.items[p];
        const double* from = y + (ptrdiff_t)lanes * o->first.items[i];
        double* to = tail + (ptrdiff_t)lanes * o->row_place.items[p];
        for (int32_t k = 0; k < lanes * o->size.items[i]; k++) {
            to[k] = from[k];
        }
    }
}

static inline void subtract_tail(const cr_block_order* o, const cr_block_super* super,
                                 int32_t lanes, const double* tail, double* y)
{
    for (int32_t p = super[0].row_start; p < super[1].row_start; p++) {
        const int32_t i = o->row.items[p];
        const double* from = tail + (ptrdiff_t)lanes * o->row_place.items[p];
        double* to = y + (ptrdiff_t)lanes * o->first.items[i];
        for (int32_t k = 0; k < lanes * o->size.items[i]; k++) {
            to[k] -= from[k];
        }
    }
}

static void solve(cr_block_factor* f, double* x, int transposed)
{
    CR_ASSERT(f->kind != FACTOR_NONE);
    const cr_block_order* o = &f->order;
    double* y = f->x.items;
    double* tail = f->tail.items;
    for (int32_t k = 0; k < o->block_count; k++) {
        for (int32_t i = 0; i < o->size.items[k]; i++) {
            y[o->first.items[k] + i] = x[o->outside.items[k] + i];
        }
    }
    for (int32_t s = 0; s < o->super_count; s++) {
        const cr_block_super* super = &o->super.items[s];
        const triangle t = pick_triangle(f, s, 0, transposed);
        double* own = y + super->scalar;
        exchange_forward(1, super->width, t.pivot, own);
        if (t.row == 1) { // a loop of its own for neighbouring numbers
            solve_forward(super->width, t.square, 1, t.step, t.inverse, own);
        } else {
            solve_forward(super->width, t.square, t.row, 1, t.inverse, own);
        }
        f->kernel->times(super->height, super->width, t.panel, super->panel_step, own, tail);
        subtract_tail(o, super, 1, tail, y);
    }
    for (int32_t s = o->super_count - 1; s >= 0; s--) {
        const cr_block_super* super = &o->super.items[s];
        const triangle t = pick_triangle(f, s, 1, transposed);
        double* own = y + super->scalar;
        gather(o, super, 1, y, tail);
        for (int32_t i = super->height; i < super->panel_step; i++) {
            tail[i] = 0.0;
        }
        f->kernel->minus_transposed(super->height, super->width, t.panel, super->panel_step, tail,
                                    own);
        if (t.row == 1) {
            solve_backward(super->width, t.square, 1, t.step, t.inverse, own);
        } else {
            solve_backward(super->width, t.square, t.row, 1, t.inverse, own);
        }
        exchange_backward(1, super->width, t.pivot, own);
    }
    for (int32_t k = 0; k < o->block_count; k++) {
        for (int32_t i = 0; i < o->size.items[k]; i++) {
            x[o->outside.items[k] + i] = y[o->first.items[k] + i];
        }
    }
}

// Eight right-hand sides at once, as the eight rows of a matrix Y: Y := Y T^-T down the tree and
// Y := Y T^-1 up. The second is the first with both orders of T's numbers reversed.
static void solve_eight(cr_block_factor* f, int32_t count, double* x, int transposed)
{
    const cr_block_order* o = &f->order;
    const size_t n = (size_t)o->scalar_count;
    double* y = f->x.items;
    double* tail = f->tail.items;
    for (int32_t k = 0; k < o->block_count; k++) {
        for (int32_t i = 0; i < o->size.items[k]; i++) {
            const size_t from = (size_t)(o->outside.items[k] + i);
            double* to = y + 8 * (size_t)(o->first.items[k] + i);
            for (int32_t r = 0; r < 8; r++) {
                to[r] = r < count ? x[(size_t)r * n + from] : 0.0;
            }
        }
    }
    for (int32_t s = 0; s < o->super_count; s++) {
        const cr_block_super* super = &o->super.items[s];
        const triangle t = pick_triangle(f, s, 0, transposed);
        double* own = y + 8 * (size_t)super->scalar;
        exchange_forward(8, super->width, t.pivot, own);
        f->kernel->solve_right(8, super->width, own, 8, t.square, t.row, t.step, t.inverse, 1);
        f->kernel->product(8, super->height, super->width, own, 8, t.panel, super->panel_step, tail,
                           8);
        subtract_tail(o, super, 8, tail, y);
    }
    for (int32_t s = o->super_count - 1; s >= 0; s--) {
        const cr_block_super* super = &o->super.items[s];
        const triangle t = pick_triangle(f, s, 1, transposed);
        const int32_t last = super->width - 1;
        double* own = y + 8 * (size_t)super->scalar;
        gather(o, super, 8, y, tail);
        f->kernel->minus(8, super->width, super->height, tail, t.panel, super->panel_step, 1, own,
                         8);
        f->kernel->solve_right(8, super->width, own + 8 * (size_t)last, -8,
                               t.square + (ptrdiff_t)last * (t.row + t.step), -t.step, -t.row,
                               t.inverse ? t.inverse + last : NULL, -1);
        exchange_backward(8, super->width, t.pivot, own);
    }
    for (int32_t k = 0; k < o->block_count; k++) {
        for (int32_t i = 0; i < o->size.items[k]; i++) {
            const size_t to = (size_t)(o->outside.items[k] + i);
            const double* from = y + 8 * (size_t)(o->first.items[k] + i);
            for (int32_t r = 0; r < count; r++) {
                x[(size_t)r * n + to] = from[r];
            }
        }
    }
}

static void solve_many(cr_block_factor* f, int32_t count, double* x, int transposed)
{
    CR_ASSERT(f->kind != FACTOR_NONE);
    for (int32_t r = 0; r < count; r += 8) {
        solve_eight(f, count - r < 8 ? count - r : 8, x + (size_t)r * (size_t)f->order.scalar_count,
                    transposed);
    }
}

void cr_block_factor_solve(cr_block_factor* f, double* x)
{
    solve(f, x, 0);
}

void cr_block_factor_solve_transposed(cr_block_factor* f, double* x)
{
    solve(f, x, 1);
}

void cr_block_factor_solve_many(cr_block_factor* f, int32_t count, double* x)
{
    solve_many(f, count, x, 0);
}

void cr_block_factor_solve_transposed_many(cr_block_factor* f, int32_t count, double* x)
{
    solve_many(f, count, x, 1);
}

int64_t cr_block_factor_nonzeros(const cr_block_factor* f)
{
    return (int64_t)f->order.nonzeros;
}

double cr_block_factor_flops(const cr_block_factor* f)
{
    return f->order.flops;
}
