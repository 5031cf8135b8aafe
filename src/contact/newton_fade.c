#include "contact/newton_fade.h"

int32_t cr_newton_fade_terms(const cr_newton* newton, const cr_newton_row* row,
                             cr_newton_fade_term out[CR_NEWTON_FADE_TERMS])
{
    cr_newton_crossing crossing[CR_NEWTON_FADE_TERMS];
    const int32_t all = cr_newton_hits_crossing(row->straight, crossing);
    const double thickness = newton->task->candidate[row->pair].thickness;
    int32_t count = 0;
    for (int32_t i = 0; i < all; i++) {
        cr_newton_fade_term* term = &out[count];
        cr_newton_rows_shape(newton, row->pair, crossing[i].points, 15, &term->at);
        if (!(term->at.at.distance < thickness)) {
            continue;
        }
        const cr_barrier law = cr_newton_rows_law(newton, row->pair, term->at.at.distance);
        term->q = crossing[i].q;
        term->load = law.force;
        term->energy = law.energy;
        term->gap = term->at.at.distance - thickness;
        count++;
    }
    return count;
}

// At a crossing friction has the load of all terms; where the closest points are at an end, of
// those that are there, too.
double cr_newton_fade_rub(const cr_newton_row* row, const cr_newton_fade_term* term, int32_t count)
{
    double sum = 0.0;
    for (int32_t i = 0; i < count; i++) {
        if (row->at.at.active == 15 || term[i].at.at.active == row->at.at.active) {
            sum += term[i].q * term[i].load;
        }
    }
    return cr_max(sum, 0.0);
}

cr_newton_fade cr_newton_fade_make(const cr_row* row, const double y[CR_ROW_DOFS])
{
    cr_newton_fade fade = {.edges = cr_parallel_edges_make(row->x)};
    for (int32_t b = 0; b < row->block_count; b++) {
        if (row->size[b] == 6) {
            fade.theta[b] = cr_mat3_apply(row->body[b]->jth, cr_vec3_load(y + row->offset[b]));
        }
    }
    for (int k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = row->point_block[k];
        if (b >= 0 && row->size[b] > 0) {
            const double* shift = y + row->offset[b] + row->size[b] - 3;
            fade.velocity[k] =
                cr_vec3_add(cr_vec3_load(shift), cr_vec3_cross(fade.theta[b], row->arm[k]));
            fade.pull += cr_vec3_dot(fade.edges.grad[k], fade.velocity[k]);
        }
    }
    return fade;
}

// x_k feels x_bar, its velocity y_bar = -e m'_k. A turn of R_p by delta in its axes turns arms and
// velocities alike: x_bar . (d x arm) + y_bar . (d x (theta x arm)).
void cr_newton_fade_adj(const cr_newton_row* row, const cr_newton_fade* fade, double load,
                        cr_row_bars* bars)
{
    const cr_row* at = &row->at;
    for (int k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = at->point_block[k];
        cr_vec3 x_bar = cr_vec3_scale(load, fade->edges.grad[k]);
        for (int l = 0; l < CR_ROW_POINTS; l++) {
            x_bar = cr_vec3_add_scaled(x_bar, -row->excess,
                                       cr_mat3_tapply(fade->edges.hess[l][k], fade->velocity[l]));
        }
        cr_vec3_add_to(&bars->start[b], x_bar);
        cr_vec3_add_to(&bars->u[b], x_bar);
        if (at->body[b]) {
            const cr_vec3 y_bar = cr_vec3_scale(-row->excess, fade->edges.grad[k]);
            const cr_vec3 theta = fade->theta[b], turning = cr_vec3_cross(theta, at->arm[k]);
            const cr_vec3 torque =
                cr_vec3_add(cr_vec3_cross(at->arm[k], x_bar), cr_vec3_cross(turning, y_bar));
            const cr_vec3 arm_bar = cr_vec3_add(x_bar, cr_vec3_cross(y_bar, theta));
            cr_vec3_add_to(&bars->p[k], cr_mat3_tapply(at->body[b]->r, arm_bar));
            cr_vec3_add_to(&bars->r_p[b], cr_mat3_tapply(at->body[b]->r_p, torque));
        }
    }
}

double cr_newton_fade_jvp(const cr_newton_row* row, const cr_row_bars* d, double out[CR_ROW_DOFS])
{
    const cr_row* at = &row->at;
    const cr_parallel_edges edges = cr_parallel_edges_make(at->x);
    cr_vec3 dx[CR_ROW_POINTS], darm[CR_ROW_POINTS] = {0};
    double dm = 0.0;
    for (int k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = at->point_block[k];
        const cr_row_body* body = at->body[b];
        dx[k] = d->start[b];
        if (body) {
            const cr_vec3 turn = cr_mat3_apply(body->r_p, d->r_p[b]);
            darm[k] = cr_vec3_add(cr_mat3_apply(body->r, d->p[k]), cr_vec3_cross(turn, at->arm[k]));
            dx[k] = cr_vec3_add(dx[k], darm[k]);
        }
        if (at->size[b] == 0) {
            dx[k] = cr_vec3_add(dx[k], d->u[b]);
        }
        dm += cr_vec3_dot(edges.grad[k], dx[k]);
    }
    for (int k = 0; k < CR_ROW_POINTS; k++) {
        const int32_t b = at->point_block[k];
        if (at->size[b] == 0) {
            continue;
        }
        cr_vec3 df = {0, 0, 0};
        for (int l = 0; l < CR_ROW_POINTS; l++) {
            df = cr_vec3_add(df, cr_mat3_apply(edges.hess[k][l], dx[l]));
        }
        double* to = out + at->offset[b];
        if (at->size[b] == 6) { // jth^T (arm x m'), jth = R_p Jl
            const cr_row_body* body = at->body[b];
            const cr_vec3 torque = cr_vec3_cross(at->arm[k], edges.grad[k]);
            const cr_vec3 turn = cr_mat3_apply(body->r_p, d->r_p[b]);
            cr_vec3 dtorque =
                cr_vec3_add(cr_vec3_cross(darm[k], edges.grad[k]), cr_vec3_cross(at->arm[k], df));
            dtorque = cr_vec3_sub(dtorque, cr_vec3_cross(turn, torque));
            cr_vec3_accumulate(to, cr_vec3_scale(row->excess, cr_mat3_tapply(body->jth, dtorque)));
            to += 3;
        }
        cr_vec3_accumulate(to, cr_vec3_scale(row->excess, df));
    }
    return dm;
}
