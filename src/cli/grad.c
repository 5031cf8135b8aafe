#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/motion.h"
#include "cli/problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    cli_problem p;
    const char* out;
} request;

static int print_json(const cli_problem* p, const char* out, double value)
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
    json_object_set_new(o, "out", out ? cli_json_text(out) : json_null());
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

static void print_text(const cli_problem* p, const char* out, double value)
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
    if (out) {
        printf("  file    %s\n\nnext: carom view %s     the gradient as arrows\n", out, out);
    }
}

// The gradient, and with --out the motion with what the objective feels of every state of it.
static carom_status differentiate(cli_problem* p, const char* out, double* value)
{
    cli_motion_gradient felt = {0};
    carom_status status = out ? cli_motion_watch(&felt, p->model, p->problem) : CAROM_OK;
    if (status != CAROM_OK) {
        snprintf(p->error.message, sizeof p->error.message,
                 "not enough memory to keep the gradient of every step; --steps makes it shorter");
    } else {
        status = carom_problem_gradient(p->problem, p->theta, value, p->dtheta, &p->error);
    }
    if (status == CAROM_OK && out) {
        status = cli_motion_record(p->scene, p->path, carom_problem_steps(p->problem), out, &felt,
                                   &p->error);
    }
    cli_motion_release(&felt);
    return status;
}

static int grad_all(request* r)
{
    double value = 0.0;
    const int status = cli_problem_open(&r->p);
    if (status != 0) {
        return status;
    }
    if (differentiate(&r->p, r->out, &value) != CAROM_OK) {
        fprintf(stderr, "carom grad: %s\n", r->p.error.message);
        return 1;
    }
    if (r->p.json) {
        return print_json(&r->p, r->out, value);
    }
    print_text(&r->p, r->out, value);
    return 0;
}

int cli_grad(int argc, char** argv)
{
    request r = {.p = {.command = "grad"}};
    cli_option options[CLI_PROBLEM_OPTIONS + 1] = {
        [CLI_PROBLEM_OPTIONS] = {"--out", "FILE",
                                 "record the motion, and the gradient by every state of it", &r.out,
                                 NULL, NULL},
    };
    cli_problem_options(&r.p, options);
    const cli_usage usage = {
        "SCENE [--out FILE] [--steps N] [--dt H] [--set PATH=VALUE]... [--tape-memory MB] "
        "[--threads N] [--json]",
        "the scene's objective and its gradient by the scene's parameters",
        options,
        CLI_PROBLEM_OPTIONS + 1,
        1,
        1};
    r.p.set.item = calloc((size_t)argc, sizeof *r.p.set.item);
    const int plain = r.p.set.item ? cli_args_parse(argc, argv, &usage, &r.p.path) : -1;
    const int status = plain < 0 ? (plain == -2 ? 0 : 2) : grad_all(&r);
    cli_problem_close(&r.p);
    free(r.p.set.item);
    return status;
}
