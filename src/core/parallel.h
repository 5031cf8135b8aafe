// parallel.h - run numbered jobs on several workers. A job writes only what its number owns, so the
// result does not depend on how many workers there are or which one took which job.
#pragma once

#include <stdint.h>

// worker is in 0..worker_count-1 and picks the scratch; it must not influence the result.
typedef void cr_parallel_fn(int32_t job, int32_t worker, void* user);

void cr_parallel_for(int32_t job_count, int32_t worker_count, cr_parallel_fn* fn, void* user);
