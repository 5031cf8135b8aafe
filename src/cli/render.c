#include "cli/args.h"
#include "cli/browser.h"
#include "cli/cli.h"
#include "cli/history.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/measure.h"
#include "cli/output.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES_MOST = 5000, SHEET_FRAMES = 6, LAYERS = 5 };

static const char* const layers[LAYERS] = {"contacts", "forces", "zones", "gradients", "wires"};

typedef struct render_request {
    const char* path;
    const char *frames_text, *every_text, *out, *size_text, *show_text, *theme, *look_text;
    int64_t width, height;
    double every; // s; 0: not given
    double look[3];
    int show[LAYERS]; // nonzero: that layer
    int64_t* frame;   // [frame_count] of the file
    int frame_count;
} render_request;

static int fail(const char* what, const char* why)
{
    return cli_output_fail("render", what, why);
}

static int ends_with(const char* text, const char* end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// ---- which frames

static int add_frame(render_request* q, int64_t frame, int64_t count)
{
    if (frame < 0 || frame >= count || q->frame_count >= FRAMES_MOST) {
        fprintf(stderr,
                "carom render: there is no frame %lld: they go from 0 to %lld, and %d make a film "
                "at most\n",
                (long long)frame, (long long)count - 1, FRAMES_MOST);
        return 0;
    }
    if (q->frame_count == 0 || q->frame[q->frame_count - 1] != frame) {
        q->frame[q->frame_count++] = frame;
    }
    return 1;
}

// "0,10,20"; a negative number counts from the end.
static int listed_frames(render_request* q, int64_t count)
{
    for (const char* at = q->frames_text; *at;) {
        char* end;
        const long long value = strtoll(at, &end, 10);
        if (end == at || (*end != 0 && *end != ',')) {
            fprintf(stderr,
                    "carom render: --frames is \"%s\"; it has to be frame numbers as in 0,10,20\n",
                    q->frames_text);
            return 0;
        }
        if (!add_frame(q, value < 0 ? count + value : value, count)) {
            return 0;
        }
        at = end + (*end == ',');
    }
    return q->frame_count > 0;
}

// The frames at 0, s, 2 s, ...
static int timed_frames(render_request* q, carom_trajectory* tr, int64_t count)
{
    carom_error error = {0};
    double first = 0;
    int64_t shown = -1;
    for (int64_t i = 0; i < count; i++) {
        if (carom_trajectory_read(tr, i, &error) != CAROM_OK) {
            fail(q->path, error.message);
            return 0;
        }
        const double time = carom_trajectory_time(tr);
        first = i == 0 ? time : first;
        // a hair of a step early is on time
        const int64_t tick = (int64_t)floor((time - first) / q->every + 1e-6);
        if (tick > shown) {
            shown = tick;
            if (!add_frame(q, i, count)) {
                return 0;
            }
        }
    }
    return 1;
}

static int choose_frames(render_request* q, carom_trajectory* tr, int film)
{
    const int64_t count = carom_trajectory_about(tr).frame_count;
    q->frame = calloc(FRAMES_MOST, sizeof *q->frame);
    if (!q->frame || count == 0) {
        fail(q->path, count == 0 ? "holds no frame" : "not enough memory");
        return 0;
    }
    if (q->frames_text) {
        return listed_frames(q, count);
    }
    if (q->every > 0 || film) {
        q->every = q->every > 0 ? q->every : 0.04;
        return timed_frames(q, tr, count);
    }
    for (int64_t i = 0; i < SHEET_FRAMES; i++) {
        add_frame(q, i * (count - 1) / (SHEET_FRAMES - 1), count);
    }
    return 1;
}

// ---- asking the page

// "await carom.shooter({...}).METHOD(": the beginning of every question.
static void put_shooter(FILE* f, const render_request* q, const char* method)
{
    fprintf(f, "carom.shooter({theme: '%s', layers: [", q->theme);
    for (int i = 0; i < LAYERS; i++) {
        if (q->show[i]) {
            fprintf(f, "'%s',", layers[i]);
        }
    }
    fprintf(f, "], look: ");
    fprintf(f, q->look_text ? "[%g, %g, %g]" : "null", q->look[0], q->look[1], q->look[2]);
    fprintf(f, "}).%s(", method);
}

static char* ask(cli_browser* b, const render_request* q, const char* method, int first, int count,
                 int delay)
{
    char* question = NULL;
    size_t size = 0;
    FILE* f = open_memstream(&question, &size);
    if (!f) {
        return NULL;
    }
    put_shooter(f, q, method);
    const int one = strcmp(method, "still") == 0;
    fputs(one ? "" : "[", f);
    for (int i = 0; i < count; i++) {
        fprintf(f, i ? ",%lld" : "%lld", (long long)q->frame[first + i]);
    }
    fprintf(f, one ? ", %lld, %lld" : "], %lld, %lld", (long long)q->width, (long long)q->height);
    if (delay > 0) {
        fprintf(f, ", %d", delay);
    }
    fputs(")", f);
    char* answer = fclose(f) == 0 ? cli_browser_ask(b, question) : NULL;
    free(question);
    return answer;
}

static int write_answer(FILE* f, char* letters)
{
    size_t size = 0;
    unsigned char* bytes = letters && *letters ? cli_browser_bytes(letters, &size) : NULL;
    const int good = bytes && fwrite(bytes, 1, size, f) == size;
    free(bytes);
    free(letters);
    return good;
}

// A picture, or pictures in one file.
static int render_file(cli_browser* b, const render_request* q)
{
    cli_output o;
    const int gif = ends_with(q->out, ".gif");
    // hundredths of a second; browsers take less than 2 for a mistake
    const int delay = gif ? (int)fmax(2, round(100 * (q->every > 0 ? q->every : 0.04))) : 0;
    char* letters = ask(b, q, gif ? "gif" : "sheet", 0, q->frame_count, delay);
    if (!letters || cli_output_open(&o, "render", q->out) != 0) {
        free(letters);
        return 1;
    }
    return cli_output_close(&o, write_answer(o.file, letters) ? 0 : 1);
}

// Picture after picture into ffmpeg.
static int render_film(cli_browser* b, const render_request* q)
{
    char rate[40];
    int ends[2];
    snprintf(rate, sizeof rate, "%.6g", 1 / (q->every > 0 ? q->every : 0.04));
    if (pipe(ends) != 0) {
        return fail(q->out, "no pipe could be made");
    }
    fflush(NULL);
    const pid_t process = fork();
    if (process == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("ffmpeg", "ffmpeg", "-loglevel", "error", "-y", "-f", "image2pipe", "-framerate",
               rate, "-i", "-", "-pix_fmt", "yuv420p", "-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2",
               "-movflags", "+faststart", q->out, (char*)NULL);
        _exit(127);
    }
    close(ends[0]);
    FILE* f = fdopen(ends[1], "wb");
    int good = f && process > 0;
    for (int i = 0; i < q->frame_count && good; i++) {
        good = write_answer(f, ask(b, q, "still", i, 1, 0));
    }
    good = f && fclose(f) == 0 && good;
    int status = 1;
    good = process > 0 && waitpid(process, &status, 0) == process && status == 0 && good;
    return good ? 0 : fail(q->out, "ffmpeg could not make it");
}

static int has_ffmpeg(void)
{
    return system("command -v ffmpeg >/dev/null 2>&1") == 0;
}

// ---- the command

static int write_page(const char* path, const char* page_path)
{
    carom_error error = {0};
    cli_page_run run[CLI_HISTORY_RUNS] = {{0}};
    cli_history history = {0};
    cli_page_report report;
    int count = 0, status = 0;
    if (cli_history_recognise(path)) {
        status = cli_history_read(&history, "render", path, run, &count);
    } else {
        run[0] = (cli_page_run){.label = strdup(path), .iteration = -1};
        count = 1;
        if (!run[0].label || carom_trajectory_open(path, &run[0].trajectory, &error) != CAROM_OK) {
            fprintf(stderr, "carom render: %s\n", error.message);
            status = 2;
        }
    }
    if (status == 0) {
        const cli_page page = {.command = "render",
                               .title = path,
                               .run = run,
                               .run_count = count,
                               .curve = {history.objective, history.gradient, history.count},
                               .every = 0,
                               .contacts = 1};
        status = cli_page_write(&page, page_path, &report);
    }
    for (int i = 0; i < count; i++) {
        carom_trajectory_close(run[i].trajectory);
        free(run[i].label);
    }
    cli_history_release(&history);
    return status;
}

// The motion whose frames are counted: of a history the last one.
static int open_counted(const char* path, carom_trajectory** tr)
{
    cli_page_run run[CLI_HISTORY_RUNS] = {{0}};
    cli_history history = {0};
    int count = 0, status = 0;
    if (!cli_history_recognise(path)) {
        return cli_input_open("render", path, tr) ? 0 : 2;
    }
    status = cli_history_read(&history, "render", path, run, &count);
    for (int i = 0; i < count; i++) {
        if (i == count - 1 && status == 0) {
            *tr = run[i].trajectory;
        } else {
            carom_trajectory_close(run[i].trajectory);
        }
        free(run[i].label);
    }
    cli_history_release(&history);
    return status;
}

static int render_in(const render_request* q, const char* folder)
{
    char page[200], profile[200];
    snprintf(page, sizeof page, "%s/page.html", folder);
    snprintf(profile, sizeof profile, "%s/profile", folder);
    int status = write_page(q->path, page);
    cli_browser* b = status == 0 ? cli_browser_open("render", page, profile) : NULL;
    if (status == 0 && !b) {
        return 1;
    }
    if (b) {
        status = ends_with(q->out, ".mp4") ? render_film(b, q) : render_file(b, q);
    }
    cli_browser_close(b);
    return status;
}

static void remove_folder(const char* folder)
{
    char line[300];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    if (system(line) != 0) {
        fprintf(stderr, "carom render: %s could not be removed\n", folder);
    }
}

static void png_size(const char* path, long long* width, long long* height)
{
    unsigned char b[24];
    FILE* f = fopen(path, "rb");
    if (f && fread(b, 1, sizeof b, f) == sizeof b) {
        *width = (long long)b[16] << 24 | b[17] << 16 | b[18] << 8 | b[19];
        *height = (long long)b[20] << 24 | b[21] << 16 | b[22] << 8 | b[23];
    }
    if (f) {
        fclose(f);
    }
}

static int render_all(render_request* q)
{
    carom_trajectory* tr = NULL;
    char folder[] = "/tmp/carom-render-XXXXXX";
    int status = open_counted(q->path, &tr);
    const int film = ends_with(q->out, ".mp4") || ends_with(q->out, ".gif");
    if (status == 0 && !choose_frames(q, tr, film)) {
        status = 2;
    }
    carom_trajectory_close(tr);
    if (status == 0 && ends_with(q->out, ".mp4") && !has_ffmpeg()) {
        status = fail(q->out, "there is no ffmpeg here (Debian: apt install ffmpeg); .gif does "
                              "without it");
    }
    if (status == 0 && !mkdtemp(folder)) {
        status = fail(folder, "could not be made");
    } else if (status == 0) {
        status = render_in(q, folder);
        remove_folder(folder);
    }
    if (status == 0) {
        long long width = q->width, height = q->height;
        const int sheet = q->frame_count > 1 && ends_with(q->out, ".png");
        if (sheet) { // as wide as was asked for, and as high as its frames need
            png_size(q->out, &width, &height);
        }
        printf("%s: %d %s %s %lld x %lld\n", q->out, q->frame_count,
               q->frame_count == 1 ? "frame" : "frames", sheet ? "on a sheet of" : "of", width,
               height);
    }
    free(q->frame);
    return status;
}

static int read_size(render_request* q)
{
    long long w = 0, h = 0;
    char rest = 0;
    q->width = 960;
    q->height = 600;
    if (!q->size_text) {
        return 1;
    }
    if (sscanf(q->size_text, "%lldx%lld%c", &w, &h, &rest) != 2 || w < 16 || h < 16 || w > 8192 ||
        h > 8192) {
        fprintf(stderr,
                "carom render: --size is \"%s\"; it has to be WIDTHxHEIGHT, as in 960x600, of at "
                "most 8192\n",
                q->size_text);
        return 0;
    }
    q->width = w;
    q->height = h;
    return 1;
}

static int read_look(render_request* q)
{
    char rest = 0;
    if (q->look_text &&
        (sscanf(q->look_text, "%lf,%lf,%lf%c", &q->look[0], &q->look[1], &q->look[2], &rest) != 3 ||
         !(q->look[2] > 0) || !(fabs(q->look[1]) < 90))) {
        fprintf(stderr,
                "carom render: --look is \"%s\"; it has to be AROUND,ABOVE,NEARER: degrees around "
                "the scene, degrees above the ground (less than 90), and 1 for all of the scene\n",
                q->look_text);
        return 0;
    }
    return 1;
}

// Which layers --show lists.
static int read_show(render_request* q)
{
    for (const char* at = q->show_text; at && *at;) {
        const size_t length = strcspn(at, ",");
        int known = 0;
        for (int i = 0; i < LAYERS; i++) {
            if (strlen(layers[i]) == length && strncmp(at, layers[i], length) == 0) {
                q->show[i] = known = 1;
            }
        }
        if (!known) {
            fprintf(stderr,
                    "carom render: --show lists \"%.*s\"; there are contacts, forces, zones, "
                    "gradients and wires, with commas between\n",
                    (int)length, at);
            return 0;
        }
        at += length + (at[length] == ',');
    }
    return 1;
}

static int check(render_request* q)
{
    q->theme = q->theme ? q->theme : "light";
    if (!q->out ||
        !(ends_with(q->out, ".png") || ends_with(q->out, ".gif") || ends_with(q->out, ".mp4"))) {
        fprintf(stderr, "carom render: --out is \"%s\"; it has to end with .png, .gif or .mp4\n",
                q->out ? q->out : "");
        return 0;
    }
    if (q->frames_text && q->every_text) {
        fprintf(stderr, "carom render: --frames and --every cannot both be given\n");
        return 0;
    }
    if (strcmp(q->theme, "light") != 0 && strcmp(q->theme, "dark") != 0) {
        fprintf(stderr, "carom render: --theme is \"%s\"; it has to be light or dark\n", q->theme);
        return 0;
    }
    return (!q->every_text ||
            cli_args_number("render", "--every", q->every_text, 1e-9, 1e9, &q->every)) &&
           read_size(q) && read_look(q) && read_show(q);
}

int cli_render(int argc, char** argv)
{
    render_request q = {0};
    const cli_option options[] = {
        {"--out", "FILE", "picture.png (several frames make a sheet), film.gif or film.mp4", &q.out,
         NULL, NULL},
        {"--frames", "A,B,...", "these frames; -1 is the last", &q.frames_text, NULL, NULL},
        {"--every", "S", "a frame every S seconds (films: 0.04)", &q.every_text, NULL, NULL},
        {"--size", "WxH", "of the picture (960x600); a sheet is as high as its frames need",
         &q.size_text, NULL, NULL},
        {"--show", "LIST", "also: contacts,forces,zones,gradients,wires", &q.show_text, NULL, NULL},
        {"--look", "A,E,N", "from A degrees around, E above, N times as near", &q.look_text, NULL,
         NULL},
        {"--theme", "NAME", "light or dark", &q.theme, NULL, NULL},
    };
    const cli_usage usage = {
        "TRAJECTORY | FOLDER --out FILE [--frames A,B,... | --every S] [--size WxH] [--show LIST] "
        "[--look A,E,N] [--theme NAME]",
        "draws frames with the page of carom view, in a browser without a window",
        options,
        (int)(sizeof options / sizeof *options),
        1,
        1};
    const int plain = cli_args_parse(argc, argv, &usage, &q.path);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
    }
    return check(&q) ? render_all(&q) : 2;
}
