#include "mesh/solid.h"
#include "core/memory.h"
#include "mesh/topology.h"

static const double pi = 3.14159265358979323846;

// More than this around or along makes more faces than a mesh can hold.
static const int32_t most_steps = 10000;

static int positive(double length)
{
    return length > 0 && isfinite(length);
}

static int steps_ok(int32_t steps, int32_t least)
{
    return steps >= least && steps <= most_steps;
}

static void put_face(cr_trimesh* mesh, int32_t* f, int32_t a, int32_t b, int32_t c)
{
    int32_t* v = mesh->face + 3 * (*f)++;
    v[0] = a;
    v[1] = b;
    v[2] = c;
}

carom_status cr_solid_box(cr_trimesh* mesh, cr_vec3 size)
{
    // by side, counter-clockwise from outside; bit 0 of a corner is x, bit 1 y, bit 2 z
    static const int32_t quad[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    cr_trimesh_release(mesh);
    if (!positive(size.x) || !positive(size.y) || !positive(size.z)) {
        return CAROM_ERR_ARGUMENT;
    }
    const carom_status status = cr_trimesh_init(mesh, 8, 12, 0);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < 8; i++) {
        mesh->x[3 * i] = (i & 1 ? 0.5 : -0.5) * size.x;
        mesh->x[3 * i + 1] = (i & 2 ? 0.5 : -0.5) * size.y;
        mesh->x[3 * i + 2] = (i & 4 ? 0.5 : -0.5) * size.z;
    }
    int32_t f = 0;
    for (int32_t s = 0; s < 6; s++) {
        put_face(mesh, &f, quad[s][0], quad[s][1], quad[s][2]);
        put_face(mesh, &f, quad[s][0], quad[s][2], quad[s][3]);
    }
    return CAROM_OK;
}

static carom_status icosahedron(cr_trimesh* mesh, double radius)
{
    // three golden rectangles; the corners (0, 1, g) scaled to the sphere
    static const int32_t face[20][3] = {
        {0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
        {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
        {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    const double golden = 0.5 * (1 + sqrt(5.0));
    const double a = radius / sqrt(1 + golden * golden);
    const double b = golden * a;
    const double corner[12][3] = {{-a, b, 0}, {a, b, 0}, {-a, -b, 0}, {a, -b, 0},
                                  {0, -a, b}, {0, a, b}, {0, -a, -b}, {0, a, -b},
                                  {b, 0, -a}, {b, 0, a}, {-b, 0, -a}, {-b, 0, a}};
    const carom_status status = cr_trimesh_init(mesh, 12, 20, 0);
    if (status != CAROM_OK) {
        return status;
    }
    for (int32_t i = 0; i < 12; i++) {
        cr_vec3_store(mesh->x + 3 * i, cr_vec3_load(corner[i]));
    }
    int32_t f = 0;
    for (int32_t i = 0; i < 20; i++) {
        put_face(mesh, &f, face[i][0], face[i][1], face[i][2]);
    }
    return CAROM_OK;
}

// Every edge gets a vertex on the sphere above its middle, every face becomes four.
static carom_status split(cr_trimesh* mesh, double radius)
{
    cr_topology t = {0};
    cr_trimesh finer = {0};
    carom_status status = cr_topology_build(&t, mesh);
    if (status == CAROM_OK) {
        status =
            cr_trimesh_init(&finer, mesh->vertex_count + t.edge_count, 4 * mesh->face_count, 0);
    }
    if (status != CAROM_OK) {
        cr_topology_release(&t);
        return status;
    }
    const int32_t n = mesh->vertex_count;
    for (int32_t i = 0; i < n; i++) {
        cr_vec3_store(finer.x + 3 * i, cr_trimesh_at(mesh, i));
    }
    for (int32_t e = 0; e < t.edge_count; e++) {
        const cr_vec3 m =
            cr_vec3_add(cr_trimesh_at(mesh, t.edge[2 * e]), cr_trimesh_at(mesh, t.edge[2 * e + 1]));
        cr_vec3_store(finer.x + 3 * (n + e), cr_vec3_scale(radius / cr_vec3_norm(m), m));
    }
    int32_t f = 0;
    for (int32_t i = 0; i < mesh->face_count; i++) {
        const int32_t* v = mesh->face + 3 * i;
        const int32_t* e = t.face_edge + 3 * i;
        put_face(&finer, &f, v[0], n + e[0], n + e[2]);
        put_face(&finer, &f, v[1], n + e[1], n + e[0]);
        put_face(&finer, &f, v[2], n + e[2], n + e[1]);
        put_face(&finer, &f, n + e[0], n + e[1], n + e[2]);
    }
    cr_topology_release(&t);
    cr_trimesh_release(mesh);
    *mesh = finer;
    return CAROM_OK;
}

carom_status cr_solid_icosphere(cr_trimesh* mesh, double radius, int32_t subdivisions)
{
    cr_trimesh_release(mesh);
    if (!positive(radius) || subdivisions < 0 || subdivisions > 8) {
        return CAROM_ERR_ARGUMENT;
    }
    carom_status status = icosahedron(mesh, radius);
    for (int32_t i = 0; i < subdivisions && status == CAROM_OK; i++) {
        status = split(mesh, radius);
    }
    if (status != CAROM_OK) {
        cr_trimesh_release(mesh);
    }
    return status;
}

// A line (r, z) to be turned about the z axis. Walking along it, the outside is on the right. It
// begins and ends on the axis, or it closes upon itself and never touches the axis.
typedef struct profile {
    double* rz; // [2*count] m
    int32_t count, capacity;
    int closed;
} profile;

static carom_status profile_init(profile* p, int32_t capacity, int closed)
{
    *p = (profile){cr_memory_take((size_t)capacity, 2 * sizeof *p->rz), 0, capacity, closed};
    return p->rz ? CAROM_OK : CAROM_ERR_MEMORY;
}

static void profile_put(profile* p, double r, double z)
{
    p->rz[2 * p->count] = r;
    p->rz[2 * p->count + 1] = z;
    p->count++;
}

// steps + 1 points of a circle about (r, z) from one angle to another, the ends included.
static void profile_arc(profile* p, double r, double z, double radius, double from, double to,
                        int32_t steps)
{
    for (int32_t i = 0; i <= steps; i++) {
        const double angle = from + (to - from) * i / steps;
        profile_put(p, r + radius * cr_cos(angle), z + radius * cr_sin(angle));
    }
}

// The vertex of profile point i on meridian j. A pole has one vertex for all meridians.
static int32_t turned_vertex(const profile* p, int32_t i, int32_t j, int32_t segments)
{
    if (p->closed) {
        return i % p->count * segments + j % segments;
    }
    if (i == 0) {
        return 0;
    }
    return i == p->count - 1 ? 1 + (i - 1) * segments : 1 + (i - 1) * segments + j % segments;
}

static void turn_vertices(cr_trimesh* mesh, const profile* p, int32_t segments)
{
    for (int32_t i = 0; i < p->count; i++) {
        const int pole = !p->closed && (i == 0 || i == p->count - 1);
        for (int32_t j = 0; j < (pole ? 1 : segments); j++) {
            const double angle = 2 * pi * j / segments;
            const double r = pole ? 0 : p->rz[2 * i];
            cr_vec3_store(mesh->x + 3 * turned_vertex(p, i, j, segments),
                          (cr_vec3){r * cr_cos(angle), r * cr_sin(angle), p->rz[2 * i + 1]});
        }
    }
}

static void turn_faces(cr_trimesh* mesh, const profile* p, int32_t segments)
{
    int32_t f = 0;
    const int32_t bands = p->closed ? p->count : p->count - 1;
    for (int32_t i = 0; i < bands; i++) {
        for (int32_t j = 0; j < segments; j++) {
            const int32_t a = turned_vertex(p, i, j, segments);
            const int32_t b = turned_vertex(p, i, j + 1, segments);
            const int32_t c = turned_vertex(p, i + 1, j + 1, segments);
            const int32_t d = turned_vertex(p, i + 1, j, segments);
            if (a != b) {
                put_face(mesh, &f, a, b, c);
            }
            if (c != d) {
                put_face(mesh, &f, a, c, d);
            }
        }
    }
}

// Turns the profile about the z axis and gives its memory back.
static carom_status turn(cr_trimesh* mesh, profile* p, int32_t segments)
{
    const int64_t rings = p->closed ? p->count : p->count - 2;
    const int64_t vertices = rings * segments + (p->closed ? 0 : 2);
    const int64_t faces = 2 * rings * segments;
    carom_status status = CAROM_ERR_ARGUMENT;
    if (faces <= CR_TRIMESH_MOST) {
        status = cr_trimesh_init(mesh, (int32_t)vertices, (int32_t)faces, 0);
    }
    if (status == CAROM_OK) {
        turn_vertices(mesh, p, segments);
        turn_faces(mesh, p, segments);
    }
    cr_memory_free(p->rz);
    return status;
}

carom_status cr_solid_uv_sphere(cr_trimesh* mesh, double radius, int32_t segments, int32_t rings)
{
    cr_trimesh_release(mesh);
    if (!positive(radius) || !steps_ok(segments, 3) || !steps_ok(rings, 2)) {
        return CAROM_ERR_ARGUMENT;
    }
    profile p;
    const carom_status status = profile_init(&p, rings + 1, 0);
    if (status != CAROM_OK) {
        return status;
    }
    profile_arc(&p, 0, 0, radius, -0.5 * pi, 0.5 * pi, rings);
    return turn(mesh, &p, segments);
}

carom_status cr_solid_cylinder(cr_trimesh* mesh, double radius, double height, int32_t segments,
                               int32_t stacks)
{
    cr_trimesh_release(mesh);
    if (!positive(radius) || !positive(height) || !steps_ok(segments, 3) || !steps_ok(stacks, 1)) {
        return CAROM_ERR_ARGUMENT;
    }
    profile p;
    const carom_status status = profile_init(&p, stacks + 3, 0);
    if (status != CAROM_OK) {
        return status;
    }
    profile_put(&p, 0, -0.5 * height);
    for (int32_t i = 0; i <= stacks; i++) {
        profile_put(&p, radius, height * i / stacks - 0.5 * height);
    }
    profile_put(&p, 0, 0.5 * height);
    return turn(mesh, &p, segments);
}

carom_status cr_solid_capsule(cr_trimesh* mesh, double radius, double length, int32_t segments,
                              int32_t rings)
{
    cr_trimesh_release(mesh);
    if (!positive(radius) || !positive(length) || !steps_ok(segments, 3) || !steps_ok(rings, 1)) {
        return CAROM_ERR_ARGUMENT;
    }
    profile p;
    const carom_status status = profile_init(&p, 2 * rings + 2, 0);
    if (status != CAROM_OK) {
        return status;
    }
    profile_arc(&p, 0, -0.5 * length, radius, -0.5 * pi, 0, rings);
    profile_arc(&p, 0, 0.5 * length, radius, 0, 0.5 * pi, rings);
    return turn(mesh, &p, segments);
}

carom_status cr_solid_cone(cr_trimesh* mesh, double radius, double height, int32_t segments)
{
    cr_trimesh_release(mesh);
    if (!positive(radius) || !positive(height) || !steps_ok(segments, 3)) {
        return CAROM_ERR_ARGUMENT;
    }
    profile p;
    const carom_status status = profile_init(&p, 3, 0);
    if (status != CAROM_OK) {
        return status;
    }
    profile_put(&p, 0, -0.5 * height);
    profile_put(&p, radius, -0.5 * height);
    profile_put(&p, 0, 0.5 * height);
    return turn(mesh, &p, segments);
}

carom_status cr_solid_torus(cr_trimesh* mesh, double major, double minor, int32_t segments,
                            int32_t rings)
{
    cr_trimesh_release(mesh);
    if (!positive(major) || !positive(minor) || !(minor < major) || !steps_ok(segments, 3) ||
        !steps_ok(rings, 3)) {
        return CAROM_ERR_ARGUMENT;
    }
    profile p;
    const carom_status status = profile_init(&p, rings + 1, 1);
    if (status != CAROM_OK) {
        return status;
    }
    profile_arc(&p, major, 0, minor, 0, 2 * pi, rings);
    p.count--; // the arc ends where it began
    return turn(mesh, &p, segments);
}

carom_status cr_solid_bowl(cr_trimesh* mesh, double radius, double thickness, int32_t segments,
                           int32_t rings)
{
    cr_trimesh_release(mesh);
    if (!positive(radius) || !positive(thickness) || !(thickness < radius) ||
        !steps_ok(segments, 3) || !steps_ok(rings, 1)) {
        return CAROM_ERR_ARGUMENT;
    }
    profile p;
    const carom_status status = profile_init(&p, 2 * rings + 2, 0);
    if (status != CAROM_OK) {
        return status;
    }
    profile_arc(&p, 0, 0.5 * radius, radius, -0.5 * pi, 0, rings);
    profile_arc(&p, 0, 0.5 * radius, radius - thickness, 0, -0.5 * pi, rings);
    return turn(mesh, &p, segments);
}
