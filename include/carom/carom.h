// carom.h - everything carom offers to a program. Each part can also be included alone.
//
// NULL where an object or a place for a result is asked for: a call with a status refuses it
// (CAROM_ERR_ARGUMENT), a plain read gives 0, "" or NULL and writes nothing.
#pragma once

#include "carom/base.h"
#include "carom/collide.h"
#include "carom/grad.h"
#include "carom/io.h"
#include "carom/mesh.h"
#include "carom/rollout.h"
#include "carom/scene.h"
#include "carom/sim.h"
