// Random piles over the whole range of what a scene may hold: 5 to 200 bodies, sheets, masses over
// six orders of magnitude, up to 1000 m/s, steps of 1/24 to 1/1000 s, friction 0 to 1.5. Counts
// steps that failed, were split or gained energy, and frames that intersect.
//     bench_endurance piles FROM COUNT [steps N] [bodies LEAST MOST] [rigid] [seconds S]
// And one scene for a very long time: what it takes from memory may not grow.
//     bench_endurance steps COUNT bench/endurance.json
#include "../tests/held.h"
#include "../tests/pile.h"
#include "api/handles.h"
#include "carom/sim.h"
#include "collision/intersect_frame.h"
#include "core/memory.h"
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef struct tally {
    int64_t steps, failed, slow, split, eased, retries, gains, frames, crossing, lost, iterations;
    int64_t most_parts;
    double most_residual; // of the equations of a step that was accepted
    int64_t taken;        // blocks of memory, by steps
    double most_gain;     // relative to the energy at play
    int64_t gained_at;    // the step of it
    double seconds;
} tally;

// Of the piles to choose from.
typedef struct bounds {
    int least, most; // bodies
    int rigid;       // nonzero: no sheets
    double friction_speed;
} bounds;

// Of exact balls the give of a contact may overlap, relative to the radius.
static const double give = 1e-4;
// What may be left of the equations of a step that was accepted, of the largest force in them.
static const double solved = 1e-5;
// A gain below this part of the energy at play is round-off.
static const double gain_noise = 1e-8;

static pile choose(uint64_t seed, const bounds* b)
{
    static const double steps[] = {1.0 / 24, 1.0 / 60, 0.01, 0.005, 0.001};
    static const double rub[] = {0, 0.1, 0.4, 0.8, 1.5};
    static const double speeds[] = {0, 1, 3, 10, 100, 1000};
    static const double ratios[] = {1, 1, 100, 1e6};
    uint64_t s = 31 * seed + 5;
    pile p = {.seed = seed, .friction_speed = b->friction_speed};
    // most piles are small
    p.bodies = (int)(b->least * pow((double)b->most / b->least, pow(pile_random(&s, 0, 1), 3)));
    p.sheets = pile_random(&s, 0, 1) < 0.3 ? 1 + (int)pile_random(&s, 0, 2) : 0;
    p.dt = steps[(int)pile_random(&s, 0, 5)];
    p.friction = rub[(int)pile_random(&s, 0, 5)];
    p.speed = speeds[(int)pile_random(&s, 0, 6)];
    p.mass_ratio = ratios[(int)pile_random(&s, 0, 4)];
    p.sheets = b->rigid ? 0 : p.sheets;
    return p;
}

// Set when a pile has had its time.
static volatile int late;

static void on_late(int number)
{
    (void)number;
    late = 1;
}

// From now on a pile has so many seconds of the processor; 0: as many as it likes.
static void allow(double seconds)
{
    const struct itimerval timer = {
        .it_value = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds)))}};
    late = 0;
    signal(SIGVTALRM, on_late);
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

// What is stepped, and room to look at it.
typedef struct stage {
    carom_scene* scene;
    carom_model* model;
    carom_sim* sim;
    double* x;      // [3*vertex_count] m
    double* radius; // [body_count] m, less what a contact may give
} stage;

static void stage_release(stage* s)
{
    free(s->x);
    free(s->radius);
    carom_sim_destroy(s->sim);
    carom_model_destroy(s->model);
    carom_scene_destroy(s->scene);
    *s = (stage){0};
}

// The scene is there already; prints why it cannot begin.
static carom_status stage_init(stage* s)
{
    carom_error error = {0};
    carom_status status = carom_model_create(s->scene, &s->model, &error);
    if (status == CAROM_OK) {
        status = carom_sim_create(s->model, 1, &s->sim, &error);
        carom_sim_set_stop(s->sim, &late);
    }
    if (status != CAROM_OK) {
        printf("%s\n", error.message);
        return status;
    }
    const cr_body_set* bodies = &s->model->numbers->bodies;
    s->x = calloc(3 * (size_t)carom_model_vertex_count(s->model) + 1, sizeof(double));
    s->radius = calloc((size_t)bodies->body_count + 1, sizeof(double));
    if (!s->x || !s->radius) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t b = 0; b < bodies->body_count; b++) {
        s->radius[b] = (1 - give) * bodies->radius[b];
    }
    return CAROM_OK;
}

// How many frames intersect, 0 or 1; a NaN counts in lost.
static void judge(const stage* s, tally* t)
{
    cr_intersect_report report;
    carom_sim_vertices(s->sim, s->x);
    t->frames++;
    for (int32_t i = 0; i < 3 * carom_model_vertex_count(s->model); i++) {
        if (!isfinite(s->x[i])) {
            t->lost++;
            return;
        }
    }
    if (cr_intersect_frame(&s->model->numbers->surface, s->x, s->radius, 0.0,
                           CR_INTERSECT_FRAME_INSIDE, &report) != CAROM_OK ||
        report.pair_count > 0 || report.inside_count > 0) {
        t->crossing++;
    }
}

static void add(tally* sum, const tally* t)
{
    sum->steps += t->steps;
    sum->failed += t->failed;
    sum->slow += t->slow;
    sum->split += t->split;
    sum->eased += t->eased;
    sum->retries += t->retries;
    sum->gains += t->gains;
    sum->frames += t->frames;
    sum->crossing += t->crossing;
    sum->lost += t->lost;
    sum->iterations += t->iterations;
    sum->most_residual = fmax(sum->most_residual, t->most_residual);
    sum->most_parts = t->most_parts > sum->most_parts ? t->most_parts : sum->most_parts;
    if (t->most_gain > sum->most_gain) {
        sum->most_gain = t->most_gain;
        sum->gained_at = t->gained_at;
    }
    sum->seconds += t->seconds;
}

static void tell(const tally* t)
{
    printf("%lld steps, %lld failed, %lld given up, %lld split (into at most %lld), %lld eased, "
           "%lld wider looks, "
           "%lld of %lld frames intersect, %lld not finite, %lld gained energy (most %.2g, in step "
           "%lld), "
           "residual at most %.1g, %.2f iterations a step, %.1f s\n",
           (long long)t->steps, (long long)t->failed, (long long)t->slow, (long long)t->split,
           (long long)t->most_parts, (long long)t->eased, (long long)t->retries,
           (long long)t->crossing, (long long)t->frames, (long long)t->lost, (long long)t->gains,
           t->most_gain, (long long)t->gained_at, t->most_residual,
           t->steps > 0 ? (double)t->iterations / (double)t->steps : 0.0, t->seconds);
}

// Of the processor: others may be at work.
static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Counts a step with what it was; one that fails says why.
static carom_status step(const stage* s, tally* t)
{
    carom_error error = {0};
    const double before =
        carom_sim_energy(s->sim).total + held_energy(s->sim, carom_model_dt(s->model));
    const int64_t calls = cr_memory_calls();
    t->steps++;
    const carom_status status = carom_sim_step(s->sim, &error);
    t->taken += cr_memory_calls() - calls;
    if (status != CAROM_OK) {
        t->slow += status == CAROM_ERR_INTERRUPTED;
        t->failed += status != CAROM_ERR_INTERRUPTED;
        printf("step %lld: %s\n", (long long)carom_sim_steps(s->sim), error.message);
        return status;
    }
    const carom_step_info info = carom_sim_info(s->sim);
    const carom_energy now = carom_sim_energy(s->sim);
    const double size = now.kinetic + fabs(now.gravity) + now.elastic;
    const double gain = (now.total - before) / size;
    t->split += info.parts > 1;
    t->retries += info.retries;
    t->most_parts = info.parts > t->most_parts ? info.parts : t->most_parts;
    t->eased += info.eased > 0;
    t->most_residual = isfinite(info.residual) ? fmax(t->most_residual, info.residual) : HUGE_VAL;
    t->iterations += info.iterations;
    t->gains += !(gain <= gain_noise);
    if (gain > t->most_gain) {
        t->most_gain = gain;
        t->gained_at = carom_sim_steps(s->sim);
    }
    return CAROM_OK;
}

// The first step that fails ends the pile.
static carom_status run(const pile* p, int steps, double seconds, tally* t)
{
    carom_error error = {0};
    stage s = {0};
    const double begin = now_seconds();
    allow(seconds);
    char* text = pile_scene(p);
    carom_status status = carom_scene_parse(text, strlen(text), NULL, &s.scene, &error);
    free(text);
    if (status == CAROM_OK) {
        status = stage_init(&s);
    }
    for (int i = 0; status == CAROM_OK && i < steps && step(&s, t) == CAROM_OK; i++) {
        if (i % 5 == 4) {
            judge(&s, t);
        }
    }
    stage_release(&s);
    t->seconds = now_seconds() - begin;
    return status;
}

// Bytes of this process that are in memory.
static int64_t resident(void)
{
    long long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%*d %lld", &pages) != 1) {
            pages = 0;
        }
        fclose(file);
    }
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

// Bytes by which a process may seem to grow without anything being asked for: a few pages.
static const int64_t page_noise = 64 << 10;

// One scene for count steps, a line for each twentieth of them. What drives it does work, so gains
// of energy say nothing here. Returns 0 when no step failed, no frame that was looked at (one in
// fifty) intersects, and the second half asked for no more memory than the first had.
static int march(const char* path, int64_t count)
{
    carom_error error = {0};
    stage s = {0};
    tally t = {0};
    int64_t half_taken = 0, most = 0, half_most = 0;
    const double begin = now_seconds();
    if (carom_scene_load(path, &s.scene, &error) != CAROM_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const int64_t told = count / 20 > 0 ? count / 20 : 1;
    carom_status status = stage_init(&s);
    for (int64_t i = 1; status == CAROM_OK && i <= count; i++) {
        status = step(&s, &t);
        if (i % 50 == 0) {
            judge(&s, &t);
        }
        if (i % told == 0) {
            const int64_t held = resident();
            printf("%" PRId64 " steps, %.0f s: %.2f MB resident, %" PRId64 " blocks, %" PRId64
                   " taken by steps, %" PRId64 " split, %" PRId64 " eased, %" PRId64
                   " frames intersect, %.3g J of motion\n",
                   i, now_seconds() - begin, 1e-6 * (double)held, cr_memory_blocks(), t.taken,
                   t.split, t.eased, t.crossing, carom_sim_energy(s.sim).kinetic);
            fflush(stdout);
            most = held > most ? held : most;
        }
        if (i == count / 2) {
            half_taken = t.taken;
            half_most = most;
        }
    }
    t.seconds = now_seconds() - begin;
    tell(&t);
    const int64_t later = t.taken - half_taken;
    printf("second half: %" PRId64 " blocks taken, %" PRId64 " bytes more than ever before\n",
           later, most - half_most);
    stage_release(&s);
    return status != CAROM_OK || t.crossing + t.lost > 0 || later > 0 ||
           most > half_most + page_noise;
}

static int usage(void)
{
    fprintf(
        stderr,
        "bench_endurance piles FROM COUNT [steps N] [bodies LEAST MOST] [rigid] "
        "[friction_speed V] [seconds S]\n"
        "  the piles of the seeds FROM .. FROM + COUNT - 1, a line for each; any part of a long "
        "run can be run again\n"
        "bench_endurance steps COUNT SCENE\n"
        "  so many steps of one scene; memory may not grow\n"
        "bench_endurance scene SEED 1 ...\n"
        "  that pile as a scene file, for carom run\n"
        "  steps           of each pile, 100\n"
        "  bodies          in a pile, from LEAST to MOST instead of 5 to 200\n"
        "  rigid           the same piles without their sheets\n"
        "  friction_speed  m/s, instead of the scene format's own\n"
        "  seconds         of the processor, after which a pile is given up\n");
    return 2;
}

int main(int argc, char** argv)
{
    if (argc == 4 && strcmp(argv[1], "steps") == 0) {
        return march(argv[3], strtoll(argv[2], NULL, 10));
    }
    const int scenes = argc > 1 && strcmp(argv[1], "scene") == 0;
    if (argc < 4 || (!scenes && strcmp(argv[1], "piles") != 0)) {
        return usage();
    }
    const uint64_t from = strtoull(argv[2], NULL, 10);
    const int count = atoi(argv[3]);
    bounds b = {.least = 5, .most = 200};
    int steps = 100;
    double seconds = 0;
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], "rigid") == 0) {
            b.rigid = 1;
        } else if (strcmp(argv[i], "steps") == 0 && i + 1 < argc) {
            steps = atoi(argv[++i]);
        } else if (strcmp(argv[i], "seconds") == 0 && i + 1 < argc) {
            seconds = atof(argv[++i]);
        } else if (strcmp(argv[i], "friction_speed") == 0 && i + 1 < argc) {
            b.friction_speed = atof(argv[++i]);
        } else if (strcmp(argv[i], "bodies") == 0 && i + 2 < argc) {
            b.least = atoi(argv[++i]);
            b.most = atoi(argv[++i]);
        } else {
            return usage();
        }
    }
    tally sum = {0};
    int refused = 0;
    for (int i = 0; i < count; i++) {
        const pile p = choose(from + (uint64_t)i, &b);
        if (scenes) {
            char* text = pile_scene(&p);
            puts(text);
            free(text);
            continue;
        }
        tally t = {0};
        const carom_status status = run(&p, steps, seconds, &t);
        refused += status != CAROM_OK;
        printf("%llu: %d bodies, %d sheets, masses to %g, %g m/s, dt %.4g, mu %g: ",
               (unsigned long long)p.seed, p.bodies, p.sheets, p.mass_ratio, p.speed, p.dt,
               p.friction);
        tell(&t);
        fflush(stdout);
        add(&sum, &t);
    }
    if (scenes) {
        return 0;
    }
    printf("all %d piles, %d that could not begin: ", count, refused);
    tell(&sum);
    return refused + sum.failed + sum.crossing + sum.lost > 0 || !(sum.most_residual <= solved);
}
