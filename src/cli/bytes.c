#include "cli/bytes.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

unsigned char* cli_bytes_room(cli_bytes* b, size_t size)
{
    if (b->failed || size > SIZE_MAX / 4 - b->size) {
        b->failed = 1;
        return NULL;
    }
    if (b->size + size > b->capacity) {
        const size_t capacity = 2 * (b->size + size) + 64;
        unsigned char* grown = realloc(b->at, capacity);
        if (!grown) {
            b->failed = 1;
            return NULL;
        }
        b->at = grown;
        b->capacity = capacity;
    }
    unsigned char* here = b->at + b->size;
    b->size += size;
    return here;
}

void cli_bytes_put(cli_bytes* b, const void* data, size_t size)
{
    unsigned char* to = cli_bytes_room(b, size);
    if (to && size > 0) {
        memcpy(to, data, size);
    }
}

void cli_bytes_put_float(cli_bytes* b, double value)
{
    const float f = (float)value;
    cli_bytes_put(b, &f, sizeof f);
}

void cli_bytes_release(cli_bytes* b)
{
    free(b->at);
    *b = (cli_bytes){0};
}

void cli_bytes_letters(FILE* out, const unsigned char* p, size_t size)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t n = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                           (left > 2 ? (uint32_t)p[i + 2] : 0);
        putc(letter[n >> 18], out);
        putc(letter[n >> 12 & 63], out);
        putc(left > 1 ? letter[n >> 6 & 63] : '=', out);
        putc(left > 2 ? letter[n & 63] : '=', out);
    }
}
