// scene.h - scenes as text: load, edit, save, and compile into a model. The format is described in
// docs/scene.md and docs/scene.schema.json.
#pragma once

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_scene carom_scene; // editable description
typedef struct carom_model carom_model; // compiled and constant; threads may share it

// Reads a scene file, or length bytes of text; files that the scene names are looked for beside the
// file, or in folder (NULL: the working directory). Names, types and ranges are checked. The caller
// owns *scene. On failure *scene is NULL and the error says file, line, column, path, what was
// found and what would be accepted.
CAROM_API carom_status carom_scene_load(const char* path, carom_scene** scene, carom_error* error);
CAROM_API carom_status carom_scene_parse(const char* text, size_t length, const char* folder,
                                         carom_scene** scene, carom_error* error);
CAROM_API void carom_scene_destroy(carom_scene* scene);

// Sets one value by its path: "world.dt", "bodies.crate.mass", "bodies[3].velocity[2]". value is
// JSON, or a word. Members that were not there are added. When the result is not a good scene it is
// refused and the scene stays as it was.
CAROM_API carom_status carom_scene_set(carom_scene* scene, const char* path, const char* value,
                                       carom_error* error);

// Writes the scene as a file; it replaces an old one only when it was written whole. Comments of
// the text it came from are not kept.
CAROM_API carom_status carom_scene_save(const carom_scene* scene, const char* path,
                                        carom_error* error);

// The scene as text, to be given back by carom_scene_text_free.
CAROM_API carom_status carom_scene_text(const carom_scene* scene, char** text, carom_error* error);
CAROM_API void carom_scene_text_free(char* text);

// The JSON Schema and the reference page (Markdown) of the format, made from the tables that read
// it. Given back by carom_scene_text_free.
CAROM_API carom_status carom_scene_schema(char** text, carom_error* error);
CAROM_API carom_status carom_scene_reference(char** text, carom_error* error);

// Another program's scene as one of ours. format is "rigid-ipc" or "arcsim". meshes is the folder
// the mesh files of rigid-ipc are in (NULL: guessed from path). *notes lists what was not carried
// over, one per line (empty text when all was); both texts are given back by carom_scene_text_free.
CAROM_API carom_status carom_scene_import(const char* path, const char* format, const char* meshes,
                                          char** text, char** notes, carom_error* error);

// Compiles a scene: reads meshes, weighs bodies, refuses a start in which bodies intersect. The
// scene is not needed afterwards. The caller owns *model; on failure it is NULL.
CAROM_API carom_status carom_model_create(const carom_scene* scene, carom_model** model,
                                          carom_error* error);
CAROM_API void carom_model_destroy(carom_model* model);

CAROM_API int32_t carom_model_body_count(const carom_model* model);
// "" for a number out of range; lent until the model is destroyed.
CAROM_API const char* carom_model_body_name(const carom_model* model, int32_t body);
// -1 when there is none of that name.
CAROM_API int32_t carom_model_body_find(const carom_model* model, const char* name);
CAROM_API int32_t carom_model_vertex_count(const carom_model* model);
CAROM_API double carom_model_dt(const carom_model* model);       // s
CAROM_API double carom_model_duration(const carom_model* model); // s

typedef enum carom_body_kind {
    CAROM_BODY_FIXED,     // never moves
    CAROM_BODY_KINEMATIC, // moves as its script says
    CAROM_BODY_RIGID,     // six degrees of freedom
    CAROM_BODY_CLOTH,     // three per free node
} carom_body_kind;

// What a body is. Vertices, edges and faces are ranges in the lists of the whole scene. A body
// without faces is a capsule (one edge) or a sphere (one vertex) of its thickness.
typedef struct carom_body_info {
    const char* name; // lent until the model is destroyed
    carom_body_kind kind;
    int32_t vertex_first, vertex_count;
    int32_t edge_count, face_first, face_count;
    int32_t pinned_count; // nodes of cloth that do not move freely
    double thickness;     // m, of the layer around its mesh
    double mass;          // kg; 0 of what never moves freely
    double inertia[3];    // kg m^2, principal moments: about the mesh's axes where these
                          // are principal, else ascending; 0 unless rigid
    double friction, restitution;
    double mesh_position[3]; // m: the origin of its mesh, as the scene gives it, seen from the
                             // centre of mass in the mesh's axes
} carom_body_info;
// CAROM_ERR_ARGUMENT for a number out of range.
CAROM_API carom_status carom_model_body(const carom_model* model, int32_t body,
                                        carom_body_info* info);
CAROM_API const char* carom_body_kind_name(carom_body_kind kind); // as in scene files

// What the scene asks for. Of each term of the objective and each parameter: its name in scene
// files, and its body (-1: the world, or all bodies). NULL for a number out of range.
CAROM_API int32_t carom_model_term_count(const carom_model* model);
CAROM_API const char* carom_model_term(const carom_model* model, int32_t term, int32_t* body);
CAROM_API int32_t carom_model_parameter_count(const carom_model* model);
CAROM_API const char* carom_model_parameter(const carom_model* model, int32_t parameter,
                                            int32_t* body);

// What the compiler did that the scene did not say, in words.
CAROM_API int32_t carom_model_note_count(const carom_model* model);
CAROM_API const char* carom_model_note(const carom_model* model, int32_t note);

#ifdef __cplusplus
}
#endif
