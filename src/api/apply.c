#include "api/handles.h"
#include "carom/grad.h"
#include "core/memory.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Puts theta into a scene's text, entry by entry.
typedef struct writer {
    const cr_parameters* parameters;
    const cr_model* model; // with theta
    carom_scene* scene;
    char notes[2000];
    carom_status status;
    carom_error* error;
} writer;

static void note(writer* w, const cr_parameters_slot* slot, const char* why)
{
    const size_t at = strlen(w->notes);
    snprintf(w->notes + at, sizeof w->notes - at, "%s of %s: %s\n",
             cr_goal_parameter_name(slot->what),
             slot->body >= 0 ? w->model->name[slot->body] : "the world", why);
}

// The path of a body in the scene; 0 when it has none of its own: a copy among others.
static int body_path(const writer* w, int32_t body, char* out, size_t size)
{
    const char* name = w->model->name[body];
    const int unnamed = strncmp(name, "bodies[", 7) == 0 && !strchr(name + 7, '[');
    if (!unnamed && strpbrk(name, ".[]")) {
        return 0;
    }
    snprintf(out, size, unnamed ? "%s" : "bodies.%s", name);
    return 1;
}

// The body's own entry in the document, -1: not found.
static int32_t body_value(const writer* w, int32_t body)
{
    const cr_json* json = &w->scene->text.json;
    const int32_t bodies = cr_json_member(json, 0, "bodies");
    int32_t i = 0;
    for (int32_t v = cr_json_at(json, bodies)->first; v >= 0; v = cr_json_at(json, v)->next, i++) {
        const int32_t name = cr_json_member(json, v, "name");
        char own[32];
        snprintf(own, sizeof own, "bodies[%d]", i);
        if (strcmp(name >= 0 ? cr_json_text(json, name) : own, w->model->name[body]) == 0) {
            return v;
        }
    }
    return -1;
}

static int has(const writer* w, int32_t body, const char* key)
{
    const int32_t value = body_value(w, body);
    return value >= 0 && cr_json_member(&w->scene->text.json, value, key) >= 0;
}

// Sets path to one number, or to a list of count numbers in rows of `per`; 0: no rows.
static void set(writer* w, const char* path, const double* value, int32_t count, int32_t per)
{
    const size_t size = 32 * (size_t)count + 64;
    char* text = w->status == CAROM_OK ? cr_memory_take(size, 1) : NULL;
    if (!text) {
        w->status = w->status == CAROM_OK ? CAROM_ERR_MEMORY : w->status;
        return;
    }
    size_t at = 0;
    at += (size_t)snprintf(text + at, size - at, "%s", count > 1 || per ? "[" : "");
    for (int32_t i = 0; i < count; i++) {
        const int begins = per && i % per == 0, ends = per && i % per == per - 1;
        at += (size_t)snprintf(text + at, size - at, "%s%s%.17g%s", i ? "," : "", begins ? "[" : "",
                               value[i], ends ? "]" : "");
    }
    snprintf(text + at, size - at, "%s", count > 1 || per ? "]" : "");
    w->status = carom_scene_set(w->scene, path, text, w->error);
    cr_memory_free(text);
}

static void set_of(writer* w, const char* body, const char* key, const double* value, int32_t count,
                   int32_t per)
{
    char path[400];
    snprintf(path, sizeof path, "%s.%s", body, key);
    set(w, path, value, count, per);
}

// The orientation of the mesh by the key the scene uses for it.
static void set_rotation(writer* w, const char* path, int32_t body)
{
    const int32_t f = w->model->bodies.frame[body];
    const cr_quat q = cr_quat_normalize(
        cr_quat_mul(cr_quat_load(w->model->q0 + 4 * f), cr_quat_load(w->model->own_q + 4 * f)));
    double out[4];
    if (has(w, body, "euler_degrees")) { // R = Rz Ry Rx
        const double degrees = 180.0 / 3.14159265358979323846;
        const cr_mat3 r = cr_quat_to_matrix(q);
        out[0] = degrees * cr_atan2(r.m[2][1], r.m[2][2]);
        out[1] = degrees * cr_asin(-r.m[2][0]);
        out[2] = degrees * cr_atan2(r.m[1][0], r.m[0][0]);
        set_of(w, path, "euler_degrees", out, 3, 0);
    } else if (has(w, body, "quaternion")) {
        cr_quat_store(out, q);
        set_of(w, path, "quaternion", out, 4, 0);
    } else {
        cr_vec3_store(out, cr_quat_to_rotation(q));
        set_of(w, path, "rotation", out, 3, 0);
    }
}

// Where the scene's position of a body is by now: the origin of its mesh, or its centre of mass.
static void set_position(writer* w, const char* path, int32_t body)
{
    const cr_json* json = &w->scene->text.json;
    const int32_t f = w->model->bodies.frame[body], value = body_value(w, body);
    const int32_t origin = value >= 0 ? cr_json_member(json, value, "origin") : -1;
    double out[3];
    cr_vec3 at = cr_vec3_load(w->model->t0 + 3 * f);
    if (origin < 0 || strcmp(cr_json_text(json, origin), "center") != 0) {
        const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(w->model->q0 + 4 * f));
        at = cr_vec3_add(at, cr_mat3_apply(r, cr_vec3_load(w->model->own_t + 3 * f)));
    }
    cr_vec3_store(out, at);
    set_of(w, path, "position", out, 3, 0);
}

// Moments in the mesh's axes: own^T diag own, own leading from the mesh's axes to the principal.
static void set_inertia(writer* w, const char* path, int32_t body)
{
    const int32_t f = w->model->bodies.frame[body];
    const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(w->model->own_q + 4 * f));
    const cr_mat3 d = cr_mat3_diagonal(cr_vec3_load(w->model->bodies.inertia + 3 * f));
    const cr_mat3 i = cr_mat3_mul(cr_mat3_transpose(own), cr_mat3_mul(d, own));
    const double out[6] = {i.m[0][0], i.m[1][1], i.m[2][2], i.m[0][1], i.m[0][2], i.m[1][2]};
    set_of(w, path, "inertia", out, 6, 0);
}

static void set_weight(writer* w, const cr_parameters_slot* slot, const char* path)
{
    const int32_t f = w->model->bodies.frame[slot->body];
    if (slot->what != CR_GOAL_OF_DENSITY || has(w, slot->body, "mass") ||
        slot->what == CR_GOAL_OF_INERTIA) {
        set_of(w, path, "mass", w->model->bodies.mass + f, 1, 0);
    }
    if (slot->what == CR_GOAL_OF_INERTIA || has(w, slot->body, "inertia")) {
        set_inertia(w, path, slot->body);
    }
}

static void set_script(writer* w, const cr_parameters_slot* slot, const char* path,
                       const double* theta)
{
    const cr_json* json = &w->scene->text.json;
    const int32_t value = body_value(w, slot->body);
    const int32_t script = value >= 0 ? cr_json_member(json, value, "script") : -1;
    if (script < 0 || cr_json_member(json, script, "keys") < 0) {
        note(w, slot, "only the keys of a body's own script can be written");
        return;
    }
    for (int32_t k = 0; k < slot->count / 6; k++) {
        char key[460];
        snprintf(key, sizeof key, "%s.script.keys[%d].shift", path, k);
        set(w, key, theta + 6 * k, 3, 0);
        snprintf(key, sizeof key, "%s.script.keys[%d].turn", path, k);
        set(w, key, theta + 6 * k + 3, 3, 0);
    }
}

static void set_forces(writer* w, const cr_parameters_slot* slot, const char* path,
                       const double* theta)
{
    static const double none[3] = {0, 0, 0};
    const int torque = slot->what == CR_GOAL_OF_TORQUES;
    if (w->model->body_sheet[slot->body] >= 0) {
        note(w, slot, "forces on all nodes are node_forces in a scene");
        return;
    }
    // where there was a list before, the numbers have the constant force in them
    if (has(w, slot->body, torque ? "torques" : "forces")) {
        set_of(w, path, torque ? "torque" : "force", none, 3, 0);
    }
    set_of(w, path, torque ? "torques" : "forces", theta, slot->count, 3);
}

// Moduli by what stands for them, and those that the body names itself.
static void set_stretch(writer* w, const char* path, int32_t body)
{
    const cr_cloth_material* m = &w->model->material[w->model->body_sheet[body]];
    const struct {
        const char* key;
        double value;
    } modulus[] = {{"c11", m->c11}, {"c22", m->c22}, {"c12", m->c12}, {"c33", m->c33}};
    const double poisson = m->c12 / m->c11, young = m->c11 * (1.0 - poisson * poisson);
    set_of(w, path, "stretch", &young, 1, 0);
    set_of(w, path, "poisson", &poisson, 1, 0);
    for (size_t i = 0; i < sizeof modulus / sizeof *modulus; i++) {
        if (has(w, body, modulus[i].key)) {
            set_of(w, path, modulus[i].key, &modulus[i].value, 1, 0);
        }
    }
}

static void set_slot(writer* w, const cr_parameters_slot* slot, const double* theta)
{
    char path[300];
    if (slot->body < 0) {
        set(w, slot->what == CR_GOAL_OF_GRAVITY ? "world.gravity" : "world.wind", theta, 3, 0);
        return;
    }
    if (!body_path(w, slot->body, path, sizeof path)) {
        note(w, slot, "it is one of several copies, which share their numbers in a scene");
        return;
    }
    const int soft = w->model->body_sheet[slot->body] >= 0;
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
    case CR_GOAL_OF_ROTATION:
        if (soft) {
            set_of(w, path, "position", theta, 3, 0);
            break;
        }
        set_position(w, path, slot->body);
        if (slot->what == CR_GOAL_OF_ROTATION) {
            set_rotation(w, path, slot->body);
        }
        break;
    case CR_GOAL_OF_MASS:
    case CR_GOAL_OF_INERTIA:
        set_weight(w, slot, path);
        break;
    case CR_GOAL_OF_DENSITY:
        set_of(w, path, "density", theta, 1, 0);
        if (!soft) {
            set_weight(w, slot, path);
        }
        break;
    case CR_GOAL_OF_CENTER:
        if (has(w, slot->body, "scale")) {
            note(w, slot, "the body is scaled; divide by its scale");
            break;
        }
        set_of(w, path, "center_of_mass", theta, 3, 0);
        set_position(w, path, slot->body);
        break;
    case CR_GOAL_OF_STRETCH:
    case CR_GOAL_OF_POISSON:
        set_stretch(w, path, slot->body);
        break;
    case CR_GOAL_OF_FORCES:
    case CR_GOAL_OF_TORQUES:
        set_forces(w, slot, path, theta);
        break;
    case CR_GOAL_OF_SCRIPT:
        set_script(w, slot, path, theta);
        break;
    case CR_GOAL_OF_FORCE:
        if (soft) {
            note(w, slot, "forces on all nodes are node_forces in a scene");
            break;
        }
        set_of(w, path, "force", theta, 3, 0);
        break;
    case CR_GOAL_OF_VERTICES:
    case CR_GOAL_OF_REST:
    case CR_GOAL_OF_PINS:
        note(w, slot, "shapes belong to mesh files; take the numbers from the answer");
        break;
    default:
        set_of(w, path, cr_goal_parameter_name(slot->what), theta, slot->count, 0);
    }
}

static char* copy_text(const char* text)
{
    char* out = cr_memory_take(strlen(text) + 1, 1);
    if (out) {
        memcpy(out, text, strlen(text) + 1);
    }
    return out;
}

carom_status carom_problem_apply(const carom_problem* problem, const double* theta,
                                 carom_scene* scene, char** notes, carom_error* error)
{
    if (!problem || !theta || !scene) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "an argument is NULL");
    }
    cr_parameters* p = problem->inside.parameters;
    if (notes) {
        *notes = NULL;
    }
    writer w = {.parameters = p, .scene = scene, .error = error};
    w.status = cr_parameters_write(p, theta, error);
    w.model = cr_parameters_model(p);
    for (int32_t i = 0; i < cr_parameters_count(p) && w.status == CAROM_OK; i++) {
        const cr_parameters_slot* slot = cr_parameters_slot_at(p, i);
        set_slot(&w, slot, theta + slot->first);
    }
    if (w.status == CAROM_OK && notes) {
        *notes = copy_text(w.notes);
        w.status = *notes ? CAROM_OK : CAROM_ERR_MEMORY;
    }
    return w.status;
}
