#include "sim/start.h"
#include "collision/broad.h"
#include "collision/distance.h"
#include "collision/intersect_frame.h"
#include "math/quat.h"
#include <stdlib.h>
#include <string.h>

void cr_start_place(const cr_model* m, double* x)
{
    for (int32_t b = 0; b < m->bodies.body_count; b++) {
        const int32_t f = m->bodies.frame[b];
        const cr_mat3 r =
            f < 0 ? cr_mat3_identity() : cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * (size_t)f));
        for (int32_t v = m->bodies.vertex[b]; v < m->bodies.vertex[b + 1]; v++) {
            const size_t i = 3 * (size_t)v;
            if (f < 0) {
                cr_vec3_store(x + i, cr_vec3_load(m->x0 + 3 * (size_t)m->bodies.node[v]));
            } else {
                cr_vec3_store(x + i, cr_vec3_add(cr_mat3_apply(r, cr_vec3_load(m->bodies.p + i)),
                                                 cr_vec3_load(m->t0 + 3 * (size_t)f)));
            }
        }
    }
}

// ---- intersections

static int passes(const cr_model* m, int32_t a, int32_t b)
{
    const cr_pairing* pairing = cr_model_pairing(m, a, b);
    return pairing && pairing->passes;
}

// The surface of two bodies (or of one, a == b) cut out of the scene's; vertices keep their order.
static carom_status cut_out(const cr_surface* s, int32_t a, int32_t b, cr_surface* out)
{
    const int32_t body[2] = {a, b}, n = a == b ? 1 : 2;
    int32_t count[3] = {0, 0, 0};
    for (int32_t i = 0; i < n; i++) {
        count[0] += s->body_vertex[body[i] + 1] - s->body_vertex[body[i]];
        count[1] += s->body_edge[body[i] + 1] - s->body_edge[body[i]];
        count[2] += s->body_face[body[i] + 1] - s->body_face[body[i]];
    }
    const carom_status status = cr_surface_init(out, n, count[0], count[1], count[2]);
    if (status != CAROM_OK) {
        return status;
    }
    int32_t v = 0, e = 0, f = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t shift = v - s->body_vertex[body[i]];
        for (int32_t k = s->body_vertex[body[i]]; k < s->body_vertex[body[i] + 1]; k++) {
            out->vertex_body[v++] = i;
        }
        for (int32_t k = 2 * s->body_edge[body[i]]; k < 2 * s->body_edge[body[i] + 1]; k++) {
            out->edge[e++] = s->edge[k] + shift;
        }
        for (int32_t k = 3 * s->body_face[body[i]]; k < 3 * s->body_face[body[i] + 1]; k++) {
            out->face[f++] = s->face[k] + shift;
        }
        out->body_vertex[i + 1] = v;
        out->body_edge[i + 1] = e / 2;
        out->body_face[i + 1] = f / 3;
        out->body_flags[i] = s->body_flags[body[i]];
        out->body_group[i] = s->body_group[body[i]];
    }
    return CAROM_OK;
}

// Balls count by their centres and axes here: how much of a radius may be missing is seen later.
static carom_status look_at(const cr_surface* s, const double* x, cr_start_report* report)
{
    cr_intersect_report found;
    const carom_status status =
        cr_intersect_frame(s, x, NULL, 0.0, CR_INTERSECT_FRAME_INSIDE, &found);
    if (status != CAROM_OK) {
        return status;
    }
    if (found.pair_count > 0) {
        report->body[0] = found.body[0];
        report->body[1] = found.body[1];
        report->place = found.place;
        return CAROM_ERR_INTERSECTING;
    }
    if (found.inside_count > 0) {
        report->body[0] = found.inner;
        report->body[1] = found.outer;
        report->place = cr_vec3_load(x + 3 * (size_t)s->body_vertex[found.inner]);
        report->inner = 1;
        return CAROM_ERR_INTERSECTING;
    }
    return CAROM_OK;
}

// The nearest that two bodies cut out of the scene come to each other, if that is below `least`.
static carom_status nearest(const cr_surface* two, const double* x, double least, double* found)
{
    cr_broad* broad = NULL;
    cr_pair_list pairs = {0};
    double* reach = cr_memory_take((size_t)two->vertex_count, sizeof *reach);
    carom_status status = reach ? cr_broad_create(two, x, NULL, &broad) : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        for (int32_t v = 0; v < two->vertex_count; v++) {
            reach[v] = 0.5 * least;
        }
        status = cr_broad_find(broad, x, x, reach, 1, &pairs);
    }
    *found = HUGE_VAL;
    for (int32_t i = 0; i < pairs.count && status == CAROM_OK; i++) {
        const cr_pair* pair = &pairs.items[i];
        cr_vec3 p[4] = {{0, 0, 0}};
        for (int k = 0; k < 4; k++) {
            if (pair->v[k] >= 0) {
                p[k] = cr_vec3_load(x + 3 * (size_t)pair->v[k]);
            }
        }
        *found = cr_min(*found, cr_distance_closest(pair->kind, p).distance);
    }
    cr_broad_destroy(broad);
    cr_array_release(&pairs);
    cr_memory_free(reach);
    return status;
}

// least: 0, or how far apart they have to be as well.
static carom_status look_at_two(const cr_model* m, const double* x, int32_t a, int32_t b,
                                double least, cr_start_report* report)
{
    const cr_surface* s = &m->surface;
    const int32_t n = s->body_vertex[a + 1] - s->body_vertex[a];
    const int32_t k = a == b ? 0 : s->body_vertex[b + 1] - s->body_vertex[b];
    cr_surface two;
    carom_status status = cut_out(s, a, b, &two);
    double* part = cr_memory_take(3 * (size_t)(n + k), sizeof *part);
    if (status == CAROM_OK && !part) {
        status = CAROM_ERR_MEMORY;
    }
    if (status == CAROM_OK) {
        memcpy(part, x + 3 * (size_t)s->body_vertex[a], 3 * (size_t)n * sizeof *part);
        memcpy(part + 3 * (size_t)n, x + 3 * (size_t)s->body_vertex[b],
               3 * (size_t)k * sizeof *part);
        status = look_at(&two, part, report);
        if (status == CAROM_ERR_INTERSECTING) {
            const int32_t body[2] = {a, b};
            report->body[0] = body[report->body[0]];
            report->body[1] = body[report->body[1]];
        }
    }
    if (status == CAROM_OK && least > 0.0) {
        double found;
        status = nearest(&two, part, least, &found);
        status = status == CAROM_OK && !(found >= least) ? CAROM_ERR_INTERSECTING : status;
    }
    cr_surface_release(&two);
    cr_memory_free(part);
    return status;
}

// Bodies that may pass through each other may also start so; then the others are looked at two by
// two. Such scenes are small: the pairs are all named in the file.
static carom_status look_two_by_two(const cr_model* m, const double* x, cr_start_report* report)
{
    const cr_surface* s = &m->surface;
    carom_status status = CAROM_OK;
    for (int32_t a = 0; a < s->body_count && status == CAROM_OK; a++) {
        for (int32_t b = a; b < s->body_count && status == CAROM_OK; b++) {
            const int soft = (s->body_flags[a] & CR_SURFACE_SOFT) != 0;
            const int apart = s->body_group[a] >= 0 && s->body_group[a] == s->body_group[b];
            if ((a == b && soft) || (a != b && !apart && !passes(m, a, b))) {
                status = look_at_two(m, x, a, b, 0.0, report);
            }
        }
    }
    return status;
}

static carom_status look_for_intersections(const cr_model* m, const double* x,
                                           cr_start_report* report)
{
    const carom_status status = look_at(&m->surface, x, report);
    if (status == CAROM_ERR_INTERSECTING && passes(m, report->body[0], report->body[1])) {
        report->inner = 0;
        return look_two_by_two(m, x, report);
    }
    return status;
}

// ---- distances

static int compare_pairs(const void* a, const void* b)
{
    const cr_start_pair *x = a, *y = b;
    for (int i = 0; i < 2; i++) {
        if (x->body[i] != y->body[i]) {
            return x->body[i] < y->body[i] ? -1 : 1;
        }
    }
    return x->distance < y->distance ? -1 : x->distance > y->distance;
}

static carom_status measure(const cr_model* m, const double* x, const cr_pair_list* pairs,
                            cr_start_list* near)
{
    for (int32_t i = 0; i < pairs->count; i++) {
        const cr_pair* pair = &pairs->items[i];
        cr_vec3 p[4] = {{0, 0, 0}};
        for (int k = 0; k < 4; k++) {
            if (pair->v[k] >= 0) {
                p[k] = cr_vec3_load(x + 3 * (size_t)pair->v[k]);
            }
        }
        const int32_t a = m->surface.vertex_body[pair->v[0]];
        const int32_t b = m->surface.vertex_body[pair->v[3]];
        const double distance = cr_distance_closest(pair->kind, p).distance;
        if (!(distance >= cr_model_start(m, a, b)) && !passes(m, a, b)) {
            const cr_start_pair one = {{a < b ? a : b, a < b ? b : a}, distance};
            if (!cr_array_push(near, one)) {
                return CAROM_ERR_MEMORY;
            }
        }
    }
    // of each two bodies the nearest pair of features stays
    if (near->count > 1) {
        qsort(near->items, (size_t)near->count, sizeof(cr_start_pair), compare_pairs);
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < near->count; i++) {
        const cr_start_pair* last = kept ? &near->items[kept - 1] : NULL;
        if (!last || last->body[0] != near->items[i].body[0] ||
            last->body[1] != near->items[i].body[1]) {
            near->items[kept++] = near->items[i];
        }
    }
    near->count = kept;
    return CAROM_OK;
}

// Whom the broad phase carries, where, and by how much the boxes grow. A pairing may be thicker
// than its bodies; they grow by half of the thickest.
typedef struct outlook {
    uint8_t* carried; // [body_count]
    cr_carry* carry;  // [body_count]
    double* margin;   // [body_count] m
    double* reach;    // [vertex_count] m, of cloth
} outlook;

static void fill_outlook(const cr_model* m, outlook* o)
{
    for (int32_t b = 0; b < m->bodies.body_count; b++) {
        const int32_t f = m->bodies.frame[b];
        o->margin[b] = cr_body_set_reach(&m->bodies, b);
        o->carried[b] = f >= 0;
        if (f >= 0) {
            o->carry[b] = cr_carry_rest(cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * (size_t)f)),
                                        cr_vec3_load(m->t0 + 3 * (size_t)f));
        }
    }
    for (int32_t i = 0; i < m->pairing_count; i++) {
        const cr_pairing* pairing = &m->pairing[i];
        const double reach =
            pairing->thickness < 0.0 ? 0.0 : cr_model_reach(m, pairing->body[0], pairing->body[1]);
        for (int k = 0; k < 2; k++) {
            double* margin = &o->margin[pairing->body[k]];
            *margin = cr_max(*margin, reach);
        }
    }
    for (int32_t v = 0; v < m->bodies.vertex_count; v++) {
        o->reach[v] = o->margin[m->bodies.vertex_body[v]];
    }
}

static carom_status look_for_near(const cr_model* m, const double* x, cr_start_report* report)
{
    const size_t bodies = (size_t)m->bodies.body_count;
    cr_broad* broad = NULL;
    cr_pair_list pairs = {0};
    outlook o = {cr_memory_take(bodies, 1), cr_memory_take(bodies, sizeof(cr_carry)),
                 cr_memory_take(bodies, sizeof(double)),
                 cr_memory_take((size_t)m->bodies.vertex_count, sizeof(double))};
    carom_status status = CAROM_ERR_MEMORY;
    if (o.carried && o.carry && o.margin && o.reach) {
        fill_outlook(m, &o);
        status = cr_broad_create(&m->surface, m->bodies.p, o.carried, &broad);
    }
    if (status == CAROM_OK) {
        cr_broad_carry(broad, o.carry, o.margin, 0);
        status = cr_broad_find(broad, x, x, o.reach, 1, &pairs);
    }
    if (status == CAROM_OK) {
        status = measure(m, x, &pairs, &report->near);
    }
    cr_broad_destroy(broad);
    cr_array_release(&pairs);
    cr_memory_free(o.carried);
    cr_memory_free(o.carry);
    cr_memory_free(o.margin);
    cr_memory_free(o.reach);
    return status;
}

carom_status cr_start_two(const cr_model* model, const double* x, int32_t a, int32_t b,
                          double least)
{
    cr_start_report unused = {.body = {-1, -1}};
    return look_at_two(model, x, a, b, least, &unused);
}

carom_status cr_start_check(const cr_model* model, const double* floor, cr_start_report* report)
{
    *report = (cr_start_report){.body = {-1, -1}};
    const size_t n = (size_t)model->bodies.vertex_count;
    double* x = cr_memory_take(n, 3 * sizeof *x);
    carom_status status = x ? CAROM_OK : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        cr_start_place(model, x);
        status = look_for_intersections(model, x, report);
    }
    if (status == CAROM_OK) {
        status = look_for_near(model, x, report);
    }
    for (int32_t i = 0; i < report->near.count && status == CAROM_OK; i++) {
        const cr_start_pair* pair = &report->near.items[i];
        if (!(pair->distance > floor[pair->body[0]] + floor[pair->body[1]])) {
            const int32_t v = model->surface.body_vertex[pair->body[0]];
            report->body[0] = pair->body[0];
            report->body[1] = pair->body[1];
            report->distance = pair->distance;
            report->place = cr_vec3_load(x + 3 * (size_t)v);
            status = CAROM_ERR_INTERSECTING;
        }
    }
    cr_memory_free(x);
    return status;
}
