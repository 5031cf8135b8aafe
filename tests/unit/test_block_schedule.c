// Which supernodes are eliminated when: each once, and none beside one that it needs.
#include "check.h"
#include "math/block_schedule.h"
#include <stdlib.h>

typedef struct plan {
    cr_block_matrix matrix;
    cr_arena arena;
    cr_block_order order;
    cr_block_schedule schedule;
} plan;

// The pattern of a sheet of side x side nodes, with diagonals.
static void make(plan* p, int32_t side)
{
    const int32_t n = side * side;
    int32_t* size = malloc((size_t)(n + 1) * sizeof *size);
    int32_t(*pair)[2] = malloc((size_t)(3 * n + 1) * sizeof *pair);
    int32_t pairs = 0;
    *p = (plan){0};
    for (int32_t i = 0; i < n; i++) {
        const int right = i % side + 1 < side, up = i + side < n;
        size[i] = 3;
        for (int k = 0; k < 3; k++) {
            if (k == 0 ? right : k == 1 ? up : right && up) {
                pair[pairs][0] = i;
                pair[pairs++][1] = i + (k != 1) + side * (k > 0);
            }
        }
    }
    CHECK(cr_block_matrix_build(&p->matrix, n, size, pairs, (const int32_t(*)[2])pair, 1) ==
          CAROM_OK);
    CHECK(cr_block_order_build(&p->order, &p->matrix, &p->arena) == CAROM_OK);
    CHECK(cr_block_schedule_build(&p->schedule, &p->order) == CAROM_OK);
    free(size);
    free(pair);
}

static void release(plan* p)
{
    cr_block_schedule_release(&p->schedule);
    cr_block_order_release(&p->order);
    cr_block_matrix_release(&p->matrix);
    cr_arena_release(&p->arena);
}

// The group, the job and the place in the order of each supernode; -1: it has none.
typedef struct place {
    int32_t group, job, at;
} place;

static void find_places(const plan* p, place* of)
{
    const cr_block_schedule* s = &p->schedule;
    int32_t twice = 0;
    for (int32_t i = 0; i < p->order.super_count; i++) {
        of[i] = (place){-1, -1, -1};
    }
    for (int32_t g = 0; g < s->group_count; g++) {
        for (int32_t j = s->group.items[g]; j < s->group.items[g + 1]; j++) {
            for (int32_t k = s->job.items[j].first; k < s->job.items[j].past; k++) {
                twice += of[s->order.items[k]].group >= 0;
                of[s->order.items[k]] = (place){g, j, k};
            }
        }
    }
    CHECK(twice == 0);
}

static void check_plan(const plan* p)
{
    const cr_block_schedule* s = &p->schedule;
    const int32_t n = p->order.super_count;
    place* of = malloc((size_t)(n + 1) * sizeof *of);
    int32_t missing = 0, early = 0, rows = 0, wrong = 0;
    find_places(p, of);
    for (int32_t i = 0; i < n; i++) {
        missing += of[i].group < 0;
        for (int32_t k = s->update_start.items[i]; k < s->update_start.items[i + 1]; k++) {
            const cr_block_update* u = &s->update.items[k];
            const place from = of[u->from];
            early += from.group > of[i].group ||
                     (from.group == of[i].group && (from.job != of[i].job || from.at >= of[i].at));
            rows += u->past - u->row;
            for (int32_t r = u->row; r < u->past; r++) {
                wrong += p->order.super_of.items[p->order.row.items[r]] != i;
            }
        }
    }
    CHECK(missing == 0 && early == 0 && wrong == 0);
    CHECK(rows == p->order.super.items[n].row_start); // each row of each panel is used once
    free(of);
}

static void test_nothing_is_eliminated_before_what_it_needs(void)
{
    for (int32_t side = 0; side <= 40; side += side < 8 ? 1 : 8) {
        plan p;
        make(&p, side);
        check_plan(&p);
        release(&p);
    }
}

static void test_a_sheet_has_work_for_several_threads(void)
{
    plan p;
    make(&p, 40);
    const cr_block_schedule* s = &p.schedule;
    double all = 0.0, shared = 0.0;
    for (int32_t i = 0; i < p.order.super_count; i++) {
        all += p.order.super.items[i].parent < 0 ? s->cost.items[i] : 0.0;
    }
    for (int32_t g = 0; g < s->group_count; g++) {
        shared += s->spare.items[g];
    }
    printf("  %d supernodes, %d groups, the first of %d jobs, %.0f %% beside the dearest jobs\n",
           p.order.super_count, s->group_count, s->group.items[1], 100.0 * shared / all);
    CHECK(s->group.items[1] >= 16);
    CHECK(shared > 0.4 * all);
    release(&p);
}

int main(void)
{
    RUN(test_nothing_is_eliminated_before_what_it_needs);
    RUN(test_a_sheet_has_work_for_several_threads);
    return check_failures != 0;
}
