#include "carom/base.h"
#include "cli/args.h"
#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

// Every command tells its own options: in these styles its --help is a piece of a script or page.
static void ask_all(const char* style)
{
    for (int i = 0; i < cli_command_count; i++) {
        char name[40], help[40];
        snprintf(name, sizeof name, "%s", cli_commands[i].name);
        snprintf(help, sizeof help, "--help=%s", style);
        char* line[] = {name, help, NULL};
        cli_commands[i].run(2, line);
    }
}

static void print_bash(void)
{
    printf("# carom's commands and options for bash: source <(carom completion bash)\n"
           "_carom() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"");
    for (int i = 0; i < cli_command_count; i++) {
        printf("%s ", cli_commands[i].name);
    }
    printf("--help --version\" -- \"$cur\"))\n"
           "        return\n"
           "    fi\n"
           "    case ${COMP_WORDS[1]} in\n");
    ask_all("bash");
    printf("    esac\n"
           "    case $cur in\n"
           "    -*) COMPREPLY=($(compgen -W \"$words --help\" -- \"$cur\")) ;;\n"
           "    *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
           "    esac\n"
           "}\n"
           "complete -o filenames -F _carom carom\n");
}

static void print_zsh(void)
{
    printf(
        "#compdef carom\n"
        "# carom's commands and options for zsh: carom completion zsh > a folder of $fpath/_carom\n"
        "_carom() {\n"
        "    local -a commands\n"
        "    commands=(\n");
    for (int i = 0; i < cli_command_count; i++) {
        printf("        '%s:%s'\n", cli_commands[i].name, cli_commands[i].about);
    }
    printf("    )\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $command in\n");
    ask_all("zsh");
    printf("    esac\n"
           "}\n"
           "_carom \"$@\"\n");
}

static void print_man(void)
{
    printf(
        ".TH CAROM 1 \"\" \"carom %s\" \"User Commands\"\n"
        ".SH NAME\n"
        "carom \\- differentiable physics of rigid bodies and cloth in contact\n"
        ".SH SYNOPSIS\n"
        ".B carom\n.I COMMAND\n[arguments]\n"
        ".SH DESCRIPTION\n"
        "Simulates scenes of triangle meshes and cloth that touch without passing through, and "
        "differentiates what happens. A scene is a JSON file; "
        ".B carom schema\ndescribes it. A run writes a trajectory, which the other commands look "
        "at, draw and hand on.\n"
        ".SH COMMANDS\n",
        carom_version());
    ask_all("man");
    printf(".SH EXIT STATUS\n"
           "0: good. 1: what was asked failed (no convergence, a gradient over its tolerance, a "
           "file that could not be written). 2: bad usage or bad input.\n"
           ".SH ENVIRONMENT\n"
           ".TP\n.B NO_COLOR\nno colours, whatever the terminal.\n"
           ".TP\n.B CAROM_SHARE\nthe folder viewer.html is in, the template of carom view.\n"
           ".TP\n.B CAROM_BROWSER\nthe browser that carom render draws with.\n"
           ".SH EXAMPLES\n"
           ".nf\n"
           "carom run examples/bag.json --out bag.carom\n"
           "carom view bag.carom\n"
           "carom render bag.carom --every 0.2 --out bag.png\n"
           "carom gradcheck examples/two_cubes.json\n"
           "carom optimize examples/throw.json --history throw && carom view throw\n"
           ".fi\n");
}

int cli_completion(int argc, char** argv)
{
    const char* shell = NULL;
    const cli_usage usage = {"bash|zsh|man",
                             "prints a script that completes carom's commands and "
                             "options in a shell, or the manual page",
                             NULL,
                             0,
                             1,
                             1};
    const int plain = cli_args_parse(argc, argv, &usage, &shell);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
    }
    if (strcmp(shell, "bash") == 0) {
        print_bash();
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh();
    } else if (strcmp(shell, "man") == 0) {
        print_man();
    } else {
        fprintf(stderr, "carom completion: \"%s\" is not known; there are bash, zsh and man\n",
                shell);
        return 2;
    }
    return 0;
}
