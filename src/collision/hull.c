#include "collision/hull.h"
#include "collision/simplex.h"
#include "core/assert.h"
#include <math.h>

// A nearest point is found in fewer; after so many round-off goes round in circles.
enum { ROUNDS = 32 };

// The corner that is least far along d.
static cr_vec3 least_along(const cr_vec3* x, int count, cr_vec3 d)
{
    int at = 0;
    for (int i = 1; i < count; i++) {
        at = cr_vec3_dot(d, x[i]) < cr_vec3_dot(d, x[at]) ? i : at;
    }
    return x[at];
}

// Of the differences of the hulls' points, themselves a convex hull, the one nearest to 0 is looked
// for, the next corner always the least far along the point at hand. Done as soon as that point is
// nearer than the range, or all lie beyond it along it. Where it comes no nearer 0 is inside.
int cr_hull_near(const cr_vec3* a, int a_count, const cr_vec3* b, int b_count, double range)
{
    CR_ASSERT(a_count > 0 && b_count > 0);
    cr_simplex s = {.distance = HUGE_VAL};
    cr_vec3 next = cr_vec3_sub(a[0], b[0]);
    for (int round = 0; round < ROUNDS; round++) {
        const double before = s.distance;
        s = cr_simplex_take(&s, next);
        if (!(s.distance >= range && s.distance < before)) {
            return 1;
        }
        next = cr_vec3_sub(least_along(a, a_count, s.n), least_along(b, b_count, cr_vec3_neg(s.n)));
        if (cr_vec3_dot(s.n, next) >= range) {
            return 0;
        }
    }
    return 1;
}
