#include "check.h"
#include "core/memory.h"
#include "mesh/solid.h"
#include "mesh/topology.h"
#include <string.h>

static void set(cr_trimesh* mesh, const double* x, int32_t n, const int32_t* face, int32_t f)
{
    CHECK(cr_trimesh_init(mesh, n, f, 0) == CAROM_OK);
    memcpy(mesh->x, x, (size_t)n * 3 * sizeof *x);
    memcpy(mesh->face, face, (size_t)f * 3 * sizeof *face);
}

// Everything the header promises, asked face by face.
static void check_against_faces(const cr_topology* t, const cr_trimesh* mesh)
{
    CHECK(t->vertex_count == mesh->vertex_count && t->face_count == mesh->face_count);
    int32_t unsorted = 0, wrong = 0;
    for (int32_t e = 0; e < t->edge_count; e++) {
        const int32_t* v = t->edge + 2 * e;
        unsorted += !(v[0] < v[1]);
        unsorted += e > 0 && !(v[-2] < v[0] || (v[-2] == v[0] && v[-1] < v[1]));
        int32_t seen = 0, way = 0;
        for (int32_t i = 0; i < 3 * mesh->face_count; i++) {
            const int32_t p = mesh->face[i];
            const int32_t q = mesh->face[i % 3 == 2 ? i - 2 : i + 1];
            const int32_t r = mesh->face[i - i % 3 + (i + 2) % 3];
            if (!((p == v[0] && q == v[1]) || (p == v[1] && q == v[0]))) {
                continue;
            }
            wrong += t->face_edge[i] != e;
            wrong +=
                seen < 2 && (t->edge_face[2 * e + seen] != i / 3 || t->opposite[2 * e + seen] != r);
            way += p == v[0] ? 1 : -1;
            seen++;
        }
        const int kind = t->edge_kind[e];
        wrong += seen == 0;
        wrong += (kind == CR_EDGE_BOUNDARY) != (seen == 1);
        wrong += (kind == CR_EDGE_TANGLED) != (seen > 2 || (seen == 2 && way != 0));
        wrong += seen == 1 && (t->edge_face[2 * e + 1] != -1 || t->opposite[2 * e + 1] != -1);
    }
    CHECK(unsorted == 0);
    CHECK(wrong == 0);
}

static int32_t count_kind(const cr_topology* t, cr_edge_kind kind)
{
    int32_t n = 0;
    for (int32_t e = 0; e < t->edge_count; e++) {
        n += t->edge_kind[e] == kind;
    }
    return n;
}

static void test_box_has_twelve_ridges_and_six_diagonals(void)
{
    cr_trimesh mesh = {0};
    cr_topology t = {0};
    uint64_t seed = 3;
    for (int turn = 0; turn < 50; turn++) {
        const double s = pow(10, check_random(&seed, -6, 6));
        CHECK(cr_solid_box(&mesh, (cr_vec3){s, 2 * s, 3 * s}) == CAROM_OK);
        const double c = cos(turn), d = sin(turn); // any attitude, some way off the origin
        for (int32_t i = 0; i < 8; i++) {
            double* p = mesh.x + 3 * i;
            const double x = c * p[0] - d * p[1], y = d * p[0] + c * p[1];
            p[0] = x + 100 * s;
            p[1] = c * y - d * p[2];
            p[2] = d * y + c * p[2];
        }
        CHECK(cr_topology_build(&t, &mesh) == CAROM_OK);
        CHECK(t.edge_count == 18);
        CHECK(count_kind(&t, CR_EDGE_CONVEX) == 12);
        CHECK(count_kind(&t, CR_EDGE_FLAT) == 6);
        for (int32_t i = 0; i < 36; i += 3) { // inside out, the ridges are valleys
            const int32_t v = mesh.face[i];
            mesh.face[i] = mesh.face[i + 1];
            mesh.face[i + 1] = v;
        }
        CHECK(cr_topology_build(&t, &mesh) == CAROM_OK);
        CHECK(count_kind(&t, CR_EDGE_CONCAVE) == 12);
        CHECK(count_kind(&t, CR_EDGE_FLAT) == 6);
    }
    cr_topology_release(&t);
    cr_trimesh_release(&mesh);
}

static void test_bends_of_a_hinge(void)
{
    // two triangles over the edge (0,1); the second one's far vertex swings about it
    const int32_t face[6] = {0, 1, 2, 1, 0, 3};
    cr_trimesh mesh = {0};
    cr_topology t = {0};
    const struct {
        double y, z;
        cr_edge_kind kind;
    } swing[] = {
        {-1, 0, CR_EDGE_FLAT},      {-1, -1e-9, CR_EDGE_CONVEX},     {-1, 1e-9, CR_EDGE_CONCAVE},
        {-1, 1e-11, CR_EDGE_FLAT},  {0, -1, CR_EDGE_CONVEX},         {0, 1, CR_EDGE_CONCAVE},
        {1, -1e-3, CR_EDGE_CONVEX}, {1, 1e-3, CR_EDGE_CONCAVE},      {1, 0, CR_EDGE_CONVEX},
        {0, 0, CR_EDGE_CONVEX},     {(double)NAN, 0, CR_EDGE_CONVEX}};
    for (size_t i = 0; i < sizeof swing / sizeof *swing; i++) {
        const double x[12] = {0, 0, 0, 1, 0, 0, 0.3, 1, 0, 0.6, swing[i].y, swing[i].z};
        set(&mesh, x, 4, face, 2);
        CHECK(cr_topology_build(&t, &mesh) == CAROM_OK);
        CHECK(t.edge_count == 5 && t.edge[0] == 0 && t.edge[1] == 1);
        CHECK(t.edge_kind[0] == swing[i].kind);
        CHECK(count_kind(&t, CR_EDGE_BOUNDARY) == 4);
    }
    cr_topology_release(&t);
    cr_trimesh_release(&mesh);
}

static void test_tangles(void)
{
    const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1};
    const int32_t same_way[6] = {0, 1, 2, 0, 1, 3};
    const int32_t three[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
    cr_trimesh mesh = {0};
    cr_topology t = {0};
    set(&mesh, x, 5, same_way, 2);
    CHECK(cr_topology_build(&t, &mesh) == CAROM_OK);
    CHECK(count_kind(&t, CR_EDGE_TANGLED) == 1 && t.edge_kind[0] == CR_EDGE_TANGLED);
    set(&mesh, x, 5, three, 3);
    CHECK(cr_topology_build(&t, &mesh) == CAROM_OK);
    CHECK(count_kind(&t, CR_EDGE_TANGLED) == 1 && t.edge_face[0] == 0 && t.edge_face[1] == 1);
    check_against_faces(&t, &mesh);
    cr_topology_release(&t);
    cr_trimesh_release(&mesh);
}

static void test_random_soup_against_brute_force(void)
{
    uint64_t seed = 7;
    cr_trimesh mesh = {0};
    cr_topology t = {0};
    for (int round = 0; round < 200; round++) {
        const int32_t n = 3 + (int32_t)(check_random_bits(&seed) % 12);
        const int32_t f = (int32_t)(check_random_bits(&seed) % 40);
        CHECK(cr_trimesh_init(&mesh, n, f, 0) == CAROM_OK);
        for (int32_t i = 0; i < 3 * n; i++) {
            mesh.x[i] = check_random(&seed, -1, 1);
        }
        for (int32_t i = 0; i < f; i++) {
            int32_t* v = mesh.face + 3 * i;
            v[0] = (int32_t)(check_random_bits(&seed) % (uint64_t)n);
            v[1] = (v[0] + 1 + (int32_t)(check_random_bits(&seed) % (uint64_t)(n - 1))) % n;
            do {
                v[2] = (int32_t)(check_random_bits(&seed) % (uint64_t)n);
            } while (v[2] == v[0] || v[2] == v[1]);
        }
        CHECK(cr_topology_build(&t, &mesh) == CAROM_OK);
        check_against_faces(&t, &mesh);
    }
    cr_topology_release(&t);
    cr_trimesh_release(&mesh);
}

static void test_refuses_unsound_meshes(void)
{
    const double x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const int32_t bad[4][3] = {{0, 1, 1}, {0, 1, 3}, {-1, 1, 2}, {2, 1, 2}};
    cr_trimesh mesh = {0};
    cr_topology t = {0};
    for (int i = 0; i < 4; i++) {
        set(&mesh, x, 3, bad[i], 1);
        CHECK(cr_topology_build(&t, &mesh) == CAROM_ERR_MESH && t.edge == NULL);
    }
    CHECK(cr_trimesh_init(&mesh, -1, 0, 0) == CAROM_ERR_ARGUMENT && mesh.x == NULL);
    CHECK(cr_trimesh_init(&mesh, 0, CR_TRIMESH_MOST + 1, 0) == CAROM_ERR_ARGUMENT);
    CHECK(cr_trimesh_init(&mesh, 0, 0, 0) == CAROM_OK);
    CHECK(cr_topology_build(&t, &mesh) == CAROM_OK && t.edge_count == 0);
    cr_topology_release(&t);
    cr_trimesh_release(&mesh);
}

static void test_every_refused_allocation_is_survived(void)
{
    cr_trimesh mesh = {0}, copy = {0};
    cr_topology t = {0};
    carom_status status = CAROM_ERR_MEMORY;
    int64_t n = 1;
    for (; n < 100 && status != CAROM_OK; n++) {
        cr_memory_fail_after(n);
        status = cr_solid_icosphere(&mesh, 1, 1);
        if (status == CAROM_OK) {
            status = cr_trimesh_copy(&copy, &mesh);
        }
        if (status == CAROM_OK) {
            status = cr_topology_build(&t, &copy);
        }
        CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
        cr_memory_fail_after(0);
    }
    CHECK(status == CAROM_OK && n > 10 && t.edge_count == 120);
    cr_topology_release(&t);
    cr_trimesh_release(&copy);
    cr_trimesh_release(&mesh);
}

int main(void)
{
    RUN(test_box_has_twelve_ridges_and_six_diagonals);
    RUN(test_bends_of_a_hinge);
    RUN(test_tangles);
    RUN(test_random_soup_against_brute_force);
    RUN(test_refuses_unsound_meshes);
    RUN(test_every_refused_allocation_is_survived);
    return check_failures != 0;
}
