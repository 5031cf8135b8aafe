#include "contact/motion.h"
#include "core/memory.h"

carom_status cr_motion_init(cr_motion* motion, int32_t frame_count, int32_t node_count)
{
    const size_t f = (size_t)frame_count, n = (size_t)node_count;
    *motion = (cr_motion){.frame_count = frame_count, .node_count = node_count};
    motion->r0 = cr_memory_take(f, sizeof(cr_mat3));
    motion->t0 = cr_memory_take(f, sizeof(cr_vec3));
    motion->rp = cr_memory_take(f, sizeof(cr_mat3));
    motion->ut = cr_memory_take(f, sizeof(cr_vec3));
    motion->turn = cr_memory_take(f, sizeof(cr_vec3));
    motion->w = cr_memory_take(f, sizeof(cr_vec3));
    motion->u = cr_memory_take(f, sizeof(cr_vec3));
    motion->guess = cr_memory_take(f, sizeof(cr_vec3));
    motion->v1 = cr_memory_take(f, sizeof(cr_vec3));
    motion->om1 = cr_memory_take(f, sizeof(cr_vec3));
    motion->a = cr_memory_take(f, sizeof(cr_vec3));
    motion->torque = cr_memory_take(f, sizeof(cr_vec3));
    motion->x0 = cr_memory_take(n, sizeof(cr_vec3));
    motion->dt = cr_memory_take(n, sizeof(cr_vec3));
    motion->d = cr_memory_take(n, sizeof(cr_vec3));
    motion->drift = cr_memory_take(n, sizeof(cr_vec3));
    if (!motion->r0 || !motion->t0 || !motion->rp || !motion->ut || !motion->turn || !motion->w ||
        !motion->u || !motion->guess || !motion->v1 || !motion->om1 || !motion->a ||
        !motion->torque || !motion->x0 || !motion->dt || !motion->d || !motion->drift) {
        cr_motion_release(motion);
        return CAROM_ERR_MEMORY;
    }
    return CAROM_OK;
}

void cr_motion_release(cr_motion* motion)
{
    void* const blocks[] = {motion->r0,   motion->t0,  motion->rp, motion->ut,
                            motion->turn, motion->w,   motion->u,  motion->guess,
                            motion->v1,   motion->om1, motion->a,  motion->torque,
                            motion->x0,   motion->dt,  motion->d,  motion->drift};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
    *motion = (cr_motion){0};
}

cr_vec3 cr_motion_start(const cr_motion* motion, const cr_body_set* bodies, int32_t vertex)
{
    const int32_t node = bodies->node[vertex];
    if (node >= 0) {
        return motion->x0[node];
    }
    const int32_t f = bodies->frame[bodies->vertex_body[vertex]];
    return cr_vec3_add(cr_mat3_apply(motion->r0[f], cr_vec3_load(bodies->p + 3 * vertex)),
                       motion->t0[f]);
}

cr_vec3 cr_motion_target(const cr_motion* motion, const cr_body_set* bodies, int32_t vertex)
{
    const int32_t node = bodies->node[vertex];
    if (node >= 0) {
        return cr_vec3_add(motion->x0[node], motion->dt[node]);
    }
    const int32_t f = bodies->frame[bodies->vertex_body[vertex]];
    const cr_vec3 arm = cr_mat3_apply(motion->rp[f], cr_vec3_load(bodies->p + 3 * vertex));
    return cr_vec3_add(arm, cr_vec3_add(motion->t0[f], motion->ut[f]));
}
