#include "collision/broad_inside.h"
#include "core/parallel.h"

// Boxes before anything is searched: those of all bodies in every call, those of vertices and
// features of loose bodies where bodies meet, and only where they are not what they were.

enum {
    JOB_VERTICES = 2048, // vertices worth the handing out of a job
    CARRIED_WEIGHT = 8,  // vertices that the box of a carried body costs as much as
};

enum { TROUBLE_NOT_FINITE = 1, TROUBLE_NEGATIVE = 2 };

static cr_box swept_box(const cr_broad* broad, int32_t v)
{
    const double *p = broad->x0 + 3 * (size_t)v, *q = broad->x1 + 3 * (size_t)v;
    const double r = broad->reach[v];
    return (cr_box){{cr_min(p[0], q[0]) - r, cr_min(p[1], q[1]) - r, cr_min(p[2], q[2]) - r},
                    {cr_max(p[0], q[0]) + r, cr_max(p[1], q[1]) + r, cr_max(p[2], q[2]) + r}};
}

// The box of a carried body, and whether its numbers are in order.
static void fit_carried(cr_broad* broad, int32_t body)
{
    const cr_carry* c = &broad->carry[body];
    const int32_t root = broad->of[CR_VERTEX].own_root[body];
    double zero = (c->reach + broad->margin[body]) * 0.0;
    for (int i = 0; i < 3; i++) {
        const cr_vec3 a = cr_mat3_row(c->r0, i), b = cr_mat3_row(c->r1, i);
        zero += (a.x + a.y + a.z) * 0.0 + (b.x + b.y + b.z) * 0.0;
    }
    zero += (c->t0.x + c->t0.y + c->t0.z) * 0.0 + (c->t1.x + c->t1.y + c->t1.z) * 0.0;
    const double least = cr_min(c->reach, broad->margin[body]);
    broad->body_box[body] = root < 0
                                ? cr_box_empty()
                                : cr_carry_box(c, &broad->of[CR_VERTEX].own.node.items[root].box,
                                               c->reach + broad->margin[body]);
    broad->trouble[body] =
        (uint8_t)((zero == 0 ? 0 : TROUBLE_NOT_FINITE) | (least < 0 ? TROUBLE_NEGATIVE : 0));
}

static void fit_loose(cr_broad* broad, int32_t body)
{
    const cr_surface* s = broad->surface;
    cr_box box = cr_box_empty();
    double zero = 0, least = 0; // zero turns NaN with the first number that is not finite
    for (int32_t v = s->body_vertex[body]; v < s->body_vertex[body + 1]; v++) {
        const double *p = broad->x0 + 3 * (size_t)v, *q = broad->x1 + 3 * (size_t)v;
        const double r = broad->reach[v];
        zero +=
            p[0] * 0.0 + p[1] * 0.0 + p[2] * 0.0 + q[0] * 0.0 + q[1] * 0.0 + q[2] * 0.0 + r * 0.0;
        least = cr_min(least, r);
        const cr_box here = swept_box(broad, v);
        box = cr_box_union(&box, &here);
    }
    broad->body_box[body] = box;
    broad->trouble[body] =
        (uint8_t)((zero == 0 ? 0 : TROUBLE_NOT_FINITE) | (least < 0 ? TROUBLE_NEGATIVE : 0));
}

static void fit_bodies_job(int32_t job, int32_t worker, void* user)
{
    cr_broad* broad = user;
    (void)worker;
    for (int32_t b = broad->jobs.items[job]; b < broad->jobs.items[job + 1]; b++) {
        if (!cr_broad_is_there(broad, b)) {
            broad->trouble[b] = 0;
        } else if (broad->carried[b]) {
            fit_carried(broad, b);
        } else {
            fit_loose(broad, b);
        }
    }
}

carom_status cr_broad_fit_bodies(cr_broad* broad, int32_t worker_count)
{
    const cr_surface* s = broad->surface;
    int64_t weight = 0;
    broad->jobs.count = 0;
    int ok = cr_array_push(&broad->jobs, 0);
    for (int32_t b = 0; b < s->body_count && ok; b++) {
        weight += broad->carried[b] ? CARRIED_WEIGHT : s->body_vertex[b + 1] - s->body_vertex[b];
        ok = cr_broad_end_job(broad, &weight, JOB_VERTICES, b + 1);
    }
    if (!ok || !cr_array_push(&broad->jobs, s->body_count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_parallel_for(broad->jobs.count - 1, worker_count, fit_bodies_job, broad);
    int trouble = 0;
    for (int32_t b = 0; b < s->body_count; b++) {
        trouble |= broad->trouble[b];
    }
    return trouble & TROUBLE_NOT_FINITE ? CAROM_ERR_NOT_FINITE
           : trouble                    ? CAROM_ERR_ARGUMENT
                                        : CAROM_OK;
}

static int same_box(const cr_box* a, const cr_box* b)
{
    return (a->lo[0] == b->lo[0]) & (a->lo[1] == b->lo[1]) & (a->lo[2] == b->lo[2]) &
           (a->hi[0] == b->hi[0]) & (a->hi[1] == b->hi[1]) & (a->hi[2] == b->hi[2]);
}

// Boxes of the vertices of a body. True when they are what they were: a body at rest.
static int fit_vertices(cr_broad* broad, int32_t body)
{
    const cr_surface* s = broad->surface;
    cr_box* vertex_box = broad->vertex_box + broad->loose_vertex[body];
    int same = 1;
    for (int32_t v = s->body_vertex[body]; v < s->body_vertex[body + 1]; v++, vertex_box++) {
        const cr_box box = swept_box(broad, v);
        if (!same_box(&box, vertex_box)) {
            *vertex_box = box;
            same = 0;
        }
    }
    return same;
}

static void fit_features(cr_broad* broad, int32_t body, cr_feature f)
{
    cr_broad_trees* trees = &broad->of[f];
    const int32_t first = trees->first[body];
    const int32_t end = first + (int32_t)cr_broad_count(broad->surface, f, body);
    const int32_t own = broad->loose_vertex[body] - broad->surface->body_vertex[body];
    const cr_box* vertex = broad->vertex_box; // vertex v has place v + own
    cr_box* box = trees->bvh.box;
    for (int32_t i = first; f == CR_VERTEX && i < end; i++) {
        box[i] = vertex[trees->bvh.item[i] + own];
    }
    for (int32_t i = first; f == CR_EDGE && i < end; i++) {
        const int32_t* c = &trees->corner[2 * (size_t)i];
        box[i] = cr_box_union(&vertex[c[0] + own], &vertex[c[1] + own]);
    }
    for (int32_t i = first; f == CR_FACE && i < end; i++) {
        const int32_t* c = &trees->corner[3 * (size_t)i];
        const cr_box side = cr_box_union(&vertex[c[0] + own], &vertex[c[1] + own]);
        box[i] = cr_box_union(&side, &vertex[c[2] + own]);
    }
    if (trees->root[body] >= 0) {
        cr_bvh_refit(&trees->bvh, trees->root[body], trees->end[body]);
    }
}

static void fit_busy_job(int32_t job, int32_t worker, void* user)
{
    cr_broad* broad = user;
    (void)worker;
    for (int32_t i = broad->jobs.items[job]; i < broad->jobs.items[job + 1]; i++) {
        const int32_t body = broad->busy.items[i];
        uint8_t fitted = fit_vertices(broad, body) ? broad->fitted[body] : 0;
        for (cr_feature f = CR_VERTEX; f < CR_FEATURES; f++) {
            if (broad->wanted[body] & ~fitted & 1 << f) {
                fit_features(broad, body, f);
            }
        }
        broad->fitted[body] = fitted | broad->wanted[body];
    }
}

// Refits the trees that are wanted, of bodies that are not as they were.
carom_status cr_broad_fit_busy(cr_broad* broad, int32_t worker_count)
{
    const cr_surface* s = broad->surface;
    int64_t weight = 0;
    broad->jobs.count = 0;
    broad->busy.count = 0;
    int ok = cr_array_push(&broad->jobs, 0);
    for (int32_t b = 0; b < s->body_count && ok; b++) {
        if (broad->wanted[b] && !broad->carried[b]) {
            weight += s->body_vertex[b + 1] - s->body_vertex[b];
            ok = cr_array_push(&broad->busy, b) &&
                 cr_broad_end_job(broad, &weight, JOB_VERTICES, broad->busy.count);
        }
    }
    if (!ok || !cr_array_push(&broad->jobs, broad->busy.count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_parallel_for(broad->jobs.count - 1, worker_count, fit_busy_job, broad);
    return CAROM_OK;
}
