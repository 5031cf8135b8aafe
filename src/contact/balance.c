#include "contact/balance.h"
#include "contact/balance_clump.h"
#include "contact/balance_inside.h"

static double square(cr_vec3 inertia, cr_vec3 om)
{
    return inertia.x * om.x * om.x + inertia.y * om.y * om.y + inertia.z * om.z * om.z;
}

// By the step's own velocities v a free fall loses m (h a)^2 / 2 a step, up and down alike, and a
// bounce gives that back; by those half a step ahead, v + h a/2, it does not, but every force of a
// contact that bends a path counts as a gain. Where something bounced, a gain is what both call
// one.
cr_balance_gain cr_balance_measure(const cr_balance_task* task)
{
    const cr_motion* motion = task->motion;
    const cr_body_set* bodies = task->bodies;
    double sum = 0.0, ahead = 0.0, held = 0.0;
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const double m = bodies->mass[f];
        const cr_vec3 inertia = cr_vec3_load(bodies->inertia + 3 * f);
        const cr_vec3 v = motion->v[f], v0 = motion->v0[f], a = motion->a[f];
        const cr_vec3 more = cr_vec3_sub(v, v0);
        sum += 0.5 * m * cr_vec3_dot(more, cr_vec3_add(v, v0)) - m * cr_vec3_dot(a, motion->u[f]);
        sum += 0.5 * (square(inertia, motion->om[f]) - square(inertia, motion->om_free[f]));
        held += 0.5 * CR_BALANCE_NOISE * (m * cr_vec3_norm2(v) + square(inertia, motion->om[f]));
        ahead += 0.5 * task->h * m * cr_vec3_dot(more, a);
    }
    for (int32_t i = 0; i < task->row_count; i++) {
        const cr_balance_row* row = &task->row[i];
        const cr_give give = cr_give_make(row->eps, row->room, row->lam);
        held += 0.5 * CR_BALANCE_HELD * give.depth * row->lam / (task->h * task->h);
    }
    const int32_t by_ahead = task->bounced && ahead < 0.0;
    return (cr_balance_gain){.gain = sum + task->more + (by_ahead ? ahead : 0.0) - held,
                             .ahead = by_ahead};
}

// The squared length by which a relative spin counts beside a relative velocity: that of the
// bodies' own radii of gyration, of the smaller one above all.
double cr_balance_radius2(const cr_body_set* bodies, const cr_balance_row* row)
{
    double inverse = 0.0;
    for (int side = 0; side < 2; side++) {
        const int32_t f = row->frame[side];
        if (f >= 0) {
            const double* i = bodies->inertia + 3 * f;
            inverse += 3.0 * bodies->mass[f] / (i[0] + i[1] + i[2]);
        }
    }
    return inverse > 0.0 ? 1.0 / inverse : 0.0;
}

// The motion of side B against side A, seen half way between the centres; a fixed side is seen from
// the centre of the other.
cr_balance_slip cr_balance_relative(const cr_motion* motion, const cr_balance_row* row)
{
    const int32_t a = row->frame[0], b = row->frame[1];
    cr_balance_slip slip = {{0, 0, 0}, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
    if (a >= 0 && b >= 0) {
        const cr_vec3 ta = cr_vec3_add(motion->t0[a], motion->u[a]);
        const cr_vec3 tb = cr_vec3_add(motion->t0[b], motion->u[b]);
        slip.arm[0] = cr_vec3_scale(0.5, cr_vec3_sub(tb, ta));
        slip.arm[1] = cr_vec3_neg(slip.arm[0]);
    }
    for (int side = 0; side < 2; side++) {
        const int32_t f = row->frame[side];
        if (f >= 0) {
            const double sign = side ? 1.0 : -1.0;
            const cr_vec3 w = motion->spin[f];
            const cr_vec3 v = cr_vec3_add(motion->v[f], cr_vec3_cross(w, slip.arm[side]));
            slip.p = cr_vec3_add_scaled(slip.p, sign, v);
            slip.q = cr_vec3_add_scaled(slip.q, sign, w);
        }
    }
    return slip;
}

void cr_balance_lock(int32_t lock, cr_vec3* thrust, cr_vec3* twist)
{
    thrust->x = lock & CR_LOCK_X ? 0.0 : thrust->x;
    thrust->y = lock & CR_LOCK_Y ? 0.0 : thrust->y;
    thrust->z = lock & CR_LOCK_Z ? 0.0 : thrust->z;
    if (lock >> 3) {
        *twist = (cr_vec3){0, 0, 0};
    }
}

// Along X, Y the energy goes as -eta slope + eta^2 bend / 2.
cr_balance_brake cr_balance_directions(const cr_balance_task* task)
{
    const cr_motion* motion = task->motion;
    const cr_body_set* bodies = task->bodies;
    cr_balance_brake brake = {0};
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const cr_rot rot = cr_rot_make(motion->w[f]);
        const cr_mat3 r = cr_mat3_mul(motion->rp[f], cr_rot_matrix(&rot));
        motion->spin[f] = cr_mat3_apply(r, motion->om[f]);
        motion->thrust[f] = motion->twist[f] = (cr_vec3){0, 0, 0};
    }
    for (int32_t i = 0; i < task->row_count; i++) {
        const cr_balance_row* row = &task->row[i];
        const cr_balance_slip slip = cr_balance_relative(motion, row);
        const double r2 = cr_balance_radius2(bodies, row);
        for (int side = 0; side < 2; side++) {
            const int32_t f = row->frame[side];
            if (f >= 0) {
                const double lam = side ? row->lam : -row->lam;
                const cr_vec3 couple =
                    cr_vec3_add_scaled(cr_vec3_cross(slip.arm[side], slip.p), r2, slip.q);
                motion->thrust[f] = cr_vec3_add_scaled(motion->thrust[f], lam, slip.p);
                motion->twist[f] = cr_vec3_add_scaled(motion->twist[f], lam, couple);
            }
        }
    }
    if (task->sheet_count > 0) {
        cr_balance_clump_push(task, &brake.slope, &brake.bend);
    }
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const cr_rot rot = cr_rot_make(motion->w[f]);
        const cr_mat3 r = cr_mat3_mul(motion->rp[f], cr_rot_matrix(&rot));
        motion->twist[f] = cr_mat3_tapply(r, motion->twist[f]); // in body axes
        cr_balance_lock(bodies->lock[f], &motion->thrust[f], &motion->twist[f]);
        const double* inertia = bodies->inertia + 3 * f;
        const cr_vec3 x = motion->thrust[f], y = motion->twist[f];
        brake.slope += cr_vec3_dot(x, motion->v[f]) + cr_vec3_dot(y, motion->om[f]);
        brake.bend += cr_vec3_norm2(x) / bodies->mass[f] + y.x * y.x / inertia[0] +
                      y.y * y.y / inertia[1] + y.z * y.z / inertia[2];
    }
    return brake;
}

// Beyond slope/bend braking would push back; half of that is as much as is ever asked for, of
// bodies that hardly move against each other.
static const double most_brake = 0.5;

cr_balance_brake cr_balance_solve(cr_balance_brake brake, double gain)
{
    const double most = most_brake * brake.slope / brake.bend;
    const double room = brake.slope * brake.slope - 2.0 * brake.bend * gain;
    brake.eta = room > 0.0 ? 2.0 * gain / (brake.slope + sqrt(room)) : HUGE_VAL;
    brake.full = !(brake.eta < most);
    brake.eta = brake.full ? most : brake.eta;
    return brake;
}

double cr_balance_run(const cr_balance_task* task)
{
    const cr_motion* motion = task->motion;
    const double gain = cr_balance_measure(task).gain;
    if (!(gain > 0.0)) {
        return gain;
    }
    const cr_balance_brake brake = cr_balance_solve(cr_balance_directions(task), gain);
    if (!(brake.slope > 0.0 && isfinite(brake.eta))) {
        return gain;
    }
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const double* inertia = task->bodies->inertia + 3 * f;
        const cr_vec3 y = motion->twist[f];
        motion->v[f] =
            cr_vec3_add_scaled(motion->v[f], -brake.eta / task->bodies->mass[f], motion->thrust[f]);
        motion->om[f] =
            cr_vec3_add_scaled(motion->om[f], -brake.eta,
                               (cr_vec3){y.x / inertia[0], y.y / inertia[1], y.z / inertia[2]});
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            motion->xv[n] = cr_vec3_add_scaled(
                motion->xv[n], -brake.eta / task->bodies->node_mass[n], motion->push[n]);
        }
    }
    return gain;
}

// A gain that is left is told from what contacts let go of their give, about 1e-5 m (h a)^2 / 2 of
// each body when a step is taken in parts, and from the round-off of the kinetic energy.
static const double left_of_fall = 3e-5, left_of_motion = 1e-7;

int32_t cr_balance_fails(const cr_balance_task* task)
{
    const cr_motion* motion = task->motion;
    double fall = task->fall, moving = 0.0;
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i];
        const double m = task->bodies->mass[f];
        fall += 0.5 * m * task->h * task->h * cr_vec3_norm2(motion->a[f]);
        moving += 0.5 * m * cr_vec3_norm2(motion->v[f]) +
                  0.5 * square(cr_vec3_load(task->bodies->inertia + 3 * f), motion->om[f]);
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            moving += 0.5 * task->bodies->node_mass[n] * cr_vec3_norm2(motion->xv[n]);
        }
    }
    return cr_balance_measure(task).gain > left_of_fall * fall + left_of_motion * moving;
}
