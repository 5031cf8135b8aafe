#include "contact/balance_clump.h"

// The reverse (balance_clump_adj.c) has  f.d(M P v) = sum m g.(dv + e dm/m - W x dx) + W'.q  with
// q = sum m e x dx, g = P f and W' the spin of f's fit, for every f. So
//     d(m e) = m (P field + tilt x (x - c)),   field = dv + e dm/m - W x dx,   tilt = inverse q,
// and of spins  d(J (spin - W)) = J (field - its fit + tilt),  field = dspin + J^-1 dJ (spin - W).

static double rate_jvp(const cr_balance_task* task, double rate, const cr_balance_bars* by)
{
    double load = 0.0, mass = 0.0;
    for (int32_t i = 0; i < task->row_count; i++) {
        load += by->lam[i];
    }
    for (int32_t i = 0; i < task->frame_count; i++) {
        mass += by->mass[task->frame[i]];
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            mass += cr_balance_clump_has(task, s, n) ? by->node_mass[n] : 0.0;
        }
    }
    return (load - rate * mass) / cr_balance_clump_mass(task);
}

// J^-1 dJ a = R I^-1 (delta x I b - I (delta x b) + dI b), b = R^T a.
static cr_vec3 inertia_jvp(const cr_balance_task* task, int32_t f, cr_vec3 a,
                           const cr_balance_bars* by)
{
    const cr_mat3 r = cr_balance_clump_turn(task->motion, f);
    const cr_vec3 inertia = cr_vec3_load(task->bodies->inertia + 3 * f);
    const cr_vec3 b = cr_mat3_tapply(r, a);
    cr_vec3 more = cr_vec3_cross(by->q[f], cr_vec3_times(inertia, b));
    more = cr_vec3_sub(more, cr_vec3_times(inertia, cr_vec3_cross(by->q[f], b)));
    cr_vec3_add_to(&more, cr_vec3_times(cr_vec3_load(by->inertia + 3 * f), b));
    return cr_mat3_apply(r, cr_vec3_over(more, inertia));
}

// The field at a node or a centre; it adds its part of q to the clump's tilt.
static cr_vec3 field(cr_balance_clump* clump, double m, double dm, cr_vec3 e, cr_vec3 dv,
                     cr_vec3 dx)
{
    cr_vec3_add_to(&clump->tilt, cr_vec3_scale(m, cr_vec3_cross(e, dx)));
    return cr_vec3_sub(cr_vec3_add_scaled(dv, dm / m, e), cr_vec3_cross(clump->move.w, dx));
}

// The fields into x, y and by->push.
static void gather(const cr_balance_task* task, const cr_balance_bars* by, cr_vec3* x, cr_vec3* y)
{
    for (int32_t i = 0; i < task->clump_count; i++) {
        task->clump[i].tilt = (cr_vec3){0, 0, 0};
    }
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i], of = cr_balance_clump_of(task, f);
        x[f] = y[f] = (cr_vec3){0, 0, 0};
        if (of >= 0) {
            cr_balance_clump* clump = &task->clump[of];
            const cr_vec3 turn = cr_vec3_sub(task->motion->spin[f], clump->move.w);
            x[f] = field(clump, task->bodies->mass[f], by->mass[f],
                         cr_balance_clump_frame_rest(task, f), by->v[f], by->t[f]);
            y[f] = cr_vec3_add(by->spin[f], inertia_jvp(task, f, turn, by));
        }
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i], of = task->sheet_clump[s];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            const double m = task->bodies->node_mass[n], dm = by->node_mass[n];
            const cr_vec3 e = cr_balance_clump_node_rest(task, of, n);
            by->push[n] = of >= 0 ? field(&task->clump[of], m, dm, e, by->xv[n], by->x[n])
                                  : cr_vec3_add_scaled(by->xv[n], dm / m, e);
        }
    }
}

// P field + tilt x (x - c)
static cr_vec3 change(const cr_balance_clump* clump, cr_vec3 x, cr_vec3 of)
{
    const cr_vec3 tilted = cr_vec3_cross(clump->tilt, cr_vec3_sub(x, clump->c));
    return cr_vec3_add(cr_balance_clump_rest(clump, &clump->by, x, of), tilted);
}

void cr_balance_clump_jvp(const cr_balance_task* task, const cr_balance_bars* by, cr_vec3* x,
                          cr_vec3* y, double* slope, double* bend)
{
    const cr_motion* motion = task->motion;
    const double rate = cr_balance_clump_rate(task), drate = rate_jvp(task, rate, by);
    gather(task, by, x, y);
    cr_balance_clump_fit(task, by->push, x, y);
    for (int32_t i = 0; i < task->clump_count; i++) {
        task->clump[i].tilt = cr_mat3_apply(task->clump[i].inverse, task->clump[i].tilt);
    }
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i], of = cr_balance_clump_of(task, f);
        if (of >= 0) {
            const cr_balance_clump* clump = &task->clump[of];
            const cr_vec3 turn = cr_vec3_sub(motion->spin[f], clump->move.w);
            const cr_vec3 dturn = cr_vec3_add(cr_vec3_sub(y[f], clump->by.w), clump->tilt);
            cr_vec3 de =
                cr_vec3_scale(rate, change(clump, cr_balance_clump_place(motion, f), x[f]));
            de = cr_vec3_add_scaled(de, drate, cr_balance_clump_frame_rest(task, f));
            x[f] = cr_vec3_scale(task->bodies->mass[f], de);
            y[f] = cr_balance_clump_inertia(
                task, f, cr_vec3_add_scaled(cr_vec3_scale(rate, dturn), drate, turn));
        }
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i], of = task->sheet_clump[s];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            if (!cr_balance_clump_has(task, s, n)) {
                by->push[n] = (cr_vec3){0, 0, 0};
                continue;
            }
            const double m = task->bodies->node_mass[n];
            const cr_vec3 push = motion->push[n];
            cr_vec3 de =
                of >= 0 ? change(&task->clump[of], cr_balance_clump_node(motion, n), by->push[n])
                        : by->push[n];
            de = cr_vec3_add_scaled(cr_vec3_scale(rate, de), drate,
                                    cr_balance_clump_node_rest(task, of, n));
            by->push[n] = cr_vec3_scale(m, de);
            *slope += cr_vec3_dot(by->push[n], motion->xv[n]) + cr_vec3_dot(push, by->xv[n]);
            *bend += (2.0 * cr_vec3_dot(by->push[n], push) -
                      by->node_mass[n] * cr_vec3_norm2(push) / m) /
                     m;
        }
    }
}
