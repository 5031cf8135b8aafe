// sim.h - a model in motion: its state, the scratch of its steps, and what the last step did.
#pragma once

#include "contact/zone.h"
#include "sim/near.h"
#include "sim/record.h"
#include "sim/state.h"

// A contact of the last step (or of one part of it). Forces are impulses over the step: N s.
typedef struct cr_contact {
    int32_t body[2]; // A, B
    cr_vec3 point;   // m, on the common surface
    cr_vec3 normal;  // from A to B
    cr_vec3 impulse; // N s, on B; -impulse acts on A
    int32_t island;
} cr_contact;

typedef struct cr_step_report {
    int32_t island_count;   // with contact or cloth in them
    int32_t parts;          // the most parts a step was split into
    int32_t iterations;     // sum over zones
    int32_t factorisations; // sum over zones
    int32_t max_zone_dofs;  // unknowns of the largest zone that had contact or cloth
    int32_t max_zone_contacts;
    int32_t contact_count; // contacts that carry a force
    int32_t weakly_active;
    int32_t candidate_count;
    int32_t impacts;    // events, see contact/events.h
    int32_t retries;    // times the step was redone with a wider look around
    double least_gap;   // m, distance - thickness over all candidates; HUGE_VAL: none
    double residual;    // the largest, relative
    int32_t eased;      // islands whose friction had to be lessened
    int32_t unfinished; // islands that were taken as they were when their budget was spent
} cr_step_report;

typedef struct cr_sim cr_sim;

carom_status cr_sim_create(const cr_model* model, int32_t worker_count, cr_sim** out);
void cr_sim_destroy(cr_sim* sim);

const cr_model* cr_sim_model(const cr_sim* sim);
cr_state* cr_sim_state(cr_sim* sim);
// Back to the model's start, whose numbers may be others by now (those of cr_parameters).
void cr_sim_reset(cr_sim* sim);
const cr_step_report* cr_sim_report(const cr_sim* sim);
int32_t cr_sim_contacts(const cr_sim* sim, const cr_contact** contacts);

// Forces of the coming step on top of the model's loads; views that the caller fills, zero at first
// and kept from step to step.
double* cr_sim_force(cr_sim* sim);      // [3*frame_count] N, world axes
double* cr_sim_torque(cr_sim* sim);     // [3*frame_count] N m, world axes
double* cr_sim_node_force(cr_sim* sim); // [3*node_count] N

// Frames of kinematic bodies and pinned nodes that are driven: what stands for them in the three
// views above is then their velocity (m/s) and angular velocity (rad/s, world axes) during the
// coming step, and no script moves them. frame [frame_count], node [node_count], nonzero: driven.
void cr_sim_drive(cr_sim* sim, const unsigned char* frame, const unsigned char* node);
int cr_sim_is_driven(const cr_sim* sim); // whether anything is

// Whether the coming steps leave a record; and that of the last step, appended to an empty one.
void cr_sim_keep(cr_sim* sim, int32_t keep);
// Where *stop is nonzero a step ends between two iterations: CAROM_ERR_INTERRUPTED. Or NULL.
void cr_sim_set_stop(cr_sim* sim, const volatile int* stop);
carom_status cr_sim_record(const cr_sim* sim, cr_record* record);

// One step of the model's dt. On any failure the state is what it was, and *error (may be NULL)
// says which bodies and how far off.
carom_status cr_sim_step(cr_sim* sim, carom_error* error);
