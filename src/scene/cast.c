#include "scene/cast.h"
#include "mesh/check.h"
#include "mesh/decimate.h"
#include "mesh/generate.h"
#include "mesh/mass.h"
#include "mesh/mesh_file.h"
#include "mesh/repair.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The thickness of a body that asks for none, by its size: thin enough not to be seen, thick enough
// that distances keep their digits.
static const double usual_thickness = 5e-4;
// The width of its contact layer: a thinner one is stiffer, and takes more iterations to solve.
static const double usual_width = 2.5e-3;

// Of cloth that asks for none: at most this share of its shortest edge, for folds are edges wide.
static const double usual_edge_share = 0.2;

// How far a vertex may move by an inset, by the way of its faces: beyond, the corner is too sharp
// for its faces to move in parallel.
static const double inset_most = 4.0;

// Below this share of the largest, an eigenvalue of the normals at a vertex is a direction along
// which no face there looks: a vertex within a flat side or on a straight ridge.
static const double flat_share = 1e-9;

// Moments of a solid obey a + b >= c; so much is left to the user's rounding.
static const double moment_slack = 1e-6;
// Products of inertia below this part of the trace are what the integrals leave of zero.
static const double axes_round_off = 1e-14;

typedef struct maker {
    cr_cast* cast;
    const cr_scene* scene;
    const cr_json* json;
    cr_form_path* path;
    carom_error* error;
} maker;

static carom_status no_memory(carom_error* error)
{
    return cr_status_refuse(error, CAROM_ERR_MEMORY, "not enough memory to build the scene");
}

// ---- numbers

// One more thing that was done with the body being made and that the scene did not say.
__attribute__((format(printf, 2, 3))) static void tell(maker* m, const char* format, ...)
{
    char* note = m->cast->note;
    const size_t room = sizeof m->cast->note;
    size_t used = strlen(note);
    snprintf(note + used, room - used, "%s%.120s: ", used ? "; " : "", m->path->text);
    used = strlen(note);
    va_list list;
    va_start(list, format);
    vsnprintf(note + used, room - used, format, list);
    va_end(list);
}

static double first_given(double a, double b, double c)
{
    return a == a ? a : b == b ? b : c; // NaN: not given
}

// The moduli that stretch stands for, where they are not given themselves.
static void spread_stretch(cr_material_spec* spec, double poisson)
{
    if (spec->stretch == spec->stretch) {
        const cr_membrane_law law = cr_membrane_isotropic(spec->stretch, poisson);
        cr_cloth_material* c = &spec->cloth;
        c->c11 = first_given(c->c11, law.c11, 0);
        c->c22 = first_given(c->c22, law.c22, 0);
        c->c12 = first_given(c->c12, law.c12, 0);
        c->c33 = first_given(c->c33, law.c33, 0);
    }
}

static carom_status gather_numbers(maker* m, const cr_world_spec* world)
{
    cr_cast* cast = m->cast;
    const int32_t materials = cr_json_member(m->json, 0, "materials");
    int32_t material = -1;
    if (cast->spec.material) {
        material = cr_json_member(m->json, materials, cast->spec.material);
        if (material < 0) {
            const char* names[64];
            int n = 0;
            for (int32_t v = materials < 0 ? -1 : cr_json_at(m->json, materials)->first;
                 v >= 0 && n < 63; v = cr_json_at(m->json, v)->next) {
                names[n++] = cr_json_key(m->json, v);
            }
            names[n] = NULL;
            const char* nearest = cr_form_nearest(cast->spec.material, names);
            return cr_form_refuse(
                m->json, cr_json_member(m->json, cast->value, "material"), m->path, m->error,
                "is of \"%.60s\", which materials does not have%s%s%s", cast->spec.material,
                nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
        }
    }
    cr_material_spec its;
    cr_form_read(m->json, material, &cr_format_material, &its);
    const cr_material_spec* own = &cast->spec.own;
    cast->has.density = first_given(own->density, its.density, (double)NAN);
    cast->has.friction = first_given(own->friction, its.friction, world->friction);
    cast->has.restitution = first_given(own->restitution, its.restitution, world->restitution);
    cast->has.thickness = first_given(own->thickness, its.thickness, world->thickness);
    cast->barrier = world->numbers.contact == CR_CONTACT_BARRIER;
    cast->has.contact_width =
        first_given(own->contact_width, its.contact_width, world->contact_width);
    cast->has.contact_stiffness =
        first_given(own->contact_stiffness, its.contact_stiffness, world->contact_stiffness);
    const double poisson = first_given(own->poisson, its.poisson, 0.3);
    if (own->poisson == own->poisson && own->stretch != own->stretch &&
        its.stretch != its.stretch) {
        tell(m, "its poisson does nothing: it goes with stretch, and that is not given");
    }
    spread_stretch(&cast->spec.own, poisson);
    spread_stretch(&its, poisson);
    for (const cr_param* p = cr_cloth_params; p->name; p++) {
        double a, b;
        memcpy(&a, (const char*)&own->cloth + p->offset, sizeof a);
        memcpy(&b, (const char*)&its.cloth + p->offset, sizeof b);
        const double value = first_given(a, b, p->fallback);
        memcpy((char*)&cast->has.cloth + p->offset, &value, sizeof value);
    }
    return CAROM_OK;
}

static carom_status gather_copies(maker* m)
{
    cr_cast* cast = m->cast;
    cast->copies[0] = cast->copies[1] = cast->copies[2] = 1;
    if (cast->spec.copies < 0) {
        return CAROM_OK;
    }
    cr_form_read(m->json, cast->spec.copies, &cr_format_copies, &cast->block);
    if (cr_json_at(m->json, cast->block.count)->count != 3) {
        return cr_form_refuse(m->json, cast->block.count, m->path, m->error,
                              "has copies.count with %d numbers; it has to be three, along x, y, z",
                              cr_json_at(m->json, cast->block.count)->count);
    }
    double count[3] = {1, 1, 1};
    cr_form_numbers(m->json, cast->block.count, count, 3);
    for (int i = 0; i < 3; i++) {
        cast->copies[i] = (int32_t)count[i];
    }
    return CAROM_OK;
}

static cr_quat euler(const double degrees[3])
{
    const double to_rad = 3.14159265358979323846 / 180.0;
    const cr_quat x = cr_quat_from_rotation((cr_vec3){degrees[0] * to_rad, 0, 0});
    const cr_quat y = cr_quat_from_rotation((cr_vec3){0, degrees[1] * to_rad, 0});
    const cr_quat z = cr_quat_from_rotation((cr_vec3){0, 0, degrees[2] * to_rad});
    return cr_quat_mul(z, cr_quat_mul(y, x));
}

static carom_status gather_axis(maker* m, cr_quat* out)
{
    const double to_rad = 3.14159265358979323846 / 180.0;
    const int32_t value = m->cast->spec.rotation;
    cr_turn_spec turn;
    cr_form_read(m->json, value, &cr_format_turn, &turn);
    const cr_vec3 axis = cr_vec3_load(turn.axis);
    const double length = cr_vec3_norm(axis);
    if (!(length > 0.0)) {
        return cr_form_refuse(m->json, value, m->path, m->error,
                              "has rotation.axis of no length; any other direction is accepted");
    }
    if ((turn.degrees == turn.degrees) == (turn.radians == turn.radians)) {
        return cr_form_refuse(m->json, value, m->path, m->error,
                              "has a rotation about an axis; it needs one of \"degrees\", "
                              "\"radians\"");
    }
    const double angle = turn.degrees == turn.degrees ? turn.degrees * to_rad : turn.radians;
    *out = cr_quat_from_rotation(cr_vec3_scale(angle / length, axis));
    return CAROM_OK;
}

static carom_status gather_rotation(maker* m)
{
    const cr_body_spec* spec = &m->cast->spec;
    cr_quat q = cr_quat_identity();
    carom_status status = CAROM_OK;
    if (spec->rotation >= 0 && cr_json_at(m->json, spec->rotation)->kind == CR_JSON_ARRAY) {
        double w[3];
        cr_form_numbers(m->json, spec->rotation, w, 3);
        q = cr_quat_from_rotation(cr_vec3_load(w));
    } else if (spec->rotation >= 0) {
        status = gather_axis(m, &q);
    } else if (spec->euler[0] == spec->euler[0]) {
        q = euler(spec->euler);
    } else if (spec->quaternion[0] == spec->quaternion[0]) {
        const cr_quat given = cr_quat_load(spec->quaternion);
        const double norm2 =
            given.w * given.w + given.x * given.x + given.y * given.y + given.z * given.z;
        if (!(norm2 > 0.0)) {
            return cr_form_refuse(m->json, cr_json_member(m->json, m->cast->value, "quaternion"),
                                  m->path, m->error,
                                  "has a quaternion of no length; [1, 0, 0, 0] does not turn");
        }
        q = given;
    }
    m->cast->rotation = cr_quat_normalize(q);
    return status;
}

static void gather_lock(maker* m)
{
    static const char* const names[] = {"x", "y", "z", "rx", "ry", "rz"};
    for (int32_t v = m->cast->spec.lock < 0 ? -1 : cr_json_at(m->json, m->cast->spec.lock)->first;
         v >= 0; v = cr_json_at(m->json, v)->next) {
        for (int i = 0; i < 6; i++) {
            if (strcmp(cr_json_text(m->json, v), names[i]) == 0) {
                m->cast->lock |= (uint8_t)(1 << i);
            }
        }
    }
}

// ---- meshes

static carom_status generate(maker* m, int32_t value)
{
    const char* names[CR_GENERATE_PARAMS + 3];
    double values[CR_GENERATE_PARAMS + 3];
    int32_t n = 0;
    for (int32_t v = cr_json_at(m->json, value)->first; v >= 0 && n < CR_GENERATE_PARAMS;
         v = cr_json_at(m->json, v)->next) {
        const int is_box = strcmp(cr_json_key(m->json, value), "box") == 0;
        if (is_box && strcmp(cr_json_key(m->json, v), "size") == 0) {
            static const char* const axes[] = {"x", "y", "z"};
            double size[3];
            cr_form_numbers(m->json, v, size, 3);
            for (int i = 0; i < 3; i++) {
                names[n] = axes[i];
                values[n++] = size[i];
            }
        } else {
            names[n] = cr_json_key(m->json, v);
            values[n++] = cr_json_at(m->json, v)->number;
        }
    }
    carom_error inner = {0};
    const carom_status status =
        cr_generate_make(&m->cast->mesh, cr_json_key(m->json, value), names, values, n, &inner);
    if (status == CAROM_ERR_ARGUMENT) {
        return cr_form_refuse(m->json, value, m->path, m->error,
                              "has a mesh that cannot be made: %s", inner.message);
    }
    return status == CAROM_OK ? status : no_memory(m->error);
}

static carom_status from_lists(maker* m, const cr_mesh_spec* spec)
{
    const int32_t faces = spec->faces < 0 ? 0 : cr_json_at(m->json, spec->faces)->count;
    const int32_t vertices = cr_json_at(m->json, spec->vertices)->count;
    cr_trimesh* mesh = &m->cast->mesh;
    const int32_t uvs = spec->uv < 0 ? 0 : cr_json_at(m->json, spec->uv)->count;
    if (uvs != 0 && uvs != vertices) {
        return cr_form_refuse(m->json, spec->uv, m->path, m->error,
                              "has %d mesh.uv for %d vertices; there has to be one for each", uvs,
                              vertices);
    }
    if (cr_trimesh_init(mesh, vertices, faces, uvs) != CAROM_OK) {
        return no_memory(m->error);
    }
    int32_t i = 0;
    for (int32_t v = uvs ? cr_json_at(m->json, spec->uv)->first : -1; v >= 0;
         v = cr_json_at(m->json, v)->next, i++) {
        cr_form_numbers(m->json, v, mesh->uv + 2 * (size_t)i, 2);
    }
    i = 0;
    for (int32_t v = cr_json_at(m->json, spec->vertices)->first; v >= 0;
         v = cr_json_at(m->json, v)->next, i++) {
        cr_form_numbers(m->json, v, mesh->x + 3 * (size_t)i, 3);
    }
    i = 0;
    for (int32_t v = faces ? cr_json_at(m->json, spec->faces)->first : -1; v >= 0;
         v = cr_json_at(m->json, v)->next, i++) {
        double corner[3] = {0};
        cr_form_numbers(m->json, v, corner, 3);
        for (int k = 0; k < 3; k++) {
            if (!(corner[k] < vertices) || corner[k] != floor(corner[k])) {
                return cr_form_refuse(m->json, v, m->path, m->error,
                                      "has mesh.faces[%d] with vertex %g; vertices are whole "
                                      "numbers from 0 to %d",
                                      i, corner[k], vertices - 1);
            }
            mesh->face[3 * (size_t)i + (size_t)k] = (int32_t)corner[k];
            if (uvs) {
                mesh->face_uv[3 * (size_t)i + (size_t)k] = (int32_t)corner[k];
            }
        }
    }
    return CAROM_OK;
}

static carom_status from_file(maker* m, const cr_mesh_spec* spec)
{
    const size_t size = strlen(m->scene->folder) + strlen(spec->file) + 2;
    char* path = cr_memory_take(size, 1);
    if (!path) {
        return no_memory(m->error);
    }
    if (spec->file[0] == '/' || strcmp(m->scene->folder, ".") == 0) {
        snprintf(path, size, "%s", spec->file);
    } else {
        snprintf(path, size, "%s/%s", m->scene->folder, spec->file);
    }
    carom_error inner = {0};
    const carom_status status = cr_mesh_file_read(&m->cast->mesh, path, &inner);
    cr_memory_free(path);
    if (status != CAROM_OK) {
        cr_form_refuse(m->json, cr_json_member(m->json, m->cast->spec.mesh, "file"), m->path,
                       m->error, "has no mesh: %s", inner.message);
        if (m->error) {
            m->error->status = status;
        }
    }
    return status;
}

static void scale_mesh(cr_trimesh* mesh, const double s[3])
{
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        for (int i = 0; i < 3; i++) {
            mesh->x[3 * (size_t)v + (size_t)i] *= s[i];
        }
    }
    if (s[0] * s[1] * s[2] < 0.0) { // a mirror turns the inside out: turn every face back
        for (int32_t f = 0; f < mesh->face_count; f++) {
            int32_t* const lists[] = {mesh->face, mesh->face_uv};
            for (int i = 0; i < 2; i++) {
                if (lists[i]) {
                    int32_t* c = lists[i] + 3 * (size_t)f;
                    const int32_t swap = c[1];
                    c[1] = c[2];
                    c[2] = swap;
                }
            }
        }
    }
}

static carom_status apply_size(maker* m, const cr_mesh_spec* spec)
{
    cr_vec3 least, most;
    double factor[3];
    if (spec->size[0] != spec->size[0]) {
        return CAROM_OK;
    }
    cr_trimesh_box(&m->cast->mesh, &least, &most);
    const cr_vec3 now = cr_vec3_sub(most, least);
    const double side[3] = {now.x, now.y, now.z};
    for (int i = 0; i < 3; i++) {
        if (spec->size[i] > 0.0 && !(side[i] > 0.0)) {
            return cr_form_refuse(m->json, m->cast->spec.mesh, m->path, m->error,
                                  "has a mesh without extent along %c; mesh.size[%d] has to be 0 "
                                  "there",
                                  "xyz"[i], i);
        }
        factor[i] = side[i] > 0.0 ? spec->size[i] / side[i] : 1.0;
    }
    scale_mesh(&m->cast->mesh, factor);
    return CAROM_OK;
}

static carom_status apply_scale(maker* m, double scale[3])
{
    const int32_t value = m->cast->spec.scale;
    scale[0] = scale[1] = scale[2] = 1.0;
    if (value < 0) {
        return CAROM_OK;
    }
    if (cr_json_at(m->json, value)->kind == CR_JSON_NUMBER) {
        scale[0] = scale[1] = scale[2] = cr_json_at(m->json, value)->number;
    } else {
        cr_form_numbers(m->json, value, scale, 3);
    }
    if (m->cast->spec.type == CR_TYPE_RIGID && scale[0] * scale[1] * scale[2] == 0.0) {
        return cr_form_refuse(m->json, value, m->path, m->error,
                              "has a scale of 0; a rigid body needs a volume");
    }
    scale_mesh(&m->cast->mesh, scale);
    return CAROM_OK;
}

static carom_status repair(maker* m)
{
    cr_repair_report did;
    const cr_repair_options options = cr_repair_default();
    const carom_status status = cr_repair_run(&m->cast->mesh, &options, &did);
    if (status != CAROM_OK) {
        return status == CAROM_ERR_MEMORY
                   ? no_memory(m->error)
                   : cr_form_refuse(m->json, m->cast->spec.mesh, m->path, m->error,
                                    "has a mesh that is beyond repair: a vertex is not finite");
    }
    const int32_t dropped = did.collapsed_faces + did.duplicate_faces;
    const int32_t turned = did.turned_faces + did.turned_inside;
    if (did.welded_vertices || did.filled_holes || did.flattened_faces || turned || dropped) {
        tell(m,
             "its mesh was repaired: %d vertices welded, %d holes filled, %d faces or components "
             "turned, %d faces dropped, %d without area mended",
             did.welded_vertices, did.filled_holes, turned, dropped, did.flattened_faces);
    }
    return CAROM_OK;
}

static carom_status simplify(maker* m, int32_t triangles)
{
    const int32_t had = m->cast->mesh.face_count;
    const carom_status status = cr_decimate_run(&m->cast->mesh, triangles);
    if (status != CAROM_OK) {
        return status == CAROM_ERR_MEMORY
                   ? no_memory(m->error)
                   : cr_form_refuse(m->json, m->cast->spec.mesh, m->path, m->error,
                                    "has a mesh that cannot be simplified: a vertex is not finite");
    }
    if (m->cast->mesh.face_count < had) {
        tell(m, "its mesh was simplified from %d to %d triangles", had, m->cast->mesh.face_count);
    }
    return CAROM_OK;
}

static carom_status make_mesh(maker* m)
{
    cr_mesh_spec spec;
    carom_status status = CAROM_OK;
    cr_form_read(m->json, m->cast->spec.mesh, &cr_format_mesh, &spec);
    if (spec.file) {
        status = from_file(m, &spec);
    } else if (spec.vertices >= 0) {
        status = from_lists(m, &spec);
    } else {
        for (int32_t v = cr_json_at(m->json, m->cast->spec.mesh)->first; v >= 0;
             v = cr_json_at(m->json, v)->next) {
            if (cr_generate_find(cr_json_key(m->json, v))) {
                status = generate(m, v);
            }
        }
    }
    if (status == CAROM_OK && spec.repair) {
        status = repair(m);
    }
    if (status == CAROM_OK && !cr_trimesh_sound(&m->cast->mesh)) {
        status = cr_form_refuse(m->json, m->cast->spec.mesh, m->path, m->error,
                                "has a mesh with a face that names one vertex twice");
    }
    if (status == CAROM_OK && spec.simplify) {
        status = simplify(m, spec.simplify);
    }
    return status == CAROM_OK ? apply_size(m, &spec) : status;
}

int cr_cast_keeps_edge(const cr_cast* cast, int32_t edge)
{
    return cast->spec.type == CR_TYPE_CLOTH ||
           cr_topology_touches(&cast->topology, cast->closed, edge);
}

// ---- rigid bodies

// What a repair would do to the mesh, in words; empty when it would not make it a solid.
static void repair_hint(const cr_trimesh* mesh, char* out, size_t size)
{
    cr_trimesh copy = {0};
    cr_repair_report did;
    cr_check_report after;
    const cr_repair_options options = cr_repair_default();
    out[0] = 0;
    if (cr_trimesh_copy(&copy, mesh) == CAROM_OK &&
        cr_repair_run(&copy, &options, &did) == CAROM_OK &&
        cr_check_run(&copy, 0, &after) == CAROM_OK &&
        cr_check_rigid(&after, "", NULL) == CAROM_OK) {
        snprintf(out, size,
                 ". \"repair\": true in the mesh would make it one: %d vertices welded, %d holes "
                 "filled, %d faces and %d components turned, %d faces dropped",
                 did.welded_vertices, did.filled_holes, did.turned_faces, did.turned_inside,
                 did.collapsed_faces + did.duplicate_faces);
    }
    cr_trimesh_release(&copy);
}

static carom_status check_solid(maker* m)
{
    cr_check_report report;
    carom_error inner = {0};
    char hint[300];
    if (cr_check_run(&m->cast->mesh, 0, &report) != CAROM_OK) {
        return no_memory(m->error);
    }
    if (cr_check_rigid(&report, "its mesh", &inner) == CAROM_OK) {
        return CAROM_OK;
    }
    repair_hint(&m->cast->mesh, hint, sizeof hint);
    cr_form_refuse(m->json, m->cast->spec.mesh, m->path, m->error,
                   "does not enclose a solid: %s; a body of type fixed or kinematic, or one with "
                   "\"mass\" and \"inertia\", may be open%s",
                   inner.message, hint);
    if (m->error) {
        m->error->status = CAROM_ERR_MESH;
    }
    return CAROM_ERR_MESH;
}

static carom_status given_inertia(maker* m, cr_mat3* inertia)
{
    double i[6] = {0};
    const int32_t value = m->cast->spec.inertia;
    const int32_t count = cr_json_at(m->json, value)->count;
    if (count != 3 && count != 6) {
        return cr_form_refuse(m->json, value, m->path, m->error,
                              "has %d numbers for inertia; it has to be 3 (xx, yy, zz) or 6 (and "
                              "xy, xz, yz)",
                              count);
    }
    cr_form_numbers(m->json, value, i, count);
    *inertia = (cr_mat3){{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}};
    return CAROM_OK;
}

static carom_status check_moments(maker* m)
{
    const cr_vec3 i = m->cast->inertia;
    const double most = cr_max(i.x, cr_max(i.y, i.z));
    const double sum = i.x + i.y + i.z;
    const double least = cr_min(i.x, cr_min(i.y, i.z));
    if (!(least > 0.0 && sum - 2.0 * most >= -moment_slack * most)) {
        return cr_form_refuse(m->json, m->cast->spec.inertia, m->path, m->error,
                              "has principal moments %g, %g, %g kg m^2; they have to be positive, "
                              "none larger than the sum of the other two",
                              i.x, i.y, i.z);
    }
    return CAROM_OK;
}

// Mass, centre and inertia of 1 kg/m^3 of the shape, in the mesh's own axes. Where mass and inertia
// are given the mesh need not be a solid; its centre is then that of the box, unless given too.
static carom_status integrate(maker* m, cr_mass* mass)
{
    cr_cast* cast = m->cast;
    const int given = cast->spec.mass == cast->spec.mass && cast->spec.inertia >= 0;
    if (!given) {
        const carom_status status = check_solid(m);
        if (status != CAROM_OK) {
            return status;
        }
    }
    *mass = (cr_mass){.volume = 1.0};
    if (!cast->closed || cr_mass_integrate(&cast->mesh, mass) != CAROM_OK) {
        if (!given) {
            return cr_form_refuse(m->json, cast->spec.mesh, m->path, m->error,
                                  "has a mesh of volume %g m^3; it has to be positive",
                                  mass->volume);
        }
        cr_vec3 least, most;
        cr_trimesh_box(&cast->mesh, &least, &most);
        *mass = (cr_mass){.volume = 1.0, .centre = cr_vec3_scale(0.5, cr_vec3_add(least, most))};
    }
    return CAROM_OK;
}

static void weigh(cr_cast* cast, double volume, cr_mat3 inertia, cr_mat3* out)
{
    const double density = cast->has.density == cast->has.density ? cast->has.density : 1000.0;
    cast->mass = cast->spec.mass == cast->spec.mass ? cast->spec.mass : density * volume;
    cast->density = cast->mass / volume;
    *out = cr_mat3_scale(cast->density, inertia);
}

// Principal axes; those of the mesh where they are principal up to round-off, so that boxes, balls
// and all that is drawn along its axes have these and no others.
static void take_axes(cr_cast* cast, cr_mat3 inertia)
{
    const double trace = inertia.m[0][0] + inertia.m[1][1] + inertia.m[2][2];
    const double off =
        cr_max(fabs(inertia.m[0][1]), cr_max(fabs(inertia.m[0][2]), fabs(inertia.m[1][2])));
    if (off <= axes_round_off * trace) {
        cast->inertia = (cr_vec3){inertia.m[0][0], inertia.m[1][1], inertia.m[2][2]};
        cast->axes = (cr_quat){1, 0, 0, 0};
        return;
    }
    cr_mat3 axes;
    cr_mass_principal(inertia, &cast->inertia, &axes);
    cast->axes = cr_quat_from_matrix(axes);
}

static carom_status make_rigid(maker* m, const double scale[3])
{
    cr_cast* cast = m->cast;
    cr_mass mass;
    cr_mat3 inertia;
    carom_status status = integrate(m, &mass);
    if (status != CAROM_OK) {
        return status;
    }
    weigh(cast, mass.volume, mass.inertia, &inertia);
    cast->centre = mass.centre;
    if (cast->spec.center_of_mass[0] == cast->spec.center_of_mass[0]) {
        const double* c = cast->spec.center_of_mass;
        cast->centre = (cr_vec3){scale[0] * c[0], scale[1] * c[1], scale[2] * c[2]};
    }
    if (cast->spec.inertia >= 0) {
        status = given_inertia(m, &inertia);
        if (status != CAROM_OK) {
            return status;
        }
    }
    take_axes(cast, inertia);
    if (cast->spec.inertia >= 0) {
        status = check_moments(m);
    }
    return status;
}

// x -> R^T (x - c): the mesh as the rigid body's frame sees it.
static void to_principal(cr_cast* cast)
{
    const cr_mat3 axes = cr_quat_to_matrix(cast->axes);
    for (int32_t v = 0; v < cast->mesh.vertex_count; v++) {
        double* x = cast->mesh.x + 3 * (size_t)v;
        const cr_vec3 p = cr_vec3_sub(cr_vec3_load(x), cast->centre);
        cr_vec3_store(x, cr_mat3_tapply(axes, p));
    }
}

// ---- thickness and layer

// The layer of a body that gives none; what does not move leaves it to what does.
static void pick_width(cr_cast* cast)
{
    const int moves = cast->spec.type == CR_TYPE_RIGID || cast->spec.type == CR_TYPE_CLOTH;
    const double given = cast->has.contact_width;
    cast->width = !cast->barrier   ? 0.0
                  : given == given ? given
                  : moves          ? usual_width * cast->size
                                   : 0.0;
}

static void pick_radius(cr_cast* cast)
{
    cr_vec3 least, most;
    cr_trimesh_box(&cast->mesh, &least, &most);
    const cr_vec3 side = cr_vec3_sub(most, least);
    cast->size = cr_max(side.x, cr_max(side.y, side.z));
    const int moves = cast->spec.type == CR_TYPE_RIGID || cast->spec.type == CR_TYPE_CLOTH;
    cast->radius = cast->has.thickness == cast->has.thickness ? cast->has.thickness
                   : moves                                    ? usual_thickness * cast->size
                                                              : 0.0;
}

// A sphere is one vertex and a radius, a capsule one edge and a radius: exact shapes. Moments about
// the centre: cylinder of length l, and two half spheres whose centres of mass sit 3r/8 beyond its
// ends:  Ixx = mc (l^2/12 + r^2/4) + ms (2 r^2/5 + l^2/4 + 3 l r/8),  Izz = mc r^2/2 + 2 ms r^2/5.
static carom_status make_ball(maker* m)
{
    cr_cast* cast = m->cast;
    const int is_sphere = cast->spec.sphere >= 0;
    cr_ball_spec ball = {0};
    cr_form_read(m->json, is_sphere ? cast->spec.sphere : cast->spec.capsule,
                 is_sphere ? &cr_format_sphere : &cr_format_capsule, &ball);
    if (cast->spec.own.thickness == cast->spec.own.thickness || cast->spec.inset) {
        return cr_form_refuse(m->json, cast->value, m->path, m->error,
                              "is a %s: its radius is its thickness, so it has no \"thickness\" "
                              "and no \"inset\" of its own",
                              is_sphere ? "sphere" : "capsule");
    }
    if (cr_trimesh_init(&cast->mesh, is_sphere ? 1 : 2, 0, 0) != CAROM_OK) {
        return no_memory(m->error);
    }
    const double pi = 3.14159265358979323846, r = ball.radius, l = is_sphere ? 0.0 : ball.length;
    if (!is_sphere) {
        cast->mesh.x[2] = -0.5 * l;
        cast->mesh.x[5] = 0.5 * l;
    }
    cast->radius = r;
    cast->size = l + 2.0 * r;
    pick_width(cast);
    cast->axes = cr_quat_identity();
    if (cast->spec.type != CR_TYPE_RIGID) {
        return CAROM_OK;
    }
    const double ms = 4.0 / 3.0 * pi * r * r * r, mc = pi * r * r * l;
    const double xx =
        mc * (l * l / 12.0 + r * r / 4.0) + ms * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r);
    const double zz = 0.5 * mc * r * r + 0.4 * ms * r * r;
    cr_mat3 inertia;
    weigh(cast, ms + mc, cr_mat3_diagonal((cr_vec3){xx, xx, zz}), &inertia);
    cast->inertia = (cr_vec3){inertia.m[0][0], inertia.m[1][1], inertia.m[2][2]};
    if (cast->spec.center_of_mass[0] == cast->spec.center_of_mass[0]) {
        cast->centre = cr_vec3_load(cast->spec.center_of_mass);
    }
    if (cast->spec.inertia >= 0) {
        const carom_status status = given_inertia(m, &inertia);
        if (status != CAROM_OK) {
            return status;
        }
        take_axes(cast, inertia);
        return check_moments(m);
    }
    return CAROM_OK;
}

// ---- cloth

static double shortest_edge(const cr_cloth* sheet)
{
    double least = 0.0;
    for (int32_t c = 0; c < 3 * sheet->face_count; c++) {
        const double* a = sheet->corner + 2 * (size_t)c;
        const double* b = sheet->corner + 2 * (size_t)(c % 3 == 2 ? c - 2 : c + 1);
        const double length = sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]));
        least = c == 0 ? length : cr_min(least, length);
    }
    return least;
}

static carom_status make_rest(maker* m)
{
    cr_cast* cast = m->cast;
    cr_trimesh* rest = &cast->rest;
    if (cr_trimesh_copy(rest, &cast->mesh) != CAROM_OK) {
        return no_memory(m->error);
    }
    if (cast->spec.rest == 1 && rest->uv_count == 0) {
        return cr_form_refuse(m->json, cast->spec.mesh, m->path, m->error,
                              "has \"rest\": \"uv\", but its mesh has no texture coordinates; "
                              "\"rest\": \"mesh\" takes the mesh itself");
    }
    if (cast->spec.rest == 0) {
        rest->uv_count = 0; // the sheet then lies as its faces do
    }
    for (int32_t i = 0; i < 3 * rest->vertex_count; i++) {
        rest->x[i] *= cast->spec.rest_scale;
    }
    for (int32_t i = 0; i < 2 * rest->uv_count; i++) {
        rest->uv[i] *= cast->spec.rest_scale;
    }
    return CAROM_OK;
}

// Two layers of cloth that fold onto each other keep their reach; where edges are shorter, what is
// no neighbour starts nearer than that.
static int fit_cloth(cr_cast* cast, double edge)
{
    const double room = usual_edge_share * edge;
    if (cast->has.thickness != cast->has.thickness) {
        cast->radius = cr_min(cast->radius, room);
    }
    if (cast->has.contact_width != cast->has.contact_width) {
        cast->width = cr_min(cast->width, cr_max(room - cast->radius, 0.1 * room));
    }
    return cast->radius + cast->width < 0.5 * edge;
}

static carom_status refuse_thick_cloth(maker* m)
{
    const cr_cast* cast = m->cast;
    const double edge = shortest_edge(&cast->sheet);
    if (cast->radius < 0.5 * edge) {
        return cr_form_refuse(m->json, cast->value, m->path, m->error,
                              "is cloth with a thickness of %g m, a contact_width of %g m and a "
                              "shortest edge of %g m; both together have to be less than half the "
                              "edge",
                              cast->radius, cast->width, edge);
    }
    return cr_form_refuse(m->json, cast->value, m->path, m->error,
                          "is cloth with a thickness of %g m and a shortest edge of %g m; the "
                          "thickness has to be less than half the edge",
                          cast->radius, edge);
}

static carom_status make_cloth(maker* m)
{
    cr_cast* cast = m->cast;
    carom_error inner = {0};
    carom_status status = make_rest(m);
    if (status != CAROM_OK) {
        return status;
    }
    status = cr_cloth_material_check(&cast->has.cloth, "it", &inner);
    if (status != CAROM_OK) {
        return cr_form_refuse(m->json, cast->value, m->path, m->error,
                              "is cloth that cannot be: "
                              "%s",
                              inner.message);
    }
    status = cr_cloth_build(&cast->sheet, &cast->rest, &inner);
    if (status == CAROM_ERR_MEMORY) {
        return no_memory(m->error);
    }
    if (status != CAROM_OK) {
        return cr_form_refuse(m->json, cast->spec.mesh, m->path, m->error,
                              "has a mesh that cannot be cloth: %s", inner.message);
    }
    return fit_cloth(cast, shortest_edge(&cast->sheet)) ? CAROM_OK : refuse_thick_cloth(m);
}

// ---- inset

// Each vertex moves by the u of least length that best solves n_f . u = -r over its faces f: where
// three planes meet all of them move inward by r; within a flat side the vertex moves straight in.
// N u = -r s with N = sum n n^T and s = sum n, each direction counted once whatever the number of
// triangles a flat side is cut into; by the eigenvectors of N, without those of no eigenvalue.
static cr_vec3 inward(const cr_vec3* normal, int32_t count, double r)
{
    cr_mat3 sum = {{{0}}};
    cr_vec3 s = {0, 0, 0}, values, u = {0, 0, 0};
    cr_mat3 axes;
    for (int32_t i = 0; i < count; i++) {
        int seen = 0;
        for (int32_t k = 0; k < i && !seen; k++) {
            const cr_vec3 gap = cr_vec3_sub(normal[i], normal[k]);
            seen = cr_vec3_norm2(gap) <= flat_share * flat_share;
        }
        if (seen) {
            continue;
        }
        const double n[3] = {normal[i].x, normal[i].y, normal[i].z};
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                sum.m[a][b] += n[a] * n[b];
            }
        }
        s = cr_vec3_add(s, normal[i]);
    }
    cr_mass_principal(sum, &values, &axes);
    const double value[3] = {values.x, values.y, values.z};
    for (int i = 0; i < 3; i++) {
        if (value[i] > flat_share * value[2]) {
            const cr_vec3 e = cr_mat3_column(axes, i);
            u = cr_vec3_add_scaled(u, -r * cr_vec3_dot(e, s) / value[i], e);
        }
    }
    return u;
}

static cr_vec3 unit_normal(const cr_trimesh* mesh, int32_t f)
{
    const int32_t* c = mesh->face + 3 * (size_t)f;
    const cr_vec3 a = cr_trimesh_at(mesh, c[0]);
    const cr_vec3 n = cr_vec3_cross(cr_vec3_sub(cr_trimesh_at(mesh, c[1]), a),
                                    cr_vec3_sub(cr_trimesh_at(mesh, c[2]), a));
    const double length = cr_vec3_norm(n);
    return length > 0.0 ? cr_vec3_scale(1.0 / length, n) : (cr_vec3){0, 0, 0};
}

static carom_status move_inward(maker* m, const int32_t* start, const int32_t* around,
                                cr_vec3* normal, double* moved)
{
    cr_trimesh* mesh = &m->cast->mesh;
    const double r = m->cast->radius + m->cast->width;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        int32_t n = 0;
        for (int32_t i = start[v]; i < start[v + 1]; i++) {
            const cr_vec3 one = unit_normal(mesh, around[i]);
            if (cr_vec3_norm2(one) > 0.0) {
                normal[n++] = one;
            }
        }
        cr_vec3 u = n > 0 ? inward(normal, n, r) : (cr_vec3){0, 0, 0};
        const double length = cr_vec3_norm(u);
        if (length > inset_most * r) {
            u = cr_vec3_scale(inset_most * r / length, u);
        }
        cr_vec3_store(moved + 3 * (size_t)v, cr_vec3_add(cr_trimesh_at(mesh, v), u));
    }
    memcpy(mesh->x, moved, 3 * (size_t)mesh->vertex_count * sizeof *moved);
    cr_mass mass;
    if (cr_mass_integrate(mesh, &mass) != CAROM_OK) {
        return cr_form_refuse(
            m->json, m->cast->value, m->path, m->error,
            "is too thin to be inset by %g m, its thickness and contact layer; give "
            "it a smaller \"thickness\" or \"contact_width\"",
            r);
    }
    return CAROM_OK;
}

static carom_status inset(maker* m)
{
    cr_trimesh* mesh = &m->cast->mesh;
    if (!m->cast->closed) {
        return cr_form_refuse(m->json, cr_json_member(m->json, m->cast->value, "inset"), m->path,
                              m->error, "has an open mesh, which has no inside to be inset to");
    }
    const size_t corners = 3 * (size_t)mesh->face_count;
    int32_t* start = cr_memory_take((size_t)mesh->vertex_count + 2, sizeof *start);
    int32_t* around = cr_memory_take(corners, sizeof *around);
    cr_vec3* normal = cr_memory_take(corners, sizeof *normal);
    double* moved = cr_memory_take((size_t)mesh->vertex_count, 3 * sizeof *moved);
    carom_status status = CAROM_ERR_MEMORY;
    if (start && around && normal && moved) {
        for (size_t i = 0; i < corners; i++) { // faces around each vertex, by counting
            start[mesh->face[i] + 2]++;
        }
        for (int32_t v = 0; v < mesh->vertex_count; v++) {
            start[v + 2] += start[v + 1];
        }
        for (size_t i = 0; i < corners; i++) {
            around[start[mesh->face[i] + 1]++] = (int32_t)(i / 3);
        }
        status = move_inward(m, start, around, normal, moved);
    } else {
        status = no_memory(m->error);
    }
    cr_memory_free(start);
    cr_memory_free(around);
    cr_memory_free(normal);
    cr_memory_free(moved);
    return status;
}

// ---- the whole

static carom_status make_from_mesh(maker* m)
{
    cr_cast* cast = m->cast;
    double scale[3];
    carom_status status = make_mesh(m);
    if (status == CAROM_OK) {
        status = apply_scale(m, scale);
    }
    if (status != CAROM_OK) {
        return status;
    }
    cast->axes = cr_quat_identity();
    if (cr_topology_build(&cast->topology, &cast->mesh) != CAROM_OK) {
        return no_memory(m->error);
    }
    cast->closed = cr_topology_closed(&cast->topology);
    pick_radius(cast);
    pick_width(cast);
    if (cast->spec.type == CR_TYPE_RIGID) {
        status = make_rigid(m, scale);
    } else if (cast->spec.type == CR_TYPE_CLOTH) {
        status = make_cloth(m);
    }
    if (status == CAROM_OK && cast->spec.inset && cast->radius + cast->width > 0.0) {
        status = inset(m);
    }
    return status;
}

carom_status cr_cast_make(cr_cast* cast, const cr_scene* scene, const cr_world_spec* world,
                          int32_t value, cr_form_path* path, carom_error* error)
{
    *cast = (cr_cast){.value = value};
    maker m = {cast, scene, &scene->json, path, error};
    cr_form_read(m.json, value, &cr_format_body, &cast->spec);
    carom_status status = gather_numbers(&m, world);
    if (status == CAROM_OK) {
        status = gather_copies(&m);
    }
    if (status == CAROM_OK) {
        status = gather_rotation(&m);
    }
    gather_lock(&m);
    if (status == CAROM_OK) {
        status = cast->spec.mesh >= 0 ? make_from_mesh(&m) : make_ball(&m);
    }
    if (status == CAROM_OK && cast->spec.type == CR_TYPE_RIGID) {
        to_principal(cast);
    }
    if (status != CAROM_OK) {
        cr_cast_release(cast);
    }
    return status;
}

void cr_cast_release(cr_cast* cast)
{
    cr_trimesh_release(&cast->mesh);
    cr_topology_release(&cast->topology);
    cr_trimesh_release(&cast->rest);
    cr_cloth_release(&cast->sheet);
    *cast = (cr_cast){0};
}
