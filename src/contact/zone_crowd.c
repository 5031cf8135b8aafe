#include "contact/zone_inside.h"
#include "core/order.h"
#include <string.h>

// A row's compliance and room, of its candidate's eps and room:
//     eps_i = eps crowd_i / say_i,      room_i = room / say_i
//     crowd_i = 1 + sum_j say_j near_ij^3,      near_ij = (1 - |s_i - s_j|^2 / blur^2)_+
// over the other rows j of the same two bodies, s half way between a row's closest points. A box's
// corner over the edge of another is at once a vertex against a face, a vertex against an edge and
// an edge against an edge: several rows, one contact. Which of them there are changes from iterate
// to iterate, so they must share one compliance or the contact would harden and soften with their
// number. A row counts itself as one, whatever its say: alone at its place it would otherwise be as
// stiff with little say as with all of it, and come and go at once.
//
// Say is aslant for two edges that cross, see below; 1 for all else, less what two such edges leave
// of a row that is nearest at a part of them, an end of one against the other: 1 - aslant of each.
//
// So F2 = g + depth(lam; eps_i, room_i) hangs on where everything is by more than its gap. Newton's
// steps leave that out, being small against the gap; the derivatives of their end do not.

// Two nearly parallel edges touch along their overlap, and where along it they are closest is
// decided by round-off. The vertices at the ends of the overlap carry such a contact; without the
// row of the edges themselves these could cross by l^2 sin^2 / 8D. Where that is less than this
// part of the thickness the row has no say, and from four times that on its full one.
static const double parallel_share = 1e-5;

// What of l^2 sin^2 / 8D, with the shorter edge for l, is |a x b|^2 / (8 D max(a^2, b^2)).
typedef struct slant {
    cr_vec3 a, b, cross;
    double longer;   // m^2
    double crossing; // m
    double t;        // where that is between no say and all of it
} slant;

static slant slant_of(const cr_candidate* c, const cr_vec3 x[4], const cr_closest* at)
{
    slant s = {.a = cr_vec3_sub(x[1], x[0]), .b = cr_vec3_sub(x[3], x[2])};
    s.cross = cr_vec3_cross(s.a, s.b);
    const double aa = cr_vec3_norm2(s.a), bb = cr_vec3_norm2(s.b);
    const double sin2 = cr_vec3_norm2(s.cross) / (aa * bb);
    s.longer = cr_max(aa, bb);
    s.crossing = cr_min(aa, bb) * sin2 / (8.0 * at->distance);
    s.t = cr_clamp((s.crossing / (parallel_share * c->thickness) - 1.0) / 3.0, 0.0, 1.0);
    return s;
}

// The smooth step from parallel to not.
static double aslant_of(const slant* s)
{
    return s->t * s->t * (3.0 - 2.0 * s->t);
}

double cr_zone_crowd_aslant(const cr_candidate* c, const cr_vec3 x[4], const cr_closest* now)
{
    if (c->pair.kind != CR_PAIR_EE) {
        return 1.0;
    }
    const slant s = slant_of(c, x, now);
    return aslant_of(&s);
}

static int spot_before(const cr_zone_spot* a, const cr_zone_spot* b)
{
    for (int i = 0; i < 2; i++) {
        if (a->body[i] != b->body[i]) {
            return a->body[i] < b->body[i];
        }
    }
    return a->at.x != b->at.x ? a->at.x < b->at.x : a->line < b->line;
}

CR_ORDER_DEFINE(sort_spots, cr_zone_spot, spot_before)

static cr_vec3 place_of(const cr_zone* zone, const cr_zone_line* line)
{
    cr_vec3 at = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        if (line->point[k] >= 0) {
            at = cr_vec3_add_scaled(at, 0.5 * fabs(line->row.at.c[k]),
                                    zone->point.items[line->point[k]].x);
        }
    }
    return at;
}

static int same_bodies(const cr_zone_spot* a, const cr_zone_spot* b)
{
    return a->body[0] == b->body[0] && a->body[1] == b->body[1];
}

carom_status cr_zone_crowd_find(cr_zone* zone, int32_t count)
{
    const cr_zone_task* task = zone->task;
    int32_t a = cr_zone_point_lone(task), b = a;
    zone->spot.count = zone->beside.count = 0;
    if (!cr_array_reserve(&zone->spot, 2 * count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_zone_spot* spots = zone->spot.items;
    for (int32_t i = 0; i < count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        const cr_pair* pair = &task->candidate[line->row.candidate].pair;
        a = cr_body_set_owner(task->bodies, a, pair->v[0]);
        b = cr_body_set_owner(task->bodies, b, pair->v[3]);
        line->crowd = 1.0;
        spots[i] = (cr_zone_spot){
            .body = {a < b ? a : b, a < b ? b : a}, .line = i, .at = place_of(zone, line)};
    }
    zone->spot.count = count;
    if (count > 1) {
        sort_spots(spots, spots + count, count);
    }
    for (int32_t i = 0; i < count; i++) {
        cr_zone_line* line = &zone->line.items[spots[i].line];
        const double range = task->candidate[line->row.candidate].blur;
        for (int way = -1; way <= 1; way += 2) {
            for (int32_t j = i + way; j >= 0 && j < count; j += way) {
                if (!same_bodies(&spots[j], &spots[i]) ||
                    fabs(spots[j].at.x - spots[i].at.x) >= range) {
                    break;
                }
                const cr_vec3 apart = cr_vec3_sub(spots[i].at, spots[j].at);
                const double near = 1.0 - cr_vec3_norm2(apart) / (range * range);
                const double say = zone->line.items[spots[j].line].say;
                if (!(near > 0.0 && say > 0.0)) {
                    continue;
                }
                line->crowd += near * near * near * say;
                const cr_zone_beside beside = {spots[i].line, spots[j].line, near, apart};
                if (!cr_array_push(&zone->beside, beside)) {
                    return CAROM_ERR_MEMORY;
                }
            }
        }
    }
    return CAROM_OK;
}

// ---- there and back

// Where the edges of a line are in between parallel and not: t is between 0 and 1. A row of both
// hangs on that only where they cross; edges that leave a part of a row beside them, which have no
// say here, wherever they are nearest.
static int is_slanted(const cr_zone* zone, const cr_zone_line* line, const cr_vec3 x[4], slant* s)
{
    const int32_t i = line->row.candidate;
    const cr_candidate* c = &zone->task->candidate[i];
    if (c->pair.kind != CR_PAIR_EE || (line->say > 0.0 && zone->now.items[i].free < 2)) {
        return 0;
    }
    *s = slant_of(c, x, &line->row.at);
    return s->t > 0.0 && s->t < 1.0;
}

// d aslant / d crossing. A row of two edges that cross has that for its say: four vertices are a
// part of nothing else.
static double aslant_slope(const cr_zone* zone, const cr_zone_line* line, const slant* s)
{
    const double thickness = zone->task->candidate[line->row.candidate].thickness;
    return 2.0 * s->t * (1.0 - s->t) / (parallel_share * thickness);
}

static void points_of(const cr_zone* zone, const cr_zone_line* line, cr_vec3 x[4])
{
    for (int k = 0; k < 4; k++) {
        x[k] = line->point[k] >= 0 ? zone->point.items[line->point[k]].x : (cr_vec3){0, 0, 0};
    }
}

// dc_k = n.(Hess dx)_k, for c_k n is the derivative of the distance by x_k; so with P the closest
// points  s = sum |c_k| x_k / 2  moves by  sum |c_k| dx_k / 2 + sum +-dc_k (x_k - s) / 2.
static double half_sign(int32_t kind, int k)
{
    return cr_row_side(kind, k) == 1 ? 0.5 : -0.5;
}

// The points that a line's place and say hang on: of edges that lean all four, wherever they are
// nearest.
static int32_t felt_points(const cr_zone_line* line)
{
    return line->say > 0.0 ? line->row.at.active : 15;
}

// What a line's place and say change by when its points do, and its thickness. Of edges without a
// say it is their aslant.
typedef struct change {
    cr_vec3 at;
    double say;
} change;

static change change_of(const cr_zone* zone, const cr_zone_line* line, const cr_vec3 dx[4],
                        double thickness)
{
    const cr_candidate* c = &zone->task->candidate[line->row.candidate];
    const cr_closest* at = &line->row.at;
    cr_vec3 x[4], bent[4];
    double distance = 0.0;
    change out = {.at = {0, 0, 0}};
    slant s;
    points_of(zone, line, x);
    const cr_vec3 place = place_of(zone, line);
    cr_distance_hessian_apply(c->pair.kind, x, at, dx, bent);
    for (int k = 0; k < 4; k++) {
        if (at->active >> k & 1) {
            const double dc = cr_vec3_dot(at->n, bent[k]), half = half_sign(c->pair.kind, k);
            out.at = cr_vec3_add_scaled(out.at, 0.5 * fabs(at->c[k]), dx[k]);
            out.at = cr_vec3_add_scaled(out.at, half * dc, cr_vec3_sub(x[k], place));
            distance += at->c[k] * cr_vec3_dot(at->n, dx[k]);
        }
    }
    if (is_slanted(zone, line, x, &s)) {
        const cr_vec3 da = cr_vec3_sub(dx[1], dx[0]), db = cr_vec3_sub(dx[3], dx[2]);
        const cr_vec3 cross = cr_vec3_add(cr_vec3_cross(da, s.b), cr_vec3_cross(s.a, db));
        const int first = cr_vec3_norm2(s.a) >= cr_vec3_norm2(s.b);
        const double longer = 2.0 * (first ? cr_vec3_dot(s.a, da) : cr_vec3_dot(s.b, db));
        const double grown = 2.0 * cr_vec3_dot(s.cross, cross) / cr_vec3_norm2(s.cross) -
                             distance / at->distance - longer / s.longer - thickness / c->thickness;
        out.say = aslant_slope(zone, line, &s) * s.crossing * grown;
    }
    return out;
}

// Its reverse: x gets the bars of the points; returns that of the thickness.
static double change_adj(const cr_zone* zone, const cr_zone_line* line, const change* bar,
                         cr_vec3 x_bar[4])
{
    const cr_candidate* c = &zone->task->candidate[line->row.candidate];
    const cr_closest* at = &line->row.at;
    cr_vec3 x[4], source[4] = {{0, 0, 0}};
    double thickness = 0.0;
    slant s;
    points_of(zone, line, x);
    const cr_vec3 place = place_of(zone, line);
    for (int k = 0; k < 4; k++) {
        if (at->active >> k & 1) {
            const double c_bar =
                half_sign(c->pair.kind, k) * cr_vec3_dot(bar->at, cr_vec3_sub(x[k], place));
            source[k] = cr_vec3_scale(c_bar, at->n);
        }
    }
    cr_distance_hessian_apply(c->pair.kind, x, at, source, x_bar);
    for (int k = 0; k < 4; k++) {
        x_bar[k] = at->active >> k & 1 ? cr_vec3_add_scaled(x_bar[k], 0.5 * fabs(at->c[k]), bar->at)
                                       : (cr_vec3){0, 0, 0};
    }
    if (bar->say != 0.0 && is_slanted(zone, line, x, &s)) {
        const double grown = bar->say * aslant_slope(zone, line, &s) * s.crossing;
        const cr_vec3 cross = cr_vec3_scale(2.0 * grown / cr_vec3_norm2(s.cross), s.cross);
        const int first = cr_vec3_norm2(s.a) >= cr_vec3_norm2(s.b);
        const double longer = -2.0 * grown / s.longer;
        const cr_vec3 a = cr_vec3_add_scaled(cr_vec3_cross(s.b, cross), first ? longer : 0.0, s.a);
        const cr_vec3 b = cr_vec3_add_scaled(cr_vec3_cross(cross, s.a), first ? 0.0 : longer, s.b);
        const cr_vec3 edge[4] = {cr_vec3_neg(a), a, cr_vec3_neg(b), b};
        for (int k = 0; k < 4; k++) {
            x_bar[k] = cr_vec3_add(x_bar[k], edge[k]);
            x_bar[k] = cr_vec3_add_scaled(x_bar[k], -grown / at->distance * at->c[k], at->n);
        }
        thickness = -grown / c->thickness;
    }
    return thickness;
}

// How a point moves with the unknowns, if z is given; and, the unknowns held, with all else.
static cr_vec3 point_moved(const cr_zone* zone, const cr_zone_point* point, const double* z,
                           const cr_zone_tangents* by)
{
    const cr_zone_block* block = point->block >= 0 ? &zone->block.items[point->block] : NULL;
    const int rigid = block && point->rigid;
    cr_vec3 dx = {0, 0, 0}, turn = {0, 0, 0};
    if (z && rigid) {
        turn = cr_vec3_load(z + block->first);
        dx = cr_vec3_load(z + block->first + 3);
    } else if (z && block) {
        dx = cr_vec3_load(z + block->first);
    }
    if (by && rigid) {
        const int32_t f = block->frame;
        const cr_vec3 b = cr_mat3_tapply(block->body.r_p, cr_mat3_apply(block->body.r, point->p));
        const cr_vec3 p = by->p ? by->p[point->vertex] : (cr_vec3){0, 0, 0};
        dx = cr_vec3_add(dx, by->t0[f]);
        dx = cr_vec3_add(dx, cr_mat3_apply(block->body.r, p));
        dx = cr_vec3_add(dx, cr_mat3_apply(block->body.r_p, cr_vec3_cross(by->rp[f], b)));
        if (block->lock >> 3) { // its free axes turn with R_p, and w with them
            turn = cr_vec3_cross(cr_vec3_load(zone->z + block->first), by->rp[f]);
        }
    } else if (by && block) {
        dx = cr_vec3_add(dx, by->x0[block->node]);
    } else if (by) { // o0 + to (o1 - o0)
        const cr_vec3 o0 = by->obstacle0[point->vertex], o1 = by->obstacle1[point->vertex];
        dx = cr_vec3_add_scaled(cr_vec3_add(dx, o0), zone->task->to, cr_vec3_sub(o1, o0));
    }
    if (rigid) {
        const cr_vec3 arm = cr_mat3_apply(block->body.r, point->p);
        dx = cr_vec3_add(dx, cr_vec3_cross(cr_mat3_apply(block->body.jth, turn), arm));
    }
    return dx;
}

// Its reverse: to z, or to all else.
static void point_adj(const cr_zone* zone, const cr_zone_point* point, cr_vec3 bar, double* z,
                      cr_zone_bars* bars)
{
    const cr_zone_block* block = point->block >= 0 ? &zone->block.items[point->block] : NULL;
    const int rigid = block && point->rigid;
    if (z && rigid) {
        const cr_vec3 arm = cr_mat3_apply(block->body.r, point->p);
        cr_vec3_accumulate(z + block->first,
                           cr_mat3_tapply(block->body.jth, cr_vec3_cross(arm, bar)));
        cr_vec3_accumulate(z + block->first + 3, bar);
    } else if (z && block) {
        cr_vec3_accumulate(z + block->first, bar);
    }
    if (!bars) {
        return;
    }
    if (block && rigid) {
        const int32_t f = block->frame;
        const cr_vec3 b = cr_mat3_tapply(block->body.r_p, cr_mat3_apply(block->body.r, point->p));
        cr_vec3_add_to(&bars->t0[f], bar);
        cr_vec3_add_to(&bars->p[point->vertex], cr_mat3_tapply(block->body.r, bar));
        cr_vec3_add_to(&bars->rp[f], cr_vec3_cross(b, cr_mat3_tapply(block->body.r_p, bar)));
    } else if (block) {
        cr_vec3_add_to(&bars->x0[block->node], bar);
    } else {
        cr_zone_given_adj(zone->task, point->vertex, bar, bar, bars);
    }
}

// Room for what every line has of place and say, the idle ones too.
static change* changes(cr_zone* zone)
{
    return (change*)(void*)zone->crowd.items;
}

// Whether a line is nearest at a feature that is part of two edges, and these elsewhere.
static int is_rim_of(const cr_zone* zone, const cr_zone_line* line, const cr_zone_line* edges)
{
    const cr_pair* pair = &zone->task->candidate[edges->row.candidate].pair;
    const int32_t active = zone->now.items[edges->row.candidate].active;
    int found = 0;
    for (int32_t part = 1; part < 15 && !found; part++) { // vertices of both edges
        if (part & 3 && part >> 2 && part != active) {
            const cr_contact_key key = cr_candidate_key(pair, part);
            found = cr_candidate_compare_keys(&key, &line->row.key) == 0;
        }
    }
    return found;
}

// The lines that are what leaning edges leave of them.
static carom_status find_leans(cr_zone* zone, int32_t all)
{
    zone->lean.count = 0;
    for (int32_t e = zone->line.count; e < all; e++) {
        const cr_zone_line* edges = &zone->line.items[e];
        cr_vec3 x[4];
        slant s;
        points_of(zone, edges, x);
        if (edges->say > 0.0 || !is_slanted(zone, edges, x, &s)) {
            continue;
        }
        for (int32_t i = 0; i < all; i++) {
            const cr_zone_line* line = &zone->line.items[i];
            const cr_zone_lean lean = {i, e, 1.0 - aslant_of(&s)};
            if (line->say > 0.0 && line->say < 1.0 && is_rim_of(zone, line, edges) &&
                !cr_array_push(&zone->lean, lean)) {
                return CAROM_ERR_MEMORY;
            }
        }
    }
    return CAROM_OK;
}

carom_status cr_zone_crowd_recall(cr_zone* zone)
{
    const int32_t all = zone->line.count + zone->task->idle_count;
    if (all > INT32_MAX / 4 || !cr_array_reserve(&zone->crowd, 4 * all)) {
        return CAROM_ERR_MEMORY;
    }
    const carom_status status = cr_zone_crowd_find(zone, all);
    return status == CAROM_OK ? find_leans(zone, all) : status;
}

// What a line is of itself is a product of what each pair of edges leaves of it, left = 1 - aslant.
static double lean_slope(const cr_zone* zone, const cr_zone_lean* lean)
{
    return -zone->line.items[lean->line].say / lean->left;
}

// The derivative of near^3 say, which a line has of another, by where they are from each other, by
// the blur and by the other's say.
typedef struct crowd_slope {
    cr_vec3 apart;
    double blur, say;
} crowd_slope;

static crowd_slope slope_of(const cr_zone* zone, const cr_zone_beside* beside)
{
    const cr_zone_line* line = &zone->line.items[beside->line];
    const double range = zone->task->candidate[line->row.candidate].blur, near = beside->near;
    const double by_near = 3.0 * near * near * zone->line.items[beside->other].say;
    return (crowd_slope){cr_vec3_scale(-2.0 * by_near / (range * range), beside->apart),
                         2.0 * by_near * (1.0 - near) / range, near * near * near};
}

void cr_zone_crowd_jvp(cr_zone* zone, const double* z, const cr_zone_tangents* by,
                       const cr_zone_row_tangents* rows, cr_zone_row_tangents* out)
{
    const int32_t count = zone->line.count, all = count + zone->task->idle_count;
    change* d = changes(zone);
    for (int32_t i = 0; i < all; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        cr_vec3 dx[4] = {{0, 0, 0}};
        for (int k = 0; k < 4; k++) {
            if (felt_points(line) >> k & 1) {
                dx[k] = point_moved(zone, &zone->point.items[line->point[k]], z, by);
            }
        }
        d[i] = change_of(zone, line, dx, rows ? rows[i].thickness : 0.0);
    }
    for (int32_t k = 0; k < zone->lean.count; k++) {
        const cr_zone_lean* lean = &zone->lean.items[k];
        d[lean->line].say += lean_slope(zone, lean) * d[lean->other].say;
    }
    for (int32_t i = 0; i < count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        out[i].compliance = -line->eps0 / line->say * d[i].say;
        out[i].room = -line->room / line->say * d[i].say;
    }
    for (int32_t k = 0; k < zone->beside.count; k++) {
        const cr_zone_beside* beside = &zone->beside.items[k];
        const cr_zone_line* line = &zone->line.items[beside->line];
        if (beside->line >= count) {
            continue;
        }
        const crowd_slope slope = slope_of(zone, beside);
        const cr_vec3 apart = cr_vec3_sub(d[beside->line].at, d[beside->other].at);
        double crowd = cr_vec3_dot(slope.apart, apart) + slope.say * d[beside->other].say;
        crowd += rows ? slope.blur * rows[beside->line].blur : 0.0;
        out[beside->line].compliance += line->eps0 / line->crowd * crowd;
    }
}

void cr_zone_crowd_adj(cr_zone* zone, cr_zone_row_bars* rows, int32_t solved, double* z,
                       cr_zone_bars* bars)
{
    const int32_t count = zone->line.count, all = count + zone->task->idle_count;
    change* bar = changes(zone);
    memset(bar, 0, (size_t)all * sizeof *bar);
    for (int32_t i = 0; i < count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        const cr_give give = cr_give_make(line->eps0, line->room, line->row.lam);
        const double v = solved ? 0.0 : line->dlam;
        line->push = rows[i].compliance - v * give.slope * line->row.lam / line->eps0;
        const double room = rows[i].room - v * give.share * give.share;
        bar[i].say = -(line->push * line->eps0 + room * line->room) / line->say;
    }
    for (int32_t k = 0; k < zone->beside.count; k++) {
        const cr_zone_beside* beside = &zone->beside.items[k];
        const cr_zone_line* line = &zone->line.items[beside->line];
        if (beside->line >= count) {
            continue;
        }
        const crowd_slope slope = slope_of(zone, beside);
        const double crowd_bar = line->push * line->eps0 / line->crowd;
        const cr_vec3 apart = cr_vec3_scale(crowd_bar, slope.apart);
        cr_vec3_add_to(&bar[beside->line].at, apart);
        cr_vec3_add_to(&bar[beside->other].at, cr_vec3_neg(apart));
        bar[beside->other].say += crowd_bar * slope.say;
        if (bars) {
            rows[beside->line].blur += crowd_bar * slope.blur;
        }
    }
    for (int32_t k = 0; k < zone->lean.count; k++) {
        const cr_zone_lean* lean = &zone->lean.items[k];
        bar[lean->other].say += lean_slope(zone, lean) * bar[lean->line].say;
    }
    for (int32_t i = 0; i < all; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        cr_vec3 x_bar[4];
        const double thickness = change_adj(zone, line, &bar[i], x_bar);
        for (int k = 0; k < 4; k++) {
            if (felt_points(line) >> k & 1) {
                point_adj(zone, &zone->point.items[line->point[k]], x_bar[k], z, bars);
            }
        }
        if (bars) {
            rows[i].thickness += thickness;
        }
    }
}

// ---- what the way back has to know

carom_status cr_zone_crowd_idle(cr_zone* zone)
{
    zone->idle.count = zone->crowded = 0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        line->beside = 0;
        zone->crowded += line->row.lam > 0.0 && (line->crowd > 1.0 || line->say < 1.0);
    }
    for (int32_t k = 0; k < zone->beside.count; k++) {
        const cr_zone_beside* beside = &zone->beside.items[k];
        if (zone->line.items[beside->line].row.lam > 0.0) {
            zone->line.items[beside->other].beside = 1;
        }
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        if (line->beside && !(line->row.lam > 0.0) && !cr_array_push(&zone->idle, line->row)) {
            return CAROM_ERR_MEMORY;
        }
    }
    for (int32_t i = 0; i < zone->task->candidate_count && zone->crowded > 0; i++) {
        const cr_candidate* c = &zone->task->candidate[i];
        const cr_zone_row edges = {.candidate = i, .compliance = c->compliance, .room = c->room};
        if (zone->share.items[i].leans && !cr_array_push(&zone->idle, edges)) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}
