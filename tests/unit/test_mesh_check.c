#include "check.h"
#include "core/memory.h"
#include "mesh/check.h"
#include "mesh/cross.h"
#include "mesh/generate.h"
#include "mesh/repair.h"
#include "mesh/sheet.h"
#include "mesh/solid.h"
#include <string.h>

static cr_check_report run(const cr_trimesh* mesh)
{
    static cr_check_report report;
    CHECK(cr_check_run(mesh, 1, &report) == CAROM_OK);
    return report;
}

static int64_t defects(const cr_check_report* r)
{
    int64_t n = 0;
    for (int k = 0; k < CR_CHECK_KINDS; k++) {
        n += r->defect[k].count;
    }
    return n;
}

// Joins b, moved by d, to a.
static void join(cr_trimesh* a, const cr_trimesh* b, cr_vec3 d)
{
    cr_trimesh both = {0};
    CHECK(cr_trimesh_init(&both, a->vertex_count + b->vertex_count, a->face_count + b->face_count,
                          0) == CAROM_OK);
    memcpy(both.x, a->x, (size_t)a->vertex_count * 24);
    memcpy(both.face, a->face, (size_t)a->face_count * 12);
    for (int32_t v = 0; v < b->vertex_count; v++) {
        cr_vec3_store(both.x + 3 * (a->vertex_count + v), cr_vec3_add(cr_trimesh_at(b, v), d));
    }
    for (int32_t i = 0; i < 3 * b->face_count; i++) {
        both.face[3 * a->face_count + i] = b->face[i] + a->vertex_count;
    }
    cr_trimesh_release(a);
    *a = both;
}

static void turn(cr_trimesh* mesh, int32_t f)
{
    const int32_t v = mesh->face[3 * f];
    mesh->face[3 * f] = mesh->face[3 * f + 1];
    mesh->face[3 * f + 1] = v;
}

static void test_good_meshes_have_no_defects(void)
{
    cr_trimesh mesh = {0};
    carom_error error;
    for (int32_t i = 0; i < cr_generate_shape_count(); i++) {
        CHECK(cr_generate_make(&mesh, cr_generate_shape_at(i)->name, NULL, NULL, 0, &error) ==
              CAROM_OK);
        const cr_check_report r = run(&mesh);
        CHECK(r.component_count == 1 && r.crossing_complete);
        if (mesh.uv_count == 0) {
            CHECK(defects(&r) == 0 && r.closed && r.has_mass && r.hole_count == 0);
            CHECK(cr_check_rigid(&r, "it", &error) == CAROM_OK);
        } else {
            CHECK(defects(&r) == r.defect[CR_CHECK_OPEN_EDGE].count && r.hole_count == 1);
            CHECK(!r.closed && !r.has_mass);
            CHECK(cr_check_rigid(&r, "it", &error) == CAROM_ERR_MESH);
            CHECK(strstr(error.message, "in 1 hole;"));
        }
    }
    cr_trimesh_release(&mesh);
}

static void test_every_defect_is_found_where_it_is(void)
{
    cr_trimesh mesh = {0};
    carom_error error;
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, 1, 1}) == CAROM_OK);
    // face 7 turned, face 3 gone: three open edges, face 7 disagrees with its three neighbours
    turn(&mesh, 7);
    memcpy(mesh.face + 9, mesh.face + 33, 12);
    mesh.face_count = 11;
    cr_check_report r = run(&mesh);
    CHECK(r.defect[CR_CHECK_OPEN_EDGE].count == 3 && r.hole_count == 1);
    CHECK(r.turned_face_count == 1 && r.defect[CR_CHECK_TURNED_EDGE].count == 3);
    CHECK(r.defect[CR_CHECK_TURNED_EDGE].place[0].face >= 0);
    CHECK(cr_check_rigid(&r, "box.obj", &error) == CAROM_ERR_MESH);
    CHECK(strcmp(error.message,
                 "box.obj: 3 open edges in 1 hole, 1 face turned the wrong way; a rigid body needs "
                 "a closed, oriented mesh (carom info --repair shows what a repair would do)") ==
          0);

    // a face twice, a face without area, one that names a vertex twice, a vertex twice and unused
    CHECK(cr_solid_box(&mesh, (cr_vec3){2, 2, 2}) == CAROM_OK);
    cr_trimesh extra = {0};
    CHECK(cr_trimesh_init(&extra, 2, 3, 0) == CAROM_OK);
    join(&mesh, &extra, (cr_vec3){1, 1, 1});
    memcpy(mesh.face + 36, (int32_t[9]){6, 4, 0, 0, 7, 7, 0, 7, 8}, 36);
    mesh.x[24] = mesh.x[25] = mesh.x[26] = 0; // vertex 8: the middle of 0 and 7
    r = run(&mesh);
    CHECK(r.defect[CR_CHECK_DUPLICATE_FACE].count == 1);
    CHECK(r.defect[CR_CHECK_DUPLICATE_FACE].place[0].face == 12);
    CHECK(r.defect[CR_CHECK_DUPLICATE_FACE].place[0].other == 0);
    CHECK(r.defect[CR_CHECK_DEGENERATE_FACE].count == 2);
    CHECK(r.defect[CR_CHECK_DEGENERATE_FACE].place[0].face == 13);
    CHECK(r.defect[CR_CHECK_DEGENERATE_FACE].place[1].vertex[2] == 8);
    CHECK(r.defect[CR_CHECK_DUPLICATE_VERTEX].count == 1);
    CHECK(r.defect[CR_CHECK_DUPLICATE_VERTEX].place[0].vertex[0] == 9);
    CHECK(r.defect[CR_CHECK_DUPLICATE_VERTEX].place[0].other == 7);
    CHECK(r.defect[CR_CHECK_UNUSED_VERTEX].count == 1);
    CHECK(r.defect[CR_CHECK_UNUSED_VERTEX].place[0].at.x == 1);
    CHECK(r.defect[CR_CHECK_CROWDED_EDGE].count == 3);
    mesh.x[26] = (double)NAN;
    r = run(&mesh);
    CHECK(r.defect[CR_CHECK_NOT_FINITE].count == 1);
    CHECK(r.defect[CR_CHECK_NOT_FINITE].place[0].vertex[0] == 8);
    cr_trimesh_release(&extra);
    cr_trimesh_release(&mesh);
    r = run(&mesh);
    CHECK(cr_check_rigid(&r, "nothing", &error) == CAROM_ERR_MESH);
    CHECK(strstr(error.message, "no faces"));
}

static void test_the_majority_is_right(void)
{
    cr_trimesh mesh = {0};
    CHECK(cr_solid_icosphere(&mesh, 1, 1) == CAROM_OK);
    turn(&mesh, 0); // the face everything is compared to
    turn(&mesh, 40);
    const cr_check_report r = run(&mesh);
    CHECK(r.turned_face_count == 2 && r.defect[CR_CHECK_TURNED_EDGE].count == 6);
    CHECK(r.defect[CR_CHECK_INSIDE_OUT].count == 0 && r.component_count == 1);
    cr_trimesh_release(&mesh);
}

static void test_a_moebius_strip_has_no_outside(void)
{
    // five vertices in a ring, each triangle three in a row: one-sided
    cr_trimesh mesh = {0};
    CHECK(cr_trimesh_init(&mesh, 5, 5, 0) == CAROM_OK);
    for (int32_t i = 0; i < 5; i++) {
        cr_vec3_store(mesh.x + 3 * i, (cr_vec3){cos(i), sin(i), 0.3 * (i % 2)});
        const int odd = i % 2;
        mesh.face[3 * i] = i;
        mesh.face[3 * i + 1 + odd] = (i + 1) % 5;
        mesh.face[3 * i + 2 - odd] = (i + 2) % 5;
    }
    const cr_check_report r = run(&mesh);
    CHECK(!r.closed && r.defect[CR_CHECK_TURNED_EDGE].count > 0);
    CHECK(r.defect[CR_CHECK_OPEN_EDGE].count == 5 && r.euler == 0);
    cr_repair_report done;
    const cr_repair_options options = cr_repair_default();
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK);
    CHECK(run(&mesh).defect[CR_CHECK_TURNED_EDGE].count > 0); // nothing can help it
    cr_trimesh_release(&mesh);
}

static void test_inside_out_and_cavities(void)
{
    cr_trimesh mesh = {0}, small = {0};
    carom_error error;
    CHECK(cr_solid_icosphere(&mesh, 1, 2) == CAROM_OK);
    CHECK(cr_solid_icosphere(&small, 0.5, 1) == CAROM_OK);
    join(&mesh, &small, (cr_vec3){0.2, 0, 0}); // a ball inside a ball: wrong
    cr_check_report r = run(&mesh);
    CHECK(r.component_count == 2 && r.closed && r.defect[CR_CHECK_INSIDE_OUT].count == 1);
    CHECK(r.defect[CR_CHECK_INSIDE_OUT].place[0].face == 320);
    for (int32_t f = 320; f < 400; f++) {
        turn(&mesh, f); // a hollow ball: right
    }
    r = run(&mesh);
    CHECK(defects(&r) == 0 && r.has_mass);
    join(&mesh, &small, (cr_vec3){5, 0, 0});
    for (int32_t f = 400; f < 480; f++) {
        turn(&mesh, f); // beside it, inside out: wrong
    }
    r = run(&mesh);
    CHECK(r.defect[CR_CHECK_INSIDE_OUT].count == 1);
    CHECK(cr_check_rigid(&r, "it", &error) == CAROM_ERR_MESH);
    cr_repair_report done;
    const cr_repair_options options = cr_repair_default();
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK && done.turned_inside == 1);
    r = run(&mesh);
    CHECK(defects(&r) == 0);
    cr_trimesh_release(&mesh);
    cr_trimesh_release(&small);
}

static void test_crossings(void)
{
    cr_trimesh mesh = {0}, other = {0};
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, 1, 1}) == CAROM_OK);
    CHECK(cr_solid_box(&other, (cr_vec3){1, 1, 1}) == CAROM_OK);
    join(&mesh, &other, (cr_vec3){0.4, 0.3, 0.7});
    cr_check_report r = run(&mesh);
    const cr_check_defect* d = r.defect + CR_CHECK_CROSSING;
    CHECK(d->count > 0 && d->place[0].other > d->place[0].face);
    CHECK(r.closed && r.has_mass);
    // touching in a face, an edge or a corner is not crossing
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, 1, 1}) == CAROM_OK);
    join(&mesh, &other, (cr_vec3){1, 0, 0});
    join(&mesh, &other, (cr_vec3){1, 1, 0});
    join(&mesh, &other, (cr_vec3){-1, -1, -1});
    r = run(&mesh);
    CHECK(r.defect[CR_CHECK_CROSSING].count == 0 && r.defect[CR_CHECK_DUPLICATE_VERTEX].count > 0);
    // a heap of random triangles against every pair, asked by the same test in another order
    uint64_t seed = 4;
    CHECK(cr_trimesh_init(&mesh, 300, 100, 0) == CAROM_OK);
    for (int32_t i = 0; i < 300; i++) {
        mesh.face[i] = i;
        for (int k = 0; k < 3; k++) {
            mesh.x[3 * i + k] = floor(i / 3.0) * 0.01 * k + check_random(&seed, -0.3, 0.3);
        }
    }
    cr_cross all = {0}, two = {0};
    CHECK(cr_cross_find(&all, &mesh) == CAROM_OK && all.complete);
    int32_t n = 0;
    CHECK(cr_trimesh_init(&other, 6, 2, 0) == CAROM_OK);
    for (int32_t f = 0; f < 100; f++) {
        for (int32_t g = f + 1; g < 100; g++) {
            memcpy(other.x, mesh.x + 9 * f, 72);
            memcpy(other.x + 9, mesh.x + 9 * g, 72);
            memcpy(other.face, (int32_t[6]){0, 1, 2, 3, 4, 5}, 24);
            CHECK(cr_cross_find(&two, &other) == CAROM_OK);
            if (two.pair.count == 1) {
                CHECK(n < all.pair.count && all.pair.items[n].face[0] == f &&
                      all.pair.items[n].face[1] == g);
                n++;
            }
        }
    }
    CHECK(n == all.pair.count && n > 50);
    cr_cross_release(&all);
    cr_cross_release(&two);
    cr_trimesh_release(&mesh);
    cr_trimesh_release(&other);
}

static void test_pinched_vertex(void)
{
    cr_trimesh mesh = {0}, other = {0};
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, 1, 1}) == CAROM_OK);
    CHECK(cr_solid_box(&other, (cr_vec3){1, 1, 1}) == CAROM_OK);
    join(&mesh, &other, (cr_vec3){1, 1, 1});
    cr_repair_report done;
    const cr_repair_options options = cr_repair_default();
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK && done.welded_vertices == 1);
    const cr_check_report r = run(&mesh);
    CHECK(r.defect[CR_CHECK_PINCHED_VERTEX].count == 1 && defects(&r) == 1);
    CHECK(r.defect[CR_CHECK_PINCHED_VERTEX].place[0].at.x == 0.5 && r.closed);
    cr_trimesh_release(&mesh);
    cr_trimesh_release(&other);
}

// Takes a good mesh apart in many ways; repair brings it back to closed and of the same volume.
static void test_repair_of_wrecked_meshes(void)
{
    uint64_t seed = 31;
    cr_trimesh good = {0}, mesh = {0};
    carom_error error;
    const char* shapes[4] = {"sphere", "torus", "bowl", "cylinder"};
    for (int round = 0; round < 40; round++) {
        CHECK(cr_generate_make(&good, shapes[round % 4], NULL, NULL, 0, &error) == CAROM_OK);
        const double volume = run(&good).mass.volume;
        // every corner its own vertex, some faces turned, some twice, all of it maybe inside out
        const int32_t n = good.face_count;
        CHECK(cr_trimesh_init(&mesh, 3 * n + 5, n + 3, 0) == CAROM_OK);
        for (int32_t i = 0; i < 3 * n; i++) {
            cr_vec3_store(mesh.x + 3 * i, cr_trimesh_at(&good, good.face[i]));
            mesh.face[i] = i;
        }
        memcpy(mesh.face + 3 * n, mesh.face, 36); // the first three faces again
        for (int32_t f = 0; f < n; f++) {
            if (check_random(&seed, 0, 1) < 0.2 * (round % 3)) {
                turn(&mesh, f);
            }
        }
        cr_repair_report done;
        cr_repair_options options = cr_repair_default();
        CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK);
        CHECK(done.duplicate_faces == 3 && done.welded_vertices >= 3 * n - good.vertex_count);
        cr_check_report r = run(&mesh);
        CHECK(defects(&r) == 0 && r.has_mass && mesh.face_count == n);
        CHECK_NEAR(r.mass.volume, volume, 1e-12);
        // holes: take some faces out and have them filled
        int32_t kept = 0;
        for (int32_t f = 0; f < n; f++) {
            if (check_random(&seed, 0, 1) > 0.03) {
                memcpy(mesh.face + 3 * kept++, mesh.face + 3 * f, 12);
            }
        }
        mesh.face_count = kept;
        CHECK(!run(&mesh).closed);
        CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK);
        CHECK(done.filled_holes > 0 && done.filled_faces >= done.filled_holes);
        r = run(&mesh);
        CHECK(r.closed && r.has_mass && done.holes_left == 0);
        CHECK_NEAR(r.mass.volume, volume, 0.05 * volume);
    }
    cr_trimesh_release(&good);
    cr_trimesh_release(&mesh);
}

static void test_repair_swaps_faces_without_area(void)
{
    // a box whose edge 0-1 has a vertex in the middle on one side only: a T, closed by a flat face
    cr_trimesh mesh = {0}, extra = {0};
    CHECK(cr_solid_box(&mesh, (cr_vec3){2, 2, 2}) == CAROM_OK);
    CHECK(cr_trimesh_init(&extra, 1, 2, 0) == CAROM_OK);
    join(&mesh, &extra, (cr_vec3){0, -1, -1});
    int32_t* v = mesh.face;
    int32_t f = 0; // the face with the side 0 -> 1
    int k = 0;
    for (int32_t i = 0; i < 36; i++) {
        if (v[i] == 0 && v[i % 3 == 2 ? i - 2 : i + 1] == 1) {
            f = i / 3;
            k = i % 3;
        }
    }
    const int32_t far = v[3 * f + (k + 2) % 3];
    memcpy(v + 3 * f, (int32_t[3]){0, 8, far}, 12);
    memcpy(v + 36, (int32_t[6]){8, 1, far, 0, 1, 8}, 24);
    cr_check_report r = run(&mesh);
    CHECK(r.closed && r.defect[CR_CHECK_DEGENERATE_FACE].count == 1 && defects(&r) == 1);
    cr_repair_report done;
    const cr_repair_options options = cr_repair_default();
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK);
    CHECK(done.flattened_faces == 1 && done.filled_holes == 0 && done.turned_faces == 0);
    r = run(&mesh);
    CHECK(defects(&r) == 0 && r.has_mass && mesh.face_count == 14);
    CHECK_NEAR(r.mass.volume, 8, 1e-14);
    cr_trimesh_release(&mesh);
    cr_trimesh_release(&extra);
}

static void test_repair_keeps_to_its_options(void)
{
    cr_trimesh mesh = {0};
    cr_repair_report done;
    cr_repair_options options = {.weld = 0, .hole_edges = 39};
    CHECK(cr_sheet_rectangle(&mesh, 1, 1, 10, 10, 0, 0) == CAROM_OK);
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK);
    CHECK(done.holes_left == 1 && done.filled_holes == 0 && mesh.uv_count == 121);
    options.weld = 0.2; // so coarse that cells collapse
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK);
    CHECK(done.welded_vertices > 50 && done.collapsed_faces > 50);
    options.weld = -1;
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_ERR_ARGUMENT);
    options.weld = (double)NAN;
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_ERR_ARGUMENT);
    CHECK(cr_sheet_rectangle(&mesh, 1, 1, 4, 4, 0, 0) == CAROM_OK);
    options = cr_repair_default();
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK);
    CHECK(done.filled_holes == 1 && done.dropped_uv && mesh.uv_count == 0);
    cr_trimesh_release(&mesh);
    CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK && mesh.face_count == 0);
    cr_trimesh_release(&mesh);
}

// Random soup of every kind of trouble: whatever comes out is sound, and checks never fail.
static void test_random_soup_is_survived(void)
{
    uint64_t seed = 99;
    cr_trimesh mesh = {0};
    for (int round = 0; round < 400; round++) {
        const int32_t n = 1 + (int32_t)(check_random_bits(&seed) % 20);
        const int32_t faces = (int32_t)(check_random_bits(&seed) % 40);
        CHECK(cr_trimesh_init(&mesh, n, faces, 0) == CAROM_OK);
        for (int32_t i = 0; i < 3 * n; i++) {
            mesh.x[i] = floor(check_random(&seed, 0, 3)); // many coincide, many are collinear
        }
        for (int32_t i = 0; i < 3 * faces; i++) {
            mesh.face[i] = (int32_t)(check_random_bits(&seed) % (uint64_t)n);
        }
        (void)run(&mesh);
        cr_repair_report done;
        const cr_repair_options options = cr_repair_default();
        CHECK(cr_repair_run(&mesh, &options, &done) == CAROM_OK);
        CHECK(cr_trimesh_sound(&mesh));
        const cr_check_report r = run(&mesh);
        CHECK(r.defect[CR_CHECK_DUPLICATE_VERTEX].count == 0 || done.filled_holes > 0);
        CHECK(r.defect[CR_CHECK_UNUSED_VERTEX].count == 0);
    }
    cr_trimesh_release(&mesh);
}

static void test_every_refused_allocation_is_survived(void)
{
    cr_trimesh mesh = {0};
    cr_check_report report;
    cr_repair_report done;
    const cr_repair_options options = cr_repair_default();
    CHECK(cr_solid_box(&mesh, (cr_vec3){1, 1, 1}) == CAROM_OK);
    mesh.face_count = 11;
    turn(&mesh, 5);
    carom_status status = CAROM_ERR_MEMORY;
    int64_t n = 1;
    for (; n < 1000 && status != CAROM_OK; n++) {
        cr_memory_fail_after(n);
        status = cr_check_run(&mesh, 1, &report);
        if (status == CAROM_OK) {
            status = cr_repair_run(&mesh, &options, &done);
        }
        cr_memory_fail_after(0);
        CHECK(status == CAROM_OK || (status == CAROM_ERR_MEMORY && mesh.face_count == 11));
    }
    CHECK(status == CAROM_OK && n > 40 && mesh.face_count == 12 && run(&mesh).has_mass);
    cr_trimesh_release(&mesh);
}

int main(void)
{
    RUN(test_good_meshes_have_no_defects);
    RUN(test_every_defect_is_found_where_it_is);
    RUN(test_the_majority_is_right);
    RUN(test_a_moebius_strip_has_no_outside);
    RUN(test_inside_out_and_cavities);
    RUN(test_crossings);
    RUN(test_pinched_vertex);
    RUN(test_repair_of_wrecked_meshes);
    RUN(test_repair_swaps_faces_without_area);
    RUN(test_repair_keeps_to_its_options);
    RUN(test_random_soup_is_survived);
    RUN(test_every_refused_allocation_is_survived);
    return check_failures != 0;
}
