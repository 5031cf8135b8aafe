// check.h - what a mesh is, what is wrong with it and where.
#pragma once

#include "mesh/mass.h"
#include "mesh/trimesh.h"

// kind, key for programs, one, several, does it forbid a rigid body
#define CR_CHECK_LIST(X)                                                                           \
    X(NOT_FINITE, "not_finite", "vertex that is not finite", "vertices that are not finite", 1)    \
    X(OPEN_EDGE, "open_edges", "open edge", "open edges", 1)                                       \
    X(CROWDED_EDGE, "crowded_edges", "edge with more than two faces",                              \
      "edges with more than two faces", 1)                                                         \
    X(TURNED_EDGE, "turned_edges", "edge whose two faces disagree which side is out",              \
      "edges whose two faces disagree which side is out", 1)                                       \
    X(INSIDE_OUT, "inside_out", "component turned inside out", "components turned inside out", 1)  \
    X(DEGENERATE_FACE, "degenerate_faces", "face without area", "faces without area", 1)           \
    X(DUPLICATE_FACE, "duplicate_faces", "face that repeats another", "faces that repeat others",  \
      1)                                                                                           \
    X(CROSSING, "self_intersections", "pair of faces that cross", "pairs of faces that cross", 0)  \
    X(PINCHED_VERTEX, "pinched_vertices", "vertex where the surface touches itself",               \
      "vertices where the surface touches itself", 0)                                              \
    X(DUPLICATE_VERTEX, "duplicate_vertices", "vertex at the place of another",                    \
      "vertices at the place of others", 0)                                                        \
    X(UNUSED_VERTEX, "unused_vertices", "vertex of no face", "vertices of no face", 0)

typedef enum cr_check_kind {
#define X(kind, key, one, several, forbids) CR_CHECK_##kind,
    CR_CHECK_LIST(X)
#undef X
        CR_CHECK_KINDS
} cr_check_kind;

typedef struct cr_check_kind_text {
    const char *key, *one, *several;
    int forbids_rigid;
} cr_check_kind_text;

const cr_check_kind_text* cr_check_text(cr_check_kind kind);

enum { CR_CHECK_PLACES = 5 }; // how many places of each kind are told

typedef struct cr_check_place {
    int32_t face;      // for an edge the first one beside it, for a component its first; -1: none
    int32_t other;     // the face crossed or repeated, the vertex repeated; -1: none
    int32_t vertex[3]; // corners, ends of an edge or the vertex itself; -1: none
    cr_vec3 at;        // m
} cr_check_place;

typedef struct cr_check_defect {
    int64_t count;
    int32_t place_count;
    cr_check_place place[CR_CHECK_PLACES]; // the first ones, in the order of the mesh
} cr_check_defect;

typedef struct cr_check_report {
    int32_t vertex_count, face_count, edge_count, uv_count;
    int32_t component_count;   // parts that hang together by edges
    int32_t hole_count;        // loops of open edges, and chains where the faces disagree
    int32_t turned_face_count; // the least number of faces to turn for all to agree
    int32_t euler;             // vertices of faces - edges + faces
    int closed;                // every edge has two faces that agree
    int crossing_complete;     // 0: crossings were not searched for, or not to the end
    cr_vec3 least, most;       // m, box of the finite vertices
    double area;               // m^2
    int has_mass;              // closed and a positive volume: then mass means something
    cr_mass mass;              // for 1 kg/m^3
    cr_check_defect defect[CR_CHECK_KINDS];
} cr_check_report;

// Indices have to be in range; everything else may be wrong. Crossings take most of the time and
// are searched for only when asked. CAROM_ERR_MEMORY leaves the report undefined.
carom_status cr_check_run(const cr_trimesh* mesh, int crossings, cr_check_report* report);

// Whether the mesh can be a rigid body: finite, closed, oriented outwards, every face with an area.
// CAROM_ERR_MESH with a message that counts what is in the way; name is the mesh's, for that.
carom_status cr_check_rigid(const cr_check_report* report, const char* name, carom_error* error);

// A face whose height is below this part of its longest side has no area worth the name: its
// normal is round-off.
#define CR_CHECK_FLATNESS 1e-10
int cr_check_face_degenerate(const cr_trimesh* mesh, int32_t face);

// duplicate[face_count]: the earlier face with the same three vertices, in any order, or -1.
carom_status cr_check_duplicates(const cr_trimesh* mesh, int32_t* duplicate);
