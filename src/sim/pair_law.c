#include "sim/pair_law.h"
#include "contact/barrier.h"

// The derivatives of the numbers with respect to those of either side.
typedef struct rates {
    int32_t sheet; // -1: a rigid body
    int32_t moves;
    double thickness; // of the thickness to this side's radius
    double width_by_width, width_by_radius;
    double stiffness_by_mass, stiffness_by_own;
    double friction;
    double lever[2]; // of both levers to this side's radius
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

static double own_width(const cr_model* model, int32_t body)
{
    return cr_min(model->bodies.width[body], model->bodies.radius[body]);
}

static double lever_radius(const cr_model* model, int32_t body)
{
    return model->body_sheet[body] >= 0 ? 0.0 : model->bodies.radius[body];
}

cr_pair_numbers cr_pair_law(const cr_model* model, const double* sheet_mass, int32_t a, int32_t b)
{
    const cr_body_set* set = &model->bodies;
    const int32_t body[2] = {a, b};
    const double usual = set->radius[a] + set->radius[b];
    cr_pair_numbers out = {.thickness = cr_model_thickness(model, a, b),
                           .friction = cr_model_friction(model, a, b)};
    out.width = own_width(model, a) + own_width(model, b);
    out.width *= out.thickness < usual ? out.thickness / usual : 1.0;
    double mass = 0.0, levers = 0.0;
    int count = 0;
    for (int i = 0; i < 2; i++) {
        mass += moves(model, body[i]) ? mass_of(model, sheet_mass, body[i]) : 0.0;
        count += moves(model, body[i]);
        levers += lever_radius(model, body[i]);
    }
    const double press = 0.5 * (set->stiffness[a] + set->stiffness[b]);
    out.stiffness = mass / count * press / CR_BARRIER_HALFWAY;
    for (int i = 0; i < 2; i++) {
        out.lever[i] = levers > 0.0 ? out.thickness * lever_radius(model, body[i]) / levers : 0.0;
    }
    return out;
}

// kg, what k is proportional to: both masses together, as it was when the numbers were made.
static double both_masses(const cr_model* model, int32_t a, int32_t b, const cr_pair_numbers* at)
{
    const double press = 0.5 * (model->bodies.stiffness[a] + model->bodies.stiffness[b]);
    return at->stiffness * CR_BARRIER_HALFWAY / press * (moves(model, a) + moves(model, b));
}

static rates rates_of(const cr_model* model, int32_t a, int32_t b, int side,
                      const cr_pair_numbers* at)
{
    const cr_body_set* set = &model->bodies;
    const int32_t body[2] = {a, b}, own = body[side];
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    const double usual = set->radius[a] + set->radius[b];
    const int sums = !pairing || pairing->thickness < 0.0, less = at->thickness < usual;
    const int narrow = set->width[own] < set->radius[own];
    const double share = less ? at->thickness / usual : 1.0;
    rates r = {.sheet = model->body_sheet[own],
               .moves = moves(model, own),
               .thickness = sums ? 1.0 : 0.0,
               .width_by_width = narrow ? share : 0.0,
               .width_by_radius = (narrow ? 0.0 : share) - (less ? at->width / usual : 0.0),
               .stiffness_by_mass = at->stiffness / both_masses(model, a, b, at),
               .stiffness_by_own = at->stiffness / (set->stiffness[a] + set->stiffness[b])};
    if ((!pairing || pairing->friction < 0.0) && at->friction > 0.0) {
        r.friction = 0.5 * at->friction / set->friction[own];
    }
    const double ra = lever_radius(model, a), rb = lever_radius(model, b), sum = ra + rb;
    for (int k = 0; k < 2 && sum > 0.0; k++) { // lever_k = thickness r_k / sum
        const double rk = k == 0 ? ra : rb;
        r.lever[k] = r.thickness * rk / sum;
        if (r.sheet < 0) {
            r.lever[k] += at->thickness * ((k == side) * sum - rk) / (sum * sum);
        }
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
        out->radius[own] += r.thickness * bar->thickness + r.width_by_radius * bar->width +
                            r.lever[0] * bar->lever[0] + r.lever[1] * bar->lever[1];
        out->width[own] += r.width_by_width * bar->width;
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
        const double dr = by->radius[own];
        double dm = r.moves && r.sheet < 0 ? by->mass[model->bodies.frame[own]] : 0.0;
        for (int32_t n = r.sheet < 0 ? 0 : model->sheet_node[r.sheet],
                     end = r.sheet < 0 ? 0 : model->sheet_node[r.sheet + 1], count = end - n;
             n < end; n++) {
            dm += by->node_mass[n] / count;
        }
        out.thickness += r.thickness * dr;
        out.width += r.width_by_radius * dr + r.width_by_width * by->width[own];
        out.stiffness += r.stiffness_by_mass * dm + r.stiffness_by_own * by->stiffness[own];
        out.friction += r.friction * by->friction[own];
        out.lever[0] += r.lever[0] * dr;
        out.lever[1] += r.lever[1] * dr;
    }
    return out;
}
