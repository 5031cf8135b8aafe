// fuzz_scene -dict=tests/fuzz/scene.dict -max_len=2000 NEW tests/fuzz/corpus/scene examples
#include "fuzz_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_scene(data, size);
    return 0;
}
