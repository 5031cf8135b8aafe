// Which candidates are contacts, and how often each counts.
//
// The force on a face must not hang on how it is cut into triangles. Of a side that keeps its shape
// a pair therefore counts only where it is a local minimum of the distance on that side: not where
// its closest point lies on an edge over whose other face it would be nearer, nor at a vertex with
// an edge along which it would be. Pairs that measure the same two sub-features are one row.
// Vertices inside flat patches and straight edges do not count at all, and of two edges only
// closest points inside both. A sheet bends, and a slight valley would be one contact or two by
// turns: there every pair counts by itself, continuously.
#include "contact/barrier.h"
#include "contact/newton_inside.h"
#include "contact/parallel_edges.h"
#include "core/order.h"

// A closest point within this share of an edge or triangle of its border is on that border: on the
// diagonal of a flat side both triangles then name the same edge, whatever the rounding.
static const double border = 1e-9;

// The lowest place in the layer that has a force of its own. Iterates stay above the bottom; what
// is given below it is pushed out with this one's.
static const double deepest = 1e-9;

// The sub-feature, as cr_closest.active has it.
static int32_t sub_feature(const cr_closest* at)
{
    int32_t active = 0;
    for (int k = 0; k < 4; k++) {
        active |= (fabs(at->c[k]) > border) << k;
    }
    return active;
}

// Whether y is nearer to the face over the edge ab than to the edge: its foot lies inside, seen
// from the edge, o being the face's third vertex.
static int over_face(cr_vec3 a, cr_vec3 b, cr_vec3 o, cr_vec3 y)
{
    const cr_vec3 e = cr_vec3_sub(b, a), to = cr_vec3_sub(o, a), r = cr_vec3_sub(y, a);
    const double ee = cr_vec3_norm2(e);
    const cr_vec3 in = cr_vec3_add_scaled(to, -cr_vec3_dot(to, e) / ee, e);
    return cr_vec3_dot(r, in) > border * cr_vec3_norm2(in);
}

// Whether a vertex v of a whole side, which y is nearest to, is a minimum: no edge from it leads
// nearer.
static int vertex_stands(const cr_newton* newton, int32_t mover, int32_t v, cr_vec3 x, cr_vec3 y)
{
    const cr_newton_task* task = newton->task;
    const cr_vec3 r = cr_vec3_sub(y, x);
    for (int32_t i = task->adjacency->start[v]; i < task->adjacency->start[v + 1]; i++) {
        const int32_t* corner = task->surface->face + 3 * (ptrdiff_t)task->adjacency->face[i];
        for (int k = 0; k < 3; k++) {
            if (corner[k] != v) {
                const cr_vec3 e = cr_vec3_sub(cr_newton_setup_vertex(newton, corner[k], mover), x);
                if (cr_vec3_dot(r, e) > border * cr_vec3_norm2(e)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

static int edge_stands(const cr_newton* newton, int32_t mover, const int32_t v[2],
                       const cr_vec3 x[2], cr_vec3 y)
{
    const cr_newton_task* task = newton->task;
    for (int32_t i = task->adjacency->start[v[0]]; i < task->adjacency->start[v[0] + 1]; i++) {
        const int32_t* corner = task->surface->face + 3 * (ptrdiff_t)task->adjacency->face[i];
        int32_t other = -1, shared = 0;
        for (int k = 0; k < 3; k++) {
            shared += corner[k] == v[0] || corner[k] == v[1];
            other = corner[k] == v[0] || corner[k] == v[1] ? other : corner[k];
        }
        if (shared == 2 && over_face(x[0], x[1], cr_newton_setup_vertex(newton, other, mover), y)) {
            return 0;
        }
    }
    return 1;
}

// Of a point and a whole triangle or edge: whether the closest point is a minimum on that side.
static int stands(const cr_newton* newton, const cr_newton_pair* pair, const cr_pair* features,
                  int32_t active)
{
    int32_t v[3], count = 0;
    cr_vec3 x[3];
    for (int k = 0; k < 3; k++) {
        if (active >> k & 1) {
            v[count] = features->v[k];
            x[count++] = newton->point.items[pair->point[k]].x;
        }
    }
    const cr_vec3 y = newton->point.items[pair->point[3]].x;
    return count == 3 || (count == 2 ? edge_stands(newton, pair->mover[0], v, x, y)
                                     : vertex_stands(newton, pair->mover[0], v[0], x[0], y));
}

static double odometer(const cr_newton* newton, const cr_newton_pair* pair)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        const int32_t mover = pair->mover[side];
        sum += mover >= 0                 ? newton->block.items[mover].odometer
               : mover == CR_NEWTON_GIVEN ? newton->given_odometer
                                          : 0.0;
    }
    for (int k = 0; k < 4; k++) {
        if (pair->point[k] >= 0) {
            const int side =
                cr_row_side(newton->task->candidate[pair - newton->pair.items].pair.kind, k);
            const int32_t block = newton->point.items[pair->point[k]].block;
            if (pair->mover[side] == CR_NEWTON_SEVERAL) {
                sum += block >= 0 ? newton->block.items[block].odometer : newton->given_odometer;
            }
        }
    }
    return sum;
}

void cr_newton_rows_measured(const cr_newton* newton, cr_newton_pair* pair)
{
    pair->seen = pair->at.distance;
    pair->odometer = odometer(newton, pair);
    pair->moved = 0.0;
    pair->known = 1;
}

// Measures the pair unless it cannot have come within its thickness since it was measured last.
static int is_near(cr_newton* newton, int32_t i)
{
    cr_newton_pair* pair = &newton->pair.items[i];
    const cr_candidate* candidate = &newton->task->candidate[i];
    pair->moved = odometer(newton, pair) - pair->odometer;
    if (pair->seen - pair->moved > candidate->thickness) {
        return 0;
    }
    cr_vec3 x[4] = {0};
    for (int k = 0; k < 4; k++) {
        if (pair->point[k] >= 0) {
            x[k] = newton->point.items[pair->point[k]].x;
        }
    }
    pair->at = cr_distance_closest(candidate->pair.kind, x);
    cr_newton_rows_measured(newton, pair);
    return pair->seen < candidate->thickness;
}

static int32_t count_bits(int32_t bits)
{
    return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3 & 1);
}

// Whether a pair within its thickness is a contact, and as which one.
static int becomes_hit(const cr_newton* newton, int32_t i, cr_newton_hit* hit)
{
    const cr_newton_pair* pair = &newton->pair.items[i];
    const cr_pair* features = &newton->task->candidate[i].pair;
    const int32_t active = sub_feature(&pair->at);
    const int whole = pair->whole[0] && pair->whole[1];
    if (pair->skip) {
        return 0;
    }
    if (features->kind == CR_PAIR_EE && whole && count_bits(active) < 4) {
        return 0;
    }
    if (features->kind == CR_PAIR_PT && pair->whole[0] && !stands(newton, pair, features, active)) {
        return 0;
    }
    hit->key = cr_candidate_key(features, active);
    hit->pair = i;
    hit->merges = pair->whole[0] && (whole || features->kind != CR_PAIR_EE);
    return 1;
}

static int hit_before(const cr_newton_hit* a, const cr_newton_hit* b)
{
    const int order = cr_candidate_compare_keys(&a->key, &b->key);
    return order < 0 || (order == 0 && a->merges > b->merges);
}

CR_ORDER_DEFINE(sort_hits, cr_newton_hit, hit_before)

static int same_row(const cr_newton_hit* a, const cr_newton_hit* b)
{
    return a->merges && b->merges && cr_candidate_compare_keys(&a->key, &b->key) == 0;
}

static carom_status find_hits(cr_newton* newton)
{
    newton->hit.count = 0;
    for (int32_t i = 0; i < newton->pair.count; i++) {
        cr_newton_hit hit;
        if (is_near(newton, i) && becomes_hit(newton, i, &hit) &&
            !cr_array_push(&newton->hit, hit)) {
            return CAROM_ERR_MEMORY;
        }
    }
    const int32_t count = newton->hit.count;
    if (!cr_array_reserve(&newton->hit, 2 * count)) {
        return CAROM_ERR_MEMORY;
    }
    if (count > 1) {
        sort_hits(newton->hit.items, newton->hit.items + count, count);
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        if (kept == 0 || !same_row(&newton->hit.items[i], &newton->hit.items[kept - 1])) {
            newton->hit.items[kept++] = newton->hit.items[i];
        }
    }
    newton->hit.count = kept;
    return CAROM_OK;
}

// Where the key stands in a list of items that begin with a key, ascending; NULL: nowhere.
static const void* find_key(const cr_contact_key* key, const void* items, int32_t count,
                            size_t stride)
{
    int32_t low = 0, high = count - 1;
    while (low <= high) {
        const int32_t mid = low + (high - low) / 2;
        const void* at = (const char*)items + (size_t)mid * stride;
        const int order = cr_candidate_compare_keys(key, at);
        if (order == 0) {
            return at;
        }
        if (order < 0) {
            high = mid - 1;
        } else {
            low = mid + 1;
        }
    }
    return NULL;
}

// Friction directions are kept under their key as what the side of its first vertex feels: pairs
// that name the same sub-features may take them the other way round. 1 or -1.
static double key_sign(const cr_newton* newton, int32_t pair, const cr_contact_key* key)
{
    const cr_pair* features = &newton->task->candidate[pair].pair;
    int k = 0;
    while (k < 3 && features->v[k] != key->v[0]) {
        k++;
    }
    return cr_row_side(features->kind, k) ? 1.0 : -1.0;
}

// A contact that was there keeps its friction direction; a new one begins with that of its slip.
static cr_vec3 find_dual(const cr_newton* newton, const cr_newton_row* row)
{
    const cr_newton_task* task = newton->task;
    if (newton->first_collect) {
        const cr_contact_memory* memory =
            find_key(&row->key, task->warm, task->warm_count, sizeof *task->warm);
        return memory ? cr_vec3_scale(row->sign, memory->dual) : row->slip.s;
    }
    const cr_newton_dual* dual =
        find_key(&row->key, newton->dual.items, newton->dual.count, sizeof *newton->dual.items);
    return dual ? cr_vec3_scale(row->sign, dual->dual) : row->slip.s;
}

// How much nearly parallel edges fade hangs on all four points, whichever are the closest.
static void shape_row(const cr_newton* newton, cr_newton_row* row)
{
    const cr_newton_task* task = newton->task;
    const cr_candidate* candidate = &task->candidate[row->pair];
    const cr_newton_pair* pair = &newton->pair.items[row->pair];
    cr_row_point point[CR_ROW_POINTS] = {0};
    cr_vec3 x[CR_ROW_POINTS] = {0};
    for (int k = 0; k < 4; k++) {
        if (pair->point[k] >= 0) {
            const cr_newton_point* of = &newton->point.items[pair->point[k]];
            x[k] = of->x;
            point[k] =
                (cr_row_point){.body = of->rigid ? &newton->block.items[of->block].body : NULL,
                               .block = of->block,
                               .p = of->p,
                               .start = of->x0,
                               .u = of->moved};
        }
    }
    row->fades = candidate->pair.kind == CR_PAIR_EE && cr_parallel_edges_fade(x);
    row->weight = row->fades ? cr_parallel_edges_make(x).m : 1.0;
    cr_row_make_of(&row->at, candidate->pair.kind, &pair->at, row->fades ? 15 : pair->at.active,
                   point, candidate->lever);
}

static void fill_row(const cr_newton* newton, const cr_newton_hit* hit, cr_newton_row* row)
{
    const cr_newton_task* task = newton->task;
    const cr_candidate* candidate = &task->candidate[hit->pair];
    const cr_newton_pair* pair = &newton->pair.items[hit->pair];
    row->key = hit->key;
    row->pair = hit->pair;
    row->merges = hit->merges;
    row->gap = pair->at.distance - candidate->thickness;
    row->mu = candidate->friction;
    row->sign = key_sign(newton, hit->pair, &hit->key);
    shape_row(newton, row);
    const double hh = task->h * task->h;
    const double s = cr_max(1.0 + row->gap / candidate->width, deepest);
    const cr_barrier law = cr_barrier_at(candidate->stiffness, candidate->width, s);
    row->load = hh * law.force;
    row->lam = row->weight * row->load;
    row->stiff = hh * row->weight * law.slope;
    row->energy = hh * law.energy;
    if (row->mu > 0.0) {
        cr_row_slip_make(&row->slip, &row->at, newton->stick);
        row->dual = find_dual(newton, row);
    } else {
        row->dual = (cr_vec3){0, 0, 0};
    }
}

carom_status cr_newton_rows_collect(cr_newton* newton)
{
    const carom_status status = find_hits(newton);
    if (status != CAROM_OK || !cr_array_reserve(&newton->row, newton->hit.count)) {
        return status != CAROM_OK ? status : CAROM_ERR_MEMORY;
    }
    newton->row.count = newton->hit.count;
    for (int32_t i = 0; i < newton->hit.count; i++) {
        fill_row(newton, &newton->hit.items[i], &newton->row.items[i]);
    }
    newton->first_collect = 0;
    return CAROM_OK;
}

// Every candidate is a row, at the end of a step that was solved: nothing is decided again.
carom_status cr_newton_rows_recall(cr_newton* newton)
{
    const int32_t count = newton->pair.count;
    if (!cr_array_reserve(&newton->row, count)) {
        return CAROM_ERR_MEMORY;
    }
    newton->row.count = count;
    newton->first_collect = 1;
    for (int32_t i = 0; i < count; i++) {
        cr_newton_pair* pair = &newton->pair.items[i];
        const cr_pair* features = &newton->task->candidate[i].pair;
        cr_vec3 x[4] = {0};
        for (int k = 0; k < 4; k++) {
            if (pair->point[k] >= 0) {
                x[k] = newton->point.items[pair->point[k]].x;
            }
        }
        pair->at = cr_distance_closest(features->kind, x);
        const cr_newton_hit hit = {.key = cr_candidate_key(features, sub_feature(&pair->at)),
                                   .pair = i};
        fill_row(newton, &hit, &newton->row.items[i]);
    }
    return CAROM_OK;
}

// The row's part of a vector over all unknowns.
static void gather(const cr_newton* newton, const cr_row* row, const double* from,
                   double out[CR_ROW_DOFS])
{
    for (int32_t b = 0; b < row->block_count; b++) {
        for (int32_t k = 0; k < row->size[b]; k++) {
            out[row->offset[b] + k] = from[newton->block.items[row->block[b]].first + k];
        }
    }
}

// The change of the slip for a step d of the row's unknowns, its contact point and normal held.
static cr_vec3 slip_change(const cr_row* row, const double d[CR_ROW_DOFS])
{
    cr_vec3 sum = {0, 0, 0};
    for (int32_t b = 0; b < row->block_count; b++) {
        const double* at = d + row->offset[b];
        if (row->size[b] == 6) {
            const cr_vec3 turn = cr_mat3_apply(row->body[b]->jth, cr_vec3_load(at));
            const cr_vec3 arm = cr_vec3_add_scaled(row->arm_sum[b], -row->lever[b], row->at.n);
            sum = cr_vec3_add(sum, cr_vec3_cross(turn, arm));
            at += 3;
        }
        if (row->size[b] > 0) {
            sum = cr_vec3_add_scaled(sum, row->share[b], cr_vec3_load(at));
        }
    }
    return cr_vec3_add_scaled(sum, -cr_vec3_dot(sum, row->at.n), row->at.n);
}

// With psi(|t|) = 1/weight the friction direction w solves psi w = t, and to first order
//     w+ = weight (t + dt - psi' (t/|t| . dt) w).
static cr_vec3 predicted(const cr_newton* newton, const cr_newton_row* row, cr_vec3 dt)
{
    const cr_row_slip* slip = &row->slip;
    const double size = cr_vec3_norm(slip->tau);
    const double psi = 1.0 / slip->weight, e = newton->stick;
    const double rate = size >= e ? 1.0 : psi * psi / (e * e);
    const double along = size > 0.0 ? cr_vec3_dot(slip->tau, dt) / size : 0.0;
    cr_vec3 w = cr_vec3_add(slip->tau, dt);
    w = cr_vec3_scale(slip->weight, cr_vec3_add_scaled(w, -rate * along, row->dual));
    const double length = cr_vec3_norm(w);
    return length > 1.0 ? cr_vec3_scale(1.0 / length, w) : w;
}

carom_status cr_newton_rows_predict(cr_newton* newton)
{
    newton->dual.count = 0;
    if (!cr_array_reserve(&newton->dual, newton->base.count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < newton->base.count; i++) {
        const cr_newton_row* row = &newton->base.items[i];
        if (!(row->mu > 0.0)) {
            continue;
        }
        double d[CR_ROW_DOFS] = {0};
        gather(newton, &row->at, newton->d, d);
        double share = 1.0;
        for (int32_t b = 0; b < row->at.block_count; b++) {
            if (row->at.size[b] > 0) {
                share = cr_min(share, newton->block.items[row->at.block[b]].share);
            }
        }
        const cr_vec3 w = predicted(newton, row, slip_change(&row->at, d));
        const cr_vec3 taken = cr_vec3_add_scaled(row->dual, share, cr_vec3_sub(w, row->dual));
        newton->dual.items[newton->dual.count++] =
            (cr_newton_dual){row->key, cr_vec3_scale(row->sign, taken)};
    }
    return CAROM_OK;
}

double cr_newton_rows_energy(const cr_newton* newton)
{
    double sum = 0.0;
    for (int32_t i = 0; i < newton->row.count; i++) {
        sum += newton->row.items[i].weight * newton->row.items[i].energy;
    }
    return sum;
}

// mu lam times the integral of the smoothed direction: |t| - e/3 sliding, t^2/e - |t|^3/(3 e^2)
// below e.
double cr_newton_rows_friction(const cr_newton* newton, const cr_newton_rows* rows, double share)
{
    const double e = newton->stick;
    double sum = 0.0;
    for (int32_t i = 0; i < rows->count; i++) {
        const cr_newton_row* row = &rows->items[i];
        if (!(row->mu > 0.0)) {
            continue;
        }
        double d[CR_ROW_DOFS] = {0};
        gather(newton, &row->at, newton->d, d);
        for (int32_t b = 0; b < row->at.block_count; b++) {
            for (int32_t k = 0; k < row->at.size[b]; k++) {
                d[row->at.offset[b] + k] *= newton->block.items[row->at.block[b]].share;
            }
        }
        const cr_vec3 t = cr_vec3_add_scaled(row->slip.tau, share, slip_change(&row->at, d));
        const double size = cr_vec3_norm(t);
        sum += row->mu * row->lam *
               (size >= e ? size - e / 3.0 : size * size * (1.0 - size / (3.0 * e)) / e);
    }
    return sum;
}

void cr_newton_rows_keep_base(cr_newton* newton)
{
    const cr_newton_rows now = newton->row;
    newton->row = newton->base;
    newton->base = now;
}

carom_status cr_newton_rows_keep(cr_newton* newton)
{
    newton->contact.count = 0;
    for (int32_t i = 0; i < newton->row.count; i++) {
        const cr_newton_row* row = &newton->row.items[i];
        const cr_newton_pair* pair = &newton->pair.items[row->pair];
        cr_vec3 a = {0, 0, 0}, b = {0, 0, 0};
        for (int k = 0; k < 4; k++) {
            if (row->at.at.active >> k & 1) {
                const cr_vec3 x = newton->point.items[pair->point[k]].x;
                cr_vec3* side = cr_row_side(row->at.kind, k) ? &b : &a;
                *side = cr_vec3_add_scaled(*side, row->at.at.c[k], x);
            }
        }
        const double* lever = newton->task->candidate[row->pair].lever;
        const double reach = lever[0] + lever[1] > 0.0 ? lever[0] / (lever[0] + lever[1]) : 0.5;
        const cr_newton_contact contact = {
            .candidate = row->pair,
            .key = row->key,
            .at = row->at.at,
            .gap = row->gap,
            .lam = row->lam,
            .place = cr_vec3_add(cr_vec3_scale(reach - 1.0, a), cr_vec3_scale(reach, b)),
            .dual = row->slip.s,
            .sign = row->sign};
        if (!cr_array_push(&newton->contact, contact)) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}
