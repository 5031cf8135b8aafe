#include "math/scalar.h"
#include <stddef.h>

// Only +, -, *, / and sqrt are the same on every machine; libm's sin and its kin are not: one
// library is told from the next by its last bits, and one and the same library takes another path
// where the processor multiplies and adds in one go. So they stand here, made of what is the same
// everywhere: the argument is brought near 0 without loss, and there the series of Taylor, cut
// where it has nothing left to add, is within a unit or so of the last place.

// a * b = *high + *low without any rounding (Dekker), for |a|, |b| < 2^900.
static void product_exact(double a, double b, double* high, double* low)
{
    static const double splitter = 0x1p27 + 1.0; // cuts 53 bits into 26 and 27
    const double sa = splitter * a, sb = splitter * b;
    const double a1 = sa - (sa - a), a2 = a - a1;
    const double b1 = sb - (sb - b), b2 = b - b1;
    *high = a * b;
    *low = ((a1 * b1 - *high) + a1 * b2 + a2 * b1) + a2 * b2;
}

// a + b = *high + *low without any rounding (Knuth).
static void sum_exact(double a, double b, double* high, double* low)
{
    *high = a + b;
    const double part = *high - a;
    *low = (a - (*high - part)) + (b - part);
}

// ---- sine and cosine

// pi/2 in three pieces that follow on each other: 160 bits
static const double quarter[3] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                  -0x1.f1976b7ed8fbcp-110};
static const double turns_per_radian = 0x1.45f306dc9c883p-1; // quarter turns: 2/pi

// Here neighbouring numbers are a quarter of a radian apart: an angle says nothing any more, but it
// still has a sine and a cosine that belong together.
static const double largest_angle = 0x1p50; // [rad]

// x = n pi/2 + (*r + *rest) with |*r| <= pi/4 and a little; returns n modulo 4.
static int reduce(double x, double* r, double* rest)
{
    if (!(fabs(x) > 0.25 * 3.14)) {
        *r = x;
        *rest = 0.0;
        return 0;
    }
    if (!(fabs(x) < largest_angle)) {
        x = remainder(x, 4.0 * quarter[0]); // exact, so the same everywhere
    }
    const double n = floor(x * turns_per_radian + 0.5);
    double h0, l0, h1, l1, s0, e0, s1, e1;
    product_exact(n, quarter[0], &h0, &l0);
    product_exact(n, quarter[1], &h1, &l1);
    sum_exact(x - h0, -l0, &s0, &e0); // x and h0 are so close that nothing is lost
    sum_exact(s0, -h1, &s1, &e1);
    const double low = e0 + (e1 - l1 - n * quarter[2]);
    *r = s1 + low;
    *rest = low - (*r - s1);
    return (int)(n - 4.0 * floor(0.25 * n));
}

// sin(r + rest) = sin r + rest cos r, where cos r = 1 - r^2/2 will do.
static double sine_near_zero(double r, double rest)
{
    const double s = r * r;
    const double p =
        1.0 / 6 -
        s * (1.0 / 120 -
             s * (1.0 / 5040 -
                  s * (1.0 / 362880 -
                       s * (1.0 / 39916800 - s * (1.0 / 6227020800 - s * (1.0 / 1307674368000 -
                                                                          s / 355687428096000))))));
    return r - (r * s * p - rest * (1.0 - 0.5 * s));
}

// cos(r + rest) = cos r - rest sin r. What 1 - s/2 loses in rounding is known and added again.
static double cosine_near_zero(double r, double rest)
{
    const double s = r * r, half = 0.5 * s, w = 1.0 - half;
    const double p =
        1.0 / 24 -
        s * (1.0 / 720 -
             s * (1.0 / 40320 -
                  s * (1.0 / 3628800 -
                       s * (1.0 / 479001600 - s * (1.0 / 87178291200 - s / 20922789888000)))));
    return w + (((1.0 - w) - half) + (s * s * p - r * rest));
}

static double quarter_turned(double x, int more)
{
    double r, rest;
    const int n = (reduce(x, &r, &rest) + more) % 4;
    const double y = n % 2 ? cosine_near_zero(r, rest) : sine_near_zero(r, rest);
    return n < 2 ? y : -y;
}

double cr_scalar_sin(double x)
{
    if (x == 0.0) {
        return x; // with its sign
    }
    return isfinite(x) ? quarter_turned(x, 0) : (double)NAN;
}

double cr_scalar_cos(double x)
{
    return isfinite(x) ? quarter_turned(x, 1) : (double)NAN;
}

// ---- exponential

// ln 2 in two pieces, the first of 32 bits: a whole number of up to 11 bits times it is exact.
static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
static const double inverse_ln2 = 0x1.71547652b82fep+0;
static const double exp_most = 709.79, exp_least = -745.14; // beyond: infinity, zero

// x = n ln 2 + r, |r| <= (ln 2)/2: returns exp r - 1.
static double exp_remainder(double x, int* n)
{
    const double whole = floor(x * inverse_ln2 + 0.5);
    const double high = x - whole * ln2_high, low = whole * ln2_low;
    const double r = high - low, rest = (high - r) - low;
    double p = 1.0 / 6227020800;
    static const double series[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                    1.0 / 40320,     1.0 / 5040,     1.0 / 720,     1.0 / 120,
                                    1.0 / 24,        1.0 / 6,        1.0 / 2};
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
        p = p * r + series[i];
    }
    *n = (int)whole;
    return r + (r * r * p + rest);
}

double cr_scalar_exp(double x)
{
    if (!(x >= exp_least && x <= exp_most)) {
        return x < exp_least ? 0.0 : x > exp_most ? HUGE_VAL : x;
    }
    int n;
    const double e = exp_remainder(x, &n);
    return ldexp(1.0 + e, n);
}

// 2^n (1 + e) - 1 = 2^n e + (2^n - 1), without a loss near x = 0, where n is 0. From 2^60 on, and
// below 2^-60, one of exp x and 1 is all there is.
double cr_scalar_expm1(double x)
{
    if (!(fabs(x) < 41.0)) { // 41 < 60 ln 2
        return cr_scalar_exp(x) - 1.0;
    }
    int n;
    const double e = exp_remainder(x, &n);
    return ldexp(e, n) + (ldexp(1.0, n) - 1.0);
}

// ---- logarithm

// x = 2^n (1 + f), 1 + f between sqrt(1/2) and sqrt 2. With s = f / (2 + f), z = s^2
//     ln(1 + f) = 2 artanh s = 2 s + s R,      R = 2 (z/3 + z^2/5 + ...)
// and 2 s = f - s f, of which f is exact.
double cr_scalar_log(double x)
{
    if (!(x > 0.0 && x < HUGE_VAL)) {
        return x == 0.0 ? -HUGE_VAL : x > 0.0 ? x : (double)NAN;
    }
    int n;
    double m = frexp(x, &n);
    if (m < 0x1.6a09e667f3bcdp-1) { // sqrt(1/2)
        m *= 2.0;
        n--;
    }
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s;
    double r = 0.0;
    for (int k = 23; k >= 3; k -= 2) { // z < 0.03: what follows is below 2^-58 of the first
        r = z * (r + 2.0 / k);
    }
    return n * ln2_high + (f - (s * (f - r) - n * ln2_low));
}

double cr_scalar_power(double x, int32_t n)
{
    double power = 1.0;
    for (; n > 0; n /= 2) { // at most 31 times
        power = n % 2 ? power * x : power;
        x *= x;
    }
    return power;
}

// ---- arc tangent

// atan(k/4) in two pieces
static const double atan_high[5] = {0.0, 0x1.f5b75f92c80ddp-3, 0x1.dac670561bb4fp-2,
                                    0x1.4978fa3269ee1p-1, 0x1.921fb54442d18p-1};
static const double atan_low[5] = {0.0, 0x1.8ab6e3cf7afbdp-57, 0x1.a2b7f222f65e2p-56,
                                   0x1.2419a87f2a458p-56, 0x1.1a62633145c07p-55};

// atan(small / large) for 0 <= small <= large, as *high + *low:
//   atan t = atan c + atan((t - c)/(1 + t c)),   c = k/4 next to t, so |u| <= 1/8.
static void atan_parts(double small, double large, double* high, double* low)
{
    const int k = (int)(4.0 * (small / large) + 0.5);
    const double c = 0.25 * k;
    const double u = (small - c * large) / (large + c * small), s = u * u;
    double p = 0.0;
    for (int i = 19; i >= 3; i -= 2) {
        p = (1.0 / i) - s * p;
    }
    sum_exact(atan_high[k], u, high, low);
    *low += atan_low[k] - u * s * p;
}

double cr_scalar_atan2(double y, double x)
{
    if (isnan(x) || isnan(y)) {
        return (double)NAN;
    }
    double ax = fabs(x), ay = fabs(y);
    if (isinf(ax) || isinf(ay)) { // the directions of a square
        const int both = isinf(ax) && isinf(ay);
        ay = isinf(ay) ? 1.0 : 0.0;
        ax = both || ay == 0.0 ? 1.0 : 0.0;
    }
    const double size = cr_max(ax, ay);
    if (!(size > 0.0)) {
        ax = 1.0; // as if along the axis that the sign of x names
    } else if (!(size < 0x1p900 && size > 0x1p-900)) {
        const int exponent = -ilogb(size);
        ax = ldexp(ax, exponent);
        ay = ldexp(ay, exponent);
    }
    double high, low;
    atan_parts(cr_min(ax, ay), cr_max(ax, ay), &high, &low);
    if (ay > ax) {
        double sum, rest;
        sum_exact(quarter[0], -high, &sum, &rest);
        low = (rest + quarter[1]) - low;
        high = sum;
    }
    if (signbit(x)) {
        double sum, rest;
        sum_exact(2.0 * quarter[0], -high, &sum, &rest);
        low = (rest + 2.0 * quarter[1]) - low;
        high = sum;
    }
    return copysign(high + low, y);
}
