#include "core/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void cr_parallel_for(int32_t job_count, int32_t worker_count, cr_parallel_fn* fn, void* user)
{
#ifdef _OPENMP
    if (worker_count > 1 && job_count > 1) {
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
