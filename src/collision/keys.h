// keys.h - a bag of 64-bit keys that several workers fill at once, and the sorting of keys.
#pragma once

#include "core/array.h"
#include "core/status.h"
#include <stdatomic.h>

enum {
    CR_KEYS_BLOCK = 4096, // keys a worker takes from the pool at a time
    CR_KEYS_ROOM = 256,   // keys that may be written between two calls of cr_keys_room
};

// Where one worker writes. A cache line each, so that workers do not slow each other.
typedef struct cr_keys_cursor {
    uint64_t *at, *end; // next free place and end of the block
    int64_t count;      // keys in the blocks already left behind
    int32_t block;      // its block in the pool; block_count and beyond: the worker's own
    int32_t pad[9];
} cr_keys_cursor;

typedef struct cr_keys_block {
    int32_t count; // keys in it
    int32_t next;  // block its worker went on with
} cr_keys_block;

// Keys that one worker put in, one after the other.
typedef struct cr_keys_run {
    int64_t count; // after cr_keys_end; before, the worker's count at the beginning
    int32_t block, offset;
} cr_keys_run;

// Zero-initialised is empty. What is asked of the pool depends on the number of keys and workers
// alone, never on who found which: a second filling with as many keys takes no memory.
typedef struct cr_keys {
    CR_ARRAY(uint64_t) pool; // block_count blocks, then one of each worker
    CR_ARRAY(cr_keys_block) block;
    CR_ARRAY(cr_keys_cursor) cursor; // [worker_count]
    int32_t block_count, worker_count;
    atomic_int taken; // blocks handed out or asked for
} cr_keys;

// Empties the bag for worker_count (>= 1) workers.
carom_status cr_keys_open(cr_keys* keys, int32_t worker_count);

// Ends the filling; *count is the number of keys. When the pool was too small it grows, *again is 1
// and everything has to be put in once more; the second time it fits.
carom_status cr_keys_close(cr_keys* keys, int32_t* count, int* again);

void cr_keys_release(cr_keys* keys);

// Moves a worker on to a fresh block. Called by cr_keys_room.
void cr_keys_next_block(cr_keys* keys, cr_keys_cursor* cursor);

// Room for CR_KEYS_ROOM keys; the worker then moves cursor->at behind what it wrote.
static inline uint64_t* cr_keys_room(cr_keys* keys, cr_keys_cursor* cursor)
{
    if (cursor->end - cursor->at < CR_KEYS_ROOM) {
        cr_keys_next_block(keys, cursor);
    }
    return cursor->at;
}

// A run is what its worker puts in between begin and end.
cr_keys_run cr_keys_begin(cr_keys* keys, cr_keys_cursor* cursor);
void cr_keys_end(const cr_keys_cursor* cursor, cr_keys_run* run);

// Copies a run to out [run->count], once the bag is closed.
void cr_keys_copy(const cr_keys* keys, const cr_keys_run* run, uint64_t* out);

// Sorts key[0..n-1] ascending; scratch [n].
void cr_keys_sort(uint64_t* key, uint64_t* scratch, int32_t n);
