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
        // what steps solved to 1e-10 leave is 1e-6 of a difference
        kit->model->numbers->world.tolerance = 1e-13;
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

// Relative to the largest entry of each parameter's gradient.
static const double grad_kit_tolerance = 1e-6;

// A scene whose gradient is compared with differences.
typedef struct grad_kit_scene {
    const char* name;
    const char* text;
    int64_t steps;
    double step; // of the differences, relative; 0: the usual one
} grad_kit_scene;

static inline void grad_kit_check(const grad_kit_scene* s)
{
    grad_kit kit;
    if (!grad_kit_open(&kit, s->text, s->steps, 0)) {
        printf("%s: not opened\n", s->name);
        grad_kit_close(&kit);
        return;
    }
    cr_gradcheck_group group[32];
    cr_gradcheck_report report;
    cr_gradcheck_options options = cr_gradcheck_default();
    options.most = 5;
    options.step = s->step > 0.0 ? s->step : options.step;
    carom_error error = {0};
    const carom_status status =
        cr_problem_check(&kit.problem, kit.theta, &options, kit.dtheta, group, &report, &error);
    if (status != CAROM_OK) {
        printf("%s\n", error.message);
    }
    CHECK(status == CAROM_OK);
    printf("%s: %.2g, slope %.2f, %lld switches, %d kinks, %d failed, %lld impacts\n", s->name,
           report.max_relative_error, report.taylor_slope, (long long)report.switches, report.kinks,
           report.failed, (long long)kit.problem.impacts);
    for (int32_t i = 0; i < cr_parameters_count(kit.problem.parameters) && status == CAROM_OK;
         i++) {
        const cr_parameters_slot* slot = cr_parameters_slot_at(kit.problem.parameters, i);
        const cr_gradcheck_group* g = &group[i];
        if (!(g->max_relative_error <= grad_kit_tolerance) || g->kinks + g->failed > 0) {
            printf(
                "    %s %d: error %.3g noise %.2g kinks %d failed %d: [%d] %.15g against %.15g\n",
                cr_goal_parameter_name(slot->what), slot->body, g->max_relative_error, g->noise,
                g->kinks, g->failed, g->worst - g->first, g->worst_exact, g->worst_difference);
        }
        CHECK(g->max_relative_error <= grad_kit_tolerance);
        CHECK(g->kinks < g->checked); // something was seen
        CHECK(g->failed == 0);
    }
    grad_kit_close(&kit);
}

// All scenes, or those whose name contains the program's argument; what main returns.
static inline int grad_kit_main(const grad_kit_scene* scenes, size_t count, int argc, char** argv)
{
    for (size_t i = 0; i < count; i++) {
        if (argc < 2 || strstr(scenes[i].name, argv[1])) {
            grad_kit_check(&scenes[i]);
        }
    }
    return check_failures != 0;
}
