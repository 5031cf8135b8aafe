#include "bodies/cloth.h"
#include "bodies/cloth_parts.h"
#include "core/assert.h"
#include "core/memory.h"

#define ROW(field) offsetof(cr_cloth_material, field)
const cr_param cr_cloth_params[] = {
    {"density", "kg/m^2", "mass per rest area", 0.2, 1e-6, 1e6, ROW(density), 1},
    {"c11", "N/m", "stretch modulus along warp (u)", 1000.0, 0.0, 1e9, ROW(c11), 1},
    {"c22", "N/m", "stretch modulus along weft (v)", 1000.0, 0.0, 1e9, ROW(c22), 1},
    {"c12", "N/m", "modulus that couples warp and weft", 300.0, -1e9, 1e9, ROW(c12), 1},
    {"c33", "N/m", "shear modulus", 350.0, 0.0, 1e9, ROW(c33), 1},
    {"bend", "N m", "bending stiffness of the hinges", 1e-5, 0.0, 1e3, ROW(bend), 1},
    {"damping", "s", "stretch damping: viscous stress per strain rate over the moduli", 0.0, 0.0,
     1e3, ROW(damping), 1},
    {"bend_damping", "s", "bending damping, likewise over the bending stiffness", 0.0, 0.0, 1e3,
     ROW(bend_damping), 1},
    {"drag_normal", "kg/m^3", "air drag across the sheet, per speed squared", 0.0, 0.0, 1e3,
     ROW(drag_normal), 1},
    {"drag_tangent", "kg/(m^2 s)", "air drag along the sheet, per speed", 0.0, 0.0, 1e3,
     ROW(drag_tangent), 1},
    {0},
};
#undef ROW

cr_cloth_material cr_cloth_material_default(void)
{
    cr_cloth_material material;
    for (const cr_param* row = cr_cloth_params; row->name; row++) {
        *(double*)((char*)&material + row->offset) = row->fallback;
    }
    return material;
}

carom_status cr_cloth_material_check(const cr_cloth_material* material, const char* where,
                                     carom_error* error)
{
    for (const cr_param* row = cr_cloth_params; row->name; row++) {
        const double value = *(const double*)((const char*)material + row->offset);
        if (!(value >= row->least && value <= row->most)) {
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                    "%s.%s is %g %s; it has to lie between %g and %g", where,
                                    row->name, value, row->unit, row->least, row->most);
        }
    }
    const double most = sqrt(material->c11) * sqrt(material->c22);
    if (!(fabs(material->c12) <= most)) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "%s.c12 is %g N/m; with c11 = %g and c22 = %g N/m its size may be "
                                "%g at most, or stretching would release energy",
                                where, material->c12, material->c11, material->c22, most);
    }
    return CAROM_OK;
}

// ---- build ----

// An entry of a list to be sorted: an ordered node pair and the corner it came from.
typedef struct node_pair {
    int32_t low, high, corner;
} node_pair;

static int pair_before(const node_pair* a, const node_pair* b)
{
    if (a->low != b->low) {
        return a->low < b->low;
    }
    return a->high != b->high ? a->high < b->high : a->corner < b->corner;
}

static void sink(node_pair* list, int32_t root, int32_t count)
{
    const node_pair item = list[root];
    for (int32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && pair_before(&list[child], &list[child + 1])) {
            child++;
        }
        if (!pair_before(&item, &list[child])) {
            break;
        }
        list[root] = list[child];
        root = child;
    }
    list[root] = item;
}

// Heap sort: no memory and no bad case. Entries that compare equal are equal, so one order only.
static void sort_pairs(node_pair* list, int32_t count)
{
    for (int32_t root = count / 2 - 1; root >= 0; root--) {
        sink(list, root, count);
    }
    for (int32_t end = count - 1; end > 0; end--) {
        const node_pair top = list[0];
        list[0] = list[end];
        list[end] = top;
        sink(list, 0, end);
    }
}

static node_pair make_pair(int32_t a, int32_t b, int32_t corner)
{
    return (node_pair){a < b ? a : b, a < b ? b : a, corner};
}

static carom_status check_faces(const cr_trimesh* mesh, carom_error* error)
{
    // the largest product of a count below is 10 hinges, three of them per face
    if (!(mesh->face_count > 0 && mesh->face_count < INT32_MAX / 36)) {
        return cr_status_refuse(error, CAROM_ERR_MESH,
                                "the mesh has %d faces; a sheet needs from 1 to %d",
                                mesh->face_count, INT32_MAX / 36 - 1);
    }
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const int32_t* v = mesh->face + 3 * (size_t)f;
        for (int k = 0; k < 3; k++) {
            if (!(v[k] >= 0 && v[k] < mesh->vertex_count)) {
                return cr_status_refuse(error, CAROM_ERR_MESH,
                                        "face %d names vertex %d; the mesh has vertices 0 to %d", f,
                                        v[k], mesh->vertex_count - 1);
            }
            if (mesh->uv_count > 0) {
                const int32_t uv = mesh->face_uv[3 * (size_t)f + k];
                if (!(uv >= 0 && uv < mesh->uv_count)) {
                    return cr_status_refuse(
                        error, CAROM_ERR_MESH,
                        "face %d names texture coordinate %d; the mesh has 0 to %d", f, uv,
                        mesh->uv_count - 1);
                }
            }
        }
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) {
            return cr_status_refuse(error, CAROM_ERR_MESH,
                                    "face %d has vertices %d, %d, %d; they have to differ", f, v[0],
                                    v[1], v[2]);
        }
    }
    return CAROM_OK;
}

// Corner 0 is the origin; the others are their parts along u and v. No area gives NaN, which the
// rest triangle refuses.
static void flatten(const cr_trimesh* mesh, const int32_t* v, double* corner)
{
    const cr_cloth_axes f = cr_cloth_axes_make(cr_vec3_load(mesh->x + 3 * (size_t)v[0]),
                                               cr_vec3_load(mesh->x + 3 * (size_t)v[1]),
                                               cr_vec3_load(mesh->x + 3 * (size_t)v[2]));
    corner[0] = corner[1] = 0.0;
    corner[2] = cr_vec3_dot(f.a, f.u);
    corner[3] = cr_vec3_dot(f.a, f.v);
    corner[4] = cr_vec3_dot(f.b, f.u);
    corner[5] = cr_vec3_dot(f.b, f.v);
}

static carom_status build_faces(cr_cloth* cloth, const cr_trimesh* mesh, carom_error* error)
{
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const size_t at = 3 * (size_t)f;
        double* corner = cloth->corner + 2 * at;
        for (int k = 0; k < 3; k++) {
            cloth->face[at + k] = mesh->face[at + k];
        }
        if (mesh->uv_count > 0) {
            for (int k = 0; k < 3; k++) {
                const double* uv = mesh->uv + 2 * (size_t)mesh->face_uv[at + k];
                corner[2 * k] = uv[0];
                corner[2 * k + 1] = uv[1];
            }
        } else {
            flatten(mesh, mesh->face + at, corner);
        }
        if (cr_membrane_rest_make(corner, &cloth->rest[f]) != CAROM_OK) {
            return cr_status_refuse(
                error, CAROM_ERR_MESH,
                "face %d (vertices %d, %d, %d) has no area at rest, by its %s: corners (%g, %g), "
                "(%g, %g), (%g, %g) m; its height has to be above a millionth of its longest edge",
                f, mesh->face[at], mesh->face[at + 1], mesh->face[at + 2],
                mesh->uv_count > 0 ? "texture coordinates" : "vertices", corner[0], corner[1],
                corner[2], corner[3], corner[4], corner[5]);
        }
        for (int k = 0; k < 3; k++) {
            cloth->node_area[cloth->face[at + k]] += cloth->rest[f].area / 3.0;
        }
    }
    for (int32_t i = 0; i < cloth->node_count; i++) {
        if (!(cloth->node_area[i] > 0.0)) {
            return cr_status_refuse(error, CAROM_ERR_MESH,
                                    "vertex %d belongs to no face; a sheet has no mass there", i);
        }
    }
    return CAROM_OK;
}

// Every edge once per face beside it, sorted, with the corner opposite of it: [3*face_count].
static void list_edges(const cr_cloth* cloth, node_pair* edge)
{
    for (int32_t c = 0; c < 3 * cloth->face_count; c++) {
        const int32_t first = c - c % 3;
        edge[c] = make_pair(cloth->face[first + (c + 1) % 3], cloth->face[first + (c + 2) % 3], c);
    }
    sort_pairs(edge, 3 * cloth->face_count);
}

static int same_edge(const node_pair* a, const node_pair* b)
{
    return a->low == b->low && a->high == b->high;
}

// Corners (low, high, opposite) of an edge in the face it was listed from.
static void edge_corners(const cr_cloth* cloth, const node_pair* edge, int32_t* corner)
{
    const int32_t first = edge->corner - edge->corner % 3;
    const int32_t next = first + (edge->corner + 1) % 3, last = first + (edge->corner + 2) % 3;
    const int next_is_low = cloth->face[next] == edge->low;
    corner[0] = next_is_low ? next : last;
    corner[1] = next_is_low ? last : next;
    corner[2] = edge->corner;
}

static int32_t count_hinges(const cr_cloth* cloth, const node_pair* edge)
{
    int32_t count = 0;
    for (int32_t e = 1; e < 3 * cloth->face_count; e++) {
        count += same_edge(&edge[e - 1], &edge[e]);
    }
    return count;
}

static carom_status build_hinges(cr_cloth* cloth, const node_pair* edge, carom_error* error)
{
    int32_t count = 0, head = 0;
    for (int32_t e = 1; e < 3 * cloth->face_count; e++) {
        if (!same_edge(&edge[head], &edge[e])) {
            head = e;
            continue;
        }
        int32_t* corner = cloth->hinge_corner + 6 * (size_t)count;
        int32_t* node = cloth->hinge + 4 * (size_t)count;
        edge_corners(cloth, &edge[head], corner);
        edge_corners(cloth, &edge[e], corner + 3);
        node[0] = edge[e].low;
        node[1] = edge[e].high;
        node[2] = cloth->face[corner[2]];
        node[3] = cloth->face[corner[5]];
        if (node[2] == node[3]) {
            return cr_status_refuse(error, CAROM_ERR_MESH,
                                    "faces %d and %d join the same vertices %d, %d, %d; a sheet "
                                    "has one layer",
                                    corner[2] / 3, corner[5] / 3, node[0], node[1], node[2]);
        }
        double first[6], second[6];
        cr_cloth_gather_corners(cloth, corner, first);
        cr_cloth_gather_corners(cloth, corner + 3, second);
        cloth->bend[count] = cr_bending_rest_make(first, second);
        count++;
    }
    CR_ASSERT(count == cloth->hinge_count);
    return CAROM_OK;
}

// The distinct pairs of edges, of opposite nodes of hinges and of every node with itself. Returns
// how many; they stay at the front of the list, sorted.
static int32_t list_pairs(const cr_cloth* cloth, node_pair* list)
{
    int32_t count = 0;
    for (int32_t i = 0; i < cloth->node_count; i++) {
        list[count++] = make_pair(i, i, 0);
    }
    for (int32_t c = 0; c < 3 * cloth->face_count; c++) {
        const int32_t next = c - c % 3 + (c + 1) % 3;
        list[count++] = make_pair(cloth->face[c], cloth->face[next], 0);
    }
    for (int32_t h = 0; h < cloth->hinge_count; h++) {
        list[count++] = make_pair(cloth->hinge[4 * h + 2], cloth->hinge[4 * h + 3], 0);
    }
    sort_pairs(list, count);
    int32_t kept = 1;
    for (int32_t k = 1; k < count; k++) {
        if (!same_edge(&list[kept - 1], &list[k])) {
            list[kept++] = list[k];
        }
    }
    return kept;
}

static int32_t find_pair(const node_pair* list, int32_t count, int32_t a, int32_t b)
{
    const node_pair wanted = make_pair(a, b, 0);
    int32_t low = 0, high = count - 1;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (list[middle].low < wanted.low ||
            (list[middle].low == wanted.low && list[middle].high < wanted.high)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    CR_ASSERT(same_edge(&list[low], &wanted));
    return low;
}

static void index_pairs(cr_cloth* cloth, const node_pair* list)
{
    for (int32_t e = 0; e < cloth->pair_count; e++) {
        cloth->pair[e][0] = list[e].high;
        cloth->pair[e][1] = list[e].low;
    }
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        int32_t* out = cloth->face_pair + 6 * (size_t)f;
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b <= a; b++) {
                const int32_t e = find_pair(list, cloth->pair_count, node[a], node[b]);
                *out++ = node[a] < node[b] ? ~e : e;
            }
        }
    }
    for (int32_t h = 0; h < cloth->hinge_count; h++) {
        const int32_t* node = cloth->hinge + 4 * (size_t)h;
        int32_t* out = cloth->hinge_pair + 10 * (size_t)h;
        for (int a = 0; a < 4; a++) {
            for (int b = 0; b <= a; b++) {
                *out++ = find_pair(list, cloth->pair_count, node[a], node[b]);
            }
        }
    }
}

#define TAKE(pointer, count) ((pointer) = cr_memory_take((size_t)(count), sizeof *(pointer)))

static carom_status build_with(cr_cloth* cloth, const cr_trimesh* mesh, node_pair* list,
                               carom_error* error)
{
    const size_t faces = (size_t)cloth->face_count;
    if (!(TAKE(cloth->face, 3 * faces) && TAKE(cloth->corner, 6 * faces) &&
          TAKE(cloth->rest, faces) && TAKE(cloth->node_area, cloth->node_count) &&
          TAKE(cloth->face_pair, 6 * faces))) {
        return CAROM_ERR_MEMORY;
    }
    carom_status status = build_faces(cloth, mesh, error);
    if (status != CAROM_OK) {
        return status;
    }
    list_edges(cloth, list);
    cloth->hinge_count = count_hinges(cloth, list);
    const size_t hinges = (size_t)cloth->hinge_count;
    if (!(TAKE(cloth->hinge, 4 * hinges) && TAKE(cloth->hinge_corner, 6 * hinges) &&
          TAKE(cloth->bend, hinges) && TAKE(cloth->hinge_pair, 10 * hinges))) {
        return CAROM_ERR_MEMORY;
    }
    status = build_hinges(cloth, list, error);
    if (status != CAROM_OK) {
        return status;
    }
    cloth->pair_count = list_pairs(cloth, list);
    if (!TAKE(cloth->pair, cloth->pair_count)) {
        return CAROM_ERR_MEMORY;
    }
    index_pairs(cloth, list);
    return CAROM_OK;
}

carom_status cr_cloth_build(cr_cloth* cloth, const cr_trimesh* mesh, carom_error* error)
{
    cr_cloth_release(cloth);
    carom_status status = check_faces(mesh, error);
    if (status != CAROM_OK) {
        return status;
    }
    cloth->node_count = mesh->vertex_count;
    cloth->face_count = mesh->face_count;
    // room for every node, edge and hinge; a face has at most three of each
    const size_t most = (size_t)mesh->vertex_count + 6 * (size_t)mesh->face_count;
    node_pair* list = cr_memory_take(most, sizeof *list);
    status = list ? build_with(cloth, mesh, list, error) : CAROM_ERR_MEMORY;
    cr_memory_free(list);
    if (status == CAROM_ERR_MEMORY) {
        cr_status_refuse(error, status, "no memory for a sheet of %d faces", mesh->face_count);
    }
    if (status != CAROM_OK) {
        cr_cloth_release(cloth);
    }
    return status;
}

void cr_cloth_release(cr_cloth* cloth)
{
    cr_memory_free(cloth->face);
    cr_memory_free(cloth->corner);
    cr_memory_free(cloth->rest);
    cr_memory_free(cloth->node_area);
    cr_memory_free(cloth->hinge);
    cr_memory_free(cloth->hinge_corner);
    cr_memory_free(cloth->bend);
    cr_memory_free(cloth->pair);
    cr_memory_free(cloth->face_pair);
    cr_memory_free(cloth->hinge_pair);
    *cloth = (cr_cloth){0};
}

carom_status cr_cloth_reshape(cr_cloth* cloth)
{
    for (int32_t i = 0; i < cloth->node_count; i++) {
        cloth->node_area[i] = 0.0;
    }
    for (int32_t f = 0; f < cloth->face_count; f++) {
        if (cr_membrane_rest_make(cloth->corner + 6 * (size_t)f, &cloth->rest[f]) != CAROM_OK) {
            return CAROM_ERR_MESH;
        }
        for (int k = 0; k < 3; k++) {
            cloth->node_area[cloth->face[3 * (size_t)f + k]] += cloth->rest[f].area / 3.0;
        }
    }
    for (int32_t h = 0; h < cloth->hinge_count; h++) {
        double first[6], second[6];
        cr_cloth_gather_corners(cloth, cloth->hinge_corner + 6 * (size_t)h, first);
        cr_cloth_gather_corners(cloth, cloth->hinge_corner + 6 * (size_t)h + 3, second);
        cloth->bend[h] = cr_bending_rest_make(first, second);
    }
    return CAROM_OK;
}

void cr_cloth_mass(const cr_cloth* cloth, double density, double* mass)
{
    for (int32_t i = 0; i < cloth->node_count; i++) {
        mass[i] = density * cloth->node_area[i];
    }
}

// ---- the potential ----

static double membrane_energy(const cr_membrane_rest* rest, const cr_cloth_laws* laws,
                              const double* x0, const double* x)
{
    return laws->linear ? cr_membrane_linear_energy(rest, &laws->membrane, laws->support, x0, x)
                        : cr_membrane_energy(rest, &laws->membrane, x0, x);
}

static void membrane_gradient(const cr_membrane_rest* rest, const cr_cloth_laws* laws,
                              const double* x0, const double* x, double* g)
{
    if (laws->linear) {
        cr_membrane_linear_gradient(rest, &laws->membrane, laws->support, x0, x, g);
    } else {
        cr_membrane_gradient(rest, &laws->membrane, x0, x, g);
    }
}

static void membrane_hessian(const cr_membrane_rest* rest, const cr_cloth_laws* laws,
                             const double* x0, const double* x, cr_cloth_curvature curvature,
                             double (*block)[9])
{
    if (laws->linear) {
        cr_membrane_linear_hessian(rest, &laws->membrane, laws->support, x0, block);
    } else if (curvature == CR_CLOTH_EXACT) {
        cr_membrane_hessian(rest, &laws->membrane, x0, x, block);
    } else {
        cr_membrane_hessian_projected(rest, &laws->membrane, x0, x, block);
    }
}

static void membrane_apply(const cr_membrane_rest* rest, const cr_cloth_laws* laws,
                           const double* x0, const double* x, const double* d, double* y)
{
    if (laws->linear) {
        cr_membrane_linear_apply(rest, &laws->membrane, laws->support, x0, d, y);
    } else {
        cr_membrane_apply(rest, &laws->membrane, x0, x, d, y);
    }
}

double cr_cloth_energy(const cr_cloth* cloth, const cr_cloth_material* material,
                       const cr_cloth_step* step, const double* x)
{
    const cr_cloth_laws laws = cr_cloth_laws_make(material, step);
    double now[12], start[12], room[18], sum = 0.0;
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        const double* x0 = laws.start ? cr_cloth_gather(node, 3, step->x0, start) : NULL;
        cr_cloth_gather(node, 3, x, now);
        sum += membrane_energy(&cloth->rest[f], &laws, x0, now);
        if (laws.has_air) {
            const cr_drag_start air = cr_cloth_air(step, node, room);
            sum += cr_drag_energy(&laws.drag, &air, now);
        }
    }
    for (int32_t h = 0; h < cloth->hinge_count && material->bend != 0.0; h++) {
        const int32_t* node = cloth->hinge + 4 * (size_t)h;
        const double* x0 =
            laws.bending.rate != 0.0 ? cr_cloth_gather(node, 4, step->x0, start) : NULL;
        cr_cloth_gather(node, 4, x, now);
        sum += cr_bending_energy(&cloth->bend[h], &laws.bending, x0, now);
    }
    return sum;
}

// g_node += factor v for the three nodes of a face
static void scatter_share(const int32_t* node, double factor, cr_vec3 v, double* g)
{
    for (int a = 0; a < 3; a++) {
        cr_vec3_accumulate(g + 3 * (size_t)node[a], cr_vec3_scale(factor, v));
    }
}

void cr_cloth_gradient(const cr_cloth* cloth, const cr_cloth_material* material,
                       const cr_cloth_step* step, const double* x, double factor, double* g)
{
    const cr_cloth_laws laws = cr_cloth_laws_make(material, step);
    double now[12], start[12], out[12], room[18];
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        const double* x0 = laws.start ? cr_cloth_gather(node, 3, step->x0, start) : NULL;
        cr_cloth_gather(node, 3, x, now);
        membrane_gradient(&cloth->rest[f], &laws, x0, now, out);
        cr_cloth_scatter(node, 3, factor, out, g);
        if (laws.has_air) {
            const cr_drag_start air = cr_cloth_air(step, node, room);
            scatter_share(node, factor, cr_drag_gradient(&laws.drag, &air, now), g);
        }
    }
    for (int32_t h = 0; h < cloth->hinge_count && material->bend != 0.0; h++) {
        const int32_t* node = cloth->hinge + 4 * (size_t)h;
        const double* x0 =
            laws.bending.rate != 0.0 ? cr_cloth_gather(node, 4, step->x0, start) : NULL;
        cr_cloth_gather(node, 4, x, now);
        cr_bending_gradient(&cloth->bend[h], &laws.bending, x0, now, out);
        cr_cloth_scatter(node, 4, factor, out, g);
    }
}

static void add_block(double* to, double factor, const double* b)
{
    for (int i = 0; i < 9; i++) {
        to[i] += factor * b[i];
    }
}

static void add_block_transposed(double* to, double factor, const double* b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            to[3 * i + j] += factor * b[3 * j + i];
        }
    }
}

// Blocks of a face at their pairs, where ~pair asks for the transpose.
static void scatter_blocks(const int32_t* pair, double factor, double (*b)[9], double* block)
{
    for (int k = 0; k < 6; k++) {
        if (pair[k] >= 0) {
            add_block(block + 9 * (size_t)pair[k], factor, b[k]);
        } else {
            add_block_transposed(block + 9 * (size_t)~pair[k], factor, b[k]);
        }
    }
}

void cr_cloth_hessian(const cr_cloth* cloth, const cr_cloth_material* material,
                      const cr_cloth_step* step, const double* x, cr_cloth_curvature curvature,
                      double factor, double* block)
{
    const cr_cloth_laws laws = cr_cloth_laws_make(material, step);
    double now[9], start[9], room[18], b[6][9], q[10];
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        const int32_t* pair = cloth->face_pair + 6 * (size_t)f;
        const double* x0 = laws.start ? cr_cloth_gather(node, 3, step->x0, start) : NULL;
        cr_cloth_gather(node, 3, x, now);
        membrane_hessian(&cloth->rest[f], &laws, x0, now, curvature, b);
        if (laws.has_air) {
            const cr_drag_start air = cr_cloth_air(step, node, room);
            const cr_mat3 d = cr_drag_hessian(&laws.drag, &air);
            for (int k = 0; k < 6; k++) {
                add_block(b[k], 1.0, &d.m[0][0]);
            }
        }
        scatter_blocks(pair, factor, b, block);
    }
    for (int32_t h = 0; h < cloth->hinge_count && material->bend != 0.0; h++) {
        const int32_t* pair = cloth->hinge_pair + 10 * (size_t)h;
        cr_bending_hessian(&cloth->bend[h], &laws.bending, q);
        for (int k = 0; k < 10; k++) {
            double* to = block + 9 * (size_t)pair[k];
            to[0] += factor * q[k];
            to[4] += factor * q[k];
            to[8] += factor * q[k];
        }
    }
}

void cr_cloth_blocks_apply(const cr_cloth* cloth, const double* block, const double* d, double* y)
{
    for (int32_t e = 0; e < cloth->pair_count; e++, block += 9) {
        const size_t i = 3 * (size_t)cloth->pair[e][0], j = 3 * (size_t)cloth->pair[e][1];
        for (int k = 0; k < 3; k++) {
            const double* row = block + 3 * k;
            y[i + k] += row[0] * d[j] + row[1] * d[j + 1] + row[2] * d[j + 2];
            for (int l = 0; l < 3 && i != j; l++) {
                y[j + l] += row[l] * d[i + k];
            }
        }
    }
}

// Bending and air are positive by themselves.
void cr_cloth_buckle(const cr_cloth* cloth, const cr_cloth_material* material,
                     const cr_cloth_step* step, const double* x, double factor, double* loss)
{
    const cr_cloth_laws laws = cr_cloth_laws_make(material, step);
    double now[9], start[9];
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        const double* x0 = laws.start ? cr_cloth_gather(node, 3, step->x0, start) : NULL;
        cr_cloth_gather(node, 3, x, now);
        const double most = factor * cr_membrane_buckle(&cloth->rest[f], &laws.membrane, x0, now);
        for (int a = 0; a < 3; a++) {
            loss[node[a]] += most;
        }
    }
}

void cr_cloth_apply(const cr_cloth* cloth, const cr_cloth_material* material,
                    const cr_cloth_step* step, const double* x, const double* d, double factor,
                    double* y)
{
    const cr_cloth_laws laws = cr_cloth_laws_make(material, step);
    double now[9], start[9], along[12], out[12], room[18];
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        const double* x0 = laws.start ? cr_cloth_gather(node, 3, step->x0, start) : NULL;
        cr_cloth_gather(node, 3, x, now);
        cr_cloth_gather(node, 3, d, along);
        membrane_apply(&cloth->rest[f], &laws, x0, now, along, out);
        cr_cloth_scatter(node, 3, factor, out, y);
        if (laws.has_air) {
            const cr_drag_start air = cr_cloth_air(step, node, room);
            scatter_share(node, factor, cr_drag_apply(&laws.drag, &air, along), y);
        }
    }
    for (int32_t h = 0; h < cloth->hinge_count && material->bend != 0.0; h++) {
        const int32_t* node = cloth->hinge + 4 * (size_t)h;
        cr_cloth_gather(node, 4, d, along);
        cr_bending_apply(&cloth->bend[h], &laws.bending, along, out);
        cr_cloth_scatter(node, 4, factor, out, y);
    }
}

// Bending and drag are quadratic: the membrane alone has a third derivative.
void cr_cloth_third(const cr_cloth* cloth, const cr_cloth_material* material,
                    const cr_cloth_step* step, const double* x, const double* a, const double* b,
                    double factor, double* y)
{
    const cr_cloth_laws laws = cr_cloth_laws_make(material, step);
    double now[9], first[9], second[9], out[9];
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t* node = cloth->face + 3 * (size_t)f;
        cr_cloth_gather(node, 3, x, now);
        cr_cloth_gather(node, 3, a, first);
        cr_cloth_gather(node, 3, b, second);
        cr_membrane_third(&cloth->rest[f], &laws.membrane, now, first, second, out);
        cr_cloth_scatter(node, 3, factor, out, y);
    }
}
