#include "collision/keys.h"
#include "core/assert.h"
#include "core/parallel.h"
#include <string.h>

enum {
    DIGIT_BITS = 11, // 2048 counters of a digit stay in the first cache
    DIGITS = (63 + DIGIT_BITS) / DIGIT_BITS,
    SORT_PART = 1 << 15, // keys below which a part of the sort is not worth a worker
};

carom_status cr_keys_open(cr_keys* keys, int32_t worker_count)
{
    CR_ASSERT(worker_count >= 1);
    const int64_t room = ((int64_t)keys->block_count + worker_count) * CR_KEYS_BLOCK;
    if (room > INT32_MAX || !cr_array_reserve(&keys->pool, (int32_t)room) ||
        !cr_array_reserve(&keys->cursor, worker_count)) {
        return CAROM_ERR_MEMORY;
    }
    keys->worker_count = worker_count;
    atomic_store(&keys->taken, 0);
    for (int32_t w = 0; w < worker_count; w++) {
        keys->cursor.items[w] = (cr_keys_cursor){.block = -1};
    }
    return CAROM_OK;
}

// Writes down how far a block was filled, before its worker leaves it.
static void leave_block(cr_keys* keys, cr_keys_cursor* cursor)
{
    if (cursor->block < 0) {
        return;
    }
    const int32_t n = CR_KEYS_BLOCK - (int32_t)(cursor->end - cursor->at);
    cursor->count += n;
    if (cursor->block < keys->block_count) {
        keys->filled.items[cursor->block] = n;
    }
}

void cr_keys_next_block(cr_keys* keys, cr_keys_cursor* cursor)
{
    leave_block(keys, cursor);
    int32_t block = keys->block_count;
    if (cursor->block < block) {
        block = atomic_fetch_add(&keys->taken, 1);
    }
    if (block >= keys->block_count) {
        // none left: go on in the worker's own block, for the count alone
        block = keys->block_count + (int32_t)(cursor - keys->cursor.items);
    }
    cursor->block = block;
    cursor->at = keys->pool.items + (size_t)block * CR_KEYS_BLOCK;
    cursor->end = cursor->at + CR_KEYS_BLOCK;
}

carom_status cr_keys_close(cr_keys* keys, int* again)
{
    int64_t total = 0;
    *again = 0;
    for (int32_t w = 0; w < keys->worker_count; w++) {
        cr_keys_cursor* cursor = &keys->cursor.items[w];
        leave_block(keys, cursor);
        total += cursor->count;
        *again |= cursor->block >= keys->block_count;
    }
    if (total > INT32_MAX) {
        return CAROM_ERR_MEMORY;
    }
    if (*again) {
        // a block is left when fewer than CR_KEYS_ROOM places are free; each worker has one open
        const int64_t least = CR_KEYS_BLOCK - CR_KEYS_ROOM + 1;
        int64_t wanted = total / least + keys->worker_count + 1;
        wanted += wanted / 4; // or slowly rising demand would grow it every time
        if (wanted * CR_KEYS_BLOCK > INT32_MAX ||
            !cr_array_reserve(&keys->filled, (int32_t)wanted)) {
            return CAROM_ERR_MEMORY;
        }
        keys->block_count = (int32_t)wanted;
        return CAROM_OK;
    }
    int32_t used = atomic_load(&keys->taken);
    int32_t count = 0;
    for (int32_t b = 0; b < used; b++) {
        const int32_t n = keys->filled.items[b];
        memmove(keys->pool.items + count, keys->pool.items + (size_t)b * CR_KEYS_BLOCK,
                (size_t)n * sizeof(uint64_t));
        count += n;
    }
    keys->items = keys->pool.items;
    keys->count = count;
    return CAROM_OK;
}

carom_status cr_keys_sort(cr_keys* keys, int32_t bits, int32_t worker_count)
{
    (void)worker_count;
    const int32_t n = keys->count;
    if (!cr_array_reserve(&keys->spare, n)) {
        return CAROM_ERR_MEMORY;
    }
    const int32_t passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    CR_ASSERT(passes <= DIGITS);
    int32_t histogram[DIGITS][1 << DIGIT_BITS];
    memset(histogram, 0, (size_t)passes * sizeof histogram[0]);
    const int32_t width = passes > 0 ? (bits + passes - 1) / passes : 0;
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    uint64_t *from = keys->items, *to = keys->spare.items;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t p = 0; p < passes; p++) {
            histogram[p][from[i] >> (p * width) & mask]++;
        }
    }
    // least digit first: each pass keeps the order of the one before among equal digits
    for (int32_t p = 0; p < passes; p++) {
        int32_t* at = histogram[p];
        int32_t sum = 0;
        for (uint64_t d = 0; d <= mask; d++) {
            const int32_t here = at[d];
            at[d] = sum;
            sum += here;
        }
        for (int32_t i = 0; i < n; i++) {
            to[at[from[i] >> (p * width) & mask]++] = from[i];
        }
        uint64_t* swap = from;
        from = to;
        to = swap;
    }
    keys->items = from;
    return CAROM_OK;
}

void cr_keys_release(cr_keys* keys)
{
    cr_array_release(&keys->pool);
    cr_array_release(&keys->spare);
    cr_array_release(&keys->filled);
    cr_array_release(&keys->cursor);
    keys->block_count = keys->worker_count = keys->count = 0;
    keys->items = NULL;
}
