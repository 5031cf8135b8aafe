#include "bodies/spin_held.h"
#include "check.h"
#include "contact/events.h"
#include "contact/row.h"
#include "core/memory.h"
#include "mesh/solid.h"
#include "mesh/topology.h"
#include <stdlib.h>
#include <string.h>

// A few bodies with all pairs of their features as candidates, stepped by events alone.
enum { MOST_BODIES = 8, MOST_VERTICES = 96, MOST_FACES = 128, MOST_EDGES = 96, MOST_PAIRS = 8192 };

typedef struct world {
    cr_body_set set;
    cr_motion motion;
    cr_events* events;
    cr_quat q_target[MOST_BODIES];
    double q[4 * MOST_BODIES], v[3 * MOST_BODIES], om[3 * MOST_BODIES], t[3 * MOST_BODIES];
    cr_vec3 a[MOST_BODIES], torque[MOST_BODIES]; // torque in body axes
    int32_t face[3 * MOST_FACES], face_body[MOST_FACES], face_count;
    int32_t edge[2 * MOST_EDGES], edge_body[MOST_EDGES], edge_count;
    int32_t frame[MOST_BODIES], frame_count;
    cr_vec3 obstacle0[MOST_VERTICES], obstacle1[MOST_VERTICES];
    int32_t candidate_count;
    cr_candidate candidate[MOST_PAIRS];
    double h, friction_speed, bounce_floor;
    double damping[MOST_BODIES]; // 1/s, of what impacts do; a has that of the start
    int32_t max_events;
    cr_events_report report;
} world;

static const cr_vec3 zero = {0, 0, 0};

static world* world_make(double h)
{
    world* w = cr_memory_take(1, sizeof(world));
    CHECK(cr_body_set_init(&w->set, MOST_BODIES, MOST_VERTICES, MOST_BODIES, 0) == CAROM_OK);
    CHECK(cr_motion_init(&w->motion, MOST_BODIES, 0) == CAROM_OK);
    CHECK(cr_events_create(&w->events) == CAROM_OK);
    w->set.body_count = w->set.vertex_count = 0;
    w->h = h;
    w->friction_speed = 1e-3;
    w->bounce_floor = 4.0;
    w->max_events = 8;
    return w;
}

static void world_release(world* w)
{
    cr_events_destroy(w->events);
    cr_motion_release(&w->motion);
    cr_body_set_release(&w->set);
    cr_memory_free(w);
}

static int32_t add_vertex(world* w, int32_t body, cr_vec3 p)
{
    const int32_t v = w->set.vertex_count++;
    cr_vec3_store(w->set.p + 3 * v, p);
    w->set.vertex_body[v] = body;
    w->set.node[v] = -1;
    w->obstacle0[v] = w->obstacle1[v] = p;
    w->set.vertex[body + 1] = w->set.vertex_count;
    const int32_t f = w->set.frame[body];
    w->set.extent[f] = fmax(w->set.extent[f], cr_vec3_norm(p) + w->set.radius[body]);
    return v;
}

static int32_t add_body(world* w, cr_body_kind kind, double mass, cr_vec3 inertia, double radius,
                        cr_vec3 t, cr_vec3 v, cr_vec3 om)
{
    const int32_t b = w->set.body_count++;
    w->set.kind[b] = (uint8_t)kind;
    w->set.frame[b] = w->set.frame_body[b] = b;
    w->set.vertex[b] = w->set.vertex[b + 1] = w->set.vertex_count;
    w->set.radius[b] = radius;
    w->set.mass[b] = mass;
    cr_vec3_store(w->set.inertia + 3 * b, inertia);
    cr_vec3_store(w->t + 3 * b, t);
    cr_vec3_store(w->v + 3 * b, v);
    cr_vec3_store(w->om + 3 * b, om);
    cr_quat_store(w->q + 4 * b, cr_quat_identity());
    if (kind == CR_BODY_RIGID) {
        w->frame[w->frame_count++] = b;
    }
    return b;
}

static int32_t add_sphere(world* w, double mass, double radius, cr_vec3 t, cr_vec3 v)
{
    const double i = 0.4 * mass * radius * radius;
    const int32_t b = add_body(w, CR_BODY_RIGID, mass, (cr_vec3){i, i, i}, radius, t, v, zero);
    add_vertex(w, b, zero);
    return b;
}

static void add_mesh(world* w, int32_t b, const cr_trimesh* mesh, cr_vec3 shift)
{
    cr_topology topology = {0};
    CHECK(cr_topology_build(&topology, mesh) == CAROM_OK);
    const int32_t first = w->set.vertex_count;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        add_vertex(w, b, cr_vec3_add(cr_trimesh_at(mesh, i), shift));
    }
    for (int32_t i = 0; i < mesh->face_count; i++) {
        for (int k = 0; k < 3; k++) {
            w->face[3 * w->face_count + k] = first + mesh->face[3 * i + k];
        }
        w->face_body[w->face_count++] = b;
    }
    for (int32_t i = 0; i < topology.edge_count; i++) {
        if (topology.edge_kind[i] != CR_EDGE_FLAT && topology.edge_kind[i] != CR_EDGE_CONCAVE) {
            w->edge[2 * w->edge_count] = first + topology.edge[2 * i];
            w->edge[2 * w->edge_count + 1] = first + topology.edge[2 * i + 1];
            w->edge_body[w->edge_count++] = b;
        }
    }
    cr_topology_release(&topology);
}

static int32_t add_box(world* w, double mass, cr_vec3 size, double radius, cr_vec3 t, cr_vec3 v,
                       cr_vec3 om)
{
    const cr_vec3 inertia = {mass / 12 * (size.y * size.y + size.z * size.z),
                             mass / 12 * (size.x * size.x + size.z * size.z),
                             mass / 12 * (size.x * size.x + size.y * size.y)};
    const int32_t b = add_body(w, CR_BODY_RIGID, mass, inertia, radius, t, v, om);
    cr_trimesh mesh = {0};
    CHECK(cr_solid_box(&mesh, size) == CAROM_OK);
    add_mesh(w, b, &mesh, zero);
    cr_trimesh_release(&mesh);
    return b;
}

// A square in the plane z = height, 4 m wide, fixed or kinematic
static int32_t add_ground(world* w, cr_body_kind kind, double height, double radius)
{
    const int32_t b = add_body(w, kind, 0, zero, radius, zero, zero, zero);
    const int32_t first = w->set.vertex_count;
    add_vertex(w, b, (cr_vec3){-2, -2.1, height});
    add_vertex(w, b, (cr_vec3){2.2, -2, height});
    add_vertex(w, b, (cr_vec3){2, 2, height});
    add_vertex(w, b, (cr_vec3){-2, 2.3, height});
    const int32_t face[6] = {0, 1, 2, 0, 2, 3}, edge[8] = {0, 1, 1, 2, 2, 3, 0, 3};
    for (int i = 0; i < 6; i++) {
        w->face[3 * w->face_count + i] = first + face[i];
    }
    for (int i = 0; i < 4; i++) {
        w->edge[2 * w->edge_count] = first + edge[2 * i];
        w->edge[2 * w->edge_count + 1] = first + edge[2 * i + 1];
        w->edge_body[w->edge_count++] = b;
    }
    w->face_body[w->face_count] = w->face_body[w->face_count + 1] = b;
    w->face_count += 2;
    return b;
}

static void add_candidate(world* w, int32_t kind, int32_t v0, int32_t v1, int32_t v2, int32_t v3,
                          double e, double mu)
{
    const int32_t a = w->set.vertex_body[v0], b = w->set.vertex_body[v3];
    if (a == b || (w->set.kind[a] != CR_BODY_RIGID && w->set.kind[b] != CR_BODY_RIGID)) {
        return;
    }
    const double ma = w->set.mass[a], mb = w->set.mass[b];
    const double mass = ma > 0 && mb > 0 ? sqrt(ma * mb) : fmax(ma, mb);
    CHECK(w->candidate_count < MOST_PAIRS);
    w->candidate[w->candidate_count++] =
        (cr_candidate){.pair = {kind, {v0, v1, v2, v3}},
                       .thickness = w->set.radius[a] + w->set.radius[b],
                       .friction = mu,
                       .restitution = e,
                       .compliance = 1e-5 / mass,
                       .lever = {w->set.radius[a], w->set.radius[b]}};
}

static int is_sphere(const world* w, int32_t b)
{
    return w->set.vertex[b + 1] - w->set.vertex[b] == 1;
}

static void add_candidates(world* w, double e, double mu)
{
    w->candidate_count = 0;
    for (int32_t v = 0; v < w->set.vertex_count; v++) {
        for (int32_t u = 0; u < v; u++) {
            if (is_sphere(w, w->set.vertex_body[u]) && is_sphere(w, w->set.vertex_body[v])) {
                add_candidate(w, CR_PAIR_PP, u, -1, -1, v, e, mu);
            }
        }
        for (int32_t f = 0; f < w->face_count; f++) {
            const int32_t* p = w->face + 3 * f;
            add_candidate(w, CR_PAIR_PT, p[0], p[1], p[2], v, e, mu);
        }
    }
    for (int32_t i = 0; i < w->edge_count; i++) {
        for (int32_t j = i + 1; j < w->edge_count; j++) {
            const int32_t *a = w->edge + 2 * i, *b = w->edge + 2 * j;
            add_candidate(w, CR_PAIR_EE, a[0], a[1], b[0], b[1], e, mu);
        }
    }
}

static cr_events_task task_of(world* w)
{
    return (cr_events_task){.bodies = &w->set,
                            .motion = &w->motion,
                            .q_target = w->q_target,
                            .q = w->q,
                            .v = w->v,
                            .om = w->om,
                            .h = w->h,
                            .frame_count = w->frame_count,
                            .frame = w->frame,
                            .candidate_count = w->candidate_count,
                            .candidate = w->candidate,
                            .obstacle0 = w->obstacle0,
                            .obstacle1 = w->obstacle1,
                            .from = 0,
                            .to = 1,
                            .damping = w->damping,
                            .friction_speed = w->friction_speed,
                            .bounce_floor = w->bounce_floor,
                            .max_events = w->max_events};
}

static void aim(world* w)
{
    for (int32_t i = 0; i < w->frame_count; i++) {
        const int32_t f = w->frame[i];
        const cr_quat q = cr_quat_load(w->q + 4 * f);
        const cr_vec3 inertia = cr_vec3_load(w->set.inertia + 3 * f);
        const cr_vec3 om = cr_vec3_load(w->om + 3 * f), v = cr_vec3_load(w->v + 3 * f);
        const cr_vec3 rate = cr_spin_rate(inertia, w->h, om, w->torque[f]);
        cr_spin_path(inertia, w->h, q, om, w->torque[f], rate, &w->q_target[f], &w->motion.om1[f]);
        w->motion.r0[f] = cr_quat_to_matrix(q);
        w->motion.t0[f] = cr_vec3_load(w->t + 3 * f);
        w->motion.rp[f] = cr_quat_to_matrix(w->q_target[f]);
        w->motion.turn[f] = cr_vec3_scale(w->h, rate);
        if (w->set.lock[f] >> 3) { // about the free axes
            w->motion.turn[f] =
                cr_vec3_scale(w->h, cr_spin_held_part(w->motion.r0[f], w->set.lock[f] >> 3, om));
        }
        w->motion.a[f] = w->a[f];
        w->motion.torque[f] = w->torque[f];
        w->motion.v1[f] = cr_vec3_add_scaled(v, w->h, w->a[f]);
        w->motion.ut[f] = cr_vec3_scale(w->h, w->motion.v1[f]);
    }
}

static void run(world* w)
{
    aim(w);
    const cr_events_task task = task_of(w);
    CHECK(cr_events_run(w->events, &task, &w->report) == CAROM_OK);
}

static void commit(world* w)
{
    for (int32_t i = 0; i < w->frame_count; i++) {
        const int32_t f = w->frame[i];
        cr_vec3_accumulate(w->t + 3 * f, w->motion.ut[f]);
        cr_vec3_store(w->v + 3 * f, w->motion.v1[f]);
        cr_vec3_store(w->om + 3 * f, w->motion.om1[f]);
        cr_quat_store(w->q + 4 * f, w->q_target[f]);
    }
}

static void step(world* w)
{
    run(w);
    commit(w);
}

typedef struct totals {
    double energy;
    cr_vec3 momentum, angular; // about the origin
} totals;

static totals totals_of(const world* w)
{
    totals sum = {0};
    for (int32_t i = 0; i < w->frame_count; i++) {
        const int32_t f = w->frame[i];
        const cr_vec3 inertia = cr_vec3_load(w->set.inertia + 3 * f);
        const cr_vec3 om = cr_vec3_load(w->om + 3 * f);
        const cr_vec3 v = cr_vec3_add_scaled(cr_vec3_load(w->v + 3 * f), 0.5 * w->h, w->a[f]);
        const cr_vec3 t = cr_vec3_load(w->t + 3 * f);
        const cr_vec3 spin = {inertia.x * om.x, inertia.y * om.y, inertia.z * om.z};
        const cr_vec3 p = cr_vec3_scale(w->set.mass[f], v);
        sum.energy += 0.5 * (cr_vec3_dot(p, v) + cr_vec3_dot(spin, om)) -
                      w->set.mass[f] * cr_vec3_dot(w->a[f], t);
        sum.momentum = cr_vec3_add(sum.momentum, p);
        const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(w->q + 4 * f));
        sum.angular = cr_vec3_add(sum.angular, cr_mat3_apply(r, spin));
        sum.angular = cr_vec3_add(sum.angular, cr_vec3_cross(t, p));
    }
    return sum;
}

static void test_a_ball_bounces_exactly(void)
{
    const double es[] = {0.3, 0.7, 1.0}, hs[] = {0.1, 0.01};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 2; j++) {
            for (int phase = 0; phase < 7; phase++) {
                world* w = world_make(hs[j]);
                const double x0 = 0.6 + phase * hs[j] / 7;
                add_ground(w, CR_BODY_FIXED, 0, 0);
                const int32_t b =
                    add_sphere(w, 2, 0.1, (cr_vec3){0.3, 0.2, x0}, (cr_vec3){0, 0, -1});
                add_candidates(w, es[i], 0);
                const int steps = (int)(1.0 / hs[j] + 0.5);
                for (int k = 0; k < steps; k++) {
                    step(w);
                }
                const double toi = x0 - 0.1;
                CHECK_NEAR(w->t[3 * b + 2], 0.1 + es[i] * (1.0 - toi), 1e-14);
                CHECK_NEAR(w->v[3 * b + 2], es[i], 2e-15);
                world_release(w);
            }
        }
    }
}

static void test_a_flat_box_bounces_flat(void)
{
    for (int phase = 0; phase < 6; phase++) {
        world* w = world_make(0.01);
        const double x0 = 0.6 + phase * 0.01 / 7;
        add_ground(w, CR_BODY_FIXED, 0, 1e-3);
        const int32_t b = add_box(w, 2, (cr_vec3){0.3, 0.2, 0.1}, 1e-3, (cr_vec3){0.3, 0.2, x0},
                                  (cr_vec3){0, 0, -1}, zero);
        add_candidates(w, 0.7, 0);
        for (int k = 0; k < 100; k++) {
            step(w);
        }
        const double rest = 0.052, toi = x0 - rest;
        CHECK_NEAR(w->t[3 * b + 2], rest + 0.7 * (1.0 - toi), 1e-14);
        CHECK_NEAR(w->v[3 * b + 2], 0.7, 2e-15);
        CHECK_NEAR(cr_vec3_norm(cr_vec3_load(w->om + 3 * b)), 0.0, 1e-13);
        world_release(w);
    }
}

static cr_vec3 random_vec(uint64_t* seed, double size)
{
    const double x = check_random(seed, -size, size), y = check_random(seed, -size, size);
    return (cr_vec3){x, y, check_random(seed, -size, size)};
}

// Two balls in free space against the solution on paper.
static void test_oblique_balls(void)
{
    uint64_t seed = 5;
    const double es[] = {0.0, 0.3, 0.7, 1.0};
    for (int sample = 0; sample < 200; sample++) {
        const double e = es[sample % 4], m[2] = {1.0, check_random(&seed, 0.2, 5)};
        const double r = 0.2, h = sample % 2 ? 0.02 : 0.1;
        cr_vec3 x[2] = {{0, 0, 0}, {1, 0, 0}}, v[2];
        x[1] = cr_vec3_add(x[1], random_vec(&seed, 0.1));
        v[0] = cr_vec3_add((cr_vec3){1.5, 0, 0}, random_vec(&seed, 0.1));
        v[1] = cr_vec3_add((cr_vec3){-1, 0, 0}, random_vec(&seed, 0.1));
        world* w = world_make(h);
        add_sphere(w, m[0], r, x[0], v[0]);
        add_sphere(w, m[1], r, x[1], v[1]);
        add_candidates(w, e, 0);
        const int steps = (int)(1.0 / h + 0.5);
        for (int k = 0; k < steps; k++) {
            step(w);
        }
        // |d + s u| = 2 r
        const cr_vec3 d = cr_vec3_sub(x[1], x[0]), u = cr_vec3_sub(v[1], v[0]);
        const double b = cr_vec3_dot(d, u), uu = cr_vec3_norm2(u);
        const double s = (cr_vec3_norm2(d) - 4 * r * r) /
                         (-b + sqrt(b * b - uu * (cr_vec3_norm2(d) - 4 * r * r)));
        const cr_vec3 at = cr_vec3_add_scaled(d, s, u);
        const cr_vec3 n = cr_vec3_scale(1 / cr_vec3_norm(at), at);
        const double j = -(1 + e) * cr_vec3_dot(n, u) / (1 / m[0] + 1 / m[1]);
        for (int i = 0; i < 2; i++) {
            const cr_vec3 after = cr_vec3_add_scaled(v[i], (i ? j : -j) / m[i], n);
            const cr_vec3 end = cr_vec3_add_scaled(cr_vec3_add_scaled(x[i], s, v[i]), 1 - s, after);
            CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(after, cr_vec3_load(w->v + 3 * i))), 0, 3e-14);
            CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(end, cr_vec3_load(w->t + 3 * i))), 0, 3e-14);
        }
        world_release(w);
    }
}

// A ball dropped from 1 m: the paths are parabolas, so with v = -h a/2 at the start all is exact.
static void test_a_dropped_ball(void)
{
    const double g = 9.81, es[] = {0.7, 1.0};
    for (int i = 0; i < 2; i++) {
        for (int per = 50; per <= 200; per *= 4) {
            world* w = world_make(1.0 / per);
            add_ground(w, CR_BODY_FIXED, 0, 0);
            const int32_t b =
                add_sphere(w, 1, 0.1, (cr_vec3){0.3, 0.2, 1.1}, (cr_vec3){0, 0, 0.5 * g / per});
            w->a[b] = (cr_vec3){0, 0, -g};
            add_candidates(w, es[i], 0);
            for (int k = 0; k < per; k++) {
                step(w);
            }
            const double fall = sqrt(2.0 / g), left = 1.0 - fall, up = es[i] * g * fall;
            const double high = up * left - 0.5 * g * left * left; // before the second bounce
            CHECK(left < 2 * up / g);
            CHECK_NEAR(w->t[3 * b + 2], 0.1 + high, 1e-13);
            world_release(w);
        }
    }
}

static void test_cradle(void)
{
    for (int count = 3; count <= 5; count += 2) {
        for (int in = 1; in <= 2; in++) {
            for (int wide = 0; wide < 2; wide++) {
                world* w = world_make(0.01);
                const double gap = wide ? 1e-3 : 0.0;
                for (int i = 0; i < count; i++) {
                    const double x = i * (0.2 + gap) - (i < in ? 0.105 : 0.0);
                    add_sphere(w, 1, 0.1, (cr_vec3){x, 0, 0}, (cr_vec3){i < in ? 1.0 : 0.0, 0, 0});
                }
                add_candidates(w, 1.0, 0);
                for (int k = 0; k < 50; k++) {
                    step(w);
                }
                for (int i = 0; i < count; i++) {
                    CHECK_NEAR(w->v[3 * i], i >= count - in ? 1.0 : 0.0, 1e-13);
                }
                world_release(w);
            }
        }
    }
}

// A row of balls that hardly bounce: what is hit hands its momentum to all in one impact.
static void test_what_touches_is_hit_together(void)
{
    for (int count = 3; count <= MOST_BODIES; count++) {
        world* w = world_make(0.01);
        for (int i = 0; i < count; i++) {
            const double x = i * 0.2 - (i == 0 ? 0.005 : 0.0);
            add_sphere(w, 1 + i % 3, 0.1, (cr_vec3){x, 0, 0}, (cr_vec3){i == 0 ? 1.0 : 0.0, 0, 0});
        }
        add_candidates(w, 0.0, 0);
        const double before = w->set.mass[0] * w->v[0];
        double mass = 0.0;
        for (int i = 0; i < count; i++) {
            mass += w->set.mass[i];
        }
        step(w);
        CHECK(w->report.impacts == 1 && w->report.most == 1);
        for (int i = 0; i < count; i++) {
            CHECK_NEAR(w->v[3 * i], before / mass, 1e-14);
        }
        world_release(w);
    }
}

// A box whose corner hits the ground: no torque about the corner, no energy from nowhere.
static void test_a_corner_hits_the_ground(void)
{
    uint64_t seed = 9;
    int hits = 0;
    for (int sample = 0; sample < 200; sample++) {
        world* w = world_make(0.01);
        add_ground(w, CR_BODY_FIXED, 0, 1e-3);
        const int32_t b = add_box(w, 2, (cr_vec3){0.3, 0.2, 0.1}, 1e-3, (cr_vec3){0.3, 0.2, 0.3},
                                  (cr_vec3){0.3, 0.1, -2}, random_vec(&seed, 4));
        cr_quat_store(w->q + 4 * b, cr_quat_from_rotation(random_vec(&seed, 2)));
        const double e = sample % 2 ? 1.0 : 0.4;
        const double mu = sample % 4 < 2 ? 0.0 : 0.4;
        add_candidates(w, e, mu);
        for (int k = 0; k < 30; k++) {
            const totals before = totals_of(w);
            run(w);
            if (w->report.impacts != 1) {
                commit(w);
                continue;
            }
            const cr_events_contact* contact;
            const int32_t count = cr_events_contacts(w->events, &contact);
            cr_vec3 push = zero, torque = zero;
            for (int32_t i = 0; i < count; i++) {
                const int32_t* v = w->candidate[contact[i].candidate].pair.v;
                const double sign = w->set.vertex_body[v[3]] == b ? 1.0 : -1.0;
                const cr_vec3 j = cr_vec3_scale(sign, contact[i].impulse);
                push = cr_vec3_add(push, j);
                torque = cr_vec3_add(torque, cr_vec3_cross(contact[i].place, j));
            }
            commit(w);
            const totals after = totals_of(w);
            const cr_vec3 dp = cr_vec3_sub(after.momentum, before.momentum);
            const cr_vec3 dl = cr_vec3_sub(after.angular, before.angular);
            CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(dp, push)), 0, 1e-13);
            CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(dl, torque)), 0, 1e-13);
            CHECK(after.energy <= before.energy * (1 + 1e-13));
            if (e == 1.0 && mu == 0.0) { // up to what a cut path loses of its turning
                CHECK_NEAR(after.energy, before.energy, 1e-3 * before.energy);
            }
            hits++;
            break;
        }
        world_release(w);
    }
    CHECK(hits > 150);
}

// Random bodies thrown at each other.
static void test_random_pairs(void)
{
    uint64_t seed = 11;
    const double es[] = {0.0, 0.3, 0.7, 1.0}, mus[] = {0.0, 0.2, 0.6, 1.2};
    int impacts = 0, unrubbed = 0, tamed = 0, capped = 0;
    double rise = 0;
    for (int sample = 0; sample < 2000; sample++) {
        world* w = world_make(0.01);
        const double e = es[sample % 4], mu = mus[sample / 4 % 4];
        w->friction_speed = sample % 3 ? 1e-3 : 1e-4;
        for (int i = 0; i < 2; i++) {
            const cr_vec3 t =
                cr_vec3_add((cr_vec3){i ? 0.18 : -0.18, 0, 0}, random_vec(&seed, 0.02));
            const cr_vec3 v = cr_vec3_add((cr_vec3){i ? -2 : 2, 0, 0}, random_vec(&seed, 1));
            const double mass = check_random(&seed, 0.5, 3);
            int32_t b;
            if (check_random(&seed, 0, 1) < 0.25) {
                b = add_sphere(w, mass, 0.12, t, v);
                cr_vec3_store(w->om + 3 * b, random_vec(&seed, 10));
            } else {
                b = add_box(w, mass, (cr_vec3){0.2, 0.15, 0.1}, 1e-3, t, v, random_vec(&seed, 5));
            }
            cr_quat_store(w->q + 4 * b, cr_quat_from_rotation(random_vec(&seed, 3)));
        }
        add_candidates(w, e, mu);
        for (int k = 0; k < 20; k++) {
            const totals before = totals_of(w);
            step(w);
            const totals after = totals_of(w);
            impacts += w->report.impacts;
            unrubbed += w->report.unrubbed;
            tamed += w->report.tamed;
            capped += w->report.capped;
            const double scale = cr_vec3_norm(before.momentum) + 1;
            CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(after.momentum, before.momentum)), 0,
                       1e-13 * scale);
            CHECK_NEAR(cr_vec3_norm(cr_vec3_sub(after.angular, before.angular)), 0, 1e-13);
            if (w->report.impacts) { // what comes after would need a zone
                k = 1000;
                rise = fmax(rise, after.energy / before.energy - 1);
            }
        }
        world_release(w);
    }
    printf("    %d impacts, %d without their friction, %d tamed, %d capped, energy rise %.1e\n",
           impacts, unrubbed, tamed, capped, rise);
    CHECK(impacts > 1800);
    CHECK(unrubbed == 0);
    CHECK(rise < 1e-13);
}

// What lies or slides is the zone's, at any step.
static void test_what_rests_is_no_event(void)
{
    for (int i = 0; i < 8; i++) {
        const double h = i % 2 ? 0.02 : 0.001;
        world* w = world_make(h);
        add_ground(w, CR_BODY_FIXED, 0, 1e-3);
        add_box(w, 2, (cr_vec3){0.3, 0.2, 0.1}, 1e-3, (cr_vec3){0.3, 0.2, 0.052 - 1e-8},
                (cr_vec3){i / 4 ? 5.0 : 0.0, 0, 0}, (cr_vec3){0, 0, i / 2 % 2 ? 3.0 : 0.0});
        add_box(w, 2, (cr_vec3){0.3, 0.2, 0.1}, 1e-3, (cr_vec3){0.3, 0.2, 0.154 - 2e-8},
                (cr_vec3){i / 4 ? 5.0 : 0.0, 0, 0}, zero);
        w->a[1] = w->a[2] = (cr_vec3){0, 0, -9.81};
        add_candidates(w, 0.5, 0.3);
        run(w);
        CHECK(w->report.impacts == 0);
        CHECK(w->report.evaluations < 3 * w->candidate_count);
        CHECK_NEAR(w->motion.ut[1].z, -9.81 * h * h, 0);
        world_release(w);
    }
}

// A box that spins above another: what turns moves along the gap, and one look at a pair tells.
static void test_what_turns_along_a_gap_is_looked_at_once(void)
{
    world* w = world_make(0.01);
    for (int i = 0; i < 2; i++) {
        add_box(w, 2, (cr_vec3){0.3, 0.2, 0.1}, 1e-3, (cr_vec3){0, 0, i * 0.104}, zero,
                (cr_vec3){0, 0, i ? 5.0 : 0.0});
    }
    add_candidates(w, 0.5, 0.3);
    run(w);
    CHECK(w->report.impacts == 0);
    printf("    %d looks at %d pairs\n", w->report.evaluations, w->candidate_count);
    CHECK(w->report.evaluations <= w->candidate_count);
    world_release(w);
}

// A box on the ground slides into another: what presses on the ground does not enter the impact.
static void test_a_sliding_box_hits_another(void)
{
    world* w = world_make(0.01);
    add_ground(w, CR_BODY_FIXED, 0, 1e-3);
    for (int i = 0; i < 2; i++) {
        const int32_t b =
            add_box(w, 1 + i, (cr_vec3){0.2, 0.2, 0.2}, 1e-3,
                    (cr_vec3){i ? 0.207 : 0, 0, 0.102 - 1e-8}, (cr_vec3){i ? 0 : 1.0, 0, 0}, zero);
        w->a[b] = (cr_vec3){0, 0, -9.81};
    }
    add_candidates(w, 0.5, 0);
    run(w);
    CHECK(w->report.impacts == 1);
    const double j = 1.5 / (1 / 1.0 + 1 / 2.0);
    CHECK_NEAR(w->motion.v1[1].x, 1 - j, 1e-14);
    CHECK_NEAR(w->motion.v1[2].x, j / 2, 1e-14);
    for (int b = 1; b < 3; b++) { // the zone still sees all of the weight
        CHECK_NEAR(w->motion.v1[b].z, -9.81 * 0.01, 1e-13);
        CHECK_NEAR(w->motion.ut[b].z, -9.81 * 1e-4, 1e-15);
        CHECK_NEAR(cr_vec3_norm(w->motion.om1[b]), 0, 1e-12);
    }
    world_release(w);
}

static void test_locked_directions_stay_locked(void)
{
    uint64_t seed = 21;
    int hits = 0;
    for (int i = 0; i < 40; i++) {
        world* w = world_make(0.01);
        const int32_t lock = CR_LOCK_Y | (i % 2 ? CR_LOCK_RX | CR_LOCK_RZ : CR_LOCK_RX);
        add_ground(w, CR_BODY_FIXED, 0, 1e-3);
        const double spin = check_random(&seed, -5, 5);
        const cr_quat q = cr_quat_from_rotation(random_vec(&seed, 2));
        const cr_vec3 om = cr_mat3_tapply(cr_quat_to_matrix(q), (cr_vec3){0, spin, 0});
        const int32_t b = add_box(w, 2, (cr_vec3){0.3, 0.2, 0.1}, 1e-3, (cr_vec3){0.3, 0.2, 0.2},
                                  (cr_vec3){1, 0, -2}, om);
        cr_quat_store(w->q + 4 * b, q);
        w->set.lock[b] = (uint8_t)lock;
        add_candidates(w, 0.5, 0.4);
        for (int k = 0; k < 20; k++) {
            const double before = totals_of(w).energy;
            run(w);
            if (w->report.impacts) {
                const cr_vec3 turned = cr_mat3_apply(w->motion.rp[b], w->motion.om1[b]);
                CHECK_NEAR(w->motion.ut[b].y, 0, 0);
                CHECK_NEAR(w->motion.v1[b].y, 0, 0);
                CHECK_NEAR(turned.x, 0, 1e-13);
                CHECK_NEAR(turned.z, 0, i % 2 ? 1e-13 : HUGE_VAL);
                commit(w);
                CHECK(totals_of(w).energy < before);
                hits++;
                break;
            }
            cr_vec3_accumulate(w->t + 3 * b, w->motion.ut[b]);
            cr_quat_store(w->q + 4 * b,
                          cr_quat_mul(cr_quat_from_rotation((cr_vec3){0, spin * w->h, 0}),
                                      cr_quat_load(w->q + 4 * b)));
            const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(w->q + 4 * b));
            cr_vec3_store(w->om + 3 * b, cr_mat3_tapply(r, (cr_vec3){0, spin, 0}));
        }
        world_release(w);
    }
    CHECK(hits > 30);
}

static world* make_pair(uint64_t seed, double e, double mu);

static void test_a_body_has_so_many_events(void)
{
    world* w = world_make(0.1);
    w->max_events = 3;
    add_ground(w, CR_BODY_FIXED, 0, 0);
    add_ground(w, CR_BODY_FIXED, 0.21, 0);
    add_sphere(w, 1, 0.1, (cr_vec3){0, 0, 0.105}, (cr_vec3){0, 0, 10});
    add_candidates(w, 1, 0);
    run(w);
    CHECK(w->report.impacts == 3 && w->report.capped == 1 && w->report.most == 3);
    w->max_events = 1000;
    run(w);
    CHECK(w->report.impacts > 60); // as many as a run has
    world_release(w);
}

static void test_memory(void)
{
    world* w = make_pair(103, 0.7, 0.3);
    CHECK(w->report.impacts > 0);
    const int64_t calls = cr_memory_calls();
    run(w);
    CHECK(cr_memory_calls() == calls);
    const cr_events_task task = task_of(w);
    for (int n = 1;; n++) {
        cr_events* fresh = NULL;
        cr_memory_fail_after(n);
        const carom_status made = cr_events_create(&fresh);
        const carom_status status =
            made == CAROM_OK ? cr_events_run(fresh, &task, &w->report) : made;
        cr_memory_fail_after(0);
        cr_events_destroy(fresh);
        if (status == CAROM_OK) {
            CHECK(n > 10);
            break;
        }
        CHECK(status == CAROM_ERR_MEMORY);
    }
    world_release(w);
}

// ---------------------------------------------------------------- the reverse

// Every input of a run as one list, so that any can be nudged.
typedef enum input {
    IN_Q,
    IN_T,
    IN_V,
    IN_OM,
    IN_A,
    IN_TORQUE,
    IN_INERTIA,
    IN_MASS, // by frame
    IN_P,
    IN_OBSTACLE0,
    IN_OBSTACLE1, // by vertex
    IN_THICKNESS,
    IN_FRICTION,
    IN_RESTITUTION,
    IN_LEVER0,
    IN_LEVER1, // of all candidates
    IN_COUNT
} input;

static const char* const input_name[IN_COUNT] = {
    "q", "t",         "v",         "om",        "a",        "torque",      "inertia", "mass",
    "p", "obstacle0", "obstacle1", "thickness", "friction", "restitution", "lever0",  "lever1"};

static int input_items(const world* w, input in)
{
    return in <= IN_MASS ? w->set.body_count : in <= IN_OBSTACLE1 ? w->set.vertex_count : 1;
}

static int input_axes(input in)
{
    return in == IN_MASS || in >= IN_THICKNESS ? 1 : 3;
}

static void nudge(world* w, input in, int item, int axis, double by)
{
    double d[3] = {0, 0, 0};
    d[axis] = by;
    double* const at[] = {[IN_T] = w->t,
                          [IN_V] = w->v,
                          [IN_OM] = w->om,
                          [IN_A] = &w->a[0].x,
                          [IN_TORQUE] = &w->torque[0].x,
                          [IN_INERTIA] = w->set.inertia,
                          [IN_P] = w->set.p,
                          [IN_OBSTACLE0] = &w->obstacle0[0].x,
                          [IN_OBSTACLE1] = &w->obstacle1[0].x};
    if (in == IN_Q) {
        const cr_quat turn = cr_quat_from_rotation(cr_vec3_load(d));
        cr_quat_store(w->q + 4 * item, cr_quat_mul(cr_quat_load(w->q + 4 * item), turn));
    } else if (in == IN_MASS) {
        w->set.mass[item] += by;
    } else if (in >= IN_THICKNESS) {
        for (int32_t i = 0; i < w->candidate_count; i++) {
            cr_candidate* c = &w->candidate[i];
            double* const of[] = {&c->thickness, &c->friction, &c->restitution, &c->lever[0],
                                  &c->lever[1]};
            *of[in - IN_THICKNESS] += by;
        }
    } else {
        at[in][3 * item + axis] += by;
    }
}

typedef struct weights {
    cr_vec3 rp[MOST_BODIES], ut[MOST_BODIES], turn[MOST_BODIES], v1[MOST_BODIES], om1[MOST_BODIES];
} weights;

static double loss(world* w, const weights* by, const cr_quat* q_0)
{
    run(w);
    double sum = 0.0;
    for (int32_t i = 0; i < w->frame_count; i++) {
        const int32_t f = w->frame[i];
        if (!cr_events_hit(w->events, f)) {
            continue;
        }
        const cr_vec3 d =
            cr_quat_to_rotation(cr_quat_mul(cr_quat_conjugate(q_0[f]), w->q_target[f]));
        sum += cr_vec3_dot(by->rp[f], d) + cr_vec3_dot(by->ut[f], w->motion.ut[f]) +
               cr_vec3_dot(by->turn[f], w->motion.turn[f]) +
               cr_vec3_dot(by->v1[f], w->motion.v1[f]) + cr_vec3_dot(by->om1[f], w->motion.om1[f]);
    }
    return sum;
}

static double slope(world* w, const weights* by, const cr_quat* q_0, input in, int item, int axis,
                    double d)
{
    static world saved; // too large for the stack
    double rise[4];
    const double steps[4] = {1, -1, 2, -2};
    memcpy(saved.q, w->q, sizeof saved.q);
    for (int i = 0; i < 4; i++) {
        nudge(w, in, item, axis, steps[i] * d);
        rise[i] = loss(w, by, q_0);
        if (in == IN_Q) {
            memcpy(w->q, saved.q, sizeof saved.q);
        } else {
            nudge(w, in, item, axis, -steps[i] * d);
        }
    }
    return (8 * (rise[0] - rise[1]) - (rise[2] - rise[3])) / (12 * d);
}

// All derivatives of one run against differences. Returns the largest error relative to the largest
// derivative of its kind. A run saved and loaded must give the same.
static double check_reverse(world* w, const char* name, double d, double allowed)
{
    uint64_t seed = 17;
    weights by;
    for (int f = 0; f < MOST_BODIES; f++) {
        by.rp[f] = random_vec(&seed, 1);
        by.ut[f] = random_vec(&seed, 30);
        by.turn[f] = random_vec(&seed, 1);
        by.v1[f] = random_vec(&seed, 1);
        by.om1[f] = random_vec(&seed, 0.3);
    }
    run(w);
    CHECK(w->report.impacts > 0);
    const int impacts = w->report.impacts;
    cr_quat q_0[MOST_BODIES];
    memcpy(q_0, w->q_target, sizeof q_0);
    static cr_vec3 frame[6][MOST_BODIES], vertex[3][MOST_VERTICES];
    static double inertia[3 * MOST_BODIES], mass[MOST_BODIES];
    for (int i = 0; i < MOST_BODIES; i++) {
        for (int k = 0; k < 6; k++) {
            frame[k][i] = (cr_vec3){1, 1, 1};
        }
        inertia[3 * i] = inertia[3 * i + 1] = inertia[3 * i + 2] = mass[i] = 1;
    }
    for (int i = 0; i < MOST_VERTICES; i++) {
        vertex[0][i] = vertex[1][i] = vertex[2][i] = (cr_vec3){1, 1, 1};
    }
    cr_vec3 rate[MOST_BODIES] = {{0}};
    const cr_events_bars bars = {.rp = by.rp,
                                 .ut = by.ut,
                                 .turn = by.turn,
                                 .v1 = by.v1,
                                 .om1 = by.om1,
                                 .q = frame[0],
                                 .t = frame[1],
                                 .v = frame[2],
                                 .om = frame[3],
                                 .a = frame[4],
                                 .torque = frame[5],
                                 .rate = rate,
                                 .inertia = inertia,
                                 .mass = mass,
                                 .p = vertex[0],
                                 .obstacle0 = vertex[1],
                                 .obstacle1 = vertex[2]};
    cr_events_tape tape = {0};
    CHECK(cr_events_save(w->events, &tape) == CAROM_OK);
    cr_events* other = NULL;
    CHECK(cr_events_create(&other) == CAROM_OK);
    const unsigned char* end;
    cr_vec3 was[MOST_BODIES];
    memcpy(was, w->motion.ut, sizeof was);
    aim(w);
    cr_events_task task = task_of(w);
    task.candidate = NULL;
    task.candidate_count = 0;
    CHECK(cr_events_load(other, &task, tape.items, &end) == CAROM_OK);
    CHECK(end == tape.items + tape.count);
    CHECK(memcmp(was, w->motion.ut, sizeof was) == 0);
    CHECK(cr_events_adj(other, &task, &bars) == CAROM_OK);
    for (int32_t i = 0; i < w->frame_count; i++) { // the reverse of aim, as far as the run saw it
        const int32_t f = w->frame[i], held = w->set.lock[f] >> 3;
        const cr_vec3 om = cr_vec3_load(w->om + 3 * f);
        double unused = 0.0;
        if (held) {
            cr_spin_held_part_adj(w->motion.r0[f], held, om, rate[f], &frame[0][f], &frame[3][f]);
            continue;
        }
        cr_vec3 felt = {0};
        cr_spin_rate_adj(cr_vec3_load(w->set.inertia + 3 * f), w->h, om, w->torque[f], rate[f],
                         &frame[3][f], &frame[5][f], &felt, &unused);
        cr_vec3_accumulate(inertia + 3 * f, felt);
    }
    double row[5] = {1, 1, 1, 1, 1};
    const cr_events_row_bars* rows;
    const int32_t count = cr_events_rows(other, &rows);
    for (int32_t i = 0; i < count; i++) {
        row[0] += rows[i].thickness;
        row[1] += rows[i].friction;
        row[2] += rows[i].restitution;
        row[3] += rows[i].lever[0];
        row[4] += rows[i].lever[1];
    }
    double worst = 0.0;
    for (int in = 0; in < IN_COUNT; in++) {
        double most = 0.0, off = 0.0;
        for (int item = 0; item < input_items(w, (input)in); item++) {
            for (int axis = 0; axis < input_axes((input)in); axis++) {
                double got;
                const int body = in == IN_P || in == IN_OBSTACLE0 || in == IN_OBSTACLE1
                                     ? w->set.vertex_body[item]
                                     : item;
                const int rigid = w->set.kind[body] == CR_BODY_RIGID;
                if (in <= IN_TORQUE) {
                    got = (&frame[in][item].x)[axis];
                } else if (in == IN_INERTIA) {
                    got = inertia[3 * item + axis];
                } else if (in == IN_MASS) {
                    got = mass[item];
                } else if (in <= IN_OBSTACLE1) {
                    got = (&vertex[in - IN_P][item].x)[axis];
                } else {
                    got = row[in - IN_THICKNESS];
                }
                if (in < IN_THICKNESS && rigid == (in == IN_OBSTACLE0 || in == IN_OBSTACLE1)) {
                    CHECK(got == 1);
                    continue;
                }
                if (in == IN_LEVER0 || in == IN_LEVER1 || in == IN_FRICTION) {
                    int rubs = 0;
                    for (int32_t i = 0; i < w->candidate_count; i++) {
                        rubs |= w->candidate[i].friction > 0;
                    }
                    if (!rubs) {
                        continue;
                    }
                }
                const double scale = in == IN_INERTIA ? w->set.inertia[3 * item + axis] : 1.0;
                const double want = slope(w, &by, q_0, (input)in, item, axis, d * scale);
                off = fmax(off, scale * fabs(got - 1 - want));
                most = fmax(most, scale * fabs(want));
            }
        }
        const double relative = off / fmax(most, 1e-2); // smaller ones drown in the round-off
        if (!(relative <= allowed)) {
            printf("    %s, %d impacts: %s off by %.2e of %.2e\n", name, impacts, input_name[in],
                   off, most);
        }
        worst = fmax(worst, relative);
    }
    CHECK(worst <= allowed);
    run(w);
    cr_events_destroy(other);
    cr_array_release(&tape);
    return worst;
}

static const double restitutions[] = {0.0, 0.3, 0.7, 1.0}, frictions[] = {0.0, 0.3, 1.5};

static void test_reverse_ball_on_ground(void)
{
    for (int i = 0; i < 12; i++) {
        world* w = world_make(0.02);
        w->friction_speed = 1e-2;
        const int32_t g = add_ground(w, CR_BODY_KINEMATIC, 0, 0.01);
        for (int32_t v = w->set.vertex[g]; v < w->set.vertex[g + 1]; v++) {
            w->obstacle1[v] =
                cr_vec3_add(w->obstacle0[v], (cr_vec3){0.002, 0.001, 0.003 + 1e-4 * v});
        }
        const int32_t b =
            add_sphere(w, 2, 0.1, (cr_vec3){0.3, 0.2, 0.12}, (cr_vec3){0.3, -0.4, -1});
        cr_vec3_store(w->om + 3 * b, (cr_vec3){1, 2, 3});
        w->a[b] = (cr_vec3){0.1, 0.2, -1};
        w->torque[b] = (cr_vec3){0.01, -0.02, 0.03};
        add_candidates(w, restitutions[i % 4], frictions[i / 4]);
        check_reverse(w, "ball on ground", 1e-5, 1e-6);
        world_release(w);
    }
}

static void test_reverse_oblique_balls(void)
{
    for (int i = 0; i < 12; i++) {
        world* w = world_make(0.02);
        w->friction_speed = 1e-2;
        add_sphere(w, 2, 0.1, (cr_vec3){0.01, 0.02, 0.03}, (cr_vec3){0.3, -0.4, 0.1});
        add_sphere(w, 0.7, 0.15, (cr_vec3){0.235, 0.14, 0.08}, (cr_vec3){-2, -0.4, -0.3});
        for (int b = 0; b < 2; b++) {
            cr_vec3_store(w->om + 3 * b, (cr_vec3){5, b ? -6 : 2, 3});
            w->a[b] = (cr_vec3){b, 2, 3};
            w->torque[b] = (cr_vec3){0.01, -0.02 * b, 0.03};
        }
        add_candidates(w, restitutions[i % 4], frictions[i / 4]);
        check_reverse(w, "oblique balls", 1e-5, 1e-7);
        world_release(w);
    }
}

// Two balls meet, one of them hits the ground after that; damped a little, and so that nothing is
// left.
static void test_reverse_damped(void)
{
    for (int i = 0; i < 12; i++) {
        world* w = world_make(0.02);
        w->friction_speed = 1e-2;
        w->bounce_floor = 1.0;
        add_ground(w, CR_BODY_FIXED, 0, 0.01);
        const int32_t b = add_sphere(w, 2, 0.1, (cr_vec3){0.1, 0.2, 0.12}, (cr_vec3){0.3, 0.1, -4});
        add_sphere(w, 1, 0.1, (cr_vec3){0.12, 0.23, 0.335}, (cr_vec3){-0.2, 0.1, -0.5});
        cr_vec3_store(w->om + 3 * b, (cr_vec3){5, -4, 3});
        w->a[b] = w->a[b + 1] = (cr_vec3){0, 0, -9.81};
        w->damping[b] = i % 4 < 2 ? 3 : 200;
        w->damping[b + 1] = 10;
        add_candidates(w, i % 2 ? 1.0 : 0.8, frictions[i / 4]);
        run(w);
        CHECK(w->report.impacts >= (i % 4 < 2 ? 2 : 1));
        check_reverse(w, "damped", 1e-6, 1e-5);
        world_release(w);
    }
}

// Damped alike, balls that meet without bouncing go on as one; all momentum fades as without
// impact.
static void test_damped_balls_go_on_as_one(void)
{
    for (int i = 0; i < 4; i++) {
        world* w = world_make(0.1);
        const double c = 1.0 * i * i, fade = exp(-c * w->h);
        add_sphere(w, 2, 0.1, (cr_vec3){0, 0, 0}, (cr_vec3){1.5, 0, 0});
        add_sphere(w, 1, 0.1, (cr_vec3){0.23, 0, 0}, (cr_vec3){-1, 0, 0});
        for (int b = 0; b < 2; b++) {
            w->a[b].x = (fade - 1.0) / w->h * w->v[3 * b];
            w->damping[b] = c;
        }
        add_candidates(w, 0, 0);
        step(w);
        CHECK(w->report.impacts == 1);
        CHECK_NEAR(w->v[0], w->v[3], 1e-14);
        CHECK_NEAR(2 * w->v[0] + w->v[3], 2.0 * fade, 1e-14);
        world_release(w);
    }
}

static void test_reverse_corner_on_ground(void)
{
    for (int i = 0; i < 12; i++) {
        world* w = world_make(0.02);
        w->friction_speed = 1e-2;
        add_ground(w, CR_BODY_FIXED, 0, 0.01);
        const int32_t b = add_box(w, 2, (cr_vec3){0.3, 0.2, 0.1}, 0.01, (cr_vec3){0.3, 0.2, 0.2},
                                  (cr_vec3){0.3, 0.4, -1}, (cr_vec3){2, -3, 4});
        cr_quat_store(w->q + 4 * b, cr_quat_from_rotation((cr_vec3){0.6, 0.5, 0.2}));
        w->a[b] = (cr_vec3){0, 1, -9.81};
        w->torque[b] = (cr_vec3){0.1, -0.2, 0.3};
        add_candidates(w, restitutions[i % 4], frictions[i / 4]);
        for (int k = 0; k < 10; k++) {
            run(w);
            if (w->report.impacts) {
                break;
            }
            commit(w);
        }
        check_reverse(w, "corner on ground", 1e-5, 1e-6);
        world_release(w);
    }
}

// Two boxes thrown at each other, stopped before the step in which they meet.
static world* make_pair(uint64_t seed, double e, double mu)
{
    world* w = world_make(0.01);
    w->friction_speed = 1e-2;
    for (int i = 0; i < 2; i++) {
        const cr_vec3 t = cr_vec3_add((cr_vec3){i ? 0.18 : -0.18, 0, 0}, random_vec(&seed, 0.02));
        const cr_vec3 v = cr_vec3_add((cr_vec3){i ? -2 : 2, 0, 0}, random_vec(&seed, 1));
        const int32_t b =
            add_box(w, i + 1.0, (cr_vec3){0.2, 0.15, 0.1}, 1e-2, t, v, random_vec(&seed, 5));
        cr_quat_store(w->q + 4 * b, cr_quat_from_rotation(random_vec(&seed, 3)));
        w->a[b] = random_vec(&seed, 3);
        w->torque[b] = random_vec(&seed, 0.1);
    }
    add_candidates(w, e, mu);
    for (int k = 0; k < 20; k++) {
        run(w);
        if (w->report.impacts) {
            break;
        }
        commit(w);
    }
    return w;
}

static void test_reverse_boxes(void)
{
    int kinds[16] = {0}, several = 0, tamed = 0;
    double worst = 0.0;
    for (int i = 0; i < 16; i++) {
        world* w = make_pair((uint64_t)(100 + i), restitutions[i % 4], frictions[i / 4 % 3]);
        if (w->report.impacts) {
            const cr_events_contact* contact;
            cr_events_contacts(w->events, &contact);
            kinds[w->candidate[contact[0].candidate].pair.kind]++;
            several += w->report.impacts > 1;
            tamed += w->report.tamed;
            char name[64];
            snprintf(name, sizeof name, "boxes %d e %g mu %g tamed %d", i, restitutions[i % 4],
                     frictions[i / 4 % 3], w->report.tamed);
            worst = fmax(worst, check_reverse(w, name, 2e-6, 1e-5));
        }
        world_release(w);
    }
    printf("    corner on face %d, edge on edge %d, several impacts %d, tamed %d, off by %.1e\n",
           kinds[CR_PAIR_PT], kinds[CR_PAIR_EE], several, tamed, worst);
    CHECK(kinds[CR_PAIR_PT] > 3 && kinds[CR_PAIR_EE] > 3);
}

// Where friction and restitution together would gain energy.
static void test_reverse_tamed(void)
{
    int found = 0;
    double worst = 0.0;
    for (int i = 0; i < 400 && found < 4; i++) {
        world* w = make_pair((uint64_t)(1000 + i), 1.0, 0.6);
        if (w->report.tamed) {
            found++;
            worst = fmax(worst, check_reverse(w, "tamed", 2e-6, 1e-5));
        }
        world_release(w);
    }
    printf("    %d tamed, off by %.1e\n", found, worst);
    CHECK(found == 4);
}

static void test_reverse_flat_box(void)
{
    for (int i = 0; i < 8; i++) {
        world* w = world_make(0.02);
        w->friction_speed = 1e-2;
        add_ground(w, CR_BODY_FIXED, 0, 0.01);
        const int32_t b = add_box(w, 2, (cr_vec3){0.3, 0.2, 0.1}, 0.01, (cr_vec3){0.3, 0.2, 0.08},
                                  (cr_vec3){0.3, 0.4, -1}, (cr_vec3){2e-3, -3e-3, 0.4});
        w->a[b] = (cr_vec3){0, 1, -9.81};
        add_candidates(w, restitutions[i % 4], frictions[i / 4]);
        run(w);
        const cr_events_contact* contact;
        CHECK(cr_events_contacts(w->events, &contact) == 4 && w->report.impacts == 1);
        check_reverse(w, "flat box", 2e-7, 1e-3);
        world_release(w);
    }
}

// A ball that rests on a fixed ball and slides over it into another one.
static void test_reverse_supported(void)
{
    for (int i = 0; i < 12; i++) {
        world* w = world_make(0.02);
        w->friction_speed = 1e-2;
        const int32_t g = add_body(w, CR_BODY_FIXED, 0, zero, 1, zero, zero, zero);
        add_vertex(w, g, (cr_vec3){0.1, 0, -1.1 + 1e-9});
        const double x = sqrt(1.1 * 1.1 - 0.1 * 0.1) - 1.1;
        add_sphere(w, 2, 0.1, (cr_vec3){0, 0, x}, (cr_vec3){1, 0.1, 0.1});
        add_sphere(w, 3, 0.1, (cr_vec3){0.205, 0.02, 0.03}, (cr_vec3){-1, 0, 0});
        w->a[1] = w->a[2] = (cr_vec3){0, 0, -9.81};
        w->torque[1] = (cr_vec3){0.01, 0.02, 0.03};
        add_candidates(w, restitutions[i % 4], frictions[i / 4]);
        check_reverse(w, "supported", 2e-6, 1e-5);
        world_release(w);
    }
}

// Two balls that touch fall together. The lower one hits the ground, then the upper one hits it,
// and is asked what it rested on at the start: on the lower one, where that was then.
static void test_reverse_supported_by_what_was_hit(void)
{
    for (int i = 0; i < 12; i++) {
        world* w = world_make(0.02);
        w->friction_speed = 1e-2;
        add_ground(w, CR_BODY_FIXED, 0, 0.01);
        const int32_t low = add_sphere(w, 2, 0.1, (cr_vec3){0, 0, 0.12}, (cr_vec3){0.1, 0.2, -1.5});
        const cr_vec3 up = {0.06, 0.03, sqrt(0.04 - 0.0045) - 1e-9};
        const int32_t high = add_sphere(w, 3, 0.1, cr_vec3_add((cr_vec3){0, 0, 0.12}, up),
                                        (cr_vec3){0.1, 0.2, -1.5});
        w->a[low] = (cr_vec3){0, 0, -9.81};
        w->a[high] = (cr_vec3){0.1, 0, -9};
        w->torque[high] = (cr_vec3){0.01, 0.02, 0.03};
        add_candidates(w, restitutions[i % 4], frictions[i / 4]);
        run(w);
        CHECK(w->report.impacts >= 2);
        check_reverse(w, "supported by what was hit", 2e-6, 1e-5);
        world_release(w);
    }
}

// A ball hits the first of balls that touch, in a row with bends, the last over the ground.
static void test_reverse_what_touches(void)
{
    for (int i = 0; i < 12; i++) {
        world* w = world_make(0.02);
        w->friction_speed = 1e-2;
        add_ground(w, CR_BODY_FIXED, 0, 0.01);
        cr_vec3 x = {0.1, 0.2, 0.11 - 1e-4}; // all of them drift apart, and what hits is faster
        const int count = 3 + i / 3;
        for (int k = 0; k < count; k++) {
            const cr_vec3 drift = {0.1 + 0.01 * x.x, 0.2 + 0.01 * x.y, 0.01 * x.z};
            add_sphere(w, 1 + k % 3, 0.1, x, drift);
            const cr_vec3 way = {0.3 * (k % 2), 0.4 - 0.2 * (k % 3), 1.0};
            x = cr_vec3_add_scaled(x, (0.2 - 1e-4) / cr_vec3_norm(way), way);
        }
        const cr_vec3 off = {0.01, 0.02, 0.03};
        add_sphere(w, 2, 0.1, cr_vec3_add(x, off), (cr_vec3){0.3, -0.2, -3});
        add_candidates(w, i % 2 ? 0.05 : 0.01, frictions[i % 3]);
        run(w);
        CHECK(w->report.most == 1 && w->report.impacts == 1);
        check_reverse(w, "what touches", 1e-6, 1e-5);
        world_release(w);
    }
}

// About one axis: then the free directions are all there is to differentiate.
static void test_reverse_locked(void)
{
    for (int i = 0; i < 8; i++) {
        world* w = world_make(0.01);
        w->friction_speed = 1e-2;
        add_ground(w, CR_BODY_FIXED, 0, 0.01);
        const cr_quat q = cr_quat_from_rotation((cr_vec3){0.3, 1.2, 0.4});
        const cr_vec3 om = cr_mat3_tapply(cr_quat_to_matrix(q), (cr_vec3){0, 2, 0});
        const int32_t b = add_box(w, 2, (cr_vec3){0.3, 0.2, 0.1}, 0.01, (cr_vec3){0.3, 0.2, 0.25},
                                  (cr_vec3){1, 0, -2}, om);
        cr_quat_store(w->q + 4 * b, q);
        w->set.lock[b] = CR_LOCK_Y | CR_LOCK_RX | CR_LOCK_RZ;
        w->a[b] = (cr_vec3){1, 0, -9.81};
        w->torque[b] = (cr_vec3){0.02 * i, 0.01 * i, -0.03 * i};
        add_candidates(w, restitutions[i % 4], frictions[i / 4]);
        for (int k = 0; k < 20; k++) {
            run(w);
            if (w->report.impacts) {
                break;
            }
            cr_vec3_accumulate(w->t + 3 * b, w->motion.ut[b]);
            cr_vec3_store(w->v + 3 * b, w->motion.v1[b]);
            const cr_quat turn = cr_quat_from_rotation(w->motion.turn[b]);
            cr_quat_store(w->q + 4 * b, cr_quat_mul(cr_quat_load(w->q + 4 * b), turn));
        }
        check_reverse(w, "locked", 1e-5, 1e-6);
        world_release(w);
    }
}

// A ball hits the ground and, on its way up, another one, all in one step.
static void test_reverse_several_impacts(void)
{
    for (int i = 0; i < 6; i++) {
        world* w = world_make(0.02);
        w->friction_speed = 1e-2;
        w->bounce_floor = 1.0;
        add_ground(w, CR_BODY_FIXED, 0, 0.01);
        const int32_t b = add_sphere(w, 2, 0.1, (cr_vec3){0.1, 0.2, 0.12}, (cr_vec3){0.3, 0.1, -4});
        add_sphere(w, 1, 0.1, (cr_vec3){0.12, 0.23, 0.335}, (cr_vec3){-0.2, 0.1, -0.5});
        cr_vec3_store(w->om + 3 * b, (cr_vec3){5, -4, 3});
        w->a[b] = w->a[b + 1] = (cr_vec3){0, 0, -9.81};
        add_candidates(w, i % 2 ? 1.0 : 0.8, frictions[i / 2]);
        run(w);
        CHECK(w->report.impacts >= 2);
        check_reverse(w, "several impacts", 1e-6, 1e-5);
        world_release(w);
    }
}

int main(void)
{
    RUN(test_reverse_several_impacts);
    RUN(test_reverse_locked);
    RUN(test_reverse_what_touches);
    RUN(test_reverse_damped);
    RUN(test_damped_balls_go_on_as_one);
    RUN(test_what_touches_is_hit_together);
    RUN(test_what_rests_is_no_event);
    RUN(test_what_turns_along_a_gap_is_looked_at_once);
    RUN(test_a_sliding_box_hits_another);
    RUN(test_locked_directions_stay_locked);
    RUN(test_a_body_has_so_many_events);
    RUN(test_memory);
    RUN(test_reverse_tamed);
    RUN(test_reverse_flat_box);
    RUN(test_reverse_supported);
    RUN(test_reverse_supported_by_what_was_hit);
    RUN(test_reverse_oblique_balls);
    RUN(test_reverse_corner_on_ground);
    RUN(test_reverse_boxes);
    RUN(test_reverse_ball_on_ground);
    RUN(test_oblique_balls);
    RUN(test_a_dropped_ball);
    RUN(test_cradle);
    RUN(test_a_corner_hits_the_ground);
    RUN(test_random_pairs);
    RUN(test_a_ball_bounces_exactly);
    RUN(test_a_flat_box_bounces_flat);
    return check_failures != 0;
}
