#include "cli/browser.h"
#include "cli/measure.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The DevTools protocol over --remote-debugging-pipe: the browser reads JSON messages from its file
// 3 and writes to its file 4, each ended by a zero byte.
struct cli_browser {
    const char* command;
    pid_t process;
    int to, from; // -1: closed
    int last_id;
    char* session; // of the page, once there is one
    char* bytes;   // read and not yet used
    size_t size, capacity;
};

static const double start_seconds = 60, answer_seconds = 600;
static const char* const programs[] = {"chromium", "chromium-browser", "google-chrome",
                                       "google-chrome-stable"};

static int fail(const cli_browser* b, const char* why)
{
    fprintf(stderr, "carom %s: the browser %s\n", b->command, why);
    return 0;
}

// ---- the process

static int on_path(const char* name)
{
    const char* path = getenv("PATH");
    for (const char* at = path ? path : ""; *at;) {
        const size_t length = strcspn(at, ":");
        char file[4200];
        snprintf(file, sizeof file, "%.*s/%s", (int)length, at, name);
        if (access(file, X_OK) == 0) {
            return 1;
        }
        at += length + (at[length] == ':');
    }
    return 0;
}

static const char* find_program(void)
{
    const char* chosen = getenv("CAROM_BROWSER");
    if (chosen && *chosen) {
        return chosen;
    }
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (on_path(programs[i])) {
            return programs[i];
        }
    }
    return NULL;
}

// In the child: files 3 and 4 are the pipe, what it has to say goes nowhere.
static void become_browser(const char* program, const char* folder, int read_end, int write_end)
{
    char data[4200];
    snprintf(data, sizeof data, "--user-data-dir=%s", folder);
    // as root it refuses to run in its sandbox; what it opens is a page of our own
    const char* sandbox = geteuid() == 0 ? "--no-sandbox" : "--disable-extensions";
    const char* arguments[] = {program,
                               "--headless",
                               "--remote-debugging-pipe",
                               data,
                               sandbox,
                               "--use-gl=angle",
                               "--use-angle=swiftshader",
                               "--enable-unsafe-swiftshader",
                               "--disable-gpu-compositing",
                               "--disable-dev-shm-usage",
                               "--hide-scrollbars",
                               "--force-color-profile=srgb",
                               "--no-first-run",
                               "about:blank",
                               NULL};
    // moved out of the way first: the ends may be 3 and 4 themselves, the wrong way round
    const int in = fcntl(read_end, F_DUPFD, 10), out = fcntl(write_end, F_DUPFD, 10);
    const int nowhere = open("/dev/null", O_RDWR);
    if (in >= 0 && out >= 0 && nowhere >= 0 && dup2(in, 3) == 3 && dup2(out, 4) == 4) {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(in);
        close(out);
        execvp(program, (char**)(uintptr_t)arguments);
    }
    _exit(127);
}

static int start_process(cli_browser* b, const char* program, const char* folder)
{
    int down[2], up[2];
    if (pipe(down) != 0) {
        return fail(b, strerror(errno));
    }
    if (pipe(up) != 0) {
        close(down[0]);
        close(down[1]);
        return fail(b, strerror(errno));
    }
    fflush(NULL);
    b->process = fork();
    if (b->process == 0) {
        setpgid(0, 0); // so that it can be ended with all of its helpers
        become_browser(program, folder, down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    b->to = down[1];
    b->from = up[0];
    return b->process > 0 ? 1 : fail(b, strerror(errno));
}

void cli_browser_close(cli_browser* b)
{
    if (!b) {
        return;
    }
    if (b->to >= 0) {
        close(b->to);
    }
    if (b->from >= 0) {
        close(b->from);
    }
    if (b->process > 0) {
        kill(-b->process, SIGKILL);
        waitpid(b->process, NULL, 0);
    }
    free(b->session);
    free(b->bytes);
    free(b);
}

// ---- messages

static int send_bytes(cli_browser* b, const char* data, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(b->to, data, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return fail(b, "ended before it was asked everything");
        }
        data += n;
        size -= (size_t)n;
    }
    return 1;
}

static int read_more(cli_browser* b, double until)
{
    struct pollfd wait = {.fd = b->from, .events = POLLIN};
    const double left = until - cli_measure_wall();
    const int ready = left > 0 ? poll(&wait, 1, (int)(1000 * left) + 1) : 0;
    if (ready == 0) {
        return fail(b, "does not answer");
    }
    if (b->capacity - b->size < 1 << 16) {
        const size_t capacity = 2 * b->capacity + (1 << 18);
        char* grown = realloc(b->bytes, capacity);
        if (!grown) {
            return fail(b, "sent more than there is memory for");
        }
        b->bytes = grown;
        b->capacity = capacity;
    }
    const ssize_t n = read(b->from, b->bytes + b->size, b->capacity - b->size);
    if (n < 0 && errno == EINTR) {
        return 1;
    }
    if (n <= 0) {
        return fail(b, "ended early; its --version tells whether it can run here (CAROM_BROWSER "
                       "may name another)");
    }
    b->size += (size_t)n;
    return 1;
}

// The next whole message, or NULL.
static json_t* next_message(cli_browser* b, double until)
{
    size_t looked = 0;
    for (;;) { // ends with a message, with the browser's end, or when the time is over
        const char* end = b->size > looked ? memchr(b->bytes + looked, 0, b->size - looked) : NULL;
        if (end) {
            const size_t length = (size_t)(end - b->bytes);
            json_t* message = json_loadb(b->bytes, length, 0, NULL);
            memmove(b->bytes, end + 1, b->size - length - 1);
            b->size -= length + 1;
            return message ? message : json_object();
        }
        looked = b->size;
        if (!read_more(b, until)) {
            return NULL;
        }
    }
}

// Sends a call and waits for its result; NULL after a message. Takes parameters over.
static json_t* call(cli_browser* b, const char* method, json_t* parameters, double seconds)
{
    json_t* m = json_object();
    const int id = ++b->last_id;
    json_object_set_new(m, "id", json_integer(id));
    json_object_set_new(m, "method", json_string(method));
    json_object_set_new(m, "params", parameters);
    if (b->session) {
        json_object_set_new(m, "sessionId", json_string(b->session));
    }
    char* text = json_dumps(m, JSON_COMPACT);
    json_decref(m);
    const int sent = text && send_bytes(b, text, strlen(text) + 1);
    free(text);
    const double until = cli_measure_wall() + seconds;
    while (sent) {
        json_t* answer = next_message(b, until);
        if (!answer) {
            return NULL;
        }
        if (json_integer_value(json_object_get(answer, "id")) == id) {
            json_t* result = json_incref(json_object_get(answer, "result"));
            const char* why =
                json_string_value(json_object_get(json_object_get(answer, "error"), "message"));
            if (!result) {
                fail(b, why ? why : "refused a call");
            }
            json_decref(answer);
            return result;
        }
        json_decref(answer);
    }
    return NULL;
}

// ---- the page

static char* evaluate(cli_browser* b, const char* expression, double seconds)
{
    json_t* parameters = json_pack("{s:s, s:b, s:b}", "expression", expression, "awaitPromise", 1,
                                   "returnByValue", 1);
    json_t* result = call(b, "Runtime.evaluate", parameters, seconds);
    json_t* value = json_object_get(json_object_get(result, "result"), "value");
    json_t* trouble = json_object_get(result, "exceptionDetails");
    char* text = NULL;
    if (trouble) {
        const char* what = json_string_value(
            json_object_get(json_object_get(trouble, "exception"), "description"));
        fprintf(stderr, "carom %s: the page says: %s\n", b->command, what ? what : "an error");
    } else if (result) {
        text = strdup(json_is_string(value) ? json_string_value(value) : "");
    }
    json_decref(result);
    return text;
}

char* cli_browser_ask(cli_browser* b, const char* expression)
{
    return evaluate(b, expression, answer_seconds);
}

static int attach(cli_browser* b)
{
    json_t* made =
        call(b, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"), start_seconds);
    const char* target = json_string_value(json_object_get(made, "targetId"));
    json_t* attached =
        target ? call(b, "Target.attachToTarget",
                      json_pack("{s:s, s:b}", "targetId", target, "flatten", 1), start_seconds)
               : NULL;
    const char* session = json_string_value(json_object_get(attached, "sessionId"));
    b->session = session ? strdup(session) : NULL;
    json_decref(made);
    json_decref(attached);
    return b->session != NULL;
}

// "ready", or what the page says is wrong, or "".
static const char state_of_page[] =
    "(() => { const t = document.getElementById('trouble'); if (t && !t.hidden) return "
    "'trouble: ' + document.getElementById('trouble-text').textContent; return "
    "window.carom && window.carom.page.loaded > 0 ? 'ready' : ''; })()";

static int wait_for_page(cli_browser* b)
{
    const double until = cli_measure_wall() + answer_seconds;
    while (cli_measure_wall() < until) {
        char* state = evaluate(b, state_of_page, start_seconds);
        const int ready = state && strcmp(state, "ready") == 0;
        const int wait = state && !*state;
        if (state && !ready && !wait) {
            fprintf(stderr, "carom %s: %s\n", b->command, state);
        }
        free(state);
        if (!wait) {
            return ready;
        }
        usleep(50000);
    }
    return fail(b, "does not get the page open");
}

static int go_to(cli_browser* b, const char* page)
{
    char url[4300];
    snprintf(url, sizeof url, "file://%s#fine", page);
    json_t* result = call(b, "Page.navigate", json_pack("{s:s}", "url", url), start_seconds);
    json_decref(result);
    return result != NULL;
}

cli_browser* cli_browser_open(const char* command, const char* page, const char* folder)
{
    const char* program = find_program();
    if (!program) {
        fprintf(stderr,
                "carom %s: there is no Chromium here (Debian: apt install chromium); "
                "CAROM_BROWSER may name one\n",
                command);
        return NULL;
    }
    cli_browser* b = calloc(1, sizeof *b);
    if (!b) {
        return NULL;
    }
    *b = (cli_browser){.command = command, .to = -1, .from = -1};
    if (start_process(b, program, folder) && attach(b) && go_to(b, page) && wait_for_page(b)) {
        return b;
    }
    cli_browser_close(b);
    return NULL;
}

// ---- letters

unsigned char* cli_browser_bytes(const char* letters, size_t* size)
{
    const size_t length = strlen(letters);
    unsigned char* out = malloc(length / 4 * 3 + 4);
    uint32_t hold = 0;
    int held = 0;
    *size = 0;
    for (size_t i = 0; out && i < length; i++) {
        const char c = letters[i];
        const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                          : c >= 'a' && c <= 'z' ? c - 'a' + 26
                          : c >= '0' && c <= '9' ? c - '0' + 52
                          : c == '+'             ? 62
                          : c == '/'             ? 63
                                                 : -1;
        if (value < 0) {
            break; // the padding at the end
        }
        hold = hold << 6 | (uint32_t)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[(*size)++] = (unsigned char)(hold >> held);
        }
    }
    return out;
}
