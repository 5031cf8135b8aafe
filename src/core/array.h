// array.h - a growing array of plain items, kept between steps so that a warm step takes nothing.
#pragma once

#include "core/memory.h"
#include "core/status.h"

// Declares a struct with items, count and capacity. Zero-initialised is empty.
#define CR_ARRAY(type)                                                                             \
    struct {                                                                                       \
        type* items;                                                                               \
        int32_t count;                                                                             \
        int32_t capacity;                                                                          \
    }

// Room for at least n items; false when memory cannot be had (the array is then unchanged).
#define cr_array_reserve(a, n)                                                                     \
    cr_array_reserve_bytes((void**)&(a)->items, &(a)->capacity, (a)->count, (n), sizeof *(a)->items)

// Appends one item (an expression of the item type). False when memory cannot be had.
#define cr_array_push(a, item)                                                                     \
    ((a)->count < (a)->capacity || cr_array_reserve((a), (a)->count + 1)                           \
         ? ((a)->items[(a)->count++] = (item), 1)                                                  \
         : 0)

#define cr_array_release(a)                                                                        \
    (cr_memory_free((a)->items), (a)->items = NULL, (a)->count = (a)->capacity = 0)

int cr_array_reserve_bytes(void** items, int32_t* capacity, int32_t count, int32_t wanted,
                           size_t size);
