#include "api/recording.h"
#include "core/memory.h"
#include "io/trajectory.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Times that differ by less than this part of a step are the same.
static const double same_time = 0.01;

typedef struct filling {
    const cr_model* model;
    cr_trajectory* recorded;
    cr_goal_term* term;
    int32_t index;             // of the term, for messages
    int32_t body, node, count; // in the recording: of cloth the first node and how many
    carom_error* error;
} filling;

static carom_status refuse(const filling* f, const char* why)
{
    return cr_status_refuse(f->error, CAROM_ERR_SCENE,
                            "objective.terms[%d] follows \"%.60s\" in \"%.200s\", %s", f->index,
                            f->model->name[f->term->body], f->term->recording, why);
}

static carom_status find_body(filling* f)
{
    const cr_body_set *mine = &f->model->bodies, *its = &f->recorded->model->bodies;
    const int32_t body = f->term->body;
    f->body = -1;
    for (int32_t b = 0; b < its->body_count; b++) {
        f->body = strcmp(f->recorded->model->name[b], f->model->name[body]) == 0 ? b : f->body;
    }
    if (f->body < 0 || its->kind[f->body] != mine->kind[body]) {
        return refuse(f, "where there is no such body");
    }
    const int32_t sheet = f->model->body_sheet[body];
    if (sheet < 0) {
        f->term->numbers = 3;
        return CAROM_OK;
    }
    f->node = f->count = 0; // its nodes are its vertices
    for (int32_t n = its->node_count - 1; n >= 0; n--) {
        if (its->vertex_body[its->node_vertex[n]] == f->body) {
            f->node = n;
            f->count++;
        }
    }
    if (f->count != f->model->sheet_node[sheet + 1] - f->model->sheet_node[sheet]) {
        return refuse(f, "where it has another number of nodes");
    }
    if (f->term->node >= 0) {
        f->node += f->term->node - f->model->sheet_node[sheet];
        f->count = 1;
    }
    f->term->numbers = 3 * f->count;
    return CAROM_OK;
}

// The recorded time nearest to the one asked for, as a frame.
static carom_status read_at(const filling* f, double time)
{
    const double dt = f->recorded->model->world.dt * f->recorded->every;
    const double frame = round(time / dt);
    if (!(frame >= 0.0 && frame < f->recorded->frame.count)) {
        return refuse(f, "which does not last that long");
    }
    const carom_status status = cr_trajectory_read(f->recorded, (int64_t)frame, f->error);
    if (status != CAROM_OK) {
        return status;
    }
    return fabs(f->recorded->state.time - time) <= same_time * f->model->world.dt
               ? CAROM_OK
               : refuse(f, "which has no frame at a time asked for");
}

static void copy_places(const filling* f, double* out)
{
    const int32_t frame = f->recorded->model->bodies.frame[f->body];
    const double* from = frame >= 0 ? f->recorded->state.t + 3 * (size_t)frame
                                    : f->recorded->state.x + 3 * (size_t)f->node;
    memcpy(out, from, (size_t)f->term->numbers * sizeof *out);
}

// Without times of its own a term looks at every frame after the start, and means their mean.
static carom_status take_times(const filling* f)
{
    cr_goal_term* term = f->term;
    const double dt = f->recorded->model->world.dt * f->recorded->every;
    const double most = floor(f->model->world.duration / dt + same_time);
    const int32_t frames = f->recorded->frame.count - 1;
    if (term->when == CR_GOAL_TIMES) {
        return CAROM_OK;
    }
    const int32_t count = most < frames ? (int32_t)most : frames;
    if (count < 1) {
        return refuse(f, "which has no frame after the start");
    }
    term->time = cr_memory_take((size_t)count, sizeof *term->time);
    if (!term->time) {
        return cr_status_refuse(f->error, CAROM_ERR_MEMORY, "not enough memory");
    }
    term->when = CR_GOAL_TIMES;
    term->time_count = count;
    term->weight /= count;
    for (int32_t i = 0; i < count; i++) {
        term->time[i] = (i + 1) * dt;
    }
    return CAROM_OK;
}

static carom_status fill(filling* f)
{
    carom_status status = find_body(f);
    if (status == CAROM_OK) {
        status = take_times(f);
    }
    if (status != CAROM_OK) {
        return status;
    }
    cr_goal_term* term = f->term;
    const size_t each = (size_t)term->numbers;
    double* target = cr_memory_take(each * (size_t)term->time_count, sizeof *target);
    if (!target) {
        return cr_status_refuse(f->error, CAROM_ERR_MEMORY, "not enough memory");
    }
    for (int32_t i = 0; i < term->time_count && status == CAROM_OK; i++) {
        status = read_at(f, term->time[i]);
        if (status == CAROM_OK) {
            copy_places(f, target + each * (size_t)i);
        }
    }
    cr_memory_free(term->target);
    term->target = target;
    return status;
}

carom_status carom_recording_fill(const char* folder, const cr_model* model, cr_goal* goal,
                                  carom_error* error)
{
    carom_status status = CAROM_OK;
    for (int32_t i = 0; i < goal->term_count && status == CAROM_OK; i++) {
        filling f = {.model = model, .term = &goal->term[i], .index = i, .error = error};
        const char* name = f.term->recording;
        char path[4096];
        if (!name) {
            continue;
        }
        if (name[0] == '/' || !folder) {
            snprintf(path, sizeof path, "%s", name);
        } else {
            snprintf(path, sizeof path, "%s/%s", folder, name);
        }
        if (access(path, F_OK) != 0) {
            continue;
        }
        status = cr_trajectory_open(path, &f.recorded, error);
        if (status == CAROM_OK) {
            status = fill(&f);
        }
        cr_trajectory_close(f.recorded);
    }
    return status;
}
