#include "carom/rollout.h"
#include "api/handles.h"
#include "core/memory.h"
#include <string.h>

static carom_status missing(carom_error* error, const char* what)
{
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "%s is NULL", what);
}

static const carom_parameter_kind kinds[] = {
#define X(code, name, who, numbers, about) {name, who, numbers, about},
    CR_GOAL_PARAMETER_LIST(X)
#undef X
};

int32_t carom_parameter_kind_count(void)
{
    return (int32_t)(sizeof kinds / sizeof *kinds);
}

carom_status carom_parameter_kind_at(int32_t i, carom_parameter_kind* kind)
{
    if (i < 0 || i >= carom_parameter_kind_count() || !kind) {
        return CAROM_ERR_ARGUMENT;
    }
    *kind = kinds[i];
    return CAROM_OK;
}

carom_status carom_rollout_create(const carom_model* model, int32_t worker_count,
                                  carom_rollout** rollout, carom_error* error)
{
    if (!model || !rollout) {
        return missing(error, model ? "rollout" : "model");
    }
    *rollout = NULL;
    carom_rollout* made = cr_memory_take(1, sizeof *made);
    if (!made) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory");
    }
    const carom_status status =
        cr_rollout_init(&made->inside, model->numbers, &model->goal, worker_count, error);
    if (status != CAROM_OK) {
        cr_memory_free(made);
        return status;
    }
    made->model = (carom_model){.numbers = (cr_model*)made->inside.model, .goal = model->goal};
    made->sim = (carom_sim){.model = &made->model, .sim = made->inside.sim};
    *rollout = made;
    return CAROM_OK;
}

void carom_rollout_destroy(carom_rollout* rollout)
{
    if (rollout) {
        cr_rollout_release(&rollout->inside);
        cr_memory_free(rollout);
    }
}

carom_layout carom_rollout_layout(const carom_rollout* rollout)
{
    if (!rollout) {
        return (carom_layout){0};
    }
    const cr_rollout* r = &rollout->inside;
    return (carom_layout){.frame_count = r->model->bodies.frame_count,
                          .node_count = r->model->bodies.node_count,
                          .state_size = r->state_size,
                          .control_size = r->control_size,
                          .theta_size = r->theta_size,
                          .parameter_count = cr_parameters_count(r->parameters)};
}

carom_status carom_rollout_parameter(const carom_rollout* rollout, int32_t parameter,
                                     carom_parameter_info* info)
{
    if (!rollout || !info || parameter < 0 ||
        parameter >= cr_parameters_count(rollout->inside.parameters)) {
        return CAROM_ERR_ARGUMENT;
    }
    const cr_rollout* r = &rollout->inside;
    const cr_parameters_slot* slot = cr_parameters_slot_at(r->parameters, parameter);
    *info = (carom_parameter_info){.name = cr_goal_parameter_name(slot->what),
                                   .body_name = slot->body >= 0 ? r->scene->name[slot->body] : "",
                                   .body = slot->body,
                                   .first = slot->first,
                                   .count = slot->count};
    return CAROM_OK;
}

void carom_rollout_scene(const carom_rollout* rollout, double* theta)
{
    if (rollout && theta && rollout->inside.theta_size > 0) {
        memcpy(theta, cr_parameters_scene(rollout->inside.parameters),
               (size_t)rollout->inside.theta_size * sizeof(double));
    }
}

void carom_rollout_range(const carom_rollout* rollout, double* start, double* least, double* most)
{
    if (rollout && start && least && most) {
        cr_parameters_range(rollout->inside.parameters, start, least, most);
    }
}

const carom_model* carom_rollout_model(const carom_rollout* rollout)
{
    return rollout ? &rollout->model : NULL;
}

const carom_sim* carom_rollout_sim(const carom_rollout* rollout)
{
    return rollout ? &rollout->sim : NULL;
}

carom_status carom_rollout_choose(carom_rollout* rollout, int32_t count, const int32_t* index,
                                  carom_error* error)
{
    return rollout && (index || count == 0)
               ? cr_rollout_choose(&rollout->inside, count, index, error)
               : missing(error, rollout ? "index" : "rollout");
}

carom_status carom_rollout_write(carom_rollout* rollout, const double* theta, carom_error* error)
{
    return rollout && theta ? cr_rollout_write(&rollout->inside, theta, error)
                            : missing(error, rollout ? "theta" : "rollout");
}

carom_status carom_rollout_place(carom_rollout* rollout, const double* state, int64_t step,
                                 carom_error* error)
{
    return rollout ? cr_rollout_place(&rollout->inside, state, step, error)
                   : missing(error, "rollout");
}

void carom_rollout_state(const carom_rollout* rollout, double* state)
{
    if (rollout && state) {
        cr_rollout_state(&rollout->inside, state);
    }
}

carom_status carom_rollout_run(carom_rollout* rollout, int32_t count, const double* controls,
                               double* states, int32_t* slot, int32_t* done, carom_error* error)
{
    if (!rollout || !done) {
        return missing(error, rollout ? "done" : "rollout");
    }
    cr_rollout* r = &rollout->inside;
    *done = 0;
    if (count < 0) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "count is %d steps", count);
    }
    if (!controls && r->chosen_count > 0 && count > 0) {
        return missing(error, "controls");
    }
    carom_status status = CAROM_OK;
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        const size_t first = (size_t)i * (size_t)r->chosen_count;
        status = cr_rollout_step(r, r->chosen_count > 0 ? controls + first : NULL,
                                 slot ? slot + i : NULL, error);
        if (status == CAROM_OK) {
            ++*done;
            if (states) {
                cr_rollout_state(r, states + (size_t)i * (size_t)r->state_size);
            }
        }
    }
    return status;
}

void carom_rollout_drop(carom_rollout* rollout, int32_t count, const int32_t* slot)
{
    for (int32_t i = 0; rollout && slot && i < count; i++) {
        cr_rollout_drop(&rollout->inside, slot[i]);
    }
}

carom_status carom_rollout_back(carom_rollout* rollout, int32_t count, const int32_t* slot,
                                const double* more, double* bar, double* control_bar,
                                double* theta_bar, carom_error* error)
{
    if (!rollout || !slot || !bar) {
        return missing(error, !rollout ? "rollout" : !slot ? "slot" : "bar");
    }
    return cr_rollout_back(&rollout->inside, count, slot, more, bar, control_bar, theta_bar, error);
}

carom_status carom_rollout_start_back(carom_rollout* rollout, const double* bar, double* theta_bar,
                                      carom_error* error)
{
    if (!rollout || !bar || !theta_bar) {
        return missing(error, !rollout ? "rollout" : !bar ? "bar" : "theta_bar");
    }
    return cr_rollout_start_adj(&rollout->inside, bar, theta_bar, error);
}

carom_status carom_rollout_jvp(carom_rollout* rollout, int32_t count, const int32_t* slot,
                               int32_t directions, double* dstate, const double* dcontrols,
                               const double* dtheta, double* dstates, carom_error* error)
{
    if (!rollout || !slot || !dstate) {
        return missing(error, !rollout ? "rollout" : !slot ? "slot" : "dstate");
    }
    if (count < 0 || directions < 0) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "%d steps along %d directions are asked for; neither may be below "
                                "0",
                                count, directions);
    }
    return cr_rollout_jvp(&rollout->inside, count, slot, directions, dstate, dcontrols, dtheta,
                          dstates, error);
}

carom_status carom_rollout_start_jvp(carom_rollout* rollout, int32_t directions,
                                     const double* dtheta, double* dstate, carom_error* error)
{
    if (!rollout || !dtheta || !dstate) {
        return missing(error, !rollout ? "rollout" : !dtheta ? "dtheta" : "dstate");
    }
    return cr_rollout_start_jvp(&rollout->inside, directions, dtheta, dstate, error);
}

carom_status carom_rollout_jacobian(carom_rollout* rollout, int32_t count, const int32_t* slot,
                                    double* state, double* control, double* theta,
                                    carom_error* error)
{
    if (!rollout || !slot) {
        return missing(error, !rollout ? "rollout" : "slot");
    }
    if (count < 1) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "the Jacobian of %d steps is asked for; it has to be 1 or more",
                                count);
    }
    return cr_rollout_jacobian(&rollout->inside, count, slot, state, control, theta, error);
}
