#include "contact/balance_sheet.h"
#include "contact/balance.h"
#include <string.h>

// Simpson's points and weights.
static const double place[3] = {0.0, 0.5, 1.0};
static const double weight[3] = {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0};

int32_t cr_balance_sheet_scratch(const cr_cloth* sheet, const int32_t* member, int32_t count)
{
    int32_t most = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t nodes = sheet[member[i]].node_count;
        most = nodes > most ? nodes : most;
    }
    return 9 * most; // a place, a gradient and d of each node
}

// One sheet: where its nodes are at a time of the step, its forces there, and d.
typedef struct view {
    const cr_cloth* cloth;
    const cr_cloth_material* material;
    int32_t first, count;
    double *x, *g, *d;
} view;

static view view_make(const cr_balance_sheets* task, int32_t i)
{
    const int32_t s = task->member[i], first = task->sheet_node[s];
    const int32_t count = task->sheet_node[s + 1] - first;
    const size_t size = 3 * (size_t)count;
    const view v = {&task->sheet[s],      &task->material[s],      first, count, task->scratch,
                    task->scratch + size, task->scratch + 2 * size};
    for (int32_t n = 0; n < count; n++) {
        const int pinned = task->bodies->node_pinned[first + n];
        cr_vec3_store(v.d + 3 * (size_t)n,
                      pinned ? (cr_vec3){0, 0, 0} : task->motion->d[first + n]);
    }
    return v;
}

static void go_to(const cr_balance_sheets* task, const view* v, double along)
{
    for (int32_t n = 0; n < v->count; n++) {
        cr_vec3_store(v->x + 3 * (size_t)n,
                      cr_vec3_add_scaled(task->motion->x0[v->first + n], along,
                                         cr_vec3_load(v->d + 3 * (size_t)n)));
    }
    memset(v->g, 0, 3 * (size_t)v->count * sizeof(double));
}

static double dot(const view* v)
{
    double sum = 0.0;
    for (int32_t i = 0; i < 3 * v->count; i++) {
        sum += v->d[i] * v->g[i];
    }
    return sum;
}

// m/s, at the end.
static cr_vec3 speed_of(const cr_balance_sheets* task, int32_t n)
{
    return task->bodies->node_pinned[n] ? (cr_vec3){0, 0, 0} : task->motion->xv[n];
}

static cr_vec3 pull_on(const cr_balance_sheets* task, int32_t n)
{
    return cr_vec3_add_scaled(task->force[n], task->bodies->node_mass[n], task->gravity);
}

double cr_balance_sheet_gain(const cr_balance_sheets* task)
{
    const double most = 1.0 - CR_BALANCE_NOISE;
    double sum = 0.0;
    for (int32_t i = 0; i < task->count; i++) {
        const view v = view_make(task, i);
        for (int32_t n = v.first; n < v.first + v.count; n++) {
            const cr_vec3 d = cr_vec3_load(v.d + 3 * (size_t)(n - v.first));
            const cr_vec3 v0 = cr_vec3_load(task->velocity + 3 * (size_t)n);
            const double square = most * cr_vec3_norm2(speed_of(task, n));
            sum += 0.5 * task->bodies->node_mass[n] * (square - cr_vec3_norm2(v0));
            sum -= cr_vec3_dot(pull_on(task, n), d);
        }
        for (int k = 0; k < 3; k++) {
            go_to(task, &v, place[k]);
            cr_cloth_gradient(v.cloth, v.material, NULL, v.x, weight[k], v.g);
            sum += dot(&v);
        }
    }
    return sum;
}

double cr_balance_sheet_fall(const cr_balance_sheets* task)
{
    double sum = 0.0;
    for (int32_t i = 0; i < task->count; i++) {
        const int32_t s = task->member[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            const double a2 = cr_vec3_norm2(pull_on(task, n)) / task->bodies->node_mass[n];
            sum += task->bodies->node_pinned[n] ? 0.0 : 0.5 * a2;
        }
    }
    return task->h * task->h * sum;
}

void cr_balance_sheet_adj(const cr_balance_sheets* task, double bar,
                          const cr_balance_sheet_bars* bars)
{
    const double most = 1.0 - CR_BALANCE_NOISE;
    for (int32_t i = 0; i < task->count; i++) {
        const view v = view_make(task, i);
        const int32_t s = task->member[i];
        const cr_cloth_bars numbers = {.material = &bars->material[s], .corner = bars->corner[s]};
        for (int32_t n = v.first; n < v.first + v.count; n++) {
            const cr_vec3 d = cr_vec3_load(v.d + 3 * (size_t)(n - v.first));
            const cr_vec3 v0 = cr_vec3_load(task->velocity + 3 * (size_t)n);
            const double m = task->bodies->node_mass[n];
            const cr_vec3 end = speed_of(task, n);
            bars->d[n] = cr_vec3_add_scaled(bars->d[n], -bar, pull_on(task, n));
            bars->v[n] = cr_vec3_add_scaled(bars->v[n], bar * most * m, end);
            bars->v0[n] = cr_vec3_add_scaled(bars->v0[n], -bar * m, v0);
            bars->force[n] = cr_vec3_add_scaled(bars->force[n], -bar, d);
            bars->node_mass[n] += bar * (0.5 * (most * cr_vec3_norm2(end) - cr_vec3_norm2(v0)) -
                                         cr_vec3_dot(task->gravity, d));
            cr_vec3_accumulate(bars->gravity, cr_vec3_scale(-bar * m, d));
        }
        for (int k = 0; k < 3; k++) {
            go_to(task, &v, place[k]);
            cr_cloth_gradient_adj(v.cloth, v.material, NULL, v.x, v.d, bar * weight[k], &numbers);
        }
        for (int end = 0; end < 2; end++) { // by places it is dE at either end
            go_to(task, &v, end);
            cr_cloth_gradient(v.cloth, v.material, NULL, v.x, end ? bar : -bar, v.g);
            for (int32_t n = 0; n < v.count; n++) {
                const cr_vec3 g = cr_vec3_load(v.g + 3 * (size_t)n);
                cr_vec3_add_to(&bars->x0[v.first + n], g);
                if (end) {
                    cr_vec3_add_to(&bars->d[v.first + n], g);
                }
            }
        }
    }
}

// The material without what takes no part in the energy.
static cr_cloth_material elastic(const cr_cloth_material* of)
{
    return (cr_cloth_material){
        .c11 = of->c11, .c22 = of->c22, .c12 = of->c12, .c33 = of->c33, .bend = of->bend};
}

// By moduli and rest shape.
static double numbers_jvp(const cr_balance_sheets* task, const view* v, int32_t s,
                          const cr_balance_sheet_bars* by)
{
    const cr_cloth_material material = elastic(v->material);
    const cr_cloth_material more =
        by->material ? elastic(&by->material[s]) : (cr_cloth_material){0};
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        go_to(task, v, place[k]);
        const cr_cloth_step step = {.h = task->h,
                                    .x0 = &task->motion->x0[v->first].x,
                                    .v0 = task->velocity + 3 * (size_t)v->first};
        const cr_cloth_tangents d = {.material = by->material ? &more : NULL,
                                     .x0 = &by->x0[v->first].x,
                                     .v0 = &by->v0[v->first].x,
                                     .corner = by->corner ? by->corner[s] : NULL};
        cr_cloth_gradient_jvp(v->cloth, &material, &step, v->x, weight[k], &d, v->g);
        sum += dot(v);
    }
    return sum;
}

double cr_balance_sheet_jvp(const cr_balance_sheets* task, const cr_balance_sheet_bars* by)
{
    const double most = 1.0 - CR_BALANCE_NOISE;
    const cr_vec3 dgravity = cr_vec3_load(by->gravity);
    double sum = 0.0;
    for (int32_t i = 0; i < task->count; i++) {
        const view v = view_make(task, i);
        for (int32_t n = v.first; n < v.first + v.count; n++) {
            const cr_vec3 d = cr_vec3_load(v.d + 3 * (size_t)(n - v.first));
            const cr_vec3 v0 = cr_vec3_load(task->velocity + 3 * (size_t)n);
            const double m = task->bodies->node_mass[n];
            const cr_vec3 end = speed_of(task, n);
            sum += most * m * cr_vec3_dot(end, by->v[n]) - m * cr_vec3_dot(v0, by->v0[n]);
            sum -= cr_vec3_dot(pull_on(task, n), by->d[n]) + cr_vec3_dot(d, by->force[n]) +
                   m * cr_vec3_dot(d, dgravity);
            sum += by->node_mass[n] * (0.5 * (most * cr_vec3_norm2(end) - cr_vec3_norm2(v0)) -
                                       cr_vec3_dot(task->gravity, d));
        }
        if (by->material || by->corner) {
            sum += numbers_jvp(task, &v, task->member[i], by);
        }
        for (int end = 0; end < 2; end++) {
            go_to(task, &v, end);
            cr_cloth_gradient(v.cloth, v.material, NULL, v.x, end ? 1.0 : -1.0, v.g);
            for (int32_t n = 0; n < v.count; n++) {
                const cr_vec3 g = cr_vec3_load(v.g + 3 * (size_t)n);
                const cr_vec3 dx = end ? cr_vec3_add(by->x0[v.first + n], by->d[v.first + n])
                                       : by->x0[v.first + n];
                sum += cr_vec3_dot(g, dx);
            }
        }
    }
    return sum;
}
