#include "carom/base.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

// One row per command: adding a row is adding the command, its help and its place in the list.
const cli_command cli_commands[] = {
    {"run", "simulate a scene, and write a trajectory if asked to", cli_run},
    {"grad", "a scene's objective and its gradient", cli_grad},
    {"gradcheck", "hold the gradient against differences", cli_gradcheck},
    {"optimize", "solve the inverse problem a scene states", cli_optimize},
    {"intersect", "independent exact check that no recorded frame intersects", cli_intersect},
    {"view", "a page that plays a trajectory in any browser", cli_view},
    {"render", "pictures and films of a trajectory", cli_render},
    {"plot", "lines as SVG: energy, objective, tables", cli_plot},
    {"export", "a trajectory as glTF, OBJ files or tables", cli_export},
    {"bench", "how fast it is: one line per size", cli_bench},
    {"info", "what a mesh, scene or trajectory holds, and what is wrong with it", cli_info},
    {"import", "another program's scene as one of carom's", cli_import},
    {"schema", "the format of scenes: JSON Schema, or a reference page", cli_schema},
    {"ccd-check", "run the narrow phase on recorded queries with known answers", cli_ccd_check},
    {"completion", "commands and options for bash and zsh, and the manual page", cli_completion},
};

const int cli_command_count = (int)(sizeof cli_commands / sizeof *cli_commands);

static int usage(FILE* out, int status)
{
    const int colour = cli_progress_colour(out);
    const char *on = colour ? "\033[1m" : "", *off = colour ? "\033[0m" : "";
    fprintf(out,
            "carom %s: differentiable physics of rigid bodies and cloth in contact\n\n"
            "%susage:%s carom COMMAND [arguments]\n\n%scommands:%s\n",
            carom_version(), on, off, on, off);
    for (int i = 0; i < cli_command_count; i++) {
        fprintf(out, "  %s%-10s%s %s\n", on, cli_commands[i].name, off, cli_commands[i].about);
    }
    fprintf(out,
            "\n%sto begin:%s\n"
            "  carom run examples/bag.json --out bag.carom    simulate, and keep the motion\n"
            "  carom view bag.carom                           a page that plays it\n"
            "  carom gradcheck examples/two_cubes.json        see that gradients are right\n"
            "  carom optimize examples/throw.json             let them solve something\n"
            "\ncarom COMMAND --help tells what a command takes.\n",
            on, off);
    return status;
}

// A full disk or a closed pipe behind stdout is a failure like any other. Whoever closed the pipe
// does not want to hear about it.
static int check_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return status;
    }
    if (errno != EPIPE) {
        fprintf(stderr, "carom: the output could not be written: %s\n",
                errno ? strerror(errno) : "the file behind it refused");
    }
    return status ? status : 1;
}

int main(int argc, char** argv)
{
    signal(SIGPIPE, SIG_IGN); // writing to a closed pipe returns an error instead
    signal(SIGXFSZ, SIG_IGN); // and so does a file that has become longer than it may be
    if (argc < 2) {
        return usage(stderr, 2);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        return check_output(usage(stdout, 0));
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("carom %s\n", carom_version());
        return check_output(0);
    }
    for (int i = 0; i < cli_command_count; i++) {
        if (strcmp(argv[1], cli_commands[i].name) == 0) {
            return check_output(cli_commands[i].run(argc - 1, argv + 1));
        }
    }
    fprintf(stderr, "carom: there is no command \"%s\"; carom --help lists them\n", argv[1]);
    return 2;
}
