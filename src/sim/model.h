// model.h - a scene compiled into numbers. Constant ever after, so threads may share it.
#pragma once

#include "bodies/body_set.h"
#include "bodies/cloth.h"
#include "collision/surface.h"

// How contacts resist.
typedef enum cr_contact_law {
    CR_CONTACT_HARD,    // a complementarity problem with a little compliance
    CR_CONTACT_BARRIER, // a potential in a layer of finite width, contact/barrier.h
} cr_contact_law;

// How sheets resist within a step of contact CR_CONTACT_BARRIER.
typedef enum cr_elasticity {
    CR_ELASTICITY_CONVERGED,  // by the potential itself
    CR_ELASTICITY_LINEARIZED, // by its quadratic model at the start of the step
} cr_elasticity;

// The numbers of a scene that belong to no body. Each has a row in the parameter table.
typedef struct cr_world {
    double dt;             // s, one step
    double duration;       // s, how long a run is unless told otherwise
    double gravity[3];     // m/s^2
    double wind[3];        // m/s
    double friction_speed; // m/s, below it friction grows linearly: the creep of a sticking contact
    double compliance;     // 1, a contact gives way by compliance * lam / mass; see docs/contact.md
    double bounce_floor;   // 1, impacts slower than this many dt * |acceleration| do not bounce
    int32_t max_events;    // impacts of one body in one step before the rest is taken inelastically
    int32_t max_halvings;  // a step is split into at most 2^max_halvings parts
    double tolerance;      // 1, residual of a step that is solved, of the forces on a body
    int32_t max_iterations;   // Newton iterations of one zone
    int32_t iteration_budget; // of one zone, then its iterate is taken as it is; 0: none
    int32_t contact;          // cr_contact_law
    int32_t elasticity;       // cr_elasticity
    int32_t one_zone;         // nonzero: everything is one zone, for comparison
    int32_t zone_gradient;    // cr_newton_gradient: how the way back solves a zone
    int32_t flat_gradient;    // nonzero: the way back leaves the curvature of contacts out
} cr_world;

// Positions at given times; before the first and after the last the end values hold.
typedef struct cr_script {
    int32_t key_count;
    int32_t smooth; // nonzero: cubic through the keys (zero slope at both ends), else straight
    double* time;   // [key_count] s, ascending
    double* shift;  // [3*key_count] m, displacement from the start
    double* turn;   // [3*key_count] rad, rotation vector from the start, world axes, about the
                    // frame's origin; NULL: does not turn
} cr_script;

// A force that acts by itself. Per step when step_count > 1 (the last holds after the end).
typedef struct cr_load {
    int32_t body;       // body it acts on
    int32_t node;       // node of the scene for cloth, -1 for a frame
    int32_t step_count; // 1: constant
    double* force;      // [3*step_count] N, world axes, at the centre of mass or node
    double* torque;     // [3*step_count] N m, world axes; NULL: none
} cr_load;

// Two bodies whose contact differs from what their own numbers give.
typedef struct cr_pairing {
    int32_t body[2];    // ascending
    double thickness;   // m, instead of the sum of radii; negative: as usual
    double reach;       // m, contact begins here and not at thickness and layers; negative: there
    double friction;    // negative: as usual
    double restitution; // negative: as usual
    int32_t passes;     // nonzero: the two pass through each other
} cr_pairing;

typedef struct cr_model {
    cr_world world;
    cr_body_set bodies;
    cr_surface surface;
    char** name; // [body_count] unique, never NULL
    // cloth
    int32_t sheet_count;
    cr_cloth* sheet;             // [sheet_count]
    cr_cloth_material* material; // [sheet_count]
    int32_t* sheet_body;         // [sheet_count]
    int32_t* sheet_node;         // [sheet_count+1] first node of the scene
    int32_t* body_sheet;         // [body_count] or -1
    // what acts and moves by itself
    int32_t script_count;
    cr_script* script;
    int32_t* frame_script; // [frame_count] -1: none
    int32_t* node_script;  // [node_count] -1: none; only of pinned nodes
    int32_t load_count;
    cr_load* load;
    int32_t pairing_count;
    cr_pairing* pairing;     // ascending body[0], body[1]
    double* linear_damping;  // [body_count] 1/s, v decays as exp(-c t); 0 unless asked for
    double* angular_damping; // [body_count] 1/s
    // where everything starts
    double* t0;  // [3*frame_count] m
    double* q0;  // [4*frame_count] w,x,y,z
    double* v0;  // [3*frame_count] m/s
    double* om0; // [3*frame_count] rad/s, body axes
    // the mesh's own axes as the scene knows them, seen in the frame: p = own_q v + own_t
    double* own_t;   // [3*frame_count] m
    double* own_q;   // [4*frame_count] w,x,y,z
    double* x0;      // [3*node_count] m
    double* xv0;     // [3*node_count] m/s
    double* density; // [body_count] kg/m^3 of rigid bodies, mass over volume
    double* place;   // [3*body_count] m, what the scene calls the body's position
    // counts up when bodies with a frame get another shape: what was made of it is made anew
    int64_t shape;
    // what the build did that the scene did not say, for people
    int32_t note_count;
    char** note; // [note_count]
} cr_model;

// Frees the model and all it owns; NULL is fine.
void cr_model_destroy(cr_model* model);

// A model of its own with the same numbers, whose numbers (not its structure) the caller may
// change. NULL when memory cannot be had.
cr_model* cr_model_copy(const cr_model* model);

// The pairing of two bodies, in either order; NULL when they have none.
const cr_pairing* cr_model_pairing(const cr_model* model, int32_t a, int32_t b);

// Contact numbers of two bodies: the pairing's where there is one. Shapes touch at their thickness;
// contact begins at their reach, which is the layers' widths more unless they start nearer. m
double cr_model_thickness(const cr_model* model, int32_t a, int32_t b);
double cr_model_reach(const cr_model* model, int32_t a, int32_t b);
// Where they start nearer than this, halfway down the layers, they would be thrown apart. m
double cr_model_start(const cr_model* model, int32_t a, int32_t b);
double cr_model_friction(const cr_model* model, int32_t a, int32_t b);
double cr_model_restitution(const cr_model* model, int32_t a, int32_t b);

// Displacement and rotation vector of a script at a time, component by component between the keys:
// linear in the keys' values.
void cr_model_script_at(const cr_script* script, double time, cr_vec3* shift, cr_vec3* turn);

// Reverse of cr_model_script_at: adds to shift_bar and turn_bar [3*key_count].
void cr_model_script_at_adj(const cr_script* script, double time, cr_vec3 shift_bar,
                            cr_vec3 turn_bar, double* shift_keys_bar, double* turn_keys_bar);
