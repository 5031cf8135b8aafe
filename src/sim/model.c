#include "sim/model.h"
#include "core/memory.h"

void cr_model_destroy(cr_model* model)
{
    if (!model) {
        return;
    }
    for (int32_t i = 0; model->name && i < model->bodies.body_count; i++) {
        cr_memory_free(model->name[i]);
    }
    for (int32_t i = 0; model->sheet && i < model->sheet_count; i++) {
        cr_cloth_release(&model->sheet[i]);
    }
    for (int32_t i = 0; model->script && i < model->script_count; i++) {
        cr_memory_free(model->script[i].time);
        cr_memory_free(model->script[i].shift);
        cr_memory_free(model->script[i].turn);
    }
    for (int32_t i = 0; model->load && i < model->load_count; i++) {
        cr_memory_free(model->load[i].force);
        cr_memory_free(model->load[i].torque);
    }
    for (int32_t i = 0; model->note && i < model->note_count; i++) {
        cr_memory_free(model->note[i]);
    }
    void* const blocks[] = {model->note,
                            model->material,
                            model->name,
                            model->sheet,
                            model->sheet_body,
                            model->sheet_node,
                            model->body_sheet,
                            model->script,
                            model->frame_script,
                            model->node_script,
                            model->load,
                            model->pairing,
                            model->linear_damping,
                            model->angular_damping,
                            model->t0,
                            model->q0,
                            model->v0,
                            model->om0,
                            model->own_t,
                            model->own_q,
                            model->x0,
                            model->xv0};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
    cr_body_set_release(&model->bodies);
    cr_surface_release(&model->surface);
    cr_memory_free(model);
}

const cr_pairing* cr_model_pairing(const cr_model* model, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    int32_t first = 0, end = model->pairing_count;
    while (first < end) {
        const int32_t middle = first + (end - first) / 2;
        const int32_t* body = model->pairing[middle].body;
        if (body[0] < low || (body[0] == low && body[1] < high)) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    const int hit = first < model->pairing_count && model->pairing[first].body[0] == low &&
                    model->pairing[first].body[1] == high;
    return hit ? &model->pairing[first] : NULL;
}

double cr_model_thickness(const cr_model* model, int32_t a, int32_t b)
{
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    return pairing && pairing->thickness >= 0.0 ? pairing->thickness
                                                : model->bodies.radius[a] + model->bodies.radius[b];
}

double cr_model_friction(const cr_model* model, int32_t a, int32_t b)
{
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    return pairing && pairing->friction >= 0.0 ? pairing->friction
                                               : cr_body_set_friction(&model->bodies, a, b);
}

double cr_model_restitution(const cr_model* model, int32_t a, int32_t b)
{
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    return pairing && pairing->restitution >= 0.0 ? pairing->restitution
                                                  : cr_body_set_restitution(&model->bodies, a, b);
}

// Slope at key k per unit of time, of the smooth way: that of the line between its neighbours, and
// none at both ends.
static cr_vec3 slope(const cr_script* s, const double* value, int32_t k)
{
    if (k == 0 || k == s->key_count - 1) {
        return (cr_vec3){0, 0, 0};
    }
    const cr_vec3 rise =
        cr_vec3_sub(cr_vec3_load(value + 3 * (k + 1)), cr_vec3_load(value + 3 * (k - 1)));
    return cr_vec3_scale(1.0 / (s->time[k + 1] - s->time[k - 1]), rise);
}

static cr_vec3 value_at(const cr_script* s, const double* value, int32_t k, double u)
{
    const cr_vec3 a = cr_vec3_load(value + 3 * k), b = cr_vec3_load(value + 3 * (k + 1));
    if (!s->smooth) {
        return cr_vec3_add_scaled(a, u, cr_vec3_sub(b, a));
    }
    // the cubic with values a, b and slopes m, n at u = 0, 1
    const double h = s->time[k + 1] - s->time[k], w = 1.0 - u;
    const cr_vec3 m = slope(s, value, k), n = slope(s, value, k + 1);
    cr_vec3 y = cr_vec3_add_scaled(a, u * u * (3.0 - 2.0 * u), cr_vec3_sub(b, a));
    y = cr_vec3_add_scaled(y, h * u * w * w, m);
    return cr_vec3_add_scaled(y, -h * u * u * w, n);
}

void cr_model_script_at(const cr_script* script, double time, cr_vec3* shift, cr_vec3* turn)
{
    const int32_t last = script->key_count - 1;
    int32_t k = 0;
    double u = 0.0;
    if (last > 0 && time > script->time[0]) {
        int32_t first = 0, end = last; // the key before or at the time, by halving
        while (end - first > 1) {
            const int32_t middle = first + (end - first) / 2;
            if (script->time[middle] <= time) {
                first = middle;
            } else {
                end = middle;
            }
        }
        k = first;
        u = cr_min(1.0, (time - script->time[k]) / (script->time[k + 1] - script->time[k]));
    }
    if (last == 0) {
        *shift = cr_vec3_load(script->shift);
        *turn = script->turn ? cr_vec3_load(script->turn) : (cr_vec3){0, 0, 0};
        return;
    }
    *shift = value_at(script, script->shift, k, u);
    *turn = script->turn ? value_at(script, script->turn, k, u) : (cr_vec3){0, 0, 0};
}
