#include "adjoint/parameters_inside.h"
#include "core/memory.h"
#include <stdio.h>
#include <string.h>

// Which of them a slot is of.
static const cr_parameters_kind* kind_of(const cr_parameters* p, const cr_parameters_slot* slot)
{
    switch (slot->what) {
    case CR_GOAL_OF_FRICTION:
    case CR_GOAL_OF_RESTITUTION:
    case CR_GOAL_OF_THICKNESS:
    case CR_GOAL_OF_CONTACT_WIDTH:
    case CR_GOAL_OF_CONTACT_STIFFNESS:
    case CR_GOAL_OF_GRAVITY:
    case CR_GOAL_OF_WIND:
        return &cr_parameters_plain_kind;
    case CR_GOAL_OF_FORCE:
    case CR_GOAL_OF_FORCES:
    case CR_GOAL_OF_TORQUE:
    case CR_GOAL_OF_TORQUES:
        return &cr_parameters_load_kind;
    case CR_GOAL_OF_SCRIPT:
        return &cr_parameters_script_kind;
    case CR_GOAL_OF_REST:
        return &cr_parameters_rest_kind;
    default:
        break;
    }
    if (p->scene->bodies.frame[slot->body] < 0) {
        return &cr_parameters_cloth_kind;
    }
    return slot->what == CR_GOAL_OF_VERTICES ? &cr_parameters_shape_kind
                                             : &cr_parameters_frame_kind;
}

static const char* name_of(const cr_parameters* p, const cr_parameters_slot* slot)
{
    return slot->body >= 0 ? p->scene->name[slot->body] : "the world";
}

carom_status cr_parameters_refuse(const cr_parameters* p, const cr_parameters_slot* slot,
                                  const char* why, carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "parameters: %s of \"%.60s\" %s",
                            cr_goal_parameter_name(slot->what), name_of(p, slot), why);
}

int cr_parameters_ask(const cr_parameters* p, int32_t what, int32_t body)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        if (p->goal->parameter[i].what == what && p->goal->parameter[i].body == body) {
            return 1;
        }
    }
    return 0;
}

carom_status cr_parameters_no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "no memory for the scene's parameters");
}

// Whether it gives bodies other vertices in their frames.
static int reshapes(const cr_parameters* p, const cr_parameters_slot* slot)
{
    return slot->what == CR_GOAL_OF_CENTER || kind_of(p, slot) == &cr_parameters_shape_kind;
}

// The places of all slots in theta.
static carom_status lay_out(cr_parameters* p, carom_error* error)
{
    static const int32_t usual[] = {
#define X(code, name, who, numbers, about) numbers,
        CR_GOAL_PARAMETER_LIST(X)
#undef X
    };
    int64_t size = 0;
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        cr_parameters_slot* slot = &p->slot[i];
        *slot = (cr_parameters_slot){.what = p->goal->parameter[i].what,
                                     .body = p->goal->parameter[i].body};
        for (int32_t k = 0; k < i; k++) {
            if (p->slot[k].what == slot->what && p->slot[k].body == slot->body) {
                return cr_parameters_refuse(p, slot, "is listed twice", error);
            }
        }
        const cr_parameters_kind* kind = kind_of(p, slot);
        const carom_status status = kind->ready ? kind->ready(p, slot, error) : CAROM_OK;
        if (status != CAROM_OK) {
            return status;
        }
        const int64_t few = usual[slot->what];
        const int64_t numbers = kind->numbers ? kind->numbers(p, slot, few) : few;
        if (size + numbers > INT32_MAX) {
            return cr_parameters_refuse(p, slot, "is too many numbers", error);
        }
        slot->first = (int32_t)size;
        slot->count = (int32_t)numbers;
        p->reshapes = p->reshapes || reshapes(p, slot);
        size += numbers;
    }
    p->size = (int32_t)size;
    return CAROM_OK;
}

static carom_status build(cr_parameters* p, carom_error* error)
{
    const size_t count = (size_t)p->goal->parameter_count;
    const size_t bodies = (size_t)p->scene->bodies.body_count;
    p->model = cr_model_copy(p->scene);
    p->slot = cr_memory_take(count, sizeof *p->slot);
    p->load = cr_memory_take(count, sizeof *p->load);
    p->solid = cr_memory_take(bodies, sizeof *p->solid);
    p->mesh = cr_memory_take(bodies, sizeof *p->mesh);
    p->topology = cr_memory_take(bodies, sizeof *p->topology);
    if (!p->model || !p->slot || !p->load || !p->solid || !p->mesh || !p->topology ||
        cr_parameters_rest_init(p) != CAROM_OK) {
        return cr_parameters_no_memory(error);
    }
    const carom_status status = lay_out(p, error);
    if (status != CAROM_OK) {
        return status;
    }
    int32_t vertices = 0;
    for (size_t b = 0; b < bodies; b++) {
        vertices = p->mesh[b].vertex_count > vertices ? p->mesh[b].vertex_count : vertices;
    }
    p->solid_bar = cr_memory_take(3 * (size_t)vertices, sizeof(double));
    p->origin = cr_memory_take((size_t)p->size, sizeof(double));
    p->theta = cr_memory_take((size_t)p->size, sizeof(double));
    if (!p->origin || !p->theta || !p->solid_bar || cr_parameters_load_add(p) != CAROM_OK ||
        cr_parameters_edges_init(p) != CAROM_OK) {
        return cr_parameters_no_memory(error);
    }
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        kind_of(p, &p->slot[i])->scene(p, &p->slot[i], p->origin + p->slot[i].first);
    }
    memcpy(p->theta, p->origin, (size_t)p->size * sizeof(double));
    return CAROM_OK;
}

carom_status cr_parameters_create(const cr_model* model, const cr_goal* goal, int64_t steps,
                                  cr_parameters** out, carom_error* error)
{
    *out = NULL;
    cr_parameters* p = cr_memory_take(1, sizeof *p);
    if (!p) {
        return cr_parameters_no_memory(error);
    }
    p->scene = model;
    p->goal = goal;
    p->steps = steps;
    const carom_status status = build(p, error);
    if (status != CAROM_OK) {
        cr_parameters_destroy(p);
        return status;
    }
    *out = p;
    return CAROM_OK;
}

void cr_parameters_destroy(cr_parameters* p)
{
    if (!p) {
        return;
    }
    for (int32_t b = 0; p->mesh && b < p->scene->bodies.body_count; b++) {
        cr_trimesh_release(&p->mesh[b]);
    }
    for (int32_t b = 0; p->topology && b < p->scene->bodies.body_count; b++) {
        cr_topology_release(&p->topology[b]);
    }
    cr_model_destroy(p->model);
    cr_memory_free(p->slot);
    cr_memory_free(p->load);
    cr_memory_free(p->solid);
    cr_memory_free(p->whole);
    cr_memory_free(p->corner);
    cr_memory_free(p->solid_bar);
    cr_memory_free(p->mesh);
    cr_memory_free(p->topology);
    cr_memory_free(p->origin);
    cr_memory_free(p->theta);
    cr_memory_free(p);
}

int32_t cr_parameters_count(const cr_parameters* p)
{
    return p->goal->parameter_count;
}

int32_t cr_parameters_size(const cr_parameters* p)
{
    return p->size;
}

const cr_parameters_slot* cr_parameters_slot_at(const cr_parameters* p, int32_t i)
{
    return &p->slot[i];
}

const double* cr_parameters_scene(const cr_parameters* p)
{
    return p->origin;
}

const cr_model* cr_parameters_model(const cr_parameters* p)
{
    return p->model;
}

// One number for all components, one each, or the usual one. A shorter list begins again: three
// numbers bound every force of a list of forces.
static double listed(int32_t count, const double* list, int32_t i, double usual)
{
    return count == 0 ? usual : list[i % count];
}

void cr_parameters_range(const cr_parameters* p, double* start, double* least, double* most)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_goal_parameter* g = &p->goal->parameter[i];
        const cr_parameters_slot* slot = &p->slot[i];
        for (int32_t k = 0; k < slot->count; k++) {
            const int32_t at = slot->first + k;
            least[at] = listed(g->min_count, g->min, k, -HUGE_VAL);
            most[at] = listed(g->max_count, g->max, k, HUGE_VAL);
            start[at] = listed(g->start_count, g->start, k, p->origin[at]);
            start[at] = cr_min(cr_max(start[at], least[at]), most[at]);
        }
    }
}

// No body has a principal moment larger than the sum of its others by more than round-off.
static const double moment_slack = 1e-9;

// What must hold of the number *which of a slot, in words; NULL: all is well.
static const char* trouble(const cr_parameters_slot* slot, const double* theta, int32_t* which)
{
    for (*which = 0; *which < slot->count; ++*which) {
        if (!isfinite(theta[*which])) {
            return "has to be finite";
        }
    }
    *which = 0;
    switch (slot->what) {
    case CR_GOAL_OF_MASS:
    case CR_GOAL_OF_DENSITY:
    case CR_GOAL_OF_STRETCH:
        return theta[0] > 0.0 ? NULL : "has to be above 0";
    case CR_GOAL_OF_INERTIA:
        for (; *which < 3; ++*which) {
            if (!(theta[*which] > 0.0)) {
                return "has to be above 0";
            }
        }
        *which = theta[1] > theta[0] ? 1 : 0;
        *which = theta[2] > theta[*which] ? 2 : *which;
        return theta[0] + theta[1] + theta[2] >= 2.0 * theta[*which] * (1.0 - moment_slack)
                   ? NULL
                   : "has to be no larger than the sum of the two other moments";
    case CR_GOAL_OF_FRICTION:
    case CR_GOAL_OF_THICKNESS:
    case CR_GOAL_OF_BEND:
    case CR_GOAL_OF_DAMPING:
    case CR_GOAL_OF_BEND_DAMPING:
    case CR_GOAL_OF_DRAG_NORMAL:
    case CR_GOAL_OF_DRAG_TANGENT:
    case CR_GOAL_OF_C11:
    case CR_GOAL_OF_C22:
    case CR_GOAL_OF_C33:
        return theta[0] >= 0.0 ? NULL : "may not be below 0";
    case CR_GOAL_OF_CONTACT_WIDTH:
    case CR_GOAL_OF_CONTACT_STIFFNESS:
        return theta[0] > 0.0 ? NULL : "has to be above 0";
    case CR_GOAL_OF_RESTITUTION:
        return theta[0] >= 0.0 && theta[0] <= 1.0 ? NULL : "has to be from 0 to 1";
    case CR_GOAL_OF_POISSON:
        return fabs(theta[0]) < 1.0 ? NULL : "has to be between -1 and 1";
    default:
        return NULL;
    }
}

// Everything that some slot may change, as the scene has it.
static void restore(cr_parameters* p)
{
    const cr_model* from = p->scene;
    cr_model* to = p->model;
    const size_t f = (size_t)from->bodies.frame_count, n = (size_t)from->bodies.node_count;
    const size_t b = (size_t)from->bodies.body_count, v = (size_t)from->bodies.vertex_count;
    to->world = from->world;
    to->shape += p->reshapes;
    memcpy(to->bodies.radius, from->bodies.radius, b * sizeof(double));
    memcpy(to->bodies.width, from->bodies.width, b * sizeof(double));
    memcpy(to->bodies.stiffness, from->bodies.stiffness, b * sizeof(double));
    memcpy(to->bodies.friction, from->bodies.friction, b * sizeof(double));
    memcpy(to->bodies.restitution, from->bodies.restitution, b * sizeof(double));
    memcpy(to->bodies.p, from->bodies.p, 3 * v * sizeof(double));
    memcpy(to->bodies.mass, from->bodies.mass, f * sizeof(double));
    memcpy(to->bodies.inertia, from->bodies.inertia, 3 * f * sizeof(double));
    memcpy(to->bodies.extent, from->bodies.extent, f * sizeof(double));
    memcpy(to->bodies.node_mass, from->bodies.node_mass, n * sizeof(double));
    memcpy(to->t0, from->t0, 3 * f * sizeof(double));
    memcpy(to->q0, from->q0, 4 * f * sizeof(double));
    memcpy(to->v0, from->v0, 3 * f * sizeof(double));
    memcpy(to->om0, from->om0, 3 * f * sizeof(double));
    memcpy(to->own_t, from->own_t, 3 * f * sizeof(double));
    memcpy(to->own_q, from->own_q, 4 * f * sizeof(double));
    memcpy(to->x0, from->x0, 3 * n * sizeof(double));
    memcpy(to->xv0, from->xv0, 3 * n * sizeof(double));
    memcpy(to->material, from->material, (size_t)from->sheet_count * sizeof *to->material);
    if (p->reshapes) {
        cr_parameters_edges_restore(p);
    }
}

// What hangs on the numbers written: edges, node masses, extents.
static void follow(cr_parameters* p)
{
    cr_model* m = p->model;
    if (p->reshapes) {
        cr_parameters_edges_write(p);
    }
    for (int32_t s = 0; s < m->sheet_count; s++) {
        cr_cloth_mass(&m->sheet[s], m->material[s].density, m->bodies.node_mass + m->sheet_node[s]);
    }
    for (int32_t f = 0; f < m->bodies.frame_count; f++) {
        const int32_t b = m->bodies.frame_body[f];
        double far = 0.0;
        for (int32_t v = m->bodies.vertex[b]; v < m->bodies.vertex[b + 1]; v++) {
            far = cr_max(far, cr_vec3_norm(cr_vec3_load(m->bodies.p + 3 * (size_t)v)));
        }
        m->bodies.extent[f] = far + cr_body_set_reach(&m->bodies, b);
    }
}

// Vertices first, for they move the frame; spins last, for they are meant in the world.
static int turn_of(const cr_parameters* p, const cr_parameters_slot* slot)
{
    return kind_of(p, slot) == &cr_parameters_shape_kind ? 0
           : slot->what == CR_GOAL_OF_SPIN               ? 2
                                                         : 1;
}

static const char* sheet_name(const cr_parameters* p, int32_t sheet)
{
    int32_t body = 0;
    while (p->model->body_sheet[body] != sheet) {
        body++;
    }
    return p->model->name[body];
}

static carom_status check(const cr_parameters* p, const double* theta, carom_error* error)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        int32_t which;
        const char* why = trouble(&p->slot[i], theta + p->slot[i].first, &which);
        if (why) {
            char number[24] = "";
            if (p->slot[i].count > 1) {
                snprintf(number, sizeof number, "[%d]", which);
            }
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "%s%s of \"%.60s\" is %g; it %s",
                                    cr_goal_parameter_name(p->slot[i].what), number,
                                    name_of(p, &p->slot[i]), theta[p->slot[i].first + which], why);
        }
    }
    return CAROM_OK;
}

// Theta into the model, from what the scene has. Where that cannot be, the model is anything.
static carom_status write_all(cr_parameters* p, const double* theta, carom_error* error)
{
    restore(p);
    for (int turn = 0; turn < 3; turn++) {
        for (int32_t i = 0; i < p->goal->parameter_count; i++) {
            if (turn_of(p, &p->slot[i]) != turn) {
                continue;
            }
            const cr_parameters_slot* slot = &p->slot[i];
            const cr_parameters_kind* kind = kind_of(p, slot);
            if (kind->write(p, slot, theta + slot->first) != CAROM_OK) {
                return cr_parameters_refuse(p, slot, "lost its volume or the area of a face",
                                            error);
            }
        }
    }
    for (int32_t s = 0; s < p->model->sheet_count; s++) { // moduli have to go together
        const carom_status status =
            cr_cloth_material_check(&p->model->material[s], sheet_name(p, s), error);
        if (status != CAROM_OK) {
            return status;
        }
    }
    follow(p);
    return cr_parameters_start(p, theta, error);
}

carom_status cr_parameters_write(cr_parameters* p, const double* theta, carom_error* error)
{
    carom_status status = check(p, theta, error);
    if (status != CAROM_OK) {
        return status;
    }
    status = write_all(p, theta, error);
    if (status != CAROM_OK) {
        carom_error unused;
        write_all(p, p->theta, &unused); // as it was
        return status;
    }
    memcpy(p->theta, theta, (size_t)p->size * sizeof(double));
    return CAROM_OK;
}

void cr_parameters_gather(cr_parameters* p, const cr_gradient* gradient, double* dtheta)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_parameters_slot* slot = &p->slot[i];
        kind_of(p, slot)->gather(p, slot, gradient, dtheta + slot->first);
    }
}

void cr_parameters_gather_step(const cr_parameters* p, int64_t step, const cr_gradient* gradient,
                               double* dtheta)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_parameters_slot* slot = &p->slot[i];
        if ((slot->what == CR_GOAL_OF_FORCES || slot->what == CR_GOAL_OF_TORQUES) &&
            step < p->steps) {
            cr_parameters_load_gather(p, slot, gradient, dtheta + slot->first + 3 * step);
        }
    }
}

void cr_parameters_spread(cr_parameters* p, const double* dtheta, cr_gradient* gradient)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_parameters_slot* slot = &p->slot[i];
        kind_of(p, slot)->spread(p, slot, dtheta + slot->first, gradient);
    }
}
