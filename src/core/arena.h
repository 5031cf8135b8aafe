// arena.h - scratch for one step of one thread. Frames nest; closing one gives back all it took.
#pragma once

#include "core/status.h"

// Zero-initialised is an empty arena. A step that needs more than the arena holds is finished from
// overflow blocks; cr_arena_settle then grows the arena, so the next such step takes none.
typedef struct cr_arena {
    unsigned char* base;
    size_t capacity, used;
    size_t wanted;  // high-water mark, counting what did not fit: the next capacity
    void* overflow; // blocks taken while the arena was too small
} cr_arena;

// Memory for count items of size bytes, 64-byte aligned, NOT zeroed; NULL when it cannot be had.
void* cr_arena_take(cr_arena* arena, size_t count, size_t size);
#define CR_TAKE(arena, type, count) ((type*)cr_arena_take((arena), (size_t)(count), sizeof(type)))

// A mark to return to: everything taken after it is given back by cr_arena_close.
size_t cr_arena_open(const cr_arena* arena);
void cr_arena_close(cr_arena* arena, size_t mark);

// With no frame open: frees the overflow and grows to what was asked for.
carom_status cr_arena_settle(cr_arena* arena);
void cr_arena_release(cr_arena* arena);
