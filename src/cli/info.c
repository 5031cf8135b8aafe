#include "cli/info.h"
#include "carom/io.h"
#include "carom/mesh.h"
#include "cli/args.h"
#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

static const char* const call =
    "FILE [--json] [--repair [--weld PART] [--fill EDGES] [--out FILE]]";

// A scene is JSON, by its name or by its first character that is no space, which opens an object or
// a comment. No format of meshes begins so.
static int looks_like_scene(const char* path)
{
    FILE* file = fopen(path, "rb");
    if (!file) {
        return 0;
    }
    int c = getc(file);
    for (int i = 0; i < 4096 && (c == ' ' || c == '\t' || c == '\r' || c == '\n'); i++) {
        c = getc(file);
    }
    fclose(file);
    const size_t length = strlen(path);
    return c == '{' || c == '/' || (length > 5 && strcmp(path + length - 5, ".json") == 0);
}

int cli_info(int argc, char** argv)
{
    const carom_mesh_repair_options usual = carom_mesh_repair_default();
    cli_info_request request = {.weld = usual.weld, .fill = usual.hole_edges};
    const char *weld = NULL, *fill = NULL;
    const cli_option options[] = {
        {"--json", NULL, "one JSON object for programs", NULL, &request.json, NULL},
        {"--repair", NULL, "what a repair would do; nothing is changed", NULL, &request.repair,
         NULL},
        {"--weld", "PART", "repair: weld vertices this close, as a part of the box's diagonal (0)",
         &weld, NULL, NULL},
        {"--fill", "EDGES", "repair: fill holes of up to so many edges (100)", &fill, NULL, NULL},
        {"--out", "FILE", "repair: write the repaired mesh, as .obj or .ply", &request.out, NULL,
         NULL},
    };
    const cli_usage usage = {
        call,    "what a mesh, scene or trajectory holds, and what is wrong with it",
        options, (int)(sizeof options / sizeof *options),
        1,       1};
    const int plain = cli_args_parse(argc, argv, &usage, &request.path);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
    }
    double edges = request.fill;
    if ((weld && !cli_args_number(argv[0], "--weld", weld, 0, 1, &request.weld)) ||
        (fill && !cli_args_number(argv[0], "--fill", fill, 0, 1e9, &edges))) {
        return 2;
    }
    request.fill = (int)edges;
    if (!request.repair && (weld || fill || request.out)) {
        fprintf(stderr, "carom %s: --weld, --fill and --out go with --repair\n", argv[0]);
        return 2;
    }
    const int trajectory = carom_trajectory_recognise(request.path);
    const int mesh = !trajectory && !looks_like_scene(request.path);
    if (!mesh && request.repair) {
        fprintf(stderr, "carom %s: --repair is for meshes; %s is a %s\n", argv[0], request.path,
                trajectory ? "trajectory" : "scene");
        return 2;
    }
    return trajectory ? cli_info_trajectory(&request)
           : mesh     ? cli_info_mesh(&request)
                      : cli_info_scene(&request);
}
