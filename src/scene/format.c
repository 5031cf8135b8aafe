#include "scene/format.h"
#include "sim/goal.h"
#include <float.h>
#include <math.h>

// Accepted ranges that come again and again. Beyond a million kilometres a double resolves less
// than a micrometre; masses and times are kept where their products with lengths cannot overflow.
#define TO ,
#define PLACES -1e9 TO 1e9
#define ANY -1e15 TO 1e15
#define LENGTHS 1e-9 TO 1e6
#define NOT_GIVEN ((double)NAN)
#define UNIT ""

#define END                                                                                        \
    {                                                                                              \
        .row = {.name = NULL }                                                                     \
    }
#define AT(member) offsetof(SPEC, member)
#define NUMBER(key, member, unit, about, fallback, range, diff)                                    \
    .row = {key, unit, about, fallback, range, AT(member), diff}, .kind = CR_FIELD_NUMBER
#define INTEGER(key, member, about, fallback, range)                                               \
    .row = {key, "", about, fallback, range, AT(member), 0}, .kind = CR_FIELD_INTEGER
#define SWITCH(key, member, about, fallback)                                                       \
    .row = {key, "", about, fallback, 0, 1, AT(member), 0}, .kind = CR_FIELD_SWITCH
#define VECTOR(key, member, unit, about, fallback, range, diff)                                    \
    .row = {key, unit, about, fallback, range, AT(member), diff}, .kind = CR_FIELD_VECTOR,         \
    .count = 3
#define TEXT(key, member, about)                                                                   \
    .row = {key, "", about, 0, 0, 0, AT(member), 0}, .kind = CR_FIELD_TEXT
#define CHOICE(key, member, about, fallback, names)                                                \
    .row = {key, "", about, fallback, 0, 0, AT(member), 0}, .kind = CR_FIELD_CHOICE, .choice = names
#define OBJECT(key, member, about, its_form)                                                       \
    .row = {key, "", about, 0, 0, 0, AT(member), 0}, .kind = CR_FIELD_OBJECT, .form = &its_form
#define LIST(key, member, about, least, its_item)                                                  \
    .row = {key, "", about, 0, 0, 0, AT(member), 0}, .kind = CR_FIELD_LIST, .count = least,        \
    .item = &its_item
#define ONE_OF(key, member, about, items)                                                          \
    .row = {key, "", about, 0, 0, 0, AT(member), 0}, .kind = CR_FIELD_ONE_OF, .item = items
// Items of lists and of ONE_OF are read by hand, so they have no place in a struct.
#define ITEM_NUMBER(key, unit, about, range)                                                       \
    .row = {key, unit, about, 0, range, 0, 0}, .kind = CR_FIELD_NUMBER
#define ITEM_VECTOR(key, unit, about, n, range)                                                    \
    .row = {key, unit, about, 0, range, 0, 0}, .kind = CR_FIELD_VECTOR, .count = n
#define ITEM_INTEGER(key, about, range)                                                            \
    .row = {key, "", about, 0, range, 0, 0}, .kind = CR_FIELD_INTEGER
#define ITEM_OBJECT(key, about, its_form)                                                          \
    .row = {key, "", about, 0, 0, 0, 0, 0}, .kind = CR_FIELD_OBJECT, .form = &its_form
#define ITEM_LIST(key, about, least, its_item)                                                     \
    .row = {key, "", about, 0, 0, 0, 0, 0}, .kind = CR_FIELD_LIST, .count = least, .item = &its_item
#define ITEM_CHOICE(key, about, names)                                                             \
    .row = {key, "", about, 0, 0, 0, 0, 0}, .kind = CR_FIELD_CHOICE, .choice = names
#define ITEM_TEXT(key, about) .row = {key, "", about, 0, 0, 0, 0, 0}, .kind = CR_FIELD_TEXT

static const cr_field force_item = {ITEM_VECTOR("force", "N", "of one step", 3, ANY)};
static const cr_field torque_item = {ITEM_VECTOR("torque", "N m", "of one step", 3, ANY)};

// ---- world

#define SPEC cr_world_spec
static const double earth[3] = {0, 0, -9.81};
static const char* const contact_names[] = {"hard", "barrier", NULL};
static const char* const elasticity_names[] = {"converged", "linearized", NULL};
static const char* const zone_names[] = {"local", "global", NULL};
static const char* const zone_gradient_names[] = {"sparse", "dense-qr", "dense-kkt", NULL};
static const char* const curvature_names[] = {"on", "off", NULL};
static const cr_field world_fields[] = {
    {VECTOR("gravity", numbers.gravity, "m/s^2", "acceleration of everything that moves freely", 0,
            ANY, 1),
     .vector = earth},
    {NUMBER("dt", numbers.dt, "s", "length of one step", 0.01, 1e-9 TO 1e3, 0)},
    {NUMBER("duration", numbers.duration, "s", "how long a run is unless told otherwise", 2,
            1e-9 TO 1e9, 0)},
    {VECTOR("wind", numbers.wind, "m/s", "velocity of the air; drags cloth", 0, ANY, 1)},
    {NUMBER("thickness", thickness, "m", "layer around every body that gives none of its own",
            NOT_GIVEN, 0 TO 1e3, 0),
     .otherwise = "by the size of each body"},
    {CHOICE("contact", numbers.contact,
            "how contacts resist: by a potential in a layer of finite width, or (going) nearly at "
            "once",
            1, contact_names)},
    {NUMBER("contact_width", contact_width, "m",
            "width of the contact layer of bodies that give none; contact \"barrier\"", NOT_GIVEN,
            1e-9 TO 1e3, 0),
     .otherwise = "by the size of each body"},
    {NUMBER("contact_stiffness", contact_stiffness, "m/s^2",
            "acceleration that presses a contact halfway down its layer; contact \"barrier\"", 400,
            1e-3 TO 1e9, 0)},
    {CHOICE("elasticity", numbers.elasticity,
            "how sheets resist within a step: by their energy, or, cheaper but stiff against "
            "rotation, by its quadratic model at the start of the step; contact \"barrier\"",
            0, elasticity_names)},
    {NUMBER("friction", friction, UNIT, "of bodies that give none", 0.5, 0 TO 1e3, 0)},
    {NUMBER("restitution", restitution, UNIT, "of bodies that give none", 0, 0 TO 1, 0)},
    {NUMBER("friction_speed", numbers.friction_speed, "m/s",
            "below it friction grows linearly: the creep of a sticking contact", 1e-4, 1e-9 TO 1e3,
            0)},
    {NUMBER("compliance", numbers.compliance, UNIT,
            "a contact gives way by compliance * impulse / mass", 1e-5, 0 TO 1, 0)},
    {NUMBER("bounce_floor", numbers.bounce_floor, UNIT,
            "impacts slower than this many dt times the acceleration do not bounce", 4, 0 TO 1e6,
            0)},
    {INTEGER("max_events", numbers.max_events,
             "impacts of one body in one step before the rest is taken inelastically", 8,
             0 TO 1000000)},
    {INTEGER("max_halvings", numbers.max_halvings,
             "a step is split into at most 2^max_halvings legs, and each into as many parts", 8,
             0 TO 30)},
    {INTEGER("max_iterations", numbers.max_iterations, "Newton iterations of one zone", 60,
             1 TO 1000000)},
    {NUMBER("tolerance", numbers.tolerance, UNIT,
            "what may be left of the forces on a body in a step that is solved; contact "
            "\"barrier\"",
            1e-10, 1e-14 TO 1e-2, 0)},
    {INTEGER("iteration_budget", numbers.iteration_budget,
             "Newton iterations after which a zone ends where it is, which intersects nothing but "
             "has no gradient; 0: only when solved; contact \"barrier\"",
             0, 0 TO 1000000)},
    {CHOICE("zones", numbers.one_zone,
            "what is solved together: what touches, or everything (for comparison)", 0,
            zone_names)},
    {SWITCH("separate", separate,
            "bodies that start in each other are moved apart instead of refused", 0)},
    {CHOICE("zone_gradient", numbers.zone_gradient,
            "how the way back solves a zone: by the sparse factor, or (for comparison) densely "
            "by LAPACK, with a pivoted QR or the whole system",
            0, zone_gradient_names)},
    {CHOICE("curvature", numbers.flat_gradient,
            "whether the way back keeps the curvature of contacts; off (for comparison) gives "
            "gradients that are wrong",
            0, curvature_names)},
    END,
};
#undef SPEC
static const cr_form_former former_world_fields[] = {
    {"cloth_solver", "; \"elasticity\": \"linearized\" is the linearised step"}, {NULL, NULL}};
const cr_form cr_format_world = {.name = "world",
                                 .about = "what belongs to no body",
                                 .field = world_fields,
                                 .former = former_world_fields};

// ---- meshes and shapes

#define SPEC cr_mesh_spec
static const cr_field vertex_item = {ITEM_VECTOR("vertex", "m", "x, y, z", 3, PLACES)};
static const cr_field face_item = {
    ITEM_VECTOR("face", "", "three vertices, counted from 0, counter-clockwise from outside", 3,
                0 TO 2147483646)};
static const cr_field uv_item = {ITEM_VECTOR("uv", "m", "u, v", 2, PLACES)};
static const cr_field mesh_fields[] = {
    {TEXT("file", file, "OBJ, PLY, STL or OFF file, relative to the scene")},
    {LIST("vertices", vertices, "the mesh itself, with faces", 1, vertex_item)},
    {LIST("faces", faces, "triangles of the vertices given here", 0, face_item)},
    {LIST("uv", uv, "rest place of each vertex given here, for cloth with rest \"uv\"", 0,
          uv_item)},
    {SWITCH("repair", repair,
            "welds equal vertices, drops and turns faces, fills holes; a note tells what it did",
            0)},
    {INTEGER("simplify", simplify,
             "collapses edges until so many triangles are left, with the shape kept as well as it "
             "goes; a note tells what it did",
             0, 4 TO 2147483646),
     .otherwise = "as it comes"},
    {VECTOR("size", size, "m", "stretches the mesh so that the box around it has these sizes",
            NOT_GIVEN, 0 TO 1e6, 0),
     .otherwise = "as it comes"},
    END,
};
#undef SPEC
const cr_form cr_format_mesh = {
    .name = "mesh",
    .about = "one of: a file, vertices and faces, or a generator by its name",
    .field = mesh_fields,
    .shapes = 1};

#define SPEC cr_ball_spec
static const cr_field sphere_fields[] = {
    {NUMBER("radius", radius, "m", "of the sphere", 0, LENGTHS, 0), .required = 1},
    END,
};
static const cr_field capsule_fields[] = {
    {NUMBER("radius", radius, "m", "of the capsule", 0, LENGTHS, 0), .required = 1},
    {NUMBER("length", length, "m", "between the centres of its ends, along z", 0, LENGTHS, 0),
     .required = 1},
    END,
};
#undef SPEC
const cr_form cr_format_sphere = {
    .name = "sphere", .about = "an exact sphere: one vertex and a radius", .field = sphere_fields};
const cr_form cr_format_capsule = {
    .name = "capsule", .about = "an exact capsule: one edge and a radius", .field = capsule_fields};

// ---- scripts

#define SPEC cr_key_spec
static const cr_field key_fields[] = {
    {NUMBER("time", time, "s", "when", 0, 0 TO 1e9, 0), .required = 1},
    {VECTOR("shift", shift, "m", "displacement from the start", 0, PLACES, 1)},
    {VECTOR("turn", turn, "rad", "rotation vector from the start, world axes", 0, -1e6 TO 1e6, 1)},
    END,
};
#undef SPEC
const cr_form cr_format_key = {.name = "key", .about = "one place on the way", .field = key_fields};
static const cr_field key_item = {ITEM_OBJECT("key", "time, shift, turn", cr_format_key)};

#define SPEC cr_script_spec
static const cr_field script_fields[] = {
    {LIST("keys", keys, "places on the way, ascending in time; the end values hold outside", 1,
          key_item)},
    {SWITCH("smooth", smooth, "a cubic through the keys that starts and ends at rest", 0)},
    {VECTOR("velocity", velocity, "m/s", "steady motion instead of keys", 0, ANY, 0)},
    {VECTOR("angular_velocity", angular_velocity, "rad/s", "steady rotation, world axes", 0, ANY,
            0)},
    {NUMBER("until", until, "s", "when the steady motion stops", NOT_GIVEN, 1e-9 TO 1e9, 0),
     .otherwise = "it goes on"},
    END,
};
#undef SPEC
const cr_form cr_format_script = {
    .name = "script", .about = "a motion by keys, or a steady one", .field = script_fields};

// ---- cloth

#define SPEC cr_nodes_spec
static const cr_field corner_item = {ITEM_VECTOR("corner", "m", "x, y, z", 3, PLACES)};
static const cr_field nodes_fields[] = {
    {LIST("box", box, "[[least], [most]]: the nodes that start inside", 2, corner_item)},
    {VECTOR("nearest", nearest, "m", "the node that starts nearest to this place", NOT_GIVEN,
            PLACES, 0),
     .otherwise = "by box"},
    END,
};
#undef SPEC
const cr_form cr_format_nodes = {
    .name = "nodes", .about = "nodes of a cloth by where they start", .field = nodes_fields};
static const char* const node_names[] = {"all", "border", "corners", NULL};
static const cr_field node_item = {ITEM_INTEGER("node", "counted from 0", 0 TO 2147483646)};
static const cr_field nodes_options[] = {
    {ITEM_LIST("numbers", "vertices of the mesh, counted from 0", 1, node_item)},
    {ITEM_CHOICE("name",
                 "all nodes; those on the border; those at which the border turns by more than 45 "
                 "degrees",
                 node_names)},
    {ITEM_OBJECT("place", "by where they start", cr_format_nodes)},
    END,
};

#define SPEC cr_pin_spec
static const cr_field pin_fields[] = {
    {ONE_OF("nodes", nodes, "which nodes", nodes_options), .required = 1},
    {OBJECT("script", script, "how they move", cr_format_script), .otherwise = "they stay"},
    END,
};
#undef SPEC
const cr_form cr_format_pin = {
    .name = "pin", .about = "nodes that stay or move as told", .field = pin_fields};
static const cr_field pin_item = {ITEM_OBJECT("pin", "nodes and script", cr_format_pin)};

#define SPEC cr_node_force_spec
static const cr_field node_force_fields[] = {
    {ONE_OF("nodes", nodes, "which nodes", nodes_options), .required = 1},
    {VECTOR("force", force, "N", "on each of them, constant", NOT_GIVEN, ANY, 1),
     .otherwise = "by forces"},
    {LIST("forces", forces, "on each of them, one per step; the last one holds", 1, force_item)},
    END,
};
#undef SPEC
const cr_form cr_format_node_force = {
    .name = "node force", .about = "forces on nodes of a cloth", .field = node_force_fields};
static const cr_field node_force_item = {
    ITEM_OBJECT("node force", "nodes and force", cr_format_node_force)};

// ---- materials and bodies

#define SPEC cr_material_spec
#define MATERIAL_FIELDS(prefix)                                                                    \
    {NUMBER("density", prefix density, "kg/m^3", "mass per volume, of cloth per area (kg/m^2)",    \
            NOT_GIVEN, 1e-9 TO 1e9, 1),                                                            \
     .otherwise = "the material's, else 1000; of cloth 0.2"},                                      \
        {NUMBER("friction", prefix friction, UNIT,                                                 \
                "Coulomb coefficient; two bodies take the geometric mean", NOT_GIVEN, 0 TO 1e3,    \
                1),                                                                                \
         .otherwise = "the material's, else the world's"},                                         \
        {NUMBER("restitution", prefix restitution, UNIT,                                           \
                "bounce of an impact; two bodies take the larger", NOT_GIVEN, 0 TO 1, 1),          \
         .otherwise = "the material's, else the world's"},                                         \
        {NUMBER("thickness", prefix thickness, "m",                                                \
                "layer around the mesh; two bodies touch at the sum of theirs", NOT_GIVEN,         \
                0 TO 1e3, 1),                                                                      \
         .otherwise =                                                                              \
             "the material's, the world's, else 5e-4 of the body's size (of cloth at most a "      \
             "fifth of its shortest edge; of fixed and kinematic bodies 0)"},                      \
        {NUMBER("contact_width", prefix contact_width, "m",                                        \
                "width of the contact layer around the thickness or radius", NOT_GIVEN,            \
                1e-9 TO 1e3, 0),                                                                   \
         .otherwise =                                                                              \
             "the material's, the world's, else 2.5e-3 of the body's size (of cloth what "         \
             "the thickness leaves of a fifth of its shortest edge; of fixed and "                 \
             "kinematic bodies 0)"},                                                               \
        {NUMBER("contact_stiffness", prefix contact_stiffness, "m/s^2",                            \
                "acceleration that presses a contact halfway down its layer", NOT_GIVEN,           \
                1e-3 TO 1e9, 0),                                                                   \
         .otherwise = "the material's, else the world's"},                                         \
        {NUMBER(                                                                                   \
             "stretch", prefix stretch, "N/m",                                                     \
             "Young's modulus times thickness of cloth that is the same in all directions: gives " \
             "c11, c22, c12, c33 where they are not given",                                        \
             NOT_GIVEN, 0 TO 1e9, 1),                                                              \
         .otherwise = "by the four moduli", .only = CR_ONLY_CLOTH},                                \
    {                                                                                              \
        NUMBER("poisson", prefix poisson, UNIT, "ratio that goes with stretch", NOT_GIVEN,         \
               -0.999 TO 0.999, 1),                                                                \
            .otherwise = "the material's, else 0.3", .only = CR_ONLY_CLOTH                         \
    }
static const cr_field material_fields[] = {
    MATERIAL_FIELDS(),
    END,
};
#undef SPEC
const cr_form cr_format_material = {.name = "material",
                                    .about = "numbers that several bodies share",
                                    .field = material_fields,
                                    .more = cr_cloth_params,
                                    .more_offset = offsetof(cr_material_spec, cloth),
                                    .more_only = CR_ONLY_CLOTH};

#define SPEC cr_turn_spec
static const cr_field turn_fields[] = {
    {VECTOR("axis", axis, "", "of any length but 0", 0, ANY, 0), .required = 1},
    {NUMBER("degrees", degrees, "degrees", "how far", NOT_GIVEN, ANY, 0),
     .otherwise = "by radians"},
    {NUMBER("radians", radians, "rad", "how far", NOT_GIVEN, ANY, 0), .otherwise = "by degrees"},
    END,
};
#undef SPEC
const cr_form cr_format_turn = {
    .name = "rotation", .about = "a rotation by axis and angle", .field = turn_fields};
static const cr_field turn_options[] = {
    {ITEM_VECTOR("vector", "rad", "rotation vector: by its length about itself", 3, ANY)},
    {ITEM_OBJECT("axis", "axis and degrees or radians", cr_format_turn)},
    END,
};
static const cr_field scale_options[] = {
    {ITEM_NUMBER("factor", "", "the same along all axes", -1e6 TO 1e6)},
    {ITEM_VECTOR("factors", "", "along x, y, z; negative ones mirror", 3, -1e6 TO 1e6)},
    END,
};
static const cr_field moment_item = {ITEM_NUMBER("moment", "kg m^2", "", -1e15 TO 1e15)};
static const char* const lock_names[] = {"x", "y", "z", "rx", "ry", "rz", NULL};
static const cr_field lock_item = {
    ITEM_CHOICE("lock", "a direction or an axis of the world", lock_names)};
static const char* const origin_names[] = {"mesh", "center", NULL};
static const char* const rest_names[] = {"mesh", "uv", NULL};
static const char* const type_names[] = {"rigid", "fixed", "kinematic", "cloth", NULL};

#define SPEC cr_copies_spec
static const cr_field count_item = {ITEM_INTEGER("count", "", 1 TO 2147483646)};
static const cr_field copies_fields[] = {
    {LIST("count", count, "how many along x, y, z: three whole numbers", 3, count_item),
     .required = 1},
    {VECTOR("spacing", spacing, "m", "from one to the next along x, y, z", 0, PLACES, 0)},
    {VECTOR("jitter", jitter, "m", "each strays by up to so much either way", 0, 0 TO 1e9, 0)},
    {INTEGER("seed", seed, "of the jitter", 1, 0 TO 2147483646)},
    END,
};
#undef SPEC
const cr_form cr_format_copies = {.name = "copies",
                                  .about = "a block of bodies like this one, named name[0], "
                                           "name[1], ... with x running first",
                                  .field = copies_fields};

#define SPEC cr_body_spec
static const cr_field body_fields[] = {
    {TEXT("name", name, "unique; what everything else calls it by"),
     .otherwise = "bodies[i], by its place in the list"},
    {CHOICE("type", type,
            "rigid moves freely; fixed never; kinematic as its script says; cloth bends", 0,
            type_names)},
    {OBJECT("mesh", mesh, "its surface", cr_format_mesh)},
    {OBJECT("sphere", sphere, "instead of a mesh", cr_format_sphere),
     .only = CR_ONLY_RIGID | CR_ONLY_FIXED | CR_ONLY_KINEMATIC},
    {OBJECT("capsule", capsule, "instead of a mesh", cr_format_capsule),
     .only = CR_ONLY_RIGID | CR_ONLY_FIXED | CR_ONLY_KINEMATIC},
    {TEXT("material", material, "a name from materials; what the body says itself goes before")},
    MATERIAL_FIELDS(own.),
    {NUMBER("mass", mass, "kg", "instead of density", NOT_GIVEN, 1e-12 TO 1e15, 1),
     .otherwise = "density times volume", .only = CR_ONLY_RIGID},
    {LIST("inertia", inertia,
          "kg m^2 about the centre of mass, in the mesh's axes: xx, yy, zz and optionally xy, xz, "
          "yz",
          3, moment_item),
     .otherwise = "by exact integrals over the solid", .only = CR_ONLY_RIGID},
    {VECTOR("center_of_mass", center_of_mass, "m", "in the mesh's axes, before scale and rotation",
            NOT_GIVEN, PLACES, 1),
     .otherwise = "by exact integrals over the solid", .only = CR_ONLY_RIGID},
    {VECTOR("position", position, "m", "where the origin goes", 0, PLACES, 1)},
    {CHOICE("origin", origin, "of position: that of the mesh, or the centre of mass", 0,
            origin_names),
     .only = CR_ONLY_RIGID},
    {ONE_OF("rotation", rotation, "about the origin", turn_options)},
    {.row = {"quaternion", "", "w, x, y, z, instead of rotation", NOT_GIVEN, -1e6, 1e6,
             AT(quaternion), 0},
     .kind = CR_FIELD_VECTOR,
     .count = 4,
     .otherwise = "by rotation"},
    {VECTOR("euler_degrees", euler, "degrees", "instead of rotation: R = Rz Ry Rx", NOT_GIVEN,
            -1e6 TO 1e6, 0),
     .otherwise = "by rotation"},
    {ONE_OF("scale", scale, "of the mesh, about its origin", scale_options), .otherwise = "1"},
    {VECTOR("velocity", velocity, "m/s", "at the start, of the centre of mass or of all nodes", 0,
            ANY, 1),
     .only = CR_ONLY_RIGID | CR_ONLY_CLOTH},
    {VECTOR("angular_velocity", angular_velocity, "rad/s", "at the start, world axes", 0, ANY, 1),
     .only = CR_ONLY_RIGID},
    {LIST("lock", lock, "directions in which it cannot move, axes about which it cannot turn", 0,
          lock_item),
     .only = CR_ONLY_RIGID},
    {SWITCH("inset", inset,
            "moves the mesh inward by the thickness and the contact layer, so that the body keeps "
            "its faces",
            0),
     .only = CR_ONLY_RIGID | CR_ONLY_FIXED | CR_ONLY_KINEMATIC},
    {NUMBER("linear_damping", linear_damping, "1/s", "velocity decays as exp(-c t)", 0, 0 TO 1e6,
            0),
     .only = CR_ONLY_RIGID | CR_ONLY_CLOTH},
    {NUMBER("angular_damping", angular_damping, "1/s", "spin decays as exp(-c t)", 0, 0 TO 1e6, 0),
     .only = CR_ONLY_RIGID},
    {INTEGER("group", group, "bodies of the same group do not touch each other; -1: none", -1,
             -1 TO 2147483646)},
    {OBJECT("script", script, "how it moves", cr_format_script), .otherwise = "it stays",
     .only = CR_ONLY_KINEMATIC},
    {VECTOR("force", force, "N", "constant, at the centre of mass; world axes", 0, ANY, 1),
     .only = CR_ONLY_RIGID},
    {VECTOR("torque", torque, "N m", "constant; world axes", 0, ANY, 1), .only = CR_ONLY_RIGID},
    {LIST("forces", forces, "one per step, added to force; the last one holds", 1, force_item),
     .only = CR_ONLY_RIGID},
    {LIST("torques", torques, "one per step, added to torque; the last one holds", 1, torque_item),
     .only = CR_ONLY_RIGID},
    {CHOICE("rest", rest, "the rest shape: the mesh as it comes, or its texture coordinates in m",
            0, rest_names),
     .only = CR_ONLY_CLOTH},
    {NUMBER("rest_scale", rest_scale, UNIT,
            "size of the rest shape against the mesh's: below 1 the cloth starts stretched", 1,
            1e-3 TO 1e3, 0),
     .only = CR_ONLY_CLOTH},
    {LIST("pins", pins, "nodes that stay or move as told", 0, pin_item), .only = CR_ONLY_CLOTH},
    {LIST("node_forces", node_forces, "forces on nodes", 0, node_force_item),
     .only = CR_ONLY_CLOTH},
    {OBJECT("copies", copies, "many bodies like this one", cr_format_copies)},
    END,
};
#undef SPEC
const cr_form cr_format_body = {.name = "body",
                                .about = "one body, or several by copies",
                                .field = body_fields,
                                .more = cr_cloth_params,
                                .more_offset = offsetof(cr_body_spec, own.cloth),
                                .more_only = CR_ONLY_CLOTH};
const char* const* const cr_format_types = type_names;

// ---- pairs

#define SPEC cr_pair_spec
static const cr_field name_item = {ITEM_TEXT("name", "of a body")};
static const cr_field pair_fields[] = {
    {LIST("between", between, "two names of bodies; a name with copies stands for all of them", 2,
          name_item),
     .required = 1},
    {NUMBER("friction", friction, UNIT, "of this pair", NOT_GIVEN, 0 TO 1e3, 0),
     .otherwise = "by the two bodies"},
    {NUMBER("restitution", restitution, UNIT, "of this pair", NOT_GIVEN, 0 TO 1, 0),
     .otherwise = "by the two bodies"},
    {NUMBER("thickness", thickness, "m", "distance at which their shapes touch", NOT_GIVEN,
            0 TO 1e3, 0),
     .otherwise = "the sum of the two"},
    {SWITCH("contact", contact, "false: they pass through each other", 1)},
    END,
};
#undef SPEC
const cr_form cr_format_pair = {
    .name = "pair", .about = "two bodies whose contact is special", .field = pair_fields};

// ---- objective and parameters

#define SPEC cr_term_spec
static const char* const what_names[] = {
#define X(code, name, numbers, about) name,
    CR_GOAL_WHAT_LIST(X)
#undef X
        NULL};
static const char* const norm_names[] = {"squared", "norm", "value", NULL};
static const char* const moment_names[] = {"end", "always", NULL};
static const cr_field time_item = {ITEM_NUMBER("time", "s", "", 0 TO 1e9)};
static const cr_field at_options[] = {
    {ITEM_CHOICE("moment", "at the end, or the mean over all steps", moment_names)},
    {ITEM_LIST("times", "at each of these times, ascending", 1, time_item)},
    END,
};
static const cr_field target_numbers = {ITEM_NUMBER("number", "", "", ANY)};
static const cr_field target_parts[] = {
    {ITEM_NUMBER("number", "", "", ANY)},
    {ITEM_LIST("numbers", "", 1, target_numbers)},
    END,
};
static const cr_field target_any = {
    .row = {.name = "part"}, .kind = CR_FIELD_ONE_OF, .item = target_parts};
static const cr_field target_options[] = {
    {ITEM_NUMBER("number", "", "one number", ANY)},
    {ITEM_LIST("numbers", "a vector or quaternion, or a list of one target for each time", 1,
               target_any)},
    END,
};
static const cr_field term_fields[] = {
    {CHOICE("what", what, "which quantity", 0, what_names), .required = 1},
    {TEXT("of", of, "a body"), .otherwise = "all that can move (momentum, energy)"},
    {INTEGER("node", node, "of cloth: one node; -1: the centroid", -1, -1 TO 2147483646)},
    {VECTOR("point", point, "m", "of a rigid body: this point of its mesh", NOT_GIVEN, PLACES, 0),
     .otherwise = "the centre of mass"},
    {ONE_OF("at", at, "when", at_options), .otherwise = "end"},
    {CHOICE("norm", norm,
            "of the difference to the target: its square, its length, or the sum of its parts", 0,
            norm_names)},
    {NUMBER("weight", weight, "", "factor of this term", 1, ANY, 0)},
    {ONE_OF("target", target, "what it should be", target_options), .otherwise = "0"},
    {TEXT("recording", recording,
          "instead of a target: a trajectory file, relative to the scene, in which the body is "
          "where it should be. Positions only; of cloth every node counts, or one. Without "
          "\"at\" the mean over all its frames"),
     .otherwise = "none"},
    {VECTOR("axes", axes, "", "factor of each component, such as [1, 1, 0]", 1, ANY, 0)},
    END,
};
#undef SPEC
const cr_form cr_format_term = {
    .name = "term", .about = "one term of the objective", .field = term_fields};
static const cr_field term_item = {ITEM_OBJECT("term", "what, of, at, target", cr_format_term)};

typedef struct objective_spec {
    int32_t terms;
} objective_spec;
#define SPEC objective_spec
static const cr_field objective_fields[] = {
    {LIST("terms", terms, "the objective is their sum", 1, term_item), .required = 1},
    END,
};
#undef SPEC
const cr_form cr_format_objective = {
    .name = "objective", .about = "what should become small", .field = objective_fields};

#define SPEC cr_parameter_spec
static const char* const parameter_names[] = {
#define X(code, name, who, numbers, about) name,
    CR_GOAL_PARAMETER_LIST(X)
#undef X
        NULL};
static const cr_field number_options[] = {
    {ITEM_NUMBER("number", "", "the same for all components", ANY)},
    {ITEM_LIST("numbers", "one for each component", 1, target_numbers)},
    END,
};
static const cr_field parameter_fields[] = {
    {TEXT("of", of, "a body"), .otherwise = "the world"},
    {CHOICE("what", what, "which of its numbers", 0, parameter_names), .required = 1},
    {ONE_OF("min", min,
            "lower bound; a list shorter than the numbers begins again: [x, y, z] for every force",
            number_options),
     .otherwise = "none"},
    {ONE_OF("max", max, "upper bound, likewise", number_options), .otherwise = "none"},
    {ONE_OF("start", start, "where an optimisation starts", number_options),
     .otherwise = "what the scene says"},
    END,
};
#undef SPEC
const cr_form cr_format_parameter = {.name = "parameter",
                                     .about = "what the objective is differentiated by",
                                     .field = parameter_fields};

// ---- the whole

#define SPEC cr_scene_spec
static const cr_field body_item = {ITEM_OBJECT("body", "", cr_format_body)};
static const cr_field pair_item = {ITEM_OBJECT("pair", "", cr_format_pair)};
static const cr_field parameter_item = {ITEM_OBJECT("parameter", "", cr_format_parameter)};
static const cr_field scene_fields[] = {
    {INTEGER("carom", version, "version of the format: 1", 1, 1 TO 1), .required = 1},
    {TEXT("title", title, "for people")},
    {TEXT("about", about, "for people")},
    {OBJECT("world", world, "what belongs to no body", cr_format_world)},
    {.row = {"materials", "", "numbers that several bodies share, by name", 0, 0, 0, AT(materials),
             0},
     .kind = CR_FIELD_MAP,
     .form = &cr_format_material},
    {LIST("bodies", bodies, "all that can touch", 0, body_item), .required = 1},
    {LIST("pairs", pairs, "contacts that are special", 0, pair_item)},
    {OBJECT("objective", objective, "what should become small", cr_format_objective)},
    {LIST("parameters", parameters, "what the objective is differentiated by", 0, parameter_item)},
    {.row = {"$schema", "", "for editors", 0, 0, 0, AT(schema), 0}, .kind = CR_FIELD_TEXT},
    END,
};
#undef SPEC
const cr_form cr_format_scene = {.name = "scene", .about = "the whole file", .field = scene_fields};

const cr_form* const cr_format_all[] = {&cr_format_scene,
                                        &cr_format_world,
                                        &cr_format_material,
                                        &cr_format_body,
                                        &cr_format_mesh,
                                        &cr_format_sphere,
                                        &cr_format_capsule,
                                        &cr_format_turn,
                                        &cr_format_copies,
                                        &cr_format_script,
                                        &cr_format_key,
                                        &cr_format_pin,
                                        &cr_format_nodes,
                                        &cr_format_node_force,
                                        &cr_format_pair,
                                        &cr_format_objective,
                                        &cr_format_term,
                                        &cr_format_parameter,
                                        NULL};
