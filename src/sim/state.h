// state.h - all that the next step reads, and nothing else.
#pragma once

#include "contact/candidate.h"
#include "core/array.h"
#include "sim/model.h"

typedef struct cr_state {
    int32_t frame_count, node_count;
    int64_t step;                       // steps taken
    double time;                        // s
    double* t;                          // [3*frame_count] m
    double* q;                          // [4*frame_count] w,x,y,z
    double* v;                          // [3*frame_count] m/s
    double* om;                         // [3*frame_count] rad/s, body axes
    double* x;                          // [3*node_count] m
    double* xv;                         // [3*node_count] m/s
    CR_ARRAY(cr_contact_memory) memory; // keys ascending
} cr_state;

carom_status cr_state_init(cr_state* state, const cr_model* model); // at the model's start
carom_status cr_state_copy(cr_state* to, const cr_state* from);     // of the same model
void cr_state_restart(cr_state* state, const cr_model* model); // init again, without taking memory
void cr_state_release(cr_state* state);

// The same number for the same bits, on every machine: FNV-1a over everything above.
uint64_t cr_state_hash(const cr_state* state);
// Of the keys of its contacts alone: which features touched in the step that led here.
uint64_t cr_state_contacts(const cr_state* state);
// Whether two states of one model agree in every bit.
int cr_state_equal(const cr_state* a, const cr_state* b);
size_t cr_state_bytes(const cr_state* state); // in use

// Where every vertex of the scene is: x [3*vertex_count].
void cr_state_vertices(const cr_state* state, const cr_model* model, double* x);

// J: kinetic, and potential in the field of gravity, of everything that moves freely; `elastic` is
// what the sheets hold. v is the velocity of the step that led here, so this is the energy that an
// implicit step cannot raise: in free fall it sinks by m g^2 h^2/2 a step, which velocities half a
// step ahead (v + h g/2) would not show.
typedef struct cr_energy {
    double kinetic, potential, elastic;
} cr_energy;
cr_energy cr_state_energy(const cr_state* state, const cr_model* model);

// kg m/s, and kg m^2/s about the origin, of everything that moves freely.
void cr_state_momentum(const cr_state* state, const cr_model* model, cr_vec3* linear,
                       cr_vec3* angular);
