// bytes.h - bytes that grow, and bytes as letters.
#pragma once

#include <stddef.h>
#include <stdio.h>

// Zero-initialised is empty. Once memory was short it stays failed.
typedef struct cli_bytes {
    unsigned char* at;
    size_t size, capacity;
    int failed;
} cli_bytes;

// size more bytes, not set; NULL when memory is short.
unsigned char* cli_bytes_room(cli_bytes* bytes, size_t size);
void cli_bytes_put(cli_bytes* bytes, const void* data, size_t size);
void cli_bytes_put_float(cli_bytes* bytes, double value); // as 4 bytes
void cli_bytes_release(cli_bytes* bytes);

// Writes bytes as base64.
void cli_bytes_letters(FILE* out, const unsigned char* data, size_t size);
