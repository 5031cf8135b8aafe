#include "carom/scene.h"
#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

static int usage(FILE* out, int status)
{
    fprintf(
        out,
        "usage: carom import FILE --format rigid-ipc|arcsim [--meshes FOLDER] [--out SCENE.json]\n"
        "\nWrites the scene as one of carom's to SCENE.json, or to the screen. What is not\n"
        "carried over is listed on stderr.\n");
    return status;
}

// Writes the text and makes sure that it is a scene.
static int write_scene(const char* text, const char* out)
{
    carom_error error = {0};
    carom_scene* scene = NULL;
    carom_status status = carom_scene_parse(text, strlen(text), NULL, &scene, &error);
    if (status == CAROM_OK && out) {
        status = carom_scene_save(scene, out, &error);
    } else if (status == CAROM_OK && fputs(text, stdout) == EOF) {
        status = CAROM_ERR_FILE;
    }
    if (status != CAROM_OK) {
        fprintf(stderr, "carom import: %s\n", error.message);
    }
    carom_scene_destroy(scene);
    return status == CAROM_OK ? 0 : 2;
}

int cli_import(int argc, char** argv)
{
    const char *file = NULL, *format = NULL, *meshes = NULL, *out = NULL;
    for (int i = 1; i < argc; i++) {
        const char** option = strcmp(argv[i], "--format") == 0   ? &format
                              : strcmp(argv[i], "--meshes") == 0 ? &meshes
                              : strcmp(argv[i], "--out") == 0    ? &out
                                                                 : NULL;
        if (strcmp(argv[i], "--help") == 0) {
            return usage(stdout, 0);
        }
        if (option && i + 1 < argc) {
            *option = argv[++i];
        } else if (!option && argv[i][0] != '-' && !file) {
            file = argv[i];
        } else {
            fprintf(stderr, "carom import: \"%s\" is not understood here\n", argv[i]);
            return usage(stderr, 2);
        }
    }
    if (!file || !format) {
        return usage(stderr, 2);
    }
    char *text = NULL, *notes = NULL;
    carom_error error = {0};
    if (carom_scene_import(file, format, meshes, &text, &notes, &error) != CAROM_OK) {
        fprintf(stderr, "carom import: %s\n", error.message);
        return 2;
    }
    fputs(notes, stderr);
    const int result = write_scene(text, out);
    carom_scene_text_free(text);
    carom_scene_text_free(notes);
    return result;
}
