// collide.h - collision queries.
#pragma once

#include "carom/base.h"
