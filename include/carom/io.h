// io.h - trajectories: record a simulation into a file, read it back, judge its frames. The format
// is described in docs/trajectory.md.
#pragma once

#include "carom/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_recorder carom_recorder;     // writes one file; one thread at a time
typedef struct carom_trajectory carom_trajectory; // reads one file; one thread at a time

typedef struct carom_recorder_options {
    size_t struct_size;
    const char* scene_name; // kept in the file; NULL: none
    const char* scene_text; // likewise: what carom_scene_text gives
    int32_t every;          // steps from frame to frame, for readers of the file
} carom_recorder_options;
CAROM_API carom_recorder_options carom_recorder_default(void);

// Records simulations of a model, which must outlive the recorder. Until carom_recorder_finish the
// file is called PATH.part and a file at PATH stays as it is; whatever happens to the run, the
// frames added so far can be read from PATH.part. A pipe or a device is written to directly.
// options may be NULL. On failure *recorder is NULL.
CAROM_API carom_status carom_recorder_create(const carom_model* model, const char* path,
                                             const carom_recorder_options* options,
                                             carom_recorder** recorder, carom_error* error);

// Appends the present state of a simulation of that model. Steps have to ascend.
CAROM_API carom_status carom_recorder_add(carom_recorder* recorder, const carom_sim* sim,
                                          carom_error* error);

// What an objective feels of the state that was added last, as carom_problem_watcher tells it:
// position and force [3*body_count], vertex [3*carom_model_vertex_count].
CAROM_API carom_status carom_recorder_gradient(carom_recorder* recorder, const double* position,
                                               const double* force, const double* vertex,
                                               carom_error* error);

// Writes how the run ended (CAROM_OK, or what stopped it, with a text or NULL), waits until all is
// on the disk and gives the file its name.
CAROM_API carom_status carom_recorder_finish(carom_recorder* recorder, carom_status outcome,
                                             const char* text, carom_error* error);
CAROM_API void carom_recorder_destroy(carom_recorder* recorder); // NULL is fine

// Where the file is now; its bytes and frames so far. Lent until the recorder is destroyed.
CAROM_API const char* carom_recorder_path(const carom_recorder* recorder);
CAROM_API int64_t carom_recorder_size(const carom_recorder* recorder);
CAROM_API int64_t carom_recorder_frames(const carom_recorder* recorder);

// ---- reading

// Whether a file begins as a trajectory does.
CAROM_API int carom_trajectory_recognise(const char* path);

// Opens a file and checks all of it. A file that was cut off or damaged opens, with the frames
// before that place, as long as the part before the first frame is whole. On failure *trajectory is
// NULL.
CAROM_API carom_status carom_trajectory_open(const char* path, carom_trajectory** trajectory,
                                             carom_error* error);
CAROM_API void carom_trajectory_close(carom_trajectory* trajectory); // NULL is fine

typedef enum carom_trajectory_end {
    CAROM_TRAJECTORY_WHOLE,   // the run ended, well or not, and all is there
    CAROM_TRAJECTORY_CUT,     // the file stops before the run ended: killed, or still going on
    CAROM_TRAJECTORY_DAMAGED, // bytes are not what was written
} carom_trajectory_end;

typedef struct carom_trajectory_info {
    int64_t frame_count;
    int64_t gradient_count; // frames that have a gradient (carom grad --out)
    int64_t size;           // bytes of the file
    int64_t good_size;      // of which so many are good
    double dt;              // s, one step
    double gravity[3];      // m/s^2
    int32_t every;          // steps from frame to frame; the last may come sooner
    int32_t body_count, vertex_count, edge_count, face_count;
    carom_trajectory_end end;
    const char* end_text;     // what is wrong after the last good byte; "" when whole
    carom_status outcome;     // how the run ended, when whole
    const char* outcome_text; // "" when there is no more to say
    const char* scene_name;   // "" when it was not recorded
    const char* scene_text;   // likewise
} carom_trajectory_info;

// The texts are lent until the trajectory is closed.
CAROM_API carom_trajectory_info carom_trajectory_about(const carom_trajectory* trajectory);

CAROM_API carom_status carom_trajectory_body(const carom_trajectory* trajectory, int32_t body,
                                             carom_body_info* info);

// Lent until the trajectory is closed: vertices in the frames of their bodies (of cloth at rest)
// [3*vertex_count] m; edges [2*edge_count] and faces [3*face_count] by vertices of the scene. Of
// rigid bodies only edges that can touch something first are listed.
CAROM_API const double* carom_trajectory_mesh(const carom_trajectory* trajectory);
CAROM_API const int32_t* carom_trajectory_edges(const carom_trajectory* trajectory);
CAROM_API const int32_t* carom_trajectory_faces(const carom_trajectory* trajectory);

// Reads a frame, which everything below is about. Before the first call and after a failure there
// is none: counts are 0, bodies CAROM_ERR_MISUSE and numbers 0.
CAROM_API carom_status carom_trajectory_read(carom_trajectory* trajectory, int64_t frame,
                                             carom_error* error);

CAROM_API int64_t carom_trajectory_step(const carom_trajectory* trajectory);
CAROM_API double carom_trajectory_time(const carom_trajectory* trajectory);   // s
CAROM_API uint64_t carom_trajectory_hash(const carom_trajectory* trajectory); // carom_sim_hash
CAROM_API carom_energy carom_trajectory_energy(const carom_trajectory* trajectory);
CAROM_API carom_step_info carom_trajectory_step_info(const carom_trajectory* trajectory);
CAROM_API carom_status carom_trajectory_body_state(const carom_trajectory* trajectory, int32_t body,
                                                   carom_body_state* state);
CAROM_API int32_t carom_trajectory_contact_count(const carom_trajectory* trajectory);
CAROM_API void carom_trajectory_contact(const carom_trajectory* trajectory, int32_t i,
                                        carom_contact* contact);
// x [3*vertex_count] m, to the bit what carom_sim_vertices gave.
CAROM_API carom_status carom_trajectory_vertices(const carom_trajectory* trajectory, double* x);

// What an objective feels of the frame, all that follows included: dL/dposition and dL/dforce (of
// the step that begins there) of every body, of cloth summed over its nodes, [3*body_count] each,
// and dL/dx of cloth's vertices [3*vertex_count], 0 for others. Any may be NULL. CAROM_ERR_MISUSE
// when the frame has no gradient; nothing is written then.
CAROM_API carom_status carom_trajectory_gradient(const carom_trajectory* trajectory,
                                                 double* position, double* force, double* vertex);

// What an exact test that shares no code with the engine's own finds in the frame.
typedef struct carom_intersection {
    int32_t face_pairs; // that intersect; a sphere and a capsule's axis count as faces
    int32_t inside;     // bodies wholly inside another, looked for when face_pairs is 0
    int32_t body[2];    // of the first one found (inside: the inner one first), -1 when all is well
    double place[3];    // m, near where; of a body inside, one of its vertices
    double min_distance; // m, between the surfaces of two bodies without their thickness, a sphere
                         // and a capsule with their radius; search_distance when all are farther
    int32_t min_body[2]; // -1 likewise
} carom_intersection;

// search_distance m: how far to look for the closest bodies; the less, the faster.
CAROM_API carom_status carom_trajectory_intersect(const carom_trajectory* trajectory,
                                                  double search_distance, carom_intersection* found,
                                                  carom_error* error);

#ifdef __cplusplus
}
#endif
