#include "mesh/trimesh.h"
#include "core/memory.h"
#include <string.h>

static int acceptable(int32_t count)
{
    return count >= 0 && count <= CR_TRIMESH_MOST;
}

carom_status cr_trimesh_init(cr_trimesh* mesh, int32_t vertex_count, int32_t face_count,
                             int32_t uv_count)
{
    cr_trimesh_release(mesh);
    if (!acceptable(vertex_count) || !acceptable(face_count) || !acceptable(uv_count)) {
        return CAROM_ERR_ARGUMENT;
    }
    mesh->x = cr_memory_take((size_t)vertex_count, 3 * sizeof *mesh->x);
    mesh->face = cr_memory_take((size_t)face_count, 3 * sizeof *mesh->face);
    if (uv_count > 0) {
        mesh->uv = cr_memory_take((size_t)uv_count, 2 * sizeof *mesh->uv);
        mesh->face_uv = cr_memory_take((size_t)face_count, 3 * sizeof *mesh->face_uv);
    }
    if (!mesh->x || !mesh->face || (uv_count > 0 && (!mesh->uv || !mesh->face_uv))) {
        cr_trimesh_release(mesh);
        return CAROM_ERR_MEMORY;
    }
    mesh->vertex_count = vertex_count;
    mesh->face_count = face_count;
    mesh->uv_count = uv_count;
    return CAROM_OK;
}

static void copy(void* to, const void* from, int32_t count, size_t size)
{
    if (count > 0) {
        memcpy(to, from, (size_t)count * size);
    }
}

carom_status cr_trimesh_copy(cr_trimesh* to, const cr_trimesh* from)
{
    const carom_status status =
        cr_trimesh_init(to, from->vertex_count, from->face_count, from->uv_count);
    if (status != CAROM_OK) {
        return status;
    }
    copy(to->x, from->x, from->vertex_count, 3 * sizeof *to->x);
    copy(to->face, from->face, from->face_count, 3 * sizeof *to->face);
    if (from->uv_count > 0) {
        copy(to->uv, from->uv, from->uv_count, 2 * sizeof *to->uv);
        copy(to->face_uv, from->face_uv, from->face_count, 3 * sizeof *to->face_uv);
    }
    return CAROM_OK;
}

void cr_trimesh_release(cr_trimesh* mesh)
{
    cr_memory_free(mesh->x);
    cr_memory_free(mesh->face);
    cr_memory_free(mesh->uv);
    cr_memory_free(mesh->face_uv);
    *mesh = (cr_trimesh){0};
}

static int all_below(const int32_t* index, int32_t count, int32_t limit)
{
    for (int32_t i = 0; i < count; i++) {
        if (index[i] < 0 || index[i] >= limit) {
            return 0;
        }
    }
    return 1;
}

int cr_trimesh_sound(const cr_trimesh* mesh)
{
    if (!all_below(mesh->face, 3 * mesh->face_count, mesh->vertex_count) ||
        (mesh->uv_count > 0 && !all_below(mesh->face_uv, 3 * mesh->face_count, mesh->uv_count))) {
        return 0;
    }
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const int32_t* v = mesh->face + 3 * f;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) {
            return 0;
        }
    }
    return 1;
}

void cr_trimesh_box(const cr_trimesh* mesh, cr_vec3* least, cr_vec3* most)
{
    int any = 0;
    *least = *most = (cr_vec3){0, 0, 0};
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        const cr_vec3 p = cr_trimesh_at(mesh, i);
        if (cr_vec3_finite(p)) {
            *least = any ? cr_vec3_min(*least, p) : p;
            *most = any ? cr_vec3_max(*most, p) : p;
            any = 1;
        }
    }
}
