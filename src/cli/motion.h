// motion.h - the motion of a scene as it is, recorded into a trajectory file.
#pragma once

#include "carom/grad.h"
#include "carom/io.h"

// What an objective feels of every state of a run, as carom_problem_watcher tells it.
typedef struct cli_motion_gradient {
    int32_t body_count, vertex_count;
    int64_t steps;
    double* number; // [(steps + 1) * (6*body_count + 3*vertex_count)]: position, force, vertices
} cli_motion_gradient;

// Room for all states of a problem's run, which the problem fills from now on. CAROM_ERR_MEMORY.
carom_status cli_motion_watch(cli_motion_gradient* gradient, const carom_model* model,
                              carom_problem* problem);
void cli_motion_release(cli_motion_gradient* gradient);

// Steps the scene and records every state, with its gradient unless that is NULL. name is what the
// file calls the scene.
carom_status cli_motion_record(const carom_scene* scene, const char* name, int64_t steps,
                               const char* path, const cli_motion_gradient* gradient,
                               carom_error* error);
