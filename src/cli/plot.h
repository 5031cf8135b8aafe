// plot.h - what the program plots: energies of a run, objectives, tables.
#pragma once

#include "cli/history.h"

// The energies (or contacts, gap) of a trajectory over time, as SVG. 0, or the exit status after a
// message.
int cli_plot_trajectory(const char* command, const char* path, const char* what, const char* out);
// The objective by iteration.
int cli_plot_history(const char* command, const cli_history* history, const char* out);
