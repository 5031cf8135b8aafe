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

// The blocks of corners 1 and 2 are given (b12: rows of corner 1, columns of corner 2). The hats
// sum to one, so every row and column of blocks sums to zero and corner 0 follows. Sums are paired
// so that the diagonal blocks are symmetric to the last bit.
static void close_blocks(const double* b12, double (*block)[9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int at = 3 * i + j;
            const double ij = b12[at], ji = b12[3 * j + i];
            block[4][at] = ji;
            block[1][at] = -block[2][at] - ij;
            block[3][at] = -block[5][at] - ji;
            block[0][at] = (block[2][at] + block[5][at]) + (ij + ji);
        }
    }
}

// The dyads every exact block is a sum of.
typedef struct dyads {
    cr_mat3 uu, uv, vv; // Fu Fu^T, Fu Fv^T, Fv Fv^T
} dyads;

// The exact block of corners with gradients p and q:
//   dSuu = c11 Fu.dFu + c12 Fv.dFv, dSvv likewise, dSuv = c33 (Fu.dFv + Fv.dFu)
// in dPu = dFu Suu + dFv Suv + Fu dSuu + Fv dSuv (dPv likewise), with dF = dx_b q^T and the force
// dP p on corner a. c already holds the factor 1+k.
static void exact_block(const cr_membrane_law* c, cr_membrane_sym s, const dyads* f, double area,
                        const double* p, const double* q, double* block)
{
    const double uu = area * (p[0] * q[0]), vv = area * (p[1] * q[1]);
    const double uv = area * (p[0] * q[1]), vu = area * (p[1] * q[0]);
    const double by_uu = c->c11 * uu + c->c33 * vv, by_vv = c->c22 * vv + c->c33 * uu;
    const double by_uv = c->c12 * uv + c->c33 * vu, by_vu = c->c12 * vu + c->c33 * uv;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            block[3 * i + j] = (by_uu * f->uu.m[i][j] + by_vv * f->vv.m[i][j]) +
                               (by_uv * f->uv.m[i][j] + by_vu * f->uv.m[j][i]);
        }
    }
    const double stress = s.uu * uu + s.uv * (uv + vu) + s.vv * vv;
    block[0] += stress;
    block[4] += stress;
    block[8] += stress;
}

static void exact_blocks(const cr_membrane_rest* rest, const cr_membrane_law* c, cr_membrane_map f,
                         cr_membrane_sym s, double (*block)[9])
{
    const dyads d = {cr_mat3_outer(f.u, f.u), cr_mat3_outer(f.u, f.v), cr_mat3_outer(f.v, f.v)};
    const double *p = rest->grad[1], *q = rest->grad[2];
    double b12[9];
    exact_block(c, s, &d, rest->area, p, p, block[2]);
    exact_block(c, s, &d, rest->area, q, q, block[5]);
    exact_block(c, s, &d, rest->area, p, q, b12);
    close_blocks(b12, block);
}

void cr_membrane_hessian(const cr_membrane_rest* rest, const cr_membrane_law* law, const double* x0,
                         const double* x, double (*block)[9])
{
    const cr_membrane_map f = cr_membrane_deform(rest, x);
    cr_membrane_hessian_under(rest, law, f, stress_now(rest, law, x0, f), block);
}

void cr_membrane_hessian_under(const cr_membrane_rest* rest, const cr_membrane_law* law,
                               cr_membrane_map f, cr_membrane_sym s, double (*block)[9])
{
    const cr_membrane_law c = tangent(law);
    exact_blocks(rest, &c, f, s, block);
}

// Of d2(potential) = area (F_d S : F_d + moduli), the moduli being positive, the first is at least
// area low |F_d|^2 with the lower eigenvalue of S, and |F_d|^2 = |sum_a d_a gN_a^T|^2 is at most
// the trace of the matrix gN_a.gN_b times sum_a |d_a|^2.
double cr_membrane_buckle(const cr_membrane_rest* rest, const cr_membrane_law* law,
                          const double* x0, const double* x)
{
    return cr_membrane_buckle_of(rest, stress_now(rest, law, x0, cr_membrane_deform(rest, x)));
}

double cr_membrane_buckle_of(const cr_membrane_rest* rest, cr_membrane_sym s)
{
    if (cr_membrane_is_tension(s)) {
        return 0.0;
    }
    const double half = 0.5 * (s.uu - s.vv);
    const double low = 0.5 * (s.uu + s.vv) - sqrt(half * half + s.uv * s.uv);
    double trace = 0.0;
    for (int a = 0; a < 3; a++) {
        trace += rest->grad[a][0] * rest->grad[a][0] + rest->grad[a][1] * rest->grad[a][1];
    }
    return -low * rest->area * trace;
}

// S without its negative eigenvalues: with eigenvalues high > 0 > low of a 2x2 matrix,
// S+ = high (S - low I)/(high - low).
cr_membrane_sym cr_membrane_tension(cr_membrane_sym s)
{
    if (cr_membrane_is_tension(s)) {
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

// With high, low = mean +- r: dr = (half dhalf + uv duv)/r, and t = high/(2 r) with it.
cr_membrane_sym cr_membrane_tension_jvp(cr_membrane_sym s, cr_membrane_sym ds)
{
    const double mean = 0.5 * (s.uu + s.vv), half = 0.5 * (s.uu - s.vv);
    const double r = sqrt(half * half + s.uv * s.uv), high = mean + r, low = mean - r;
    if (cr_membrane_is_tension(s)) {
        return ds;
    }
    if (!(high > 0.0)) {
        return (cr_membrane_sym){0};
    }
    const double dmean = 0.5 * (ds.uu + ds.vv);
    const double dr = (half * 0.5 * (ds.uu - ds.vv) + s.uv * ds.uv) / r;
    const double t = high / (2.0 * r), dt = (dmean + dr - 2.0 * t * dr) / (2.0 * r);
    return (cr_membrane_sym){dt * (s.uu - low) + t * (ds.uu - dmean + dr),
                             dt * (s.vv - low) + t * (ds.vv - dmean + dr), dt * s.uv + t * ds.uv};
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
            a[i][j] = value[0] * (v[i][0] * v[j][0]) + value[1] * (v[i][1] * v[j][1]) +
                      value[2] * (v[i][2] * v[j][2]) + value[3] * (v[i][3] * v[j][3]);
        }
    }
}

// d2(potential/area)/dF2 over the plane of F: rows and columns (Fu1, Fu2, Fv1, Fv2) for the parts
// of Fu and Fv along t.
static void in_plane(const cr_membrane_law* c, cr_membrane_map f, cr_membrane_sym s,
                     const cr_vec3* t, double a[4][4])
{
    const double u[2] = {cr_vec3_dot(f.u, t[0]), cr_vec3_dot(f.u, t[1])};
    const double v[2] = {cr_vec3_dot(f.v, t[0]), cr_vec3_dot(f.v, t[1])};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            a[i][j] = c->c11 * u[i] * u[j] + c->c33 * v[i] * v[j] + (i == j ? s.uu : 0.0);
            a[i + 2][j + 2] = c->c22 * v[i] * v[j] + c->c33 * u[i] * u[j] + (i == j ? s.vv : 0.0);
            a[i][j + 2] = c->c12 * u[i] * v[j] + c->c33 * v[i] * u[j] + (i == j ? s.uv : 0.0);
            a[j + 2][i] = a[i][j + 2];
        }
    }
}

// The block of corners with gradients p and q from the projected parts: t a t^T in
// the plane, n n^T times the tension across it.
static void projected_block(double a[4][4], cr_membrane_sym across, const cr_vec3* t, double area,
                            const double* p, const double* q, double* block)
{
    const double uu = area * (p[0] * q[0]), vv = area * (p[1] * q[1]);
    const double uv = area * (p[0] * q[1]), vu = area * (p[1] * q[0]);
    double part[2][2];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            part[i][j] =
                (uu * a[i][j] + vv * a[i + 2][j + 2]) + (uv * a[i][j + 2] + vu * a[i + 2][j]);
        }
    }
    const double normal = across.uu * uu + across.uv * (uv + vu) + across.vv * vv;
    const cr_vec3 n = cr_vec3_cross(t[0], t[1]);
    const cr_mat3 t00 = cr_mat3_outer(t[0], t[0]), t01 = cr_mat3_outer(t[0], t[1]);
    const cr_mat3 t11 = cr_mat3_outer(t[1], t[1]), nn = cr_mat3_outer(n, n);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            block[3 * i + j] = (part[0][0] * t00.m[i][j] + part[1][1] * t11.m[i][j]) +
                               (part[0][1] * t01.m[i][j] + part[1][0] * t01.m[j][i]) +
                               normal * nn.m[i][j];
        }
    }
}

// With t in the plane of F and n normal to it, a change of F along n meets S alone (a 2x2 matrix)
// and does not mix with changes inside the plane (a 4x4 matrix): each is projected by itself, and
// together they are the projection of the whole.
static void projected_blocks(const cr_membrane_rest* rest, const cr_membrane_law* c,
                             cr_membrane_map f, cr_membrane_sym s, double (*block)[9])
{
    cr_vec3 t[2];
    double a[4][4], b12[9];
    tangent_plane(f, &t[0], &t[1]);
    in_plane(c, f, s, t, a);
    positive_part(a);
    const cr_membrane_sym across = cr_membrane_tension(s);
    const double *p = rest->grad[1], *q = rest->grad[2];
    projected_block(a, across, t, rest->area, p, p, block[2]);
    projected_block(a, across, t, rest->area, q, q, block[5]);
    projected_block(a, across, t, rest->area, p, q, b12);
    close_blocks(b12, block);
}

void cr_membrane_hessian_projected(const cr_membrane_rest* rest, const cr_membrane_law* law,
                                   const double* x0, const double* x, double (*block)[9])
{
    const cr_membrane_law c = tangent(law);
    const cr_membrane_map f = cr_membrane_deform(rest, x);
    const cr_membrane_sym s = stress_now(rest, law, x0, f);
    if (cr_membrane_is_tension(s)) { // every term is positive already
        exact_blocks(rest, &c, f, s, block);
    } else {
        projected_blocks(rest, &c, f, s, block);
    }
}
