#include "collision/apart.h"
#include "collision/simplex.h"
#include <float.h>

// Steps of a search. Most end after three; a pair that takes more is taken as near.
enum { MOST_SEARCH = 8 };
// A place and a bound of it may be rounded apart by this, relative to the coordinates.
static const double rounding = 256.0 * DBL_EPSILON;
// A search ends when it knows how far the bodies are apart to this part of what they need.
static const double enough = 0.5;

// The most that features of both can come towards each other on their ways, and miss them. For
// points of ways wa and wb that is (n.wa)+ + (-n.wb)+ along n: n.wa, -n.wb or n.(wa - wb), and the
// last is small where both fall alike.
static double needed(const cr_apart_body* a, const cr_apart_body* b)
{
    const cr_vec3 ua = cr_vec3_sub(a->carry->t1, a->carry->t0);
    const cr_vec3 ub = cr_vec3_sub(b->carry->t1, b->carry->t0);
    const double la = cr_carry_length(a->carry, a->extent), ta = la - cr_vec3_norm(ua);
    const double lb = cr_carry_length(b->carry, b->extent), tb = lb - cr_vec3_norm(ub);
    const double closing = cr_max(cr_max(la, lb), cr_vec3_norm(cr_vec3_sub(ua, ub)) + ta + tb);
    const double need = a->carry->reach + b->carry->reach + a->margin + b->margin + closing;
    const double size = a->extent + b->extent + cr_vec3_max_abs(a->carry->t0) +
                        cr_vec3_max_abs(b->carry->t0) + need;
    return need + rounding * size;
}

// The vertex below a node that is farthest along m, if it is farther than *most.
static void reach_node(const cr_apart_body* body, cr_vec3 m, int32_t node, double* most,
                       cr_vec3* at)
{
    const cr_bvh_node* own = &body->tree->node.items[node];
    if (!own->right) {
        for (int32_t i = own->first; i < own->first + own->count; i++) {
            const cr_vec3 p = cr_vec3_load(body->p + 3 * (size_t)body->tree->item[i]);
            const double far = cr_vec3_dot(m, p);
            if (far > *most) {
                *most = far;
                *at = p;
            }
        }
        return;
    }
    const cr_bvh_node* nodes = body->tree->node.items;
    const double left = cr_box_reach(&nodes[node + 1].box, m);
    const double right = cr_box_reach(&nodes[own->right].box, m);
    const int32_t first = right > left ? own->right : node + 1;
    const int32_t second = right > left ? node + 1 : own->right;
    if (cr_max(left, right) > *most) {
        reach_node(body, m, first, most, at);
    }
    if (cr_min(left, right) > *most) {
        reach_node(body, m, second, most, at);
    }
}

// The vertex of a body that is farthest along n at the start.
static cr_vec3 farthest(const cr_apart_body* body, cr_vec3 n)
{
    double most = -HUGE_VAL;
    cr_vec3 p = {0, 0, 0};
    reach_node(body, cr_mat3_tapply(body->carry->r0, n), body->root, &most, &p);
    return cr_carry_start(body->carry, p);
}

// By how much the bodies are apart along the direction *n, which begins as a guess: the step of
// Gilbert, Johnson and Keerthi, from the closest place between the points so far to the point that
// is farthest against it. Ends when that is known well enough to be held against `need`.
static double search(const cr_apart_body* a, const cr_apart_body* b, double need, cr_vec3* n)
{
    cr_simplex s = {.distance = HUGE_VAL};
    cr_vec3 along = *n;
    double apart = -HUGE_VAL;
    for (int step = 0; step < MOST_SEARCH; step++) {
        const cr_vec3 w = cr_vec3_sub(farthest(b, cr_vec3_neg(along)), farthest(a, along));
        const double gap = cr_vec3_dot(along, w);
        if (gap > apart) {
            apart = gap;
            *n = along;
        }
        s = cr_simplex_take(&s, w);
        if (apart > need || !(s.distance > 0.0) || s.distance - apart < enough * need) {
            break;
        }
        along = s.n;
    }
    return apart;
}

cr_apart_plane cr_apart_anywhere(void)
{
    return (cr_apart_plane){{0, 0, 0}, -HUGE_VAL, HUGE_VAL};
}

// All of b is beyond the lowest of its points along n, and what of a is more than `need` below that
// is more than `need` away from b; and the other way round.
static cr_apart_plane plane_between(const cr_apart_body* a, const cr_apart_body* b, double need,
                                    cr_vec3 n)
{
    return (cr_apart_plane){n, cr_vec3_dot(n, farthest(b, cr_vec3_neg(n))) - need,
                            cr_vec3_dot(n, farthest(a, n)) + need};
}

int cr_apart_stay(const cr_apart_body* a, const cr_apart_body* b, cr_apart_plane* plane)
{
    const double need = needed(a, b);
    const cr_vec3 middle = cr_vec3_sub(b->carry->t0, a->carry->t0);
    const double between = cr_vec3_norm(middle);
    if (between - a->extent - b->extent > need) {
        return 1;
    }
    cr_vec3 n = between > 0.0 ? cr_vec3_scale(1.0 / between, middle) : (cr_vec3){0, 0, 1};
    if (search(a, b, need, &n) > need) {
        return 1;
    }
    *plane = plane_between(a, b, need, n);
    return 0;
}
