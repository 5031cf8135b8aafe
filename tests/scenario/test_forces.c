// Damping and locks in whole scenes.
#include "scenario/scene_kit.h"

static const double g = 9.81;

// v' = -g - c v: the velocity is the closed form's at every step, of a ball and of a sheet alike,
// and where they are is off by no more than first order.
static void test_falling_through_honey(void)
{
    const double c = 2.0, t = 1.5;
    double last = HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        const double h = 0.05 / (1 << i);
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': %.17g}, 'bodies': [{'name': 'ball', 'sphere': {'radius': "
            "0.1}, 'linear_damping': %g, 'velocity': [1, 0, 2]}, {'name': 'sheet', 'type': "
            "'cloth', "
            "'mesh': {'sheet': {'width': 0.5, 'height': 0.5, 'nx': 3, 'ny': 3}}, 'stretch': 100, "
            "'position': [3, 0, 0], 'velocity': [1, 0, 2], 'linear_damping': %g}]}",
            h, c, c);
        while (!k->failed && carom_sim_time(k->sim) < t - 0.5 * h && kit_step(k)) {
            const double keep = exp(-c * carom_sim_time(k->sim));
            const double vz = 2 * keep - (1 - keep) * g / c;
            const carom_body_state b = kit_body(k, "ball"), s = kit_body(k, "sheet");
            CHECK_NEAR(b.velocity[0], keep, 1e-12);
            CHECK_NEAR(b.velocity[2], vz, 1e-12);
            CHECK_NEAR(s.velocity[0], keep, 1e-11);
            CHECK_NEAR(s.velocity[2], vz, 1e-11);
        }
        const double keep = exp(-c * t);
        const double z = -g / c * t + (2 + g / c) * (1 - keep) / c;
        const double off = fabs(kit_body(k, "ball").position[2] - z);
        CHECK_NEAR(kit_body(k, "sheet").position[2], kit_body(k, "ball").position[2], 1e-9);
        CHECK(!k->failed && off < 0.6 * last);
        last = off;
        kit_close(k);
    }
    CHECK_NEAR(last, 0, 0.1);
}

// Two cubes meet head on and go on as one, everything slowed by exp(-0.99 h) a step. The mass for
// which the momentum is 3 after 0.4 s is 1 + 3/exp(-0.396) = 5.458, and 4 without damping.
static void test_damped_cubes_collide(void)
{
    for (int damped = 0; damped < 2; damped++) {
        const double keep = damped ? exp(-0.99 * 0.4) : 1.0;
        const double mass = 1 + 3 / keep;
        kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.01, 'gravity': [0, 0, 0], 'friction': 0},"
                          " 'bodies': [{'name': 'a', 'mesh': {'box': {'size': [1, 1, 1]}}, 'mass': "
                          "%.17g, 'position': [-0.7, 0, 0], 'velocity': [1, 0, 0], "
                          "'linear_damping': %g}, {'name': 'b', 'mesh': {'box': {'size': [1, 1, "
                          "1]}}, 'mass': 1, 'position': [0.5, 0, 0], 'velocity': [-1, 0, 0], "
                          "'linear_damping': %g}]}",
                          mass, damped * 0.99, damped * 0.99);
        kit_run(k, 0.4);
        const carom_body_state a = kit_body(k, "a"), b = kit_body(k, "b");
        CHECK(!k->failed);
        CHECK(damped ? fabs(mass - 5.458) < 5e-4 : mass == 4);
        CHECK_NEAR(mass * a.velocity[0] + b.velocity[0], 3, 1e-12);
        CHECK_NEAR(a.velocity[0], b.velocity[0], 1e-9);
        kit_close(k);
    }
}

// Angular momentum of a body about the y axis through the origin.
static double momentum_y(kit* k, const char* name, double inertia_y)
{
    const carom_body_state s = kit_body(k, name);
    const int32_t body = carom_model_body_find(k->model, name);
    const cr_body_set* set = &k->model->numbers->bodies;
    const cr_vec3 l =
        cr_vec3_cross(cr_vec3_load(s.position),
                      cr_vec3_scale(set->mass[set->frame[body]], cr_vec3_load(s.velocity)));
    return l.y + inertia_y * s.angular_velocity[1];
}

// A slanted box that turns about y alone, none of its principal axes, and a ball thrown at its end:
// about that axis the momentum of both together stays, through the impact and while the ball is
// pressed on and slides; what is locked stays where it is.
static void test_a_seesaw(void)
{
    const struct {
        double friction, restitution, push;
    } runs[] = {{0, 0, 0}, {0, 0.6, 0}, {0.5, 0, 0}, {0.5, 0.3, -2}, {0, 0, -2}};
    for (int i = 0; i < 5; i++) {
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': 0.005, 'gravity': [0, 0, 0], 'friction': %g, "
            "'restitution': %g}, 'bodies': [{'name': 'plank', 'mesh': {'box': {'size': [1, 0.3, "
            "0.1]}}, 'mass': 2, 'rotation': [0.2, 0.1, 0.3], 'lock': ['x', 'y', 'z', 'rx', 'rz']}, "
            "{'name': 'ball', 'sphere': {'radius': 0.05}, 'mass': 0.7, 'position': [0.35, 0.12, "
            "0.3], 'velocity': [0, 0, -2], 'force': [0, 0, %g]}]}",
            runs[i].friction, runs[i].restitution, runs[i].push);
        if (k->failed) {
            kit_close(k);
            continue;
        }
        const cr_model* m = k->model->numbers;
        const carom_body_state start = kit_body(k, "plank");
        const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(start.quaternion));
        const cr_vec3 e = cr_mat3_row(r, 1);
        const double j = m->bodies.inertia[0] * e.x * e.x + m->bodies.inertia[1] * e.y * e.y +
                         m->bodies.inertia[2] * e.z * e.z;
        const double ball = m->bodies.inertia[3], h = 0.005;
        k->driven = runs[i].push != 0.0;
        double total = momentum_y(k, "plank", j) + momentum_y(k, "ball", ball), off = 0.0,
               aside = 0;
        while (!k->failed && carom_sim_time(k->sim) < 0.3) {
            // x' = x + h v', so a force changes x m v by x F h with x of the start
            total -= h * runs[i].push * kit_body(k, "ball").position[0];
            kit_step(k);
            const double now = momentum_y(k, "plank", j) + momentum_y(k, "ball", ball);
            off = fmax(off, fabs(now - total));
            const carom_body_state s = kit_body(k, "plank");
            aside = fmax(aside, kit_apart(&start, &s) + fabs(s.angular_velocity[0]) +
                                    fabs(s.angular_velocity[2]));
        }
        CHECK(!k->failed);
        CHECK(fabs(kit_body(k, "plank").angular_velocity[1]) > 0.1); // it was hit
        CHECK_NEAR(aside, 0, 1e-12);
        // a pressed contact's normal turns within a step: the momentum of a zone is kept in its own
        // sense, at the end of the step, but the lever of a moving ball is not: first order in h
        CHECK_NEAR(off, 0, runs[i].push != 0.0 ? 5e-4 : 1e-12);
        printf("  friction %g, e %g, push %g: off by %.2g of %.3g\n", runs[i].friction,
               runs[i].restitution, runs[i].push, off, fabs(total));
        kit_close(k);
    }
}

// A box that cannot turn comes down on its corner and stays there, upright as it came, at any step.
static void test_a_box_that_cannot_turn_rests_on_a_corner(void)
{
    const double rates[] = {24, 200};
    for (int i = 0; i < 2; i++) {
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': %.17g, 'friction': 0.5}, 'bodies': [{'name': 'ground', "
            "'type': 'fixed', 'mesh': {'sheet': {'width': 8, 'height': 8, 'nx': 1, 'ny': 1}}}, "
            "{'name': 'it', 'mesh': {'box': {'size': [0.4, 0.3, 0.2]}}, 'mass': 3, 'rotation': "
            "[0.5, 0.3, 0.1], 'position': [0.1, 0.2, 0.5], 'lock': ['rx', 'ry', 'rz'], "
            "'angular_velocity': [1, 2, 3]}]}",
            1 / rates[i]);
        const carom_body_state before = kit_body(k, "it");
        kit_run(k, 1.0);
        const carom_body_state start = kit_body(k, "it");
        kit_run(k, 3.0);
        const carom_body_state end = kit_body(k, "it");
        CHECK(!k->failed);
        CHECK_NEAR(kit_apart(&start, &end), 0, 1e-6);
        CHECK_NEAR(kit_tilt(&before, &end), 0, 1e-12);
        CHECK_NEAR(kit_impulse(k, "it", "ground").z * rates[i], 3 * g, 1e-6 * 3 * g);
        kit_close(k);
    }
}

// A slanted flap on a hinge is pressed on a post by a torque: at rest the post's force times its
// lever is that torque, though the hinge is no principal axis.
static void test_a_flap_rests_against_a_post(void)
{
    kit* k = kit_open(
        "{'carom': 1, 'world': {'dt': 0.01, 'gravity': [0, 0, 0], 'friction': 0.3}, 'bodies': "
        "[{'name': 'flap', 'mesh': {'box': {'size': [1, 0.3, 0.1]}}, 'mass': 2, 'rotation': [0.2, "
        "0, 0.3], 'lock': ['x', 'y', 'z', 'rx', 'rz'], 'torque': [0.5, 1.5, -0.7]}, {'name': "
        "'post', 'type': 'fixed', 'sphere': {'radius': 0.1}, "
        "'position': [0.33, 0.12, -0.3]}]}");
    k->driven = 1;
    kit_run(k, 1.5);
    const carom_body_state start = kit_body(k, "flap");
    kit_run(k, 3.0);
    const carom_body_state end = kit_body(k, "flap");
    double lever = 0.0;
    for (int32_t i = 0; !k->failed && i < carom_sim_contact_count(k->sim); i++) {
        carom_contact c;
        carom_sim_contact(k->sim, i, &c);
        const double sign = c.body[1] == carom_model_body_find(k->model, "flap") ? 1.0 : -1.0;
        lever += sign * cr_vec3_cross(cr_vec3_load(c.point), cr_vec3_load(c.impulse)).y / 0.01;
    }
    CHECK(!k->failed);
    CHECK_NEAR(kit_tilt(&start, &end), 0, 1e-6);
    CHECK_NEAR(lever, -1.5, 1e-6);
    printf("  torque %.6g of the post, tilt %.2g, spin %.2g\n", lever, kit_tilt(&start, &end),
           end.angular_velocity[1]);
    kit_close(k);
}

int main(void)
{
    RUN(test_falling_through_honey);
    RUN(test_damped_cubes_collide);
    RUN(test_a_seesaw);
    RUN(test_a_box_that_cannot_turn_rests_on_a_corner);
    RUN(test_a_flap_rests_against_a_post);
    return check_failures != 0;
}
