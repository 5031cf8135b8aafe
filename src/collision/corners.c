#include "collision/corners.h"
#include "core/memory.h"

// The sine of the turn below which two edges go straight on: generators and files round their
// vertices by less, and no real corner is as blunt.
static const double straight = 1e-7;

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

static void mark_faces(const cr_surface* s, uint8_t* corner)
{
    for (int32_t v = 0; v < s->vertex_count; v++) {
        corner[v] = 1; // of a sphere or capsule
    }
    for (int32_t i = 0; i < 3 * s->face_count; i++) {
        corner[s->face[i]] = 0;
    }
}

carom_status cr_corners_find(const cr_surface* s, const double* p, const uint8_t* rigid,
                             uint8_t* corner)
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
    mark_faces(s, corner);
    for (int32_t v = 0; v < s->vertex_count; v++) {
        corner[v] |= !rigid[s->vertex_body[v]] || fans[v].count == 1 || fans[v].count > 2 ||
                     (fans[v].count == 2 && fans[v].bent);
    }
    cr_memory_free(fans);
    return CAROM_OK;
}
