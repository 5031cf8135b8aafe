#include "core/memory.h"
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_llong calls;
static atomic_llong blocks;    // taken and not given back
static atomic_llong fail_from; // the numbers of the first call to fail, 0 for none,
static atomic_llong fail_to;   // and of the last

int64_t cr_memory_calls(void)
{
    return atomic_load(&calls);
}

int64_t cr_memory_blocks(void)
{
    return atomic_load(&blocks);
}

void cr_memory_fail_after(int64_t n)
{
    atomic_store(&fail_to, LLONG_MAX);
    atomic_store(&fail_from, n > 0 ? atomic_load(&calls) + n : 0);
}

void cr_memory_fail_once(int64_t n)
{
    const long long at = n > 0 ? atomic_load(&calls) + n : 0;
    atomic_store(&fail_to, at);
    atomic_store(&fail_from, at);
}

void* cr_memory_take(size_t count, size_t size)
{
    const long long call = atomic_fetch_add(&calls, 1) + 1;
    const long long first = atomic_load(&fail_from);
    if (first > 0 && call >= first && call <= atomic_load(&fail_to)) {
        return NULL;
    }
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 128) {
        return NULL;
    }
    bytes = (bytes / 64 + 1) * 64; // whole cache lines, never none
    void* block = aligned_alloc(64, bytes);
    if (block) {
        memset(block, 0, bytes);
        atomic_fetch_add(&blocks, 1);
    }
    return block;
}

void* cr_memory_grow(void* old, size_t old_count, size_t new_count, size_t size)
{
    void* block = cr_memory_take(new_count, size);
    if (block && old) {
        memcpy(block, old, (old_count < new_count ? old_count : new_count) * size);
        cr_memory_free(old);
    }
    return block;
}

void cr_memory_free(void* block)
{
    if (block) {
        atomic_fetch_sub(&blocks, 1);
        free(block);
    }
}
