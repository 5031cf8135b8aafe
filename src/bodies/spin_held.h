// spin_held.h - the turning of a body that cannot turn about some axes of the world.
//
// `held` says which, bit 0 for x, 1 for y, 2 for z. With N the axes that are free, seen in the body
// (N = R^T e), a spin is N c, and of what changes the angular momentum only the part along N is
// felt; what holds the body takes the rest:
//     om = G m,   G = N (N^T I N)^-1 N^T                 m the angular momentum, body axes
// is the spin with the momentum of m about the free axes. Nothing held, G is I^-1. Letters and bars
// are those of spin.h; the reverse functions add to every output.
#pragma once

#include "bodies/spin.h"
#include <stdint.h>

// N N^T a: the part of a along the free axes.
cr_vec3 cr_spin_held_part(cr_mat3 r, int32_t held, cr_vec3 a);
void cr_spin_held_part_adj(cr_mat3 r, int32_t held, cr_vec3 a, cr_vec3 part_bar, cr_vec3* q_bar,
                           cr_vec3* a_bar);
cr_vec3 cr_spin_held_part_jvp(cr_mat3 r, int32_t held, cr_vec3 a, cr_vec3 dq, cr_vec3 da);

// G m.
cr_vec3 cr_spin_held_solve(cr_mat3 r, cr_vec3 inertia, int32_t held, cr_vec3 m);
void cr_spin_held_solve_adj(cr_mat3 r, cr_vec3 inertia, int32_t held, cr_vec3 m, cr_vec3 om_bar,
                            cr_vec3* q_bar, cr_vec3* m_bar, cr_vec3* inertia_bar);
cr_vec3 cr_spin_held_solve_jvp(cr_mat3 r, cr_vec3 inertia, int32_t held, cr_vec3 m, cr_vec3 dq,
                               cr_vec3 dm, cr_vec3 dinertia);

// cr_spin_update of such a body; w is along the free axes of q_p.
void cr_spin_held_update(cr_vec3 inertia, int32_t held, double h, cr_quat q_p, cr_vec3 om_1,
                         cr_vec3 w, cr_quat* q, cr_vec3* om);
void cr_spin_held_update_adj(cr_vec3 inertia, int32_t held, double h, cr_quat q_p, cr_vec3 om_1,
                             cr_vec3 w, cr_vec3 q_bar, cr_vec3 om_bar, cr_vec3* q_p_bar,
                             cr_vec3* om_1_bar, cr_vec3* w_bar, cr_vec3* inertia_bar);
void cr_spin_held_update_jvp(cr_vec3 inertia, int32_t held, double h, cr_quat q_p, cr_vec3 om_1,
                             cr_vec3 w, cr_vec3 dq_p, cr_vec3 dom_1, cr_vec3 dw, cr_vec3 dinertia,
                             cr_vec3* dq, cr_vec3* dom);
