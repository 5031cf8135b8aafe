#include "contact/zone_inside.h"

// Block pairs of the matrix: those that a row couples.
static carom_status build_matrix(cr_zone* zone, int32_t symmetric)
{
    zone->pairs.count = 0;
    const carom_status status = cr_zone_sheet_pattern(zone);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        for (int b = 0; b < line->block_count; b++) {
            for (int c = 0; c < b; c++) {
                if (!cr_array_reserve(&zone->pairs, zone->pairs.count + 2)) {
                    return CAROM_ERR_MEMORY;
                }
                zone->pairs.items[zone->pairs.count++] = line->block[b];
                zone->pairs.items[zone->pairs.count++] = line->block[c];
            }
        }
    }
    return cr_zone_matrix_build(&zone->matrix, zone->block_count, zone->sizes.items,
                                zone->pairs.count / 2,
                                (const int32_t(*)[2])(const void*)zone->pairs.items, symmetric);
}

// The mass block of a frame; along locked directions a plain diagonal, which the projected rows
// never couple to anything.
static void add_mass(cr_zone* zone, int32_t b)
{
    const cr_zone_block* block = &zone->block.items[b];
    const int size = block->frame >= 0 ? 6 : 3;
    double part[36] = {0};
    for (int i = 0; i < size; i++) {
        part[i * size + i] = zone->mass[block->first + i];
    }
    if (block->frame >= 0 && block->lock >> 3) {
        const cr_vec3 inertia = cr_vec3_load(zone->mass + block->first);
        const cr_mat3 p = block->free_turn;
        const cr_mat3 pip = cr_mat3_mul(p, cr_mat3_mul(cr_mat3_diagonal(inertia), p));
        const double most = cr_max(inertia.x, cr_max(inertia.y, inertia.z));
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                part[6 * i + j] = pip.m[i][j] + most * ((i == j) - p.m[i][j]);
            }
        }
    }
    cr_zone_matrix_add(&zone->matrix, b, b, part);
}

// How much of the curvature goes into the matrix. Each level is safer and slower than the one
// before: exact; sheets positive element by element; contacts flat and friction a spring as stiff
// as it is now; the same with a spring that holds every contact where it was.
enum { CURVE_EXACT, CURVE_SAFE_SHEETS, CURVE_SAFE, CURVE_STICK, CURVE_LEVELS };

static void assemble(cr_zone* zone, int level)
{
    cr_zone_matrix_zero(&zone->matrix);
    for (int32_t b = 0; b < zone->block_count; b++) {
        add_mass(zone, b);
    }
    cr_zone_sheet_hessian(zone, level == CURVE_EXACT ? CR_CLOTH_EXACT : CR_CLOTH_PROJECTED);
    if (level < CURVE_SAFE) {
        cr_zone_line_curve(zone);
    } else {
        cr_zone_line_hold(zone, level == CURVE_STICK);
    }
}

// What a lock holds is not felt: of a body whose free axes are not principal I w leans off them.
void cr_zone_newton_gradient(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->n; i++) {
        zone->grad[i] = zone->mass[i] * (zone->z[i] - zone->target[i]);
    }
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        if (block->lock) {
            cr_zone_line_lock(block, zone->grad + block->first);
        }
    }
    cr_zone_sheet_gradient(zone, zone->grad);
}

// If going straight to the target violates no row to first order, there is no contact.
static int free_step(cr_zone* zone)
{
    if (zone->task->member_sheet_count > 0) {
        return 0; // elasticity pulls too
    }
    for (int32_t i = 0; i < zone->n; i++) {
        zone->d[i] = zone->target[i] - zone->z[i];
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        if (!(line->row.gap + cr_zone_line_dot(zone, line, line->a, zone->d) >= 0.0)) {
            return 0;
        }
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        zone->line.items[i].row.lam = 0.0;
    }
    return 1;
}

static void remember_lam(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        zone->line.items[i].lam_before = zone->line.items[i].row.lam;
    }
}

static void restore_lam(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        zone->line.items[i].row.lam = zone->line.items[i].lam_before;
    }
}

// Pressed hard and rubbing hard, a contact may find no sliding solution at all (the paradox of
// Painleve): what it does then is jam. Holding friction only lets the force grow from iterate to
// iterate, so every third time the contacts are made to stick instead.
enum { HOLDS = 3 };

// Friction as it is now becomes a force like any other.
static void hold_friction(cr_zone* zone, int stick)
{
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        const double rub = cr_zone_line_rub(line, stick);
        for (int b = 0; b < line->block_count; b++) {
            double* at = zone->grad + zone->block.items[line->block[b]].first;
            for (int k = line->offset[b]; k < line->offset[b + 1]; k++) {
                at[k - line->offset[b]] += rub * line->f[k];
            }
        }
    }
}

// The step that a matrix without friction's derivative gives, with friction held: by rounds of
// exchange where they are likely to end, else by the interior point.
static carom_status held_step(cr_zone* zone, int level)
{
    const int rounds = level >= CURVE_SAFE && (!zone->rubbing || cr_zone_lcp_dual(zone));
    carom_status status = CAROM_ERR_NO_CONVERGENCE;
    for (int way = !rounds; way < 2 && status == CAROM_ERR_NO_CONVERGENCE; way++) {
        restore_lam(zone);
        cr_zone_newton_gradient(zone); // the last try may have put friction into it
        hold_friction(zone, level == CURVE_STICK);
        status = way == 0 ? cr_zone_lcp_solve(zone, 0) : cr_zone_ipm_solve(zone);
        zone->holds += way;
    }
    return status;
}

// The step of the matrix as it is, with friction's derivative. Where sweeps or the factor of the
// step before give it zone->factored stays 0: there is no factor, or it is not of this matrix.
static carom_status full_step(cr_zone* zone, int reuse, int steady)
{
    carom_status status = CAROM_ERR_NO_CONVERGENCE;
    if (steady && cr_zone_sweep_suits(zone, zone->matrix.symmetric)) {
        zone->sweeping = 1;
        status = cr_zone_lcp_solve(zone, 1);
        zone->sweeping = 0;
        if (status == CAROM_OK || status == CAROM_ERR_MEMORY) {
            return status;
        }
        status = CAROM_ERR_NO_CONVERGENCE; // whatever it was, a factor knows better
    }
    if (reuse) {
        status = cr_zone_lcp_reuse(zone);
    }
    if (status == CAROM_ERR_NO_CONVERGENCE) {
        restore_lam(zone);
        status = cr_zone_lcp_solve(zone, 1);
        zone->factored = status == CAROM_OK;
    }
    return status;
}

// The next level when the matrix is not positive (a saddle: with less curvature the step walks off
// it) or when the working set went round in circles; that is the contacts' doing, and safe sheets
// will not change it.
carom_status cr_zone_newton_step(cr_zone* zone, int32_t near, int32_t steady)
{
    const int reuse = near && zone->factored;
    zone->factored = 0;
    if (free_step(zone)) {
        return CAROM_OK;
    }
    carom_status status = build_matrix(zone, !zone->rubbing);
    if (status != CAROM_OK) {
        return status;
    }
    for (int level = CURVE_EXACT; level < CURVE_LEVELS; level++) {
        const int sheets = zone->task->member_sheet_count > 0;
        if ((level == CURVE_SAFE_SHEETS && (!sheets || status == CAROM_ERR_NO_CONVERGENCE)) ||
            (level == CURVE_STICK && !zone->rubbing) ||
            (level == CURVE_SAFE && zone->rubbing && zone->holds % HOLDS == HOLDS - 1)) {
            zone->holds += level == CURVE_SAFE;
            continue;
        }
        assemble(zone, level);
        remember_lam(zone);
        cr_zone_newton_gradient(zone);
        const int exact = level == CURVE_EXACT;
        status = level < CURVE_SAFE ? full_step(zone, reuse && exact, steady && exact)
                                    : CAROM_ERR_NO_CONVERGENCE;
        if (status == CAROM_ERR_NO_CONVERGENCE &&
            (level >= CURVE_SAFE || !(zone->rubbing || cr_zone_lcp_dual(zone)))) {
            status = held_step(zone, level);
        }
        if (status == CAROM_OK || status == CAROM_ERR_MEMORY) {
            break;
        }
        restore_lam(zone);
    }
    if (status == CAROM_OK && zone->rubbing) {
        cr_zone_line_foresee(zone);
    }
    return status;
}

carom_status cr_zone_newton_exact(cr_zone* zone, int32_t symmetric)
{
    const carom_status status = build_matrix(zone, symmetric);
    if (status == CAROM_OK) {
        assemble(zone, CURVE_EXACT);
    }
    return status;
}
