#include "scene/build.h"
#include "core/assert.h"
#include "scene/cast.h"
#include "scene/nodes.h"
#include "scene/separate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// How long a steady motion lasts that is told no end, s: a dozen days.
static const double steady_time = 1e6;

typedef CR_ARRAY(cr_script) script_list;
typedef CR_ARRAY(cr_load) load_list;
typedef CR_ARRAY(cr_pairing) pairing_list;

typedef struct builder {
    const cr_json* json;
    const cr_scene* scene;
    carom_error* error;
    cr_form_path path;
    cr_world_spec world;
    int32_t cast_count;
    cr_cast* cast;      // [cast_count] one per entry of bodies
    int32_t* cast_body; // [cast_count+1] first body
    cr_model* model;
    script_list scripts;
    load_list loads;
    pairing_list pairings;
} builder;

static carom_status no_memory(builder* b)
{
    return cr_status_refuse(b->error, CAROM_ERR_MEMORY, "not enough memory to build the scene");
}

// ---- notes

static carom_status add_note(builder* b, const char* text)
{
    cr_model* m = b->model;
    char** notes =
        cr_memory_grow(m->note, (size_t)m->note_count, (size_t)m->note_count + 1, sizeof *notes);
    if (!notes) {
        return no_memory(b);
    }
    m->note = notes;
    m->note[m->note_count] = cr_memory_take(strlen(text) + 1, 1);
    if (!m->note[m->note_count]) {
        return no_memory(b);
    }
    memcpy(m->note[m->note_count++], text, strlen(text) + 1);
    return CAROM_OK;
}

// ---- casts

static carom_status make_casts(builder* b)
{
    const int32_t bodies = cr_json_member(b->json, 0, "bodies");
    b->cast_count = cr_json_at(b->json, bodies)->count;
    b->cast = cr_memory_take((size_t)b->cast_count, sizeof *b->cast);
    b->cast_body = cr_memory_take((size_t)b->cast_count + 1, sizeof *b->cast_body);
    if (!b->cast || !b->cast_body) {
        return no_memory(b);
    }
    carom_status status = CAROM_OK;
    const size_t mark = cr_form_enter(&b->path, "bodies", 0);
    int32_t i = 0;
    for (int32_t v = cr_json_at(b->json, bodies)->first; v >= 0 && status == CAROM_OK;
         v = cr_json_at(b->json, v)->next, i++) {
        const size_t inner = cr_form_enter(&b->path, NULL, i);
        status = cr_cast_make(&b->cast[i], b->scene, &b->world, v, &b->path, b->error);
        if (status == CAROM_OK) {
            const cr_cast* c = &b->cast[i];
            const double count = (double)c->copies[0] * (double)c->copies[1] * (double)c->copies[2];
            if (b->cast_body[i] + count > CR_BUILD_MOST_BODIES) {
                status =
                    cr_form_refuse(b->json, c->spec.copies >= 0 ? c->spec.copies : v, &b->path,
                                   b->error, "makes %.0f bodies in all; a scene has at most %d",
                                   b->cast_body[i] + count, (int)CR_BUILD_MOST_BODIES);
            } else {
                b->cast_body[i + 1] = b->cast_body[i] + (int32_t)count;
                status = c->note[0] ? add_note(b, c->note) : CAROM_OK;
            }
        }
        cr_form_leave(&b->path, inner);
    }
    cr_form_leave(&b->path, mark);
    return status;
}

static int32_t kept_edges(const cr_cast* cast)
{
    int32_t count = cast->spec.capsule >= 0;
    for (int32_t e = 0; e < cast->topology.edge_count; e++) {
        count += cr_cast_keeps_edge(cast, e) != 0;
    }
    return count;
}

// ---- room

static carom_status take_room(builder* b)
{
    cr_model* m = b->model;
    double vertices = 0, edges = 0, faces = 0;
    int32_t frames = 0, nodes = 0, sheets = 0;
    for (int32_t i = 0; i < b->cast_count; i++) {
        const cr_cast* c = &b->cast[i];
        const int32_t copies = b->cast_body[i + 1] - b->cast_body[i];
        const int soft = c->spec.type == CR_TYPE_CLOTH;
        vertices += (double)c->mesh.vertex_count * copies;
        edges += (double)kept_edges(c) * copies;
        faces += (double)c->mesh.face_count * copies;
        if (vertices > CR_BUILD_MOST_VERTICES || faces > CR_BUILD_MOST_VERTICES ||
            edges > CR_BUILD_MOST_VERTICES) {
            return cr_status_refuse(b->error, CAROM_ERR_SCENE,
                                    "the scene has more than %d vertices, edges or faces by "
                                    "bodies[%d]; use coarser meshes or fewer copies",
                                    (int)CR_BUILD_MOST_VERTICES, i);
        }
        frames += soft ? 0 : copies;
        sheets += soft ? copies : 0;
        nodes += soft ? copies * c->mesh.vertex_count : 0;
    }
    const int32_t bodies = b->cast_body[b->cast_count];
    const size_t n = (size_t)bodies, f = (size_t)frames, k = (size_t)nodes, s = (size_t)sheets;
    if (cr_body_set_init(&m->bodies, bodies, (int32_t)vertices, frames, nodes) != CAROM_OK ||
        cr_surface_init(&m->surface, bodies, (int32_t)vertices, (int32_t)edges, (int32_t)faces) !=
            CAROM_OK) {
        return no_memory(b);
    }
    m->sheet_count = 0; // counts up as they are built, so that a half-built model can be destroyed
    m->name = cr_memory_take(n, sizeof *m->name);
    m->sheet = cr_memory_take(s, sizeof *m->sheet);
    m->material = cr_memory_take(s, sizeof *m->material);
    m->sheet_body = cr_memory_take(s, sizeof *m->sheet_body);
    m->sheet_node = cr_memory_take(s + 1, sizeof *m->sheet_node);
    m->body_sheet = cr_memory_take(n, sizeof *m->body_sheet);
    m->frame_script = cr_memory_take(f, sizeof *m->frame_script);
    m->node_script = cr_memory_take(k, sizeof *m->node_script);
    m->linear_damping = cr_memory_take(n, sizeof *m->linear_damping);
    m->angular_damping = cr_memory_take(n, sizeof *m->angular_damping);
    m->t0 = cr_memory_take(f, 3 * sizeof *m->t0);
    m->q0 = cr_memory_take(f, 4 * sizeof *m->q0);
    m->v0 = cr_memory_take(f, 3 * sizeof *m->v0);
    m->om0 = cr_memory_take(f, 3 * sizeof *m->om0);
    m->own_t = cr_memory_take(f, 3 * sizeof *m->own_t);
    m->own_q = cr_memory_take(f, 4 * sizeof *m->own_q);
    m->x0 = cr_memory_take(k, 3 * sizeof *m->x0);
    m->xv0 = cr_memory_take(k, 3 * sizeof *m->xv0);
    m->density = cr_memory_take(n, sizeof *m->density);
    m->place = cr_memory_take(n, 3 * sizeof *m->place);
    const int good = m->name && m->sheet && m->material && m->sheet_body && m->sheet_node &&
                     m->body_sheet && m->frame_script && m->node_script && m->linear_damping &&
                     m->angular_damping && m->t0 && m->q0 && m->v0 && m->om0 && m->own_t &&
                     m->own_q && m->x0 && m->xv0 && m->density && m->place;
    return good ? CAROM_OK : no_memory(b);
}

// ---- bodies

// Uniform in [-1, 1) from a seed and a number (splitmix64): the same on every machine.
static double stray(int32_t seed, uint64_t number)
{
    uint64_t z = ((uint64_t)(uint32_t)seed << 32) + (number + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

// Where the origin of a copy goes.
static cr_vec3 place_of(const cr_cast* c, int32_t copy)
{
    cr_vec3 at = cr_vec3_load(c->spec.position);
    if (c->spec.copies >= 0) {
        const int32_t i = copy % c->copies[0], j = copy / c->copies[0] % c->copies[1];
        const int32_t k = copy / c->copies[0] / c->copies[1];
        const cr_vec3 step = cr_vec3_load(c->block.spacing);
        const double* w = c->block.jitter;
        const uint64_t n = 3 * (uint64_t)copy;
        at = cr_vec3_add(at, (cr_vec3){i * step.x, j * step.y, k * step.z});
        at = cr_vec3_add(at, (cr_vec3){w[0] * stray(c->block.seed, n),
                                       w[1] * stray(c->block.seed, n + 1),
                                       w[2] * stray(c->block.seed, n + 2)});
    }
    return at;
}

static char* name_of(const builder* b, int32_t cast, int32_t copy)
{
    const cr_cast* c = &b->cast[cast];
    const char* base = c->spec.name;
    const size_t size = (base ? strlen(base) : 0) + 48;
    char* name = cr_memory_take(size, 1);
    if (!name) {
        return NULL;
    }
    if (base) {
        snprintf(name, size, "%s", base);
    } else {
        snprintf(name, size, "bodies[%d]", cast);
    }
    if (c->spec.copies >= 0) {
        snprintf(name + strlen(name), size - strlen(name), "[%d]", copy);
    }
    return name;
}

// Running ends of the lists while bodies are filled in.
typedef struct cursor {
    int32_t vertex, edge, face, frame, node;
} cursor;

static void fill_surface(builder* b, const cr_cast* c, int32_t body, cursor* at)
{
    cr_surface* s = &b->model->surface;
    cr_body_set* set = &b->model->bodies;
    const int soft = c->spec.type == CR_TYPE_CLOTH;
    const int moves = soft || c->spec.type == CR_TYPE_RIGID;
    s->body_flags[body] = (uint8_t)((soft ? CR_SURFACE_SOFT : 0) | (moves ? 0 : CR_SURFACE_FIXED));
    s->body_group[body] = c->spec.group;
    for (int32_t v = 0; v < c->mesh.vertex_count; v++) {
        s->vertex_body[at->vertex + v] = set->vertex_body[at->vertex + v] = body;
        set->node[at->vertex + v] = soft ? at->node + v : -1;
        cr_vec3_store(set->p + 3 * (size_t)(at->vertex + v), cr_trimesh_at(&c->mesh, v));
    }
    for (int32_t e = 0; e < c->topology.edge_count; e++) {
        if (cr_cast_keeps_edge(c, e)) {
            s->edge[2 * at->edge] = at->vertex + c->topology.edge[2 * e];
            s->edge[2 * at->edge + 1] = at->vertex + c->topology.edge[2 * e + 1];
            at->edge++;
        }
    }
    if (c->spec.capsule >= 0) {
        s->edge[2 * at->edge] = at->vertex;
        s->edge[2 * at->edge + 1] = at->vertex + 1;
        at->edge++;
    }
    for (int32_t i = 0; i < 3 * c->mesh.face_count; i++) {
        s->face[3 * at->face + i] = at->vertex + c->mesh.face[i];
    }
    at->face += c->mesh.face_count;
    at->vertex += c->mesh.vertex_count;
    s->body_vertex[body + 1] = set->vertex[body + 1] = at->vertex;
    s->body_edge[body + 1] = at->edge;
    s->body_face[body + 1] = at->face;
}

// With the mesh's own axes turned by Q and its origin at o, the centre of mass is t = Q c + o and
// the principal axes R = Q A.
static void fill_frame(builder* b, const cr_cast* c, int32_t body, int32_t copy, int32_t frame)
{
    cr_model* m = b->model;
    cr_body_set* set = &m->bodies;
    const cr_quat q = cr_quat_normalize(cr_quat_mul(c->rotation, c->axes));
    cr_vec3 t = place_of(c, copy);
    if (c->spec.type == CR_TYPE_RIGID && c->spec.origin == 0) {
        t = cr_vec3_add(t, cr_mat3_apply(cr_quat_to_matrix(c->rotation), c->centre));
    }
    double far = 0.0;
    for (int32_t v = 0; v < c->mesh.vertex_count; v++) {
        far = cr_max(far, cr_vec3_norm(cr_trimesh_at(&c->mesh, v)));
    }
    set->frame[body] = frame;
    set->frame_body[frame] = body;
    set->mass[frame] = c->mass;
    cr_vec3_store(set->inertia + 3 * (size_t)frame, c->inertia);
    set->extent[frame] = far + c->radius + c->width;
    set->lock[frame] = c->lock;
    m->frame_script[frame] = -1;
    cr_quat_store(m->own_q + 4 * (size_t)frame, cr_quat_conjugate(c->axes));
    cr_vec3_store(m->own_t + 3 * (size_t)frame,
                  cr_vec3_neg(cr_mat3_tapply(cr_quat_to_matrix(c->axes), c->centre)));
    cr_vec3_store(m->t0 + 3 * (size_t)frame, t);
    cr_quat_store(m->q0 + 4 * (size_t)frame, q);
    if (c->spec.type == CR_TYPE_RIGID) {
        cr_vec3_store(m->v0 + 3 * (size_t)frame, cr_vec3_load(c->spec.velocity));
        cr_vec3_store(m->om0 + 3 * (size_t)frame,
                      cr_mat3_tapply(cr_quat_to_matrix(q), cr_vec3_load(c->spec.angular_velocity)));
    }
}

// The first copy takes the sheet its cast has, further ones build their own.
static carom_status fill_sheet(builder* b, cr_cast* c, int32_t body, int32_t copy, int32_t node)
{
    cr_model* m = b->model;
    const int32_t sheet = m->sheet_count, count = c->mesh.vertex_count;
    const cr_vec3 at = place_of(c, copy);
    const cr_mat3 turn = cr_quat_to_matrix(c->rotation);
    if (copy == 0) {
        m->sheet[sheet] = c->sheet;
        c->sheet = (cr_cloth){0};
    } else if (cr_cloth_build(&m->sheet[sheet], &c->rest, b->error) != CAROM_OK) {
        return no_memory(b); // the same rest shape was good for the first copy
    }
    m->sheet_count++;
    m->material[sheet] = c->has.cloth;
    m->sheet_body[sheet] = body;
    m->sheet_node[sheet] = node;
    m->sheet_node[sheet + 1] = node + count;
    m->body_sheet[body] = sheet;
    cr_cloth_mass(&m->sheet[sheet], c->has.cloth.density, m->bodies.node_mass + node);
    for (int32_t v = 0; v < count; v++) {
        const size_t i = (size_t)(node + v);
        m->bodies.node_vertex[i] = m->bodies.vertex[body] + v;
        m->node_script[i] = -1;
        cr_vec3_store(m->x0 + 3 * i,
                      cr_vec3_add(cr_mat3_apply(turn, cr_trimesh_at(&c->mesh, v)), at));
        cr_vec3_store(m->xv0 + 3 * i, cr_vec3_load(c->spec.velocity));
    }
    return CAROM_OK;
}

static carom_status fill_body(builder* b, int32_t cast, int32_t copy, int32_t body, cursor* at)
{
    static const uint8_t kinds[] = {CR_BODY_RIGID, CR_BODY_FIXED, CR_BODY_KINEMATIC, CR_BODY_CLOTH};
    cr_cast* c = &b->cast[cast];
    cr_model* m = b->model;
    m->name[body] = name_of(b, cast, copy);
    if (!m->name[body]) {
        return no_memory(b);
    }
    cr_vec3_store(m->place + 3 * (size_t)body, place_of(c, copy));
    m->bodies.kind[body] = kinds[c->spec.type];
    m->bodies.frame[body] = -1;
    m->bodies.radius[body] = c->radius;
    m->bodies.width[body] = c->width;
    m->bodies.stiffness[body] = c->has.contact_stiffness;
    m->density[body] = c->density;
    m->bodies.friction[body] = c->has.friction;
    m->bodies.restitution[body] = c->has.restitution;
    m->linear_damping[body] = c->spec.linear_damping;
    m->angular_damping[body] = c->spec.angular_damping;
    m->body_sheet[body] = -1;
    fill_surface(b, c, body, at);
    if (c->spec.type != CR_TYPE_CLOTH) {
        fill_frame(b, c, body, copy, at->frame++);
        return CAROM_OK;
    }
    const int32_t node = at->node;
    at->node += c->mesh.vertex_count;
    return fill_sheet(b, c, body, copy, node);
}

static int compare_names(const void* a, const void* b)
{
    return strcmp(*(char* const*)a, *(char* const*)b);
}

// Where the second body of a name stands in the file.
static int32_t second_of(const builder* b, const char* name)
{
    int32_t seen = 0;
    for (int32_t i = 0; i < b->cast_count; i++) {
        for (int32_t body = b->cast_body[i]; body < b->cast_body[i + 1]; body++) {
            seen += strcmp(b->model->name[body], name) == 0;
            if (seen == 2) {
                return b->cast[i].value;
            }
        }
    }
    return 0;
}

static carom_status check_names(builder* b)
{
    const size_t n = (size_t)b->model->bodies.body_count;
    const char** sorted = cr_memory_take(n, sizeof *sorted);
    if (!sorted) {
        return no_memory(b);
    }
    memcpy(sorted, b->model->name, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_names);
    carom_status status = CAROM_OK;
    for (size_t i = 1; i < n && status == CAROM_OK; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) {
            char place[CR_JSON_PLACE];
            cr_json_place(b->json, second_of(b, sorted[i]), place);
            status = cr_status_refuse(b->error, CAROM_ERR_SCENE,
                                      "%s: two bodies are named \"%.100s\"; names have to differ",
                                      place, sorted[i]);
        }
    }
    cr_memory_free(sorted);
    return status;
}

static carom_status fill_bodies(builder* b)
{
    cursor at = {0};
    carom_status status = CAROM_OK;
    for (int32_t i = 0; i < b->cast_count; i++) {
        for (int32_t body = b->cast_body[i]; body < b->cast_body[i + 1] && status == CAROM_OK;
             body++) {
            status = fill_body(b, i, body - b->cast_body[i], body, &at);
        }
    }
    return status == CAROM_OK ? check_names(b) : status;
}

// ---- what acts and moves by itself

static carom_status push_script(builder* b, int32_t value, int32_t* out)
{
    cr_script_spec spec;
    cr_form_read(b->json, value, &cr_format_script, &spec);
    const int32_t count = spec.keys < 0 ? 2 : cr_json_at(b->json, spec.keys)->count;
    cr_script s = {.key_count = count, .smooth = spec.smooth};
    s.time = cr_memory_take((size_t)count, sizeof *s.time);
    s.shift = cr_memory_take((size_t)count, 3 * sizeof *s.shift);
    s.turn = cr_memory_take((size_t)count, 3 * sizeof *s.turn);
    if (!s.time || !s.shift || !s.turn || !cr_array_push(&b->scripts, s)) {
        cr_memory_free(s.time);
        cr_memory_free(s.shift);
        cr_memory_free(s.turn);
        return no_memory(b);
    }
    *out = b->scripts.count - 1;
    if (spec.keys < 0) {
        s.time[1] = spec.until == spec.until ? spec.until : steady_time;
        for (int i = 0; i < 3; i++) {
            s.shift[3 + i] = spec.velocity[i] * s.time[1];
            s.turn[3 + i] = spec.angular_velocity[i] * s.time[1];
        }
        return CAROM_OK;
    }
    int32_t k = 0;
    for (int32_t v = cr_json_at(b->json, spec.keys)->first; v >= 0;
         v = cr_json_at(b->json, v)->next, k++) {
        cr_key_spec key;
        cr_form_read(b->json, v, &cr_format_key, &key);
        s.time[k] = key.time;
        memcpy(s.shift + 3 * (size_t)k, key.shift, sizeof key.shift);
        memcpy(s.turn + 3 * (size_t)k, key.turn, sizeof key.turn);
    }
    return CAROM_OK;
}

static int is_zero(const double v[3])
{
    return v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0;
}

// out[k] = base + the k-th of the list (its last one beyond its end).
static void spread(const cr_json* json, const double base[3], int32_t list, int32_t count,
                   double* out)
{
    int32_t v = list < 0 ? -1 : cr_json_at(json, list)->first;
    for (int32_t k = 0; k < count; k++) {
        double add[3] = {0, 0, 0};
        if (v >= 0) {
            cr_form_numbers(json, v, add, 3);
            v = cr_json_at(json, v)->next >= 0 ? cr_json_at(json, v)->next : v;
        }
        for (int i = 0; i < 3; i++) {
            out[3 * k + i] = base[i] + add[i];
        }
    }
}

static carom_status push_load(builder* b, const cr_load* at, const double force[3], int32_t forces,
                              const double torque[3], int32_t torques)
{
    const int32_t n = forces < 0 ? 1 : cr_json_at(b->json, forces)->count;
    const int32_t k = torques < 0 ? 1 : cr_json_at(b->json, torques)->count;
    const int turns = torque && (!is_zero(torque) || torques >= 0);
    cr_load load = *at;
    load.step_count = n > k ? n : k;
    load.force = cr_memory_take((size_t)load.step_count, 3 * sizeof *load.force);
    load.torque = turns ? cr_memory_take((size_t)load.step_count, 3 * sizeof *load.torque) : NULL;
    if (!load.force || (turns && !load.torque) || !cr_array_push(&b->loads, load)) {
        cr_memory_free(load.force);
        cr_memory_free(load.torque);
        return no_memory(b);
    }
    spread(b->json, force, forces, load.step_count, load.force);
    if (turns) {
        spread(b->json, torque, torques, load.step_count, load.torque);
    }
    return CAROM_OK;
}

static int never_turns(const cr_script* script)
{
    int zero = 1;
    for (int32_t i = 0; i < script->key_count; i++) {
        zero = zero && is_zero(script->turn + 3 * (size_t)i);
    }
    return zero;
}

static carom_status pin_nodes(builder* b, int32_t value, int32_t cast, int32_t body,
                              cr_nodes_list* nodes)
{
    cr_model* m = b->model;
    const int32_t first = m->sheet_node[m->body_sheet[body]];
    cr_pin_spec spec;
    int32_t script = -1;
    cr_form_read(b->json, value, &cr_format_pin, &spec);
    const size_t mark = cr_form_enter(&b->path, "nodes", 0);
    carom_status status = cr_nodes_pick(b->json, spec.nodes, &b->cast[cast],
                                        m->x0 + 3 * (size_t)first, &b->path, nodes, b->error);
    cr_form_leave(&b->path, mark);
    if (status == CAROM_OK && spec.script >= 0) {
        status = push_script(b, spec.script, &script);
    }
    if (status == CAROM_OK && script >= 0 && !never_turns(&b->scripts.items[script])) {
        return cr_form_refuse(b->json, spec.script, &b->path, b->error,
                              "turns its nodes; pins move by \"shift\" or \"velocity\" alone");
    }
    for (int32_t i = 0; i < nodes->count && status == CAROM_OK; i++) {
        const int32_t node = first + nodes->items[i];
        if (m->bodies.node_pinned[node]) {
            return cr_form_refuse(b->json, value, &b->path, b->error,
                                  "pins node %d, which an earlier pin holds already",
                                  nodes->items[i]);
        }
        m->bodies.node_pinned[node] = 1;
        m->node_script[node] = script;
    }
    return status;
}

static carom_status push_node_forces(builder* b, int32_t value, int32_t cast, int32_t body,
                                     cr_nodes_list* nodes)
{
    static const double none[3] = {0, 0, 0};
    cr_model* m = b->model;
    const int32_t first = m->sheet_node[m->body_sheet[body]];
    cr_node_force_spec spec;
    cr_form_read(b->json, value, &cr_format_node_force, &spec);
    const int constant = spec.force[0] == spec.force[0];
    if (!constant && spec.forces < 0) {
        return cr_form_refuse(b->json, value, &b->path, b->error, "needs \"force\" or \"forces\"");
    }
    const size_t mark = cr_form_enter(&b->path, "nodes", 0);
    carom_status status = cr_nodes_pick(b->json, spec.nodes, &b->cast[cast],
                                        m->x0 + 3 * (size_t)first, &b->path, nodes, b->error);
    cr_form_leave(&b->path, mark);
    for (int32_t i = 0; i < nodes->count && status == CAROM_OK; i++) {
        const cr_load at = {.body = body, .node = first + nodes->items[i]};
        status = push_load(b, &at, constant ? spec.force : none, spec.forces, NULL, -1);
    }
    return status;
}

typedef carom_status node_action(builder* b, int32_t value, int32_t cast, int32_t body,
                                 cr_nodes_list* nodes);

static carom_status for_each_item(builder* b, int32_t cast, int32_t body, const char* key,
                                  int32_t list, node_action* act)
{
    cr_nodes_list nodes = {0};
    carom_status status = CAROM_OK;
    int32_t i = 0;
    for (int32_t v = list < 0 ? -1 : cr_json_at(b->json, list)->first; v >= 0 && status == CAROM_OK;
         v = cr_json_at(b->json, v)->next, i++) {
        const size_t mark = cr_form_enter(&b->path, "bodies", 0);
        cr_form_enter(&b->path, NULL, cast);
        cr_form_enter(&b->path, key, 0);
        cr_form_enter(&b->path, NULL, i);
        status = act(b, v, cast, body, &nodes);
        cr_form_leave(&b->path, mark);
    }
    cr_array_release(&nodes);
    return status;
}

static carom_status act_on_nodes(builder* b, int32_t cast, int32_t body)
{
    const cr_body_spec* spec = &b->cast[cast].spec;
    carom_status status = for_each_item(b, cast, body, "pins", spec->pins, pin_nodes);
    if (status == CAROM_OK) {
        status = for_each_item(b, cast, body, "node_forces", spec->node_forces, push_node_forces);
    }
    return status;
}

static carom_status fill_actions(builder* b)
{
    carom_status status = CAROM_OK;
    for (int32_t i = 0; i < b->cast_count && status == CAROM_OK; i++) {
        const cr_body_spec* spec = &b->cast[i].spec;
        int32_t script = -1;
        if (spec->script >= 0) {
            status = push_script(b, spec->script, &script);
        }
        for (int32_t body = b->cast_body[i]; body < b->cast_body[i + 1] && status == CAROM_OK;
             body++) {
            const int32_t frame = b->model->bodies.frame[body];
            if (frame >= 0) {
                b->model->frame_script[frame] = script;
            }
            if (!is_zero(spec->force) || !is_zero(spec->torque) || spec->forces >= 0 ||
                spec->torques >= 0) {
                const cr_load at = {.body = body, .node = -1};
                status = push_load(b, &at, spec->force, spec->forces, spec->torque, spec->torques);
            }
            if (status == CAROM_OK && frame < 0) {
                status = act_on_nodes(b, i, body);
            }
        }
    }
    return status;
}

// ---- pairs

int cr_build_find(const cr_model* model, const char* name, int32_t* first, int32_t* count)
{
    const size_t length = strlen(name);
    *count = 0;
    for (int32_t i = 0; i < model->bodies.body_count; i++) {
        const char* its = model->name[i];
        if (strcmp(its, name) == 0) {
            *first = i;
            *count = 1;
            return 1;
        }
        // a copy: name[number], and copies stand together
        if (strncmp(its, name, length) == 0 && its[length] == '[' &&
            strspn(its + length + 1, "0123456789") + length + 2 == strlen(its)) {
            *first = *count == 0 ? i : *first;
            (*count)++;
        }
    }
    return *count > 0;
}

static carom_status find_bodies(builder* b, int32_t value, int32_t* first, int32_t* count)
{
    const char* name = cr_json_text(b->json, value);
    if (cr_build_find(b->model, name, first, count)) {
        return CAROM_OK;
    }
    const char* names[256];
    int n = 0;
    for (int32_t i = 0; i < b->cast_count && n < 255; i++) {
        if (b->cast[i].spec.name) {
            names[n++] = b->cast[i].spec.name;
        }
    }
    names[n] = NULL;
    const char* nearest = cr_form_nearest(name, names);
    return cr_form_refuse(
        b->json, value, &b->path, b->error, "names \"%.60s\", which is no body%s%s%s", name,
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

static double or_usual(double value)
{
    return value == value ? value : -1.0;
}

static int compare_pairings(const void* a, const void* b)
{
    const cr_pairing *x = a, *y = b;
    const int32_t d = x->body[0] != y->body[0] ? x->body[0] - y->body[0] : x->body[1] - y->body[1];
    return d < 0 ? -1 : d > 0;
}

static void sort_pairings(pairing_list* list)
{
    if (list->count > 1) {
        qsort(list->items, (size_t)list->count, sizeof(cr_pairing), compare_pairings);
    }
}

static carom_status push_pair(builder* b, int32_t value)
{
    cr_pair_spec spec;
    int32_t first[2] = {0}, count[2] = {0};
    cr_form_read(b->json, value, &cr_format_pair, &spec);
    if (cr_json_at(b->json, spec.between)->count != 2) {
        return cr_form_refuse(b->json, spec.between, &b->path, b->error,
                              "is between %d bodies; it has to be two",
                              cr_json_at(b->json, spec.between)->count);
    }
    for (int i = 0; i < 2; i++) {
        const carom_status status =
            find_bodies(b, cr_json_child(b->json, spec.between, i), &first[i], &count[i]);
        if (status != CAROM_OK) {
            return status;
        }
    }
    for (int32_t i = first[0]; i < first[0] + count[0]; i++) {
        for (int32_t k = first[1]; k < first[1] + count[1]; k++) {
            const cr_pairing pairing = {.body = {i < k ? i : k, i < k ? k : i},
                                        .thickness = or_usual(spec.thickness),
                                        .reach = -1,
                                        .friction = or_usual(spec.friction),
                                        .restitution = or_usual(spec.restitution),
                                        .passes = !spec.contact};
            if ((i != k || b->model->body_sheet[i] >= 0) && !cr_array_push(&b->pairings, pairing)) {
                return no_memory(b);
            }
        }
    }
    return CAROM_OK;
}

static carom_status fill_pairs(builder* b)
{
    const int32_t pairs = cr_json_member(b->json, 0, "pairs");
    carom_status status = CAROM_OK;
    const size_t mark = cr_form_enter(&b->path, "pairs", 0);
    int32_t i = 0;
    for (int32_t v = pairs < 0 ? -1 : cr_json_at(b->json, pairs)->first;
         v >= 0 && status == CAROM_OK; v = cr_json_at(b->json, v)->next, i++) {
        const size_t inner = cr_form_enter(&b->path, NULL, i);
        status = push_pair(b, v);
        cr_form_leave(&b->path, inner);
    }
    cr_form_leave(&b->path, mark);
    sort_pairings(&b->pairings);
    for (int32_t k = 1; k < b->pairings.count && status == CAROM_OK; k++) {
        if (compare_pairings(&b->pairings.items[k - 1], &b->pairings.items[k]) == 0) {
            const int32_t* body = b->pairings.items[k].body;
            status = cr_status_refuse(
                b->error, CAROM_ERR_SCENE, "%s: pairs names \"%.60s\" and \"%.60s\" twice",
                b->json->source.items[0].name, b->model->name[body[0]], b->model->name[body[1]]);
        }
    }
    return status;
}

// ---- the start

// Closer than this share of its size no body can be held apart by its digits: it touches.
static const double touching = 1e-8;

// A sphere or capsule gives up no more of its radius than a thin layer's worth.
static const double ball_slack = 5e-4;

static int32_t cast_of(const builder* b, int32_t body)
{
    int32_t i = 0;
    while (b->cast_body[i + 1] <= body) {
        i++;
    }
    return i;
}

static carom_status refuse_start(builder* b, const cr_start_report* r)
{
    char place[CR_JSON_PLACE];
    const char* first = b->model->name[r->body[0]];
    const char* second = b->model->name[r->body[1]];
    const cr_vec3 at = r->place;
    cr_json_place(b->json, b->cast[cast_of(b, r->body[1])].value, place);
    if (r->inner) {
        return cr_status_refuse(b->error, CAROM_ERR_INTERSECTING,
                                "%s: \"%.80s\" starts wholly inside \"%.80s\", at (%g, %g, %g) m; "
                                "move it out, or let the two pass by \"pairs\" with "
                                "\"contact\": false",
                                place, first, second, at.x, at.y, at.z);
    }
    if (r->body[0] == r->body[1]) {
        return cr_status_refuse(b->error, CAROM_ERR_INTERSECTING,
                                "%s: \"%.80s\" starts folded into itself near (%g, %g, %g) m; its "
                                "faces have to be apart",
                                place, first, at.x, at.y, at.z);
    }
    if (r->distance > 0.0) {
        const double wanted = cr_model_thickness(b->model, r->body[0], r->body[1]);
        return cr_status_refuse(b->error, CAROM_ERR_INTERSECTING,
                                "%s: \"%.80s\" and \"%.80s\" overlap by %.3g m at the start, near "
                                "(%g, %g, %g) m: they touch at %.3g m and are %.3g m apart; move "
                                "them apart, or give meshes that only touch \"inset\": true",
                                place, first, second, wanted - r->distance, at.x, at.y, at.z,
                                wanted, r->distance);
    }
    return cr_status_refuse(b->error, CAROM_ERR_INTERSECTING,
                            "%s: \"%.80s\" and \"%.80s\" intersect at the start, near (%g, %g, %g) "
                            "m; move them apart, or let them pass by \"pairs\" with \"contact\": "
                            "false. Solids that only touch can be kept apart by \"inset\": true",
                            place, first, second, at.x, at.y, at.z);
}

// Two bodies that start nearer than contact begins touch at the distance they have.
static carom_status narrow(builder* b, const cr_start_list* near)
{
    cr_model* m = b->model;
    carom_status status = CAROM_OK;
    double least = 1.0;
    for (int32_t i = 0; i < near->count && status == CAROM_OK; i++) {
        const cr_start_pair* pair = &near->items[i];
        const double usual = cr_model_reach(m, pair->body[0], pair->body[1]);
        least = cr_min(least, pair->distance / usual);
        const cr_pairing* old = cr_model_pairing(m, pair->body[0], pair->body[1]);
        if (old) {
            b->pairings.items[old - m->pairing].reach = pair->distance;
            continue;
        }
        const cr_pairing fresh = {.body = {pair->body[0], pair->body[1]},
                                  .thickness = -1,
                                  .reach = pair->distance,
                                  .friction = -1,
                                  .restitution = -1};
        const int32_t known = m->pairing_count;
        status = cr_array_push(&b->pairings, fresh) ? CAROM_OK : no_memory(b);
        m->pairing = b->pairings.items; // the list may have moved; its sorted part has not grown
        m->pairing_count = known;
    }
    if (status == CAROM_OK && near->count > 0) {
        char text[400];
        const cr_start_pair* pair = &near->items[0];
        snprintf(text, sizeof text,
                 "%d pair%s of bodies start%s closer than %s thickness and will touch at the "
                 "distance they have (down to %.3g of it); the first is \"%.60s\" and \"%.60s\", "
                 "%.3g m apart",
                 near->count, near->count == 1 ? "" : "s", near->count == 1 ? "s" : "",
                 near->count == 1 ? "its" : "their", least, m->name[pair->body[0]],
                 m->name[pair->body[1]], pair->distance);
        status = add_note(b, text);
    }
    sort_pairings(&b->pairings);
    return status;
}

// As cr_start_check, with bodies moved apart first; who went how far is noted.
static carom_status separate(builder* b, const double* floor, cr_start_report* report)
{
    cr_model* m = b->model;
    double* moved = cr_memory_take(3 * (size_t)m->bodies.body_count, sizeof *moved);
    if (!moved) {
        *report = (cr_start_report){.body = {-1, -1}};
        return CAROM_ERR_MEMORY;
    }
    carom_status status = cr_separate_start(m, floor, report, moved);
    int32_t count = 0, farthest = 0;
    double most = 0.0;
    for (int32_t i = 0; i < m->bodies.body_count; i++) {
        const double far = cr_vec3_norm(cr_vec3_load(moved + 3 * (size_t)i));
        count += far > 0.0;
        if (far > most) {
            most = far;
            farthest = i;
        }
    }
    if (status == CAROM_OK && count > 0) {
        char text[200];
        snprintf(text, sizeof text,
                 "%d bod%s moved apart at the start, \"%.60s\" the farthest, by %.3g m", count,
                 count == 1 ? "y was" : "ies were", m->name[farthest], most);
        status = add_note(b, text);
    }
    cr_memory_free(moved);
    return status;
}

static carom_status check_start(builder* b)
{
    cr_model* m = b->model;
    double* floor = cr_memory_take((size_t)m->bodies.body_count, sizeof *floor);
    if (!floor) {
        return no_memory(b);
    }
    for (int32_t i = 0; i < b->cast_count; i++) {
        const cr_cast* c = &b->cast[i];
        const int ball = c->spec.sphere >= 0 || c->spec.capsule >= 0;
        for (int32_t body = b->cast_body[i]; body < b->cast_body[i + 1]; body++) {
            floor[body] = ball ? c->radius - ball_slack * c->size : touching * c->size;
        }
    }
    cr_start_report report;
    carom_status status =
        b->world.separate ? separate(b, floor, &report) : cr_start_check(m, floor, &report);
    if (status == CAROM_ERR_INTERSECTING) {
        status = refuse_start(b, &report);
    } else if (status != CAROM_OK) {
        status = status == CAROM_ERR_MEMORY
                     ? no_memory(b)
                     : cr_status_refuse(b->error, status, "the start of the scene is not finite");
    } else {
        status = narrow(b, &report.near);
    }
    cr_array_release(&report.near);
    cr_memory_free(floor);
    return status;
}

// ---- the whole

static void hand_over(builder* b)
{
    cr_model* m = b->model;
    m->script = b->scripts.items;
    m->script_count = b->scripts.count;
    m->load = b->loads.items;
    m->load_count = b->loads.count;
    m->pairing = b->pairings.items;
    m->pairing_count = b->pairings.count;
}

static carom_status refuse_world(builder* b, const char* key, const char* why)
{
    const size_t mark = cr_form_enter(&b->path, "world", 0);
    cr_form_enter(&b->path, key, 0);
    const int32_t world = cr_json_member(b->json, 0, "world");
    const carom_status status =
        cr_form_refuse(b->json, cr_json_member(b->json, world, key), &b->path, b->error, "%s", why);
    cr_form_leave(&b->path, mark);
    return status;
}

// What the hard law has no use for.
static carom_status check_world(builder* b)
{
    const cr_world* world = &b->world.numbers;
    if (world->contact == CR_CONTACT_BARRIER) {
        return CAROM_OK;
    }
    if (world->elasticity != CR_ELASTICITY_CONVERGED) {
        return refuse_world(b, "elasticity",
                            "is \"linearized\", which needs \"contact\": \"barrier\"; with "
                            "\"hard\", leave it out");
    }
    if (world->iteration_budget > 0) {
        return refuse_world(b, "iteration_budget",
                            "is not 0, which needs \"contact\": \"barrier\"; with \"hard\", "
                            "leave it out");
    }
    return CAROM_OK;
}

carom_status cr_build_model(const cr_scene* scene, cr_model** model, carom_error* error)
{
    *model = NULL;
    if (scene->json.value.count == 0) {
        return cr_status_refuse(error, CAROM_ERR_MISUSE, "the scene is empty; load one first");
    }
    builder b = {.json = &scene->json, .scene = scene, .error = error};
    cr_form_read(b.json, cr_json_member(b.json, 0, "world"), &cr_format_world, &b.world);
    b.model = cr_memory_take(1, sizeof *b.model);
    if (!b.model) {
        return no_memory(&b);
    }
    b.model->world = b.world.numbers;
    carom_status status = check_world(&b);
    if (status == CAROM_OK) {
        status = make_casts(&b);
    }
    if (status == CAROM_OK) {
        status = take_room(&b);
    }
    if (status == CAROM_OK) {
        status = fill_bodies(&b);
    }
    if (status == CAROM_OK) {
        status = fill_actions(&b);
    }
    if (status == CAROM_OK) {
        status = fill_pairs(&b);
    }
    if (status == CAROM_OK) {
        hand_over(&b);
        status = check_start(&b);
    }
    for (int32_t i = 0; b.cast && i < b.cast_count; i++) {
        cr_cast_release(&b.cast[i]);
    }
    cr_memory_free(b.cast);
    cr_memory_free(b.cast_body);
    if (b.model) {
        hand_over(&b);
    }
    if (status != CAROM_OK) {
        cr_model_destroy(b.model);
        b.model = NULL;
    }
    *model = b.model;
    return status;
}
