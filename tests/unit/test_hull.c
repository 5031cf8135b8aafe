// Hulls of a few points: near or not, against distances that are known, and against a slow search.
#include "check.h"
#include "collision/distance.h"
#include "collision/hull.h"
#include "math/scalar.h"
#include <math.h>

// How far from the true distance a range may be for the answer to be in doubt.
static const double doubt = 1e-9;

static cr_vec3 random_point(uint64_t* seed, double size)
{
    const double x = check_random(seed, -size, size), y = check_random(seed, -size, size);
    return (cr_vec3){x, y, check_random(seed, -size, size)};
}

static void expect(const cr_vec3* a, int na, const cr_vec3* b, int nb, double distance)
{
    CHECK(cr_hull_near(a, na, b, nb, (1.0 + doubt) * distance));
    CHECK(!cr_hull_near(a, na, b, nb, (1.0 - doubt) * distance));
    CHECK(cr_hull_near(b, nb, a, na, (1.0 + doubt) * distance));
    CHECK(!cr_hull_near(b, nb, a, na, (1.0 - doubt) * distance));
}

// Two edges, a point and a triangle: their distances are exact elsewhere. Sizes over six orders.
static void test_edges_and_triangles(void)
{
    uint64_t seed = 11;
    for (int i = 0; i < 20000; i++) {
        const double size = pow(10.0, check_random(&seed, -3, 3));
        cr_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            x[k] = random_point(&seed, size);
        }
        const double edges = cr_distance_closest(CR_PAIR_EE, x).distance;
        const double corner = cr_distance_closest(CR_PAIR_PT, x).distance;
        if (edges > 0.01 * size) {
            expect(x, 2, x + 2, 2, edges);
        }
        if (corner > 0.01 * size) {
            expect(x, 3, x + 3, 1, corner);
        }
    }
}

// Boxes beside each other, and far ways of small things.
static void test_apart_along_an_axis(void)
{
    uint64_t seed = 12;
    for (int i = 0; i < 2000; i++) {
        cr_vec3 a[8], b[8];
        const double gap = pow(10.0, check_random(&seed, -3, 0));
        const double long_way = pow(10.0, check_random(&seed, -1, 2));
        for (int k = 0; k < 8; k++) {
            a[k] = random_point(&seed, 1.0);
            b[k] = random_point(&seed, 1.0);
            a[k].x = -fabs(a[k].x);
            b[k].x = gap + fabs(b[k].x);
            a[k].y *= long_way;
            b[k].z *= long_way;
        }
        a[0] = (cr_vec3){0, 0, 0};
        b[0] = (cr_vec3){gap, 0, 0};
        CHECK(cr_hull_near(a, 8, b, 8, (1.0 + doubt) * gap));
        CHECK(!cr_hull_near(a, 8, b, 8, (1.0 - doubt) * gap));
    }
}

// A range of 0, one and the same point, and what is not a number.
static void test_edge_cases(void)
{
    const cr_vec3 a[2] = {{0, 0, 0}, {1, 0, 0}}, b[2] = {{0.5, -1, 0}, {0.5, 1, 0}};
    const cr_vec3 lost[1] = {{(double)NAN, 0, 0}};
    CHECK(cr_hull_near(a, 2, b, 2, 1e-9));
    CHECK(cr_hull_near(a, 1, a, 1, 1e-300));
    CHECK(!cr_hull_near(a, 1, a + 1, 1, 0.5));
    CHECK(cr_hull_near(a, 2, lost, 1, 0.5));
}

int main(void)
{
    RUN(test_edges_and_triangles);
    RUN(test_apart_along_an_axis);
    RUN(test_edge_cases);
    return check_failures != 0;
}
