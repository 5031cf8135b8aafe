#include "contact/zone.h"
#include "contact/zone_inside.h"
#include <string.h>

// A zone is solved when a full Newton step moved nothing by more than the first of these parts of
// the free motion, or leaves no more to do than that part of what its contacts give way by, see
// leaves_nothing; or, once below the second, when steps no longer shrink: that is round-off. A
// looser first one lets so much noise into the multipliers that differences of a step no longer
// tell a gradient of 0.
static const double step_tolerance = 1e-14;
static const double step_allowed = 1e-9;
static const double still_shrinking = 0.25;
// Below this part of the free motion it is believed that a zone with sheets goes on shrinking as it
// did in its last step.
static const double steady_allowed = 1e-6;
// After a step below this part of the free motion the matrix has hardly changed, and the factor
// that there is may do for the next, if that is exact to the second part of it.
static const double hardly_moves = 1e-3, exact_enough = 1e-15;
// A hopeful zone (zone.h) is given up where its steps are not this much shorter than the first, so
// many iterations later: those that end in ten are a hundred times shorter then.
static const double soon_shorter = 0.1;
enum { SOON_SHORTER = 6 };
// Friction turns within slips e: a step of size s leaves its force off by (s/e)^2 of it. Where s is
// more than this part of e, a step that did not shrink is chance: only so many in a row tell, none
// of which is half as long as the shortest before.
static const double sure_of_slip = 1e-4, shorter = 0.5;
enum { STEPS_THAT_TELL = 3 };
// A step so many times as long as the shortest one goes somewhere else: what came before tells
// nothing of the way from there.
static const double elsewhere = 1e3;
// Where steps do not shrink the gaps' own round-off may be all that is left of them, see
// `trembles`; but more than this part of the free motion is never taken for that.
static const double most_tremor = 1e-6;
// Round-off of positions, in units in the last place of the largest coordinate.
static const double ulps = 16 * 0x1p-53;
static const double gap_ulps = 4 * 0x1p-53; // of a gap, which is a difference of two of them
// Contacts whose force and gap are both below this part of the zone's scale sit on a kink.
static const double weak = 1e-4;

carom_status cr_zone_create(cr_zone** out)
{
    *out = cr_memory_take(1, sizeof(cr_zone));
    return *out ? CAROM_OK : CAROM_ERR_MEMORY;
}

void cr_zone_destroy(cr_zone* zone)
{
    if (!zone) {
        return;
    }
    cr_array_release(&zone->block);
    cr_array_release(&zone->node_block);
    cr_array_release(&zone->point);
    cr_array_release(&zone->corner);
    cr_array_release(&zone->place);
    cr_array_release(&zone->now);
    cr_array_release(&zone->limiting);
    cr_array_release(&zone->line);
    cr_array_release(&zone->mark);
    cr_array_release(&zone->group);
    cr_array_release(&zone->met);
    cr_array_release(&zone->mover);
    cr_array_release(&zone->stride);
    cr_array_release(&zone->way);
    cr_array_release(&zone->share);
    cr_array_release(&zone->spot);
    cr_array_release(&zone->beside);
    cr_array_release(&zone->lean);
    cr_array_release(&zone->crowd);
    cr_array_release(&zone->felt);
    cr_array_release(&zone->result);
    cr_array_release(&zone->idle);
    cr_array_release(&zone->sheet_x);
    cr_array_release(&zone->sheet_scratch);
    cr_array_release(&zone->sizes);
    cr_array_release(&zone->pairs);
    cr_array_release(&zone->before);
    cr_array_release(&zone->kept);
    cr_array_release(&zone->kept_share);
    cr_array_release(&zone->load);
    cr_array_release(&zone->numbers);
    cr_array_release(&zone->dual);
    cr_array_release(&zone->krylov);
    cr_array_release(&zone->in_knot);
    cr_block_sweep_release(&zone->sweep);
    cr_array_release(&zone->dual_set);
    cr_array_release(&zone->clump);
    cr_array_release(&zone->clump_block);
    cr_array_release(&zone->clump_line);
    cr_zone_destroy(zone->own);
    cr_zone_matrix_release(&zone->matrix);
    cr_zone_dense_release(zone);
    cr_memory_free(zone);
}

int32_t cr_zone_rows(const cr_zone* zone, const cr_zone_row** rows)
{
    *rows = zone->result.items;
    return zone->result.count;
}

int32_t cr_zone_idle(const cr_zone* zone, const cr_zone_row** rows, int32_t* crowded)
{
    *rows = zone->idle.items;
    *crowded = zone->crowded;
    return zone->idle.count;
}

double cr_zone_length(const cr_zone* zone, const double* v)
{
    double most = 0.0;
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        const double* at = v + block->first;
        double size = cr_vec3_norm(cr_vec3_load(at));
        if (block->frame >= 0) {
            size = size * zone->task->bodies->extent[block->frame] +
                   cr_vec3_norm(cr_vec3_load(at + 3));
        }
        most = size > most || isnan(size) ? size : most;
    }
    return most;
}

static double coordinate_scale(const cr_zone* zone)
{
    double most = 0.0;
    for (int32_t i = 0; i < zone->point.count; i++) {
        most = cr_max(most, cr_vec3_max_abs(zone->point.items[i].x0));
    }
    return most;
}

// The same of nodes, which feel their neighbours whether anything can touch them or not.
static double node_scale(const cr_zone* zone)
{
    double most = 0.0;
    for (int32_t b = 0; b < zone->block_count; b++) {
        const int32_t node = zone->block.items[b].node;
        most = node < 0 ? most : cr_max(most, cr_vec3_max_abs(zone->task->motion->x0[node]));
    }
    return most;
}

// Whether a step of this size is what the round-off of the gaps amounts to.
static int trembles(cr_zone* zone, double size, double scale)
{
    enum { DRAWS = 3 };
    if (!(size <= most_tremor * scale) || !zone->factored) {
        return 0;
    }
    const double noise = gap_ulps * coordinate_scale(zone);
    double most = 0.0;
    for (int32_t draw = 0; draw < DRAWS; draw++) {
        cr_zone_lcp_shake(zone, noise, draw, zone->scratch);
        most = cr_max(most, cr_zone_length(zone, zone->scratch));
    }
    return size <= most;
}

// By how much the give of a row is off the tangent that the last step saw of it, at most. m
static double bent_by(const cr_zone* zone)
{
    double most = 0.0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        const double depth = cr_give_make(line->eps0, line->room, line->row.lam).depth;
        most = cr_max(most, fabs(depth - line->sink - line->eps * line->row.lam));
    }
    return most;
}

// What is left to do after a step of Newton's own matrix is of the order of its square: a gap at
// distance D bends by size^2 / D at most, for nothing is rounder than a corner seen from there, and
// the give of a row is off its tangent by what can be told. Where both are nothing beside what the
// rows give way by, so is the error of every force, and another step would show round-off alone.
// Friction turns within slips far shorter than D, and sheets bend in ways of their own: not they.
static int leaves_nothing(const cr_zone* zone, double size, double bent)
{
    double deepest = 0.0, nearest = HUGE_VAL;
    if (!zone->factored || zone->rubbing || zone->task->member_sheet_count > 0) {
        return 0;
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        deepest = cr_max(deepest, cr_give_make(line->eps0, line->room, line->row.lam).depth);
        nearest = cr_min(nearest, line->row.at.distance);
    }
    return size * size <= step_tolerance * nearest * deepest && bent <= step_tolerance * deepest;
}

// What is left to do after a step of a sheet, which bends in ways of its own, is told by the step
// before: where steps shrink they do so ever faster, so it is less than size (size / last). The
// rows have to give way as their tangents said.
static int foresees_nothing(const cr_zone* zone, double size, double last, double scale)
{
    return zone->task->member_sheet_count > 0 && isfinite(last) && size <= steady_allowed * scale &&
           size * size <= step_tolerance * scale * last;
}

// What remains of M(z - zt) + h^2 dE - B lam, relative to the largest of its parts. Of sheets in
// balance that do not move there is none: 0.
static double residual(cr_zone* zone)
{
    double most = 0.0, scale = 0.0;
    const double still = ulps * node_scale(zone);
    if (cr_zone_length(zone, zone->z) <= still && cr_zone_length(zone, zone->target) <= still) {
        return 0.0;
    }
    cr_zone_newton_gradient(zone);
    for (int32_t i = 0; i < zone->n; i++) {
        scale = cr_max(scale, fabs(zone->mass[i] * (zone->z[i] - zone->target[i])));
        scale = cr_max(scale, fabs(zone->mass[i] * zone->target[i]));
    }
    for (int32_t i = 0; i < zone->line.count; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        if (line->row.lam > 0.0) {
            cr_zone_line_push(zone, line, -line->row.lam, 1, zone->grad);
        }
    }
    for (int32_t i = 0; i < zone->n; i++) {
        most = cr_max(most, fabs(zone->grad[i]));
    }
    return scale > 0.0 ? most / scale : 0.0;
}

// Half way between the closest points, and the direction of friction there.
static void describe(const cr_zone* zone, cr_zone_line* line)
{
    cr_zone_row* row = &line->row;
    cr_vec3 b = {0, 0, 0};
    const int32_t kind = zone->task->candidate[row->candidate].pair.kind;
    for (int k = kind == CR_PAIR_EE ? 2 : 3; k < 4; k++) {
        b = cr_vec3_add_scaled(b, row->at.c[k], zone->point.items[line->point[k]].x);
    }
    row->place = cr_vec3_add_scaled(b, -0.5 * row->at.distance, row->at.n);
    row->compliance = line->eps0;
    row->room = line->room;
    row->say = line->say;
    row->slip = line->tau;
    row->rub = line->rub;
}

void cr_zone_end(const cr_zone* zone)
{
    cr_motion* motion = zone->task->motion;
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        if (block->frame >= 0) {
            motion->w[block->frame] = cr_vec3_load(zone->z + block->first);
            motion->u[block->frame] = cr_vec3_load(zone->z + block->first + 3);
        } else {
            motion->d[block->node] = cr_vec3_load(zone->z + block->first);
        }
    }
}

static carom_status finish(cr_zone* zone, double scale)
{
    cr_zone_end(zone);
    double most_lam = 0.0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        most_lam = cr_max(most_lam, zone->line.items[i].row.lam);
    }
    zone->result.count = 0;
    zone->report.least_gap = HUGE_VAL;
    for (int32_t i = 0; i < zone->line.count; i++) {
        cr_zone_line* line = &zone->line.items[i];
        const int touching = line->row.gap + line->sink + line->eps * line->row.lam < weak * scale;
        zone->report.weakly_active += touching && line->row.lam <= weak * most_lam;
        describe(zone, line);
        if (line->row.lam > 0.0 && !cr_array_push(&zone->result, line->row)) {
            return CAROM_ERR_MEMORY;
        }
    }
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        zone->report.least_gap =
            cr_min(zone->report.least_gap,
                   zone->now.items[i].distance - zone->task->candidate[i].thickness);
    }
    zone->report.row_count = zone->result.count;
    zone->report.residual = residual(zone);
    return cr_zone_crowd_idle(zone);
}

// Newton's full steps converge in three to five iterations where there is one solution to go to.
// Where they have not after PATIENCE ones, two faces meet edge to edge or a point stands on a
// point: from then on P has to fall, and the step is halved until it does.
enum { PATIENCE = 30, PATIENCE_CLOTH = 5 };

static int sleeps(const cr_zone* zone, const cr_zone_line* line)
{
    return line->block_count > 0 && zone->block.items[line->block[0]].asleep;
}

// Friction has no such function; but only what carries a load has friction.
static int loaded_rubs(const cr_zone* zone)
{
    int rubs = 0;
    for (int32_t i = 0; i < zone->line.count && zone->rubbing; i++) {
        const cr_zone_line* line = &zone->line.items[i];
        rubs |= line->row.lam > 0.0 && line->mu > 0.0 && !sleeps(zone, line);
    }
    return rubs;
}

carom_status cr_zone_begin(cr_zone* zone, const cr_zone_task* task)
{
    zone->task = task;
    zone->report = (cr_zone_report){0};
    zone->line.count = zone->result.count = zone->idle.count = 0;
    zone->along = 0.0;
    zone->grip = 1.0;
    zone->fresh = 1;
    zone->seen = CAROM_OK;
    zone->looks = zone->steady = 0;
    zone->stick = zone->oil = task->h * task->friction_speed;
    zone->rubbing = zone->holds = 0;
    for (int32_t i = 0; i < task->candidate_count; i++) {
        zone->rubbing |= task->candidate[i].friction > 0.0;
    }
    carom_status status = cr_zone_setup_blocks(zone);
    if (status == CAROM_OK) {
        status = cr_zone_setup_numbers(zone);
    }
    if (status == CAROM_OK) {
        status = cr_zone_sheet_setup(zone);
    }
    if (status == CAROM_OK) {
        status = cr_zone_point_setup(zone);
    }
    zone->report.scalar_count = zone->n;
    return status;
}

// Without friction the matrix is symmetric; what may touch but is far off makes no difference.
static void notice_friction(cr_zone* zone)
{
    zone->rubbing = 0;
    for (int32_t i = 0; i < zone->line.count; i++) {
        zone->rubbing |= zone->line.items[i].mu > 0.0;
    }
}

static void remember_place(cr_zone* zone)
{
    if (zone->n > 0) { // a sheet that is pinned everywhere has no unknowns
        memcpy(zone->z_before, zone->z, sizeof(double) * (size_t)zone->n);
    }
}

// The place of the zone and the loads of its candidates, to come back to.
static carom_status keep(cr_zone* zone)
{
    if (!cr_array_reserve(&zone->kept, zone->n) ||
        !cr_array_reserve(&zone->kept_share, zone->task->candidate_count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_zone_line_settle(zone);
    memcpy(zone->kept.items, zone->z, sizeof(double) * (size_t)zone->n);
    if (zone->task->candidate_count > 0) { // a look on the way may have found that there are none
        memcpy(zone->kept_share.items, zone->share.items,
               sizeof *zone->share.items * (size_t)zone->task->candidate_count);
    }
    return CAROM_OK;
}

// The points stand where z says now, by no way that has to be free.
static void place_anew(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->point.count; i++) {
        zone->before.items[i] = zone->point.items[i].x;
    }
    cr_zone_point_place(zone);
    cr_zone_check_moved(zone);
}

// What was seen of the candidates since is as true as before.
static void back(cr_zone* zone)
{
    memcpy(zone->z, zone->kept.items, sizeof(double) * (size_t)zone->n);
    place_anew(zone);
    for (int32_t i = 0; i < zone->task->candidate_count; i++) {
        cr_zone_share* share = &zone->share.items[i];
        const cr_zone_share* kept = &zone->kept_share.items[i];
        share->line = -1;
        share->lam = kept->lam;
        share->sigma = kept->sigma;
    }
}

// From the start towards where inertia alone would lead, as far as nothing is in the way.
static double set_out(cr_zone* zone)
{
    remember_place(zone);
    cr_zone_line_measure(zone);
    return cr_zone_check_step(zone, 0.0);
}

// Whatever is oiled, or all, is to be solved anew.
static void wake(cr_zone* zone, int all)
{
    for (int32_t b = 0; b < zone->block_count; b++) {
        zone->block.items[b].asleep &= !(all || zone->block.items[b].oiled);
    }
}

// What a search for the solution goes by.
typedef struct search {
    double scale;       // m, the free motion
    double allowed;     // m, steps below it are small
    double rounded;     // m, round-off of a gap
    int32_t most;       // iterations
    int32_t patience;   // those before P has to fall, without friction
    double step;        // part of the last step that was taken
    int32_t cramped;    // nonzero: it ended because it wanted more room
    int32_t hasty;      // nonzero: where it goes round in circles there is another way
    int32_t rows_stand; // nonzero: the last step was too short to change the rows it began with
} search;

// Back to the start. Where candidates were looked for on the way they are those of the way from
// there on; so they are looked for once more, from the start to where the last iterate wanted to
// be.
static carom_status restart(cr_zone* zone, search* s)
{
    const size_t size = sizeof(double) * (size_t)zone->n;
    if (!cr_array_reserve(&zone->kept, zone->n)) {
        return CAROM_ERR_MEMORY;
    }
    memcpy(zone->kept.items, zone->z, size);
    carom_status status = cr_zone_setup_numbers(zone);
    if (status == CAROM_OK && zone->looks > 0) {
        memcpy(zone->z_before, zone->z, size);
        memcpy(zone->z, zone->kept.items, size);
        status = cr_zone_look_again(zone, 0.0);
    }
    if (status == CAROM_OK) {
        zone->along = 0.0;
        zone->fresh = 1;
        wake(zone, 1);
        place_anew(zone);
        s->step = set_out(zone);
        status = zone->seen;
    }
    return status;
}

// The whole step, by points that stay where they are: it is shorter than anybody can see.
static void step_blindly(cr_zone* zone)
{
    for (int32_t i = 0; i < zone->n; i++) {
        zone->z[i] += zone->d[i];
    }
}

// What a Newton step says of what it moves.
typedef struct pace {
    double size;      // m
    double bent;      // m, see bent_by
    int32_t stands;   // nonzero: it is not much smaller than the last one
    double least;     // m, the shortest so far, but for those more than half as long as it
    int32_t stood;    // so many have come since
    int32_t last_one; // nonzero: see leaves_nothing
    int32_t calm;     // nonzero: when it is taken, all is solved
} pace;

// Of zones with no more bodies than this all are solved together: a dense matrix holds them.
enum { FEW = 8 };

// A Newton step of a zone, or of a clump of one as a zone. last: what the step before said.
static carom_status take_step(cr_zone* zone, const search* s, const pace* last, pace* now)
{
    notice_friction(zone);
    const int near = s->step == 1.0 && last->size <= hardly_moves * s->scale;
    zone->enough = exact_enough * s->scale;
    const carom_status status = cr_zone_newton_step(zone, near, !last->stands);
    if (status != CAROM_OK) {
        return status == CAROM_ERR_MEMORY ? status : CAROM_ERR_NO_CONVERGENCE;
    }
    const double size = cr_zone_length(zone, zone->d);
    if (!isfinite(size)) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    now->size = size;
    now->bent = bent_by(zone);
    now->last_one = leaves_nothing(zone, size, now->bent);
    now->stands = !(size <= still_shrinking * last->size);
    const int begins = size < shorter * last->least || size > elsewhere * last->least;
    now->stood = begins ? 0 : last->stood + 1;
    now->least = now->stood == 0 ? size : last->least;
    const int tells =
        !zone->rubbing || size <= sure_of_slip * zone->stick || now->stood >= STEPS_THAT_TELL;
    // rows that take turns, as those of bricks edge to edge, have a bent give for ever
    const int straight = now->bent <= s->rounded || !(now->bent <= still_shrinking * last->bent);
    now->calm = size <= step_tolerance * s->scale || now->last_one ||
                (now->bent <= s->rounded && foresees_nothing(zone, size, last->size, s->scale)) ||
                (now->stands && tells && straight &&
                 (size <= s->allowed || trembles(zone, size, s->scale)));
    return CAROM_OK;
}

// The same of one clump, whose blocks know what the step before said.
static carom_status step_clump(cr_zone* zone, const search* s, cr_zone_clump* clump, pace* now)
{
    cr_zone* own;
    pace last = {.stood = STEPS_THAT_TELL};
    carom_status status = cr_zone_clump_enter(zone, clump, &own);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < own->block_count; i++) {
        const cr_zone_block* block = &own->block.items[i];
        last.size = cr_max(last.size, block->last);
        last.bent = cr_max(last.bent, block->bent);
        last.least = cr_max(last.least, block->least);
        last.stood = block->stood < last.stood ? block->stood : last.stood;
    }
    status = take_step(own, s, &last, now);
    cr_zone_clump_leave(zone, clump);
    for (int32_t i = clump->block_begin; i < clump->block_end && status == CAROM_OK; i++) {
        cr_zone_block* block = &zone->block.items[zone->clump_block.items[i]];
        block->last = now->size;
        block->bent = now->bent;
        block->least = now->least;
        block->stood = now->stood;
    }
    clump->calm = now->calm;
    return status;
}

// Of all clumps that are awake; now is the worst of them.
static carom_status step_clumps(cr_zone* zone, const search* s, pace* now)
{
    *now = (pace){.least = HUGE_VAL, .calm = 1}; // what each of them had, its blocks know
    memset(zone->d, 0, sizeof(double) * (size_t)zone->n);
    notice_friction(zone);
    zone->factored = 0;
    for (int32_t c = 0; c < zone->clump.count; c++) {
        pace one = {0};
        if (zone->clump.items[c].asleep) {
            continue;
        }
        const carom_status status = step_clump(zone, s, &zone->clump.items[c], &one);
        if (status != CAROM_OK) {
            return status;
        }
        now->size = cr_max(now->size, one.size);
        now->bent = cr_max(now->bent, one.bent);
        now->stands |= one.stands;
        now->calm &= one.calm;
    }
    return CAROM_OK;
}

// What is solved moves no more, until something comes to it: nor back, where P of others has not
// fallen.
static void fall_asleep(cr_zone* zone)
{
    for (int32_t b = 0; b < zone->block_count; b++) {
        cr_zone_block* block = &zone->block.items[b];
        if (zone->clump.items[block->clump].calm) {
            block->asleep = 1;
            memcpy(zone->z_before + block->first, zone->z + block->first,
                   sizeof(double) * (size_t)block->size);
        }
    }
}

// What is joined by the lines of the iterate. *parted: nonzero where there are several clumps.
static carom_status part(cr_zone* zone, int32_t* parted)
{
    int32_t spread = 0, clumps = 0, asleep = 0;
    *parted = 0;
    if (zone->task->whole || zone->block_count <= FEW) {
        return CAROM_OK;
    }
    carom_status status = cr_zone_clump_find(zone, &spread);
    if (status == CAROM_OK && spread) {
        status = cr_zone_line_collect(zone); // the same lines, with the friction that they have now
    }
    for (int32_t c = 0; c < zone->clump.count; c++) {
        const cr_zone_clump* clump = &zone->clump.items[c];
        clumps += clump->sheets || clump->line_end > clump->line_begin;
        asleep += clump->asleep;
    }
    *parted = clumps > 1 || asleep > 0;
    return status;
}

// What the next step of every block is compared with.
static void set_pace(cr_zone* zone, const pace* now)
{
    for (int32_t b = 0; b < zone->block_count; b++) {
        zone->block.items[b].last = now->size;
        zone->block.items[b].bent = now->bent;
        zone->block.items[b].least = now->least;
        zone->block.items[b].stood = now->stood;
    }
}

// Iterates with friction go round in circles where the shortest of their steps is so many back.
enum { CIRCLING = 8 };

// The shortest step so far.
typedef struct record {
    double size; // m
    int at;      // iteration
} record;

static int circles(const cr_zone* zone, record* shortest, int it, double size)
{
    if (size < shortest->size) {
        *shortest = (record){size, it};
    }
    return it - shortest->at >= CIRCLING && loaded_rubs(zone);
}

// Newton's iterates from where the zone is; where they shrink when their number is up, they may
// take as many again to come to their end: that 20 of them did not is chance.
// CAROM_ERR_NO_CONVERGENCE: they lead nowhere.
static carom_status iterate(cr_zone* zone, search* s)
{
    pace now = {.size = HUGE_VAL, .bent = HUGE_VAL, .least = HUGE_VAL};
    double longest = 0.0; // the first step
    int32_t cramped = zone->report.cramped, in_vain = 0, parted = 0;
    int falls = 0; // nonzero: P is there to be compared with
    record shortest = {HUGE_VAL, 0};
    if (s->rows_stand) { // the points have yet to follow
        s->rows_stand = 0;
        place_anew(zone);
    }
    set_pace(zone, &now);
    // there is nothing to compare the first step with
    for (int it = 0; it < s->most || (!now.stands && it > 1 && it < 2 * s->most); it++) {
        const pace last = now;
        if (zone->task->stop && *zone->task->stop) {
            return CAROM_ERR_INTERRUPTED;
        }
        carom_status status = cr_zone_line_collect(zone);
        if (status == CAROM_OK && falls && it > s->patience && !loaded_rubs(zone)) {
            status = cr_zone_descent_take(zone, s->step);
        }
        if (status == CAROM_OK) {
            status = part(zone, &parted);
        }
        if (status != CAROM_OK) {
            return status;
        }
        zone->report.iterations++;
        remember_place(zone);
        status = parted ? step_clumps(zone, s, &now) : take_step(zone, s, &last, &now);
        if (status != CAROM_OK) {
            return status;
        }
        if (!parted) {
            set_pace(zone, &now);
        }
        zone->report.strides += now.size > s->allowed;
        longest = it == 0 ? now.size : longest;
        if (zone->task->hopeful && it >= SOON_SHORTER && !(now.size <= soon_shorter * longest)) {
            break;
        }
        if (s->hasty && circles(zone, &shortest, it, now.size)) {
            break;
        }
        if (!parted && now.last_one && cr_zone_check_tiny(zone, now.size)) {
            step_blindly(zone);
            s->rows_stand = 1;
            return CAROM_OK;
        }
        falls = it >= s->patience && !loaded_rubs(zone);
        if (falls) { // for the next to descend from
            zone->worth = cr_zone_descent_worth(zone);
            zone->slope = cr_zone_descent_slope(zone);
        }
        const int32_t looks = zone->looks;
        s->step = cr_zone_check_step(zone, 1e-9);
        if (zone->seen != CAROM_OK) {
            s->cramped = zone->seen == CAROM_ERR_NO_CONVERGENCE;
            return zone->seen;
        }
        in_vain = zone->report.cramped > cramped ? in_vain + 1 : 0;
        cramped = zone->report.cramped;
        if (in_vain >= zone->task->most_cramped) {
            s->cramped = 1;
            break;
        }
        if (s->step == 1.0 && zone->looks == looks) {
            if (now.calm) {
                return CAROM_OK;
            }
            if (parted) {
                fall_asleep(zone);
            }
        }
    }
    return CAROM_ERR_NO_CONVERGENCE;
}

// Where iterates go round and round, friction comes in little by little: first none, where P leads
// to a solution; then as thick oil, which sticks only below slips e as long as the free
// motion; then e shrinks to what it is, each time from the solution before. What jams does so on
// this way, too: its slip shrinks with e. (With mu growing instead its force grows without bound.)
static carom_status get_hold(cr_zone* zone, search* s)
{
    enum { CALM = 8, MOST_TRIES = 40, STAGE = 40 };
    static const double least = 0.8; // by which e shrinks
    const double e = zone->stick;
    s->patience = CALM;
    s->hasty = 0;
    s->most = zone->task->max_iterations;
    for (int32_t b = 0; b < zone->block_count; b++) {
        zone->block.items[b].oiled = !zone->block.items[b].asleep;
    }
    zone->grip = 0.0;
    zone->rubbing = 0;
    carom_status status = restart(zone, s);
    if (status == CAROM_OK) {
        status = iterate(zone, s);
    }
    double before = HUGE_VAL, now = HUGE_VAL, shrink = 0.25;
    zone->steady = 1; // what is kept is of these candidates
    for (int i = 0; i < MOST_TRIES && status == CAROM_OK && now > e; i++) {
        status = keep(zone);
        before = now;
        now = cr_max(e, isfinite(before) ? shrink * before : s->scale);
        zone->oil = now;
        zone->grip = 1.0;
        zone->rubbing = 1;
        wake(zone, 0);
        s->most = isfinite(before) && s->most > STAGE ? STAGE : s->most;
        if (status == CAROM_OK) {
            status = iterate(zone, s);
        }
        if (status == CAROM_OK) {
            shrink *= shrink;
        } else if (status == CAROM_ERR_NO_CONVERGENCE && !s->cramped && isfinite(before) &&
                   shrink < least) {
            shrink = sqrt(shrink);
            now = before;
            back(zone);
            status = CAROM_OK;
        }
    }
    zone->oil = e;
    return now > e && status == CAROM_OK ? CAROM_ERR_NO_CONVERGENCE : status;
}

// Iterates before friction is let in little by little: most zones take three to ten.
enum { SOON = 30 };

carom_status cr_zone_solve(cr_zone* zone, const cr_zone_task* task, cr_zone_report* report)
{
    carom_status status = cr_zone_begin(zone, task);
    if (status != CAROM_OK) {
        return status;
    }
    const double scale = cr_max(cr_zone_length(zone, zone->d), cr_zone_length(zone, zone->target));
    const int32_t patience = task->member_sheet_count > 0 ? PATIENCE_CLOTH : PATIENCE;
    search s = {.scale = scale,
                .allowed = cr_max(step_allowed * scale + ulps * coordinate_scale(zone),
                                  ulps * node_scale(zone)), // where nothing moves that is all
                .rounded = gap_ulps * coordinate_scale(zone),
                .most = task->max_iterations,
                .patience =
                    task->max_iterations < 2 * patience ? task->max_iterations / 2 : patience};
    const int holds = zone->rubbing;
    s.most = holds && s.most > SOON ? SOON : s.most;
    s.hasty = holds && task->member_sheet_count == 0;
    cr_zone_point_place(zone);
    s.step = set_out(zone);
    status = zone->seen == CAROM_OK ? iterate(zone, &s) : zone->seen;
    if (status == CAROM_ERR_NO_CONVERGENCE && holds && !task->hopeful && !s.cramped &&
        zone->seen == CAROM_OK) {
        status = get_hold(zone, &s);
    }
    if (!s.rows_stand) {
        cr_zone_line_refresh(zone);
    }
    if (status == CAROM_OK) {
        status = finish(zone, scale);
    } else {
        zone->report.residual = residual(zone);
    }
    *report = zone->report;
    return status;
}
