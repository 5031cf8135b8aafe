// format.h - the scene file as tables, and the structs its objects are read into.
#pragma once

#include "scene/form.h"
#include "sim/model.h"

// Bits for cr_field.only, by the order of the body types in the file.
enum { CR_TYPE_RIGID, CR_TYPE_FIXED, CR_TYPE_KINEMATIC, CR_TYPE_CLOTH };
enum { CR_ONLY_RIGID = 1, CR_ONLY_FIXED = 2, CR_ONLY_KINEMATIC = 4, CR_ONLY_CLOTH = 8 };

// In all of these: int32_t without further word is a value of the document, -1 when not given; a
// number that may be left out is NaN when it is.

typedef struct cr_scene_spec {
    int32_t version; // a number
    const char *title, *about, *schema;
    int32_t world, materials, bodies, pairs, objective, parameters;
} cr_scene_spec;

typedef struct cr_world_spec {
    cr_world numbers;
    double thickness, friction, restitution;
    double contact_width, contact_stiffness;
    int32_t separate; // 0 or 1
} cr_world_spec;

// What materials and bodies both have.
typedef struct cr_material_spec {
    double density, friction, restitution, thickness;
    double contact_width, contact_stiffness;
    double stretch, poisson;
    cr_cloth_material cloth;
} cr_material_spec;

typedef struct cr_body_spec {
    const char* name;
    int32_t type; // CR_TYPE_*
    int32_t mesh, sphere, capsule;
    const char* material;
    cr_material_spec own;
    double mass;
    int32_t inertia;
    double center_of_mass[3];
    double position[3];
    int32_t rotation;
    double quaternion[4];
    double euler[3]; // degrees
    int32_t scale;
    int32_t origin; // 0 mesh, 1 center
    double velocity[3], angular_velocity[3];
    int32_t lock;
    int32_t inset; // 0 or 1
    double linear_damping, angular_damping;
    int32_t group; // a number, -1: none
    int32_t script;
    double force[3], torque[3];
    int32_t forces, torques;
    int32_t rest; // 0 mesh, 1 uv
    double rest_scale;
    int32_t pins, node_forces;
    int32_t copies;
} cr_body_spec;

typedef struct cr_mesh_spec {
    const char* file;
    int32_t vertices, faces, uv;
    int32_t repair;   // 0 or 1
    int32_t simplify; // triangles, 0: as it comes
    double size[3];
} cr_mesh_spec;

typedef struct cr_ball_spec {
    double radius, length;
} cr_ball_spec;

typedef struct cr_turn_spec {
    double axis[3];
    double degrees, radians;
} cr_turn_spec;

typedef struct cr_copies_spec {
    int32_t count;
    double spacing[3];
    double jitter[3];
    int32_t seed; // a number
} cr_copies_spec;

typedef struct cr_script_spec {
    int32_t keys;
    int32_t smooth; // 0 or 1
    double velocity[3], angular_velocity[3], until;
} cr_script_spec;

typedef struct cr_key_spec {
    double time, shift[3], turn[3];
} cr_key_spec;

typedef struct cr_nodes_spec {
    int32_t box;
    double nearest[3];
} cr_nodes_spec;

typedef struct cr_pin_spec {
    int32_t nodes, script;
} cr_pin_spec;

typedef struct cr_node_force_spec {
    int32_t nodes;
    double force[3];
    int32_t forces;
} cr_node_force_spec;

typedef struct cr_pair_spec {
    int32_t between;
    double thickness, friction, restitution;
    int32_t contact; // 0 or 1
} cr_pair_spec;

typedef struct cr_term_spec {
    int32_t what; // cr_goal_what
    const char* of;
    int32_t node; // a number, -1: none
    double point[3];
    int32_t at;
    int32_t norm; // cr_goal_norm
    double weight;
    int32_t target;
    const char* recording; // NULL: none
    double axes[3];
} cr_term_spec;

typedef struct cr_parameter_spec {
    const char* of;
    int32_t what; // cr_goal_parameter
    int32_t min, max, start;
} cr_parameter_spec;

extern const cr_form cr_format_scene, cr_format_world, cr_format_material, cr_format_body,
    cr_format_mesh, cr_format_sphere, cr_format_capsule, cr_format_turn, cr_format_copies,
    cr_format_script, cr_format_key, cr_format_nodes, cr_format_pin, cr_format_node_force,
    cr_format_pair, cr_format_objective, cr_format_term, cr_format_parameter;

// The tables above in the order of the reference page, ended by NULL.
extern const cr_form* const cr_format_all[];

// Names of the body types, ended by NULL.
extern const char* const* const cr_format_types;
