#include "adjoint/problem.h"
#include "core/memory.h"
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Terms that see what a parameter changes by a way that is not followed.
static carom_status check_terms(const cr_problem* p, carom_error* error)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_goal_parameter* g = &p->goal->parameter[i];
        for (int32_t k = 0; k < p->goal->term_count; k++) {
            const cr_goal_term* term = &p->goal->term[k];
            if (g->what == CR_GOAL_OF_REST && term->what == CR_GOAL_ENERGY) {
                return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                        "objective.terms[%d] is an energy and the rest shape of "
                                        "\"%.60s\" a parameter; the two do not go together",
                                        k, p->scene->name[g->body]);
            }
        }
    }
    return CAROM_OK;
}

carom_status cr_problem_init(cr_problem* p, const cr_model* model, const cr_goal* goal,
                             int64_t steps, int32_t worker_count, size_t tape_budget,
                             carom_error* error)
{
    *p = (cr_problem){.scene = model, .goal = goal, .steps = steps};
    if (goal->term_count == 0) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "the scene has no objective; give it \"objective\": {\"terms\": "
                                "[...]}");
    }
    if (steps < 1 || steps > INT32_MAX / 8) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                "a gradient over %lld steps; it has to be from 1 to %d steps",
                                (long long)steps, INT32_MAX / 8);
    }
    carom_status status = check_terms(p, error);
    if (status == CAROM_OK) {
        status = cr_parameters_create(model, goal, steps, &p->parameters, error);
    }
    if (status != CAROM_OK) {
        cr_problem_release(p);
        return status;
    }
    const cr_model* own = cr_parameters_model(p->parameters);
    p->objective = (cr_objective){.model = own, .goal = goal, .steps = steps};
    status = cr_objective_check(&p->objective, error);
    if (status != CAROM_OK) {
        cr_problem_release(p);
        return status;
    }
    p->contacts = cr_memory_take((size_t)steps, sizeof *p->contacts);
    p->scratch = cr_memory_take((size_t)cr_parameters_size(p->parameters), sizeof(double));
    status = p->contacts && p->scratch ? CAROM_OK : CAROM_ERR_MEMORY;
    if (status == CAROM_OK) {
        status = cr_sim_create(own, worker_count, &p->sim);
    }
    if (status == CAROM_OK) {
        status = cr_tape_create(own, worker_count, tape_budget, &p->tape);
    }
    if (status == CAROM_OK) {
        status = cr_gradient_init(&p->gradient, own);
    }
    if (status == CAROM_OK) {
        status = cr_state_init(&p->before, own);
    }
    if (status != CAROM_OK) {
        cr_problem_release(p);
        return cr_tape_refuse(status, error);
    }
    return CAROM_OK;
}

void cr_problem_release(cr_problem* p)
{
    cr_tape_destroy(p->tape);
    cr_sim_destroy(p->sim);
    cr_gradient_release(&p->gradient);
    cr_state_release(&p->before);
    cr_memory_free(p->contacts);
    cr_memory_free(p->scratch);
    cr_parameters_destroy(p->parameters);
    *p = (cr_problem){0};
}

// One run from the start, with the tape or without.
static carom_status run(cr_problem* p, const double* theta, cr_tape* tape, double* value,
                        carom_error* error)
{
    carom_status status = cr_parameters_write(p->parameters, theta, error);
    if (status != CAROM_OK) {
        return status;
    }
    const double since = now();
    cr_sim_reset(p->sim);
    cr_tape_reset(p->tape);
    *value = 0.0;
    p->weakly_active = p->impacts = 0;
    p->max_contacts = 0;
    for (int64_t step = 0; step < p->steps && status == CAROM_OK; step++) {
        if (p->stop && p->stop(p->stop_user)) {
            return cr_status_refuse(error, CAROM_ERR_INTERRUPTED, "stopped by hand");
        }
        status = cr_state_copy(&p->before, cr_sim_state(p->sim));
        if (status != CAROM_OK) {
            cr_status_refuse(error, status, "no memory for the state of step %lld",
                             (long long)step);
        } else {
            status = tape ? cr_tape_step(tape, p->sim, error) : cr_sim_step(p->sim, error);
        }
        if (status == CAROM_OK) {
            const cr_tape_moment moment = cr_tape_moment_now(p->sim, &p->before, step);
            const cr_step_report* report = cr_sim_report(p->sim);
            *value += cr_objective_moment(&p->objective, &moment);
            p->contacts[step] = cr_state_contacts(cr_sim_state(p->sim)) + (uint64_t)report->impacts;
            p->weakly_active += report->weakly_active;
            p->impacts += report->impacts;
            p->max_contacts =
                report->contact_count > p->max_contacts ? report->contact_count : p->max_contacts;
        }
    }
    p->forward_s = now() - since;
    if (status == CAROM_OK && !isfinite(*value)) {
        return cr_status_refuse(error, CAROM_ERR_NOT_FINITE, "the objective is not finite");
    }
    return status;
}

carom_status cr_problem_value(cr_problem* p, const double* theta, double* value, carom_error* error)
{
    return run(p, theta, NULL, value, error);
}

typedef struct listening {
    cr_problem* problem;
    double* dtheta;
} listening;

static void watch_state(const cr_problem* p, int64_t step, const cr_state_bars* bars)
{
    if (p->watch.state) {
        p->watch.state(p->watch.user, step, bars);
    }
}

static void feel(void* user, const cr_tape_moment* moment, cr_state_bars* after,
                 cr_state_bars* before, cr_gradient* gradient)
{
    const listening* l = user;
    cr_objective_moment_adj(&l->problem->objective, moment, after, before, gradient);
    watch_state(l->problem, moment->step + 1, after);
}

static void control(void* user, int64_t step, const cr_gradient* gradient)
{
    const listening* l = user;
    cr_parameters_gather_step(l->problem->parameters, step, gradient, l->dtheta);
    if (l->problem->watch.control) {
        l->problem->watch.control(l->problem->watch.user, step, gradient);
    }
}

carom_status cr_problem_gradient(cr_problem* p, const double* theta, double* value, double* dtheta,
                                 carom_error* error)
{
    carom_status status = run(p, theta, p->tape, value, error);
    if (status != CAROM_OK) {
        return status;
    }
    const double since = now();
    const int32_t size = cr_parameters_size(p->parameters);
    memset(dtheta, 0, (size_t)size * sizeof(double));
    cr_gradient_zero(&p->gradient, cr_parameters_model(p->parameters));
    listening l = {p, dtheta};
    const cr_tape_listener listener = {&l, feel, control};
    status = cr_tape_backward(p->tape, &listener, &p->gradient, error);
    if (status == CAROM_OK) {
        watch_state(p, 0, &p->gradient.start);
        cr_parameters_gather(p->parameters, &p->gradient, dtheta);
    }
    p->backward_s = now() - since;
    for (int32_t i = 0; i < size && status == CAROM_OK; i++) {
        if (!isfinite(dtheta[i])) {
            return cr_status_refuse(error, CAROM_ERR_NOT_FINITE,
                                    "number %d of the gradient is not finite", i);
        }
    }
    return status;
}

// ---- checks

// A length that is far for a body: its own size.
static double size_of(const cr_model* m, int32_t body)
{
    const int32_t f = body >= 0 ? m->bodies.frame[body] : -1;
    if (f >= 0) {
        return m->bodies.extent[f];
    }
    double far = 0.0;
    const int32_t s = body >= 0 ? m->body_sheet[body] : -1;
    for (int32_t n = s < 0 ? 0 : m->sheet_node[s]; s >= 0 && n < m->sheet_node[s + 1]; n++) {
        far = cr_max(far, cr_vec3_norm(cr_vec3_sub(cr_vec3_load(m->x0 + 3 * n),
                                                   cr_vec3_load(m->x0 + 3 * m->sheet_node[s]))));
    }
    return far > 0.0 ? far : 1.0;
}

// How far is far for the numbers of a slot: their own size where they have one, else a unit.
static double scale_of(const cr_problem* p, const cr_parameters_slot* slot, const double* theta)
{
    double largest = 0.0;
    for (int32_t i = 0; i < slot->count; i++) {
        largest = cr_max(largest, fabs(theta[slot->first + i]));
    }
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
    case CR_GOAL_OF_CENTER:
    case CR_GOAL_OF_VERTICES:
    case CR_GOAL_OF_REST:
    case CR_GOAL_OF_PINS:
        return 0.1 * size_of(p->scene, slot->body);
    case CR_GOAL_OF_ROTATION:
    case CR_GOAL_OF_SCRIPT:
        return 0.1;
    default:
        return largest > 0.0 ? largest : 1.0;
    }
}

void cr_problem_scales(const cr_problem* p, const double* theta, double* scale)
{
    for (int32_t i = 0; i < cr_parameters_count(p->parameters); i++) {
        const cr_parameters_slot* slot = cr_parameters_slot_at(p->parameters, i);
        const double each = scale_of(p, slot, theta);
        for (int32_t k = 0; k < slot->count; k++) {
            scale[slot->first + k] = each;
        }
    }
}

static carom_status value_for_check(void* user, const double* theta, double* value,
                                    carom_error* error)
{
    return cr_problem_value(user, theta, value, error);
}

carom_status cr_problem_check(cr_problem* p, const double* theta,
                              const cr_gradcheck_options* options, double* dtheta,
                              cr_gradcheck_group* group, cr_gradcheck_report* report,
                              carom_error* error)
{
    double value;
    carom_status status = cr_problem_gradient(p, theta, &value, dtheta, error);
    if (status != CAROM_OK) {
        return status;
    }
    const int64_t weakly_active = p->weakly_active;
    const double forward_s = p->forward_s;
    for (int32_t i = 0; i < cr_parameters_count(p->parameters); i++) {
        const cr_parameters_slot* slot = cr_parameters_slot_at(p->parameters, i);
        group[i] = (cr_gradcheck_group){
            .first = slot->first, .count = slot->count, .scale = scale_of(p, slot, theta)};
    }
    const cr_gradcheck_function function = {.user = p,
                                            .value = value_for_check,
                                            .size = cr_parameters_size(p->parameters),
                                            .trace = p->contacts,
                                            .trace_count = p->steps};
    status = cr_gradcheck_run(&function, theta, dtheta, options, group,
                              cr_parameters_count(p->parameters), report, error);
    p->weakly_active = weakly_active;
    p->forward_s = forward_s;
    if (status == CAROM_OK && report->value != value) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE,
                                "the run with a tape ended with %.17g, without with %.17g", value,
                                report->value);
    }
    return status;
}
