#include "check.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/order.h"
#include <string.h>

static void test_arena_serves_warm_steps_from_one_block(void)
{
    cr_arena arena = {0};
    for (int step = 0; step < 4; step++) {
        const int64_t before = cr_memory_calls();
        const size_t mark = cr_arena_open(&arena);
        double* a = CR_TAKE(&arena, double, 1000);
        int* b = CR_TAKE(&arena, int, 10);
        CHECK(a && b);
        if (a && b) {
            memset(a, 1, 8000);
            memset(b, 2, 40);
            CHECK((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0);
        }
        cr_arena_close(&arena, mark);
        CHECK(cr_arena_settle(&arena) == CAROM_OK);
        CHECK(step == 0 || cr_memory_calls() == before);
    }
    cr_arena_release(&arena);
}

static void test_array_survives_refused_memory(void)
{
    CR_ARRAY(int) a = {0};
    for (int i = 0; i < 100; i++) {
        CHECK(cr_array_push(&a, i));
    }
    const int32_t count = a.count;
    cr_memory_fail_after(1);
    int grown = 1;
    for (int i = 0; i < 1000 && grown; i++) {
        grown = cr_array_push(&a, i);
    }
    cr_memory_fail_after(0);
    CHECK(!grown && a.count >= count && a.items[99] == 99);
    CHECK(cr_memory_take(SIZE_MAX / 2, 8) == NULL);
    cr_array_release(&a);
}

typedef struct item {
    int32_t key, number;
} item;

static int item_before(const item* a, const item* b)
{
    return a->key < b->key;
}

CR_ORDER_DEFINE(sort_items, item, item_before)

static void test_order_is_stable(void)
{
    enum { MOST = 300 };
    item items[MOST], scratch[MOST];
    uint64_t seed = 3;
    for (int32_t n = 0; n <= MOST; n++) {
        for (int32_t i = 0; i < n; i++) { // many equal keys; every third list is in order already
            items[i] = (item){n % 3 ? (int32_t)check_random(&seed, 0.0, 1.0 + n / 4.0) : i / 3, i};
        }
        const int64_t calls = cr_memory_calls();
        sort_items(items, scratch, n);
        CHECK(cr_memory_calls() == calls);
        int32_t sum = 0;
        for (int32_t i = 0; i < n; i++) {
            sum += items[i].number;
            if (i > 0) {
                CHECK(items[i - 1].key < items[i].key ||
                      (items[i - 1].key == items[i].key && items[i - 1].number < items[i].number));
            }
        }
        CHECK(sum == n * (n - 1) / 2);
    }
}

int main(void)
{
    RUN(test_arena_serves_warm_steps_from_one_block);
    RUN(test_array_survives_refused_memory);
    RUN(test_order_is_stable);
    return check_failures != 0;
}
