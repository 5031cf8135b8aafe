// Scenes that others wrote, with the outcomes they must have. They are found through CAROM_CASES;
// without it nothing is run and the program says so (77).
#include "layer.h"
#include "scenario/scene_kit.h"

static const char* cases;

// The scene of a fixture; "world.friction" and such by carom_scene_set: path, value, ... NULL.
static kit* fixture(const char* name, const char* path, const char* value)
{
    char file[1000], meshes[1000];
    char *text = NULL, *notes = NULL;
    carom_error error = {0};
    snprintf(file, sizeof file, "%s/rigid-ipc/fixtures/%s.json", cases, name);
    snprintf(meshes, sizeof meshes, "%s/rigid-ipc/meshes", cases);
    if (carom_scene_import(file, "rigid-ipc", meshes, &text, &notes, &error) != CAROM_OK) {
        printf("%s\n", error.message);
        check_failures++;
    }
    carom_scene_text_free(notes);
    if (text && path) {
        carom_scene* scene = NULL;
        char* changed = NULL;
        CHECK(carom_scene_parse(text, strlen(text), NULL, &scene, &error) == CAROM_OK);
        CHECK(carom_scene_set(scene, path, value, &error) == CAROM_OK);
        CHECK(carom_scene_text(scene, &changed, &error) == CAROM_OK);
        carom_scene_destroy(scene);
        carom_scene_text_free(text);
        text = changed;
    }
    kit* k = kit_open_text(text ? text : "{}");
    carom_scene_text_free(text);
    return k;
}

static double speed(const carom_body_state* s)
{
    return cr_vec3_norm(cr_vec3_load(s->velocity));
}

// Angle between a body's y axis at the start and now: its tilt, whatever its yaw.
static double tilt_from(const carom_body_state* start, const carom_body_state* now)
{
    const cr_quat d = cr_quat_mul(cr_quat_load(now->quaternion),
                                  cr_quat_conjugate(cr_quat_load(start->quaternion)));
    const cr_vec3 up = cr_mat3_apply(cr_quat_to_matrix(d), (cr_vec3){0, 1, 0});
    return acos(fmin(1.0, fmax(-1.0, up.y)));
}

static void test_five_cubes(void)
{
    kit* k = fixture("unit-tests/5-cubes", NULL, NULL);
    carom_body_state start[5], end[5];
    char name[5][16];
    for (int i = 0; i < 5; i++) {
        snprintf(name[i], sizeof name[i], "body%d", i);
        start[i] = kit_body(k, name[i]);
    }
    kit_run(k, 10.0);
    double worst = 0.0;
    for (int i = 0; i < 5; i++) {
        end[i] = kit_body(k, name[i]);
        // in its layer over what is below, the plane or the cube of half a metre to its top
        const double gap = end[i].position[1] - 0.5 - (i ? end[i - 1].position[1] + 0.5 : -1.0);
        const int32_t below = carom_model_body_find(k->model, i ? name[i - 1] : "body5");
        const int32_t body = carom_model_body_find(k->model, name[i]);
        CHECK(gap > cr_model_thickness(k->model->numbers, body, below));
        CHECK(gap < layer_begins(k->model->numbers, body, below));
        CHECK_NEAR(tilt_from(&start[i], &end[i]), 0, 1e-3);
        CHECK_NEAR(speed(&end[i]), 0, 1e-3); // no friction: what an impact leaves stays
        const cr_vec3 push = kit_impulse(k, name[i], i ? name[i - 1] : "body5");
        worst = fmax(worst, fabs(push.y / (0.01 * 9800 * (5 - i)) - 1));
    }
    CHECK_NEAR(worst, 0, 1e-6);
    CHECK(!k->failed);
    printf("  loads off by %.2g, top at %.6g\n", worst, end[4].position[1]);
    kit_close(k);
}

// Exactly degenerate first contacts: that nothing intersects and energy does not rise is what
// kit_step looks at.
static void test_degenerate_contacts(void)
{
    const char* names[] = {"unit-tests/vertex-vertex", "unit-tests/vertex-face",
                           "unit-tests/edge-edge", "unit-tests/edge-edge-parallel"};
    for (int i = 0; i < 4; i++) {
        kit* k = fixture(names[i], NULL, NULL);
        k->judge_every = 2;
        kit_run(k, 3.0);
        CHECK(!k->failed);
        printf("  %s: at most %d parts\n", names[i], k->most_parts);
        kit_close(k);
    }
}

static void test_tunneling(void)
{
    kit* k = fixture("unit-tests/tunneling", NULL, NULL);
    k->judge_every = 1;
    double most = -HUGE_VAL;
    const cr_surface* s = &k->model->numbers->surface;
    while (!k->failed && carom_sim_time(k->sim) < 1.0 && kit_step(k)) {
        carom_sim_vertices(k->sim, k->x);
        for (int32_t v = s->body_vertex[1]; v < s->body_vertex[2]; v++) {
            most = fmax(most, k->x[3 * v]);
        }
    }
    CHECK(!k->failed);
    CHECK(most < 0);
    printf("  nearest vertex at x = %.3g, velocity %.3g\n", most, kit_body(k, "body1").velocity[0]);
    kit_close(k);
}

// Point on point and edge on edge, 1e-4 m apart: balances or falls aside, never faster than free
// fall from where it started.
static void test_spikes_and_wedges(void)
{
    const char* names[] = {"unit-tests/erleben/spikes", "unit-tests/erleben/wedges"};
    for (int i = 0; i < 2; i++) {
        kit* k = fixture(names[i], NULL, NULL);
        const double top = kit_body(k, "body0").position[1];
        k->judge_every = 1;
        while (!k->failed && carom_sim_time(k->sim) < 1.25 && kit_step(k)) {
            const carom_body_state b = kit_body(k, "body0");
            CHECK(speed(&b) <= sqrt(2 * 9.8 * fmax(0.0, top - b.position[1])) * (1 + 1e-9) + 1e-3);
        }
        CHECK(!k->failed);
        printf("  %s: fell %.3g m, at most %d parts\n", names[i],
               top - kit_body(k, "body0").position[1], k->most_parts);
        kit_close(k);
    }
}

static void test_cliff_and_internal_edges(void)
{
    const char* names[] = {"unit-tests/erleben/cliff-edges", "unit-tests/erleben/internal-edges"};
    for (int i = 0; i < 2; i++) {
        kit* k = fixture(names[i], NULL, NULL);
        const carom_body_state start = kit_body(k, "body0");
        double kick = 0.0;
        while (!k->failed && carom_sim_time(k->sim) < (i ? 5.0 : 2.5) && kit_step(k)) {
            const carom_body_state b = kit_body(k, "body0");
            kick = fmax(
                kick, hypot(b.velocity[0] - start.velocity[0], b.velocity[2] - start.velocity[2]));
        }
        const carom_body_state end = kit_body(k, "body0");
        CHECK(!k->failed);
        CHECK_NEAR(tilt_from(&start, &end), 0, 1e-3);
        CHECK_NEAR(end.velocity[1], 0, 1e-6);
        CHECK_NEAR(kick, 0, 1e-3);
        printf("  %s: tilt %.2g, sideways %.2g m/s\n", names[i], tilt_from(&start, &end), kick);
        kit_close(k);
    }
}

static void test_spike_in_crack(void)
{
    kit* k = fixture("unit-tests/erleben/spike-in-crack", NULL, NULL);
    k->driven = 1; // by a constant force of 1 N
    k->judge_every = 2;
    const carom_body_state start = kit_body(k, "body0");
    const cr_surface* s = &k->model->numbers->surface;
    double most = 0.0;
    while (!k->failed && carom_sim_time(k->sim) < 0.6 && kit_step(k)) {
        // the tip is the vertex that was lowest; it stays in the notch while the body tips
        carom_sim_vertices(k->sim, k->x);
        double low = HUGE_VAL, at = 0.0;
        for (int32_t v = s->body_vertex[0]; v < s->body_vertex[1]; v++) {
            if (k->x[3 * v + 1] < low) {
                low = k->x[3 * v + 1];
                at = k->x[3 * v];
            }
        }
        most = fmax(most, fabs(at));
    }
    kit_run(k, 2.0);
    CHECK(!k->failed);
    printf("  tip strays by %.3g m in 0.6 s, body fell %.3g m\n", most,
           start.position[1] - kit_body(k, "body0").position[1]);
    kit_close(k);
}

// The wing nut's middle axis rate passes through zero at 2.36534 s and every 4.73067 s from then.
static void test_dzhanibekov(void)
{
    kit* k = fixture("unit-tests/rotation/dzhanibekov", "world.dt", "0.001");
    const double flips[] = {2.36534, 7.09601};
    double p[3], l[3] = {0}, before = 0.0, now;
    int found = 0;
    k->judge_every = 1000;
    const carom_energy start = carom_sim_energy(k->sim);
    carom_sim_momentum(k->sim, p, l);
    const double momentum = cr_vec3_norm(cr_vec3_load(l));
    CHECK_NEAR(start.kinetic, 2.468235, 2e-6);
    CHECK_NEAR(momentum, 1.571408, 2e-6);
    while (!k->failed && carom_sim_time(k->sim) < 8.0 && kit_step(k)) {
        // body axes ascend by inertia or not: the middle one is the one that starts fastest
        const carom_body_state b = kit_body(k, "body0");
        const cr_vec3 spin = cr_mat3_tapply(cr_quat_to_matrix(cr_quat_load(b.quaternion)),
                                            cr_vec3_load(b.angular_velocity));
        const double* inertia = k->model->numbers->bodies.inertia;
        int mid = 0;
        for (int i = 0; i < 3; i++) {
            if ((inertia[i] > inertia[(i + 1) % 3]) != (inertia[i] > inertia[(i + 2) % 3])) {
                mid = i;
            }
        }
        now = mid == 0 ? spin.x : mid == 1 ? spin.y : spin.z;
        if (before * now < 0.0 && found < 2) {
            const double at = carom_sim_time(k->sim) - 0.001 * now / (now - before);
            CHECK_NEAR(at, flips[found], 1e-3);
            printf("  flips at %.5f s\n", at);
            found++;
        }
        before = now;
    }
    CHECK(found == 2);
    carom_sim_momentum(k->sim, p, l);
    CHECK_NEAR(cr_vec3_norm(cr_vec3_load(l)), momentum, 1e-12 * momentum);
    kit_close(k);
}

// 26.565 degrees: mu = 0.5 is just enough, 0.49 slides with 0.087644 m/s^2.
static void test_slopes(void)
{
    kit* k = fixture("friction/incline-plane/slopeTest_highSchoolPhysics_mu=0.5", NULL, NULL);
    kit_run(k, 2.0);
    carom_body_state a = kit_body(k, "body0");
    kit_run(k, 6.0);
    carom_body_state b = kit_body(k, "body0");
    CHECK(!k->failed);
    CHECK(kit_apart(&a, &b) / 4.0 <= 1.05e-3); // creep: the smoothing speed, and the last digit of
                                               // 26.565 degrees is beyond the limit
    printf("  mu 0.5: creeps %.3g m/s\n", kit_apart(&a, &b) / 4.0);
    kit_close(k);
    k = fixture("friction/incline-plane/slopeTest_highSchoolPhysics_mu=0.49", NULL, NULL);
    kit_run(k, 1.0);
    a = kit_body(k, "body0");
    kit_run(k, 3.0);
    b = kit_body(k, "body0");
    const double acceleration = (speed(&b) - speed(&a)) / 2.0;
    CHECK(!k->failed);
    CHECK_NEAR(acceleration, 0.087644, 1e-3 * 0.087644);
    printf("  mu 0.49: slides with %.6g m/s^2\n", acceleration);
    kit_close(k);
}

// The arch stands with friction and falls without. Its stones start 0.14 m apart, so that it sinks
// by 2.7 % of its span while they come together in the first second; it is judged from then on.
static double arch_height(const kit* k)
{
    double high = -HUGE_VAL;
    for (int32_t b = 0; !k->failed && b < carom_model_body_count(k->model); b++) {
        carom_body_state s;
        carom_sim_body(k->sim, b, &s);
        high = fmax(high, s.position[1]);
    }
    return high;
}

static void test_arch(void)
{
    const double span = 61.0;
    kit* k = fixture("friction/arch/arch-25-stones", NULL, NULL);
    const double whole = arch_height(k);
    k->judge_every = 100;
    kit_run(k, 1.5);
    const double together = arch_height(k);
    kit_run(k, 6.0);
    const double later = arch_height(k);
    CHECK(!k->failed);
    CHECK(whole - together < 0.03 * span);
    CHECK(fabs(together - later) < 0.01 * span);
    printf("  sinks %.3g of the span while it closes, %.2g after that\n", (whole - together) / span,
           (together - later) / span);
    kit_close(k);

    k = fixture("friction/arch/arch-25-stones", "world.friction", "0");
    k->judge_every = 20;
    kit_run(k, 5.0);
    CHECK(!k->failed);
    CHECK(whole - arch_height(k) > 0.1 * span);
    printf("  without friction it sank %.3g of the span in 5 s\n", (whole - arch_height(k)) / span);
    kit_close(k);
}

// Links never come apart: linked rings stay within two outer radii of each other; at the end they
// hang below the fixed one.
static void test_chain(void)
{
    kit* k = fixture("chain/3-links", NULL, NULL);
    const char* names[] = {"body0", "body1", "body2"};
    const carom_body_state start[3] = {kit_body(k, names[0]), kit_body(k, names[1]),
                                       kit_body(k, names[2])};
    const double link = 1.3 * kit_apart(&start[0], &start[1]);
    k->judge_every = 5;
    while (!k->failed && carom_sim_time(k->sim) < 2.0 && kit_step(k)) {
        const carom_body_state now[3] = {kit_body(k, names[0]), kit_body(k, names[1]),
                                         kit_body(k, names[2])};
        CHECK(kit_apart(&now[0], &now[1]) < link && kit_apart(&now[1], &now[2]) < link);
    }
    CHECK(!k->failed);
    CHECK(kit_body(k, "body1").position[1] < start[0].position[1]);
    printf("  at the end %.3g and %.3g m below, at most %d parts\n",
           start[0].position[1] - kit_body(k, "body1").position[1],
           start[0].position[1] - kit_body(k, "body2").position[1], k->most_parts);
    kit_close(k);
}

int main(void)
{
    cases = getenv("CAROM_CASES");
    if (!cases || !*cases) {
        printf("not run: CAROM_CASES does not name the folder of the external cases\n");
        return 77;
    }
    RUN(test_five_cubes);
    RUN(test_degenerate_contacts);
    RUN(test_tunneling);
    RUN(test_spikes_and_wedges);
    RUN(test_cliff_and_internal_edges);
    RUN(test_spike_in_crack);
    RUN(test_dzhanibekov);
    RUN(test_slopes);
    RUN(test_chain);
    RUN(test_arch);
    return check_failures != 0;
}
