#include "bodies/cloth.h"
#include "check.h"
#include "core/memory.h"
#include "slope.h"
#include <stdlib.h>
#include <string.h>

enum { SIDE = 4, NODES = SIDE * SIDE, FACES = 2 * (SIDE - 1) * (SIDE - 1), UVS = NODES + SIDE };

// A small irregular sheet and everything its potential reads, flat, so that any number can be
// nudged.
typedef struct sample {
    double mesh_x[3 * NODES], mesh_uv[2 * UVS];
    int32_t face[3 * FACES], face_uv[3 * FACES];
    cr_trimesh mesh; // points into the above
    cr_cloth cloth;
    cr_cloth_material material;
    double h, wind[3];
    double x0[3 * NODES], v0[3 * NODES], x[3 * NODES];
    double u[3 * NODES], d[3 * NODES];
    int32_t linear;
} sample;

// Nodes are numbered out of order, and corners turned, so that every block is met both ways round.
// With uv the last column of cells is an island of its own, turned and shifted: a seam.
static void fill(sample* s, int with_uv, uint64_t* seed)
{
    int32_t number[NODES];
    for (int32_t i = 0; i < NODES; i++) {
        number[i] = (7 * i + 3) % NODES;
    }
    for (int i = 0; i < NODES; i++) {
        const double u = i % SIDE + check_random(seed, -0.2, 0.2);
        const double v = i / SIDE + check_random(seed, -0.2, 0.2);
        double* x = s->mesh_x + 3 * number[i];
        x[0] = 0.1 * u;
        x[1] = 0.1 * v;
        x[2] = 0.03 * sin(2 * u + v);
        s->mesh_uv[2 * number[i]] = 0.1 * u;
        s->mesh_uv[2 * number[i] + 1] = 0.1 * v;
        if (i % SIDE >= SIDE - 2) { // again, for the island: columns SIDE-2 and SIDE-1
            const int at = i % SIDE == SIDE - 2 ? NODES + i / SIDE : number[i];
            s->mesh_uv[2 * at] = 0.1 * v + 5.0;
            s->mesh_uv[2 * at + 1] = -0.1 * u + 1.0;
        }
    }
    // the seam's nodes keep their first coordinates for the cells on their left
    for (int i = 0; i < NODES; i++) {
        if (i % SIDE == SIDE - 2) {
            const double* x = s->mesh_x + 3 * number[i];
            s->mesh_uv[2 * number[i]] = x[0];
            s->mesh_uv[2 * number[i] + 1] = x[1];
        }
    }
    int f = 0;
    for (int j = 0; j + 1 < SIDE; j++) {
        for (int i = 0; i + 1 < SIDE; i++) {
            const int a = i + SIDE * j, quad[4] = {a, a + 1, a + SIDE + 1, a + SIDE};
            for (int half = 0; half < 2; half++, f++) {
                for (int k = 0; k < 3; k++) {
                    const int at = quad[(k + 2 * half) % 4];
                    const int to = 3 * f + (k + f) % 3;
                    s->face[to] = number[at];
                    s->face_uv[to] =
                        i == SIDE - 2 && at % SIDE == SIDE - 2 ? NODES + at / SIDE : number[at];
                }
            }
        }
    }
    s->mesh = (cr_trimesh){.vertex_count = NODES,
                           .face_count = FACES,
                           .uv_count = with_uv ? UVS : 0,
                           .x = s->mesh_x,
                           .face = s->face,
                           .uv = with_uv ? s->mesh_uv : NULL,
                           .face_uv = with_uv ? s->face_uv : NULL};
    s->cloth = (cr_cloth){0};
    s->linear = 0;
    s->material = (cr_cloth_material){0.3, 800, 500, 200, 150, 0.02, 0.4, 0.3, 40, 25};
    s->h = 0.5;
    for (int i = 0; i < 3 * NODES; i++) {
        s->x[i] = 0.9 * s->mesh_x[i] + check_random(seed, -0.02, 0.02);
        s->x0[i] = s->x[i] + check_random(seed, -0.02, 0.02);
        s->v0[i] = check_random(seed, -0.5, 0.5) + 0.3 * (i % 3 == 2);
        s->u[i] = check_random(seed, -1, 1);
        s->d[i] = check_random(seed, -1, 1);
    }
    s->wind[0] = 0.4;
    s->wind[1] = -0.6;
    s->wind[2] = -2.0;
}

static void build(sample* s)
{
    carom_error error = {0};
    CHECK(cr_cloth_build(&s->cloth, &s->mesh, &error) == CAROM_OK);
    if (error.status != CAROM_OK) {
        printf("%s\n", error.message);
    }
}

static cr_cloth_step step_of(const sample* s)
{
    return (cr_cloth_step){s->h, {s->wind[0], s->wind[1], s->wind[2]}, s->x0, s->v0, s->linear};
}

static double dot(const double* a, const double* b, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double energy(void* user)
{
    const sample* s = user;
    const cr_cloth_step step = step_of(s);
    return cr_cloth_energy(&s->cloth, &s->material, &step, s->x);
}

static double gradient_loss(void* user)
{
    const sample* s = user;
    const cr_cloth_step step = step_of(s);
    double g[3 * NODES] = {0};
    cr_cloth_gradient(&s->cloth, &s->material, &step, s->x, 1.0, g);
    return dot(s->u, g, 3 * NODES);
}

static double hessian_loss(void* user)
{
    const sample* s = user;
    const cr_cloth_step step = step_of(s);
    double y[3 * NODES] = {0};
    cr_cloth_apply(&s->cloth, &s->material, &step, s->x, s->d, 1.0, y);
    return dot(s->u, y, 3 * NODES);
}

// u . gradient and a sum of masses after building anew: what a change of the rest shape does
static double rebuilt_loss(void* user)
{
    sample* s = user;
    build(s);
    double mass[NODES];
    cr_cloth_mass(&s->cloth, s->material.density, mass);
    return gradient_loss(s) + dot(s->u, mass, NODES);
}

static void dense(const cr_cloth* cloth, const double* block, double* full)
{
    const int n = 3 * NODES;
    memset(full, 0, sizeof(double) * (size_t)(n * n));
    for (int32_t e = 0; e < cloth->pair_count; e++) {
        for (int k = 0; k < 9; k++) {
            const int row = 3 * cloth->pair[e][0] + k / 3, column = 3 * cloth->pair[e][1] + k % 3;
            full[row * n + column] = full[column * n + row] = block[9 * e + k];
        }
    }
}

static void test_energy_gradient_hessian_third(void)
{
    uint64_t seed = 1;
    const int n = 3 * NODES;
    for (int with_uv = 0; with_uv < 2; with_uv++) {
        sample s;
        fill(&s, with_uv, &seed);
        build(&s);
        const cr_cloth_step step = step_of(&s);
        double g[3 * NODES], y[3 * NODES], third[3 * NODES];
        double* block = calloc(9 * (size_t)s.cloth.pair_count, sizeof *block);
        double* full = calloc((size_t)(n * n), sizeof *full);
        for (int i = 0; i < n; i++) {
            g[i] = y[i] = third[i] = 1; // the loops add
        }
        const int64_t before = cr_memory_calls();
        cr_cloth_gradient(&s.cloth, &s.material, &step, s.x, 2.0, g);
        cr_cloth_apply(&s.cloth, &s.material, &step, s.x, s.u, 2.0, y);
        cr_cloth_third(&s.cloth, &s.material, &step, s.x, s.d, s.u, 2.0, third);
        cr_cloth_hessian(&s.cloth, &s.material, &step, s.x, CR_CLOTH_EXACT, 1.0, block);
        cr_cloth_hessian(&s.cloth, &s.material, &step, s.x, CR_CLOTH_EXACT, 1.0, block);
        CHECK(cr_memory_calls() == before);
        dense(&s.cloth, block, full);
        const double length = 5e-3;
        for (int i = 0; i < n; i++) {
            const double by_x = slope(energy, &s, s.x + i, length);
            const double by_x2 = slope(gradient_loss, &s, s.x + i, length);
            CHECK(by_x != 0.0 && by_x2 != 0.0);
            CHECK_NEAR(g[i], 1 + 2 * by_x, 1e-10 * (1 + fabs(by_x)));
            CHECK_NEAR(y[i], 1 + 2 * by_x2, 1e-10 * (1e4 + fabs(by_x2)));
            CHECK_NEAR(third[i], 1 + 2 * slope(hessian_loss, &s, s.x + i, length), 1e-8 * 1e5);
            CHECK_NEAR(y[i], 1 + dot(full + i * n, s.u, n), 1e-12 * 1e4);
        }
        free(block);
        free(full);
        cr_cloth_release(&s.cloth);
    }
}

static void test_no_step_is_elastic_energy(void)
{
    uint64_t seed = 2;
    sample s;
    fill(&s, 1, &seed);
    build(&s);
    const double alone = cr_cloth_energy(&s.cloth, &s.material, NULL, s.x), all = energy(&s);
    s.material.damping = s.material.bend_damping = 0;
    s.material.drag_normal = s.material.drag_tangent = 0;
    CHECK(alone > 0.0 && all > 1.01 * alone);
    CHECK_NEAR(energy(&s), alone, 1e-14 * alone);
    // the rest shape itself: flat, unstretched, free
    for (int i = 0; i < NODES; i++) {
        s.x[3 * i] = s.mesh_x[3 * i];
        s.x[3 * i + 1] = s.mesh_x[3 * i + 1];
        s.x[3 * i + 2] = 0.0;
    }
    CHECK_NEAR(cr_cloth_energy(&s.cloth, &s.material, NULL, s.x), 0.0, 1e-20);
    cr_cloth_release(&s.cloth);
}

static void test_projected_hessian(void)
{
    uint64_t seed = 3;
    const int n = 3 * NODES;
    sample s;
    fill(&s, 1, &seed);
    build(&s);
    double* exact = calloc(9 * (size_t)s.cloth.pair_count, sizeof *exact);
    double* projected = calloc(9 * (size_t)s.cloth.pair_count, sizeof *projected);
    double* full = calloc((size_t)(n * n), sizeof *full);
    for (int i = 0; i < n; i++) {
        s.x[i] *= 0.4; // strongly compressed
    }
    cr_cloth_hessian(&s.cloth, &s.material, NULL, s.x, CR_CLOTH_EXACT, 1.0, exact);
    cr_cloth_hessian(&s.cloth, &s.material, NULL, s.x, CR_CLOTH_PROJECTED, 1.0, projected);
    double least_exact = 0.0, least_projected = 0.0;
    for (int which = 0; which < 2; which++) {
        dense(&s.cloth, which ? projected : exact, full);
        for (int trial = 0; trial < 200; trial++) {
            double v[3 * NODES], sum = 0.0;
            for (int i = 0; i < n; i++) {
                v[i] = check_random(&seed, -1, 1) * (trial % n == i || trial % 3 == 0);
            }
            for (int i = 0; i < n; i++) {
                sum += v[i] * dot(full + i * n, v, n);
            }
            double* least = which ? &least_projected : &least_exact;
            *least = fmin(*least, sum);
        }
    }
    CHECK(least_exact < -10.0 && least_projected >= -1e-10);
    free(exact);
    free(projected);
    free(full);
    cr_cloth_release(&s.cloth);
}

static void test_reverse_of_gradient(void)
{
    uint64_t seed = 4;
    for (int with_uv = 0; with_uv < 2; with_uv++) {
        sample s;
        fill(&s, with_uv, &seed);
        build(&s);
        const cr_cloth_step step = step_of(&s);
        cr_cloth_material material_bar = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        double h_bar = 1, wind_bar[3] = {1, 1, 1}, x0_bar[3 * NODES], v0_bar[3 * NODES];
        double corner_bar[6 * FACES];
        for (int i = 0; i < 3 * NODES; i++) {
            x0_bar[i] = v0_bar[i] = 1;
        }
        memset(corner_bar, 0, sizeof corner_bar);
        const cr_cloth_bars bars = {&material_bar, &h_bar, wind_bar, x0_bar, v0_bar, corner_bar};
        cr_cloth_gradient_adj(&s.cloth, &s.material, &step, s.x, s.u, 2.0, &bars);
        CHECK(material_bar.density == 1);
        for (const cr_param* row = cr_cloth_params; row->name; row++) {
            double* at = (double*)((char*)&s.material + row->offset);
            const double bar = *(double*)((char*)&material_bar + row->offset);
            const double reference = slope(gradient_loss, &s, at, 0.1 * *at);
            CHECK(fabs(reference) > 1e-6 || strcmp(row->name, "density") == 0);
            CHECK_NEAR(bar, 1 + 2 * reference, 1e-9 * (1 + fabs(reference)));
        }
        const double by_h = slope(gradient_loss, &s, &s.h, 1e-4);
        CHECK(fabs(by_h) > 1e-3);
        CHECK_NEAR(h_bar, 1 + 2 * by_h, 1e-8 * (1 + fabs(by_h)));
        for (int i = 0; i < 3; i++) {
            const double reference = slope(gradient_loss, &s, s.wind + i, 1e-2);
            CHECK(fabs(reference) > 1e-3);
            CHECK_NEAR(wind_bar[i], 1 + 2 * reference, 1e-9 * (1 + fabs(reference)));
        }
        for (int i = 0; i < 3 * NODES; i++) {
            const double by_x0 = slope(gradient_loss, &s, s.x0 + i, 1e-5);
            const double by_v0 = slope(gradient_loss, &s, s.v0 + i, 1e-3);
            CHECK(fabs(by_x0) > 1e-3 && fabs(by_v0) > 1e-9);
            CHECK_NEAR(x0_bar[i], 1 + 2 * by_x0, 1e-8 * (1e3 + fabs(by_x0)));
            CHECK_NEAR(v0_bar[i], 1 + 2 * by_v0, 1e-9 * (1 + fabs(by_v0)));
        }

        // the rest shape, to the mesh, with the mass along
        double mass_bar[NODES], density_bar = 1, x_bar[3 * NODES], uv_bar[2 * UVS];
        for (int i = 0; i < NODES; i++) {
            mass_bar[i] = 2 * s.u[i];
        }
        cr_cloth_mass_adj(&s.cloth, s.material.density, mass_bar, &density_bar, corner_bar);
        for (int i = 0; i < 3 * NODES; i++) {
            x_bar[i] = 1;
        }
        for (int i = 0; i < 2 * UVS; i++) {
            uv_bar[i] = 1;
        }
        cr_cloth_corner_adj(&s.mesh, corner_bar, uv_bar, x_bar);
        const int count = with_uv ? 2 * UVS : 3 * NODES;
        for (int i = 0; i < count; i++) {
            double* at = with_uv ? s.mesh_uv + i : s.mesh_x + i;
            const double bar = with_uv ? uv_bar[i] : x_bar[i];
            const double reference = slope(rebuilt_loss, &s, at, 2e-5);
            CHECK(fabs(reference) > 1e-3);
            CHECK_NEAR(bar, 1 + 2 * reference, 1e-7 * (100 + fabs(reference)));
        }
        const double by_density = slope(rebuilt_loss, &s, &s.material.density, 0.1);
        CHECK(fabs(by_density) > 1e-6);
        CHECK_NEAR(density_bar, 1 + 2 * by_density, 1e-9);

        // nobody asked: nothing is written
        cr_cloth_gradient_adj(&s.cloth, &s.material, &step, s.x, s.u, 2.0, &(cr_cloth_bars){0});
        cr_cloth_release(&s.cloth);
    }
}

// Half the inertia of its faces holds the sheet's compression: a step short enough that some faces
// are held and some are not.
static void fill_linear(sample* s, int with_uv, uint64_t* seed)
{
    fill(s, with_uv, seed);
    s->linear = 1;
    s->h = 0.005;
    s->material.damping *= 0.01;
    s->material.bend_damping *= 0.01;
}

static void test_linear_step_is_quadratic(void)
{
    uint64_t seed = 21;
    const int n = 3 * NODES;
    sample s;
    fill_linear(&s, 1, &seed);
    build(&s);
    const cr_cloth_step step = step_of(&s);
    double g[3 * NODES] = {0}, start[3 * NODES] = {0}, y[3 * NODES] = {0}, along[3 * NODES];
    double twice[3 * NODES];
    double* block = calloc(9 * (size_t)s.cloth.pair_count, sizeof *block);
    double* full = calloc((size_t)(n * n), sizeof *full);
    cr_cloth_gradient(&s.cloth, &s.material, &step, s.x, 1.0, g);
    cr_cloth_gradient(&s.cloth, &s.material, &step, s.x0, 1.0, start);
    cr_cloth_apply(&s.cloth, &s.material, &step, s.x, s.u, 1.0, y);
    cr_cloth_hessian(&s.cloth, &s.material, &step, s.x, CR_CLOTH_EXACT, 1.0, block);
    dense(&s.cloth, block, full);
    for (int i = 0; i < n; i++) {
        along[i] = s.x[i] - s.x0[i];
        twice[i] = y[i];
    }
    cr_cloth_blocks_apply(&s.cloth, block, s.u, twice);
    for (int i = 0; i < n; i++) {
        const double by_x = slope(energy, &s, s.x + i, 0.1);
        CHECK(by_x != 0.0);
        CHECK_NEAR(g[i], by_x, 1e-9 * (1e3 + fabs(by_x)));
        CHECK_NEAR(y[i], dot(full + i * n, s.u, n), 1e-10 * 1e4);
        CHECK_NEAR(g[i], start[i] + dot(full + i * n, along, n), 1e-10 * 1e4);
        CHECK_NEAR(twice[i], 2 * y[i], 1e-10 * 1e4);
    }
    // at the start it is the gradient of the potential itself
    cr_cloth_step true_step = step;
    true_step.linear = 0;
    cr_cloth_gradient(&s.cloth, &s.material, &true_step, s.x0, -1.0, start);
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(start[i], 0.0, 1e-9);
    }
    free(block);
    free(full);
    cr_cloth_release(&s.cloth);
}

// Whether full [n*n] with `more` on the diagonal has a Cholesky factor, which takes its place.
static int is_positive(double* full, int n, const double* more)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            const double own = full[i * n + j] + (i == j ? more[i / 3] : 0.0);
            const double sum = own - dot(full + i * n, full + j * n, j);
            if (i == j && !(sum > 0.0)) {
                return 0;
            }
            full[i * n + j] = i == j ? sqrt(sum) : sum / full[j * n + j];
        }
    }
    return 1;
}

static void test_linear_step_is_convex_with_half_its_inertia(void)
{
    uint64_t seed = 22;
    const int n = 3 * NODES;
    int held = 0;
    for (int trial = 0; trial < 60; trial++) {
        sample s;
        fill_linear(&s, trial % 2, &seed);
        build(&s);
        s.material.bend = s.material.drag_normal = s.material.drag_tangent =
            0.0; // they are positive
        for (int i = 0; i < n; i++) {
            s.x0[i] *= trial % 3 ? 0.9 : 0.3;
        }
        const cr_cloth_step step = step_of(&s);
        double half[NODES];
        double* block = calloc(9 * (size_t)s.cloth.pair_count, sizeof *block);
        double* full = calloc((size_t)(n * n), sizeof *full);
        cr_cloth_mass(&s.cloth, 0.5 * s.material.density / (s.h * s.h), half);
        cr_cloth_hessian(&s.cloth, &s.material, &step, s.x, CR_CLOTH_EXACT, 1.0, block);
        dense(&s.cloth, block, full);
        CHECK(is_positive(full, n, half));
        dense(&s.cloth, block, full);
        for (int i = 0; i < NODES; i++) {
            half[i] *= 0.01;
        }
        held += !is_positive(full, n, half);
        free(block);
        free(full);
        cr_cloth_release(&s.cloth);
    }
    CHECK(held > 10);
}

static void test_reverse_of_linear_step(void)
{
    uint64_t seed = 24;
    for (int with_uv = 0; with_uv < 2; with_uv++) {
        sample s;
        fill_linear(&s, with_uv, &seed);
        build(&s);
        const cr_cloth_step step = step_of(&s);
        cr_cloth_material material_bar = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        double h_bar = 1, wind_bar[3] = {1, 1, 1}, x0_bar[3 * NODES], v0_bar[3 * NODES];
        double corner_bar[6 * FACES];
        for (int i = 0; i < 3 * NODES; i++) {
            x0_bar[i] = v0_bar[i] = 1;
        }
        memset(corner_bar, 0, sizeof corner_bar);
        const cr_cloth_bars bars = {&material_bar, &h_bar, wind_bar, x0_bar, v0_bar, corner_bar};
        cr_cloth_gradient_adj(&s.cloth, &s.material, &step, s.x, s.u, 2.0, &bars);
        for (const cr_param* row = cr_cloth_params; row->name; row++) {
            double* at = (double*)((char*)&s.material + row->offset);
            const double bar = *(double*)((char*)&material_bar + row->offset);
            const double reference = slope(gradient_loss, &s, at, 1e-4 * *at);
            CHECK(fabs(reference) > 1e-6);
            CHECK_NEAR(bar, 1 + 2 * reference, 1e-8 * (1 + fabs(reference)) + 1e-8 / *at);
        }
        const double by_h = slope(gradient_loss, &s, &s.h, 1e-7);
        CHECK(fabs(by_h) > 1e-3);
        CHECK_NEAR(h_bar, 1 + 2 * by_h, 1e-6 * (1 + fabs(by_h)));
        double largest = 0.0;
        for (int i = 0; i < 3 * NODES; i++) {
            const double by_x0 = slope(gradient_loss, &s, s.x0 + i, 1e-6);
            largest = fmax(largest, fabs(by_x0));
            CHECK_NEAR(x0_bar[i], 1 + 2 * by_x0, 1e-7 * (1e4 + fabs(by_x0)));
        }
        CHECK(largest > 1e3);
        double x_bar[3 * NODES], uv_bar[2 * UVS], mass_bar[NODES], density_bar = 0.0;
        for (int i = 0; i < 3 * NODES; i++) {
            x_bar[i] = 1;
            mass_bar[i / 3] = 2 * s.u[i / 3];
        }
        for (int i = 0; i < 2 * UVS; i++) {
            uv_bar[i] = 1;
        }
        cr_cloth_mass_adj(&s.cloth, s.material.density, mass_bar, &density_bar, corner_bar);
        cr_cloth_corner_adj(&s.mesh, corner_bar, uv_bar, x_bar);
        for (int i = 0; i < (with_uv ? 2 * UVS : 3 * NODES); i++) {
            double* at = with_uv ? s.mesh_uv + i : s.mesh_x + i;
            const double bar = with_uv ? uv_bar[i] : x_bar[i];
            const double reference = slope(rebuilt_loss, &s, at, 1e-6);
            CHECK(fabs(reference) > 1e-3);
            CHECK_NEAR(bar, 1 + 2 * reference, 1e-6 * (1e3 + fabs(reference)));
        }
        cr_cloth_release(&s.cloth);
    }
}

// The change along a direction against the reverse's derivatives by everything in it.
static void test_forward_of_linear_step(void)
{
    uint64_t seed = 25;
    sample s;
    fill_linear(&s, 1, &seed);
    build(&s);
    const cr_cloth_step step = step_of(&s);
    double by_x0[3 * NODES], by_v0[3 * NODES], by_wind[3], by_corner[6 * FACES];
    double x0_bar[3 * NODES] = {0}, v0_bar[3 * NODES] = {0}, wind_bar[3] = {0};
    double corner_bar[6 * FACES] = {0}, y[3 * NODES] = {0};
    cr_cloth_material by, bar = {0};
    for (int i = 0; i < 3 * NODES; i++) {
        by_x0[i] = check_random(&seed, -1, 1);
        by_v0[i] = check_random(&seed, -1, 1);
    }
    for (int i = 0; i < 6 * FACES; i++) {
        by_corner[i] = check_random(&seed, -1, 1);
    }
    for (int i = 0; i < 3; i++) {
        by_wind[i] = check_random(&seed, -1, 1);
    }
    double sum = 0.0, size = 0.0;
    for (const cr_param* row = cr_cloth_params; row->name; row++) {
        *(double*)((char*)&by + row->offset) = check_random(&seed, -1, 1);
    }
    const cr_cloth_bars bars = {
        .material = &bar, .wind = wind_bar, .x0 = x0_bar, .v0 = v0_bar, .corner = corner_bar};
    const cr_cloth_tangents tangents = {&by, by_wind, by_x0, by_v0, by_corner};
    cr_cloth_gradient_adj(&s.cloth, &s.material, &step, s.x, s.u, 2.0, &bars);
    cr_cloth_gradient_jvp(&s.cloth, &s.material, &step, s.x, 2.0, &tangents, y);
    for (const cr_param* row = cr_cloth_params; row->name; row++) {
        sum += *(double*)((char*)&by + row->offset) * *(double*)((char*)&bar + row->offset);
    }
    sum += dot(by_x0, x0_bar, 3 * NODES) + dot(by_v0, v0_bar, 3 * NODES);
    sum += dot(by_wind, wind_bar, 3) + dot(by_corner, corner_bar, 6 * FACES);
    for (int i = 0; i < 3 * NODES; i++) {
        size += fabs(s.u[i] * y[i]);
    }
    CHECK(fabs(sum) > 1e-3 * size);
    CHECK_NEAR(dot(s.u, y, 3 * NODES), sum, 1e-12 * size);
    cr_cloth_release(&s.cloth);
}

// A coefficient that is 0 still has a derivative, or nothing could start to learn it.
static void test_reverse_at_zero_coefficients(void)
{
    uint64_t seed = 14;
    sample s;
    fill(&s, 1, &seed);
    build(&s);
    s.material.bend = s.material.damping = s.material.bend_damping = 0;
    s.material.drag_normal = s.material.drag_tangent = 0;
    const cr_cloth_step step = step_of(&s);
    cr_cloth_material bar = {0};
    const cr_cloth_bars bars = {.material = &bar};
    cr_cloth_gradient_adj(&s.cloth, &s.material, &step, s.x, s.u, 1.0, &bars);
    double* at[4] = {&s.material.bend, &s.material.damping, &s.material.drag_normal,
                     &s.material.drag_tangent};
    const double got[4] = {bar.bend, bar.damping, bar.drag_normal, bar.drag_tangent};
    for (int i = 0; i < 4; i++) {
        const double reference = slope(gradient_loss, &s, at[i], 0.01);
        CHECK(fabs(reference) > 1e-3);
        CHECK_NEAR(got[i], reference, 1e-9 * fabs(reference));
    }
    cr_cloth_release(&s.cloth);
}

static void test_counts_masses_and_pairs(void)
{
    uint64_t seed = 5;
    sample s;
    fill(&s, 1, &seed);
    build(&s);
    const cr_cloth* c = &s.cloth;
    const int cells = SIDE - 1;
    CHECK(c->hinge_count == 2 * cells * (cells - 1) + cells * cells);
    double mass[NODES], sum = 0.0, area = 0.0;
    cr_cloth_mass(c, 0.3, mass);
    for (int i = 0; i < NODES; i++) {
        CHECK(mass[i] > 0.0);
        sum += mass[i];
    }
    for (int f = 0; f < FACES; f++) {
        area += c->rest[f].area;
    }
    CHECK(area > 0.05);
    CHECK_NEAR(sum, 0.3 * area, 1e-15);
    int diagonals = 0;
    for (int32_t e = 0; e < c->pair_count; e++) {
        CHECK(c->pair[e][0] >= c->pair[e][1]);
        CHECK(e == 0 || c->pair[e - 1][1] < c->pair[e][1] ||
              (c->pair[e - 1][1] == c->pair[e][1] && c->pair[e - 1][0] < c->pair[e][0]));
        diagonals += c->pair[e][0] == c->pair[e][1];
    }
    CHECK(diagonals == NODES);
    for (int h = 0; h < c->hinge_count; h++) { // a hinge's corners are its nodes
        const int32_t *node = c->hinge + 4 * h, *corner = c->hinge_corner + 6 * h;
        CHECK(c->face[corner[0]] == node[0] && c->face[corner[3]] == node[0]);
        CHECK(c->face[corner[1]] == node[1] && c->face[corner[4]] == node[1]);
        CHECK(c->face[corner[2]] == node[2] && c->face[corner[5]] == node[3]);
        CHECK(corner[0] / 3 == corner[2] / 3 && corner[3] / 3 == corner[5] / 3);
    }
    cr_cloth_release(&s.cloth);
}

// Without texture coordinates a plane sheet has one warp direction, however its corners are turned,
// and a sheet that looks along x takes another.
static void test_warp_without_texture_coordinates(void)
{
    const int32_t face[6] = {0, 1, 2, 3, 2, 1};
    const double flat[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    const double wall[12] = {0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1};
    for (int k = 0; k < 2; k++) {
        double x[12], pulled[12];
        memcpy(x, k ? wall : flat, sizeof x);
        const cr_trimesh mesh = {
            .vertex_count = 4, .face_count = 2, .x = x, .face = (int32_t*)face};
        cr_cloth cloth = {0};
        CHECK(cr_cloth_build(&cloth, &mesh, NULL) == CAROM_OK);
        CHECK(cloth.hinge_count == 1);
        const cr_cloth_material material = {.density = 1, .c11 = 100, .c22 = 7};
        memcpy(pulled, x, sizeof x);
        for (int i = 0; i < 4; i++) {
            pulled[3 * i + k] *= 2; // along x on the floor, along y on the wall: both warp
        }
        const double strain = 1.5;
        CHECK_NEAR(cr_cloth_energy(&cloth, &material, NULL, pulled), 50 * strain * strain, 1e-12);
        cr_cloth_release(&cloth);
    }
}

static void expect_refusal(const cr_trimesh* mesh, const char* words)
{
    carom_error error = {0};
    cr_cloth cloth = {0};
    CHECK(cr_cloth_build(&cloth, mesh, &error) == CAROM_ERR_MESH);
    CHECK(error.status == CAROM_ERR_MESH && strstr(error.message, words));
    if (!strstr(error.message, words)) {
        printf("message: %s\n", error.message);
    }
    CHECK(cloth.face == NULL && cloth.face_count == 0);
    CHECK(cr_cloth_build(&cloth, mesh, NULL) == CAROM_ERR_MESH);
}

static void test_refuses_meshes_that_cannot_be_sheets(void)
{
    uint64_t seed = 6;
    sample s;
    fill(&s, 1, &seed);
    s.mesh.face_count = 0;
    expect_refusal(&s.mesh, "0 faces");
    fill(&s, 1, &seed);
    s.face[3 * 5 + 1] = NODES;
    expect_refusal(&s.mesh, "face 5 names vertex");
    fill(&s, 1, &seed);
    s.face[3 * 4] = s.face[3 * 4 + 2];
    expect_refusal(&s.mesh, "face 4 has vertices");
    fill(&s, 1, &seed);
    s.face_uv[3 * 6 + 2] = -1;
    expect_refusal(&s.mesh, "face 6 names texture coordinate");
    fill(&s, 1, &seed);
    s.face_uv[3 * 7] = s.face_uv[3 * 7 + 1];
    expect_refusal(&s.mesh, "face 7 (vertices");
    fill(&s, 0, &seed);
    memcpy(s.mesh_x + 3 * s.face[0], s.mesh_x + 3 * s.face[1], 3 * sizeof(double));
    expect_refusal(&s.mesh, "face 0 (vertices");
    fill(&s, 0, &seed);
    s.mesh_x[3 * s.face[0] + 1] = (double)NAN;
    expect_refusal(&s.mesh, "face 0 (vertices");
    fill(&s, 0, &seed);
    memcpy(s.face + 3 * 9, s.face + 3 * 8, 3 * sizeof(int32_t));
    expect_refusal(&s.mesh, "faces 8 and 9 join the same vertices");
    fill(&s, 0, &seed);
    s.mesh.face_count = FACES - 2; // the last corner of the grid is left without a face
    expect_refusal(&s.mesh, "belongs to no face");
}

static void test_survives_refused_memory(void)
{
    uint64_t seed = 7;
    sample s;
    fill(&s, 1, &seed);
    carom_error error = {0};
    int refused = 0;
    for (int64_t n = 1; n < 50; n++) {
        cr_memory_fail_after(n);
        const carom_status status = cr_cloth_build(&s.cloth, &s.mesh, &error);
        cr_memory_fail_after(0);
        if (status == CAROM_OK) {
            break;
        }
        refused++;
        CHECK(status == CAROM_ERR_MEMORY && error.status == CAROM_ERR_MEMORY);
        CHECK(s.cloth.face == NULL && s.cloth.pair == NULL);
    }
    CHECK(refused == 11);
    CHECK(s.cloth.face_count == FACES);
    cr_cloth_release(&s.cloth);
}

// Three pages on one spine: the first page hinges with each of the others.
static void test_book(void)
{
    double x[15] = {0, 0, 0, 0, 1, 0, 1, 0, 0, -1, 0, 0.1, 0, 0, 1};
    int32_t face[9] = {0, 1, 2, 0, 1, 3, 0, 1, 4};
    const cr_trimesh mesh = {.vertex_count = 5, .face_count = 3, .x = x, .face = face};
    cr_cloth cloth = {0};
    CHECK(cr_cloth_build(&cloth, &mesh, NULL) == CAROM_OK);
    CHECK(cloth.hinge_count == 2);
    CHECK(cloth.hinge[2] == 2 && cloth.hinge[3] == 3 && cloth.hinge[6] == 2 && cloth.hinge[7] == 4);
    cr_cloth_release(&cloth);
}

static void test_material_table_and_check(void)
{
    cr_cloth_material material = cr_cloth_material_default();
    carom_error error = {0};
    CHECK(cr_cloth_material_check(&material, "cloth", &error) == CAROM_OK);
    int rows = 0;
    for (const cr_param* row = cr_cloth_params; row->name; row++, rows++) {
        double* value = (double*)((char*)&material + row->offset);
        CHECK(row->offset == (size_t)rows * sizeof(double)); // a row per field, in their order
        CHECK(*value == row->fallback && row->unit && row->about);
        CHECK(row->fallback >= row->least && row->fallback <= row->most);
        const double bad[2] = {(double)NAN, row->most * 2};
        for (int k = 0; k < 2; k++) {
            *value = bad[k];
            CHECK(cr_cloth_material_check(&material, "bodies[2]", &error) == CAROM_ERR_ARGUMENT);
            CHECK(strncmp(error.message, "bodies[2].", 10) == 0);
            CHECK(strstr(error.message, row->name) != NULL);
        }
        *value = row->fallback;
    }
    CHECK(rows == (int)(sizeof material / sizeof(double)));
    material.c12 = -1001;
    CHECK(cr_cloth_material_check(&material, "cloth", &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "c12"));
}

int main(void)
{
    RUN(test_energy_gradient_hessian_third);
    RUN(test_no_step_is_elastic_energy);
    RUN(test_projected_hessian);
    RUN(test_reverse_of_gradient);
    RUN(test_linear_step_is_quadratic);
    RUN(test_linear_step_is_convex_with_half_its_inertia);
    RUN(test_reverse_of_linear_step);
    RUN(test_forward_of_linear_step);
    RUN(test_reverse_at_zero_coefficients);
    RUN(test_counts_masses_and_pairs);
    RUN(test_warp_without_texture_coordinates);
    RUN(test_refuses_meshes_that_cannot_be_sheets);
    RUN(test_survives_refused_memory);
    RUN(test_book);
    RUN(test_material_table_and_check);
    return check_failures != 0;
}
