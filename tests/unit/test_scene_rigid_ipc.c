#include "check.h"
#include "core/memory.h"
#include "scene/build.h"
#include "scene/rigid_ipc.h"
#include <stdlib.h>
#include <string.h>

// {file under fixtures/, bodies, of which can move}
static const struct {
    const char* file;
    int bodies, movers;
} fixtures[] = {
    {"unit-tests/5-cubes.json", 6, 5},
    {"unit-tests/vertex-vertex.json", 3, 1},
    {"unit-tests/vertex-face.json", 2, 1},
    {"unit-tests/edge-edge.json", 2, 1},
    {"unit-tests/edge-edge-parallel.json", 2, 1},
    {"unit-tests/tunneling.json", 2, 1},
    {"unit-tests/erleben/spikes.json", 2, 1},
    {"unit-tests/erleben/wedges.json", 2, 1},
    {"unit-tests/erleben/cliff-edges.json", 2, 1},
    {"unit-tests/erleben/internal-edges.json", 2, 1},
    {"unit-tests/erleben/spike-in-crack.json", 2, 1},
    {"unit-tests/rotation/dzhanibekov.json", 1, 1},
    {"friction/incline-plane/slopeTest_highSchoolPhysics_mu=0.5.json", 2, 1},
    {"friction/incline-plane/slopeTest_highSchoolPhysics_mu=0.49.json", 2, 1},
    {"friction/arch/arch-25-stones.json", 26, 25},
    {"chain/3-links.json", 3, 2},
};

static cr_model* build(const char* path)
{
    char *text = NULL, *notes = NULL;
    carom_error error = {0};
    cr_scene scene = {0};
    cr_model* model = NULL;
    carom_status status = cr_rigid_ipc_import(path, NULL, &text, &notes, &error);
    if (status == CAROM_OK) {
        status = cr_scene_parse(&scene, text, strlen(text), path, ".", &error);
    }
    if (status == CAROM_OK) {
        status = cr_build_model(&scene, &model, &error);
    }
    if (status != CAROM_OK) {
        printf("%s: %s\n", path, error.message);
    }
    for (int32_t i = 0; model && i < model->note_count; i++) {
        printf("%s: note: %s\n", path, model->note[i]);
    }
    CHECK(status == CAROM_OK);
    cr_scene_release(&scene);
    cr_memory_free(text);
    cr_memory_free(notes);
    return model;
}

static const char* cases;

static void test_every_fixture_builds(void)
{
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/rigid-ipc/fixtures/%s", cases, fixtures[i].file);
        cr_model* m = build(path);
        if (!m) {
            continue;
        }
        int movers = 0;
        for (int32_t b = 0; b < m->bodies.body_count; b++) {
            movers += m->bodies.kind[b] == CR_BODY_RIGID;
        }
        CHECK(m->bodies.body_count == fixtures[i].bodies);
        CHECK(movers == fixtures[i].movers);
        cr_model_destroy(m);
    }
}

// Principal moments, energy and angular momentum that the wing nut is known to have.
static void test_wing_nut_weighs_and_spins_as_known(void)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/rigid-ipc/fixtures/unit-tests/rotation/dzhanibekov.json",
             cases);
    cr_model* m = build(path);
    if (!m) {
        return;
    }
    const double* i = m->bodies.inertia;
    const double* w = m->om0;
    CHECK_NEAR(i[0], 0.172807, 1e-6);
    CHECK_NEAR(i[1], 0.499904, 1e-6);
    CHECK_NEAR(i[2], 0.596778, 1e-6);
    CHECK_NEAR(0.5 * (i[0] * w[0] * w[0] + i[1] * w[1] * w[1] + i[2] * w[2] * w[2]), 2.468235,
               1e-6);
    CHECK_NEAR(
        sqrt(i[0] * i[0] * w[0] * w[0] + i[1] * i[1] * w[1] * w[1] + i[2] * i[2] * w[2] * w[2]),
        1.571408, 1e-6);
    cr_model_destroy(m);
}

int main(void)
{
    cases = getenv("CAROM_CASES");
    if (!cases) {
        printf("not run: CAROM_CASES does not say where the external cases are\n");
        return 0;
    }
    RUN(test_every_fixture_builds);
    RUN(test_wing_nut_weighs_and_spins_as_known);
    return check_failures != 0;
}
