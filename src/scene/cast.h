// cast.h - one body of a scene file made into geometry and weight: what all its copies share.
#pragma once

#include "math/quat.h"
#include "mesh/topology.h"
#include "scene/scene.h"

// Owns its meshes, topology and sheet. Zero-initialised is empty.
typedef struct cr_cast {
    int32_t value;        // in the document
    cr_body_spec spec;    // as the file says
    cr_material_spec has; // the body's own numbers, else the material's, else the world's
    int32_t copies[3];    // along x, y, z; 1, 1, 1 without copies
    cr_copies_spec block;
    // The mesh after scale and inset. Of a rigid body in principal axes about its centre of mass,
    // else in its own axes about its origin.
    cr_trimesh mesh;
    cr_topology topology;
    int32_t closed;   // every edge has two faces that agree on the outside
    double size;      // m, the longest side of the box around the mesh
    double radius;    // m, the layer around the mesh
    double width;     // m, how deep contacts reach into that layer
    int32_t barrier;  // nonzero: contacts have a width
    double mass;      // kg, 0 unless rigid
    double density;   // kg/m^3, mass over volume, 0 unless rigid
    cr_vec3 inertia;  // kg m^2, principal, 0 unless rigid
    cr_vec3 centre;   // m, in the mesh's own axes (after scale), 0 unless rigid
    cr_quat axes;     // from principal axes to the mesh's own
    cr_quat rotation; // as the file says
    uint8_t lock;     // CR_LOCK_*
    // of cloth
    cr_trimesh rest; // what its sheet is built from
    cr_cloth sheet;  // built once; the first copy takes it
    char note[400];  // what was done that the scene did not say; empty: nothing
} cr_cast;

// path says where the body sits, for messages. CAROM_ERR_SCENE, _MESH, _FILE, _FORMAT or _MEMORY
// with a message; the cast is empty then.
carom_status cr_cast_make(cr_cast* cast, const cr_scene* scene, const cr_world_spec* world,
                          int32_t value, cr_form_path* path, carom_error* error);
void cr_cast_release(cr_cast* cast);

// Whether an edge of its mesh may touch first, so that it belongs to the contact surface.
int cr_cast_keeps_edge(const cr_cast* cast, int32_t edge);
