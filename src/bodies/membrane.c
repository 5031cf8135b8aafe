#include "bodies/membrane.h"
#include "math/mat3.h"

// Twice the area over the longest edge squared. Below it the triangle's height is a millionth of
// its length and its stiffness 1e12 times a neighbour's: no solver has digits for both.
static const double thinnest = 1e-6;

// Off-diagonal entries this far below the diagonal's size are round-off.
static const double jacobi_floor = 1e-15;

// A column's part across the other this far below it is round-off: the columns are parallel.
static const double parallel_floor = 1e-14;

// Cyclic sweeps over a 4x4 matrix converge quadratically; four or five are usual.
enum { JACOBI_SWEEPS = 12 };

cr_membrane_law cr_membrane_isotropic(double young, double poisson)
{
    const double c11 = young / (1.0 - poisson * poisson);
    return (cr_membrane_law){
        .c11 = c11, .c12 = poisson * c11, .c22 = c11, .c33 = 0.5 * young / (1.0 + poisson)};
}

carom_status cr_membrane_rest_make(const double* corner, cr_membrane_rest* rest)
{
    const double a[2] = {corner[2] - corner[0], corner[3] - corner[1]};
    const double b[2] = {corner[4] - corner[0], corner[5] - corner[1]};
    const double c[2] = {b[0] - a[0], b[1] - a[1]};
    const double det = a[0] * b[1] - a[1] * b[0]; // negative for a mirrored triangle
    const double longest = cr_max(a[0] * a[0] + a[1] * a[1],
                                  cr_max(b[0] * b[0] + b[1] * b[1], c[0] * c[0] + c[1] * c[1]));
    // a subnormal area would overflow the gradients; asked this way round a NaN is refused too
    if (!(fabs(det) > thinnest * longest && isfinite(1.0 / det) && isfinite(longest))) {
        return CAROM_ERR_MESH;
    }
    // gN_1, gN_2 are the rows of [a b]^-1
    rest->grad[1][0] = b[1] / det;
    rest->grad[1][1] = -b[0] / det;
    rest->grad[2][0] = -a[1] / det;
    rest->grad[2][1] = a[0] / det;
    rest->grad[0][0] = -rest->grad[1][0] - rest->grad[2][0];
    rest->grad[0][1] = -rest->grad[1][1] - rest->grad[2][1];
    rest->area = 0.5 * fabs(det);
    return CAROM_OK;
}

static double density(const cr_membrane_law* law, cr_membrane_sym e)
{
    return 0.5 * (law->c11 * e.uu * e.uu + 2.0 * law->c12 * e.uu * e.vv + law->c22 * e.vv * e.vv) +
           2.0 * law->c33 * e.uv * e.uv;
}

// S = C:(E + k (E - E0)), elastic and viscous stress together
static cr_membrane_sym stress_now(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                  const double* x0, cr_membrane_map f)
{
    cr_membrane_sym e = cr_membrane_strain(f);
    const double k = law->rate;
    if (k != 0.0) {
        const cr_membrane_sym e0 = cr_membrane_strain(cr_membrane_deform(rest, x0));
        e.uu += k * (e.uu - e0.uu);
        e.vv += k * (e.vv - e0.vv);
        e.uv += k * (e.uv - e0.uv);
    }
    return cr_membrane_stress(law, e);
}

// The moduli that answer a change of E: (1 + k) C.
static cr_membrane_law tangent(const cr_membrane_law* law)
{
    const double s = 1.0 + law->rate;
    return (cr_membrane_law){s * law->c11, s * law->c12, s * law->c22, s * law->c33, law->rate};
}

// y_a = area P gN_a
static void spread(const cr_membrane_rest* rest, cr_membrane_map p, double* y)
{
    for (int a = 0; a < 3; a++) {
        cr_vec3_store(y + 3 * a,
                      cr_vec3_add_scaled(cr_vec3_scale(rest->area * rest->grad[a][0], p.u),
                                         rest->area * rest->grad[a][1], p.v));
    }
}

static cr_membrane_map map_add(cr_membrane_map a, cr_membrane_map b)
{
    return (cr_membrane_map){cr_vec3_add(a.u, b.u), cr_vec3_add(a.v, b.v)};
}

double cr_membrane_energy(const cr_membrane_rest* rest, const cr_membrane_law* law,
                          const double* x0, const double* x)
{
    const cr_membrane_sym e = cr_membrane_strain(cr_membrane_deform(rest, x));
    double w = density(law, e);
    if (law->rate != 0.0) {
        const cr_membrane_sym e0 = cr_membrane_strain(cr_membrane_deform(rest, x0));
        const cr_membrane_sym change = {e.uu - e0.uu, e.vv - e0.vv, e.uv - e0.uv};
        w += law->rate * density(law, change);
    }
    return rest->area * w;
}

void cr_membrane_gradient(const cr_membrane_rest* rest, const cr_membrane_law* law,
                          const double* x0, const double* x, double* g)
{
    const cr_membrane_map f = cr_membrane_deform(rest, x);
    spread(rest, cr_membrane_mul(f, stress_now(rest, law, x0, f)), g); // P = F S
}

void cr_membrane_apply(const cr_membrane_rest* rest, const cr_membrane_law* law, const double* x0,
                       const double* x, const double* d, double* y)
{
    // P = F S, so dP = F_d S + F (1+k) C:sym(F_d^T F)
    const cr_membrane_law c = tangent(law);
    const cr_membrane_map f = cr_membrane_deform(rest, x);
    const cr_membrane_map fd = cr_membrane_deform(rest, d);
    const cr_membrane_sym ds = cr_membrane_stress(&c, cr_membrane_strain_change(fd, f));
    spread(rest, map_add(cr_membrane_mul(fd, stress_now(rest, law, x0, f)), cr_membrane_mul(f, ds)),
           y);
}

void cr_membrane_third(const cr_membrane_rest* rest, const cr_membrane_law* law, const double* x,
                       const double* a, const double* b, double* y)
{
    // dP once more: F_a S_b + F_b S_a + F S_ab, each S from (1+k) C; E0 has dropped out
    const cr_membrane_law c = tangent(law);
    const cr_membrane_map f = cr_membrane_deform(rest, x);
    const cr_membrane_map fa = cr_membrane_deform(rest, a);
    const cr_membrane_map fb = cr_membrane_deform(rest, b);
    const cr_membrane_sym sa = cr_membrane_stress(&c, cr_membrane_strain_change(fa, f));
    const cr_membrane_sym sb = cr_membrane_stress(&c, cr_membrane_strain_change(fb, f));
    const cr_membrane_sym sab = cr_membrane_stress(&c, cr_membrane_strain_change(fa, fb));
    spread(
        rest,
        map_add(map_add(cr_membrane_mul(fa, sb), cr_membrane_mul(fb, sa)), cr_membrane_mul(f, sab)),
        y);
}

// d2(potential/area)/dF2 by 3x3 blocks: uu = dPu/dFu, uv = dPu/dFv, vv = dPv/dFv; dPv/dFu = uv^T.
typedef struct curvature {
    cr_mat3 uu, uv, vv;
} curvature;

// s I + p a a^T + q b b^T, symmetric to the last bit
static cr_mat3 two_dyads(double s, double p, cr_vec3 a, double q, cr_vec3 b)
{
    cr_mat3 m = cr_mat3_scale(p, cr_mat3_outer(a, a));
    m = cr_mat3_add_scaled(m, q, cr_mat3_outer(b, b));
    m.m[0][0] += s;
    m.m[1][1] += s;
    m.m[2][2] += s;
    return m;
}

// dSuu = c11 Fu.dFu + c12 Fv.dFv, dSvv likewise, dSuv = c33 (Fu.dFv + Fv.dFu) in
// dPu = dFu Suu + dFv Suv + Fu dSuu + Fv dSuv gives the blocks; c already holds (1+k).
static curvature curve(const cr_membrane_law* c, cr_membrane_map f, cr_membrane_sym s)
{
    curvature h;
    h.uu = two_dyads(s.uu, c->c11, f.u, c->c33, f.v);
    h.vv = two_dyads(s.vv, c->c22, f.v, c->c33, f.u);
    h.uv = cr_mat3_add(cr_mat3_outer(cr_vec3_scale(c->c12, f.u), f.v),
                       cr_mat3_outer(cr_vec3_scale(c->c33, f.v), f.u));
    h.uv.m[0][0] += s.uv;
    h.uv.m[1][1] += s.uv;
    h.uv.m[2][2] += s.uv;
    return h;
}

// Corner blocks area sum_jl gN_a[j] gN_b[l] h_jl. The hats sum to one, so every row and column of
// blocks sums to zero: corners 1 and 2 are computed, corner 0 follows. Sums are paired so that the
// diagonal blocks are symmetric to the last bit.
static void corners(const cr_membrane_rest* rest, const curvature* h, double (*block)[9])
{
    const double pu = rest->grad[1][0], pv = rest->grad[1][1];
    const double qu = rest->grad[2][0], qv = rest->grad[2][1];
    const double area = rest->area;
    double b12[3][3]; // rows of corner 1, columns of corner 2
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double uu = area * h->uu.m[i][j], vv = area * h->vv.m[i][j];
            const double uv = area * h->uv.m[i][j], vu = area * h->uv.m[j][i];
            block[2][3 * i + j] = pu * pu * uu + pu * pv * (uv + vu) + pv * pv * vv;
            block[5][3 * i + j] = qu * qu * uu + qu * qv * (uv + vu) + qv * qv * vv;
            b12[i][j] = pu * qu * uu + pu * qv * uv + pv * qu * vu + pv * qv * vv;
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int at = 3 * i + j;
            block[4][at] = b12[j][i];
            block[1][at] = -block[2][at] - b12[i][j];
            block[3][at] = -block[5][at] - b12[j][i];
            block[0][at] = (block[2][at] + block[5][at]) + (b12[i][j] + b12[j][i]);
        }
    }
}

void cr_membrane_hessian(const cr_membrane_rest* rest, const cr_membrane_law* law, const double* x0,
                         const double* x, double (*block)[9])
{
    const cr_membrane_law c = tangent(law);
    const cr_membrane_map f = cr_membrane_deform(rest, x);
    const curvature h = curve(&c, f, stress_now(rest, law, x0, f));
    corners(rest, &h, block);
}

static int is_tension(cr_membrane_sym s)
{
    return s.uu >= 0.0 && s.vv >= 0.0 && s.uu * s.vv >= s.uv * s.uv;
}

// S without its negative eigenvalues: with eigenvalues high > 0 > low of a 2x2 matrix,
// S+ = high (S - low I)/(high - low).
static cr_membrane_sym tension_part(cr_membrane_sym s)
{
    if (is_tension(s)) {
        return s;
    }
    const double mean = 0.5 * (s.uu + s.vv);
    const double half = 0.5 * (s.uu - s.vv);
    const double radius = sqrt(half * half + s.uv * s.uv);
    const double high = mean + radius, low = mean - radius;
    if (!(high > 0.0)) {
        return (cr_membrane_sym){0};
    }
    const double t = high / (high - low);
    return (cr_membrane_sym){t * (s.uu - low), t * (s.vv - low), t * s.uv};
}

// Two unit vectors whose plane holds both columns of F, whatever its rank.
static void tangent_plane(cr_membrane_map f, cr_vec3* t1, cr_vec3* t2)
{
    const int u_longer = cr_vec3_norm2(f.u) >= cr_vec3_norm2(f.v);
    const cr_vec3 longer = u_longer ? f.u : f.v, other = u_longer ? f.v : f.u;
    const double length = cr_vec3_norm(longer);
    *t1 = length > 0.0 ? cr_vec3_scale(1.0 / length, longer) : (cr_vec3){1, 0, 0};

    // the second projection wipes out what round-off of the first leaves along t1
    cr_vec3 rest = cr_vec3_add_scaled(other, -cr_vec3_dot(*t1, other), *t1);
    rest = cr_vec3_add_scaled(rest, -cr_vec3_dot(*t1, rest), *t1);
    double left = cr_vec3_norm(rest);
    if (!(left > parallel_floor * length)) { // parallel columns: any perpendicular will do
        const cr_vec3 size = {fabs(t1->x), fabs(t1->y), fabs(t1->z)};
        const cr_vec3 axis = {size.x <= size.y && size.x <= size.z,
                              size.y < size.x && size.y <= size.z,
                              size.z < size.x && size.z < size.y};
        rest = cr_vec3_cross(*t1, axis);
        left = cr_vec3_norm(rest);
    }
    *t2 = cr_vec3_scale(1.0 / left, rest);
}

// One Jacobi rotation that clears a[p][q], gathered into the columns of v.
static void jacobi_rotate(double a[4][4], double v[4][4], int p, int q)
{
    const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    const double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < 4; k++) {
        const double kp = a[k][p], kq = a[k][q];
        a[k][p] = c * kp - s * kq;
        a[k][q] = s * kp + c * kq;
        const double vp = v[k][p], vq = v[k][q];
        v[k][p] = c * vp - s * vq;
        v[k][q] = s * vp + c * vq;
    }
    for (int k = 0; k < 4; k++) {
        const double pk = a[p][k], qk = a[q][k];
        a[p][k] = c * pk - s * qk;
        a[q][k] = s * pk + c * qk;
    }
}

// A symmetric 4x4 matrix loses its negative eigenvalues.
static void positive_part(double a[4][4])
{
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    double scale = 0.0;
    for (int i = 0; i < 16; i++) {
        scale = cr_max(scale, fabs(a[i / 4][i % 4]));
    }
    int rotated = 1;
    for (int sweep = 0; sweep < JACOBI_SWEEPS && rotated; sweep++) {
        rotated = 0;
        for (int p = 0; p < 3; p++) {
            for (int q = p + 1; q < 4; q++) {
                if (fabs(a[p][q]) > jacobi_floor * scale) {
                    jacobi_rotate(a, v, p, q);
                    rotated = 1;
                }
            }
        }
    }
    const double value[4] = {cr_max(a[0][0], 0.0), cr_max(a[1][1], 0.0), cr_max(a[2][2], 0.0),
                             cr_max(a[3][3], 0.0)};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            a[i][j] = value[0] * v[i][0] * v[j][0] + value[1] * v[i][1] * v[j][1] +
                      value[2] * v[i][2] * v[j][2] + value[3] * v[i][3] * v[j][3];
        }
    }
}

// With t1, t2 in the plane of F and n normal to it, a change of F along n meets S alone (a 2x2
// matrix) and does not mix with changes inside the plane (a 4x4 matrix over (Fu1, Fu2, Fv1, Fv2)):
// each is projected by itself, and together they are the projection of the whole.
static curvature curve_projected(const cr_membrane_law* c, cr_membrane_map f, cr_membrane_sym s)
{
    cr_vec3 t[2];
    tangent_plane(f, &t[0], &t[1]);
    const cr_vec3 n = cr_vec3_cross(t[0], t[1]);
    const double u[2] = {cr_vec3_dot(f.u, t[0]), cr_vec3_dot(f.u, t[1])};
    const double v[2] = {cr_vec3_dot(f.v, t[0]), cr_vec3_dot(f.v, t[1])};

    double a[4][4];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            a[i][j] = c->c11 * u[i] * u[j] + c->c33 * v[i] * v[j] + (i == j ? s.uu : 0.0);
            a[i + 2][j + 2] = c->c22 * v[i] * v[j] + c->c33 * u[i] * u[j] + (i == j ? s.vv : 0.0);
            a[i][j + 2] = c->c12 * u[i] * v[j] + c->c33 * v[i] * u[j] + (i == j ? s.uv : 0.0);
            a[j + 2][i] = a[i][j + 2];
        }
    }
    positive_part(a);

    const cr_membrane_sym across = tension_part(s);
    const cr_mat3 nn = cr_mat3_outer(n, n);
    curvature h = {cr_mat3_scale(across.uu, nn), cr_mat3_scale(across.uv, nn),
                   cr_mat3_scale(across.vv, nn)};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            const cr_mat3 tt = cr_mat3_outer(t[i], t[j]);
            h.uu = cr_mat3_add_scaled(h.uu, a[i][j], tt);
            h.uv = cr_mat3_add_scaled(h.uv, a[i][j + 2], tt);
            h.vv = cr_mat3_add_scaled(h.vv, a[i + 2][j + 2], tt);
        }
    }
    return h;
}

void cr_membrane_hessian_projected(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                   const double* x0, const double* x, double (*block)[9])
{
    const cr_membrane_law c = tangent(law);
    const cr_membrane_map f = cr_membrane_deform(rest, x);
    const cr_membrane_sym s = stress_now(rest, law, x0, f);
    // under tension every term is positive already
    const curvature h = is_tension(s) ? curve(&c, f, s) : curve_projected(&c, f, s);
    corners(rest, &h, block);
}
