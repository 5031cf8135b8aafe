#include "carom/scene.h"
#include "cli/args.h"
#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

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
    const cli_option options[] = {
        {"--format", "NAME", "whose scene it is: rigid-ipc or arcsim", &format, NULL, NULL},
        {"--meshes", "FOLDER", "where rigid-ipc's mesh files are (guessed)", &meshes, NULL, NULL},
        {"--out", "SCENE.json", "the scene (the screen)", &out, NULL, NULL},
    };
    const cli_usage usage = {
        "FILE --format rigid-ipc|arcsim [--meshes FOLDER] [--out SCENE.json]",
        "writes another program's scene as one of carom's; what is not carried over is listed on "
        "stderr",
        options,
        (int)(sizeof options / sizeof *options),
        1,
        1};
    const int plain = cli_args_parse(argc, argv, &usage, &file);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
    }
    if (!format) {
        fprintf(stderr, "carom import: --format is missing; it has to be rigid-ipc or arcsim\n");
        return 2;
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
