// gltf.h - a trajectory as glTF 2.0: bodies as nodes that move, cloth as morph targets.
#pragma once

#include "carom/io.h"

// Every n-th frame and the last, into PATH: binary when it ends with .glb, else JSON with its
// buffer inside. 0, or the exit status after a message.
int cli_gltf_write(carom_trajectory* trajectory, const char* path, int64_t every);
