#include "bodies/spin_held.h"
#include "core/assert.h"
#include "dynamics/targets.h"
#include "sim/carried.h"
#include "sim/expect.h"
#include "sim/parts.h"
#include <string.h>

// A zone that does not converge for want of room is tried this often with more before it is split.
enum { MOST_WIDENINGS = 6 };
// After so many cramped iterates in a row a zone asks for a widening, while there are any left.
// Cloth that wants more room once is taken in parts, where it has it.
enum { MOST_CRAMPED = 3, MOST_CRAMPED_CLOTH = 1 };
// rad: a step in which a body turns by more is taken in parts, at most 2^CR_SIM_FAIR. A body that
// is uneven has no mean spin beyond that, so its free rotation does not keep its energy
// (docs/rotation.md), and where it touches something the gap at the end of the step has several
// places to be zero at, among which round-off would choose. What it turns by is known before the
// step but for impacts and friction in it: those may bring it to `most_turned`.
static const double most_turn = 1.0, most_turned = CR_SIM_TURNED;
// So often a body's wish where to go is believed.
enum { MOST_WISHES = 2 };

static cr_vec3 gravity(const cr_model* model)
{
    return cr_vec3_load(model->world.gravity);
}

// Puts the members back to where the step began.
static void rewind_members(cr_sim* sim, const cr_worker* worker)
{
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i];
        memcpy(sim->next.t + 3 * f, sim->state.t + 3 * f, 3 * sizeof(double));
        memcpy(sim->next.q + 4 * f, sim->state.q + 4 * f, 4 * sizeof(double));
        memcpy(sim->next.v + 3 * f, sim->state.v + 3 * f, 3 * sizeof(double));
        memcpy(sim->next.om + 3 * f, sim->state.om + 3 * f, 3 * sizeof(double));
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t s = worker->sheet.items[i];
        const int32_t from = sim->model->sheet_node[s], to = sim->model->sheet_node[s + 1];
        const size_t size = 3 * (size_t)(to - from) * sizeof(double);
        memcpy(sim->next.x + 3 * from, sim->state.x + 3 * from, size);
        memcpy(sim->next.xv + 3 * from, sim->state.xv + 3 * from, size);
    }
}

cr_target cr_island_target(const cr_sim* sim, int32_t f, double h, cr_quat q, cr_vec3 v, cr_vec3 om)
{
    const cr_model* model = sim->model;
    const cr_body_set* bodies = &model->bodies;
    const int32_t b = bodies->frame_body[f];
    const cr_action action = {.gravity = gravity(model),
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
            motion->dt[n] =
                cr_targets_node(bodies->node_mass[n], h, gravity(model), sim->node_force_now[n],
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

// A member, to guess by whose a vertex is; -1: there is none but cloth.
static int32_t first_body(const cr_sim* sim, const cr_worker* worker)
{
    return worker->frame.count > 0 ? sim->model->bodies.frame_body[worker->frame.items[0]] : -1;
}

// What stands for a sheet among the frames of a row until it is known whether that is held.
static int32_t of_sheet(int32_t sheet)
{
    return -2 - sheet;
}

int cr_island_balance_row(const cr_model* model, const cr_candidate* candidate, int32_t guess,
                          double lam, cr_balance_row* row)
{
    *row = (cr_balance_row){.lam = lam, .eps = candidate->compliance, .room = candidate->room};
    for (int side = 0; side < 2; side++) {
        const int32_t b = cr_body_set_owner(&model->bodies, guess, candidate->pair.v[3 * side]);
        if (model->bodies.kind[b] == CR_BODY_KINEMATIC) {
            return 0;
        }
        row->frame[side] = model->body_sheet[b] >= 0                ? of_sheet(model->body_sheet[b])
                           : model->bodies.kind[b] == CR_BODY_RIGID ? model->bodies.frame[b]
                                                                    : -1;
    }
    return 1;
}

// Whether nothing but gravity and forces does work on a sheet.
static int left_alone(const cr_sim* sim, int32_t sheet)
{
    const cr_model* model = sim->model;
    const cr_cloth_material* material = &model->material[sheet];
    const int windy = cr_vec3_norm2(cr_vec3_load(model->world.wind)) > 0.0;
    if (windy && (material->drag_normal > 0.0 || material->drag_tangent > 0.0)) {
        return 0;
    }
    for (int32_t n = model->sheet_node[sheet]; n < model->sheet_node[sheet + 1]; n++) {
        if (model->bodies.node_pinned[n] && (model->node_script[n] >= 0 || sim->node_driven[n])) {
            return 0;
        }
    }
    return 1;
}

int cr_island_balance_open(const cr_sim* sim, cr_worker* worker, carom_status* status)
{
    worker->balance.count = 0;
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        if (sim->model->world.cloth_paper || !left_alone(sim, worker->sheet.items[i])) {
            return 0;
        }
    }
    const int32_t scratch =
        cr_balance_sheet_scratch(sim->model->sheet, worker->sheet.items, worker->sheet.count);
    const int32_t labels = sim->model->bodies.frame_count + sim->model->sheet_count;
    if (worker->sheet.count > 0 && (!cr_array_reserve(&worker->sheet_scratch, scratch) ||
                                    !cr_array_reserve(&worker->clump_of, labels) ||
                                    !cr_array_reserve(&worker->clump, worker->sheet.count))) {
        *status = CAROM_ERR_MEMORY;
        return 0;
    }
    return 1;
}

static int is_pinned(const cr_model* model, int32_t sheet)
{
    int pinned = 0;
    for (int32_t n = model->sheet_node[sheet]; n < model->sheet_node[sheet + 1]; n++) {
        pinned |= model->bodies.node_pinned[n];
    }
    return pinned;
}

// Whether a sheet hangs or lies on something that does not move, or on a sheet that does.
static int is_held(const cr_model* model, const cr_worker* worker, int32_t sheet)
{
    int held = is_pinned(model, sheet);
    for (int32_t i = 0; i < worker->balance.count; i++) {
        const int32_t* frame = worker->balance.items[i].frame;
        held |= (frame[0] == of_sheet(sheet) && frame[1] == -1) ||
                (frame[1] == of_sheet(sheet) && frame[0] == -1);
    }
    return held;
}

// The label of one side of a row, which says what that is braked against (balance.h): of a sheet,
// or of a frame that may move as it likes; NULL: it has none.
static int32_t* label_of(const cr_sim* sim, const cr_worker* worker, int32_t frame)
{
    const cr_body_set* bodies = &sim->model->bodies;
    const int32_t at = frame < -1 ? bodies->frame_count + of_sheet(frame) : frame;
    return at < 0 || (frame >= 0 && bodies->lock[frame]) ? NULL : &worker->clump_of.items[at];
}

// Sheets that touch something are labelled, each by itself at first. Those that are held then have
// their own label, and their contacts become such with what holds them, which they are as good as.
static void label_sheets(const cr_sim* sim, cr_worker* worker)
{
    for (int32_t i = 0; i < worker->frame.count; i++) {
        worker->clump_of.items[worker->frame.items[i]] = CR_BALANCE_APART;
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        int32_t* label = label_of(sim, worker, of_sheet(worker->sheet.items[i]));
        *label = CR_BALANCE_APART;
        for (int32_t k = 0; k < worker->balance.count; k++) {
            const int32_t* frame = worker->balance.items[k].frame;
            const int32_t own = of_sheet(worker->sheet.items[i]);
            *label = frame[0] == own || frame[1] == own ? i : *label;
        }
    }
    int changed = 1;
    for (int32_t round = 0; changed && round < worker->sheet.count; round++) {
        changed = 0;
        for (int32_t i = 0; i < worker->sheet.count; i++) {
            const int32_t sheet = worker->sheet.items[i];
            int32_t* label = label_of(sim, worker, of_sheet(sheet));
            const int held = *label >= 0 && is_held(sim->model, worker, sheet);
            for (int32_t k = 0; k < worker->balance.count && held; k++) {
                int32_t* frame = worker->balance.items[k].frame;
                frame[0] = frame[0] == of_sheet(sheet) ? -1 : frame[0];
                frame[1] = frame[1] == of_sheet(sheet) ? -1 : frame[1];
            }
            *label = held ? CR_BALANCE_GROUND : *label;
            changed |= held;
        }
    }
}

// Who hangs together by contacts with free sheets takes the label of the first of them.
static void join_clumps(const cr_sim* sim, const cr_worker* worker)
{
    const int32_t most = worker->frame.count + worker->sheet.count;
    int changed = 1;
    for (int32_t round = 0; changed && round < most; round++) {
        changed = 0;
        for (int32_t i = 0; i < worker->balance.count; i++) {
            const int32_t* frame = worker->balance.items[i].frame;
            int32_t *a = label_of(sim, worker, frame[0]), *b = label_of(sim, worker, frame[1]);
            if (a && b && *a != *b && (frame[0] < -1 || frame[1] < -1)) {
                *a = *b = *a < 0 || (*b >= 0 && *b < *a) ? *b : *a;
                changed = 1;
            }
        }
    }
}

// Frames are braked against frames and what does not move, or what holds a sheet. Against a sheet
// that nothing holds they are not, for its momentum would be lost; they make a clump with it.
int cr_island_balance_close(const cr_sim* sim, cr_worker* worker)
{
    int brakes = 0;
    worker->clump.count = 0;
    if (worker->sheet.count > 0) {
        label_sheets(sim, worker);
        join_clumps(sim, worker);
    }
    for (int32_t i = 0; i < worker->sheet.count; i++) {
        const int32_t label = *label_of(sim, worker, of_sheet(worker->sheet.items[i]));
        worker->clump.count = label >= 0 ? worker->sheet.count : worker->clump.count;
        brakes |= label != CR_BALANCE_APART;
    }
    for (int32_t i = 0; i < worker->balance.count; i++) {
        int32_t* frame = worker->balance.items[i].frame;
        if (frame[0] < -1 || frame[1] < -1) {
            frame[0] = frame[1] = -1;
        }
        brakes |= frame[0] >= 0 || frame[1] >= 0;
    }
    return brakes;
}

cr_balance_sheets cr_island_sheets(cr_sim* sim, const cr_worker* worker, double h)
{
    const cr_model* model = sim->model;
    return (cr_balance_sheets){.bodies = &model->bodies,
                               .motion = &sim->motion,
                               .h = h,
                               .gravity = gravity(model),
                               .sheet = model->sheet,
                               .material = model->material,
                               .sheet_node = model->sheet_node,
                               .velocity = sim->next.xv,
                               .force = sim->node_force_now,
                               .count = worker->sheet.count,
                               .member = worker->sheet.items,
                               .scratch = worker->sheet_scratch.items};
}

cr_balance_task cr_island_balance(cr_sim* sim, const cr_worker* worker, double h)
{
    const cr_balance_sheets sheets = cr_island_sheets(sim, worker, h);
    const int32_t frames = sim->model->bodies.frame_count;
    const int any = worker->sheet.count > 0;
    return (cr_balance_task){.bodies = &sim->model->bodies,
                             .motion = &sim->motion,
                             .h = h,
                             .bounced = worker->bounced,
                             .frame_count = worker->frame.count,
                             .frame = worker->frame.items,
                             .row_count = worker->balance.count,
                             .row = worker->balance.items,
                             .more = cr_balance_sheet_gain(&sheets),
                             .fall = cr_balance_sheet_fall(&sheets),
                             .sheet_count = worker->sheet.count,
                             .sheet = worker->sheet.items,
                             .sheet_node = sim->model->sheet_node,
                             .sheet_clump = any ? worker->clump_of.items + frames : NULL,
                             .frame_clump = worker->clump_of.items,
                             .clump_count = worker->clump.count,
                             .clump = worker->clump.items};
}

// The rows of the zone just solved: none where a moving obstacle takes part, whose work is not in
// the balance.
static carom_status gather_balance(cr_sim* sim, cr_worker* worker)
{
    const cr_zone_row* rows;
    const int32_t count = cr_zone_rows(worker->zone, &rows);
    carom_status status = CAROM_OK;
    if (!cr_island_balance_open(sim, worker, &status)) {
        return status;
    }
    for (int32_t i = 0; i < count; i++) {
        CR_ASSERT(worker->candidate); // rows are of candidates
        cr_candidate candidate = worker->candidate[rows[i].candidate];
        cr_balance_row row;
        candidate.compliance = rows[i].compliance;
        candidate.room = rows[i].room;
        if (!cr_island_balance_row(sim->model, &candidate, first_body(sim, worker), rows[i].lam,
                                   &row)) {
            worker->balance.count = 0;
            return CAROM_OK;
        }
        if (!cr_array_push(&worker->balance, row)) {
            return CAROM_ERR_MEMORY;
        }
    }
    if (!cr_island_balance_close(sim, worker)) {
        worker->balance.count = 0;
    }
    return CAROM_OK;
}

// rad, by which the members turn in h at these spins (NULL: those of motion), at most; for exact
// balls it is all the same.
static double turn_in(const cr_sim* sim, const cr_worker* worker, double h, const double* om)
{
    const cr_body_set* bodies = &sim->model->bodies;
    double most = 0.0;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        const int32_t f = worker->frame.items[i];
        if (bodies->extent[f] > bodies->radius[bodies->frame_body[f]]) {
            const cr_vec3 spin = om ? cr_vec3_load(om + 3 * f) : sim->motion.om[f];
            most = cr_max(most, h * cr_vec3_norm(spin));
        }
    }
    return most;
}

// So often a step is halved, at most, for what turns. Parts of a whirl leave the way of the whole
// step, which is straight; where the look around has been widened often for that, it is let be.
static int32_t most_fair(const cr_sim* sim)
{
    const int32_t most = sim->retries < MOST_WIDENINGS - 1 ? sim->model->world.max_halvings : 0;
    return most < CR_SIM_FAIR ? most : CR_SIM_FAIR;
}

// How often a stretch halved so often already has to be halved in all for this turn in one of its
// parts to be no more than most_turn.
static int32_t halvings_for(const cr_sim* sim, int32_t halvings, double turn)
{
    const int32_t most = most_fair(sim);
    for (double left = turn; halvings < most && left > most_turn; left *= 0.5) {
        halvings++;
    }
    return halvings;
}

int32_t cr_island_whirl(const cr_sim* sim, const cr_worker* worker)
{
    return halvings_for(sim, 0, turn_in(sim, worker, sim->leg.h, sim->state.om));
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
static void advance(cr_sim* sim, const cr_worker* worker, double h, double from, double to)
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
    const int32_t count = cr_zone_rows(worker->zone, &rows), lone = first_body(sim, worker);
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
        const cr_contact_memory memory = {rows[i].key, rows[i].lam / (h * h)};
        if (!cr_array_push(&result->contact, contact) || !cr_array_push(&result->memory, memory)) {
            return CAROM_ERR_MEMORY;
        }
    }
    return CAROM_OK;
}

// A contact under the force F stands eps F h^2 deep. If that h were a part's, a heap at rest that
// is suddenly stepped in 2^k parts would be lifted by nearly all of its give, and its weight times
// that is energy. So eps grows by 4^k there, and the depth is that of the whole step. But a
// contact stops what it meets, in one part, but for eps m of its speed: beyond `softest` it would
// be a spring that throws back. Shorter parts than that are taken for what hits hard, not for what
// rests, and contacts become as much stiffer in them again.
static const double softest = 1.0 / 64; // 32 parts at the default compliance

static double soft_by(const cr_sim* sim, double h)
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
        .soft = soft_by(sim, h),
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
        .slack = model->world.cloth_paper,
    };
}

carom_status cr_island_predict(cr_sim* sim, const cr_worker* worker, double h, double from,
                               double to)
{
    if (!sim->model->world.cloth_paper || worker->sheet.count == 0) {
        return CAROM_OK;
    }
    const cr_zone_task task = cr_island_task(sim, worker, h, from, to);
    const carom_status status = cr_zone_predict(worker->zone, &task);
    return status == CAROM_ERR_NOT_POSITIVE ? CAROM_ERR_NO_CONVERGENCE : status;
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
        cr_record_row row = {worker->candidate[rows[i].candidate], rows[i].lam, rows[i].say};
        row.candidate.compliance = rows[i].compliance;
        row.candidate.room = rows[i].room;
        ok = cr_array_push(&record->row, row);
    }
    return ok;
}

// Writes down a part that was solved, before its end becomes the members' place.
static carom_status write_down(cr_sim* sim, const cr_worker* worker, int32_t index, double h,
                               double from, double to, int alone, int hits)
{
    const cr_model* model = sim->model;
    const cr_motion* motion = &sim->motion;
    cr_record* record = &sim->island.items[index].record;
    cr_record_part part = {.h = h,
                           .from = from,
                           .to = to,
                           .alone = alone,
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
    const cr_zone_row *rows = NULL, *idle = NULL;
    const int32_t row_count = alone ? 0 : cr_zone_rows(worker->zone, &rows);
    const int32_t idle_count = alone ? 0 : cr_zone_idle(worker->zone, &idle, &part.crowded);
    ok = ok && write_rows(worker, row_count, rows, record);
    part.row_end = record->row.count;
    ok = ok && write_rows(worker, idle_count, idle, record);
    part.idle_end = record->row.count;
    part.impact_begin = record->impact.count;
    if (hits && ok) {
        ok = cr_events_save(worker->events, &record->impact) == CAROM_OK;
    }
    part.impact_end = record->impact.count;
    part.frame_end = record->frame.count;
    part.sheet_end = record->sheet.count;
    return ok && cr_array_push(&record->part, part) ? CAROM_OK : CAROM_ERR_MEMORY;
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
        .friction_speed = model->world.friction_speed,
        .bounce_floor = model->world.bounce_floor,
        .max_events = model->world.max_events,
    };
}

// Impacts on the way to the targets, which are others after them.
static carom_status meet(cr_sim* sim, cr_worker* worker, int32_t index, double h, double from,
                         double to)
{
    const cr_model* model = sim->model;
    cr_island_result* result = &sim->island.items[index];
    cr_events_task task = cr_island_events(sim, worker, h, from, to);
    task.candidate_count = worker->candidate_count;
    task.candidate = worker->candidate;
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
        status = cr_island_predict(sim, worker, h, from, to);
        if (status == CAROM_OK) {
            status = meet(sim, worker, index, h, from, to);
        }
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
            status = gather_balance(sim, worker);
        }
        if (status != CAROM_OK) {
            return status;
        }
    }
    result->gains = !is_fair(sim, worker, h);
    result->turn = turn_in(sim, worker, h, NULL);
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
        advance(sim, worker, h, from, to);
    }
    return status;
}

void cr_island_rewind(cr_sim* sim, const cr_worker* worker, int32_t index)
{
    cr_island_result* result = &sim->island.items[index];
    result->contact.count = result->impacts = 0;
    cr_record_clear(&result->record);
    rewind_members(sim, worker);
}

// One part, from `at` to at + size of `end`; whoever is hit and carried by cloth takes it again.
// Where it fails nothing is left of it.
static carom_status try_part(cr_sim* sim, cr_worker* worker, int32_t index, int64_t at,
                             int64_t size, int64_t end)
{
    cr_island_result* result = &sim->island.items[index];
    const int32_t contacts = result->contact.count, impacts = result->impacts;
    carom_status status;
    cr_carried_forget(sim, worker);
    do {
        status = cr_island_part(sim, worker, index, sim->leg.h * ((double)size / (double)end),
                                cr_sim_along(&sim->leg, (double)at / (double)end),
                                cr_sim_along(&sim->leg, (double)(at + size) / (double)end));
    } while (status == CAROM_OK && result->again);
    if (status != CAROM_OK) {
        result->contact.count = contacts;
        result->impacts = impacts;
    }
    return status;
}

// A part of 2^-halvings of the step was not solved, gained energy or turned something too far: how
// often it has to be halved for that.
static int32_t halvings_after(const cr_sim* sim, const cr_island_result* result, int32_t halvings)
{
    const int32_t turned = halvings_for(sim, halvings, result->turn);
    return result->turn > most_turned && turned > halvings ? turned : halvings + 1;
}

// The step in parts of 2^-halvings of it. One that is not solved is halved, alone, down to
// 2^-finest of the step; after those that are, longer ones are tried again, after twice as many
// each time that led nowhere, but none longer than at first. fair: a part that gains energy, or in
// which something turns too far, is halved for that, down to 2^-CR_SIM_FAIR. A zone that had too
// little room gets more instead and waits for the next try.
static carom_status go_through(cr_sim* sim, cr_worker* worker, int32_t index, int32_t finest,
                               int fair)
{
    cr_island_result* result = &sim->island.items[index];
    const int64_t end = (int64_t)1 << finest; // of `at`, in the smallest parts
    const double turn = fair ? turn_in(sim, worker, sim->leg.h, sim->state.om) : 0.0;
    const int32_t first = halvings_for(sim, 0, turn);
    int32_t halvings = first;
    int64_t solved = 0, wait = 1; // parts since the last change, and how many there are to be
    cr_island_rewind(sim, worker, index);
    result->parts = 0;
    for (int64_t at = 0; at < end;) {
        const int64_t size = end >> halvings;
        result->report.cramped = 0;
        if (fair) {
            worker->fair = halvings < CR_SIM_FAIR && halvings < finest;
            worker->most_turn = halvings < most_fair(sim) ? most_turned : HUGE_VAL;
        }
        result->status = try_part(sim, worker, index, at, size, end);
        if (result->status == CAROM_ERR_NO_CONVERGENCE) {
            const int unfair = result->gains || result->turn > most_turned;
            if (fair && !unfair && result->report.cramped > 0 && sim->retries < MOST_WIDENINGS) {
                // where twice a body was not where it wanted to be, iterates look by themselves
                result->hard = sim->retries >= MOST_WISHES && finest > 0;
                if (!result->hard) {
                    cr_expect_widen(sim, worker, sim->retries < MOST_WISHES);
                }
                result->narrow = 1;
                return CAROM_OK;
            }
            if (halvings == finest) {
                result->parts = (int32_t)end;
                return result->status;
            }
            wait = result->parts > 0 && wait < end ? 2 * wait : wait;
            solved = 0;
            halvings = halvings_after(sim, result, halvings);
            continue;
        }
        if (result->status != CAROM_OK) {
            return result->status;
        }
        result->parts++;
        at += size;
        if (cr_expect_missed(sim, worker)) {
            result->narrow = 1;
            return CAROM_OK; // the look around was too narrow: all of it is done again
        }
        solved++;
        if (halvings > first && at % (2 * size) == 0 && solved >= wait &&
            2.0 * result->turn <= most_turn) {
            halvings--;
            solved = 0;
        }
    }
    return CAROM_OK;
}

int cr_island_rubs(const cr_worker* worker)
{
    int rubs = 0;
    for (int32_t i = 0; i < worker->candidate_count; i++) {
        rubs |= worker->candidate[i].friction > 0.0;
    }
    return rubs;
}

void cr_island_ease(cr_worker* worker, double share)
{
    for (int32_t i = 0; i < worker->candidate_count; i++) {
        worker->candidate[i].friction *= share;
    }
}

// Not solved in any number of parts: what is light and wedged between heavy things may have no
// motion that its friction allows. A step with less friction is the lesser evil, and it is
// reported: half of it, then a quarter, then none, in a few parts, no more than any step may have.
static void ease(cr_sim* sim, cr_worker* worker, int32_t index)
{
    static const double share[] = {0.5, 0.5, 0.0}; // of what is left
    const int32_t most = sim->model->world.max_halvings, finest = most < 4 ? most : 4;
    cr_island_result* result = &sim->island.items[index];
    carom_status status = CAROM_ERR_NO_CONVERGENCE;
    for (int s = 0; s < 3 && status == CAROM_ERR_NO_CONVERGENCE && cr_island_rubs(worker); s++) {
        cr_island_ease(worker, share[s]);
        result->eased = 1;
        status = go_through(sim, worker, index, finest, 0);
    }
}

static carom_status take_candidates(const cr_near* near, const cr_island* island, cr_worker* worker)
{
    const int32_t count = island->candidate_end - island->candidate_begin;
    worker->candidate_count = 0;
    if (!cr_array_reserve(&worker->own_candidate, count) ||
        !cr_array_reserve(&worker->own_closest, count)) {
        return CAROM_ERR_MEMORY;
    }
    cr_near_candidates(near, island, worker->own_candidate.items, worker->own_closest.items);
    worker->candidate_count = count;
    worker->candidate = count > 0 ? worker->own_candidate.items : NULL;
    worker->closest = count > 0 ? worker->own_closest.items : NULL;
    return CAROM_OK;
}

carom_status cr_island_open(cr_sim* sim, cr_worker* worker, int32_t index)
{
    const cr_model* model = sim->model;
    const cr_island* island = &sim->near.island.items[index];
    cr_island_result* result = &sim->island.items[index];
    worker->frame.count = worker->sheet.count = 0;
    worker->expect = &sim->whole;
    worker->looks = worker->fair = worker->hopeful = 0;
    result->memory.count = result->contact.count = 0;
    result->narrow = result->eased = result->hard = 0;
    result->report = (cr_zone_report){.least_gap = HUGE_VAL};
    result->status = take_candidates(&sim->near, island, worker);
    for (int32_t i = island->body_begin; i < island->body_end; i++) {
        const int32_t b = sim->near.body[i];
        const int ok = model->body_sheet[b] >= 0
                           ? cr_array_push(&worker->sheet, model->body_sheet[b])
                           : cr_array_push(&worker->frame, model->bodies.frame[b]);
        if (!ok) {
            result->status = CAROM_ERR_MEMORY;
        }
    }
    return result->status;
}

// Cloth that is hit moves in ways that nobody foresees, and more of them the longer the step is: an
// island with cloth is solved at once, or else its parts look around by themselves (parts.h).
static void step_cloth(cr_sim* sim, cr_worker* worker, int32_t index)
{
    cr_island_result* result = &sim->island.items[index];
    worker->most_cramped = MOST_CRAMPED_CLOTH;
    worker->most_iterations = sim->model->world.max_iterations < CR_SIM_HOPEFUL
                                  ? sim->model->world.max_iterations
                                  : CR_SIM_HOPEFUL;
    worker->fair = sim->model->world.max_halvings > 0;
    worker->most_turn = HUGE_VAL;
    result->parts = 1;
    result->status = cr_parts_crowded(sim, worker) && sim->model->world.max_halvings > 0
                         ? CAROM_ERR_NO_CONVERGENCE
                         : go_through(sim, worker, index, 0, 0);
    result->hard = result->narrow || result->status == CAROM_ERR_NO_CONVERGENCE;
    result->narrow = result->hard;
}

void cr_island_step(cr_sim* sim, cr_worker* worker, int32_t index)
{
    if (cr_island_open(sim, worker, index) != CAROM_OK) {
        return;
    }
    if (worker->sheet.count > 0) {
        step_cloth(sim, worker, index);
        return;
    }
    worker->most_cramped = sim->retries < MOST_WIDENINGS ? MOST_CRAMPED : INT32_MAX;
    worker->most_iterations = sim->model->world.max_iterations;
    if (go_through(sim, worker, index, sim->model->world.max_halvings, 1) ==
        CAROM_ERR_NO_CONVERGENCE) {
        worker->fair = 0;
        ease(sim, worker, index);
    }
}
