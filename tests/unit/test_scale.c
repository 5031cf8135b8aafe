#include "api/handles.h"
#include "carom/scene.h"
#include "carom/sim.h"
#include "check.h"
#include "sim/sim_inside.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a scene costs is counted, not timed: pairs, candidates, iterations and the memory of the
// lists they stand in. All of it has to grow with the number of bodies and no faster.
typedef struct cost {
    double candidates, pairs, iterations, retries; // sums over the steps
    double most_candidates;                        // of one step
    double bytes;                                  // of the lists of near pairs, in the end
} cost;

// Boxes, icospheres and figurines in turn fall on the ground, side by side.
static char* write_scene(int n)
{
    static const char* const meshes[] = {
        "{\"box\": {\"x\": 0.2, \"y\": 0.12, \"z\": 0.08}}",
        "{\"sphere\": {\"radius\": 0.08, \"subdivisions\": 1}}",
        "{\"figurine\": {\"resolution\": 12}}, \"scale\": 0.2",
    };
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    CHECK(out != NULL);
    uint64_t seed = 1;
    const int side = (int)ceil(sqrt(n));
    fprintf(out,
            "{\"carom\": 1, \"world\": {\"dt\": 0.01, \"thickness\": 5e-4, \"friction\": 0}, "
            "\"bodies\": [{\"name\": \"ground\", \"type\": \"fixed\", \"position\": [0, 0, -0.1], "
            "\"mesh\": {\"box\": {\"x\": 40, \"y\": 40, \"z\": 0.2}}}");
    for (int i = 0; i < n; i++) {
        fprintf(out,
                ", {\"name\": \"o%d\", \"density\": 300, \"mesh\": %s, \"origin\": \"center\", "
                "\"position\": [%g, %g, %.17g], \"euler_degrees\": [%.17g, %.17g, %.17g]}",
                i, meshes[i % 3], 0.3 * (i % side), 0.3 * (i / side), // NOLINT: whole rows
                check_random(&seed, 0.2, 0.4), check_random(&seed, 0, 360),
                check_random(&seed, 0, 360), check_random(&seed, 0, 360));
    }
    fputs("]}", out);
    fclose(out);
    return text;
}

static cost run(int n, int steps)
{
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    carom_error error;
    char* text = write_scene(n);
    CHECK(carom_scene_parse(text, strlen(text), NULL, &scene, &error) == CAROM_OK);
    CHECK(carom_model_create(scene, &model, &error) == CAROM_OK);
    CHECK(carom_sim_create(model, 1, &sim, &error) == CAROM_OK);
    cost c = {0};
    const cr_near* near = &sim->sim->near;
    for (int i = 0; i < steps; i++) {
        CHECK(carom_sim_step(sim, &error) == CAROM_OK);
        const carom_step_info info = carom_sim_info(sim);
        c.candidates += near->order.count;
        c.pairs += near->pair.count;
        c.iterations += info.iterations;
        c.retries += info.retries;
        c.most_candidates = fmax(c.most_candidates, near->order.count);
    }
    c.bytes = (double)near->pair.capacity * sizeof(cr_pair) +
              (double)near->order.capacity * sizeof(int32_t) +
              (double)near->all.found.capacity * sizeof(cr_near_found) +
              (double)near->all.between.capacity * sizeof(cr_near_between) +
              (double)near->all.at.capacity * sizeof(cr_closest);
    free(text);
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
    return c;
}

static void test_cost_grows_with_the_bodies(void)
{
    const int few = 24, many = 192, steps = 90;
    const cost a = run(few, steps), b = run(many, steps);
    const double most = pow((double)many / few, 1.1);
    printf("candidates %g -> %g, pairs %g -> %g, most %g -> %g, bytes %g -> %g, retries %g -> %g\n",
           a.candidates, b.candidates, a.pairs, b.pairs, a.most_candidates, b.most_candidates,
           a.bytes, b.bytes, a.retries, b.retries);
    CHECK(b.candidates <= most * a.candidates);
    CHECK(b.pairs <= most * a.pairs);
    CHECK(b.iterations <= most * a.iterations);
    // lists double when they are full: a factor of 2 says nothing
    CHECK(b.bytes <= 2 * most * a.bytes);
    // a body hits the ground with a few features, however many it has; looking all around it would
    // make hundreds
    CHECK(b.most_candidates <= 40.0 * many);
    CHECK(b.candidates <= 10.0 * many * steps);
}

// What flies side by side does not come near: nothing is compared with anything.
static void test_free_flight_has_no_candidates(void)
{
    const cost c = run(48, 10);
    CHECK(c.candidates == 0 && c.retries == 0);
}

int main(void)
{
    RUN(test_free_flight_has_no_candidates);
    RUN(test_cost_grows_with_the_bodies);
    return check_failures != 0;
}
