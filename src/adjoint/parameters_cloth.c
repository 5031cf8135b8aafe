#include "adjoint/parameters_inside.h"
#include <string.h>

// Moduli that differ by less, relatively, are meant to be what they look like.
static const double alike = 1e-9;

static double* node_x(const cr_model* m, int32_t n)
{
    return m->x0 + 3 * (size_t)n;
}

// The number of a sheet's material that a parameter stands for; NULL: none does.
static double* modulus(cr_cloth_material* m, int32_t what)
{
    switch (what) {
    case CR_GOAL_OF_C11:
        return &m->c11;
    case CR_GOAL_OF_C22:
        return &m->c22;
    case CR_GOAL_OF_C12:
        return &m->c12;
    case CR_GOAL_OF_C33:
        return &m->c33;
    case CR_GOAL_OF_BEND:
        return &m->bend;
    case CR_GOAL_OF_DAMPING:
        return &m->damping;
    case CR_GOAL_OF_BEND_DAMPING:
        return &m->bend_damping;
    case CR_GOAL_OF_DRAG_NORMAL:
        return &m->drag_normal;
    case CR_GOAL_OF_DRAG_TANGENT:
        return &m->drag_tangent;
    default:
        return NULL;
    }
}

static void young_of(const cr_cloth_material* m, double* young, double* poisson)
{
    *poisson = m->c12 / m->c11;
    *young = m->c11 * (1.0 - *poisson * *poisson);
}

static int isotropic(const cr_cloth_material* m)
{
    double young, poisson;
    young_of(m, &young, &poisson);
    const cr_membrane_law law = cr_membrane_isotropic(young, poisson);
    return fabs(m->c22 - m->c11) <= alike * m->c11 && fabs(m->c33 - law.c33) <= alike * m->c33;
}

static carom_status ready(cr_parameters* p, const cr_parameters_slot* slot, carom_error* error)
{
    if ((slot->what == CR_GOAL_OF_STRETCH || slot->what == CR_GOAL_OF_POISSON) &&
        !isotropic(&p->scene->material[p->scene->body_sheet[slot->body]])) {
        return cr_parameters_refuse(p, slot,
                                    "asks for a sheet that is the same in all directions; ask for "
                                    "c11, c22, c12, c33 instead",
                                    error);
    }
    return CAROM_OK;
}

static int32_t pinned_count(const cr_model* m, int32_t body)
{
    int32_t from, to, count = 0;
    cr_parameters_sheet_nodes(m, body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        count += m->bodies.node_pinned[n] != 0;
    }
    return count;
}

static int64_t numbers(const cr_parameters* p, const cr_parameters_slot* slot, int64_t usual)
{
    int32_t from, to;
    cr_parameters_sheet_nodes(p->scene, slot->body, &from, &to);
    return slot->what == CR_GOAL_OF_VERTICES ? 3 * (int64_t)(to - from)
           : slot->what == CR_GOAL_OF_PINS   ? 3 * (int64_t)pinned_count(p->scene, slot->body)
                                             : usual;
}

static void scene_pins(const cr_model* m, int32_t body, double* out)
{
    int32_t from, to;
    cr_parameters_sheet_nodes(m, body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        if (m->bodies.node_pinned[n]) {
            memcpy(out, node_x(m, n), 3 * sizeof(double));
            out += 3;
        }
    }
}

static void scene(const cr_parameters* p, const cr_parameters_slot* slot, double* out)
{
    const cr_model* m = p->scene;
    const int32_t s = m->body_sheet[slot->body];
    int32_t from, to;
    cr_parameters_sheet_nodes(m, slot->body, &from, &to);
    double young, poisson;
    young_of(&m->material[s], &young, &poisson);
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        memcpy(out, m->place + 3 * (size_t)slot->body, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_VELOCITY:
        memcpy(out, m->xv0 + 3 * (size_t)from, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_DENSITY:
        *out = m->material[s].density;
        break;
    case CR_GOAL_OF_VERTICES:
        memcpy(out, node_x(m, from), 3 * (size_t)(to - from) * sizeof(double));
        break;
    case CR_GOAL_OF_STRETCH:
        *out = young;
        break;
    case CR_GOAL_OF_POISSON:
        *out = poisson;
        break;
    case CR_GOAL_OF_PINS:
        scene_pins(m, slot->body, out);
        break;
    default:
        if (modulus(&m->material[s], slot->what)) {
            *out = *modulus(&m->material[s], slot->what);
        }
    }
}

// The whole sheet moves by how far theta is from the scene's.
static void write_position(cr_parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    const cr_vec3 moved = cr_vec3_sub(cr_vec3_load(theta), cr_vec3_load(p->origin + slot->first));
    int32_t from, to;
    cr_parameters_sheet_nodes(m, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        cr_vec3_accumulate(node_x(m, n), moved);
    }
}

// Nodes move by how far theta is from the scene's.
static void write_nodes(cr_parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    int32_t from, to, at = 0;
    cr_parameters_sheet_nodes(m, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        if (slot->what == CR_GOAL_OF_VERTICES || m->bodies.node_pinned[n]) {
            cr_vec3_accumulate(node_x(m, n),
                               cr_vec3_sub(cr_vec3_load(theta + 3 * (size_t)at),
                                           cr_vec3_load(p->origin + slot->first + 3 * (size_t)at)));
            at++;
        }
    }
}

static carom_status write(cr_parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    int32_t from, to;
    cr_parameters_sheet_nodes(m, slot->body, &from, &to);
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        write_position(p, slot, theta);
        break;
    case CR_GOAL_OF_VELOCITY:
        for (int32_t n = from; n < to; n++) {
            memcpy(m->xv0 + 3 * (size_t)n, theta, 3 * sizeof(double));
        }
        break;
    case CR_GOAL_OF_DENSITY:
        m->material[s].density = theta[0];
        break;
    case CR_GOAL_OF_VERTICES:
    case CR_GOAL_OF_PINS:
        write_nodes(p, slot, theta);
        break;
    case CR_GOAL_OF_STRETCH:
    case CR_GOAL_OF_POISSON: { // the other one stays as it is by now
        double young, poisson;
        young_of(&m->material[s], &young, &poisson);
        const int stretch = slot->what == CR_GOAL_OF_STRETCH;
        const cr_membrane_law law =
            cr_membrane_isotropic(stretch ? theta[0] : young, stretch ? poisson : theta[0]);
        m->material[s].c11 = law.c11;
        m->material[s].c22 = law.c22;
        m->material[s].c12 = law.c12;
        m->material[s].c33 = law.c33;
        break;
    }
    default:
        if (modulus(&m->material[s], slot->what)) {
            *modulus(&m->material[s], slot->what) = theta[0];
        }
    }
    return CAROM_OK;
}

// The bar of a node's start, pinned or not.
static cr_vec3 node_start(const cr_model* m, const cr_gradient* g, int32_t n)
{
    return m->bodies.node_pinned[n] ? cr_vec3_add(g->start.x[n], g->shift[m->bodies.node_vertex[n]])
                                    : g->start.x[n];
}

static void gather(cr_parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                   double* out)
{
    const cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    int32_t from, to, at = 0;
    cr_parameters_sheet_nodes(m, slot->body, &from, &to);
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        for (int32_t n = from; n < to; n++) {
            cr_vec3_accumulate(out, node_start(m, g, n));
        }
        break;
    case CR_GOAL_OF_VELOCITY:
        for (int32_t n = from; n < to; n++) {
            cr_vec3_accumulate(out, g->start.xv[n]);
        }
        break;
    case CR_GOAL_OF_DENSITY:
        for (int32_t n = from; n < to; n++) {
            out[0] += g->node_mass[n] * m->sheet[s].node_area[n - from];
        }
        out[0] += g->material[s].density;
        break;
    case CR_GOAL_OF_VERTICES:
    case CR_GOAL_OF_PINS:
        for (int32_t n = from; n < to; n++) {
            if (slot->what == CR_GOAL_OF_VERTICES || m->bodies.node_pinned[n]) {
                cr_vec3_accumulate(out + 3 * (size_t)at++, node_start(m, g, n));
            }
        }
        break;
    case CR_GOAL_OF_STRETCH:
    case CR_GOAL_OF_POISSON: {
        const cr_cloth_material* bar = &g->material[s];
        const cr_membrane_law law_bar = {
            .c11 = bar->c11, .c12 = bar->c12, .c22 = bar->c22, .c33 = bar->c33};
        double young, poisson, young_bar = 0.0, poisson_bar = 0.0;
        young_of(&m->material[s], &young, &poisson);
        cr_membrane_isotropic_adj(young, poisson, &law_bar, &young_bar, &poisson_bar);
        out[0] += slot->what == CR_GOAL_OF_STRETCH ? young_bar : poisson_bar;
        break;
    }
    default:
        if (modulus(&g->material[s], slot->what)) {
            out[0] += *modulus(&g->material[s], slot->what);
        }
    }
}

// Transposed: a node's start moves by d.
static void move_node(const cr_model* m, int32_t n, cr_vec3 d, cr_gradient* g)
{
    g->start.x[n] = cr_vec3_add(g->start.x[n], d);
    if (m->bodies.node_pinned[n]) {
        const int32_t v = m->bodies.node_vertex[n];
        g->shift[v] = cr_vec3_add(g->shift[v], d);
    }
}

static void spread(cr_parameters* p, const cr_parameters_slot* slot, const double* d,
                   cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    int32_t from, to, at = 0;
    cr_parameters_sheet_nodes(m, slot->body, &from, &to);
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        for (int32_t n = from; n < to; n++) {
            move_node(m, n, cr_vec3_load(d), g);
        }
        break;
    case CR_GOAL_OF_VELOCITY:
        for (int32_t n = from; n < to; n++) {
            g->start.xv[n] = cr_vec3_add(g->start.xv[n], cr_vec3_load(d));
        }
        break;
    case CR_GOAL_OF_DENSITY:
        for (int32_t n = from; n < to; n++) {
            g->node_mass[n] += d[0] * m->sheet[s].node_area[n - from];
        }
        g->material[s].density += d[0];
        break;
    case CR_GOAL_OF_VERTICES:
    case CR_GOAL_OF_PINS:
        for (int32_t n = from; n < to; n++) {
            if (slot->what == CR_GOAL_OF_VERTICES || m->bodies.node_pinned[n]) {
                move_node(m, n, cr_vec3_load(d + 3 * (size_t)at++), g);
            }
        }
        break;
    case CR_GOAL_OF_STRETCH:
    case CR_GOAL_OF_POISSON: {
        double young, poisson;
        const int stretch = slot->what == CR_GOAL_OF_STRETCH;
        young_of(&m->material[s], &young, &poisson);
        const cr_membrane_law law =
            cr_membrane_isotropic_jvp(young, poisson, stretch ? d[0] : 0.0, stretch ? 0.0 : d[0]);
        g->material[s].c11 += law.c11;
        g->material[s].c22 += law.c22;
        g->material[s].c12 += law.c12;
        g->material[s].c33 += law.c33;
        break;
    }
    default:
        if (modulus(&g->material[s], slot->what)) {
            *modulus(&g->material[s], slot->what) += d[0];
        }
    }
}

const cr_parameters_kind cr_parameters_cloth_kind = {
    .ready = ready,
    .numbers = numbers,
    .scene = scene,
    .write = write,
    .gather = gather,
    .spread = spread,
};
