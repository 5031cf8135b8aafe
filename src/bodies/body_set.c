#include "bodies/body_set.h"
#include "core/memory.h"

carom_status cr_body_set_init(cr_body_set* set, int32_t body_count, int32_t vertex_count,
                              int32_t frame_count, int32_t node_count)
{
    const size_t b = (size_t)body_count, v = (size_t)vertex_count;
    const size_t f = (size_t)frame_count, n = (size_t)node_count;
    *set = (cr_body_set){.body_count = body_count,
                         .vertex_count = vertex_count,
                         .frame_count = frame_count,
                         .node_count = node_count};
    set->kind = cr_memory_take(b, 1);
    set->frame = cr_memory_take(b, sizeof(int32_t));
    set->vertex = cr_memory_take(b + 1, sizeof(int32_t));
    set->radius = cr_memory_take(b, sizeof(double));
    set->width = cr_memory_take(b, sizeof(double));
    set->stiffness = cr_memory_take(b, sizeof(double));
    set->friction = cr_memory_take(b, sizeof(double));
    set->restitution = cr_memory_take(b, sizeof(double));
    set->vertex_body = cr_memory_take(v, sizeof(int32_t));
    set->node = cr_memory_take(v, sizeof(int32_t));
    set->p = cr_memory_take(3 * v, sizeof(double));
    set->frame_body = cr_memory_take(f, sizeof(int32_t));
    set->mass = cr_memory_take(f, sizeof(double));
    set->inertia = cr_memory_take(3 * f, sizeof(double));
    set->extent = cr_memory_take(f, sizeof(double));
    set->lock = cr_memory_take(f, 1);
    set->node_vertex = cr_memory_take(n, sizeof(int32_t));
    set->node_mass = cr_memory_take(n, sizeof(double));
    set->node_pinned = cr_memory_take(n, 1);
    if (!set->kind || !set->frame || !set->vertex || !set->radius || !set->width ||
        !set->stiffness || !set->friction || !set->restitution || !set->vertex_body || !set->node ||
        !set->p || !set->frame_body || !set->mass || !set->inertia || !set->extent || !set->lock ||
        !set->node_vertex || !set->node_mass || !set->node_pinned) {
        cr_body_set_release(set);
        return CAROM_ERR_MEMORY;
    }
    return CAROM_OK;
}

void cr_body_set_release(cr_body_set* set)
{
    void* const blocks[] = {set->kind,        set->frame,       set->vertex,      set->radius,
                            set->friction,    set->restitution, set->vertex_body, set->node,
                            set->p,           set->frame_body,  set->mass,        set->inertia,
                            set->extent,      set->lock,        set->node_vertex, set->node_mass,
                            set->node_pinned, set->width,       set->stiffness};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
    *set = (cr_body_set){0};
}

double cr_body_set_friction(const cr_body_set* set, int32_t a, int32_t b)
{
    return sqrt(set->friction[a] * set->friction[b]);
}

double cr_body_set_restitution(const cr_body_set* set, int32_t a, int32_t b)
{
    return cr_max(set->restitution[a], set->restitution[b]);
}
