#include "bodies/membrane_linear.h"

// c11 = young/(1 - poisson^2), c12 = poisson c11, c22 = c11, c33 = young/(2 (1 + poisson))
void cr_membrane_isotropic_adj(double young, double poisson, const cr_membrane_law* law_bar,
                               double* young_bar, double* poisson_bar)
{
    const double less = 1.0 - poisson * poisson, more = 1.0 + poisson;
    const double c11 = young / less;
    const double c11_bar = law_bar->c11 + law_bar->c22 + poisson * law_bar->c12;
    *young_bar += c11_bar / less + 0.5 * law_bar->c33 / more;
    *poisson_bar += c11_bar * 2.0 * poisson * c11 / less + law_bar->c12 * c11 -
                    law_bar->c33 * 0.5 * young / (more * more);
}

// corner_bar_a += Y gN_a for Y = {{uu, uv}, {vu, vv}}
static void spread_rest(const cr_membrane_rest* rest, double uu, double uv, double vu, double vv,
                        double* corner_bar)
{
    for (int a = 0; a < 3; a++) {
        const double* g = rest->grad[a];
        corner_bar[2 * a] += uu * g[0] + uv * g[1];
        corner_bar[2 * a + 1] += vu * g[0] + vv * g[1];
    }
}

// d area = area tr(dX^T gN), for either orientation
void cr_membrane_area_adj(const cr_membrane_rest* rest, double area_bar, double* corner_bar)
{
    const double y = area_bar * rest->area;
    spread_rest(rest, y, 0.0, 0.0, y, corner_bar);
}

// s : d
static double contract(cr_membrane_sym s, cr_membrane_sym d)
{
    return s.uu * d.uu + s.vv * d.vv + 2.0 * s.uv * d.uv;
}

// The loss is G = u . gradient = area P:F_u = area S:dE, where F_u is F of the field u,
// dE = sym(F_u^T F), P = F S and S = C:(E + k (E - E0)).
//
// Law: S is linear in the moduli, so their bars are area (strain of S) x (dE), entry by entry;
//   k_bar = area (C:(E - E0)):dE.
// Start: E0_bar = -k area C:dE =: T, and E0 = (F0^T F0 - I)/2 makes F0_bar = F0 T.
// Rest shape: X^T gN = I and 1^T gN = 0 give dgN = -gN (dX^T gN), so dF = -F dX^T gN for F of any
//   field, and d area = area tr(dX^T gN). With dP = F_u S + F (1+k) C:dE, F_bar = area dP and
//   F_u_bar = area P,
//   X_bar_a = (G I - F^T F_bar - F_u^T F_u_bar - F0^T F0_bar) gN_a.
void cr_membrane_gradient_adj(const cr_membrane_rest* rest, const cr_membrane_law* law,
                              const double* x0, const double* x, const double* u,
                              cr_membrane_law* law_bar, double* x0_bar, double* corner_bar)
{
    const double area = rest->area, k = law->rate;
    const cr_membrane_map f = cr_membrane_deform(rest, x);
    const cr_membrane_map fu = cr_membrane_deform(rest, u);
    // with no damping and no start the strain counts as unchanged, and k_bar says so
    const cr_membrane_map f0 = x0 ? cr_membrane_deform(rest, x0) : f;
    const cr_membrane_sym e = cr_membrane_strain(f), e0 = cr_membrane_strain(f0);
    const cr_membrane_sym change = {e.uu - e0.uu, e.vv - e0.vv, e.uv - e0.uv};
    const cr_membrane_sym now = {e.uu + k * change.uu, e.vv + k * change.vv, e.uv + k * change.uv};
    const cr_membrane_sym de = cr_membrane_strain_change(fu, f);
    const cr_membrane_sym s = cr_membrane_stress(law, now);
    const cr_membrane_sym ds = cr_membrane_stress(law, de); // without its factor 1+k
    const double g = area * contract(s, de);

    law_bar->c11 += area * now.uu * de.uu;
    law_bar->c12 += area * (now.uu * de.vv + now.vv * de.uu);
    law_bar->c22 += area * now.vv * de.vv;
    law_bar->c33 += area * 4.0 * now.uv * de.uv;
    law_bar->rate += area * contract(ds, change); // C is symmetric: C:change:dE = C:dE:change

    const cr_membrane_map p = cr_membrane_mul(f, s);
    const cr_membrane_map fu_s = cr_membrane_mul(fu, s);
    const cr_membrane_map f_ds = cr_membrane_mul(f, ds);
    const cr_membrane_map dp = {cr_vec3_add_scaled(fu_s.u, 1.0 + k, f_ds.u),
                                cr_vec3_add_scaled(fu_s.v, 1.0 + k, f_ds.v)};
    double uu = g - area * (cr_vec3_dot(f.u, dp.u) + cr_vec3_dot(fu.u, p.u));
    double uv = -area * (cr_vec3_dot(f.u, dp.v) + cr_vec3_dot(fu.u, p.v));
    double vu = -area * (cr_vec3_dot(f.v, dp.u) + cr_vec3_dot(fu.v, p.u));
    double vv = g - area * (cr_vec3_dot(f.v, dp.v) + cr_vec3_dot(fu.v, p.v));

    if (k != 0.0) {
        const cr_membrane_sym t = {-k * area * ds.uu, -k * area * ds.vv, -k * area * ds.uv};
        const cr_membrane_map f0_bar = cr_membrane_mul(f0, t);
        for (int a = 0; a < 3; a++) {
            cr_vec3_accumulate(x0_bar + 3 * a,
                               cr_vec3_add_scaled(cr_vec3_scale(rest->grad[a][0], f0_bar.u),
                                                  rest->grad[a][1], f0_bar.v));
        }
        uu -= cr_vec3_dot(f0.u, f0_bar.u);
        uv -= cr_vec3_dot(f0.u, f0_bar.v);
        vu -= cr_vec3_dot(f0.v, f0_bar.u);
        vv -= cr_vec3_dot(f0.v, f0_bar.v);
    }
    spread_rest(rest, uu, uv, vu, vv, corner_bar);
}

// a := a + s b
static void gather(cr_membrane_map* a, double s, cr_membrane_map b)
{
    a->u = cr_vec3_add_scaled(a->u, s, b.u);
    a->v = cr_vec3_add_scaled(a->v, s, b.v);
}

// y -= F^T F_bar, as {uu, uv, vu, vv}
static void take_turn(cr_membrane_map f, cr_membrane_map f_bar, double y[4])
{
    y[0] -= cr_vec3_dot(f.u, f_bar.u);
    y[1] -= cr_vec3_dot(f.u, f_bar.v);
    y[2] -= cr_vec3_dot(f.v, f_bar.u);
    y[3] -= cr_vec3_dot(f.v, f_bar.v);
}

// With e_u = sym(F^T F_u) and e_du = sym(F_u^T F_d) the loss is
//   G = area (S:e_u + (1 + k) C:e_d:e_u + T:e_du).
// T is S + floor without negative eigenvalues, less floor; its change is D[dS + dfloor I] - dfloor
// I with a D that is its own reverse, so S_bar = e_u + D[e_du] and floor_bar = tr D[e_du] - tr
// e_du. The rest as above: F_bar = F C:S_bar + F_u (S + C'e_d) + F_d C'e_u, F_u_bar = F (S + C'e_d)
// + F_d T and F_d_bar = F C'e_u + F_u T, each times area, C' = (1 + k) C; with Q = sum_a gN_a
// gN_a^T
//   dfloor = 2 floor/width Q:(dX^T gN) + dsupport/width.
void cr_membrane_linear_gradient_adj(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                     double support, const double* x0, const double* x,
                                     const double* u, cr_membrane_law* law_bar, double* support_bar,
                                     double* x0_bar, double* corner_bar)
{
    const double area = rest->area, grow = 1.0 + law->rate;
    const cr_membrane_linear m = cr_membrane_linear_at(rest, law, support, x0, x);
    const cr_membrane_map fu = cr_membrane_deform(rest, u);
    const cr_membrane_sym eu = cr_membrane_strain_change(m.f, fu);
    const cr_membrane_sym edu = cr_membrane_strain_change(fu, m.fd);
    const cr_membrane_sym cu = cr_membrane_stress(law, eu), cd = cr_membrane_stress(law, m.ed);
    const cr_membrane_sym su = {grow * cu.uu, grow * cu.vv, grow * cu.uv};
    const cr_membrane_sym now = {m.s.uu + grow * cd.uu, m.s.vv + grow * cd.vv,
                                 m.s.uv + grow * cd.uv};
    const cr_membrane_sym felt = cr_membrane_tension_jvp(m.raised, edu);
    const cr_membrane_sym s_bar = {eu.uu + felt.uu, eu.vv + felt.vv, eu.uv + felt.uv};
    const double floor_bar = area * (felt.uu + felt.vv - edu.uu - edu.vv);
    const double g = area * (contract(now, eu) + contract(m.t, edu));

    law_bar->c11 += area * (m.e.uu * s_bar.uu + grow * m.ed.uu * eu.uu);
    law_bar->c12 +=
        area * (m.e.uu * s_bar.vv + m.e.vv * s_bar.uu + grow * (m.ed.uu * eu.vv + m.ed.vv * eu.uu));
    law_bar->c22 += area * (m.e.vv * s_bar.vv + grow * m.ed.vv * eu.vv);
    law_bar->c33 += area * 4.0 * (m.e.uv * s_bar.uv + grow * m.ed.uv * eu.uv);
    law_bar->rate += area * contract(cd, eu);
    *support_bar += floor_bar / m.width;

    cr_membrane_map f_bar = {{0, 0, 0}, {0, 0, 0}}, fu_bar = f_bar, fd_bar = f_bar;
    gather(&f_bar, area, cr_membrane_mul(m.f, cr_membrane_stress(law, s_bar)));
    gather(&f_bar, area, cr_membrane_mul(fu, now));
    gather(&f_bar, area, cr_membrane_mul(m.fd, su));
    gather(&fu_bar, area, cr_membrane_mul(m.f, now));
    gather(&fu_bar, area, cr_membrane_mul(m.fd, m.t));
    gather(&fd_bar, area, cr_membrane_mul(m.f, su));
    gather(&fd_bar, area, cr_membrane_mul(fu, m.t));

    double y[4] = {g, 0.0, 0.0, g};
    take_turn(m.f, f_bar, y);
    take_turn(fu, fu_bar, y);
    take_turn(m.fd, fd_bar, y);
    gather(&f_bar, -1.0, fd_bar); // d = x - x0
    for (int a = 0; a < 3; a++) {
        const double *grad = rest->grad[a], q = 2.0 * floor_bar * m.floor / m.width;
        y[0] += q * grad[0] * grad[0];
        y[1] += q * grad[0] * grad[1];
        y[2] += q * grad[0] * grad[1];
        y[3] += q * grad[1] * grad[1];
        cr_vec3_accumulate(x0_bar + 3 * a,
                           cr_vec3_add_scaled(cr_vec3_scale(grad[0], f_bar.u), grad[1], f_bar.v));
    }
    spread_rest(rest, y[0], y[1], y[2], y[3], corner_bar);
}
