#include "adjoint/parameters_inside.h"
#include "core/memory.h"
#include "sim/start.h"

// How close two bodies may start, in parts of their size, and how far two balls may overlap: as in
// scenes.
static const double touching = 1e-8, ball_slack = 5e-4;

static int places(int32_t what)
{
    switch (what) {
    case CR_GOAL_OF_POSITION:
    case CR_GOAL_OF_ROTATION:
    case CR_GOAL_OF_VERTICES:
    case CR_GOAL_OF_PINS:
    case CR_GOAL_OF_THICKNESS:
        return 1;
    default:
        return 0;
    }
}

// Whether theta puts bodies elsewhere than the scene, which was looked at, and than the theta
// before.
static int is_new(const cr_parameters* p, const double* theta)
{
    int scene = 1, before = 1;
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_parameters_slot* slot = &p->slot[i];
        for (int32_t k = slot->first; places(slot->what) && k < slot->first + slot->count; k++) {
            scene &= theta[k] == p->origin[k];
            before &= theta[k] == p->theta[k];
        }
    }
    return !scene && !before;
}

static double least_of(const cr_model* m, int32_t body)
{
    const int ball = m->surface.body_face[body] == m->surface.body_face[body + 1];
    const int32_t f = m->bodies.frame[body];
    double size = 2.0 * cr_body_set_reach(&m->bodies, body);
    if (f >= 0) {
        size = 2.0 * m->bodies.extent[f];
    }
    return ball ? m->bodies.radius[body] - ball_slack * size : touching * size;
}

static carom_status refuse(const cr_model* m, const cr_start_report* r, carom_error* error)
{
    const char *a = m->name[r->body[0]], *b = m->name[r->body[1]];
    if (r->body[0] == r->body[1]) {
        return cr_status_refuse(error, CAROM_ERR_INTERSECTING,
                                "with these parameters \"%.80s\" starts folded into itself near "
                                "(%g, %g, %g) m",
                                a, r->place.x, r->place.y, r->place.z);
    }
    return cr_status_refuse(error, CAROM_ERR_INTERSECTING,
                            "with these parameters \"%.80s\" %s \"%.80s\" at the start, near (%g, "
                            "%g, %g) m",
                            a,
                            r->inner            ? "is wholly inside"
                            : r->distance > 0.0 ? "overlaps with"
                                                : "intersects",
                            b, r->place.x, r->place.y, r->place.z);
}

carom_status cr_parameters_start(const cr_parameters* p, const double* theta, carom_error* error)
{
    const cr_model* m = p->model;
    if (!is_new(p, theta)) {
        return CAROM_OK;
    }
    double* floor = cr_memory_take((size_t)m->bodies.body_count, sizeof *floor);
    if (!floor) {
        return cr_parameters_no_memory(error);
    }
    for (int32_t body = 0; body < m->bodies.body_count; body++) {
        floor[body] = least_of(m, body);
    }
    cr_start_report report;
    carom_status status = cr_start_check(m, floor, &report);
    if (status == CAROM_ERR_INTERSECTING) {
        status = refuse(m, &report, error);
    } else if (status == CAROM_ERR_MEMORY) {
        status = cr_parameters_no_memory(error);
    } else if (status != CAROM_OK) {
        status = cr_status_refuse(error, status, "with these parameters the start is not finite");
    }
    cr_array_release(&report.near);
    cr_memory_free(floor);
    return status;
}
