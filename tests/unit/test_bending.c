#include "bodies/bending.h"
#include "check.h"
#include "slope.h"

// Everything the potential reads, flat, so that any number of it can be nudged.
typedef struct sample {
    double first[6], second[6]; // m, rest corners of nodes (0,1,2) and (0,1,3)
    cr_bending_law law;
    double x0[12], x[12]; // m
    double u[12];
} sample;

static double energy(void* user)
{
    const sample* s = user;
    const cr_bending_rest rest = cr_bending_rest_make(s->first, s->second);
    return cr_bending_energy(&rest, &s->law, s->x0, s->x);
}

// u . gradient, the loss of every reverse here
static double gradient_loss(void* user)
{
    const sample* s = user;
    const cr_bending_rest rest = cr_bending_rest_make(s->first, s->second);
    double g[12], sum = 0.0;
    cr_bending_gradient(&rest, &s->law, s->x0, s->x, g);
    for (int i = 0; i < 12; i++) {
        sum += s->u[i] * g[i];
    }
    return sum;
}

// The two triangles lie in planes of their own: the second is turned, shifted and at times
// mirrored.
static sample draw(uint64_t* seed)
{
    sample s;
    double flat[8] = {0, 0, 1, 0.1, 0.4, 0.8, 0.6, -0.7};
    for (int i = 0; i < 8; i++) {
        flat[i] += check_random(seed, -0.1, 0.1);
    }
    const double t = check_random(seed, -3, 3), c = cos(t), n = sin(t);
    const double flip = check_random(seed, -1, 1) < 0 ? -1 : 1;
    for (int a = 0; a < 3; a++) {
        const int b = a < 2 ? a : 3;
        s.first[2 * a] = flat[2 * a];
        s.first[2 * a + 1] = flat[2 * a + 1];
        s.second[2 * a] = c * flat[2 * b] - n * flat[2 * b + 1] + 3;
        s.second[2 * a + 1] = flip * (n * flat[2 * b] + c * flat[2 * b + 1]) - 1;
    }
    s.law.stiffness = check_random(seed, 1e-5, 1e-2);
    s.law.rate = check_random(seed, 0.1, 3);
    for (int i = 0; i < 12; i++) {
        s.x[i] = i % 3 < 2 ? flat[2 * (i / 3) + i % 3] : 0.0;
        s.x[i] += check_random(seed, -0.4, 0.4) + (i % 3 == 0 ? 5.0 : 0.0);
        s.x0[i] = s.x[i] + check_random(seed, -0.3, 0.3);
        s.u[i] = check_random(seed, -1, 1);
    }
    return s;
}

static void test_energy_gradient_hessian(void)
{
    uint64_t seed = 4;
    for (int trial = 0; trial < 300; trial++) {
        sample s = draw(&seed);
        s.law.rate = trial % 3 ? s.law.rate : 0.0;
        const cr_bending_rest rest = cr_bending_rest_make(s.first, s.second);
        double g[12], y[12], q[10], size = 0.0;
        cr_bending_gradient(&rest, &s.law, s.x0, s.x, g);
        cr_bending_apply(&rest, &s.law, s.u, y);
        cr_bending_hessian(&rest, &s.law, q);
        for (int i = 0; i < 10; i++) {
            size = fmax(size, fabs(q[i]));
        }
        CHECK(size > 0.0);
        for (int i = 0; i < 12; i++) {
            double sum = 0.0;
            for (int b = 0; b < 4; b++) {
                const int a = i / 3, high = a > b ? a : b, low = a > b ? b : a;
                sum += q[high * (high + 1) / 2 + low] * s.u[3 * b + i % 3];
            }
            CHECK_NEAR(y[i], sum, 1e-13 * size);
            CHECK_NEAR(g[i], slope(energy, &s, s.x + i, 0.1), 1e-12 * size);
            CHECK_NEAR(y[i], slope(gradient_loss, &s, s.x + i, 0.1), 1e-12 * size);
        }
    }
}

// Any affine image of the flat hinge is free of energy, so translation and turning are too; a
// folded one keeps its energy under both.
static void test_flat_is_free_and_rigid_motion_changes_nothing(void)
{
    uint64_t seed = 8;
    for (int trial = 0; trial < 100; trial++) {
        sample s = draw(&seed);
        s.law.rate = 0.0;
        const double folded = energy(&s);
        const double t = check_random(&seed, -3, 3), c = cos(t), n = sin(t);
        for (int a = 0; a < 4; a++) {
            double* x = s.x + 3 * a;
            const double px = c * x[0] - n * x[2], pz = n * x[0] + c * x[2];
            x[0] = px + 1.0;
            x[2] = pz - 2.0;
        }
        CHECK(folded > 0.0);
        CHECK_NEAR(energy(&s), folded, 1e-11 * folded);

        // lay the second rest triangle beside the first and lift both into space
        for (int i = 0; i < 4; i++) {
            s.second[i] = s.first[i];
        }
        s.second[4] = 0.6;
        s.second[5] = -0.7;
        for (int a = 0; a < 4; a++) {
            const double* p = a < 3 ? s.first + 2 * a : s.second + 4;
            s.x[3 * a] = 2 * p[0] + p[1] + 1;
            s.x[3 * a + 1] = p[0] - p[1] - 1;
            s.x[3 * a + 2] = 0.3 * p[0] + p[1];
        }
        CHECK_NEAR(energy(&s), 0.0, 1e-25);
    }
}

static void test_reverse_of_gradient_and_rest_shape(void)
{
    uint64_t seed = 15;
    for (int trial = 0; trial < 200; trial++) {
        sample s = draw(&seed);
        s.law.rate = trial % 4 ? s.law.rate : 0.0;
        const cr_bending_rest rest = cr_bending_rest_make(s.first, s.second);
        cr_bending_law law_bar = {1, 1};
        cr_bending_rest rest_bar = {0};
        double x0_bar[12], first_bar[6], second_bar[6];
        for (int i = 0; i < 12; i++) {
            x0_bar[i] = first_bar[i % 6] = second_bar[i % 6] = 1;
        }
        cr_bending_gradient_adj(&rest, &s.law, s.x0, s.x, s.u, &law_bar, x0_bar, &rest_bar);
        cr_bending_rest_adj(s.first, s.second, &rest_bar, first_bar, second_bar);

        const double by_stiffness = slope(gradient_loss, &s, &s.law.stiffness, 1e-3);
        const double by_rate = slope(gradient_loss, &s, &s.law.rate, 0.1);
        CHECK(fabs(by_stiffness) > 1e-4 && fabs(by_rate) > 1e-9);
        CHECK_NEAR(law_bar.stiffness, 1 + by_stiffness, 1e-11 * (1 + fabs(by_stiffness)));
        CHECK_NEAR(law_bar.rate, 1 + by_rate, 1e-11);
        double largest = 0.0;
        for (int i = 0; i < 12; i++) {
            const double reference = slope(gradient_loss, &s, s.x0 + i, 0.1);
            largest = fmax(largest, fabs(reference));
            CHECK_NEAR(x0_bar[i], 1 + reference, 1e-11);
        }
        CHECK(trial % 4 == 0 ? largest == 0.0 : largest > 1e-6);
        for (int i = 0; i < 12; i++) {
            double* at = i < 6 ? s.first + i : s.second + i - 6;
            const double bar = i < 6 ? first_bar[i] : second_bar[i - 6];
            const double reference = slope(gradient_loss, &s, at, 3e-4);
            CHECK(fabs(reference) > 1e-12);
            CHECK_NEAR(bar, 1 + reference, 1e-9 * (fabs(by_stiffness) * s.law.stiffness + 1e-2));
        }
    }
}

// A shallow parabola over a grid of squares halved along (1,1): the energy of one cell's three
// edges, per area, against what the header says of stiffness and rigidity.
static void test_cylinders_over_a_grid(void)
{
    // the edges of a cell by their nodes (0,1,2,3): along u, along v, along the diagonal
    static const double edges[3][8] = {
        {0, 0, 1, 0, 1, 1, 0, -1}, {0, 0, 0, 1, 1, 1, -1, 0}, {0, 0, 1, 1, 1, 0, 0, 1}};
    static const double across[4][2] = {{1, 0}, {0, 1}, {1, -1}, {1, 1}}; // direction of curvature
    static const double expected[4] = {3, 3, 3, 9};
    const double d = 0.1, kappa = 0.7;
    const cr_bending_law law = {2.0, 0.0};
    for (int k = 0; k < 4; k++) {
        const double length = sqrt(across[k][0] * across[k][0] + across[k][1] * across[k][1]);
        double sum = 0.0;
        for (int e = 0; e < 3; e++) {
            double x[12], first[6], second[6];
            for (int a = 0; a < 4; a++) {
                const double u = d * edges[e][2 * a], v = d * edges[e][2 * a + 1];
                const double s = (across[k][0] * u + across[k][1] * v) / length;
                x[3 * a] = u;
                x[3 * a + 1] = v;
                x[3 * a + 2] = 0.5 * kappa * s * s;
                const int at = a < 3 ? a : 2;
                if (a != 3) {
                    first[2 * at] = u;
                    first[2 * at + 1] = v;
                }
                if (a != 2) {
                    second[2 * at] = u;
                    second[2 * at + 1] = v;
                }
            }
            const cr_bending_rest rest = cr_bending_rest_make(first, second);
            sum += cr_bending_energy(&rest, &law, NULL, x);
        }
        CHECK_NEAR(sum / (d * d), expected[k] * 0.5 * law.stiffness * kappa * kappa, 1e-12);
    }
}

int main(void)
{
    RUN(test_energy_gradient_hessian);
    RUN(test_flat_is_free_and_rigid_motion_changes_nothing);
    RUN(test_reverse_of_gradient_and_rest_shape);
    RUN(test_cylinders_over_a_grid);
    return check_failures != 0;
}
