// Fewer triangles, the same shape: closed stays closed, volumes and borders stay.
#include "check.h"
#include "core/memory.h"
#include "mesh/check.h"
#include "mesh/decimate.h"
#include "mesh/figurine.h"
#include "mesh/sheet.h"
#include "mesh/solid.h"

static void report_of(const cr_trimesh* mesh, cr_check_report* report)
{
    CHECK(cr_check_run(mesh, 1, report) == CAROM_OK);
}

// Whatever it was, the coarse one is of the same kind.
static void coarsen(cr_trimesh* mesh, int32_t faces, double volume_within)
{
    cr_check_report fine, coarse;
    report_of(mesh, &fine);
    CHECK(cr_decimate_run(mesh, faces) == CAROM_OK);
    report_of(mesh, &coarse);
    CHECK(coarse.face_count <= faces);
    CHECK(coarse.closed == fine.closed);
    CHECK(coarse.component_count == fine.component_count);
    CHECK(coarse.euler == fine.euler);
    for (int kind = 0; kind < CR_CHECK_KINDS; kind++) {
        if (kind != CR_CHECK_OPEN_EDGE) {
            CHECK(coarse.defect[kind].count == 0);
        }
    }
    if (fine.has_mass) {
        CHECK_NEAR(coarse.mass.volume / fine.mass.volume, 1.0, volume_within);
    }
}

static void test_round_things(void)
{
    cr_trimesh mesh = {0};
    CHECK(cr_solid_icosphere(&mesh, 1.0, 4) == CAROM_OK); // 5120 triangles
    // a polyhedron of n equal faces whose corners lie on the sphere lacks 7.3/n of its volume
    coarsen(&mesh, 1000, 7.3e-3);
    coarsen(&mesh, 200, 7.3 / 200);
    coarsen(&mesh, 20, 7.3 / 20);
    CHECK(cr_solid_torus(&mesh, 1.0, 0.3, 60, 30) == CAROM_OK);
    coarsen(&mesh, 800, 1e-2);
    coarsen(&mesh, 200, 5e-2);
    cr_trimesh_release(&mesh);
}

static void test_figurine_keeps_its_legs(void)
{
    cr_trimesh mesh = {0};
    CHECK(cr_figurine_make(&mesh, 1.0, 40) == CAROM_OK);
    coarsen(&mesh, 2000, 1e-2);
    coarsen(&mesh, 500, 3e-2);
    cr_trimesh_release(&mesh);
}

// Flat faces cost nothing: a finely divided box comes down to its twelve triangles, exactly.
static void test_box_comes_down_to_twelve(void)
{
    cr_trimesh mesh = {0};
    CHECK(cr_solid_cylinder(&mesh, 1.0, 2.0, 4, 40) == CAROM_OK); // a square column
    coarsen(&mesh, 12, 1e-12);
    CHECK(mesh.vertex_count == 8);
    cr_trimesh_release(&mesh);
}

// The border of a sheet is held, and an area far from the origin is as exact as one at it.
static void test_sheet_keeps_its_border(void)
{
    cr_trimesh mesh = {0};
    cr_check_report report;
    CHECK(cr_sheet_rectangle(&mesh, 2.0, 1.0, 20, 10, 0.2, 7) == CAROM_OK);
    for (int32_t v = 0; v < mesh.vertex_count; v++) {
        mesh.x[3 * v] += 1e3;
    }
    coarsen(&mesh, 40, 0.0);
    report_of(&mesh, &report);
    CHECK_NEAR(report.area, 2.0, 1e-10);
    CHECK(mesh.uv_count == 0);
    cr_trimesh_release(&mesh);
}

// What cannot go on stops: a tetrahedron stays, each of two stays, and nothing is asked in vain.
static void test_stops_in_time(void)
{
    cr_trimesh mesh = {0};
    CHECK(cr_solid_icosphere(&mesh, 1.0, 1) == CAROM_OK);
    CHECK(cr_decimate_run(&mesh, 0) == CAROM_OK);
    CHECK(mesh.face_count >= 4);
    cr_check_report report;
    report_of(&mesh, &report);
    CHECK(report.closed && report.defect[CR_CHECK_DUPLICATE_FACE].count == 0);
    mesh.x[0] = (double)NAN;
    CHECK(cr_decimate_run(&mesh, 0) == CAROM_ERR_ARGUMENT);
    cr_trimesh_release(&mesh);
    CHECK(cr_decimate_run(&mesh, 10) == CAROM_OK); // empty
}

static void test_every_allocation_may_fail(void)
{
    int finished = 0;
    for (int64_t n = 1; n < 100 && !finished; n++) {
        cr_trimesh mesh = {0};
        CHECK(cr_solid_icosphere(&mesh, 1.0, 2) == CAROM_OK);
        cr_memory_fail_after(n);
        finished = cr_decimate_run(&mesh, 50) == CAROM_OK;
        cr_memory_fail_after(0);
        CHECK(finished || mesh.face_count == 320);
        cr_trimesh_release(&mesh);
    }
    CHECK(finished);
}

int main(void)
{
    RUN(test_round_things);
    RUN(test_figurine_keeps_its_legs);
    RUN(test_box_comes_down_to_twelve);
    RUN(test_sheet_keeps_its_border);
    RUN(test_stops_in_time);
    RUN(test_every_allocation_may_fail);
    return check_failures != 0;
}
