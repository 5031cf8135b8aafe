// fuzz_api.h - bytes as a program: each picks a public call and its arguments, NULLs, numbers out
// of range, NaNs and calls in the wrong order among them. Only what no library can survive is left
// out: objects that were destroyed, and arrays shorter than their header says.
#pragma once

#include "fuzz_scene.h"

typedef struct fuzz_api {
    const uint8_t* at;
    const uint8_t* end;
    carom_scene* scene;
    carom_model* model;
    int borrowed; // the model is one that all programs share
    carom_sim* sim;
    carom_tape* tape;
    carom_problem* problem;
    carom_recorder* recorder;
    carom_trajectory* trajectory;
    carom_mesh* mesh;
    carom_rollout* rollout;
    carom_batch* batch;
    int32_t chosen[2]; // controls of rollout and batch that come from outside
    int32_t slot[16];  // of steps that the rollout or the batch has kept, and what else stood there
    double *many, *more; // [FUZZ_API_MANY], room for whatever is asked for
    carom_body_gradient* gradient;
    int32_t most_steps, most_scenes; // time has an end
    carom_error error;
} fuzz_api;

enum { FUZZ_API_MANY = 8000, FUZZ_API_BODIES = 20, FUZZ_API_CALLS = 30, FUZZ_API_STEPS = 4 };

// ---- arguments

static inline uint8_t fuzz_api_byte(fuzz_api* f)
{
    return f->at < f->end ? *f->at++ : 0;
}

static inline int32_t fuzz_api_whole(fuzz_api* f)
{
    static const int32_t odd[] = {INT32_MIN, -1, INT32_MAX, 1 << 20, INT32_MAX / 3};
    const uint8_t b = fuzz_api_byte(f);
    return b < 250 ? b % 16 : odd[b % 5];
}

static inline double fuzz_api_number(fuzz_api* f)
{
    static const double odd[] = {0, -0.0, 1e-310, 1e300, -1e300, (double)NAN, HUGE_VAL, -HUGE_VAL};
    const uint8_t b = fuzz_api_byte(f);
    return b < 240 ? (b - 120) / 16.0 : odd[b % 8];
}

// One time in sixteen an object is forgotten.
static inline int fuzz_api_forget(fuzz_api* f)
{
    return fuzz_api_byte(f) % 16 == 15;
}
#define FUZZ_API_MAYBE(f, x) (fuzz_api_forget(f) ? NULL : (x))

static inline const char* fuzz_api_word(fuzz_api* f)
{
    static const char* const words[] = {"world.dt",
                                        "0.01",
                                        "bodies.a.mass",
                                        "-1",
                                        "bodies[0]",
                                        "null",
                                        "bodies[1].velocity",
                                        "[1, 2, 3]",
                                        "",
                                        "a",
                                        "b",
                                        "box",
                                        "size",
                                        "bodies.b.position[2]",
                                        "1e999",
                                        "/nowhere/at/all",
                                        "rigid-ipc",
                                        "arcsim",
                                        "\xff\xfe",
                                        "world.max_iterations",
                                        "bodies.c.stretch",
                                        "\"",
                                        "{}",
                                        "x",
                                        "nx",
                                        "sheet",
                                        "sphere"};
    const uint8_t b = fuzz_api_byte(f);
    return b >= 250 ? NULL : words[b % (sizeof words / sizeof *words)];
}

static const char* const fuzz_api_files[] = {"a.json", "a.carom",    "a.obj",
                                             "a.ply",  "none/a.obj", ""};

static inline const char* fuzz_api_path(fuzz_api* f)
{
    static char path[64];
    const uint8_t b = fuzz_api_byte(f);
    snprintf(path, sizeof path, "%s/%s", fuzz_scene_folder(), fuzz_api_files[b % 6]);
    return b >= 250 ? NULL : path;
}

// Takes away what was written, at the end of a program.
static inline void fuzz_api_tidy(void)
{
    char path[64];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", fuzz_scene_folder(), fuzz_api_files[i]);
        unlink(path);
        snprintf(path, sizeof path, "%s/%s.part", fuzz_scene_folder(), fuzz_api_files[i]);
        unlink(path);
    }
    rmdir(fuzz_scene_folder());
}

// ---- what is judged

static inline int fuzz_api_good(fuzz_api* f, carom_status status, const carom_error* told)
{
    const int good = told ? fuzz_scene_good(status, told) : status == CAROM_OK;
    fuzz_scene_keep(carom_status_text(status)[0] != 0);
    memset(&f->error, 0, sizeof f->error);
    return good;
}

static inline void fuzz_api_feel(void* user, int64_t step, const carom_bars* bars)
{
    fuzz_api* f = user;
    (void)step;
    if (carom_model_body_count(f->model) > 0) {
        bars->position[0] += fuzz_api_number(f);
    }
}

static inline void fuzz_api_watch(void* user, int64_t step, const double* position,
                                  const double* force, const double* vertex)
{
    fuzz_api* f = user;
    fuzz_scene_keep(step >= 0 && position && force && (vertex || f->model));
}

static inline int fuzz_api_stop(void* user)
{
    fuzz_api* f = user;
    return f->most_steps-- < 0 || fuzz_api_byte(f) > 250;
}

// ---- objects go in the order of who needs whom

static inline void fuzz_api_close(fuzz_api* f, int model_too, int scene_too)
{
    carom_recorder_destroy(f->recorder);
    carom_batch_destroy(f->batch);
    carom_rollout_destroy(f->rollout);
    carom_problem_destroy(f->problem);
    carom_tape_destroy(f->tape);
    carom_sim_destroy(f->sim);
    f->batch = NULL;
    f->rollout = NULL;
    f->recorder = NULL;
    f->problem = NULL;
    f->tape = NULL;
    f->sim = NULL;
    if (model_too) {
        carom_model_destroy(f->borrowed ? NULL : f->model);
        f->model = NULL;
        f->borrowed = 0;
    }
    if (scene_too) {
        carom_scene_destroy(f->scene);
        f->scene = NULL;
    }
}

static const char* const fuzz_api_scenes[] = {
    ("{\"carom\": 1, \"world\": {\"max_halvings\": 0, \"max_iterations\": 5}, \"bodies\": [{"
     "\"name\": \"floor\", \"type\": \"fixed\", \"mesh\": {\"sheet\": {\"nx\": 1, \"ny\": 1}}},"
     "{\"name\": \"a\", \"sphere\": {\"radius\": 0.1}, \"position\": [0, 0, 0.12], \"mass\": 1},"
     "{\"name\": \"b\", \"mesh\": {\"box\": {\"x\": 0.1, \"y\": 0.1, \"z\": 0.1}},"
     " \"position\": [0.3, 0, 0.06]}], \"objective\": {\"terms\": [{\"what\": \"position\","
     " \"of\": \"a\"}]}, \"parameters\": [{\"of\": \"a\", \"what\": \"velocity\"}]}"),
    ("{\"carom\": 1, \"world\": {\"max_halvings\": 0, \"max_iterations\": 5}, \"bodies\": [{"
     "\"name\": \"c\", \"type\": \"cloth\", \"mesh\": {\"sheet\": {\"nx\": 2, \"ny\": 2}}}]}"),
    "{\"carom\": 1, \"bodies\": []}",
    "{\"carom\": 1}",
    "[",
    ""};

// Reading a scene takes longer than all else that a program does: those that can be built are,
// once, and a program begins with one of their models. It may still read its own.
static inline carom_model* fuzz_api_ready(int which)
{
    enum { READY = 3 };
    static carom_model* models[READY];
    carom_error error = {CAROM_OK, ""};
    carom_scene* scene = NULL;
    const char* text = fuzz_api_scenes[which % READY];
    carom_model** model = &models[which % READY];
    if (!*model) {
        fuzz_scene_keep(carom_scene_parse(text, strlen(text), NULL, &scene, &error) == CAROM_OK &&
                        carom_model_create(scene, model, &error) == CAROM_OK);
        carom_scene_destroy(scene);
    }
    return *model;
}

static inline void fuzz_api_make(fuzz_api* f, uint8_t which)
{
    carom_error* const e = FUZZ_API_MAYBE(f, &f->error);
    switch (which % 8) {
    case 0: {
        const char* text = fuzz_api_scenes[fuzz_api_byte(f) % 6];
        if (f->most_scenes-- <= 0) {
            break;
        }
        fuzz_api_close(f, 1, 1);
        fuzz_api_good(f,
                      carom_scene_parse(FUZZ_API_MAYBE(f, text), strlen(text), NULL,
                                        FUZZ_API_MAYBE(f, &f->scene), e),
                      e);
        break;
    }
    case 1:
        fuzz_api_close(f, 1, 0);
        if (!f->scene && (which & 8)) {
            f->model = fuzz_api_ready(fuzz_api_byte(f));
            f->borrowed = 1;
            break;
        }
        fuzz_api_good(
            f, carom_model_create(FUZZ_API_MAYBE(f, f->scene), FUZZ_API_MAYBE(f, &f->model), e), e);
        fuzz_scene_keep(3 * carom_model_vertex_count(f->model) < FUZZ_API_MANY &&
                        carom_model_body_count(f->model) < FUZZ_API_BODIES);
        break;
    case 2:
        carom_sim_destroy(f->sim);
        f->sim = NULL;
        fuzz_api_good(f,
                      carom_sim_create(FUZZ_API_MAYBE(f, f->model), fuzz_api_byte(f) % 4 - 1,
                                       FUZZ_API_MAYBE(f, &f->sim), e),
                      e);
        break;
    case 3:
        carom_tape_destroy(f->tape);
        f->tape = NULL;
        fuzz_api_good(f,
                      carom_tape_create(FUZZ_API_MAYBE(f, f->model), fuzz_api_byte(f) % 3,
                                        (size_t)fuzz_api_whole(f), FUZZ_API_MAYBE(f, &f->tape), e),
                      e);
        break;
    case 4: {
        carom_problem_options o = carom_problem_default();
        o.steps = fuzz_api_byte(f) % 4;
        o.stop = fuzz_api_stop;
        o.user = f;
        o.struct_size -= fuzz_api_forget(f);
        carom_problem_destroy(f->problem);
        f->problem = NULL;
        fuzz_api_good(f,
                      carom_problem_create(FUZZ_API_MAYBE(f, f->model), &o,
                                           FUZZ_API_MAYBE(f, &f->problem), e),
                      e);
        break;
    }
    case 5: {
        carom_recorder_options o = carom_recorder_default();
        o.every = fuzz_api_whole(f);
        o.scene_name = fuzz_api_word(f);
        o.struct_size += fuzz_api_forget(f);
        carom_recorder_destroy(f->recorder);
        f->recorder = NULL;
        fuzz_api_good(f,
                      carom_recorder_create(FUZZ_API_MAYBE(f, f->model), fuzz_api_path(f),
                                            FUZZ_API_MAYBE(f, &o), FUZZ_API_MAYBE(f, &f->recorder),
                                            e),
                      e);
        break;
    }
    case 6:
        carom_trajectory_close(f->trajectory);
        f->trajectory = NULL;
        fuzz_api_good(
            f, carom_trajectory_open(fuzz_api_path(f), FUZZ_API_MAYBE(f, &f->trajectory), e), e);
        break;
    default: {
        const char* names[3] = {fuzz_api_word(f), fuzz_api_word(f), fuzz_api_word(f)};
        const double values[3] = {fuzz_api_number(f), fuzz_api_number(f), fuzz_api_number(f)};
        carom_mesh_destroy(f->mesh);
        f->mesh = NULL;
        if (fuzz_api_byte(f) % 2) {
            fuzz_api_good(f,
                          carom_mesh_generate(fuzz_api_word(f), names, values, fuzz_api_byte(f) % 4,
                                              FUZZ_API_MAYBE(f, &f->mesh), e),
                          e);
        } else {
            fuzz_api_good(f, carom_mesh_load(fuzz_api_path(f), FUZZ_API_MAYBE(f, &f->mesh), e), e);
        }
    }
    }
}

static inline void fuzz_api_scene_calls(fuzz_api* f, uint8_t which)
{
    carom_error* const e = FUZZ_API_MAYBE(f, &f->error);
    const carom_model* m = FUZZ_API_MAYBE(f, f->model);
    char *text = NULL, *notes = NULL;
    int32_t body = 0;
    carom_body_info info;
    switch (which % 8) {
    case 0:
        fuzz_api_good(f, carom_scene_set(f->scene, fuzz_api_word(f), fuzz_api_word(f), e), e);
        break;
    case 1:
        fuzz_api_good(f, carom_scene_text(f->scene, FUZZ_API_MAYBE(f, &text), e), e);
        break;
    case 2:
        fuzz_api_good(f, carom_scene_save(f->scene, fuzz_api_path(f), e), e);
        break;
    case 3:
        fuzz_api_good(f,
                      carom_scene_import(fuzz_api_path(f), fuzz_api_word(f), fuzz_api_word(f),
                                         &text, FUZZ_API_MAYBE(f, &notes), e),
                      e);
        break;
    case 4:
        carom_model_body(m, fuzz_api_whole(f), FUZZ_API_MAYBE(f, &info));
        fuzz_scene_keep(carom_model_body_name(m, fuzz_api_whole(f)) != NULL);
        fuzz_scene_keep(carom_model_note(m, fuzz_api_whole(f)) != NULL);
        carom_model_body_find(m, fuzz_api_word(f));
        break;
    case 5:
        carom_model_term(m, fuzz_api_whole(f), FUZZ_API_MAYBE(f, &body));
        carom_model_parameter(m, fuzz_api_whole(f), FUZZ_API_MAYBE(f, &body));
        break;
    case 6:
        fuzz_scene_keep(carom_model_dt(m) >= 0 && carom_model_duration(m) >= 0);
        fuzz_scene_keep(carom_model_term_count(m) >= 0 && carom_model_parameter_count(m) >= 0 &&
                        carom_model_note_count(m) >= 0);
        break;
    default: {
        carom_parameter_kind kind;
        fuzz_scene_keep(carom_body_kind_name((carom_body_kind)fuzz_api_whole(f)) != NULL);
        fuzz_scene_keep(carom_status_text((carom_status)fuzz_api_whole(f)) != NULL);
        fuzz_scene_keep(carom_parameter_kind_count() > 0 && carom_version() != NULL);
        carom_parameter_kind_at(fuzz_api_whole(f), FUZZ_API_MAYBE(f, &kind));
    }
    }
    carom_scene_text_free(text);
    carom_scene_text_free(notes);
}

static inline void fuzz_api_sim_calls(fuzz_api* f, uint8_t which)
{
    carom_error* const e = FUZZ_API_MAYBE(f, &f->error);
    carom_sim* s = FUZZ_API_MAYBE(f, f->sim);
    carom_body_state state;
    carom_contact contact;
    double a[3], b[3];
    switch (which % 8) {
    case 0:
    case 1:
        if (f->most_steps-- > 0) {
            const uint64_t before = carom_sim_hash(s);
            if (!fuzz_api_good(f, carom_sim_step(s, e), e)) {
                fuzz_scene_keep(carom_sim_hash(s) == before);
            }
        }
        break;
    case 2:
        for (int i = 0; i < 3; i++) {
            a[i] = fuzz_api_number(f);
            b[i] = fuzz_api_number(f);
        }
        carom_sim_set_force(s, fuzz_api_whole(f), FUZZ_API_MAYBE(f, a), FUZZ_API_MAYBE(f, b));
        break;
    case 3:
        carom_sim_body(s, fuzz_api_whole(f), FUZZ_API_MAYBE(f, &state));
        carom_sim_contact(s, fuzz_api_whole(f), FUZZ_API_MAYBE(f, &contact));
        carom_sim_vertices(s, FUZZ_API_MAYBE(f, f->many));
        break;
    case 4:
        carom_sim_momentum(s, FUZZ_API_MAYBE(f, a), FUZZ_API_MAYBE(f, b));
        carom_sim_energy(s);
        carom_sim_info(s);
        break;
    case 5:
        carom_sim_reset(s);
        break;
    case 6:
        fuzz_scene_keep(carom_sim_time(s) >= 0 && carom_sim_steps(s) >= 0);
        fuzz_scene_keep(carom_sim_contact_count(s) >= 0);
        break;
    default: {
        double x[24], toi = 2;
        for (int i = 0; i < 24; i++) {
            x[i] = fuzz_api_number(f);
        }
        fuzz_scene_keep(carom_ccd_hit((carom_pair)fuzz_api_whole(f), FUZZ_API_MAYBE(f, x),
                                      FUZZ_API_MAYBE(f, x + 12), fuzz_api_number(f), &toi) <= 1);
        fuzz_scene_keep(toi >= 0 && toi <= 1);
    }
    }
}

static inline void fuzz_api_problem_calls(fuzz_api* f, uint8_t which)
{
    carom_error* const e = FUZZ_API_MAYBE(f, &f->error);
    carom_problem* p = FUZZ_API_MAYBE(f, f->problem);
    carom_parameter_info info;
    const int32_t size = carom_problem_size(p);
    double value;
    fuzz_scene_keep(size < FUZZ_API_MANY / 4);
    carom_problem_scene(p, f->many);
    if (size > 0) {
        f->many[0] = fuzz_api_number(f);
    }
    switch (which % 8) {
    case 0:
        fuzz_api_good(
            f, carom_problem_value(p, FUZZ_API_MAYBE(f, f->many), FUZZ_API_MAYBE(f, &value), e), e);
        break;
    case 1:
        fuzz_api_good(f,
                      carom_problem_gradient(p, FUZZ_API_MAYBE(f, f->many), &value,
                                             FUZZ_API_MAYBE(f, f->more), e),
                      e);
        break;
    case 2:
        carom_problem_parameter(p, fuzz_api_whole(f), FUZZ_API_MAYBE(f, &info));
        carom_problem_range(p, FUZZ_API_MAYBE(f, f->more), f->more + FUZZ_API_MANY / 4,
                            f->more + FUZZ_API_MANY / 2);
        break;
    case 3:
        carom_problem_watch(p, FUZZ_API_MAYBE(f, fuzz_api_watch), f);
        carom_problem_about(p);
        fuzz_scene_keep(carom_problem_steps(p) >= 0 && carom_problem_parameter_count(p) >= 0);
        break;
    case 4: {
        char* notes = NULL;
        fuzz_api_good(f,
                      carom_problem_apply(p, FUZZ_API_MAYBE(f, f->many), f->scene,
                                          FUZZ_API_MAYBE(f, &notes), e),
                      e);
        carom_scene_text_free(notes);
        break;
    }
    case 5: {
        carom_optimize_options o = carom_optimize_default();
        carom_optimize_report report;
        o.method = (carom_optimize_method)(fuzz_api_byte(f) % 5);
        o.iterations = fuzz_api_byte(f) % 3 - 1;
        o.rate = fuzz_api_number(f);
        o.tolerance = fuzz_api_number(f);
        fuzz_api_good(f,
                      carom_problem_optimize(p, &o, FUZZ_API_MAYBE(f, f->many),
                                             FUZZ_API_MAYBE(f, &report), e),
                      e);
        break;
    }
    default: {
        carom_check_options o = carom_check_default();
        carom_check_report report;
        carom_check_row rows[16];
        o.step = fuzz_api_number(f);
        o.most = fuzz_api_byte(f) % 3;
        if (carom_problem_parameter_count(p) <= 16) {
            fuzz_api_good(f,
                          carom_problem_check(p, f->many, &o, FUZZ_API_MAYBE(f, f->more),
                                              FUZZ_API_MAYBE(f, rows), FUZZ_API_MAYBE(f, &report),
                                              e),
                          e);
        }
    }
    }
}

static inline void fuzz_api_tape_calls(fuzz_api* f, uint8_t which)
{
    carom_error* const e = FUZZ_API_MAYBE(f, &f->error);
    carom_tape* t = FUZZ_API_MAYBE(f, f->tape);
    switch (which % 4) {
    case 0:
    case 1:
        if (f->most_steps-- > 0) {
            fuzz_api_good(f, carom_tape_step(t, FUZZ_API_MAYBE(f, f->sim), e), e);
        }
        break;
    case 2: {
        const carom_tape_listener listener = {f, FUZZ_API_MAYBE(f, fuzz_api_feel), NULL};
        carom_gradient gradient = {.body = FUZZ_API_MAYBE(f, f->gradient),
                                   .vertex = FUZZ_API_MAYBE(f, f->more)};
        fuzz_api_good(
            f,
            carom_tape_backward(t, FUZZ_API_MAYBE(f, &listener), FUZZ_API_MAYBE(f, &gradient), e),
            e);
        break;
    }
    default:
        fuzz_scene_keep(carom_tape_steps(t) >= 0);
        carom_tape_bytes(t);
        if (fuzz_api_byte(f) % 2) {
            carom_tape_rewind(t);
        } else {
            carom_tape_reset(t);
        }
    }
}

static inline void fuzz_api_file_calls(fuzz_api* f, uint8_t which)
{
    carom_error* const e = FUZZ_API_MAYBE(f, &f->error);
    carom_trajectory* t = FUZZ_API_MAYBE(f, f->trajectory);
    carom_body_info info;
    carom_body_state state;
    carom_contact contact;
    carom_intersection found;
    switch (which % 8) {
    case 0:
    case 1:
        fuzz_api_good(f, carom_recorder_add(f->recorder, FUZZ_API_MAYBE(f, f->sim), e), e);
        if (f->model && fuzz_api_byte(f) % 4 == 0) {
            fuzz_api_good(f,
                          carom_recorder_gradient(f->recorder, FUZZ_API_MAYBE(f, f->many), f->many,
                                                  FUZZ_API_MAYBE(f, f->more), e),
                          e);
        }
        break;
    case 2:
        fuzz_api_good(f,
                      carom_recorder_finish(f->recorder, (carom_status)(fuzz_api_byte(f) % 16),
                                            fuzz_api_word(f), e),
                      e);
        break;
    case 3:
        fuzz_scene_keep(carom_recorder_path(f->recorder) != NULL);
        fuzz_scene_keep(carom_recorder_size(f->recorder) >= 0 &&
                        carom_recorder_frames(f->recorder) >= 0);
        carom_trajectory_recognise(fuzz_api_path(f));
        break;
    case 4:
        fuzz_api_good(f, carom_trajectory_read(t, fuzz_api_whole(f), e), e);
        break;
    case 5:
        carom_trajectory_body(t, fuzz_api_whole(f), FUZZ_API_MAYBE(f, &info));
        carom_trajectory_body_state(t, fuzz_api_whole(f), FUZZ_API_MAYBE(f, &state));
        carom_trajectory_contact(t, fuzz_api_whole(f), FUZZ_API_MAYBE(f, &contact));
        carom_trajectory_vertices(t, FUZZ_API_MAYBE(f, f->many));
        carom_trajectory_gradient(t, FUZZ_API_MAYBE(f, f->many), NULL, FUZZ_API_MAYBE(f, f->more));
        break;
    case 6:
        fuzz_api_good(
            f, carom_trajectory_intersect(t, fuzz_api_number(f), FUZZ_API_MAYBE(f, &found), e), e);
        break;
    default:
        fuzz_scene_keep(carom_trajectory_about(t).scene_name != NULL);
        carom_trajectory_energy(t);
        carom_trajectory_step_info(t);
        carom_trajectory_hash(t);
        fuzz_scene_keep(carom_trajectory_step(t) >= 0 && carom_trajectory_time(t) >= 0);
        fuzz_scene_keep(carom_trajectory_contact_count(t) >= 0);
        fuzz_scene_keep(!t || (carom_trajectory_mesh(t) && carom_trajectory_faces(t)));
        carom_trajectory_edges(t);
    }
}

static inline void fuzz_api_mesh_calls(fuzz_api* f, uint8_t which)
{
    static carom_mesh_report report;
    carom_error* const e = FUZZ_API_MAYBE(f, &f->error);
    carom_mesh* m = FUZZ_API_MAYBE(f, f->mesh);
    carom_mesh_param row;
    switch (which % 4) {
    case 0: {
        double x[12];
        int32_t faces[12];
        for (int i = 0; i < 12; i++) {
            x[i] = fuzz_api_number(f);
            faces[i] = fuzz_api_byte(f) % 4 - fuzz_api_forget(f);
        }
        carom_mesh_destroy(f->mesh);
        f->mesh = NULL;
        const int32_t n = fuzz_api_byte(f) % 6 - 1, k = fuzz_api_byte(f) % 6 - 1;
        fuzz_api_good(f,
                      carom_mesh_create(FUZZ_API_MAYBE(f, x), n, FUZZ_API_MAYBE(f, faces), k,
                                        FUZZ_API_MAYBE(f, &f->mesh), e),
                      e);
        break;
    }
    case 1:
        fuzz_api_good(f, carom_mesh_save(m, fuzz_api_path(f), e), e);
        break;
    case 2: {
        carom_mesh_repair_options o = carom_mesh_repair_default();
        carom_mesh_repair_report done;
        o.weld = fuzz_api_number(f);
        o.hole_edges = fuzz_api_whole(f);
        fuzz_api_good(f, carom_mesh_examine(m, FUZZ_API_MAYBE(f, &report), e), e);
        fuzz_api_good(f, carom_mesh_repair(m, FUZZ_API_MAYBE(f, &o), FUZZ_API_MAYBE(f, &done), e),
                      e);
        break;
    }
    default:
        carom_mesh_vertices(m);
        carom_mesh_faces(m);
        carom_mesh_uv(m);
        carom_mesh_face_uv(m);
        fuzz_scene_keep(carom_mesh_vertex_count(m) >= 0 && carom_mesh_face_count(m) >= 0 &&
                        carom_mesh_uv_count(m) >= 0);
        fuzz_scene_keep(carom_mesh_shape_count() > 0 && carom_mesh_formats() != NULL);
        carom_mesh_shape_name(fuzz_api_whole(f));
        carom_mesh_shape_about(fuzz_api_whole(f));
        carom_mesh_shape_param(fuzz_api_whole(f), fuzz_api_whole(f), FUZZ_API_MAYBE(f, &row));
    }
}

// ---- rollouts. Slots are numbers like any other: those of dropped steps and wild ones are
// refused.

static inline void fuzz_api_fill(fuzz_api* f, double* x, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        x[i] = i < 4 ? fuzz_api_number(f) : 0.25;
    }
}

// The state it has, with one number changed: a wholly wild one is a heap that nothing can solve.
static inline void fuzz_api_nudge(fuzz_api* f, double* state, int32_t size)
{
    const uint8_t at = fuzz_api_byte(f);
    if (size > 0) {
        state[at % size] = fuzz_api_number(f);
    }
}

static inline void fuzz_api_rollout_calls(fuzz_api* f, uint8_t which)
{
    carom_error* const e = FUZZ_API_MAYBE(f, &f->error);
    carom_rollout* r = FUZZ_API_MAYBE(f, f->rollout);
    const carom_layout l = carom_rollout_layout(r);
    const int32_t count = fuzz_api_byte(f) % 4 - 1;
    double *x = f->many, *y = f->more;
    int32_t done = 0, index[3] = {fuzz_api_whole(f), fuzz_api_whole(f), fuzz_api_whole(f)};
    carom_parameter_info info;
    fuzz_scene_keep(2 * l.state_size + 3 * (l.state_size + l.control_size) + l.theta_size <
                    FUZZ_API_MANY / 2);
    switch (which % 8) {
    case 0:
        carom_batch_destroy(f->batch);
        carom_rollout_destroy(f->rollout);
        f->batch = NULL;
        f->rollout = NULL;
        memset(f->chosen, 0, sizeof f->chosen);
        fuzz_api_good(f,
                      carom_rollout_create(FUZZ_API_MAYBE(f, f->model), fuzz_api_byte(f) % 3,
                                           FUZZ_API_MAYBE(f, &f->rollout), e),
                      e);
        fuzz_api_good(f,
                      carom_batch_create(FUZZ_API_MAYBE(f, f->model), count, 1,
                                         FUZZ_API_MAYBE(f, &f->batch), e),
                      e);
        break;
    case 1:
        if (fuzz_api_good(f, carom_rollout_choose(r, count, FUZZ_API_MAYBE(f, index), e), e)) {
            f->chosen[0] = count;
        }
        break;
    case 2:
        carom_rollout_scene(r, x);
        fuzz_api_nudge(f, x, l.theta_size);
        fuzz_api_good(f, carom_rollout_write(r, FUZZ_API_MAYBE(f, x), e), e);
        carom_rollout_state(r, x);
        fuzz_api_nudge(f, x, l.state_size);
        fuzz_api_good(f, carom_rollout_place(r, FUZZ_API_MAYBE(f, x), fuzz_api_whole(f), e), e);
        break;
    case 3:
        f->most_steps -= count > 0 ? count : 0;
        fuzz_api_fill(f, x, 3 * f->chosen[0]);
        if (f->most_steps >= 0) {
            fuzz_api_good(f,
                          carom_rollout_run(r, count, FUZZ_API_MAYBE(f, x), FUZZ_API_MAYBE(f, y),
                                            FUZZ_API_MAYBE(f, f->slot), FUZZ_API_MAYBE(f, &done),
                                            e),
                          e);
        }
        break;
    case 4:
        f->slot[3] = fuzz_api_whole(f);
        fuzz_api_fill(f, x, l.state_size);
        fuzz_api_good(f,
                      carom_rollout_back(r, count, FUZZ_API_MAYBE(f, f->slot + (index[0] & 1)),
                                         NULL, FUZZ_API_MAYBE(f, x), y, FUZZ_API_MAYBE(f, y + 2000),
                                         e),
                      e);
        fuzz_api_good(f, carom_rollout_start_back(r, FUZZ_API_MAYBE(f, x), y, e), e);
        break;
    case 5:
        carom_rollout_drop(r, count, FUZZ_API_MAYBE(f, f->slot));
        break;
    case 6:
        if (l.state_size * (l.state_size + l.theta_size) < FUZZ_API_MANY) {
            fuzz_api_good(f,
                          carom_rollout_jacobian(r, 1, FUZZ_API_MAYBE(f, f->slot),
                                                 FUZZ_API_MAYBE(f, x), NULL, FUZZ_API_MAYBE(f, y),
                                                 e),
                          e);
        }
        break;
    default:
        carom_rollout_parameter(r, index[0], FUZZ_API_MAYBE(f, &info));
        carom_rollout_scene(r, FUZZ_API_MAYBE(f, x));
        carom_rollout_range(r, FUZZ_API_MAYBE(f, x), y, y + l.theta_size);
        carom_rollout_state(r, FUZZ_API_MAYBE(f, x));
        fuzz_scene_keep(!r || (carom_rollout_model(r) && carom_rollout_sim(r)));
    }
}

static inline void fuzz_api_batch_calls(fuzz_api* f, uint8_t which)
{
    carom_error* const e = FUZZ_API_MAYBE(f, &f->error);
    carom_batch* b = FUZZ_API_MAYBE(f, f->batch);
    const carom_layout l = carom_rollout_layout(carom_batch_item(b, 0));
    const int32_t steps = fuzz_api_byte(f) % 4 - 1;
    double *x = f->many, *y = f->more;
    int32_t index[3] = {fuzz_api_whole(f), fuzz_api_whole(f), fuzz_api_whole(f)};
    fuzz_scene_keep(carom_batch_count(b) <= 2 && 6 * l.state_size + 2 * l.theta_size < 4000);
    switch (which % 4) {
    case 0:
        if (fuzz_api_good(f, carom_batch_choose(b, steps, FUZZ_API_MAYBE(f, index), e), e)) {
            f->chosen[1] = steps;
        }
        carom_batch_item(b, index[0]);
        break;
    case 1:
        carom_rollout_scene(carom_batch_item(b, 0), x);
        carom_rollout_scene(carom_batch_item(b, 0), x + l.theta_size);
        fuzz_api_nudge(f, x, 2 * l.theta_size);
        fuzz_api_good(f, carom_batch_write(b, FUZZ_API_MAYBE(f, x), fuzz_api_byte(f) % 2, e), e);
        carom_batch_state(b, x);
        fuzz_api_nudge(f, x, carom_batch_count(b) * l.state_size);
        fuzz_api_good(f, carom_batch_place(b, FUZZ_API_MAYBE(f, x), fuzz_api_whole(f), e), e);
        carom_batch_state(b, FUZZ_API_MAYBE(f, x));
        break;
    case 2:
        f->most_steps -= steps > 0 ? 2 * steps : 0;
        fuzz_api_fill(f, x, 6 * f->chosen[1]);
        if (f->most_steps >= 0) {
            fuzz_api_good(f,
                          carom_batch_run(b, steps, FUZZ_API_MAYBE(f, x), FUZZ_API_MAYBE(f, y),
                                          FUZZ_API_MAYBE(f, f->slot), FUZZ_API_MAYBE(f, index), e),
                          e);
        }
        break;
    default:
        fuzz_api_fill(f, x, 2 * l.state_size);
        fuzz_api_good(f,
                      carom_batch_back(b, steps, FUZZ_API_MAYBE(f, f->slot), NULL,
                                       FUZZ_API_MAYBE(f, x), y, FUZZ_API_MAYBE(f, y + 2000), e),
                      e);
        fuzz_api_good(f, carom_batch_start_back(b, FUZZ_API_MAYBE(f, x), y, e), e);
        carom_batch_drop(b, steps, FUZZ_API_MAYBE(f, f->slot));
    }
}

static inline void fuzz_api_run(const uint8_t* data, size_t size)
{
    static double many[FUZZ_API_MANY], more[FUZZ_API_MANY];
    static carom_body_gradient gradient[FUZZ_API_BODIES];
    fuzz_api f = {.at = data,
                  .end = data + size,
                  .most_steps = FUZZ_API_STEPS,
                  .most_scenes = 1,
                  .many = many,
                  .more = more,
                  .gradient = gradient};
    f.model = fuzz_api_ready(fuzz_api_byte(&f));
    f.borrowed = 1;
    for (int i = 0; i < FUZZ_API_CALLS && f.at < f.end; i++) {
        const uint8_t room = fuzz_api_byte(&f), which = fuzz_api_byte(&f);
        switch (room % 10) {
        case 0:
        case 1:
            fuzz_api_make(&f, which);
            break;
        case 2:
            fuzz_api_scene_calls(&f, which);
            break;
        case 3:
            fuzz_api_sim_calls(&f, which);
            break;
        case 4:
            fuzz_api_problem_calls(&f, which);
            break;
        case 5:
            fuzz_api_tape_calls(&f, which);
            break;
        case 6:
            fuzz_api_file_calls(&f, which);
            break;
        case 7:
            fuzz_api_rollout_calls(&f, which);
            break;
        case 8:
            fuzz_api_batch_calls(&f, which);
            break;
        default:
            fuzz_api_mesh_calls(&f, which);
        }
    }
    fuzz_api_close(&f, 1, 1);
    carom_trajectory_close(f.trajectory);
    carom_mesh_destroy(f.mesh);
}
