// Steps that end after so many Newton iterations, and those of linearised sheets: nothing
// intersects, the report says what is left, and no tape takes what is not solved.
#include "adjoint/tape.h"
#include "scene_kit.h"

#define DRAPE(WORLD)                                                                               \
    "{'carom': 1, 'world': {'dt': 0.0166, 'friction': 0.5, 'contact': 'barrier', " WORLD           \
    "}, 'bodies': [{'name': 'ball', 'type': 'fixed', 'sphere': {'radius': 0.35}}, {'name': "       \
    "'sheet', 'type': 'cloth', 'position': [0, 0, 0.45], 'mesh': {'sheet': {'width': 1.6, "        \
    "'height': 1.6, 'nx': 13, 'ny': 13}}}]}"

// Runs 1.2 s; the largest residual and how many steps were not solved.
static double fall(kit* k, int* unfinished)
{
    double residual = 0.0;
    k->judge_every = 3;
    for (int i = 0; i < 72 && !k->failed; i++) {
        kit_step(k);
        const carom_step_info info = carom_sim_info(k->sim);
        residual = fmax(residual, info.residual);
        *unfinished += info.unfinished;
        CHECK(info.iterations <= 4 * info.zones || info.unfinished == 0);
    }
    CHECK(!k->failed);
    return residual;
}

static void test_budget_reports_its_residual(void)
{
    int unfinished = 0, solved = 0;
    kit* k = kit_open(DRAPE("'iteration_budget': 4"));
    CHECK(fall(k, &unfinished) > 1e-6);
    CHECK(unfinished > 20);
    CHECK(carom_sim_energy(k->sim).total < 2.3); // it has fallen, and what it lost is lost
    kit_close(k);
    k = kit_open(DRAPE("'iteration_budget': 1000"));
    CHECK(fall(k, &solved) < 1e-8);
    CHECK(solved == 0);
    kit_close(k);
}

static void test_linearized_steps_are_solved(void)
{
    int unfinished = 0;
    kit* k = kit_open(DRAPE("'elasticity': 'linearized'"));
    CHECK(fall(k, &unfinished) < 1e-8);
    CHECK(unfinished == 0);
    kit_close(k);
}

// Only a step that may end unsolved is refused, and then nothing has moved.
static void test_tape_refuses_a_budget(void)
{
    kit* k = kit_open(DRAPE("'iteration_budget': 4"));
    carom_error error = {0};
    cr_tape* tape = NULL;
    const cr_model* model = k->model->numbers;
    CHECK(cr_tape_create(model, 1, 0, &tape) == CAROM_OK);
    cr_sim* sim = NULL;
    CHECK(cr_sim_create(model, 1, &sim) == CAROM_OK);
    CHECK(cr_tape_step(tape, sim, &error) == CAROM_ERR_MISUSE);
    CHECK(strstr(error.message, "world.iteration_budget") != NULL);
    CHECK(cr_sim_state(sim)->step == 0);
    cr_sim_destroy(sim);
    cr_tape_destroy(tape);
    kit_close(k);
}

// Four iterations of a heap of boxes: it stays apart and comes to rest all the same.
static void test_budget_of_bodies(void)
{
    kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.01, 'friction': 0.5, 'contact': 'barrier', "
                      "'iteration_budget': 3}, 'bodies': [{'name': 'floor', 'type': 'fixed', "
                      "'mesh': {'sheet': {'width': 4, 'height': 4, 'nx': 2, 'ny': 2}}}, {'name': "
                      "'low', 'mesh': {'box': {'size': [0.3, 0.3, 0.2]}}, 'position': [0, 0, 0.2], "
                      "'euler_degrees': [20, 10, 0]}, {'name': 'high', 'mesh': {'box': {'size': "
                      "[0.2, 0.2, 0.2]}}, 'position': [0.05, 0.02, 0.5], 'euler_degrees': [5, 30, "
                      "9]}]}");
    int unfinished = 0;
    k->judge_every = 1;
    for (int i = 0; i < 300 && !k->failed; i++) {
        kit_step(k);
        unfinished += carom_sim_info(k->sim).unfinished;
    }
    CHECK(!k->failed && unfinished > 0);
    CHECK(carom_sim_energy(k->sim).kinetic < 1e-2);
    kit_close(k);
}

int main(void)
{
    RUN(test_budget_reports_its_residual);
    RUN(test_linearized_steps_are_solved);
    RUN(test_tape_refuses_a_budget);
    RUN(test_budget_of_bodies);
    return check_failures != 0;
}
