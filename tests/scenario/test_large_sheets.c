// Large sheets in short steps.
#include "scenario/scene_kit.h"

// A large sheet in short steps is solved by sweeps: no factor, as exact, with friction and without,
// touched and not. Pressed together hard in its plane and without friction it is not: there a
// factor has to tell whether the matrix is positive.
static void test_large_sheets_need_no_factors(void)
{
    const double friction[] = {0.5, 0.0};
    for (int kind = 0; kind < 2; kind++) {
        kit* k = kit_open(
            "{'carom': 1, 'world': {'dt': 0.00025, 'contact': 'barrier', 'friction': %g}, "
            "'bodies': [{'name': 'sheet', "
            "'type': 'cloth', 'mesh': {'sheet': {'width': 1, 'height': 1, 'nx': 26, 'ny': 26}}, "
            "'stretch': 1000, 'density': 0.374, 'damping': 0.005, 'bend': 1e-4, 'pins': [{'nodes': "
            "'border'}]}, {'name': 'ball', 'sphere': {'radius': 0.1}, 'velocity': [1, 0, -3], "
            "'angular_velocity': [0, 30, 0], 'mass': 0.3, 'position': [0, 0, 0.12]}]}",
            friction[kind]);
        int64_t factors[2] = {0, 0}, steps[2] = {0, 0};
        double residual = 0.0;
        for (int i = 0; i < 80 && kit_step(k); i++) {
            const carom_step_info info = carom_sim_info(k->sim);
            const int touched = info.contacts > 0;
            factors[touched] += info.factorisations;
            steps[touched]++;
            residual = fmax(residual, info.residual);
        }
        printf(
            "  friction %g: %lld factors in %lld steps untouched, %lld in %lld touched, residual "
            "at most %.1g\n",
            friction[kind], (long long)factors[0], (long long)steps[0], (long long)factors[1],
            (long long)steps[1], residual);
        CHECK(!k->failed && steps[0] > 0 && steps[1] > 20);
        CHECK(factors[0] == 0);
        CHECK(4 * factors[1] <= steps[1]);
        CHECK(residual < 1e-8); // below it stiff forces cancel to more than it can show
        kit_close(k);
    }
    // as it is at rest, and four fifths of that
    const double scales[] = {1.0, 1.25};
    for (int i = 0; i < 2; i++) {
        kit* k = kit_open("{'carom': 1, 'world': {'dt': 0.0006, 'contact': 'barrier', 'gravity': "
                          "[0, 0, 0]}, 'bodies': "
                          "[{'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 1, "
                          "'height': 1, 'nx': 26, 'ny': 26}}, 'rest_scale': %g, 'density': 0.374, "
                          "'stretch': 1000, 'velocity': [0, 0, 1], 'pins': [{'nodes': "
                          "'border'}]}]}",
                          scales[i]);
        k->driven = 1; // what is pressed together curves the other way: implicit Euler may gain
        CHECK(kit_step(k) && (carom_sim_info(k->sim).factorisations > 0) == i);
        kit_close(k);
    }
}

int main(void)
{
    RUN(test_large_sheets_need_no_factors);
    return check_failures != 0;
}
