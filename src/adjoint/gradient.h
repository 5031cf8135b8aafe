// gradient.h - dL/d(everything): one array for each that the model and the state have.
#pragma once

#include "sim/state.h"

// Of the state at one time. Orientations have three numbers, along R -> R exp([delta]).
typedef struct cr_state_bars {
    cr_vec3 *t, *q, *v, *om; // [frame_count]; om in body axes
    cr_vec3 *x, *xv;         // [node_count]
} cr_state_bars;

// Of what stays constant. Owns its arrays.
typedef struct cr_gradient {
    int32_t frame_count, node_count, vertex_count, body_count, sheet_count, script_count;
    cr_state_bars start; // of the initial state
    double gravity[3], wind[3];
    double* mass;                             // [frame_count]
    double* inertia;                          // [3*frame_count]
    double* node_mass;                        // [node_count]
    double *friction, *restitution, *radius;  // [body_count]
    double *width, *stiffness;                // [body_count] of the contact layer
    double *linear_damping, *angular_damping; // [body_count]
    cr_vec3* p;                               // [vertex_count] body coordinates
    // [frame_count] of the mesh's own axes in the frame, turned by delta and shifted, where the
    // loss looks at them itself: p = exp([delta]) (own_q v + own_t) + shift
    cr_vec3 *own_turn, *own_shift;
    cr_vec3* force;      // [frame_count] of a force that acts in every step
    cr_vec3* torque;     // [frame_count]
    cr_vec3* node_force; // [node_count]
    // [vertex_count] of pinned nodes: of where their way ends in each step, the start excepted
    cr_vec3* shift;
    cr_cloth_material* material; // [sheet_count]
    double** corner;             // [sheet_count] [6*face_count] rest coordinates
    double** key_shift;          // [script_count] [3*key_count] of scripts
    double** key_turn;           // [script_count] [3*key_count]
} cr_gradient;

// Zeroed arrays of the lengths a model asks for, and back.
carom_status cr_gradient_bars_init(cr_state_bars* bars, const cr_model* model);
void cr_gradient_bars_zero(cr_state_bars* bars, const cr_model* model);
void cr_gradient_bars_add(cr_state_bars* to, const cr_state_bars* from, const cr_model* model);
void cr_gradient_bars_release(cr_state_bars* bars);

carom_status cr_gradient_init(cr_gradient* gradient, const cr_model* model);
void cr_gradient_zero(cr_gradient* gradient, const cr_model* model);
void cr_gradient_release(cr_gradient* gradient);
size_t cr_gradient_bytes(const cr_model* model); // that one takes
