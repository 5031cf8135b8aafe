#include "check.h"
#include "contact/row.h"
#include <string.h>

// Everything a row reads as one flat vector, so that any input can be nudged.
enum { BODIES = 3, BODY = 18, POINT = 9 };
enum { R_P = 0, R_0 = 3, T_0 = 6, ROLL = 9, W = 12, U = 15 }; // of a body
enum { P = 0, START = 3, LOOSE_U = 6 };                       // of a point
enum { POINTS_AT = BODIES * BODY, RADIUS_AT = POINTS_AT + 4 * POINT, MU_AT = RADIUS_AT + 2 };
enum { INPUTS = MU_AT + 1 };

// A pair and who owns its points: body 0 and 1 are free, 2 is scripted; -1 a node, -2 a fixed
// point.
typedef struct layout {
    const char* name;
    int32_t kind, free; // free: sub-feature wanted, as cr_closest
    int32_t owner[4];
} layout;

static const layout layouts[] = {
    {"PT body-body", CR_PAIR_PT, 2, {0, 0, 0, 1}},
    {"PT node-body", CR_PAIR_PT, 2, {-1, -1, -1, 0}},
    {"PT body-node", CR_PAIR_PT, 2, {1, 1, 1, -1}},
    {"PT node-node", CR_PAIR_PT, 2, {-1, -1, -1, -1}},
    {"PT fixed-body", CR_PAIR_PT, 2, {-2, -2, -2, 0}},
    {"PT body-fixed", CR_PAIR_PT, 2, {0, 0, 0, -2}},
    {"PT scripted-body", CR_PAIR_PT, 2, {2, 2, 2, 1}},
    {"PT nodes, one pinned", CR_PAIR_PT, 2, {-1, -2, -1, 0}},
    {"PT at an edge, body-body", CR_PAIR_PT, 1, {0, 0, 0, 1}},
    {"PT at an edge, node-node", CR_PAIR_PT, 1, {-1, -1, -1, -1}},
    {"PT at a corner, body-node", CR_PAIR_PT, 0, {0, 0, 0, -1}},
    {"EE body-body", CR_PAIR_EE, 2, {0, 0, 1, 1}},
    {"EE node-body", CR_PAIR_EE, 2, {-1, -1, 0, 0}},
    {"EE node-node", CR_PAIR_EE, 2, {-1, -1, -1, -1}},
    {"EE fixed-body", CR_PAIR_EE, 2, {-2, -2, 1, 1}},
    {"EE body-scripted", CR_PAIR_EE, 2, {0, 0, 2, 2}},
    {"EE at an end, body-body", CR_PAIR_EE, 1, {0, 0, 1, 1}},
    {"EE at two ends, body-node", CR_PAIR_EE, 0, {0, 0, -1, -1}},
    {"PE body-body", CR_PAIR_PE, 1, {0, 0, 0, 1}},
    {"PE body-node", CR_PAIR_PE, 1, {0, 0, 0, -1}},
    {"PE at an end, fixed-body", CR_PAIR_PE, 0, {-2, -2, -2, 0}},
    {"PP body-body", CR_PAIR_PP, 0, {0, 0, 0, 1}},
    {"PP fixed-body", CR_PAIR_PP, 0, {-2, -2, -2, 0}},
    {"PP node-body", CR_PAIR_PP, 0, {-1, -1, -1, 1}},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

// A sample: the flat vector, and what stays out of it.
typedef struct sample {
    const layout* at;
    double in[INPUTS];
    cr_quat q_p[BODIES], q_0[BODIES];
    double e;
} sample;

typedef struct scene {
    cr_row_body body[BODIES];
    cr_row_point point[4];
    cr_row row;
} scene;

static cr_vec3 random_vec(uint64_t* seed, double size)
{
    const double x = check_random(seed, -size, size), y = check_random(seed, -size, size);
    return (cr_vec3){x, y, check_random(seed, -size, size)};
}

static cr_mat3 turned(cr_quat q, const double* by)
{
    return cr_quat_to_matrix(cr_quat_mul(q, cr_quat_from_rotation(cr_vec3_load(by))));
}

static void build_points(const sample* s, scene* out)
{
    for (int b = 0; b < BODIES; b++) {
        const double* in = s->in + b * BODY;
        out->body[b] = cr_row_body_make(turned(s->q_p[b], in + R_P), turned(s->q_0[b], in + R_0),
                                        cr_vec3_load(in + T_0), cr_vec3_load(in + ROLL),
                                        cr_vec3_load(in + W), cr_vec3_load(in + U));
    }
    for (int k = 0; k < 4; k++) {
        const double* in = s->in + POINTS_AT + k * POINT;
        const int32_t owner = s->at->owner[k];
        out->point[k] = (cr_row_point){.body = owner >= 0 ? &out->body[owner] : NULL,
                                       .block = owner == -1                ? 10 + k
                                                : owner == 0 || owner == 1 ? owner
                                                                           : -1,
                                       .p = cr_vec3_load(in + P),
                                       .start = cr_vec3_load(in + START),
                                       .u = cr_vec3_load(in + LOOSE_U)};
    }
}

static void build(const sample* s, scene* out)
{
    build_points(s, out);
    cr_vec3 x[4];
    for (int k = 0; k < 4; k++) {
        x[k] = cr_row_position(&out->point[k]);
    }
    const cr_closest at = cr_distance_closest(s->at->kind, x);
    cr_row_make(&out->row, s->at->kind, &at, out->point, s->in + RADIUS_AT);
}

// The first input of block b's w or displacement.
static int input_of(const sample* s, const cr_row* row, int32_t b, int field_of_body)
{
    for (int k = 0; k < 4; k++) {
        if (row->point_block[k] == b) {
            return row->body[b] ? s->at->owner[k] * BODY + field_of_body
                                : POINTS_AT + k * POINT + LOOSE_U;
        }
    }
    return -1;
}

static int input_of_unknown(const sample* s, const cr_row* row, int i)
{
    int32_t b = 0;
    while (i >= row->offset[b + 1]) {
        b++;
    }
    const int inside = i - row->offset[b];
    return inside >= row->size[b] - 3 ? input_of(s, row, b, U) + inside - row->size[b] + 3
                                      : input_of(s, row, b, W) + inside;
}

static int well_inside(const sample* s)
{
    scene sc;
    build(s, &sc);
    const cr_closest* at = &sc.row.at;
    if (at->free != s->at->free || !(at->distance > 0.2 && at->distance < 1.5)) {
        return 0;
    }
    for (int k = 0; k < 4; k++) {
        if (at->c[k] != 0 && fabs(at->c[k]) < 0.1) {
            return 0;
        }
    }
    // not a flat pair, and not near another sub-feature: it must stay the same all around
    if (at->free == 2) {
        const int e = s->at->kind == CR_PAIR_EE;
        const cr_vec3 a = cr_vec3_sub(sc.row.x[1], sc.row.x[0]);
        const cr_vec3 b = cr_vec3_sub(sc.row.x[e ? 3 : 2], sc.row.x[e ? 2 : 0]);
        if (cr_vec3_norm(cr_vec3_cross(a, b)) < 0.3) {
            return 0;
        }
    }
    uint64_t seed = 99;
    for (int nudge = 0; nudge < 60; nudge++) {
        cr_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            x[k] = cr_vec3_add(cr_row_position(&sc.point[k]), random_vec(&seed, 5e-3));
        }
        if (cr_distance_closest(s->at->kind, x).active != at->active) {
            return 0;
        }
    }
    return 1;
}

static double slip_size(const sample* s)
{
    scene sc;
    cr_row_slip slip;
    build(s, &sc);
    cr_row_slip_make(&slip, &sc.row, 1.0);
    return cr_vec3_norm(slip.tau);
}

// turn: |w|; regime 0 sticks, 1 slips, 2 sticks without any slip worth the name
static sample random_sample(uint64_t* seed, const layout* at, double turn, int regime)
{
    sample s = {.at = at};
    do { // until the pair is of the wanted kind and slips by something
        memset(s.in, 0, sizeof s.in);
        for (int b = 0; b < BODIES; b++) {
            double* in = s.in + b * BODY;
            s.q_0[b] = cr_quat_from_rotation(random_vec(seed, 2));
            cr_vec3_store(in + ROLL, random_vec(seed, 0.2));
            s.q_p[b] = cr_quat_mul(s.q_0[b], cr_quat_from_rotation(cr_vec3_load(in + ROLL)));
            cr_vec3_store(in + ROLL, random_vec(seed, 0.2)); // any roll will do
            cr_vec3_store(in + T_0, random_vec(seed, 1));
            if (b < 2) {
                const cr_vec3 w = random_vec(seed, 1);
                cr_vec3_store(in + W, cr_vec3_scale(turn / cr_vec3_norm(w), w));
            }
            cr_vec3_store(in + U, random_vec(seed, 0.2));
        }
        for (int k = 0; k < 4; k++) {
            double* in = s.in + POINTS_AT + k * POINT;
            cr_vec3_store(in + P, random_vec(seed, 1));
            cr_vec3_store(in + START, random_vec(seed, 1));
            cr_vec3_store(in + LOOSE_U, random_vec(seed, 0.2));
        }
        s.in[RADIUS_AT] = check_random(seed, 0.05, 0.3);
        s.in[RADIUS_AT + 1] = check_random(seed, 0.05, 0.3);
        s.in[MU_AT] = check_random(seed, 0.2, 1);
    } while (!well_inside(&s) || slip_size(&s) < 0.1);
    s.e = slip_size(&s) * (regime == 0 ? 2.0 : regime == 1 ? 0.4 : 50.0);
    return s;
}

// The same pair a thickness apart and moved little, as in a real step.
static void make_thin(sample* s, double distance, double motion)
{
    scene sc;
    const double e = s->e / slip_size(s);
    for (int b = 0; b < BODIES; b++) {
        for (int i = 0; i < 3; i++) {
            s->in[b * BODY + ROLL + i] *= motion;
            s->in[b * BODY + W + i] *= motion;
            s->in[b * BODY + U + i] *= motion;
        }
        const cr_vec3 roll = cr_vec3_load(s->in + b * BODY + ROLL);
        s->q_p[b] = cr_quat_mul(s->q_0[b], cr_quat_from_rotation(roll));
    }
    for (int i = 0; i < 4 * 3; i++) {
        s->in[POINTS_AT + i / 3 * POINT + LOOSE_U + i % 3] *= motion;
    }
    build(s, &sc);
    const cr_vec3 by = cr_vec3_scale(distance - sc.row.at.distance, sc.row.at.n);
    for (int k = 0; k < 4; k++) {
        if (cr_row_side(s->at->kind, k) == 1) {
            const int32_t owner = s->at->owner[k];
            double* in =
                owner < 0 ? s->in + POINTS_AT + k * POINT + START : s->in + owner * BODY + T_0;
            if (owner < 0 || k == 3) { // a body once
                cr_vec3_accumulate(in, by);
            }
        }
    }
    s->in[RADIUS_AT] *= distance;
    s->in[RADIUS_AT + 1] *= distance;
    s->e = e * slip_size(s);
}

static const double turns[] = {0.0, 1e-7, 0.01, 0.5};
enum { TURNS = 4, REGIMES = 3 };

#define FOR_EACH_SAMPLE(s)                                                                         \
    for (int case_ = 0; case_ < LAYOUTS * TURNS * REGIMES; case_++)                                \
        for (sample s = random_sample(&seed, &layouts[case_ % LAYOUTS],                            \
                                      turns[case_ / LAYOUTS % TURNS], case_ / LAYOUTS / TURNS),    \
                    *once_ = &s;                                                                   \
             once_; once_ = NULL)

// 4th-order central difference of `count` values
typedef void values(const sample* s, double* out);

static double fd_step = 2e-4;

static void slope(values* f, const sample* at, int input, int count, double* out)
{
    const double h = fd_step;
    double v[4][CR_ROW_DOFS];
    const double steps[4] = {-2 * h, -h, h, 2 * h};
    for (int i = 0; i < 4; i++) {
        sample s = *at;
        s.in[input] += steps[i];
        f(&s, v[i]);
    }
    for (int j = 0; j < count; j++) {
        out[j] = (8 * (v[2][j] - v[1][j]) - (v[3][j] - v[0][j])) / (12 * h);
    }
}

static void gap(const sample* s, double* out)
{
    scene sc;
    build(s, &sc);
    *out = sc.row.at.distance;
}

static void gradient(const sample* s, double* out)
{
    scene sc;
    build(s, &sc);
    memcpy(out, sc.row.grad, sizeof sc.row.grad);
}

static void force(const sample* s, double* out)
{
    scene sc;
    cr_row_slip slip;
    build(s, &sc);
    cr_row_slip_make(&slip, &sc.row, s->e);
    memcpy(out, slip.force, sizeof slip.force);
}

static void slip_of(const sample* s, double* out)
{
    scene sc;
    cr_row_slip slip;
    build(s, &sc);
    cr_row_slip_make(&slip, &sc.row, s->e);
    cr_vec3_store(out, slip.tau);
}

static double largest(int n, const double* a)
{
    double most = 1.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i]));
    }
    return most;
}

static double worst_first, worst_second, worst_friction, worst_adjoint;
static int straight_rows;

static void check_hessian(const sample* s, double tolerance)
{
    scene sc;
    build(s, &sc);
    cr_row_curve curve;
    cr_row_curve_make(&curve, &sc.row);
    double m[CR_ROW_DOFS][CR_ROW_DOFS];
    for (int i = 0; i < CR_ROW_DOFS * CR_ROW_DOFS; i++) {
        m[i / CR_ROW_DOFS][i % CR_ROW_DOFS] = 1.0;
    }
    cr_row_add_hessian(&sc.row, &curve, 2.0, m);
    const int n = sc.row.offset[sc.row.block_count];
    for (int j = 0; j < n; j++) {
        double d, d2[CR_ROW_DOFS];
        const int input = input_of_unknown(s, &sc.row, j);
        slope(gap, s, input, 1, &d);
        slope(gradient, s, input, n, d2);
        CHECK_NEAR(sc.row.grad[j], d, 0.3 * tolerance);
        worst_first = fmax(worst_first, fabs(sc.row.grad[j] - d));
        const double scale = fmax(largest(n, d2), 1 / sc.row.at.distance);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(m[i][j], 1.0 + 2.0 * d2[i], tolerance * scale);
            CHECK_NEAR(m[i][j], m[j][i], 1e-12 * scale);
            worst_second = fmax(worst_second, fabs(m[i][j] - 1 - 2 * d2[i]) / scale);
        }
    }
    CHECK(n == CR_ROW_DOFS || m[n][n] == 1.0); // nothing beyond its own unknowns
    if (cr_row_is_straight(&sc.row)) {
        double plain[CR_ROW_DOFS][CR_ROW_DOFS] = {{0}};
        straight_rows++;
        cr_row_add_hessian(&sc.row, NULL, 2.0, plain);
        for (int i = 0; i < n * n; i++) {
            CHECK_NEAR(plain[i / n][i % n], m[i / n][i % n] - 1.0, 1e-12 * largest(n, m[i / n]));
        }
    }
}

static void test_gradient_and_hessian(void)
{
    uint64_t seed = 1;
    FOR_EACH_SAMPLE(s)
    {
        check_hessian(&s, 1e-9);
    }
    CHECK(straight_rows > 0);
    printf("    worst: gradient %.2g, Hessian %.2g; %d rows straight\n", worst_first, worst_second,
           straight_rows);
}

static void check_friction(const sample* s, double tolerance)
{
    scene sc;
    build(s, &sc);
    cr_row_curve curve;
    cr_row_slip slip;
    cr_row_curve_make(&curve, &sc.row);
    cr_row_slip_make(&slip, &sc.row, s->e);
    double m[CR_ROW_DOFS][CR_ROW_DOFS] = {{0}};
    m[0][0] = 1.0;
    cr_row_add_friction(&sc.row, &curve, &slip, 0.7, m);
    m[0][0] -= 1.0;
    const int n = sc.row.offset[sc.row.block_count];
    for (int j = 0; j < n; j++) {
        double d[CR_ROW_DOFS], dtau[3], dz[CR_ROW_DOFS] = {0};
        const int input = input_of_unknown(s, &sc.row, j);
        slope(force, s, input, n, d);
        const double scale = fmax(largest(n, d), 1 / s->e);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(m[i][j], 0.7 * d[i], tolerance * scale);
            worst_friction = fmax(worst_friction, fabs(m[i][j] - 0.7 * d[i]) / scale);
        }
        slope(slip_of, s, input, 3, dtau);
        dz[j] = 1.0;
        const cr_vec3 rate = cr_row_slip_rate(&sc.row, &curve, &slip, dz);
        CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(rate, cr_vec3_load(dtau))), 0.0,
                   tolerance * largest(3, dtau));
    }
}

static void test_friction_jacobian(void)
{
    uint64_t seed = 2;
    FOR_EACH_SAMPLE(s)
    {
        check_friction(&s, 1e-9);
    }
    printf("    worst: %.2g\n", worst_friction);
}

// lam u.grad - v D - mu lam u.force
static const double lam = 1.7, v_c = -0.6;
static double u_row[CR_ROW_DOFS];

static void phi(const sample* s, double* out)
{
    scene sc;
    cr_row_slip slip;
    build(s, &sc);
    cr_row_slip_make(&slip, &sc.row, s->e);
    *out = -v_c * sc.row.at.distance;
    for (int i = 0; i < sc.row.offset[sc.row.block_count]; i++) {
        *out += lam * u_row[i] * (sc.row.grad[i] - s->in[MU_AT] * slip.force[i]);
    }
}

static void phi_frictionless(const sample* s, double* out)
{
    sample t = *s;
    t.in[MU_AT] = 0;
    phi(&t, out);
}

// The bars in the places of the inputs.
static void scatter(const sample* s, const cr_row* row, const cr_row_bars* bars, double* out)
{
    memset(out, 0, INPUTS * sizeof *out);
    for (int k = 0; k < 4; k++) {
        const int32_t b = row->point_block[k];
        if (b < 0) {
            continue;
        }
        double* point = out + POINTS_AT + k * POINT;
        if (!row->body[b]) {
            cr_vec3_store(point + START, bars->start[b]);
            cr_vec3_store(point + LOOSE_U, bars->u[b]);
            continue;
        }
        cr_vec3_store(point + P, bars->p[k]);
        double* body = out + s->at->owner[k] * BODY;
        cr_vec3_store(body + R_P, bars->r_p[b]);
        cr_vec3_store(body + R_0, bars->r_0[b]);
        cr_vec3_store(body + T_0, bars->start[b]);
        cr_vec3_store(body + ROLL, bars->roll[b]);
        cr_vec3_store(body + W, bars->w[b]);
        cr_vec3_store(body + U, bars->u[b]);
    }
    out[RADIUS_AT] = bars->radius[0];
    out[RADIUS_AT + 1] = bars->radius[1];
    out[MU_AT] = bars->mu;
}

static void check_bars(const sample* s, int frictionless, double tolerance)
{
    scene sc;
    build(s, &sc);
    cr_row_slip slip;
    cr_row_slip_make(&slip, &sc.row, s->e);
    cr_row_bars zero = {0}, bars;
    double base[INPUTS], got[INPUTS];
    for (size_t i = 0; i < sizeof zero / sizeof(double); i++) {
        ((double*)&zero)[i] = 0.25; // adjoints add, so start them away from zero
    }
    bars = zero;
    cr_row_adj(&sc.row, frictionless ? NULL : &slip, s->in[MU_AT], lam, u_row, v_c, &bars);
    scatter(s, &sc.row, &zero, base);
    scatter(s, &sc.row, &bars, got);
    CHECK_NEAR(bars.th, 0.25 + v_c, 1e-15);
    double want[INPUTS], most = 0;
    for (int i = 0; i < INPUTS; i++) {
        slope(frictionless ? phi_frictionless : phi, s, i, 1, &want[i]);
        most = fmax(most, fabs(want[i]));
    }
    CHECK(most > 0.1); // a zero would agree with too much
    for (int i = 0; i < INPUTS; i++) {
        CHECK_NEAR(got[i] - base[i], want[i], tolerance * most);
        worst_adjoint = fmax(worst_adjoint, fabs(got[i] - base[i] - want[i]) / most);
    }
}

static void test_adjoint(void)
{
    uint64_t seed = 3;
    FOR_EACH_SAMPLE(s)
    {
        for (int i = 0; i < CR_ROW_DOFS; i++) {
            u_row[i] = check_random(&seed, -1, 1);
        }
        check_bars(&s, 0, 1e-9);
        if (case_ / LAYOUTS / TURNS == 0) {
            check_bars(&s, 1, 1e-9);
        }
    }
    printf("    worst: %.2g of the largest\n", worst_adjoint);
}

static void test_thin_gaps_and_small_slips(void)
{
    uint64_t seed = 9;
    worst_first = worst_second = worst_friction = worst_adjoint = 0;
    int seen = 0;
    FOR_EACH_SAMPLE(s)
    {
        make_thin(&s, 1e-3, 1e-4);
        fd_step = 5e-3 * slip_size(&s);
        if (fd_step < 1e-8) {
            continue; // too little to take differences of
        }
        seen++;
        check_hessian(&s, 1e-7);
        check_friction(&s, 1e-6);
        check_bars(&s, 0, 1e-6);
    }
    fd_step = 2e-4;
    CHECK(seen > 200);
    printf("    worst: gradient %.2g, Hessian %.2g, friction %.2g, adjoint %.2g\n", worst_first,
           worst_second, worst_friction, worst_adjoint);
}

// -(Jac^T [u; v]) by the assembled blocks is what the sweep gives for w and u.
static void test_adjoint_is_the_transposed_jacobian(void)
{
    uint64_t seed = 4;
    FOR_EACH_SAMPLE(s)
    {
        scene sc;
        build(&s, &sc);
        cr_row_curve curve;
        cr_row_slip slip;
        cr_row_curve_make(&curve, &sc.row);
        cr_row_slip_make(&slip, &sc.row, s.e);
        double m[CR_ROW_DOFS][CR_ROW_DOFS] = {{0}};
        cr_row_add_hessian(&sc.row, &curve, -lam, m);
        cr_row_add_friction(&sc.row, &curve, &slip, s.in[MU_AT] * lam, m);
        cr_row_bars bars = {0};
        cr_row_adj(&sc.row, &slip, s.in[MU_AT], lam, u_row, v_c, &bars);
        for (int32_t b = 0; b < sc.row.block_count; b++) {
            for (int32_t i = 0; i < sc.row.size[b]; i++) {
                const int32_t j = sc.row.offset[b] + i, inside = i % 3;
                const cr_vec3 bar = sc.row.size[b] == 6 && i < 3 ? bars.w[b] : bars.u[b];
                double want = -v_c * sc.row.grad[j], size = 1.0;
                for (int32_t k = 0; k < sc.row.offset[sc.row.block_count]; k++) {
                    want -= u_row[k] * m[k][j];
                    size += fabs(u_row[k] * m[k][j]);
                }
                const double got = inside == 0 ? bar.x : inside == 1 ? bar.y : bar.z;
                CHECK_NEAR(got, want, 1e-13 * size);
            }
        }
    }
}

// The generalised force on block b as a force and a torque about the origin.
static void wrench(const cr_row* row, int32_t b, const double* f, cr_vec3* push, cr_vec3* torque)
{
    f += row->offset[b];
    *push = cr_vec3_load(f + row->size[b] - 3);
    if (row->size[b] == 6) { // f_w = jth^T torque, jth = R_p Jl and Jl^-T = Jr^-1
        const cr_row_body* body = row->body[b];
        *torque = cr_mat3_apply(body->r_p,
                                cr_mat3_apply(cr_rot_right_inverse(&body->rot), cr_vec3_load(f)));
        *torque = cr_vec3_add(*torque, cr_vec3_cross(body->t, *push));
    } else {
        for (int k = 0; k < 4; k++) {
            if (row->point_block[k] == b) {
                *torque = cr_vec3_cross(row->x[k], *push);
            }
        }
    }
}

// The two sides push each other alike: no force is left, and no torque either when the levers reach
// from point to point. A node has no lever, so then the body's has to reach all the way.
static void test_forces_come_in_pairs(void)
{
    uint64_t seed = 5;
    int seen = 0;
    FOR_EACH_SAMPLE(s)
    {
        scene sc;
        build(&s, &sc);
        int all_free = 1;
        for (int32_t b = 0; b < sc.row.block_count; b++) {
            all_free &= sc.row.size[b] > 0;
        }
        if (!all_free || (sc.row.side_block[0] < 0 && sc.row.side_block[1] < 0)) {
            continue;
        }
        seen++;
        for (int side = 0; side < 2; side++) {
            const double part = sc.row.side_block[1 - side] < 0 ? 1.0 : side ? 0.3 : 0.7;
            s.in[RADIUS_AT + side] = part * sc.row.at.distance;
        }
        build(&s, &sc);
        cr_row_slip slip;
        cr_row_slip_make(&slip, &sc.row, s.e);
        cr_vec3 total[4] = {0};
        for (int32_t b = 0; b < sc.row.block_count; b++) {
            cr_vec3 f, t;
            wrench(&sc.row, b, sc.row.grad, &f, &t);
            total[0] = cr_vec3_add(total[0], f);
            total[1] = cr_vec3_add(total[1], t);
            wrench(&sc.row, b, slip.force, &f, &t);
            total[2] = cr_vec3_add(total[2], f);
            total[3] = cr_vec3_add(total[3], t);
        }
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(cr_vec3_norm(total[i]), 0.0, 1e-13);
        }
        CHECK(cr_vec3_norm(slip.s) > 1e-3);
        CHECK_NEAR(cr_vec3_dot(slip.s, sc.row.at.n), 0.0, 1e-14);
    }
    CHECK(seen > 50);
}

// A ball of radius r that advances by r phi, n x axis, does not slip, however far it turns.
static void test_a_rolling_ball_does_not_slip(void)
{
    const double r = 0.3;
    const cr_mat3 one = cr_mat3_identity();
    static const double angles[] = {1e-6, 0.01, 0.5, 3.0};
    for (int i = 0; i < 4; i++) {
        const double roll = 0.6 * angles[i], w = 0.4 * angles[i];
        // about +y over the ground z = 0 it advances to +x
        const cr_rot e = cr_rot_make((cr_vec3){0, roll, 0});
        const cr_row_body ball =
            cr_row_body_make(cr_rot_matrix(&e), one, (cr_vec3){0.1, 0.2, r}, (cr_vec3){0, roll, 0},
                             (cr_vec3){0, w, 0}, (cr_vec3){r * angles[i], 0, 0});
        const cr_row_point point[4] = {{.block = -1, .start = {-9, -9, 0}},
                                       {.block = -1, .start = {9, -9, 0}},
                                       {.block = -1, .start = {0, 9, 0}},
                                       {.body = &ball, .block = 0}};
        const double radius[2] = {0, r};
        cr_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            x[k] = cr_row_position(&point[k]);
        }
        const cr_closest at = cr_distance_closest(CR_PAIR_PT, x);
        cr_row row;
        cr_row_slip slip;
        cr_row_make(&row, CR_PAIR_PT, &at, point, radius);
        cr_row_slip_make(&slip, &row, 1e-5);
        CHECK_NEAR(cr_vec3_norm(slip.tau), 0.0, 1e-16 * (1 + angles[i]));
        CHECK_NEAR(row.grad[5], 1.0, 1e-15);
        CHECK(row.block_count == 4 && row.offset[4] == 6);
    }
}

// Two bodies that move as one: no slip, whatever the turn; and no digit is lost far from the
// origin.
static void test_slip_sees_displacements_only(void)
{
    uint64_t seed = 6;
    FOR_EACH_SAMPLE(s)
    {
        if (s.at->owner[0] != 0 || s.at->owner[3] != 1) {
            continue;
        }
        // about the origin: R' = Q R, t' = Q t + d for both
        const cr_mat3 q = cr_quat_to_matrix(cr_quat_from_rotation(random_vec(&seed, 0.5)));
        const cr_vec3 d = random_vec(&seed, 0.5);
        scene sc;
        build_points(&s, &sc);
        for (int b = 0; b < 2; b++) {
            const cr_mat3 r_0 = sc.body[b].r_0;
            const cr_vec3 t_0 = cr_vec3_load(s.in + b * BODY + T_0);
            const cr_vec3 u = cr_vec3_add(cr_vec3_sub(cr_mat3_apply(q, t_0), t_0), d);
            sc.body[b] =
                cr_row_body_make(cr_mat3_mul(q, r_0), r_0, t_0, (cr_vec3){0}, (cr_vec3){0}, u);
        }
        const double none[2] = {0, 0};
        cr_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            x[k] = cr_row_position(&sc.point[k]);
        }
        const cr_closest at = cr_distance_closest(s.at->kind, x);
        cr_row_slip slip, far;
        cr_row_make(&sc.row, s.at->kind, &at, sc.point, none);
        cr_row_slip_make(&slip, &sc.row, 1e-5);
        // the chord is Q r - r for the way r between the closest points at the start: its turning
        const cr_vec3 r = cr_vec3_scale(at.distance, at.n);
        const cr_vec3 want = cr_vec3_sub(r, cr_mat3_tapply(q, r));
        CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(slip.delta, want)), 0.0, 1e-14);

        cr_row_make(&sc.row, s.at->kind, &at, sc.point, s.in + RADIUS_AT);
        cr_row_slip_make(&slip, &sc.row, 1e-5);
        for (int b = 0; b < 2; b++) {
            sc.body[b].t = cr_vec3_add(sc.body[b].t, (cr_vec3){1e6, -3e7, 2e5});
        }
        cr_row_make(&sc.row, s.at->kind, &at, sc.point, s.in + RADIUS_AT);
        cr_row_slip_make(&far, &sc.row, 1e-5);
        CHECK(memcmp(&slip.delta, &far.delta, sizeof far.delta) == 0);
    }
}

static void test_smooth_direction(void)
{
    uint64_t seed = 7;
    sample s = random_sample(&seed, &layouts[0], 0.01, 0);
    scene sc;
    build(&s, &sc);
    cr_row_slip slip;
    cr_row_slip_make(&slip, &sc.row, 1.0);
    const double size = cr_vec3_norm(slip.tau);
    // continuous with its slope across |tau| = e, and at most 1
    cr_row_slip in, out;
    cr_row_slip_make(&in, &sc.row, size * (1 + 1e-12));
    cr_row_slip_make(&out, &sc.row, size * (1 - 1e-12));
    CHECK_NEAR(cr_vec3_norm(in.s), 1.0, 1e-14);
    CHECK_NEAR(cr_vec3_norm(out.s), 1.0, 1e-14);
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(in.ds.m[i / 3][i % 3], out.ds.m[i / 3][i % 3], 1e-10 / size);
    }
    // a row at rest: no force, the full stiffness 2/e
    sc.row.move[0] = sc.row.move[1] = sc.row.move[2] = sc.row.move[3] = (cr_vec3){0};
    sc.row.lever[0] = sc.row.lever[1] = 0.0;
    cr_row_slip_make(&slip, &sc.row, 0.5);
    CHECK(cr_vec3_norm(slip.s) == 0.0 && slip.ds.m[0][0] == 4.0 && slip.ds.m[0][1] == 0.0);
}

// The held matrix is the exact one where nothing but the slip changes: symmetric, not negative, and
// equal to Gamma^T weight Gamma on the force's own direction.
static void test_held_friction_is_symmetric_and_positive(void)
{
    uint64_t seed = 8;
    FOR_EACH_SAMPLE(s)
    {
        scene sc;
        build(&s, &sc);
        cr_row_slip slip;
        cr_row_slip_make(&slip, &sc.row, s.e);
        double m[CR_ROW_DOFS][CR_ROW_DOFS] = {{0}};
        cr_row_add_friction_held(&sc.row, &slip, 2.0, m);
        const int n = sc.row.offset[sc.row.block_count];
        double energy = 0, pull = 0, z[CR_ROW_DOFS];
        for (int i = 0; i < n; i++) {
            z[i] = check_random(&seed, -1, 1);
        }
        for (int i = 0; i < n; i++) {
            pull += z[i] * slip.force[i];
            for (int j = 0; j < n; j++) {
                energy += z[i] * m[i][j] * z[j];
                CHECK_NEAR(m[i][j], m[j][i], 1e-12 * (1 + fabs(m[i][j])));
            }
        }
        // z^T Gamma^T w P Gamma z >= w (s.Gamma z)^2/|s|^2
        const double least = 2.0 * slip.weight * pull * pull / cr_vec3_norm2(slip.s);
        CHECK(energy >= least * (1 - 1e-9) && least > 0);
    }
}

int main(void)
{
    RUN(test_gradient_and_hessian);
    RUN(test_friction_jacobian);
    RUN(test_adjoint);
    RUN(test_thin_gaps_and_small_slips);
    RUN(test_adjoint_is_the_transposed_jacobian);
    RUN(test_forces_come_in_pairs);
    RUN(test_a_rolling_ball_does_not_slip);
    RUN(test_slip_sees_displacements_only);
    RUN(test_smooth_direction);
    RUN(test_held_friction_is_symmetric_and_positive);
    return check_failures != 0;
}
