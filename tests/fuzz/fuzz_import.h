// fuzz_import.h - bytes as another program's scene. The first byte picks the program. A result is a
// scene that our own reader accepts and builds, or there is a message; steps are fuzz_scene's.
#pragma once

#include "fuzz_scene.h"
#include <fcntl.h>

// The importers read files: one of our own, over and over, in an empty folder.
static inline const char* fuzz_import_file(const uint8_t* data, size_t size)
{
    static char path[64];
    static int file = -1;
    if (file < 0) {
        snprintf(path, sizeof path, "%s/scene.json", fuzz_scene_folder());
        file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        fuzz_scene_keep(file >= 0);
    }
    fuzz_scene_keep(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    return path;
}

// Takes the file away again, at the end of a program.
static inline void fuzz_import_tidy(void)
{
    unlink(fuzz_import_file((const uint8_t*)"", 0));
}

static inline void fuzz_import(const uint8_t* data, size_t size)
{
    if (size == 0) {
        return;
    }
    char *text = NULL, *notes = NULL;
    carom_error error = {CAROM_OK, ""};
    carom_scene* scene = NULL;
    const char* path = fuzz_import_file(data + 1, size - 1);
    const char* format = data[0] % 2 ? "rigid-ipc" : "arcsim";
    const char* meshes = fuzz_scene_folder(); // where none of them is
    if (fuzz_scene_good(carom_scene_import(path, format, meshes, &text, &notes, &error), &error)) {
        fuzz_scene_keep(text && notes);
        // names and ranges of what was read may still be beyond ours: then that is said
        if (fuzz_scene_good(carom_scene_parse(text, strlen(text), "/nowhere", &scene, &error),
                            &error) &&
            fuzz_scene_tame(text, strlen(text))) {
            fuzz_scene_build(scene, 0);
        }
    } else {
        fuzz_scene_keep(!text && !notes);
    }
    carom_scene_destroy(scene);
    carom_scene_text_free(text);
    carom_scene_text_free(notes);
}
