#include "carom/collide.h"
#include "check.h"
#include "collision/surface.h"
#include "core/memory.h"
#include "io/ccd_file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/carom_ccd_XXXXXX";

static const char text[] =
    "vf,9,9,9,1,2,3,4,5,6,7,8,9,-9,-9,-9,-1,-2,-3,-4,-5,-6,-7,-8,-9,1,0.25,first,a\n"
    "# between\n"
    "ee,0,0,1,1,0,1,0.5,-1,0,0.5,1,0,0,0,-1,1,0,-1,0.5,-1,0,0.5,1,0,1,0.5,second,b\n"
    "ee,0,0,1,1,0,1,0.5,-1,0,0.5,1,0,0,0,3,1,0,3,0.5,-1,0,0.5,1,0,0,,first,c\n";

static void test_reads_what_is_written(void)
{
    cr_ccd_file file;
    carom_error error = {0};
    CHECK(cr_ccd_file_read(path, &file, &error) == CAROM_OK);
    CHECK(file.query.count == 3 && file.subset.count == 2);
    if (file.query.count == 3 && file.subset.count == 2) {
        const cr_ccd_file_query* const q = file.query.items;
        CHECK(q[0].kind == CR_PAIR_PT && q[0].truth == 1 && q[0].toi == 0.25 && q[0].subset == 0);
        CHECK(q[0].x0[0].x == 1 && q[0].x0[2].z == 9 && q[0].x0[3].y == 9); // the face comes first
        CHECK(q[0].x1[0].x == -1 && q[0].x1[2].z == -9 && q[0].x1[3].y == -9);
        CHECK(q[1].kind == CR_PAIR_EE && q[1].subset == 1 && q[1].x0[1].x == 1);
        CHECK(q[2].truth == 0 && q[2].toi == 1 && q[2].subset == 0 && q[2].x1[3].y == 1);
        CHECK(strcmp(file.subset.items[1].name, "second") == 0);
    }
    cr_ccd_file_release(&file);
}

static void test_report(void)
{
    carom_ccd_report report;
    CHECK(carom_ccd_check(path, &report, NULL) == CAROM_OK);
    CHECK(report.total.queries == 3 && report.total.positives == 2 && report.subset_count == 2);
    CHECK(report.ns_per_query > 0);
    carom_ccd_report_release(&report);
    CHECK(report.subsets == NULL);
    CHECK(carom_ccd_check(NULL, &report, NULL) == CAROM_ERR_ARGUMENT);
    CHECK(carom_ccd_check(path, NULL, NULL) == CAROM_ERR_ARGUMENT);
}

// Whichever allocation fails, the refusal is clean and nothing is left behind.
static void test_memory_may_fail(void)
{
    int refused = 0;
    for (int n = 1; n < 20; n++) {
        carom_ccd_report report;
        carom_error error = {0};
        cr_memory_fail_after(n);
        const carom_status status = carom_ccd_check(path, &report, &error);
        cr_memory_fail_after(0);
        if (status == CAROM_OK) {
            carom_ccd_report_release(&report);
            break;
        }
        refused++;
        CHECK(status == CAROM_ERR_MEMORY && error.status == status && error.message[0] != '\0');
        CHECK(report.subsets == NULL && report.total.queries == 0);
    }
    CHECK(refused >= 3); // queries, subsets, report
}

static void test_public_query(void)
{
    const double x0[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, 1};
    double x1[12], toi = -1;
    memcpy(x1, x0, sizeof x1);
    x1[11] = -1;
    CHECK(carom_ccd_hit(CAROM_PAIR_TRIANGLE_POINT, x0, x1, 0, &toi) == 1);
    CHECK(toi <= 0.5 && toi > 0.499);
    CHECK(carom_ccd_hit(CAROM_PAIR_POINT_POINT, x0, x1, 0, &toi) == 0 && toi == 1);
    CHECK(carom_ccd_hit((carom_pair)7, x0, x1, 0, &toi) == 1 && toi == 0);
}

int main(void)
{
    const int file = mkstemp(path);
    CHECK(file >= 0 && write(file, text, sizeof text - 1) == (ssize_t)(sizeof text - 1));
    close(file);
    RUN(test_reads_what_is_written);
    RUN(test_report);
    RUN(test_memory_may_fail);
    RUN(test_public_query);
    unlink(path);
    return check_failures != 0;
}
