#include "sim/parts.h"
#include "sim/carried.h"
#include "sim/expect.h"
#include <string.h>

// Candidates for each vertex of an island, beyond which shorter parts are the better way. Those
// count that the ways and rooms of a part bring within reach: what is near already, as a thick
// sheet is to all of a fine body under it, is a candidate in the shortest part, too.
enum { CROWDED = 40 };
// After parts that took no more strides than this a longer one is tried: after one of them at
// first, and after twice as many each time that led nowhere. So many that took more are as good as
// one: where rows come and go the shortest parts take a dozen as well, and a step that waited for a
// quick one would go on in them to its end.
enum { QUICK = 7, SLOW = 3 };
// Parts that are halved no more often than this against the first are given up early where they do
// not converge soon, as long as they can be halved more often than so; shorter ones do what they
// can, for there it may be the friction that leads nowhere, and soon there is nothing shorter left.
enum { HOPEFUL = 2 };
// Of the shortest edge, how far things go in a part at first.
static const double step_of_edge = 1.0;

carom_status cr_parts_mark(cr_sim* sim, cr_worker* worker, int32_t index)
{
    const cr_island* island = &sim->near.island.items[index];
    const int32_t lowest = sim->near.body[island->body_begin];
    const carom_status status = cr_island_open(sim, worker, index);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = island->body_begin; i < island->body_end; i++) {
        sim->hard[sim->near.body[i]] = lowest + 1;
    }
    sim->any_hard = 1;
    cr_expect_free(sim, worker);
    return CAROM_OK;
}

int cr_parts_crowded(const cr_sim* sim, const cr_worker* worker)
{
    const cr_body_set* bodies = &sim->model->bodies;
    int32_t vertices = 0;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t b = bodies->frame_body[worker->frame.items[i]];
        vertices += bodies->vertex[b + 1] - bodies->vertex[b];
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        vertices += sim->model->sheet_node[s + 1] - sim->model->sheet_node[s];
    }
    int32_t brought = 0;
    for (int32_t i = 0; i < worker->candidate_count; i++) {
        brought += worker->candidate[i].start > 2.0 * worker->candidate[i].thickness;
    }
    return brought / CROWDED > vertices;
}

int cr_parts_hard(const cr_sim* sim, int32_t index)
{
    const cr_island* island = &sim->near.island.items[index];
    int hard = 0;
    for (int32_t i = island->body_begin; i < island->body_end && sim->any_hard; i++) {
        hard |= sim->hard[sim->near.body[i]] > 0;
    }
    return hard;
}

// Members, and what does not move by itself, take part; all else is not there. It need not be: no
// member leaves its room in the step, which nobody else's comes near.
static void call_members(cr_sim* sim, int32_t index)
{
    const cr_body_set* bodies = &sim->model->bodies;
    for (int32_t b = 0; b < bodies->body_count; b++) {
        const int32_t own = sim->near.body_island[b];
        sim->taking[b] = own == index || own < 0 ? 0 : -1;
    }
}

static carom_status look_around(cr_sim* sim, cr_worker* worker)
{
    const cr_near_look look = {.carry = sim->part.carry,
                               .x = sim->part.start,
                               .ahead = sim->part.ahead,
                               .node_reach = sim->part.node_reach,
                               .role = sim->taking};
    const carom_status status = cr_near_list(&sim->near, &look, sim->worker_count);
    const int any = sim->near.listed.count > 0;
    worker->candidate_count = sim->near.listed.count;
    worker->candidate = any ? sim->near.listed.items : NULL;
    worker->closest = any ? sim->near.part.at.items : NULL;
    cr_island_ease(worker, worker->share);
    return status;
}

// What is not solved in the shortest parts there are is tried in other ways, one after another:
// with contacts that are stiff though they are pressed, for what is thrown into them at 1000 m/s
// stands at the end of its room otherwise, where rows come and go; but not if that gains energy.
// With half of its friction, a quarter, none, for it jams. At last stiff, whatever it gains. What
// jams in one leg would do so in the next: it keeps to its resort to the end of the step.
typedef enum resort {
    AS_IT_IS,
    STIFF,
    HALF,
    QUARTER,
    NO_FRICTION,
    STIFF_AT_LAST,
} resort;

static double share_of(int32_t jam)
{
    static const double share[] = {[AS_IT_IS] = 1,   [STIFF] = 1,       [HALF] = 0.5,
                                   [QUARTER] = 0.25, [NO_FRICTION] = 0, [STIFF_AT_LAST] = 1};
    return share[jam];
}

static int is_eased(int32_t jam)
{
    return jam >= HALF && jam <= NO_FRICTION;
}

static int32_t next_resort(int32_t jam, int rubs)
{
    return jam == STIFF && !rubs ? STIFF_AT_LAST : jam + 1;
}

typedef struct stretch {
    double h, from, to;
    int32_t resort; // of those above
    int32_t halvings;
    int32_t last;    // nonzero: it is not to be halved
    int32_t hopeful; // nonzero: it is to be where it does not converge soon
} stretch;

carom_status cr_parts_look(void* user, double along)
{
    const cr_parts_view* view = user;
    cr_sim* sim = view->sim;
    cr_worker* worker = view->worker;
    cr_zone_task* task = view->task;
    cr_expect_onwards(sim, worker, task->from + along * (task->to - task->from), task->to);
    const carom_status status = look_around(sim, worker);
    if (status != CAROM_OK) {
        return status;
    }
    task->candidate_count = worker->candidate_count;
    task->candidate = worker->candidate;
    return !worker->last && cr_parts_crowded(sim, worker) ? CAROM_ERR_NO_CONVERGENCE : CAROM_OK;
}

// One part. Where that means to compare everything with everything, shorter parts are the better
// way.
static carom_status try_once(cr_sim* sim, cr_worker* worker, int32_t index, const stretch* part)
{
    const int32_t max_iterations = sim->model->world.max_iterations;
    cr_expect_part(sim, worker, part->h, part->from, part->to);
    worker->looks = 1;
    worker->last = part->last;
    worker->hopeful = part->hopeful;
    worker->fair = (!part->last && part->halvings < CR_SIM_FAIR) || part->resort == STIFF;
    worker->most_turn = worker->sheet.count > 0 ? HUGE_VAL : CR_SIM_TURNED;
    worker->share = share_of(part->resort);
    worker->stiff = part->resort == STIFF || part->resort == STIFF_AT_LAST;
    worker->most_iterations =
        part->last || max_iterations < CR_SIM_HOPEFUL ? max_iterations : CR_SIM_HOPEFUL;
    worker->most_cramped = INT32_MAX;
    carom_status status = look_around(sim, worker);
    if (status == CAROM_OK && cr_parts_crowded(sim, worker) && !part->last) {
        status = CAROM_ERR_NO_CONVERGENCE;
    }
    cr_island_result* result = &sim->island.items[index];
    const int32_t contacts = result->contact.count, impacts = result->impacts;
    if (status == CAROM_OK) {
        status = cr_island_part(sim, worker, index, part->h, part->from, part->to);
    }
    if (status != CAROM_OK) {
        result->contact.count = contacts;
        result->impacts = impacts;
    }
    return status;
}

static carom_status try_part(cr_sim* sim, cr_worker* worker, int32_t index, const stretch* part)
{
    carom_status status;
    cr_carried_forget(sim, worker);
    do {
        status = try_once(sim, worker, index, part);
    } while (status == CAROM_OK && sim->island.items[index].again);
    return status;
}

// Parts in which nothing goes farther than the shortest edge there is: longer ones take more
// iterates than shorter ones take parts, unless a sheet is taut.
static int32_t halvings_of(const cr_sim* sim, double way, double edge)
{
    int32_t halvings = 0;
    while (halvings < sim->model->world.max_halvings &&
           ldexp(way, -halvings) > step_of_edge * edge) {
        halvings++;
    }
    return halvings;
}

// A frame that has nothing near it does not count, however fast: whether it is a member at all
// hangs on boxes, which a turned picture of the scene has not. It is looked for where it would
// matter.
static carom_status first_halvings(cr_sim* sim, cr_worker* worker, int32_t* halvings)
{
    const double edge = cr_expect_edge(sim, worker);
    const int32_t most = halvings_of(sim, cr_expect_frame_way(sim, worker), edge);
    carom_status status = CAROM_OK;
    *halvings = halvings_of(sim, cr_expect_sheet_way(sim, worker), edge);
    if (most > *halvings) {
        cr_expect_part(sim, worker, sim->leg.h, sim->leg.from, sim->leg.to);
        worker->share = 1.0;
        status = look_around(sim, worker);
        const int32_t near = halvings_of(sim, cr_expect_near_way(sim, worker), edge);
        *halvings = near > *halvings ? near : *halvings;
    }
    return status;
}

static int32_t jam_of(const cr_sim* sim, const cr_island* island)
{
    int32_t most = 0;
    for (int32_t i = island->body_begin; i < island->body_end; i++) {
        const int32_t jam = sim->jam[sim->near.body[i]];
        most = jam > most ? jam : most;
    }
    return most;
}

static void set_jam(cr_sim* sim, const cr_island* island, int32_t jam)
{
    for (int32_t i = island->body_begin; i < island->body_end; i++) {
        sim->jam[sim->near.body[i]] = (uint8_t)jam;
    }
}

void cr_parts_step(cr_sim* sim, cr_worker* worker, int32_t index)
{
    const int32_t finest = sim->model->world.max_halvings;
    const int64_t end = (int64_t)1 << finest; // of `at`, in the smallest parts
    cr_island_result* result = &sim->island.items[index];
    if (cr_island_open(sim, worker, index) != CAROM_OK) {
        return;
    }
    call_members(sim, index);
    worker->expect = &sim->part;
    cr_island_rewind(sim, worker, index);
    result->parts = 0;
    const int32_t least = worker->sheet.count > 0 ? 0 : cr_island_whirl(sim, worker);
    int32_t first = least;
    result->status = worker->sheet.count > 0 ? first_halvings(sim, worker, &first) : CAROM_OK;
    if (result->status != CAROM_OK) {
        return;
    }
    int32_t halvings = first;
    int64_t quick = 0, wait = 1; // such parts since the last change, and how many there are to be
    const cr_island* island = &sim->near.island.items[index];
    int32_t jam = jam_of(sim, island);
    result->eased = is_eased(jam);
    for (int64_t at = 0; at < end;) {
        const int64_t size = end >> halvings;
        const int32_t before = result->report.strides;
        const stretch part = {.h = ldexp(sim->leg.h, -halvings),
                              .from = cr_sim_along(&sim->leg, (double)at / (double)end),
                              .to = cr_sim_along(&sim->leg, (double)(at + size) / (double)end),
                              .resort = jam,
                              .halvings = halvings,
                              .last = halvings == finest,
                              .hopeful = worker->sheet.count > 0 && halvings + HOPEFUL < finest &&
                                         halvings <= first + HOPEFUL};
        result->status = try_part(sim, worker, index, &part);
        if (result->status == CAROM_ERR_NO_CONVERGENCE && !part.last) {
            wait = result->parts > 0 && wait < end ? 2 * wait : wait;
            quick = 0;
            halvings++;
            continue;
        }
        if (result->status == CAROM_ERR_NO_CONVERGENCE && jam < STIFF_AT_LAST) {
            jam = next_resort(jam, cr_island_rubs(worker));
            set_jam(sim, island, jam);
            wait = 1;
            result->eased |= is_eased(jam);
            continue;
        }
        result->parts++;
        if (result->status != CAROM_OK) {
            return;
        }
        at += size;
        // its own look around does not end where that for others does
        result->strayed |= cr_expect_missed(sim, worker);
        quick += result->report.strides - before <= QUICK ? SLOW : 1;
        if (halvings > least && at % (2 * size) == 0 && quick >= SLOW * wait) {
            halvings--;
            quick = 0;
        }
    }
}
