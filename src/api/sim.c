#include "carom/sim.h"
#include "api/handles.h"
#include "api/view.h"
#include "core/memory.h"
#include <string.h>

carom_status carom_sim_create(const carom_model* model, int32_t worker_count, carom_sim** sim,
                              carom_error* error)
{
    if (!sim || !model) {
        return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "a simulation needs a model");
    }
    *sim = cr_memory_take(1, sizeof(carom_sim));
    carom_status status = CAROM_ERR_MEMORY;
    if (*sim) {
        (*sim)->model = model;
        status = cr_sim_create(model->numbers, worker_count, &(*sim)->sim);
    }
    if (status != CAROM_OK) {
        carom_sim_destroy(*sim);
        *sim = NULL;
        return cr_status_refuse(error, status, "no memory for a simulation of %d vertices",
                                model->numbers->bodies.vertex_count);
    }
    return CAROM_OK;
}

void carom_sim_destroy(carom_sim* sim)
{
    if (sim) {
        cr_sim_destroy(sim->sim);
        cr_memory_free(sim);
    }
}

carom_status carom_sim_step(carom_sim* sim, carom_error* error)
{
    return sim ? cr_sim_step(sim->sim, error)
               : cr_status_refuse(error, CAROM_ERR_ARGUMENT, "there is no simulation to step");
}

carom_status carom_sim_reset(carom_sim* sim)
{
    if (!sim) {
        return CAROM_ERR_ARGUMENT;
    }
    cr_sim_reset(sim->sim);
    return CAROM_OK;
}

double carom_sim_time(const carom_sim* sim)
{
    return sim ? cr_sim_state(sim->sim)->time : 0;
}

int64_t carom_sim_steps(const carom_sim* sim)
{
    return sim ? cr_sim_state(sim->sim)->step : 0;
}

uint64_t carom_sim_hash(const carom_sim* sim)
{
    return sim ? cr_state_hash(cr_sim_state(sim->sim)) : 0;
}

carom_status carom_sim_body(const carom_sim* sim, int32_t body, carom_body_state* out)
{
    return sim && out ? carom_view_state(sim->model->numbers, cr_sim_state(sim->sim), body, out)
                      : CAROM_ERR_ARGUMENT;
}

void carom_sim_vertices(const carom_sim* sim, double* x)
{
    if (!sim || !x) {
        return;
    }
    cr_state_vertices(cr_sim_state(sim->sim), sim->model->numbers, x);
}

void carom_sim_set_stop(carom_sim* sim, const volatile int* stop)
{
    if (sim) {
        cr_sim_set_stop(sim->sim, stop);
    }
}

carom_status carom_sim_set_force(carom_sim* sim, int32_t body, const double force[3],
                                 const double torque[3])
{
    if (!sim || !force || !torque) {
        return CAROM_ERR_ARGUMENT;
    }
    const cr_body_set* bodies = &sim->model->numbers->bodies;
    if (body < 0 || body >= bodies->body_count || bodies->kind[body] != CR_BODY_RIGID) {
        return CAROM_ERR_ARGUMENT;
    }
    for (int i = 0; i < 3; i++) {
        if (!isfinite(force[i]) || !isfinite(torque[i])) {
            return CAROM_ERR_NOT_FINITE;
        }
    }
    memcpy(cr_sim_force(sim->sim) + 3 * bodies->frame[body], force, 3 * sizeof(double));
    memcpy(cr_sim_torque(sim->sim) + 3 * bodies->frame[body], torque, 3 * sizeof(double));
    return CAROM_OK;
}

int32_t carom_sim_contact_count(const carom_sim* sim)
{
    if (!sim) {
        return 0;
    }
    const cr_contact* contacts;
    return cr_sim_contacts(sim->sim, &contacts);
}

void carom_sim_contact(const carom_sim* sim, int32_t i, carom_contact* out)
{
    if (!out) {
        return;
    }
    const cr_contact* contacts;
    *out = (carom_contact){{-1, -1}, {0}, {0}, {0}, -1};
    if (!sim || i < 0 || i >= cr_sim_contacts(sim->sim, &contacts)) {
        return;
    }
    out->body[0] = contacts[i].body[0];
    out->body[1] = contacts[i].body[1];
    cr_vec3_store(out->point, contacts[i].point);
    cr_vec3_store(out->normal, contacts[i].normal);
    cr_vec3_store(out->impulse, contacts[i].impulse);
    out->zone = contacts[i].island;
}

carom_energy carom_sim_energy(const carom_sim* sim)
{
    if (!sim) {
        return (carom_energy){0};
    }
    const cr_energy e = cr_state_energy(cr_sim_state(sim->sim), sim->model->numbers);
    return (carom_energy){e.kinetic, e.potential, e.elastic, e.kinetic + e.potential + e.elastic};
}

void carom_sim_momentum(const carom_sim* sim, double linear[3], double angular[3])
{
    if (!sim || !linear || !angular) {
        return;
    }
    cr_vec3 p, l;
    cr_state_momentum(cr_sim_state(sim->sim), sim->model->numbers, &p, &l);
    cr_vec3_store(linear, p);
    cr_vec3_store(angular, l);
}

carom_step_info carom_sim_info(const carom_sim* sim)
{
    if (!sim) {
        return (carom_step_info){0};
    }
    const cr_step_report* r = cr_sim_report(sim->sim);
    return (carom_step_info){.zones = r->island_count,
                             .contacts = r->contact_count,
                             .max_zone_dofs = r->max_zone_dofs,
                             .max_zone_contacts = r->max_zone_contacts,
                             .parts = r->parts,
                             .iterations = r->iterations,
                             .factorisations = r->factorisations,
                             .weakly_active = r->weakly_active,
                             .events = r->impacts,
                             .retries = r->retries,
                             .least_gap = r->least_gap,
                             .residual = r->residual,
                             .eased = r->eased,
                             .unfinished = r->unfinished};
}
