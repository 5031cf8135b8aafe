// mesh.h - triangle meshes.
#pragma once

#include "carom/base.h"
