#include "adjoint/rollout_inside.h"
#include "core/memory.h"
#include <math.h>
#include <string.h>

// A quaternion shorter than this has no direction worth trusting.
static const double least_length = 1e-6;

typedef cr_rollout_layout layout;

static layout layout_of(const cr_model* model)
{
    return cr_rollout_layout_of(model);
}

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory for another step");
}

// ---- life

carom_status cr_rollout_init(cr_rollout* r, const cr_model* model, const cr_goal* goal,
                             int32_t worker_count, carom_error* error)
{
    *r = (cr_rollout){.scene = model, .goal = goal};
    for (int32_t i = 0; i < goal->parameter_count; i++) {
        const int32_t what = goal->parameter[i].what;
        if (what == CR_GOAL_OF_FORCES || what == CR_GOAL_OF_TORQUES) {
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                    "parameters[%d] is \"%s\", one for each step; a rollout takes "
                                    "those as controls",
                                    i, cr_goal_parameter_name(what));
        }
    }
    carom_status status = cr_parameters_create(model, goal, 1, &r->parameters, error);
    if (status != CAROM_OK) {
        return status;
    }
    const size_t f = (size_t)model->bodies.frame_count, n = (size_t)model->bodies.node_count;
    r->model = cr_parameters_model(r->parameters);
    r->theta_size = cr_parameters_size(r->parameters);
    r->state_size = (int32_t)(13 * f + 6 * n);
    r->control_size = (int32_t)(6 * f + 3 * n);
    const size_t p = (size_t)r->theta_size, s = (size_t)r->state_size;
    r->theta = cr_memory_take(p, sizeof(double));
    r->written = cr_memory_take(p, sizeof(double));
    r->length = cr_memory_take(f, sizeof(double));
    r->bar = cr_memory_take(s, sizeof(double));
    r->control_bar = cr_memory_take((size_t)r->control_size, sizeof(double));
    r->chosen = cr_memory_take((size_t)r->control_size, sizeof(int32_t));
    status = r->theta && r->written && r->length && r->bar && r->control_bar && r->chosen
                 ? cr_sim_create(r->model, worker_count, &r->sim)
                 : CAROM_ERR_MEMORY;
    if (status != CAROM_OK) {
        cr_rollout_release(r);
        return cr_status_refuse(error, status, "no memory for a rollout");
    }
    memcpy(r->theta, cr_parameters_scene(r->parameters), p * sizeof(double));
    status = cr_parameters_write(r->parameters, r->theta, error);
    memcpy(r->written, r->theta, p * sizeof(double));
    if (status == CAROM_OK) {
        status = cr_rollout_place(r, NULL, 0, error);
    }
    if (status != CAROM_OK) {
        cr_rollout_release(r);
    }
    return status;
}

static void release_slot(cr_rollout_slot* slot)
{
    cr_memory_free(slot->before);
    cr_memory_free(slot->length);
    cr_memory_free(slot->q_end);
    cr_memory_free(slot->w_end);
    cr_memory_free(slot->control);
    cr_memory_free(slot->theta);
    cr_record_release(&slot->record);
}

void cr_rollout_release(cr_rollout* r)
{
    for (int32_t i = 0; i < r->slot.count; i++) {
        release_slot(&r->slot.items[i]);
    }
    cr_array_release(&r->slot);
    cr_array_release(&r->spare);
    if (r->backward) {
        cr_gradient_bars_release(&r->bars);
        cr_gradient_release(&r->gradient);
    }
    cr_backward_destroy(r->backward);
    cr_rollout_lanes_release(r);
    cr_sim_destroy(r->back);
    cr_sim_destroy(r->sim);
    cr_memory_free(r->theta);
    cr_memory_free(r->written);
    cr_memory_free(r->length);
    cr_memory_free(r->bar);
    cr_memory_free(r->control_bar);
    cr_memory_free(r->chosen);
    if (r->parameters) {
        cr_parameters_destroy(r->parameters);
    }
    *r = (cr_rollout){0};
}

carom_status cr_rollout_ready(cr_rollout* r, carom_error* error)
{
    if (r->backward) {
        return CAROM_OK;
    }
    carom_status status = r->back ? CAROM_OK : cr_sim_create(r->model, 1, &r->back);
    if (status == CAROM_OK) {
        cr_sim_drive(r->back, r->sim->driven, r->sim->node_driven);
        status = cr_gradient_init(&r->gradient, r->model);
    }
    if (status == CAROM_OK) {
        status = cr_gradient_bars_init(&r->bars, r->model);
        if (status == CAROM_OK) {
            status = cr_backward_create(r->model, &r->backward);
            if (status != CAROM_OK) {
                cr_gradient_bars_release(&r->bars);
            }
        }
        if (status != CAROM_OK) {
            cr_gradient_release(&r->gradient);
        }
    }
    return status == CAROM_OK ? CAROM_OK
                              : cr_status_refuse(error, status, "no memory for the way back");
}

// ---- controls and parameters

// Why a control cannot be chosen, or NULL. Marks what it drives.
static const char* choose_one(const cr_model* m, int32_t index, unsigned char* frame,
                              unsigned char* node)
{
    const int32_t frames = 3 * m->bodies.frame_count;
    if (index < 2 * frames) {
        const int32_t f = index % frames / 3;
        switch (m->bodies.kind[m->bodies.frame_body[f]]) {
        case CR_BODY_RIGID:
            return NULL;
        case CR_BODY_KINEMATIC:
            frame[f] = 1;
            return m->frame_script[f] >= 0 ? "belongs to a body that has a script" : NULL;
        default:
            return "belongs to a body that never moves";
        }
    }
    const int32_t n = (index - 2 * frames) / 3;
    node[n] = m->bodies.node_pinned[n] != 0;
    return node[n] && m->node_script[n] >= 0 ? "belongs to a pinned node that has a script" : NULL;
}

carom_status cr_rollout_choose(cr_rollout* r, int32_t count, const int32_t* index,
                               carom_error* error)
{
    const cr_model* m = r->model;
    if (count < 0 || count > r->control_size) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "%d controls are chosen; there are %d, each to be chosen once",
                                count, r->control_size);
    }
    unsigned char* marks = cr_memory_take(
        (size_t)m->bodies.frame_count + (size_t)m->bodies.node_count + (size_t)r->control_size, 1);
    if (!marks) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory");
    }
    unsigned char *frame = marks, *node = frame + m->bodies.frame_count;
    unsigned char* seen = node + m->bodies.node_count;
    carom_status status = CAROM_OK;
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        const char* why = "is out of range";
        if (index[i] >= 0 && index[i] < r->control_size) {
            why = seen[index[i]] ? "was chosen before" : choose_one(m, index[i], frame, node);
            seen[index[i]] = 1;
        }
        if (why) {
            status = cr_status_refuse(error, CAROM_ERR_ARGUMENT, "control %d of 0 to %d %s",
                                      index[i], r->control_size - 1, why);
        }
    }
    if (status == CAROM_OK) {
        r->chosen_count = count;
        for (int32_t i = 0; i < count; i++) { // of none index may be NULL
            r->chosen[i] = index[i];
        }
        cr_sim_drive(r->sim, frame, node);
        if (r->back) {
            cr_sim_drive(r->back, frame, node);
        }
        for (int32_t i = 0; i < r->slot.count; i++) {
            cr_rollout_drop(r, i); // they were of other controls
        }
    }
    cr_memory_free(marks);
    return status;
}

// The model gets the numbers it is to have.
carom_status cr_rollout_set(cr_rollout* r, const double* theta, carom_error* error)
{
    const size_t bytes = (size_t)r->theta_size * sizeof(double);
    if (bytes == 0 || memcmp(r->written, theta, bytes) == 0) {
        return CAROM_OK;
    }
    const carom_status status = cr_parameters_write(r->parameters, theta, error);
    if (status != CAROM_OK) {
        const carom_status again = cr_parameters_write(r->parameters, r->written, NULL);
        return again == CAROM_OK ? status : again;
    }
    memcpy(r->written, theta, bytes);
    cr_near_weigh(&r->sim->near);
    return CAROM_OK;
}

carom_status cr_rollout_write(cr_rollout* r, const double* theta, carom_error* error)
{
    for (int32_t i = 0; i < r->theta_size; i++) {
        if (!isfinite(theta[i])) {
            return cr_status_refuse(error, CAROM_ERR_NOT_FINITE,
                                    "parameter %d is %g; it has to be finite", i, theta[i]);
        }
    }
    const carom_status status = cr_rollout_set(r, theta, error);
    if (status == CAROM_OK) {
        memcpy(r->theta, theta, (size_t)r->theta_size * sizeof(double));
    }
    return status;
}

// ---- states

static carom_status check_state(const cr_rollout* r, const double* state, carom_error* error)
{
    const layout at = layout_of(r->model);
    for (int32_t i = 0; i < r->state_size; i++) {
        if (!isfinite(state[i])) {
            return cr_status_refuse(error, CAROM_ERR_NOT_FINITE,
                                    "number %d of the state is %g; it has to be finite", i,
                                    state[i]);
        }
    }
    for (int32_t f = 0; f < r->model->bodies.frame_count; f++) {
        const double* q = state + at.q + 4 * (size_t)f;
        const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(length > least_length) || !isfinite(length)) {
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                    "the quaternion of \"%s\" has the length %g; it has to be 1, "
                                    "or near it",
                                    r->model->name[r->model->bodies.frame_body[f]], length);
        }
    }
    return CAROM_OK;
}

static void place_frame(cr_rollout* r, const double* state, int32_t f, cr_state* out)
{
    const layout at = layout_of(r->model);
    const size_t i = (size_t)f;
    cr_quat q = cr_quat_load(state + at.q + 4 * i);
    const double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    // what has length 1 up to rounding stays as it is, so that a state goes in as it came out
    const int unit = fabs(length - 1.0) <= 4e-16;
    r->length[f] = unit ? 1.0 : length;
    q = unit ? q : (cr_quat){q.w / length, q.x / length, q.y / length, q.z / length};
    q = cr_rollout_inward(r->model, f, q);
    cr_quat_store(out->q + 4 * i, q);
    memcpy(out->t + 3 * i, state + at.t + 3 * i, 3 * sizeof(double));
    memcpy(out->v + 3 * i, state + at.v + 3 * i, 3 * sizeof(double));
    const cr_vec3 spin = cr_vec3_load(state + at.om + 3 * i);
    cr_vec3_store(out->om + 3 * i, cr_mat3_tapply(cr_quat_to_matrix(q), spin));
}

carom_status cr_rollout_place(cr_rollout* r, const double* state, int64_t step, carom_error* error)
{
    const cr_model* m = r->model;
    carom_status status = cr_rollout_set(r, r->theta, error);
    if (status == CAROM_OK && state) {
        status = check_state(r, state, error);
    }
    if (status == CAROM_OK && (step < 0 || step > INT32_MAX)) {
        status = cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                  "a state after %lld steps is asked for; it has to be 0 to %d",
                                  (long long)step, INT32_MAX);
    }
    if (status != CAROM_OK) {
        return status;
    }
    cr_sim_reset(r->sim);
    cr_state* out = cr_sim_state(r->sim);
    out->step = step;
    out->time = (double)step * m->world.dt;
    for (int32_t f = 0; f < m->bodies.frame_count; f++) {
        r->length[f] = 1.0;
        if (state) {
            place_frame(r, state, f, out);
        }
    }
    if (state) {
        const layout at = layout_of(m);
        const size_t bytes = 3 * (size_t)m->bodies.node_count * sizeof(double);
        memcpy(out->x, state + at.x, bytes);
        memcpy(out->xv, state + at.xv, bytes);
    }
    status = cr_state_copy(&r->sim->next, out);
    return status == CAROM_OK ? CAROM_OK : no_memory(error);
}

// The flat vector, with orientations as they are inside.
static void read_state(const cr_model* m, const cr_state* s, double* out)
{
    const layout at = layout_of(m);
    const size_t f = (size_t)m->bodies.frame_count, n = (size_t)m->bodies.node_count;
    memcpy(out + at.t, s->t, 3 * f * sizeof(double));
    memcpy(out + at.q, s->q, 4 * f * sizeof(double));
    memcpy(out + at.v, s->v, 3 * f * sizeof(double));
    for (size_t i = 0; i < f; i++) {
        const cr_mat3 rot = cr_quat_to_matrix(cr_quat_load(s->q + 4 * i));
        cr_vec3_store(out + at.om + 3 * i, cr_mat3_apply(rot, cr_vec3_load(s->om + 3 * i)));
    }
    memcpy(out + at.x, s->x, 3 * n * sizeof(double));
    memcpy(out + at.xv, s->xv, 3 * n * sizeof(double));
}

void cr_rollout_state(const cr_rollout* r, double* state)
{
    const layout at = layout_of(r->model);
    read_state(r->model, &r->sim->state, state);
    for (int32_t f = 0; f < r->model->bodies.frame_count; f++) {
        double* q = state + at.q + 4 * (size_t)f;
        cr_quat_store(q, cr_rollout_outward(r->model, f, cr_quat_load(q)));
    }
}

// ---- steps

// A free slot with room for everything but the record. -1: no memory.
static int32_t take_slot(cr_rollout* r)
{
    if (r->spare.count > 0) {
        return r->spare.items[--r->spare.count];
    }
    const size_t f = (size_t)r->model->bodies.frame_count;
    // dropping must not fail: the list of free slots has room for all
    if (!cr_array_reserve(&r->slot, r->slot.count + 1) ||
        !cr_array_reserve(&r->spare, r->slot.capacity)) {
        return -1;
    }
    cr_rollout_slot made = {.before = cr_memory_take((size_t)r->state_size, sizeof(double)),
                            .length = cr_memory_take(f, sizeof(double)),
                            .q_end = cr_memory_take(4 * f, sizeof(double)),
                            .w_end = cr_memory_take(3 * f, sizeof(double)),
                            .control = cr_memory_take((size_t)r->control_size, sizeof(double)),
                            .theta = cr_memory_take((size_t)r->theta_size, sizeof(double))};
    if (!made.before || !made.length || !made.q_end || !made.w_end || !made.control ||
        !made.theta) {
        release_slot(&made);
        return -1;
    }
    r->slot.items[r->slot.count] = made;
    return r->slot.count++;
}

void cr_rollout_drop(cr_rollout* r, int32_t slot)
{
    if (slot >= 0 && slot < r->slot.count && r->slot.items[slot].used) {
        r->slot.items[slot].used = 0;
        cr_record_clear(&r->slot.items[slot].record);
        r->spare.items[r->spare.count++] = slot;
    }
}

static void write_controls(cr_sim* sim, const double* all)
{
    const size_t f = 3 * (size_t)sim->model->bodies.frame_count;
    const size_t n = 3 * (size_t)sim->model->bodies.node_count;
    memcpy(cr_sim_force(sim), all, f * sizeof(double));
    memcpy(cr_sim_torque(sim), all + f, f * sizeof(double));
    memcpy(cr_sim_node_force(sim), all + 2 * f, n * sizeof(double));
}

static carom_status spread_controls(cr_rollout* r, const double* control, carom_error* error)
{
    memset(r->control_bar, 0, (size_t)r->control_size * sizeof(double));
    for (int32_t i = 0; i < r->chosen_count; i++) {
        if (!isfinite(control[i])) {
            return cr_status_refuse(error, CAROM_ERR_NOT_FINITE,
                                    "control %d of step %lld is %g; it has to be finite", i,
                                    (long long)r->sim->state.step, control[i]);
        }
        r->control_bar[r->chosen[i]] = control[i];
    }
    write_controls(r->sim, r->control_bar);
    return CAROM_OK;
}

carom_status cr_rollout_step(cr_rollout* r, const double* control, int32_t* slot,
                             carom_error* error)
{
    carom_status status = cr_rollout_set(r, r->theta, error);
    if (status == CAROM_OK) {
        status = spread_controls(r, control, error);
    }
    if (status != CAROM_OK) {
        return status;
    }
    if (!slot) {
        return cr_sim_step(r->sim, error);
    }
    const int32_t at = take_slot(r);
    if (at < 0) {
        return no_memory(error);
    }
    cr_rollout_slot* kept = &r->slot.items[at];
    const size_t f = (size_t)r->model->bodies.frame_count;
    kept->used = 1;
    read_state(r->model, &r->sim->state, kept->before);
    memcpy(kept->length, r->length, f * sizeof(double));
    memcpy(kept->control, r->control_bar, (size_t)r->control_size * sizeof(double));
    memcpy(kept->theta, r->theta, (size_t)r->theta_size * sizeof(double));
    cr_sim_keep(r->sim, 1);
    status = cr_sim_step(r->sim, error);
    cr_sim_keep(r->sim, 0);
    if (status == CAROM_OK && cr_sim_record(r->sim, &kept->record) != CAROM_OK) {
        status = no_memory(error);
    }
    if (status != CAROM_OK) {
        cr_rollout_drop(r, at);
        return status;
    }
    kept->record.placed = 1;
    memcpy(kept->q_end, r->sim->state.q, 4 * f * sizeof(double));
    memcpy(kept->w_end, r->sim->state.om, 3 * f * sizeof(double));
    for (size_t i = 0; i < f; i++) {
        r->length[i] = 1.0;
    }
    *slot = at;
    return CAROM_OK;
}

// ---- the way back

// Bars of a flat state at orientations q and spins om (body axes) into those the stages know, along
// R -> R exp([delta]): dq = q (0, delta)/2, so delta_bar = Im(q* q_bar)/2, and with spin = R om,
// om_bar = R^T spin_bar and delta_bar += om x om_bar.
static void bars_in(const cr_model* m, const double* q, const double* om, const double* bar,
                    cr_state_bars* out)
{
    const layout at = layout_of(m);
    for (int32_t f = 0; f < m->bodies.frame_count; f++) {
        const size_t i = (size_t)f;
        const cr_quat a = cr_quat_load(q + 4 * i);
        const cr_quat q_bar = cr_rollout_inward(m, f, cr_quat_load(bar + at.q + 4 * i));
        const cr_quat d = cr_quat_mul(cr_quat_conjugate(a), q_bar);
        const cr_vec3 turn = {0.5 * d.x, 0.5 * d.y, 0.5 * d.z};
        const cr_vec3 om_bar =
            cr_mat3_tapply(cr_quat_to_matrix(a), cr_vec3_load(bar + at.om + 3 * i));
        out->t[f] = cr_vec3_load(bar + at.t + 3 * i);
        out->v[f] = cr_vec3_load(bar + at.v + 3 * i);
        out->om[f] = om_bar;
        out->q[f] = cr_vec3_add(turn, cr_vec3_cross(cr_vec3_load(om + 3 * i), om_bar));
    }
    for (int32_t n = 0; n < m->bodies.node_count; n++) {
        out->x[n] = cr_vec3_load(bar + at.x + 3 * (size_t)n);
        out->xv[n] = cr_vec3_load(bar + at.xv + 3 * (size_t)n);
    }
}

// And back: om = R^T spin turns by -delta x om, and of a given q of some length, taken along its
// direction, q_bar = 2 q (0, delta_bar)/length with q of length 1.
static void bars_out(const cr_model* m, const cr_rollout_slot* slot, const cr_state_bars* in,
                     double* bar)
{
    const layout at = layout_of(m);
    for (int32_t f = 0; f < m->bodies.frame_count; f++) {
        const size_t i = (size_t)f;
        const cr_quat q = cr_quat_load(slot->before + at.q + 4 * i);
        const cr_mat3 r = cr_quat_to_matrix(q);
        const cr_vec3 om = cr_mat3_tapply(r, cr_vec3_load(slot->before + at.om + 3 * i));
        const cr_vec3 turn = cr_vec3_add(in->q[f], cr_vec3_cross(in->om[f], om));
        const double s = 2.0 / slot->length[f];
        const cr_quat d = cr_quat_mul(q, (cr_quat){0, s * turn.x, s * turn.y, s * turn.z});
        cr_quat_store(bar + at.q + 4 * i, cr_rollout_outward(m, f, d));
        cr_vec3_store(bar + at.t + 3 * i, in->t[f]);
        cr_vec3_store(bar + at.v + 3 * i, in->v[f]);
        cr_vec3_store(bar + at.om + 3 * i, cr_mat3_apply(r, in->om[f]));
    }
    for (int32_t n = 0; n < m->bodies.node_count; n++) {
        cr_vec3_store(bar + at.x + 3 * (size_t)n, in->x[n]);
        cr_vec3_store(bar + at.xv + 3 * (size_t)n, in->xv[n]);
    }
}

// What does not move freely is where the state before had it; what does, the record says.
carom_status cr_rollout_recall(cr_rollout* r, const cr_rollout_slot* slot, carom_error* error)
{
    const layout at = layout_of(r->model);
    const carom_status status = cr_rollout_set(r, slot->theta, error);
    if (status != CAROM_OK) {
        return status;
    }
    cr_state* s = cr_sim_state(r->back);
    const size_t f = (size_t)r->model->bodies.frame_count;
    memcpy(s->t, slot->before + at.t, 3 * f * sizeof(double));
    memcpy(s->q, slot->before + at.q, 4 * f * sizeof(double));
    memcpy(s->x, slot->before + at.x, 3 * (size_t)r->model->bodies.node_count * sizeof(double));
    write_controls(r->back, slot->control);
    return CAROM_OK;
}

static void gather_controls(const cr_rollout* r, double* all, double* out)
{
    const cr_gradient* g = &r->gradient;
    const int32_t f = g->frame_count, n = g->node_count;
    for (int32_t i = 0; i < f; i++) {
        cr_vec3_store(all + 3 * (size_t)i, g->force[i]);
        cr_vec3_store(all + 3 * (size_t)(f + i), g->torque[i]);
    }
    for (int32_t i = 0; i < n; i++) {
        cr_vec3_store(all + 6 * (size_t)f + 3 * (size_t)i, g->node_force[i]);
    }
    for (int32_t i = 0; i < r->chosen_count; i++) {
        out[i] = all[r->chosen[i]];
    }
}

static carom_status back_one(cr_rollout* r, const cr_rollout_slot* slot, double* bar,
                             carom_error* error)
{
    carom_status status = cr_rollout_recall(r, slot, error);
    if (status != CAROM_OK) {
        return status;
    }
    bars_in(r->model, slot->q_end, slot->w_end, bar, &r->bars);
    cr_gradient_zero(&r->gradient, r->model);
    status = cr_backward_step(r->backward, r->back, &slot->record, &r->bars, &r->gradient);
    if (status != CAROM_OK) {
        return cr_status_refuse(error, status, "the way back stopped at step %lld: %s",
                                (long long)slot->record.step, carom_status_text(status));
    }
    bars_out(r->model, slot, &r->bars, bar);
    return CAROM_OK;
}

carom_status cr_rollout_check(const cr_rollout* r, int32_t count, const int32_t* slot,
                              carom_error* error)
{
    for (int32_t i = 0; i < count; i++) {
        if (slot[i] < 0 || slot[i] >= r->slot.count || !r->slot.items[slot[i]].used) {
            return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                    "step %d is in slot %d, which holds no step (any more)", i,
                                    slot[i]);
        }
    }
    return CAROM_OK;
}

carom_status cr_rollout_back(cr_rollout* r, int32_t count, const int32_t* slot, const double* more,
                             double* bar, double* control_bar, double* theta_bar,
                             carom_error* error)
{
    carom_status status = cr_rollout_check(r, count, slot, error);
    if (status == CAROM_OK) {
        status = cr_rollout_ready(r, error);
    }
    if (status != CAROM_OK) {
        return status;
    }
    // step by step, so that the bits do not depend on how a run is cut into calls
    const size_t size = (size_t)r->state_size;
    for (int32_t i = count - 1; i >= 0 && status == CAROM_OK; i--) {
        status = back_one(r, &r->slot.items[slot[i]], bar, error);
        for (size_t k = 0; more && k < size; k++) {
            bar[k] += more[(size_t)i * size + k];
        }
        if (control_bar) {
            gather_controls(r, r->control_bar, control_bar + (size_t)i * (size_t)r->chosen_count);
        }
        if (theta_bar && status == CAROM_OK) {
            cr_parameters_gather(r->parameters, &r->gradient, theta_bar);
        }
    }
    return status;
}

carom_status cr_rollout_start_adj(cr_rollout* r, const double* bar, double* theta_bar,
                                  carom_error* error)
{
    const cr_model* m = r->model;
    carom_status status = cr_rollout_ready(r, error);
    if (status == CAROM_OK) {
        status = cr_rollout_set(r, r->theta, error);
    }
    if (status != CAROM_OK || r->theta_size == 0) {
        return status;
    }
    cr_gradient_zero(&r->gradient, m);
    bars_in(m, m->q0, m->om0, bar, &r->gradient.start);
    cr_parameters_gather(r->parameters, &r->gradient, theta_bar);
    return CAROM_OK;
}
