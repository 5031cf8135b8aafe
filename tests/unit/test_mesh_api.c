#include "carom/mesh.h"
#include "check.h"
#include "core/memory.h"
#include <string.h>
#include <unistd.h>

static const double x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const int32_t face[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static void test_a_mesh_from_arrays(void)
{
    carom_mesh* mesh = NULL;
    carom_error error = {CAROM_OK, {0}};
    static carom_mesh_report report;
    CHECK(carom_mesh_create(x, 4, face, 4, &mesh, &error) == CAROM_OK);
    CHECK(carom_mesh_vertex_count(mesh) == 4 && carom_mesh_face_count(mesh) == 4);
    CHECK(memcmp(carom_mesh_vertices(mesh), x, sizeof x) == 0);
    CHECK(memcmp(carom_mesh_faces(mesh), face, sizeof face) == 0);
    CHECK(carom_mesh_uv_count(mesh) == 0 && !carom_mesh_uv(mesh) && !carom_mesh_face_uv(mesh));
    CHECK(carom_mesh_examine(mesh, &report, &error) == CAROM_OK);
    CHECK(report.rigid && report.closed && report.rigid_text[0] == 0 && report.edge_count == 6);
    CHECK_NEAR(report.volume, 1.0 / 6, 1e-16);
    CHECK_NEAR(report.inertia[5], 1.0 / 480, 1e-16);
    CHECK_NEAR(report.principal_moments[2], 1.0 / 60, 1e-16);
    for (int i = 0; i < CAROM_MESH_DEFECTS; i++) {
        CHECK(report.defects[i].count == 0 && report.defects[i].key && report.defects[i].text);
    }
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(NULL);
}

static void test_refusals(void)
{
    carom_mesh* mesh = (carom_mesh*)&face;
    carom_error error = {CAROM_OK, {0}};
    double bad_x[12];
    int32_t bad_face[12];
    memcpy(bad_x, x, sizeof x);
    memcpy(bad_face, face, sizeof face);
    bad_x[7] = (double)NAN;
    bad_face[10] = 4;
    CHECK(carom_mesh_create(bad_x, 4, face, 4, &mesh, &error) == CAROM_ERR_ARGUMENT && !mesh);
    CHECK(strstr(error.message, "vertices[7]"));
    CHECK(carom_mesh_create(x, 4, bad_face, 4, &mesh, &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "faces[10] is 4; it has to be from 0 to 3"));
    CHECK(carom_mesh_create(x, -1, face, 4, &mesh, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_mesh_create(x, 4, NULL, 4, &mesh, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_mesh_create(x, 4, face, 4, NULL, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_mesh_load(NULL, &mesh, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_mesh_load("none.obj", &mesh, NULL) == CAROM_ERR_FILE && !mesh);
    CHECK(carom_mesh_generate("ball", NULL, NULL, 0, &mesh, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_mesh_generate("box", NULL, NULL, 1, &mesh, &error) == CAROM_ERR_ARGUMENT);
    const char* nameless[1] = {NULL};
    CHECK(carom_mesh_generate("box", nameless, x, 1, &mesh, &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "names is NULL"));
    CHECK(carom_mesh_create(x, 4, face, 3, &mesh, &error) == CAROM_OK);
    carom_mesh_repair_report done;
    carom_mesh_repair_options options = {0};
    CHECK(carom_mesh_repair(mesh, &options, &done, &error) == CAROM_ERR_ARGUMENT);
    CHECK(strstr(error.message, "carom_mesh_repair_default"));
    options = carom_mesh_repair_default();
    options.weld = (double)NAN;
    CHECK(carom_mesh_repair(mesh, &options, &done, &error) == CAROM_ERR_ARGUMENT);
    CHECK(carom_mesh_repair(mesh, NULL, &done, &error) == CAROM_OK && done.filled_holes == 1);
    CHECK(carom_mesh_face_count(mesh) == 4);
    carom_mesh_destroy(mesh);
}

static void test_every_shape_can_be_asked_for_by_its_row(void)
{
    carom_error error = {CAROM_OK, {0}};
    for (int32_t i = 0; i < carom_mesh_shape_count(); i++) {
        carom_mesh* mesh = NULL;
        carom_mesh_param row[8];
        const char* names[8];
        double values[8];
        int32_t n = 0;
        while (n < 8 && carom_mesh_shape_param(i, n, row + n)) {
            names[n] = row[n].name;
            values[n] = row[n].fallback;
            CHECK(row[n].unit && row[n].about);
            n++;
        }
        CHECK(n > 0 && carom_mesh_shape_about(i));
        CHECK(carom_mesh_generate(carom_mesh_shape_name(i), names, values, n, &mesh, &error) ==
              CAROM_OK);
        CHECK(mesh && carom_mesh_face_count(mesh) > 0);
        carom_mesh_destroy(mesh);
    }
    CHECK(!carom_mesh_shape_name(-1) && !carom_mesh_shape_about(1000));
}

static void test_every_refused_allocation_is_survived(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/carom_api_%d.ply", (int)getpid());
    static carom_mesh_report report;
    carom_status status = CAROM_ERR_MEMORY;
    int64_t n = 1;
    for (; n < 1000 && status != CAROM_OK; n++) {
        carom_mesh *mesh = NULL, *back = NULL;
        carom_mesh_repair_report done;
        carom_error error = {CAROM_OK, {0}};
        cr_memory_fail_after(n);
        status = carom_mesh_create(x, 4, face, 3, &mesh, &error);
        if (status == CAROM_OK) {
            status = carom_mesh_repair(mesh, NULL, &done, &error);
        }
        if (status == CAROM_OK) {
            status = carom_mesh_save(mesh, path, &error);
        }
        if (status == CAROM_OK) {
            status = carom_mesh_load(path, &back, &error);
        }
        if (status == CAROM_OK) {
            status = carom_mesh_examine(back, &report, &error);
        }
        cr_memory_fail_after(0);
        CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && error.status == status));
        carom_mesh_destroy(mesh);
        carom_mesh_destroy(back);
    }
    CHECK(status == CAROM_OK && n > 50 && report.rigid);
    unlink(path);
}

int main(void)
{
    RUN(test_a_mesh_from_arrays);
    RUN(test_refusals);
    RUN(test_every_shape_can_be_asked_for_by_its_row);
    RUN(test_every_refused_allocation_is_survived);
    return check_failures != 0;
}
