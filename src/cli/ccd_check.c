#include "carom/collide.h"
#include "cli/args.h"
#include "cli/cli.h"
#include <stdio.h>

static void print_score(const carom_ccd_score* s)
{
    printf("%-36s %8lld %9lld %8lld %8lld %6lld\n", s->name, (long long)s->queries,
           (long long)s->positives, (long long)s->false_negatives, (long long)s->false_positives,
           (long long)s->late_toi);
}

static void print_table(const carom_ccd_report* report)
{
    const carom_ccd_score* const t = &report->total;
    printf("%-36s %8s %9s %8s %8s %6s\n", "subset", "queries", "positives", "false -", "false +",
           "late");
    for (int32_t i = 0; i < report->subset_count; i++) {
        print_score(&report->subsets[i]);
    }
    print_score(t);
    const int64_t misses = t->queries - t->positives;
    printf("\nfalse positives: %.3g %% of %lld misses",
           misses ? 100 * (double)t->false_positives / (double)misses : 0.0, (long long)misses);
    if (t->false_positives) {
        printf("; the largest true gap among them is %.3g of the query's size", report->worst_gap);
    }
    printf("\ntime: %.0f ns per query\n", report->ns_per_query);
}

static void print_json(const carom_ccd_report* report)
{
    const carom_ccd_score* const t = &report->total;
    printf("{\"queries\": %lld, \"positives\": %lld, \"false_negatives\": %lld, "
           "\"false_positives\": %lld, \"late_toi\": %lld, \"worst_gap\": %.17g, "
           "\"ns_per_query\": %.1f}\n",
           (long long)t->queries, (long long)t->positives, (long long)t->false_negatives,
           (long long)t->false_positives, (long long)t->late_toi, report->worst_gap,
           report->ns_per_query);
}

int cli_ccd_check(int argc, char** argv)
{
    const char* path = NULL;
    int json = 0;
    const cli_option options[] = {
        {"--json", NULL, "one JSON object for programs", NULL, &json, NULL},
    };
    const cli_usage usage = {
        "FILE.csv[.gz] [--json]",
        "runs continuous collision detection on recorded queries and compares with the known "
        "answers. Lines: kind,x0,y0,z0,...,x7,y7,z7,truth,toi,subset,query with kind vf "
        "(v,f0,f1,f2 at time 0, then at time 1) or ee (a0,a1,b0,b1); truth 1 (hit) or 0; toi empty "
        "for a miss. Exit status 1 if a hit is missed or its time is late.",
        options,
        1,
        1,
        1};
    const int plain = cli_args_parse(argc, argv, &usage, &path);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
    }
    carom_ccd_report report;
    carom_error error = {0};
    if (carom_ccd_check(path, &report, &error) != CAROM_OK) {
        fprintf(stderr, "carom ccd-check: %s\n", error.message);
        return 2;
    }
    if (json) {
        print_json(&report);
    } else {
        print_table(&report);
    }
    const int failed = report.total.false_negatives > 0 || report.total.late_toi > 0;
    carom_ccd_report_release(&report);
    return failed ? 1 : 0;
}
