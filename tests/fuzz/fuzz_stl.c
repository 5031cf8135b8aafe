#include "fuzz.h"
#include "mesh/read_stl.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_read(cr_read_stl, data, size);
    return 0;
}
