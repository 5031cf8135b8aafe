#include "carom/io.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/history.h"
#include "cli/input.h"
#include "cli/measure.h"
#include "cli/page.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct view_request {
    const char* path[2];
    const char *out, *every_text;
    int64_t every;
} view_request;

// PATH with .html instead of its ending.
static void default_out(const char* path, char out[4100])
{
    const char* slash = strrchr(path, '/');
    const char* dot = strrchr(path, '.');
    int keep = dot && dot > (slash ? slash : path) ? (int)(dot - path) : (int)strlen(path);
    while (keep > 1 && path[keep - 1] == '/') { // of a folder
        keep--;
    }
    snprintf(out, 4100, "%.*s.html", keep, path);
}

static int open_run(const char* path, cli_page_run* run)
{
    const char* slash = strrchr(path, '/');
    run->label = strdup(slash ? slash + 1 : path);
    run->iteration = -1;
    if (!run->label) {
        fprintf(stderr, "carom view: not enough memory\n");
        return 0;
    }
    return cli_input_open("view", path, &run->trajectory);
}

// What the page shows: one trajectory, two, or the iterations of an optimisation.
static int open_all(const view_request* q, int count, cli_page_run* run, int* run_count,
                    cli_history* history)
{
    if (cli_history_recognise(q->path[0])) {
        return cli_history_read(history, "view", q->path[0], run, run_count);
    }
    int good = 1;
    for (int i = 0; i < count && good; i++) {
        good = open_run(q->path[i], &run[i]);
        *run_count = i + 1;
    }
    return good ? 0 : 2;
}

static void tell(const view_request* q, const char* out, const cli_page_report* report)
{
    char size[CLI_MEASURE_TEXT];
    if (strcmp(out, "-") == 0) {
        return;
    }
    printf("%s: %lld frames, %s; open it in a browser\n", out, (long long)report->frames,
           cli_measure_bytes(report->bytes, size));
    if (report->every > 1 && !q->every_text) {
        printf("  every %lld-th frame, to keep it light; --every 1 takes all\n",
               (long long)report->every);
    }
}

static int view_all(const view_request* q, int count)
{
    cli_page_run run[CLI_HISTORY_RUNS] = {{0}};
    cli_history history = {0};
    char beside[4100];
    cli_page_report report = {0};
    int run_count = 0;
    int status = open_all(q, count, run, &run_count, &history);
    const char* out = q->out;
    if (!out) {
        default_out(q->path[0], beside);
        out = beside;
    }
    if (status == 0) {
        const cli_page page = {.command = "view",
                               .title = history.count > 0
                                            ? carom_trajectory_about(run[0].trajectory).scene_name
                                            : run[0].label,
                               .run = run,
                               .run_count = run_count,
                               .curve = {history.objective, history.gradient, history.count},
                               .every = q->every,
                               .contacts = 1};
        status = cli_page_write(&page, out, &report);
    }
    if (status == 0) {
        tell(q, out, &report);
    }
    for (int i = 0; i < run_count; i++) {
        carom_trajectory_close(run[i].trajectory);
        free(run[i].label);
    }
    cli_history_release(&history);
    return status;
}

int cli_view(int argc, char** argv)
{
    view_request q = {0};
    const cli_option options[] = {
        {"--out", "PAGE.html", "the page (the trajectory's name, with .html)", &q.out, NULL, NULL},
        {"--every", "N", "every N-th frame, and the last (as many as a browser is happy with)",
         &q.every_text, NULL, NULL},
    };
    const cli_usage usage = {
        "TRAJECTORY [SECOND] | FOLDER [--out PAGE.html] [--every N]",
        "writes one page that plays a trajectory in any browser, without a "
        "server or a network; two trajectories are played side by side, "
        "and so is before and after of an optimisation (the folder of carom optimize "
        "--history)",
        options,
        (int)(sizeof options / sizeof *options),
        1,
        2};
    const int plain = cli_args_parse(argc, argv, &usage, q.path);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
    }
    if (q.every_text && !cli_args_whole("view", "--every", q.every_text, 1, 1e15, &q.every)) {
        return 2;
    }
    return view_all(&q, plain);
}
