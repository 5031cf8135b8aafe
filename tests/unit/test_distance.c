#include "check.h"
#include "collision/distance.h"
#include <float.h>
#include <string.h>

// The judge works in 113 bits and by brute force: it tries every sub-feature and keeps the nearest.
__extension__ typedef __float128 quad;

typedef struct quad3 {
    quad v[3];
} quad3;

typedef struct judged {
    quad c[4], distance;
    quad3 n;
    int32_t active;
} judged;

static quad3 quad_sub(quad3 a, quad3 b)
{
    return (quad3){{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2]}};
}

static quad quad_dot(quad3 a, quad3 b)
{
    return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2];
}

static quad quad_root(quad a)
{
    if (!(a > 0)) {
        return 0;
    }
    quad y = (quad)sqrt((double)a);
    for (int i = 0; i < 3; i++) {
        y = (y + a / y) / 2;
    }
    return y;
}

// Keeps the candidate c when it is nearer than what was found before.
static void judge_try(const quad3 x[4], const quad c[4], quad* best, judged* out)
{
    quad3 r = {{0, 0, 0}};
    int32_t active = 0;
    for (int k = 0; k < 4; k++) {
        active |= (c[k] != 0) << k;
        for (int i = 0; i < 3 && c[k] != 0; i++) {
            r.v[i] += c[k] * (x[k].v[i] - x[3].v[i]); // the weights sum to 0
        }
    }
    const quad rr = quad_dot(r, r);
    if (*best >= 0 && !(rr < *best)) {
        return;
    }
    *best = rr;
    memcpy(out->c, c, sizeof out->c);
    out->active = active;
    out->distance = quad_root(rr);
    for (int i = 0; i < 3; i++) {
        out->n.v[i] = out->distance > 0 ? r.v[i] / out->distance : 0;
    }
}

// Point p, point q and the inside of the edge a,b if p projects there; sign is that of p's side.
static void judge_edge(const quad3 x[4], int a, int b, int p, quad sign, quad* best, judged* out)
{
    const quad3 e = quad_sub(x[b], x[a]);
    const quad past = quad_dot(e, quad_sub(x[p], x[a])), ee = quad_dot(e, e);
    if (past > 0 && past < ee) {
        quad c[4] = {0, 0, 0, 0};
        c[p] = sign;
        c[b] = -sign * (past / ee);
        c[a] = -sign - c[b];
        judge_try(x, c, best, out);
    }
}

static void judge_points(const quad3 x[4], int p, int q, quad* best, judged* out)
{
    quad c[4] = {0, 0, 0, 0};
    c[p] = -1;
    c[q] = 1;
    judge_try(x, c, best, out);
}

// d = b1 e1 + b2 e2 + normal part
static int judge_plane(quad3 e1, quad3 e2, quad3 d, quad* b1, quad* b2)
{
    const quad alpha = quad_dot(e1, e2) / quad_dot(e1, e1);
    quad3 w;
    for (int i = 0; i < 3; i++) {
        w.v[i] = e2.v[i] - alpha * e1.v[i];
    }
    const quad ww = quad_dot(w, w);
    if (!(ww > (quad)1e-56 * quad_dot(e2, e2))) {
        return 0;
    }
    const quad along = quad_dot(d, e1) / quad_dot(e1, e1);
    quad3 rest;
    for (int i = 0; i < 3; i++) {
        rest.v[i] = d.v[i] - along * e1.v[i];
    }
    *b2 = quad_dot(rest, w) / ww;
    *b1 = along - *b2 * alpha;
    return 1;
}

static judged judge(int32_t kind, const quad3 x[4])
{
    judged out = {.active = 0};
    quad best = -1, b1, b2;
    const int a_count = kind == CR_PAIR_PP ? 1 : kind == CR_PAIR_PT ? 3 : 2;
    const int b_first = kind == CR_PAIR_EE ? 2 : 3;
    if (kind == CR_PAIR_PT &&
        judge_plane(quad_sub(x[1], x[0]), quad_sub(x[2], x[0]), quad_sub(x[3], x[0]), &b1, &b2)) {
        if (b1 > 0 && b2 > 0 && b1 + b2 < 1) {
            judge_try(x, (quad[4]){b1 + b2 - 1, -b1, -b2, 1}, &best, &out);
        }
    }
    if (kind == CR_PAIR_EE &&
        judge_plane(quad_sub(x[1], x[0]), quad_sub(x[3], x[2]), quad_sub(x[2], x[0]), &b1, &b2)) {
        if (b1 > 0 && b1 < 1 && b2 < 0 && b2 > -1) {
            judge_try(x, (quad[4]){b1 - 1, -b1, 1 + b2, -b2}, &best, &out);
        }
    }
    for (int p = b_first; p < 4; p++) {
        for (int a = 0; a < a_count && kind != CR_PAIR_PP; a++) {
            for (int b = a + 1; b < a_count; b++) {
                judge_edge(x, a, b, p, 1, &best, &out);
            }
        }
    }
    for (int p = 0; p < 2 && kind == CR_PAIR_EE; p++) {
        judge_edge(x, 2, 3, p, -1, &best, &out);
    }
    for (int p = 0; p < a_count; p++) {
        for (int q = b_first; q < 4; q++) {
            judge_points(x, p, q, &best, &out);
        }
    }
    return out;
}

static void to_quad(const cr_vec3 x[4], quad3 y[4])
{
    for (int k = 0; k < 4; k++) {
        y[k] = (quad3){{(quad)x[k].x, (quad)x[k].y, (quad)x[k].z}};
    }
}

static int uses(int32_t kind, int k)
{
    return k == 0 || k == 3 || (k == 1 && kind != CR_PAIR_PP) ||
           (k == 2 && (kind == CR_PAIR_PT || kind == CR_PAIR_EE));
}

static double size_of(int32_t kind, const cr_vec3 x[4])
{
    double size = 0;
    for (int k = 0; k < 4; k++) {
        for (int l = 0; l < k; l++) {
            if (uses(kind, k) && uses(kind, l)) {
                size = fmax(size, cr_vec3_norm(cr_vec3_sub(x[k], x[l])));
            }
        }
    }
    return size;
}

// --- queries ---------------------------------------------------------------------------------

static uint64_t seed;

static double uniform(double least, double most)
{
    return check_random(&seed, least, most);
}

static double power(double least, double most) // 10^uniform
{
    return pow(10, uniform(least, most));
}

static cr_vec3 random_vec(double size)
{
    return (cr_vec3){uniform(-size, size), uniform(-size, size), uniform(-size, size)};
}

enum { SCATTERED, NEAR, SLIVER, PARALLEL, GRID, FAR, SHARED, QUERY_COUNT };

static const char* const query_name[QUERY_COUNT] = {"scattered", "near", "sliver", "parallel",
                                                    "grid",      "far",  "shared"};

static void query_make(int query, int32_t kind, double size, cr_vec3 x[4])
{
    for (int k = 0; k < 4; k++) {
        x[k] = random_vec(size);
    }
    if (query == NEAR) { // the closest points inside, any small distance apart
        const double s = uniform(0, 1), t = uniform(0, 1) * (kind == CR_PAIR_PT ? 1 - s : 1);
        cr_vec3 y = cr_vec3_add_scaled(x[0], s, cr_vec3_sub(x[1], x[0]));
        const cr_vec3 off = random_vec(size * power(-17, 0));
        if (kind == CR_PAIR_EE) {
            const cr_vec3 b = cr_vec3_sub(x[3], x[2]);
            x[2] = cr_vec3_add(cr_vec3_add_scaled(y, -t, b), off);
            x[3] = cr_vec3_add(x[2], b);
        } else {
            if (kind == CR_PAIR_PT) {
                y = cr_vec3_add_scaled(y, t, cr_vec3_sub(x[2], x[0]));
            }
            x[3] = cr_vec3_add(y, off);
        }
    } else if (query == SLIVER) { // point 2 almost on the line of 0 and 1, the rest not far off it
        const cr_vec3 e = cr_vec3_sub(x[1], x[0]);
        x[2] = cr_vec3_add_scaled(x[0], uniform(-1, 2), e);
        x[2] = cr_vec3_add(x[2], random_vec(size * power(-17, -1)));
        x[3] = cr_vec3_add_scaled(x[0], uniform(-1, 2), e);
        x[3] = cr_vec3_add(x[3], random_vec(size * power(-17, 0)));
    } else if (query == PARALLEL) {
        const cr_vec3 a = cr_vec3_sub(x[1], x[0]);
        x[2] = cr_vec3_add_scaled(x[0], uniform(-1, 1), a);
        x[2] = cr_vec3_add(x[2], random_vec(size * power(-17, 0)));
        x[3] = cr_vec3_add_scaled(x[2], uniform(-2, 2), a);
        x[3] = cr_vec3_add(x[3], random_vec(size * power(-17, 0)));
    } else if (query == GRID) { // small whole numbers: exact parallels, zero lengths, touches
        for (int k = 0; k < 4; k++) {
            const int g = (int)uniform(0, 125);
            x[k] = (cr_vec3){size * (g % 5 - 2), size * (g / 5 % 5 - 2), size * (g / 25 - 2)};
        }
    } else if (query == FAR) { // small features far apart
        const double small = power(-12, 0);
        const cr_vec3 off = random_vec(size);
        for (int k = 0; k < 4; k++) {
            x[k] = cr_vec3_scale(small, x[k]);
            x[k] = k == 3 || (k == 2 && kind == CR_PAIR_EE) ? cr_vec3_add(x[k], off) : x[k];
        }
    } else if (query == SHARED) { // two points the same or a hair apart
        const int k = (int)uniform(0, 4), l = (int)uniform(0, 4);
        const double hair = uniform(0, 1) < 0.5 ? 0 : size * power(-17, -3);
        x[k] = cr_vec3_add(x[l], random_vec(hair));
    }
    if (uniform(0, 1) < 0.3) { // away from the origin: coordinates lose digits, not the judge
        const cr_vec3 off = random_vec(size * power(0, 4));
        for (int k = 0; k < 4; k++) {
            x[k] = cr_vec3_add(x[k], off);
        }
    }
}

// sine between the edge vectors that carry an interior pair
static double sine_of(int32_t kind, const cr_vec3 x[4])
{
    quad3 y[4];
    to_quad(x, y);
    const quad3 a = quad_sub(y[1], y[0]);
    const quad3 b = kind == CR_PAIR_EE ? quad_sub(y[3], y[2]) : quad_sub(y[2], y[0]);
    const quad aa = quad_dot(a, a), bb = quad_dot(b, b), ab = quad_dot(a, b);
    return (double)quad_root((aa * bb - ab * ab) / (aa * bb));
}

// Errors in units of what round-off explains, the worst per kind of query.
typedef struct worst {
    double distance, normal, weights;
    int32_t feature_wrong;
} worst;

static void compare(int32_t kind, const cr_vec3 x[4], worst* w)
{
    const cr_closest at = cr_distance_closest(kind, x);
    quad3 y[4];
    to_quad(x, y);
    const judged ref = judge(kind, y);
    const double size = size_of(kind, x);
    const double unit = DBL_EPSILON * size;
    const double d = (double)ref.distance;
    if (size == 0) {
        CHECK(at.distance == 0 && at.n.x == 0 && at.n.y == 0 && at.n.z == 0);
        return;
    }
    w->distance = fmax(w->distance, fabs((double)((quad)at.distance - ref.distance)) / unit);
    // the weights are what the forces use: they must give the distance and sum to -1 and 1
    quad3 r = {{0, 0, 0}};
    double sum_a = 0, sum_b = 0;
    int32_t active = 0;
    for (int k = 0; k < 4; k++) {
        active |= (at.c[k] != 0) << k;
        CHECK(uses(kind, k) || at.c[k] == 0);
        CHECK(fabs(at.c[k]) <= 1);
        const int in_b = k == 3 || (k == 2 && kind == CR_PAIR_EE);
        CHECK(at.c[k] == 0 || (at.c[k] > 0) == in_b);
        *(in_b ? &sum_b : &sum_a) += at.c[k];
        for (int i = 0; i < 3 && at.c[k] != 0; i++) {
            r.v[i] += (quad)at.c[k] * (y[k].v[i] - y[3].v[i]);
        }
    }
    CHECK(active == at.active && at.free >= 0 && at.free <= 2);
    CHECK_NEAR(sum_a, -1, DBL_EPSILON);
    CHECK_NEAR(sum_b, 1, DBL_EPSILON);
    w->weights = fmax(w->weights, fabs((double)quad_root(quad_dot(r, r)) - d) / unit);
    w->feature_wrong += at.active != ref.active;
    const double length = cr_vec3_norm(at.n);
    if (at.distance == 0) {
        CHECK(length == 0);
        return;
    }
    CHECK_NEAR(length, 1, 4e-16);
    // where the direction is decided at all
    double blur = DBL_EPSILON * size / d;
    if (at.free == 2) {
        blur = fmin(blur, DBL_EPSILON / sine_of(kind, x));
    }
    if (d > 1e3 * unit) {
        double off = 0;
        for (int i = 0; i < 3; i++) {
            off = fmax(off, fabs((double)(ref.n.v[i]) - (&at.n.x)[i]));
        }
        w->normal = fmax(w->normal, off / fmax(blur, DBL_EPSILON));
    }
}

static void test_closest_points_against_the_judge(void)
{
    seed = 11;
    const int count = 10000; // per kind and query: 280 000 in all
    for (int query = 0; query < QUERY_COUNT; query++) {
        worst w = {0};
        for (int32_t kind = CR_PAIR_PP; kind <= CR_PAIR_EE; kind++) {
            for (int i = 0; i < count; i++) {
                cr_vec3 x[4];
                query_make(query, kind, power(-8, 4), x);
                compare(kind, x, &w);
            }
        }
        printf("  %-10s units of round-off: distance %.1f, from weights %.1f, normal %.1f; other "
               "sub-feature %d\n",
               query_name[query], w.distance, w.weights, w.normal, w.feature_wrong);
        CHECK(w.distance < 16);
        CHECK(w.weights < 16);
        CHECK(w.normal < 64);
        CHECK(query != SCATTERED || w.feature_wrong == 0);
    }
}

// --- second derivatives ------------------------------------------------------------------------

// Columns of the Hessian by central differences of the judge's gradient c_k n, in 113 bits: steps
// of 1e-10 of the smallest length leave 18 digits. False when a step leaves the sub-feature.
static int judge_hessian(int32_t kind, const cr_vec3 x[4], double step, double hess[12][12])
{
    quad3 y[4];
    to_quad(x, y);
    const int32_t active = judge(kind, y).active;
    for (int col = 0; col < 12; col++) {
        quad* entry = &y[col / 3].v[col % 3];
        const quad keep = *entry;
        *entry = keep + (quad)step;
        const judged up = judge(kind, y);
        *entry = keep - (quad)step;
        const judged down = judge(kind, y);
        *entry = keep;
        if (up.active != active || down.active != active) {
            return 0;
        }
        for (int row = 0; row < 12; row++) {
            const int k = row / 3, i = row % 3;
            hess[row][col] =
                (double)((up.c[k] * up.n.v[i] - down.c[k] * down.n.v[i]) / (2 * (quad)step));
        }
    }
    return 1;
}

// The length over which the gradient turns: inside, the distance does not count.
static double least_length(int32_t kind, const cr_vec3 x[4], int with_distance)
{
    double least = with_distance ? cr_distance_closest(kind, x).distance : HUGE_VAL;
    for (int k = 0; k < 4; k++) {
        for (int l = 0; l < k; l++) {
            if (uses(kind, k) && uses(kind, l) && !(k == 3 && kind < CR_PAIR_EE)) {
                least = fmin(least, cr_vec3_norm(cr_vec3_sub(x[k], x[l])));
            }
        }
    }
    return least;
}

static void check_products(int32_t kind, const cr_vec3 x[4], const cr_closest* at,
                           double hess[12][12], double most)
{
    cr_vec3 dx[4], out[4];
    for (int k = 0; k < 4; k++) {
        dx[k] = random_vec(1);
    }
    cr_distance_hessian_apply(kind, x, at, dx, out);
    for (int row = 0; row < 12; row++) {
        double sum = 0;
        for (int col = 0; col < 12; col++) {
            CHECK(hess[row][col] == hess[col][row]);
            sum += hess[row][col] * (&dx[col / 3].x)[col % 3];
        }
        CHECK_NEAR((&out[row / 3].x)[row % 3], sum, 1e-14 * most);
    }
}

// The relative error allowed is that of a normal good to round-off * size/D, times a few.
static void test_hessian_against_differences(void)
{
    seed = 12;
    int32_t seen[4][16] = {{0}};
    double worst_error = 0;
    for (int i = 0; i < 40000; i++) {
        const int32_t kind = i % 4;
        cr_vec3 x[4];
        const int query = i / 4 % 3 == 0 ? SCATTERED : i / 4 % 3 == 1 ? NEAR : PARALLEL;
        query_make(query, kind, power(-6, 4), x);
        const cr_closest at = cr_distance_closest(kind, x);
        const double size = size_of(kind, x), sine = at.free == 2 ? sine_of(kind, x) : 1;
        if (at.distance < 1e-6 * size || sine < 1e-5) {
            continue; // what the round-off leaves of such a pair is tested below
        }
        double hess[12][12], ref[12][12];
        const double step = 1e-10 * least_length(kind, x, at.free < 2) * sine;
        if (!judge_hessian(kind, x, step, ref)) {
            continue;
        }
        cr_distance_hessian(kind, x, &at, hess);
        double most = 0, off = 0;
        for (int e = 0; e < 144; e++) {
            most = fmax(most, fabs((&ref[0][0])[e]));
            off = fmax(off, fabs((&ref[0][0])[e] - (&hess[0][0])[e]));
        }
        CHECK(most > 0 || kind == CR_PAIR_PT);
        const double blur = DBL_EPSILON * (at.free == 2 ? 1 / sine : size / at.distance);
        worst_error = fmax(worst_error, off / (blur * most));
        CHECK(off <= 64 * blur * most);
        check_products(kind, x, &at, hess, most);
        seen[kind][at.active]++;
    }
    printf("  worst error %.1f units of what round-off explains\n", worst_error);
    const int32_t features[4][12] = {
        {9}, {9, 10, 11}, {9, 10, 12, 11, 13, 14, 15}, {5, 6, 9, 10, 7, 11, 13, 14, 15}};
    for (int kind = 0; kind < 4; kind++) {
        for (int f = 0; f < 12 && features[kind][f]; f++) {
            CHECK(seen[kind][features[kind][f]] > 50);
        }
    }
}

// The same through the engine's own gradient and plain differences, as its users see it.
static void test_hessian_against_own_gradient(void)
{
    seed = 13;
    for (int i = 0; i < 4000; i++) {
        const int32_t kind = i % 4;
        cr_vec3 x[4];
        query_make(SCATTERED, kind, power(-6, 4), x);
        const cr_closest at = cr_distance_closest(kind, x);
        const double size = size_of(kind, x);
        if (least_length(kind, x, 1) < 0.1 * size || (at.free == 2 && sine_of(kind, x) < 0.1)) {
            continue;
        }
        const double h = 1e-6 * size;
        double hess[12][12];
        cr_distance_hessian(kind, x, &at, hess);
        for (int col = 0; col < 12; col++) {
            cr_vec3 up[4], down[4];
            memcpy(up, x, sizeof up);
            memcpy(down, x, sizeof down);
            (&up[col / 3].x)[col % 3] += h;
            (&down[col / 3].x)[col % 3] -= h;
            const double gap = (&up[col / 3].x)[col % 3] - (&down[col / 3].x)[col % 3];
            const cr_closest a = cr_distance_closest(kind, up), b = cr_distance_closest(kind, down);
            for (int row = 0; row < 12 && a.active == at.active && b.active == at.active; row++) {
                const double rise =
                    a.c[row / 3] * (&a.n.x)[row % 3] - b.c[row / 3] * (&b.n.x)[row % 3];
                CHECK_NEAR(hess[row][col], rise / gap, 1e-6 / size);
            }
            // and the gradient itself against the distance
            CHECK_NEAR(at.c[col / 3] * (&at.n.x)[col % 3], (a.distance - b.distance) / gap, 1e-8);
        }
    }
}

// Walks between two configurations, halves onto every change of sub-feature and compares D and
// dD/dx_k just before and after it. At parallel edges alone the weights may jump.
static void test_gradient_is_continuous_across_features(void)
{
    seed = 14;
    int32_t changes = 0;
    for (int i = 0; i < 20000; i++) {
        const int32_t kind = 1 + i % 3;
        cr_vec3 x[4], y[4], z[4];
        for (int k = 0; k < 4; k++) {
            x[k] = random_vec(1);
            y[k] = random_vec(1);
        }
        double lo = 0, hi = uniform(0, 1);
        cr_closest at_lo = cr_distance_closest(kind, x), at_hi = at_lo;
        for (int pass = 0; pass < 80; pass++) {
            const double at = pass == 0 ? hi : 0.5 * (lo + hi);
            for (int k = 0; k < 4; k++) {
                z[k] = cr_vec3_add_scaled(x[k], at, cr_vec3_sub(y[k], x[k]));
            }
            const cr_closest mid = cr_distance_closest(kind, z);
            if (pass > 0 && mid.active == at_lo.active) {
                lo = at;
                at_lo = mid;
            } else {
                hi = at;
                at_hi = mid;
            }
        }
        if (at_lo.active == at_hi.active || at_lo.distance < 1e-2 ||
            (kind >= CR_PAIR_PT && sine_of(kind, z) < 1e-2)) {
            continue;
        }
        changes++;
        CHECK_NEAR(at_lo.distance, at_hi.distance, 1e-13);
        for (int row = 0; row < 12; row++) {
            CHECK_NEAR(at_lo.c[row / 3] * (&at_lo.n.x)[row % 3],
                       at_hi.c[row / 3] * (&at_hi.n.x)[row % 3], 1e-11);
        }
    }
    CHECK(changes > 5000);
}

static void test_rigid_motion_changes_nothing(void)
{
    // Hess times a translation is 0, and times a rotation w it is w x gradient
    seed = 15;
    for (int i = 0; i < 4000; i++) {
        const int32_t kind = i % 4;
        cr_vec3 x[4], move[4], turn[4], out[4];
        query_make(SCATTERED, kind, 1, x);
        const cr_closest at = cr_distance_closest(kind, x);
        if (at.distance < 1e-2 || (at.free == 2 && sine_of(kind, x) < 1e-2)) {
            continue;
        }
        const cr_vec3 v = random_vec(1), w = random_vec(1);
        for (int k = 0; k < 4; k++) {
            move[k] = v;
            turn[k] = cr_vec3_cross(w, cr_vec3_sub(x[k], x[0]));
        }
        const double most = 1e5;
        cr_distance_hessian_apply(kind, x, &at, move, out);
        for (int k = 0; k < 4; k++) {
            CHECK_NEAR(cr_vec3_norm(out[k]), 0, 1e-14 * most);
        }
        cr_distance_hessian_apply(kind, x, &at, turn, out);
        for (int k = 0; k < 4; k++) {
            const cr_vec3 g = cr_vec3_cross(w, cr_vec3_scale(at.c[k], at.n));
            CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(out[k], g)), 0, 1e-14 * most);
        }
    }
}

static void check_finite(int32_t kind, const cr_vec3 x[4])
{
    const cr_closest at = cr_distance_closest(kind, x);
    CHECK(isfinite(at.distance) && cr_vec3_finite(at.n));
    double hess[12][12];
    cr_distance_hessian(kind, x, &at, hess);
    int finite = 1;
    for (int e = 0; e < 144; e++) {
        finite &= isfinite((&hess[0][0])[e]) != 0;
    }
    CHECK(finite);
}

static void test_touching_and_degenerate_pairs_stay_finite(void)
{
    seed = 16;
    for (int i = 0; i < 40000; i++) {
        cr_vec3 x[4];
        query_make(GRID + (i % 2) * (SHARED - GRID), i / 2 % 4, power(-8, 4), x);
        check_finite(i / 2 % 4, x);
        query_make(SLIVER + i % 2, i / 2 % 4, power(-8, 4), x);
        check_finite(i / 2 % 4, x);
    }
    const cr_vec3 touch[4] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 1, 0}};
    for (int32_t kind = CR_PAIR_PT; kind <= CR_PAIR_EE; kind++) {
        cr_vec3 x[4];
        memcpy(x, touch, sizeof x);
        x[2] = kind == CR_PAIR_EE ? (cr_vec3){1, -1, 0} : x[2];
        const cr_closest at = cr_distance_closest(kind, x);
        CHECK(at.distance == 0 && cr_vec3_norm(at.n) == 0 && at.active == 15);
        double hess[12][12];
        cr_distance_hessian(kind, x, &at, hess);
        CHECK(hess[0][0] == 0 && hess[11][11] == 0);
    }
    // the smallest numbers there are: still a direction
    const cr_vec3 tiny[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-3e-200, 0, 4e-200}};
    const cr_closest at = cr_distance_closest(CR_PAIR_PT, tiny);
    CHECK(at.active == 9);
    CHECK_NEAR(at.distance, 5e-200, 1e-215);
    CHECK_NEAR(at.n.x, -0.6, 1e-15);
}

// A point over a triangle, a hair above: the normal must be the plane's, not the noise of r.
static void test_interior_normal_survives_tiny_distances(void)
{
    for (double d = 1; d > 1e-300; d *= 1e-3) {
        const cr_vec3 pt[4] = {{0, 0, 0}, {1, 0.25, 0}, {0.125, 1, 0}, {0.3, 0.4, d}};
        const cr_closest a = cr_distance_closest(CR_PAIR_PT, pt);
        CHECK_NEAR(a.distance, d, 1e-15 * d);
        CHECK_NEAR(a.n.z, 1, 1e-15);
        const cr_vec3 ee[4] = {{-1, 0.125, 0}, {1, 0.25, 0}, {0.125, -1, -d}, {0.1, 1, -d}};
        const cr_closest b = cr_distance_closest(CR_PAIR_EE, ee);
        CHECK_NEAR(b.distance, d, 1e-15 * d);
        CHECK_NEAR(b.n.z, -1, 1e-15);
    }
}

// Edges that cross under ever smaller angles: the second derivatives stay bounded and even.
static void test_hessian_of_nearly_parallel_edges_is_bounded(void)
{
    double before = 0;
    for (double angle = 1; angle > 1e-18; angle *= 0.5) {
        const cr_vec3 x[4] = {{-1, 0, 0}, {1, 0, 0}, {-1, -angle, 0.01}, {1, angle, 0.01}};
        const cr_closest at = cr_distance_closest(CR_PAIR_EE, x);
        CHECK_NEAR(at.distance, 0.01, 1e-17);
        CHECK_NEAR(at.n.z, 1, 1e-15);
        double hess[12][12], most = 0;
        cr_distance_hessian(CR_PAIR_EE, x, &at, hess);
        for (int e = 0; e < 144; e++) {
            most = fmax(most, fabs((&hess[0][0])[e]));
        }
        CHECK(most < 1e12);
        CHECK(before == 0 || (most < 5 * before && most > 0.2 * before) || at.free < 2);
        before = most;
    }
}

int main(void)
{
    RUN(test_closest_points_against_the_judge);
    RUN(test_hessian_against_differences);
    RUN(test_hessian_against_own_gradient);
    RUN(test_gradient_is_continuous_across_features);
    RUN(test_rigid_motion_changes_nothing);
    RUN(test_touching_and_degenerate_pairs_stay_finite);
    RUN(test_interior_normal_survives_tiny_distances);
    RUN(test_hessian_of_nearly_parallel_edges_is_bounded);
    return check_failures != 0;
}
