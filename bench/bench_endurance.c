// Random piles over the whole range of what a scene may hold: 5 to 200 bodies, sheets, masses over
// six orders of magnitude, up to 1000 m/s, steps of 1/24 to 1/1000 s, friction 0 to 1.5. Counts
// steps that failed, were split or gained energy, and frames that intersect.
//     bench_endurance piles FROM COUNT [steps N] [bodies LEAST MOST] [rigid]
#include "../tests/pile.h"
#include "api/handles.h"
#include "carom/sim.h"
#include "collision/intersect_frame.h"
#include <string.h>
#include <time.h>

typedef struct tally {
    int64_t steps, failed, split, eased, retries, gains, frames, crossing, lost, iterations;
    int64_t most_parts;
    double most_gain; // relative to the energy at play
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
// A gain below this part of the energy at play is what contacts hold, or round-off.
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

// How many frames intersect, 0 or 1; a NaN counts in lost.
static void judge(const carom_model* model, const carom_sim* sim, double* x, const double* radius,
                  tally* t)
{
    cr_intersect_report report;
    carom_sim_vertices(sim, x);
    t->frames++;
    for (int32_t i = 0; i < 3 * carom_model_vertex_count(model); i++) {
        if (!isfinite(x[i])) {
            t->lost++;
            return;
        }
    }
    if (cr_intersect_frame(&model->numbers->surface, x, radius, 0.0, CR_INTERSECT_FRAME_INSIDE,
                           &report) == CAROM_OK) {
        t->crossing += report.pair_count > 0 || report.inside_count > 0;
    }
}

static void add(tally* sum, const tally* t)
{
    sum->steps += t->steps;
    sum->failed += t->failed;
    sum->split += t->split;
    sum->eased += t->eased;
    sum->retries += t->retries;
    sum->gains += t->gains;
    sum->frames += t->frames;
    sum->crossing += t->crossing;
    sum->lost += t->lost;
    sum->iterations += t->iterations;
    sum->most_parts = t->most_parts > sum->most_parts ? t->most_parts : sum->most_parts;
    sum->most_gain = fmax(sum->most_gain, t->most_gain);
    sum->seconds += t->seconds;
}

static void tell(const tally* t)
{
    printf("%lld steps, %lld failed, %lld split (into at most %lld), %lld eased, %lld wider looks, "
           "%lld of %lld frames intersect, %lld not finite, %lld gained energy (most %.2g), "
           "%.2f iterations a step, %.1f s\n",
           (long long)t->steps, (long long)t->failed, (long long)t->split, (long long)t->most_parts,
           (long long)t->eased, (long long)t->retries, (long long)t->crossing, (long long)t->frames,
           (long long)t->lost, (long long)t->gains, t->most_gain,
           t->steps > 0 ? (double)t->iterations / (double)t->steps : 0.0, t->seconds);
}

static double now_seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A step is counted with what it was; the first that fails ends the pile.
static void step_on(const carom_model* model, carom_sim* sim, int steps, double* x,
                    const double* radius, tally* t)
{
    carom_error error = {0};
    double energy = carom_sim_energy(sim).total;
    for (int i = 0; i < steps; i++) {
        t->steps++;
        if (carom_sim_step(sim, &error) != CAROM_OK) {
            t->failed++;
            printf("%s\n", error.message);
            return;
        }
        const carom_step_info info = carom_sim_info(sim);
        const carom_energy now = carom_sim_energy(sim);
        const double size = now.kinetic + fabs(now.gravity) + now.elastic;
        const double gain = (now.total - energy) / size;
        t->split += info.parts > 1;
        t->retries += info.retries;
        t->most_parts = info.parts > t->most_parts ? info.parts : t->most_parts;
        t->eased += info.eased > 0;
        t->iterations += info.iterations;
        t->gains += !(gain <= gain_noise);
        t->most_gain = gain > t->most_gain ? gain : t->most_gain;
        energy = now.total;
        if (i % 5 == 4) {
            judge(model, sim, x, radius, t);
        }
    }
}

static carom_status run(const pile* p, int steps, tally* t)
{
    carom_error error = {0};
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    const double begin = now_seconds();
    char* text = pile_scene(p);
    carom_status status = carom_scene_parse(text, strlen(text), NULL, &scene, &error);
    if (status == CAROM_OK) {
        status = carom_model_create(scene, &model, &error);
    }
    if (status == CAROM_OK) {
        status = carom_sim_create(model, 1, &sim, &error);
    }
    free(text);
    if (status == CAROM_OK) {
        const cr_body_set* bodies = &model->numbers->bodies;
        double* x = calloc(3 * (size_t)carom_model_vertex_count(model) + 1, sizeof(double));
        double* radius = calloc((size_t)bodies->body_count + 1, sizeof(double));
        for (int32_t b = 0; radius && b < bodies->body_count; b++) {
            radius[b] = (1 - give) * bodies->radius[b];
        }
        if (x && radius) {
            step_on(model, sim, steps, x, radius, t);
        }
        free(x);
        free(radius);
    } else {
        printf("%s\n", error.message);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
    t->seconds = now_seconds() - begin;
    return status;
}

static int usage(void)
{
    fprintf(
        stderr,
        "bench_endurance piles FROM COUNT [steps N] [bodies LEAST MOST] [rigid] "
        "[friction_speed V]\n"
        "  the piles of the seeds FROM .. FROM + COUNT - 1, a line for each; any part of a long "
        "run can be run again\n"
        "bench_endurance scene SEED 1 ...\n"
        "  that pile as a scene file, for carom run\n"
        "  steps           of each pile, 100\n"
        "  bodies          in a pile, from LEAST to MOST instead of 5 to 200\n"
        "  rigid           the same piles without their sheets\n"
        "  friction_speed  m/s, instead of the scene format's own\n");
    return 2;
}

int main(int argc, char** argv)
{
    const int scenes = argc > 1 && strcmp(argv[1], "scene") == 0;
    if (argc < 4 || (!scenes && strcmp(argv[1], "piles") != 0)) {
        return usage();
    }
    const uint64_t from = strtoull(argv[2], NULL, 10);
    const int count = atoi(argv[3]);
    bounds b = {.least = 5, .most = 200};
    int steps = 100;
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], "rigid") == 0) {
            b.rigid = 1;
        } else if (strcmp(argv[i], "steps") == 0 && i + 1 < argc) {
            steps = atoi(argv[++i]);
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
        const carom_status status = run(&p, steps, &t);
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
    return refused + sum.failed + sum.crossing + sum.lost > 0;
}
