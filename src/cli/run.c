#include "carom/io.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/measure.h"
#include "cli/plot.h"
#include "cli/progress.h"
#include "cli/set.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct run_request {
    const char* path;
    const char *steps_text, *seconds_text, *dt_text, *out, *every_text, *threads_text, *plot;
    cli_list set;
    int json;
    int64_t steps; // -1: as long as the scene says
    int64_t every, threads;
} run_request;

// Everything a run holds, and what it saw on the way.
typedef struct run {
    const run_request* request;
    carom_scene* scene;
    carom_model* model;
    carom_sim* sim;
    carom_recorder* recorder;
    int64_t steps_wanted, steps_done;
    double forward_s, cpu_s; // of the steps alone
    double energy_start;     // J
    double min_gap;          // m, over all step ends; HUGE_VAL: nothing came near
    int32_t max_contacts, max_zone_dofs, max_zone_contacts, max_zones, max_parts;
    int64_t iterations, events, retries;
    int64_t eased;      // steps in which something got less friction than it has
    int64_t unfinished; // steps that ended when the iteration budget was spent
    double max_residual;
    int64_t recorded;     // the first step whose state has not been
    carom_status outcome; // what stopped it, or CAROM_OK
    carom_error error;
} run;

// ---- stopping by hand

static volatile sig_atomic_t stop_asked; // an int wherever there is sigaction

static void ask_to_stop(int which)
{
    (void)which;
    stop_asked = 1;
}

// The first signal asks, the second one ends the program as usual.
static void listen_for_stop(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

// ---- the run

static int larger(int32_t* most, int32_t value)
{
    *most = value > *most ? value : *most;
    return *most;
}

static void note_step(run* r)
{
    const carom_step_info info = carom_sim_info(r->sim);
    larger(&r->max_contacts, info.contacts);
    larger(&r->max_zone_dofs, info.max_zone_dofs);
    larger(&r->max_zone_contacts, info.max_zone_contacts);
    larger(&r->max_zones, info.zones);
    larger(&r->max_parts, info.parts);
    r->iterations += info.iterations;
    r->events += info.events;
    r->retries += info.retries;
    r->eased += info.eased > 0;
    r->unfinished += info.unfinished > 0;
    r->max_residual = fmax(r->max_residual, info.residual);
    r->min_gap = fmin(r->min_gap, info.least_gap);
}

// The last state is recorded too, whatever --every says.
static carom_status record(run* r)
{
    const int due = r->steps_done % r->request->every == 0;
    const int last = r->steps_done == r->steps_wanted || stop_asked;
    if (!r->recorder || !(due || last) || r->recorded > r->steps_done) {
        return CAROM_OK;
    }
    r->recorded = r->steps_done + 1;
    return carom_recorder_add(r->recorder, r->sim, &r->error);
}

static void step_all(run* r)
{
    cli_progress progress = cli_progress_start("steps", !r->request->json);
    carom_sim_set_stop(r->sim, &stop_asked); // a step may take long
    r->outcome = record(r);
    while (r->outcome == CAROM_OK && r->steps_done < r->steps_wanted) {
        if (stop_asked) {
            r->outcome = CAROM_ERR_INTERRUPTED;
            break;
        }
        const double wall = cli_measure_wall(), cpu = cli_measure_cpu();
        r->outcome = carom_sim_step(r->sim, &r->error);
        r->forward_s += cli_measure_wall() - wall;
        r->cpu_s += cli_measure_cpu() - cpu;
        if (r->outcome == CAROM_OK) {
            r->steps_done++;
            note_step(r);
            r->outcome = record(r);
        }
        char note[40];
        snprintf(note, sizeof note, "%d contacts", carom_sim_info(r->sim).contacts);
        cli_progress_show(&progress, r->steps_done, r->steps_wanted, note);
    }
    if (r->outcome == CAROM_ERR_INTERRUPTED && record(r) != CAROM_OK) {
        r->outcome = CAROM_ERR_FILE;
    }
    cli_progress_end(&progress);
}

// The file is kept however the run ended; a failure to write is told as such.
static void finish_file(run* r)
{
    if (!r->recorder || r->outcome == CAROM_ERR_FILE) {
        return;
    }
    carom_error error = {0};
    const char* text = r->outcome == CAROM_OK ? NULL : r->error.message;
    if (carom_recorder_finish(r->recorder, r->outcome, text, &error) != CAROM_OK) {
        r->outcome = error.status;
        r->error = error;
    }
}

// ---- what is told

static json_t* final_of(const carom_body_info* info, const carom_body_state* state)
{
    json_t* body = json_object();
    if (info->kind == CAROM_BODY_CLOTH) {
        json_object_set_new(body, "centroid", cli_json_numbers(state->position, 3));
        json_object_set_new(body, "velocity", cli_json_numbers(state->velocity, 3));
        return body;
    }
    json_object_set_new(body, "position", cli_json_numbers(state->position, 3));
    json_object_set_new(body, "quaternion", cli_json_numbers(state->quaternion, 4));
    json_object_set_new(body, "velocity", cli_json_numbers(state->velocity, 3));
    json_object_set_new(body, "angular_velocity", cli_json_numbers(state->angular_velocity, 3));
    return body;
}

static json_t* final_all(const run* r)
{
    json_t* all = json_object();
    for (int32_t b = 0; b < carom_model_body_count(r->model); b++) {
        carom_body_info info;
        carom_body_state state;
        if (carom_model_body(r->model, b, &info) == CAROM_OK &&
            carom_sim_body(r->sim, b, &state) == CAROM_OK) {
            json_object_set_new(all, info.name, final_of(&info, &state));
        }
    }
    return all;
}

static json_t* notes_all(const run* r)
{
    json_t* all = json_array();
    for (int32_t i = 0; i < carom_model_note_count(r->model); i++) {
        json_array_append_new(all, cli_json_text(carom_model_note(r->model, i)));
    }
    return all;
}

static int print_json(const run* r)
{
    char hash[20];
    json_t* o = json_object();
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)carom_sim_hash(r->sim));
    json_object_set_new(o, "scene", cli_json_text(r->request->path));
    json_object_set_new(o, "steps", json_integer(r->steps_done));
    json_object_set_new(o, "dt", cli_json_number(carom_model_dt(r->model)));
    json_object_set_new(o, "time", cli_json_number(carom_sim_time(r->sim)));
    json_object_set_new(o, "forward_s", cli_json_number(r->forward_s));
    json_object_set_new(o, "cpu_s", cli_json_number(r->cpu_s));
    json_object_set_new(o, "threads", json_integer(r->request->threads));
    json_object_set_new(o, "peak_rss_bytes", json_integer(cli_measure_peak_rss()));
    json_object_set_new(o, "max_contacts", json_integer(r->max_contacts));
    json_object_set_new(o, "max_zone_dofs", json_integer(r->max_zone_dofs));
    json_object_set_new(o, "max_zone_contacts", json_integer(r->max_zone_contacts));
    json_object_set_new(o, "max_zones", json_integer(r->max_zones));
    json_object_set_new(o, "max_parts", json_integer(r->max_parts));
    json_object_set_new(o, "total_iterations", json_integer(r->iterations));
    json_object_set_new(o, "events", json_integer(r->events));
    json_object_set_new(o, "retries", json_integer(r->retries));
    json_object_set_new(o, "eased", json_integer(r->eased));
    json_object_set_new(o, "unfinished", json_integer(r->unfinished));
    json_object_set_new(o, "max_residual", cli_json_number(r->max_residual));
    json_object_set_new(o, "min_gap", cli_json_number(r->min_gap));
    json_object_set_new(o, "energy_start", cli_json_number(r->energy_start));
    json_object_set_new(o, "energy_end", cli_json_number(carom_sim_energy(r->sim).total));
    json_object_set_new(o, "state_hash", json_string(hash));
    json_object_set_new(o, "final", final_all(r));
    json_object_set_new(o, "notes", notes_all(r));
    json_object_set_new(
        o, "out", r->recorder ? cli_json_text(carom_recorder_path(r->recorder)) : json_null());
    json_object_set_new(o, "error",
                        r->outcome == CAROM_OK ? json_null() : cli_json_text(r->error.message));
    return cli_json_print("run", o);
}

static void print_bodies(const run* r)
{
    static const char* const names[][2] = {
        [CAROM_BODY_FIXED] = {"fixed body", "fixed bodies"},
        [CAROM_BODY_KINEMATIC] = {"kinematic body", "kinematic bodies"},
        [CAROM_BODY_RIGID] = {"rigid body", "rigid bodies"},
        [CAROM_BODY_CLOTH] = {"cloth", "cloths"}};
    int32_t count[4] = {0};
    for (int32_t b = 0; b < carom_model_body_count(r->model); b++) {
        carom_body_info info;
        if (carom_model_body(r->model, b, &info) == CAROM_OK) {
            count[info.kind]++;
        }
    }
    printf("%s: ", r->request->path);
    for (int k = CAROM_BODY_CLOTH; k >= 0; k--) {
        if (count[k] > 0) {
            printf("%d %s, ", count[k], names[k][count[k] > 1]);
        }
    }
    printf("%d vertices\n", carom_model_vertex_count(r->model));
}

static void print_file(const run* r)
{
    char size[CLI_MEASURE_TEXT];
    const char* path = carom_recorder_path(r->recorder);
    printf("  file      %s: %lld frames, %s\n", path, (long long)carom_recorder_frames(r->recorder),
           cli_measure_bytes(carom_recorder_size(r->recorder), size));
    printf("\nnext: carom intersect %s     check that nothing passes through anything\n", path);
    printf("      carom view %s          a page that plays it in any browser\n", path);
    printf("      carom export %s --format gltf --out FILE.glb    for other programs\n", path);
}

static void print_summary(const run* r)
{
    char took[CLI_MEASURE_TEXT], each[CLI_MEASURE_TEXT];
    const double steps = (double)r->steps_done;
    const carom_energy end = carom_sim_energy(r->sim);
    print_bodies(r);
    for (int32_t i = 0; i < carom_model_note_count(r->model); i++) {
        printf("  note      %s\n", carom_model_note(r->model, i));
    }
    printf("  steps     %lld of %g s, up to %.6g s", (long long)r->steps_done,
           carom_model_dt(r->model), carom_sim_time(r->sim));
    if (r->steps_done > 0) {
        printf("; took %s, %s a step, %.4g steps/s", cli_measure_seconds(r->forward_s, took),
               cli_measure_seconds(r->forward_s / steps, each), steps / r->forward_s);
    }
    printf("\n  contacts  up to %d at once; the largest zone had %d unknowns and %d contacts\n",
           r->max_contacts, r->max_zone_dofs, r->max_zone_contacts);
    if (isfinite(r->min_gap)) {
        printf("  gap       %.3g m at the least (distance minus thickness, at step ends)\n",
               r->min_gap);
    }
    if (r->max_parts > 1 || r->events > 0) {
        printf("  hard      %lld impacts inside steps; a step was split into up to %d parts\n",
               (long long)r->events, r->max_parts > 1 ? r->max_parts : 1);
    }
    if (r->eased > 0) {
        printf(
            "  eased     %lld step%s had no solution with all of the friction and %s less of it; "
            "shorter steps may not need it\n",
            (long long)r->eased, r->eased > 1 ? "s" : "", r->eased > 1 ? "have" : "has");
    }
    if (r->unfinished > 0) {
        printf("  budget    %lld step%s ended after world.iteration_budget iterations, with a "
               "residual of up to %.3g\n",
               (long long)r->unfinished, r->unfinished > 1 ? "s" : "", r->max_residual);
    }
    printf("  energy    %.6g J at the start, %.6g J at the end: %.4g J of motion, %.4g J of "
           "gravity, %.4g J in cloth\n",
           r->energy_start, end.total, end.kinetic, end.gravity, end.elastic);
    printf("  state     %016llx\n", (unsigned long long)carom_sim_hash(r->sim));
    if (r->recorder) {
        print_file(r);
    }
}

// ---- the command

static int refuse(const carom_error* error, int status)
{
    fprintf(stderr, "carom run: %s\n", error->message);
    return status;
}

static carom_status load(run* r)
{
    const run_request* q = r->request;
    carom_status status = carom_scene_load(q->path, &r->scene, &r->error);
    if (status == CAROM_OK) {
        status = cli_set_all(r->scene, &q->set, &r->error);
    }
    if (status == CAROM_OK && q->dt_text) {
        status = carom_scene_set(r->scene, "world.dt", q->dt_text, &r->error);
    }
    if (status == CAROM_OK) {
        status = carom_model_create(r->scene, &r->model, &r->error);
    }
    if (status == CAROM_OK) {
        status = carom_sim_create(r->model, (int32_t)q->threads, &r->sim, &r->error);
    }
    return status;
}

// How many steps: what the line says, else what the scene says.
static int plan(run* r)
{
    const double dt = carom_model_dt(r->model);
    double seconds = carom_model_duration(r->model);
    r->steps_wanted = r->request->steps;
    if (r->steps_wanted >= 0) {
        return 1;
    }
    if (r->request->seconds_text &&
        !cli_args_number("run", "--seconds", r->request->seconds_text, 0, 1e9, &seconds)) {
        return 0;
    }
    const double steps = round(seconds / dt);
    if (!(steps <= 1e15)) {
        fprintf(stderr, "carom run: %g s in steps of %g s are too many steps\n", seconds, dt);
        return 0;
    }
    r->steps_wanted = steps < 1 && seconds > 0 ? 1 : (int64_t)steps;
    return 1;
}

static carom_status open_file(run* r)
{
    char* text = NULL;
    carom_status status = carom_scene_text(r->scene, &text, &r->error);
    if (status == CAROM_OK) {
        carom_recorder_options options = carom_recorder_default();
        options.scene_name = r->request->path;
        options.scene_text = text;
        options.every = (int32_t)r->request->every;
        status =
            carom_recorder_create(r->model, r->request->out, &options, &r->recorder, &r->error);
    }
    carom_scene_text_free(text);
    return status;
}

static int run_all(run* r)
{
    if (load(r) != CAROM_OK) {
        return refuse(&r->error, 2);
    }
    if (!plan(r)) {
        return 2;
    }
    if (r->request->out && open_file(r) != CAROM_OK) {
        return refuse(&r->error, 1);
    }
    listen_for_stop();
    r->min_gap = HUGE_VAL;
    r->energy_start = carom_sim_energy(r->sim).total;
    step_all(r);
    if (r->outcome == CAROM_ERR_INTERRUPTED) {
        snprintf(r->error.message, sizeof r->error.message,
                 "stopped by hand after %lld of %lld "
                 "steps",
                 (long long)r->steps_done, (long long)r->steps_wanted);
    }
    finish_file(r);
    int status = r->outcome == CAROM_OK ? 0 : refuse(&r->error, 1);
    if (r->request->plot && r->recorder) {
        status |= cli_plot_trajectory("run", carom_recorder_path(r->recorder), "energy",
                                      r->request->plot);
    }
    if (r->request->json) {
        status |= print_json(r);
    } else {
        print_summary(r);
    }
    return status;
}

static void release(run* r)
{
    carom_recorder_destroy(r->recorder);
    carom_sim_destroy(r->sim);
    carom_model_destroy(r->model);
    carom_scene_destroy(r->scene);
}

static int parse(int argc, char** argv, run_request* q)
{
    const cli_option options[] = {
        {"--steps", "N", "how many steps; 0 looks at the start alone", &q->steps_text, NULL, NULL},
        {"--seconds", "T", "how long instead (s); else as long as the scene says", &q->seconds_text,
         NULL, NULL},
        {"--dt", "H", "length of a step (s) instead of the scene's", &q->dt_text, NULL, NULL},
        {"--out", "FILE", "record the motion in this file", &q->out, NULL, NULL},
        {"--every", "N", "record every N-th step (1), and the last", &q->every_text, NULL, NULL},
        {"--plot", "FILE.svg", "with --out: the energy over time as a picture", &q->plot, NULL,
         NULL},
        {"--set", "PATH=VALUE", "change the scene: bodies.crate.mass=2; may be repeated", NULL,
         NULL, &q->set},
        {"--threads", "N", "workers (all processors); the result is the same for any number",
         &q->threads_text, NULL, NULL},
        {"--json", NULL, "one JSON object for programs", NULL, &q->json, NULL},
    };
    const cli_usage usage = {"SCENE [--steps N | --seconds T] [--dt H] [--out FILE] [--every N] "
                             "[--plot FILE.svg] "
                             "[--set PATH=VALUE]... [--threads N] [--json]",
                             "simulates a scene and tells what happened",
                             options,
                             (int)(sizeof options / sizeof *options),
                             1,
                             1};
    const int plain = cli_args_parse(argc, argv, &usage, &q->path);
    if (plain < 0) {
        return plain;
    }
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double ignored;
    q->steps = -1;
    q->every = 1;
    q->threads = processors > 1 ? (processors < 64 ? processors : 64) : 1;
    if (q->plot && !q->out) {
        fprintf(stderr, "carom run: --plot draws what --out records; give it --out FILE too\n");
        return -1;
    }
    if (q->steps_text && q->seconds_text) {
        fprintf(stderr, "carom run: --steps and --seconds cannot both be given\n");
        return -1;
    }
    return (!q->steps_text ||
            cli_args_whole("run", "--steps", q->steps_text, 0, 1e15, &q->steps)) &&
                   (!q->every_text ||
                    cli_args_whole("run", "--every", q->every_text, 1, 1e9, &q->every)) &&
                   (!q->threads_text ||
                    cli_args_whole("run", "--threads", q->threads_text, 1, 1024, &q->threads)) &&
                   (!q->dt_text || cli_args_number("run", "--dt", q->dt_text, 1e-9, 1e3, &ignored))
               ? plain
               : -1;
}

int cli_run(int argc, char** argv)
{
    run_request request = {0};
    run r = {.request = &request};
    request.set.item = calloc((size_t)argc, sizeof *request.set.item);
    const int plain = request.set.item ? parse(argc, argv, &request) : -1;
    const int status = plain < 0 ? (plain == -2 ? 0 : 2) : run_all(&r);
    release(&r);
    free(request.set.item);
    return status;
}
