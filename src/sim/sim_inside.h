// sim_inside.h - the scratch of a simulation, shared by the files of sim/ and nobody else.
#pragma once

#include "contact/events.h"
#include "contact/motion.h"
#include "math/quat.h"
#include "sim/sim.h"

// What solving one island left behind.
typedef struct cr_island_result {
    carom_status status;
    cr_zone_report report;
    int32_t impacts; // events, of all parts
    int32_t parts;
    double farthest; // m, how much farther than its reach some vertex went; <= 0: none did
    CR_ARRAY(cr_contact) contact;
    CR_ARRAY(cr_contact_memory) memory; // of the last part, keys ascending
} cr_island_result;

// One thread's scratch.
typedef struct cr_worker {
    cr_zone* zone;
    cr_events* events;
    CR_ARRAY(int32_t) frame;
    CR_ARRAY(int32_t) sheet;
    CR_ARRAY(cr_contact_memory) warm;
} cr_worker;

struct cr_sim {
    const cr_model* model;
    cr_state state;
    int32_t worker_count;
    cr_worker* worker; // [worker_count]
    double *force, *torque, *node_force; // the caller's
    cr_vec3 *force_now, *torque_now;     // [frame_count] with the model's loads
    cr_vec3* node_force_now;             // [node_count]
    cr_state next;                       // where the members of islands have got to
    cr_motion motion;
    cr_quat* q_target;               // [frame_count] orientation of motion.rp
    cr_vec3 *obstacle0, *obstacle1;  // [vertex_count] m, start and end of what moves by script
    double* start;                   // [3*vertex_count] m
    double* reach;                   // [body_count] m
    double* node_reach;              // [node_count] m
    cr_near near;
    CR_ARRAY(cr_island_result) island; // results, one per island; capacity kept
    int32_t island_ready;              // results whose arrays were initialised
    CR_ARRAY(cr_contact) contact;
    cr_step_report report;
};

// island.c: moves the members of one island through the step, in parts if it must.
void cr_island_step(cr_sim* sim, cr_worker* worker, int32_t island);
