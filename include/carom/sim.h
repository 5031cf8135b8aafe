// sim.h - a model in motion: step it, read its state, its contacts and what the last step did.
#pragma once

#include "carom/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_sim carom_sim; // a model, a state and scratch; one thread at a time

// The model must outlive the simulation. worker_count: threads that islands are shared among, 1
// to 256 (what is beyond counts as the end of that range); the results do not depend on it.
CAROM_API carom_status carom_sim_create(const carom_model* model, int32_t worker_count,
                                        carom_sim** sim, carom_error* error);
CAROM_API void carom_sim_destroy(carom_sim* sim);

// One step of the model's dt. On failure the state is what it was before.
CAROM_API carom_status carom_sim_step(carom_sim* sim, carom_error* error);
// Back to the start of the scene.
CAROM_API carom_status carom_sim_reset(carom_sim* sim);

CAROM_API double carom_sim_time(const carom_sim* sim); // s
CAROM_API int64_t carom_sim_steps(const carom_sim* sim);
// The same number for the same state to the last bit.
CAROM_API uint64_t carom_sim_hash(const carom_sim* sim);

// Where a body is and how it moves. Of cloth, position is the centroid and velocity its mean; it
// has no orientation (quaternion 1,0,0,0). World axes throughout.
typedef struct carom_body_state {
    double position[3];         // m, centre of mass
    double quaternion[4];       // w,x,y,z of its mesh, as the scene gives it
    double velocity[3];         // m/s
    double angular_velocity[3]; // rad/s
} carom_body_state;
CAROM_API carom_status carom_sim_body(const carom_sim* sim, int32_t body, carom_body_state* state);

// Positions of all vertices of the scene: x [3*carom_model_vertex_count] m.
CAROM_API void carom_sim_vertices(const carom_sim* sim, double* x);

// Forces of the coming steps on top of the scene's own, until set again. N and N m, world axes.
CAROM_API carom_status carom_sim_set_force(carom_sim* sim, int32_t body, const double force[3],
                                           const double torque[3]);

// Asked in between the iterations of a step: where *stop is nonzero the step ends with
// CAROM_ERR_INTERRUPTED, and the state is as it was. A signal handler may set it. NULL: steps are
// not to be interrupted. *stop has to live as long as the simulation, or until it is set again.
CAROM_API void carom_sim_set_stop(carom_sim* sim, const volatile int* stop);

// A contact of the last step. An impulse is a force times the step: divide by dt for N.
typedef struct carom_contact {
    int32_t body[2];   // A, B
    double point[3];   // m, half way between the closest points
    double normal[3];  // from A to B
    double impulse[3]; // N s on B, friction included; A gets the opposite
    int32_t zone;
} carom_contact;
CAROM_API int32_t carom_sim_contact_count(const carom_sim* sim);
CAROM_API void carom_sim_contact(const carom_sim* sim, int32_t i, carom_contact* contact);

typedef struct carom_energy {
    double kinetic, gravity, elastic; // J
    double total;
} carom_energy;
CAROM_API carom_energy carom_sim_energy(const carom_sim* sim);
// kg m/s and kg m^2/s about the origin, of everything that moves freely.
CAROM_API void carom_sim_momentum(const carom_sim* sim, double linear[3], double angular[3]);

// What the last step took.
typedef struct carom_step_info {
    int32_t zones;         // that had contact or cloth in them
    int32_t contacts;      // that carry a force
    int32_t max_zone_dofs; // unknowns of the largest zone
    int32_t max_zone_contacts;
    int32_t parts; // the most parts a zone's step was split into, of all its legs
    int32_t iterations, factorisations;
    int32_t weakly_active; // contacts that touch without force
    int32_t events;        // impacts inside the step
    int32_t retries;       // times it was redone with a wider look around
    double least_gap;      // m, smallest distance minus thickness; infinite: nothing near
    double residual;       // of the equations, relative
    int32_t eased;         // zones that were not solved with their friction and got less of it
    int32_t unfinished;    // zones that ended unsolved after world.iteration_budget iterations
} carom_step_info;
CAROM_API carom_step_info carom_sim_info(const carom_sim* sim);

#ifdef __cplusplus
}
#endif
