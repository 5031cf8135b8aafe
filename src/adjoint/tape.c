#include "adjoint/tape.h"
#include "adjoint/backward.h"
#include "core/assert.h"
#include "core/memory.h"
#include "sim/sim_inside.h"
#include <string.h>

// Checkpoints are this far apart at first: they then add a few hundredths to the records.
enum { FIRST_STRIDE = 16 };
// Fewer checkpoints than this are never worth their saving.
enum { LEAST_CHECKPOINTS = 8 };
// A stretch is halved at most this often: 2^62 steps.
enum { MOST_HALVINGS = 62 };

typedef struct step_note {
    size_t bytes;    // of its record
    int32_t control; // which of the logged forces acted
} step_note;

typedef struct mark {
    int32_t part_begin, part_end; // in the pool
} mark;

struct cr_tape {
    const cr_model* model;
    size_t budget;
    int32_t spent; // nonzero: gone through backward
    int64_t first; // the simulation's step number at the start
    int64_t replayed;
    size_t record_bytes, checkpoint_bytes, peak_bytes;
    CR_ARRAY(step_note) note;
    // records of steps kept_from to the last
    cr_record pool;
    CR_ARRAY(mark) mark;
    int32_t kept_from;
    // states before steps 0, stride, 2 stride, ..
    CR_ARRAY(cr_state) checkpoint;
    int32_t checkpoint_ready; // states whose memory is there
    int32_t stride;
    // forces set by the caller, when they changed
    CR_ARRAY(double) control;
    size_t control_size; // numbers of one entry
    double* control_now; // [control_size]
    // the way back
    cr_sim* sim; // for stepping again, and its scratch for the reverse
    cr_backward* backward;
    cr_state seen[2]; // before and after the step looked at
    cr_state last;    // after the last step
    cr_state halfway[MOST_HALVINGS];
    cr_state_bars bars, before;
    cr_vec3 *force, *torque, *node_force;             // of the step looked at
    cr_vec3 *force_sum, *torque_sum, *node_force_sum; // bars of all steps
};

// ---- life

static carom_status take_scratch(cr_tape* tape)
{
    const cr_body_set* bodies = &tape->model->bodies;
    const size_t f = (size_t)bodies->frame_count, n = (size_t)bodies->node_count;
    tape->control_size = 6 * f + 3 * n;
    tape->control_now = cr_memory_take(tape->control_size, sizeof(double));
    tape->force = cr_memory_take(f, sizeof(cr_vec3));
    tape->torque = cr_memory_take(f, sizeof(cr_vec3));
    tape->node_force = cr_memory_take(n, sizeof(cr_vec3));
    tape->force_sum = cr_memory_take(f, sizeof(cr_vec3));
    tape->torque_sum = cr_memory_take(f, sizeof(cr_vec3));
    tape->node_force_sum = cr_memory_take(n, sizeof(cr_vec3));
    const int ok = tape->control_now && tape->force && tape->torque && tape->node_force &&
                   tape->force_sum && tape->torque_sum && tape->node_force_sum;
    return ok ? CAROM_OK : CAROM_ERR_MEMORY;
}

carom_status cr_tape_create(const cr_model* model, int32_t worker_count, size_t budget,
                            cr_tape** out)
{
    cr_tape* tape = cr_memory_take(1, sizeof *tape);
    *out = NULL;
    if (!tape) {
        return CAROM_ERR_MEMORY;
    }
    tape->model = model;
    tape->budget = budget > 0 ? budget : SIZE_MAX;
    cr_state* const states[] = {&tape->seen[0], &tape->seen[1], &tape->last};
    carom_status status = take_scratch(tape);
    for (int i = 0; i < 3 && status == CAROM_OK; i++) {
        status = cr_state_init(states[i], model);
    }
    if (status == CAROM_OK) {
        status = cr_gradient_bars_init(&tape->bars, model);
    }
    if (status == CAROM_OK) {
        status = cr_gradient_bars_init(&tape->before, model);
    }
    if (status == CAROM_OK) {
        status = cr_sim_create(model, worker_count, &tape->sim);
    }
    if (status == CAROM_OK) {
        status = cr_backward_create(model, &tape->backward);
    }
    if (status != CAROM_OK) {
        cr_tape_destroy(tape);
        return status;
    }
    cr_tape_reset(tape);
    *out = tape;
    return CAROM_OK;
}

carom_status cr_tape_refuse(carom_status status, carom_error* error)
{
    if (status == CAROM_ERR_FILE) {
        return cr_status_refuse(error, status,
                                "world.zone_gradient is a dense one, which needs LAPACK; there is "
                                "no libopenblas.so.0 or liblapack.so.3 here, or carom was built "
                                "without CAROM_LAPACK. \"sparse\" needs none");
    }
    return cr_status_refuse(error, status, "no memory for a gradient of this scene");
}

void cr_tape_destroy(cr_tape* tape)
{
    if (!tape) {
        return;
    }
    for (int32_t i = 0; i < tape->checkpoint_ready; i++) {
        cr_state_release(&tape->checkpoint.items[i]);
    }
    for (int i = 0; i < MOST_HALVINGS; i++) {
        cr_state_release(&tape->halfway[i]);
    }
    cr_state_release(&tape->seen[0]);
    cr_state_release(&tape->seen[1]);
    cr_state_release(&tape->last);
    cr_array_release(&tape->checkpoint);
    cr_array_release(&tape->note);
    cr_array_release(&tape->mark);
    cr_array_release(&tape->control);
    cr_record_release(&tape->pool);
    cr_gradient_bars_release(&tape->bars);
    cr_gradient_bars_release(&tape->before);
    void* const blocks[] = {tape->control_now,   tape->force,     tape->torque,
                            tape->node_force,    tape->force_sum, tape->torque_sum,
                            tape->node_force_sum};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
    cr_sim_destroy(tape->sim);
    cr_backward_destroy(tape->backward);
    cr_memory_free(tape);
}

void cr_tape_reset(cr_tape* tape)
{
    cr_sim_reset(tape->sim); // the model may weigh something else by now
    tape->spent = 0;
    tape->replayed = 0;
    tape->record_bytes = tape->checkpoint_bytes = tape->peak_bytes = 0;
    tape->note.count = tape->mark.count = tape->control.count = 0;
    tape->kept_from = 0;
    tape->checkpoint.count = 0;
    tape->stride = FIRST_STRIDE;
    cr_record_clear(&tape->pool);
}

int64_t cr_tape_steps(const cr_tape* tape)
{
    return tape->note.count;
}

const cr_state* cr_tape_start(const cr_tape* tape)
{
    return tape->checkpoint.count > 0 ? &tape->checkpoint.items[0] : NULL;
}

size_t cr_tape_record_bytes(const cr_tape* tape)
{
    return tape->record_bytes;
}

int64_t cr_tape_replayed(const cr_tape* tape)
{
    return tape->replayed;
}

size_t cr_tape_bytes(const cr_tape* tape)
{
    return tape->peak_bytes;
}

static void note_bytes(cr_tape* tape)
{
    const size_t now = cr_record_bytes(&tape->pool) + tape->checkpoint_bytes +
                       (size_t)tape->note.count * sizeof(step_note) +
                       (size_t)tape->mark.count * sizeof(mark) +
                       (size_t)tape->control.count * sizeof(double);
    tape->peak_bytes = now > tape->peak_bytes ? now : tape->peak_bytes;
}

// ---- forward

// Of the budget, 7/16 are for records, as much for checkpoints, and the rest for all that is small.
static size_t share(const cr_tape* tape)
{
    return tape->budget / 16 * 7;
}

static int pool_is_full(const cr_tape* tape)
{
    return cr_record_bytes(&tape->pool) > share(tape);
}

static carom_status save_checkpoint(cr_tape* tape, const cr_state* state)
{
    const size_t room = share(tape) / cr_state_bytes(state);
    if (tape->checkpoint.count >= LEAST_CHECKPOINTS && (size_t)tape->checkpoint.count >= room) {
        // every second one stays; those that go lend their memory to later ones
        for (int32_t i = 1; 2 * i < tape->checkpoint.count; i++) {
            const cr_state kept = tape->checkpoint.items[2 * i];
            tape->checkpoint.items[2 * i] = tape->checkpoint.items[i];
            tape->checkpoint.items[i] = kept;
        }
        tape->checkpoint.count = (tape->checkpoint.count + 1) / 2;
        tape->stride *= 2;
        tape->checkpoint_bytes = 0;
        for (int32_t i = 0; i < tape->checkpoint.count; i++) {
            tape->checkpoint_bytes += cr_state_bytes(&tape->checkpoint.items[i]);
        }
        if (tape->note.count % tape->stride != 0) {
            return CAROM_OK;
        }
    }
    const int32_t count = tape->checkpoint.count;
    tape->checkpoint.count = tape->checkpoint_ready; // all of them move when the array grows
    const int ok = cr_array_reserve(&tape->checkpoint, count + 1);
    tape->checkpoint.count = count;
    if (!ok) {
        return CAROM_ERR_MEMORY;
    }
    if (tape->checkpoint_ready == count) {
        tape->checkpoint.items[count] = (cr_state){0};
        tape->checkpoint_ready++;
    }
    const carom_status status = cr_state_copy(&tape->checkpoint.items[count], state);
    if (status == CAROM_OK) {
        tape->checkpoint.count++;
        tape->checkpoint_bytes += cr_state_bytes(state);
    }
    return status;
}

static void read_controls(const cr_tape* tape, cr_sim* sim, double* out)
{
    const size_t f = 3 * (size_t)tape->model->bodies.frame_count;
    const size_t n = 3 * (size_t)tape->model->bodies.node_count;
    memcpy(out, cr_sim_force(sim), f * sizeof(double));
    memcpy(out + f, cr_sim_torque(sim), f * sizeof(double));
    memcpy(out + 2 * f, cr_sim_node_force(sim), n * sizeof(double));
}

// The forces of entry `control` of the log; there are none where nothing can be pushed.
static void write_controls(const cr_tape* tape, cr_sim* sim, int32_t control)
{
    if (tape->control_size == 0) {
        return;
    }
    const double* from = tape->control.items + (size_t)control * tape->control_size;
    const size_t f = 3 * (size_t)tape->model->bodies.frame_count;
    const size_t n = 3 * (size_t)tape->model->bodies.node_count;
    memcpy(cr_sim_force(sim), from, f * sizeof(double));
    memcpy(cr_sim_torque(sim), from + f, f * sizeof(double));
    memcpy(cr_sim_node_force(sim), from + 2 * f, n * sizeof(double));
}

// Which entry of the log the present forces are: the last one, or a new one. -1: no memory.
static int32_t log_controls(cr_tape* tape, cr_sim* sim)
{
    const int32_t size = (int32_t)tape->control_size;
    const int32_t count = size > 0 ? tape->control.count / size : 1;
    read_controls(tape, sim, tape->control_now);
    if (size == 0) {
        return 0;
    }
    if (count > 0 && memcmp(tape->control.items + (size_t)(count - 1) * tape->control_size,
                            tape->control_now, tape->control_size * sizeof(double)) == 0) {
        return count - 1;
    }
    if (!cr_array_reserve(&tape->control, tape->control.count + size)) {
        return -1;
    }
    memcpy(tape->control.items + tape->control.count, tape->control_now,
           tape->control_size * sizeof(double));
    tape->control.count += size;
    return count;
}

static carom_status check_step(const cr_tape* tape, cr_sim* sim, carom_error* error)
{
    if (cr_sim_model(sim) != tape->model) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "the simulation and the tape are of different models");
    }
    if (cr_sim_is_driven(sim)) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "the simulation has driven bodies; a tape follows scripts only");
    }
    if (tape->spent) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "the tape has been gone through backward; reset it before the next "
                                "step");
    }
    if (tape->note.count > 0 && !cr_state_equal(cr_sim_state(sim), &tape->last)) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "the simulation is not where the tape's last step left it (step "
                                "%lld, the tape has %lld); reset the tape, or step only by it",
                                (long long)cr_sim_state(sim)->step,
                                (long long)(tape->first + tape->note.count));
    }
    return CAROM_OK;
}

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "no memory for another step on the tape");
}

// Appends the record of the step a simulation has just taken to the pool. On failure the pool has
// no more than it had.
static carom_status append_record(cr_tape* tape, const cr_sim* sim)
{
    const int32_t begin = tape->pool.part.count;
    if (!cr_array_reserve(&tape->mark, tape->mark.count + 1)) {
        return CAROM_ERR_MEMORY;
    }
    const carom_status status = cr_sim_record(sim, &tape->pool);
    if (status != CAROM_OK) {
        cr_record_clear(&tape->pool);
        tape->mark.count = 0;
        return status;
    }
    tape->mark.items[tape->mark.count++] = (mark){begin, tape->pool.part.count};
    note_bytes(tape);
    return CAROM_OK;
}

// Back to where the tape's last step, or its first checkpoint, left the simulation. It was there
// before, so it needs no memory.
static void undo_step(const cr_tape* tape, cr_sim* sim)
{
    const cr_state* before = tape->note.count > 0 ? &tape->last : &tape->checkpoint.items[0];
    const carom_status status = cr_state_copy(&sim->state, before);
    CR_ASSERT(status == CAROM_OK);
}

carom_status cr_tape_step(cr_tape* tape, cr_sim* sim, carom_error* error)
{
    carom_status status = check_step(tape, sim, error);
    if (status != CAROM_OK) {
        return status;
    }
    const int32_t at = tape->note.count;
    if (at == 0) {
        tape->first = cr_sim_state(sim)->step;
    }
    // everything that can fail for want of memory comes before the step, but for the record
    const int32_t control = log_controls(tape, sim);
    if (control < 0 || !cr_array_reserve(&tape->note, at + 1)) {
        return no_memory(error);
    }
    if (at % tape->stride == 0 && at / tape->stride == tape->checkpoint.count) {
        status = save_checkpoint(tape, cr_sim_state(sim));
        if (status != CAROM_OK) {
            return no_memory(error);
        }
    }
    if (pool_is_full(tape)) {
        cr_record_clear(&tape->pool);
        tape->mark.count = 0;
        tape->kept_from = at;
    }
    cr_sim_keep(sim, 1);
    status = cr_sim_step(sim, error);
    cr_sim_keep(sim, 0);
    if (status != CAROM_OK) {
        return status;
    }
    if (!cr_array_reserve(&tape->last.memory, sim->state.memory.count)) {
        undo_step(tape, sim);
        return no_memory(error);
    }
    const size_t held = cr_record_bytes(&tape->pool);
    status = append_record(tape, sim);
    size_t bytes = 0;
    if (status == CAROM_OK) {
        bytes = cr_record_bytes(&tape->pool) - held;
    } else {
        tape->kept_from = at + 1; // it can still be had by stepping again
    }
    tape->note.items[tape->note.count++] = (step_note){bytes, control};
    tape->record_bytes += bytes;
    status = cr_state_copy(&tape->last, cr_sim_state(sim));
    CR_ASSERT(status == CAROM_OK); // there is room
    return status;
}

// ---- backward

// The state before a recorded step: where the first part of each island began, and where scripts
// were. What never moves is as it was at the end.
static void state_before(cr_tape* tape, const cr_record* record, cr_state* out)
{
    const cr_model* model = tape->model;
    const cr_body_set* bodies = &model->bodies;
    cr_sim* sim = tape->sim;
    sim->state.step = out->step = record->step;
    sim->state.time = out->time = record->time;
    cr_sim_gather_scripts(sim);
    for (int32_t b = 0; b < bodies->body_count; b++) {
        const int32_t f = bodies->frame[b];
        if (f >= 0 && bodies->kind[b] != CR_BODY_RIGID) {
            const cr_state* from = bodies->kind[b] == CR_BODY_FIXED ? &tape->last : &sim->state;
            memcpy(out->t + 3 * f, from->t + 3 * f, 3 * sizeof(double));
            memcpy(out->q + 4 * f, from->q + 4 * f, 4 * sizeof(double));
        }
    }
    for (int32_t i = 0; i < record->part.count; i++) {
        const cr_record_part* part = &record->part.items[i];
        if (part->from > 0.0) {
            continue;
        }
        for (int32_t k = part->frame_begin; k < part->frame_end; k++) {
            const cr_record_frame* frame = &record->frame.items[k];
            const int32_t f = frame->frame;
            cr_vec3_store(out->t + 3 * f, frame->t);
            cr_quat_store(out->q + 4 * f, frame->q);
            cr_vec3_store(out->v + 3 * f, frame->v);
            cr_vec3_store(out->om + 3 * f, frame->om);
            tape->force[f] = frame->force;
            tape->torque[f] = frame->torque;
        }
        int32_t at = part->node_begin;
        for (int32_t k = part->sheet_begin; k < part->sheet_end; k++) {
            const int32_t s = record->sheet.items[k];
            for (int32_t n = model->sheet_node[s]; n < model->sheet_node[s + 1]; n++, at++) {
                cr_vec3_store(out->x + 3 * n, record->node.items[at].x);
                cr_vec3_store(out->xv + 3 * n, record->node.items[at].v);
                tape->node_force[n] = record->node.items[at].force;
            }
        }
    }
}

static void zero_vectors(cr_vec3* v, int32_t count)
{
    memset(v, 0, (size_t)count * sizeof *v);
}

static void add_vectors(cr_vec3* to, const cr_vec3* from, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        to[i] = cr_vec3_add(to[i], from[i]);
    }
}

// Step `at` in reverse, its record being the part of the pool that the mark says.
static carom_status reverse_step(cr_tape* tape, int32_t at, mark m,
                                 const cr_tape_listener* listener, cr_gradient* g)
{
    const int32_t frames = g->frame_count, nodes = g->node_count;
    cr_record record = tape->pool; // its indices are those of the pool
    record.part.count = m.part_end - m.part_begin;
    record.part.items = record.part.count > 0 ? record.part.items + m.part_begin : NULL;
    record.step = tape->first + at;
    record.time = (double)record.step * tape->model->world.dt;
    cr_state* before = &tape->seen[at % 2];
    cr_state* after = &tape->seen[(at + 1) % 2];
    state_before(tape, &record, before);
    const cr_tape_moment moment = {.step = at,
                                   .before = before,
                                   .after = at == tape->note.count - 1 ? &tape->last : after,
                                   .force = tape->force,
                                   .torque = tape->torque,
                                   .node_force = tape->node_force};
    zero_vectors(g->force, frames);
    zero_vectors(g->torque, frames);
    zero_vectors(g->node_force, nodes);
    cr_gradient_bars_zero(&tape->before, tape->model);
    listener->feel(listener->user, &moment, &tape->bars, &tape->before, g);
    const carom_status status =
        cr_backward_step(tape->backward, tape->sim, &record, &tape->bars, g);
    cr_gradient_bars_add(&tape->bars, &tape->before, tape->model);
    if (listener->control) {
        listener->control(listener->user, at, g);
    }
    add_vectors(tape->force_sum, g->force, frames);
    add_vectors(tape->torque_sum, g->torque, frames);
    add_vectors(tape->node_force_sum, g->node_force, nodes);
    return status;
}

static carom_status reverse_kept(cr_tape* tape, int32_t from, int32_t to,
                                 const cr_tape_listener* listener, cr_gradient* g)
{
    carom_status status = CAROM_OK;
    for (int32_t at = to - 1; at >= from && status == CAROM_OK; at--) {
        status = reverse_step(tape, at, tape->mark.items[at - from], listener, g);
    }
    return status;
}

// Steps again from a state; with `keep` the records go to the pool.
static carom_status step_again(cr_tape* tape, const cr_state* state, int32_t from, int32_t to,
                               int32_t keep, carom_error* error)
{
    cr_sim* sim = tape->sim;
    carom_status status = cr_state_copy(cr_sim_state(sim), state);
    if (status == CAROM_OK) {
        status = cr_state_copy(&sim->next, state);
    }
    if (keep) {
        cr_record_clear(&tape->pool);
        tape->mark.count = 0;
    }
    cr_sim_keep(sim, keep);
    for (int32_t at = from; at < to && status == CAROM_OK; at++) {
        write_controls(tape, sim, tape->note.items[at].control);
        status = cr_sim_step(sim, error);
        if (status == CAROM_OK && keep) {
            status = append_record(tape, sim);
        }
        tape->replayed++;
    }
    cr_sim_keep(sim, 0);
    return status;
}

// Steps from..to in reverse, given the state before the first.
static carom_status reverse_stretch(cr_tape* tape, const cr_state* state, int32_t from, int32_t to,
                                    int depth, const cr_tape_listener* listener, cr_gradient* g,
                                    carom_error* error)
{
    size_t bytes = 0;
    for (int32_t at = from; at < to; at++) {
        bytes += tape->note.items[at].bytes;
    }
    if (to - from == 1 || depth == MOST_HALVINGS || bytes <= share(tape)) {
        const carom_status status = step_again(tape, state, from, to, 1, error);
        return status == CAROM_OK ? reverse_kept(tape, from, to, listener, g) : status;
    }
    const int32_t middle = from + (to - from) / 2;
    cr_state* halfway = &tape->halfway[depth];
    carom_status status = step_again(tape, state, from, middle, 0, error);
    if (status == CAROM_OK) {
        status = cr_state_copy(halfway, cr_sim_state(tape->sim));
    }
    if (status == CAROM_OK) {
        status = reverse_stretch(tape, halfway, middle, to, depth + 1, listener, g, error);
    }
    return status == CAROM_OK
               ? reverse_stretch(tape, state, from, middle, depth + 1, listener, g, error)
               : status;
}

static void begin_sums(cr_tape* tape, const cr_gradient* g)
{
    memcpy(tape->force_sum, g->force, (size_t)g->frame_count * sizeof(cr_vec3));
    memcpy(tape->torque_sum, g->torque, (size_t)g->frame_count * sizeof(cr_vec3));
    memcpy(tape->node_force_sum, g->node_force, (size_t)g->node_count * sizeof(cr_vec3));
}

static void end_sums(const cr_tape* tape, cr_gradient* g)
{
    memcpy(g->force, tape->force_sum, (size_t)g->frame_count * sizeof(cr_vec3));
    memcpy(g->torque, tape->torque_sum, (size_t)g->frame_count * sizeof(cr_vec3));
    memcpy(g->node_force, tape->node_force_sum, (size_t)g->node_count * sizeof(cr_vec3));
}

carom_status cr_tape_backward(cr_tape* tape, const cr_tape_listener* listener,
                              cr_gradient* gradient, carom_error* error)
{
    if (tape->note.count == 0) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "the tape is empty: take steps with it before going backward");
    }
    if (tape->spent) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "the tape has been gone through backward already; rewind it to go "
                                "again, or reset it for another run");
    }
    tape->spent = 1;
    tape->replayed = 0;
    cr_gradient_bars_zero(&tape->bars, tape->model);
    begin_sums(tape, gradient);
    const int32_t count = tape->note.count;
    int32_t to = tape->kept_from < count ? tape->kept_from : count;
    carom_status status = reverse_kept(tape, to, count, listener, gradient);
    for (int32_t i = tape->checkpoint.count - 1; i >= 0 && status == CAROM_OK; i--) {
        const int32_t from = i * tape->stride;
        if (from < to) {
            tape->kept_from = count; // the pool is needed for other things
            status = reverse_stretch(tape, &tape->checkpoint.items[i], from, to, 0, listener,
                                     gradient, error);
            to = from;
        }
    }
    end_sums(tape, gradient);
    if (status != CAROM_OK) {
        return cr_status_refuse(error, status, "the way back stopped: %s",
                                carom_status_text(status));
    }
    cr_gradient_bars_add(&gradient->start, &tape->bars, tape->model);
    return CAROM_OK;
}

void cr_tape_rewind(cr_tape* tape)
{
    tape->spent = 0;
}

cr_tape_moment cr_tape_moment_now(cr_sim* sim, const cr_state* before, int64_t step)
{
    return (cr_tape_moment){.step = step,
                            .before = before,
                            .after = &sim->state,
                            .force = sim->force_now,
                            .torque = sim->torque_now,
                            .node_force = sim->node_force_now};
}
