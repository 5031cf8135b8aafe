#include "contact/balance_clump.h"

// push = rate m e with e = P v, P what takes the rigid motion away. M P is symmetric, so with a bar
// z of the pushes and f = rate z
//     sum z.push = sum f.M P v = sum m g.e,      g = P f:
// the same fit, of f, with W' its spin. It moves by
//     m g.dv  +  dm e.g  +  m (W x g + W' x e).dx,
// for P p is 0 for every rigid motion p, whatever else there is; and spins likewise, with J for m.

// Bars of a frame: of a . J b, along R -> R exp([delta]) and by its moments.
static void inertia_adj(const cr_balance_task* task, int32_t f, cr_vec3 a, cr_vec3 b,
                        const cr_balance_bars* bars)
{
    const cr_mat3 r = cr_balance_clump_turn(task->motion, f);
    const cr_vec3 inertia = cr_vec3_load(task->bodies->inertia + 3 * f);
    const cr_vec3 own_a = cr_mat3_tapply(r, a), own_b = cr_mat3_tapply(r, b);
    cr_vec3_accumulate(bars->inertia + 3 * f, cr_vec3_times(own_a, own_b));
    const cr_vec3 turned = cr_vec3_sub(cr_vec3_cross(cr_vec3_times(inertia, own_b), own_a),
                                       cr_vec3_cross(own_b, cr_vec3_times(inertia, own_a)));
    cr_vec3_add_to(&bars->q[f], turned);
}

// From v'' = v - eta push/m, slope = push.v, bend = push.push/m to push, whose place f takes. What
// is returned is the part of the rate's bar.
static double nodes_adj(const cr_balance_task* task, double rate, double eta, double slope,
                        double bend, const cr_balance_bars* bars)
{
    const cr_motion* motion = task->motion;
    double rate_bar = 0.0;
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            if (cr_balance_clump_has(task, s, n)) {
                const double m = task->bodies->node_mass[n];
                const cr_vec3 push = motion->push[n], v_bar = bars->xv[n];
                cr_vec3 bar = cr_vec3_scale(-eta, v_bar);
                bar = cr_vec3_scale(1.0 / m, cr_vec3_add_scaled(bar, 2.0 * bend, push));
                bar = cr_vec3_add_scaled(bar, slope, motion->xv[n]);
                bars->node_mass[n] +=
                    (eta * cr_vec3_dot(v_bar, push) - bend * cr_vec3_norm2(push)) / (m * m);
                bars->xv[n] = cr_vec3_add_scaled(v_bar, slope, push);
                rate_bar += cr_vec3_dot(bar, push) / rate;
                motion->push[n] = cr_vec3_scale(rate, bar);
            }
        }
    }
    return rate_bar;
}

// rate = sum lam / sum m.
static void rate_adj(const cr_balance_task* task, double rate, double bar,
                     const cr_balance_bars* bars)
{
    const double per = bar / cr_balance_clump_mass(task);
    for (int32_t i = 0; i < task->row_count; i++) {
        bars->lam[i] += per;
    }
    for (int32_t i = 0; i < task->frame_count; i++) {
        bars->mass[task->frame[i]] -= per * rate;
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            bars->node_mass[n] -= cr_balance_clump_has(task, s, n) ? per * rate : 0.0;
        }
    }
}

// m (W x g + W' x e)
static cr_vec3 place_bar(const cr_balance_clump* clump, double m, cr_vec3 e, cr_vec3 g)
{
    return cr_vec3_scale(
        m, cr_vec3_add(cr_vec3_cross(clump->move.w, g), cr_vec3_cross(clump->by.w, e)));
}

// A frame that is in a clump, with f in thrust and twist.
static void frame_adj(const cr_balance_task* task, int32_t f, const cr_balance_bars* bars)
{
    const cr_motion* motion = task->motion;
    const cr_balance_clump* clump = &task->clump[task->frame_clump[f]];
    const cr_vec3 x = cr_balance_clump_place(motion, f);
    const cr_vec3 e = cr_balance_clump_frame_rest(task, f);
    const cr_vec3 g = cr_balance_clump_rest(clump, &clump->by, x, motion->thrust[f]);
    const cr_vec3 e_spin = cr_vec3_sub(motion->spin[f], clump->move.w);
    const cr_vec3 g_spin = cr_vec3_sub(motion->twist[f], clump->by.w);
    const double m = task->bodies->mass[f];
    bars->v[f] = cr_vec3_add_scaled(bars->v[f], m, g);
    cr_vec3_add_to(&bars->t[f], place_bar(clump, m, e, g));
    bars->mass[f] += cr_vec3_dot(e, g);
    cr_vec3_add_to(&bars->spin[f], cr_balance_clump_inertia(task, f, g_spin));
    inertia_adj(task, f, g_spin, e_spin, bars);
}

static void node_adj(const cr_balance_task* task, int32_t of, int32_t n,
                     const cr_balance_bars* bars)
{
    const cr_motion* motion = task->motion;
    const double m = task->bodies->node_mass[n];
    const cr_vec3 e = cr_balance_clump_node_rest(task, of, n);
    cr_vec3 g = motion->push[n];
    if (of >= 0) {
        const cr_balance_clump* clump = &task->clump[of];
        const cr_vec3 x = cr_balance_clump_node(motion, n);
        g = cr_balance_clump_rest(clump, &clump->by, x, g);
        cr_vec3_add_to(&bars->x[n], place_bar(clump, m, e, g));
    }
    bars->xv[n] = cr_vec3_add_scaled(bars->xv[n], m, g);
    bars->node_mass[n] += cr_vec3_dot(e, g);
}

void cr_balance_clump_adj(const cr_balance_task* task, double eta, double slope, double bend,
                          const cr_balance_bars* bars)
{
    const cr_motion* motion = task->motion;
    const double rate = cr_balance_clump_rate(task);
    double rate_bar = nodes_adj(task, rate, eta, slope, bend, bars);
    for (int32_t i = 0; i < task->frame_count; i++) {
        const int32_t f = task->frame[i], of = cr_balance_clump_of(task, f);
        if (of >= 0) {
            const cr_vec3 e = cr_balance_clump_frame_rest(task, f);
            const cr_vec3 turn = cr_vec3_sub(motion->spin[f], task->clump[of].move.w);
            rate_bar += task->bodies->mass[f] * cr_vec3_dot(motion->thrust[f], e) +
                        cr_vec3_dot(motion->twist[f], cr_balance_clump_inertia(task, f, turn));
            motion->thrust[f] = cr_vec3_scale(rate, motion->thrust[f]);
            motion->twist[f] = cr_vec3_scale(rate, motion->twist[f]);
        }
    }
    rate_adj(task, rate, rate_bar, bars);
    cr_balance_clump_fit(task, motion->push, motion->thrust, motion->twist);
    for (int32_t i = 0; i < task->frame_count; i++) {
        if (cr_balance_clump_of(task, task->frame[i]) >= 0) {
            frame_adj(task, task->frame[i], bars);
        }
    }
    for (int32_t i = 0; i < task->sheet_count; i++) {
        const int32_t s = task->sheet[i];
        for (int32_t n = task->sheet_node[s]; n < task->sheet_node[s + 1]; n++) {
            if (cr_balance_clump_has(task, s, n)) {
                node_adj(task, task->sheet_clump[s], n, bars);
            }
        }
    }
}
