// fuzz_scene.h - bytes as the text of a scene: read, written and read again; when it is small
// enough also built, stepped and gone through backward. What is refused comes with a message.
#pragma once

#include <carom/carom.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void fuzz_scene_keep(int kept)
{
    if (!kept) {
        abort();
    }
}

// Whether a call went well; if not, it has to say why.
static inline int fuzz_scene_good(carom_status status, const carom_error* error)
{
    fuzz_scene_keep(status == CAROM_OK || (error->status == status && error->message[0] != 0));
    return status == CAROM_OK;
}

// A folder of our own for files that a run writes, in memory where there is such a place: thousands
// of files a second are more than a disk likes.
static inline const char* fuzz_scene_folder(void)
{
    static char folder[40];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/dev/shm/carom_fuzz_XXXXXX");
        if (!mkdtemp(folder)) {
            snprintf(folder, sizeof folder, "/tmp/carom_fuzz_XXXXXX");
            fuzz_scene_keep(mkdtemp(folder) != NULL);
        }
    }
    return folder;
}

// Whether a key of scenes counts something: copies, or what a shape is made of.
static inline int fuzz_scene_counts(const char* key, size_t length)
{
    carom_mesh_param row;
    if (length == 5 && strncmp(key, "count", length) == 0) {
        return 1;
    }
    for (int32_t shape = 0; shape < carom_mesh_shape_count(); shape++) {
        for (int32_t i = 0; carom_mesh_shape_param(shape, i, &row); i++) {
            if (row.whole && strlen(row.name) == length && strncmp(key, row.name, length) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

// Counts multiply: 99 x 99 x 99 copies of a sheet of 999 x 999 cells fit into a short text. Only a
// scene whose counts have a small product is built, one subdivision counting as four. So is none
// with a path in it, which could lead anywhere.
static inline int fuzz_scene_tame(const char* text, size_t size)
{
    double product = 1.0;
    int counted = 0, fourfold = 0; // what the numbers behind the last word mean
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '/' || (text[i] == '.' && i + 1 < size && text[i + 1] == '.')) {
            return 0;
        }
        if (text[i] == '"') {
            const size_t begin = ++i;
            for (; i < size && text[i] != '"'; i++) {
                if (text[i] == '/' || text[i] == '\\') {
                    return 0;
                }
            }
            counted = fuzz_scene_counts(text + begin, i - begin);
            fourfold = counted && text[begin] == 's' && text[begin + 1] == 'u'; // subdivisions
        } else if (counted && text[i] >= '0' && text[i] <= '9') {
            char* end = NULL;
            char number[32];
            snprintf(number, sizeof number, "%.*s", (int)(size - i < 31 ? size - i : 31), text + i);
            const double value = strtod(number, &end);
            product *= fmax(1.0, fourfold ? exp2(2.0 * value) : value);
            i += (size_t)(end - number) - 1;
        }
    }
    return product < 30.0;
}

static inline void fuzz_scene_walk(const carom_model* model)
{
    carom_sim* sim = NULL;
    carom_error error = {CAROM_OK, ""};
    if (!fuzz_scene_good(carom_sim_create(model, 1, &sim, &error), &error)) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        const uint64_t before = carom_sim_hash(sim);
        if (!fuzz_scene_good(carom_sim_step(sim, &error), &error)) {
            fuzz_scene_keep(carom_sim_hash(sim) == before);
            break;
        }
        fuzz_scene_keep(carom_sim_steps(sim) == i + 1);
    }
    for (int32_t b = 0; b < carom_model_body_count(model); b++) {
        carom_body_state state;
        fuzz_scene_keep(carom_sim_body(sim, b, &state) == CAROM_OK);
        for (int k = 0; k < 3; k++) {
            fuzz_scene_keep(isfinite(state.position[k]) && isfinite(state.velocity[k]));
            fuzz_scene_keep(isfinite(state.quaternion[k]) && isfinite(state.angular_velocity[k]));
        }
    }
    carom_sim_destroy(sim);
}

static inline void fuzz_scene_back(const carom_model* model)
{
    carom_problem* problem = NULL;
    carom_error error = {CAROM_OK, ""};
    carom_problem_options options = carom_problem_default();
    options.steps = 2;
    if (fuzz_scene_good(carom_problem_create(model, &options, &problem, &error), &error)) {
        const size_t size = (size_t)carom_problem_size(problem);
        double *theta = calloc(size + 1, sizeof(double)), *slope = calloc(size + 1, sizeof(double));
        double value;
        fuzz_scene_keep(theta && slope);
        carom_problem_scene(problem, theta);
        if (fuzz_scene_good(carom_problem_gradient(problem, theta, &value, slope, &error),
                            &error)) {
            fuzz_scene_keep(isfinite(value));
            for (size_t i = 0; i < size; i++) {
                fuzz_scene_keep(isfinite(slope[i]));
            }
        }
        free(theta);
        free(slope);
    }
    carom_problem_destroy(problem);
}

// walk: also stepped and gone back through, when it is small.
static inline void fuzz_scene_build(carom_scene* scene, int walk)
{
    carom_model* model = NULL;
    carom_error error = {CAROM_OK, ""};
    // enough to get somewhere, not enough to stay there
    if (!fuzz_scene_good(carom_scene_set(scene, "world.max_halvings", "1", &error), &error) ||
        !fuzz_scene_good(carom_scene_set(scene, "world.max_iterations", "10", &error), &error)) {
        return;
    }
    if (fuzz_scene_good(carom_model_create(scene, &model, &error), &error) && walk &&
        carom_model_body_count(model) <= 5 && carom_model_vertex_count(model) <= 24) {
        fuzz_scene_walk(model);
        if (carom_model_term_count(model) > 0) {
            fuzz_scene_back(model);
        }
    }
    carom_model_destroy(model);
}

static inline void fuzz_scene(const uint8_t* data, size_t size)
{
    carom_scene *scene = NULL, *second = NULL;
    carom_error error = {CAROM_OK, ""};
    char* exact = malloc(size ? size : 1); // just so long: reading beyond it is seen
    fuzz_scene_keep(exact != NULL);
    memcpy(exact, data, size);
    if (fuzz_scene_good(carom_scene_parse(exact, size, "/nowhere", &scene, &error), &error)) {
        char *text = NULL, *again = NULL;
        fuzz_scene_keep(carom_scene_text(scene, &text, &error) == CAROM_OK);
        fuzz_scene_keep(carom_scene_parse(text, strlen(text), "/nowhere", &second, &error) ==
                        CAROM_OK);
        fuzz_scene_keep(carom_scene_text(second, &again, &error) == CAROM_OK);
        fuzz_scene_keep(strcmp(text, again) == 0);
        if (fuzz_scene_tame(exact, size)) {
            fuzz_scene_build(scene, 1);
        }
        carom_scene_text_free(text);
        carom_scene_text_free(again);
    } else {
        fuzz_scene_keep(!scene);
    }
    carom_scene_destroy(second);
    carom_scene_destroy(scene);
    free(exact);
}
