// handles.h - what the opaque types of the public interface hold.
#pragma once

#include "adjoint/problem.h"
#include "adjoint/rollout.h"
#include "carom/rollout.h"
#include "scene/scene.h"
#include "sim/goal.h"
#include "sim/sim.h"

struct carom_scene {
    cr_scene text;
};

struct carom_model {
    cr_model* numbers;
    cr_goal goal;
};

struct carom_sim {
    const carom_model* model;
    cr_sim* sim;
};

struct carom_problem {
    const carom_model* model;
    cr_problem inside;
    carom_problem_watcher* watcher; // may be NULL
    void* watcher_user;
    double* felt; // [6*body_count + 3*vertex_count] position, force, vertices; NULL without watcher
};

struct carom_tape {
    const carom_model* model;
    cr_tape* tape;
    cr_gradient gradient;
    carom_bars bars;        // scratch for the listener
    double *force, *torque; // [3*body_count] likewise
};

struct carom_rollout {
    cr_rollout inside;
    carom_model model; // with theta; both belong to `inside`
    carom_sim sim;
};

struct carom_batch {
    int32_t count, worker_count;
    carom_rollout** item; // [count]
    carom_status* status; // [count] of the last call
    carom_error* error;   // [count]
};
