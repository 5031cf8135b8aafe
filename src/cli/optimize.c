#include "carom/io.h"
#include "cli/cli.h"
#include "cli/history.h"
#include "cli/measure.h"
#include "cli/motion.h"
#include "cli/plot.h"
#include "cli/problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct optimisation {
    cli_problem p;
    const char *method_text, *iterations_text, *out, *trajectory, *rate_text, *tolerance_text;
    const char *history_path, *plot;
    cli_history history;
    carom_optimize_options options;
    carom_optimize_report report;
    double since, seconds;
    int terminal;
    char* notes;
} optimisation;

static const char* const ends[] = {
    [CAROM_OPTIMIZE_CONVERGED] = "converged",
    [CAROM_OPTIMIZE_STALLED] = "stalled",
    [CAROM_OPTIMIZE_LIMIT] = "limit",
    [CAROM_OPTIMIZE_STOPPED] = "stopped",
};

static int show(void* user, const carom_optimize_report* r, const double* theta)
{
    optimisation* o = user;
    if (o->history_path || o->plot) {
        cli_history_add(&o->history, r->value_end, r->gradient_end, theta, o->p.size);
    }
    if (!o->p.json) {
        printf("  %4d   objective %-14.8g gradient %-11.4g %6lld runs\n", r->iterations,
               r->value_end, r->gradient_end, (long long)r->evaluations);
        fflush(stdout);
    }
    return cli_problem_stopped(NULL);
}

// ---- what is written

static carom_status write_scene(optimisation* o)
{
    const carom_status status =
        carom_problem_apply(o->p.problem, o->p.theta, o->p.scene, &o->notes, &o->p.error);
    return status == CAROM_OK && o->out ? carom_scene_save(o->p.scene, o->out, &o->p.error)
                                        : status;
}

static carom_status write_trajectory(optimisation* o, const char* path)
{
    return cli_motion_record(o->p.scene, o->p.path, carom_problem_steps(o->p.problem), path, NULL,
                             &o->p.error);
}

// The motion of some of the iterations, and the table of all of them. A run that failed on the way
// was never the best, so each of these can be run again.
static carom_status write_history(optimisation* o)
{
    cli_history* h = &o->history;
    if (!cli_history_open(h, o->history_path)) {
        snprintf(o->p.error.message, sizeof o->p.error.message, "%s", h->error);
        return CAROM_ERR_FILE;
    }
    carom_status status = CAROM_OK;
    h->gradient[0] = o->report.gradient_start;
    for (int32_t i = 0; i < h->count && status == CAROM_OK; i++) {
        char path[CLI_HISTORY_PATH];
        if (!cli_history_chosen(h, i)) {
            continue;
        }
        status = carom_problem_apply(o->p.problem, h->theta + (size_t)i * (size_t)o->p.size,
                                     o->p.scene, NULL, &o->p.error);
        if (status == CAROM_OK) {
            status = write_trajectory(o, cli_history_path(h, i, path));
        }
    }
    if (status == CAROM_OK && !cli_history_table(h)) {
        snprintf(o->p.error.message, sizeof o->p.error.message, "%s", h->error);
        status = CAROM_ERR_FILE;
    }
    return status;
}

// ---- what is told

static int print_json(const optimisation* o)
{
    json_t *all = json_object(), *list = json_array();
    for (int32_t i = 0; i < carom_problem_parameter_count(o->p.problem); i++) {
        carom_parameter_info info;
        char name[CLI_PROBLEM_NAME];
        carom_problem_parameter(o->p.problem, i, &info);
        json_t* row = json_object();
        json_object_set_new(row, "name", cli_json_text(cli_problem_name(&info, name)));
        json_object_set_new(row, "count", json_integer(info.count));
        json_object_set_new(row, "value", cli_problem_numbers(&info, o->p.theta));
        json_array_append_new(list, row);
    }
    json_object_set_new(all, "scene", cli_json_text(o->p.path));
    json_object_set_new(all, "method", cli_json_text(o->method_text ? o->method_text : "lbfgs"));
    json_object_set_new(all, "iterations", json_integer(o->report.iterations));
    json_object_set_new(all, "evaluations", json_integer(o->report.evaluations));
    json_object_set_new(all, "objective_start", cli_json_number(o->report.value_start));
    json_object_set_new(all, "objective_end", cli_json_number(o->report.value_end));
    json_object_set_new(all, "gradient_start", cli_json_number(o->report.gradient_start));
    json_object_set_new(all, "gradient_end", cli_json_number(o->report.gradient_end));
    json_object_set_new(all, "end", json_string(ends[o->report.end]));
    json_object_set_new(all, "parameters", list);
    json_object_set_new(all, "seconds", cli_json_number(o->seconds));
    json_object_set_new(all, "out", o->out ? cli_json_text(o->out) : json_null());
    json_object_set_new(all, "trajectory",
                        o->trajectory ? cli_json_text(o->trajectory) : json_null());
    json_object_set_new(all, "history",
                        o->history_path ? cli_json_text(o->history_path) : json_null());
    json_object_set_new(all, "notes", cli_json_text(o->notes ? o->notes : ""));
    return cli_json_print("optimize", all);
}

static void print_text(const optimisation* o)
{
    static const char* const words[] = {
        [CAROM_OPTIMIZE_CONVERGED] = "converged: the gradient is as good as zero",
        [CAROM_OPTIMIZE_STALLED] = "no way further down was found",
        [CAROM_OPTIMIZE_LIMIT] = "as many iterations as asked for; --iterations gives it more",
        [CAROM_OPTIMIZE_STOPPED] = "stopped by hand; this is the best so far",
    };
    char took[CLI_MEASURE_TEXT];
    printf("  %s\n  objective %.8g -> %.8g in %d iterations, %lld runs, %s\n", words[o->report.end],
           o->report.value_start, o->report.value_end, o->report.iterations,
           (long long)o->report.evaluations, cli_measure_seconds(o->seconds, took));
    for (int32_t i = 0; i < carom_problem_parameter_count(o->p.problem); i++) {
        carom_parameter_info info;
        char name[CLI_PROBLEM_NAME];
        carom_problem_parameter(o->p.problem, i, &info);
        printf("  %-28s", cli_problem_name(&info, name));
        for (int32_t k = 0; k < info.count && k < 3; k++) {
            printf(" %.9g", o->p.theta[info.first + k]);
        }
        printf(info.count > 3 ? " ... %d numbers\n" : "\n", info.count);
    }
    for (const char* line = o->notes; line && *line;) {
        const size_t length = strcspn(line, "\n");
        printf("  note      %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (o->out) {
        printf("  scene     %s\n", o->out);
    }
    if (o->trajectory) {
        printf("  motion    %s\n", o->trajectory);
    }
    if (o->history_path) {
        printf("  history   %s\n\nnext: carom view %s     before and after, side by side\n",
               o->history_path, o->history_path);
    } else if (o->out) {
        printf("\nnext: carom run %s     see what it does\n", o->out);
    }
}

// ---- the command

static int read_options(optimisation* o)
{
    static const char* const methods[] = {"lbfgs", "gd", "adam"};
    int64_t iterations = o->options.iterations;
    int found = !o->method_text;
    for (int i = 0; i < 3 && o->method_text; i++) {
        if (strcmp(o->method_text, methods[i]) == 0) {
            o->options.method = (carom_optimize_method)i;
            found = 1;
        }
    }
    if (!found) {
        fprintf(stderr, "carom optimize: --method is \"%s\"; it has to be lbfgs, gd or adam\n",
                o->method_text);
        return 0;
    }
    const int good =
        (!o->iterations_text ||
         cli_args_whole("optimize", "--iterations", o->iterations_text, 0, 1e9, &iterations)) &&
        (!o->rate_text ||
         cli_args_number("optimize", "--rate", o->rate_text, 0, 1e9, &o->options.rate)) &&
        (!o->tolerance_text || cli_args_number("optimize", "--tolerance", o->tolerance_text, 0, 1,
                                               &o->options.tolerance));
    o->options.iterations = (int32_t)iterations;
    return good;
}

static int optimize_all(optimisation* o)
{
    if (!read_options(o)) {
        return 2;
    }
    const int status = cli_problem_open(&o->p);
    if (status != 0) {
        return status;
    }
    if (o->p.size == 0) {
        fprintf(stderr, "carom optimize: %s lists no parameters; give it \"parameters\": [...]\n",
                o->p.path);
        return 2;
    }
    double* bounds = calloc(2 * (size_t)o->p.size, sizeof *bounds);
    if (!bounds) {
        return 1;
    }
    carom_problem_range(o->p.problem, o->p.theta, bounds, bounds + o->p.size);
    free(bounds);
    o->options.progress = show;
    o->options.user = o;
    if (!o->p.json) {
        printf("%s: %d numbers, %lld steps a run\n", o->p.path, o->p.size,
               (long long)carom_problem_steps(o->p.problem));
    }
    if ((o->history_path || o->plot) &&
        !cli_history_start(&o->history, o->p.problem, o->p.theta, o->p.size, &o->p.error)) {
        fprintf(stderr, "carom optimize: %s\n", o->p.error.message);
        return 1;
    }
    o->since = cli_measure_wall();
    if (carom_problem_optimize(o->p.problem, &o->options, o->p.theta, &o->report, &o->p.error) !=
        CAROM_OK) {
        fprintf(stderr, "carom optimize: %s\n", o->p.error.message);
        return 1;
    }
    o->seconds = cli_measure_wall() - o->since;
    int good = !o->history_path || write_history(o) == CAROM_OK;
    good = good && write_scene(o) == CAROM_OK;
    if (good && o->trajectory) {
        good = write_trajectory(o, o->trajectory) == CAROM_OK;
    }
    if (!good) {
        fprintf(stderr, "carom optimize: %s\n", o->p.error.message);
    }
    good = (!o->plot || cli_plot_history("optimize", &o->history, o->plot) == 0) && good;
    if (o->p.json) {
        return print_json(o) || !good;
    }
    print_text(o);
    return !good;
}

int cli_optimize(int argc, char** argv)
{
    optimisation o = {.p = {.command = "optimize"}, .options = carom_optimize_default()};
    cli_option options[CLI_PROBLEM_OPTIONS + 8] = {
        [CLI_PROBLEM_OPTIONS] = {"--method", "NAME", "lbfgs (with line search), gd or adam",
                                 &o.method_text, NULL, NULL},
        {"--iterations", "N", "at most so many (100)", &o.iterations_text, NULL, NULL},
        {"--out", "FILE", "write the scene with the numbers found", &o.out, NULL, NULL},
        {"--trajectory", "FILE", "record the motion they give", &o.trajectory, NULL, NULL},
        {"--history", "FOLDER", "record the motion of iterations, for carom view FOLDER",
         &o.history_path, NULL, NULL},
        {"--plot", "FILE.svg", "the objective by iteration as a picture", &o.plot, NULL, NULL},
        {"--rate", "R", "step size of gd and adam", &o.rate_text, NULL, NULL},
        {"--tolerance", "T", "gradient at which to stop, against that at the start (1e-9)",
         &o.tolerance_text, NULL, NULL},
    };
    cli_problem_options(&o.p, options);
    const cli_usage usage = {"SCENE [--method lbfgs|gd|adam] [--iterations N] [--out FILE] "
                             "[--trajectory FILE] [--history FOLDER] [--plot FILE.svg] [--rate R] "
                             "[--tolerance T] [--steps N] [--dt H] "
                             "[--set PATH=VALUE]... [--tape-memory MB] [--threads N] [--json]",
                             "finds the parameters that make the scene's objective small",
                             options,
                             CLI_PROBLEM_OPTIONS + 8,
                             1,
                             1};
    o.p.set.item = calloc((size_t)argc, sizeof *o.p.set.item);
    const int plain = o.p.set.item ? cli_args_parse(argc, argv, &usage, &o.p.path) : -1;
    const int status = plain < 0 ? (plain == -2 ? 0 : 2) : optimize_all(&o);
    cli_problem_close(&o.p);
    carom_scene_text_free(o.notes);
    cli_history_release(&o.history);
    free(o.p.set.item);
    return status;
}
