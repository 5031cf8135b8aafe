// problem.h - what grad, gradcheck and optimize share: a scene with an objective, read and ready.
#pragma once

#include "carom/grad.h"
#include "cli/args.h"
#include "cli/json.h"

typedef struct cli_problem {
    const char* command;
    // as the line says
    const char *path, *steps_text, *dt_text, *threads_text, *memory_text;
    cli_list set;
    int json;
    // what came of it
    carom_scene* scene;
    carom_model* model;
    carom_problem* problem;
    int32_t size;
    double *theta, *dtheta; // [size]; theta as the scene says
    carom_error error;
} cli_problem;

// The options that all three take, to begin a table with.
enum { CLI_PROBLEM_OPTIONS = 6 };
void cli_problem_options(cli_problem* p, cli_option out[CLI_PROBLEM_OPTIONS]);

// Loads the scene, builds the model and the problem. 0, or the exit status after a message.
int cli_problem_open(cli_problem* p);
void cli_problem_close(cli_problem* p);

// The first Ctrl-C is noticed by the steps, the second ends the program.
int cli_problem_stopped(void* user);

// "name of body", in the text given.
enum { CLI_PROBLEM_NAME = 200 };
const char* cli_problem_name(const carom_parameter_info* info, char text[CLI_PROBLEM_NAME]);

// The parameter's numbers out of a vector like theta: one number, or a list.
json_t* cli_problem_numbers(const carom_parameter_info* info, const double* vector);
