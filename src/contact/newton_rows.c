// The contacts of an iterate as rows: forces, friction directions and their prediction.
#include "contact/barrier.h"
#include "contact/newton_chunks.h"
#include "contact/newton_rub.h"
#include "contact/parallel_edges.h"

// The lowest place in the layer that has a force of its own. Iterates stay above the bottom; what
// is given below it is pushed out with this one's.
static const double deepest = 1e-9;

// The cosine between the normals of two contacts of which one carries the other on.
static const double same_way = 0.5;

// Rows of a chunk, and the least that are shared: one takes about half a microsecond.
enum { ROWS = 16, LEAST_ROWS = 160 };

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

// Links of the rows that have a point, for all points.
static carom_status link_duals(cr_newton* newton)
{
    if (!cr_array_reserve(&newton->chain, newton->point.count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < newton->point.count; i++) {
        newton->chain.items[i] = -1;
    }
    for (int32_t i = newton->dual.count - 1; i >= 0; i--) {
        cr_newton_dual* dual = &newton->dual.items[i];
        for (int k = 0; k < 4 && dual->key.v[k] >= 0; k++) {
            const int32_t point = cr_newton_setup_point(newton, dual->key.v[k]);
            if (point >= 0) {
                dual->next[k] = newton->chain.items[point];
                newton->chain.items[point] = 4 * i + k;
            }
        }
    }
    newton->linked = 1;
    return CAROM_OK;
}

static int32_t count_shared(const int32_t a[4], const int32_t b[4])
{
    int32_t shared = 0;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            shared += a[i] >= 0 && a[i] == b[j];
        }
    }
    return shared;
}

// The row of the iterate before that shares most vertices with this one, two at least, and pushes
// about the same way: where the closest point slides over the border of a face or edge, what was
// felt on one side goes on on the other.
static const cr_newton_dual* find_neighbour(const cr_newton* newton, const cr_newton_row* row)
{
    const cr_newton_dual* best = NULL;
    int32_t most = 1;
    for (int k = 0; k < 4 && row->key.v[k] >= 0; k++) {
        int32_t link = newton->chain.items[cr_newton_setup_point(newton, row->key.v[k])];
        while (link >= 0) {
            const cr_newton_dual* dual = &newton->dual.items[link / 4];
            const int32_t shared = count_shared(row->key.v, dual->key.v);
            if ((shared > most || (shared == most && best && dual < best)) &&
                fabs(cr_vec3_dot(dual->n, row->at.at.n)) > same_way) {
                best = dual;
                most = shared;
            }
            link = dual->next[link % 4];
        }
    }
    return best;
}

// The normal may have turned since.
static void turn_dual(cr_newton_row* row, cr_vec3 w)
{
    const cr_vec3 n = row->at.at.n;
    row->dual = cr_vec3_add_scaled(w, -cr_vec3_dot(w, n), n);
}

// A contact that was there keeps its friction direction; a new one begins with its neighbour's, or
// with that of its slip.
static carom_status find_dual(cr_newton* newton, cr_newton_row* row)
{
    const cr_newton_task* task = newton->task;
    if (newton->first_collect) {
        const cr_contact_memory* memory =
            find_key(&row->key, task->warm, task->warm_count, sizeof *task->warm);
        turn_dual(row, memory ? cr_vec3_scale(row->sign, memory->dual) : row->slip.s);
        return CAROM_OK;
    }
    const cr_newton_dual* dual =
        find_key(&row->key, newton->dual.items, newton->dual.count, sizeof *newton->dual.items);
    if (dual) {
        turn_dual(row, cr_vec3_scale(row->sign, dual->dual));
        return CAROM_OK;
    }
    if (!newton->linked && link_duals(newton) != CAROM_OK) {
        return CAROM_ERR_MEMORY;
    }
    dual = find_neighbour(newton, row);
    const double sign = dual && cr_vec3_dot(dual->n, row->at.at.n) < 0.0 ? -1.0 : 1.0;
    turn_dual(row, dual ? cr_vec3_scale(sign, dual->dual) : row->slip.s);
    return CAROM_OK;
}

static cr_row_point row_point(const cr_newton* newton, int32_t index)
{
    const cr_newton_point* of = &newton->point.items[index];
    return (cr_row_point){.body = of->rigid ? &newton->block.items[of->block].body : NULL,
                          .block = of->block,
                          .p = of->p,
                          .start = of->x0,
                          .u = of->moved};
}

void cr_newton_rows_shape(const cr_newton* newton, int32_t pair, int32_t points, int32_t unknowns,
                          cr_row* out)
{
    const cr_candidate* candidate = &newton->task->candidate[pair];
    const cr_newton_pair* of = &newton->pair.items[pair];
    cr_row_point point[CR_ROW_POINTS] = {0};
    cr_vec3 x[CR_ROW_POINTS];
    cr_newton_hits_points(newton, of, x);
    for (int k = 0; k < CR_ROW_POINTS; k++) {
        if (of->point[k] >= 0) {
            point[k] = row_point(newton, of->point[k]);
        }
    }
    cr_closest at = of->known && of->at.active == points
                        ? of->at
                        : cr_distance_closest_of(candidate->pair.kind, x, points);
    if (points == 15) {
        cr_distance_take_face(candidate->pair.kind, x, &at);
    }
    cr_row_make_of(out, candidate->pair.kind, &at, unknowns ? unknowns : at.active, point,
                   candidate->lever);
}

cr_barrier cr_newton_rows_law(const cr_newton* newton, int32_t pair, double distance)
{
    const cr_candidate* c = &newton->task->candidate[pair];
    const double hh = newton->task->h * newton->task->h;
    const double s = cr_max(1.0 + (distance - c->thickness) / c->width, deepest);
    const cr_barrier law = cr_barrier_at(c->stiffness, c->width, s);
    return (cr_barrier){hh * law.energy, hh * law.force, hh * law.slope};
}

static double excess_of(const cr_newton* newton, const cr_newton_row* row)
{
    cr_newton_crossing term[9];
    const int32_t count = cr_newton_hits_crossing(row->straight, term);
    const cr_newton_pair* pair = &newton->pair.items[row->pair];
    cr_vec3 x[4];
    cr_newton_hits_points(newton, pair, x);
    double sum = 0.0;
    for (int32_t i = 0; i < count; i++) {
        const cr_closest at = cr_distance_closest_of(CR_PAIR_EE, x, term[i].points);
        sum += term[i].q * cr_newton_rows_law(newton, row->pair, at.distance).energy;
    }
    return sum;
}

// All of a row but its friction direction, which hangs on other rows.
static void fill_row(const cr_newton* newton, const cr_newton_hit* hit, cr_newton_row* row)
{
    const cr_candidate* candidate = &newton->task->candidate[hit->pair];
    row->key = hit->key;
    row->pair = hit->pair;
    row->points = hit->points;
    row->fades = hit->fades;
    row->straight = hit->straight;
    row->weight = hit->weight;
    row->rub = hit->rub;
    row->over = hit->over;
    row->mu = hit->rub != 0.0 || hit->fades ? candidate->friction : 0.0;
    row->sign = key_sign(newton, hit->pair, &hit->key);
    // how much nearly parallel edges fade hangs on all four points, whichever are the closest
    cr_newton_rows_shape(newton, hit->pair, hit->points, hit->fades ? 15 : 0, &row->at);
    row->gap = row->at.at.distance - candidate->thickness;
    row->law = cr_newton_rows_law(newton, hit->pair, row->at.at.distance);
    row->lam = row->weight * row->law.force;
    row->stiff = row->weight * row->law.slope;
    row->energy = row->weight * row->law.energy;
    row->excess = hit->fades ? excess_of(newton, row) : 0.0;
    row->press = 0.0;
    if (row->mu > 0.0) {
        row->press = cr_newton_rub_load(newton, row);
        cr_row_slip_make(&row->slip, &row->at, newton->stick);
    }
    row->dual = (cr_vec3){0, 0, 0};
}

static void fill_rows(cr_newton* newton, int32_t begin, int32_t end)
{
    for (int32_t i = begin; i < end; i++) {
        fill_row(newton, &newton->hit.items[i], &newton->row.items[i]);
    }
}

static carom_status find_duals(cr_newton* newton)
{
    carom_status status = CAROM_OK;
    for (int32_t i = 0; i < newton->row.count && status == CAROM_OK; i++) {
        cr_newton_row* row = &newton->row.items[i];
        status = row->mu > 0.0 ? find_dual(newton, row) : CAROM_OK;
    }
    return status;
}

carom_status cr_newton_rows_collect(cr_newton* newton)
{
    carom_status status = cr_newton_hits_find(newton);
    if (status != CAROM_OK || !cr_array_reserve(&newton->row, newton->hit.count)) {
        return status != CAROM_OK ? status : CAROM_ERR_MEMORY;
    }
    newton->row.count = newton->hit.count;
    cr_newton_chunks_run(newton, newton->row.count, ROWS, LEAST_ROWS, fill_rows);
    status = find_duals(newton);
    newton->first_collect = 0;
    return status;
}

carom_status cr_newton_rows_recall(cr_newton* newton)
{
    const cr_newton_task* task = newton->task;
    const int32_t count = newton->pair.count;
    if (!cr_array_reserve(&newton->row, count)) {
        return CAROM_ERR_MEMORY;
    }
    newton->row.count = count;
    newton->first_collect = 1;
    for (int32_t i = 0; i < count; i++) {
        const cr_newton_recalled* of = &task->recalled[i];
        const cr_pair* features = &task->candidate[i].pair;
        cr_vec3 x[4];
        cr_newton_hits_points(newton, &newton->pair.items[i], x);
        const cr_newton_hit hit = {.key = cr_candidate_key(features, of->points),
                                   .pair = i,
                                   .points = of->points,
                                   .weight = of->weight,
                                   .rub = of->rub,
                                   .over = of->over,
                                   .fades = features->kind == CR_PAIR_EE && of->points == 15 &&
                                            cr_parallel_edges_fade(x),
                                   .straight = of->straight};
        fill_row(newton, &hit, &newton->row.items[i]);
    }
    return find_duals(newton);
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
    newton->dual.count = newton->linked = 0;
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
        cr_newton_dual* dual = &newton->dual.items[newton->dual.count++];
        *dual = (cr_newton_dual){.key = row->key,
                                 .dual = cr_vec3_scale(row->sign, taken),
                                 .n = cr_vec3_scale(row->sign, row->at.at.n)};
    }
    return CAROM_OK;
}

double cr_newton_rows_energy(const cr_newton* newton)
{
    double sum = 0.0;
    for (int32_t i = 0; i < newton->row.count; i++) {
        sum += newton->row.items[i].energy;
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
        sum += row->mu * row->press *
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
            .part = {row->points, row->straight, row->weight, row->rub, row->over},
            .key = row->key,
            .at = row->at.at,
            .gap = row->gap,
            .lam = row->lam,
            .press = row->press,
            .place = cr_vec3_add(cr_vec3_scale(reach - 1.0, a), cr_vec3_scale(reach, b)),
            .dual = row->mu > 0.0 ? row->slip.s : row->dual, // one without friction has no slip
            .sign = row->sign};
        if (!cr_array_push(&newton->contact, contact)) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}
