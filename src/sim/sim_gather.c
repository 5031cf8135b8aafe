#include "sim/sim_inside.h"

// The model's own loads and the caller's, for the coming step.
static void gather_loads(cr_sim* sim)
{
    const cr_model* model = sim->model;
    for (int32_t f = 0; f < model->bodies.frame_count; f++) {
        sim->force_now[f] = cr_vec3_load(sim->force + 3 * f);
        sim->torque_now[f] = cr_vec3_load(sim->torque + 3 * f);
    }
    for (int32_t n = 0; n < model->bodies.node_count; n++) {
        sim->node_force_now[n] = cr_vec3_load(sim->node_force + 3 * n);
    }
    for (int32_t i = 0; i < model->load_count; i++) {
        const cr_load* load = &model->load[i];
        const int64_t last = load->step_count - 1;
        const int64_t at = sim->state.step < last ? sim->state.step : last;
        const int32_t f = model->bodies.frame[load->body];
        cr_vec3* force = load->node >= 0 ? &sim->node_force_now[load->node] : &sim->force_now[f];
        *force = cr_vec3_add(*force, cr_vec3_load(load->force + 3 * at));
        if (load->torque && load->node < 0) {
            sim->torque_now[f] =
                cr_vec3_add(sim->torque_now[f], cr_vec3_load(load->torque + 3 * at));
        }
    }
}

// Pose of a kinematic frame at a time: the start, moved and turned as its script says.
static void scripted_pose(const cr_model* model, int32_t f, double time, cr_vec3* t, cr_quat* q)
{
    *t = cr_vec3_load(model->t0 + 3 * f);
    *q = cr_quat_load(model->q0 + 4 * f);
    if (model->frame_script[f] >= 0) {
        cr_vec3 shift, turn;
        cr_model_script_at(&model->script[model->frame_script[f]], time, &shift, &turn);
        *t = cr_vec3_add(*t, shift);
        *q = cr_quat_normalize(cr_quat_mul(cr_quat_from_rotation(turn), *q));
    }
}

static cr_vec3 scripted_node(const cr_model* model, int32_t n, double time)
{
    const cr_vec3 x = cr_vec3_load(model->x0 + 3 * n);
    if (model->node_script[n] < 0) {
        return x;
    }
    cr_vec3 shift, turn;
    cr_model_script_at(&model->script[model->node_script[n]], time, &shift, &turn);
    return cr_vec3_add(x, shift);
}

// Pose of a driven frame at the end of a step: t + h v, exp(h om) q.
static void driven_pose(const cr_sim* sim, int32_t f, double h, cr_vec3* t, cr_quat* q)
{
    const cr_vec3 v = cr_vec3_load(sim->force + 3 * f), om = cr_vec3_load(sim->torque + 3 * f);
    *t = cr_vec3_add_scaled(*t, h, v);
    *q = cr_quat_normalize(cr_quat_mul(cr_quat_from_rotation(cr_vec3_scale(h, om)), *q));
}

// Fixed and kinematic frames and pinned nodes: where their vertices are at the start and the end.
// Their new poses go to `next` at once, for no zone changes them.
void cr_sim_gather_ways(cr_sim* sim)
{
    const cr_model* model = sim->model;
    const cr_body_set* bodies = &model->bodies;
    const double h = model->world.dt;
    for (int32_t b = 0; b < bodies->body_count; b++) {
        const int32_t f = bodies->frame[b];
        if (f < 0 || bodies->kind[b] == CR_BODY_RIGID) {
            continue;
        }
        cr_vec3 t1 = cr_vec3_load(sim->state.t + 3 * f);
        cr_quat q1 = cr_quat_load(sim->state.q + 4 * f);
        const cr_vec3 t0 = t1;
        const cr_quat q0 = q1;
        if (sim->driven[f]) {
            driven_pose(sim, f, h, &t1, &q1);
        } else if (bodies->kind[b] == CR_BODY_KINEMATIC) {
            scripted_pose(model, f, sim->state.time + h, &t1, &q1);
        }
        const cr_mat3 r0 = cr_quat_to_matrix(q0), r1 = cr_quat_to_matrix(q1);
        const cr_vec3 turn = cr_quat_to_rotation(cr_quat_mul(cr_quat_conjugate(q0), q1));
        cr_vec3_store(sim->next.t + 3 * f, t1);
        cr_quat_store(sim->next.q + 4 * f, q1);
        cr_vec3_store(sim->next.v + 3 * f, cr_vec3_scale(1.0 / h, cr_vec3_sub(t1, t0)));
        cr_vec3_store(sim->next.om + 3 * f, cr_vec3_scale(1.0 / h, turn));
        sim->scripted[b] = (cr_carry){
            .r0 = r0, .r1 = r1, .t0 = t0, .t1 = t1, .still = bodies->kind[b] == CR_BODY_FIXED};
        for (int32_t v = bodies->vertex[b]; v < bodies->vertex[b + 1]; v++) {
            const cr_vec3 p = cr_vec3_load(bodies->p + 3 * v);
            sim->obstacle0[v] = cr_carry_start(&sim->scripted[b], p);
            sim->obstacle1[v] = cr_carry_end(&sim->scripted[b], p);
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (bodies->node_pinned[n]) {
            const int32_t v = bodies->node_vertex[n];
            sim->obstacle0[v] = cr_vec3_load(sim->state.x + 3 * n);
            sim->obstacle1[v] = sim->node_driven[n]
                                    ? cr_vec3_add_scaled(sim->obstacle0[v], h,
                                                         cr_vec3_load(sim->node_force + 3 * n))
                                    : scripted_node(model, n, sim->state.time + h);
        }
    }
}

void cr_sim_gather_scripts(cr_sim* sim)
{
    const cr_body_set* bodies = &sim->model->bodies;
    for (int32_t b = 0; b < bodies->body_count; b++) {
        if (bodies->kind[b] == CR_BODY_KINEMATIC) {
            const int32_t f = bodies->frame[b];
            cr_vec3 t = cr_vec3_load(sim->model->t0 + 3 * f);
            cr_quat q = cr_quat_load(sim->model->q0 + 4 * f);
            if (sim->state.step > 0) {
                scripted_pose(sim->model, f, sim->state.time, &t, &q);
            }
            cr_vec3_store(sim->state.t + 3 * f, t);
            cr_quat_store(sim->state.q + 4 * f, q);
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (bodies->node_pinned[n]) {
            const cr_vec3 x = sim->state.step > 0 ? scripted_node(sim->model, n, sim->state.time)
                                                  : cr_vec3_load(sim->model->x0 + 3 * n);
            cr_vec3_store(sim->state.x + 3 * n, x);
        }
    }
    cr_sim_gather_ways(sim);
}

void cr_sim_gather(cr_sim* sim)
{
    gather_loads(sim);
    cr_sim_gather_ways(sim);
}
