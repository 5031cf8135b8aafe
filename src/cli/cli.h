// cli.h - the commands of the program. Each returns the exit status: 0 good, 1 what was asked
// failed, 2 bad usage or bad input.
#pragma once

typedef struct cli_command {
    const char* name;
    const char* about;                 // one line for carom --help
    int (*run)(int argc, char** argv); // argv[0] is the command's own name
} cli_command;

// All of them, in the order of carom --help.
extern const cli_command cli_commands[];
extern const int cli_command_count;

int cli_run(int argc, char** argv);
int cli_grad(int argc, char** argv);
int cli_gradcheck(int argc, char** argv);
int cli_optimize(int argc, char** argv);
int cli_intersect(int argc, char** argv);
int cli_view(int argc, char** argv);
int cli_render(int argc, char** argv);
int cli_plot(int argc, char** argv);
int cli_export(int argc, char** argv);
int cli_bench(int argc, char** argv);
int cli_info(int argc, char** argv);
int cli_import(int argc, char** argv);
int cli_schema(int argc, char** argv);
int cli_ccd_check(int argc, char** argv);
int cli_completion(int argc, char** argv);
