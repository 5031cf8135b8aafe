#include "check.h"
#include "core/memory.h"
#include "math/quat.h"
#include "scene/build.h"
#include "scene/goals.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static carom_error error;

static cr_model* build(const char* text)
{
    cr_scene scene = {0};
    cr_model* model = NULL;
    error = (carom_error){0};
    carom_status status = cr_scene_parse(&scene, text, strlen(text), "test.json", ".", &error);
    if (status == CAROM_OK) {
        status = cr_build_model(&scene, &model, &error);
    }
    if (status != CAROM_OK) {
        printf("%s\n", error.message);
    }
    CHECK(status == CAROM_OK && model != NULL);
    cr_scene_release(&scene);
    return model;
}

static cr_model* build_bodies(const char* bodies)
{
    static char text[20000];
    snprintf(text, sizeof text, "{\"carom\": 1, \"bodies\": [%s]}", bodies);
    return build(text);
}

// Where vertex v of a body with a frame starts.
static cr_vec3 placed(const cr_model* m, int32_t v)
{
    const size_t f = (size_t)m->bodies.frame[m->bodies.vertex_body[v]];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * f));
    return cr_vec3_add(cr_mat3_apply(r, cr_vec3_load(m->bodies.p + 3 * (size_t)v)),
                       cr_vec3_load(m->t0 + 3 * f));
}

// A box takes its three sizes in one; what other shapes call size is theirs.
static void test_size_of_what_is_no_box(void)
{
    cr_model* m = build_bodies("{\"mesh\": {\"figurine\": {\"size\": 0.3, \"resolution\": 9}}}");
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int32_t v = 0; v < m->bodies.vertex_count; v++) {
        least = fmin(least, placed(m, v).x);
        most = fmax(most, placed(m, v).x);
    }
    CHECK_NEAR(most - least, 0.3, 1e-12);
    cr_model_destroy(m);
}

static void test_a_box_on_the_ground(void)
{
    cr_model* m = build("{\"carom\": 1, // the smallest scene\n"
                        " \"world\": {\"gravity\": [0, 0, -10]},\n"
                        " \"bodies\": [\n"
                        "  {\"name\": \"ground\", \"type\": \"fixed\", \"mesh\": {\"sheet\": "
                        "{\"width\": 4, \"height\": 4, \"nx\": 1, \"ny\": 1}}},\n"
                        "  {\"name\": \"crate\", \"mesh\": {\"box\": {\"size\": [1, 2, 3]}}, "
                        "\"density\": 10,\n"
                        "   \"position\": [0, 0, 2], \"velocity\": [1, 2, 3], "
                        "\"angular_velocity\": [0, 0, 1]}]}");
    if (!m) {
        return;
    }
    CHECK(m->bodies.body_count == 2 && m->bodies.vertex_count == 12);
    CHECK_NEAR(m->world.gravity[2], -10, 0);
    CHECK_NEAR(m->bodies.mass[1], 60, 1e-12);
    const double* i = m->bodies.inertia + 3;
    CHECK_NEAR(i[0], 5 * (4 + 9), 1e-11);
    CHECK_NEAR(i[1], 5 * (1 + 9), 1e-11);
    CHECK_NEAR(i[2], 5 * (1 + 4), 1e-11);
    CHECK(m->surface.edge_count == 4 + 12 && m->surface.face_count == 14);
    CHECK_NEAR(m->bodies.radius[1], 5e-4 * 3, 1e-15);
    CHECK_NEAR(m->bodies.radius[0], 0, 0);
    CHECK_NEAR(m->bodies.extent[1], sqrt(0.25 + 1 + 2.25) + 1.5e-3 + m->bodies.width[1], 1e-12);
    CHECK_NEAR(m->v0[3] + 10 * m->v0[4] + 100 * m->v0[5], 321, 1e-12);
    const cr_vec3 spin =
        cr_mat3_apply(cr_quat_to_matrix(cr_quat_load(m->q0 + 4)), cr_vec3_load(m->om0 + 3));
    CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(spin, (cr_vec3){0, 0, 1})), 0, 1e-14);
    CHECK(m->surface.body_flags[0] == CR_SURFACE_FIXED && m->surface.body_flags[1] == 0);
    CHECK(m->surface.body_group[0] == -1);
    CHECK(m->note_count == 0);
    cr_model_destroy(m);
}

// x = R S v + position for every way to say R and S, with vertices in the order of the mesh.
static void test_vertices_start_where_the_scene_says(void)
{
    static const char* const turns[] = {"\"euler_degrees\": [20, -35, 70]",
                                        "\"rotation\": [0.3, -0.5, 1.1]",
                                        "\"rotation\": {\"axis\": [0, 3, 4], \"degrees\": 80}",
                                        "\"rotation\": {\"axis\": [0, 3, 4], \"radians\": -0.7}",
                                        "\"quaternion\": [2, 1, -1, 0.5]"};
    static const double v[4][3] = {
        {0.1, 0.2, 0.3}, {1.1, 0.2, 0.3}, {0.1, 1.4, 0.3}, {0.1, 0.2, 1}};
    const double d = 3.14159265358979323846 / 180;
    const cr_quat wanted[] = {
        cr_quat_mul(cr_quat_from_rotation((cr_vec3){0, 0, 70 * d}),
                    cr_quat_mul(cr_quat_from_rotation((cr_vec3){0, -35 * d, 0}),
                                cr_quat_from_rotation((cr_vec3){20 * d, 0, 0}))),
        cr_quat_from_rotation((cr_vec3){0.3, -0.5, 1.1}),
        cr_quat_from_rotation((cr_vec3){0, 0.6 * 80 * d, 0.8 * 80 * d}),
        cr_quat_from_rotation((cr_vec3){0, -0.6 * 0.7, -0.8 * 0.7}),
        cr_quat_normalize((cr_quat){2, 1, -1, 0.5})};
    for (int kind = 0; kind < 3; kind++) {
        for (int t = 0; t < 5; t++) {
            static const char* const types[] = {"rigid", "fixed", "kinematic"};
            char text[1000];
            snprintf(text, sizeof text,
                     "{\"type\": \"%s\", \"mesh\": {\"vertices\": [[0.1,0.2,0.3],[1.1,0.2,0.3],"
                     "[0.1,1.4,0.3],[0.1,0.2,1]], \"faces\": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]]}, "
                     "\"scale\": [1, -2, 0.5], \"position\": [3, -4, 5], %s}",
                     types[kind], turns[t]);
            cr_model* m = build_bodies(text);
            if (!m) {
                return;
            }
            const cr_mat3 r = cr_quat_to_matrix(wanted[t]);
            for (int i = 0; i < 4; i++) {
                const cr_vec3 s = {v[i][0], -2 * v[i][1], 0.5 * v[i][2]};
                const cr_vec3 x = cr_vec3_add(cr_mat3_apply(r, s), (cr_vec3){3, -4, 5});
                CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(placed(m, i), x)), 0, 1e-13);
                const cr_vec3 own =
                    cr_vec3_add(cr_mat3_apply(cr_quat_to_matrix(cr_quat_load(m->own_q)), s),
                                cr_vec3_load(m->own_t));
                CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(own, cr_vec3_load(m->bodies.p + 3 * i))), 0,
                           1e-13);
            }
            // a mirror keeps the outside outside: the mass is positive
            CHECK(kind != 0 || fabs(m->bodies.mass[0] - 1000 * 1.2 * 0.7 / 6) < 1e-10);
            cr_model_destroy(m);
        }
    }
}

static void test_centre_as_origin(void)
{
    cr_model* m = build_bodies("{\"mesh\": {\"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "
                               "\"faces\": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]]}, \"origin\": "
                               "\"center\", \"position\": [1, 2, 3]}");
    if (m) {
        CHECK_NEAR(m->t0[0], 1, 1e-15);
        CHECK_NEAR(placed(m, 0).x, 1 - 0.25, 1e-14);
        cr_model_destroy(m);
    }
}

// The exact shapes weigh what their triangulated likenesses weigh in the limit.
static void test_sphere_and_capsule_are_exact(void)
{
    cr_model* m = build_bodies(
        "{\"sphere\": {\"radius\": 0.3}, \"density\": 500},"
        "{\"mesh\": {\"sphere\": {\"radius\": 0.3, \"subdivisions\": 6}}, \"density\": 500, "
        "\"position\": [2, 0, 0]},"
        "{\"capsule\": {\"radius\": 0.2, \"length\": 0.7}, \"density\": 500, "
        "\"position\": [4, 0, 0]},"
        "{\"mesh\": {\"capsule\": {\"radius\": 0.2, \"length\": 0.7, \"segments\": 200, "
        "\"rings\": 80}}, \"density\": 500, \"position\": [6, 0, 0]}");
    if (!m) {
        return;
    }
    CHECK(m->bodies.vertex[1] == 1 && m->surface.body_face[1] == 0 && m->surface.body_edge[1] == 0);
    CHECK(m->surface.body_edge[3] - m->surface.body_edge[2] == 1);
    CHECK(m->surface.body_face[3] == m->surface.body_face[2]);
    CHECK_NEAR(m->bodies.radius[0], 0.3, 0);
    CHECK_NEAR(m->bodies.radius[2], 0.2, 0);
    for (int exact = 0; exact <= 2; exact += 2) {
        const double* a = m->bodies.inertia + 3 * exact;
        const double* b = a + 3;
        CHECK_NEAR(m->bodies.mass[exact + 1] / m->bodies.mass[exact], 1, 1e-3);
        CHECK_NEAR((b[0] + b[1] + b[2]) / (a[0] + a[1] + a[2]), 1, 1e-3);
        CHECK_NEAR(fmax(b[0], fmax(b[1], b[2])) / fmax(a[0], fmax(a[1], a[2])), 1, 1e-3);
    }
    CHECK_NEAR(m->bodies.inertia[0], 0.4 * m->bodies.mass[0] * 0.09, 1e-12);
    cr_model_destroy(m);
}

static void test_given_mass_inertia_and_centre(void)
{
    cr_model* m = build_bodies(
        "{\"mesh\": {\"box\": {\"size\": [1, 1, 1]}}, \"mass\": 3},"
        "{\"mesh\": {\"box\": {\"size\": [1, 1, 1]}}, \"mass\": 2, \"inertia\": [1, 1, 1, 0.5, 0, "
        "0], \"center_of_mass\": [0.1, 0, 0], \"position\": [3, 0, 0]},"
        "{\"mesh\": {\"sheet\": {\"nx\": 1, \"ny\": 1}}, \"mass\": 2, \"inertia\": [1, 1, 1.5], "
        "\"position\": [6, 0, 0]}");
    if (!m) {
        return;
    }
    CHECK_NEAR(m->bodies.mass[0], 3, 0);
    CHECK_NEAR(m->bodies.inertia[0], 0.5, 1e-12);
    CHECK_NEAR(m->bodies.inertia[3], 0.5, 1e-12);
    CHECK_NEAR(m->bodies.inertia[4], 1, 1e-12);
    CHECK_NEAR(m->bodies.inertia[5], 1.5, 1e-12);
    CHECK_NEAR(m->t0[3], 3.1, 1e-15);
    CHECK_NEAR(placed(m, 8).x, 3 - 0.5, 1e-14);
    CHECK_NEAR(m->bodies.mass[2], 2, 0);
    cr_model_destroy(m);
}

// Inset by r: every face of a box and of a wedge ends r inside its old plane.
static void test_inset_moves_faces_inward_by_the_thickness(void)
{
    static const char* const meshes[] = {
        "{\"box\": {\"size\": [1, 2, 3]}}",
        ("{\"vertices\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "
         "\"faces\": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]]}"),
        "{\"cylinder\": {\"radius\": 0.5, \"height\": 1, \"segments\": 7, \"stacks\": 3}}",
        "{\"sphere\": {\"radius\": 0.5, \"subdivisions\": 2}}"};
    for (int i = 0; i < 4; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "{\"mesh\": %s, \"type\": \"fixed\"}, {\"mesh\": %s, \"type\": \"fixed\", "
                 "\"inset\": true, \"thickness\": 0.01}",
                 meshes[i], meshes[i]);
        cr_model* m = build_bodies(text);
        if (!m) {
            return;
        }
        const int32_t faces = m->surface.body_face[1], shift = m->bodies.vertex[1];
        for (int32_t f = 0; f < faces; f++) {
            cr_vec3 x[3], y[3];
            for (int k = 0; k < 3; k++) {
                const int32_t v = m->surface.face[3 * f + k];
                x[k] = cr_vec3_load(m->bodies.p + 3 * v);
                y[k] = cr_vec3_load(m->bodies.p + 3 * (v + shift));
            }
            cr_vec3 n = cr_vec3_cross(cr_vec3_sub(x[1], x[0]), cr_vec3_sub(x[2], x[0]));
            n = cr_vec3_scale(1 / cr_vec3_norm(n), n);
            for (int k = 0; k < 3; k++) {
                // a sphere's corners have more than three planes: least squares only
                CHECK_NEAR(cr_vec3_dot(n, cr_vec3_sub(y[k], x[k])), -0.01, i == 3 ? 3e-4 : 1e-12);
            }
        }
        cr_model_destroy(m);
    }
}

static void test_copies(void)
{
    cr_model* m = build_bodies(
        "{\"name\": \"b\", \"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1]}}, \"position\": [1, 2, "
        "3], \"copies\": {\"count\": [3, 2, 2], \"spacing\": [0.5, 0.6, 0.7], \"jitter\": [0.1, 0, "
        "0.1], \"seed\": 4}, \"force\": [0, 0, 1]}");
    if (!m) {
        return;
    }
    CHECK(m->bodies.body_count == 12 && m->load_count == 12);
    CHECK(strcmp(m->name[0], "b[0]") == 0 && strcmp(m->name[11], "b[11]") == 0);
    double spread = 0;
    for (int i = 0; i < 12; i++) {
        const double x = m->t0[3 * i] - (1 + 0.5 * (i % 3));
        const double z = m->t0[3 * i + 2] - (3 + 0.7 * (i / 6));
        CHECK(fabs(x) <= 0.1 && fabs(z) <= 0.1);
        CHECK_NEAR(m->t0[3 * i + 1], 2 + 0.6 * (i / 3 % 2), 1e-14);
        spread += fabs(x) + fabs(z);
    }
    CHECK(spread > 0.3);
    int32_t first, count;
    CHECK(cr_build_find(m, "b", &first, &count) && first == 0 && count == 12);
    CHECK(cr_build_find(m, "b[7]", &first, &count) && first == 7 && count == 1);
    CHECK(!cr_build_find(m, "b[12]", &first, &count) && !cr_build_find(m, "", &first, &count));
    cr_model_destroy(m);
}

static void test_materials_and_pairs(void)
{
    cr_model* m = build(
        "{\"carom\": 1, \"world\": {\"friction\": 0.1, \"thickness\": 0.003},"
        " \"materials\": {\"ice\": {\"friction\": 0.04, \"density\": 900, \"thickness\": 0.002}},"
        " \"bodies\": ["
        " {\"name\": \"a\", \"mesh\": {\"box\": {}}, \"material\": \"ice\", \"restitution\": 0.5},"
        " {\"name\": \"b\", \"mesh\": {\"box\": {}}, \"friction\": 0.25, \"position\": [2, 0, 0]},"
        " {\"name\": \"c\", \"mesh\": {\"box\": {}}, \"material\": \"ice\", \"friction\": 1,"
        "  \"density\": 100, \"thickness\": 0.001, \"position\": [4, 0, 0], \"group\": 3}],"
        " \"pairs\": [{\"between\": [\"c\", \"a\"], \"friction\": 0.7, \"thickness\": 0.01}]}");
    if (!m) {
        return;
    }
    CHECK_NEAR(m->bodies.mass[0], 900, 1e-9);
    CHECK_NEAR(m->bodies.mass[1], 1000, 1e-9);
    CHECK_NEAR(m->bodies.mass[2], 100, 1e-9);
    CHECK_NEAR(cr_model_friction(m, 0, 1), sqrt(0.04 * 0.25), 1e-15);
    CHECK_NEAR(cr_model_friction(m, 2, 0), 0.7, 0);
    CHECK_NEAR(cr_model_friction(m, 1, 2), 0.5, 1e-15);
    CHECK_NEAR(cr_model_restitution(m, 0, 2), 0.5, 0);
    CHECK_NEAR(cr_model_thickness(m, 0, 1), 0.005, 1e-15);
    CHECK_NEAR(cr_model_reach(m, 0, 1), 0.005 + m->bodies.width[0] + m->bodies.width[1], 1e-15);
    CHECK_NEAR(cr_model_thickness(m, 0, 2), 0.01, 0);
    CHECK_NEAR(cr_model_thickness(m, 1, 2), 0.004, 1e-15);
    CHECK(m->surface.body_group[2] == 3);
    cr_model_destroy(m);
}

static void test_loads_and_locks(void)
{
    cr_model* m = build_bodies(
        "{\"mesh\": {\"box\": {}}, \"force\": [1, 0, 0], \"forces\": [[0, 1, 0], [0, 2, 0]], "
        "\"torques\": [[0, 0, 1], [0, 0, 2], [0, 0, 3]], \"lock\": [\"x\", \"rz\"], "
        "\"linear_damping\": 0.5, \"angular_damping\": 0.25},"
        "{\"mesh\": {\"box\": {}}, \"position\": [3, 0, 0]}");
    if (!m) {
        return;
    }
    CHECK(m->load_count == 1 && m->load[0].step_count == 3 && m->load[0].node == -1);
    CHECK_NEAR(m->load[0].force[0], 1, 0);
    CHECK_NEAR(m->load[0].force[3 + 1], 2, 0);
    CHECK_NEAR(m->load[0].force[6 + 1], 2, 0); // the last one holds
    CHECK_NEAR(m->load[0].torque[6 + 2], 3, 0);
    CHECK(m->bodies.lock[0] == (CR_LOCK_X | CR_LOCK_RZ) && m->bodies.lock[1] == 0);
    CHECK_NEAR(m->linear_damping[0], 0.5, 0);
    CHECK_NEAR(m->angular_damping[0], 0.25, 0);
    cr_model_destroy(m);
}

static void test_scripts(void)
{
    cr_model* m = build_bodies(
        "{\"type\": \"kinematic\", \"mesh\": {\"box\": {}}, \"script\": {\"smooth\": true, "
        "\"keys\": "
        "[{\"time\": 1, \"shift\": [0, 0, 1]}, {\"time\": 2, \"shift\": [0, 0, 3], \"turn\": [0, "
        "0, 2]}, {\"time\": 4, \"shift\": [0, 0, 4]}]}},"
        "{\"type\": \"kinematic\", \"mesh\": {\"box\": {}}, \"position\": [3, 0, 0], \"script\": "
        "{\"velocity\": [1, 2, 3], \"angular_velocity\": [0, 0, 4], \"until\": 2}},"
        "{\"type\": \"kinematic\", \"mesh\": {\"box\": {}}, \"position\": [6, 0, 0], \"script\": "
        "{\"velocity\": [1, 0, 0]}},"
        "{\"type\": \"kinematic\", \"mesh\": {\"box\": {}}, \"position\": [9, 0, 0]}");
    if (!m) {
        return;
    }
    cr_vec3 s, t;
    CHECK(m->frame_script[0] == 0 && m->frame_script[1] == 1 && m->frame_script[3] == -1);
    cr_model_script_at(&m->script[0], 0, &s, &t);
    CHECK_NEAR(s.z, 1, 0);
    cr_model_script_at(&m->script[0], 2, &s, &t);
    CHECK_NEAR(s.z, 3, 1e-15);
    CHECK_NEAR(t.z, 2, 1e-15);
    cr_model_script_at(&m->script[0], 9, &s, &t);
    CHECK_NEAR(s.z, 4, 1e-15);
    CHECK_NEAR(t.z, 0, 1e-15);
    // smooth: once differentiable at the keys, at rest at both ends
    const double h = 1e-6;
    static const double keys[] = {1, 2, 4}, slopes[] = {0, 1, 0};
    for (int k = 0; k < 3; k++) {
        cr_vec3 a, b, c;
        cr_model_script_at(&m->script[0], keys[k] - h, &a, &t);
        cr_model_script_at(&m->script[0], keys[k], &b, &t);
        cr_model_script_at(&m->script[0], keys[k] + h, &c, &t);
        CHECK_NEAR((b.z - a.z) / h, slopes[k], 1e-5);
        CHECK_NEAR((c.z - b.z) / h, slopes[k], 1e-5);
    }
    cr_model_script_at(&m->script[1], 0.5, &s, &t);
    CHECK_NEAR(s.x + 10 * s.y + 100 * s.z, 0.5 + 10 + 150, 1e-12);
    CHECK_NEAR(t.z, 2, 1e-12);
    cr_model_script_at(&m->script[1], 50, &s, &t);
    CHECK_NEAR(s.x, 2, 1e-15);
    cr_model_script_at(&m->script[2], 123.456, &s, &t);
    CHECK_NEAR(s.x, 123.456, 1e-12);
    cr_model_destroy(m);
}

static void test_cloth(void)
{
    cr_model* m = build_bodies(
        "{\"name\": \"box\", \"mesh\": {\"box\": {}}},"
        "{\"name\": \"rag\", \"type\": \"cloth\", \"mesh\": {\"sheet\": {\"width\": 1, \"height\": "
        "2, \"nx\": 4, \"ny\": 8}}, \"position\": [0, 0, 3], \"density\": 0.5, \"stretch\": 100, "
        "\"poisson\": 0.25, \"bend\": 0.01, \"velocity\": [0, 0, 1], \"copies\": {\"count\": [1, "
        "1, "
        "2], \"spacing\": [0, 0, 1]}, \"pins\": [{\"nodes\": \"corners\"}, {\"nodes\": "
        "{\"nearest\": [0, 0, 3]}, \"script\": {\"velocity\": [0, 0, 1]}}], \"node_forces\": "
        "[{\"nodes\": [7, 8], \"force\": [0, 0, 2]}]}");
    if (!m) {
        return;
    }
    CHECK(m->sheet_count == 2 && m->bodies.node_count == 90 && m->bodies.frame_count == 1);
    CHECK(m->sheet_body[1] == 2 && m->body_sheet[2] == 1 && m->body_sheet[0] == -1);
    CHECK(m->sheet_node[1] == 45 && m->sheet_node[2] == 90);
    CHECK(m->surface.body_flags[1] == CR_SURFACE_SOFT);
    CHECK(m->surface.body_edge[2] - m->surface.body_edge[1] == 4 * 9 + 8 * 5 + 32);
    double mass = 0;
    int pinned = 0, scripted = 0;
    for (int i = 0; i < 45; i++) {
        mass += m->bodies.node_mass[i];
        pinned += m->bodies.node_pinned[i] != 0;
        scripted += m->node_script[i] >= 0;
        CHECK_NEAR(m->xv0[3 * i + 2], 1, 0);
        CHECK_NEAR(m->x0[3 * i + 2], 3, 0);
        CHECK_NEAR(m->x0[3 * (i + 45) + 2], 4, 0);
        CHECK(m->bodies.node_vertex[i] == 8 + i && m->bodies.node[8 + i] == i);
    }
    CHECK_NEAR(mass, 1, 1e-14);
    CHECK(pinned == 5 && scripted == 1);
    CHECK(m->bodies.node_pinned[0] && m->bodies.node_pinned[4] && m->bodies.node_pinned[40] &&
          m->bodies.node_pinned[44] && m->bodies.node_pinned[22]);
    CHECK(m->node_script[22] >= 0 && m->node_script[0] == -1);
    CHECK_NEAR(m->material[0].bend, 0.01, 0);
    CHECK_NEAR(m->material[1].c11, 100 / (1 - 0.0625), 1e-12);
    CHECK_NEAR(m->material[1].c33, 100 / 2.5, 1e-12);
    CHECK(m->load_count == 4 && m->load[0].node == 7 && m->load[2].node == 45 + 7);
    CHECK_NEAR(m->bodies.radius[1], 5e-4 * 2, 1e-15);
    CHECK(m->note_count == 0);
    cr_model_destroy(m);
}

static void test_rest_shape(void)
{
    static const char* const rests[] = {"\"rest\": \"mesh\"", "\"rest\": \"uv\"",
                                        "\"rest\": \"mesh\", \"rest_scale\": 0.5"};
    static const double areas[] = {0.5, 2, 0.125};
    for (int i = 0; i < 3; i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "{\"type\": \"cloth\", \"mesh\": {\"vertices\": [[0,0,0],[1,0,0],[0,1,0]], "
                 "\"faces\": [[0,1,2]], \"uv\": [[0,0],[2,0],[0,2]]}, %s, \"density\": 1}",
                 rests[i]);
        cr_model* m = build_bodies(text);
        if (m) {
            CHECK_NEAR(3 * m->bodies.node_mass[0], areas[i], 1e-14);
            cr_model_destroy(m);
        }
    }
}

static void test_close_starts_are_narrowed_with_a_note(void)
{
    cr_model* m = build_bodies("{\"name\": \"a\", \"mesh\": {\"box\": {}}},"
                               "{\"name\": \"b\", \"mesh\": {\"box\": {}}, \"position\": [0, 0, "
                               "1.0004]},"
                               "{\"name\": \"c\", \"mesh\": {\"box\": {}}, \"position\": [0, 0, "
                               "2.1]},"
                               "{\"name\": \"d\", \"mesh\": {\"box\": {}}, \"inset\": true, "
                               "\"thickness\": 0.01, \"position\": [5, 0, 0]},"
                               "{\"name\": \"e\", \"mesh\": {\"box\": {}}, \"inset\": true, "
                               "\"thickness\": 0.01, \"position\": [6, 0, 0]}");
    if (!m) {
        return;
    }
    CHECK_NEAR(cr_model_reach(m, 0, 1), 0.0004, 1e-15);
    CHECK_NEAR(cr_model_thickness(m, 2, 1), 0.001, 1e-15);
    CHECK_NEAR(cr_model_thickness(m, 3, 4), 0.02, 1e-12); // drawn face to face, and just touching
    CHECK_NEAR(cr_model_friction(m, 0, 1), 0.5, 1e-15);
    CHECK(m->note_count == 1 && strstr(m->note[0], "\"a\" and \"b\"") != NULL);
    cr_model_destroy(m);
}

static void test_poisson_alone_is_told(void)
{
    const char* sheet = "\"type\": \"cloth\", \"mesh\": {\"sheet\": {}}, \"poisson\": 0.4";
    char text[400];
    snprintf(text, sizeof text, "{%s}, {%s, \"stretch\": 100, \"position\": [0, 0, 1]}", sheet,
             sheet);
    cr_model* m = build_bodies(text);
    if (!m) {
        return;
    }
    CHECK(m->note_count == 1 && strstr(m->note[0], "bodies[0]: its poisson does nothing") != NULL);
    cr_model_destroy(m);
}

static void test_edits(void)
{
    static const char text[] = "{\"carom\": 1, \"bodies\": [{\"name\": \"crate\", \"mesh\": "
                               "{\"box\": {}}, \"velocity\": [1, 2, 3]}]}";
    static const char* const edits[][2] = {
        {"bodies.crate.mass", "2.5"},
        {"world.dt", "0.002"},
        {"bodies[0].velocity[1]", "7"},
        {"world.zones", "global"},
        {"bodies.crate.mesh", "{\"box\": {\"size\": [1, 1, 2]}}"},
        {"materials.ice.friction", "0.25"},
        {"bodies.crate.material", "ice"},
        {"bodies.crate.name", "chest"},
        {"bodies.chest.restitution", "0.5"}};
    cr_scene scene = {0};
    cr_model* m = NULL;
    CHECK(cr_scene_parse(&scene, text, strlen(text), "s", ".", &error) == CAROM_OK);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        if (cr_scene_set(&scene, edits[i][0], edits[i][1], &error) != CAROM_OK) {
            CHECK(!"an edit is accepted");
            printf("%s\n", error.message);
        }
    }
    CHECK(cr_build_model(&scene, &m, &error) == CAROM_OK);
    if (m) {
        CHECK_NEAR(m->bodies.mass[0], 2.5, 0);
        CHECK_NEAR(m->world.dt, 0.002, 0);
        CHECK_NEAR(m->v0[1], 7, 0);
        CHECK_NEAR(m->v0[2], 3, 0);
        CHECK(m->world.one_zone == 1);
        CHECK_NEAR(m->bodies.friction[0], 0.25, 0);
        CHECK_NEAR(m->bodies.restitution[0], 0.5, 0);
        CHECK_NEAR(m->bodies.radius[0], 1e-3, 1e-15);
        CHECK(strcmp(m->name[0], "chest") == 0);
    }
    // saved and read again it is the same scene
    char *once = NULL, *twice = NULL;
    size_t length;
    cr_scene again = {0};
    CHECK(cr_json_write(&scene.json, 0, &once, &length) == CAROM_OK);
    CHECK(cr_scene_parse(&again, once, length, "s", ".", &error) == CAROM_OK);
    CHECK(cr_json_write(&again.json, 0, &twice, &length) == CAROM_OK);
    CHECK(once && twice && strcmp(once, twice) == 0);
    cr_memory_free(once);
    cr_memory_free(twice);
    cr_scene_release(&again);
    cr_scene_release(&scene);
    cr_model_destroy(m);
}

static void test_goals(void)
{
    static const char text[] =
        "{\"carom\": 1, \"bodies\": [{\"name\": \"box\", \"mesh\": {\"vertices\": "
        "[[0,0,0],[1,0,0],[0,1,0],[0,0,1]], \"faces\": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]]}},"
        "{\"name\": \"rag\", \"type\": \"cloth\", \"mesh\": {\"sheet\": {}}, \"position\": [0, 0, "
        "3], \"copies\": {\"count\": [1, 1, 2], \"spacing\": [0, 0, 1]}}],"
        "\"objective\": {\"terms\": ["
        "{\"what\": \"position\", \"of\": \"box\", \"point\": [1, 0, 0], \"target\": [1, 2, 3], "
        "\"weight\": 2, \"axes\": [1, 1, 0], \"norm\": \"norm\"},"
        "{\"what\": \"velocity\", \"of\": \"rag[1]\", \"node\": 5, \"at\": [0.5, 1], \"target\": "
        "[[1, 2, 3], [4, 5, 6]]},"
        "{\"what\": \"energy\", \"at\": \"always\", \"target\": 4},"
        "{\"what\": \"rotation\", \"of\": \"box\"},"
        "{\"what\": \"momentum\"}]},"
        "\"parameters\": [{\"what\": \"gravity\"}, {\"of\": \"rag\", \"what\": \"bend\", \"min\": "
        "0}, {\"of\": \"box\", \"what\": \"forces\", \"start\": [0, 0, 1]}]}";
    cr_scene scene = {0};
    cr_model* m = NULL;
    cr_goal goal = {0};
    CHECK(cr_scene_parse(&scene, text, strlen(text), "s", ".", &error) == CAROM_OK);
    CHECK(cr_build_model(&scene, &m, &error) == CAROM_OK);
    const carom_status status = m ? cr_goals_build(&scene, m, &goal, &error) : CAROM_ERR_MISUSE;
    CHECK(status == CAROM_OK);
    if (status != CAROM_OK) {
        printf("%s\n", error.message);
    } else {
        const cr_goal_term* t = goal.term;
        CHECK(goal.term_count == 5 && goal.parameter_count == 4);
        CHECK(t[0].what == CR_GOAL_POSITION && t[0].norm == CR_GOAL_NORM && t[0].weight == 2);
        CHECK_NEAR(t[0].target[2], 3, 0);
        const cr_vec3 vertex = cr_vec3_load(m->bodies.p + 3); // the point is vertex 1
        const int32_t f = m->bodies.frame[t[0].body];
        const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * f));
        const cr_vec3 at = cr_vec3_add(cr_mat3_apply(own, cr_vec3_load(t[0].point)),
                                       cr_vec3_load(m->own_t + 3 * f));
        CHECK(t[0].aside);
        CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(at, vertex)), 0, 1e-14);
        CHECK(t[1].when == CR_GOAL_TIMES && t[1].time_count == 2 && t[1].body == 2);
        CHECK(t[1].node == m->sheet_node[1] + 5);
        CHECK_NEAR(t[1].target[4], 5, 0);
        CHECK(t[2].when == CR_GOAL_OVER && t[2].numbers == 1 && t[2].target[0] == 4);
        CHECK(t[3].numbers == 4 && t[3].target[0] == 1 && t[4].body == -1);
        CHECK(goal.parameter[0].body == -1 && goal.parameter[2].body == 2);
        CHECK(goal.parameter[1].what == CR_GOAL_OF_BEND && goal.parameter[1].min_count == 1);
        CHECK(goal.parameter[3].start_count == 3 || goal.parameter[3].start_count == 0);
        CHECK(strcmp(cr_goal_parameter_name(goal.parameter[3].what), "forces") == 0);
    }
    cr_goal_release(&goal);
    cr_model_destroy(m);
    cr_scene_release(&scene);
}

// Every allocation of a build refused in turn: told cleanly, nothing left behind (the sanitizer
// looks).
static void test_refused_memory(void)
{
    static const char text[] =
        "{\"carom\": 1, \"materials\": {\"m\": {\"friction\": 1}}, \"bodies\": ["
        "{\"name\": \"box\", \"mesh\": {\"box\": {}}, \"inset\": true, \"force\": [1, 0, 0], "
        "\"torque\": [1, 0, 0]},"
        "{\"name\": \"near\", \"mesh\": {\"box\": {}, \"repair\": true}, \"position\": [0, 0, "
        "1.00001]},"
        "{\"name\": \"rag\", \"type\": \"cloth\", \"mesh\": {\"sheet\": {\"nx\": 2, \"ny\": 2}}, "
        "\"position\": [0, 0, 4], \"copies\": {\"count\": [2, 1, 1], \"spacing\": [2, 0, 0]}, "
        "\"pins\": [{\"nodes\": \"corners\", \"script\": {\"velocity\": [1, 0, 0]}}], "
        "\"node_forces\": [{\"nodes\": [4], \"force\": [1, 0, 0]}]},"
        "{\"name\": \"arm\", \"type\": \"kinematic\", \"mesh\": {\"box\": {}}, \"position\": [9, "
        "0, "
        "0], \"script\": {\"keys\": [{\"time\": 0}, {\"time\": 1}]}}],"
        "\"pairs\": [{\"between\": [\"box\", \"arm\"], \"friction\": 0}],"
        "\"objective\": {\"terms\": [{\"what\": \"position\", \"of\": \"box\", \"at\": [1]}]},"
        "\"parameters\": [{\"of\": \"rag\", \"what\": \"bend\", \"min\": 0, \"max\": 1}]}";
    int refused = 0, done = 0;
    for (int n = 1; n < 4000 && !done; n++) {
        cr_scene scene = {0};
        cr_model* m = NULL;
        cr_goal goal = {0};
        cr_memory_fail_after(n);
        carom_status status = cr_scene_parse(&scene, text, strlen(text), "s", ".", &error);
        if (status == CAROM_OK) {
            status = cr_build_model(&scene, &m, &error);
        }
        if (status == CAROM_OK) {
            status = cr_goals_build(&scene, m, &goal, &error);
        }
        cr_memory_fail_after(0);
        CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
        if (status != CAROM_OK && status != CAROM_ERR_MEMORY) {
            printf("%d: %s\n", n, error.message);
        }
        refused += status == CAROM_ERR_MEMORY;
        done = status == CAROM_OK;
        cr_goal_release(&goal);
        cr_model_destroy(m);
        cr_scene_release(&scene);
    }
    CHECK(done && refused > 100);
}

static void test_examples_build(void)
{
    DIR* folder = opendir(CAROM_SOURCE "/examples");
    int count = 0;
    CHECK(folder != NULL);
    for (struct dirent* entry; folder && (entry = readdir(folder));) {
        const char* end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".json") != 0) {
            continue;
        }
        char path[1000];
        cr_scene scene = {0};
        cr_model* m = NULL;
        cr_goal goal = {0};
        snprintf(path, sizeof path, "%s/examples/%s", CAROM_SOURCE, entry->d_name);
        carom_status status = cr_scene_load(&scene, path, &error);
        if (status == CAROM_OK) {
            status = cr_build_model(&scene, &m, &error);
        }
        if (status == CAROM_OK) {
            status = cr_goals_build(&scene, m, &goal, &error);
        }
        if (status != CAROM_OK) {
            printf("%s\n", error.message);
        }
        for (int32_t i = 0; m && i < m->note_count; i++) {
            printf("%s: %s\n", entry->d_name, m->note[i]);
        }
        CHECK(status == CAROM_OK);
        CHECK(!m || m->note_count == 0);
        count++;
        cr_goal_release(&goal);
        cr_model_destroy(m);
        cr_scene_release(&scene);
    }
    if (folder) {
        closedir(folder);
    }
    CHECK(count >= 5);
}

int main(void)
{
    RUN(test_a_box_on_the_ground);
    RUN(test_size_of_what_is_no_box);
    RUN(test_vertices_start_where_the_scene_says);
    RUN(test_centre_as_origin);
    RUN(test_sphere_and_capsule_are_exact);
    RUN(test_given_mass_inertia_and_centre);
    RUN(test_inset_moves_faces_inward_by_the_thickness);
    RUN(test_copies);
    RUN(test_materials_and_pairs);
    RUN(test_loads_and_locks);
    RUN(test_scripts);
    RUN(test_cloth);
    RUN(test_rest_shape);
    RUN(test_close_starts_are_narrowed_with_a_note);
    RUN(test_poisson_alone_is_told);
    RUN(test_edits);
    RUN(test_goals);
    RUN(test_refused_memory);
    RUN(test_examples_build);
    return check_failures != 0;
}
