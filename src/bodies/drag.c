#include "bodies/drag.h"

static cr_vec3 mean3(const double* x)
{
    return (cr_vec3){(x[0] + x[3] + x[6]) / 3.0, (x[1] + x[4] + x[7]) / 3.0,
                     (x[2] + x[5] + x[8]) / 3.0};
}

// N = (x1 - x0) x (x2 - x0)/2, normal times area
static cr_vec3 area_vector(const double* x)
{
    const cr_vec3 x0 = cr_vec3_load(x);
    return cr_vec3_scale(0.5, cr_vec3_cross(cr_vec3_sub(cr_vec3_load(x + 3), x0),
                                            cr_vec3_sub(cr_vec3_load(x + 6), x0)));
}

// q, with the motion taken corner by corner so that a far origin costs no digits
static cr_vec3 end_speed(const cr_drag_start* start, const double* x)
{
    double moved[9];
    for (int i = 0; i < 9; i++) {
        moved[i] = x[i] - start->x0[i];
    }
    return cr_vec3_sub(cr_vec3_scale(1.0 / start->h, mean3(moved)), cr_vec3_load(start->wind));
}

// In N with A = |N|: D = normal |u.N|/A^2 N N^T + tangent (A I - N N^T/A)
cr_mat3 cr_drag_matrix(const cr_drag_law* law, const cr_drag_start* start)
{
    const cr_vec3 n = area_vector(start->x0);
    const double area = cr_vec3_norm(n);
    if (area == 0.0) {
        return (cr_mat3){0};
    }
    const cr_vec3 unit = cr_vec3_scale(1.0 / area, n);
    const cr_vec3 u = cr_vec3_sub(mean3(start->v0), cr_vec3_load(start->wind));
    const double across = law->normal * fabs(cr_vec3_dot(u, unit)) - law->tangent;
    cr_mat3 d = cr_mat3_scale(area * across, cr_mat3_outer(unit, unit));
    for (int i = 0; i < 3; i++) {
        d.m[i][i] += area * law->tangent;
    }
    return d;
}

double cr_drag_energy(const cr_drag_law* law, const cr_drag_start* start, const double* x)
{
    const cr_vec3 q = end_speed(start, x);
    return 0.5 * start->h * cr_vec3_dot(q, cr_mat3_apply(cr_drag_matrix(law, start), q));
}

cr_vec3 cr_drag_gradient(const cr_drag_law* law, const cr_drag_start* start, const double* x)
{
    return cr_vec3_scale(1.0 / 3.0, cr_mat3_apply(cr_drag_matrix(law, start), end_speed(start, x)));
}

cr_mat3 cr_drag_hessian(const cr_drag_law* law, const cr_drag_start* start)
{
    return cr_mat3_scale(1.0 / (9.0 * start->h), cr_drag_matrix(law, start));
}

cr_vec3 cr_drag_apply(const cr_drag_law* law, const cr_drag_start* start, const double* d)
{
    return cr_vec3_scale(1.0 / (3.0 * start->h),
                         cr_mat3_apply(cr_drag_matrix(law, start), mean3(d)));
}

// p_a += s for each of three corners
static void share(double* p, cr_vec3 s)
{
    cr_vec3_accumulate(p, s);
    cr_vec3_accumulate(p + 3, s);
    cr_vec3_accumulate(p + 6, s);
}

// With m the mean of u_a, s = u.N, al = n.m, be = n.q and n = N/A, the loss is
//   G = m.D q = normal |s| al be + tangent A (m.q - al be).
// By N at fixed u, m, q (al, be, s and A all move; dn = (I - n n^T) dN/A):
//   al_bar = (normal |s| - tangent A) be, be_bar likewise with al,
//   s_bar = normal sgn(s) al be, A_bar = tangent (m.q - al be),
//   N_bar = (I - n n^T)(al_bar m + be_bar q)/A + s_bar u + A_bar n.
// By q: q_bar = D m, and q = moved/h - wind.
void cr_drag_gradient_adj(const cr_drag_law* law, const cr_drag_start* start, const double* x,
                          const double* u, cr_drag_law* law_bar, double* h_bar, double* wind_bar,
                          double* x0_bar, double* v0_bar)
{
    const cr_vec3 area_n = area_vector(start->x0);
    const double area = cr_vec3_norm(area_n);
    if (area == 0.0) {
        return;
    }
    const cr_vec3 n = cr_vec3_scale(1.0 / area, area_n);
    const cr_vec3 wind = cr_vec3_load(start->wind);
    const cr_vec3 air = cr_vec3_sub(mean3(start->v0), wind); // u of the header
    const cr_vec3 m = mean3(u), q = end_speed(start, x);
    const double s = cr_vec3_dot(air, area_n);
    const double al = cr_vec3_dot(n, m), be = cr_vec3_dot(n, q), mq = cr_vec3_dot(m, q);

    law_bar->normal += fabs(s) * al * be;
    law_bar->tangent += area * (mq - al * be);

    const cr_vec3 q_bar = cr_mat3_apply(cr_drag_matrix(law, start), m);
    *h_bar -= cr_vec3_dot(q_bar, cr_vec3_add(q, wind)) / start->h; // d(moved/h)/dh = -(q + wind)/h
    share(x0_bar, cr_vec3_scale(-1.0 / (3.0 * start->h), q_bar));

    const double s_bar = law->normal * (double)((s > 0.0) - (s < 0.0)) * al * be;
    const cr_vec3 air_bar = cr_vec3_scale(s_bar, area_n);
    cr_vec3_accumulate(wind_bar, cr_vec3_neg(cr_vec3_add(air_bar, q_bar)));
    share(v0_bar, cr_vec3_scale(1.0 / 3.0, air_bar));

    const double across = (law->normal * fabs(s) - law->tangent * area) / area;
    const cr_vec3 tilt = cr_vec3_add_scaled(cr_vec3_scale(across * be, m), across * al, q);
    cr_vec3 n_bar = cr_vec3_add_scaled(tilt, -cr_vec3_dot(n, tilt), n);
    n_bar = cr_vec3_add_scaled(n_bar, s_bar, air);
    n_bar = cr_vec3_add_scaled(n_bar, law->tangent * (mq - al * be), n);

    // N = a x b/2: a_bar = b x N_bar/2, b_bar = N_bar x a/2
    const cr_vec3 p = cr_vec3_load(start->x0);
    const cr_vec3 a = cr_vec3_sub(cr_vec3_load(start->x0 + 3), p);
    const cr_vec3 b = cr_vec3_sub(cr_vec3_load(start->x0 + 6), p);
    const cr_vec3 a_bar = cr_vec3_scale(0.5, cr_vec3_cross(b, n_bar));
    const cr_vec3 b_bar = cr_vec3_scale(0.5, cr_vec3_cross(n_bar, a));
    cr_vec3_accumulate(x0_bar, cr_vec3_neg(cr_vec3_add(a_bar, b_bar)));
    cr_vec3_accumulate(x0_bar + 3, a_bar);
    cr_vec3_accumulate(x0_bar + 6, b_bar);
}

// 3 g = A (across n be + tangent q) with across = normal |u.n| - tangent and be = n.q. N moves by
// dN, A by n.dN and n by (dN - n dA)/A; q by -mean(dx0)/h - dwind.
cr_vec3 cr_drag_gradient_jvp(const cr_drag_law* law, const cr_drag_start* start, const double* x,
                             const cr_drag_law* dlaw, const double* dwind, const double* dx0,
                             const double* dv0)
{
    const cr_vec3 area_n = area_vector(start->x0);
    const double area = cr_vec3_norm(area_n);
    if (area == 0.0) {
        return (cr_vec3){0, 0, 0};
    }
    const cr_vec3 n = cr_vec3_scale(1.0 / area, area_n), q = end_speed(start, x);
    const cr_vec3 air = cr_vec3_sub(mean3(start->v0), cr_vec3_load(start->wind));
    const cr_vec3 dwind3 = cr_vec3_load(dwind);
    const cr_vec3 dair = cr_vec3_sub(mean3(dv0), dwind3);
    const cr_vec3 dq = cr_vec3_sub(cr_vec3_scale(-1.0 / start->h, mean3(dx0)), dwind3);
    const cr_vec3 p = cr_vec3_load(start->x0), dp = cr_vec3_load(dx0);
    const cr_vec3 a = cr_vec3_sub(cr_vec3_load(start->x0 + 3), p);
    const cr_vec3 b = cr_vec3_sub(cr_vec3_load(start->x0 + 6), p);
    const cr_vec3 da = cr_vec3_sub(cr_vec3_load(dx0 + 3), dp);
    const cr_vec3 db = cr_vec3_sub(cr_vec3_load(dx0 + 6), dp);
    const cr_vec3 darea_n =
        cr_vec3_scale(0.5, cr_vec3_add(cr_vec3_cross(da, b), cr_vec3_cross(a, db)));
    const double darea = cr_vec3_dot(n, darea_n);
    const cr_vec3 dn = cr_vec3_scale(1.0 / area, cr_vec3_add_scaled(darea_n, -darea, n));

    const double s = cr_vec3_dot(air, n), sign = (double)((s > 0.0) - (s < 0.0));
    const double ds = cr_vec3_dot(dair, n) + cr_vec3_dot(air, dn);
    const double across = law->normal * fabs(s) - law->tangent, be = cr_vec3_dot(n, q);
    const double dacross = dlaw->normal * fabs(s) + law->normal * sign * ds - dlaw->tangent;
    const double dbe = cr_vec3_dot(dn, q) + cr_vec3_dot(n, dq);
    const cr_vec3 per = cr_vec3_add_scaled(cr_vec3_scale(across * be, n), law->tangent, q);
    cr_vec3 dper = cr_vec3_scale(dacross * be + across * dbe, n);
    dper = cr_vec3_add_scaled(dper, across * be, dn);
    dper = cr_vec3_add_scaled(dper, dlaw->tangent, q);
    dper = cr_vec3_add_scaled(dper, law->tangent, dq);
    return cr_vec3_scale(1.0 / 3.0, cr_vec3_add_scaled(cr_vec3_scale(darea, per), area, dper));
}
