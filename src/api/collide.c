#include "carom/collide.h"
#include "collision/ccd.h"
#include "core/status.h"
#include "io/ccd_file.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The public kinds are the inner ones by another name.
_Static_assert((int)CAROM_PAIR_POINT_POINT == (int)CR_PAIR_PP &&
                   (int)CAROM_PAIR_EDGE_POINT == (int)CR_PAIR_PE &&
                   (int)CAROM_PAIR_TRIANGLE_POINT == (int)CR_PAIR_PT &&
                   (int)CAROM_PAIR_EDGE_EDGE == (int)CR_PAIR_EE,
               "carom_pair has to match cr_pair_kind");
_Static_assert(sizeof((carom_ccd_score){0}.name) == CR_CCD_FILE_NAME, "a name has to fit");

enum { ROUNDS = 400, ROUNDS_LEAST = 5 };

// The queries are gone through again and again for about so long.
static const double timing_seconds = 0.3;

int carom_ccd_hit(carom_pair pair, const double x0[12], const double x1[12], double separation,
                  double* toi)
{
    cr_vec3 a[4], b[4];
    double ignored;
    toi = toi ? toi : &ignored;
    if (!(pair >= CAROM_PAIR_POINT_POINT && pair <= CAROM_PAIR_EDGE_EDGE) || !x0 || !x1) {
        *toi = 0;
        return 1;
    }
    for (int32_t k = 0; k < 4; k++) {
        a[k] = cr_vec3_load(x0 + (ptrdiff_t)3 * k);
        b[k] = cr_vec3_load(x1 + (ptrdiff_t)3 * k);
    }
    return cr_ccd_hit((int32_t)pair, a, b, separation, toi);
}

static void score(const cr_ccd_file* file, carom_ccd_report* report)
{
    for (int32_t i = 0; i < file->query.count; i++) {
        const cr_ccd_file_query* const q = &file->query.items[i];
        double toi;
        const int hit = cr_ccd_hit(q->kind, q->x0, q->x1, 0, &toi);
        carom_ccd_score* const at[] = {&report->total, &report->subsets[q->subset]};
        for (int j = 0; j < 2; j++) {
            at[j]->queries++;
            at[j]->positives += q->truth;
            at[j]->false_negatives += q->truth && !hit;
            at[j]->false_positives += !q->truth && hit;
            at[j]->late_toi += q->truth && hit && !(toi <= q->toi);
        }
        if (hit && !q->truth) {
            const double size = cr_ccd_size(q->kind, q->x0, q->x1);
            const double gap = cr_ccd_gap(q->kind, q->x0, q->x1);
            report->worst_gap = cr_max(report->worst_gap, size > 0 ? gap / size : 0);
        }
    }
}

// Of this thread: waiting for the machine is not the work of a query.
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// The median of many rounds: what else runs on the machine falls on few of them.
static double time_queries(const cr_ccd_file* file)
{
    double took[ROUNDS], toi, sum = 0;
    const double begin = seconds();
    int32_t rounds = 0;
    while (rounds < ROUNDS && (rounds < ROUNDS_LEAST || seconds() - begin < timing_seconds)) {
        const double start = seconds();
        for (int32_t i = 0; i < file->query.count; i++) {
            const cr_ccd_file_query* const q = &file->query.items[i];
            sum += cr_ccd_hit(q->kind, q->x0, q->x1, 0, &toi) ? toi : 1;
        }
        took[rounds++] = seconds() - start;
    }
    volatile double sink = sum; // the answers are asked for, so they are worked out
    (void)sink;
    qsort(took, (size_t)rounds, sizeof *took, ascending);
    return 1e9 * took[rounds / 2] / file->query.count;
}

carom_status carom_ccd_check(const char* path, carom_ccd_report* report, carom_error* error)
{
    if (!report) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "carom_ccd_check: report is NULL");
    }
    *report = (carom_ccd_report){.total = {.name = "total"}};
    if (!path) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "carom_ccd_check: path is NULL");
    }
    cr_ccd_file file;
    const carom_status status = cr_ccd_file_read(path, &file, error);
    if (status != CAROM_OK) {
        return status;
    }
    report->subsets = cr_memory_take((size_t)file.subset.count, sizeof *report->subsets);
    if (!report->subsets) {
        cr_ccd_file_release(&file);
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "%s: no memory for the report", path);
    }
    report->subset_count = file.subset.count;
    for (int32_t i = 0; i < file.subset.count; i++) {
        memcpy(report->subsets[i].name, file.subset.items[i].name, CR_CCD_FILE_NAME);
    }
    score(&file, report);
    report->ns_per_query = time_queries(&file);
    cr_ccd_file_release(&file);
    return CAROM_OK;
}

void carom_ccd_report_release(carom_ccd_report* report)
{
    if (report) {
        cr_memory_free(report->subsets);
        *report = (carom_ccd_report){0};
    }
}
