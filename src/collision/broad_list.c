#include "collision/broad_inside.h"
#include <float.h>

// A list looks around by this part of the body more than what it needs now. More lasts longer and
// holds more vertices.
static const double list_room = 0.01;
// Of that, by which the others may have moved.
static const double list_others = 0.25;
// Calls that a body with more vertices near than a list holds is left alone for.
enum { LIST_PAUSE = 16 };
// It is made of a body that has moved by no more than this part of that in the step: what is faster
// will not keep it.
static const double list_slow = 0.25;
// A vertex and the box of it may be rounded apart by this, relative to the coordinates.
static const double list_rounding = 64.0 * DBL_EPSILON;

// How far a vertex of the body may be from where it is at the pose (r, t), at both ends of its way.
static double drift(const cr_carry* c, double extent, cr_mat3 r, cr_vec3 t)
{
    double most = 0.0;
    for (int end = 0; end < 2; end++) {
        const cr_mat3 turn = cr_mat3_add_scaled(end ? c->r1 : c->r0, -1.0, r);
        const double norm2 = cr_vec3_norm2(cr_mat3_row(turn, 0)) +
                             cr_vec3_norm2(cr_mat3_row(turn, 1)) +
                             cr_vec3_norm2(cr_mat3_row(turn, 2));
        most =
            cr_max(most, cr_vec3_norm(cr_vec3_sub(end ? c->t1 : c->t0, t)) + sqrt(norm2) * extent);
    }
    return most + list_rounding * (extent + cr_vec3_max_abs(t) + most);
}

static int lies_within(const cr_box* inner, const cr_box* outer)
{
    return inner->lo[0] >= outer->lo[0] && inner->lo[1] >= outer->lo[1] &&
           inner->lo[2] >= outer->lo[2] && inner->hi[0] <= outer->hi[0] &&
           inner->hi[1] <= outer->hi[1] && inner->hi[2] <= outer->hi[2];
}

// Whether the list of a body holds all that may meet the n others.
static int still_holds(const cr_broad_copying* c, const cr_broad_list* list, double extent,
                       int32_t n)
{
    if (!(drift(c->carry, extent, list->r, list->t) + c->margin <= list->room)) {
        return 0;
    }
    for (int32_t i = 0; i < n; i++) {
        int known = 0;
        for (int32_t k = 0; k < list->other_count; k++) {
            known |= lies_within(&c->other[i].box, &list->other[k]);
        }
        if (!known) {
            return 0;
        }
    }
    return 1;
}

// Lists the vertices below a node that may meet the others of the list. False: they are too many.
static int list_node(const cr_broad_copying* c, const cr_carry* rest, const cr_carry_ends* ends,
                     cr_broad_list* list, int32_t node)
{
    const cr_bvh_node* own = &c->trees->own.node.items[node];
    const cr_box box = cr_carry_ends_box(ends, &own->box, list->room);
    int meets = 0;
    for (int32_t k = 0; k < list->other_count; k++) {
        meets |= cr_box_meet(&box, &list->other[k]);
    }
    if (!meets) {
        return 1;
    }
    if (own->right) {
        return list_node(c, rest, ends, list, node + 1) &&
               list_node(c, rest, ends, list, own->right);
    }
    for (int32_t i = own->first; i < own->first + own->count; i++) {
        const int32_t item = c->trees->own.item[i];
        const cr_vec3 x =
            cr_carry_start(rest, cr_vec3_load(c->broad->p + 3 * (size_t)(item + c->like)));
        const double m = list->room;
        const cr_box at = {{x.x - m, x.y - m, x.z - m}, {x.x + m, x.y + m, x.z + m}};
        for (int32_t k = 0; k < list->other_count; k++) {
            if (cr_box_meet(&at, &list->other[k])) {
                if (list->count == CR_BROAD_LISTED) {
                    return 0;
                }
                list->item[list->count++] = item;
                break;
            }
        }
    }
    return 1;
}

// Makes the list of a body that hardly moves. False: there is none.
static int make_list(const cr_broad_copying* c, cr_broad_list* list, int32_t root, double extent,
                     int32_t n)
{
    const cr_carry rest = cr_carry_rest(c->carry->r0, c->carry->t0);
    const double spare = list_room * extent;
    const double gone = drift(c->carry, extent, rest.r0, rest.t0);
    list->room = -1.0;
    if (list->pause > 0) {
        list->pause--;
        return 0;
    }
    if (n > CR_BROAD_LISTED_BOXES || !(gone <= list_slow * spare)) {
        return 0;
    }
    for (int32_t i = 0; i < n; i++) {
        list->other[i] = c->other[i].box;
        for (int k = 0; k < 3; k++) {
            list->other[i].lo[k] -= list_others * spare;
            list->other[i].hi[k] += list_others * spare;
        }
    }
    list->r = rest.r0;
    list->t = rest.t0;
    list->other_count = n;
    list->count = 0;
    list->room = c->margin + gone + spare;
    const cr_carry_ends ends = cr_carry_ends_make(&rest);
    if (!list_node(c, &rest, &ends, list, root)) {
        list->room = -1.0;
        list->pause = LIST_PAUSE;
        return 0;
    }
    return 1;
}

int cr_broad_list_holds(const cr_broad_copying* c, cr_broad_list* list, int32_t root, double extent,
                        int32_t n)
{
    return still_holds(c, list, extent, n) || make_list(c, list, root, extent, n);
}
