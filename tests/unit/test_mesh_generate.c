#include "check.h"
#include "core/memory.h"
#include "mesh/figurine.h"
#include "mesh/generate.h"
#include "mesh/sheet.h"
#include "mesh/solid.h"
#include "mesh/topology.h"
#include <string.h>

static const double pi = 3.14159265358979323846;

static double volume(const cr_trimesh* mesh)
{
    double v = 0;
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const int32_t* i = mesh->face + 3 * f;
        v += cr_vec3_dot(cr_trimesh_at(mesh, i[0]),
                         cr_vec3_cross(cr_trimesh_at(mesh, i[1]), cr_trimesh_at(mesh, i[2])));
    }
    return v / 6;
}

static cr_vec3 normal(const cr_trimesh* mesh, int32_t f)
{
    const int32_t* i = mesh->face + 3 * f;
    const cr_vec3 p = cr_trimesh_at(mesh, i[0]);
    return cr_vec3_cross(cr_vec3_sub(cr_trimesh_at(mesh, i[1]), p),
                         cr_vec3_sub(cr_trimesh_at(mesh, i[2]), p));
}

static int32_t components(const cr_trimesh* mesh)
{
    int32_t* label = cr_memory_take((size_t)mesh->vertex_count, sizeof *label);
    int32_t count = mesh->vertex_count;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        label[i] = i;
    }
    for (int32_t i = 0; i < 3 * mesh->face_count; i++) {
        int32_t a = mesh->face[i], b = mesh->face[i % 3 == 2 ? i - 2 : i + 1];
        while (label[a] != a) {
            a = label[a] = label[label[a]];
        }
        while (label[b] != b) {
            b = label[b] = label[label[b]];
        }
        count -= a != b;
        label[b] = a;
    }
    cr_memory_free(label);
    return count;
}

// Closed, every edge between two faces of one orientation, of the genus given, no lean faces.
static void check_solid(const cr_trimesh* mesh, int32_t euler)
{
    cr_topology t = {0};
    CHECK(cr_topology_build(&t, mesh) == CAROM_OK);
    int32_t open = 0;
    for (int32_t e = 0; e < t.edge_count; e++) {
        open += t.edge_kind[e] == CR_EDGE_BOUNDARY || t.edge_kind[e] == CR_EDGE_TANGLED;
    }
    CHECK(open == 0);
    CHECK(mesh->vertex_count - t.edge_count + mesh->face_count == euler);
    CHECK(components(mesh) == 1);
    CHECK(volume(mesh) > 0);
    for (int32_t f = 0; f < mesh->face_count; f++) {
        CHECK(cr_vec3_norm(normal(mesh, f)) > 0);
    }
    cr_vec3 least, most;
    cr_trimesh_box(mesh, &least, &most);
    const double size = cr_vec3_max_abs(cr_vec3_sub(most, least));
    CHECK(cr_vec3_max_abs(cr_vec3_add(least, most)) <= 0.02 * size); // odd polygons lean a little
    cr_topology_release(&t);
}

static void test_every_shape_of_the_table_comes_out_whole(void)
{
    for (int32_t i = 0; i < cr_generate_shape_count(); i++) {
        const cr_generate_shape* shape = cr_generate_shape_at(i);
        cr_trimesh mesh = {0};
        carom_error error = {0};
        CHECK(cr_generate_find(shape->name) == shape);
        CHECK(cr_generate_make(&mesh, shape->name, NULL, NULL, 0, &error) == CAROM_OK);
        CHECK(mesh.face_count > 0 && cr_trimesh_sound(&mesh));
        if (mesh.uv_count == 0) {
            check_solid(&mesh, strcmp(shape->name, "torus") == 0 ? 0 : 2);
        }
        // the corners of the table: every parameter at its ends keeps its promise or says why not
        for (int32_t p = 0; p < shape->param_count; p++) {
            const char* name = shape->param[p].name;
            const cr_generate_param* row = shape->param + p;
            CHECK(row->fallback >= row->least && row->fallback <= row->most);
            const double outside[3] = {row->least - 1, row->most * 1.01 + 1, (double)NAN};
            for (int k = 0; k < 3; k++) {
                error.message[0] = 0;
                CHECK(cr_generate_make(&mesh, shape->name, &name, outside + k, 1, &error) ==
                      CAROM_ERR_ARGUMENT);
                CHECK(strstr(error.message, name) && mesh.face_count == 0);
            }
        }
        cr_trimesh_release(&mesh);
    }
    CHECK(cr_generate_shape_at(-1) == NULL);
    CHECK(cr_generate_shape_at(cr_generate_shape_count()) == NULL);
}

static void test_refusals_name_the_choices(void)
{
    cr_trimesh mesh = {0};
    carom_error error = {0};
    const char* names[2] = {"radius", "colour"};
    const double values[2] = {1, 2};
    CHECK(cr_generate_make(&mesh, "ball", NULL, NULL, 0, &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "\"ball\"") && strstr(error.message, "sphere"));
    CHECK(cr_generate_make(&mesh, "cone", names, values, 2, &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "\"colour\"") && strstr(error.message, "height"));
    const char* minor = "minor";
    const double fat = 3;
    CHECK(cr_generate_make(&mesh, "torus", &minor, &fat, 1, &error) == CAROM_ERR_ARGUMENT);
    const char* nx = "nx";
    const double half = 2.5;
    CHECK(cr_generate_make(&mesh, "sheet", &nx, &half, 1, &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "whole"));
}

// Against the formulas of the smooth solids, which the fine meshes approach from inside.
static void test_volumes(void)
{
    cr_trimesh mesh = {0};
    CHECK(cr_solid_box(&mesh, (cr_vec3){2, 3, 5}) == CAROM_OK);
    CHECK_NEAR(volume(&mesh), 30, 1e-13);
    CHECK(cr_solid_icosphere(&mesh, 2, 5) == CAROM_OK);
    CHECK(mesh.face_count == 20480 && mesh.vertex_count == 10242);
    CHECK_NEAR(volume(&mesh), 4.0 / 3 * pi * 8, 0.05);
    CHECK(cr_solid_uv_sphere(&mesh, 2, 200, 100) == CAROM_OK);
    CHECK_NEAR(volume(&mesh), 4.0 / 3 * pi * 8, 0.05);
    CHECK(cr_solid_cylinder(&mesh, 0.5, 3, 500, 4) == CAROM_OK);
    CHECK_NEAR(volume(&mesh), pi * 0.25 * 3, 1e-3);
    CHECK(cr_solid_capsule(&mesh, 0.5, 3, 300, 100) == CAROM_OK);
    CHECK_NEAR(volume(&mesh), pi * 0.25 * 3 + 4.0 / 3 * pi * 0.125, 2e-3);
    CHECK(cr_solid_cone(&mesh, 0.5, 3, 500) == CAROM_OK);
    CHECK_NEAR(volume(&mesh), pi * 0.25, 1e-3);
    CHECK(cr_solid_torus(&mesh, 2, 0.5, 300, 150) == CAROM_OK);
    CHECK_NEAR(volume(&mesh), 2 * pi * pi * 2 * 0.25, 1e-2);
    CHECK(cr_solid_bowl(&mesh, 2, 0.5, 300, 150) == CAROM_OK);
    CHECK_NEAR(volume(&mesh), 2.0 / 3 * pi * (8 - 1.5 * 1.5 * 1.5), 1e-2);
    cr_trimesh_release(&mesh);
}

static void test_coarsest_solids(void)
{
    cr_trimesh mesh = {0};
    CHECK(cr_solid_icosphere(&mesh, 1, 0) == CAROM_OK);
    check_solid(&mesh, 2);
    CHECK(cr_solid_cylinder(&mesh, 1e-6, 1e3, 4, 1) == CAROM_OK);
    check_solid(&mesh, 2);
    CHECK(cr_solid_uv_sphere(&mesh, 1, 4, 2) == CAROM_OK);
    check_solid(&mesh, 2);
    CHECK(cr_solid_cone(&mesh, 1, 1, 4) == CAROM_OK);
    check_solid(&mesh, 2);
    CHECK(cr_solid_bowl(&mesh, 1, 0.5, 4, 1) == CAROM_OK);
    check_solid(&mesh, 2);
    CHECK(cr_solid_torus(&mesh, 1, 0.5, 4, 4) == CAROM_OK);
    check_solid(&mesh, 0);
    CHECK(cr_solid_capsule(&mesh, 1, 0.5, 4, 1) == CAROM_OK);
    check_solid(&mesh, 2);
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, 0, 1}) == CAROM_ERR_ARGUMENT && mesh.x == NULL);
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, (double)NAN, 1}) == CAROM_ERR_ARGUMENT);
    CHECK(cr_solid_icosphere(&mesh, 1, 9) == CAROM_ERR_ARGUMENT);
    CHECK(cr_solid_cone(&mesh, (double)INFINITY, 1, 4) == CAROM_ERR_ARGUMENT);
}

// One boundary loop of the length expected, faces up, area right, uv at rest.
static void check_sheet(const cr_trimesh* mesh, double area, int32_t rim)
{
    cr_topology t = {0};
    CHECK(cr_topology_build(&t, mesh) == CAROM_OK);
    int32_t boundary = 0, odd = 0, down = 0, moved = 0;
    double sum = 0;
    for (int32_t e = 0; e < t.edge_count; e++) {
        boundary += t.edge_kind[e] == CR_EDGE_BOUNDARY;
        odd += t.edge_kind[e] != CR_EDGE_BOUNDARY && t.edge_kind[e] != CR_EDGE_FLAT;
    }
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const double twice = normal(mesh, f).z;
        down += !(twice > 0);
        sum += 0.5 * twice;
    }
    for (int32_t i = 0; i < 3 * mesh->face_count; i++) {
        const double* uv = mesh->uv + 2 * mesh->face_uv[i];
        const double* x = mesh->x + 3 * mesh->face[i];
        moved += uv[0] != x[0] || uv[1] != x[1] || x[2] != 0;
    }
    CHECK(boundary == rim && odd == 0 && down == 0 && moved == 0);
    CHECK(mesh->vertex_count - t.edge_count + mesh->face_count == 1);
    CHECK_NEAR(sum, area, 1e-12 * area);
    cr_topology_release(&t);
}

static void test_sheets(void)
{
    cr_trimesh mesh = {0};
    CHECK(cr_sheet_rectangle(&mesh, 2, 3, 4, 6, 0, 0) == CAROM_OK);
    CHECK(mesh.vertex_count == 35 && mesh.face_count == 48);
    check_sheet(&mesh, 6, 20);
    CHECK(cr_sheet_rectangle(&mesh, 1, 1, 1, 1, 0, 0) == CAROM_OK);
    check_sheet(&mesh, 1, 4);
    const int32_t rings = 9;
    const double rim = 6 * rings;
    for (uint64_t seed = 0; seed < 200; seed++) {
        const double jitter = seed % 2 ? CR_SHEET_JITTER_MOST : 0.2;
        CHECK(cr_sheet_rectangle(&mesh, 2, 0.3, 13, 7, jitter, seed) == CAROM_OK);
        check_sheet(&mesh, 0.6, 40);
        CHECK(cr_sheet_disc(&mesh, 2, rings, seed ? jitter : 0, seed) == CAROM_OK);
        CHECK(mesh.face_count == 6 * rings * rings);
        check_sheet(&mesh, 0.5 * rim * 4 * sin(2 * pi / rim), 6 * rings);
    }
    CHECK(cr_sheet_disc(&mesh, 1, 1, 0.2, 5) == CAROM_OK);
    CHECK(cr_sheet_disc(&mesh, 1, 0, 0, 5) == CAROM_ERR_ARGUMENT);
    CHECK(cr_sheet_rectangle(&mesh, 1, 1, 4, 4, 0.5, 0) == CAROM_ERR_ARGUMENT);
    CHECK(cr_sheet_rectangle(&mesh, 1, 1, 4, 4, (double)NAN, 0) == CAROM_ERR_ARGUMENT);
    cr_trimesh_release(&mesh);
}

static void test_seeds_decide_the_irregular_sheet(void)
{
    cr_trimesh a = {0}, b = {0}, c = {0};
    CHECK(cr_sheet_rectangle(&a, 1, 1, 8, 8, 0.2, 11) == CAROM_OK);
    CHECK(cr_sheet_rectangle(&b, 1, 1, 8, 8, 0.2, 11) == CAROM_OK);
    CHECK(cr_sheet_rectangle(&c, 1, 1, 8, 8, 0.2, 12) == CAROM_OK);
    CHECK(memcmp(a.x, b.x, 3 * 81 * sizeof(double)) == 0);
    CHECK(memcmp(a.face, b.face, 3 * 128 * sizeof(int32_t)) == 0);
    CHECK(memcmp(a.x, c.x, 3 * 81 * sizeof(double)) != 0);
    cr_trimesh_release(&a);
    cr_trimesh_release(&b);
    cr_trimesh_release(&c);
}

static void test_figurine(void)
{
    cr_trimesh mesh = {0};
    for (int32_t n = 12; n <= 48; n += 3) {
        CHECK(cr_figurine_make(&mesh, 2, n) == CAROM_OK);
        check_solid(&mesh, 2);
        cr_vec3 least, most;
        cr_trimesh_box(&mesh, &least, &most);
        CHECK_NEAR(most.x - least.x, 2, 1e-12);
        CHECK_NEAR(volume(&mesh), 0.37, 0.03);
    }
    for (int32_t n = 9; n < 12; n++) { // the coarsest: round to a sixth of the volume
        CHECK(cr_figurine_make(&mesh, 2, n) == CAROM_OK);
        CHECK(mesh.face_count < 1500);
        check_solid(&mesh, n == 10 ? 0 : 2); // at 10 two of the legs melt together
        CHECK_NEAR(volume(&mesh), 0.37, 0.06);
    }
    CHECK(cr_figurine_make(&mesh, 2, 8) == CAROM_ERR_ARGUMENT);
    CHECK(cr_figurine_make(&mesh, 0, 40) == CAROM_ERR_ARGUMENT);
    cr_trimesh_release(&mesh);
}

int main(void)
{
    RUN(test_every_shape_of_the_table_comes_out_whole);
    RUN(test_refusals_name_the_choices);
    RUN(test_volumes);
    RUN(test_coarsest_solids);
    RUN(test_sheets);
    RUN(test_figurine);
    RUN(test_seeds_decide_the_irregular_sheet);
    return check_failures != 0;
}
