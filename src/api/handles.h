// handles.h - what the opaque types of the public interface hold.
#pragma once

#include "carom/scene.h"
#include "scene/scene.h"
#include "sim/goal.h"
#include "sim/sim.h"

struct carom_scene {
    cr_scene text;
};

struct carom_model {
    cr_model* numbers;
    cr_goal goal;
};

struct carom_sim {
    const carom_model* model;
    cr_sim* sim;
};
