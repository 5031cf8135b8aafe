// mpi_throw.c [UPDATES] - a throw that stands up to gusts, learnt on several machines.
//
//     mpirun -n 2 mpi_throw
//
// Which velocity and spin bring the box of throw.json to its target on average over many gusts of
// wind? Every process runs its share of the episodes as a batch and goes back through them;
// MPI_Allreduce adds the gradients up. Two processes get the gradient of one that runs all of them,
// up to the order of sums. The library itself knows nothing of MPI.
#include <carom/carom.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EPISODES = 8, STEPS = 160, BOX = 2, FRAMES = 3, PARAMETERS = 6 };

static const double target[3] = {1.5, 0.2, 0.35}; // m, as the scene has it
static const double rate = 0.05;                  // of the descent

// N, the gust of an episode: the same number wherever it is run.
static double gust(int episode, int axis)
{
    return 0.3 * sin(12.9898 * (episode + 1) + 78.233 * axis);
}

// What one process holds.
typedef struct share {
    carom_scene* scene;
    carom_model* model;
    carom_batch* batch;
    int first, count; // episodes
    int size;         // of a state
    double *controls, *states, *bars, *gradient;
    int32_t *slot, *done;
} share;

static carom_status prepare(share* s, int rank, int processes, carom_error* error)
{
    const int32_t chosen[3] = {3 * BOX, 3 * BOX + 1, 3 * BOX + 2}; // force on the box
    s->first = EPISODES * rank / processes;
    s->count = EPISODES * (rank + 1) / processes - s->first;
    if (carom_scene_load("examples/throw.json", &s->scene, error) != CAROM_OK ||
        carom_model_create(s->scene, &s->model, error) != CAROM_OK ||
        carom_batch_create(s->model, s->count, 1, &s->batch, error) != CAROM_OK ||
        carom_batch_choose(s->batch, 3, chosen, error) != CAROM_OK) {
        return error->status;
    }
    s->size = carom_rollout_layout(carom_batch_item(s->batch, 0)).state_size;
    const size_t all = (size_t)s->count * STEPS;
    s->controls = malloc(3 * all * sizeof(double));
    s->states = malloc(all * (size_t)s->size * sizeof(double));
    s->bars = malloc((size_t)s->count * (size_t)s->size * sizeof(double));
    s->gradient = malloc((size_t)s->count * PARAMETERS * sizeof(double));
    s->slot = malloc(all * sizeof(int32_t));
    s->done = malloc((size_t)s->count * sizeof(int32_t));
    if (!s->controls || !s->states || !s->bars || !s->gradient || !s->slot || !s->done) {
        return CAROM_ERR_MEMORY;
    }
    for (size_t i = 0; i < 3 * all; i++) {
        s->controls[i] = gust(s->first + (int)(i / (3 * STEPS)), (int)(i % 3));
    }
    return CAROM_OK;
}

// Adds loss and gradient of this share's episodes to sum [1 + PARAMETERS].
static carom_status learn(share* s, const double* theta, double* sum, carom_error* error)
{
    if (carom_batch_write(s->batch, theta, 0, error) != CAROM_OK ||
        carom_batch_place(s->batch, NULL, 0, error) != CAROM_OK ||
        carom_batch_run(s->batch, STEPS, s->controls, s->states, s->slot, s->done, error) !=
            CAROM_OK) {
        return error->status;
    }
    for (int i = 0; i < s->count * s->size; i++) {
        s->bars[i] = 0.0;
    }
    for (int i = 0; i < s->count * PARAMETERS; i++) {
        s->gradient[i] = 0.0;
    }
    for (int i = 0; i < s->count; i++) { // half the square of how far the box ends from its target
        const double* end = s->states + ((size_t)i * STEPS + STEPS - 1) * (size_t)s->size;
        for (int k = 0; k < 3; k++) {
            const double off = end[3 * BOX + k] - target[k];
            s->bars[i * s->size + 3 * BOX + k] = off / EPISODES;
            sum[0] += 0.5 * off * off / EPISODES;
        }
    }
    if (carom_batch_back(s->batch, STEPS, s->slot, NULL, s->bars, NULL, s->gradient, error) !=
            CAROM_OK ||
        carom_batch_start_back(s->batch, s->bars, s->gradient, error) != CAROM_OK) {
        return error->status;
    }
    carom_batch_drop(s->batch, STEPS, s->slot);
    for (int i = 0; i < s->count * PARAMETERS; i++) {
        sum[1 + i % PARAMETERS] += s->gradient[i];
    }
    return CAROM_OK;
}

static void put_away(share* s)
{
    free(s->controls);
    free(s->states);
    free(s->bars);
    free(s->gradient);
    free(s->slot);
    free(s->done);
    carom_batch_destroy(s->batch);
    carom_model_destroy(s->model);
    carom_scene_destroy(s->scene);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank, processes;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    const int updates = argc > 1 ? atoi(argv[1]) : 3;
    share s = {0};
    carom_error error = {CAROM_OK, ""};
    double theta[PARAMETERS];
    carom_status status =
        processes <= EPISODES ? prepare(&s, rank, processes, &error) : CAROM_ERR_ARGUMENT;
    if (status == CAROM_OK) {
        carom_rollout_scene(carom_batch_item(s.batch, 0), theta);
    }
    for (int update = 0; update < updates && status == CAROM_OK; update++) {
        double sum[1 + PARAMETERS] = {0};
        status = learn(&s, theta, sum, &error);
        if (status == CAROM_OK) {
            MPI_Allreduce(MPI_IN_PLACE, sum, 1 + PARAMETERS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            for (int i = 0; i < PARAMETERS; i++) {
                theta[i] -= rate * sum[1 + i];
            }
            if (rank == 0) {
                printf("update %d: loss %.15g, gradient", update, sum[0]);
                for (int i = 0; i < PARAMETERS; i++) {
                    printf(" %.15g", sum[1 + i]);
                }
                printf("\n");
            }
        }
    }
    put_away(&s);
    if (status != CAROM_OK) { // the others wait for a sum that will not come
        fprintf(stderr, "%s\n", error.message[0] ? error.message : carom_status_text(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
