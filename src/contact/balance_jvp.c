#include "contact/balance.h"
#include "contact/balance_clump.h"
#include "contact/balance_inside.h"

// As gain_adj of the reverse has it.
static double gain_jvp(const cr_balance_task* task, int32_t ahead, const cr_balance_bars* by)
{
    const cr_motion* motion = task->motion;
    const double half = ahead ? 0.5 * task->h : 0.0, most = 1.0 - CR_BALANCE_NOISE;
    double sum = by->more ? *by->more : 0.0;
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const double m = task->bodies->mass[f];
        const cr_vec3 inertia = cr_vec3_load(task->bodies->inertia + 3 * f);
        const cr_vec3 dinertia = cr_vec3_load(by->inertia + 3 * f);
        const cr_vec3 v = motion->v[f], v0 = motion->v0[f], a = motion->a[f], u = motion->u[f];
        const cr_vec3 om = motion->om[f], om_free = motion->om_free[f];
        const cr_vec3 more = cr_vec3_sub(v, v0), dmore = cr_vec3_sub(by->v[f], by->v0[f]);
        sum += m * (most * cr_vec3_dot(v, by->v[f]) - cr_vec3_dot(v0, by->v0[f]));
        sum += m * half * (cr_vec3_dot(dmore, a) + cr_vec3_dot(more, by->a[f]));
        sum -= m * (cr_vec3_dot(by->a[f], u) + cr_vec3_dot(a, by->u[f]));
        sum +=
            by->mass[f] * (0.5 * cr_vec3_dot(more, cr_vec3_add(v, v0)) - cr_vec3_dot(a, u) +
                           half * cr_vec3_dot(more, a) - 0.5 * CR_BALANCE_NOISE * cr_vec3_norm2(v));
        sum += most * cr_vec3_dot(cr_vec3_times(inertia, om), by->om[f]);
        sum -= cr_vec3_dot(cr_vec3_times(inertia, om_free), by->om_free[f]);
        sum += 0.5 * (most * cr_vec3_dot(dinertia, cr_vec3_times(om, om)) -
                      cr_vec3_dot(dinertia, cr_vec3_times(om_free, om_free)));
    }
    const double per = CR_BALANCE_HELD / (task->h * task->h);
    for (int32_t i = 0; i < task->row_count; i++) {
        const cr_balance_row* row = &task->row[i];
        const cr_give give = cr_give_make(row->eps, row->room, row->lam);
        const double depth = give.slope * row->lam / row->eps * by->eps[i] +
                             give.share * give.share * by->room[i]; // at the same load
        sum -= per * 0.5 * ((give.depth + give.slope * row->lam) * by->lam[i] + row->lam * depth);
    }
    return sum;
}

// r2 = 1 / sum of 3 m / tr I
static double radius2_jvp(const cr_balance_task* task, const cr_balance_row* row, double r2,
                          const cr_balance_bars* by)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        const int32_t f = row->frame[side];
        if (f >= 0) {
            const double *i = task->bodies->inertia + 3 * f, *d = by->inertia + 3 * f;
            const double trace = i[0] + i[1] + i[2], change = d[0] + d[1] + d[2];
            sum += 3.0 * (by->mass[f] - task->bodies->mass[f] * change / trace) / trace;
        }
    }
    return -r2 * r2 * sum;
}

// X += sign lam p,  Y += sign lam (arm x p + r2 q) in space: the changes into x and y.
static void row_jvp(const cr_balance_task* task, int32_t at, const cr_balance_bars* by,
                    const cr_vec3* dspin, cr_vec3* x, cr_vec3* y)
{
    const cr_motion* motion = task->motion;
    const cr_balance_row* row = &task->row[at];
    const cr_balance_slip slip = cr_balance_relative(motion, row);
    const double r2 = cr_balance_radius2(task->bodies, row), lam = row->lam, dlam = by->lam[at];
    const double dr2 = radius2_jvp(task, row, r2, by);
    cr_vec3 darm[2] = {{0, 0, 0}, {0, 0, 0}}, dp = {0, 0, 0}, dq = {0, 0, 0};
    if (row->frame[0] >= 0 && row->frame[1] >= 0) {
        darm[0] = cr_vec3_scale(0.5, cr_vec3_sub(by->t[row->frame[1]], by->t[row->frame[0]]));
        darm[1] = cr_vec3_neg(darm[0]);
    }
    for (int side = 0; side < 2; side++) {
        const int32_t f = row->frame[side];
        if (f >= 0) {
            const double sign = side ? 1.0 : -1.0;
            cr_vec3 dv = cr_vec3_add(by->v[f], cr_vec3_cross(dspin[f], slip.arm[side]));
            cr_vec3_add_to(&dv, cr_vec3_cross(motion->spin[f], darm[side]));
            dp = cr_vec3_add_scaled(dp, sign, dv);
            dq = cr_vec3_add_scaled(dq, sign, dspin[f]);
        }
    }
    for (int side = 0; side < 2; side++) {
        const int32_t f = row->frame[side];
        if (f >= 0) {
            const double sign = side ? 1.0 : -1.0;
            const cr_vec3 arm = slip.arm[side];
            const cr_vec3 couple = cr_vec3_add_scaled(cr_vec3_cross(arm, slip.p), r2, slip.q);
            cr_vec3 dcouple =
                cr_vec3_add(cr_vec3_cross(darm[side], slip.p), cr_vec3_cross(arm, dp));
            dcouple = cr_vec3_add_scaled(cr_vec3_add_scaled(dcouple, dr2, slip.q), r2, dq);
            x[f] =
                cr_vec3_add_scaled(cr_vec3_add_scaled(x[f], sign * dlam, slip.p), sign * lam, dp);
            y[f] = cr_vec3_add_scaled(cr_vec3_add_scaled(y[f], sign * dlam, couple), sign * lam,
                                      dcouple);
        }
    }
}

// One direction; x and y take the changes of thrust (space) and twist (body axes).
static void one_jvp(const cr_balance_task* task, const cr_balance_brake* brake, int32_t ahead,
                    const cr_balance_bars* by, cr_vec3* x, cr_vec3* y)
{
    const cr_motion* motion = task->motion;
    const double eta = brake->eta;
    for (int32_t i = 0; i < task->frame_count; i++) { // spin = R om
        const int32_t f = task->frame[i];
        const cr_rot rot = cr_rot_make(motion->w[f]);
        const cr_mat3 r = cr_mat3_mul(motion->rp[f], cr_rot_matrix(&rot));
        const cr_vec3 turned = cr_vec3_cross(by->q[f], motion->om[f]);
        by->spin[f] = cr_mat3_apply(r, cr_vec3_add(by->om[f], turned));
        x[f] = y[f] = (cr_vec3){0, 0, 0};
    }
    double dslope = 0.0, dbend = 0.0;
    if (task->sheet_count > 0) {
        cr_balance_clump_jvp(task, by, x, y, &dslope, &dbend);
    }
    for (int32_t i = 0; i < task->row_count; i++) {
        row_jvp(task, i, by, by->spin, x, y);
    }
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const double m = task->bodies->mass[f];
        const cr_vec3 inertia = cr_vec3_load(task->bodies->inertia + 3 * f);
        const cr_vec3 dinertia = cr_vec3_load(by->inertia + 3 * f);
        const cr_rot rot = cr_rot_make(motion->w[f]);
        const cr_mat3 r = cr_mat3_mul(motion->rp[f], cr_rot_matrix(&rot));
        const cr_vec3 thrust = motion->thrust[f], twist = motion->twist[f];
        const cr_vec3 y_over = cr_vec3_over(twist, inertia);
        y[f] = cr_vec3_sub(cr_mat3_tapply(r, y[f]), cr_vec3_cross(by->q[f], twist));
        cr_balance_lock(task->bodies->lock[f], &x[f], &y[f]);
        dslope += cr_vec3_dot(x[f], motion->v[f]) + cr_vec3_dot(thrust, by->v[f]) +
                  cr_vec3_dot(y[f], motion->om[f]) + cr_vec3_dot(twist, by->om[f]);
        dbend += (2.0 * cr_vec3_dot(x[f], thrust) - by->mass[f] * cr_vec3_norm2(thrust) / m) / m;
        dbend +=
            2.0 * cr_vec3_dot(y[f], y_over) - cr_vec3_dot(dinertia, cr_vec3_times(y_over, y_over));
    }
    const double gain = gain_jvp(task, ahead, by);
    const double deta = brake->full ? eta * (dslope / brake->slope - dbend / brake->bend)
                                    : (gain - eta * dslope + 0.5 * eta * eta * dbend) /
                                          (brake->slope - brake->bend * eta);
    for (int32_t i = 0; i < task->frame_count; i++) { // v - eta X/m, om - eta Y/I
        const int32_t f = task->frame[i];
        const double m = task->bodies->mass[f];
        const cr_vec3 inertia = cr_vec3_load(task->bodies->inertia + 3 * f);
        const cr_vec3 dinertia = cr_vec3_load(by->inertia + 3 * f);
        const cr_vec3 thrust = motion->thrust[f], y_over = cr_vec3_over(motion->twist[f], inertia);
        cr_vec3 dv = cr_vec3_add_scaled(cr_vec3_scale(eta, x[f]), deta, thrust);
        dv = cr_vec3_add_scaled(dv, -eta * by->mass[f] / m, thrust);
        by->v[f] = cr_vec3_add_scaled(by->v[f], -1.0 / m, dv);
        cr_vec3 dom = cr_vec3_scale(eta, cr_vec3_sub(y[f], cr_vec3_times(dinertia, y_over)));
        dom = cr_vec3_add_scaled(cr_vec3_over(dom, inertia), deta, y_over);
        by->om[f] = cr_vec3_sub(by->om[f], dom);
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            const double m = task->bodies->node_mass[n];
            cr_vec3 dv = cr_vec3_add_scaled(cr_vec3_scale(eta, by->push[n]), deta, motion->push[n]);
            dv = cr_vec3_add_scaled(dv, -eta * by->node_mass[n] / m, motion->push[n]);
            by->xv[n] = cr_vec3_add_scaled(by->xv[n], -1.0 / m, dv);
        }
    }
}

void cr_balance_jvp(const cr_balance_task* task, int32_t count, const cr_balance_bars* by,
                    cr_vec3* thrust, cr_vec3* twist)
{
    const cr_balance_gain gain = cr_balance_measure(task);
    if (!(gain.gain > 0.0)) {
        return;
    }
    const cr_balance_brake brake = cr_balance_solve(cr_balance_directions(task), gain.gain);
    if (!(brake.slope > 0.0 && isfinite(brake.eta))) {
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        one_jvp(task, &brake, gain.ahead, &by[i], thrust, twist);
    }
}
