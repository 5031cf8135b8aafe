#include "bodies/membrane_linear.h"

// c11 = young/(1 - poisson^2), c12 = poisson c11, c22 = c11, c33 = young/(2 (1 + poisson))
cr_membrane_law cr_membrane_isotropic_jvp(double young, double poisson, double dyoung,
                                          double dpoisson)
{
    const double less = 1.0 - poisson * poisson, more = 1.0 + poisson;
    const double c11 = young / less;
    const double dc11 = (dyoung + 2.0 * poisson * c11 * dpoisson) / less;
    return (cr_membrane_law){.c11 = dc11,
                             .c22 = dc11,
                             .c12 = poisson * dc11 + c11 * dpoisson,
                             .c33 = 0.5 * (dyoung - young * dpoisson / more) / more};
}

// M = dX^T gN: with it dgN = -gN M, dF = -F M and d area = area tr M.
typedef struct tilt {
    double uu, uv, vu, vv;
} tilt;

static tilt tilt_of(const cr_membrane_rest* rest, const double* dcorner)
{
    tilt m = {0};
    for (int a = 0; a < 3 && dcorner; a++) {
        const double *g = rest->grad[a], *d = dcorner + 2 * a;
        m.uu += d[0] * g[0];
        m.uv += d[0] * g[1];
        m.vu += d[1] * g[0];
        m.vv += d[1] * g[1];
    }
    return m;
}

double cr_membrane_area_jvp(const cr_membrane_rest* rest, const double* dcorner)
{
    const tilt m = tilt_of(rest, dcorner);
    return rest->area * (m.uu + m.vv);
}

// a - F M
static cr_membrane_map tilted(cr_membrane_map a, cr_membrane_map f, tilt m)
{
    a.u = cr_vec3_add_scaled(cr_vec3_add_scaled(a.u, -m.uu, f.u), -m.vu, f.v);
    a.v = cr_vec3_add_scaled(cr_vec3_add_scaled(a.v, -m.uv, f.u), -m.vv, f.v);
    return a;
}

// a + s b
static cr_membrane_sym add_scaled(cr_membrane_sym a, double s, cr_membrane_sym b)
{
    return (cr_membrane_sym){a.uu + s * b.uu, a.vv + s * b.vv, a.uv + s * b.uv};
}

// g_a += the change of area P gN_a. Without area that is (dP + P tr M - P M^T) gN_a, for gN_a moves
// by -M^T gN_a.
static void add_spread(const cr_membrane_rest* rest, tilt m, cr_membrane_map p, cr_membrane_map dp,
                       double* g)
{
    const double more = m.uu + m.vv;
    cr_vec3 u = cr_vec3_add(dp.u, cr_vec3_scale(more - m.uu, p.u));
    cr_vec3 v = cr_vec3_add(dp.v, cr_vec3_scale(more - m.vv, p.v));
    u = cr_vec3_add_scaled(u, -m.uv, p.v);
    v = cr_vec3_add_scaled(v, -m.vu, p.u);
    for (int a = 0; a < 3; a++) {
        const double* grad = rest->grad[a];
        const cr_vec3 both = cr_vec3_add_scaled(cr_vec3_scale(grad[0], u), grad[1], v);
        cr_vec3_accumulate(g + 3 * a, cr_vec3_scale(rest->area, both));
    }
}

// g_a = area P gN_a, P = F S, S = C:(E + k (E - E0)).
void cr_membrane_gradient_jvp(const cr_membrane_rest* rest, const cr_membrane_law* law,
                              const double* x0, const double* x, const cr_membrane_law* dlaw,
                              const double* dx0, const double* dcorner, double* g)
{
    const double k = law->rate;
    const tilt m = tilt_of(rest, dcorner);
    const cr_membrane_map none = {{0, 0, 0}, {0, 0, 0}};
    const cr_membrane_map f = cr_membrane_deform(rest, x), df = tilted(none, f, m);
    // with no start the strain counts as unchanged, as in the reverse
    const cr_membrane_map f0 = x0 ? cr_membrane_deform(rest, x0) : f;
    const cr_membrane_map df0 = tilted(dx0 ? cr_membrane_deform(rest, dx0) : none, f0, m);
    const cr_membrane_sym e = cr_membrane_strain(f);
    const cr_membrane_sym change = add_scaled(e, -1.0, cr_membrane_strain(f0));
    const cr_membrane_sym now = add_scaled(e, k, change);
    cr_membrane_sym dnow = cr_membrane_strain_change(df, f);
    dnow = add_scaled(dnow, k, dnow);
    dnow = add_scaled(dnow, -k, cr_membrane_strain_change(df0, f0));
    dnow = add_scaled(dnow, dlaw->rate, change);
    const cr_membrane_sym s = cr_membrane_stress(law, now);
    const cr_membrane_sym ds =
        add_scaled(cr_membrane_stress(law, dnow), 1.0, cr_membrane_stress(dlaw, now));

    const cr_membrane_map p = cr_membrane_mul(f, s);
    const cr_membrane_map df_s = cr_membrane_mul(df, s), f_ds = cr_membrane_mul(f, ds);
    const cr_membrane_map dp = {cr_vec3_add(df_s.u, f_ds.u), cr_vec3_add(df_s.v, f_ds.v)};
    add_spread(rest, m, p, dp, g);
}

// The change of floor = support/sum_a |gN_a|^2.
static double floor_jvp(const cr_membrane_rest* rest, const cr_membrane_linear* at, tilt m,
                        double dsupport)
{
    double q = 0.0;
    for (int a = 0; a < 3; a++) {
        const double* g = rest->grad[a];
        q += g[0] * (m.uu * g[0] + m.uv * g[1]) + g[1] * (m.vu * g[0] + m.vv * g[1]);
    }
    return (dsupport + 2.0 * at->floor * q) / at->width;
}

static cr_membrane_map sum(cr_membrane_map a, cr_membrane_map b)
{
    return (cr_membrane_map){cr_vec3_add(a.u, b.u), cr_vec3_add(a.v, b.v)};
}

// P = F (S + (1 + k) C:e_d) + F_d T
void cr_membrane_linear_gradient_jvp(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                     double support, const double* x0, const double* x,
                                     const cr_membrane_law* dlaw, double dsupport,
                                     const double* dx0, const double* dcorner, double* g)
{
    const double grow = 1.0 + law->rate;
    const tilt m = tilt_of(rest, dcorner);
    const cr_membrane_linear at = cr_membrane_linear_at(rest, law, support, x0, x);
    const cr_membrane_map moved = cr_membrane_deform(rest, dx0);
    const cr_membrane_map back = {cr_vec3_neg(moved.u), cr_vec3_neg(moved.v)};
    const cr_membrane_map df = tilted(moved, at.f, m), dfd = tilted(back, at.fd, m);
    const cr_membrane_sym de = cr_membrane_strain_change(df, at.f);
    const cr_membrane_sym ded =
        add_scaled(cr_membrane_strain_change(df, at.fd), 1.0, cr_membrane_strain_change(at.f, dfd));
    const cr_membrane_sym cd = cr_membrane_stress(law, at.ed);
    const cr_membrane_sym start =
        add_scaled(cr_membrane_stress(law, de), 1.0, cr_membrane_stress(dlaw, at.e));
    cr_membrane_sym ds = add_scaled(start, grow, cr_membrane_stress(law, ded));
    ds = add_scaled(ds, grow, cr_membrane_stress(dlaw, at.ed));
    ds = add_scaled(ds, dlaw->rate, cd);
    const double dfloor = floor_jvp(rest, &at, m, dsupport);
    const cr_membrane_sym one = {1.0, 1.0, 0.0};
    const cr_membrane_sym raised = add_scaled(start, dfloor, one);
    const cr_membrane_sym dt = add_scaled(cr_membrane_tension_jvp(at.raised, raised), -dfloor, one);
    const cr_membrane_sym s = add_scaled(at.s, grow, cd);
    const cr_membrane_map p = sum(cr_membrane_mul(at.f, s), cr_membrane_mul(at.fd, at.t));
    const cr_membrane_map by_start = sum(cr_membrane_mul(df, s), cr_membrane_mul(at.f, ds));
    const cr_membrane_map by_d = sum(cr_membrane_mul(dfd, at.t), cr_membrane_mul(at.fd, dt));
    add_spread(rest, m, p, sum(by_start, by_d), g);
}
