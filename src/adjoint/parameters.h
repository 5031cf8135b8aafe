// parameters.h - what a scene asks to be differentiated by, as one flat vector theta.
//
// A copy of the model takes theta's numbers (the start keeps what the scene says), and the gradient
// of a run with that model is handed back as dL/dtheta. Numbers are the scene's own, where it has
// them: position is what the scene calls so, rotation a rotation vector from the scene's start
// (world axes, about the centre of mass; spins stay as they are in the world), center_of_mass is in
// the mesh's axes after scale and leaves the mesh where it is, vertices are seen from the frame of
// the body as the scene has it (of cloth: where its nodes start), forces that act besides stay.
// The rest shape of a sheet has two numbers per node, or, where it has seams, per corner of every
// face. A script has three numbers per key for the shift and, of a body, three for the turn.
//
// Vertices of a rigid body carry its mass, centre and inertia along, at the density it has, when
// those came from its mesh; else they stay. The edges of the surface follow the vertices of any
// body with a frame: cr_model.shape counts up with every write, and trees are made anew by it.
#pragma once

#include "adjoint/gradient.h"
#include "sim/goal.h"

typedef struct cr_parameters cr_parameters;

// One entry of the scene's list.
typedef struct cr_parameters_slot {
    int32_t what, body;   // as cr_goal_parameter
    int32_t first, count; // numbers in theta
} cr_parameters_slot;

// For runs of `steps` steps. CAROM_ERR_ARGUMENT with a message for what cannot be asked for:
// stretch of a sheet that is not the same in all directions, vertices of a solid with equal
// principal moments, mass, density, inertia or centre together with vertices. model and goal are
// read, and must outlive it.
carom_status cr_parameters_create(const cr_model* model, const cr_goal* goal, int64_t steps,
                                  cr_parameters** out, carom_error* error);
void cr_parameters_destroy(cr_parameters* parameters);

int32_t cr_parameters_count(const cr_parameters* parameters); // slots
int32_t cr_parameters_size(const cr_parameters* parameters);  // of theta
const cr_parameters_slot* cr_parameters_slot_at(const cr_parameters* parameters, int32_t i);
const double* cr_parameters_scene(const cr_parameters* parameters); // [size] as the scene says
// Where an optimisation starts and the bounds it keeps, [size] each; +-HUGE_VAL: none.
void cr_parameters_range(const cr_parameters* parameters, double* start, double* least,
                         double* most);

// The model that theta was last written to. Everyone who holds it (a cr_sim, a cr_tape) has to be
// reset after a write.
const cr_model* cr_parameters_model(const cr_parameters* parameters);
// CAROM_ERR_ARGUMENT with a message, and the model as the scene has it, for a number outside what
// it may be.
carom_status cr_parameters_write(cr_parameters* parameters, const double* theta,
                                 carom_error* error);

// dtheta [size] += the part of a whole run's gradient at the theta last written ...
void cr_parameters_gather(cr_parameters* parameters, const cr_gradient* gradient, double* dtheta);
// ... but for forces and torques per step, which are gathered step by step.
void cr_parameters_gather_step(const cr_parameters* parameters, int64_t step,
                               const cr_gradient* gradient, double* dtheta);

// Forward: *gradient, zero before, gets the changes of everything that dtheta [size] means at the
// theta last written, forces and torques per step left out.
void cr_parameters_spread(cr_parameters* parameters, const double* dtheta, cr_gradient* gradient);
