// fuzz.h - what every fuzzer of a mesh reader does with its bytes: read, and when that succeeds
// check the promise (all indices in range, all numbers finite), examine and repair the mesh.
#pragma once

#include "core/memory.h"
#include "mesh/check.h"
#include "mesh/mesh_file.h"
#include "mesh/repair.h"
#include <stdlib.h>
#include <string.h>

typedef carom_status fuzz_reader(cr_trimesh* mesh, const void* data, size_t size, const char* name,
                                 carom_error* error);

static inline void fuzz_promise(int kept)
{
    if (!kept) {
        abort();
    }
}

static inline void fuzz_mesh(cr_trimesh* mesh)
{
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++) {
        fuzz_promise(isfinite(mesh->x[i]));
    }
    for (int32_t i = 0; i < 2 * mesh->uv_count; i++) {
        fuzz_promise(isfinite(mesh->uv[i]));
    }
    for (int32_t i = 0; i < 3 * mesh->face_count; i++) {
        fuzz_promise(mesh->face[i] >= 0 && mesh->face[i] < mesh->vertex_count);
        fuzz_promise(mesh->uv_count == 0 ||
                     (mesh->face_uv[i] >= 0 && mesh->face_uv[i] < mesh->uv_count));
    }
    static cr_check_report report;
    cr_repair_report done;
    const cr_repair_options options = cr_repair_default();
    fuzz_promise(cr_check_run(mesh, 1, &report) == CAROM_OK);
    fuzz_promise(cr_repair_run(mesh, &options, &done) == CAROM_OK);
    fuzz_promise(cr_trimesh_sound(mesh));
}

static inline void fuzz_read(fuzz_reader* read, const uint8_t* data, size_t size)
{
    cr_trimesh mesh = {0};
    carom_error error = {CAROM_OK, {0}};
    const carom_status status = read(&mesh, data, size, "fuzz", &error);
    if (status == CAROM_OK) {
        fuzz_promise(mesh.vertex_count > 0 && mesh.x && mesh.face);
        fuzz_mesh(&mesh);
    } else { // refused: a message, and nothing left behind
        fuzz_promise(error.status == status && error.message[0] != 0);
        fuzz_promise(!mesh.x && !mesh.face && !mesh.uv && !mesh.face_uv);
    }
    cr_trimesh_release(&mesh);
}
