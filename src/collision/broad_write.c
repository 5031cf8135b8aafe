#include "collision/broad_inside.h"
#include "core/parallel.h"

enum { JOB_PAIRS = 1 << 14 }; // pairs worth the handing out of a job

static cr_pair unpack_pair(const cr_broad* broad, uint64_t key)
{
    const cr_surface* s = broad->surface;
    const int32_t kind = (int32_t)(key >> 62);
    const int32_t first = (int32_t)(key >> 31 & INT32_MAX), second = (int32_t)(key & INT32_MAX);
    if (kind == CR_PAIR_PP) {
        return (cr_pair){kind, {first, -1, -1, second}};
    }
    if (kind == CR_PAIR_PT) {
        const int32_t* v = &s->face[3 * (size_t)broad->of[CR_FACE].at[first]];
        return (cr_pair){kind, {v[0], v[1], v[2], second}};
    }
    const int32_t* v = &s->edge[2 * (size_t)broad->of[CR_EDGE].at[first]];
    if (kind == CR_PAIR_PE) {
        return (cr_pair){kind, {v[0], v[1], -1, second}};
    }
    const int32_t* w = &s->edge[2 * (size_t)broad->of[CR_EDGE].at[second]];
    return (cr_pair){kind, {v[0], v[1], w[0], w[1]}};
}

static void write_job(int32_t job, int32_t worker, void* user)
{
    cr_broad* broad = user;
    (void)worker;
    for (int32_t g = broad->jobs.items[job]; g < broad->jobs.items[job + 1]; g++) {
        const cr_broad_group *at = &broad->groups.items[g], *next = at + 1;
        uint64_t* key = broad->key.items + at->key;
        const int32_t n = next->key - at->key;
        for (int32_t i = at->task; i < next->task; i++) {
            const cr_keys_run* run = &broad->tasks.items[i].run;
            cr_keys_copy(&broad->found, run, key);
            key += run->count;
        }
        key = broad->key.items + at->key;
        cr_keys_sort(key, broad->spare.items + at->key, n);
        for (int32_t i = 0; i < n; i++) {
            broad->out[at->key + i] = unpack_pair(broad, key[i]);
        }
    }
}

// Sorts the groups and writes their pairs to out.
carom_status cr_broad_write_groups(cr_broad* broad, int32_t worker_count, int32_t count,
                                   cr_pair_list* out)
{
    if (!cr_array_reserve(out, count) || !cr_array_reserve(&broad->key, count) ||
        !cr_array_reserve(&broad->spare, count)) {
        return CAROM_ERR_MEMORY;
    }
    if (count == 0) {
        return CAROM_OK;
    }
    int64_t weight = 0, sum = 0;
    broad->jobs.count = 0;
    int ok = cr_array_push(&broad->jobs, 0);
    for (int32_t g = 0; g < broad->groups.count && ok; g++) {
        cr_broad_group* at = &broad->groups.items[g];
        at->key = (int32_t)sum;
        if (g + 1 == broad->groups.count) {
            break;
        }
        for (int32_t i = at->task; i < at[1].task; i++) {
            sum += broad->tasks.items[i].run.count;
        }
        weight += sum - at->key;
        ok = cr_broad_end_job(broad, &weight, JOB_PAIRS, g + 1);
    }
    if (!ok || !cr_array_push(&broad->jobs, broad->groups.count - 1)) {
        return CAROM_ERR_MEMORY;
    }
    broad->out = out->items;
    cr_parallel_for(broad->jobs.count - 1, worker_count, write_job, broad);
    out->count = count;
    return CAROM_OK;
}
