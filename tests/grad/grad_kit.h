// grad_kit.h - gradients of scenes in a few lines: a scene as text, ' standing for ".
#pragma once

#include "adjoint/problem.h"
#include "api/handles.h"
#include "check.h"
#include "core/memory.h"
#include <stdlib.h>
#include <string.h>

typedef struct grad_kit {
    carom_model* model;
    cr_problem problem;
    double *theta, *dtheta; // [size]
    int32_t size;
    int ready;
} grad_kit;

static inline int grad_kit_open(grad_kit* kit, const char* text, int64_t steps, size_t budget)
{
    carom_scene* scene = NULL;
    carom_error error = {0};
    char* json = strdup(text);
    *kit = (grad_kit){0};
    for (char* c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    carom_status status = carom_scene_parse(json, strlen(json), NULL, &scene, &error);
    if (status == CAROM_OK) {
        status = carom_model_create(scene, &kit->model, &error);
    }
    if (status == CAROM_OK) {
        status = cr_problem_init(&kit->problem, kit->model->numbers, &kit->model->goal, steps, 1,
                                 budget, &error);
    }
    if (status == CAROM_OK) {
        kit->size = cr_parameters_size(kit->problem.parameters);
        kit->theta = calloc((size_t)kit->size + 1, sizeof(double));
        kit->dtheta = calloc((size_t)kit->size + 1, sizeof(double));
        memcpy(kit->theta, cr_parameters_scene(kit->problem.parameters),
               (size_t)kit->size * sizeof(double));
        kit->ready = 1;
    } else {
        printf("%s\n", error.message);
    }
    CHECK(status == CAROM_OK);
    carom_scene_destroy(scene);
    free(json);
    return kit->ready;
}

static inline void grad_kit_close(grad_kit* kit)
{
    if (kit->ready) {
        cr_problem_release(&kit->problem);
    }
    carom_model_destroy(kit->model);
    free(kit->theta);
    free(kit->dtheta);
}

// Value and gradient at the scene's own numbers.
static inline double grad_kit_run(grad_kit* kit)
{
    carom_error error = {0};
    double value = (double)NAN;
    const carom_status status =
        cr_problem_gradient(&kit->problem, kit->theta, &value, kit->dtheta, &error);
    if (status != CAROM_OK) {
        printf("%s\n", error.message);
    }
    CHECK(status == CAROM_OK);
    return value;
}
