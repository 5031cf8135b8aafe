#include "contact/events_impulse.h"
#include "contact/row.h"
#include <string.h>

// The multipliers of an impact's equations, in the units of the scene: dL = -x.dF1 - y.dF2 - k dC
// at constant u+ and j, C = energy after - energy before where restitution was tamed to keep it.
typedef struct multipliers {
    double *x, *y; // [n], [m]
    double k;
} multipliers;

static void scatter(const cr_events_impulse_system* system, int32_t active, const double* z,
                    const multipliers* out)
{
    for (int32_t i = 0; i < system->n; i++) {
        const double unit = i % 6 < 3 ? system->length[i / 6] : 1.0;
        out->x[i] = z[i] / (unit * system->unit);
    }
    for (int32_t c = 0; c < system->m; c++) {
        out->y[c] = 0.0;
    }
    for (int32_t i = 0; i < active; i++) {
        out->y[system->place[i]] = z[system->n + i];
    }
}

// The restitution that every row would have without being tamed.
static double bounce_of(const cr_events_row* row, double* by_closing, double* by_ramp)
{
    return cr_events_impulse_bounce(row->closing, row->ramp, by_closing, by_ramp);
}

// How dL hangs on tame, by y.
static double tame_bar(const cr_events_impulse_system* system, const double* y)
{
    double sum = 0.0, unused[2];
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_row* row = &system->row[c];
        sum += y[c] * row->c.restitution * bounce_of(row, unused, unused + 1);
    }
    return sum;
}

// Jac^T z = (after_bar, 0). With tame an unknown too, whose equation is C = 0:
//   Jac^T z + k dC/d(u,j) = (after_bar, 0)   and   z.dF/dtame = 0,
// so z = z1 - k z2 with z2 for dC/du = M u+, and k from the last.
static int solve(const cr_events_impact* impact, cr_events_impulse_system* system,
                 const double* after, const multipliers* out, const multipliers* spare)
{
    if (!cr_events_linear_factor(system)) {
        return 0;
    }
    const int32_t active = system->active;
    const size_t bytes = (size_t)(system->n + active) * sizeof(double);
    memset(system->right, 0, bytes);
    for (int32_t i = 0; i < system->n; i++) {
        system->right[i] = after[i] / (i % 6 < 3 ? system->length[i / 6] : 1.0);
    }
    if (!cr_events_linear_solve_transposed(system)) {
        return 0;
    }
    scatter(system, active, system->right, out);
    if (!impact->tamed) {
        return 1;
    }
    memset(system->right, 0, bytes);
    cr_events_impulse_times_mass(system, system->u, system->right);
    if (!cr_events_linear_solve_transposed(system)) {
        return 0;
    }
    scatter(system, active, system->right, spare);
    return 1;
}

// What a row's bars gather before they go to points.
typedef struct sweep {
    cr_vec3 source[4]; // x_bar = Hess source + ...
    cr_vec3 x[4], arm[4];
    cr_vec3 n;
    double distance;
} sweep;

typedef struct side_motion {
    cr_vec3 turn, move;    // of a body by the multipliers x
    cr_vec3 spin[2], v[2]; // before, after
} side_motion;

static side_motion motion_of(const cr_events_impulse_system* system, const multipliers* by,
                             int32_t b)
{
    if (b < 0) {
        return (side_motion){0};
    }
    const cr_events_member* member = &system->member[b];
    return (side_motion){.turn = cr_vec3_load(by->x + 6 * b),
                         .move = cr_vec3_load(by->x + 6 * b + 3),
                         .spin = {cr_vec3_load(member->before), cr_vec3_load(member->after)},
                         .v = {cr_vec3_load(member->before + 3), cr_vec3_load(member->after + 3)}};
}

static cr_vec3 velocity(cr_vec3 v, cr_vec3 spin, cr_vec3 arm)
{
    return cr_vec3_add(v, cr_vec3_cross(spin, arm));
}

// Of the row's part of -x.F1 - y.F2:  n . sum_k c_k z_k  with
//   z_k = j xd_k - y vel+_k - y bounce' vel-_k,
// xd_k being the velocity of point k by x, and the parts of bounce that hang on other things.
static void sweep_gap(const cr_events* events, const cr_events_impact* impact,
                      const cr_events_impulse_system* system, const multipliers* by, int32_t c,
                      const side_motion side[2], sweep* w, const cr_events_impulse_bars* bars)
{
    const cr_events_row* row = &system->row[c];
    const double y = by->y[c], j = row->j;
    double slope = 0.0, by_ramp = 0.0;
    if (!impact->support) {
        const double e = impact->tame * row->c.restitution;
        const double full = bounce_of(row, &slope, &by_ramp);
        bars->row[c].restitution += y * impact->tame * full;
        slope *= e;
        by_ramp *= e;
    }
    for (int k = 0; k < 4; k++) {
        if (!(row->at.active >> k & 1)) {
            continue;
        }
        const int s = cr_row_side(row->c.pair.kind, k);
        const cr_vec3 push = cr_vec3_scale(row->at.c[k], row->at.n);
        cr_vec3 z = cr_vec3_scale(-y * (1.0 + slope), row->given[k]);
        if (row->side[s] >= 0) {
            cr_vec3 spin = cr_vec3_scale(j, side[s].turn), v = cr_vec3_scale(j, side[s].move);
            spin = cr_vec3_add_scaled(spin, -y, side[s].spin[1]);
            spin = cr_vec3_add_scaled(spin, -y * slope, side[s].spin[0]);
            v = cr_vec3_add_scaled(v, -y, side[s].v[1]);
            v = cr_vec3_add_scaled(v, -y * slope, side[s].v[0]);
            z = velocity(v, spin, row->arm[k]);
            w->arm[k] = cr_vec3_add(w->arm[k], cr_vec3_cross(push, spin));
        } else {
            bars->given[4 * c + k] =
                cr_vec3_add_scaled(bars->given[4 * c + k], -y * (1.0 + slope), push);
        }
        w->source[k] = cr_vec3_add(w->source[k], z);
    }
    // ramp = bounce_floor h |n.(a_A - a_B)| + floor
    cr_vec3 a[2] = {{0}};
    for (int s = 0; s < 2; s++) {
        a[s] = row->side[s] >= 0 ? system->member[row->side[s]].a : a[s];
    }
    const cr_vec3 gained = cr_vec3_sub(a[0], a[1]);
    const double sign = cr_vec3_dot(row->at.n, gained) < 0.0 ? -1.0 : 1.0;
    const double factor = y * by_ramp * sign * events->task->bounce_floor * events->task->h;
    w->n = cr_vec3_add_scaled(w->n, factor, gained);
    for (int s = 0; s < 2; s++) {
        const int32_t b = row->side[s];
        if (b >= 0) {
            bars->a[b] = cr_vec3_add_scaled(bars->a[b], s ? -factor : factor, row->at.n);
        }
    }
}

// Of the friction's part -mu j rub(tau).ev. With r = D n, r_b the part of r at which side b feels
// friction, turn = sum r_b x_spin and roll = sum r_b spin+:
//   ev = sum c_k xd_k + r x turn,   slip = sum c_k vel+_k + r x roll,   tau = (1 - n n^T) slip
static void sweep_friction(const cr_events_impulse_system* system, int32_t c,
                           const side_motion side[2], sweep* w, const cr_events_impulse_bars* bars)
{
    const cr_events_row* row = &system->row[c];
    const cr_events_impulse_line* line = &system->line[c];
    const cr_vec3 n = row->at.n, r = cr_vec3_scale(row->at.distance, n);
    cr_vec3 turn = {0}, roll = {0}, ev = {0}, slip = {0}, xd[4] = {{0}}, vel[4] = {{0}};
    for (int s = 0; s < 2; s++) {
        const double part = row->c.lever[s] / row->c.thickness;
        turn = cr_vec3_add_scaled(turn, part, side[s].turn);
        roll = cr_vec3_add_scaled(roll, part, side[s].spin[1]);
    }
    for (int k = 0; k < 4; k++) {
        if (!(row->at.active >> k & 1)) {
            continue;
        }
        const int s = cr_row_side(row->c.pair.kind, k);
        vel[k] = row->given[k];
        if (row->side[s] >= 0) {
            xd[k] = velocity(side[s].move, side[s].turn, row->arm[k]);
            vel[k] = velocity(side[s].v[1], side[s].spin[1], row->arm[k]);
        }
        ev = cr_vec3_add_scaled(ev, row->at.c[k], xd[k]);
        slip = cr_vec3_add_scaled(slip, row->at.c[k], vel[k]);
    }
    ev = cr_vec3_add(ev, cr_vec3_cross(r, turn));
    slip = cr_vec3_add(slip, cr_vec3_cross(r, roll));

    const double factor = -row->c.friction * row->j;
    const cr_vec3 e = cr_vec3_scale(factor, line->rub); // ev_bar
    cr_vec3 tau_bar = cr_vec3_scale(factor * line->weight, ev);
    tau_bar =
        cr_vec3_add_scaled(tau_bar, -factor * line->fall * cr_vec3_dot(line->tau, ev), line->tau);
    const double tau_n = cr_vec3_dot(n, tau_bar);
    const cr_vec3 slide = cr_vec3_add_scaled(tau_bar, -tau_n, n); // slip_bar
    w->n = cr_vec3_add_scaled(w->n, -cr_vec3_dot(n, slip), tau_bar);
    w->n = cr_vec3_add_scaled(w->n, -tau_n, slip);
    const cr_vec3 r_bar = cr_vec3_add(cr_vec3_cross(turn, e), cr_vec3_cross(roll, slide));
    w->n = cr_vec3_add_scaled(w->n, row->at.distance, r_bar);
    w->distance += cr_vec3_dot(n, r_bar);
    for (int k = 0; k < 4; k++) {
        if (!(row->at.active >> k & 1)) {
            continue;
        }
        const int s = cr_row_side(row->c.pair.kind, k);
        const double c_bar = cr_vec3_dot(e, xd[k]) + cr_vec3_dot(slide, vel[k]);
        w->source[k] = cr_vec3_add_scaled(w->source[k], c_bar, n);
        if (row->side[s] >= 0) {
            const cr_vec3 along = cr_vec3_cross(e, side[s].turn);
            const cr_vec3 across = cr_vec3_cross(slide, side[s].spin[1]);
            w->arm[k] = cr_vec3_add_scaled(w->arm[k], row->at.c[k], cr_vec3_add(along, across));
        } else {
            bars->given[4 * c + k] =
                cr_vec3_add_scaled(bars->given[4 * c + k], row->at.c[k], slide);
        }
    }
    const cr_vec3 turn_bar = cr_vec3_cross(e, r), roll_bar = cr_vec3_cross(slide, r);
    for (int s = 0; s < 2; s++) {
        const double part_bar =
            cr_vec3_dot(side[s].turn, turn_bar) + cr_vec3_dot(side[s].spin[1], roll_bar);
        bars->row[c].lever[s] += part_bar / row->c.thickness;
        bars->row[c].thickness -=
            part_bar * row->c.lever[s] / (row->c.thickness * row->c.thickness);
    }
    bars->row[c].friction -= row->j * cr_vec3_dot(line->rub, ev);
}

static void row_reverse(const cr_events* events, const cr_events_impact* impact,
                        const cr_events_impulse_system* system, const multipliers* by, int32_t c,
                        const cr_events_impulse_bars* bars)
{
    const cr_events_row* row = &system->row[c];
    const side_motion side[2] = {motion_of(system, by, row->side[0]),
                                 motion_of(system, by, row->side[1])};
    sweep w = {0};
    sweep_gap(events, impact, system, by, c, side, &w, bars);
    if (system->line[c].mu > 0.0) {
        sweep_friction(system, c, side, &w, bars);
    }
    double mean = 0.0;
    for (int32_t i = 0; i < system->m; i++) {
        mean += system->row[i].pair == row->pair ? system->row[i].j : 0.0;
    }
    bars->row[c].compliance -= by->y[c] * (row->j - mean / system->size[row->pair]);
    // dn is the sum over side B of (Hess dx)_k
    for (int k = 0; k < 4; k++) {
        if (cr_row_side(row->c.pair.kind, k) == 1) {
            w.source[k] = cr_vec3_add(w.source[k], w.n);
        }
    }
    cr_vec3 x_bar[4];
    cr_distance_hessian_apply(row->c.pair.kind, row->x, &row->at, w.source, x_bar);
    for (int k = 0; k < 4; k++) {
        if (!(row->at.active >> k & 1)) {
            continue;
        }
        x_bar[k] = cr_vec3_add_scaled(x_bar[k], w.distance * row->at.c[k], row->at.n);
        const int32_t b = row->side[cr_row_side(row->c.pair.kind, k)];
        const cr_vec3 both = cr_vec3_add(x_bar[k], w.arm[k]);
        cr_vec3* point = &bars->point[4 * c + k];
        *point = cr_vec3_add(*point, both);
        if (b >= 0) {
            bars->x[b] = cr_vec3_add(bars->x[b], x_bar[k]);
            bars->turn[b] = cr_vec3_add(bars->turn[b], cr_vec3_cross(row->arm[k], both));
        }
    }
}

// A world inertia W = R I R^T between p and q: dL += f p.W q. Along a turn theta of the body in
// space  p.dW q = theta.(W q x p - q x W p).
static void inertia_reverse(cr_vec3 inertia, cr_mat3 r, double f, cr_vec3 p, cr_vec3 q,
                            cr_vec3* turn, cr_vec3* inertia_bar)
{
    const cr_vec3 pb = cr_mat3_tapply(r, p), qb = cr_mat3_tapply(r, q);
    const cr_vec3 wp = cr_mat3_apply(r, cr_vec3_times(inertia, pb));
    const cr_vec3 wq = cr_mat3_apply(r, cr_vec3_times(inertia, qb));
    *turn = cr_vec3_add_scaled(*turn, f, cr_vec3_sub(cr_vec3_cross(wq, p), cr_vec3_cross(q, wp)));
    *inertia_bar = cr_vec3_add_scaled(*inertia_bar, f, cr_vec3_times(pb, qb));
}

// -x.M (u+ - u-) - k (u+.M u+ - u-.M u-)/2, and u- in both
static void mass_reverse(const cr_events* events, const cr_events_impulse_system* system,
                         const multipliers* by, int32_t b, const cr_events_impulse_bars* bars)
{
    const cr_events_member* member = &system->member[b];
    const cr_events_body* body = &events->body.items[member->body];
    const cr_mat3 r = member->pose.r;
    const cr_vec3 x = cr_vec3_load(by->x + 6 * b), xv = cr_vec3_load(by->x + 6 * b + 3);
    const cr_vec3 spin[2] = {cr_vec3_load(member->before), cr_vec3_load(member->after)};
    const cr_vec3 v[2] = {cr_vec3_load(member->before + 3), cr_vec3_load(member->after + 3)};
    const cr_vec3 i = body->inertia;
    inertia_reverse(i, r, -1.0, x, cr_vec3_sub(spin[1], spin[0]), &bars->turn[b],
                    &bars->inertia[b]);
    inertia_reverse(i, r, -0.5 * by->k, spin[1], spin[1], &bars->turn[b], &bars->inertia[b]);
    inertia_reverse(i, r, 0.5 * by->k, spin[0], spin[0], &bars->turn[b], &bars->inertia[b]);
    bars->mass[b] -= cr_vec3_dot(xv, cr_vec3_sub(v[1], v[0]));
    bars->mass[b] -= 0.5 * by->k * (cr_vec3_norm2(v[1]) - cr_vec3_norm2(v[0]));
    const cr_vec3 both = cr_mat3_tapply(r, cr_vec3_add_scaled(x, by->k, spin[0]));
    cr_vec3_accumulate(bars->before + 6 * b, cr_mat3_apply(r, cr_vec3_times(i, both)));
    cr_vec3_accumulate(bars->before + 6 * b + 3,
                       cr_vec3_scale(body->mass, cr_vec3_add_scaled(xv, by->k, v[0])));
}

// bounce hangs on u- by the closing speed -(a.u- + approach)
static void closing_reverse(const cr_events_impact* impact, const cr_events_impulse_system* system,
                            const multipliers* by, int32_t c, double* before)
{
    const cr_events_row* row = &system->row[c];
    double slope, unused;
    bounce_of(row, &slope, &unused);
    const double factor = -by->y[c] * impact->tame * row->c.restitution * slope;
    for (int k = 0; k < 12; k++) {
        const int32_t b = row->side[k / 6];
        if (b >= 0) {
            const double unit = k % 6 < 3 ? system->length[b] : 1.0;
            before[6 * b + k % 6] += factor * unit * system->line[c].a[k];
        }
    }
}

carom_status cr_events_impulse_reverse(cr_events* events, const cr_events_impact* impact,
                                       const cr_events_impulse_bars* bars)
{
    cr_events_impulse_system system;
    const carom_status status = cr_events_impulse_prepare(events, impact, &system);
    if (status != CAROM_OK) {
        return status;
    }
    cr_events_impulse_rub(&system, system.u, events->task->friction_speed);
    // the solver's own vectors are free now; the rows' multipliers stand behind the matrix
    multipliers by = {.x = system.du, .y = system.spare};
    const multipliers second = {.x = system.kept, .y = system.spare + system.m};
    if (!solve(impact, &system, bars->after, &by, &second)) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    if (impact->tamed) {
        const double k = tame_bar(&system, by.y) / tame_bar(&system, second.y);
        for (int32_t i = 0; i < system.n; i++) {
            by.x[i] -= k * second.x[i];
        }
        for (int32_t c = 0; c < system.m; c++) {
            by.y[c] -= k * second.y[c];
        }
        by.k = k / system.unit; // the energy is in units of the group too
    }
    for (int32_t b = 0; 6 * b < system.n; b++) {
        mass_reverse(events, &system, &by, b, bars);
    }
    for (int32_t c = 0; c < system.m; c++) {
        if (!impact->support) {
            closing_reverse(impact, &system, &by, c, bars->before);
        }
        if (system.line[c].active) {
            row_reverse(events, impact, &system, &by, c, bars);
        }
    }
    return CAROM_OK;
}
