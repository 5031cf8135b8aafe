#include "mesh/orient.h"
#include "core/memory.h"

static const double pi = 3.14159265358979323846;

// What the functions below share while building.
typedef struct work {
    const cr_trimesh* mesh;
    const cr_topology* t;
    cr_orient* out;
    int32_t* edge_faces; // [edge_count] how many faces meet
    int32_t* parent;     // [face_count] union-find, roots are the least face of their set
    int32_t* queue;      // [face_count] of the flood
    uint8_t* seen;       // [face_count]
    cr_vec3* box;        // [2*component_count]
} work;

void cr_orient_edge_faces(const cr_topology* topology, int32_t* count)
{
    for (int32_t e = 0; e < topology->edge_count; e++) {
        count[e] = 0;
    }
    for (int32_t i = 0; i < 3 * topology->face_count; i++) {
        count[topology->face_edge[i]]++;
    }
}

static int32_t root(int32_t* parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void find_components(work* w)
{
    const int32_t n = w->t->face_count;
    for (int32_t f = 0; f < n; f++) {
        w->parent[f] = f;
    }
    for (int32_t i = 0; i < 3 * n; i++) {
        const int32_t a = root(w->parent, i / 3);
        const int32_t b = root(w->parent, w->t->edge_face[2 * w->t->face_edge[i]]);
        w->parent[a > b ? a : b] = a > b ? b : a;
    }
    for (int32_t f = 0; f < n; f++) {
        const int32_t r = root(w->parent, f);
        w->out->component[f] = r == f ? w->out->component_count++ : w->out->component[r];
    }
}

// Does face f run along its side k from the lesser vertex to the greater?
static int forward(const cr_trimesh* mesh, int32_t f, int k)
{
    return mesh->face[3 * f + k] < mesh->face[3 * f + (k + 1) % 3];
}

static int side_of(const cr_topology* t, int32_t f, int32_t edge)
{
    return t->face_edge[3 * f] == edge ? 0 : t->face_edge[3 * f + 1] == edge ? 1 : 2;
}

static int32_t across(const cr_topology* t, int32_t f, int32_t edge)
{
    return t->edge_face[2 * edge] == f ? t->edge_face[2 * edge + 1] : t->edge_face[2 * edge];
}

// Whether faces f and g, both beside the edge, run along it in the same direction as they stand.
static int same_way(const work* w, int32_t f, int32_t g, int32_t edge)
{
    return forward(w->mesh, f, side_of(w->t, f, edge)) ==
           forward(w->mesh, g, side_of(w->t, g, edge));
}

// Spreads the way of one face over all it can be compared to; the lesser part counts as turned.
static void flood(work* w, int32_t start)
{
    uint8_t* turned = w->out->turned;
    int32_t head = 0, tail = 0, against = 0;
    w->queue[tail++] = start;
    w->seen[start] = 1;
    while (head < tail) {
        const int32_t f = w->queue[head++];
        against += turned[f];
        for (int k = 0; k < 3; k++) {
            const int32_t e = w->t->face_edge[3 * f + k];
            if (w->edge_faces[e] != 2) {
                continue;
            }
            const int32_t g = across(w->t, f, e);
            if (!w->seen[g]) {
                w->seen[g] = 1;
                turned[g] = (uint8_t)(turned[f] ^ same_way(w, f, g, e));
                w->queue[tail++] = g;
            }
        }
    }
    const int other = 2 * against > tail;
    for (int32_t i = 0; i < tail; i++) {
        turned[w->queue[i]] ^= (uint8_t)other;
    }
    w->out->turned_count += other ? tail - against : against;
}

static void corners(const cr_trimesh* mesh, int32_t f, cr_vec3 o, cr_vec3 y[3])
{
    for (int k = 0; k < 3; k++) {
        y[k] = cr_vec3_sub(cr_trimesh_at(mesh, mesh->face[3 * f + k]), o);
    }
}

static void measure_components(work* w)
{
    cr_orient* out = w->out;
    for (int32_t f = w->t->face_count - 1; f >= 0; f--) { // the first face has the last word
        const cr_vec3 p = cr_trimesh_at(w->mesh, w->mesh->face[3 * f]);
        w->box[2 * out->component[f]] = w->box[2 * out->component[f] + 1] = p;
    }
    for (int32_t f = 0; f < w->t->face_count; f++) {
        cr_vec3* box = w->box + 2 * out->component[f];
        for (int k = 0; k < 3; k++) {
            const cr_vec3 p = cr_trimesh_at(w->mesh, w->mesh->face[3 * f + k]);
            box[0] = cr_vec3_min(box[0], p);
            box[1] = cr_vec3_max(box[1], p);
            out->open[out->component[f]] |= w->edge_faces[w->t->face_edge[3 * f + k]] != 2;
        }
    }
    for (int32_t f = 0; f < w->t->face_count; f++) {
        const int32_t c = out->component[f];
        cr_vec3 y[3];
        corners(w->mesh, f, cr_vec3_scale(0.5, cr_vec3_add(w->box[2 * c], w->box[2 * c + 1])), y);
        const double d = cr_vec3_dot(y[0], cr_vec3_cross(y[1], y[2])) / 6;
        out->volume[c] += out->turned[f] ? -d : d;
    }
}

static int inside_box(const cr_vec3* box, cr_vec3 p)
{
    return p.x >= box[0].x && p.y >= box[0].y && p.z >= box[0].z && p.x <= box[1].x &&
           p.y <= box[1].y && p.z <= box[1].z;
}

// The solid angle of each triangle as seen from p (van Oosterom and Strackee): with unit-free
// y_k = x_k - p and r_k = |y_k|,
//   tan(omega/2) = y0.(y1 x y2) / (r0 r1 r2 + y0.y1 r2 + y1.y2 r0 + y2.y0 r1).
// Summed over a closed component it is +-4 pi inside and 0 outside.
static double solid_angle(const work* w, int32_t f, cr_vec3 p)
{
    cr_vec3 y[3];
    corners(w->mesh, f, p, y);
    const double r0 = cr_vec3_norm(y[0]);
    const double r1 = cr_vec3_norm(y[1]);
    const double r2 = cr_vec3_norm(y[2]);
    const double above = cr_vec3_dot(y[0], cr_vec3_cross(y[1], y[2]));
    const double below = r0 * r1 * r2 + cr_vec3_dot(y[0], y[1]) * r2 +
                         cr_vec3_dot(y[1], y[2]) * r0 + cr_vec3_dot(y[2], y[0]) * r1;
    const double omega = 2 * cr_atan2(above, below);
    return w->out->turned[f] ? -omega : omega;
}

// How many other closed components are around component c, seen from a vertex of its first face.
static int32_t depth(work* w, int32_t c, int32_t first, double* angle)
{
    const cr_vec3 p = cr_trimesh_at(w->mesh, w->mesh->face[3 * first]);
    const cr_orient* out = w->out;
    int32_t around = 0;
    for (int32_t k = 0; k < out->component_count; k++) {
        angle[k] = 0;
        around += k != c && !out->open[k] && inside_box(w->box + 2 * k, p);
    }
    if (around == 0) {
        return 0;
    }
    for (int32_t f = 0; f < w->t->face_count; f++) {
        const int32_t k = out->component[f];
        if (k != c && !out->open[k] && inside_box(w->box + 2 * k, p)) {
            angle[k] += solid_angle(w, f, p);
        }
    }
    around = 0;
    for (int32_t k = 0; k < out->component_count; k++) {
        around += fabs(angle[k]) > 2 * pi;
    }
    return around;
}

static carom_status find_inside_out(work* w)
{
    cr_orient* out = w->out;
    double* angle = cr_memory_take((size_t)out->component_count, sizeof *angle);
    if (!angle) {
        return CAROM_ERR_MEMORY;
    }
    int32_t next = 0; // components are numbered by first appearance
    for (int32_t f = 0; f < w->t->face_count; f++) {
        const int32_t c = out->component[f];
        if (c == next) {
            next++;
            const int cavity = !out->open[c] && depth(w, c, f, angle) % 2 == 1;
            out->inside_out[c] =
                (uint8_t)(!out->open[c] && (cavity ? out->volume[c] > 0 : out->volume[c] < 0));
        }
    }
    cr_memory_free(angle);
    return CAROM_OK;
}

static carom_status build(work* w)
{
    cr_orient* out = w->out;
    const size_t faces = (size_t)w->t->face_count;
    w->edge_faces = cr_memory_take((size_t)w->t->edge_count, sizeof *w->edge_faces);
    w->parent = cr_memory_take(faces, sizeof *w->parent);
    w->queue = cr_memory_take(faces, sizeof *w->queue);
    w->seen = cr_memory_take(faces, sizeof *w->seen);
    out->component = cr_memory_take(faces, sizeof *out->component);
    out->turned = cr_memory_take(faces, sizeof *out->turned);
    if (!w->edge_faces || !w->parent || !w->queue || !w->seen || !out->component || !out->turned) {
        return CAROM_ERR_MEMORY;
    }
    cr_orient_edge_faces(w->t, w->edge_faces);
    find_components(w);
    for (int32_t f = 0; f < w->t->face_count; f++) {
        if (!w->seen[f]) {
            flood(w, f);
        }
    }
    const size_t components = (size_t)out->component_count;
    w->box = cr_memory_take(components, 2 * sizeof *w->box);
    out->open = cr_memory_take(components, sizeof *out->open);
    out->volume = cr_memory_take(components, sizeof *out->volume);
    out->inside_out = cr_memory_take(components, sizeof *out->inside_out);
    if (!w->box || !out->open || !out->volume || !out->inside_out) {
        return CAROM_ERR_MEMORY;
    }
    measure_components(w);
    return find_inside_out(w);
}

carom_status cr_orient_build(cr_orient* orient, const cr_trimesh* mesh, const cr_topology* topology)
{
    cr_orient_release(orient);
    work w = {.mesh = mesh, .t = topology, .out = orient};
    const carom_status status = build(&w);
    cr_memory_free(w.edge_faces);
    cr_memory_free(w.parent);
    cr_memory_free(w.queue);
    cr_memory_free(w.seen);
    cr_memory_free(w.box);
    if (status != CAROM_OK) {
        cr_orient_release(orient);
    }
    return status;
}

void cr_orient_release(cr_orient* orient)
{
    cr_memory_free(orient->component);
    cr_memory_free(orient->turned);
    cr_memory_free(orient->open);
    cr_memory_free(orient->volume);
    cr_memory_free(orient->inside_out);
    *orient = (cr_orient){0};
}
