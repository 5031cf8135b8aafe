#include "contact/events_impulse.h"
#include "contact/row.h"
#include <string.h>

// The equations F1, F2 and, where restitution was tamed, C = energy after - energy before, in the
// units of the scene: how they change at constant u+, j and tame. Then
//     Jac d(u+, j) + dF/dtame dtame = -dF,       M u+ . du+ = -dC.

// Of one side of a row.
typedef struct side_motion {
    cr_vec3 spin[2], v[2]; // before, after
} side_motion;

static cr_vec3 velocity(const side_motion* side, int after, cr_vec3 arm)
{
    return cr_vec3_add(side->v[after], cr_vec3_cross(side->spin[after], arm));
}

// How a row's geometry changes.
typedef struct change {
    cr_vec3 arm[4];
    cr_vec3 bent[4]; // of c_k n
    cr_vec3 n;
    double distance;
} change;

static change change_of(const cr_events_row* row, int32_t c, const cr_events_impulse_tangents* by)
{
    change m = {0};
    cr_vec3 dx[4] = {{0}};
    for (int k = 0; k < 4; k++) {
        if (!(row->at.active >> k & 1)) {
            continue;
        }
        const int32_t b = row->side[cr_row_side(row->c.pair.kind, k)];
        dx[k] = by->point[4 * c + k];
        if (b >= 0) {
            m.arm[k] = cr_vec3_add(dx[k], cr_vec3_cross(by->turn[b], row->arm[k]));
            dx[k] = cr_vec3_add(m.arm[k], by->x[b]);
        }
        m.distance += row->at.c[k] * cr_vec3_dot(row->at.n, dx[k]);
    }
    cr_distance_hessian_apply(row->c.pair.kind, row->x, &row->at, dx, m.bent);
    for (int k = 0; k < 4; k++) {
        if (cr_row_side(row->c.pair.kind, k) == 1) {
            m.n = cr_vec3_add(m.n, m.bent[k]);
        }
    }
    return m;
}

// Of sum_k c_k n.vel_k by geometry and given velocities, u- or u+ held.
static double rate_change(const cr_events_row* row, int32_t c, const side_motion side[2], int after,
                          const change* m, const cr_events_impulse_tangents* by)
{
    double sum = 0.0;
    for (int k = 0; k < 4; k++) {
        if (!(row->at.active >> k & 1)) {
            continue;
        }
        const int s = cr_row_side(row->c.pair.kind, k);
        cr_vec3 vel = row->given[k], dvel = by->given[4 * c + k];
        if (row->side[s] >= 0) {
            vel = velocity(&side[s], after, row->arm[k]);
            dvel = cr_vec3_cross(side[s].spin[after], m->arm[k]);
        }
        sum += cr_vec3_dot(m->bent[k], vel) + row->at.c[k] * cr_vec3_dot(row->at.n, dvel);
    }
    return sum;
}

// bounce = tame e full(closing, ramp): closing = -(a.u- + approach) and
// ramp = bounce_floor h |n.(a_A - a_B)| + floor.
static double bounce_change(const cr_events* events, const cr_events_impact* impact,
                            const cr_events_impulse_system* system, int32_t c,
                            const side_motion side[2], const change* m,
                            const cr_events_impulse_tangents* by)
{
    const cr_events_row* row = &system->row[c];
    double slope, by_ramp;
    const double full = cr_events_impulse_bounce(row->closing, row->ramp, &slope, &by_ramp);
    const double e = impact->tame * row->c.restitution;
    double closing = -rate_change(row, c, side, 0, m, by);
    for (int k = 0; k < 12; k++) {
        const int32_t b = row->side[k / 6];
        if (b >= 0) {
            const double unit = k % 6 < 3 ? system->length[b] : 1.0;
            closing -= unit * system->line[c].a[k] * by->before[6 * b + k % 6];
        }
    }
    cr_vec3 a[2] = {{0}}, da[2] = {{0}};
    for (int s = 0; s < 2; s++) {
        if (row->side[s] >= 0) {
            a[s] = system->member[row->side[s]].a;
            da[s] = by->a[row->side[s]];
        }
    }
    const cr_vec3 gained = cr_vec3_sub(a[0], a[1]), dgained = cr_vec3_sub(da[0], da[1]);
    const double sign = cr_vec3_dot(row->at.n, gained) < 0.0 ? -1.0 : 1.0;
    const double ramp = sign * events->task->bounce_floor * events->task->h *
                        (cr_vec3_dot(m->n, gained) + cr_vec3_dot(row->at.n, dgained));
    return by->row[c].restitution * impact->tame * full + e * (slope * closing + by_ramp * ramp);
}

// f += -j times the change of a row's push on (spin, velocity): (sum arm_k x c_k n, sum c_k n).
static void gap_force(const cr_events_row* row, const change* m, double* f)
{
    for (int k = 0; k < 4; k++) {
        const int32_t b = row->side[cr_row_side(row->c.pair.kind, k)];
        if (!(row->at.active >> k & 1) || b < 0) {
            continue;
        }
        const cr_vec3 push = cr_vec3_scale(row->at.c[k], row->at.n);
        const cr_vec3 turn =
            cr_vec3_add(cr_vec3_cross(m->arm[k], push), cr_vec3_cross(row->arm[k], m->bent[k]));
        cr_vec3_accumulate(f + 6 * b, cr_vec3_scale(-row->j, turn));
        cr_vec3_accumulate(f + 6 * b + 3, cr_vec3_scale(-row->j, m->bent[k]));
    }
}

// f += the change of mu j Gamma^T rub, in the letters of the reverse: r = D n, part_s = lever_s/th,
//     slip = sum c_k vel+_k + r x roll,  roll = sum part_s spin+_s,
//     Gamma^T rub = (sum c_k arm_k x rub + part_s rub x r, sum c_k rub)
static void friction_force(const cr_events_impulse_system* system, int32_t c,
                           const side_motion side[2], const change* m,
                           const cr_events_impulse_tangents* by, double* f)
{
    const cr_events_row* row = &system->row[c];
    const cr_events_impulse_line* line = &system->line[c];
    const double th = row->c.thickness;
    const cr_vec3 n = row->at.n, r = cr_vec3_scale(row->at.distance, n), rub = line->rub;
    const cr_vec3 dr = cr_vec3_add_scaled(cr_vec3_scale(m->distance, n), row->at.distance, m->n);
    cr_vec3 roll = {0}, droll = {0}, slip = {0}, dslip = {0};
    double part[2], dpart[2];
    for (int s = 0; s < 2; s++) {
        part[s] = row->c.lever[s] / th;
        dpart[s] = (by->row[c].lever[s] - part[s] * by->row[c].thickness) / th;
        roll = cr_vec3_add_scaled(roll, part[s], side[s].spin[1]);
        droll = cr_vec3_add_scaled(droll, dpart[s], side[s].spin[1]);
    }
    for (int k = 0; k < 4; k++) {
        if (!(row->at.active >> k & 1)) {
            continue;
        }
        const int s = cr_row_side(row->c.pair.kind, k);
        cr_vec3 vel = row->given[k], dvel = by->given[4 * c + k];
        if (row->side[s] >= 0) {
            vel = velocity(&side[s], 1, row->arm[k]);
            dvel = cr_vec3_cross(side[s].spin[1], m->arm[k]);
        }
        slip = cr_vec3_add_scaled(slip, row->at.c[k], vel);
        dslip = cr_vec3_add_scaled(dslip, cr_vec3_dot(n, m->bent[k]), vel);
        dslip = cr_vec3_add_scaled(dslip, row->at.c[k], dvel);
    }
    slip = cr_vec3_add(slip, cr_vec3_cross(r, roll));
    dslip = cr_vec3_add(dslip, cr_vec3_add(cr_vec3_cross(dr, roll), cr_vec3_cross(r, droll)));
    cr_vec3 dtau = cr_vec3_add_scaled(dslip, -cr_vec3_dot(n, dslip), n);
    dtau = cr_vec3_add_scaled(dtau, -cr_vec3_dot(n, slip), m->n);
    dtau = cr_vec3_add_scaled(dtau, -cr_vec3_dot(m->n, slip), n);
    const cr_vec3 drub = cr_vec3_add_scaled(cr_vec3_scale(line->weight, dtau),
                                            -line->fall * cr_vec3_dot(line->tau, dtau), line->tau);

    const double mu = row->c.friction, dmu = by->row[c].friction, j = row->j;
    for (int s = 0; s < 2; s++) {
        const int32_t b = row->side[s];
        if (b < 0) {
            continue;
        }
        cr_vec3 turn = cr_vec3_scale(part[s], cr_vec3_cross(rub, r)), force = {0}, dforce = {0};
        cr_vec3 dturn = cr_vec3_scale(dpart[s], cr_vec3_cross(rub, r));
        dturn = cr_vec3_add_scaled(dturn, part[s], cr_vec3_cross(drub, r));
        dturn = cr_vec3_add_scaled(dturn, part[s], cr_vec3_cross(rub, dr));
        for (int k = 0; k < 4; k++) {
            if (!(row->at.active >> k & 1) || cr_row_side(row->c.pair.kind, k) != s) {
                continue;
            }
            const double ck = row->at.c[k], dc = cr_vec3_dot(n, m->bent[k]);
            const cr_vec3 f_k = cr_vec3_scale(ck, rub);
            const cr_vec3 df_k = cr_vec3_add_scaled(cr_vec3_scale(dc, rub), ck, drub);
            force = cr_vec3_add(force, f_k);
            dforce = cr_vec3_add(dforce, df_k);
            turn = cr_vec3_add(turn, cr_vec3_cross(row->arm[k], f_k));
            dturn = cr_vec3_add(dturn, cr_vec3_cross(row->arm[k], df_k));
            dturn = cr_vec3_add(dturn, cr_vec3_cross(m->arm[k], f_k));
        }
        cr_vec3_accumulate(f + 6 * b,
                           cr_vec3_add_scaled(cr_vec3_scale(mu * j, dturn), dmu * j, turn));
        cr_vec3_accumulate(f + 6 * b + 3,
                           cr_vec3_add_scaled(cr_vec3_scale(mu * j, dforce), dmu * j, force));
    }
}

// What a row adds to the change of F1, in f, and that of its F2.
static double row_change(const cr_events* events, const cr_events_impact* impact,
                         const cr_events_impulse_system* system, int32_t c,
                         const cr_events_impulse_tangents* by, double* f)
{
    const cr_events_row* row = &system->row[c];
    side_motion side[2];
    memset(side, 0, sizeof side);
    for (int s = 0; s < 2; s++) {
        const int32_t b = row->side[s];
        if (b >= 0) {
            const cr_events_member* member = &system->member[b];
            side[s] = (side_motion){
                .spin = {cr_vec3_load(member->before), cr_vec3_load(member->after)},
                .v = {cr_vec3_load(member->before + 3), cr_vec3_load(member->after + 3)}};
        }
    }
    const change m = change_of(row, c, by);
    gap_force(row, &m, f);
    if (system->line[c].mu > 0.0) {
        friction_force(system, c, side, &m, by, f);
    }
    double mean = 0.0;
    for (int32_t i = 0; i < system->m; i++) {
        mean += system->row[i].pair == row->pair ? system->row[i].j : 0.0;
    }
    double sum = rate_change(row, c, side, 1, &m, by);
    sum += by->row[c].compliance * (row->j - mean / system->size[row->pair]);
    return impact->support ? sum : sum - bounce_change(events, impact, system, c, side, &m, by);
}

// d(W q), W = R I R^T, by a turn of the body and its inertia.
static cr_vec3 inertia_change(cr_vec3 inertia, cr_mat3 r, cr_vec3 turn, cr_vec3 dinertia, cr_vec3 q)
{
    const cr_vec3 wq = cr_mat3_apply(r, cr_vec3_times(inertia, cr_mat3_tapply(r, q)));
    const cr_vec3 turned = cr_mat3_tapply(r, cr_vec3_cross(turn, q));
    const cr_vec3 sum =
        cr_vec3_sub(cr_vec3_times(dinertia, cr_mat3_tapply(r, q)), cr_vec3_times(inertia, turned));
    return cr_vec3_add(cr_vec3_cross(turn, wq), cr_mat3_apply(r, sum));
}

// The change of M (u+ - u-) into f; returns that of C.
static double mass_change(const cr_events* events, const cr_events_impulse_system* system,
                          int32_t b, const cr_events_impulse_tangents* by, double* f)
{
    const cr_events_member* member = &system->member[b];
    const cr_events_body* body = &events->body.items[member->body];
    const cr_mat3 r = member->pose.r;
    const cr_vec3 spin[2] = {cr_vec3_load(member->before), cr_vec3_load(member->after)};
    const cr_vec3 v[2] = {cr_vec3_load(member->before + 3), cr_vec3_load(member->after + 3)};
    const cr_vec3 dspin = cr_vec3_load(by->before + 6 * b),
                  dv = cr_vec3_load(by->before + 6 * b + 3);
    const cr_vec3 lost = cr_mat3_apply(r, cr_vec3_times(body->inertia, cr_mat3_tapply(r, dspin)));
    cr_vec3 of[2];
    double energy = 0.0;
    for (int k = 0; k < 2; k++) {
        of[k] = inertia_change(body->inertia, r, by->turn[b], by->inertia[b], spin[k]);
        energy +=
            (k ? 0.5 : -0.5) * (cr_vec3_dot(spin[k], of[k]) + by->mass[b] * cr_vec3_norm2(v[k]));
    }
    cr_vec3_accumulate(f + 6 * b, cr_vec3_sub(cr_vec3_sub(of[1], of[0]), lost));
    cr_vec3_accumulate(f + 6 * b + 3, cr_vec3_add_scaled(cr_vec3_scale(-body->mass, dv),
                                                         by->mass[b], cr_vec3_sub(v[1], v[0])));
    return energy - cr_vec3_dot(spin[0], lost) - body->mass * cr_vec3_dot(v[0], dv);
}

// -dF in the units of the group, over the active rows; returns dC in them.
static double fill_right(const cr_events* events, const cr_events_impact* impact,
                         cr_events_impulse_system* system, const cr_events_impulse_tangents* by)
{
    double energy = 0.0;
    memset(system->right, 0, (size_t)(system->n + system->active) * sizeof(double));
    for (int32_t b = 0; 6 * b < system->n; b++) {
        energy += mass_change(events, system, b, by, system->right);
    }
    for (int32_t i = 0; i < system->active; i++) {
        system->right[system->n + i] =
            -row_change(events, impact, system, system->place[i], by, system->right);
    }
    for (int32_t i = 0; i < system->n; i++) {
        const double unit = i % 6 < 3 ? system->length[i / 6] : 1.0;
        system->right[i] /= -unit * system->unit;
    }
    return energy / system->unit;
}

static double energy_slope(const cr_events_impulse_system* system, const double* momentum,
                           const double* du)
{
    double sum = 0.0;
    for (int32_t i = 0; i < system->n; i++) {
        sum += momentum[i] * du[i];
    }
    return sum;
}

// What a unit of tame does to u+: into out.
static int tame_response(cr_events_impulse_system* system, double* out)
{
    double unused[2];
    memset(system->right, 0, (size_t)system->n * sizeof(double));
    for (int32_t i = 0; i < system->active; i++) {
        const cr_events_row* row = &system->row[system->place[i]];
        system->right[system->n + i] =
            row->c.restitution *
            cr_events_impulse_bounce(row->closing, row->ramp, unused, unused + 1);
    }
    if (!cr_events_linear_solve(system)) {
        return 0;
    }
    memcpy(out, system->right, (size_t)system->n * sizeof(double));
    return 1;
}

carom_status cr_events_impulse_jvp(cr_events* events, const cr_events_impact* impact, int32_t count,
                                   const cr_events_impulse_tangents* by)
{
    cr_events_impulse_system system;
    const carom_status status = cr_events_impulse_prepare(events, impact, &system);
    if (status != CAROM_OK) {
        return status;
    }
    cr_events_impulse_rub(&system, system.u, events->task->friction_speed);
    if (!cr_events_linear_factor(&system)) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    // the solver's own vectors are free now
    double *response = system.du, *momentum = system.kept;
    if (impact->tamed && !tame_response(&system, response)) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    cr_events_impulse_times_mass(&system, system.u, momentum);
    for (int32_t i = 0; i < count; i++) {
        const double energy = fill_right(events, impact, &system, &by[i]);
        if (!cr_events_linear_solve(&system)) {
            return CAROM_ERR_NO_CONVERGENCE;
        }
        double tame = 0.0;
        if (impact->tamed) {
            tame = -(energy + energy_slope(&system, momentum, system.right)) /
                   energy_slope(&system, momentum, response);
        }
        for (int32_t k = 0; k < system.n; k++) {
            const double unit = k % 6 < 3 ? system.length[k / 6] : 1.0;
            const double more = impact->tamed ? tame * response[k] : 0.0;
            by[i].after[k] = (system.right[k] + more) / unit;
        }
    }
    return CAROM_OK;
}
