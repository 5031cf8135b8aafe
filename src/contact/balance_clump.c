#include "contact/balance_clump.h"
#include "math/rot.h"

cr_mat3 cr_balance_clump_turn(const cr_motion* motion, int32_t f)
{
    const cr_rot rot = cr_rot_make(motion->w[f]);
    return cr_mat3_mul(motion->rp[f], cr_rot_matrix(&rot));
}

cr_vec3 cr_balance_clump_inertia(const cr_balance_task* task, int32_t f, cr_vec3 a)
{
    const cr_mat3 r = cr_balance_clump_turn(task->motion, f);
    const cr_vec3 inertia = cr_vec3_load(task->bodies->inertia + 3 * f);
    return cr_mat3_apply(r, cr_vec3_times(inertia, cr_mat3_tapply(r, a)));
}

double cr_balance_clump_mass(const cr_balance_task* task)
{
    double sum = 0.0;
    for (int32_t i = 0; i < task->frame_count; i++) {
        sum += task->bodies->mass[task->frame[i]];
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            sum += cr_balance_clump_has(task, s, n) ? task->bodies->node_mass[n] : 0.0;
        }
    }
    return sum;
}

double cr_balance_clump_rate(const cr_balance_task* task)
{
    double load = 0.0;
    for (int32_t i = 0; i < task->row_count; i++) {
        load += task->row[i].lam;
    }
    return load / cr_balance_clump_mass(task);
}

void cr_balance_clump_fit(const cr_balance_task* task, const cr_vec3* node, const cr_vec3* frame,
                          const cr_vec3* spin)
{
    const cr_motion* motion = task->motion;
    for (int32_t i = 0; i < task->clump_count; i++) {
        task->clump[i].by = (cr_balance_rigid){{0, 0, 0}, {0, 0, 0}};
    }
    for (int32_t i = 0; i < task->frame_count && task->clump_count > 0; i++) {
        const int32_t f = task->frame[i];
        if (task->frame_clump[f] >= 0) {
            cr_balance_clump* clump = &task->clump[task->frame_clump[f]];
            const cr_vec3 arm = cr_vec3_sub(cr_balance_clump_place(motion, f), clump->c);
            const cr_vec3 push = cr_vec3_scale(task->bodies->mass[f], frame[f]);
            cr_vec3_add_to(&clump->by.v, push);
            cr_vec3_add_to(&clump->by.w, cr_vec3_cross(arm, push));
            cr_vec3_add_to(&clump->by.w, cr_balance_clump_inertia(task, f, spin[f]));
        }
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s];
             n < task->sheet_node[s + 1] && task->sheet_clump[s] >= 0; n++) {
            cr_balance_clump* clump = &task->clump[task->sheet_clump[s]];
            const cr_vec3 arm = cr_vec3_sub(cr_balance_clump_node(motion, n), clump->c);
            const cr_vec3 push = cr_vec3_scale(task->bodies->node_mass[n], node[n]);
            cr_vec3_add_to(&clump->by.v, push);
            cr_vec3_add_to(&clump->by.w, cr_vec3_cross(arm, push));
        }
    }
    for (int32_t i = 0; i < task->clump_count; i++) {
        cr_balance_clump* clump = &task->clump[i];
        if (clump->mass > 0.0) {
            clump->by.v = cr_vec3_scale(1.0 / clump->mass, clump->by.v);
            clump->by.w = cr_mat3_apply(clump->inverse, clump->by.w);
        }
    }
}

// m (|r|^2 - r r^T)
static cr_mat3 point_inertia(double m, cr_vec3 r)
{
    const double square = m * cr_vec3_norm2(r);
    return cr_mat3_add_scaled(cr_mat3_diagonal((cr_vec3){square, square, square}), -m,
                              cr_mat3_outer(r, r));
}

// Of a symmetric matrix: its cofactors over its determinant. What has no area has none, and then
// nothing that is finite comes of it.
static cr_mat3 inverse(cr_mat3 a)
{
    const cr_vec3 x = cr_mat3_row(a, 0), y = cr_mat3_row(a, 1), z = cr_mat3_row(a, 2);
    const cr_mat3 cofactor =
        cr_mat3_from_columns(cr_vec3_cross(y, z), cr_vec3_cross(z, x), cr_vec3_cross(x, y));
    return cr_mat3_scale(1.0 / cr_mat3_det(a), cofactor);
}

// mass, c and inverse. The sums stand in c and inverse at first.
static void weigh(const cr_balance_task* task)
{
    const cr_motion* motion = task->motion;
    for (int32_t i = 0; i < task->clump_count; i++) {
        task->clump[i] = (cr_balance_clump){0};
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < task->frame_count && task->clump_count > 0; i++) {
            const int32_t f = task->frame[i];
            const double m = task->bodies->mass[f];
            if (task->frame_clump[f] < 0) {
                continue;
            }
            cr_balance_clump* clump = &task->clump[task->frame_clump[f]];
            const cr_vec3 x = cr_balance_clump_place(motion, f);
            if (pass == 0) {
                clump->mass += m;
                clump->c = cr_vec3_add_scaled(clump->c, m, x);
                continue;
            }
            const cr_mat3 r = cr_balance_clump_turn(motion, f);
            const cr_mat3 own = cr_mat3_diagonal(cr_vec3_load(task->bodies->inertia + 3 * f));
            const cr_mat3 turned = cr_mat3_mul(cr_mat3_mul(r, own), cr_mat3_transpose(r));
            clump->inverse = cr_mat3_add(clump->inverse, turned);
            clump->inverse =
                cr_mat3_add(clump->inverse, point_inertia(m, cr_vec3_sub(x, clump->c)));
        }
        for (int32_t i = 0; i < task->sheet_count; i++) {
            const int32_t s = task->sheet[i];
            for (int32_t n = task->sheet_node[s];
                 n < task->sheet_node[s + 1] && task->sheet_clump[s] >= 0; n++) {
                cr_balance_clump* clump = &task->clump[task->sheet_clump[s]];
                const double m = task->bodies->node_mass[n];
                const cr_vec3 x = cr_balance_clump_node(motion, n);
                if (pass == 0) {
                    clump->mass += m;
                    clump->c = cr_vec3_add_scaled(clump->c, m, x);
                } else {
                    clump->inverse =
                        cr_mat3_add(clump->inverse, point_inertia(m, cr_vec3_sub(x, clump->c)));
                }
            }
        }
        for (int32_t i = 0; i < task->clump_count; i++) {
            cr_balance_clump* clump = &task->clump[i];
            if (pass == 0 && clump->mass > 0.0) {
                clump->c = cr_vec3_scale(1.0 / clump->mass, clump->c);
            } else if (clump->mass > 0.0) {
                clump->inverse = inverse(clump->inverse);
            }
        }
    }
}

void cr_balance_clump_push(const cr_balance_task* task, double* slope, double* bend)
{
    const cr_motion* motion = task->motion;
    const double rate = cr_balance_clump_rate(task);
    weigh(task);
    cr_balance_clump_fit(task, motion->xv, motion->v, motion->spin);
    for (int32_t i = 0; i < task->clump_count; i++) {
        task->clump[i].move = task->clump[i].by;
    }
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i], of = cr_balance_clump_of(task, f);
        if (of >= 0) {
            const cr_vec3 e = cr_balance_clump_frame_rest(task, f);
            const cr_vec3 turn = cr_vec3_sub(motion->spin[f], task->clump[of].move.w);
            motion->thrust[f] =
                cr_vec3_add_scaled(motion->thrust[f], rate * task->bodies->mass[f], e);
            motion->twist[f] =
                cr_vec3_add_scaled(motion->twist[f], rate, cr_balance_clump_inertia(task, f, turn));
        }
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i], of = task->sheet_clump[s];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            motion->push[n] = (cr_vec3){0, 0, 0};
            if (cr_balance_clump_has(task, s, n)) {
                const double m = task->bodies->node_mass[n];
                const cr_vec3 e = cr_balance_clump_node_rest(task, of, n);
                motion->push[n] = cr_vec3_scale(rate * m, e);
                *slope += cr_vec3_dot(motion->push[n], motion->xv[n]);
                *bend += cr_vec3_norm2(motion->push[n]) / m;
            }
        }
    }
}
