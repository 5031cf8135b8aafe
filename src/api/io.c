#include "carom/io.h"
#include "api/handles.h"
#include "api/view.h"
#include "collision/intersect_frame.h"
#include "core/memory.h"
#include "io/recorder.h"
#include "io/trajectory.h"
#include <math.h>
#include <string.h>

struct carom_recorder {
    const carom_model* model;
    cr_recorder* file;
};

struct carom_trajectory {
    cr_trajectory* file;
};

_Static_assert((int)CAROM_TRAJECTORY_WHOLE == (int)CR_TRAJECTORY_WHOLE &&
                   (int)CAROM_TRAJECTORY_CUT == (int)CR_TRAJECTORY_CUT &&
                   (int)CAROM_TRAJECTORY_DAMAGED == (int)CR_TRAJECTORY_DAMAGED,
               "ends are the same inside and outside");

static carom_status missing(carom_error* error, const char* what)
{
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "%s is NULL", what);
}

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory");
}

// ---- recording

carom_recorder_options carom_recorder_default(void)
{
    return (carom_recorder_options){.struct_size = sizeof(carom_recorder_options), .every = 1};
}

carom_status carom_recorder_create(const carom_model* model, const char* path,
                                   const carom_recorder_options* options, carom_recorder** recorder,
                                   carom_error* error)
{
    const carom_recorder_options usual = carom_recorder_default();
    const carom_recorder_options* o = options ? options : &usual;
    if (!model || !path || !recorder) {
        return missing(error, !model ? "model" : !path ? "path" : "recorder");
    }
    *recorder = NULL;
    if (o->struct_size != sizeof *o) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "options.struct_size is %zu; carom_recorder_default() gives %zu",
                                o->struct_size, sizeof *o);
    }
    carom_recorder* made = cr_memory_take(1, sizeof *made);
    if (!made) {
        return no_memory(error);
    }
    made->model = model;
    const carom_status status = cr_recorder_create(model->numbers, path, o->scene_name,
                                                   o->scene_text, o->every, &made->file, error);
    if (status != CAROM_OK) {
        cr_memory_free(made);
        return status;
    }
    *recorder = made;
    return CAROM_OK;
}

carom_status carom_recorder_add(carom_recorder* recorder, const carom_sim* sim, carom_error* error)
{
    if (!recorder || !sim) {
        return missing(error, recorder ? "sim" : "recorder");
    }
    if (sim->model != recorder->model) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "the simulation is of another model than the recorder");
    }
    return cr_recorder_add(recorder->file, sim->sim, error);
}

carom_status carom_recorder_gradient(carom_recorder* recorder, const double* position,
                                     const double* force, const double* vertex, carom_error* error)
{
    return recorder && position && force && vertex
               ? cr_recorder_gradient(recorder->file, position, force, vertex, error)
               : missing(error, recorder ? "a gradient" : "recorder");
}

carom_status carom_recorder_finish(carom_recorder* recorder, carom_status outcome, const char* text,
                                   carom_error* error)
{
    if (!recorder) {
        return missing(error, "recorder");
    }
    if ((int)outcome < CAROM_OK || outcome > CAROM_ERR_INTERRUPTED) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "outcome is %d, which is no status",
                                (int)outcome);
    }
    return cr_recorder_finish(recorder->file, outcome, text, error);
}

void carom_recorder_destroy(carom_recorder* recorder)
{
    if (recorder) {
        cr_recorder_destroy(recorder->file);
        cr_memory_free(recorder);
    }
}

const char* carom_recorder_path(const carom_recorder* recorder)
{
    return recorder ? cr_recorder_path(recorder->file) : "";
}

int64_t carom_recorder_size(const carom_recorder* recorder)
{
    return recorder ? cr_recorder_size(recorder->file) : 0;
}

int64_t carom_recorder_frames(const carom_recorder* recorder)
{
    return recorder ? cr_recorder_frames(recorder->file) : 0;
}

// ---- reading

int carom_trajectory_recognise(const char* path)
{
    return path && cr_trajectory_recognise(path);
}

carom_status carom_trajectory_open(const char* path, carom_trajectory** trajectory,
                                   carom_error* error)
{
    if (!path || !trajectory) {
        return missing(error, path ? "trajectory" : "path");
    }
    *trajectory = NULL;
    carom_trajectory* made = cr_memory_take(1, sizeof *made);
    if (!made) {
        return no_memory(error);
    }
    const carom_status status = cr_trajectory_open(path, &made->file, error);
    if (status != CAROM_OK) {
        cr_memory_free(made);
        return status;
    }
    *trajectory = made;
    return CAROM_OK;
}

void carom_trajectory_close(carom_trajectory* trajectory)
{
    if (trajectory) {
        cr_trajectory_close(trajectory->file);
        cr_memory_free(trajectory);
    }
}

carom_trajectory_info carom_trajectory_about(const carom_trajectory* trajectory)
{
    if (!trajectory) {
        return (carom_trajectory_info){
            .end_text = "", .outcome_text = "", .scene_name = "", .scene_text = ""};
    }
    const cr_trajectory* file = trajectory->file;
    const cr_surface* s = &file->model->surface;
    const double* g = file->model->world.gravity;
    return (carom_trajectory_info){.frame_count = file->frame.count,
                                   .gradient_count = file->gradients,
                                   .size = file->source.size,
                                   .good_size = file->end_at,
                                   .dt = file->model->world.dt,
                                   .gravity = {g[0], g[1], g[2]},
                                   .every = file->every,
                                   .body_count = s->body_count,
                                   .vertex_count = s->vertex_count,
                                   .edge_count = s->edge_count,
                                   .face_count = s->face_count,
                                   .end = (carom_trajectory_end)file->end,
                                   .end_text = file->end_text,
                                   .outcome = file->outcome,
                                   .outcome_text = file->outcome_text,
                                   .scene_name = file->scene_name,
                                   .scene_text = file->scene_text};
}

carom_status carom_trajectory_body(const carom_trajectory* trajectory, int32_t body,
                                   carom_body_info* info)
{
    return trajectory && info ? carom_view_body(trajectory->file->model, body, info)
                              : CAROM_ERR_ARGUMENT;
}

const double* carom_trajectory_mesh(const carom_trajectory* trajectory)
{
    return trajectory ? trajectory->file->model->bodies.p : NULL;
}

const int32_t* carom_trajectory_edges(const carom_trajectory* trajectory)
{
    return trajectory ? trajectory->file->model->surface.edge : NULL;
}

const int32_t* carom_trajectory_faces(const carom_trajectory* trajectory)
{
    return trajectory ? trajectory->file->model->surface.face : NULL;
}

carom_status carom_trajectory_read(carom_trajectory* trajectory, int64_t frame, carom_error* error)
{
    return trajectory ? cr_trajectory_read(trajectory->file, frame, error)
                      : missing(error, "trajectory");
}

// ---- the frame that was read

// Of no frame everything is 0.
static cr_trajectory_step step_now(const carom_trajectory* trajectory)
{
    return trajectory && trajectory->file->step ? *trajectory->file->step : (cr_trajectory_step){0};
}

int64_t carom_trajectory_step(const carom_trajectory* trajectory)
{
    return step_now(trajectory).step;
}

double carom_trajectory_time(const carom_trajectory* trajectory)
{
    return step_now(trajectory).time;
}

uint64_t carom_trajectory_hash(const carom_trajectory* trajectory)
{
    return step_now(trajectory).state_hash;
}

carom_energy carom_trajectory_energy(const carom_trajectory* trajectory)
{
    const cr_trajectory_step s = step_now(trajectory);
    return (carom_energy){s.kinetic, s.gravity, s.elastic, s.kinetic + s.gravity + s.elastic};
}

carom_step_info carom_trajectory_step_info(const carom_trajectory* trajectory)
{
    const cr_trajectory_step s = step_now(trajectory);
    return (carom_step_info){.zones = s.zones,
                             .contacts = s.contacts,
                             .max_zone_dofs = s.max_zone_dofs,
                             .max_zone_contacts = s.max_zone_contacts,
                             .parts = s.parts,
                             .iterations = s.iterations,
                             .factorisations = s.factorisations,
                             .weakly_active = s.weakly_active,
                             .events = s.events,
                             .retries = s.retries,
                             .least_gap = s.least_gap,
                             .residual = s.residual,
                             .eased = s.eased};
}

carom_status carom_trajectory_body_state(const carom_trajectory* trajectory, int32_t body,
                                         carom_body_state* state)
{
    if (!trajectory || !state) {
        return CAROM_ERR_ARGUMENT;
    }
    const cr_trajectory* file = trajectory->file;
    return file->step ? carom_view_state(file->model, &file->state, body, state) : CAROM_ERR_MISUSE;
}

int32_t carom_trajectory_contact_count(const carom_trajectory* trajectory)
{
    return step_now(trajectory).contact_count;
}

void carom_trajectory_contact(const carom_trajectory* trajectory, int32_t i, carom_contact* contact)
{
    if (!contact) {
        return;
    }
    *contact = (carom_contact){{-1, -1}, {0}, {0}, {0}, -1};
    if (i < 0 || i >= carom_trajectory_contact_count(trajectory)) {
        return;
    }
    const cr_trajectory_contact* c = &trajectory->file->contact[i];
    memcpy(contact->body, c->body, sizeof contact->body);
    memcpy(contact->point, c->point, sizeof contact->point);
    memcpy(contact->normal, c->normal, sizeof contact->normal);
    memcpy(contact->impulse, c->impulse, sizeof contact->impulse);
    contact->zone = c->zone;
}

carom_status carom_trajectory_vertices(const carom_trajectory* trajectory, double* x)
{
    if (!trajectory || !x) {
        return CAROM_ERR_ARGUMENT;
    }
    const cr_trajectory* file = trajectory->file;
    if (!file->step) {
        return CAROM_ERR_MISUSE;
    }
    cr_state_vertices(&file->state, file->model, x);
    return CAROM_OK;
}

carom_status carom_trajectory_gradient(const carom_trajectory* trajectory, double* position,
                                       double* force, double* vertex)
{
    if (!trajectory) {
        return CAROM_ERR_ARGUMENT;
    }
    const cr_body_set* bodies = &trajectory->file->model->bodies;
    const size_t b = 3 * (size_t)bodies->body_count;
    const double* g = cr_trajectory_gradient(trajectory->file);
    if (!g) {
        return CAROM_ERR_MISUSE;
    }
    if (position) {
        memcpy(position, g, b * sizeof *g);
    }
    if (force) {
        memcpy(force, g + b, b * sizeof *g);
    }
    for (int32_t v = 0; vertex && v < bodies->vertex_count; v++) {
        const int32_t n = bodies->node[v];
        cr_vec3_store(vertex + 3 * (size_t)v,
                      n < 0 ? (cr_vec3){0, 0, 0} : cr_vec3_load(g + 2 * b + 3 * (size_t)n));
    }
    return CAROM_OK;
}

static carom_status judge(const cr_trajectory* file, const double* x, double search_distance,
                          carom_intersection* found)
{
    cr_intersect_report report;
    const carom_status status =
        cr_intersect_frame(&file->model->surface, x, file->model->bodies.radius, search_distance,
                           CR_INTERSECT_FRAME_INSIDE, &report);
    if (status != CAROM_OK) {
        return status;
    }
    *found = (carom_intersection){.face_pairs = report.pair_count,
                                  .inside = report.inside_count,
                                  .body = {-1, -1},
                                  .min_distance = report.min_distance,
                                  .min_body = {report.min_body[0], report.min_body[1]}};
    if (report.pair_count > 0) {
        memcpy(found->body, report.body, sizeof found->body);
        cr_vec3_store(found->place, report.place);
    } else if (report.inside_count > 0) {
        found->body[0] = report.inner;
        found->body[1] = report.outer;
        memcpy(found->place, x + 3 * (size_t)file->model->surface.body_vertex[report.inner],
               sizeof found->place);
    }
    return CAROM_OK;
}

carom_status carom_trajectory_intersect(const carom_trajectory* trajectory, double search_distance,
                                        carom_intersection* found, carom_error* error)
{
    if (!trajectory || !found) {
        return missing(error, trajectory ? "found" : "trajectory");
    }
    if (isnan(search_distance)) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "search_distance is %g m",
                                search_distance);
    }
    const cr_trajectory* file = trajectory->file;
    if (!file->step) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE, "no frame was read");
    }
    double* x = cr_memory_take(3 * (size_t)file->model->bodies.vertex_count, sizeof *x);
    if (!x) {
        return no_memory(error);
    }
    cr_state_vertices(&file->state, file->model, x);
    const carom_status status = judge(file, x, search_distance, found);
    cr_memory_free(x);
    return status == CAROM_OK ? status
                              : cr_status_refuse(error, status, "frame %lld: %s",
                                                 (long long)file->now, carom_status_text(status));
}
