// A scene step by step for its whole length: what the mean and the worst of its steps cost.
//     bench_steps SCENE [--threads N] [--limit SECONDS] [--judge EVERY] [--verbose]
// Prints one JSON object. --limit: no new step after so much processor time. --judge: every so many
// steps the exact test looks for meshes that intersect.
#include "api/handles.h"
#include "carom/sim.h"
#include "collision/intersect_frame.h"
#include "core/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct options {
    const char* path;
    int threads, judge, verbose;
    double limit; // s
} options;

typedef struct tally {
    double *wall, *cpu; // [steps] ms
    int64_t steps, iterations, factorisations, sub_steps, split, relaxed, crossing, judged;
    int32_t worst_iterations, most_sub_steps, most_contacts;
    double residual, least_gap;
    const char* error;
} tally;

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static int parse(int argc, char** argv, options* o)
{
    *o = (options){.threads = 1, .limit = HUGE_VAL};
    for (int i = 1; i < argc; i++) {
        const int more = i + 1 < argc;
        if (!strcmp(argv[i], "--threads") && more) {
            o->threads = atoi(argv[++i]);
        } else if (!strcmp(argv[i], "--limit") && more) {
            o->limit = atof(argv[++i]);
        } else if (!strcmp(argv[i], "--judge") && more) {
            o->judge = atoi(argv[++i]);
        } else if (!strcmp(argv[i], "--verbose")) {
            o->verbose = 1;
        } else if (argv[i][0] != '-' && !o->path) {
            o->path = argv[i];
        } else {
            return 0;
        }
    }
    return o->path != NULL;
}

// The exact test of everything.
static void judge(const carom_model* model, carom_sim* sim, tally* t)
{
    double* x = malloc(3 * sizeof *x * (size_t)carom_model_vertex_count(model));
    cr_intersect_report report = {0};
    if (x) {
        carom_sim_vertices(sim, x);
        const int bad =
            cr_intersect_frame(&model->numbers->surface, x, model->numbers->bodies.radius, 0.0,
                               CR_INTERSECT_FRAME_INSIDE, &report) != CAROM_OK;
        t->judged++;
        t->crossing += bad || report.pair_count > 0 || report.inside_count > 0;
    }
    free(x);
}

static void count(tally* t, const carom_step_info* info, double wall, double cpu)
{
    t->wall[t->steps] = 1e3 * wall;
    t->cpu[t->steps++] = 1e3 * cpu;
    t->iterations += info->iterations;
    t->factorisations += info->factorisations;
    t->sub_steps += info->parts;
    t->split += info->parts > 1;
    t->relaxed += info->eased;
    t->worst_iterations =
        info->iterations > t->worst_iterations ? info->iterations : t->worst_iterations;
    t->most_sub_steps = info->parts > t->most_sub_steps ? info->parts : t->most_sub_steps;
    t->most_contacts = info->contacts > t->most_contacts ? info->contacts : t->most_contacts;
    t->residual = fmax(t->residual, info->residual);
    t->least_gap = fmin(t->least_gap, info->least_gap);
}

static void simulate(const carom_model* model, carom_sim* sim, const options* o, int64_t steps,
                     tally* t)
{
    static carom_error error;
    const double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (t->steps < steps) {
        const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (cpu - begin > o->limit) {
            t->error = "time limit";
            return;
        }
        if (carom_sim_step(sim, &error) != CAROM_OK) {
            t->error = error.message;
            return;
        }
        const carom_step_info info = carom_sim_info(sim);
        count(t, &info, seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
        if (o->verbose) {
            fprintf(stderr,
                    "step %lld: %.2f ms, %d iterations, %d sub-steps, %d contacts, gap %g\n",
                    (long long)t->steps, t->cpu[t->steps - 1], info.iterations, info.parts,
                    info.contacts, info.least_gap);
        }
        if (o->judge > 0 && t->steps % o->judge == 0) {
            judge(model, sim, t);
        }
    }
}

// As a JSON value; messages quote names.
static void print_text(const char* text)
{
    if (!text) {
        printf("null");
        return;
    }
    putchar('"');
    for (const char* c = text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            putchar('\\');
        }
        putchar(*c == '\n' ? ' ' : *c);
    }
    putchar('"');
}

static void print(tally* t)
{
    const int64_t n = t->steps > 0 ? t->steps : 1;
    double wall = 0, cpu = 0, quarter[4] = {0};
    int64_t worst = 0;
    for (int64_t i = 0; i < t->steps; i++) {
        wall += t->wall[i];
        cpu += t->cpu[i];
        quarter[4 * i / n] += 4 * t->cpu[i] / (double)n;
        worst = t->cpu[i] > t->cpu[worst] ? i : worst;
    }
    const double most = t->steps ? t->cpu[worst] : 0;
    qsort(t->cpu, (size_t)t->steps, sizeof *t->cpu, compare);
    printf("{\"steps\": %lld, \"mean_ms\": %.6g, \"wall_ms\": %.6g, \"median_ms\": %.6g, "
           "\"worst_ms\": %.6g, \"worst_step\": %lld, \"quarters_ms\": [%.6g, %.6g, %.6g, %.6g], "
           "\"iterations\": %.6g, \"worst_iterations\": %d, \"factorisations\": %.6g, "
           "\"split\": %lld, \"most_sub_steps\": %d, \"relaxed\": %lld, \"most_contacts\": %d, "
           "\"residual\": %.3g, \"least_gap_m\": %.6g, \"judged\": %lld, \"crossing\": %lld, "
           "\"error\": ",
           (long long)t->steps, cpu / (double)n, wall / (double)n, t->steps ? t->cpu[n / 2] : 0,
           most, (long long)worst, quarter[0], quarter[1], quarter[2], quarter[3],
           (double)t->iterations / (double)n, t->worst_iterations,
           (double)t->factorisations / (double)n, (long long)t->split, t->most_sub_steps,
           (long long)t->relaxed, t->most_contacts, t->residual,
           t->least_gap < HUGE_VAL ? t->least_gap : 0.0, (long long)t->judged,
           (long long)t->crossing);
    print_text(t->error);
    printf("}\n");
}

int main(int argc, char** argv)
{
    options o;
    if (!parse(argc, argv, &o)) {
        fprintf(stderr,
                "usage: bench_steps SCENE [--threads N] [--limit S] [--judge EVERY] [--verbose]\n");
        return 2;
    }
    carom_error error = {CAROM_OK, ""};
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    tally t = {.least_gap = HUGE_VAL};
    int bad = carom_scene_load(o.path, &scene, &error) != CAROM_OK ||
              carom_model_create(scene, &model, &error) != CAROM_OK ||
              carom_sim_create(model, o.threads, &sim, &error) != CAROM_OK;
    if (!bad) {
        const cr_world* world = &model->numbers->world;
        const int64_t steps = llround(world->duration / world->dt);
        t.wall = calloc((size_t)steps + 1, sizeof(double));
        t.cpu = calloc((size_t)steps + 1, sizeof(double));
        bad = !t.wall || !t.cpu;
        if (!bad) {
            simulate(model, sim, &o, steps, &t);
            print(&t);
        }
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    free(t.wall);
    free(t.cpu);
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
    return bad;
}
