// handles.h - what the opaque types of the public interface hold.
#pragma once

#include "scene/scene.h"
#include "sim/goal.h"

struct carom_scene {
    cr_scene text;
};

struct carom_model {
    cr_model* numbers;
    cr_goal goal;
};
