// Subtrees of the elimination tree do not need each other. The tree is cut into subtrees that cost
// at most a small part of the whole; they are jobs of one group. What is left at the top goes by
// levels, a group each: above its children, beside its equals.
#include "math/block_schedule.h"
#include "core/assert.h"
#include "math/scalar.h"

// A subtree costs at most this part of the whole: 16 threads then still find enough of them, and
// there are few enough that the top above them is small.
static const double most_of_all = 1.0 / 32.0;

void cr_block_schedule_release(cr_block_schedule* s)
{
    cr_array_release(&s->update_start);
    cr_array_release(&s->update);
    cr_array_release(&s->order);
    cr_array_release(&s->job);
    cr_array_release(&s->group);
    cr_array_release(&s->spare);
    cr_array_release(&s->scratch);
    cr_array_release(&s->cost);
}

// Files supernode d, whose first unused row is `row`, before those that will update the owner of
// that row.
static void file(const cr_block_order* o, int32_t d, int32_t row, int32_t* head, int32_t* next)
{
    if (row < o->super.items[d + 1].row_start) {
        const int32_t s = o->super_of.items[o->row.items[row]];
        next[d] = head[s];
        head[s] = d;
    }
}

// Each supernode is filed under the one that its next unused row belongs to.
static carom_status list_updates(cr_block_schedule* s, const cr_block_order* o)
{
    int32_t *head = s->scratch.items, *next = head + o->super_count;
    int32_t* at = s->order.items; // first unused row, until the order is made
    s->update.count = 0;
    for (int32_t i = 0; i < o->super_count; i++) {
        head[i] = -1;
    }
    for (int32_t i = 0; i < o->super_count; i++) {
        s->update_start.items[i] = s->update.count;
        for (int32_t d = head[i], following; d >= 0; d = following) {
            following = next[d];
            int32_t past = at[d];
            while (past < o->super.items[d + 1].row_start &&
                   o->row.items[past] < o->super.items[i + 1].first) {
                past++;
            }
            if (!cr_array_push(&s->update, ((cr_block_update){d, at[d], past}))) {
                return CAROM_ERR_MEMORY;
            }
            at[d] = past;
            file(o, d, past, head, next);
        }
        at[i] = o->super.items[i].row_start;
        file(o, i, at[i], head, next);
    }
    s->update_start.items[o->super_count] = s->update.count;
    return CAROM_OK;
}

// Flops of its columns in a Cholesky factorisation.
static double own_cost(const cr_block_super* super)
{
    const double w = super->width, h = super->height;
    return w * (w * w / 3.0 + h * (w + h));
}

// Of all subtrees, and how many supernodes they have: [super_count].
static double weigh(cr_block_schedule* s, const cr_block_order* o, int32_t* size)
{
    double all = 0.0;
    for (int32_t i = 0; i < o->super_count; i++) {
        size[i] = 0;
        s->cost.items[i] = 0.0;
    }
    for (int32_t i = 0; i < o->super_count; i++) {
        const cr_block_super* super = &o->super.items[i];
        const double own = own_cost(super);
        CR_ASSERT(super->parent < 0 || super->parent > i);
        all += own;
        s->cost.items[i] += own;
        size[i] += 1;
        if (super->parent >= 0) {
            s->cost.items[super->parent] += s->cost.items[i];
            size[super->parent] += size[i];
        }
    }
    return all;
}

static int add_job(cr_block_schedule* s, int32_t first, int32_t past)
{
    return cr_array_push(&s->job, ((cr_block_job){first, past}));
}

// Of the jobs since the last group, all together and the dearest.
typedef struct group_cost {
    double all, most;
} group_cost;

static void add_cost(group_cost* of, double job)
{
    of->all += job;
    of->most = cr_max(of->most, job);
}

static int end_group(cr_block_schedule* s, group_cost* of)
{
    const double spare = of->all - of->most;
    *of = (group_cost){0.0, 0.0};
    s->group_count++;
    return cr_array_push(&s->group, s->job.count) && cr_array_push(&s->spare, spare);
}

// Neighbours that cost little are one job. Supernodes are numbered so that those of a subtree stand
// together, the root last.
static carom_status cut_subtrees(cr_block_schedule* s, const cr_block_order* o, const int32_t* size,
                                 double most, int32_t* level)
{
    int32_t placed = 0, begin = 0;
    group_cost group = {0.0, 0.0};
    double cost = 0.0;
    for (int32_t i = 0; i < o->super_count; i++) {
        const int32_t up = o->super.items[i].parent;
        level[i] = -1; // in a subtree
        if (s->cost.items[i] > most) {
            level[i] = 0;
            continue;
        }
        if (up >= 0 && s->cost.items[up] <= most) {
            continue;
        }
        if (placed > begin && cost + s->cost.items[i] > most) {
            if (!add_job(s, begin, placed)) {
                return CAROM_ERR_MEMORY;
            }
            add_cost(&group, cost);
            begin = placed;
            cost = 0.0;
        }
        cost += s->cost.items[i];
        for (int32_t k = i - size[i] + 1; k <= i; k++) {
            s->order.items[placed++] = k;
        }
    }
    add_cost(&group, cost);
    const int ok = (placed == begin || add_job(s, begin, placed)) && end_group(s, &group);
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}

// What is left, by levels from below.
static carom_status add_levels(cr_block_schedule* s, const cr_block_order* o, int32_t* level)
{
    int32_t placed = s->job.count > 0 ? s->job.items[s->job.count - 1].past : 0, most = -1;
    for (int32_t i = 0; i < o->super_count; i++) {
        const int32_t up = o->super.items[i].parent;
        if (level[i] >= 0 && up >= 0 && level[up] <= level[i]) {
            level[up] = level[i] + 1;
        }
        most = level[i] > most ? level[i] : most;
    }
    for (int32_t at = 0; at <= most; at++) {
        group_cost group = {0.0, 0.0};
        for (int32_t i = 0; i < o->super_count; i++) {
            if (level[i] == at) {
                add_cost(&group, own_cost(&o->super.items[i]));
                s->order.items[placed++] = i;
                if (!add_job(s, placed - 1, placed)) {
                    return CAROM_ERR_MEMORY;
                }
            }
        }
        if (!end_group(s, &group)) {
            return CAROM_ERR_MEMORY;
        }
    }
    CR_ASSERT(placed == o->super_count);
    return CAROM_OK;
}

carom_status cr_block_schedule_build(cr_block_schedule* s, const cr_block_order* o)
{
    const int32_t n = o->super_count;
    s->job.count = s->group.count = s->spare.count = s->group_count = 0;
    if (!cr_array_reserve(&s->update_start, n + 1) || !cr_array_reserve(&s->order, n) ||
        !cr_array_reserve(&s->scratch, 2 * n) || !cr_array_reserve(&s->cost, n) ||
        !cr_array_push(&s->group, 0)) {
        return CAROM_ERR_MEMORY;
    }
    if (n == 0) { // nor are there arrays
        s->update_start.items[0] = s->update.count = 0;
        return CAROM_OK;
    }
    carom_status status = list_updates(s, o);
    int32_t *size = s->scratch.items, *level = size + n;
    if (status == CAROM_OK) {
        const double all = weigh(s, o, size);
        status = cut_subtrees(s, o, size, most_of_all * all, level);
    }
    return status == CAROM_OK ? add_levels(s, o, level) : status;
}
