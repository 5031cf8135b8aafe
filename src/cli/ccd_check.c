#include "cli/cli.h"
#include <stdio.h>

int cli_ccd_check(int argc, char** argv)
{
    (void)argc;
    fprintf(stderr, "carom %s: not here yet\n", argv[0]);
    return 2;
}
