// The contact potential and the fading of nearly parallel edges.
#include "check.h"
#include "contact/barrier.h"
#include "contact/parallel_edges.h"
#include "slope.h"

// ---- the potential

typedef struct layer {
    double k, width, height; // height above the bottom, m
} layer;

static cr_barrier at(const layer* l)
{
    return cr_barrier_at(l->k, l->width, l->height / l->width);
}

static double energy(void* user)
{
    return at(user).energy;
}

static double force(void* user)
{
    return at(user).force;
}

static void test_force_and_stiffness_are_slopes_of_the_energy(void)
{
    layer l = {3.0, 2e-3, 0};
    for (double s = 0.01; s < 0.995; s += 0.0173) {
        l.height = s * l.width;
        const double step = 1e-3 * cr_min(s, 1.0 - s) * l.width;
        const cr_barrier b = at(&l);
        CHECK_NEAR(-slope(energy, &l, &l.height, step), b.force, 1e-8 * b.force);
        CHECK_NEAR(-slope(force, &l, &l.height, step), b.slope, 1e-8 * b.slope);
        CHECK(b.force > 0.0 && b.slope > 0.0);
    }
}

static void test_nothing_at_the_surface_and_no_bottom(void)
{
    layer l = {3.0, 2e-3, 2e-3};
    CHECK(at(&l).energy == 0.0 && at(&l).force == 0.0 && at(&l).slope == 0.0);
    l.height =
        l.width * (1.0 - 1e-6); // twice continuously differentiable: the slope goes to 0, too
    CHECK(at(&l).force < 1e-11 * l.k && at(&l).slope < 1e-5 * l.k / l.width);
    l.height = 1e-12 * l.width;
    CHECK(at(&l).force > 1e11 * l.k);
}

static void test_stated_acceleration_presses_halfway_down(void)
{
    const double m = 0.7, a = 100.0;
    CHECK_NEAR(cr_barrier_at(m * a / CR_BARRIER_HALFWAY, 1e-3, 0.5).force, m * a, 1e-12 * m * a);
}

// ---- nearly parallel edges

typedef struct edges {
    cr_vec3 x[4];
    int of, axis; // a part of the gradient
} edges;

static double weight(void* user)
{
    return cr_parallel_edges_make(((edges*)user)->x).m;
}

static double weight_slope(void* user)
{
    const edges* e = user;
    const cr_parallel_edges made = cr_parallel_edges_make(e->x);
    return (&made.grad[e->of].x)[e->axis];
}

static void test_fading_has_exact_derivatives(void)
{
    uint64_t seed = 7;
    for (int round = 0; round < 20; round++) {
        edges e = {{{0, 0, 0}, {1, 0.1, 0}, {0.2, 0.05, 0.1}, {0, 0, 0}}, 0, 0};
        // within 1.8 degrees of parallel, not at the border
        const cr_vec3 along = cr_vec3_sub(e.x[1], e.x[0]);
        const cr_vec3 off = {0, check_random(&seed, -0.015, 0.015),
                             check_random(&seed, -0.015, 0.015)};
        e.x[3] = cr_vec3_add(cr_vec3_add_scaled(e.x[2], 0.8, along), off);
        const cr_parallel_edges made = cr_parallel_edges_make(e.x);
        CHECK(made.m > 0.0 && made.m < 1.0 && cr_parallel_edges_fade(e.x));
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < 3; i++) {
                double* number = &(&e.x[k].x)[i];
                CHECK_NEAR(slope(weight, &e, number, 1e-5), (&made.grad[k].x)[i], 1e-6);
                for (e.of = 0; e.of < 4; e.of++) {
                    for (e.axis = 0; e.axis < 3; e.axis++) {
                        CHECK_NEAR(slope(weight_slope, &e, number, 1e-5),
                                   made.hess[e.of][k].m[e.axis][i], 2e-3);
                    }
                }
            }
        }
    }
}

static void test_crossing_edges_count_in_full_and_parallel_ones_not(void)
{
    const cr_vec3 crossing[4] = {{0, 0, 0}, {1, 0, 0}, {0.5, -1, 0.1}, {0.5, 1, 0.1}};
    const cr_vec3 parallel[4] = {{0, 0, 0}, {1, 0, 0}, {0.2, 0, 0.1}, {2.2, 0, 0.1}};
    CHECK(cr_parallel_edges_make(crossing).m == 1.0 && !cr_parallel_edges_fade(crossing));
    CHECK(cr_parallel_edges_make(parallel).m == 0.0 && cr_parallel_edges_fade(parallel));
}

int main(void)
{
    RUN(test_force_and_stiffness_are_slopes_of_the_energy);
    RUN(test_nothing_at_the_surface_and_no_bottom);
    RUN(test_stated_acceleration_presses_halfway_down);
    RUN(test_fading_has_exact_derivatives);
    RUN(test_crossing_edges_count_in_full_and_parallel_ones_not);
    return check_failures != 0;
}
