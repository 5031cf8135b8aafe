#include "check.h"
#include "core/memory.h"
#include "scene/arcsim.h"
#include "scene/build.h"
#include <string.h>

static void check_cloth(const cr_model* m)
{
    const cr_cloth_material* c = &m->material[0];
    double mass = 0;
    for (int32_t i = 0; i < m->bodies.node_count; i++) {
        mass += m->bodies.node_mass[i];
    }
    CHECK_NEAR(mass, 0.2 * 4, 1e-14); // the transform makes the sheet 2 m wide, at rest too
    CHECK_NEAR(c->c11, 60, 1e-12);
    CHECK_NEAR(c->c12, -20, 1e-12);
    CHECK_NEAR(c->c22, 80, 1e-12);
    CHECK_NEAR(c->c33, 10, 1e-12);
    CHECK_NEAR(c->bend, 6 * 24e-6 / 12, 1e-18);
    CHECK_NEAR(c->damping, 0.001, 0);
    CHECK_NEAR(c->drag_normal, 1.5, 0);
    CHECK_NEAR(c->drag_tangent, 0.25, 0);
    CHECK(m->bodies.node_pinned[2] && m->bodies.node_pinned[3] && !m->bodies.node_pinned[0]);
    CHECK(m->node_script[2] >= 0 && m->node_script[2] == m->node_script[3]);
    // vertex 1 at (1,0,0): twice as far, turned to +y, lifted by 1
    CHECK_NEAR(m->x0[3], 0, 1e-15);
    CHECK_NEAR(m->x0[4], 2, 1e-15);
    CHECK_NEAR(m->x0[5], 1, 1e-15);
    CHECK_NEAR(m->xv0[5], 0.5, 0);
    cr_vec3 s, t;
    cr_model_script_at(&m->script[m->node_script[2]], 2, &s, &t);
    CHECK_NEAR(s.z, 1, 1e-15);
}

static void check_obstacles(const cr_model* m)
{
    CHECK(m->bodies.kind[1] == CR_BODY_KINEMATIC && m->bodies.kind[2] == CR_BODY_FIXED);
    // moved by (0,5,0), then scaled by 0.1 and moved by (1,0,0)
    CHECK_NEAR(m->t0[0], 1, 1e-15);
    CHECK_NEAR(m->t0[1], 0.5, 1e-15);
    CHECK_NEAR(m->bodies.extent[0], 0.1 * sqrt(3), 1e-14);
    cr_vec3 s, t;
    cr_model_script_at(&m->script[m->frame_script[0]], 1, &s, &t);
    // at time 1: turned by 90 degrees, (0, 0.5, 0) goes to (-0.5, 0, 0)
    CHECK_NEAR(s.x, -0.5, 1e-14);
    CHECK_NEAR(s.y, 2 - 0.5, 1e-14);
    CHECK_NEAR(t.z, 1.57079632679489662, 1e-14);
    CHECK_NEAR(cr_model_friction(m, 0, 1), 0.25, 1e-15);
    CHECK_NEAR(cr_model_friction(m, 0, 0), 0.5, 1e-15);
}

static void test_scene_and_notes(void)
{
    char *text = NULL, *notes = NULL;
    carom_error error = {0};
    cr_scene scene = {0};
    cr_model* m = NULL;
    carom_status status =
        cr_arcsim_import(CAROM_TEST_DATA "/arcsim/conf/sheet.json", &text, &notes, &error);
    CHECK(status == CAROM_OK);
    if (status == CAROM_OK) {
        status = cr_scene_parse(&scene, text, strlen(text), "imported", ".", &error);
    }
    if (status == CAROM_OK) {
        status = cr_build_model(&scene, &m, &error);
    }
    if (status != CAROM_OK) {
        printf("%s\n", error.message);
    }
    CHECK(status == CAROM_OK);
    if (m) {
        CHECK_NEAR(m->world.dt, 0.005, 1e-18);
        CHECK_NEAR(m->world.duration, 3, 0);
        CHECK_NEAR(m->world.gravity[2], -9.8, 0);
        CHECK_NEAR(m->world.wind[1], 2, 0);
        check_cloth(m);
        check_obstacles(m);
    }
    static const char* const told[] = {"materials.strain_limits", "cloths.remeshing",
                                       "handles.end_time", "magic is not", "zero strain"};
    for (int i = 0; notes && i < 5; i++) {
        CHECK(strstr(notes, told[i]) != NULL);
    }
    cr_model_destroy(m);
    cr_scene_release(&scene);
    cr_memory_free(text);
    cr_memory_free(notes);
}

// A hinge of theirs stores k l^2 theta^2 / (8 (A0 + A1)); one of ours with bend = k/12 the same.
static void test_bending_is_converted(void)
{
    const double k = 3e-5, theta = 1e-4, l = 0.7;
    const double first[6] = {0, 0, l, 0, 0.2, 0.5}, second[6] = {0, 0, l, 0, 0.4, -0.3};
    const double area = 0.5 * l * 0.5 + 0.5 * l * 0.3;
    const cr_bending_rest rest = cr_bending_rest_make(first, second);
    const cr_bending_law law = {.stiffness = k / 12};
    const double x[12] = {0, 0, 0, l, 0, 0, 0.2, 0.5, 0, 0.4, -0.3 * cos(theta), 0.3 * sin(theta)};
    const double theirs = k * l * l * theta * theta / (8 * area);
    CHECK_NEAR(cr_bending_energy(&rest, &law, NULL, x) / theirs, 1, 1e-7);
}

static void test_refusals(void)
{
    char *text = NULL, *notes = NULL;
    carom_error error = {0};
    CHECK(cr_arcsim_import("no/such.json", &text, &notes, &error) == CAROM_ERR_FILE);
    CHECK(cr_arcsim_import(CAROM_TEST_DATA "/arcsim/materials/plain.json", &text, &notes, &error) ==
          CAROM_ERR_FORMAT);
    CHECK(strstr(error.message, "there are no \"cloths\"") && !text && !notes);
    for (int n = 1; n < 200; n++) {
        cr_memory_fail_after(n);
        const carom_status status =
            cr_arcsim_import(CAROM_TEST_DATA "/arcsim/conf/sheet.json", &text, &notes, &error);
        cr_memory_fail_after(0);
        CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
        CHECK((status == CAROM_OK) == (text != NULL) && (text != NULL) == (notes != NULL));
        cr_memory_free(text);
        cr_memory_free(notes);
    }
}

int main(void)
{
    RUN(test_scene_and_notes);
    RUN(test_bending_is_converted);
    RUN(test_refusals);
    return check_failures != 0;
}
