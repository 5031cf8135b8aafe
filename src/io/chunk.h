// chunk.h - a binary file as a row of chunks: type, checksum, size, payload. Numbers are little
// endian, payloads a multiple of 8 bytes long, so that every double of a file stands at a multiple
// of 8. The checksum is the CRC-32 of type, size and payload.
#pragma once

#include "core/status.h"

enum { CR_CHUNK_HEAD = 16 }; // bytes before the payload: type (4), checksum (4), size (8)

// Four letters as they stand in the file.
#define CR_CHUNK_TYPE(a, b, c, d)                                                                  \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

// One chunk in memory, head included; kept from chunk to chunk. Zero-initialised is empty.
typedef struct cr_chunk {
    unsigned char* bytes; // 64-byte aligned
    size_t size;          // head and payload
    size_t capacity;
    size_t at;  // reading: the next byte to take
    int failed; // writing: memory could not be had; reading: something was beyond the end
} cr_chunk;

void cr_chunk_release(cr_chunk* chunk);

// Whether this machine keeps numbers as the file does.
int cr_chunk_order_fits(void);

// Writing: begin, put what belongs into it, end. end fills in the head, padding the payload to a
// multiple of 8, and is false when memory could not be had on the way.
void cr_chunk_begin(cr_chunk* chunk, uint32_t type);
void cr_chunk_put(cr_chunk* chunk, const void* data, size_t size);
void cr_chunk_pad(cr_chunk* chunk); // zeros up to a multiple of 8
int cr_chunk_end(cr_chunk* chunk);

// Reading. The head of a chunk taken apart:
void cr_chunk_head(const unsigned char head[CR_CHUNK_HEAD], uint32_t* type, uint64_t* size);
// Room for a whole chunk with this payload; false when it cannot be had. Empties the chunk.
int cr_chunk_reserve(cr_chunk* chunk, size_t payload);
// Once head and payload are in bytes: whether the checksum fits. Reading begins at the payload.
int cr_chunk_open(cr_chunk* chunk);
// The next count items of size bytes, a view into the chunk at a multiple of 8; NULL (and failed)
// when there are not so many.
const void* cr_chunk_get(cr_chunk* chunk, size_t count, size_t size);
