#include "math/block_kernel.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define LANES 2
#define TARGET
#define NAME(x) x##_2
#define SET_NAME "2 lanes"
#include "math/block_kernel_body.h"

#if defined(__x86_64__)
// Wider vectors, still no fused multiply-add: the compiler is told not to contract, so the sums are
// those of the narrow set.
#undef LANES
#undef TARGET
#undef NAME
#undef SET_NAME
#define LANES 4
#define TARGET __attribute__((target("avx2")))
#define NAME(x) x##_4
#define SET_NAME "4 lanes"
#include "math/block_kernel_body.h"

#undef LANES
#undef TARGET
#undef NAME
#undef SET_NAME
#define LANES 8
#define TARGET __attribute__((target("avx512f")))
#define NAME(x) x##_8
#define SET_NAME "8 lanes"
#include "math/block_kernel_body.h"
#endif

const cr_block_kernel* cr_block_kernel_level(int level)
{
    switch (level) {
    case 0:
        return &set_2;
#if defined(__x86_64__)
    case 1:
        return __builtin_cpu_supports("avx2") ? &set_4 : NULL;
    case 2:
        return __builtin_cpu_supports("avx512f") ? &set_8 : NULL;
#endif
    default:
        return NULL;
    }
}

const cr_block_kernel* cr_block_kernel_best(void)
{
    int level = 0;
    while (cr_block_kernel_level(level + 1)) {
        level++;
    }
    return cr_block_kernel_level(level);
}
