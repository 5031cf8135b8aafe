#include "adjoint/rollout_inside.h"
#include "core/memory.h"
#include <string.h>

// Directions are taken together as long as what they need stays below this, and at least so many:
// that is one factorisation for each such bunch, and no more memory than a long run takes.
static const size_t bunch_bytes = (size_t)64 << 20;
enum { LEAST_BUNCH = 16 };

typedef cr_rollout_lane lane;

// ---- life

static void release_lane(lane* l)
{
    cr_gradient_bars_release(&l->state);
    cr_gradient_release(&l->model);
    cr_memory_free(l->force);
    cr_memory_free(l->torque);
    cr_memory_free(l->node_force);
}

void cr_rollout_lanes_release(cr_rollout* r)
{
    for (int32_t i = 0; i < r->lane.count; i++) {
        release_lane(&r->lane.items[i]);
    }
    cr_array_release(&r->lane);
    cr_array_release(&r->awake);
    cr_array_release(&r->awake_lane);
    cr_forward_destroy(r->forward);
    r->forward = NULL;
}

static int make_lane(const cr_model* model, lane* l)
{
    const size_t f = (size_t)model->bodies.frame_count, n = (size_t)model->bodies.node_count;
    *l = (lane){.force = cr_memory_take(f, sizeof(cr_vec3)),
                .torque = cr_memory_take(f, sizeof(cr_vec3)),
                .node_force = cr_memory_take(n, sizeof(cr_vec3))};
    if (!l->force || !l->torque || !l->node_force ||
        cr_gradient_bars_init(&l->state, model) != CAROM_OK) {
        release_lane(l);
        return 0;
    }
    return 1;
}

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory for another direction");
}

static carom_status make_lanes(cr_rollout* r, int32_t count, carom_error* error)
{
    const carom_status status = cr_rollout_ready(r, error);
    if (status != CAROM_OK) {
        return status;
    }
    if (!r->forward && cr_forward_create(r->model, &r->forward) != CAROM_OK) {
        return no_memory(error);
    }
    if (!cr_array_reserve(&r->lane, count) || !cr_array_reserve(&r->awake, count) ||
        !cr_array_reserve(&r->awake_lane, count)) {
        return no_memory(error);
    }
    while (r->lane.count < count) {
        if (!make_lane(r->model, &r->lane.items[r->lane.count])) {
            return no_memory(error);
        }
        r->lane.count++;
    }
    return CAROM_OK;
}

// Each of them brings `more` bytes of its own.
static int32_t bunch(const cr_rollout* r, int32_t lanes, size_t more)
{
    const size_t each = more + cr_forward_lane_bytes(r->model) +
                        2 * (size_t)(r->state_size + r->control_size) * sizeof(double) +
                        (r->theta_size > 0 ? cr_gradient_bytes(r->model) : 0);
    const size_t most = bunch_bytes / each;
    const size_t least = most < LEAST_BUNCH ? LEAST_BUNCH : most;
    return least < (size_t)lanes ? (int32_t)least : lanes;
}

// ---- states

static int all_zero(const double* x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (x[i] != 0.0) { // NaN is not
            return 0;
        }
    }
    return 1;
}

// From a change of a flat state, in which a step began, to that of what the stages know: of a q of
// some length, taken along its direction, delta = 2 Im(q* dq)/length, and of om = R^T spin
// dom = R^T dspin - delta x om.
static void changes_in(const cr_model* m, const cr_rollout_slot* slot, const double* d,
                       cr_state_bars* out)
{
    const cr_rollout_layout at = cr_rollout_layout_of(m);
    for (int32_t f = 0; f < m->bodies.frame_count; f++) {
        const size_t i = (size_t)f;
        const cr_quat q = cr_quat_load(slot->before + at.q + 4 * i);
        const cr_quat dq = cr_rollout_inward(m, f, cr_quat_load(d + at.q + 4 * i));
        const cr_quat turn = cr_quat_mul(cr_quat_conjugate(q), dq);
        const cr_mat3 r = cr_quat_to_matrix(q);
        const cr_vec3 om = cr_mat3_tapply(r, cr_vec3_load(slot->before + at.om + 3 * i));
        const cr_vec3 delta =
            cr_vec3_scale(2.0 / slot->length[f], (cr_vec3){turn.x, turn.y, turn.z});
        const cr_vec3 dspin = cr_mat3_tapply(r, cr_vec3_load(d + at.om + 3 * i));
        out->t[f] = cr_vec3_load(d + at.t + 3 * i);
        out->v[f] = cr_vec3_load(d + at.v + 3 * i);
        out->q[f] = delta;
        out->om[f] = cr_vec3_sub(dspin, cr_vec3_cross(delta, om));
    }
    for (int32_t n = 0; n < m->bodies.node_count; n++) {
        out->x[n] = cr_vec3_load(d + at.x + 3 * (size_t)n);
        out->xv[n] = cr_vec3_load(d + at.xv + 3 * (size_t)n);
    }
}

// And back, at orientations q and spins om: dq = q (0, delta)/2, dspin = R (dom + delta x om).
static void changes_out(const cr_model* m, const double* q, const double* om,
                        const cr_state_bars* in, double* d)
{
    const cr_rollout_layout at = cr_rollout_layout_of(m);
    for (int32_t f = 0; f < m->bodies.frame_count; f++) {
        const size_t i = (size_t)f;
        const cr_quat a = cr_quat_load(q + 4 * i);
        const cr_vec3 half = cr_vec3_scale(0.5, in->q[f]);
        const cr_quat dq = cr_quat_mul(a, (cr_quat){0, half.x, half.y, half.z});
        const cr_vec3 dom =
            cr_vec3_add(in->om[f], cr_vec3_cross(in->q[f], cr_vec3_load(om + 3 * i)));
        cr_vec3_store(d + at.t + 3 * i, in->t[f]);
        cr_quat_store(d + at.q + 4 * i, cr_rollout_outward(m, f, dq));
        cr_vec3_store(d + at.v + 3 * i, in->v[f]);
        cr_vec3_store(d + at.om + 3 * i, cr_mat3_apply(cr_quat_to_matrix(a), dom));
    }
    for (int32_t n = 0; n < m->bodies.node_count; n++) {
        cr_vec3_store(d + at.x + 3 * (size_t)n, in->x[n]);
        cr_vec3_store(d + at.xv + 3 * (size_t)n, in->xv[n]);
    }
}

// ---- the way forward

static void spread_control(const cr_rollout* r, const double* d, const lane* l)
{
    const int32_t frames = 3 * r->model->bodies.frame_count;
    memset(l->force, 0, (size_t)frames * sizeof(double));
    memset(l->torque, 0, (size_t)frames * sizeof(double));
    memset(l->node_force, 0, (size_t)r->model->bodies.node_count * sizeof(cr_vec3));
    for (int32_t i = 0; d && i < r->chosen_count; i++) {
        const int32_t at = r->chosen[i];
        double* to = at < frames       ? &l->force->x + at
                     : at < 2 * frames ? &l->torque->x + (at - frames)
                                       : &l->node_force->x + (at - 2 * frames);
        *to = d[i];
    }
}

// What dtheta means for the model as it is.
static carom_status spread_theta(cr_rollout* r, const double* dtheta, lane* l, carom_error* error)
{
    if (l->model.mass) {
        cr_gradient_zero(&l->model, r->model);
    } else if (cr_gradient_init(&l->model, r->model) != CAROM_OK) {
        return no_memory(error);
    }
    cr_parameters_spread(r->parameters, dtheta, &l->model);
    return CAROM_OK;
}

// One kept step for the lanes of a bunch. dstate and dcontrol are those of the first of them.
static carom_status one_step(cr_rollout* r, const cr_rollout_slot* slot, int32_t lanes,
                             double* dstate, const double* dcontrol, size_t control_stride,
                             carom_error* error)
{
    const size_t size = (size_t)r->state_size, chosen = (size_t)r->chosen_count;
    carom_status status = cr_rollout_recall(r, slot, error);
    if (status != CAROM_OK) {
        return status;
    }
    r->awake.count = 0;
    for (int32_t i = 0; i < lanes; i++) {
        lane* l = &r->lane.items[i];
        const double* control = dcontrol ? dcontrol + (size_t)i * control_stride : NULL;
        if (!l->awake && (!control || all_zero(control, chosen))) {
            continue;
        }
        l->awake = 1;
        changes_in(r->model, slot, dstate + (size_t)i * size, &l->state);
        spread_control(r, control, l);
        r->awake_lane.items[r->awake.count] = i;
        r->awake.items[r->awake.count++] = (cr_forward_lane){.state = l->state,
                                                             .model = l->moves ? &l->model : NULL,
                                                             .force = l->force,
                                                             .torque = l->torque,
                                                             .node_force = l->node_force};
    }
    if (r->awake.count == 0) {
        return CAROM_OK;
    }
    status = cr_forward_step(r->forward, r->back, &slot->record, r->awake.count, r->awake.items);
    if (status != CAROM_OK) {
        return cr_status_refuse(error, status, "the way forward stopped at step %lld: %s",
                                (long long)slot->record.step, carom_status_text(status));
    }
    for (int32_t k = 0; k < r->awake.count; k++) {
        changes_out(r->model, slot->q_end, slot->w_end, &r->awake.items[k].state,
                    dstate + (size_t)r->awake_lane.items[k] * size);
    }
    return CAROM_OK;
}

static carom_status run_bunch(cr_rollout* r, int32_t count, const int32_t* slot, int32_t lanes,
                              double* dstate, const double* dcontrol, const double* dtheta,
                              double* dstates, carom_error* error)
{
    const size_t size = (size_t)r->state_size, chosen = (size_t)r->chosen_count;
    const size_t theta = (size_t)r->theta_size;
    const double* spread = NULL; // the parameters at which dtheta was spread last
    for (int32_t i = 0; i < lanes; i++) {
        lane* l = &r->lane.items[i];
        l->moves = dtheta && !all_zero(dtheta + (size_t)i * theta, theta);
        l->awake = l->moves || !all_zero(dstate + (size_t)i * size, size);
    }
    carom_status status = CAROM_OK;
    for (int32_t k = 0; k < count && status == CAROM_OK; k++) {
        const cr_rollout_slot* kept = &r->slot.items[slot[k]];
        if (dtheta && (!spread || memcmp(spread, kept->theta, theta * sizeof(double)) != 0)) {
            status = cr_rollout_set(r, kept->theta, error);
            spread = kept->theta;
            for (int32_t i = 0; i < lanes && status == CAROM_OK; i++) {
                lane* l = &r->lane.items[i];
                if (l->moves) {
                    status = spread_theta(r, dtheta + (size_t)i * theta, l, error);
                }
            }
        }
        if (status == CAROM_OK) {
            status =
                one_step(r, kept, lanes, dstate, dcontrol ? dcontrol + (size_t)k * chosen : NULL,
                         (size_t)count * chosen, error);
        }
        for (int32_t i = 0; dstates && status == CAROM_OK && i < lanes; i++) {
            memcpy(dstates + ((size_t)i * (size_t)count + (size_t)k) * size,
                   dstate + (size_t)i * size, size * sizeof(double));
        }
    }
    return status;
}

carom_status cr_rollout_jvp(cr_rollout* r, int32_t count, const int32_t* slot, int32_t lanes,
                            double* dstate, const double* dcontrol, const double* dtheta,
                            double* dstates, carom_error* error)
{
    carom_status status = cr_rollout_check(r, count, slot, error);
    const size_t each = (size_t)count * (size_t)r->chosen_count;
    const size_t size = (size_t)r->state_size, theta = (size_t)r->theta_size;
    const int32_t most = bunch(r, lanes, 0);
    if (status == CAROM_OK) {
        status = make_lanes(r, most, error);
    }
    for (int32_t i = 0; i < lanes && status == CAROM_OK; i += most) {
        const int32_t left = lanes - i < most ? lanes - i : most;
        const size_t at = (size_t)i;
        status = run_bunch(r, count, slot, left, dstate + at * size,
                           dcontrol ? dcontrol + at * each : NULL,
                           dtheta && theta > 0 ? dtheta + at * theta : NULL,
                           dstates ? dstates + at * (size_t)count * size : NULL, error);
    }
    return status;
}

carom_status cr_rollout_start_jvp(cr_rollout* r, int32_t lanes, const double* dtheta,
                                  double* dstate, carom_error* error)
{
    const cr_model* m = r->model;
    const size_t size = (size_t)r->state_size;
    carom_status status = make_lanes(r, 1, error);
    if (status == CAROM_OK) {
        status = cr_rollout_set(r, r->theta, error);
    }
    for (int32_t i = 0; i < lanes && status == CAROM_OK && r->theta_size > 0; i++) {
        lane* l = &r->lane.items[0];
        status = spread_theta(r, dtheta + (size_t)i * (size_t)r->theta_size, l, error);
        if (status == CAROM_OK) {
            changes_out(m, m->q0, m->om0, &l->model.start, r->bar);
            for (size_t k = 0; k < size; k++) {
                dstate[(size_t)i * size + k] += r->bar[k];
            }
        }
    }
    return status;
}

// ---- Jacobians

// The inputs of a run, one after another: state, controls of every step, theta.
typedef struct inputs {
    size_t state, control, theta;
} inputs;

// One direction for each input from `from` on, as many as there is room for.
static void unit_lanes(const inputs* in, size_t from, size_t lanes, double* dstate,
                       double* dcontrol, double* dtheta)
{
    memset(dstate, 0, lanes * in->state * sizeof(double));
    memset(dcontrol, 0, lanes * in->control * sizeof(double));
    memset(dtheta, 0, lanes * in->theta * sizeof(double));
    for (size_t i = 0; i < lanes; i++) {
        const size_t at = from + i;
        if (at < in->state) {
            dstate[i * in->state + at] = 1.0;
        } else if (at < in->state + in->control) {
            dcontrol[i * in->control + at - in->state] = 1.0;
        } else {
            dtheta[i * in->theta + at - in->state - in->control] = 1.0;
        }
    }
}

// The lanes' results are columns of what was asked for.
static void store_columns(const inputs* in, size_t from, size_t lanes, const double* dstate,
                          double* state, double* control, double* theta)
{
    const size_t s = in->state;
    for (size_t i = 0; i < lanes; i++) {
        size_t at = from + i, width = s;
        double* out = state;
        if (at >= s + in->control) {
            out = theta;
            at -= s + in->control;
            width = in->theta;
        } else if (at >= s) {
            out = control;
            at -= s;
            width = in->control;
        }
        for (size_t k = 0; out && k < s; k++) {
            out[k * width + at] = dstate[i * s + k];
        }
    }
}

carom_status cr_rollout_jacobian(cr_rollout* r, int32_t count, const int32_t* slot, double* state,
                                 double* control, double* theta, carom_error* error)
{
    const inputs in = {(size_t)r->state_size, (size_t)count * (size_t)r->chosen_count,
                       (size_t)r->theta_size};
    const size_t end = in.state + (control || theta ? in.control : 0) + (theta ? in.theta : 0);
    const size_t begin = state ? 0 : control ? in.state : in.state + in.control;
    if (begin >= end) {
        return cr_rollout_check(r, count, slot, error);
    }
    const int32_t columns = end - begin < INT32_MAX ? (int32_t)(end - begin) : INT32_MAX;
    const size_t own = (in.state + in.control + in.theta) * sizeof(double);
    const size_t most = (size_t)bunch(r, columns, own);
    double* dstate = cr_memory_take(most * in.state, sizeof(double));
    double* dcontrol = cr_memory_take(most * in.control, sizeof(double));
    double* dtheta = cr_memory_take(most * in.theta, sizeof(double));
    const int ready = dstate && dcontrol && dtheta;
    carom_status status = ready ? CAROM_OK : no_memory(error);
    for (size_t i = begin; i < end && ready && status == CAROM_OK; i += most) {
        const size_t left = end - i < most ? end - i : most;
        unit_lanes(&in, i, left, dstate, dcontrol, dtheta);
        status =
            cr_rollout_jvp(r, count, slot, (int32_t)left, dstate, dcontrol, dtheta, NULL, error);
        if (status == CAROM_OK) {
            store_columns(&in, i, left, dstate, state, control, theta);
        }
    }
    cr_memory_free(dstate);
    cr_memory_free(dcontrol);
    cr_memory_free(dtheta);
    return status;
}
