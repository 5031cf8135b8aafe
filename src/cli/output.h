// output.h - files of the program: a name is taken only by what was written whole.
#pragma once

#include <stdio.h>

typedef struct cli_output {
    FILE* file;
    const char* command; // for messages
    const char* path;    // lent; NULL: the screen
    char place[4096];    // what it leads to, behind any links
    char beside[4104];   // written until it is whole; "": written to directly
} cli_output;

// Opens PATH.part, or the screen for NULL and "-"; what is no regular file, such as /dev/stdout, is
// opened itself. 0, or 1 after a message.
int cli_output_open(cli_output* output, const char* command, const char* path);
// Gives the file its name when status is 0 and all was written, else takes it away. Returns status,
// or 1 after a message.
int cli_output_close(cli_output* output, int status);

// "carom COMMAND: what: why" on stderr; 1.
int cli_output_fail(const char* command, const char* what, const char* why);

// A file of the program's own, such as viewer.html: in $CAROM_SHARE, beside the program, or where
// an installed or a built tree has it. The path, or NULL when it is nowhere.
const char* cli_output_shared(const char* name, char path[4200]);
