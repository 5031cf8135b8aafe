// Random piles, loose and exactly symmetric ones, with and without cloth: a gradient is always
// there and always finite.
#include "grad_kit.h"
#include <stdarg.h>

enum { SCENES = 120, STEPS = 25 };

typedef struct writer {
    char text[8000];
    size_t at;
} writer;

static void add(writer* w, const char* format, ...)
{
    va_list list;
    va_start(list, format);
    w->at += (size_t)vsnprintf(w->text + w->at, sizeof w->text - w->at, format, list);
    va_end(list);
}

// Bodies in columns, each above the one before with a small gap; symmetric ones neither stray, turn
// nor move.
static void write_scene(writer* w, uint64_t seed, int symmetric)
{
    const int bodies = 1 + (int)check_random(&seed, 0, 4);
    const int cloth = check_random(&seed, 0, 1) < 0.25;
    add(w,
        "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': %g}, 'bodies': ["
        "{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 5, 'height': 4, 'nx': 1,"
        " 'ny': 1}}}",
        check_random(&seed, 0, 1) < 0.3 ? 0.0 : check_random(&seed, 0.1, 0.8));
    double z = 0.001;
    for (int i = 0; i < bodies; i++) {
        const double size = check_random(&seed, 0.15, 0.4), s = symmetric ? 0.0 : 1.0;
        const int ball = check_random(&seed, 0, 1) < 0.3;
        const double half = ball ? size / 2 : symmetric ? size / 2 : 0.9 * size;
        z += half + 0.001;
        add(w, ", {'name': 'b%d', 'restitution': %g, %s, 'position': [%g, %g, %.9g]", i,
            check_random(&seed, 0, 1) < 0.5 ? 0.0 : 0.5, "'density': 500",
            s * check_random(&seed, -0.05, 0.05), s * check_random(&seed, -0.05, 0.05), z);
        if (ball) {
            add(w, ", 'sphere': {'radius': %.9g}", size / 2);
        } else {
            add(w, ", 'mesh': {'box': {'size': [%.9g, %.9g, %.9g]}}, 'euler_degrees': [%g, %g, %g]",
                size, size, size, s * check_random(&seed, -90, 90),
                s * check_random(&seed, -90, 90), s * check_random(&seed, -90, 90));
        }
        add(w, ", 'velocity': [%g, %g, %g]}", s * check_random(&seed, -1, 1),
            s * check_random(&seed, -1, 1), s * check_random(&seed, -2, 0));
        z += half;
    }
    if (cloth) {
        add(w,
            ", {'name': 'sheet', 'type': 'cloth', 'mesh': {'sheet': {'width': 0.6, 'height': 0.6,"
            " 'nx': 3, 'ny': 3}}, 'position': [0, 0, %.9g], 'stretch': 100, 'damping': 0.01}",
            z + 0.01);
    }
    add(w, "], 'objective': {'terms': [{'what': 'position', 'of': 'b0', 'target': [0.1, 0, 0.2]},"
           " {'what': 'energy'}]}, 'parameters': [{'what': 'gravity'}");
    for (int i = 0; i < bodies; i++) {
        add(w,
            ", {'of': 'b%d', 'what': 'velocity'}, {'of': 'b%d', 'what': 'mass'}, {'of': 'b%d',"
            " 'what': 'friction'}, {'of': 'b%d', 'what': 'restitution'}",
            i, i, i, i);
    }
    add(w, "]}");
}

int main(void)
{
    int failed = 0, unsolved = 0;
    for (int i = 0; i < SCENES; i++) {
        writer w = {.at = 0};
        write_scene(&w, 77u + (uint64_t)i, i % 4 == 0);
        grad_kit kit;
        if (!grad_kit_open(&kit, w.text, STEPS, 0)) {
            printf("scene %d: %s\n", i, w.text);
            grad_kit_close(&kit);
            continue;
        }
        carom_error error = {0};
        double value;
        const carom_status status =
            cr_problem_gradient(&kit.problem, kit.theta, &value, kit.dtheta, &error);
        if (status != CAROM_OK) {
            printf("scene %d: %s\n%s\n", i, error.message, w.text);
            failed += status != CAROM_ERR_NO_CONVERGENCE;
            unsolved += status == CAROM_ERR_NO_CONVERGENCE;
        }
        double sum = 0.0;
        for (int32_t k = 0; k < kit.size && status == CAROM_OK; k++) {
            CHECK(isfinite(kit.dtheta[k]));
            sum += fabs(kit.dtheta[k]);
        }
        CHECK(status != CAROM_OK || sum > 0.0);
        grad_kit_close(&kit);
    }
    printf("%d random scenes, %d without a gradient, %d whose run failed\n", SCENES, failed,
           unsolved);
    CHECK(failed == 0);
    CHECK(unsolved <= SCENES / 50); // a matter of the way forward
    return check_failures != 0;
}
