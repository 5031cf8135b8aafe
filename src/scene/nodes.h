// nodes.h - which nodes of a cloth a scene means: by number, by name, or by where they start.
#pragma once

#include "scene/cast.h"

typedef CR_ARRAY(int32_t) cr_nodes_list;

// Fills out (emptied first) with the nodes of the cloth that `value` picks, ascending, each once. x
// [3*node_count] m is where they start. path leads to the value. CAROM_ERR_SCENE for a node the
// cloth does not have and for a choice that picks none; CAROM_ERR_MEMORY.
carom_status cr_nodes_pick(const cr_json* json, int32_t value, const cr_cast* cast, const double* x,
                           cr_form_path* path, cr_nodes_list* out, carom_error* error);
