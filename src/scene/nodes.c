#include "scene/nodes.h"
#include <string.h>

// The border turns at a corner by more than this: cos 45 degrees.
static const double corner_cosine = 0.70710678118654752440;

typedef struct picker {
    const cr_json* json;
    const cr_cast* cast;
    const double* x;
    uint8_t* picked; // [node_count]
    cr_form_path* path;
    carom_error* error;
} picker;

static cr_vec3 direction(const cr_cast* cast, int32_t from, int32_t to)
{
    const cr_vec3 d = cr_vec3_sub(cr_trimesh_at(&cast->mesh, to), cr_trimesh_at(&cast->mesh, from));
    return cr_vec3_scale(1.0 / cr_vec3_norm(d), d);
}

// A border node has two border edges; with d the ways from it along both, the border goes on
// straight where their sum vanishes: cos of the turn is -d0.d1. A node with more of them is a
// corner at once.
static carom_status pick_border(picker* p, int corners)
{
    const cr_topology* t = &p->cast->topology;
    const size_t n = (size_t)p->cast->mesh.vertex_count;
    cr_vec3* way = cr_memory_take(n, sizeof *way);
    uint8_t* seen = cr_memory_take(n, 1);
    if (!way || !seen) {
        cr_memory_free(way);
        cr_memory_free(seen);
        return cr_status_refuse(p->error, CAROM_ERR_MEMORY, "not enough memory to pick nodes");
    }
    for (int32_t e = 0; e < t->edge_count; e++) {
        if (t->edge_kind[e] != CR_EDGE_BOUNDARY) {
            continue;
        }
        for (int k = 0; k < 2; k++) {
            const int32_t v = t->edge[2 * e + k];
            const cr_vec3 d = direction(p->cast, v, t->edge[2 * e + 1 - k]);
            const int turns = seen[v] > 1 || (seen[v] && -cr_vec3_dot(way[v], d) < corner_cosine);
            p->picked[v] |= !corners || turns;
            way[v] = d;
            seen[v] = (uint8_t)(seen[v] < 2 ? seen[v] + 1 : 2);
        }
    }
    cr_memory_free(way);
    cr_memory_free(seen);
    return CAROM_OK;
}

static carom_status pick_numbers(picker* p, int32_t value)
{
    const int32_t count = p->cast->mesh.vertex_count;
    int32_t i = 0;
    for (int32_t v = cr_json_at(p->json, value)->first; v >= 0;
         v = cr_json_at(p->json, v)->next, i++) {
        const double node = cr_json_at(p->json, v)->number;
        if (!(node < count)) {
            const size_t mark = cr_form_enter(p->path, NULL, i);
            const carom_status status =
                cr_form_refuse(p->json, v, p->path, p->error,
                               "is %.0f, but the cloth has only nodes 0 to %d", node, count - 1);
            cr_form_leave(p->path, mark);
            return status;
        }
        p->picked[(int32_t)node] = 1;
    }
    return CAROM_OK;
}

static void pick_box(picker* p, int32_t box)
{
    double least[3], most[3];
    cr_form_numbers(p->json, cr_json_child(p->json, box, 0), least, 3);
    cr_form_numbers(p->json, cr_json_child(p->json, box, 1), most, 3);
    for (int32_t v = 0; v < p->cast->mesh.vertex_count; v++) {
        int inside = 1;
        for (int i = 0; i < 3; i++) {
            const double x = p->x[3 * v + i];
            inside = inside && x >= least[i] && x <= most[i];
        }
        p->picked[v] |= (uint8_t)inside;
    }
}

static void pick_nearest(picker* p, cr_vec3 at)
{
    int32_t nearest = 0;
    double least = 0.0;
    for (int32_t v = 0; v < p->cast->mesh.vertex_count; v++) {
        const double d = cr_vec3_norm2(cr_vec3_sub(cr_vec3_load(p->x + 3 * (size_t)v), at));
        if (v == 0 || d < least) {
            least = d;
            nearest = v;
        }
    }
    p->picked[nearest] = 1;
}

static carom_status pick_place(picker* p, int32_t value)
{
    cr_nodes_spec spec;
    cr_form_read(p->json, value, &cr_format_nodes, &spec);
    const int has_nearest = spec.nearest[0] == spec.nearest[0];
    if ((spec.box >= 0) == has_nearest) {
        return cr_form_refuse(p->json, value, p->path, p->error,
                              "needs one of \"box\", \"nearest\"");
    }
    if (spec.box >= 0) {
        pick_box(p, spec.box);
    } else {
        pick_nearest(p, cr_vec3_load(spec.nearest));
    }
    return CAROM_OK;
}

static carom_status pick(picker* p, int32_t value)
{
    switch (cr_json_at(p->json, value)->kind) {
    case CR_JSON_ARRAY:
        return pick_numbers(p, value);
    case CR_JSON_OBJECT:
        return pick_place(p, value);
    default:
        if (strcmp(cr_json_text(p->json, value), "all") == 0) {
            memset(p->picked, 1, (size_t)p->cast->mesh.vertex_count);
            return CAROM_OK;
        }
        return pick_border(p, strcmp(cr_json_text(p->json, value), "corners") == 0);
    }
}

carom_status cr_nodes_pick(const cr_json* json, int32_t value, const cr_cast* cast, const double* x,
                           cr_form_path* path, cr_nodes_list* out, carom_error* error)
{
    picker p = {json, cast, x, cr_memory_take((size_t)cast->mesh.vertex_count, 1), path, error};
    if (!p.picked) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory to pick nodes");
    }
    out->count = 0;
    carom_status status = pick(&p, value);
    for (int32_t v = 0; v < cast->mesh.vertex_count && status == CAROM_OK; v++) {
        if (p.picked[v] && !cr_array_push(out, v)) {
            status = cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory to pick nodes");
        }
    }
    cr_memory_free(p.picked);
    if (status == CAROM_OK && out->count == 0) {
        status = cr_form_refuse(json, value, path, error, "picks no node of the cloth");
    }
    return status;
}
