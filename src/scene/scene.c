#include "scene/scene.h"
#include "core/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- checks across several members

static carom_status check_only(const cr_json* json, int32_t body, const cr_body_spec* spec,
                               cr_form_path* path, carom_error* error)
{
    const int32_t bit = 1 << spec->type;
    const char* type = cr_format_types[spec->type];
    for (const cr_field* f = cr_format_body.field; f->row.name; f++) {
        const int32_t member = cr_json_member(json, body, f->row.name);
        if (member >= 0 && f->only && !(f->only & bit)) {
            char who[80] = "";
            for (int i = 0; cr_format_types[i]; i++) {
                if (f->only & 1 << i) {
                    snprintf(who + strlen(who), sizeof who - strlen(who), "%s%s",
                             who[0] ? ", " : "", cr_format_types[i]);
                }
            }
            return cr_form_refuse(json, member, path, error,
                                  "is %s and has no \"%s\"; that is for bodies of type %s", type,
                                  f->row.name, who);
        }
    }
    for (const cr_param* p = cr_format_body.more; p && p->name; p++) {
        const int32_t member = cr_json_member(json, body, p->name);
        int shared = 0; // a body's own field of that name, such as density
        for (const cr_field* f = cr_format_body.field; f->row.name; f++) {
            shared = shared || strcmp(f->row.name, p->name) == 0;
        }
        if (member >= 0 && !shared && !(cr_format_body.more_only & bit)) {
            return cr_form_refuse(json, member, path, error,
                                  "is %s and has no \"%s\"; that is for bodies of type cloth", type,
                                  p->name);
        }
    }
    return CAROM_OK;
}

// At most one (or, required, exactly one) of the members named.
static carom_status check_one(const cr_json* json, int32_t value, const char* const* names,
                              int required, const cr_form_path* path, carom_error* error)
{
    const char* first = NULL;
    char list[200] = "";
    for (int i = 0; names[i]; i++) {
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", i ? ", " : "",
                 names[i]);
        const int32_t member = cr_json_member(json, value, names[i]);
        if (member >= 0 && first) {
            return cr_form_refuse(json, member, path, error,
                                  "has both \"%s\" and \"%s\"; one of them has to go", first,
                                  names[i]);
        }
        first = member >= 0 ? names[i] : first;
    }
    return required && !first ? cr_form_refuse(json, value, path, error, "needs one of %s", list)
                              : CAROM_OK;
}

static carom_status check_mesh(const cr_json* json, int32_t mesh, cr_form_path* path,
                               carom_error* error)
{
    const char* first = NULL;
    const size_t mark = cr_form_enter(path, "mesh", 0);
    carom_status status = CAROM_OK;
    for (int32_t v = cr_json_at(json, mesh)->first; v >= 0 && status == CAROM_OK;
         v = cr_json_at(json, v)->next) {
        const char* key = cr_json_key(json, v);
        if (key[0] == '#' || strcmp(key, "size") == 0 || strcmp(key, "faces") == 0 ||
            strcmp(key, "uv") == 0 || strcmp(key, "repair") == 0 || strcmp(key, "simplify") == 0) {
            continue;
        }
        if (first) {
            status =
                cr_form_refuse(json, v, path, error,
                               "has both \"%s\" and \"%s\"; one of them has to go", first, key);
        }
        first = key;
    }
    if (status == CAROM_OK && !first) {
        status = cr_form_refuse(json, mesh, path, error,
                                "names nothing; give it \"file\", \"vertices\" and \"faces\", or a "
                                "generator such as \"box\"");
    }
    cr_form_leave(path, mark);
    return status;
}

static carom_status check_script(const cr_json* json, int32_t script, cr_form_path* path,
                                 carom_error* error)
{
    const size_t mark = cr_form_enter(path, "script", 0);
    carom_status status = CAROM_OK;
    for (int i = 0; i < 3 && status == CAROM_OK; i++) {
        static const char* const steady[] = {"velocity", "angular_velocity", "until"};
        const char* const names[] = {"keys", steady[i], NULL};
        status = check_one(json, script, names, 0, path, error);
    }
    cr_script_spec spec;
    cr_form_read(json, script, &cr_format_script, &spec);
    double last = -1.0;
    int32_t i = 0;
    for (int32_t v = spec.keys < 0 ? -1 : cr_json_at(json, spec.keys)->first;
         v >= 0 && status == CAROM_OK; v = cr_json_at(json, v)->next, i++) {
        cr_key_spec key;
        cr_form_read(json, v, &cr_format_key, &key);
        if (!(key.time > last)) {
            status = cr_form_refuse(json, v, path, error,
                                    "has key %d at %g s, not after the one before it (%g s); times "
                                    "have to ascend",
                                    i, key.time, last);
        }
        last = key.time;
    }
    cr_form_leave(path, mark);
    return status;
}

static carom_status check_pins(const cr_json* json, int32_t pins, cr_form_path* path,
                               carom_error* error)
{
    carom_status status = CAROM_OK;
    int32_t i = 0;
    for (int32_t v = cr_json_at(json, pins)->first; v >= 0 && status == CAROM_OK;
         v = cr_json_at(json, v)->next, i++) {
        const int32_t script = cr_json_member(json, v, "script");
        const size_t mark = cr_form_enter(path, "pins", 0);
        cr_form_enter(path, NULL, i);
        status = script < 0 ? CAROM_OK : check_script(json, script, path, error);
        cr_form_leave(path, mark);
    }
    return status;
}

static carom_status check_body(const cr_json* json, int32_t body, cr_form_path* path,
                               carom_error* error)
{
    static const char* const shapes[] = {"mesh", "sphere", "capsule", NULL};
    static const char* const turns[] = {"rotation", "quaternion", "euler_degrees", NULL};
    static const char* const weights[] = {"mass", "density", NULL};
    cr_body_spec spec;
    cr_form_read(json, body, &cr_format_body, &spec);
    carom_status status = check_only(json, body, &spec, path, error);
    if (status == CAROM_OK) {
        status = check_one(json, body, shapes, 1, path, error);
    }
    if (status == CAROM_OK) {
        status = check_one(json, body, turns, 0, path, error);
    }
    if (status == CAROM_OK) {
        status = check_one(json, body, weights, 0, path, error);
    }
    if (status == CAROM_OK && spec.mesh >= 0) {
        status = check_mesh(json, spec.mesh, path, error);
    }
    if (status == CAROM_OK && spec.script >= 0) {
        status = check_script(json, spec.script, path, error);
    }
    if (status == CAROM_OK && spec.pins >= 0) {
        status = check_pins(json, spec.pins, path, error);
    }
    return status;
}

static carom_status check_scene(const cr_json* json, carom_error* error)
{
    cr_form_path path = {""};
    carom_status status = cr_form_check(json, 0, &cr_format_scene, &path, error);
    if (status != CAROM_OK) {
        return status;
    }
    const size_t mark = cr_form_enter(&path, "bodies", 0);
    int32_t i = 0;
    for (int32_t v = cr_json_at(json, cr_json_member(json, 0, "bodies"))->first;
         v >= 0 && status == CAROM_OK; v = cr_json_at(json, v)->next, i++) {
        const size_t inner = cr_form_enter(&path, NULL, i);
        status = check_body(json, v, &path, error);
        cr_form_leave(&path, inner);
    }
    cr_form_leave(&path, mark);
    return status;
}

// ---- loading

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory for the scene");
}

static char* copy_text(const char* text, size_t length)
{
    char* copy = cr_memory_take(length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
    }
    return copy;
}

static carom_status keep_or_empty(cr_scene* scene, carom_status status)
{
    if (status != CAROM_OK) {
        cr_scene_release(scene);
    }
    return status;
}

carom_status cr_scene_parse(cr_scene* scene, const char* text, size_t length, const char* name,
                            const char* folder, carom_error* error)
{
    cr_scene_release(scene);
    scene->folder = copy_text(folder, strlen(folder));
    carom_status status =
        scene->folder ? cr_json_parse(&scene->json, text, length, name, error) : no_memory(error);
    if (status == CAROM_OK) {
        status = check_scene(&scene->json, error);
    }
    return keep_or_empty(scene, status);
}

carom_status cr_scene_load(cr_scene* scene, const char* path, carom_error* error)
{
    const char* slash = strrchr(path, '/');
    cr_scene_release(scene);
    scene->folder =
        slash ? copy_text(path, (size_t)(slash - path) + (slash == path)) : copy_text(".", 1);
    carom_status status =
        scene->folder ? cr_json_load(&scene->json, path, error) : no_memory(error);
    if (status == CAROM_OK) {
        status = check_scene(&scene->json, error);
    }
    return keep_or_empty(scene, status);
}

void cr_scene_release(cr_scene* scene)
{
    cr_json_release(&scene->json);
    cr_memory_free(scene->folder);
    scene->folder = NULL;
}

// ---- editing

enum { LONGEST_STEP = 200 };

// The next step of a path: a name, or the number in brackets. Moves *at behind it.
static int next_step(const char** at, char name[LONGEST_STEP], int32_t* index)
{
    const char* s = *at;
    *index = -1;
    if (*s == '[') {
        char* end;
        const long n = strtol(s + 1, &end, 10);
        if (end == s + 1 || *end != ']' || n < 0 || n > INT32_MAX) {
            return 0;
        }
        *index = (int32_t)n;
        *at = end + 1;
        return 1;
    }
    s += *s == '.';
    const size_t n = strcspn(s, ".[");
    if (n == 0 || n >= LONGEST_STEP) {
        return 0;
    }
    memcpy(name, s, n);
    name[n] = 0;
    *at = s + n;
    return 1;
}

// The element of a list whose "name" is so.
static int32_t named(const cr_json* json, int32_t list, const char* name)
{
    for (int32_t v = cr_json_at(json, list)->first; v >= 0; v = cr_json_at(json, v)->next) {
        const int32_t its = cr_json_member(json, v, "name");
        if (its >= 0 && strcmp(cr_json_text(json, its), name) == 0) {
            return v;
        }
    }
    return -1;
}

static carom_status refuse_named(const cr_json* json, int32_t list, const char* path,
                                 const char* name, carom_error* error)
{
    const char* names[256];
    int n = 0;
    for (int32_t v = cr_json_at(json, list)->first; v >= 0 && n < 255;
         v = cr_json_at(json, v)->next) {
        const int32_t its = cr_json_member(json, v, "name");
        if (its >= 0) {
            names[n++] = cr_json_text(json, its);
        }
    }
    names[n] = NULL;
    const char* nearest = cr_form_nearest(name, names);
    return cr_status_refuse(error, CAROM_ERR_SCENE,
                            "%.200s: nothing there is named \"%.60s\"%s%s%s; elements are also "
                            "reached by [number]",
                            path, name, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                            nearest ? "\"?" : "");
}

// Follows the path from the root, adding members that are not there yet (*last is null then).
static carom_status follow(cr_json* json, const char* path, int32_t* out, carom_error* error)
{
    char name[LONGEST_STEP];
    int32_t value = 0, index;
    for (const char* at = path; *at;) {
        if (!next_step(&at, name, &index)) {
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                    "\"%.200s\" is no path; one looks like world.dt, "
                                    "bodies[0].mass or bodies.crate.velocity[2]",
                                    path);
        }
        const int32_t kind = cr_json_at(json, value)->kind;
        int32_t next = index >= 0              ? cr_json_child(json, value, index)
                       : kind == CR_JSON_ARRAY ? named(json, value, name)
                                               : cr_json_member(json, value, name);
        if (next < 0 && kind == CR_JSON_ARRAY && index < 0) {
            return refuse_named(json, value, path, name, error);
        }
        if (next < 0 && index >= 0) {
            if (kind != CR_JSON_ARRAY) {
                return cr_status_refuse(error, CAROM_ERR_SCENE,
                                        "%.200s: there is no list yet of which [%d] could be set; "
                                        "give all of it, as in [1, 0, 0]",
                                        path, index);
            }
            return cr_status_refuse(error, CAROM_ERR_SCENE,
                                    "%.200s: there is no [%d]; the list has %d elements", path,
                                    index, cr_json_at(json, value)->count);
        }
        if (next < 0) {
            if (kind != CR_JSON_OBJECT && kind != CR_JSON_NULL) {
                return cr_status_refuse(error, CAROM_ERR_SCENE,
                                        "%.200s: what stands before \"%.60s\" is no object", path,
                                        name);
            }
            json->value.items[value].kind = CR_JSON_OBJECT;
            next = cr_json_add(json, value, name, CR_JSON_NULL);
            if (next < 0) {
                return no_memory(error);
            }
        }
        value = next;
    }
    *out = value;
    return CAROM_OK;
}

// A word that cannot be JSON is a text: zones=global needs no quotes.
static int is_word(const char* value)
{
    const char c = value[0];
    return !(c == '[' || c == '{' || c == '"' || c == '-' || (c >= '0' && c <= '9') ||
             strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
             strcmp(value, "null") == 0);
}

static carom_status edit(cr_json* json, const char* path, const char* value, carom_error* error)
{
    char name[2 * LONGEST_STEP];
    int32_t old = -1, fresh = -1;
    snprintf(name, sizeof name, "%.200s=%.100s", path, value);
    carom_status status = follow(json, path, &old, error);
    if (status != CAROM_OK) {
        return status;
    }
    if (is_word(value)) {
        status = cr_json_graft(json, "null", 4, name, &fresh, error);
        const int32_t text = cr_json_add_string(json, -1, NULL, value);
        if (status == CAROM_OK && text >= 0) {
            json->value.items[text].source = json->value.items[fresh].source;
            fresh = text;
        }
    } else {
        status = cr_json_graft(json, value, strlen(value), name, &fresh, error);
    }
    if (status == CAROM_OK) {
        cr_json_replace(json, old, fresh);
    }
    return status == CAROM_OK && json->failed ? no_memory(error) : status;
}

carom_status cr_scene_set(cr_scene* scene, const char* path, const char* value, carom_error* error)
{
    cr_json* json = &scene->json;
    if (json->value.count == 0) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE, "the scene is empty; load one first");
    }
    const int32_t count = json->value.count;
    cr_json_value* before = cr_memory_take((size_t)count, sizeof *before);
    if (!before) {
        return no_memory(error);
    }
    memcpy(before, json->value.items, (size_t)count * sizeof *before);
    carom_status status = edit(json, path, value, error);
    if (status == CAROM_OK) {
        status = check_scene(json, error);
    }
    if (status != CAROM_OK) { // texts that were added stay, but nothing names them any more
        memcpy(json->value.items, before, (size_t)count * sizeof *before);
        json->value.count = count;
        json->failed = 0;
    }
    cr_memory_free(before);
    return status;
}
