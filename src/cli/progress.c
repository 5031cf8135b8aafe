#include "cli/progress.h"
#include "cli/measure.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 24 };
static const double every_seconds = 0.1;

static int plain_terminal(void)
{
    const char* term = getenv("TERM");
    return !term || strcmp(term, "dumb") == 0;
}

int cli_progress_colour(FILE* stream)
{
    const char* no = getenv("NO_COLOR"); // see no-color.org: set to anything but nothing
    return isatty(fileno(stream)) && !plain_terminal() && !(no && *no);
}

cli_progress cli_progress_start(const char* unit, int wanted)
{
    const double now = cli_measure_wall();
    return (cli_progress){.on = wanted && isatty(STDERR_FILENO) && !plain_terminal(),
                          .unit = unit,
                          .since = now,
                          .shown = now};
}

void cli_progress_show(cli_progress* p, int64_t done, int64_t all, const char* note)
{
    const double now = p->on ? cli_measure_wall() : 0;
    if (!p->on || !(now - p->shown >= every_seconds)) {
        return;
    }
    p->shown = now;
    char left[CLI_MEASURE_TEXT], bar[BAR + 1];
    const double rate = (double)done / (now - p->since);
    const int full = all > 0 ? (int)(BAR * done / all) : 0;
    for (int i = 0; i < BAR; i++) {
        bar[i] = i < full ? '#' : '.';
    }
    bar[BAR] = 0;
    cli_measure_seconds(rate > 0 ? (double)(all - done) / rate : 0, left);
    const int colour = cli_progress_colour(stderr);
    fprintf(stderr, "\r%s%s%s %3d %%, %lld of %lld %s, %.4g %s/s, %s%s%s left\033[K",
            colour ? "\033[36m" : "", bar, colour ? "\033[0m" : "",
            all > 0 ? (int)(100 * done / all) : 0, (long long)done, (long long)all, p->unit, rate,
            p->unit, note, *note ? ", " : "", left);
    fflush(stderr);
}

void cli_progress_end(cli_progress* p)
{
    if (p->on && p->shown > p->since) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
}
