#include "mesh/mesh_file.h"
#include "core/memory.h"
#include "mesh/read_obj.h"
#include "mesh/read_off.h"
#include "mesh/read_ply.h"
#include "mesh/read_stl.h"
#include "mesh/scan.h"
#include "mesh/write_obj.h"
#include "mesh/write_ply.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef carom_status reader(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                            carom_error* error);

// The name's last dot and what follows, as a word; none for "README" or ".obj/x".
static cr_scan_piece ending(const char* name)
{
    const char* dot = strrchr(name, '.');
    if (!dot || strchr(dot, '/')) {
        return (cr_scan_piece){(const unsigned char*)name, 0};
    }
    return (cr_scan_piece){(const unsigned char*)dot, strlen(dot)};
}

// Bytes that can only be an OBJ file: the first line that says something says it in OBJ.
static int fits_obj(const void* data, size_t size)
{
    static const char* const first[] = {"v", "vt", "vn", "mtllib", "usemtl", "o", "g", "s", "f"};
    cr_scan scan = cr_scan_make(data, size, "", NULL);
    scan.comments = 1;
    const cr_scan_piece word = cr_scan_any_word(&scan);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (cr_scan_is(word, first[i])) {
            return 1;
        }
    }
    return 0;
}

static int fits_off(const void* data, size_t size)
{
    cr_scan scan = cr_scan_make(data, size, "", NULL);
    scan.comments = 1;
    const cr_scan_piece word = cr_scan_any_word(&scan);
    return word.length >= 3 && word.length <= 8 &&
           memcmp(word.text + word.length - 3, "OFF", 3) == 0;
}

static int fits_ply(const void* data, size_t size)
{
    cr_scan scan = cr_scan_make(data, size, "", NULL);
    return cr_scan_is(cr_scan_word(&scan), "ply");
}

// Bytes that leave no doubt come before the name; OBJ has no such mark, so it comes after.
static reader* pick_reader(const void* data, size_t size, const char* name)
{
    static const struct {
        const char* ending;
        reader* read;
        int (*fits)(const void* data, size_t size);
    } rows[] = {{".ply", cr_read_ply, fits_ply},
                {".off", cr_read_off, fits_off},
                {".stl", cr_read_stl, cr_read_stl_fits},
                {".obj", cr_read_obj, NULL}};
    const size_t count = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].fits && rows[i].fits(data, size)) {
            return rows[i].read;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (cr_scan_is_any_case(ending(name), rows[i].ending)) {
            return rows[i].read;
        }
    }
    return fits_obj(data, size) ? cr_read_obj : NULL;
}

carom_status cr_mesh_file_parse(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                                carom_error* error)
{
    cr_trimesh_release(mesh);
    reader* read = pick_reader(data, size, name);
    if (!read) {
        char shown[256];
        return cr_status_refuse(
            error, CAROM_ERR_FORMAT,
            "%s: this is no mesh that carom can read; it reads " CR_MESH_FILE_FORMATS,
            cr_scan_show(shown, sizeof shown, name, strlen(name)));
    }
    return read(mesh, data, size, name, error);
}

typedef struct bytes {
    unsigned char* data;
    size_t size, capacity;
} bytes;

// All of the file, in pieces that double: a pipe does not tell its length.
static carom_status read_all(FILE* file, bytes* b)
{
    for (;;) {
        if (b->size == b->capacity) {
            const size_t larger = 2 * b->capacity + 65536;
            unsigned char* block = cr_memory_grow(b->data, b->size, larger, 1);
            if (!block) {
                return CAROM_ERR_MEMORY;
            }
            b->data = block;
            b->capacity = larger;
        }
        const size_t n = fread(b->data + b->size, 1, b->capacity - b->size, file);
        b->size += n;
        if (n == 0) {
            return ferror(file) ? CAROM_ERR_FILE : CAROM_OK;
        }
    }
}

static carom_status load(const char* path, const char* shown, bytes* b, carom_error* error)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        return cr_status_refuse(error, CAROM_ERR_FILE, "%s: cannot be read: %s", shown,
                                strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        return cr_status_refuse(error, CAROM_ERR_FILE,
                                "%s: is a directory; a mesh file is one of " CR_MESH_FILE_FORMATS,
                                shown);
    }
    FILE* file = fopen(path, "rb");
    if (!file) {
        return cr_status_refuse(error, CAROM_ERR_FILE, "%s: cannot be read: %s", shown,
                                strerror(errno));
    }
    // /dev/zero has no end; a terminal and a pipe have one
    if (S_ISCHR(about.st_mode) && !isatty(fileno(file))) {
        fclose(file);
        return cr_status_refuse(error, CAROM_ERR_FILE,
                                "%s: is a device; a mesh file is one of " CR_MESH_FILE_FORMATS,
                                shown);
    }
    errno = 0;
    const carom_status status = read_all(file, b);
    const int trouble = errno;
    fclose(file);
    if (status == CAROM_ERR_MEMORY) {
        return cr_status_refuse(error, status, "%s: memory could not be had", shown);
    }
    if (status != CAROM_OK) {
        return cr_status_refuse(error, status, "%s: cannot be read: %s", shown, strerror(trouble));
    }
    if (b->size == 0) {
        return cr_status_refuse(error, CAROM_ERR_FILE,
                                "%s: is empty; a mesh file is one of " CR_MESH_FILE_FORMATS, shown);
    }
    return CAROM_OK;
}

carom_status cr_mesh_file_read(cr_trimesh* mesh, const char* path, carom_error* error)
{
    char shown[256];
    bytes b = {0};
    cr_trimesh_release(mesh);
    cr_scan_show(shown, sizeof shown, path, strlen(path));
    carom_status status = load(path, shown, &b, error);
    if (status == CAROM_OK) {
        status = cr_mesh_file_parse(mesh, b.data, b.size, path, error);
    }
    cr_memory_free(b.data);
    return status;
}

carom_status cr_mesh_file_write(const cr_trimesh* mesh, const char* path, carom_error* error)
{
    char shown[256];
    cr_scan_show(shown, sizeof shown, path, strlen(path));
    const cr_scan_piece end = ending(path);
    const int obj = cr_scan_is_any_case(end, ".obj");
    if (!obj && !cr_scan_is_any_case(end, ".ply")) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "%s: a mesh is written as " CR_MESH_FILE_WRITES
                                "; the name has to end in one of them",
                                shown);
    }
    FILE* file = fopen(path, "wb");
    if (!file) {
        return cr_status_refuse(error, CAROM_ERR_FILE, "%s: cannot be written: %s", shown,
                                strerror(errno));
    }
    errno = 0;
    int good = obj ? cr_write_obj(mesh, file) : cr_write_ply(mesh, file);
    int trouble = errno;
    if (fclose(file) != 0) {
        trouble = good ? errno : trouble;
        good = 0;
    }
    if (!good) {
        return cr_status_refuse(error, CAROM_ERR_FILE, "%s: cannot be written: %s", shown,
                                strerror(trouble));
    }
    return CAROM_OK;
}
