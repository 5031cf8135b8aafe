#include "bodies/drag.h"
#include "check.h"
#include "slope.h"

// Everything the potential reads, flat, so that any number of it can be nudged.
typedef struct sample {
    cr_drag_law law;
    double h, wind[3];         // s, m/s
    double x0[9], v0[9], x[9]; // m, m/s, m
    double u[9];
} sample;

static cr_drag_start start_of(const sample* s)
{
    return (cr_drag_start){s->h, {s->wind[0], s->wind[1], s->wind[2]}, s->x0, s->v0};
}

static double energy(void* user)
{
    const sample* s = user;
    const cr_drag_start start = start_of(s);
    return cr_drag_energy(&s->law, &start, s->x);
}

// sum_a u_a . gradient
static double gradient_loss(void* user)
{
    const sample* s = user;
    const cr_drag_start start = start_of(s);
    const cr_vec3 g = cr_drag_gradient(&s->law, &start, s->x);
    return g.x * (s->u[0] + s->u[3] + s->u[6]) + g.y * (s->u[1] + s->u[4] + s->u[7]) +
           g.z * (s->u[2] + s->u[5] + s->u[8]);
}

static sample draw(uint64_t* seed)
{
    sample s;
    s.law.normal = check_random(seed, 0.1, 2);
    s.law.tangent = check_random(seed, 0.1, 2);
    s.h = check_random(seed, 0.5, 2);
    static const double rough[9] = {0, 0, 0, 1, 0.1, 0.2, 0.3, 0.9, -0.2};
    for (int i = 0; i < 9; i++) {
        s.x0[i] = rough[i] + check_random(seed, -0.2, 0.2);
        s.v0[i] = check_random(seed, -2, 2);
        s.x[i] = s.x0[i] + check_random(seed, -1, 1);
        s.u[i] = check_random(seed, -1, 1);
        s.wind[i % 3] = check_random(seed, -3, 3);
    }
    return s;
}

static void test_energy_gradient_hessian(void)
{
    uint64_t seed = 2;
    for (int trial = 0; trial < 300; trial++) {
        sample s = draw(&seed);
        const cr_drag_start start = start_of(&s);
        const cr_vec3 g = cr_drag_gradient(&s.law, &start, s.x);
        const cr_vec3 y = cr_drag_apply(&s.law, &start, s.u);
        const cr_mat3 block = cr_drag_hessian(&s.law, &start);
        const double gradient[3] = {g.x, g.y, g.z}, product[3] = {y.x, y.y, y.z};
        CHECK(energy(&s) > 0.0);
        for (int i = 0; i < 9; i++) {
            double sum = 0.0;
            for (int j = 0; j < 9; j++) {
                sum += block.m[i % 3][j % 3] * s.u[j];
            }
            CHECK_NEAR(gradient[i % 3], slope(energy, &s, s.x + i, 0.5), 1e-12);
            CHECK_NEAR(product[i % 3], slope(gradient_loss, &s, s.x + i, 0.5), 1e-12);
            CHECK_NEAR(product[i % 3], sum, 1e-13);
            CHECK(block.m[i / 3][i % 3] == block.m[i % 3][i / 3]);
        }
        // positive definite, for both coefficients are positive
        CHECK(block.m[0][0] > 0 && cr_mat3_det(block) > 0);
        CHECK(block.m[0][0] * block.m[1][1] > block.m[0][1] * block.m[1][0]);
    }
}

static void test_reverse_of_gradient(void)
{
    uint64_t seed = 9;
    for (int trial = 0; trial < 300; trial++) {
        sample s = draw(&seed);
        const cr_drag_start start = start_of(&s);
        cr_drag_law law_bar = {1, 1};
        double h_bar = 1, wind_bar[3] = {1, 1, 1}, x0_bar[9], v0_bar[9];
        for (int i = 0; i < 9; i++) {
            x0_bar[i] = v0_bar[i] = 1;
        }
        // away from the kink of |u.n|, which the ruler may not step over
        const cr_vec3 n = cr_vec3_cross(cr_vec3_sub(cr_vec3_load(s.x0 + 3), cr_vec3_load(s.x0)),
                                        cr_vec3_sub(cr_vec3_load(s.x0 + 6), cr_vec3_load(s.x0)));
        cr_vec3 air = {0};
        for (int a = 0; a < 3; a++) {
            air = cr_vec3_add_scaled(air, 1.0 / 3.0, cr_vec3_load(s.v0 + 3 * a));
        }
        air = cr_vec3_sub(air, cr_vec3_load(s.wind));
        if (fabs(cr_vec3_dot(air, n)) < 0.05) {
            continue;
        }
        cr_drag_gradient_adj(&s.law, &start, s.x, s.u, &law_bar, &h_bar, wind_bar, x0_bar, v0_bar);
        double* at[24];
        double bar[24];
        int count = 0;
        at[count] = &s.law.normal, bar[count++] = law_bar.normal;
        at[count] = &s.law.tangent, bar[count++] = law_bar.tangent;
        at[count] = &s.h, bar[count++] = h_bar;
        for (int i = 0; i < 3; i++) {
            at[count] = s.wind + i, bar[count++] = wind_bar[i];
        }
        for (int i = 0; i < 9; i++) {
            at[count] = s.x0 + i, bar[count++] = x0_bar[i];
            at[count] = s.v0 + i, bar[count++] = v0_bar[i];
        }
        for (int i = 0; i < count; i++) {
            const double reference = slope(gradient_loss, &s, at[i], 5e-4);
            CHECK(fabs(reference) > 1e-9);
            CHECK_NEAR(bar[i], 1 + reference, 1e-9);
        }
    }
}

// A metre square half in still air falling broadside: force normal * A * u v'; edge-on: tangent A
// v'.
static void test_closed_forms(void)
{
    const cr_drag_law law = {0.6, 0.05};
    const double x0[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const double down[9] = {0, 0, -3, 0, 0, -3, 0, 0, -3};
    double x[9];
    for (int i = 0; i < 9; i++) {
        x[i] = x0[i] + 0.01 * (i % 3 == 2 ? -2.0 : i % 3 == 0 ? 1.0 : 0.0);
    }
    const cr_drag_start start = {.h = 0.01, .x0 = x0, .v0 = down};
    const cr_vec3 g = cr_drag_gradient(&law, &start, x);
    CHECK_NEAR(g.z, 0.5 * 0.6 * 3.0 * -2.0 / 3, 1e-13);
    CHECK_NEAR(g.x, 0.5 * 0.05 * 1.0 / 3, 1e-14);
    CHECK_NEAR(g.y, 0.0, 1e-15);

    // moving with the wind costs nothing
    const cr_drag_start drift = {.h = 0.01, .wind = {1, 0, -2}, .x0 = x0, .v0 = down};
    CHECK_NEAR(cr_drag_energy(&law, &drift, x), 0.0, 1e-25);
}

static void test_kink_and_no_area_give_numbers(void)
{
    const cr_drag_law law = {0.6, 0.05};
    const double flat[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, line[9] = {0, 0, 0, 1, 0, 0, 2, 0, 0};
    const double still[9] = {0}, u[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (int k = 0; k < 2; k++) {
        const cr_drag_start start = {.h = 0.1, .x0 = k ? line : flat, .v0 = still};
        cr_drag_law law_bar = {0};
        double h_bar = 0, wind_bar[3] = {0}, x0_bar[9] = {0}, v0_bar[9] = {0};
        cr_drag_gradient_adj(&law, &start, u, u, &law_bar, &h_bar, wind_bar, x0_bar, v0_bar);
        CHECK(isfinite(law_bar.normal) && isfinite(law_bar.tangent) && isfinite(h_bar));
        for (int i = 0; i < 9; i++) {
            CHECK(isfinite(x0_bar[i]) && v0_bar[i] == 0.0 && isfinite(wind_bar[i % 3]));
        }
        CHECK((cr_drag_energy(&law, &start, u) > 0.0) == !k);
    }
}

int main(void)
{
    RUN(test_energy_gradient_hessian);
    RUN(test_reverse_of_gradient);
    RUN(test_closed_forms);
    RUN(test_kink_and_no_area_give_numbers);
    return check_failures != 0;
}
