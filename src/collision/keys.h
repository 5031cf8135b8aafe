// keys.h - a bag of 64-bit keys that several workers fill at once, and its ascending order.
#pragma once

#include "core/array.h"
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

// Zero-initialised is empty. What is asked of the pool depends on the number of keys and workers
// alone, never on who found which: a second filling with as many keys takes no memory.
typedef struct cr_keys {
    CR_ARRAY(uint64_t) pool;         // block_count blocks, then one of each worker
    CR_ARRAY(uint64_t) spare;        // the other side of the sort
    CR_ARRAY(int32_t) filled;        // [block_count] keys in each block
    CR_ARRAY(cr_keys_cursor) cursor; // [worker_count]
    int32_t block_count, worker_count;
    atomic_int taken; // blocks handed out or asked for
    uint64_t* items;  // [count] after cr_keys_close
    int32_t count;
} cr_keys;

// Empties the bag for worker_count (>= 1) workers.
carom_status cr_keys_open(cr_keys* keys, int32_t worker_count);

// Gathers the keys into items, in no particular order. When the pool was too small it grows, *again
// is 1 and everything has to be put in once more; the second time it fits.
carom_status cr_keys_close(cr_keys* keys, int* again);

// Sorts items ascending by their lowest `bits` bits; the bits above have to be zero.
carom_status cr_keys_sort(cr_keys* keys, int32_t bits, int32_t worker_count);

void cr_keys_release(cr_keys* keys);

// Moves a worker on to a fresh block. Called by cr_keys_room.
void cr_keys_next_block(cr_keys* keys, cr_keys_cursor* cursor);

// Room for CR_KEYS_ROOM keys; the worker then adds what it wrote to cursor->at.
static inline uint64_t* cr_keys_room(cr_keys* keys, cr_keys_cursor* cursor)
{
    if (cursor->end - cursor->at < CR_KEYS_ROOM) {
        cr_keys_next_block(keys, cursor);
    }
    return cursor->at;
}
