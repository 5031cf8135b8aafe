// How far a step may go.
//
// Between two iterates every vertex goes straight from its old place to its new one. That is a
// motion of the meshes through which nothing may pass, although it is not quite rigid, so what was
// outside stays outside. Where a pair would come too close on it, the blocks that close it get a
// smaller share of their step; a body that gets less of its turn ends beside the straight way, so
// what was shortened is looked at again.
#include "collision/ccd.h"
#include "contact/newton_chunks.h"
#include <string.h>

// A pair from outside its layer may come halfway down in one step; within the layer it keeps this
// much of its height. It stops once at a tenth of the layer, where the barrier is strong enough to
// hold what moves at ordinary speed, so that one long step does not press others into the corner.
static const double enter = 0.5, keep_share = 0.25, keep_width = 0.1, at_stop = 1.001;
// Of the layer's width: nearer to its rim than this a pair neither touches nor does not.
static const double rim = 1e-9;
// Bodies move by no more in one step than twice what they would without forces, or this part of
// their size, and turn by no more than this: farther away the linear model says nothing.
static const double far_free = 2.0, far_size = 0.25;
static const double far_turn = 0.5; // rad
// A side that makes up for less of the closing speed than this is not what closes the pair.
static const double closes = 0.1;
// Looks at shortened steps by pair; after them everything is shortened alike, and after all of
// them nothing moves.
enum { PASSES = 8, MOST_PASSES = 24 };
// Pairs that are looked at together, and the least that are shared: one takes 0.1 to 1 us.
enum { LOOKS = 32, LEAST_LOOKS = 256 };

// How near a pair may come, as a distance.
static double separation(const cr_candidate* candidate, double distance)
{
    const double width = candidate->width, bottom = candidate->thickness - width;
    const double height = distance - bottom;
    const double stop = height > at_stop * keep_width * width ? keep_width * width : 0.0;
    const double keep = height >= width ? enter * width : cr_max(keep_share * height, stop);
    return bottom + keep;
}

// Caps of a block's step by its size, and how far its points then go at most.
static void cap(cr_newton* newton, cr_newton_block* block)
{
    double* d = newton->d + block->first;
    double way = cr_vec3_norm(cr_vec3_load(d + block->size - 3));
    double most = far_free * newton->scale;
    if (block->frame >= 0) {
        const cr_motion* motion = newton->task->motion;
        const cr_vec3 free = cr_vec3_add(motion->guess[block->frame], motion->ut[block->frame]);
        way += cr_vec3_norm(cr_vec3_load(d)) * block->extent;
        most = cr_max(cr_max(most, far_size * block->extent),
                      far_free * (cr_vec3_norm(free) +
                                  cr_vec3_norm(motion->turn[block->frame]) * block->extent));
    } else {
        most = cr_max(most, block->margin);
    }
    block->share = way > most ? most / way : 1.0;
    if (block->frame >= 0 && block->share * cr_vec3_norm(cr_vec3_load(d)) > far_turn) {
        block->share = far_turn / cr_vec3_norm(cr_vec3_load(d));
    }
    for (int32_t i = 0; i < block->size && block->share < 1.0; i++) {
        d[i] *= block->share;
    }
    block->stride = way * block->share;
    block->share = 1.0;
}

static double off_path(const cr_newton* newton, const cr_newton_block* block, const double* z)
{
    const cr_newton_task* task = newton->task;
    const cr_motion* motion = task->motion;
    if (block->frame < 0) {
        const int32_t v = task->bodies->node_vertex[block->node];
        return cr_carry_off_segment(cr_vec3_load(task->start + 3 * (ptrdiff_t)v),
                                    cr_vec3_load(task->ahead + 3 * (ptrdiff_t)v),
                                    cr_vec3_add(motion->x0[block->node], cr_vec3_load(z)));
    }
    const cr_rot rot = cr_rot_make(cr_vec3_load(z));
    const cr_mat3 r = cr_mat3_mul(block->body.r_p, cr_rot_matrix(&rot));
    return cr_carry_off(&task->carry[task->bodies->frame_body[block->frame]], block->extent, r,
                        cr_vec3_add(motion->t0[block->frame], cr_vec3_load(z + 3)));
}

static void trial_z(const cr_newton* newton, const cr_newton_block* block, double out[6])
{
    for (int32_t i = 0; i < block->size; i++) {
        out[i] = newton->z[block->first + i] + block->share * newton->d[block->first + i];
    }
}

// Candidates were searched within the margins alone: no iterate leaves its own.
static void keep_margin(cr_newton* newton, cr_newton_block* block)
{
    double z[6] = {0};
    trial_z(newton, block, z);
    double off = off_path(newton, block, z);
    if (off <= block->margin) {
        return;
    }
    newton->report.over_margin++;
    const double before = off_path(newton, block, newton->z + block->first);
    for (int cut = 0; cut < PASSES && off > block->margin; cut++) {
        const double part = (block->margin - before) / (off - before);
        block->share *= cr_clamp(0.9 * part, 0.0, 0.9);
        trial_z(newton, block, z);
        off = off_path(newton, block, z);
    }
    block->share = off <= block->margin ? block->share : 0.0;
}

// Points at the end of the shortened step.
static void place_trial(cr_newton* newton)
{
    const cr_motion* motion = newton->task->motion;
    int32_t last = -1;
    cr_mat3 r = {{{0}}};
    cr_vec3 t = {0, 0, 0};
    for (int32_t i = 0; i < newton->point.count; i++) {
        cr_newton_point* point = &newton->point.items[i];
        if (point->block < 0) {
            const double along = newton->along + newton->along_share * (1.0 - newton->along);
            point->trial = cr_vec3_add_scaled(point->x0, along, point->given);
            continue;
        }
        const cr_newton_block* block = &newton->block.items[point->block];
        if (!point->rigid) {
            point->trial =
                cr_vec3_add_scaled(point->x, block->share, cr_vec3_load(newton->d + block->first));
            continue;
        }
        if (last != point->block) {
            double z[6] = {0};
            trial_z(newton, block, z);
            const cr_rot rot = cr_rot_make(cr_vec3_load(z));
            r = cr_mat3_mul(block->body.r_p, cr_rot_matrix(&rot));
            t = cr_vec3_add(motion->t0[block->frame], cr_vec3_load(z + 3));
            last = point->block;
        }
        point->trial = cr_vec3_add(cr_mat3_apply(r, point->p), t);
    }
}

static double stride_of(const cr_newton* newton, int32_t block)
{
    return block >= 0 ? newton->block.items[block].stride
                      : (1.0 - newton->along) * newton->given_stride;
}

static double side_stride(const cr_newton* newton, const cr_newton_pair* pair, int32_t kind,
                          int side)
{
    if (pair->mover[side] != CR_NEWTON_SEVERAL) {
        return stride_of(newton, pair->mover[side]);
    }
    double most = 0.0;
    for (int k = 0; k < 4; k++) {
        if (pair->point[k] >= 0 && cr_row_side(kind, k) == side) {
            const int32_t block = newton->point.items[pair->point[k]].block;
            most = cr_max(most, stride_of(newton, block));
        }
    }
    return most;
}

// Whether the whole step could bring a pair too close. One that was not measured here has at least
// the distance that its points have left it.
static int may_close(cr_newton* newton, int32_t i)
{
    const cr_newton_pair* pair = &newton->pair.items[i];
    const cr_candidate* candidate = &newton->task->candidate[i];
    if (pair->skip) {
        return 0;
    }
    const int32_t kind = candidate->pair.kind;
    const double far = side_stride(newton, pair, kind, 0) + side_stride(newton, pair, kind, 1);
    const double bottom = candidate->thickness - (1.0 - enter) * candidate->width;
    const double needs =
        pair->seen < candidate->thickness ? separation(candidate, pair->seen) : bottom;
    return !(pair->seen - pair->moved - far > needs);
}

static carom_status find_close(cr_newton* newton)
{
    const carom_status status = cr_newton_chunks_pick(newton, may_close, &newton->close);
    return status != CAROM_OK || cr_array_reserve(&newton->free, newton->close.count)
               ? status
               : CAROM_ERR_MEMORY;
}

// Along n all of B lies beyond all of A by the distance; when it still does by `apart` at the end
// of straight ways it has done so all along.
static int stays_behind(const cr_newton* newton, const cr_newton_pair* pair, int32_t kind,
                        double apart)
{
    double back = HUGE_VAL, front = -HUGE_VAL;
    for (int k = 0; k < 4; k++) {
        if (pair->point[k] >= 0) {
            const double at = cr_vec3_dot(pair->at.n, newton->point.items[pair->point[k]].trial);
            if (cr_row_side(kind, k)) {
                back = cr_min(back, at);
            } else {
                front = cr_max(front, at);
            }
        }
    }
    return back - front > apart;
}

// Shortens the steps of those blocks that close the pair.
static void shorten(cr_newton* newton, const cr_newton_pair* pair, int32_t kind, double part)
{
    double closing[4] = {0}, most = 0.0;
    for (int k = 0; k < 4; k++) {
        if (pair->point[k] >= 0) {
            const cr_newton_point* point = &newton->point.items[pair->point[k]];
            const double way = cr_vec3_dot(pair->at.n, cr_vec3_sub(point->trial, point->x));
            closing[k] = cr_row_side(kind, k) ? -way : way;
            most = cr_max(most, closing[k]);
        }
    }
    for (int k = 0; k < 4; k++) {
        if (pair->point[k] >= 0 && closing[k] >= closes * most) {
            const int32_t block = newton->point.items[pair->point[k]].block;
            double* cut = block >= 0 ? &newton->block.items[block].cut : &newton->along_cut;
            *cut = cr_min(*cut, part);
        }
    }
}

// How much of the shortened step a pair leaves.
static double free_share(cr_newton* newton, int32_t i)
{
    cr_newton_pair* pair = &newton->pair.items[i];
    const cr_candidate* candidate = &newton->task->candidate[i];
    const int32_t kind = candidate->pair.kind;
    cr_vec3 x0[4] = {0}, x1[4] = {0};
    for (int k = 0; k < 4; k++) {
        if (pair->point[k] >= 0) {
            x0[k] = newton->point.items[pair->point[k]].x;
            x1[k] = newton->point.items[pair->point[k]].trial;
        }
    }
    if (pair->moved > 0.0 || !pair->known) {
        pair->at = cr_distance_closest(kind, x0);
        cr_newton_hits_measured(newton, pair);
    }
    const double apart = separation(candidate, pair->seen);
    return stays_behind(newton, pair, kind, apart) ? 1.0 : cr_ccd_free(kind, x0, x1, apart);
}

static void look_at_pairs(cr_newton* newton, int32_t begin, int32_t end)
{
    for (int32_t k = begin; k < end; k++) {
        newton->free.items[k] = free_share(newton, newton->close.items[k]);
    }
}

static void check_pairs(cr_newton* newton)
{
    cr_newton_chunks_run(newton, newton->close.count, LOOKS, LEAST_LOOKS, look_at_pairs);
    for (int32_t k = 0; k < newton->close.count; k++) {
        const int32_t i = newton->close.items[k];
        if (newton->free.items[k] < 1.0) {
            shorten(newton, &newton->pair.items[i], newton->task->candidate[i].pair.kind,
                    newton->free.items[k]);
        }
    }
}

static int apply_cuts(cr_newton* newton, int pass)
{
    double least = newton->along_cut;
    for (int32_t b = 0; b < newton->block_count; b++) {
        least = cr_min(least, newton->block.items[b].cut);
    }
    if (least >= 1.0) {
        return 0;
    }
    const int alike = pass >= PASSES, none = pass + 1 >= MOST_PASSES;
    for (int32_t b = 0; b < newton->block_count; b++) {
        cr_newton_block* block = &newton->block.items[b];
        block->share *= none ? 0.0 : alike ? cr_min(least, 0.5) : block->cut;
        block->cut = 1.0;
    }
    newton->along_share *= none ? 0.0 : alike ? cr_min(least, 0.5) : newton->along_cut;
    newton->along_cut = 1.0;
    return 1;
}

static int leaves_margin(const cr_newton* newton)
{
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        double z[6] = {0};
        trial_z(newton, block, z);
        if (!(off_path(newton, block, z) <= block->margin)) {
            return 1;
        }
    }
    return 0;
}

// Candidates along the step from z to z + d.
static carom_status query(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        const double* z = newton->z + block->first;
        double end[6] = {0};
        trial_z(newton, block, end);
        if (block->frame < 0) {
            task->motion->d[block->node] = cr_vec3_load(z);
            cr_vec3_store(task->node_wish + 3 * (ptrdiff_t)block->node,
                          cr_vec3_add(task->motion->x0[block->node], cr_vec3_load(end)));
            continue;
        }
        const cr_rot rot = cr_rot_make(cr_vec3_load(end));
        task->motion->w[block->frame] = cr_vec3_load(z);
        task->motion->u[block->frame] = cr_vec3_load(z + 3);
        task->wish[block->frame].r1 = cr_mat3_mul(block->body.r_p, cr_rot_matrix(&rot));
        task->wish[block->frame].t1 =
            cr_vec3_add(task->motion->t0[block->frame], cr_vec3_load(end + 3));
    }
    newton->report.queries++;
    const carom_status status = task->query(task->user, newton->along);
    return status == CAROM_OK ? cr_newton_setup_renew(newton) : status;
}

static void shorten_all(cr_newton* newton)
{
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        place_trial(newton);
        check_pairs(newton);
        if (!apply_cuts(newton, pass)) {
            break;
        }
    }
}

void cr_newton_bound_alike(cr_newton* newton, double share)
{
    for (int32_t b = 0; b < newton->block_count; b++) {
        cr_newton_block* block = &newton->block.items[b];
        block->share = cr_min(share, block->share);
    }
    newton->along_share = cr_min(share, newton->along_share);
    shorten_all(newton);
}

void cr_newton_bound_halve(cr_newton* newton)
{
    for (int32_t b = 0; b < newton->block_count; b++) {
        newton->block.items[b].share *= 0.5;
    }
    newton->along_share *= 0.5;
}

carom_status cr_newton_bound(cr_newton* newton, double* least)
{
    newton->along_share = newton->along_cut = 1.0;
    for (int32_t b = 0; b < newton->block_count; b++) {
        cap(newton, &newton->block.items[b]);
    }
    if (leaves_margin(newton)) {
        if (!newton->task->query) {
            newton->report.over_margin++;
            return CAROM_ERR_NO_CONVERGENCE;
        }
        const carom_status status = query(newton);
        if (status != CAROM_OK) {
            return status;
        }
    }
    for (int32_t b = 0; b < newton->block_count; b++) {
        newton->block.items[b].cut = 1.0;
        keep_margin(newton, &newton->block.items[b]);
    }
    const carom_status status = find_close(newton);
    if (status != CAROM_OK) {
        return status;
    }
    shorten_all(newton);
    *least = newton->along < 1.0 ? newton->along_share : 1.0;
    for (int32_t b = 0; b < newton->block_count; b++) {
        *least = cr_min(*least, newton->block.items[b].share);
    }
    return CAROM_OK;
}

void cr_newton_bound_move(cr_newton* newton)
{
    for (int32_t b = 0; b < newton->block_count; b++) {
        cr_newton_block* block = &newton->block.items[b];
        for (int32_t i = block->first; i < block->first + block->size; i++) {
            newton->z[i] = newton->z_before[i] + block->share * newton->d[i];
        }
        block->odometer += block->stride;
    }
    newton->given_odometer += (1.0 - newton->along_before) * newton->given_stride;
    newton->along = newton->along_before + newton->along_share * (1.0 - newton->along_before);
}

void cr_newton_bound_return(cr_newton* newton)
{
    memcpy(newton->z, newton->z_before, sizeof(double) * (size_t)newton->n);
    newton->along = newton->along_before;
    for (int32_t b = 0; b < newton->block_count; b++) {
        newton->block.items[b].odometer += newton->block.items[b].stride;
    }
    newton->given_odometer += (1.0 - newton->along_before) * newton->given_stride;
}

int32_t cr_newton_bound_grazes(const cr_newton* newton)
{
    int32_t count = 0;
    for (int32_t i = 0; i < newton->pair.count; i++) {
        const cr_newton_pair* pair = &newton->pair.items[i];
        const cr_candidate* c = &newton->task->candidate[i];
        count += !pair->skip && fabs(pair->seen - c->thickness) <= rim * c->width;
    }
    return count;
}

double cr_newton_bound_gap(const cr_newton* newton)
{
    double least = HUGE_VAL;
    for (int32_t i = 0; i < newton->pair.count; i++) {
        const double thickness = newton->task->candidate[i].thickness;
        if (!newton->pair.items[i].skip) {
            least = cr_min(least, newton->pair.items[i].seen - thickness);
        }
    }
    return least;
}
