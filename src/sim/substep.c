// The sub-step controller. A step that Newton does not solve is halved, for this island alone, down
// to 2^-max_halvings of it; after each sub-step that is solved the next one is twice as long where
// that ends on a multiple of its length. What the shortest does not solve is tried with half of its
// friction, a quarter, none, which is reported; then the step fails.
#include "sim/substep.h"
#include "collision/corners.h"
#include "core/assert.h"
#include "sim/carried.h"
#include "sim/expect.h"
#include "sim/parts.h"

// Islands of more bodies are not worth a worker of their own, but may query the broad phase.
enum { LARGE = 32 };

static const double relaxed[] = {1.0, 0.5, 0.25, 0.0};
enum { MOST_RELAXED = 3 };

int cr_substep_is_large(const cr_sim* sim, int32_t index)
{
    const cr_island* island = &sim->near.island.items[index];
    int sheets = 0;
    for (int32_t i = island->body_begin; i < island->body_end && !sheets; i++) {
        sheets = sim->model->body_sheet[sim->near.body[i]] >= 0;
    }
    return sheets || island->body_end - island->body_begin > LARGE;
}

// What a query of the solver needs.
typedef struct query {
    cr_sim* sim;
    cr_worker* worker;
    cr_newton_task* task;
    int32_t island;
    double share; // of friction that candidates have
} query;

static void mask_members(cr_sim* sim, int32_t index)
{
    for (int32_t b = 0; b < sim->model->bodies.body_count; b++) {
        const int32_t own = sim->near.body_island[b];
        sim->taking[b] = own == index || own < 0 ? 0 : -1;
    }
}

static void take_margins(const cr_expect* expect, cr_newton_task* task)
{
    task->carry = expect->carry;
    task->start = expect->start;
    task->ahead = expect->ahead;
    task->node_reach = expect->node_reach;
}

// Candidates of the members along what sim->part expects of them. Other islands are not looked at:
// none of their swept paths comes near these, which is checked at the end of the step.
static carom_status look_at_members(cr_sim* sim, cr_worker* worker, int32_t index)
{
    mask_members(sim, index);
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
    worker->expect = &sim->part;
    return status;
}

// Candidates from where an iterate is, on towards where it is to go.
static carom_status find_candidates(void* user, double along)
{
    const query* q = user;
    cr_sim* sim = q->sim;
    cr_worker* worker = q->worker;
    cr_newton_task* task = q->task;
    cr_expect_onwards(sim, worker, task->from + along * (task->to - task->from), task->to);
    const carom_status status = look_at_members(sim, worker, q->island);
    cr_island_ease(worker, q->share);
    task->candidate_count = worker->candidate_count;
    task->candidate = worker->candidate;
    take_margins(&sim->part, task);
    return status;
}

static carom_status find_corners(cr_sim* sim)
{
    const cr_model* model = sim->model;
    uint8_t* rigid = cr_memory_take((size_t)model->bodies.body_count, 1);
    if (!rigid) {
        return CAROM_ERR_MEMORY;
    }
    for (int32_t b = 0; b < model->bodies.body_count; b++) {
        rigid[b] = model->bodies.kind[b] != CR_BODY_CLOTH;
    }
    const carom_status status =
        cr_corners_find(&model->surface, model->bodies.p, rigid, sim->corner);
    sim->corner_shape = status == CAROM_OK ? model->shape : -1;
    cr_memory_free(rigid);
    return status;
}

carom_status cr_substep_ready(cr_sim* sim)
{
    if (sim->model->world.contact != CR_CONTACT_BARRIER ||
        (sim->corner && sim->corner_shape == sim->model->shape)) {
        return CAROM_OK;
    }
    if (!sim->corner) {
        sim->corner_shape = -1; // nothing is known yet, even where the next line is all there was
        sim->corner = cr_memory_take((size_t)sim->model->bodies.vertex_count, 1);
    }
    return sim->corner ? find_corners(sim) : CAROM_ERR_MEMORY;
}

cr_newton_task cr_substep_task(cr_sim* sim, const cr_worker* worker, double h, double from,
                               double to)
{
    const cr_model* model = sim->model;
    return (cr_newton_task){.bodies = &model->bodies,
                            .like = sim->near.like,
                            .surface = &model->surface,
                            .motion = &sim->motion,
                            .h = h,
                            .sheet = model->sheet,
                            .material = model->material,
                            .sheet_node = model->sheet_node,
                            .node_velocity = sim->next.xv,
                            .wind = cr_vec3_load(model->world.wind),
                            .gravity = cr_vec3_load(model->world.gravity),
                            .linear = model->world.elasticity == CR_ELASTICITY_LINEARIZED,
                            .frame_count = worker->frame.count,
                            .frame = worker->frame.items,
                            .member_sheet_count = worker->sheet.count,
                            .member_sheet = worker->sheet.items,
                            .candidate_count = worker->candidate_count,
                            .candidate = worker->candidate,
                            .measured = worker->measured,
                            .obstacle0 = sim->obstacle0,
                            .obstacle1 = sim->obstacle1,
                            .from = from,
                            .to = to,
                            .wish = sim->wish,
                            .node_wish = sim->node_wish,
                            .friction_speed = model->world.friction_speed,
                            .max_iterations = model->world.max_iterations,
                            .budget = model->world.iteration_budget,
                            .tolerance = model->world.tolerance,
                            .stop = sim->stop};
}

static carom_status solve(cr_sim* sim, cr_worker* worker, int32_t index, double h, double from,
                          double to, double share, int queries)
{
    cr_island_result* result = &sim->island.items[index];
    cr_newton_task task = cr_substep_task(sim, worker, h, from, to);
    task.corner = sim->corner;
    task.workers = queries ? sim->worker_count : 1; // those that ask for candidates go one by one
    take_margins(worker->expect, &task);
    query view = {sim, worker, &task, index, share};
    const int first = from == sim->leg.from;
    task.warm_count = first ? sim->state.memory.count : worker->warm.count;
    task.warm = first ? sim->state.memory.items : worker->warm.items;
    if (queries) {
        task.query = find_candidates;
        task.user = &view;
    }
    cr_newton_report report;
    const carom_status status = cr_newton_solve(worker->newton, &task, &report);
    cr_zone_report* total = &result->report;
    total->iterations += report.iterations;
    total->factorisations += report.factorisations;
    total->scalar_count = report.scalar_count;
    total->row_count = report.row_count > total->row_count ? report.row_count : total->row_count;
    total->cramped += report.over_margin;
    result->unfinished |= report.unfinished;
    if (status == CAROM_OK) {
        total->residual = cr_max(total->residual, report.residual);
        total->least_gap = cr_min(total->least_gap, report.least_gap);
        total->weakly_active += report.grazes;
    } else {
        result->missed = report.residual;
    }
    return status;
}

// Impulses of the contacts, and what the next sub-step or step starts from.
static carom_status keep_contacts(cr_sim* sim, cr_worker* worker, int32_t index, double h)
{
    cr_island_result* result = &sim->island.items[index];
    const cr_newton_contact* contacts;
    const int32_t count = cr_newton_contacts(worker->newton, &contacts);
    const int32_t lone = cr_island_first(sim, worker);
    result->memory.count = 0;
    for (int32_t i = 0; i < count; i++) {
        const cr_candidate* c = &worker->candidate[contacts[i].candidate];
        const cr_vec3 n = contacts[i].at.n;
        const cr_contact contact = {
            .body = {cr_body_set_owner(&sim->model->bodies, lone, c->pair.v[0]),
                     cr_body_set_owner(&sim->model->bodies, lone, c->pair.v[3])},
            .point = contacts[i].place,
            .normal = n,
            .impulse = cr_vec3_add_scaled(cr_vec3_scale(contacts[i].lam / h, n),
                                          -c->friction * contacts[i].press / h, contacts[i].dual),
            .island = index};
        const cr_contact_memory memory = {contacts[i].key, contacts[i].lam / (h * h),
                                          cr_vec3_scale(contacts[i].sign, contacts[i].dual)};
        if (!cr_array_push(&result->contact, contact) || !cr_array_push(&result->memory, memory)) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

static carom_status write_down(cr_sim* sim, const cr_worker* worker, int32_t index, double h,
                               double from, double to, int alone, int hits)
{
    cr_record* record = &sim->island.items[index].record;
    cr_record_part part;
    carom_status status = cr_island_record_begin(sim, worker, index, h, from, to, &part);
    const cr_newton_contact* contacts = NULL;
    const int32_t count = alone ? 0 : cr_newton_contacts(worker->newton, &contacts);
    part.alone = alone;
    for (int32_t i = 0; i < count && status == CAROM_OK; i++) {
        const cr_record_row row = {.candidate = worker->candidate[contacts[i].candidate],
                                   .lam = contacts[i].lam,
                                   .say = contacts[i].part.weight,
                                   .rub = contacts[i].part.rub,
                                   .over = contacts[i].part.over,
                                   .points = contacts[i].part.points,
                                   .straight = contacts[i].part.straight};
        status = cr_array_push(&record->row, row) ? CAROM_OK : CAROM_ERR_MEMORY;
    }
    part.row_end = part.idle_end = record->row.count;
    return status == CAROM_OK ? cr_island_record_end(sim, worker, index, hits, &part) : status;
}

// What a sub-step begins with: the swept paths and candidates of the step, or, with sheets, those
// of its own, for the look of the step leaves out what of an island may meet itself.
static carom_status ready_candidates(cr_sim* sim, cr_worker* worker, int32_t index, double h,
                                     double from, double to, double share)
{
    carom_status status;
    if (worker->sheet.count > 0) {
        cr_expect_part(sim, worker, h, from, to);
        status = look_at_members(sim, worker, index);
        worker->measured = 1;
    } else {
        status = cr_island_take_candidates(sim, worker, index);
        worker->expect = &sim->whole;
        worker->measured = from == sim->leg.from;
    }
    cr_island_ease(worker, share);
    return status;
}

static carom_status take(cr_sim* sim, cr_worker* worker, int32_t index, double h, double from,
                         double to, double share, int queries)
{
    cr_island_result* result = &sim->island.items[index];
    const int32_t contacts = result->contact.count, impacts = result->impacts;
    carom_status status = ready_candidates(sim, worker, index, h, from, to, share);
    const int alone = worker->candidate_count == 0 && worker->sheet.count == 0;
    result->again = 0;
    worker->bounced = 0;
    cr_island_aim(sim, worker, h, from == sim->leg.from && to == sim->leg.to ? sim->aimed : NULL);
    if (!alone && status == CAROM_OK) {
        status = cr_island_impacts(sim, worker, index, h, from, to);
        if (status == CAROM_OK) {
            status = solve(sim, worker, index, h, from, to, share, queries);
        }
        if (status == CAROM_OK && result->impacts > impacts && worker->sheet.count > 0 &&
            cr_carried_found(sim, worker, h)) {
            result->again = 1;
        } else if (status == CAROM_OK) {
            status = keep_contacts(sim, worker, index, h);
        }
    }
    if (status != CAROM_OK || result->again) {
        result->contact.count = contacts;
        result->impacts = impacts;
        return status;
    }
    cr_island_velocities(sim, worker, h);
    worker->warm.count = 0;
    for (int32_t i = 0; i < result->memory.count && !alone; i++) {
        if (!cr_array_push(&worker->warm, result->memory.items[i])) {
            return CAROM_ERR_MEMORY;
        }
    }
    if (sim->keeps) {
        status = write_down(sim, worker, index, h, from, to, alone, result->impacts > impacts);
    }
    if (status == CAROM_OK) {
        cr_island_advance(sim, worker, h, from, to);
    }
    return status;
}

static carom_status substep(cr_sim* sim, cr_worker* worker, int32_t index, double h, double from,
                            double to, double share, int queries)
{
    carom_status status;
    cr_carried_forget(sim, worker);
    do {
        status = take(sim, worker, index, h, from, to, share, queries);
    } while (status == CAROM_OK && sim->island.items[index].again);
    return status;
}

static void go_through(cr_sim* sim, cr_worker* worker, int32_t index, int queries)
{
    const int32_t finest = sim->model->world.max_halvings;
    const int64_t end = (int64_t)1 << finest; // of `at`, in the shortest sub-steps
    cr_island_result* result = &sim->island.items[index];
    const int32_t first = worker->sheet.count > 0 ? 0 : cr_island_whirl(sim, worker);
    int32_t halvings = first, resort = 0;
    result->parts = 0;
    for (int64_t at = 0; at < end;) {
        const int64_t size = end >> halvings;
        const double from = cr_sim_along(&sim->leg, (double)at / (double)end);
        const double to = cr_sim_along(&sim->leg, (double)(at + size) / (double)end);
        result->status = substep(sim, worker, index, ldexp(sim->leg.h, -halvings), from, to,
                                 relaxed[resort], queries);
        if (result->status == CAROM_ERR_NO_CONVERGENCE) {
            if (!queries && result->report.cramped > 0) {
                result->hard = 1;
                return;
            }
            if (halvings < finest) {
                halvings++;
                continue;
            }
            if (resort < MOST_RELAXED && cr_island_rubs(worker)) {
                resort++;
                result->eased = 1;
                continue;
            }
        }
        result->parts++;
        if (result->status != CAROM_OK) {
            return;
        }
        at += size;
        result->strayed |= cr_expect_strayed(sim, worker);
        if (halvings > first && (at & (2 * size - 1)) == 0) {
            halvings--;
        }
    }
}

// What has strayed gets its reach after the last sub-step: all of them take the candidates of the
// step, which were looked for within the reach of before. Those beyond it each sub-step found among
// the members; the next look of the step tells whether somebody else is there.
void cr_substep_run(cr_sim* sim, cr_worker* worker, int32_t index, int queries)
{
    if (cr_island_open(sim, worker, index) != CAROM_OK) {
        return;
    }
    cr_island_rewind(sim, worker, index);
    sim->island.items[index].looked = queries;
    if (queries) { // one island at a time
        cr_expect_range(sim, worker);
    }
    go_through(sim, worker, index, queries);
    cr_expect_admit(sim, worker);
}
