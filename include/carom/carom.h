// carom.h - everything carom offers to a program. Each part can also be included alone.
#pragma once

#include "carom/base.h"
#include "carom/collide.h"
#include "carom/grad.h"
#include "carom/io.h"
#include "carom/mesh.h"
#include "carom/rollout.h"
#include "carom/scene.h"
#include "carom/sim.h"
