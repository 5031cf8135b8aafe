// parallel.h - run numbered jobs on several workers. A job writes only what its number owns, so the
// result does not depend on how many workers there are or which one took which job.
#pragma once

#include <stdint.h>

// worker is in 0..worker_count-1 and picks the scratch; it must not influence the result. No two
// jobs that run at the same time have the same worker.
typedef void cr_parallel_fn(int32_t job, int32_t worker, void* user);

// Returns when all jobs are done; the calling thread is worker 0. The process has one pool of
// threads, made when they are first asked for. The caller does all jobs itself when the loop is
// started by a job, when a loop of another thread has the pool, and when the system gives no
// threads. Jobs run in the caller's floating-point environment. A child that was forked off has a
// pool of its own.
void cr_parallel_for(int32_t job_count, int32_t worker_count, cr_parallel_fn* fn, void* user);
