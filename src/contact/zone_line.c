#include "contact/zone_inside.h"
#include "core/order.h"
#include <float.h>
#include <string.h>

// A key as two numbers in the same order: 32 bits for each of the first two vertices; for the
// others 30, then 4 for the side. Three times a vertex fits an index, so 30 are enough.
static void pack(const cr_contact_key* key, uint64_t out[2])
{
    out[0] = (uint64_t)(key->v[0] + 1) << 32 | (uint64_t)(key->v[1] + 1);
    out[1] = (uint64_t)(key->v[2] + 1) << 34 | (uint64_t)(key->v[3] + 1) << 4 | (uint64_t)key->side;
}

static cr_contact_key unpack(const uint64_t key[2])
{
    const uint64_t low = ((uint64_t)1 << 30) - 1;
    return (cr_contact_key){{(int32_t)(key[0] >> 32) - 1, (int32_t)(uint32_t)key[0] - 1,
                             (int32_t)(key[1] >> 34) - 1, (int32_t)(key[1] >> 4 & low) - 1},
                            (int32_t)(key[1] & 15)};
}

static int key_before(const uint64_t a[2], const uint64_t b[2])
{
    return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

static int key_equal(const uint64_t a[2], const uint64_t b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

static int mark_before(const cr_zone_mark* a, const cr_zone_mark* b)
{
    return key_equal(a->key, b->key) ? a->candidate < b->candidate : key_before(a->key, b->key);
}

CR_ORDER_DEFINE(sort_marks, cr_zone_mark, mark_before)

// The multiplier that a key had in the last step. Rows and islands ask in the order of the keys, or
// nearly so: the first guess is the one behind that which was found last.
static double warm_lam(cr_zone* zone, const cr_contact_key* key)
{
    const cr_zone_task* task = zone->task;
    int32_t low = 0, high = task->warm_count - 1;
    int32_t mid = zone->warm_at <= high ? zone->warm_at : low + (high - low) / 2;
    for (; low <= high; mid = low + (high - low) / 2) {
        const int order = cr_candidate_compare_keys(&task->warm[mid].key, key);
        if (order == 0) {
            zone->warm_at = mid + 1;
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
    cr_row_point points[4];
    for (int k = 0; k < 4; k++) {
        if (line->row.at.active >> k & 1) { // the others are not read
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
static void derive_rubbing(const cr_zone* zone, cr_zone_line* line)
{
    cr_row row;
    cr_row_slip slip;
    cr_zone_line_row(zone, line, &row);
    cr_row_slip_make(&slip, &row, line->stick);
    line->tau = slip.tau;
    line->rub = slip.s;
    line->block_count = line->offset[0] = 0;
    for (int b = 0; b < row.block_count; b++) {
        if (row.size[b] == 0) {
            continue;
        }
        const int at = line->offset[line->block_count];
        for (int i = 0; i < row.size[b]; i++) {
            line->a[at + i] = row.grad[row.offset[b] + i];
            line->f[at + i] = line->mu * slip.force[row.offset[b] + i];
        }
        line->block[line->block_count++] = row.block[b];
        line->offset[line->block_count] = at + row.size[b];
    }
}

// The place of a block among those of a line, which it joins if it is not there yet.
static int place_of(const cr_zone* zone, cr_zone_line* line, int32_t block)
{
    int b = 0;
    while (b < line->block_count && line->block[b] != block) {
        b++;
    }
    if (b == line->block_count) {
        line->block_count++;
        line->block[b] = block;
        line->offset[b + 1] = line->offset[b] + zone->block.items[block].size;
    }
    return b;
}

// The same without friction, as cr_row_make has it: (jth^T (R sum c p x n), sum c n).
static void derive_smooth(const cr_zone* zone, cr_zone_line* line)
{
    const cr_closest* at = &line->row.at;
    double share[4] = {0};
    cr_vec3 p[4] = {{0}};
    line->tau = line->rub = (cr_vec3){0, 0, 0};
    line->block_count = line->offset[0] = 0;
    for (int k = 0; k < 4; k++) {
        if (!(at->active >> k & 1)) {
            continue;
        }
        const cr_zone_point* point = &zone->point.items[line->point[k]];
        if (point->block >= 0) {
            const int b = place_of(zone, line, point->block);
            share[b] += at->c[k];
            p[b] = cr_vec3_add_scaled(p[b], at->c[k], point->p);
        }
    }
    memset(line->f, 0, sizeof(double) * (size_t)line->offset[line->block_count]);
    for (int b = 0; b < line->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[line->block[b]];
        double* a = line->a + line->offset[b];
        if (block->size == 6) {
            const cr_vec3 arm = cr_mat3_apply(block->body.r, p[b]);
            cr_vec3_store(a, cr_mat3_tapply(block->body.jth, cr_vec3_cross(arm, at->n)));
            a += 3;
        }
        cr_vec3_store(a, cr_vec3_scale(share[b], at->n));
    }
}

static void derive(const cr_zone* zone, cr_zone_line* line)
{
    if (line->mu > 0.0) {
        derive_rubbing(zone, line);
    } else {
        derive_smooth(zone, line);
    }
    for (int b = 0; b < line->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[line->block[b]];
        if (block->lock) {
            cr_zone_line_lock(block, line->a + line->offset[b]);
            cr_zone_line_lock(block, line->f + line->offset[b]);
        }
    }
}

// Only where edges cross does the row of both depend on their not being parallel.
static double say_of(const cr_zone* zone, int32_t candidate)
{
    return zone->now.items[candidate].free < 2 ? 1.0 : zone->share.items[candidate].aslant;
}

// depth(lam) about a lam: what a Newton step sees of it.
static void give_way_by(cr_zone_line* line, double lam)
{
    const cr_give give = cr_give_make(line->eps0, line->room, lam);
    line->eps = give.slope;
    line->sink = give.depth - give.slope * lam;
}

// The lam to begin from: that of the gap once both agree by and large, for where rows change from
// iterate to iterate the gap is what stays. What does not touch yet carries no load that would have
// hardened it by much: its lam is what a step was to have that could not be taken.
static double present_lam(const cr_zone_line* line)
{
    const double lam = line->row.lam, deep = cr_give_load(line->eps0, line->room, -line->row.gap);
    if (deep > 0.5 * lam && deep < 2.0 * lam) {
        return deep;
    }
    return line->row.gap < 0.0 ? lam : cr_min(lam, line->room / line->eps0);
}

// Rows of one place share its compliance, see zone_crowd.c.
static carom_status crowd(cr_zone* zone)
{
    const carom_status status = cr_zone_crowd_find(zone, zone->line.count);
    for (int32_t i = 0; i < zone->line.count && status == CAROM_OK; i++) {
        cr_zone_line* line = &zone->line.items[i];
        line->eps0 *= line->crowd / line->say;
        line->room /= line->say;
        give_way_by(line, present_lam(line));
    }
    return status;
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
        cr_zone_line line = {.say = task->say ? task->say[i] : 1.0, .members = 1, .active = 1};
        line.row.candidate = i;
        line.row.lam = lam[i];
        line.eps0 = task->candidate[i].compliance;
        line.room = task->candidate[i].room;
        give_way_by(&line, lam[i]);
        line.mu = task->candidate[i].friction;
        line.stick = zone->stick;
        memcpy(line.point, zone->corner.items + 4 * i, sizeof line.point);
        zone->line.items[zone->line.count++] = line;
    }
    cr_zone_line_refresh(zone);
    for (int32_t i = 0; i < zone->line.count; i++) {
        take_larger(zone, &zone->line.items[i]);
        zone->line.items[i].sigma = zone->line.items[i].rub;
    }
    zone->line.count -= task->idle_count;
    zone->crowded = task->crowded && !task->flat;
    return zone->crowded ? cr_zone_crowd_recall(zone) : CAROM_OK;
}

// Candidates over one face stand together, and share its plane.
static cr_closest over_face(cr_zone* zone, const int32_t corner[4])
{
    cr_closest at;
    if (memcmp(zone->plane_of, corner, sizeof zone->plane_of) != 0) {
        const cr_zone_point* point = zone->point.items;
        const cr_vec3 x[3] = {point[corner[0]].x, point[corner[1]].x, point[corner[2]].x};
        zone->plane = cr_distance_face_make(x);
        memcpy(zone->plane_of, corner, sizeof zone->plane_of);
    }
    cr_distance_face_closest(&zone->plane, zone->point.items[corner[3]].x, HUGE_VAL, &at);
    return at;
}

// Fills x, of a point over a face with nothing.
static cr_closest classify(cr_zone* zone, int32_t candidate, cr_vec3 x[4])
{
    if (zone->task->candidate[candidate].pair.kind == CR_PAIR_PT) {
        return over_face(zone, zone->corner.items + 4 * candidate);
    }
    for (int k = 0; k < 4; k++) {
        const int32_t p = zone->corner.items[4 * candidate + k];
        x[k] = p >= 0 ? zone->point.items[p].x : (cr_vec3){0, 0, 0};
    }
    return cr_distance_closest(zone->task->candidate[candidate].pair.kind, x);
}

// A length that grows by no less than what the points of a candidate move, both sides together. Of
// a side with several movers it is the sum of their ways: the largest of them may stand still while
// another moves.
static double way_of(const cr_zone* zone, int32_t candidate)
{
    const int32_t* mover = zone->mover.items + 2 * candidate;
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        sum += mover[side] >= 0 ? zone->way.items[mover[side]] : 0.0;
    }
    if (mover[0] >= 0 && mover[1] >= 0) {
        return sum;
    }
    const int32_t* corner = zone->corner.items + 4 * candidate;
    const int32_t kind = zone->task->candidate[candidate].pair.kind;
    for (int k = 0; k < 4; k++) {
        if (corner[k] >= 0 && mover[cr_row_side(kind, k)] < 0) {
            sum += zone->point.items[corner[k]].way;
        }
    }
    return sum;
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

// The distance of candidate i here, as far as it is known without looking: where everything was
// when it was measured last it is that, and elsewhere no less than what the ways leave of it.
static double least_distance(const cr_zone* zone, int32_t i, double way)
{
    const cr_zone_share* share = &zone->share.items[i];
    return share->seen - (way - share->way);
}

static void look(cr_zone* zone, int32_t i, double way, cr_vec3 x[4])
{
    zone->now.items[i] = classify(zone, i, x);
    zone->share.items[i].seen = zone->now.items[i].distance;
    zone->share.items[i].way = way;
}

void cr_zone_line_measure(cr_zone* zone)
{
    cr_vec3 x[4];
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        const double way = way_of(zone, i), least = least_distance(zone, i, way);
        if (way == 0.0 || least >= 2.0 * zone->task->candidate[i].thickness) {
            zone->now.items[i].distance = least;
        } else {
            look(zone, i, way, x);
        }
    }
}

// Rows come and go with the features that are closest, but the force at a place stays: every
// candidate takes its part of its row's multiplier along.
static void hand_out(const cr_zone* zone, cr_zone_share* share)
{
    if (share->line >= 0) {
        const cr_zone_line* line = &zone->line.items[share->line];
        share->lam = line->row.lam / line->members;
        share->sigma = line->sigma;
    }
    share->line = -1;
}

void cr_zone_line_settle(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        hand_out(zone, &zone->share.items[i]);
    }
}

// Whether there is anything that a force between the closest points of a candidate could move:
// between a pinned node and a floor there is not, and no force would be enough to keep them apart.
static int yields(const cr_zone* zone, int32_t i)
{
    int any = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t p = zone->corner.items[4 * i + k];
        any |= p >= 0 && zone->point.items[p].block >= 0 && zone->now.items[i].c[k] != 0.0;
    }
    return any;
}

// Classifies every candidate at the current points and marks those near enough to matter, those
// that carry a load and those that stopped a step.
static carom_status choose(cr_zone* zone, int first)
{
    const cr_zone_task* task = zone->task;
    zone->mark.count = 0;
    if (!cr_array_reserve(&zone->mark, 2 * task->candidate_count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < task->candidate_count; i++) {
        const cr_candidate* c = &task->candidate[i];
        cr_zone_share* share = &zone->share.items[i];
        cr_closest* now = &zone->now.items[i];
        cr_vec3 x[4];
        hand_out(zone, share);
        share->leans = 0;
        // what was far off and has not come far since is still too far to matter
        const double way = way_of(zone, i), least = least_distance(zone, i, way);
        if (least >= 2.0 * c->thickness && !(share->lam > 0.0) && !zone->limiting.items[i]) {
            now->distance = least;
            share->lam = 0.0;
            continue;
        }
        look(zone, i, way, x);
        share->aslant = cr_zone_crowd_aslant(c, x, now);
        share->lam = first ? 0.0 : share->lam;
        if (!(say_of(zone, i) > 0.0) || !yields(zone, i) ||
            (!(now->distance - c->thickness < c->thickness) && !(share->lam > 0.0) &&
             !zone->limiting.items[i])) {
            share->lam = 0.0;
            continue;
        }
        const cr_contact_key key = cr_candidate_key(&c->pair, now->active);
        cr_zone_mark* mark = &zone->mark.items[zone->mark.count++];
        mark->candidate = i;
        pack(&key, mark->key);
    }
    if (zone->mark.count > 1) {
        sort_marks(zone->mark.items, zone->mark.items + zone->mark.count, zone->mark.count);
    }
    return CAROM_OK;
}

// Candidates of equal key measure the same distance: one of them stands for all.
static carom_status merge(cr_zone* zone)
{
    zone->group.count = 0;
    if (!cr_array_reserve(&zone->group, zone->mark.count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_zone_group* group = NULL;
    for (int32_t i = 0; i < zone->mark.count; i++) {
        const cr_zone_mark* mark = &zone->mark.items[i];
        cr_zone_share* share = &zone->share.items[mark->candidate];
        if (!group || !key_equal(group->key, mark->key)) {
            group = &zone->group.items[zone->group.count];
            *group = (cr_zone_group){.key = {mark->key[0], mark->key[1]},
                                     .candidate = mark->candidate,
                                     .stand = 1.0,
                                     .heir = zone->group.count++};
        }
        group->members++;
        group->lam += share->lam;
        group->sigma = cr_vec3_add_scaled(group->sigma, share->lam, share->sigma);
        share->line = zone->group.count - 1; // the group, until there are lines
    }
    return CAROM_OK;
}

static cr_zone_group* find_group(cr_zone* zone, const uint64_t key[2])
{
    int32_t low = 0, high = zone->group.count;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (key_before(zone->group.items[mid].key, key)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    cr_zone_group* found = &zone->group.items[low];
    return low < zone->group.count && key_equal(found->key, key) ? found : NULL;
}

// Follows a group to the one that has its load now.
static int32_t heir(const cr_zone* zone, int32_t group)
{
    while (zone->group.items[group].heir != group) {
        group = zone->group.items[group].heir;
    }
    return group;
}

// Most features that are asked for are nobody's: a bit for each group's key says so at once. There
// are eight bits a group or more, so that one in eight at most is looked for in vain.
static uint64_t bit_of(const cr_zone* zone, const uint64_t key[2])
{
    const uint64_t hash = (key[0] ^ key[1] * 0xbf58476d1ce4e5b9u) * 0x9e3779b97f4a7c15u;
    return (hash >> 32) & (64 * (uint64_t)zone->met.count - 1);
}

static carom_status note_groups(cr_zone* zone)
{
    int32_t words = 1; // a power of two
    while (words < zone->group.count / 8 + 1) {
        words *= 2;
    }
    zone->met.count = 0;
    if (!cr_array_reserve(&zone->met, words)) {
        return CAROM_ERR_MEMORY;
    }
    zone->met.count = words;
    memset(zone->met.items, 0, (size_t)zone->met.count * sizeof *zone->met.items);
    for (int32_t i = 0; i < zone->group.count; i++) {
        const uint64_t bit = bit_of(zone, zone->group.items[i].key);
        zone->met.items[bit / 64] |= (uint64_t)1 << bit % 64;
    }
    return CAROM_OK;
}

static int may_be_met(const cr_zone* zone, const uint64_t key[2])
{
    const uint64_t bit = bit_of(zone, key);
    return (int)(zone->met.items[bit / 64] >> bit % 64 & 1);
}

// Candidate i is nearest elsewhere than at the feature `key`, which is part of it.
static void push_aside(cr_zone* zone, int32_t i, const uint64_t key[2])
{
    cr_zone_group* rim = may_be_met(zone, key) ? find_group(zone, key) : NULL;
    if (!rim || !(rim->stand > 0.0)) {
        return;
    }
    const int32_t at = heir(zone, zone->share.items[i].line);
    cr_zone_group* to = &zone->group.items[at];
    if (to == rim) {
        return; // as near to each other as round-off: one of the two has to stay
    }
    rim->stand *= 1.0 - zone->share.items[i].aslant;
    zone->share.items[i].leans |= rim->stand > 0.0;
    if (!(rim->stand > 0.0)) {
        to->lam += rim->lam;
        to->sigma = cr_vec3_add(to->sigma, rim->sigma);
        to->members += rim->members;
        rim->heir = at;
    }
}

// The vertices that may take part in a distance of each kind of pair, as bits, ascending.
static const int8_t parts[4][10] = {
    [CR_PAIR_PP] = {9},
    [CR_PAIR_PE] = {9, 10, 11},
    [CR_PAIR_PT] = {9, 10, 11, 12, 13, 14, 15},
    [CR_PAIR_EE] = {5, 6, 7, 9, 10, 11, 13, 14, 15},
};
static const int8_t bit_count[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

// A corner over a face is near the edges of that face too, and one past an edge is near the flat
// diagonal that ends there. Such rows measure no distance between the bodies: something beside them
// is nearer. But within the give of a contact, up to sqrt(2 D depth) from there, they would carry
// load along tilted normals, and push a box off the diagonal of a flat floor. A row stands only
// where the distance between the bodies has a minimum: where every pair of features that contains
// its own is nearest right there. Edges that are all but parallel are nearest everywhere along
// their overlap and displace nothing.
static void give_way(cr_zone* zone)
{
    int32_t count[5] = {0}; // of groups by how many vertices they have
    for (int32_t i = 0; i < zone->group.count; i++) {
        count[bit_count[zone->now.items[zone->group.items[i].candidate].active]]++;
    }
    const int inside = count[2] + count[3] == 0; // no rim is anybody's
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        const cr_pair* pair = &zone->task->candidate[i].pair;
        const cr_zone_share* share = &zone->share.items[i];
        if (share->line < 0 || !(share->aslant > 0.0) ||
            (inside && bit_count[zone->now.items[i].active] == 4)) {
            continue;
        }
        for (const int8_t* part = parts[pair->kind]; *part; part++) {
            if (*part != zone->now.items[i].active && count[bit_count[*part]] > 0) {
                const cr_contact_key key = cr_candidate_key(pair, *part);
                uint64_t packed[2];
                pack(&key, packed);
                push_aside(zone, i, packed);
            }
        }
    }
}

static int is_oiled(const cr_zone* zone, const cr_zone_line* line)
{
    int oiled = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t block = line->point[k] < 0 ? -1 : zone->point.items[line->point[k]].block;
        oiled |= block >= 0 && zone->block.items[block].oiled;
    }
    return oiled;
}

// What is pressed where the step begins gives way as it did; what comes to it, as task->meets says.
static double softness(const cr_zone* zone, int32_t candidate)
{
    const cr_zone_task* task = zone->task;
    const cr_candidate* c = &task->candidate[candidate];
    if (task->soft == task->meets) {
        return task->soft;
    }
    cr_vec3 x[4];
    for (int k = 0; k < 4; k++) {
        const int32_t p = zone->corner.items[4 * candidate + k];
        x[k] = p >= 0 ? zone->point.items[p].x0 : (cr_vec3){0, 0, 0};
    }
    const int pressed = cr_distance_closest(c->pair.kind, x).distance < c->thickness;
    return pressed ? task->soft : task->meets;
}

// The groups that stand become lines.
static carom_status make_lines(cr_zone* zone)
{
    const cr_zone_task* task = zone->task;
    zone->line.count = 0;
    if (!cr_array_reserve(&zone->line, zone->group.count)) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t i = 0; i < zone->group.count; i++) {
        cr_zone_group* group = &zone->group.items[i];
        const cr_candidate* c = &task->candidate[group->candidate];
        if (!(group->stand > 0.0)) {
            continue;
        }
        group->line = zone->line.count;
        cr_zone_line* line = &zone->line.items[zone->line.count++];
        line->row.candidate = group->candidate;
        line->row.key = unpack(group->key);
        line->row.at = zone->now.items[group->candidate];
        line->row.gap = line->row.at.distance - c->thickness;
        line->row.lam = group->lam;
        line->members = group->members;
        line->sigma = group->sigma;
        line->say = say_of(zone, group->candidate) * group->stand;
        line->eps0 = softness(zone, group->candidate) * c->compliance;
        line->room = c->room;
        line->active = 0;
        memcpy(line->point, zone->corner.items + 4 * group->candidate, sizeof line->point);
        const int oiled = is_oiled(zone, line);
        line->mu = (oiled ? zone->grip : 1.0) * c->friction;
        line->stick = oiled ? zone->oil : zone->stick;
    }
    for (int32_t i = 0; i < zone->mark.count; i++) {
        cr_zone_share* share = &zone->share.items[zone->mark.items[i].candidate];
        share->line = zone->group.items[heir(zone, share->line)].line;
    }
    return CAROM_OK;
}

carom_status cr_zone_line_collect(cr_zone* zone)
{
    const int first = zone->fresh;
    zone->fresh = 0;
    carom_status status = choose(zone, first);
    if (status == CAROM_OK) {
        status = merge(zone);
    }
    if (status == CAROM_OK) {
        status = note_groups(zone);
    }
    if (status == CAROM_OK) {
        give_way(zone);
        status = make_lines(zone);
    }
    for (int32_t i = 0; i < zone->line.count && status == CAROM_OK; i++) {
        cr_zone_line* line = &zone->line.items[i];
        derive(zone, line);
        if (first) {
            line->row.lam = warm_lam(zone, &line->row.key);
        }
        line->sigma = line->row.lam > 0.0 && !first
                          ? cr_vec3_scale(1.0 / line->row.lam, line->sigma)
                          : line->rub;
    }
    return status == CAROM_OK ? crowd(zone) : status;
}

double cr_zone_line_dot(const cr_zone* zone, const cr_zone_line* line, const double* a,
                        const double* z)
{
    double sum = 0.0;
    for (int b = 0; b < line->block_count; b++) {
        const int from = line->offset[b], size = line->offset[b + 1] - from; // 3 or 6
        const double *at = z + zone->block.items[line->block[b]].first, *own = a + from;
        sum = sum + own[0] * at[0] + own[1] * at[1] + own[2] * at[2];
        if (size == 6) {
            sum = sum + own[3] * at[3] + own[4] * at[4] + own[5] * at[5];
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
static void slip_of(const cr_zone_line* line, const cr_row* row, cr_row_slip* slip)
{
    const double e = line->stick;
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
        slip_of(line, &row, &slip);
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
            const double* from = &m[row->offset[i]][row->offset[j]];
            for (int r = 0; r < row->size[i]; r++) {
                memcpy(part + r * row->size[j], from + r * CR_ROW_DOFS,
                       (size_t)row->size[j] * sizeof(double));
            }
            cr_zone_matrix_add(&zone->matrix, row->block[i], row->block[j], part);
        }
    }
}

// 0 over a row's own unknowns; the rest stays as it is.
static void clear(const cr_row* row, double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    const int32_t n = row->offset[row->block_count];
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            m[i][j] = 0.0;
        }
    }
}

void cr_zone_line_matrix(const cr_zone* zone, const cr_zone_line* line, cr_row* row,
                         double m[CR_ROW_DOFS][CR_ROW_DOFS])
{
    cr_row_curve curve;
    cr_zone_line_row(zone, line, row);
    clear(row, m);
    const int bends = line->mu > 0.0 || !cr_row_is_straight(row);
    if (bends) {
        cr_row_curve_make(&curve, row);
    }
    if (!zone->task->flat) {
        cr_row_add_hessian(row, bends ? &curve : NULL, -line->row.lam, m);
    }
    if (line->mu > 0.0) {
        cr_row_slip slip;
        slip_of(line, row, &slip);
        cr_row_add_friction(row, &curve, &slip, line->mu * line->row.lam, m);
    }
}

// A corner over a face without unknowns, as most contacts of what lies on the ground are: of the
// curvature nothing is left but that of the corner's own turning, n . R_p exp(w) c p. What
// cr_zone_line_matrix would give, without a row. False: it is another kind of contact.
static int add_corner_curve(cr_zone* zone, const cr_zone_line* line)
{
    const cr_closest* at = &line->row.at;
    const cr_candidate* c = &zone->task->candidate[line->row.candidate];
    if (line->mu > 0.0 || zone->task->flat || c->pair.kind != CR_PAIR_PT || at->free != 2) {
        return 0;
    }
    const cr_zone_point* corner = &zone->point.items[line->point[3]];
    const cr_zone_block* block = corner->rigid ? &zone->block.items[corner->block] : NULL;
    if (!block || block->lock || line->block_count != 1 || line->block[0] != corner->block ||
        zone->point.items[line->point[0]].block >= 0) {
        return 0;
    }
    const cr_vec3 p = cr_vec3_scale(at->c[3], corner->p);
    const cr_mat3 h = cr_rot_d2w(&block->body.rot, p, cr_mat3_tapply(block->body.r_p, at->n));
    double part[9];
    for (int i = 0; i < 9; i++) {
        part[i] = -line->row.lam * h.m[i / 3][i % 3];
    }
    cr_zone_matrix_add_turn(&zone->matrix, corner->block, part);
    return 1;
}

static void add_curve(cr_zone* zone, const cr_zone_line* line)
{
    if (add_corner_curve(zone, line)) {
        return;
    }
    cr_row row;
    double m[CR_ROW_DOFS][CR_ROW_DOFS];
    cr_zone_line_matrix(zone, line, &row, m);
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
static int is_stopped(const cr_zone_line* line, int32_t stick)
{
    return stick && line->row.lam > 0.0 && cr_vec3_norm(line->tau) > line->stick;
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
        double m[CR_ROW_DOFS][CR_ROW_DOFS];
        cr_zone_line_row(zone, line, &row);
        clear(&row, m);
        cr_row_slip_make(&slip, &row, line->stick);
        const double spring = is_stopped(line, stick) ? CR_ZONE_STICK / line->eps / slip.weight
                                                      : line->mu * line->row.lam;
        cr_row_add_friction_held(&row, &slip, spring, m);
        add_part(zone, &row, m);
    }
}

double cr_zone_line_rub(const cr_zone_line* line, int32_t stick)
{
    if (!is_stopped(line, stick) || !(line->mu > 0.0)) {
        return line->row.lam;
    }
    const double weight = 1.0 / cr_vec3_norm(line->tau);
    return CR_ZONE_STICK / line->eps / weight / line->mu;
}

void cr_zone_line_add(cr_zone* zone, const cr_zone_line* line, double weight, int32_t friction)
{
    double b[CR_ROW_DOFS];
    for (int k = 0; k < line->offset[line->block_count]; k++) {
        b[k] = weight * (line->a[k] - (friction ? line->f[k] : 0.0));
    }
    for (int i = 0; i < line->block_count; i++) {
        for (int j = 0; j < line->block_count; j++) {
            if (!zone->matrix.symmetric || j <= i) {
                cr_zone_matrix_add_outer(&zone->matrix, line->block[i], line->block[j],
                                         b + line->offset[i], line->a + line->offset[j]);
            }
        }
    }
}

void cr_zone_line_push(const cr_zone* zone, const cr_zone_line* line, double s, int32_t friction,
                       double* out)
{
    for (int b = 0; b < line->block_count; b++) {
        const int from = line->offset[b], size = line->offset[b + 1] - from; // 3 or 6
        double* restrict at = out + zone->block.items[line->block[b]].first;
        const double* restrict a = line->a + from;
        const double* restrict f = line->f + from;
        if (friction && size == 6) {
            for (int i = 0; i < 6; i++) {
                at[i] += s * (a[i] - f[i]);
            }
            continue;
        }
        for (int i = 0; i < size; i++) {
            at[i] += s * (friction ? a[i] - f[i] : a[i]);
        }
    }
}
