#include "mesh/generate.h"
#include "mesh/figurine.h"
#include "mesh/sheet.h"
#include "mesh/solid.h"
#include <stdio.h>
#include <string.h>

static carom_status make_box(cr_trimesh* mesh, const double* v)
{
    return cr_solid_box(mesh, cr_vec3_load(v));
}

static carom_status make_icosphere(cr_trimesh* mesh, const double* v)
{
    return cr_solid_icosphere(mesh, v[0], (int32_t)v[1]);
}

static carom_status make_uv_sphere(cr_trimesh* mesh, const double* v)
{
    return cr_solid_uv_sphere(mesh, v[0], (int32_t)v[1], (int32_t)v[2]);
}

static carom_status make_cylinder(cr_trimesh* mesh, const double* v)
{
    return cr_solid_cylinder(mesh, v[0], v[1], (int32_t)v[2], (int32_t)v[3]);
}

static carom_status make_capsule(cr_trimesh* mesh, const double* v)
{
    return cr_solid_capsule(mesh, v[0], v[1], (int32_t)v[2], (int32_t)v[3]);
}

static carom_status make_cone(cr_trimesh* mesh, const double* v)
{
    return cr_solid_cone(mesh, v[0], v[1], (int32_t)v[2]);
}

static carom_status make_torus(cr_trimesh* mesh, const double* v)
{
    return cr_solid_torus(mesh, v[0], v[1], (int32_t)v[2], (int32_t)v[3]);
}

static carom_status make_bowl(cr_trimesh* mesh, const double* v)
{
    return cr_solid_bowl(mesh, v[0], v[1], (int32_t)v[2], (int32_t)v[3]);
}

static carom_status make_figurine(cr_trimesh* mesh, const double* v)
{
    return cr_figurine_make(mesh, v[0], (int32_t)v[1]);
}

static carom_status make_sheet(cr_trimesh* mesh, const double* v)
{
    return cr_sheet_rectangle(mesh, v[0], v[1], (int32_t)v[2], (int32_t)v[3], v[4], (uint64_t)v[5]);
}

static carom_status make_disc(cr_trimesh* mesh, const double* v)
{
    return cr_sheet_disc(mesh, v[0], (int32_t)v[1], v[2], (uint64_t)v[3]);
}

// Lengths from a micrometre to a thousand kilometres.
#define LENGTH(name, fallback, about)                                                              \
    {                                                                                              \
        name, "m", fallback, 1e-6, 1e6, 0, about                                                   \
    }
#define STEPS(name, fallback, least, most, about)                                                  \
    {                                                                                              \
        name, "1", fallback, least, most, 1, about                                                 \
    }
#define JITTER                                                                                     \
    {                                                                                              \
        "jitter", "1", 0, 0, CR_SHEET_JITTER_MOST, 0,                                              \
            "cells by which inner vertices stray at most; 0 is regular"                            \
    }
#define SEED                                                                                       \
    {                                                                                              \
        "seed", "1", 1, 0, 9007199254740992.0, 1, "picks one of the irregular sheets"              \
    }

// One row per shape: adding a row is adding the shape everywhere.
static const cr_generate_shape shapes[] = {
    {"box",
     "a box",
     3,
     {LENGTH("x", 1, "size along x"), LENGTH("y", 1, "size along y"),
      LENGTH("z", 1, "size along z")},
     make_box},
    {"sphere",
     "a sphere of nearly equal triangles",
     2,
     {LENGTH("radius", 0.5, "radius"), STEPS("subdivisions", 3, 0, 8, "20 * 4^subdivisions faces")},
     make_icosphere},
    {"uv_sphere",
     "a sphere of meridians and parallels",
     3,
     {LENGTH("radius", 0.5, "radius"), STEPS("segments", 32, 3, 2000, "steps around the axis"),
      STEPS("rings", 16, 2, 2000, "bands from pole to pole")},
     make_uv_sphere},
    {"cylinder",
     "a cylinder along z",
     4,
     {LENGTH("radius", 0.5, "radius"), LENGTH("height", 1, "height"),
      STEPS("segments", 32, 3, 2000, "steps around the axis"),
      STEPS("stacks", 1, 1, 2000, "bands along the height")},
     make_cylinder},
    {"capsule",
     "a cylinder along z with round ends",
     4,
     {LENGTH("radius", 0.25, "radius"), LENGTH("length", 0.5, "between the ends' centres"),
      STEPS("segments", 32, 3, 2000, "steps around the axis"),
      STEPS("rings", 8, 1, 2000, "bands on each end")},
     make_capsule},
    {"cone",
     "a cone along z, point up",
     3,
     {LENGTH("radius", 0.5, "radius of the foot"), LENGTH("height", 1, "height"),
      STEPS("segments", 32, 3, 2000, "steps around the axis")},
     make_cone},
    {"torus",
     "a ring around z",
     4,
     {LENGTH("major", 0.5, "axis to the middle of the tube"),
      LENGTH("minor", 0.2, "radius of the tube, less than major"),
      STEPS("segments", 48, 3, 2000, "steps around the axis"),
      STEPS("rings", 24, 3, 2000, "steps around the tube")},
     make_torus},
    {"bowl",
     "half a thick spherical shell, open side up",
     4,
     {LENGTH("radius", 0.5, "outer radius"), LENGTH("thickness", 0.05, "less than the radius"),
      STEPS("segments", 48, 3, 2000, "steps around the axis"),
      STEPS("rings", 12, 1, 2000, "bands from the foot to the rim")},
     make_bowl},
    {"figurine",
     "a four-legged animal",
     2,
     {LENGTH("size", 1, "from tail to snout, along x"),
      STEPS("resolution", 20, 9, 200, "cells along x")},
     make_figurine},
    {"sheet",
     "a rectangular sheet in the plane z = 0",
     6,
     {LENGTH("width", 1, "along x"), LENGTH("height", 1, "along y"),
      STEPS("nx", 20, 1, 4000, "cells along x"), STEPS("ny", 20, 1, 4000, "cells along y"), JITTER,
      SEED},
     make_sheet},
    {"disc",
     "a round sheet in the plane z = 0",
     4,
     {LENGTH("radius", 0.5, "radius"), STEPS("rings", 12, 1, 2000, "rings of triangles"), JITTER,
      SEED},
     make_disc},
};

static const int32_t shape_count = (int32_t)(sizeof shapes / sizeof *shapes);

int32_t cr_generate_shape_count(void)
{
    return shape_count;
}

const cr_generate_shape* cr_generate_shape_at(int32_t i)
{
    return i >= 0 && i < shape_count ? shapes + i : NULL;
}

const cr_generate_shape* cr_generate_find(const char* name)
{
    for (int32_t i = 0; i < shape_count; i++) {
        if (strcmp(shapes[i].name, name) == 0) {
            return shapes + i;
        }
    }
    return NULL;
}

// "a, b, c" of the names, as much as fits.
static void list_shapes(char* text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int32_t i = 0; i < shape_count && used < size; i++) {
        const int n = snprintf(text + used, size - used, "%s%s", i ? ", " : "", shapes[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}

static void list_params(const cr_generate_shape* shape, char* text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int32_t i = 0; i < shape->param_count && used < size; i++) {
        const int n =
            snprintf(text + used, size - used, "%s%s", i ? ", " : "", shape->param[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}

static int32_t find_param(const cr_generate_shape* shape, const char* name)
{
    for (int32_t i = 0; i < shape->param_count; i++) {
        if (strcmp(shape->param[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static carom_status check_value(const cr_generate_shape* shape, const cr_generate_param* p,
                                double value, carom_error* error)
{
    if (value >= p->least && value <= p->most && (!p->whole || value == floor(value))) {
        return CAROM_OK;
    }
    const int plain = strcmp(p->unit, "1") == 0;
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                            "%s.%s is %.17g%s%s; it has to be a %snumber from %g to %g",
                            shape->name, p->name, value, plain ? "" : " ", plain ? "" : p->unit,
                            p->whole ? "whole " : "", p->least, p->most);
}

carom_status cr_generate_make(cr_trimesh* mesh, const char* shape_name, const char* const* names,
                              const double* values, int32_t count, carom_error* error)
{
    char list[400];
    cr_trimesh_release(mesh);
    const cr_generate_shape* shape = cr_generate_find(shape_name);
    if (!shape) {
        list_shapes(list, sizeof list);
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "there is no shape \"%.100s\"; known: %s", shape_name, list);
    }
    double value[CR_GENERATE_PARAMS];
    for (int32_t i = 0; i < shape->param_count; i++) {
        value[i] = shape->param[i].fallback;
    }
    for (int32_t k = 0; k < count; k++) {
        const int32_t i = find_param(shape, names[k]);
        if (i < 0) {
            list_params(shape, list, sizeof list);
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                    "%s has no parameter \"%.100s\"; it takes %s", shape->name,
                                    names[k], list);
        }
        const carom_status status = check_value(shape, shape->param + i, values[k], error);
        if (status != CAROM_OK) {
            return status;
        }
        value[i] = values[k];
    }
    const carom_status status = shape->make(mesh, value);
    if (status == CAROM_ERR_MEMORY) {
        return cr_status_refuse(error, status, "%s: not enough memory for so many faces",
                                shape->name);
    }
    if (status != CAROM_OK) {
        return cr_status_refuse(error, status, "%s: these parameters do not fit together",
                                shape->name);
    }
    return CAROM_OK;
}
