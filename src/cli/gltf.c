#include "cli/gltf.h"
#include "cli/bytes.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/shapes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Numbers of the glTF standard.
enum { FLOAT = 5126, UNSIGNED_INT = 5125, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };

typedef struct gltf {
    carom_trajectory* tr;
    carom_trajectory_info about;
    cli_shapes shapes;
    int64_t* frame; // [frame_count] of the file
    int frame_count;
    double* vertex; // [frame_count * 3*vertex_count] where everything is, or NULL without cloth
    cli_bytes buffer;
    json_t *nodes, *meshes, *materials, *accessors, *views, *samplers, *channels;
    int* position_of; // [body_count] accessors of the geometry, -1: none yet
    int* index_of;
    int* normal_of; // -1: none
    int time;       // accessor of the frames' times
    carom_error error;
} gltf;

// ---- accessors: numbers in the buffer

static int add_view(gltf* g, size_t first, int target)
{
    json_t* o = json_object();
    json_object_set_new(o, "buffer", json_integer(0));
    json_object_set_new(o, "byteOffset", json_integer((json_int_t)first));
    json_object_set_new(o, "byteLength", json_integer((json_int_t)(g->buffer.size - first)));
    if (target) {
        json_object_set_new(o, "target", json_integer(target));
    }
    json_array_append_new(g->views, o);
    return (int)json_array_size(g->views) - 1;
}

static int add_accessor(gltf* g, int view, int type, const char* shape, size_t count, json_t* low,
                        json_t* high)
{
    json_t* o = json_object();
    json_object_set_new(o, "bufferView", json_integer(view));
    json_object_set_new(o, "componentType", json_integer(type));
    json_object_set_new(o, "count", json_integer((json_int_t)count));
    json_object_set_new(o, "type", json_string(shape));
    if (low) {
        json_object_set_new(o, "min", low);
        json_object_set_new(o, "max", high);
    }
    json_array_append_new(g->accessors, o);
    return (int)json_array_size(g->accessors) - 1;
}

// Doubles as floats, with their bounds where the standard wants them: those of the floats.
static int add_floats(gltf* g, const double* value, size_t count, int width, int target, int bounds)
{
    static const char* const shapes[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    const size_t first = g->buffer.size;
    json_t *low = bounds ? json_array() : NULL, *high = bounds ? json_array() : NULL;
    for (size_t i = 0; i < count * (size_t)width; i++) {
        cli_bytes_put_float(&g->buffer, value[i]);
    }
    for (int k = 0; bounds && k < width; k++) {
        float a = HUGE_VALF, b = -HUGE_VALF;
        for (size_t i = 0; i < count; i++) {
            const float v = (float)value[(size_t)width * i + (size_t)k];
            a = v < a ? v : a;
            b = v > b ? v : b;
        }
        json_array_append_new(low, json_real((double)a));
        json_array_append_new(high, json_real((double)b));
    }
    return add_accessor(g, add_view(g, first, target), FLOAT, shapes[width], count, low, high);
}

static int add_indices(gltf* g, const int32_t* index, size_t count, int32_t shift)
{
    const size_t first = g->buffer.size;
    for (size_t i = 0; i < count; i++) {
        const uint32_t value = (uint32_t)(index[i] - shift);
        cli_bytes_put(&g->buffer, &value, sizeof value);
    }
    return add_accessor(g, add_view(g, first, ELEMENT_ARRAY_BUFFER), UNSIGNED_INT, "SCALAR", count,
                        NULL, NULL);
}

// ---- normals

// Each face adds its area to its corners; a vertex without any points up.
static void smooth_normals(const double* x, size_t count, const int32_t* face, size_t face_count,
                           int32_t shift, double* normal)
{
    memset(normal, 0, 3 * count * sizeof *normal);
    for (size_t f = 0; f < face_count; f++) {
        const size_t v[3] = {(size_t)(face[3 * f] - shift), (size_t)(face[3 * f + 1] - shift),
                             (size_t)(face[3 * f + 2] - shift)};
        double u[3], w[3];
        for (size_t k = 0; k < 3; k++) {
            u[k] = x[3 * v[1] + k] - x[3 * v[0] + k];
            w[k] = x[3 * v[2] + k] - x[3 * v[0] + k];
        }
        for (size_t c = 0; c < 3; c++) {
            for (size_t k = 0; k < 3; k++) {
                normal[3 * v[c] + k] +=
                    u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3];
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        double* n = normal + 3 * i;
        const double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++) {
            n[k] = size > 0 ? n[k] / size : k == 2;
        }
    }
}

// ---- meshes

static int add_material(gltf* g, int32_t body, carom_body_kind kind)
{
    static const double colors[][3] = {{0.028, 0.238, 0.584}, {0.871, 0.392, 0.030},
                                       {0.050, 0.381, 0.195}, {0.254, 0.138, 0.527},
                                       {0.060, 0.451, 0.552}, {0.694, 0.254, 0.047}};
    static const double still[3] = {0.565, 0.552, 0.521};
    const double* c = kind == CAROM_BODY_FIXED ? still : colors[body % 6];
    json_t* o = json_object();
    json_t* pbr = json_object();
    json_object_set_new(pbr, "baseColorFactor", json_pack("[f, f, f, f]", c[0], c[1], c[2], 1.0));
    json_object_set_new(pbr, "metallicFactor", json_real(0.0));
    json_object_set_new(pbr, "roughnessFactor", json_real(0.7));
    json_object_set_new(o, "pbrMetallicRoughness", pbr);
    json_object_set_new(o, "doubleSided", json_boolean(kind == CAROM_BODY_CLOTH));
    json_array_append_new(g->materials, o);
    return (int)json_array_size(g->materials) - 1;
}

// The same vertices and faces as an earlier body: their accessors will do.
static int32_t twin_of(const gltf* g, int32_t body, const carom_body_info* info)
{
    const double* v = carom_trajectory_mesh(g->tr);
    const int32_t* f = carom_trajectory_faces(g->tr);
    for (int32_t b = 0; b < body; b++) {
        carom_body_info other;
        carom_trajectory_body(g->tr, b, &other);
        int same = other.vertex_count == info->vertex_count && g->position_of[b] >= 0 &&
                   other.kind != CAROM_BODY_CLOTH && other.face_count == info->face_count &&
                   (g->shapes.of[b] != NULL) == (g->shapes.of[body] != NULL) &&
                   other.thickness == info->thickness &&
                   memcmp(v + 3 * (size_t)other.vertex_first, v + 3 * (size_t)info->vertex_first,
                          3 * (size_t)info->vertex_count * sizeof *v) == 0;
        for (int32_t i = 0; i < 3 * info->face_count && same; i++) {
            same = f[3 * (size_t)other.face_first + (size_t)i] - other.vertex_first ==
                   f[3 * (size_t)info->face_first + (size_t)i] - info->vertex_first;
        }
        if (same) {
            return b;
        }
    }
    return -1;
}

// A sphere or capsule, moved from its own axes into the body's frame.
static int add_shape(gltf* g, int32_t body, const carom_body_info* info)
{
    const carom_mesh* mesh = g->shapes.of[body];
    const size_t count = (size_t)carom_mesh_vertex_count(mesh);
    const size_t faces = (size_t)carom_mesh_face_count(mesh);
    double* x = calloc(6 * count + 1, sizeof *x);
    if (!x) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        cli_shapes_shift(info->mesh_position, carom_mesh_vertices(mesh) + 3 * i, x + 3 * i);
    }
    smooth_normals(x, count, carom_mesh_faces(mesh), faces, 0, x + 3 * count);
    g->position_of[body] = add_floats(g, x, count, 3, ARRAY_BUFFER, 1);
    g->normal_of[body] = add_floats(g, x + 3 * count, count, 3, ARRAY_BUFFER, 0);
    g->index_of[body] = add_indices(g, carom_mesh_faces(mesh), 3 * faces, 0);
    free(x);
    return 1;
}

static int add_geometry(gltf* g, int32_t body, const carom_body_info* info)
{
    const int32_t twin = twin_of(g, body, info);
    if (twin >= 0) {
        g->position_of[body] = g->position_of[twin];
        g->index_of[body] = g->index_of[twin];
        g->normal_of[body] = g->normal_of[twin];
        return 1;
    }
    if (g->shapes.of[body]) {
        return add_shape(g, body, info);
    }
    const double* v = carom_trajectory_mesh(g->tr) + 3 * (size_t)info->vertex_first;
    const int32_t* f = carom_trajectory_faces(g->tr) + 3 * (size_t)info->face_first;
    g->position_of[body] = add_floats(g, v, (size_t)info->vertex_count, 3, ARRAY_BUFFER, 1);
    g->index_of[body] = add_indices(g, f, 3 * (size_t)info->face_count, info->vertex_first);
    return 1;
}

static json_t* primitive_of(gltf* g, int32_t body, const carom_body_info* info)
{
    json_t *p = json_object(), *a = json_object();
    json_object_set_new(a, "POSITION", json_integer(g->position_of[body]));
    if (g->normal_of[body] >= 0) {
        json_object_set_new(a, "NORMAL", json_integer(g->normal_of[body]));
    }
    json_object_set_new(p, "attributes", a);
    json_object_set_new(p, "indices", json_integer(g->index_of[body]));
    json_object_set_new(p, "material", json_integer(add_material(g, body, info->kind)));
    return p;
}

// The mesh of one primitive; its number.
static int add_mesh(gltf* g, const char* name, json_t* primitive, int weights)
{
    json_t *o = json_object(), *list = json_array();
    json_array_append_new(list, primitive);
    json_object_set_new(o, "name", cli_json_text(name));
    json_object_set_new(o, "primitives", list);
    if (weights > 0) {
        json_t* zeros = json_array();
        for (int i = 0; i < weights; i++) {
            json_array_append_new(zeros, json_real(0.0));
        }
        json_object_set_new(o, "weights", zeros);
    }
    json_array_append_new(g->meshes, o);
    return (int)json_array_size(g->meshes) - 1;
}

// ---- motion

static void add_channel(gltf* g, int node, const char* path, int output)
{
    json_t *sampler = json_object(), *channel = json_object(), *target = json_object();
    json_object_set_new(sampler, "input", json_integer(g->time));
    json_object_set_new(sampler, "output", json_integer(output));
    json_object_set_new(sampler, "interpolation", json_string("LINEAR"));
    json_array_append_new(g->samplers, sampler);
    json_object_set_new(target, "node", json_integer(node));
    json_object_set_new(target, "path", json_string(path));
    json_object_set_new(channel, "sampler",
                        json_integer((json_int_t)json_array_size(g->samplers) - 1));
    json_object_set_new(channel, "target", target);
    json_array_append_new(g->channels, channel);
}

// x,y,z,w of unit length, on the side of the one before.
static void store_turn(double* to, const double q[4], const double* before)
{
    const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double dot = 0;
    for (int k = 0; k < 4; k++) {
        to[k] = q[(k + 1) % 4] / size;
        dot += before ? to[k] * before[k] : 0;
    }
    for (int k = 0; k < 4 && dot < 0; k++) {
        to[k] = -to[k];
    }
}

// Where all bodies are in all frames: t [3], q [4] (x,y,z,w) of body b in frame i at
// 7*(b*frame_count + i); and all vertices when there is cloth.
static double* read_motion(gltf* g, double* time)
{
    const size_t bodies = (size_t)g->about.body_count, frames = (size_t)g->frame_count;
    double* pose = calloc(7 * bodies * frames + 1, sizeof *pose);
    if (!pose) {
        return NULL;
    }
    for (size_t i = 0; i < frames; i++) {
        if (carom_trajectory_read(g->tr, g->frame[i], &g->error) != CAROM_OK) {
            free(pose);
            return NULL;
        }
        time[i] = carom_trajectory_time(g->tr);
        for (size_t b = 0; b < bodies; b++) {
            carom_body_state s;
            carom_trajectory_body_state(g->tr, (int32_t)b, &s);
            double* at = pose + 7 * (b * frames + i);
            memcpy(at, s.position, sizeof s.position);
            store_turn(at + 3, s.quaternion, i > 0 ? at - 7 + 3 : NULL);
        }
        if (g->vertex) {
            carom_trajectory_vertices(g->tr, g->vertex + i * 3 * (size_t)g->about.vertex_count);
        }
    }
    return pose;
}

static int add_pose_channels(gltf* g, int node, const double* pose)
{
    const size_t frames = (size_t)g->frame_count;
    double* part = calloc(7 * frames, sizeof *part);
    if (!part) {
        return 0;
    }
    for (size_t i = 0; i < frames; i++) {
        memcpy(part + 3 * i, pose + 7 * i, 3 * sizeof *part);
        memcpy(part + 3 * frames + 4 * i, pose + 7 * i + 3, 4 * sizeof *part);
    }
    add_channel(g, node, "translation", add_floats(g, part, frames, 3, 0, 0));
    add_channel(g, node, "rotation", add_floats(g, part + 3 * frames, frames, 4, 0, 0));
    free(part);
    return 1;
}

static int new_node(gltf* g, const char* name, int mesh)
{
    json_t* o = json_object();
    json_object_set_new(o, "name", cli_json_text(name));
    if (mesh >= 0) {
        json_object_set_new(o, "mesh", json_integer(mesh));
    }
    json_array_append_new(g->nodes, o);
    return (int)json_array_size(g->nodes) - 1;
}

static int add_rigid(gltf* g, int32_t body, const carom_body_info* info, const double* pose)
{
    if (!g->shapes.of[body] && info->face_count == 0) {
        new_node(g, info->name, -1); // a point without thickness has nothing to show
        return 1;
    }
    if (!add_geometry(g, body, info)) {
        return 0;
    }
    const int node =
        new_node(g, info->name, add_mesh(g, info->name, primitive_of(g, body, info), 0));
    json_t* o = json_array_get(g->nodes, (size_t)node);
    json_object_set_new(o, "translation", cli_json_numbers(pose, 3));
    json_object_set_new(o, "rotation", cli_json_numbers(pose + 3, 4));
    return info->kind == CAROM_BODY_FIXED || g->frame_count < 2 || add_pose_channels(g, node, pose);
}

// ---- cloth: the first frame, and what differs from it in each later one

typedef struct sheet {
    size_t count;            // vertices
    double *x, *n, *x0, *n0; // [3*count] of a frame and of the first
} sheet;

static void load_sheet(const gltf* g, const carom_body_info* info, size_t frame, double* x,
                       double* n)
{
    const int32_t* f = carom_trajectory_faces(g->tr) + 3 * (size_t)info->face_first;
    memcpy(x, g->vertex + 3 * (frame * (size_t)g->about.vertex_count + (size_t)info->vertex_first),
           3 * (size_t)info->vertex_count * sizeof *x);
    smooth_normals(x, (size_t)info->vertex_count, f, (size_t)info->face_count, info->vertex_first,
                   n);
}

static json_t* add_targets(gltf* g, const carom_body_info* info, sheet* s)
{
    json_t* targets = json_array();
    for (int i = 1; i < g->frame_count; i++) {
        load_sheet(g, info, (size_t)i, s->x, s->n);
        for (size_t k = 0; k < 3 * s->count; k++) {
            s->x[k] -= s->x0[k];
            s->n[k] -= s->n0[k];
        }
        json_t* t = json_object();
        json_object_set_new(t, "POSITION",
                            json_integer(add_floats(g, s->x, s->count, 3, ARRAY_BUFFER, 1)));
        json_object_set_new(t, "NORMAL",
                            json_integer(add_floats(g, s->n, s->count, 3, ARRAY_BUFFER, 0)));
        json_array_append_new(targets, t);
    }
    return targets;
}

// Of frame i target i - 1 has the weight 1, all others 0.
static int add_weights(gltf* g, int node)
{
    const size_t frames = (size_t)g->frame_count, targets = frames - 1;
    double* weight = calloc(frames * targets + 1, sizeof *weight);
    if (!weight) {
        return 0;
    }
    for (size_t i = 1; i < frames; i++) {
        weight[i * targets + i - 1] = 1;
    }
    add_channel(g, node, "weights", add_floats(g, weight, frames * targets, 1, 0, 0));
    free(weight);
    return 1;
}

static int add_cloth(gltf* g, int32_t body, const carom_body_info* info)
{
    sheet s = {.count = (size_t)info->vertex_count};
    const int32_t* f = carom_trajectory_faces(g->tr) + 3 * (size_t)info->face_first;
    s.x = calloc(12 * s.count + 1, sizeof *s.x);
    if (!s.x) {
        return 0;
    }
    s.n = s.x + 3 * s.count;
    s.x0 = s.n + 3 * s.count;
    s.n0 = s.x0 + 3 * s.count;
    load_sheet(g, info, 0, s.x0, s.n0);
    g->position_of[body] = add_floats(g, s.x0, s.count, 3, ARRAY_BUFFER, 1);
    g->normal_of[body] = add_floats(g, s.n0, s.count, 3, ARRAY_BUFFER, 0);
    g->index_of[body] = add_indices(g, f, 3 * (size_t)info->face_count, info->vertex_first);
    json_t* primitive = primitive_of(g, body, info);
    if (g->frame_count > 1) {
        json_object_set_new(primitive, "targets", add_targets(g, info, &s));
    }
    const int node =
        new_node(g, info->name, add_mesh(g, info->name, primitive, g->frame_count - 1));
    free(s.x);
    return g->frame_count < 2 || add_weights(g, node);
}

// ---- the file

// glTF has y up: the turn, x,y,z,w, that takes "against gravity" (else z) to y.
static void up_turn(const double gravity[3], double q[4])
{
    const double size =
        sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
    double u[3] = {0, 0, 1};
    for (int k = 0; k < 3 && size > 0; k++) {
        u[k] = -gravity[k] / size;
    }
    // half way between u and y: q = (u x y, 1 + u.y), and about x when they are opposite
    const double w = 1 + u[1], norm = sqrt(u[2] * u[2] + u[0] * u[0] + w * w);
    const double turn[4] = {-u[2] / norm, 0, u[0] / norm, w / norm}, over[4] = {1, 0, 0, 0};
    memcpy(q, norm > 1e-9 ? turn : over, sizeof turn);
}

static json_t* document(gltf* g)
{
    json_t *o = json_object(), *root = json_object(), *children = json_array();
    double q[4];
    up_turn(g->about.gravity, q);
    const size_t count = json_array_size(g->nodes);
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(children, json_integer((json_int_t)i));
    }
    json_object_set_new(root, "name", json_string("world"));
    json_object_set_new(root, "rotation", cli_json_numbers(q, 4));
    json_object_set_new(root, "children", children);
    json_array_append_new(g->nodes, root);
    json_object_set_new(o, "asset",
                        json_pack("{s:s, s:s}", "version", "2.0", "generator", "carom"));
    json_object_set_new(o, "scene", json_integer(0));
    json_object_set_new(o, "scenes", json_pack("[{s:[i]}]", "nodes", (int)count));
    json_object_set(o, "nodes", g->nodes);
    json_object_set(o, "meshes", g->meshes);
    json_object_set(o, "materials", g->materials);
    json_object_set(o, "accessors", g->accessors);
    json_object_set(o, "bufferViews", g->views);
    if (json_array_size(g->channels) > 0) {
        json_object_set_new(o, "animations",
                            json_pack("[{s:s, s:O, s:O}]", "name", "run", "samplers", g->samplers,
                                      "channels", g->channels));
    }
    return o;
}

// A glb is a head, the JSON padded by spaces and the buffer, each a multiple of 4 long.
static void write_binary(FILE* f, const char* text, const cli_bytes* buffer)
{
    const size_t length = strlen(text), padded = (length + 3) / 4 * 4;
    const uint32_t head[5] = {0x46546c67u, 2, (uint32_t)(12 + 8 + padded + 8 + buffer->size),
                              (uint32_t)padded, 0x4e4f534au};
    const uint32_t second[2] = {(uint32_t)buffer->size, 0x004e4942u};
    fwrite(head, sizeof head, 1, f);
    fwrite(text, 1, length, f);
    fwrite("   ", 1, padded - length, f);
    fwrite(second, sizeof second, 1, f);
    fwrite(buffer->at, 1, buffer->size, f);
}

static int write_file(gltf* g, const char* path)
{
    const size_t n = strlen(path);
    const int binary = n > 4 && strcmp(path + n - 4, ".glb") == 0;
    cli_output o;
    if (g->buffer.size > UINT32_MAX - (1 << 26)) {
        return cli_output_fail("export", path,
                               "would be larger than glTF allows; --every makes it smaller");
    }
    json_t* d = document(g);
    json_t* buffer = json_pack("{s:I}", "byteLength", (json_int_t)g->buffer.size);
    json_object_set_new(d, "buffers", json_pack("[O]", buffer));
    if (!binary) { // the place of the letters, which are too many for a JSON string in memory
        json_object_set_new(buffer, "uri", json_string("data:application/octet-stream;base64,@"));
    }
    char* text = json_dumps(d, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(buffer);
    json_decref(d);
    int status = text ? cli_output_open(&o, "export", path) : 1;
    if (status == 0) {
        char* place = binary ? NULL : strrchr(text, '@'); // the buffers come last
        if (binary) {
            write_binary(o.file, text, &g->buffer);
        } else {
            fwrite(text, 1, (size_t)(place - text), o.file);
            cli_bytes_letters(o.file, g->buffer.at, g->buffer.size);
            fputs(place + 1, o.file);
        }
        status = cli_output_close(&o, 0);
    }
    free(text);
    return status;
}

static int add_all(gltf* g)
{
    double* time = calloc((size_t)g->frame_count + 1, sizeof *time);
    double* pose = time ? read_motion(g, time) : NULL;
    int good = pose != NULL;
    if (good) {
        g->time = g->frame_count > 1 ? add_floats(g, time, (size_t)g->frame_count, 1, 0, 1) : -1;
    }
    for (int32_t b = 0; b < g->about.body_count && good; b++) {
        carom_body_info info;
        carom_trajectory_body(g->tr, b, &info);
        good = info.kind == CAROM_BODY_CLOTH
                   ? add_cloth(g, b, &info)
                   : add_rigid(g, b, &info, pose + 7 * (size_t)b * (size_t)g->frame_count);
    }
    free(time);
    free(pose);
    return good && !g->buffer.failed;
}

static int has_cloth(const gltf* g)
{
    for (int32_t b = 0; b < g->about.body_count; b++) {
        carom_body_info info;
        carom_trajectory_body(g->tr, b, &info);
        if (info.kind == CAROM_BODY_CLOTH) {
            return 1;
        }
    }
    return 0;
}

static int prepare(gltf* g, int64_t every)
{
    const int64_t count = g->about.frame_count;
    const size_t bodies = (size_t)g->about.body_count + 1;
    g->frame = calloc((size_t)(count / every) + 2, sizeof *g->frame);
    g->position_of = malloc(bodies * sizeof *g->position_of);
    g->index_of = malloc(bodies * sizeof *g->index_of);
    g->normal_of = malloc(bodies * sizeof *g->normal_of);
    if (!g->frame || !g->position_of || !g->index_of || !g->normal_of) {
        return 0;
    }
    for (int64_t i = 0; i < count; i++) {
        if (i % every == 0 || i == count - 1) {
            g->frame[g->frame_count++] = i;
        }
    }
    for (size_t b = 0; b < bodies; b++) {
        g->position_of[b] = g->index_of[b] = g->normal_of[b] = -1;
    }
    if (has_cloth(g)) {
        g->vertex = calloc(3 * (size_t)g->about.vertex_count * (size_t)g->frame_count + 1,
                           sizeof *g->vertex);
    }
    g->nodes = json_array();
    g->meshes = json_array();
    g->materials = json_array();
    g->accessors = json_array();
    g->views = json_array();
    g->samplers = json_array();
    g->channels = json_array();
    return (g->vertex || !has_cloth(g)) &&
           cli_shapes_make(&g->shapes, g->tr, &g->error) == CAROM_OK;
}

static void release(gltf* g)
{
    enum { LISTS = 7 };
    json_t* const lists[LISTS] = {g->nodes, g->meshes,   g->materials, g->accessors,
                                  g->views, g->samplers, g->channels};
    for (int i = 0; i < LISTS; i++) {
        json_decref(lists[i]);
    }
    cli_shapes_release(&g->shapes);
    cli_bytes_release(&g->buffer);
    free(g->frame);
    free(g->vertex);
    free(g->position_of);
    free(g->index_of);
    free(g->normal_of);
}

int cli_gltf_write(carom_trajectory* trajectory, const char* path, int64_t every)
{
    gltf g = {.tr = trajectory, .about = carom_trajectory_about(trajectory)};
    int status = 0;
    if (g.about.frame_count == 0 || g.about.body_count == 0) {
        status = cli_output_fail("export", path, "there is no frame or no body to write");
    } else if (!prepare(&g, every) || !add_all(&g)) {
        status = cli_output_fail("export", path,
                                 g.error.message[0] ? g.error.message : "not enough memory");
    } else {
        status = write_file(&g, path);
    }
    if (status == 0) {
        printf("%s: %d frames\n", path, g.frame_count);
    }
    release(&g);
    return status;
}
