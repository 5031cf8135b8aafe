#include "adjoint/parameters_inside.h"
#include "math/quat.h"
#include "mesh/mass.h"
#include <string.h>

// Vertices of a body with a frame. Those of a rigid one carry its mass, centre and principal axes
// along, at the density it has, when those came from its mesh.

// Principal moments nearer than this, relative to the largest, have no axes of their own to follow.
static const double distinct = 1e-5;
// Moments that differ by less, relatively, are meant to be what they look like.
static const double alike = 1e-9;

// The vertices of a body as a mesh, in its frame.
static carom_status take_mesh(cr_parameters* p, int32_t body)
{
    const cr_model* m = p->scene;
    const int32_t from = m->bodies.vertex[body], to = m->bodies.vertex[body + 1];
    const int32_t first = m->surface.body_face[body], last = m->surface.body_face[body + 1];
    cr_trimesh* mesh = &p->mesh[body];
    const carom_status status = cr_trimesh_init(mesh, to - from, last - first, 0);
    if (status != CAROM_OK) {
        return status;
    }
    memcpy(mesh->x, m->bodies.p + 3 * (size_t)from, 3 * (size_t)(to - from) * sizeof(double));
    for (int32_t i = 0; i < 3 * (last - first); i++) {
        mesh->face[i] = m->surface.face[3 * (size_t)first + (size_t)i] - from;
    }
    return CAROM_OK;
}

// Whether mass and inertia of a rigid body are what its mesh gives at some density.
static int follows_mesh(const cr_parameters* p, int32_t body)
{
    const int32_t f = p->scene->bodies.frame[body];
    const double* moments = p->scene->bodies.inertia + 3 * f;
    const double scale = cr_max(moments[0], cr_max(moments[1], moments[2]));
    cr_mass mass;
    if (p->mesh[body].face_count == 0 || cr_mass_integrate(&p->mesh[body], &mass) != CAROM_OK) {
        return 0;
    }
    const double density = p->scene->bodies.mass[f] / mass.volume;
    const double size = p->scene->bodies.extent[f];
    int same = cr_vec3_norm(mass.centre) <= alike * size;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            const double is = i == k ? moments[i] : 0.0;
            same = same && fabs(density * mass.inertia.m[i][k] - is) <= alike * scale;
        }
    }
    return same;
}

// Of a rigid body: what may be asked for beside its vertices, and whether its mass follows them.
static carom_status ready_rigid(cr_parameters* p, const cr_parameters_slot* slot,
                                carom_error* error)
{
    const int32_t body = slot->body;
    static const int32_t others[] = {CR_GOAL_OF_MASS, CR_GOAL_OF_DENSITY, CR_GOAL_OF_INERTIA,
                                     CR_GOAL_OF_CENTER};
    for (int k = 0; k < 4; k++) {
        if (cr_parameters_ask(p, others[k], body)) {
            return cr_parameters_refuse(p, slot,
                                        "cannot be asked for together with its mass, density, "
                                        "inertia or centre of mass",
                                        error);
        }
    }
    p->solid[body] = follows_mesh(p, body);
    const double* m = p->scene->bodies.inertia + 3 * p->scene->bodies.frame[body];
    const double least = distinct * cr_max(m[0], cr_max(m[1], m[2]));
    if (p->solid[body] &&
        !(fabs(m[1] - m[0]) > least && fabs(m[2] - m[1]) > least && fabs(m[0] - m[2]) > least)) {
        return cr_parameters_refuse(
            p, slot,
            "need principal moments that differ: equal ones have no axes to "
            "follow. Make the body a little uneven, or give it mass and "
            "inertia, which then stay",
            error);
    }
    return CAROM_OK;
}

static carom_status ready(cr_parameters* p, const cr_parameters_slot* slot, carom_error* error)
{
    if (take_mesh(p, slot->body) != CAROM_OK) {
        return cr_parameters_no_memory(error);
    }
    return p->scene->bodies.kind[slot->body] == CR_BODY_RIGID ? ready_rigid(p, slot, error)
                                                              : CAROM_OK;
}

static int64_t numbers(const cr_parameters* p, const cr_parameters_slot* slot, int64_t usual)
{
    (void)usual;
    return 3 * (int64_t)p->mesh[slot->body].vertex_count;
}

static void scene(const cr_parameters* p, const cr_parameters_slot* slot, double* out)
{
    memcpy(out, p->mesh[slot->body].x, (size_t)slot->count * sizeof(double));
}

// p = A^T (y - c), t = t_o + R_o c, R = R_o A, om = A^T om_o, for vertices y in the old frame,
// their centre c and principal axes A.
static carom_status write(cr_parameters* p, const cr_parameters_slot* slot, const double* y)
{
    cr_model* m = p->model;
    const int32_t body = slot->body;
    const int32_t f = m->bodies.frame[body], from = m->bodies.vertex[body];
    cr_trimesh* mesh = &p->mesh[body];
    memcpy(mesh->x, y, 3 * (size_t)mesh->vertex_count * sizeof(double));
    cr_vec3 centre = {0, 0, 0};
    cr_mat3 axes = cr_mat3_identity();
    if (p->solid[body]) {
        cr_mass mass;
        cr_vec3 moments;
        if (cr_mass_integrate(mesh, &mass) != CAROM_OK) {
            return CAROM_ERR_MESH;
        }
        cr_mass_principal(mass.inertia, &moments, &axes);
        centre = mass.centre;
        m->bodies.mass[f] = m->density[body] * mass.volume;
        cr_vec3_store(m->bodies.inertia + 3 * f, cr_vec3_scale(m->density[body], moments));
    }
    const cr_quat turn = cr_quat_from_matrix(axes), q = cr_quat_load(m->q0 + 4 * f);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const cr_vec3 at = cr_vec3_sub(cr_vec3_load(y + 3 * (size_t)v), centre);
        cr_vec3_store(m->bodies.p + 3 * (size_t)(from + v), cr_mat3_tapply(axes, at));
    }
    cr_vec3_accumulate(m->t0 + 3 * f, cr_mat3_apply(cr_quat_to_matrix(q), centre));
    if (p->solid[body]) {
        cr_quat_store(m->q0 + 4 * f, cr_quat_normalize(cr_quat_mul(q, turn)));
        cr_vec3_store(m->om0 + 3 * f, cr_mat3_tapply(axes, cr_vec3_load(m->om0 + 3 * f)));
        const cr_vec3 own = cr_vec3_sub(cr_vec3_load(m->own_t + 3 * f), centre);
        cr_vec3_store(m->own_t + 3 * f, cr_mat3_tapply(axes, own));
        cr_quat_store(m->own_q + 4 * f,
                      cr_quat_mul(cr_quat_conjugate(turn), cr_quat_load(m->own_q + 4 * f)));
    }
    return CAROM_OK;
}

// Reverse of write. With D the moments and A -> A exp([omega]):
//     dp = A^T (dy - dc) - omega x p,   dD_i = (A^T dJ A)_ii,
//     omega_3 = (A^T dJ A)_12 / (D_1 - D_2) and so on around
// The mesh's own axes turn and shift as points with dy = 0 do.
static void gather(cr_parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                   double* out)
{
    const cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b], from = m->bodies.vertex[b];
    cr_trimesh* mesh = &p->mesh[b];
    if (!p->solid[b]) {
        for (int32_t v = 0; v < mesh->vertex_count; v++) {
            cr_vec3_accumulate(out + 3 * (size_t)v, g->p[from + v]);
        }
        return;
    }
    cr_mass mass, bar;
    cr_vec3 d;
    cr_mat3 axes;
    memcpy(mesh->x, p->theta + slot->first, (size_t)slot->count * sizeof(double));
    cr_mass_integrate(mesh, &mass);
    cr_mass_principal(mass.inertia, &d, &axes);
    const double density = m->density[b];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(p->scene->q0 + 4 * f));
    cr_vec3 omega = cr_vec3_sub(cr_parameters_turn_bar(m, g, f), g->own_turn[f]),
            sum = g->own_shift[f];
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const cr_vec3 at = cr_vec3_load(m->bodies.p + 3 * (size_t)(from + v));
        cr_vec3_accumulate(out + 3 * (size_t)v, cr_mat3_apply(axes, g->p[from + v]));
        sum = cr_vec3_add(sum, g->p[from + v]);
        omega = cr_vec3_add(omega, cr_vec3_cross(g->p[from + v], at));
    }
    const double* i_bar = g->inertia + 3 * f;
    const double xy = 0.5 * omega.z / (d.x - d.y), yz = 0.5 * omega.x / (d.y - d.z);
    const double zx = 0.5 * omega.y / (d.z - d.x);
    const cr_mat3 own = {
        {{density * i_bar[0], xy, zx}, {xy, density * i_bar[1], yz}, {zx, yz, density * i_bar[2]}}};
    bar.volume = density * g->mass[f];
    bar.centre = cr_vec3_sub(cr_mat3_tapply(r, g->start.t[f]), cr_mat3_apply(axes, sum));
    bar.inertia = cr_mat3_mul(axes, cr_mat3_mul(own, cr_mat3_transpose(axes)));
    cr_mass_integrate_adj(mesh, &bar, out);
}

// The change of a solid's volume, centre or inertia for that of its vertices: one number at a time,
// as the product of its derivative by the vertices, which the reverse gives.
static double mass_change(cr_parameters* p, const cr_trimesh* mesh, const cr_mass* which,
                          const double* d)
{
    double sum = 0.0;
    memset(p->solid_bar, 0, 3 * (size_t)mesh->vertex_count * sizeof(double));
    cr_mass_integrate_adj(mesh, which, p->solid_bar);
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++) {
        sum += p->solid_bar[i] * d[i];
    }
    return sum;
}

// In the letters of gather.
static void spread(cr_parameters* p, const cr_parameters_slot* slot, const double* d,
                   cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b], from = m->bodies.vertex[b];
    cr_trimesh* mesh = &p->mesh[b];
    if (!p->solid[b]) {
        for (int32_t v = 0; v < mesh->vertex_count; v++) {
            g->p[from + v] = cr_vec3_add(g->p[from + v], cr_vec3_load(d + 3 * (size_t)v));
        }
        return;
    }
    cr_mass mass;
    cr_vec3 moments, centre;
    cr_mat3 axes, inertia;
    memcpy(mesh->x, p->theta + slot->first, (size_t)slot->count * sizeof(double));
    cr_mass_integrate(mesh, &mass);
    cr_mass_principal(mass.inertia, &moments, &axes);
    const double density = m->density[b];
    const cr_mass volume_only = {.volume = 1.0};
    const double volume = mass_change(p, mesh, &volume_only, d);
    double along[3];
    for (int i = 0; i < 3; i++) {
        const cr_mass one = {.centre = {i == 0, i == 1, i == 2}};
        along[i] = mass_change(p, mesh, &one, d);
        for (int k = 0; k <= i; k++) {
            cr_mass entry = {.volume = 0.0};
            entry.inertia.m[i][k] = 1.0;
            inertia.m[i][k] = inertia.m[k][i] = mass_change(p, mesh, &entry, d);
        }
    }
    centre = cr_vec3_load(along);
    const cr_mat3 own = cr_mat3_mul(cr_mat3_transpose(axes), cr_mat3_mul(inertia, axes));
    const cr_vec3 omega = {own.m[1][2] / (moments.y - moments.z),
                           own.m[2][0] / (moments.z - moments.x),
                           own.m[0][1] / (moments.x - moments.y)};
    g->mass[f] += density * volume;
    cr_vec3_accumulate(g->inertia + 3 * f,
                       cr_vec3_scale(density, (cr_vec3){own.m[0][0], own.m[1][1], own.m[2][2]}));
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(p->scene->q0 + 4 * f));
    g->start.t[f] = cr_vec3_add(g->start.t[f], cr_mat3_apply(r, centre));
    cr_parameters_turn_frame(m, f, omega, g);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const cr_vec3 at = cr_vec3_load(m->bodies.p + 3 * (size_t)(from + v));
        const cr_vec3 dy = cr_vec3_sub(cr_vec3_load(d + 3 * (size_t)v), centre);
        const cr_vec3 dp = cr_vec3_sub(cr_mat3_tapply(axes, dy), cr_vec3_cross(omega, at));
        g->p[from + v] = cr_vec3_add(g->p[from + v], dp);
    }
}

const cr_parameters_kind cr_parameters_shape_kind = {
    .ready = ready,
    .numbers = numbers,
    .scene = scene,
    .write = write,
    .gather = gather,
    .spread = spread,
};
