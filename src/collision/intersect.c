#include "collision/intersect.h"
#include "collision/predicates.h"
#include "core/memory.h"
#include <stdlib.h>

enum { TRIES = 64 }; // ways out of a body before cr_intersect_inside gives up

// --- exact tests -------------------------------------------------------------------------------

static void corner_box(const cr_vec3* x, int count, cr_vec3* least, cr_vec3* most)
{
    *least = *most = x[0];
    for (int k = 1; k < count; k++) {
        *least = cr_vec3_min(*least, x[k]);
        *most = cr_vec3_max(*most, x[k]);
    }
}

static int boxes_meet(cr_vec3 a_least, cr_vec3 a_most, cr_vec3 b_least, cr_vec3 b_most)
{
    return a_least.x <= b_most.x && b_least.x <= a_most.x && a_least.y <= b_most.y &&
           b_least.y <= a_most.y && a_least.z <= b_most.z && b_least.z <= a_most.z;
}

// Turn of a, b, c seen along one axis.
static int turn(int axis, cr_vec3 a, cr_vec3 b, cr_vec3 c)
{
    switch (axis) {
    case 0:
        return cr_predicates_orient2d(a.y, a.z, b.y, b.z, c.y, c.z);
    case 1:
        return cr_predicates_orient2d(a.z, a.x, b.z, b.x, c.z, c.x);
    default:
        return cr_predicates_orient2d(a.x, a.y, b.x, b.y, c.x, c.y);
    }
}

// Coplanar figures meet exactly when their shadows along all three axes do: one of the three
// shadows is always faithful, and the other two never deny a common point. So no plane's normal
// has to be known. The same holds for collinear figures.

// Segments pq and ab, shadows along one axis; their boxes are known to meet.
static int shadows_cross(int axis, cr_vec3 p, cr_vec3 q, cr_vec3 a, cr_vec3 b)
{
    return turn(axis, p, q, a) * turn(axis, p, q, b) <= 0 &&
           turn(axis, a, b, p) * turn(axis, a, b, q) <= 0;
}

static int segments_meet(cr_vec3 p, cr_vec3 q, cr_vec3 a, cr_vec3 b)
{
    if (!boxes_meet(cr_vec3_min(p, q), cr_vec3_max(p, q), cr_vec3_min(a, b), cr_vec3_max(a, b)) ||
        cr_predicates_orient3d(p, q, a, b) != 0) {
        return 0;
    }
    return shadows_cross(0, p, q, a, b) && shadows_cross(1, p, q, a, b) &&
           shadows_cross(2, p, q, a, b);
}

// p is known to lie in the plane of t, or t has none. A shadow of t that is a line has no inside:
// off the line two of the signs differ, on it the box decides.
static int plane_point_in_triangle(cr_vec3 p, const cr_vec3 t[3])
{
    cr_vec3 least, most;
    corner_box(t, 3, &least, &most);
    if (!boxes_meet(p, p, least, most)) {
        return 0;
    }
    for (int axis = 0; axis < 3; axis++) {
        const int s0 = turn(axis, t[0], t[1], p), s1 = turn(axis, t[1], t[2], p),
                  s2 = turn(axis, t[2], t[0], p);
        if ((s0 < 0 || s1 < 0 || s2 < 0) && (s0 > 0 || s1 > 0 || s2 > 0)) {
            return 0;
        }
    }
    return 1;
}

// How the line through p and q, not parallel to the plane of t, passes it: 1 through the inside, 0
// through the rim, -1 beside.
static int line_through(cr_vec3 p, cr_vec3 q, const cr_vec3 t[3])
{
    const int s0 = cr_predicates_orient3d(p, q, t[0], t[1]);
    const int s1 = cr_predicates_orient3d(p, q, t[1], t[2]);
    if (s0 * s1 < 0) {
        return -1;
    }
    const int s2 = cr_predicates_orient3d(p, q, t[2], t[0]);
    if (s0 * s2 < 0 || s1 * s2 < 0) {
        return -1;
    }
    return s0 != 0 && s1 != 0 && s2 != 0;
}

int cr_intersect_segment_triangle(cr_vec3 p, cr_vec3 q, const cr_vec3 t[3])
{
    cr_vec3 least, most;
    corner_box(t, 3, &least, &most);
    if (!boxes_meet(cr_vec3_min(p, q), cr_vec3_max(p, q), least, most)) {
        return 0;
    }
    const int side_p = cr_predicates_orient3d(t[0], t[1], t[2], p);
    const int side_q = cr_predicates_orient3d(t[0], t[1], t[2], q);
    if (side_p * side_q > 0) {
        return 0;
    }
    if (side_p != 0 || side_q != 0) {
        return line_through(p, q, t) >= 0;
    }
    // all in one plane, or t has none
    return segments_meet(p, q, t[0], t[1]) || segments_meet(p, q, t[1], t[2]) ||
           segments_meet(p, q, t[2], t[0]) || plane_point_in_triangle(p, t);
}

// The ends of what two triangles have in common lie on an edge of one of them, and inside another
// one coplanar to it an edge lies whole: so some edge meets the other triangle.
int cr_intersect_triangles(const cr_vec3 a[3], const cr_vec3 b[3])
{
    cr_vec3 a_least, a_most, b_least, b_most;
    corner_box(a, 3, &a_least, &a_most);
    corner_box(b, 3, &b_least, &b_most);
    if (!boxes_meet(a_least, a_most, b_least, b_most)) {
        return 0;
    }
    int up_a = 0, down_a = 0, up_b = 0, down_b = 0;
    for (int k = 0; k < 3; k++) {
        const int side = cr_predicates_orient3d(a[0], a[1], a[2], b[k]);
        up_b += side > 0;
        down_b += side < 0;
    }
    if (up_b == 3 || down_b == 3) {
        return 0;
    }
    for (int k = 0; k < 3; k++) {
        const int side = cr_predicates_orient3d(b[0], b[1], b[2], a[k]);
        up_a += side > 0;
        down_a += side < 0;
    }
    if (up_a == 3 || down_a == 3) {
        return 0;
    }
    for (int k = 0; k < 3; k++) {
        if (cr_intersect_segment_triangle(a[k], a[(k + 1) % 3], b) ||
            cr_intersect_segment_triangle(b[k], b[(k + 1) % 3], a)) {
            return 1;
        }
    }
    return 0;
}

// One corner v: a common ray from v leaves one of them through the edge opposite v. Two corners:
// only when one is folded flat onto the other. Three: they are the same.
int cr_intersect_neighbours(const cr_vec3 a[3], const cr_vec3 b[3], int shared)
{
    if (shared == 1) {
        return cr_intersect_segment_triangle(a[1], a[2], b) ||
               cr_intersect_segment_triangle(b[1], b[2], a);
    }
    if (shared == 2) {
        if (cr_predicates_orient3d(a[0], a[1], a[2], b[2]) != 0) {
            return 0;
        }
        for (int axis = 0; axis < 3; axis++) {
            if (turn(axis, a[0], a[1], a[2]) * turn(axis, a[0], a[1], b[2]) > 0) {
                return 1;
            }
        }
        return 0;
    }
    return 1;
}

// --- inside --------------------------------------------------------------------------------------

// A number in [0,1) that looks like none of its neighbours.
static double scatter(uint64_t i)
{
    i *= 0x9e3779b97f4a7c15u;
    i ^= i >> 29;
    i *= 0xbf58476d1ce4e5b9u;
    return (double)(i >> 11) * 0x1p-53;
}

// Parity of the crossings of pq, q outside of the box: 0, 1; -1 when it grazes; 2 when p is on it.
static int parity(const double* x, const int32_t* face, int32_t face_count, cr_vec3 p, cr_vec3 q)
{
    int odd = 0;
    for (int32_t f = 0; f < face_count; f++) {
        cr_vec3 t[3], least, most;
        for (int k = 0; k < 3; k++) {
            t[k] = cr_vec3_load(x + 3 * (size_t)face[3 * f + k]);
        }
        corner_box(t, 3, &least, &most);
        if (!boxes_meet(cr_vec3_min(p, q), cr_vec3_max(p, q), least, most)) {
            continue;
        }
        const int side_p = cr_predicates_orient3d(t[0], t[1], t[2], p);
        const int side_q = cr_predicates_orient3d(t[0], t[1], t[2], q);
        if (side_p == 0) {
            if (plane_point_in_triangle(p, t)) {
                return 2;
            }
            if (side_q == 0 && cr_intersect_segment_triangle(p, q, t)) {
                return -1;
            }
        } else if (side_p * side_q < 0) {
            const int through = line_through(p, q, t);
            if (through == 0) {
                return -1;
            }
            odd ^= through == 1;
        }
    }
    return odd;
}

int cr_intersect_inside(const double* x, const int32_t* face, int32_t face_count, cr_vec3 p)
{
    if (face_count <= 0) {
        return 0;
    }
    cr_vec3 least = cr_vec3_load(x + 3 * (size_t)face[0]), most = least;
    for (int32_t i = 1; i < 3 * face_count; i++) {
        const cr_vec3 y = cr_vec3_load(x + 3 * (size_t)face[i]);
        least = cr_vec3_min(least, y);
        most = cr_vec3_max(most, y);
    }
    if (!boxes_meet(p, p, least, most)) {
        return 0;
    }
    const double step = cr_vec3_max_abs(cr_vec3_sub(most, least)) + cr_vec3_max_abs(most);
    for (uint64_t i = 0; i < TRIES; i++) {
        // straight along an axis, where few faces are in the way; should that graze, past the far
        // corner in directions that no mesh was made for
        const cr_vec3 past = {most.x + step * (0.5 + scatter(3 * i + 1)),
                              most.y + step * (0.5 + scatter(3 * i + 2)),
                              most.z + step * (0.5 + scatter(3 * i + 3))};
        const cr_vec3 q = i == 0 ? (cr_vec3){past.x, p.y, p.z} : past;
        const int odd = parity(x, face, face_count, p, q);
        if (odd >= 0) {
            return odd > 0;
        }
    }
    return -1;
}

static int compare_edges(const void* a, const void* b)
{
    const int32_t *p = a, *q = b;
    if (p[0] != q[0]) {
        return p[0] < q[0] ? -1 : 1;
    }
    return (p[1] > q[1]) - (p[1] < q[1]);
}

carom_status cr_intersect_closed(const int32_t* face, int32_t face_count, int* closed)
{
    *closed = 0;
    const size_t count = 3 * (size_t)face_count;
    int32_t* edge = cr_memory_take(count, 2 * sizeof *edge);
    if (!edge) {
        return CAROM_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        const int32_t a = face[i], b = face[i - i % 3 + (i + 1) % 3];
        edge[2 * i] = a < b ? a : b;
        edge[2 * i + 1] = a < b ? b : a;
    }
    qsort(edge, count, 2 * sizeof *edge, compare_edges);
    int even = 1;
    for (size_t i = 0; i < count && even;) {
        size_t end = i + 1;
        while (end < count && compare_edges(edge + 2 * i, edge + 2 * end) == 0) {
            end++;
        }
        even = (end - i) % 2 == 0;
        i = end;
    }
    *closed = even && count > 0;
    cr_memory_free(edge);
    return CAROM_OK;
}
