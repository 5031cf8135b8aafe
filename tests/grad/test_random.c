// Random scenes, a thousand of them: loose piles, exactly symmetric ones, cloth upon them, and
// contacts that only graze. A gradient is always there and always finite, and at a kink it is that
// of one side.
#include "grad_kit.h"
#include <stdarg.h>

enum { PILES = 750, PILE_STEPS = 25, GRAZES = 250, GRAZE_STEPS = 4, MOST_NUMBERS = 100 };

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
// nor move. Pile i, with its energy in the objective or without.
static void write_scene(writer* w, int i, int energy)
{
    uint64_t seed = 77u + (uint64_t)i;
    const int symmetric = i % 4 == 0;
    const int bodies = 1 + (int)check_random(&seed, 0, 4);
    const int cloth = check_random(&seed, 0, 1) < 0.25;
    add(w,
        "{'carom': 1, 'world': {'dt': 0.01, 'friction_speed': 0.01, 'friction': %g}, 'bodies': ["
        "{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet': {'width': 5, 'height': 4, 'nx': 1,"
        " 'ny': 1}}}",
        check_random(&seed, 0, 1) < 0.3 ? 0.0 : check_random(&seed, 0.1, 0.8));
    double z = 0.001;
    for (int b = 0; b < bodies; b++) {
        const double size = check_random(&seed, 0.15, 0.4), s = symmetric ? 0.0 : 1.0;
        const int ball = check_random(&seed, 0, 1) < 0.3;
        const double half = ball ? size / 2 : symmetric ? size / 2 : 0.9 * size;
        z += half + 0.001;
        add(w, ", {'name': 'b%d', 'restitution': %g, %s, 'position': [%g, %g, %.9g]", b,
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
    add(w,
        "], 'objective': {'terms': [{'what': 'position', 'of': 'b0', 'target': [0.1, 0, 0.2]}%s]},"
        " 'parameters': [{'what': 'gravity'}",
        energy ? ", {'what': 'energy'}" : "");
    for (int b = 0; b < bodies; b++) {
        add(w,
            ", {'of': 'b%d', 'what': 'velocity'}, {'of': 'b%d', 'what': 'mass'}, {'of': 'b%d',"
            " 'what': 'friction'}, {'of': 'b%d', 'what': 'restitution'}",
            b, b, b, b);
    }
    add(w, "]}");
}

// The derivative along d from one side, by two steps extrapolated; NaN when a run fails.
static double along(grad_kit* kit, const double* d, double value, double step)
{
    carom_error error = {0};
    double moved[MOST_NUMBERS], slope[2];
    for (int half = 0; half < 2; half++) {
        const double s = half ? step / 2 : step;
        for (int32_t k = 0; k < kit->size; k++) {
            moved[k] = kit->theta[k] + s * d[k];
        }
        double f;
        if (cr_problem_value(&kit->problem, moved, &f, &error) != CAROM_OK) {
            return (double)NAN;
        }
        slope[half] = (f - value) / s;
    }
    return 2 * slope[1] - slope[0];
}

// What a run's value is known to, in units of its last place: thousands of roundings on the way.
static const double value_noise = 64 * 0x1p-53;

// What a direction says of the gradient.
enum { OF_NO_SIDE, OF_A_SIDE, TOO_FLAT };

// Whether the gradient along d is the derivative from above or below, by steps of all sizes: what
// happens on the way depends on them, and the next kink may be a millionth away. A step says
// something as long as the noise of its difference is a small part of the slope.
static int by_differences(grad_kit* kit, const double* d, double g, double value)
{
    double step = 1e-2;
    for (int i = 0; i < 7; i++) {
        step *= 0.1;
        const double noise = 3 * value_noise * fabs(value) / step;
        if (noise > 0.05 * fabs(g)) {
            return step > 1e-6 ? TOO_FLAT : OF_NO_SIDE;
        }
        if (fabs(along(kit, d, value, step) - g) < 1e-3 * fabs(g) + noise ||
            fabs(along(kit, d, value, -step) - g) < 1e-3 * fabs(g) + noise) {
            return OF_A_SIDE;
        }
    }
    return OF_NO_SIDE;
}

// Where the next kink is nearer than differences can tell, gradients beside this one do: those of
// one side go over into it, and those of the other side are others. They have no noise to speak of,
// and are differentiated themselves in test_gradcheck.
static int goes_over(grad_kit* kit, const double* d, double g)
{
    double step = 1e-6;
    for (int i = 0; i < 4; i++) {
        step *= 0.1;
        double sum[2] = {0, 0};
        for (int side = 0; side < 2; side++) {
            double moved[MOST_NUMBERS], beside[MOST_NUMBERS], value;
            carom_error error = {0};
            for (int32_t k = 0; k < kit->size; k++) {
                moved[k] = kit->theta[k] + (side ? step : -step) * d[k];
            }
            if (cr_problem_gradient(&kit->problem, moved, &value, beside, &error) != CAROM_OK) {
                return 0;
            }
            for (int32_t k = 0; k < kit->size; k++) {
                sum[side] += d[k] * beside[k];
            }
        }
        const double close = 1e-3 * fabs(g);
        if ((fabs(sum[0] - g) < close) != (fabs(sum[1] - g) < close)) {
            return 1;
        }
    }
    return 0;
}

// Along a random change of all velocities; where that leaves too little of a slope to be measured,
// along one that raises the value by each of them.
static int side_of(grad_kit* kit, double value, uint64_t seed)
{
    CHECK(kit->size <= MOST_NUMBERS);
    int verdict = TOO_FLAT;
    for (int uphill = 0; uphill < 2 && verdict == TOO_FLAT; uphill++) {
        double d[MOST_NUMBERS] = {0}, g = 0.0;
        for (int32_t i = 0; i < cr_parameters_count(kit->problem.parameters); i++) {
            const cr_parameters_slot* slot = cr_parameters_slot_at(kit->problem.parameters, i);
            for (int32_t k = slot->first; k < slot->first + slot->count; k++) {
                d[k] = slot->what == CR_GOAL_OF_VELOCITY ? check_random(&seed, -1, 1) : 0.0;
                d[k] = uphill ? copysign(d[k], kit->dtheta[k]) : d[k];
                g += d[k] * kit->dtheta[k];
            }
        }
        verdict = by_differences(kit, d, g, value);
        if (verdict != OF_A_SIDE && goes_over(kit, d, g)) {
            verdict = OF_A_SIDE;
        }
    }
    return verdict;
}

// The energy of a pile is that of its weight and hardly knows its velocities. Where it drowns what
// they do, the place of a body alone tells: its own numbers are as small as its changes.
static int side_without_energy(int i)
{
    writer w = {.at = 0};
    write_scene(&w, i, 0);
    grad_kit kit;
    int verdict = OF_NO_SIDE;
    if (grad_kit_open(&kit, w.text, PILE_STEPS, 0)) {
        const double value = grad_kit_run(&kit);
        verdict = side_of(&kit, value, (uint64_t)i);
    }
    grad_kit_close(&kit);
    return verdict;
}

static void test_piles(void)
{
    int failed = 0, unsolved = 0, touched = 0, kinks = 0, agree = 0, flat = 0;
    for (int i = 0; i < PILES; i++) {
        writer w = {.at = 0};
        write_scene(&w, i, 1);
        grad_kit kit;
        if (!grad_kit_open(&kit, w.text, PILE_STEPS, 0)) {
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
        touched += kit.problem.max_contacts > 0 || kit.problem.impacts > 0;
        if (status == CAROM_OK && kit.problem.weakly_active > 0) {
            kinks++;
            int verdict = side_of(&kit, value, (uint64_t)i);
            if (verdict == TOO_FLAT) {
                flat++;
                verdict = side_without_energy(i);
            }
            agree += verdict == OF_A_SIDE;
            if (verdict != OF_A_SIDE) {
                printf("  scene %d: %s\n", i, verdict == TOO_FLAT ? "too flat" : "of no side");
            }
        }
        grad_kit_close(&kit);
    }
    printf("  %d piles, %d of them in contact; %d without a gradient, %d whose run failed\n", PILES,
           touched, failed, unsolved);
    printf("  %d have contacts without force, at %d of them the gradient is that of a side (%d "
           "told by "
           "a place alone)\n",
           kinks, agree, flat);
    CHECK(failed == 0);
    CHECK(touched > PILES / 2);
    CHECK(unsolved == 0);
    CHECK(kinks > 0 && agree == kinks);
}

// ---- grazing

// Without gravity, something that just touches the ground and moves along it. Whether the contact
// acts is decided by the sign of its vertical speed, which is 0.
static void write_graze(writer* w, uint64_t seed)
{
    static const char* const shapes[] = {"'sphere': {'radius': 0.1}",
                                         "'mesh': {'box': {'size': [0.2, 0.2, 0.2]}}",
                                         "'mesh': {'sphere': {'radius': 0.1, 'subdivisions': 1}}",
                                         "'mesh': {'box': {'size': [0.3, 0.1, 0.2]}}"};
    const int shape = (int)check_random(&seed, 0, 4); // a ball's radius is its layer
    add(w,
        "{'carom': 1, 'world': {'dt': 0.01, 'gravity': [0, 0, 0], 'thickness': 1e-3,"
        " 'friction': %g}, 'bodies': [{'name': 'ground', 'type': 'fixed', 'mesh': {'sheet':"
        " {'width': 5, 'height': 4, 'nx': 1, 'ny': 1}}}, {'name': 'b', %s, 'density': 500,"
        " 'position': [%g, %g, %g], 'velocity': [%g, %g, 0], 'restitution': %g}],",
        check_random(&seed, 0, 1) < 0.5 ? 0.0 : 0.4, shapes[shape], check_random(&seed, -1, 1),
        check_random(&seed, -1, 1), shape == 0 ? 0.101 : 0.102, check_random(&seed, -1, 1),
        check_random(&seed, -1, 1), check_random(&seed, 0, 1) < 0.5 ? 0.0 : 0.5);
    add(w, "'objective': {'terms': [{'what': 'position', 'of': 'b', 'target': [0.1, 0, 0.3]},"
           " {'what': 'velocity', 'of': 'b', 'target': [0, 0, 0.2]}]},"
           "'parameters': [{'of': 'b', 'what': 'velocity'}]}");
}

static double value_at(grad_kit* kit, double vz)
{
    carom_error error = {0};
    const double theta[3] = {kit->theta[0], kit->theta[1], vz};
    double value = (double)NAN;
    CHECK(cr_problem_value(&kit->problem, theta, &value, &error) == CAROM_OK);
    return value;
}

// The derivative by the vertical speed on one side, by two steps extrapolated.
static double one_sided(grad_kit* kit, double value, double step)
{
    const double whole = (value_at(kit, step) - value) / step;
    const double half = (value_at(kit, step / 2) - value) / (step / 2);
    return 2 * half - whole;
}

static void test_grazes(void)
{
    int kinks = 0, flagged = 0, of_up = 0, of_down = 0;
    for (int i = 0; i < GRAZES; i++) {
        writer w = {.at = 0};
        write_graze(&w, 7700u + (uint64_t)i);
        grad_kit kit;
        if (grad_kit_open(&kit, w.text, GRAZE_STEPS, 0)) {
            const double value = grad_kit_run(&kit);
            const int flag = kit.problem.weakly_active > 0;
            const double g = kit.dtheta[2];
            CHECK(isfinite(kit.dtheta[0]) && isfinite(kit.dtheta[1]) && isfinite(g));
            const double up = one_sided(&kit, value, 1e-4), down = one_sided(&kit, value, -1e-4);
            const double close = 1e-4 * fmax(fabs(up), fabs(down));
            const int kink = fabs(up - down) > close;
            const int is_up = fabs(g - up) < close, is_down = fabs(g - down) < close;
            if (!(is_up || is_down) || (kink && !flag)) {
                printf("scene %d: %.9g, above %.9g, below %.9g, flagged %d\n%s\n", i, g, up, down,
                       flag, w.text);
            }
            CHECK(is_up || is_down);
            CHECK(flag || !kink);
            kinks += kink;
            flagged += flag;
            of_up += is_up;
            of_down += is_down;
        }
        grad_kit_close(&kit);
    }
    printf("  %d grazing contacts, %d at a kink, %d flagged; the gradient is that from above in "
           "%d, from below in %d\n",
           GRAZES, kinks, flagged, of_up, of_down);
    CHECK(kinks > 9 * GRAZES / 10);
}

int main(void)
{
    RUN(test_piles);
    RUN(test_grazes);
    return check_failures != 0;
}
