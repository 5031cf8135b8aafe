#include "contact/newton_rub.h"

// Of an edge that two faces share.
static const double half = 0.5;

// The sub-features that are taken off a row's own.
static int32_t list(const cr_newton_row* row, cr_newton_crossing out[CR_NEWTON_RUB_TERMS])
{
    if (row->at.kind == CR_PAIR_EE) {
        return cr_newton_hits_crossing(row->straight, out);
    }
    int32_t count = 0;
    out[count++] = (cr_newton_crossing){row->points, 1.0};
    for (int k = 0; k < 3; k++) {
        if (row->over >> k & 1) {
            out[count++] = (cr_newton_crossing){8 | 1 << k | 1 << (k + 1) % 3, -half};
        }
    }
    return count;
}

int32_t cr_newton_rub_terms(const cr_newton* newton, const cr_newton_row* row,
                            cr_newton_rub_term out[CR_NEWTON_RUB_TERMS])
{
    out[0] = (cr_newton_rub_term){row->points, row->rub, row->gap, row->law};
    if (!row->over) {
        return 1;
    }
    const cr_candidate* c = &newton->task->candidate[row->pair];
    cr_newton_crossing part[CR_NEWTON_RUB_TERMS];
    const int32_t all = list(row, part);
    int32_t count = 1;
    cr_vec3 x[4];
    cr_newton_hits_points(newton, &newton->pair.items[row->pair], x);
    for (int32_t i = 1; i < all; i++) {
        const double distance = cr_distance_closest_of(c->pair.kind, x, part[i].points).distance;
        if (distance < c->thickness) {
            out[count++] =
                (cr_newton_rub_term){part[i].points, row->rub * part[i].q, distance - c->thickness,
                                     cr_newton_rows_law(newton, row->pair, distance)};
        }
    }
    return count;
}

double cr_newton_rub_load(const cr_newton* newton, const cr_newton_row* row)
{
    cr_newton_rub_term term[CR_NEWTON_RUB_TERMS];
    const int32_t count = cr_newton_rub_terms(newton, row, term);
    double sum = 0.0;
    for (int32_t i = 0; i < count; i++) {
        sum += term[i].factor * term[i].law.force;
    }
    return cr_max(sum, 0.0);
}

// Whether there is a load: where the ends of two edges are nearer to each other than a crossing
// would have them, its terms are negative together.
static int is_loaded(const cr_newton_row* row)
{
    return row->press > 0.0;
}

// The term as a row with the unknowns of the row.
static void shape(const cr_newton* newton, const cr_newton_row* row, int32_t points, cr_row* out)
{
    int32_t unknowns = 0;
    for (int k = 0; k < CR_ROW_POINTS; k++) {
        unknowns |= (row->at.point_block[k] >= 0) << k;
    }
    cr_newton_rows_shape(newton, row->pair, points, unknowns, out);
}

void cr_newton_rub_slope(const cr_newton* newton, const cr_newton_row* row, double out[CR_ROW_DOFS])
{
    cr_newton_rub_term term[CR_NEWTON_RUB_TERMS];
    const int32_t count = cr_newton_rub_terms(newton, row, term);
    const int32_t n = row->at.offset[row->at.block_count];
    for (int32_t k = 0; k < n; k++) {
        out[k] = is_loaded(row) ? -row->rub * row->law.slope * row->at.grad[k] : 0.0;
    }
    for (int32_t i = 1; i < count && is_loaded(row); i++) {
        cr_row at;
        shape(newton, row, term[i].points, &at);
        for (int32_t k = 0; k < n; k++) {
            out[k] -= term[i].factor * term[i].law.slope * at.grad[k];
        }
    }
}

void cr_newton_rub_adj(const cr_newton* newton, const cr_newton_row* row, double factor,
                       const double y[CR_ROW_DOFS], cr_row_bars* local, cr_newton_row_bars* out)
{
    const cr_candidate* c = &newton->task->candidate[row->pair];
    cr_newton_rub_term term[CR_NEWTON_RUB_TERMS];
    const int32_t count = cr_newton_rub_terms(newton, row, term);
    for (int32_t i = 0; i < count && is_loaded(row); i++) {
        const double bar = factor * term[i].factor, slope = term[i].law.slope;
        cr_row own;
        if (i > 0) {
            shape(newton, row, term[i].points, &own);
        }
        cr_row_adj(i > 0 ? &own : &row->at, NULL, 0.0, 0.0, y, bar * slope, local);
        out->width += bar * slope * term[i].gap / c->width;
        out->stiffness += bar * term[i].law.force / c->stiffness;
    }
}

double cr_newton_rub_jvp(const cr_newton* newton, const cr_newton_row* row, const cr_row_bars* d,
                         const cr_newton_row_bars* of)
{
    const cr_candidate* c = &newton->task->candidate[row->pair];
    cr_newton_rub_term term[CR_NEWTON_RUB_TERMS];
    const int32_t count = cr_newton_rub_terms(newton, row, term);
    double sum = 0.0;
    for (int32_t i = 0; i < count && is_loaded(row); i++) {
        double unused[CR_ROW_DOFS];
        cr_row own;
        if (i > 0) {
            shape(newton, row, term[i].points, &own);
        }
        const double gap =
            cr_row_jvp(i > 0 ? &own : &row->at, NULL, 0.0, 0.0, 0, d, unused) - of->thickness;
        const double slope = term[i].law.slope;
        sum += term[i].factor * (-slope * gap + slope * term[i].gap / c->width * of->width +
                                 term[i].law.force / c->stiffness * of->stiffness);
    }
    return sum;
}
