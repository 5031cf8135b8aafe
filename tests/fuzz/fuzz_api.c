// fuzz_api -max_len=64 -entropic=0 -len_control=0 NEW tests/fuzz/corpus/api
#include "fuzz_api.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_api_run(data, size);
    return 0;
}
