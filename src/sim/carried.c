#include "sim/carried.h"
#include "core/assert.h"

// Of its impacts' impulses, what is a good part. A body that lies on cloth is pushed by as much as
// it would be hit, one that is draped with it by much less.
static const double good_part = 0.25;
// So often a part is taken again. The last time all are left to the zone that cloth pushes at all.
enum { MOST_ROUNDS = 2 };

void cr_carried_forget(cr_sim* sim, cr_worker* worker)
{
    worker->rounds = 0;
    for (int32_t i = 0; i < worker->frame.count; i++) {
        sim->left[worker->frame.items[i]] = 0;
    }
}

static int32_t frame_of(const cr_sim* sim, int32_t vertex)
{
    const cr_body_set* bodies = &sim->model->bodies;
    const int32_t b = bodies->vertex_body[vertex];
    return bodies->kind[b] == CR_BODY_RIGID ? bodies->frame[b] : -1;
}

void cr_carried_hits(cr_sim* sim, const cr_worker* worker)
{
    const cr_events_contact* hit;
    const int32_t count = cr_events_contacts(worker->events, &hit);
    for (int32_t i = 0; i < worker->frame.count; i++) {
        sim->hit[worker->frame.items[i]] = 0.0;
    }
    for (int32_t i = 0; i < count; i++) {
        CR_ASSERT(worker->candidate); // hits are of candidates
        const int32_t* v = worker->candidate[hit[i].candidate].pair.v;
        for (int side = 0; side < 2; side++) {
            const int32_t f = frame_of(sim, v[3 * side]);
            if (f >= 0) {
                sim->hit[f] += cr_vec3_norm(hit[i].impulse);
            }
        }
    }
}

// N s, by which cloth pushed each member.
static void add_lifts(cr_sim* sim, const cr_worker* worker, double h)
{
    const cr_zone_row* row;
    const int32_t count = cr_zone_rows(worker->zone, &row);
    for (int32_t i = 0; i < worker->frame.count; i++) {
        sim->lift[worker->frame.items[i]] = (cr_vec3){0, 0, 0};
    }
    for (int32_t i = 0; i < count; i++) {
        CR_ASSERT(worker->candidate); // rows are of candidates
        const cr_candidate* c = &worker->candidate[row[i].candidate];
        const cr_vec3 push = cr_vec3_add_scaled(row[i].at.n, -c->friction, row[i].rub);
        for (int side = 0; side < 2; side++) {
            const int32_t f = frame_of(sim, c->pair.v[3 * side]);
            const int32_t other = sim->model->bodies.vertex_body[c->pair.v[3 - 3 * side]];
            if (f >= 0 && sim->model->body_sheet[other] >= 0) {
                sim->lift[f] =
                    cr_vec3_add_scaled(sim->lift[f], (side ? row[i].lam : -row[i].lam) / h, push);
            }
        }
    }
}

int cr_carried_found(cr_sim* sim, cr_worker* worker, double h)
{
    int found = 0;
    if (worker->rounds == MOST_ROUNDS) {
        return 0;
    }
    add_lifts(sim, worker, h);
    const double least = worker->rounds == MOST_ROUNDS - 1 ? 0.0 : good_part;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < worker->frame.count; i++) {
            const int32_t f = worker->frame.items[i];
            const double lift = cr_vec3_norm(sim->lift[f]);
            const int carried = sim->hit[f] > 0.0 && lift > good_part * sim->hit[f];
            if (pass == 0) {
                found |= carried;
            } else if (found && sim->hit[f] > 0.0 && lift > least * sim->hit[f]) {
                sim->left[f] = 1;
            }
        }
    }
    worker->rounds += found;
    return found;
}
