// box.h - axis-aligned boxes and when two of them meet.
#pragma once

#include "math/vec3.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef struct cr_box {
    double lo[3], hi[3]; // [m] closed
} cr_box;

// The box of nothing: every union with it is the other box, and it meets none.
static inline cr_box cr_box_empty(void)
{
    return (cr_box){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
}

static inline cr_box cr_box_union(const cr_box* a, const cr_box* b)
{
    return (cr_box){
        {cr_min(a->lo[0], b->lo[0]), cr_min(a->lo[1], b->lo[1]), cr_min(a->lo[2], b->lo[2])},
        {cr_max(a->hi[0], b->hi[0]), cr_max(a->hi[1], b->hi[1]), cr_max(a->hi[2], b->hi[2])}};
}

// Closed boxes: touching is meeting. Without branches, for their outcome cannot be foretold.
static inline int cr_box_meet(const cr_box* a, const cr_box* b)
{
#ifdef __SSE2__
    // the same comparisons, two at a time
    const __m128d a_b = _mm_cmple_pd(_mm_loadu_pd(a->lo), _mm_loadu_pd(b->hi));
    const __m128d b_a = _mm_cmple_pd(_mm_loadu_pd(b->lo), _mm_loadu_pd(a->hi));
    const __m128d both = _mm_cmple_pd(_mm_loadh_pd(_mm_load_sd(&a->lo[2]), &b->lo[2]),
                                      _mm_loadh_pd(_mm_load_sd(&b->hi[2]), &a->hi[2]));
    return _mm_movemask_pd(_mm_and_pd(both, _mm_and_pd(a_b, b_a))) == 3;
#else
    return (a->lo[0] <= b->hi[0]) & (b->lo[0] <= a->hi[0]) & (a->lo[1] <= b->hi[1]) &
           (b->lo[1] <= a->hi[1]) & (a->lo[2] <= b->hi[2]) & (b->lo[2] <= a->hi[2]);
#endif
}

// How far a box reaches along m: the most of m.x in it.
static inline double cr_box_reach(const cr_box* box, cr_vec3 m)
{
    return cr_max(m.x * box->lo[0], m.x * box->hi[0]) + cr_max(m.y * box->lo[1], m.y * box->hi[1]) +
           cr_max(m.z * box->lo[2], m.z * box->hi[2]);
}
