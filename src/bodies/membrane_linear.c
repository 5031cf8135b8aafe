#include "bodies/membrane_linear.h"

static cr_membrane_sym add_floor(cr_membrane_sym s, double floor)
{
    return (cr_membrane_sym){s.uu + floor, s.vv + floor, s.uv};
}

static double contract(cr_membrane_sym s, cr_membrane_sym e)
{
    return s.uu * e.uu + s.vv * e.vv + 2.0 * s.uv * e.uv;
}

// The start and T, without a displacement.
static cr_membrane_linear start_of(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                   double support, const double* x0)
{
    cr_membrane_linear m = {.f = cr_membrane_deform(rest, x0)};
    for (int a = 0; a < 3; a++) {
        const double* g = rest->grad[a];
        m.width += g[0] * g[0] + g[1] * g[1];
    }
    m.floor = support / m.width;
    m.e = cr_membrane_strain(m.f);
    m.s = cr_membrane_stress(law, m.e);
    m.raised = add_floor(m.s, m.floor);
    m.t =
        cr_membrane_is_tension(m.raised) ? m.s : add_floor(cr_membrane_tension(m.raised), -m.floor);
    return m;
}

cr_membrane_linear cr_membrane_linear_at(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                         double support, const double* x0, const double* x)
{
    cr_membrane_linear m = start_of(rest, law, support, x0);
    const cr_membrane_map end = cr_membrane_deform(rest, x);
    m.fd = (cr_membrane_map){cr_vec3_sub(end.u, m.f.u), cr_vec3_sub(end.v, m.f.v)};
    m.ed = cr_membrane_strain_change(m.f, m.fd);
    return m;
}

// (1 + k) C:e
static cr_membrane_sym answer(const cr_membrane_law* law, cr_membrane_sym e)
{
    const double grow = 1.0 + law->rate;
    const cr_membrane_sym s = cr_membrane_stress(law, e);
    return (cr_membrane_sym){grow * s.uu, grow * s.vv, grow * s.uv};
}

double cr_membrane_linear_energy(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                 double support, const double* x0, const double* x)
{
    const cr_membrane_linear m = cr_membrane_linear_at(rest, law, support, x0, x);
    const cr_membrane_sym second = cr_membrane_strain_change(m.fd, m.fd);
    return rest->area * (0.5 * contract(m.s, m.e) + contract(m.s, m.ed) +
                         0.5 * contract(answer(law, m.ed), m.ed) + 0.5 * contract(m.t, second));
}

// y_a = area (F by_f + F_d by_d) gN_a
static void spread(const cr_membrane_rest* rest, const cr_membrane_linear* m, cr_membrane_sym by_f,
                   cr_membrane_map fd, double* y)
{
    const cr_membrane_map p = cr_membrane_mul(m->f, by_f), q = cr_membrane_mul(fd, m->t);
    const cr_vec3 u = cr_vec3_add(p.u, q.u), v = cr_vec3_add(p.v, q.v);
    for (int a = 0; a < 3; a++) {
        cr_vec3_store(y + 3 * a, cr_vec3_add_scaled(cr_vec3_scale(rest->area * rest->grad[a][0], u),
                                                    rest->area * rest->grad[a][1], v));
    }
}

void cr_membrane_linear_gradient(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                 double support, const double* x0, const double* x, double* g)
{
    const cr_membrane_linear m = cr_membrane_linear_at(rest, law, support, x0, x);
    const cr_membrane_sym change = answer(law, m.ed);
    const cr_membrane_sym s = {m.s.uu + change.uu, m.s.vv + change.vv, m.s.uv + change.uv};
    spread(rest, &m, s, m.fd, g);
}

void cr_membrane_linear_hessian(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                double support, const double* x0, double (*block)[9])
{
    const cr_membrane_linear m = start_of(rest, law, support, x0);
    cr_membrane_hessian_under(rest, law, m.f, m.t, block);
}

void cr_membrane_linear_apply(const cr_membrane_rest* rest, const cr_membrane_law* law,
                              double support, const double* x0, const double* d, double* y)
{
    const cr_membrane_linear m = start_of(rest, law, support, x0);
    const cr_membrane_map fd = cr_membrane_deform(rest, d);
    spread(rest, &m, answer(law, cr_membrane_strain_change(m.f, fd)), fd, y);
}
