#include "cli/args.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void help(const char* command, const cli_usage* usage)
{
    printf("usage: carom %s %s\n\n%s\n\n", command, usage->call, usage->about);
    for (int i = 0; i < usage->option_count; i++) {
        const cli_option* o = usage->options + i;
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-16s %s\n", left, o->about);
    }
    printf("  %-16s %s\n", "--help", "this text");
}

static int wrong(const char* command, const cli_usage* usage, const char* what, const char* arg)
{
    fprintf(stderr, "carom %s: %s%s%s%s\nusage: carom %s %s\n", command, what, arg ? " \"" : "",
            arg ? arg : "", arg ? "\"" : "", command, usage->call);
    return -1;
}

// The option an argument names, with or without =VALUE; NULL for none.
static const cli_option* find(const cli_usage* usage, const char* arg)
{
    const size_t length = strcspn(arg, "=");
    for (int i = 0; i < usage->option_count; i++) {
        const char* name = usage->options[i].name;
        if (strlen(name) == length && strncmp(name, arg, length) == 0) {
            return usage->options + i;
        }
    }
    return NULL;
}

// Takes the option at argv[*i], and its value, from the line.
static int take_option(int argc, char** argv, int* i, const cli_usage* usage)
{
    const cli_option* o = find(usage, argv[*i]);
    const char* equals = strchr(argv[*i], '=');
    if (!o) {
        return wrong(argv[0], usage, "unknown option", argv[*i]);
    }
    if (!o->value && equals) {
        return wrong(argv[0], usage, "this option takes no value:", argv[*i]);
    }
    if (o->value && !equals && *i + 1 >= argc) {
        return wrong(argv[0], usage, "a value should follow", argv[*i]);
    }
    if (o->flag) {
        *o->flag = 1;
    }
    if (o->value) {
        const char* value = equals ? equals + 1 : argv[++*i];
        if (o->list) {
            o->list->item[o->list->count++] = value;
        } else {
            *o->text = value;
        }
    }
    return 0;
}

int cli_args_parse(int argc, char** argv, const cli_usage* usage, const char** plain)
{
    int count = 0, all_plain = 0;
    for (int i = 1; i < argc; i++) {
        if (!all_plain && strcmp(argv[i], "--help") == 0) {
            help(argv[0], usage);
            return -2;
        }
        if (!all_plain && strcmp(argv[i], "--") == 0) {
            all_plain = 1;
        } else if (!all_plain && argv[i][0] == '-' && argv[i][1] != 0) {
            if (take_option(argc, argv, &i, usage) < 0) {
                return -1;
            }
        } else if (count < usage->most) {
            plain[count++] = argv[i];
        } else {
            return wrong(argv[0], usage, "too many arguments, from", argv[i]);
        }
    }
    return count < usage->least ? wrong(argv[0], usage, "an argument is missing", NULL) : count;
}

int cli_args_number(const char* command, const char* option, const char* text, double least,
                    double most, double* value)
{
    char* end = NULL;
    *value = strtod(text, &end);
    if (end == text || *end != 0 || !(*value >= least && *value <= most)) {
        fprintf(stderr, "carom %s: %s is \"%s\"; it has to be a number from %g to %g\n", command,
                option, text, least, most);
        return 0;
    }
    return 1;
}

int cli_args_whole(const char* command, const char* option, const char* text, double least,
                   double most, int64_t* value)
{
    double number;
    if (!cli_args_number(command, option, text, least, most, &number)) {
        return 0;
    }
    *value = (int64_t)number;
    if ((double)*value != number) {
        fprintf(stderr, "carom %s: %s is \"%s\"; it has to be a whole number\n", command, option,
                text);
        return 0;
    }
    return 1;
}
