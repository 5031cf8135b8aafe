#include "collision/simplex.h"
#include "collision/distance.h"
#include <math.h>

static cr_simplex closest_of(const cr_vec3* w, int32_t count)
{
    static const int32_t kind[4] = {0, CR_PAIR_PP, CR_PAIR_PE, CR_PAIR_PT};
    cr_vec3 x[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int32_t k = 0; k < count; k++) {
        x[k] = w[k];
    }
    const cr_closest closest = cr_distance_closest(kind[count], x);
    cr_simplex s = {.distance = closest.distance, .n = cr_vec3_neg(closest.n)};
    for (int32_t k = 0; k < count; k++) {
        if (closest.active >> k & 1) {
            s.w[s.count++] = w[k];
        }
    }
    return s;
}

cr_simplex cr_simplex_take(const cr_simplex* s, cr_vec3 w)
{
    if (s->count < 3) {
        cr_vec3 x[3] = {w, w, w};
        for (int32_t k = 0; k < s->count; k++) {
            x[k + 1] = s->w[k];
        }
        return closest_of(x, s->count + 1);
    }
    cr_simplex best = {.distance = HUGE_VAL};
    for (int k = 0; k < 3; k++) {
        const cr_vec3 x[3] = {w, s->w[k], s->w[(k + 1) % 3]};
        const cr_simplex side = closest_of(x, 3);
        best = side.distance < best.distance ? side : best;
    }
    return best;
}
