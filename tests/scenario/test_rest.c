// Drop and rest: what lies still stays where it is, at any step, and its contacts carry its weight.
#include "scenario/scene_kit.h"

static const double gravity = 9.81;
static const double steps_per_second[] = {24, 60, 200, 1000};

// The ground is a plane of zero thickness and two triangles.
#define GROUND                                                                                     \
    "{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 8, 'height': 8, 'nx': 1, "    \
    "'ny': 1}}}"

// At rest for so many seconds after a fall: how far the body strays, how much it turns,
// what it weighs.
static void rest(const char* shape, double mass, double drop, double friction, double watch)
{
    for (int i = 0; i < 4; i++) {
        kit* k = kit_open("{'carom': 1, 'world': {'dt': %.17g, 'friction': %g}, 'bodies': [" GROUND
                          ", {'name': 'it', %s, 'mass': %.17g, 'position': [0.1, 0.2, %.17g]}]}",
                          1 / steps_per_second[i], friction, shape, mass, drop);
        const double h = 1 / steps_per_second[i];
        k->judge_every = 200;
        kit_run(k, i < 3 ? 2.0 : 1.0);
        const double since = k->failed ? 0.0 : carom_sim_time(k->sim);
        const carom_body_state start = kit_body(k, "it");
        double most = 0.0, off = 0.0;
        while (!k->failed && carom_sim_time(k->sim) < since + watch - 0.5 * h && kit_step(k)) {
            const carom_body_state now = kit_body(k, "it");
            most = fmax(most, kit_apart(&start, &now));
            const cr_vec3 push = kit_impulse(k, "it", "ground");
            off = fmax(off, cr_vec3_norm((cr_vec3){push.x, push.y, push.z - mass * gravity * h}));
        }
        const carom_body_state end = kit_body(k, "it");
        CHECK(!k->failed);
        CHECK_NEAR(most, 0, 1e-6);
        CHECK_NEAR(kit_tilt(&start, &end), 0, 1e-6);
        CHECK_NEAR(off, 0, 1e-6 * mass * gravity * h);
        printf("  h 1/%-4.0f drift %.2g m, tilt %.2g, impulse off by %.2g of m g h\n",
               steps_per_second[i], most, kit_tilt(&start, &end), off / (mass * gravity * h));
        kit_close(k);
    }
}

static void test_a_box_rests_without_friction(void)
{
    rest("'mesh': {'box': {'x': 0.4, 'y': 0.3, 'z': 0.2}}", 2.5, 0.3, 0.0, 10.0);
}

static void test_a_box_rests_with_friction(void)
{
    rest("'mesh': {'box': {'x': 0.4, 'y': 0.3, 'z': 0.2}}", 2.5, 0.3, 0.5, 10.0);
}

static void test_a_box_dropped_on_its_edge_comes_to_rest(void)
{
    rest("'mesh': {'box': {'x': 0.4, 'y': 0.3, 'z': 0.2}}, 'rotation': [0.3, 0.2, 0]", 2.5, 0.3,
         0.5, 10.0);
}

static void test_a_sphere_rests(void)
{
    rest("'sphere': {'radius': 0.1}", 1.0, 0.3, 0.5, 10.0);
}

static void test_a_capsule_rests(void)
{
    rest("'capsule': {'radius': 0.1, 'length': 0.5}, 'rotation': [0, 1.5707963267948966, 0]", 1.0,
         0.3, 0.5, 10.0);
}

// A round foot of 24 corners: as redundant as supports get.
static void test_a_cylinder_rests(void)
{
    rest("'mesh': {'cylinder': {'radius': 0.1, 'height': 0.2, 'segments': 24}}", 1.0, 0.3, 0.5,
         10.0);
}

// The k-th interface from above carries k m g. With neither shift nor taper the boxes are exactly
// aligned: corner on corner, edge on edge. A rounded edge over a rounded edge is an unstable
// balance, so flush edges are kept by symmetry alone; a taper keeps every corner over a face.
static void stack(int count, double friction, double gap, double shift, double taper, double watch)
{
    const double masses[] = {1.0, 2.0};
    // watched for so long, or (0) the longer the cheaper it is; layers make a tower sway, slowest
    // at 60 rad/s, which steps of length h damp by h 60^2/2 a second
    const double settled[] = {1.0, 1.0, 2.0, 8.0}, until[] = {11.0, 4.0, 3.0, 8.2};
    for (int m = watch > 0.0; m < 2; m++) {
        for (int i = 0; i < 4; i++) {
            const double h = 1 / steps_per_second[i];
            char bodies[8000] = "";
            double z = 0.0;
            for (int b = 0; b < count; b++) {
                char* one = kit_text(", {'name': 'b%d', 'mesh': {'box': {'x': 0.2, 'y': %g, 'z': "
                                     "0.2}}, 'mass': %g, 'position': [%g, 0, %.17g]}",
                                     b, 0.2 - b * taper, b % 2 ? masses[m] : 1.0,
                                     b % 2 ? shift : 0.0, z + 0.1 + (b ? gap : fmin(gap, 1e-4)));
                strcat(bodies, one);
                free(one);
                z += 0.2 + (b ? gap : fmin(gap, 1e-4));
            }
            kit* k = kit_open("{'carom': 1, 'world': {'dt': %.17g, 'friction': %g}, 'bodies': "
                              "[" GROUND "%s]}",
                              h, friction, bodies);
            k->judge_every = 100;
            kit_run(k, settled[i]);
            const carom_body_state before = kit_body(k, k->failed ? "ground" : "b0");
            char top_name[16];
            snprintf(top_name, sizeof top_name, "b%d", count - 1);
            const carom_body_state top = kit_body(k, top_name);
            kit_run(k, watch > 0.0 ? settled[i] + watch : until[i]);
            const carom_body_state after = kit_body(k, "b0"), top_after = kit_body(k, top_name);
            double above = 0.0, worst = 0.0;
            for (int b = count - 1; b >= 0; b--) {
                char name[16], below[16];
                snprintf(name, sizeof name, "b%d", b);
                snprintf(below, sizeof below, b ? "b%d" : "ground", b - 1);
                above += b % 2 ? masses[m] : 1.0;
                const cr_vec3 push = kit_impulse(k, name, below);
                worst = fmax(worst, fabs(push.z / (above * gravity * h) - 1));
            }
            CHECK(!k->failed);
            CHECK_NEAR(worst, 0, 1e-6);
            CHECK_NEAR(kit_apart(&before, &after), 0, 1e-6);
            CHECK_NEAR(kit_apart(&top, &top_after), 0, 1e-6);
            printf("  %d boxes, masses 1 and %g, h 1/%-4.0f loads off by %.2g, drift %.2g\n", count,
                   masses[m], steps_per_second[i], worst,
                   fmax(kit_apart(&before, &after), kit_apart(&top, &top_after)));
            kit_close(k);
        }
    }
}

static void test_an_aligned_stack_carries_its_weight(void)
{
    stack(5, 0.5, 1.5e-3, 0.0, 0.0, 0);
}

// Without friction nothing brings a stack back that was pushed aside: it starts in place, every
// pair of faces at the distance it touches at (a layer of 5e-4 of 0.2 m on each box).
static void test_an_aligned_stack_without_friction(void)
{
    stack(5, 0.0, 2e-4, 0.0, 0.0, 0);
}

static void test_a_staggered_stack(void)
{
    stack(5, 0.5, 1.5e-3, 0.05, 0.01, 0);
}

static void test_a_stack_of_three_for_ten_seconds(void)
{
    stack(3, 0.5, 1.5e-3, 0.03, 0.01, 10);
}

static void test_a_stack_dropped_into_place(void)
{
    stack(4, 0.5, 0.02, 0.03, 0.01, 0);
}

// Boxes without friction that fall by a millimetre into place: whatever an impact leaves sideways,
// nothing stops. Every second one is smaller, so that corners stand over faces: corners over
// corners are an unstable balance.
static void test_a_smooth_stack_dropped_into_place(void)
{
    const double rates[] = {24, 60, 200, 1000};
    for (int i = 0; i < 4; i++) {
        char bodies[4000] = "";
        for (int b = 0; b < 5; b++) {
            char* one = kit_text(", {'name': 'b%d', 'mesh': {'box': {'x': %g, 'y': %g, 'z': "
                                 "0.2}}, 'mass': 1, 'position': [0, 0, %.17g]}",
                                 b, b % 2 ? 0.18 : 0.2, b % 2 ? 0.18 : 0.2, 0.1015 + 0.2015 * b);
            strcat(bodies, one);
            free(one);
        }
        kit* k = kit_open("{'carom': 1, 'world': {'dt': %.17g, 'friction': 0}, 'bodies': [{'name': "
                          "'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 8, 'height': 8, "
                          "'nx': 1, 'ny': 1}}}%s]}",
                          1 / rates[i], bodies);
        k->judge_every = 100;
        const double settled = fmax(1.0, 8e-3 * rates[i]);
        kit_run(k, settled);
        const carom_body_state before = kit_body(k, "b0"), top = kit_body(k, "b4");
        kit_run(k, settled + 3.0);
        const carom_body_state after = kit_body(k, "b0"), top_after = kit_body(k, "b4");
        CHECK(!k->failed);
        CHECK_NEAR(kit_apart(&before, &after), 0, 1e-6);
        CHECK_NEAR(kit_apart(&top, &top_after), 0, 1e-6);
        printf("  h 1/%-4.0f drift %.2g\n", rates[i],
               fmax(kit_apart(&before, &after), kit_apart(&top, &top_after)));
        kit_close(k);
    }
}

// A contact stands as deep under its load as in a whole step when the step is taken in parts: a
// heap at rest that is suddenly stepped in 2, 4, ... 32 of them, for a disc on top that begins to
// spin where nothing rubs, stays where it is. If it gave way by the length of a part, three
// quarters of the give and more would be lifted, heavy on light by 1e-4 of the thickness.
static void test_a_heap_stepped_in_parts_does_not_rise(void)
{
    for (int i = 0; i < 10; i++) {
        const double h = 1 / steps_per_second[i / 5], turn = 1.5 * (1 << i % 5);
        kit* k = kit_open("{'carom': 1, 'world': {'dt': %.17g, 'friction': 0}, 'bodies': [" GROUND
                          ", {'name': 'light', 'mesh': {'box': {'x': 0.4, 'y': 0.4, 'z': 0.1}}, "
                          "'mass': 0.1, 'position': [0, 0, 0.051]}"
                          ", {'name': 'heavy', 'mesh': {'box': {'x': 0.3, 'y': 0.3, 'z': 0.3}}, "
                          "'mass': 100, 'position': [0, 0, 0.252]}"
                          ", {'name': 'disc', 'mesh': {'cylinder': {'radius': 0.1, 'height': 0.05, "
                          "'segments': 12}}, 'mass': 1, 'position': [0, 0, 0.428]}]}",
                          h);
        kit_run(k, 1.0);
        const carom_body_state before = kit_body(k, "heavy");
        const double give = k->failed ? 0.0 : -carom_sim_info(k->sim).least_gap;
        if (!k->failed) {
            k->sim->sim->state.om[3 * 3 + 2] = turn / h; // the disc is the last frame
            k->energy = kit_energy_of(k, k->sim);
            k->most_parts = 0;
        }
        double most = 0.0;
        for (int s = 0; s < 4 && kit_step(k); s++) {
            const carom_body_state now = kit_body(k, "heavy");
            most = fmax(most, now.position[2] - before.position[2]);
        }
        CHECK(!k->failed && k->most_parts == 2 << i % 5);
        CHECK(give > 1e-7 && most <= 0.01 * give);
        printf("  h 1/%-3.0f in %2d parts: stands %.3g m deep, rises by %.2g m\n", 1 / h,
               k->most_parts, give, most);
        kit_close(k);
    }
}

int main(void)
{
    RUN(test_a_box_rests_without_friction);
    RUN(test_a_box_rests_with_friction);
    RUN(test_a_box_dropped_on_its_edge_comes_to_rest);
    RUN(test_a_sphere_rests);
    RUN(test_a_capsule_rests);
    RUN(test_a_cylinder_rests);
    RUN(test_an_aligned_stack_carries_its_weight);
    RUN(test_an_aligned_stack_without_friction);
    RUN(test_a_staggered_stack);
    RUN(test_a_stack_of_three_for_ten_seconds);
    RUN(test_a_stack_dropped_into_place);
    RUN(test_a_smooth_stack_dropped_into_place);
    RUN(test_a_heap_stepped_in_parts_does_not_rise);
    return check_failures != 0;
}
