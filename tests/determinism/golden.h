// golden.h - small scenes that between them go through every part of a step, and the fingerprint of
// a run: of all states on the way there, and of the gradient of a loss that feels all of them.
#pragma once

#include <carom/carom.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct golden_scene {
    const char* name;
    int64_t steps;
    const char* text; // ' stands for "
} golden_scene;

#define GOLDEN_FLOOR                                                                               \
    "{'name': 'floor', 'type': 'fixed', 'mesh': {'sheet': {'width': 6, 'height': 6, 'nx': 1, "     \
    "'ny': 1}}, 'position': [0.31, 0.17, 0]}"

static const golden_scene golden_scenes[] = {
    {"pile", 25,
     "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" GOLDEN_FLOOR
     ", {'mesh': {'box': {'x': 0.2, 'y': 0.18, 'z': 0.16}}, 'position': [0, 0, 0.09], 'rotation': "
     "[0.02, 0.01, 0.3], 'copies': {'count': [2, 2, 3], 'spacing': [0.22, 0.21, 0.19], 'jitter': "
     "[0.004, 0.004, 0.002]}}]}"},
    // many islands of different sizes: several workers have something to share
    {"islands", 15,
     "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0.4}, 'bodies': [" GOLDEN_FLOOR
     ", {'sphere': {'radius': 0.05}, 'mass': 0.3, 'position': [-1, -1, 0.08], 'velocity': [0.4, "
     "0.1, 0], 'copies': {'count': [5, 4, 1], 'spacing': [0.5, 0.45, 0], 'jitter': [0.01, 0.01, "
     "0.02]}}, {'mesh': {'box': {'x': 0.1, 'y': 0.1, 'z': 0.1}}, 'position': [-1.2, -0.8, 0.06], "
     "'angular_velocity': [1, 2, 3], 'copies': {'count': [4, 3, 2], 'spacing': [0.5, 0.5, "
     "0.12]}}]}"},
    // so much that may touch that the islands are shared among the workers
    {"crowd", 3,
     "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" GOLDEN_FLOOR
     ", {'mesh': {'box': {'x': 0.1, 'y': 0.1, 'z': 0.1}}, 'position': [-1.5, -1.5, 0.06], "
     "'velocity': [0.3, 0.2, -1], 'angular_velocity': [1, 2, 3], 'copies': {'count': [12, 12, 3], "
     "'spacing': [0.3, 0.3, 0.12], 'jitter': [0.01, 0.01, 0.004]}}]}"},
    {"cloth", 40,
     "{'carom': 1, 'world': {'dt': 0.01, 'wind': [3, 1, 0]}, 'bodies': [{'type': 'cloth', 'mesh': "
     "{'sheet': {'width': 0.5, 'height': 0.5, 'nx': 7, 'ny': 7}}, 'drag_normal': 1, "
     "'drag_tangent': 0.1, 'stretch': 200, 'pins': [{'nodes': [0, 56]}]}, {'type': 'fixed', "
     "'sphere': {'radius': 0.1}, 'position': [0.05, 0.02, -0.2]}]}"},
    {"coupled", 40,
     "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [{'type': 'cloth', 'mesh': {'sheet': "
     "{'width': 1, 'height': 1, 'nx': 6, 'ny': 6}}, 'stretch': 500, 'pins': [{'nodes': "
     "'border'}]}, {'sphere': {'radius': 0.15}, 'mass': 0.5, 'position': [0.02, 0.03, 0.2], "
     "'friction': 0.3}, {'mesh': {'box': {'x': 0.2, 'y': 0.1, 'z': 0.1}}, 'mass': 0.2, "
     "'position': [-0.25, 0.2, 0.12], 'rotation': [0.1, 0.2, 0.3]}]}"},
    {"events", 40,
     "{'carom': 1, 'world': {'dt': 0.01, 'restitution': 0.6}, 'bodies': [" GOLDEN_FLOOR
     ", {'sphere': {'radius': 0.1}, 'mass': 1, 'position': [0, 0, 0.2]}, {'sphere': {'radius': "
     "0.08}, 'mass': 0.5, 'position': [0.05, 0.02, 0.42], 'velocity': [0, 0, -2]}, {'capsule': "
     "{'radius': 0.05, 'length': 0.2}, 'mass': 0.7, 'position': [0.4, 0, 0.2], 'rotation': [0.5, "
     "0.9, 0], 'velocity': [-1, 0, -2]}]}"},
    {"friction", 40,
     "{'carom': 1, 'world': {'dt': 0.01, 'friction': 0.6, 'friction_speed': 0.001}, 'bodies': "
     "[" GOLDEN_FLOOR
     ", {'mesh': {'box': {'x': 0.3, 'y': 0.2, 'z': 0.1}}, 'position': [0, 0, 0.0505], 'velocity': "
     "[1.5, 0.2, 0], 'angular_velocity': [0, 0, 2]}, {'mesh': {'box': {'x': 0.1, 'y': 0.1, 'z': "
     "0.1}}, 'position': [0.02, 0.01, 0.152]}, {'mesh': {'cylinder': {'radius': 0.1, 'height': "
     "0.1, 'segments': 12}}, 'position': [-0.6, 0, 0.052], 'linear_damping': 0.3, "
     "'angular_damping': 0.2, 'velocity': [0.5, 0.5, 0]}]}"},
    {"script", 40,
     "{'carom': 1, 'world': {'dt': 0.01}, 'bodies': [" GOLDEN_FLOOR
     ", {'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, 'position': [0, 0, 0.101], 'force': "
     "[0.5, 0, 0]}, {'type': 'kinematic', 'mesh': {'box': {'x': 0.1, 'y': 0.5, 'z': 0.2}}, "
     "'position': [-0.2, 0.03, 0.12], 'script': {'velocity': [0.6, 0, 0], 'angular_velocity': [0, "
     "0, 0.3]}}, {'mesh': {'box': {'x': 0.3, 'y': 0.1, 'z': 0.1}}, 'position': [1, 0, 0.2], "
     "'lock': ['x', 'y', 'rx', 'ry', 'rz']}]}"},
    // steps that are split: a body turns by more than a radian, cloth has too few iterations
    {"splits", 25,
     "{'carom': 1, 'world': {'dt': 0.02, 'max_iterations': 10, 'max_halvings': 10}, 'bodies': "
     "[" GOLDEN_FLOOR
     ", {'mesh': {'box': {'x': 0.3, 'y': 0.1, 'z': 0.1}}, 'position': [0, 0, 0.1], 'rotation': "
     "[0.2, 0.1, 0], 'velocity': [1, 0, -1], 'angular_velocity': [0, 80, 9]}]}"},
    // in legs: more could meet in the step than will
    {"crowd", 6,
     "{'carom': 1, 'world': {'dt': 0.04, 'friction': 0.3}, 'bodies': [" GOLDEN_FLOOR
     ", {'mesh': {'box': {'x': 0.3, 'y': 0.24, 'z': 0.2}}, 'position': [0.9, 0, 0.4], 'rotation': "
     "[0.2, 0.1, 0], 'velocity': [-60, 1, -3]}, {'mesh': {'box': {'x': 0.2, 'y': 0.3, 'z': 0.2}}, "
     "'position': [-0.9, 0.1, 0.5], 'rotation': [0.7, 0.1, 0.3], 'velocity': [50, 2, -5]}, "
     "{'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.3}}, 'position': [0, 0.9, 0.6], 'rotation': "
     "[0.1, 0.5, 0.2], 'velocity': [1, -55, -9]}, {'mesh': {'cylinder': {'radius': 0.1, "
     "'height': 0.2, 'segments': 7}}, 'position': [0.1, -0.9, 0.5], 'rotation': [0.4, 0.2, 0.9], "
     "'velocity': [0, 58, -4]}, {'mesh': {'box': {'x': 0.3, 'y': 0.2, 'z': 0.2}}, 'position': "
     "[0, 0, 1.1], 'rotation': [0.3, 0.3, 0.3], 'velocity': [0, 0, -40]}]}"},
    {"stretched", 25,
     "{'carom': 1, 'world': {'dt': 0.02, 'max_iterations': 3, 'max_halvings': 10}, 'bodies': "
     "[{'type': 'cloth', 'mesh': {'sheet': {'width': 1, 'height': 1, 'nx': 5, 'ny': 5}}, "
     "'stretch': 800, 'pins': [{'nodes': 'border'}]}, {'sphere': {'radius': 0.15}, 'mass': 5, "
     "'position': [0.02, 0.03, 0.2], 'velocity': [0, 0, -2], 'friction': 0.3}]}"},
};
enum { GOLDEN_SCENES = sizeof golden_scenes / sizeof *golden_scenes };

typedef struct golden_print {
    uint64_t states;                 // of every step, without a tape
    uint64_t taped;                  // the same of the run that was recorded: has to be equal
    uint64_t gradient;               // of all bodies' numbers and all vertices
    int64_t parts, events, contacts; // the most, the sum, the most: what is gone through
} golden_print;

// ---- fingerprints

static inline uint64_t golden_hash(uint64_t hash, const void* data, size_t size)
{
    const unsigned char* bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

static const uint64_t golden_seed = 0xcbf29ce484222325u;

typedef struct golden_ear {
    const carom_model* model;
    int64_t last;
} golden_ear;

// A loss that is linear in all there is, with other weights for each number: +-1/2, +-1/3, ...
static inline double golden_weight(int64_t i)
{
    return (i % 2 ? -1.0 : 1.0) / (double)(2 + i % 11);
}

static inline void golden_feel(void* user, int64_t step, const carom_bars* bars)
{
    const golden_ear* ear = user;
    if (step % 10 != 0 && step != ear->last) {
        return;
    }
    for (int32_t b = 0; b < carom_model_body_count(ear->model); b++) {
        carom_body_info info;
        carom_model_body(ear->model, b, &info);
        if (info.kind == CAROM_BODY_CLOTH) {
            for (int32_t v = info.vertex_first; v < info.vertex_first + info.vertex_count; v++) {
                for (int k = 0; k < 3; k++) {
                    bars->vertex_position[3 * v + k] += golden_weight(v + k + step);
                    bars->vertex_velocity[3 * v + k] += 0.1 * golden_weight(v - k + step);
                }
            }
            continue;
        }
        for (int k = 0; k < 3; k++) {
            bars->position[3 * b + k] += golden_weight(b + k + step);
            bars->rotation[3 * b + k] += golden_weight(b + k + step + 5);
            bars->velocity[3 * b + k] += 0.1 * golden_weight(b + k + step + 3);
        }
    }
}

// ---- runs

static inline carom_status golden_forward(const golden_scene* scene, const carom_model* model,
                                          int32_t workers, golden_print* print, carom_error* error)
{
    carom_sim* sim = NULL;
    carom_status status = carom_sim_create(model, workers, &sim, error);
    for (int64_t i = 0; status == CAROM_OK && i < scene->steps; i++) {
        status = carom_sim_step(sim, error);
        const uint64_t now = carom_sim_hash(sim);
        const carom_step_info info = carom_sim_info(sim);
        print->states = golden_hash(print->states, &now, sizeof now);
        print->parts = info.parts > print->parts ? info.parts : print->parts;
        print->events += info.events;
        print->contacts = info.contacts > print->contacts ? info.contacts : print->contacts;
    }
    carom_sim_destroy(sim);
    return status;
}

static inline carom_status golden_back(const golden_scene* scene, const carom_model* model,
                                       carom_tape* tape, carom_sim* sim, golden_print* print,
                                       carom_error* error)
{
    const size_t bodies = (size_t)carom_model_body_count(model);
    const size_t numbers = 3 * (size_t)carom_model_vertex_count(model);
    carom_gradient gradient = {.body = calloc(bodies, sizeof *gradient.body),
                               .vertex = calloc(numbers, sizeof(double))};
    carom_status status = gradient.body && gradient.vertex ? CAROM_OK : CAROM_ERR_MEMORY;
    for (int64_t i = 0; status == CAROM_OK && i < scene->steps; i++) {
        status = carom_tape_step(tape, sim, error);
        const uint64_t now = carom_sim_hash(sim);
        print->taped = golden_hash(print->taped, &now, sizeof now);
    }
    golden_ear ear = {model, scene->steps};
    const carom_tape_listener listener = {&ear, golden_feel, NULL};
    if (status == CAROM_OK) {
        status = carom_tape_backward(tape, &listener, &gradient, error);
    }
    if (status == CAROM_OK) {
        uint64_t hash = golden_hash(golden_seed, gradient.gravity, sizeof gradient.gravity);
        hash = golden_hash(hash, gradient.wind, sizeof gradient.wind);
        hash = golden_hash(hash, gradient.body, bodies * sizeof *gradient.body);
        print->gradient = golden_hash(hash, gradient.vertex, numbers * sizeof(double));
    }
    free(gradient.body);
    free(gradient.vertex);
    return status;
}

// memory: bytes the tape may hold, 0 for no limit.
static inline carom_status golden_run(const golden_scene* scene, int32_t workers, size_t memory,
                                      golden_print* print, carom_error* error)
{
    char* json = strdup(scene->text);
    carom_scene* text = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    carom_tape* tape = NULL;
    for (char* c = json; c && *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    *print = (golden_print){.states = golden_seed, .taped = golden_seed};
    carom_status status =
        json ? carom_scene_parse(json, strlen(json), NULL, &text, error) : CAROM_ERR_MEMORY;
    status = status ? status : carom_model_create(text, &model, error);
    status = status ? status : golden_forward(scene, model, workers, print, error);
    status = status ? status : carom_sim_create(model, workers, &sim, error);
    status = status ? status : carom_tape_create(model, workers, memory, &tape, error);
    status = status ? status : golden_back(scene, model, tape, sim, print, error);
    carom_tape_destroy(tape);
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(text);
    free(json);
    return status;
}
