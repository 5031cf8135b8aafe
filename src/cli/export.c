#include "cli/cli.h"

int cli_export(int argc, char** argv)
{
    (void)argc;
    (void)argv;
    return 2;
}
