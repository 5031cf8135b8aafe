// Collisions that end together: momentum, impulses and energies that mechanics books give.
#include "scenario/scene_kit.h"

#define WORLD(h) "'world': {'dt': " h ", 'gravity': [0, 0, 0], 'friction': %g}"

// Linear momentum (kg m/s) now.
static cr_vec3 momentum(const kit* k)
{
    double p[3] = {0}, l[3] = {0};
    if (k->sim) {
        carom_sim_momentum(k->sim, p, l);
    }
    return cr_vec3_load(p);
}

static double momentum_size(const kit* k)
{
    double sum = 0.0;
    for (int32_t b = 0; b < carom_model_body_count(k->model); b++) {
        carom_body_state s;
        carom_sim_body(k->sim, b, &s);
        const int32_t f = k->model->numbers->bodies.frame[b];
        sum += f < 0 ? 0.0
                     : k->model->numbers->bodies.mass[f] * cr_vec3_norm(cr_vec3_load(s.velocity));
    }
    return sum;
}

// v' = (m1 v1 + m2 v2)/(m1 + m2), and face to face nothing turns. Offsets that are not multiples of
// the step: the hit falls anywhere in it.
static void test_head_on(void)
{
    const double masses[][2] = {{1, 1}, {1, 3}, {10, 0.5}, {1, 1e3}, {1e-3, 1e3}};
    const double rates[] = {1000, 200, 60};
    for (int m = 0; m < 5; m++) {
        for (int r = 0; r < 3; r++) {
            const double m1 = masses[m][0], m2 = masses[m][1], v1 = 2.0, v2 = -0.7;
            kit* k = kit_open(
                "{'carom': 1, " WORLD(
                    "%.17g") ", 'bodies': ["
                             "{'name': 'a', 'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, "
                             "'mass': %.17g, 'velocity': [%g, 0, 0]},"
                             "{'name': 'b', 'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, "
                             "'mass': %.17g, 'position': [0.51731, 0, 0], 'velocity': [%g, 0, "
                             "0]}]}",
                1 / rates[r], 0.3, m1, v1, m2, v2);
            const double size = k->failed ? 1.0 : momentum_size(k);
            const cr_vec3 before = momentum(k);
            double worst = 0.0;
            while (!k->failed && carom_sim_time(k->sim) < 0.3 && kit_step(k)) {
                worst = fmax(worst, cr_vec3_norm(cr_vec3_sub(momentum(k), before)));
            }
            const carom_body_state a = kit_body(k, "a"), b = kit_body(k, "b");
            const double together = (m1 * v1 + m2 * v2) / (m1 + m2);
            CHECK(!k->failed);
            CHECK_NEAR(worst, 0, 1e-12 * size);
            // the heavier body keeps its speed to the compliance of the contact, 1e-5
            CHECK_NEAR(a.velocity[0], together, 1e-6 * (v1 - v2));
            CHECK_NEAR(b.velocity[0], together, 1e-6 * (v1 - v2));
            CHECK_NEAR(cr_vec3_norm(cr_vec3_load(a.angular_velocity)), 0, 1e-9);
            CHECK_NEAR(cr_vec3_norm(cr_vec3_load(b.angular_velocity)), 0, 1e-9);
            printf("  %g and %g kg, h 1/%g: momentum %.2g, v off by %.2g %.2g, spin %.2g\n", m1, m2,
                   rates[r], worst / size, a.velocity[0] - together, b.velocity[0] - together,
                   cr_vec3_norm(cr_vec3_load(a.angular_velocity)) +
                       cr_vec3_norm(cr_vec3_load(b.angular_velocity)));
            kit_close(k);
        }
    }
}

// A ball of mass m hits the end of a rod of mass M and length L at right angles and stays with it
// along the line of impact: J = v / (1/m + 1/M + (L/2)^2/I). The rod is a capsule, I given.
static void test_rod_hit_at_its_end(void)
{
    const double m = 0.5, rod = 2.0, length = 1.0, inertia = rod * length * length / 12, v = 3.0;
    kit* k = kit_open(
        "{'carom': 1, " WORLD(
            "0.001") ", 'bodies': ["
                     "{'name': 'rod', 'capsule': {'radius': 0.02, 'length': %.17g}, 'mass': %g, "
                     "'inertia': [%.17g, %.17g, 1e-3]},"
                     "{'name': 'ball', 'sphere': {'radius': 0.03}, 'mass': %g, "
                     "'position': [-0.1503, 0, %.17g], 'velocity': [%g, 0, 0]}]}",
        0.0, length, rod, inertia, inertia, m, length / 2, v);
    const cr_vec3 before = momentum(k);
    double worst = 0.0, energy = k->energy;
    double rod_v = 0.0, ball_v = 0.0, spin = 0.0;
    int after = 0; // steps since the hit; it may take the rest of one step and all of the next
    while (!k->failed && carom_sim_time(k->sim) < 0.05 && kit_step(k)) {
        worst = fmax(worst, cr_vec3_norm(cr_vec3_sub(momentum(k), before)));
        after += k->energy < 0.999 * energy;
        if (after == 2) {
            rod_v = kit_body(k, "rod").velocity[0];
            spin = kit_body(k, "rod").angular_velocity[1];
            ball_v = kit_body(k, "ball").velocity[0];
        }
    }
    const double arm = length / 2;
    const double impulse = v / (1 / m + 1 / rod + arm * arm / inertia);
    CHECK(!k->failed);
    CHECK_NEAR(worst, 0, 1e-12 * m * v);
    // first order in h: the contact normal turns with the rod inside the step of the hit
    CHECK_NEAR(rod_v, impulse / rod, 1e-3 * v);
    CHECK_NEAR(ball_v, v - impulse / m, 1e-3 * v);
    CHECK_NEAR(spin, impulse * arm / inertia, 1e-3 * v / arm);
    printf("  J off by %.2g of it, spin by %.2g, momentum %.2g\n", rod_v * rod / impulse - 1,
           spin * inertia / (impulse * arm) - 1, worst / (m * v));
    kit_close(k);
}

// The same rod as a box, hit by a box, at the very end: J as above with the box's own inertia.
static void test_box_rod_hit_at_its_end(void)
{
    const double m = 0.5, rod = 2.0, v = 3.0, half = 0.5;
    const double inertia = rod * (1.0 + 0.05 * 0.05) / 12;
    kit* k = kit_open(
        "{'carom': 1, " WORLD(
            "0.001") ", 'bodies': ["
                     "{'name': 'rod', 'mesh': {'box': {'x': 0.05, 'y': 0.05, 'z': 1}}, 'mass': "
                     "%g}, {'name': 'ball', 'sphere': {'radius': 0.03}, 'mass': %g, "
                     "'position': [-0.1503, 0, %.17g], 'velocity': [%g, 0, 0]}]}",
        0.0, rod, m, half - 1e-9, v);
    double energy = k->energy, rod_v = 0.0, spin = 0.0;
    int after = 0;
    while (!k->failed && carom_sim_time(k->sim) < 0.05 && kit_step(k)) {
        after += k->energy < 0.999 * energy;
        if (after == 2) {
            rod_v = kit_body(k, "rod").velocity[0];
            spin = kit_body(k, "rod").angular_velocity[1];
        }
    }
    const double impulse = v / (1 / m + 1 / rod + half * half / inertia);
    CHECK(!k->failed);
    CHECK_NEAR(rod_v * rod, impulse, 1e-3 * impulse);
    CHECK_NEAR(spin * inertia, impulse * half, 1e-3 * impulse * half);
    printf("  J off by %.2g of it, spin by %.2g\n", rod_v * rod / impulse - 1,
           spin * inertia / (impulse * half) - 1);
    kit_close(k);
}

// A cube runs into two that touch: all three go on at v/3. Exactly touching starts: the thickness
// between them is the distance they start with.
static void test_three_touching_cubes_share(void)
{
    kit* k = kit_open(
        "{'carom': 1, " WORLD(
            "0.001") ", 'bodies': ["
                     "{'name': 'a', 'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, 'mass': 1, "
                     "'position': [-0.2502, 0, 0], 'velocity': [1.5, 0, 0]},"
                     "{'name': 'b', 'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, 'mass': 1},"
                     "{'name': 'c', 'mesh': {'box': {'x': 0.2, 'y': 0.2, 'z': 0.2}}, 'mass': 1, "
                     "'position': [0.2002, 0, 0]}]}",
        0.5);
    const cr_vec3 before = momentum(k);
    double worst = 0.0;
    while (!k->failed && carom_sim_time(k->sim) < 0.2 && kit_step(k)) {
        worst = fmax(worst, cr_vec3_norm(cr_vec3_sub(momentum(k), before)));
    }
    const char* names[] = {"a", "b", "c"};
    CHECK(!k->failed);
    CHECK_NEAR(worst, 0, 1e-12 * 1.5);
    for (int i = 0; i < 3; i++) {
        const carom_body_state s = kit_body(k, names[i]);
        CHECK_NEAR(s.velocity[0], 0.5, 1e-6 * 1.5);
        const double spin = cr_vec3_norm(cr_vec3_load(s.angular_velocity));
        CHECK_NEAR(spin, 0, 1e-9 * 1.5 / 0.1); // no rotation
        printf("  %s: v off by %.2g, spin %.2g\n", names[i], s.velocity[0] - 0.5, spin);
    }
    kit_close(k);
}

// 200 bodies of all shapes, thrown about in free space: momentum is kept to 1e-11 of all momenta
// that meet, and kinetic energy never rises (kit_step looks).
static void random_bodies(double friction, uint64_t seed, double seconds)
{
    enum { COUNT = 200 };
    size_t room = 500 * COUNT, used = 0;
    char* bodies = malloc(room);
    for (int i = 0; i < COUNT; i++) {
        const char* shapes[] = {"'mesh': {'box': {'x': 0.12, 'y': 0.1, 'z': 0.08}}",
                                "'sphere': {'radius': 0.06}",
                                "'capsule': {'radius': 0.04, 'length': 0.1}",
                                "'mesh': {'box': {'x': 0.06, 'y': 0.16, 'z': 0.06}}"};
        double c[12];
        for (int j = 0; j < 12; j++) {
            c[j] = check_random(&seed, -1, 1);
        }
        // on a grid 6 x 6 x 6, cells of 0.24 m: no two start near each other
        used += (size_t)snprintf(
            bodies + used, room - used,
            "%s{'name': 'b%d', %s, 'mass': %.6g, 'position': [%.6g, %.6g, %.6g], 'rotation': "
            "[%.4g, %.4g, %.4g], 'velocity': [%.4g, %.4g, %.4g], 'angular_velocity': [%.4g, %.4g, "
            "%.4g]}",
            i ? ", " : "", i, shapes[i % 4], exp(2 * c[9]), 0.24 * (i % 6) + 0.02 * c[0],
            0.24 * (i / 6 % 6) + 0.02 * c[1], 0.24 * (i / 36) + 0.02 * c[2], 2 * c[3], 2 * c[4],
            2 * c[5], 2 * c[6], 2 * c[7], 2 * c[8], 4 * c[9], 4 * c[10], 4 * c[11]);
        CHECK(used < room);
    }
    kit* k = kit_open("{'carom': 1, " WORLD("0.005") ", 'bodies': [%s]}", friction, bodies);
    free(bodies);
    const double size = k->failed ? 1.0 : momentum_size(k);
    const cr_vec3 before = momentum(k);
    double worst = 0.0, start = k->energy;
    int hits = 0;
    k->judge_every = 10;
    while (!k->failed && carom_sim_time(k->sim) < seconds && kit_step(k)) {
        worst = fmax(worst, cr_vec3_norm(cr_vec3_sub(momentum(k), before)));
        hits += carom_sim_info(k->sim).contacts;
    }
    CHECK(!k->failed);
    CHECK_NEAR(worst, 0, 1e-11 * size);
    CHECK(hits > COUNT);
    printf("  %d contacts, momentum %.2g, energy left %.3g, at most %d parts\n", hits, worst / size,
           k->energy / start, k->most_parts);
    kit_close(k);
}

static void test_200_random_bodies(void)
{
    random_bodies(0.0, 7, 0.4);
}

static void test_200_random_bodies_with_friction(void)
{
    random_bodies(0.6, 8, 0.4);
}

int main(void)
{
    RUN(test_head_on);
    RUN(test_rod_hit_at_its_end);
    RUN(test_box_rod_hit_at_its_end);
    RUN(test_three_touching_cubes_share);
    RUN(test_200_random_bodies);
    RUN(test_200_random_bodies_with_friction);
    return check_failures != 0;
}
