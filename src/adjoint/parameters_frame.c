#include "adjoint/parameters_inside.h"
#include "math/rot.h"
#include <string.h>

static void scene_center(const cr_model* m, int32_t f, double* out)
{
    const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * f));
    cr_vec3_store(out, cr_vec3_neg(cr_mat3_tapply(own, cr_vec3_load(m->own_t + 3 * f))));
}

static void scene(const cr_parameters* p, const cr_parameters_slot* slot, double* out)
{
    const cr_model* m = p->scene;
    const int32_t body = slot->body;
    const int32_t f = m->bodies.frame[body];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * f));
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        memcpy(out, m->place + 3 * (size_t)body, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_VELOCITY:
        memcpy(out, m->v0 + 3 * f, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_SPIN:
        cr_vec3_store(out, cr_mat3_apply(r, cr_vec3_load(m->om0 + 3 * f)));
        break;
    case CR_GOAL_OF_MASS:
        *out = m->bodies.mass[f];
        break;
    case CR_GOAL_OF_DENSITY:
        *out = m->density[body];
        break;
    case CR_GOAL_OF_INERTIA:
        memcpy(out, m->bodies.inertia + 3 * f, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_CENTER:
        scene_center(m, f, out);
        break;
    default:
        break;
    }
}

static void write_center(cr_parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    const int32_t f = m->bodies.frame[slot->body];
    const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * f));
    const cr_vec3 moved =
        cr_mat3_apply(own, cr_vec3_sub(cr_vec3_load(theta), cr_vec3_load(p->origin + slot->first)));
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * f));
    for (int32_t v = m->bodies.vertex[slot->body]; v < m->bodies.vertex[slot->body + 1]; v++) {
        cr_vec3_accumulate(m->bodies.p + 3 * (size_t)v, cr_vec3_neg(moved));
    }
    cr_vec3_accumulate(m->own_t + 3 * f, cr_vec3_neg(moved));
    cr_vec3_accumulate(m->t0 + 3 * f, cr_mat3_apply(r, moved));
}

// Moments go with the mass, unless they are asked for themselves.
static int inertia_is_given(const cr_parameters* p, const cr_parameters_slot* slot)
{
    return cr_parameters_ask(p, CR_GOAL_OF_INERTIA, slot->body);
}

static carom_status ready(cr_parameters* p, const cr_parameters_slot* slot, carom_error* error)
{
    if (slot->what == CR_GOAL_OF_DENSITY && cr_parameters_ask(p, CR_GOAL_OF_MASS, slot->body)) {
        return cr_parameters_refuse(p, slot,
                                    "cannot be asked for together with its mass: each follows from "
                                    "the other",
                                    error);
    }
    return CAROM_OK;
}

static carom_status write(cr_parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b];
    double* inertia = m->bodies.inertia + 3 * f;
    const cr_quat q = cr_quat_load(m->q0 + 4 * f);
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        cr_vec3_accumulate(m->t0 + 3 * f,
                           cr_vec3_sub(cr_vec3_load(theta), cr_vec3_load(p->origin + slot->first)));
        break;
    case CR_GOAL_OF_ROTATION: { // the spin keeps its direction in the world
        const cr_vec3 spin = cr_mat3_apply(cr_quat_to_matrix(q), cr_vec3_load(m->om0 + 3 * f));
        const cr_quat turned =
            cr_quat_normalize(cr_quat_mul(cr_quat_from_rotation(cr_vec3_load(theta)), q));
        cr_quat_store(m->q0 + 4 * f, turned);
        cr_vec3_store(m->om0 + 3 * f, cr_mat3_tapply(cr_quat_to_matrix(turned), spin));
        break;
    }
    case CR_GOAL_OF_VELOCITY:
        memcpy(m->v0 + 3 * f, theta, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_SPIN:
        cr_vec3_store(m->om0 + 3 * f, cr_mat3_tapply(cr_quat_to_matrix(q), cr_vec3_load(theta)));
        break;
    case CR_GOAL_OF_MASS:
    case CR_GOAL_OF_DENSITY: {
        const double factor = theta[0] / p->origin[slot->first];
        m->bodies.mass[f] *= factor;
        for (int i = 0; i < 3 && !inertia_is_given(p, slot); i++) {
            inertia[i] *= factor;
        }
        break;
    }
    case CR_GOAL_OF_INERTIA:
        memcpy(inertia, theta, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_CENTER:
        write_center(p, slot, theta);
        break;
    default:
        break;
    }
    return CAROM_OK;
}

static void gather(cr_parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                   double* out)
{
    const cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * f));
    const double* theta = p->theta + slot->first;
    const double* inertia = m->bodies.inertia + 3 * f;
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        cr_vec3_accumulate(out, g->start.t[f]);
        break;
    case CR_GOAL_OF_ROTATION: { // R = exp([theta]) R_o: delta = R^T Jl dtheta
        const cr_rot rot = cr_rot_make(cr_vec3_load(theta));
        cr_vec3_accumulate(out, cr_mat3_tapply(cr_rot_left(&rot),
                                               cr_mat3_apply(r, cr_parameters_turn_bar(m, g, f))));
        break;
    }
    case CR_GOAL_OF_VELOCITY:
        cr_vec3_accumulate(out, g->start.v[f]);
        break;
    case CR_GOAL_OF_SPIN:
        cr_vec3_accumulate(out, cr_mat3_apply(r, g->start.om[f]));
        break;
    case CR_GOAL_OF_MASS:
    case CR_GOAL_OF_DENSITY: {
        double sum = g->mass[f] * m->bodies.mass[f];
        for (int i = 0; i < 3 && !inertia_is_given(p, slot); i++) {
            sum += g->inertia[3 * f + i] * inertia[i];
        }
        out[0] += sum / theta[0];
        break;
    }
    case CR_GOAL_OF_INERTIA:
        for (int i = 0; i < 3; i++) {
            out[i] += g->inertia[3 * f + i];
        }
        break;
    case CR_GOAL_OF_CENTER: { // p -= delta, t += R_o delta, delta = own (theta - scene)
        const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * f));
        const cr_mat3 r_o = cr_quat_to_matrix(cr_quat_load(p->scene->q0 + 4 * f));
        cr_vec3 bar = cr_vec3_sub(cr_mat3_tapply(r_o, g->start.t[f]), g->own_shift[f]);
        for (int32_t v = m->bodies.vertex[b]; v < m->bodies.vertex[b + 1]; v++) {
            bar = cr_vec3_sub(bar, g->p[v]);
        }
        cr_vec3_accumulate(out, cr_mat3_tapply(own, bar));
        break;
    }
    default:
        break;
    }
}

static void spread(cr_parameters* p, const cr_parameters_slot* slot, const double* d,
                   cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * f));
    const double* theta = p->theta + slot->first;
    const double* inertia = m->bodies.inertia + 3 * f;
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        g->start.t[f] = cr_vec3_add(g->start.t[f], cr_vec3_load(d));
        break;
    case CR_GOAL_OF_ROTATION: { // R = exp([theta]) R_o: delta = R^T Jl dtheta
        const cr_rot rot = cr_rot_make(cr_vec3_load(theta));
        cr_parameters_turn_frame(
            m, f, cr_mat3_tapply(r, cr_mat3_apply(cr_rot_left(&rot), cr_vec3_load(d))), g);
        break;
    }
    case CR_GOAL_OF_VELOCITY:
        g->start.v[f] = cr_vec3_add(g->start.v[f], cr_vec3_load(d));
        break;
    case CR_GOAL_OF_SPIN:
        g->start.om[f] = cr_vec3_add(g->start.om[f], cr_mat3_tapply(r, cr_vec3_load(d)));
        break;
    case CR_GOAL_OF_MASS:
    case CR_GOAL_OF_DENSITY:
        g->mass[f] += m->bodies.mass[f] * d[0] / theta[0];
        for (int i = 0; i < 3 && !inertia_is_given(p, slot); i++) {
            g->inertia[3 * f + i] += inertia[i] * d[0] / theta[0];
        }
        break;
    case CR_GOAL_OF_INERTIA:
        for (int i = 0; i < 3; i++) {
            g->inertia[3 * f + i] += d[i];
        }
        break;
    case CR_GOAL_OF_CENTER: { // p -= delta, t += R_o delta, delta = own dtheta
        const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * f));
        const cr_mat3 r_o = cr_quat_to_matrix(cr_quat_load(p->scene->q0 + 4 * f));
        const cr_vec3 delta = cr_mat3_apply(own, cr_vec3_load(d));
        g->start.t[f] = cr_vec3_add(g->start.t[f], cr_mat3_apply(r_o, delta));
        for (int32_t v = m->bodies.vertex[b]; v < m->bodies.vertex[b + 1]; v++) {
            g->p[v] = cr_vec3_sub(g->p[v], delta);
        }
        break;
    }
    default:
        break;
    }
}

const cr_parameters_kind cr_parameters_frame_kind = {
    .ready = ready,
    .scene = scene,
    .write = write,
    .gather = gather,
    .spread = spread,
};
