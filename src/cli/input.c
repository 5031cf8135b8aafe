#include "cli/input.h"
#include <stdio.h>

int cli_input_open(const char* command, const char* path, carom_trajectory** trajectory)
{
    carom_error error = {0};
    if (carom_trajectory_open(path, trajectory, &error) != CAROM_OK) {
        fprintf(stderr, "carom %s: %s\n", command, error.message);
        return 0;
    }
    const carom_trajectory_info about = carom_trajectory_about(*trajectory);
    if (about.frame_count == 0) {
        fprintf(stderr, "carom %s: %s: holds no frame\n", command, path);
        carom_trajectory_close(*trajectory);
        *trajectory = NULL;
        return 0;
    }
    if (about.end != CAROM_TRAJECTORY_WHOLE) {
        fprintf(stderr, "carom %s: %s: %s; used are the %lld frames before it\n", command, path,
                about.end_text, (long long)about.frame_count);
    }
    return 1;
}
