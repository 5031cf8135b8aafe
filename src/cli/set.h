// set.h - the changes that --set PATH=VALUE makes to a scene.
#pragma once

#include "carom/scene.h"
#include "cli/args.h"

// In the order of the line; stops at the first that is refused, with a message.
carom_status cli_set_all(carom_scene* scene, const cli_list* set, carom_error* error);
