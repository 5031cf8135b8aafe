#include "core/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#include <stdatomic.h>
#include <unistd.h>

// The process whose threads OpenMP has: a child that was forked off has none of them and would wait
// for them for ever. It does all by itself then, with the same results.
static _Atomic long home;

static int has_threads(void)
{
    const long now = (long)getpid();
    long nobody = 0;
    return atomic_compare_exchange_strong(&home, &nobody, now) || nobody == now;
}
#endif

void cr_parallel_for(int32_t job_count, int32_t worker_count, cr_parallel_fn* fn, void* user)
{
#ifdef _OPENMP
    if (worker_count > 1 && job_count > 1 && has_threads()) {
#pragma omp parallel for schedule(dynamic) num_threads(worker_count)
        for (int32_t job = 0; job < job_count; job++) {
            fn(job, omp_get_thread_num(), user);
        }
        return;
    }
#endif
    (void)worker_count;
    for (int32_t job = 0; job < job_count; job++) {
        fn(job, 0, user);
    }
}
