#include "cli/plot.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/svg.h"
#include "cli/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 16 };

static int write_svg(const char* command, const cli_svg* picture, const char* out)
{
    cli_output o;
    if (cli_output_open(&o, command, out) != 0) {
        return 1;
    }
    cli_svg_write(o.file, picture);
    return cli_output_close(&o, 0);
}

// ---- a trajectory

typedef struct quantity {
    const char *name, *title, *unit;
    int count;
    const char* lines[4];
} quantity;

static const quantity quantities[] = {
    {"energy", "Energy", "J", 4, {"all", "motion", "gravity", "cloth"}},
    {"contacts", "Contacts that carry a force", "contacts", 2, {"contacts", "zones"}},
    {"gap", "Least gap", "m", 1, {"gap"}},
};

static void read_row(const carom_trajectory* tr, const quantity* q, double value[4])
{
    const carom_energy e = carom_trajectory_energy(tr);
    const carom_step_info s = carom_trajectory_step_info(tr);
    const double rows[3][4] = {{e.total, e.kinetic, e.gravity, e.elastic},
                               {s.contacts, s.zones, 0, 0},
                               {s.least_gap, 0, 0, 0}};
    memcpy(value, rows[q - quantities], sizeof rows[0]);
}

static int plot_frames(const char* command, carom_trajectory* tr, const quantity* q,
                       const char* out)
{
    const carom_trajectory_info about = carom_trajectory_about(tr);
    const size_t n = (size_t)about.frame_count;
    double* numbers = calloc(5 * n + 1, sizeof *numbers);
    carom_error error = {0};
    cli_svg_line line[4];
    if (!numbers) {
        return cli_output_fail(command, out, "not enough memory");
    }
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        double value[4];
        if (carom_trajectory_read(tr, (int64_t)i, &error) != CAROM_OK) {
            status = cli_output_fail(command, about.scene_name, error.message);
            break;
        }
        read_row(tr, q, value);
        numbers[i] = carom_trajectory_time(tr);
        for (size_t k = 0; k < 4; k++) {
            numbers[(k + 1) * n + i] = value[k];
        }
    }
    for (int k = 0; k < q->count; k++) {
        line[k] = (cli_svg_line){q->lines[k], numbers, numbers + (size_t)(k + 1) * n, (int)n};
    }
    char title[200];
    snprintf(title, sizeof title, "%s%s%.150s", q->title, about.scene_name[0] ? ": " : "",
             about.scene_name);
    const cli_svg picture = {.title = title,
                             .x_name = "time (s)",
                             .y_name = q->unit,
                             .line = line,
                             .line_count = q->count};
    status = status == 0 ? write_svg(command, &picture, out) : status;
    free(numbers);
    return status;
}

int cli_plot_trajectory(const char* command, const char* path, const char* what, const char* out)
{
    const quantity* q = NULL;
    carom_trajectory* tr = NULL;
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        q = strcmp(what, quantities[i].name) == 0 ? &quantities[i] : q;
    }
    if (!q) {
        fprintf(stderr, "carom %s: --what is \"%s\"; it has to be energy, contacts or gap\n",
                command, what);
        return 2;
    }
    if (!cli_input_open(command, path, &tr)) {
        return 2;
    }
    const int status = plot_frames(command, tr, q, out);
    carom_trajectory_close(tr);
    return status;
}

// ---- an optimisation

int cli_plot_history(const char* command, const cli_history* h, const char* out)
{
    double* iteration = calloc((size_t)h->count + 1, sizeof *iteration);
    int positive = h->count > 0;
    if (!iteration) {
        return cli_output_fail(command, out, "not enough memory");
    }
    for (int32_t i = 0; i < h->count; i++) {
        iteration[i] = i;
        positive = positive && h->objective[i] > 0;
    }
    const cli_svg_line line = {"objective", iteration, h->objective, h->count};
    const cli_svg picture = {.title = "Objective",
                             .x_name = "iteration",
                             .y_name = "objective",
                             .log_y = positive,
                             .dots = h->count <= 60,
                             .line = &line,
                             .line_count = 1};
    const int status = write_svg(command, &picture, out);
    free(iteration);
    return status;
}

// ---- a table: CSV, or the lines of carom bench --json

typedef struct plot_request {
    const char *path, *out, *what, *x, *y, *by;
    int log;
} plot_request;

// Rows of one name, or all; their numbers in two new arrays.
static int take_line(const cli_table* t, int x, int y, int by, const char* name, cli_svg_line* line)
{
    double* numbers = calloc(2 * (size_t)t->row_count + 1, sizeof *numbers);
    int count = 0;
    if (!numbers) {
        return 0;
    }
    for (int r = 0; r < t->row_count; r++) {
        if (by < 0 || strcmp(cli_table_text(t, r, by), name) == 0) {
            numbers[count] = cli_table_number(t, r, x);
            numbers[t->row_count + count] = cli_table_number(t, r, y);
            count++;
        }
    }
    *line = (cli_svg_line){name, numbers, numbers + t->row_count, count};
    return 1;
}

// One line for every column of --y, or for every word in the column --by.
static int take_lines(const plot_request* q, const cli_table* t, cli_svg_line line[LINES_MOST])
{
    const int x = cli_table_column(t, q->x), by = q->by ? cli_table_column(t, q->by) : -1;
    int count = 0;
    if (q->by) {
        const int y = cli_table_column(t, q->y);
        for (int r = 0; r < t->row_count && count < LINES_MOST; r++) {
            const char* name = cli_table_text(t, r, by);
            int known = 0;
            for (int i = 0; i < count; i++) {
                known = known || strcmp(line[i].name, name) == 0;
            }
            count += !known && take_line(t, x, y, by, name, &line[count]);
        }
        return count;
    }
    for (int c = 0; c < t->column_count && count < LINES_MOST; c++) {
        if (cli_table_listed(q->y, t->column[c])) {
            count += take_line(t, x, c, -1, t->column[c], &line[count]);
        }
    }
    return count;
}

static int columns_good(const plot_request* q, const cli_table* t)
{
    const char* const asked[3] = {q->x, q->y, q->by};
    const char* const option[3] = {"--x", "--y", "--by"};
    for (int i = 0; i < 3; i++) {
        const int list = i == 1 && !q->by;
        int found = 0;
        for (int c = 0; c < t->column_count && asked[i]; c++) {
            found = found || (list ? cli_table_listed(asked[i], t->column[c])
                                   : strcmp(asked[i], t->column[c]) == 0);
        }
        if (asked[i] ? !found : i < 2) {
            fprintf(stderr, "carom plot: %s %s \"%s\"; the columns of %s are:", option[i],
                    asked[i] ? "is" : "is missing, or", asked[i] ? asked[i] : "", q->path);
            for (int c = 0; c < t->column_count; c++) {
                fprintf(stderr, " %s", t->column[c]);
            }
            fputc('\n', stderr);
            return 0;
        }
    }
    return 1;
}

static int plot_table(const plot_request* q)
{
    cli_table t = {0};
    cli_svg_line line[LINES_MOST];
    if (!cli_table_read(&t, "plot", q->path)) {
        return 2;
    }
    int status = columns_good(q, &t) ? 0 : 2;
    if (status == 0) {
        const int count = take_lines(q, &t, line);
        const cli_svg picture = {.title = q->path,
                                 .x_name = q->x,
                                 .y_name = q->y,
                                 .log_x = q->log,
                                 .log_y = q->log,
                                 .dots = t.row_count <= 60,
                                 .line = line,
                                 .line_count = count};
        status = write_svg("plot", &picture, q->out);
        for (int i = 0; i < count; i++) {
            free((void*)(uintptr_t)line[i].x);
        }
    }
    cli_table_release(&t);
    return status;
}

// ---- the command

static int plot_folder(const plot_request* q)
{
    cli_page_run run[CLI_HISTORY_RUNS] = {{0}};
    cli_history history = {0};
    int count = 0;
    int status = cli_history_read(&history, "plot", q->path, run, &count);
    if (status == 0) {
        status = cli_plot_history("plot", &history, q->out);
    }
    for (int i = 0; i < count; i++) {
        carom_trajectory_close(run[i].trajectory);
        free(run[i].label);
    }
    cli_history_release(&history);
    return status;
}

int cli_plot(int argc, char** argv)
{
    plot_request q = {0};
    const cli_option options[] = {
        {"--out", "FILE.svg", "the picture (the screen)", &q.out, NULL, NULL},
        {"--what", "NAME", "of a trajectory: energy (the default), contacts or gap", &q.what, NULL,
         NULL},
        {"--x", "COLUMN", "of a table: what goes to the right", &q.x, NULL, NULL},
        {"--y", "COLUMN,...", "of a table: what goes up", &q.y, NULL, NULL},
        {"--by", "COLUMN", "of a table: a line for every word in it", &q.by, NULL, NULL},
        {"--log", NULL, "of a table: both axes in powers of ten", NULL, &q.log, NULL},
    };
    const cli_usage usage = {
        "TRAJECTORY | FOLDER | TABLE [--out FILE.svg] [--what NAME] [--x COLUMN --y COLUMN,... "
        "[--by COLUMN] [--log]]",
        "draws lines as SVG: a trajectory's energy, contacts or gap; the objective of carom "
        "optimize --history FOLDER; columns of a table (CSV, or what carom bench --json printed)",
        options,
        (int)(sizeof options / sizeof *options),
        1,
        1};
    const int plain = cli_args_parse(argc, argv, &usage, &q.path);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
    }
    if (cli_history_recognise(q.path)) {
        return plot_folder(&q);
    }
    if (carom_trajectory_recognise(q.path)) {
        return cli_plot_trajectory("plot", q.path, q.what ? q.what : "energy", q.out);
    }
    return plot_table(&q);
}
