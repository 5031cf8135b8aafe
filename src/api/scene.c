#include "carom/scene.h"
#include "api/handles.h"
#include "api/recording.h"
#include "api/view.h"
#include "core/assert.h"
#include "core/memory.h"
#include "io/place.h"
#include "scene/arcsim.h"
#include "scene/build.h"
#include "scene/goals.h"
#include "scene/rigid_ipc.h"
#include "scene/schema.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static carom_status missing(carom_error* error, const char* what)
{
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "%s is NULL", what);
}

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory");
}

static carom_status keep(carom_scene* made, carom_status status, carom_scene** scene)
{
    if (status != CAROM_OK) {
        cr_memory_free(made);
        return status;
    }
    *scene = made;
    return CAROM_OK;
}

carom_status carom_scene_load(const char* path, carom_scene** scene, carom_error* error)
{
    if (!path || !scene) {
        return missing(error, path ? "scene" : "path");
    }
    *scene = NULL;
    carom_scene* made = cr_memory_take(1, sizeof *made);
    return made ? keep(made, cr_scene_load(&made->text, path, error), scene) : no_memory(error);
}

carom_status carom_scene_parse(const char* text, size_t length, const char* folder,
                               carom_scene** scene, carom_error* error)
{
    if (!text || !scene) {
        return missing(error, text ? "scene" : "text");
    }
    *scene = NULL;
    carom_scene* made = cr_memory_take(1, sizeof *made);
    return made ? keep(made,
                       cr_scene_parse(&made->text, text, length, "scene", folder ? folder : ".",
                                      error),
                       scene)
                : no_memory(error);
}

void carom_scene_destroy(carom_scene* scene)
{
    if (scene) {
        cr_scene_release(&scene->text);
        cr_memory_free(scene);
    }
}

carom_status carom_scene_set(carom_scene* scene, const char* path, const char* value,
                             carom_error* error)
{
    if (!scene || !path || !value) {
        return missing(error, !scene ? "scene" : !path ? "path" : "value");
    }
    return cr_scene_set(&scene->text, path, value, error);
}

carom_status carom_scene_text(const carom_scene* scene, char** text, carom_error* error)
{
    size_t length;
    if (!scene || !text) {
        return missing(error, scene ? "text" : "scene");
    }
    *text = NULL;
    const carom_status status = cr_json_write(&scene->text.json, 0, text, &length);
    return status == CAROM_OK ? status : no_memory(error);
}

void carom_scene_text_free(char* text)
{
    cr_memory_free(text);
}

// Writes beside the old file and then takes its place, so that nothing is lost half way.
static carom_status write_file(const char* path, const char* text, carom_error* error)
{
    const int direct = cr_place_is_taken(path);
    char* place = cr_place_behind(path);
    const size_t size = place ? strlen(place) + 8 : 0;
    char* beside = place ? cr_memory_take(size, 1) : NULL;
    if (!beside) {
        cr_memory_free(place);
        return no_memory(error);
    }
    snprintf(beside, size, "%s%s", place, direct ? "" : ".part");
    FILE* file = fopen(beside, "wb");
    int good = file != NULL;
    if (file) {
        good = fwrite(text, 1, strlen(text), file) == strlen(text);
        good = fclose(file) == 0 && good;
        good = good && (direct || rename(beside, place) == 0);
    }
    const int why = errno;
    if (!good && file && !direct) {
        remove(beside);
    }
    cr_memory_free(beside);
    cr_memory_free(place);
    return good ? CAROM_OK
                : cr_status_refuse(error, CAROM_ERR_FILE, "%.400s cannot be written: %s", path,
                                   strerror(why));
}

carom_status carom_scene_save(const carom_scene* scene, const char* path, carom_error* error)
{
    char* text = NULL;
    if (!path) {
        return missing(error, "path");
    }
    carom_status status = carom_scene_text(scene, &text, error);
    if (status == CAROM_OK) {
        CR_ASSERT(text);
        status = write_file(path, text, error);
    }
    cr_memory_free(text);
    return status;
}

carom_status carom_scene_schema(char** text, carom_error* error)
{
    if (!text) {
        return missing(error, "text");
    }
    return cr_schema_json(text) == CAROM_OK ? CAROM_OK : no_memory(error);
}

carom_status carom_scene_reference(char** text, carom_error* error)
{
    if (!text) {
        return missing(error, "text");
    }
    return cr_schema_page(text) == CAROM_OK ? CAROM_OK : no_memory(error);
}

carom_status carom_scene_import(const char* path, const char* format, const char* meshes,
                                char** text, char** notes, carom_error* error)
{
    if (!path || !format || !text || !notes) {
        return missing(error, !path ? "path" : !format ? "format" : "text or notes");
    }
    *text = *notes = NULL;
    if (strcmp(format, "rigid-ipc") == 0) {
        return cr_rigid_ipc_import(path, meshes, text, notes, error);
    }
    if (strcmp(format, "arcsim") == 0) {
        return cr_arcsim_import(path, text, notes, error);
    }
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                            "there is no format \"%.60s\"; known: rigid-ipc, arcsim", format);
}

carom_status carom_model_create(const carom_scene* scene, carom_model** model, carom_error* error)
{
    if (!scene || !model) {
        return missing(error, scene ? "model" : "scene");
    }
    *model = NULL;
    carom_model* made = cr_memory_take(1, sizeof *made);
    if (!made) {
        return no_memory(error);
    }
    carom_status status = cr_build_model(&scene->text, &made->numbers, error);
    if (status == CAROM_OK) {
        status = cr_goals_build(&scene->text, made->numbers, &made->goal, error);
    }
    if (status == CAROM_OK) {
        status = carom_recording_fill(scene->text.folder, made->numbers, &made->goal, error);
    }
    if (status != CAROM_OK) {
        carom_model_destroy(made);
        return status;
    }
    *model = made;
    return CAROM_OK;
}

void carom_model_destroy(carom_model* model)
{
    if (model) {
        cr_model_destroy(model->numbers);
        cr_goal_release(&model->goal);
        cr_memory_free(model);
    }
}

int32_t carom_model_body_count(const carom_model* model)
{
    return model ? model->numbers->bodies.body_count : 0;
}

const char* carom_model_body_name(const carom_model* model, int32_t body)
{
    return body >= 0 && body < carom_model_body_count(model) ? model->numbers->name[body] : "";
}

int32_t carom_model_body_find(const carom_model* model, const char* name)
{
    for (int32_t i = 0; name && i < carom_model_body_count(model); i++) {
        if (strcmp(model->numbers->name[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

int32_t carom_model_vertex_count(const carom_model* model)
{
    return model ? model->numbers->bodies.vertex_count : 0;
}

double carom_model_dt(const carom_model* model)
{
    return model ? model->numbers->world.dt : 0;
}

double carom_model_duration(const carom_model* model)
{
    return model ? model->numbers->world.duration : 0;
}

int32_t carom_model_note_count(const carom_model* model)
{
    return model ? model->numbers->note_count : 0;
}

const char* carom_model_note(const carom_model* model, int32_t note)
{
    return note >= 0 && note < carom_model_note_count(model) ? model->numbers->note[note] : "";
}

carom_status carom_model_body(const carom_model* model, int32_t body, carom_body_info* info)
{
    return model && info ? carom_view_body(model->numbers, body, info) : CAROM_ERR_ARGUMENT;
}

const char* carom_body_kind_name(carom_body_kind kind)
{
    switch (kind) {
    case CAROM_BODY_FIXED:
        return "fixed";
    case CAROM_BODY_KINEMATIC:
        return "kinematic";
    case CAROM_BODY_RIGID:
        return "rigid";
    case CAROM_BODY_CLOTH:
        return "cloth";
    }
    return "";
}

int32_t carom_model_term_count(const carom_model* model)
{
    return model ? model->goal.term_count : 0;
}

const char* carom_model_term(const carom_model* model, int32_t term, int32_t* body)
{
    if (!model || !body) {
        return NULL;
    }
    if (term < 0 || term >= model->goal.term_count) {
        return NULL;
    }
    *body = model->goal.term[term].body;
    return cr_goal_what_name(model->goal.term[term].what);
}

int32_t carom_model_parameter_count(const carom_model* model)
{
    return model ? model->goal.parameter_count : 0;
}

const char* carom_model_parameter(const carom_model* model, int32_t parameter, int32_t* body)
{
    if (!model || !body) {
        return NULL;
    }
    if (parameter < 0 || parameter >= model->goal.parameter_count) {
        return NULL;
    }
    *body = model->goal.parameter[parameter].body;
    return cr_goal_parameter_name(model->goal.parameter[parameter].what);
}
