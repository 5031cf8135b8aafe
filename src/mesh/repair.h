// repair.h - mends what can be mended, on request only, and tells what it did.
#pragma once

#include "mesh/trimesh.h"

typedef struct cr_repair_options {
    double weld;        // vertices within this part of the box's diagonal become one; 0: equal ones
    int32_t hole_edges; // holes of up to so many edges are filled; 0: none
} cr_repair_options;

typedef struct cr_repair_report {
    int32_t welded_vertices;
    int32_t collapsed_faces; // dropped: they named a vertex twice, maybe after welding
    int32_t duplicate_faces; // dropped
    int32_t flattened_faces; // without area: their edge to a neighbour was swapped
    int32_t turned_faces;    // to agree with their neighbours
    int32_t turned_inside;   // components turned inside out, and back now
    int32_t filled_holes, filled_faces;
    int32_t holes_left;      // too long, or with faces around that disagree
    int32_t unused_vertices; // dropped
    int dropped_uv;          // filled faces have no texture coordinates, so all are dropped
} cr_repair_report;

// Equal vertices welded, holes of up to 100 edges filled.
cr_repair_options cr_repair_default(void);

// Mends *mesh in this order: weld, drop collapsed and duplicate faces, swap away faces without
// area, turn faces to agree, fill holes (a fan about the rim's middle), turn components outwards
// (cavities inwards), drop unused vertices. Vertices have to be finite and indices in range
// (CAROM_ERR_ARGUMENT), as weld and hole_edges have to be zero or positive. CAROM_ERR_MEMORY: the
// mesh is as before.
carom_status cr_repair_run(cr_trimesh* mesh, const cr_repair_options* options,
                           cr_repair_report* report);
