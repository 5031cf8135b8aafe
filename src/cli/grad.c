#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_json(const cli_problem* p, double value)
{
    const carom_problem_info about = carom_problem_about(p->problem);
    json_t *o = json_object(), *list = json_array();
    for (int32_t i = 0; i < carom_problem_parameter_count(p->problem); i++) {
        carom_parameter_info info;
        char name[CLI_PROBLEM_NAME];
        carom_problem_parameter(p->problem, i, &info);
        json_t* row = json_object();
        json_object_set_new(row, "name", cli_json_text(cli_problem_name(&info, name)));
        json_object_set_new(row, "count", json_integer(info.count));
        json_object_set_new(row, "value", cli_problem_numbers(&info, p->theta));
        json_object_set_new(row, "gradient", cli_problem_numbers(&info, p->dtheta));
        json_array_append_new(list, row);
    }
    json_object_set_new(o, "scene", cli_json_text(p->path));
    json_object_set_new(o, "objective", cli_json_number(value));
    json_object_set_new(o, "parameters", list);
    json_object_set_new(o, "steps", json_integer(carom_problem_steps(p->problem)));
    json_object_set_new(o, "forward_s", cli_json_number(about.forward_s));
    json_object_set_new(o, "backward_s", cli_json_number(about.backward_s));
    json_object_set_new(o, "tape_bytes", json_integer((json_int_t)about.tape_bytes));
    json_object_set_new(
        o, "tape_bytes_per_step",
        cli_json_number((double)about.tape_record_bytes / (double)carom_problem_steps(p->problem)));
    json_object_set_new(o, "replayed_steps", json_integer(about.replayed));
    json_object_set_new(o, "weakly_active", json_integer(about.weakly_active));
    json_object_set_new(o, "impacts", json_integer(about.impacts));
    return cli_json_print("grad", o);
}

static void print_row(const carom_parameter_info* info, const double* g)
{
    char name[CLI_PROBLEM_NAME];
    double sum = 0.0;
    for (int32_t i = 0; i < info->count; i++) {
        sum += g[info->first + i] * g[info->first + i];
    }
    printf("  %-28s", cli_problem_name(info, name));
    for (int32_t i = 0; i < info->count && i < 3; i++) {
        printf(" %13.6g", g[info->first + i]);
    }
    if (info->count > 3) {
        printf(" ... %d numbers, norm %.6g", info->count, sqrt(sum));
    }
    printf("\n");
}

static void print_text(const cli_problem* p, double value)
{
    char forth[CLI_MEASURE_TEXT], back[CLI_MEASURE_TEXT], tape[CLI_MEASURE_TEXT];
    const carom_problem_info about = carom_problem_about(p->problem);
    printf("%s: objective %.9g over %lld steps of %g s\n", p->path, value,
           (long long)carom_problem_steps(p->problem), carom_model_dt(p->model));
    for (int32_t i = 0; i < carom_problem_parameter_count(p->problem); i++) {
        carom_parameter_info info;
        carom_problem_parameter(p->problem, i, &info);
        print_row(&info, p->dtheta);
    }
    printf("  forward %s, backward %s (%.2f of it), tape %s\n",
           cli_measure_seconds(about.forward_s, forth), cli_measure_seconds(about.backward_s, back),
           about.backward_s / about.forward_s, cli_measure_bytes((int64_t)about.tape_bytes, tape));
    if (about.replayed > 0) {
        printf("  %lld steps were taken again on the way back to keep the tape small\n",
               (long long)about.replayed);
    }
    if (about.weakly_active > 0) {
        printf(
            "  %lld contacts touch without force: the gradient has a kink there, and this is the "
            "one of the touching side\n",
            (long long)about.weakly_active);
    }
}

static int grad_all(cli_problem* p)
{
    double value;
    const int status = cli_problem_open(p);
    if (status != 0) {
        return status;
    }
    if (carom_problem_gradient(p->problem, p->theta, &value, p->dtheta, &p->error) != CAROM_OK) {
        fprintf(stderr, "carom grad: %s\n", p->error.message);
        return 1;
    }
    if (p->json) {
        return print_json(p, value);
    }
    print_text(p, value);
    return 0;
}

int cli_grad(int argc, char** argv)
{
    cli_problem p = {.command = "grad"};
    cli_option options[CLI_PROBLEM_OPTIONS];
    cli_problem_options(&p, options);
    const cli_usage usage = {"SCENE [--steps N] [--dt H] [--set PATH=VALUE]... [--tape-memory MB] "
                             "[--threads N] [--json]",
                             "the scene's objective and its gradient by the scene's parameters",
                             options,
                             CLI_PROBLEM_OPTIONS,
                             1,
                             1};
    p.set.item = calloc((size_t)argc, sizeof *p.set.item);
    const int plain = p.set.item ? cli_args_parse(argc, argv, &usage, &p.path) : -1;
    const int status = plain < 0 ? (plain == -2 ? 0 : 2) : grad_all(&p);
    cli_problem_close(&p);
    free(p.set.item);
    return status;
}
