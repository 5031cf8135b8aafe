#include "bodies/spin_held.h"

static cr_vec3 along_free(int32_t held, cr_vec3 a) // world axes
{
    return (cr_vec3){held & 1 ? 0.0 : a.x, held & 2 ? 0.0 : a.y, held & 4 ? 0.0 : a.z};
}

cr_vec3 cr_spin_held_part(cr_mat3 r, int32_t held, cr_vec3 a)
{
    return cr_mat3_tapply(r, along_free(held, cr_mat3_apply(r, a)));
}

// Along R -> R exp(d) N moves by -d x N, so P = N N^T moves by -[d] P + P [d].
void cr_spin_held_part_adj(cr_mat3 r, int32_t held, cr_vec3 a, cr_vec3 part_bar, cr_vec3* q_bar,
                           cr_vec3* a_bar)
{
    const cr_vec3 bar = cr_spin_held_part(r, held, part_bar);
    cr_vec3_add_to(a_bar, bar);
    cr_vec3_add_to(q_bar, cr_vec3_cross(a, bar));
    cr_vec3_add_to(q_bar, cr_vec3_cross(part_bar, cr_spin_held_part(r, held, a)));
}

cr_vec3 cr_spin_held_part_jvp(cr_mat3 r, int32_t held, cr_vec3 a, cr_vec3 dq, cr_vec3 da)
{
    const cr_vec3 moved = cr_vec3_add(da, cr_vec3_cross(dq, a));
    return cr_vec3_sub(cr_spin_held_part(r, held, moved),
                       cr_vec3_cross(dq, cr_spin_held_part(r, held, a)));
}

// In world axes: the rows and columns of the inertia that are held are those of 1.
cr_vec3 cr_spin_held_solve(cr_mat3 r, cr_vec3 inertia, int32_t held, cr_vec3 m)
{
    cr_mat3 i = cr_mat3_mul(r, cr_mat3_mul(cr_mat3_diagonal(inertia), cr_mat3_transpose(r)));
    const cr_vec3 l = along_free(held, cr_mat3_apply(r, m));
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3 && held >> k & 1; j++) {
            i.m[k][j] = i.m[j][k] = j == k;
        }
    }
    const cr_vec3 c0 = cr_mat3_column(i, 0), c1 = cr_mat3_column(i, 1), c2 = cr_mat3_column(i, 2);
    const double det = cr_mat3_det(i);
    const cr_vec3 spin = {cr_vec3_dot(l, cr_vec3_cross(c1, c2)) / det,
                          cr_vec3_dot(l, cr_vec3_cross(c2, c0)) / det,
                          cr_vec3_dot(l, cr_vec3_cross(c0, c1)) / det};
    return cr_mat3_tapply(r, along_free(held, spin));
}

// With S = N^T I N:  dG = -[d] G + G [d] - N S^-1 dS S^-1 N^T,  dS = N^T ([d] I - I [d] + dI) N, so
//   d(G m) = G dm - d x om + G (d x (m - I om)) + G I (d x om) - G dI om.
void cr_spin_held_solve_adj(cr_mat3 r, cr_vec3 inertia, int32_t held, cr_vec3 m, cr_vec3 om_bar,
                            cr_vec3* q_bar, cr_vec3* m_bar, cr_vec3* inertia_bar)
{
    const cr_vec3 om = cr_spin_held_solve(r, inertia, held, m);
    const cr_vec3 g = cr_spin_held_solve(r, inertia, held, om_bar);
    cr_vec3_add_to(m_bar, g);
    cr_vec3_add_to(q_bar, cr_vec3_cross(om_bar, om));
    cr_vec3_add_to(q_bar, cr_vec3_cross(cr_vec3_sub(m, cr_vec3_times(inertia, om)), g));
    cr_vec3_add_to(q_bar, cr_vec3_cross(om, cr_vec3_times(inertia, g)));
    cr_vec3_add_to(inertia_bar, cr_vec3_neg(cr_vec3_times(g, om)));
}

cr_vec3 cr_spin_held_solve_jvp(cr_mat3 r, cr_vec3 inertia, int32_t held, cr_vec3 m, cr_vec3 dq,
                               cr_vec3 dm, cr_vec3 dinertia)
{
    const cr_vec3 om = cr_spin_held_solve(r, inertia, held, m);
    const cr_vec3 turned = cr_vec3_cross(dq, om);
    cr_vec3 sum = cr_vec3_add(dm, cr_vec3_cross(dq, cr_vec3_sub(m, cr_vec3_times(inertia, om))));
    sum =
        cr_vec3_add(sum, cr_vec3_sub(cr_vec3_times(inertia, turned), cr_vec3_times(dinertia, om)));
    return cr_vec3_sub(cr_spin_held_solve(r, inertia, held, sum), turned);
}

// E^T (I om_1 + Jr(w)^-1 P I w / h): of the zone's impulse only what is along the free axes counts.
static cr_vec3 momentum_after(cr_vec3 inertia, double h, cr_vec3 om_1, cr_vec3 felt,
                              const cr_rot* rot)
{
    const cr_vec3 gained = cr_mat3_apply(cr_rot_right_inverse(rot), felt);
    return cr_mat3_tapply(cr_rot_matrix(rot),
                          cr_vec3_add_scaled(cr_vec3_times(inertia, om_1), 1.0 / h, gained));
}

void cr_spin_held_update(cr_vec3 inertia, int32_t held, double h, cr_quat q_p, cr_vec3 om_1,
                         cr_vec3 w, cr_quat* q, cr_vec3* om)
{
    const cr_rot rot = cr_rot_make(w);
    const cr_vec3 felt = cr_spin_held_part(cr_quat_to_matrix(q_p), held, cr_vec3_times(inertia, w));
    const cr_vec3 m = momentum_after(inertia, h, om_1, felt, &rot);
    *q = cr_quat_normalize(cr_quat_mul(q_p, cr_quat_from_rotation(w)));
    *om = cr_spin_held_solve(cr_quat_to_matrix(*q), inertia, held, m);
}

// As cr_spin_update_adj, with om = G(R') m and felt = P(R_p) I w.
void cr_spin_held_update_adj(cr_vec3 inertia, int32_t held, double h, cr_quat q_p, cr_vec3 om_1,
                             cr_vec3 w, cr_vec3 q_bar, cr_vec3 om_bar, cr_vec3* q_p_bar,
                             cr_vec3* om_1_bar, cr_vec3* w_bar, cr_vec3* inertia_bar)
{
    const cr_rot rot = cr_rot_make(w);
    const cr_mat3 e = cr_rot_matrix(&rot), r_p = cr_quat_to_matrix(q_p);
    const cr_vec3 pushed = cr_vec3_times(inertia, w), felt = cr_spin_held_part(r_p, held, pushed);
    const cr_vec3 m = momentum_after(inertia, h, om_1, felt, &rot);
    cr_vec3 end_bar = q_bar, m_bar = {0}, pushed_bar = {0};
    cr_spin_held_solve_adj(cr_mat3_mul(r_p, e), inertia, held, m, om_bar, &end_bar, &m_bar,
                           inertia_bar);
    const cr_vec3 y_bar = cr_mat3_apply(e, m_bar), yh = cr_vec3_scale(1.0 / h, y_bar);
    cr_vec3_add_to(q_p_bar, cr_mat3_apply(e, end_bar));
    cr_vec3_add_to(
        w_bar, cr_mat3_tapply(cr_rot_right(&rot), cr_vec3_add(end_bar, cr_vec3_cross(m_bar, m))));
    cr_vec3_add_to(om_1_bar, cr_vec3_times(inertia, y_bar));
    cr_vec3_add_to(inertia_bar, cr_vec3_times(y_bar, om_1));
    cr_vec3_add_to(w_bar, cr_mat3_tapply(cr_rot_right_inverse_dw(&rot, felt), yh));
    cr_spin_held_part_adj(r_p, held, pushed, cr_mat3_tapply(cr_rot_right_inverse(&rot), yh),
                          q_p_bar, &pushed_bar);
    cr_vec3_add_to(w_bar, cr_vec3_times(inertia, pushed_bar));
    cr_vec3_add_to(inertia_bar, cr_vec3_times(pushed_bar, w));
}

void cr_spin_held_update_jvp(cr_vec3 inertia, int32_t held, double h, cr_quat q_p, cr_vec3 om_1,
                             cr_vec3 w, cr_vec3 dq_p, cr_vec3 dom_1, cr_vec3 dw, cr_vec3 dinertia,
                             cr_vec3* dq, cr_vec3* dom)
{
    const cr_rot rot = cr_rot_make(w);
    const cr_mat3 e = cr_rot_matrix(&rot), r_p = cr_quat_to_matrix(q_p);
    const cr_vec3 pushed = cr_vec3_times(inertia, w), felt = cr_spin_held_part(r_p, held, pushed);
    const cr_vec3 dpushed = cr_vec3_add(cr_vec3_times(inertia, dw), cr_vec3_times(dinertia, w));
    const cr_vec3 dfelt = cr_spin_held_part_jvp(r_p, held, pushed, dq_p, dpushed);
    const cr_vec3 m = momentum_after(inertia, h, om_1, felt, &rot);
    const cr_vec3 turn = cr_mat3_apply(cr_rot_right(&rot), dw);
    cr_vec3 dy = cr_mat3_apply(cr_rot_right_inverse(&rot), dfelt);
    cr_vec3_add_to(&dy, cr_mat3_apply(cr_rot_right_inverse_dw(&rot, felt), dw));
    dy = cr_vec3_scale(1.0 / h, dy);
    cr_vec3_add_to(&dy, cr_vec3_add(cr_vec3_times(inertia, dom_1), cr_vec3_times(dinertia, om_1)));
    const cr_vec3 dm = cr_vec3_add(cr_vec3_cross(m, turn), cr_mat3_tapply(e, dy));
    *dq = cr_vec3_add(cr_mat3_tapply(e, dq_p), turn);
    *dom = cr_spin_held_solve_jvp(cr_mat3_mul(r_p, e), inertia, held, m, *dq, dm, dinertia);
}
