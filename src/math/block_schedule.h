// block_schedule.h - what a factorisation by supernodes does in which order, and which of them may
// be eliminated side by side. Depends on the pattern alone, never on the number of threads.
#pragma once

#include "math/block_order.h"

// Rows row .. past-1 of supernode `from` are columns of the one that is updated.
typedef struct cr_block_update {
    int32_t from, row, past;
} cr_block_update;

// Supernodes order[first .. past-1] one after the other.
typedef struct cr_block_job {
    int32_t first, past;
} cr_block_job;

typedef struct cr_block_schedule {
    CR_ARRAY(int32_t) update_start;   // [super_count+1]
    CR_ARRAY(cr_block_update) update; // of supernode s: update_start[s] .. [s+1], as they are taken
    CR_ARRAY(int32_t) order;          // [super_count] supernodes, job by job
    CR_ARRAY(cr_block_job) job;
    // Jobs group[g] .. group[g+1]-1 do not need each other, only those of the groups before.
    CR_ARRAY(int32_t) group; // [group_count+1]
    CR_ARRAY(double) spare;  // [group_count] flops in all jobs but the dearest: what may be shared
    int32_t group_count;
    CR_ARRAY(int32_t) scratch; // [2*super_count]
    CR_ARRAY(double) cost;     // [super_count] of the subtree below each
} cr_block_schedule;

// No allocation once warm.
carom_status cr_block_schedule_build(cr_block_schedule* s, const cr_block_order* o);
void cr_block_schedule_release(cr_block_schedule* s);
