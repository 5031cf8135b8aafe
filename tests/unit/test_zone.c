// A ball against a point that is held, which has a closed form, and a stick beside points: when a
// zone may stop, what a step too short to look at may do, and what is left when a look fails.
#include "check.h"
#include "contact/zone_inside.h"
#include "core/memory.h"
#include <string.h>

static const double radius = 0.02, mass = 0.3, h = 0.01;
static const double eps = 1e-5 / 0.3; // of the contact

// Body 0 is a point that is held, body 1 what moves: a ball, or a stick of two vertices.
typedef struct world {
    cr_body_set set;
    cr_motion motion;
    cr_zone* zone;
    cr_zone_task task;
    cr_vec3 obstacle[3];
    cr_candidate candidate[2];
    cr_carry carry[2], wish[2];
    cr_contact_memory warm;
    int32_t frame;
    double wants[2];
} world;

static const cr_vec3 held = {0, 0, 0};

static world* world_make(int32_t ends, double half, cr_vec3 start, double reach)
{
    world* w = cr_memory_take(1, sizeof(world));
    CHECK(cr_body_set_init(&w->set, 2, 1 + ends, 2, 0) == CAROM_OK);
    CHECK(cr_motion_init(&w->motion, 2, 0) == CAROM_OK);
    CHECK(cr_zone_create(&w->zone) == CAROM_OK);
    for (int32_t b = 0; b < 2; b++) {
        w->set.kind[b] = b ? CR_BODY_RIGID : CR_BODY_FIXED;
        w->set.frame[b] = w->set.frame_body[b] = b;
        w->set.radius[b] = b * radius;
        w->motion.r0[b] = w->motion.rp[b] = cr_mat3_identity();
        w->motion.t0[b] = b ? start : held;
        w->carry[b] = cr_carry_rest(cr_mat3_identity(), w->motion.t0[b]);
        w->carry[b].reach = b * reach;
        w->carry[b].still = !b; // what moves is not known to stay
    }
    w->set.vertex[1] = 1;
    w->set.vertex[2] = 1 + ends;
    w->set.mass[1] = mass;
    w->set.extent[1] = half + radius;
    w->frame = 1;
    w->set.node[0] = -1;
    for (int32_t i = 0; i < ends; i++) {
        const cr_vec3 p = {i ? -half : half, 0, 0};
        cr_vec3_store(w->set.p + 3 * (1 + i), p);
        w->set.vertex_body[1 + i] = 1;
        w->set.node[1 + i] = -1;
        w->set.inertia[3 + i] = 0.4 * mass * radius * radius;
        w->candidate[i] =
            (cr_candidate){.pair = {CR_PAIR_PP, {0, -1, -1, 1 + i}},
                           .start = cr_vec3_norm(cr_vec3_sub(cr_vec3_add(start, p), held)),
                           .thickness = radius,
                           .compliance = eps,
                           .room = 1e-4 * radius,
                           .blur = radius,
                           .lever = {0, radius}};
    }
    for (int i = 0; i < 3; i++) {
        w->set.inertia[3 + i] = 0.4 * mass * radius * radius;
        w->obstacle[i] = held;
    }
    w->task = (cr_zone_task){.bodies = &w->set,
                             .soft = 1.0,
                             .meets = 1.0,
                             .motion = &w->motion,
                             .h = h,
                             .frame_count = 1,
                             .frame = &w->frame,
                             .candidate_count = ends,
                             .candidate = w->candidate,
                             .obstacle0 = w->obstacle,
                             .obstacle1 = w->obstacle,
                             .to = 1.0,
                             .carry = w->carry,
                             .wants = w->wants,
                             .wish = w->wish,
                             .most_cramped = INT32_MAX,
                             .friction_speed = 1e-4,
                             .max_iterations = 40};
    return w;
}

static void world_release(world* w)
{
    cr_zone_destroy(w->zone);
    cr_motion_release(&w->motion);
    cr_body_set_release(&w->set);
    cr_memory_free(w);
}

static cr_vec3 random_direction(uint64_t* seed)
{
    const cr_vec3 d = {check_random(seed, -1, 1), check_random(seed, -1, 1),
                       check_random(seed, -1, 1)};
    return cr_vec3_scale(1.0 / cr_vec3_norm(d), d);
}

// A ball whose contact carries lam at the end: the force is along y = x0 + ut, seen from the point,
// because the end is, too. So |y| = D - lam/m with D = radius - depth(lam).
typedef struct rest {
    cr_vec3 end, target; // m, displacements
} rest;

static rest rest_of(const world* w, cr_vec3 along, double lam)
{
    const double d = radius - cr_give_make(eps, w->candidate[0].room, lam).depth;
    const cr_vec3 start = w->motion.t0[1];
    return (rest){cr_vec3_sub(cr_vec3_scale(d, along), start),
                  cr_vec3_sub(cr_vec3_scale(d - lam / mass, along), start)};
}

static const cr_contact_key key = {{0, 1, -1, -1}, 1};

// The first iterate is `off` from the end, and the load it starts with `known` times the true one.
static cr_vec3 solve_from(world* w, const rest* r, cr_vec3 off, double lam, double known,
                          cr_zone_report* report)
{
    w->motion.ut[1] = r->target;
    w->motion.guess[1] = cr_vec3_add(r->end, off);
    w->warm = (cr_contact_memory){.key = cr_candidate_key(&w->candidate[0].pair, 9),
                                  .force = known * lam / (h * h)};
    w->task.warm = &w->warm;
    w->task.warm_count = 1;
    CHECK(cr_candidate_compare_keys(&w->warm.key, &key) == 0);
    CHECK(cr_zone_solve(w->zone, &w->task, report) == CAROM_OK);
    return w->motion.u[1];
}

// However near to the end Newton's iterates begin, and whatever load they believe in, they end
// within round-off of it, or of the free motion.
static void test_ends_where_nothing_is_left(void)
{
    uint64_t seed = 1;
    double worst = 0.0;
    for (int i = 0; i < 20000; i++) {
        static const double beliefs[] = {1.0, 0.0, 0.3, 3.0};
        const double known = beliefs[i % 4];
        const double lam = pow(10, check_random(&seed, -14, -7.1)) / eps; // |y| > D/2
        const cr_vec3 along = random_direction(&seed);
        const cr_vec3 start = cr_vec3_scale(radius, random_direction(&seed));
        const cr_vec3 near = cr_vec3_scale(radius + 1e-6, along);
        const cr_vec3 off =
            cr_vec3_scale(pow(10, check_random(&seed, -18, -6)), random_direction(&seed));
        world* w = world_make(1, 0.0, i % 2 ? near : start, 1.0);
        w->candidate[0].room = pow(10, check_random(&seed, -8.5, -5.5));
        const rest r = rest_of(w, along, lam);
        cr_zone_report report;
        const cr_vec3 u = solve_from(w, &r, off, lam, known, &report);
        const double error = cr_vec3_norm(cr_vec3_sub(u, r.end));
        const double far = fmax(cr_vec3_norm(r.target), cr_vec3_norm(w->motion.guess[1]));
        if (!(error <= 64 * 0x1p-53 * radius + 2e-14 * far)) {
            printf("  depth %.2g, off by %.2g, load %g: ends %.3g off after %d\n", eps * lam,
                   cr_vec3_norm(off), known, error, report.iterations);
            check_failures++;
        }
        worst = fmax(worst, error);
        world_release(w);
        if (check_failures > 10) {
            break;
        }
    }
    printf("  at most %.3g m off\n", worst);
}

// A step whose square is nothing is the last; with friction it is not, for that may turn.
static void test_last_step_is_known(void)
{
    for (int rubs = 0; rubs < 2; rubs++) {
        const cr_vec3 along = {0.6, 0, 0.8};
        const double lam = 1e-8 / eps;
        world* w = world_make(1, 0.0, cr_vec3_scale(radius, along), 1.0);
        w->candidate[0].friction = 0.4 * rubs;
        const rest r = rest_of(w, along, lam);
        cr_zone_report report;
        solve_from(w, &r, (cr_vec3){1e-14, 1e-14, 0}, lam, 1.0, &report);
        CHECK(rubs ? report.iterations > 1 : report.iterations == 1);
        world_release(w);
    }
}

// What is let go without a look, the long look lets go as well: a stick whose centre and ends are
// near the end of their room, or near a point, moved by as much as was said at most.
static void test_tiny_steps_cross_nothing(void)
{
    uint64_t seed = 2;
    int let = 0, kept = 0, late = 0;
    for (int i = 0; i < 20000; i++) {
        const double half = 0.1, size = pow(10, check_random(&seed, -13, -3));
        const double near = size * pow(10, check_random(&seed, -0.5, 1.5));
        const double reach = size * pow(10, check_random(&seed, -0.5, 1.5));
        const cr_vec3 to = random_direction(&seed);
        const cr_vec3 start = cr_vec3_add_scaled((cr_vec3){-half, 0, 0}, near, to);
        world* w = world_make(2, half, start, i % 3 == 0 ? reach : 1.0);
        if (i % 3 == 1) {
            w->motion.t0[1] = w->carry[1].t0 = w->carry[1].t1 = (cr_vec3){0, 0, 1}; // far away
            w->candidate[0].start = w->candidate[1].start = 1.0;
        }
        cr_zone* zone = w->zone;
        CHECK(cr_zone_begin(zone, &w->task) == CAROM_OK);
        cr_zone_point_place(zone);
        cr_zone_line_measure(zone);
        CHECK(!cr_zone_check_tiny(zone, 0.0)); // given motions have yet to be gone along
        zone->along = 1.0;
        const int free = cr_zone_check_tiny(zone, size);
        CHECK(!cr_zone_check_tiny(zone, (double)NAN));
        // a part of the way by turning, which takes the ends along
        const double turned = i % 2 ? check_random(&seed, 0, 1) : 1.0;
        const cr_vec3 turn =
            cr_vec3_scale(turned * size / w->set.extent[1], random_direction(&seed));
        const cr_vec3 move = i % 4 < 2 ? cr_vec3_neg(to) : random_direction(&seed);
        memset(zone->z_before, 0, 6 * sizeof(double));
        cr_vec3_store(zone->d, turn);
        cr_vec3_store(zone->d + 3, cr_vec3_scale((1.0 - turned) * size, move));
        const double step = cr_zone_check_step(zone, 1e-9);
        CHECK(!free || step == 1.0);
        let += free;
        kept += !free;
        late += !free && step < 1.0;
        world_release(w);
        if (check_failures > 10) {
            break;
        }
    }
    printf("  %d let go, %d looked at, %d of them for a reason\n", let, kept, late);
    CHECK(let > 5000 && late > 1000);
}

// A look that fails has taken the candidates away: the rows of before are rows of nothing.
static int looked;

static carom_status look_in_vain(void* user, double along)
{
    (void)along;
    looked++;
    world* w = user;
    w->task.candidate_count = 0;
    w->task.candidate = NULL;
    return CAROM_ERR_NO_CONVERGENCE;
}

// In the way of an iterate, or at once in that of inertia; then, with friction, there is nothing to
// begin again with either.
static void test_look_that_fails(void)
{
    const cr_vec3 along = {0.6, 0, 0.8};
    for (int i = 0; i < 4; i++) {
        const int at_once = i % 2;
        world* w = world_make(1, 0.0, cr_vec3_scale(radius - 1e-7, along), 1e-3);
        w->candidate[0].friction = i / 2 ? 0.5 : 0.0;
        w->task.look = look_in_vain;
        w->task.user = w;
        *(at_once ? &w->motion.guess[1] : &w->motion.ut[1]) = (cr_vec3){-0.1, 0, 0}; // too far
        cr_zone_report report;
        const cr_zone_row* rows;
        looked = 0;
        CHECK(cr_zone_solve(w->zone, &w->task, &report) == CAROM_ERR_NO_CONVERGENCE);
        CHECK(looked == 1);
        CHECK((report.iterations > 0) == !at_once); // there were rows when it looked
        CHECK(isfinite(report.residual));
        CHECK(cr_zone_rows(w->zone, &rows) == 0);
        world_release(w);
    }
}

// A ball that rests as deep as a whole step has it stays there in one of 256 parts, where what
// comes to it from outside meets a contact that is stiffer.
static void test_short_parts_do_not_lift(void)
{
    enum { PARTS = 256 };
    const double g = 9.81, part = h / PARTS, meets = 37.0;
    const double depth = cr_give_make(eps, 1e-4 * radius, mass * g * h * h).depth;
    for (int pressed = 0; pressed < 2; pressed++) {
        const double gap = pressed ? -depth : 1e-3 * depth;
        world* w = world_make(1, 0.0, (cr_vec3){0, 0, radius + gap}, radius);
        cr_zone_report report;
        const cr_zone_row* rows;
        w->task.h = part;
        w->task.soft = PARTS * PARTS;
        w->task.meets = meets;
        w->motion.ut[1] = (cr_vec3){0, 0, pressed ? -g * part * part : -depth};
        CHECK(cr_zone_solve(w->zone, &w->task, &report) == CAROM_OK);
        CHECK(cr_zone_rows(w->zone, &rows) == 1);
        CHECK_NEAR(rows[0].compliance / eps, pressed ? PARTS * PARTS : meets, 1e-9 * PARTS * PARTS);
        if (pressed) {
            CHECK_NEAR(w->motion.u[1].z, 0.0, 1e-6 * depth);
        }
        world_release(w);
    }
}

int main(void)
{
    RUN(test_tiny_steps_cross_nothing);
    RUN(test_look_that_fails);
    RUN(test_ends_where_nothing_is_left);
    RUN(test_last_step_is_known);
    RUN(test_short_parts_do_not_lift);
    return check_failures != 0;
}
