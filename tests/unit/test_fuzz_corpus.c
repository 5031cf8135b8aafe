// Replays every file of tests/fuzz/corpus through the entry points of the fuzzers, in every build.
// Each also goes through with its end cut off at every length, and with single bytes changed.
#include "../fuzz/fuzz.h"
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
    printf("%d files, %d runs\n", files, runs);
    return check_failures != 0;
}
