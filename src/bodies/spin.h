// spin.h - the turning of a rigid body: freely over a time, and the update after a contact zone.
//
// Body coordinates are principal axes about the centre of mass: `inertia` holds the three positive
// diagonal entries [kg m^2], om is the spin in the body frame [rad/s]. An orientation q is a unit
// quaternion, R its matrix; its bar is a 3-vector, the derivative along R -> R exp([delta]). The
// reverse functions add to every output; none may be NULL. A tangent of q is that delta itself.
#pragma once

#include "math/rot.h"

// Constant torque (body frame, [N m]) over a time h. The body turns at a constant rate:
//   R(s) = R exp(s rate),   om(s) = I^-1 (exp(s rate)^T I om + s torque),   0 <= s <= h,
// where rate is the mean of the spins at both ends, rate = (om + om(h)) / 2. Without torque the
// angular momentum R I om keeps its direction and length to round-off at every s, and the energy
// too at s = h: of second order in h. Of a body that turns so fast, for how uneven it is, that the
// mean cannot be found nearby (h |om| beyond about 1), rate is the part of om along the angular
// momentum: both stay as they are at every s, and the orientation is of first order.
cr_vec3 cr_spin_rate(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque);

// Reverse of cr_spin_rate. h_bar is dL/dh.
void cr_spin_rate_adj(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque, cr_vec3 rate_bar,
                      cr_vec3* om_bar, cr_vec3* torque_bar, cr_vec3* inertia_bar, double* h_bar);

// Forward: drate for changes dom, dtorque, dinertia and dh.
cr_vec3 cr_spin_rate_jvp(cr_vec3 inertia, double h, cr_vec3 om, cr_vec3 torque, cr_vec3 dom,
                         cr_vec3 dtorque, cr_vec3 dinertia, double dh);

// The state at time s of a path with the given rate.
void cr_spin_path(cr_vec3 inertia, double s, cr_quat q, cr_vec3 om, cr_vec3 torque, cr_vec3 rate,
                  cr_quat* q_s, cr_vec3* om_s);

// Reverse of cr_spin_path. s_bar is dL/ds at constant rate (for an event's time).
void cr_spin_path_adj(cr_vec3 inertia, double s, cr_vec3 om, cr_vec3 torque, cr_vec3 rate,
                      cr_vec3 q_s_bar, cr_vec3 om_s_bar, cr_vec3* q_bar, cr_vec3* om_bar,
                      cr_vec3* torque_bar, cr_vec3* inertia_bar, cr_vec3* rate_bar, double* s_bar);

// Changes of what a path is made of.
typedef struct cr_spin_path_tangent {
    cr_vec3 q, om, torque, inertia, rate;
    double s;
} cr_spin_path_tangent;

// Forward: the changes of the state at time s.
void cr_spin_path_jvp(cr_vec3 inertia, double s, cr_vec3 om, cr_vec3 torque, cr_vec3 rate,
                      const cr_spin_path_tangent* d, cr_vec3* dq_s, cr_vec3* dom_s);

// The whole: R_p = R(h), om_1 = om(h).
void cr_spin_predict(cr_vec3 inertia, double h, cr_quat q, cr_vec3 om, cr_vec3 torque, cr_quat* q_p,
                     cr_vec3* om_1);

// Reverse of cr_spin_predict.
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

// Forward: the changes of R' and om'.
void cr_spin_update_jvp(cr_vec3 inertia, double h, cr_vec3 om_1, cr_vec3 w, cr_vec3 dq_p,
                        cr_vec3 dom_1, cr_vec3 dw, cr_vec3 dinertia, cr_vec3* dq, cr_vec3* dom);
