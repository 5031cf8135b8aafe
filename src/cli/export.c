#include "carom/io.h"
#include "carom/mesh.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/gltf.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/shapes.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct export_request {
    const char *path, *format, *out, *table, *every_text;
    int64_t every;
} export_request;

static int fail(const char* what, const char* why)
{
    return cli_output_fail("export", what, why);
}

// ---- tables

// A name as a field of a table: quoted, quotes doubled.
static void put_name(FILE* out, const char* name)
{
    putc('"', out);
    for (; *name; name++) {
        if (*name == '"') {
            putc('"', out);
        }
        putc(*name, out);
    }
    putc('"', out);
}

static void put_numbers(FILE* out, const double* value, int count)
{
    for (int i = 0; i < count; i++) {
        fprintf(out, ",%.17g", value[i]);
    }
}

static const char* name_of(const carom_trajectory* tr, int32_t body)
{
    carom_body_info info;
    return carom_trajectory_body(tr, body, &info) == CAROM_OK ? info.name : "";
}

static void put_moment(FILE* out, const carom_trajectory* tr, int64_t frame)
{
    fprintf(out, "%lld,%lld,%.17g", (long long)frame, (long long)carom_trajectory_step(tr),
            carom_trajectory_time(tr));
}

static void table_bodies(FILE* out, const carom_trajectory* tr, int64_t frame)
{
    const int32_t count = carom_trajectory_about(tr).body_count;
    for (int32_t b = 0; b < count; b++) {
        carom_body_state s;
        if (carom_trajectory_body_state(tr, b, &s) == CAROM_OK) {
            put_moment(out, tr, frame);
            putc(',', out);
            put_name(out, name_of(tr, b));
            put_numbers(out, s.position, 3);
            put_numbers(out, s.quaternion, 4);
            put_numbers(out, s.velocity, 3);
            put_numbers(out, s.angular_velocity, 3);
            putc('\n', out);
        }
    }
}

static void table_contacts(FILE* out, const carom_trajectory* tr, int64_t frame)
{
    for (int32_t i = 0; i < carom_trajectory_contact_count(tr); i++) {
        carom_contact c;
        carom_trajectory_contact(tr, i, &c);
        put_moment(out, tr, frame);
        for (int k = 0; k < 2; k++) {
            putc(',', out);
            put_name(out, name_of(tr, c.body[k]));
        }
        fprintf(out, ",%d", c.zone);
        put_numbers(out, c.point, 3);
        put_numbers(out, c.normal, 3);
        put_numbers(out, c.impulse, 3);
        putc('\n', out);
    }
}

static void table_energies(FILE* out, const carom_trajectory* tr, int64_t frame)
{
    const carom_energy e = carom_trajectory_energy(tr);
    const carom_step_info s = carom_trajectory_step_info(tr);
    const double value[4] = {e.kinetic, e.gravity, e.elastic, e.total};
    put_moment(out, tr, frame);
    put_numbers(out, value, 4);
    fprintf(out, ",%d,%d,%d,%d,%d,%.17g,%.17g\n", s.zones, s.contacts, s.events, s.parts,
            s.iterations, s.least_gap, s.residual);
}

typedef struct table {
    const char *name, *columns;
    void (*put)(FILE* out, const carom_trajectory* tr, int64_t frame);
} table;

static const table tables[] = {
    {"bodies", "body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz", table_bodies},
    {"contacts", "a,b,zone,x,y,z,nx,ny,nz,jx,jy,jz", table_contacts},
    {"energies",
     "kinetic,gravity,elastic,total,zones,contacts,events,parts,iterations,least_gap,residual",
     table_energies},
};

static const table* find_table(const char* name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (strcmp(tables[i].name, name) == 0) {
            return &tables[i];
        }
    }
    return NULL;
}

// Every n-th frame and the last.
static int chosen(int64_t frame, int64_t every, int64_t count)
{
    return frame % every == 0 || frame == count - 1;
}

static int export_table(const export_request* q, carom_trajectory* tr)
{
    const table* t = find_table(q->table);
    const int64_t count = carom_trajectory_about(tr).frame_count;
    cli_output o;
    carom_error error = {0};
    if (cli_output_open(&o, "export", q->out) != 0) {
        return 1;
    }
    int status = 0;
    fprintf(o.file, "frame,step,time,%s\n", t->columns);
    for (int64_t i = 0; i < count && status == 0; i++) {
        if (!chosen(i, q->every, count)) {
            continue;
        }
        if (carom_trajectory_read(tr, i, &error) != CAROM_OK) {
            status = fail(q->path, error.message);
        } else {
            t->put(o.file, tr, i);
        }
    }
    return cli_output_close(&o, status);
}

// ---- OBJ, a file per frame

static void put_vertex(FILE* out, const double x[3])
{
    fprintf(out, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
}

// A shape where its body is; the number of vertices written.
static int32_t put_shape(FILE* out, const carom_trajectory* tr, int32_t body,
                         const carom_body_info* info, const carom_mesh* mesh, int32_t first)
{
    carom_body_state at;
    carom_trajectory_body_state(tr, body, &at);
    const double* v = carom_mesh_vertices(mesh);
    const int32_t* face = carom_mesh_faces(mesh);
    for (int32_t i = 0; i < carom_mesh_vertex_count(mesh); i++) {
        double in_frame[3], x[3];
        cli_shapes_shift(info->mesh_position, v + 3 * (size_t)i, in_frame);
        cli_shapes_move(at.position, at.quaternion, in_frame, x);
        put_vertex(out, x);
    }
    for (int32_t i = 0; i < carom_mesh_face_count(mesh); i++) {
        const int32_t* f = face + 3 * (size_t)i;
        fprintf(out, "f %d %d %d\n", first + f[0], first + f[1], first + f[2]);
    }
    return carom_mesh_vertex_count(mesh);
}

static int32_t put_mesh(FILE* out, const carom_trajectory* tr, const carom_body_info* info,
                        const double* x, int32_t first)
{
    const int32_t* face = carom_trajectory_faces(tr) + 3 * (size_t)info->face_first;
    const int32_t shift = first - info->vertex_first;
    for (int32_t v = 0; v < info->vertex_count; v++) {
        put_vertex(out, x + 3 * (size_t)(info->vertex_first + v));
    }
    for (int32_t i = 0; i < info->face_count; i++) {
        const int32_t* f = face + 3 * (size_t)i;
        fprintf(out, "f %d %d %d\n", shift + f[0], shift + f[1], shift + f[2]);
    }
    return info->vertex_count;
}

// Spaces would end the name of an object.
static void put_object(FILE* out, const char* name)
{
    fputs("o ", out);
    for (; *name; name++) {
        putc((unsigned char)*name <= ' ' ? '_' : *name, out);
    }
    putc('\n', out);
}

static int write_obj(const export_request* q, const carom_trajectory* tr, const cli_shapes* s,
                     const double* x, int64_t frame)
{
    char path[4100];
    cli_output o;
    if ((size_t)snprintf(path, sizeof path, "%s/frame_%06lld.obj", q->out, (long long)frame) >=
        sizeof path) {
        return fail(q->out, "the name is too long");
    }
    if (cli_output_open(&o, "export", path) != 0) {
        return 1;
    }
    fprintf(o.file, "# %s, frame %lld, step %lld, time %.17g s\n", q->path, (long long)frame,
            (long long)carom_trajectory_step(tr), carom_trajectory_time(tr));
    int32_t first = 1; // OBJ counts from 1
    for (int32_t b = 0; b < s->count; b++) {
        carom_body_info info;
        carom_trajectory_body(tr, b, &info);
        put_object(o.file, info.name);
        first += s->of[b] ? put_shape(o.file, tr, b, &info, s->of[b], first)
                          : put_mesh(o.file, tr, &info, x, first);
    }
    return cli_output_close(&o, 0);
}

static int export_obj(const export_request* q, carom_trajectory* tr)
{
    const carom_trajectory_info about = carom_trajectory_about(tr);
    carom_error error = {0};
    cli_shapes s = {0};
    double* x = calloc(3 * (size_t)about.vertex_count + 1, sizeof *x);
    int status = 0;
    int64_t written = 0;
    if (mkdir(q->out, 0777) != 0 && errno != EEXIST) {
        status = fail(q->out, strerror(errno));
    } else if (!x || cli_shapes_make(&s, tr, &error) != CAROM_OK) {
        status = fail(q->path, x ? error.message : "not enough memory");
    }
    for (int64_t i = 0; i < about.frame_count && status == 0; i++) {
        if (!chosen(i, q->every, about.frame_count)) {
            continue;
        }
        if (carom_trajectory_read(tr, i, &error) != CAROM_OK) {
            status = fail(q->path, error.message);
        } else {
            carom_trajectory_vertices(tr, x);
            status = write_obj(q, tr, &s, x, i);
            written++;
        }
    }
    if (status == 0) {
        printf("%s: %lld files, frame_%06d.obj and on\n", q->out, (long long)written, 0);
    }
    cli_shapes_release(&s);
    free(x);
    return status;
}

// ---- the command

static int parse(int argc, char** argv, export_request* q)
{
    const cli_option options[] = {
        {"--format", "FORMAT", "gltf (animated), obj (a file per frame) or csv (a table)",
         &q->format, NULL, NULL},
        {"--out", "PATH",
         "FILE.glb or .gltf, folder of OBJ files, or the table's file (the screen)", &q->out, NULL,
         NULL},
        {"--table", "NAME", "csv: bodies (the default), contacts or energies", &q->table, NULL,
         NULL},
        {"--every", "N", "every N-th frame (1), and the last", &q->every_text, NULL, NULL},
    };
    const cli_usage usage = {
        "TRAJECTORY --format gltf|obj|csv [--out PATH] [--table NAME] [--every N]",
        "writes a trajectory for other programs",
        options,
        (int)(sizeof options / sizeof *options),
        1,
        1};
    const int plain = cli_args_parse(argc, argv, &usage, &q->path);
    q->every = 1;
    if (plain < 0) {
        return plain;
    }
    if (!q->format || (strcmp(q->format, "gltf") != 0 && strcmp(q->format, "obj") != 0 &&
                       strcmp(q->format, "csv") != 0)) {
        fprintf(stderr, "carom export: --format is \"%s\"; it has to be gltf, obj or csv\n",
                q->format ? q->format : "");
        return -1;
    }
    if (strcmp(q->format, "csv") != 0 && (!q->out || q->table)) {
        fprintf(stderr, "carom export: %s, and no --table\n",
                strcmp(q->format, "obj") == 0 ? "OBJ files need --out FOLDER"
                                              : "glTF needs --out FILE.glb");
        return -1;
    }
    q->table = q->table ? q->table : tables[0].name;
    if (!find_table(q->table)) {
        fprintf(stderr,
                "carom export: --table is \"%s\"; it has to be bodies, contacts or "
                "energies\n",
                q->table);
        return -1;
    }
    return !q->every_text || cli_args_whole(argv[0], "--every", q->every_text, 1, 1e15, &q->every)
               ? plain
               : -1;
}

int cli_export(int argc, char** argv)
{
    export_request q = {0};
    carom_trajectory* tr = NULL;
    const int plain = parse(argc, argv, &q);
    if (plain < 0) {
        return plain == -2 ? 0 : 2;
    }
    if (!cli_input_open("export", q.path, &tr)) {
        return 2;
    }
    const int status = strcmp(q.format, "gltf") == 0  ? cli_gltf_write(tr, q.out, q.every)
                       : strcmp(q.format, "obj") == 0 ? export_obj(&q, tr)
                                                      : export_table(&q, tr);
    carom_trajectory_close(tr);
    return status;
}
