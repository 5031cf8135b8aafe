// Replays every file of tests/fuzz/corpus through the entry points of the fuzzers, in every build.
// Each also goes through with its end cut off at every length, and with single bytes changed.
#include "../fuzz/fuzz.h"
#include "../fuzz/fuzz_api.h"
#include "../fuzz/fuzz_import.h"
#include "check.h"
#include "mesh/read_obj.h"
#include "mesh/read_off.h"
#include "mesh/read_ply.h"
#include "mesh/read_stl.h"
#include <dirent.h>

enum { MOST = 1 << 16 };

static int32_t files, runs;

// A block of just this size, so that a byte read beyond it is seen by the sanitizer.
static void replay(fuzz_reader* read, const unsigned char* data, size_t size)
{
    unsigned char* exact = malloc(size ? size : 1);
    CHECK(exact != NULL);
    if (exact) {
        memcpy(exact, data, size);
        fuzz_read(read, exact, size);
        free(exact);
        runs++;
    }
}

static void replay_file(fuzz_reader* read, const char* path)
{
    static unsigned char data[MOST];
    FILE* file = fopen(path, "rb");
    CHECK(file != NULL);
    if (!file) {
        return;
    }
    const size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    CHECK(size < MOST); // a corpus of small files
    replay(read, data, size);
    const size_t step = size / 200 + 1;
    for (size_t n = 0; n < size; n += step) {
        replay(read, data, n);
    }
    uint64_t seed = size;
    for (int i = 0; i < 200 && size > 0; i++) {
        unsigned char* byte = data + check_random_bits(&seed) % size;
        const unsigned char old = *byte;
        *byte = (unsigned char)check_random_bits(&seed);
        replay(read, data, size);
        *byte = old;
    }
    files++;
}

static void replay_folder(fuzz_reader* read, const char* format)
{
    char folder[500], path[900];
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", CAROM_SOURCE, format);
    DIR* dir = opendir(folder);
    CHECK(dir != NULL);
    const int32_t before = files;
    for (struct dirent* entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            replay_file(read, path);
        }
    }
    if (dir) {
        closedir(dir);
    }
    CHECK(files > before + 4);
}

static void test_obj(void)
{
    replay_folder(cr_read_obj, "obj");
}

static void test_ply(void)
{
    replay_folder(cr_read_ply, "ply");
}

static void test_stl(void)
{
    replay_folder(cr_read_stl, "stl");
}

static void test_off(void)
{
    replay_folder(cr_read_off, "off");
}

// Scenes, imports and programs of calls: each as it is, cut off, and with bytes changed. A run of
// these takes longer than reading a mesh, so there are fewer.
typedef void fuzz_bytes(const uint8_t* data, size_t size);

static void replay_bytes(fuzz_bytes* run, const char* path)
{
    static uint8_t data[MOST];
    FILE* file = fopen(path, "rb");
    CHECK(file != NULL);
    if (!file) {
        return;
    }
    const size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    CHECK(size < MOST);
    run(data, size);
    uint64_t seed = size;
    for (int i = 0; i < 12 && size > 0; i++) {
        uint8_t* byte = data + check_random_bits(&seed) % size;
        const uint8_t old = *byte;
        *byte = (uint8_t)check_random_bits(&seed);
        run(data, size);
        run(data, check_random_bits(&seed) % size);
        *byte = old;
        runs += 2;
    }
    files++;
    runs++;
}

static void replay_all(fuzz_bytes* run, const char* what)
{
    char folder[500], path[900];
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", CAROM_SOURCE, what);
    DIR* dir = opendir(folder);
    CHECK(dir != NULL);
    const int32_t before = files;
    for (struct dirent* entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            replay_bytes(run, path);
        }
    }
    if (dir) {
        closedir(dir);
    }
    CHECK(files > before + 4);
}

static void test_scene(void)
{
    replay_all(fuzz_scene, "scene");
}

static void test_import(void)
{
    replay_all(fuzz_import, "import");
    fuzz_import_tidy();
}

static void test_api(void)
{
    replay_all(fuzz_api_run, "api");
    fuzz_api_tidy();
}

// Every file as every format, picked by content: none may be more than refused.
static void test_any(void)
{
    replay_folder(cr_mesh_file_parse, "obj");
    replay_folder(cr_mesh_file_parse, "ply");
    replay_folder(cr_mesh_file_parse, "stl");
    replay_folder(cr_mesh_file_parse, "off");
}

int main(void)
{
    RUN(test_obj);
    RUN(test_ply);
    RUN(test_stl);
    RUN(test_off);
    RUN(test_any);
    RUN(test_scene);
    RUN(test_import);
    RUN(test_api);
    printf("%d files, %d runs\n", files, runs);
    return check_failures != 0;
}
