#include "io/place.h"
#include "core/memory.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int is_link(const char* path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

char* cr_place_behind(const char* path)
{
    char* real = is_link(path) ? realpath(path, NULL) : NULL;
    const char* where = real ? real : path;
    char* copy = cr_memory_take(strlen(where) + 1, 1);
    if (copy) {
        memcpy(copy, where, strlen(where) + 1);
    }
    free(real);
    return copy;
}

int cr_place_is_taken(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 ? !S_ISREG(about.st_mode) : is_link(path);
}
