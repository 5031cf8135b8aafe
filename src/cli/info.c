#include "cli/cli.h"
#include <stdio.h>

int cli_info(int argc, char** argv)
{
    (void)argc;
    fprintf(stderr, "carom %s: not here yet\n", argv[0]);
    return 2;
}
