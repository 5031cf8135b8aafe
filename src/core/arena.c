#include "core/arena.h"
#include "core/memory.h"

void* cr_arena_take(cr_arena* arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        return NULL;
    }
    bytes = (bytes / 64 + 1) * 64; // whole cache lines, never none
    const size_t end = arena->used + bytes;
    arena->wanted = end > arena->wanted ? end : arena->wanted;
    arena->used = end;
    if (end <= arena->capacity) {
        return arena->base + end - bytes;
    }
    void** block = cr_memory_take(1, bytes + 64); // rare: the step must still finish
    if (!block) {
        return NULL;
    }
    *block = arena->overflow;
    arena->overflow = block;
    return (unsigned char*)block + 64;
}

size_t cr_arena_open(const cr_arena* arena)
{
    return arena->used;
}

void cr_arena_close(cr_arena* arena, size_t mark)
{
    arena->used = mark;
}

static void free_overflow(cr_arena* arena)
{
    while (arena->overflow) {
        void* next = *(void**)arena->overflow;
        cr_memory_free(arena->overflow);
        arena->overflow = next;
    }
}

carom_status cr_arena_settle(cr_arena* arena)
{
    free_overflow(arena);
    if (arena->wanted > arena->capacity) {
        // a quarter more than was asked for, or slowly rising demand would grow it every step
        const size_t capacity = (arena->wanted + arena->wanted / 4) / 64 * 64 + 64;
        unsigned char* larger = cr_memory_take(1, capacity);
        if (!larger) {
            return CAROM_ERR_MEMORY; // the old block still works, only with overflow
        }
        cr_memory_free(arena->base);
        arena->base = larger;
        arena->capacity = capacity;
    }
    return CAROM_OK;
}

void cr_arena_release(cr_arena* arena)
{
    free_overflow(arena);
    cr_memory_free(arena->base);
    *arena = (cr_arena){0};
}
