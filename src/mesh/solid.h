// solid.h - closed meshes of simple solids, outward and watertight, the box around each one centred
// at the origin; those with an axis stand along z. Lengths in m. Each replaces *mesh and leaves it
// empty on failure: CAROM_ERR_ARGUMENT for what makes no solid, CAROM_ERR_MEMORY.
#pragma once

#include "mesh/trimesh.h"

// Eight corners, two triangles a side.
carom_status cr_solid_box(cr_trimesh* mesh, cr_vec3 size);

// An icosahedron whose faces are split in four, subdivisions times over (0..8); its vertices lie on
// the sphere. 20 * 4^subdivisions faces of nearly equal size.
carom_status cr_solid_icosphere(cr_trimesh* mesh, double radius, int32_t subdivisions);

// Meridians and parallels: segments around the axis (>= 3), rings from pole to pole (>= 2).
carom_status cr_solid_uv_sphere(cr_trimesh* mesh, double radius, int32_t segments, int32_t rings);

// stacks bands of faces along the height.
carom_status cr_solid_cylinder(cr_trimesh* mesh, double radius, double height, int32_t segments,
                               int32_t stacks);

// Two half spheres whose centres are length apart; rings bands of faces on each.
carom_status cr_solid_capsule(cr_trimesh* mesh, double radius, double length, int32_t segments,
                              int32_t rings);

// The point is up.
carom_status cr_solid_cone(cr_trimesh* mesh, double radius, double height, int32_t segments);

// major: from the axis to the middle of the tube; minor: the tube's radius, less than major.
carom_status cr_solid_torus(cr_trimesh* mesh, double major, double minor, int32_t segments,
                            int32_t rings);

// Half a spherical shell, open side up, thickness less than radius, which is the outer one.
carom_status cr_solid_bowl(cr_trimesh* mesh, double radius, double thickness, int32_t segments,
                           int32_t rings);
