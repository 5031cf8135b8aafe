// bench_distance.c - nanoseconds per closest-point query and per Hessian.
#include "check.h"
#include "collision/distance.h"
#include <time.h>

enum { COUNT = 4096, ROUNDS = 200 };

static cr_vec3 points[COUNT][4];
static uint64_t seed = 1;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// near: in contact, inside; otherwise scattered over all sub-features
static void fill(int32_t kind, int near)
{
    for (int i = 0; i < COUNT; i++) {
        cr_vec3* x = points[i];
        for (int k = 0; k < 4; k++) {
            x[k] = (cr_vec3){check_random(&seed, -1, 1), check_random(&seed, -1, 1),
                             check_random(&seed, -1, 1)};
        }
        if (!near) {
            continue;
        }
        const cr_vec3 off = {1e-3, 1e-3, 1e-3};
        const cr_vec3 middle = cr_vec3_scale(0.5, cr_vec3_add(x[0], x[1]));
        if (kind == CR_PAIR_EE) {
            x[3] = cr_vec3_add(cr_vec3_sub(cr_vec3_scale(2, middle), x[2]), off);
        } else {
            x[3] = cr_vec3_add(cr_vec3_scale(0.5, cr_vec3_add(middle, x[2])), off);
        }
    }
}

int main(void)
{
    static const char* const name[4] = {"PP", "PE", "PT", "EE"};
    for (int32_t kind = 0; kind < 4; kind++) {
        for (int near = 0; near < 2; near++) {
            fill(kind, near);
            double sum = 0, hess[12][12];
            const double t0 = now();
            for (int r = 0; r < ROUNDS; r++) {
                for (int i = 0; i < COUNT; i++) {
                    sum += cr_distance_closest(kind, points[i]).distance;
                }
            }
            const double t1 = now();
            for (int r = 0; r < ROUNDS; r++) {
                for (int i = 0; i < COUNT; i++) {
                    const cr_closest at = cr_distance_closest(kind, points[i]);
                    cr_distance_hessian(kind, points[i], &at, hess);
                    sum += hess[11][11];
                }
            }
            const double t2 = now(), per = 1e9 / ROUNDS / COUNT;
            printf("%s %-9s closest %5.1f ns, with Hessian %5.1f ns (%g)\n", name[kind],
                   near ? "inside" : "scattered", (t1 - t0) * per, (t2 - t1) * per, sum);
        }
    }
    return check_failures;
}
