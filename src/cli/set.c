#include "cli/set.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static carom_status set_one(carom_scene* scene, const char* text, carom_error* error)
{
    const char* equals = strchr(text, '=');
    char* path = equals ? strndup(text, (size_t)(equals - text)) : NULL;
    if (!path) {
        error->status = CAROM_ERR_ARGUMENT;
        snprintf(error->message, sizeof error->message,
                 "--set is \"%.200s\"; it has to be PATH=VALUE, as in world.dt=0.005", text);
        return CAROM_ERR_ARGUMENT;
    }
    const carom_status status = carom_scene_set(scene, path, equals + 1, error);
    free(path);
    return status;
}

carom_status cli_set_all(carom_scene* scene, const cli_list* set, carom_error* error)
{
    carom_status status = CAROM_OK;
    for (int i = 0; i < set->count && status == CAROM_OK; i++) {
        status = set_one(scene, set->item[i], error);
    }
    return status;
}
