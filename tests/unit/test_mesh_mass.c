#include "check.h"
#include "core/memory.h"
#include "mesh/mass.h"
#include "mesh/solid.h"
#include <string.h>

static const double pi = 3.14159265358979323846;

static void tetrahedron(cr_trimesh* mesh)
{
    static const double x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int32_t face[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    CHECK(cr_trimesh_init(mesh, 4, 4, 0) == CAROM_OK);
    memcpy(mesh->x, x, sizeof x);
    memcpy(mesh->face, face, sizeof face);
}

static cr_mass integrate(const cr_trimesh* mesh)
{
    cr_mass mass;
    CHECK(cr_mass_integrate(mesh, &mass) == CAROM_OK);
    return mass;
}

static void check_same(cr_mass a, cr_mass b, double tolerance)
{
    CHECK_NEAR(a.volume, b.volume, tolerance);
    CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(a.centre, b.centre)), 0, tolerance);
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(a.inertia.m[i / 3][i % 3], b.inertia.m[i / 3][i % 3], tolerance);
    }
}

static void test_unit_cube_and_tetrahedron(void)
{
    cr_trimesh mesh = {0};
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, 1, 1}) == CAROM_OK);
    cr_mass mass = integrate(&mesh);
    CHECK_NEAR(mass.volume, 1, 1e-15);
    CHECK_NEAR(cr_mass_area(&mesh), 6, 1e-14);
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(mass.inertia.m[i / 3][i % 3], i % 4 == 0 ? 1.0 / 6 : 0, 1e-15);
    }
    tetrahedron(&mesh);
    mass = integrate(&mesh);
    CHECK_NEAR(mass.volume, 1.0 / 6, 1e-16);
    CHECK_NEAR(cr_vec3_max_abs(cr_vec3_sub(mass.centre, (cr_vec3){0.25, 0.25, 0.25})), 0, 1e-15);
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(mass.inertia.m[i / 3][i % 3], i % 4 == 0 ? 1.0 / 80 : 1.0 / 480, 1e-16);
    }
    cr_trimesh_release(&mesh);
}

static void test_far_away_changes_nothing(void)
{
    uint64_t seed = 5;
    cr_trimesh mesh = {0};
    CHECK(cr_solid_torus(&mesh, 0.7, 0.2, 24, 12) == CAROM_OK);
    for (int32_t i = 0; i < 3 * mesh.vertex_count; i++) {
        mesh.x[i] += check_random(&seed, -0.02, 0.02);
    }
    const cr_mass near = integrate(&mesh);
    const cr_vec3 far[4] = {{1e3, 0, 0}, {0, -1e3, 0}, {1e3, 1e3, -1e3}, {-577, 12, 1e3}};
    for (int k = 0; k < 4; k++) {
        for (int32_t i = 0; i < mesh.vertex_count; i++) {
            cr_vec3_accumulate(mesh.x + 3 * i, far[k]);
        }
        cr_mass mass = integrate(&mesh);
        mass.centre = cr_vec3_sub(mass.centre, far[k]);
        check_same(mass, near, 1e-11);
        for (int32_t i = 0; i < mesh.vertex_count; i++) {
            cr_vec3_accumulate(mesh.x + 3 * i, cr_vec3_neg(far[k]));
        }
    }
    cr_trimesh_release(&mesh);
}

static void test_scaling(void)
{
    cr_trimesh mesh = {0};
    tetrahedron(&mesh);
    const cr_mass one = integrate(&mesh);
    const double s = 3.7;
    for (int32_t i = 0; i < 12; i++) {
        mesh.x[i] *= s;
    }
    cr_mass large = integrate(&mesh);
    large.volume /= pow(s, 3);
    large.centre = cr_vec3_scale(1 / s, large.centre);
    large.inertia = cr_mat3_scale(pow(s, -5), large.inertia);
    check_same(large, one, 1e-15);
    cr_trimesh_release(&mesh);
}

static void test_sphere_and_cylinder_in_the_limit(void)
{
    cr_trimesh mesh = {0};
    double last = 1;
    for (int32_t n = 1; n <= 5; n++) { // each subdivision takes the error down by four
        CHECK(cr_solid_icosphere(&mesh, 2, n) == CAROM_OK);
        const cr_mass mass = integrate(&mesh);
        const double off = 1 - mass.volume / (4.0 / 3 * pi * 8);
        CHECK(off > 0 && off < 0.3 * last);
        CHECK_NEAR(mass.inertia.m[0][0], 0.4 * 4 * mass.volume, 3 * off * mass.volume);
        CHECK_NEAR(cr_vec3_norm(mass.centre), 0, 1e-14);
        last = off;
    }
    CHECK(last < 2e-3);
    CHECK(cr_solid_cylinder(&mesh, 0.5, 3, 1000, 1) == CAROM_OK);
    const cr_mass mass = integrate(&mesh);
    const double m = pi * 0.25 * 3;
    CHECK_NEAR(mass.inertia.m[2][2], 0.5 * m * 0.25, 1e-5);
    CHECK_NEAR(mass.inertia.m[0][0], m * (3 * 0.25 + 9) / 12, 1e-4);
    cr_trimesh_release(&mesh);
}

// The loss mixes everything with weights of no symmetry.
static const cr_mass bars = {0.7, {-1.3, 0.4, 2.1}, {{{3, -7, 2}, {1, 5, -4}, {6, -2, 8}}}};

static double loss(const cr_trimesh* mesh)
{
    const cr_mass mass = integrate(mesh);
    double l = bars.volume * mass.volume + cr_vec3_dot(bars.centre, mass.centre);
    for (int i = 0; i < 9; i++) {
        l += bars.inertia.m[i / 3][i % 3] * mass.inertia.m[i / 3][i % 3];
    }
    return l;
}

static void check_adjoint(cr_trimesh* mesh, double tolerance)
{
    const int32_t n = 3 * mesh->vertex_count;
    double* x_bar = cr_memory_take((size_t)n, sizeof *x_bar);
    for (int32_t i = 0; i < n; i++) {
        x_bar[i] = 1; // adjoints add
    }
    cr_mass_integrate_adj(mesh, &bars, x_bar);
    const double h = 1e-5;
    double largest = 0;
    for (int32_t i = 0; i < n; i++) {
        const double x = mesh->x[i];
        mesh->x[i] = x + h;
        const double up = loss(mesh);
        mesh->x[i] = x - h;
        const double down = loss(mesh);
        mesh->x[i] = x;
        CHECK_NEAR(x_bar[i], 1 + (up - down) / (2 * h), tolerance);
        largest = fmax(largest, fabs(x_bar[i] - 1));
    }
    CHECK(largest > 100 * tolerance); // a zero would agree with too much
    cr_memory_free(x_bar);
}

static void test_adjoint_matches_central_differences(void)
{
    cr_trimesh mesh = {0};
    tetrahedron(&mesh);
    check_adjoint(&mesh, 2e-9);
    uint64_t seed = 9;
    CHECK(cr_solid_torus(&mesh, 1, 0.4, 6, 4) == CAROM_OK);
    for (int32_t i = 0; i < 3 * mesh.vertex_count; i++) {
        mesh.x[i] += check_random(&seed, -0.05, 0.05) + 3 * (i % 3);
    }
    check_adjoint(&mesh, 2e-9);
    cr_trimesh_release(&mesh);
}

static void check_principal(cr_mat3 a)
{
    cr_vec3 d;
    cr_mat3 r;
    cr_mass_principal(a, &d, &r);
    double size = 0;
    for (int i = 0; i < 9; i++) {
        size = fmax(size, fabs(a.m[i / 3][i % 3]));
    }
    CHECK(d.x <= d.y && d.y <= d.z);
    CHECK_NEAR(cr_mat3_det(r), 1, 1e-13);
    const cr_mat3 one = cr_mat3_tmul(r, r);
    const cr_mat3 back = cr_mat3_mul(r, cr_mat3_mul(cr_mat3_diagonal(d), cr_mat3_transpose(r)));
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(one.m[i / 3][i % 3], i % 4 == 0, 1e-13);
        CHECK_NEAR(back.m[i / 3][i % 3], a.m[i / 3][i % 3], 1e-13 * size);
    }
}

static void test_principal_axes(void)
{
    uint64_t seed = 21;
    for (int round = 0; round < 500; round++) {
        cr_mat3 a;
        const double scale = pow(10, check_random(&seed, -12, 12));
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j <= i; j++) {
                a.m[i][j] = a.m[j][i] = scale * check_random(&seed, -1, 1);
            }
        }
        check_principal(a);
    }
    check_principal(cr_mat3_identity());
    check_principal((cr_mat3){{{2, 1e-17, 0}, {1e-17, 2, 1e-300}, {0, 1e-300, 1}}});
    check_principal((cr_mat3){{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}});
    check_principal((cr_mat3){{{0}}});
    cr_vec3 d;
    cr_mat3 r;
    cr_mass_principal(cr_mat3_diagonal((cr_vec3){3, 1, 2}), &d, &r);
    CHECK(d.x == 1 && d.y == 2 && d.z == 3 && r.m[1][0] == 1 && r.m[2][1] == 1 && r.m[0][2] == 1);
}

static void test_refuses_what_has_no_inside(void)
{
    cr_trimesh mesh = {0};
    cr_mass mass;
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, 1, 1}) == CAROM_OK);
    for (int32_t i = 0; i < 8; i++) {
        mesh.x[3 * i + 1] = mesh.x[3 * i] + mesh.x[3 * i + 2]; // flat, askew
    }
    CHECK(cr_mass_integrate(&mesh, &mass) == CAROM_ERR_MESH && mass.inertia.m[0][0] == 0);
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, 1, 1e-9}) == CAROM_OK);
    CHECK(cr_mass_integrate(&mesh, &mass) == CAROM_OK);
    for (int32_t i = 0; i < 8; i++) {
        mesh.x[3 * i] = -mesh.x[3 * i]; // mirrored: inside out
    }
    CHECK(cr_mass_integrate(&mesh, &mass) == CAROM_ERR_MESH && mass.volume < 0);
    mesh.x[4] = (double)NAN;
    CHECK(cr_mass_integrate(&mesh, &mass) == CAROM_ERR_MESH);
    cr_trimesh_release(&mesh);
    CHECK(cr_mass_integrate(&mesh, &mass) == CAROM_ERR_MESH && mass.volume == 0);
}

int main(void)
{
    RUN(test_unit_cube_and_tetrahedron);
    RUN(test_far_away_changes_nothing);
    RUN(test_scaling);
    RUN(test_sphere_and_cylinder_in_the_limit);
    RUN(test_adjoint_matches_central_differences);
    RUN(test_principal_axes);
    RUN(test_refuses_what_has_no_inside);
    return check_failures != 0;
}
