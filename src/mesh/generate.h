// generate.h - the meshes carom can make by itself, one table row each: scene files, bindings and
// help texts walk the rows.
#pragma once

#include "mesh/trimesh.h"

// No shape takes more parameters.
#define CR_GENERATE_PARAMS 8

typedef struct cr_generate_param {
    const char* name;
    const char* unit; // "m", or "1" for a plain number
    double fallback;  // taken when the user says nothing
    double least, most;
    int whole; // a whole number
    const char* about;
} cr_generate_param;

typedef struct cr_generate_shape {
    const char* name;
    const char* about;
    int32_t param_count;
    cr_generate_param param[CR_GENERATE_PARAMS];
    carom_status (*make)(cr_trimesh* mesh, const double* value); // value[param_count], in range
} cr_generate_shape;

int32_t cr_generate_shape_count(void);
const cr_generate_shape* cr_generate_shape_at(int32_t i);

// NULL when there is none of that name.
const cr_generate_shape* cr_generate_find(const char* name);

// Replaces *mesh by the shape with the given parameters; those not named take their defaults. On
// failure the mesh is empty and the message lists what would have been accepted.
carom_status cr_generate_make(cr_trimesh* mesh, const char* shape, const char* const* names,
                              const double* values, int32_t count, carom_error* error);
