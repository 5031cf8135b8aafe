// rollout_inside.h - what the ways back and forward through kept steps share, for rollout.c and
// rollout_jvp.c alone.
#pragma once

#include "adjoint/rollout.h"
#include "math/quat.h"

// Where the parts of a flat state begin.
typedef struct cr_rollout_layout {
    size_t t, q, v, om, x, xv;
} cr_rollout_layout;

static inline cr_rollout_layout cr_rollout_layout_of(const cr_model* model)
{
    const size_t f = (size_t)model->bodies.frame_count, n = (size_t)model->bodies.node_count;
    return (cr_rollout_layout){0, 3 * f, 7 * f, 10 * f, 13 * f, 13 * f + 3 * n};
}

// Outside, an orientation is that of the mesh as the scene knows it, q own_q. Bars and changes go
// the same ways, since a product with a unit quaternion is a rotation of R^4. Where the axes are
// one and the same nothing is touched.
static inline cr_quat cr_rollout_outward(const cr_model* m, int32_t f, cr_quat q)
{
    const cr_quat own = cr_quat_load(m->own_q + 4 * (size_t)f);
    return own.w == 1.0 ? q : cr_quat_mul(q, own);
}

static inline cr_quat cr_rollout_inward(const cr_model* m, int32_t f, cr_quat q)
{
    const cr_quat own = cr_quat_load(m->own_q + 4 * (size_t)f);
    return own.w == 1.0 ? q : cr_quat_mul(q, cr_quat_conjugate(own));
}

// What the way back needs, made once.
carom_status cr_rollout_ready(cr_rollout* r, carom_error* error);
// The model gets the numbers it is to have.
carom_status cr_rollout_set(cr_rollout* r, const double* theta, carom_error* error);
// CAROM_ERR_MISUSE: a slot holds no step.
carom_status cr_rollout_check(const cr_rollout* r, int32_t count, const int32_t* slot,
                              carom_error* error);
// Model and r->back as a kept step found them.
carom_status cr_rollout_recall(cr_rollout* r, const cr_rollout_slot* slot, carom_error* error);
void cr_rollout_lanes_release(cr_rollout* r);
