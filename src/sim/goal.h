// goal.h - what a scene asks for: an objective (a sum of terms over the motion) and the parameters
// with respect to which it is differentiated or made small.
#pragma once

#include "sim/model.h"

// One list gives codes, names in scene files and what they mean: name, numbers, about.
#define CR_GOAL_WHAT_LIST(X)                                                                       \
    X(POSITION, "position", 3,                                                                     \
      "m: a body's centre of mass or point, a node, or a cloth's centroid")                        \
    X(ROTATION, "rotation", 4, "the body's orientation, against the quaternion w,x,y,z")           \
    X(VELOCITY, "velocity", 3, "m/s: of the centre of mass, of a node, or of a cloth's centroid")  \
    X(SPIN, "angular_velocity", 3, "rad/s, world axes")                                            \
    X(MOMENTUM, "momentum", 3, "kg m/s: of a body, or of all that can move")                       \
    X(ANGULAR_MOMENTUM, "angular_momentum", 3, "kg m^2/s about the origin: of a body or of all")   \
    X(ENERGY, "energy", 1, "J: kinetic, of gravity and of cloth: of a body or of all")             \
    X(CONTACT_FORCE, "contact_force", 3, "N: the sum of what touches the body does to it")         \
    X(EFFORT, "effort", 3, "N: the forces and torques the scene applies to the body, squared")

typedef enum cr_goal_what {
#define X(code, name, numbers, about) CR_GOAL_##code,
    CR_GOAL_WHAT_LIST(X)
#undef X
} cr_goal_what;

typedef enum cr_goal_when {
    CR_GOAL_END,   // at the end of the run
    CR_GOAL_TIMES, // at each of the given times
    CR_GOAL_OVER,  // mean over all step ends
} cr_goal_when;

typedef enum cr_goal_norm {
    CR_GOAL_SQUARED, // |r|^2
    CR_GOAL_NORM,    // |r|
    CR_GOAL_VALUE,   // the sum of the parts of r: to make something small or large
} cr_goal_norm;

// weight * norm(axes * (value - target)), summed over the times. For rotation the residual is the
// rotation vector from the target to the body.
typedef struct cr_goal_term {
    int32_t what; // cr_goal_what
    int32_t body; // -1: all
    int32_t node; // node of the scene, -1: the body or the centroid
    int32_t when; // cr_goal_when
    int32_t norm; // cr_goal_norm
    double weight;
    int32_t aside;      // nonzero: a position is that of `point`, else of the centre of mass
    double point[3];    // m, in the mesh's own axes, see cr_model.own_q
    double axes[3];     // factor of each component
    int32_t time_count; // 0 unless TIMES
    int32_t numbers;    // per target: 1, 3 or 4; of a recorded cloth 3 per node
    double* time;       // [time_count] s
    double* target;     // [numbers * max(1, time_count)]; NULL: the recording was not there
    char* recording;    // file with the motion that is the target, NULL: none. Cloth is then
                        // compared node by node, by the mean over its nodes
} cr_goal_term;

// name, who has it (W world, R rigid, K kinematic, F fixed, C cloth), numbers per item (0:
// depends), about
#define CR_GOAL_PARAMETER_LIST(X)                                                                  \
    X(POSITION, "position", "RKFC", 3, "m, where the body starts")                                 \
    X(ROTATION, "rotation", "RKF", 3, "rad, a small rotation (world axes) of the start")           \
    X(VELOCITY, "velocity", "RC", 3, "m/s at the start")                                           \
    X(SPIN, "angular_velocity", "R", 3, "rad/s at the start, world axes")                          \
    X(MASS, "mass", "R", 1, "kg; inertia goes with it")                                            \
    X(DENSITY, "density", "RC", 1, "kg/m^3, of cloth kg/m^2; mass and inertia go with it")         \
    X(INERTIA, "inertia", "R", 3, "kg m^2, the principal moments")                                 \
    X(CENTER, "center_of_mass", "R", 3, "m, in the mesh")                                          \
    X(FRICTION, "friction", "RKFC", 1, "Coulomb coefficient")                                      \
    X(RESTITUTION, "restitution", "RKFC", 1, "of impacts")                                         \
    X(THICKNESS, "thickness", "RKFC", 1, "m")                                                      \
    X(CONTACT_WIDTH, "contact_width", "RKFC", 1, "m, of the contact layer")                        \
    X(CONTACT_STIFFNESS, "contact_stiffness", "RKFC", 1, "m/s^2, of the contact layer")            \
    X(FORCE, "force", "RC", 3, "N, constant (of cloth: on each of its nodes)")                     \
    X(TORQUE, "torque", "R", 3, "N m, constant")                                                   \
    X(FORCES, "forces", "RC", 0, "N, three per step")                                              \
    X(TORQUES, "torques", "R", 0, "N m, three per step")                                           \
    X(STRETCH, "stretch", "C", 1, "N/m, with c11, c22, c12, c33 of an isotropic sheet")            \
    X(POISSON, "poisson", "C", 1, "with c11, c22, c12, c33 of an isotropic sheet")                 \
    X(C11, "c11", "C", 1, "N/m")                                                                   \
    X(C22, "c22", "C", 1, "N/m")                                                                   \
    X(C12, "c12", "C", 1, "N/m")                                                                   \
    X(C33, "c33", "C", 1, "N/m")                                                                   \
    X(BEND, "bend", "C", 1, "N m")                                                                 \
    X(DAMPING, "damping", "C", 1, "s")                                                             \
    X(BEND_DAMPING, "bend_damping", "C", 1, "s")                                                   \
    X(DRAG_NORMAL, "drag_normal", "C", 1, "kg/m^3")                                                \
    X(DRAG_TANGENT, "drag_tangent", "C", 1, "kg/(m^2 s)")                                          \
    X(VERTICES, "vertices", "RKFC", 0, "m, three per vertex of the mesh")                          \
    X(REST, "rest", "C", 0, "m, the rest shape")                                                   \
    X(PINS, "pins", "C", 0, "m, where the pinned nodes are")                                       \
    X(SCRIPT, "script", "KC", 0, "m and rad, the keys of the scripted motion")                     \
    X(GRAVITY, "gravity", "W", 3, "m/s^2")                                                         \
    X(WIND, "wind", "W", 3, "m/s")

typedef enum cr_goal_parameter_what {
#define X(code, name, who, numbers, about) CR_GOAL_OF_##code,
    CR_GOAL_PARAMETER_LIST(X)
#undef X
} cr_goal_parameter_what;

typedef struct cr_goal_parameter {
    int32_t what; // cr_goal_parameter_what
    int32_t body; // -1: the world
    // Bounds and start, one number for all components or one each; count 0: none.
    int32_t min_count, max_count, start_count;
    double *min, *max, *start;
} cr_goal_parameter;

typedef struct cr_goal {
    int32_t term_count, parameter_count;
    cr_goal_term* term;
    cr_goal_parameter* parameter;
} cr_goal;

void cr_goal_release(cr_goal* goal);

const char* cr_goal_what_name(int32_t what);
const char* cr_goal_parameter_name(int32_t what);
