#include "mesh/decimate.h"
#include "core/array.h"

// A collapse may not turn a face by more than the angle of this cosine, nor make a sliver of it:
// twice the area over the sum of its sides squared, which is 0.29 at best. A face that is a sliver
// already may lose this little of it, so that long thin faces can grow together.
#define TURN_MOST 0.2
#define SHAPE_LEAST 0.02
#define SHAPE_KEEP 0.9
// A plane through an open border, across its face, holds the border this much more than faces hold.
#define BORDER_WEIGHT 100.0
// The best place of a vertex is where its planes meet, if they meet at a clear point: the
// determinant of their normal matrix over the cube of its trace.
#define MEET_LEAST 1e-6

// x'Ax + 2 b'x + c, the weighted sum of squared distances to planes.
enum { XX, XY, XZ, YY, YZ, ZZ, BX, BY, BZ, CC, QUADRIC };
typedef struct quadric {
    double m[QUADRIC];
} quadric;

// One edge that may go; out of date when either end has changed since.
typedef struct edge {
    double cost;
    int32_t a, b; // a < b
    int32_t stamp_a, stamp_b;
    cr_vec3 at; // where the two become one
} edge;

typedef struct work {
    int32_t face_count;
    cr_vec3 middle; // of the mesh's box, so that quadrics are exact far from the origin
    cr_vec3* x;     // [vertices] from the middle
    quadric* q;     // [vertices]
    int32_t* stamp; // [vertices] how often it changed, -1: gone
    int32_t* mark;  // [vertices] scratch
    int32_t* head;  // [vertices] its first corner, -1: none
    int32_t* next;  // [corners] the next corner at the same vertex, -1: none
    int32_t* face;  // [corners] vertices; the first is -1 in a face that is gone
    CR_ARRAY(edge) heap;
} work;

static void quadric_add(quadric* q, const quadric* p)
{
    for (int i = 0; i < QUADRIC; i++) {
        q->m[i] += p->m[i];
    }
}

// weight times the squared distance to the plane through p with unit normal n
static quadric quadric_plane(cr_vec3 n, cr_vec3 p, double weight)
{
    const double d = -cr_vec3_dot(n, p);
    const double row[QUADRIC] = {n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z,
                                 n.z * n.z, d * n.x,   d * n.y,   d * n.z,   d * d};
    quadric q;
    for (int i = 0; i < QUADRIC; i++) {
        q.m[i] = weight * row[i];
    }
    return q;
}

static double quadric_at(const quadric* q, cr_vec3 p)
{
    const double* m = q->m;
    const double value = m[XX] * p.x * p.x + m[YY] * p.y * p.y + m[ZZ] * p.z * p.z +
                         2.0 * (m[XY] * p.x * p.y + m[XZ] * p.x * p.z + m[YZ] * p.y * p.z +
                                m[BX] * p.x + m[BY] * p.y + m[BZ] * p.z) +
                         m[CC];
    return value > 0.0 ? value : 0.0;
}

// A x = -b by Cramer's rule; false where the planes do not meet at a clear point.
static int quadric_meet(const quadric* q, cr_vec3* at)
{
    const double* m = q->m;
    const double cxx = m[YY] * m[ZZ] - m[YZ] * m[YZ];
    const double cxy = m[XZ] * m[YZ] - m[XY] * m[ZZ];
    const double cxz = m[XY] * m[YZ] - m[XZ] * m[YY];
    const double cyy = m[XX] * m[ZZ] - m[XZ] * m[XZ];
    const double cyz = m[XY] * m[XZ] - m[XX] * m[YZ];
    const double czz = m[XX] * m[YY] - m[XY] * m[XY];
    const double det = m[XX] * cxx + m[XY] * cxy + m[XZ] * cxz;
    const double trace = m[XX] + m[YY] + m[ZZ];
    if (!(det > MEET_LEAST * trace * trace * trace)) {
        return 0;
    }
    at->x = -(cxx * m[BX] + cxy * m[BY] + cxz * m[BZ]) / det;
    at->y = -(cxy * m[BX] + cyy * m[BY] + cyz * m[BZ]) / det;
    at->z = -(cxz * m[BX] + cyz * m[BY] + czz * m[BZ]) / det;
    return cr_vec3_finite(*at);
}

// ---- the heap of edges, cheapest first, ties by the ends

static int before(const edge* p, const edge* q)
{
    if (p->cost != q->cost) {
        return p->cost < q->cost;
    }
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static int heap_push(work* w, edge e)
{
    if (!cr_array_push(&w->heap, e)) {
        return 0;
    }
    int32_t i = w->heap.count - 1;
    while (i > 0 && before(&e, &w->heap.items[(i - 1) / 2])) {
        w->heap.items[i] = w->heap.items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    w->heap.items[i] = e;
    return 1;
}

static edge heap_pop(work* w)
{
    const edge first = w->heap.items[0];
    const edge last = w->heap.items[--w->heap.count];
    int32_t i = 0;
    for (int32_t child; (child = 2 * i + 1) < w->heap.count; i = child) {
        if (child + 1 < w->heap.count && before(&w->heap.items[child + 1], &w->heap.items[child])) {
            child++;
        }
        if (!before(&w->heap.items[child], &last)) {
            break;
        }
        w->heap.items[i] = w->heap.items[child];
    }
    w->heap.items[i] = last;
    return first;
}

// ---- the mesh around a vertex

// The next corner from this one on, itself included, whose face is still there.
static int32_t alive(const work* w, int32_t corner)
{
    while (corner >= 0 && w->face[corner - corner % 3] < 0) {
        corner = w->next[corner];
    }
    return corner;
}

static int32_t after(int32_t corner, int k)
{
    return corner - corner % 3 + (corner + k) % 3;
}

// Twice the area times the normal of the face of a corner, were the corner's vertex at p; u and v
// lead from there to the other two.
static cr_vec3 normal_with(const work* w, int32_t corner, cr_vec3 p, cr_vec3* u, cr_vec3* v)
{
    *u = cr_vec3_sub(w->x[w->face[after(corner, 1)]], p);
    *v = cr_vec3_sub(w->x[w->face[after(corner, 2)]], p);
    return cr_vec3_cross(*u, *v);
}

// The normal again and how far from a sliver the face is: twice its area over its sides squared.
static cr_vec3 shape_with(const work* w, int32_t corner, cr_vec3 p, double* shape)
{
    cr_vec3 u, v;
    const cr_vec3 n = normal_with(w, corner, p, &u, &v);
    const double sides = cr_vec3_norm2(u) + cr_vec3_norm2(v) + cr_vec3_norm2(cr_vec3_sub(u, v));
    *shape = sides > 0.0 ? cr_vec3_norm(n) / sides : 0.0;
    return n;
}

// Whether all faces at vertex a that do not have b keep their side and their shape with a at p.
static int faces_bear(const work* w, int32_t a, int32_t b, cr_vec3 p)
{
    for (int32_t c = alive(w, w->head[a]); c >= 0; c = alive(w, w->next[c])) {
        if (w->face[after(c, 1)] == b || w->face[after(c, 2)] == b) {
            continue;
        }
        double shape_was, shape_is;
        const cr_vec3 was = shape_with(w, c, w->x[a], &shape_was);
        const cr_vec3 is = shape_with(w, c, p, &shape_is);
        if (!(cr_vec3_dot(was, is) > TURN_MOST * cr_vec3_norm(was) * cr_vec3_norm(is)) ||
            !(shape_is >= cr_min(SHAPE_LEAST, SHAPE_KEEP * shape_was))) {
            return 0;
        }
    }
    return 1;
}

// Adds one to the mark of the other two vertices of every face at vertex a.
static void count_around(work* w, int32_t a)
{
    for (int32_t c = alive(w, w->head[a]); c >= 0; c = alive(w, w->next[c])) {
        w->mark[w->face[after(c, 1)]]++;
        w->mark[w->face[after(c, 2)]]++;
    }
}

// Takes the marks around vertex a away again and counts its faces and its edges with one face only.
static void clear_around(work* w, int32_t a, int32_t* faces, int32_t* open)
{
    *faces = *open = 0;
    for (int32_t c = alive(w, w->head[a]); c >= 0; c = alive(w, w->next[c])) {
        (*faces)++;
        for (int k = 1; k < 3; k++) {
            int32_t* mark = &w->mark[w->face[after(c, k)]];
            *open += *mark == 1;
            *mark = 0;
        }
    }
}

// The link condition: a and b have no common neighbour but those opposite their edge, so that the
// surface stays a surface; two stretches of border do not grow together; something is left.
static int may_join(work* w, int32_t a, int32_t b)
{
    int32_t shared = 0, common = 0, faces_a, faces_b, open_a, open_b;
    count_around(w, b);
    clear_around(w, b, &faces_b, &open_b);
    count_around(w, a);
    for (int32_t c = alive(w, w->head[b]); c >= 0; c = alive(w, w->next[c])) {
        for (int k = 1; k < 3; k++) {
            const int32_t v = w->face[after(c, k)];
            shared += v == a;
            if (v != a && w->mark[v] > 0) { // negative: counted already
                common++;
                w->mark[v] = -w->mark[v];
            }
        }
    }
    for (int32_t c = alive(w, w->head[b]); c >= 0; c = alive(w, w->next[c])) {
        for (int k = 1; k < 3; k++) {
            int32_t* mark = &w->mark[w->face[after(c, k)]];
            *mark = *mark < 0 ? -*mark : *mark;
        }
    }
    clear_around(w, a, &faces_a, &open_a);
    return (shared == 1 || shared == 2) && common == shared &&
           !(open_a > 0 && open_b > 0 && shared == 2) &&
           (faces_a > shared + 1 || faces_b > shared + 1);
}

// ---- collapsing

static int offer(work* w, int32_t a, int32_t b)
{
    edge e = {.a = a < b ? a : b, .b = a < b ? b : a};
    quadric q = w->q[a];
    quadric_add(&q, &w->q[b]);
    e.stamp_a = w->stamp[e.a];
    e.stamp_b = w->stamp[e.b];
    const cr_vec3 end_a = w->x[e.a], end_b = w->x[e.b];
    const cr_vec3 middle = cr_vec3_scale(0.5, cr_vec3_add(end_a, end_b));
    if (!quadric_meet(&q, &e.at) ||
        cr_vec3_norm2(cr_vec3_sub(e.at, middle)) > cr_vec3_norm2(cr_vec3_sub(end_b, end_a))) {
        const double at_a = quadric_at(&q, end_a), at_b = quadric_at(&q, end_b);
        e.at = at_b < at_a ? end_b : end_a;
        if (quadric_at(&q, middle) <= cr_min(at_a, at_b)) {
            e.at = middle;
        }
    }
    e.cost = quadric_at(&q, e.at);
    return heap_push(w, e);
}

// b becomes a. The faces beside the edge go; the lists of corners become one.
static void join(work* w, const edge* e)
{
    int32_t last = -1;
    for (int32_t c = w->head[e->b]; c >= 0; c = w->next[c]) {
        last = c;
        const int32_t first = c - c % 3;
        if (w->face[first] < 0) {
            continue;
        }
        if (w->face[after(c, 1)] == e->a || w->face[after(c, 2)] == e->a) {
            w->face[first] = -1;
            w->face_count--;
        } else {
            w->face[c] = e->a;
        }
    }
    if (last >= 0) {
        w->next[last] = w->head[e->a];
        w->head[e->a] = w->head[e->b];
    }
    // corners of faces that are gone are passed over for good
    w->head[e->a] = alive(w, w->head[e->a]);
    for (int32_t c = w->head[e->a]; c >= 0; c = w->next[c]) {
        w->next[c] = alive(w, w->next[c]);
    }
    quadric_add(&w->q[e->a], &w->q[e->b]);
    w->x[e->a] = e->at;
    w->stamp[e->a]++;
    w->stamp[e->b] = -1;
}

static int offer_around(work* w, int32_t a)
{
    int32_t faces, open;
    int good = 1;
    for (int32_t c = alive(w, w->head[a]); c >= 0; c = alive(w, w->next[c])) {
        for (int k = 1; k < 3; k++) {
            const int32_t v = w->face[after(c, k)];
            good = good && (w->mark[v]++ > 0 || offer(w, a, v));
        }
    }
    clear_around(w, a, &faces, &open);
    return good;
}

// Takes edges from the heap until there are few enough faces or none may go.
static int collapse_offered(work* w, int32_t wanted)
{
    while (w->face_count > wanted && w->heap.count > 0) {
        const edge e = heap_pop(w);
        if (w->stamp[e.a] != e.stamp_a || w->stamp[e.b] != e.stamp_b || !may_join(w, e.a, e.b) ||
            !faces_bear(w, e.a, e.b, e.at) || !faces_bear(w, e.b, e.a, e.at)) {
            continue;
        }
        join(w, &e);
        if (!offer_around(w, e.a)) {
            return 0;
        }
    }
    return 1;
}

// Whether the edge from corner c to the next of its face has no other face.
static int on_border(const work* w, int32_t corner)
{
    const int32_t a = w->face[corner], b = w->face[after(corner, 1)];
    int32_t faces = 0;
    for (int32_t c = alive(w, w->head[a]); c >= 0; c = alive(w, w->next[c])) {
        faces += w->face[after(c, 1)] == b || w->face[after(c, 2)] == b;
    }
    return faces == 1;
}

static int offer_all(work* w, int32_t corners)
{
    for (int32_t c = 0; c < corners; c++) {
        const int32_t a = w->face[c], b = w->face[after(c, 1)];
        if (w->face[c - c % 3] >= 0 && (a < b || on_border(w, c)) && !offer(w, a, b)) {
            return 0;
        }
    }
    return 1;
}

// An edge that may not go is offered again when one of its ends changes; what changed around it can
// let it go too, so all are offered anew as long as that takes faces away.
static carom_status collapse_all(work* w, int32_t corners, int32_t wanted)
{
    int32_t had;
    do {
        had = w->face_count;
        if (!offer_all(w, corners) || !collapse_offered(w, wanted)) {
            return CAROM_ERR_MEMORY;
        }
    } while (w->face_count > wanted && w->face_count < had);
    return CAROM_OK;
}

// ---- in and out

// The plane of every face, by its area; a border has a second one, across.
static void take_planes(work* w, const cr_trimesh* mesh)
{
    for (int32_t c = 0; c < 3 * mesh->face_count; c += 3) {
        cr_vec3 u, v;
        const cr_vec3 n = normal_with(w, c, w->x[w->face[c]], &u, &v);
        const double twice = cr_vec3_norm(n);
        if (!(twice > 0.0)) {
            continue;
        }
        const cr_vec3 unit = cr_vec3_scale(1.0 / twice, n);
        const quadric q = quadric_plane(unit, w->x[w->face[c]], 0.5 * twice);
        for (int k = 0; k < 3; k++) {
            quadric_add(&w->q[w->face[c + k]], &q);
        }
    }
}

static void hold_border(work* w, const cr_trimesh* mesh)
{
    for (int32_t c = 0; c < 3 * mesh->face_count; c++) {
        if (!on_border(w, c)) {
            continue;
        }
        cr_vec3 u, v;
        const cr_vec3 n = normal_with(w, c, w->x[w->face[c]], &u, &v);
        const cr_vec3 across = cr_vec3_cross(u, n);
        const double length = cr_vec3_norm(across);
        if (length > 0.0) {
            const quadric q = quadric_plane(cr_vec3_scale(1.0 / length, across), w->x[w->face[c]],
                                            BORDER_WEIGHT * cr_vec3_norm2(u));
            quadric_add(&w->q[w->face[c]], &q);
            quadric_add(&w->q[w->face[after(c, 1)]], &q);
        }
    }
}

static int begin(work* w, const cr_trimesh* mesh)
{
    const int32_t vertices = mesh->vertex_count, corners = 3 * mesh->face_count;
    w->face_count = mesh->face_count;
    w->x = cr_memory_take((size_t)vertices, sizeof *w->x);
    w->q = cr_memory_take((size_t)vertices, sizeof *w->q);
    w->stamp = cr_memory_take((size_t)vertices, sizeof *w->stamp);
    w->mark = cr_memory_take((size_t)vertices, sizeof *w->mark);
    w->head = cr_memory_take((size_t)vertices, sizeof *w->head);
    w->next = cr_memory_take((size_t)corners, sizeof *w->next);
    w->face = cr_memory_take((size_t)corners, sizeof *w->face);
    if (!w->x || !w->q || !w->stamp || !w->mark || !w->head || !w->next || !w->face) {
        return 0;
    }
    cr_vec3 least, most;
    cr_trimesh_box(mesh, &least, &most);
    w->middle = cr_vec3_scale(0.5, cr_vec3_add(least, most));
    for (int32_t v = 0; v < vertices; v++) {
        w->x[v] = cr_vec3_sub(cr_trimesh_at(mesh, v), w->middle);
        w->q[v] = (quadric){0};
        w->stamp[v] = w->mark[v] = 0;
        w->head[v] = -1;
    }
    for (int32_t c = corners - 1; c >= 0; c--) {
        w->face[c] = mesh->face[c];
        w->next[c] = w->head[w->face[c]];
        w->head[w->face[c]] = c;
    }
    take_planes(w, mesh);
    hold_border(w, mesh);
    return 1;
}

static carom_status finish(work* w, const cr_trimesh* from, cr_trimesh* to)
{
    int32_t vertices = 0, faces = 0;
    for (int32_t v = 0; v < from->vertex_count; v++) {
        w->mark[v] = alive(w, w->head[v]) >= 0 && w->stamp[v] >= 0 ? vertices++ : -1;
    }
    const carom_status status = cr_trimesh_init(to, vertices, w->face_count, 0);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t v = 0; v < from->vertex_count; v++) {
        if (w->mark[v] >= 0) {
            cr_vec3_store(to->x + 3 * (size_t)w->mark[v], cr_vec3_add(w->x[v], w->middle));
        }
    }
    for (int32_t c = 0; c < 3 * from->face_count; c += 3) {
        if (w->face[c] >= 0) {
            for (int k = 0; k < 3; k++) {
                to->face[3 * faces + k] = w->mark[w->face[c + k]];
            }
            faces++;
        }
    }
    return CAROM_OK;
}

static void release(work* w)
{
    cr_memory_free(w->x);
    cr_memory_free(w->q);
    cr_memory_free(w->stamp);
    cr_memory_free(w->mark);
    cr_memory_free(w->head);
    cr_memory_free(w->next);
    cr_memory_free(w->face);
    cr_array_release(&w->heap);
}

carom_status cr_decimate_run(cr_trimesh* mesh, int32_t face_count)
{
    if (!cr_trimesh_sound(mesh)) {
        return CAROM_ERR_ARGUMENT;
    }
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        if (!cr_vec3_finite(cr_trimesh_at(mesh, v))) {
            return CAROM_ERR_ARGUMENT;
        }
    }
    if (mesh->face_count <= face_count) {
        return CAROM_OK;
    }
    work w = {0};
    cr_trimesh coarse = {0};
    carom_status status =
        begin(&w, mesh) ? collapse_all(&w, 3 * mesh->face_count, face_count) : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        status = finish(&w, mesh, &coarse);
    }
    if (status == CAROM_OK) {
        cr_trimesh_release(mesh);
        *mesh = coarse;
    }
    release(&w);
    return status;
}
