#include "cli/measure.h"
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static double read_clock(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double cli_measure_wall(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double cli_measure_cpu(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t cli_measure_peak_rss(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    return (int64_t)usage.ru_maxrss * 1024;
}

const char* cli_measure_bytes(int64_t bytes, char text[CLI_MEASURE_TEXT])
{
    static const char* const unit[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int u = 0;
    for (; value >= 1000 && u < 4; u++) {
        value /= 1000;
    }
    snprintf(text, CLI_MEASURE_TEXT, u == 0 ? "%.0f %s" : "%.3g %s", value, unit[u]);
    return text;
}

const char* cli_measure_seconds(double seconds, char text[CLI_MEASURE_TEXT])
{
    if (seconds >= 100) {
        snprintf(text, CLI_MEASURE_TEXT, "%.0f s", seconds);
    } else if (seconds >= 1) {
        snprintf(text, CLI_MEASURE_TEXT, "%.3g s", seconds);
    } else if (seconds >= 1e-3) {
        snprintf(text, CLI_MEASURE_TEXT, "%.3g ms", 1e3 * seconds);
    } else {
        snprintf(text, CLI_MEASURE_TEXT, "%.3g us", 1e6 * seconds);
    }
    return text;
}
