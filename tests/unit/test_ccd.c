#include "check.h"
#include "collision/ccd.h"
#include <stdlib.h>
#include <string.h>

// Whatever the query, three things have to hold, and all of them can be checked without knowing
// the first time of contact:
//   early enough   at no time before toi are the features within the separation
//   near enough    where a hit is reported, they are within a millionth of the size of it
//   no miss        a contact that was built into the motion is found, and not later than it is
// Distances are taken in quadruple precision wherever double precision cannot decide.
// -DCAROM_CCD_QUERIES=N sets how many queries each family gets; sanitizers get fewer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef CAROM_CCD_QUERIES
#ifdef SANITIZED
#define CAROM_CCD_QUERIES 10000
#else
#define CAROM_CCD_QUERIES 40000
#endif
#endif

__extension__ typedef __float128 quad;

typedef struct quad3 {
    quad x, y, z;
} quad3;

typedef struct query {
    int32_t kind;
    cr_vec3 x0[4], x1[4];
    double separation;
} query;

static int64_t query_count, hit_count, quad_count;
static double worst_near; // largest distance beyond the separation at a reported toi, by the size

// ---- distances by brute force ---------------------------------------------------------------

static quad3 quad_sub(quad3 a, quad3 b)
{
    return (quad3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static quad3 quad_add_scaled(quad3 a, quad s, quad3 b)
{
    return (quad3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static quad quad_dot(quad3 a, quad3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static quad3 quad_cross(quad3 a, quad3 b)
{
    return (quad3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static quad point_edge2(quad3 p, quad3 a, quad3 b)
{
    const quad3 e = quad_sub(b, a), r = quad_sub(p, a);
    const quad ee = quad_dot(e, e);
    quad s = ee > 0 ? quad_dot(r, e) / ee : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    const quad3 c = quad_add_scaled(r, -s, e);
    return quad_dot(c, c);
}

static quad lesser(quad a, quad b)
{
    return b < a ? b : a;
}

static quad point_triangle2(quad3 p, const quad3 x[3])
{
    quad best = lesser(point_edge2(p, x[0], x[1]),
                       lesser(point_edge2(p, x[1], x[2]), point_edge2(p, x[2], x[0])));
    const quad3 e = quad_sub(x[1], x[0]), f = quad_sub(x[2], x[0]), r = quad_sub(p, x[0]);
    const quad3 n = quad_cross(e, f);
    const quad nn = quad_dot(n, n);
    const quad v = quad_dot(quad_cross(r, f), n), w = quad_dot(quad_cross(e, r), n);
    if (nn > 0 && v >= 0 && w >= 0 && v + w <= nn) {
        const quad height = quad_dot(r, n);
        best = lesser(best, height * height / nn);
    }
    return best;
}

static quad edge_edge2(const quad3 x[4])
{
    quad best = lesser(lesser(point_edge2(x[0], x[2], x[3]), point_edge2(x[1], x[2], x[3])),
                       lesser(point_edge2(x[2], x[0], x[1]), point_edge2(x[3], x[0], x[1])));
    const quad3 e = quad_sub(x[1], x[0]), f = quad_sub(x[3], x[2]), r = quad_sub(x[2], x[0]);
    const quad3 n = quad_cross(e, f);
    const quad nn = quad_dot(n, n);
    const quad s = quad_dot(quad_cross(r, f), n), t = quad_dot(quad_cross(r, e), n);
    if (nn > 0 && s >= 0 && s <= nn && t >= 0 && t <= nn) {
        const quad height = quad_dot(r, n);
        best = lesser(best, height * height / nn);
    }
    return best;
}

// The squared distance at a time, rounded in quadruple precision only.
static quad distance2_at(const query* q, double t)
{
    quad3 x[4];
    for (int k = 0; k < 4; k++) {
        const quad s = 1 - (quad)t;
        x[k] = (quad3){s * (quad)q->x0[k].x + (quad)t * (quad)q->x1[k].x,
                       s * (quad)q->x0[k].y + (quad)t * (quad)q->x1[k].y,
                       s * (quad)q->x0[k].z + (quad)t * (quad)q->x1[k].z};
    }
    quad_count++;
    switch (q->kind) {
    case CR_PAIR_PP:
        return quad_dot(quad_sub(x[0], x[3]), quad_sub(x[0], x[3]));
    case CR_PAIR_PE:
        return point_edge2(x[3], x[0], x[1]);
    case CR_PAIR_PT:
        return point_triangle2(x[3], x);
    default:
        return edge_edge2(x);
    }
}

// ---- the three properties -------------------------------------------------------------------

static void tell(const query* q, const char* what, double toi)
{
    static int told;
    check_failures++;
    if (told++ < 10) {
        printf("%s: kind %d, separation %a, toi %a\n", what, q->kind, q->separation, toi);
        for (int k = 0; k < 4; k++) {
            printf("    {%a, %a, %a} -> {%a, %a, %a}\n", q->x0[k].x, q->x0[k].y, q->x0[k].z,
                   q->x1[k].x, q->x1[k].y, q->x1[k].z);
        }
    }
}

static void check_free_at(const query* q, double t, double toi)
{
    const quad limit = (quad)q->separation;
    if (!(distance2_at(q, t) > limit * limit)) {
        tell(q, "late: within the separation before toi", toi);
    }
}

// A time in [0,most] at which the distance has a minimum: the least of a few, then thirds.
static double closest_time(const query* q, double most)
{
    enum { SAMPLES = 16, THIRDS = 40 };
    int best = 0;
    quad least = distance2_at(q, 0);
    for (int i = 1; i <= SAMPLES; i++) {
        const quad d2 = distance2_at(q, most * i / SAMPLES);
        if (d2 < least) {
            least = d2;
            best = i;
        }
    }
    double low = most * fmax(best - 1, 0) / SAMPLES,
           high = most * fmin(best + 1, SAMPLES) / SAMPLES;
    for (int i = 0; i < THIRDS; i++) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (distance2_at(q, a) < distance2_at(q, b)) {
            high = b;
        } else {
            low = a;
        }
    }
    return fmin(most, low + (high - low) / 2);
}

// known: a time at which the features surely touch, or a negative number.
static double check_query(const query* q, double known, uint64_t* seed)
{
    double toi = -1;
    const int hit = cr_ccd_hit(q->kind, q->x0, q->x1, q->separation, &toi);
    query_count++;
    hit_count += hit;
    if (!(toi >= 0 && toi <= 1) || (!hit && toi != 1)) {
        tell(q, "toi outside of [0,1]", toi);
        return toi;
    }
    if (cr_ccd_free(q->kind, q->x0, q->x1, q->separation) != toi) {
        tell(q, "cr_ccd_free disagrees", toi);
    }
    if (known >= 0 && !hit) {
        tell(q, "missed", toi);
    }
    if (known >= 0 && !(toi <= known)) {
        tell(q, "late: after a known contact", toi);
    }
    const double size = cr_ccd_size(q->kind, q->x0, q->x1);
    if (hit) {
        const quad limit = (quad)q->separation + (quad)1e-6 * (quad)size;
        const quad d2 = distance2_at(q, toi);
        if (!(d2 <= limit * limit)) {
            tell(q, "a hit called where there is none", toi);
        }
        worst_near = fmax(worst_near, (sqrt((double)d2) - q->separation) / size);
    }
    if (!hit || toi > 0) { // then all of [0,toi] is claimed to be free
        check_free_at(q, toi, toi);
        if (query_count % 4 == 0) {
            check_free_at(q, 0, toi);
            check_free_at(q, toi * check_random(seed, 0, 1), toi);
        }
        if (query_count % 128 == 0) {
            check_free_at(q, closest_time(q, toi), toi);
        }
    }
    return toi;
}

// ---- queries on a grid of integers, whose contact is exact ----------------------------------

enum {
    FLAT = 1,       // everything stays in one plane: the cubic is zero throughout
    THIN = 2,       // slivers and nearly parallel edges
    DEGENERATE = 4, // edges without length, triangles without area
    GRAZING = 8,    // the contact does not pierce: it moves within the plane of the features
    STILL = 16,     // nothing moves
    CORNER = 32,    // contact on a corner or an edge of the feature
    SLOW = 64,      // little motion
};

typedef struct lattice {
    int64_t x, y, z;
} lattice;

static int64_t random_int(uint64_t* seed, int64_t most)
{
    return (int64_t)(check_random_bits(seed) % (uint64_t)(2 * most + 1)) - most;
}

static lattice random_lattice(uint64_t* seed, int64_t most, int flags)
{
    return (lattice){random_int(seed, most), random_int(seed, most),
                     flags & FLAT ? 0 : random_int(seed, most)};
}

static lattice lattice_add(lattice a, int64_t s, lattice b)
{
    return (lattice){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

// A direction of edge 16 f from e: another one, nearly e itself, e, or nothing.
static lattice other_edge(uint64_t* seed, lattice e, int64_t most, int flags)
{
    const lattice f = random_lattice(seed, most, flags);
    if (flags & DEGENERATE) {
        const int64_t times[] = {0, 1, -1, 2};
        return lattice_add((lattice){0, 0, 0}, times[check_random_bits(seed) % 4], e);
    }
    return flags & THIN ? lattice_add(e, 1, random_lattice(seed, 1, flags)) : f;
}

// Fills *q with features that touch at exactly t = step/16, a sixteenth apart in everything, so
// that all positions are integers times `scale`. Returns t.
static double build(query* q, uint64_t* seed, int32_t kind, int flags, double scale)
{
    const int64_t large = 1 << 16;
    const int64_t step = (int64_t)(check_random_bits(seed) % 17);
    const lattice e = flags & DEGENERATE && check_random_bits(seed) % 2
                          ? (lattice){0, 0, 0}
                          : random_lattice(seed, large, flags);
    const lattice f = other_edge(seed, e, large, flags);
    int64_t s = (int64_t)(check_random_bits(seed) % 17),
            t = (int64_t)(check_random_bits(seed) % 17);
    if (flags & CORNER) {
        s = s % 2 * 16;
        t = check_random_bits(seed) % 2 ? t : t % 2 * 16;
    }
    if (kind == CR_PAIR_PT) {
        t = t > 16 - s ? 16 - s : t;
    }
    // where they are at the contact, in sixteenths
    const lattice origin = random_lattice(seed, large, flags);
    lattice x[4], v[4];
    x[0] = lattice_add((lattice){0, 0, 0}, 16, origin);
    x[1] = lattice_add(x[0], 16, e);
    x[2] = lattice_add(x[0], 16, f);
    x[3] = x[0];
    if (kind == CR_PAIR_PE || kind == CR_PAIR_PT) {
        x[3] = lattice_add(x[0], s, e);
    }
    if (kind == CR_PAIR_PT) {
        x[3] = lattice_add(x[3], t, f);
    }
    if (kind == CR_PAIR_EE) { // x0 + s e = x2 + t f
        x[2] = lattice_add(lattice_add(x[0], s, e), -t, f);
        x[3] = lattice_add(x[2], 16, f);
    }
    const int64_t speed = flags & STILL ? 0 : flags & SLOW ? 4 : large;
    for (int k = 0; k < 4; k++) {
        v[k] = random_lattice(seed, speed, flags);
    }
    if (flags & GRAZING && kind == CR_PAIR_PT) {
        // sixteen times too fast, but along with the point that is touched and then within the
        // plane
        const lattice a = v[0], b = v[1], c = v[2];
        lattice w = lattice_add((lattice){0, 0, 0}, 16 - s - t, a);
        w = lattice_add(lattice_add(w, s, b), t, c);
        w = lattice_add(lattice_add(w, random_int(seed, 8), e), random_int(seed, 8), f);
        v[0] = lattice_add((lattice){0, 0, 0}, 16, a);
        v[1] = lattice_add((lattice){0, 0, 0}, 16, b);
        v[2] = lattice_add((lattice){0, 0, 0}, 16, c);
        v[3] = w;
    }
    q->kind = kind;
    for (int k = 0; k < 4; k++) {
        const lattice a = lattice_add(x[k], -step, v[k]), b = lattice_add(x[k], 16 - step, v[k]);
        q->x0[k] = (cr_vec3){scale * (double)a.x, scale * (double)a.y, scale * (double)a.z};
        q->x1[k] = (cr_vec3){scale * (double)b.x, scale * (double)b.y, scale * (double)b.z};
    }
    return (double)step / 16;
}

// Scales as they occur: from 1e-8 m to 1e4 m for coordinates of some 2^20 units.
static double random_scale(uint64_t* seed)
{
    return ldexp(1, -47 + (int)(check_random_bits(seed) % 41));
}

static double random_separation(uint64_t* seed, double size)
{
    const uint64_t bits = check_random_bits(seed);
    return bits & 1 ? 0 : ldexp(size, -(int)(bits >> 1) % 32);
}

static void test_exact_contacts_are_found_in_time(void)
{
    uint64_t seed = 1;
    for (int i = 0; i < 2 * CAROM_CCD_QUERIES; i++) {
        query q = {0};
        const int flags = (int)(check_random_bits(&seed) & 127);
        const double known = build(&q, &seed, i % 4, i % 8 < 4 ? 0 : flags, random_scale(&seed));
        q.separation = random_separation(&seed, cr_ccd_size(q.kind, q.x0, q.x1));
        check_query(&q, known, &seed);
    }
}

static void test_near_misses_are_near(void)
{
    uint64_t seed = 2;
    for (int i = 0; i < 2 * CAROM_CCD_QUERIES; i++) {
        query q = {0};
        const int flags = (int)(check_random_bits(&seed) & 127);
        build(&q, &seed, i % 4, flags, random_scale(&seed));
        const double gap =
            cr_ccd_size(q.kind, q.x0, q.x1) * ldexp(1, -(int)(check_random_bits(&seed) % 54));
        const cr_vec3 by = {check_random(&seed, -gap, gap), check_random(&seed, -gap, gap),
                            flags & FLAT && i % 8 < 4 ? 0 : check_random(&seed, -gap, gap)};
        q.x0[3] = cr_vec3_add(q.x0[3], by);
        q.x1[3] = cr_vec3_add(q.x1[3], by);
        q.separation = random_separation(&seed, cr_ccd_size(q.kind, q.x0, q.x1));
        check_query(&q, -1, &seed);
    }
}

static void test_random_motions(void)
{
    uint64_t seed = 3;
    for (int i = 0; i < CAROM_CCD_QUERIES; i++) {
        query q = {.kind = i % 4};
        const double size = random_scale(&seed) * 0x1p20, speed = i % 3 ? 1 : 0.05;
        for (int k = 0; k < 4; k++) {
            double* const x[2] = {&q.x0[k].x, &q.x1[k].x};
            for (int j = 0; j < 3; j++) {
                x[0][j] = size * check_random(&seed, -1, 1);
                x[1][j] = x[0][j] + size * speed * check_random(&seed, -2, 2);
            }
        }
        q.separation = random_separation(&seed, size);
        check_query(&q, -1, &seed);
    }
}

// Close all the time while both sides turn: no single direction, no mean of two, proves it.
static void test_hovering_pairs(void)
{
    uint64_t seed = 4;
    for (int i = 0; i < CAROM_CCD_QUERIES / 2; i++) {
        query q = {0};
        const int32_t kind = 1 + i % 3;
        const int flags = (int)(check_random_bits(&seed) & (THIN | SLOW | FLAT | CORNER));
        build(&q, &seed, kind, flags, random_scale(&seed));
        // b rides on the point of A that it is nearest to, a little off it
        const double size = cr_ccd_size(kind, q.x0, q.x1);
        const double gap = size * ldexp(1, -(int)(check_random_bits(&seed) % 40));
        const double s = check_random(&seed, 0, 1); // on the rim of the triangle or within
        const double t = i % 2 ? 1 - s : check_random(&seed, 0, 1 - s);
        cr_vec3* const ends[2] = {q.x0, q.x1};
        for (int j = 0; j < 2; j++) {
            cr_vec3* const x = ends[j];
            cr_vec3 on = cr_vec3_add(cr_vec3_scale(1 - s, x[0]), cr_vec3_scale(s, x[1]));
            if (kind == CR_PAIR_PT) {
                on = cr_vec3_add_scaled(on, t, cr_vec3_sub(x[2], x[0]));
            }
            const cr_vec3 f = cr_vec3_sub(x[3], x[2]);
            const cr_vec3 off = {0.3 * gap, 0.5 * gap, flags & FLAT ? 0 : 0.8 * gap};
            x[3] = cr_vec3_add(on, off);
            if (kind == CR_PAIR_EE) {
                x[2] = cr_vec3_add_scaled(x[3], t - 1, f);
                x[3] = cr_vec3_add(x[2], f);
            }
        }
        // with and without a separation, somewhat less or more than the distance at the start
        const double apart = sqrt((double)distance2_at(&q, 0));
        q.separation = i % 5 < 2 ? 0 : apart * (1 - ldexp(check_random(&seed, -1, 2), -(i % 37)));
        q.separation = fmax(q.separation, 0);
        check_query(&q, -1, &seed);
    }
}

// Pairs that are close to the separation, part a little and come back for good: the slope from the
// start to the end once led to steps so small that the search gave up 8e-5 of the size away.
static void test_rises_before_it_falls(void)
{
    static const query found[] = {
        {CR_PAIR_PE,
         {{0x1.a51d8p+5, -0x1.58602p+7, 0},
          {0x1.6eacap+8, -0x1.75322p+8, 0},
          {0, 0, 0},
          {0x1.2f7b10a604335p+8, -0x1.d3eeeb7a82acep+7, 0}},
         {{0x1.bac96p+7, -0x1.46731p+8, 0},
          {0x1.26554p+7, -0x1.6d904p+7, 0},
          {0, 0, 0},
          {0x1.ae18214c46a7ep+7, -0x1.3fd33503245d6p+7, 0}},
         0x1.4cc943791c125p+6},
        {CR_PAIR_PE,
         {{0x1.483b4p+8, -0x1.c3548p+8, 0},
          {0x1.8b132p+9, -0x1.250edp+9, 0},
          {0, 0, 0},
          {0x1.038c3ffffe433p+7, -0x1.d9a39fffff048p+8, 0}},
         {{0x1.1c6f4p+8, -0x1.c21c8p+8, 0},
          {0x1.09a52p+9, -0x1.740f4p+7, 0},
          {0, 0, 0},
          {0x1.0dcc0fffff90dp+9, -0x1.a56d9fffff048p+8, 0}},
         0},
    };
    uint64_t seed = 8;
    for (int i = 0; i < 2; i++) {
        check_query(&found[i], -1, &seed);
    }
}

// ---- what must not change the answer --------------------------------------------------------

static void test_scaling_and_moving_change_nothing(void)
{
    uint64_t seed = 5;
    for (int i = 0; i < CAROM_CCD_QUERIES / 4; i++) {
        query q = {0};
        build(&q, &seed, i % 4, (int)(check_random_bits(&seed) & 127), 1);
        if (i % 3) { // off the contact, still on the grid
            q.x0[3].x += 64;
            q.x1[3].x += 64;
        }
        q.separation = i % 2 ? 0 : 1000;
        double toi = -1, again = -2;
        const int hit = cr_ccd_hit(q.kind, q.x0, q.x1, q.separation, &toi);
        const int exponents[] = {-27, 13, -60, 60, -400, 400, 900};
        for (int j = 0; j < 7; j++) {
            query scaled = q;
            const double scale = ldexp(1, exponents[j]);
            for (int k = 0; k < 4; k++) {
                scaled.x0[k] = cr_vec3_scale(scale, q.x0[k]);
                scaled.x1[k] = cr_vec3_scale(scale, q.x1[k]);
            }
            const int same = cr_ccd_hit(q.kind, scaled.x0, scaled.x1, scale * q.separation, &again);
            CHECK(same == hit && again == toi);
        }
        query moved = q;
        const cr_vec3 by = {0x1p40, -0x1.8p38, 12345}, with = {-0x1p30, 0x1p41, 7};
        for (int k = 0; k < 4; k++) { // both ends may move differently: only A against B counts
            moved.x0[k] = cr_vec3_add(q.x0[k], by);
            moved.x1[k] = cr_vec3_add(q.x1[k], with);
        }
        const int same = cr_ccd_hit(q.kind, moved.x0, moved.x1, q.separation, &again);
        CHECK(same == hit && again == toi);
    }
}

static void test_the_order_of_points_hardly_matters(void)
{
    uint64_t seed = 6;
    static const int orders[][5] = {{CR_PAIR_PE, 1, 0, 2, 3}, {CR_PAIR_PT, 1, 2, 0, 3},
                                    {CR_PAIR_PT, 1, 0, 2, 3}, {CR_PAIR_EE, 2, 3, 0, 1},
                                    {CR_PAIR_EE, 1, 0, 2, 3}, {CR_PAIR_EE, 1, 0, 3, 2}};
    for (int i = 0; i < CAROM_CCD_QUERIES / 4; i++) {
        query q = {0}, other;
        const int* const order = orders[i % 6];
        const double known = build(&q, &seed, order[0], (i / 6) % 2 ? CORNER : 0, 1);
        const double toi = check_query(&q, known, &seed);
        other = q;
        for (int k = 0; k < 4; k++) {
            other.x0[k] = q.x0[order[1 + k]];
            other.x1[k] = q.x1[order[1 + k]];
        }
        CHECK_NEAR(check_query(&other, known, &seed), toi, 1e-5);
    }
}

// Time runs backwards just as well: a contact is there from both sides.
static void test_hits_are_hits_backwards(void)
{
    uint64_t seed = 7;
    for (int i = 0; i < CAROM_CCD_QUERIES / 4; i++) {
        query q = {0}, back;
        const double known = build(&q, &seed, i % 4, (int)(check_random_bits(&seed) & 127), 1);
        back = q;
        memcpy(back.x0, q.x1, sizeof back.x0);
        memcpy(back.x1, q.x0, sizeof back.x1);
        check_query(&back, 1 - known, &seed);
    }
}

// ---- by hand --------------------------------------------------------------------------------

static void check_by_hand(query q, int hit, double least, double most)
{
    double toi = -1;
    CHECK(cr_ccd_hit(q.kind, q.x0, q.x1, q.separation, &toi) == hit);
    CHECK(toi >= least && toi <= most);
}

static void test_by_hand(void)
{
    // a point falls on a triangle from 1 m by 2 m
    query q = {CR_PAIR_PT,
               {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0.25, 1}},
               {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0.25, -1}},
               0};
    check_by_hand(q, 1, 0.5 - 1e-8, 0.5);
    q.separation = 0.5;
    check_by_hand(q, 1, 0.25 - 1e-8, 0.25);
    q.separation = 1; // there already
    check_by_hand(q, 1, 0, 0);
    q.separation = 0;
    q.x1[3].z = 0; // arrives at the very end
    check_by_hand(q, 1, 1 - 1e-8, 1);
    q.x1[3].z = 0x1p-50; // does not arrive
    check_by_hand(q, 0, 1, 1);
    q.x0[3].z = 0; // leaves at once
    check_by_hand(q, 1, 0, 0);
    q.x0[3].z = 0x1p-1000; // was never there
    check_by_hand(q, 0, 1, 1);

    // all at one place
    const query none = {CR_PAIR_EE,
                        {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}},
                        {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}},
                        0};
    check_by_hand(none, 1, 0, 0);

    // spheres of radius 0.1 in passing, 0.2 - 1e-9 and 0.2 + 1e-9 apart at the closest
    query pass = {CR_PAIR_PP, {{-1, 0.2 - 1e-9, 0}}, {{1, 0.2 - 1e-9, 0}}, 0.2};
    check_by_hand(pass, 1, 0.4999, 0.5);
    pass.x0[0].y = pass.x1[0].y = 0.2 + 1e-9;
    check_by_hand(pass, 0, 1, 1);
}

static void test_what_is_no_number_counts_as_hit(void)
{
    const query good = {CR_PAIR_PT,
                        {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 9}},
                        {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 8}},
                        0};
    check_by_hand(good, 0, 1, 1);
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 0x1.fp1023};
    for (int i = 0; i < 4; i++) {
        query q = good;
        q.x0[2].y = bad[i];
        q.x0[3].y = -bad[i];
        check_by_hand(q, 1, 0, 0);
        q = good;
        q.separation = i < 2 ? bad[i] : -1;
        check_by_hand(q, 1, 0, 0);
    }
}

static void test_gap_is_the_least_distance(void)
{
    query pass = {CR_PAIR_PP, {{-1, 0.25, 0}}, {{1, 0.25, 0}}, 0};
    CHECK_NEAR(cr_ccd_gap(pass.kind, pass.x0, pass.x1), 0.25, 1e-12);
    for (int k = 0; k < 4; k++) {
        pass.x0[k] = cr_vec3_scale(0x1p-300, pass.x0[k]);
        pass.x1[k] = cr_vec3_scale(0x1p-300, pass.x1[k]);
    }
    CHECK_NEAR(cr_ccd_gap(pass.kind, pass.x0, pass.x1) * 0x1p300, 0.25, 1e-12);
    CHECK_NEAR(cr_ccd_size(pass.kind, pass.x0, pass.x1), 0x1p-300, 0);
}

int main(void)
{
    RUN(test_by_hand);
    RUN(test_what_is_no_number_counts_as_hit);
    RUN(test_gap_is_the_least_distance);
    RUN(test_exact_contacts_are_found_in_time);
    RUN(test_near_misses_are_near);
    RUN(test_random_motions);
    RUN(test_hovering_pairs);
    RUN(test_rises_before_it_falls);
    RUN(test_scaling_and_moving_change_nothing);
    RUN(test_the_order_of_points_hardly_matters);
    RUN(test_hits_are_hits_backwards);
    printf("%lld queries, %lld hits, at most %.2g of the size too near; %lld distances in quad\n",
           (long long)query_count, (long long)hit_count, worst_near, (long long)quad_count);
    return check_failures != 0;
}
