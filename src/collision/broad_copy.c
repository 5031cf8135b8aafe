#include "collision/broad_inside.h"
#include "core/assert.h"
#include <string.h>

// A carried body is not refitted. Its trees stand in its own frame, one set for all bodies of the
// same shape, and a call copies out of them what may meet one of the bodies around it: the nodes by
// their boxes carried along, the features by their own. So a body that stands on the ground costs
// its underside, in time and in memory.

// Along one axis, where a feature of these corners is.
static inline void carry_corners(const cr_broad_copying* c, const cr_vec3 p[3], int corners,
                                 int axis, cr_box* box)
{
    cr_carry_ends_axis(&c->ends, axis, p[0], c->margin, &box->lo[axis], &box->hi[axis]);
    for (int k = 1; k < corners; k++) {
        double lo, hi;
        cr_carry_ends_axis(&c->ends, axis, p[k], c->margin, &lo, &hi);
        box->lo[axis] = cr_min(box->lo[axis], lo);
        box->hi[axis] = cr_max(box->hi[axis], hi);
    }
}

// The corners of a feature in the body's frame.
static inline void feature_points(const cr_broad_copying* c, int32_t item, int corners,
                                  cr_vec3 p[3])
{
    const cr_broad* broad = c->broad;
    const int32_t rank = item + c->like;
    const int32_t* v = &rank;
    if (c->f != CR_VERTEX) {
        v = &cr_broad_vertices(broad->surface, c->f)[(size_t)corners * (size_t)c->trees->at[rank]];
    }
    for (int k = 0; k < corners; k++) {
        p[k] = cr_vec3_load(broad->p + 3 * (size_t)v[k]);
    }
}

// Whether a feature of these corners is below the plane of another body.
static inline int is_below(const cr_broad_meeting* other, const cr_vec3 p[3], int corners)
{
    double most = cr_vec3_dot(other->m, p[0]);
    for (int k = 1; k < corners; k++) {
        most = cr_max(most, cr_vec3_dot(other->m, p[k]));
    }
    return most < other->level;
}

// The box of a feature. False when it does not meet `around`, and then *box is not all there: most
// are sorted out by the axis that the one before was.
static int carry_feature(cr_broad_copying* c, const cr_vec3 p[3], int corners, const cr_box* around,
                         cr_box* box)
{
    int axis = c->axis;
    for (int k = 0; k < 3; k++, axis = axis < 2 ? axis + 1 : 0) {
        carry_corners(c, p, corners, axis, box);
        if (!((box->lo[axis] <= around->hi[axis]) & (around->lo[axis] <= box->hi[axis]))) {
            c->axis = axis;
            return 0;
        }
    }
    return 1;
}

// What stands upright on the sides of a face, a margin away from it.
static cr_broad_rim rim_of(const cr_broad_copying* c, int32_t item)
{
    cr_broad_rim out = {.d = {(double)NAN, (double)NAN, (double)NAN}};
    if (!c->carry->still || !c->broad->sparing) {
        return out;
    }
    const int32_t* v = &c->broad->surface->face[3 * (size_t)c->trees->at[item + c->like]];
    cr_vec3 x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = cr_carry_start(c->carry, cr_vec3_load(c->broad->p + 3 * (size_t)v[k]));
    }
    const cr_vec3 normal = cr_vec3_cross(cr_vec3_sub(x[1], x[0]), cr_vec3_sub(x[2], x[0]));
    for (int k = 0; k < 3; k++) {
        const cr_vec3 side = cr_vec3_cross(cr_vec3_sub(x[(k + 1) % 3], x[k]), normal);
        out.n[k] = cr_vec3_scale(1.0 / cr_vec3_norm(side), side); // NaN of a face without area
        out.d[k] = cr_vec3_dot(out.n[k], x[k]) + c->margin;
    }
    return out;
}

// Whether a feature of these corners and this box (NULL: any) meets one of the first n others.
static int meets_any(const cr_broad_copying* c, const cr_vec3 p[3], int corners, const cr_box* box,
                     int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if ((!box || cr_box_meet(box, &c->other[i].box)) && !is_below(&c->other[i], p, corners)) {
            return 1;
        }
    }
    return 0;
}

// Those of `count` features that meet one of the first n others, as a leaf. False: no memory.
static int copy_leaf(cr_broad_copying* c, const int32_t* item, int32_t count, int32_t n)
{
    cr_bvh* bvh = &c->trees->bvh;
    cr_bvh_node copy = {.box = cr_box_empty(), .first = bvh->item_count};
    if (cr_bvh_reserve(bvh, count) != CAROM_OK) {
        return 0;
    }
    cr_box around = c->other[0].box;
    for (int32_t i = 1; i < n; i++) {
        around = cr_box_union(&around, &c->other[i].box);
    }
    const int corners = cr_broad_corners(c->f);
    for (int32_t i = 0; i < count; i++) {
        cr_vec3 p[3];
        cr_box box;
        feature_points(c, item[i], corners, p);
        if (meets_any(c, p, corners, NULL, n) && carry_feature(c, p, corners, &around, &box) &&
            (n == 1 || meets_any(c, p, corners, &box, n))) {
            if (c->f == CR_FACE && !cr_array_push(&c->trees->rims, rim_of(c, item[i]))) {
                return 0;
            }
            bvh->item[bvh->item_count] = item[i] + c->first;
            bvh->box[bvh->item_count++] = box;
            copy.box = cr_box_union(&copy.box, &box);
            copy.count++;
        }
    }
    return cr_array_push(&bvh->node, copy);
}

// A copied node from its two children, the left one right behind it.
static void join_copies(cr_bvh* bvh, int32_t node, int32_t right)
{
    cr_bvh_node *copy = &bvh->node.items[node], *b = &bvh->node.items[right];
    copy->count = copy[1].count + b->count;
    copy->right = right;
    copy->box = cr_box_union(&copy[1].box, &b->box);
    if (copy->count == 0) { // nothing after all: one node is enough to say so
        copy->right = 0;
        bvh->node.count = node + 1;
    }
}

// What of a node meets one of the first n others. A node always becomes one, that of nothing where
// nothing is left: it meets none. False: no memory.
static int copy_node(cr_broad_copying* c, int32_t node, int32_t n)
{
    const cr_bvh_node* own = &c->trees->own.node.items[node];
    cr_bvh* bvh = &c->trees->bvh;
    const cr_box box = cr_carry_ends_box(&c->ends, &own->box, c->margin);
    int32_t near = 0;
    for (int32_t i = 0; i < n; i++) {
        const cr_broad_meeting other = c->other[i];
        if (cr_box_meet(&box, &other.box) && cr_box_reach(&own->box, other.m) >= other.level) {
            c->other[i] = c->other[near];
            c->other[near++] = other;
        }
    }
    const int32_t me = bvh->node.count;
    if (near == 0) {
        return cr_array_push(&bvh->node, ((cr_bvh_node){cr_box_empty(), bvh->item_count, 0, 0, 0}));
    }
    if (!own->right) {
        return copy_leaf(c, c->trees->own.item + own->first, own->count, near);
    }
    if (!cr_array_push(&bvh->node, ((cr_bvh_node){.first = bvh->item_count})) ||
        !copy_node(c, node + 1, near)) {
        return 0;
    }
    const int32_t right = bvh->node.count;
    if (!copy_node(c, own->right, near)) {
        return 0;
    }
    join_copies(bvh, me, right);
    return 1;
}

// The features of a list that meet one of the first n others. False: no memory.
static int copy_list(cr_broad_copying* c, const int32_t* item, int32_t count, int32_t n)
{
    cr_bvh* bvh = &c->trees->bvh;
    if (count <= CR_BVH_LEAF) {
        return copy_leaf(c, item, count, n);
    }
    const int32_t me = bvh->node.count, half = count / 2;
    if (!cr_array_push(&bvh->node, ((cr_bvh_node){.first = bvh->item_count})) ||
        !copy_list(c, item, half, n)) {
        return 0;
    }
    const int32_t right = bvh->node.count;
    if (!copy_list(c, item + half, count - half, n)) {
        return 0;
    }
    join_copies(bvh, me, right);
    return 1;
}

// Bodies around each carried one, from the pairs in key.
static carom_status look_around(cr_broad* broad)
{
    const int32_t bodies = broad->surface->body_count;
    int32_t* around = broad->around;
    memset(around, 0, ((size_t)bodies + 1) * sizeof *around);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < broad->key.count; i++) {
            const int32_t body[2] = {(int32_t)(broad->key.items[i] >> 32),
                                     (int32_t)(broad->key.items[i] & INT32_MAX)};
            for (int k = 0; k < 2 && cr_broad_bodies_may_touch(broad, body[0], body[1]); k++) {
                if (pass == 0) {
                    around[body[k]]++;
                } else {
                    broad->other.items[--around[body[k]]] = (cr_broad_neighbour){body[1 - k], i};
                }
            }
        }
        int64_t sum = 0; // ends of the ranges, which the second pass takes back to their begins
        for (int32_t b = 0; b <= bodies && pass == 0; b++) {
            sum += around[b];
            around[b] = (int32_t)sum;
        }
        if (sum > INT32_MAX || (pass == 0 && !cr_array_reserve(&broad->other, (int32_t)sum))) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

// What feature f of a body may meet of another one, as bits: the kinds of bond_bodies, seen from
// one side.
static int opposite(const cr_broad* broad, cr_feature f, int32_t body, int32_t other)
{
    const cr_feature mine = broad->shape[body], its = broad->shape[other];
    if (f == CR_FACE) {
        return 1 << CR_VERTEX;
    }
    if (f == CR_EDGE) {
        return (its != CR_VERTEX ? 1 << CR_EDGE : 0) | (mine == CR_EDGE ? 1 << CR_VERTEX : 0);
    }
    return its != CR_VERTEX ? 1 << its : mine == CR_VERTEX ? 1 << CR_VERTEX : 0;
}

// Where a body has features f: where those are that were copied, or else where all of it is.
static const cr_box* whereabouts(const cr_broad* broad, cr_feature f, int32_t body)
{
    const cr_broad_trees* trees = &broad->of[f];
    const int32_t root = trees->root[body];
    return root == CR_BROAD_UNCOPIED ? &broad->body_box[body]
           : root >= 0               ? &trees->bvh.node.items[root].box
                                     : NULL;
}

// What feature f of a body may meet of another one. False: no memory.
static int add_meetings(cr_broad* broad, cr_feature f, int32_t body, const cr_broad_neighbour* with)
{
    CR_ASSERT(broad->body_box); // there is a body
    const cr_box* mine = &broad->body_box[body];
    const int meets = opposite(broad, f, body, with->body);
    const cr_apart_plane* plane = &broad->plane.items[with->pair];
    const cr_vec3 n = body < with->body ? plane->n : cr_vec3_neg(plane->n);
    const cr_carry* c = &broad->carry[body];
    cr_broad_meeting at = {.m = cr_mat3_tapply(c->r0, n)};
    at.level = (body < with->body ? plane->low : -plane->high) - cr_vec3_dot(n, c->t0);
    int ok = 1;
    for (cr_feature its = CR_VERTEX; its < CR_FEATURES && ok; its++) {
        const cr_box* box = meets >> its & 1 ? whereabouts(broad, its, with->body) : NULL;
        if (box && cr_box_meet(box, mine)) {
            at.box = *box;
            ok = cr_array_push(&broad->meeting, at);
        }
    }
    return ok;
}

// Copies what is wanted of one carried body.
static carom_status copy_body(cr_broad* broad, cr_feature f, int32_t body)
{
    cr_broad_trees* trees = &broad->of[f];
    trees->root[body] = -1;
    broad->meeting.count = 0;
    if (!(broad->wanted[body] >> f & 1) || trees->own_root[body] < 0) {
        return CAROM_OK;
    }
    for (int32_t i = broad->around[body]; i < broad->around[body + 1]; i++) {
        if (!add_meetings(broad, f, body, &broad->other.items[i])) {
            return CAROM_ERR_MEMORY;
        }
    }
    if (broad->meeting.count == 0) {
        return CAROM_OK;
    }
    cr_broad_copying c = {broad,
                          &broad->carry[body],
                          cr_carry_ends_make(&broad->carry[body]),
                          trees,
                          f,
                          cr_broad_range(broad->surface, f)[body],
                          cr_broad_range(broad->surface, f)[broad->like[body]],
                          broad->carry[body].reach + broad->margin[body],
                          broad->meeting.items,
                          2};
    const int32_t n = broad->meeting.count, root = trees->own_root[body];
    cr_broad_list* list = &broad->list[body];
    trees->root[body] = trees->bvh.node.count;
    const int listed =
        f == CR_VERTEX && cr_broad_list_holds(&c, list, root, broad->extent[body], n);
    const int ok = listed ? copy_list(&c, list->item, list->count, n) : copy_node(&c, root, n);
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}

// The trees that are wanted of carried bodies, as far as they meet what is around. Vertices come
// before faces, and the edges of simple bodies before those of rich ones: of whatever stands in the
// middle of a large face nothing but vertices is then looked at, for the face's own corners and
// edges are nowhere near.
carom_status cr_broad_copy_carried(cr_broad* broad)
{
    static const cr_feature order[CR_FEATURES] = {CR_VERTEX, CR_FACE, CR_EDGE};
    const int32_t bodies = broad->surface->body_count;
    carom_status status = look_around(broad);
    for (cr_feature f = CR_VERTEX; f < CR_FEATURES; f++) {
        cr_broad_trees* trees = &broad->of[f];
        trees->bvh.node.count = trees->loose_nodes;
        trees->bvh.item_count = trees->loose_items;
        trees->rims.count = 0;
        for (int32_t b = 0; b < bodies; b++) {
            trees->root[b] = broad->carried[b] ? CR_BROAD_UNCOPIED : trees->root[b];
        }
    }
    for (int k = 0; k < CR_FEATURES; k++) {
        for (int32_t i = 0; i < bodies && status == CAROM_OK; i++) {
            const int32_t b = broad->simple[i];
            status = broad->carried[b] ? copy_body(broad, order[k], b) : CAROM_OK;
        }
    }
    return status;
}
