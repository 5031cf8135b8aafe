#include "sim/pair_law.h"
#include "contact/barrier.h"

// The derivatives of the numbers with respect to those of either side.
typedef struct rates {
    int32_t sheet; // -1: a rigid body
    int32_t moves;
    double reach_by_radius, reach_by_width; // of the pair's to this side's
    double width_by_radius, width_by_width;
    double stiffness_by_mass, stiffness_by_own;
    double friction;
    double lever_by_radius[2], lever_by_width[2];
} rates;

static int moves(const cr_model* model, int32_t body)
{
    return model->bodies.kind[body] == CR_BODY_RIGID || model->bodies.kind[body] == CR_BODY_CLOTH;
}

// kg, of a body, or of a node of a sheet: the same force for the same area, however finely cut.
static double mass_of(const cr_model* model, const double* sheet_mass, int32_t body)
{
    const int32_t s = model->body_sheet[body];
    return s >= 0 ? sheet_mass[s] / (model->sheet_node[s + 1] - model->sheet_node[s])
                  : model->bodies.mass[model->bodies.frame[body]];
}

// m, of the layer of two bodies that start nearer than it begins: what they leave of it, but no
// thinner than this share of it, as stiff as that is; and no deeper than their distance allows.
static const double thinnest = 0.05, deepest = 0.9;

static double width_of(const cr_model* model, int32_t a, int32_t b)
{
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    const double whole = model->bodies.width[a] + model->bodies.width[b];
    if (!pairing || pairing->reach < 0.0) {
        return whole;
    }
    const double left = pairing->reach - cr_model_thickness(model, a, b);
    return cr_min(cr_max(left, thinnest * whole), deepest * pairing->reach);
}

// m, how far from its closest point a body would feel friction by itself.
static double own_lever(const cr_model* model, int32_t body)
{
    return model->body_sheet[body] >= 0 ? 0.0 : cr_body_set_reach(&model->bodies, body);
}

cr_pair_numbers cr_pair_law(const cr_model* model, const double* sheet_mass, int32_t a, int32_t b)
{
    const cr_body_set* set = &model->bodies;
    const int32_t body[2] = {a, b};
    cr_pair_numbers out = {.thickness = cr_model_reach(model, a, b),
                           .width = width_of(model, a, b),
                           .friction = cr_model_friction(model, a, b)};
    double mass = 0.0, levers = 0.0;
    int count = 0;
    for (int i = 0; i < 2; i++) {
        mass += moves(model, body[i]) ? mass_of(model, sheet_mass, body[i]) : 0.0;
        count += moves(model, body[i]);
        levers += own_lever(model, body[i]);
    }
    const double press = 0.5 * (set->stiffness[a] + set->stiffness[b]);
    out.stiffness = mass / count * press / CR_BARRIER_HALFWAY;
    for (int i = 0; i < 2; i++) {
        out.lever[i] = levers > 0.0 ? out.thickness * own_lever(model, body[i]) / levers : 0.0;
    }
    return out;
}

// kg, what k is proportional to: both masses together, as it was when the numbers were made.
static double both_masses(const cr_model* model, int32_t a, int32_t b, const cr_pair_numbers* at)
{
    const double press = 0.5 * (model->bodies.stiffness[a] + model->bodies.stiffness[b]);
    return at->stiffness * CR_BARRIER_HALFWAY / press * (moves(model, a) + moves(model, b));
}

// Of reach and width to a change of one body's radius and width.
static void layer_rates(const cr_model* model, int32_t a, int32_t b, rates* out)
{
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    const double by_radius = !pairing || pairing->thickness < 0.0 ? 1.0 : 0.0;
    if (!pairing || pairing->reach < 0.0) {
        out->reach_by_radius = by_radius;
        out->reach_by_width = out->width_by_width = 1.0;
        return;
    }
    const double whole = model->bodies.width[a] + model->bodies.width[b];
    const double left = pairing->reach - cr_model_thickness(model, a, b);
    if (cr_max(left, thinnest * whole) < deepest * pairing->reach) {
        out->width_by_radius = left > thinnest * whole ? -by_radius : 0.0;
        out->width_by_width = left > thinnest * whole ? 0.0 : thinnest;
    }
}

static rates rates_of(const cr_model* model, int32_t a, int32_t b, int side,
                      const cr_pair_numbers* at)
{
    const cr_body_set* set = &model->bodies;
    const int32_t body[2] = {a, b}, own = body[side];
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    rates r = {.sheet = model->body_sheet[own],
               .moves = moves(model, own),
               .stiffness_by_mass = at->stiffness / both_masses(model, a, b, at),
               .stiffness_by_own = at->stiffness / (set->stiffness[a] + set->stiffness[b])};
    layer_rates(model, a, b, &r);
    if ((!pairing || pairing->friction < 0.0) && at->friction > 0.0) {
        r.friction = 0.5 * at->friction / set->friction[own];
    }
    const double ra = own_lever(model, a), rb = own_lever(model, b), sum = ra + rb;
    for (int k = 0; k < 2 && sum > 0.0; k++) { // lever_k = reach r_k / sum
        const double rk = k == 0 ? ra : rb;
        const double own_share =
            r.sheet < 0 ? at->thickness * ((k == side) * sum - rk) / (sum * sum) : 0.0;
        r.lever_by_radius[k] = r.reach_by_radius * rk / sum + own_share;
        r.lever_by_width[k] = r.reach_by_width * rk / sum + own_share;
    }
    return r;
}

void cr_pair_law_adj(const cr_model* model, int32_t a, int32_t b, const cr_pair_numbers* at,
                     const cr_pair_numbers* bar, const cr_pair_sources* out)
{
    const int32_t body[2] = {a, b};
    for (int side = 0; side < 2; side++) {
        const int32_t own = body[side];
        const rates r = rates_of(model, a, b, side, at);
        out->radius[own] += r.reach_by_radius * bar->thickness + r.width_by_radius * bar->width +
                            r.lever_by_radius[0] * bar->lever[0] +
                            r.lever_by_radius[1] * bar->lever[1];
        out->width[own] += r.reach_by_width * bar->thickness + r.width_by_width * bar->width +
                           r.lever_by_width[0] * bar->lever[0] +
                           r.lever_by_width[1] * bar->lever[1];
        out->stiffness[own] += r.stiffness_by_own * bar->stiffness;
        out->friction[own] += r.friction * bar->friction;
        const double mass_bar = r.stiffness_by_mass * bar->stiffness;
        if (r.moves && r.sheet < 0) {
            out->mass[model->bodies.frame[own]] += mass_bar;
        }
        for (int32_t n = r.sheet < 0 ? 0 : model->sheet_node[r.sheet],
                     end = r.sheet < 0 ? 0 : model->sheet_node[r.sheet + 1], count = end - n;
             n < end; n++) {
            out->node_mass[n] += mass_bar / count;
        }
    }
}

cr_pair_numbers cr_pair_law_jvp(const cr_model* model, int32_t a, int32_t b,
                                const cr_pair_numbers* at, const cr_pair_sources* by)
{
    const int32_t body[2] = {a, b};
    cr_pair_numbers out = {0};
    for (int side = 0; side < 2; side++) {
        const int32_t own = body[side];
        const rates r = rates_of(model, a, b, side, at);
        const double dr = by->radius[own], dw = by->width[own];
        double dm = r.moves && r.sheet < 0 ? by->mass[model->bodies.frame[own]] : 0.0;
        for (int32_t n = r.sheet < 0 ? 0 : model->sheet_node[r.sheet],
                     end = r.sheet < 0 ? 0 : model->sheet_node[r.sheet + 1], count = end - n;
             n < end; n++) {
            dm += by->node_mass[n] / count;
        }
        out.thickness += r.reach_by_radius * dr + r.reach_by_width * dw;
        out.width += r.width_by_radius * dr + r.width_by_width * dw;
        out.stiffness += r.stiffness_by_mass * dm + r.stiffness_by_own * by->stiffness[own];
        out.friction += r.friction * by->friction[own];
        for (int k = 0; k < 2; k++) {
            out.lever[k] += r.lever_by_radius[k] * dr + r.lever_by_width[k] * dw;
        }
    }
    return out;
}
