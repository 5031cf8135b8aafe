// page.h - trajectories inside one HTML page that plays them (docs/viewer.md).
#pragma once

#include "carom/io.h"

// One motion of a page. Several are shown beside each other: the first and one of the others.
typedef struct cli_page_run {
    carom_trajectory* trajectory;
    char* label;
    int32_t iteration; // of an optimisation; -1: none
} cli_page_run;

// How an optimisation went, or nothing (count 0).
typedef struct cli_page_curve {
    const double *objective, *gradient; // [count]
    int32_t count;
} cli_page_curve;

typedef struct cli_page {
    const char* command; // for messages: "view"
    const char* title;   // what the page is called
    cli_page_run* run;   // [run_count] lent
    int run_count;
    cli_page_curve curve;
    int64_t every; // frames from one shown to the next; 0: as many as a browser is happy with
    int contacts;  // whether contacts are in it
} cli_page;

// What came of it.
typedef struct cli_page_report {
    int64_t bytes;
    int64_t every; // frames from one shown to the next, of the first run
    int64_t frames;
} cli_page_report;

// Writes the page; the file takes its name only when it is whole. 0, or the exit status after a
// message: 1 also when the page's template has not been built.
int cli_page_write(const cli_page* page, const char* path, cli_page_report* report);
