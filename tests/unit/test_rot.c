#include "check.h"
#include "math/rot.h"

static const double lengths[] = {0.0,  1e-8, 1e-5, 1e-3, 0.03, 0.1,  0.3, 0.5, 0.99,
                                 1.01, 1.5,  2.0,  2.5,  3.0,  3.15, 3.2, 4.0, 5.5};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static cr_vec3 random_vec(uint64_t* seed)
{
    const double x = check_random(seed, -1, 1), y = check_random(seed, -1, 1);
    return (cr_vec3){x, y, check_random(seed, -1, 1)};
}

static cr_vec3 random_of_length(uint64_t* seed, double length)
{
    cr_vec3 w = random_vec(seed);
    while (cr_vec3_norm(w) < 0.1) {
        w = random_vec(seed);
    }
    return cr_vec3_scale(length / cr_vec3_norm(w), w);
}

static double component(cr_vec3 a, int i)
{
    return i == 0 ? a.x : i == 1 ? a.y : a.z;
}

static cr_vec3 nudged(cr_vec3 w, int i, double by)
{
    return (cr_vec3){w.x + (i == 0) * by, w.y + (i == 1) * by, w.z + (i == 2) * by};
}

// The i-th column of a Jacobian by 4th-order central differences of three values.
typedef cr_vec3 curve(cr_vec3 w, const cr_vec3* constant);

static cr_vec3 slope(curve* f, cr_vec3 w, const cr_vec3* constant, int i)
{
    const double h = 2e-3;
    const cr_vec3 near = cr_vec3_sub(f(nudged(w, i, h), constant), f(nudged(w, i, -h), constant));
    const cr_vec3 far =
        cr_vec3_sub(f(nudged(w, i, 2 * h), constant), f(nudged(w, i, -2 * h), constant));
    return cr_vec3_scale(1 / (12 * h), cr_vec3_add_scaled(cr_vec3_scale(8, near), -1, far));
}

static void check_jacobian(cr_mat3 j, curve* f, cr_vec3 w, const cr_vec3* constant,
                           double tolerance)
{
    for (int i = 0; i < 3; i++) {
        const cr_vec3 d = slope(f, w, constant, i);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(j.m[k][i], component(d, k), tolerance);
        }
    }
}

// The Taylor series themselves in long double, term by term from their definition.
static long double series(int m, int order, long double s)
{
    // (2 d/ds)^order of sum_k (-s)^k/(2k+m)!
    long double sum = 0, factorial = 1;
    for (int n = 2; n <= m; n++) {
        factorial *= n;
    }
    long double power = 1; // s^(k-order)
    for (int k = 0; k < 60; k++) {
        if (k >= order) {
            long double falling = 1;
            for (int i = 0; i < order; i++) {
                falling *= 2 * (k - i);
            }
            sum += (k % 2 ? -1 : 1) * falling * power / factorial;
            power *= s;
        }
        factorial *= (long double)(2 * k + m + 1) * (2 * k + m + 2);
    }
    return sum;
}

static void test_scalars_have_full_precision(void)
{
    double worst = 0;
    for (int i = 0; i <= 3000; i++) {
        const double th = i <= 1000 ? 1e-9 * pow(10, i * 0.0085) : i * 1e-3;
        if (th > 3.0) {
            continue;
        }
        const long double t = (long double)th;
        const cr_rot r = cr_rot_make((cr_vec3){0, th, 0});
        const double got[] = {r.a, r.b, r.a1, r.b1, r.a2, r.b2, r.j, r.j1};
        const int m[] = {1, 2, 1, 2, 1, 2, 3, 3}, order[] = {0, 0, 1, 1, 2, 2, 0, 1};
        for (int k = 0; k < 8; k++) {
            const long double want = series(m[k], order[k], t * t);
            const double off = (double)fabsl(((long double)got[k] - want) / want);
            worst = fmax(worst, off);
            CHECK_NEAR(off, 0.0, 1e-14);
        }
        CHECK_NEAR(r.c, (double)cosl(t), 1e-15);
    }
    printf("    worst relative error %.2g\n", worst);
}

static void test_scalars_continue_beyond_the_series(void)
{
    for (double th = 3.0; th < 40.0; th += 0.0371) {
        const cr_rot r = cr_rot_make((cr_vec3){th, 0, 0});
        const long double t = (long double)th, s = t * t, a = sinl(t) / t, c = cosl(t),
                          b = (1 - c) / s;
        const long double a1 = (c - a) / s, b1 = (a - 2 * b) / s, j = (1 - a) / s;
        CHECK_NEAR(r.a, (double)a, 1e-15);
        CHECK_NEAR(r.b, (double)b, 1e-15);
        CHECK_NEAR(r.a1, (double)a1, 1e-15);
        CHECK_NEAR(r.b1, (double)b1, 1e-15);
        CHECK_NEAR(r.a2, (double)(-(a + 3 * a1) / s), 1e-15);
        CHECK_NEAR(r.b2, (double)((a1 - 4 * b1) / s), 1e-15);
        CHECK_NEAR(r.j, (double)j, 1e-15);
        CHECK_NEAR(r.j1, (double)((-a1 - 2 * j) / s), 1e-15);
    }
    CHECK(isnan(cr_rot_make((cr_vec3){(double)NAN, 0, 0}).b2));
}

static void test_rotation_agrees_with_quaternions(void)
{
    uint64_t seed = 1;
    for (int i = 0; i < LENGTHS; i++) {
        const cr_vec3 w = random_of_length(&seed, lengths[i]), p = random_vec(&seed);
        const cr_rot r = cr_rot_make(w);
        const cr_mat3 e = cr_rot_matrix(&r), q = cr_quat_to_matrix(cr_quat_from_rotation(w));
        const cr_vec3 y = cr_rot_apply(&r, p), z = cr_mat3_apply(q, p);
        CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(y, z)), 0.0, 2e-15);
        CHECK_NEAR(cr_mat3_det(e), 1.0, 3e-15);
        for (int k = 0; k < 9; k++) {
            CHECK_NEAR(e.m[k / 3][k % 3], q.m[k / 3][k % 3], 2e-15);
        }
    }
}

static cr_vec3 turned(cr_vec3 w, const cr_vec3* p)
{
    return cr_mat3_apply(cr_quat_to_matrix(cr_quat_from_rotation(w)), *p);
}

// gradient of a . E p
static cr_vec3 turned_slope(cr_vec3 w, const cr_vec3* pa)
{
    const cr_rot r = cr_rot_make(w);
    return cr_mat3_tapply(cr_rot_dw(&r, pa[0]), pa[1]);
}

static void test_first_and_second_derivative_of_a_turned_point(void)
{
    uint64_t seed = 2;
    for (int i = 0; i < LENGTHS; i++) {
        for (int sample = 0; sample < 5; sample++) {
            const cr_vec3 w = random_of_length(&seed, lengths[i]);
            const cr_vec3 pa[2] = {random_vec(&seed), random_vec(&seed)};
            const cr_rot r = cr_rot_make(w);
            check_jacobian(cr_rot_dw(&r, pa[0]), turned, w, pa, 1e-11);
            const cr_mat3 h = cr_rot_d2w(&r, pa[0], pa[1]);
            check_jacobian(h, turned_slope, w, pa, 1e-11);
            for (int k = 0; k < 9; k++) {
                CHECK(h.m[k / 3][k % 3] == h.m[k % 3][k / 3]);
            }
        }
    }
}

// Jr: the vector of exp(-w) exp(w + dw), here by quaternions; Jl: of exp(w + dw) exp(-w)
static cr_vec3 from_right(cr_vec3 v, const cr_vec3* w)
{
    const cr_quat back = cr_quat_conjugate(cr_quat_from_rotation(*w));
    return cr_quat_to_rotation(cr_quat_mul(back, cr_quat_from_rotation(v)));
}

static cr_vec3 from_left(cr_vec3 v, const cr_vec3* w)
{
    const cr_quat back = cr_quat_conjugate(cr_quat_from_rotation(*w));
    return cr_quat_to_rotation(cr_quat_mul(cr_quat_from_rotation(v), back));
}

// Jl^T a and Jr^-1 b
static cr_vec3 left_weighed(cr_vec3 w, const cr_vec3* a)
{
    const cr_rot r = cr_rot_make(w);
    return cr_mat3_tapply(cr_rot_left(&r), *a);
}

static cr_vec3 right_solved(cr_vec3 w, const cr_vec3* b)
{
    const cr_rot r = cr_rot_make(w);
    return cr_mat3_apply(cr_rot_right_inverse(&r), *b);
}

static void test_jacobians_and_their_derivatives(void)
{
    uint64_t seed = 3;
    for (int i = 0; i < LENGTHS; i++) {
        const cr_vec3 w = random_of_length(&seed, lengths[i]);
        const cr_vec3 a = random_vec(&seed), u = random_vec(&seed);
        const cr_rot r = cr_rot_make(w);
        check_jacobian(cr_rot_right(&r), from_right, w, &w, 1e-11);
        check_jacobian(cr_rot_left(&r), from_left, w, &w, 1e-11);
        const cr_mat3 one = cr_mat3_mul(cr_rot_right(&r), cr_rot_right_inverse(&r));
        for (int k = 0; k < 9; k++) {
            CHECK_NEAR(one.m[k / 3][k % 3], k % 4 == 0, 1e-14 * (1 + 10 * r.s));
        }
        check_jacobian(cr_rot_left_transpose_dw(&r, a), left_weighed, w, &a, 1e-11);
        // u^T d(Jl^T a)/dw
        const cr_vec3 g = cr_rot_left_dw(&r, a, u);
        for (int k = 0; k < 3; k++) {
            const double want = cr_vec3_dot(u, slope(left_weighed, w, &a, k));
            CHECK_NEAR(component(g, k), want, 1e-11);
        }
        // the inverse grows without bound towards 2 pi, and its difference quotient with it
        const double tolerance = r.s < 10 ? 3e-11 : 3e-7;
        check_jacobian(cr_rot_right_inverse_dw(&r, a), right_solved, w, &a, tolerance);
    }
}

int main(void)
{
    RUN(test_scalars_have_full_precision);
    RUN(test_scalars_continue_beyond_the_series);
    RUN(test_rotation_agrees_with_quaternions);
    RUN(test_first_and_second_derivative_of_a_turned_point);
    RUN(test_jacobians_and_their_derivatives);
    return check_failures != 0;
}
