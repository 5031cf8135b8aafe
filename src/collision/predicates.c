#include "collision/predicates.h"
#include "core/assert.h"
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

// Forward errors of the plain formulas in units of the sum of the sizes of their terms, with
// u = 2^-53: (3+16u)u for two factors, (7+56u)u for three, rounded up. They hold while no product
// falls below the normal numbers: each that does errs by at most 2^-1075 times what it is then
// multiplied with, so a determinant far above that is still told right.
static const double filter2 = 3.4e-16;
static const double filter3 = 7.8e-16;
static const double underflow_safe2 = 1e-300;
static const double underflow_safe3 = 1e-200;
static const double factor_safe3 = 1e100;

// --- exact sums of products of doubles ---------------------------------------------------------
// A finite double is m 2^e, |m| < 2^53, -1074 <= e <= 971. A product of three is an integer below
// 2^159 times 2^(e1+e2+e3), so a sum of such products is one long integer times 2^base: limbs of 32
// bits, each in 64 so that 2^31 terms may be added before carries matter.

enum { LIMB_MAX = 3 * (971 + 1074) / 32 + 8 };

typedef struct number {
    uint64_t m;
    int32_t e;
    int32_t sign;
} number;

typedef struct sum {
    int64_t limb[LIMB_MAX];
    int32_t count;
    int32_t base; // exponent of the lowest bit
} sum;

static number number_make(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int32_t exponent = (int32_t)(bits >> 52 & 2047);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    number a = {fraction, -1074, bits >> 63 ? -1 : 1};
    if (exponent > 0) {
        a.m |= (uint64_t)1 << 52;
        a.e = exponent - 1075;
    }
    if (a.m == 0) {
        a.sign = 0;
    }
    return a;
}

// Room for sums of products of `factors` numbers out of the given ones.
static void sum_init(sum* s, const number* a, int count, int factors)
{
    int32_t least = 971, most = -1074;
    for (int i = 0; i < count; i++) {
        if (a[i].sign != 0) {
            least = a[i].e < least ? a[i].e : least;
            most = a[i].e > most ? a[i].e : most;
        }
    }
    const int32_t spread = most > least ? most - least : 0;
    s->base = factors * least;
    s->count = factors * spread / 32 + 8; // 159 bits, a shift of 31, and the carries of the sum
    CR_ASSERT(s->count <= LIMB_MAX);
    memset(s->limb, 0, (size_t)s->count * sizeof *s->limb);
}

// s += sign a b c
static void sum_add(sum* s, int32_t sign, number a, number b, number c)
{
    sign *= a.sign * b.sign * c.sign;
    if (sign == 0) {
        return;
    }
    const wide ab = (wide)a.m * b.m;
    const wide low = (wide)(uint64_t)ab * c.m;
    const wide high = (wide)(uint64_t)(ab >> 64) * c.m + (low >> 64);
    const int32_t at = a.e + b.e + c.e - s->base;
    const int32_t shift = at % 32;
    const uint32_t word[5] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
                              (uint32_t)(high >> 32), (uint32_t)(high >> 64)};
    int64_t* limb = s->limb + at / 32;
    uint32_t carry = 0;
    for (int i = 0; i < 6; i++) {
        const uint64_t shifted = (uint64_t)(i < 5 ? word[i] : 0) << shift | carry;
        limb[i] += sign * (int64_t)(shifted & 0xffffffffu);
        carry = (uint32_t)(shifted >> 32);
    }
}

static int sum_sign(const sum* s)
{
    int64_t carry = 0;
    int not_zero = 0;
    for (int32_t i = 0; i < s->count; i++) {
        const int64_t all = s->limb[i] + carry;
        const int64_t low = all & 0xffffffff;
        carry = (all - low) / ((int64_t)1 << 32); // exact: rounds down
        not_zero |= low != 0;
    }
    return carry < 0 ? -1 : carry > 0 || not_zero; // what is left of a negative sum is -1
}

// --- the plane -----------------------------------------------------------------------------------

// | ax ay 1 |
// | bx by 1 |  without a difference
// | cx cy 1 |
static int exact2d(const double x[6])
{
    number a[6];
    for (int i = 0; i < 6; i++) {
        a[i] = number_make(x[i]);
    }
    const number one = {1, 0, 1};
    sum s;
    sum_init(&s, a, 6, 2);
    for (int i = 0; i < 3; i++) {
        const number *p = a + 2 * i, *q = a + 2 * ((i + 1) % 3);
        sum_add(&s, 1, p[0], q[1], one);
        sum_add(&s, -1, p[1], q[0], one);
    }
    return sum_sign(&s);
}

int cr_predicates_orient2d(double ax, double ay, double bx, double by, double cx, double cy)
{
    const double left = (ax - cx) * (by - cy);
    const double right = (ay - cy) * (bx - cx);
    const double det = left - right;
    if (fabs(det) > filter2 * (fabs(left) + fabs(right)) + underflow_safe2) {
        return det > 0.0 ? 1 : -1;
    }
    const double x[6] = {ax, ay, bx, by, cx, cy};
    return exact2d(x);
}

// --- space ---------------------------------------------------------------------------------------

// s += sign |p q r|
static void add_det3(sum* s, int32_t sign, const number* p, const number* q, const number* r)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        sum_add(s, sign, p[i], q[j], r[k]);
        sum_add(s, -sign, p[i], q[k], r[j]);
    }
}

// |a 1; b 1; c 1; d 1| by its last column, without a difference
static int exact3d(const cr_vec3 x[4])
{
    number a[12];
    for (int k = 0; k < 4; k++) {
        a[3 * k] = number_make(x[k].x);
        a[3 * k + 1] = number_make(x[k].y);
        a[3 * k + 2] = number_make(x[k].z);
    }
    sum s;
    sum_init(&s, a, 12, 3);
    add_det3(&s, 1, a, a + 3, a + 6);
    add_det3(&s, -1, a, a + 3, a + 9);
    add_det3(&s, 1, a, a + 6, a + 9);
    add_det3(&s, -1, a + 3, a + 6, a + 9);
    return sum_sign(&s);
}

int cr_predicates_orient3d(cr_vec3 a, cr_vec3 b, cr_vec3 c, cr_vec3 d)
{
    const cr_vec3 p = cr_vec3_sub(a, d), q = cr_vec3_sub(b, d), r = cr_vec3_sub(c, d);
    const double qr = q.x * r.y, rq = r.x * q.y;
    const double rp = r.x * p.y, pr = p.x * r.y;
    const double pq = p.x * q.y, qp = q.x * p.y;
    const double det = p.z * (qr - rq) + q.z * (rp - pr) + r.z * (pq - qp);
    const double terms = fabs(p.z) * (fabs(qr) + fabs(rq)) + fabs(q.z) * (fabs(rp) + fabs(pr)) +
                         fabs(r.z) * (fabs(pq) + fabs(qp));
    const double factor = cr_max(fabs(p.z), cr_max(fabs(q.z), fabs(r.z)));
    // an overflow makes terms infinite or NaN and is refused with the rest
    if (fabs(det) > filter3 * terms + underflow_safe3 && factor < factor_safe3) {
        return det > 0.0 ? 1 : -1;
    }
    const cr_vec3 x[4] = {a, b, c, d};
    return exact3d(x);
}
