// Newton on an impact's equations. Complementarity by the set of rows that push, which changes by
// the signs that a step leads to; friction primal-dual: its direction r is an unknown of its own,
// whose law r = weight(|tau|) tau is linearised as
//     r + dr = weight tau + (weight (1 - n n^T) - fall/weight r tau^T) dtau,
// and r is cut to the length 1. So far from the solution no slip that turns round is mistaken for
// one that sticks.
#include "contact/events_impulse.h"
#include <string.h>

// Steps; of them such that rows change sides: more go round in circles.
enum { MOST_STEPS = 40, MOST_CHANGES = 8, INTERIOR_STEPS = 50 };

// Of the product of impulse and slack at the start: an interior point nearer to complementarity
// knows which rows push.
static const double near_enough = 1e-9;

// No step aims at less of the product than this, or goes farther to where something is 0.
static const double least_centre = 1e-4, short_of = 0.99;

// Of the largest impulse or speed: less is round-off and decides nothing.
static const double nothing = 1e-13;

// Of the momentum that changes hands: a residual below `solved` is a solution, below `good` too
// when it no longer falls.
static const double solved = 1e-15, good = 1e-11;
static const double small = 1e-8;      // a residual that one step takes to round-off
static const double round_off = 1e-15; // of the momentum there is

static double gap_rate(const cr_events_impulse_system* system, int32_t c, const double* u)
{
    const cr_events_impulse_line* line = &system->line[c];
    double sum = line->approach - line->bounce;
    for (int side = 0; side < 2; side++) {
        const int32_t b = system->row[c].side[side];
        for (int i = 0; b >= 0 && i < 6; i++) {
            sum += line->a[6 * side + i] * u[6 * b + i];
        }
    }
    return sum;
}

// force = M (u - before), the momentum that changed
static void momentum_change(cr_events_impulse_system* system)
{
    for (int32_t i = 0; i < system->n; i++) {
        system->trial[i] = system->u[i] - system->before[i];
    }
    cr_events_impulse_times_mass(system, system->trial, system->force);
}

static void use_dual(cr_events_impulse_system* system, double stick)
{
    cr_events_impulse_rub(system, system->u, stick);
    for (int32_t c = 0; c < system->m; c++) {
        cr_events_impulse_line* line = &system->line[c];
        line->rub = line->dual;
        cr_events_impulse_push(line);
    }
}

// -mu j Gamma^T (weight tau - r): what the law asks for beyond r
static void add_lag(const cr_events_impulse_system* system, int32_t c, double* right)
{
    const cr_events_impulse_line* line = &system->line[c];
    const cr_vec3 lag = cr_vec3_add_scaled(cr_vec3_neg(line->rub), line->weight, line->tau);
    const double d[3] = {lag.x, lag.y, lag.z}, load = line->mu * line->j;
    for (int k = 0; k < 12; k++) {
        const int32_t b = system->row[c].side[k / 6];
        for (int i = 0; b >= 0 && i < 3; i++) {
            right[6 * b + k % 6] -= load * line->gamma[12 * i + k] * d[i];
        }
    }
}

// What is left of F1 with the friction r, and of the law of r.
static void fill_forces(cr_events_impulse_system* system)
{
    momentum_change(system);
    for (int32_t i = 0; i < system->n; i++) {
        system->right[i] = -system->force[i];
    }
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_impulse_line* line = &system->line[c];
        for (int k = 0; k < 12; k++) {
            const int32_t b = system->row[c].side[k / 6];
            if (b >= 0) {
                system->right[6 * b + k % 6] += line->j * line->b[k];
            }
        }
        if (line->mu > 0.0 && line->j > 0.0) {
            add_lag(system, c, system->right);
        }
    }
}

// right -= E j without what is soft, and the gap rates
static void fill_rates(cr_events_impulse_system* system)
{
    double *rate = system->right + system->n, *j = system->spare;
    for (int32_t i = 0; i < system->active; i++) {
        const int32_t c = system->place[i];
        j[i] = system->line[c].j;
        rate[i] = system->line[c].soft * j[i] - gap_rate(system, c, system->u);
    }
    cr_events_linear_shift(system, j, rate);
}

static int find_step(cr_events_impulse_system* system, int factored)
{
    if (!factored && !cr_events_linear_factor(system)) {
        return 0;
    }
    fill_forces(system);
    fill_rates(system);
    cr_events_linear_solve_roughly(system); // steps that follow take back what this leaves
    memcpy(system->du, system->right, (size_t)system->n * sizeof(double));
    return 1;
}

// r to what the step makes of it.
static void turn_dual(cr_events_impulse_system* system, int32_t c)
{
    cr_events_impulse_line* line = &system->line[c];
    const cr_vec3 n = system->row[c].at.n;
    cr_vec3 d = cr_events_impulse_slip(system, c, system->du);
    d = cr_vec3_add_scaled(d, -cr_vec3_dot(n, d), n);
    const double fall = line->fall / line->weight * cr_vec3_dot(line->tau, d);
    const cr_vec3 along = cr_vec3_scale(line->weight, cr_vec3_add(line->tau, d));
    const cr_vec3 dual = cr_vec3_add_scaled(along, -fall, line->rub);
    line->dual = cr_vec3_scale(1.0 / cr_max(1.0, cr_vec3_norm(dual)), dual);
}

// The mean impulse of the rows of each pair: into pair->sum.
static void find_means(cr_events_impulse_system* system)
{
    for (int32_t p = 0; p < system->pairs; p++) {
        system->pair[p].sum = 0.0;
    }
    for (int32_t c = 0; c < system->m; c++) {
        const int32_t p = system->row[c].pair;
        system->pair[p].sum += system->line[c].j / system->size[p];
    }
}

// Takes the step. Returns how many rows are on the wrong side of complementarity; they change it.
static int32_t take_step(cr_events_impulse_system* system)
{
    double most = 0.0, speed = 0.0;
    const double* dj = system->right + system->n;
    int32_t flips = 0;
    for (int32_t i = 0; i < system->n; i++) {
        system->u[i] += system->du[i];
        speed = cr_max(speed, fabs(system->u[i]) + fabs(system->before[i]));
    }
    for (int32_t i = 0; i < system->active; i++) {
        cr_events_impulse_line* line = &system->line[system->place[i]];
        line->j += dj[i];
        most = cr_max(most, fabs(line->j));
    }
    find_means(system);
    for (int32_t c = 0; c < system->m; c++) {
        cr_events_impulse_line* line = &system->line[c];
        const double mean = system->pair[system->row[c].pair].sum;
        const int wrong =
            line->active ? line->j < -nothing * most
                         : gap_rate(system, c, system->u) - line->eps * mean < -nothing * speed;
        line->j = cr_max(line->j, 0.0); // a tiny negative one is none
        line->active = wrong ? !line->active : line->active;
        flips += wrong;
        if (line->mu > 0.0) {
            turn_dual(system, c);
        }
    }
    return flips;
}

// |F1| with b as it is, relative to the momentum that changes.
static double residual(cr_events_impulse_system* system)
{
    double scale = 0.0, size = 0.0, whole = 0.0, speed = 0.0;
    momentum_change(system);
    for (int32_t i = 0; i < system->n; i++) {
        const double mass =
            i % 6 < 3 ? system->inertia[i / 6].m[i % 6][i % 6] : system->mass[i / 6];
        whole = cr_max(whole, mass * fabs(system->u[i]));
        speed = cr_max(speed, fabs(system->u[i]));
        scale = cr_max(scale, fabs(system->force[i]));
    }
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_impulse_line* line = &system->line[c];
        scale = cr_max(scale, line->j);
        whole =
            cr_max(whole, line->mu * line->j * line->weight * speed); // by the round-off of a slip
        for (int k = 0; k < 12; k++) {
            const int32_t b = system->row[c].side[k / 6];
            if (b >= 0) {
                system->force[6 * b + k % 6] -= line->j * line->b[k];
            }
        }
    }
    for (int32_t i = 0; i < system->n; i++) {
        size += system->force[i] * system->force[i];
    }
    scale += round_off / good * whole; // a slow touch of fast bodies is known no better
    return scale > 0.0 ? sqrt(size) / scale : 0.0;
}

// |F2| of the rows that push, relative to the speeds.
static double rate_residual(cr_events_impulse_system* system)
{
    double most = 0.0, speed = 0.0;
    find_means(system);
    for (int32_t i = 0; i < system->n; i++) {
        speed = cr_max(speed, fabs(system->u[i]) + fabs(system->before[i]));
    }
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_impulse_line* line = &system->line[c];
        const double mean = system->pair[system->row[c].pair].sum;
        const double rate = gap_rate(system, c, system->u) + line->eps * (line->j - mean);
        most = line->active ? cr_max(most, fabs(rate)) : most;
    }
    return speed > 0.0 ? most / speed : 0.0;
}

// By which rows push: from those that do now. False when that goes round in circles.
static int solve_active(cr_events_impulse_system* system, double mu, double stick)
{
    double last = HUGE_VAL;
    int32_t flips = 1, changes = 0;
    for (int32_t step = 0; step < MOST_STEPS && changes < MOST_CHANGES; step++) {
        use_dual(system, stick);
        if (!find_step(system, flips == 0 && !(mu > 0.0))) {
            return 0;
        }
        flips = take_step(system);
        changes += flips > 0;
        cr_events_impulse_rub(system, system->u, stick); // friction by its law
        const double off = cr_max(residual(system), rate_residual(system));
        if (flips == 0 && (off < solved || (off < good && !(off < 0.3 * last)))) {
            // the friction to the last digit is r: where a contact sticks its law at a rounded slip
            // is known worse by 1/stick than by the load, and r as well as the last step was small
            use_dual(system, stick);
            if (mu > 0.0 && last > small && find_step(system, 0)) {
                take_step(system);
            }
            return 1;
        }
        last = flips == 0 ? off : HUGE_VAL;
    }
    return 0;
}

static double pair_mass(const cr_events_impulse_system* system, int32_t c)
{
    double mass = HUGE_VAL;
    for (int side = 0; side < 2; side++) {
        const int32_t b = system->row[c].side[side];
        mass = b >= 0 ? cr_min(mass, system->mass[b]) : mass;
    }
    return mass;
}

// How far inside an interior point starts, of the speeds and impulses that there are.
static const double inside = 0.1;

// What was known at first, moved inside: every row pushes, and opens, by a part of what the fastest
// that closed would ask for. Returns the speed that belongs to that.
static double begin_interior(cr_events_impulse_system* system)
{
    double speed = 0.0;
    memcpy(system->u, system->kept, (size_t)system->n * sizeof(double));
    for (int32_t c = 0; c < system->m; c++) {
        speed = cr_max(speed, fabs(gap_rate(system, c, system->before)));
    }
    speed *= inside;
    for (int32_t c = 0; c < system->m; c++) {
        cr_events_impulse_line* line = &system->line[c];
        const double push = speed * pair_mass(system, c) / system->size[system->row[c].pair];
        line->active = 1;
        line->slack = cr_max(speed, gap_rate(system, c, system->u));
        line->j = cr_max(push, system->row[c].j / system->unit);
        line->dual = system->row[c].rub;
        system->right[system->n + c] = system->spare[system->m + c] = 0.0; // no step yet
    }
    return speed;
}

// The mean product j slack after a part of the step, whose slacks stand behind m spare numbers.
static double centre(const cr_events_impulse_system* system, double part)
{
    const double *dj = system->right + system->n, *ds = system->spare + system->m;
    double sum = 0.0;
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_impulse_line* line = &system->line[c];
        sum += (line->j + part * dj[c]) * (line->slack + part * ds[c]);
    }
    return sum / system->m;
}

// The step to a point with j slack = target: right is du, dj; the slacks' into spare + m. Returns
// how much of it keeps everything positive.
static double aim(cr_events_impulse_system* system, double target)
{
    const double* dj = system->right + system->n;
    double *ds = system->spare + system->m, most = 1.0;
    fill_forces(system);
    fill_rates(system);
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_impulse_line* line = &system->line[c];
        system->right[system->n + c] += target / line->j;
    }
    cr_events_linear_solve_roughly(system);
    memcpy(system->du, system->right, (size_t)system->n * sizeof(double));
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_impulse_line* line = &system->line[c];
        ds[c] = target / line->j - line->slack - line->soft * dj[c];
        most = dj[c] < 0.0 ? cr_min(most, -line->j / dj[c]) : most;
        most = ds[c] < 0.0 ? cr_min(most, -line->slack / ds[c]) : most;
    }
    return most;
}

static void move_interior(cr_events_impulse_system* system, double step)
{
    const double *dj = system->right + system->n, *ds = system->spare + system->m;
    for (int32_t i = 0; i < system->n; i++) {
        system->du[i] *= step;
        system->u[i] += system->du[i];
    }
    for (int32_t c = 0; c < system->m; c++) {
        cr_events_impulse_line* line = &system->line[c];
        line->j += step * dj[c];
        line->slack += step * ds[c];
        if (line->mu > 0.0) {
            turn_dual(system, c);
        }
    }
}

static void soften(cr_events_impulse_system* system)
{
    for (int32_t c = 0; c < system->m; c++) {
        system->line[c].soft = system->line[c].slack / system->line[c].j;
    }
}

// One step nearer to complementarity, of which there is `now` of `whole`.
static int approach_once(cr_events_impulse_system* system, double now, double whole, double blunt)
{
    use_dual(system, blunt);
    soften(system);
    const double off = residual(system);
    if (!cr_events_linear_factor(system)) {
        return 0;
    }
    const double left = centre(system, aim(system, 0.0)) / now;
    // Mehrotra's guess; but not ahead of the friction, which is no convex problem
    const double less = off > sqrt(now / whole) ? 1.0 : cr_max(left * left * left, least_centre);
    move_interior(system, short_of * aim(system, less * now));
    return 1;
}

// By an interior point: all rows push and open, and the product of both goes to 0; friction gets as
// sharp as that. It ends between the rows' two sides, wherever there are more of them than needed,
// and tells which rows push.
static int approach(cr_events_impulse_system* system, double stick)
{
    const double speed = begin_interior(system), whole = centre(system, 0.0);
    double now = whole;
    int ok = 1;
    for (int32_t i = 0; i < INTERIOR_STEPS && ok && now > near_enough * whole; i++) {
        const double blunt = cr_max(stick, sqrt(now / whole) * speed);
        ok = approach_once(system, now, whole, blunt);
        now = centre(system, 0.0);
    }
    for (int32_t c = 0; c < system->m; c++) {
        cr_events_impulse_line* line = &system->line[c];
        line->soft = 0.0;
        line->active = line->j > pair_mass(system, c) * line->slack;
        line->j = line->active ? line->j : 0.0;
    }
    return ok;
}

int cr_events_solve(cr_events_impulse_system* system, double stick)
{
    double mu = 0.0;
    memcpy(system->kept, system->u, (size_t)system->n * sizeof(double));
    for (int32_t c = 0; c < system->m; c++) {
        mu = cr_max(mu, system->line[c].mu);
    }
    return solve_active(system, mu, stick) ||
           (approach(system, stick) && solve_active(system, mu, stick));
}
