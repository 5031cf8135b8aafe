// Random piles over the whole range of what a scene may hold: 5 to 200 bodies, sheets, masses over
// six orders of magnitude, up to 1000 m/s, steps of 1/24 to 1/1000 s, friction 0 to 1.5. Counts
// steps that failed, were split or gained energy, and frames that intersect.
//     bench_endurance [scenes [steps [first seed [friction_speed [bodies]]]]]
#include "../tests/pile.h"
#include "api/handles.h"
#include "carom/sim.h"
#include "collision/intersect_frame.h"
#include <string.h>

typedef struct tally {
    int64_t steps, failed, split, eased, gains, frames, crossing, lost, iterations;
    double most_gain; // relative to the energy at play
} tally;

// Of exact balls the give of a contact may overlap, relative to the radius.
static const double give = 1e-4;
// A gain below this part of the energy at play is what contacts hold, or round-off.
static const double gain_noise = 1e-8;

static pile choose(uint64_t seed, double friction_speed, int bodies)
{
    static const double steps[] = {1.0 / 24, 1.0 / 60, 0.01, 0.005, 0.001};
    static const double rub[] = {0, 0.1, 0.4, 0.8, 1.5};
    static const double speeds[] = {0, 1, 3, 10, 100, 1000};
    static const double ratios[] = {1, 1, 100, 1e6};
    uint64_t s = 31 * seed + 5;
    pile p = {.seed = seed, .friction_speed = friction_speed};
    p.bodies = (int)(5 * pow(40.0, pow(pile_random(&s, 0, 1), 3)));
    p.bodies = bodies > 0 ? bodies : p.bodies;
    p.sheets = pile_random(&s, 0, 1) < 0.3 ? 1 + (int)pile_random(&s, 0, 2) : 0;
    p.dt = steps[(int)pile_random(&s, 0, 5)];
    p.friction = rub[(int)pile_random(&s, 0, 5)];
    p.speed = speeds[(int)pile_random(&s, 0, 6)];
    p.mass_ratio = ratios[(int)pile_random(&s, 0, 4)];
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

static void run(const pile* p, int steps, tally* sum)
{
    carom_error error = {0};
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    tally t = {0};
    char* text = pile_scene(p);
    carom_status status = carom_scene_parse(text, strlen(text), NULL, &scene, &error);
    if (status == CAROM_OK) {
        status = carom_model_create(scene, &model, &error);
    }
    if (status == CAROM_OK) {
        status = carom_sim_create(model, 1, &sim, &error);
    }
    free(text);
    if (status != CAROM_OK) {
        printf("seed %llu: %s\n", (unsigned long long)p->seed, error.message);
        carom_scene_destroy(scene);
        carom_model_destroy(model);
        return;
    }
    const cr_body_set* bodies = &model->numbers->bodies;
    double* x = calloc(3 * (size_t)carom_model_vertex_count(model) + 1, sizeof(double));
    double* radius = calloc((size_t)bodies->body_count + 1, sizeof(double));
    for (int32_t b = 0; radius && b < bodies->body_count; b++) {
        radius[b] = (1 - give) * bodies->radius[b];
    }
    double energy = carom_sim_energy(sim).total;
    for (int i = 0; x && radius && i < steps; i++) {
        status = carom_sim_step(sim, &error);
        if (status != CAROM_OK) {
            t.failed++;
            printf("seed %llu (%d bodies, %d sheets, ratio %g, %g m/s, dt %g, mu %g) %s\n",
                   (unsigned long long)p->seed, p->bodies, p->sheets, p->mass_ratio, p->speed,
                   p->dt, p->friction, error.message);
            break;
        }
        const carom_step_info info = carom_sim_info(sim);
        const carom_energy now = carom_sim_energy(sim);
        const double size = now.kinetic + fabs(now.gravity) + now.elastic;
        const double gain = (now.total - energy) / size;
        t.steps++;
        t.split += info.parts > 1;
        t.eased += info.eased > 0;
        t.iterations += info.iterations;
        t.gains += !(gain <= gain_noise);
        t.most_gain = gain > t.most_gain ? gain : t.most_gain;
        energy = now.total;
        if (i % 5 == 4) {
            judge(model, sim, x, radius, &t);
        }
    }
    if (t.failed + t.gains + t.crossing + t.lost > 0) {
        printf("seed %llu: %lld failed, %lld gains (most %.2g), %lld crossing, %lld lost "
               "(%d bodies, %d sheets, ratio %g, %g m/s, dt %g, mu %g)\n",
               (unsigned long long)p->seed, (long long)t.failed, (long long)t.gains, t.most_gain,
               (long long)t.crossing, (long long)t.lost, p->bodies, p->sheets, p->mass_ratio,
               p->speed, p->dt, p->friction);
    }
    fflush(stdout);
    sum->steps += t.steps;
    sum->failed += t.failed;
    sum->split += t.split;
    sum->eased += t.eased;
    sum->gains += t.gains;
    sum->frames += t.frames;
    sum->crossing += t.crossing;
    sum->lost += t.lost;
    sum->iterations += t.iterations;
    sum->most_gain = fmax(sum->most_gain, t.most_gain);
    free(x);
    free(radius);
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
}

int main(int argc, char** argv)
{
    const int scenes = argc > 1 ? atoi(argv[1]) : 100;
    const int steps = argc > 2 ? atoi(argv[2]) : 100;
    const long first = argc > 3 ? atol(argv[3]) : 0;
    const double friction_speed = argc > 4 ? atof(argv[4]) : 0.0;
    const int bodies = argc > 5 ? atoi(argv[5]) : 0;
    tally sum = {0};
    for (int i = 0; i < scenes; i++) {
        const pile p = choose((uint64_t)(first + i), friction_speed, bodies);
        run(&p, steps, &sum);
    }
    printf("%d scenes, %lld steps: %lld failed, %lld split, %lld eased, %lld of %lld frames "
           "intersect, %lld "
           "not finite, %lld gained energy (most %.2g of it), %.2f iterations a step\n",
           scenes, (long long)sum.steps, (long long)sum.failed, (long long)sum.split,
           (long long)sum.eased, (long long)sum.crossing, (long long)sum.frames,
           (long long)sum.lost, (long long)sum.gains, sum.most_gain,
           (double)sum.iterations / (double)sum.steps);
    return sum.failed + sum.crossing + sum.lost > 0;
}
