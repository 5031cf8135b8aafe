// mesh.h - triangle meshes: read, generate, check, repair, write.
#pragma once

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// An immutable mesh, but for carom_mesh_repair. Made by load, create or generate; given back by
// destroy. Calls on one mesh from several threads are fine as long as none repairs it.
typedef struct carom_mesh carom_mesh;

// Reads a file: OBJ, PLY (text or binary), STL (text or binary) or OFF, told apart by content first
// and name second. On failure *mesh is NULL; the message names file, line or byte, what was found
// and what would be accepted.
CAROM_API carom_status carom_mesh_load(const char* path, carom_mesh** mesh, carom_error* error);

// From arrays, which are copied: vertices [3*vertex_count] m, faces [3*face_count] vertex numbers
// from 0, counter-clockwise from outside. Not finite or out of range: CAROM_ERR_ARGUMENT.
CAROM_API carom_status carom_mesh_create(const double* vertices, int32_t vertex_count,
                                         const int32_t* faces, int32_t face_count,
                                         carom_mesh** mesh, carom_error* error);

// One of carom's own shapes by name, with some of its parameters; the others take their defaults.
CAROM_API carom_status carom_mesh_generate(const char* shape, const char* const* names,
                                           const double* values, int32_t count, carom_mesh** mesh,
                                           carom_error* error);

CAROM_API void carom_mesh_destroy(carom_mesh* mesh); // NULL is fine

// Writes OBJ (.obj) or binary PLY (.ply); reading it back gives the same bits.
CAROM_API carom_status carom_mesh_save(const carom_mesh* mesh, const char* path,
                                       carom_error* error);

CAROM_API int32_t carom_mesh_vertex_count(const carom_mesh* mesh);
CAROM_API int32_t carom_mesh_face_count(const carom_mesh* mesh);

// Lent until the mesh is repaired or destroyed: [3*vertex_count] m and [3*face_count].
CAROM_API const double* carom_mesh_vertices(const carom_mesh* mesh);
CAROM_API const int32_t* carom_mesh_faces(const carom_mesh* mesh);

// Texture coordinates, in m the rest shape of a sheet: uv [2*uv_count], face_uv [3*face_count] into
// it. Count 0 and NULLs when there are none.
CAROM_API int32_t carom_mesh_uv_count(const carom_mesh* mesh);
CAROM_API const double* carom_mesh_uv(const carom_mesh* mesh);
CAROM_API const int32_t* carom_mesh_face_uv(const carom_mesh* mesh);

// What can be generated. Rows are numbered from 0; NULL or false beyond the last.
typedef struct carom_mesh_param {
    const char* name;
    const char* unit; // "m", or "1" for a plain number
    double fallback, least, most;
    int whole; // a whole number
    const char* about;
} carom_mesh_param;

CAROM_API int32_t carom_mesh_shape_count(void);
CAROM_API const char* carom_mesh_shape_name(int32_t shape);
CAROM_API const char* carom_mesh_shape_about(int32_t shape);
CAROM_API int carom_mesh_shape_param(int32_t shape, int32_t param, carom_mesh_param* row);

// Where a defect is; -1 where a number does not apply.
typedef struct carom_mesh_place {
    int32_t face;        // for an edge the first one beside it, for a component its first
    int32_t other;       // the face crossed or repeated, the vertex repeated
    int32_t vertices[3]; // corners, ends of an edge or the vertex itself
    double at[3];        // m
} carom_mesh_place;

#define CAROM_MESH_PLACES 5
#define CAROM_MESH_DEFECTS 11

typedef struct carom_mesh_defect {
    const char* key;  // "open_edges", for programs
    const char* text; // "open edges", as the count asks for
    int64_t count;
    int forbids_rigid;   // a mesh that has it cannot be a rigid body
    int32_t place_count; // how many of the places are filled
    carom_mesh_place places[CAROM_MESH_PLACES];
} carom_mesh_defect;

typedef struct carom_mesh_report {
    int32_t vertex_count, face_count, edge_count, uv_count;
    int32_t component_count;          // parts that hang together by edges
    int32_t hole_count;               // loops of open edges
    int32_t turned_face_count;        // to turn for all faces to agree
    int32_t euler;                    // vertices of faces - edges + faces
    int closed;                       // every edge has two faces that agree
    int crossing_complete;            // 0: the search for crossing faces was cut short
    int rigid;                        // can be a rigid body
    char rigid_text[400];             // why not, empty when it can
    double box_least[3], box_most[3]; // m
    double area;                      // m^2
    int has_mass;                     // closed with a positive volume; else the rest is zero
    double volume;                    // m^3, signed and without meaning for an open mesh
    double centre[3];                 // m
    double inertia[9];           // m^5: kg m^2 for a density of 1 kg/m^3, about the centre, by rows
    double principal_moments[3]; // ascending
    double principal_axes[9];    // a rotation by rows; its columns are the axes
    carom_mesh_defect defects[CAROM_MESH_DEFECTS];
} carom_mesh_report;

// What the mesh is and what is wrong with it.
CAROM_API carom_status carom_mesh_examine(const carom_mesh* mesh, carom_mesh_report* report,
                                          carom_error* error);

typedef struct carom_mesh_repair_options {
    size_t struct_size;
    double weld; // part of the box's diagonal within which vertices become one; 0: equal ones
    int32_t hole_edges; // holes of up to so many edges are filled; 0: none
} carom_mesh_repair_options;

CAROM_API carom_mesh_repair_options carom_mesh_repair_default(void);

typedef struct carom_mesh_repair_report {
    int32_t welded_vertices;
    int32_t collapsed_faces;   // dropped: they named a vertex twice
    int32_t duplicate_faces;   // dropped
    int32_t flattened_faces;   // without area: an edge was swapped with a neighbour's
    int32_t turned_faces;      // to agree with their neighbours
    int32_t turned_components; // that were inside out
    int32_t filled_holes, filled_faces;
    int32_t holes_left; // too long, or with faces around that disagree
    int32_t unused_vertices;
    int dropped_uv; // texture coordinates went because filled faces have none
} carom_mesh_repair_report;

// Mends the mesh and tells what was done. On failure the mesh is as before.
CAROM_API carom_status carom_mesh_repair(carom_mesh* mesh, const carom_mesh_repair_options* options,
                                         carom_mesh_repair_report* report, carom_error* error);

// "OBJ (.obj), PLY (.ply), ...": what load reads.
CAROM_API const char* carom_mesh_formats(void);

#ifdef __cplusplus
}
#endif
