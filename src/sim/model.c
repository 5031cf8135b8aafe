#include "sim/model.h"
#include "core/memory.h"
#include <string.h>

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
                            model->xv0,
                            model->density,
                            model->place};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cr_memory_free(blocks[i]);
    }
    cr_body_set_release(&model->bodies);
    cr_surface_release(&model->surface);
    cr_memory_free(model);
}

// ---- copies

// A copy of count items of size bytes; *ok turns 0 when it cannot be had. NULL stays NULL.
static void* twin(const void* from, size_t count, size_t size, int* ok)
{
    if (!from || !*ok) {
        return NULL;
    }
    void* to = cr_memory_take(count, size);
    if (to && count > 0) {
        memcpy(to, from, count * size);
    }
    *ok = to != NULL;
    return to;
}

#define TWIN(from, count) twin((from), (size_t)(count), sizeof *(from), &ok)

static int copy_bodies(cr_body_set* to, const cr_body_set* from)
{
    const size_t b = (size_t)from->body_count, v = (size_t)from->vertex_count;
    const size_t f = (size_t)from->frame_count, n = (size_t)from->node_count;
    int ok = 1;
    *to = (cr_body_set){.body_count = from->body_count,
                        .vertex_count = from->vertex_count,
                        .frame_count = from->frame_count,
                        .node_count = from->node_count};
    to->kind = TWIN(from->kind, b);
    to->frame = TWIN(from->frame, b);
    to->vertex = TWIN(from->vertex, b + 1);
    to->radius = TWIN(from->radius, b);
    to->width = TWIN(from->width, b);
    to->stiffness = TWIN(from->stiffness, b);
    to->friction = TWIN(from->friction, b);
    to->restitution = TWIN(from->restitution, b);
    to->vertex_body = TWIN(from->vertex_body, v);
    to->node = TWIN(from->node, v);
    to->p = TWIN(from->p, 3 * v);
    to->frame_body = TWIN(from->frame_body, f);
    to->mass = TWIN(from->mass, f);
    to->inertia = TWIN(from->inertia, 3 * f);
    to->extent = TWIN(from->extent, f);
    to->lock = TWIN(from->lock, f);
    to->node_vertex = TWIN(from->node_vertex, n);
    to->node_mass = TWIN(from->node_mass, n);
    to->node_pinned = TWIN(from->node_pinned, n);
    return ok;
}

static int copy_surface(cr_surface* to, const cr_surface* from)
{
    const size_t b = (size_t)from->body_count;
    int ok = 1;
    *to = (cr_surface){.body_count = from->body_count,
                       .vertex_count = from->vertex_count,
                       .edge_count = from->edge_count,
                       .face_count = from->face_count,
                       .pass_count = from->pass_count};
    to->edge = TWIN(from->edge, 2 * (size_t)from->edge_count);
    to->face = TWIN(from->face, 3 * (size_t)from->face_count);
    to->vertex_body = TWIN(from->vertex_body, from->vertex_count);
    to->body_vertex = TWIN(from->body_vertex, b + 1);
    to->body_edge = TWIN(from->body_edge, b + 1);
    to->body_face = TWIN(from->body_face, b + 1);
    to->body_flags = TWIN(from->body_flags, b);
    to->body_group = TWIN(from->body_group, b);
    to->pass = TWIN(from->pass, 2 * (size_t)from->pass_count);
    return ok;
}

static int copy_sheet(cr_cloth* to, const cr_cloth* from)
{
    int ok = 1;
    *to = (cr_cloth){.node_count = from->node_count,
                     .face_count = from->face_count,
                     .hinge_count = from->hinge_count,
                     .pair_count = from->pair_count};
    to->face = TWIN(from->face, 3 * (size_t)from->face_count);
    to->corner = TWIN(from->corner, 6 * (size_t)from->face_count);
    to->rest = TWIN(from->rest, from->face_count);
    to->node_area = TWIN(from->node_area, from->node_count);
    to->hinge = TWIN(from->hinge, 4 * (size_t)from->hinge_count);
    to->hinge_corner = TWIN(from->hinge_corner, 6 * (size_t)from->hinge_count);
    to->bend = TWIN(from->bend, from->hinge_count);
    to->pair = TWIN(from->pair, from->pair_count);
    to->face_pair = TWIN(from->face_pair, 6 * (size_t)from->face_count);
    to->hinge_pair = TWIN(from->hinge_pair, 10 * (size_t)from->hinge_count);
    return ok;
}

static int copy_sheets(cr_model* to, const cr_model* from)
{
    int ok = 1;
    to->material = TWIN(from->material, from->sheet_count);
    to->sheet_body = TWIN(from->sheet_body, from->sheet_count);
    to->sheet_node = TWIN(from->sheet_node, from->sheet_count + 1);
    to->body_sheet = TWIN(from->body_sheet, from->bodies.body_count);
    to->sheet = cr_memory_take((size_t)from->sheet_count, sizeof *to->sheet);
    ok = ok && to->sheet;
    for (; ok && to->sheet_count < from->sheet_count; to->sheet_count++) {
        ok = copy_sheet(&to->sheet[to->sheet_count], &from->sheet[to->sheet_count]);
    }
    return ok;
}

static int copy_actions(cr_model* to, const cr_model* from)
{
    int ok = 1;
    to->script = cr_memory_take((size_t)from->script_count, sizeof *to->script);
    to->load = cr_memory_take((size_t)from->load_count, sizeof *to->load);
    ok = to->script && to->load;
    for (int32_t i = 0; ok && i < from->script_count; i++) {
        const cr_script* s = &from->script[i];
        cr_script* copy = &to->script[to->script_count++];
        *copy = (cr_script){.key_count = s->key_count, .smooth = s->smooth};
        copy->time = TWIN(s->time, s->key_count);
        copy->shift = TWIN(s->shift, 3 * (size_t)s->key_count);
        copy->turn = TWIN(s->turn, 3 * (size_t)s->key_count);
    }
    for (int32_t i = 0; ok && i < from->load_count; i++) {
        const cr_load* l = &from->load[i];
        cr_load* copy = &to->load[to->load_count++];
        *copy = (cr_load){.body = l->body, .node = l->node, .step_count = l->step_count};
        copy->force = TWIN(l->force, 3 * (size_t)l->step_count);
        copy->torque = TWIN(l->torque, 3 * (size_t)l->step_count);
    }
    to->frame_script = TWIN(from->frame_script, from->bodies.frame_count);
    to->node_script = TWIN(from->node_script, from->bodies.node_count);
    to->pairing_count = from->pairing_count;
    to->pairing = TWIN(from->pairing, from->pairing_count);
    to->linear_damping = TWIN(from->linear_damping, from->bodies.body_count);
    to->angular_damping = TWIN(from->angular_damping, from->bodies.body_count);
    return ok;
}

static int copy_start(cr_model* to, const cr_model* from)
{
    const size_t f = (size_t)from->bodies.frame_count, n = (size_t)from->bodies.node_count;
    int ok = 1;
    to->t0 = TWIN(from->t0, 3 * f);
    to->q0 = TWIN(from->q0, 4 * f);
    to->v0 = TWIN(from->v0, 3 * f);
    to->om0 = TWIN(from->om0, 3 * f);
    to->own_t = TWIN(from->own_t, 3 * f);
    to->own_q = TWIN(from->own_q, 4 * f);
    to->x0 = TWIN(from->x0, 3 * n);
    to->xv0 = TWIN(from->xv0, 3 * n);
    to->density = TWIN(from->density, from->bodies.body_count);
    to->place = TWIN(from->place, 3 * (size_t)from->bodies.body_count);
    return ok;
}

cr_model* cr_model_copy(const cr_model* model)
{
    cr_model* copy = cr_memory_take(1, sizeof *copy);
    if (!copy) {
        return NULL;
    }
    copy->world = model->world;
    int ok = copy_bodies(&copy->bodies, &model->bodies) &&
             copy_surface(&copy->surface, &model->surface) && copy_sheets(copy, model) &&
             copy_actions(copy, model) && copy_start(copy, model);
    const int32_t bodies = model->bodies.body_count;
    copy->name = ok ? cr_memory_take((size_t)bodies, sizeof *copy->name) : NULL;
    ok = ok && copy->name;
    for (int32_t i = 0; ok && i < bodies; i++) {
        copy->name[i] = TWIN(model->name[i], strlen(model->name[i]) + 1);
    }
    if (!ok) {
        cr_model_destroy(copy);
        return NULL;
    }
    return copy;
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

double cr_model_reach(const cr_model* model, int32_t a, int32_t b)
{
    const cr_pairing* pairing = cr_model_pairing(model, a, b);
    return pairing && pairing->reach >= 0.0
               ? pairing->reach
               : cr_model_thickness(model, a, b) + model->bodies.width[a] + model->bodies.width[b];
}

double cr_model_start(const cr_model* model, int32_t a, int32_t b)
{
    const double thickness = cr_model_thickness(model, a, b);
    return thickness + 0.5 * (model->bodies.width[a] + model->bodies.width[b]);
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

// ---- scripts

// A script at a time is a sum of at most four keys' values with these weights.
typedef struct blend {
    int32_t count;
    int32_t key[4];
    double weight[4];
} blend;

static void add_key(blend* b, int32_t key, double weight)
{
    for (int32_t i = 0; i < b->count; i++) {
        if (b->key[i] == key) {
            b->weight[i] += weight;
            return;
        }
    }
    b->key[b->count] = key;
    b->weight[b->count++] = weight;
}

// Slope at key k of the smooth way, times `factor`: that of the line between its neighbours, and
// none at both ends.
static void add_slope(blend* b, const cr_script* s, int32_t k, double factor)
{
    if (k > 0 && k < s->key_count - 1) {
        const double rate = factor / (s->time[k + 1] - s->time[k - 1]);
        add_key(b, k + 1, rate);
        add_key(b, k - 1, -rate);
    }
}

static blend blend_at(const cr_script* s, double time)
{
    const int32_t last = s->key_count - 1;
    blend b = {0};
    if (last == 0 || !(time > s->time[0])) {
        add_key(&b, 0, 1.0);
        return b;
    }
    int32_t k = 0, end = last; // the key before or at the time, by halving
    while (end - k > 1) {
        const int32_t middle = k + (end - k) / 2;
        if (s->time[middle] <= time) {
            k = middle;
        } else {
            end = middle;
        }
    }
    const double h = s->time[k + 1] - s->time[k];
    const double u = cr_min(1.0, (time - s->time[k]) / h), w = 1.0 - u;
    // straight, or the cubic with values a, b and slopes m, n at u = 0, 1
    const double to = s->smooth ? u * u * (3.0 - 2.0 * u) : u;
    add_key(&b, k, 1.0 - to);
    add_key(&b, k + 1, to);
    if (s->smooth) {
        add_slope(&b, s, k, h * u * w * w);
        add_slope(&b, s, k + 1, -h * u * u * w);
    }
    return b;
}

void cr_model_script_at(const cr_script* script, double time, cr_vec3* shift, cr_vec3* turn)
{
    const blend b = blend_at(script, time);
    *shift = *turn = (cr_vec3){0, 0, 0};
    for (int32_t i = 0; i < b.count; i++) {
        const size_t k = 3 * (size_t)b.key[i];
        *shift = cr_vec3_add_scaled(*shift, b.weight[i], cr_vec3_load(script->shift + k));
        if (script->turn) {
            *turn = cr_vec3_add_scaled(*turn, b.weight[i], cr_vec3_load(script->turn + k));
        }
    }
}

void cr_model_script_at_adj(const cr_script* script, double time, cr_vec3 shift_bar,
                            cr_vec3 turn_bar, double* shift_keys_bar, double* turn_keys_bar)
{
    const blend b = blend_at(script, time);
    for (int32_t i = 0; i < b.count; i++) {
        const size_t k = 3 * (size_t)b.key[i];
        cr_vec3_accumulate(shift_keys_bar + k, cr_vec3_scale(b.weight[i], shift_bar));
        cr_vec3_accumulate(turn_keys_bar + k, cr_vec3_scale(b.weight[i], turn_bar));
    }
}
