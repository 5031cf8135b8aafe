#include "mesh/sort.h"
#include "core/memory.h"
#include <string.h>

// Merges from[low..middle) and from[middle..high), both sorted, into to[low..high).
static void merge(const int32_t* from, int32_t* to, int32_t low, int32_t middle, int32_t high,
                  cr_sort_before* before, const void* user)
{
    int32_t i = low, j = middle;
    for (int32_t k = low; k < high; k++) {
        const int right = i >= middle || (j < high && before(from[j], from[i], user));
        to[k] = right ? from[j++] : from[i++];
    }
}

static int32_t least_of(int64_t a, int32_t b)
{
    return a < b ? (int32_t)a : b;
}

carom_status cr_sort_indices(int32_t* index, int32_t count, cr_sort_before* before,
                             const void* user)
{
    if (count < 2) {
        return CAROM_OK;
    }
    int32_t* scratch = cr_memory_take((size_t)count, sizeof *scratch);
    if (!scratch) {
        return CAROM_ERR_MEMORY;
    }
    int32_t* from = index;
    int32_t* to = scratch;
    for (int64_t run = 1; run < count; run *= 2) {
        for (int64_t low = 0; low < count; low += 2 * run) {
            merge(from, to, (int32_t)low, least_of(low + run, count),
                  least_of(low + 2 * run, count), before, user);
        }
        int32_t* swap = from;
        from = to;
        to = swap;
    }
    if (from != index) {
        memcpy(index, from, (size_t)count * sizeof *index);
    }
    cr_memory_free(scratch);
    return CAROM_OK;
}
