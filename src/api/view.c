#include "api/view.h"
#include "math/quat.h"
#include <string.h>

_Static_assert((int)CAROM_BODY_FIXED == (int)CR_BODY_FIXED &&
                   (int)CAROM_BODY_KINEMATIC == (int)CR_BODY_KINEMATIC &&
                   (int)CAROM_BODY_RIGID == (int)CR_BODY_RIGID &&
                   (int)CAROM_BODY_CLOTH == (int)CR_BODY_CLOTH,
               "kinds are the same inside and outside");

// What the frame or the nodes of a body hold.
static void view_mass(const cr_model* model, int32_t body, carom_body_info* info)
{
    const cr_body_set* bodies = &model->bodies;
    const int32_t f = bodies->frame[body];
    if (f >= 0) {
        info->mass = bodies->mass[f];
        memcpy(info->inertia, bodies->inertia + 3 * (size_t)f, sizeof info->inertia);
        // p = own v + own_t inside; outside the axes are the mesh's: own^T p = v + own^T own_t
        const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(model->own_q + 4 * (size_t)f));
        cr_vec3_store(info->mesh_position,
                      cr_mat3_tapply(own, cr_vec3_load(model->own_t + 3 * (size_t)f)));
        return;
    }
    for (int32_t v = bodies->vertex[body]; v < bodies->vertex[body + 1]; v++) {
        info->mass += bodies->node_mass[bodies->node[v]];
        info->pinned_count += bodies->node_pinned[bodies->node[v]] != 0;
    }
}

carom_status carom_view_body(const cr_model* model, int32_t body, carom_body_info* info)
{
    const cr_surface* s = &model->surface;
    if (body < 0 || body >= s->body_count) {
        return CAROM_ERR_ARGUMENT;
    }
    *info = (carom_body_info){.name = model->name[body],
                              .kind = (carom_body_kind)model->bodies.kind[body],
                              .vertex_first = s->body_vertex[body],
                              .vertex_count = s->body_vertex[body + 1] - s->body_vertex[body],
                              .edge_count = s->body_edge[body + 1] - s->body_edge[body],
                              .face_first = s->body_face[body],
                              .face_count = s->body_face[body + 1] - s->body_face[body],
                              .thickness = model->bodies.radius[body],
                              .friction = model->bodies.friction[body],
                              .restitution = model->bodies.restitution[body]};
    view_mass(model, body, info);
    return CAROM_OK;
}

static void view_cloth(const cr_model* model, const cr_state* state, int32_t body,
                       carom_body_state* out)
{
    const cr_body_set* bodies = &model->bodies;
    const int32_t count = bodies->vertex[body + 1] - bodies->vertex[body];
    for (int32_t v = bodies->vertex[body]; v < bodies->vertex[body + 1]; v++) {
        const size_t n = (size_t)bodies->node[v];
        for (size_t i = 0; i < 3; i++) {
            out->position[i] += state->x[3 * n + i] / count;
            out->velocity[i] += state->xv[3 * n + i] / count;
        }
    }
}

carom_status carom_view_state(const cr_model* model, const cr_state* state, int32_t body,
                              carom_body_state* out)
{
    if (body < 0 || body >= model->bodies.body_count) {
        return CAROM_ERR_ARGUMENT;
    }
    *out = (carom_body_state){.quaternion = {1, 0, 0, 0}};
    if (model->bodies.frame[body] < 0) {
        view_cloth(model, state, body, out);
        return CAROM_OK;
    }
    const size_t f = (size_t)model->bodies.frame[body];
    memcpy(out->position, state->t + 3 * f, sizeof out->position);
    const cr_quat q = cr_quat_load(state->q + 4 * f);
    cr_quat_store(out->quaternion, cr_quat_mul(q, cr_quat_load(model->own_q + 4 * f)));
    memcpy(out->velocity, state->v + 3 * f, sizeof out->velocity);
    const cr_mat3 r = cr_quat_to_matrix(q);
    cr_vec3_store(out->angular_velocity, cr_mat3_apply(r, cr_vec3_load(state->om + 3 * f)));
    return CAROM_OK;
}
