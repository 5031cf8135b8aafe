#include "cli/svg.h"
#include <math.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 420, LEFT = 74, RIGHT = 190, TOP = 44, BOTTOM = 52 };

static const char* const colors[] = {"#2f86c9", "#e08a1e", "#3fa67a", "#8a68c0",
                                     "#d4352c", "#45a3b4", "#86823a", "#c05a8c"};
enum { COLORS = sizeof colors / sizeof *colors };

typedef struct axis {
    double low, high;
    int log;
} axis;

static double place(const axis* a, double value)
{
    return a->log ? log10(value) : value;
}

static int seen(const axis* a, double value)
{
    return isfinite(value) && (!a->log || value > 0);
}

static void fit(axis* a, const double* value, int count)
{
    for (int i = 0; i < count; i++) {
        if (seen(a, value[i])) {
            a->low = fmin(a->low, place(a, value[i]));
            a->high = fmax(a->high, place(a, value[i]));
        }
    }
}

// Some air, and never an axis without length.
static void settle(axis* a, double air)
{
    if (!(a->low <= a->high)) {
        a->low = 0;
        a->high = 1;
    }
    const double size = a->high - a->low;
    const double more = size > 0 ? air * size : fmax(0.5 * fabs(a->low), 0.5);
    a->low -= more;
    a->high += more;
}

static double px(const axis* a, double value)
{
    return LEFT + (place(a, value) - a->low) / (a->high - a->low) * (WIDTH - LEFT - RIGHT);
}

static double py(const axis* a, double value)
{
    return HEIGHT - BOTTOM -
           (place(a, value) - a->low) / (a->high - a->low) * (HEIGHT - TOP - BOTTOM);
}

static void put_text(FILE* out, const char* text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            putc(*text, out);
        }
    }
}

// 1, 2 or 5 times a power of ten, so that about six of them fit.
static double step_of(const axis* a)
{
    const double rough = (a->high - a->low) / 6;
    const double power = pow(10, floor(log10(rough)));
    const double step = rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10;
    return step * power;
}

static void put_tick(FILE* out, const axis* a, int upright, double value)
{
    if (!(place(a, value) >= a->low && place(a, value) <= a->high)) {
        return;
    }
    if (upright) {
        const double y = py(a, value);
        fprintf(out,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%.6g</text>\n",
                LEFT, y, WIDTH - RIGHT, LEFT - 8, y + 4, value);
    } else {
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g</text>\n", px(a, value),
                HEIGHT - BOTTOM + 20, value);
    }
}

// Powers of ten, of few of which also twice and five times.
static void put_powers(FILE* out, const axis* a, int upright)
{
    const int step = (int)fmax(1, ceil((a->high - a->low) / 8));
    for (int t = (int)floor(a->low); t <= a->high; t += step) {
        put_tick(out, a, upright, pow(10, t));
        if (a->high - a->low < 2.5) {
            put_tick(out, a, upright, 2 * pow(10, t));
            put_tick(out, a, upright, 5 * pow(10, t));
        }
    }
}

static void put_ticks(FILE* out, const axis* a, int upright)
{
    if (a->log) {
        put_powers(out, a, upright);
        return;
    }
    const double step = step_of(a);
    const long first = lround(ceil(a->low / step)), last = lround(floor(a->high / step));
    for (long i = first; i <= last; i++) {
        put_tick(out, a, upright, (double)i * step);
    }
}

static void put_line(FILE* out, const cli_svg_line* l, const axis* x, const axis* y,
                     const char* color, int dots)
{
    int pen = 0;
    fprintf(out,
            "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\" "
            "d=\"",
            color);
    for (int i = 0; i < l->count; i++) {
        const int good = seen(x, l->x[i]) && seen(y, l->y[i]);
        if (good) {
            fprintf(out, "%c%.1f %.1f", pen ? 'L' : 'M', px(x, l->x[i]), py(y, l->y[i]));
        }
        pen = good;
    }
    fputs("\"/>\n", out);
    for (int i = 0; dots && i < l->count; i++) {
        if (seen(x, l->x[i]) && seen(y, l->y[i])) {
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n",
                    px(x, l->x[i]), py(y, l->y[i]), color);
        }
    }
}

static void put_frame(FILE* out, const cli_svg* s)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\">\n"
            "<style>text{font:13px system-ui,sans-serif;fill:#555}.grid{stroke:#8884;fill:none}"
            ".title{font-size:15px;font-weight:600;fill:#222}.paper{fill:#fff}"
            "@media(prefers-color-scheme:dark){text{fill:#aaa}.title{fill:#eee}.paper{fill:#16181c}"
            "}</style>\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    fprintf(out, "<text class=\"title\" x=\"%d\" y=\"26\">", LEFT);
    put_text(out, s->title);
    fprintf(out, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
            LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 12);
    put_text(out, s->x_name);
    fprintf(out,
            "</text>\n<text transform=\"translate(16 %d) rotate(-90)\" "
            "text-anchor=\"middle\">",
            TOP + (HEIGHT - TOP - BOTTOM) / 2);
    put_text(out, s->y_name);
    fputs("</text>\n", out);
}

void cli_svg_write(FILE* out, const cli_svg* s)
{
    axis x = {HUGE_VAL, -HUGE_VAL, s->log_x}, y = {HUGE_VAL, -HUGE_VAL, s->log_y};
    for (int i = 0; i < s->line_count; i++) {
        fit(&x, s->line[i].x, s->line[i].count);
        fit(&y, s->line[i].y, s->line[i].count);
    }
    settle(&x, s->dots ? 0.04 : 0);
    settle(&y, 0.06);
    put_frame(out, s);
    put_ticks(out, &y, 1);
    put_ticks(out, &x, 0);
    for (int i = 0; i < s->line_count; i++) {
        put_line(out, &s->line[i], &x, &y, colors[i % COLORS], s->dots);
    }
    for (int i = 0; i < s->line_count && s->line_count > 1; i++) {
        const int at = TOP + 8 + 22 * i;
        fprintf(out,
                "<path stroke=\"%s\" stroke-width=\"3\" d=\"M%d %dh18\"/><text x=\"%d\" y=\"%d\">",
                colors[i % COLORS], WIDTH - RIGHT + 12, at, WIDTH - RIGHT + 36, at + 4);
        put_text(out, s->line[i].name);
        fputs("</text>\n", out);
    }
    fputs("</svg>\n", out);
}
