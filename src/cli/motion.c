#include "cli/motion.h"
#include <stdlib.h>
#include <string.h>

// ---- what the way back tells

static size_t row_size(const cli_motion_gradient* g)
{
    return 6 * (size_t)g->body_count + 3 * (size_t)g->vertex_count;
}

static void keep(void* user, int64_t step, const double* position, const double* force,
                 const double* vertex)
{
    const cli_motion_gradient* g = user;
    const size_t b = 3 * (size_t)g->body_count;
    double* row = g->number + (size_t)step * row_size(g);
    memcpy(row, position, b * sizeof *row);
    memcpy(row + b, force, b * sizeof *row);
    memcpy(row + 2 * b, vertex, 3 * (size_t)g->vertex_count * sizeof *row);
}

carom_status cli_motion_watch(cli_motion_gradient* g, const carom_model* model,
                              carom_problem* problem)
{
    g->body_count = carom_model_body_count(model);
    g->vertex_count = carom_model_vertex_count(model);
    g->steps = carom_problem_steps(problem);
    g->number = calloc((size_t)g->steps + 1, row_size(g) * sizeof *g->number);
    return g->number ? carom_problem_watch(problem, keep, g) : CAROM_ERR_MEMORY;
}

void cli_motion_release(cli_motion_gradient* g)
{
    free(g->number);
    g->number = NULL;
}

// ---- recording

static carom_status add(carom_recorder* recorder, const carom_sim* sim,
                        const cli_motion_gradient* g, carom_error* error)
{
    const carom_status status = carom_recorder_add(recorder, sim, error);
    if (status != CAROM_OK || !g || carom_sim_steps(sim) > g->steps) {
        return status;
    }
    const double* row = g->number + (size_t)carom_sim_steps(sim) * row_size(g);
    const size_t b = 3 * (size_t)g->body_count;
    return carom_recorder_gradient(recorder, row, row + b, row + 2 * b, error);
}

static carom_status step_all(carom_sim* sim, int64_t steps, carom_recorder* recorder,
                             const cli_motion_gradient* g, carom_error* error)
{
    carom_status status = add(recorder, sim, g, error);
    for (int64_t i = 0; i < steps && status == CAROM_OK; i++) {
        status = carom_sim_step(sim, error);
        if (status == CAROM_OK) {
            status = add(recorder, sim, g, error);
        }
    }
    return status == CAROM_OK ? carom_recorder_finish(recorder, status, NULL, error) : status;
}

carom_status cli_motion_record(const carom_scene* scene, const char* name, int64_t steps,
                               const char* path, const cli_motion_gradient* gradient,
                               carom_error* error)
{
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    carom_recorder* recorder = NULL;
    char* text = NULL;
    carom_recorder_options options = carom_recorder_default();
    carom_status status = carom_model_create(scene, &model, error);
    if (status == CAROM_OK) {
        status = carom_sim_create(model, 1, &sim, error);
    }
    if (status == CAROM_OK) {
        status = carom_scene_text(scene, &text, error);
    }
    if (status == CAROM_OK) {
        options.scene_name = name;
        options.scene_text = text;
        status = carom_recorder_create(model, path, &options, &recorder, error);
    }
    if (status == CAROM_OK) {
        status = step_all(sim, steps, recorder, gradient, error);
    }
    carom_recorder_destroy(recorder);
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_text_free(text);
    return status;
}
