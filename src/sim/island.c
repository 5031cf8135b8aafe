#include "bodies/spin_held.h"
#include "core/assert.h"
#include "dynamics/targets.h"
#include "sim/carried.h"
#include "sim/expect.h"
#include "sim/parts.h"

cr_target cr_island_target(const cr_sim* sim, int32_t f, double h, cr_quat q, cr_vec3 v, cr_vec3 om)
{
    const cr_model* model = sim->model;
    const cr_body_set* bodies = &model->bodies;
    const int32_t b = bodies->frame_body[f];
    const cr_action action = {.gravity = cr_vec3_load(model->world.gravity),
                              .force = sim->force_now[f],
                              .torque = sim->torque_now[f],
                              .linear_damping = model->linear_damping[b],
                              .angular_damping = model->angular_damping[b]};
    return cr_targets_rigid(bodies->mass[f], cr_vec3_load(bodies->inertia + 3 * f), bodies->lock[f],
                            h, &action, q, v, om);
}

void cr_island_aim(cr_sim* sim, const cr_worker* worker, double h, const cr_target* known)
{
    const cr_model* model = sim->model;
    const cr_body_set* bodies = &model->bodies;
    cr_motion* motion = &sim->motion;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i];
        const cr_quat q = cr_quat_load(sim->next.q + 4 * f);
        const cr_vec3 v = cr_vec3_load(sim->next.v + 3 * f);
        const cr_target target =
            known ? known[f]
                  : cr_island_target(sim, f, h, q, v, cr_vec3_load(sim->next.om + 3 * f));
        motion->r0[f] = cr_quat_to_matrix(q);
        motion->t0[f] = cr_vec3_load(sim->next.t + 3 * f);
        sim->q_target[f] = target.q;
        motion->rp[f] = cr_quat_to_matrix(target.q);
        motion->ut[f] = target.u;
        motion->turn[f] = cr_vec3_scale(h, target.rate);
        motion->guess[f] = cr_vec3_scale(h, v);
        motion->v1[f] = target.v;
        motion->om1[f] = target.om;
        motion->a[f] = target.a;
        motion->torque[f] = target.torque;
        motion->v0[f] = v;
        motion->om_free[f] = target.om;
        motion->w[f] = (cr_vec3){0, 0, 0};
        motion->u[f] = target.u;
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        for (int32_t n = model->sheet_node[s]; n < model->sheet_node[s + 1]; n++) {
            const cr_vec3 v = cr_vec3_load(sim->next.xv + 3 * n);
            motion->x0[n] = cr_vec3_load(sim->next.x + 3 * n);
            motion->drift[n] = cr_vec3_scale(h, v);
            motion->dt[n] = cr_targets_node(
                bodies->node_mass[n], h, cr_vec3_load(model->world.gravity), sim->node_force_now[n],
                model->linear_damping[model->sheet_body[s]], v);
            motion->d[n] = motion->dt[n];
        }
    }
}

void cr_island_velocities(cr_sim* sim, const cr_worker* worker, double h)
{
    const cr_body_set* bodies = &sim->model->bodies;
    const cr_motion* motion = &sim->motion;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i];
        cr_quat q;
        const cr_vec3 inertia = cr_vec3_load(bodies->inertia + 3 * f);
        if (bodies->lock[f] >> 3) {
            cr_spin_held_update(inertia, bodies->lock[f] >> 3, h, sim->q_target[f], motion->om1[f],
                                motion->w[f], &q, &motion->om[f]);
        } else {
            cr_spin_update(inertia, h, sim->q_target[f], motion->om1[f], motion->w[f], &q,
                           &motion->om[f]);
        }
        const cr_vec3 push = cr_vec3_sub(motion->u[f], motion->ut[f]);
        motion->v[f] = cr_vec3_add_scaled(motion->v1[f], 1.0 / h, push);
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        for (int32_t n = sim->model->sheet_node[s]; n < sim->model->sheet_node[s + 1]; n++) {
            motion->xv[n] =
                bodies->node_pinned[n] ? (cr_vec3){0, 0, 0} : cr_vec3_scale(1.0 / h, motion->d[n]);
        }
    }
}

double cr_island_turn(const cr_sim* sim, const cr_worker* worker, double h, const double* om)
{
    const cr_body_set* bodies = &sim->model->bodies;
    double most = 0.0;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i];
        if (bodies->extent[f] > cr_body_set_reach(bodies, bodies->frame_body[f])) {
            const cr_vec3 spin = om ? cr_vec3_load(om + 3 * f) : sim->motion.om[f];
            most = cr_max(most, h * cr_vec3_norm(spin));
        }
    }
    return most;
}

// Whether what the balance leaves is no gain. Velocities are those of the end of the part after it.
static int is_fair(cr_sim* sim, const cr_worker* worker, double h)
{
    cr_island_velocities(sim, worker, h);
    if (worker->balance.count == 0) {
        return 1;
    }
    const cr_balance_task before = cr_island_balance(sim, worker, h);
    if (!(cr_balance_run(&before) > 0.0)) {
        return 1;
    }
    const cr_balance_task after = cr_island_balance(sim, worker, h);
    return !cr_balance_fails(&after);
}

// Where the zone let the members go becomes where they are.
void cr_island_advance(cr_sim* sim, const cr_worker* worker, double h, double from, double to)
{
    const cr_body_set* bodies = &sim->model->bodies;
    const cr_motion* motion = &sim->motion;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i];
        const cr_quat q = cr_quat_mul(sim->q_target[f], cr_quat_from_rotation(motion->w[f]));
        cr_vec3_store(sim->next.v + 3 * f, motion->v[f]);
        cr_vec3_store(sim->next.t + 3 * f, cr_vec3_add(motion->t0[f], motion->u[f]));
        cr_quat_store(sim->next.q + 4 * f, cr_quat_normalize(q));
        cr_vec3_store(sim->next.om + 3 * f, motion->om[f]);
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        for (int32_t n = sim->model->sheet_node[s]; n < sim->model->sheet_node[s + 1]; n++) {
            if (bodies->node_pinned[n]) {
                const int32_t v = bodies->node_vertex[n];
                const cr_vec3 whole = cr_vec3_sub(sim->obstacle1[v], sim->obstacle0[v]);
                const cr_vec3 end = cr_vec3_add_scaled(sim->obstacle0[v], to, whole);
                const cr_vec3 d = cr_vec3_scale(to - from, whole);
                cr_vec3_store(sim->next.x + 3 * n, end);
                cr_vec3_store(sim->next.xv + 3 * n, cr_vec3_scale(1.0 / h, d));
            } else {
                cr_vec3_store(sim->next.x + 3 * n, cr_vec3_add(motion->x0[n], motion->d[n]));
                cr_vec3_store(sim->next.xv + 3 * n, motion->xv[n]);
            }
        }
    }
}

// Impulses of the zone's rows, and what the next part or step will look for first.
static carom_status keep_contacts(cr_sim* sim, cr_worker* worker, int32_t index, double h)
{
    cr_island_result* result = &sim->island.items[index];
    const cr_zone_row* rows;
    const int32_t count = cr_zone_rows(worker->zone, &rows), lone = cr_island_first(sim, worker);
    result->memory.count = 0;
    for (int32_t i = 0; i < count; i++) {
        CR_ASSERT(worker->candidate); // rows are of candidates
        const cr_candidate* c = &worker->candidate[rows[i].candidate];
        const cr_contact contact = {
            .body = {cr_body_set_owner(&sim->model->bodies, lone, c->pair.v[0]),
                     cr_body_set_owner(&sim->model->bodies, lone, c->pair.v[3])},
            .point = rows[i].place,
            .normal = rows[i].at.n,
            .impulse = cr_vec3_scale(rows[i].lam / h,
                                     cr_vec3_add_scaled(rows[i].at.n, -c->friction, rows[i].rub)),
            .island = index};
        const cr_contact_memory memory = {.key = rows[i].key, .force = rows[i].lam / (h * h)};
        if (!cr_array_push(&result->contact, contact) || !cr_array_push(&result->memory, memory)) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

// A contact under the force F stands eps F h^2 deep. If that h were a part's, a heap at rest that
// is suddenly stepped in 2^k parts would be lifted by nearly all of its give, and its weight times
// that is energy. So eps grows by 4^k there, and the depth is that of the whole step; but to no
// more than 1/m, beyond which nothing but the wall at the end of its room would hold what comes.
static double soft_by(const cr_sim* sim, double h)
{
    const double parts = sim->model->world.dt / h;
    return cr_max(1.0, cr_min(parts * parts, 1.0 / sim->model->world.compliance));
}

// But a contact stops what it meets, in one part, but for eps m of its speed: beyond `softest` it
// would be a spring that throws back. In shorter parts than that, contacts that are not pressed
// where the part begins become as much stiffer again. They may be softer in the next, for then
// they hold no more than they did.
static const double softest = 1.0 / 64; // 32 parts at the default compliance

static double meets_by(const cr_sim* sim, double h)
{
    const double parts = sim->model->world.dt / h, most = softest / sim->model->world.compliance;
    return cr_max(1.0, cr_min(parts * parts, most / parts * (most / parts)));
}

cr_zone_task cr_island_task(const cr_sim* sim, const cr_worker* worker, double h, double from,
                            double to)
{
    const cr_model* model = sim->model;
    return (cr_zone_task){
        .bodies = &model->bodies,
        .motion = (cr_motion*)&sim->motion,
        .h = h,
        .soft = worker->stiff ? meets_by(sim, h) : soft_by(sim, h),
        .meets = meets_by(sim, h),
        .sheet = model->sheet,
        .material = model->material,
        .sheet_node = model->sheet_node,
        .node_velocity = sim->next.xv,
        .wind = cr_vec3_load(model->world.wind),
        .frame_count = worker->frame.count,
        .frame = worker->frame.items,
        .member_sheet_count = worker->sheet.count,
        .member_sheet = worker->sheet.items,
        .obstacle0 = sim->obstacle0,
        .obstacle1 = sim->obstacle1,
        .from = from,
        .to = to,
        .friction_speed = model->world.friction_speed,
        .max_iterations = model->world.max_iterations,
        .stop = sim->stop,
        .whole = model->world.one_zone,
    };
}

static carom_status solve_part(cr_sim* sim, cr_worker* worker, int32_t index, double h, double from,
                               double to, const cr_contact_memory* warm, int32_t warm_count)
{
    cr_island_result* result = &sim->island.items[index];
    const cr_expect* expect = worker->expect;
    cr_zone_task task = cr_island_task(sim, worker, h, from, to);
    task.candidate_count = worker->candidate_count;
    task.candidate = worker->candidate;
    task.like = sim->near.like;
    task.warm_count = warm_count;
    task.warm = warm;
    task.carry = expect->carry;
    task.start = expect->start;
    task.ahead = expect->ahead;
    task.node_reach = expect->node_reach;
    task.wants = sim->wants;
    task.wish = sim->wish;
    task.most_cramped = worker->most_cramped;
    task.max_iterations = worker->most_iterations;
    task.hopeful = worker->hopeful;
    cr_parts_view view = {sim, worker, &task};
    if (worker->looks) {
        task.node_wish = sim->node_wish;
        task.look = cr_parts_look;
        task.user = &view;
    }
    cr_zone_report report = {0};
    const carom_status status = cr_zone_solve(worker->zone, &task, &report);
    result->report.iterations += report.iterations;
    result->report.strides += report.strides;
    result->report.factorisations += report.factorisations;
    result->report.weakly_active += report.weakly_active;
    result->report.scalar_count = report.scalar_count;
    result->report.row_count =
        report.row_count > result->report.row_count ? report.row_count : result->report.row_count;
    result->report.cramped += report.cramped;
    if (status == CAROM_OK) {
        result->report.residual = cr_max(result->report.residual, report.residual);
    } else {
        result->missed = report.residual;
    }
    result->report.least_gap = cr_min(result->report.least_gap, report.least_gap);
    return status;
}

static int write_rows(const cr_worker* worker, int32_t count, const cr_zone_row* rows,
                      cr_record* record)
{
    int ok = 1;
    for (int32_t i = 0; i < count && ok; i++) {
        CR_ASSERT(worker->candidate); // rows are of candidates
        cr_record_row row = {.candidate = worker->candidate[rows[i].candidate],
                             .lam = rows[i].lam,
                             .say = rows[i].say};
        row.candidate.compliance = rows[i].compliance;
        row.candidate.room = rows[i].room;
        ok = cr_array_push(&record->row, row);
    }
    return ok;
}

// Writes down a part that was solved, before its end becomes the members' place.
carom_status cr_island_record_begin(cr_sim* sim, const cr_worker* worker, int32_t index, double h,
                                    double from, double to, cr_record_part* part)
{
    const cr_model* model = sim->model;
    const cr_motion* motion = &sim->motion;
    cr_record* record = &sim->island.items[index].record;
    *part = (cr_record_part){.h = h,
                             .from = from,
                             .to = to,
                             .bounced = worker->bounced,
                             .frame_begin = record->frame.count,
                             .sheet_begin = record->sheet.count,
                             .node_begin = record->node.count,
                             .row_begin = record->row.count};
    int ok = 1;
    for (int32_t i = 0; i < worker->frame.count && ok; i++) {
        const int32_t f = worker->frame.items[i];
        const cr_record_frame frame = {.frame = f,
                                       .t = cr_vec3_load(sim->next.t + 3 * f),
                                       .v = cr_vec3_load(sim->next.v + 3 * f),
                                       .om = cr_vec3_load(sim->next.om + 3 * f),
                                       .q = cr_quat_load(sim->next.q + 4 * f),
                                       .force = sim->force_now[f],
                                       .torque = sim->torque_now[f],
                                       .w = motion->w[f],
                                       .u = motion->u[f]};
        ok = cr_array_push(&record->frame, frame);
    }
    for (int32_t i = 0; i < worker->sheet.count && ok; i++) {
        const int32_t s = worker->sheet.items[i];
        ok = cr_array_push(&record->sheet, s);
        for (int32_t n = model->sheet_node[s]; n < model->sheet_node[s + 1] && ok; n++) {
            const cr_record_node node = {.x = cr_vec3_load(sim->next.x + 3 * n),
                                         .v = cr_vec3_load(sim->next.xv + 3 * n),
                                         .force = sim->node_force_now[n],
                                         .d = motion->d[n]};
            ok = cr_array_push(&record->node, node);
        }
    }
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}

carom_status cr_island_record_end(cr_sim* sim, const cr_worker* worker, int32_t index, int hits,
                                  cr_record_part* part)
{
    cr_record* record = &sim->island.items[index].record;
    carom_status status = CAROM_OK;
    part->impact_begin = record->impact.count;
    if (hits) {
        status = cr_events_save(worker->events, &record->impact);
    }
    part->impact_end = record->impact.count;
    part->frame_end = record->frame.count;
    part->sheet_end = record->sheet.count;
    return status == CAROM_OK && !cr_array_push(&record->part, *part) ? CAROM_ERR_MEMORY : status;
}

static carom_status write_down(cr_sim* sim, const cr_worker* worker, int32_t index, double h,
                               double from, double to, int alone, int hits)
{
    cr_record* record = &sim->island.items[index].record;
    cr_record_part part;
    carom_status status = cr_island_record_begin(sim, worker, index, h, from, to, &part);
    if (status != CAROM_OK) {
        return status;
    }
    part.alone = alone;
    const cr_zone_row *rows = NULL, *idle = NULL;
    const int32_t row_count = alone ? 0 : cr_zone_rows(worker->zone, &rows);
    const int32_t idle_count = alone ? 0 : cr_zone_idle(worker->zone, &idle, &part.crowded);
    int ok = write_rows(worker, row_count, rows, record);
    part.row_end = record->row.count;
    ok = ok && write_rows(worker, idle_count, idle, record);
    part.idle_end = record->row.count;
    return ok ? cr_island_record_end(sim, worker, index, hits, &part) : CAROM_ERR_MEMORY;
}

cr_events_task cr_island_events(cr_sim* sim, const cr_worker* worker, double h, double from,
                                double to)
{
    const cr_model* model = sim->model;
    return (cr_events_task){
        .bodies = &model->bodies,
        .motion = &sim->motion,
        .q_target = sim->q_target,
        .q = sim->next.q,
        .v = sim->next.v,
        .om = sim->next.om,
        .h = h,
        .frame_count = worker->frame.count,
        .frame = worker->frame.items,
        .obstacle0 = sim->obstacle0,
        .obstacle1 = sim->obstacle1,
        .from = from,
        .to = to,
        .damping = model->linear_damping,
        .friction_speed = model->world.friction_speed,
        .bounce_floor = model->world.bounce_floor,
        .max_events = model->world.max_events,
    };
}

// Impacts on the way to the targets, which are others after them.
carom_status cr_island_impacts(cr_sim* sim, cr_worker* worker, int32_t index, double h, double from,
                               double to)
{
    const cr_model* model = sim->model;
    cr_island_result* result = &sim->island.items[index];
    cr_events_task task = cr_island_events(sim, worker, h, from, to);
    task.candidate_count = worker->candidate_count;
    task.candidate = worker->candidate;
    task.corner = sim->corner;
    task.like = sim->near.like;
    task.left = worker->sheet.count > 0 ? sim->left : NULL;
    if (from == sim->leg.from || worker->expect == &sim->part) { // other parts begin elsewhere
        task.closest = worker->closest;
    }
    cr_events_report report;
    const carom_status status = cr_events_run(worker->events, &task, &report);
    const cr_events_contact* hits;
    const int32_t count = status == CAROM_OK ? cr_events_contacts(worker->events, &hits) : 0;
    result->impacts += report.impacts;
    if (status == CAROM_OK && worker->sheet.count > 0) {
        cr_carried_hits(sim, worker);
    }
    for (int32_t i = 0; i < count; i++) {
        CR_ASSERT(task.candidate); // hits are of candidates
        const cr_pair* pair = &task.candidate[hits[i].candidate].pair;
        worker->bounced |= task.candidate[hits[i].candidate].restitution > 0.0;
        const cr_contact contact = {
            .body = {model->bodies.vertex_body[pair->v[0]], model->bodies.vertex_body[pair->v[3]]},
            .point = hits[i].place,
            .normal = hits[i].normal,
            .impulse = hits[i].impulse,
            .island = index};
        if (!cr_array_push(&result->contact, contact)) {
            return CAROM_ERR_MEMORY;
        }
    }
    return status;
}

carom_status cr_island_part(cr_sim* sim, cr_worker* worker, int32_t index, double h, double from,
                            double to)
{
    cr_island_result* result = &sim->island.items[index];
    const int alone = worker->candidate_count == 0 && worker->sheet.count == 0;
    const int32_t impacts = result->impacts;
    const int32_t contacts = result->contact.count;
    const int first = from == sim->leg.from;
    carom_status status = CAROM_OK;
    result->again = result->gains = 0;
    result->turn = 0.0;
    cr_island_aim(sim, worker, h, first && to == sim->leg.to ? sim->aimed : NULL);
    worker->balance.count = worker->bounced = 0;
    cr_expect_forget(sim, worker);
    if (!alone) {
        status = cr_island_impacts(sim, worker, index, h, from, to);
        if (status == CAROM_OK) {
            status = solve_part(sim, worker, index, h, from, to,
                                first ? sim->state.memory.items : worker->warm.items,
                                first ? sim->state.memory.count : worker->warm.count);
        }
        if (status == CAROM_OK && result->impacts > impacts && worker->sheet.count > 0 &&
            cr_carried_found(sim, worker, h)) {
            result->again = 1;
            result->impacts = impacts;
            result->contact.count = contacts;
            return CAROM_OK;
        }
        if (status == CAROM_OK) {
            status = keep_contacts(sim, worker, index, h);
        }
        if (status == CAROM_OK) {
            status = cr_island_balance_gather(sim, worker);
        }
        if (status != CAROM_OK) {
            return status;
        }
    }
    result->gains = !is_fair(sim, worker, h);
    result->turn = cr_island_turn(sim, worker, h, NULL);
    if (worker->fair && (result->gains || result->turn > worker->most_turn)) {
        return CAROM_ERR_NO_CONVERGENCE;
    }
    if (!alone) {
        worker->warm.count = 0;
        for (int32_t i = 0; i < result->memory.count; i++) {
            if (!cr_array_push(&worker->warm, result->memory.items[i])) {
                return CAROM_ERR_MEMORY;
            }
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
