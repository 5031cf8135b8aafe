#include "scene/rigid_ipc.h"
#include "scene/form.h"
#include "scene/importer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double to_rad = 3.14159265358979323846 / 180.0;

typedef struct reader {
    cr_importer shared;
    char meshes[PATH_MAX]; // from the root
} reader;

// ---- bodies

enum { LOCKS = 6 };

static int read_locks(const cr_importer* m, int32_t body, int lock[LOCKS])
{
    const int32_t v = cr_json_member(&m->from, body, "is_dof_fixed");
    int all = v >= 0;
    int32_t item = v < 0 ? -1 : cr_json_at(&m->from, v)->first;
    for (int i = 0; i < LOCKS; i++) {
        lock[i] = 0;
        if (v >= 0 && cr_json_at(&m->from, v)->kind == CR_JSON_BOOL) {
            lock[i] = cr_json_at(&m->from, v)->number != 0.0;
        } else if (item >= 0) {
            lock[i] = cr_json_at(&m->from, item)->number != 0.0;
            item = cr_json_at(&m->from, item)->next;
        }
        all = all && lock[i];
    }
    return all;
}

// Numbers of nested arrays, copied as they are.
static void copy_lists(cr_importer* m, int32_t from, int32_t to, const char* name)
{
    const int32_t out = cr_json_add(&m->to, to, name, CR_JSON_ARRAY);
    for (int32_t v = cr_json_at(&m->from, from)->first; v >= 0; v = cr_json_at(&m->from, v)->next) {
        double row[3] = {0, 0, 0};
        cr_form_numbers(&m->from, v, row, 3);
        cr_json_add_numbers(&m->to, out, NULL, row, 3);
    }
}

static carom_status carry_mesh(reader* r, int32_t body, int is_rigid, int32_t to)
{
    cr_importer* m = &r->shared;
    const int32_t mesh = cr_json_add(&m->to, to, "mesh", CR_JSON_OBJECT);
    const int32_t file = cr_json_member(&m->from, body, "mesh");
    const int32_t vertices = cr_json_member(&m->from, body, "vertices");
    const int32_t faces = cr_json_member(&m->from, body, "faces");
    double size[3];
    if (file >= 0) {
        char path[2 * PATH_MAX];
        const char* name = cr_json_text(&m->from, file);
        snprintf(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : r->meshes,
                 name[0] == '/' ? "" : "/", name);
        cr_json_add_string(&m->to, mesh, "file", path);
    } else if (vertices >= 0 && faces >= 0) {
        copy_lists(m, vertices, mesh, "vertices");
        copy_lists(m, faces, mesh, "faces");
    } else {
        return cr_importer_refuse(m, body,
                                  "this body has neither \"mesh\" nor \"vertices\" and \"faces\"");
    }
    if (is_rigid) { // some of their meshes have seams of equal vertices
        cr_json_add_bool(&m->to, mesh, "repair", 1);
    }
    if (cr_importer_three(m, body, "dimensions", size)) {
        cr_json_add_numbers(&m->to, mesh, "size", size, 3);
    }
    return CAROM_OK;
}

// kinematic_poses are places at equal times up to kinematic_max_time; shifts count from the first.
static void carry_script(cr_importer* m, int32_t body, int32_t to)
{
    const int32_t poses = cr_json_member(&m->from, body, "kinematic_poses");
    double v[3];
    if (poses < 0 || cr_json_at(&m->from, poses)->count < 2) {
        if (cr_importer_three(m, body, "linear_velocity", v) ||
            cr_importer_three(m, body, "angular_velocity", v)) {
            const int32_t script = cr_json_add(&m->to, to, "script", CR_JSON_OBJECT);
            cr_importer_carry(m, body, "linear_velocity", script, "velocity", 1.0);
            cr_importer_carry(m, body, "angular_velocity", script, "angular_velocity", to_rad);
            const double until =
                cr_importer_number(m, body, "kinematic_max_time", (double)INFINITY);
            if (isfinite(until)) {
                cr_json_add_number(&m->to, script, "until", until);
            }
        }
        return;
    }
    const int32_t keys = cr_json_add(&m->to, cr_json_add(&m->to, to, "script", CR_JSON_OBJECT),
                                     "keys", CR_JSON_ARRAY);
    const double end = cr_importer_number(m, body, "kinematic_max_time", 1.0);
    const int32_t count = cr_json_at(&m->from, poses)->count;
    double first[3] = {0, 0, 0};
    int32_t i = 0, turned = 0;
    for (int32_t p = cr_json_at(&m->from, poses)->first; p >= 0;
         p = cr_json_at(&m->from, p)->next, i++) {
        double at[3] = {0, 0, 0}, turn[3];
        cr_importer_three(m, p, "position", at);
        turned |= cr_importer_three(m, p, "rotation", turn);
        for (int k = 0; k < 3; k++) {
            first[k] = i == 0 ? at[k] : first[k];
            at[k] -= first[k];
        }
        const int32_t key = cr_json_add(&m->to, keys, NULL, CR_JSON_OBJECT);
        cr_json_add_number(&m->to, key, "time", end * i / (count - 1));
        cr_json_add_numbers(&m->to, key, "shift", at, 3);
    }
    if (turned) {
        cr_importer_note(m, "rotations of kinematic_poses are not carried over");
    }
}

static void carry_locks(cr_importer* m, const int lock[LOCKS], int32_t to)
{
    static const char* const names[] = {"x", "y", "z", "rx", "ry", "rz"};
    int32_t list = -1;
    for (int i = 0; i < LOCKS; i++) {
        if (lock[i]) {
            list = list < 0 ? cr_json_add(&m->to, to, "lock", CR_JSON_ARRAY) : list;
            cr_json_add_string(&m->to, list, NULL, names[i]);
        }
    }
}

static const char* type_of(const cr_importer* m, int32_t body, int all_locked)
{
    const int32_t type = cr_json_member(&m->from, body, "type");
    const char* said = type < 0 ? "dynamic" : cr_json_text(&m->from, type);
    if (strcmp(said, "kinematic") == 0) {
        return "kinematic";
    }
    return strcmp(said, "static") == 0 || all_locked ? "fixed" : "rigid";
}

static carom_status carry_body(reader* r, int32_t body, int32_t index, int32_t list)
{
    cr_importer* m = &r->shared;
    static const char* const known[] = {"mesh",
                                        "vertices",
                                        "edges",
                                        "faces",
                                        "density",
                                        "position",
                                        "rotation",
                                        "scale",
                                        "dimensions",
                                        "linear_velocity",
                                        "angular_velocity",
                                        "force",
                                        "torque",
                                        "is_dof_fixed",
                                        "type",
                                        "kinematic_poses",
                                        "kinematic_max_time",
                                        "group_id",
                                        "enabled",
                                        NULL};
    const int32_t enabled = cr_json_member(&m->from, body, "enabled");
    if (enabled >= 0 && cr_json_at(&m->from, enabled)->number == 0.0) {
        return CAROM_OK;
    }
    char where[40];
    int lock[LOCKS];
    double v[3];
    const char* type = type_of(m, body, read_locks(m, body, lock));
    const int32_t to = cr_json_add(&m->to, list, NULL, CR_JSON_OBJECT);
    snprintf(where, sizeof where, "body%d", index);
    cr_json_add_string(&m->to, to, "name", where);
    cr_json_add_string(&m->to, to, "type", type);
    const carom_status status = carry_mesh(r, body, strcmp(type, "rigid") == 0, to);
    if (status != CAROM_OK) {
        return status;
    }
    snprintf(where, sizeof where, "rigid_bodies[%d].", index);
    cr_importer_note_unknown(m, body, where, known);
    cr_importer_carry(m, body, "position", to, "position", 1.0);
    if (cr_importer_three(m, body, "rotation", v) && (v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0)) {
        cr_json_add_numbers(&m->to, to, "euler_degrees", v, 3);
    }
    if (cr_importer_three(m, body, "scale", v) &&
        cr_json_member(&m->from, body, "dimensions") < 0 &&
        (v[0] != 1.0 || v[1] != 1.0 || v[2] != 1.0)) {
        cr_json_add_numbers(&m->to, to, "scale", v, 3);
    }
    const double group = cr_importer_number(m, body, "group_id", -1.0);
    if (group >= 0.0) {
        cr_json_add_number(&m->to, to, "group", group);
    }
    if (strcmp(type, "kinematic") == 0) {
        carry_script(m, body, to);
    }
    if (strcmp(type, "rigid") == 0) {
        cr_json_add_number(&m->to, to, "density", cr_importer_number(m, body, "density", 1000.0));
        cr_importer_carry(m, body, "linear_velocity", to, "velocity", 1.0);
        cr_importer_carry(m, body, "angular_velocity", to, "angular_velocity", to_rad);
        cr_importer_carry(m, body, "force", to, "force", 1.0);
        cr_importer_carry(m, body, "torque", to, "torque", to_rad);
        carry_locks(m, lock, to);
    }
    return CAROM_OK;
}

// ---- the whole

static carom_status carry(reader* r)
{
    cr_importer* m = &r->shared;
    static const char* const known[] = {"scene_type", "solver",         "timestep",
                                        "max_time",   "max_iterations", "rigid_body_problem",
                                        NULL};
    static const char* const problem_known[] = {"gravity", "coefficient_friction",
                                                "coefficient_restitution", "rigid_bodies", NULL};
    const int32_t problem = cr_json_member(&m->from, 0, "rigid_body_problem");
    const int32_t bodies = cr_json_member(&m->from, problem, "rigid_bodies");
    if (bodies < 0 || cr_json_at(&m->from, bodies)->kind != CR_JSON_ARRAY) {
        return cr_importer_refuse(
            m, 0,
            "there is no rigid_body_problem.rigid_bodies; this is not a rigid-ipc "
            "scene");
    }
    const int32_t root = cr_json_add(&m->to, -1, NULL, CR_JSON_OBJECT);
    cr_json_add_number(&m->to, root, "carom", 1);
    const int32_t world = cr_json_add(&m->to, root, "world", CR_JSON_OBJECT);
    const double dt = cr_importer_number(m, 0, "timestep", 0.01);
    double gravity[3] = {0, 0, 0};
    cr_importer_three(m, problem, "gravity", gravity);
    cr_json_add_numbers(&m->to, world, "gravity", gravity, 3);
    cr_json_add_number(&m->to, world, "dt", dt);
    cr_json_add_number(&m->to, world, "duration",
                       cr_importer_number(m, 0, "max_time",
                                          dt * cr_importer_number(m, 0, "max_iterations", 1000)));
    cr_json_add_number(&m->to, world, "friction",
                       cr_importer_number(m, problem, "coefficient_friction", 0.0));
    cr_json_add_number(&m->to, world, "restitution", 0.0);
    if (cr_importer_number(m, problem, "coefficient_restitution", 0.0) > 0.0) {
        cr_importer_note(m, "coefficient_restitution is not carried over: impacts do not bounce");
    }
    cr_importer_note_unknown(m, 0, "", known);
    cr_importer_note_unknown(m, problem, "rigid_body_problem.", problem_known);
    const int32_t list = cr_json_add(&m->to, root, "bodies", CR_JSON_ARRAY);
    carom_status status = CAROM_OK;
    int32_t i = 0;
    for (int32_t v = cr_json_at(&m->from, bodies)->first; v >= 0 && status == CAROM_OK;
         v = cr_json_at(&m->from, v)->next, i++) {
        status = carry_body(r, v, i, list);
    }
    return status;
}

carom_status cr_rigid_ipc_import(const char* path, const char* meshes, char** text, char** notes,
                                 carom_error* error)
{
    reader r = {.shared = {.error = error}};
    carom_status status = cr_json_load(&r.shared.from, path, error);
    const int found =
        meshes ? realpath(meshes, r.meshes) != NULL : cr_importer_locate(path, "meshes", r.meshes);
    if (status == CAROM_OK && !found) {
        status = cr_status_refuse(error, CAROM_ERR_FILE,
                                  "%.300s: the folder of its meshes is not %s; name it", path,
                                  meshes ? "there" : "beside it or above it");
    }
    if (status == CAROM_OK) {
        status = carry(&r);
    }
    return cr_importer_finish(&r.shared, status, text, notes);
}
