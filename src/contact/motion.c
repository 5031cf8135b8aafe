#include "contact/motion.h"
#include "core/memory.h"

carom_status cr_motion_init(cr_motion* motion, int32_t frame_count, int32_t node_count)
{
    const size_t f = (size_t)frame_count, n = (size_t)node_count;
    *motion = (cr_motion){.frame_count = frame_count, .node_count = node_count};
    int ok = 1;
    cr_mat3** const turns[] = {&motion->r0, &motion->rp};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        *turns[i] = cr_memory_take(f, sizeof(cr_mat3));
        ok = ok && *turns[i];
    }
    cr_vec3** const frames[] = {
        &motion->t0, &motion->ut,  &motion->turn, &motion->w,      &motion->u,    &motion->guess,
        &motion->v1, &motion->om1, &motion->a,    &motion->torque, &motion->v0,   &motion->om_free,
        &motion->v,  &motion->om,  &motion->spin, &motion->thrust, &motion->twist};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        *frames[i] = cr_memory_take(f, sizeof(cr_vec3));
        ok = ok && *frames[i];
    }
    cr_vec3** const nodes[] = {&motion->x0,    &motion->dt, &motion->d,
                               &motion->drift, &motion->xv, &motion->push};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        *nodes[i] = cr_memory_take(n, sizeof(cr_vec3));
        ok = ok && *nodes[i];
    }
    if (!ok) {
        cr_motion_release(motion);
        return CAROM_ERR_MEMORY;
    }
    return CAROM_OK;
}

void cr_motion_release(cr_motion* motion)
{
    void* const blocks[] = {
        motion->r0, motion->t0,     motion->rp,     motion->ut,      motion->turn,
        motion->w,  motion->u,      motion->guess,  motion->v1,      motion->om1,
        motion->a,  motion->torque, motion->v0,     motion->om_free, motion->v,
        motion->om, motion->spin,   motion->thrust, motion->twist,   motion->x0,
        motion->dt, motion->d,      motion->drift,  motion->xv,      motion->push};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
    *motion = (cr_motion){0};
}
