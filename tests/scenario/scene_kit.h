// scene_kit.h - scenarios in a few lines: a scene as text, stepped under the eyes of a judge.
//
// Every kit_step asserts what holds in every scenario: the step succeeds, nothing intersects (by
// cr_intersect_frame, which shares no code with the solver), nothing is lost (no NaN), and the
// energy of what is not driven does not rise. Every tenth step is also taken by a double: the scene
// as it is then, turned and shifted, takes the same step, and has to come to the turned and shifted
// picture of it. A twin does so all the way, where asked for; what is chaotic comes apart by then.
#pragma once

#include "api/handles.h"
#include "carom/sim.h"
#include "check.h"
#include "collision/intersect_frame.h"
#include "held.h"
#include "math/quat.h"
#include "sim/sim_inside.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct kit {
    carom_model* model;
    carom_sim* sim;
    double* x;      // [3*vertex_count] m, scratch
    double* radius; // [body_count] m, what the judge takes balls for
    int32_t vertex_count;
    int driven;       // nonzero: something does work on the scene, so energy may rise
    int ballistic;    // nonzero: energy by velocities half a step ahead, see kit_energy
    int judge_every;  // steps between two looks of the judge
    int failed;       // a step failed: the scenario is over
    double energy;    // J, after the last step
    double stored;    // J, at most so much do the contacts of the last step hold
    double size;      // J, the largest sum of the sizes of its parts
    double most_rise; // J, the worst step: rise beyond what contacts held and round-off
    int turns;        // contacts turn around edges, and may add what kit_turning says
    double* turn_x;   // m, vertices before the step, for that
    double least_gap; // m, the smallest ever
    int32_t most_parts;
    int64_t iterations;
    carom_model* double_model;
    carom_sim* double_sim;
    int branches; // nonzero: round-off decides between two ways to take a step (in how many parts)
                  // or is made much of (by masses that differ much), so a double may come
                  // apart there, but by no more than doubles whose state is shaken by
                  // round-off come apart from each other, see kit_shaken; such steps are counted,
                  // and said when the kit is closed
    int doubles, strays; // steps that a double took, and those in which it came apart
    int halved;          // those in which one of the two was halved and the other was not
    cr_state double_was; // before its step, where there are branches
    carom_model* twin_model;
    carom_sim* twin;
    cr_quat twin_turn;
    cr_vec3 twin_shift;
    double* twin_x;
} kit;

// Round-off of an energy, relative to the sum of the sizes of its parts: a hundred sums of a
// thousand terms.
static const double kit_energy_noise = 1e-12;
// A zone is solved when its last Newton step is below 1e-9 of the motion; this part of the kinetic
// energy may be off by that.
static const double kit_solver_noise = 1e-9;

// A contact gives way by compliance * load * h^2 / mass (docs/contact.md): of exact balls, whose
// radius is no layer but the shape itself, so much may overlap, relative to the radius. 1e-5 g h^2
// is 1.7e-7 m at h = 1/24 s.
static const double kit_give = 1e-4;

// A double's step may end so far from the scene's: of the longest way of a vertex in it, and of the
// largest coordinate. Friction of a contact that nearly sticks turns round-off of slips against h
// friction_speed into forces.
static const double kit_double_way = 1e-6;
static const double kit_double_noise = 1e-11;
// Where a state is shaken by so much of its largest numbers, 16 units in the last place, its
// doubles come apart by the round-off that turning and shifting make times the condition of the
// step; one draw of it differs from the worst of twelve others by a factor.
static const double kit_shake = 16 * 0x1p-53, kit_shaken_more = 4.0;

// ---- text

// printf into a new block, ' standing for ". The caller frees it.
static inline char* kit_vtext(const char* format, va_list list)
{
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    char* text = malloc((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    for (char* c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return text;
}

static inline char* kit_text(const char* format, ...) __attribute__((format(printf, 1, 2)));
static inline char* kit_text(const char* format, ...)
{
    va_list list;
    va_start(list, format);
    char* text = kit_vtext(format, list);
    va_end(list);
    return text;
}

// ---- opening and closing

static inline carom_model* kit_build(const char* text)
{
    carom_error error = {0};
    carom_scene* scene = NULL;
    carom_model* model = NULL;
    if (carom_scene_parse(text, strlen(text), NULL, &scene, &error) != CAROM_OK ||
        carom_model_create(scene, &model, &error) != CAROM_OK) {
        printf("%s\n", error.message);
        check_failures++;
    }
    carom_scene_destroy(scene);
    return model;
}

// By kinetic energy of the step's own velocities v, no implicit step can raise the energy; but a
// body in free fall loses m g^2 h^2/2 a step by it, up and down alike, and a bounce gives it back.
// Velocities half a step ahead, v + h g/2, are those of the parabola through the steps: by them a
// free flight and a bounce with e = 1 keep the energy.
static inline double kit_energy_of(const kit* k, const carom_sim* sim)
{
    double energy = carom_sim_energy(sim).total;
    if (k->ballistic) {
        double p[3], l[3];
        carom_sim_momentum(sim, p, l);
        const double* g = k->model->numbers->world.gravity;
        energy += 0.5 * carom_model_dt(k->model) * (p[0] * g[0] + p[1] * g[1] + p[2] * g[2]);
    }
    return energy;
}

static inline void kit_double(kit* k, const char* text);

// One scene from text with ' for " (the caller's own braces and all). Never NULL; when the scene is
// refused, that is a failure and every later call on the kit does nothing.
static inline kit* kit_open_text(const char* text)
{
    kit* k = calloc(1, sizeof(kit));
    carom_error error = {0};
    k->judge_every = 10;
    k->least_gap = HUGE_VAL;
    k->model = kit_build(text);
    k->failed = !k->model;
    if (k->model) {
        k->vertex_count = carom_model_vertex_count(k->model);
        k->x = calloc(3 * (size_t)k->vertex_count + 1, sizeof(double));
        k->turn_x = calloc(3 * (size_t)k->vertex_count + 1, sizeof(double));
        const cr_body_set* bodies = &k->model->numbers->bodies;
        k->radius = calloc((size_t)bodies->body_count + 1, sizeof(double));
        for (int32_t b = 0; b < bodies->body_count; b++) {
            k->radius[b] = (1 - kit_give) * bodies->radius[b];
        }
        CHECK(carom_sim_create(k->model, 1, &k->sim, &error) == CAROM_OK);
        k->energy = kit_energy_of(k, k->sim);
        const carom_energy e = carom_sim_energy(k->sim);
        k->size = e.kinetic + fabs(e.gravity) + e.elastic;
        kit_double(k, text);
    }
    return k;
}

static inline kit* kit_open(const char* format, ...) __attribute__((format(printf, 1, 2)));
static inline kit* kit_open(const char* format, ...)
{
    va_list list;
    va_start(list, format);
    char* text = kit_vtext(format, list);
    va_end(list);
    kit* k = kit_open_text(text);
    free(text);
    return k;
}

static inline void kit_close(kit* k)
{
    // whether a step needs halving may hang on round-off, but not often
    CHECK(k->halved <= 1 + k->doubles / 20);
    if (k->strays > 0) {
        printf("  %d of %d doubled steps went another way\n", k->strays, k->doubles);
    }
    carom_sim_destroy(k->sim);
    carom_model_destroy(k->model);
    carom_sim_destroy(k->twin);
    carom_model_destroy(k->twin_model);
    carom_sim_destroy(k->double_sim);
    carom_model_destroy(k->double_model);
    cr_state_release(&k->double_was);
    free(k->x);
    free(k->turn_x);
    free(k->radius);
    free(k->twin_x);
    free(k);
}

// ---- the twin

static inline void kit_move(cr_quat turn, cr_vec3 shift, int32_t count, double* x)
{
    const cr_mat3 r = cr_quat_to_matrix(turn);
    for (int32_t i = 0; i < count; i++) {
        cr_vec3_store(x + 3 * i, cr_vec3_add(cr_mat3_apply(r, cr_vec3_load(x + 3 * i)), shift));
    }
}

// Turns and shifts all that a model says about places and directions. Locks are along the axes of
// the world, so a scene with locks can only be shifted.
static inline void kit_move_model(cr_model* m, cr_quat turn, cr_vec3 shift)
{
    const cr_vec3 none = {0, 0, 0};
    kit_move(turn, none, 1, m->world.gravity);
    kit_move(turn, none, 1, m->world.wind);
    kit_move(turn, shift, m->bodies.frame_count, m->t0);
    kit_move(turn, none, m->bodies.frame_count, m->v0);
    kit_move(turn, shift, m->bodies.node_count, m->x0);
    kit_move(turn, none, m->bodies.node_count, m->xv0);
    for (int32_t f = 0; f < m->bodies.frame_count; f++) {
        cr_quat_store(m->q0 + 4 * f,
                      cr_quat_normalize(cr_quat_mul(turn, cr_quat_load(m->q0 + 4 * f))));
    }
    for (int32_t s = 0; s < m->script_count; s++) {
        kit_move(turn, none, m->script[s].key_count, m->script[s].shift);
        if (m->script[s].turn) {
            kit_move(turn, none, m->script[s].key_count, m->script[s].turn);
        }
    }
    for (int32_t l = 0; l < m->load_count; l++) {
        kit_move(turn, none, m->load[l].step_count, m->load[l].force);
        if (m->load[l].torque) {
            kit_move(turn, none, m->load[l].step_count, m->load[l].torque);
        }
    }
}

// Gives the scene of the same text a twin turned by a rotation vector (rad) and shifted (m).
static inline void kit_twin(kit* k, const char* text, cr_vec3 turn, cr_vec3 shift)
{
    carom_error error = {0};
    k->twin_model = k->failed ? NULL : kit_build(text);
    if (!k->twin_model) {
        return;
    }
    k->twin_turn = cr_quat_from_rotation(turn);
    k->twin_shift = shift;
    kit_move_model(k->twin_model->numbers, k->twin_turn, shift);
    k->twin_x = calloc(3 * (size_t)k->vertex_count + 1, sizeof(double));
    CHECK(carom_sim_create(k->twin_model, 1, &k->twin, &error) == CAROM_OK);
}

// How far the twin is from the turned and shifted picture of the scene: m, the worst vertex.
static inline double kit_twin_off(kit* k)
{
    if (!k->twin || k->failed) {
        return k->failed ? HUGE_VAL : 0.0;
    }
    carom_sim_vertices(k->sim, k->x);
    carom_sim_vertices(k->twin, k->twin_x);
    kit_move(k->twin_turn, k->twin_shift, k->vertex_count, k->x);
    double most = 0.0;
    for (int32_t i = 0; i < 3 * k->vertex_count; i++) {
        const double off = fabs(k->x[i] - k->twin_x[i]);
        most = off <= most ? most : off; // a NaN is kept
    }
    return most;
}

// ---- the double

// Locks are along the axes of the world: what has some is only shifted.
static inline cr_quat kit_double_turn(const kit* k)
{
    const cr_body_set* bodies = &k->model->numbers->bodies;
    int32_t locks = 0;
    for (int32_t f = 0; f < bodies->frame_count; f++) {
        locks |= bodies->lock[f];
    }
    return locks ? (cr_quat){1, 0, 0, 0} : cr_quat_from_rotation((cr_vec3){0.7, -0.4, 1.1});
}

static const cr_vec3 kit_double_shift = {0.13, -0.21, 0.07};

// The double becomes what the scene is now, pushed as it is.
static inline void kit_double_take(kit* k)
{
    const cr_quat turn = kit_double_turn(k);
    const cr_vec3 none = {0, 0, 0};
    const cr_sim* from = k->sim->sim;
    cr_sim* to = k->double_sim->sim;
    cr_state* state = &to->state;
    CHECK(cr_state_copy(state, &from->state) == CAROM_OK);
    kit_move(turn, kit_double_shift, state->frame_count, state->t);
    kit_move(turn, none, state->frame_count, state->v);
    kit_move(turn, kit_double_shift, state->node_count, state->x);
    kit_move(turn, none, state->node_count, state->xv);
    for (int32_t f = 0; f < state->frame_count; f++) {
        const cr_quat q = cr_quat_mul(turn, cr_quat_load(state->q + 4 * f));
        cr_quat_store(state->q + 4 * f, cr_quat_normalize(q));
    }
    for (int32_t i = 0; i < state->memory.count; i++) {
        cr_vec3* dual = &state->memory.items[i].dual;
        *dual = cr_mat3_apply(cr_quat_to_matrix(turn), *dual);
    }
    if (k->branches) {
        if (!k->double_was.t) {
            CHECK(cr_state_init(&k->double_was, k->double_model->numbers) == CAROM_OK);
        }
        CHECK(cr_state_copy(&k->double_was, state) == CAROM_OK);
    }
    memcpy(to->force, from->force, 3 * (size_t)state->frame_count * sizeof(double));
    memcpy(to->torque, from->torque, 3 * (size_t)state->frame_count * sizeof(double));
    memcpy(to->node_force, from->node_force, 3 * (size_t)state->node_count * sizeof(double));
    memcpy(to->driven, from->driven, (size_t)state->frame_count);
    memcpy(to->node_driven, from->node_driven, (size_t)state->node_count);
    to->drives = from->drives;
    kit_move(turn, none, state->frame_count, to->force);
    kit_move(turn, none, state->frame_count, to->torque);
    kit_move(turn, none, state->node_count, to->node_force);
}

// m, how far doubles of a double come apart in the same step whose states differ from its own by
// round-off: as many units in the last place as turning and shifting took. x: where the double
// ended.
static inline double kit_shaken(kit* k, const double* x)
{
    enum { DRAWS = 12 };
    cr_state* state = &k->double_sim->sim->state;
    uint64_t seed = 1;
    carom_error error = {0};
    double most = 0.0, size[3] = {0, 0, 0}; // of t, v, om
    double node_size[2] = {0, 0};           // of x, xv
    const cr_state* was = &k->double_was;
    const double* nodes[2] = {was->x, was->xv};
    for (int32_t i = 0; i < 3 * was->node_count; i++) {
        for (int a = 0; a < 2; a++) {
            node_size[a] = fmax(node_size[a], kit_shake * fabs(nodes[a][i]));
        }
    }
    const double* whole[3] = {was->t, was->v, was->om};
    for (int32_t i = 0; i < 3 * was->frame_count; i++) {
        for (int a = 0; a < 3; a++) {
            size[a] = fmax(size[a], kit_shake * fabs(whole[a][i]));
        }
    }
    double* end = calloc(3 * (size_t)k->vertex_count + 1, sizeof(double));
    for (int draw = 0; draw < DRAWS; draw++) {
        CHECK(cr_state_copy(state, was) == CAROM_OK);
        double* shaken[3] = {state->t, state->v, state->om};
        for (int32_t i = 0; i < 3 * was->frame_count; i++) {
            for (int a = 0; a < 3; a++) {
                shaken[a][i] += size[a] * check_random(&seed, -1, 1);
            }
        }
        double* shaken_nodes[2] = {state->x, state->xv};
        for (int32_t i = 0; i < 3 * was->node_count; i++) {
            for (int a = 0; a < 2; a++) {
                shaken_nodes[a][i] += node_size[a] * check_random(&seed, -1, 1);
            }
        }
        for (int32_t f = 0; f < was->frame_count; f++) {
            cr_quat q = cr_quat_load(state->q + 4 * f);
            q.x += kit_shake * check_random(&seed, -1, 1);
            q.y += kit_shake * check_random(&seed, -1, 1);
            q.z += kit_shake * check_random(&seed, -1, 1);
            cr_quat_store(state->q + 4 * f, cr_quat_normalize(q));
        }
        CHECK(carom_sim_step(k->double_sim, &error) == CAROM_OK);
        carom_sim_vertices(k->double_sim, end);
        for (int32_t i = 0; i < 3 * k->vertex_count; i++) {
            most = fmax(most, fabs(end[i] - x[i]));
        }
    }
    free(end);
    return most;
}

// Its step, when the scene has taken its own.
static inline void kit_double_step(kit* k)
{
    const cr_quat turn = kit_double_turn(k);
    carom_error error = {0};
    double *was = calloc(3 * (size_t)k->vertex_count + 1, sizeof(double)), way = 0.0, size = 0.0;
    double apart = 0.0;
    carom_sim_vertices(k->double_sim, was);
    if (carom_sim_step(k->double_sim, &error) != CAROM_OK) {
        printf("  double: %s\n", error.message);
        check_failures++;
    }
    double* x = calloc(3 * (size_t)k->vertex_count + 1, sizeof(double));
    carom_sim_vertices(k->double_sim, x);
    carom_sim_vertices(k->sim, k->x);
    kit_move(turn, kit_double_shift, k->vertex_count, k->x);
    for (int32_t i = 0; i < 3 * k->vertex_count; i++) {
        way = fmax(way, fabs(x[i] - was[i]));
        size = fmax(size, fabs(x[i]));
        apart = fabs(x[i] - k->x[i]) <= apart ? apart : fabs(x[i] - k->x[i]); // a NaN is kept
    }
    double most = kit_double_way * way + kit_double_noise * size;
    k->doubles++;
    const int32_t parts = carom_sim_info(k->sim).parts;
    const int32_t double_parts = carom_sim_info(k->double_sim).parts;
    if (parts > 1 || double_parts > 1) { // which parts are halved again may hang on round-off
        k->halved += parts == 1 || double_parts == 1;
        most = HUGE_VAL;
    }
    k->strays += !(apart <= most);
    if (!(apart <= most) && !k->branches) {
        printf("  at %.6g s the double is %.3g m apart (%.3g m allowed), %d and %d parts\n",
               carom_sim_time(k->sim), apart, most, carom_sim_info(k->sim).parts,
               carom_sim_info(k->double_sim).parts);
        check_failures++;
    }
    if (!(apart <= most) && k->branches) {
        const double shaken = kit_shaken(k, x);
        if (!(apart <= most + kit_shaken_more * shaken)) {
            printf("  at %.6g s the double is %.3g m apart, shaken ones %.3g m\n",
                   carom_sim_time(k->sim), apart, shaken);
            check_failures++;
        }
    }
    free(was);
    free(x);
}

static inline void kit_double(kit* k, const char* text)
{
    carom_error error = {0};
    k->double_model = k->failed ? NULL : kit_build(text);
    if (k->double_model) {
        kit_move_model(k->double_model->numbers, kit_double_turn(k), kit_double_shift);
        CHECK(carom_sim_create(k->double_model, 1, &k->double_sim, &error) == CAROM_OK);
    }
}

// ---- stepping

// The judge's look at the scene as it is now.
static inline void kit_judge(kit* k)
{
    const cr_model* m = k->model->numbers;
    cr_intersect_report report;
    carom_sim_vertices(k->sim, k->x);
    const carom_status status =
        cr_intersect_frame(&m->surface, k->x, k->radius, 0.0, CR_INTERSECT_FRAME_INSIDE, &report);
    CHECK(status == CAROM_OK);
    CHECK(report.pair_count == 0 && report.inside_count == 0);
    if (report.pair_count || report.inside_count) {
        k->failed = 1;
        printf("  at %.6g s \"%s\" and \"%s\" intersect (%d pairs, %d inside)\n",
               carom_sim_time(k->sim),
               carom_model_body_name(k->model, report.pair_count ? report.body[0] : report.inner),
               carom_model_body_name(k->model, report.pair_count ? report.body[1] : report.outer),
               report.pair_count, report.inside_count);
    }
}

// m, what the vertex of a body nearest to a place has gone in the step.
static inline cr_vec3 kit_way_near(const kit* k, int32_t body, cr_vec3 place)
{
    const cr_body_set* set = &k->model->numbers->bodies;
    cr_vec3 way = {0, 0, 0};
    double least = HUGE_VAL;
    for (int32_t v = set->vertex[body]; v < set->vertex[body + 1]; v++) {
        const cr_vec3 at = cr_vec3_load(k->x + 3 * v);
        const double far = cr_vec3_norm(cr_vec3_sub(at, place));
        if (far < least) {
            least = far;
            way = cr_vec3_sub(at, cr_vec3_load(k->turn_x + 3 * v));
        }
    }
    return way;
}

// J, the most that contacts add in the step because they turn: two features that pass each other by
// l at a distance r turn by up to l/r, and the force F at the end of the step, along the normal
// there, does the work F l^2/(2 r) on the chord. It is of second order in h. r is at least the
// thickness.
static inline double kit_turning(kit* k)
{
    double sum = 0.0;
    if (!k->turns) {
        return sum;
    }
    carom_sim_vertices(k->sim, k->x);
    for (int32_t i = 0; i < carom_sim_contact_count(k->sim); i++) {
        carom_contact c;
        carom_sim_contact(k->sim, i, &c);
        const cr_vec3 n = cr_vec3_load(c.normal), at = cr_vec3_load(c.point);
        const cr_vec3 pass =
            cr_vec3_sub(kit_way_near(k, c.body[1], at), kit_way_near(k, c.body[0], at));
        const cr_vec3 along = cr_vec3_add_scaled(pass, -cr_vec3_dot(pass, n), n);
        const double force =
            fabs(cr_vec3_dot(cr_vec3_load(c.impulse), n)) / carom_model_dt(k->model);
        const double r = cr_model_thickness(k->model->numbers, c.body[0], c.body[1]);
        sum += 0.5 * force * cr_vec3_dot(along, along) / r;
    }
    return sum;
}

static inline void kit_watch_energy(kit* k)
{
    const carom_energy e = carom_sim_energy(k->sim);
    const double now = kit_energy_of(k, k->sim);
    k->size = fmax(k->size, e.kinetic + fabs(e.gravity) + e.elastic);
    const double noise = kit_energy_noise * k->size + kit_solver_noise * e.kinetic;
    const double rise = now - k->energy - k->stored - kit_turning(k) - noise;
    if (!k->driven && !(rise <= 0.0)) {
        if (!(rise <= k->most_rise)) {
            k->most_rise = rise;
            printf("  at %.6g s the energy %.10g J rises by %.3g J, contacts held %.3g J\n",
                   carom_sim_time(k->sim), now, now - k->energy, k->stored);
        }
        check_failures++;
    }
    k->energy = now;
    k->stored = held_energy(k->sim, carom_model_dt(k->model));
}

// What may be left of the equations of a step that was accepted, of the largest force in them: most
// have 1e-12, and a sheet that is hit at 100 m/s 2e-6.
static const double kit_solved = 1e-5;

// One step and all that must hold after it. 0 when the scenario cannot go on.
static inline int kit_step(kit* k)
{
    carom_error error = {0};
    if (k->failed) {
        return 0;
    }
    const int doubled = k->double_sim && carom_sim_steps(k->sim) % k->judge_every == 0;
    if (doubled) {
        kit_double_take(k);
    }
    if (k->turns) {
        carom_sim_vertices(k->sim, k->turn_x);
    }
    if (carom_sim_step(k->sim, &error) != CAROM_OK) {
        printf("  %s\n", error.message);
        check_failures++;
        k->failed = 1;
        return 0;
    }
    if (k->twin && carom_sim_step(k->twin, &error) != CAROM_OK) {
        printf("  twin: %s\n", error.message);
        check_failures++;
        k->failed = 1;
        return 0;
    }
    if (doubled) {
        kit_double_step(k);
    }
    const carom_step_info info = carom_sim_info(k->sim);
    CHECK(info.residual <= kit_solved);
    k->least_gap = fmin(k->least_gap, info.least_gap);
    k->most_parts = info.parts > k->most_parts ? info.parts : k->most_parts;
    k->iterations += info.iterations;
    kit_watch_energy(k);
    if (carom_sim_steps(k->sim) % k->judge_every == 0) {
        kit_judge(k);
    }
    return !k->failed;
}

// Steps until the given time (s), then a look of the judge. 0 when the scenario cannot go on.
static inline int kit_run(kit* k, double until)
{
    const int64_t steps = llround(until / (k->model ? carom_model_dt(k->model) : 1.0));
    while (!k->failed && carom_sim_steps(k->sim) < steps) {
        kit_step(k);
    }
    if (!k->failed) {
        kit_judge(k);
    }
    return !k->failed;
}

// ---- reading

// State of a body by name; zero when the scenario failed.
static inline carom_body_state kit_body(const kit* k, const char* name)
{
    carom_body_state state = {0};
    if (k->sim) {
        const int32_t body = carom_model_body_find(k->model, name);
        CHECK(body >= 0);
        carom_sim_body(k->sim, body, &state);
    }
    return state;
}

// Sum of the impulses (N s) on a body in the last step; from: only those from that body (or NULL).
static inline cr_vec3 kit_impulse(const kit* k, const char* on, const char* from)
{
    cr_vec3 sum = {0, 0, 0};
    if (k->failed) {
        return sum;
    }
    const int32_t a = carom_model_body_find(k->model, on);
    const int32_t b = from ? carom_model_body_find(k->model, from) : -1;
    for (int32_t i = 0; i < carom_sim_contact_count(k->sim); i++) {
        carom_contact c;
        carom_sim_contact(k->sim, i, &c);
        for (int side = 0; side < 2; side++) {
            if (c.body[side] == a && (b < 0 || c.body[1 - side] == b)) {
                sum = cr_vec3_add_scaled(sum, side ? 1.0 : -1.0, cr_vec3_load(c.impulse));
            }
        }
    }
    return sum;
}

// rad, between the orientations of two states.
static inline double kit_tilt(const carom_body_state* a, const carom_body_state* b)
{
    const cr_quat d =
        cr_quat_mul(cr_quat_conjugate(cr_quat_load(a->quaternion)), cr_quat_load(b->quaternion));
    return 2.0 * asin(fmin(1.0, cr_vec3_norm((cr_vec3){d.x, d.y, d.z})));
}

// The most that a coordinate of two runs of one scene differs, m.
static inline double kit_differ(kit* a, kit* b)
{
    double most = 0.0;
    carom_sim_vertices(a->sim, a->x);
    carom_sim_vertices(b->sim, b->x);
    for (int32_t i = 0; i < 3 * a->vertex_count; i++) {
        most = fmax(most, fabs(a->x[i] - b->x[i]));
    }
    return most;
}

static inline double kit_apart(const carom_body_state* a, const carom_body_state* b)
{
    return cr_vec3_norm(cr_vec3_sub(cr_vec3_load(a->position), cr_vec3_load(b->position)));
}
