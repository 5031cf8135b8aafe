#include "api/handles.h"
#include "carom/rollout.h"
#include "core/memory.h"
#include "core/parallel.h"

static carom_status missing(carom_error* error, const char* what)
{
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "%s is NULL", what);
}

carom_status carom_batch_create(const carom_model* model, int32_t count, int32_t worker_count,
                                carom_batch** batch, carom_error* error)
{
    if (!model || !batch) {
        return missing(error, model ? "batch" : "model");
    }
    *batch = NULL;
    if (!(count > 0)) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "a batch of %d is asked for; it has to be at least 1", count);
    }
    carom_batch* made = cr_memory_take(1, sizeof *made);
    if (!made) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory");
    }
    made->count = count;
    made->worker_count = worker_count > 1 ? worker_count : 1;
    made->item = cr_memory_take((size_t)count, sizeof(carom_rollout*));
    made->status = cr_memory_take((size_t)count, sizeof(carom_status));
    made->error = cr_memory_take((size_t)count, sizeof(carom_error));
    carom_status status =
        made->item && made->status && made->error
            ? CAROM_OK
            : cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory for a batch");
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        status = carom_rollout_create(model, 1, &made->item[i], error);
    }
    if (status != CAROM_OK) {
        carom_batch_destroy(made);
        return status;
    }
    *batch = made;
    return CAROM_OK;
}

void carom_batch_destroy(carom_batch* batch)
{
    if (!batch) {
        return;
    }
    for (int32_t i = 0; batch->item && i < batch->count; i++) {
        carom_rollout_destroy(batch->item[i]);
    }
    cr_memory_free(batch->item);
    cr_memory_free(batch->status);
    cr_memory_free(batch->error);
    cr_memory_free(batch);
}

int32_t carom_batch_count(const carom_batch* batch)
{
    return batch ? batch->count : 0;
}

carom_rollout* carom_batch_item(const carom_batch* batch, int32_t item)
{
    return batch && item >= 0 && item < batch->count ? batch->item[item] : NULL;
}

// Items are independent and write to places of their own; what is said of failures is that of the
// first.
static carom_status each(carom_batch* batch, cr_parallel_fn* fn, void* user, carom_error* error)
{
    for (int32_t i = 0; i < batch->count; i++) {
        batch->status[i] = CAROM_OK;
        batch->error[i] = (carom_error){0};
    }
    cr_parallel_for(batch->count, batch->worker_count, fn, user);
    for (int32_t i = 0; i < batch->count; i++) {
        if (batch->status[i] != CAROM_OK) {
            return cr_status_refuse(error, batch->status[i], "item %d: %s", i,
                                    batch->error[i].message);
        }
    }
    return CAROM_OK;
}

typedef struct call {
    carom_batch* batch;
    int32_t steps, each, directions;
    int64_t step;
    const double *in, *more;
    double *states, *bar, *control_bar, *theta_bar;
    const int32_t* kept;
    int32_t *slot, *done;
    size_t s, c, p, t; // sizes of a state, the chosen controls, theta; steps
} call;

static call call_make(carom_batch* batch, int32_t steps)
{
    const cr_rollout* r = &batch->item[0]->inside;
    return (call){.batch = batch,
                  .steps = steps,
                  .s = (size_t)r->state_size,
                  .c = (size_t)r->chosen_count,
                  .p = (size_t)r->theta_size,
                  .t = steps > 0 ? (size_t)steps : 0};
}

carom_status carom_batch_choose(carom_batch* batch, int32_t count, const int32_t* index,
                                carom_error* error)
{
    if (!batch) {
        return missing(error, "batch");
    }
    carom_status status = CAROM_OK;
    for (int32_t i = 0; status == CAROM_OK && i < batch->count; i++) {
        status = carom_rollout_choose(batch->item[i], count, index, error);
    }
    return status;
}

static void write_one(int32_t i, int32_t worker, void* user)
{
    const call* c = user;
    (void)worker;
    c->batch->status[i] = carom_rollout_write(
        c->batch->item[i], c->in + (c->each ? (size_t)i * c->p : 0), &c->batch->error[i]);
}

carom_status carom_batch_write(carom_batch* batch, const double* theta, int32_t each_own,
                               carom_error* error)
{
    if (!batch || !theta) {
        return missing(error, batch ? "theta" : "batch");
    }
    call c = call_make(batch, 0);
    c.in = theta;
    c.each = each_own;
    return each(batch, write_one, &c, error);
}

static void place_one(int32_t i, int32_t worker, void* user)
{
    const call* c = user;
    (void)worker;
    c->batch->status[i] = carom_rollout_place(
        c->batch->item[i], c->in ? c->in + (size_t)i * c->s : NULL, c->step, &c->batch->error[i]);
}

carom_status carom_batch_place(carom_batch* batch, const double* state, int64_t step,
                               carom_error* error)
{
    if (!batch) {
        return missing(error, "batch");
    }
    call c = call_make(batch, 0);
    c.in = state;
    c.step = step;
    return each(batch, place_one, &c, error);
}

void carom_batch_state(const carom_batch* batch, double* state)
{
    for (int32_t i = 0; batch && state && i < batch->count; i++) {
        const size_t s = (size_t)batch->item[i]->inside.state_size;
        carom_rollout_state(batch->item[i], state + (size_t)i * s);
    }
}

static void run_one(int32_t i, int32_t worker, void* user)
{
    const call* c = user;
    const size_t at = (size_t)i * c->t;
    (void)worker;
    c->batch->status[i] =
        carom_rollout_run(c->batch->item[i], c->steps, c->in ? c->in + at * c->c : NULL,
                          c->states ? c->states + at * c->s : NULL, c->slot ? c->slot + at : NULL,
                          &c->done[i], &c->batch->error[i]);
}

carom_status carom_batch_run(carom_batch* batch, int32_t steps, const double* controls,
                             double* states, int32_t* slot, int32_t* done, carom_error* error)
{
    if (!batch || !done) {
        return missing(error, batch ? "done" : "batch");
    }
    if (steps < 0) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "steps is %d", steps);
    }
    call c = call_make(batch, steps);
    c.in = controls;
    c.states = states;
    c.slot = slot;
    c.done = done;
    return each(batch, run_one, &c, error);
}

void carom_batch_drop(carom_batch* batch, int32_t steps, const int32_t* slot)
{
    for (int32_t i = 0; batch && slot && steps > 0 && i < batch->count; i++) {
        carom_rollout_drop(batch->item[i], steps, slot + (size_t)i * (size_t)steps);
    }
}

static void back_one(int32_t i, int32_t worker, void* user)
{
    const call* c = user;
    const size_t k = (size_t)i, at = k * c->t;
    (void)worker;
    c->batch->status[i] = carom_rollout_back(
        c->batch->item[i], c->steps, c->kept + at, c->more ? c->more + at * c->s : NULL,
        c->bar + k * c->s, c->control_bar ? c->control_bar + at * c->c : NULL,
        c->theta_bar ? c->theta_bar + k * c->p : NULL, &c->batch->error[i]);
}

carom_status carom_batch_back(carom_batch* batch, int32_t steps, const int32_t* slot,
                              const double* more, double* bar, double* control_bar,
                              double* theta_bar, carom_error* error)
{
    if (!batch || !slot || !bar) {
        return missing(error, !batch ? "batch" : !slot ? "slot" : "bar");
    }
    call c = call_make(batch, steps);
    c.kept = slot;
    c.more = more;
    c.bar = bar;
    c.control_bar = control_bar;
    c.theta_bar = theta_bar;
    return each(batch, back_one, &c, error);
}

static void start_one(int32_t i, int32_t worker, void* user)
{
    const call* c = user;
    const size_t k = (size_t)i;
    (void)worker;
    c->batch->status[i] = carom_rollout_start_back(c->batch->item[i], c->in + k * c->s,
                                                   c->theta_bar + k * c->p, &c->batch->error[i]);
}

carom_status carom_batch_start_back(carom_batch* batch, const double* bar, double* theta_bar,
                                    carom_error* error)
{
    if (!batch || !bar || !theta_bar) {
        return missing(error, !batch ? "batch" : !bar ? "bar" : "theta_bar");
    }
    call c = call_make(batch, 0);
    c.in = bar;
    c.theta_bar = theta_bar;
    return each(batch, start_one, &c, error);
}

static void jvp_one(int32_t i, int32_t worker, void* user)
{
    const call* c = user;
    const size_t k = (size_t)i, many = k * (size_t)c->directions;
    (void)worker;
    c->batch->status[i] = carom_rollout_jvp(
        c->batch->item[i], c->steps, c->kept + k * c->t, c->directions, c->bar + many * c->s,
        c->in ? c->in + many * c->t * c->c : NULL, c->more ? c->more + many * c->p : NULL,
        c->states ? c->states + many * c->t * c->s : NULL, &c->batch->error[i]);
}

carom_status carom_batch_jvp(carom_batch* batch, int32_t steps, const int32_t* slot,
                             int32_t directions, double* dstate, const double* dcontrols,
                             const double* dtheta, double* dstates, carom_error* error)
{
    if (!batch || !slot || !dstate) {
        return missing(error, !batch ? "batch" : !slot ? "slot" : "dstate");
    }
    call c = call_make(batch, steps);
    c.kept = slot;
    c.directions = directions;
    c.bar = dstate;
    c.in = dcontrols;
    c.more = dtheta;
    c.states = dstates;
    return each(batch, jvp_one, &c, error);
}

static void start_jvp_one(int32_t i, int32_t worker, void* user)
{
    const call* c = user;
    const size_t many = (size_t)i * (size_t)c->directions;
    (void)worker;
    c->batch->status[i] =
        carom_rollout_start_jvp(c->batch->item[i], c->directions, c->in + many * c->p,
                                c->bar + many * c->s, &c->batch->error[i]);
}

carom_status carom_batch_start_jvp(carom_batch* batch, int32_t directions, const double* dtheta,
                                   double* dstate, carom_error* error)
{
    if (!batch || !dtheta || !dstate) {
        return missing(error, !batch ? "batch" : !dtheta ? "dtheta" : "dstate");
    }
    call c = call_make(batch, 0);
    c.directions = directions;
    c.in = dtheta;
    c.bar = dstate;
    return each(batch, start_jvp_one, &c, error);
}

static void jacobian_one(int32_t i, int32_t worker, void* user)
{
    const call* c = user;
    const size_t k = (size_t)i, rows = k * c->s;
    (void)worker;
    c->batch->status[i] = carom_rollout_jacobian(
        c->batch->item[i], c->steps, c->kept + k * c->t, c->bar ? c->bar + rows * c->s : NULL,
        c->control_bar ? c->control_bar + rows * c->t * c->c : NULL,
        c->theta_bar ? c->theta_bar + rows * c->p : NULL, &c->batch->error[i]);
}

carom_status carom_batch_jacobian(carom_batch* batch, int32_t steps, const int32_t* slot,
                                  double* state, double* control, double* theta, carom_error* error)
{
    if (!batch || !slot) {
        return missing(error, !batch ? "batch" : "slot");
    }
    call c = call_make(batch, steps);
    c.kept = slot;
    c.bar = state;
    c.control_bar = control;
    c.theta_bar = theta;
    return each(batch, jacobian_one, &c, error);
}
