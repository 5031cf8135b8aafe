#include "core/array.h"

int cr_array_reserve_bytes(void** items, int32_t* capacity, int32_t count, int32_t wanted,
                           size_t size)
{
    if (wanted <= *capacity) {
        return wanted >= 0;
    }
    // half as much again: a long run of pushes costs a constant per item
    int64_t larger = (int64_t)*capacity + *capacity / 2 + 16;
    larger = larger < wanted ? wanted : larger;
    larger = larger > INT32_MAX ? INT32_MAX : larger;
    void* block = cr_memory_grow(*items, (size_t)count, (size_t)larger, size);
    if (!block) {
        return 0;
    }
    *items = block;
    *capacity = (int32_t)larger;
    return 1;
}
