#include "contact/zone_inside.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

static int compare_lines(const void* a, const void* b)
{
    const cr_zone_row *ra = &((const cr_zone_line*)a)->row, *rb = &((const cr_zone_line*)b)->row;
    const int order = cr_candidate_compare_keys(&ra->key, &rb->key);
    return order ? order : (ra->candidate < rb->candidate ? -1 : ra->candidate > rb->candidate);
}

// The multiplier that a key had in the last step.
static double warm_lam(const cr_zone_task* task, const cr_contact_key* key)
{
    int32_t low = 0, high = task->warm_count - 1;
    while (low <= high) {
        const int32_t mid = low + (high - low) / 2;
        const int order = cr_candidate_compare_keys(&task->warm[mid].key, key);
        if (order == 0) {
            return task->warm[mid].force * task->h * task->h;
        }
        if (order < 0) {
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return 0.0;
}

void cr_zone_line_row(const cr_zone* zone, const cr_zone_line* line, cr_row* row)
{
    const cr_candidate* c = &zone->task->candidate[line->row.candidate];
    cr_row_point points[4] = {{0}};
    for (int k = 0; k < 4; k++) {
        points[k].block = -1;
        if (line->point[k] >= 0) {
            const cr_zone_point* point = &zone->point.items[line->point[k]];
            points[k] =
                (cr_row_point){.body = point->rigid ? &zone->block.items[point->block].body : NULL,
                               .block = point->block,
                               .p = point->p,
                               .start = point->x0,
                               .u = point->moved};
        }
    }
    cr_row_make(row, c->pair.kind, &line->row.at, points, c->lever);
}

void cr_zone_line_lock(const cr_zone_block* block, double* a)
{
    if (block->lock >> 3) {
        cr_vec3_store(a, cr_mat3_apply(block->free_turn, cr_vec3_load(a)));
    }
    for (int axis = 0; axis < 3; axis++) {
        a[3 + axis] = block->lock >> axis & 1 ? 0.0 : a[3 + axis];
    }
}

// The line's derivatives by block; blocks without unknowns are left out.
static void derive(const cr_zone* zone, cr_zone_line* line)
{
    cr_row row;
    cr_zone_line_row(zone, line, &row);
    cr_row_slip slip;
    const int rubs = line->mu > 0.0;
    line->tau = line->rub = (cr_vec3){0, 0, 0};
    if (rubs) {
        cr_row_slip_make(&slip, &row, zone->stick);
        line->tau = slip.tau;
        line->rub = slip.s;
    }
    line->block_count = line->offset[0] = 0;
    for (int b = 0; b < row.block_count; b++) {
        if (row.size[b] == 0) {
            continue;
        }
        const cr_zone_block* block = &zone->block.items[row.block[b]];
        const int at = line->offset[line->block_count];
        for (int i = 0; i < row.size[b]; i++) {
            line->a[at + i] = row.grad[row.offset[b] + i];
            line->f[at + i] = rubs ? line->mu * slip.force[row.offset[b] + i] : 0.0;
        }
        if (block->lock) {
            cr_zone_line_lock(block, line->a + at);
            cr_zone_line_lock(block, line->f + at);
        }
        line->block[line->block_count++] = row.block[b];
        line->offset[line->block_count] = at + row.size[b];
    }
}

// Two nearly parallel edges touch along their overlap, and where along it they are closest is
// decided by round-off. The vertices at the ends of the overlap carry such a contact; without the
// row of the edges themselves these could cross by l^2 sin^2 / 8D. Where that is less than this
// part of the thickness the row has no say, and from four times that on its full one.
static const double parallel_share = 1e-5;

static double smooth(double t)
{
    t = cr_clamp(t, 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}

// 0 for edges that are parallel by this measure, 1 for edges that are not; 1 for other pairs.
static double aslant(const cr_candidate* c, const cr_vec3 x[4], const cr_closest* now)
{
    if (c->pair.kind != CR_PAIR_EE) {
        return 1.0;
    }
    const cr_vec3 a = cr_vec3_sub(x[1], x[0]), b = cr_vec3_sub(x[3], x[2]);
    const double aa = cr_vec3_norm2(a), bb = cr_vec3_norm2(b);
    const double sin2 = cr_vec3_norm2(cr_vec3_cross(a, b)) / (aa * bb);
    const double crossing = cr_min(aa, bb) * sin2 / (8.0 * now->distance);
    return smooth((crossing / (parallel_share * c->thickness) - 1.0) / 3.0);
}

static int compare_spots(const void* a, const void* b)
{
    const cr_zone_spot *sa = a, *sb = b;
    for (int i = 0; i < 2; i++) {
        if (sa->body[i] != sb->body[i]) {
            return sa->body[i] < sb->body[i] ? -1 : 1;
        }
    }
    if (sa->at.x != sb->at.x) {
        return sa->at.x < sb->at.x ? -1 : 1;
    }
    return sa->line < sb->line ? -1 : sa->line > sb->line;
}

// A box's corner over the edge of another is at once a vertex against a face, a vertex against an
// edge and an edge against an edge: several rows, one contact. Which of them there are changes from
// iterate to iterate, so they must share one compliance or the contact would harden and soften with
// their number: eps grows with the rows of the same two bodies within `blur`, each counted by how
// near it is.
static carom_status crowd(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    zone->spot.count = 0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        const cr_pair* pair = &task->candidate[line->row.candidate].pair;
        cr_zone_spot spot = {.line = i, .at = {0, 0, 0}};
        const int32_t a = task->bodies->vertex_body[pair->v[0]];
        const int32_t b = task->bodies->vertex_body[pair->v[3]];
        spot.body[0] = a < b ? a : b;
        spot.body[1] = a < b ? b : a;
        for (int k = 0; k < 4; k++) {
            if (line->point[k] >= 0) {
                spot.at = cr_vec3_add_scaled(spot.at, 0.5 * fabs(line->row.at.c[k]),
                                             zone->point.items[line->point[k]].x);
            }
        }
        if (!cr_array_push(&zone->spot, spot)) {
            return CAROM_ERR_MEMORY;
        }
    }
    cr_zone_spot* spots = zone->spot.items;
    if (zone->spot.count > 1) {
        if (zone->spot.count > 1) {
            qsort(spots, (size_t)zone->spot.count, sizeof(cr_zone_spot), compare_spots);
        }
    }
    for (int32_t i = 0; i < zone->spot.count; i++) {
        cr_zone_line* line = &zone->line.items[spots[i].line];
        const double range = task->candidate[line->row.candidate].blur;
        double count = 0.0;
        for (int way = -1; way <= 1; way += 2) {
            for (int32_t j = way < 0 ? i - 1 : i; j >= 0 && j < zone->spot.count; j += way) {
                if (spots[j].body[0] != spots[i].body[0] || spots[j].body[1] != spots[i].body[1] ||
                    fabs(spots[j].at.x - spots[i].at.x) >= range) {
                    break;
                }
                const cr_vec3 apart = cr_vec3_sub(spots[j].at, spots[i].at);
                const double near = cr_max(0.0, 1.0 - cr_vec3_norm2(apart) / (range * range));
                count += near * near * near * zone->line.items[spots[j].line].say;
            }
        }
        line->eps *= count / line->say;
    }
    return CAROM_OK;
}

// A normal that leans along an edge by less than this touches what the edge bounds as well.
static const double tie = 1e-9;

// Exactly above the border of a face (the diagonal between two triangles of one plane, or its rim)
// the closest point belongs to the smaller feature, whose distance bends by 1/D across it. Where
// the normal is that of the whole face, or of two crossing edges, the larger feature has the same
// distance and normal and no such bend: on one side of the border, and between two triangles of a
// plane on both, the derivative is its.
static void take_larger(const cr_zone* zone, cr_zone_line* line)
{
    static const int32_t points[] = {
        [CR_PAIR_PP] = 9, [CR_PAIR_PE] = 11, [CR_PAIR_PT] = 15, [CR_PAIR_EE] = 15};
    const int32_t kind = zone->task->candidate[line->row.candidate].pair.kind;
    cr_closest* at = &line->row.at;
    if (at->active == points[kind] || !(at->distance > 0.0)) {
        return;
    }
    cr_vec3 x[4];
    for (int k = 0; k < 4; k++) {
        x[k] = line->point[k] >= 0 ? zone->point.items[line->point[k]].x : (cr_vec3){0, 0, 0};
    }
    const cr_vec3 e = cr_vec3_sub(x[1], x[0]);
    const cr_vec3 d = kind == CR_PAIR_PE   ? e
                      : kind == CR_PAIR_PT ? cr_vec3_sub(x[2], x[0])
                                           : cr_vec3_sub(x[3], x[2]);
    const double ee = cr_vec3_norm2(e), dd = cr_vec3_norm2(d);
    const int flat = fabs(cr_vec3_dot(at->n, e)) <= tie * sqrt(ee) &&
                     fabs(cr_vec3_dot(at->n, d)) <= tie * sqrt(dd);
    const int thin = kind != CR_PAIR_PE &&
                     !(cr_vec3_norm2(cr_vec3_cross(e, d)) > tie * ee * dd); // parallel, or no area
    if (!flat || thin) {
        return;
    }
    for (int32_t k = 0; k < 4; k++) { // they take part, with as good as no weight
        if (points[kind] >> k & 1 && at->c[k] == 0.0) {
            at->c[k] = cr_row_side(kind, k) == 1 ? DBL_MIN : -DBL_MIN;
        }
    }
    at->active = points[kind];
    at->free = kind == CR_PAIR_PE ? 1 : 2;
    derive(zone, line);
}

carom_status cr_zone_line_recall(cr_zone* zone, const double* lam)
{
    const cr_zone_task* task = zone->task;
    zone->line.count = 0;
    if (!cr_array_reserve(&zone->line, task->candidate_count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < task->candidate_count; i++) {
        cr_zone_line line = {.say = 1.0, .members = 1, .active = 1};
        line.row.candidate = i;
        line.row.lam = lam[i];
        line.eps = task->candidate[i].compliance;
        line.mu = task->candidate[i].friction;
        memcpy(line.point, zone->corner.items + 4 * i, sizeof line.point);
        zone->line.items[zone->line.count++] = line;
    }
    cr_zone_line_refresh(zone);
    for (int32_t i = 0; i < zone->line.count; i++) {
        take_larger(zone, &zone->line.items[i]);
        zone->line.items[i].sigma = zone->line.items[i].rub;
    }
    return CAROM_OK;
}

static cr_closest classify(const cr_zone* zone, int32_t candidate, cr_vec3 x[4])
{
    for (int k = 0; k < 4; k++) {
        const int32_t p = zone->corner.items[4 * candidate + k];
        x[k] = p >= 0 ? zone->point.items[p].x : (cr_vec3){0, 0, 0};
    }
    return cr_distance_closest(zone->task->candidate[candidate].pair.kind, x);
}

// How far the points of a candidate have come along their ways, both sides together.
static double way_of(const cr_zone* zone, int32_t candidate)
{
    const int32_t* corner = zone->corner.items + 4 * candidate;
    const int edges = zone->task->candidate[candidate].pair.kind == CR_PAIR_EE;
    double side[2] = {0, 0};
    for (int k = 0; k < 4; k++) {
        if (corner[k] >= 0) {
            const int b = edges ? k >= 2 : k == 3;
            side[b] = cr_max(side[b], zone->point.items[corner[k]].way);
        }
    }
    return side[0] + side[1];
}

void cr_zone_line_refresh(cr_zone* zone)
{
    cr_vec3 x[4];
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_row* row = &zone->line.items[i].row;
        const cr_candidate* c = &zone->task->candidate[row->candidate];
        zone->now.items[row->candidate] = classify(zone, row->candidate, x);
        row->at = zone->now.items[row->candidate];
        row->key = cr_candidate_key(&c->pair, row->at.active);
        row->gap = row->at.distance - c->thickness;
        derive(zone, &zone->line.items[i]);
    }
}

// Rows come and go with the features that are closest, but the force at a place stays: every
// candidate takes its part of its row's multiplier along.
static void hand_out(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        cr_zone_share* share = &zone->share.items[i];
        share->lam = 0.0;
        if (share->line >= 0) {
            const cr_zone_line* line = &zone->line.items[share->line];
            share->lam = line->row.lam / line->members;
            share->sigma = line->sigma;
        }
        share->line = -1;
    }
}

// Candidates of equal key measure the same distance: one of them stands for all.
static void merge(cr_zone* zone)
{
    cr_zone_line* lines = zone->line.items;
    if (zone->line.count > 1) {
        qsort(lines, (size_t)zone->line.count, sizeof(cr_zone_line), compare_lines);
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* last = kept > 0 ? &lines[kept - 1] : NULL;
        const int32_t candidate = lines[i].row.candidate;
        if (last && cr_candidate_compare_keys(&last->row.key, &lines[i].row.key) == 0) {
            last->sigma = cr_vec3_add(last->sigma, lines[i].sigma);
            last->row.lam += lines[i].row.lam;
            last->members++;
        } else {
            lines[kept++] = lines[i];
        }
        zone->share.items[candidate].line = kept - 1;
    }
    zone->line.count = kept;
}

static cr_zone_line* find_line(cr_zone* zone, const cr_contact_key* key)
{
    int32_t low = 0, high = zone->line.count - 1;
    while (low <= high) {
        const int32_t mid = low + (high - low) / 2;
        const int order = cr_candidate_compare_keys(&zone->line.items[mid].row.key, key);
        if (order == 0) {
            return &zone->line.items[mid];
        }
        if (order < 0) {
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    return NULL;
}

// Follows a line to the one that has its load now.
static int32_t heir(const cr_zone* zone, int32_t line)
{
    while (zone->line.items[line].heir != line) {
        line = zone->line.items[line].heir;
    }
    return line;
}

// Candidate i is nearest elsewhere than at the feature `key`, which is part of it.
static void push_aside(cr_zone* zone, int32_t i, const cr_contact_key* key)
{
    cr_zone_line* lines = zone->line.items;
    cr_zone_line* rim = find_line(zone, key);
    if (!rim || !(rim->stand > 0.0)) {
        return;
    }
    const int32_t to = heir(zone, zone->share.items[i].line);
    if (&lines[to] == rim) {
        return; // as near to each other as round-off: one of the two has to stay
    }
    rim->stand *= 1.0 - zone->share.items[i].aslant;
    if (!(rim->stand > 0.0)) {
        lines[to].row.lam += rim->row.lam;
        lines[to].sigma = cr_vec3_add(lines[to].sigma, rim->sigma);
        lines[to].members += rim->members;
        rim->heir = to;
    }
}

// A corner over a face is near the edges of that face too, and one past an edge is near the flat
// diagonal that ends there. Such rows measure no distance between the bodies: something beside them
// is nearer. But within the give of a contact, up to sqrt(2 D depth) from there, they would carry
// load along tilted normals, and push a box off the diagonal of a flat floor. A row stands only
// where the distance between the bodies has a minimum: where every pair of features that contains
// its own is nearest right there. Edges that are all but parallel are nearest everywhere along
// their overlap and displace nothing.
static void give_way(cr_zone* zone)
{
    cr_zone_line* lines = zone->line.items;
    for (int32_t i = 0; i < zone->line.count; i++) {
        lines[i].stand = 1.0;
        lines[i].heir = i;
    }
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        const cr_pair* pair = &zone->task->candidate[i].pair;
        const cr_zone_share* share = &zone->share.items[i];
        const int32_t active = zone->now.items[i].active;
        if (share->line < 0 || !(share->aslant > 0.0)) {
            continue;
        }
        const int32_t side_b = pair->kind == CR_PAIR_EE ? 12 : 8;
        for (int32_t mask = 1; mask < 16; mask++) {
            int present = mask != active && (mask & side_b) && (mask & ~side_b);
            for (int k = 0; k < 4; k++) {
                present &= !(mask >> k & 1) || pair->v[k] >= 0;
            }
            if (present) {
                const cr_contact_key key = cr_candidate_key(pair, mask);
                push_aside(zone, i, &key);
            }
        }
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        lines[i].place = kept;
        kept += lines[i].stand > 0.0;
    }
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        cr_zone_share* share = &zone->share.items[i];
        share->line = share->line >= 0 ? lines[heir(zone, share->line)].place : -1;
    }
    kept = 0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        if (lines[i].stand > 0.0) {
            lines[kept] = lines[i];
            lines[kept++].say *= lines[i].stand;
        }
    }
    zone->line.count = kept;
}

// Classifies every candidate at the current points and keeps as rows those near enough to matter,
// those that carry a load and those that stopped a step.
carom_status cr_zone_line_collect(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    const int first = zone->report.iterations == 0;
    hand_out(zone);
    zone->line.count = 0;
    for (int32_t i = 0; i < task->candidate_count; i++) {
        const cr_candidate* c = &task->candidate[i];
        const cr_zone_share* share = &zone->share.items[i];
        cr_vec3 x[4];
        cr_closest* now = &zone->now.items[i];
        // what was far off and has not come far since is still too far to matter
        const double way = way_of(zone, i);
        const double least = share->seen - (way - share->way);
        if (least >= 2.0 * c->thickness && !(share->lam > 0.0) && !zone->limiting.items[i]) {
            now->distance = least;
            continue;
        }
        *now = classify(zone, i, x);
        zone->share.items[i].seen = now->distance;
        zone->share.items[i].way = way;
        const double gap = now->distance - c->thickness;
        zone->share.items[i].aslant = aslant(c, x, now);
        // only where edges cross does the row of both depend on their not being parallel
        cr_zone_line line = {.say = now->free < 2 ? 1.0 : share->aslant, .members = 1};
        if (!(line.say > 0.0)) {
            continue;
        }
        line.row.key = cr_candidate_key(&c->pair, now->active);
        line.row.lam = first ? 0.0 : share->lam;
        if (!(gap < c->thickness) && !(line.row.lam > 0.0) && !zone->limiting.items[i]) {
            continue;
        }
        line.row.candidate = i;
        line.row.at = *now;
        line.row.gap = gap;
        line.sigma = cr_vec3_scale(line.row.lam, share->sigma);
        memcpy(line.point, zone->corner.items + 4 * i, sizeof line.point);
        line.eps = c->compliance;
        line.mu = c->friction;
        if (!cr_array_push(&zone->line, line)) {
            return CAROM_ERR_MEMORY;
        }
    }
    merge(zone);
    give_way(zone);
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        derive(zone, line);
        if (first) {
            line->row.lam = warm_lam(task, &line->row.key);
        }
        line->sigma = line->row.lam > 0.0 && !first
                          ? cr_vec3_scale(1.0 / line->row.lam, line->sigma)
                          : line->rub;
    }
    return crowd(zone);
}

double cr_zone_line_dot(const cr_zone* zone, const cr_zone_line* line, const double* a,
                        const double* z)
{
    double sum = 0.0;
    for (int b = 0; b < line->block_count; b++) {
        const double* at = z + zone->block.items[line->block[b]].first;
        for (int i = line->offset[b]; i < line->offset[b + 1]; i++) {
            sum += a[i] * at[i - line->offset[b]];
        }
    }
    return sum;
}

// m := P m P over the unknowns of a locked frame.
static void respect_lock_twice(const cr_zone_block* block, int at, int n,
                               double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    for (int i = 0; i < n; i++) {
        cr_zone_line_lock(block, m[i] + at);
    }
    for (int j = 0; j < n; j++) {
        double column[6];
        for (int i = 0; i < 6; i++) {
            column[i] = m[at + i][j];
        }
        cr_zone_line_lock(block, column);
        for (int i = 0; i < 6; i++) {
            m[at + i][j] = column[i];
        }
    }
}

// Friction as an equation between two unknowns, sigma / weight(|tau|) = tau, linearised in both:
// its matrix has sigma where Newton on tau alone has s(tau). As long as |sigma| <= 1 it is
// positive, so a slip that overshoots into its opposite is pulled back instead of thrown to and
// fro.
static void slip_of(const cr_zone* zone, const cr_zone_line* line, const cr_row* row,
                    cr_row_slip* slip)
{
    const double e = zone->stick;
    cr_row_slip_make(slip, row, e);
    const double size = cr_vec3_norm(slip->tau);
    if (!(size > 0.0)) {
        return;
    }
    const double fall = size >= e ? 1.0 / (size * size * size) : 1.0 / (size * e * e);
    slip->ds = cr_mat3_outer(cr_vec3_scale(-fall / slip->weight, line->sigma), slip->tau);
    for (int i = 0; i < 3; i++) {
        slip->ds.m[i][i] += slip->weight;
    }
}

void cr_zone_line_foresee(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        if (!(line->mu > 0.0)) {
            continue;
        }
        cr_row row;
        cr_row_curve curve;
        cr_row_slip slip;
        double dz[CR_ROW_DOFS] = {0};
        cr_zone_line_row(zone, line, &row);
        cr_row_curve_make(&curve, &row);
        slip_of(zone, line, &row, &slip);
        for (int b = 0; b < row.block_count; b++) {
            for (int k = 0; k < row.size[b]; k++) {
                dz[row.offset[b] + k] = zone->d[zone->block.items[row.block[b]].first + k];
            }
        }
        const cr_vec3 dtau = cr_row_slip_rate(&row, &curve, &slip, dz);
        const cr_vec3 sigma = cr_vec3_add(slip.s, cr_mat3_apply(slip.ds, dtau));
        const double length = cr_vec3_norm(sigma);
        line->sigma = length > 1.0 ? cr_vec3_scale(1.0 / length, sigma) : sigma;
    }
}

// A matrix over a row's own unknowns goes to its blocks.
static void add_part(cr_zone* zone, const cr_row* row, double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    for (int b = 0; b < row->block_count; b++) {
        if (row->size[b] && zone->block.items[row->block[b]].lock) {
            respect_lock_twice(&zone->block.items[row->block[b]], row->offset[b],
                               row->offset[row->block_count], m);
        }
    }
    for (int i = 0; i < row->block_count; i++) {
        for (int j = 0; j < row->block_count; j++) {
            if (!row->size[i] || !row->size[j] || (zone->matrix.symmetric && j > i)) {
                continue;
            }
            double part[36];
            for (int r = 0; r < row->size[i]; r++) {
                for (int s = 0; s < row->size[j]; s++) {
                    part[r * row->size[j] + s] = m[row->offset[i] + r][row->offset[j] + s];
                }
            }
            cr_zone_matrix_add(&zone->matrix, row->block[i], row->block[j], part);
        }
    }
}

static void add_curve(cr_zone* zone, const cr_zone_line* line)
{
    cr_row row;
    cr_row_curve curve;
    double m[CR_ROW_DOFS][CR_ROW_DOFS] = {{0}};
    cr_zone_line_row(zone, line, &row);
    cr_row_curve_make(&curve, &row);
    if (!zone->task->flat) {
        cr_row_add_hessian(&row, &curve, -line->row.lam, m);
    }
    if (line->mu > 0.0) {
        cr_row_slip slip;
        slip_of(zone, line, &row, &slip);
        cr_row_add_friction(&row, &curve, &slip, line->mu * line->row.lam, m);
    }
    add_part(zone, &row, m);
}

void cr_zone_line_curve(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        if (line->row.lam > 0.0) {
            add_curve(zone, line);
        }
    }
}

// Of the lines that carry a load only those that slide are made to stick: the others do.
static int is_stopped(const cr_zone* zone, const cr_zone_line* line, int32_t stick)
{
    return stick && line->row.lam > 0.0 && cr_vec3_norm(line->tau) > zone->stick;
}

void cr_zone_line_hold(cr_zone* zone, int32_t stick)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        if (!(line->mu > 0.0) || !(line->row.lam > 0.0)) {
            continue;
        }
        cr_row row;
        cr_row_slip slip;
        double m[CR_ROW_DOFS][CR_ROW_DOFS] = {{0}};
        cr_zone_line_row(zone, line, &row);
        cr_row_slip_make(&slip, &row, zone->stick);
        const double spring = is_stopped(zone, line, stick)
                                  ? CR_ZONE_STICK / line->eps / slip.weight
                                  : line->mu * line->row.lam;
        cr_row_add_friction_held(&row, &slip, spring, m);
        add_part(zone, &row, m);
    }
}

double cr_zone_line_rub(const cr_zone* zone, const cr_zone_line* line, int32_t stick)
{
    if (!is_stopped(zone, line, stick) || !(line->mu > 0.0)) {
        return line->row.lam;
    }
    const double weight = 1.0 / cr_vec3_norm(line->tau);
    return CR_ZONE_STICK / line->eps / weight / line->mu;
}

void cr_zone_line_add(cr_zone* zone, const cr_zone_line* line, double weight, int32_t friction)
{
    for (int i = 0; i < line->block_count; i++) {
        const int ni = line->offset[i + 1] - line->offset[i];
        for (int j = 0; j < line->block_count; j++) {
            if (zone->matrix.symmetric && j > i) {
                continue;
            }
            const int nj = line->offset[j + 1] - line->offset[j];
            double part[36];
            for (int r = 0; r < ni; r++) {
                const int at = line->offset[i] + r;
                const double b = weight * (friction ? line->a[at] - line->f[at] : line->a[at]);
                for (int s = 0; s < nj; s++) {
                    part[r * nj + s] = b * line->a[line->offset[j] + s];
                }
            }
            cr_zone_matrix_add(&zone->matrix, line->block[i], line->block[j], part);
        }
    }
}

void cr_zone_line_push(const cr_zone* zone, const cr_zone_line* line, double s, int32_t friction,
                       double* out)
{
    for (int b = 0; b < line->block_count; b++) {
        double* at = out + zone->block.items[line->block[b]].first;
        for (int i = line->offset[b]; i < line->offset[b + 1]; i++) {
            at[i - line->offset[b]] += s * (friction ? line->a[i] - line->f[i] : line->a[i]);
        }
    }
}
