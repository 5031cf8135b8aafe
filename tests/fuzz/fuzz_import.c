// fuzz_import -dict=tests/fuzz/import.dict -max_len=600 -entropic=0 NEW tests/fuzz/corpus/import
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_import(data, size);
    return 0;
}
