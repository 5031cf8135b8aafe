// order.h - sorting that takes no memory of its own: warm steps use it.
#pragma once

#include "core/status.h"
#include <string.h>

// Defines   static void name(type* items, type* scratch, int32_t count)
// which sorts items[count] so that before(&a, &b) holds for no b in front of an a. Stable: equal
// items keep their order. scratch is as long as items. What is in order already costs one look.
#define CR_ORDER_DEFINE(name, type, before)                                                        \
    static void name(type* items, type* scratch, int32_t count)                                    \
    {                                                                                              \
        enum { RUN = 8 }; /* so few are sorted by insertion */                                     \
        int32_t sorted = 1;                                                                        \
        while (sorted < count && !before(&items[sorted], &items[sorted - 1])) {                    \
            sorted++;                                                                              \
        }                                                                                          \
        if (sorted >= count) {                                                                     \
            return;                                                                                \
        }                                                                                          \
        for (int32_t low = 0; low < count; low += RUN) {                                           \
            const int32_t high = count - low < RUN ? count : low + RUN;                            \
            for (int32_t i = low + 1; i < high; i++) {                                             \
                const type here = items[i];                                                        \
                int32_t at = i;                                                                    \
                for (; at > low && before(&here, &items[at - 1]); at--) {                          \
                    items[at] = items[at - 1];                                                     \
                }                                                                                  \
                items[at] = here;                                                                  \
            }                                                                                      \
        }                                                                                          \
        type *from = items, *to = scratch;                                                         \
        for (int64_t run = RUN; run < count; run *= 2) {                                           \
            for (int64_t low = 0; low < count; low += 2 * run) {                                   \
                const int64_t middle = low + run < count ? low + run : count;                      \
                const int64_t high = low + 2 * run < count ? low + 2 * run : count;                \
                int64_t i = low, j = middle;                                                       \
                if (middle == high || !before(&from[middle], &from[middle - 1])) {                 \
                    memcpy(to + low, from + low, (size_t)(high - low) * sizeof *to);               \
                    continue;                                                                      \
                }                                                                                  \
                for (int64_t k = low; k < high; k++) {                                             \
                    const int right = i >= middle || (j < high && before(&from[j], &from[i]));     \
                    to[k] = right ? from[j++] : from[i++];                                         \
                }                                                                                  \
            }                                                                                      \
            type* const swap = from;                                                               \
            from = to;                                                                             \
            to = swap;                                                                             \
        }                                                                                          \
        if (from != items) {                                                                       \
            memcpy(items, from, (size_t)count * sizeof *items);                                    \
        }                                                                                          \
    }
