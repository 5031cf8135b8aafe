// history.h - how an optimisation went: a folder with a table of all iterations, objective.csv, and
// the motion of some of them, iteration_NNNN.carom (docs/viewer.md).
#pragma once

#include "carom/grad.h"
#include "cli/page.h"

enum { CLI_HISTORY_PATH = 4100, CLI_HISTORY_RUNS = 24 };

typedef struct cli_history {
    const char* folder;
    int32_t count, capacity;      // iterations, the start included
    double *objective, *gradient; // [count]
    double* theta;                // [count * size]
    int failed;                   // memory was short
    char error[300];
} cli_history;

// Where the optimisation starts, as iteration 0. 0 and a message in *error when that run fails.
int cli_history_start(cli_history* history, carom_problem* problem, const double* theta,
                      int32_t size, carom_error* error);
void cli_history_add(cli_history* history, double objective, double gradient, const double* theta,
                     int32_t size);
void cli_history_release(cli_history* history);

// Writing: makes the folder; which iterations have their motion in it (the first, the last and some
// in between), and under which name; then the table. 0 and a text in history->error on failure.
int cli_history_open(cli_history* history, const char* folder);
int cli_history_chosen(const cli_history* history, int32_t iteration);
const char* cli_history_path(const cli_history* history, int32_t iteration,
                             char path[CLI_HISTORY_PATH]);
int cli_history_table(cli_history* history);

// Reading: whether a folder holds a history; and all of it, for a page. Runs are the caller's,
// [CLI_HISTORY_RUNS], of which *run_count are opened also on failure. 0, or an exit status after a
// message.
int cli_history_recognise(const char* folder);
int cli_history_read(cli_history* history, const char* command, const char* folder,
                     cli_page_run* run, int* run_count);
