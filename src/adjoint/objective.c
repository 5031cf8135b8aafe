#include "adjoint/objective.h"
#include "dynamics/targets.h"
#include "math/rot.h"

// A look at one term at one state, and what it is worth there.
typedef struct look {
    const cr_objective* objective;
    const cr_goal_term* term;
    const cr_tape_moment* moment;
    const cr_state* state;
    const double* target;
    double weight;
    cr_state_bars* bars; // of the state; NULL: value only
    cr_state_bars* before;
    cr_gradient* gradient;
} look;

// ---- norms

// weight norm(axes (value - target)) of three numbers.
static double worth(const look* l, cr_vec3 value, cr_vec3 target)
{
    const cr_vec3 d = cr_vec3_sub(value, target);
    const double* a = l->term->axes;
    const cr_vec3 r = {a[0] * d.x, a[1] * d.y, a[2] * d.z};
    switch (l->term->norm) {
    case CR_GOAL_SQUARED:
        return l->weight * cr_vec3_norm2(r);
    case CR_GOAL_NORM:
        return l->weight * cr_vec3_norm(r);
    default:
        return l->weight * (r.x + r.y + r.z);
    }
}

// d worth / d value. A length of 0 has no direction and pulls nowhere.
static cr_vec3 pull(const look* l, cr_vec3 value, cr_vec3 target)
{
    const cr_vec3 d = cr_vec3_sub(value, target);
    const double* a = l->term->axes;
    cr_vec3 r = {a[0] * d.x, a[1] * d.y, a[2] * d.z};
    if (l->term->norm == CR_GOAL_SQUARED) {
        r = cr_vec3_scale(2.0, r);
    } else if (l->term->norm == CR_GOAL_NORM) {
        const double length = cr_vec3_norm(r);
        r = length > 0.0 ? cr_vec3_scale(1.0 / length, r) : (cr_vec3){0, 0, 0};
    } else {
        r = (cr_vec3){1, 1, 1};
    }
    return cr_vec3_scale(l->weight, (cr_vec3){a[0] * r.x, a[1] * r.y, a[2] * r.z});
}

static cr_mat3 turn_of(const cr_state* state, int32_t frame)
{
    return cr_quat_to_matrix(cr_quat_load(state->q + 4 * frame));
}

// ---- positions and velocities

static void sheet_range(const cr_model* model, const cr_goal_term* term, int32_t* from, int32_t* to)
{
    const int32_t sheet = model->body_sheet[term->body];
    *from = term->node >= 0 ? term->node : model->sheet_node[sheet];
    *to = term->node >= 0 ? term->node + 1 : model->sheet_node[sheet + 1];
}

// A node, or the mean over all nodes.
static double look_at_nodes(const look* l, const double* x, cr_vec3* bars)
{
    int32_t from, to;
    sheet_range(l->objective->model, l->term, &from, &to);
    cr_vec3 mean = {0, 0, 0};
    for (int32_t n = from; n < to; n++) {
        mean = cr_vec3_add_scaled(mean, 1.0 / (to - from), cr_vec3_load(x + 3 * n));
    }
    const cr_vec3 target = cr_vec3_load(l->target);
    if (l->bars) {
        const cr_vec3 each = cr_vec3_scale(1.0 / (to - from), pull(l, mean, target));
        for (int32_t n = from; n < to; n++) {
            cr_vec3_add_to(&bars[n], each);
        }
    }
    return worth(l, mean, target);
}

// Every node against a place of its own: the mean over the nodes.
static double look_at_each(const look* l, const double* x, cr_vec3* bars)
{
    int32_t from, to;
    sheet_range(l->objective->model, l->term, &from, &to);
    look one = *l;
    one.weight /= to - from;
    double sum = 0.0;
    for (int32_t n = from; n < to; n++) {
        const cr_vec3 at = cr_vec3_load(x + 3 * n),
                      target = cr_vec3_load(l->target + 3 * (n - from));
        sum += worth(&one, at, target);
        if (l->bars) {
            cr_vec3_add_to(&bars[n], pull(&one, at, target));
        }
    }
    return sum;
}

// The point of a body that a term looks at, in its frame.
static cr_vec3 point_of(const look* l, int32_t f)
{
    const cr_model* model = l->objective->model;
    if (!l->term->aside) {
        return (cr_vec3){0, 0, 0};
    }
    const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(model->own_q + 4 * f));
    return cr_vec3_add(cr_mat3_apply(own, cr_vec3_load(l->term->point)),
                       cr_vec3_load(model->own_t + 3 * f));
}

static double look_position(const look* l)
{
    const int32_t f = l->objective->model->bodies.frame[l->term->body];
    if (f < 0 && l->term->recording) {
        return look_at_each(l, l->state->x, l->bars ? l->bars->x : NULL);
    }
    if (f < 0) {
        return look_at_nodes(l, l->state->x, l->bars ? l->bars->x : NULL);
    }
    const cr_mat3 r = turn_of(l->state, f);
    const cr_vec3 p = point_of(l, f), target = cr_vec3_load(l->target);
    const cr_vec3 x = cr_vec3_add(cr_mat3_apply(r, p), cr_vec3_load(l->state->t + 3 * f));
    if (l->bars) { // R exp([delta]) p moves by R (delta x p)
        const cr_vec3 x_bar = pull(l, x, target), p_bar = cr_mat3_tapply(r, x_bar);
        cr_vec3_add_to(&l->bars->t[f], x_bar);
        cr_vec3_add_to(&l->bars->q[f], cr_vec3_cross(p, p_bar));
        if (l->term->aside) {
            cr_vec3_add_to(&l->gradient->own_turn[f], cr_vec3_cross(p, p_bar));
            cr_vec3_add_to(&l->gradient->own_shift[f], p_bar);
        }
    }
    return worth(l, x, target);
}

static double look_velocity(const look* l)
{
    const int32_t f = l->objective->model->bodies.frame[l->term->body];
    if (f < 0) {
        return look_at_nodes(l, l->state->xv, l->bars ? l->bars->xv : NULL);
    }
    const cr_vec3 v = cr_vec3_load(l->state->v + 3 * f), target = cr_vec3_load(l->target);
    if (l->bars) {
        cr_vec3_add_to(&l->bars->v[f], pull(l, v, target));
    }
    return worth(l, v, target);
}

static double look_spin(const look* l)
{
    const int32_t f = l->objective->model->bodies.frame[l->term->body];
    const cr_mat3 r = turn_of(l->state, f);
    const cr_vec3 om = cr_vec3_load(l->state->om + 3 * f), target = cr_vec3_load(l->target);
    const cr_vec3 spin = cr_mat3_apply(r, om);
    if (l->bars) {
        const cr_vec3 om_bar = cr_mat3_tapply(r, pull(l, spin, target));
        cr_vec3_add_to(&l->bars->om[f], om_bar);
        cr_vec3_add_to(&l->bars->q[f], cr_vec3_cross(om, om_bar));
    }
    return worth(l, spin, target);
}

// R_mesh = R own = exp([w]) R_target. With R -> R exp([delta]) the left side turns by R delta, so
// Jl(w) dw = R delta and delta_bar = R^T Jl^-T w_bar; Jl^-T(w) = Jr^-1(w). own -> exp([delta]) own
// does the same.
static double look_rotation(const look* l)
{
    const cr_model* model = l->objective->model;
    const int32_t f = model->bodies.frame[l->term->body];
    const cr_quat q = cr_quat_load(l->state->q + 4 * f);
    const cr_quat mesh = cr_quat_mul(q, cr_quat_load(model->own_q + 4 * f));
    const cr_vec3 w =
        cr_quat_to_rotation(cr_quat_mul(mesh, cr_quat_conjugate(cr_quat_load(l->target))));
    const cr_vec3 none = {0, 0, 0};
    if (l->bars) {
        const cr_rot rot = cr_rot_make(w);
        const cr_vec3 turn = cr_mat3_apply(cr_rot_right_inverse(&rot), pull(l, w, none));
        const cr_vec3 delta = cr_mat3_tapply(cr_quat_to_matrix(q), turn);
        cr_vec3_add_to(&l->bars->q[f], delta);
        cr_vec3_add_to(&l->gradient->own_turn[f], delta);
    }
    return worth(l, w, none);
}

// ---- sums over bodies

static int takes_part(const look* l, int32_t body)
{
    return l->term->body < 0 || l->term->body == body;
}

static int free_node(const look* l, int32_t n)
{
    const cr_body_set* bodies = &l->objective->model->bodies;
    return !bodies->node_pinned[n] && takes_part(l, bodies->vertex_body[bodies->node_vertex[n]]);
}

static double look_momentum(const look* l)
{
    const cr_body_set* bodies = &l->objective->model->bodies;
    cr_vec3 sum = {0, 0, 0};
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        if (takes_part(l, bodies->frame_body[f])) {
            sum = cr_vec3_add_scaled(sum, bodies->mass[f], cr_vec3_load(l->state->v + 3 * f));
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (free_node(l, n)) {
            sum = cr_vec3_add_scaled(sum, bodies->node_mass[n], cr_vec3_load(l->state->xv + 3 * n));
        }
    }
    const cr_vec3 target = cr_vec3_load(l->target), bar = pull(l, sum, target);
    for (int32_t f = 0; l->bars && f < bodies->frame_count; f++) {
        if (takes_part(l, bodies->frame_body[f]) && bodies->mass[f] > 0.0) {
            l->bars->v[f] = cr_vec3_add_scaled(l->bars->v[f], bodies->mass[f], bar);
            l->gradient->mass[f] += cr_vec3_dot(bar, cr_vec3_load(l->state->v + 3 * f));
        }
    }
    for (int32_t n = 0; l->bars && n < bodies->node_count; n++) {
        if (free_node(l, n)) {
            l->bars->xv[n] = cr_vec3_add_scaled(l->bars->xv[n], bodies->node_mass[n], bar);
            l->gradient->node_mass[n] += cr_vec3_dot(bar, cr_vec3_load(l->state->xv + 3 * n));
        }
    }
    return worth(l, sum, target);
}

static cr_vec3 times(const double* d, cr_vec3 a)
{
    return (cr_vec3){d[0] * a.x, d[1] * a.y, d[2] * a.z};
}

// L = R I om + t x m v
static void turning_adj(const look* l, int32_t f, cr_vec3 bar)
{
    const cr_body_set* bodies = &l->objective->model->bodies;
    const double m = bodies->mass[f];
    const cr_vec3 t = cr_vec3_load(l->state->t + 3 * f), v = cr_vec3_load(l->state->v + 3 * f);
    const cr_vec3 om = cr_vec3_load(l->state->om + 3 * f);
    const cr_vec3 own = cr_mat3_tapply(turn_of(l->state, f), bar);
    const double* inertia = bodies->inertia + 3 * f;
    cr_vec3_add_to(&l->bars->om[f], times(inertia, own));
    cr_vec3_add_to(&l->bars->q[f], cr_vec3_cross(times(inertia, om), own));
    cr_vec3_add_to(&l->bars->t[f], cr_vec3_scale(m, cr_vec3_cross(v, bar)));
    cr_vec3_add_to(&l->bars->v[f], cr_vec3_scale(m, cr_vec3_cross(bar, t)));
    cr_vec3_accumulate(l->gradient->inertia + 3 * f,
                       (cr_vec3){own.x * om.x, own.y * om.y, own.z * om.z});
    l->gradient->mass[f] += cr_vec3_dot(bar, cr_vec3_cross(t, v));
}

static double look_angular_momentum(const look* l)
{
    const cr_body_set* bodies = &l->objective->model->bodies;
    const cr_state* s = l->state;
    cr_vec3 sum = {0, 0, 0};
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        if (takes_part(l, bodies->frame_body[f]) && bodies->mass[f] > 0.0) {
            const cr_vec3 spin = times(bodies->inertia + 3 * f, cr_vec3_load(s->om + 3 * f));
            const cr_vec3 p = cr_vec3_scale(bodies->mass[f], cr_vec3_load(s->v + 3 * f));
            cr_vec3_add_to(&sum, cr_mat3_apply(turn_of(s, f), spin));
            cr_vec3_add_to(&sum, cr_vec3_cross(cr_vec3_load(s->t + 3 * f), p));
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (free_node(l, n)) {
            const cr_vec3 p = cr_vec3_scale(bodies->node_mass[n], cr_vec3_load(s->xv + 3 * n));
            cr_vec3_add_to(&sum, cr_vec3_cross(cr_vec3_load(s->x + 3 * n), p));
        }
    }
    const cr_vec3 target = cr_vec3_load(l->target), bar = pull(l, sum, target);
    for (int32_t f = 0; l->bars && f < bodies->frame_count; f++) {
        if (takes_part(l, bodies->frame_body[f]) && bodies->mass[f] > 0.0) {
            turning_adj(l, f, bar);
        }
    }
    for (int32_t n = 0; l->bars && n < bodies->node_count; n++) {
        if (free_node(l, n)) {
            const cr_vec3 x = cr_vec3_load(s->x + 3 * n), v = cr_vec3_load(s->xv + 3 * n);
            const double m = bodies->node_mass[n];
            cr_vec3_add_to(&l->bars->x[n], cr_vec3_scale(m, cr_vec3_cross(v, bar)));
            cr_vec3_add_to(&l->bars->xv[n], cr_vec3_scale(m, cr_vec3_cross(bar, x)));
            l->gradient->node_mass[n] += cr_vec3_dot(bar, cr_vec3_cross(x, v));
        }
    }
    return worth(l, sum, target);
}

// Kinetic, of gravity and elastic, as cr_state_energy has them.
static double energy_of_frame(const look* l, int32_t f)
{
    const cr_model* model = l->objective->model;
    const double m = model->bodies.mass[f];
    const cr_vec3 om = cr_vec3_load(l->state->om + 3 * f);
    return 0.5 * m * cr_vec3_norm2(cr_vec3_load(l->state->v + 3 * f)) +
           0.5 * cr_vec3_dot(om, times(model->bodies.inertia + 3 * f, om)) -
           m * cr_vec3_dot(cr_vec3_load(model->world.gravity), cr_vec3_load(l->state->t + 3 * f));
}

static void frame_energy_adj(const look* l, int32_t f, double bar)
{
    const cr_model* model = l->objective->model;
    const double m = model->bodies.mass[f];
    const cr_vec3 g = cr_vec3_load(model->world.gravity);
    const cr_vec3 t = cr_vec3_load(l->state->t + 3 * f), v = cr_vec3_load(l->state->v + 3 * f);
    const cr_vec3 om = cr_vec3_load(l->state->om + 3 * f);
    cr_vec3_add_to(&l->bars->v[f], cr_vec3_scale(bar * m, v));
    cr_vec3_add_to(&l->bars->t[f], cr_vec3_scale(-bar * m, g));
    cr_vec3_add_to(&l->bars->om[f], cr_vec3_scale(bar, times(model->bodies.inertia + 3 * f, om)));
    l->gradient->mass[f] += bar * (0.5 * cr_vec3_norm2(v) - cr_vec3_dot(g, t));
    for (int i = 0; i < 3; i++) {
        const double o = l->state->om[3 * f + i];
        l->gradient->inertia[3 * f + i] += 0.5 * bar * o * o;
    }
    cr_vec3_accumulate(l->gradient->gravity, cr_vec3_scale(-bar * m, t));
}

static double energy_of_node(const look* l, int32_t n)
{
    const cr_model* model = l->objective->model;
    return model->bodies.node_mass[n] *
           (0.5 * cr_vec3_norm2(cr_vec3_load(l->state->xv + 3 * n)) -
            cr_vec3_dot(cr_vec3_load(model->world.gravity), cr_vec3_load(l->state->x + 3 * n)));
}

static void node_energy_adj(const look* l, int32_t n, double bar)
{
    const cr_model* model = l->objective->model;
    const double m = model->bodies.node_mass[n];
    const cr_vec3 x = cr_vec3_load(l->state->x + 3 * n), v = cr_vec3_load(l->state->xv + 3 * n);
    const cr_vec3 g = cr_vec3_load(model->world.gravity);
    cr_vec3_add_to(&l->bars->xv[n], cr_vec3_scale(bar * m, v));
    cr_vec3_add_to(&l->bars->x[n], cr_vec3_scale(-bar * m, g));
    l->gradient->node_mass[n] += bar * (0.5 * cr_vec3_norm2(v) - cr_vec3_dot(g, x));
    cr_vec3_accumulate(l->gradient->gravity, cr_vec3_scale(-bar * m, x));
}

// The elastic energy is linear in the moduli: what one of them gets is the energy of a sheet that
// has it alone, with a size of 1.
static void moduli_adj(const look* l, int32_t s, const double* x, double bar)
{
    static const cr_cloth_material one[] = {
        {.c11 = 1}, {.c22 = 1}, {.c12 = 1}, {.c33 = 1}, {.bend = 1}};
    cr_cloth_material* m = &l->gradient->material[s];
    double* const out[] = {&m->c11, &m->c22, &m->c12, &m->c33, &m->bend};
    for (int i = 0; i < 5; i++) {
        *out[i] += bar * cr_cloth_energy(&l->objective->model->sheet[s], &one[i], NULL, x);
    }
}

// Walks all that has energy: its sum, or with bars its reverse for the bar given.
static double walk_energy(const look* l, int reverse, double bar)
{
    const cr_model* model = l->objective->model;
    const cr_body_set* bodies = &model->bodies;
    double sum = 0.0;
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        if (takes_part(l, bodies->frame_body[f]) && bodies->mass[f] > 0.0) {
            sum += energy_of_frame(l, f);
            if (reverse) {
                frame_energy_adj(l, f, bar);
            }
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (free_node(l, n)) {
            sum += energy_of_node(l, n);
            if (reverse) {
                node_energy_adj(l, n, bar);
            }
        }
    }
    for (int32_t s = 0; s < model->sheet_count; s++) {
        if (!takes_part(l, model->sheet_body[s])) {
            continue;
        }
        const double* x = l->state->x + 3 * model->sheet_node[s];
        sum += cr_cloth_energy(&model->sheet[s], &model->material[s], NULL, x);
        if (reverse) {
            cr_cloth_gradient(&model->sheet[s], &model->material[s], NULL, x, bar,
                              &l->bars->x[model->sheet_node[s]].x);
            moduli_adj(l, s, x, bar);
        }
    }
    return sum;
}

// One number; it takes the first of the axes' factors.
static double look_energy(const look* l)
{
    const cr_vec3 target = {l->target[0], 0, 0};
    const cr_vec3 sum = {walk_energy(l, 0, 0.0), 0, 0};
    if (l->bars) {
        walk_energy(l, 1, pull(l, sum, target).x);
    }
    return worth(l, sum, target);
}

// ---- forces

static cr_action action_of(const look* l, int32_t f)
{
    const cr_model* model = l->objective->model;
    const int32_t body = model->bodies.frame_body[f];
    return (cr_action){.gravity = cr_vec3_load(model->world.gravity),
                       .force = l->moment->force[f],
                       .torque = l->moment->torque[f],
                       .linear_damping = model->linear_damping[body],
                       .angular_damping = model->angular_damping[body]};
}

// F = m (v' - v1)/h with v1 the velocity that free motion leads to.
static double look_contact_force(const look* l)
{
    const cr_model* model = l->objective->model;
    const int32_t f = model->bodies.frame[l->term->body];
    const double m = model->bodies.mass[f], h = model->world.dt;
    const cr_state* s = l->moment->before;
    const cr_action action = action_of(l, f);
    const cr_vec3 inertia = cr_vec3_load(model->bodies.inertia + 3 * f);
    const cr_quat q = cr_quat_load(s->q + 4 * f);
    const cr_vec3 v = cr_vec3_load(s->v + 3 * f), om = cr_vec3_load(s->om + 3 * f);
    const cr_target free =
        cr_targets_rigid(m, inertia, model->bodies.lock[f], h, &action, q, v, om);
    const cr_vec3 gain = cr_vec3_sub(cr_vec3_load(l->moment->after->v + 3 * f), free.v);
    const cr_vec3 force = cr_vec3_scale(m / h, gain), target = cr_vec3_load(l->target);
    if (l->bars) {
        const cr_vec3 bar = pull(l, force, target);
        const cr_target_bars in = {.v = cr_vec3_scale(-m / h, bar)};
        cr_target_starts out = {0};
        cr_targets_rigid_adj(m, inertia, model->bodies.lock[f], h, &action, &free, q, v, om, &in,
                             &out);
        cr_vec3_add_to(&l->bars->v[f], cr_vec3_scale(m / h, bar));
        cr_vec3_add_to(&l->before->v[f], out.v);
        cr_vec3_add_to(&l->gradient->force[f], out.force);
        cr_vec3_accumulate(l->gradient->gravity, out.gravity);
        l->gradient->mass[f] += out.mass + cr_vec3_dot(bar, gain) / h;
    }
    return worth(l, force, target);
}

// The forces, then the torques, of all that take part. Their norm is one over all of them, so it is
// worked out before anybody can be told: as a sum of squares, or of parts.
static double look_effort(const look* l)
{
    const cr_body_set* bodies = &l->objective->model->bodies;
    look part = *l;
    part.weight = 1.0;
    cr_goal_term squared = *l->term;
    squared.norm = l->term->norm == CR_GOAL_VALUE ? CR_GOAL_VALUE : CR_GOAL_SQUARED;
    part.term = &squared;
    const cr_vec3 target = cr_vec3_load(l->target), none = {0, 0, 0};
    double sum = 0.0;
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        if (takes_part(l, bodies->frame_body[f]) && bodies->mass[f] > 0.0) {
            sum += worth(&part, l->moment->force[f], target);
            sum += worth(&part, l->moment->torque[f], none);
        }
    }
    for (int32_t n = 0; n < bodies->node_count; n++) {
        if (free_node(l, n)) {
            sum += worth(&part, l->moment->node_force[n], target);
        }
    }
    const int root = l->term->norm == CR_GOAL_NORM;
    part.weight = l->weight * (root ? (sum > 0.0 ? 0.5 / sqrt(sum) : 0.0) : 1.0);
    for (int32_t f = 0; l->bars && f < bodies->frame_count; f++) {
        if (takes_part(l, bodies->frame_body[f]) && bodies->mass[f] > 0.0) {
            cr_vec3_add_to(&l->gradient->force[f], pull(&part, l->moment->force[f], target));
            cr_vec3_add_to(&l->gradient->torque[f], pull(&part, l->moment->torque[f], none));
        }
    }
    for (int32_t n = 0; l->bars && n < bodies->node_count; n++) {
        if (free_node(l, n)) {
            cr_vec3_add_to(&l->gradient->node_force[n],
                           pull(&part, l->moment->node_force[n], target));
        }
    }
    return l->weight * (root ? sqrt(sum) : sum);
}

// ---- terms

static double look_at(const look* l)
{
    switch (l->term->what) {
    case CR_GOAL_POSITION:
        return look_position(l);
    case CR_GOAL_ROTATION:
        return look_rotation(l);
    case CR_GOAL_VELOCITY:
        return look_velocity(l);
    case CR_GOAL_SPIN:
        return look_spin(l);
    case CR_GOAL_MOMENTUM:
        return look_momentum(l);
    case CR_GOAL_ANGULAR_MOMENTUM:
        return look_angular_momentum(l);
    case CR_GOAL_ENERGY:
        return look_energy(l);
    case CR_GOAL_CONTACT_FORCE:
        return look_contact_force(l);
    default:
        return look_effort(l);
    }
}

// Of a step, not of a state: the first of them belongs to the end of the first step.
static int of_step(const cr_goal_term* term)
{
    return term->what == CR_GOAL_CONTACT_FORCE || term->what == CR_GOAL_EFFORT;
}

// One term at the end of a step, and for times before it at the start of the run.
static double look_at_term(look* l, int64_t end)
{
    const cr_goal_term* term = l->term;
    const int64_t steps = l->objective->steps;
    if (term->when == CR_GOAL_OVER) {
        l->weight = term->weight / (double)steps;
        return end > 0 ? look_at(l) : 0.0;
    }
    l->weight = term->weight;
    if (term->when == CR_GOAL_END) {
        return end == steps ? look_at(l) : 0.0;
    }
    double sum = 0.0;
    for (int32_t i = 0; i < term->time_count; i++) {
        int64_t at = llround(term->time[i] / l->objective->model->world.dt);
        at = of_step(term) && at < 1 ? 1 : at;
        if (at == end) {
            l->target = term->target + (size_t)i * (size_t)term->numbers;
            sum += look_at(l);
        }
    }
    return sum;
}

static double look_at_all(const cr_objective* objective, const cr_tape_moment* moment,
                          cr_state_bars* after, cr_state_bars* before, cr_gradient* gradient)
{
    double sum = 0.0;
    for (int32_t i = 0; i < objective->goal->term_count; i++) {
        look l = {.objective = objective,
                  .term = &objective->goal->term[i],
                  .moment = moment,
                  .state = moment->after,
                  .target = objective->goal->term[i].target,
                  .bars = after,
                  .before = before,
                  .gradient = gradient};
        sum += look_at_term(&l, moment->step + 1);
        if (moment->step == 0 && !of_step(l.term) && l.term->when == CR_GOAL_TIMES) {
            l.state = moment->before;
            l.bars = before;
            sum += look_at_term(&l, 0);
        }
    }
    return sum;
}

double cr_objective_moment(const cr_objective* objective, const cr_tape_moment* moment)
{
    return look_at_all(objective, moment, NULL, NULL, NULL);
}

void cr_objective_moment_adj(const cr_objective* objective, const cr_tape_moment* moment,
                             cr_state_bars* after, cr_state_bars* before, cr_gradient* gradient)
{
    look_at_all(objective, moment, after, before, gradient);
}

carom_status cr_objective_check(const cr_objective* objective, carom_error* error)
{
    const cr_model* model = objective->model;
    for (int32_t i = 0; i < objective->goal->term_count; i++) {
        const cr_goal_term* term = &objective->goal->term[i];
        const int kind = term->body < 0 ? CR_BODY_RIGID : model->bodies.kind[term->body];
        const int moves = kind == CR_BODY_RIGID || kind == CR_BODY_CLOTH;
        if (term->recording && !term->target) {
            return cr_status_refuse(error, CAROM_ERR_FILE,
                                    "objective.terms[%d] follows the recording \"%.200s\", which "
                                    "is not there",
                                    i, term->recording);
        }
        if (term->what == CR_GOAL_CONTACT_FORCE && kind != CR_BODY_RIGID) {
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                    "objective.terms[%d] asks for the contact force on \"%.60s\"; "
                                    "it is there for rigid bodies: ask for the one that touches it",
                                    i, model->name[term->body]);
        }
        if ((term->what == CR_GOAL_VELOCITY || term->what == CR_GOAL_SPIN) && !moves) {
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT,
                                    "objective.terms[%d] asks for the %s of \"%.60s\", which does "
                                    "not move freely",
                                    i, cr_goal_what_name(term->what), model->name[term->body]);
        }
    }
    return CAROM_OK;
}
