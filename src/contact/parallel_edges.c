#include "contact/parallel_edges.h"
#include "math/scalar.h"

static const double fade = CR_PARALLEL_EDGES;

static double sine2(cr_vec3 a, cr_vec3 b)
{
    const double pq = cr_vec3_norm2(a) * cr_vec3_norm2(b);
    return pq > 0.0 ? cr_vec3_norm2(cr_vec3_cross(a, b)) / pq : 0.0;
}

int cr_parallel_edges_fade(const cr_vec3 x[4])
{
    return sine2(cr_vec3_sub(x[1], x[0]), cr_vec3_sub(x[3], x[2])) < fade;
}

// With p = a.a, q = b.b, s = a.b and c = 1 - r, r = s^2/(p q):
//   dr/da = 2 s b/(pq) - 2 r a/p
//   d2r/da da = 2 b b/(pq) - 4 s (a b + b a)/(p^2 q) + 8 r a a/p^2 - 2 r/p
//   d2r/da db = 2 b a/(pq) + 2 s/(pq) - 4 s b b/(p q^2) - 4 s a a/(p^2 q) + 4 r a b/(pq)
static cr_mat3 same_side(cr_vec3 a, cr_vec3 b, double p, double q, double s, double r)
{
    cr_mat3 h = cr_mat3_scale(2.0 / (p * q), cr_mat3_outer(b, b));
    const cr_mat3 ab = cr_mat3_add(cr_mat3_outer(a, b), cr_mat3_outer(b, a));
    h = cr_mat3_add_scaled(h, -4.0 * s / (p * p * q), ab);
    h = cr_mat3_add_scaled(h, 8.0 * r / (p * p), cr_mat3_outer(a, a));
    return cr_mat3_add_scaled(h, -2.0 * r / p, cr_mat3_identity());
}

static cr_mat3 across(cr_vec3 a, cr_vec3 b, double p, double q, double s, double r)
{
    cr_mat3 h = cr_mat3_scale(2.0 / (p * q), cr_mat3_outer(b, a));
    h = cr_mat3_add_scaled(h, 2.0 * s / (p * q), cr_mat3_identity());
    h = cr_mat3_add_scaled(h, -4.0 * s / (p * q * q), cr_mat3_outer(b, b));
    h = cr_mat3_add_scaled(h, -4.0 * s / (p * p * q), cr_mat3_outer(a, a));
    return cr_mat3_add_scaled(h, 4.0 * r / (p * q), cr_mat3_outer(a, b));
}

cr_parallel_edges cr_parallel_edges_make(const cr_vec3 x[4])
{
    const cr_vec3 a = cr_vec3_sub(x[1], x[0]), b = cr_vec3_sub(x[3], x[2]);
    const double p = cr_vec3_norm2(a), q = cr_vec3_norm2(b), s = cr_vec3_dot(a, b);
    const double c = sine2(a, b), r = 1.0 - c;
    cr_parallel_edges out = {.m = 1.0};
    if (!(c < fade) || !(p > 0.0 && q > 0.0)) {
        return out;
    }
    out.m = (2.0 - c / fade) * c / fade;
    const double m1 = 2.0 * (1.0 - c / fade) / fade, m2 = -2.0 / (fade * fade);
    // of c = 1 - r with respect to a and b
    const cr_vec3 da = cr_vec3_add_scaled(cr_vec3_scale(-2.0 * s / (p * q), b), 2.0 * r / p, a);
    const cr_vec3 db = cr_vec3_add_scaled(cr_vec3_scale(-2.0 * s / (p * q), a), 2.0 * r / q, b);
    const cr_vec3 slope[2] = {da, db};
    const cr_mat3 ab = across(a, b, p, q, s, r);
    const cr_mat3 bend[2][2] = {{same_side(a, b, p, q, s, r), ab},
                                {cr_mat3_transpose(ab), same_side(b, a, q, p, s, r)}};
    for (int k = 0; k < 4; k++) {
        const double sign_k = k % 2 ? 1.0 : -1.0;
        out.grad[k] = cr_vec3_scale(sign_k * m1, slope[k / 2]);
        for (int l = 0; l < 4; l++) {
            const double sign = sign_k * (l % 2 ? 1.0 : -1.0);
            const cr_mat3 h = cr_mat3_add_scaled(
                cr_mat3_scale(sign * m2, cr_mat3_outer(slope[k / 2], slope[l / 2])), -sign * m1,
                bend[k / 2][l / 2]);
            out.hess[k][l] = h;
        }
    }
    return out;
}
