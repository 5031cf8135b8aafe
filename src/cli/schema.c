#include "carom/scene.h"
#include "cli/args.h"
#include "cli/cli.h"
#include <stdio.h>

int cli_schema(int argc, char** argv)
{
    int page = 0;
    const cli_option options[] = {
        {"--markdown", NULL, "the reference page instead", NULL, &page, NULL},
    };
    const cli_usage usage = {
        "[--markdown]", "prints the JSON Schema of scenes, for editors", options, 1, 0, 0};
    const int plain = cli_args_parse(argc, argv, &usage, NULL);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
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
