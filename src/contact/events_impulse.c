#include "contact/events_impulse.h"
#include "contact/row.h"
#include "math/dense.h"
#include <string.h>

enum { TAME_STEPS = 60 };

// Of the energy: more than this would be gained, not rounded.
static const double energy_round_off = 1e-13;

static int32_t block_of(const cr_events_row* row, int side)
{
    return row->side[side];
}

static double side_dot(const cr_events_impulse_system* system, int32_t c, const double* a,
                       const double* u)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        const int32_t b = block_of(&system->row[c], side);
        for (int i = 0; b >= 0 && i < 6; i++) {
            sum += a[6 * side + i] * u[6 * b + i];
        }
    }
    return sum;
}

cr_vec3 cr_events_impulse_slip(const cr_events_impulse_system* system, int32_t c, const double* u)
{
    const double* gamma = system->line[c].gamma;
    return (cr_vec3){side_dot(system, c, gamma, u), side_dot(system, c, gamma + 12, u),
                     side_dot(system, c, gamma + 24, u)};
}

void cr_events_impulse_times_mass(const cr_events_impulse_system* system, const double* v,
                                  double* out)
{
    for (int32_t b = 0; 6 * b < system->n; b++) {
        cr_vec3_store(out + 6 * b, cr_mat3_apply(system->inertia[b], cr_vec3_load(v + 6 * b)));
        const cr_vec3 linear = cr_vec3_load(v + 6 * b + 3);
        cr_vec3_store(out + 6 * b + 3, cr_vec3_scale(system->mass[b], linear));
    }
}

double cr_events_impulse_bounce(double closing, double ramp, double* by_closing, double* by_ramp)
{
    const double x = cr_clamp((closing - ramp) / ramp, 0.0, 1.0);
    const double rise = 6.0 * x * (1.0 - x) / ramp; // of the smooth step, per m/s of closing
    const double part = x * x * (3.0 - 2.0 * x);
    *by_closing = part + rise * closing;
    *by_ramp = -rise * closing * closing / ramp;
    return part * closing;
}

// A locked direction feels nothing.
static void respect_lock(int32_t lock, double* a)
{
    for (int axis = 0; axis < 3; axis++) {
        a[3 + axis] = lock >> axis & 1 ? 0.0 : a[3 + axis];
        a[axis] = lock >> (3 + axis) & 1 ? 0.0 : a[axis];
    }
}

// With arms a_k and shares c_k of a side, s = sum c_k and w = sum c_k a_k:
//   gap rate = n.(s v + om x w),    slip = s v + om x (w - lever n D / thickness)
// A side feels friction at its share of the distance D there is, so that both feel it at one place.
static void fill_side(const cr_events* events, cr_events_impulse_system* system, int32_t c,
                      int side)
{
    const cr_events_row* row = &system->row[c];
    const cr_candidate* candidate = &row->c;
    const int32_t b = row->side[side];
    cr_events_impulse_line* line = &system->line[c];
    cr_vec3 arm = {0};
    double share = 0.0;
    for (int k = 0; k < 4; k++) {
        if (cr_row_side(candidate->pair.kind, k) == side && (row->at.active >> k & 1)) {
            share += row->at.c[k];
            arm = cr_vec3_add_scaled(arm, row->at.c[k], row->arm[k]);
        }
    }
    if (b < 0) {
        return;
    }
    const int32_t lock = events->body.items[system->member[b].body].lock;
    const double scale = 1.0 / system->length[b];
    const cr_vec3 n = row->at.n;
    const double lever = candidate->lever[side] * (row->at.distance / candidate->thickness);
    line->touch[side] = cr_vec3_add_scaled(arm, -lever, n);
    cr_vec3_store(line->a + 6 * side, cr_vec3_scale(scale, cr_vec3_cross(arm, n)));
    cr_vec3_store(line->a + 6 * side + 3, cr_vec3_scale(share, n));
    respect_lock(lock, line->a + 6 * side);
    const cr_mat3 turn = cr_mat3_scale(-scale, cr_mat3_skew(line->touch[side]));
    for (int i = 0; i < 3; i++) {
        double* gamma = line->gamma + 12 * i + 6 * side;
        cr_vec3_store(gamma, cr_mat3_row(turn, i));
        gamma[3 + i] = share;
        respect_lock(lock, gamma);
    }
}

static void fill_line(const cr_events* events, const cr_events_impact* impact,
                      cr_events_impulse_system* system, int32_t c)
{
    const cr_events_row* row = &system->row[c];
    const cr_candidate* candidate = &row->c;
    cr_events_impulse_line* line = &system->line[c];
    *line = (cr_events_impulse_line){.eps = candidate->compliance * system->unit,
                                     .mu = impact->rubs ? candidate->friction : 0.0,
                                     .j = row->j / system->unit,
                                     .dual = row->rub,
                                     .active = row->active};
    fill_side(events, system, c, 0);
    fill_side(events, system, c, 1);
    for (int k = 0; k < 4; k++) {
        line->slip = cr_vec3_add_scaled(line->slip, row->at.c[k], row->given[k]);
    }
    line->approach = cr_vec3_dot(row->at.n, line->slip);
    if (!impact->support) {
        double unused[2];
        line->bounce = impact->tame * candidate->restitution *
                       cr_events_impulse_bounce(row->closing, row->ramp, unused, unused + 1);
    }
    system->size[row->pair]++;
}

static void fill_member(const cr_events* events, cr_events_impulse_system* system, int32_t b)
{
    const cr_events_member* member = &system->member[b];
    const cr_events_body* body = &events->body.items[member->body];
    const cr_vec3 i = body->inertia;
    const cr_mat3 r = member->pose.r;
    system->length[b] = sqrt((i.x + i.y + i.z) / (3.0 * body->mass));
    system->mass[b] = body->mass / system->unit;
    const double scale = 1.0 / (system->unit * system->length[b] * system->length[b]);
    system->inertia[b] = cr_mat3_mul(
        r, cr_mat3_mul(cr_mat3_diagonal(cr_vec3_scale(scale, i)), cr_mat3_transpose(r)));
    for (int k = 0; k < 3; k++) {
        if (body->lock >> (3 + k) & 1) {
            for (int l = 0; l < 3; l++) {
                system->inertia[b].m[k][l] = system->inertia[b].m[l][k] = k == l;
            }
        }
    }
    for (int k = 0; k < 6; k++) {
        const double unit = k < 3 ? system->length[b] : 1.0;
        system->before[6 * b + k] = unit * member->before[k];
        system->u[6 * b + k] = unit * member->after[k];
    }
}

// Doubles that hold so many bytes.
static size_t words(size_t bytes)
{
    return (bytes + sizeof(double) - 1) / sizeof(double);
}

// A stretch of the scratch, which is known to be long enough.
static double* cut(double** from, size_t count)
{
    double* out = *from;
    *from += count;
    return out;
}

carom_status cr_events_impulse_prepare(cr_events* events, const cr_events_impact* impact,
                                       cr_events_impulse_system* system)
{
    const int32_t members = impact->member_end - impact->member_begin;
    const int32_t m = impact->row_end - impact->row_begin, n = 6 * members;
    const size_t all = (size_t)(n + m), dense = n > CR_EVENTS_DENSE ? 0 : (size_t)(n * n);
    const size_t line = words(sizeof(cr_events_impulse_line));
    const size_t pair = words(sizeof(cr_events_pair_block));
    const size_t doubles = dense + 4 * all + 6 * (size_t)n + (size_t)m * (line + 2) +
                           (size_t)impact->pair_count * pair + 11 * (size_t)members;
    if (doubles > INT32_MAX || !cr_array_reserve(&events->number, (int32_t)doubles) ||
        !cr_array_reserve(&events->index, n + m + impact->pair_count)) {
        return CAROM_ERR_MEMORY;
    }
    double* at = events->number.items;
    *system = (cr_events_impulse_system){.n = n,
                                         .m = m,
                                         .pairs = impact->pair_count,
                                         .member = events->member.items + impact->member_begin,
                                         .row = events->row.items + impact->row_begin};
    system->line = (cr_events_impulse_line*)(void*)cut(&at, (size_t)m * line);
    system->inertia = (cr_mat3*)(void*)cut(&at, 9 * (size_t)members);
    system->length = cut(&at, (size_t)members);
    system->mass = cut(&at, (size_t)members);
    system->u = cut(&at, (size_t)n);
    system->before = cut(&at, (size_t)n);
    system->du = cut(&at, (size_t)n);
    system->force = cut(&at, (size_t)n);
    system->trial = cut(&at, (size_t)n);
    system->kept = cut(&at, (size_t)n);
    system->right = cut(&at, all);
    system->work = cut(&at, all);
    system->refine = cut(&at, 2 * all);
    system->spare = cut(&at, 2 * (size_t)m);
    system->pair = (cr_events_pair_block*)(void*)cut(&at, (size_t)impact->pair_count * pair);
    system->matrix = cut(&at, dense);
    system->pivot = events->index.items;
    system->place = system->pivot + n;
    system->size = system->place + m;
    system->unit = HUGE_VAL;
    for (int32_t b = 0; b < members; b++) {
        system->unit = cr_min(system->unit, events->body.items[system->member[b].body].mass);
    }
    for (int32_t b = 0; b < members; b++) {
        fill_member(events, system, b);
    }
    memset(system->size, 0, (size_t)system->pairs * sizeof(int32_t));
    for (int32_t c = 0; c < m; c++) {
        fill_line(events, impact, system, c);
    }
    return cr_events_linear_prepare(events, system);
}

void cr_events_impulse_push(cr_events_impulse_line* line)
{
    const double rub[3] = {line->rub.x, line->rub.y, line->rub.z};
    memcpy(line->b, line->a, sizeof line->b);
    for (int k = 0; k < 12 && line->mu > 0.0; k++) {
        for (int i = 0; i < 3; i++) {
            line->b[k] -= line->mu * rub[i] * line->gamma[12 * i + k];
        }
    }
}

void cr_events_impulse_rub(cr_events_impulse_system* system, const double* u, double stick)
{
    for (int32_t c = 0; c < system->m; c++) {
        cr_events_impulse_line* line = &system->line[c];
        if (line->mu > 0.0) {
            const cr_vec3 n = system->row[c].at.n;
            const cr_vec3 slip = cr_vec3_add(cr_events_impulse_slip(system, c, u), line->slip);
            line->tau = cr_vec3_add_scaled(slip, -cr_vec3_dot(n, slip), n);
            const double size = cr_vec3_norm(line->tau);
            line->weight = size >= stick ? 1.0 / size : (2.0 - size / stick) / stick;
            const double fall = size >= stick ? line->weight * line->weight : 1.0 / (stick * stick);
            line->fall = size > 0.0 ? fall / size : 0.0;
            line->rub = cr_vec3_scale(line->weight, line->tau);
        }
        cr_events_impulse_push(line);
    }
}

// Kinetic energy after less before, relative to before.
static double gain(cr_events_impulse_system* system)
{
    double energy[2] = {0, 0};
    for (int when = 0; when < 2; when++) {
        const double* u = when ? system->u : system->before;
        cr_events_impulse_times_mass(system, u, system->force);
        for (int32_t i = 0; i < system->n; i++) {
            energy[when] += u[i] * system->force[i];
        }
    }
    return energy[0] > 0.0 ? (energy[1] - energy[0]) / energy[0] : 0.0;
}

static void set_bounce(cr_events_impulse_system* system, double tame)
{
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_row* row = &system->row[c];
        double unused[2];
        system->line[c].bounce =
            tame * row->c.restitution *
            cr_events_impulse_bounce(row->closing, row->ramp, unused, unused + 1);
    }
}

// A restitution of speeds together with friction can gain energy when the slip turns round. Without
// restitution it cannot: u+.p <= 0 for the impulse p = M (u+ - u-), so the energy falls by at least
// |p|^2/2. So there is a largest restitution that keeps it, found as a root.
static int tame(const cr_events* events, cr_events_impulse_system* system, cr_events_impact* impact)
{
    const double stick = events->task->friction_speed;
    double lo = 0.0, hi = 1.0, at_hi = gain(system), at_lo = 0.0;
    set_bounce(system, 0.0);
    if (!cr_events_solve(system, stick)) {
        return 0;
    }
    at_lo = gain(system);
    if (!(at_lo < 0.0)) {
        return 0;
    }
    double at = at_lo;
    impact->tame = 0.0;
    for (int32_t i = 0; i < TAME_STEPS && fabs(at) > 1e-16 && hi - lo > 1e-16; i++) {
        // regula falsi with every third step a halving: bounded, and fast in the end
        double next = i % 3 == 2 ? 0.5 * (lo + hi) : lo - at_lo * (hi - lo) / (at_hi - at_lo);
        next = next > lo && next < hi ? next : 0.5 * (lo + hi);
        set_bounce(system, next);
        if (!cr_events_solve(system, stick)) {
            return 0;
        }
        at = gain(system);
        impact->tame = next;
        if (at > 0.0) {
            hi = next;
            at_hi = at;
        } else {
            lo = next;
            at_lo = at;
        }
    }
    impact->tamed = fabs(at) < energy_round_off;
    if (impact->tamed) {
        return 1;
    }
    // it jumps: the last one below will do
    impact->tame = lo;
    set_bounce(system, lo);
    return cr_events_solve(system, stick) && gain(system) <= energy_round_off;
}

static int stands_still(const cr_events_impulse_system* system)
{
    for (int32_t c = 0; c < system->m; c++) {
        if (cr_vec3_norm2(system->line[c].slip) > 0.0) {
            return 0;
        }
    }
    return 1;
}

static int all_finite(const cr_events_impulse_system* system)
{
    for (int32_t i = 0; i < system->n; i++) {
        if (!isfinite(system->u[i])) {
            return 0;
        }
    }
    return 1;
}

// u = before + M^-1 sum j b, so that what one body gains another loses, to the last digit.
static int settle(cr_events_impulse_system* system)
{
    const int32_t n = system->n;
    memset(system->right, 0, (size_t)n * sizeof(double));
    for (int32_t c = 0; c < system->m; c++) {
        cr_events_impulse_line* line = &system->line[c];
        line->active = line->active && line->j > 0.0;
        line->rub = line->dual;
        cr_events_impulse_push(line);
        for (int k = 0; line->active && k < 12; k++) {
            const int32_t b = system->row[c].side[k / 6];
            if (b >= 0) {
                system->right[6 * b + k % 6] += line->j * line->b[k];
            }
        }
    }
    for (int32_t b = 0; 6 * b < n; b++) {
        double inertia[9];
        memcpy(inertia, system->inertia[b].m, sizeof inertia);
        if (cr_dense_cholesky(3, inertia) != CAROM_OK) {
            return 0;
        }
        cr_dense_cholesky_solve(3, inertia, system->right + 6 * b);
        for (int k = 0; k < 6; k++) {
            const double by = k < 3 ? 1.0 : 1.0 / system->mass[b];
            system->u[6 * b + k] = system->before[6 * b + k] + by * system->right[6 * b + k];
        }
    }
    return 1;
}

static void write_back(const cr_events* events, const cr_events_impact* impact,
                       cr_events_impulse_system* system)
{
    for (int32_t i = 0; i < system->n; i++) {
        cr_events_member* member = &events->member.items[impact->member_begin + i / 6];
        const double unit = i % 6 < 3 ? system->length[i / 6] : 1.0;
        member->after[i % 6] = system->u[i] / unit;
    }
    for (int32_t c = 0; c < system->m; c++) {
        const cr_events_impulse_line* line = &system->line[c];
        system->row[c].j = system->unit * line->j;
        system->row[c].active = line->active;
        system->row[c].rub = line->mu > 0.0 ? line->rub : (cr_vec3){0};
    }
}

carom_status cr_events_impulse_solve(cr_events* events, cr_events_impact* impact)
{
    cr_events_impulse_system system;
    impact->tame = 1.0;
    impact->tamed = 0;
    const carom_status status = cr_events_impulse_prepare(events, impact, &system);
    if (status != CAROM_OK) {
        return status;
    }
    const double stick = events->task->friction_speed;
    int ok = cr_events_solve(&system, stick);
    if (ok && impact->rubs && stands_still(&system) && gain(&system) > energy_round_off) {
        ok = tame(events, &system, impact);
    }
    if (!ok && impact->rubs) {
        impact->rubs = 0;
        events->report.unrubbed++;
        return cr_events_impulse_solve(events, impact);
    }
    if (!ok || !settle(&system) || !all_finite(&system)) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    events->report.tamed += impact->tamed;
    write_back(events, impact, &system);
    return CAROM_OK;
}
