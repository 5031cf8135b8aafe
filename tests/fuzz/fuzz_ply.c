#include "fuzz.h"
#include "mesh/read_ply.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_read(cr_read_ply, data, size);
    return 0;
}
