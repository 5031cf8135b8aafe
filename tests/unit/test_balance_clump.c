// The energy balance of sheets and what hangs together with them: takes what was gained, leaves
// both momenta of what is free alone and does not move what rests; its reverse agrees with
// differences, its forward mode with the reverse.
#include "check.h"
#include "contact/balance.h"
#include "contact/balance_clump.h"
#include "math/rot.h"
#include <string.h>

enum { FRAMES = 4, SHEETS = 5, PER_SHEET = 4, NODES = SHEETS * PER_SHEET, ROWS = 3, CLUMPS = 3 };
// Everything it reads, flat, so that any number can be nudged.
enum {
    V = 0,
    OM = V + 3 * FRAMES,
    T = OM + 3 * FRAMES,
    Q = T + 3 * FRAMES,
    U = Q + 3 * FRAMES,
    V0 = U + 3 * FRAMES,
    FREE = V0 + 3 * FRAMES,
    A = FREE + 3 * FRAMES,
    INERTIA = A + 3 * FRAMES,
    MASS = INERTIA + 3 * FRAMES,
    XV = MASS + FRAMES,
    X = XV + 3 * NODES,
    NODE_MASS = X + 3 * NODES,
    LAM = NODE_MASS + NODES,
    EPS = LAM + ROWS,
    ROOM = EPS + ROWS,
    MORE = ROOM + ROWS,
    INPUTS
};

static const double h = 0.02;
static double mass[FRAMES], inertia[3 * FRAMES], node_mass[NODES];
static uint8_t lock[FRAMES], pinned[NODES];
// Frames 0 and 1 and the sheets 0 and 1 are one clump, sheet 3 another; sheet 2 is held, one of its
// nodes by a pin, and sheet 4 touches nothing.
static const int32_t frames[FRAMES] = {0, 1, 2, 3}, sheets[SHEETS] = {0, 1, 2, 3, 4};
static const int32_t frame_clump[FRAMES] = {0, 0, CR_BALANCE_APART, CR_BALANCE_APART};
static const int32_t sheet_clump[SHEETS] = {0, 0, CR_BALANCE_GROUND, 2, CR_BALANCE_APART};
static const int32_t sheet_node[SHEETS + 1] = {0, 4, 8, 12, 16, 20};
static const int32_t sides[ROWS][2] = {{0, 2}, {-1, 3}, {-1, -1}};
static cr_balance_clump clumps[CLUMPS];
static cr_balance_row row[ROWS];
static cr_motion motion;
static cr_body_set bodies;
static cr_balance_task task;

static void fill(const double* in)
{
    for (int f = 0; f < FRAMES; f++) {
        cr_vec3* const vectors[] = {&motion.v[f], &motion.om[f], &motion.t0[f],      NULL,
                                    &motion.u[f], &motion.v0[f], &motion.om_free[f], &motion.a[f]};
        for (int i = 0; i < 8; i++) {
            if (vectors[i]) {
                *vectors[i] = cr_vec3_load(in + 3 * (FRAMES * i + f));
            }
        }
        const cr_rot rot = cr_rot_make(cr_vec3_load(in + Q + 3 * f));
        const cr_rot base = cr_rot_make((cr_vec3){0.3 + f, -0.2, 0.5 * f});
        motion.rp[f] = cr_mat3_mul(cr_rot_matrix(&base), cr_rot_matrix(&rot));
        motion.w[f] = (cr_vec3){0, 0, 0};
    }
    memcpy(mass, in + MASS, sizeof mass);
    memcpy(inertia, in + INERTIA, sizeof inertia);
    memcpy(node_mass, in + NODE_MASS, sizeof node_mass);
    for (int n = 0; n < NODES; n++) {
        motion.xv[n] = pinned[n] ? (cr_vec3){0, 0, 0} : cr_vec3_load(in + XV + 3 * n);
        motion.x0[n] = cr_vec3_load(in + X + 3 * n);
        motion.d[n] = (cr_vec3){0, 0, 0};
    }
    for (int i = 0; i < ROWS; i++) {
        row[i] =
            (cr_balance_row){{sides[i][0], sides[i][1]}, in[LAM + i], in[EPS + i], in[ROOM + i]};
    }
    task.more = in[MORE];
}

static void random_inputs(uint64_t* seed, double* in)
{
    for (int i = 0; i < INPUTS; i++) {
        in[i] = check_random(seed, -1, 1);
    }
    for (int i = 0; i < 3 * FRAMES; i++) {
        in[U + i] *= h;
        in[Q + i] = 0.0;
        in[V0 + i] = in[V + i] * check_random(seed, 0.98, 1.02);
        in[FREE + i] = in[OM + i];
        in[INERTIA + i] = check_random(seed, 0.5, 1.5);
    }
    for (int f = 0; f < FRAMES; f++) {
        in[MASS + f] = check_random(seed, 0.5, 2);
    }
    for (int n = 0; n < NODES; n++) {
        in[NODE_MASS + n] = check_random(seed, 0.1, 0.3);
    }
    for (int i = 0; i < ROWS; i++) {
        in[LAM + i] = h * h * check_random(seed, 0.1, 5);
        in[EPS + i] = 0.1;
        in[ROOM + i] = 0.1 * h * h * check_random(seed, 0.5, 5);
    }
    in[MORE] = check_random(seed, -0.01, 0.05);
}

static int setup(void)
{
    pinned[9] = 1;
    bodies = (cr_body_set){.mass = mass,
                           .inertia = inertia,
                           .lock = lock,
                           .node_mass = node_mass,
                           .node_pinned = pinned};
    task = (cr_balance_task){.bodies = &bodies,
                             .motion = &motion,
                             .h = h,
                             .frame_count = FRAMES,
                             .frame = frames,
                             .row_count = ROWS,
                             .row = row,
                             .sheet_count = SHEETS,
                             .sheet = sheets,
                             .sheet_node = sheet_node,
                             .sheet_clump = sheet_clump,
                             .frame_clump = frame_clump,
                             .clump_count = CLUMPS,
                             .clump = clumps};
    return cr_motion_init(&motion, FRAMES, NODES) == CAROM_OK;
}

typedef struct account {
    double energy;
    cr_vec3 p, l;
} account;

// Of frames and sheets from .. to.
static account total(int frame_from, int frame_to, int sheet_from, int sheet_to)
{
    account sum = {0};
    for (int f = frame_from; f < frame_to; f++) {
        const cr_vec3 push = cr_vec3_scale(mass[f], motion.v[f]), om = motion.om[f];
        const cr_vec3 turn = cr_vec3_times(cr_vec3_load(inertia + 3 * f), om);
        const cr_vec3 t = cr_vec3_add(motion.t0[f], motion.u[f]);
        sum.energy += 0.5 * cr_vec3_dot(push, motion.v[f]) + 0.5 * cr_vec3_dot(turn, om);
        cr_vec3_add_to(&sum.p, push);
        cr_vec3_add_to(&sum.l, cr_vec3_cross(t, push));
        cr_vec3_add_to(&sum.l, cr_mat3_apply(motion.rp[f], turn));
    }
    for (int n = PER_SHEET * sheet_from; n < PER_SHEET * sheet_to; n++) {
        const cr_vec3 push = cr_vec3_scale(node_mass[n], motion.xv[n]);
        sum.energy += 0.5 * cr_vec3_dot(push, motion.xv[n]);
        cr_vec3_add_to(&sum.p, push);
        cr_vec3_add_to(&sum.l, cr_vec3_cross(motion.x0[n], push));
    }
    return sum;
}

static double off(cr_vec3 a, cr_vec3 b)
{
    return cr_vec3_norm(cr_vec3_sub(a, b));
}

static void test_takes_the_gain_and_leaves_momenta(void)
{
    uint64_t seed = 3;
    int gained = 0;
    for (int sample = 0; sample < 200; sample++) {
        double in[INPUTS];
        random_inputs(&seed, in);
        fill(in);
        if (sample % 2) {
            row[0].frame[0] = row[0].frame[1] = -1; // else it takes momentum from the clump
        }
        motion.xv[8] = (cr_vec3){0, 0, 0};
        cr_vec3 apart[PER_SHEET];
        memcpy(apart, motion.xv + 16, sizeof apart);
        const account before = total(0, FRAMES, 0, SHEETS), joint = total(0, 2, 0, 2);
        const account lone = total(0, 0, 3, 4), held = total(0, 0, 2, 3);
        const double gain = cr_balance_run(&task);
        const double taken = before.energy - total(0, FRAMES, 0, SHEETS).energy;
        const account joint1 = total(0, 2, 0, 2), lone1 = total(0, 0, 3, 4);
        if (!(gain > 0.0)) {
            CHECK(taken == 0.0);
            continue;
        }
        gained++;
        CHECK_NEAR(taken, gain, 1e-7 * gain + 1e-12);
        CHECK_NEAR(off(lone.p, lone1.p), 0, 1e-14);
        CHECK_NEAR(off(lone.l, lone1.l), 0, 1e-14);
        if (sample % 2) {
            CHECK_NEAR(off(joint.p, joint1.p), 0, 1e-14);
            CHECK_NEAR(off(joint.l, joint1.l), 0, 1e-14);
        }
        CHECK(lone1.energy < lone.energy); // it has given its part
        CHECK(total(0, 0, 2, 3).energy < held.energy);
        CHECK(cr_vec3_norm(motion.xv[8]) == 0.0); // on the ground what rests goes on resting,
        CHECK(cr_vec3_norm(motion.xv[9]) == 0.0);
        CHECK(memcmp(apart, motion.xv + 16, sizeof apart) == 0); // and so does who is not there
    }
    CHECK(gained > 50 && gained < 195);
}

// Together they have the last say on a rigid motion of all: there is nothing to take.
static void test_rigid_motion_is_not_braked(void)
{
    uint64_t seed = 11;
    for (int sample = 0; sample < 20; sample++) {
        double in[INPUTS];
        random_inputs(&seed, in);
        fill(in);
        const cr_vec3 v = {1, -2, 3}, w = {0.5, 4, -1};
        for (int f = 0; f < FRAMES; f++) {
            const cr_vec3 t = cr_vec3_add(motion.t0[f], motion.u[f]);
            motion.v[f] = cr_vec3_add(v, cr_vec3_cross(w, t));
            motion.om[f] = cr_mat3_tapply(motion.rp[f], w);
        }
        for (int n = 0; n < NODES; n++) {
            motion.xv[n] = cr_vec3_add(v, cr_vec3_cross(w, motion.x0[n]));
        }
        for (int f = 0; f < FRAMES; f++) {
            motion.spin[f] = w;
            motion.thrust[f] = motion.twist[f] = (cr_vec3){0, 0, 0};
        }
        double slope = 0.0, bend = 0.0;
        cr_balance_clump_push(&task, &slope, &bend);
        const double rate = cr_balance_clump_rate(&task);
        for (int i = 0; i < 2; i++) {
            CHECK_NEAR(cr_vec3_norm(motion.thrust[i]), 0, 1e-13 * rate);
            CHECK_NEAR(cr_vec3_norm(motion.twist[i]), 0, 1e-13 * rate);
        }
        for (int n = 0; n < 2 * PER_SHEET; n++) {
            CHECK_NEAR(cr_vec3_norm(motion.push[n]), 0, 1e-13 * rate);
        }
    }
}

// The loss is a weighted sum of all velocities after the brake.
static cr_vec3 weight(int i)
{
    return (cr_vec3){sin(1.0 + i), cos(2.0 * i), sin(3.0 * i + 0.5)};
}

static double loss(const double* in)
{
    fill(in);
    cr_balance_run(&task);
    double sum = 0.0;
    for (int f = 0; f < FRAMES; f++) {
        sum += cr_vec3_dot(weight(f), motion.v[f]) + cr_vec3_dot(weight(10 + f), motion.om[f]);
    }
    for (int n = 0; n < NODES; n++) {
        sum += cr_vec3_dot(weight(20 + n), motion.xv[n]);
    }
    return sum;
}

// By name; `of` is a flat vector of inputs.
static cr_balance_bars bars_in(double* of, cr_vec3* spin, cr_vec3* push)
{
    return (cr_balance_bars){.v = (cr_vec3*)(of + V),
                             .om = (cr_vec3*)(of + OM),
                             .t = (cr_vec3*)(of + T),
                             .q = (cr_vec3*)(of + Q),
                             .u = (cr_vec3*)(of + U),
                             .v0 = (cr_vec3*)(of + V0),
                             .om_free = (cr_vec3*)(of + FREE),
                             .a = (cr_vec3*)(of + A),
                             .mass = of + MASS,
                             .inertia = of + INERTIA,
                             .lam = of + LAM,
                             .eps = of + EPS,
                             .room = of + ROOM,
                             .more = of + MORE,
                             .spin = spin,
                             .xv = (cr_vec3*)(of + XV),
                             .x = (cr_vec3*)(of + X),
                             .node_mass = of + NODE_MASS,
                             .push = push};
}

static void reverse(const double* in, double* bar)
{
    cr_vec3 spin[FRAMES];
    fill(in);
    memset(bar, 0, INPUTS * sizeof *bar);
    for (int f = 0; f < FRAMES; f++) {
        cr_vec3_store(bar + V + 3 * f, weight(f));
        cr_vec3_store(bar + OM + 3 * f, weight(10 + f));
    }
    for (int n = 0; n < NODES; n++) {
        cr_vec3_store(bar + XV + 3 * n, pinned[n] ? (cr_vec3){0, 0, 0} : weight(20 + n));
    }
    const cr_balance_bars bars = bars_in(bar, spin, NULL);
    cr_balance_adj(&task, &bars);
}

static void test_reverse(void)
{
    uint64_t seed = 5;
    int active = 0;
    for (int sample = 0; sample < 40; sample++) {
        double in[INPUTS], bar[INPUTS], to[INPUTS];
        random_inputs(&seed, in);
        task.bounced = sample % 2;
        reverse(in, bar);
        for (int i = 0; i < 3 * FRAMES; i++) { // a place at the end is t0 + u
            bar[U + i] += bar[T + i];
        }
        for (int i = 0; i < INPUTS; i++) {
            const double step = i >= LAM && i < MORE ? 1e-3 * in[i] : 1e-6;
            memcpy(to, in, sizeof to);
            to[i] = in[i] + step;
            const double up = loss(to);
            to[i] = in[i] - step;
            const double want = (up - loss(to)) / (2 * step);
            CHECK_NEAR(bar[i], want, 2e-6 * (1 + fabs(want)));
        }
        fill(in);
        active += cr_balance_run(&task) > 0.0;
    }
    task.bounced = 0;
    CHECK(active > 15);
}

static void test_forward(void)
{
    uint64_t seed = 9;
    for (int sample = 0; sample < 100; sample++) {
        double in[INPUTS], bar[INPUTS], along[INPUTS];
        cr_vec3 spin[FRAMES], push[NODES], thrust[FRAMES], twist[FRAMES];
        random_inputs(&seed, in);
        task.bounced = sample % 2;
        reverse(in, bar);
        double want = 0.0, got = 0.0, size = 0.0;
        for (int i = 0; i < INPUTS; i++) {
            along[i] = check_random(&seed, -1, 1);
            along[i] *= i >= LAM && i < MORE ? in[i] : 1.0;
            const int still = i >= XV && i < X && pinned[(i - XV) / 3];
            along[i] = still ? 0.0 : along[i];
            want += bar[i] * along[i];
            size += fabs(bar[i] * along[i]);
        }
        fill(in);
        const cr_balance_bars by = bars_in(along, spin, push);
        cr_balance_jvp(&task, 1, &by, thrust, twist);
        for (int f = 0; f < FRAMES; f++) {
            got += cr_vec3_dot(weight(f), by.v[f]) + cr_vec3_dot(weight(10 + f), by.om[f]);
        }
        for (int n = 0; n < NODES; n++) {
            got += cr_vec3_dot(weight(20 + n), by.xv[n]);
        }
        CHECK_NEAR(got, want, 1e-13 * size);
    }
    task.bounced = 0;
}

int main(void)
{
    CHECK(setup());
    RUN(test_takes_the_gain_and_leaves_momenta);
    RUN(test_rigid_motion_is_not_braked);
    RUN(test_reverse);
    RUN(test_forward);
    cr_motion_release(&motion);
    return check_failures != 0;
}
