// bench_ccd - time per query of continuous collision detection on typical mixes.
#include "check.h"
#include "collision/ccd.h"
#include <stdlib.h>
#include <time.h>

enum { QUERIES = 4096, ROUNDS = 41 };

typedef struct query {
    cr_vec3 x0[4], x1[4];
} query;

// far: boxes of the motions mostly apart. near: side by side in contact, moving a little, as a
// solver checks its steps. hit: through each other. turning: side by side while they turn.
typedef enum mix { FAR, NEAR, HIT, TURNING, MIXES } mix;
static const char* const mix_names[MIXES] = {"far", "near", "hit", "turning"};
static const char* const kind_names[] = {"PP", "PE", "PT", "EE"};

// All with a separation of a hundredth of the size; points that should hit each other or an edge
// are given a third. Nothing lies along the axes.
static double separation(int32_t kind, mix what)
{
    return what == HIT && kind < CR_PAIR_PT ? 0.33 : 0.01;
}

static query queries[QUERIES];

static cr_vec3 random_vec3(uint64_t* seed, double most)
{
    return (cr_vec3){check_random(seed, -most, most), check_random(seed, -most, most),
                     check_random(seed, -most, most)};
}

// By 37 degrees about x, then by 16 about z.
static cr_vec3 tilt(cr_vec3 a)
{
    const cr_vec3 b = {a.x, 0.8 * a.y - 0.6 * a.z, 0.6 * a.y + 0.8 * a.z};
    return (cr_vec3){0.96 * b.x - 0.28 * b.y, 0.28 * b.x + 0.96 * b.y, b.z};
}

static int on_side_b(int32_t kind, int k)
{
    return kind == CR_PAIR_EE ? k >= 2 : k == 3;
}

static void fill(int32_t kind, mix what)
{
    uint64_t seed = 1;
    static const double gap[MIXES] = {4, 0.03, 1, 0.03}, fall[MIXES] = {1, 0.01, 2, 0.01};
    static const double stir[MIXES] = {0.1, 0.005, 0.3, 0.5};
    for (int i = 0; i < QUERIES; i++) {
        query* const q = &queries[i];
        const cr_vec3 shift = random_vec3(&seed, 0.3);
        const double turn = check_random(&seed, -1, 1);
        for (int k = 0; k < 4; k++) {
            // A in the plane z = 0, B above it by the gap, all of size 1
            static const cr_vec3 at[4] = {{-1, -0.6, 0}, {1, -0.5, 0}, {0, 1, 0}, {0, 0, 0}};
            static const cr_vec3 edges[4] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}};
            cr_vec3 x = kind == CR_PAIR_EE ? edges[k] : at[k];
            if (kind < CR_PAIR_PT) { // the point above the edge or the point
                x.y = 0;
                x.x = kind == CR_PAIR_PP ? 0 : x.x;
            }
            x = cr_vec3_add(x, cr_vec3_scale(0.1, random_vec3(&seed, 1)));
            x.z = on_side_b(kind, k) ? gap[what] + (what == FAR ? 3 * shift.z : 0) : 0;
            cr_vec3 to = cr_vec3_add(x, random_vec3(&seed, what == TURNING ? 0.005 : stir[what]));
            to.z -= on_side_b(kind, k) ? fall[what] : 0;
            if (what == TURNING) { // about x, as far as straight paths can
                to.z += stir[what] * turn * x.y;
                to.y -= 0.5 * stir[what] * stir[what] * turn * turn * x.y;
            }
            q->x0[k] = tilt(cr_vec3_add(x, shift));
            q->x1[k] = tilt(cr_vec3_add(to, shift));
        }
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int main(void)
{
    printf("kind,mix,hits_percent,ns_per_query\n");
    for (int32_t kind = CR_PAIR_PP; kind <= CR_PAIR_EE; kind++) {
        for (mix what = FAR; what < MIXES; what++) {
            double took[ROUNDS];
            int hits = 0;
            const double apart = separation(kind, what);
            fill(kind, what);
            for (int r = 0; r < ROUNDS; r++) {
                const double start = now();
                hits = 0;
                for (int i = 0; i < QUERIES; i++) {
                    double toi;
                    hits += cr_ccd_hit(kind, queries[i].x0, queries[i].x1, apart, &toi);
                }
                took[r] = now() - start;
            }
            CHECK(what == HIT ? hits > 0 : what == FAR ? hits == 0 : 1); // is it what it says?
            qsort(took, ROUNDS, sizeof *took, ascending);
            printf("%s,%s,%.1f,%.0f\n", kind_names[kind], mix_names[what], 100.0 * hits / QUERIES,
                   1e9 * took[ROUNDS / 2] / QUERIES);
        }
    }
    return check_failures != 0;
}
