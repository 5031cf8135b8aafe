#include "fuzz_trajectory.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size > 0) {
        fuzz_trajectory(data, size);
    }
    return 0;
}
