// input.h - trajectories that commands read.
#pragma once

#include "carom/io.h"

// Opens one that holds a frame at least. Where it was cut off or damaged, says so and goes on with
// the frames before that. 1, or 0 after a message.
int cli_input_open(const char* command, const char* path, carom_trajectory** trajectory);
