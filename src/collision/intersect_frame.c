#include "collision/intersect_frame.h"
#include "collision/intersect.h"
#include "core/memory.h"
#include <stdlib.h>

// Balls that rest on each other do so at the sum of their radii, to what a solver leaves.
static const long double ball_slack = 1e-6L;

enum { LEAF = 4 }; // items of a leaf of the tree

// --- distances, plainly and in long double
// ---------------------------------------------------------

typedef struct point {
    long double x, y, z;
} point;

static point point_load(cr_vec3 a)
{
    return (point){(long double)a.x, (long double)a.y, (long double)a.z};
}

static point minus(point a, point b)
{
    return (point){a.x - b.x, a.y - b.y, a.z - b.z};
}

static point plus(point a, long double s, point b)
{
    return (point){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static long double inner_product(point a, point b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static point outer_product(point a, point b)
{
    return (point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// All of these are squares of distances.

static long double to_segment(point p, point a, point b)
{
    const point e = minus(b, a), d = minus(p, a);
    const long double ee = inner_product(e, e);
    long double s = ee > 0.0L ? inner_product(d, e) / ee : 0.0L;
    s = s < 0.0L ? 0.0L : s > 1.0L ? 1.0L : s;
    const point r = plus(d, -s, e);
    return inner_product(r, r);
}

static long double least_of(long double a, long double b)
{
    return a < b ? a : b;
}

static long double to_triangle(point p, const point t[3])
{
    long double best = to_segment(p, t[0], t[1]);
    best = least_of(best, to_segment(p, t[1], t[2]));
    best = least_of(best, to_segment(p, t[2], t[0]));
    const point n = outer_product(minus(t[1], t[0]), minus(t[2], t[0]));
    int inside = 1;
    for (int k = 0; k < 3; k++) {
        const point e = minus(t[(k + 1) % 3], t[k]);
        inside &= inner_product(outer_product(e, minus(p, t[k])), n) > 0.0L;
    }
    if (inside) {
        const long double h = inner_product(n, minus(p, t[0]));
        best = least_of(best, h * h / inner_product(n, n));
    }
    return best;
}

static long double between_segments(point p, point q, point a, point b)
{
    long double best = to_segment(p, a, b);
    best = least_of(best, to_segment(q, a, b));
    best = least_of(best, to_segment(a, p, q));
    best = least_of(best, to_segment(b, p, q));
    const point u = minus(q, p), v = minus(b, a), d = minus(a, p);
    const point n = outer_product(u, v);
    const long double nn = inner_product(n, n);
    const long double s = inner_product(outer_product(d, v), n);
    const long double t = inner_product(outer_product(d, u), n);
    if (s > 0.0L && s < nn && t > 0.0L && t < nn) {
        const long double h = inner_product(n, d);
        best = least_of(best, h * h / nn);
    }
    return best;
}

static long double to_figure(point p, const point* t, int count)
{
    if (count == 1) {
        const point d = minus(p, t[0]);
        return inner_product(d, d);
    }
    return count == 2 ? to_segment(p, t[0], t[1]) : to_triangle(p, t);
}

// Of two figures of 1 to 3 points that do not pass through each other.
static long double between_figures(const point* a, int a_count, const point* b, int b_count)
{
    long double best = to_figure(a[0], b, b_count);
    for (int i = 1; i < a_count; i++) {
        best = least_of(best, to_figure(a[i], b, b_count));
    }
    for (int i = 0; i < b_count; i++) {
        best = least_of(best, to_figure(b[i], a, a_count));
    }
    const int a_edges = a_count == 3 ? 3 : a_count - 1, b_edges = b_count == 3 ? 3 : b_count - 1;
    for (int i = 0; i < a_edges; i++) {
        for (int j = 0; j < b_edges; j++) {
            best = least_of(best, between_segments(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]));
        }
    }
    return best;
}

// --- the frame
// -------------------------------------------------------------------------------------

// A face, an edge of a capsule or a sphere, with its box; the tree's leaves.
typedef struct item {
    uint64_t code; // place along a curve through the scene
    int32_t number;
    int32_t body;
    int32_t face;  // of the scene, -1 for none
    int32_t count; // points
    int32_t v[3];
    double radius;
    cr_vec3 least, most; // with the radius
} item;

// Items first .. first+count; node 0 is the root, children left and left+1.
typedef struct node {
    cr_vec3 least, most;
    int32_t first, count;
    int32_t left; // 0: a leaf
    int32_t body; // of all of them, -1 when they differ
} node;

typedef struct frame {
    const cr_surface* surface;
    const double* x;
    item* items;
    int32_t item_count;
    node* nodes;
    int32_t node_count;
    int32_t first_number[2]; // items of the report's first pair
    cr_intersect_report* out;
} frame;

// Whether two bodies are in the list of those that pass through each other.
static int bodies_pass(const cr_surface* s, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    int32_t first = 0, end = s->pass_count;
    while (first < end) {
        const int32_t middle = first + (end - first) / 2;
        const int32_t* pair = s->pass + 2 * (size_t)middle;
        if (pair[0] < low || (pair[0] == low && pair[1] < high)) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first < s->pass_count && s->pass[2 * (size_t)first] == low &&
           s->pass[2 * (size_t)first + 1] == high;
}

static int bodies_skipped(const cr_surface* s, int32_t a, int32_t b)
{
    if (a == b) {
        return !(s->body_flags[a] & CR_SURFACE_SOFT);
    }
    return (s->body_flags[a] & s->body_flags[b] & CR_SURFACE_FIXED) ||
           (s->body_group[a] >= 0 && s->body_group[a] == s->body_group[b]) || bodies_pass(s, a, b);
}

static cr_vec3 corner(const frame* f, const item* a, int k)
{
    return cr_vec3_load(f->x + 3 * (size_t)a->v[k]);
}

static void item_corners(const frame* f, const item* a, cr_vec3 x[3])
{
    for (int k = 0; k < a->count; k++) {
        x[k] = corner(f, a, k);
    }
}

// Moves the shared vertices to the front of both, in one order; how many there are.
static int shared_first(item* a, item* b)
{
    int shared = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = shared; j < 3; j++) {
            if (a->v[i] == b->v[j]) {
                const int32_t v = a->v[i];
                a->v[i] = a->v[shared];
                a->v[shared] = v;
                b->v[j] = b->v[shared];
                b->v[shared] = v;
                shared++;
                break;
            }
        }
    }
    return shared;
}

// A point that two crossing triangles have in common: where an edge of one passes the other's
// plane. An edge in that plane passes it nowhere, but what both have is in both boxes.
static cr_vec3 crossing_place(const item* a, const cr_vec3 x[3], const item* b, const cr_vec3 y[3])
{
    int edge = 0;
    while (edge < 5 &&
           !cr_intersect_segment_triangle((edge < 3 ? x : y)[edge % 3],
                                          (edge < 3 ? x : y)[(edge + 1) % 3], edge < 3 ? y : x)) {
        edge++;
    }
    const cr_vec3 *mine = edge < 3 ? x : y, *t = edge < 3 ? y : x;
    const point o = point_load(t[0]), p = point_load(mine[edge % 3]);
    const point q = point_load(mine[(edge + 1) % 3]);
    const point n = outer_product(minus(point_load(t[1]), o), minus(point_load(t[2]), o));
    const long double hp = inner_product(n, minus(p, o)), hq = inner_product(n, minus(q, o));
    const long double s = hp != hq ? hp / (hp - hq) : 0.5L;
    const point on = plus(p, s < 0.0L ? 0.0L : s > 1.0L ? 1.0L : s, minus(q, p));
    const cr_vec3 place = {(double)on.x, (double)on.y, (double)on.z};
    return cr_vec3_min(cr_vec3_max(place, cr_vec3_max(a->least, b->least)),
                       cr_vec3_min(a->most, b->most));
}

static void report_pair(frame* f, const item* a, const item* b, cr_vec3 place)
{
    cr_intersect_report* out = f->out;
    if (a->number > b->number) {
        const item* other = a;
        a = b;
        b = other;
    }
    const int first = out->pair_count == 0 || a->number < f->first_number[0] ||
                      (a->number == f->first_number[0] && b->number < f->first_number[1]);
    out->pair_count += out->pair_count < INT32_MAX;
    if (first) {
        f->first_number[0] = a->number;
        f->first_number[1] = b->number;
        out->body[0] = a->body;
        out->body[1] = b->body;
        out->face[0] = a->face;
        out->face[1] = b->face;
        out->place = place;
    }
}

static void report_distance(frame* f, const item* a, const item* b, double distance)
{
    cr_intersect_report* out = f->out;
    const int32_t low = a->body < b->body ? a->body : b->body;
    const int32_t high = a->body < b->body ? b->body : a->body;
    if (distance < out->min_distance ||
        (distance == out->min_distance && out->min_body[0] >= 0 &&
         (low < out->min_body[0] || (low == out->min_body[0] && high < out->min_body[1])))) {
        out->min_distance = distance;
        out->min_body[0] = low;
        out->min_body[1] = high;
    }
}

// Square of the gap between two boxes.
static double box_gap2(cr_vec3 a_least, cr_vec3 a_most, cr_vec3 b_least, cr_vec3 b_most)
{
    const double gx = cr_max(0.0, cr_max(a_least.x - b_most.x, b_least.x - a_most.x));
    const double gy = cr_max(0.0, cr_max(a_least.y - b_most.y, b_least.y - a_most.y));
    const double gz = cr_max(0.0, cr_max(a_least.z - b_most.z, b_least.z - a_most.z));
    return gx * gx + gy * gy + gz * gz;
}

// Touching boxes are always looked into, others while they may hold the least distance.
static int too_far(const frame* f, cr_vec3 a_least, cr_vec3 a_most, cr_vec3 b_least, cr_vec3 b_most)
{
    const double gap2 = box_gap2(a_least, a_most, b_least, b_most), best = f->out->min_distance;
    return gap2 > 0.0 && !(best > 0.0 && gap2 <= best * best);
}

// A distance that the points y keep from the plane of the triangle x, all on one side of it; 0 when
// they do not. The product of three lengths errs by a few units in its last place.
static double plane_gap(const cr_vec3 x[3], const cr_vec3* y, int count)
{
    const cr_vec3 n = cr_vec3_cross(cr_vec3_sub(x[1], x[0]), cr_vec3_sub(x[2], x[0]));
    const double length = cr_vec3_norm(n);
    double least = HUGE_VAL, most = -HUGE_VAL, reach = 0.0;
    for (int k = 0; k < count; k++) {
        const cr_vec3 d = cr_vec3_sub(y[k], x[0]);
        const double h = cr_vec3_dot(n, d);
        least = cr_min(least, h);
        most = cr_max(most, h);
        reach = cr_max(reach, cr_vec3_max_abs(d));
    }
    const double blur = 1e-14 * reach * cr_vec3_norm(cr_vec3_sub(x[1], x[0])) *
                        cr_vec3_norm(cr_vec3_sub(x[2], x[0]));
    const double gap = cr_max(least, -most) - blur;
    return gap > 0.0 && length > 0.0 ? gap / length : 0.0;
}

static void visit_self(frame* f, item a, item b)
{
    const int shared = shared_first(&a, &b);
    cr_vec3 x[3], y[3];
    item_corners(f, &a, x);
    item_corners(f, &b, y);
    if (shared > 0 ? cr_intersect_neighbours(x, y, shared) : cr_intersect_triangles(x, y)) {
        report_pair(f, &a, &b, crossing_place(&a, x, &b, y));
    }
}

static int figures_cross(const cr_vec3* x, int x_count, const cr_vec3* y, int y_count)
{
    if (x_count == 3 && y_count == 3) {
        return cr_intersect_triangles(x, y);
    }
    if (x_count == 3 && y_count == 2) {
        return cr_intersect_segment_triangle(y[0], y[1], x);
    }
    return x_count == 2 && y_count == 3 && cr_intersect_segment_triangle(x[0], x[1], y);
}

static void visit_items(frame* f, const item* a, const item* b)
{
    if (bodies_skipped(f->surface, a->body, b->body) ||
        too_far(f, a->least, a->most, b->least, b->most)) {
        return;
    }
    if (a->body == b->body) {
        if (a->count == 3 && b->count == 3) {
            visit_self(f, *a, *b);
        }
        return;
    }
    cr_vec3 x[3], y[3];
    item_corners(f, a, x);
    item_corners(f, b, y);
    // the plane of a face often shows that nothing is near enough to matter
    const double best = cr_max(f->out->min_distance, 0.0) + a->radius + b->radius;
    if ((a->count == 3 && plane_gap(x, y, b->count) > best) ||
        (b->count == 3 && plane_gap(y, x, a->count) > best)) {
        return;
    }
    const long double radii = (long double)a->radius + (long double)b->radius;
    const int cross = figures_cross(x, a->count, y, b->count);
    long double distance = 0.0L;
    if (!cross) {
        point p[3], q[3];
        for (int k = 0; k < 3; k++) {
            p[k] = point_load(x[k < a->count ? k : 0]);
            q[k] = point_load(y[k < b->count ? k : 0]);
        }
        distance = sqrtl(between_figures(p, a->count, q, b->count));
    }
    report_distance(f, a, b, (double)(distance - radii));
    if (cross || distance < radii * (1.0L - ball_slack)) {
        const cr_vec3 middle = cr_vec3_scale(
            0.5, cr_vec3_add(cr_vec3_max(a->least, b->least), cr_vec3_min(a->most, b->most)));
        const int faces = a->count == 3 && b->count == 3;
        report_pair(f, a, b, faces ? crossing_place(a, x, b, y) : middle);
    }
}

static void visit_nodes(frame* f, const node* a, const node* b)
{
    if ((a->body >= 0 && b->body >= 0 && bodies_skipped(f->surface, a->body, b->body)) ||
        too_far(f, a->least, a->most, b->least, b->most)) {
        return;
    }
    if (!a->left && !b->left) {
        for (int32_t i = a->first; i < a->first + a->count; i++) {
            for (int32_t j = b->first; j < b->first + b->count; j++) {
                visit_items(f, f->items + i, f->items + j);
            }
        }
        return;
    }
    if (!a->left || (b->left && b->count > a->count)) {
        const node* other = a;
        a = b;
        b = other;
    }
    // the nearer half first: what it finds may spare the other
    const node *near = f->nodes + a->left, *far = near + 1;
    if (box_gap2(far->least, far->most, b->least, b->most) <
        box_gap2(near->least, near->most, b->least, b->most)) {
        near = far;
        far = f->nodes + a->left;
    }
    visit_nodes(f, near, b);
    visit_nodes(f, far, b);
}

static void visit_within(frame* f, const node* a)
{
    if (a->body >= 0 && bodies_skipped(f->surface, a->body, a->body)) {
        return;
    }
    if (!a->left) {
        for (int32_t i = a->first; i < a->first + a->count; i++) {
            for (int32_t j = i + 1; j < a->first + a->count; j++) {
                visit_items(f, f->items + i, f->items + j);
            }
        }
        return;
    }
    visit_within(f, f->nodes + a->left);
    visit_within(f, f->nodes + a->left + 1);
    visit_nodes(f, f->nodes + a->left, f->nodes + a->left + 1);
}

// Halves the items in their order; depth is the logarithm of their number.
static void build_node(frame* f, int32_t at, int32_t first, int32_t count)
{
    node* a = f->nodes + at;
    *a = (node){.first = first, .count = count, .body = f->items[first].body};
    if (count <= LEAF) {
        a->least = f->items[first].least;
        a->most = f->items[first].most;
        for (int32_t i = first + 1; i < first + count; i++) {
            a->least = cr_vec3_min(a->least, f->items[i].least);
            a->most = cr_vec3_max(a->most, f->items[i].most);
            a->body = a->body == f->items[i].body ? a->body : -1;
        }
        return;
    }
    a->left = f->node_count;
    f->node_count += 2;
    build_node(f, a->left, first, count / 2);
    build_node(f, a->left + 1, first + count / 2, count - count / 2);
    const node *l = f->nodes + a->left, *r = l + 1;
    a->least = cr_vec3_min(l->least, r->least);
    a->most = cr_vec3_max(l->most, r->most);
    a->body = l->body == r->body ? l->body : -1;
}

// Bits of a coordinate in 0..1, two empty places after each.
static uint64_t spread_bits(double unit)
{
    const uint64_t whole = (uint64_t)(cr_clamp(unit, 0.0, 1.0) * 0x1fffff);
    uint64_t bits = 0;
    for (int i = 0; i < 21; i++) {
        bits |= (whole >> i & 1) << (3 * i);
    }
    return bits;
}

static int compare_items(const void* a, const void* b)
{
    const item *p = a, *q = b;
    if (p->code != q->code) {
        return p->code < q->code ? -1 : 1;
    }
    return (p->number > q->number) - (p->number < q->number);
}

static void sort_items(frame* f)
{
    cr_vec3 least = f->items[0].least, most = f->items[0].most;
    for (int32_t i = 1; i < f->item_count; i++) {
        least = cr_vec3_min(least, f->items[i].least);
        most = cr_vec3_max(most, f->items[i].most);
    }
    const double size = cr_vec3_max_abs(cr_vec3_sub(most, least));
    const double scale = size > 0.0 ? 0.5 / size : 0.0;
    for (int32_t i = 0; i < f->item_count; i++) {
        item* a = f->items + i;
        const cr_vec3 twice =
            cr_vec3_add(cr_vec3_sub(a->least, least), cr_vec3_sub(a->most, least));
        a->code = spread_bits(scale * twice.x) | spread_bits(scale * twice.y) << 1 |
                  spread_bits(scale * twice.z) << 2;
    }
    qsort(f->items, (size_t)f->item_count, sizeof *f->items, compare_items);
}

static void add_item(frame* f, int32_t body, int32_t face, const int32_t* v, int count,
                     double radius)
{
    item* a = f->items + f->item_count;
    *a = (item){
        .number = f->item_count, .body = body, .face = face, .count = count, .radius = radius};
    for (int k = 0; k < count; k++) {
        a->v[k] = v[k];
        const cr_vec3 y = corner(f, a, k);
        a->least = k > 0 ? cr_vec3_min(a->least, y) : y;
        a->most = k > 0 ? cr_vec3_max(a->most, y) : y;
    }
    const cr_vec3 grow = {radius, radius, radius};
    a->least = cr_vec3_sub(a->least, grow);
    a->most = cr_vec3_add(a->most, grow);
    f->item_count++;
}

// What a body is looked at by: its faces, or its edges, or its vertices.
static int32_t body_items(const cr_surface* s, int32_t b)
{
    const int32_t faces = s->body_face[b + 1] - s->body_face[b];
    const int32_t edges = s->body_edge[b + 1] - s->body_edge[b];
    const int32_t vertices = s->body_vertex[b + 1] - s->body_vertex[b];
    return faces > 0 ? faces : edges > 0 ? edges : vertices;
}

static void add_body(frame* f, int32_t b, const double* radius)
{
    const cr_surface* s = f->surface;
    for (int32_t i = s->body_face[b]; i < s->body_face[b + 1]; i++) {
        add_item(f, b, i, s->face + 3 * (size_t)i, 3, 0.0);
    }
    if (s->body_face[b] < s->body_face[b + 1]) {
        return;
    }
    const double r = radius ? radius[b] : 0.0;
    for (int32_t i = s->body_edge[b]; i < s->body_edge[b + 1]; i++) {
        add_item(f, b, -1, s->edge + 2 * (size_t)i, 2, r);
    }
    if (s->body_edge[b] < s->body_edge[b + 1]) {
        return;
    }
    for (int32_t v = s->body_vertex[b]; v < s->body_vertex[b + 1]; v++) {
        add_item(f, b, -1, &v, 1, r);
    }
}

static carom_status take_items(frame* f, int32_t room)
{
    f->items = cr_memory_take((size_t)room, sizeof *f->items);
    f->nodes = cr_memory_take((size_t)room + 1, sizeof *f->nodes); // no leaf is split below 2 items
    return f->items && f->nodes ? CAROM_OK : CAROM_ERR_MEMORY;
}

static void build_tree(frame* f)
{
    if (f->item_count > 0) {
        sort_items(f);
        f->node_count = 1;
        build_node(f, 0, 0, f->item_count);
    }
}

// --- whole bodies
// ------------------------------------------------------------------------------------

// One item per body, its box, in the same kind of tree.
static carom_status build_bodies(frame* all, const double* radius)
{
    const cr_surface* s = all->surface;
    const carom_status status = take_items(all, s->body_count + 1);
    for (int32_t b = 0; b < s->body_count && status == CAROM_OK; b++) {
        item* body = all->items + all->item_count;
        // the features of a body without faces or edges are its vertices; of others, those they use
        for (int32_t i = 0, n = body_items(s, b); i < n; i++) {
            frame one = {.surface = s, .x = all->x, .items = body + (i > 0)};
            const int faces = s->body_face[b] < s->body_face[b + 1];
            const int edges = !faces && s->body_edge[b] < s->body_edge[b + 1];
            const int32_t v = s->body_vertex[b] + i;
            add_item(&one, b, -1,
                     faces   ? s->face + 3 * ((size_t)s->body_face[b] + (size_t)i)
                     : edges ? s->edge + 2 * ((size_t)s->body_edge[b] + (size_t)i)
                             : &v,
                     faces   ? 3
                     : edges ? 2
                             : 1,
                     radius && !faces ? radius[b] : 0.0);
            if (i > 0) {
                body->least = cr_vec3_min(body->least, body[1].least);
                body->most = cr_vec3_max(body->most, body[1].most);
            }
        }
        body->number = b;
        all->item_count += body_items(s, b) > 0;
    }
    if (status == CAROM_OK) {
        build_tree(all);
    }
    return status;
}

// Whether another body than b, that is not skipped with it, is within `distance` of the box.
static int has_company(const frame* all, const node* a, const item* b, double distance)
{
    const double gap2 = box_gap2(a->least, a->most, b->least, b->most);
    if (!(gap2 <= distance * distance)) {
        return 0;
    }
    if (a->left) {
        return has_company(all, all->nodes + a->left, b, distance) ||
               has_company(all, all->nodes + a->left + 1, b, distance);
    }
    for (int32_t i = a->first; i < a->first + a->count; i++) {
        const item* other = all->items + i;
        if (other->body != b->body && !bodies_skipped(all->surface, b->body, other->body) &&
            box_gap2(other->least, other->most, b->least, b->most) <= distance * distance) {
            return 1;
        }
    }
    return 0;
}

// The features of all bodies that are near another one, or may touch themselves, in the order of
// the scene. Of the rest nothing can come of it.
static carom_status add_items(frame* f, const frame* all, const double* radius, double distance)
{
    const cr_surface* s = f->surface;
    uint8_t* wanted = cr_memory_take((size_t)s->body_count, 1);
    int32_t room = 0;
    for (int32_t i = 0; i < all->item_count && wanted; i++) {
        const item* body = all->items + i;
        wanted[body->body] = !bodies_skipped(s, body->body, body->body) ||
                             has_company(all, all->nodes, body, cr_max(distance, 0.0));
        room += wanted[body->body] ? body_items(s, body->body) : 0;
    }
    const carom_status status = wanted ? take_items(f, room) : CAROM_ERR_MEMORY;
    for (int32_t b = 0; b < s->body_count && status == CAROM_OK; b++) {
        if (wanted[b]) {
            add_body(f, b, radius);
        }
    }
    cr_memory_free(wanted);
    return status;
}

// --- one body inside another
// -------------------------------------------------------------------------

static int32_t shell_of(int32_t* parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

// parent[v] = the least vertex of v's connected piece; -1 for a vertex that no face uses.
static void find_shells(const cr_surface* s, int32_t* parent)
{
    for (int32_t v = 0; v < s->vertex_count; v++) {
        const int32_t b = s->vertex_body[v];
        parent[v] = s->body_face[b] < s->body_face[b + 1] ? -1 : v;
    }
    for (int32_t i = 0; i < 3 * s->face_count; i++) {
        parent[s->face[i]] = s->face[i];
    }
    for (int32_t i = 0; i < 3 * s->face_count; i++) {
        const int32_t a = shell_of(parent, s->face[i]);
        const int32_t b = shell_of(parent, s->face[i - i % 3 + (i + 1) % 3]);
        parent[a < b ? b : a] = a < b ? a : b;
    }
}

// One shell on its way through the bodies it may be inside of.
typedef struct shell {
    const frame* all;
    int32_t vertex;  // of the shell
    cr_vec3 p;       // where it is
    uint8_t* closed; // [body_count] asked for at most once: 2 before, then 0 or 1
    int32_t outer;   // the first body it is inside of, -1: none
    int32_t count;   // of such bodies
} shell;

static carom_status look_inside(shell* h, int32_t b)
{
    const cr_surface* s = h->all->surface;
    const int32_t face_count = s->body_face[b + 1] - s->body_face[b];
    const int32_t* face = s->face + 3 * (size_t)s->body_face[b];
    const int32_t mine = s->vertex_body[h->vertex];
    if (b == mine || face_count == 0 || bodies_skipped(s, b, mine)) {
        return CAROM_OK;
    }
    if (h->closed[b] == 2) {
        int is_closed = 0;
        const carom_status status = cr_intersect_closed(face, face_count, &is_closed);
        if (status != CAROM_OK) {
            return status;
        }
        h->closed[b] = is_closed != 0;
    }
    if (h->closed[b] && cr_intersect_inside(h->all->x, face, face_count, h->p) == 1) {
        h->outer = h->outer < 0 || b < h->outer ? b : h->outer;
        h->count++;
    }
    return CAROM_OK;
}

static carom_status look_below(shell* h, const node* a)
{
    carom_status status = CAROM_OK;
    if (box_gap2(h->p, h->p, a->least, a->most) > 0.0) {
        return CAROM_OK;
    }
    if (a->left) {
        status = look_below(h, h->all->nodes + a->left);
        return status == CAROM_OK ? look_below(h, h->all->nodes + a->left + 1) : status;
    }
    for (int32_t i = a->first; i < a->first + a->count && status == CAROM_OK; i++) {
        const item* body = h->all->items + i;
        if (!(box_gap2(h->p, h->p, body->least, body->most) > 0.0)) {
            status = look_inside(h, body->body);
        }
    }
    return status;
}

// No surfaces meet, so a shell is inside a body when any one vertex of it is.
static carom_status find_inside(const frame* all, const int32_t* parent, uint8_t* closed)
{
    const cr_surface* s = all->surface;
    cr_intersect_report* out = all->out;
    carom_status status = CAROM_OK;
    for (int32_t v = 0; v < s->vertex_count && status == CAROM_OK; v++) {
        if (parent[v] != v) {
            continue;
        }
        shell h = {all, v, cr_vec3_load(all->x + 3 * (size_t)v), closed, -1, 0};
        status = look_below(&h, all->nodes);
        if (out->inside_count == 0 && h.count > 0) {
            out->inner = s->vertex_body[v];
            out->outer = h.outer;
        }
        out->inside_count += h.count;
    }
    return status;
}

static carom_status frame_inside(const frame* all)
{
    const cr_surface* s = all->surface;
    int32_t* parent = cr_memory_take((size_t)s->vertex_count, sizeof *parent);
    uint8_t* closed = cr_memory_take((size_t)s->body_count, 1);
    carom_status status = CAROM_ERR_MEMORY;
    if (parent && closed) {
        for (int32_t b = 0; b < s->body_count; b++) {
            closed[b] = 2;
        }
        find_shells(s, parent);
        status = all->item_count > 0 ? find_inside(all, parent, closed) : CAROM_OK;
    }
    cr_memory_free(parent);
    cr_memory_free(closed);
    return status;
}

carom_status cr_intersect_frame(const cr_surface* surface, const double* x, const double* radius,
                                double search_distance, int32_t flags, cr_intersect_report* out)
{
    *out = (cr_intersect_report){.body = {-1, -1},
                                 .face = {-1, -1},
                                 .inner = -1,
                                 .outer = -1,
                                 .min_distance = search_distance,
                                 .min_body = {-1, -1}};
    for (int32_t i = 0; i < 3 * surface->vertex_count; i++) {
        if (!isfinite(x[i])) {
            return CAROM_ERR_NOT_FINITE;
        }
    }
    frame all = {.surface = surface, .x = x, .out = out};
    frame f = {.surface = surface, .x = x, .out = out};
    carom_status status = build_bodies(&all, radius);
    if (status == CAROM_OK) {
        status = add_items(&f, &all, radius, search_distance);
    }
    if (status == CAROM_OK) {
        build_tree(&f);
        if (f.item_count > 0) {
            visit_within(&f, f.nodes);
        }
        if ((flags & CR_INTERSECT_FRAME_INSIDE) && out->pair_count == 0) {
            status = frame_inside(&all);
        }
    }
    cr_memory_free(f.items);
    cr_memory_free(f.nodes);
    cr_memory_free(all.items);
    cr_memory_free(all.nodes);
    return status;
}
