#include "mesh/check.h"
#include "core/memory.h"
#include "mesh/cross.h"
#include "mesh/holes.h"
#include "mesh/orient.h"
#include "mesh/sort.h"
#include "mesh/topology.h"
#include "mesh/weld.h"
#include <stdio.h>

static const cr_check_kind_text texts[CR_CHECK_KINDS] = {
#define X(kind, key, one, several, forbids) {key, one, several, forbids},
    CR_CHECK_LIST(X)
#undef X
};

const cr_check_kind_text* cr_check_text(cr_check_kind kind)
{
    return texts + kind;
}

// The mesh without faces that name a vertex twice, and what was found out about it.
typedef struct work {
    const cr_trimesh* mesh;
    cr_check_report* report;
    cr_trimesh sound;
    int32_t* origin; // [sound.face_count] face of mesh
    cr_topology topology;
    cr_orient orient;
    cr_holes holes;
    cr_cross cross;
    int32_t* edge_faces; // [edge_count]
    int32_t* scratch;    // [max(3*face_count, vertex_count)]
} work;

static cr_check_place no_place(void)
{
    return (cr_check_place){-1, -1, {-1, -1, -1}, {0, 0, 0}};
}

static void note(cr_check_report* report, cr_check_kind kind, cr_check_place place)
{
    cr_check_defect* d = report->defect + kind;
    d->count++;
    if (d->place_count < CR_CHECK_PLACES) {
        d->place[d->place_count++] = place;
    }
}

static void note_vertex(work* w, cr_check_kind kind, int32_t vertex, int32_t other)
{
    cr_check_place p = no_place();
    p.vertex[0] = vertex;
    p.other = other;
    p.at = cr_trimesh_at(w->mesh, vertex);
    note(w->report, kind, p);
}

static void note_face(work* w, cr_check_kind kind, int32_t face, int32_t other)
{
    cr_check_place p = no_place();
    p.face = face;
    p.other = other;
    for (int k = 0; k < 3; k++) {
        p.vertex[k] = w->mesh->face[3 * face + k];
        p.at = cr_vec3_add_scaled(p.at, 1.0 / 3, cr_trimesh_at(w->mesh, p.vertex[k]));
    }
    note(w->report, kind, p);
}

static void note_edge(work* w, cr_check_kind kind, int32_t edge)
{
    cr_check_place p = no_place();
    const int32_t* v = w->topology.edge + 2 * edge;
    p.face = w->origin[w->topology.edge_face[2 * edge]];
    p.vertex[0] = v[0];
    p.vertex[1] = v[1];
    p.at =
        cr_vec3_scale(0.5, cr_vec3_add(cr_trimesh_at(w->mesh, v[0]), cr_trimesh_at(w->mesh, v[1])));
    note(w->report, kind, p);
}

int cr_check_face_degenerate(const cr_trimesh* mesh, int32_t face)
{
    const int32_t* v = mesh->face + 3 * face;
    const cr_vec3 a = cr_trimesh_at(mesh, v[0]);
    const cr_vec3 b = cr_trimesh_at(mesh, v[1]);
    const cr_vec3 c = cr_trimesh_at(mesh, v[2]);
    const cr_vec3 ab = cr_vec3_sub(b, a), bc = cr_vec3_sub(c, b), ca = cr_vec3_sub(a, c);
    const double longest = cr_max(cr_vec3_norm2(ab), cr_max(cr_vec3_norm2(bc), cr_vec3_norm2(ca)));
    // twice the area is the height times the longest side
    return !(cr_vec3_norm(cr_vec3_cross(ab, bc)) > CR_CHECK_FLATNESS * longest);
}

static int repeats_vertex(const int32_t* v)
{
    return v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
}

static carom_status make_sound(work* w)
{
    int32_t n = 0;
    for (int32_t f = 0; f < w->mesh->face_count; f++) {
        n += !repeats_vertex(w->mesh->face + 3 * f);
    }
    const carom_status status = cr_trimesh_init(&w->sound, w->mesh->vertex_count, n, 0);
    w->origin = cr_memory_take((size_t)n, sizeof *w->origin);
    const size_t corners = (size_t)w->mesh->face_count * 3;
    const size_t vertices = (size_t)w->mesh->vertex_count;
    w->scratch = cr_memory_take(corners > vertices ? corners : vertices, sizeof *w->scratch);
    if (status != CAROM_OK || !w->origin || !w->scratch) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < 3 * w->mesh->vertex_count; i++) {
        w->sound.x[i] = w->mesh->x[i];
    }
    n = 0;
    for (int32_t f = 0; f < w->mesh->face_count; f++) {
        if (!repeats_vertex(w->mesh->face + 3 * f)) {
            for (int k = 0; k < 3; k++) {
                w->sound.face[3 * n + k] = w->mesh->face[3 * f + k];
            }
            w->origin[n++] = f;
        }
    }
    return CAROM_OK;
}

static carom_status build_structure(work* w)
{
    carom_status status = cr_topology_build(&w->topology, &w->sound);
    if (status == CAROM_OK) {
        status = cr_orient_build(&w->orient, &w->sound, &w->topology);
    }
    if (status == CAROM_OK) {
        status = cr_holes_trace(&w->holes, &w->sound, &w->topology, w->orient.turned);
    }
    if (status == CAROM_OK) {
        w->edge_faces = cr_memory_take((size_t)w->topology.edge_count, sizeof *w->edge_faces);
        status = w->edge_faces ? CAROM_OK : CAROM_ERR_MEMORY;
    }
    if (status == CAROM_OK) {
        cr_orient_edge_faces(&w->topology, w->edge_faces);
    }
    return status;
}

static void check_edges(work* w)
{
    for (int32_t e = 0; e < w->topology.edge_count; e++) {
        if (w->edge_faces[e] == 1) {
            note_edge(w, CR_CHECK_OPEN_EDGE, e);
        } else if (w->edge_faces[e] > 2) {
            note_edge(w, CR_CHECK_CROWDED_EDGE, e);
        } else if (w->topology.edge_kind[e] == CR_EDGE_TANGLED) {
            note_edge(w, CR_CHECK_TURNED_EDGE, e);
        }
    }
}

static void check_components(work* w)
{
    int32_t next = 0; // numbered by first face
    for (int32_t f = 0; f < w->sound.face_count; f++) {
        if (w->orient.component[f] == next) {
            if (w->orient.inside_out[next]) {
                note_face(w, CR_CHECK_INSIDE_OUT, w->origin[f], -1);
            }
            next++;
        }
    }
}

static void check_used(work* w)
{
    for (int32_t v = 0; v < w->mesh->vertex_count; v++) {
        w->scratch[v] = 0;
    }
    for (int32_t i = 0; i < 3 * w->mesh->face_count; i++) {
        w->scratch[w->mesh->face[i]] = 1;
    }
    for (int32_t v = 0; v < w->mesh->vertex_count; v++) {
        if (!w->scratch[v]) {
            note_vertex(w, CR_CHECK_UNUSED_VERTEX, v, -1);
        }
    }
    w->report->euler = w->mesh->vertex_count -
                       (int32_t)w->report->defect[CR_CHECK_UNUSED_VERTEX].count -
                       w->topology.edge_count + w->sound.face_count;
}

static int32_t root(int32_t* parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void unite(int32_t* parent, int32_t a, int32_t b)
{
    a = root(parent, a);
    b = root(parent, b);
    parent[a > b ? a : b] = a > b ? b : a;
}

static int32_t corner_of(const cr_trimesh* mesh, int32_t f, int32_t vertex)
{
    const int32_t* v = mesh->face + 3 * f;
    return 3 * f + (v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2);
}

// Faces around a vertex hang together through edges; more than one such fan is a pinch.
static carom_status check_pinches(work* w)
{
    int32_t* fan = cr_memory_take((size_t)w->mesh->vertex_count, sizeof *fan);
    if (!fan) {
        return CAROM_ERR_MEMORY;
    }
    const cr_trimesh* m = &w->sound;
    for (int32_t i = 0; i < 3 * m->face_count; i++) {
        w->scratch[i] = i;
    }
    for (int32_t i = 0; i < 3 * m->face_count; i++) {
        const int32_t e = w->topology.face_edge[i];
        const int32_t g = w->topology.edge_face[2 * e];
        for (int k = 0; k < 2; k++) {
            const int32_t v = w->topology.edge[2 * e + k];
            unite(w->scratch, corner_of(m, i / 3, v), corner_of(m, g, v));
        }
    }
    for (int32_t i = 0; i < 3 * m->face_count; i++) {
        fan[m->face[i]] += root(w->scratch, i) == i;
    }
    for (int32_t v = 0; v < m->vertex_count; v++) {
        if (fan[v] > 1) {
            note_vertex(w, CR_CHECK_PINCHED_VERTEX, v, -1);
        }
    }
    cr_memory_free(fan);
    return CAROM_OK;
}

typedef struct triple {
    int32_t v[3];
} triple;

static triple sorted_triple(const int32_t* v)
{
    triple t = {{v[0], v[1], v[2]}};
    for (int i = 0; i < 3; i++) {
        const int k = i == 1; // places 0, 1, 0: three compares sort three
        if (t.v[k] > t.v[k + 1]) {
            const int32_t swap = t.v[k];
            t.v[k] = t.v[k + 1];
            t.v[k + 1] = swap;
        }
    }
    return t;
}

static int compare_triple(const triple* a, const triple* b)
{
    for (int k = 0; k < 3; k++) {
        if (a->v[k] != b->v[k]) {
            return a->v[k] < b->v[k] ? -1 : 1;
        }
    }
    return 0;
}

static int triple_before(int32_t i, int32_t j, const void* user)
{
    const triple* t = user;
    return compare_triple(t + i, t + j) < 0;
}

carom_status cr_check_duplicates(const cr_trimesh* mesh, int32_t* duplicate)
{
    const size_t n = (size_t)mesh->face_count;
    triple* key = cr_memory_take(n, sizeof *key);
    int32_t* sorted = cr_memory_take(n, sizeof *sorted);
    carom_status status = CAROM_ERR_MEMORY;
    if (key && sorted) {
        for (int32_t f = 0; f < mesh->face_count; f++) {
            key[f] = sorted_triple(mesh->face + 3 * f);
            sorted[f] = f;
        }
        status = cr_sort_indices(sorted, mesh->face_count, triple_before, key);
    }
    for (int32_t i = 0, first = 0; i < mesh->face_count && status == CAROM_OK; i++) {
        const int again = i > 0 && compare_triple(key + sorted[first], key + sorted[i]) == 0;
        first = again ? first : i;
        duplicate[sorted[i]] = again ? sorted[first] : -1;
    }
    cr_memory_free(key);
    cr_memory_free(sorted);
    return status;
}

static carom_status check_faces(work* w)
{
    const carom_status status = cr_check_duplicates(w->mesh, w->scratch);
    for (int32_t f = 0; f < w->mesh->face_count && status == CAROM_OK; f++) {
        if (w->scratch[f] >= 0) {
            note_face(w, CR_CHECK_DUPLICATE_FACE, f, w->scratch[f]);
        }
        if (cr_check_face_degenerate(w->mesh, f)) {
            note_face(w, CR_CHECK_DEGENERATE_FACE, f, -1);
        }
    }
    return status;
}

static carom_status check_places(work* w)
{
    int32_t places = 0, next = 0;
    int32_t* founder = cr_memory_take((size_t)w->mesh->vertex_count, sizeof *founder);
    const carom_status status =
        founder ? cr_weld_map(w->mesh->x, w->mesh->vertex_count, 0, w->scratch, &places)
                : CAROM_ERR_MEMORY;
    for (int32_t v = 0; v < w->mesh->vertex_count && status == CAROM_OK; v++) {
        if (w->scratch[v] == next) {
            founder[next++] = v;
        } else {
            note_vertex(w, CR_CHECK_DUPLICATE_VERTEX, v, founder[w->scratch[v]]);
        }
    }
    cr_memory_free(founder);
    return status;
}

static carom_status check_crossings(work* w)
{
    const carom_status status = cr_cross_find(&w->cross, &w->sound);
    if (status != CAROM_OK) {
        return status;
    }
    w->report->crossing_complete = w->cross.complete;
    for (int32_t i = 0; i < w->cross.pair.count; i++) {
        const cr_cross_pair* pair = w->cross.pair.items + i;
        cr_check_place p = no_place();
        p.face = w->origin[pair->face[0]];
        p.other = w->origin[pair->face[1]];
        for (int k = 0; k < 3; k++) {
            p.vertex[k] = w->mesh->face[3 * p.face + k];
        }
        p.at = pair->at;
        note(w->report, CR_CHECK_CROSSING, p);
    }
    return CAROM_OK;
}

static int all_finite(work* w)
{
    for (int32_t v = 0; v < w->mesh->vertex_count; v++) {
        if (!cr_vec3_finite(cr_trimesh_at(w->mesh, v))) {
            note_vertex(w, CR_CHECK_NOT_FINITE, v, -1);
        }
    }
    return w->report->defect[CR_CHECK_NOT_FINITE].count == 0;
}

static carom_status run(work* w, int crossings)
{
    const int finite = all_finite(w);
    carom_status status = make_sound(w);
    if (status == CAROM_OK) {
        status = build_structure(w);
    }
    if (status != CAROM_OK) {
        return status;
    }
    cr_check_report* r = w->report;
    r->edge_count = w->topology.edge_count;
    r->component_count = w->orient.component_count;
    r->hole_count = w->holes.loop_count + w->holes.stray_count;
    r->turned_face_count = w->orient.turned_count;
    check_edges(w);
    check_components(w);
    check_used(w);
    status = check_pinches(w);
    if (status == CAROM_OK) {
        status = check_faces(w);
    }
    if (status == CAROM_OK && finite) {
        status = check_places(w);
    }
    if (status == CAROM_OK && finite && crossings) {
        status = check_crossings(w);
    }
    r->closed = w->sound.face_count > 0 && r->defect[CR_CHECK_OPEN_EDGE].count == 0 &&
                r->defect[CR_CHECK_CROWDED_EDGE].count == 0 &&
                r->defect[CR_CHECK_TURNED_EDGE].count == 0;
    r->area = cr_mass_area(w->mesh);
    r->has_mass = cr_mass_integrate(w->mesh, &r->mass) == CAROM_OK && r->closed;
    return status;
}

carom_status cr_check_run(const cr_trimesh* mesh, int crossings, cr_check_report* report)
{
    *report = (cr_check_report){.vertex_count = mesh->vertex_count,
                                .face_count = mesh->face_count,
                                .uv_count = mesh->uv_count};
    cr_trimesh_box(mesh, &report->least, &report->most);
    work w = {.mesh = mesh, .report = report};
    const carom_status status = run(&w, crossings);
    cr_trimesh_release(&w.sound);
    cr_topology_release(&w.topology);
    cr_orient_release(&w.orient);
    cr_holes_release(&w.holes);
    cr_cross_release(&w.cross);
    cr_memory_free(w.origin);
    cr_memory_free(w.edge_faces);
    cr_memory_free(w.scratch);
    return status;
}

typedef struct sentence {
    char text[500];
    size_t used;
} sentence;

static void say(sentence* s, int64_t count, const char* one, const char* several)
{
    if (count > 0 && s->used < sizeof s->text) {
        const int n = snprintf(s->text + s->used, sizeof s->text - s->used, "%s%lld %s",
                               s->used ? ", " : "", (long long)count, count == 1 ? one : several);
        s->used += n > 0 ? (size_t)n : 0;
    }
}

carom_status cr_check_rigid(const cr_check_report* report, const char* name, carom_error* error)
{
    sentence s = {{0}, 0};
    for (int kind = 0; kind < CR_CHECK_KINDS; kind++) {
        const int64_t count = report->defect[kind].count;
        if (kind == CR_CHECK_OPEN_EDGE && count > 0) {
            char holes[64];
            snprintf(holes, sizeof holes, "open edge%s in %d hole%s", count == 1 ? "" : "s",
                     report->hole_count, report->hole_count == 1 ? "" : "s");
            say(&s, count, holes, holes);
        } else if (kind == CR_CHECK_TURNED_EDGE && report->turned_face_count > 0) {
            say(&s, report->turned_face_count, "face turned the wrong way",
                "faces turned the wrong way");
        } else if (texts[kind].forbids_rigid) {
            say(&s, count, texts[kind].one, texts[kind].several);
        }
    }
    if (s.used == 0 && report->has_mass) {
        return CAROM_OK;
    }
    const char* why = s.used > 0                ? s.text
                      : report->face_count == 0 ? "no faces"
                                                : "no volume inside";
    return cr_status_refuse(error, CAROM_ERR_MESH,
                            "%.200s: %s; a rigid body needs a closed, oriented mesh (carom info "
                            "--repair shows what a repair would do)",
                            name, why);
}
