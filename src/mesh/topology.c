#include "mesh/topology.h"
#include "core/memory.h"

// Sine of the bend up to which two faces count as one plane. Rounded coordinates of a flat quad
// bend by 1e-16 (1e-13 when it stands a thousand of its sizes from the origin); a ridge of 1e-10
// rises above its own edges by less than any contact distance.
static const double flat_sine = 1e-10;

// One side of one face. Sorted by (a, b), the sides of an edge stand together, in face order.
typedef struct side {
    int32_t a, b;  // vertices, a < b
    int32_t place; // 3*face + corner
} side;

// Stable counting sort by a (or b); start holds vertex_count + 1 zeros when it comes.
static void sort_sides(const side* from, side* to, int32_t count, int by_b, int32_t* start,
                       int32_t vertex_count)
{
    for (int32_t i = 0; i < count; i++) {
        start[(by_b ? from[i].b : from[i].a) + 1]++;
    }
    for (int32_t v = 0; v < vertex_count; v++) {
        start[v + 1] += start[v];
    }
    for (int32_t i = 0; i < count; i++) {
        to[start[by_b ? from[i].b : from[i].a]++] = from[i];
    }
}

static cr_vec3 face_normal(const cr_trimesh* mesh, int32_t f)
{
    const cr_vec3 p = cr_trimesh_at(mesh, mesh->face[3 * f]);
    return cr_vec3_cross(cr_vec3_sub(cr_trimesh_at(mesh, mesh->face[3 * f + 1]), p),
                         cr_vec3_sub(cr_trimesh_at(mesh, mesh->face[3 * f + 2]), p));
}

// With n0 the normal of the first face and w the way from the edge to the second face's far
// vertex, n0.w / (|n0| h) is the sine of the bend, h being that vertex's height above the edge:
// negative for a ridge. Faces folded onto each other have sine 0 too, but opposite normals.
static cr_edge_kind bend(const cr_trimesh* mesh, const int32_t* edge, const int32_t* face,
                         int32_t far)
{
    const cr_vec3 a = cr_trimesh_at(mesh, edge[0]);
    const cr_vec3 e = cr_vec3_sub(cr_trimesh_at(mesh, edge[1]), a);
    const cr_vec3 w = cr_vec3_sub(cr_trimesh_at(mesh, far), a);
    const cr_vec3 n0 = face_normal(mesh, face[0]);
    const cr_vec3 n1 = face_normal(mesh, face[1]);
    const double h = cr_vec3_norm(cr_vec3_cross(e, w)) / cr_vec3_norm(e);
    const double sine = cr_vec3_dot(n0, w) / (cr_vec3_norm(n0) * h);
    if (sine > flat_sine) {
        return CR_EDGE_CONCAVE;
    }
    if (fabs(sine) <= flat_sine && cr_vec3_dot(n0, n1) > 0) {
        return CR_EDGE_FLAT;
    }
    return CR_EDGE_CONVEX;
}

// Does the side run from a to b, or against it?
static int forward(const cr_trimesh* mesh, side s)
{
    return mesh->face[s.place] == s.a;
}

static int32_t far_vertex(const cr_trimesh* mesh, side s)
{
    const int32_t f = s.place / 3;
    return mesh->face[3 * f + (s.place - 3 * f + 2) % 3];
}

static void fill_edge(cr_topology* t, const cr_trimesh* mesh, int32_t e, const side* s,
                      int32_t count)
{
    t->edge[2 * e] = s[0].a;
    t->edge[2 * e + 1] = s[0].b;
    for (int32_t k = 0; k < count; k++) {
        t->face_edge[s[k].place] = e;
    }
    for (int32_t k = 0; k < 2; k++) {
        t->edge_face[2 * e + k] = k < count ? s[k].place / 3 : -1;
        t->opposite[2 * e + k] = k < count ? far_vertex(mesh, s[k]) : -1;
    }
    if (count == 1) {
        t->edge_kind[e] = CR_EDGE_BOUNDARY;
    } else if (count > 2 || forward(mesh, s[0]) == forward(mesh, s[1])) {
        t->edge_kind[e] = CR_EDGE_TANGLED;
    } else {
        t->edge_kind[e] =
            (uint8_t)bend(mesh, t->edge + 2 * e, t->edge_face + 2 * e, t->opposite[2 * e + 1]);
    }
}

static int32_t run_length(const side* s, int32_t count)
{
    int32_t n = 1;
    while (n < count && s[n].a == s[0].a && s[n].b == s[0].b) {
        n++;
    }
    return n;
}

static carom_status take_arrays(cr_topology* t, int32_t side_count, int32_t edge_count)
{
    t->edge = cr_memory_take((size_t)edge_count, 2 * sizeof *t->edge);
    t->edge_face = cr_memory_take((size_t)edge_count, 2 * sizeof *t->edge_face);
    t->opposite = cr_memory_take((size_t)edge_count, 2 * sizeof *t->opposite);
    t->face_edge = cr_memory_take((size_t)side_count, sizeof *t->face_edge);
    t->edge_kind = cr_memory_take((size_t)edge_count, sizeof *t->edge_kind);
    return t->edge && t->edge_face && t->opposite && t->face_edge && t->edge_kind
               ? CAROM_OK
               : CAROM_ERR_MEMORY;
}

static carom_status gather(cr_topology* t, const cr_trimesh* mesh, const side* s, int32_t count)
{
    int32_t edge_count = 0;
    for (int32_t i = 0; i < count; i += run_length(s + i, count - i)) {
        edge_count++;
    }
    const carom_status status = take_arrays(t, count, edge_count);
    if (status != CAROM_OK) {
        cr_topology_release(t);
        return status;
    }
    t->vertex_count = mesh->vertex_count;
    t->face_count = mesh->face_count;
    t->edge_count = edge_count;
    int32_t i = 0;
    for (int32_t e = 0; e < edge_count; e++) {
        const int32_t n = run_length(s + i, count - i);
        fill_edge(t, mesh, e, s + i, n);
        i += n;
    }
    return CAROM_OK;
}

carom_status cr_topology_build(cr_topology* topology, const cr_trimesh* mesh)
{
    cr_topology_release(topology);
    if (!cr_trimesh_sound(mesh)) {
        return CAROM_ERR_MESH;
    }
    const int32_t n = 3 * mesh->face_count;
    const size_t buckets = (size_t)mesh->vertex_count + 1;
    side* sides = cr_memory_take((size_t)n, sizeof *sides);
    side* sorted = cr_memory_take((size_t)n, sizeof *sorted);
    int32_t* start = cr_memory_take(buckets, 2 * sizeof *start); // one half for each pass
    carom_status status = CAROM_ERR_MEMORY;
    if (sides && sorted && start) {
        for (int32_t i = 0; i < n; i++) {
            const int32_t p = mesh->face[i];
            const int32_t q = mesh->face[i % 3 == 2 ? i - 2 : i + 1];
            sides[i] = (side){p < q ? p : q, p < q ? q : p, i};
        }
        sort_sides(sides, sorted, n, 1, start, mesh->vertex_count);
        sort_sides(sorted, sides, n, 0, start + buckets, mesh->vertex_count);
        status = gather(topology, mesh, sides, n);
    }
    cr_memory_free(sides);
    cr_memory_free(sorted);
    cr_memory_free(start);
    return status;
}

void cr_topology_bend(cr_topology* topology, const cr_trimesh* mesh)
{
    for (int32_t e = 0; e < topology->edge_count; e++) {
        uint8_t* kind = &topology->edge_kind[e];
        if (*kind != CR_EDGE_BOUNDARY && *kind != CR_EDGE_TANGLED) {
            *kind = (uint8_t)bend(mesh, topology->edge + 2 * e, topology->edge_face + 2 * e,
                                  topology->opposite[2 * e + 1]);
        }
    }
}

int cr_topology_closed(const cr_topology* topology)
{
    int closed = topology->face_count > 0;
    for (int32_t e = 0; e < topology->edge_count; e++) {
        const int kind = topology->edge_kind[e];
        closed = closed && kind != CR_EDGE_BOUNDARY && kind != CR_EDGE_TANGLED;
    }
    return closed;
}

// An open mesh can be touched from both sides, and a valley is a ridge from behind.
int cr_topology_touches(const cr_topology* topology, int closed, int32_t edge)
{
    const int kind = topology->edge_kind[edge];
    return kind != CR_EDGE_FLAT && (!closed || kind != CR_EDGE_CONCAVE);
}

void cr_topology_release(cr_topology* topology)
{
    cr_memory_free(topology->edge);
    cr_memory_free(topology->edge_face);
    cr_memory_free(topology->opposite);
    cr_memory_free(topology->face_edge);
    cr_memory_free(topology->edge_kind);
    *topology = (cr_topology){0};
}
