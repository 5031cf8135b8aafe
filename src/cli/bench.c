#include "carom/sim.h"
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

enum { MOST_SIZES = 64 };

typedef struct bench_request {
    const char *name, *n_text, *steps_text, *threads_text, *method;
    cli_list set;
    int json, scene;
    int64_t steps; // -1: as long as the scene says
    int64_t threads;
    const cli_bench_scene* bench;
    int size[MOST_SIZES];
    int size_count;
} bench_request;

typedef struct bench_result {
    int64_t steps;
    double build_s, wall_s, cpu_s;
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
}

static void run_size(const bench_request* q, int n, bench_result* r)
{
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    const double since = cli_measure_wall();
    char* text = q->bench->write(n);
    *r = (bench_result){.status = CAROM_ERR_MEMORY, .error.message = "not enough memory"};
    if (text) {
        r->status = carom_scene_parse(text, strlen(text), NULL, &scene, &r->error);
    }
    if (r->status == CAROM_OK) {
        r->status = cli_set_all(scene, &q->set, &r->error);
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
    free(text);
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
}

static int print_json(const bench_request* q, int n, const bench_result* r)
{
    const double steps = r->steps > 0 ? (double)r->steps : (double)NAN;
    json_t* o = json_object();
    json_object_set_new(o, "bench", json_string(q->bench->name));
    json_object_set_new(o, "n", json_integer(n));
    json_object_set_new(o, "method", json_string(q->method));
    json_object_set_new(o, "steps", json_integer(r->steps));
    json_object_set_new(o, "forward_s_per_step", cli_json_number(r->wall_s / steps));
    json_object_set_new(o, "forward_cpu_s_per_step", cli_json_number(r->cpu_s / steps));
    json_object_set_new(o, "backward_s_per_step", json_null());
    json_object_set_new(o, "peak_rss_bytes", json_integer(cli_measure_peak_rss()));
    json_object_set_new(o, "tape_bytes_per_step", json_null());
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

static int print_row(int n, const bench_result* r)
{
    char step[CLI_MEASURE_TEXT], cpu[CLI_MEASURE_TEXT], memory[CLI_MEASURE_TEXT];
    const double steps = r->steps > 0 ? (double)r->steps : 1;
    printf("%8d %7lld %11s %11s %9s %7d %9d %9d %7.2f\n", n, (long long)r->steps,
           cli_measure_seconds(r->wall_s / steps, step), cli_measure_seconds(r->cpu_s / steps, cpu),
           cli_measure_bytes(cli_measure_peak_rss(), memory), r->zones, r->max_zone_dofs,
           r->max_zone_contacts, (double)r->iterations / steps);
    return 0;
}

// One size in a process of its own, so that the memory is that of this size alone.
static int bench_size(const bench_request* q, int n)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) {
        fprintf(stderr, "carom bench: no process for it\n");
        return 1;
    }
    if (child == 0) {
        bench_result r;
        run_size(q, n, &r);
        int status = q->json ? print_json(q, n, &r) : print_row(n, &r);
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
        printf("%s: %s\n%8s %7s %11s %11s %9s %7s %9s %9s %7s\n", q->bench->name, q->bench->about,
               "n", "steps", "a step", "cpu", "memory", "zones", "unknowns", "contacts", "Newton");
    }
    for (int i = 0; i < q->size_count && status != 2; i++) {
        const int one = bench_size(q, q->size[i]);
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

static int parse_rest(bench_request* q)
{
    q->bench = cli_bench_scene_find(q->name);
    q->steps = -1;
    q->threads = 1;
    q->method = q->method ? q->method : "sparse";
    if (!q->bench) {
        fprintf(stderr, "carom bench: there is no \"%s\"; there are:\n", q->name);
        for (int i = 0; cli_bench_scene_at(i); i++) {
            fprintf(stderr, "  %-14s %s\n", cli_bench_scene_at(i)->name,
                    cli_bench_scene_at(i)->about);
        }
        return 0;
    }
    if (strcmp(q->method, "sparse") != 0) {
        fprintf(stderr, "carom bench: --method is \"%s\"; sparse is what there is\n", q->method);
        return 0;
    }
    return parse_sizes(q) &&
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
        {"--method", "NAME", "of the linear systems: sparse", &q->method, NULL, NULL},
        {"--set", "PATH=VALUE", "change the scene: world.friction=0.5; may be repeated", NULL, NULL,
         &q->set},
        {"--scene", NULL, "print the scene of the first size instead", NULL, &q->scene, NULL},
        {"--json", NULL, "one JSON object per size", NULL, &q->json, NULL},
    };
    const cli_usage usage = {"NAME [--n N,N,...] [--steps N] [--threads N] [--method sparse] "
                             "[--set PATH=VALUE]... [--json | --scene]",
                             "measures time and memory of a step, one line per size. Names: "
                             "falling-cubes,\nstacked-cubes, many-objects, cloth-scale, sheet-ball",
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
