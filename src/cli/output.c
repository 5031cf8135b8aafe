#include "cli/output.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_output_fail(const char* command, const char* what, const char* why)
{
    fprintf(stderr, "carom %s: %s: %s\n", command, what, why);
    return 1;
}

int cli_output_open(cli_output* o, const char* command, const char* path)
{
    o->command = command;
    o->path = path && strcmp(path, "-") != 0 ? path : NULL;
    o->file = stdout;
    if (!o->path) {
        return 0;
    }
    struct stat about;
    const int link = lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
    char* real = link ? realpath(path, NULL) : NULL;
    const size_t length = (size_t)snprintf(o->place, sizeof o->place, "%s", real ? real : path);
    free(real);
    if (length == 0 || length >= sizeof o->place) {
        return cli_output_fail(command, path,
                               length == 0 ? "the file has no name" : "the name is too long");
    }
    // another file under its name would be in the stead of a device, a pipe, a link to nothing
    const int direct = stat(path, &about) == 0 ? !S_ISREG(about.st_mode) : link;
    snprintf(o->beside, sizeof o->beside, "%s%s", direct ? "" : o->place, direct ? "" : ".part");
    o->file = fopen(direct ? path : o->beside, "w");
    return o->file ? 0 : cli_output_fail(command, path, strerror(errno));
}

int cli_output_close(cli_output* o, int status)
{
    if (!o->path) {
        return status; // main looks after stdout
    }
    errno = 0;
    const int bad = ferror(o->file);
    if (fclose(o->file) != 0 || bad) {
        status = cli_output_fail(o->command, o->path,
                                 errno ? strerror(errno) : "it could not be written");
    }
    if (status == 0 && *o->beside && rename(o->beside, o->place) != 0) {
        status = cli_output_fail(o->command, o->path, strerror(errno));
    }
    if (status != 0 && *o->beside) {
        remove(o->beside);
    }
    return status;
}

// ---- the program's own files

static int there(char path[4200], const char* folder, const char* inside, const char* name)
{
    return (size_t)snprintf(path, 4200, "%s/%s%s", folder, inside, name) < 4200 &&
           access(path, R_OK) == 0;
}

const char* cli_output_shared(const char* name, char path[4200])
{
    const char* share = getenv("CAROM_SHARE");
    if (share && *share) {
        return there(path, share, "", name) ? path : NULL;
    }
    char folder[4096];
    const ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[n > 0 ? n : 0] = 0;
    char* slash = strrchr(folder, '/');
    if (!slash) {
        return NULL;
    }
    *slash = 0;
    return there(path, folder, "../share/carom/", name) ||
                   there(path, folder, "../viewer/dist/", name) || there(path, folder, "", name)
               ? path
               : NULL;
}
