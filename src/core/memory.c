#include "core/memory.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_llong calls;
static atomic_llong fail_at; // the number of the first call to fail, 0 for none

int64_t cr_memory_calls(void)
{
    return atomic_load(&calls);
}

void cr_memory_fail_after(int64_t n)
{
    atomic_store(&fail_at, n > 0 ? atomic_load(&calls) + n : 0);
}

void* cr_memory_take(size_t count, size_t size)
{
    const long long call = atomic_fetch_add(&calls, 1) + 1;
    const long long limit = atomic_load(&fail_at);
    if (limit > 0 && call >= limit) {
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
    }
    return block;
}

void* cr_memory_grow(void* old, size_t old_count, size_t new_count, size_t size)
{
    void* block = cr_memory_take(new_count, size);
    if (block && old) {
        memcpy(block, old, (old_count < new_count ? old_count : new_count) * size);
        free(old);
    }
    return block;
}

void cr_memory_free(void* block)
{
    free(block);
}
