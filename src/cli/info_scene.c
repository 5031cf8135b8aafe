#include "carom/sim.h"
#include "cli/info.h"
#include "cli/json.h"
#include <math.h>
#include <stdio.h>

// The first so many bodies are told one by one; a reader counts no further.
enum { SHOWN = 40 };

// ---- for readers

static const char* owner(const carom_model* model, int32_t body, const char* otherwise)
{
    return body >= 0 ? carom_model_body_name(model, body) : otherwise;
}

static void show_body(const carom_body_info* b, const carom_body_state* at)
{
    printf("  %-20s %-9s %7d %7d  ", b->name, carom_body_kind_name(b->kind), b->vertex_count,
           b->face_count);
    if (b->mass > 0) {
        printf("%10.4g", b->mass);
    } else {
        printf("%10s", "");
    }
    printf(" %10.3g  %6.3g %6.3g  %8.4g %8.4g %8.4g\n", b->thickness, b->friction, b->restitution,
           at->position[0], at->position[1], at->position[2]);
    if (b->kind == CAROM_BODY_RIGID) {
        printf("  %-20s principal moments %.4g %.4g %.4g kg m^2\n", "", b->inertia[0],
               b->inertia[1], b->inertia[2]);
    } else if (b->pinned_count > 0) {
        printf("  %-20s %d of its nodes pinned\n", "", b->pinned_count);
    }
}

static void show_bodies(const carom_model* model, const carom_sim* sim)
{
    const int32_t count = carom_model_body_count(model);
    printf("\n  %-20s %-9s %7s %7s  %10s %10s  %6s %6s  %s\n", "body", "kind", "vertices", "faces",
           "mass kg", "thick. m", "frict.", "rest.", "position m");
    for (int32_t i = 0; i < count && i < SHOWN; i++) {
        carom_body_info info;
        carom_body_state state;
        if (carom_model_body(model, i, &info) == CAROM_OK &&
            carom_sim_body(sim, i, &state) == CAROM_OK) {
            show_body(&info, &state);
        }
    }
    if (count > SHOWN) {
        printf("  and %d more; --json lists them all\n", count - SHOWN);
    }
}

static void show_goal(const carom_model* model)
{
    int32_t body;
    for (int32_t i = 0; i < carom_model_term_count(model); i++) {
        const char* what = carom_model_term(model, i, &body);
        printf("  %-18s %s of %s\n", i ? "" : "objective", what, owner(model, body, "everything"));
    }
    for (int32_t i = 0; i < carom_model_parameter_count(model); i++) {
        const char* what = carom_model_parameter(model, i, &body);
        printf("  %-18s %s of %s\n", i ? "" : "parameters", what, owner(model, body, "the world"));
    }
}

static int show(const char* path, const carom_model* model, const carom_sim* sim)
{
    const double dt = carom_model_dt(model), duration = carom_model_duration(model);
    const carom_energy energy = carom_sim_energy(sim);
    printf("%s: a scene\n", path);
    printf("  %-18s %d\n", "bodies", carom_model_body_count(model));
    printf("  %-18s %d\n", "vertices", carom_model_vertex_count(model));
    printf("  %-18s %g s in steps of %g s: %.0f steps\n", "duration", duration, dt,
           round(duration / dt));
    printf("  %-18s %.6g J of motion, %.6g J of gravity, %.6g J in cloth\n", "energy",
           energy.kinetic, energy.gravity, energy.elastic);
    show_goal(model);
    for (int32_t i = 0; i < carom_model_note_count(model); i++) {
        printf("  %-18s %s\n", i ? "" : "notes", carom_model_note(model, i));
    }
    show_bodies(model, sim);
    return 0;
}

// ---- for programs

static json_t* json_body(const carom_body_info* b, const carom_body_state* at)
{
    json_t* o = json_object();
    json_object_set_new(o, "name", cli_json_text(b->name));
    json_object_set_new(o, "type", json_string(carom_body_kind_name(b->kind)));
    json_object_set_new(o, "vertices", json_integer(b->vertex_count));
    json_object_set_new(o, "edges", json_integer(b->edge_count));
    json_object_set_new(o, "faces", json_integer(b->face_count));
    json_object_set_new(o, "pinned", json_integer(b->pinned_count));
    json_object_set_new(o, "mass", cli_json_number(b->mass));
    json_object_set_new(o, "inertia", cli_json_numbers(b->inertia, 3));
    json_object_set_new(o, "thickness", cli_json_number(b->thickness));
    json_object_set_new(o, "friction", cli_json_number(b->friction));
    json_object_set_new(o, "restitution", cli_json_number(b->restitution));
    json_object_set_new(o, "position", cli_json_numbers(at->position, 3));
    json_object_set_new(o, "quaternion", cli_json_numbers(at->quaternion, 4));
    return o;
}

static json_t* json_bodies(const carom_model* model, const carom_sim* sim)
{
    json_t* list = json_array();
    for (int32_t i = 0; i < carom_model_body_count(model); i++) {
        carom_body_info info;
        carom_body_state state;
        if (carom_model_body(model, i, &info) == CAROM_OK &&
            carom_sim_body(sim, i, &state) == CAROM_OK) {
            json_array_append_new(list, json_body(&info, &state));
        }
    }
    return list;
}

static json_t* json_goal(const carom_model* model, int parameters)
{
    json_t* list = json_array();
    const int32_t count =
        parameters ? carom_model_parameter_count(model) : carom_model_term_count(model);
    for (int32_t i = 0; i < count; i++) {
        int32_t body = -1;
        const char* what =
            parameters ? carom_model_parameter(model, i, &body) : carom_model_term(model, i, &body);
        json_t* o = json_object();
        json_object_set_new(o, "what", cli_json_text(what));
        json_object_set_new(
            o, "body", body >= 0 ? cli_json_text(carom_model_body_name(model, body)) : json_null());
        json_array_append_new(list, o);
    }
    return list;
}

static int print(const char* path, const carom_model* model, const carom_sim* sim)
{
    json_t* o = json_object();
    json_t* notes = json_array();
    for (int32_t i = 0; i < carom_model_note_count(model); i++) {
        json_array_append_new(notes, cli_json_text(carom_model_note(model, i)));
    }
    json_object_set_new(o, "file", cli_json_text(path));
    json_object_set_new(o, "kind", json_string("scene"));
    json_object_set_new(o, "dt", cli_json_number(carom_model_dt(model)));
    json_object_set_new(o, "duration", cli_json_number(carom_model_duration(model)));
    json_object_set_new(o, "vertices", json_integer(carom_model_vertex_count(model)));
    json_object_set_new(o, "energy", cli_json_number(carom_sim_energy(sim).total));
    json_object_set_new(o, "bodies", json_bodies(model, sim));
    json_object_set_new(o, "objective", json_goal(model, 0));
    json_object_set_new(o, "parameters", json_goal(model, 1));
    json_object_set_new(o, "notes", notes);
    return cli_json_print("info", o);
}

int cli_info_scene(const cli_info_request* request)
{
    carom_error error = {0};
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    carom_sim* sim = NULL;
    carom_status status = carom_scene_load(request->path, &scene, &error);
    if (status == CAROM_OK) {
        status = carom_model_create(scene, &model, &error);
    }
    if (status == CAROM_OK) {
        status = carom_sim_create(model, 1, &sim, &error);
    }
    int result = 2;
    if (status == CAROM_OK) {
        result = request->json ? print(request->path, model, sim) : show(request->path, model, sim);
    } else {
        fprintf(stderr, "carom info: %s\n", error.message);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(model);
    carom_scene_destroy(scene);
    return result;
}
