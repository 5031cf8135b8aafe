// layer.h - where bodies begin to touch and where a load holds them, by a model's own numbers: what
// tests expect of contacts whether they resist at once or in a layer of some width.
#pragma once

#include "api/handles.h"
#include "check.h"
#include "contact/barrier.h"
#include "sim/pair_law.h"
#include <stdlib.h>
#include <string.h>

// m, between the closest points of two bodies of which none starts within the other's layer: there
// contact begins, and impacts happen.
static inline double layer_begins(const cr_model* model, int32_t a, int32_t b)
{
    return cr_model_thickness(model, a, b) + model->bodies.width[a] + model->bodies.width[b];
}

// Where the layer carries F(s) = force/k. F falls from infinity at 0 to nothing at 1; sixty
// halvings are round-off.
static inline double layer_share(double force, double k)
{
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 60; i++) {
        const double mid = 0.5 * (low + high);
        *(cr_barrier_at(k, 1.0, mid).force > force ? &low : &high) = mid;
    }
    return low;
}

// m, between the closest points of two bodies without sheets of which one contact carries `force`
// N: their thickness where contacts are hard, which give way by far less.
static inline double layer_held(const cr_model* model, int32_t a, int32_t b, double force)
{
    if (model->world.contact == CR_CONTACT_HARD) {
        return cr_model_thickness(model, a, b);
    }
    const cr_pair_numbers law = cr_pair_law(model, NULL, a, b);
    return law.thickness - law.width * (1.0 - layer_share(force, law.stiffness));
}

// The model of a scene, ' standing for "; NULL, and a failure, when it is refused.
static inline carom_model* layer_model(const char* text)
{
    carom_error error = {0};
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    char* json = strdup(text);
    for (char* c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    if (carom_scene_parse(json, strlen(json), NULL, &scene, &error) != CAROM_OK ||
        carom_model_create(scene, &model, &error) != CAROM_OK) {
        printf("%s\n", error.message);
        check_failures++;
    }
    carom_scene_destroy(scene);
    free(json);
    return model;
}

// layer_begins and layer_held of the bodies 0 and 1 of a scene in which they start apart.
static inline double layer_first_begins(const char* text)
{
    carom_model* model = layer_model(text);
    const double at = model ? layer_begins(model->numbers, 0, 1) : (double)NAN;
    carom_model_destroy(model);
    return at;
}

static inline double layer_first_held(const char* text, double force)
{
    carom_model* model = layer_model(text);
    const double at = model ? layer_held(model->numbers, 0, 1, force) : (double)NAN;
    carom_model_destroy(model);
    return at;
}
