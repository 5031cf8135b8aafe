#include "core/assert.h"
#include "sim/sim_inside.h"

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
        if (!left_alone(sim, worker->sheet.items[i])) {
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

cr_balance_sheets cr_island_balance_sheets(cr_sim* sim, const cr_worker* worker, double h)
{
    const cr_model* model = sim->model;
    return (cr_balance_sheets){.bodies = &model->bodies,
                               .motion = &sim->motion,
                               .h = h,
                               .gravity = cr_vec3_load(model->world.gravity),
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
    const cr_balance_sheets sheets = cr_island_balance_sheets(sim, worker, h);
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

carom_status cr_island_balance_gather(cr_sim* sim, cr_worker* worker)
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
        if (!cr_island_balance_row(sim->model, &candidate, cr_island_first(sim, worker),
                                   rows[i].lam, &row)) {
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
