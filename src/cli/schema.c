#include "carom/scene.h"
#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

int cli_schema(int argc, char** argv)
{
    const int page = argc == 2 && strcmp(argv[1], "--markdown") == 0;
    const int help = argc == 2 && strcmp(argv[1], "--help") == 0;
    if (help || (argc > 1 && !page)) {
        fprintf(help ? stdout : stderr,
                "usage: carom schema [--markdown]\n\nPrints the JSON Schema of scenes, or their "
                "reference page.\n");
        return help ? 0 : 2;
    }
    char* text = NULL;
    carom_error error = {0};
    if ((page ? carom_scene_reference(&text, &error) : carom_scene_schema(&text, &error)) !=
        CAROM_OK) {
        fprintf(stderr, "carom schema: %s\n", error.message);
        return 2;
    }
    fputs(text, stdout);
    carom_scene_text_free(text);
    return 0;
}
