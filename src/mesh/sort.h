// sort.h - a stable sort of index lists: the order of equal items is the order they came in, so
// nothing depends on the machine.
#pragma once

#include "core/status.h"

// Whether item i of whatever user points at comes strictly before item j.
typedef int cr_sort_before(int32_t i, int32_t j, const void* user);

// Sorts index[count]. CAROM_ERR_MEMORY when scratch cannot be had; index is then unchanged.
carom_status cr_sort_indices(int32_t* index, int32_t count, cr_sort_before* before,
                             const void* user);
