#include "io/chunk.h"
#include "core/memory.h"
#include <string.h>
#include <zlib.h>

enum { ALIGN = 8 };

void cr_chunk_release(cr_chunk* chunk)
{
    cr_memory_free(chunk->bytes);
    *chunk = (cr_chunk){0};
}

int cr_chunk_order_fits(void)
{
    const uint32_t letters = CR_CHUNK_TYPE('a', 'b', 'c', 'd');
    return memcmp(&letters, "abcd", 4) == 0;
}

// Room for more bytes behind those that are there.
static int grow(cr_chunk* chunk, size_t more)
{
    if (more <= chunk->capacity - chunk->size) {
        return 1;
    }
    if (more > SIZE_MAX / 4 || chunk->size > SIZE_MAX / 4) {
        return 0;
    }
    const size_t wanted = chunk->size + more, half_more = chunk->capacity + chunk->capacity / 2;
    const size_t capacity = wanted > half_more ? wanted : half_more;
    unsigned char* bytes = cr_memory_grow(chunk->bytes, chunk->size, capacity, 1);
    if (!bytes) {
        return 0;
    }
    chunk->bytes = bytes;
    chunk->capacity = capacity;
    return 1;
}

void cr_chunk_begin(cr_chunk* chunk, uint32_t type)
{
    static const unsigned char later[CR_CHUNK_HEAD - 4] = {0}; // checksum and size
    chunk->size = 0;
    chunk->failed = 0;
    cr_chunk_put(chunk, &type, sizeof type);
    cr_chunk_put(chunk, later, sizeof later);
}

void cr_chunk_put(cr_chunk* chunk, const void* data, size_t size)
{
    if (chunk->failed || !grow(chunk, size)) {
        chunk->failed = 1;
        return;
    }
    if (size > 0) {
        memcpy(chunk->bytes + chunk->size, data, size);
        chunk->size += size;
    }
}

void cr_chunk_pad(cr_chunk* chunk)
{
    static const unsigned char zeros[ALIGN] = {0};
    cr_chunk_put(chunk, zeros, (ALIGN - chunk->size % ALIGN) % ALIGN);
}

// Of type, size and payload: the head without the checksum itself.
static uint32_t checksum(const cr_chunk* chunk)
{
    uLong crc = crc32_z(0, chunk->bytes, 4);
    crc = crc32_z(crc, chunk->bytes + 8, chunk->size - 8);
    return (uint32_t)crc;
}

int cr_chunk_end(cr_chunk* chunk)
{
    cr_chunk_pad(chunk);
    if (chunk->failed) {
        return 0;
    }
    const uint64_t size = chunk->size - CR_CHUNK_HEAD;
    memcpy(chunk->bytes + 8, &size, sizeof size);
    const uint32_t crc = checksum(chunk);
    memcpy(chunk->bytes + 4, &crc, sizeof crc);
    return 1;
}

void cr_chunk_head(const unsigned char head[CR_CHUNK_HEAD], uint32_t* type, uint64_t* size)
{
    memcpy(type, head, sizeof *type);
    memcpy(size, head + 8, sizeof *size);
}

int cr_chunk_reserve(cr_chunk* chunk, size_t payload)
{
    chunk->size = chunk->at = 0;
    chunk->failed = 0;
    if (payload > SIZE_MAX / 4 || !grow(chunk, payload + CR_CHUNK_HEAD)) {
        return 0;
    }
    chunk->size = payload + CR_CHUNK_HEAD;
    return 1;
}

int cr_chunk_open(cr_chunk* chunk)
{
    uint32_t crc;
    memcpy(&crc, chunk->bytes + 4, sizeof crc);
    chunk->at = CR_CHUNK_HEAD;
    chunk->failed = 0;
    return crc == checksum(chunk);
}

const void* cr_chunk_get(cr_chunk* chunk, size_t count, size_t size)
{
    const size_t left = chunk->size - chunk->at;
    if (chunk->failed || (size > 0 && count > left / size)) {
        chunk->failed = 1;
        return NULL;
    }
    const unsigned char* at = chunk->bytes + chunk->at;
    const size_t taken = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    if (taken > left) {
        chunk->failed = 1;
        return NULL;
    }
    chunk->at += taken;
    return at;
}
