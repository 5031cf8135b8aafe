#include "mesh/repair.h"
#include "core/memory.h"
#include "mesh/check.h"
#include "mesh/draft.h"
#include "mesh/holes.h"
#include "mesh/orient.h"
#include "mesh/topology.h"
#include "mesh/weld.h"

// Swapping the edge of one flat face can leave another one flat: repeated, but not for ever.
enum { SWAP_ROUNDS = 16 };

cr_repair_options cr_repair_default(void)
{
    return (cr_repair_options){.weld = 0, .hole_edges = 100};
}

// Renumbers vertices by map (-1: dropped); several to one take the first one's position.
static void renumber(cr_trimesh* mesh, const int32_t* map, int32_t count)
{
    int32_t next = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        if (map[v] == next) {
            cr_vec3_store(mesh->x + 3 * next++, cr_trimesh_at(mesh, v));
        }
    }
    for (int32_t i = 0; i < 3 * mesh->face_count; i++) {
        mesh->face[i] = map[mesh->face[i]];
    }
    mesh->vertex_count = count;
}

static carom_status weld(cr_trimesh* mesh, double part, cr_repair_report* report)
{
    cr_vec3 least, most;
    cr_trimesh_box(mesh, &least, &most);
    const double tolerance = part * cr_vec3_norm(cr_vec3_sub(most, least));
    int32_t* map = cr_memory_take((size_t)mesh->vertex_count, sizeof *map);
    int32_t count = 0;
    const carom_status status =
        map ? cr_weld_map(mesh->x, mesh->vertex_count, tolerance, map, &count) : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        report->welded_vertices = mesh->vertex_count - count;
        renumber(mesh, map, count);
    }
    cr_memory_free(map);
    return status;
}

static void keep_face(cr_trimesh* mesh, int32_t from, int32_t to)
{
    for (int k = 0; k < 3; k++) {
        mesh->face[3 * to + k] = mesh->face[3 * from + k];
        if (mesh->uv_count > 0) {
            mesh->face_uv[3 * to + k] = mesh->face_uv[3 * from + k];
        }
    }
}

static void drop_collapsed(cr_trimesh* mesh, cr_repair_report* report)
{
    int32_t kept = 0;
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const int32_t* v = mesh->face + 3 * f;
        if (v[0] != v[1] && v[1] != v[2] && v[2] != v[0]) {
            keep_face(mesh, f, kept++);
        }
    }
    report->collapsed_faces += mesh->face_count - kept;
    mesh->face_count = kept;
}

static carom_status drop_duplicates(cr_trimesh* mesh, cr_repair_report* report)
{
    int32_t* duplicate = cr_memory_take((size_t)mesh->face_count, sizeof *duplicate);
    const carom_status status = duplicate ? cr_check_duplicates(mesh, duplicate) : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        int32_t kept = 0;
        for (int32_t f = 0; f < mesh->face_count; f++) {
            if (duplicate[f] < 0) {
                keep_face(mesh, f, kept++);
            }
        }
        report->duplicate_faces += mesh->face_count - kept;
        mesh->face_count = kept;
    }
    cr_memory_free(duplicate);
    return status;
}

static int longest_side(const cr_trimesh* mesh, int32_t f)
{
    int longest = 0;
    double most = -1;
    for (int k = 0; k < 3; k++) {
        const double d =
            cr_vec3_norm2(cr_vec3_sub(cr_trimesh_at(mesh, mesh->face[3 * f + k]),
                                      cr_trimesh_at(mesh, mesh->face[3 * f + (k + 1) % 3])));
        longest = d > most ? k : longest;
        most = d > most ? d : most;
    }
    return longest;
}

static int edge_exists(const cr_topology* t, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    int32_t from = 0, to = t->edge_count;
    while (from < to) {
        const int32_t e = from + (to - from) / 2;
        const int32_t* v = t->edge + 2 * e;
        if (v[0] < low || (v[0] == low && v[1] < high)) {
            from = e + 1;
        } else {
            to = e;
        }
    }
    return from < t->edge_count && t->edge[2 * from] == low && t->edge[2 * from + 1] == high;
}

// Face f = (c, a, b) has no area, b lies on its longest side c-a; beyond it is g = (a, c, d). In
// the square a b c d the other diagonal makes (a, b, d) and (b, c, d). Texture coordinates go along
// with their corners. False when the surroundings do not allow it.
static int swap_edge(cr_trimesh* mesh, const cr_topology* t, int32_t f, uint8_t* touched)
{
    const int k = longest_side(mesh, f);
    const int32_t e = t->face_edge[3 * f + k];
    if (t->edge_kind[e] == CR_EDGE_BOUNDARY || t->edge_kind[e] == CR_EDGE_TANGLED) {
        return 0;
    }
    const int32_t g = t->edge_face[2 * e] == f ? t->edge_face[2 * e + 1] : t->edge_face[2 * e];
    if (touched[f] || touched[g]) {
        return 0;
    }
    const int j = t->face_edge[3 * g] == e ? 0 : t->face_edge[3 * g + 1] == e ? 1 : 2;
    const int32_t c = 3 * f + k, a = 3 * f + (k + 1) % 3, b = 3 * f + (k + 2) % 3;
    const int32_t d = 3 * g + (j + 2) % 3;
    int32_t* list[2] = {mesh->face, mesh->uv_count > 0 ? mesh->face_uv : NULL};
    if (edge_exists(t, mesh->face[b], mesh->face[d])) {
        return 0;
    }
    for (int i = 0; i < 2 && list[i]; i++) {
        const int32_t va = list[i][a], vb = list[i][b], vc = list[i][c], vd = list[i][d];
        const int32_t faces[6] = {va, vb, vd, vb, vc, vd};
        for (int m = 0; m < 3; m++) {
            list[i][3 * f + m] = faces[m];
            list[i][3 * g + m] = faces[3 + m];
        }
    }
    // the swapped edges belong to other faces now: leave their neighbours to the next round
    touched[f] = touched[g] = 1;
    for (int32_t i = 0; i < 6; i++) {
        const int32_t beside = t->face_edge[i < 3 ? 3 * f + i : 3 * g + i - 3];
        for (int m = 0; m < 2; m++) {
            if (t->edge_face[2 * beside + m] >= 0) {
                touched[t->edge_face[2 * beside + m]] = 1;
            }
        }
    }
    return 1;
}

static carom_status swap_flat_faces(cr_trimesh* mesh, cr_repair_report* report)
{
    cr_topology t = {0};
    uint8_t* touched = cr_memory_take((size_t)mesh->face_count, sizeof *touched);
    carom_status status = touched ? CAROM_OK : CAROM_ERR_MEMORY;
    int changed = 1;
    for (int round = 0; round < SWAP_ROUNDS && changed && status == CAROM_OK; round++) {
        changed = 0;
        for (int32_t f = 0; f < mesh->face_count; f++) {
            touched[f] = 0;
        }
        for (int32_t f = 0; f < mesh->face_count && status == CAROM_OK; f++) {
            if (!cr_check_face_degenerate(mesh, f)) {
                continue;
            }
            if (!t.edge) {
                status = cr_topology_build(&t, mesh);
            }
            if (status == CAROM_OK && swap_edge(mesh, &t, f, touched)) {
                report->flattened_faces++;
                changed = 1;
            }
        }
        cr_topology_release(&t);
    }
    cr_memory_free(touched);
    return status;
}

static void turn_face(cr_trimesh* mesh, int32_t f)
{
    int32_t* list[2] = {mesh->face, mesh->uv_count > 0 ? mesh->face_uv : NULL};
    for (int i = 0; i < 2 && list[i]; i++) {
        const int32_t swap = list[i][3 * f + 1];
        list[i][3 * f + 1] = list[i][3 * f + 2];
        list[i][3 * f + 2] = swap;
    }
}

// Makes neighbours agree; outwards: then turns what is inside out.
static carom_status turn_faces(cr_trimesh* mesh, int outwards, cr_repair_report* report)
{
    cr_topology t = {0};
    cr_orient o = {0};
    carom_status status = cr_topology_build(&t, mesh);
    if (status == CAROM_OK) {
        status = cr_orient_build(&o, mesh, &t);
    }
    for (int32_t f = 0; f < mesh->face_count && status == CAROM_OK; f++) {
        const int back = outwards && o.inside_out[o.component[f]];
        if (o.turned[f] != back) {
            turn_face(mesh, f);
        }
        report->turned_faces += o.turned[f];
    }
    for (int32_t c = 0; c < o.component_count && outwards; c++) {
        report->turned_inside += o.inside_out[c];
    }
    cr_orient_release(&o);
    cr_topology_release(&t);
    return status;
}

// A hole of three edges takes one face, a longer one a fan about the middle of its rim.
static carom_status fill_hole(cr_draft* draft, const cr_trimesh* mesh, const int32_t* rim,
                              int32_t count)
{
    if (count == 3) {
        return cr_draft_face(draft, rim, NULL);
    }
    cr_vec3 middle = {0, 0, 0};
    for (int32_t i = 0; i < count; i++) {
        middle = cr_vec3_add_scaled(middle, 1.0 / count, cr_trimesh_at(mesh, rim[i]));
    }
    const int32_t centre = cr_draft_vertex_count(draft);
    double x[3];
    cr_vec3_store(x, middle);
    carom_status status = cr_draft_vertex(draft, x);
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        status =
            cr_draft_face(draft, (const int32_t[3]){rim[i], rim[(i + 1) % count], centre}, NULL);
    }
    return status;
}

static carom_status fill_all(cr_trimesh* mesh, const cr_holes* holes, int32_t most,
                             cr_repair_report* report)
{
    cr_draft draft = {0};
    carom_status status = CAROM_OK;
    for (int32_t v = 0; v < mesh->vertex_count && status == CAROM_OK; v++) {
        status = cr_draft_vertex(&draft, mesh->x + 3 * v);
    }
    for (int32_t f = 0; f < mesh->face_count && status == CAROM_OK; f++) {
        status = cr_draft_face(&draft, mesh->face + 3 * f, NULL);
    }
    for (int32_t i = 0; i < holes->loop_count && status == CAROM_OK; i++) {
        const int32_t n = holes->start[i + 1] - holes->start[i];
        if (n >= 3 && n <= most) {
            status = fill_hole(&draft, mesh, holes->vertex + holes->start[i], n);
            report->filled_holes++;
        }
    }
    if (status == CAROM_OK) {
        report->filled_faces = draft.face.count / 3 - mesh->face_count;
        report->dropped_uv = mesh->uv_count > 0;
        status = cr_draft_finish(&draft, mesh);
    }
    cr_draft_release(&draft);
    return status;
}

static carom_status fill_holes(cr_trimesh* mesh, int32_t most, cr_repair_report* report)
{
    cr_topology t = {0};
    cr_holes holes = {0};
    int32_t fillable = 0;
    carom_status status = cr_topology_build(&t, mesh);
    if (status == CAROM_OK) {
        status = cr_holes_trace(&holes, mesh, &t, NULL);
    }
    for (int32_t i = 0; i < holes.loop_count; i++) {
        const int32_t n = holes.start[i + 1] - holes.start[i];
        fillable += n >= 3 && n <= most;
    }
    if (status == CAROM_OK && fillable > 0) {
        status = fill_all(mesh, &holes, most, report);
    }
    report->holes_left = holes.loop_count + holes.stray_count - fillable;
    cr_holes_release(&holes);
    cr_topology_release(&t);
    return status;
}

static carom_status drop_unused(cr_trimesh* mesh, cr_repair_report* report)
{
    int32_t* map = cr_memory_take((size_t)mesh->vertex_count, sizeof *map);
    if (!map) {
        return CAROM_ERR_MEMORY;
    }
    int32_t count = 0;
    for (int32_t i = 0; i < 3 * mesh->face_count; i++) {
        map[mesh->face[i]] = 1;
    }
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        map[v] = map[v] ? count++ : -1;
    }
    report->unused_vertices = mesh->vertex_count - count;
    renumber(mesh, map, count);
    cr_memory_free(map);
    return CAROM_OK;
}

static carom_status mend(cr_trimesh* mesh, const cr_repair_options* options,
                         cr_repair_report* report)
{
    carom_status status = weld(mesh, options->weld, report);
    if (status == CAROM_OK) {
        drop_collapsed(mesh, report);
        status = drop_duplicates(mesh, report);
    }
    if (status == CAROM_OK) {
        status = swap_flat_faces(mesh, report);
    }
    if (status == CAROM_OK) {
        status = turn_faces(mesh, 0, report);
    }
    if (status == CAROM_OK) {
        status = fill_holes(mesh, options->hole_edges, report);
    }
    if (status == CAROM_OK) {
        status = turn_faces(mesh, 1, report);
    }
    return status == CAROM_OK ? drop_unused(mesh, report) : status;
}

static int acceptable(const cr_trimesh* mesh, const cr_repair_options* options)
{
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        if (!cr_vec3_finite(cr_trimesh_at(mesh, v))) {
            return 0;
        }
    }
    for (int32_t i = 0; i < 3 * mesh->face_count; i++) {
        if (mesh->face[i] < 0 || mesh->face[i] >= mesh->vertex_count) {
            return 0;
        }
    }
    return options->weld >= 0 && isfinite(options->weld) && options->hole_edges >= 0;
}

carom_status cr_repair_run(cr_trimesh* mesh, const cr_repair_options* options,
                           cr_repair_report* report)
{
    *report = (cr_repair_report){0};
    if (!acceptable(mesh, options)) {
        return CAROM_ERR_ARGUMENT;
    }
    cr_trimesh mended = {0};
    carom_status status = cr_trimesh_copy(&mended, mesh);
    if (status == CAROM_OK) {
        status = mend(&mended, options, report);
    }
    if (status != CAROM_OK) {
        cr_trimesh_release(&mended);
        return status;
    }
    cr_trimesh_release(mesh);
    *mesh = mended;
    return CAROM_OK;
}
