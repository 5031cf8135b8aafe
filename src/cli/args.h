// args.h - the arguments of a command: options by table, what is left by order.
#pragma once

#include <stdint.h>

// The values of an option that may be given several times, in the order of the line.
typedef struct cli_list {
    const char** item; // [room] the caller's; argc is always enough
    int count;
} cli_list;

typedef struct cli_option {
    const char* name;  // "--out"
    const char* value; // what its value is called in the help, NULL when it takes none
    const char* about; // one line
    const char** text; // where the value goes, or NULL
    int* flag;         // set to 1 when the option is there, or NULL
    cli_list* list;    // instead of text: every value goes here, or NULL
} cli_option;

typedef struct cli_usage {
    const char* call;  // "FILE [--json]": what follows the command's name
    const char* about; // one line
    const cli_option* options;
    int option_count;
    int least, most; // how many plain arguments it takes
} cli_usage;

// Sorts argv into options and plain[most]. Returns their number, or -1 after a message on stderr
// (exit status 2), or -2 after --help (exit status 0). Both "--out FILE" and "--out=FILE" do; after
// "--" everything is plain.
int cli_args_parse(int argc, char** argv, const cli_usage* usage, const char** plain);

// A number in full, from least to most; 0 after a message on stderr.
int cli_args_number(const char* command, const char* option, const char* text, double least,
                    double most, double* value);

// The same for a whole number.
int cli_args_whole(const char* command, const char* option, const char* text, double least,
                   double most, int64_t* value);
