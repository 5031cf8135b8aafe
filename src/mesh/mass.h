// mass.h - what a closed mesh weighs, where its centre is and how hard it is to turn, with the
// derivatives by its vertices. Exact integrals over the solid inside, for a density of 1 kg/m^3.
#pragma once

#include "math/mat3.h"
#include "mesh/trimesh.h"

typedef struct cr_mass {
    double volume;   // m^3, negative for a mesh turned inside out
    cr_vec3 centre;  // m
    cr_mat3 inertia; // m^5 = kg m^2 per kg/m^3, about the centre
} cr_mass;

// The mesh has to be closed, oriented and sound; for others the numbers mean nothing.
// CAROM_ERR_MESH when the volume is not positive or vanishes against the surface: then volume is
// set, centre and inertia are zero.
carom_status cr_mass_integrate(const cr_trimesh* mesh, cr_mass* mass);

// Reverse of cr_mass_integrate where it returned CAROM_OK: adds dL/dx to x_bar [3*vertex_count],
// given dL/d(volume, centre, inertia) in mass_bar. The nine entries of inertia count one by one:
// dL = sum_ij inertia_bar_ij dinertia_ij.
void cr_mass_integrate_adj(const cr_trimesh* mesh, const cr_mass* mass_bar, double* x_bar);

// Moments (ascending) and axes with inertia = R diag(moments) R^T. The columns of R are the axes:
// a rotation; the largest component of each of the first two is positive, the first such on a tie.
// Asks a symmetric matrix; a NaN in it comes out as NaN.
void cr_mass_principal(cr_mat3 inertia, cr_vec3* moments, cr_mat3* axes);

// Sum of the areas of all faces, m^2.
double cr_mass_area(const cr_trimesh* mesh);
