#include "contact/newton_inside.h"
#include <float.h>
#include <string.h>

// What a locked frame may still turn about: I - sum a a^T over the locked world axes a, seen in the
// frame. Locked translations are single coordinates and need no such thing.
static cr_mat3 free_turn(cr_mat3 rp, int32_t lock)
{
    cr_mat3 p = cr_mat3_identity();
    for (int axis = 0; axis < 3; axis++) {
        if (lock >> (3 + axis) & 1) {
            const cr_vec3 a = cr_mat3_row(rp, axis); // R_p^T e_axis
            p = cr_mat3_add_scaled(p, -1.0, cr_mat3_outer(a, a));
        }
    }
    return p;
}

void cr_newton_setup_lock(const cr_newton_block* block, double* a)
{
    if (block->lock >> 3) {
        cr_vec3_store(a, cr_mat3_apply(block->free_turn, cr_vec3_load(a)));
    }
    for (int axis = 0; axis < 3 && block->lock; axis++) {
        a[3 + axis] = block->lock >> axis & 1 ? 0.0 : a[3 + axis];
    }
}

static carom_status add_frames(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    const cr_body_set* bodies = task->bodies;
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const cr_newton_block block = {
            .frame = f,
            .node = -1,
            .first = newton->n,
            .size = 6,
            .lock = bodies->lock[f],
            .free_turn = free_turn(task->motion->rp[f], bodies->lock[f]),
            .extent = bodies->extent[f],
            .margin = task->carry ? task->carry[bodies->frame_body[f]].reach : 0.0,
            .body = {.r_p = task->motion->rp[f], .r_0 = task->motion->r0[f]}};
        if (!cr_array_push(&newton->block, block)) {
            return CAROM_ERR_MEMORY;
        }
        newton->n += 6;
    }
    return CAROM_OK;
}

static carom_status add_nodes(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        for (int32_t node = task->sheet_node[s]; node < task->sheet_node[s + 1]; node++) {
            const int32_t pinned = task->bodies->node_pinned[node];
            if (!cr_array_push(&newton->node_block, pinned ? -1 : newton->block.count)) {
                return CAROM_ERR_MEMORY;
            }
            const cr_newton_block block = {.frame = -1,
                                           .node = node,
                                           .first = newton->n,
                                           .size = 3,
                                           .margin =
                                               task->node_reach ? task->node_reach[node] : 0.0};
            if (!pinned && !cr_array_push(&newton->block, block)) {
                return CAROM_ERR_MEMORY;
            }
            newton->n += pinned ? 0 : 3;
        }
    }
    return CAROM_OK;
}

static void number_frame(cr_newton* newton, const cr_newton_block* block)
{
    const cr_motion* motion = newton->task->motion;
    const cr_body_set* bodies = newton->task->bodies;
    const int32_t f = block->frame, at = block->first;
    for (int i = 0; i < 3; i++) {
        newton->mass[at + i] = bodies->inertia[3 * f + i];
        newton->mass[at + 3 + i] = bodies->mass[f];
    }
    cr_vec3_store(newton->target + at + 3, motion->ut[f]);
    // the start, seen from the target: r0 = rp exp(w)
    const cr_mat3 back = cr_mat3_tmul(motion->rp[f], motion->r0[f]);
    const cr_vec3 w = cr_quat_to_rotation(cr_quat_from_matrix(back));
    cr_vec3_store(newton->z + at, w);
    cr_vec3_store(newton->d + at, cr_vec3_neg(w));
    cr_vec3_store(newton->d + at + 3, motion->guess[f]);
    cr_newton_setup_lock(block, newton->z + at);
    cr_newton_setup_lock(block, newton->d + at);
    const double turned = block->extent * cr_vec3_norm(motion->turn[f]);
    const double moved = cr_max(cr_vec3_norm(motion->ut[f]), cr_vec3_norm(motion->guess[f]));
    newton->scale = cr_max(newton->scale, cr_max(turned, moved));
    newton->grain =
        cr_max(newton->grain, DBL_EPSILON * (cr_vec3_norm(motion->t0[f]) + block->extent));
}

static carom_status number_blocks(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    const size_t n = (size_t)newton->n;
    if (!cr_array_reserve(&newton->numbers, 6 * newton->n) ||
        !cr_array_reserve(&newton->sizes, newton->block_count)) {
        return CAROM_ERR_MEMORY;
    }
    double** const vectors[] = {&newton->z,    &newton->z_before, &newton->target,
                                &newton->grad, &newton->d,        &newton->mass};
    for (size_t i = 0; i < 6; i++) {
        *vectors[i] = n > 0 ? newton->numbers.items + i * n : NULL;
    }
    if (n > 0) { // a sheet that is pinned everywhere has no unknowns
        memset(newton->numbers.items, 0, sizeof(double) * 6 * n);
    }
    newton->scale = task->h * task->h * cr_vec3_norm(task->gravity);
    newton->grain = 0.0;
    for (int32_t b = 0; b < newton->block_count; b++) {
        const cr_newton_block* block = &newton->block.items[b];
        newton->sizes.items[b] = block->size;
        if (block->frame >= 0) {
            number_frame(newton, block);
            continue;
        }
        for (int i = 0; i < 3; i++) {
            newton->mass[block->first + i] = task->bodies->node_mass[block->node];
        }
        const cr_vec3 aim = task->motion->dt[block->node], drift = task->motion->drift[block->node];
        cr_vec3_store(newton->target + block->first, aim);
        cr_vec3_store(newton->d + block->first, drift);
        newton->scale = cr_max(newton->scale, cr_max(cr_vec3_norm(aim), cr_vec3_norm(drift)));
        newton->grain =
            cr_max(newton->grain, DBL_EPSILON * cr_vec3_norm(task->motion->x0[block->node]));
    }
    return CAROM_OK;
}

static int32_t find_frame(const cr_newton_task* task, int32_t frame)
{
    int32_t low = 0, high = task->frame_count - 1;
    while (low <= high) {
        const int32_t mid = low + (high - low) / 2;
        if (task->frame[mid] == frame) {
            return mid;
        }
        if (task->frame[mid] < frame) {
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return -1;
}

// The block of a node: the member sheets' nodes stand one after another in node_block.
static int32_t find_node(const cr_newton* newton, int32_t node)
{
    const cr_newton_task* task = newton->task;
    int32_t base = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        const int32_t s = task->member_sheet[i];
        const int32_t from = task->sheet_node[s], to = task->sheet_node[s + 1];
        if (node >= from && node < to) {
            return newton->node_block.items[base + node - from];
        }
        base += to - from;
    }
    return -1;
}

static cr_vec3 body_point(const cr_newton_task* task, int32_t body, int32_t vertex)
{
    const int32_t* first = task->bodies->vertex;
    const int32_t like = task->like ? task->like[body] : body;
    return cr_vec3_load(task->bodies->p + 3 * (ptrdiff_t)(vertex - first[body] + first[like]));
}

static void fill_point(const cr_newton* newton, cr_newton_point* point)
{
    const cr_newton_task* task = newton->task;
    const cr_body_set* bodies = task->bodies;
    const cr_motion* motion = task->motion;
    const int32_t body = bodies->vertex_body[point->vertex];
    const int32_t frame = bodies->frame[body], node = bodies->node[point->vertex];
    const int32_t block = frame >= 0 && bodies->kind[body] == CR_BODY_RIGID
                              ? find_frame(task, frame)
                              : (node >= 0 && frame < 0 ? find_node(newton, node) : -1);
    *point = (cr_newton_point){
        .vertex = point->vertex, .block = block, .rigid = block >= 0 && frame >= 0};
    if (point->rigid) {
        point->p = body_point(task, body, point->vertex);
        point->x0 = cr_vec3_add(cr_mat3_apply(motion->r0[frame], point->p), motion->t0[frame]);
    } else if (block >= 0) {
        point->x0 = motion->x0[node];
    } else {
        const cr_vec3 begin = task->obstacle0[point->vertex];
        const cr_vec3 whole = cr_vec3_sub(task->obstacle1[point->vertex], begin);
        point->x0 = cr_vec3_add_scaled(begin, task->from, whole);
        point->given = cr_vec3_scale(task->to - task->from, whole);
    }
}

// Where a vertex is in the table of points, which is at most half full, or the free place it would
// take. What stands where decides nothing.
static uint32_t place_of(const cr_newton* newton, int32_t vertex)
{
    const uint32_t mask = ((uint32_t)1 << newton->place_bits) - 1;
    uint32_t at = ((uint32_t)vertex * 0x9e3779b1u) >> (32 - newton->place_bits);
    while (newton->place.items[at] >= 0 &&
           newton->point.items[newton->place.items[at]].vertex != vertex) {
        at = (at + 1) & mask;
    }
    return at;
}

int32_t cr_newton_setup_point(const cr_newton* newton, int32_t vertex)
{
    return newton->place.items[place_of(newton, vertex)];
}

static int32_t point_of(cr_newton* newton, int32_t vertex)
{
    int32_t* place = &newton->place.items[place_of(newton, vertex)];
    if (*place < 0) {
        *place = newton->point.count;
        newton->point.items[newton->point.count++].vertex = vertex;
    }
    return *place;
}

// Every vertex that a candidate names becomes a point, in the order in which they are named.
static carom_status number_points(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    const int32_t corners = 4 * task->candidate_count, vertices = task->bodies->vertex_count;
    const int32_t most = corners < vertices ? corners : vertices;
    int32_t bits = 4;
    while (bits < 30 && (int64_t)2 * most > (int64_t)1 << bits) {
        bits++;
    }
    if (!cr_array_reserve(&newton->place, 1 << bits) || !cr_array_reserve(&newton->point, most) ||
        !cr_array_reserve(&newton->pair, task->candidate_count)) {
        return CAROM_ERR_MEMORY;
    }
    memset(newton->place.items, -1, sizeof(int32_t) << bits);
    newton->place_bits = bits;
    newton->point.count = 0;
    newton->pair.count = task->candidate_count;
    for (int32_t i = 0; i < task->candidate_count; i++) {
        for (int k = 0; k < 4; k++) {
            const int32_t v = task->candidate[i].pair.v[k];
            newton->pair.items[i].point[k] = v < 0 ? -1 : point_of(newton, v);
        }
    }
    for (int32_t i = 0; i < newton->point.count; i++) {
        fill_point(newton, &newton->point.items[i]);
    }
    return CAROM_OK;
}

// measured: `start` of the candidates is their distance at the iterate.
static void ready_pair(cr_newton* newton, int32_t i, int measured)
{
    const cr_newton_task* task = newton->task;
    const cr_candidate* candidate = &task->candidate[i];
    cr_newton_pair* pair = &newton->pair.items[i];
    const int32_t kind = candidate->pair.kind;
    pair->mover[0] = pair->mover[1] = INT32_MIN;
    pair->skip = pair->straight = 0;
    for (int k = 0; k < 4; k++) {
        if (pair->point[k] < 0) {
            continue;
        }
        const cr_newton_point* point = &newton->point.items[pair->point[k]];
        int32_t* mover = &pair->mover[cr_row_side(kind, k)];
        *mover = *mover == INT32_MIN || *mover == point->block ? point->block : CR_NEWTON_SEVERAL;
        if (task->corner && !task->corner[point->vertex]) {
            pair->skip |= k == 3 && kind != CR_PAIR_EE;
            pair->straight |= (kind == CR_PAIR_EE) << k;
        }
    }
    pair->odometer = 0.0;
    pair->moved = 0.0;
    pair->known = 0;
    pair->seen = measured ? candidate->start : 0.0;
}

static carom_status ready_candidates(cr_newton* newton, int measured)
{
    const carom_status status = number_points(newton);
    newton->given_stride = newton->given_odometer = 0.0;
    for (int32_t i = 0; i < newton->task->candidate_count && status == CAROM_OK; i++) {
        ready_pair(newton, i, measured);
    }
    for (int32_t i = 0; i < newton->point.count && status == CAROM_OK; i++) {
        newton->given_stride =
            cr_max(newton->given_stride, cr_vec3_norm(newton->point.items[i].given));
    }
    return status;
}

carom_status cr_newton_setup(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    newton->block.count = newton->node_block.count = newton->n = 0;
    carom_status status = add_frames(newton);
    if (status == CAROM_OK) {
        status = add_nodes(newton);
    }
    newton->block_count = newton->block.count;
    if (status == CAROM_OK) {
        status = number_blocks(newton);
    }
    if (status == CAROM_OK) {
        status = ready_candidates(newton, task->measured);
    }
    if (status == CAROM_OK) {
        status = cr_newton_sheet_setup(newton);
    }
    newton->along = 0.0;
    newton->stick = task->h * task->friction_speed;
    return status;
}

static void place_points(cr_newton* newton)
{
    for (int32_t i = 0; i < newton->point.count; i++) {
        cr_newton_point* point = &newton->point.items[i];
        if (point->rigid) {
            const cr_row_body* body = &newton->block.items[point->block].body;
            point->x = cr_vec3_add(cr_mat3_apply(body->r, point->p), body->t);
            continue;
        }
        point->moved = point->block < 0
                           ? cr_vec3_scale(newton->along, point->given)
                           : cr_vec3_load(newton->z + newton->block.items[point->block].first);
        point->x = cr_vec3_add(point->x0, point->moved);
    }
}

carom_status cr_newton_setup_renew(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    for (int32_t b = 0; b < newton->block_count; b++) {
        cr_newton_block* block = &newton->block.items[b];
        block->odometer = 0.0;
        block->margin = block->frame >= 0
                            ? task->carry[task->bodies->frame_body[block->frame]].reach
                            : task->node_reach[block->node];
    }
    const carom_status status = ready_candidates(newton, 1);
    if (status == CAROM_OK) {
        place_points(newton);
    }
    return status;
}

void cr_newton_setup_place(cr_newton* newton)
{
    const cr_motion* motion = newton->task->motion;
    for (int32_t b = 0; b < newton->block_count; b++) {
        cr_newton_block* block = &newton->block.items[b];
        if (block->frame >= 0) {
            const double* z = newton->z + block->first;
            cr_row_body_move(&block->body, motion->t0[block->frame], motion->turn[block->frame],
                             cr_vec3_load(z), cr_vec3_load(z + 3));
        }
    }
    place_points(newton);
    cr_newton_sheet_place(newton);
}
