// What sheets gained in a step: the energy it says, and its reverse and forward against
// differences.
#include "check.h"
#include "contact/balance.h"
#include "contact/balance_sheet.h"
#include <string.h>

enum { SIDE = 3, NODES = SIDE * SIDE, FACES = 2 * (SIDE - 1) * (SIDE - 1), PINNED = 4 };
// Everything the gain reads, flat, so that any number can be nudged.
enum {
    X0 = 0,
    D = X0 + 3 * NODES,
    V0 = D + 3 * NODES,
    V = V0 + 3 * NODES,
    FORCE = V + 3 * NODES,
    MASS = FORCE + 3 * NODES,
    GRAVITY = MASS + NODES,
    MODULI = GRAVITY + 3,
    CORNER = MODULI + 5,
    INPUTS = CORNER + 6 * FACES
};

static const double h = 0.02;
static cr_cloth cloth;
static cr_cloth_material material;
static cr_motion motion;
static cr_body_set bodies;
static double node_mass[NODES], velocity[3 * NODES], scratch[9 * NODES];
static uint8_t pinned[NODES];
static cr_vec3 force[NODES];
static const int32_t sheet_node[2] = {0, NODES}, member[1] = {0};
static cr_balance_sheets task;

static int setup(uint64_t* seed)
{
    static double x[3 * NODES];
    static int32_t face[3 * FACES];
    int f = 0;
    for (int32_t i = 0; i < NODES; i++) {
        const int32_t column = i % SIDE, line = i / SIDE;
        x[3 * i] = 0.1 * column + check_random(seed, -0.02, 0.02);
        x[3 * i + 1] = 0.1 * line + check_random(seed, -0.02, 0.02);
    }
    for (int32_t i = 0; i < NODES; i++) {
        if (i % SIDE + 1 < SIDE && i / SIDE + 1 < SIDE) {
            const int32_t quad[6] = {i, i + 1, i + SIDE, i + 1, i + SIDE + 1, i + SIDE};
            memcpy(face + 3 * (size_t)f, quad, sizeof quad);
            f += 2;
        }
    }
    const cr_trimesh mesh = {.vertex_count = NODES, .face_count = FACES, .x = x, .face = face};
    carom_error error;
    material = cr_cloth_material_default();
    material.damping = 0.1; // is no part of the energy
    bodies = (cr_body_set){.node_mass = node_mass, .node_pinned = pinned};
    pinned[PINNED] = 1;
    return cr_cloth_build(&cloth, &mesh, &error) == CAROM_OK &&
           cr_motion_init(&motion, 1, NODES) == CAROM_OK;
}

static void random_inputs(uint64_t* seed, double* in)
{
    for (int i = 0; i < INPUTS; i++) {
        in[i] = check_random(seed, -1, 1);
    }
    for (int i = 0; i < 3 * NODES; i++) {
        const int32_t node = i / 3, at[3] = {node % SIDE, node / SIDE, 0};
        in[X0 + i] = 0.1 * at[i % 3] + check_random(seed, -0.03, 0.03);
        in[D + i] = pinned[i / 3] ? 0.0 : check_random(seed, -0.03, 0.03);
        in[V + i] = pinned[i / 3] ? 0.0 : in[D + i] / h + check_random(seed, -0.1, 0.1);
    }
    for (int i = 0; i < NODES; i++) {
        in[MASS + i] = check_random(seed, 0.1, 0.2);
    }
    const double moduli[5] = {80, 60, 15, 25, 0.02};
    memcpy(in + MODULI, moduli, sizeof moduli);
    memcpy(in + CORNER, cloth.corner, 6 * FACES * sizeof(double));
}

static void fill(const double* in)
{
    for (int i = 0; i < NODES; i++) {
        motion.x0[i] = cr_vec3_load(in + X0 + 3 * i);
        motion.d[i] = pinned[i] ? (cr_vec3){7, 7, 7} : cr_vec3_load(in + D + 3 * i);
        motion.xv[i] = pinned[i] ? (cr_vec3){7, 7, 7} : cr_vec3_load(in + V + 3 * i);
        force[i] = cr_vec3_load(in + FORCE + 3 * i);
    }
    memcpy(velocity, in + V0, sizeof velocity);
    memcpy(node_mass, in + MASS, sizeof node_mass);
    memcpy(&material.c11, in + MODULI, 4 * sizeof(double));
    material.bend = in[MODULI + 4];
    memcpy(cloth.corner, in + CORNER, 6 * FACES * sizeof(double));
    CHECK(cr_cloth_reshape(&cloth) == CAROM_OK);
    task = (cr_balance_sheets){.bodies = &bodies,
                               .motion = &motion,
                               .h = h,
                               .gravity = cr_vec3_load(in + GRAVITY),
                               .sheet = &cloth,
                               .material = &material,
                               .sheet_node = sheet_node,
                               .velocity = velocity,
                               .force = force,
                               .count = 1,
                               .member = member,
                               .scratch = scratch};
    CHECK(cr_balance_sheet_scratch(&cloth, member, 1) == 9 * NODES);
}

static double gain(const double* in)
{
    fill(in);
    return cr_balance_sheet_gain(&task);
}

static void test_is_the_energy(void)
{
    uint64_t seed = 7;
    for (int sample = 0; sample < 50; sample++) {
        double in[INPUTS], end[3 * NODES];
        random_inputs(&seed, in);
        const double got = gain(in);
        double want = -cr_cloth_energy(&cloth, &material, NULL, in + X0), size = -want;
        for (int i = 0; i < 3 * NODES; i++) {
            end[i] = in[X0 + i] + in[D + i];
            const double m = in[MASS + i / 3], v = in[V + i], v0 = in[V0 + i];
            want +=
                0.5 * m * (v * v - v0 * v0) - (m * in[GRAVITY + i % 3] + in[FORCE + i]) * in[D + i];
            size += 0.5 * m * (v * v + v0 * v0);
        }
        want += cr_cloth_energy(&cloth, &material, NULL, end);
        CHECK_NEAR(got, want, (1e-13 + CR_BALANCE_NOISE) * size);
    }
}

// The bars of all inputs, from `from` on.
static void reverse(double bar, double from, double* out)
{
    cr_vec3 x0[NODES], d[NODES], v0[NODES], v[NODES], pull[NODES];
    double mass_bar[NODES], gravity_bar[3] = {from, from, from}, corner[6 * FACES];
    double* corners[1] = {corner};
    cr_cloth_material m = {.c11 = from, .c22 = from, .c12 = from, .c33 = from, .bend = from};
    for (int i = 0; i < NODES; i++) {
        x0[i] = d[i] = v0[i] = v[i] = pull[i] = (cr_vec3){from, from, from};
        mass_bar[i] = from;
    }
    for (int i = 0; i < 6 * FACES; i++) {
        corner[i] = from;
    }
    const cr_balance_sheet_bars bars = {x0, d, v0, v, pull, mass_bar, gravity_bar, &m, corners};
    cr_balance_sheet_adj(&task, bar, &bars);
    memcpy(out + X0, x0, sizeof x0);
    memcpy(out + D, d, sizeof d);
    memcpy(out + V0, v0, sizeof v0);
    memcpy(out + V, v, sizeof v);
    memcpy(out + FORCE, pull, sizeof pull);
    memcpy(out + MASS, mass_bar, sizeof mass_bar);
    memcpy(out + GRAVITY, gravity_bar, sizeof gravity_bar);
    memcpy(out + MODULI, &m.c11, 4 * sizeof(double));
    out[MODULI + 4] = m.bend;
    memcpy(out + CORNER, corner, sizeof corner);
    CHECK(m.damping == 0.0);
}

static void test_reverse(void)
{
    uint64_t seed = 8;
    for (int sample = 0; sample < 5; sample++) {
        double in[INPUTS], to[INPUTS], got[INPUTS];
        random_inputs(&seed, in);
        fill(in);
        reverse(2.0, 1.0, got);
        for (int i = 0; i < INPUTS; i++) {
            if ((i >= D && i < V0 && pinned[(i - D) / 3]) ||
                (i >= V && i < FORCE && pinned[(i - V) / 3])) {
                continue; // there the gain stands still in the numbers, but not in the bars
            }
            const double step = i >= MODULI && i < CORNER ? 1e-4 * in[i] : 1e-6;
            memcpy(to, in, sizeof to);
            to[i] = in[i] + step;
            const double up = gain(to);
            to[i] = in[i] - step;
            const double want = 1.0 + (up - gain(to)) / step;
            CHECK_NEAR(got[i], want, 1e-7 * (10 + fabs(want)));
        }
    }
}

// Along a random direction it is the product with the reverse, pinned nodes and all.
static void test_forward(void)
{
    uint64_t seed = 9;
    for (int sample = 0; sample < 20; sample++) {
        double in[INPUTS], along[INPUTS], got[INPUTS], want = 0.0, size = 0.0;
        cr_cloth_material m = {.damping = 3, .drag_normal = 2};
        random_inputs(&seed, in);
        fill(in);
        reverse(1.0, 0.0, got);
        for (int i = 0; i < INPUTS; i++) {
            along[i] = check_random(&seed, -1, 1);
            want += along[i] * got[i];
            size += fabs(along[i] * got[i]);
        }
        double* corner[1] = {along + CORNER};
        memcpy(&m.c11, along + MODULI, 4 * sizeof(double));
        m.bend = along[MODULI + 4];
        const cr_balance_sheet_bars by = {(cr_vec3*)(along + X0),
                                          (cr_vec3*)(along + D),
                                          (cr_vec3*)(along + V0),
                                          (cr_vec3*)(along + V),
                                          (cr_vec3*)(along + FORCE),
                                          along + MASS,
                                          along + GRAVITY,
                                          &m,
                                          corner};
        CHECK_NEAR(cr_balance_sheet_jvp(&task, &by), want, 1e-13 * size);
    }
}

int main(void)
{
    uint64_t seed = 6;
    CHECK(setup(&seed));
    RUN(test_is_the_energy);
    RUN(test_reverse);
    RUN(test_forward);
    cr_cloth_release(&cloth);
    cr_motion_release(&motion);
    return check_failures != 0;
}
