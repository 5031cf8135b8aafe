#include "adjoint/parameters_inside.h"
#include <string.h>

// Where the number stands in the model ...
static double* in_model(cr_model* m, const cr_parameters_slot* slot)
{
    switch (slot->what) {
    case CR_GOAL_OF_FRICTION:
        return &m->bodies.friction[slot->body];
    case CR_GOAL_OF_RESTITUTION:
        return &m->bodies.restitution[slot->body];
    case CR_GOAL_OF_THICKNESS:
        return &m->bodies.radius[slot->body];
    case CR_GOAL_OF_CONTACT_WIDTH:
        return &m->bodies.width[slot->body];
    case CR_GOAL_OF_CONTACT_STIFFNESS:
        return &m->bodies.stiffness[slot->body];
    case CR_GOAL_OF_GRAVITY:
        return m->world.gravity;
    default: // CR_GOAL_OF_WIND
        return m->world.wind;
    }
}

// ... and where its derivative does.
static double* in_gradient(cr_gradient* g, const cr_parameters_slot* slot)
{
    switch (slot->what) {
    case CR_GOAL_OF_FRICTION:
        return &g->friction[slot->body];
    case CR_GOAL_OF_RESTITUTION:
        return &g->restitution[slot->body];
    case CR_GOAL_OF_THICKNESS:
        return &g->radius[slot->body];
    case CR_GOAL_OF_CONTACT_WIDTH:
        return &g->width[slot->body];
    case CR_GOAL_OF_CONTACT_STIFFNESS:
        return &g->stiffness[slot->body];
    case CR_GOAL_OF_GRAVITY:
        return g->gravity;
    default: // CR_GOAL_OF_WIND
        return g->wind;
    }
}

// The model holds the scene's numbers until something is written.
static void scene(const cr_parameters* p, const cr_parameters_slot* slot, double* out)
{
    memcpy(out, in_model(p->model, slot), (size_t)slot->count * sizeof(double));
}

static carom_status write(cr_parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    memcpy(in_model(p->model, slot), theta, (size_t)slot->count * sizeof(double));
    return CAROM_OK;
}

static void gather(cr_parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                   double* out)
{
    (void)p;
    cr_gradient at = *g; // the same arrays
    const double* bar = in_gradient(&at, slot);
    for (int32_t k = 0; k < slot->count; k++) {
        out[k] += bar[k];
    }
}

static void spread(cr_parameters* p, const cr_parameters_slot* slot, const double* d,
                   cr_gradient* g)
{
    (void)p;
    double* change = in_gradient(g, slot);
    for (int32_t k = 0; k < slot->count; k++) {
        change[k] += d[k];
    }
}

const cr_parameters_kind cr_parameters_plain_kind = {
    .scene = scene,
    .write = write,
    .gather = gather,
    .spread = spread,
};
