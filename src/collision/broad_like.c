#include "collision/broad_inside.h"
#include <string.h>

// Bodies of the same shape share their trees: a field of a thousand stones of ten kinds has ten.

static uint64_t mix(uint64_t hash, const void* bytes, size_t size)
{
    const unsigned char* at = bytes;
    uint64_t word = 0;
    for (size_t i = 0; i < size; i += sizeof word) {
        memcpy(&word, at + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

// The same vertices in its own frame, joined in the same way.
static int same_shape(const cr_broad* broad, int32_t a, int32_t b)
{
    const cr_surface* s = broad->surface;
    const size_t vertices = cr_broad_count(s, CR_VERTEX, a);
    if (vertices != cr_broad_count(s, CR_VERTEX, b) ||
        memcmp(broad->p + 3 * (size_t)s->body_vertex[a], broad->p + 3 * (size_t)s->body_vertex[b],
               3 * vertices * sizeof(double)) != 0) {
        return 0;
    }
    const int32_t shift = s->body_vertex[b] - s->body_vertex[a];
    for (cr_feature f = CR_EDGE; f < CR_FEATURES; f++) {
        const size_t corners = (size_t)cr_broad_corners(f), count = cr_broad_count(s, f, a);
        const int32_t* va = &cr_broad_vertices(s, f)[corners * (size_t)cr_broad_range(s, f)[a]];
        const int32_t* vb = &cr_broad_vertices(s, f)[corners * (size_t)cr_broad_range(s, f)[b]];
        if (count != cr_broad_count(s, f, b)) {
            return 0;
        }
        for (size_t i = 0; i < corners * count; i++) {
            if (va[i] + shift != vb[i]) {
                return 0;
            }
        }
    }
    return 1;
}

// Finds the first body of each shape. key, spare [body_count]: the bodies by hash of their
// vertices, then by number; a body is compared with the first of those that it shares a hash with.
void cr_broad_like_find(cr_broad* broad, uint64_t* key, uint64_t* spare)
{
    const cr_surface* s = broad->surface;
    int32_t count = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        broad->like[b] = b;
        if (broad->carried[b]) {
            const uint64_t hash = mix(0, broad->p + 3 * (size_t)s->body_vertex[b],
                                      3 * cr_broad_count(s, CR_VERTEX, b) * sizeof(double));
            key[count++] = (hash & 0xffffffff00000000u) | (uint64_t)b;
        }
    }
    cr_keys_sort(key, spare, count);
    int32_t first = -1;
    for (int32_t i = 0; i < count; i++) {
        const int32_t b = (int32_t)(key[i] & INT32_MAX);
        const int same_hash = i > 0 && key[i] >> 32 == key[i - 1] >> 32;
        if (same_hash && same_shape(broad, first, b)) {
            broad->like[b] = first;
        } else {
            first = b;
        }
    }
}

const int32_t* cr_broad_like(const cr_broad* broad)
{
    return broad->like;
}
