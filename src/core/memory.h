// memory.h - the one door to the heap: aligned, counted, and able to fail on purpose.
#pragma once

#include <stddef.h>
#include <stdint.h>

// 64-byte aligned memory for count items of size bytes, zeroed. NULL when it cannot be had or when
// count * size does not fit. A count of 0 gives a valid pointer.
void* cr_memory_take(size_t count, size_t size);

// Moves a block of old_count items to one of new_count (grown part zeroed). NULL: the old block
// still lives.
void* cr_memory_grow(void* old, size_t old_count, size_t new_count, size_t size);

void cr_memory_free(void* block);

// Calls to take and grow since the start of the program, for tests of "no allocation when warm".
int64_t cr_memory_calls(void);

// Blocks that were taken and not yet given back, for tests of "nothing leaks".
int64_t cr_memory_blocks(void);

// Makes the n-th call from now (1 = the next) and all later ones fail; 0 ends it. For tests.
void cr_memory_fail_after(int64_t n);
// The same for that one call alone.
void cr_memory_fail_once(int64_t n);
