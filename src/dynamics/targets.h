// targets.h - where inertia and outer forces alone would take a body or a node in one step.
#pragma once

#include "math/quat.h"
#include <stdint.h>

// What acts on a body during a step.
typedef struct cr_action {
    cr_vec3 gravity;        // m/s^2
    cr_vec3 force;          // N, world axes, at the centre of mass
    cr_vec3 torque;         // N m, world axes
    double linear_damping;  // 1/s
    double angular_damping; // 1/s
} cr_action;

typedef struct cr_target {
    cr_quat q;      // orientation at the end
    cr_vec3 u;      // m, displacement
    cr_vec3 v;      // m/s
    cr_vec3 om;     // rad/s, body axes at the end
    cr_vec3 rate;   // rad/s, body axes: the path turns as exp(s rate)
    cr_vec3 a;      // m/s^2, constant acceleration that leads to v, damping and locks included
    cr_vec3 torque; // N m, body axes, constant torque that leads to om in the same sense; of a body
                    // that cannot turn about every axis: inertia times the change of the spin per
                    // second, in the body axes of the start
} cr_target;

// What a velocity becomes over h under v' = a - c v with constant a: keep v + gain a, exactly.
// keep = exp(-c h), gain = (1 - keep)/c; the slopes are those by c.
typedef struct cr_targets_fade {
    double keep, gain;             // 1, s
    double keep_slope, gain_slope; // s, s^2
} cr_targets_fade;
cr_targets_fade cr_targets_fade_make(double c, double h);

// Free motion of a rigid body over h: v1 = keep v + gain a, u = h v1; the angular momentum is kept
// but for damping, of the same law, see bodies/spin.h. Velocities along locked directions
// (CR_LOCK_*) are 0; about those that are not, what the locks do not hold is kept, see
// bodies/spin_held.h.
cr_target cr_targets_rigid(double mass, cr_vec3 inertia, int32_t lock, double h,
                           const cr_action* action, cr_quat q, cr_vec3 v, cr_vec3 om);

// Displacement of a free node: h (keep v + gain (gravity + force/mass)); h v + h^2 (...) undamped.
cr_vec3 cr_targets_node(double mass, double h, cr_vec3 gravity, cr_vec3 force, double damping,
                        cr_vec3 v);

// Bars of a target (q along R -> R exp([delta])), or changes of one.
typedef struct cr_target_bars {
    cr_vec3 q, u, v, om, rate, a, torque;
} cr_target_bars;

// Bars, or changes, of what led to it.
typedef struct cr_target_starts {
    cr_vec3 q, v, om;
    cr_vec3 gravity, force, torque;
    cr_vec3 inertia;
    double mass, linear_damping, angular_damping;
} cr_target_starts;

// Reverse of cr_targets_rigid; adds to *out.
void cr_targets_rigid_adj(double mass, cr_vec3 inertia, int32_t lock, double h,
                          const cr_action* action, const cr_target* target, cr_quat q, cr_vec3 v,
                          cr_vec3 om, const cr_target_bars* in, cr_target_starts* out);

// Reverse of cr_targets_node; adds.
void cr_targets_node_adj(double mass, double h, cr_vec3 gravity, cr_vec3 force, double damping,
                         cr_vec3 v, cr_vec3 dt_bar, cr_vec3* v_bar, cr_vec3* gravity_bar,
                         cr_vec3* force_bar, double* mass_bar, double* damping_bar);

// Forward: changes of a target for those of what leads to it.
void cr_targets_rigid_jvp(double mass, cr_vec3 inertia, int32_t lock, double h,
                          const cr_action* action, const cr_target* target, cr_quat q, cr_vec3 v,
                          cr_vec3 om, const cr_target_starts* d, cr_target_bars* out);
cr_vec3 cr_targets_node_jvp(double mass, double h, cr_vec3 gravity, cr_vec3 force, double damping,
                            cr_vec3 v, cr_vec3 dv, cr_vec3 dgravity, cr_vec3 dforce, double dmass,
                            double ddamping);
