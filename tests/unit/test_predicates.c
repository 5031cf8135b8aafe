#include "check.h"
#include "collision/predicates.h"
#include <float.h>
#include <string.h>

__extension__ typedef __int128 big;

static uint64_t seed;

static int64_t whole(int64_t size) // in -size..size
{
    return (int64_t)(check_random_bits(&seed) % (uint64_t)(2 * size + 1)) - size;
}

static int sign_of(big a)
{
    return (a > 0) - (a < 0);
}

static int judge3d(int64_t p[4][3])
{
    big m[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = p[i][j] - p[3][j];
        }
    }
    return sign_of(m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                   m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                   m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]));
}

static int judge2d(int64_t p[3][2])
{
    return sign_of((big)(p[0][0] - p[2][0]) * (p[1][1] - p[2][1]) -
                   (big)(p[0][1] - p[2][1]) * (p[1][0] - p[2][0]));
}

static cr_vec3 scaled(const int64_t p[3], int exponent)
{
    return (cr_vec3){ldexp((double)p[0], exponent), ldexp((double)p[1], exponent),
                     ldexp((double)p[2], exponent)};
}

static int orient(int64_t p[4][3], int exponent)
{
    return cr_predicates_orient3d(scaled(p[0], exponent), scaled(p[1], exponent),
                                  scaled(p[2], exponent), scaled(p[3], exponent));
}

// d = a + i (b-a) + j (c-a), then one unit up or down in one coordinate, or none
static void nearly_coplanar(int64_t p[4][3], int64_t size)
{
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            p[k][i] = whole(size);
        }
    }
    const int64_t s = whole(3), t = whole(3);
    for (int i = 0; i < 3; i++) {
        p[3][i] = p[0][i] + s * (p[1][i] - p[0][i]) + t * (p[2][i] - p[0][i]);
    }
    p[3][whole(1) + 1] += whole(1);
}

static void test_orient3d_against_whole_numbers(void)
{
    seed = 21;
    int32_t count[3] = {0};
    int32_t wrong = 0;
    for (int i = 0; i < 200000; i++) {
        int64_t p[4][3];
        const int64_t size = (int64_t)1 << (1 + i % 37);
        if (i % 2) {
            nearly_coplanar(p, size);
        } else {
            for (int k = 0; k < 12; k++) {
                p[k / 3][k % 3] = whole(size);
            }
        }
        const int ref = judge3d(p);
        wrong += orient(p, 0) != ref;
        // a power of two changes nothing, down to the last bits of the subnormal numbers
        wrong += orient(p, (int)whole(300)) != ref;
        wrong += orient(p, -1074) != ref;
        wrong += orient(p, 970 - i % 37) != ref;
        // and where some products underflow and some do not
        wrong += orient(p, -340 - i % 37 + (int)whole(20)) != ref;
        count[ref + 1]++;
    }
    CHECK(wrong == 0);
    CHECK(count[0] > 40000 && count[1] > 20000 && count[2] > 40000);
}

static void test_orient2d_against_whole_numbers(void)
{
    seed = 22;
    int32_t count[3] = {0};
    int32_t wrong = 0;
    for (int i = 0; i < 200000; i++) {
        int64_t p[3][2];
        const int64_t size = (int64_t)1 << (1 + i % 48);
        for (int k = 0; k < 6; k++) {
            p[k / 2][k % 2] = whole(size);
        }
        if (i % 4 == 3) { // a and b on a line through the origin, c near it: even differences round
            const int64_t u = whole(1 << 25), v = whole(1 << 25);
            for (int k = 0; k < 3; k++) {
                const int64_t along = k < 2 ? 256 * whole(1 << 25) : 0;
                p[k][0] = k < 2 ? along * u : whole(4);
                p[k][1] = k < 2 ? along * v : whole(4);
            }
        } else if (i % 2) {
            const int64_t s = whole(3);
            for (int j = 0; j < 2; j++) {
                p[2][j] = p[0][j] + s * (p[1][j] - p[0][j]);
            }
            p[2][i / 2 % 2] += whole(1);
        }
        const int ref = judge2d(p);
        const int exponents[4] = {0, -1074, 960 - i % 48, (int)whole(300)};
        for (int e = 0; e < 4; e++) {
            double x[6];
            for (int k = 0; k < 6; k++) {
                x[k] = ldexp((double)p[k / 2][k % 2], exponents[e]);
            }
            wrong += cr_predicates_orient2d(x[0], x[1], x[2], x[3], x[4], x[5]) != ref;
        }
        count[ref + 1]++;
    }
    CHECK(wrong == 0);
    CHECK(count[0] > 40000 && count[1] > 10000 && count[2] > 40000);
}

// Points a hair off the plane x + y + z = 1 where the plain formula knows nothing.
static void test_orient3d_sees_the_last_bit(void)
{
    const cr_vec3 a = {1, 0, 0}, b = {0, 1, 0}, c = {0, 0, 1};
    for (double y = 0.9; y > 1e-320; y *= 0.37) {
        CHECK(cr_predicates_orient3d(a, b, c, (cr_vec3){1, y, -y}) == 0);
        CHECK(cr_predicates_orient3d(a, b, c, (cr_vec3){1, y, nextafter(-y, 0)}) == -1);
        CHECK(cr_predicates_orient3d(a, b, c, (cr_vec3){1, y, nextafter(-y, -1)}) == 1);
    }
    const double big_number = DBL_MAX, least = 5e-324;
    const cr_vec3 far[4] = {
        {big_number, -big_number, 0}, {-big_number, big_number, 0}, {0, 0, 1}, {least, -least, 0}};
    CHECK(cr_predicates_orient3d(far[0], far[1], far[2], far[3]) == 0);
    const cr_vec3 off = {least, 0, 0};
    const int side = cr_predicates_orient3d(far[0], far[1], far[2], off);
    CHECK(side != 0 && side == -cr_predicates_orient3d(far[1], far[0], far[2], off));
    CHECK(side == cr_predicates_orient3d((cr_vec3){1, -1, 0}, (cr_vec3){-1, 1, 0}, far[2],
                                         (cr_vec3){1, 0, 0}));
}

// Swapping two points changes the sign and nothing else, for numbers with all their bits.
static void test_permutations_change_the_sign_alone(void)
{
    seed = 23;
    int32_t wrong = 0, flat = 0;
    for (int i = 0; i < 20000; i++) {
        cr_vec3 p[4];
        for (int k = 0; k < 4; k++) {
            for (int j = 0; j < 3; j++) {
                (&p[k].x)[j] =
                    check_random(&seed, -1, 1) * pow(10, i % 5 * check_random(&seed, -9, 9));
            }
        }
        const double s = check_random(&seed, -1, 1), t = check_random(&seed, -1, 1);
        p[3] = cr_vec3_add_scaled(p[0], s, cr_vec3_sub(p[1], p[0]));
        p[3] = cr_vec3_add_scaled(p[3], t, cr_vec3_sub(p[2], p[0]));
        const int ref = cr_predicates_orient3d(p[0], p[1], p[2], p[3]);
        flat += ref == 0;
        for (int a = 0; a < 4; a++) {
            for (int b = 0; b < a; b++) {
                cr_vec3 q[4];
                memcpy(q, p, sizeof q);
                q[a] = p[b];
                q[b] = p[a];
                wrong += cr_predicates_orient3d(q[0], q[1], q[2], q[3]) != -ref;
            }
        }
    }
    CHECK(wrong == 0);
    CHECK(flat < 20000);
}

int main(void)
{
    RUN(test_orient3d_against_whole_numbers);
    RUN(test_orient2d_against_whole_numbers);
    RUN(test_orient3d_sees_the_last_bit);
    RUN(test_permutations_change_the_sign_alone);
    return check_failures != 0;
}
