#include "carom/grad.h"
#include "cli/args.h"
#include "cli/bench_scene.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/measure.h"
#include "cli/set.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SIZES = 64, METHODS = 3 };

// Of the way back, as world.zone_gradient knows them.
static const char* const methods[METHODS] = {"sparse", "dense-qr", "dense-kkt"};

typedef struct bench_request {
    const char *name, *n_text, *steps_text, *threads_text, *method_text;
    cli_list set;
    int json, scene, forward;
    int64_t steps; // -1: as long as the scene says
    int64_t threads;
    const cli_bench_scene* bench;
    int size[MOST_SIZES];
    int size_count;
    const char* method[METHODS];
    int method_count;
} bench_request;

typedef struct bench_result {
    int64_t steps;
    double build_s, wall_s, cpu_s;
    double backward_s, backward_cpu_s, tape_bytes; // NaN: not asked for, or failed
    int64_t rss;                                   // bytes, of the way there
    int32_t zones, contacts, max_zone_dofs, max_zone_contacts, parts;
    int64_t iterations;
    double min_gap; // m
    carom_status status;
    carom_error error;
} bench_result;

static void largest(int32_t* most, int32_t value)
{
    *most = value > *most ? value : *most;
}

static void step_all(carom_sim* sim, int64_t steps, bench_result* r)
{
    const double wall = cli_measure_wall(), cpu = cli_measure_cpu();
    r->min_gap = HUGE_VAL;
    while (r->steps < steps && r->status == CAROM_OK) {
        r->status = carom_sim_step(sim, &r->error);
        const carom_step_info info = carom_sim_info(sim);
        largest(&r->zones, info.zones);
        largest(&r->contacts, info.contacts);
        largest(&r->max_zone_dofs, info.max_zone_dofs);
        largest(&r->max_zone_contacts, info.max_zone_contacts);
        largest(&r->parts, info.parts);
        r->iterations += info.iterations;
        r->min_gap = fmin(r->min_gap, info.least_gap);
        r->steps += r->status == CAROM_OK;
    }
    r->wall_s = cli_measure_wall() - wall;
    r->cpu_s = cli_measure_cpu() - cpu;
    r->rss = cli_measure_peak_rss();
}

// The loss of all ways back here: where everything ends, summed.
typedef struct loss {
    int64_t steps;
    int32_t bodies, vertices;
} loss;

static void feel_end(void* user, int64_t step, const carom_bars* bars)
{
    const loss* l = user;
    for (int32_t i = 0; step == l->steps && i < 3 * l->bodies; i++) {
        bars->position[i] += 1.0;
    }
    for (int32_t i = 0; step == l->steps && i < 3 * l->vertices; i++) {
        bars->vertex_position[i] += 1.0;
    }
}

// The same run once more with a tape, and back.
static carom_status go_back(const bench_request* q, const carom_model* model, bench_result* r)
{
    carom_sim* sim = NULL;
    carom_tape* tape = NULL;
    loss l = {r->steps, carom_model_body_count(model), carom_model_vertex_count(model)};
    const carom_tape_listener listener = {.user = &l, .state = feel_end};
    carom_gradient gradient = {.body = calloc((size_t)l.bodies + 1, sizeof *gradient.body)};
    carom_status status = gradient.body ? CAROM_OK : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        status = carom_sim_create(model, (int32_t)q->threads, &sim, &r->error);
    }
    if (status == CAROM_OK) {
        status = carom_tape_create(model, (int32_t)q->threads, 0, &tape, &r->error);
    }
    for (int64_t i = 0; i < r->steps && status == CAROM_OK; i++) {
        status = carom_tape_step(tape, sim, &r->error);
    }
    if (status == CAROM_OK) {
        const double since = cli_measure_wall(), cpu = cli_measure_cpu();
        status = carom_tape_backward(tape, &listener, &gradient, &r->error);
        r->backward_s = cli_measure_wall() - since;
        r->backward_cpu_s = cli_measure_cpu() - cpu;
        r->tape_bytes = (double)carom_tape_bytes(tape);
    }
    carom_tape_destroy(tape);
    carom_sim_destroy(sim);
    free(gradient.body);
    return status;
}

static carom_status set_method(carom_scene* scene, const char* method, carom_error* error)
{
    char text[32];
    snprintf(text, sizeof text, "\"%s\"", method);
    return carom_scene_set(scene, "world.zone_gradient", text, error);
}

static void run_size(const bench_request* q, int n, const char* method, bench_result* r)
{
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    const double since = cli_measure_wall();
    char* text = q->bench->write(n);
    *r = (bench_result){.status = CAROM_ERR_MEMORY, .error.message = "not enough memory"};
    r->backward_s = r->backward_cpu_s = r->tape_bytes = (double)NAN;
    if (text) {
        r->status = carom_scene_parse(text, strlen(text), NULL, &scene, &r->error);
    }
    if (r->status == CAROM_OK) {
        r->status = cli_set_all(scene, &q->set, &r->error);
    }
    if (r->status == CAROM_OK && q->method_text) {
        r->status = set_method(scene, method, &r->error);
    }
    if (r->status == CAROM_OK) {
        r->status = carom_model_create(scene, &model, &r->error);
    }
    if (r->status == CAROM_OK) {
        r->status = carom_sim_create(model, (int32_t)q->threads, &sim, &r->error);
    }
    if (r->status == CAROM_OK) {
        r->build_s = cli_measure_wall() - since;
        const double usual = round(carom_model_duration(model) / carom_model_dt(model));
        step_all(sim, q->steps >= 0 ? q->steps : (int64_t)usual, r);
    }
    if (r->status == CAROM_OK && !q->forward) {
        carom_sim_destroy(sim);
        sim = NULL;
        r->status = go_back(q, model, r);
    }
    free(text);
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
}

static int print_json(const bench_request* q, int n, const char* method, const bench_result* r)
{
    const double steps = r->steps > 0 ? (double)r->steps : (double)NAN;
    json_t* o = json_object();
    json_object_set_new(o, "bench", json_string(q->bench->name));
    json_object_set_new(o, "n", json_integer(n));
    json_object_set_new(o, "method", json_string(method));
    json_object_set_new(o, "steps", json_integer(r->steps));
    json_object_set_new(o, "forward_s_per_step", cli_json_number(r->wall_s / steps));
    json_object_set_new(o, "forward_cpu_s_per_step", cli_json_number(r->cpu_s / steps));
    json_object_set_new(o, "backward_s_per_step", cli_json_number(r->backward_s / steps));
    json_object_set_new(o, "backward_cpu_s_per_step", cli_json_number(r->backward_cpu_s / steps));
    json_object_set_new(o, "peak_rss_bytes", json_integer(r->rss));
    json_object_set_new(o, "tape_bytes_per_step", cli_json_number(r->tape_bytes / steps));
    json_object_set_new(o, "zones", json_integer(r->zones));
    json_object_set_new(o, "max_zone_dofs", json_integer(r->max_zone_dofs));
    json_object_set_new(o, "max_zone_contacts", json_integer(r->max_zone_contacts));
    json_object_set_new(o, "max_contacts", json_integer(r->contacts));
    json_object_set_new(o, "max_parts", json_integer(r->parts));
    json_object_set_new(o, "iterations", json_integer(r->iterations));
    json_object_set_new(o, "min_gap", cli_json_number(r->min_gap));
    json_object_set_new(o, "build_s", cli_json_number(r->build_s));
    json_object_set_new(o, "threads", json_integer(q->threads));
    json_object_set_new(o, "error",
                        r->status == CAROM_OK ? json_null() : cli_json_text(r->error.message));
    return cli_json_print("bench", o);
}

static int print_row(int n, const char* method, const bench_result* r)
{
    char step[CLI_MEASURE_TEXT], cpu[CLI_MEASURE_TEXT], back[CLI_MEASURE_TEXT];
    char back_cpu[CLI_MEASURE_TEXT];
    char tape[CLI_MEASURE_TEXT], memory[CLI_MEASURE_TEXT];
    const double steps = r->steps > 0 ? (double)r->steps : 1;
    const int there = isfinite(r->backward_s);
    printf("%8d %-9s %6lld %9s %9s %9s %9s %9s %9s %6d %9d %9d %7.2f\n", n, method,
           (long long)r->steps, cli_measure_seconds(r->wall_s / steps, step),
           cli_measure_seconds(r->cpu_s / steps, cpu),
           there ? cli_measure_seconds(r->backward_s / steps, back) : "-",
           there ? cli_measure_seconds(r->backward_cpu_s / steps, back_cpu) : "-",
           there ? cli_measure_bytes((int64_t)(r->tape_bytes / steps), tape) : "-",
           cli_measure_bytes(r->rss, memory), r->zones, r->max_zone_dofs, r->max_zone_contacts,
           (double)r->iterations / steps);
    return 0;
}

// One size in a process of its own, so that the memory is that of this size alone.
static int bench_size(const bench_request* q, int n, const char* method)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) {
        fprintf(stderr, "carom bench: no process for it\n");
        return 1;
    }
    if (child == 0) {
        bench_result r;
        run_size(q, n, method, &r);
        int status = q->json ? print_json(q, n, method, &r) : print_row(n, method, &r);
        if (r.status != CAROM_OK) {
            fprintf(stderr, "carom bench: %s %d: %s\n", q->bench->name, n, r.error.message);
            status = r.steps > 0 || r.build_s > 0 ? 1 : 2;
        }
        fflush(stdout);
        _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int bench_all(const bench_request* q)
{
    int status = 0;
    if (!q->json) {
        printf("%s: %s\n%8s %-9s %6s %9s %9s %9s %9s %9s %9s %6s %9s %9s %7s\n", q->bench->name,
               q->bench->about, "n", "method", "steps", "a step", "cpu", "back", "cpu", "tape",
               "memory", "zones", "unknowns", "contacts", "Newton");
    }
    for (int i = 0; i < q->size_count * q->method_count && status != 2; i++) {
        const int one = bench_size(q, q->size[i / q->method_count], q->method[i % q->method_count]);
        status = one > status ? one : status;
    }
    return status;
}

static int print_scene(const bench_request* q)
{
    char* text = q->bench->write(q->size[0]);
    if (!text) {
        fprintf(stderr, "carom bench: not enough memory\n");
        return 1;
    }
    fputs(text, stdout);
    free(text);
    return 0;
}

// "9,33,100"
static int parse_sizes(bench_request* q)
{
    const char* at = q->n_text ? q->n_text : q->bench->sizes;
    for (q->size_count = 0; q->size_count < MOST_SIZES; q->size_count++) {
        char* end = NULL;
        const long n = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || n < 1 || n > q->bench->most) {
            break;
        }
        q->size[q->size_count] = (int)n;
        if (!*end) {
            q->size_count++;
            return 1;
        }
        at = end + 1;
    }
    fprintf(stderr,
            "carom bench: --n is \"%s\"; it has to be whole numbers from 1 to %d (%s), as "
            "in %s\n",
            q->n_text, q->bench->most, q->bench->unit, q->bench->sizes);
    return 0;
}

// "sparse,dense-qr"
static int parse_methods(bench_request* q)
{
    for (const char* at = q->method_text ? q->method_text : "sparse"; q->method_count < METHODS;) {
        const size_t length = strcspn(at, ",");
        int found = 0;
        for (int i = 0; i < METHODS; i++) {
            if (strlen(methods[i]) == length && strncmp(at, methods[i], length) == 0) {
                q->method[q->method_count] = methods[i];
                found = 1;
            }
        }
        if (!found) {
            break;
        }
        q->method_count++;
        if (!at[length]) {
            return 1;
        }
        at += length + 1;
    }
    fprintf(stderr,
            "carom bench: --method is \"%s\"; it has to be one or more of sparse,dense-qr,"
            "dense-kkt\n",
            q->method_text);
    return 0;
}

static int parse_rest(bench_request* q)
{
    q->bench = cli_bench_scene_find(q->name);
    q->steps = -1;
    q->threads = 1;
    if (!q->bench) {
        fprintf(stderr, "carom bench: there is no \"%s\"; there are:\n", q->name);
        for (int i = 0; cli_bench_scene_at(i); i++) {
            fprintf(stderr, "  %-14s %s\n", cli_bench_scene_at(i)->name,
                    cli_bench_scene_at(i)->about);
        }
        return 0;
    }
    return parse_sizes(q) && parse_methods(q) &&
           (!q->steps_text ||
            cli_args_whole("bench", "--steps", q->steps_text, 1, 1e12, &q->steps)) &&
           (!q->threads_text ||
            cli_args_whole("bench", "--threads", q->threads_text, 1, 1024, &q->threads));
}

static int parse(int argc, char** argv, bench_request* q)
{
    const cli_option options[] = {
        {"--n", "N,N,...", "sizes", &q->n_text, NULL, NULL},
        {"--steps", "N", "how many steps; else as long as the scene says", &q->steps_text, NULL,
         NULL},
        {"--threads", "N", "workers (1)", &q->threads_text, NULL, NULL},
        {"--method", "NAME,...", "of the way back: sparse, dense-qr, dense-kkt", &q->method_text,
         NULL, NULL},
        {"--forward", NULL, "the way there alone", NULL, &q->forward, NULL},
        {"--set", "PATH=VALUE", "change the scene: world.friction=0.5; may be repeated", NULL, NULL,
         &q->set},
        {"--scene", NULL, "print the scene of the first size instead", NULL, &q->scene, NULL},
        {"--json", NULL, "one JSON object per size", NULL, &q->json, NULL},
    };
    const cli_usage usage = {
        "NAME [--n N,N,...] [--steps N] [--threads N] [--method NAME,...] "
        "[--forward] [--set PATH=VALUE]... [--json | --scene]",
        "measures time and memory of a step and of its way back, a line per size. Names: "
        "falling-cubes, stacked-cubes, many-objects, cloth-scale, sheet-ball",
        options,
        (int)(sizeof options / sizeof *options),
        1,
        1};
    const int plain = cli_args_parse(argc, argv, &usage, &q->name);
    return plain < 0 ? plain : parse_rest(q) ? plain : -1;
}

int cli_bench(int argc, char** argv)
{
    bench_request q = {0};
    q.set.item = calloc((size_t)argc, sizeof *q.set.item);
    const int plain = q.set.item ? parse(argc, argv, &q) : -1;
    const int status = plain < 0 ? (plain == -2 ? 0 : 2)
                       : q.scene ? print_scene(&q)
                                 : bench_all(&q);
    free(q.set.item);
    return status;
}
