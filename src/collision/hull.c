#include "collision/hull.h"
#include "collision/distance.h"
#include "core/assert.h"

// A nearest point is found in fewer; after so many round-off goes round in circles.
enum { ROUNDS = 32 };

// Up to four differences a_i - b_j, corners of the hull of all of them, and the point of theirs
// that is nearest to 0.
typedef struct simplex {
    int count;
    cr_vec3 x[4];
    cr_vec3 d; // m
} simplex;

// The corner that is least far along d.
static cr_vec3 least_along(const cr_vec3* x, int count, cr_vec3 d)
{
    int at = 0;
    for (int i = 1; i < count; i++) {
        at = cr_vec3_dot(d, x[i]) < cr_vec3_dot(d, x[at]) ? i : at;
    }
    return x[at];
}

// Corners 0 to 2 of s, or 0 and 1: keeps those that the point nearest to 0 is made of.
static void settle(simplex* s)
{
    const cr_vec3 x[4] = {s->x[0], s->x[1], s->x[2], {0, 0, 0}};
    const cr_closest at = cr_distance_closest(s->count == 3 ? CR_PAIR_PT : CR_PAIR_PE, x);
    const int corners = s->count;
    s->count = 0;
    s->d = (cr_vec3){0, 0, 0};
    for (int k = 0; k < corners; k++) {
        if (at.active >> k & 1) {
            s->x[s->count++] = x[k];
            s->d = cr_vec3_add_scaled(s->d, -at.c[k], x[k]);
        }
    }
}

// Whether 0 and the corner `apex` lie on one side of the plane of the other three, or in it.
static int on_one_side(const simplex* s, int apex)
{
    const cr_vec3 a = s->x[(apex + 1) % 4], b = s->x[(apex + 2) % 4], c = s->x[(apex + 3) % 4];
    const cr_vec3 n = cr_vec3_cross(cr_vec3_sub(b, a), cr_vec3_sub(c, a));
    return cr_vec3_dot(n, cr_vec3_sub(s->x[apex], a)) * -cr_vec3_dot(n, a) >= 0.0;
}

// Of four corners: the face that is nearest to 0. False: 0 is inside.
static int leave_one(simplex* s)
{
    simplex best = {0};
    for (int apex = 0; apex < 4; apex++) {
        if (on_one_side(s, apex)) {
            continue;
        }
        simplex face = {.count = 3,
                        .x = {s->x[(apex + 1) % 4], s->x[(apex + 2) % 4], s->x[(apex + 3) % 4]}};
        settle(&face);
        if (best.count == 0 || cr_vec3_norm2(face.d) < cr_vec3_norm2(best.d)) {
            best = face;
        }
    }
    *s = best;
    return best.count > 0;
}

// Gilbert, Johnson and Keerthi: of the differences of the hulls' points, themselves a convex hull,
// the one nearest to 0 is looked for among few corners, the next always the least far along the
// point at hand. Done as soon as that point is nearer than the range, or all lie beyond it along
// it.
int cr_hull_near(const cr_vec3* a, int a_count, const cr_vec3* b, int b_count, double range)
{
    CR_ASSERT(a_count > 0 && b_count > 0);
    simplex s = {.count = 1, .x = {cr_vec3_sub(a[0], b[0])}};
    s.d = s.x[0];
    for (int round = 0; round < ROUNDS; round++) {
        const double length = cr_vec3_norm(s.d);
        if (!(length >= range)) {
            return 1;
        }
        const cr_vec3 next =
            cr_vec3_sub(least_along(a, a_count, s.d), least_along(b, b_count, cr_vec3_neg(s.d)));
        if (cr_vec3_dot(s.d, next) >= range * length) {
            return 0;
        }
        s.x[s.count++] = next;
        if (s.count == 4) {
            if (!leave_one(&s)) {
                return 1;
            }
        } else {
            settle(&s);
        }
    }
    return 1;
}
