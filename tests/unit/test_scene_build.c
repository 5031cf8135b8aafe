#include "check.h"
#include "scene/build.h"
#include <string.h>

static cr_model* build(const char* text, carom_error* error)
{
    cr_scene scene = {0};
    cr_model* model = NULL;
    *error = (carom_error){0};
    if (cr_scene_parse(&scene, text, strlen(text), "test.json", ".", error) == CAROM_OK) {
        cr_build_model(&scene, &model, error);
    }
    if (!model) {
        printf("%s\n", error->message);
    }
    cr_scene_release(&scene);
    return model;
}

static void test_a_box_on_the_ground(void)
{
    carom_error error;
    cr_model* m = build("{\"carom\": 1, // the smallest scene\n"
                        " \"world\": {\"gravity\": [0, 0, -10]},\n"
                        " \"bodies\": [\n"
                        "  {\"name\": \"ground\", \"type\": \"fixed\", \"mesh\": {\"sheet\": "
                        "{\"width\": 4, \"height\": 4, \"nx\": 1, \"ny\": 1}}},\n"
                        "  {\"name\": \"crate\", \"mesh\": {\"box\": {\"size\": [1, 2, 3]}}, "
                        "\"density\": 10,\n"
                        "   \"position\": [0, 0, 2], \"velocity\": [1, 2, 3], "
                        "\"angular_velocity\": [0, 0, 1]}]}",
                        &error);
    CHECK(m != NULL);
    if (!m) {
        return;
    }
    CHECK(m->bodies.body_count == 2 && m->bodies.vertex_count == 12);
    CHECK_NEAR(m->world.gravity[2], -10, 0);
    CHECK_NEAR(m->bodies.mass[1], 60, 1e-12);
    CHECK_NEAR(m->bodies.inertia[3] + m->bodies.inertia[4] + m->bodies.inertia[5],
               60.0 / 12 * 2 * (1 + 4 + 9), 1e-10);
    CHECK(m->surface.edge_count == 4 + 12 && m->surface.face_count == 14);
    CHECK_NEAR(m->bodies.radius[1], 5e-4 * 3, 1e-15);
    CHECK_NEAR(m->bodies.radius[0], 0, 0);
    CHECK_NEAR(m->v0[3] + 10 * m->v0[4] + 100 * m->v0[5], 321, 1e-12);
    cr_model_destroy(m);
}

int main(void)
{
    RUN(test_a_box_on_the_ground);
    return check_failures != 0;
}
