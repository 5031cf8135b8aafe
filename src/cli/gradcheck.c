#include "cli/cli.h"
#include "cli/problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check {
    cli_problem p;
    const char *tolerance_text, *step_text, *most_text;
    double tolerance;
    carom_check_options options;
    carom_check_row* row; // [parameter_count]
    carom_check_report report;
} check;

static int print_json(const check* c)
{
    json_t *o = json_object(), *list = json_array();
    for (int32_t i = 0; i < carom_problem_parameter_count(c->p.problem); i++) {
        carom_parameter_info info;
        char name[CLI_PROBLEM_NAME];
        const carom_check_row* r = &c->row[i];
        carom_problem_parameter(c->p.problem, i, &info);
        json_t* row = json_object();
        json_object_set_new(row, "name", cli_json_text(cli_problem_name(&info, name)));
        json_object_set_new(row, "count", json_integer(info.count));
        json_object_set_new(row, "checked", json_integer(r->checked));
        json_object_set_new(row, "max_relative_error", cli_json_number(r->max_relative_error));
        json_object_set_new(row, "noise", cli_json_number(r->noise));
        json_object_set_new(row, "kinks", json_integer(r->kinks));
        json_object_set_new(row, "failed", json_integer(r->failed));
        json_object_set_new(row, "gradient", cli_problem_numbers(&info, c->p.dtheta));
        json_array_append_new(list, row);
    }
    json_object_set_new(o, "scene", cli_json_text(c->p.path));
    json_object_set_new(o, "objective", cli_json_number(c->report.value));
    json_object_set_new(o, "max_relative_error", cli_json_number(c->report.max_relative_error));
    json_object_set_new(o, "tolerance", cli_json_number(c->tolerance));
    json_object_set_new(o, "parameters", list);
    json_object_set_new(o, "steps", json_integer(carom_problem_steps(c->p.problem)));
    json_object_set_new(o, "taylor_slope", cli_json_number(c->report.taylor_slope));
    json_object_set_new(o, "contact_switches", json_integer(c->report.contact_switches));
    json_object_set_new(o, "weakly_active", json_integer(c->report.weakly_active));
    json_object_set_new(o, "kinks", json_integer(c->report.kinks));
    json_object_set_new(o, "evaluations", json_integer(c->report.evaluations));
    return cli_json_print("gradcheck", o);
}

// Whether no number of a parameter could be compared with anything because the moved runs fail.
static int is_unjudged(const carom_check_row* r)
{
    return r->failed > 0 && r->failed + r->kinks >= r->checked;
}

static void print_row(const check* c, int32_t i)
{
    carom_parameter_info info;
    char name[CLI_PROBLEM_NAME];
    const carom_check_row* r = &c->row[i];
    carom_problem_parameter(c->p.problem, i, &info);
    const int good = r->max_relative_error <= c->tolerance;
    printf("  %-28s %4d of %-4d %9.2g  %s", cli_problem_name(&info, name), r->checked, info.count,
           r->max_relative_error,
           is_unjudged(r) ? "not judged"
           : good         ? "good"
                          : "OFF");
    if (r->kinks > 0) {
        printf(", %d at kinks", r->kinks);
    }
    if (r->failed > 0) {
        printf(", %d whose runs fail", r->failed);
    }
    printf("\n");
    if (!good) {
        printf("      number %d: gradient %.12g, difference %.12g; differences agree to %.1g%s\n",
               r->worst - info.first, r->worst_exact, r->worst_difference, r->noise,
               r->noise < 0.3 * r->max_relative_error
                   ? ""
                   : ", no better: another --difference may tell");
    }
}

static void print_text(const check* c)
{
    printf("%s: objective %.9g over %lld steps of %g s\n", c->p.path, c->report.value,
           (long long)carom_problem_steps(c->p.problem), carom_model_dt(c->p.model));
    printf("  %-28s %-12s %9s\n", "parameter", "checked", "error");
    for (int32_t i = 0; i < carom_problem_parameter_count(c->p.problem); i++) {
        print_row(c, i);
    }
    printf("  %lld runs", (long long)c->report.evaluations);
    if (isfinite(c->report.taylor_slope)) {
        printf("; Taylor slope %.2f (2 is right)", c->report.taylor_slope);
    }
    if (c->report.contact_switches > 0) {
        printf("; other features touched in %lld steps of them",
               (long long)c->report.contact_switches);
    }
    if (c->report.weakly_active > 0) {
        printf("; %lld contacts without force", (long long)c->report.weakly_active);
    }
    printf("\n");
}

static int check_all(check* c)
{
    double ignored = c->options.step;
    int64_t most = c->options.most;
    if ((c->tolerance_text &&
         !cli_args_number("gradcheck", "--tolerance", c->tolerance_text, 0, 1, &c->tolerance)) ||
        (c->step_text &&
         !cli_args_number("gradcheck", "--difference", c->step_text, 1e-12, 0.5, &ignored)) ||
        (c->most_text && !cli_args_whole("gradcheck", "--most", c->most_text, 1, 1e9, &most))) {
        return 2;
    }
    c->options.step = ignored;
    c->options.most = (int32_t)most;
    const int status = cli_problem_open(&c->p);
    if (status != 0) {
        return status;
    }
    if (c->p.size == 0) {
        fprintf(stderr, "carom gradcheck: %s lists no parameters; give it \"parameters\": [...]\n",
                c->p.path);
        return 2;
    }
    c->row = calloc((size_t)carom_problem_parameter_count(c->p.problem), sizeof *c->row);
    if (!c->row || carom_problem_check(c->p.problem, c->p.theta, &c->options, c->p.dtheta, c->row,
                                       &c->report, &c->p.error) != CAROM_OK) {
        fprintf(stderr, "carom gradcheck: %s\n", c->row ? c->p.error.message : "no memory");
        return 1;
    }
    int unjudged = 0;
    for (int32_t i = 0; i < carom_problem_parameter_count(c->p.problem); i++) {
        unjudged += is_unjudged(&c->row[i]);
    }
    const int good = c->report.max_relative_error <= c->tolerance;
    if (c->p.json) {
        return print_json(c) || !good || unjudged > 0;
    }
    print_text(c);
    if (unjudged > 0) {
        fprintf(stderr,
                "carom gradcheck: of %d parameter%s every moved run fails; a smaller --difference "
                "may not\n",
                unjudged, unjudged > 1 ? "s" : "");
    }
    if (!good) {
        fprintf(stderr, "carom gradcheck: off by %.3g, allowed %.3g\n",
                c->report.max_relative_error, c->tolerance);
    }
    return !good || unjudged > 0;
}

int cli_gradcheck(int argc, char** argv)
{
    check c = {.p = {.command = "gradcheck"}, .tolerance = 1e-6, .options = carom_check_default()};
    cli_option options[CLI_PROBLEM_OPTIONS + 3] = {
        [CLI_PROBLEM_OPTIONS] = {"--tolerance", "T", "largest relative error that is good (1e-6)",
                                 &c.tolerance_text, NULL, NULL},
        {"--difference", "H", "largest step of the differences, relative (1e-3)", &c.step_text,
         NULL, NULL},
        {"--most", "N", "numbers of one parameter that are checked (24)", &c.most_text, NULL, NULL},
    };
    cli_problem_options(&c.p, options);
    const cli_usage usage = {"SCENE [--steps N] [--tolerance T] [--difference H] [--most N] "
                             "[--dt H] [--set PATH=VALUE]... [--tape-memory MB] [--threads N] "
                             "[--json]",
                             "holds the gradient against differences at three step sizes",
                             options,
                             CLI_PROBLEM_OPTIONS + 3,
                             1,
                             1};
    c.p.set.item = calloc((size_t)argc, sizeof *c.p.set.item);
    const int plain = c.p.set.item ? cli_args_parse(argc, argv, &usage, &c.p.path) : -1;
    const int status = plain < 0 ? (plain == -2 ? 0 : 2) : check_all(&c);
    cli_problem_close(&c.p);
    free(c.p.set.item);
    free(c.row);
    return status;
}
