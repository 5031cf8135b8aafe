#include "carom/mesh.h"
#include "core/memory.h"
#include "mesh/check.h"
#include "mesh/generate.h"
#include "mesh/mesh_file.h"
#include "mesh/repair.h"
#include <stdio.h>
#include <string.h>

struct carom_mesh {
    cr_trimesh mesh;
};

_Static_assert((int)CAROM_MESH_DEFECTS == (int)CR_CHECK_KINDS, "one public row per kind");
_Static_assert((int)CAROM_MESH_PLACES == (int)CR_CHECK_PLACES, "as many places as are kept");

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "memory could not be had");
}

static carom_status missing(carom_error* error, const char* what)
{
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "%s is NULL", what);
}

// Puts a finished mesh behind the public pointer, or gives it back.
static carom_status hand_over(cr_trimesh* from, carom_mesh** mesh, carom_error* error)
{
    *mesh = cr_memory_take(1, sizeof **mesh);
    if (!*mesh) {
        cr_trimesh_release(from);
        return no_memory(error);
    }
    (*mesh)->mesh = *from;
    return CAROM_OK;
}

carom_status carom_mesh_load(const char* path, carom_mesh** mesh, carom_error* error)
{
    if (!mesh) {
        return missing(error, "mesh");
    }
    *mesh = NULL;
    if (!path) {
        return missing(error, "path");
    }
    cr_trimesh loaded = {0};
    const carom_status status = cr_mesh_file_read(&loaded, path, error);
    return status == CAROM_OK ? hand_over(&loaded, mesh, error) : status;
}

static carom_status check_arrays(const double* vertices, int32_t vertex_count, const int32_t* faces,
                                 int32_t face_count, carom_error* error)
{
    if (vertex_count < 0 || vertex_count > CR_TRIMESH_MOST || face_count < 0 ||
        face_count > CR_TRIMESH_MOST) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "%d vertices and %d faces; each has to be from 0 to %d",
                                vertex_count, face_count, CR_TRIMESH_MOST);
    }
    if ((!vertices && vertex_count > 0) || (!faces && face_count > 0)) {
        return missing(error, vertices ? "faces" : "vertices");
    }
    for (int32_t i = 0; i < 3 * vertex_count; i++) {
        if (!isfinite(vertices[i])) {
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                    "vertices[%d] is %g; it has to be finite", i, vertices[i]);
        }
    }
    for (int32_t i = 0; i < 3 * face_count; i++) {
        if (faces[i] < 0 || faces[i] >= vertex_count) {
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                    "faces[%d] is %d; it has to be from 0 to %d", i, faces[i],
                                    vertex_count - 1);
        }
    }
    return CAROM_OK;
}

carom_status carom_mesh_create(const double* vertices, int32_t vertex_count, const int32_t* faces,
                               int32_t face_count, carom_mesh** mesh, carom_error* error)
{
    if (!mesh) {
        return missing(error, "mesh");
    }
    *mesh = NULL;
    carom_status status = check_arrays(vertices, vertex_count, faces, face_count, error);
    if (status != CAROM_OK) {
        return status;
    }
    cr_trimesh made = {0};
    status = cr_trimesh_init(&made, vertex_count, face_count, 0);
    if (status != CAROM_OK) {
        return no_memory(error);
    }
    if (vertex_count > 0) {
        memcpy(made.x, vertices, (size_t)vertex_count * 3 * sizeof *vertices);
    }
    if (face_count > 0) {
        memcpy(made.face, faces, (size_t)face_count * 3 * sizeof *faces);
    }
    return hand_over(&made, mesh, error);
}

carom_status carom_mesh_generate(const char* shape, const char* const* names, const double* values,
                                 int32_t count, carom_mesh** mesh, carom_error* error)
{
    if (!mesh) {
        return missing(error, "mesh");
    }
    *mesh = NULL;
    if (!shape || (count > 0 && (!names || !values))) {
        return missing(error, shape ? "names or values" : "shape");
    }
    for (int32_t i = 0; i < count; i++) {
        if (!names[i]) {
            return missing(error, "one of the names");
        }
    }
    cr_trimesh made = {0};
    const carom_status status = cr_generate_make(&made, shape, names, values, count, error);
    return status == CAROM_OK ? hand_over(&made, mesh, error) : status;
}

void carom_mesh_destroy(carom_mesh* mesh)
{
    if (mesh) {
        cr_trimesh_release(&mesh->mesh);
        cr_memory_free(mesh);
    }
}

carom_status carom_mesh_save(const carom_mesh* mesh, const char* path, carom_error* error)
{
    if (!mesh || !path) {
        return missing(error, mesh ? "path" : "mesh");
    }
    return cr_mesh_file_write(&mesh->mesh, path, error);
}

int32_t carom_mesh_vertex_count(const carom_mesh* mesh)
{
    return mesh ? mesh->mesh.vertex_count : 0;
}

int32_t carom_mesh_face_count(const carom_mesh* mesh)
{
    return mesh ? mesh->mesh.face_count : 0;
}

const double* carom_mesh_vertices(const carom_mesh* mesh)
{
    return mesh ? mesh->mesh.x : NULL;
}

const int32_t* carom_mesh_faces(const carom_mesh* mesh)
{
    return mesh ? mesh->mesh.face : NULL;
}

int32_t carom_mesh_uv_count(const carom_mesh* mesh)
{
    return mesh ? mesh->mesh.uv_count : 0;
}

const double* carom_mesh_uv(const carom_mesh* mesh)
{
    return mesh ? mesh->mesh.uv : NULL;
}

const int32_t* carom_mesh_face_uv(const carom_mesh* mesh)
{
    return mesh ? mesh->mesh.face_uv : NULL;
}

int32_t carom_mesh_shape_count(void)
{
    return cr_generate_shape_count();
}

const char* carom_mesh_shape_name(int32_t shape)
{
    const cr_generate_shape* row = cr_generate_shape_at(shape);
    return row ? row->name : NULL;
}

const char* carom_mesh_shape_about(int32_t shape)
{
    const cr_generate_shape* row = cr_generate_shape_at(shape);
    return row ? row->about : NULL;
}

int carom_mesh_shape_param(int32_t shape, int32_t param, carom_mesh_param* row)
{
    const cr_generate_shape* s = cr_generate_shape_at(shape);
    if (!s || !row || param < 0 || param >= s->param_count) {
        return 0;
    }
    const cr_generate_param* p = s->param + param;
    *row = (carom_mesh_param){p->name, p->unit, p->fallback, p->least, p->most, p->whole, p->about};
    return 1;
}

static void copy_defect(carom_mesh_defect* to, const cr_check_defect* from, cr_check_kind kind)
{
    const cr_check_kind_text* text = cr_check_text(kind);
    to->key = text->key;
    to->text = from->count == 1 ? text->one : text->several;
    to->forbids_rigid = text->forbids_rigid;
    to->count = from->count;
    to->place_count = from->place_count;
    for (int32_t i = 0; i < from->place_count; i++) {
        const cr_check_place* p = from->place + i;
        to->places[i].face = p->face;
        to->places[i].other = p->other;
        for (int k = 0; k < 3; k++) {
            to->places[i].vertices[k] = p->vertex[k];
        }
        cr_vec3_store(to->places[i].at, p->at);
    }
}

static void copy_mass(carom_mesh_report* to, const cr_check_report* from)
{
    to->volume = from->mass.volume;
    to->has_mass = from->has_mass;
    if (!from->has_mass) {
        return;
    }
    cr_vec3 moments;
    cr_mat3 axes;
    cr_mass_principal(from->mass.inertia, &moments, &axes);
    cr_vec3_store(to->centre, from->mass.centre);
    cr_vec3_store(to->principal_moments, moments);
    for (int i = 0; i < 9; i++) {
        to->inertia[i] = from->mass.inertia.m[i / 3][i % 3];
        to->principal_axes[i] = axes.m[i / 3][i % 3];
    }
}

carom_status carom_mesh_examine(const carom_mesh* mesh, carom_mesh_report* report,
                                carom_error* error)
{
    if (!mesh || !report) {
        return missing(error, mesh ? "report" : "mesh");
    }
    cr_check_report r;
    if (cr_check_run(&mesh->mesh, 1, &r) != CAROM_OK) {
        return no_memory(error);
    }
    *report = (carom_mesh_report){.vertex_count = r.vertex_count,
                                  .face_count = r.face_count,
                                  .edge_count = r.edge_count,
                                  .uv_count = r.uv_count,
                                  .component_count = r.component_count,
                                  .hole_count = r.hole_count,
                                  .turned_face_count = r.turned_face_count,
                                  .euler = r.euler,
                                  .closed = r.closed,
                                  .crossing_complete = r.crossing_complete,
                                  .area = r.area};
    carom_error why = {CAROM_OK, {0}};
    report->rigid = cr_check_rigid(&r, "", &why) == CAROM_OK;
    const char* text = strncmp(why.message, ": ", 2) == 0 ? why.message + 2 : why.message;
    snprintf(report->rigid_text, sizeof report->rigid_text, "%.*s",
             (int)sizeof report->rigid_text - 1, text);
    cr_vec3_store(report->box_least, r.least);
    cr_vec3_store(report->box_most, r.most);
    copy_mass(report, &r);
    for (int kind = 0; kind < CR_CHECK_KINDS; kind++) {
        copy_defect(report->defects + kind, r.defect + kind, (cr_check_kind)kind);
    }
    return CAROM_OK;
}

carom_mesh_repair_options carom_mesh_repair_default(void)
{
    const cr_repair_options o = cr_repair_default();
    return (carom_mesh_repair_options){sizeof(carom_mesh_repair_options), o.weld, o.hole_edges};
}

carom_status carom_mesh_repair(carom_mesh* mesh, const carom_mesh_repair_options* options,
                               carom_mesh_repair_report* report, carom_error* error)
{
    const carom_mesh_repair_options o = options ? *options : carom_mesh_repair_default();
    if (!mesh || !report) {
        return missing(error, mesh ? "report" : "mesh");
    }
    if (o.struct_size != sizeof o) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "options.struct_size is %zu; carom_mesh_repair_default() sets it "
                                "to %zu",
                                o.struct_size, sizeof o);
    }
    if (!(o.weld >= 0 && o.weld <= 1) || o.hole_edges < 0) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "options.weld is %g, options.hole_edges %d; weld has to be from 0 "
                                "to 1 and hole_edges not negative",
                                o.weld, o.hole_edges);
    }
    cr_repair_report r;
    if (cr_repair_run(&mesh->mesh, &(cr_repair_options){o.weld, o.hole_edges}, &r) != CAROM_OK) {
        return no_memory(error);
    }
    *report = (carom_mesh_repair_report){.welded_vertices = r.welded_vertices,
                                         .collapsed_faces = r.collapsed_faces,
                                         .duplicate_faces = r.duplicate_faces,
                                         .flattened_faces = r.flattened_faces,
                                         .turned_faces = r.turned_faces,
                                         .turned_components = r.turned_inside,
                                         .filled_holes = r.filled_holes,
                                         .filled_faces = r.filled_faces,
                                         .holes_left = r.holes_left,
                                         .unused_vertices = r.unused_vertices,
                                         .dropped_uv = r.dropped_uv};
    return CAROM_OK;
}

const char* carom_mesh_formats(void)
{
    return CR_MESH_FILE_FORMATS;
}
