// Replays every file of tests/fuzz/corpus through the entry points of the fuzzers, in every build:
// whole, cut off, and with single bytes changed.
#include "../fuzz/fuzz.h"
#include "../fuzz/fuzz_api.h"
#include "../fuzz/fuzz_import.h"
#include "../fuzz/fuzz_trajectory.h"
#include "check.h"
#include "mesh/read_obj.h"
#include "mesh/read_off.h"
#include "mesh/read_ply.h"
#include "mesh/read_stl.h"
#include <dirent.h>

enum { MOST = 1 << 16 };

typedef void fuzz_bytes(const uint8_t* data, size_t size);

static int32_t files, runs;

// A block of just this size, so that a byte read beyond it is seen by the sanitizer.
static void replay(fuzz_bytes* run, const uint8_t* data, size_t size)
{
    uint8_t* exact = malloc(size ? size : 1);
    CHECK(exact != NULL);
    if (exact) {
        memcpy(exact, data, size);
        run(exact, size);
        free(exact);
        runs++;
    }
}

// Besides the whole file: about `times` of its beginnings, and as many copies with one byte
// changed.
static void replay_file(fuzz_bytes* run, int times, const char* path)
{
    static uint8_t data[MOST];
    FILE* file = fopen(path, "rb");
    CHECK(file != NULL);
    if (!file) {
        return;
    }
    const size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    CHECK(size < MOST); // a corpus of small files
    replay(run, data, size);
    const size_t step = size / (size_t)times + 1;
    for (size_t n = 0; n < size; n += step) {
        replay(run, data, n);
    }
    uint64_t seed = size;
    for (int i = 0; i < times && size > 0; i++) {
        uint8_t* byte = data + check_random_bits(&seed) % size;
        const uint8_t old = *byte;
        *byte = (uint8_t)check_random_bits(&seed);
        replay(run, data, size);
        *byte = old;
    }
    files++;
}

static void replay_folder(fuzz_bytes* run, int times, const char* name)
{
    char folder[500], path[900];
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", CAROM_SOURCE, name);
    DIR* dir = opendir(folder);
    CHECK(dir != NULL);
    const int32_t before = files;
    for (struct dirent* entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            replay_file(run, times, path);
        }
    }
    if (dir) {
        closedir(dir);
    }
    CHECK(files > before + 4);
}

// ---- meshes: quick to read

enum { MANY = 200 };

static void read_obj(const uint8_t* data, size_t size)
{
    fuzz_read(cr_read_obj, data, size);
}

static void read_ply(const uint8_t* data, size_t size)
{
    fuzz_read(cr_read_ply, data, size);
}

static void read_stl(const uint8_t* data, size_t size)
{
    fuzz_read(cr_read_stl, data, size);
}

static void read_off(const uint8_t* data, size_t size)
{
    fuzz_read(cr_read_off, data, size);
}

static void read_any(const uint8_t* data, size_t size)
{
    fuzz_read(cr_mesh_file_parse, data, size);
}

static void test_meshes(void)
{
    replay_folder(read_obj, MANY, "obj");
    replay_folder(read_ply, MANY, "ply");
    replay_folder(read_stl, MANY, "stl");
    replay_folder(read_off, MANY, "off");
}

// Every file as every format, picked by content: none may be more than refused.
static void test_any(void)
{
    replay_folder(read_any, MANY, "obj");
    replay_folder(read_any, MANY, "ply");
    replay_folder(read_any, MANY, "stl");
    replay_folder(read_any, MANY, "off");
}

// ---- scenes, imports, trajectories, programs of calls: a run of these takes longer

enum { SOME = 15 };

static void test_scene(void)
{
    replay_folder(fuzz_scene, SOME, "scene");
}

static void test_import(void)
{
    replay_folder(fuzz_import, SOME, "import");
    fuzz_import_tidy();
}

static void test_trajectory(void)
{
    replay_folder(fuzz_trajectory, MANY, "trajectory");
}

static void test_api(void)
{
    replay_folder(fuzz_api_run, SOME, "api");
    fuzz_api_tidy();
}

int main(void)
{
    RUN(test_meshes);
    RUN(test_any);
    RUN(test_scene);
    RUN(test_import);
    RUN(test_trajectory);
    RUN(test_api);
    printf("%d files, %d runs\n", files, runs);
    return check_failures != 0;
}
