// The energy balance of a zone: takes what was gained and not more, leaves momentum alone, and its
// reverse agrees with differences.
#include "check.h"
#include "contact/balance.h"
#include "math/rot.h"
#include <string.h>

enum { FRAMES = 3, ROWS = 4, PER_FRAME = 28, MORE = FRAMES * PER_FRAME + 3 * ROWS, INPUTS };

static double mass[FRAMES], inertia[3 * FRAMES];
static uint8_t lock[FRAMES];
static const int32_t members[FRAMES] = {0, 1, 2};
static const int32_t sides[ROWS][2] = {{-1, 0}, {0, 1}, {2, 1}, {2, -1}};
static cr_motion motion;
static cr_balance_row row[ROWS];
static cr_balance_task task;
static const double h = 0.02;

static void fill(const double* in)
{
    for (int f = 0; f < FRAMES; f++) {
        const double* at = in + PER_FRAME * f;
        cr_vec3* const vectors[] = {&motion.v[f],  &motion.om[f],      &motion.t0[f], &motion.u[f],
                                    &motion.v0[f], &motion.om_free[f], &motion.a[f]};
        for (int i = 0; i < 7; i++) {
            *vectors[i] = cr_vec3_load(at + 3 * i);
        }
        const cr_rot rot = cr_rot_make(cr_vec3_load(at + 21));
        const cr_rot base = cr_rot_make((cr_vec3){0.3 + f, -0.2, 0.5 * f});
        motion.rp[f] = cr_mat3_mul(cr_rot_matrix(&base), cr_rot_matrix(&rot));
        motion.w[f] = (cr_vec3){0, 0, 0};
        mass[f] = at[24];
        memcpy(inertia + 3 * f, at + 25, 3 * sizeof(double));
    }
    for (int i = 0; i < ROWS; i++) {
        row[i] = (cr_balance_row){{sides[i][0], sides[i][1]},
                                  in[FRAMES * PER_FRAME + i],
                                  in[FRAMES * PER_FRAME + ROWS + i],
                                  in[FRAMES * PER_FRAME + 2 * ROWS + i]};
    }
    task.more = in[MORE];
}

static double kinetic(void)
{
    double sum = 0.0;
    for (int f = 0; f < FRAMES; f++) {
        const cr_vec3 om = motion.om[f];
        sum += 0.5 * mass[f] * cr_vec3_norm2(motion.v[f]) +
               0.5 * (inertia[3 * f] * om.x * om.x + inertia[3 * f + 1] * om.y * om.y +
                      inertia[3 * f + 2] * om.z * om.z);
    }
    return sum;
}

// Inputs whose gain is a small part of the energy, as it is after a step.
static void random_inputs(uint64_t* seed, double* in)
{
    for (int i = 0; i < INPUTS; i++) {
        in[i] = check_random(seed, -1, 1);
    }
    for (int f = 0; f < FRAMES; f++) {
        double* at = in + PER_FRAME * f;
        for (int i = 0; i < 3; i++) {
            at[9 + i] *= h;         // u
            at[12 + i] = at[i];     // v0
            at[15 + i] = at[3 + i]; // om_free
            at[21 + i] = 0.0;
            at[25 + i] = check_random(seed, 0.5, 1.5);
        }
        at[24] = check_random(seed, 0.5, 2);
        at[12] *= check_random(seed, 0.95, 1.02);
        at[15] *= check_random(seed, 0.95, 1.02);
    }
    for (int i = 0; i < ROWS; i++) {
        in[FRAMES * PER_FRAME + i] = h * h * check_random(seed, 0.1, 5);
        in[FRAMES * PER_FRAME + ROWS + i] = 0.1;
        in[FRAMES * PER_FRAME + 2 * ROWS + i] = 0.1 * h * h * check_random(seed, 0.5, 5);
    }
    in[MORE] = check_random(seed, -0.01, 0.01);
}

static const double weights[6] = {0.3, -1.1, 0.7, 0.9, 0.4, -0.6};

static double loss(const double* in)
{
    fill(in);
    cr_balance_run(&task);
    double sum = 0.0;
    for (int f = 0; f < FRAMES; f++) {
        sum += (1 + f) * (cr_vec3_dot(cr_vec3_load(weights), motion.v[f]) +
                          cr_vec3_dot(cr_vec3_load(weights + 3), motion.om[f]));
    }
    return sum;
}

static int setup(void)
{
    static cr_body_set bodies;
    bodies = (cr_body_set){.mass = mass, .inertia = inertia, .lock = lock};
    task = (cr_balance_task){.bodies = &bodies,
                             .motion = &motion,
                             .h = h,
                             .frame_count = FRAMES,
                             .frame = members,
                             .row_count = ROWS,
                             .row = row};
    return cr_motion_init(&motion, FRAMES, 1) == CAROM_OK;
}

static void test_takes_the_gain_and_not_more(void)
{
    uint64_t seed = 3;
    int gained = 0;
    for (int sample = 0; sample < 200; sample++) {
        double in[INPUTS];
        random_inputs(&seed, in);
        task.bounced = sample % 2;
        fill(in);
        const double before = kinetic();
        const double gain = cr_balance_run(&task);
        const double after = kinetic();
        if (gain > 0.0) {
            gained++;
            CHECK_NEAR(before - after, gain, 1e-7 * gain + 1e-13);
        } else {
            CHECK(before == after);
        }
    }
    CHECK(gained > 50 && gained < 195);
}

static void test_leaves_momentum_alone(void)
{
    uint64_t seed = 4;
    for (int sample = 0; sample < 50; sample++) {
        double in[INPUTS];
        cr_vec3 p[2] = {{0}}, l[2] = {{0}};
        random_inputs(&seed, in);
        fill(in);
        task.row_count = 2;
        task.row = row + 1; // those between bodies
        for (int after = 0; after < 2; after++) {
            for (int f = 0; f < FRAMES; f++) {
                const cr_vec3 t = cr_vec3_add(motion.t0[f], motion.u[f]);
                const cr_vec3 push = cr_vec3_scale(mass[f], motion.v[f]);
                const double* i = inertia + 3 * f;
                const cr_vec3 om = motion.om[f];
                const cr_vec3 turn = {i[0] * om.x, i[1] * om.y, i[2] * om.z};
                p[after] = cr_vec3_add(p[after], push);
                l[after] = cr_vec3_add(l[after], cr_vec3_cross(t, push));
                l[after] = cr_vec3_add(l[after], cr_mat3_apply(motion.rp[f], turn));
            }
            if (!after) {
                cr_balance_run(&task);
            }
        }
        CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(p[0], p[1])), 0, 1e-14);
        CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(l[0], l[1])), 0, 1e-14);
        task.row_count = ROWS;
        task.row = row;
    }
}

static void test_adjoint(void)
{
    uint64_t seed = 5;
    int active = 0;
    for (int sample = 0; sample < 40; sample++) {
        double in[INPUTS], bar[INPUTS];
        random_inputs(&seed, in);
        task.bounced = sample % 2;
        lock[1] = sample % 4 == 3 ? CR_LOCK_X | CR_LOCK_RY : 0;
        fill(in);
        cr_vec3 v[FRAMES], om[FRAMES], t[FRAMES], q[FRAMES], u[FRAMES], v0[FRAMES], free[FRAMES],
            a[FRAMES], spin[FRAMES];
        double mass_bar[FRAMES] = {0}, inertia_bar[3 * FRAMES] = {0}, lam[ROWS] = {0},
               eps[ROWS] = {0}, room[ROWS] = {0}, more = 0;
        const cr_balance_bars bars = {.v = v,
                                      .om = om,
                                      .t = t,
                                      .q = q,
                                      .u = u,
                                      .v0 = v0,
                                      .om_free = free,
                                      .a = a,
                                      .mass = mass_bar,
                                      .inertia = inertia_bar,
                                      .lam = lam,
                                      .eps = eps,
                                      .room = room,
                                      .more = &more,
                                      .spin = spin};
        for (int f = 0; f < FRAMES; f++) {
            v[f] = cr_vec3_scale(1 + f, cr_vec3_load(weights));
            om[f] = cr_vec3_scale(1 + f, cr_vec3_load(weights + 3));
            t[f] = q[f] = u[f] = v0[f] = free[f] = a[f] = (cr_vec3){0, 0, 0};
        }
        cr_balance_adj(&task, &bars);
        for (int f = 0; f < FRAMES; f++) {
            const cr_vec3 vectors[] = {v[f],  om[f],   t[f], cr_vec3_add(t[f], u[f]),
                                       v0[f], free[f], a[f], q[f]};
            for (int i = 0; i < 8; i++) {
                cr_vec3_store(bar + PER_FRAME * f + 3 * i, vectors[i]);
            }
            bar[PER_FRAME * f + 24] = mass_bar[f];
            memcpy(bar + PER_FRAME * f + 25, inertia_bar + 3 * f, 3 * sizeof(double));
        }
        memcpy(bar + FRAMES * PER_FRAME, lam, sizeof lam);
        memcpy(bar + FRAMES * PER_FRAME + ROWS, eps, sizeof eps);
        memcpy(bar + FRAMES * PER_FRAME + 2 * ROWS, room, sizeof room);
        bar[MORE] = more;
        for (int i = 0; i < INPUTS; i++) {
            const double step = i >= FRAMES * PER_FRAME && i < MORE ? 1e-3 * in[i] : 1e-6;
            double to[INPUTS];
            memcpy(to, in, sizeof to);
            to[i] = in[i] + step;
            const double up = loss(to);
            to[i] = in[i] - step;
            const double want = (up - loss(to)) / (2 * step);
            CHECK_NEAR(bar[i], want, 2e-6 * (1 + fabs(want)));
        }
        fill(in);
        active += cr_balance_run(&task) > 0.0;
        lock[1] = 0;
    }
    CHECK(active > 15);
}

int main(void)
{
    CHECK(setup());
    RUN(test_takes_the_gain_and_not_more);
    RUN(test_leaves_momentum_alone);
    RUN(test_adjoint);
    cr_motion_release(&motion);
    return check_failures != 0;
}
