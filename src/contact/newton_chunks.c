#include "contact/newton_chunks.h"
#include "core/parallel.h"
#include <string.h>

// Pairs of a chunk, and the least that are shared: testing one takes 20 to 200 ns, and a loop of
// less than some 50 us is done before other threads have woken.
enum { PAIRS = 256, LEAST_PAIRS = 4096 };

typedef struct chunks {
    cr_newton* newton;
    int32_t count, size;
    cr_newton_chunk_fn* fn;
} chunks;

static void run_chunk(int32_t chunk, int32_t worker, void* user)
{
    const chunks* c = user;
    const int32_t begin = chunk * c->size;
    (void)worker;
    c->fn(c->newton, begin, c->count - begin < c->size ? c->count : begin + c->size);
}

void cr_newton_chunks_run(cr_newton* newton, int32_t count, int32_t size, int32_t least,
                          cr_newton_chunk_fn* fn)
{
    chunks c = {newton, count, size, fn};
    const int32_t jobs = count / size + (count % size > 0);
    cr_parallel_for(jobs, count >= least ? newton->task->workers : 1, run_chunk, &c);
}

// What is picked in a chunk stands where the chunk begins.
typedef struct picking {
    cr_newton* newton;
    cr_newton_chunks_test* test;
    int32_t *list, *count; // [pairs], [chunks]
} picking;

static void pick_chunk(int32_t chunk, int32_t worker, void* user)
{
    const picking* p = user;
    const int32_t begin = chunk * PAIRS, all = p->newton->pair.count;
    const int32_t end = all - begin < PAIRS ? all : begin + PAIRS;
    int32_t to = begin;
    (void)worker;
    for (int32_t i = begin; i < end; i++) {
        if (p->test(p->newton, i)) {
            p->list[to++] = i;
        }
    }
    p->count[chunk] = to - begin;
}

carom_status cr_newton_chunks_pick(cr_newton* newton, cr_newton_chunks_test* test,
                                   cr_newton_list* out)
{
    const int32_t all = newton->pair.count, jobs = all / PAIRS + (all % PAIRS > 0);
    out->count = 0;
    if (!cr_array_reserve(out, all) || !cr_array_reserve(&newton->picked, jobs)) {
        return CAROM_ERR_MEMORY;
    }
    picking p = {newton, test, out->items, newton->picked.items};
    cr_parallel_for(jobs, all >= LEAST_PAIRS ? newton->task->workers : 1, pick_chunk, &p);
    for (int32_t chunk = 0; chunk < jobs; chunk++) {
        memmove(out->items + out->count, out->items + (ptrdiff_t)chunk * PAIRS,
                (size_t)p.count[chunk] * sizeof *out->items);
        out->count += p.count[chunk];
    }
    return CAROM_OK;
}
