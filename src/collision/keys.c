#include "collision/keys.h"
#include "core/assert.h"
#include <string.h>

enum {
    FEW = 32,         // keys that are sorted by insertion
    MANY = 4096,      // keys from which the wide digits pay for their counters
    NARROW_DIGIT = 8, // bits
    WIDE_DIGIT = 11,
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

static int32_t written(const cr_keys_cursor* cursor)
{
    return cursor->block < 0 ? 0 : CR_KEYS_BLOCK - (int32_t)(cursor->end - cursor->at);
}

void cr_keys_next_block(cr_keys* keys, cr_keys_cursor* cursor)
{
    const int32_t left = cursor->block, n = written(cursor);
    int32_t block = left < keys->block_count ? atomic_fetch_add(&keys->taken, 1) : left;
    if (block >= keys->block_count) {
        // none is free: go on in the worker's own block, for the count alone
        block = keys->block_count + (int32_t)(cursor - keys->cursor.items);
    }
    if (left >= 0 && left < keys->block_count) {
        keys->block.items[left] = (cr_keys_block){n, block};
    }
    cursor->count += n;
    cursor->block = block;
    cursor->at = keys->pool.items + (size_t)block * CR_KEYS_BLOCK;
    cursor->end = cursor->at + CR_KEYS_BLOCK;
}

carom_status cr_keys_close(cr_keys* keys, int32_t* count, int* again)
{
    int64_t total = 0;
    *again = 0;
    for (int32_t w = 0; w < keys->worker_count; w++) {
        const cr_keys_cursor* cursor = &keys->cursor.items[w];
        const int32_t n = written(cursor);
        total += cursor->count + n;
        if (cursor->block >= keys->block_count) {
            *again = 1;
        } else if (cursor->block >= 0) {
            keys->block.items[cursor->block] = (cr_keys_block){n, -1};
        }
    }
    *count = 0;
    if (total > INT32_MAX) {
        return CAROM_ERR_MEMORY;
    }
    *count = (int32_t)total;
    if (*again) {
        // a block is left when fewer than CR_KEYS_ROOM places are free; each worker has one open
        const int64_t least = CR_KEYS_BLOCK - CR_KEYS_ROOM + 1;
        int64_t wanted = total / least + keys->worker_count + 1;
        wanted += wanted / 4; // or slowly rising demand would grow it every time
        if (wanted > INT32_MAX || !cr_array_reserve(&keys->block, (int32_t)wanted)) {
            return CAROM_ERR_MEMORY;
        }
        keys->block_count = (int32_t)wanted;
    }
    return CAROM_OK;
}

void cr_keys_release(cr_keys* keys)
{
    cr_array_release(&keys->pool);
    cr_array_release(&keys->block);
    cr_array_release(&keys->cursor);
    keys->block_count = keys->worker_count = 0;
}

cr_keys_run cr_keys_begin(cr_keys* keys, cr_keys_cursor* cursor)
{
    cr_keys_room(keys, cursor);
    const int32_t n = written(cursor);
    return (cr_keys_run){.count = cursor->count + n, .block = cursor->block, .offset = n};
}

void cr_keys_end(const cr_keys_cursor* cursor, cr_keys_run* run)
{
    run->count = cursor->count + written(cursor) - run->count;
}

void cr_keys_copy(const cr_keys* keys, const cr_keys_run* run, uint64_t* out)
{
    int32_t block = run->block, offset = run->offset;
    for (int64_t left = run->count; left > 0;) {
        const cr_keys_block* from = &keys->block.items[block];
        const int64_t n = from->count - offset < left ? from->count - offset : left;
        memcpy(out, keys->pool.items + (size_t)block * CR_KEYS_BLOCK + offset,
               (size_t)n * sizeof *out);
        out += n;
        left -= n;
        block = from->next;
        offset = 0;
    }
}

static void sort_few(uint64_t* key, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        const uint64_t k = key[i];
        int32_t j = i;
        for (; j > 0 && key[j - 1] > k; j--) {
            key[j] = key[j - 1];
        }
        key[j] = k;
    }
}

// One pass: from -> to by the digit at `shift`, equal digits in their old order.
static void sort_by_digit(const uint64_t* from, uint64_t* to, int32_t n, int shift, int width)
{
    int32_t at[1 << WIDE_DIGIT];
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    memset(at, 0, (mask + 1) * sizeof at[0]);
    for (int32_t i = 0; i < n; i++) {
        at[from[i] >> shift & mask]++;
    }
    int32_t sum = 0;
    for (uint64_t d = 0; d <= mask; d++) {
        const int32_t here = at[d];
        at[d] = sum;
        sum += here;
    }
    for (int32_t i = 0; i < n; i++) {
        to[at[from[i] >> shift & mask]++] = from[i];
    }
}

void cr_keys_sort(uint64_t* key, uint64_t* scratch, int32_t n)
{
    if (n <= FEW) {
        sort_few(key, n);
        return;
    }
    uint64_t differ = 0; // bits in which not all keys agree: the others need no pass
    for (int32_t i = 1; i < n; i++) {
        differ |= key[i] ^ key[0];
    }
    const int width = n < MANY ? NARROW_DIGIT : WIDE_DIGIT;
    uint64_t *from = key, *to = scratch;
    for (int shift = 0; shift < 64 && differ >> shift; shift++) {
        if (!(differ >> shift & 1)) {
            continue;
        }
        sort_by_digit(from, to, n, shift, width);
        uint64_t* swap = from;
        from = to;
        to = swap;
        shift += width - 1;
    }
    if (from != key) {
        memcpy(key, from, (size_t)n * sizeof *key);
    }
}
