// scene.h - a scene as text that was checked: editable until a model is built from it.
#pragma once

#include "scene/format.h"

// Owns everything. Zero-initialised is empty.
typedef struct cr_scene {
    cr_json json;
    char* folder; // where files named in the scene are looked for
} cr_scene;

// Reads and checks all that tables can check: names, types, ranges, what belongs to which type of
// body. name is what messages call the text. On failure (CAROM_ERR_FORMAT: not JSON;
// CAROM_ERR_SCENE: not a scene; CAROM_ERR_MEMORY) the scene is empty.
carom_status cr_scene_parse(cr_scene* scene, const char* text, size_t length, const char* name,
                            const char* folder, carom_error* error);

// The same from a file; also CAROM_ERR_FILE. Files it names are relative to its own folder.
carom_status cr_scene_load(cr_scene* scene, const char* path, carom_error* error);
void cr_scene_release(cr_scene* scene);

// Sets one value: path such as "world.dt", "bodies[3].mass", "bodies.crate.velocity[2]"; value is
// JSON or, where it is none, a text. What was not there is added. The scene is checked again; when
// that fails it stays as it was.
carom_status cr_scene_set(cr_scene* scene, const char* path, const char* value, carom_error* error);
