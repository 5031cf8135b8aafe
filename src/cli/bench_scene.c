#include "cli/bench_scene.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The released program's contacts are 5e-4 m thick and have no friction; so have these, to compare
// like with like. --set world.friction=0.5 changes that.
#define WORLD "\"gravity\": [0, 0, -9.81], \"thickness\": 5e-4, \"friction\": 0"

static const double thickness = 5e-4; // m, of each body

// Uniform in [0, 1), the same for the same body on every machine.
static double chance(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// ---- text that grows

typedef struct text {
    FILE* file;
    char* bytes;
    size_t size;
} text;

static int text_open(text* t)
{
    *t = (text){0};
    t->file = open_memstream(&t->bytes, &t->size);
    return t->file != NULL;
}

static char* text_close(text* t)
{
    const int bad = ferror(t->file);
    if (fclose(t->file) != 0 || bad) {
        free(t->bytes);
        return NULL;
    }
    return t->bytes;
}

// The world, and a ground whose top is z = 0, so large in x and y, around a middle.
static void put_start(FILE* out, double dt, double duration, double x, double y, double size_x,
                      double size_y)
{
    fprintf(out,
            "{\"carom\": 1, \"world\": {\"dt\": %.17g, \"duration\": %.17g, " WORLD "},\n"
            "\"bodies\": [\n{\"name\": \"ground\", \"type\": \"fixed\", \"position\": [%g, %g, "
            "-0.1], \"mesh\": {\"box\": {\"x\": %g, \"y\": %g, \"z\": 0.2}}}",
            dt, duration, x, y, size_x, size_y);
}

// ---- the scenes

// Cubes of 0.1 m and 0.08 kg in a line, their bases anywhere up to 0.4 m above the ground.
static char* write_falling_cubes(int n)
{
    text t;
    const double spacing = 0.18;
    if (!text_open(&t)) {
        return NULL;
    }
    put_start(t.file, 0.04, 1.0, 0.5 * spacing * (n - 1), 0, spacing * n + 2, 2);
    for (int i = 0; i < n; i++) {
        const double base = 2.5 * thickness + 0.4 * chance((uint64_t)i);
        fprintf(t.file,
                ",\n{\"name\": \"cube%d\", \"density\": 80, \"mesh\": {\"box\": {\"x\": 0.1, "
                "\"y\": 0.1, \"z\": 0.1}}, \"position\": [%.17g, 0, %.17g]}",
                i, spacing * i, base + 0.05);
    }
    fputs("]}\n", t.file);
    return text_close(&t);
}

static void put_brick(FILE* out, int i, double x, double z, double length)
{
    fprintf(out,
            ",\n{\"name\": \"brick%d\", \"density\": 80, \"mesh\": {\"box\": {\"x\": %g, \"y\": "
            "0.1, \"z\": 0.1}}, \"position\": [%.17g, 0, %.17g]}",
            i, length, x, z);
}

// Two layers of bricks, every upper one on two lower ones, so that all of them hang together: n
// lower and n - 1 upper ones. For an even number of bricks the first upper one is longer and lies
// on three.
static char* write_stacked_cubes(int n)
{
    text t;
    const double pitch = 0.11, air = 2 * thickness + 1e-4; // just above touching
    const double low = air + 0.05, high = low + 0.1 + air;
    const int lower = n / 2 + 1, even = n % 2 == 0;
    if (!text_open(&t)) {
        return NULL;
    }
    put_start(t.file, 0.04, 1.0, 0.5 * pitch * lower, 0, pitch * lower + 2, 2);
    for (int i = 0; i < lower; i++) {
        put_brick(t.file, i, pitch * i, low, 0.1);
    }
    for (int i = lower; i < n; i++) {
        const int k = i - lower;
        const int wide = even && k == 0;
        put_brick(t.file, i, pitch * (wide ? 1 : k + even + 0.5), high, wide ? 0.21 : 0.1);
    }
    fputs("]}\n", t.file);
    return text_close(&t);
}

// Boxes, icospheres of 42 and 162 vertices and figurines of 886 in turn, at a fixed stride over the
// ground, turned at random and up to 0.4 m apart in height.
static char* write_many_objects(int n)
{
    static const char* const meshes[] = {
        "{\"box\": {\"x\": 0.2, \"y\": 0.12, \"z\": 0.08}}",
        "{\"sphere\": {\"radius\": 0.08, \"subdivisions\": 1}}",
        "{\"figurine\": {\"resolution\": 12}}, \"scale\": 0.2",
        "{\"sphere\": {\"radius\": 0.1, \"subdivisions\": 2}}",
    };
    text t;
    const double stride = 0.3;
    const int side = (int)ceil(sqrt((double)n));
    if (!text_open(&t)) {
        return NULL;
    }
    put_start(t.file, 0.01, 2.0, 0.5 * stride * (side - 1), 0.5 * stride * (side - 1),
              stride * side + 2, stride * side + 2);
    for (int i = 0; i < n; i++) {
        const uint64_t k = (uint64_t)(4 * i);
        const int row = i / side;
        fprintf(t.file,
                ",\n{\"name\": \"object%d\", \"density\": 300, \"mesh\": %s, \"origin\": "
                "\"center\", \"position\": [%.17g, %.17g, %.17g], \"euler_degrees\": [%.17g, "
                "%.17g, %.17g]}",
                i, meshes[i % 4], stride * (i % side), stride * row, 0.2 + 0.4 * chance(k),
                360 * chance(k + 1), 360 * chance(k + 2), 360 * chance(k + 3));
    }
    fputs("]}\n", t.file);
    return text_close(&t);
}

// A figurine of 1768 faces and 0.3 m is thrown at a sheet that hangs by its upper edge and is
// n times as large; the number of nodes stays the same.
static char* write_cloth_scale(int n)
{
    text t;
    const double size = 0.3, side = size * n;
    if (!text_open(&t)) {
        return NULL;
    }
    // the sheet's x points down; its upper edge is pinned
    fprintf(t.file,
            "{\"carom\": 1, \"world\": {\"dt\": 0.02, \"duration\": 0.4, " WORLD "},\n"
            "\"bodies\": [\n{\"name\": \"sheet\", \"type\": \"cloth\", \"density\": 0.374, "
            "\"mesh\": {\"sheet\": {\"width\": %g, \"height\": %g, \"nx\": 20, \"ny\": 20}}, "
            "\"rotation\": {\"axis\": [0, 1, 0], \"degrees\": 90}, "
            "\"pins\": [{\"nodes\": {\"box\": [[-1, %g, %.17g], [1, %g, %.17g]]}}]},\n"
            "{\"name\": \"figurine\", \"density\": 300, \"origin\": \"center\", \"mesh\": "
            "{\"figurine\": {\"resolution\": 12}}, \"scale\": %g, \"position\": [-0.25, 0, 0], "
            "\"velocity\": [3, 0, 0.5]}]}\n",
            side, side, -side, 0.5 * side - 1e-6, side, 0.5 * side + 1e-6, size);
    return text_close(&t);
}

// A ball of 42 vertices and 0.42 kg falls on a sheet of n x n nodes that is held by its corners.
static char* write_sheet_ball(int n)
{
    text t;
    if (!text_open(&t)) {
        return NULL;
    }
    fprintf(t.file,
            "{\"carom\": 1, \"world\": {\"dt\": 0.04, \"duration\": 0.8, " WORLD "},\n"
            "\"bodies\": [\n{\"name\": \"sheet\", \"type\": \"cloth\", \"density\": 0.374, "
            "\"mesh\": {\"sheet\": {\"nx\": %d, \"ny\": %d}}, \"pins\": [{\"nodes\": "
            "\"corners\"}]},\n"
            "{\"name\": \"ball\", \"mass\": 0.42, \"mesh\": {\"sphere\": {\"radius\": 0.1, "
            "\"subdivisions\": 1}}, \"position\": [0.03, 0.02, 0.11]}]}\n",
            n - 1, n - 1);
    return text_close(&t);
}

static const cli_bench_scene scenes[] = {
    {"falling-cubes", "cubes in a line fall on the ground", "cubes", "100,200,300", 1000000,
     write_falling_cubes},
    {"stacked-cubes", "bricks in two layers that are one zone", "bricks", "100,200,300", 1000000,
     write_stacked_cubes},
    {"many-objects", "boxes, spheres and figurines fall on the ground and settle", "objects",
     "20,50,100,200,500,1000", 1000000, write_many_objects},
    {"cloth-scale", "a figurine is thrown at a sheet n times as large", "times", "1,2,5,10", 1000,
     write_cloth_scale},
    {"sheet-ball", "a ball falls on a sheet held by its corners", "nodes per side", "9,33,100",
     2000, write_sheet_ball},
};

const cli_bench_scene* cli_bench_scene_at(int i)
{
    return i >= 0 && i < (int)(sizeof scenes / sizeof *scenes) ? &scenes[i] : NULL;
}

const cli_bench_scene* cli_bench_scene_find(const char* name)
{
    for (int i = 0; cli_bench_scene_at(i); i++) {
        if (strcmp(scenes[i].name, name) == 0) {
            return &scenes[i];
        }
    }
    return NULL;
}
