#include "contact/zone_inside.h"
#include <string.h>

// The linearised force dE(x) + K(x) d is f(0) + f'(0) of f(s) = dE(x + s d), which is a cubic in s
// because E is a quartic. For those
//     f'(0) = (8 (f(1) - f(-1)) - (f(2) - f(-2))) / 12
// is exact, so the linearised force is a sum of forces at five places and its reverse the sum of
// theirs: the third derivative and those of K by every number of the sheet come by themselves.
typedef struct place {
    double s, weight;
} place;
static const place places[] = {
    {0, 1}, {1, 8.0 / 12}, {-1, -8.0 / 12}, {2, -1.0 / 12}, {-2, 1.0 / 12}};

// How far a node goes in the linearised step: as solved for, or as it is moved.
static cr_vec3 moved(const cr_zone* zone, int32_t at, int32_t node)
{
    const cr_zone_task* task = zone->task;
    const int32_t block = zone->node_block.items[at];
    if (block >= 0) {
        return cr_vec3_load(zone->d + zone->block.items[block].first);
    }
    const int32_t v = task->bodies->node_vertex[node];
    return cr_vec3_scale(task->to - task->from,
                         cr_vec3_sub(task->obstacle1[v], task->obstacle0[v]));
}

// -h^2 weight y . dE(x + s d) by everything but d, which the solve has taken care of; of pinned
// nodes, whose motion is given, by that too.
static void spread_force(cr_zone* zone, int32_t member, int32_t at, const double* y, place p,
                         cr_zone_bars* bars)
{
    const cr_zone_task* task = zone->task;
    const int32_t s = task->member_sheet[member];
    const int32_t from = task->sheet_node[s], count = task->sheet_node[s + 1] - from;
    const cr_cloth_step step = cr_zone_sheet_step(task, member);
    const double factor = -task->h * task->h * p.weight;
    double* dofs = zone->sheet_scratch.items; // y at the nodes, where they are, what they feel
    double* x = dofs + 3 * count;
    double* felt = x + 3 * count;
    memset(dofs, 0, 9 * (size_t)count * sizeof(double));
    for (int32_t n = 0; n < count; n++) {
        const int32_t block = zone->node_block.items[at + n];
        if (block >= 0) {
            memcpy(dofs + 3 * n, y + zone->block.items[block].first, 3 * sizeof(double));
        }
        const cr_vec3 start = cr_vec3_load(zone->sheet_x.items + 3 * (at + n));
        cr_vec3_store(x + 3 * n, cr_vec3_add_scaled(start, p.s, moved(zone, at + n, from + n)));
    }
    cr_cloth_apply(&task->sheet[s], &task->material[s], &step, x, dofs, factor, felt);
    for (int32_t n = 0; n < count; n++) {
        const cr_vec3 bar = cr_vec3_load(felt + 3 * n);
        if (zone->node_block.items[at + n] >= 0) {
            cr_vec3_accumulate(&bars->x0[from + n].x, bar);
        } else {
            const int32_t v = task->bodies->node_vertex[from + n];
            cr_zone_given_adj(task, v, bar, cr_vec3_scale(p.s, bar), bars);
        }
    }
    const cr_cloth_bars cloth = {.material = &bars->material[s],
                                 .wind = bars->wind,
                                 .x0 = &bars->x0[from].x,
                                 .v0 = &bars->v0[from].x,
                                 .corner = bars->corner ? bars->corner[s] : NULL};
    cr_cloth_gradient_adj(&task->sheet[s], &task->material[s], &step, x, dofs, factor, &cloth);
}

// F = M (d - dt) + h^2 (dE + K d) = 0 at the start: y = (M + h^2 K)^-1 d_bar, and any number theta
// in F has theta_bar = -y . dF/dtheta.
carom_status cr_zone_predict_adj(cr_zone* zone, const cr_zone_task* task, cr_zone_bars* bars)
{
    cr_zone_task alone;
    const carom_status status = cr_zone_predict_solve(zone, task, &alone);
    if (status != CAROM_OK) {
        return status;
    }
    double* y = zone->z_before;
    for (int32_t b = 0; b < zone->block_count; b++) {
        cr_vec3_store(y + zone->block.items[b].first, bars->dt[zone->block.items[b].node]);
    }
    cr_zone_matrix_solve_transposed(&zone->matrix, y);
    for (int32_t b = 0; b < zone->block_count; b++) {
        const cr_zone_block* block = &zone->block.items[b];
        const int32_t at = block->first;
        for (int i = 0; i < 3; i++) {
            bars->node_mass[block->node] -= y[at + i] * (zone->d[at + i] - zone->target[at + i]);
        }
        bars->dt[block->node] = cr_vec3_scale(zone->mass[at], cr_vec3_load(y + at));
    }
    int32_t at = 0;
    for (int32_t i = 0; i < task->member_sheet_count; i++) {
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            spread_force(zone, i, at, y, places[k], bars);
        }
        at += task->sheet_node[task->member_sheet[i] + 1] - task->sheet_node[task->member_sheet[i]];
    }
    return CAROM_OK;
}
