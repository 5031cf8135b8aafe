// Free motion: what nothing touches moves as mechanics says.
#include "scenario/scene_kit.h"

static const double g = 9.81;

// Velocities are exact at every step; the path is that of a parabola begun h/2 late.
static void test_projectile(void)
{
    kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.001}, 'bodies': [{'name': 'it', 'mesh': "
                      "{'box': {'x': 0.4, 'y': 0.2, 'z': 0.1}}, 'mass': 8, 'velocity': [3, -1, "
                      "7], 'angular_velocity': [0.3, 0.1, -0.2]}]}");
    kit_run(k, 1.0);
    const carom_body_state s = kit_body(k, "it");
    CHECK(!k->failed);
    CHECK_NEAR(s.velocity[0], 3, 1e-12);
    CHECK_NEAR(s.velocity[1], -1, 1e-12);
    CHECK_NEAR(s.velocity[2], 7 - g, 1e-10);
    CHECK_NEAR(s.position[0], 3, 1e-10);
    CHECK_NEAR(s.position[1], -1, 1e-10);
    CHECK_NEAR(s.position[2], 7 - 0.5 * g - 0.5 * g * 0.001, 1e-10);
    kit_close(k);
}

typedef struct spun {
    cr_vec3 om;       // rad/s after 1 s, body axes
    double momentum;  // largest relative change of |L|
    double direction; // largest change of L itself
    double energy;    // largest relative change
} spun;

static spun spin_box(double h)
{
    spun out = {0};
    kit* k = kit_open("{'carom': 1, 'world': {'dt': %.17g, 'gravity': [0, 0, 0]}, 'bodies': "
                      "[{'name': 'it', 'mesh': {'box': {'x': 0.4, 'y': 0.2, 'z': 0.1}}, 'mass': 8, "
                      "'angular_velocity': [1, 2, 3]}]}",
                      h);
    double p[3], l0[3] = {0}, l[3];
    carom_sim_momentum(k->sim, p, l0);
    const double size = cr_vec3_norm(cr_vec3_load(l0)), energy = k->energy;
    // the frame's axes are the principal ones, in any order: which is which at the start
    const carom_body_state start = kit_body(k, "it");
    k->judge_every = 1000000;
    while (!k->failed && carom_sim_time(k->sim) < 1.0 - 0.5 * h && kit_step(k)) {
        carom_sim_momentum(k->sim, p, l);
        const cr_vec3 change = cr_vec3_sub(cr_vec3_load(l), cr_vec3_load(l0));
        out.momentum = fmax(out.momentum, fabs(cr_vec3_norm(cr_vec3_load(l)) / size - 1));
        out.direction = fmax(out.direction, cr_vec3_norm(change) / size);
        out.energy = fmax(out.energy, fabs(k->energy / energy - 1));
    }
    const carom_body_state end = kit_body(k, "it");
    // world spin back to the box's own axes: by how far it turned since the start
    const cr_quat turned = cr_quat_mul(cr_quat_load(end.quaternion),
                                       cr_quat_conjugate(cr_quat_load(start.quaternion)));
    out.om = cr_mat3_tapply(cr_quat_to_matrix(turned), cr_vec3_load(end.angular_velocity));
    CHECK(!k->failed);
    kit_close(k);
    return out;
}

static void test_asymmetric_box(void)
{
    const cr_vec3 exact = {-1.91475916, -0.28101016, 3.41559697};
    double error[3];
    for (int i = 0; i < 3; i++) {
        const double h = 0.004 / (1 << i);
        const spun s = spin_box(h);
        error[i] = cr_vec3_norm(cr_vec3_sub(s.om, exact));
        CHECK_NEAR(s.momentum, 0, 1e-12);
        CHECK_NEAR(s.direction, 0, 1e-12);
        CHECK_NEAR(s.energy, 0, 1e-12);
        printf("  h %g: omega off by %.2g, |L| %.2g, L %.2g, energy %.2g\n", h, error[i],
               s.momentum, s.direction, s.energy);
    }
    CHECK(error[2] < 1e-5);
    CHECK(error[1] < 0.3 * error[0] && error[2] < 0.3 * error[1]); // second order
}

// About the middle axis it flips over and over; |L| and the energy stay.
static void test_middle_axis_flips(void)
{
    kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.001, 'gravity': [0, 0, 0]}, 'bodies': "
                      "[{'name': 'it', 'mesh': {'box': {'x': 0.4, 'y': 0.2, 'z': 0.1}}, 'mass': 8, "
                      "'angular_velocity': [0.01, 10, 0]}]}");
    const carom_body_state start = kit_body(k, "it");
    const double energy = k->energy;
    int flips = 0;
    double before = 1.0;
    k->judge_every = 1000000;
    while (!k->failed && carom_sim_time(k->sim) < 6.0 && kit_step(k)) {
        const carom_body_state s = kit_body(k, "it");
        const cr_quat turned = cr_quat_mul(cr_quat_load(s.quaternion),
                                           cr_quat_conjugate(cr_quat_load(start.quaternion)));
        const double now =
            cr_mat3_tapply(cr_quat_to_matrix(turned), cr_vec3_load(s.angular_velocity)).y;
        flips += before * now < 0.0;
        before = now;
    }
    CHECK(!k->failed);
    CHECK(flips >= 2);
    CHECK_NEAR(k->energy, energy, 1e-11 * energy);
    printf("  %d flips in 6 s, energy off by %.2g\n", flips, k->energy / energy - 1);
    kit_close(k);
}

int main(void)
{
    RUN(test_projectile);
    RUN(test_asymmetric_box);
    RUN(test_middle_axis_flips);
    return check_failures != 0;
}
