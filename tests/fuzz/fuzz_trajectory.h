// fuzz_trajectory.h - what the fuzzer of trajectories does with its bytes: open them as they are,
// and once more with every checksum put right, so that what stands behind the checksums is reached.
// Whatever opens has to keep its promises: indices in range, numbers finite, every frame readable.
#pragma once

#include "collision/intersect_frame.h"
#include "core/memory.h"
#include "io/trajectory.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static inline void fuzz_keep(int kept)
{
    if (!kept) {
        abort();
    }
}

static inline void fuzz_frame(cr_trajectory* tr, double* x)
{
    const cr_model* m = tr->model;
    cr_state_vertices(&tr->state, m, x);
    for (int32_t i = 0; i < tr->step->contact_count; i++) {
        const cr_trajectory_contact* c = &tr->contact[i];
        fuzz_keep(c->body[0] >= 0 && c->body[0] < m->bodies.body_count);
        fuzz_keep(c->body[1] >= 0 && c->body[1] < m->bodies.body_count);
        fuzz_keep(isfinite(c->impulse[2]));
    }
}

static inline void fuzz_open(const void* data, size_t size)
{
    cr_trajectory* tr = NULL;
    carom_error error = {CAROM_OK, {0}};
    const carom_status status = cr_trajectory_parse(data, size, "fuzz", &tr, &error);
    if (status != CAROM_OK) {
        fuzz_keep(!tr && error.status == status && error.message[0] != 0);
        return;
    }
    const cr_surface* s = &tr->model->surface;
    fuzz_keep(tr->scene_name && tr->scene_text && tr->outcome_text && tr->end_at <= (int64_t)size);
    for (int32_t i = 0; i < 3 * s->face_count; i++) {
        fuzz_keep(s->face[i] >= 0 && s->face[i] < s->vertex_count);
    }
    for (int32_t b = 0; b < s->body_count; b++) {
        fuzz_keep(tr->model->name[b] != NULL && tr->model->bodies.radius[b] >= 0);
    }
    double* x = cr_memory_take(3 * (size_t)s->vertex_count, sizeof *x);
    fuzz_keep(x != NULL);
    for (int32_t i = 0; i < tr->frame.count; i++) {
        fuzz_keep(cr_trajectory_read(tr, i, &error) == CAROM_OK && tr->now == i);
        fuzz_frame(tr, x);
    }
    fuzz_keep(cr_trajectory_read(tr, tr->frame.count, &error) == CAROM_ERR_ARGUMENT);
    cr_memory_free(x);
    cr_trajectory_close(tr);
}

// Puts right the checksum of every chunk that is wholly there.
static inline void fuzz_mend(unsigned char* data, size_t size)
{
    size_t at = sizeof(cr_trajectory_start);
    while (at <= size && size - at >= CR_CHUNK_HEAD) {
        uint32_t type;
        uint64_t payload;
        cr_chunk_head(data + at, &type, &payload);
        if (payload > size - at - CR_CHUNK_HEAD) {
            return;
        }
        uLong crc = crc32_z(0, data + at, 4);
        crc = crc32_z(crc, data + at + 8, CR_CHUNK_HEAD - 8 + (size_t)payload);
        const uint32_t sum = (uint32_t)crc;
        memcpy(data + at + 4, &sum, sizeof sum);
        at += CR_CHUNK_HEAD + (size_t)payload;
    }
}

static inline void fuzz_trajectory(const uint8_t* data, size_t size)
{
    fuzz_open(data, size);
    unsigned char* copy = malloc(size ? size : 1); // just so long: reading beyond it is seen
    fuzz_keep(copy != NULL);
    memcpy(copy, data, size);
    fuzz_mend(copy, size);
    fuzz_open(copy, size);
    free(copy);
}
