#include "cli/args.h"
#include "cli/progress.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What an option is called, with its value: "--out FILE".
static void option_name(const cli_option* o, char text[64])
{
    snprintf(text, 64, "%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
}

// A text after so many columns, broken into lines of 100 that begin there.
static void put_wrapped(const char* text, int indent)
{
    int column = indent;
    while (*text) {
        const int word = (int)strcspn(text, " ");
        if (column > indent && column + 1 + word > 100) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", word, text);
        column += word;
        text += word + (text[word] == ' ');
    }
    putchar('\n');
}

static void help(const char* command, const cli_usage* usage)
{
    enum { INDENT = 26 };
    const int colour = cli_progress_colour(stdout);
    const char *on = colour ? "\033[1m" : "", *off = colour ? "\033[0m" : "";
    printf("%susage:%s carom %s ", on, off, command);
    put_wrapped(usage->call, 13 + (int)strlen(command));
    putchar('\n');
    put_wrapped(usage->about, 0);
    putchar('\n');
    for (int i = 0; i < usage->option_count; i++) {
        char left[64];
        option_name(usage->options + i, left);
        printf("  %s%-*s%s", on, INDENT - 3, left, off);
        putchar(' ');
        put_wrapped(usage->options[i].about, INDENT);
    }
    printf("  %s%-*s%s this text\n", on, INDENT - 3, "--help", off);
}

// ---- the same for shells and for the manual

static void help_bash(const char* command, const cli_usage* usage)
{
    printf("    %s) words=\"", command);
    for (int i = 0; i < usage->option_count; i++) {
        printf(i ? " %s" : "%s", usage->options[i].name);
    }
    printf("\" ;;\n");
}

// Brackets, colons and quotes mean something to zsh.
static void put_zsh(const char* text)
{
    for (; *text; text++) {
        if (strchr("[]:", *text)) {
            putchar('\\');
        }
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, stdout);
    }
}

static void help_zsh(const char* command, const cli_usage* usage)
{
    printf("    %s) _arguments", command);
    for (int i = 0; i < usage->option_count; i++) {
        const cli_option* o = usage->options + i;
        printf(" \\\n        '%s%s[", o->list ? "*" : "", o->name);
        put_zsh(o->about);
        putchar(']');
        if (o->value) {
            putchar(':');
            put_zsh(o->value);
            printf(":_files");
        }
        putchar('\'');
    }
    printf(" \\\n        '--help[this text]' '*:file:_files' ;;\n");
}

// In roff a dash is written \-, and a dot or a quote at the start of a line is a command.
static void put_man(const char* text)
{
    for (; *text; text++) {
        fputs(*text == '-' ? "\\-" : *text == '\\' ? "\\e" : (char[]){*text, 0}, stdout);
    }
}

static void help_man(const char* command, const cli_usage* usage)
{
    printf(".SS \"%s\"\n.B carom %s\n", command, command);
    put_man(usage->call);
    printf("\n.PP\n");
    put_man(usage->about);
    putchar('\n');
    for (int i = 0; i < usage->option_count; i++) {
        char left[64];
        option_name(usage->options + i, left);
        printf(".TP\n.B ");
        put_man(left);
        putchar('\n');
        put_man(usage->options[i].about);
        putchar('\n');
    }
}

static void help_in(const char* style, const char* command, const cli_usage* usage)
{
    static const struct {
        const char* name;
        void (*put)(const char* command, const cli_usage* usage);
    } styles[] = {{"bash", help_bash}, {"zsh", help_zsh}, {"man", help_man}, {"", help}};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        if (strcmp(style, styles[i].name) == 0 || !*styles[i].name) {
            styles[i].put(command, usage);
            return;
        }
    }
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
        if (!all_plain && strncmp(argv[i], "--help", 6) == 0 &&
            (argv[i][6] == 0 || argv[i][6] == '=')) {
            help_in(argv[i][6] ? argv[i] + 7 : "", argv[0], usage);
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
