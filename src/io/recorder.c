#include "io/recorder.h"
#include "core/memory.h"
#include "io/place.h"
#include "io/trajectory_format.h"
#include "math/quat.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct cr_recorder {
    const cr_model* model;
    char* path;   // the name it shall have
    char* beside; // the name it has until then; NULL: written to directly
    int file;     // -1: closed
    int owned;    // the preliminary file is this run's
    int failed;
    int finished;
    int64_t size;   // bytes of whole chunks
    int64_t frames; // recorded
    int64_t step;   // of the last of them
    cr_chunk chunk;
};

// ---- the file

static carom_status refuse_write(cr_recorder* r, int why, carom_error* error)
{
    r->failed = 1;
    const char* where = cr_recorder_path(r);
    if (r->frames > 0 && r->beside) {
        return cr_status_refuse(
            error, CAROM_ERR_FILE,
            "%.400s cannot be written: %s; the %lld frames until then are in it", where,
            strerror(why), (long long)r->frames);
    }
    return cr_status_refuse(error, CAROM_ERR_FILE, "%.400s cannot be written: %s", where,
                            strerror(why));
}

// All of it, or the file is cut back to where it was.
static carom_status write_bytes(cr_recorder* r, const void* data, size_t size, carom_error* error)
{
    const unsigned char* at = data;
    size_t left = size;
    while (left > 0) {
        const ssize_t n = write(r->file, at, left);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            const int why = n < 0 ? errno : ENOSPC;
            if (r->beside && ftruncate(r->file, (off_t)r->size) != 0) {
                // then the reader finds the end
            }
            return refuse_write(r, why, error);
        }
        at += n;
        left -= (size_t)n;
    }
    r->size += (int64_t)size;
    return CAROM_OK;
}

static carom_status write_chunk(cr_recorder* r, carom_error* error)
{
    if (!cr_chunk_end(&r->chunk)) {
        r->failed = 1;
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "no memory for a chunk of %.400s",
                                cr_recorder_path(r));
    }
    return write_bytes(r, r->chunk.bytes, r->chunk.size, error);
}

// A regular file is written beside its place, under a name that one run at a time may use.
static carom_status open_file(cr_recorder* r, carom_error* error)
{
    if (cr_place_is_taken(r->path)) {
        cr_memory_free(r->beside);
        r->beside = NULL;
        r->file = open(r->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        return r->file >= 0 ? CAROM_OK : refuse_write(r, errno, error);
    }
    r->file = open(r->beside, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (r->file < 0) {
        return refuse_write(r, errno, error);
    }
    if (flock(r->file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        r->failed = 1;
        return cr_status_refuse(error, CAROM_ERR_FILE,
                                "%.400s is being written by another run; give this one another "
                                "file",
                                r->beside);
    }
    r->owned = 1;
    return ftruncate(r->file, 0) == 0 ? CAROM_OK : refuse_write(r, errno, error);
}

// ---- what does not change

// The file knows the axes of meshes as scenes give them; inside they are the principal ones.
static int turned(const cr_model* m, int32_t f)
{
    return m->own_q[4 * (size_t)f] != 1.0;
}

static cr_mat3 own_axes(const cr_model* m, int32_t f)
{
    return cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * (size_t)f));
}

static void put_turns(cr_recorder* r, const cr_state* state)
{
    for (int32_t f = 0; f < state->frame_count; f++) {
        cr_quat q = cr_quat_load(state->q + 4 * (size_t)f);
        q = turned(r->model, f) ? cr_quat_mul(q, cr_quat_load(r->model->own_q + 4 * (size_t)f)) : q;
        double numbers[4];
        cr_quat_store(numbers, q);
        cr_chunk_put(&r->chunk, numbers, sizeof numbers);
    }
}

static void put_spins(cr_recorder* r, const cr_state* state)
{
    for (int32_t f = 0; f < state->frame_count; f++) {
        cr_vec3 om = cr_vec3_load(state->om + 3 * (size_t)f);
        om = turned(r->model, f) ? cr_mat3_tapply(own_axes(r->model, f), om) : om;
        cr_chunk_put(&r->chunk, &om, sizeof om);
    }
}

static void put_head(cr_recorder* r, int32_t every)
{
    const cr_model* m = r->model;
    cr_trajectory_head head = {.body_count = m->bodies.body_count,
                               .vertex_count = m->bodies.vertex_count,
                               .edge_count = m->surface.edge_count,
                               .face_count = m->surface.face_count,
                               .frame_count = m->bodies.frame_count,
                               .node_count = m->bodies.node_count,
                               .every = every,
                               .dt = m->world.dt};
    memcpy(head.gravity, m->world.gravity, sizeof head.gravity);
    cr_chunk_begin(&r->chunk, CR_TRAJECTORY_HEAD);
    cr_chunk_put(&r->chunk, &head, sizeof head);
}

static void put_body(cr_recorder* r, int32_t b)
{
    const cr_model* m = r->model;
    const cr_surface* s = &m->surface;
    const int32_t f = m->bodies.frame[b];
    const size_t length = strlen(m->name[b]) + 1; // a zero at the end, at least
    cr_trajectory_body body = {.kind = m->bodies.kind[b],
                               .frame = f,
                               .vertex_count = s->body_vertex[b + 1] - s->body_vertex[b],
                               .edge_count = s->body_edge[b + 1] - s->body_edge[b],
                               .face_count = s->body_face[b + 1] - s->body_face[b],
                               .flags = s->body_flags[b],
                               .group = s->body_group[b],
                               .name_size = (int32_t)((length + 7) / 8 * 8),
                               .radius = m->bodies.radius[b],
                               .friction = m->bodies.friction[b],
                               .restitution = m->bodies.restitution[b],
                               .own_q = {1, 0, 0, 0}};
    if (f >= 0) {
        body.mass = m->bodies.mass[f];
        memcpy(body.inertia, m->bodies.inertia + 3 * (size_t)f, sizeof body.inertia);
        cr_vec3_store(body.own_t,
                      cr_mat3_tapply(own_axes(m, f), cr_vec3_load(m->own_t + 3 * (size_t)f)));
    }
    cr_chunk_put(&r->chunk, &body, sizeof body);
    cr_chunk_put(&r->chunk, m->name[b], length);
    cr_chunk_pad(&r->chunk);
}

static void put_mesh(cr_recorder* r)
{
    const cr_surface* s = &r->model->surface;
    const cr_body_set* bodies = &r->model->bodies;
    cr_chunk_begin(&r->chunk, CR_TRAJECTORY_MESH);
    for (int32_t v = 0; v < s->vertex_count; v++) {
        const int32_t f = bodies->frame[bodies->vertex_body[v]];
        cr_vec3 p = cr_vec3_load(bodies->p + 3 * (size_t)v);
        p = f >= 0 && turned(r->model, f) ? cr_mat3_tapply(own_axes(r->model, f), p) : p;
        cr_chunk_put(&r->chunk, &p, sizeof p);
    }
    cr_chunk_put(&r->chunk, s->edge, 2 * (size_t)s->edge_count * sizeof(int32_t));
    cr_chunk_pad(&r->chunk);
    cr_chunk_put(&r->chunk, s->face, 3 * (size_t)s->face_count * sizeof(int32_t));
}

static void put_nodes(cr_recorder* r)
{
    const cr_body_set* bodies = &r->model->bodies;
    const size_t n = (size_t)bodies->node_count;
    cr_chunk_begin(&r->chunk, CR_TRAJECTORY_NODES);
    cr_chunk_put(&r->chunk, bodies->node_mass, n * sizeof(double));
    cr_chunk_put(&r->chunk, bodies->node_pinned, n);
}

static int put_passes(cr_recorder* r)
{
    int any = 0;
    cr_chunk_begin(&r->chunk, CR_TRAJECTORY_PASS);
    for (int32_t i = 0; i < r->model->pairing_count; i++) {
        if (r->model->pairing[i].passes) {
            cr_chunk_put(&r->chunk, r->model->pairing[i].body, 2 * sizeof(int32_t));
            any = 1;
        }
    }
    return any;
}

static void put_scene(cr_recorder* r, const char* name, const char* text)
{
    const cr_trajectory_scene scene = {.name_size = (int64_t)(name ? strlen(name) : 0),
                                       .text_size = (int64_t)(text ? strlen(text) : 0)};
    cr_chunk_begin(&r->chunk, CR_TRAJECTORY_SCENE);
    cr_chunk_put(&r->chunk, &scene, sizeof scene);
    cr_chunk_put(&r->chunk, name, (size_t)scene.name_size);
    cr_chunk_pad(&r->chunk);
    cr_chunk_put(&r->chunk, text, (size_t)scene.text_size);
}

static carom_status write_start(cr_recorder* r, const char* scene_name, const char* scene_text,
                                int32_t every, carom_error* error)
{
    cr_trajectory_start start = {.version = CR_TRAJECTORY_VERSION, .order = CR_TRAJECTORY_ORDER};
    memcpy(start.magic, CR_TRAJECTORY_MAGIC, sizeof start.magic);
    carom_status status = write_bytes(r, &start, sizeof start, error);
    if (status == CAROM_OK) {
        put_head(r, every);
        status = write_chunk(r, error);
    }
    if (status == CAROM_OK) {
        cr_chunk_begin(&r->chunk, CR_TRAJECTORY_BODIES);
        for (int32_t b = 0; b < r->model->bodies.body_count; b++) {
            put_body(r, b);
        }
        status = write_chunk(r, error);
    }
    if (status == CAROM_OK) {
        put_mesh(r);
        status = write_chunk(r, error);
    }
    if (status == CAROM_OK) {
        put_nodes(r);
        status = write_chunk(r, error);
    }
    if (status == CAROM_OK && put_passes(r)) {
        status = write_chunk(r, error);
    }
    if (status == CAROM_OK && (scene_name || scene_text)) {
        put_scene(r, scene_name, scene_text);
        status = write_chunk(r, error);
    }
    return status;
}

// ---- the recorder

carom_status cr_recorder_create(const cr_model* model, const char* path, const char* scene_name,
                                const char* scene_text, int32_t every, cr_recorder** out,
                                carom_error* error)
{
    *out = NULL;
    if (!cr_chunk_order_fits()) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "trajectories are little endian; this machine is not");
    }
    if (!*path) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "the file to record in has no name");
    }
    cr_recorder* r = cr_memory_take(1, sizeof *r);
    carom_status status = CAROM_ERR_MEMORY;
    if (r) {
        r->model = model;
        r->file = -1;
        r->path = cr_place_behind(path);
        r->beside = r->path ? cr_memory_take(strlen(r->path) + 6, 1) : NULL;
    }
    if (r && r->path && r->beside) {
        snprintf(r->beside, strlen(r->path) + 6, "%s.part", r->path);
        status = open_file(r, error);
    } else {
        cr_status_refuse(error, status, "no memory to record %.400s", path);
    }
    if (status == CAROM_OK) {
        status = write_start(r, scene_name, scene_text, every, error);
    }
    if (status != CAROM_OK) {
        cr_recorder_destroy(r);
        return status;
    }
    *out = r;
    return CAROM_OK;
}

// Views the numbers of a state as the file keeps them.
static void put_frame(cr_recorder* r, cr_sim* sim)
{
    const cr_state* state = cr_sim_state(sim);
    const cr_step_report* report = cr_sim_report(sim);
    const cr_energy energy = cr_state_energy(state, r->model);
    const cr_contact* contacts;
    const int32_t contact_count = cr_sim_contacts(sim, &contacts);
    const cr_trajectory_step step = {.step = state->step,
                                     .state_hash = cr_state_hash(state),
                                     .time = state->time,
                                     .kinetic = energy.kinetic,
                                     .gravity = energy.potential,
                                     .elastic = energy.elastic,
                                     .least_gap = state->step > 0 ? report->least_gap : HUGE_VAL,
                                     .residual = report->residual,
                                     .zones = report->island_count,
                                     .contacts = report->contact_count,
                                     .max_zone_dofs = report->max_zone_dofs,
                                     .max_zone_contacts = report->max_zone_contacts,
                                     .parts = report->parts,
                                     .iterations = report->iterations,
                                     .factorisations = report->factorisations,
                                     .weakly_active = report->weakly_active,
                                     .events = report->impacts,
                                     .retries = report->retries,
                                     .contact_count = contact_count,
                                     .eased = report->eased};
    const size_t f = (size_t)state->frame_count, n = (size_t)state->node_count;
    cr_chunk* chunk = &r->chunk;
    cr_chunk_begin(chunk, CR_TRAJECTORY_FRAME);
    cr_chunk_put(chunk, &step, sizeof step);
    cr_chunk_put(chunk, state->t, 3 * f * sizeof(double));
    put_turns(r, state);
    cr_chunk_put(chunk, state->v, 3 * f * sizeof(double));
    put_spins(r, state);
    cr_chunk_put(chunk, state->x, 3 * n * sizeof(double));
    cr_chunk_put(chunk, state->xv, 3 * n * sizeof(double));
    for (int32_t i = 0; i < contact_count; i++) {
        cr_trajectory_contact c = {.body = {contacts[i].body[0], contacts[i].body[1]},
                                   .zone = contacts[i].island};
        cr_vec3_store(c.point, contacts[i].point);
        cr_vec3_store(c.normal, contacts[i].normal);
        cr_vec3_store(c.impulse, contacts[i].impulse);
        cr_chunk_put(chunk, &c, sizeof c);
    }
}

static carom_status refuse_misuse(const cr_recorder* r, carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MISUSE, "%.400s is %s", cr_recorder_path(r),
                            r->finished ? "finished: nothing can be added"
                            : r->failed ? "not written any more after a failure"
                                        : "empty: a gradient belongs to a frame");
}

carom_status cr_recorder_add(cr_recorder* r, cr_sim* sim, carom_error* error)
{
    if (r->failed || r->finished) {
        return refuse_misuse(r, error);
    }
    const int64_t step = cr_sim_state(sim)->step;
    if (r->frames > 0 && step <= r->step) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "%.400s has step %lld already; a frame of step %lld cannot follow "
                                "it. Record a run that starts anew in another file",
                                r->path, (long long)r->step, (long long)step);
    }
    put_frame(r, sim);
    const carom_status status = write_chunk(r, error);
    if (status == CAROM_OK) {
        r->frames++;
        r->step = step;
    }
    return status;
}

carom_status cr_recorder_gradient(cr_recorder* r, const double* position, const double* force,
                                  const double* vertex, carom_error* error)
{
    const cr_body_set* bodies = &r->model->bodies;
    const size_t size = 3 * (size_t)bodies->body_count * sizeof(double);
    if (r->failed || r->finished || r->frames == 0) {
        return refuse_misuse(r, error);
    }
    cr_chunk_begin(&r->chunk, CR_TRAJECTORY_GRADIENT);
    cr_chunk_put(&r->chunk, position, size);
    cr_chunk_put(&r->chunk, force, size);
    for (int32_t n = 0; n < bodies->node_count; n++) {
        cr_chunk_put(&r->chunk, vertex + 3 * (size_t)bodies->node_vertex[n], 3 * sizeof(double));
    }
    return write_chunk(r, error);
}

// What is on the disk gets its name; only then has the old file under that name gone.
static carom_status put_in_place(cr_recorder* r, carom_error* error)
{
    if (r->beside && fsync(r->file) != 0 && errno != EINVAL) {
        return refuse_write(r, errno, error);
    }
    const int closed = close(r->file) == 0;
    r->file = -1;
    if (!closed) {
        return refuse_write(r, errno, error);
    }
    if (r->beside && rename(r->beside, r->path) != 0) {
        r->failed = 1;
        return cr_status_refuse(error, CAROM_ERR_FILE, "%.300s cannot take the name %.300s: %s",
                                r->beside, r->path, strerror(errno));
    }
    r->finished = 1;
    return CAROM_OK;
}

carom_status cr_recorder_finish(cr_recorder* r, carom_status outcome, const char* text,
                                carom_error* error)
{
    if (r->failed || r->finished) {
        return refuse_misuse(r, error);
    }
    const cr_trajectory_done done = {.frame_count = r->frames,
                                     .status = (int32_t)outcome,
                                     .text_size = (int32_t)(text ? strlen(text) : 0)};
    cr_chunk_begin(&r->chunk, CR_TRAJECTORY_DONE);
    cr_chunk_put(&r->chunk, &done, sizeof done);
    cr_chunk_put(&r->chunk, text, (size_t)done.text_size);
    const carom_status status = write_chunk(r, error);
    return status == CAROM_OK ? put_in_place(r, error) : status;
}

void cr_recorder_destroy(cr_recorder* r)
{
    if (!r) {
        return;
    }
    if (r->file >= 0) {
        // a run that never got as far as a frame leaves nothing behind
        if (r->owned && r->frames == 0) {
            unlink(r->beside);
        }
        close(r->file);
    }
    cr_memory_free(r->path);
    cr_memory_free(r->beside);
    cr_chunk_release(&r->chunk);
    cr_memory_free(r);
}

const char* cr_recorder_path(const cr_recorder* r)
{
    return r->beside && !r->finished ? r->beside : r->path;
}

int64_t cr_recorder_size(const cr_recorder* r)
{
    return r->size;
}

int64_t cr_recorder_frames(const cr_recorder* r)
{
    return r->frames;
}
