#include "scene/arcsim.h"
#include "math/quat.h"
#include "scene/form.h"
#include "scene/importer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double to_rad = 3.14159265358979323846 / 180.0;

typedef struct reader {
    cr_importer shared;
    const char* path;
} reader;

// x -> scale q x + t
typedef struct motion {
    cr_vec3 t;
    cr_quat q;
    double scale;
} motion;

static motion read_motion(const cr_importer* m, int32_t value)
{
    double v[3], turn[4] = {0, 0, 0, 0};
    motion out = {.q = cr_quat_identity()};
    cr_importer_three(m, value, "translate", v);
    out.t = cr_vec3_load(v);
    out.scale = cr_importer_number(m, value, "scale", 1.0);
    const int32_t rotate = cr_json_member(&m->from, value, "rotate");
    if (rotate >= 0) { // degrees, axis
        cr_form_numbers(&m->from, rotate, turn, 4);
        const cr_vec3 axis = cr_vec3_load(turn + 1);
        const double length = cr_vec3_norm(axis);
        if (length > 0.0) {
            out.q = cr_quat_from_rotation(cr_vec3_scale(turn[0] * to_rad / length, axis));
        }
    }
    return out;
}

// a after b
static motion compose(motion a, motion b)
{
    const cr_vec3 t = cr_mat3_apply(cr_quat_to_matrix(a.q), cr_vec3_scale(a.scale, b.t));
    return (motion){cr_vec3_add(t, a.t), cr_quat_mul(a.q, b.q), a.scale * b.scale};
}

static void put_motion(cr_importer* m, int32_t to, motion at)
{
    const double t[3] = {at.t.x, at.t.y, at.t.z};
    const double q[4] = {at.q.w, at.q.x, at.q.y, at.q.z};
    cr_json_add_numbers(&m->to, to, "position", t, 3);
    cr_json_add_numbers(&m->to, to, "quaternion", q, 4);
    if (at.scale != 1.0) {
        cr_json_add_number(&m->to, to, "scale", at.scale);
    }
}

// The motion that "motion": number names, -1 for none.
static int32_t find_motion(const cr_importer* m, int32_t object)
{
    const double number = cr_importer_number(m, object, "motion", -1.0);
    const int32_t motions = cr_json_member(&m->from, 0, "motions");
    const int32_t list = cr_json_child(&m->from, motions, (int32_t)number);
    return list >= 0 && cr_json_at(&m->from, list)->kind == CR_JSON_ARRAY &&
                   cr_json_at(&m->from, list)->count > 0
               ? list
               : -1;
}

// Keys of a motion as shifts and turns from its first one; `own` is what the mesh was moved by
// before. Pins do not turn.
static void put_script(cr_importer* m, int32_t keys, motion own, int turns, int32_t to)
{
    const int32_t script = cr_json_add(&m->to, to, "script", CR_JSON_OBJECT);
    cr_json_add_bool(&m->to, script, "smooth", 1);
    const int32_t list = cr_json_add(&m->to, script, "keys", CR_JSON_ARRAY);
    motion first = own;
    int turned = 0, scaled = 0;
    for (int32_t v = cr_json_at(&m->from, keys)->first, i = 0; v >= 0;
         v = cr_json_at(&m->from, v)->next, i++) {
        const int32_t transform = cr_json_member(&m->from, v, "transform");
        const motion at = compose(read_motion(m, transform), own);
        first = i == 0 ? at : first;
        const cr_vec3 s = cr_vec3_sub(at.t, first.t);
        const cr_vec3 w = cr_quat_to_rotation(cr_quat_mul(at.q, cr_quat_conjugate(first.q)));
        const double shift[3] = {s.x, s.y, s.z}, turn[3] = {w.x, w.y, w.z};
        const int32_t key = cr_json_add(&m->to, list, NULL, CR_JSON_OBJECT);
        cr_json_add_number(&m->to, key, "time", cr_importer_number(m, v, "time", 0.0));
        cr_json_add_numbers(&m->to, key, "shift", shift, 3);
        if (turns && cr_vec3_norm(w) > 0.0) {
            cr_json_add_numbers(&m->to, key, "turn", turn, 3);
        }
        turned |= cr_vec3_norm(w) > 0.0;
        scaled |= at.scale != first.scale;
    }
    if (scaled) {
        cr_importer_note(m, "a motion that changes size is carried over without the change");
    }
    if (turned && !turns) {
        cr_importer_note(m, "a motion of handles that turns is carried over without the turn");
    }
}

static void put_mesh(reader* r, int32_t object, int32_t to)
{
    cr_importer* m = &r->shared;
    const int32_t mesh = cr_json_add(&m->to, to, "mesh", CR_JSON_OBJECT);
    const char* name = "";
    const int32_t file = cr_json_member(&m->from, object, "mesh");
    char path[PATH_MAX];
    if (file >= 0) {
        name = cr_json_text(&m->from, file);
    }
    if (!cr_importer_locate(r->path, name, path)) {
        cr_importer_note(m, "the mesh %.200s was not found; the scene names it as it is", name);
        snprintf(path, sizeof path, "%s", name);
    }
    cr_json_add_string(&m->to, mesh, "file", path);
}

// ---- cloth

// stretching[0] is the law at zero strain: W = (k0 Euu^2 + 2 k1 Euu Evv + k2 Evv^2 + k3 Euv^2)/2,
// where ours has 2 c33 Euv^2: c33 = k3/4. bending[angle][0] are the stiffnesses of a hinge,
// E = k l^2 theta^2 / (8 (A0 + A1)), where ours is 3 bend l^2 theta^2 / (2 (A0 + A1)): bend = k/12;
// the three directions (0, 45, 90 degrees) are averaged.
static void put_material_data(cr_importer* m, const cr_json* data, int32_t material, int32_t to)
{
    const double thicken = cr_importer_number(m, material, "thicken", 1.0);
    const double density = thicken * cr_importer_number(m, material, "density_mult", 1.0);
    const double stretch = thicken * cr_importer_number(m, material, "stretching_mult", 1.0);
    const double bend = thicken * cr_importer_number(m, material, "bending_mult", 1.0);
    const int32_t stretching = cr_json_child(data, cr_json_member(data, 0, "stretching"), 0);
    const int32_t bending = cr_json_member(data, 0, "bending");
    const int32_t mass = cr_json_member(data, 0, "density");
    double k[4] = {0, 0, 0, 0}, b[3] = {0, 0, 0};
    if (mass >= 0) {
        cr_json_add_number(&m->to, to, "density", density * cr_json_at(data, mass)->number);
    }
    if (stretching >= 0) {
        cr_form_numbers(data, stretching, k, 4);
        cr_json_add_number(&m->to, to, "c11", stretch * k[0]);
        cr_json_add_number(&m->to, to, "c12", stretch * k[1]);
        cr_json_add_number(&m->to, to, "c22", stretch * k[2]);
        cr_json_add_number(&m->to, to, "c33", stretch * k[3] / 4.0);
    }
    if (bending >= 0) {
        for (int i = 0; i < 3; i++) {
            const int32_t row = cr_json_child(data, bending, i);
            if (row >= 0) {
                cr_form_numbers(data, row, &b[i], 1);
            }
        }
        cr_json_add_number(&m->to, to, "bend", bend * (b[0] + 2.0 * b[1] + b[2]) / 4.0 / 12.0);
    }
}

static carom_status put_material(reader* r, int32_t cloth, int32_t to)
{
    static const char* const known[] = {
        "data", "thicken", "density_mult", "bending_mult", "stretching_mult", "damping", NULL};
    cr_importer* m = &r->shared;
    const int32_t materials = cr_json_member(&m->from, cloth, "materials");
    const int32_t material = cr_json_child(&m->from, materials, 0);
    if (material < 0) {
        cr_importer_note(m, "a cloth without materials takes carom's own");
        return CAROM_OK;
    }
    if (cr_json_at(&m->from, materials)->count > 1) {
        cr_importer_note(m, "of several materials of one cloth the first is carried over");
    }
    cr_importer_note_unknown(m, material, "materials.", known);
    const int32_t data = cr_json_member(&m->from, material, "data");
    const char* name = data < 0 ? "" : cr_json_text(&m->from, data);
    char path[PATH_MAX];
    if (!cr_importer_locate(r->path, name, path)) {
        cr_importer_note(m, "the material %.200s was not found; the cloth takes carom's own", name);
        return CAROM_OK;
    }
    cr_json file = {0};
    const carom_status status = cr_json_load(&file, path, m->error);
    if (status == CAROM_OK) {
        put_material_data(m, &file, material, to);
        const double damping = cr_importer_number(m, material, "damping", 0.0);
        if (damping > 0.0) {
            cr_json_add_number(&m->to, to, "damping", damping);
            cr_json_add_number(&m->to, to, "bend_damping", damping);
        }
        cr_importer_note(m,
                         "%.200s: its law at zero strain is carried over, its change with strain "
                         "and curvature is not; the bending is the mean of its directions",
                         name);
    }
    cr_json_release(&file);
    return status;
}

static void put_pins(reader* r, int32_t index, int32_t to)
{
    static const char* const known[] = {"type", "nodes", "cloth", "motion", NULL};
    cr_importer* m = &r->shared;
    const int32_t handles = cr_json_member(&m->from, 0, "handles");
    int32_t pins = -1;
    for (int32_t v = handles < 0 ? -1 : cr_json_at(&m->from, handles)->first; v >= 0;
         v = cr_json_at(&m->from, v)->next) {
        const int32_t type = cr_json_member(&m->from, v, "type");
        const int32_t nodes = cr_json_member(&m->from, v, "nodes");
        if ((int32_t)cr_importer_number(m, v, "cloth", 0.0) != index) {
            continue;
        }
        if (nodes < 0 || (type >= 0 && strcmp(cr_json_text(&m->from, type), "node") != 0)) {
            cr_importer_note(m, "a handle that is not a list of nodes is not carried over");
            continue;
        }
        cr_importer_note_unknown(m, v, "handles.", known);
        pins = pins < 0 ? cr_json_add(&m->to, to, "pins", CR_JSON_ARRAY) : pins;
        const int32_t pin = cr_json_add(&m->to, pins, NULL, CR_JSON_OBJECT);
        const int32_t list = cr_json_add(&m->to, pin, "nodes", CR_JSON_ARRAY);
        for (int32_t n = cr_json_at(&m->from, nodes)->first; n >= 0;
             n = cr_json_at(&m->from, n)->next) {
            cr_json_add_number(&m->to, list, NULL, cr_json_at(&m->from, n)->number);
        }
        const int32_t keys = find_motion(m, v);
        if (keys >= 0) {
            const motion none = {.q = cr_quat_identity(), .scale = 1.0};
            put_script(m, keys, none, 0, pin);
        }
    }
}

static carom_status put_cloth(reader* r, int32_t cloth, int32_t index, double friction,
                              int32_t list)
{
    static const char* const known[] = {"mesh", "transform", "velocity", "materials", NULL};
    cr_importer* m = &r->shared;
    const int32_t to = cr_json_add(&m->to, list, NULL, CR_JSON_OBJECT);
    const int32_t wind = cr_json_member(&m->from, 0, "wind");
    const int32_t velocity = cr_json_member(&m->from, cloth, "velocity");
    const motion at = read_motion(m, cr_json_member(&m->from, cloth, "transform"));
    double v[3];
    char name[40];
    snprintf(name, sizeof name, "cloth%d", index);
    cr_json_add_string(&m->to, to, "name", name);
    cr_json_add_string(&m->to, to, "type", "cloth");
    put_mesh(r, cloth, to);
    put_motion(m, to, at);
    cr_json_add_string(&m->to, to, "rest", "uv"); // the transform scales the rest shape, too
    if (at.scale != 1.0) {
        cr_json_add_number(&m->to, to, "rest_scale", at.scale);
    }
    cr_importer_carry(m, velocity, "linear", to, "velocity", 1.0);
    if (cr_importer_three(m, velocity, "angular", v)) {
        cr_importer_note(m, "the angular velocity of a cloth is not carried over");
    }
    cr_json_add_number(&m->to, to, "friction", friction);
    cr_json_add_number(&m->to, to, "drag_normal", cr_importer_number(m, wind, "density", 1.0));
    cr_json_add_number(&m->to, to, "drag_tangent", cr_importer_number(m, wind, "drag", 0.0));
    cr_importer_note_unknown(m, cloth, "cloths.", known);
    const carom_status status = put_material(r, cloth, to);
    put_pins(r, index, to);
    return status;
}

// ---- obstacles

static void put_obstacle(reader* r, int32_t obstacle, int32_t index, double friction, int32_t list)
{
    static const char* const known[] = {"mesh", "transform", "motion", NULL};
    cr_importer* m = &r->shared;
    const int32_t to = cr_json_add(&m->to, list, NULL, CR_JSON_OBJECT);
    const int32_t keys = find_motion(m, obstacle);
    motion at = read_motion(m, cr_json_member(&m->from, obstacle, "transform"));
    char name[40];
    snprintf(name, sizeof name, "obstacle%d", index);
    cr_json_add_string(&m->to, to, "name", name);
    cr_json_add_string(&m->to, to, "type", keys < 0 ? "fixed" : "kinematic");
    put_mesh(r, obstacle, to);
    if (keys >= 0) {
        const int32_t first = cr_json_at(&m->from, keys)->first;
        const motion own = at;
        at = compose(read_motion(m, cr_json_member(&m->from, first, "transform")), own);
        put_script(m, keys, own, 1, to);
    }
    put_motion(m, to, at);
    cr_json_add_number(&m->to, to, "friction", friction);
    cr_importer_note_unknown(m, obstacle, "obstacles.", known);
}

// ---- the whole

// Friction of two bodies is the geometric mean of theirs: with f of cloth on cloth, g of cloth on
// obstacle, an obstacle has g^2/f.
static carom_status carry(reader* r)
{
    static const char* const known[] = {
        "frame_time", "frame_steps", "end_time", "end_frame", "cloths",       "handles", "motions",
        "obstacles",  "gravity",     "wind",     "friction",  "obs_friction", NULL};
    cr_importer* m = &r->shared;
    const int32_t cloths = cr_json_member(&m->from, 0, "cloths");
    const int32_t obstacles = cr_json_member(&m->from, 0, "obstacles");
    if (cloths < 0 || cr_json_at(&m->from, cloths)->kind != CR_JSON_ARRAY) {
        return cr_importer_refuse(m, 0, "there are no \"cloths\"; this is not an ARCSim scene");
    }
    const double frame = cr_importer_number(m, 0, "frame_time", 0.04);
    const double steps = cr_importer_number(m, 0, "frame_steps", 1.0);
    const double last = cr_importer_number(m, 0, "end_frame", 100.0);
    const double f = cr_importer_number(m, 0, "friction", 0.6);
    const double g = cr_importer_number(m, 0, "obs_friction", 0.3);
    double gravity[3];
    cr_importer_three(m, 0, "gravity", gravity);
    const int32_t root = cr_json_add(&m->to, -1, NULL, CR_JSON_OBJECT);
    cr_json_add_number(&m->to, root, "carom", 1);
    const int32_t world = cr_json_add(&m->to, root, "world", CR_JSON_OBJECT);
    cr_json_add_numbers(&m->to, world, "gravity", gravity, 3);
    cr_json_add_number(&m->to, world, "dt", frame / (steps >= 1.0 ? steps : 1.0));
    cr_json_add_number(&m->to, world, "duration",
                       cr_importer_number(m, 0, "end_time", last * frame));
    cr_importer_carry(m, cr_json_member(&m->from, 0, "wind"), "velocity", world, "wind", 1.0);
    cr_importer_note_unknown(m, 0, "", known);
    const int32_t list = cr_json_add(&m->to, root, "bodies", CR_JSON_ARRAY);
    carom_status status = CAROM_OK;
    int32_t i = 0;
    for (int32_t v = cr_json_at(&m->from, cloths)->first; v >= 0 && status == CAROM_OK;
         v = cr_json_at(&m->from, v)->next) {
        status = put_cloth(r, v, i++, f, list);
    }
    i = 0;
    for (int32_t v = obstacles < 0 ? -1 : cr_json_at(&m->from, obstacles)->first; v >= 0;
         v = cr_json_at(&m->from, v)->next) {
        put_obstacle(r, v, i++, f > 0.0 ? g * g / f : 0.0, list);
    }
    return status;
}

carom_status cr_arcsim_import(const char* path, char** text, char** notes, carom_error* error)
{
    reader r = {.shared = {.error = error}, .path = path};
    carom_status status = cr_json_load(&r.shared.from, path, error);
    if (status == CAROM_OK) {
        status = carry(&r);
    }
    return cr_importer_finish(&r.shared, status, text, notes);
}
