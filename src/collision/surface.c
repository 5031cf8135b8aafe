#include "collision/surface.h"
#include "core/memory.h"

int cr_surface_compare(const cr_pair* a, const cr_pair* b)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    for (int k = 0; k < 4; k++) {
        if (a->v[k] != b->v[k]) {
            return a->v[k] < b->v[k] ? -1 : 1;
        }
    }
    return 0;
}

static int32_t* take_indices(int32_t per_item, int32_t count, int32_t more)
{
    return (int32_t*)cr_memory_take((size_t)per_item * (size_t)count + (size_t)more,
                                    sizeof(int32_t));
}

carom_status cr_surface_init(cr_surface* surface, int32_t body_count, int32_t vertex_count,
                             int32_t edge_count, int32_t face_count)
{
    *surface = (cr_surface){0};
    if (body_count < 0 || vertex_count < 0 || edge_count < 0 || face_count < 0) {
        return CAROM_ERR_ARGUMENT;
    }
    surface->edge = take_indices(2, edge_count, 0);
    surface->face = take_indices(3, face_count, 0);
    surface->vertex_body = take_indices(1, vertex_count, 0);
    surface->body_vertex = take_indices(1, body_count, 1);
    surface->body_edge = take_indices(1, body_count, 1);
    surface->body_face = take_indices(1, body_count, 1);
    surface->body_flags = (uint8_t*)cr_memory_take((size_t)body_count, sizeof(uint8_t));
    surface->body_group = take_indices(1, body_count, 0);
    if (!surface->edge || !surface->face || !surface->vertex_body || !surface->body_vertex ||
        !surface->body_edge || !surface->body_face || !surface->body_flags ||
        !surface->body_group) {
        cr_surface_release(surface);
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < body_count; i++) {
        surface->body_group[i] = -1; // 0 would be a group, and all bodies in it
    }
    surface->body_count = body_count;
    surface->vertex_count = vertex_count;
    surface->edge_count = edge_count;
    surface->face_count = face_count;
    return CAROM_OK;
}

void cr_surface_release(cr_surface* surface)
{
    cr_memory_free(surface->edge);
    cr_memory_free(surface->face);
    cr_memory_free(surface->vertex_body);
    cr_memory_free(surface->body_vertex);
    cr_memory_free(surface->body_edge);
    cr_memory_free(surface->body_face);
    cr_memory_free(surface->body_flags);
    cr_memory_free(surface->body_group);
    cr_memory_free(surface->pass);
    *surface = (cr_surface){0};
}
