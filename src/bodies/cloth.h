// cloth.h - a sheet: its rest shape and material, and its potential with every derivative.
//
// The potential of a step is that of membrane.h over the faces, bending.h over the hinges and
// drag.h over the faces. The implicit step minimises |z - zt|_M^2/2 + h^2 potential(z); its adjoint
// asks for the exact Hessian and for the reverse of u . gradient. Nothing here allocates but the
// build, and all sums run in the order of faces and hinges.
#pragma once

#include "bodies/bending.h"
#include "bodies/drag.h"
#include "bodies/membrane.h"
#include "core/param.h"
#include "mesh/trimesh.h"

// Numbers alone, so that one of these also serves as the gradient with respect to another.
typedef struct cr_cloth_material {
    double density;                   // kg/m^2
    double c11, c22, c12, c33;        // N/m, c12^2 <= c11 c22
    double bend;                      // N m
    double damping, bend_damping;     // s
    double drag_normal, drag_tangent; // kg/m^3, kg/(m^2 s)
} cr_cloth_material;

extern const cr_param cr_cloth_params[]; // one row per field, ended by a row without a name

cr_cloth_material cr_cloth_material_default(void);

// CAROM_ERR_ARGUMENT and a message that begins with `where` for a number outside its row's range,
// or moduli that would let the sheet gain energy by deforming.
carom_status cr_cloth_material_check(const cr_cloth_material* material, const char* where,
                                     carom_error* error);

// Constant once built; owns its arrays. Zero-initialised is empty. A corner is numbered 3*face + k.
typedef struct cr_cloth {
    int32_t node_count, face_count, hinge_count, pair_count;
    int32_t* face;          // [3*face_count] node of every corner
    double* corner;         // [6*face_count] m, rest coordinates (u,v) of every corner
    cr_membrane_rest* rest; // [face_count]
    double* node_area;      // [node_count] m^2, a third of the faces around
    int32_t* hinge;         // [4*hinge_count] nodes: edge low, high, opposite of either face
    int32_t* hinge_corner;  // [6*hinge_count] corners of (low, high, opposite) in either face
    cr_bending_rest* bend;  // [hinge_count]
    int32_t (*pair)[2];     // [pair_count] nodes (i,j), i >= j, whose Hessian block may be nonzero,
                            // ascending by j, then i; diagonals are all there
    int32_t* face_pair;  // [6*face_count] pair of corners (a,b) at a(a+1)/2+b; ~pair when it holds
                         // the transpose
    int32_t* hinge_pair; // [10*hinge_count] likewise for nodes (a,b); those blocks are symmetric
} cr_cloth;

// From texture coordinates where the mesh has them: they are the rest shape in metres, u is warp, v
// weft, and seams (one node with several coordinates) are sewn without a trace. Without them every
// face is its own rest shape, laid flat in its plane with u along the plane's part of the world's x
// (of y where the face looks along x): warp is then one direction on a plane sheet and bends with a
// curved one. Edges with more than two faces hinge the first face with each of the others.
// CAROM_ERR_MESH and a message that names the face or vertex: no faces, an index out of range, a
// face without area, two faces on the same three vertices, a vertex without a face. The mesh is
// read at build time only; *cloth is released first, and empty after any failure.
carom_status cr_cloth_build(cr_cloth* cloth, const cr_trimesh* mesh, carom_error* error);
void cr_cloth_release(cr_cloth* cloth);

// What follows from `corner`, after somebody has changed it: rest, node_area and bend. Its reverse
// is in cr_cloth_gradient_adj and cr_cloth_mass_adj. CAROM_ERR_MESH: a face has no area any more;
// the sheet is then not to be used until corners that are good have been set.
carom_status cr_cloth_reshape(cr_cloth* cloth);

// mass [node_count] kg = density node_area. The reverse adds to density_bar and corner_bar
// [6*face_count].
void cr_cloth_mass(const cr_cloth* cloth, double density, double* mass);
void cr_cloth_mass_adj(const cr_cloth* cloth, double density, const double* mass_bar,
                       double* density_bar, double* corner_bar);

// What a step brings along. Borrows its arrays.
typedef struct cr_cloth_step {
    double h;         // s, above 0
    double wind[3];   // m/s
    const double* x0; // [3*node_count] m, start of the step
    const double* v0; // [3*node_count] m/s
    int32_t linear; // nonzero: the membrane by its quadratic model at x0, membrane_linear.h, which
                    // is convex with the inertia of a step; bending and drag are quadratic anyway
} cr_cloth_step;

// In all that follows x [3*node_count] m are the nodes at the end of the step. Without a step
// (NULL) the potential is the elastic energy alone: no damping, no air. Of a linear step the
// curvature that is asked of cr_cloth_hessian plays no part, and the functions that say so are not
// defined.

double cr_cloth_energy(const cr_cloth* cloth, const cr_cloth_material* material,
                       const cr_cloth_step* step, const double* x); // J

// g [3*node_count] += factor gradient
void cr_cloth_gradient(const cr_cloth* cloth, const cr_cloth_material* material,
                       const cr_cloth_step* step, const double* x, double factor, double* g);

typedef enum cr_cloth_curvature {
    CR_CLOTH_EXACT,     // what the adjoint needs; indefinite under compression
    CR_CLOTH_PROJECTED, // element by element positive semidefinite, for Newton far from the
                        // solution
} cr_cloth_curvature;

// block [9*pair_count] += factor Hessian: block e, row-major, has the rows of node pair[e][0] and
// the columns of node pair[e][1]. The order of pairs is that of the entries of a cr_block_matrix
// over the nodes of this sheet alone, whose `lower` can therefore be passed as it is.
void cr_cloth_hessian(const cr_cloth* cloth, const cr_cloth_material* material,
                      const cr_cloth_step* step, const double* x, cr_cloth_curvature curvature,
                      double factor, double* block);

// y [3*node_count] += the matrix of such blocks times d
void cr_cloth_blocks_apply(const cr_cloth* cloth, const double* block, const double* d, double* y);

// loss [node_count] += factor times so much that with it on the diagonal of its node the exact
// Hessian is positive semidefinite. Not of a linear step.
void cr_cloth_buckle(const cr_cloth* cloth, const cr_cloth_material* material,
                     const cr_cloth_step* step, const double* x, double factor, double* loss);

// y [3*node_count] += factor Hessian d, exact
void cr_cloth_apply(const cr_cloth* cloth, const cr_cloth_material* material,
                    const cr_cloth_step* step, const double* x, const double* d, double factor,
                    double* y);

// y [3*node_count] += factor D3[a,b], the third derivative with two places filled. Not of a linear
// step.
void cr_cloth_third(const cr_cloth* cloth, const cr_cloth_material* material,
                    const cr_cloth_step* step, const double* x, const double* a, const double* b,
                    double factor, double* y);

// Where the reverse adds; a NULL is a derivative nobody asked for.
typedef struct cr_cloth_bars {
    cr_cloth_material* material; // density gets what a linear step feels of it, not the mass
    double* h;                   // of the damping and the drag; the h^2 before the potential is the
                                 // caller's
    double* wind;                // [3]
    double* x0;                  // [3*node_count]
    double* v0;                  // [3*node_count]
    double* corner;              // [6*face_count]
} cr_cloth_bars;

// Reverse of the gradient under the loss factor u . gradient, u [3*node_count]. The derivative with
// respect to x is cr_cloth_apply along u.
void cr_cloth_gradient_adj(const cr_cloth* cloth, const cr_cloth_material* material,
                           const cr_cloth_step* step, const double* x, const double* u,
                           double factor, const cr_cloth_bars* bars);

// Changes that the gradient is asked along; a NULL is none, but x0 and v0 are always there. Of
// density, what a linear step feels of it.
typedef struct cr_cloth_tangents {
    const cr_cloth_material* material;
    const double* wind;   // [3]
    const double* x0;     // [3*node_count]
    const double* v0;     // [3*node_count]
    const double* corner; // [6*face_count]
} cr_cloth_tangents;

// Forward: y [3*node_count] += factor times the change of the gradient, x held.
void cr_cloth_gradient_jvp(const cr_cloth* cloth, const cr_cloth_material* material,
                           const cr_cloth_step* step, const double* x, double factor,
                           const cr_cloth_tangents* d, double* y);

// Forward of cr_cloth_mass by the corners alone: mass [node_count] += its change.
void cr_cloth_mass_jvp(const cr_cloth* cloth, double density, const double* dcorner, double* mass);

// Reverse of the rest coordinates: carries corner_bar [6*face_count] on to the mesh the sheet was
// built from, adding to uv_bar [2*uv_count] when it has texture coordinates, else to x_bar
// [3*vertex_count]. The other one may be NULL.
void cr_cloth_corner_adj(const cr_trimesh* mesh, const double* corner_bar, double* uv_bar,
                         double* x_bar);
