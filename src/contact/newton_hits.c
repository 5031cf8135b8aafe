// Which sub-features of the near pairs are contacts, and how often each counts.
//
// The energy of a vertex against a surface is to be that of its distance, however the surface is
// cut into triangles, and its force is not to jump when the closest feature changes. A sum over
// faces counts what several of them share several times; inclusion and exclusion takes it off:
//
//     sum_faces B(d_f) - sum_edges (n_e - 1) B(d_e)
//                      + sum_vertices (1 - n_p + sum_{e at p} (n_e - 1)) B(d_p)
//
// over what is near, n_e and n_p being the number of near faces around an edge e and a vertex p.
// Every distance is once continuously differentiable, so the force is continuous. Over a flat cut
// and over a ridge one term is left; in a valley both faces push, less what they share, and that is
// one face again as the valley becomes flat.
//
// Of two edges a and b the ends are contacts already, as vertices. What the edges add is their
// excess over them,
//
//     m sum_{s in {a, a0, a1}} sum_{t in {b, b0, b1}} q_s q_t B(d_st),   q_edge = 1,  q_end = -1,
//
// which is the energy of the crossing away from ends, and 0 where the closest points are not
// inside, but for an end that is near the inside of the other edge then: edges that run side by
// side. m is the weight of nearly parallel edges. An end that is no corner, between two edges that
// go straight on, is no contact as a vertex; each of the two takes half of it off, q = -1/2.
//
// All of them are sums over sub-features. Terms of the same one are added up, and most cancel.
#include "contact/newton_chunks.h"
#include "contact/parallel_edges.h"
#include "core/order.h"

// A closest point within this share of an edge or triangle of its border is on that border: on the
// diagonal of a flat side both triangles then name the same edge, and their terms cancel. It is the
// round-off of coordinates as large as the triangle, and no more: the direction of the contact
// turns by the share times the size over the distance, and the force jumps by that.
static const double border = 1e-13;

static int32_t sub_feature(const cr_closest* at)
{
    int32_t active = 0;
    for (int k = 0; k < 4; k++) {
        active |= (fabs(at->c[k]) > border) << k;
    }
    return active;
}

// ---- near pairs

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

void cr_newton_hits_measured(const cr_newton* newton, cr_newton_pair* pair)
{
    pair->seen = pair->at.distance;
    pair->odometer = odometer(newton, pair);
    pair->moved = 0.0;
    pair->known = 1;
}

void cr_newton_hits_points(const cr_newton* newton, const cr_newton_pair* pair, cr_vec3 x[4])
{
    for (int k = 0; k < 4; k++) {
        x[k] = pair->point[k] >= 0 ? newton->point.items[pair->point[k]].x : (cr_vec3){0, 0, 0};
    }
}

// Measures the pair unless it cannot have come within its thickness since it was measured last.
static int is_near(cr_newton* newton, int32_t i)
{
    cr_newton_pair* pair = &newton->pair.items[i];
    const cr_candidate* candidate = &newton->task->candidate[i];
    if (pair->skip) {
        return 0;
    }
    pair->moved = odometer(newton, pair) - pair->odometer;
    if (pair->seen - pair->moved > candidate->thickness) {
        return 0;
    }
    cr_vec3 x[4];
    cr_newton_hits_points(newton, pair, x);
    pair->at = cr_distance_closest(candidate->pair.kind, x);
    cr_newton_hits_measured(newton, pair);
    return pair->seen < candidate->thickness;
}

// ---- terms

static cr_newton_hit make_term(const cr_newton* newton, int32_t pair, int32_t points, double weight)
{
    return (cr_newton_hit){.key = cr_candidate_key(&newton->task->candidate[pair].pair, points),
                           .pair = pair,
                           .points = points,
                           .weight = weight};
}

static carom_status add_hit(cr_newton* newton, const cr_newton_hit* hit)
{
    return cr_array_push(&newton->hit, *hit) ? CAROM_OK : CAROM_ERR_MEMORY;
}

// A contact of its own, friction and all.
static carom_status add_whole(cr_newton* newton, int32_t pair)
{
    cr_newton_hit hit = make_term(newton, pair, sub_feature(&newton->pair.items[pair].at), 1.0);
    hit.rub = 1.0;
    return add_hit(newton, &hit);
}

// ---- a vertex against the faces of one body

static cr_newton_border* find_border(cr_newton* newton, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < newton->border.count; i++) {
        cr_newton_border* at = &newton->border.items[i];
        if (at->v[0] == a && at->v[1] == b) {
            return at;
        }
    }
    return NULL;
}

// One more near face at the edge a, b of the pair's face (bits of its points); at the vertex a
// where b is -1.
static carom_status count_border(cr_newton* newton, int32_t pair, int32_t a, int32_t b,
                                 int32_t points)
{
    cr_newton_border* at = find_border(newton, a, b);
    if (at) {
        at->count++;
        return CAROM_OK;
    }
    const cr_newton_border fresh = {.v = {a, b}, .count = 1, .pair = pair, .points = points | 8};
    return cr_array_push(&newton->border, fresh) ? CAROM_OK : CAROM_ERR_MEMORY;
}

static carom_status count_borders(cr_newton* newton, int32_t pair)
{
    const int32_t* v = newton->task->candidate[pair].pair.v;
    carom_status status = CAROM_OK;
    for (int k = 0; k < 3 && status == CAROM_OK; k++) {
        const int l = (k + 1) % 3;
        const int32_t a = v[k] < v[l] ? v[k] : v[l], b = v[k] < v[l] ? v[l] : v[k];
        status = count_border(newton, pair, a, b, 1 << k | 1 << l);
        if (status == CAROM_OK) {
            status = count_border(newton, pair, v[k], -1, 1 << k);
        }
    }
    return status;
}

// What an edge (b >= 0) or vertex counts beside the faces around it.
static double border_weight(const cr_newton* newton, const cr_newton_border* at)
{
    if (at->v[1] >= 0) {
        return 1.0 - at->count;
    }
    double weight = 1.0 - at->count;
    for (int32_t i = 0; i < newton->border.count; i++) {
        const cr_newton_border* e = &newton->border.items[i];
        if (e->v[1] >= 0 && (e->v[0] == at->v[0] || e->v[1] == at->v[0])) {
            weight += e->count - 1.0;
        }
    }
    return weight;
}

// Over a border of faces that are level both sides are the face: whose curvature it is cannot be
// that of an edge or a vertex, and one of the faces stands for all of them.
static carom_status add_faces(cr_newton* newton, const cr_newton_visit* visit, int32_t count)
{
    carom_status status = CAROM_OK;
    int stands = 0;
    newton->border.count = 0;
    for (int32_t i = 0; i < count; i++) {
        stands |= sub_feature(&newton->pair.items[visit[i].pair].at) == 15;
    }
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        int32_t points = sub_feature(&newton->pair.items[visit[i].pair].at);
        if (points != 15 && !stands) {
            cr_closest at = newton->pair.items[visit[i].pair].at;
            cr_vec3 x[4];
            cr_newton_hits_points(newton, &newton->pair.items[visit[i].pair], x);
            cr_distance_take_face(CR_PAIR_PT, x, &at);
            stands = at.active == 15;
            points = stands ? 15 : points;
        }
        const cr_newton_hit hit = make_term(newton, visit[i].pair, points, 1.0);
        status = add_hit(newton, &hit);
        if (status == CAROM_OK) {
            status = count_borders(newton, visit[i].pair);
        }
    }
    return status;
}

static carom_status add_borders(cr_newton* newton)
{
    carom_status status = CAROM_OK;
    for (int32_t i = 0; i < newton->border.count && status == CAROM_OK; i++) {
        const cr_newton_border* at = &newton->border.items[i];
        const double weight = border_weight(newton, at);
        const cr_candidate* candidate = &newton->task->candidate[at->pair];
        if (weight == 0.0) {
            continue;
        }
        cr_vec3 x[4];
        cr_newton_hits_points(newton, &newton->pair.items[at->pair], x);
        const cr_closest near = cr_distance_closest_of(candidate->pair.kind, x, at->points);
        if (near.distance < candidate->thickness) {
            const cr_newton_hit hit = make_term(newton, at->pair, sub_feature(&near), weight);
            status = add_hit(newton, &hit);
        }
    }
    return status;
}

// Which border k, k + 1 of the hit's face the other hit is, as a bit; 0: none.
static int32_t border_of(const cr_newton* newton, const cr_newton_hit* face,
                         const cr_newton_hit* other)
{
    const int32_t* v = newton->task->candidate[face->pair].pair.v;
    const int32_t* w = newton->task->candidate[other->pair].pair.v;
    int32_t has = 0;
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l < 3; l++) {
            has |= ((other->points >> l & 1) && w[l] == v[k]) << k;
        }
    }
    return face->points == 15 && other->points != 15 ? has == 3   ? 1
                                                       : has == 6 ? 2
                                                       : has == 5 ? 4
                                                                  : 0
                                                     : 0;
}

// Friction goes with what is left of the terms of one vertex: with those that count as contacts,
// less the borders that count against them.
static void share_friction(cr_newton* newton, int32_t begin)
{
    cr_newton_hit* hit = newton->hit.items;
    int32_t kept = begin;
    for (int32_t i = begin; i < newton->hit.count; i++) {
        int32_t first = begin;
        while (first < kept && cr_candidate_compare_keys(&hit[first].key, &hit[i].key) != 0) {
            first++;
        }
        if (first < kept) {
            hit[first].weight += hit[i].weight;
        } else {
            hit[kept++] = hit[i];
        }
    }
    newton->hit.count = kept;
    for (int32_t i = begin; i < kept; i++) {
        hit[i].rub = cr_max(hit[i].weight, 0.0);
        for (int32_t k = begin; hit[i].weight < 0.0 && k < kept; k++) {
            hit[k].over |= border_of(newton, &hit[k], &hit[i]);
        }
    }
}

static carom_status add_visits(cr_newton* newton, const cr_newton_visit* visit, int32_t count)
{
    const int soft = newton->task->bodies->kind[visit->body] == CR_BODY_CLOTH;
    const int32_t begin = newton->hit.count;
    carom_status status = CAROM_OK;
    if (count == 1 || soft) {
        for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
            status = add_whole(newton, visit[i].pair);
        }
        return status;
    }
    status = add_faces(newton, visit, count);
    if (status == CAROM_OK) {
        status = add_borders(newton);
    }
    if (status == CAROM_OK) {
        share_friction(newton, begin);
    }
    return status;
}

// ---- two edges

// q of the edge and its two ends, of the side that begins at point `first`.
static double end_share(int32_t straight, int k)
{
    return straight >> k & 1 ? -0.5 : -1.0;
}

int32_t cr_newton_hits_crossing(int32_t straight, cr_newton_crossing out[9])
{
    static const int32_t side[2][3] = {{3, 1, 2}, {12, 4, 8}};
    int32_t count = 0;
    for (int i = 0; i < 3; i++) {
        const double q = i == 0 ? 1.0 : end_share(straight, i - 1);
        for (int j = 0; j < 3; j++) {
            const double r = j == 0 ? 1.0 : end_share(straight, j + 1);
            out[count++] = (cr_newton_crossing){side[0][i] | side[1][j], q * r};
        }
    }
    return count;
}

// Ends that lie this far beyond the layer along their own edges, across the other, are not near.
static int ends_are_far(const cr_vec3 x[4], const cr_closest* at, double thickness)
{
    const cr_vec3 a = cr_vec3_sub(x[1], x[0]), b = cr_vec3_sub(x[3], x[2]);
    const double aa = cr_vec3_norm2(a), bb = cr_vec3_norm2(b);
    const double cross2 = cr_vec3_norm2(cr_vec3_cross(a, b));
    const double s = cr_min(-at->c[0], -at->c[1]), t = cr_min(at->c[2], at->c[3]);
    // the distance of an end from the other's line: D^2 + (s |a| sine)^2
    const double least = cr_min(s * s * cross2 / bb, t * t * cross2 / aa);
    return at->distance * at->distance + least > thickness * thickness;
}

// The terms of two edges at the weight m; friction is with the one where the closest points are.
static carom_status add_crossing_terms(cr_newton* newton, int32_t i, const cr_vec3 x[4], double m)
{
    const cr_newton_pair* pair = &newton->pair.items[i];
    const cr_candidate* candidate = &newton->task->candidate[i];
    const int32_t own = sub_feature(&pair->at);
    cr_newton_hit first = make_term(newton, i, own, 0.0);
    first.over = own == 15 ? 8 : 0;
    first.straight = pair->straight;
    cr_newton_crossing term[9];
    const int32_t count = cr_newton_hits_crossing(pair->straight, term);
    for (int32_t k = 0; k < count; k++) {
        const cr_closest at = cr_distance_closest_of(CR_PAIR_EE, x, term[k].points);
        const int32_t points = sub_feature(&at);
        if (!(at.distance < candidate->thickness)) {
            continue;
        }
        if (points == own) {
            first.weight += m * term[k].q;
            first.rub = first.weight;
            continue;
        }
        const cr_newton_hit hit = make_term(newton, i, points, m * term[k].q);
        if (!cr_array_push(&newton->hit, hit)) {
            return CAROM_ERR_MEMORY;
        }
    }
    return add_hit(newton, &first);
}

static carom_status add_crossing(cr_newton* newton, int32_t i)
{
    const cr_newton_pair* pair = &newton->pair.items[i];
    const int inside = sub_feature(&pair->at) == 15;
    cr_vec3 x[4];
    cr_newton_hits_points(newton, pair, x);
    const int fades = cr_parallel_edges_fade(x);
    if (inside && !fades && ends_are_far(x, &pair->at, newton->task->candidate[i].thickness)) {
        return add_whole(newton, i);
    }
    carom_status status =
        add_crossing_terms(newton, i, x, fades ? cr_parallel_edges_make(x).m : 1.0);
    if (fades && status == CAROM_OK) {
        cr_newton_hit hit = make_term(newton, i, 15, 0.0);
        hit.straight = pair->straight;
        hit.fades = 1;
        status = add_hit(newton, &hit);
    }
    return status;
}

// ---- all of them

static int visit_before(const cr_newton_visit* a, const cr_newton_visit* b)
{
    return a->vertex != b->vertex ? a->vertex < b->vertex : a->body < b->body;
}

CR_ORDER_DEFINE(sort_visits, cr_newton_visit, visit_before)

static carom_status find_near(cr_newton* newton)
{
    const int32_t* vertex_body = newton->task->bodies->vertex_body;
    newton->hit.count = newton->visit.count = 0;
    carom_status status = cr_newton_chunks_pick(newton, is_near, &newton->near);
    for (int32_t k = 0; k < newton->near.count && status == CAROM_OK; k++) {
        const int32_t i = newton->near.items[k];
        const cr_pair* features = &newton->task->candidate[i].pair;
        if (features->kind == CR_PAIR_PT) {
            const cr_newton_visit visit = {features->v[3], vertex_body[features->v[0]], i};
            status = cr_array_push(&newton->visit, visit) ? CAROM_OK : CAROM_ERR_MEMORY;
        } else if (features->kind == CR_PAIR_EE) {
            status = add_crossing(newton, i);
        } else {
            status = add_whole(newton, i);
        }
    }
    return status;
}

static carom_status add_vertices(cr_newton* newton)
{
    const int32_t count = newton->visit.count;
    carom_status status = cr_array_reserve(&newton->visit, 2 * count) ? CAROM_OK : CAROM_ERR_MEMORY;
    if (status == CAROM_OK && count > 1) {
        sort_visits(newton->visit.items, newton->visit.items + count, count);
    }
    for (int32_t i = 0, end; i < count && status == CAROM_OK; i = end) {
        const cr_newton_visit* at = &newton->visit.items[i];
        for (end = i + 1; end < count && !visit_before(at, &newton->visit.items[end]); end++) {
        }
        status = add_visits(newton, at, end - i);
    }
    return status;
}

static int hit_before(const cr_newton_hit* a, const cr_newton_hit* b)
{
    const int order = cr_candidate_compare_keys(&a->key, &b->key);
    return order < 0 || (order == 0 && a->fades > b->fades);
}

CR_ORDER_DEFINE(sort_hits, cr_newton_hit, hit_before)

// One hit for all terms of a sub-feature; none where they cancel.
static void merge(cr_newton* newton)
{
    int32_t kept = 0, begin = 0;
    while (begin < newton->hit.count) {
        cr_newton_hit hit = newton->hit.items[begin];
        int32_t next = begin + 1;
        while (next < newton->hit.count &&
               cr_candidate_compare_keys(&hit.key, &newton->hit.items[next].key) == 0) {
            hit.weight += newton->hit.items[next].weight;
            hit.rub += newton->hit.items[next].rub;
            hit.over |= newton->hit.items[next].over;
            hit.straight |= newton->hit.items[next++].straight;
        }
        if (hit.weight != 0.0 || hit.rub != 0.0 || hit.fades) {
            newton->hit.items[kept++] = hit;
        }
        begin = next;
    }
    newton->hit.count = kept;
}

carom_status cr_newton_hits_find(cr_newton* newton)
{
    carom_status status = find_near(newton);
    if (status == CAROM_OK) {
        status = add_vertices(newton);
    }
    const int32_t count = newton->hit.count;
    if (status != CAROM_OK || !cr_array_reserve(&newton->hit, 2 * count)) {
        return status != CAROM_OK ? status : CAROM_ERR_MEMORY;
    }
    if (count > 1) {
        sort_hits(newton->hit.items, newton->hit.items + count, count);
    }
    merge(newton);
    return CAROM_OK;
}
