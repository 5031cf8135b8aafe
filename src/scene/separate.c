#include "scene/separate.h"
#include "core/memory.h"
#include <float.h>
#include <string.h>

// A move of two bodies may push one of them into a third: so many moves for each body, and some.
enum { MOVES_EACH = 16, MOVES_MORE = 50 };
// In a crowd bodies that go just as far as they must come back to each other by ever less: after as
// many moves as there are bodies they go farther by this.
static const double crowded = 1.25;
// The way out is looked for by doubling, from this part of the bodies' size on, then by halving.
static const double first_part = 1e-3;
enum { HALVINGS = 20 };
// Faces of either body near the place whose normals are tried.
enum { NORMALS = 3, MOST_WAYS = 7 + 4 * NORMALS };
// Of the distance at which they touch: bodies end this much farther apart, which is round-off of
// where they are put.
static const double to_spare = 1e-9;

typedef struct parting {
    cr_model* model;
    double* x;   // [3*vertex_count] m
    double* try; // [3*vertex_count] m, the same while a way is tried
    int32_t body[2];
    double size; // m, of the two boxes together
    cr_vec3 way[MOST_WAYS];
    int32_t way_count;
} parting;

static double mass_of(const cr_model* m, int32_t body)
{
    const int32_t sheet = m->body_sheet[body];
    if (m->bodies.kind[body] == CR_BODY_RIGID) {
        return m->bodies.mass[m->bodies.frame[body]];
    }
    if (sheet < 0) {
        return 0.0;
    }
    double sum = 0.0;
    for (int32_t n = m->sheet_node[sheet]; n < m->sheet_node[sheet + 1]; n++) {
        if (m->bodies.node_pinned[n]) {
            return 0.0;
        }
        sum += m->bodies.node_mass[n];
    }
    return sum;
}

// What of a direction a body may go along, 0 for one that does not move.
static cr_vec3 allowed(const cr_model* m, int32_t body, cr_vec3 way)
{
    if (!(mass_of(m, body) > 0.0)) {
        return (cr_vec3){0, 0, 0};
    }
    const int32_t f = m->bodies.frame[body], lock = f >= 0 ? m->bodies.lock[f] : 0;
    return (cr_vec3){lock & CR_LOCK_X ? 0.0 : way.x, lock & CR_LOCK_Y ? 0.0 : way.y,
                     lock & CR_LOCK_Z ? 0.0 : way.z};
}

// The shares in which two bodies part along a way: A goes by share[0] of it, B by -share[1]. False
// when neither can go straight along it.
static int shares_of(const cr_model* m, const int32_t body[2], cr_vec3 way, double share[2])
{
    double mass[2];
    for (int i = 0; i < 2; i++) {
        const cr_vec3 off = cr_vec3_sub(allowed(m, body[i], way), way);
        mass[i] = cr_vec3_norm(off) <= 1e-12 ? mass_of(m, body[i]) : 0.0;
    }
    const double sum = mass[0] + mass[1];
    share[0] = mass[0] > 0.0 ? (mass[1] > 0.0 ? mass[1] / sum : 1.0) : 0.0;
    share[1] = mass[1] > 0.0 ? (mass[0] > 0.0 ? mass[0] / sum : 1.0) : 0.0;
    return sum > 0.0;
}

static void shift_vertices(const cr_model* m, double* x, int32_t body, cr_vec3 by)
{
    for (int32_t v = m->bodies.vertex[body]; v < m->bodies.vertex[body + 1]; v++) {
        cr_vec3_accumulate(x + 3 * (size_t)v, by);
    }
}

static void shift_body(cr_model* m, double* x, double* moved, int32_t body, cr_vec3 by)
{
    shift_vertices(m, x, body, by);
    cr_vec3_accumulate(moved + 3 * (size_t)body, by);
    cr_vec3_accumulate(m->place + 3 * (size_t)body, by);
    const int32_t f = m->bodies.frame[body], sheet = m->body_sheet[body];
    if (f >= 0) {
        cr_vec3_accumulate(m->t0 + 3 * (size_t)f, by);
    }
    for (int32_t n = sheet < 0 ? 0 : m->sheet_node[sheet];
         sheet >= 0 && n < m->sheet_node[sheet + 1]; n++) {
        cr_vec3_accumulate(m->x0 + 3 * (size_t)n, by);
    }
}

static void box_of(const cr_model* m, const double* x, int32_t body, cr_vec3* low, cr_vec3* high)
{
    *low = (cr_vec3){HUGE_VAL, HUGE_VAL, HUGE_VAL};
    *high = cr_vec3_neg(*low);
    for (int32_t v = m->bodies.vertex[body]; v < m->bodies.vertex[body + 1]; v++) {
        const cr_vec3 at = cr_vec3_load(x + 3 * (size_t)v);
        *low = (cr_vec3){cr_min(low->x, at.x), cr_min(low->y, at.y), cr_min(low->z, at.z)};
        *high = (cr_vec3){cr_max(high->x, at.x), cr_max(high->y, at.y), cr_max(high->z, at.z)};
    }
}

static void add_way(parting* p, cr_vec3 way)
{
    const double length = cr_vec3_norm(way);
    if (length > 0.0 && isfinite(length)) {
        p->way[p->way_count++] = cr_vec3_scale(1.0 / length, way);
    }
}

// The normals of the faces of a body that are nearest to a place, both ways round.
static void add_normals(parting* p, int32_t body, cr_vec3 place)
{
    const cr_surface* s = &p->model->surface;
    double best[NORMALS];
    cr_vec3 normal[NORMALS] = {{0}};
    for (int k = 0; k < NORMALS; k++) {
        best[k] = HUGE_VAL;
    }
    for (int32_t f = s->body_face[body]; f < s->body_face[body + 1]; f++) {
        cr_vec3 c[3];
        for (int k = 0; k < 3; k++) {
            c[k] = cr_vec3_load(p->x + 3 * (size_t)s->face[3 * (size_t)f + k]);
        }
        const cr_vec3 middle = cr_vec3_scale(1.0 / 3.0, cr_vec3_add(c[0], cr_vec3_add(c[1], c[2])));
        const double far = cr_vec3_norm(cr_vec3_sub(middle, place));
        for (int k = 0; k < NORMALS; k++) {
            if (far < best[k]) {
                for (int l = NORMALS - 1; l > k; l--) {
                    best[l] = best[l - 1];
                    normal[l] = normal[l - 1];
                }
                best[k] = far;
                normal[k] = cr_vec3_cross(cr_vec3_sub(c[1], c[0]), cr_vec3_sub(c[2], c[0]));
                break;
            }
        }
    }
    for (int k = 0; k < NORMALS; k++) {
        add_way(p, normal[k]);
        add_way(p, cr_vec3_neg(normal[k]));
    }
}

static void find_ways(parting* p, cr_vec3 place)
{
    cr_vec3 low[2], high[2];
    for (int i = 0; i < 2; i++) {
        box_of(p->model, p->x, p->body[i], &low[i], &high[i]);
    }
    const cr_vec3 span[2] = {cr_vec3_sub(high[0], low[0]), cr_vec3_sub(high[1], low[1])};
    const double thick = cr_model_reach(p->model, p->body[0], p->body[1]);
    p->size = cr_vec3_norm(span[0]) + cr_vec3_norm(span[1]) + thick;
    p->way_count = 0;
    add_way(p, cr_vec3_sub(cr_vec3_add(low[0], high[0]), cr_vec3_add(low[1], high[1])));
    for (int axis = 0; axis < 6; axis++) {
        double way[3] = {0, 0, 0};
        way[axis % 3] = axis < 3 ? 1.0 : -1.0;
        add_way(p, cr_vec3_load(way));
    }
    add_normals(p, p->body[0], place);
    add_normals(p, p->body[1], place);
}

// CAROM_OK when A, shifted by s along a way, is free of B.
static carom_status is_free(const parting* p, cr_vec3 way, double s)
{
    const double thick = cr_model_reach(p->model, p->body[0], p->body[1]);
    const double least = thick * (1.0 + to_spare) + 4.0 * DBL_EPSILON * p->size;
    for (int i = 0; i < 2; i++) {
        const size_t first = 3 * (size_t)p->model->bodies.vertex[p->body[i]];
        const size_t count = 3 * (size_t)p->model->bodies.vertex[p->body[i] + 1] - first;
        memcpy(p->try + first, p->x + first, count * sizeof(double));
    }
    shift_vertices(p->model, p->try, p->body[0], cr_vec3_scale(s, way));
    return cr_start_two(p->model, p->try, p->body[0], p->body[1], least);
}

// How far A has to go along a way to be free; no farther than *best, which it lowers.
static carom_status shorten(const parting* p, cr_vec3 way, double* best, int* better)
{
    double low = 0.0, high = first_part * p->size;
    carom_status status = is_free(p, way, high);
    while (status == CAROM_ERR_INTERSECTING && high < *best) {
        low = high;
        high *= 2.0;
        status = is_free(p, way, high);
    }
    for (int i = 0; i < HALVINGS && status == CAROM_OK && low < *best; i++) {
        const double middle = 0.5 * (low + high);
        const carom_status there = is_free(p, way, middle);
        if (there == CAROM_OK) {
            high = middle;
        } else if (there == CAROM_ERR_INTERSECTING) {
            low = middle;
        } else {
            status = there;
        }
    }
    if (status == CAROM_OK && high < *best) {
        *best = high;
        *better = 1;
    }
    return status == CAROM_ERR_INTERSECTING ? CAROM_OK : status;
}

// Moves the two bodies of a look apart. CAROM_ERR_INTERSECTING: there is no way.
static carom_status part(parting* p, const cr_start_report* report, double farther, double* moved)
{
    p->body[0] = report->body[0];
    p->body[1] = report->body[1];
    if (p->body[0] == p->body[1]) {
        return CAROM_ERR_INTERSECTING;
    }
    find_ways(p, report->place);
    double best = 2.0 * p->size, share[2], taken[2] = {0, 0};
    cr_vec3 along = {0, 0, 0};
    carom_status status = CAROM_OK;
    for (int32_t i = 0; i < p->way_count && status == CAROM_OK; i++) {
        int better = 0;
        if (shares_of(p->model, p->body, p->way[i], share)) {
            status = shorten(p, p->way[i], &best, &better);
        }
        if (better) {
            along = p->way[i];
            taken[0] = share[0];
            taken[1] = share[1];
        }
    }
    if (status != CAROM_OK) {
        return status;
    }
    if (!(taken[0] + taken[1] > 0.0)) {
        return CAROM_ERR_INTERSECTING;
    }
    best *= farther;
    for (int i = 0; i < 2; i++) {
        shift_body(p->model, p->x, moved, p->body[i],
                   cr_vec3_scale(i ? -best * taken[1] : best * taken[0], along));
    }
    return CAROM_OK;
}

carom_status cr_separate_start(cr_model* model, const double* floor, cr_start_report* report,
                               double* moved)
{
    const size_t vertices = (size_t)model->bodies.vertex_count;
    parting p = {.model = model,
                 .x = cr_memory_take(vertices, 3 * sizeof *p.x),
                 .try = cr_memory_take(vertices, 3 * sizeof *p.try)};
    *report = (cr_start_report){.body = {-1, -1}};
    if (!p.x || !p.try) {
        cr_memory_free(p.x);
        cr_memory_free(p.try);
        return CAROM_ERR_MEMORY;
    }
    cr_start_place(model, p.x);
    const int64_t most = MOVES_MORE + (int64_t)MOVES_EACH * model->bodies.body_count;
    carom_status status = cr_start_check(model, floor, report);
    for (int64_t i = 0; i < most && status == CAROM_ERR_INTERSECTING; i++) {
        const carom_status parted =
            part(&p, report, i < model->bodies.body_count ? 1.0 : crowded, moved);
        if (parted != CAROM_OK) {
            status = parted;
            break;
        }
        cr_array_release(&report->near);
        status = cr_start_check(model, floor, report);
    }
    cr_memory_free(p.x);
    cr_memory_free(p.try);
    return status;
}
