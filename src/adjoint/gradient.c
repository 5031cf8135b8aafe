#include "adjoint/gradient.h"
#include "core/memory.h"
#include <string.h>

// Every array with its length, in one place: what is taken, zeroed and freed is this list.
typedef struct part {
    void** at;
    size_t count, size;
} part;

enum { PARTS = 20 };

static void list_parts(cr_gradient* g, part out[PARTS])
{
    const size_t f = (size_t)g->frame_count, n = (size_t)g->node_count;
    const size_t v = (size_t)g->vertex_count, b = (size_t)g->body_count;
    const part parts[PARTS] = {
        {(void**)&g->start.t, f, sizeof(cr_vec3)},
        {(void**)&g->start.q, f, sizeof(cr_vec3)},
        {(void**)&g->start.v, f, sizeof(cr_vec3)},
        {(void**)&g->start.om, f, sizeof(cr_vec3)},
        {(void**)&g->start.x, n, sizeof(cr_vec3)},
        {(void**)&g->start.xv, n, sizeof(cr_vec3)},
        {(void**)&g->mass, f, sizeof(double)},
        {(void**)&g->inertia, 3 * f, sizeof(double)},
        {(void**)&g->node_mass, n, sizeof(double)},
        {(void**)&g->friction, b, sizeof(double)},
        {(void**)&g->restitution, b, sizeof(double)},
        {(void**)&g->radius, b, sizeof(double)},
        {(void**)&g->linear_damping, b, sizeof(double)},
        {(void**)&g->angular_damping, b, sizeof(double)},
        {(void**)&g->p, v, sizeof(cr_vec3)},
        {(void**)&g->force, f, sizeof(cr_vec3)},
        {(void**)&g->torque, f, sizeof(cr_vec3)},
        {(void**)&g->node_force, n, sizeof(cr_vec3)},
        {(void**)&g->shift, v, sizeof(cr_vec3)},
        {(void**)&g->material, (size_t)g->sheet_count, sizeof(cr_cloth_material)},
    };
    memcpy(out, parts, sizeof parts);
}

carom_status cr_gradient_init(cr_gradient* g, const cr_model* model)
{
    *g = (cr_gradient){.frame_count = model->bodies.frame_count,
                       .node_count = model->bodies.node_count,
                       .vertex_count = model->bodies.vertex_count,
                       .body_count = model->bodies.body_count,
                       .sheet_count = model->sheet_count};
    part parts[PARTS];
    list_parts(g, parts);
    int ok = 1;
    for (int i = 0; i < PARTS && ok; i++) {
        *parts[i].at = cr_memory_take(parts[i].count, parts[i].size);
        ok = *parts[i].at != NULL;
    }
    g->corner = cr_memory_take((size_t)g->sheet_count, sizeof(double*));
    ok = ok && g->corner;
    for (int32_t s = 0; s < g->sheet_count && ok; s++) {
        g->corner[s] = cr_memory_take(6 * (size_t)model->sheet[s].face_count, sizeof(double));
        ok = g->corner[s] != NULL;
    }
    if (!ok) {
        cr_gradient_release(g);
        return CAROM_ERR_MEMORY;
    }
    return CAROM_OK;
}

void cr_gradient_zero(cr_gradient* g, const cr_model* model)
{
    part parts[PARTS];
    list_parts(g, parts);
    for (int i = 0; i < PARTS; i++) {
        memset(*parts[i].at, 0, parts[i].count * parts[i].size);
    }
    for (int32_t s = 0; s < g->sheet_count; s++) {
        memset(g->corner[s], 0, 6 * (size_t)model->sheet[s].face_count * sizeof(double));
    }
    memset(g->gravity, 0, sizeof g->gravity);
    memset(g->wind, 0, sizeof g->wind);
}

void cr_gradient_release(cr_gradient* g)
{
    part parts[PARTS];
    list_parts(g, parts);
    for (int i = 0; i < PARTS; i++) {
        cr_memory_free(*parts[i].at);
    }
    for (int32_t s = 0; g->corner && s < g->sheet_count; s++) {
        cr_memory_free(g->corner[s]);
    }
    cr_memory_free(g->corner);
    *g = (cr_gradient){0};
}
