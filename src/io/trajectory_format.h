// trajectory_format.h - the fixed parts of a trajectory file, byte for byte; docs/trajectory.md is
// the same in words. A change of any of these is a new version.
#pragma once

#include "core/status.h"
#include "io/chunk.h"

enum { CR_TRAJECTORY_VERSION = 1 };

// The first 16 bytes of the file.
typedef struct cr_trajectory_start {
    char magic[8]; // "CAROMTRJ"
    uint32_t version;
    uint32_t order; // CR_TRAJECTORY_ORDER, as the machine that wrote it keeps numbers
} cr_trajectory_start;

#define CR_TRAJECTORY_MAGIC "CAROMTRJ"
#define CR_TRAJECTORY_ORDER 0x01020304u

#define CR_TRAJECTORY_HEAD CR_CHUNK_TYPE('H', 'E', 'A', 'D')   // counts, dt, gravity
#define CR_TRAJECTORY_BODIES CR_CHUNK_TYPE('B', 'O', 'D', 'Y') // one record and name per body
#define CR_TRAJECTORY_MESH CR_CHUNK_TYPE('M', 'E', 'S', 'H')   // vertices, edges, faces
#define CR_TRAJECTORY_NODES CR_CHUNK_TYPE('N', 'O', 'D', 'E')  // masses and pins of cloth nodes
#define CR_TRAJECTORY_PASS CR_CHUNK_TYPE('P', 'A', 'S', 'S')   // bodies that ignore each other
#define CR_TRAJECTORY_SCENE CR_CHUNK_TYPE('S', 'C', 'E', 'N')  // the scene's name and text
#define CR_TRAJECTORY_FRAME CR_CHUNK_TYPE('F', 'R', 'A', 'M')
#define CR_TRAJECTORY_GRADIENT CR_CHUNK_TYPE('G', 'R', 'A', 'D') // of the frame before it
#define CR_TRAJECTORY_DONE CR_CHUNK_TYPE('D', 'O', 'N', 'E')     // the run ended, and how

typedef struct cr_trajectory_head {
    int32_t body_count, vertex_count, edge_count, face_count, frame_count, node_count;
    int32_t every; // steps from frame to frame; the last may come sooner
    int32_t unused;
    double dt;         // s
    double gravity[3]; // m/s^2
} cr_trajectory_head;

// Followed by the name: name_size bytes, zeros at its end included, a multiple of 8.
typedef struct cr_trajectory_body {
    int32_t kind;  // cr_body_kind
    int32_t frame; // -1 for cloth
    int32_t vertex_count, edge_count, face_count;
    int32_t flags; // CR_SURFACE_*
    int32_t group; // -1: none
    int32_t name_size;
    double radius; // m
    double friction, restitution;
    double mass;       // kg, 0 unless rigid
    double inertia[3]; // kg m^2, principal
    double own_t[3];   // m, the mesh's own axes seen in the frame
    double own_q[4];   // w,x,y,z
} cr_trajectory_body;

// Followed by t [3], q [4], v [3], om [3] of all frames, x [3], xv [3] of all nodes (each array
// whole before the next) and the contacts.
typedef struct cr_trajectory_step {
    int64_t step;
    uint64_t state_hash;
    double time;                      // s
    double kinetic, gravity, elastic; // J
    double least_gap, residual;       // m; 1. As in cr_step_report
    int32_t zones, contacts, max_zone_dofs, max_zone_contacts, parts, iterations, factorisations;
    int32_t weakly_active, events, retries;
    int32_t contact_count; // records that follow
    int32_t eased;
} cr_trajectory_step;

typedef struct cr_trajectory_contact {
    int32_t body[2]; // A, B
    int32_t zone;
    int32_t unused;
    double point[3];   // m
    double normal[3];  // from A to B
    double impulse[3]; // N s on B
} cr_trajectory_contact;

// Followed by the text, text_size bytes and zeros up to a multiple of 8.
typedef struct cr_trajectory_done {
    int64_t frame_count;
    int32_t status; // carom_status with which the run ended
    int32_t text_size;
} cr_trajectory_done;

// Followed by name and text, each with zeros up to a multiple of 8.
typedef struct cr_trajectory_scene {
    int64_t name_size, text_size;
} cr_trajectory_scene;

_Static_assert(sizeof(cr_trajectory_start) == 16, "no padding in what is written");
_Static_assert(sizeof(cr_trajectory_head) == 64, "no padding in what is written");
_Static_assert(sizeof(cr_trajectory_body) == 144, "no padding in what is written");
_Static_assert(sizeof(cr_trajectory_step) == 112, "no padding in what is written");
_Static_assert(sizeof(cr_trajectory_contact) == 88, "no padding in what is written");
_Static_assert(sizeof(cr_trajectory_done) == 16, "no padding in what is written");
_Static_assert(sizeof(cr_trajectory_scene) == 16, "no padding in what is written");
