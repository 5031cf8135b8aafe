// collide.h - collision queries.
#pragma once

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Two features that may meet, as four points 0..3 of which some kinds leave out a few.
typedef enum carom_pair {
    CAROM_PAIR_POINT_POINT,    // 0 | 3
    CAROM_PAIR_EDGE_POINT,     // 0,1 | 3
    CAROM_PAIR_TRIANGLE_POINT, // 0,1,2 | 3
    CAROM_PAIR_EDGE_EDGE,      // 0,1 | 2,3
} carom_pair;

// Points x0[3*4] go straight to x1[3*4] (m) as the time goes from 0 to 1. Returns 1 when they may
// come within separation (>= 0, m; 0: touch) of each other, else 0; *toi is never later than the
// first such time, and 1 if there is none. It never misses: rounding is accounted for, and what is
// not a number counts as a hit at time 0. Where it says yes the pair is, at *toi, within a
// millionth of the size of the query of the separation.
CAROM_API int carom_ccd_hit(carom_pair pair, const double x0[12], const double x1[12],
                            double separation, double* toi);

// How well the narrow phase did on recorded queries.
typedef struct carom_ccd_score {
    char name[64];           // of the subset; "total" for all
    int64_t queries;         //
    int64_t positives;       // queries that are hits in truth
    int64_t false_negatives; // hits called a miss: has to be 0
    int64_t false_positives; // misses called a hit
    int64_t late_toi;        // hits whose time came out after the true one: has to be 0
} carom_ccd_score;

typedef struct carom_ccd_report {
    carom_ccd_score total;
    double worst_gap;         // largest true distance of a false positive, by the query's size
    double ns_per_query;      // [ns] on one thread, all queries in memory
    int32_t subset_count;     //
    carom_ccd_score* subsets; // [subset_count] owned by the report, in the order of the file
} carom_ccd_report;

// Runs every query of a CSV file (plain or gzip) with lines
//   kind,x0,y0,z0,...,x7,y7,z7,truth,toi,subset,query
// kind vf: v,f0,f1,f2 at time 0, then at time 1; kind ee: a0,a1,b0,b1. truth 1 or 0; toi the exact
// first time, empty for a miss. Lines that begin with # are skipped. On failure *report is empty
// and error (may be NULL) names file, line, what was found and what is accepted.
CAROM_API carom_status carom_ccd_check(const char* path, carom_ccd_report* report,
                                       carom_error* error);
CAROM_API void carom_ccd_report_release(carom_ccd_report* report);

#ifdef __cplusplus
}
#endif
