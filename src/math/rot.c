#include "math/rot.h"

// All the scalars are combinations of the functions
//   f_n(s) = 1/n! - s/(n+2)! + s^2/(n+4)! - ...,   f_0 = cos th, f_1 = sin th/th,
// which obey f_n = 1/n! - s f_(n+2) and 2 df_n/ds = n f_(n+2) - f_(n+1). Run downwards from a large
// n, the first rule multiplies errors by s/(n+1)(n+2) at most: no cancellation and no switch point.
enum { LAST = 31 };

// Up to here the downward rule is started with f_n = 1/n! at n = 31, wrong by s/33^2 of itself;
// what is left of that in f_6 is below 1e-18 of it.
static const double downward_limit = 10.0; // [rad^2] |w| = 3.16

// Most turns of a step are small, and for those a lower start leaves no more: from n = last and
// last - 1 on, 6! s^((last-5)/2) / (last+1)! is below 1e-16 in f_6.
static int start_of(double s)
{
    return s < 1e-4 ? 11 : s < 0.25 ? 17 : LAST;
}

static const double inverse_factorial[LAST + 1] = {
    1.0,
    1.0,
    1.0 / 2,
    1.0 / 6,
    1.0 / 24,
    1.0 / 120,
    1.0 / 720,
    1.0 / 5040,
    1.0 / 40320,
    1.0 / 362880,
    1.0 / 3628800,
    1.0 / 39916800,
    1.0 / 479001600,
    1.0 / 6227020800,
    1.0 / 87178291200,
    1.0 / 1307674368000,
    1.0 / 20922789888000,
    1.0 / 355687428096000,
    1.0 / 6402373705728000,
    1.0 / 121645100408832000.0,
    1.0 / 2432902008176640000.0,
    1.0 / 51090942171709440000.0,
    1.0 / 1124000727777607680000.0,
    1.0 / 25852016738884976640000.0,
    1.0 / 620448401733239439360000.0,
    1.0 / 15511210043330985984000000.0,
    1.0 / 403291461126605635584000000.0,
    1.0 / 10888869450418352160768000000.0,
    1.0 / 304888344611713860501504000000.0,
    1.0 / 8841761993739701954543616000000.0,
    1.0 / 265252859812191058636308480000000.0,
    1.0 / 8222838654177922817725562880000000.0,
};

static void cosine_and_sine(double s, double f[2])
{
    const double th = sqrt(s);
    f[0] = cr_cos(th);
    f[1] = cr_sin(th) / th;
}

// f[0..6] at s
static void even_and_odd(double s, double f[7])
{
    if (!(s < downward_limit)) { // upwards the rule divides by s, which is large enough now
        cosine_and_sine(s, f);
        for (int n = 2; n < 7; n++) {
            f[n] = (inverse_factorial[n - 2] - f[n - 2]) / s;
        }
        return;
    }
    int n = start_of(s);
    double even = inverse_factorial[n - 1], odd = inverse_factorial[n];
    for (n -= 2; n > 6; n -= 2) {
        even = inverse_factorial[n - 1] - s * even;
        odd = inverse_factorial[n] - s * odd;
    }
    f[6] = even;
    f[5] = inverse_factorial[5] - s * odd;
    f[4] = inverse_factorial[4] - s * f[6];
    f[3] = inverse_factorial[3] - s * f[5];
    f[2] = inverse_factorial[2] - s * f[4];
    f[1] = inverse_factorial[1] - s * f[3];
    f[0] = inverse_factorial[0] - s * f[2];
    if (s > 1.0) { // here they pass through 0, and the rule keeps their absolute digits only
        cosine_and_sine(s, f);
    }
}

cr_rot cr_rot_make(cr_vec3 w)
{
    const double s = cr_vec3_norm2(w);
    double f[7];
    even_and_odd(s, f);
    // x1 = 2 dx/ds and x2 = 2 dx1/ds by the second rule
    return (cr_rot){.w = w,
                    .s = s,
                    .c = f[0],
                    .a = f[1],
                    .b = f[2],
                    .a1 = f[3] - f[2],
                    .b1 = 2 * f[4] - f[3],
                    .a2 = f[3] - 3 * f[4] + 3 * f[5],
                    .b2 = f[4] - 5 * f[5] + 8 * f[6],
                    .j = f[3],
                    .j1 = 3 * f[5] - f[4]};
}

// x I + y [w] + z w w^T, the shape of every matrix that commutes with exp([w])
static cr_mat3 axial(double x, double y, double z, cr_vec3 w)
{
    const double xy = z * w.x * w.y, xz = z * w.x * w.z, yz = z * w.y * w.z;
    return (cr_mat3){{{x + z * w.x * w.x, xy - y * w.z, xz + y * w.y},
                      {xy + y * w.z, x + z * w.y * w.y, yz - y * w.x},
                      {xz - y * w.y, yz + y * w.x, x + z * w.z * w.z}}};
}

cr_mat3 cr_rot_matrix(const cr_rot* r)
{
    return axial(r->c, r->a, r->b, r->w);
}

// E p = C p + A (w x p) + B w (p.w)
cr_vec3 cr_rot_apply(const cr_rot* r, cr_vec3 p)
{
    const cr_vec3 w = r->w;
    cr_vec3 y = cr_vec3_scale(r->c, p);
    y = cr_vec3_add_scaled(y, r->a, cr_vec3_cross(w, p));
    return cr_vec3_add_scaled(y, r->b * cr_vec3_dot(p, w), w);
}

// dC = -A w.dw, dA = A1 w.dw, dB = B1 w.dw, so
// Yw = (-A p + A1 (w x p) + B1 (p.w) w) w^T - A [p] + B (w p^T + (p.w) I)
cr_mat3 cr_rot_dw(const cr_rot* r, cr_vec3 p)
{
    const cr_vec3 w = r->w;
    const double pw = cr_vec3_dot(p, w);
    cr_vec3 radial = cr_vec3_scale(-r->a, p);
    radial = cr_vec3_add_scaled(radial, r->a1, cr_vec3_cross(w, p));
    radial = cr_vec3_add_scaled(radial, r->b1 * pw, w);
    cr_mat3 y = axial(r->b * pw, -r->a, 0.0, p);
    y = cr_mat3_add(y, cr_mat3_outer(radial, w));
    return cr_mat3_add_scaled(y, r->b, cr_mat3_outer(w, p));
}

// a b^T + b a^T
static cr_mat3 symmetric_outer(cr_vec3 a, cr_vec3 b)
{
    const cr_mat3 ab = cr_mat3_outer(a, b);
    return cr_mat3_add(ab, cr_mat3_transpose(ab));
}

// With c = p x a (so that a.(w x p) = c.w) and v = (p.w) a + (a.w) p:
//   H = -(a.p)(A I + A1 w w^T) + A1 ((c.w) I + w c^T + c w^T) + A2 (c.w) w w^T
//       + (a.w)(p.w)(B1 I + B2 w w^T) + B1 (w v^T + v w^T) + B (a p^T + p a^T)
cr_mat3 cr_rot_d2w(const cr_rot* r, cr_vec3 p, cr_vec3 a)
{
    const cr_vec3 w = r->w, c = cr_vec3_cross(p, a);
    const double ap = cr_vec3_dot(a, p), aw = cr_vec3_dot(a, w), pw = cr_vec3_dot(p, w);
    const double cw = cr_vec3_dot(c, w);
    const cr_vec3 v = cr_vec3_add_scaled(cr_vec3_scale(pw, a), aw, p);
    const cr_vec3 beside = cr_vec3_add_scaled(cr_vec3_scale(r->a1, c), r->b1, v);
    cr_mat3 h = axial(-ap * r->a + r->a1 * cw + r->b1 * aw * pw, 0.0,
                      -ap * r->a1 + r->a2 * cw + r->b2 * aw * pw, w);
    h = cr_mat3_add(h, symmetric_outer(w, beside));
    return cr_mat3_add_scaled(h, r->b, symmetric_outer(a, p));
}

// Jr = I - B [w] + j [w]^2 and [w]^2 = w w^T - s I, where 1 - j s = A
cr_mat3 cr_rot_right(const cr_rot* r)
{
    return axial(r->a, -r->b, r->j, r->w);
}

cr_mat3 cr_rot_left(const cr_rot* r)
{
    return axial(r->a, r->b, r->j, r->w);
}

// Jr^-1 = I + [w]/2 + D [w]^2, D = (1 - A/2B)/s = -B1/2B since A = 2B + s B1
static double inverse_curve(const cr_rot* r)
{
    return -r->b1 / (2 * r->b);
}

cr_mat3 cr_rot_right_inverse(const cr_rot* r)
{
    const double d = inverse_curve(r);
    return axial(1.0 - d * r->s, 0.5, d, r->w);
}

// Jl^T a = A a - B w x a + j (w.a) w, and dA = A1 w.dw, dB = B1 w.dw, dj = j1 w.dw
cr_mat3 cr_rot_left_transpose_dw(const cr_rot* r, cr_vec3 a)
{
    const cr_vec3 w = r->w;
    const double wa = cr_vec3_dot(w, a);
    cr_vec3 radial = cr_vec3_scale(r->a1, a);
    radial = cr_vec3_add_scaled(radial, -r->b1, cr_vec3_cross(w, a));
    radial = cr_vec3_add_scaled(radial, r->j1 * wa, w);
    cr_mat3 g = axial(r->j * wa, r->b, 0.0, a);
    g = cr_mat3_add(g, cr_mat3_outer(radial, w));
    return cr_mat3_add_scaled(g, r->j, cr_mat3_outer(w, a));
}

cr_vec3 cr_rot_left_dw(const cr_rot* r, cr_vec3 a, cr_vec3 u)
{
    return cr_mat3_tapply(cr_rot_left_transpose_dw(r, a), u);
}

// d(b + w x b/2 + D w x (w x b))/dw = -[b]/2 + D1 (w x (w x b)) w^T - D ([w x b] + [w][b])
// with D1 = 2 dD/ds = (B1^2 - B B2)/2B^2 and [w][b] = b w^T - (w.b) I
cr_mat3 cr_rot_right_inverse_dw(const cr_rot* r, cr_vec3 b)
{
    const cr_vec3 w = r->w, wb = cr_vec3_cross(w, b);
    const double d = inverse_curve(r);
    const double d1 = (r->b1 * r->b1 - r->b * r->b2) / (2 * r->b * r->b);
    cr_mat3 g = cr_mat3_scale(-0.5, cr_mat3_skew(b));
    g = cr_mat3_add_scaled(g, d1, cr_mat3_outer(cr_vec3_cross(w, wb), w));
    g = cr_mat3_add_scaled(g, -d, cr_mat3_skew(wb));
    g = cr_mat3_add_scaled(g, -d, cr_mat3_outer(b, w));
    return cr_mat3_add_scaled(g, d * cr_vec3_dot(w, b), cr_mat3_identity());
}
