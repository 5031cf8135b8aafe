// body_set.h - all bodies of a scene as constant numbers: who owns which vertex, what weighs what.
#pragma once

#include "core/status.h"
#include "math/mat3.h"

typedef enum cr_body_kind {
    CR_BODY_FIXED,     // never moves
    CR_BODY_KINEMATIC, // moves as its script says
    CR_BODY_RIGID,     // six degrees of freedom
    CR_BODY_CLOTH,     // three per free node
} cr_body_kind;

// Rigid degrees of freedom that may be locked, in world axes.
enum {
    CR_LOCK_X = 1,
    CR_LOCK_Y = 2,
    CR_LOCK_Z = 4,
    CR_LOCK_RX = 8,
    CR_LOCK_RY = 16,
    CR_LOCK_RZ = 32
};

// A body that is not cloth has a frame: a pose (t, R) that carries its vertices p: x = R p + t. Of
// a rigid body t is the centre of mass and R the principal axes. The vertices of cloth are nodes.
// Frames and nodes are numbered through the scene in the order of the bodies.
typedef struct cr_body_set {
    int32_t body_count, vertex_count, frame_count, node_count;
    // bodies
    uint8_t* kind;   // [body_count] cr_body_kind
    int32_t* frame;  // [body_count] its frame, -1 for cloth
    int32_t* vertex; // [body_count+1] first vertex
    double* radius;  // [body_count] m, its thickness: the body is its mesh rounded by it
    double* width;   // [body_count] m, of the contact layer around that; 0 where contacts are hard
    double* stiffness;   // [body_count] m/s^2, what presses a contact halfway down its layer
    double* friction;    // [body_count] Coulomb coefficient
    double* restitution; // [body_count] 0..1
    // vertices
    int32_t* vertex_body; // [vertex_count]
    int32_t* node;        // [vertex_count] node of a cloth vertex, else -1
    double* p;            // [3*vertex_count] m, in the body's frame; of cloth: the rest position
    // frames
    int32_t* frame_body; // [frame_count]
    double* mass;        // [frame_count] kg; 0 unless rigid
    double* inertia;     // [3*frame_count] kg m^2, principal; 0 unless rigid
    double* extent;      // [frame_count] m, the farthest vertex from t, radius and layer included
    uint8_t* lock;       // [frame_count] CR_LOCK_*
    // nodes
    int32_t* node_vertex; // [node_count]
    double* node_mass;    // [node_count] kg
    uint8_t* node_pinned; // [node_count] nonzero: moves as its script says
} cr_body_set;

carom_status cr_body_set_init(cr_body_set* set, int32_t body_count, int32_t vertex_count,
                              int32_t frame_count, int32_t node_count);
void cr_body_set_release(cr_body_set* set);

// The body of a vertex. `guess`, -1 for none, is looked at first: where it is right, as most often,
// the table of all vertices, which is too long for a cache, is spared.
static inline int32_t cr_body_set_owner(const cr_body_set* set, int32_t guess, int32_t vertex)
{
    const int right = guess >= 0 && vertex >= set->vertex[guess] && vertex < set->vertex[guess + 1];
    return right ? guess : set->vertex_body[vertex];
}

// m, how far from its mesh a body may feel others: thickness and layer.
static inline double cr_body_set_reach(const cr_body_set* set, int32_t body)
{
    return set->radius[body] + set->width[body];
}

// Coefficients of a pair of bodies: friction by the geometric mean, restitution by the larger.
double cr_body_set_friction(const cr_body_set* set, int32_t a, int32_t b);
double cr_body_set_restitution(const cr_body_set* set, int32_t a, int32_t b);
