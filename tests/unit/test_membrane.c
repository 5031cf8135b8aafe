#include "bodies/membrane.h"
#include "check.h"
#include "slope.h"
#include <string.h>

// Everything the potential reads, flat, so that any number of it can be nudged.
typedef struct sample {
    double corner[6]; // m, rest
    cr_membrane_law law;
    double x0[9], x[9]; // m
    double d[9], u[9];  // directions
} sample;

static cr_membrane_rest rest_of(const sample* s)
{
    cr_membrane_rest rest = {0};
    CHECK(cr_membrane_rest_make(s->corner, &rest) == CAROM_OK);
    return rest;
}

static double energy(void* user)
{
    const sample* s = user;
    const cr_membrane_rest rest = rest_of(s);
    return cr_membrane_energy(&rest, &s->law, s->x0, s->x);
}

static double dot9(const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < 9; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// u . gradient, the loss of every reverse here
static double gradient_loss(void* user)
{
    const sample* s = user;
    const cr_membrane_rest rest = rest_of(s);
    double g[9];
    cr_membrane_gradient(&rest, &s->law, s->x0, s->x, g);
    return dot9(s->u, g);
}

// u . Hessian d
static double hessian_loss(void* user)
{
    const sample* s = user;
    const cr_membrane_rest rest = rest_of(s);
    double y[9];
    cr_membrane_apply(&rest, &s->law, s->x0, s->x, s->d, y);
    return dot9(s->u, y);
}

static double norm9(const double* a)
{
    return sqrt(dot9(a, a));
}

static void expand(double block[6][9], double full[9][9])
{
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b <= a; b++) {
            for (int i = 0; i < 9; i++) {
                full[3 * a + i / 3][3 * b + i % 3] = block[a * (a + 1) / 2 + b][i];
                full[3 * b + i % 3][3 * a + i / 3] = block[a * (a + 1) / 2 + b][i];
            }
        }
    }
}

enum { LOOSE, STRETCHED, COMPRESSED, FLAT, FOLDED, POINT, KINDS };

// A random orthotropic triangle about a centimetre wide; X is mirrored in every other sample.
static sample draw(uint64_t* seed, int kind)
{
    sample s;
    const double flip = check_random(seed, -1, 1) < 0 ? -1 : 1;
    const double rough[6] = {0, 0, 0.012, 0.001 * flip, 0.003, 0.010 * flip};
    for (int i = 0; i < 6; i++) {
        s.corner[i] = rough[i] + check_random(seed, -0.002, 0.002);
    }
    s.law.c11 = check_random(seed, 50, 2000);
    s.law.c22 = check_random(seed, 50, 2000);
    s.law.c12 = check_random(seed, -0.6, 0.9) * sqrt(s.law.c11 * s.law.c22);
    s.law.c33 = check_random(seed, 20, 900);
    s.law.rate = check_random(seed, 0.1, 3.0);
    const double scale[KINDS] = {1.0, 1.6, 0.35, 1.0, 1.0, 0.0};
    for (int a = 0; a < 3; a++) {
        double* x = s.x + 3 * a;
        x[0] = scale[kind] * s.corner[2 * a] + 0.7;
        x[1] = (kind == FOLDED ? 0.0 : scale[kind]) * s.corner[2 * a + 1] - 0.4;
        x[2] = 0.2;
        for (int i = 0; i < 3; i++) {
            if (kind == LOOSE || kind == STRETCHED || kind == COMPRESSED) {
                x[i] += check_random(seed, -0.001, 0.001);
            }
            s.x0[3 * a + i] = x[i] + check_random(seed, -0.001, 0.001);
        }
    }
    for (int i = 0; i < 9; i++) {
        s.d[i] = check_random(seed, -1, 1);
        s.u[i] = check_random(seed, -1, 1);
    }
    return s;
}

static void test_energy_gradient_hessian_third(void)
{
    uint64_t seed = 11;
    for (int trial = 0; trial < 600; trial++) {
        sample s = draw(&seed, trial % KINDS);
        s.law.rate = trial % 5 ? s.law.rate : 0.0;
        const cr_membrane_rest rest = rest_of(&s);
        double g[9], y[9], third[9], block[6][9], full[9][9];
        cr_membrane_gradient(&rest, &s.law, s.x0, s.x, g);
        cr_membrane_apply(&rest, &s.law, s.x0, s.x, s.u, y);
        cr_membrane_hessian(&rest, &s.law, s.x0, s.x, block);
        cr_membrane_third(&rest, &s.law, s.x, s.d, s.u, third);
        expand(block, full);
        double size = 0.0;
        for (int i = 0; i < 9; i++) {
            size = fmax(size, fabs(full[i][i]));
        }
        // a point has no F: its odd derivatives vanish, nothing else may
        CHECK(size > 0.0 && (trial % KINDS == POINT || (norm9(g) > 0.0 && norm9(third) > 0.0)));
        const double step = 1e-3; // a tenth of the triangle: exact for a quartic
        for (int i = 0; i < 9; i++) {
            CHECK_NEAR(g[i], slope(energy, &s, s.x + i, step), 1e-11 * (norm9(g) + size * step));
            CHECK_NEAR(y[i], slope(gradient_loss, &s, s.x + i, step), 1e-10 * size);
            CHECK_NEAR(third[i], slope(hessian_loss, &s, s.x + i, step), 1e-10 * size / step);
            CHECK_NEAR(y[i], dot9(full[i], s.u), 1e-13 * size);
            CHECK(block[0][i] == block[0][3 * (i % 3) + i / 3]);
            CHECK(block[2][i] == block[2][3 * (i % 3) + i / 3]);
            CHECK(block[5][i] == block[5][3 * (i % 3) + i / 3]);
        }
    }
}

static void test_rigid_motion_changes_nothing(void)
{
    uint64_t seed = 5;
    for (int trial = 0; trial < 100; trial++) {
        sample s = draw(&seed, trial % KINDS);
        const double before = energy(&s);
        // the plane rotation (x,z) by t, then a shift by a metre; x0 turns the other way
        const double t = check_random(&seed, -3, 3), c = cos(t), n = sin(t);
        for (int a = 0; a < 3; a++) {
            double* x = s.x + 3 * a;
            const double px = c * x[0] - n * x[2], pz = n * x[0] + c * x[2];
            x[0] = px + 1.0;
            x[2] = pz - 1.0;
            double* y = s.x0 + 3 * a;
            const double qx = c * y[0] + n * y[1], qy = -n * y[0] + c * y[1];
            y[0] = qx;
            y[1] = qy + 2.0;
        }
        CHECK(before > 0.0);
        CHECK_NEAR(energy(&s), before, 1e-10 * before);
    }
}

// Damping resists the change of strain alone: a turned triangle dissipates nothing, and its force
// is the elastic one.
static void test_damping_ignores_rotation(void)
{
    uint64_t seed = 6;
    sample s = draw(&seed, STRETCHED);
    for (int a = 0; a < 3; a++) {
        s.x0[3 * a] = -s.x[3 * a + 1];
        s.x0[3 * a + 1] = s.x[3 * a];
        s.x0[3 * a + 2] = s.x[3 * a + 2];
    }
    const double with = energy(&s), loss_with = gradient_loss(&s);
    s.law.rate = 0.0;
    CHECK(with > 0.0);
    CHECK_NEAR(with, energy(&s), 1e-13 * with);
    CHECK_NEAR(loss_with, gradient_loss(&s), 1e-12 * fabs(loss_with));
}

// A square metre pulled to twice its length along u between rollers: Euu = 3/2, so the energy is
// c11 Euu^2/2 per rest area and the end force Fuu Suu = 2 c11 3/2 per metre of edge.
static void test_uniaxial_stretch(void)
{
    const double corner[6] = {0, 0, 1, 0, 0, 1};
    cr_membrane_rest rest;
    CHECK(cr_membrane_rest_make(corner, &rest) == CAROM_OK);
    CHECK_NEAR(rest.area, 0.5, 1e-15);
    const cr_membrane_law law = {.c11 = 700, .c12 = 100, .c22 = 300, .c33 = 80};
    const double x[9] = {0, 0, 0, 2, 0, 0, 0, 1, 0};
    double g[9];
    cr_membrane_gradient(&rest, &law, NULL, x, g);
    CHECK_NEAR(cr_membrane_energy(&rest, &law, NULL, x), 0.5 * 0.5 * 700 * 1.5 * 1.5, 1e-10);
    CHECK_NEAR(g[3], 0.5 * 2 * 700 * 1.5, 1e-10); // half a metre of edge hangs on corner 1
    CHECK_NEAR(g[7], 0.5 * 100 * 1.5, 1e-10);     // c12 pushes the rollers
    // pure shear Euv = 1/4 about a square: 2 c33 Euv^2 and the E it brings along
    const double sheared[9] = {0, 0, 0, 1, 0, 0, 0.5, 1, 0};
    CHECK_NEAR(cr_membrane_energy(&rest, &law, NULL, sheared),
               0.5 * (2 * 80 * 0.0625 + 0.5 * 300 * 0.125 * 0.125), 1e-12);
}

static void test_isotropic_moduli(void)
{
    const cr_membrane_law law = cr_membrane_isotropic(1000, 0.3);
    const double mu = 1000 / 2.6, la = 1000 * 0.3 / 0.91;
    CHECK_NEAR(law.c11, 2 * mu + la, 1e-10);
    CHECK_NEAR(law.c22, 2 * mu + la, 1e-10);
    CHECK_NEAR(law.c12, la, 1e-10);
    CHECK_NEAR(law.c33, mu, 1e-10);

    const cr_membrane_law bar = {0.3, -1.2, 0.8, 2.1, 0};
    double young_bar = 1, poisson_bar = 1;
    cr_membrane_isotropic_adj(1000, 0.3, &bar, &young_bar, &poisson_bar);
    for (int which = 0; which < 2; which++) {
        const double step = which ? 1e-5 : 1e-2;
        double rise = 0.0;
        for (int side = -1; side <= 1; side += 2) {
            const cr_membrane_law at = which ? cr_membrane_isotropic(1000, 0.3 + side * step)
                                             : cr_membrane_isotropic(1000 + side * step, 0.3);
            rise +=
                side * (bar.c11 * at.c11 + bar.c12 * at.c12 + bar.c22 * at.c22 + bar.c33 * at.c33);
        }
        const double reference = rise / (2 * step);
        CHECK(fabs(reference) > 0.1);
        CHECK_NEAR(which ? poisson_bar : young_bar, 1 + reference, 1e-6 * fabs(reference));
    }
}

static void test_reverse_of_gradient(void)
{
    uint64_t seed = 23;
    for (int trial = 0; trial < 300; trial++) {
        sample s = draw(&seed, trial % KINDS);
        const cr_membrane_rest rest = rest_of(&s);
        cr_membrane_law law_bar = {1, 1, 1, 1, 1};
        double x0_bar[9], corner_bar[6];
        for (int i = 0; i < 9; i++) {
            x0_bar[i] = 1;
            corner_bar[i % 6] = 1;
        }
        cr_membrane_gradient_adj(&rest, &s.law, s.x0, s.x, s.u, &law_bar, x0_bar, corner_bar);
        const double size = fabs(gradient_loss(&s)) + 1e-3 * s.law.c11;
        const double* bar = &law_bar.c11;
        double* law = &s.law.c11;
        double largest = 0.0;
        for (int i = 0; i < 5; i++) {
            const double reference = slope(gradient_loss, &s, law + i, 0.1 * fabs(law[i]));
            largest = fmax(largest, fabs(reference));
            CHECK_NEAR(bar[i], 1 + reference, 1e-11 * (1 + size / fabs(law[i])));
        }
        CHECK(largest > 1e-6 || trial % KINDS == POINT); // at a point the strain cannot change
        double x0_size = 0.0, corner_size = 0.0;
        for (int i = 0; i < 9; i++) {
            const double reference = slope(gradient_loss, &s, s.x0 + i, 1e-3);
            x0_size = fmax(x0_size, fabs(reference));
            CHECK_NEAR(x0_bar[i], 1 + reference, 1e-8 * (1 + fabs(reference) + 1e3 * size));
        }
        for (int i = 0; i < 6; i++) {
            const double reference = slope(gradient_loss, &s, s.corner + i, 3e-6);
            corner_size = fmax(corner_size, fabs(reference));
            CHECK_NEAR(corner_bar[i], 1 + reference, 1e-8 * (1 + fabs(reference) + 1e3 * size));
        }
        CHECK((x0_size > 1e-3 && corner_size > 1e-3) || trial % KINDS == POINT);
    }
}

static void test_reverse_of_area(void)
{
    uint64_t seed = 3;
    sample s = draw(&seed, LOOSE);
    const cr_membrane_rest rest = rest_of(&s);
    double corner_bar[6] = {1, 1, 1, 1, 1, 1};
    cr_membrane_area_adj(&rest, 2.5, corner_bar);
    for (int i = 0; i < 6; i++) {
        const double keep = s.corner[i], step = 1e-4;
        s.corner[i] = keep + step;
        const double high = rest_of(&s).area;
        s.corner[i] = keep - step;
        const double low = rest_of(&s).area;
        s.corner[i] = keep;
        const double reference = 2.5 * (high - low) / (2 * step);
        CHECK(fabs(reference) > 1e-4);
        CHECK_NEAR(corner_bar[i], 1 + reference, 1e-12);
    }
}

// Whether A + shift I has a Cholesky factor: no eigenvalue of A is below -shift.
static int is_above(double full[9][9], double shift)
{
    double l[9][9];
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = full[i][j] + (i == j ? shift : 0.0);
            for (int k = 0; k < j; k++) {
                sum -= l[i][k] * l[j][k];
            }
            if (i == j && !(sum > 0.0)) {
                return 0;
            }
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    }
    return 1;
}

static void test_projection_is_positive_and_keeps_the_rest(void)
{
    uint64_t seed = 31;
    int indefinite = 0, untouched = 0;
    for (int trial = 0; trial < 600; trial++) {
        sample s = draw(&seed, trial % KINDS);
        const cr_membrane_rest rest = rest_of(&s);
        double block[6][9], exact[9][9], projected[9][9], added[9][9];
        cr_membrane_hessian(&rest, &s.law, s.x0, s.x, block);
        expand(block, exact);
        cr_membrane_hessian_projected(&rest, &s.law, s.x0, s.x, block);
        expand(block, projected);
        double size = 0.0, most = 0.0;
        for (int i = 0; i < 81; i++) {
            added[i / 9][i % 9] = projected[i / 9][i % 9] - exact[i / 9][i % 9];
            size = fmax(size, fabs(exact[i / 9][i % 9]));
            most = fmax(most, fabs(added[i / 9][i % 9]));
        }
        CHECK(is_above(projected, 1e-12 * size));
        for (int i = 0; i < 9; i++) {
            CHECK(block[5][i] == block[5][3 * (i % 3) + i / 3]);
        }
        CHECK(is_above(added, 1e-12 * size)); // what was taken away was negative
        if (!is_above(exact, 1e-6 * size)) {
            indefinite++;
            CHECK(most > 1e-7 * size);
        } else if (is_above(exact, 1e-14 * size)) {
            untouched++;
            CHECK(most < 1e-12 * size);
        }
    }
    CHECK(indefinite > 100 && untouched > 50);
}

// What compression takes off the Hessian, at most; nothing where there is none, and not much more
// than it takes where there is.
static void test_buckle_bounds_what_compression_takes(void)
{
    uint64_t seed = 33;
    int compressed = 0, close = 0;
    for (int trial = 0; trial < 600; trial++) {
        sample s = draw(&seed, trial % KINDS);
        const cr_membrane_rest rest = rest_of(&s);
        double block[6][9], exact[9][9], size = 0.0;
        cr_membrane_hessian(&rest, &s.law, s.x0, s.x, block);
        expand(block, exact);
        for (int i = 0; i < 81; i++) {
            size = fmax(size, fabs(exact[i / 9][i % 9]));
        }
        const double most = cr_membrane_buckle(&rest, &s.law, s.x0, s.x);
        CHECK(most >= 0.0 && is_above(exact, most + 1e-12 * size));
        compressed += most > 1e-6 * size;
        close += most > 1e-6 * size && !is_above(exact, 0.2 * most);
    }
    printf("  %d compressed, of %d it takes a fifth of the bound and more\n", compressed, close);
    CHECK(compressed > 100 && 2 * close > compressed);
}

// Pulled along one diagonal of the rest axes and pressed along the other, flat in x and y: across
// the sheet the projected Hessian is area (gN_a . pull)^2 times the tension along the pull, no
// more.
static void test_projection_keeps_the_tension_across(void)
{
    const double corner[6] = {0, 0, 1, 0.2, 0.1, 0.8};
    const cr_membrane_law law = cr_membrane_isotropic(500, 0.0);
    cr_membrane_rest rest;
    CHECK(cr_membrane_rest_make(corner, &rest) == CAROM_OK);
    const double r = sqrt(0.5), pull = 1.3, press = 0.7;
    double x[9] = {0}, block[6][9];
    for (int a = 0; a < 3; a++) {
        const double along = r * (corner[2 * a] + corner[2 * a + 1]);
        const double across = r * (corner[2 * a] - corner[2 * a + 1]);
        x[3 * a] = pull * along;
        x[3 * a + 1] = press * across;
    }
    cr_membrane_hessian_projected(&rest, &law, NULL, x, block);
    const double tension = 500 * 0.5 * (pull * pull - 1);
    for (int a = 0; a < 3; a++) {
        const double slope_along = r * (rest.grad[a][0] + rest.grad[a][1]);
        CHECK_NEAR(block[a * (a + 3) / 2][8], rest.area * tension * slope_along * slope_along,
                   1e-11);
    }
}

static void test_refuses_thin_and_unfinite_rest_shapes(void)
{
    cr_membrane_rest rest = {.area = 7};
    const double line[6] = {0, 0, 1, 1, 2, 2}, point[6] = {0};
    const double tiny[6] = {0, 0, 1e-170, 0, 0, 1e-170};
    const double bad[6] = {0, 0, 1, 0, (double)NAN, 1};
    const double huge[6] = {0, 0, 1e200, 0, 0, 1e200};
    CHECK(cr_membrane_rest_make(line, &rest) == CAROM_ERR_MESH);
    CHECK(cr_membrane_rest_make(point, &rest) == CAROM_ERR_MESH);
    CHECK(cr_membrane_rest_make(tiny, &rest) == CAROM_ERR_MESH);
    CHECK(cr_membrane_rest_make(bad, &rest) == CAROM_ERR_MESH);
    CHECK(cr_membrane_rest_make(huge, &rest) == CAROM_ERR_MESH);
    CHECK(rest.area == 7);
    const double thin[6] = {0, 0, 1, 0, 0.5, 1e-5};
    CHECK(cr_membrane_rest_make(thin, &rest) == CAROM_OK);
}

int main(void)
{
    RUN(test_energy_gradient_hessian_third);
    RUN(test_rigid_motion_changes_nothing);
    RUN(test_damping_ignores_rotation);
    RUN(test_uniaxial_stretch);
    RUN(test_isotropic_moduli);
    RUN(test_reverse_of_gradient);
    RUN(test_reverse_of_area);
    RUN(test_projection_is_positive_and_keeps_the_rest);
    RUN(test_buckle_bounds_what_compression_takes);
    RUN(test_projection_keeps_the_tension_across);
    RUN(test_refuses_thin_and_unfinite_rest_shapes);
    return check_failures != 0;
}
