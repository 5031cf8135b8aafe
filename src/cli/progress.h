// progress.h - a line on the terminal that tells how far a long job is. In a pipe, with --json and
// on a dumb terminal there is none.
#pragma once

#include <stdint.h>
#include <stdio.h>

typedef struct cli_progress {
    int on;
    const char* unit;    // "steps"
    double since, shown; // s
} cli_progress;

// wanted: what the command thinks of it, such as no --json.
cli_progress cli_progress_start(const char* unit, int wanted);
// done of all; note is what else there is to say. Ten times a second at most.
void cli_progress_show(cli_progress* progress, int64_t done, int64_t all, const char* note);
void cli_progress_end(cli_progress* progress); // wipes the line

// Whether a stream is a terminal that takes colours: NO_COLOR and TERM=dumb say no.
int cli_progress_colour(FILE* stream);
