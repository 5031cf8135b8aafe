// shapes.h - meshes for bodies that have none: spheres and capsules, for files of other programs.
#pragma once

#include "carom/io.h"
#include "carom/mesh.h"

// What stands for a body without faces: a sphere or a capsule in its own axes, or NULL.
typedef struct cli_shapes {
    carom_mesh** of; // [count]
    int32_t count;   // bodies
} cli_shapes;

carom_status cli_shapes_make(cli_shapes* shapes, const carom_trajectory* trajectory,
                             carom_error* error);
void cli_shapes_release(cli_shapes* shapes);

void cli_shapes_shift(const double t[3], const double p[3], double x[3]); // x = p + t
// x = q p + t, q a unit quaternion w,x,y,z.
void cli_shapes_move(const double t[3], const double q[4], const double p[3], double x[3]);
