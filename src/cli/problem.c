#include "cli/problem.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int which)
{
    (void)which;
    stop_asked = 1;
}

static void listen_for_stop(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cli_problem_stopped(void* user)
{
    (void)user;
    return stop_asked != 0;
}

void cli_problem_options(cli_problem* p, cli_option out[CLI_PROBLEM_OPTIONS])
{
    const cli_option options[CLI_PROBLEM_OPTIONS] = {
        {"--steps", "N", "steps of a run; else as long as the scene says", &p->steps_text, NULL,
         NULL},
        {"--dt", "H", "length of a step (s) instead of the scene's", &p->dt_text, NULL, NULL},
        {"--set", "PATH=VALUE", "change the scene: bodies.crate.mass=2; may be repeated", NULL,
         NULL, &p->set},
        {"--tape-memory", "MB", "what the tape may hold; the result is the same for any",
         &p->memory_text, NULL, NULL},
        {"--threads", "N", "workers (1); the result is the same for any number", &p->threads_text,
         NULL, NULL},
        {"--json", NULL, "one JSON object for programs", NULL, &p->json, NULL},
    };
    memcpy(out, options, sizeof options);
}

static carom_status set_one(cli_problem* p, const char* text)
{
    const char* equals = strchr(text, '=');
    char* path = equals ? strndup(text, (size_t)(equals - text)) : NULL;
    if (!path) {
        p->error.status = CAROM_ERR_ARGUMENT;
        snprintf(p->error.message, sizeof p->error.message,
                 "--set is \"%.200s\"; it has to be path=value, as in world.dt=0.005", text);
        return CAROM_ERR_ARGUMENT;
    }
    const carom_status status = carom_scene_set(p->scene, path, equals + 1, &p->error);
    free(path);
    return status;
}

static int read_numbers(const cli_problem* p, carom_problem_options* options)
{
    int64_t threads = 1;
    double memory = 0.0;
    const int good =
        (!p->steps_text ||
         cli_args_whole(p->command, "--steps", p->steps_text, 1, 1e8, &options->steps)) &&
        (!p->threads_text ||
         cli_args_whole(p->command, "--threads", p->threads_text, 1, 1024, &threads)) &&
        (!p->memory_text ||
         cli_args_number(p->command, "--tape-memory", p->memory_text, 1e-3, 1e9, &memory));
    options->worker_count = (int32_t)threads;
    options->tape_memory = (size_t)(memory * 1e6);
    return good;
}

int cli_problem_open(cli_problem* p)
{
    carom_problem_options options = carom_problem_default();
    if (!read_numbers(p, &options)) {
        return 2;
    }
    options.stop = cli_problem_stopped;
    carom_status status = carom_scene_load(p->path, &p->scene, &p->error);
    for (int i = 0; i < p->set.count && status == CAROM_OK; i++) {
        status = set_one(p, p->set.item[i]);
    }
    if (status == CAROM_OK && p->dt_text) {
        status = carom_scene_set(p->scene, "world.dt", p->dt_text, &p->error);
    }
    if (status == CAROM_OK) {
        status = carom_model_create(p->scene, &p->model, &p->error);
    }
    if (status == CAROM_OK) {
        status = carom_problem_create(p->model, &options, &p->problem, &p->error);
    }
    if (status == CAROM_OK) {
        p->size = carom_problem_size(p->problem);
        p->theta = calloc((size_t)p->size + 1, sizeof *p->theta);
        p->dtheta = calloc((size_t)p->size + 1, sizeof *p->dtheta);
        status = p->theta && p->dtheta ? CAROM_OK : CAROM_ERR_MEMORY;
        snprintf(p->error.message, sizeof p->error.message, "not enough memory");
    }
    if (status != CAROM_OK) {
        fprintf(stderr, "carom %s: %s\n", p->command, p->error.message);
        return 2;
    }
    carom_problem_scene(p->problem, p->theta);
    listen_for_stop();
    return 0;
}

void cli_problem_close(cli_problem* p)
{
    carom_problem_destroy(p->problem);
    carom_model_destroy(p->model);
    carom_scene_destroy(p->scene);
    free(p->theta);
    free(p->dtheta);
}

const char* cli_problem_name(const carom_parameter_info* info, char text[CLI_PROBLEM_NAME])
{
    if (info->body < 0) {
        snprintf(text, CLI_PROBLEM_NAME, "%s", info->name);
    } else {
        snprintf(text, CLI_PROBLEM_NAME, "%s.%s", info->body_name, info->name);
    }
    return text;
}

json_t* cli_problem_numbers(const carom_parameter_info* info, const double* vector)
{
    return cli_json_numbers(vector + info->first, info->count);
}
