// spin.h - the turning of a rigid body: freely over a time, and the update after a contact zone.
//
// Body coordinates are principal axes about the centre of mass: `inertia` holds the three positive
// diagonal entries [kg m^2], om is the spin in the body frame [rad/s]. An orientation q is a unit
// quaternion, R its matrix; its bar is a 3-vector, the derivative along R -> R exp([delta]). The
// reverse functions add to every output; none may be NULL.
#pragma once

#include "math/rot.h"

// Constant torque (body frame, [N m]) over a time h: with E = exp(h om)
//   R_p = R E,   om_1 = I^-1 (E^T I om + h torque).
// Without torque the angular momentum R I om keeps its direction and length to round-off.
void cr_spin_predict(cr_vec3 inertia, double h, cr_quat q, cr_vec3 om, cr_vec3 torque, cr_quat* q_p,
                     cr_vec3* om_1);

// Reverse of cr_spin_predict. h_bar is dL/dh, the rate at the end of the path (for an event's
// time).
void cr_spin_predict_adj(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque, cr_vec3 q_p_bar,
                         cr_vec3 om_1_bar, cr_vec3* q_bar, cr_vec3* om_bar, cr_vec3* torque_bar,
                         cr_vec3* inertia_bar, double* h_bar);

// After a zone turned the prediction by w (|w| < 2 pi) in a step of h:
//   R' = R_p exp(w),   om' = I^-1 exp(w)^T (I om_1 + Jr(w)^-1 I w / h).
// The zone's equation for w reads I w / h = Jr(w) (h torque), so Jr^-1 gives back the impulse that
// acted and the angular momentum gains just that.
void cr_spin_update(cr_vec3 inertia, double h, cr_quat q_p, cr_vec3 om_1, cr_vec3 w, cr_quat* q,
                    cr_vec3* om);

// Reverse of cr_spin_update.
void cr_spin_update_adj(cr_vec3 inertia, double h, cr_vec3 om_1, cr_vec3 w, cr_vec3 q_bar,
                        cr_vec3 om_bar, cr_vec3* q_p_bar, cr_vec3* om_1_bar, cr_vec3* w_bar,
                        cr_vec3* inertia_bar);
