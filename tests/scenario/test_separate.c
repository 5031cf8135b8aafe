// Scenes that start in each other: refused, or moved apart when they ask for it, by little and for
// good.
#include "layer.h"
#include "scenario/scene_kit.h"

static carom_status open_model(const char* text, carom_error* error)
{
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    *error = (carom_error){0};
    carom_status status = carom_scene_parse(text, strlen(text), NULL, &scene, error);
    if (status == CAROM_OK) {
        status = carom_model_create(scene, &model, error);
    }
    carom_model_destroy(model);
    carom_scene_destroy(scene);
    return status;
}

// Refused as it is; with "separate" no body is farther from its place than `most`, the judge finds
// nothing, and it runs.
static kit* parted(const char* bodies, double most, double seconds)
{
    carom_error error;
    char* plain = kit_text("{'carom': 1, 'bodies': [%s]}", bodies);
    CHECK(open_model(plain, &error) == CAROM_ERR_INTERSECTING);
    free(plain);
    kit* k = kit_open("{'carom': 1, 'world': {'separate': true, 'friction': 0.5}, 'bodies': [%s]}",
                      bodies);
    CHECK(!k->failed);
    if (!k->failed) {
        kit_judge(k);
        const carom_model* m = k->model;
        int found = 0;
        for (int32_t i = 0; i < carom_model_note_count(m); i++) {
            const char* by = strstr(carom_model_note(m, i), "moved apart at the start");
            by = by ? strstr(by, ", by ") : NULL;
            found |= by && strtod(by + 5, NULL) <= most;
        }
        CHECK(found);
        kit_run(k, seconds);
        CHECK(!k->failed);
    }
    return k;
}

#define BOX "'mesh': {'box': {'size': [1, 1, 1]}}, 'mass': 1"

// Two boxes that overlap by 2 cm: both go by half of it along the axis of the overlap.
static void test_two_boxes(void)
{
    kit* k = parted("{'name': 'a', " BOX "}, {'name': 'b', " BOX ", 'position': [0.3, 0.2, 0.98]}",
                    0.02, 0.0);
    const carom_body_state a = kit_body(k, "a"), b = kit_body(k, "b");
    CHECK_NEAR(a.position[2] + b.position[2], 0.98, 1e-12);
    CHECK_NEAR(a.position[0], 0, 1e-12);
    const double apart = b.position[2] - a.position[2] - 1.0;
    const double begins = layer_begins(k->model->numbers, 0, 1);
    CHECK(apart > 0.0 && apart < begins + 1e-3);
    kit_close(k);
    // turned ones part along their faces' normals
    k = parted("{'name': 'a', 'rotation': [0.4, 0.3, 0], " BOX
               "}, {'name': 'b', 'rotation': [0.4, 0.3, 0], " BOX
               ", 'position': [0.26826, -0.37204, 0.863]}",
               0.02, 0.2);
    kit_close(k);
}

static void test_what_cannot_move_does_not(void)
{
    kit* k = parted("{'name': 'ground', 'type': 'fixed', 'mesh': {'box': {'size': [4, 4, 1]}}}, "
                    "{'name': 'b', " BOX ", 'position': [0.3, 0.2, 0.97]}",
                    0.04, 1.0);
    CHECK(kit_body(k, "ground").position[2] == 0.0);
    CHECK_NEAR(kit_body(k, "b").position[2], 1.0, 4e-3);
    kit_close(k);
    // locked upwards, it goes aside
    k = parted(
        "{'name': 'ground', 'type': 'fixed', 'mesh': {'box': {'size': [1, 1, 1]}}}, {'name': "
        "'b', 'lock': ['z'], " BOX ", 'position': [0.8, 0, 0.97]}",
        0.3, 0.1);
    CHECK(kit_body(k, "b").position[2] == 0.97);
    CHECK(kit_body(k, "b").position[0] > 1.0);
    kit_close(k);
    carom_error error;
    char* text = kit_text("{'carom': 1, 'world': {'separate': true}, 'bodies': [{'name': 'a', "
                          "'lock': ['x', 'y', 'z'], " BOX "}, {'name': 'b', 'lock': ['x', 'y', "
                          "'z'], " BOX ", 'position': [0.3, 0.2, 0.9]}]}");
    CHECK(open_model(text, &error) == CAROM_ERR_INTERSECTING);
    CHECK(strstr(error.message, "intersect at the start") != NULL);
    free(text);
}

static void test_balls_and_insides(void)
{
    kit* k = parted("{'name': 'a', 'sphere': {'radius': 0.5}, 'mass': 1}, {'name': 'b', 'sphere': "
                    "{'radius': 0.5}, 'mass': 3, 'position': [0.6, 0, 0.6]}",
                    0.2, 0.2);
    kit_close(k);
    k = parted("{'name': 'a', 'sphere': {'radius': 0.5}, 'mass': 1}, {'name': 'b', 'sphere': "
               "{'radius': 0.5}, 'mass': 3, 'position': [0.6, 0, 0.6]}",
               0.2, 0.0);
    const carom_body_state a = kit_body(k, "a"), b = kit_body(k, "b");
    CHECK_NEAR(kit_apart(&a, &b), layer_begins(k->model->numbers, 0, 1), 1e-5);
    // along the line of centres, each by its share
    CHECK_NEAR(a.position[0] * 1 + b.position[0] * 3, 1.8, 1e-12);
    kit_close(k);
    k = parted("{'name': 'a', " BOX "}, {'name': 'b', 'mesh': {'box': {'size': [0.1, 0.1, 0.1]}}}",
               1.0, 0.1);
    kit_close(k);
}

// Many at once: moving two may push one into a third.
static void test_a_crowd(void)
{
    char bodies[8000] = "{'name': 'ground', 'type': 'fixed', 'mesh': {'box': {'size': [6, 6, 1]}}}";
    uint64_t seed = 3;
    for (int i = 0; i < 12; i++) {
        char* one = kit_text(", {'name': 'b%d', 'mesh': {'box': {'size': [0.5, 0.4, 0.3]}}, "
                             "'rotation': [%g, %g, %g], 'position': [%g, %g, %g]}",
                             i, check_random(&seed, -1, 1), check_random(&seed, -1, 1),
                             check_random(&seed, -1, 1), 0.42 * (i % 3), 0.4 * (i / 3 % 2),
                             i < 6 ? 0.7 : 1.05);
        strcat(bodies, one);
        free(one);
    }
    kit* k = parted(bodies, 1.0, 0.3);
    kit_close(k);
}

// A sheet that starts in the ground goes up as a whole; one that is pinned stays, and the other
// body gives way; one folded into itself is refused.
static void test_cloth(void)
{
    kit* k = parted("{'name': 'ground', 'type': 'fixed', 'mesh': {'box': {'size': [4, 4, 1]}}}, "
                    "{'name': 's', 'type': 'cloth', 'mesh': {'sheet': {'width': 1, 'height': 1, "
                    "'nx': 4, 'ny': 4}}, 'rotation': [0.02, 0, 0], 'position': [0, 0, 0.5], "
                    "'stretch': 50}",
                    0.05, 0.1);
    kit_close(k);
    k = parted(
        "{'name': 's', 'type': 'cloth', 'mesh': {'sheet': {'width': 1, 'height': 1, 'nx': 4, "
        "'ny': 4}}, 'pins': [{'nodes': 'corners'}], 'stretch': 50}, {'name': 'b', 'mesh': "
        "{'box': {'size': [0.3, 0.3, 0.3]}}, 'mass': 0.1, 'position': [0, 0, 0.1]}",
        0.2, 0.1);
    CHECK(kit_body(k, "b").position[2] > 0.0);
    kit_close(k);
}

int main(void)
{
    RUN(test_two_boxes);
    RUN(test_what_cannot_move_does_not);
    RUN(test_balls_and_insides);
    RUN(test_a_crowd);
    RUN(test_cloth);
    return check_failures != 0;
}
