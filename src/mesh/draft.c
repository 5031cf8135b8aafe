#include "mesh/draft.h"
#include "mesh/weld.h"

carom_status cr_draft_vertex(cr_draft* draft, const double x[3])
{
    if (cr_draft_vertex_count(draft) >= CR_TRIMESH_MOST) {
        return CAROM_ERR_MESH;
    }
    if (!cr_array_reserve(&draft->x, draft->x.count + 3)) {
        return CAROM_ERR_MEMORY;
    }
    for (int k = 0; k < 3; k++) {
        draft->x.items[draft->x.count++] = x[k];
    }
    return CAROM_OK;
}

carom_status cr_draft_uv(cr_draft* draft, const double uv[2])
{
    if (cr_draft_uv_count(draft) >= CR_TRIMESH_MOST) {
        return CAROM_ERR_MESH;
    }
    if (!cr_array_reserve(&draft->uv, draft->uv.count + 2)) {
        return CAROM_ERR_MEMORY;
    }
    draft->uv.items[draft->uv.count++] = uv[0];
    draft->uv.items[draft->uv.count++] = uv[1];
    return CAROM_OK;
}

carom_status cr_draft_face(cr_draft* draft, const int32_t vertex[3], const int32_t* uv)
{
    if (draft->face.count / 3 >= CR_TRIMESH_MOST) {
        return CAROM_ERR_MESH;
    }
    const int with_uv = uv && !draft->bare;
    draft->bare = !with_uv;
    if (!cr_array_reserve(&draft->face, draft->face.count + 3) ||
        (with_uv && !cr_array_reserve(&draft->face_uv, draft->face_uv.count + 3))) {
        return CAROM_ERR_MEMORY;
    }
    for (int k = 0; k < 3; k++) {
        draft->face.items[draft->face.count++] = vertex[k];
        if (with_uv) {
            draft->face_uv.items[draft->face_uv.count++] = uv[k];
        }
    }
    return CAROM_OK;
}

carom_status cr_draft_weld(cr_draft* draft)
{
    const int32_t n = cr_draft_vertex_count(draft);
    int32_t* map = cr_memory_take((size_t)n, sizeof *map);
    int32_t count = 0;
    const carom_status status =
        map ? cr_weld_map(draft->x.items, n, 0, map, &count) : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        int32_t founded = 0;
        for (int32_t i = 0; i < n; i++) { // the first point of each place gives it its position
            for (int k = 0; map[i] == founded && k < 3; k++) {
                draft->x.items[3 * founded + k] = draft->x.items[3 * i + k];
            }
            founded += map[i] == founded;
        }
        for (int32_t i = 0; i < draft->face.count; i++) {
            draft->face.items[i] = map[draft->face.items[i]];
        }
        draft->x.count = 3 * count;
    }
    cr_memory_free(map);
    return status;
}

carom_status cr_draft_finish(cr_draft* draft, cr_trimesh* mesh)
{
    cr_trimesh_release(mesh);
    // arrays may be missing altogether: a mesh always has its two
    if (!cr_array_reserve(&draft->x, 1) || !cr_array_reserve(&draft->face, 1)) {
        cr_draft_release(draft);
        return CAROM_ERR_MEMORY;
    }
    mesh->vertex_count = cr_draft_vertex_count(draft);
    mesh->face_count = draft->face.count / 3;
    mesh->x = draft->x.items;
    mesh->face = draft->face.items;
    draft->x.items = NULL;
    draft->face.items = NULL;
    if (!draft->bare && draft->face_uv.count > 0) {
        mesh->uv_count = cr_draft_uv_count(draft);
        mesh->uv = draft->uv.items;
        mesh->face_uv = draft->face_uv.items;
        draft->uv.items = NULL;
        draft->face_uv.items = NULL;
    }
    cr_draft_release(draft);
    return CAROM_OK;
}

void cr_draft_release(cr_draft* draft)
{
    cr_array_release(&draft->x);
    cr_array_release(&draft->uv);
    cr_array_release(&draft->face);
    cr_array_release(&draft->face_uv);
    draft->bare = 0;
}
