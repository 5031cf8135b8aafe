// One island, several threads: the same bits for any number of them.
#include "check.h"
#include "core/parallel.h"
#include "golden.h"

// A heap of boxes on the floor, and a sheet that falls over a ball: one island each, with enough
// contacts that threads share them.
static const golden_scene scenes[] = {
    {"heap", 30,
     "{'carom': 1, 'world': {'dt': 0.005, 'contact': 'barrier', 'friction': 0.5, 'thickness': "
     "5e-5, 'contact_width': 4.5e-4}, 'bodies': [" GOLDEN_FLOOR
     ", {'mesh': {'box': {'x': 0.1, 'y': 0.09, 'z': 0.08}}, 'position': [-0.11, -0.1, 0.045], "
     "'rotation': [0.02, 0.01, 0.03], 'copies': {'count': [4, 4, 4], 'spacing': [0.108, 0.1, "
     "0.089], 'jitter': [0.002, 0.002, 0.001]}}]}"},
    {"drape", 16,
     "{'carom': 1, 'world': {'dt': 0.01, 'contact': 'barrier', 'friction': 0.5}, 'bodies': "
     "[{'type': 'fixed', 'sphere': {'radius': 0.35}}, {'type': 'cloth', 'position': [0, 0, 0.37], "
     "'mesh': {'sheet': {'width': 1.2, 'height': 1.2, 'nx': 24, 'ny': 24}}}]}"},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

static _Atomic int shared_loops;

void __real_cr_parallel_for(int32_t job_count, int32_t worker_count, cr_parallel_fn* fn,
                            void* user);
void __wrap_cr_parallel_for(int32_t job_count, int32_t worker_count, cr_parallel_fn* fn,
                            void* user);
void __wrap_cr_parallel_for(int32_t job_count, int32_t worker_count, cr_parallel_fn* fn, void* user)
{
    shared_loops += job_count > 1 && worker_count > 1;
    __real_cr_parallel_for(job_count, worker_count, fn, user);
}

static void run(int i, int32_t workers, golden_print* print)
{
    carom_error error = {CAROM_OK, ""};
    const carom_status status = golden_run(&scenes[i], workers, 0, print, &error);
    if (status != CAROM_OK) {
        printf("  %s: %s\n", scenes[i].name, error.message);
    }
    CHECK(status == CAROM_OK);
    CHECK(print->taped == print->states);
}

static void test_an_island_has_the_same_bits_for_any_number_of_threads(void)
{
    for (int i = 0; i < SCENES; i++) {
        golden_print one, print;
        run(i, 1, &one);
        CHECK(one.contacts > 50);
        for (int32_t workers = 2; workers <= 5; workers += workers == 3 ? 2 : 1) {
            shared_loops = 0;
            run(i, workers, &print);
            CHECK(print.states == one.states && print.gradient == one.gradient);
            CHECK(shared_loops > 100); // or it would show nothing
        }
        printf("  %-5s up to %d contacts, %d parts, %d loops shared\n", scenes[i].name,
               (int)one.contacts, (int)one.parts, (int)shared_loops);
    }
}

int main(void)
{
    RUN(test_an_island_has_the_same_bits_for_any_number_of_threads);
    return check_failures != 0;
}
