// cloth_parts.h - what the loops of cloth.c and their reverses in cloth_adj.c share; for them
// alone.
#pragma once

#include "bodies/cloth.h"
#include "bodies/membrane_linear.h"

// The material as the elements want it, for one step.
typedef struct cr_cloth_laws {
    cr_membrane_law membrane;
    cr_bending_law bending;
    cr_drag_law drag;
    int has_air;    // a step, and coefficients that are not both 0
    int linear;     // the membrane's quadratic model
    int start;      // the membrane reads the start of the step
    double support; // N/m^3, see membrane_linear.h
} cr_cloth_laws;

// A node has density area/3 of a face's mass; half of it over h^2 makes up for compression, so that
// the matrix of a step keeps the other half.
static inline double cr_cloth_support(double density, double h)
{
    return density / (6.0 * h * h);
}

static inline cr_cloth_laws cr_cloth_laws_make(const cr_cloth_material* m,
                                               const cr_cloth_step* step)
{
    return (cr_cloth_laws){
        .membrane = {m->c11, m->c12, m->c22, m->c33, step ? m->damping / step->h : 0.0},
        .bending = {m->bend, step ? m->bend_damping / step->h : 0.0},
        .drag = {m->drag_normal, m->drag_tangent},
        .has_air = step && (m->drag_normal != 0.0 || m->drag_tangent != 0.0),
        .linear = step && step->linear,
        .start = step && (step->linear || m->damping != 0.0),
        .support = step ? cr_cloth_support(m->density, step->h) : 0.0,
    };
}

// The vectors of count nodes, side by side in out; returns out.
static inline const double* cr_cloth_gather(const int32_t* node, int count, const double* x,
                                            double* out)
{
    for (int a = 0; a < count; a++) {
        const double* from = x + 3 * (size_t)node[a];
        out[3 * a] = from[0];
        out[3 * a + 1] = from[1];
        out[3 * a + 2] = from[2];
    }
    return out;
}

// y_node += factor v, node by node
static inline void cr_cloth_scatter(const int32_t* node, int count, double factor, const double* v,
                                    double* y)
{
    for (int a = 0; a < count; a++) {
        double* to = y + 3 * (size_t)node[a];
        to[0] += factor * v[3 * a];
        to[1] += factor * v[3 * a + 1];
        to[2] += factor * v[3 * a + 2];
    }
}

// Start and wind of one face; the start's numbers live in room [18].
static inline cr_drag_start cr_cloth_air(const cr_cloth_step* step, const int32_t* node,
                                         double* room)
{
    return (cr_drag_start){.h = step->h,
                           .wind = {step->wind[0], step->wind[1], step->wind[2]},
                           .x0 = cr_cloth_gather(node, 3, step->x0, room),
                           .v0 = cr_cloth_gather(node, 3, step->v0, room + 9)};
}

// Rest coordinates of a hinge's face, corners (low, high, opposite).
static inline void cr_cloth_gather_corners(const cr_cloth* cloth, const int32_t* corner, double* p)
{
    for (int k = 0; k < 3; k++) {
        p[2 * k] = cloth->corner[2 * (size_t)corner[k]];
        p[2 * k + 1] = cloth->corner[2 * (size_t)corner[k] + 1];
    }
}

// The axes of a face that is its own rest shape: n = N/|N| normal to it, p the part of the world's
// axis e in its plane, u = p/|p|, v = n x u; a and b lead from corner 0 to the others, N = a x b.
typedef struct cr_cloth_axes {
    cr_vec3 a, b, n, e, u, v;
    double n_length, p_length;
} cr_cloth_axes;

static inline cr_cloth_axes cr_cloth_axes_make(cr_vec3 x0, cr_vec3 x1, cr_vec3 x2)
{
    cr_cloth_axes f;
    f.a = cr_vec3_sub(x1, x0);
    f.b = cr_vec3_sub(x2, x0);
    const cr_vec3 area = cr_vec3_cross(f.a, f.b);
    f.n_length = cr_vec3_norm(area);
    f.n = cr_vec3_scale(1.0 / f.n_length, area);
    // 18.4 degrees about x: far enough for a firm p, and no angle anyone tilts a sheet by
    f.e = f.n.x * f.n.x <= 0.9 ? (cr_vec3){1, 0, 0} : (cr_vec3){0, 1, 0};
    const cr_vec3 p = cr_vec3_add_scaled(f.e, -cr_vec3_dot(f.n, f.e), f.n);
    f.p_length = cr_vec3_norm(p);
    f.u = cr_vec3_scale(1.0 / f.p_length, p);
    f.v = cr_vec3_cross(f.n, f.u);
    return f;
}
