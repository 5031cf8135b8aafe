#include "cli/history.h"
#include "cli/output.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- keeping

static int reserve(cli_history* h, int32_t size)
{
    if (h->count < h->capacity) {
        return 1;
    }
    const int32_t capacity = 2 * h->capacity + 64;
    const size_t n = (size_t)capacity;
    double* objective = realloc(h->objective, n * sizeof *objective);
    h->objective = objective ? objective : h->objective;
    double* gradient = realloc(h->gradient, n * sizeof *gradient);
    h->gradient = gradient ? gradient : h->gradient;
    double* theta = realloc(h->theta, (n * (size_t)size + 1) * sizeof *theta);
    h->theta = theta ? theta : h->theta;
    if (!objective || !gradient || !theta) {
        h->failed = 1;
        return 0;
    }
    h->capacity = capacity;
    return 1;
}

void cli_history_add(cli_history* h, double objective, double gradient, const double* theta,
                     int32_t size)
{
    if (h->failed || !reserve(h, size)) {
        return;
    }
    h->objective[h->count] = objective;
    h->gradient[h->count] = gradient;
    if (theta) {
        memcpy(h->theta + (size_t)h->count * (size_t)size, theta, (size_t)size * sizeof *theta);
    }
    h->count++;
}

int cli_history_start(cli_history* h, carom_problem* problem, const double* theta, int32_t size,
                      carom_error* error)
{
    double value;
    if (carom_problem_value(problem, theta, &value, error) != CAROM_OK) {
        return 0;
    }
    cli_history_add(h, value, 0.0, theta, size);
    if (h->failed) {
        snprintf(error->message, sizeof error->message, "not enough memory");
    }
    return !h->failed;
}

void cli_history_release(cli_history* h)
{
    free(h->objective);
    free(h->gradient);
    free(h->theta);
    *h = (cli_history){0};
}

// ---- writing

static int refuse(cli_history* h, const char* what, const char* why)
{
    snprintf(h->error, sizeof h->error, "%.200s: %s", what, why);
    return 0;
}

int cli_history_open(cli_history* h, const char* folder)
{
    h->folder = folder;
    if (h->failed) {
        return refuse(h, folder, "not enough memory");
    }
    return mkdir(folder, 0777) == 0 || errno == EEXIST ? 1 : refuse(h, folder, strerror(errno));
}

// CLI_HISTORY_RUNS of them, spread evenly: i is chosen when the count of chosen ones goes up there.
int cli_history_chosen(const cli_history* h, int32_t i)
{
    const int64_t gaps = CLI_HISTORY_RUNS - 1, last = h->count - 1;
    return last <= gaps || i == 0 || i * gaps / last > (i - 1) * gaps / last;
}

static void file_name(int32_t iteration, char name[40])
{
    snprintf(name, 40, "iteration_%04d.carom", iteration);
}

const char* cli_history_path(const cli_history* h, int32_t iteration, char path[CLI_HISTORY_PATH])
{
    char name[40];
    file_name(iteration, name);
    snprintf(path, CLI_HISTORY_PATH, "%s/%s", h->folder, name);
    return path;
}

int cli_history_table(cli_history* h)
{
    char path[CLI_HISTORY_PATH];
    cli_output o;
    snprintf(path, sizeof path, "%s/objective.csv", h->folder);
    if (cli_output_open(&o, "optimize", path) != 0) {
        return refuse(h, path, "it could not be written");
    }
    fprintf(o.file, "iteration,objective,gradient,trajectory\n");
    for (int32_t i = 0; i < h->count; i++) {
        char name[40] = "";
        if (cli_history_chosen(h, i)) {
            file_name(i, name);
        }
        fprintf(o.file, "%d,%.17g,%.17g,%s\n", i, h->objective[i], h->gradient[i], name);
    }
    return cli_output_close(&o, 0) == 0 ? 1 : refuse(h, path, "it could not be written");
}

// ---- reading

static FILE* open_table(const char* folder)
{
    char path[CLI_HISTORY_PATH];
    return (size_t)snprintf(path, sizeof path, "%s/objective.csv", folder) < sizeof path
               ? fopen(path, "r")
               : NULL;
}

int cli_history_recognise(const char* folder)
{
    FILE* f = open_table(folder);
    if (f) {
        fclose(f);
    }
    return f != NULL;
}

static int open_run(const char* command, const char* folder, const char* name, int32_t iteration,
                    cli_page_run* run)
{
    char path[CLI_HISTORY_PATH], label[40];
    carom_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(label, sizeof label, iteration == 0 ? "before" : "after %d", iteration);
    run->iteration = iteration;
    run->label = strdup(label);
    if (!run->label || carom_trajectory_open(path, &run->trajectory, &error) != CAROM_OK) {
        fprintf(stderr, "carom %s: %s\n", command, error.message);
        return 0;
    }
    return 1;
}

int cli_history_read(cli_history* h, const char* command, const char* folder, cli_page_run* run,
                     int* run_count)
{
    char line[300];
    int row = 0, good = 1;
    FILE* f = open_table(folder);
    if (!f) {
        cli_output_fail(command, folder, "holds no objective.csv of carom optimize --history");
        return 2;
    }
    while (good && fgets(line, sizeof line, f)) {
        int iteration = 0;
        double objective = 0, gradient = 0;
        char name[100] = "";
        const int found =
            sscanf(line, "%d,%lf,%lf,%99[^\n/]", &iteration, &objective, &gradient, name);
        if (row++ == 0) {
            continue; // the names of the columns
        }
        if (found < 3 || iteration != h->count) {
            fprintf(stderr,
                    "carom %s: %s/objective.csv:%d: is not \"iteration,objective,gradient,"
                    "trajectory\" with iterations from 0 on\n",
                    command, folder, row);
            good = 0;
            break;
        }
        cli_history_add(h, objective, gradient, NULL, 0);
        if (name[0] && *run_count < CLI_HISTORY_RUNS) {
            good = open_run(command, folder, name, iteration, &run[*run_count]);
            *run_count += 1;
        }
    }
    fclose(f);
    if (good && *run_count < 2) {
        cli_output_fail(command, folder, "holds fewer than two motions");
        good = 0;
    }
    return good && !h->failed ? 0 : 2;
}
