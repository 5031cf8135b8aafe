#include "bodies/bending.h"

// Cotangents at corners 0 and 1 of a flat triangle, and its area. With l = |a x b| = 2 area, the
// cotangent between a and b is a.b/l; l is the same at every corner.
static double cotangents(const double* p, double* at0, double* at1)
{
    const double e[2] = {p[2] - p[0], p[3] - p[1]};
    const double a[2] = {p[4] - p[0], p[5] - p[1]};
    const double b[2] = {p[4] - p[2], p[5] - p[3]};
    const double l = fabs(e[0] * a[1] - e[1] * a[0]);
    *at0 = (e[0] * a[0] + e[1] * a[1]) / l;
    *at1 = -(e[0] * b[0] + e[1] * b[1]) / l;
    return 0.5 * l;
}

// K_i = 2 area grad N_opposite . grad N_i summed over both triangles, with its sign turned
cr_bending_rest cr_bending_rest_make(const double* first, const double* second)
{
    double c0, c1, d0, d1;
    const double area = cotangents(first, &c0, &c1) + cotangents(second, &d0, &d1);
    return (cr_bending_rest){{c1 + d1, c0 + d0, -c0 - c1, -d0 - d1}, 3.0 / area};
}

// sum_i K_i x_i. The weights sum to 0, so node 0 enters by differences and a far origin costs no
// digits.
static cr_vec3 laplacian(const cr_bending_rest* rest, const double* x)
{
    const cr_vec3 x0 = cr_vec3_load(x);
    cr_vec3 s = cr_vec3_scale(rest->k[1], cr_vec3_sub(cr_vec3_load(x + 3), x0));
    s = cr_vec3_add_scaled(s, rest->k[2], cr_vec3_sub(cr_vec3_load(x + 6), x0));
    return cr_vec3_add_scaled(s, rest->k[3], cr_vec3_sub(cr_vec3_load(x + 9), x0));
}

// s + k (s - s0): what the gradient is proportional to
static cr_vec3 laplacian_now(const cr_bending_rest* rest, const cr_bending_law* law,
                             const double* x0, const double* x)
{
    const cr_vec3 s = laplacian(rest, x);
    if (law->rate == 0.0) {
        return s;
    }
    return cr_vec3_add_scaled(s, law->rate, cr_vec3_sub(s, laplacian(rest, x0)));
}

double cr_bending_energy(const cr_bending_rest* rest, const cr_bending_law* law, const double* x0,
                         const double* x)
{
    const cr_vec3 s = laplacian(rest, x);
    double sum = cr_vec3_norm2(s);
    if (law->rate != 0.0) {
        sum += law->rate * cr_vec3_norm2(cr_vec3_sub(s, laplacian(rest, x0)));
    }
    return 0.5 * law->stiffness * rest->w * sum;
}

static void spread(const cr_bending_rest* rest, cr_vec3 force, double* y)
{
    for (int i = 0; i < 4; i++) {
        cr_vec3_store(y + 3 * i, cr_vec3_scale(rest->k[i], force));
    }
}

void cr_bending_gradient(const cr_bending_rest* rest, const cr_bending_law* law, const double* x0,
                         const double* x, double* g)
{
    spread(rest, cr_vec3_scale(law->stiffness * rest->w, laplacian_now(rest, law, x0, x)), g);
}

void cr_bending_hessian(const cr_bending_rest* rest, const cr_bending_law* law, double* q)
{
    const double s = law->stiffness * rest->w * (1.0 + law->rate);
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b <= a; b++) {
            q[a * (a + 1) / 2 + b] = s * rest->k[a] * rest->k[b];
        }
    }
}

void cr_bending_apply(const cr_bending_rest* rest, const cr_bending_law* law, const double* d,
                      double* y)
{
    const double s = law->stiffness * rest->w * (1.0 + law->rate);
    spread(rest, cr_vec3_scale(s, laplacian(rest, d)), y);
}

// With c = s(x) + k (s(x) - s(x0)) and b = s(u) the loss is G = stiffness w c.b, and K_i enters c
// by y_i = x_i + k (x_i - x0_i) and b by u_i.
void cr_bending_gradient_adj(const cr_bending_rest* rest, const cr_bending_law* law,
                             const double* x0, const double* x, const double* u,
                             cr_bending_law* law_bar, double* x0_bar, cr_bending_rest* rest_bar)
{
    const double k = law->rate, scale = law->stiffness * rest->w;
    const double* start = x0 ? x0 : x; // no start: no change, and k_bar says so
    const cr_vec3 s = laplacian(rest, x);
    const cr_vec3 change = cr_vec3_sub(s, laplacian(rest, start));
    const cr_vec3 c = cr_vec3_add_scaled(s, k, change);
    const cr_vec3 b = laplacian(rest, u);
    const double cb = cr_vec3_dot(c, b);

    law_bar->stiffness += rest->w * cb;
    law_bar->rate += scale * cr_vec3_dot(change, b);
    rest_bar->w += law->stiffness * cb;
    for (int i = 0; i < 4; i++) {
        const cr_vec3 xi = cr_vec3_load(x + 3 * i);
        const cr_vec3 yi = cr_vec3_add_scaled(xi, k, cr_vec3_sub(xi, cr_vec3_load(start + 3 * i)));
        rest_bar->k[i] += scale * (cr_vec3_dot(yi, b) + cr_vec3_dot(cr_vec3_load(u + 3 * i), c));
        if (k != 0.0) {
            cr_vec3_accumulate(x0_bar + 3 * i, cr_vec3_scale(-k * scale * rest->k[i], b));
        }
    }
}

// Reverse of cotangents. In c0 = e.a/l and c1 = -e.b/l, with b = a - e and turn the sign of e x a:
// l_bar = area_bar/2 - (c0 c0_bar + c1 c1_bar)/l, dl/de = turn (a_y, -a_x), dl/da = turn (-e_y,
// e_x).
static void cotangents_adj(const double* p, double at0_bar, double at1_bar, double area_bar,
                           double* p_bar)
{
    const double e[2] = {p[2] - p[0], p[3] - p[1]};
    const double a[2] = {p[4] - p[0], p[5] - p[1]};
    const double cross = e[0] * a[1] - e[1] * a[0];
    const double l = fabs(cross), turn = cross < 0.0 ? -1.0 : 1.0;
    const double ea = e[0] * a[0] + e[1] * a[1], ee = e[0] * e[0] + e[1] * e[1];
    // -e.b = e.e - e.a
    const double l_bar = 0.5 * area_bar - (at0_bar * ea + at1_bar * (ee - ea)) / (l * l);
    const double ea_bar = (at0_bar - at1_bar) / l, ee_bar = at1_bar / l;
    const double e_bar[2] = {ea_bar * a[0] + 2.0 * ee_bar * e[0] + l_bar * turn * a[1],
                             ea_bar * a[1] + 2.0 * ee_bar * e[1] - l_bar * turn * a[0]};
    const double a_bar[2] = {ea_bar * e[0] - l_bar * turn * e[1],
                             ea_bar * e[1] + l_bar * turn * e[0]};
    for (int i = 0; i < 2; i++) {
        p_bar[i] -= e_bar[i] + a_bar[i];
        p_bar[2 + i] += e_bar[i];
        p_bar[4 + i] += a_bar[i];
    }
}

// K = (c1 + d1, c0 + d0, -c0 - c1, -d0 - d1) and w = 3/area, so area_bar = -w_bar w^2/3
void cr_bending_rest_adj(const double* first, const double* second, const cr_bending_rest* rest_bar,
                         double* first_bar, double* second_bar)
{
    const double* k_bar = rest_bar->k;
    const double w = cr_bending_rest_make(first, second).w;
    const double area_bar = -rest_bar->w * w * w / 3.0;
    cotangents_adj(first, k_bar[1] - k_bar[2], k_bar[0] - k_bar[2], area_bar, first_bar);
    cotangents_adj(second, k_bar[1] - k_bar[3], k_bar[0] - k_bar[3], area_bar, second_bar);
}

// c0 = e.a/l, c1 = (e.e - e.a)/l, area = l/2
static double cotangents_jvp(const double* p, const double* d, double* dat0, double* dat1)
{
    const double e[2] = {p[2] - p[0], p[3] - p[1]}, a[2] = {p[4] - p[0], p[5] - p[1]};
    const double de[2] = {d[2] - d[0], d[3] - d[1]}, da[2] = {d[4] - d[0], d[5] - d[1]};
    const double cross = e[0] * a[1] - e[1] * a[0];
    const double l = fabs(cross), turn = cross < 0.0 ? -1.0 : 1.0;
    const double dl = turn * (de[0] * a[1] + e[0] * da[1] - de[1] * a[0] - e[1] * da[0]);
    const double ea = e[0] * a[0] + e[1] * a[1], ee = e[0] * e[0] + e[1] * e[1];
    const double dea = de[0] * a[0] + e[0] * da[0] + de[1] * a[1] + e[1] * da[1];
    const double dee = 2.0 * (de[0] * e[0] + de[1] * e[1]);
    *dat0 = (dea - ea * dl / l) / l;
    *dat1 = (dee - dea - (ee - ea) * dl / l) / l;
    return 0.5 * dl;
}

cr_bending_rest cr_bending_rest_jvp(const double* first, const double* second, const double* dfirst,
                                    const double* dsecond)
{
    double c0, c1, d0, d1;
    const double w = cr_bending_rest_make(first, second).w;
    const double area =
        cotangents_jvp(first, dfirst, &c0, &c1) + cotangents_jvp(second, dsecond, &d0, &d1);
    return (cr_bending_rest){{c1 + d1, c0 + d0, -c0 - c1, -d0 - d1}, -w * w * area / 3.0};
}

// g_i = stiffness w K_i c, c = s(x) + k (s(x) - s(x0))
void cr_bending_gradient_jvp(const cr_bending_rest* rest, const cr_bending_law* law,
                             const double* x0, const double* x, const cr_bending_law* dlaw,
                             const double* dx0, const cr_bending_rest* drest, double* g)
{
    const double k = law->rate;
    const double* start = x0 ? x0 : x; // as in the reverse
    const cr_vec3 s = laplacian(rest, x), ds = laplacian(drest, x);
    const cr_vec3 change = cr_vec3_sub(s, laplacian(rest, start));
    const cr_vec3 c = cr_vec3_add_scaled(s, k, change);
    cr_vec3 dc = cr_vec3_add_scaled(ds, k, cr_vec3_sub(ds, laplacian(drest, start)));
    dc = cr_vec3_add_scaled(dc, dlaw->rate, change);
    if (dx0) {
        dc = cr_vec3_add_scaled(dc, -k, laplacian(rest, dx0));
    }
    const double scale = law->stiffness * rest->w;
    const double dscale = dlaw->stiffness * rest->w + law->stiffness * drest->w;
    const cr_vec3 along = cr_vec3_add_scaled(cr_vec3_scale(scale, dc), dscale, c);
    for (int i = 0; i < 4; i++) {
        cr_vec3_accumulate(g + 3 * i, cr_vec3_add_scaled(cr_vec3_scale(rest->k[i], along),
                                                         scale * drest->k[i], c));
    }
}
