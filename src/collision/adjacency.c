#include "collision/adjacency.h"
#include "core/memory.h"
#include <string.h>

// The sine of the turn below which two edges go straight on: generators and files round their
// vertices by less, and no real corner is as blunt.
static const double straight = 1e-7;

static void list_faces(cr_adjacency* a, const cr_surface* s)
{
    for (int32_t i = 0; i < 3 * s->face_count; i++) {
        a->start[s->face[i] + 1]++;
    }
    for (int32_t v = 0; v < s->vertex_count; v++) {
        a->start[v + 1] += a->start[v];
    }
    // start[v] runs ahead while v's faces are written, and is put back after that
    for (int32_t i = 0; i < 3 * s->face_count; i++) {
        a->face[a->start[s->face[i]]++] = i / 3;
    }
    memmove(a->start + 1, a->start, (size_t)s->vertex_count * sizeof(int32_t));
    a->start[0] = 0;
}

// What the edges that can touch make of their ends.
typedef struct fan {
    int32_t count;
    cr_vec3 first; // unit, along the first of two
    int32_t bent;  // nonzero: the second does not go straight on
} fan;

static void add_edge(fan* at, cr_vec3 along)
{
    const double length = cr_vec3_norm(along);
    const cr_vec3 d = length > 0.0 ? cr_vec3_scale(1.0 / length, along) : (cr_vec3){0, 0, 0};
    if (at->count == 0) {
        at->first = d;
    } else if (!(cr_vec3_dot(at->first, d) < 0.0 &&
                 cr_vec3_norm(cr_vec3_cross(at->first, d)) < straight)) {
        at->bent = 1;
    }
    at->count++;
}

static carom_status find_corners(cr_adjacency* a, const cr_surface* s, const double* p,
                                 const uint8_t* rigid)
{
    fan* fans = cr_memory_take((size_t)s->vertex_count, sizeof *fans);
    if (!fans) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t i = s->edge[2 * e], j = s->edge[2 * e + 1];
        const cr_vec3 d = cr_vec3_sub(cr_vec3_load(p + 3 * j), cr_vec3_load(p + 3 * i));
        add_edge(&fans[i], d);
        add_edge(&fans[j], cr_vec3_neg(d));
    }
    for (int32_t v = 0; v < s->vertex_count; v++) {
        const int soft = !rigid[s->vertex_body[v]];
        const int bare = a->start[v] == a->start[v + 1]; // of a sphere or capsule
        a->corner[v] = soft || bare || fans[v].count == 1 || fans[v].count > 2 ||
                       (fans[v].count == 2 && fans[v].bent);
    }
    cr_memory_free(fans);
    return CAROM_OK;
}

carom_status cr_adjacency_build(cr_adjacency* adjacency, const cr_surface* surface, const double* p,
                                const uint8_t* rigid)
{
    cr_adjacency_release(adjacency);
    adjacency->start = cr_memory_take((size_t)surface->vertex_count + 1, sizeof(int32_t));
    adjacency->face = cr_memory_take(3 * (size_t)surface->face_count, sizeof(int32_t));
    adjacency->corner = cr_memory_take((size_t)surface->vertex_count, 1);
    if (!adjacency->start || !adjacency->face || !adjacency->corner) {
        cr_adjacency_release(adjacency);
        return CAROM_ERR_MEMORY;
    }
    list_faces(adjacency, surface);
    const carom_status status = find_corners(adjacency, surface, p, rigid);
    if (status != CAROM_OK) {
        cr_adjacency_release(adjacency);
    }
    return status;
}

void cr_adjacency_release(cr_adjacency* adjacency)
{
    cr_memory_free(adjacency->start);
    cr_memory_free(adjacency->face);
    cr_memory_free(adjacency->corner);
    *adjacency = (cr_adjacency){0};
}
