// fuzz_scene -dict=tests/fuzz/scene.dict -max_len=500 -entropic=0 NEW tests/fuzz/corpus/scene
#include "fuzz_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_scene(data, size);
    return 0;
}
