#include "math/quat.h"

cr_quat cr_quat_normalize(cr_quat a)
{
    const double n = sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z);
    if (!(n > 0.0)) {
        return cr_quat_identity();
    }
    const double s = 1.0 / n;
    return (cr_quat){s * a.w, s * a.x, s * a.y, s * a.z};
}

// q = (cos(th/2), sin(th/2)/th w); near 0 by the series, whose next term is below 1e-19
cr_quat cr_quat_from_rotation(cr_vec3 w)
{
    const double s = 0.25 * cr_vec3_norm2(w); // (th/2)^2
    double c, f;                              // cos(th/2), sin(th/2)/(th/2)
    if (s < 1e-3) {
        c = 1.0 - s / 2.0 * (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0)));
        f = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0)));
    } else {
        const double half = sqrt(s);
        c = cr_cos(half);
        f = cr_sin(half) / half;
    }
    return (cr_quat){c, 0.5 * f * w.x, 0.5 * f * w.y, 0.5 * f * w.z};
}

cr_vec3 cr_quat_to_rotation(cr_quat a)
{
    if (a.w < 0.0) { // the same rotation by the short way round
        a = (cr_quat){-a.w, -a.x, -a.y, -a.z};
    }
    const cr_vec3 v = {a.x, a.y, a.z};
    const double n = cr_vec3_norm(v);
    // th = 2 atan2(n, w); th/n -> 2/w as n -> 0
    const double f = n > 1e-12 * a.w ? 2.0 * cr_atan2(n, a.w) / n : 2.0 / a.w;
    return cr_vec3_scale(f, v);
}

cr_mat3 cr_quat_to_matrix(cr_quat a)
{
    const double xx = a.x * a.x, yy = a.y * a.y, zz = a.z * a.z;
    const double xy = a.x * a.y, xz = a.x * a.z, yz = a.y * a.z;
    const double wx = a.w * a.x, wy = a.w * a.y, wz = a.w * a.z;
    return (cr_mat3){{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                      {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                      {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
}

// The largest of the four squares is at least 1/4, so no digit is lost in the root.
cr_quat cr_quat_from_matrix(cr_mat3 r)
{
    const double xx = r.m[0][0], yy = r.m[1][1], zz = r.m[2][2];
    cr_quat q;
    if (xx + yy + zz > 0.0) {
        const double s = 2.0 * sqrt(1.0 + xx + yy + zz);
        q = (cr_quat){0.25 * s, (r.m[2][1] - r.m[1][2]) / s, (r.m[0][2] - r.m[2][0]) / s,
                      (r.m[1][0] - r.m[0][1]) / s};
    } else if (xx > yy && xx > zz) {
        const double s = 2.0 * sqrt(1.0 + xx - yy - zz);
        q = (cr_quat){(r.m[2][1] - r.m[1][2]) / s, 0.25 * s, (r.m[0][1] + r.m[1][0]) / s,
                      (r.m[0][2] + r.m[2][0]) / s};
    } else if (yy > zz) {
        const double s = 2.0 * sqrt(1.0 + yy - xx - zz);
        q = (cr_quat){(r.m[0][2] - r.m[2][0]) / s, (r.m[0][1] + r.m[1][0]) / s, 0.25 * s,
                      (r.m[1][2] + r.m[2][1]) / s};
    } else {
        const double s = 2.0 * sqrt(1.0 + zz - xx - yy);
        q = (cr_quat){(r.m[1][0] - r.m[0][1]) / s, (r.m[0][2] + r.m[2][0]) / s,
                      (r.m[1][2] + r.m[2][1]) / s, 0.25 * s};
    }
    if (q.w < 0.0) {
        q = (cr_quat){-q.w, -q.x, -q.y, -q.z};
    }
    return cr_quat_normalize(q);
}
