#include "adjoint/parameters.h"
#include "core/assert.h"
#include "core/memory.h"
#include "math/rot.h"
#include "mesh/mass.h"
#include <string.h>

// Principal moments nearer than this, relative to the largest, have no axes of their own to follow.
static const double distinct = 1e-5;
// Moments and moduli that differ by less, relatively, are meant to be what they look like.
static const double alike = 1e-9;

struct cr_parameters {
    const cr_model* scene; // as built
    cr_model* model;       // with theta
    const cr_goal* goal;
    int64_t steps;
    int32_t size;
    cr_parameters_slot* slot; // [goal->parameter_count]
    int32_t* load;            // [goal->parameter_count] first load of its own, -1: none
    int32_t* solid;           // [body_count] nonzero: mass follows the vertices
    int32_t* whole;           // [sheet_count] nonzero: every node has one place at rest
    double* corner;           // scratch, 6 per face of the largest sheet
    double *origin, *theta;   // [size]
    cr_trimesh* mesh;         // [body_count] of rigid bodies whose vertices are asked for
    double* solid_bar;        // scratch, 3 per vertex of the largest of them
};

typedef cr_parameters parameters;

// ---- small helpers

static double* node_x(const cr_model* m, int32_t n)
{
    return m->x0 + 3 * (size_t)n;
}

static void sheet_nodes(const cr_model* m, int32_t body, int32_t* from, int32_t* to)
{
    const int32_t s = m->body_sheet[body];
    *from = m->sheet_node[s];
    *to = m->sheet_node[s + 1];
}

static int asks(const parameters* p, int32_t what, int32_t body)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        if (p->goal->parameter[i].what == what && p->goal->parameter[i].body == body) {
            return 1;
        }
    }
    return 0;
}

// Whether every node has one place in the rest shape: uv [2*node_count] gets it, corner by corner,
// and every other corner has to agree.
static int one_piece(const cr_cloth* sheet, double* uv)
{
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        memcpy(uv + 2 * (size_t)sheet->face[c], sheet->corner + 2 * (size_t)c, 2 * sizeof(double));
    }
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const double *a = sheet->corner + 2 * (size_t)c, *b = uv + 2 * (size_t)sheet->face[c];
        if (a[0] != b[0] || a[1] != b[1]) {
            return 0;
        }
    }
    return 1;
}

// Scripts of a body: of a frame its own, of cloth those of its pins, ascending.
static int has_script(const cr_model* m, int32_t body, int32_t script)
{
    const int32_t f = m->bodies.frame[body];
    if (f >= 0) {
        return m->frame_script[f] == script;
    }
    int32_t from, to;
    sheet_nodes(m, body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        if (m->node_script[n] == script) {
            return 1;
        }
    }
    return 0;
}

static int32_t pinned_count(const cr_model* m, int32_t body)
{
    int32_t from, to, count = 0;
    sheet_nodes(m, body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        count += m->bodies.node_pinned[n] != 0;
    }
    return count;
}

static int32_t script_numbers(const cr_model* m, int32_t body)
{
    const int32_t per_key = m->bodies.frame[body] >= 0 ? 6 : 3;
    int32_t count = 0;
    for (int32_t s = 0; s < m->script_count; s++) {
        count += has_script(m, body, s) ? per_key * m->script[s].key_count : 0;
    }
    return count;
}

// Numbers of one entry of the list.
static int64_t numbers_of(const parameters* p, const cr_goal_parameter* g)
{
    static const int32_t fixed[] = {
#define X(code, name, who, numbers, about) numbers,
        CR_GOAL_PARAMETER_LIST(X)
#undef X
    };
    const cr_model* m = p->scene;
    const cr_cloth* sheet =
        g->body >= 0 && m->body_sheet[g->body] >= 0 ? &m->sheet[m->body_sheet[g->body]] : NULL;
    switch (g->what) {
    case CR_GOAL_OF_FORCES:
    case CR_GOAL_OF_TORQUES:
        return 3 * p->steps;
    case CR_GOAL_OF_VERTICES:
        return 3 * (int64_t)(m->bodies.vertex[g->body + 1] - m->bodies.vertex[g->body]);
    case CR_GOAL_OF_REST:
        CR_ASSERT(sheet); // the scene's reader lets cloth alone have one
        return p->whole[m->body_sheet[g->body]] ? 2 * (int64_t)sheet->node_count
                                                : 6 * (int64_t)sheet->face_count;
    case CR_GOAL_OF_PINS:
        return 3 * (int64_t)pinned_count(m, g->body);
    case CR_GOAL_OF_SCRIPT:
        return script_numbers(m, g->body);
    default:
        return fixed[g->what];
    }
}

// The number of a sheet's material that a parameter stands for; NULL: none does.
static double* modulus(cr_cloth_material* m, int32_t what)
{
    switch (what) {
    case CR_GOAL_OF_C11:
        return &m->c11;
    case CR_GOAL_OF_C22:
        return &m->c22;
    case CR_GOAL_OF_C12:
        return &m->c12;
    case CR_GOAL_OF_C33:
        return &m->c33;
    case CR_GOAL_OF_BEND:
        return &m->bend;
    case CR_GOAL_OF_DAMPING:
        return &m->damping;
    case CR_GOAL_OF_BEND_DAMPING:
        return &m->bend_damping;
    case CR_GOAL_OF_DRAG_NORMAL:
        return &m->drag_normal;
    case CR_GOAL_OF_DRAG_TANGENT:
        return &m->drag_tangent;
    default:
        return NULL;
    }
}

static void young_of(const cr_cloth_material* m, double* young, double* poisson)
{
    *poisson = m->c12 / m->c11;
    *young = m->c11 * (1.0 - *poisson * *poisson);
}

static int isotropic(const cr_cloth_material* m)
{
    double young, poisson;
    young_of(m, &young, &poisson);
    const cr_membrane_law law = cr_membrane_isotropic(young, poisson);
    return fabs(m->c22 - m->c11) <= alike * m->c11 && fabs(m->c33 - law.c33) <= alike * m->c33;
}

// ---- what the scene says

// The constant forces that act on a frame, or those that change, by step; and the same of torques.
static void scene_load(const cr_model* m, int32_t body, int torque, int constant, int64_t steps,
                       double* out)
{
    for (int32_t i = 0; i < m->load_count; i++) {
        const cr_load* load = &m->load[i];
        const double* from = torque ? load->torque : load->force;
        if (load->body != body || load->node >= 0 || !from ||
            (load->step_count == 1) != (constant != 0)) {
            continue;
        }
        for (int64_t k = 0; k < (constant ? 1 : steps); k++) {
            const int64_t at = k < load->step_count ? k : load->step_count - 1;
            cr_vec3_accumulate(out + 3 * k, cr_vec3_load(from + 3 * at));
        }
    }
}

static void scene_script(const cr_model* m, int32_t body, double* out)
{
    for (int32_t s = 0; s < m->script_count; s++) {
        for (int32_t k = 0; has_script(m, body, s) && k < m->script[s].key_count; k++) {
            memcpy(out, m->script[s].shift + 3 * (size_t)k, 3 * sizeof(double));
            out += 3;
            if (m->bodies.frame[body] >= 0) {
                memcpy(out, m->script[s].turn + 3 * (size_t)k, 3 * sizeof(double));
                out += 3;
            }
        }
    }
}

static void scene_pins(const cr_model* m, int32_t body, double* out)
{
    int32_t from, to;
    sheet_nodes(m, body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        if (m->bodies.node_pinned[n]) {
            memcpy(out, node_x(m, n), 3 * sizeof(double));
            out += 3;
        }
    }
}

static void scene_rest(const cr_cloth* sheet, int whole, double* out)
{
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const size_t at = 2 * (size_t)(whole ? sheet->face[c] : c);
        out[at] = sheet->corner[2 * (size_t)c];
        out[at + 1] = sheet->corner[2 * (size_t)c + 1];
    }
}

static void scene_center(const cr_model* m, int32_t f, double* out)
{
    const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * f));
    cr_vec3_store(out, cr_vec3_neg(cr_mat3_tapply(own, cr_vec3_load(m->own_t + 3 * f))));
}

static void scene_cloth(const parameters* p, int32_t what, int32_t body, double* out)
{
    const cr_model* m = p->scene;
    const int32_t s = m->body_sheet[body];
    int32_t from, to;
    sheet_nodes(m, body, &from, &to);
    double young, poisson;
    young_of(&m->material[s], &young, &poisson);
    switch (what) {
    case CR_GOAL_OF_VELOCITY:
        memcpy(out, m->xv0 + 3 * (size_t)from, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_DENSITY:
        *out = m->material[s].density;
        break;
    case CR_GOAL_OF_VERTICES:
        memcpy(out, node_x(m, from), 3 * (size_t)(to - from) * sizeof(double));
        break;
    case CR_GOAL_OF_STRETCH:
        *out = young;
        break;
    case CR_GOAL_OF_POISSON:
        *out = poisson;
        break;
    case CR_GOAL_OF_PINS:
        scene_pins(m, body, out);
        break;
    case CR_GOAL_OF_REST:
        scene_rest(&m->sheet[s], p->whole[s], out);
        break;
    default:
        if (modulus(&m->material[s], what)) {
            *out = *modulus(&m->material[s], what);
        }
    }
}

static void scene_frame(const cr_model* m, int32_t what, int32_t body, double* out)
{
    const int32_t f = m->bodies.frame[body];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * f));
    const int32_t from = m->bodies.vertex[body], to = m->bodies.vertex[body + 1];
    switch (what) {
    case CR_GOAL_OF_VELOCITY:
        memcpy(out, m->v0 + 3 * f, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_SPIN:
        cr_vec3_store(out, cr_mat3_apply(r, cr_vec3_load(m->om0 + 3 * f)));
        break;
    case CR_GOAL_OF_MASS:
        *out = m->bodies.mass[f];
        break;
    case CR_GOAL_OF_DENSITY:
        *out = m->density[body];
        break;
    case CR_GOAL_OF_INERTIA:
        memcpy(out, m->bodies.inertia + 3 * f, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_CENTER:
        scene_center(m, f, out);
        break;
    case CR_GOAL_OF_VERTICES:
        memcpy(out, m->bodies.p + 3 * (size_t)from, 3 * (size_t)(to - from) * sizeof(double));
        break;
    default:
        break;
    }
}

static void scene_value(const parameters* p, const cr_parameters_slot* slot, double* out)
{
    const cr_model* m = p->scene;
    const int32_t b = slot->body;
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        memcpy(out, m->place + 3 * (size_t)b, 3 * sizeof(double));
        return;
    case CR_GOAL_OF_FRICTION:
        *out = m->bodies.friction[b];
        return;
    case CR_GOAL_OF_RESTITUTION:
        *out = m->bodies.restitution[b];
        return;
    case CR_GOAL_OF_THICKNESS:
        *out = m->bodies.radius[b];
        return;
    case CR_GOAL_OF_GRAVITY:
        memcpy(out, m->world.gravity, sizeof m->world.gravity);
        return;
    case CR_GOAL_OF_WIND:
        memcpy(out, m->world.wind, sizeof m->world.wind);
        return;
    case CR_GOAL_OF_FORCE:
    case CR_GOAL_OF_FORCES:
    case CR_GOAL_OF_TORQUE:
    case CR_GOAL_OF_TORQUES: {
        const int torque = slot->what == CR_GOAL_OF_TORQUE || slot->what == CR_GOAL_OF_TORQUES;
        const int constant = slot->what == CR_GOAL_OF_FORCE || slot->what == CR_GOAL_OF_TORQUE;
        scene_load(m, b, torque, constant, p->steps, out);
        return;
    }
    case CR_GOAL_OF_SCRIPT:
        scene_script(m, b, out);
        return;
    default:
        break;
    }
    if (m->bodies.frame[b] < 0) {
        scene_cloth(p, slot->what, b, out);
    } else {
        scene_frame(m, slot->what, b, out);
    }
}

// ---- building

static carom_status refuse(carom_error* error, const parameters* p, int32_t i, const char* why)
{
    const cr_goal_parameter* g = &p->goal->parameter[i];
    return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "parameters: %s of \"%.60s\" %s",
                            cr_goal_parameter_name(g->what),
                            g->body >= 0 ? p->scene->name[g->body] : "the world", why);
}

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "no memory for the scene's parameters");
}

// The vertices of a rigid body as a mesh, in its frame.
static carom_status take_mesh(parameters* p, int32_t body)
{
    const cr_model* m = p->scene;
    const int32_t from = m->bodies.vertex[body], to = m->bodies.vertex[body + 1];
    const int32_t first = m->surface.body_face[body], last = m->surface.body_face[body + 1];
    cr_trimesh* mesh = &p->mesh[body];
    const carom_status status = cr_trimesh_init(mesh, to - from, last - first, 0);
    if (status != CAROM_OK) {
        return status;
    }
    memcpy(mesh->x, m->bodies.p + 3 * (size_t)from, 3 * (size_t)(to - from) * sizeof(double));
    for (int32_t i = 0; i < 3 * (last - first); i++) {
        mesh->face[i] = m->surface.face[3 * (size_t)first + (size_t)i] - from;
    }
    return CAROM_OK;
}

// Whether mass and inertia of a rigid body are what its mesh gives at some density.
static int follows_mesh(const parameters* p, int32_t body)
{
    const int32_t f = p->scene->bodies.frame[body];
    const double* moments = p->scene->bodies.inertia + 3 * f;
    const double scale = cr_max(moments[0], cr_max(moments[1], moments[2]));
    cr_mass mass;
    if (p->mesh[body].face_count == 0 || cr_mass_integrate(&p->mesh[body], &mass) != CAROM_OK) {
        return 0;
    }
    const double density = p->scene->bodies.mass[f] / mass.volume;
    const double size = p->scene->bodies.extent[f];
    int same = cr_vec3_norm(mass.centre) <= alike * size;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            const double is = i == k ? moments[i] : 0.0;
            same = same && fabs(density * mass.inertia.m[i][k] - is) <= alike * scale;
        }
    }
    return same;
}

static carom_status ready_vertices(parameters* p, int32_t i, carom_error* error)
{
    const int32_t body = p->goal->parameter[i].body;
    static const int32_t others[] = {CR_GOAL_OF_MASS, CR_GOAL_OF_DENSITY, CR_GOAL_OF_INERTIA,
                                     CR_GOAL_OF_CENTER};
    if (p->scene->bodies.kind[body] != CR_BODY_RIGID) {
        return CAROM_OK;
    }
    for (int k = 0; k < 4; k++) {
        if (asks(p, others[k], body)) {
            return refuse(error, p, i,
                          "cannot be asked for together with its mass, density, "
                          "inertia or centre of mass");
        }
    }
    if (take_mesh(p, body) != CAROM_OK) {
        return no_memory(error);
    }
    p->solid[body] = follows_mesh(p, body);
    const double* m = p->scene->bodies.inertia + 3 * p->scene->bodies.frame[body];
    const double least = distinct * m[2]; // they ascend
    if (p->solid[body] && !(m[1] - m[0] > least && m[2] - m[1] > least)) {
        return refuse(error, p, i,
                      "need principal moments that differ: equal ones have no axes to "
                      "follow. Make the body a little uneven, or give it mass and "
                      "inertia, which then stay");
    }
    return CAROM_OK;
}

static carom_status ready_slot(parameters* p, int32_t i, carom_error* error)
{
    const cr_goal_parameter* g = &p->goal->parameter[i];
    if (g->what == CR_GOAL_OF_VERTICES) {
        return ready_vertices(p, i, error);
    }
    if ((g->what == CR_GOAL_OF_STRETCH || g->what == CR_GOAL_OF_POISSON) &&
        !isotropic(&p->scene->material[p->scene->body_sheet[g->body]])) {
        return refuse(error, p, i,
                      "asks for a sheet that is the same in all directions; ask for "
                      "c11, c22, c12, c33 instead");
    }
    return CAROM_OK;
}

static int is_load(int32_t what)
{
    return what == CR_GOAL_OF_FORCE || what == CR_GOAL_OF_FORCES || what == CR_GOAL_OF_TORQUE ||
           what == CR_GOAL_OF_TORQUES;
}

// Loads of its own for each parameter that is one: what theta adds to the scene's.
static carom_status add_loads(parameters* p)
{
    cr_model* m = p->model;
    int32_t more = 0;
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_goal_parameter* g = &p->goal->parameter[i];
        if (is_load(g->what)) {
            const int32_t sheet = m->body_sheet[g->body];
            more += sheet >= 0 ? m->sheet[sheet].node_count : 1;
        }
    }
    cr_load* grown = cr_memory_grow(m->load, (size_t)m->load_count,
                                    (size_t)m->load_count + (size_t)more, sizeof *grown);
    if (!grown) {
        return CAROM_ERR_MEMORY;
    }
    m->load = grown;
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_goal_parameter* g = &p->goal->parameter[i];
        p->load[i] = -1;
        if (!is_load(g->what)) {
            continue;
        }
        p->load[i] = m->load_count;
        const int32_t sheet = m->body_sheet[g->body];
        const int32_t count = sheet >= 0 ? m->sheet[sheet].node_count : 1;
        for (int32_t k = 0; k < count; k++) {
            cr_load* load = &m->load[m->load_count++];
            *load = (cr_load){.body = g->body,
                              .node = sheet >= 0 ? m->sheet_node[sheet] + k : -1,
                              .step_count = p->slot[i].count / 3};
            load->force = cr_memory_take((size_t)p->slot[i].count, sizeof(double));
            load->torque =
                sheet < 0 ? cr_memory_take((size_t)p->slot[i].count, sizeof(double)) : NULL;
            if (!load->force || (sheet < 0 && !load->torque)) {
                return CAROM_ERR_MEMORY;
            }
        }
    }
    return CAROM_OK;
}

static carom_status build(parameters* p, carom_error* error)
{
    const size_t count = (size_t)p->goal->parameter_count;
    const size_t bodies = (size_t)p->scene->bodies.body_count;
    p->model = cr_model_copy(p->scene);
    p->slot = cr_memory_take(count, sizeof *p->slot);
    p->load = cr_memory_take(count, sizeof *p->load);
    p->solid = cr_memory_take(bodies, sizeof *p->solid);
    p->mesh = cr_memory_take(bodies, sizeof *p->mesh);
    p->whole = cr_memory_take((size_t)p->scene->sheet_count, sizeof *p->whole);
    size_t faces = 0;
    for (int32_t s = 0; s < p->scene->sheet_count; s++) {
        const size_t count_here = (size_t)p->scene->sheet[s].face_count;
        faces = count_here > faces ? count_here : faces;
    }
    p->corner = cr_memory_take(6 * faces, sizeof(double));
    if (!p->model || !p->slot || !p->load || !p->solid || !p->mesh || !p->whole || !p->corner) {
        return no_memory(error);
    }
    for (int32_t s = 0; s < p->scene->sheet_count; s++) { // a face has three nodes: it has the room
        p->whole[s] = one_piece(&p->scene->sheet[s], p->corner);
    }
    int64_t size = 0;
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_goal_parameter* g = &p->goal->parameter[i];
        const carom_status status = ready_slot(p, i, error);
        if (status != CAROM_OK) {
            return status;
        }
        const int64_t numbers = numbers_of(p, g);
        if (size + numbers > INT32_MAX) {
            return refuse(error, p, i, "is too many numbers");
        }
        p->slot[i] = (cr_parameters_slot){g->what, g->body, (int32_t)size, (int32_t)numbers};
        size += numbers;
    }
    int32_t vertices = 0;
    for (size_t b = 0; b < bodies; b++) {
        vertices = p->mesh[b].vertex_count > vertices ? p->mesh[b].vertex_count : vertices;
    }
    p->solid_bar = cr_memory_take(3 * (size_t)vertices, sizeof(double));
    p->size = (int32_t)size;
    p->origin = cr_memory_take((size_t)size, sizeof(double));
    p->theta = cr_memory_take((size_t)size, sizeof(double));
    if (!p->origin || !p->theta || !p->solid_bar || add_loads(p) != CAROM_OK) {
        return no_memory(error);
    }
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        scene_value(p, &p->slot[i], p->origin + p->slot[i].first);
    }
    memcpy(p->theta, p->origin, (size_t)size * sizeof(double));
    return CAROM_OK;
}

carom_status cr_parameters_create(const cr_model* model, const cr_goal* goal, int64_t steps,
                                  cr_parameters** out, carom_error* error)
{
    *out = NULL;
    parameters* p = cr_memory_take(1, sizeof *p);
    if (!p) {
        return no_memory(error);
    }
    p->scene = model;
    p->goal = goal;
    p->steps = steps;
    const carom_status status = build(p, error);
    if (status != CAROM_OK) {
        cr_parameters_destroy(p);
        return status;
    }
    *out = p;
    return CAROM_OK;
}

void cr_parameters_destroy(cr_parameters* p)
{
    if (!p) {
        return;
    }
    for (int32_t b = 0; p->mesh && b < p->scene->bodies.body_count; b++) {
        cr_trimesh_release(&p->mesh[b]);
    }
    cr_model_destroy(p->model);
    cr_memory_free(p->slot);
    cr_memory_free(p->load);
    cr_memory_free(p->solid);
    cr_memory_free(p->whole);
    cr_memory_free(p->corner);
    cr_memory_free(p->solid_bar);
    cr_memory_free(p->mesh);
    cr_memory_free(p->origin);
    cr_memory_free(p->theta);
    cr_memory_free(p);
}

int32_t cr_parameters_count(const cr_parameters* p)
{
    return p->goal->parameter_count;
}

int32_t cr_parameters_size(const cr_parameters* p)
{
    return p->size;
}

const cr_parameters_slot* cr_parameters_slot_at(const cr_parameters* p, int32_t i)
{
    return &p->slot[i];
}

const double* cr_parameters_scene(const cr_parameters* p)
{
    return p->origin;
}

const cr_model* cr_parameters_model(const cr_parameters* p)
{
    return p->model;
}

// One number for all components, one each, or the usual one. A shorter list begins again: three
// numbers bound every force of a list of forces.
static double listed(int32_t count, const double* list, int32_t i, double usual)
{
    return count == 0 ? usual : list[i % count];
}

void cr_parameters_range(const cr_parameters* p, double* start, double* least, double* most)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_goal_parameter* g = &p->goal->parameter[i];
        const cr_parameters_slot* slot = &p->slot[i];
        for (int32_t k = 0; k < slot->count; k++) {
            const int32_t at = slot->first + k;
            least[at] = listed(g->min_count, g->min, k, -HUGE_VAL);
            most[at] = listed(g->max_count, g->max, k, HUGE_VAL);
            start[at] = listed(g->start_count, g->start, k, p->origin[at]);
            start[at] = cr_min(cr_max(start[at], least[at]), most[at]);
        }
    }
}

// ---- writing

// What must hold of the numbers of a slot, in words; NULL: all is well.
static const char* trouble(const parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    for (int32_t k = 0; k < slot->count; k++) {
        if (!isfinite(theta[k])) {
            return "has to be finite";
        }
    }
    switch (slot->what) {
    case CR_GOAL_OF_MASS:
    case CR_GOAL_OF_DENSITY:
    case CR_GOAL_OF_STRETCH:
        return theta[0] > 0.0 ? NULL : "has to be above 0";
    case CR_GOAL_OF_INERTIA:
        return theta[0] > 0.0 && theta[1] > 0.0 && theta[2] > 0.0 ? NULL : "have to be above 0";
    case CR_GOAL_OF_FRICTION:
    case CR_GOAL_OF_THICKNESS:
    case CR_GOAL_OF_BEND:
    case CR_GOAL_OF_DAMPING:
    case CR_GOAL_OF_BEND_DAMPING:
    case CR_GOAL_OF_DRAG_NORMAL:
    case CR_GOAL_OF_DRAG_TANGENT:
    case CR_GOAL_OF_C11:
    case CR_GOAL_OF_C22:
    case CR_GOAL_OF_C33:
        return theta[0] >= 0.0 ? NULL : "may not be below 0";
    case CR_GOAL_OF_RESTITUTION:
        return theta[0] >= 0.0 && theta[0] <= 1.0 ? NULL : "has to be from 0 to 1";
    case CR_GOAL_OF_POISSON:
        return fabs(theta[0]) < 1.0 ? NULL : "has to be between -1 and 1";
    default:
        (void)p;
        return NULL;
    }
}

// Everything that some slot may change, as the scene has it.
static void restore(parameters* p)
{
    const cr_model* from = p->scene;
    cr_model* to = p->model;
    const size_t f = (size_t)from->bodies.frame_count, n = (size_t)from->bodies.node_count;
    const size_t b = (size_t)from->bodies.body_count, v = (size_t)from->bodies.vertex_count;
    to->world = from->world;
    memcpy(to->bodies.radius, from->bodies.radius, b * sizeof(double));
    memcpy(to->bodies.friction, from->bodies.friction, b * sizeof(double));
    memcpy(to->bodies.restitution, from->bodies.restitution, b * sizeof(double));
    memcpy(to->bodies.p, from->bodies.p, 3 * v * sizeof(double));
    memcpy(to->bodies.mass, from->bodies.mass, f * sizeof(double));
    memcpy(to->bodies.inertia, from->bodies.inertia, 3 * f * sizeof(double));
    memcpy(to->bodies.extent, from->bodies.extent, f * sizeof(double));
    memcpy(to->bodies.node_mass, from->bodies.node_mass, n * sizeof(double));
    memcpy(to->t0, from->t0, 3 * f * sizeof(double));
    memcpy(to->q0, from->q0, 4 * f * sizeof(double));
    memcpy(to->v0, from->v0, 3 * f * sizeof(double));
    memcpy(to->om0, from->om0, 3 * f * sizeof(double));
    memcpy(to->own_t, from->own_t, 3 * f * sizeof(double));
    memcpy(to->own_q, from->own_q, 4 * f * sizeof(double));
    memcpy(to->x0, from->x0, 3 * n * sizeof(double));
    memcpy(to->xv0, from->xv0, 3 * n * sizeof(double));
    memcpy(to->material, from->material, (size_t)from->sheet_count * sizeof *to->material);
}

// p = A^T (y - c), t = t_o + R_o c, R = R_o A, om = A^T om_o, for vertices y in the old frame,
// their centre c and principal axes A.
static carom_status write_solid(parameters* p, int32_t body, const double* y)
{
    cr_model* m = p->model;
    const int32_t f = m->bodies.frame[body], from = m->bodies.vertex[body];
    cr_trimesh* mesh = &p->mesh[body];
    memcpy(mesh->x, y, 3 * (size_t)mesh->vertex_count * sizeof(double));
    cr_vec3 centre = {0, 0, 0};
    cr_mat3 axes = cr_mat3_identity();
    if (p->solid[body]) {
        cr_mass mass;
        cr_vec3 moments;
        if (cr_mass_integrate(mesh, &mass) != CAROM_OK) {
            return CAROM_ERR_MESH;
        }
        cr_mass_principal(mass.inertia, &moments, &axes);
        centre = mass.centre;
        m->bodies.mass[f] = m->density[body] * mass.volume;
        cr_vec3_store(m->bodies.inertia + 3 * f, cr_vec3_scale(m->density[body], moments));
    }
    const cr_quat turn = cr_quat_from_matrix(axes), q = cr_quat_load(m->q0 + 4 * f);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const cr_vec3 at = cr_vec3_sub(cr_vec3_load(y + 3 * (size_t)v), centre);
        cr_vec3_store(m->bodies.p + 3 * (size_t)(from + v), cr_mat3_tapply(axes, at));
    }
    cr_vec3_accumulate(m->t0 + 3 * f, cr_mat3_apply(cr_quat_to_matrix(q), centre));
    if (p->solid[body]) {
        cr_quat_store(m->q0 + 4 * f, cr_quat_normalize(cr_quat_mul(q, turn)));
        cr_vec3_store(m->om0 + 3 * f, cr_mat3_tapply(axes, cr_vec3_load(m->om0 + 3 * f)));
        const cr_vec3 own = cr_vec3_sub(cr_vec3_load(m->own_t + 3 * f), centre);
        cr_vec3_store(m->own_t + 3 * f, cr_mat3_tapply(axes, own));
        cr_quat_store(m->own_q + 4 * f,
                      cr_quat_mul(cr_quat_conjugate(turn), cr_quat_load(m->own_q + 4 * f)));
    }
    return CAROM_OK;
}

static void write_center(parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    const int32_t f = m->bodies.frame[slot->body];
    const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * f));
    const cr_vec3 moved =
        cr_mat3_apply(own, cr_vec3_sub(cr_vec3_load(theta), cr_vec3_load(p->origin + slot->first)));
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * f));
    for (int32_t v = m->bodies.vertex[slot->body]; v < m->bodies.vertex[slot->body + 1]; v++) {
        cr_vec3_accumulate(m->bodies.p + 3 * (size_t)v, cr_vec3_neg(moved));
    }
    cr_vec3_accumulate(m->own_t + 3 * f, cr_vec3_neg(moved));
    cr_vec3_accumulate(m->t0 + 3 * f, cr_mat3_apply(r, moved));
}

static void write_frame(parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b];
    double* inertia = m->bodies.inertia + 3 * f;
    const cr_quat q = cr_quat_load(m->q0 + 4 * f);
    switch (slot->what) {
    case CR_GOAL_OF_ROTATION: { // the spin keeps its direction in the world
        const cr_vec3 spin = cr_mat3_apply(cr_quat_to_matrix(q), cr_vec3_load(m->om0 + 3 * f));
        const cr_quat turned =
            cr_quat_normalize(cr_quat_mul(cr_quat_from_rotation(cr_vec3_load(theta)), q));
        cr_quat_store(m->q0 + 4 * f, turned);
        cr_vec3_store(m->om0 + 3 * f, cr_mat3_tapply(cr_quat_to_matrix(turned), spin));
        break;
    }
    case CR_GOAL_OF_VELOCITY:
        memcpy(m->v0 + 3 * f, theta, 3 * sizeof(double));
        break;
    case CR_GOAL_OF_MASS:
    case CR_GOAL_OF_DENSITY: {
        const double factor = theta[0] / p->origin[slot->first];
        m->bodies.mass[f] *= factor;
        for (int i = 0; i < 3; i++) {
            inertia[i] *= factor;
        }
        break;
    }
    case CR_GOAL_OF_INERTIA:
        for (int i = 0; i < 3; i++) {
            inertia[i] *= theta[i] / p->origin[slot->first + i];
        }
        break;
    case CR_GOAL_OF_CENTER:
        write_center(p, slot, theta);
        break;
    case CR_GOAL_OF_VERTICES:
        memcpy(m->bodies.p + 3 * (size_t)m->bodies.vertex[b], theta,
               (size_t)slot->count * sizeof(double));
        break;
    default:
        break;
    }
}

static void write_spin(parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    const int32_t f = p->model->bodies.frame[slot->body];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(p->model->q0 + 4 * f));
    cr_vec3_store(p->model->om0 + 3 * f, cr_mat3_tapply(r, cr_vec3_load(theta)));
}

static void write_position(parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    const int32_t f = m->bodies.frame[slot->body];
    const cr_vec3 moved = cr_vec3_sub(cr_vec3_load(theta), cr_vec3_load(p->origin + slot->first));
    if (f >= 0) {
        cr_vec3_accumulate(m->t0 + 3 * f, moved);
        return;
    }
    int32_t from, to;
    sheet_nodes(m, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        cr_vec3_accumulate(node_x(m, n), moved);
    }
}

// Nodes move by how far theta is from the scene's.
static void write_nodes(parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    int32_t from, to, at = 0;
    sheet_nodes(m, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        if (slot->what == CR_GOAL_OF_VERTICES || m->bodies.node_pinned[n]) {
            cr_vec3_accumulate(node_x(m, n),
                               cr_vec3_sub(cr_vec3_load(theta + 3 * (size_t)at),
                                           cr_vec3_load(p->origin + slot->first + 3 * (size_t)at)));
            at++;
        }
    }
}

static carom_status write_rest(parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    const int32_t s = p->model->body_sheet[slot->body];
    cr_cloth* sheet = &p->model->sheet[s];
    const int whole = p->whole[s];
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const size_t at = 2 * (size_t)(whole ? sheet->face[c] : c);
        sheet->corner[2 * (size_t)c] = theta[at];
        sheet->corner[2 * (size_t)c + 1] = theta[at + 1];
    }
    return cr_cloth_reshape(sheet);
}

static void write_cloth(parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    int32_t from, to;
    sheet_nodes(m, slot->body, &from, &to);
    switch (slot->what) {
    case CR_GOAL_OF_VELOCITY:
        for (int32_t n = from; n < to; n++) {
            memcpy(m->xv0 + 3 * (size_t)n, theta, 3 * sizeof(double));
        }
        break;
    case CR_GOAL_OF_DENSITY:
        m->material[s].density = theta[0];
        break;
    case CR_GOAL_OF_VERTICES:
    case CR_GOAL_OF_PINS:
        write_nodes(p, slot, theta);
        break;
    case CR_GOAL_OF_STRETCH:
    case CR_GOAL_OF_POISSON: { // the other one stays as it is by now
        double young, poisson;
        young_of(&m->material[s], &young, &poisson);
        const int stretch = slot->what == CR_GOAL_OF_STRETCH;
        const cr_membrane_law law =
            cr_membrane_isotropic(stretch ? theta[0] : young, stretch ? poisson : theta[0]);
        m->material[s].c11 = law.c11;
        m->material[s].c22 = law.c22;
        m->material[s].c12 = law.c12;
        m->material[s].c33 = law.c33;
        break;
    }
    default:
        if (modulus(&m->material[s], slot->what)) {
            *modulus(&m->material[s], slot->what) = theta[0];
        }
    }
}

static void write_script(parameters* p, const cr_parameters_slot* slot, const double* theta)
{
    cr_model* m = p->model;
    for (int32_t s = 0; s < m->script_count; s++) {
        for (int32_t k = 0; has_script(m, slot->body, s) && k < m->script[s].key_count; k++) {
            memcpy(m->script[s].shift + 3 * (size_t)k, theta, 3 * sizeof(double));
            theta += 3;
            if (m->bodies.frame[slot->body] >= 0) {
                memcpy(m->script[s].turn + 3 * (size_t)k, theta, 3 * sizeof(double));
                theta += 3;
            }
        }
    }
}

// Its own loads hold what theta has beyond the scene.
static void write_loads(parameters* p, int32_t i, const double* theta)
{
    const cr_parameters_slot* slot = &p->slot[i];
    const int torque = slot->what == CR_GOAL_OF_TORQUE || slot->what == CR_GOAL_OF_TORQUES;
    const int32_t sheet = p->model->body_sheet[slot->body];
    const int32_t count = sheet >= 0 ? p->model->sheet[sheet].node_count : 1;
    for (int32_t l = p->load[i]; l < p->load[i] + count; l++) {
        double* out = torque ? p->model->load[l].torque : p->model->load[l].force;
        for (int32_t k = 0; k < slot->count; k++) {
            out[k] = theta[k] - p->origin[slot->first + k];
        }
    }
}

static carom_status write_slot(parameters* p, int32_t i, const double* theta)
{
    const cr_parameters_slot* slot = &p->slot[i];
    cr_model* m = p->model;
    const int32_t b = slot->body;
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        write_position(p, slot, theta);
        break;
    case CR_GOAL_OF_FRICTION:
        m->bodies.friction[b] = theta[0];
        break;
    case CR_GOAL_OF_RESTITUTION:
        m->bodies.restitution[b] = theta[0];
        break;
    case CR_GOAL_OF_THICKNESS:
        m->bodies.radius[b] = theta[0];
        break;
    case CR_GOAL_OF_GRAVITY:
        memcpy(m->world.gravity, theta, sizeof m->world.gravity);
        break;
    case CR_GOAL_OF_WIND:
        memcpy(m->world.wind, theta, sizeof m->world.wind);
        break;
    case CR_GOAL_OF_SCRIPT:
        write_script(p, slot, theta);
        break;
    case CR_GOAL_OF_REST:
        return write_rest(p, slot, theta);
    default:
        if (is_load(slot->what)) {
            write_loads(p, i, theta);
        } else if (m->bodies.frame[b] < 0) {
            write_cloth(p, slot, theta);
        } else {
            write_frame(p, slot, theta);
        }
    }
    return CAROM_OK;
}

// What hangs on the numbers written: node masses, extents.
static void follow(parameters* p)
{
    cr_model* m = p->model;
    for (int32_t s = 0; s < m->sheet_count; s++) {
        cr_cloth_mass(&m->sheet[s], m->material[s].density, m->bodies.node_mass + m->sheet_node[s]);
    }
    for (int32_t f = 0; f < m->bodies.frame_count; f++) {
        const int32_t b = m->bodies.frame_body[f];
        double far = 0.0;
        for (int32_t v = m->bodies.vertex[b]; v < m->bodies.vertex[b + 1]; v++) {
            far = cr_max(far, cr_vec3_norm(cr_vec3_load(m->bodies.p + 3 * (size_t)v)));
        }
        m->bodies.extent[f] = far + m->bodies.radius[b];
    }
}

// Vertices first, for they move the frame; spins last, for they are meant in the world.
static int turn_of(const parameters* p, const cr_parameters_slot* slot)
{
    const int rigid = slot->body >= 0 && p->scene->bodies.kind[slot->body] == CR_BODY_RIGID;
    return slot->what == CR_GOAL_OF_VERTICES && rigid ? 0 : slot->what == CR_GOAL_OF_SPIN ? 2 : 1;
}

carom_status cr_parameters_write(cr_parameters* p, const double* theta, carom_error* error)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const char* why = trouble(p, &p->slot[i], theta + p->slot[i].first);
        if (why) {
            return cr_status_refuse(error, CAROM_ERR_ARGUMENT, "%s of \"%.60s\" is %g; it %s",
                                    cr_goal_parameter_name(p->slot[i].what),
                                    p->slot[i].body >= 0 ? p->scene->name[p->slot[i].body]
                                                         : "the world",
                                    theta[p->slot[i].first], why);
        }
    }
    restore(p);
    for (int turn = 0; turn < 3; turn++) {
        for (int32_t i = 0; i < p->goal->parameter_count; i++) {
            if (turn_of(p, &p->slot[i]) != turn) {
                continue;
            }
            const double* at = theta + p->slot[i].first;
            carom_status status = CAROM_OK;
            if (turn == 0) {
                status = write_solid(p, p->slot[i].body, at);
            } else if (turn == 2) {
                write_spin(p, &p->slot[i], at);
            } else {
                status = write_slot(p, i, at);
            }
            if (status != CAROM_OK) {
                if (p->slot[i].what == CR_GOAL_OF_REST) {
                    write_rest(p, &p->slot[i], p->origin + p->slot[i].first);
                }
                restore(p);
                return refuse(error, p, i, "lost its volume or the area of a face");
            }
        }
    }
    follow(p);
    memcpy(p->theta, theta, (size_t)p->size * sizeof(double));
    return CAROM_OK;
}

// ---- gathering

// Of a node's start, pinned or not.
static cr_vec3 node_start(const cr_model* m, const cr_gradient* g, int32_t n)
{
    return m->bodies.node_pinned[n] ? cr_vec3_add(g->start.x[n], g->shift[m->bodies.node_vertex[n]])
                                    : g->start.x[n];
}

static void gather_position(const parameters* p, const cr_parameters_slot* slot,
                            const cr_gradient* g, double* out)
{
    const int32_t f = p->model->bodies.frame[slot->body];
    if (f >= 0) {
        cr_vec3_accumulate(out, g->start.t[f]);
        return;
    }
    int32_t from, to;
    sheet_nodes(p->model, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        cr_vec3_accumulate(out, node_start(p->model, g, n));
    }
}

// The bar of a rotation of the frame at the start, R -> R exp([delta]), with the spin held in the
// world: om = R^T spin changes by -delta x om.
static cr_vec3 turn_bar(const cr_model* m, const cr_gradient* g, int32_t f)
{
    return cr_vec3_add(g->start.q[f], cr_vec3_cross(g->start.om[f], cr_vec3_load(m->om0 + 3 * f)));
}

// Reverse of write_solid. With D the moments and A -> A exp([omega]):
//     dp = A^T (dy - dc) - omega x p,   dD_i = (A^T dJ A)_ii,
//     omega_3 = (A^T dJ A)_12 / (D_1 - D_2) and so on around
// The mesh's own axes turn and shift as points with dy = 0 do.
static void gather_solid(parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                         double* out)
{
    const cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b], from = m->bodies.vertex[b];
    cr_trimesh* mesh = &p->mesh[b];
    if (!p->solid[b]) {
        for (int32_t v = 0; v < mesh->vertex_count; v++) {
            cr_vec3_accumulate(out + 3 * (size_t)v, g->p[from + v]);
        }
        return;
    }
    cr_mass mass, bar;
    cr_vec3 d;
    cr_mat3 axes;
    memcpy(mesh->x, p->theta + slot->first, (size_t)slot->count * sizeof(double));
    cr_mass_integrate(mesh, &mass);
    cr_mass_principal(mass.inertia, &d, &axes);
    const double density = m->density[b];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(p->scene->q0 + 4 * f));
    cr_vec3 omega = cr_vec3_sub(turn_bar(m, g, f), g->own_turn[f]), sum = g->own_shift[f];
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const cr_vec3 at = cr_vec3_load(m->bodies.p + 3 * (size_t)(from + v));
        cr_vec3_accumulate(out + 3 * (size_t)v, cr_mat3_apply(axes, g->p[from + v]));
        sum = cr_vec3_add(sum, g->p[from + v]);
        omega = cr_vec3_add(omega, cr_vec3_cross(g->p[from + v], at));
    }
    const double* i_bar = g->inertia + 3 * f;
    const double xy = 0.5 * omega.z / (d.x - d.y), yz = 0.5 * omega.x / (d.y - d.z);
    const double zx = 0.5 * omega.y / (d.z - d.x);
    const cr_mat3 own = {
        {{density * i_bar[0], xy, zx}, {xy, density * i_bar[1], yz}, {zx, yz, density * i_bar[2]}}};
    bar.volume = density * g->mass[f];
    bar.centre = cr_vec3_sub(cr_mat3_tapply(r, g->start.t[f]), cr_mat3_apply(axes, sum));
    bar.inertia = cr_mat3_mul(axes, cr_mat3_mul(own, cr_mat3_transpose(axes)));
    cr_mass_integrate_adj(mesh, &bar, out);
}

static void gather_frame(parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                         double* out)
{
    const cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * f));
    const double* theta = p->theta + slot->first;
    const double* inertia = m->bodies.inertia + 3 * f;
    switch (slot->what) {
    case CR_GOAL_OF_ROTATION: { // R = exp([theta]) R_o: delta = R^T Jl dtheta
        const cr_rot rot = cr_rot_make(cr_vec3_load(theta));
        cr_vec3_accumulate(out,
                           cr_mat3_tapply(cr_rot_left(&rot), cr_mat3_apply(r, turn_bar(m, g, f))));
        break;
    }
    case CR_GOAL_OF_VELOCITY:
        cr_vec3_accumulate(out, g->start.v[f]);
        break;
    case CR_GOAL_OF_SPIN:
        cr_vec3_accumulate(out, cr_mat3_apply(r, g->start.om[f]));
        break;
    case CR_GOAL_OF_MASS:
    case CR_GOAL_OF_DENSITY: {
        double sum = g->mass[f] * m->bodies.mass[f];
        for (int i = 0; i < 3; i++) {
            sum += g->inertia[3 * f + i] * inertia[i];
        }
        out[0] += sum / theta[0];
        break;
    }
    case CR_GOAL_OF_INERTIA:
        for (int i = 0; i < 3; i++) {
            out[i] += g->inertia[3 * f + i] * inertia[i] / theta[i];
        }
        break;
    case CR_GOAL_OF_CENTER: { // p -= delta, t += R_o delta, delta = own (theta - scene)
        const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * f));
        const cr_mat3 r_o = cr_quat_to_matrix(cr_quat_load(p->scene->q0 + 4 * f));
        cr_vec3 bar = cr_vec3_sub(cr_mat3_tapply(r_o, g->start.t[f]), g->own_shift[f]);
        for (int32_t v = m->bodies.vertex[b]; v < m->bodies.vertex[b + 1]; v++) {
            bar = cr_vec3_sub(bar, g->p[v]);
        }
        cr_vec3_accumulate(out, cr_mat3_tapply(own, bar));
        break;
    }
    case CR_GOAL_OF_VERTICES:
        if (m->bodies.kind[b] == CR_BODY_RIGID) {
            gather_solid(p, slot, g, out);
        } else {
            for (int32_t v = 0; v < slot->count / 3; v++) {
                cr_vec3_accumulate(out + 3 * (size_t)v, g->p[m->bodies.vertex[b] + v]);
            }
        }
        break;
    default:
        break;
    }
}

// node masses are density times area
static void gather_rest(const parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                        double* out)
{
    const cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    const cr_cloth* sheet = &m->sheet[s];
    const int whole = p->whole[s];
    const size_t numbers = 6 * (size_t)sheet->face_count;
    double unused = 0.0;
    memcpy(p->corner, g->corner[s], numbers * sizeof(double));
    cr_cloth_mass_adj(sheet, m->material[s].density, g->node_mass + m->sheet_node[s], &unused,
                      p->corner);
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const size_t at = 2 * (size_t)(whole ? sheet->face[c] : c);
        out[at] += p->corner[2 * (size_t)c];
        out[at + 1] += p->corner[2 * (size_t)c + 1];
    }
}

static void gather_cloth(const parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                         double* out)
{
    const cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    int32_t from, to, at = 0;
    sheet_nodes(m, slot->body, &from, &to);
    switch (slot->what) {
    case CR_GOAL_OF_VELOCITY:
        for (int32_t n = from; n < to; n++) {
            cr_vec3_accumulate(out, g->start.xv[n]);
        }
        break;
    case CR_GOAL_OF_DENSITY:
        for (int32_t n = from; n < to; n++) {
            out[0] += g->node_mass[n] * m->sheet[s].node_area[n - from];
        }
        break;
    case CR_GOAL_OF_VERTICES:
    case CR_GOAL_OF_PINS:
        for (int32_t n = from; n < to; n++) {
            if (slot->what == CR_GOAL_OF_VERTICES || m->bodies.node_pinned[n]) {
                cr_vec3_accumulate(out + 3 * (size_t)at++, node_start(m, g, n));
            }
        }
        break;
    case CR_GOAL_OF_STRETCH:
    case CR_GOAL_OF_POISSON: {
        const cr_cloth_material* bar = &g->material[s];
        const cr_membrane_law law_bar = {
            .c11 = bar->c11, .c12 = bar->c12, .c22 = bar->c22, .c33 = bar->c33};
        double young, poisson, young_bar = 0.0, poisson_bar = 0.0;
        young_of(&m->material[s], &young, &poisson);
        cr_membrane_isotropic_adj(young, poisson, &law_bar, &young_bar, &poisson_bar);
        out[0] += slot->what == CR_GOAL_OF_STRETCH ? young_bar : poisson_bar;
        break;
    }
    case CR_GOAL_OF_REST:
        gather_rest(p, slot, g, out);
        break;
    default:
        if (modulus(&g->material[s], slot->what)) {
            out[0] += *modulus(&g->material[s], slot->what);
        }
    }
}

static void gather_script(const parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                          double* out)
{
    const cr_model* m = p->model;
    for (int32_t s = 0; s < m->script_count; s++) {
        for (int32_t k = 0; has_script(m, slot->body, s) && k < m->script[s].key_count; k++) {
            cr_vec3_accumulate(out, cr_vec3_load(g->key_shift[s] + 3 * (size_t)k));
            out += 3;
            if (m->bodies.frame[slot->body] >= 0) {
                cr_vec3_accumulate(out, cr_vec3_load(g->key_turn[s] + 3 * (size_t)k));
                out += 3;
            }
        }
    }
}

static void gather_force(const parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                         double* out)
{
    const cr_model* m = p->model;
    const int32_t f = m->bodies.frame[slot->body];
    const int torque = slot->what == CR_GOAL_OF_TORQUE || slot->what == CR_GOAL_OF_TORQUES;
    if (f >= 0) {
        cr_vec3_accumulate(out, torque ? g->torque[f] : g->force[f]);
        return;
    }
    int32_t from, to;
    sheet_nodes(m, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) { // a driven node's is the bar of its velocity
        if (!m->bodies.node_pinned[n]) {
            cr_vec3_accumulate(out, g->node_force[n]);
        }
    }
}

static void gather_slot(parameters* p, const cr_parameters_slot* slot, const cr_gradient* g,
                        double* out)
{
    const int32_t b = slot->body;
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        gather_position(p, slot, g, out);
        break;
    case CR_GOAL_OF_FRICTION:
        out[0] += g->friction[b];
        break;
    case CR_GOAL_OF_RESTITUTION:
        out[0] += g->restitution[b];
        break;
    case CR_GOAL_OF_THICKNESS:
        out[0] += g->radius[b];
        break;
    case CR_GOAL_OF_GRAVITY:
        cr_vec3_accumulate(out, cr_vec3_load(g->gravity));
        break;
    case CR_GOAL_OF_WIND:
        cr_vec3_accumulate(out, cr_vec3_load(g->wind));
        break;
    case CR_GOAL_OF_SCRIPT:
        gather_script(p, slot, g, out);
        break;
    case CR_GOAL_OF_FORCE:
    case CR_GOAL_OF_TORQUE:
        gather_force(p, slot, g, out);
        break;
    case CR_GOAL_OF_FORCES:
    case CR_GOAL_OF_TORQUES:
        break;
    default:
        if (p->model->bodies.frame[b] < 0) {
            gather_cloth(p, slot, g, out);
        } else {
            gather_frame(p, slot, g, out);
        }
    }
}

void cr_parameters_gather(cr_parameters* p, const cr_gradient* gradient, double* dtheta)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        gather_slot(p, &p->slot[i], gradient, dtheta + p->slot[i].first);
    }
}

void cr_parameters_gather_step(const cr_parameters* p, int64_t step, const cr_gradient* gradient,
                               double* dtheta)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        const cr_parameters_slot* slot = &p->slot[i];
        if ((slot->what == CR_GOAL_OF_FORCES || slot->what == CR_GOAL_OF_TORQUES) &&
            step < p->steps) {
            gather_force(p, slot, gradient, dtheta + slot->first + 3 * step);
        }
    }
}

// ---- spreading: gathering, transposed

// Of a node's start, pinned or not.
static void move_node(const cr_model* m, int32_t n, cr_vec3 d, cr_gradient* g)
{
    g->start.x[n] = cr_vec3_add(g->start.x[n], d);
    if (m->bodies.node_pinned[n]) {
        const int32_t v = m->bodies.node_vertex[n];
        g->shift[v] = cr_vec3_add(g->shift[v], d);
    }
}

// The frame turns at the start, R -> R exp([delta]), with the spin held in the world.
static void turn_frame(const cr_model* m, int32_t f, cr_vec3 delta, cr_gradient* g)
{
    g->start.q[f] = cr_vec3_add(g->start.q[f], delta);
    g->start.om[f] =
        cr_vec3_add(g->start.om[f], cr_vec3_cross(cr_vec3_load(m->om0 + 3 * f), delta));
}

static void spread_position(const parameters* p, const cr_parameters_slot* slot, const double* d,
                            cr_gradient* g)
{
    const int32_t f = p->model->bodies.frame[slot->body];
    if (f >= 0) {
        g->start.t[f] = cr_vec3_add(g->start.t[f], cr_vec3_load(d));
        return;
    }
    int32_t from, to;
    sheet_nodes(p->model, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        move_node(p->model, n, cr_vec3_load(d), g);
    }
}

// The change of a solid's volume, centre or inertia for that of its vertices: one number at a time,
// as the product of its derivative by the vertices, which the reverse gives.
static double mass_change(parameters* p, const cr_trimesh* mesh, const cr_mass* which,
                          const double* d)
{
    double sum = 0.0;
    memset(p->solid_bar, 0, 3 * (size_t)mesh->vertex_count * sizeof(double));
    cr_mass_integrate_adj(mesh, which, p->solid_bar);
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++) {
        sum += p->solid_bar[i] * d[i];
    }
    return sum;
}

// In the letters of gather_solid.
static void spread_solid(parameters* p, const cr_parameters_slot* slot, const double* d,
                         cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b], from = m->bodies.vertex[b];
    cr_trimesh* mesh = &p->mesh[b];
    if (!p->solid[b]) {
        for (int32_t v = 0; v < mesh->vertex_count; v++) {
            g->p[from + v] = cr_vec3_add(g->p[from + v], cr_vec3_load(d + 3 * (size_t)v));
        }
        return;
    }
    cr_mass mass;
    cr_vec3 moments, centre;
    cr_mat3 axes, inertia;
    memcpy(mesh->x, p->theta + slot->first, (size_t)slot->count * sizeof(double));
    cr_mass_integrate(mesh, &mass);
    cr_mass_principal(mass.inertia, &moments, &axes);
    const double density = m->density[b];
    const cr_mass volume_only = {.volume = 1.0};
    const double volume = mass_change(p, mesh, &volume_only, d);
    double along[3];
    for (int i = 0; i < 3; i++) {
        const cr_mass one = {.centre = {i == 0, i == 1, i == 2}};
        along[i] = mass_change(p, mesh, &one, d);
        for (int k = 0; k <= i; k++) {
            cr_mass entry = {.volume = 0.0};
            entry.inertia.m[i][k] = 1.0;
            inertia.m[i][k] = inertia.m[k][i] = mass_change(p, mesh, &entry, d);
        }
    }
    centre = cr_vec3_load(along);
    const cr_mat3 own = cr_mat3_mul(cr_mat3_transpose(axes), cr_mat3_mul(inertia, axes));
    const cr_vec3 omega = {own.m[1][2] / (moments.y - moments.z),
                           own.m[2][0] / (moments.z - moments.x),
                           own.m[0][1] / (moments.x - moments.y)};
    g->mass[f] += density * volume;
    cr_vec3_accumulate(g->inertia + 3 * f,
                       cr_vec3_scale(density, (cr_vec3){own.m[0][0], own.m[1][1], own.m[2][2]}));
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(p->scene->q0 + 4 * f));
    g->start.t[f] = cr_vec3_add(g->start.t[f], cr_mat3_apply(r, centre));
    turn_frame(m, f, omega, g);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const cr_vec3 at = cr_vec3_load(m->bodies.p + 3 * (size_t)(from + v));
        const cr_vec3 dy = cr_vec3_sub(cr_vec3_load(d + 3 * (size_t)v), centre);
        const cr_vec3 dp = cr_vec3_sub(cr_mat3_tapply(axes, dy), cr_vec3_cross(omega, at));
        g->p[from + v] = cr_vec3_add(g->p[from + v], dp);
    }
}

static void spread_frame(parameters* p, const cr_parameters_slot* slot, const double* d,
                         cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t b = slot->body, f = m->bodies.frame[b];
    const cr_mat3 r = cr_quat_to_matrix(cr_quat_load(m->q0 + 4 * f));
    const double* theta = p->theta + slot->first;
    const double* inertia = m->bodies.inertia + 3 * f;
    switch (slot->what) {
    case CR_GOAL_OF_ROTATION: { // R = exp([theta]) R_o: delta = R^T Jl dtheta
        const cr_rot rot = cr_rot_make(cr_vec3_load(theta));
        turn_frame(m, f, cr_mat3_tapply(r, cr_mat3_apply(cr_rot_left(&rot), cr_vec3_load(d))), g);
        break;
    }
    case CR_GOAL_OF_VELOCITY:
        g->start.v[f] = cr_vec3_add(g->start.v[f], cr_vec3_load(d));
        break;
    case CR_GOAL_OF_SPIN:
        g->start.om[f] = cr_vec3_add(g->start.om[f], cr_mat3_tapply(r, cr_vec3_load(d)));
        break;
    case CR_GOAL_OF_MASS:
    case CR_GOAL_OF_DENSITY:
        g->mass[f] += m->bodies.mass[f] * d[0] / theta[0];
        for (int i = 0; i < 3; i++) {
            g->inertia[3 * f + i] += inertia[i] * d[0] / theta[0];
        }
        break;
    case CR_GOAL_OF_INERTIA:
        for (int i = 0; i < 3; i++) {
            g->inertia[3 * f + i] += inertia[i] * d[i] / theta[i];
        }
        break;
    case CR_GOAL_OF_CENTER: { // p -= delta, t += R_o delta, delta = own dtheta
        const cr_mat3 own = cr_quat_to_matrix(cr_quat_load(m->own_q + 4 * f));
        const cr_mat3 r_o = cr_quat_to_matrix(cr_quat_load(p->scene->q0 + 4 * f));
        const cr_vec3 delta = cr_mat3_apply(own, cr_vec3_load(d));
        g->start.t[f] = cr_vec3_add(g->start.t[f], cr_mat3_apply(r_o, delta));
        for (int32_t v = m->bodies.vertex[b]; v < m->bodies.vertex[b + 1]; v++) {
            g->p[v] = cr_vec3_sub(g->p[v], delta);
        }
        break;
    }
    case CR_GOAL_OF_VERTICES:
        if (m->bodies.kind[b] == CR_BODY_RIGID) {
            spread_solid(p, slot, d, g);
        } else {
            for (int32_t v = 0; v < slot->count / 3; v++) {
                cr_vec3* at = &g->p[m->bodies.vertex[b] + v];
                *at = cr_vec3_add(*at, cr_vec3_load(d + 3 * (size_t)v));
            }
        }
        break;
    default:
        break;
    }
}

static void spread_rest(const parameters* p, const cr_parameters_slot* slot, const double* d,
                        cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    const cr_cloth* sheet = &m->sheet[s];
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const size_t at = 2 * (size_t)(p->whole[s] ? sheet->face[c] : c);
        p->corner[2 * (size_t)c] = d[at];
        p->corner[2 * (size_t)c + 1] = d[at + 1];
    }
    for (int32_t i = 0; i < 6 * sheet->face_count; i++) {
        g->corner[s][i] += p->corner[i];
    }
    cr_cloth_mass_jvp(sheet, m->material[s].density, p->corner, g->node_mass + m->sheet_node[s]);
}

static void spread_cloth(const parameters* p, const cr_parameters_slot* slot, const double* d,
                         cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t s = m->body_sheet[slot->body];
    int32_t from, to, at = 0;
    sheet_nodes(m, slot->body, &from, &to);
    switch (slot->what) {
    case CR_GOAL_OF_VELOCITY:
        for (int32_t n = from; n < to; n++) {
            g->start.xv[n] = cr_vec3_add(g->start.xv[n], cr_vec3_load(d));
        }
        break;
    case CR_GOAL_OF_DENSITY:
        for (int32_t n = from; n < to; n++) {
            g->node_mass[n] += d[0] * m->sheet[s].node_area[n - from];
        }
        break;
    case CR_GOAL_OF_VERTICES:
    case CR_GOAL_OF_PINS:
        for (int32_t n = from; n < to; n++) {
            if (slot->what == CR_GOAL_OF_VERTICES || m->bodies.node_pinned[n]) {
                move_node(m, n, cr_vec3_load(d + 3 * (size_t)at++), g);
            }
        }
        break;
    case CR_GOAL_OF_STRETCH:
    case CR_GOAL_OF_POISSON: {
        double young, poisson;
        const int stretch = slot->what == CR_GOAL_OF_STRETCH;
        young_of(&m->material[s], &young, &poisson);
        const cr_membrane_law law =
            cr_membrane_isotropic_jvp(young, poisson, stretch ? d[0] : 0.0, stretch ? 0.0 : d[0]);
        g->material[s].c11 += law.c11;
        g->material[s].c22 += law.c22;
        g->material[s].c12 += law.c12;
        g->material[s].c33 += law.c33;
        break;
    }
    case CR_GOAL_OF_REST:
        spread_rest(p, slot, d, g);
        break;
    default:
        if (modulus(&g->material[s], slot->what)) {
            *modulus(&g->material[s], slot->what) += d[0];
        }
    }
}

static void spread_script(const parameters* p, const cr_parameters_slot* slot, const double* d,
                          cr_gradient* g)
{
    const cr_model* m = p->model;
    for (int32_t s = 0; s < m->script_count; s++) {
        for (int32_t k = 0; has_script(m, slot->body, s) && k < m->script[s].key_count; k++) {
            cr_vec3_accumulate(g->key_shift[s] + 3 * (size_t)k, cr_vec3_load(d));
            d += 3;
            if (m->bodies.frame[slot->body] >= 0) {
                cr_vec3_accumulate(g->key_turn[s] + 3 * (size_t)k, cr_vec3_load(d));
                d += 3;
            }
        }
    }
}

static void spread_force(const parameters* p, const cr_parameters_slot* slot, const double* d,
                         cr_gradient* g)
{
    const cr_model* m = p->model;
    const int32_t f = m->bodies.frame[slot->body];
    if (f >= 0) {
        cr_vec3* at = slot->what == CR_GOAL_OF_TORQUE ? &g->torque[f] : &g->force[f];
        *at = cr_vec3_add(*at, cr_vec3_load(d));
        return;
    }
    int32_t from, to;
    sheet_nodes(m, slot->body, &from, &to);
    for (int32_t n = from; n < to; n++) {
        if (!m->bodies.node_pinned[n]) {
            g->node_force[n] = cr_vec3_add(g->node_force[n], cr_vec3_load(d));
        }
    }
}

static void spread_slot(parameters* p, const cr_parameters_slot* slot, const double* d,
                        cr_gradient* g)
{
    const int32_t b = slot->body;
    switch (slot->what) {
    case CR_GOAL_OF_POSITION:
        spread_position(p, slot, d, g);
        break;
    case CR_GOAL_OF_FRICTION:
        g->friction[b] += d[0];
        break;
    case CR_GOAL_OF_RESTITUTION:
        g->restitution[b] += d[0];
        break;
    case CR_GOAL_OF_THICKNESS:
        g->radius[b] += d[0];
        break;
    case CR_GOAL_OF_GRAVITY:
        cr_vec3_accumulate(g->gravity, cr_vec3_load(d));
        break;
    case CR_GOAL_OF_WIND:
        cr_vec3_accumulate(g->wind, cr_vec3_load(d));
        break;
    case CR_GOAL_OF_SCRIPT:
        spread_script(p, slot, d, g);
        break;
    case CR_GOAL_OF_FORCE:
    case CR_GOAL_OF_TORQUE:
        spread_force(p, slot, d, g);
        break;
    case CR_GOAL_OF_FORCES:
    case CR_GOAL_OF_TORQUES:
        break;
    default:
        if (p->model->bodies.frame[b] < 0) {
            spread_cloth(p, slot, d, g);
        } else {
            spread_frame(p, slot, d, g);
        }
    }
}

void cr_parameters_spread(cr_parameters* p, const double* dtheta, cr_gradient* gradient)
{
    for (int32_t i = 0; i < p->goal->parameter_count; i++) {
        spread_slot(p, &p->slot[i], dtheta + p->slot[i].first, gradient);
    }
}
