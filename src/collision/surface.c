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

carom_status cr_surface_init(cr_surface* surface, int32_t body_count, int32_t vertex_count,
                             int32_t edge_count, int32_t face_count)
{
    *surface = (cr_surface){.body_count = body_count,
                            .vertex_count = vertex_count,
                            .edge_count = edge_count,
                            .face_count = face_count};
    if (body_count < 0 || vertex_count < 0 || edge_count < 0 || face_count < 0) {
        return CAROM_ERR_ARGUMENT;
    }
    surface->edge = cr_memory_take(2 * (size_t)edge_count, sizeof(int32_t));
    surface->face = cr_memory_take(3 * (size_t)face_count, sizeof(int32_t));
    surface->vertex_body = cr_memory_take((size_t)vertex_count, sizeof(int32_t));
    surface->body_vertex = cr_memory_take((size_t)body_count + 1, sizeof(int32_t));
    surface->body_edge = cr_memory_take((size_t)body_count + 1, sizeof(int32_t));
    surface->body_face = cr_memory_take((size_t)body_count + 1, sizeof(int32_t));
    surface->body_flags = cr_memory_take((size_t)body_count, sizeof(uint8_t));
    surface->body_group = cr_memory_take((size_t)body_count, sizeof(int32_t));
    if (!surface->edge || !surface->face || !surface->vertex_body || !surface->body_vertex ||
        !surface->body_edge || !surface->body_face || !surface->body_flags ||
        !surface->body_group) {
        cr_surface_release(surface);
        return CAROM_ERR_MEMORY;
    }
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
    *surface = (cr_surface){0};
}
