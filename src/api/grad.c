#include "carom/grad.h"
#include "adjoint/optimize.h"
#include "api/handles.h"
#include "core/memory.h"
#include <math.h>
#include <string.h>

_Static_assert((int)CAROM_OPTIMIZE_LBFGS == (int)CR_OPTIMIZE_LBFGS &&
                   (int)CAROM_OPTIMIZE_GD == (int)CR_OPTIMIZE_GD &&
                   (int)CAROM_OPTIMIZE_ADAM == (int)CR_OPTIMIZE_ADAM &&
                   (int)CAROM_OPTIMIZE_CONVERGED == (int)CR_OPTIMIZE_CONVERGED &&
                   (int)CAROM_OPTIMIZE_STALLED == (int)CR_OPTIMIZE_STALLED &&
                   (int)CAROM_OPTIMIZE_LIMIT == (int)CR_OPTIMIZE_LIMIT &&
                   (int)CAROM_OPTIMIZE_STOPPED == (int)CR_OPTIMIZE_STOPPED,
               "the same inside and outside");

static carom_status missing(carom_error* error, const char* what)
{
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "%s is NULL", what);
}

static carom_status check_size(size_t is, size_t wanted, const char* maker, carom_error* error)
{
    return is == wanted
               ? CAROM_OK
               : cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                  "options.struct_size is %zu; %s gives %zu", is, maker, wanted);
}

// ---- problems

carom_problem_options carom_problem_default(void)
{
    return (carom_problem_options){.struct_size = sizeof(carom_problem_options), .worker_count = 1};
}

carom_status carom_problem_create(const carom_model* model, const carom_problem_options* options,
                                  carom_problem** problem, carom_error* error)
{
    const carom_problem_options o = options ? *options : carom_problem_default();
    if (!model || !problem) {
        return missing(error, model ? "problem" : "model");
    }
    *problem = NULL;
    carom_status status = check_size(o.struct_size, sizeof o, "carom_problem_default()", error);
    if (status == CAROM_OK && o.steps < 0) {
        status = cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                  "options.steps is %lld; 0 is the scene's duration",
                                  (long long)o.steps);
    }
    if (status != CAROM_OK) {
        return status;
    }
    const cr_world* world = &model->numbers->world;
    const double asked = round(world->duration / world->dt);
    const int64_t steps = o.steps > 0   ? o.steps
                          : asked < 1.0 ? 1
                          : asked < 1e9 ? (int64_t)asked
                                        : 1000000000;
    carom_problem* made = cr_memory_take(1, sizeof *made);
    if (!made) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory");
    }
    made->model = model;
    status = cr_problem_init(&made->inside, model->numbers, &model->goal, steps, o.worker_count,
                             o.tape_memory, error);
    if (status != CAROM_OK) {
        cr_memory_free(made);
        return status;
    }
    made->inside.stop = o.stop;
    made->inside.stop_user = o.user;
    *problem = made;
    return CAROM_OK;
}

void carom_problem_destroy(carom_problem* problem)
{
    if (problem) {
        cr_problem_release(&problem->inside);
        cr_memory_free(problem->felt);
        cr_memory_free(problem);
    }
}

int32_t carom_problem_parameter_count(const carom_problem* problem)
{
    return problem ? cr_parameters_count(problem->inside.parameters) : 0;
}

carom_status carom_problem_parameter(const carom_problem* problem, int32_t parameter,
                                     carom_parameter_info* info)
{
    if (!problem || !info) {
        return CAROM_ERR_ARGUMENT;
    }
    if (parameter < 0 || parameter >= carom_problem_parameter_count(problem)) {
        return CAROM_ERR_ARGUMENT;
    }
    const cr_parameters_slot* slot = cr_parameters_slot_at(problem->inside.parameters, parameter);
    *info = (carom_parameter_info){
        .name = cr_goal_parameter_name(slot->what),
        .body_name = slot->body >= 0 ? problem->model->numbers->name[slot->body] : "",
        .body = slot->body,
        .first = slot->first,
        .count = slot->count};
    return CAROM_OK;
}

int32_t carom_problem_size(const carom_problem* problem)
{
    return problem ? cr_parameters_size(problem->inside.parameters) : 0;
}

int64_t carom_problem_steps(const carom_problem* problem)
{
    return problem ? problem->inside.steps : 0;
}

void carom_problem_scene(const carom_problem* problem, double* theta)
{
    if (!problem || !theta) {
        return;
    }
    memcpy(theta, cr_parameters_scene(problem->inside.parameters),
           (size_t)carom_problem_size(problem) * sizeof(double));
}

void carom_problem_range(const carom_problem* problem, double* start, double* least, double* most)
{
    if (!problem || !start || !least || !most) {
        return;
    }
    cr_parameters_range(problem->inside.parameters, start, least, most);
}

carom_status carom_problem_value(carom_problem* problem, const double* theta, double* value,
                                 carom_error* error)
{
    if (!problem || !theta || !value) {
        return missing(error, !problem ? "problem" : !theta ? "theta" : "value");
    }
    return cr_problem_value(&problem->inside, theta, value, error);
}

carom_status carom_problem_gradient(carom_problem* problem, const double* theta, double* value,
                                    double* dtheta, carom_error* error)
{
    if (!problem || !theta || !value || !dtheta) {
        return missing(error, !problem ? "problem"
                              : !theta ? "theta"
                              : !value ? "value"
                                       : "dtheta");
    }
    return cr_problem_gradient(&problem->inside, theta, value, dtheta, error);
}

// ---- watching the way back

// Numbers of frames or nodes summed into those of their bodies.
static void felt_bodies(const cr_body_set* bodies, const cr_vec3* frame, const cr_vec3* node,
                        double* out)
{
    memset(out, 0, 3 * (size_t)bodies->body_count * sizeof(double));
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        cr_vec3_store(out + 3 * (size_t)bodies->frame_body[f], frame[f]);
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        const int32_t body = bodies->vertex_body[bodies->node_vertex[n]];
        cr_vec3_accumulate(out + 3 * (size_t)body, node[n]);
    }
}

static void watch_control(void* user, int64_t step, const cr_gradient* g)
{
    carom_problem* p = user;
    const cr_body_set* bodies = &p->model->numbers->bodies;
    (void)step;
    felt_bodies(bodies, g->force, g->node_force, p->felt + 3 * (size_t)bodies->body_count);
}

static void watch_state(void* user, int64_t step, const cr_state_bars* bars)
{
    carom_problem* p = user;
    const cr_body_set* bodies = &p->model->numbers->bodies;
    double *force = p->felt + 3 * (size_t)bodies->body_count,
           *vertex = force + 3 * (size_t)bodies->body_count;
    felt_bodies(bodies, bars->t, bars->x, p->felt);
    if (step == p->inside.steps) { // nothing begins at the end
        memset(force, 0, 3 * (size_t)bodies->body_count * sizeof(double));
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        cr_vec3_store(vertex + 3 * (size_t)bodies->node_vertex[n], bars->x[n]);
    }
    p->watcher(p->watcher_user, step, p->felt, force, vertex);
}

carom_status carom_problem_watch(carom_problem* problem, carom_problem_watcher* watcher, void* user)
{
    if (!problem) {
        return CAROM_ERR_ARGUMENT;
    }
    const cr_body_set* bodies = &problem->model->numbers->bodies;
    const size_t size = 6 * (size_t)bodies->body_count + 3 * (size_t)bodies->vertex_count;
    if (watcher && !problem->felt) {
        problem->felt = cr_memory_take(size, sizeof(double));
        if (!problem->felt) {
            return CAROM_ERR_MEMORY;
        }
    }
    problem->watcher = watcher;
    problem->watcher_user = user;
    problem->inside.watch =
        watcher ? (cr_problem_watch){problem, watch_state, watch_control} : (cr_problem_watch){0};
    return CAROM_OK;
}

carom_problem_info carom_problem_about(const carom_problem* problem)
{
    if (!problem) {
        return (carom_problem_info){0};
    }
    const cr_problem* p = &problem->inside;
    return (carom_problem_info){.forward_s = p->forward_s,
                                .backward_s = p->backward_s,
                                .tape_bytes = cr_tape_bytes(p->tape),
                                .tape_record_bytes = cr_tape_record_bytes(p->tape),
                                .replayed = cr_tape_replayed(p->tape),
                                .weakly_active = p->weakly_active,
                                .impacts = p->impacts,
                                .max_contacts = p->max_contacts};
}

// ---- checks

carom_check_options carom_check_default(void)
{
    const cr_gradcheck_options o = cr_gradcheck_default();
    return (carom_check_options){
        .struct_size = sizeof(carom_check_options), .step = o.step, .most = o.most};
}

static carom_status check_all(carom_problem* problem, const double* theta,
                              const carom_check_options* o, double* dtheta,
                              cr_gradcheck_group* group, carom_check_row* row,
                              carom_check_report* report, carom_error* error)
{
    const cr_gradcheck_options options = {.step = o->step, .most = o->most};
    cr_gradcheck_report r;
    const carom_status status =
        cr_problem_check(&problem->inside, theta, &options, dtheta, group, &r, error);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < carom_problem_parameter_count(problem); i++) {
        row[i] = (carom_check_row){.checked = group[i].checked,
                                   .kinks = group[i].kinks,
                                   .failed = group[i].failed,
                                   .max_relative_error = group[i].max_relative_error,
                                   .noise = group[i].noise,
                                   .worst = group[i].worst,
                                   .worst_exact = group[i].worst_exact,
                                   .worst_difference = group[i].worst_difference};
    }
    *report = (carom_check_report){.value = r.value,
                                   .max_relative_error = r.max_relative_error,
                                   .taylor_slope = r.taylor_slope,
                                   .contact_switches = r.switches,
                                   .weakly_active = problem->inside.weakly_active,
                                   .evaluations = r.evaluations,
                                   .kinks = r.kinks,
                                   .failed = r.failed};
    return CAROM_OK;
}

carom_status carom_problem_check(carom_problem* problem, const double* theta,
                                 const carom_check_options* options, double* dtheta,
                                 carom_check_row* row, carom_check_report* report,
                                 carom_error* error)
{
    const carom_check_options o = options ? *options : carom_check_default();
    if (!problem || !theta || !dtheta || !row || !report) {
        return missing(error, "an argument");
    }
    carom_status status = check_size(o.struct_size, sizeof o, "carom_check_default()", error);
    if (status == CAROM_OK && !(o.step > 0.0 && o.step < 1.0 && o.most > 0)) {
        status = cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                  "options.step is %g and most %d; a step is between 0 and 1, and "
                                  "at least one number is checked",
                                  o.step, o.most);
    }
    if (status != CAROM_OK) {
        return status;
    }
    cr_gradcheck_group* group =
        cr_memory_take((size_t)carom_problem_parameter_count(problem), sizeof *group);
    status = group ? check_all(problem, theta, &o, dtheta, group, row, report, error)
                   : cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory");
    cr_memory_free(group);
    return status;
}

// ---- optimisation

carom_optimize_options carom_optimize_default(void)
{
    const cr_optimize_options o = cr_optimize_default();
    return (carom_optimize_options){.struct_size = sizeof(carom_optimize_options),
                                    .method = CAROM_OPTIMIZE_LBFGS,
                                    .iterations = o.iterations,
                                    .momentum = o.momentum,
                                    .tolerance = o.tolerance};
}

static carom_optimize_report report_of(const cr_optimize_report* r)
{
    return (carom_optimize_report){.iterations = r->iterations,
                                   .evaluations = r->evaluations,
                                   .value_start = r->value_start,
                                   .value_end = r->value_end,
                                   .gradient_start = r->gradient_start,
                                   .gradient_end = r->gradient_end,
                                   .end = (carom_optimize_end)r->end};
}

static carom_status gradient_for(void* user, const double* theta, double* value, double* dtheta,
                                 carom_error* error)
{
    return cr_problem_gradient(user, theta, value, dtheta, error);
}

static int pass_on(void* user, const cr_optimize_report* report, const double* theta)
{
    const carom_optimize_options* o = user;
    const carom_optimize_report r = report_of(report);
    return o->progress(o->user, &r, theta);
}

static carom_status check_optimize(const carom_optimize_options* o, carom_error* error)
{
    const int known = (int)o->method >= CAROM_OPTIMIZE_LBFGS && o->method <= CAROM_OPTIMIZE_ADAM;
    if (!known || o->iterations < 0) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "options.method is %d and iterations %d; a method is %d to %d, and "
                                "iterations are not fewer than 0",
                                (int)o->method, o->iterations, CAROM_OPTIMIZE_LBFGS,
                                CAROM_OPTIMIZE_ADAM);
    }
    if (!(o->rate >= 0.0 && isfinite(o->rate) && o->momentum >= 0.0 && o->momentum < 1.0 &&
          o->tolerance >= 0.0)) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "options.rate is %g, momentum %g and tolerance %g; none may be "
                                "below 0, and momentum is less than 1",
                                o->rate, o->momentum, o->tolerance);
    }
    return CAROM_OK;
}

carom_status carom_problem_optimize(carom_problem* problem, const carom_optimize_options* options,
                                    double* theta, carom_optimize_report* report,
                                    carom_error* error)
{
    carom_optimize_options o = options ? *options : carom_optimize_default();
    if (!problem || !theta || !report) {
        return missing(error, !problem ? "problem" : !theta ? "theta" : "report");
    }
    carom_status status = check_size(o.struct_size, sizeof o, "carom_optimize_default()", error);
    if (status == CAROM_OK) {
        status = check_optimize(&o, error);
    }
    if (status != CAROM_OK) {
        return status;
    }
    const size_t n = (size_t)carom_problem_size(problem);
    if (n == 0) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "the scene lists no parameters to change; give it "
                                "\"parameters\": [...]");
    }
    double* numbers = cr_memory_take(4 * n, sizeof *numbers);
    if (!numbers) {
        return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory");
    }
    double *least = numbers, *most = numbers + n, *scale = numbers + 2 * n;
    cr_parameters_range(problem->inside.parameters, numbers + 3 * n, least, most);
    cr_problem_scales(&problem->inside, theta, scale);
    const cr_optimize_function function = {.user = &problem->inside,
                                           .gradient = gradient_for,
                                           .size = (int32_t)n,
                                           .scale = scale,
                                           .least = least,
                                           .most = most};
    const cr_optimize_options inner = {.method = (cr_optimize_method)o.method,
                                       .iterations = o.iterations,
                                       .rate = o.rate,
                                       .momentum = o.momentum,
                                       .tolerance = o.tolerance,
                                       .progress = o.progress ? pass_on : NULL,
                                       .user = &o};
    cr_optimize_report r;
    status = cr_optimize_run(&function, &inner, theta, &r, error);
    *report = report_of(&r);
    cr_memory_free(numbers);
    return status;
}

// ---- tapes

carom_status carom_tape_create(const carom_model* model, int32_t worker_count, size_t memory,
                               carom_tape** tape, carom_error* error)
{
    if (!model || !tape) {
        return missing(error, model ? "tape" : "model");
    }
    *tape = NULL;
    const size_t b = 3 * (size_t)model->numbers->bodies.body_count;
    const size_t v = 3 * (size_t)model->numbers->bodies.vertex_count;
    carom_tape* made = cr_memory_take(1, sizeof *made);
    carom_status status = CAROM_ERR_MEMORY;
    if (made) {
        made->model = model;
        double** const bodies[] = {&made->bars.position, &made->bars.rotation,
                                   &made->bars.velocity, &made->bars.angular_velocity,
                                   &made->force,         &made->torque};
        int ok = 1;
        for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
            *bodies[i] = cr_memory_take(b, sizeof(double));
            ok = ok && *bodies[i];
        }
        made->bars.vertex_position = cr_memory_take(v, sizeof(double));
        made->bars.vertex_velocity = cr_memory_take(v, sizeof(double));
        ok = ok && made->bars.vertex_position && made->bars.vertex_velocity;
        status = ok ? cr_gradient_init(&made->gradient, model->numbers) : CAROM_ERR_MEMORY;
    }
    if (status == CAROM_OK) {
        status = cr_tape_create(model->numbers, worker_count, memory, &made->tape);
    }
    if (status != CAROM_OK) {
        carom_tape_destroy(made);
        return cr_tape_refuse(status, error);
    }
    *tape = made;
    return CAROM_OK;
}

void carom_tape_destroy(carom_tape* tape)
{
    if (!tape) {
        return;
    }
    void* const blocks[] = {tape->bars.position,
                            tape->bars.rotation,
                            tape->bars.velocity,
                            tape->bars.angular_velocity,
                            tape->bars.vertex_position,
                            tape->bars.vertex_velocity,
                            tape->force,
                            tape->torque};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
    cr_gradient_release(&tape->gradient);
    cr_tape_destroy(tape->tape);
    cr_memory_free(tape);
}

void carom_tape_reset(carom_tape* tape)
{
    if (!tape) {
        return;
    }
    cr_tape_reset(tape->tape);
}

carom_status carom_tape_step(carom_tape* tape, carom_sim* sim, carom_error* error)
{
    return tape && sim ? cr_tape_step(tape->tape, sim->sim, error)
                       : missing(error, tape ? "sim" : "tape");
}

int64_t carom_tape_steps(const carom_tape* tape)
{
    return tape ? cr_tape_steps(tape->tape) : 0;
}

size_t carom_tape_bytes(const carom_tape* tape)
{
    return tape ? cr_tape_bytes(tape->tape) : 0;
}

void carom_tape_rewind(carom_tape* tape)
{
    if (!tape) {
        return;
    }
    cr_tape_rewind(tape->tape);
}

typedef struct ear {
    carom_tape* tape;
    const carom_tape_listener* listener;
} ear;

// What the listener adds in world axes goes to the bars of the state: with spin = R om,
// om_bar = R^T spin_bar, and a turn of R by delta moves spin by R (delta x om).
static void listen(const ear* e, int64_t step, const cr_state* state, cr_state_bars* out)
{
    const cr_body_set* bodies = &e->tape->model->numbers->bodies;
    const carom_bars* in = &e->tape->bars;
    const size_t b = 3 * (size_t)bodies->body_count, v = 3 * (size_t)bodies->vertex_count;
    memset(in->position, 0, b * sizeof(double));
    memset(in->rotation, 0, b * sizeof(double));
    memset(in->velocity, 0, b * sizeof(double));
    memset(in->angular_velocity, 0, b * sizeof(double));
    memset(in->vertex_position, 0, v * sizeof(double));
    memset(in->vertex_velocity, 0, v * sizeof(double));
    e->listener->state(e->listener->user, step, in);
    for (int32_t body = 0; body < bodies->body_count; body++) {
        const int32_t f = bodies->frame[body];
        if (f < 0) {
            continue;
        }
        const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(state->q + 4 * f));
        const cr_vec3 om_bar = cr_mat3_tapply(r, cr_vec3_load(in->angular_velocity + 3 * body));
        const cr_vec3 turn = cr_mat3_tapply(r, cr_vec3_load(in->rotation + 3 * body));
        cr_vec3_accumulate(&out->t[f].x, cr_vec3_load(in->position + 3 * body));
        cr_vec3_accumulate(&out->v[f].x, cr_vec3_load(in->velocity + 3 * body));
        cr_vec3_accumulate(&out->om[f].x, om_bar);
        cr_vec3_accumulate(&out->q[f].x, turn);
        cr_vec3_accumulate(&out->q[f].x, cr_vec3_cross(cr_vec3_load(state->om + 3 * f), om_bar));
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        const int32_t at = bodies->node_vertex[n];
        cr_vec3_accumulate(&out->x[n].x, cr_vec3_load(in->vertex_position + 3 * at));
        cr_vec3_accumulate(&out->xv[n].x, cr_vec3_load(in->vertex_velocity + 3 * at));
    }
}

static void feel(void* user, const cr_tape_moment* moment, cr_state_bars* after,
                 cr_state_bars* before, cr_gradient* gradient)
{
    const ear* e = user;
    (void)gradient;
    listen(e, moment->step + 1, moment->after, after);
    if (moment->step == 0) {
        listen(e, 0, moment->before, before);
    }
}

static void control(void* user, int64_t step, const cr_gradient* g)
{
    const ear* e = user;
    const cr_body_set* bodies = &e->tape->model->numbers->bodies;
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        cr_vec3_store(e->tape->force + 3 * bodies->frame_body[f], g->force[f]);
        cr_vec3_store(e->tape->torque + 3 * bodies->frame_body[f], g->torque[f]);
    }
    e->listener->control(e->listener->user, step, e->tape->force, e->tape->torque);
}

static void tell_body(const cr_model* m, const cr_state* start, const cr_gradient* g, int32_t body,
                      carom_body_gradient* out)
{
    const int32_t f = m->bodies.frame[body];
    *out = (carom_body_gradient){.friction = g->friction[body],
                                 .restitution = g->restitution[body],
                                 .thickness = g->radius[body]};
    if (f < 0) {
        for (int32_t v = m->bodies.vertex[body]; v < m->bodies.vertex[body + 1]; v++) {
            const int32_t n = m->bodies.node[v];
            const cr_vec3 x =
                m->bodies.node_pinned[n] ? cr_vec3_add(g->start.x[n], g->shift[v]) : g->start.x[n];
            cr_vec3_accumulate(out->position, x);
            cr_vec3_accumulate(out->velocity, g->start.xv[n]);
            cr_vec3_accumulate(out->force, g->node_force[n]);
        }
        return;
    }
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(start->q + 4 * f));
    const cr_vec3 om = cr_vec3_load(start->om + 3 * f);
    const cr_vec3 turn = cr_vec3_add(g->start.q[f], cr_vec3_cross(g->start.om[f], om));
    cr_vec3_store(out->position, g->start.t[f]);
    cr_vec3_store(out->rotation, cr_mat3_apply(r, turn));
    cr_vec3_store(out->velocity, g->start.v[f]);
    cr_vec3_store(out->angular_velocity, cr_mat3_apply(r, g->start.om[f]));
    out->mass = g->mass[f];
    memcpy(out->inertia, g->inertia + 3 * f, sizeof out->inertia);
    cr_vec3_store(out->force, g->force[f]);
    cr_vec3_store(out->torque, g->torque[f]);
}

carom_status carom_tape_backward(carom_tape* tape, const carom_tape_listener* listener,
                                 carom_gradient* gradient, carom_error* error)
{
    if (!tape || !listener || !listener->state || !gradient) {
        return missing(error, !tape ? "tape" : !gradient ? "gradient" : "listener or its state");
    }
    const cr_model* m = tape->model->numbers;
    if (!gradient->body && m->bodies.body_count > 0) {
        return missing(error, "gradient->body");
    }
    ear e = {tape, listener};
    const cr_tape_listener inner = {&e, feel, listener->control ? control : NULL};
    cr_gradient_zero(&tape->gradient, m);
    const carom_status status = cr_tape_backward(tape->tape, &inner, &tape->gradient, error);
    if (status != CAROM_OK) {
        return status;
    }
    const cr_gradient* g = &tape->gradient;
    memcpy(gradient->gravity, g->gravity, sizeof gradient->gravity);
    memcpy(gradient->wind, g->wind, sizeof gradient->wind);
    for (int32_t b = 0; b < m->bodies.body_count; b++) {
        tell_body(m, cr_tape_start(tape->tape), g, b, &gradient->body[b]);
    }
    for (int32_t v = 0; gradient->vertex && v < m->bodies.vertex_count; v++) {
        const int32_t n = m->bodies.node[v];
        const cr_vec3 bar = n < 0                      ? g->p[v]
                            : m->bodies.node_pinned[n] ? cr_vec3_add(g->start.x[n], g->shift[v])
                                                       : g->start.x[n];
        cr_vec3_store(gradient->vertex + 3 * (size_t)v, bar);
    }
    return CAROM_OK;
}
