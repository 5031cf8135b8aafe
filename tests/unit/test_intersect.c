#include "check.h"
#include "collision/distance.h"
#include "collision/intersect.h"
#include "collision/intersect_frame.h"
#include "core/memory.h"
#include <string.h>

static uint64_t seed;

static int64_t whole(int64_t size) // in -size..size
{
    return (int64_t)(check_random_bits(&seed) % (uint64_t)(2 * size + 1)) - size;
}

// --- the judge: a separating axis in whole numbers -----------------------------------------------
// Two convex hulls of points are apart exactly when an axis separates them strictly, and for
// triangles, segments and points such an axis is found among edges and differences w, products
// u x v and (u x v) x w of them. Coordinates up to 1000 keep all of it below 2^62.

typedef struct whole3 {
    int64_t v[3];
} whole3;

static whole3 whole_sub(whole3 a, whole3 b)
{
    return (whole3){{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2]}};
}

static whole3 whole_cross(whole3 a, whole3 b)
{
    return (whole3){{a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2],
                     a.v[0] * b.v[1] - a.v[1] * b.v[0]}};
}

static int64_t whole_dot(whole3 a, whole3 b)
{
    return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2];
}

static int separates(whole3 axis, const whole3* a, int a_count, const whole3* b, int b_count)
{
    int64_t a_least = INT64_MAX, a_most = INT64_MIN, b_least = INT64_MAX, b_most = INT64_MIN;
    for (int i = 0; i < a_count; i++) {
        const int64_t h = whole_dot(axis, whole_sub(a[i], a[0]));
        a_least = h < a_least ? h : a_least;
        a_most = h > a_most ? h : a_most;
    }
    for (int i = 0; i < b_count; i++) {
        const int64_t h = whole_dot(axis, whole_sub(b[i], a[0]));
        b_least = h < b_least ? h : b_least;
        b_most = h > b_most ? h : b_most;
    }
    return a_most < b_least || b_most < a_least;
}

static int judge(const whole3* a, int a_count, const whole3* b, int b_count)
{
    whole3 w[15];
    int count = 0;
    for (int i = 0; i < a_count; i++) {
        for (int j = 0; j < b_count; j++) {
            w[count++] = whole_sub(b[j], a[i]);
        }
    }
    for (int i = 0; i < (a_count == 3 ? 3 : 1); i++) {
        w[count++] = whole_sub(a[(i + 1) % a_count], a[i]);
    }
    for (int i = 0; i < (b_count == 3 ? 3 : 1); i++) {
        w[count++] = whole_sub(b[(i + 1) % b_count], b[i]);
    }
    for (int i = 0; i < count; i++) {
        if (separates(w[i], a, a_count, b, b_count)) {
            return 0;
        }
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            const whole3 n = whole_cross(w[i], w[j]);
            if (separates(n, a, a_count, b, b_count)) {
                return 0;
            }
        }
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            const whole3 n = whole_cross(w[i], w[j]);
            for (int k = 0; k < count; k++) {
                if (separates(whole_cross(n, w[k]), a, a_count, b, b_count)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

// --- triangles on a grid
// ---------------------------------------------------------------------------

static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};

// Small grids touch, overlap and degenerate all the time; on large ones points of b are put on
// planes, edges and corners of a, or one unit off.
static void pair_make(int i, whole3 a[3], whole3 b[3])
{
    const int64_t size = i % 3 == 0 ? 2 : i % 3 == 1 ? 5 : 160;
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) {
            a[k].v[j] = whole(size);
            b[k].v[j] = whole(size);
        }
    }
    for (int k = 0; k < 3 && i % 3 == 2; k++) {
        const int64_t s = whole(2), t = whole(2);
        const int64_t lift = whole(2) == 0;
        for (int j = 0; j < 3 && k <= i / 3 % 4; j++) {
            b[k].v[j] = a[0].v[j] + (s * (a[1].v[j] - a[0].v[j]) + t * (a[2].v[j] - a[0].v[j])) +
                        lift * whole(1);
        }
    }
}

static void to_vec(const whole3* a, int exponent, cr_vec3 x[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = (cr_vec3){ldexp((double)a[k].v[0], exponent), ldexp((double)a[k].v[1], exponent),
                         ldexp((double)a[k].v[2], exponent)};
    }
}

static void test_triangles_against_whole_numbers(void)
{
    seed = 31;
    int32_t wrong = 0, unlike = 0, meet = 0;
    const int count = 120000;
    for (int i = 0; i < count; i++) {
        whole3 a[3], b[3];
        pair_make(i, a, b);
        const int ref = judge(a, 3, b, 3);
        cr_vec3 x[3], y[3];
        to_vec(a, i % 7 == 0 ? -1074 : i % 7 == 1 ? 900 : -20, x);
        to_vec(b, i % 7 == 0 ? -1074 : i % 7 == 1 ? 900 : -20, y);
        wrong += cr_intersect_triangles(x, y) != ref;
        meet += ref;
        for (int p = 0; p < 36 && i % 10 == 0; p++) {
            const cr_vec3 xp[3] = {x[order[p / 6][0]], x[order[p / 6][1]], x[order[p / 6][2]]};
            const cr_vec3 yp[3] = {y[order[p % 6][0]], y[order[p % 6][1]], y[order[p % 6][2]]};
            unlike += cr_intersect_triangles(xp, yp) != ref;
            unlike += cr_intersect_triangles(yp, xp) != ref;
        }
    }
    printf("  %d pairs, %d of them meet\n", count, meet);
    CHECK(wrong == 0);
    CHECK(unlike == 0);
    CHECK(meet > count / 10 && meet < 9 * count / 10);
}

static void test_segments_against_whole_numbers(void)
{
    seed = 32;
    int32_t wrong = 0, meet = 0;
    const int count = 60000;
    for (int i = 0; i < count; i++) {
        whole3 a[3], b[3];
        pair_make(i, a, b);
        const int ref = judge(a, 3, b, 2);
        cr_vec3 x[3], y[3];
        to_vec(a, -20, x);
        to_vec(b, -20, y);
        wrong += cr_intersect_segment_triangle(y[0], y[1], x) != ref;
        wrong += cr_intersect_segment_triangle(y[1], y[0], x) != ref;
        meet += ref;
    }
    CHECK(wrong == 0);
    CHECK(meet > count / 20 && meet < 9 * count / 10);
}

// Numbers with all their bits: the answer is the same whatever the order, and never "apart" for two
// triangles that share a point.
static void test_order_never_matters(void)
{
    seed = 33;
    int32_t unlike = 0, meet = 0;
    for (int i = 0; i < 4000; i++) {
        cr_vec3 x[3], y[3];
        for (int k = 0; k < 9; k++) {
            (&x[k / 3].x)[k % 3] = check_random(&seed, -1, 1);
            (&y[k / 3].x)[k % 3] = check_random(&seed, -1, 1);
        }
        const double s = check_random(&seed, 0, 1), t = check_random(&seed, 0, 1 - s);
        y[0] = cr_vec3_add_scaled(x[0], s, cr_vec3_sub(x[1], x[0])); // a corner, or so, on x
        y[0] = cr_vec3_add_scaled(y[0], t, cr_vec3_sub(x[2], x[0]));
        if (i % 2) {
            y[i % 3] = x[i / 3 % 3];
            CHECK(cr_intersect_triangles(x, y));
        }
        const int ref = cr_intersect_triangles(x, y);
        meet += ref;
        for (int p = 0; p < 36; p++) {
            const cr_vec3 xp[3] = {x[order[p / 6][0]], x[order[p / 6][1]], x[order[p / 6][2]]};
            const cr_vec3 yp[3] = {y[order[p % 6][0]], y[order[p % 6][1]], y[order[p % 6][2]]};
            unlike += cr_intersect_triangles(xp, yp) != ref;
            unlike += cr_intersect_triangles(yp, xp) != ref;
        }
    }
    CHECK(unlike == 0);
    CHECK(meet > 2000 && meet < 4000);
}

// --- frames
// ----------------------------------------------------------------------------------------

enum { VERTEX_MAX = 4000, FACE_MAX = 8000 };

// A scene under construction.
typedef struct scene {
    cr_surface surface;
    double x[3 * VERTEX_MAX];
    double radius[64];
} scene;

static scene the_scene;

static void scene_begin(void)
{
    memset(&the_scene, 0, sizeof the_scene);
    CHECK(cr_surface_init(&the_scene.surface, 64, VERTEX_MAX, 64, FACE_MAX) == CAROM_OK);
    cr_surface* s = &the_scene.surface;
    s->body_count = s->vertex_count = s->edge_count = s->face_count = 0;
}

static void scene_end(void)
{
    cr_surface_release(&the_scene.surface);
}

static int32_t add_body(const cr_vec3* x, int vertices, const int32_t* face, int faces, int edges,
                        double radius)
{
    cr_surface* s = &the_scene.surface;
    const int32_t b = s->body_count++, first = s->vertex_count;
    for (int i = 0; i < vertices; i++) {
        s->vertex_body[s->vertex_count] = b;
        cr_vec3_store(the_scene.x + 3 * s->vertex_count++, x[i]);
    }
    for (int i = 0; i < 3 * faces; i++) {
        s->face[3 * s->face_count + i] = first + face[i];
    }
    s->face_count += faces;
    for (int i = 0; i < edges; i++) {
        s->edge[2 * s->edge_count] = first + i;
        s->edge[2 * s->edge_count++ + 1] = first + i + 1;
    }
    s->body_vertex[b + 1] = s->vertex_count;
    s->body_edge[b + 1] = s->edge_count;
    s->body_face[b + 1] = s->face_count;
    the_scene.radius[b] = radius;
    return b;
}

static const int32_t box_face[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                     2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static int32_t add_box(cr_vec3 least, cr_vec3 most)
{
    cr_vec3 x[8];
    for (int k = 0; k < 8; k++) {
        x[k] =
            (cr_vec3){k & 1 ? most.x : least.x, k & 2 ? most.y : least.y, k & 4 ? most.z : least.z};
    }
    return add_body(x, 8, box_face, 12, 0, 0);
}

static cr_intersect_report look(double search)
{
    cr_intersect_report out;
    CHECK(cr_intersect_frame(&the_scene.surface, the_scene.x, the_scene.radius, search,
                             CR_INTERSECT_FRAME_INSIDE, &out) == CAROM_OK);
    return out;
}

static void test_boxes_touch_or_are_one_bit_apart(void)
{
    for (int axis = 0; axis < 3; axis++) {
        for (int apart = 0; apart < 2; apart++) {
            cr_vec3 least = {0.1, 0.2, 0.3}, most = {1.1, 1.2, 1.3}, next = least, last = most;
            (&next.x)[axis] = apart ? nextafter((&most.x)[axis], 9) : (&most.x)[axis];
            (&last.x)[axis] = (&next.x)[axis] + 1;
            scene_begin();
            add_box(least, most);
            add_box(next, last);
            const cr_intersect_report out = look(10);
            CHECK((out.pair_count > 0) == !apart);
            CHECK(out.inside_count == 0);
            CHECK_NEAR(out.min_distance, (&next.x)[axis] - (&most.x)[axis], 0);
            CHECK(out.min_body[0] == 0 && out.min_body[1] == 1);
            if (!apart) {
                CHECK(out.body[0] == 0 && out.body[1] == 1 && out.face[0] >= 0 &&
                      out.face[1] >= 12);
                CHECK_NEAR((&out.place.x)[axis], (&most.x)[axis], 1e-12);
            }
            scene_end();
        }
    }
}

static void test_a_body_inside_another(void)
{
    // concentric and aligned: the rays most likely to graze edges and corners
    scene_begin();
    add_box((cr_vec3){-2, -2, -2}, (cr_vec3){2, 2, 2});
    add_box((cr_vec3){-1, -1, -1}, (cr_vec3){1, 1, 1});
    cr_intersect_report out = look(10);
    CHECK(out.pair_count == 0 && out.inside_count == 1 && out.inner == 1 && out.outer == 0);
    CHECK(out.min_distance == 1);
    // without a lid it is a bowl
    the_scene.surface.body_face[1] = 11;
    out = look(10);
    CHECK(out.inside_count == 0);
    the_scene.surface.body_face[1] = 12;
    the_scene.surface.body_group[0] = the_scene.surface.body_group[1] = 3;
    out = look(10);
    CHECK(out.inside_count == 0 && out.min_body[0] == -1 && out.min_distance == 10);
    the_scene.surface.body_group[1] = 4;
    the_scene.surface.body_flags[0] = the_scene.surface.body_flags[1] = CR_SURFACE_FIXED;
    CHECK(look(10).inside_count == 0);
    the_scene.surface.body_flags[1] = 0;
    CHECK(look(10).inside_count == 1);
    scene_end();
    // a sphere in a box, a sphere in a box's box only
    scene_begin();
    add_box((cr_vec3){-2, -2, -2}, (cr_vec3){2, 2, 2});
    const cr_vec3 middle = {0, 0, 0}, beside = {5, 0, 0};
    add_body(&middle, 1, NULL, 0, 0, 0.5);
    add_body(&beside, 1, NULL, 0, 0, 0.5);
    out = look(10);
    CHECK(out.pair_count == 0 && out.inside_count == 1 && out.inner == 1);
    CHECK_NEAR(out.min_distance, 1.5, 1e-15);
    scene_end();
}

static void test_inside_a_bumpy_ball(void)
{
    // a ball of 2 x 2 x ... quads over (u,v), radius 1 with bumps, against its formula at some
    // points
    seed = 34;
    enum { U = 24, V = 12 };
    double x[3 * (U * (V - 1) + 2)];
    int32_t face[3 * 2 * U * (V - 1)];
    int32_t faces = 0;
    for (int i = 0; i < U * (V - 1) + 2; i++) {
        const double pi = 3.14159265358979323846;
        const double u = 2 * pi * (i % U) / U;
        const double v = i < U * (V - 1) ? pi * (i / U + 1) / V : i == U * (V - 1) ? 0 : pi;
        const double r = 1 + 0.3 * sin(3 * u) * sin(v);
        cr_vec3_store(x + 3 * i, (cr_vec3){r * sin(v) * cos(u), r * sin(v) * sin(u), r * cos(v)});
    }
    for (int i = 0; i < U; i++) {
        const int j = (i + 1) % U, north = U * (V - 1), south = north + 1;
        const int32_t caps[6] = {north, i, j, south, U * (V - 2) + j, U * (V - 2) + i};
        memcpy(face + 3 * faces, caps, sizeof caps);
        faces += 2;
        for (int k = 0; k < V - 2; k++) {
            const int32_t a = U * k + i, b = U * k + j, c = a + U, d = b + U;
            const int32_t quad[6] = {a, c, b, b, c, d};
            memcpy(face + 3 * faces, quad, sizeof quad);
            faces += 2;
        }
    }
    int closed = 0;
    CHECK(cr_intersect_closed(face, faces, &closed) == CAROM_OK && closed);
    CHECK(cr_intersect_closed(face, faces - 1, &closed) == CAROM_OK && !closed);
    int32_t inside = 0;
    for (int i = 0; i < 3000; i++) {
        cr_vec3 p = {check_random(&seed, -1.4, 1.4), check_random(&seed, -1.4, 1.4),
                     check_random(&seed, -1.2, 1.2)};
        if (i % 3 == 0) { // on the axes of symmetry, where vertices line up
            p = (cr_vec3){0, i % 2 ? 0 : p.y, p.z};
        }
        // the solid angle of the surface seen from p is 4 pi inside and 0 outside
        double angle = 0;
        for (int32_t f = 0; f < faces; f++) {
            cr_vec3 d[3];
            double l[3];
            for (int k = 0; k < 3; k++) {
                d[k] = cr_vec3_sub(cr_vec3_load(x + 3 * face[3 * f + k]), p);
                l[k] = cr_vec3_norm(d[k]);
            }
            angle += 2 * atan2(cr_vec3_dot(d[0], cr_vec3_cross(d[1], d[2])),
                               l[0] * l[1] * l[2] + cr_vec3_dot(d[0], d[1]) * l[2] +
                                   cr_vec3_dot(d[1], d[2]) * l[0] + cr_vec3_dot(d[2], d[0]) * l[1]);
        }
        const int ref = fabs(angle) > 6;
        CHECK(cr_intersect_inside(x, face, faces, p) == ref);
        inside += ref;
    }
    CHECK(inside > 500 && inside < 2500);
    // corners and middles of edges are on it
    CHECK(cr_intersect_inside(x, face, faces, cr_vec3_load(x)) == 1);
}

static void test_balls_and_capsules(void)
{
    const cr_vec3 axis[2] = {{0, 0, 0}, {2, 0, 0}}, over[2] = {{1, -1, 0.9}, {1, 1, 0.9}};
    const cr_vec3 ball = {1, 3, 0.9};
    scene_begin();
    add_body(axis, 2, NULL, 0, 1, 0.5);
    add_body(over, 2, NULL, 0, 1, 0.3);
    add_body(&ball, 1, NULL, 0, 0, 1.55);
    cr_intersect_report out = look(10);
    CHECK(out.pair_count == 0);
    CHECK_NEAR(out.min_distance, 0.1, 1e-15);
    CHECK(out.min_body[0] == 0 && out.min_body[1] == 1);
    the_scene.radius[0] = 0.6; // now they touch, which is where they rest
    out = look(10);
    CHECK(out.pair_count == 0);
    CHECK_NEAR(out.min_distance, 0, 1e-15);
    the_scene.radius[0] = 0.7;
    out = look(10);
    CHECK(out.pair_count == 1 && out.body[0] == 0 && out.body[1] == 1 && out.face[0] == -1);
    CHECK_NEAR(out.min_distance, -0.1, 1e-15);
    the_scene.radius[0] = 0.1;
    add_box((cr_vec3){0.5, -5, -1}, (cr_vec3){1.5, 1.3, -0.2});
    out = look(10);
    CHECK(out.pair_count == 0);
    CHECK_NEAR(out.min_distance, 0.1, 1e-15);
    CHECK(out.min_body[0] == 0 && out.min_body[1] == 3);
    scene_end();
    // an axis that pierces a face far from its rim and from its own ends
    scene_begin();
    add_box((cr_vec3){-5, -5, -5}, (cr_vec3){5, 5, 5});
    const cr_vec3 needle[2] = {{0.1, 0.2, 0}, {0.1, 0.2, 9}};
    add_body(needle, 2, NULL, 0, 1, 1e-3);
    CHECK(look(10).pair_count > 0);
    scene_end();
}

// A sheet of n x n squares; height gives its shape.
static int32_t add_sheet(int n, double height(double u, double v), cr_vec3 at, double size)
{
    cr_vec3 x[32 * 32];
    int32_t face[3 * 2 * 32 * 32];
    int32_t faces = 0;
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= n; j++) {
            const double u = (double)i / n, v = (double)j / n;
            x[i * (n + 1) + j] = cr_vec3_add(at, (cr_vec3){size * u, size * v, height(u, v)});
            if (i < n && j < n) {
                const int32_t a = i * (n + 1) + j, b = a + n + 1;
                const int32_t quad[6] = {a, b, a + 1, a + 1, b, b + 1};
                memcpy(face + 3 * faces, quad, sizeof quad);
                faces += 2;
            }
        }
    }
    return add_body(x, (n + 1) * (n + 1), face, faces, 0, 0);
}

static double flat(double u, double v)
{
    (void)u;
    (void)v;
    return 0;
}

static double wavy(double u, double v)
{
    return 0.1 * sin(9 * u + 1) * cos(7 * v);
}

// Frames of scattered pieces against all pairs, by the engine's own distance.
static void test_frames_against_all_pairs(void)
{
    seed = 35;
    for (int i = 0; i < 60; i++) {
        scene_begin();
        const int bodies = 2 + i % 3;
        for (int b = 0; b < bodies; b++) {
            const cr_vec3 at = {check_random(&seed, -1, 1), check_random(&seed, -1, 1),
                                check_random(&seed, -0.5, 0.5)};
            add_sheet(2 + i % 5, wavy, at, 1);
        }
        const cr_surface* s = &the_scene.surface;
        int32_t count = 0, first[2] = {-1, -1};
        double least = 10;
        for (int32_t f = 0; f < s->face_count; f++) {
            for (int32_t g = f + 1; g < s->face_count; g++) {
                cr_vec3 x[3], y[3];
                for (int k = 0; k < 3; k++) {
                    x[k] = cr_vec3_load(the_scene.x + 3 * s->face[3 * f + k]);
                    y[k] = cr_vec3_load(the_scene.x + 3 * s->face[3 * g + k]);
                }
                if (s->vertex_body[s->face[3 * f]] == s->vertex_body[s->face[3 * g]]) {
                    continue;
                }
                if (cr_intersect_triangles(x, y)) {
                    count++;
                    least = 0;
                    first[0] = first[0] < 0 ? f : first[0];
                    first[1] = first[1] < 0 ? g : first[1];
                }
                for (int k = 0; k < 9; k++) {
                    const cr_vec3 ee[4] = {x[k / 3], x[(k / 3 + 1) % 3], y[k % 3],
                                           y[(k % 3 + 1) % 3]};
                    const cr_vec3 pt[4] = {x[0], x[1], x[2], y[k % 3]};
                    const cr_vec3 tp[4] = {y[0], y[1], y[2], x[k % 3]};
                    least = fmin(least, cr_distance_closest(CR_PAIR_EE, ee).distance);
                    least = fmin(least, cr_distance_closest(CR_PAIR_PT, pt).distance);
                    least = fmin(least, cr_distance_closest(CR_PAIR_PT, tp).distance);
                }
            }
        }
        const cr_intersect_report out = look(10);
        CHECK(out.pair_count == count);
        CHECK(out.face[0] == first[0] && out.face[1] == first[1]);
        CHECK_NEAR(out.min_distance, least, 1e-14);
        scene_end();
    }
}

static void test_a_sheet_with_itself(void)
{
    scene_begin();
    const int32_t sheet = add_sheet(8, wavy, (cr_vec3){0, 0, 0}, 1);
    the_scene.surface.body_flags[sheet] = CR_SURFACE_SOFT;
    cr_intersect_report out = look(1);
    CHECK(out.pair_count == 0 && out.min_body[0] == -1 && out.min_distance == 1);
    // a corner pulled through the middle
    cr_vec3_store(the_scene.x, (cr_vec3){0.53, 0.57, -0.3});
    cr_vec3_store(the_scene.x + 3, (cr_vec3){0.52, 0.58, 0.3});
    out = look(1);
    CHECK(out.pair_count > 0 && out.body[0] == 0 && out.body[1] == 0);
    the_scene.surface.body_flags[sheet] = 0; // a rigid one is not asked
    CHECK(look(1).pair_count == 0);
    scene_end();
}

static int32_t self_pairs(const cr_vec3* x, int vertices, const int32_t* face, int faces)
{
    scene_begin();
    the_scene.surface.body_flags[add_body(x, vertices, face, faces, 0, 0)] = CR_SURFACE_SOFT;
    const int32_t count = look(1).pair_count;
    scene_end();
    return count;
}

static void test_neighbours_in_a_sheet(void)
{
    const int32_t hinge[6] = {0, 1, 2, 1, 0, 3}, fan[6] = {0, 1, 2, 0, 3, 4};
    const cr_vec3 v = {0.1, 0.2, 0.3}, a = {1, 0.1, 0.2}, b = {0.3, 1, 0.1};
    // two faces at an edge: open, at an angle, folded flat on each other
    const cr_vec3 open[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, -1, 0}};
    const cr_vec3 bent[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 1, 1e-300}};
    const cr_vec3 shut[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 2, 0}};
    CHECK(self_pairs(open, 4, hinge, 2) == 0);
    CHECK(self_pairs(bent, 4, hinge, 2) == 0);
    CHECK(self_pairs(shut, 4, hinge, 2) == 1);
    // two faces at a corner: beside each other, one through the other, one within the other's plane
    const cr_vec3 beside[5] = {v, a, b, {-1, 0, 0.2}, {0, -1, 0.1}};
    const cr_vec3 through[5] = {v, a, b, {0.5, 0.5, 5}, {0.5, 0.5, -5}};
    const cr_vec3 within[5] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 2, 0}, {2, 1, 0}};
    const cr_vec3 apart[5] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {-1, 2, 0}, {-2, 1, 0}};
    CHECK(self_pairs(beside, 5, fan, 2) == 0);
    CHECK(self_pairs(through, 5, fan, 2) == 1);
    CHECK(self_pairs(within, 5, fan, 2) == 1);
    CHECK(self_pairs(apart, 5, fan, 2) == 0);
    const cr_vec3 along[5] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {2, 0, 0}, {2, 0, 5}};
    CHECK(self_pairs(along, 5, fan, 2) == 1); // an edge of one on an edge of the other
}

static void test_frame_refuses_and_survives(void)
{
    cr_intersect_report out;
    scene_begin();
    CHECK(look(1).min_distance == 1); // nothing at all
    add_box((cr_vec3){0, 0, 0}, (cr_vec3){1, 1, 1});
    add_sheet(3, flat, (cr_vec3){0, 0, 2}, 1);
    CHECK_NEAR(look(5).min_distance, 1, 0);
    for (int n = 1; n <= 2; n++) {
        cr_memory_fail_after(n);
        CHECK(cr_intersect_frame(&the_scene.surface, the_scene.x, NULL, 1,
                                 CR_INTERSECT_FRAME_INSIDE, &out) == CAROM_ERR_MEMORY);
        cr_memory_fail_after(0);
    }
    the_scene.x[4] = (double)NAN;
    CHECK(cr_intersect_frame(&the_scene.surface, the_scene.x, NULL, 1, 0, &out) ==
          CAROM_ERR_NOT_FINITE);
    scene_end();
}

int main(void)
{
    RUN(test_triangles_against_whole_numbers);
    RUN(test_segments_against_whole_numbers);
    RUN(test_order_never_matters);
    RUN(test_boxes_touch_or_are_one_bit_apart);
    RUN(test_a_body_inside_another);
    RUN(test_inside_a_bumpy_ball);
    RUN(test_balls_and_capsules);
    RUN(test_frames_against_all_pairs);
    RUN(test_a_sheet_with_itself);
    RUN(test_neighbours_in_a_sheet);
    RUN(test_frame_refuses_and_survives);
    return check_failures != 0;
}
