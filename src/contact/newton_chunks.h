// newton_chunks.h - loops of a Newton solve over many equal things, shared among its workers in
// chunks that do not depend on how many there are.
#pragma once

#include "contact/newton_inside.h"

// What a chunk does: things begin to end - 1, and writes where those are alone.
typedef void cr_newton_chunk_fn(cr_newton* newton, int32_t begin, int32_t end);

// Runs fn over all chunks of `size` things; with one worker where there are less than `least`.
void cr_newton_chunks_run(cr_newton* newton, int32_t count, int32_t size, int32_t least,
                          cr_newton_chunk_fn* fn);

// Whether a pair belongs into a list. It may write to that pair.
typedef int cr_newton_chunks_test(cr_newton* newton, int32_t pair);

// Those of all pairs, ascending.
carom_status cr_newton_chunks_pick(cr_newton* newton, cr_newton_chunks_test* test,
                                   cr_newton_list* out);
